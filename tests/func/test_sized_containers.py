"""Containers that keep the shape that their children have in common, under vmap: as those of tensordict do."""

import pytest

import pullback
from pullback.func import vmap
from pullback.utils.trees import ContainerKind, register


class Rows:
    """Tensors by names, whose first axes are those of a batch."""

    def __init__(self, sizes, **parts):
        assert all(tuple(part.shape[: len(sizes)]) == sizes for part in parts.values())
        self.sizes, self.parts = sizes, parts


def changed(sizes, axis, size):
    rest = [*sizes]
    rest[axis : axis + (size is None)] = [] if size is None else [size]
    return tuple(rest)


@pytest.fixture(autouse=True)
def registered():
    how = ContainerKind(
        lambda rows: (tuple(rows.parts), [*rows.parts.values()], rows.sizes),
        lambda kind, keys, values, sizes: kind(sizes, **dict(zip(keys, values, strict=True))),
        batched=changed,
    )
    register(Rows, how)
    yield
    register(Rows, None)


@pytest.mark.parametrize("chunk", [None, 1])
@pytest.mark.parametrize(("axis", "inside"), [(0, (3,)), (1, (2,)), (-1, (2,)), (None, (2, 3))])
def test_the_sizes_follow_the_axis(axis, inside, chunk):
    rows = Rows((2, 3), a=pullback.arange(6.0).reshape(2, 3), b=pullback.ones(2, 3))
    seen = []

    def f(rows, x):
        seen.append(rows.sizes)
        return Rows(rows.sizes, a=rows.parts["a"] * x, inner=rows.parts["b"] + x)

    count = {0: 2, None: 4}.get(axis, 3)
    found = vmap(f, (axis, 0), chunk_size=chunk)(rows, pullback.full((count,), 2.0))
    assert {*seen} == {inside}
    assert found.sizes == (count, *inside)
    assert float(found.parts["a"].sum()) == 2 * 15.0 * (4 if axis is None else 1)


def test_leaves_of_several_axes_leave_the_sizes_alone():
    rows = Rows((2,), a=pullback.ones(2, 3))
    found = vmap(lambda x: Rows((), a=x, whole=rows.parts["a"]), out_dims=0)(pullback.arange(5.0))
    assert found.sizes == (5,)
    assert tuple(found.parts["whole"].shape) == (5, 2, 3)
