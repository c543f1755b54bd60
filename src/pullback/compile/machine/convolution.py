"""Convolutions outside of compile, without im2col: the code reads the windows of images through tables of offsets.

For BLAS the windows have to be copied into a matrix (im2col), which takes longer than the product if the weight has few
output channels. The code is the same for all shapes (`gathered`); the tables differ. Whether this code is used, and in
which order it adds, depends on the shapes only: not on earlier calls, and not on the number of threads.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ..._core.lazy import computed
from ...ops.convolution import Sizes, Window
from . import moving
from .elements import KINDS
from .gathered import ALONG, CHANNELS, GatheredEmitter, tile
from .indices import strides
from .llvm import host
from .tasks import BoundKernel, lanes

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType
    from .tasks import Word

SHARED = 1 << 21
"""The number of multiplications above which threads share the work: waking one takes as long as some hundred thousand."""
TASK = 1 << 19
"""The approximate number of multiplications in a task."""
SHARES, SHARE = 8, 1 << 22
"""The largest number of partial sums of a weight's gradient, and the multiplications that each is worth."""
PANEL = 1 << 18
"""The largest weight block in bytes that one row of the result is multiplied with."""
WIDEST, PLACES = 192, 1 << 17
"""The largest number of output channels, above which im2col and BLAS are as fast, and of output positions."""
PADDED = 1 << 22
"""The approximate size in bytes of the images that are padded at a time."""
MANY = 64
"""The number of output positions up to which several images are added up together."""
EMPTIER = 7 / 6
"""How many times the lanes that registers along lines may take: their results are not transposed."""
PACKED = 1 << 16
"""The approximate size in bytes of the results that are transposed at a time."""


class ConvolutionPlan:
    """A convolution of one shape: tables of offsets in bytes, by output position and by element of a window."""

    def __init__(self, x: Sizes, weight: Sizes, window: Window, dtype: NumpyType) -> None:
        self.window, self.weight, self.dtype = window, weight, dtype
        self.kind, self.lanes = KINDS[dtype], lanes(KINDS[dtype])
        self.batch, self.channels, self.size = x[0], x[1], x[2:]
        self.around = tuple(n + 2 * p for n, p in zip(self.size, window.padding, strict=True))
        self.lengths = window.lengths(self.size, weight[2:])
        self.places, self.depth, self.results = math.prod(self.lengths), math.prod(weight[1:]), weight[0]
        self.image = self.channels * math.prod(self.around) * dtype.itemsize
        self.plane = self.places * dtype.itemsize
        self.together = next((m for m in (8, 4, 2) if self.batch % m == 0 and self.places * m <= MANY), 1)
        planes, *steps = strides((self.channels, *self.around))
        moves = [s * step for s, step in zip(window.stride, steps, strict=True)]
        taps = [d * step for d, step in zip(window.dilation, steps, strict=True)]
        self.of_places = offsets(self.lengths, moves, dtype)
        self.of_depth = offsets(weight[1:], [planes, *taps], dtype)
        self.blocks = -(-self.results // self.lanes)
        self.work = self.places * self.depth * self.blocks * self.lanes  # a block takes as long with fewer results
        self.columns = np.minimum(np.arange(self.blocks * self.lanes).reshape(-1, self.lanes), self.results - 1)

    def chunks(self) -> list[slice]:
        """The slices of the batch that are padded at a time; one slice without padding."""
        groups, each = self.batch // self.together, self.together
        count = min(groups, math.ceil(self.batch * self.image / PADDED)) if any(self.window.padding) else 1
        return [slice(groups * i // count * each, groups * (i + 1) // count * each) for i in range(count)]

    def padded(self, x: NumpyArray) -> NumpyArray:
        """Images with zero padding, C-contiguous."""
        return moving.padded(x, self.window.padding) if any(self.window.padding) else np.ascontiguousarray(x)

    @computed
    def _put(self) -> BoundKernel:
        """The call that computes results; a task is a part of the output positions of an image."""
        along = self._along
        rows, name = (self.places, "put") if along is None else (len(along), "lines")
        words: dict[str, Word] = {"rows": self.of_places, "places": rows} if along is None else {
            "starts": self.of_places[along], "targets": along * self.dtype.itemsize, "registers": rows,
        }  # fmt: skip
        return BoundKernel(
            GatheredEmitter, self.kind, name, image=self.image, columns=self.of_depth, depth=self.depth,
            blocks=len(self._channels), results=self.results, result=self.plane * self.results, plane=self.plane,
            parts=max(1, min(self.work // TASK, rows // (tile()[0] if along is None else ALONG))), **words,
        )  # fmt: skip

    @computed
    def _along(self) -> NumpyArray | None:
        """The first output position of each register along a line; None where that leaves more lanes empty."""
        length = self.lengths[-1]
        lines, across = self.places // length, -(-length // self.lanes)
        taken = lines * across * self.lanes * _whole(self.results, CHANNELS)
        neighbours = length >= self.lanes and self.window.stride[-1] == 1
        if not neighbours or taken > EMPTIER * self.places * self.columns.size:
            return None
        starts = [*range(0, length - self.lanes, self.lanes), length - self.lanes]
        found = (np.arange(lines)[:, None] * length + starts).reshape(-1)
        return np.append(found, np.repeat(found[-1:], -len(found) % ALONG))

    @computed
    def _channels(self) -> NumpyArray:
        """The output channels of each block of factors; the last is repeated."""
        if self._along is None:
            return self.columns
        return np.minimum(np.arange(_whole(self.results, CHANNELS)).reshape(-1, CHANNELS), self.results - 1)

    def convolved(self, x: NumpyArray, weight: NumpyArray) -> NumpyArray:
        """The convolution, (batch, output channels, *lengths)."""
        out = np.empty((self.batch, self.results, *self.lengths), self.dtype)
        factors = np.ascontiguousarray(weight.reshape(self.results, self.depth)[self._channels].swapaxes(1, 2))
        parts = self._put.number("parts")
        for images in self.chunks():
            image = self.padded(x[images])
            shared = len(image) * self.work >= SHARED
            self._put(len(image) * parts, shared=shared, x=image, weights=factors, out=out[images])
        return out

    @computed
    def _add(self) -> BoundKernel:
        """The call that computes the weight's gradient; a task is a share of the images."""
        bytes_given = self.plane * self.results
        rows = np.zeros(-(-self.depth // tile()[0]) * tile()[0], np.int64)
        rows[: self.depth] = self.of_depth
        return BoundKernel(
            GatheredEmitter, self.kind, "add", image=self.image, rows=rows,
            columns=(np.arange(self.together)[:, None] * self.image + self.of_places).reshape(-1),
            result=bytes_given, plane=self.plane, places=self.places, together=self.together, depth=len(rows),
            parts=max(1, min(bytes_given // PACKED, self.places // self.lanes)),
            shares=max(1, min(SHARES, self.batch * self.work // SHARE)),
            blocks=self.blocks, results=self.results,
        )  # fmt: skip

    def weights(self, x: NumpyArray, given: NumpyArray) -> NumpyArray:
        """The gradient of the weight: the sum over all windows of the window times its cotangent."""
        given = np.ascontiguousarray(given)
        shares, parts, depth = map(self._add.number, ("shares", "parts", "depth"))
        inner = -(-self.places // parts) * self.together
        totals = np.zeros((shares, self.blocks, depth, self.lanes), self.dtype)
        packed = np.empty((shares, self.blocks, inner, self.lanes), self.dtype)
        for images in self.chunks():
            image = self.padded(x[images])
            self._add(
                shares, shared=len(image) * self.work >= SHARED, x=image, given=given[images],
                units=len(image) // self.together * parts,
                totals=totals, total=totals[0].nbytes, packed=packed, room=packed[0].nbytes,
            )  # fmt: skip
        found = np.empty((self.results, self.depth), self.dtype)
        found[self.columns] = totals.sum(0)[:, : self.depth].swapaxes(1, 2)
        return found.reshape(self.weight)


def _whole(count: int, size: int) -> int:
    """The next multiple of a size."""
    return -(-count // size) * size


def offsets(lengths: Sizes, steps: list[int], dtype: NumpyType) -> NumpyArray:
    """The offset in bytes of each element of an array with these strides."""
    found = np.zeros((), np.int64)
    for length, step in zip(lengths, steps, strict=True):
        found = np.add.outer(found, np.arange(length) * (step * dtype.itemsize))
    return np.ascontiguousarray(found.reshape(-1))


@functools.lru_cache(maxsize=64)
def plan(x: Sizes, weight: Sizes, window: Window, dtype: NumpyType) -> ConvolutionPlan | None:
    """The plan of a convolution by machine code; None if NumPy is faster or the case is not supported."""
    if window.groups > 1 or dtype not in (np.float32, np.float64) or not host().fma or 0 in x:
        return None
    width, places = lanes(KINDS[dtype]), math.prod(window.lengths(x[2:], weight[2:]))
    fits = width // 8 <= weight[0] <= WIDEST and max(tile()[0], width) <= places <= PLACES
    return (
        ConvolutionPlan(x, weight, window, dtype)
        if fits and math.prod(weight[1:]) * width * dtype.itemsize <= PANEL
        else None
    )
