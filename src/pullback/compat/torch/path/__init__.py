"""A place for `sys.path`: the package `torch` in here makes `import torch` mean pullback."""
