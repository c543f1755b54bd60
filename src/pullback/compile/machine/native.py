"""Compiling and loading of code, and the addresses it needs: C functions of Python, NumPy and BLAS, fields of arrays.

Object code contains no addresses: it reads them from a table that is filled when the code is loaded. Offsets of fields in
Python's objects differ between builds; they are found by inspecting an array whose fields are known.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import weakref
from _thread import RLock
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from llvmlite import binding, ir

from ..._core import forks
from ..._core.machine import umath
from .. import cpython, store
from ..cpython import HEAD, WORD, int_at, word_at, words_at

if TYPE_CHECKING:
    from typing import Protocol

    from ..._core.typing import Array

    class KernelWriter(Protocol):
        """What writes kernels into a module."""

        def __init__(self, module: ir.Module, kind: str) -> None: ...
        def emit(self) -> object:
            """Write them."""


Function = TypeVar("Function", bound=Callable[..., Any])
turn = forks.hold(RLock())
"""Held while a module is written: llvmlite is not thread-safe."""
forks.hold(binding.ffi.lib._lock._lock)  # in which llvmlite calls LLVM


def once(function: Function) -> Function:
    """A decorator like `functools.cache`, under a lock: the function runs once for each argument.

    Without the lock several threads could load the same code, of which the cache keeps one; the others would be freed while
    their addresses are in use.
    """
    cached = functools.cache(function)

    wrap: Callable[[Any], Any] = functools.wraps(function)

    @wrap
    def asked(*args: Any) -> Any:
        forks.give_way()
        with turn:
            return cached(*args)

    return asked


def _machine(level: int) -> binding.TargetMachine:
    try:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    except RuntimeError:  # newer versions need none of this
        pass
    name, features = _processor()
    return binding.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=level, jit=True)


@functools.cache
def _processor() -> tuple[str, str]:
    """The name and the features of this processor, as LLVM has them."""
    features = binding.get_host_cpu_features().flatten()
    features = ",".join([*filter(None, features.split(",")), "-prefer-256-bit"]) if wide() else features
    return binding.get_host_cpu_name(), features


@functools.cache
def machine(*, plain: bool = False) -> binding.TargetMachine:
    """The target machine: this processor, with its widest registers; a `plain` one does not optimize."""
    return _machine(0 if plain else 2)


@functools.cache
def wide() -> bool:
    """Whether the processor has AVX-512 with masks."""
    features = binding.get_host_cpu_features()
    return bool(features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"))


@functools.cache
def width() -> int:
    """The size of a register in bytes."""
    features = binding.get_host_cpu_features()
    return 64 if wide() else 32 if features.get("avx2") else 16


@functools.cache
def multiplies() -> bool:
    """Whether our products of matrices are as quick as BLAS: with registers of 256 bits or more, and fused multiply-adds."""
    return width() >= 32 and bool(binding.get_host_cpu_features().get("fma"))


# NumPy's arrays


@functools.cache
def offsets() -> dict[str, int] | None:
    """The offsets of the fields of an array object; None if they are not found."""
    probe = np.zeros((3, 5, 7), np.float32)[:, :2]
    words = cpython.words_of(probe)
    if words is None or words[HEAD // WORD] != probe.ctypes.data:
        return None
    places = {"type": -1, "data": 0, "nd": 1, "dims": 2, "strides": 3, "descr": 5, "flags": 6}
    found = {name: HEAD + place * WORD for name, place in places.items()}
    base = id(probe)
    nd, flags = (int_at(base + found[name]).value for name in ("nd", "flags"))
    dims, strides = (words_at(word_at(base + found[name]).value, 3)[:] for name in ("dims", "strides"))
    descr, kind = (word_at(base + found[name]).value for name in ("descr", "type"))
    right = (nd, dims, strides) == (3, [3, 2, 7], [140, 28, 4]) and (descr, kind) == (id(probe.dtype), id(np.ndarray))
    right = right and flags == probe.flags.num
    return found if right else None


@functools.cache
def _data_place() -> int | None:
    """The offset of the data pointer in an array object."""
    found = offsets()
    return None if found is None else found["data"]


def data(array: Array) -> int:
    """The address of the elements of an array, in a fifth of the time of `array.ctypes.data`."""
    place = _data_place()
    if place is None or type(array) is not np.ndarray:  # an object of another type has something else at that place
        return int(array.ctypes.data)
    return word_at(id(array) + place).value


@functools.cache
def _api() -> Any:
    """The table of NumPy's C functions."""
    return words_at(cpython.contents(umath._ARRAY_API), 100)


OBJECTS = {"ndarray": np.ndarray, "float": float, "None": None, "True": True, "False": False}
NEW_ARRAY = 93  # the index of PyArray_New, part of NumPy's ABI


def address(name: str) -> int:
    """The address of a function of Python or NumPy, or of an object."""
    if name == "PyArray_New":
        return int(_api()[NEW_ARRAY])
    if name in OBJECTS:
        return id(OBJECTS[name])
    return cpython.function_address(name)


# Code

_engines: dict[weakref.ref[Code], binding.ExecutionEngine] = {}
_left: list[weakref.ref[Code]] = []
"""The codes that are gone, and whose engines are not closed yet."""


class Code:
    """Object code in memory, with its table of addresses filled.

    Its memory is given back when the next code is loaded. If its destructor did that, which is Python, garbage collection
    would run it at any moment, and an exception of a signal handler in a destructor is lost.
    """

    def __init__(self, code: bytes, links: Sequence[int] = ()) -> None:
        while _left:
            _engines.pop(_left.pop()).close()
        self.engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine(0))  # which the engine owns
        _engines[weakref.ref(self, _left.append)] = self.engine
        with binding.ObjectFileRef.from_data(code) as file:
            self.engine.add_object_file(file)  # ready when an address is asked for
        self.fill(links)

    def fill(self, links: Sequence[int]) -> None:
        """Fill the table of addresses."""
        if links:
            table = words_at(self.engine.get_global_value_address("links"), len(links))
            for place, link in enumerate(links):
                table[place] = link

    @property
    def names(self) -> list[str]:
        """The names of the entries of the table, if the code contains them."""
        address = self.engine.get_global_value_address("names")
        return ctypes.string_at(address).decode().split() if address else []

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self.engine.get_function_address(name))


def _key(text: str) -> str | None:
    """What tells a module apart in the cache on disk; None where there is none."""
    return hashlib.sha256(f"{store.surroundings()}\n{text}".encode()).hexdigest() if store.directory() else None


def found(text: str) -> bytes | None:
    """The object code of a module, if it is in the cache on disk."""
    return store.get(_key(text))


def keep(text: str, code: bytes) -> None:
    """Have the object code of a module in the cache on disk."""
    store.put(_key(text), code)


def kept(text: str, write: Callable[[], str] | None = None, *, plain: bool = False) -> bytes:
    """The object code of a module, from the cache on disk if it is there.

    With `write`, `text` only identifies the module, and `write` returns its LLVM text.
    """
    code = found(text)
    if code is None:
        with turn:
            written = write() if write else text
        code = compiled(written, plain=plain)
        keep(text, code)
    return code


@once
def made(emitter: type[KernelWriter], kind: str) -> Code:
    """The code that an emitter writes for a kind of numbers, cached in memory and on disk."""

    def text() -> str:
        module = ir.Module()
        emitter(module, kind).emit()
        return str(module)

    return Code(kept(f"{emitter.__qualname__} {kind}", text))


def compiled(text: str, *, plain: bool = False) -> bytes:
    """Object code of a module's text, without optimization passes, which would take several times as long as code generation.

    `plain` code is generated at optimization level 0.
    """
    forks.give_way()
    with binding.parse_assembly(text) as module:
        module.triple = binding.get_process_triple()
        target = machine(plain=plain)
        module.data_layout = str(target.target_data)
        return bytes(target.emit_object(module))
