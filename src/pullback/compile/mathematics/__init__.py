"""Scalar mathematics as straight-line LLVM IR: formulas over `lanes.Word`, one module per family."""
