"""Sums over partitions, with their gradients: the values that optimizers ask for."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .. import tensor
from ..extend import warn
from ..func import flattening
from ..utils.trees import flatten, unflatten
from .engines import Work, engine as _engine
from .partitions import listed
from .work import Part, Shipped

if TYPE_CHECKING:
    from .._core.primitives import Function
    from .._core.typing import Array, Tensor
    from .partitions import Executor, Partitions

T = TypeVar("T")
SHORT = 0.05
"""Seconds of work for a partition, below which what an engine adds to each may be more than workers save."""


def total(loss: Function, partitions: Partitions, like: T, *, engine: Executor | None = None) -> Total[T]:
    """The sum of loss(parameters, *data) over partitions, as a function that also gives its gradient.

    The result has the same bits for any number of workers with processors of one kind: each partition is computed by one
    worker, in one thread of BLAS, and partial sums in float64 are added in an order that depends on the number of
    partitions alone. The loss must depend on its arguments only.

    Parameters
    ----------
    loss
        A function of parameters and the data of a partition, as tensors, to a 0-d tensor. It is compiled once in each
        process that computes partitions.
    partitions
        A list with one entry for each partition: a tuple of arrays, a function without arguments that loads them, or a
        delayed value or future of Dask. Or a collection of Dask (array, bag, dataframe), or a tuple of collections that
        are cut alike. Or a pattern of files: npy, npz (whose arrays are arguments in their order), parquet (a dictionary
        of columns), zarr (a partition for each chunk of rows).
    like
        Parameters: tensors, arrays and floats, nested in dicts, lists, tuples and dataclasses. Their values do not count.
    engine
        None for this process, a `distributed.Client` that you have made, or an executor: of `concurrent.futures`
        (processes or threads), of loky, or of `mpi4py.futures`.

    Raises
    ------
    PartitionError
        When the sum is called, if a partition could not be computed.

    >>> import numpy as np
    >>> from pullback.distributed import total
    >>> def misfit(p, x, y):
    ...     return (p["slope"] * x + p["offset"] - y).square().sum()
    >>> x = np.arange(6.0)
    >>> parts = [(x[:3], 2 * x[:3]), (x[3:], 2 * x[3:])]
    >>> fit = total(misfit, parts, {"slope": 0.0, "offset": 0.0})
    >>> fit({"slope": 1.0, "offset": 0.0})
    (55.0, {'slope': -110.0, 'offset': -30.0})
    """
    return Total(loss, partitions, like, engine=engine)


class Total(Generic[T]):
    """A sum over partitions with its gradient, called with parameters; created by `total`.

    Attributes
    ----------
    report
        A function that gets a line of text after each call, such as `print`; None, the default, for no lines.

    >>> from scipy.optimize import minimize
    >>> from pullback.distributed import total
    >>> fit = total(lambda p, x: (p - x).square().sum(), [(1.0,), (2.0,), (6.0,)], 0.0)
    >>> minimize(fit.flat, fit.vector(0.0), jac=True, hessp=fit.hessp, method="Newton-CG").x.round(6)
    array([3.])
    """

    def __init__(self, loss: Function, partitions: Partitions, like: T, *, engine: Executor | None = None) -> None:
        self.loss, self.engine = loss, _engine(engine)
        self.partitions = self.engine.kept(listed(partitions))
        self.numbers: Sequence[int] = range(len(self.partitions))
        self._problem = flattening.flatten_problem(loss, like)
        leaves, self._structure = flatten(like)
        self._shapes = [np.shape(each) for each in leaves]
        self.report: Callable[[str], object] | None = None
        self.calls = 0
        self._tells = self.engine.workers > 1
        self._shipped = {way: Shipped(loss, way) for way in ("gradient", "product")}

    def __len__(self) -> int:
        """The number of partitions."""
        return len(self.numbers)

    def __call__(self, parameters: T) -> tuple[float, T]:
        """The value and the gradient, which is nested as the parameters, and of their types."""
        return self.start(parameters).result()

    def start(self, parameters: T) -> Pending[T]:
        """The same, begun but not waited for; Dask's `distributed.progress(fit.start(p).future)` shows its progress."""
        return self._begun(self.vector(parameters))

    def flat(self, x: Array) -> tuple[float, Array]:
        """Value and gradient for parameters in one vector: `minimize(fit.flat, fit.vector(start), jac=True)`."""
        return self._begun(x).flat()

    def vector(self, parameters: T) -> Array:
        """Parameters as one vector of float64."""
        if [np.shape(each) for each in flatten(parameters)[0]] != self._shapes:
            raise ValueError(f"the parameters must be nested and shaped as `like`: {self._structure}, {self._shapes}")
        return flattening.flatten_problem(self.loss, parameters).x0

    def tree(self, x: Array) -> T:
        """A vector as parameters."""
        return self._problem.unflatten(x)

    def hvp(self, parameters: T, direction: T) -> T:
        """The Hessian at the parameters times a direction, which is nested as they are."""
        return self.tree(self.hessp(self.vector(parameters), self.vector(direction)))

    def hessp(self, x: Array, p: Array) -> Array:
        """The same for vectors: `minimize(..., hessp=fit.hessp)`."""
        return _joined(self._start("product", (self.tree(x), self.tree(p)))().leaves)

    def backward(self, parameters: T) -> Tensor:
        """The value as a tensor, after the gradient was added to the `.grad` of each parameter: for optimizers of ours.

        >>> import pullback
        >>> from pullback.distributed import total
        >>> w = pullback.tensor(0.0, requires_grad=True)
        >>> fit = total(lambda w, x: (w - x).square(), [(1.0,), (3.0,)], w)
        >>> optimizer = pullback.optim.SGD([w], lr=0.25)
        >>> fit.backward(w), w.grad
        (tensor(10.), tensor(-8.))
        >>> optimizer.step()
        >>> w
        tensor(2., requires_grad=True)
        """
        value, gradient = self(parameters)
        for leaf, change in zip(flatten(parameters)[0], flatten(gradient)[0], strict=True):
            leaf.grad = change if leaf.grad is None else leaf.grad + change
        return tensor(value)

    def subset(self, numbers: Sequence[int]) -> Total[T]:
        """The sum over some partitions, by their numbers: a mini-batch, whose data stay where they are."""
        chosen = copy.copy(self)
        chosen.numbers = [range(len(self.partitions))[number] for number in numbers]
        if not chosen.numbers:
            raise ValueError("a sum needs a partition")
        return chosen

    def each(self, metric: Function, parameters: T) -> list[Any]:
        """metric(parameters, *data) for each partition, as arrays, nested as the metric returns them."""
        work = self._work(Shipped(metric, "plain"), (self.tree(self.vector(parameters)),), summed=False)
        return [unflatten(part.structure, part.leaves) for part in self.engine.start(work)()]

    def _work(self, shipped: Shipped, given: tuple[object, ...], summed: bool = True) -> Work:
        name = getattr(shipped.function, "__name__", "loss") + (f"_{shipped.way}" if summed else "")
        jobs = [(self.partitions[number], number) for number in self.numbers]
        return Work(shipped, given, summed, len(self.partitions), jobs, name)

    def _start(self, way: str, given: tuple[object, ...]) -> Callable[[], Part]:
        begin: Callable[[], Part] = self.engine.start(self._work(self._shipped[way], given))
        return begin

    def _begun(self, x: Array) -> Pending[T]:
        return Pending(self, self._start("gradient", (self.tree(x),)))

    def _done(self, part: Part, elapsed: float) -> tuple[float, Array]:
        """Value and gradient, as a vector; tells what is worth telling."""
        self.calls += 1
        *leaves, value = part.leaves
        gradient = _joined(leaves)
        each, count = part.seconds / len(self), len(self)
        if self.calls == 1 and len(part.processors) > 1:
            warn(f"workers have different processors, so last bits of sums depend on which computes what: {sorted(part.processors)}")  # fmt: skip
        if self._tells and self.calls > 1 and each < SHORT and elapsed > part.seconds:
            self._tells = False
            warn(f"{count} partitions took {1e3 * each:.1f} ms each, but the call {elapsed:.2f} s: this process alone takes "
                 f"{part.seconds:.2f} s. Partitions of at least 50 ms of work pay")  # fmt: skip
        if self.report:
            self.report(
                f"call {self.calls}: value {value.item():.6g}, gradient {np.linalg.norm(gradient):.3g}, {count} partitions in {elapsed:.3f} s"
            )
        return value.item(), gradient


class Pending(Generic[T]):
    """A sum that was begun: `result()` waits for it; `future` is Dask's, None for other engines."""

    def __init__(self, owner: Total[T], wait: Callable[[], Part]) -> None:
        self._owner, self._wait, self._begin = owner, wait, time.perf_counter()
        self.future = getattr(wait, "future", None)

    def flat(self) -> tuple[float, Array]:
        """The value, and the gradient as one vector."""
        return self._owner._done(self._wait(), time.perf_counter() - self._begin)

    def result(self) -> tuple[float, T]:
        """The value, and the gradient nested as the parameters are."""
        value, gradient = self.flat()
        return value, self._owner.tree(gradient)


def _joined(leaves: Sequence[Array]) -> Array:
    """Arrays as one vector."""
    return np.concatenate([np.ravel(leaf) for leaf in leaves])
