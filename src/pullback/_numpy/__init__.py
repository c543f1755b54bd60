"""NumPy's and SciPy's functions on tensors, under their names there; imported on the first such call."""
