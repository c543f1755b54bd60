"""Machine code: programs planned as loop nests, and compiled by LLVM if llvmlite is installed."""
