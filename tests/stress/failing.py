"""Ways in which the n-th event of a kind fails: memory, calls of the operating system, and exceptions wherever a signal may come.

Each is a context manager made with n; `came` says afterwards whether there were so many events.
"""

import contextlib
import ctypes
import dis
import os
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np

import pullback

HOME = str(Path(pullback.__file__).parent)


RETURNS = {"RETURN_VALUE", "RETURN_CONST"}


class InterruptionError(BaseException):
    """What is raised in place of KeyboardInterrupt: nothing but this script catches it."""


class Way:
    """The n-th event of a kind fails, counted from 1; the events before and after it do not."""

    def __init__(self, n):
        self.n, self.count = n, 0

    @property
    def came(self):
        """True if the n-th event was reached."""
        return self.count >= self.n

    def meets(self):
        """Count an event; True for the one that fails."""
        self.count += 1
        return self.count == self.n


class Signals(Way):
    """An exception at the n-th place in pullback where Python may look for signals.

    A frame's beginning, the instruction after a call, and that after a jump backwards. The first instruction of an `__exit__`
    that a program's own `with` statement calls is left out: there is nothing to be done about it.
    """

    every, only = False, None
    codes: ClassVar = {}  # the names of the instructions of a code object, by their offsets

    def __enter__(self):
        self.last = {}
        sys.settrace(self.begins)
        return self

    def __exit__(self, *error):
        sys.settrace(None)
        self.last.clear()

    def begins(self, frame, event, _):
        code = frame.f_code
        if not (code.co_filename.startswith(HOME) or "pullback" in code.co_filename[:12]):
            return None
        if self.only is not None and code.co_name not in self.only:
            return None
        frame.f_trace = self.goes_on  # before the next line, which Python 3.13 otherwise does not heed
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        outermost = frame.f_back is None or not frame.f_back.f_code.co_filename.startswith(HOME)
        if code.co_name == "__exit__" and outermost:
            self.last[frame] = "NOP"  # and the one behind it, which does nothing
        elif self.meets():
            raise InterruptionError
        return self.goes_on

    def goes_on(self, frame, event, _):
        if event == "return":
            self.last.pop(frame, None)
        elif event == "opcode":
            code = frame.f_code
            names = self.codes.get(code)
            if names is None:
                names = self.codes[code] = {at.offset: at.opname for at in dis.get_instructions(code)}
            before, self.last[frame] = self.last.get(frame, ""), names.get(frame.f_lasti, "")
            place = ("CALL" in before and before != "PRECALL") or before.startswith("JUMP_BACKWARD")
            other = self.every and "NOP" not in (before, self.last[frame]) and self.last[frame] not in RETURNS
            if (place or other) and self.meets():
                raise InterruptionError
        return self.goes_on


class Opcodes(Signals):
    """An exception at the n-th instruction in pullback, whatever it is, but for the one that returns, which no `try` covers."""

    every = True


class Blocks(Opcodes):
    """An exception at the n-th instruction of what enters and leaves: modes, transforms and passes."""

    only = ("__enter__", "__exit__", "_values", "set_all", "announced", "under", "once")


class _Handler(ctypes.Structure):
    """NumPy's `PyDataMem_Handler`."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        *((name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")),
    ]


def _default_handler():
    """The functions by which NumPy takes memory for arrays; the table is that of its C interface."""
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    umath = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    table = ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    current = ctypes.PYFUNCTYPE(ctypes.py_object)(table[305])()
    return _Handler.from_address(ctypes.pythonapi.PyCapsule_GetPointer(current, b"mem_handler"))


class Memory(Way):
    """NumPy gets no memory for its n-th array."""

    def __enter__(self):
        self.handler = _default_handler()
        self.kept = {name: getattr(self.handler, name) for name in ("malloc", "calloc", "realloc")}
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        shapes = {"malloc": [pointer, size], "calloc": [pointer, size, size], "realloc": [pointer, pointer, size]}
        self.made = []
        for name, arguments in shapes.items():
            kind = ctypes.CFUNCTYPE(pointer, *arguments)
            taken = ctypes.PYFUNCTYPE(pointer, *arguments)(self.kept[name])  # which keeps the lock of the interpreter
            self.made.append(kind(lambda *given, taken=taken: None if self.meets() else taken(*given)))
            setattr(self.handler, name, ctypes.cast(self.made[-1], pointer).value)
        return self

    def __exit__(self, *error):
        for name, address in self.kept.items():
            setattr(self.handler, name, address)


class _Stream:
    """A file whose calls are events."""

    def __init__(self, stream, way):
        self._stream, self._way = stream, way

    def write(self, data):
        if self._way.meets():
            raise OSError(28, "No space left on device")
        return self._stream.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stream.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)


class System(Way):
    """The n-th call of the operating system's functions for files fails: open, write, fsync, replace, and others."""

    names = ("open", "fdopen", "fsync", "replace", "chmod", "stat", "mkdir", "makedirs", "rename", "utime")

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        for name in self.names:
            self.stack.callback(setattr, os, name, getattr(os, name))
            setattr(os, name, self.failing(name, getattr(os, name)))
        return self

    def __exit__(self, *error):
        self.stack.close()

    def failing(self, name, function):
        def called(*args, **options):
            inside = sys._getframe(1).f_code.co_filename.startswith(HOME)
            if inside and self.meets():
                raise OSError(28, "No space left on device")
            made = function(*args, **options)
            return _Stream(made, self) if inside and name == "fdopen" else made

        return called


WAYS = {"signal": Signals, "opcode": Opcodes, "block": Blocks, "memory": Memory, "system": System}
FAILURES = (InterruptionError, MemoryError, OSError)


def numbers(value):
    """What is compared: arrays, tensors and numbers in a tree, as lists, to eleven digits, since programs round in their own way."""
    if isinstance(value, pullback.Tensor):
        return numbers(value.detach().numpy().tolist())
    if isinstance(value, float):
        return float(f"{value:.11g}")
    if isinstance(value, dict):
        return {str(key): numbers(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [numbers(each) for each in value]
    return numbers(value.tolist()) if isinstance(value, (np.ndarray, np.generic)) else value
