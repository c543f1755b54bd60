"""Expressions with more operations than one loop of machine code takes."""

import warnings

import numpy as np

import pullback


def pairwise(rows):
    """A balanced tree of operations: wide, but not deep."""
    terms = list(rows.unbind(0))
    while len(terms) > 1:
        terms = [one + other * 0.5 for one, other in zip(terms[::2], terms[1::2], strict=True)]
    return terms[0]


def test_a_wide_expression_is_cut_where_it_is_too_large_for_one_loop():
    rows = pullback.rand(2048, 3, dtype=pullback.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that there is no machine code
        found = pullback.compile(pairwise)(rows)
    np.testing.assert_allclose(found.numpy(), pairwise(rows).numpy(), rtol=1e-12)
