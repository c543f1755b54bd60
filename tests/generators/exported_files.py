"""Exported files: several functions of floats, whole numbers, random numbers and a state that they share, called from C.

Three calls of each, in turns, must give what the functions give here, and so must the state and the generator; the recorded
test of the file runs under sanitizers.
"""

import importlib.util
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

import pullback
from pullback.compile.export.drawing import packed

FEW = 2
GCC = shutil.which("gcc")
FLAGS = "-std=c99 -Wall -Wextra -pedantic -Wconversion -Werror -ffp-contract=off".split()
QUICK, SANITIZED = ["-O1"], "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all".split()

FLOATS = [
    *("x * w", "x.tanh()", "x + pullback.rand_like(x)", "nn.functional.dropout(x, 0.4)", "x @ x.T @ x", "x.softmax(1)"),
    *("x.cumsum(0)", "x - x.mean(0)", "x[(k % 3)[:3]]", "x.sort(1).values", "x + x.amax(1, keepdim=True)", "x.sin() * 2"),
    *("x.clamp(-0.5, 1.5)", "pullback.where(x > 0.3, x, w)", "x.roll(1, 0)", "x - x.logsumexp(1, keepdim=True)", "x + k[:4]"),
    *("x + pullback.randn(3, 4, dtype=x.dtype)", "pullback.normal(x, 0.5)", "x * pullback.bernoulli(x.sigmoid())", "x // 0.3"),
    *("x.abs().sqrt()", "x + pullback.zeros(4, dtype=x.dtype).exponential_(2)", "pullback.scan(lambda c, r: (c * 0.5 + r, c + r), x[0], x)[1]", "x.exp().clamp(max=9)", "x % 0.7"),
    *("x + x.std(0)", "pullback.cat([x[1:], x[:1]])", "x / (x * x + 1)", "x + (k // 2).sum()", "x.T.reshape(3, 4)", "x.erf()"),
    *("pullback.index_add(x, 0, k[:3] % 3, x)", "x.gather(0, (k % 3)[:3, None].expand(3, 4))", "x + pullback.rand(4, generator=own)"),
]  # fmt: skip
WHOLE = [
    *("k // {d}", "k % {d}", "k // (k.abs() + 1)", "k % -(k * k + 1)", "(k % 9) ** 3", "k << 1", "k >> 2", "k & 7", "-k"),
    *("k * k + 3", "k + pullback.randint(-4, 9, (6,))", "k.cumsum(0)", "k.sort().values", "k.argsort()", "k.clamp(-5, 40)"),
    *("k.abs().to(pullback.int32).long()", "(k > 2).long() + k", "k - k.min()", "k.maximum(k.flip(0))", "k ^ 5", "~k", "k.sum() - k"),
    *("pullback.fmod(k, {d})", "k + pullback.bernoulli(pullback.full((6,), 0.5)).long()", "k[k % 6]", "k.to(pullback.uint8).long()"),
    *("pullback.div(k, {d}, rounding_mode='trunc')", "k.to(pullback.int16) * 300 + 0 * k", "(x[0] * 3).long().sum() + k"),
]  # fmt: skip
WRITES = [
    "w.mul_(0.9)",
    "w.add_(x.mean(0).tanh())",
    "n.add_(k.sum() % 5)",
    "w.copy_(x[1].sigmoid())",
    "n.floor_divide_(2)",
]


def function(rng):
    """A random function of x and k, and its text."""
    lines = []
    for _ in range(rng.integers(2, 7)):
        name, steps = ("x", FLOATS) if rng.random() < 0.55 else ("k", WHOLE)
        step = str(rng.choice(steps)).replace("{d}", str(rng.choice([1, 2, 3, -2, 7])))
        lines.append(f"{name} = {step}")
        if rng.random() < 0.25:
            lines.append(str(rng.choice(WRITES)))
    return "\n    ".join([*lines, "return x, k + n"])


def check(rng):
    if GCC is None:
        return 1
    default = pullback.manual_seed(int(rng.integers(100)))
    dtype = pullback.float64
    scope = {
        "pullback": pullback,
        "nn": pullback.nn,
        "w": pullback.tensor(rng.standard_normal(4), dtype=dtype),
        "n": pullback.tensor(int(rng.integers(9))),
        "default": default,
        "own": pullback.Generator().manual_seed(3),
    }
    texts = [function(rng) for _ in range(3)]
    for number, text in enumerate(texts):
        exec(f"def f{number}(x, k):\n    {text}", scope)
    x, k = pullback.tensor(rng.standard_normal((3, 4))), pullback.tensor(rng.integers(-20, 20, 6))
    calls = {f"f{number}": (scope[f"f{number}"], x, k) for number in range(3)}
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return _compared(Path(place), calls, scope)
        except Exception as failure:
            failure.add_note("\n\n".join(texts))
            raise


def _compared(place, calls, scope):
    folder = pullback.export(place / "out", calls, name="drawn")
    sanitized(folder, "drawn")
    opened, compared = library(folder, "drawn"), 0
    for _ in range(3):
        for name, (here, *args) in calls.items():
            expected = here(*args)
            exported = getattr(opened, name)
            slots = {"x": args[0].numpy(), "k": args[1].numpy()}
            found = exported(*[slots[row[0]] for row in exported.table["arguments"]])
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other.numpy(), rtol=1e-9, atol=1e-9, err_msg=name)
                compared += 1
    fields = opened.state.dtype.names or ()
    for field in {"w", "n"} & {*fields}:
        np.testing.assert_allclose(opened.state[field][0].reshape(scope[field].shape), scope[field].numpy(), rtol=1e-9)
    states = [packed(scope[each].numpy).tolist() for each in ("default", "own")]
    for field in fields:
        if field.startswith("generator"):
            assert opened.state[field][0].tolist() in states, field
    return compared


def sanitized(folder, title):
    """Run the recorded test of a folder under sanitizers."""
    _run([GCC, *FLAGS, *SANITIZED, f"test_{title}.c", f"{title}.c", "-o", "test", "-lm"], folder)
    _run(["./test"], folder)


def library(folder, title):
    """The functions of a folder, compiled without a warning."""
    _run([GCC, *FLAGS, *QUICK, "-fPIC", "-shared", f"{title}.c", "-o", f"lib{title}.so", "-lm"], folder)
    spec = importlib.util.spec_from_file_location(f"{title}_{folder.parent.name}", folder / f"{title}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Library()


def _run(command, folder):
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-1500:]}{done.stderr[:1500]}"
