"""Pickles of whole objects: what the program trusts is called as Python's `pickle` would, and nothing else.

Tensors, arrays and plain containers are built here as in any other file. Only names that are none of these are left to the
program: it says which of them it trusts, and these are imported, called, and given their state.
"""

from __future__ import annotations

import contextlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from .._core import dtypes
from .._core.bfloat import BFloatArray, bfloat_type
from .._core.placement import device
from .._core.shapes import Size
from .._tensor.creation import from_numpy
from .._tensor.tensor import Tensor, rebuild
from . import arrays
from .builders import COUNT, FLAG, SIZES, TEXT, Builder, Takes
from .errors import FileError, UnsafeFileError
from .pickles import MAPPINGS, Machine, checked, paired

if TYPE_CHECKING:
    from io import BytesIO

    from .._core.typing import Array
    from .opening import Input

_MOST_ATTRIBUTES = 1000  # of a tensor


class Objects(Machine):
    """An interpreter of pickle opcodes that calls what `trusted` returns for the names of a module and in it.

    With `everything`, it also calls what these calls return, as Python's `pickle` does.
    """

    def __init__(
        self, names: Mapping[str, object], trusted: Callable[[str, str], object], *, everything: bool = False
    ) -> None:
        super().__init__({**_names(self), **names})
        self.trusted = trusted
        self.everything = everything
        self.found: list[object] = []
        self.given: list[object] = []  # attributes of tensors
        self._outside = False
        self.keys.objects = True  # the hash of an object is its program's

    def run(self, source: Input | BytesIO) -> object:
        """The value of the pickle at the position of a source; what tensors were given is looked at, too."""
        value = super().run(source)
        checked(self.given)
        return value

    @contextlib.contextmanager
    def _program(self) -> Iterator[None]:
        """A block of the program's own code, whose exceptions are the program's."""
        self._outside = True
        yield
        self._outside = False

    def fail(self, error: Exception) -> NoReturn:
        """Raise the exception of the program as it is; any other means that the pickle is damaged."""
        if self._outside:
            raise error
        super().fail(error)

    def absent(self, module: str, name: str) -> object:
        """What the program trusts of that name."""
        with self._program():
            found = self.trusted(module, name)
        self.found.append(found)
        return found

    def _trusts(self, value: object) -> bool:
        return self.everything or any(value is each for each in self.found)

    def call(self, builder: Any, arguments: tuple[Any, ...]) -> object:
        """What a builder, or something trusted, makes of arguments."""
        if self.everything and getattr(builder, "build", None) is arrays.Array and arguments[0] not in arrays.KINDS:
            builder = np.ndarray.__new__  # of a class derived from arrays, which has its own way to take its state
        if isinstance(builder, Builder) or not self._trusts(builder):
            return super().call(builder, arguments)
        with self._program():
            return builder(*arguments)

    def new(self) -> None:
        """Create an object of a class."""
        arguments, kind = self.pop(), self.pop()
        self._create(kind, arguments, {})

    def new_by_name(self) -> None:
        """Create an object of a class, with keyword arguments."""
        options, arguments, kind = self.pop(), self.pop(), self.pop()
        self._create(kind, arguments, options)

    def _create(self, kind: Any, arguments: tuple[object, ...], options: dict[str, object]) -> None:
        if isinstance(kind, Builder) or not self._trusts(kind):
            self.push(super().call(kind, arguments))
            return
        with self._program():
            self.push(kind.__new__(kind, *arguments, **options))

    def tensor(self, array: Array, requires_grad: bool, kind: object = None) -> Tensor:
        """A tensor, a parameter or a buffer, or one of a class that is trusted."""
        made = from_numpy(array).requires_grad_(requires_grad)
        if kind is None:
            return made
        if not self._trusts(kind) and not any(kind is each for each in self.names.values()):
            raise UnsafeFileError("Weights only load failed: its pickle makes a tensor of an unknown class")
        return rebuild(made._array, requires_grad, kind)

    def remember(self, place: int) -> None:
        """Keep the value on top of the stack at a place."""
        super().remember(place)
        if isinstance(self.stack[-1], arrays.Unbuilt):
            self.stack[-1].places.append(place)

    def set_state(self) -> None:
        """Give the object below the top of the stack its state, which is the top."""
        state, value = self.stack[-1], self.stack[-2]
        if isinstance(value, arrays.Unbuilt):
            self._finish(value, state)
        elif self._trusts(type(value)):
            with self._program():
                _restore(value, state)
        elif type(value) is Tensor:
            _check_attributes(state)
            self.charge(len(state))
            self.given.append(state)
            vars(value).update(state)
        else:
            super().set_state()
            return
        self.pop()

    def _finish(self, value: arrays.Unbuilt, state: object) -> None:
        """Put what is built in the place of what was not."""
        self.stack[-2] = built = value.built(state, self.charge)
        for place in value.places:
            if self.memo.get(place) is value:
                self.memo[place] = built

    def append(self, values: list[object]) -> None:
        """Add values to the list, or to the trusted object like one, on top of the stack."""
        if type(self.stack[-1]) is list or not self._trusts(type(self.stack[-1])):
            super().append(values)
            return
        with self._program():
            for value in values:
                self.stack[-1].append(value)

    def set_items(self, values: list[object]) -> None:
        """Add keys and values to the dict, or to the trusted object like one, on top of the stack."""
        if type(self.stack[-1]) in MAPPINGS or not self._trusts(type(self.stack[-1])):
            super().set_items(values)
            return
        with self._program():
            for key, value in paired(values):
                self.stack[-1][key] = value

    steps: ClassVar[Mapping[bytes, Callable[[Any], object]]] = {
        **Machine.steps,
        b"\x92": lambda machine: machine.new_by_name(),
    }


def _check_attributes(state: object) -> None:
    """Refuse attributes for a tensor but those that a program may have given it."""
    if (
        type(state) is not dict
        or len(state) > _MOST_ATTRIBUTES
        or not all(type(name) is str and name.isidentifier() for name in state)
    ):
        raise FileError("holds a tensor whose attributes have no names")
    if taken := next((name for name in state if name.startswith("_") or hasattr(Tensor, name)), None):
        raise UnsafeFileError(f"Weights only load failed: its pickle sets the attribute {taken[:100]} of a tensor")


def _restore(value: object, state: Any) -> None:
    """Give an object its state, as Python's `pickle` does."""
    if (restore := getattr(value, "__setstate__", None)) is not None:
        restore(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for name, each in (attributes or {}).items():
        vars(value)[sys.intern(name) if type(name) is str else name] = each
    for name, each in (slots or {}).items():
        setattr(value, name, each)


def imported(module: str, name: str) -> object:
    """The object of a name in a module, which is imported."""
    sys.audit("pickle.find_class", module, name)
    return pkgutil.resolve_name(f"{module}:{name}")


def _names(machine: Objects) -> dict[str, object]:
    """The builder or value for each name that pickles of tensors and arrays have."""
    tensor = Builder("tensor", machine.tensor, Takes((np.ndarray, BFloatArray)), FLAG, Takes(), least=2)
    return {
        **arrays.names(),
        **{f"pullback.{dtype.name}": dtype for dtype in dtypes.known()},
        "pullback.Size": Builder("Size", Size, SIZES),
        "pullback.device": Builder("device", device, TEXT, COUNT, least=1),
        "pullback._core.bfloat.bfloat_type": Builder("dtype", bfloat_type),
        "pullback._tensor.tensor.rebuild": tensor,
        "pullback._tensor.rebuild": tensor,  # in older files
    }
