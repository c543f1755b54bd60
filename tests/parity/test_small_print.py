"""What torch does in corners that its own tests look into: nothing to join, parts written, sizes without end."""

import functools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: there is nothing to compare with")

from .compare import parity, raises  # noqa: E402


@parity
def test_nothing_to_join(t):
    nothing = t.empty(0)
    return (
        t.cat([nothing, nothing], dim=1),
        t.cat([nothing, nothing], dim=-5),
        t.cat([nothing, t.ones(2, 3)], 1),
    )


@pytest.mark.parametrize("part", ["real", "imag"])
@parity
def test_parts_take_the_real_part_of_complex_numbers(t, part):
    z = t.zeros(2, dtype=t.complex64)
    setattr(z, part, t.tensor([1 + 2j, 3]))
    w = t.zeros(2, dtype=t.complex128)
    setattr(w, part, t.tensor([0.5, 2.0]))
    return z, w


@parity
def test_what_is_ravelled_lies_in_order(t):
    given = [t.arange(10)[::2], t.arange(6).reshape(3, 2)[:, 0], t.arange(6).reshape(2, 3).t(), t.tensor(1)]
    return [(x.ravel(), x.ravel().is_contiguous(), x.flatten().stride()) for x in given]


HUGE = [2, 4, 2**29, 2**29]


@parity
def test_sizes_that_no_memory_has(t):
    for call in (
        lambda: t.empty(HUGE, dtype=t.float64),
        lambda: t.zeros(HUGE, dtype=t.float64),
        lambda: t.ones(2).resize_(HUGE),
    ):
        raises(RuntimeError, "Storage size calculation overflowed with sizes", call)
    for mode in ("bilinear", "nearest"):
        raises(
            RuntimeError,
            "value cannot be converted to type int64_t without overflow",
            lambda mode=mode: t.nn.functional.interpolate(t.ones(1, 1, 4, 4), scale_factor=1e20, mode=mode),
        )


@parity
def test_refusals(t):
    raises(TypeError, 'flip() missing 1 required positional arguments: "dims"', lambda: t.ones(2, 2).flip())
    for name in ("linspace", "logspace"):
        raises(
            RuntimeError,
            f"torch.{name}(): inferred dtype",
            lambda name=name: getattr(t, name)(0, 1j, 5, dtype=t.float32),
        )
    raises(
        RuntimeError,
        "Tensor must have a stride divisible by 2 for all but last dimension",
        lambda: t.view_as_complex(t.ones(2, 3)[:, :2]),
    )


@parity
def test_linspace_of_complex_bounds(t):
    return t.linspace(0, 1j, 3), t.linspace(0, 1j, 3, dtype=t.complex128), t.logspace(0, 1j, 3)


@parity
def test_asarray(t):
    tracked = t.ones(2, requires_grad=True)
    memory = np.ones(2)
    shared = t.asarray(memory, copy=False)
    shared.add_(1)
    return [
        t.asarray(tracked),
        t.asarray(tracked) is tracked,
        t.asarray(tracked * 2, copy=True),
        t.asarray(np.ones(2), requires_grad=True),
        t.asarray([1.0, 2.0], requires_grad=True, copy=True),
        t.asarray(np.ones(2), dtype=t.float32, requires_grad=True),
        t.asarray(bytearray([1, 0, 2, 0]), dtype=t.int16),
        t.asarray(bytes(8)),
        t.asarray(np.float32(2)),
        memory.tolist(),
        t.asarray(memory, copy=True).add_(1),
        memory.tolist(),
    ]


@parity
def test_what_asarray_cannot_share(t):
    raises(ValueError, "can't alias arbitrary sequence into a tensor.", lambda: t.asarray([1, 2], copy=False))
    raises(ValueError, "can't alias tensor with dtype", lambda: t.asarray(np.ones(2), dtype=t.float32, copy=False))
    raises(ValueError, "can't alias tensor with dtype", lambda: t.asarray(t.ones(2), dtype=t.float64, copy=False))
    raises(RuntimeError, "can't alias NumPy scalars.", lambda: t.asarray(np.float64(2), copy=False))


BUFFERS = {
    "object does not implement Python buffer protocol": ([1, 2], {}),
    "both buffer length (0) and count (-1) must not be 0": (b"", {}),
    "both buffer length (8) and count (0) must not be 0": (bytearray(8), {"count": 0}),
    "offset (-1 bytes) must be non-negative": (bytearray(8), {"offset": -1}),
    "offset (9 bytes) must be non-negative": (bytearray(8), {"offset": 9}),
    "buffer length (7 bytes) after offset (1 bytes) must be a multiple of element size (4)": (
        bytearray(8),
        {"offset": 1},
    ),
    "requested buffer length (9 * 4 bytes) after offset (0 bytes) must not be": (bytearray(8), {"count": 9}),
}


@pytest.mark.parametrize("words", BUFFERS)
@parity
def test_buffers_that_do_not_fit(t, words):
    buffer, options = BUFFERS[words]
    raises(ValueError, words, lambda: t.frombuffer(buffer, dtype=t.int32, **options))


@parity
def test_numbers_beyond_64_bits(t):
    raises(ValueError, "Overflow when unpacking long long", lambda: t.tensor(2**65))
    return t.tensor(2**65, dtype=t.float64), t.tensor(-(2**65), dtype=t.float32)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32"])
@parity
def test_random_numbers_from_a_bound_on(t, dtype):
    x = t.zeros(1000, dtype=getattr(t, dtype))
    kinds = []
    for bounds in ((50, None), (-100, None), (100,), ()):
        x.random_(*bounds)
        low, high = float(x.min()), float(x.max())
        kinds.append((low >= (0 if len(bounds) < 2 else bounds[0]), high < 100, low < 0))
    return kinds


@pytest.mark.parametrize("upper", [False, True])
@parity
def test_as_many_factors_as_they_have_rows(t, upper):
    matrices = t.arange(27, dtype=t.float64).reshape(3, 3, 3) / 27 + 5 * t.eye(3, dtype=t.float64)
    factors = t.linalg.cholesky(matrices @ matrices.mT)
    factors = factors.mT if upper else factors
    right = t.arange(9, dtype=t.float64).reshape(3, 3)
    return [
        t.cholesky_inverse(factors, upper),
        t.cholesky_solve(right, factors, upper),
        t.cholesky_solve(right[:, :2], factors, upper),
        t.cholesky_inverse(t.zeros(0, 0, 0)),
    ]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float32", "float64"])
@parity
def test_nansum_has_the_dtype_that_is_asked_for(t, dtype):
    wanted = getattr(t, dtype)
    whole, real = t.full((4,), 100), t.tensor([100.0, float("nan"), 100.0, 100.0])
    return (
        t.nansum(whole, dtype=wanted),
        t.nansum(whole.to(t.uint8), 0, dtype=wanted),
        t.nansum(real, dtype=wanted),
        t.nansum(whole),
    )


NO_AXES = [
    "all", "amax", "amin", "any", "count_nonzero", "linalg.vector_norm", "logsumexp", "mean", "nanmean", "norm", "sum",
    "nn.functional.normalize",
]  # fmt: skip


@pytest.mark.parametrize("dim", [(), []], ids=str)
@pytest.mark.parametrize("name", NO_AXES)
@parity
def test_reductions_along_no_axes(t, name, dim):
    """Along all of them, for most: `all` and `any` ask each element, and torch's `logsumexp` needs keepdim."""
    reduce = functools.reduce(getattr, name.split("."), t)
    keeps = {"count_nonzero": [{}], "nn.functional.normalize": [{}], "logsumexp": [{"keepdim": True}]}
    results = []
    for shape in ((2, 3), (1,), ()):
        for options in keeps.get(name, [{}, {"keepdim": True}]):
            x = t.arange(float(np.prod(shape))).reshape(shape).requires_grad_()
            found = reduce(x, dim=dim, **options)
            results.append(found)
            if getattr(found, "requires_grad", False):
                found.sum().backward()
                results.append(x.grad)
    return results


@pytest.mark.parametrize("name", ["nansum", "std", "std_mean", "var", "var_mean"])
@parity
def test_values_of_reductions_along_no_axes(t, name):
    """Their gradients are infinite in torch 2.13, or their nodes have other names."""
    x = t.arange(6.0).reshape(2, 3)
    return getattr(t, name)(x, dim=()), getattr(t, name)(x, dim=[], keepdim=True)


@pytest.mark.parametrize("name", ["amax", "amin"])
@parity
def test_extremes_of_nothing_along_no_axes(t, name):
    wording = f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
    raises(RuntimeError, wording, lambda: getattr(t, name)(t.ones(0, 3), dim=()))
    return raises(TypeError, "aminmax(): argument 'dim' must be int, not tuple", lambda: t.aminmax(t.ones(3), dim=()))


@parity
def test_answers_along_no_axes(t):
    return [truth(t.tensor([[0, 2]], dtype=t.uint8), dim=()) for truth in (t.all, t.any)]


@parity
def test_a_masked_product_along_no_axes(t):
    x = t.arange(6.0).reshape(2, 3)
    assert t.masked.prod(x, dim=()).shape == ()
    return [t.masked.prod(x, dim=[], mask=mask, keepdim=keepdim) for mask in (None, x > 2) for keepdim in (False, True)]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
@parity
def test_sums_of_integers_are_long(t, dtype):
    x = t.tensor([[1, 2, 200], [4, 5, 100]], dtype=getattr(t, dtype))
    square, row = x[:, :2], x[0]
    sums = [t.einsum(equation, x) for equation in ("ij->", "ij->i", "ij->ji", "...j->j")]
    return [*sums, t.einsum("ii->", square), t.einsum("ii->i", square), t.einsum("i,j->ij", row, row)], [
        x.sum_to_size(*sizes) for sizes in ([2, 3], [1, 3], [1, 1], [3])
    ]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
@parity
def test_unravelled_indices_are_long(t, dtype):
    return t.unravel_index(t.tensor([3, 77, 120], dtype=getattr(t, dtype)), (2, 1000))


@parity
def test_bytes_hold_negative_numbers(t):
    x = t.ones(2, dtype=t.uint8)
    makers = (t.tensor, t.as_tensor, t.scalar_tensor, lambda number, dtype: t.full((2,), number, dtype=dtype))
    made = [make(number, dtype=t.uint8) for make in makers for number in (-1, -255, 255)]
    for number in (-256, 256):
        for make in makers:
            refused = functools.partial(make, number, dtype=t.uint8)
            raises(RuntimeError, "without overflow", refused)
    return made, t.full_like(x, -9), x.new_full((2,), -3), x.new_tensor([-3, 4]), t.tensor([-5, 3], dtype=t.uint8)


@pytest.mark.parametrize("order", [1, 2, 3, 5, -1, float("inf")])
@parity
def test_norms_of_halves_stay_finite(t, order):
    """Their gradients are NaN in torch, for orders from 3 on."""
    x = t.tensor([3.0, 4.0, 300.0, 9.0], dtype=t.float16, requires_grad=True)
    norm = t.linalg.vector_norm(x, ord=order)
    return norm, t.autograd.grad(norm, x) if order < 3 else None


@parity
def test_margins_between_bytes(t):
    x = t.tensor([250, 3, 7], dtype=t.uint8)
    ones = t.ones(3, dtype=t.uint8)
    return [
        t.nn.functional.margin_ranking_loss(x, x + 3, ones, margin=margin, reduction=reduction)
        for margin in (0, 1, 0.5)
        for reduction in ("none", "mean")
    ]


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,)])
@parity
def test_the_dtype_of_what_is_empty_is_told(t, shape, dtype):
    return repr(t.zeros(shape, dtype=getattr(t, dtype))).replace("pullback.", "torch.")


@pytest.mark.parametrize(
    ("mode", "shape"), [("linear", (1, 1, 3)), ("bilinear", (1, 2, 3, 5)), ("trilinear", (1, 1, 2, 3, 5))]
)
@pytest.mark.parametrize("recomputed", [None, False, True])
@parity
def test_axes_that_stay_as_long_as_they_are_keep_their_values(t, mode, shape, recomputed):
    x = t.arange(1.0, 1 + math.prod(shape)).reshape(shape).square().requires_grad_()
    options = {"scale_factor": 1.3, "mode": mode, "recompute_scale_factor": recomputed}
    y = t.nn.functional.interpolate(x, **options)
    return y.detach(), t.autograd.grad(y.square().sum(), x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("shape", [(1, 2, 3, 5), (1, 2, 5, 3), (1, 1, 3, 3)])
@parity
def test_so_do_they_without_aliasing(t, mode, shape):
    """Values only: torch's gradient is that of another map, in which these axes are filtered."""
    x = t.arange(1.0, 1 + math.prod(shape)).reshape(shape).square()
    return t.nn.functional.interpolate(x, scale_factor=1.3, mode=mode, antialias=True)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("classes", [[1, -100], [-100, -100]])
@parity
def test_what_is_ignored_may_be_infinite(t, classes, smoothing, reduction):
    options = {"label_smoothing": smoothing, "reduction": reduction}
    answers = []
    for weight in (None, t.tensor([1.0, 2.0, 3.0])):
        x = t.tensor([[1.0, 2.0, 3.0], [-math.inf, 1.0, 2.0]], requires_grad=True)
        losses = t.nn.functional.cross_entropy(x, t.tensor(classes), weight, **options)
        answers.append([losses.detach(), t.autograd.grad(losses.sum(), x)])
    return answers


@parity
def test_axes_that_are_kept_have_strides_of_their_own(t):
    x = t.arange(6.0).reshape(2, 3)
    names = ("sum", "mean", "amax", "logsumexp", "var", "std", "prod", "argmax", "any")
    return [getattr(x, name)(dim, keepdim=True).stride() for name in names for dim in (0, 1)]
