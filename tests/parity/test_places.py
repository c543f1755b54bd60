"""Places that indices, masks and diagonals name: read, written, and written in place, with two derivatives."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import describe, parity, raises  # noqa: E402

RNG = np.random.default_rng(0)
MATRIX, VECTOR = RNG.standard_normal((4, 5)), RNG.standard_normal(4)
SIGNALS, WINDOW = RNG.standard_normal((2, 40)), RNG.uniform(0.2, 1.0, 6)

# x is a matrix and b a vector, both tracked; what a program returns is what it is about, and x itself if it has written.
PROGRAMS = {
    "fill_diagonal_": lambda t, x, b: x.fill_diagonal_(2.0),
    "fill_diagonal_ wrapped": lambda t, x, b: x.t().contiguous().fill_diagonal_(2.0, wrap=True),
    "diagonal written": lambda t, x, b: (x.diagonal().mul_(b), x)[1],
    "diagonal above written": lambda t, x, b: (x.diagonal(1).copy_(b), x)[1],
    "diagonal of turned axes written": lambda t, x, b: (x.diagonal(-1, 1, 0).copy_(b), x)[1],
    "select written": lambda t, x, b: (x.select(1, 2).mul_(b), x)[1],
    "narrow written": lambda t, x, b: (x.narrow(1, 1, 2).mul_(b[:, None]), x)[1],
    "masked_fill_ by a tensor": lambda t, x, b: x.masked_fill_(x > 0, b.sum()),
    "masked_fill_ by a number": lambda t, x, b: x.masked_fill_(b[:, None] > 0, 3),
    "masked_scatter_": lambda t, x, b: x.masked_scatter_(t.tensor([True, False, False, False, False]), b),
    "masked_select": lambda t, x, b: x.masked_select(b[:, None] > 0),
    "index_put_": lambda t, x, b: x.index_put_((t.tensor([0, 1]), t.tensor([2, 2])), b[:2]),
    "index_put_ by a mask": lambda t, x, b: x.index_put_((x > 0,), b.sum()),
    "index_put_ to a view": lambda t, x, b: (x[1].index_put_((t.tensor([0, 3]),), b[:2]), x)[1],
    "scatter_": lambda t, x, b: x.scatter_(1, t.tensor([[0], [1], [2], [0]]), b[:, None]),
    "scatter_ of a number": lambda t, x, b: x.scatter_(1, t.tensor([[0], [1], [2], [0]]), 2.5),
    "scatter_add_ to a view": lambda t, x, b: (x[:, 1].scatter_add_(0, t.tensor([0, 1, 1, 0]), b), x)[1],
    "scatter_reduce_ amax": lambda t, x, b: x.scatter_reduce_(1, t.tensor([[0], [1], [2], [0]]), b[:, None], "amax"),
    "scatter_reduce_ prod": lambda t, x, b: x.scatter_reduce_(1, t.tensor([[0], [1], [2], [0]]), b[:, None], "prod"),
    "scatter_reduce of ties": lambda t, x, b: x.relu().scatter_reduce(
        1, t.tensor([[0, 0, 1, 1, 1]] * 4), x.relu(), "amin"
    ),
    "index_fill_": lambda t, x, b: x.index_fill_(1, t.tensor([0, 0, 2]), b.sum()),
    "index_copy_": lambda t, x, b: x.index_copy_(1, t.tensor([2]), b[:, None]),
    "index_select": lambda t, x, b: x.index_select(0, t.tensor([1, 1, 3])),
    "take": lambda t, x, b: x.take(t.tensor([[0, -1], [3, 3]])),
    "take_along_dim": lambda t, x, b: x.take_along_dim(t.tensor([[0, -1]]), 1),
    "gather": lambda t, x, b: x.gather(1, t.tensor([[0, 0], [1, 4]])),
    "tril_": lambda t, x, b: x.mul_(b[:, None]).tril_(-1),
    "diagonal_scatter": lambda t, x, b: x.diagonal_scatter(b, 1),
    "select_scatter": lambda t, x, b: x.select_scatter(b, 1, -1),
    "slice_scatter": lambda t, x, b: x.slice_scatter(b[:2, None].expand(2, 5), 0, 1, None, 2),
}


def tracked(t, *arrays):
    return [t.tensor(array, requires_grad=True) for array in arrays]


def derivatives(t, results, leaves):
    """The gradients of the sum of squares, and those of the sum of their squares."""
    first = t.autograd.grad((results * results).sum(), leaves, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in first if g is not None)
    second = t.autograd.grad(total, leaves, allow_unused=True) if getattr(total, "requires_grad", False) else []
    return [[g if g is None else describe(g.detach()) for g in order] for order in (first, second)]


@pytest.mark.parametrize("name", PROGRAMS)
@parity
def test_values_nodes_and_two_derivatives(t, name):
    leaves = tracked(t, MATRIX, VECTOR)
    result = PROGRAMS[name](t, leaves[0] * 1, leaves[1])
    return [result, derivatives(t, result, leaves)]


@pytest.mark.parametrize("added", ["put", "index_put", "index_add", "index_reduce", "diag_embed"])
@parity
def test_values_and_derivatives_of_steps_that_torch_does_in_one(t, added):
    leaves = tracked(t, MATRIX, VECTOR)
    x, b = leaves[0] * 1, leaves[1]
    calls = {
        "put": lambda: x.put_(t.tensor([0, 0, -1]), b[:3], True),
        "index_put": lambda: x.index_put_((t.tensor([0, 0]),), b[:2, None], accumulate=True),
        "diag_embed": lambda: b.diag_embed(-2),
        "index_add": lambda: x.t().index_add(0, t.tensor([0]), b[None], alpha=2),
        "index_reduce": lambda: x.t().index_reduce(0, t.tensor([0]), b[None], "mean", include_self=False),
    }
    result = calls[added]()
    return [result.detach(), derivatives(t, result, leaves)]


@parity
def test_what_names_no_place_is_refused(t):
    x = t.arange(6.0).reshape(2, 3)
    one, far = t.tensor([[0]]), t.tensor([[5]])
    raises(RuntimeError, "index 5 is out of bounds for dimension 0 with size 2", lambda: x.gather(0, far))
    raises(RuntimeError, "index -1 is out of bounds for dimension 0 with size 2", lambda: x.gather(0, one - 1))
    raises(RuntimeError, "index 5 is out of bounds for dimension 0 with size 2", lambda: x.scatter(0, far, 1.0))
    raises(RuntimeError, "index 5 is out of bounds", lambda: x.index_add(0, far[0], t.ones(1, 3)))
    raises(IndexError, "index out of range in self", lambda: x.index_select(0, far[0]))
    raises(IndexError, "index 5 is out of bounds for dimension 0", lambda: x.index_copy(0, far[0], t.ones(1, 3)))
    raises(IndexError, "index 5 is out of bounds for dimension 0", lambda: x.index_fill(0, far[0], 1.0))
    raises(IndexError, "tried to access index 6 on a tensor of 6 elements", lambda: x.take(t.tensor([6])))
    raises(IndexError, "tried to access index 6 on a tensor of 6 elements", lambda: x.put(t.tensor([6]), t.ones(1)))
    raises(IndexError, "index 5 out of range for tensor of size", lambda: x.select(0, 5))
    raises(RuntimeError, "exceeds dimension size (2)", lambda: x.narrow(0, 1, 3))


@parity
def test_what_does_not_fit_its_place_is_refused(t):
    x, one = t.arange(6.0).reshape(2, 3), t.tensor([0])
    double = t.ones(1, 3, dtype=t.float64)
    raises(RuntimeError, "must have the same scalar type", lambda: x.index_add(0, one, double))
    raises(RuntimeError, "source expected to have the same dtype", lambda: x.index_copy(0, one, double))
    raises(RuntimeError, "Expected self.dtype to be equal to src.dtype", lambda: x.scatter(0, one[None], double))
    raises(
        RuntimeError, "Index put requires the source and destination dtypes match", lambda: x.index_put((one,), double)
    )
    raises(RuntimeError, "cannot be broadcast to indexing result of shape [1, 3]", lambda: x.index_put((one,), x))
    raises(RuntimeError, "0-dimensional value tensor", lambda: x.masked_fill(x > 0, t.ones(1)))
    raises(RuntimeError, "without overflow", lambda: x.masked_fill(x > 0, 1j))
    raises(
        RuntimeError, "Number of elements of source < number of ones in mask", lambda: x.masked_scatter(x > 2, x[0, :2])
    )
    raises(RuntimeError, "src size = [3], slice size = [2]", lambda: x.diagonal_scatter(t.ones(3)))
    raises(RuntimeError, "diagonal dimensions cannot be identical", lambda: x.diagonal(0, 1, 1))


MODES = ("reflect", "constant", "replicate", "circular")


@pytest.mark.parametrize(("center", "normalized", "onesided"), [*itertools.product((True, False), repeat=3)])
@pytest.mark.parametrize("window", [None, 6])
@parity
def test_short_time_transforms_and_their_inverses(t, center, normalized, onesided, window):
    signals, shape = tracked(t, SIGNALS, WINDOW)
    options = {
        "hop_length": 2, "win_length": window, "window": None if window is None else shape, "center": center,
        "normalized": normalized, "onesided": onesided,
    }  # fmt: skip
    fixed = {**options, "window": None if window is None else shape.detach()}
    answers = []
    for mode in MODES if center else MODES[:1]:
        spectra = t.stft(signals, 8, pad_mode=mode, return_complex=True, **options)
        louder = spectra * t.arange(1.0, 1 + spectra.shape[-1])
        # The window's shares in both directions nearly cancel, so each is compared by itself.
        invertible = center or window is None
        there = t.istft(louder, 8, length=30, **fixed) if invertible else spectra.abs()
        back = t.istft(louder.detach(), 8, length=30, **options) if invertible else there.detach()
        gradients = t.autograd.grad((there * there).sum(), [signals, shape], allow_unused=True)
        inverse = t.autograd.grad((back * back).sum(), shape) if back.requires_grad else ()
        answers.append([spectra.detach(), back.detach(), *gradients, *inverse])
    return answers
