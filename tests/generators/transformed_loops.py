"""Transforms of functions with loops and branches: compiled, they give what they give eagerly, and by machine code.

A case draws a function of a few parameters and of data with a scan, while_loop, fori_loop or cond, one within another at
times, a transform of it, inside the compiled function or around it, a dtype, and sizes on both sides of those from which
work is shared, or put off.
"""

import functools
import warnings

import numpy as np

import pullback
from pullback import func
from pullback.compile import CaptureError, Compiled

FEW = 2
SIZES = (1, 2, 3, 7, 8, 31, 64, 255, 257, 1023, 1025, 2047, 2048, 2049, 4095, 4097)
STEPS = (1, 2, 3, 5, 8, 40)

CELLS = {
    "affine": lambda w, c, u: c * w[0] + u * w[1],
    "tanh": lambda w, c, u: pullback.tanh(c * w[0] + u),
    "product": lambda w, c, u: c * pullback.sigmoid(u * w[1]) + w[0],
    "divided": lambda w, c, u: (c + u) / (1 + (c * w[0]) ** 2),
    "wave": lambda w, c, u: pullback.sin(c + w[0]) * u + c * 0.5,
    "mean": lambda w, c, u: c * 0.5 + (u * w[0]).mean() + pullback.cos(c * w[1]),
    "normed": lambda w, c, u: (c + u * w[1]) / (1 + pullback.logsumexp(c * w[0], -1)),
    "flipped": lambda w, c, u: c.flip(-1) * w[0] + u.roll(1, -1),
    "where": lambda w, c, u: pullback.where(c > u, c * w[0], u * w[1]),
    "relu": lambda w, c, u: pullback.relu(c * w[0] - u) + c * 0.1,
    "maximum": lambda w, c, u: pullback.maximum(c * w[1], u) * 0.9,
    "cumsum": lambda w, c, u: pullback.cumsum(c, -1) / (c.shape[-1] + 1) + u * w[0],
    "softmax": lambda w, c, u: pullback.softmax(c * w[0], -1) + u,
    "outer": lambda w, c, u: c + (w[:, None] * u).sum(0),
    "matmul": lambda w, c, u: c * 0.5 + pullback.stack([u, c]).T @ w,
    "picked": lambda w, c, u: c + u[..., :1] * w[0],
    "nothing": lambda w, c, u: c * 1.0,
    "exp": lambda w, c, u: pullback.exp(-(c * c)) * w[0] + u * w[1],
}  # fmt: skip


def _scan(cell, w, data, reverse=False):
    last, kept = pullback.scan(lambda c, u: (cell(w, c, u), c * u), data[0] * w[0], data, reverse=reverse)
    return last.sum() + (kept * kept).mean()


def _pair(cell, w, data):
    def step(carry, u):
        a, b = carry["a"], carry["b"]
        return {"a": cell(w, b, u), "b": a * 0.5}, (a.sum(), None)

    last, kept = pullback.scan(step, {"a": data[0], "b": data[0] * w[1]}, data)
    return last["a"].sum() + last["b"].mean() + kept[0].sum()


def _fori(cell, w, data):
    return pullback.fori_loop(0, len(data), lambda i, c: cell(w, c, data[0]), data[-1] * w[0]).sum()


def _while(cell, w, data):
    def step(i, c):
        return i + 1, cell(w, c, data[0])

    return pullback.while_loop(lambda i, c: i < 3, step, (pullback.tensor(0), data[-1] * w[0]))[1].sum()


def _while_by_value(cell, w, data):
    def step(i, c):
        return i + 1, cell(w, c, data[0]) * 0.5

    return pullback.while_loop(
        lambda i, c: (i < 4) & (c.abs().sum() < 1e4), step, (pullback.tensor(0), data[-1] * w[0])
    )[1].mean()


def _cond(cell, w, data):
    first, second = lambda w, c: cell(w, c, data[0]), lambda w, c: c * w[1] * 2
    return pullback.cond(data[0].sum() > 0, first, second, (w, data[-1] * 1)).sum()


def _cond_by_parameter(cell, w, data):
    return pullback.cond(w[0] > 0.8, lambda c: cell(w, c, data[0]), lambda c: c * w[1] * 2, (data[-1] * 1,)).sum()


def _cond_in_scan(cell, w, data):
    def step(c, u):
        c = pullback.cond(u.sum() > 0, lambda c, u: cell(w, c, u), lambda c, u: c * 0.5, (c, u))
        return c, c.mean()

    last, kept = pullback.scan(step, data[0] * w[1], data)
    return last.sum() + kept.sum()


def _scan_in_scan(cell, w, data):
    def step(c, u):
        inner, _ = pullback.scan(lambda d, _: (cell(w, d, u) * 0.5, None), c, length=2)
        return inner, inner.sum()

    last, kept = pullback.scan(step, data[0] * w[1], data)
    return last.sum() + kept.mean()


def _scan_in_cond(cell, w, data):
    return pullback.cond(data[0, 0] > 0, lambda w: _scan(cell, w, data), lambda w: w.sum() * 2 + data.sum() * 0, (w,))


CONTROL = {
    "scan": _scan,
    "scan back": functools.partial(_scan, reverse=True),
    "pair": _pair,
    "fori_loop": _fori,
    "while_loop": _while,
    "while_loop by value": _while_by_value,
    "cond": _cond,
    "cond by parameter": _cond_by_parameter,
    "cond in scan": _cond_in_scan,
    "scan in scan": _scan_in_scan,
    "scan in cond": _scan_in_cond,
}


def _backward(f):
    def run(w, data):
        w = w.detach().clone().requires_grad_()
        value = f(w, data)
        value.backward()
        return value.detach(), w.grad

    return run


def _to_data(f):
    def run(w, data):
        data = data.detach().clone().requires_grad_()
        (slope,) = pullback.autograd.grad(f(w, data), data)
        return slope

    return run


def _twice(f):
    def run(w, data):
        w = w.detach().clone().requires_grad_()
        (slope,) = pullback.autograd.grad(f(w, data), w, create_graph=True)
        return slope.detach(), pullback.autograd.grad(slope.sum(), w, allow_unused=True)[0]

    return run


TRANSFORMS = {
    "nothing": lambda f: f,
    "backward": _backward,
    "backward to the data": _to_data,
    "create_graph": _twice,
    "grad": func.grad,
    "grad of data": lambda f: func.grad(f, argnums=1),
    "grad_and_value": func.grad_and_value,
    "jvp": lambda f: lambda w, data: func.jvp(f, (w, data), (w * 0.5, data)),
    "vjp": lambda f: lambda w, data: func.vjp(f, w, data)[1](pullback.ones((), dtype=w.dtype)),
    "vmap": lambda f: lambda w, data: func.vmap(f, in_dims=(0, None))(pullback.stack([w, w * 0.5]), data),
    "vmap of data": lambda f: lambda w, data: func.vmap(f, in_dims=(None, 0))(w, pullback.stack([data, -data])),
    "vmap of grad": lambda f: lambda w, data: func.vmap(func.grad(f), in_dims=(0, None))(pullback.stack([w, w * 0.5]), data),
    "grad of vmap": lambda f: lambda w, data: func.grad(
        lambda w: func.vmap(f, in_dims=(None, 0))(w, pullback.stack([data, data * 0.5])).sum()
    )(w),
    "hessian": func.hessian,
    "jacfwd": func.jacfwd,
    "jacrev": func.jacrev,
    "jvp of grad": lambda f: lambda w, data: func.jvp(lambda w: func.grad(f)(w, data), (w,), (w,)),
}  # fmt: skip
AROUND = ("nothing", "backward", "backward to the data", "grad", "jvp", "vmap")


def _outcome(call, w, data):
    try:
        return call(w.clone(), data.clone()), None
    except Exception as error:  # whatever it is, both raise it
        return None, error


def _leaves(result):
    return [leaf for each in result for leaf in _leaves(each)] if isinstance(result, tuple) else [result]


def _near(found, expected, scale, where):
    """Compare results, to what their sums may lose."""
    compared = 0
    for left, right in zip(_leaves(found), _leaves(expected), strict=True):
        if right is None:
            assert left is None, where
            continue
        assert (left.dtype, left.shape, left.requires_grad) == (right.dtype, right.shape, right.requires_grad), where
        a, b = left.detach().numpy().astype(float), right.detach().numpy().astype(float)
        size = np.max(np.abs(b), initial=0, where=np.isfinite(b)) + 1
        np.testing.assert_allclose(a, b, rtol=0, atol=scale * size, err_msg=where)
        compared += a.size
    return compared


def check(rng):
    """Draw a function, a transform and sizes; and compare some calls, compiled and eager."""
    draw = lambda among: list(among)[rng.integers(len(among))]
    cell, control, inside = draw(CELLS), draw(CONTROL), draw(TRANSFORMS)
    around = draw(AROUND) if inside == "nothing" else "nothing"
    dtype, steps, size = draw(("float64", "float32", "float64", "float32", "float16")), draw(STEPS), draw(SIZES)
    if "in scan" in control:
        steps = min(steps, 5)
    always = bool(rng.integers(2))
    body = functools.partial(CONTROL[control], CELLS[cell])
    compiled = Compiled(TRANSFORMS[inside](body))
    calls = TRANSFORMS[around](TRANSFORMS[inside](body)), TRANSFORMS[around](compiled)
    where = f"{cell} in {control}, {inside} inside, {around} around, {steps} x {size} of {dtype}, always {always}"
    compared, before = 0, pullback.get_machine_code()
    for _ in range(3):
        w = pullback.tensor(rng.uniform(0.3, 1.3, 2)).to(getattr(pullback, dtype))
        data = pullback.tensor(rng.normal(size=(steps, size))).to(getattr(pullback, dtype))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            expected, raised = _outcome(calls[0], w, data)
            if always:
                pullback.set_machine_code("always")
            found, failed = _outcome(calls[1], w, data)
            pullback.set_machine_code(before)
        told = [
            str(each.message)
            for each in caught
            if "no machine code" in str(each.message) or "fails where" in str(each.message)
        ]
        assert not told, f"{where}: {told[0]}"
        if isinstance(failed, CaptureError):
            continue
        if "cond" in control and "does not require grad" in str(raised) and failed is None:
            assert not any(leaf.any() for leaf in _leaves(found)[1:]), where  # a branch without the parameter
            continue
        assert type(raised) is type(failed), f"{where}: raises {failed!r} for {raised!r}"
        if raised is None:
            scale = {"float64": 1e-9, "float32": 3e-4, "float16": 0.1}[dtype]
            compared += _near(found, expected, scale, where)
    return compared
