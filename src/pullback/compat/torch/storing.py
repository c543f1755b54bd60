"""torch.save and torch.load: torch's format, and pickles for values that it cannot hold as data, such as whole modules.

Loading a pickle executes code that it names. Pickles written here are loaded only if a program passes
`weights_only=False`, or names the classes that it trusts by `torch.serialization.safe_globals`, as in torch.
"""

import contextlib
import io
import os
import pickle  # programs access it as an attribute
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from ...files import FileError, UnsafeFileError, check_save, load as load_values, save as save_values, torchwriting
from ...files.opening import name_of, reading, writing
from .kinds import FileLike as FileLike
from .notes import note

__all__ = [
    "FileError", "UnsafeFileError", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load",
    "safe_globals", "save",
]  # fmt: skip

_HEADER = b"a pickle of pullback.compat.torch\n"

# The constructors of tensors, parameters and arrays, which execute nothing else.
_PLAIN = {
    ("pullback._tensor.tensor", "rebuild"),
    ("pullback.nn.parameter", "Parameter"),
    ("pullback.nn.parameter", "Buffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),  # since pickle protocol 5, Python's default since 3.14
    ("numpy.core.numeric", "_frombuffer"),
    ("_codecs", "encode"),
    ("collections", "OrderedDict"),
    ("builtins", "set"),
    ("builtins", "complex"),
}

_trusted: list[Any] = []

MAP_LOCATION: TypeAlias = Any
"""The types of `map_location`, for annotations."""


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Trust classes and functions: files that name no others can be loaded."""
    _trusted.extend(safe_globals)


def clear_safe_globals() -> None:
    """Remove all trusted classes and functions."""
    _trusted.clear()


def get_safe_globals() -> list[Any]:
    """The trusted classes and functions."""
    return [*_trusted]


@contextlib.contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """A context in which classes and functions are trusted: files that name no others can be loaded."""
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _trusted[:] = before


class _Trusting(pickle.Unpickler):
    """An unpickler that accepts only trusted names."""

    def __init__(self, file: Any, name: str) -> None:
        super().__init__(file)
        self.file_name = name

    def find_class(self, module: str, name: str) -> Any:
        """The object of a name in a pickle; UnsafeFileError if it is not trusted."""
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        for each in _trusted:
            if (each.__module__, each.__qualname__) == (module, name):
                return each
        raise UnsafeFileError(
            f"{self.file_name}: Weights only load failed: loading it would run {module}.{name}, which its pickle names. If "
            "you trust the file, load it with weights_only=False, or name what you trust in "
            "torch.serialization.safe_globals; or save a state_dict()"
        )


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, **options: Any) -> None:
    """Write a value to a file in torch's format, which torch reads with `weights_only=True`.

    A file whose name ends in .safetensors is written by `pullback.save`. A value that these formats cannot hold, such as
    a whole module or an array, is written as a pickle, which only pullback reads, with a warning.

    >>> import io
    >>> import pullback
    >>> from pullback.compat.torch.storing import load, save
    >>> file = io.BytesIO()
    >>> save({"weights": pullback.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weights': tensor([1., 1.])}
    """
    check_save(pickle_module, options)
    if name_of(f).endswith(".safetensors"):
        save_values(obj, f)
        return
    writer = torchwriting.Writer()
    try:
        writer.write(obj)
    except TypeError as refusal:
        try:
            content = pickle.dumps(obj)
        except (pickle.PicklingError, AttributeError, TypeError) as failure:
            raise pickle.PicklingError(f"{refusal}. Nor can it be pickled: {failure}") from None
        note(
            "torch.save: an object that is no state dict is written as a pickle, which torch does not read; save a model's "
            "state_dict(), and tensors and numbers instead of arrays"
        )
        with writing(f) as stream:
            stream.write(_HEADER)
            stream.write(content)
    else:
        with writing(f) as stream:
            torchwriting.write(stream, writer)


def load(f: Any, map_location: Any = None, *args: Any, weights_only: bool | None = None, **options: Any) -> Any:
    """The value in a file, as `pullback.load` returns it, or from a pickle that `save` wrote.

    Raises
    ------
    UnsafeFileError
        If it is a pickle that names untrusted objects, and `weights_only` is not False.
    """
    if not isinstance(f, (str, bytes, os.PathLike)) and not (hasattr(f, "seekable") and f.seekable()):
        return load_values(f, map_location, *args, weights_only=weights_only, **options)
    with reading(f) as source:
        if source.peek(len(_HEADER)) == _HEADER:
            content = io.BytesIO(source.read(source.left)[len(_HEADER) :])
            unpickler = pickle.Unpickler(content) if weights_only is False else _Trusting(content, name_of(f))  # noqa: S301
            return unpickler.load()
    return load_values(f, map_location, *args, weights_only=weights_only, **options)
