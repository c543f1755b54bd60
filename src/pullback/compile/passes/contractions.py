"""Sums of products as products of matrices, which a BLAS computes, and transposes that cancel around them.

A product of matrices adds in another order than a sum, and where a sum is over more than rows and columns of one
matrix, it is a batch of such products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..._core.contraction import Parts
from ..program import Equation, Value
from .building import Builder
from .layouts import without_ones
from .rules import Rules

contracted = Rules()


def _swaps(axes: Sequence[int]) -> bool:
    """Whether a permutation exchanges the last two axes and nothing else."""
    last = len(axes) - 1
    return last >= 1 and tuple(axes) == (*range(last - 1), last, last - 1)


@contracted("permute_dims")
def _of_product(build: Builder, e: Equation) -> Value | None:
    """The transpose of a product is the product of the transposes, if one of those is there already."""
    product = build.maker(e.inputs[0], "matmul")
    if product is None or not _swaps(e.params["axes"]):
        return None
    a, b = product.inputs
    if min(len(a.shape), len(b.shape)) < 2:
        return None
    makers = [build.maker(value, "permute_dims") for value in (a, b)]
    if any(maker is not None and _swaps(maker.params["axes"]) for maker in makers):
        return build.matmul(build.matrix_transpose(b), build.matrix_transpose(a))
    return None


@contracted("sum")
def _of_products(build: Builder, e: Equation) -> Value | None:
    """sum(a * b), where both have axes of their own that are kept and axes in common that are not."""
    product = build.maker(e.inputs[0], "multiply")
    if product is None or e.inputs[0].dtype.kind != "f":
        return None
    ndim = len(e.inputs[0].shape)
    labels = [chr(ord("a") + i) for i in range(ndim)]
    terms = ["".join(label for label, size in zip(labels[ndim - len(v.shape):], v.shape, strict=True) if size != 1)
             for v in product.inputs]  # fmt: skip
    result = "".join(label for i, label in enumerate(labels) if i not in e.params["axis"])
    shape = e.inputs[0].shape
    result = "".join(label for label in result if shape[labels.index(label)] != 1)
    parts = _Parts(tuple(terms), result)
    if parts.alone or not (parts.common and parts.left and parts.right):
        return None
    operands = [build.reshape(v, shape=without_ones(v.shape)) for v in product.inputs]
    return build.reshape(parts.product(build, operands), shape=e.output.shape)


@contracted("sum")
def _of_batches(build: Builder, e: Equation) -> Value | None:
    """A sum of the products of a batch is one product, of matrices that are as long as the whole batch.

    So is the gradient of a weight that every element of a batch was multiplied by.
    """
    product = build.maker(e.inputs[0], "matmul")
    if product is None or e.output.dtype.kind != "f":
        return None
    a, b = product.inputs
    ndim = len(a.shape)
    axis: tuple[int, ...] = e.params["axis"]
    if ndim < 3 or a.shape[:-2] != b.shape[:-2] or not axis or any(i >= ndim - 2 for i in axis):
        return None
    batch = "".join(chr(ord("a") + i) for i in range(ndim - 2))
    result = "".join(label for i, label in enumerate(batch) if i not in axis) + "xz"
    parts = _Parts((f"{batch}xy", f"{batch}yz"), result)
    return build.reshape(parts.product(build, (a, b)), shape=e.output.shape)


@contracted("matmul")
def _of_rows(build: Builder, e: Equation) -> Value | None:
    """A batch of matrices times one matrix: all rows are those of one matrix, unless they lie in another order."""
    a, b = e.inputs
    if len(a.shape) < 3 or len(b.shape) != 2 or not a.size or build.maker(a, "permute_dims"):
        return None
    rows = build.reshape(a, shape=(a.size // a.shape[-1], a.shape[-1]))
    return build.reshape(build.matmul(rows, b), shape=e.output.shape)


class _Parts(Parts):
    """The labels of a product of two operands, and the product as equations."""

    def product(self, build: Builder, operands: Sequence[Value]) -> Value:
        """The product as one of matrices, a batch of them, with the axes of the result."""
        sizes = {c: n for term, x in zip(self.terms, operands, strict=True) for c, n in zip(term, x.shape, strict=True)}
        a = self._matrix(build, operands[0], self.terms[0], self.left, self.common, sizes)
        b = self._matrix(build, operands[1], self.terms[1], self.common, self.right, sizes)
        product = build.reshape(build.matmul(a, b), shape=tuple([sizes[c] for c in self.order]))
        return build.permute_dims(product, axes=tuple([self.order.index(c) for c in self.result]))

    def _matrix(
        self, build: Builder, x: Value, term: str, rows: list[str], columns: list[str], sizes: dict[str, int]
    ) -> Value:
        """An operand as matrices; as the transposes of such as lie in memory as they are, if there are any."""
        if turned := build.maker(x, "permute_dims"):
            labels = dict(zip(turned.params["axes"], term, strict=True))
            x, term = turned.inputs[0], "".join(labels[i] for i in range(len(term)))
        batch = [sizes[c] for c in self.batch]
        lengths = [math.prod([sizes[c] for c in part]) for part in (rows, columns)]
        if [*term] == self.batch + columns + rows and rows and columns:
            return build.matrix_transpose(build.reshape(x, shape=(*batch, *reversed(lengths))))
        ordered = build.permute_dims(x, axes=tuple([term.index(c) for c in self.batch + rows + columns]))
        return build.reshape(ordered, shape=(*batch, *lengths))


@contracted("einsum")
def _of_many(build: Builder, e: Equation) -> Value | None:
    """An einsum of three and more operands: of two at a time, in the order in which NumPy's greedy search finds least to do."""
    terms, result = e.params["equation"].split("->")
    operands = list(zip(terms.split(","), e.inputs, strict=True))
    if len(operands) < 3 or e.output.dtype.kind != "f" or any(value.dtype != e.output.dtype for value in e.inputs):
        return None
    shapes = [np.broadcast_to(np.empty(()), value.shape) for value in e.inputs]
    for places in np.einsum_path(e.params["equation"], *shapes, optimize="greedy")[0][1:]:
        chosen = [operands.pop(place) for place in sorted(places, reverse=True)]
        while len(chosen) > 1:
            (a, x), (b, y) = chosen.pop(), chosen.pop()
            left = chosen + operands
            kept = {*result}.union(*[term for term, _ in left])
            term = "".join(c for c in dict.fromkeys(a + b) if c in kept) if left else result
            chosen.append((term, build.einsum(x, y, equation=f"{a},{b}->{term}")))
        operands += chosen
    return operands[0][1]


@contracted("einsum")
def _of_labels(build: Builder, e: Equation) -> Value | None:
    """An einsum of two operands: a product of matrices, or a sum of products of elements."""
    terms, result = e.params["equation"].split("->")
    labels = terms.split(",")
    if len(labels) != 2 or any(len(set(term)) < len(term) for term in (*labels, result)):
        return None
    if e.output.dtype.kind != "f" or any(value.dtype != e.output.dtype for value in e.inputs):
        return None
    sizes: dict[str, int] = {}
    for term, value in zip(labels, e.inputs, strict=True):
        for label, size in zip(term, value.shape, strict=True):
            if sizes.setdefault(label, size) != size:
                return None
    parts = _Parts(tuple(labels), result)
    if parts.alone:
        return None
    if parts.common and parts.left and parts.right:
        return parts.product(build, e.inputs)
    return _of_elements(build, e.inputs, labels, result, sizes)


def _of_elements(
    build: Builder, operands: Sequence[Value], terms: Sequence[str], result: str, sizes: dict[str, int]
) -> Value:
    """The operands with all axes, in the order of the result and then of what is summed; multiplied, and summed."""
    order = [*result, *[c for c in sizes if c not in result]]
    spread = []
    for term, x in zip(terms, operands, strict=True):
        turned = build.permute_dims(x, axes=tuple([term.index(c) for c in order if c in term]))
        spread.append(build.reshape(turned, shape=tuple([sizes[c] if c in term else 1 for c in order])))
    product = build.multiply(*spread)
    return build.sum(product, axis=tuple(range(len(result), len(order))), keepdims=False)
