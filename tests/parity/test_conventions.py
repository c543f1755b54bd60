"""Choices that only torch can settle: kinks and ties, node names, promotion, creation."""

import itertools
from array import array as plain_array

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import describe, parity, raises  # noqa: E402

inf, nan = float("inf"), float("nan")

KINKS = {
    "abs": ([0.0, -0.0, 1.0, nan, -inf], lambda t, x: x.abs()),
    "sign": ([0.0, -1.0, nan], lambda t, x: x.sign()),
    "relu": ([0.0, -0.0, 1.0, nan, inf], lambda t, x: x.relu()),
    "clamp": ([-2.0, -1.0, 0.0, 1.0, 2.0, nan], lambda t, x: x.clamp(-1, 1)),
    "clamp with min above max": ([-2.0, 0.0, 2.0], lambda t, x: x.clamp(1, -1)),
    "clamp min": ([-1.0, 0.0, nan], lambda t, x: x.clamp(min=0)),
    "sqrt": ([0.0, -1.0, inf], lambda t, x: x.sqrt()),
    "rsqrt": ([0.0, 4.0], lambda t, x: x.rsqrt()),
    "log": ([0.0, -1.0], lambda t, x: x.log()),
    "reciprocal": ([0.0, -0.0], lambda t, x: 1 / x * 1),
    "x ** 0.5": ([0.0, 4.0], lambda t, x: x**0.5),
    "x ** 0": ([0.0, nan, inf], lambda t, x: x**0),
    "x ** 1": ([0.0, nan, inf], lambda t, x: x**1),
    "x ** 2": ([0.0, nan, inf], lambda t, x: x**2),
    "x ** -1": ([0.0, 2.0], lambda t, x: x**-1),
    "2 ** x": ([0.0, -inf, inf], lambda t, x: 2**x),
    "0 ** x": ([0.0, 1.0, -1.0], lambda t, x: 0**x),
    "max": ([1.0, 3.0, 3.0], lambda t, x: x.max()),
    "min": ([1.0, 1.0, 3.0], lambda t, x: x.min()),
    "amax": ([1.0, 3.0, 3.0], lambda t, x: x.amax()),
    "amin": ([1.0, 1.0, 1.0], lambda t, x: x.amin(0)),
    "max of an axis": ([1.0, 3.0, 3.0], lambda t, x: x.max(0)[0]),
    "min of an axis": ([1.0, 1.0, 3.0], lambda t, x: x.min(0)[0]),
    "max with NaN": ([1.0, nan, 3.0], lambda t, x: x.max()),
    "max of an axis with NaN": ([1.0, nan, 3.0, nan], lambda t, x: x.max(0)[0]),
    "amax with NaN": ([1.0, nan, 3.0], lambda t, x: x.amax()),
    "maximum with a tie": ([1.0, 2.0], lambda t, x: t.maximum(x, t.tensor([1.0, 3.0], dtype=t.float64))),
    "norm": ([0.0, 0.0], lambda t, x: x.norm()),
    "norm 1": ([0.0, -2.0], lambda t, x: x.norm(1)),
    "norm 3": ([0.0, 0.0], lambda t, x: x.norm(3)),
    "norm inf": ([2.0, -2.0, 1.0], lambda t, x: x.norm(inf)),
    "norm -inf": ([2.0, -2.0, 1.0, 1.0], lambda t, x: x.norm(-inf)),
    "norm 0.5": ([0.0, 4.0], lambda t, x: x.norm(0.5)),
    "norm 1.5": ([0.0, 0.0], lambda t, x: x.norm(1.5)),
    "std of equal values": ([2.0, 2.0, 2.0], lambda t, x: x.std()),
    "var of equal values": ([2.0, 2.0, 2.0], lambda t, x: x.var()),
    "mean of nothing": ([], lambda t, x: x.mean()),
    "sum of nothing": ([], lambda t, x: x.sum()),
    "logsumexp of -inf": ([-inf, -inf], lambda t, x: x.logsumexp(0)),
    "logsumexp of inf": ([inf, 1.0], lambda t, x: x.logsumexp(0)),
    "logsumexp of large numbers": ([1e4, -1e4], lambda t, x: x.logsumexp(0)),
    "softmax of -inf": ([-inf, -inf], lambda t, x: x.softmax(0)),
    "softmax with one -inf": ([-inf, 1.0, 2.0], lambda t, x: x.softmax(0)),
    "log_softmax of large numbers": ([1e4, -1e4], lambda t, x: x.log_softmax(0)),
    "sigmoid far out": ([-1e3, 1e3, inf, -inf, nan], lambda t, x: x.sigmoid()),
    "tanh far out": ([-1e3, 1e3, inf], lambda t, x: x.tanh()),
    "where over a bad branch": ([0.0, 1.0], lambda t, x: t.where(x > 0, x.log(), 0.0)),
    "round half": ([0.5, 1.5, 2.5, -0.5], lambda t, x: x.round()),
    "remainder": ([-3.0, 3.0, 5.5, 0.0], lambda t, x: x % 2),
    "remainder by a negative": ([-3.0, 3.0, 5.5], lambda t, x: x % -2),
    "a repeated index": ([1.0, 2.0], lambda t, x: x[[0, 0, 1, 0]]),
    "exp": ([1e3, -1e3, inf, -inf], lambda t, x: x.exp()),
    "expm1": ([1e-12, 0.0], lambda t, x: x.expm1()),
    "log1p": ([1e-12, -1.0], lambda t, x: x.log1p()),
    "floor": ([0.0, 1.5, -1.5], lambda t, x: x.floor()),
}


@pytest.mark.parametrize("name", KINKS)
@parity
def test_gradients_at_kinks(t, name):
    values, function = KINKS[name]
    x = t.tensor(values, dtype=t.float64, requires_grad=True)
    y = function(t, x)
    y.sum().backward()
    return y.detach(), x.grad


@pytest.mark.parametrize("size", [(2, 2, 4, 8), (1, 3, 8, 2), (3, 1, 6, 6), (2, 2, 5, 9), (2, 1, 4, 40)])
@pytest.mark.parametrize("strange", [[], [nan], [inf, -inf], [nan, inf, -0.0]])
@parity
def test_the_first_of_equals_in_a_window(t, size, strange):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, size).astype(np.float64)
    weights = rng.standard_normal((*size[:2], size[2] // 2, size[3] // 2))
    for number in strange:
        values[rng.random(size) < 0.1] = number
        weights[rng.random(weights.shape) < 0.1] = number
    x = t.tensor(values, requires_grad=True)
    y = t.nn.functional.max_pool2d(x, 2)
    y.backward(t.tensor(weights))
    return y.detach(), x.grad


@pytest.mark.parametrize(
    "function",
    [
        lambda t, a, b: t.maximum(a, b), lambda t, a, b: t.minimum(a, b), lambda t, a, b: a**b, lambda t, a, b: a.clamp(min=b),
        lambda t, a, b: a.clamp(max=b), lambda t, a, b: a.clamp(b, b + 1), lambda t, a, b: a / b,
        lambda t, a, b: t.where(a < b, a, b), lambda t, a, b: a.clamp(b + 1, b),
    ],
)  # fmt: skip
@parity
def test_gradients_at_kinks_of_two(t, function):
    a = t.tensor([1.0, 0.0, 0.0, 0.0, -2.0, nan, 1.0, inf], dtype=t.float64, requires_grad=True)
    b = t.tensor([1.0, 0.0, 1.0, 2.0, 3.0, 1.0, nan, 1.0], dtype=t.float64, requires_grad=True)
    y = function(t, a, b)
    y.sum().backward()
    return y.detach(), a.grad, b.grad


@parity
def test_the_pth_norm_with_p_zero_is_untracked(t):
    return t.tensor([0.0, 2.0], requires_grad=True).norm(0).item()


@parity
def test_complex_gradients_are_conjugated(t):
    def gradient(function):
        z = t.tensor([1 + 2j, 3 - 4j], dtype=t.complex128, requires_grad=True)
        function(z).backward()
        return z.grad

    return [
        gradient(lambda z: (z * z).abs().sum()), gradient(lambda z: z.abs().sum()), gradient(lambda z: (z.exp() * z).abs().sum()),
        gradient(lambda z: (1 / z).abs().sum()), gradient(lambda z: (z**3).abs().sum()),
    ]  # fmt: skip


NAMES = [
    "x + 1", "x - 1", "1 - x", "x * 2", "x / 2", "-x", "x ** 2", "x ** x", "2 ** x", "x % 2", "x.exp()", "x.log()", "x.sin()",
    "x.cos()", "x.sqrt()", "x.abs()", "x.tanh()", "x.sigmoid()", "x.relu()", "x.sign()", "x.floor()", "x.ceil()", "x.round()",
    "x.trunc()", "x.reciprocal()", "x.sum()", "x.sum(0)", "x.mean()", "x.mean(0)", "x.max()", "x.max(0)[0]", "x.min()",
    "x.min(0)[0]", "x.amax(0)", "x.amin(0)", "x.norm()", "x.std()", "x.var()", "x.var(0)", "x.logsumexp(0)", "x.cumsum(0)",
    "x.softmax(0)", "x.log_softmax(0)", "x.mm(x)", "x @ x", "x[0] @ x[0]", "x.dot(x) if x.ndim == 1 else x[0].dot(x[0])",
    "x.mv(x[0])", "x @ x[0]", "x % x", "t.bmm(x[None], x[None])", "t.outer(x[0], x[0])", "x.reshape(-1)", "x.view(-1)",
    "x.flatten()", "x.t()", "x.T", "x.permute(1, 0)", "x.transpose(0, 1)", "x.unsqueeze(0)", "x[None]", "x.squeeze()",
    "x.squeeze(0)", "x.expand(3, 2, 2)", "x[0]", "x[0:1]", "x[[0]]", "x[x > 0]", "t.cat([x, x])", "t.stack([x, x])",
    "x.split(1)[0]", "x.chunk(2)[0]", "x.unbind()[0]", "x.clone()", "x.double()", "t.where(x > 0, x, x * 2)", "x.clamp(0, 1)",
    "t.maximum(x, x * 2)", "t.minimum(x, x * 2)", "x.flip(0)", "x.square()", "x.rsqrt()", "x.expm1()", "x.log1p()",
    "t.nn.functional.mse_loss(x, x.detach())", "t.nn.functional.cross_entropy(x, t.tensor([0, 1]))", "x.tan()", "x.sinh()",
    "x.cosh()", "x[0, 1]", "x[:, 0]", "x[0:1, 1]", "x.contiguous()", "x.T.contiguous()", "t.broadcast_to(x, (3, 2, 2))", "x.add(x, alpha=2)", "t.rsub(x, 1)", "x.movedim(0, 1)", "x.mT", "x.ravel()",
]  # fmt: skip


@pytest.mark.parametrize("expression", NAMES)
@parity
def test_names_of_nodes(t, expression):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    return eval(expression, {"t": t, "x": x}).grad_fn


@parity
def test_names_of_written_values(t):
    x, y, z, w = (t.ones(2, requires_grad=True) * 1 for _ in range(4))
    y[0] = 5
    z.copy_(x)
    w.zero_()
    return [tensor.grad_fn.name() for tensor in (y, z, w, x.add_(1))]


DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
OPERATIONS = {
    "add": lambda t, a, b: a + b,
    "mul": lambda t, a, b: a * b,
    "div": lambda t, a, b: a / b,
    "maximum": lambda t, a, b: t.maximum(a, b),
    "eq": lambda t, a, b: a == b,
    "less": lambda t, a, b: a < b,
    "where": lambda t, a, b: t.where(t.tensor(True), a, b),
    "pow": lambda t, a, b: a**b,
    "cat": lambda t, a, b: t.cat([a.reshape(-1), b.reshape(-1)]),
}


@pytest.mark.parametrize("name", OPERATIONS)
@parity
def test_promotion_of_two_tensors(t, name):
    results = {}
    for first, second in itertools.product(DTYPES, DTYPES):
        is_complex = "complex" in first + second
        if is_complex and ("float16" in (first, second) or name in {"maximum", "less"}):
            continue  # torch's complex32 is none of NumPy's dtypes; complex numbers have no order
        if name == "pow" and {first, second} == {"bool"}:
            continue
        for shapes in itertools.product([(), (2,)], [(), (2,)]):
            a, b = (
                t.ones(shape, dtype=getattr(t, dtype)) for shape, dtype in zip(shapes, (first, second), strict=True)
            )
            results[f"{first}{shapes[0]} {second}{shapes[1]}"] = describe(OPERATIONS[name](t, a, b).dtype)
    return results


@pytest.mark.parametrize("name", ["add", "mul", "div", "pow"])
@parity
def test_promotion_with_a_number(t, name):
    results = {}
    for dtype, number in itertools.product(DTYPES, [True, 2, 2.5, 1j]):
        for shape in [(), (2,)]:
            if (dtype, number) == ("float16", 1j) or (name == "pow" and dtype == "bool" and number is True):
                continue
            x = t.ones(shape, dtype=getattr(t, dtype))
            results[f"{dtype}{shape} {number}"] = describe([OPERATIONS[name](t, x, number).dtype])
    return results


@pytest.mark.parametrize("dtype", DTYPES)
@parity
def test_dtypes_of_results(t, dtype):
    x = t.ones(2, 2, dtype=getattr(t, dtype))
    floating = [x.exp(), x.sin(), x.sqrt(), x.sigmoid(), x.tanh()]
    return [y.dtype for y in [*floating, x.sum(), x.sum(0), x.cumsum(0), x.all(), x.any(), x.clone(), x[0]]]


@parity
def test_gradients_have_their_own_dtypes(t):
    x = t.ones(2, requires_grad=True)
    scalar = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    vector = t.ones(2, dtype=t.float64, requires_grad=True)
    y, z = x * scalar, x * vector
    (y.sum() + z.sum()).backward()
    return y, z, x.grad, scalar.grad, vector.grad


CREATION = [
    lambda t: t.tensor([1, 2]), lambda t: t.tensor([1.0, 2]), lambda t: t.tensor([True, 2]), lambda t: t.tensor(3),
    lambda t: t.tensor([[1, 2.5], [3, 4]]), lambda t: t.tensor([]), lambda t: t.tensor([[]]), lambda t: t.tensor(1 + 2j),
    lambda t: t.tensor(np.ones(2)), lambda t: t.tensor(np.float32(1)), lambda t: t.tensor([np.float64(1), 2]),
    lambda t: t.tensor([t.tensor(1.0), t.tensor(2.0)]), lambda t: t.tensor((1, 2), dtype=t.float16), lambda t: t.tensor(True),
    lambda t: t.tensor(np.arange(3, dtype=np.int32)), lambda t: t.as_tensor([1, 2]), lambda t: t.as_tensor(np.ones(2)),
    lambda t: t.zeros(2, 3), lambda t: t.zeros((2, 3)), lambda t: t.zeros([2], dtype=t.int64), lambda t: t.zeros(()),
    lambda t: t.ones(2, requires_grad=True), lambda t: t.ones(2, dtype=t.bool), lambda t: t.full((2,), 3.5),
    lambda t: t.full((2,), 3), lambda t: t.full((2, 2), True), lambda t: t.full((2,), 3, dtype=t.float64),
    lambda t: t.eye(3), lambda t: t.eye(2, 3), lambda t: t.eye(2, dtype=t.int64), lambda t: t.arange(5),
    lambda t: t.arange(5.0), lambda t: t.arange(1, 10, 3), lambda t: t.arange(0, 1, 0.25), lambda t: t.arange(5, 0, -2),
    lambda t: t.arange(3, dtype=t.float64), lambda t: t.linspace(0, 1, 5), lambda t: t.linspace(1, -1, 3, dtype=t.float64),
    lambda t: t.linspace(0, 10, 1), lambda t: t.zeros_like(t.ones(2, dtype=t.int32)), lambda t: t.ones_like(t.zeros(2, 3)), lambda t: t.ones_like(t.zeros(2, 3, 4).permute(2, 0, 1)).stride(),
    lambda t: t.ones_like(t.zeros(2), dtype=t.float64, requires_grad=True), lambda t: t.full_like(t.zeros(2), 7),
    lambda t: t.from_numpy(np.arange(3)), lambda t: t.Tensor([1, 2]), lambda t: t.FloatTensor([[1, 2]]),
    lambda t: t.DoubleTensor([1]), lambda t: t.LongTensor([1.0, 2]), lambda t: t.tensor(np.ones((2, 3)).T),
    lambda t: (t.rand(2, 3) >= 0).all(), lambda t: t.randn(2, 3).shape, lambda t: t.randint(3, (2, 2)).dtype,
    lambda t: t.randint(5, 6, (2,)), lambda t: t.rand(2, dtype=t.float64, requires_grad=True).is_leaf,
    lambda t: t.randn_like(t.zeros(2, 3, dtype=t.float64)).dtype, lambda t: t.rand_like(t.zeros(2)).shape, lambda t: t.empty(2, 0),
    lambda t: t.empty_like(t.zeros(0, 2)), lambda t: t.Tensor(2, 3).shape, lambda t: t.Tensor().shape, lambda t: t.tensor(2**40), lambda t: t.tensor(1e300),
]  # fmt: skip


@pytest.mark.parametrize("program", CREATION)
@parity
def test_creation(t, program):
    return program(t)


@parity
def test_the_default_dtype(t):
    seen = [t.get_default_dtype()]
    t.set_default_dtype(t.float64)
    try:
        seen += [
            t.tensor(1.0).dtype,
            t.zeros(2).dtype,
            (t.tensor([1]) / 2).dtype,
            t.tensor(1j).dtype,
            t.Tensor([1]).dtype,
        ]
    finally:
        t.set_default_dtype(t.float32)
    return seen, t.tensor(1.0)


@parity
def test_seeds_repeat_what_they_draw(t):
    t.manual_seed(3)
    first = t.rand(2).tolist(), t.randn(2).tolist(), t.randint(100, (2,)).tolist()
    t.manual_seed(3)
    return first == (t.rand(2).tolist(), t.randn(2).tolist(), t.randint(100, (2,)).tolist())


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "==", "!="])
@parity
def test_comparisons(t, symbol):
    a = t.tensor([1.0, 2.0, nan, inf], requires_grad=True)
    return [eval(f"a {symbol} {other}", {"a": a, "b": t.tensor([2, 2, 0, 5])}) for other in ("b", "2", "1.5", "a")]


@parity
def test_bitwise_and_logical_functions(t):
    a, b, n = t.tensor([True, False]), t.tensor([[True], [False]]), t.tensor([6, 3])
    return (
        a & b, a | b, a ^ b, ~a, n & 5, n | 8, n ^ 1, ~n, t.logical_and(n, a), t.logical_not(n), t.logical_or(a, b),
        t.logical_xor(a, b), n // 4, n % 4, -n // 4, -n % 4, t.isnan(t.tensor([nan, 1])), t.isinf(t.tensor([inf, 1])),
        t.isfinite(t.tensor([inf, 1])), n / 4, 7 // n, t.div(-n, 4, rounding_mode="trunc"), abs(-n), n.sum(), n**2,
        t.nonzero(n > 4), t.where(n > 4), t.where(n > 4, n, 0), n.max(), n.argmin(), n.clamp(4),
    )  # fmt: skip


@parity
def test_methods_take_torchs_names_of_their_arguments(t):
    x = t.arange(6.0)
    pieces = [*x.split(split_size=[2, 4], dim=-1), *x.split(split_size=4), *t.split(x, split_size_or_sections=3)]
    raises(TypeError, "split() missing 1 required positional argument", x.split)
    return [*pieces, x.outer(vec2=x), t.zeros(6).copy_(other=x)]


@parity
def test_integers_of_numpy_are_dims_and_sizes(t):
    x, one = t.arange(6.0).reshape(2, 3), np.int64(1)
    reduced = [getattr(x, name)(one) for name in "sum mean std var amax amin nansum prod argmax norm".split()]
    chosen = [*x.max(one), *x.min(one), *x.median(one), *t.std_mean(x, one), x.sum(dim=one, keepdim=True)]
    pieces = x.chunk(np.int64(2), one)
    layer = t.nn.LayerNorm(np.int64(3))
    moved = [x.movedim(np.int64(0), one), t.linalg.vector_norm(x, 2, one), layer(x)]
    return [*reduced, *chosen, *pieces, *moved, (x > 1).any(one), (x > 1).all(one), t.count_nonzero(x, one)]


@parity
def test_numbers_of_numpy_fill_as_pythons_do(t):
    values = (np.float64(3), np.float32(3), np.float16(3), np.int64(3), np.int32(3), np.complex128(1j), 3.0, 3, True)
    return [t.full((2,), value) for value in values] + [t.full((2,), np.float64(3), dtype=t.int32)]


@parity
def test_the_class_of_tensors_is_a_type_of_the_default_dtype(t):
    x = t.tensor([1, 0])
    return [x.type(t.Tensor), (x > 0).type(t.Tensor), x.type(t.DoubleTensor), x.type("torch.LongTensor")]


@parity
def test_the_slope_of_silu_is_one_for_large_numbers(t):
    x = t.tensor([1e8, 3e7, 30.0, -100.0, 0.0], requires_grad=True)
    return t.autograd.grad(t.nn.functional.silu(x).sum(), x)


@parity
def test_numbers_of_numpy_as_options_leave_the_dtype(t):
    x, two = t.tensor([[0.5, -1.0], [2.0, 0.0]]), np.float64(2)
    f = t.nn.functional
    return [f.softplus(x, two), f.scaled_dot_product_attention(x, x, x, scale=two), f.elu(x, two), x.clamp(max=two)]


@pytest.mark.filterwarnings("ignore:torch.asarray. unspecified requires_grad")
@parity
def test_asarray(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    plain = t.ones(2)
    raises(
        ValueError,
        "can't alias tensor with dtype 'Float' into dtype 'Double'.",
        lambda: t.asarray(plain, dtype=t.float64, copy=False),
    )
    raises(ValueError, "can't alias arbitrary sequence into a tensor", lambda: t.asarray([1, 2], copy=False))
    raises(RuntimeError, "floating point and complex dtype", lambda: t.asarray([1, 2], requires_grad=True))
    array = np.zeros(2)
    t.asarray(array, copy=False)[0] = 3
    t.asarray(array, copy=True)[1] = 4
    numbers = plain_array("f", [1.0, 2.0])
    t.asarray(numbers)[0] = 5
    assert numbers[0] == 5
    assert t.asarray(plain) is plain and t.asarray(x, requires_grad=True) is x
    assert t.asarray(plain, copy=True) is not plain
    copied = t.asarray(y, copy=True)
    copied.sum().backward()
    detached = t.asarray(y, requires_grad=False).requires_grad
    return (
        array.tolist(),
        copied,
        x.grad,
        detached,
        t.asarray([1.0], requires_grad=True),
        t.asarray([1, 2], dtype=t.float64),
    )


@parity
def test_a_generator_of_no_device_is_the_processors(t):
    return str(t.Generator(device=None).device), str(t.Generator().device)


PIECES = {
    "relu": lambda t, x: x.relu(),
    "relu6": lambda t, x: t.nn.functional.relu6(x),
    "hardtanh": lambda t, x: t.nn.functional.hardtanh(x),
    "hardshrink": lambda t, x: t.nn.functional.hardshrink(x),
    "softshrink": lambda t, x: t.nn.functional.softshrink(x),
    "threshold": lambda t, x: t.nn.functional.threshold(x, 0.1, 2.0),
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
    "prelu": lambda t, x: t.nn.functional.prelu(x, t.tensor([0.2])),
    "abs": lambda t, x: x.abs(),
    "nll_loss": lambda t, x: t.nn.functional.nll_loss(x[None], t.tensor([1])),
}


@pytest.mark.parametrize("name", PIECES)
@parity
def test_a_function_of_straight_pieces_has_a_second_derivative_of_zeros(t, name):
    """Which is asked for without `allow_unused`, as for a Hessian-vector product."""
    x = t.tensor([-2.0, 0.3, 1.0], requires_grad=True)
    (slope,) = t.autograd.grad(PIECES[name](t, x).sum(), x, create_graph=True)
    return t.autograd.grad(slope.sum(), x)


@pytest.mark.parametrize("base", [2.0, 1j, 0.0])
@parity
def test_powers_with_complex_exponents_have_second_derivatives(t, base):
    z = t.tensor([1 + 2j, 0.5 - 1j, 3.0], requires_grad=True)
    (slope,) = t.autograd.grad((t.tensor(base + 0j) ** z)[:2].real.sum(), z, create_graph=True)
    (second,) = t.autograd.grad(slope.abs().sum(), z)
    return (slope.detach(), second) if base else None  # torch's are NaN at 0


@parity
def test_a_complex_number_becomes_a_real_one_where_it_is_one(t):
    z = t.tensor(1 + 2j)
    raises(RuntimeError, "value cannot be converted to type double without overflow", lambda: float(z))
    raises(RuntimeError, "value cannot be converted to type int64_t without overflow", lambda: int(z))
    raises(NotImplementedError, "clamp is not supported for complex types", lambda: t.relu(z))
    raises(RuntimeError, "Boolean inputs not supported for relu", lambda: t.relu(z == 0))
    return float(t.tensor(3 + 0j)), int(t.tensor(3 + 0j)), complex(z)


@parity
def test_arguments_that_are_refused_before_they_are_used(t):
    x, square = t.ones(2, 3), t.ones(2, 3, 3)
    refused = "argument 'bias' (position 4) must be Tensor, not list"
    raises(TypeError, refused, lambda: t.nn.functional.bilinear(x, x, square, [1.0, 2.0]))
    raises(RuntimeError, "converted to type float without overflow", lambda: t.histc(x, max=1e300))
    for flags in ({"transpose": [1]}, {"upper": -1}):
        raises(TypeError, "must be bool, not", lambda given=flags: t.triangular_solve(square, square, **given))
