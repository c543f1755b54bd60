"""Operations with inputs of any size: of each what it does to tensors, and the shapes of these for about so many elements."""

from __future__ import annotations

import math

import numpy as np

import pullback
from pullback import fft, linalg
from pullback.nn import functional as of

FORMS = {"square": 0.5, "wide": 0.75, "tall": 0.25}
"""What share of the digits of a matrix's size its columns have."""


def matrix(size, form):
    columns = max(2, round(size ** FORMS[form]))
    return (max(2, -(-size // columns)), columns)


def vector(size, form):
    return (max(2, size),)


def batch(size, form):
    rows, columns = matrix(-(-size // 3), form)
    return (3, rows, columns)


def image(size, form):
    height, width = matrix(-(-size // 6), form)
    return (2, 3, max(4, height), max(4, width))


def many_channels(size, form):
    channels = {"square": 8, "wide": 4, "tall": 32}[form]
    side = max(4, math.isqrt(size // (2 * channels)))
    return (2, channels, side, side)


def signal(size, form):
    return (2, 4, max(8, size // 8))


def square(size, form):
    side = max(2, math.isqrt(size))
    return (side, side)


def squares(size, form):
    side = {"square": 4, "wide": 9, "tall": 2}[form]
    return (max(1, size // side**2), side, side)


def heads(size, form):
    width = 8 if form == "tall" else 4
    length = max(3, math.isqrt(size // 4))
    return (2, 2, length, width)


def like(draw, x, *shape):
    return pullback.from_numpy(draw.standard_normal(shape)).to(x.dtype)


def whole(draw, high, *shape):
    return pullback.from_numpy(draw.integers(0, high, shape))


def positive(function):
    return lambda draw, x, *rest: function(draw, x * x + 0.5, *rest)


def definite(function):
    """Of symmetric matrices whose eigenvalues are apart and not near zero."""

    def of_matrices(draw, x):
        size = x.shape[-1]
        steps = pullback.diag(pullback.arange(1.0, size + 1).to(x.dtype))
        return function(draw, (x @ x.mT) / size + steps)

    return of_matrices


def regular(function):
    """Of matrices that are far from singular."""

    def of_matrices(draw, x):
        size = x.shape[-1]
        return function(draw, x / math.sqrt(size) + 3 * pullback.eye(size).to(x.dtype))

    return of_matrices


def elementwise(name):
    return lambda draw, x: getattr(pullback, name)(x)


ELEMENTWISE = """exp sin cos tanh sigmoid erf abs square sign relu floor expm1 sinh asinh atan erfc exp2 sinc
    nan_to_num deg2rad trunc neg""".split()
POSITIVE = "reciprocal log sqrt rsqrt log1p lgamma digamma log2 log10".split()
PAIRS = "add sub mul div maximum minimum atan2 hypot logaddexp copysign fmax".split()
ACTIVATIONS = """gelu silu softplus elu selu celu leaky_relu hardtanh relu6 hardsigmoid hardswish logsigmoid mish
    softsign tanhshrink softshrink hardshrink threshold glu softmax log_softmax softmin normalize""".split()
REDUCTIONS = (
    "sum mean prod var std amax amin logsumexp norm nansum cumsum cumprod logcumsumexp cummax sort argsort flip"
)

OPERATIONS = {name: (elementwise(name), [matrix]) for name in ELEMENTWISE}
OPERATIONS |= {name: (positive(elementwise(name)), [matrix]) for name in POSITIVE}
for name in PAIRS:
    OPERATIONS[name] = (lambda draw, x, y, name=name: getattr(pullback, name)(x, y), [matrix, matrix])
    OPERATIONS[f"{name} of a row"] = (lambda draw, x, y, name=name: getattr(pullback, name)(x, y[0]), [matrix, matrix])
    OPERATIONS[f"{name} of a column"] = (
        lambda draw, x, y, name=name: getattr(pullback, name)(x, y[:, :1]),
        [matrix, matrix],
    )


def activation(name):
    extra = {"threshold": (0.1, 0.2), "softmax": (-1,), "log_softmax": (-1,), "softmin": (-1,)}.get(name, ())
    even = name == "glu"
    return lambda draw, x: getattr(of, name)(x[:, : x.shape[1] // 2 * 2] if even else x, *extra)


OPERATIONS["fmod"] = (lambda draw, x, y: pullback.fmod(x * 3, y * y + 0.5), [matrix, matrix])


OPERATIONS |= {name: (activation(name), [matrix]) for name in ACTIVATIONS}
for name in "softmax log_softmax".split():
    OPERATIONS[f"{name} of columns"] = (lambda draw, x, name=name: getattr(of, name)(x, 0), [matrix])
    OPERATIONS[f"{name} of channels"] = (lambda draw, x, name=name: getattr(of, name)(x, 1), [image])
for name in "sum mean prod amax amin logsumexp cumsum cumprod logcumsumexp cummax cummin nansum median".split():
    for axis in (0, 1, -1):
        OPERATIONS[f"{name} {axis}"] = (
            lambda draw, x, name=name, axis=axis: getattr(pullback, name)(x, axis),
            [image if axis == 1 else matrix],
        )
for name in "var std".split():
    OPERATIONS[name] = (lambda draw, x, name=name: getattr(pullback, name)(x, 1), [matrix])
OPERATIONS |= {
    "sum": (lambda draw, x: x.sum(), [matrix]),
    "sum of images": (lambda draw, x: x.sum((0, 2, 3)), [image]),
    "sum of outer axes": (lambda draw, x: x.sum((0, 2)), [batch]),
    "mean": (lambda draw, x: x.mean(), [matrix]),
    "norm": (lambda draw, x: x.norm(), [matrix]),
    "norm of rows": (lambda draw, x: linalg.vector_norm(x, 3, 1), [matrix]),
    "vdot": (lambda draw, x, y: x @ y, [vector, vector]),
    "max": (lambda draw, x: x.max(), [matrix]),
    "max of rows": (lambda draw, x: x.max(1), [matrix]),
    "sort": (lambda draw, x: x.sort(-1)[0], [matrix]),
    "sort of columns": (lambda draw, x: x.sort(0)[0], [matrix]),
    "topk": (lambda draw, x: x.topk(2, 1)[0], [matrix]),
    "kthvalue": (lambda draw, x: x.kthvalue(2, 1)[0], [matrix]),
    "quantile": (lambda draw, x: pullback.quantile(x, 0.3, 1), [matrix]),
    "renorm": (lambda draw, x: x.renorm(2, 0, 0.5), [matrix]),
    "cdist": (lambda draw, x, y: pullback.cdist(x, y + 2), [square, square]),
    "diff": (lambda draw, x: x.diff(dim=0), [matrix]),
    "cross": (lambda draw, x, y: linalg.cross(x[:, :3], y[:, :3]), [lambda n, f: (-(-n // 3), 3)] * 2),
}
# losses
OPERATIONS |= {
    f"cross_entropy {reduction}": (
        lambda draw, x, reduction=reduction: of.cross_entropy(x, whole(draw, x.shape[1], len(x)), reduction=reduction),
        [matrix],
    )
    for reduction in ("mean", "sum", "none")
}
OPERATIONS |= {
    "cross_entropy of images": (
        lambda draw, x: of.cross_entropy(x, whole(draw, x.shape[1], len(x), *x.shape[2:])),
        [image],
    ),
    "cross_entropy weighed": (
        lambda draw, x: of.cross_entropy(
            x, whole(draw, x.shape[1], len(x)), like(draw, x, x.shape[1]) ** 2, label_smoothing=0.1
        ),
        [matrix],
    ),
    "cross_entropy ignoring": (
        lambda draw, x: of.cross_entropy(x, whole(draw, x.shape[1], len(x)), ignore_index=1),
        [matrix],
    ),
    "cross_entropy of shares": (lambda draw, x, y: of.cross_entropy(x, y.softmax(1)), [matrix, matrix]),
    "nll_loss": (lambda draw, x: of.nll_loss(x, whole(draw, x.shape[1], len(x))), [matrix]),
    "mse_loss": (lambda draw, x, y: of.mse_loss(x, y), [matrix, matrix]),
    "l1_loss": (lambda draw, x, y: of.l1_loss(x, y), [matrix, matrix]),
    "smooth_l1_loss": (lambda draw, x, y: of.smooth_l1_loss(x, y), [matrix, matrix]),
    "huber_loss": (lambda draw, x, y: of.huber_loss(x, y), [matrix, matrix]),
    "kl_div": (lambda draw, x, y: of.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), [matrix, matrix]),
    "bce": (lambda draw, x, y: of.binary_cross_entropy(x.sigmoid(), y.sigmoid()), [matrix, matrix]),
    "bce with logits": (lambda draw, x, y: of.binary_cross_entropy_with_logits(x, y.sigmoid()), [matrix, matrix]),
    "multi_margin_loss": (lambda draw, x: of.multi_margin_loss(x, whole(draw, x.shape[1], len(x))), [matrix]),
    "multilabel_margin_loss": (
        lambda draw, x: of.multilabel_margin_loss(x, whole(draw, x.shape[1], *x.shape)),
        [matrix],
    ),
    "cosine_similarity": (lambda draw, x, y: of.cosine_similarity(x, y), [matrix, matrix]),
    "triplet_margin_loss": (lambda draw, x, y: of.triplet_margin_loss(x, y, x * y + 1), [matrix, matrix]),
    "ctc_loss": (
        lambda draw, x: of.ctc_loss(
            x.log_softmax(-1),
            whole(draw, x.shape[2] - 1, x.shape[1], 2) + 1,
            [x.shape[0]] * x.shape[1],
            [2] * x.shape[1],
        ),
        [lambda n, f: (max(6, n // 12), 3, 4)],
    ),
}
# normalisations
OPERATIONS |= {
    "layer_norm": (lambda draw, x: of.layer_norm(x, x.shape[-1:]), [matrix]),
    "layer_norm affine": (
        lambda draw, x: of.layer_norm(x, x.shape[-1:], like(draw, x, x.shape[-1]), like(draw, x, x.shape[-1])),
        [matrix],
    ),
    "layer_norm of weights": (lambda draw, x, w: of.layer_norm(x, x.shape[1:], w[0], w[1]), [batch, batch]),
    "layer_norm of two axes": (lambda draw, x: of.layer_norm(x, x.shape[-2:]), [batch]),
    "rms_norm": (lambda draw, x: of.rms_norm(x, x.shape[-1:]), [matrix]),
    "batch_norm": (lambda draw, x: of.batch_norm(x, None, None, training=True), [image]),
    "batch_norm of rows": (lambda draw, x: of.batch_norm(x, None, None, training=True), [matrix]),
    "batch_norm affine": (
        lambda draw, x: of.batch_norm(
            x, None, None, like(draw, x, x.shape[1]), like(draw, x, x.shape[1]), training=True
        ),
        [many_channels],
    ),
    "group_norm": (lambda draw, x: of.group_norm(x, 2, like(draw, x, x.shape[1])), [many_channels]),
    "instance_norm": (lambda draw, x: of.instance_norm(x), [image]),
    "local_response_norm": (lambda draw, x: of.local_response_norm(x, 3), [many_channels]),
}
# windows
OPERATIONS |= {
    "max_pool2d": (lambda draw, x: of.max_pool2d(x, 2), [image]),
    "max_pool2d overlapping": (lambda draw, x: of.max_pool2d(x, 3, 1, 1), [image]),
    "max_pool1d": (lambda draw, x: of.max_pool1d(x, 3, 2), [signal]),
    "avg_pool2d": (lambda draw, x: of.avg_pool2d(x, 2), [image]),
    "avg_pool2d overlapping": (lambda draw, x: of.avg_pool2d(x, 3, 1, 1), [image]),
    "lp_pool2d": (positive(lambda draw, x: of.lp_pool2d(x, 2, 2)), [image]),
    "adaptive_avg_pool2d": (lambda draw, x: of.adaptive_avg_pool2d(x, 3), [image]),
    "adaptive_max_pool2d": (lambda draw, x: of.adaptive_max_pool2d(x, 3), [image]),
    "fractional_max_pool2d": (
        lambda draw, x: of.fractional_max_pool2d(
            x, 2, output_size=2, _random_samples=pullback.full((*x.shape[:2], 2), 0.3).to(x.dtype)
        ),
        [image],
    ),
    "max_unpool2d": (
        lambda draw, x: of.max_unpool2d(*of.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape[2:]),
        [image],
    ),
    "conv1d": (lambda draw, x: of.conv1d(x, like(draw, x, 3, 4, 3), padding=1), [signal]),
    "conv1d of weights": (lambda draw, x, w: of.conv1d(x, w[0, :, :3][None]), [signal, signal]),
    "conv2d": (lambda draw, x: of.conv2d(x, like(draw, x, 5, 3, 3, 3), padding=1), [image]),
    "conv2d of weights": (
        lambda draw, x, w: of.conv2d(x, w[:, :, :3, :3], w[:, 0, 0, 0], stride=2),
        [many_channels, many_channels],
    ),
    "conv2d pointwise": (lambda draw, x: of.conv2d(x, like(draw, x, 6, x.shape[1], 1, 1)), [many_channels]),
    "conv2d in groups": (
        lambda draw, x: of.conv2d(x, like(draw, x, x.shape[1], x.shape[1] // 2, 3, 3), groups=2, dilation=1),
        [many_channels],
    ),
    "conv2d depthwise": (
        lambda draw, x: of.conv2d(x, like(draw, x, x.shape[1], 1, 3, 3), padding=1, groups=x.shape[1]),
        [many_channels],
    ),
    "conv_transpose2d": (lambda draw, x: of.conv_transpose2d(x, like(draw, x, 3, 2, 2, 2), stride=2), [image]),
    "conv3d": (lambda draw, x: of.conv3d(x[:, :, None], like(draw, x, 2, 3, 1, 2, 2)), [image]),
    "unfold": (lambda draw, x: of.unfold(x, 2), [image]),
    "fold": (lambda draw, x: of.fold(of.unfold(x, 2), x.shape[2:], 2), [image]),
    "windows": (lambda draw, x: x.unfold(1, 2, 1), [matrix]),
    "interpolate": (lambda draw, x: of.interpolate(x, scale_factor=2, mode="bilinear"), [image]),
    "interpolate nearest": (lambda draw, x: of.interpolate(x, scale_factor=1.5), [image]),
    "interpolate bicubic": (lambda draw, x: of.interpolate(x, size=(5, 7), mode="bicubic"), [image]),
    "grid_sample": (
        lambda draw, x: of.grid_sample(x, like(draw, x, len(x), 4, 5, 2).tanh(), align_corners=True),
        [image],
    ),
    "pixel_shuffle": (lambda draw, x: of.pixel_shuffle(x, 2), [many_channels]),
    "pad": (lambda draw, x: of.pad(x, (1, 2, 0, 1)), [image]),
    "pad reflected": (lambda draw, x: of.pad(x, (1, 2, 0, 1), "reflect"), [image]),
    "pad circular": (lambda draw, x: of.pad(x, (1, 2, 0, 1), "circular"), [image]),
}
# attention, recurrent layers, embeddings
OPERATIONS |= {
    "attention": (lambda draw, q, k, v: of.scaled_dot_product_attention(q, k, v), [heads] * 3),
    "attention causal": (lambda draw, q, k, v: of.scaled_dot_product_attention(q, k, v, is_causal=True), [heads] * 3),
    "attention masked": (
        lambda draw, q, k, v: of.scaled_dot_product_attention(q, k, v, like(draw, q, q.shape[-2], k.shape[-2])),
        [heads] * 3,
    ),
    "attention of one": (
        lambda draw, q, k, v: of.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0]),
        [heads] * 3,
    ),
    "embedding": (lambda draw, w: of.embedding(whole(draw, len(w), 3, 7), w), [matrix]),
    "embedding of many": (
        lambda draw, w: of.embedding(whole(draw, min(4, len(w)), w.numel() // 8 + 1), w[:4]),
        [matrix],
    ),
    "embedding_bag": (lambda draw, w: of.embedding_bag(whole(draw, len(w), 5, 3), w, mode="mean"), [matrix]),
}


def recurrent(kind):
    def layer(draw, x):
        pullback.manual_seed(0)
        made = getattr(pullback.nn, kind)(4, 8).to(x.dtype)
        return made(x)[0]

    return layer


OPERATIONS |= {kind: (recurrent(kind), [lambda n, f: (max(2, n // 12), 3, 4)]) for kind in ("RNN", "LSTM", "GRU")}
# products and decompositions
OPERATIONS |= {
    "matmul": (lambda draw, x, y: x @ y.mT, [matrix, matrix]),
    "matmul of batches": (lambda draw, x, y: x @ y.mT, [batch, batch]),
    "matmul of a batch": (lambda draw, x, y: x @ y[0].mT, [batch, batch]),
    "matmul of a vector": (lambda draw, x, y: x @ y[0], [matrix, matrix]),
    "linear": (lambda draw, x, w: of.linear(x, w[:5], w[:5, 0]), [matrix, matrix]),
    "linear of batches": (lambda draw, x, w: of.linear(x, w[0, :2]), [batch, batch]),
    "bilinear": (lambda draw, x, y: of.bilinear(x[:, :2], y[:, :2], like(draw, x, 3, 2, 2)), [matrix, matrix]),
    "einsum": (lambda draw, x, y: pullback.einsum("bij,bkj->bik", x, y), [batch, batch]),
    "outer": (lambda draw, x, y: pullback.outer(x[:50], y), [vector, vector]),
    "kron": (lambda draw, x, y: pullback.kron(x, y[:2, :2]), [matrix, matrix]),
    "addmm": (lambda draw, x, y: pullback.addmm(y[0, 0], x, y.mT), [matrix, matrix]),
    "addr": (lambda draw, x: pullback.addr(x, x[:, 0], x[0]), [matrix]),
    "tensordot": (lambda draw, x, y: pullback.tensordot(x, y, ([0, 2], [0, 2])), [batch, batch]),
    "inv": (regular(lambda draw, x: linalg.inv(x)), [squares]),
    "det": (regular(lambda draw, x: linalg.det(x / 3)), [squares]),
    "slogdet": (regular(lambda draw, x: linalg.slogdet(x)), [squares]),
    "solve": (regular(lambda draw, x: linalg.solve(x, x[..., :2] * 2)), [squares]),
    "solve_triangular": (regular(lambda draw, x: linalg.solve_triangular(x.triu(), x[..., :2], upper=True)), [squares]),
    "lu_factor": (regular(lambda draw, x: linalg.lu_factor(x)[0]), [squares]),
    "qr": (regular(lambda draw, x: linalg.qr(x)), [squares]),
    "cholesky": (definite(lambda draw, x: linalg.cholesky(x)), [squares]),
    "eigvalsh": (definite(lambda draw, x: linalg.eigvalsh(x)), [squares]),
    "svdvals": (definite(lambda draw, x: linalg.svdvals(x)), [squares]),
    "pinv": (regular(lambda draw, x: linalg.pinv(x)), [squares]),
    "matrix_exp": (regular(lambda draw, x: linalg.matrix_exp(x / 5)), [squares]),
    "one inv": (regular(lambda draw, x: linalg.inv(x)), [lambda n, f: square(min(n, 20000), f)]),
    "one solve": (regular(lambda draw, x: linalg.solve(x, x[:, 0])), [lambda n, f: square(min(n, 20000), f)]),
    "one cholesky": (definite(lambda draw, x: linalg.cholesky(x)), [lambda n, f: square(min(n, 20000), f)]),
    "one lu": (regular(lambda draw, x: linalg.lu_factor(x)[0]), [lambda n, f: square(min(n, 20000), f)]),
    "one triangular": (
        regular(lambda draw, x: linalg.solve_triangular(x.tril(), x, upper=False)),
        [lambda n, f: square(min(n, 40000), f)],
    ),
}
# shapes, indices and scatters
OPERATIONS |= {
    "transpose": (lambda draw, x: x.mT * 2, [matrix]),
    "reshape": (lambda draw, x: x.reshape(-1), [matrix]),
    "ravel of a transpose": (lambda draw, x: x.mT.reshape(-1) * 2, [matrix]),
    "cat": (lambda draw, x, y: pullback.cat([x, y, x], 1), [matrix, matrix]),
    "cat of rows": (lambda draw, x, y: pullback.cat([x, y]), [matrix, matrix]),
    "stack": (lambda draw, x, y: pullback.stack([x, y], 1), [matrix, matrix]),
    "slices": (lambda draw, x: x[1:, ::2] * 3, [matrix]),
    "one slice": (lambda draw, x: x[:, 1:], [matrix]),
    "roll": (lambda draw, x: x.roll(1, 1), [matrix]),
    "repeat": (lambda draw, x: x.repeat(2, 1, 3), [batch]),
    "repeat_interleave": (lambda draw, x: x.repeat_interleave(2, 1), [matrix]),
    "tile": (lambda draw, x: x.tile(2, 2), [matrix]),
    "rot90": (lambda draw, x: x.rot90(), [matrix]),
    "triu": (lambda draw, x: x.triu(), [matrix]),
    "tril of batches": (lambda draw, x: x.tril(1), [batch]),
    "diagonal": (lambda draw, x: x.diagonal(0, 1, 2), [batch]),
    "diag_embed": (lambda draw, x: x[:7].diag_embed(), [matrix]),
    "as_strided": (lambda draw, x: (x * 1).contiguous().as_strided((2, 2), (1, 1), 1), [matrix]),
    "index": (lambda draw, x: x[whole(draw, len(x), 2 * len(x))], [matrix]),
    "index of columns": (lambda draw, x: x[:, whole(draw, x.shape[1], 5)], [matrix]),
    "index of pairs": (lambda draw, x: x[whole(draw, len(x), 300), whole(draw, x.shape[1], 300)], [matrix]),
    "mask": (lambda draw, x: x[pullback.from_numpy(draw.random(tuple(x.shape)) < 0.5)], [matrix]),
    "where": (
        lambda draw, x, y: pullback.where(pullback.from_numpy(draw.random(tuple(x.shape)) < 0.5), x, y),
        [matrix] * 2,
    ),
    "masked_fill": (lambda draw, x: x.masked_fill(pullback.from_numpy(draw.random(x.shape[1]) < 0.5), 2.0), [matrix]),
    "gather": (lambda draw, x: x.gather(1, whole(draw, x.shape[1], len(x), 3)), [matrix]),
    "gather of rows": (lambda draw, x: x.gather(0, whole(draw, len(x), *x.shape)), [matrix]),
    "take": (lambda draw, x: x.take(whole(draw, x.numel(), 50)), [matrix]),
    "index_select": (lambda draw, x: x.index_select(1, whole(draw, x.shape[1], 9)), [matrix]),
    "index_add": (lambda draw, x, y: x.index_add(0, whole(draw, len(x), len(y)), y), [matrix, matrix]),
    "index_add of columns": (
        lambda draw, x, y: x.index_add(1, whole(draw, x.shape[1], y.shape[1]), y),
        [matrix, matrix],
    ),
    "index_put": (lambda draw, x, y: x.index_put((whole(draw, len(x), len(y)),), y, accumulate=True), [matrix, matrix]),
    "index_copy": (lambda draw, x, y: x.index_copy(0, pullback.arange(len(y)), y), [matrix, matrix]),
    "index_reduce": (lambda draw, x, y: x.index_reduce(0, whole(draw, len(x), len(y)), y, "prod"), [matrix, matrix]),
    "scatter": (
        lambda draw, x, y: x.scatter(1, pullback.arange(x.shape[1]).flip(0).expand(*x.shape), y),
        [matrix, matrix],
    ),
    "scatter_add": (lambda draw, x, y: x.scatter_add(0, whole(draw, len(x), *x.shape), y), [matrix, matrix]),
    "scatter_add of columns": (
        lambda draw, x, y: x.scatter_add(1, whole(draw, x.shape[1], *x.shape), y),
        [matrix, matrix],
    ),
    "scatter_reduce": (
        lambda draw, x, y: x.scatter_reduce(0, whole(draw, len(x), *x.shape), y, "amax"),
        [matrix, matrix],
    ),
    "put": (lambda draw, x: x.put(whole(draw, x.numel(), 30), like(draw, x, 30), accumulate=True), [matrix]),
    "take_along_dim": (lambda draw, x: pullback.take_along_dim(x, x.argsort(1), 1), [matrix]),
    "select_scatter": (lambda draw, x, y: x.select_scatter(y[:, 0], 1, 1), [matrix, matrix]),
    "diagonal_scatter": (lambda draw, x, y: x.diagonal_scatter(y[0], 0), [square, square]),
    "unbind": (lambda draw, x: x.unbind(2), [lambda n, f: (3, max(2, n // 12), 4)]),
    "split": (lambda draw, x: x.split(2, 1)[:2], [matrix]),
    "movedim": (lambda draw, x: x.movedim(0, 2).reshape(-1, 3) * 2, [batch]),
    "fft": (lambda draw, x: fft.fft(x).abs(), [matrix]),
    "rfft2": (lambda draw, x: fft.rfft2(x).real, [matrix]),
    "irfft": (lambda draw, x: fft.irfft(pullback.complex(x, x * 2)), [matrix]),
    "complex product": (lambda draw, x, y: (pullback.complex(x, y) * pullback.complex(y, x)).abs(), [matrix, matrix]),
    "view_as_real": (lambda draw, x: pullback.view_as_real(pullback.complex(x, x * 3)), [matrix]),
    "polygamma": (positive(lambda draw, x: pullback.polygamma(1, x)), [matrix]),
    "lerp": (lambda draw, x, y: pullback.lerp(x, y, 0.3), [matrix, matrix]),
    "addcmul": (lambda draw, x, y: pullback.addcmul(x, x, y), [matrix, matrix]),
    "addcdiv": (positive(lambda draw, x, y: pullback.addcdiv(y, y, x)), [matrix, matrix]),
    "clamp": (lambda draw, x: x.clamp(-0.5, 0.7), [matrix]),
    "pow": (positive(lambda draw, x, y: x**y), [matrix, matrix]),
    "prelu": (lambda draw, x: of.prelu(x, like(draw, x, x.shape[1])), [image]),
    "cov": (lambda draw, x: x[:9].cov(), [matrix]),
    "trapezoid": (lambda draw, x: pullback.trapezoid(x), [matrix]),
    "copy into a slice": (lambda draw, x, y: _copied(x, y), [matrix, matrix]),
    "add in place": (lambda draw, x, y: (x * 1).add_(y).mul_(y), [matrix, matrix]),
    "write into a transpose": (lambda draw, x, y: _written(x, y), [matrix, matrix]),
}


def _copied(x, y):
    made = x * 1
    made[1:, ::2] = y[1:, ::2]
    return made


def _written(x, y):
    made = x * 1
    made.t().mul_(y.t())
    made.mT[1:] += 1
    return made * y


def arguments(name, size, form, dtype=np.float64):
    """The arrays of an operation: numbers that are apart, so that no order or sign changes by a small step."""
    rng = np.random.default_rng(3)
    found = []
    for place, shape in enumerate(OPERATIONS[name][1]):
        full = shape(size, form)
        count = math.prod(full)
        steps = rng.permutation((np.arange(count) - count / 2 + 0.3 + place / 7) * (3.7 / count))
        found.append(steps.reshape(full).astype(dtype))
    return found


def called(name):
    """The function of an operation, which draws the same indices and weights at every call."""
    return lambda *tensors: OPERATIONS[name][0](np.random.default_rng(4), *tensors)
