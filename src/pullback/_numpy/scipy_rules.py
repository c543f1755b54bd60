"""The table of what SciPy computes in compiled code and has a known derivative: for each function one on tensors.

SciPy's own function is given to the rules that ask for it, as `real`: it is the one that decides what a map is. A rule
takes the parameters of SciPy's function that it names; any other must have its default, or the call is refused.
SciPy is not imported here.
"""

from __future__ import annotations

import functools
import inspect
import itertools

import numpy as np

from .._core.primitives import Function
from .linear_maps import tracked
from .scipy_filters import FILTERS
from .scipy_integrals import INTEGRALS
from .scipy_linalg import MATRICES
from .scipy_names import spherical
from .scipy_points import POINTS
from .scipy_scattered import SCATTERED
from .scipy_solvers import OPTIMA, OPTIMIZERS, STEADY, solved

RULES: dict[str, Function] = {
    **MATRICES,
    **FILTERS,
    **POINTS,
    **SCATTERED,
    **OPTIMA,
    **STEADY,
    "special.spherical_jn": spherical,
}
SOLVERS: dict[str, Function] = {**OPTIMIZERS, **INTEGRALS}
"""Functions of functions, which may read tensors: only running them tells."""
IGNORED = "overwrite_a overwrite_b overwrite_ab overwrite_x overwrite_data check_finite lapack_driver driver workers plan lwork rng seed checks"
"""Parameters that say how a value is found, not which."""


def key(value: object) -> str:
    """The name of a function of SciPy's or scikit-learn's without private modules, and SciPy's without the package: `linalg.solve`."""
    module = getattr(value, "__module__", None) or ""
    package, *parts = module.split(".")
    if package not in ("scipy", "sklearn"):
        return ""
    name = getattr(value, "__name__", "")
    public = [
        part for k, part in enumerate(itertools.takewhile(lambda part: part[0] != "_", parts)) if k == 0 or part != name
    ]  # fft.fft
    return ".".join([*(() if package == "scipy" else (package,)), *public, name])


def is_ours(value: object) -> bool:
    """Whether a function is one that `marked` made: not one that others made of it, with its attributes."""
    return getattr(value, "of_tensors", None) is value


def marked(function: Function, real: Function) -> Function:
    """A function that stands for one of SciPy's, with its name."""
    made = functools.wraps(real)(function)
    vars(made)["of_tensors"] = made
    return made


def own(real: object) -> Function | None:
    """The function that gives what one of SciPy's gives, also for tensors; None if there is no rule."""
    if not callable(real) or isinstance(real, type) or is_ours(real):
        return None
    if (solver := SOLVERS.get(key(real))) is not None:
        return functools.partial(solved, real, f"scipy.{key(real)}", solver)
    rule = RULES.get(key(real))
    return None if rule is None else functools.partial(_applied, real, rule)


def _applied(real: Function, rule: Function, *args: object, **options: object) -> object:
    name = f"scipy.{key(real)}"
    wanted = inspect.signature(rule).parameters
    try:
        signature = inspect.signature(real)
    except ValueError:  # of a function in C
        signature = inspect.signature(rule)
    given: dict[str, object] = {}
    for parameter, value in signature.bind(*args, **options).arguments.items():
        kind = signature.parameters[parameter].kind
        given.update(value if kind is inspect.Parameter.VAR_KEYWORD else {parameter: value})
    every = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in wanted.values())
    for parameter, value in list(given.items()):
        if parameter in IGNORED.split():
            del given[parameter]
        elif not (every or parameter in wanted):
            default = signature.parameters[parameter].default if parameter in signature.parameters else None
            if value is not default and not (np.isscalar(value) and value == default):
                shape = getattr(value, "shape", ())
                told = f" of shape {tuple(shape)}" if shape else repr(value)
                raise TypeError(f"{name} has no derivative here with {parameter}={told}: leave it out")
            del given[parameter]
        elif parameter == "output" and value is not None and not isinstance(value, type):
            raise TypeError(f"{name} has no derivative here with output=: take what it returns")
    given |= {word: each for word, each in (("real", real), ("name", name)) if word in wanted}
    return rule(**given)


def dispatching(real: Function) -> Function:
    """A function of SciPy's that has a rule as one that takes tensors, too; any other as it is."""
    function = own(real)
    if function is None:
        return real
    always = key(real) in SOLVERS

    def of_tensors(*args: object, **options: object) -> object:
        return (function if always or tracked(*args, *options.values()) else real)(*args, **options)

    return marked(of_tensors, real)
