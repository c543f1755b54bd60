"""Random numbers: generators and their state, and samples of distributions as NumPy arrays.

Each thread has its own default generator, so that threads do not affect each other. NumPy's random module is imported
at the first draw, because the import takes 13 ms.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import placement, xp as _xp
from .._core.modes import innermost, quiet, state_asked
from .._core.package import package

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypeAlias

    from .._core.typing import Array, NumpyType, Tensor


def _tell() -> None:
    if (told := state_asked.get()) is not None:
        told()


class Generator:
    """A random number generator with its own state, for the `generator` argument of random functions.

    `numpy` is the NumPy generator that it uses. The numbers differ from torch's for the same seed.

    >>> import pullback
    >>> g = pullback.Generator().manual_seed(0)
    >>> a = pullback.randn(2, generator=g)
    >>> (a == pullback.randn(2, generator=g.manual_seed(0))).all().item()
    True
    """

    __slots__ = ("device", "numpy", "_seed")
    __module__ = "pullback"

    numpy: np.random.Generator

    def __init__(self, device: Any = None) -> None:
        self.device = placement.here("cpu" if device is None else device)
        self.manual_seed(67280421310721)  # torch's default seed

    def manual_seed(self, seed: int) -> Self:
        """Reset the generator to a seed; a negative seed counts from 2 ** 64."""
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise RuntimeError(f"Overflow when unpacking long: a seed is from -2**63 to 2**64 - 1, got {number}")
        _tell()
        self._seed = number % 2**64
        self.numpy = np.random.default_rng(self._seed)
        return self

    def seed(self) -> int:
        """Reset the generator to a seed drawn by the operating system; the seed is returned."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little")).initial_seed()

    def initial_seed(self) -> int:
        """The seed that the generator was last reset to."""
        _tell()
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """The generator's current state, for `set_state`."""
        _tell()
        return _state(self)

    def set_state(self, state: Any) -> Self:
        """Set the generator to a state returned by `get_state`."""
        if not isinstance(state, dict) or state.keys() != {"seed", "numpy"}:
            raise TypeError(f"set_state(): expected what get_state() gave, not {type(state).__name__}")
        _tell()
        return self._set(state)

    def _set(self, state: Any) -> Self:
        self._seed = state["seed"]
        self.numpy.bit_generator.state = state["numpy"]
        return self

    def __repr__(self) -> str:
        return f"<{package}.Generator of seed {self._seed}>"

    def __reduce__(self) -> Any:
        return _restored, (self.get_state(),)


def _state(generator: Generator) -> dict[str, Any]:
    return {"seed": generator._seed, "numpy": generator.numpy.bit_generator.state}


def _restored(state: dict[str, Any]) -> Generator:
    return Generator().set_state(state)


class _Source(threading.local):
    """A thread's default generator, created on first use."""

    made: Generator | None = None

    @property
    def generator(self) -> Generator:
        if self.made is None:
            self.made = Generator()
            self.made.seed()
        return self.made


_source = _Source()


def default_generator() -> Generator:
    """This thread's default generator."""
    return _source.generator


def manual_seed(seed: int) -> Generator:
    """Reset this thread's default generator to a seed; the generator is returned.

    The numbers differ from torch's for the same seed.

    Parameters
    ----------
    seed
        A whole number.

    >>> import pullback
    >>> _ = pullback.manual_seed(0)
    >>> a = pullback.randn(2)
    >>> _ = pullback.manual_seed(0)
    >>> (a == pullback.randn(2)).all().item()
    True
    """
    return _source.generator.manual_seed(seed)


def seed() -> int:
    """Reset this thread's default generator to a seed drawn by the operating system; the seed is returned.

    >>> import pullback
    >>> pullback.seed() == pullback.initial_seed()
    True
    """
    return _source.generator.seed()


def initial_seed() -> int:
    """The seed that this thread's default generator was last reset to.

    >>> import pullback
    >>> _ = pullback.manual_seed(5)
    >>> pullback.initial_seed()
    5
    """
    return _source.generator.initial_seed()


def get_rng_state() -> dict[str, Any]:
    """The current state of this thread's default generator, for `set_rng_state`.

    >>> import pullback
    >>> state = pullback.get_rng_state()
    >>> x = pullback.rand(3)
    >>> pullback.set_rng_state(state)
    >>> pullback.equal(x, pullback.rand(3))
    True
    """
    return _source.generator.get_state()


def set_rng_state(state: dict[str, Any]) -> None:
    """Set this thread's default generator to a state returned by `get_rng_state`.

    Parameters
    ----------
    state
        What `get_rng_state` gave.

    >>> import pullback
    >>> state = pullback.get_rng_state()
    >>> a = pullback.randn(2)
    >>> pullback.set_rng_state(state)
    >>> (a == pullback.randn(2)).all().item()
    True
    """
    _source.generator.set_state(state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **options: Any) -> Iterator[None]:
    """A block after which this thread's random state is restored; not if `enabled` is False.

    Parameters
    ----------
    devices
        Accepted: there is only the CPU.
    enabled
        False for a block that changes nothing.

    >>> import pullback
    >>> _ = pullback.manual_seed(0)
    >>> with pullback.fork_rng():
    ...     a = pullback.randn(2)
    >>> (a == pullback.randn(2)).all().item()
    True
    """
    now = Moment([None])
    try:
        yield
    finally:
        if enabled:
            now.restore()


if TYPE_CHECKING:
    Source: TypeAlias = Generator | np.random.Generator | None
    Place: TypeAlias = Generator | np.random.Generator | np.random.RandomState | ModuleType | None


def sources(values: Iterable[object] = ()) -> list[Place]:
    """The generators a program may use: None for its thread's own, NumPy's global one, and those among values."""
    kinds = (Generator, np.random.Generator, np.random.RandomState)
    return [None, np.random, *(value for value in values if isinstance(value, kinds))]


class Moment:
    """A snapshot of the states of several generators."""

    __slots__ = ("_states",)

    def __init__(self, places: Iterable[Place]) -> None:
        self._states = [(each, _get(each)) for each in places]

    @classmethod
    def of(cls, values: Iterable[object] = ()) -> Moment:
        """A snapshot of all that a program may draw from: see `sources`."""
        return cls(sources(values))

    def holds(self, place: Place) -> bool:
        """Whether a generator is one of them, and has not been used since."""
        return any(each is place and _same(state, _get(each)) for each, state in self._states)

    def now(self) -> Moment:
        """Another snapshot of the same generators, of their states as they are now."""
        return Moment(each for each, _ in self._states)

    def moved(self) -> list[Place]:
        """The generators that have been used since the snapshot."""
        return [each for each, state in self._states if not _same(state, _get(each))]

    def limit(self, places: Sequence[Place]) -> None:
        """Drop all generators from the snapshot except these."""
        self._states = [(each, state) for each, state in self._states if any(each is other for other in places)]

    def restore(self) -> None:
        """Restore the states of the snapshot."""
        for each, state in self._states:
            generator = _source.generator if each is None else each
            if isinstance(generator, Generator):
                generator._set(state)
            elif hasattr(generator, "set_state"):
                generator.set_state(state)
            else:
                generator.bit_generator.state = state

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """A block that starts with the states of the snapshot, and after which the current states are restored."""
        now = self.now()
        self.restore()
        try:
            yield
        finally:
            now.restore()


def _get(generator: Place) -> Any:
    generator = _source.generator if generator is None else generator
    if isinstance(generator, Generator):
        return _state(generator)
    return generator.get_state() if hasattr(generator, "get_state") else generator.bit_generator.state


def _same(a: object, b: object) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(map(_same, a, b))
    return np.array_equal(np.asarray(a), np.asarray(b))


def source(generator: Source = None) -> np.random.Generator:
    """The NumPy generator of a `Generator`, of a NumPy generator itself, or of None, this thread's default."""
    if generator is None:
        return _source.generator.numpy
    if isinstance(generator, Generator):
        return generator.numpy
    if isinstance(generator, np.random.Generator):
        return generator
    raise TypeError(f"argument 'generator' must be {package}.Generator, not {type(generator).__name__}")


Draw = Callable[..., Any]
"""A function that draws an array: called as `draw(rng, shape, *arrays)` with the parameters as arrays.

Its name is that of the distribution: recorded programs show it.
"""


def sampled(draw: Draw, shape: tuple[int, ...], *parameters: Array | Tensor, generator: Source = None) -> Any:
    """Random numbers of a shape, from parameters that are arrays or tensors; an array, or a transform's tensor.

    All random numbers are drawn here, so that `vmap` can decide whether examples share them.
    """
    return sampled_within(innermost.get(), draw, tuple(shape), parameters, generator)


def sampled_within(
    interpreter: Any, draw: Draw, shape: tuple[int, ...], parameters: Sequence[Array | Tensor], generator: Source
) -> Any:
    """The same under an interpreter, as a tensor of its transform; as an array for None."""
    if interpreter is None:
        arrays = [getattr(parameter, "_array", parameter) for parameter in parameters]
        return np.asarray(quiet.run(draw, source(generator), shape, *arrays))
    return interpreter.sampled(draw, shape, parameters, generator)


def real(rng: np.random.Generator, draw: str, shape: tuple[int, ...], dtype: NumpyType) -> Array:
    """Real or complex numbers by NumPy's `random` or `standard_normal`; complex ones also have variance 1."""
    if dtype.kind == "c":
        parts = (real(rng, draw, shape, np.zeros(0, dtype).real.dtype) for _ in range(2))
        scale = 2**-0.5 if draw == "standard_normal" else 1
        return ((next(parts) + 1j * next(parts)) * scale).astype(dtype)
    method = getattr(rng, draw)
    if dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        return np.asarray(method(shape, dtype))
    return np.asarray(method(shape)).astype(dtype)


WHOLE = {"integers", "poisson"}
"""Methods of NumPy's generators that give whole numbers, between bounds or by parameters."""


class Elementwise:
    """A `Draw` of which each element is made of one number: `made(xp, number, *parameters)`, written as rules are.

    `number` is "random", "standard_normal", "standard_exponential" or "integers", of NumPy's generators, in a dtype, integers between bounds;
    or "poisson", whole numbers whose rates are the parameter.
    `allowed` says of each element whether parameters are, by `allowed[0](xp, *parameters)`, and what is raised if they are not.
    """

    def __init__(
        self,
        name: str,
        number: str,
        dtype: NumpyType,
        made: Callable[..., Any] | None = None,
        *,
        bounds: tuple[int, ...] = (),
        allowed: tuple[Callable[..., Any], Callable[..., str]] | None = None,
    ) -> None:
        self.__name__, self.number, self.dtype, self.bounds = name, number, dtype, bounds
        self.made, self.allowed = made, allowed

    def __call__(self, rng: np.random.Generator, shape: tuple[int, ...], *parameters: Array) -> Array:
        if self.allowed is not None and not np.all(self.allowed[0](_xp, *parameters)):
            raise RuntimeError(self.allowed[1](*parameters))
        found = self.drawn(rng, shape, *parameters)
        return found if self.made is None else np.asarray(self.made(_xp, found, *parameters))

    @property
    def whole(self) -> bool:
        """Whether the numbers of which elements are made are whole."""
        return self.number in WHOLE

    def drawn(self, rng: np.random.Generator, shape: tuple[int, ...], *parameters: Array) -> Array:
        """The numbers of which elements are made."""
        if self.whole:
            return np.asarray(getattr(rng, self.number)(*(self.bounds or parameters), shape))
        return real(rng, self.number, shape, self.dtype)

    def then(self, name: str, change: Callable[..., Any]) -> Elementwise:
        """Samples that `change(xp, sample)` makes of these."""
        made = self.made or (lambda xp, x: x)

        def after(xp: Any, *given: Any) -> Any:
            return change(xp, made(xp, *given))

        return Elementwise(name, self.number, self.dtype, after, bounds=self.bounds, allowed=self.allowed)


def uniform(size: tuple[int, ...], dtype: NumpyType, generator: Source = None) -> Any:
    """Samples of the uniform distribution on [0, 1)."""
    return sampled(Elementwise("uniform", "random", dtype), size, generator=generator)


def normal(size: tuple[int, ...], dtype: NumpyType, generator: Source = None) -> Any:
    """Samples of the normal distribution with mean 0 and variance 1."""
    return sampled(Elementwise("normal", "standard_normal", dtype), size, generator=generator)


def chance(name: str, refused: Callable[..., str]) -> Elementwise:
    """Whether something happens, by its probability."""
    return Elementwise(
        name,
        "random",
        np.dtype(np.float64),
        lambda xp, x, p: x < p,
        allowed=(lambda xp, p: xp.logical_and(p >= 0, p <= 1), refused),
    )
