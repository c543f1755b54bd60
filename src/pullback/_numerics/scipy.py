"""SciPy's special functions, for functions that pullback has no algorithm for: the extra `pullback[special]`."""

import functools
import importlib
from types import ModuleType


@functools.cache
def special() -> ModuleType:
    """The module scipy.special, imported on first use."""
    try:
        return importlib.import_module("scipy.special")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "this function is computed by SciPy, which is not installed: it is the extra 'special' of pullback, "
            "python -m pip install 'pullback[special]'",
            name=error.name,
        ) from error
