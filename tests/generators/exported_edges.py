"""Exported functions at the edges: loops, branches and writes in place, numbers that are none, small integers that go round,
shifts, empty arrays, numbers by themselves, arguments that do not lie together, sparse entries, and names of C.

Each file has three functions with one state. They are called with what was recorded, and with other numbers of the same shapes;
the recorded test of the file runs under sanitizers.
"""

import math
import tempfile
import warnings
from pathlib import Path

import numpy as np

import pullback

from . import exported_files

FEW = 2
NAMES = [
    "double",
    "restrict",
    "register",
    "int",
    "exp",
    "main",
    "NULL",
    "int8_t",
    "work",
    "i0",
    "signed",
    "errno",
    "far",
    "near",
]
"""Names of functions and of arguments that C, its library or the file has as well."""
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-310, 1e300, -2.5]

REALS = [
    *("x = pullback.scan(lambda c, r: (c.tanh() + r, c * r), x[0], x)[1]", "s = pullback.scan(lambda c, r: (c * 0.5 + r.sum(), r), s, x)[0]"),
    *("x = pullback.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 0.5 + i), (m * 0, x))[1]",),
    *("s = pullback.while_loop(lambda i, y: (i < 9) & (y.abs() < 4), lambda i, y: (i + 1, y * 2 + 0.1), (m * 0, s))[1]",),
    *("x = pullback.cond(s > 0, lambda x: x.sin(), lambda x: x * 0.5, (x,))", "s = pullback.cond(m > 2, lambda s: s * 2, lambda s: s - 1, (s,))"),
    *("x = x.clone(); x[1] = x[0] * 2", "x = x.clone(); x[:, 1:3] += s", "x = x.clone(); x[::2, ::-1] = x[::2]", "x = x.clone(); x[k % 3, k[:1] % 4] = s"),
    *("x = x.clone(); x[x > 0.5] = 0.25", "x = x.clone(); x.T[1:] *= 2", "x = x.clone(); x.fill_diagonal_(3)"),
    *("x = pullback.where(z[:4] > z[2:], x, s)", "z = z.maximum(z.flip(0))", "z = z.clamp(-1, 2)", "z = pullback.where(z != z, 0.5, z)", "z = z.sort().values"),
    *("z = (z < z.flip(0)).to(z.dtype) + (z == z) * 2", "s = z.nan_to_num(1, 2, 3).sum()", "z = z.fmax(z.roll(1))", "z = z.sign() + z.isfinite()", "z = z.heaviside(z)"),
    *("s = s + e.sum() + e.prod()", "x = x + e.sum(0)[0]", "e = e * 2 + s", "x = pullback.cat([x, pullback.zeros(0, 4, dtype=x.dtype)])", "s = s + e.mean(1).sum()"),
    *("s = x.amax() - s", "x = x * s", "s = x[m % 3, 1].clone()", "s = s.exp().clamp(max=5)", "x = x - s.reshape(1, 1)", "s = x.mean() * s.sin()", "x = x.T.contiguous().T + x"),
    *("s = pullback.func.grad(lambda t: (t * x).tanh().sum())(s)", "x = pullback.func.vmap(lambda r: r * r.sum())(x)", "x = pullback.func.jacrev(lambda r: (r * x[:, :3].sum(0)).sin())(x[0, :3])[:, [0, 1, 2, 0]]"),
    *("z = z.cummax(0).values", "z = z.floor() + z.round() - z.trunc()", "z = z.hypot(z)", "z = z.copysign(-z)", "x = x.logcumsumexp(1)", "z = z.minimum(s)", "z = z.argsort().to(z.dtype)"),
    *("x = x.renorm(2, 0, 1)", "x = x.triu() + x.tril(-1) * 2", "s = x.norm() + s", "x = x.unfold(1, 2, 2).reshape(3, 4)", "x = x.remainder(0.7) - x.fmod(-0.3)", "s = (s * 1e3).round().div(7)"),
    *("x = x.index_fill(1, k[:2] % 4, 0.5)", "x = x.masked_fill(x.abs() < 0.4, 2)", "s = x.median() + s", "x = x.softmax(0).log()", "s = pullback.trapezoid(x.sum(0))", "x = x.scatter(1, (k[:3, None] % 4), 1.5)"),
    *("z = z.isnan().to(z.dtype) - z.isinf().to(z.dtype)", "x = pullback.einsum('ij,kj->ik', x, x) @ x", "s = x.argmax().to(s.dtype) + s", "x = x.topk(4, 1).values", "s = x.std() * 0.5"),
]  # fmt: skip
WHOLE = [
    *("u = u + 250", "u = u * u + 7", "u = u - 9", "u = ~u ^ 5", "u = u << 3", "u = u >> 1", "u = -u", "u = u // 3", "u = u % 7", "u = u.cumsum(0).to(u.dtype)", "u = u.flip(0) | 1"),
    *("k = k // d", "k = k % d", "k = k << 3", "k = k >> 2", "k = (-k.abs()) >> 1", "k = k.fmod(d)", "k = pullback.div(k, d, rounding_mode='trunc')", "k = k * k.flip(0) - d"),
    *("j = j * 65537 + 3", "j = j << 5", "j = j >> 3", "j = j // d", "j = j % d", "j = -j - j.flip(0)", "j = j.abs() - 7", "j = j & k.to(j.dtype)", "j = (j ** 2) % 1000"),
    *("k = u.to(k.dtype) - k", "k = j.to(k.dtype) * 3", "j = k.to(j.dtype)", "u = k.to(u.dtype)", "k = k.sort(descending=True).values", "k = k.cumprod(0)", "k = pullback.gcd(k, j)"),
    *("q = (u + q).to(q.dtype)", "q = q * 5 - 100", "q = q // -3", "q = q % -5", "q = q << 2", "q = q.abs()", "q = q.to(pullback.int16).to(q.dtype)", "q = -q", "q = q >> 1"),
    *("k = k.clone(); k[k > 3] = -1", "k = k.clone(); k[::2] += 4", "k = k.clone(); k[m % 5] = 9", "u = u.clone(); u[1:] -= u[:-1]", "j = j.clone(); j[k % 5] = 2", "m = m + (k > j).sum()"),
    *("m = pullback.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 3 % 17 - 5), (m * 0, m))[1]", "k = pullback.cond(m > 3, lambda k: k - 1, lambda k: -k, (k,))", "m = m % 11 - 3"),
    *("k = pullback.scan(lambda c, r: (c + r, c - r), m, k)[1]", "u = u.amax() - u", "k = k.bitwise_left_shift(j.abs() % 5)", "k = (x[0, 0] * 1e3).long() + k", "j = j.sum().to(j.dtype) - j"),
    *("k = (k > j).long() - (u == 3).long()", "k = k.diff(prepend=m.reshape(1))", "k = k.minimum(j.long()).maximum(-k)", "k = k.unfold(0, 3, 1).sum(1)[[0, 1, 2, 0, 1]]"),
    *("k = k.floor_divide(k.abs() + 1)", "j = j.remainder(-(j * j % 9 + 1))", "u = u.bitwise_not() & 60", "q = q.sign() * 3", "u = (x[0, 0].abs() * 100).to(u.dtype) + u", "j = j.to(pullback.int8).to(j.dtype)"),
]  # fmt: skip
WRITES = ["w.mul_(0.5)", "w[1:].add_(s)", "w[m % 3] = 1.5", "w[[0, 2]] = w[[2, 0]]", "n.add_(k.sum() % 7)", "n.bitwise_xor_(5)", "v.add_(200)", "v[1:] -= v[:-1]"]  # fmt: skip
GIVEN = "xszekjuqm"
RESULTS = (
    "x; s; z; e; k; j; u; q; m; w * 2; n + 1; v; pullback.sparse_hessian(lambda r: (r[1:] * r[:-1] ** 2).sum(), x[0])"
)


def text_of(rng, names):
    """A random function, whose arguments have names of C."""
    lines = [f"{letter} = {name}" for letter, name in zip(GIVEN, names, strict=True)]
    lines.append(f"d = {rng.choice([1, 2, 3, -2, -7])}")
    for _ in range(rng.integers(3, 9)):
        lines += str(rng.choice(REALS if rng.random() < 0.5 else WHOLE)).split("; ")
        if rng.random() < 0.3:
            lines.append(str(rng.choice(WRITES)))
    kept = [each for each in RESULTS.split("; ") if rng.random() < 0.7] or ["x"]
    return "\n    ".join([*lines, f"return {', '.join(kept)},"])


def drawn(rng):
    """Arguments: reals, a number, numbers that are none, an empty array, and whole numbers of several sizes."""
    special = np.where(rng.random(6) < 0.4, rng.choice(SPECIAL, 6), rng.standard_normal(6))
    edges = [-128, 127, -1, 0, 1]
    arrays = (
        rng.standard_normal((4, 3)).T, np.asarray(rng.standard_normal()), special, np.zeros((0, 4)),
        rng.integers(-20, 20, 10)[::2], rng.integers(-(2**31), 2**31, 5).astype(np.int32), rng.integers(0, 256, 5).astype(np.uint8),
        rng.choice(edges, 5).astype(np.int8)[::-1], np.asarray(rng.integers(-3, 9)),
    )  # fmt: skip
    return [pullback.from_numpy(array) for array in arrays]


def check(rng):
    if exported_files.GCC is None:
        return 1
    scope = {
        "pullback": pullback,
        "w": pullback.tensor(rng.standard_normal(3)),
        "n": pullback.tensor(int(rng.integers(9))),
        "v": pullback.tensor(rng.integers(0, 256, 4).astype(np.uint8)),
    }
    functions = [str(each) for each in rng.permutation(NAMES)[:3]]
    texts = []
    for name in functions:
        names = [str(each) for each in rng.permutation([each for each in NAMES if each != name])[: len(GIVEN)]]
        texts.append(f"def {name}({', '.join(names)}):\n    {text_of(rng, names)}")
        exec(texts[-1], scope)
    args, others = drawn(rng), drawn(rng)
    calls = {name: (scope[name], *args) for name in functions}
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return _compared(Path(place), calls, others, scope)
        except Exception as failure:
            failure.add_note("\n\n".join(texts))
            raise


def _compared(folder, calls, others, scope):
    out = pullback.export(folder / "out", calls, name="edges")
    exported_files.sanitized(out, "edges")
    library, compared = exported_files.library(out, "edges"), 0
    for turn in range(3):
        for name, (here, *args) in calls.items():
            given = others if turn == 1 else args
            exported = getattr(library, name, None) or getattr(library, name + "_")
            names = here.__code__.co_varnames[: len(given)]
            slots = dict(zip(names, given, strict=True))
            found = exported(*[slots[row[0].rstrip("_")].numpy() for row in exported.table["arguments"]])
            found = found if isinstance(found, tuple) else (found,)
            for one, other in zip(found, here(*given), strict=True):
                expected = getattr(other, "entries", other).numpy()
                np.testing.assert_allclose(one, expected, rtol=1e-9, atol=1e-9, err_msg=name, strict=True)
                compared += 1
    for field in {"w", "n", "v"} & {*(library.state.dtype.names or ())}:
        np.testing.assert_allclose(library.state[field][0].reshape(scope[field].shape), scope[field].numpy(), rtol=1e-9)
    return compared
