"""einops on tensors: values as of arrays, and gradients by differences. Runs where einops is installed."""

import numpy as np
import pytest

import pullback
from pullback.interop.einops import enable

einops = pytest.importorskip("einops")

CALLS = {
    "transpose": lambda t: einops.rearrange(t, "a b c -> c (a b)"),
    "a list": lambda t: einops.rearrange([t, 2 * t], "n a b c -> a (n b) c"),
    "split": lambda t: einops.rearrange(t, "a (b1 b2) c -> b2 a 1 c b1", b2=3),
    **{
        name: lambda t, name=name: einops.reduce(t, "a b c -> b ()", name)
        for name in ("sum", "mean", "max", "min", "prod")
    },
    "repeat": lambda t: einops.repeat(t, "a b c -> a (b r) c q", r=2, q=3),
    "einsum": lambda t: einops.einsum(t, t, "a b c, a d c -> a b d"),
    "pack": lambda t: einops.pack([t, t[0]], "* c")[0],
    "unpack": lambda t: einops.unpack(t, [[1], [3]], "a b *")[1],
}


@pytest.fixture(autouse=True)
def enabled():
    enable()
    enable()


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    call, rng = CALLS[name], np.random.default_rng(0)
    x = pullback.tensor(rng.uniform(0.5, 1.5, (2, 3, 4)), requires_grad=True)
    found = call(x)
    assert type(found) is pullback.Tensor
    np.testing.assert_allclose(found.numpy(force=True), call(x.numpy(force=True)), rtol=1e-15)
    assert pullback.autograd.gradcheck(call, x)


def test_what_has_no_gradient_and_what_asks_for_numbers():
    x = pullback.arange(6).reshape(2, 3)
    assert einops.reduce(x > 3, "a b -> a", "any").tolist() == [False, True]
    assert einops.parse_shape(x, "a b") == {"a": 2, "b": 3}
    with pytest.raises(NotImplementedError, match="mean"):
        einops.reduce(x, "a b -> a", "mean")
