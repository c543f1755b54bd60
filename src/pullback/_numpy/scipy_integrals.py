"""scipy.integrate on tensors: integrals as programs, and solutions of stiff equations by their sensitivities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.trees import flatten, unflatten
from ..vocabulary import load
from .linear_maps import require_small
from .operands import concrete, constants, holds_tensor, joined, on_tensors, tensors, unwatched
from .scipy_jumps import (
    FAR,
    FARTHER,
    PLACES,
    Break,
    breaks,
    require_continuous,
    require_smooth,
    require_still,
    through_box,
)
from .scipy_solvers import Watched, attached, filled

if TYPE_CHECKING:
    from .._core.typing import Array, ArrayLike, Params, Tensor, Value
    from .scipy_jumps import Way


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
NEAR = 1e-9
"""How near to each other places are one, and how far from a kink the two sides of a function are compared."""
FARTHEST = 1e140
"""Where integrals to infinity end: the square of such a number is finite yet."""
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
    function, edges = _straightened(name, given["func"], given, given["points"])
    whole = tensors(_integral(function, edges, given))[0]
    value = unwatched(whole)
    if not abs(value - found[0]) <= FAR * (abs(found[0]) + max(abs(found[1]), given["epsabs"])) + 10 * abs(found[1]):
        raise ValueError(
            f"{name}: the rule that has derivatives gives {value:.6g}, and QUADPACK {found[0]:.6g}: say by points= where the "
            "function is not smooth, or integrate its parts by themselves"
        )
    return (whole + (found[0] - value), *found[1:])


def _quad_vec(real: Function, name: str, given: Params, found: Any) -> Any:
    function, edges = _straightened(name, given["f"], given, given["points"])
    if len(edges) == 2:
        return _as_program(real, **given)
    straight = {"f": function, "a": edges[0], "b": edges[-1], "points": edges[1:-1], "args": ()}
    return _as_program(real, **{**given, **straight})


def _cubature(real: Function, name: str, given: Params, found: Any) -> Any:
    path, shape = _between_limits(given)
    require_still(name, lambda s: given["f"](path(s)[None], *_arguments(given)), PLACES * math.prod(shape))
    run = partial(_as_program, real) if holds_tensor((given["a"], given["b"])) else real
    return run(**given)


def _tanhsinh(real: Function, name: str, given: Params, found: object) -> object:
    path, shape = _between_limits(given)
    require_still(name, lambda s: given["f"](path(s).reshape(shape), *_arguments(given)), PLACES * math.prod(shape))
    first, last = tensors(given["a"], given["b"])  # SciPy computes on what these are
    more = tuple([tensors(each)[0] for each in _arguments(given)])
    return real(**{**given, "f": _still_far_away(given["f"]), "a": first, "b": last, "args": more})


def _still_far_away(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function whose derivatives are 0 far away, where tanhsinh drops its values: there they are 0 times infinity."""

    def of(x: Value, *more: Value) -> Value:
        inside = abs(unwatched(x)) < FARTHEST
        if inside.all() or not inside.any():
            return function(x, *more)
        near = on_tensors.where(inside, x, unwatched(x)[inside].flat[0])
        return on_tensors.where(inside, function(near, *more), unwatched(function(x, *more)))

    return of


def _fixed_quad(real: Function, name: str, given: Params, found: object) -> object:
    path, _ = _between_limits(given)
    require_still(name, lambda s: given["func"](path(s), *_arguments(given)))
    return _as_program(real, **given)


def _between_limits(given: Params) -> tuple[Callable[[Any], Any], tuple[int, ...]]:
    """A line that comes near to each place between the limits of an integral, and their shape."""
    low, high = np.broadcast_arrays(*(np.asarray(unwatched(given[word]), float) for word in "ab"))
    return through_box(low.ravel(), high.ravel()), low.shape


def _arguments(given: Params) -> tuple[Value, ...]:
    more = given["args"]
    return more if isinstance(more, tuple) else (more,)


def _straightened(
    name: str, function: Callable[..., Value], given: Params, points: ArrayLike | None
) -> tuple[Callable[[float], Value], list[float]]:
    """An integral from 0 on, whatever the limits are, and the places between which its function is smooth: whole numbers.

    A kink that moves is a limit of two integrals, as are fixed jumps where the limits move: so derivatives of any order are right.
    """

    def of(x: Value) -> Value:
        return function(x, *_arguments(given))

    first, last = (float(unwatched(given[word])) for word in "ab")
    inner = [] if points is None else [float(each) for each in np.ravel(points)]
    moved = holds_tensor((given["a"], given["b"]))
    ends = [first, 0.0, last] if np.isinf((first, last)).all() and first != last else [first, last]
    places: list[Value] = []
    for pair in itertools.pairwise(map(np.asarray, ends)):
        mapped, to = _between_zero_and_one(of, *pair)
        for found in breaks(mapped, PLACES, every=moved):
            require_continuous(name, found)
            places.append(_place(name, of, to, found))
    numbers = [float(unwatched(each)) for each in places]
    inner = [each for each in inner if not np.isclose(each, numbers, rtol=NEAR, atol=NEAR).any()]
    cuts = sorted([*places, *inner], key=lambda each: float(unwatched(each)), reverse=first > last)
    cuts = [each for each in cuts if min(first, last) < float(unwatched(each)) < max(first, last)]
    limits = [given["a"], *cuts, given["b"]]
    parts = [_between_zero_and_one(of, *pair)[0] for pair in itertools.pairwise(limits)]
    return lambda t: parts[int(t)](t - int(t)), [float(k) for k in range(len(limits))]


def _place(name: str, function: Callable[[Value], Value], to: Callable[[float], Value], found: Break) -> Value:
    """Where a function breaks: as a tensor, if it moves, the root of the difference of the function on both sides."""
    place = unwatched(to((found.low + found.high) / 2))
    if not found.moves:
        return place
    for near in (NEAR, FARTHER):
        aside = near * (1 + abs(place))

        def apart(x: Value, aside: Any = aside) -> Tensor:
            return tensors(joined(function(x - aside)) - joined(function(x + aside)))[0].reshape(-1)

        slopes = unwatched(load("func", "jacfwd")(apart)(tensors(place)[0]))
        if np.isfinite(slopes).all():
            break
    return attached(name, lambda x: apart(x)[int(np.argmax(abs(slopes)))], place)


def _between_zero_and_one(
    function: Callable[[Value], Value], low: Value, high: Value
) -> tuple[Callable[[float], Value], Callable[[float], Value]]:
    """The function of an integral from 0 to 1, whatever the limits are; and the place that each of its places stands for."""
    first, last = (float(unwatched(each)) for each in (low, high))
    if np.isfinite((first, last)).all():
        width = high - low
        return lambda t: function(low + width * t) * width, lambda t: np.asarray(first + (last - first) * t)
    if np.isinf((first, last)).all():
        sign = np.sign(last) if first != last else 0.0
        return lambda t: (function((1 - t) / t) + function((t - 1) / t)) * (sign / t**2), lambda t: np.asarray(
            1 / t - 1
        )
    start, end, sign = (low, last, 1) if np.isfinite(first) else (high, first, -1)
    way = np.sign(end)

    def to(t: float) -> Value:
        return start + way * (1 - t) / t

    return lambda t: function(to(t)) * (sign * way / t**2), to


def _integral(function: Callable[[float], Value], edges: Sequence[float], given: Params) -> Value:
    """Gauss and Kronrod's rule on parts, of which the worst is halved until the errors are small."""

    def part(low: float, high: float) -> tuple[float, float, float, float, float, list[Value]]:
        half = (high - low) / 2
        values = [function(low + half * (1 + x)) for x in NODES]
        numbers = np.array([unwatched(value) for value in values], float)
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
    its own: so derivatives of any order are, unless S' jumps.
    """

    def __init__(self, name: str, solve: Function, rate: Function, times: Array, order: int = 1) -> None:
        self.name, self.solve, self.rate, self.times, self.order = name, solve, rate, times, order

    def __call__(self, start: Tensor, flat: Tensor) -> Tensor:
        @load("func.custom_rules", "custom_jvp")
        def states(start: Tensor, flat: Tensor) -> Tensor:
            return tensors(self._solved(start, flat, self.times))[0]

        def pushed(primals: Any, tangents: Any) -> tuple[Tensor, Tensor]:
            if self.order > 1:
                self._require_smooth(*primals)
            moves = [0 * x if t is None else t for x, t in zip(primals, tangents, strict=True)]
            return states(*primals), self._slopes(*primals) @ on_tensors.concatenate(moves)

        states.defjvp(pushed)
        found: Tensor = states(start, flat)
        return found

    def _solved(self, start: Tensor, flat: Tensor, times: Array) -> Array:
        numbers = concrete(flat)

        def rate(t: float, y: Array) -> object:
            return constants(self.name, self.rate(t, y, numbers), why=OUTSIDE)

        return np.asarray(self.solve(rate, concrete(start), times))

    def _require_smooth(self, start: Tensor, flat: Tensor) -> None:
        def finer(times: Array) -> Way:
            return times, self._solved(start, flat, times)

        moving = load("_tensor.creation", "tensor")(concrete(flat), requires_grad=True)
        way = self.times, self._solved(start, flat, self.times)
        require_smooth(self.name, lambda t, y: self.rate(t, y, moving), way, finer, self.order)

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
        found = _Trajectory(self.name, self.solve, rate, self.times, self.order + 1)(first, flat)
        return found[:, count:].reshape(found.shape[0], count, width)


def _sensitive(
    name: str, function: Function, start: Value, args: Any, solve: Function, times: Array, turned: bool
) -> Tensor:
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
    return _Trajectory(name, solve, rate, times)(first.to(np.float64), flat.to(np.float64))


def _solve_ivp(real: Function, name: str, given: Params, found: Any) -> Any:
    given |= given.pop("options", {})
    rate, args, method = given["fun"], given["args"] or (), given["method"]

    def finer(times: Array) -> Way:
        # A step that an event ends goes beyond it.
        last = np.clip(2 * found.t[-1] - found.t[-2], *sorted(given["t_span"]))
        times = times if last == times[-1] else np.append(times, last)
        called = {"fun": Watched(name, rate), "t_span": (times[0], last), "t_eval": times, "events": None}
        way = real(**{**constants(name, given, tracked=True), **called})
        return way.t, way.y.T

    kinked = require_smooth(name, lambda t, y: joined(rate(t, y, *args)), (found.t, found.y.T), finer)
    if method in EXPLICIT and not kinked:
        return _as_program(real, **given)
    for word in ("events", "dense_output", "jac", "vectorized"):
        if given.get(word) not in (None, False):
            reason = f"method={method!r}" + ", of a rate whose slope jumps" * (method in EXPLICIT)
            instead = "" if method in EXPLICIT else ", or take method='RK45'"
            raise TypeError(f"{name} has no derivative here with {word}= and {reason}: leave it out{instead}")
    fixed = ("fun", "y0", "t_eval", "args")
    options = constants(name, {word: value for word, value in given.items() if word not in fixed})

    def solve(rate: Function, start: Array, times: Array) -> Array:
        return np.asarray(real(rate, y0=start, t_eval=times, **options).y).T

    states = _sensitive(name, rate, given["y0"], args, solve, found.t, False)
    return filled(found, t=found.t, y=states.T, sol=None, t_events=None, y_events=None)


def _odeint(real: Function, name: str, given: Params, found: Any) -> Any:
    if given["Dfun"] is not None:
        raise TypeError(f"{name} has no derivative here with Dfun=: leave it out")
    options = {word: given[word] for word in "rtol atol tcrit h0 hmax hmin mxstep mxhnil mxordn mxords".split()}

    def solve(rate: Function, start: Array, times: Array) -> Array:
        return real(lambda y, t: rate(t, y), start, times, **options)

    rate, args = given["func"], _arguments(given)
    watched = Watched(name, rate if given["tfirst"] else lambda t, y, *more: rate(y, t, *more))

    def finer(times: Array) -> Way:
        start, more = constants(name, (given["y0"], args), tracked=True)
        return times, solve(lambda t, y: watched(t, y, *more), start, times)

    times = concrete(given["t"])
    way = times, found[0] if given["full_output"] else found
    require_smooth(name, lambda t, y: joined(watched.function(t, y, *args)), way, finer)
    states = _sensitive(name, rate, given["y0"], args, solve, times, not given["tfirst"])
    return (states, *found[1:]) if given["full_output"] else states


INTEGRALS: dict[str, Function] = {
    "integrate.quad": _quad,
    "integrate.quad_vec": _quad_vec,
    "integrate.cubature": _cubature,
    "integrate.tanhsinh": _tanhsinh,
    "integrate.fixed_quad": _fixed_quad,
    "integrate.solve_ivp": _solve_ivp,
    "integrate.odeint": _odeint,
}
"""Functions of functions: the rules are called as those of solvers are."""
