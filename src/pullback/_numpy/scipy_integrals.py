"""scipy.integrate on tensors: integrals as programs, and solutions of stiff equations by their sensitivities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.trees import flatten, unflatten
from ..vocabulary import load
from .linear_maps import loaded, require_small
from .operands import concrete, constants, joined, on_tensors, tensors
from .scipy_solvers import filled

if TYPE_CHECKING:
    from .._core.typing import Array, Params, Tensor, Value

EXPLICIT = ("RK45", "RK23", "DOP853")
"""Methods of solve_ivp that are right as programs."""

OUTSIDE = "a tensor that its function reads from outside is no parameter, which are those of args="


def _as_program(function: Function, *args: object, **options: object) -> Any:
    with load("_numpy.programs", "numpy_programs")("scipy"):
        return function(*args, **options)


def _program(real: Function, _: str, given: Params, found: Any) -> Any:
    """The rule of a function whose steps have the right derivative."""
    return _as_program(real, **given)


def _quad(_: Function, name: str, given: Params, found: Any) -> Any:
    """By the adaptive rule that is written in Python; the value stays QUADPACK's."""
    if given["weight"] is not None:
        raise TypeError(f"{name} has no derivative here with weight=: multiply the function by it")
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    low, high, points = given["a"], given["b"], given["points"]
    ends = concrete(low), concrete(high)
    if np.isfinite(ends).all():  # between 0 and 1, whatever the limits are
        start, width, inner = low, high - low, (0.0, 1.0)
        points = None if points is None else (np.asarray(points) - ends[0]) / (ends[1] - ends[0])
    else:
        finite = [each for each, end in zip((low, high), ends, strict=True) if np.isfinite(end)]
        start, width = finite[0] if finite else 0.0, 1.0
        inner = tuple([0.0 if np.isfinite(end) else float(end) for end in ends])

    def moved(t: float) -> Tensor:
        return given["func"](start + width * t, *args) * width

    accuracy = {"epsabs": given["epsabs"], "epsrel": given["epsrel"], "limit": max(given["limit"], 1000)}
    whole = tensors(_as_program(loaded("integrate.quad_vec"), moved, *inner, points=points, **accuracy)[0])[0]
    return (whole + (found[0] - concrete(whole)), *found[1:])


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
            return tensors(self.solve(lambda t, y: constants(self.name, self.rate(t, y, numbers), why=OUTSIDE), concrete(start)))[0]

        @states.defjvp
        def pushed(primals: Any, tangents: Any) -> tuple[Tensor, Tensor]:
            moves = [0 * x if t is None else t for x, t in zip(primals, tangents, strict=True)]
            return states(*primals), self._slopes(*primals) @ on_tensors.concatenate(moves)

        return states(start, flat)

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
    start = tensors(joined(start))[0].reshape(-1)
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

    flat = on_tensors.concatenate([part.ravel() for part in parts] or [start[:0]])
    return _Trajectory(name, solve, rate)(start.to(np.float64), flat.to(np.float64))


def _solve_ivp(real: Function, name: str, given: Params, found: Any) -> Any:
    given |= given.pop("options", {})
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
    states = _sensitive(name, given["fun"], given["y0"], given["args"] or (), solve, False)
    return filled(found, t=times, y=states.T, sol=None, t_events=None, y_events=None)


def _odeint(real: Function, name: str, given: Params, found: Any) -> Any:
    if given["Dfun"] is not None:
        raise TypeError(f"{name} has no derivative here with Dfun=: leave it out")
    options = {word: given[word] for word in "rtol atol tcrit h0 hmax hmin mxstep mxhnil mxordn mxords".split()}

    def solve(rate: Function, start: Array) -> Array:
        return real(lambda y, t: rate(t, y), start, constants(name, given["t"]), **options)

    states = _sensitive(name, given["func"], given["y0"], given["args"], solve, not given["tfirst"])
    return (states, *found[1:]) if given["full_output"] else states


INTEGRALS: dict[str, Function] = {
    "integrate.quad": _quad,
    "integrate.quad_vec": _program,
    "integrate.solve_ivp": _solve_ivp,
    "integrate.odeint": _odeint,
}
"""Functions of functions: the rules are called as those of solvers are."""
