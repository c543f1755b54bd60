"""autograd.builtins: Python's own containers and type checks, which also look into boxes; containers are not boxed."""

import builtins
from typing import Any

from .boxes import getval

dict: Any = builtins.dict
list: Any = builtins.list
tuple: Any = builtins.tuple
DictBox: Any = builtins.dict  # in autograd their boxed types, here the types themselves
SequenceBox: Any = builtins.tuple


def isinstance(value: object, kind: Any) -> bool:
    """True if a value, or the value of a box, is an instance of a class.

    >>> from pullback.compat import autograd
    >>> float(autograd.grad(lambda x: x * autograd.isinstance(x, float))(3.0))
    1.0
    """
    return builtins.isinstance(getval(value), kind)


def type(value: object) -> Any:
    """The type of a value, or of the value of a box."""
    return builtins.type(getval(value))
