"""Partitions, in all forms in which they are given: what an engine keeps, one for each."""

from __future__ import annotations

import functools
import glob
import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from .work import Shipped

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    from .._core.primitives import Function
    from .._core.typing import Array

    Partitions: TypeAlias = str | Path | Iterable[object]

    class Executor(Protocol):
        """What computes on workers: an executor of `concurrent.futures`, loky or `mpi4py.futures`, or a client of Dask."""

        def submit(self, function: Function, /, *args: Any, **options: Any) -> Any:
            """Begin a call; what is given holds its result later."""


def listed(partitions: Partitions) -> list[object]:
    """The partitions: tuples of arrays, functions in a form that can be sent, and delayed values and futures of Dask."""
    if isinstance(partitions, (str, Path)):
        found: list[object] = [*_of_files(os.fspath(partitions))]
    elif hasattr(partitions, "to_delayed"):
        found = _blocks(partitions)
    elif isinstance(partitions, tuple) and any(hasattr(each, "to_delayed") for each in partitions):
        found = _paired(partitions)
    elif isinstance(partitions, (np.ndarray, Tensor)):
        raise TypeError(
            "partitions must be a sequence: cut the array, as in [(part,) for part in np.array_split(x, 8)]"
        )
    else:
        found = list(partitions)
    if not found:
        raise ValueError(f"there are no partitions in {partitions!r}")
    return [_sendable(each) for each in found]


def is_of_dask(value: object) -> bool:
    """True for delayed values and futures of Dask."""
    return hasattr(value, "dask") or type(value).__name__ == "Future"


def _sendable(partition: object) -> object:
    if isinstance(partition, tuple) and any(map(is_of_dask, partition)):
        return importlib.import_module("dask").delayed(_together)(*partition)
    return Shipped(partition, "plain") if callable(partition) and not is_of_dask(partition) else partition


def _blocks(collection: Any) -> list[object]:
    """The chunks of a collection of Dask along its first axis, as delayed values."""
    if any(count > 1 for count in getattr(collection, "numblocks", ())[1:]):
        raise ValueError(
            f"the array has chunks along other axes than the first: {collection.chunks}. A partition is a chunk of rows: "
            "x.rechunk({1: -1})"
        )
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))


def _paired(collections: tuple[Any, ...]) -> list[object]:
    """The chunks of several collections, one of each in a partition."""
    blocks = [_blocks(each) for each in collections]
    cuts = [each.chunks[0] if hasattr(each, "chunks") else (np.nan,) * each.npartitions for each in collections]
    first = next((cut for cut in cuts if not np.isnan(cut).any()), cuts[0])
    if any(len(cut) != len(first) or not (np.isnan(cut) | (np.array(cut) == first)).all() for cut in cuts):
        raise ValueError(
            f"the collections are cut differently, into rows {cuts}: rechunk or repartition cuts them alike"
        )
    return list(zip(*blocks, strict=True))


def _together(*arrays: object) -> tuple[object, ...]:
    return arrays


def _of_files(pattern: str) -> Iterator[Callable[[], object]]:
    """Functions that load the files of a pattern, in the order of the numbers in their names."""
    for path in map(os.path.abspath, sorted(glob.glob(pattern), key=_by_number)):  # workers may be in another folder
        kind = path.rpartition(".")[2]
        if kind not in READ:
            raise ValueError(f"{path}: files are npy, npz, parquet or zarr; for others give functions that load them")
        yield from READ[kind](path)


def _by_number(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path)]


def _npz(path: str) -> tuple[Array, ...]:
    with np.load(path, allow_pickle=False) as file:
        return tuple(file[name] for name in file.files)


def _parquet(path: str) -> dict[str, Array]:
    table = importlib.import_module("pyarrow.parquet").read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def _arrays(path: str) -> list[Any]:
    """The array of a zarr store, or the arrays of a group in the order of their names."""
    found = importlib.import_module("zarr").open(path, mode="r")
    return [found] if hasattr(found, "shape") else [found[name] for name in sorted(name for name, _ in found.arrays())]


def _zarr(path: str) -> Iterator[Callable[[], object]]:
    """Functions that load chunks of rows of all arrays, which are cut as the first is."""
    arrays = _arrays(path)
    if len({array.shape[0] for array in arrays}) != 1:
        raise ValueError(
            f"{path}: arrays of one length make partitions, but there are {[each.shape for each in arrays]}"
        )
    for start in range(0, arrays[0].shape[0], arrays[0].chunks[0]):
        yield functools.partial(_rows, path, start, start + arrays[0].chunks[0])


def _rows(path: str, start: int, stop: int) -> tuple[Array, ...]:
    return tuple(np.asarray(array[start:stop]) for array in _arrays(path))


READ: dict[str, Callable[[str], Iterable[Callable[[], object]]]] = {
    "npy": lambda path: [functools.partial(np.load, path, allow_pickle=False)],
    "npz": lambda path: [functools.partial(_npz, path)],
    "parquet": lambda path: [functools.partial(_parquet, path)],
    "zarr": _zarr,
}
"""The functions that load the partitions of a file, by the end of its name."""
