"""NumPy's and SciPy's functions on tensors, by the names they have there: read when NumPy first asks."""
