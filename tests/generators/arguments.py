"""Arguments that are not tensors, or tensors without axes, beside tensors of all dtypes: compiled, a function gives what it gives eagerly.

A case is an operation on x and k, where k is one of many kinds of numbers, in one of several places among the arguments,
and a way of differentiating, inside the compiled function or around it. Some calls with other numbers of the same kind
follow, since a record is made for one number, and used for others.
"""

import dataclasses
import functools
import math
import typing
import warnings

import numpy as np

import pullback
from pullback import func
from pullback.compile import CaptureError, Compiled

FEW = 8


@dataclasses.dataclass
class Pair:
    first: object
    second: object


class Named(typing.NamedTuple):
    left: object
    right: object


FLOATS = (0.5, 2.0, -1.5, 3.0, 0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e30, 1e-30, 1e300, 5e-324, 65000.0)
WHOLE = (2, 3, 0, 1, -1, -2, 7, 100, 300, 2**31, 2**40, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63))
COMPLEX = (1j, 2.0 + 0j, -1.5 + 0.5j, 0j, complex(math.inf, 0))
KINDS = {
    "float": FLOATS,
    "int": WHOLE,
    "bool": (True, False),
    "complex": COMPLEX,
    **{f"np.{kind}": tuple(map(getattr(np, kind), (0.5, 2.0, -1.5, 0.0, math.inf, math.nan))) for kind in ("float16", "float32", "float64")},
    **{f"np.{kind}": tuple(map(getattr(np, kind), (2, 3, 0, 1))) for kind in ("int8", "int32", "int64", "uint8", "bool_")},
    "np.complex64": (np.complex64(1j), np.complex64(2.5)),
    "array": tuple(map(np.array, (0.5, 2.0, -1.5))),
    "array of int": tuple(map(np.array, (2, 3, 0))),
    **{
        f"tensor of {kind}": tuple(pullback.tensor(each, dtype=getattr(pullback, kind)) for each in values)
        for kind, values in {
            "float16": (0.5, 2.0, -1.5), "float32": (0.5, 2.0, -1.5), "float64": (0.5, 2.0, math.nan),
            "int64": (2, 3, 0), "int8": (2, 3, 0), "bool": (True, False), "complex64": (1j, 2.5),
        }.items()
    },
}  # fmt: skip
FLOATING, OTHERS = (
    ("float64", "float32", "float16"),
    ("int64", "int32", "uint8", "bool", "complex64", "complex128", "bfloat16"),
)


def _written(x, k):
    y = x.clone()
    y[0] = k
    return y


def _in_place(x, k):
    y = x.clone()
    y *= k
    y.add_(k)
    return y


OPERATIONS = {
    "x * k": lambda x, k: x * k,
    "k * x": lambda x, k: k * x,
    "x + k": lambda x, k: x + k,
    "k - x": lambda x, k: k - x,
    "x / k": lambda x, k: x / k,
    "k / x": lambda x, k: k / x,
    "x ** k": lambda x, k: x**k,
    "k ** x": lambda x, k: k**x,
    "x % k": lambda x, k: x % k,
    "x // k": lambda x, k: x // k,
    "k twice": lambda x, k: x * k + x.sin() * (k * 2),
    "powers and sums of k": lambda x, k: x * (1 + k) * k**2,
    "numbers, then sums": lambda x, k: (x * k).sum() * k,
    "where": lambda x, k: pullback.where(x > 0.1, x, k),
    "where of numbers": lambda x, k: pullback.where(x > 0.1, k, 1),
    "x > k": lambda x, k: (x > k) * x,
    "x == k": lambda x, k: (x == k) * x,
    "maximum": lambda x, k: pullback.maximum(x, pullback.tensor(k)),
    "clamp": lambda x, k: x.clamp(max=k),
    "alpha": lambda x, k: pullback.add(x, x, alpha=k),
    "value": lambda x, k: pullback.addcmul(x, x, x, value=k),
    "lerp": lambda x, k: pullback.lerp(x, x * x, k),
    "full": lambda x, k: x * pullback.full((3,), k),
    "full_like": lambda x, k: x * pullback.full_like(x, k),
    "tensor": lambda x, k: x * pullback.tensor(k),
    "masked_fill": lambda x, k: x.masked_fill(x > 0.1, k),
    "written": _written,
    "in place": _in_place,
    "leaky_relu": pullback.nn.functional.leaky_relu,
    "pow": pullback.pow,
    "atan2": lambda x, k: pullback.atan2(x, pullback.as_tensor(k)),
    "stack": lambda x, k: pullback.stack([x.sum(), x[0] * k]),
    "both": lambda x, k: (x * k, x + k),
    "k itself": lambda x, k: (x * 2, k),
    "index": lambda x, k: x[k],
    "slice": lambda x, k: x[:k] * 2,
    "dim": lambda x, k: x.sum(k),
    "roll": lambda x, k: x.roll(k),
    "repeat": lambda x, k: x.repeat(k),
    "expand": lambda x, k: x.unsqueeze(0).expand(k, 3),
    "range": lambda x, k: x * sum(range(k)),
    "branch": lambda x, k: x * 2 if k else x * 3,
    "float": lambda x, k: x * float(k),
    "int": lambda x, k: x * int(k),
    "np.sqrt": lambda x, k: x * np.sqrt(k),
    "np.add": np.add,
    "arange": lambda x, k: x * pullback.arange(k, k + 3),
    "matmul": lambda x, k: (x * k) @ x,
}  # fmt: skip
LIMITED = {
    "full",
    "slice",
    "roll",
    "repeat",
    "expand",
    "range",
    "dim",
    "index",
    "arange",
    "x ** k",
    "k ** x",
    "pow",
    "powers and sums of k",
}
"""Operations that take a number as a size or a count, or as an exponent, of which derivatives multiply several."""

PLACES = {
    "positional": lambda f: f(lambda x, k: (x, k)),
    "keyword": lambda f: lambda x, k: f(lambda x, *, k: (x, k))(x, k=k),
    "first": lambda f: lambda x, k: f(lambda k, x: (x, k))(k, x),
    "tuple": lambda f: lambda x, k: f(lambda pair: pair)((x, k)),
    "list": lambda f: lambda x, k: f(lambda x, held: (x, held[1]))(x, [None, k]),
    "dict": lambda f: lambda x, k: f(lambda held: (held["x"], held["k"][0]))({"x": x, "k": [k]}),
    "dataclass": lambda f: lambda x, k: f(lambda held: (held.first, held.second))(Pair(x, k)),
    "named tuple": lambda f: lambda x, k: f(lambda held: (held.left, held.right["k"]))(Named(x, {"k": k})),
    "default": lambda f: lambda x, k: f(lambda x, k=k: (x, k))(x),
    "closure": lambda f: lambda x, k: f(lambda x: (x, k))(x),
}


def _total(result):
    """The sum of what is tracked, as a real number."""
    leaves = result if isinstance(result, tuple) else (result,)
    totals = [each.abs().sum() if each.is_complex() else each.sum() for each in leaves if _floating(each)]
    return functools.reduce(lambda a, b: a + b.to(a.dtype), totals)


def _floating(value):
    return isinstance(value, pullback.Tensor) and (value.is_floating_point() or value.is_complex())


def _leaf(x):
    return x.clone().requires_grad_() if _floating(x) else x


def _backward(call):
    def run(x, k):
        x = _leaf(x)
        result = call(x, k)
        _total(result).backward()
        return result, x.grad

    return run


def _grad(call, **options):
    def run(x, k):
        x = _leaf(x)
        (slope,) = pullback.autograd.grad(_total(call(x, k)), x, **options)
        return slope, x

    return run


def _twice(call):
    def run(x, k):
        slope, x = _grad(call, create_graph=True)(x, k)
        return slope, pullback.autograd.grad(_total(slope), x, retain_graph=True)

    return run


def _of(transform):
    return lambda call: lambda x, k: transform(lambda x: _total(call(x, k)))(x)


WAYS = {
    "nothing": lambda call: call,
    "no_grad": pullback.no_grad(),
    "requires grad": lambda call: lambda x, k: call(_leaf(x), k),
    "backward": _backward,
    "autograd.grad": lambda call: lambda x, k: _grad(call)(x, k)[0],
    "create_graph": _twice,
    "func.grad": _of(func.grad),
    "jvp": lambda call: lambda x, k: func.jvp(lambda x: _total(call(x, k)), (x,), (pullback.ones_like(x),)),
    "vmap": lambda call: lambda x, k: func.vmap(lambda x: _total(call(x, k)))(pullback.stack([x, x + x])),
    "hessian": _of(func.hessian),
    "jacrev": _of(func.jacrev),
}  # fmt: skip
INSIDE = ("nothing", "backward", "autograd.grad", "create_graph", "func.grad", "jvp", "vmap", "hessian")


def _outcome(call, x, k):
    """What a call gives, or the class of what it raises."""
    try:
        return call(x.clone(), k), None
    except Exception as error:  # whatever it is, both raise it
        return None, error


def _leaves(result):
    if isinstance(result, (tuple, list)):
        return [leaf for each in result for leaf in _leaves(each)]
    return [result]


def _near(found, expected, where, *, parts=False):
    """Compare two results, leaf by leaf; the number of comparisons.

    With `parts` numbers may be the real parts of complex ones, whose rounding is that of the whole.
    """
    lefts, rights = _leaves(found), _leaves(expected)
    assert len(lefts) == len(rights), f"{where}: {found} for {expected}"
    for left, right in zip(lefts, rights, strict=True):
        assert type(left) is type(right), f"{where}: {left!r} for {right!r}"
        if not isinstance(right, pullback.Tensor):
            assert left is right or left == right or left != left, f"{where}: {left!r} for {right!r}"
            continue
        what = [(each.dtype, each.shape, each.requires_grad) for each in (left, right)]
        assert what[0] == what[1], f"{where}: {what[0]} for {what[1]}"
        a, b = (
            each.detach().to(pullback.float64) if each.dtype == pullback.bfloat16 else each.detach()
            for each in (left, right)
        )
        a, b = a.numpy(), b.numpy()
        if a.dtype.kind in "fc":
            eps, tiny = float(pullback.finfo(left.dtype).eps), float(pullback.finfo(left.dtype).tiny)
            wide = np.complex128 if a.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(
                a.astype(wide),
                b.astype(wide),
                rtol=64 * eps,
                atol=64 * eps * np.nan_to_num(np.abs(b[np.isfinite(b)].astype(wide))).max(initial=1) if parts else tiny,
                err_msg=where,
            )
        else:
            np.testing.assert_array_equal(a, b, err_msg=where)
    return len(rights)


def check(rng):
    """Draw an operation, a kind of number, a dtype, a place and a way; and compare some calls of it, compiled and eager."""
    draw = lambda among: list(among)[rng.integers(len(among))]
    name, kind, place, outside = draw(OPERATIONS), draw(KINDS), draw(PLACES), draw(WAYS)
    if rng.random() < 0.4:
        kind = draw(("float", "int"))
    inside = draw(INSIDE) if outside in ("nothing", "backward") else "nothing"
    dtype = draw(FLOATING if rng.random() < 0.7 else OTHERS)
    x = pullback.tensor(rng.uniform(0.2, 3.0, 3) * rng.choice([1, 1, -1])).to(getattr(pullback, dtype))
    options = {"fuse": bool(rng.integers(2))}

    def within(taken):
        body = WAYS[inside](OPERATIONS[name])
        return lambda *args, **kwargs: body(*taken(*args, **kwargs))

    made = {}

    def compiled(taken):
        made.setdefault("function", Compiled(within(taken), **options))
        return made["function"]

    calls = WAYS[outside](PLACES[place](within)), WAYS[outside](PLACES[place](compiled))
    compared = 0
    for turn in range(5):
        if place in ("default", "closure"):
            made.clear()
        k = draw(KINDS[kind])
        if name in LIMITED and type(k) in (int, float) and 100 < abs(k) < math.inf:
            k = type(k)(2)
        if name == "k ** x" and k == 0 and inside == "jvp" and outside == "backward":
            continue  # two infinite slopes of opposite signs, added before or after they are multiplied
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, raised = _outcome(calls[0], x, k)
            found, failed = _outcome(calls[1], x, k)
        where = f"{name}, k = {k!r} ({kind}, {place}), x = {x!r}, {inside} inside, {outside} outside, {options}, call {turn}"
        if isinstance(failed, CaptureError) and kind.startswith("tensor"):
            continue
        if raised is None and "compiled function, which freed the graph" in str(failed):
            continue  # eager looks at what the graph keeps, which may be nothing: see docs/how-to/compile.md
        if raised is not None or failed is not None:
            assert type(raised) is type(failed), f"{where}: raises {failed!r} for {raised!r}, {expected}"
            compared += 1
        else:
            compared += _near(found, expected, where, parts="complex" in kind or "complex" in dtype)
    return compared
