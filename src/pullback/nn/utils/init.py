"""skip_init: a module whose weights are not drawn."""

from __future__ import annotations

import inspect
from typing import Any

from ..modules.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of a class, made with the other arguments, whose parameters and buffers hold whatever memory held.

    The class takes `device`, and its initialisation does nothing to parameters and buffers but to fill them.

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
