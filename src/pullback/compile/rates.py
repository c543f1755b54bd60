"""What this machine can do: bytes that move in a second within each cache and in memory, and flops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._numerics import blas
from .._numerics.blocks import pieces

if TYPE_CHECKING:
    from .costs import Work

SIZES = tuple(1 << bits for bits in (14, 18, 20, 22, 24, 26))
"""Bytes of the memory in which the rates are measured: from the nearest cache to what no cache holds."""
SHARED = 1 << 22
"""Bytes from which on threads share a copy; smaller ones are made by each processor in a cache of its own."""
SHIFT = 64
CERTAIN = 1e-6
"""Seconds of a kernel from which on its time says what the machine can do: of shorter ones the clock takes too much."""


class Machine(NamedTuple):
    """What this machine can do in a second: `flops`, and bytes read and written in memory of each of `SIZES`."""

    rates: tuple[float, ...]
    flops: float

    @property
    def memory(self) -> float:
        """Bytes a second in memory that no cache holds."""
        return self.rates[-1]

    @property
    def cached(self) -> float:
        """Bytes a second in the nearest cache."""
        return self.rates[0]

    def rate(self, within: int) -> float:
        """Bytes a second in memory of so many bytes: that of the next smaller size, which is not less."""
        return self.rates[max(sum(size <= within for size in SIZES) - 1, 0)]

    def limit(self, work: Work) -> float:
        """The least seconds that a kernel can take, by its flops and by its bytes."""
        return max(work.flops / self.flops, work.moved / self.rate(work.within))

    def raised(self, kernels: Sequence[Work]) -> Machine:
        """The machine, with rates that are not below what kernels have reached."""
        sure = [(each, each.seconds) for each in kernels if each.seconds is not None and each.seconds >= CERTAIN]
        flops = max([self.flops, *[each.flops / seconds for each, seconds in sure]])
        reached = [
            max([rate, *[each.moved / seconds for each, seconds in sure if each.within >= size]])
            for size, rate in zip(SIZES, self.rates, strict=True)
        ]
        return Machine(tuple(reached), flops)


@cache
def machine(dtype: str = "float32", threads: int = 1) -> Machine:
    """This machine, measured once: the best of a few copies and products, in some tenths of a second."""
    if threads > 1:
        one = machine(dtype)
        large = [_copied(size, threads=True) if size >= SHARED else 0.0 for size in SIZES]
        near = [rate * threads if size < SHARED else rate for size, rate in zip(SIZES, one.rates, strict=True)]
        return Machine(_falling(map(max, near, large)), one.flops * threads)
    a = np.ones((512, 512), dtype)
    b = np.empty_like(a)
    with blas.single():
        flops = 2 * 512**3 / _best(lambda: np.matmul(a, a, b), 6)
        rates = [max(_copied(size), _read(size)) for size in SIZES]
    return Machine(_falling(rates), flops)


def _falling(rates: Iterable[float]) -> tuple[float, ...]:
    """Rates, none of which is below that of a larger memory."""
    found = [*rates]
    return tuple(max(found[place:]) for place in range(len(found)))


def _copied(size: int, *, threads: bool = False) -> float:
    """Bytes read and written in a second by copies of one half of so many bytes to the other.

    Many copies are one call: the rows of windows, each of which begins a little after the one before.
    """
    length = size // 2
    count = 1 if threads else max(min(SIZES[-1] // size, length // SHIFT), 1)
    halves = [np.ones(length + count * SHIFT, np.uint8) for _ in range(2)]
    source, target = (np.lib.stride_tricks.as_strided(half, (count, length), (SHIFT, 1)) for half in halves)

    def part(start: int, stop: int) -> None:
        np.copyto(target[:, start:stop], source[:, start:stop])

    copy = (lambda: pieces(part, length, 1)) if threads else (lambda: part(0, length))
    return 2 * length * count / _best(copy, 6)


def _read(size: int) -> float:
    """Bytes read in a second by products of two vectors."""
    a, b = (np.ones(size // 8, np.float32) for _ in range(2))
    return a.nbytes * 2 / _best(lambda: np.dot(a, b), 20)


def _best(function: Callable[[], object], times: int) -> float:
    """The least seconds that a call takes, after one that is not counted."""
    function()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)
