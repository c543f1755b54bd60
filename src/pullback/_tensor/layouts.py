"""Layouts: what torch keeps as a sparse tensor is a dense one here, and counts its zeros as what is not there."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .._core.values import require_tensor
from ..vocabulary import arithmetic


def to_sparse(
    self: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """This tensor, which stays dense; its zeros take no part in gradients, as in torch what is not there does not.

    >>> import pullback
    >>> x = pullback.tensor([0.0, 2.0], requires_grad=True)
    >>> (x.to_sparse() * 3).sum().backward()
    >>> x.grad
    tensor([0., 3.])
    """
    return arithmetic.where(self != 0, self, 0) if self.requires_grad else self


def _to_sparse(self: Any, dense_dim: Any = None) -> Any:
    """This tensor, which stays dense: `to_sparse`."""
    return to_sparse(self)


to_sparse_coo = to_sparse_csr = to_sparse_csc = _to_sparse


def to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """This tensor, in another dtype if one is given: all tensors are dense."""
    return self if dtype is None else self.to(dtype)


_patterns: dict[int, tuple[Any, Any]] = {}
"""By the identity of an array: a weak reference to it, and the indices that a sparse tensor in it was made of."""


def with_pattern(tensor: Any, pattern: Any) -> Any:
    """A tensor that knows the indices it was made of, a column for each, among them those of explicit zeros.

    They belong to its array, so that what a graph saves of the tensor knows them, too.
    """
    array = tensor._array
    if isinstance(array, np.ndarray):
        key = id(array)
        _patterns[key] = weakref.ref(array, lambda _: _patterns.pop(key, None)), pattern
    return tensor


def _pattern(tensor: Any) -> Any:
    """The indices that a tensor was made of; None if it is not one of those."""
    known = _patterns.get(id(tensor._array))
    return None if known is None or known[0]() is not tensor._array else known[1]


def coalesce(self: Any) -> Any:
    """This tensor, with one number for each index, in order."""
    pattern = _pattern(self)
    return self if pattern is None else with_pattern(self.view_as(self), pattern.unique(dim=1))


def is_coalesced(self: Any) -> bool:
    """Whether there is one number for each index, in order."""
    pattern = _pattern(self)
    return pattern is None or bool(pattern.equal(pattern.unique(dim=1)))


def indices(self: Any) -> Any:
    """The indices of the elements that are not zero, a column for each; those that a sparse tensor was made of.

    >>> import pullback
    >>> pullback.tensor([[0, 5], [7, 0]]).indices()
    tensor([[0, 1],
            [1, 0]])
    """
    pattern = _pattern(self)
    return self.detach().nonzero().t() if pattern is None else pattern


def values(self: Any) -> Any:
    """The elements at `indices`.

    >>> import pullback
    >>> pullback.tensor([[0, 5], [7, 0]]).values()
    tensor([5, 7])
    """
    return self[tuple(indices(self))]


def sparse_mask(self: Any, mask: Any) -> Any:
    """This tensor where another has elements, and zero elsewhere."""
    require_tensor("sparse_mask", "mask", mask)
    there: Any = arithmetic.ne(mask, 0)
    if (pattern := _pattern(mask)) is not None:
        there = there.index_put(tuple(pattern), there.new_ones(()))
    return arithmetic.where(there, self, 0)


def nnz(self: Any) -> int:
    """How many `indices` there are."""
    return int(indices(self).shape[1])


_indices, _values, _nnz = indices, values, nnz
