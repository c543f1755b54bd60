"""The store: compiled code on disk, so that a second process compiles nothing.

An entry is a file under the digest of what it was made from: the program, the processor, and the versions of all that
took part. Files are written beside their place and moved there, so that nobody sees half of one. An entry names its own
digest, and a checksum covers both: one that is damaged, or lies under the name of another, is removed. A checksum is no
protection against somebody who writes on purpose, and code is run: the directory is the user's own, and only plain files
that the user owns and nobody else may write to are read. Nothing is unpickled. Where there can be no store, there is
none; `status` says why.

The environment variable PULLBACK_CACHE names another directory, or is `off`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import operator
import os
import platform
import stat
import struct
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..extend import Primitive
from .keys import of_entry
from .program import ARRAY, Program, Value

VARIABLE = "PULLBACK_CACHE"
LARGEST = 256 << 20
"""Bytes of all entries together; when there are more, the oldest go."""
LOOKS = 64
"""How often a store is looked through, on average, while `LARGEST` bytes are written: of many entries it takes a second."""

_MAGIC = b"pullback code 2\n"


def _flags(*names: str) -> int:
    """Those ways to open a file that a system has."""
    return functools.reduce(operator.or_, [getattr(os, f"O_{name}", 0) for name in names])


_READING = _flags("RDONLY", "NOFOLLOW", "NONBLOCK", "NOCTTY", "CLOEXEC", "BINARY")
_WRITING = _flags("WRONLY", "CREAT", "EXCL", "NOFOLLOW", "CLOEXEC", "BINARY")
_SUFFIX, _BEGUN = ".code", ".begun-"
_STALE = 3600.0  # seconds after which a file that was begun is nobody's any more
_DAY = 86400.0
_problems: list[str] = []


# 1. Where


def directory() -> Path | None:
    """Where entries are; None where the environment says that there are none."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in {"off", "0", "no", "false"}:
        return None
    if chosen:
        return Path(chosen).expanduser()
    try:
        return _cache_of_user() / "pullback"
    except RuntimeError:  # no home
        return None


def _cache_of_user() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".cache"


def _is_own(found: os.stat_result) -> bool:
    """Whether something is the user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: the profile of a user is the user's
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _place(*, make: bool) -> Path | None:
    """The directory, if there is one that can be trusted; made if asked for."""
    place = directory()
    if place is None:
        return None
    try:
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(place)
    except OSError as error:
        if make:
            _note(f"{place} cannot be made: {error.strerror or error}")
        return None
    if not stat.S_ISDIR(found.st_mode) or not _is_own(found):
        _note(f"{place} is not a directory that only its owner, the user, can write to")
        return None
    return place


def _note(problem: str) -> None:
    _problems[:] = [problem]


def status() -> str:
    """What there is of a store, or why there is none, as a line of a report."""
    place = directory()
    if place is None:
        return (
            f"off (environment variable {VARIABLE})" if os.environ.get(VARIABLE) else "off: there is no home directory"
        )
    if _problems:
        return f"none: {_problems[-1]}"
    entries = list(_entries(place))
    size = sum(found.st_size for _, found in entries)
    return f"{place}: {len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {size / 1e6:.1f} MB"


# 2. Entries


def get(key: str | None) -> bytes | None:
    """The data of a key, or None: there is no such entry, or it is damaged or not the user's."""
    place = _place(make=False)
    if place is None or key is None:
        return None
    path, name = place / _file(key), _name(key)
    try:
        held = os.open(path, _READING)  # nothing waits here: for a pipe without a writer others would wait forever
    except OSError:
        return None
    try:
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > LARGEST:
            return None
        with os.fdopen(held, "rb", closefd=False) as file:
            data = _checked(name, file.read())
    except OSError:
        return None
    finally:
        os.close(held)
    if data is None:
        _remove(path)
    elif time.time() - found.st_mtime > _DAY:  # the oldest go: it is in use
        with contextlib.suppress(OSError):
            os.utime(path)
    return data


def put(key: str | None, data: bytes) -> None:
    """Keep data under a key, as far as there is room; what goes wrong is told by `status`, and otherwise of no account."""
    place = _place(make=True)
    if place is None or key is None or len(data) > LARGEST // 4:
        return
    checksum = _checksum(_name(key), data)
    try:
        _write(place, _file(key), b"".join([_MAGIC, checksum, _name(key), data]))
    except OSError as error:
        _note(f"{place} cannot be written to: {error.strerror or error}")
        return
    _problems.clear()
    if int.from_bytes(checksum[:4]) * LARGEST < len(data) * LOOKS << 32:  # as by chance, without a count to share
        _trim(place)


def _name(key: str) -> bytes:
    """What an entry is called, in its file and by it."""
    return hashlib.sha256(key.encode()).digest()


def _file(key: str) -> str:
    return _name(key).hex() + _SUFFIX


def _checksum(name: bytes, data: bytes) -> bytes:
    return hashlib.sha256(name + data).digest()


def _checked(name: bytes, content: bytes) -> bytes | None:
    """The data of a file, if it is whole and the entry of that name."""
    start = len(_MAGIC) + len(name)
    checksum, own, data = content[len(_MAGIC) : start], content[start : start + len(name)], content[start + len(name) :]
    right = content.startswith(_MAGIC) and own == name and _checksum(name, data) == checksum
    return data if right else None


def _write(place: Path, name: str, content: bytes) -> None:
    """Write a file under another name, and move it to its place when it is complete."""
    begun = (
        place / f"{_BEGUN}{os.urandom(16).hex()}"
    )  # `tempfile` has a lock, in which another thread of a parent may have been
    held = os.open(begun, _WRITING, 0o600)
    try:
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(held, left) :]
        finally:
            os.close(held)
        os.replace(begun, place / name)
    except BaseException:
        _remove(begun)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _entries(place: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of entries, also those that were begun."""
    with contextlib.suppress(OSError):  # there is no directory
        for path in place.iterdir():
            if path.name.endswith(_SUFFIX) or path.name.startswith(_BEGUN):
                with contextlib.suppress(OSError):  # another process has removed it
                    yield path, os.lstat(path)


def _trim(place: Path) -> None:
    """Let the oldest entries go until there is room, and what was begun long ago."""
    kept, now = [], time.time()
    for path, found in _entries(place):
        if path.name.startswith(_BEGUN):
            if now - found.st_mtime > _STALE:
                _remove(path)
        else:
            kept.append((found.st_mtime, found.st_size, path))
    size = sum(entry[1] for entry in kept)
    for _, own, path in sorted(kept):
        if size <= LARGEST:
            break
        _remove(path)
        size -= own


# 3. Keys


def digest(program: Program, *extra: object) -> str | None:
    """What tells programs apart that have other code: the program, the versions, the processor, and what else is given.

    None for a program with metadata that no text tells apart: there is no entry for it.
    """
    text = _ProgramText()
    try:
        text.program(program)
    except _NoTextError:
        return None
    for part in (surroundings(), *map(repr, extra)):
        text.add(part)
    return text.digest().hex()


class _NoTextError(Exception):
    """Metadata have no text that says all of them."""


_LENGTH = struct.Struct("<q")


class _ProgramText:
    """A program, part by part: each part with its length, so that no two programs have the same parts."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.numbers: dict[Value, int] = {}

    def add(self, part: str | bytes) -> None:
        data = part.encode() if isinstance(part, str) else part
        self.parts += _LENGTH.pack(len(data)), data

    def digest(self) -> bytes:
        return hashlib.sha256(b"".join(self.parts)).digest()

    def made(self, values: Sequence[Value]) -> None:
        for value in values:
            self.numbers[value] = len(self.numbers)
            self.add(f"{value.dtype.str}{value.shape}")

    def used(self, values: Sequence[Value]) -> None:
        self.add(",".join([str(self.numbers[value]) for value in values]))

    def program(self, program: Program) -> None:
        self.add("program")
        self.made(program.inputs)
        for value, array in program.constants.items():
            self.made([value])
            self.add(array.tobytes())
        self.add("equations")
        for equation in program.equations:
            self.add(equation.name)
            self.used(equation.inputs)
            if equation.params:
                self.entry(equation.params)
            self.made(equation.outputs)
        self.add("ends")
        self.used(program.outputs)
        self.entry(tuple(place for place, _ in program.writes))
        self.used([value for _, value in program.writes])
        self.used([value for value, _ in program.guards])
        self.entry(tuple(expected for _, expected in program.guards))

    def entry(self, entry: Any) -> None:
        """An entry of metadata."""
        self.add(repr(of_entry(entry, _text)))


def _text(entry: Any) -> str:
    """The text of an entry that is not a number, text or container."""
    if isinstance(entry, Primitive):
        return f"primitive {entry.name}"
    if isinstance(entry, Program):
        inside = _ProgramText()
        inside.program(entry)
        return f"program {inside.digest().hex()}"
    if entry is not ARRAY:
        raise _NoTextError
    return "array"


@functools.cache
def surroundings() -> str:
    """What code depends on besides its program: versions, the processor, and of pullback the state of its files."""
    parts = [sys.version, sysconfig.get_platform(), platform.machine(), np.__version__, _sources()]
    if importlib.util.find_spec("llvmlite") is not None:
        parts.append(importlib.import_module("llvmlite").__version__)
        binding = importlib.import_module("llvmlite.binding")
        parts += [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()]
    return "\n".join(parts)


def _sources() -> str:
    """The files that make code, with their sizes and times: they are changed between two versions, too."""
    own = Path(__file__).parent
    files = sorted(path for room in (own, own.parent / "_numerics") for path in room.rglob("*.py"))
    found = [(str(path), path.stat()) for path in files if path.is_file()]
    text = "".join(f"{name} {each.st_size} {each.st_mtime_ns}\n" for name, each in found)
    return hashlib.sha256(text.encode()).hexdigest()
