"""What the helpers of tests promise to tests."""

import itertools

import pytest
from tests.covering import pairwise


@pytest.mark.parametrize("sizes", [(3,), (4, 2), (2, 4, 6, 6), (5, 3, 7, 2, 2), (8, 8, 3, 2)], ids=str)
def test_each_two_values_of_different_parameters_meet(sizes):
    axes = [[(axis, value) for value in range(size)] for axis, size in enumerate(sizes)]
    rows = pairwise(*axes)
    assert all(each in axis for row in rows for axis, each in zip(axes, row, strict=True))
    met = {pair for row in rows for pair in itertools.combinations(row, 2)}
    assert met == {pair for one, other in itertools.combinations(axes, 2) for pair in itertools.product(one, other)}
    assert len(rows) == len({*rows}) < 2 * max(1, *(a * b for a, b in itertools.combinations(sizes, 2)), *sizes)
