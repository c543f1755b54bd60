"""A package that knows nothing of pullback."""
