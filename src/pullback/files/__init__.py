"""Values in files, which are never run: our own are safetensors files, and those of torch.save can be read, too."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from .._core.placement import here
from .._tensor.creation import from_numpy
from . import safetensors, structures, torchfiles
from .errors import FileError as FileError
from .errors import UnsafeFileError as UnsafeFileError
from .errors import about
from .opening import Input, name_of, reading, writing

_STRUCTURE = "pullback"  # the text in which our files say how their tensors belong together


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    *,
    metadata: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Write a tensor, a state dict, or nested containers of tensors, numbers and strings to a file.

    `f` is a path or a binary file object. A path gets its new content at once, when all is written: a crash leaves the
    old file. The file is a safetensors file, in which tensors have the names of the keys that lead to them, joined by
    dots, so that other programs can read them; `metadata` are texts to go with them. Tensors on the same memory are
    written once. Files hold tensors, NumPy arrays and numbers, Python's numbers, strings, bytes and None, dtypes, and
    dicts, OrderedDicts, Counters, lists, tuples and sets. torch's `pickle_protocol` and other options mean nothing here.

    Raises
    ------
    TypeError
        If there is anything else to save (a module: save its `state_dict()`), or if metadata are no texts.
    ValueError
        If a container contains itself, or if `pickle_module` is given.

    >>> import io
    >>> import pullback
    >>> file = io.BytesIO()
    >>> pullback.save({"step": 3, "weights": [pullback.ones(2)]}, file)
    >>> _ = file.seek(0)
    >>> pullback.load(file)
    {'step': 3, 'weights': [tensor([1., 1.])]}
    """
    if pickle_module is not None:
        raise ValueError("save() writes no pickles: leave pickle_module out")
    _check_options("save", options, {"_use_new_zipfile_serialization", "_disable_byteorder_record"})
    texts = _texts(metadata or {})
    structure, arrays = structures.encoded(obj)
    with writing(f) as stream:
        safetensors.write(stream, arrays, {**texts, _STRUCTURE: structure})


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
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """What a file holds: one of `save`, any safetensors file (a dict of tensors), or one of torch.save.

    `f` is a path or a binary file object. Nothing that a file names is run: of torch's files, tensors, numbers, strings,
    sizes, dtypes and plain containers are read, all else is refused by name, as torch does with `weights_only=True`;
    `weights_only=False` changes nothing. Parameters come back as plain tensors. bfloat16 becomes float32, with a warning.
    Whatever `map_location` says, tensors come to the CPU; another place is refused.

    Raises
    ------
    FileError
        If the file is damaged, truncated, or of another kind.
    UnsafeFileError
        If it would have to run a program, or holds objects; a FileError and a `pickle.UnpicklingError`.
    OSError
        If there is no such file.

    >>> import io
    >>> import pullback
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
        warnings.warn(f"{name}: its bfloat16 tensors became float32, as NumPy has no bfloat16", stacklevel=2)
    return value


def _read(source: Input) -> tuple[Any, bool]:
    """What can be read of a source, and whether some tensors had been bfloat16."""
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
    raise FileError("is no safetensors file and no file of torch.save")


def read_metadata(f: Any) -> dict[str, str]:
    """The texts that go with the tensors of a safetensors file; the tensors are not read.

    Raises
    ------
    FileError
        If the file is none, or damaged.

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
            raise FileError("is no safetensors file")
        _, metadata = safetensors.read_header(source)
    metadata.pop(_STRUCTURE, None)
    return metadata


def _check_options(function: str, options: Mapping[str, Any], known: set[str]) -> None:
    for option in options.keys() - known:
        raise TypeError(f"{function}() got an unexpected keyword argument {option!r}")


def _check_places(map_location: Any) -> None:
    """Refuse places other than the CPU; a function of storages, as torch has it, has nothing to choose between."""
    if map_location is None or (callable(map_location) and not isinstance(map_location, str)):
        return
    for place in map_location.values() if isinstance(map_location, dict) else [map_location]:
        here(place)
