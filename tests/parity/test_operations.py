"""Every operation: its values, its gradients and their gradients, on shapes from 0-d to empty."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity  # noqa: E402

DTYPES = ["float64", "float32"]
SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 3), (0,), (2, 0, 3)]


def numbers(seed, shape, low=0.3, high=1.7):
    """Distinct numbers, so that no maximum is tied."""
    return np.random.default_rng(seed).uniform(low, high, shape)


def signed(seed, shape):
    return numbers(seed, shape) * np.random.default_rng(seed + 100).choice([-1, 1], shape)


def derivatives(t, function, arrays, dtype):
    """The outputs, and the first and second derivatives of a weighted sum of them."""
    xs = [t.tensor(array, dtype=getattr(t, dtype), requires_grad=True) for array in arrays]
    result = function(t, *xs)
    outputs = [result] if isinstance(result, t.Tensor) else list(result)
    floating = [y for y in outputs if y.is_floating_point()]
    total = weighted(t, floating, 1)
    first = t.autograd.grad(total, xs, create_graph=True, materialize_grads=True)
    tracked = [g for g in first if g.requires_grad]
    second = t.autograd.grad(weighted(t, tracked, 2), xs, materialize_grads=True) if tracked else []
    zero = [t.zeros_like(x) for x in xs]
    seen = [(y.detach(), y.requires_grad, y.is_leaf) for y in outputs]
    return seen, [g.detach() for g in first], [g.detach() for g in second or zero]


def weighted(t, tensors, seed):
    return sum((y * t.tensor(numbers(seed, tuple(y.shape)), dtype=y.dtype)).sum() for y in tensors)


UNARY = {
    "neg": (signed, lambda t, x: -x),
    "pos": (signed, lambda t, x: +x),
    "exp": (signed, lambda t, x: x.exp()),
    "expm1": (signed, lambda t, x: t.expm1(x)),
    "log": (numbers, lambda t, x: t.log(x)),
    "log1p": (numbers, lambda t, x: x.log1p()),
    "sqrt": (numbers, lambda t, x: x.sqrt()),
    "rsqrt": (numbers, lambda t, x: x.rsqrt()),
    "square": (signed, lambda t, x: x.square()),
    "reciprocal": (signed, lambda t, x: x.reciprocal()),
    "abs": (signed, lambda t, x: abs(x)),
    "sin": (signed, lambda t, x: t.sin(x)),
    "cos": (signed, lambda t, x: x.cos()),
    "tan": (numbers, lambda t, x: (x / 2).tan()),
    "sinh": (signed, lambda t, x: x.sinh()),
    "cosh": (signed, lambda t, x: x.cosh()),
    "tanh": (signed, lambda t, x: x.tanh()),
    "sigmoid": (signed, lambda t, x: t.sigmoid(x)),
    "relu": (signed, lambda t, x: x.relu()),
    "sign": (signed, lambda t, x: x.sign()),
    "floor": (signed, lambda t, x: x.floor()),
    "ceil": (signed, lambda t, x: x.ceil()),
    "round": (signed, lambda t, x: x.round()),
    "trunc": (signed, lambda t, x: x.trunc()),
    "nn.Sigmoid": (signed, lambda t, x: t.nn.Sigmoid()(x)),
    "functional.relu": (signed, lambda t, x: t.nn.functional.relu(x)),
    "x + 2": (signed, lambda t, x: x + 2),
    "2 + x": (signed, lambda t, x: 2 + x),
    "x - 2.5": (signed, lambda t, x: x - 2.5),
    "2 - x": (signed, lambda t, x: 2 - x),
    "x * 3": (signed, lambda t, x: x * 3),
    "3 * x": (signed, lambda t, x: 3 * x),
    "1 / x": (signed, lambda t, x: 1 / x),
    "x / 3": (signed, lambda t, x: x / 3),
    "x % 0.7": (signed, lambda t, x: x % 0.7),
    "x ** 3": (signed, lambda t, x: x**3),
    "x ** 2": (signed, lambda t, x: x**2),
    "x ** 1": (signed, lambda t, x: x**1),
    "x ** 0": (signed, lambda t, x: x**0),
    "x ** -2": (signed, lambda t, x: x**-2),
    "x ** 0.5": (numbers, lambda t, x: x**0.5),
    "x ** 2.5": (numbers, lambda t, x: x**2.5),
    "2 ** x": (signed, lambda t, x: 2**x),
    "pow": (numbers, lambda t, x: t.pow(x, 3)),
    "add alpha": (signed, lambda t, x: x.add(x, alpha=3)),
    "clamp": (signed, lambda t, x: x.clamp(-1, 1)),
    "clamp min": (signed, lambda t, x: x.clamp(min=0.5)),
    "clamp max": (signed, lambda t, x: t.clamp(x, max=0.5)),
    "clip": (signed, lambda t, x: x.clip(-1, 1)),
    "clone": (signed, lambda t, x: x.clone()),
    "double": (signed, lambda t, x: x.double()),
    "where": (signed, lambda t, x: t.where(x > 0, x * x, x)),
    "where and a number": (signed, lambda t, x: t.where(x > 0, x, 2.0)),
    "sum": (signed, lambda t, x: x.sum()),
    "mean": (signed, lambda t, x: (x * x).mean()),
    "norm": (signed, lambda t, x: x.norm() if x.numel() else x.sum()),
    "reshape": (signed, lambda t, x: x.reshape(-1) if x.numel() else x.reshape(0, 5)),
    "flatten": (signed, lambda t, x: x.flatten()),
    "ravel": (signed, lambda t, x: x.ravel()),
    "squeeze": (signed, lambda t, x: x.squeeze()),
    "unsqueeze": (signed, lambda t, x: x.unsqueeze(-1)),
    "expand": (signed, lambda t, x: x.expand(2, *x.shape)),
    "None": (signed, lambda t, x: x[None]),
    "ellipsis": (signed, lambda t, x: x[...]),
    "mask": (signed, lambda t, x: x[x > 0]),
    "permute": (signed, lambda t, x: x.permute(tuple(reversed(range(x.ndim))))),
    "logsumexp": (signed, lambda t, x: x.logsumexp(-1) if x.numel() else x.sum()),
    "softmax": (signed, lambda t, x: x.softmax(-1)),
    "log_softmax": (signed, lambda t, x: x.log_softmax(-1)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
@parity
def test_functions_of_one_tensor(t, name, shape, dtype):
    draw, function = UNARY[name]
    return derivatives(t, function, [draw(0, shape)], dtype)


BINARY = {
    "add": (signed, lambda t, a, b: a + b),
    "sub": (signed, lambda t, a, b: a - b),
    "mul": (signed, lambda t, a, b: a * b),
    "div": (signed, lambda t, a, b: a / b),
    "remainder": (signed, lambda t, a, b: a % b),
    "pow": (numbers, lambda t, a, b: a**b),
    "maximum": (signed, lambda t, a, b: t.maximum(a, b)),
    "minimum": (signed, lambda t, a, b: a.minimum(b)),
    "where": (signed, lambda t, a, b: t.where(a > 0, a * a, b)),
    "clamp": (signed, lambda t, a, b: a.clamp(min=b)),
    "rsub": (signed, lambda t, a, b: t.rsub(a, b)),
    "mixed": (signed, lambda t, a, b: (a * b).sin() + a.exp() / (1 + b * b)),
}
PAIRS = [
    ((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((2, 2), ()), ((1,), (2, 3)),
    ((0,), (1,)), ((2, 0), (2, 1)), ((2, 1, 3), (4, 1)), ((0,), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", BINARY)
@parity
def test_functions_of_two_tensors(t, name, shapes, dtype):
    draw, function = BINARY[name]
    return derivatives(t, function, [draw(0, shapes[0]), draw(1, shapes[1])], dtype)


REDUCTIONS = {
    "sum": lambda x, **axes: (x * x).sum(**axes),
    "mean": lambda x, **axes: (x * x).mean(**axes),
    "var": lambda x, **axes: x.var(**axes),
    "var of a population": lambda x, **axes: x.var(correction=0, **axes),
    "std": lambda x, **axes: x.std(**axes),
    "norm": lambda x, **axes: x.norm(**axes),
    "norm 1": lambda x, **axes: x.norm(1, **axes),
    "norm 3": lambda x, **axes: x.norm(3, **axes),
    "norm inf": lambda x, **axes: x.norm(float("inf"), **axes),
    "amax": lambda x, **axes: (x * x).amax(**axes),
    "amin": lambda x, **axes: x.amin(**axes),
    "logsumexp": lambda x, **axes: x.logsumexp(**axes),
}
AXES = [{"dim": 0}, {"dim": -1}, {"dim": (0, 1)}, {"dim": 1, "keepdim": True}, {"dim": (0, 2), "keepdim": True}]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
@parity
def test_reductions_over_axes(t, name, axes, dtype):
    return derivatives(t, lambda t, x: REDUCTIONS[name](x, **axes), [signed(0, (2, 3, 4))], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(REDUCTIONS.keys() - {"logsumexp", "amax", "amin"}))
@parity
def test_reductions_of_everything(t, name, dtype):
    return derivatives(t, lambda t, x: REDUCTIONS[name](x), [signed(0, (2, 3))], dtype)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, x: x.max(), lambda t, x: x.min(), lambda t, x: x.max(0), lambda t, x: x.min(-1),
        lambda t, x: x.max(1, keepdim=True), lambda t, x: t.max(x, dim=1), lambda t, x: x.amax(), lambda t, x: x.amin(),
        lambda t, x: x.max(0).values, lambda t, x: x.min(0).indices, lambda t, x: (x.argmax(), x), lambda t, x: x.cumsum(1),
        lambda t, x: (x.argmin(1), x.argmax(0), x), lambda t, x: (x.argmax(-1, keepdim=True), x), lambda t, x: t.max(x, x * x),
        lambda t, x: (x.all(), x.any(), x.all(0), x.any(1), x), lambda t, x: x.sum(dtype=t.float64), lambda t, x: x.sum(()),
        lambda t, x: x.sum(axis=0, keepdims=True), lambda t, x: x.mean(dim=[0, 1]), lambda t, x: x.softmax(0),
        lambda t, x: x.log_softmax(dim=1), lambda t, x: t.softmax(x, 0), lambda t, x: x.softmax(1, dtype=t.float64),
        lambda t, x: t.var(x, 0), lambda t, x: x.var(unbiased=False), lambda t, x: x.std(0, unbiased=False),
        lambda t, x: t.logsumexp(x, (0, 1)), lambda t, x: x.sum(0, dtype=t.float32), lambda t, x: t.mean(x, 1, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", DTYPES)
@parity
def test_forms_of_reductions(t, function, dtype):
    def indices_last(t, x):
        result = function(t, x)
        return result if isinstance(result, tuple) or result.is_floating_point() else (result, x)

    return derivatives(t, indices_last, [signed(0, (2, 3))], dtype)


PRODUCTS = {
    "dot": (lambda t, a, b: t.dot(a, b), [((3,), (3,)), ((0,), (0,))]),
    "mv": (lambda t, a, b: t.mv(a, b), [((2, 3), (3,)), ((2, 0), (0,))]),
    "mm": (lambda t, a, b: t.mm(a, b), [((2, 3), (3, 4)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((1, 1), (1, 1))]),
    "bmm": (lambda t, a, b: t.bmm(a, b), [((2, 3, 4), (2, 4, 5)), ((0, 2, 3), (0, 3, 2))]),
    "outer": (lambda t, a, b: t.outer(a, b), [((2,), (3,)), ((0,), (3,))]),
    "@": (
        lambda t, a, b: a @ b,
        [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 2, 3), (3,)),
         ((3,), (2, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)), ((2, 2, 3), (2, 3, 1)), ((2, 0, 3), (3, 2))],
    ),
    "matrices": (lambda t, a, b: t.einsum("ij,jk->ik", a, b), [((2, 3), (3, 4))]),
    "implicit": (lambda t, a, b: t.einsum("ij,jk", a, b), [((2, 3), (3, 4))]),
    "batch": (lambda t, a, b: t.einsum("bij,bjk->bik", a, b), [((2, 2, 3), (2, 3, 1))]),
    "ellipsis": (lambda t, a, b: t.einsum("...i,...i->...", a, b), [((2, 3), (2, 3)), ((2, 2, 3), (3,)), ((3,), (3,))]),
    "outer product": (lambda t, a, b: t.einsum("i,j->ij", a, b), [((2,), (3,))]),
    "bilinear": (lambda t, a, b: t.einsum("bi,ij,bj->b", a, b, a), [((2, 3), (3, 3))]),
    "sum of all": (lambda t, a, b: t.einsum("ij,kl->", a, b), [((2, 3), (1, 2))]),
    "permuted": (lambda t, a, b: t.einsum("ij,ik->kj", [a, b]), [((2, 3), (2, 4))]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "shapes"), [(name, pair) for name, (_, pairs) in PRODUCTS.items() for pair in pairs], ids=str
)
@parity
def test_products(t, name, shapes, dtype):
    return derivatives(t, PRODUCTS[name][0], [signed(0, shapes[0]), signed(1, shapes[1])], dtype)


@pytest.mark.parametrize(
    "equation", ["ii->i", "ii", "ij->ji", "ij->", "ij->i", "ij->j", "ij", "ji", "...j->j...", "ii->"]
)
@parity
def test_einsum_of_one_tensor(t, equation):
    return derivatives(t, lambda t, x: t.einsum(equation, x * x), [signed(0, (3, 3))], "float64")


MOVES = {
    "reshape": lambda t, x: x.reshape(3, -1),
    "reshape of a tuple": lambda t, x: x.reshape((4, 6)),
    "reshape of a transpose": lambda t, x: x.transpose(0, 2).reshape(6, 4) * 1,
    "view": lambda t, x: x.view(4, -1),
    "view_as": lambda t, x: x.view_as(t.zeros(4, 6)),
    "flatten": lambda t, x: x.flatten(1),
    "flatten to an end": lambda t, x: x.flatten(0, 1),
    "transpose": lambda t, x: x.transpose(0, -1),
    "t": lambda t, x: x[0].t(),
    "T": lambda t, x: x[0].T,
    "mT": lambda t, x: x.mT,
    "permute": lambda t, x: x.permute(2, 0, 1),
    "permute of a tuple": lambda t, x: t.permute(x, (1, -1, 0)),
    "movedim": lambda t, x: t.movedim(x, 0, 2),
    "squeeze an axis": lambda t, x: x[:, :1].squeeze(1),
    "squeeze a long axis": lambda t, x: x.squeeze(1),
    "squeeze axes": lambda t, x: x[:1, :1].squeeze((0, 1)),
    "unsqueeze": lambda t, x: x.unsqueeze(1),
    "expand": lambda t, x: x[:, :1].expand(-1, 5, 4),
    "expand_as": lambda t, x: x[0, 0].expand_as(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x, (2, 2, 3, 4)),
    "cat": lambda t, x: t.cat([x, x * x], 1),
    "cat of one": lambda t, x: t.cat((x,), dim=-1),
    "cat with an empty one": lambda t, x: t.cat([t.zeros(0, dtype=x.dtype), x[0, 0]]),
    "stack": lambda t, x: t.stack([x, x * x], 1),
    "stack last": lambda t, x: t.stack((x, x), dim=-1),
    "split": lambda t, x: x.split(2, 1),
    "split by sizes": lambda t, x: t.split(x, [1, 3], -1),
    "chunk": lambda t, x: x.chunk(2, dim=1),
    "more chunks than rows": lambda t, x: t.chunk(x, 5),
    "unbind": lambda t, x: x.unbind(1),
    "flip": lambda t, x: x.flip(0, 2),
    "contiguous": lambda t, x: x.permute(2, 0, 1).contiguous(),
    "int": lambda t, x: x[1],
    "negative int": lambda t, x: x[-1, -2],
    "element": lambda t, x: x[1, 2, 3],
    "slice": lambda t, x: x[:, 1:3],
    "step": lambda t, x: x[..., ::2],
    "slice out of range": lambda t, x: x[:, 1:100],
    "empty slice": lambda t, x: x[:, 3:1],
    "None in between": lambda t, x: x[:, None, 1],
    "ellipsis": lambda t, x: x[..., 0],
    "list": lambda t, x: x[:, [2, 0, 0]],
    "integers": lambda t, x: x[t.tensor([[0, 1], [1, 1]])],
    "two lists": lambda t, x: x[[0, 1], [2, 0]],
    "lists apart": lambda t, x: x[[0, 1], :, [2, 0]],
    "list and slice": lambda t, x: x[:, [0, 1], 1:],
    "list and int": lambda t, x: x[0, :, [1, 1]],
    "broadcast lists": lambda t, x: x[[[0], [1]], [0, 2]],
    "0-d integer tensor": lambda t, x: x[t.tensor(1)],
    "mask": lambda t, x: x[x > 0],
    "mask of rows": lambda t, x: x[t.tensor([True, False])],
    "mask of matrices": lambda t, x: x[x[..., 0] > 0],
    "slice and mask": lambda t, x: x[:, t.tensor([True, False, True])],
    "no row": lambda t, x: x[t.zeros(0, dtype=t.int64)],
    "True": lambda t, x: x[True],
    "iteration": lambda t, x: list(x),
}


@pytest.mark.parametrize("name", MOVES)
@parity
def test_functions_that_move_elements(t, name):
    def strided(t, x):
        return MOVES[name](t, x * x)

    moved = MOVES[name](t, t.zeros(2, 3, 4))
    views = [y for y in ([moved] if isinstance(moved, t.Tensor) else moved) if y._is_view() and y.numel()]
    strides = [[step for step, size in zip(y.stride(), y.shape, strict=True) if size > 1] for y in views]
    return derivatives(t, strided, [signed(0, (2, 3, 4))], "float64"), strides


LOSSES = {
    "cross_entropy": lambda t, F, x: F.cross_entropy(x, t.tensor([0, 2])),
    "cross_entropy sum": lambda t, F, x: F.cross_entropy(x, t.tensor([1, 1]), reduction="sum"),
    "cross_entropy none": lambda t, F, x: F.cross_entropy(x, t.tensor([2, 0]), reduction="none"),
    "mse_loss": lambda t, F, x: F.mse_loss(x, x.detach() * 2),
    "mse_loss sum": lambda t, F, x: F.mse_loss(x * x, x, reduction="sum"),
    "mse_loss none": lambda t, F, x: F.mse_loss(x * x, x, reduction="none"),
    "relu": lambda t, F, x: F.relu(x),
    "sigmoid": lambda t, F, x: F.sigmoid(x),
    "softmax": lambda t, F, x: F.softmax(x, dim=1),
    "log_softmax": lambda t, F, x: F.log_softmax(x, dim=-1),
    "tanh": lambda t, F, x: F.tanh(x),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LOSSES)
@parity
def test_losses(t, name, dtype):
    return derivatives(t, lambda t, x: LOSSES[name](t, t.nn.functional, x), [signed(0, (2, 3))], dtype)


@parity
def test_a_perceptron(t):
    def model(t, x, w1, b1, w2, b2):
        hidden = (x @ w1 + b1).tanh()
        return t.nn.functional.cross_entropy(hidden @ w2 + b2, t.tensor([0, 2, 1, 1]))

    arrays = [signed(seed, shape) for seed, shape in enumerate([(4, 3), (3, 5), (5,), (5, 3), (3,)])]
    return derivatives(t, model, arrays, "float64")
