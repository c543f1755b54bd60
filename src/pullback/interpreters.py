"""The public hook: read a program your own way.

An interpreter boxes values, sees every operation on them, and decides what happens. Entering one takes the next level,
so interpreters nest, with each other and around the tape. `examples/printing_tracer.py` is one in a dozen lines.
"""

from __future__ import annotations

from typing import Any

from ._core import Carrier
from ._core import Interpreter as _Interpreter
from ._core import Primitive as Primitive
from ._node import new
from ._tensor import Tensor


class Boxed(Tensor):
    """A tensor that belongs to an interpreter: operations on it go there."""

    __slots__ = ("interpreter", "level")

    level: int
    interpreter: Any


class Interpreter(_Interpreter):
    """A reading of a program, entered with `with`: define `process(primitive, args, params)`.

    `args` are the operation's arrays, some of them boxed here; `params` its metadata. Calling
    `primitive(*args, **params)` with unboxed values computes the operation one level further in.

    >>> import pullback
    >>> class Names(pullback.interpreters.Interpreter):
    ...     def process(self, primitive, args, params):
    ...         print(primitive.name)
    ...         return self.box(primitive(*map(self.unbox, args), **params))
    >>> with Names() as names:
    ...     x = names.box(pullback.tensor([1.0, 2.0]))
    ...     y = names.unbox((x * x).sum())
    multiply
    sum
    >>> y
    tensor(5.)
    """

    def box(self, value: Any) -> Any:
        """A value as a tensor of this interpreter; a tuple element by element."""
        if isinstance(value, tuple):
            return tuple(map(self.box, value))
        boxed: Any = new(Boxed)
        boxed._array = value
        boxed._node = boxed._cell = None
        boxed.interpreter = self
        boxed.level = self.level
        return boxed

    def unbox(self, value: Any) -> Any:
        """What a tensor of this interpreter holds; anything else as it is."""
        return value._array if isinstance(value, Carrier) and value.level == self.level else value
