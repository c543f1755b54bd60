"""SciPy's functions and classes as ones that take tensors: by a rule, or as a program that is run on tensors."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from .._core.primitives import Carrier, Function
from .._numpy.linear_maps import tracked
from .._numpy.programs import lasting
from .._numpy.scipy_points import METHODS, method
from .._numpy.scipy_rules import dispatching, key

PROGRAMS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "optimize": "minimize minimize_scalar approx_fprime fixed_point",
        "integrate": "simpson quad_vec solve_ivp",
        "interpolate": "griddata",
        "signal": """welch periodogram csd coherence spectrogram chirp zoom_fft czt lombscargle residue wiener butter bilinear
            sawtooth deconvolve""",
        "stats": "linregress expectile yeojohnson wasserstein_distance energy_distance obrientransform theilslopes",
        "spatial": "procrustes minkowski_distance geometric_slerp",
        "spatial.distance": "jensenshannon mahalanobis",
        "linalg": "companion khatri_rao",
        "ndimage": "center_of_mass sum_labels mean variance standard_deviation",
    }.items()
    for name in names.split()
)
"""Functions that are right as programs: see `numpy_programs`."""
OBJECTS = {
    "interpolate.BarycentricInterpolator": "__init__ __call__",
    "interpolate.KroghInterpolator": "__init__ __call__",
    "interpolate.interp1d": "__init__ __call__",
    "stats.rv_continuous": "pdf logpdf cdf logcdf sf logsf ppf isf",
    "stats.multivariate_normal_gen": "pdf logpdf",
}
"""Classes whose methods are."""


def functions(module: ModuleType) -> None:
    """Have the functions and classes of one of SciPy's modules take tensors."""
    for name, value in list(vars(module).items()):
        new = taking(value)
        if new is not value:
            setattr(module, name, new)


@functools.cache
def _made(value: Any) -> Any:
    return _as_program(value) if key(value) in PROGRAMS else dispatching(value)


def taking(value: Any) -> Any:
    """What stands for one of SciPy's functions; a class is changed, and stays what it is."""
    if not callable(value) or hasattr(value, "of_tensors") or not key(value):
        return value
    if not isinstance(value, type):
        return _made(value)
    own = key(value)
    for path in METHODS:
        owner, _, name = path.rpartition(".")
        if owner == own and not hasattr(vars(value).get(name), "of_tensors"):
            setattr(value, name, _marked(method(path, getattr(value, name))))
    for name in OBJECTS.get(own, "").split():
        if not hasattr(vars(value).get(name), "of_tensors"):
            setattr(value, name, _as_program(getattr(value, name)))
    return value


def _marked(function: Function) -> Function:
    vars(function)["of_tensors"] = True
    return function


def _as_program(real: Function) -> Function:
    """A function that runs in a block for SciPy if tensors are among its arguments, or in its object."""

    @functools.wraps(real)
    def of_tensors(*args: Any, **options: Any) -> Any:
        held = vars(args[0]).values() if args and hasattr(args[0], "__dict__") and not isinstance(args[0], Carrier) else ()
        if not tracked(*args, *options.values(), *[each for each in held if isinstance(each, Carrier)]):
            return real(*args, **options)
        with lasting("scipy"):
            return real(*args, **options)

    return _marked(of_tensors)
