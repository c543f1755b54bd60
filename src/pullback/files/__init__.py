"""Loading and saving without running code: safetensors files, and reading of files of torch.save."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._core.placement import here
from .._core.sites import warn
from .._tensor.creation import from_numpy
from . import safetensors, structures, torchfiles, torchwriting
from .errors import FileError as FileError, UnsafeFileError as UnsafeFileError, about
from .opening import Input, name_of, reading, writing

if TYPE_CHECKING:
    from .opening import File

TORCH = (".pt", ".pth")
"""Ends of the names of files that are written in torch's format."""
_STRUCTURE = "pullback"  # the metadata key that describes how the tensors are nested


def save(
    obj: object,
    f: File,
    pickle_module: object = None,
    pickle_protocol: object = None,
    *,
    metadata: Mapping[str, str] | None = None,
    **options: object,
) -> None:
    """Write a tensor, a state dict, or nested containers of tensors, numbers and strings to a file.

    A path's content is replaced atomically once everything is written: after a crash the old file remains. A file whose
    name ends in .pt or .pth has torch's format, if that can hold the object (it holds no NumPy arrays and no
    `metadata`). Any other is a safetensors file, which other programs can read too: a tensor's name is the path of keys
    that lead to it, joined by dots. Tensors that are the same elements of the same memory are written once; other views
    become tensors of their own. Supported are tensors, NumPy arrays and numbers, Python's numbers, strings, bytes and
    None, dtypes, and dicts, OrderedDicts, Counters, lists, tuples and sets.

    Parameters
    ----------
    f
        A path, or a binary file object.
    pickle_module, pickle_protocol
        None, and anything: torch's choice of a pickle, which is not used.
    metadata
        Strings to write beside it, by name.

    Raises
    ------
    TypeError
        If obj contains anything else (for a module, save its `state_dict()`), or if metadata are not strings.
    ValueError
        If a container contains itself, or if `pickle_module` is given.

    >>> import io, pullback
    >>> file = io.BytesIO()
    >>> pullback.save({"step": 3, "weights": [pullback.ones(2)]}, file)
    >>> _ = file.seek(0)
    >>> pullback.load(file)
    {'step': 3, 'weights': [tensor([1., 1.])]}
    """
    check_save(pickle_module, options)
    texts = _texts(metadata or {})
    if not texts and name_of(f).endswith(TORCH) and (writer := _for_torch(obj, name_of(f))):
        with writing(f) as stream:
            torchwriting.write(stream, writer)
        return
    structure, arrays = structures.encoded(obj)
    with writing(f) as stream:
        safetensors.write(stream, arrays, {**texts, _STRUCTURE: structure})


def _for_torch(obj: object, name: str) -> torchwriting.Writer | None:
    """What writes an object in torch's format; None, with a warning, where that cannot hold it as data."""
    writer = torchwriting.Writer()
    try:
        writer.write(obj)
    except TypeError as refusal:
        structures.encoded(obj)  # which refuses what no format holds
        warn(f"{name} is a safetensors file, which torch.load does not read: {refusal}")
        return None
    return writer


def check_save(pickle_module: object, options: Mapping[str, object]) -> None:
    """Refuse arguments of torch.save that have no meaning here."""
    if pickle_module is not None:
        raise ValueError("save() writes no pickles of its own: leave pickle_module out")
    _check_options("save", options, {"_use_new_zipfile_serialization", "_disable_byteorder_record"})


def _texts(metadata: Mapping[Any, Any]) -> dict[str, str]:
    if not isinstance(metadata, Mapping):
        raise TypeError(f"save(): metadata are texts by name, not {type(metadata).__name__}")
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"save(): metadata are texts by name, not {key!r}: {value!r}")
        if key == _STRUCTURE:
            raise ValueError(f"save(): the name {_STRUCTURE!r} is taken, choose another for the metadata")
    return dict(metadata)


def load(
    f: File,
    map_location: object = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: object,
) -> Any:
    """The content of a file written by `save`, any safetensors file (as a dict of tensors), or a file of torch.save.

    No code named in a file is run. Of torch's files, tensors, numbers, strings, sizes, dtypes and plain containers are
    read; all else is refused by name, as in torch with `weights_only=True`. Parameters are returned as plain tensors.
    bfloat16 is converted to float32, with a warning, where the package ml_dtypes is not installed.

    Parameters
    ----------
    f
        A path, or a binary file object.
    map_location, pickle_module
        The CPU or None, and None: others are refused.
    weights_only, mmap
        Accepted as in torch, and of no effect.

    Raises
    ------
    FileError
        If the file is damaged, truncated, or of an unknown format.
    UnsafeFileError
        If reading it would require running code or creating objects; also a FileError and a `pickle.UnpicklingError`.
    OSError
        If the file does not exist.

    >>> import io, pullback
    >>> file = io.BytesIO()
    >>> pullback.save(pullback.tensor([1, 2]), file)
    >>> _ = file.seek(0)
    >>> pullback.load(file, map_location="cpu")
    tensor([1, 2])
    """
    if pickle_module is not None:
        raise ValueError("load() runs no pickles: leave pickle_module out")
    _check_options("load", options, {"encoding", "errors", "fix_imports"})
    _check_places(map_location)
    name = name_of(f)
    with about(name), reading(f) as source:
        value, narrowed = _read(source)
    if narrowed:
        warn(f"{name}: its bfloat16 tensors became float32: pip install ml_dtypes, which stores bfloat16")
    return value


def _read(source: Input) -> tuple[object, bool]:
    """The content of a source, and whether some of its tensors were bfloat16."""
    start = source.peek(9)
    if start.startswith(b"PK"):
        return torchfiles.read_archive(source)
    if safetensors.looks_like(start):
        arrays, metadata, narrowed = safetensors.read(source)
        if _STRUCTURE in metadata:
            return structures.decoded(metadata[_STRUCTURE], arrays), narrowed
        return {name: from_numpy(array) for name, array in arrays.items()}, narrowed
    if start.startswith(b"\x80"):
        return torchfiles.read_legacy(source)
    if not start:
        at = ": seek(0) goes back to its beginning" if source.start else ""
        raise FileError(f"is empty from position {source.start} on{at}")
    raise FileError("is neither a safetensors nor a torch.save file")


def read_metadata(f: File) -> dict[str, str]:
    """The metadata strings of a safetensors file; the tensors are not read.

    Raises
    ------
    FileError
        If the file is not a safetensors file, or is damaged.

    >>> import io
    >>> import pullback
    >>> from pullback.files import read_metadata
    >>> file = io.BytesIO()
    >>> pullback.save(pullback.ones(2), file, metadata={"made by": "me"})
    >>> _ = file.seek(0)
    >>> read_metadata(file)
    {'made by': 'me'}
    """
    with about(name_of(f)), reading(f) as source:
        if not safetensors.looks_like(source.peek(9)):
            raise FileError("is not a safetensors file")
        _, metadata = safetensors.read_header(source)
    metadata.pop(_STRUCTURE, None)
    return metadata


def _check_options(function: str, options: Mapping[str, object], known: set[str]) -> None:
    for option in options.keys() - known:
        raise TypeError(f"{function}() got an unexpected keyword argument {option!r}")


def _check_places(map_location: object) -> None:
    """Refuse devices other than the CPU; a function of storages, which torch accepts, could only return the CPU."""
    if map_location is None or (callable(map_location) and not isinstance(map_location, str)):
        return
    places: Iterable[Any] = map_location.values() if isinstance(map_location, dict) else [map_location]
    for place in places:
        here(place)
