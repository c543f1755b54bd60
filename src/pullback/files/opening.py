"""Files and streams: bounded reading, and atomic writing, so that a crash leaves the old file."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from .errors import FileError

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
    File: TypeAlias = str | os.PathLike[str] | BinaryIO
_AT_ONCE = 4096  # bytes that are asked for whether or not the file has as many


def name_of(f: Any) -> str:
    """The name of a file in error messages."""
    if isinstance(f, (str, os.PathLike)):
        return os.fsdecode(f)
    name = getattr(f, "name", None)
    return name if isinstance(name, str) else f"<{type(f).__name__}>"


class Input:
    """A stream that is read from its current position to its end; the size is known, so nothing is read beyond it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.start = stream.tell()
        self.end = stream.seek(0, os.SEEK_END)
        stream.seek(self.start)

    @property
    def left(self) -> int:
        """The number of bytes left."""
        left: int = self.end - self.stream.tell()
        return left

    def tell(self) -> int:
        """The position in the stream."""
        place: int = self.stream.tell()
        return place

    def peek(self, count: int) -> bytes:
        """The next bytes, without advancing."""
        found = self.read(count)
        self.stream.seek(-len(found), os.SEEK_CUR)
        return found

    def read(self, count: int) -> bytes:
        """The next bytes; fewer at the end."""
        if count > _AT_ONCE:
            count = max(0, min(count, self.left))
        found: bytes = self.stream.read(count)
        while len(found) < count and (more := self.stream.read(count - len(found))):  # a file without a buffer
            found += more
        return found

    def readline(self) -> bytes:
        """The bytes of the next line."""
        found: bytes = self.stream.readline()
        return found

    def exact(self, count: int, what: str) -> bytes:
        """The next `count` bytes; refused if there are fewer."""
        found = self.read(count)
        if len(found) != count:
            raise FileError(f"is truncated: {what} has {len(found)} of {count} bytes")
        return found

    def array(self, count: int, what: str) -> Bytes:
        """The next bytes in a new array."""
        if count > self.left:
            raise FileError(f"is truncated: {what} has {self.left} of {count} bytes")
        return filled(self.stream, count, what)


def filled(stream: Any, count: int, what: str) -> Bytes:
    """Bytes of a stream in a new, writable array."""
    memory = np.empty(count, np.uint8)
    view, done = memory.data, 0
    while done < count:
        step = stream.readinto(view[done:])
        if not step:
            raise FileError(f"is truncated: {what} has {done} of {count} bytes")
        done += step
    return memory


class Output:
    """A binary stream to which all is written: where it takes less than it is given, the rest follows."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def write(self, data: bytes | memoryview) -> int:
        """Write all of some bytes; OSError if the stream takes no more."""
        left = data
        while len(left):
            taken = self.stream.write(left)
            if taken is None and not isinstance(self.stream, io.RawIOBase):
                break  # the program's own object, which does not say how much it took
            if not taken:
                raise BlockingIOError(errno.EAGAIN, f"{name_of(self.stream)} takes no more bytes: {len(left)} are left")
            left = memoryview(left)[taken:]
        return len(data)


@contextlib.contextmanager
def reading(f: Any) -> Iterator[Input]:
    """The contents of a path or of a binary stream."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as stream:
            yield Input(stream)
        return
    if not callable(getattr(f, "read", None)):
        raise TypeError(
            f"{type(f).__name__!r} object has no attribute 'read': load() takes a path or a binary file object"
        )
    if not (hasattr(f, "readinto") and hasattr(f, "readline") and hasattr(f, "seekable") and f.seekable()):
        content = f.read()
        if not isinstance(content, (bytes, bytearray)):
            raise TypeError(f"load() takes a file opened in binary mode, not text: {name_of(f)}")
        f = io.BytesIO(content)
    yield Input(f)


@contextlib.contextmanager
def writing(f: Any) -> Iterator[Any]:
    """A stream for writing: to a path, whose content is replaced at the end, or to a binary file object."""
    if isinstance(f, (str, os.PathLike)):
        with _replacing(os.path.realpath(os.fsdecode(f))) as stream:
            yield stream
        return
    if not callable(getattr(f, "write", None)):
        raise TypeError(
            f"{type(f).__name__!r} object has no attribute 'write': save() takes a path or a binary file object"
        )
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"save() takes a file opened in binary mode, not text: {name_of(f)}")
    yield Output(f)


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A new file beside the old one, which it replaces once all its content has been written to disk."""
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as stream:
            yield stream
        return
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}")
    # The permissions of an old file are kept; a new one gets the system's default.
    opener = functools.partial(os.open, mode=0o666 if mode is None else stat.S_IMODE(mode) & 0o777)
    try:  # from before it is opened: the handler of a signal may raise an exception as soon as it is
        # One call, so that no interruption loses the number of a descriptor.
        with open(temporary, "xb", opener=opener) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = path
        raise
    _settle(folder)


def _settle(folder: str) -> None:
    """Write a folder's new entry to disk, if the system supports that for folders."""
    opened: list[int] = []
    with contextlib.suppress(OSError):
        try:  # no call lies between the number and the list, nor between the list and its end: none can be interrupted
            opened.extend(map(os.open, [folder], [os.O_RDONLY]))
            os.fsync(opened[0])
        finally:
            if opened:
                os.closerange(opened[0], opened[0] + 1)
