"""Sums of products of two operands with labeled axes, as products of matrices, which a BLAS computes."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from . import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .typing import Array, Threshold


LEAST: Threshold = 256
"""The number of elements of both operands from which a product of matrices costs less than NumPy's einsum."""
PATHLESS: Threshold = 1 << 13
"""The product of the numbers of elements up to which NumPy's einsum sums in one loop sooner than it finds an order of operands."""


def in_pairs(shapes: Sequence[Sequence[int]]) -> bool:
    """True if an einsum of operands of these shapes is computed of two at a time."""
    return len(shapes) > 2 and math.prod(map(math.prod, shapes)) > PATHLESS


class Parts:
    """The labels of a product of two operands: of both and kept, of one and kept, of both and summed, of one and summed.

    >>> from pullback._core.contraction import Parts
    >>> parts = Parts(("bij", "bjk"), "bik")
    >>> parts.batch, parts.left, parts.common, parts.right, parts.alone
    (['b'], ['i'], ['j'], ['k'], [])
    """

    def __init__(self, terms: tuple[str, ...], result: str) -> None:
        first, second = self.terms = terms
        self.result = result
        self.batch = [c for c in result if c in first and c in second]
        self.left = [c for c in result if c in first and c not in second]
        self.right = [c for c in result if c in second and c not in first]
        self.common = [c for c in first if c in second and c not in result]
        self.alone = [c for c in first + second if c not in result and c not in self.common]
        self.order = self.batch + self.left + self.right


@functools.lru_cache(1024)
def _parts(equation: str) -> Parts | None:
    """The parts of an einsum that is a product of matrices."""
    terms, result = equation.split("->")
    labels = tuple(terms.split(","))
    if len(labels) != 2 or any(len(set(term)) < len(term) for term in (*labels, result)):
        return None
    parts = Parts(labels, result)
    return parts if parts.common and (parts.left or parts.right) and not parts.alone else None


def contracted(a: Array, b: Array, equation: str) -> Array | None:
    """The einsum of two arrays as a product of matrices, or of a batch of them; None if it is none, or a small one.

    The array that has the last axis of the result comes second: then rows of the product are rows of the result.
    """
    parts = _parts(equation)
    if parts is not None and parts.left and parts.result[-1] in parts.left:
        first, second = equation.partition("->")[0].split(",")
        a, b, parts = b, a, _parts(f"{second},{first}->{parts.result}")
    if parts is None or a.size + b.size < LEAST or a.dtype.char not in "fdFD":
        return None
    sizes = dict(zip(parts.terms[0], a.shape, strict=True))
    if any(sizes.setdefault(label, size) != size for label, size in zip(parts.terms[1], b.shape, strict=True)):
        return None  # an axis of length 1 is broadcast
    batch, rows, inner, columns = (
        [sizes[label] for label in labels] for labels in (parts.batch, parts.left, parts.common, parts.right)
    )
    a = a.transpose([parts.terms[0].index(label) for label in parts.batch + parts.left + parts.common])
    b = b.transpose([parts.terms[1].index(label) for label in parts.batch + parts.common + parts.right])
    length = math.prod(inner)
    a, b = a.reshape([*batch, math.prod(rows), length]), b.reshape([*batch, length, math.prod(columns)])
    product = machine.batched(a, b) if batch else machine.dot(a, b)
    return product.reshape([*batch, *rows, *columns]).transpose([parts.order.index(label) for label in parts.result])
