"""Sequences of different lengths in one tensor: padded to one length, or packed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from ..._core import placement, xp as _xp
from ..._core.primitives import Carrier
from ..._core.sites import named
from ..._core.values import concrete
from ..._tensor.creation import from_numpy, tensor
from ...vocabulary.shapes import cat, swapaxes
from ...vocabulary.slicing import narrow

if TYPE_CHECKING:
    from ..._core.typing import Array, Device, Tensor

Lengths: TypeAlias = "Tensor | Array | Sequence[int]"

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def _in(name: str, dtype: str) -> Callable[[PackedSequence], PackedSequence]:
    """The method of a packed sequence that converts it as the tensor's method of that name does."""

    def method(self: PackedSequence) -> PackedSequence:
        return self._replace(data=getattr(self.data, name)())

    return named(name, method, f"The packed sequence in {dtype}.")


class PackedSequence(_Fields):
    """Sequences of different lengths, packed: the first elements of all of them, then the second ones, and so on.

    `data` has a row for each element, `batch_sizes` the number of sequences that reach each step. If the sequences were
    sorted, longest first, `sorted_indices` is the permutation, and `unsorted_indices` its inverse. It is the result of
    `pack_padded_sequence` and `pack_sequence`; recurrent modules accept and return it.

    >>> import pullback
    >>> from pullback import nn
    >>> nn.utils.rnn.pack_sequence([pullback.tensor([1, 2, 3]), pullback.tensor([4, 5])])
    PackedSequence(data=tensor([1, 4, 2, 5, 3]), batch_sizes=tensor([2, 2, 1]), sorted_indices=None, unsorted_indices=None)
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        """The sequence of four fields, of the first two, or of a pair of them."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError(
                    "Expected data to be a list or tuple of length 2: PackedSequence(data, batch_sizes)"
                )
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The packed sequence with `data` converted, as by `Tensor.to`."""
        converted = self.data.to(*args, **kwargs)
        return self if converted is self.data else self._replace(data=converted)

    double, float, half = _in("double", "float64"), _in("float", "float32"), _in("half", "float16")
    long, int, short = _in("long", "int64"), _in("int", "int32"), _in("short", "int16")
    char, byte = _in("char", "int8"), _in("byte", "uint8")

    def cpu(self, *args: object, **kwargs: object) -> Self:
        """The packed sequence itself: everything is on the CPU."""
        return self

    def cuda(self, device: Device | None = None, **options: object) -> None:
        """Raises: there is no device but the CPU."""
        placement.here("cuda" if device is None else device)

    def pin_memory(self) -> Self:
        """The packed sequence itself: there is no device for which to pin memory."""
        return self

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def is_pinned(self) -> bool:
        """False: memory is never pinned."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The inverse of a permutation; None for None.

    >>> import pullback
    >>> pullback.nn.utils.rnn.invert_permutation(pullback.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else from_numpy(_xp.long(np.argsort(concrete(permutation, "argsort"))))


def _lengths(lengths: Lengths) -> Array:
    """Lengths of sequences as an array, checked."""
    if isinstance(lengths, Carrier):
        lengths = concrete(lengths, "_pack_padded_sequence")
    found = np.array(lengths, np.int64)
    if found.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {found.ndim}D: shape {found.shape}"
        )
    return found


def pack_padded_sequence(
    input: Tensor, lengths: Lengths, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that are padded to one length: (steps, batch, ...), or (batch, steps, ...) with `batch_first`.

    With `enforce_sorted` the longest sequence must be the first, and so on; without it they are sorted.

    Raises
    ------
    RuntimeError
        If a length is not above 0 or longer than the input, if there are not as many as sequences, or if they are not
        sorted.

    >>> import pullback
    >>> from pullback.nn.utils import rnn
    >>> packed = rnn.pack_padded_sequence(pullback.tensor([[1, 4], [2, 5], [3, 0]]), pullback.tensor([3, 2]))
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
    """
    counts = _lengths(lengths)
    if input.numel() == 0:
        raise RuntimeError(f"Cannot pack empty tensors: the input has shape {tuple(input.shape)}")
    x = swapaxes(input, 0, 1) if batch_first else input
    if x.ndim < 2 or x.shape[1] != len(counts):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={x.shape[1] if x.ndim > 1 else 0})"
        )
    if counts.min() <= 0:
        raise RuntimeError(
            f"Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0: {counts.tolist()}"
        )
    order = None
    if not enforce_sorted:
        order = _xp.long(np.argsort(-counts, kind="stable"))
        counts, x = counts[order], x[:, tensor(order)]
    elif (counts[1:] > counts[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
            f"not need ONNX exportability. The lengths are {counts.tolist()}"
        )
    if counts[0] > x.shape[0]:
        raise RuntimeError(f"Expected no sequence longer than the input: got length {counts[0]} of {x.shape[0]} steps")
    reached = np.arange(counts[0])[:, None] < counts
    steps, places = np.nonzero(reached)
    data = _rows(x, steps * x.shape[1] + places)
    sizes = from_numpy(reached.sum(1, dtype=np.int64))
    return PackedSequence(data, sizes, None if order is None else from_numpy(order))


def _rows(x: Tensor, rows: Array) -> Tensor:
    """Rows of x at indices into its first two axes, flattened."""
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])[tensor(rows)]


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The sequences of a packed one, padded to one length, and their lengths: the inverse of `pack_padded_sequence`.

    Raises
    ------
    ValueError
        If `total_length` is less than the longest sequence.

    >>> import pullback
    >>> packed = pullback.nn.utils.rnn.pack_sequence([pullback.tensor([1, 2, 3]), pullback.tensor([4])])
    >>> pullback.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    data, batch_sizes, _, unsorted = sequence
    sizes = concrete(batch_sizes, "_pad_packed_sequence")
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    count = int(sizes[0])
    reached = np.arange(count) < np.pad(sizes, (0, steps - len(sizes)))[:, None]
    where = np.full(reached.shape, len(data), np.int64)
    where[reached] = np.arange(len(data))
    lengths = reached.sum(0, dtype=np.int64)
    if unsorted is not None:
        order = concrete(unsorted, "index")
        where, lengths = where[:, order], lengths[order]
    padding = data.new_full((1, *data.shape[1:]), padding_value)
    padded = cat([data, padding])[tensor(where.T.copy() if batch_first else where)]
    return padded, from_numpy(lengths)


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences of different lengths as one tensor, padded: (steps, batch, ...), or (batch, steps, ...).

    Raises
    ------
    RuntimeError
        If they are not tensors, or their shapes differ in more than the lengths.

    >>> import pullback
    >>> pullback.nn.utils.rnn.pad_sequence([pullback.tensor([1, 2, 3]), pullback.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    listed = list(sequences)
    if not listed:
        raise RuntimeError("received an empty list of sequences: pass one tensor for each sequence")
    rest = tuple(listed[0].shape[1:])
    for sequence in listed:
        if sequence.ndim == 0 or tuple(sequence.shape[1:]) != rest:
            raise RuntimeError(
                f"The size of tensor a {rest} must match the size of tensor b {tuple(sequence.shape[1:])}: sequences may "
                "differ in length alone"
            )
    lengths = np.array([len(sequence) for sequence in listed])
    steps, total = int(lengths.max()), int(lengths.sum())
    starts = np.cumsum(lengths) - lengths
    moved = np.arange(steps) - (0 if padding_side == "right" else (steps - lengths)[:, None])
    where = np.where((moved >= 0) & (moved < lengths[:, None]), starts[:, None] + moved, total)
    joined = cat([*listed, listed[0].new_full((1, *rest), padding_value)])
    return joined[tensor(where if batch_first else where.T.copy())]


def unpad_sequence(padded_sequences: Tensor, lengths: Lengths, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each cut to its length.

    >>> from pullback import nn, tensor
    >>> nn.utils.rnn.unpad_sequence(tensor([[1, 2, 3], [4, 0, 0]]), tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    x = padded_sequences if batch_first else swapaxes(padded_sequences, 0, 1)
    return [narrow(row, 0, 0, int(length)) for row, length in zip(x, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths; with `enforce_sorted`, they must be sorted, longest first.

    Raises
    ------
    RuntimeError
        If they are not sorted, and `enforce_sorted`.

    >>> from pullback import nn, tensor
    >>> nn.utils.rnn.pack_sequence([tensor([1, 2, 3]), tensor([4])]).data  # step by step
    tensor([1, 4, 2, 3])
    """
    lengths = tensor([len(sequence) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one: the inverse of `pack_sequence`.

    >>> from pullback import nn, tensor
    >>> nn.utils.rnn.unpack_sequence(nn.utils.rnn.pack_sequence([tensor([1, 2]), tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
