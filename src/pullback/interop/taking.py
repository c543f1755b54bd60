"""SciPy's and scikit-learn's functions and classes as ones that take tensors: by a rule, or as a program that is run on tensors."""

from __future__ import annotations

import functools
from types import ModuleType

import numpy as np

from .._core.primitives import Carrier, Function
from .._numpy.linear_maps import tracked
from .._numpy.programs import numpy_programs
from .._numpy.scipy_points import METHODS, method
from .._numpy.scipy_rules import dispatching, is_ours, key, marked

PROGRAMS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "optimize": "approx_fprime",
        "integrate": "simpson",
        "interpolate": "griddata",
        "signal": """welch periodogram csd coherence spectrogram chirp zoom_fft czt lombscargle residue wiener butter sawtooth deconvolve""",
        "stats": "linregress expectile wasserstein_distance energy_distance obrientransform theilslopes",
        "spatial": "procrustes minkowski_distance geometric_slerp",
        "spatial.distance": "jensenshannon mahalanobis",
        "linalg": "companion khatri_rao",
        "sklearn.metrics": """mean_squared_error root_mean_squared_error mean_absolute_error mean_absolute_percentage_error
            mean_squared_log_error max_error r2_score explained_variance_score mean_tweedie_deviance mean_poisson_deviance
            mean_gamma_deviance mean_pinball_loss d2_tweedie_score d2_absolute_error_score d2_pinball_score brier_score_loss
            d2_brier_score ndcg_score""",
        "sklearn.metrics.cluster": "silhouette_score calinski_harabasz_score davies_bouldin_score",
        "sklearn.preprocessing": "scale",
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
NAMESPACE = "array_namespace"
"""The function of SciPy's that finds the namespace of its arguments, and refuses tensors beside arrays."""


def functions(module: ModuleType) -> None:
    """Have the functions and classes of one of their modules take tensors."""
    for name, value in list(vars(module).items()):
        new = taking(value)
        if new is not value:
            setattr(module, name, new)


@functools.cache
def _made(value: Function) -> Function:
    return _as_program(value) if key(value) in PROGRAMS else dispatching(value)


def taking(value: object) -> object:
    """What stands for one of their functions; a class is changed, and stays what it is."""
    if not callable(value) or is_ours(value) or not (own := key(value)):
        return value
    if own == NAMESPACE:
        return _among_tensors(value)
    if not isinstance(value, type):
        return _made(value)
    for path in METHODS:
        owner, _, name = path.rpartition(".")
        if owner == own and not is_ours(real := getattr(value, name)):
            setattr(value, name, marked(method(path, real), real))
    for name in OBJECTS.get(own, "").split():
        if not is_ours(real := getattr(value, name)):
            setattr(value, name, _as_program(real))
    return value


@functools.cache
def _among_tensors(real: Function) -> Function:
    """The namespace of the tensors among some arrays, lists and tensors: SciPy makes tensors of the others by its `asarray`."""

    def of_tensors(*arrays: object) -> object:
        if any(isinstance(each, Carrier) for each in arrays):
            arrays = tuple([each for each in arrays if type(each) not in (np.ndarray, list, tuple)])
        return real(*arrays)

    return marked(of_tensors, real)


def _as_program(real: Function) -> Function:
    """A function that runs in a block for its package if tensors are among its arguments, or in its object."""
    package = real.__module__.partition(".")[0]

    def of_tensors(*args: object, **options: object) -> object:
        held = vars(args[0]).values() if args and key(type(args[0])) and hasattr(args[0], "__dict__") else ()
        if not tracked(*args, *options.values(), *held):
            return real(*args, **options)
        with numpy_programs(package):
            return real(*args, **options)

    return marked(of_tensors, real)
