"""autograd.misc.tracers: functions with constant control flow."""

import functools
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def const_graph(fun: Function, *args: object, **kwargs: object) -> Function:
    """The function with its first arguments fixed. autograd traces it only once; here its Python code runs each time.

    >>> from pullback.compat.autograd.recording import const_graph
    >>> const_graph(lambda x, y: x * y, 3.0)(2.0)
    6.0
    """
    return functools.wraps(fun)(functools.partial(fun, *args, **kwargs))
