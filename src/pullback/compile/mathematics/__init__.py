"""Scalar mathematics as straight-line LLVM IR: formulas over `lanes.IRValue`, one module per family."""
