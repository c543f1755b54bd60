"""NumPy functions of several arrays, each argument tracked alone: the gradient is that of differences, or it is refused."""

import numpy as np

import pullback as pb

FEW = 20
COUNT = 5


def rising(x):
    return np.cumsum(np.abs(x) + 0.5)


FUNCTIONS = {
    "polyfit": lambda x, y, w: np.polyfit(rising(x), y, 1, w=w),
    "polyval": lambda p, x: np.polyval(p, x),
    "polyadd": lambda p, q: np.polyadd(p, q),
    "polymul": lambda p, q: np.polymul(p, q),
    "cov": lambda m, y, w: np.cov(m, y, aweights=np.abs(w) + 0.1),
    "corrcoef": lambda x, y: np.corrcoef(x, y),
    "gradient": lambda f, x: np.gradient(f, rising(x)),
    "trapezoid": lambda y, x: (np.trapezoid if hasattr(np, "trapezoid") else np.trapz)(y, rising(x)),  # noqa: NPY201  # of older NumPy
    "average": lambda a, w: np.average(a, weights=np.abs(w) + 0.1),
    "bincount": lambda w: np.bincount([0, 1, 1, 2, 0], weights=w),
    "histogram": lambda w: np.histogram([0.1, 0.5, 0.7, 0.2, 0.9], 3, weights=w)[0],
    "interp": lambda x, xp, fp: np.interp(x, rising(xp), fp),
    "where": lambda x, y: np.where([True, False, True, True, False], x, y),
    "select": lambda x, y: np.select([[True, False, True, True, False]], [x], default=y),
    "choose": lambda x, y: np.choose([0, 1, 0, 1, 1], [x, y]),
    "clip": lambda x, low: np.clip(x, low, None),
    "insert": lambda x, y: np.insert(x, 1, y[0]),
    "append": lambda x, y: np.append(x, y),
    "diff": lambda x, y: np.diff(x, prepend=y[0]),
    "ediff1d": lambda x, y: np.ediff1d(x, to_end=y),
    "cross": lambda x, y: np.cross(x[:3], y[:3]),
    "convolve": lambda x, y: np.convolve(x, y),
    "correlate": lambda x, y: np.correlate(x, y),
    "kron": lambda x, y: np.kron(x, y),
    "outer": lambda x, y: np.outer(x, y),
    "einsum": lambda x, y: np.einsum("i,j->ij", x, y),
    "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "linspace": lambda x, y: np.linspace(x, y, 3),
    "lstsq": lambda x, y: np.linalg.lstsq(np.vander(rising(x), 2), y, rcond=None)[0],
    "solve": lambda x, y: np.linalg.solve(np.eye(COUNT) * 3 + np.outer(x, x), y),
    "quantile": lambda x, q: np.quantile(x, np.abs(np.sin(q)) * 0.9),
    "sum": lambda x, y: np.sum(x, initial=y[0]),
    "pad": lambda x, y: np.pad(x, 1, constant_values=y[0]),
    "nan_to_num": lambda x, y: np.nan_to_num(np.append(x, np.nan), nan=y[0]),
    "full_like": lambda x, y: np.full_like(x, y[0]),
    "put": lambda x, y: placed(x, y),
    "float_power": lambda x, y: np.float_power(np.abs(x) + 0.1, y),
    "hypot": lambda x, y: np.hypot(x, y),
    "copysign": lambda x, y: np.copysign(x, y),
    "var": lambda x, y: np.var(x, mean=np.mean(y, keepdims=True)),
    "std": lambda x, y: np.std(x, mean=np.mean(y, keepdims=True)),
    "broadcast_arrays": lambda x, y: np.broadcast_arrays(x, y[:, None])[0] * 1,
    "meshgrid": lambda x, y: np.meshgrid(x, y)[1],
    "stack": lambda x, y: np.stack([x, y]),
    "block": lambda x, y: np.block([x, y]),
    "piecewise": lambda x, y: np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: 3 * v]) * y,
}


def placed(x, y):
    z = x * 1
    np.put(z, [0, 2], y[:2])
    return z


def check(rng):
    name = str(rng.choice([*FUNCTIONS]))
    f = FUNCTIONS[name]
    values = rng.normal(size=(f.__code__.co_argcount, COUNT))
    weights, compared, h = np.cos(np.arange(200)), 0, 1e-6

    def total(*arrays):
        found = f(*arrays)
        size = found.numel() if isinstance(found, pb.Tensor) else np.size(found)
        return (
            found.reshape(-1) * (pb.tensor(weights[:size]) if isinstance(found, pb.Tensor) else weights[:size])
        ).sum()

    for place in range(len(values)):
        rows = [
            np.insert(np.delete(values, place, 0), place, values[place] + s * e, 0)
            for e in np.eye(COUNT)
            for s in (h, -h)
        ]
        try:
            found = [total(*row) for row in rows]
        except TypeError:  # an older NumPy, without this argument
            return compared
        right = (np.array(found[::2]) - np.array(found[1::2])) / (2 * h)
        arguments = [pb.tensor(v, requires_grad=True) if i == place else v for i, v in enumerate(values)]
        try:
            with pb.no_escapes():
                answer = total(*arguments)
        except (TypeError, RuntimeError, ValueError) as refusal:
            text = f"{refusal} {refusal.__cause__}"
            assert any(each in text for each in ("no derivative", "hold no gradients", "would be lost")), (
                f"{name}: {text}"
            )
            continue
        assert answer.requires_grad or not right.any(), f"{name}, argument {place}: not tracked"
        if not answer.requires_grad:
            continue
        (g,) = pb.autograd.grad(answer, arguments[place], allow_unused=True, materialize_grads=True)
        assert np.allclose(g.numpy(), right, rtol=1e-4, atol=1e-5), f"{name}, argument {place}: {g} for {right}"
        compared += 1
    return compared
