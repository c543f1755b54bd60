"""Infinities and NaN where a mask, a padding, a length or an index excludes them: nothing else changes, and their slope is 0.

Each row of the table computes something from x, of which some elements take no part. These are replaced by special
numbers: the result and all gradients must be those with ordinary numbers there.
"""

import numpy as np

import pullback
from pullback import func, masked
from pullback.nn import functional

FEW = 20

SPECIAL = (np.nan, np.inf, -np.inf, 1e300, -1e300)


def rows_excluded(rng, shape, count=1):
    """A mask of whole rows, True where excluded; at least one row is left."""
    out = np.zeros(shape, bool)
    out[rng.permutation(shape[0])[:count]] = True
    return out


def some(rng, shape):
    """A mask with elements in each row left."""
    out = rng.random(shape) < 0.4
    out[..., 0] = False
    return out


def taken(out):
    return pullback.tensor(~out)


def masked_reduction(name):
    def row(rng):
        out = some(rng, (3, 5))
        options = {"ord": 2} if name in {"norm", "normalize"} else {}
        dim = (
            int(rng.integers(0, 2))
            if name in {"cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize"}
            else 1
        )
        if dim == 0:
            out[0] = False
        function = getattr(masked, name)

        def result(x):
            y = function(x, dim=dim, mask=taken(out), **options)
            return pullback.where(taken(out), y, 0) if y.shape == x.shape else y

        return result, (3, 5), out

    return row


def where(rng):
    out = rng.random((3, 4)) < 0.5
    return lambda x: pullback.where(taken(out), x * x, 1.5), (3, 4), out & False


def filled(rng):
    out = rng.random((3, 4)) < 0.5
    return lambda x: x.masked_fill(pullback.tensor(out), 2.0).exp(), (3, 4), out


def selected(rng):
    out = some(rng, (3, 4))
    return lambda x: x[taken(out)].square(), (3, 4), out


def triangle(rng):
    out = np.triu(np.ones((4, 4), bool), 1)
    return lambda x: pullback.tril(x).exp() @ pullback.ones(4, 2).double(), (4, 4), out


def solved(rng):
    out = np.triu(np.ones((3, 3), bool), 1)
    b = pullback.tensor(rng.standard_normal((3, 2)))
    shift = pullback.tensor(np.eye(3) * 3)
    return lambda x: pullback.linalg.solve_triangular(x + shift, b, upper=False), (3, 3), out


def ignored(rng):
    out = rows_excluded(rng, (5, 4), 2)
    target = pullback.tensor(np.where(out[:, 0], -100, rng.integers(0, 4, 5)))
    reduction = rng.choice(["mean", "sum", "none"])
    options = {"label_smoothing": 0.1} if rng.random() < 0.3 else {}
    weight = pullback.tensor(rng.random(4) + 0.5) if rng.random() < 0.4 else None
    if rng.random() < 0.5:
        return lambda x: functional.cross_entropy(x, target, weight=weight, reduction=reduction, **options), (5, 4), out
    return lambda x: functional.nll_loss(x, target, weight=weight, reduction=reduction), (5, 4), out


def other_classes(rng):
    target = rng.integers(0, 4, 5)
    out = np.ones((5, 4), bool)
    out[np.arange(5), target] = False
    return lambda x: functional.nll_loss(x, pullback.tensor(target)), (5, 4), out


def padded_rows(rng):
    out = np.zeros((5, 3), bool)
    out[4] = True
    indices = pullback.tensor(rng.integers(0, 4, (2, 3)))
    return lambda x: functional.embedding(indices, x, padding_idx=4), (5, 3), out


def bags(mode):
    def row(rng):
        out = np.zeros((5, 3), bool)
        out[4] = True
        indices = rng.integers(0, 4, (2, 4))
        indices[:, 3] = 4
        return lambda x: functional.embedding_bag(pullback.tensor(indices), x, mode=mode, padding_idx=4), (5, 3), out

    return row


def replaced(reduce):
    def row(rng):
        out = np.zeros((2, 5), bool)
        index = np.stack([rng.permutation(5)[:3] for _ in range(2)])
        np.put_along_axis(out, index, True, 1)
        source = pullback.tensor(rng.standard_normal((2, 3)))
        where = pullback.tensor(index)
        if reduce is None:
            return lambda x: x.scatter(1, where, source), (2, 5), out
        return lambda x: x.scatter_reduce(1, where, source, reduce, include_self=False), (2, 5), out

    return row


def indexed(reduce):
    def row(rng):
        out = np.zeros((5, 2), bool)
        index = rng.permutation(5)[:3]
        out[index] = True
        source, where = pullback.tensor(rng.standard_normal((3, 2))), pullback.tensor(index)
        return lambda x: x.index_reduce(0, where, source, reduce, include_self=False), (5, 2), out

    return row


def written(rng):
    out = rows_excluded(rng, (4, 3), 2)

    def result(x):
        y = x * 2
        y[pullback.tensor(out)] = 1.0
        return y

    return result, (4, 3), out


def alignment(rng):
    out = np.zeros((6, 2, 4), bool)
    out[4:, 0] = True
    out[5:, 1] = True
    targets, lengths = pullback.tensor(rng.integers(1, 4, (2, 2))), pullback.tensor([4, 5])
    reduction = rng.choice(["mean", "sum"])
    return (
        lambda x: functional.ctc_loss(x, targets, lengths, pullback.tensor([2, 2]), reduction=reduction),
        (6, 2, 4),
        out,
    )


def windows(kind):
    """One special number: windows without it are what they are."""

    def row(rng):
        dims = int(rng.integers(1, 4))
        shape = (1, 2, *[6, 5, 5][:dims])
        out = np.zeros(shape, bool)
        out[(0, 1, *[int(rng.integers(0, size)) for size in shape[2:]])] = True
        function = getattr(functional, f"{kind}{dims}d")
        kernel, stride = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        options = (2,) if kind.startswith("adaptive") else (kernel, stride)
        touched = function(pullback.tensor(np.where(out, np.nan, 1.0)), *options).isnan()

        def result(x):
            return pullback.where(touched, 0, function(x, *options))

        return result, shape, out

    return row


def correlated(rng):
    dims = int(rng.integers(1, 4))
    shape = (1, 2, *[6, 5, 5][:dims])
    out = np.zeros(shape, bool)
    out[(0, 1, *[int(rng.integers(0, size)) for size in shape[2:]])] = True
    weight = pullback.tensor(rng.standard_normal((3, 2, *[2] * dims)))
    function, options = (
        getattr(functional, f"conv{dims}d"),
        {"padding": int(rng.integers(0, 2)), "stride": int(rng.integers(1, 3))},
    )
    touched = function(pullback.tensor(np.where(out, 1.0, 0.0)), weight.abs() + 1, **options) != 0
    return lambda x: pullback.where(touched, 0, function(x, weight, **options)), shape, out


def resized(mode):
    def row(rng):
        dims = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "nearest": 2, "area": 2}[mode]
        shape = (1, 2, *[5, 6, 4][:dims])
        out = np.zeros(shape, bool)
        out[(0, 1, *[int(rng.integers(0, size)) for size in shape[2:]])] = True
        size = [int(n) for n in rng.integers(2, 9, dims)]
        corners = {} if mode in {"nearest", "area"} else {"align_corners": bool(rng.random() < 0.5)}
        weights = functional.interpolate(pullback.tensor(np.where(out, 1.0, 0.0)), size, mode=mode, **corners)
        reach = np.zeros(weights.shape, bool)
        near = 4.0 if mode == "bicubic" else 2.0
        grids = np.meshgrid(
            *[(np.arange(n) + 0.5) * m / n for n, m in zip(size, shape[2:], strict=True)], indexing="ij"
        )
        place = np.argwhere(out)[0][2:]
        wide = [max(1.0, m / n) for n, m in zip(size, shape[2:], strict=True)]
        reach[0, 1] = np.all([abs(g - p - 0.5) <= near * w for g, p, w in zip(grids, place, wide, strict=True)], 0)
        touched = pullback.tensor(reach) | (weights != 0)
        return lambda x: pullback.where(touched, 0, functional.interpolate(x, size, mode=mode, **corners)), shape, out

    return row


def sampled(rng):
    """Pixels that no point is near, and points that are outside."""
    out = np.zeros((1, 2, 4, 4), bool)
    out[:, :, 3, 3] = True
    grid = rng.uniform(-0.9, -0.6, (1, 3, 2, 2))
    grid[0, 0, 0, 0] = rng.choice([5.0, -5.0])
    mode = str(rng.choice(["bilinear", "nearest", "bicubic"]))
    corners = bool(rng.random() < 0.5)
    return lambda x: functional.grid_sample(x, pullback.tensor(grid), mode, "zeros", corners), (1, 2, 4, 4), out


def points(rng):
    """Points that are not numbers lie outside of the image."""
    out = np.zeros((1, 3, 3, 2), bool)
    out[0, 1, :2] = True
    image = pullback.tensor(rng.standard_normal((1, 2, 4, 5)))
    mode = str(rng.choice(["bilinear", "nearest"]))

    def result(grid):
        return functional.grid_sample(image, grid + 1e6 * pullback.tensor(out), mode, "zeros", align_corners=False)

    return result, (1, 3, 3, 2), out


def images(rng):
    """The image's gradient does not depend on points outside."""
    bad = rng.choice(SPECIAL)
    grid = rng.uniform(-1, 1, (1, 3, 3, 2))
    grid[0, 1, 1] = bad, 0.2
    grid[0, 0, 1] = 0.1, bad
    mode = str(rng.choice(["bilinear", "nearest"]))
    there = np.isfinite(grid).all(-1) & (abs(grid) < 2).all(-1)

    def result(x):
        y = functional.grid_sample(x, pullback.tensor(grid), mode, "zeros", align_corners=bool(rng.random() < 0))
        return pullback.where(pullback.tensor(there[:, None]), y, y * 1)

    return result, (1, 2, 4, 5), np.zeros((1, 2, 4, 5), bool)


def lengths(kind):
    """Sequences that are packed: what is beyond their length takes no part."""

    def row(rng):
        out = np.zeros((5, 2, 3), bool)
        out[3:, 1] = True
        pullback.manual_seed(int(rng.integers(1000)))
        layer = getattr(pullback.nn, kind)(3, 2, bidirectional=bool(rng.random() < 0.5)).double().requires_grad_(False)

        def result(x):
            packed = pullback.nn.utils.rnn.pack_padded_sequence(x, [5, 3])
            return pullback.nn.utils.rnn.pad_packed_sequence(layer(packed)[0])[0]

        return result, (5, 2, 3), out

    return row


def segments(reduce):
    def row(rng):
        out = np.zeros((6, 2), bool)
        out[4:] = True
        index = pullback.tensor(np.array([0, 0, 1, 2]))
        base = pullback.zeros(3, 2).double()

        def result(x):
            source = x[:4]
            return base.index_reduce(0, index, source, reduce, include_self=False)

        return result, (6, 2), out

    return row


ROWS = {
    **{f"masked.{name}": masked_reduction(name) for name in (
        "sum prod mean amax amin var std norm logsumexp cumsum cumprod softmax log_softmax softmin normalize median".split())},
    "where": where, "masked_fill": filled, "masked_select": selected, "tril": triangle, "solve_triangular": solved,
    "ignore_index": ignored, "nll": other_classes,
    "padding_idx": padded_rows, **{f"embedding_bag {mode}": bags(mode) for mode in ("sum", "mean", "max")},
    **{f"scatter {reduce}": replaced(reduce) for reduce in (None, "sum", "prod", "mean", "amax", "amin")},
    **{f"index_reduce {reduce}": indexed(reduce) for reduce in ("prod", "mean", "amax", "amin")},
    "a write": written, "ctc": alignment,
    **{kind: windows(kind) for kind in ("avg_pool", "max_pool", "adaptive_avg_pool", "adaptive_max_pool")},
    "conv": correlated,
    **{f"interpolate {mode}": resized(mode) for mode in ("linear", "bilinear", "bicubic", "trilinear", "nearest", "area")},
    "grid_sample, pixels": sampled, "grid_sample, points": points, "grid_sample, images": images,
    **{kind: lengths(kind) for kind in ("RNN", "LSTM", "GRU")},
    **{f"segments {reduce}": segments(reduce) for reduce in ("mean", "amax", "prod")},
}  # fmt: skip


def check(rng):
    """One row, with special numbers at the places that are excluded."""
    name = list(ROWS)[rng.integers(len(ROWS))]
    function, shape, out = ROWS[name](rng)
    x = rng.standard_normal(shape)
    bad = np.where(out, rng.choice(SPECIAL, shape), x)
    weights = None

    def answers(x, transform):
        nonlocal weights

        def loss(x):
            nonlocal weights
            y = function(x)
            if weights is None:
                weights = pullback.tensor(rng.standard_normal(tuple(y.shape)))
            return (y * weights).sum()

        x = pullback.tensor(x, requires_grad=not transform)
        if transform:
            return function(x).detach().numpy(), func.grad(loss)(x).numpy()
        value = loss(x)
        return function(x).detach().numpy(), pullback.autograd.grad(value, x)[0].numpy()

    transform = bool(rng.random() < 0.3)
    right, found = answers(x, transform), answers(bad, transform)
    what = f"{name}, special numbers {bad[out][:4]}"
    np.testing.assert_allclose(found[0], right[0], rtol=1e-9, atol=1e-12, err_msg=f"value of {what}")
    np.testing.assert_allclose(found[1][~out], right[1][~out], rtol=1e-9, atol=1e-12, err_msg=f"gradient of {what}")
    assert not found[1][out].any(), f"gradient of what is excluded, {what}: {found[1][out]}"
    return found[0].size + found[1].size
