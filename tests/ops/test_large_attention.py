"""Attention of arrays large enough for machine code and for several blocks: what the formula says, in double precision."""

import numpy as np
import pytest

import pullback
from pullback.nn import functional

# The shape of queries and values, and the number of keys: one block, several heads in a block, one head in several blocks.
SIZES = {
    "small": ((2, 3, 5, 4), 7),
    "one block": ((8, 4, 32, 16), 32),
    "blocks of heads": ((6, 5, 96, 8), 80),
    "blocks of queries": ((1, 2, 640, 8), 700),
}
SLACK = {"float32": 3e-5, "float64": 1e-12}
EACH = pytest.mark.parametrize("size", SIZES)
DTYPES = pytest.mark.parametrize("dtype", SLACK)
MODES = pytest.mark.parametrize("mode", ["never", "always"])
SCALES = pytest.mark.parametrize("scale", [0.5, 40.0])


@pytest.fixture
def machine_code(mode):
    if mode == "always":
        pytest.importorskip("llvmlite")
    before = pullback.get_machine_code()
    pullback.set_machine_code(mode)
    yield
    pullback.set_machine_code(before)


def drawn(size, dtype):
    """Queries, keys and values as views whose heads come after their steps in memory, and a mask that opens a place per row."""
    (batch, heads, length, features), keys = SIZES[size]
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(batch, n, heads, features)).astype(dtype).swapaxes(1, 2) for n in (length, keys, keys)]
    mask = np.where(rng.random((length, keys)) < 0.3, -np.inf, rng.normal(size=(length, keys))).astype(dtype)
    mask[:, 0] = 0
    return parts, mask


def by_formula(parts, mask, scale, given):
    """The result, and the gradients of queries, keys and values for a cotangent of it."""
    q, k, v, mask, given = (x.astype(np.float64) for x in (*parts, mask, given))
    scores = scale * q @ k.swapaxes(-1, -2) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    slopes = given @ v.swapaxes(-1, -2)
    slopes = weights * (slopes - (slopes * weights).sum(-1, keepdims=True)) * scale
    turned = weights.swapaxes(-1, -2), slopes.swapaxes(-1, -2)
    return weights @ v, slopes @ k, turned[1] @ q, turned[0] @ given


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("given", ["full", "expanded", "turned"])
@MODES
@SCALES
@DTYPES
@EACH
def test_results_and_gradients_are_those_of_the_formula(size, dtype, scale, given, mode):
    parts, mask = drawn(size, dtype)
    shape = parts[0].shape
    g = np.random.default_rng(1).normal(size=shape).astype(dtype)
    cotangent = pullback.tensor(g)
    if given == "expanded":
        cotangent = cotangent[:1, :1, :1, :1].expand(shape)
    elif given == "turned":
        cotangent = cotangent.transpose(1, 2).contiguous().transpose(1, 2)
    leaves = [pullback.tensor(part).requires_grad_() for part in parts]
    turned = [leaf.transpose(1, 2).contiguous().transpose(1, 2) for leaf in leaves]
    result = functional.scaled_dot_product_attention(*turned, pullback.tensor(mask), scale=scale)
    found = result.detach(), *pullback.autograd.grad(result, leaves, cotangent)
    for mine, expected in zip(found, by_formula(parts, mask, scale, cotangent.numpy()), strict=True):
        assert mine.numpy().dtype == dtype
        slack = SLACK[dtype] * max(1, scale) * max(1, abs(expected).max())
        np.testing.assert_allclose(mine.numpy(), expected, rtol=0, atol=slack)


@pytest.mark.usefixtures("machine_code")
@MODES
@EACH
def test_a_query_without_keys_is_zero_and_takes_no_gradient(size, mode):
    parts, mask = drawn(size, "float32")
    mask[1] = -np.inf
    leaves = [pullback.tensor(part).requires_grad_() for part in parts]
    result = functional.scaled_dot_product_attention(*leaves, pullback.tensor(mask))
    found = [result.detach().numpy(), *(g.numpy() for g in pullback.autograd.grad(result.sum(), leaves))]
    assert not any(each[:, :, 1].any() for each in found[:2])
    assert all(np.isfinite(each).all() for each in found)
