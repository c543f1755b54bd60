"""The exceptions for files that cannot be read."""

import contextlib
import pickle
from collections.abc import Iterator

from .._core.texts import printable

_LONGEST = 1000  # characters of a message: a name in a file may be as long as the file


class FileError(RuntimeError):
    """Raised for a file that is damaged or of an unknown format; the message names the file and the problem.

    >>> import io
    >>> import pullback
    >>> from pullback.files import FileError
    >>> try:
    ...     pullback.load(io.BytesIO(b"nothing of ours"))
    ... except FileError as error:
    ...     print(error)
    <BytesIO>: is neither a safetensors nor a torch.save file
    """


class UnsafeFileError(FileError, pickle.UnpicklingError):
    """Raised for a file that would run code, or create objects other than tensors and plain containers."""


@contextlib.contextmanager
def about(name: str) -> Iterator[None]:
    """A block whose errors get the file's name; exhausted memory or recursion depth becomes a FileError too.

    What a file says reaches the terminal by these messages alone: control characters are escaped, and no exception is
    shown that quotes the file as it is.
    """
    try:
        yield
    except FileError as error:
        raise type(error)(_shown(f"{name}: {error}")) from None
    except (MemoryError, RecursionError) as error:
        kind = type(error).__name__
        raise FileError(_shown(f"{name}: asks for more memory than there is ({kind})")) from None


def _shown(text: str) -> str:
    text = printable(text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
