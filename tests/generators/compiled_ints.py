"""Functions of ints that differ from call to call: compiled, they give what Python gives, whether the ints are traced or not."""

import math
import warnings

import pullback
from pullback.compile import Compiled

FEW = 10

INTS = [0, 1, 2, 5, -4, 9, 100, 3, 2**40]
STEPS = [
    *("t + {c}", "{c} - t", "t * {c}", "t // {d}", "t % {d}", "-t", "+t", "abs(t)", "t**2", "t**3", "t / {d}", "{d} / (t * t + 1)"),
    *("0.9**(t % 50)", "{f} * t", "t + u", "t * u", "t - u", "t // (u * u + 1)", "t % (abs(u) + 1)", "divmod(t, {d})[1]"),
    *("t * True", "round(t)", "int(t)", "t << 1", "t & 3", "~t", "2 ** abs(t % 5)", "t if t > {c} else {c}", "max(t, u)"),
    *("min(t, {f})", "float(t)", "t.bit_length()", "t**-1 if t else 0", "(abs(t) + 1) ** 0.5", "t // {f}", "t % {f}", "bool(t)"),
    *("t == u", "t < {f}", "(t, u)[t > u]", "math.isqrt(abs(t))", "len(range(t % 7))", "hash(t) % 5", "t == {c} + 0j"),
]  # fmt: skip
ENDS = [
    *("x * ({e})", "x + ({e})", "x ** (abs({e}) % 3)", "pullback.where(x > 1, {e}, x)", "x.add(x, alpha={e})", "whole * ({e})"),
    *("whole + ({e})", "truth * ({e})", "half * ({e})", "x[({e}) % 3] if isinstance({e}, int) else x", "pullback.full((2,), {e})"),
    *("x.clamp(max={e})", "({e})", "waves * ({e})", "tiny + ({e})", "x.roll(int({e}) % 5)", "pullback.tensor({e})", "(x, {e}, x * ({e}))"),
    "pullback.func.grad(lambda v: (v * v * ({e})).sum())(x)",
]  # fmt: skip


def expression(rng, depth):
    """A random expression of t and u."""
    step = str(rng.choice(STEPS))
    for name, choices in {"{c}": [0, 1, -3, 7], "{d}": [1, 2, 3, -2, 5], "{f}": [0.5, -1.25, 3.0]}.items():
        step = step.replace(name, repr(rng.choice(choices).item()))
    if depth and rng.random() < 0.6:
        return f"(lambda t: {step})({expression(rng, depth - 1)})"
    return step


def outcome(function, tensors, ints):
    """What a call gives, in Python's terms: numbers with their types, or the class and the text of an error."""
    try:
        found = function(*tensors, *ints)
    except Exception as error:  # that of the function
        return type(error).__name__, str(error)
    leaves = found if isinstance(found, tuple) else (found,)
    return [(each.dtype, each.tolist()) if isinstance(each, pullback.Tensor) else each for each in leaves]


def same(one, other, rounding):
    """Whether two outcomes are one, up to rounding in tensors."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        inner = 4e-6 if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], pullback.dtype) else rounding
        if inner and isinstance(one, tuple) and one[0] == pullback.float16:
            inner = 2e-3
        return len(one) == len(other) and all(same(a, b, inner) for a, b in zip(one, other, strict=True))
    if isinstance(one, (float, complex)):
        return one == other or (one != one and other != other) or abs(one - other) <= rounding * abs(one)
    return one == other


def check(rng):
    """Compare five calls of one function, the ints of which change, with the function as it is."""
    text = str(rng.choice(ENDS)).replace("{e}", expression(rng, 2))
    scope = {"pullback": pullback, "math": math}
    names = "x, whole, truth, half, waves, tiny, t, u"
    function = eval(f"lambda {names}: {text}", scope)
    compiled = Compiled(function)
    tensors = [
        pullback.arange(3.0), pullback.tensor([1, 2, 3]), pullback.tensor([True, False, True]),
        pullback.tensor([1.5, 2.0, 3.0], dtype=pullback.float16), pullback.tensor([1j, 2.0, 3.0]), pullback.tensor([1, 2, 3], dtype=pullback.int8),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(5):
            ints = [rng.choice(INTS).item(), rng.choice(INTS[:-1]).item()]
            wanted, found = outcome(function, tensors, ints), outcome(compiled, tensors, ints)
            assert same(wanted, found, 1e-12), f"{text} for t, u = {ints}: {found} instead of {wanted}"
    return 5
