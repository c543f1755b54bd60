"""Writes after use: every operation with two operands, whose operands and results are written afterwards, compiled beside eager.

What an operation has taken is what its gradient is computed with, whatever is written to that memory later: values, results
and gradients must be those of the same program without compile.
"""

import functools
import itertools

import numpy as np

import pullback
from pullback import nn
from pullback.compile import Compiled

FEW = 6
F = nn.functional
NAMES = """add sub mul div true_divide matmul mm mv dot inner outer vdot ger kron cross tensordot bmm pow atan2 hypot maximum minimum
    fmax fmin fmod remainder floor_divide where lerp addcmul addcdiv addmm addmv addr baddbmm addbmm cdist dist cat stack hstack vstack dstack
    column_stack concat masked_fill logaddexp logaddexp2 copysign xlogy einsum bilinear clamp clip cov corrcoef prod cumprod
    cummax cumsum logcumsumexp var std norm sort topk kthvalue median gather index_select take
    float_power heaviside ldexp nextafter polar complex block_diag chain_matmul trapezoid
    cumulative_trapezoid diff conv1d conv2d conv_transpose1d roll flip tril triu diag diagonal trace rot90
    logsumexp softmax log_softmax sigmoid tanh exp sqrt abs square reciprocal""".split()
LOSSES = """mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss binary_cross_entropy_with_logits poisson_nll_loss
    cosine_similarity pairwise_distance softplus silu gelu elu celu selu mish logsigmoid softsign tanhshrink hardswish
    layer_norm normalize scaled_dot_product_attention linear prelu""".split()
SPELLED = {
    "where": lambda a, b: pullback.where(a > b, a, b),
    "lerp": lambda a, b: pullback.lerp(a, b, a * 0 + 0.3),
    "addcmul": lambda a, b: pullback.addcmul(a, b, a, value=2),
    "addcdiv": lambda a, b: pullback.addcdiv(a, b, a + 3),
    "addmm": lambda a, b: pullback.addmm(a, a, b),
    "addmv": lambda a, b: pullback.addmv(a[0], a, b[0]),
    "addr": lambda a, b: pullback.addr(a, b[0], a[1]),
    "baddbmm": lambda a, b: pullback.baddbmm(a[None], a[None], b[None]),
    "addbmm": lambda a, b: pullback.addbmm(a, a[None], b[None]),
    "bmm": lambda a, b: pullback.bmm(a[None], b[None]),
    "mv": lambda a, b: pullback.mv(a, b[0]),
    "dot": lambda a, b: pullback.dot(a[0], b[1]),
    "vdot": lambda a, b: pullback.vdot(a[0], b[1]),
    "ger": lambda a, b: pullback.ger(a[0], b[1]),
    "outer": lambda a, b: pullback.outer(a[0], b[1]),
    "cross": lambda a, b: pullback.linalg.cross(a, b),
    "tensordot": lambda a, b: pullback.tensordot(a, b, dims=1),
    "einsum": lambda a, b: pullback.einsum("ij,kj->ik", a, b),
    "bilinear": lambda a, b: F.bilinear(a, b, pullback.stack([a, b])),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, b.sum()),
    "chain_matmul": lambda a, b: pullback.linalg.multi_dot([a, b, a]),
    "linear": lambda a, b: F.linear(a, b, a[0]),
    "prelu": lambda a, b: F.prelu(a, b[0]),
    "layer_norm": lambda a, b: F.layer_norm(a, (3,), b[0], b[1]),
    "scaled_dot_product_attention": lambda a, b: F.scaled_dot_product_attention(a[None], b[None], a[None]),
    "binary_cross_entropy_with_logits": lambda a, b: F.binary_cross_entropy_with_logits(a, b.sigmoid(), b[0]),
    "kl_div": lambda a, b: F.kl_div(a, b.exp(), reduction="sum"),
    "conv1d": lambda a, b: F.conv1d(a[None], b[None, :, :2]),
    "conv2d": lambda a, b: F.conv2d(a[None, None], b[None, None, :2, :2]),
    "conv_transpose1d": lambda a, b: F.conv_transpose1d(a[None], b[:, None, :2]),
    "gather": lambda a, b: a.gather(1, pullback.tensor([[0, 2], [1, 1]])) + b[:2, :2],
    "index_select": lambda a, b: a.index_select(0, pullback.tensor([0, 2])) * b[:2],
    "take": lambda a, b: a.take(pullback.tensor([0, 5])) * b[0, :2],
    "pow": lambda a, b: pullback.pow(a.abs() + 1, b),
    "float_power": lambda a, b: pullback.pow(a.abs() + 1, b),
    "xlogy": lambda a, b: pullback.xlogy(a, b.abs() + 1),
    "clamp": lambda a, b: pullback.clamp(a, b - 1, b + 1),
    "clip": lambda a, b: pullback.clip(a, max=b),
    "block_diag": lambda a, b: pullback.block_diag(a, b),
    "diff": lambda a, b: pullback.diff(a, prepend=b),
    "trapezoid": lambda a, b: pullback.trapezoid(a, b),
    "cumulative_trapezoid": lambda a, b: pullback.cumulative_trapezoid(a, b),
    "cov": lambda a, b: pullback.cov(a, aweights=b[0].abs() + 1),
    "polar": lambda a, b: pullback.polar(a.abs(), b).real,
    "complex": lambda a, b: (pullback.complex(a, b) ** 2).real,
    "rnn": lambda a, b: cells()[0](a[None], b[None, :2, :2].contiguous())[0],
    "gru": lambda a, b: cells()[1](a[None])[0] * b[:, :2],
    "lstm": lambda a, b: cells()[2](a[None])[1][0] * b[0, :2],
    "gru_cell": lambda a, b: cells()[3](a, b[:, :2]),
    "solve": lambda a, b: pullback.linalg.solve(a + 9 * pullback.eye(3, dtype=a.dtype), b),
    "cholesky": lambda a, b: pullback.linalg.cholesky(a @ a.mT + 9 * pullback.eye(3, dtype=a.dtype)) * b,
    "inv": lambda a, b: pullback.linalg.inv(a + 9 * pullback.eye(3, dtype=a.dtype)) @ b,
    "embedding": lambda a, b: F.embedding(pullback.tensor([0, 1, 1]), a) * b,
    "pool": lambda a, b: F.max_pool1d(a[None], 2) * b[:, :1] + F.avg_pool1d(b[None], 2),
    "matrix_power": lambda a, b: pullback.linalg.matrix_power(a, 3) * b,
    "index_put": lambda a, b: a.index_put((pullback.tensor([0, 1]),), b[:2]),
    "scatter_add": lambda a, b: a.scatter_add(0, pullback.tensor([[0, 1, 2]]), b),
    "index_add": lambda a, b: a.index_add(0, pullback.tensor([0, 0]), b[:2]),
}
"""How operations are called that do not take two matrices."""


@functools.cache
def cells():
    """Recurrent layers whose parameters are always the same."""
    pullback.manual_seed(0)
    options = {"dtype": pullback.float64}
    return nn.RNN(3, 2, **options), nn.GRU(3, 2, **options), nn.LSTM(3, 2, **options), nn.GRUCell(3, 2, **options)


def called(name):
    """The function of two matrices."""
    if name in SPELLED:
        return SPELLED[name]
    function = getattr(pullback, name, None) or getattr(F, name)
    if name in {"cat", "stack", "hstack", "vstack", "dstack", "column_stack", "concat"}:
        return lambda a, b: function([a, b])
    return taking(name, function)


@functools.cache
def taking(name, function):
    """A function called with two matrices; one that takes one has its first result multiplied by the other."""
    a = pullback.ones(3, 3, dtype=pullback.float64) / 2

    def alone(a, b, *more):
        found = function(a, *more)
        return (found[0] if isinstance(found, tuple) else found) * b.mean()

    for way in (function, alone, lambda a, b: alone(a, b, 1)):
        try:
            way(a, a)
        except Exception:
            continue
        return way
    raise AssertionError(f"{name} takes no matrix")


WRITES = {
    "mul": lambda t: t.mul_(3), "part": lambda t: t[..., :1].add_(1) if t.ndim else t.add_(1), "zero": lambda t: t.zero_(),
    "row": lambda t: t.__setitem__(0, 5) if t.ndim else t.fill_(5), "copy": lambda t: t.copy_(t * 2 + 1),
    "view": lambda t: t.reshape(-1).sub_(2) if t.is_contiguous() else t.sub_(2), "data": lambda t: t.detach().mul_(2),
    "T": lambda t: t.T.mul_(2) if t.ndim == 2 else t.mul_(2),
}  # fmt: skip


def seen(t, way):
    """The operand as it is, or a view of it of the same shape."""
    return {"itself": t, "view": t.view(3, 3), "transposed": t.T, "part": t[:, :], "flat": t.reshape(9).reshape(3, 3)}[
        way
    ]


def program(name, first, second, ways, writes, targets):
    """A function of a matrix: what two operands give, which are then written; and the gradient."""
    operation = called(name)

    def function(x):
        with pullback.enable_grad():
            leaf = x.detach().clone().requires_grad_()
            a, b = leaf * 1, leaf * 1 + 0.25
            operands = [(a, b)[which] for which in (first, second)]
            result = operation(*[seen(t, way) for t, way in zip(operands, ways, strict=True)])
            results = [
                each for each in (result if isinstance(result, tuple) else (result,)) if each.is_floating_point()
            ]
            kept = results[0] * 1
            for write, target in zip(writes, targets, strict=True):
                WRITES[write]((a, b, results[0])[target])
            total = kept.sum() + sum((each * each).sum() for each in results)
            found = pullback.autograd.grad(total, leaf, allow_unused=True)[0] if total.requires_grad else None
        return [each.detach() for each in (*results, a, b)], found

    return function


def check(rng):
    names = [*NAMES, *LOSSES, *SPELLED]
    name = names[rng.integers(len(names))]
    first, second = rng.integers(2, size=2)
    ways = rng.choice(["itself", "itself", "view", "transposed", "part", "flat"], 2)
    count = int(rng.integers(1, 3))
    writes, targets = rng.choice(list(WRITES), count), rng.choice([0, 0, 1, 1, 2], count)
    function = program(name, first, second, ways, writes, targets)
    x = pullback.tensor(rng.uniform(0.2, 2, (3, 3)))
    told = f"{name} of {'ab'[first]} {ways[0]} and {'ab'[second]} {ways[1]}, then {writes} of {['ab2'[t] for t in targets]}"
    try:
        expected, error = function(x), None
    except Exception as raised:
        expected, error = None, raised
    compared = 0
    for fuse in (True, False):
        compiled = Compiled(function, fuse=fuse)
        for _ in range(2):
            try:
                got = compiled(x)
            except Exception as raised:
                assert error is not None, f"{told}, fuse={fuse}: {raised!r}"
                compared += 1
                continue
            assert error is None, f"{told}, fuse={fuse}: {error!r} is not raised"
            compared += same(got, expected, f"{told}, fuse={fuse}")
    return compared


def same(got, expected, told):
    pairs = itertools.chain(zip(got[0], expected[0], strict=True), [(got[1], expected[1])])
    compared = 0
    for number, (one, other) in enumerate(pairs):
        assert (one is None) == (other is None), f"{told}: result {number} is {one}"
        if one is not None:
            compared += 1
            close = np.allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12, equal_nan=True)
            assert one.shape == other.shape, f"{told}: result {number}, {one.shape} instead of {other.shape}"
            assert close, f"{told}: result {number} is {one.numpy()} instead of {other.numpy()}"
    return compared
