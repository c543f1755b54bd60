"""Results that lie in the memory of an operand, or of what was saved: a write after the operation changes no gradient."""

import numpy as np
import pytest

import pullback
from pullback import extend
from pullback.autograd import grad

D, functional = pullback.float64, pullback.nn.functional


def square(x):
    return x[:9].reshape(3, 3) + 3 * pullback.eye(3, dtype=D)


def recurrent(kind, *shape, **options):
    pullback.manual_seed(0)
    net = getattr(pullback.nn, kind)(shape[-1], 3, dtype=D, **options)
    return lambda x: net(x.reshape(shape))[0]


def pooled(kind, *shape):
    return lambda x: getattr(functional, kind)(x.view(shape), 2)


identity = extend.elementwise("identity", lambda xp, g: g, forward=lambda x: x, inputs=("x",))
first_half = extend.linear(
    "first_half",
    lambda xp, g, x_shape: xp.concat(g, xp.zeros_like(g), axis=0, sizes=(6, 6)),
    forward=lambda x: x[:6],
)

second = extend.general("second", joint=lambda xp, g: (None, g), forward=lambda *xs: xs[1], inputs=("*xs",))

OPERATIONS = {
    "RNN": recurrent("RNN", 3, 1, 4),
    "RNN, relu": recurrent("RNN", 3, 1, 4, nonlinearity="relu"),
    "GRU": recurrent("GRU", 3, 1, 4),
    "GRU, batch first": recurrent("GRU", 2, 2, 3, batch_first=True),
    "GRU, one sequence": recurrent("GRU", 3, 4),
    "LSTM": recurrent("LSTM", 3, 1, 4),
    "solve of a vector": lambda x: pullback.linalg.solve(square(x), x[9:12]),
    "solve from the right": lambda x: pullback.linalg.solve(square(x), x[:6].reshape(2, 3), left=False),
    "solve_triangular from the right": lambda x: pullback.linalg.solve_triangular(
        square(x), x[:6].reshape(2, 3), upper=True, left=False
    ),
    "softmax of a number": lambda x: x[0].softmax(0) * 1,
    "softmax of a number, itself": lambda x: x[0].softmax(0) + 0 * x[1],
    "log_softmax of a number": lambda x: x[0].log_softmax(0) + x[1],
    "max_pool1d": pooled("max_pool1d", 3, 4),
    "max_pool2d": pooled("max_pool2d", 1, 3, 4),
    "max_pool3d": pooled("max_pool3d", 1, 2, 2, 3),
    "cross": lambda x: pullback.linalg.cross(x[:6].view(2, 3), x[6:].view(2, 3)),
    "attention with repeated heads": lambda x: functional.scaled_dot_product_attention(
        x[:8].view(1, 2, 1, 4), x[4:8].view(1, 1, 1, 4), x[8:].view(1, 1, 1, 4), enable_gqa=True
    ),
    "vander": lambda x: pullback.vander(x[:3], 3) * x[3],
    "cat of one": lambda x: pullback.cat([x.exp()]),
    "an identity of the user's": lambda x: identity(x.exp()),
    "one of several, by the user's": lambda x: second(x, x.exp()),
    "a part, by the user's": lambda x: first_half(x.exp()),
}
WRITES = {
    "result": lambda h, y: y.mul_(7.0),
    "result filled": lambda h, y: y.fill_(7.0),
    "operand": lambda h, y: h.neg_(),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_write_afterwards_changes_no_gradient(name, write):
    function = OPERATIONS[name]
    leaf = pullback.tensor(np.random.default_rng(0).standard_normal(12), requires_grad=True)
    (expected,) = grad(function(leaf * 1).sin().sum(), leaf)
    h = leaf * 1
    y = function(h)
    total = (y * y).sum() + y.sin().sum() - (y * y).detach().sum()
    (other,) = grad((function(leaf * 1) ** 2).sum(), leaf)
    WRITES[write](h, y)
    (found,) = grad(total, leaf)
    np.testing.assert_allclose(found.numpy(), (expected + other).numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [identity, first_half, lambda x: second(x * 0, x)])
def test_a_result_of_the_users_has_memory_of_its_own(function):
    x = pullback.arange(12.0)
    y = function(x)
    y.add_(1)
    assert (x._version, y._version) == (0, 1)
    assert (x[0].item(), y[0].item()) == (0.0, 1.0)


@pytest.mark.parametrize("value", [1.0, pullback.tensor([1.0, 2.0, 3.0], dtype=pullback.float64)], ids=["number", "rows"])
def test_places_in_the_memory_that_is_written_are_those_before_the_write(value):
    """As NumPy does it: a write would make a place of the bits of a number."""
    memory = np.array([1, 0, 0])
    expected = memory.copy().view(np.float64)
    expected[memory] = np.asarray(value)
    x, places = pullback.from_numpy(memory.view(np.float64)), pullback.from_numpy(memory)
    x[places] = value
    assert x.tolist() == expected.tolist()


def test_a_mask_in_the_memory_that_is_written_is_that_before_the_write():
    memory = np.zeros(3)
    mask = memory.view(np.uint8)[:3].view(np.bool_)
    mask[:] = True
    expected = memory.copy()
    expected[mask.copy()] = 0.5
    x = pullback.from_numpy(memory)
    x[pullback.from_numpy(mask)] = 0.5
    assert x.tolist() == expected.tolist()
