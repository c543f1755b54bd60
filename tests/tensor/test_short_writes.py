"""In-place methods of tensors and numbers: the same bits, versions and errors by the short way as by the general one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

# A method, how many other tensors it takes, and calls by numbers.
CALLS: list[tuple[str, int, tuple[Any, ...], dict[str, Any]]] = [
    ("fill_", 0, (2.5,), {}),
    ("fill_", 0, (3,), {}),
    ("fill_", 0, (float("inf"),), {}),
    ("fill_", 0, (1e300,), {}),
    ("fill_", 0, (), {"value": 0.1}),
    ("clamp_", 0, (-0.5, 0.5), {}),
    ("clamp_", 0, (0.1,), {}),
    ("clamp_", 0, (), {"max": 0}),
    ("clamp_", 0, (), {"min": 0.3, "max": -0.3}),
    ("clamp_", 0, (float("nan"), 1.0), {}),
    ("lerp_", 1, (0.3,), {}),
    ("lerp_", 1, (0.7,), {}),
    ("lerp_", 1, (), {"weight": 2}),
    ("addcmul_", 2, (), {}),
    ("addcmul_", 2, (), {"value": 0.1}),
    ("addcmul_", 2, (), {"value": 3}),
    ("addcdiv_", 2, (), {"value": -0.7}),
    ("addcdiv_", 2, (), {}),
]
NAMES = [f"{name}{others}-{args}-{options}" for name, others, args, options in CALLS]


def operands(count: int, dtype: Any) -> list[Any]:
    """A tensor and so many others, with a NaN, an infinity and zeros of both signs."""
    draw = np.random.default_rng(0)
    arrays = [draw.normal(size=(3, 4)) for _ in range(count + 1)]
    arrays[0][0] = [np.nan, np.inf, 0.0, -0.0]
    return [pb.tensor(array, dtype=dtype) for array in arrays]


@pytest.mark.parametrize("dtype", [pb.float32, pb.float64])
@pytest.mark.parametrize(("name", "others", "args", "options"), CALLS, ids=NAMES)
def test_the_bits_are_those_of_tensors_that_go_the_general_way(
    name: str, others: int, args: Any, options: Any, dtype: Any
) -> None:
    x, *rest = operands(others, dtype)
    wide = pb.zeros(3, 8, dtype=dtype)
    apart = wide[:, ::2]  # not contiguous: the general way
    apart.copy_(x)
    before = x._version
    assert getattr(x, name)(*rest, *args, **options) is x
    getattr(apart, name)(*rest, *args, **options)
    assert x.numpy().tobytes() == apart.contiguous().numpy().tobytes()
    assert x._version == before + 1


@pytest.mark.parametrize(("name", "others", "args", "options"), CALLS, ids=NAMES)
def test_tensors_without_axes(name: str, others: int, args: Any, options: Any) -> None:
    x, *rest = (pb.tensor(value) for value in (1.0, 2.0, 3.0)[: others + 1])
    row, *rows = (value.reshape(1).clone() for value in (x, *rest))
    assert getattr(x, name)(*rest, *args, **options) is x
    getattr(row, name)(*rows, *args, **options)
    assert x.shape == ()
    np.testing.assert_array_equal(x, row[0])


@pytest.mark.parametrize(("name", "others", "args", "options"), CALLS, ids=NAMES)
def test_what_an_operation_has_saved_is_not_lost(name: str, others: int, args: Any, options: Any) -> None:
    x, *rest = operands(others, pb.float64)
    x = x.nan_to_num(posinf=2.0)
    w = pb.ones(3, 4, dtype=pb.float64, requires_grad=True)
    y = (w * x).sum()
    kept = x.clone()
    getattr(x, name)(*rest, *args, **options)
    try:
        y.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017  # either is right, silence is not
    else:
        np.testing.assert_array_equal(w.grad, kept)


def test_operands_that_are_tracked_are_recorded() -> None:
    x, end, weight = operands(2, pb.float64)
    x, end = x.nan_to_num(posinf=1.0), end.requires_grad_()
    x.lerp_(end, 0.25).sum().backward()
    assert (end.grad == 0.25).all()
    y = pb.zeros(3, 4, dtype=pb.float64)
    y.addcmul_(end, weight, value=2.0).sum().backward()
    np.testing.assert_allclose(end.grad, 0.25 + 2 * weight.numpy())
    with pb.no_grad():
        before = end.detach().clone()
        end.addcmul_(weight, weight, value=0.5)
    np.testing.assert_allclose(end.detach(), before + 0.5 * weight * weight)


def test_what_does_not_fit_is_said_as_ever_and_nothing_is_written() -> None:
    x = pb.ones(2)
    for call in (
        x.clamp_,
        lambda: x.clamp_(1.0, 2.0, 3.0),
        x.fill_,
        lambda: x.fill_(None),
        lambda: x.lerp_(pb.ones(3), 0.5),
        lambda: x.lerp_(pb.ones(2), None),
        lambda: x.lerp_(pb.ones(2, dtype=pb.float64), 0.5),
        lambda: x.addcmul_(pb.ones(2), pb.ones(2), valu=1),
        lambda: x.addcdiv_(pb.ones(2)),
        lambda: pb.ones(2, requires_grad=True).fill_(1.0),
    ):
        with pytest.raises((TypeError, RuntimeError)):
            call()
    assert x.tolist() == [1.0, 1.0]


def test_memory_that_overlaps() -> None:
    x = pb.arange(6.0)
    x.addcmul_(x, x)
    assert x.tolist() == [0.0, 2.0, 6.0, 12.0, 20.0, 30.0]
