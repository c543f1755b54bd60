"""Manners of arrays: what tensors do as NumPy's arrays where a program asks them that knows nothing of tensors.

Methods of a tensor have torch's arguments and results; where an array has a method of the same name, a program of NumPy's
means that: `x.std()` divides by n, `x.max(0)` gives values alone. What NumPy has as a number is a tensor without axes: it is
a copy of an element, not a view, and `a += b` gives `a` a new value, whatever else has the old one. These methods
are exchanged while a block of `numpy_programs` is entered, and look at the caller's module.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.modes import mode
from .._core.primitives import Function
from .._tensor.tensor import Tensor
from ..interpreters import Boxed
from ..vocabulary import shapes
from ..vocabulary.promotion import category
from .construction import CONSTRUCTION
from .facades import belongs
from .operands import joined, on_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._core.typing import DType, Sizes, TensorLike

BY_NUMPY = """all any argmax argmin argpartition argsort clip cumprod cumsum diagonal dot max mean min nonzero copy prod ptp put
    ravel repeat round searchsorted squeeze std sum swapaxes take trace var""".split()
"""Methods of arrays that are the functions of the same name."""
IN_PLACE = "add and floordiv lshift mod mul or pow rshift sub truediv xor".split()


def _asked() -> bool:
    """Whether the method two frames up was called by a program whose block this thread is inside."""
    programs = mode.get().programs
    return bool(programs) and belongs(sys._getframe(2).f_globals.get("__name__", ""), programs)


class _Member:
    """A method, or an attribute, that is another one to a program."""

    def __init__(self, name: str, own: Function, original: Any) -> None:
        self.name, self.own, self.original = name, own, original

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is not None and _asked():
            return self.own(instance)
        if self.original is None:
            raise AttributeError(f"'Tensor' object has no attribute {self.name!r}", name=self.name, obj=instance)
        return self.original.__get__(instance, owner)

    def __set__(self, instance: object, value: object) -> None:
        self.original.__set__(instance, value)


def _transpose(x: Tensor, *axes: int) -> Tensor:
    return on_tensors.transpose(x, axes[0] if len(axes) == 1 else axes or None)


def _flatten(x: Tensor, order: str = "C") -> Tensor:
    return ops.clone(on_tensors.ravel(x, order))


def _sort(x: Tensor, *args: Any, **options: Any) -> None:
    x[...] = np.sort(x, *args, **options)


def _astype(x: Tensor, dtype: DType, *rest: object, copy: bool = True, **options: object) -> Tensor:
    return CONSTRUCTION["astype"](x, np.dtype(dtype), copy=copy)


def _reshape(x: Tensor, *shape: Sizes, order: str = "C") -> Tensor:
    return on_tensors.reshape(x, shape[0] if len(shape) == 1 else shape, order)


def _view(x: Tensor, *dtype: object) -> Tensor:
    if dtype:
        raise TypeError(f"x.view({dtype[0]!r}) shows the memory in another form, which has no derivative: use x.astype")
    return x[...]


def _length(x: Tensor) -> Callable[[], int]:
    if not x.ndim:
        raise AttributeError("a number has no length")
    return lambda: x.shape[0]


def _elements(x: Tensor) -> Callable[[], Iterator[Tensor]]:
    if not x.ndim:
        raise AttributeError("a number has no elements")
    return lambda: iter([ops.clone(one) if x.ndim == 1 else one for one in shapes.unbind(x)])


def _fill(x: Tensor, value: TensorLike) -> None:
    x[...] = value


def _partition(x: Tensor, *args: Any, **options: Any) -> None:
    x[...] = np.partition(x, *args, **options)


METHODS: dict[str, Function] = {name: vars(np)[name] for name in BY_NUMPY}
METHODS |= {"transpose": _transpose, "flatten": _flatten, "sort": _sort, "partition": _partition, "fill": _fill}
METHODS |= {
    "astype": _astype,
    "reshape": _reshape,
    "view": _view,
    "__pos__": np.positive,
    "conjugate": operator.methodcaller("conj"),
}
ATTRIBUTES: dict[str, Function] = {
    "dtype": operator.attrgetter("_dtype"),
    "imag": np.imag,
    "flags": lambda x: x._elements().flags,
    "__len__": _length,
    "__iter__": _elements,
}


def _item(original: Function) -> Function:
    def method(self: Tensor, index: Any) -> Tensor:
        found = original(self, index)
        return ops.clone(found) if not found.ndim and _asked() else found

    return method


def _set_item(original: Function) -> Function:
    def method(self: Tensor, index: Any, value: object) -> None:
        original(self, index, joined(value) if isinstance(value, (list, tuple)) and _asked() else value)

    return method


def _augmented(name: str, original: Function) -> Function:
    new = getattr(operator, f"__{name}__")

    def method(self: Tensor, other: object) -> Any:
        return new(self, other) if not self.ndim and _asked() else original(self, other)

    return method


def _subtracted(original: Function) -> Function:
    """A mask is a number in a difference with numbers, as in `1 - mask`; of two masks, the difference is refused."""

    def method(self: Tensor, other: object) -> Any:
        if _asked():
            masks = [category(each)[0].kind == "b" for each in (self, other)]
            if masks == [True, False]:
                self = self.long()
            elif masks == [False, True] and isinstance(other, Tensor):
                other = other.long()
        return original(self, other)

    return method


def _copied(original: Function) -> Function:
    def method(self: Tensor, *memo: object) -> Tensor:
        return self.clone() if mode.get().programs else original(self, *memo)

    return method


def _rounded(x: Tensor, ndigits: int | None = None) -> Tensor | int:
    return round(x.detach().item()) if ndigits is None else on_tensors.round(x, ndigits)


def exchange() -> list[tuple[type, str, object]]:
    """Give tensors these methods; what they had, for `restore`."""
    new: dict[tuple[type, str], object] = {}
    for name, make in (("__getitem__", _item), ("__setitem__", _set_item)):
        new[Tensor, name] = make(getattr(Tensor, name))
    new[Tensor, "__round__"] = _rounded
    classes: tuple[type, ...] = (Tensor, Boxed)
    for cls, name in itertools.product(classes, ("__copy__", "__deepcopy__")):
        new[cls, name] = _copied(getattr(cls, name))
    for name in ("__sub__", "__rsub__"):
        new[Tensor, name] = _subtracted(getattr(Tensor, name))
    for name in IN_PLACE:
        new[Tensor, f"__i{name}__"] = _augmented(name, getattr(Tensor, f"__i{name}__"))
    for name, method in (METHODS | ATTRIBUTES).items():
        getattr(Tensor, name, None)  # imported now: that would replace ours
        own = functools.partial(functools.partial, method)
        new[Tensor, name] = _Member(
            name, own if name in METHODS else method, inspect.getattr_static(Tensor, name, None)
        )
    before = [(cls, name, vars(cls).get(name)) for cls, name in new]
    for (cls, name), member in new.items():
        setattr(cls, name, member)
    return before


def restore(before: list[tuple[type, str, object]]) -> None:
    """Give tensors the methods that they had."""
    for cls, name, method in before:
        if method is None:
            delattr(cls, name)
        else:
            setattr(cls, name, method)
