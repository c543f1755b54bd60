"""scipy.optimize on tensors: what a solver finds has the derivative of the equation that it solves, not of its steps.

A solver is run on numbers. Its function may read tensors, which only what it returns tells; `Watched` looks at that.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import FieldBlock, mode
from .._core.primitives import Carrier, Function
from .._tape.observers import Looking
from ..vocabulary import load
from .linear_maps import loaded
from .operands import UNKNOWN, concrete, constants, holds_tensor, is_plain, joined, on_tensors, operand, tensors

if TYPE_CHECKING:
    from .._core.typing import Array, ArrayLike, Params, Tensor, Value

    Rule = Function
FREE = "args x0 x1 bracket p0 y0 xdata ydata sigma a b t_span kwargs".split()
"""Arguments of solvers that may be tensors with gradients: parameters, of which rules know, and starts, on which nothing depends."""
FIXED = {
    "bounds": "a bound moves nothing unless a number is at it: minimize over z with low + (high - low) * sigmoid(z) in place of the number",
    **dict.fromkeys(
        ("t_eval", "t"),
        "times are fixed: the end of solve_ivp's t_span has a derivative with method='RK45', or let the rate be T * f(s * T, y), with "
        "s from 0 to 1 for the time and T among args",
    ),
}
"""Arguments of solvers that may be no tensors with gradients: why, and what to do."""
UNBOUNDED = "cg bfgs newton-cg dogleg trust-ncg trust-exact trust-krylov".split()
"""Methods of `minimize` that go on without bounds, after a warning."""
BOUND = 1e-6
"""How near to a bound a number is taken to be at it, over 1 plus its size."""
TOLD = (bool, int, str, np.bool_, np.integer)
"""What a result says of how it was found: whatever else it holds depends on the parameters, and is left out."""


class Watched:
    """A function whose results are numbers, and which remembers whether it has returned tensors, and some with gradients."""

    def __init__(self, name: str, function: Function) -> None:
        functools.update_wrapper(self, function)
        self.name, self.function, self.seen, self.tensors = name, function, False, False

    def __call__(self, *args: object, **options: object) -> Any:
        found = self.function(*args, **options)
        _require_one(self.name, found)
        self.seen = self.seen or _has_gradient(found)
        self.tensors = self.tensors or holds_tensor(found)
        return _unwatched("", found)


def _unwatched(name: str, value: Any, word: str = "args") -> Any:
    """An argument or a result as arrays, of which nobody is told: rules know what depends on them. A tensor's may be written to."""
    why = FIXED.get(word, UNKNOWN)
    with FieldBlock(watcher=None):
        if hasattr(value, "lb"):  # SciPy's object of bounds, which keeps tensors
            constants(name, (value.lb, value.ub), why=why)
        found = constants(name, value, why=why, tracked=word in FREE)
    return found.copy() if isinstance(value, Carrier) else found


def _require_one(name: str, value: object) -> None:
    """Refuse a batch: a solver solves one problem."""
    while isinstance(value, (list, tuple)) and value:
        _require_one(name, value[1:])
        value = value[0]
    while isinstance(value, Carrier):
        if getattr(value, "batched", False):
            raise TypeError(
                f"{name} finds one solution, and inside vmap this is a batch of problems: call it in a loop and stack what it finds, "
                "or give func.implicit a solver made of tensor operations"
            )
        value = value._array


def _has_gradient(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_gradient, value))
    return isinstance(value, Carrier) and not is_plain(value)


def solved(real: Function, name: str, rule: Rule, *args: object, **options: object) -> Any:
    """What one of SciPy's solvers finds, with the derivative that a rule gives it if gradients can reach it."""
    bound = inspect.signature(real).bind(*args, **options)
    watched, given = [], dict(bound.arguments)
    for word, value in given.items():
        _require_one(name, value)
        if callable(value) and not isinstance(value, type):
            bound.arguments[word] = Watched(name, value)
            watched.append(bound.arguments[word])
        else:
            bound.arguments[word] = _unwatched(name, value, word)
    looks: list[Tensor] = []
    with FieldBlock(watcher=Looking(mode.get(), looks.append)):
        found = real(*bound.args, **bound.kwargs)
    moved = any(each.seen for each in watched) or any(_has_gradient(given.get(word)) for word in FREE)
    bound = inspect.signature(real).bind(*args, **options)
    bound.apply_defaults()
    if moved:
        return rule(real, name, dict(bound.arguments), found)
    if name.startswith("scipy.integrate.") and (looks or any(each.tensors for each in watched)):
        rule(real, name, dict(bound.arguments), found)  # which refuses steps that move
    return found


def attached(name: str, condition: Function, solution: ArrayLike) -> Tensor:
    """A solution, with derivatives by whatever its condition reads."""
    return load("func.implicit_functions", "attached")(name, condition, solution)


def applied(given: Params, word: str) -> Function:
    """A solver's function with its further arguments; of several results, such as a derivative beside the value, the first."""
    more = given.get("args") or ()
    more = more if isinstance(more, tuple) else (more,)
    several = given.get("jac") is True or given.get("fprime") is True

    def function(y: Tensor) -> Value:
        found = given[word](y, *more, **(given.get("kwargs") or {}))
        return joined(found[0] if several else found)

    return function


def filled(found: Any, **values: object) -> Any:
    """A result of SciPy's with these values, and of the others only those that tell how they were found."""
    told = {word: value for word, value in found.items() if isinstance(value, TOLD)}
    kind: Any = type(found)
    return _made(_telling(kind), {**told, **values})


def _made(kind: Any, values: dict[str, object]) -> Any:
    """A result of this class, whatever its constructor asks for."""
    made = kind.__new__(kind)
    made.update(values)
    return made


class Told(dict[str, Any]):
    """A result that says what of it has no derivative; `kind` is SciPy's class of it."""

    kind: type

    @staticmethod
    def absent(word: object) -> str:
        """What is said where something is asked for that is not there."""
        return (
            f"{word!r}: of a solution with derivatives there is only what has some. What SciPy's steps leave, as hess_inv, "
            "has none: func.hessian and func.jacrev of your function at x are exact"
        )

    def __missing__(self, word: object) -> object:
        raise KeyError(self.absent(word))

    def __getattr__(self, word: str) -> object:
        if word in self:
            return self[word]
        raise AttributeError(self.absent(word))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.kind, dict(self))


@functools.cache
def _telling(kind: type) -> type:
    """A class of SciPy's results that says what has no derivative."""
    return type(kind.__name__, (Told, kind), {"kind": kind, "__module__": kind.__module__})


def _beside(found: Any, value: Tensor) -> Any:
    """A solution in the place of SciPy's, which may have others beside it."""
    if not isinstance(found, tuple):
        return value
    rest = [
        filled(each, **({"root": value} if "root" in each else {})) if isinstance(each, dict) else each
        for each in found[1:]
    ]
    return type(found)(value, *rest) if hasattr(found, "_fields") else (value, *rest)


def _root(word: str, *, fixed: bool = False) -> Rule:
    """The rule of a solver of equations, whose function has this name; of fixed points, if so."""

    def rule(_: Function, name: str, given: Params, found: Any) -> Any:
        function = applied(given, word)
        condition = (lambda y: function(y) - y) if fixed else function
        if (field := next((each for each in ("root", "x") if each in dir(found)), None)) and isinstance(found, dict):
            y = attached(name, condition, found[field])
            return filled(found, **{field: y}, **({"fun": function(y)} if "fun" in found else {}))
        return _beside(found, attached(name, condition, found[0] if isinstance(found, tuple) else found))

    return rule


def _limits(name: str, bounds: Any, pairs: bool, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The lower and upper bounds of each number."""
    if bounds is None:
        return np.full(shape, -np.inf), np.full(shape, np.inf)
    if hasattr(bounds, "lb"):
        low, high = bounds.lb, bounds.ub
    else:
        low, high = zip(*bounds, strict=True) if pairs else bounds
    ends = [
        [end if each is None else each for each in side] if isinstance(side, Iterable) else side
        for side, end in ((low, -np.inf), (high, np.inf))
    ]
    lower, upper = (np.broadcast_to(np.asarray(end, float), shape) for end in ends)
    return lower, upper


def _between(name: str, condition: Function, solution: ArrayLike, lower: Array, upper: Array) -> Tensor:
    """A solution of which the numbers that are at a bound stay there."""
    x = np.asarray(solution)
    near = BOUND * (1 + np.abs(x))
    free = np.flatnonzero((x > lower + near) & (x < upper - near))
    if free.size == x.size:
        return attached(name, condition, x)
    place = np.arange(x.size)
    place[free] = x.size + np.arange(free.size)

    def whole(part: Tensor) -> Tensor:
        return on_tensors.concatenate([x.ravel(), part])[place].reshape(x.shape)

    return (
        whole(attached(name, lambda part: condition(whole(part)).reshape(-1)[free], x.ravel()[free]))
        if free.size
        else tensors(x)[0]
    )


def _minimum(_: Function, name: str, given: Params, found: Any) -> Any:
    """The rule of minimizers: there, the slope is zero."""
    if "constraints" in given and len(given["constraints"] or ()):
        raise TypeError(
            f"{name} has no derivative here with constraints=: func.implicit takes the conditions of the minimum"
        )
    if np.any(given.get("integrality")):
        raise TypeError(f"{name} has no derivative here with integrality=: whole numbers stay the same around a point")
    objective, slope = applied(given, "fun" if "fun" in given else "func"), given.get("jac")

    def condition(y: Tensor) -> Tensor:
        if callable(slope):
            return applied(given, "jac")(y)
        return load("func", "grad")(lambda y: objective(y).sum())(y)

    bounds = None if str(given.get("method")).lower() in UNBOUNDED else given.get("bounds")
    lower, upper = _limits(name, bounds, "x0" in given or np.ndim(found.x) > 0, np.shape(found.x))
    x = _between(name, condition, found.x, lower, upper)
    return filled(found, x=x, fun=objective(x), **({"jac": condition(x)} if "jac" in found else {}))


def _golden(_: Function, name: str, given: Params, found: Any) -> Any:
    """The rule of a search that compares values alone, so that its steps have no derivative."""
    condition = load("func", "grad")(applied(given, "func"))
    return _beside(found, attached(name, condition, found[0] if isinstance(found, tuple) else found))


def _half_square(residual: Function) -> Function:
    """The slope of half the sum of squares of a residual."""
    return load("func", "grad")(lambda y: (residual(y) ** 2).sum() / 2)


def _least_squares(_: Function, name: str, given: Params, found: Any) -> Any:
    if given["loss"] != "linear":
        raise TypeError(f"{name} has no derivative here with loss={given['loss']!r}: 'linear' has")
    residual = applied(given, "fun")
    x = _between(name, _half_square(residual), found.x, *_limits(name, given["bounds"], False, np.shape(found.x)))
    rest, slopes = residual(x), load("func", "jacfwd")(residual)(x)
    return filled(found, x=x, fun=rest, cost=(rest**2).sum() / 2, jac=slopes, grad=slopes.T @ rest)


def _leastsq(_: Function, name: str, given: Params, found: Any) -> Any:
    residual = applied(given, "func")
    x = attached(name, _half_square(residual), found[0])
    if not given["full_output"]:
        return (x, *found[1:])
    slopes = load("func", "jacfwd")(residual)(x)
    return (x, on_tensors.linalg.inv(slopes.T @ slopes), *_beside((None, *found[2:]), x)[1:])


def _curve_fit(_: Function, name: str, given: Params, found: Any) -> Any:
    points, data, sigma = (operand(joined(given[word])) for word in ("xdata", "ydata", "sigma"))
    data = tensors(data)[0]
    if given.get("nan_policy") == "omit":
        known = np.flatnonzero(~np.isnan(concrete(data)) & ~np.isnan(np.atleast_2d(concrete(points))).any(0))
        points, data = points[..., known], data[known]
        sigma = sigma if sigma is None else sigma[known] if np.ndim(sigma) < 2 else sigma[known][:, known]

    def residual(p: Tensor) -> Tensor:
        misfit = given["f"](points, *[p[k] for k in range(p.shape[0])]) - data
        if sigma is None or np.ndim(sigma) < 2:
            return misfit if sigma is None else misfit / sigma
        return on_tensors.linalg.solve(on_tensors.linalg.cholesky(sigma), misfit)

    fitted = _between(
        name, _half_square(residual), found[0], *_limits(name, given["bounds"], False, np.shape(found[0]))
    )
    slopes = load("func", "jacfwd")(residual)(fitted)
    covariance = on_tensors.linalg.inv(slopes.T @ slopes)
    rows, columns = slopes.shape
    if not given["absolute_sigma"] and rows > columns:
        covariance = covariance * (residual(fitted) ** 2).sum() / (rows - columns)
    return (fitted, *_beside(found[1:], covariance))


def _nnls(real: Function, A: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Least squares without negative numbers: those that are zero stay zero."""
    A, b = tensors(A, b)
    x = real(concrete(A), concrete(b))[0]
    free = np.flatnonzero(x > 0)
    place = np.full(x.size, free.size)
    place[free] = np.arange(free.size)
    found = on_tensors.append(on_tensors.linalg.pinv(A[:, free]) @ b, np.zeros(1))[place]
    return found, on_tensors.linalg.norm(A @ found - b)


def _steady(real: Function, name: str, **given: object) -> object:
    """The rule of what stays the same around where it is, as ranks, and of the errors by which solve_ivp chooses its steps."""
    return real(**constants(name, given, tracked=True))


def _box_cox(real: Function, x: Tensor, lmbda: float | None = None) -> Any:
    """Box and Cox's transform, with the power that makes the data most like normal ones unless there is one."""
    logs = on_tensors.log(x)
    if lmbda is not None:
        return on_tensors.expm1(lmbda * logs) / lmbda if lmbda else logs

    def likelihood(power: Tensor) -> Tensor:
        return (power - 1) * logs.mean() - on_tensors.log(on_tensors.var(on_tensors.expm1(power * logs) / power)) / 2

    power = attached("scipy.stats.boxcox", load("func", "grad")(likelihood), real(concrete(x))[1])
    return on_tensors.expm1(power * logs) / power, power


def _assignment(cost_matrix: Tensor, maximize: bool = False) -> tuple[Array, Array]:
    """Rows and columns, which stay the same around where they are."""
    return loaded("optimize.linear_sum_assignment")(concrete(cost_matrix), maximize)


STEADY: dict[str, Function] = dict.fromkeys(("stats.kendalltau", "linalg.bandwidth", "integrate.norm"), _steady)
OPTIMIZERS: dict[str, Rule] = {
    **{f"optimize.{name}": _root("f") for name in "root_scalar brentq brenth bisect ridder toms748".split()},
    "optimize.newton": _root("func"),
    "optimize.fsolve": _root("func"),
    "optimize.root": _root("fun"),
    "optimize.fixed_point": _root("func", fixed=True),
    **{
        f"optimize.{name}": _minimum
        for name in "minimize minimize_scalar differential_evolution dual_annealing basinhopping shgo".split()
    },
    "optimize.golden": _golden,
    "optimize.least_squares": _least_squares,
    "optimize.leastsq": _leastsq,
    "optimize.curve_fit": _curve_fit,
}
"""Solvers: a rule gets SciPy's function, its name, its arguments, and what it has found."""
OPTIMA: dict[str, Function] = {
    "optimize.nnls": _nnls,
    "optimize.linear_sum_assignment": _assignment,
    "stats.boxcox": _box_cox,
}
