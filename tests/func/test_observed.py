"""Transforms inside blocks that observe operations: the same values and gradients as outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.nn import functional

# Operations whose rules compute with arrays in ways that tensors have not, each of a matrix of 4 by 3.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: (x * x).sum(1),
    "cumsum": lambda x: (x * x).cumsum(0).sum(1),
    "sort": lambda x: x.sort(1)[0] * pb.arange(3.0),
    "max": lambda x: x.max(1)[0],
    "softmax": lambda x: functional.softmax(x, 1),
    "svdvals": pb.linalg.svdvals,
    "inv": lambda x: pb.linalg.inv(x @ x.t() + pb.eye(4)),
    "cross_entropy": lambda x: functional.cross_entropy(x, pb.tensor([0, 1, 2, 0])),
    "conv": lambda x: functional.conv1d(x[None, :1], x[None, 1:2, :2].expand(1, 1, 2)),
    "index": lambda x: x[pb.tensor([0, 2])] ** 2,
    "logsumexp": lambda x: x.logsumexp(1),
    "norm": lambda x: pb.linalg.norm(x, dim=1),
    "std": lambda x: x.std(1),
    "prod": lambda x: x.prod(1),
    "einsum": lambda x: pb.einsum("ij,kj->ik", x, x),
    "layer_norm": lambda x: functional.layer_norm(x, (3,)),
    "scatter": lambda x: pb.zeros(4, 3, dtype=pb.float64).scatter(0, pb.zeros(1, 3, dtype=pb.int64), x),
    "cdist": lambda x: pb.cdist(x, x + 1.0),
    "where": lambda x: pb.where(x > 0, x**2, x),
    "rfft": lambda x: pb.fft.rfft(x).abs(),
    "interpolate": lambda x: functional.interpolate(x[None], size=5),
}
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jacrev": pb.func.jacrev,
    "jacfwd": pb.func.jacfwd,
    "hessian": lambda f: pb.func.hessian(lambda x: f(x).sin().sum()),
    "vmap": lambda f: lambda x: pb.func.vmap(lambda scale: f(x * scale))(pb.tensor([1.0, 2.0])),
}


def computed(transform: str, operation: str) -> tuple[Any, Any]:
    """What a transform gives at a tensor that requires grad, and its gradient."""
    x = pb.tensor(np.random.default_rng(0).normal(size=(4, 3)), requires_grad=True)
    result = TRANSFORMS[transform](lambda x: OPERATIONS[operation](x.sin()))(x)
    (result * result).sum().backward()
    return result.detach(), x.grad


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_transform_gives_the_same_where_operations_are_observed(transform: str, operation: str) -> None:
    expected = computed(transform, operation)
    with pb.explain.record():
        recorded = computed(transform, operation)
    with pb.autograd.detect_anomaly():
        watched = computed(transform, operation)
    for given in (recorded, watched):
        for found, wanted in zip(given, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


class Counting(pb.observe.Observer):
    """Counts the operations that compute numbers."""

    finds_modules = False

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def operation(self, seen: pb.observe.Operation) -> None:
        self.count += seen.computed


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_on_numbers_are_shown(transform: str, operation: str) -> None:
    x = pb.tensor(np.random.default_rng(0).normal(size=(4, 3)))
    expected = TRANSFORMS[transform](OPERATIONS[operation])(x)
    with Counting() as counting:
        found = TRANSFORMS[transform](OPERATIONS[operation])(x)
    assert counting.count
    assert type(found) is type(expected)
    assert not found.requires_grad
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def _written(x: Any) -> Any:
    x.mul_(2.0)
    x[0] = 1.0
    y = x.clone()
    y += x
    return y


@pytest.mark.parametrize("transform", [pb.func.vmap, pb.func.functionalize])
def test_writes_in_transforms_are_the_same_where_operations_are_observed(transform: Any) -> None:
    plain, watched = pb.ones(4, 3), pb.ones(4, 3)
    expected = transform(_written)(plain)
    with Counting():
        found = transform(_written)(watched)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(watched, plain)


@pytest.mark.parametrize("function", [lambda x: x, lambda x: x[1:], lambda x: x.clone()])
def test_results_share_memory_as_they_do_outside(function: Any) -> None:
    plain, watched = pb.ones(4, 3), pb.ones(4, 3)
    expected = pb.func.vmap(function)(plain)
    with Counting():
        found = pb.func.vmap(function)(watched)
    plain.add_(1.0)
    watched.add_(1.0)
    np.testing.assert_array_equal(found, expected)


def test_a_nan_below_a_transform_is_found() -> None:
    x = pb.tensor([0.0, 4.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="nan"), pb.autograd.detect_anomaly():
        pb.func.jacrev(lambda x: pb.where(x > 0, pb.sqrt(x), 0.0))(x).sum().backward()


def test_a_nan_that_vmap_makes_of_numbers_is_found() -> None:
    with pytest.raises(RuntimeError, match=r"div at .* gave nan"), pb.autograd.detect_anomaly():
        pb.func.vmap(lambda x: x / x)(pb.zeros(3, 2))
