"""pullback: PyTorch's autograd for NumPy programs.

Tensors record what is done to them; `backward(gradient)` pulls a vector back through that record.
"""

import builtins as _builtins
from math import e, inf, nan, pi
from typing import Any as _Any

from ._core.lazy import PROVIDERS as _PROVIDERS, index as _index
from ._core.tracebacks import install as _install
from ._tensor import functions as _functions, surface as _surface

__version__ = "0.1.0"

_MODULES = "array_api autograd compile distributed distributions explain extend fft files func interop interpreters linalg masked nn observe optim program signal special testing utils"

# Names of rooms above the tensor, by the modules that define them; all others are in `_tensor.surface`
_INDEX = {
    "_numpy.programs": "numpy_programs",
    "_tape.checking": "check",
    "_tape.reasons": "why",
    "autograd.anomaly_mode": "detect_anomaly is_anomaly_check_nan_enabled is_anomaly_enabled",
    "autograd.revolve": "checkpoint_loop",
    "files": "load save",
    "func.control": "cond fori_loop scan while_loop",
    "func.custom_rules": "custom_jvp custom_vjp",
    "func.flattening": "flatten_problem",
    "func.live": "grad hessian jacobian value_grad_hessian",
    "func.mapping": "vmap",
    "func.reverse": "value_and_grad",
    "signal.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "sparsity": "sparse_hessian sparse_jacobian",
}
_FUNCTIONS = _surface.NAMESPACES["pullback"]
_of_index, _dir, _others = _index(globals(), _INDEX, _MODULES)


_PROVIDERS.update(
    {
        "machine code": "pullback.compile.machine",
        "engines": "pullback.compile.placed",
        "batches of cotangents": "pullback.func.rows",
        "numpy functions": "pullback._numpy",
        "array namespace": "pullback.array_api",
        "numbers": "pullback._tensor.creation",
        "primitives": "pullback.ops",
        "plain tensors": "pullback._tensor.tensor",
        "operations of users": "pullback._core.own",
        "strong zeros": "pullback._tape.zeros",
        "fills of shared memory": "pullback.vocabulary.shared_memory",
    }
)


_install()


def __getattr__(name: str) -> _Any:
    if name not in _FUNCTIONS:
        return _of_index(name)
    globals()[name] = found = _functions.function(name)
    return found


def __dir__() -> list[str]:
    return [*_dir(), *_FUNCTIONS]


# What `from pullback import *` binds: no name of Python's own, such as `sum` or `float`
__all__ = ["e", "inf", "nan", "pi"]
__all__ += [name for name in (*_others, *_FUNCTIONS) if not hasattr(_builtins, name)]
