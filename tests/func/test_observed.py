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


def test_a_nan_below_a_transform_is_found() -> None:
    x = pb.tensor([0.0, 4.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="nan"), pb.autograd.detect_anomaly():
        pb.func.jacrev(lambda x: pb.where(x > 0, pb.sqrt(x), 0.0))(x).sum().backward()
