"""What is raised for files that cannot be read."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator


class FileError(RuntimeError):
    """A file is damaged, or of no kind that pullback reads: the text names the file and what is wrong with it.

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
    """A file asks for code to be run when it is read, or for objects that are neither tensors nor plain containers."""


@contextlib.contextmanager
def about(name: str) -> Iterator[None]:
    """A block whose errors name the file that they are about; exhausted memory or depth is an error of the file, too."""
    try:
        yield
    except FileError as error:
        raise type(error)(f"{name}: {error}") from error.__cause__
    except (MemoryError, RecursionError) as error:
        raise FileError(f"{name}: asks for more memory than there is ({type(error).__name__})") from error
