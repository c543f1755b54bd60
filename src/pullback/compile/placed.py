"""Placed functions: `compile(f).on(...)`, whose programs run on another library's arrays.

The compiler sees tensors on the host, as always. Each array that a program reads or writes has a buffer, the engine's array
that holds its numbers; the host's array only stands for it. So what is recorded, and what becomes of results, is that of
every compiled function.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from .._tape.memory import owner
from ..observe import value as inside, version
from ..utils.trees import flatten, unflatten
from .compiled import Compiled
from .engines.exported import StableHLO, exported
from .engines.libraries import Engine, engine
from .engines.running import executed
from .export.bound import bound, together
from .layouts import clash
from .machinery import Machinery
from .prepared import Prepared
from .program import Program
from .records import Record, Scalar

if TYPE_CHECKING:
    from .._core.trees import Structure
    from .._core.typing import Array
    from .engines.lowerings import Foreign
    from .kinds import Kind


class DeviceBuffers:
    """The engine's arrays, by the host's arrays that stand for them."""

    def __init__(self, w: Engine) -> None:
        self.w = w
        self.held: dict[int, tuple[weakref.ref[Array], Foreign, int]] = {}

    def of(self, host: Array, written: int | None = None) -> Foreign:
        """The engine's array; it is made from the host's numbers if there is none, or if those were written meanwhile."""
        known = self.held.get(id(host))
        if known is not None and written in {None, known[2]}:
            return known[1]
        whole = owner(host)
        if known is None and id(whole) in self.held:
            return self._part(host, whole)
        return self.set(host, self.w.constant(host), written or 0)

    def _part(self, host: Array, whole: Array) -> Foreign:
        """The numbers of a view of a host's array, taken from the engine's array that this stands for."""
        w, buffer = self.w, self.of(whole)
        flat = w.xp.reshape(buffer, (-1,))
        if host.dtype != whole.dtype:  # the parts of complex numbers, one after the other
            flat = w.xp.reshape(w.xp.stack([w.xp.real(flat), w.xp.imag(flat)], axis=-1), (-1,))
        numbers = np.arange(whole.nbytes // host.itemsize)
        steps = [step // host.itemsize * numbers.itemsize for step in host.strides]
        first = (host.ctypes.data - whole.ctypes.data) // host.itemsize
        places = np.lib.stride_tricks.as_strided(numbers[first:], host.shape, steps)
        return w.xp.reshape(w.xp.take(flat, w.constant(places.reshape(-1)), axis=0), host.shape)

    def set(self, host: Array, array: Foreign, written: int = 0) -> Foreign:
        """Have the host's array, which was written so often, stand for an array of the engine's."""
        key, held = id(host), self.held
        held[key] = (weakref.ref(host, lambda _: held.pop(key, None)), array, written)
        return array

    def standing(self, array: Foreign) -> Array:
        """A new array of the host's that stands for one of the engine's, with no numbers of its own."""
        host: Array = np.empty(array.shape, self.w.kind(array))
        self.set(host, array)
        return host

    def fetch(self) -> None:
        """Have the host's arrays hold the numbers themselves again."""
        for reference, array, _ in [*self.held.values()]:
            host = reference()
            if host is not None:
                np.copyto(host, self.w.host(array))
        self.held.clear()


shared = functools.cache(DeviceBuffers)
"""The buffers of an engine: functions on it that share tensors share their numbers there."""


def _unknown(host: Array) -> None:
    """NaN, where there is one, in the place of numbers that are elsewhere; those that are away already begin with it."""
    if host.dtype.kind in "fc" and host.size and not np.isnan(host.flat[0]):
        host.fill(np.nan)


class Lowered(Machinery):
    """A program made ready for an engine."""

    def __init__(self, buffers: DeviceBuffers, program: Program, kept: set[int]) -> None:
        self.buffers, self.kept = buffers, kept
        super().__init__(program)

    def ready(self, *, fuse: bool) -> Callable[..., list[Array]]:
        """A function of the host's arrays, whose buffers it computes with."""
        buffers, program, kept = self.buffers, self.program, self.kept
        compute = executed(program, buffers.w, keep=bool(kept or program.writes))
        count = len(program.outputs)

        def execute(*arrays: Array) -> list[Array]:
            found = compute(*map(buffers.of, arrays))
            for (place, _), array in zip(program.writes, found[count:], strict=True):
                _unknown(arrays[place])
                buffers.set(arrays[place], array)
            results = list(map(buffers.standing, found[:count]))
            for number in kept:
                _unknown(results[number])
            return results

        return execute


class PlacedProgram(Prepared):
    """A record whose program runs on an engine."""

    def __init__(self, buffers: DeviceBuffers, record: Record, function: Callable[[Sequence[Any]], Any]) -> None:
        self.buffers = buffers
        put = [record.outputs[number] for _, number in record.effects if number is not None]
        put = [record.outputs[what] if kind == "again" else (kind, what) for kind, what in put]
        made = [what if kind == "made" else what.start for kind, what in put if kind in ("made", "seen")]
        kept = {record.made[number].number for number in made}
        super().__init__(record, lambda program: Lowered(buffers, program, kept), function)

    def clashes(self, leaves: Sequence[Any], arrays: list[Array]) -> bool:
        """Whether memory that is written is that of another input."""
        targets = [arrays[number] for number, _ in self.record.program.writes]
        return bool(targets) and (len(set(map(id, arrays))) < len(arrays) or clash(targets, arrays))

    def number(self, result: Array) -> float:
        """An output of the program, brought back from the engine, as Python's number."""
        return self.buffers.w.host(self.buffers.of(result)).item()

    def run(self, leaves: Sequence[Any], arrays: list[Array]) -> Any:
        """Run the program; what was written on the host since the last call is brought to the engine before."""
        buffers, places = self.buffers, self.record.places
        for place, array in zip(places, arrays, strict=True):
            if not isinstance(place, Scalar):
                buffers.of(array, version(place.tensor(leaves)))
        answer = super().run(leaves, arrays)
        for place, _ in self.record.written:
            tensor = place.tensor(leaves)
            buffers.set(held := inside(tensor), buffers.of(held), version(tensor))
        return answer


class Placed(Compiled):
    """A compiled function of another library's arrays: what `compile(f).on(...)` returns.

    The function is recorded when it is first called; then its numbers are on the host. Later calls compute with the
    engine's arrays alone. Tensors that the function reaches by itself, as parameters and an optimizer's state, stay on the
    engine from call to call; meanwhile they hold NaN here, until `fetch` brings their numbers back.

    >>> import numpy, pullback
    >>> namespace = numpy  # or the name of a library: "jax", "torch", "cupy", "dask"
    >>> slope = pullback.compile(pullback.func.grad(lambda x: (x**2).sum())).on(namespace)
    >>> slope(numpy.asarray([1.0, 2.0]))
    array([2., 4.])
    """

    def __init__(self, function: Callable[..., Any], what: object) -> None:
        super().__init__(function, fullgraph=True)
        self.engine = engine(what)
        self.buffers = shared(self.engine)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives, in the engine's arrays; and the arguments as it leaves them, if it writes any."""
        leaves, structure = flatten((args, kwargs))
        with self.engine.mode([leaf for leaf in leaves if isinstance(leaf, self.engine.array)]):
            given = [self._taken(leaf) for leaf in leaves]
            before = [version(leaf) if isinstance(leaf, Tensor) else 0 for leaf in given]
            positional, named = unflatten(structure, given)
            result = self._given(super().__call__(*positional, **named))
            after = [version(leaf) if isinstance(leaf, Tensor) else 0 for leaf in given]
            return result if after == before else (result, self._given(unflatten(structure, given)[0]))

    def exported(self, *args: Any, **kwargs: Any) -> StableHLO:
        """The function of one call as StableHLO, by `jax.export`; the call itself is taken back.

        Tensors that the function reaches by itself, and learning rates, are its state: a dict of jax's arrays.

        >>> import pullback
        >>> try:
        ...     import jax
        ...     exported, state = pullback.compile(lambda x: (x**2).sum()).on("jax").exported(jax.numpy.ones(3))
        ...     print(exported.call(state, jax.numpy.ones(3))[0])
        ... except ImportError:
        ...     print(3.0)
        3.0
        """
        leaves, structure = flatten((args, kwargs))
        with self.engine.mode([leaf for leaf in leaves if isinstance(leaf, self.engine.array)]):
            given = [self._taken(leaf) for leaf in leaves]
            self.buffers.fetch()
            name = str(getattr(self.function, "__name__", "function"))
            made = bound(self, name, *unflatten(structure, given))
            together(name, [made])
            return exported(made, self.engine, args, kwargs)

    def fetch(self) -> None:
        """Bring the numbers of all tensors that functions on this engine have written back to the host.

        Later calls begin with what the tensors hold then.
        """
        with self.engine.mode():
            self.buffers.fetch()

    def around(
        self, transform: Callable[..., Any], *args: Any, unless: Callable[[object], bool] | None = None, **options: Any
    ) -> Callable[..., Any]:
        """What a transform makes of the function on the engine."""
        return transform(self, *args, **options)

    def on(self, engine: object) -> Placed:
        """The same function on another engine."""
        return Placed(self.function, engine)

    def __reduce__(self) -> Any:
        raise TypeError("a function on an engine is not pickled: pickle the function, and place it again")

    def _taken(self, leaf: Any) -> Any:
        """A tensor that stands for an engine's array; any other argument as it is."""
        if isinstance(leaf, self.engine.array):
            return Tensor.interpreter.wrap(self.buffers.standing(leaf), None)
        if isinstance(leaf, (Tensor, np.ndarray)):
            raise TypeError(f"a function on {self.engine.name} takes its arrays, not a {type(leaf).__name__}")
        return leaf

    def _given(self, result: Any) -> Any:
        """A result with the engine's arrays in the place of tensors."""
        leaves, structure = flatten(result)
        found = [self.buffers.of(inside(leaf.detach())) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        return unflatten(structure, found)

    def _record(self, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        """Record the function with the true numbers on the host."""
        self.buffers.fetch()
        return super()._record(key, leaves, structure)

    def _prepared(self, record: Record, function: Callable[[Sequence[Any]], Any]) -> Prepared:
        return PlacedProgram(self.buffers, record, function)

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Structure) -> None:
        """Nothing: each call goes by the buffers."""

    def _uncompiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function itself gives, on the host; an error of the engine's is raised as it is."""
        if (error := sys.exception()) is not None:
            raise error
        self.buffers.fetch()
        return super()._uncompiled(args, kwargs)


def placed(compiled: Compiled, what: object) -> Placed:
    """A compiled function on an engine."""
    return Placed(compiled.function, what)
