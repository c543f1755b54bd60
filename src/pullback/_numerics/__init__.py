"""Numerics without derivatives: special functions, random numbers, multithreading, and printed text."""
