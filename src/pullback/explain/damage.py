"""Files that are read here: which can be, and, in plain words, what is wrong with one."""

from __future__ import annotations

import json
import os
import stat
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from .._core.texts import printable

if TYPE_CHECKING:
    from os import PathLike

LARGEST = 2**28
"""The number of bytes of a file above which it is refused."""
DAMAGES = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError, EOFError, OSError,
    zlib.error,
)  # fmt: skip
"""What is raised where a file is damaged, or the parts of it do not fit each other."""


class FormatError(ValueError):
    """Raised with what is wrong in a file, in words."""


def called(path: str | PathLike[str]) -> str:
    """The name of a file, as it can be printed."""
    return printable(os.fsdecode(path))


def readable(path: str | PathLike[str]) -> Path:
    """The path of a file that can be read to its end: no folder, pipe or device, and not too large.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    FormatError
        If it is none that can be read.
    """
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {called(path)}") from None
    except OSError as error:
        raise FormatError(f"{called(path)} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise FormatError(f"{called(path)} cannot be read: it is {kind}, and no file")
    if found.st_size > LARGEST:
        raise FormatError(
            f"{called(path)} cannot be read: it has {found.st_size} bytes, and files of up to {LARGEST} are"
        )
    return Path(path)


def why(error: BaseException) -> str:
    """What an exception says of the file that was read, in words for those who do not know how it is read."""
    if isinstance(error, FormatError):
        return printable(str(error)[:500])
    if isinstance(error, json.JSONDecodeError):
        return f"at line {error.lineno}, column {error.colno} it is no JSON"
    if isinstance(error, UnicodeDecodeError):
        return f"at byte {error.start} it is no text in UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it does not fit into the memory"
    if isinstance(error, PermissionError):
        return "it must not be read by this user"
    if isinstance(error, (EOFError, OSError, zlib.error)):
        return "it ends too early, is damaged, or is not packed by gzip"
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return "a number in it has too many digits"
    return "its parts do not fit each other"
