"""Private names of torch.fx._symbolic_trace, for programs that have a `trace` of their own, as PyTorch Geometric has."""

from __future__ import annotations

import contextlib
import functools as functools
from collections.abc import Callable
from types import FunctionType as FunctionType
from typing import TYPE_CHECKING, Any

from ....nn.modules.calls import Calls
from ....nn.modules.members import Members
from ..inert import does_nothing
from .capture import replaced
from .proxy import Proxy as Proxy
from .tracing import Tracer

if TYPE_CHECKING:
    from ...._core.typing import Function


_orig_module_call, _orig_module_getattr = Calls.__call__, Members.__getattr__
_autowrap_check = does_nothing


class ScriptObject:
    """An object of TorchScript, of which there are none."""


def compatibility(**options: object) -> Callable[[Any], Any]:
    """A decorator that changes nothing."""
    return lambda function: function


class _Patcher(contextlib.ExitStack):
    """A block in which methods of classes are replaced."""

    def patch_method(self, cls: type, name: str, new_fn: Function, deduplicate: bool = True) -> None:
        """Replace a method until the end of the block."""
        undo = (setattr, cls, name, vars(cls)[name]) if name in vars(cls) else (delattr, cls, name)
        setattr(cls, name, new_fn)
        self.callback(*undo)


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    """Have functions that programs wrap recorded, until the end of the block."""
    patcher.enter_context(replaced(Tracer()))
