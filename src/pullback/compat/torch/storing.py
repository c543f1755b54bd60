"""torch.save and torch.load: torch's format, and pickles for values that it cannot hold as data, such as whole modules.

Of a pickle written here, tensors, arrays and plain containers are read as data. Whatever else it names is imported and called
only if a program passes `weights_only=False`, or trusts it by `torch.serialization.safe_globals`, as in torch.
"""

from __future__ import annotations

import contextlib
import os
import pickle  # programs access it as an attribute
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ...files import FileError, UnsafeFileError, check_save, load as load_values, save as save_values, torchwriting
from ...files.errors import about
from ...files.objects import Objects, imported
from ...files.opening import name_of, reading, writing
from ...nn.parameter import Buffer, Parameter
from .kinds import FileLike as FileLike
from .notes import note

if TYPE_CHECKING:
    from ...files.opening import File

__all__ = [
    "FileError", "UnsafeFileError", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load",
    "safe_globals", "save",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
_HEADER = b"a pickle of pullback.compat.torch\n"

_ROLES = {f"{each.__module__}.{each.__name__}": each for each in (Parameter, Buffer)}
_trusted: list[Any] = []

MAP_LOCATION: TypeAlias = Any
"""The types of `map_location`, for annotations."""


def add_safe_globals(safe_globals: Iterable[object]) -> None:
    """Trust classes and functions: files that name no others can be loaded."""
    _trusted.extend(safe_globals)


def clear_safe_globals() -> None:
    """Remove all trusted classes and functions."""
    _trusted.clear()


def get_safe_globals() -> list[object]:
    """The trusted classes and functions."""
    return [*_trusted]


@contextlib.contextmanager
def safe_globals(safe_globals: Iterable[object]) -> Iterator[None]:
    """A context in which classes and functions are trusted: files that name no others can be loaded."""
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _trusted[:] = before


def _named(module: str, name: str) -> Any:
    """The trusted object of a name in a pickle; UnsafeFileError if there is none."""
    for each in _trusted:
        if (each.__module__, each.__qualname__) == (module, name):
            return each
    raise UnsafeFileError(
        f"Weights only load failed: loading it would run {module[:200]}.{name[:200]}, which its pickle names. If you trust "
        "the file, load it with weights_only=False, or name what you trust in torch.serialization.safe_globals; or save a "
        "state_dict()"
    )


def save(obj: object, f: File, pickle_module: object = None, pickle_protocol: int = 2, **options: object) -> None:
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


def load(
    f: File, map_location: MAP_LOCATION = None, *args: object, weights_only: bool | None = None, **options: Any
) -> Any:
    """The value in a file, as `pullback.load` returns it, or from a pickle that `save` wrote.

    Raises
    ------
    UnsafeFileError
        If it is a pickle that names untrusted objects, and `weights_only` is not False.
    """
    if not isinstance(f, (str, bytes, os.PathLike)) and not (hasattr(f, "seekable") and f.seekable()):
        return load_values(f, map_location, *args, weights_only=weights_only, **options)
    with about(name_of(f)), reading(f) as source:
        if source.peek(len(_HEADER)) == _HEADER:
            source.read(len(_HEADER))
            everything = weights_only is False
            return Objects(_ROLES, imported if everything else _named, everything=everything).run(source)
    return load_values(f, map_location, *args, weights_only=weights_only, **options)
