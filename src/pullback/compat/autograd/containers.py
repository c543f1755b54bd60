"""autograd.builtins. Containers are not boxed here, only what they hold: these are Python's own, which look into boxes."""

from __future__ import annotations

import builtins
from typing import Any

from .boxes import getval

dict: Any = builtins.dict
list: Any = builtins.list
tuple: Any = builtins.tuple
DictBox: Any = builtins.dict  # what autograd makes of them, here themselves
SequenceBox: Any = builtins.tuple


def isinstance(value: Any, kind: Any) -> bool:
    """Whether a value, or the one in a box, is an instance of a class.

    >>> from pullback.compat import autograd
    >>> float(autograd.grad(lambda x: x * autograd.isinstance(x, float))(3.0))
    1.0
    """
    return builtins.isinstance(getval(value), kind)


def type(value: Any) -> Any:
    """The type of a value, or of the one in a box."""
    return builtins.type(getval(value))
