"""Functions of chunks of examples, computed on workers and joined in the order of the chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Generator, Tensor
from ..utils.trees import unflatten
from .engines import Work, engine as _engine
from .work import Shipped

if TYPE_CHECKING:
    from .._core.typing import Array, Function


class _Seeded:
    """A function that gets a random generator of its own with each chunk."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "function")

    def __call__(self, seed: int, *chunk: object) -> object:
        return self.function(*chunk, generator=Generator().manual_seed(seed))


def chunked(
    function: Function, *arrays: Tensor | Array, chunks: int, engine: object = None, seed: int | None = None
) -> Any:
    """The results of a function for chunks of examples, computed on workers and joined along the first axis.

    Parameters
    ----------
    function
        A function of tensors, one chunk of each array, that returns tensors or arrays, or nested containers of them: for
        example `vmap(f)`, or a fit for each example. A result without axes counts as one row.
    arrays
        Arrays or tensors of the same length, which are cut along their first axis.
    chunks
        The number of chunks.
    engine
        None for this process, a client of Dask, or an executor: see `total`.
    seed
        If given, the function gets `generator=`, a random generator of its own for each chunk, which depends on the seed
        and the chunk's number alone. So the result is the same for any number of workers.

    Raises
    ------
    PartitionError
        If a chunk could not be computed; `number` is the chunk's.

    >>> import numpy as np
    >>> import pullback
    >>> from pullback.distributed import chunked
    >>> chunked(pullback.vmap(lambda x: x**2), np.arange(5.0), chunks=2)
    array([ 0.,  1.,  4.,  9., 16.])
    """
    whole = [np.asarray(each.detach().numpy() if isinstance(each, Tensor) else each) for each in arrays]
    if not whole or len({each.shape[:1] for each in whole}) > 1 or not whole[0].ndim:
        raise ValueError(f"chunked cuts arrays of the same length, but got the shapes {[each.shape for each in whole]}")
    if not 1 <= chunks <= len(whole[0]):
        raise ValueError(f"chunks must be from 1 to {len(whole[0])}, the number of examples, but got {chunks}")
    parts = list(zip(*(np.array_split(each, chunks) for each in whole), strict=True))
    if seed is not None:
        seeds = [int(each.generate_state(1)[0]) for each in np.random.SeedSequence(seed).spawn(chunks)]
        parts = [(number, *part) for number, part in zip(seeds, parts, strict=True)]
        function = _Seeded(function)
    runner = _engine(engine)
    jobs = list(zip(runner.kept(parts), range(chunks), strict=True))
    name = getattr(function, "__name__", "function")
    done = runner.start(Work(Shipped(function, "plain"), (), summed=False, total=chunks, partitions=jobs, name=name))()
    if any(part.structure != done[0].structure for part in done):
        raise ValueError("the results of the chunks are nested differently")
    columns = zip(*(part.leaves for part in done), strict=True)
    return unflatten(done[0].structure, [np.concatenate([np.atleast_1d(leaf) for leaf in each]) for each in columns])
