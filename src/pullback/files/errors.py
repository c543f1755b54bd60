"""The exceptions for files that cannot be read."""

import contextlib
import pickle
from collections.abc import Iterator


class FileError(RuntimeError):
    """Raised for a file that is damaged or of an unknown format; the message names the file and the problem.

    >>> import io
    >>> import pullback
    >>> from pullback.files import FileError
    >>> try:
    ...     pullback.load(io.BytesIO(b"nothing of ours"))
    ... except FileError as error:
    ...     print(error)
    <BytesIO>: is no safetensors file and no file of torch.save
    """


class UnsafeFileError(FileError, pickle.UnpicklingError):
    """Raised for a file that would run code, or create objects other than tensors and plain containers."""


@contextlib.contextmanager
def about(name: str) -> Iterator[None]:
    """A block whose errors get the file's name; exhausted memory or recursion depth becomes a FileError too."""
    try:
        yield
    except FileError as error:
        raise type(error)(f"{name}: {error}") from error.__cause__
    except (MemoryError, RecursionError) as error:
        raise FileError(f"{name}: asks for more memory than there is ({type(error).__name__})") from error
