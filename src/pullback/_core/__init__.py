"""Primitives, levels and bind, and the plain things that everything stands on: dtypes, shapes, modes, errors."""
