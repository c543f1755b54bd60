"""skip_init: a module with uninitialized weights."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..modules.module import Module

M = TypeVar("M", bound="Module")


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module of a class, constructed with the other arguments, with uninitialized parameters and buffers.

    The class must accept `device`, and its initialization must not do anything with parameters and buffers except fill
    them.

    >>> from pullback import nn
    >>> nn.utils.skip_init(nn.Linear, 3, 2).weight.shape
    pullback.Size([2, 3])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(
            f"Module must support a 'device' arg to skip initialization: {module_cls.__name__} takes none"
        )
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs).to_empty(device=device)
