"""Small eager operations, on both sides of the sizes from which they are computed in another way: numbers, slopes, memory."""

import math
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.nn import functional

DTYPES = [np.float32, np.float64]
LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


def drawn(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def close(found, wanted, dtype, scale=1.0):
    found = found.detach().numpy() if isinstance(found, pb.Tensor) else found
    np.testing.assert_allclose(found, wanted, rtol=50 * np.finfo(dtype).eps, atol=50 * np.finfo(dtype).eps * scale)


def back(total, shape):
    """A cotangent summed over the axes along which an operand was broadcast."""
    total = total.sum(tuple(range(total.ndim - len(shape))))
    return total.sum(tuple(i for i, n in enumerate(shape) if n < total.shape[i]), keepdims=True)


SUMMED = [
    (1, 1), (0, 3), (3, 0), (10, 10), (16, 512), (15, 513), (512, 16), (513, 15), (64, 128), (65, 128), (64, 129),
    (2, 3, 4), (4, 64, 32), (4, 64, 33), (3, 5, 129), (0, 3, 4), (2, 0, 4), (2, 2, 6, 6),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SUMMED, ids=str)
def test_sums_along_each_axis(shape, layout, dtype):
    x = LAYOUTS[layout](drawn(shape, dtype))
    tensor = pb.tensor(1.0, dtype=pb.from_numpy(x).dtype, requires_grad=True) * pb.from_numpy(x)
    for axis in range(len(shape)):
        for keep in (False, True):
            for dim in (axis, axis - len(shape)):
                found = tensor.sum(dim, keepdim=keep)
                wanted = x.astype(np.float64).sum(axis, keepdims=keep)
                assert found.shape == wanted.shape
                assert found.dtype == tensor.dtype
                assert found.is_contiguous()
                close(found, wanted, dtype, scale=math.sqrt(shape[axis] + 1))
            close(pb.autograd.grad(found.sum(), tensor)[0], np.ones(shape), dtype)


def test_sums_have_memory_of_their_own():
    x = pb.ones(3, 3)
    for total in (x.sum(0, keepdim=True), x.sum(1, keepdim=True), x.max(1).values, x.max(1, keepdim=True).values):
        before = x.clone()
        total.add_(1)
        assert pb.equal(x, before)
        assert not total._is_view()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("of", ["log_softmax", "softmax"])
def test_rows_of_scores(of, rows, dtype):
    x = drawn((rows, 7), dtype) * 30
    x[0, :3] = [np.nan, 1, 2]
    x[-1, :3] = [-np.inf, 1, 2]
    x[rows // 2, 4] = 80.0
    wide = x.astype(np.float64)
    shifted = wide - wide.max(1, keepdims=True)
    wanted = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    found = getattr(pb.tensor(x), of)(1)
    if of == "softmax":
        wanted = np.exp(wanted)
    within = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(found.numpy(), wanted, rtol=within, atol=1e-37 if of == "softmax" else 100 * within)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (5, 4)), ((32, 3), (32, 3)), ((32, 3), (33, 3)), ((2, 16, 2), (32, 2)), ((2, 1, 17, 2), (3, 32, 2)),
     ((1, 200), (4, 200)), ((3, 0), (2, 0)), ((0, 2), (3, 2)), ((40, 1), (40, 1))],
    ids=str,
)  # fmt: skip
def test_distances_of_all_pairs(left, right, p, dtype):
    a, b = drawn(left, dtype), drawn(right, dtype, 1)
    for turn in (lambda x: x, lambda x: np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)):
        x, y = (pb.from_numpy(turn(each)).requires_grad_() for each in (a, b))
        found = pb.cdist(x, y, p)
        apart = a.astype(np.float64)[..., :, None, :] - b.astype(np.float64)[..., None, :, :]
        wanted = np.linalg.norm(apart, ord=p, axis=-1) if apart.shape[-1] else np.zeros(apart.shape[:-1])
        assert found.shape == wanted.shape
        close(found, wanted, dtype, scale=4)
        if p == 2 and found.numel() and left[-1]:
            found.sum().backward()
            slope = apart / wanted[..., None]
            close(x.grad, back(slope.sum(-2), left), dtype, scale=40)
            close(y.grad, back(-slope.sum(-3), right), dtype, scale=40)


@pytest.mark.parametrize("dtype", [*DTYPES, np.int64, np.bool_, np.float16])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("widths", [(1, 2), (0, 0), (-1, 2), (2, -1, 0, 3), (-1, -1, -1, 0), (1, 1, 2, 2), ()])
@pytest.mark.parametrize("value", [0, 1])
def test_padding_adds_and_removes(widths, layout, dtype, value):
    x = LAYOUTS[layout]((drawn((4, 5), np.float64) * 3).astype(dtype))
    pairs = [(0, 0)] * (2 - len(widths) // 2) + [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)][::-1]
    wanted = np.pad(x, [(max(left, 0), max(right, 0)) for left, right in pairs], constant_values=value)
    inner = tuple(
        slice(max(-left, 0), n - max(-right, 0)) for n, (left, right) in zip(wanted.shape, pairs, strict=True)
    )
    wanted = wanted[inner]
    found = functional.pad(pb.from_numpy(x), widths, value=value)
    np.testing.assert_array_equal(found.numpy(), wanted)
    assert not np.shares_memory(found.numpy(), x)
    if found.is_floating_point():
        tensor = pb.tensor(x, requires_grad=True)
        functional.pad(tensor, widths, value=value).sum().backward()
        kept = tuple(slice(max(-left, 0), n - max(-right, 0)) for n, (left, right) in zip(x.shape, pairs, strict=True))
        slopes = np.zeros(x.shape)
        slopes[kept] = 1
        np.testing.assert_array_equal(tensor.grad.numpy(), slopes)


def test_padding_that_takes_too_much_is_refused():
    with pytest.raises(RuntimeError, match="length must be non-negative"):
        functional.pad(pb.ones(2, 3), (-2, -2))


@pytest.mark.parametrize("default", [pb.float32, pb.float64])
@pytest.mark.parametrize("value", [1.5, -0.0, math.inf, math.nan, 1e300, 1e-310, 7, True])
def test_one_value_in_a_shape(value, default):
    before = pb.get_default_dtype()
    pb.set_default_dtype(default)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = pb.full((2, 3), value, requires_grad=type(value) is float)
    finally:
        pb.set_default_dtype(before)
    kind = default if type(value) is float else pb.int64 if type(value) is int else pb.bool
    assert found.dtype == kind
    with np.errstate(all="ignore"):
        wanted = np.full((2, 3), np.array(value).astype(found.detach().numpy().dtype))
    assert found.detach().numpy().tobytes() == wanted.tobytes()
    with pytest.raises(RuntimeError, match="non-negative"):
        pb.full((-1,), value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
@pytest.mark.parametrize("ignored", [-100, -1, 1, 250])
@pytest.mark.parametrize("classes", [[0, 2, 1], [1, 1, 1], [2, 1, 2], []])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_of_class_numbers(reduction, classes, ignored, dtype):
    scores = pb.tensor(drawn((len(classes), 3), np.float64), requires_grad=True)
    target = pb.from_numpy(np.array(classes, dtype))
    found = functional.nll_loss(scores, target, ignore_index=ignored, reduction=reduction)
    kept = np.array([number != ignored for number in classes], bool)
    losses = np.where(kept, [-row[number] for row, number in zip(scores.tolist(), classes, strict=True)], 0.0)
    with np.errstate(invalid="ignore"):
        total = {"none": losses, "sum": losses.sum(), "mean": np.float64(losses.sum()) / kept.sum()}[reduction]
    np.testing.assert_allclose(found.detach().numpy(), total, rtol=1e-12)
    if len(classes):
        target.fill_(0)  # what the graph keeps of the classes is its own
        found.sum().backward()
        wanted = np.zeros((len(classes), 3))
        wanted[np.arange(len(classes))[kept], np.array(classes, int)[kept]] = -1
        with np.errstate(invalid="ignore"):
            wanted = wanted / kept.sum() if reduction == "mean" and kept.any() else wanted
        np.testing.assert_allclose(scores.grad.numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize(("classes", "named"), [([0, 3], 3), ([0, -1], -1), ([-100, 7], 7), ([4, -2], -2)])
def test_classes_that_are_not_there_are_named(classes, named):
    with pytest.raises(IndexError, match=f"Target {named} is out of bounds"):
        functional.nll_loss(pb.zeros(2, 3), pb.tensor(classes))


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_"])
def test_what_was_detached_is_taken_into_memory(name):
    """Also where operations are recorded: the values that a graph has saved stay, and the row is broadcast."""
    w = pb.tensor([2.0, 4.0], requires_grad=True)
    x, scale = pb.ones(3, 2), pb.ones(3, 2, requires_grad=True)
    product = (x * scale).sum()
    before = x._version
    assert getattr(x, name)(w.detach()) is x
    plain = {"add_": np.add, "sub_": np.subtract, "mul_": np.multiply, "div_": np.divide}[name]
    np.testing.assert_array_equal(x.numpy(), plain(np.ones((3, 2)), [2, 4]))
    assert (x._version, x.requires_grad) == (before + 1, False)
    product.backward()
    np.testing.assert_array_equal(scale.grad.numpy(), np.ones((3, 2)))


@pytest.mark.parametrize("shape", [(3,), (2, 3, 2), (1, 3, 2), (3, 1, 2)])
@pytest.mark.parametrize("name", ["add_", "mul_"])
def test_operands_that_do_not_fit_write_nothing(name, shape):
    x = pb.ones(3, 2)
    before = x._version
    with pytest.raises(RuntimeError) as refusal:
        getattr(x, name)(pb.full(shape, 2.0))
    assert refusal.value.__context__ is None
    assert pb.equal(x, pb.ones(3, 2))
    assert x._version == before


def test_arrays_are_multiplied_and_divided_without_warnings():
    big, none = np.array([1e30], np.float32), np.array([0.0], np.float32)
    assert pb.addcmul(pb.tensor([1.0]), big, big).item() == math.inf
    assert pb.addcdiv(pb.tensor([1.0]), big, none).item() == math.inf


@pytest.mark.parametrize("dtype", [*DTYPES, np.float16, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "index", [0, -1, (slice(None), 1), (..., None), (2, 3), (slice(1, 3), slice(None, None, 2)), ([0, 2],), ([1, 1], [0, 3])]
)  # fmt: skip
def test_one_value_written_at_an_index(index, layout, dtype):
    for value in (1, True, 0.5, np.float64(2), np.array(3), pb.tensor(1), pb.tensor([1])):
        x = LAYOUTS[layout]((drawn((4, 5), np.float64) * 3).astype(dtype))
        tensor, wanted = pb.from_numpy(x.copy()), x.copy()
        tensor[index] = value
        wanted[index] = np.asarray(value).reshape(())
        np.testing.assert_array_equal(tensor.numpy(), wanted)
        assert tensor._version == 1


def test_numbers_that_a_dtype_cannot_hold_are_refused():
    for dtype, value in ((pb.float32, 1e300), (pb.float16, 1e5), (pb.int8, 300), (pb.uint8, 256), (pb.float32, 1j)):
        x = pb.zeros(3, dtype=dtype)
        with warnings.catch_warnings(), pytest.raises(RuntimeError, match=r"cannot be converted .* without overflow"):
            warnings.simplefilter("error")
            x[0] = value
        assert x._version == 0
        assert not x.any()
    x = pb.zeros(3)
    x[1] = math.inf
    x[2] = math.nan
    np.testing.assert_array_equal(x.numpy(), [0, math.inf, math.nan])


@pytest.mark.parametrize("value", [1.0, pb.tensor(1.0), pb.ones(2)])
def test_places_outside_are_refused_in_the_same_words(value):
    x = pb.zeros(3)
    with pytest.raises(IndexError, match="out of bounds for dimension 0"):
        x[pb.tensor([0, 3])] = value
    with pytest.raises(IndexError, match="out of bounds for dimension 0"):
        x[3] = value
    assert not x.any()


@pytest.mark.parametrize("dtype", [pb.int64, pb.int8, pb.bool])
def test_lerp_of_integers_is_refused(dtype):
    """Its weight would become a whole number."""
    x, y = pb.zeros(3, dtype=dtype), pb.ones(3, dtype=dtype)
    for call in (lambda: x.lerp(y, 0.5), lambda: x.lerp_(y, 0.5), lambda: pb.lerp(x, y, 1)):
        with pytest.raises(NotImplementedError, match="convert input and end to float"):
            call()
    assert not x.any()
