"""Scans within transforms, and transforms within transforms: compiled, they are loops, and give what the steps give.

A case draws a step of a few operations on carries (a vector, a matrix or a number, a counter), a slice, a closed-over
parameter and a constant; how many steps, in which direction; what may be inside it, a condition or a scan; and one to three
transforms. A program has as many equations for more steps as for few.
"""

import numpy as np

import pullback
from pullback import func
from pullback.compile import CaptureError

FEW = 3
STEPS = (0, 1, 2, 3, 7, 40)

OPERATIONS = {
    "add": lambda a, b, w, i: a + b,
    "product": lambda a, b, w, i: a * b * 0.5,
    "tanh": lambda a, b, w, i: pullback.tanh(a + w) if w.ndim < 2 else pullback.tanh(a + w[0]),
    "matvec": lambda a, b, w, i: pullback.tanh(w @ a) if w.ndim == 2 else a * w.sum(),
    "sum": lambda a, b, w, i: a / (1 + (b * b).sum()),
    "exp": lambda a, b, w, i: pullback.exp(-(a * a)) + b,
    "counted": lambda a, b, w, i: a * (1 + 0.1 * i.to(a.dtype)),
    "sorted": lambda a, b, w, i: pullback.cumsum(a, 0) * 0.3 if a.ndim else a,
    "where": lambda a, b, w, i: pullback.where(a > b, a, b * 0.5),
    "softmax": lambda a, b, w, i: pullback.softmax(a, 0) if a.ndim else pullback.sigmoid(a),
    "parts": lambda a, b, w, i: pullback.cat([a[1:], b[:1]]) if a.ndim else a - b,
    "fresh": lambda a, b, w, i: a + pullback.ones(a.shape, dtype=a.dtype) * 0.25,
    "hoisted": lambda a, b, w, i: a * pullback.cos(w).mean(),
    "power": lambda a, b, w, i: a**2 * 0.3 + b,
    "inner scan": lambda a, b, w, i: pullback.scan(lambda c, _: (c * 0.5 + b, None), a, length=2)[0],
    "conditional": lambda a, b, w, i: pullback.cond(
        (a * a).sum() > 0.5, lambda a: a * 0.5, lambda a: a + w.mean(), (a,)
    ),
    "written": lambda a, b, w, i: pullback.zeros_like(a).add_(b * a),
    "detached": lambda a, b, w, i: a + b.detach(),
}
STRANGE = {"conditional", "written", "detached", "inner scan"}
"""Operations that may have a loop run step by step."""


def _function(names, reverse, matrix, counter):
    """A number of a parameter, of data and of a first carry."""

    def f(w, data, start):
        def step(carry, u):
            i, a, b = carry
            for name in names:
                a, b = b, OPERATIONS[name](a, b if len(name) % 2 else u, w, i)
            return (i + 1, a, b), ((a * b).sum(), b * 0.5)

        first = pullback.tensor(counter), start, start * w.mean()
        (_, a, b), (sums, kept) = pullback.scan(step, first, data, reverse=reverse)
        weights = pullback.arange(float(len(data)), dtype=w.dtype) + 1
        return (sums * weights).sum() + (kept * kept).sum() * 0.1 + (a * b).sum()

    return f


def _total(f):
    return lambda *given: sum((leaf * leaf).sum() for leaf in _leaves(f(*given)))


def _grad(place):
    return lambda f: func.grad(f, argnums=place)


def _jvp(place):
    def transform(f):
        def pushed(*given):
            moved = lambda x: f(*given[:place], x, *given[place + 1 :])
            return func.jvp(moved, (given[place],), (given[place] * 0.5 + 0.1,))[1]

        return pushed

    return transform


def _vmap(place):
    def transform(f):
        dims = tuple(0 if i == place else None for i in range(3))
        return lambda *given: func.vmap(f, in_dims=dims)(
            *[pullback.stack([x, x * 0.5 - 0.1]) if i == place else x for i, x in enumerate(given)]
        )

    return transform


TRANSFORMS = {
    **{f"{made.__name__[1:]} {place}": made(place) for made in (_grad, _jvp, _vmap) for place in range(3)},
    "grads": _grad((0, 1, 2)),
    "hessian": lambda f: func.hessian(f, argnums=0),
    "jacfwd": lambda f: func.jacfwd(f, argnums=2),
    "jacrev": lambda f: func.jacrev(f, argnums=0),
}


def _leaves(result):
    return [leaf for each in result for leaf in _leaves(each)] if isinstance(result, tuple) else [result]


def check(rng):
    """Draw a step and transforms, and compare some calls."""
    draw = lambda among: list(among)[rng.integers(len(among))]
    names = [draw(OPERATIONS) for _ in range(rng.integers(1, 5))]
    steps, reverse, kind = draw(STEPS), bool(rng.integers(2)), draw(("vector", "matrix", "number"))
    f = _function(names, reverse, kind == "matrix", int(rng.integers(3)))
    chosen = [draw(TRANSFORMS) for _ in range(draw((1, 1, 2, 2, 3)))]
    if len(chosen) > 2 or not set(names).isdisjoint(STRANGE):
        steps = min(steps, 7)
    whole = TRANSFORMS[chosen[0]](f)
    for name in chosen[1:]:
        whole = TRANSFORMS[name](_total(whole))
    compiled = pullback.compile(whole)
    where = f"{names}, {steps} steps, reverse {reverse}, {kind}, {chosen}"
    size, compared = int(rng.integers(1, 5)), 0
    for _ in range(3):
        shape = () if kind == "number" else (size,)
        w = pullback.tensor(rng.normal(size=(size, size) if kind == "matrix" else shape) * 0.5)
        given = w, pullback.tensor(rng.normal(size=(steps, *shape))), pullback.tensor(rng.normal(size=shape))
        expected = _leaves(whole(*given))
        try:
            found = _leaves(compiled(*given))
        except CaptureError:  # a condition, where a transform asks for it
            assert "conditional" in names, where
            return 0
        for left, right in zip(found, expected, strict=True):
            a, b = left.detach().numpy(), right.detach().numpy()
            assert (a.shape, a.dtype) == (b.shape, b.dtype), where
            if not np.isfinite(
                b
            ).all():  # a loop has zeros where steps have no cotangent at all, and 0 times infinity is NaN
                continue
            size_of = np.max(np.abs(b), initial=0) + 1
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * size_of, err_msg=where)
            compared += a.size
    if steps > FEW and set(names).isdisjoint(STRANGE):
        recorded = [each.machinery.recorded for kept in compiled.records.values() for each in kept]
        assert any(e.name == "scan_loop" for program in recorded for e in program.equations), f"{where}: no loop"
    return compared
