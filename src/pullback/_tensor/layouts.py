"""Layouts: torch's sparse tensors are dense here, and their zeros are treated as unspecified elements."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from .._core.values import require_tensor
from ..vocabulary import arithmetic

if TYPE_CHECKING:
    from .._core.typing import Array, DType, Tensor


def to_sparse(
    self: Tensor,
    sparse_dim: object = None,
    *,
    layout: object = None,
    blocksize: object = None,
    dense_dim: object = None,
) -> Tensor:
    """This tensor, which stays dense; its zeros get no gradient, as in torch for unspecified elements.

    Parameters
    ----------
    sparse_dim, blocksize, dense_dim
        Accepted as in torch, and of no effect.

    >>> import pullback
    >>> x = pullback.tensor([0.0, 2.0], requires_grad=True)
    >>> (x.to_sparse() * 3).sum().backward()
    >>> x.grad
    tensor([0., 3.])
    """
    return arithmetic.where(self != 0, self, 0) if self.requires_grad else self


def _to_sparse(self: Tensor, dense_dim: object = None) -> Tensor:
    """This tensor, which stays dense; the same as `to_sparse`.

    Parameters
    ----------
    dense_dim
        Accepted as in torch, and of no effect.

    >>> import pullback
    >>> pullback.tensor([1, 0]).to_sparse()
    tensor([1, 0])
    """
    return to_sparse(self)


to_sparse_coo = to_sparse_csr = to_sparse_csc = _to_sparse


def to_dense(self: Tensor, dtype: DType | None = None, *, masked_grad: object = None) -> Tensor:
    """This tensor, converted to another dtype if one is given: all tensors are dense.

    Parameters
    ----------
    masked_grad
        Accepted as in torch, and of no effect.

    >>> import pullback
    >>> pullback.tensor([1, 0]).to_dense()
    tensor([1, 0])
    """
    return self if dtype is None else self.to(dtype)


_patterns: dict[int, tuple[weakref.ref[Array], Tensor]] = {}
"""Per array id: a weak reference to the array, and the indices from which a sparse tensor with it was created."""


def with_pattern(tensor: Tensor, pattern: Tensor) -> Tensor:
    """A tensor with the indices it was created from, one per column, including those of explicit zeros.

    The indices are attached to its array, so that values which a graph saves have them too.
    """
    array = tensor._array
    if isinstance(array, np.ndarray):
        key = id(array)
        _patterns[key] = weakref.ref(array, lambda _: _patterns.pop(key, None)), pattern
    return tensor


def _pattern(tensor: Tensor) -> Tensor | None:
    """The indices that a tensor was created from; None for a tensor without."""
    known = _patterns.get(id(tensor._array))
    return None if known is None or known[0]() is not tensor._array else known[1]


def coalesce(self: Tensor) -> Tensor:
    """This tensor: a dense tensor has one value per index, in order.

    >>> import pullback
    >>> pullback.tensor([1, 0]).coalesce()
    tensor([1, 0])
    """
    pattern = _pattern(self)
    return self if pattern is None else with_pattern(self.view_as(self), pattern.unique(dim=1))


def is_coalesced(self: Tensor) -> bool:
    """True: a dense tensor has one value per index, in order.

    >>> import pullback
    >>> pullback.tensor([1, 0]).is_coalesced()
    True
    """
    pattern = _pattern(self)
    return pattern is None or bool(pattern.equal(pattern.unique(dim=1)))


def indices(self: Tensor) -> Tensor:
    """The indices of the nonzero elements, one per column; for a tensor created from indices, those.

    >>> import pullback
    >>> pullback.tensor([[0, 5], [7, 0]]).indices()
    tensor([[0, 1],
            [1, 0]])
    """
    pattern = _pattern(self)
    return self.detach().nonzero().t() if pattern is None else pattern


def values(self: Tensor) -> Tensor:
    """The elements at `indices`.

    >>> import pullback
    >>> pullback.tensor([[0, 5], [7, 0]]).values()
    tensor([5, 7])
    """
    return self[tuple(indices(self))]


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """This tensor where `mask` has elements, and zero elsewhere.

    >>> import pullback
    >>> pullback.tensor([1, 2]).sparse_mask(pullback.tensor([0, 5]))
    tensor([0, 2])
    """
    require_tensor("sparse_mask", "mask", mask)
    there: Tensor = arithmetic.ne(mask, 0)
    if (pattern := _pattern(mask)) is not None:
        there = there.index_put(tuple(pattern), there.new_ones(()))
    return arithmetic.where(there, self, 0)


def nnz(self: Tensor) -> int:
    """The number of `indices`."""
    return int(indices(self).shape[1])


_indices, _values, _nnz = indices, values, nnz
