"""scipy.integrate on tensors: integrals as programs, and solutions of stiff equations by their sensitivities."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.trees import flatten, unflatten
from ..vocabulary import load
from .linear_maps import require_small
from .operands import concrete, constants, holds_tensor, joined, on_tensors, tensors
from .scipy_jumps import FAR, PLACES, require_smooth, require_still, through_box
from .scipy_solvers import Watched, filled

if TYPE_CHECKING:
    from .._core.typing import Array, Params, Tensor, Value


def _gauss_kronrod() -> tuple[Array, Array, Array]:
    """Gauss's 10 nodes with Kronrod's 11 between them, from -1 to 1; the weights of all, and those of Gauss's alone."""
    between = 0.9956571630258081, 0.9301574913557082, 0.7808177265864169, 0.5627571346686047, 0.2943928627014602
    own, weights = np.polynomial.legendre.leggauss(10)
    nodes = np.array([*own, 0.0, *between, *[-each for each in between]])
    moments = np.linalg.solve(np.polynomial.legendre.legvander(nodes, 20).T, [2.0, *[0.0] * 20])
    return nodes, moments, np.append(weights, np.zeros(11))


EXPLICIT = ("RK45", "RK23", "DOP853")
"""Methods of solve_ivp that are right as programs."""

NODES, KRONROD, GAUSS = _gauss_kronrod()
MOST = 1000
"""How many parts an interval is divided into at most."""
CLOSER = 1e-2
"""How much smaller than asked for errors are made: those of derivatives are larger."""
ROUNDED = 1e-14
"""What rounding leaves of an error, over the integral of the absolute value."""
NARROW = 1e-14
"""The width of a part that is not divided further."""
OUTSIDE = "a tensor that its function reads from outside is no parameter, which are those of args="


_blocks: list[Function] = []


def run_in(block: Function) -> None:
    """Have functions that are programs run in such blocks: those of `programs`, which imports what has their rules."""
    _blocks[:] = [block]


def _as_program(function: Function, *args: object, **options: object) -> Any:
    (block,) = _blocks
    with block("scipy"):
        return function(*args, **options)


def _quad(_: Function, name: str, given: Params, found: Any) -> Any:
    """By an adaptive rule whose nodes stay where they are; the value stays QUADPACK's."""
    if given["weight"] is not None:
        raise TypeError(f"{name} has no derivative here with weight=: multiply the function by it")
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    function, edges = _between_zero_and_one(lambda x: given["func"](x, *args), given["a"], given["b"], given["points"])
    require_still(name, function)
    whole = tensors(_integral(function, edges, given))[0]
    value = concrete(whole)
    if not abs(value - found[0]) <= FAR * (abs(found[0]) + max(abs(found[1]), given["epsabs"])) + 10 * abs(found[1]):
        raise ValueError(
            f"{name}: the rule that has derivatives gives {value:.6g}, and QUADPACK {found[0]:.6g}: say by points= where the "
            "function is not smooth, or integrate its parts by themselves"
        )
    return (whole + (found[0] - value), *found[1:])


def _quad_vec(real: Function, name: str, given: Params, found: Any) -> Any:
    args = given.get("args", ())
    require_still(name, _between_zero_and_one(lambda x: given["f"](x, *args), given["a"], given["b"], None)[0])
    return _as_program(real, **given)


def _cubature(real: Function, name: str, given: Params, found: Any) -> Any:
    low, high = (np.atleast_1d(concrete(given[word])).astype(float) for word in "ab")
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    path = through_box(low, high)
    require_still(name, lambda s: given["f"](path(s)[None], *args), PLACES * low.size)
    run = partial(_as_program, real) if holds_tensor((given["a"], given["b"])) else real
    return run(**given)


def _between_zero_and_one(
    function: Function, low: Value, high: Value, points: Any
) -> tuple[Callable[[float], Value], list[float]]:
    """An integral from 0 to 1, whatever the limits are, and the places between which its function is smooth."""
    first, last = (float(concrete(each)) for each in (low, high))
    if np.isfinite((first, last)).all():
        inner = () if points is None else sorted((float(each) - first) / (last - first) for each in np.ravel(points))
        width = high - low
        return lambda t: function(low + width * t) * width, [0.0, *[each for each in inner if 0 < each < 1], 1.0]
    if np.isinf((first, last)).all():
        sign = np.sign(last) if first != last else 0.0
        return lambda t: (function((1 - t) / t) + function((t - 1) / t)) * (sign / t**2), [0.0, 1.0]
    start, end, sign = (low, last, 1) if np.isfinite(first) else (high, first, -1)
    way = np.sign(end)
    return lambda t: function(start + way * (1 - t) / t) * (sign * way / t**2), [0.0, 1.0]


def _integral(function: Callable[[float], Value], edges: Sequence[float], given: Params) -> Value:
    """Gauss and Kronrod's rule on parts, of which the worst is halved until the errors are small."""

    def part(low: float, high: float) -> tuple[float, float, float, float, float, list[Value]]:
        half = (high - low) / 2
        values = [function(low + half * (1 + x)) for x in NODES]
        numbers = np.array([concrete(value) for value in values], float)
        mean, error = numbers @ KRONROD / 2, abs(numbers @ (KRONROD - GAUSS))
        spread = abs(numbers - mean) @ KRONROD
        error = float(spread * min(1.0, (200 * error / spread) ** 1.5)) if spread else 0.0  # as QUADPACK has it
        return error * half, low, high, float(mean * 2 * half), float(abs(numbers) @ KRONROD * half), values

    parts = [part(low, high) for low, high in itertools.pairwise(edges)]
    while len(parts) < MOST:
        error, total, size = (
            sum(row) for row in ([each[0] for each in parts], [each[3] for each in parts], [each[4] for each in parts])
        )
        asked = min(given["epsabs"], given["epsrel"] * abs(total)) * CLOSER
        worst = max(parts, key=lambda each: each[0])
        if not error > max(asked, ROUNDED * size) or worst[2] - worst[1] < NARROW:
            break
        parts.remove(worst)
        middle = (worst[1] + worst[2]) / 2
        parts += part(worst[1], middle), part(middle, worst[2])
    weights = np.concatenate([KRONROD * ((each[2] - each[1]) / 2) for each in parts])
    return weights @ joined([value for each in parts for value in each[5]])


class _Trajectory:
    """States at some times as a function of the first one and of parameters, which is differentiated by its sensitivities.

    The matrix S of the derivatives of y obeys S' = f_y S + f_p. It is solved for beside y by the same solver, as a trajectory of
    its own: so derivatives of any order are.
    """

    def __init__(self, name: str, solve: Function, rate: Function) -> None:
        self.name, self.solve, self.rate = name, solve, rate

    def __call__(self, start: Tensor, flat: Tensor) -> Tensor:
        @load("func.custom_rules", "custom_jvp")
        def states(start: Tensor, flat: Tensor) -> Tensor:
            numbers = concrete(flat)
            return tensors(
                self.solve(lambda t, y: constants(self.name, self.rate(t, y, numbers), why=OUTSIDE), concrete(start))
            )[0]

        def pushed(primals: Any, tangents: Any) -> tuple[Tensor, Tensor]:
            moves = [0 * x if t is None else t for x, t in zip(primals, tangents, strict=True)]
            return states(*primals), self._slopes(*primals) @ on_tensors.concatenate(moves)

        states.defjvp(pushed)
        found: Tensor = states(start, flat)
        return found

    def _slopes(self, start: Tensor, flat: Tensor) -> Tensor:
        """The derivatives by the start and by the parameters, at each time."""
        count, width = start.shape[0], start.shape[0] + flat.shape[0]
        require_small(self.name, count * width)

        def rate(t: float, z: Value, flat: Value) -> Tensor:
            z, flat = tensors(z, flat)
            y, slopes = z[:count], z[count:].reshape(count, width)
            by_y, by_flat = load("func", "jacfwd")(lambda y, p: tensors(self.rate(t, y, p))[0], argnums=(0, 1))(y, flat)
            direct = on_tensors.concatenate([np.zeros((count, count)), by_flat], 1)
            return on_tensors.concatenate([tensors(self.rate(t, y, flat))[0], (by_y @ slopes + direct).ravel()])

        first = on_tensors.concatenate([start, np.eye(count, width).ravel()])
        found = _Trajectory(self.name, self.solve, rate)(first, flat)
        return found[:, count:].reshape(found.shape[0], count, width)


def _sensitive(name: str, function: Function, start: Value, args: Any, solve: Function, turned: bool) -> Tensor:
    """States at times, one in each row, with derivatives by the start and the further arguments of the function."""
    first = tensors(joined(start))[0].reshape(-1)
    leaves, nested = flatten(args if isinstance(args, tuple) else (args,))
    moving = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Carrier) and leaf._dtype.kind == "f"]
    parts = [leaves[place] for place in moving]
    sizes = np.cumsum([0, *[part.numel() for part in parts]])

    def rate(t: float, y: Value, flat: Value) -> Value:
        given = list(leaves)
        for k, place in enumerate(moving):
            given[place] = flat[sizes[k] : sizes[k + 1]].reshape(tuple(parts[k].shape))
        more = unflatten(nested, given)
        return joined(function(y, t, *more) if turned else function(t, y, *more))

    flat = on_tensors.concatenate([part.ravel() for part in parts] or [first[:0]])
    return _Trajectory(name, solve, rate)(first.to(np.float64), flat.to(np.float64))


def _solve_ivp(real: Function, name: str, given: Params, found: Any) -> Any:
    given |= given.pop("options", {})
    rate, args = given["fun"], given["args"] or ()

    def finer(times: Array) -> tuple[Array, Array]:
        # A step that an event ends goes beyond it.
        last = np.clip(2 * found.t[-1] - found.t[-2], *sorted(given["t_span"]))
        times = times if last == times[-1] else np.append(times, last)
        called = {"fun": Watched(name, rate), "t_span": (times[0], last), "t_eval": times, "events": None}
        way = real(**{**constants(name, given, tracked=True), **called})
        return way.t, way.y.T

    require_smooth(name, lambda t, y: joined(rate(t, y, *args)), (found.t, found.y.T), finer)
    if given["method"] in EXPLICIT:
        return _as_program(real, **given)
    for word in ("events", "dense_output", "jac", "vectorized"):
        if given.get(word) not in (None, False):
            raise TypeError(f"{name} has no derivative here with {word}= and method={given['method']!r}: leave it out")
    fixed = ("fun", "y0", "t_eval", "args")
    options = constants(name, {word: value for word, value in given.items() if word not in fixed})

    def solve(rate: Function, start: Array) -> Array:
        return np.asarray(real(rate, y0=start, t_eval=found.t, **options).y).T

    times = found.t
    states = _sensitive(name, rate, given["y0"], args, solve, False)
    return filled(found, t=times, y=states.T, sol=None, t_events=None, y_events=None)


def _odeint(real: Function, name: str, given: Params, found: Any) -> Any:
    if given["Dfun"] is not None:
        raise TypeError(f"{name} has no derivative here with Dfun=: leave it out")
    options = {word: given[word] for word in "rtol atol tcrit h0 hmax hmin mxstep mxhnil mxordn mxords".split()}

    def solve(rate: Function, start: Array, times: Array) -> Array:
        return real(lambda y, t: rate(t, y), start, times, **options)

    rate, args = given["func"], given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    watched = Watched(name, rate if given["tfirst"] else lambda t, y, *more: rate(y, t, *more))

    def finer(times: Array) -> tuple[Array, Array]:
        start, more = constants(name, (given["y0"], args), tracked=True)
        return times, solve(lambda t, y: watched(t, y, *more), start, times)

    times = concrete(given["t"])
    require_smooth(name, lambda t, y: joined(watched.function(t, y, *args)), (times, found), finer)
    states = _sensitive(
        name, rate, given["y0"], args, lambda rate, start: solve(rate, start, times), not given["tfirst"]
    )
    return (states, *found[1:]) if given["full_output"] else states


INTEGRALS: dict[str, Function] = {
    "integrate.quad": _quad,
    "integrate.quad_vec": _quad_vec,
    "integrate.cubature": _cubature,
    "integrate.solve_ivp": _solve_ivp,
    "integrate.odeint": _odeint,
}
"""Functions of functions: the rules are called as those of solvers are."""
