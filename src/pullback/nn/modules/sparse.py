"""Embedding tables: Embedding and EmbeddingBag."""

from __future__ import annotations

from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, Self

from .. import functional as F, init
from ..parameter import Parameter, allocate, check_sizes
from .declared import settings
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class _Table(Module):
    """A table of vectors, one of which may be fixed at zero."""

    _begins_frozen = False
    """True if the table may have vectors that are not trained, and may then be integers."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _take(self, given: Tensor | None, trained: bool, device: Device | None, dtype: DType | None) -> None:
        """Create the table, or use the given one."""
        Module.__init__(self)
        rows, columns, place = self.num_embeddings, self.embedding_dim, self.padding_idx
        check_sizes(self, num_embeddings=rows, embedding_dim=columns)
        if place is not None and not -rows <= place < max(rows, 1):
            raise AssertionError(f"Padding_idx must be within num_embeddings: got {place} of {rows}")
        self.padding_idx = place if place is None or place >= 0 else rows + place
        if given is None:
            self.weight = allocate(rows, columns, device=device, dtype=dtype).requires_grad_(trained)
            self.reset_parameters()
            return
        if list(given.shape) != [rows, columns]:
            raise AssertionError(
                f"Shape of weight does not match num_embeddings and embedding_dim: got {tuple(given.shape)}, "
                f"expected ({rows}, {columns})"
            )
        self.weight = Parameter(given, requires_grad=trained)

    def reset_parameters(self) -> None:
        """New random vectors."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    def _settings(self, *names: str) -> list[str]:
        """The settings that differ from their defaults, as text."""
        usual = {"norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        values = {name: getattr(self, name) for name in names}
        return [f"{name}={value!r}" for name, value in values.items() if value != usual.get(name)]

    @classmethod
    def _on(cls, embeddings: Tensor, freeze: bool, **settings: Any) -> Self:
        """A table on given vectors."""
        if embeddings.ndim != 2:
            raise AssertionError(
                f"Embeddings parameter is expected to be 2-dimensional: got shape {tuple(embeddings.shape)}"
            )
        frozen = {"_freeze": freeze} if cls._begins_frozen else {}
        table = cls(*embeddings.shape, _weight=embeddings, **frozen, **settings)
        table.weight.requires_grad = not freeze
        return table


@settings
class Embedding(_Table):
    """A table of vectors, from which integers take theirs: (...) to (..., embedding_dim).

    `weight` has shape (num_embeddings, embedding_dim) and starts normally distributed. The vector `padding_idx` starts
    at zero and gets no gradient. With `max_norm`, the vectors that are taken are shortened to that norm, in place.
    `sparse` is accepted; gradients are dense.

    Parameters
    ----------
    num_embeddings
        The number of vectors.
    embedding_dim
        The length of each.
    padding_idx
        The number of a vector that is zero and not learned.
    max_norm
        The largest norm of a vector that is taken: longer ones are shortened, in place.
    norm_type
        The exponent of the norm.
    scale_grad_by_freq
        Divide the gradient of a vector by how often it is taken.
    sparse
        Accepted; gradients are dense.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> table = pullback.nn.Embedding(10, 3)
    >>> table(pullback.tensor([[1, 2, 4], [4, 3, 9]])).shape
    pullback.Size([2, 3, 3])
    """

    _begins_frozen = True

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False
    _weight: InitVar[Tensor | None] = None
    _freeze: InitVar[bool] = False
    device: InitVar[Device | None] = None
    dtype: InitVar[DType | None] = None

    def __post_init__(self, _weight: Tensor | None, _freeze: bool, device: Device | None, dtype: DType | None) -> None:
        self._take(_weight, not _freeze, device, dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A table on given vectors, fixed unless `freeze` is False; the other arguments are those of the class.

        Raises
        ------
        AssertionError
            If the vectors are not a matrix.

        >>> import pullback
        >>> table = pullback.nn.Embedding.from_pretrained(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(pullback.tensor([1]))
        tensor([[3., 4.]])
        """
        return cls._on(
            embeddings, freeze, padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, sparse=sparse,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        names = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *self._settings(*names)])


@settings
class EmbeddingBag(_Table):
    """The sum, mean or maximum of the vectors that each bag of integers takes from a table.

    Bags are the rows of a matrix, or pieces of a vector that start at `offsets`. `mode` is 'sum', 'mean' or 'max'.

    Arguments as for `Embedding`.

    Parameters
    ----------
    mode
        "sum", "mean" or "max" of each bag.
    include_last_offset
        The last offset is the end of the last bag.

    >>> import pullback
    >>> bags = pullback.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bags(pullback.tensor([1, 2, 4, 5]), pullback.tensor([0, 3])).shape
    pullback.Size([2, 3])
    """

    num_embeddings: int
    embedding_dim: int
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    mode: str = "mean"
    sparse: bool = False
    _weight: InitVar[Tensor | None] = None
    include_last_offset: bool = False
    padding_idx: int | None = None
    device: InitVar[Device | None] = None
    dtype: InitVar[DType | None] = None

    def __post_init__(self, _weight: Tensor | None, device: Device | None, dtype: DType | None) -> None:
        self._take(_weight, True, device, dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """A table on given vectors, fixed unless `freeze` is False; the other arguments are those of the class.

        >>> import pullback
        >>> bag = pullback.nn.EmbeddingBag.from_pretrained(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
        >>> bag(pullback.tensor([[0, 1]]))
        tensor([[4., 6.]])
        """
        return cls._on(
            embeddings, freeze, max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode,
            sparse=sparse, include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        how = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        rest = (per_sample_weights, self.include_last_offset, self.padding_idx)
        return F.embedding_bag(input, self.weight, offsets, *how, *rest)

    def extra_repr(self) -> str:
        names = ("max_norm", "norm_type", "scale_grad_by_freq", "mode", "padding_idx")
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *self._settings(*names)])
