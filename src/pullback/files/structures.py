"""Nested values as JSON, with tensors by name: the contents of a module's or an optimizer's state.

Numbers, strings, None and bools represent themselves. Everything else is an object with a single key, its kind:
`{"list": [...]}`, `{"dict": [[key, value], ...]}`, `{"tensor": [name, flags...]}`.
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.placement import device
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._tensor.creation import from_numpy
from .errors import FileError
from .keys import Keys
from .safetensors import METADATA, parsed

if TYPE_CHECKING:
    from .._core.typing import Array
    from .safetensors import Json

_COMPLEX, _GRAD = "complex", "requires_grad"
_DEEPEST = 200  # levels of nested containers
_MAPPINGS: dict[str, type[dict[Any, Any]]] = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
_SEQUENCES: dict[str, Callable[[Any], object]] = {kind.__name__: kind for kind in (list, tuple, set, frozenset, Size)}
_SETS = {"set", "frozenset"}
_KINDS = {kind: name for name, kind in (_MAPPINGS | _SEQUENCES).items()}


class Encoder:
    """Converts nested values to JSON and arrays by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._places: dict[object, str] = {}
        self._within: list[int] = []

    def encode(self, value: Any, path: tuple[object, ...]) -> Json:
        """A value as JSON; `path` is the keys that lead to it."""
        plain: Json = value
        if value is None or type(value) in {bool, int, str}:
            return plain
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, Carrier):
            return self._tensor(value, path)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(value, path)
        if type(value) is complex:
            return {"complex": [self.encode(value.real, path), self.encode(value.imag, path)]}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, dtypes.dtype):
            return {"dtype": value.name}
        if isinstance(value, device):
            return {"device": str(value)}
        if type(value) not in _KINDS:
            raise refusal(value, path)
        return self._container(value, path)

    def _container(self, value: Any, path: tuple[object, ...]) -> Json:
        if id(value) in self._within or len(self._within) > _DEEPEST:
            raise ValueError(
                f"save(): the {type(value).__name__} at {_written(path)} contains itself, or is nested too deeply"
            )
        self._within.append(id(value))
        kind = _KINDS[type(value)]
        content: list[Json]
        if kind in _MAPPINGS:
            content = [[self.encode(key, (*path, key)), self.encode(item, (*path, key))] for key, item in value.items()]
        else:
            content = [self.encode(item, (*path, place)) for place, item in enumerate(value)]
        self._within.pop()
        return {kind: content}

    def _tensor(self, tensor: Carrier, path: tuple[object, ...]) -> Json:
        flags = [_GRAD] if tensor.requires_grad else []
        return {"tensor": self._stored(array_of(tensor, path), path, flags)}

    def _array(self, value: Array | np.generic, path: tuple[object, ...]) -> Json:
        if value.dtype not in dtypes._FROM_NUMPY:
            raise refusal(value, path)
        if isinstance(value, np.ndarray):
            return {"array": self._stored(value, path, [])}
        return {"scalar": self._stored(np.asarray(value), path, [])}

    def _stored(self, array: Array, path: tuple[object, ...], flags: list[str]) -> list[Json]:
        """The name of an array and its flags; arrays with the same memory have the same name."""
        place = (array.__array_interface__["data"], array.shape, array.strides, array.dtype)
        name = self._places.get(place) if array.size else None
        if name is None:
            name = self._free(path)
            self._places[place] = name
            array = array.astype(array.dtype.newbyteorder("="), copy=False)
            if array.dtype.kind == "c":  # the format has only one of the two complex dtypes, and not in all versions
                real = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
                array = real.reshape(*array.shape, 2)
            self.arrays[name] = array
        return [name, *([_COMPLEX] if place[-1].kind == "c" else []), *flags]

    def _free(self, path: tuple[object, ...]) -> str:
        """A name that is not in use."""
        wished = ".".join(map(str, path)) or "tensor"
        name, tries = wished, 1
        while name in self.arrays or name == METADATA:
            tries += 1
            name = f"{wished}~{tries}"
        return name


def _written(path: tuple[object, ...]) -> str:
    return "".join(f"[{key!r}]" for key in path) or "the top"


def array_of(tensor: Carrier, path: tuple[object, ...]) -> Array:
    """The array of a tensor; refused inside a transform."""
    array = tensor._array
    if isinstance(array, Carrier) and array.interpreter.ended():
        array = tensor._array
    if tensor.level or not isinstance(array, np.ndarray):
        raise RuntimeError(
            f"save(): the tensor at {_written(path)} belongs to a transform, and has no values of its own there: save "
            "what the transform returns"
        )
    return array


def refusal(value: object, path: tuple[object, ...]) -> TypeError:
    """The exception for a value that files do not hold."""
    kind = type(value).__name__
    if isinstance(value, (np.ndarray, np.generic)):
        kind = f"{kind} of dtype {value.dtype}"
    fix = "save its state_dict()" if hasattr(value, "state_dict") else "make it one of these"
    return TypeError(
        f"save(): at {_written(path)} is a {kind}: files hold tensors, arrays, numbers, strings, None, and dicts, lists, "
        f"tuples and sets of them, so that loading them never runs code; {fix}"
    )


def encoded(value: object) -> tuple[str, dict[str, Array]]:
    """Nested values as JSON text, and the arrays that it names."""
    encoder = Encoder()
    structure = encoder.encode(value, ())
    return json.dumps(structure, allow_nan=False, separators=(",", ":")), encoder.arrays


class Decoder:
    """Rebuilds nested values from JSON and arrays by name."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays
        self._keys = Keys()
        self._tensors: dict[tuple[object, ...], object] = {}
        self._level = 0

    def decode(self, structure: object) -> object:
        """The value represented by JSON."""
        if structure is None or isinstance(structure, (bool, int, float, str)):
            return structure
        if self._level > _DEEPEST + 3:  # a complex number in the innermost container has levels, too
            raise FileError(f"has a structure that is nested more than {_DEEPEST} levels deep")
        if not isinstance(structure, dict) or len(structure) != 1:
            raise FileError("has a structure in which a value is neither plain nor named by what it is")
        [(kind, content)] = structure.items()
        self._level += 1
        try:
            return self._value(kind, content)
        except FileError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RuntimeError) as error:
            raise FileError(f"has a structure with an invalid {kind}: {error}") from error
        finally:
            self._level -= 1

    def _value(self, kind: str, content: Any) -> object:
        if kind in _MAPPINGS:
            return self._keys.pairs(_MAPPINGS[kind](), [(self.decode(key), self.decode(item)) for key, item in content])
        if kind in _SEQUENCES:
            items = [self.decode(item) for item in content]
            return _SEQUENCES[kind](self._keys.elements(set(), items) if kind in _SETS else items)
        if kind in {"tensor", "array", "scalar"}:
            return self._stored(kind, *content)
        if kind == "float":
            return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[content]
        if kind == "complex":
            parts: list[Any] = [self.decode(each) for each in content]
            return complex(*parts)
        if kind == "bytes":
            return bytes.fromhex(content)
        if kind == "dtype":
            return {each.name: each for each in dtypes.known()}[content]
        if kind == "device":
            return device(str(content))
        raise FileError(f"has a structure with an unknown kind of value, {kind!r}")

    def _stored(self, kind: str, name: str, *flags: str) -> object:
        if name not in self.arrays:
            raise FileError(f"has a structure that names a missing tensor, {name!r}")
        if set(flags) - {_COMPLEX, _GRAD}:
            raise FileError(f"has a structure with an unknown kind of tensor, {flags}")
        key = (kind, name, *flags)
        if key not in self._tensors:
            array = self.arrays[name]
            if _COMPLEX in flags:
                if array.dtype.kind != "f" or array.ndim == 0 or array.shape[-1] != 2:
                    raise FileError(f"tensor {name!r} is declared complex, but is not an array of pairs")
                array = array.view(np.result_type(array.dtype, np.complex64))[..., 0]
            self._tensors[key] = _made(kind, array, _GRAD in flags)
        return self._tensors[key]


def _made(kind: str, array: Array, requires_grad: bool) -> object:
    if kind == "array":
        return array
    if kind == "scalar":
        return array[()]
    return from_numpy(array).requires_grad_(requires_grad)


def decoded(text: str, arrays: Mapping[str, Array]) -> object:
    """The nested values represented by JSON text and named arrays."""
    try:
        structure = parsed(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"has a structure that is not JSON: {error}") from error
    return Decoder(arrays).decode(structure)
