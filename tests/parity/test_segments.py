"""`segment_reduce`: values, gradients and refusals as torch's, and the derivatives that it does not have."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402
from pullback.testing import gradcheck, gradgradcheck  # noqa: E402

from .compare import parity, raises  # noqa: E402

REDUCTIONS = ["sum", "mean", "prod", "max", "min", "amax", "amin"]
CUTS = {
    "lengths": ((6,), {"lengths": [3, 0, 3]}),
    "offsets": ((6,), {"offsets": [0, 3, 3, 6]}),
    "offsets that leave elements out": ((6,), {"offsets": [1, 2, 5]}),
    "unsafe lengths": ((6,), {"lengths": [1, 3], "unsafe": True}),
    "slices": ((3, 2), {"lengths": [2, 1]}),
    "the last axis": ((2, 3), {"lengths": [[2, 1], [0, 3]], "axis": 1}),
    "the last axis from the end": ((2, 3), {"offsets": [[0, 2, 3], [1, 1, 3]], "axis": -1}),
    "an axis inside": ((2, 3, 2), {"lengths": [[2, 1], [1, 2]], "axis": 1}),
    "no elements": ((0,), {"lengths": [0, 0]}),
}
VALUES = [1.0, 2.0, 2.0, 0.0, 3.0, 0.0, -1.0, 0.5, -1.0, 4.0, -2.0, 4.0]


def arguments(t, cut, dtype="float64"):
    shape, options = CUTS[cut]
    data = t.tensor(VALUES[: int(np.prod(shape))], dtype=getattr(t, dtype)).reshape(shape)
    return data, {key: t.tensor(value) if isinstance(value, list) else value for key, value in options.items()}


def values(tensor):
    """A tensor without its node, whose name tells how it was computed."""
    return tensor.detach()


@pytest.mark.parametrize("initial", [None, 0, 2, -1.5], ids=str)
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("cut", CUTS)
@parity
def test_values_and_gradients(t, cut, reduce, initial):
    data, options = arguments(t, cut)
    data.requires_grad_()
    y = t.segment_reduce(data, reduce, initial=initial, **options)
    weights = t.arange(1.0, y.numel() + 1, dtype=t.float64).reshape(y.shape)
    y.backward(weights)
    return values(y), data.grad


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@parity
def test_it_keeps_the_dtype(t, reduce, dtype):
    data, options = arguments(t, "lengths", dtype)
    return t.segment_reduce(data, reduce, **options), t.segment_reduce(data, reduce, offsets=t.tensor([0, 6]).int())


@pytest.mark.parametrize("reduce", ["sum", "max", "prod"])
@parity
def test_what_is_not_a_number_spreads(t, reduce):
    data = t.tensor([1.0, float("nan"), 2.0])
    found = [t.segment_reduce(data, reduce, lengths=t.tensor([2, 1]))]
    return [*found, t.segment_reduce(data, reduce, lengths=t.tensor([1, 2]), initial=float("nan"))]


@pytest.mark.parametrize("initial", [None, 1.5], ids=str)
@pytest.mark.parametrize("reduce", REDUCTIONS[:5])
@pytest.mark.parametrize("cut", ["lengths", "an axis inside"])
def test_two_orders_that_torch_does_not_have(cut, reduce, initial):
    data, options = arguments(pullback, cut)
    data = data + 0.1 * pullback.arange(float(data.numel())).reshape(data.shape) - 2.55  # no ties
    data = data.detach().requires_grad_()

    def reduced(x):
        y = pullback.segment_reduce(x, reduce, initial=initial, **options)
        return y[pullback.isfinite(y)]

    assert gradcheck(reduced, (data,), check_forward_ad=True)
    assert gradgradcheck(reduced, (data,))


@parity
def test_transforms(t):
    lengths = t.tensor([2, 1])
    rows = t.arange(6.0).reshape(2, 3)
    return t.func.vmap(lambda v: t.segment_reduce(v, "mean", lengths=lengths))(rows), t.func.grad(
        lambda v: t.segment_reduce(v, "max", lengths=lengths).sum()
    )(rows[0])


MISUSE = {
    "no cut": ({}, RuntimeError, "segment_reduce(): Either lengths or offsets must be defined."),
    "indices": ({"indices": [0, 0, 1]}, RuntimeError, "segment_reduce(): indices based reduction is not supported yet."),
    "another reduction": (
        {"reduce": "median", "lengths": [3]}, RuntimeError,
        "reduce argument must be either sum, prod, mean, amax or amin, got median",
    ),
    "too short": ({"lengths": [2]}, RuntimeError, "Expected all rows of lengths along axis to sum to"),
    "too long": ({"lengths": [4]}, RuntimeError, "Expected all rows of lengths along axis to sum to"),
    "negative": ({"lengths": [4, -1]}, RuntimeError, "lengths contains negative value!"),
    "fractions": (
        {"lengths": [3.0]}, NotImplementedError, "\"_segment_reduce_lengths_cpu_kernel1\" not implemented for 'Float'",
    ),
    "another axis": ({"data": [[1.0, 2.0]], "lengths": [[2]]}, RuntimeError, "Expected axis to be the last dimension of lengths but got 0."),
    "an axis outside": ({"lengths": [3], "axis": 5}, IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 5)"),
    "no tensor": ({"lengths": 3}, TypeError, "segment_reduce(): argument 'lengths' must be Tensor, not int"),
    "a complex beginning": ({"lengths": [3], "initial": 1j}, RuntimeError, "value cannot be converted to type float without overflow"),
    "offsets that decrease": ({"offsets": [0, 2, 1, 3]}, RuntimeError, "Expected segment_length >= 0 to be true, but got false"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSE)
@parity
def test_misuse(t, case):
    options, error, wording = MISUSE[case]
    options = {key: t.tensor(value) if isinstance(value, list) else value for key, value in options.items()}
    raises(error, wording, lambda: t.segment_reduce(**{"data": t.ones(3), "reduce": "sum"} | options))
    title = "\"_segment_reduce_cpu\" not implemented for 'Long'"
    raises(NotImplementedError, title, lambda: t.segment_reduce(t.tensor([1]), "sum", lengths=t.tensor([1])))


@pytest.mark.parametrize(
    "options",
    [{"offsets": [0, 4]}, {"offsets": [-1, 3]}, {"lengths": [4], "unsafe": True}, {"lengths": [[3]], "axis": 1}],
    ids=str,
)
def test_segments_outside_are_refused_where_torch_reads_other_memory(options):
    options = {key: pullback.tensor(value) if isinstance(value, list) else value for key, value in options.items()}
    with pytest.raises(RuntimeError, match="segment_reduce"):
        pullback.segment_reduce(pullback.ones((2, 3) if "axis" in options else (3,)), "sum", **options)
