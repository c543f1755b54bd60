"""What a worker does: it makes the function that was sent, once, and calls it with the data of a partition.

And what is said if that fails: which partition, where, and in what line of the user's program.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import Tensor, compile as _compile, from_numpy, get_machine_code
from .._numerics.blas import reproducible
from ..extend import warn
from ..func import grad, grad_and_value, jvp
from ..observe import describe, is_of_program
from ..utils.data.collating import default_collate
from ..utils.trees import flatten, mapped

if TYPE_CHECKING:
    from .._core.primitives import Function
    from .._core.trees import Structure
    from .._core.typing import Array

T = TypeVar("T")
LINES = 6
"""How many lines of another exception's message are quoted."""
LARGE = 1 << 20
"""The number of bytes of a pickled function above which a warning says what makes it so large."""


class PartitionError(RuntimeError):
    """A partition that could not be computed: its number, where it was, and the user's line that failed.

    Attributes
    ----------
    number, total
        The partition's number, counted from 0, and how many there are; the number is None if it is not known.
    worker
        The name and the address of the Dask worker, or the process.
    site
        The line of the user's program that raised the exception, empty if there is none.

    >>> import pullback
    >>> from pullback.distributed import PartitionError, total
    >>> fit = total(lambda p, x: (p * x).sum(), [pullback.ones(2), pullback.ones(3)], pullback.zeros(2))
    >>> try:
    ...     fit(pullback.zeros(2))
    ... except PartitionError as error:
    ...     print(error.number, error.total)
    1 2
    """

    def __init__(self, message: str, number: int | None, total: int, worker: str = "", site: str = "") -> None:
        super().__init__(message, number, total, worker, site)
        self.number, self.total, self.worker, self.site = number, total, worker, site

    def __str__(self) -> str:
        return str(self.args[0])


def _failed(error: Exception, number: int, total: int) -> PartitionError:
    """The error for an exception that a partition's computation has raised, here."""
    frames, entry = [], error.__traceback__
    while entry is not None:
        if is_of_program(entry):
            frames.append(entry)
        entry = entry.tb_next
    site = describe((frames[-1].tb_frame.f_code, frames[-1].tb_lasti)) if frames else ""
    where = f", in {frames[-1].tb_frame.f_code.co_name}, {site}" if frames else ""
    text = "\n".join(str(error).splitlines()[:LINES])
    message = f"partition {number} of {total} on {_worker()}{where}: {type(error).__name__}: {text}"
    return PartitionError(message, number, total, _worker(), site)


def _worker() -> str:
    """What this process, or this thread of a Dask worker, is called."""
    try:
        found = sys.modules["distributed"].get_worker()
    except (KeyError, ValueError):  # dask is not used, or not here
        return f"process {os.getpid()}"
    return f"worker {found.name} ({found.address})"


def versions() -> dict[str, str]:
    """What workers must have in common for a result to have the same bits on all of them."""
    python, own = platform.python_version().rpartition(".")[0], sys.modules["pullback"].__version__
    compiling = importlib.import_module("llvmlite").__version__ if find_spec("llvmlite") else "none"
    eager = "always" if get_machine_code() == "always" else "never"
    return {"Python": python, "pullback": own, "NumPy": np.__version__, "llvmlite": compiling, "machine code": eager}


@functools.cache
def processor() -> str:
    """The kind of this machine's processor."""
    file = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", file.read_text("utf-8"), re.MULTILINE) if file.exists() else None
    return f"{platform.machine()} {found[1] if found else platform.processor()}"


def _product(loss: Function) -> Function:
    """The function that multiplies the Hessian of a loss by a direction."""

    def product(parameters: T, direction: T, *data: object) -> T:
        gradient = grad(lambda given: loss(given, *data))
        return jvp(gradient, (parameters,), (direction,))[1]

    return product


MADE: dict[str, Callable[[Function], Function]] = {
    "gradient": lambda loss: _compile.compile(grad_and_value(loss), lenient=True),
    "product": lambda loss: _compile.compile(_product(loss), lenient=True),
    "plain": lambda function: function,
}
"""What workers make of a function that they are sent."""


class Shipped:
    """A function on its way to workers: pickled once, and made ready once in each process that receives it."""

    def __init__(self, function: Function, way: str, expected: dict[str, str] | None = None) -> None:
        self.function, self.way, self.expected = function, way, expected or versions()
        self._made: Function | None = None
        self._data = b""

    def __reduce__(self) -> tuple[object, ...]:
        self._data = self._data or _pickled(self.function)
        return _received, (self._data, self.way, tuple(self.expected.items()))

    def made(self) -> Function:
        """The function that is called; refused where versions differ from those of the process that sent it."""
        if self._made is None:
            differing = [
                f"{k} {self.expected[k]} there, {v} here" for k, v in versions().items() if v != self.expected[k]
            ]
            if differing:
                raise RuntimeError(
                    f"the process that calls has other versions than this worker: {', '.join(differing)}"
                )
            self._made = MADE[self.way](self.function)
        return self._made


@functools.lru_cache(maxsize=64)
def _received(data: bytes, way: str, expected: tuple[tuple[str, str], ...]) -> Shipped:
    return Shipped(importlib.import_module("pickle").loads(data), way, dict(expected))


def _pickled(function: Function) -> bytes:
    """A function in bytes: by cloudpickle if that is installed, else by its name."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        pickler = importlib.import_module("cloudpickle")
    except ModuleNotFoundError:
        pickler = importlib.import_module("pickle")
    try:
        data: bytes = pickler.dumps(function)
    except Exception as error:
        fix = "pip install cloudpickle, or define it, without what it closes over, in a module that workers can import"
        raise RuntimeError(f"{name} cannot be sent to workers ({error}): {fix}") from error
    if len(data) > LARGE:
        fix = "which every worker is sent: make them data of partitions, or load them there"
        warn(f"{name} closes over {len(data) / 1e6:.1f} MB{_largest(function)}, {fix}")
    return data


def _largest(function: Function) -> str:
    """The array with the most bytes of those that a function closes over, in words."""
    found = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    sizes = {k: getattr(v, "nbytes", 0) for k, v in {**found.globals, **found.nonlocals}.items()} if found else {}
    name = max(sizes, key=lambda each: sizes[each], default="")
    return f" (`{name}` has {sizes[name] / 1e6:.1f} MB)" if name and sizes[name] else ""


class Part(NamedTuple):
    """The result of one partition, or the sum of several: arrays, with the seconds and the processors they took."""

    leaves: list[Array]
    structure: Structure
    seconds: float
    processors: frozenset[str]


def computed(
    shipped: Shipped, given: tuple[object, ...], summed: bool, total: int, partition: object, number: int
) -> Part:
    """The result for one partition, as arrays; in float64 and complex128 if it is to be added up."""
    begin = time.perf_counter()
    try:
        with reproducible():
            arguments = (*given, *_data(partition))
            leaves, structure = flatten(shipped.made()(*mapped(_tensor, arguments)))
            arrays = [np.array(leaf.detach().numpy() if isinstance(leaf, Tensor) else leaf) for leaf in leaves]
    except Exception as error:
        raise _failed(error, number, total) from error
    arrays = [each.astype(np.result_type(each.dtype, np.float64)) if summed else each for each in arrays]
    return Part(arrays, structure, time.perf_counter() - begin, frozenset([processor()]))


def added(*parts: Part) -> Part:
    """The sum of parts, from the first to the last."""
    leaves = [functools.reduce(np.add, several) for several in zip(*(part.leaves for part in parts), strict=True)]
    processors = frozenset[str]().union(*(part.processors for part in parts))
    return Part(leaves, parts[0].structure, sum(part.seconds for part in parts), processors)


def _data(partition: object) -> tuple[object, ...]:
    """The arguments that a partition stands for."""
    found: Any = partition.function() if isinstance(partition, Shipped) else partition
    found = default_collate(found) if type(found) is list else found  # the examples of a bag
    return tuple(map(_columns, found)) if type(found) in (tuple, list) else (_columns(found),)


def _columns(data: Any) -> Any:
    """A table of pandas as a dictionary of arrays, and a column of it as an array; anything else as it is."""
    if type(data).__module__.partition(".")[0] != "pandas":
        return data
    return {name: data[name].to_numpy() for name in data.columns} if hasattr(data, "columns") else data.to_numpy()


def _tensor(leaf: Any) -> Any:
    """An array, or a float, as a tensor; anything else as it is."""
    array = np.asarray(leaf) if isinstance(leaf, (np.ndarray, np.generic, float)) else None
    return leaf if array is None or array.dtype.kind not in "biufc" else from_numpy(array)
