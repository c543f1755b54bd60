"""A directory for `sys.path`: the package `torch` in it makes `import torch` import pullback."""
