"""compile: a whole gradient step as one piece of machine code.

`pullback.compile(function)`, or `@pullback.compile` above it, gives a function that is recorded when it is first called
and from then on run as a program: forward pass, backward pass and the optimizer's update alike.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import func as _func  # noqa: F401  # whole before modules in it: see `_core.lazy.imported`
from .compiled import Compiled as Compiled, compile as compile
from .engines.lowerings import LoweringError as LoweringError
from .refusals import CaptureError as CaptureError


class _Compile(ModuleType):
    """This module, which can be called: `pullback.compile(f)` is `pullback.compile.compile(f)`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return compile(*args, **options)


sys.modules[__name__].__class__ = _Compile
