"""pullback.array_api beside NumPy's own namespace: values, dtypes, gradients by differences, errors."""

import array
import inspect
import subprocess
import sys

import numpy as np
import pytest
from tests.differences import check

import pullback
from pullback import array_api as xp

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.uniform(0.2, 0.9, (3, 4)), RANDOM.uniform(1.1, 1.9, (3, 4))
SQUARE = RANDOM.uniform(0.1, 1, (3, 3)) + 2 * np.eye(3)
WHOLE = np.array([[3, 0, -2], [1, 5, 0]], np.int64)

needs_numpy_of_the_standard = pytest.mark.skipif(
    not hasattr(np, "cumulative_sum"), reason="NumPy has the names from 2.1"
)

# The names of the standard, version 2025.12, part by part
STANDARD = {
    "": """
        abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh bitwise_and
        bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool broadcast_arrays broadcast_shapes
        broadcast_to can_cast ceil clip complex128 complex64 concat conj copysign cos cosh count_nonzero cumulative_prod
        cumulative_sum diff divide e empty empty_like equal exp expand_dims expm1 eye finfo flip float32 float64 floor
        floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag inf int16 int32 int64 int8 isdtype
        isfinite isin isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or
        logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply nan negative newaxis
        nextafter nonzero not_equal ones ones_like permute_dims pi positive pow prod real reciprocal remainder repeat
        reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum
        take take_along_axis tan tanh tensordot tile tril triu trunc uint16 uint32 uint64 uint8 unique_all unique_counts
        unique_inverse unique_values unstack var vecdot where zeros zeros_like __array_namespace_info__ fft linalg""",
    "linalg": """
        cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
        matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""",
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
}


def own(part):
    return getattr(xp, part) if part else xp


@pytest.mark.parametrize("part", STANDARD)
def test_the_namespace_has_all_names_of_the_standard(part):
    for name in STANDARD[part].split():
        assert getattr(own(part), name, "missing") != "missing", name
    with pytest.raises(AttributeError, match="sofmax"):
        own(part).sofmax


# One text for both namespaces

SMOOTH = {
    **{
        name: lambda xp, x, name=name: getattr(xp, name)(x)
        for name in (
            "abs acos asin asinh atan atanh conj cos cosh exp expm1 log log10 log1p log2 negative positive real reciprocal sin "
            "sinh sqrt square tan tanh"
        ).split()
    },
    "acosh": lambda xp, x: xp.acosh(x + 1.5),
    **{
        name: lambda xp, x, y, name=name: getattr(xp, name)(x, y)
        for name in (
            "add atan2 copysign divide hypot logaddexp maximum minimum multiply pow remainder subtract vecdot"
        ).split()
    },
    "clip": lambda xp, x: xp.clip(x, 0.3, 0.6),
    "clip from below": lambda xp, x: xp.clip(x, min=0.3),
    "clip from above": lambda xp, x: xp.clip(x, max=0.6),
    "clip by arrays": lambda xp, x, y: xp.clip(x, min=y - 0.9, max=None),
    "where": lambda xp, x, y: xp.where(x < 0.5, x, y),
    "where with a number": lambda xp, x: xp.where(x < 0.5, x, 0.0),
    "sum": lambda xp, x: xp.sum(x, axis=0),
    "sum of all": lambda xp, x: xp.sum(x),
    "sum, dtype": lambda xp, x: xp.sum(x, dtype=xp.float64, keepdims=True),
    "prod": lambda xp, x: xp.prod(x, axis=(0, 1)),
    "mean": lambda xp, x: xp.mean(x, axis=-1, keepdims=True),
    "std": lambda xp, x: xp.std(x, axis=1, correction=1),
    "var": lambda xp, x: xp.var(x, correction=1.5),
    "max": lambda xp, x: xp.max(x, axis=1),
    "min": lambda xp, x: xp.min(x),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=1, include_initial=True),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=0),
    "diff": lambda xp, x, y: xp.diff(x, axis=0, n=2, append=y),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[0], x[:, :1])[1:],
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, 3, 4)),
    "concat": lambda xp, x, y: xp.concat([x, y], axis=1),
    "concat flat": lambda xp, x, y: xp.concat((x, y), axis=None),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=(0, -1)),
    "flip": lambda xp, x: xp.flip(x, axis=0),
    "flip all": lambda xp, x: xp.flip(x),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, 1),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "repeat": lambda xp, x: xp.repeat(x, 3, axis=1),
    "reshape": lambda xp, x: xp.reshape(x, (2, -1)),
    "reshape, copied": lambda xp, x: xp.reshape(x, (4, 3), copy=True),
    "roll": lambda xp, x: xp.roll(x, 2, axis=1),
    "roll flat": lambda xp, x: xp.roll(x, 5),
    "roll along two": lambda xp, x: xp.roll(x, (1, 2), axis=(0, 1)),
    "squeeze": lambda xp, x: xp.squeeze(x[None, :, None], axis=(0, 2)),
    "stack": lambda xp, x, y: xp.stack([x, y], axis=-1),
    "take": lambda xp, x: xp.take(x, xp.asarray([2, 0, 2]), axis=1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1),
    "tile": lambda xp, x: xp.tile(x, (2, 1, 2)),
    "unstack": lambda xp, x: list(xp.unstack(x, axis=1)),
    "tril": lambda xp, x: xp.tril(x, k=-1),
    "triu": lambda xp, x: xp.triu(x, k=1),
    "sort": lambda xp, x: xp.sort(x, axis=0),
    "unique_values": lambda xp, x: xp.unique_values(x),
    "unique_all": lambda xp, x: xp.unique_all(x).values,
    "unique_counts": lambda xp, x: xp.unique_counts(x).values,
    "unique_inverse": lambda xp, x: xp.unique_inverse(x).values,
    "meshgrid": lambda xp, x: list(xp.meshgrid(x[0], x[:, 0], indexing="ij")),
    "astype": lambda xp, x: xp.astype(x, xp.float64),
    "matmul": lambda xp, x, y: xp.matmul(x, xp.matrix_transpose(y)),
    "tensordot": lambda xp, x, y: xp.tensordot(x, y, axes=([0, 1], [0, 1])),
    "linalg.trace": lambda xp, x: xp.linalg.trace(x, offset=1),
    "linalg.diagonal": lambda xp, x: xp.linalg.diagonal(x, offset=-1),
    "linalg.outer": lambda xp, x, y: xp.linalg.outer(x[0], y[1]),
    "linalg.cross": lambda xp, x, y: xp.linalg.cross(x[:, :2], y[:, :2], axis=0),
    "linalg.vector_norm": lambda xp, x: xp.linalg.vector_norm(x, axis=1, ord=3, keepdims=True),
    "linalg.matrix_norm": lambda xp, x: xp.linalg.matrix_norm(x, ord="nuc"),
    "linalg.pinv": lambda xp, x: xp.linalg.pinv(x),
    "linalg.svdvals": lambda xp, x: xp.linalg.svdvals(x),
    "fft.irfft of rfft": lambda xp, x: xp.fft.irfft(xp.fft.rfft(x, axis=1) ** 2, n=5, axis=1),
    "fft.ifftn of fftn": lambda xp, x: xp.real(xp.fft.ifftn(xp.fft.fftn(x) ** 2, norm="ortho")),
    "fft.fftshift": lambda xp, x: xp.fft.ifftshift(xp.fft.fftshift(x, axes=1) ** 2),
    "fft.hfft of ihfft": lambda xp, x: xp.fft.hfft(xp.fft.ihfft(x) ** 2),
}  # fmt: skip
OF_SQUARE = {
    "det": lambda linalg, a: linalg.det(a),
    "inv": lambda linalg, a: linalg.inv(a),
    "slogdet": lambda linalg, a: linalg.slogdet(a)[1],
    "solve": lambda linalg, a: linalg.solve(a, a[0]),
    "matrix_power": lambda linalg, a: linalg.matrix_power(a, 3),
    "cholesky": lambda linalg, a: linalg.cholesky(a @ linalg.matrix_transpose(a)),
    "eigh": lambda linalg, a: linalg.eigh(a + linalg.matrix_transpose(a)).eigenvalues,
    "eigvalsh": lambda linalg, a: linalg.eigvalsh(a + linalg.matrix_transpose(a)),
    "eigvals": lambda linalg, a: abs(linalg.eigvals(a)).sum(),
    "qr": lambda linalg, a: abs(linalg.qr(a)[1]),
    "svd": lambda linalg, a: linalg.svd(a, full_matrices=False)[1],
}


@needs_numpy_of_the_standard
@pytest.mark.parametrize("name", SMOOTH)
def test_values_and_gradients(name):
    function = SMOOTH[name]
    arrays = [X, Y][
        : len(inspect.signature(function).parameters) - 1 - ("name" in inspect.signature(function).parameters)
    ]
    check(lambda *args: function(xp if isinstance(args[0], pullback.Tensor) else np, *args), *arrays)


@needs_numpy_of_the_standard
@pytest.mark.parametrize("name", OF_SQUARE)
def test_values_and_gradients_of_matrices(name):
    check(lambda a: OF_SQUARE[name]((xp if isinstance(a, pullback.Tensor) else np).linalg, a), SQUARE)


# Without a derivative
PLAIN = {
    "argmax": lambda xp, x: xp.argmax(x, axis=1, keepdims=True),
    "argmin": lambda xp, x: xp.argmin(x),
    "argsort": lambda xp, x: xp.argsort(x, axis=0),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x, axis=1),
    "nonzero": lambda xp, x: xp.nonzero(x),
    "isin": lambda xp, x: xp.isin(x, xp.asarray([3, 5]), invert=True),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.asarray([0, 2, 4]), x, side="right"),
    "counts": lambda xp, x: xp.unique_all(x)[1:],
    "inverse": lambda xp, x: xp.unique_inverse(x)[1],
    "all": lambda xp, x: xp.all(x, axis=0),
    "any": lambda xp, x: xp.any(x, axis=1, keepdims=True),
    "sum of unsigned": lambda xp, x: xp.sum(xp.astype(x, xp.uint8)),
    "sum of int32": lambda xp, x: xp.sum(xp.astype(x, xp.int32), axis=0),
    "prod": lambda xp, x: xp.prod(x, axis=1),
    "floor_divide": lambda xp, x: xp.floor_divide(x, 2),
    "remainder": lambda xp, x: xp.remainder(x, xp.asarray(3)),
    "bitwise_invert": lambda xp, x: xp.bitwise_invert(x),
    "bitwise_xor": lambda xp, x: xp.bitwise_xor(x, xp.asarray(6)),
    "bitwise_left_shift": lambda xp, x: xp.bitwise_left_shift(x, xp.asarray(2)),
    "logical_xor": lambda xp, x: xp.logical_xor(x > 0, x < 3),
    "sign": lambda xp, x: xp.sign(xp.astype(x, xp.float64) / xp.astype(x, xp.float64)),
    "round": lambda xp, x: xp.round(xp.astype(x, xp.complex128) / 4 + 0.5j),
    "eye": lambda xp, x: xp.eye(2, 3, k=-1),
    "arange": lambda xp, x: xp.arange(1.0, 3.0, 0.5),
    "arange of integers": lambda xp, x: xp.arange(5),
    "linspace": lambda xp, x: xp.linspace(0, 1, 7, endpoint=False),
    "full": lambda xp, x: xp.full((2, 2), 1j),
    "full_like": lambda xp, x: xp.full_like(x, 2, dtype=xp.float32),
    "fftfreq": lambda xp, x: xp.fft.fftfreq(5, d=0.1),
    "rfftfreq": lambda xp, x: xp.fft.rfftfreq(4),
    "matrix_rank": lambda xp, x: xp.linalg.matrix_rank(xp.astype(x, xp.float64)),
}


WIDE = {np.dtype(int): np.dtype("int64"), np.dtype(np.uint): np.dtype("uint64")}
"""NumPy's default integers, and ours, which are these on 32-bit systems, too."""


@needs_numpy_of_the_standard
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_values_without_gradients(name):
    wanted, got = PLAIN[name](np, WHOLE), PLAIN[name](xp, pullback.from_numpy(WHOLE))
    several = isinstance(wanted, tuple)
    for want, have in zip(wanted, got, strict=True) if several else [(wanted, got)]:
        assert isinstance(have, pullback.Tensor)
        np.testing.assert_array_equal(have.numpy(), want)
        assert have.numpy().dtype == WIDE.get(np.asarray(want).dtype, np.asarray(want).dtype)


REDUCTIONS = "all any max mean min prod std sum var".split()


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_no_axes_at_all_reduce_nothing(name, keepdims):
    x = xp.asarray([[2.0, 0.0], [3.0, 5.0]])
    got = getattr(xp, name)(x, axis=(), keepdims=keepdims).tolist()
    same = {"all": (x != 0).tolist(), "any": (x != 0).tolist(), "std": [[0, 0], [0, 0]], "var": [[0, 0], [0, 0]]}
    assert got == same.get(name, x.tolist())


# Creation


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, "float64"), ([1, 2.5], "float64"), (3, "int64"), ([[1], [2]], "int64"), (True, "bool"), (2j, "complex128"),
        (np.float32(2), "float32"), (np.ones(2, np.int8), "int8"), (array.array("f", [1.0]), "float32"), ([], "float64"),
        (memoryview(bytes(3)), "uint8"),
    ],
)  # fmt: skip
def test_asarray_infers_the_dtype(data, dtype):
    tensor = xp.asarray(data)
    assert isinstance(tensor, pullback.Tensor)
    assert tensor.dtype == dtype
    assert tensor.tolist() == np.asarray(data).tolist()


def test_asarray_shares_memory_if_it_may():
    a = np.zeros(2)
    xp.asarray(a)[0] = 1
    xp.asarray(a, copy=False)[1] = 2
    xp.asarray(a, copy=True)[0] = 7
    assert a.tolist() == [1, 2]
    tensor = xp.asarray(a)
    assert xp.asarray(tensor) is tensor
    assert xp.asarray(tensor, copy=False) is tensor
    assert xp.asarray(tensor, copy=True).data_ptr() != tensor.data_ptr()
    for data in ([1.0], 2, np.float64(3)):
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(data, copy=False)
    for data in (a, tensor):
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(data, dtype=xp.float32, copy=False)
    assert xp.asarray(a, dtype=xp.float32).dtype == xp.float32


def test_asarray_joins_tensors_with_their_histories():
    x = pullback.tensor(3.0, dtype=pullback.float64, requires_grad=True)
    matrix = xp.asarray([[x, 1], [0.0, x * x]])
    assert (matrix.dtype, matrix.tolist()) == ("float64", [[3, 1], [0, 9]])
    xp.linalg.det(matrix).backward()
    assert x.grad.item() == 3 * 3.0**2
    rows = xp.asarray([xp.ones(2), [x, 2]])
    assert rows.tolist() == [[1, 1], [3, 2]]


def test_bounds_and_fillings_may_be_tensors():
    x = pullback.tensor(3.0, dtype=pullback.float64, requires_grad=True)
    (xp.linspace(0, x, 4).sum() + xp.full((2, 2), x).sum() * 10).backward()
    assert x.grad.item() == pytest.approx(0 + 1 / 3 + 2 / 3 + 1 + 40)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_shapes_dtypes_and_devices(name):
    make, like = getattr(xp, name), getattr(xp, f"{name}_like")
    assert (make(3).shape, make((2, 0)).dtype, make((), dtype=xp.int8).dtype) == ((3,), xp.float64, xp.int8)
    x = xp.asarray([[1, 2]])
    assert (like(x).shape, like(x).dtype, like(x, dtype=xp.float32).dtype) == ((1, 2), xp.int64, xp.float32)
    assert make(2, device=x.device).device == "cpu"
    for device in ("cuda", "meta"):
        with pytest.raises(RuntimeError, match=device):
            make(2, device=device)


# Dtypes


def test_promotion_is_by_dtype_alone():
    f, d = xp.ones(2, dtype=xp.float32), xp.asarray(1.0)
    assert (f * d).dtype == xp.float32  # torch's rule
    for pair in ((f, d), (d, f), (f[0], d)):
        assert xp.multiply(*pair).dtype == xp.float64 == xp.result_type(*pair)
    assert xp.concat([f, xp.ones(1)]).dtype == xp.float64
    assert xp.where(f > 0, f, d).dtype == xp.float64
    assert xp.matmul(f, xp.ones(2)).dtype == xp.float64
    assert xp.add(f, 1.5).dtype == xp.multiply(2, f).dtype == xp.float32
    assert xp.result_type(xp.int8, xp.uint8, 3) == xp.int16
    assert (
        xp.result_type(np.dtype(np.int8), np.uint8, "int32") == xp.int32 and xp.result_type(np.float32, 1) == xp.float32
    )
    assert xp.add(xp.ones(2, dtype=xp.uint8), xp.asarray(1, dtype=xp.int8)).dtype == xp.int16
    assert xp.clip(f, 0, d).dtype == xp.float32  # the standard's exception


@pytest.fixture
def standard():
    pullback.set_promotion("standard")
    yield
    pullback.set_promotion("torch")


@pytest.mark.usefixtures("standard")
def test_standard_promotion_of_operators():
    f, d = pullback.ones(2), pullback.tensor(1.0, dtype=pullback.float64)
    assert pullback.get_promotion() == "standard"
    for result in (f * d, d - f, f + d, f / d, f**d, pullback.maximum(f, d)):
        assert result.dtype == pullback.float64
    assert (f * 2.0).dtype == pullback.float32
    assert ((f > 0) & (d > 0)).dtype == pullback.bool
    inf = pullback.inf
    quotients = pullback.tensor([inf, -inf, inf, 5.0, -5.0]) // pullback.tensor([2.0, 2.0, -2.0, -inf, inf])
    assert quotients.tolist() == [inf, -inf, -inf, 0, 0]
    assert np.signbit(quotients.numpy()).tolist() == [False, True, True, True, True]
    assert pullback.ones(3)[pullback.zeros(0, dtype=pullback.bool)].shape == (0,)
    x = pullback.ones(2, requires_grad=True)
    (x * d).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (pullback.float32, [1, 1])


def test_torchs_promotion_comes_back():
    f, d = pullback.ones(2), pullback.tensor(1.0, dtype=pullback.float64)
    pullback.set_promotion("standard")
    pullback.set_promotion("torch")
    assert (pullback.get_promotion(), (f * d).dtype) == ("torch", pullback.float32)
    with pytest.raises(ValueError, match="'torch' or 'standard', not 'numpy'"):
        pullback.set_promotion("numpy")
    with pytest.raises(IndexError, match="mask"):
        pullback.ones(3)[pullback.zeros(0, dtype=pullback.bool)]
    assert pullback.isnan(pullback.tensor([pullback.inf]) // 2).all()


def test_compiled_functions_follow_the_rule():
    product = pullback.compile(lambda a, b: a * b + 1)
    f, d = pullback.ones(2), pullback.tensor(2.0, dtype=pullback.float64)
    for rule, dtype in [("torch", "float32"), ("standard", "float64")] * 3:
        pullback.set_promotion(rule)
        try:
            found = [product(f, d) for _ in range(4)]
        finally:
            pullback.set_promotion("torch")
        assert {str(each.dtype) for each in found} == {f"pullback.{dtype}"}
        assert found[-1].tolist() == [3, 3]


def test_kinds_and_limits():
    assert xp.isdtype(xp.uint8, ("integral", "bool"))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(ValueError, match="no kind of dtypes 'float'"):
        xp.isdtype(xp.float32, "float")
    assert [xp.can_cast(xp.int8, to) for to in (xp.int16, xp.uint8, xp.int8)] == [True, False, True]
    assert not xp.can_cast(xp.ones(2), xp.float32)
    assert xp.finfo(xp.float32).smallest_normal == np.finfo(np.float32).tiny
    assert xp.finfo(xp.complex128).dtype is pullback.float64
    assert xp.iinfo(xp.asarray([1], dtype=xp.uint16)).max == 2**16 - 1
    info = xp.__array_namespace_info__()
    assert set(info.dtypes()) == set(STANDARD[""].split()) & {d.name for d in info.dtypes().values()}
    assert info.default_device() in info.devices()


# Errors


@pytest.mark.parametrize(
    "call",
    [
        lambda: xp.add(1.0, 2.0), lambda: xp.sin(np.ones(2)), lambda: xp.sum([1.0]), lambda: xp.flip(np.ones(2)),
        lambda: xp.linalg.det(np.eye(2)), lambda: xp.fft.fft([1.0]), lambda: xp.sort((2, 1)), lambda: xp.where(True, 1, 2),
        lambda: xp.add(xp.ones(2), [1.0]), lambda: xp.reshape(np.ones(2), (2,)), lambda: xp.clip(3.0, 1, 2),
        lambda: xp.unique_all([1]), lambda: xp.matmul(np.eye(2), np.eye(2)), lambda: xp.nonzero(np.ones(2)),
    ],
)  # fmt: skip
def test_operands_are_tensors(call):
    with pytest.raises(TypeError, match=r"must be Tensor, not|operands are tensors"):
        call()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: xp.expand_dims(xp.ones(2), (0, 0)), ValueError, "repeated"),
        (lambda: xp.squeeze(xp.ones((2, 1)), 0), ValueError, "length 1"),
        (lambda: xp.nonzero(xp.asarray(1)), ValueError, "0-d"),
        (lambda: xp.take(xp.ones((2, 2)), xp.asarray([0])), ValueError, "axis"),
        (lambda: xp.vecdot(xp.ones(3), xp.ones(1)), ValueError, "3 and 1"),
        (lambda: xp.reshape(xp.ones((2, 3)).mT, (6,), copy=False), ValueError, "copy=False"),
        (lambda: xp.broadcast_shapes((2,), (3,)), ValueError, "broadcast"),
        (lambda: xp.add(xp.ones(2, dtype=xp.uint64), xp.asarray([1])), RuntimeError, "uint64"),
        (lambda: xp.less(xp.ones(2, dtype=xp.complex64), 1), NotImplementedError, "Complex numbers have no order"),
        (lambda: xp.ones(2).__array_namespace__(api_version="2020.01"), ValueError, "2025.12"),
        (lambda: xp.ones(2).to_device("cuda"), RuntimeError, "cuda"),
        (xp.result_type, ValueError, "at least one"),
    ],
)  # fmt: skip
def test_errors_name_the_fault(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_tensor_says_its_namespace():
    x = pullback.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2023.12") is xp
    assert x.to_device(x.device) is x


def test_importing_the_package_does_not_import_the_namespace():
    text = "import sys, pullback; assert 'pullback.array_api' not in sys.modules; pullback.array_api.ones(2)"
    subprocess.run([sys.executable, "-W", "error", "-c", text], check=True)


def test_special_functions_have_gradients():
    scipy = pytest.importorskip("scipy.special")
    a, x = np.array([0.7, 2.5]), np.array([0.4, 1.6])
    for name, function in {
        "gamma": lambda s, a, x: s.gamma(a),
        "gammainc": lambda s, a, x: s.gammainc(a, x),
        "stdtr": lambda s, a, x: s.stdtr(a, x),
        "rgamma": lambda s, a, x: s.rgamma(x),
        "multigammaln": lambda s, a, x: s.multigammaln(a, 1),
        "polygamma": lambda s, a, x: s.polygamma(2, x),
        "xlogy": lambda s, a, x: s.xlogy(2.0, x),
    }.items():
        used = [a, x] if name in ("gammainc", "stdtr") else [x] if name in ("rgamma", "polygamma", "xlogy") else [a]

        def both(*args, function=function):
            space = xp.special if isinstance(args[0], pullback.Tensor) else scipy
            return function(space, args[0], args[-1])

        check(both, *used)
    with pytest.raises(AttributeError, match="erff"):
        xp.special.erff
