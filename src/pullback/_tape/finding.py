"""Where pullback looks for the native core, `pullback-native`: the one place."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

VARIABLE = "PULLBACK_NATIVE"


def _found() -> Any:
    """The core, or None: without one, with PULLBACK_NATIVE=0, and, with a warning, if it is that of another version."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in {"", "0", "1"}:
        raise ImportError(f"{VARIABLE}={wanted}: it is 0 for Python alone, 1 for the native core, or not set")
    if wanted == "0":
        return None
    version = sys.modules[__name__.partition(".")[0]].__version__
    try:
        found = importlib.import_module("_pullback_native")
    except ModuleNotFoundError:
        why = f"it is not installed: python -m pip install pullback-native=={version}"
    except ImportError as error:
        why = str(error)
    else:
        if found.__version__ == version:
            return found
        why = f"pullback is {version}, pullback-native {found.__version__}: python -m pip install pullback-native=={version}"
        if not wanted:
            warnings.warn(f"the native core is not used, since versions differ: {why}", RuntimeWarning, stacklevel=2)
    if wanted:
        raise ImportError(f"{VARIABLE}=1 asks for the native core, and {why}; {VARIABLE}=0 goes without")
    return None


core = _found()


class Fields:
    """The attributes of tensors that the core has as fields; it reads them at each view."""

    __slots__ = ()


class Links:
    """The attributes of nodes, of which the core says to the collector what is in them."""

    __slots__ = ("edges", "saved", "params", "hooks", "shape", "seq", "code", "offset")


if not TYPE_CHECKING and core is not None:
    Fields, Links = core.Base, core.Links
