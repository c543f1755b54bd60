"""Products: matrices, vectors, batches, and einsum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _dtypes, _refusals, ops
from .._core import Carrier
from .._promotion import binary, cast, common
from .._shapes import broadcast_shapes
from .._views import view

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _matching(a: Any, b: Any, name: str) -> tuple[Any, Any]:
    """Operands of one dtype: products do not promote, as in torch; a NumPy array follows the tensor."""
    if not isinstance(a, Carrier):
        a = cast(a, b._dtype)
    if not isinstance(b, Carrier):
        b = cast(b, a._dtype)
    kinds = [value._dtype if isinstance(value, Carrier) else value.dtype for value in (a, b)]
    if kinds[0] is kinds[1]:
        return a, b
    if kinds[0] != kinds[1]:
        have = " != ".join(_dtypes.type_name(_dtypes.from_numpy(kind)).lower() for kind in kinds)
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {have}. {name} does not promote: convert one operand, "
            "as in a.double() or b.to(a.dtype)"
        )
    return a, b


def _require_tensors(name: str, input: Any, other: Any) -> None:
    for position, (argument, value) in enumerate({"input": input, "other": other}.items(), 1):
        if not isinstance(value, (Carrier, np.ndarray)):
            raise _refusals.no_tensor(name, argument, position, value)


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    _require_tensors("mm", input, mat2)
    for name, value in (("self", input), ("mat2", mat2)):
        if value.ndim != 2:
            raise RuntimeError(
                f"{name} must be a matrix: mm multiplies matrices, and it has shape {tuple(value.shape)}"
            )
    return matmul(input, mat2)


def matmul(input: Any, other: Any) -> Any:
    """input @ other: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
    _require_tensors("matmul", input, other)
    a, b = _matching(input, other, "matmul")
    dims = a.ndim, b.ndim
    if 0 in dims:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D: use * for a product "
            "with a scalar"
        )
    try:
        return ops.matmul(a, b, **_LABELS.get(dims, {"label": "BmmBackward0"}))
    except ValueError:
        _check_product(tuple(a.shape), tuple(b.shape))  # says which axes do not fit
        raise


_LABELS: dict[tuple[int, int], dict[str, str]] = {
    (1, 1): {"label": "DotBackward0"},
    (2, 1): {"label": "MvBackward0"},
    (1, 2): {"label": "MvBackward0"},
    (2, 2): {},
}


def _check_product(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    inner = b[0] if len(b) == 1 else b[-2]
    if a[-1] != inner:
        if len(a) == 1 and len(b) == 1:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, "
                f"but got {a[0]} and {b[0]} elements respectively"
            )
        sizes = ["x".join(map(str, shape)) for shape in (a, b)]
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]}): the last axis of the first, {a[-1]}, "
            f"must equal the {'only' if len(b) == 1 else 'second to last'} axis of the second, {inner}"
        )
    if len(a) > 2 and len(b) > 2:
        broadcast_shapes(a[:-2], b[:-2])


def dot(input: Any, tensor: Any) -> Any:
    """The sum of the products of two vectors."""
    _require_tensors("dot", input, tensor)
    for value in (input, tensor):
        if value.ndim != 1:
            raise RuntimeError(
                f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors: dot is for vectors"
            )
    return matmul(input, tensor)


def mv(input: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    _require_tensors("mv", input, vec)
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}D and {vec.ndim}D tensors")
    return matmul(input, vec)


def bmm(input: Any, mat2: Any) -> Any:
    """The products of two batches of matrices."""
    _require_tensors("bmm", input, mat2)
    if input.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(
            f"batch1 must be a 3D tensor: bmm multiplies batches of matrices, and got {input.ndim}D and {mat2.ndim}D"
        )
    if input.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input.shape[0]}, {input.shape[2]}] but got: "
            f"[{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    return matmul(input, mat2)


def outer(input: Any, vec: Any) -> Any:
    """All products of an element of one vector with one of another."""
    _require_tensors("outer", input, vec)
    if input.ndim != 1 or vec.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, got {input.ndim}D and {vec.ndim}D")
    column = view(ops.expand_dims, input, axis=1) if isinstance(input, Carrier) else input[:, None]
    return binary(ops.multiply, column, vec)


def einsum(equation: str, *operands: Any) -> Any:
    """A sum of products over labelled axes, as `einsum('ij,jk->ik', a, b)`; '...' stands for batch axes."""
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum(): the equation comes first, as text such as 'ij,jk->ik', not {type(equation).__name__}"
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    for position, operand in enumerate(operands, 1):
        if not isinstance(operand, (Carrier, np.ndarray)):
            raise _refusals.no_tensor("einsum", "operands", position, operand)
    terms, result = _parsed(equation, operands)
    dtype = common(*operands)
    arrays = []
    for i, operand in enumerate(operands):
        terms[i], array = _unique_labels(terms[i], cast(operand, dtype))
        arrays.append(array)
    _check_sizes(terms, arrays)
    return ops.einsum(*arrays, equation=f"{','.join(terms)}->{result}")


def _parsed(equation: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, '...' replaced by fresh letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise RuntimeError(
            f"einsum(): more operands were provided than specified in the equation, or fewer: {equation!r} names "
            f"{len(terms)}, and {len(operands)} were given"
        )
    free = [letter for letter in LETTERS if letter not in equation]
    batch = 0
    for i, (labels, operand) in enumerate(zip(terms, operands, strict=True)):
        named = labels.replace("...", "")
        rest = operand.ndim - len(named)
        if not set(named) <= set(LETTERS):
            raise RuntimeError(f"einsum(): invalid subscript given in {labels!r}: subscripts are letters and one '...'")
        if rest < 0 or (rest and "..." not in labels):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of dimensions "
                f"({operand.ndim}) for operand {i}, of shape {tuple(operand.shape)}"
            )
        batch = max(batch, rest)
        terms[i] = labels.replace("...", "".join(reversed(free[:rest])))
    dots = "".join(reversed(free[:batch]))
    if not arrow:
        letters = "".join(terms)
        right = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))
    result = right.replace("...", dots)
    for label in result:
        if label not in "".join(terms) or result.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand, or twice in "
                f"the output: {equation!r}"
            )
    return terms, result


def _unique_labels(labels: str, operand: Any) -> tuple[str, Any]:
    """An operand in which no label occurs twice: a repeated one takes the diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if operand.shape[first] != operand.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for an operand but the sizes don't match, "
                    f"{operand.shape[first]} != {operand.shape[second]}"
                )
            operand = view(ops.diagonal, operand, axes=(first, second))
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    return labels, operand


def _check_sizes(terms: list[str], arrays: list[Any]) -> None:
    sizes: dict[str, int] = {}
    for labels, array in zip(terms, arrays, strict=True):
        for label, size in zip(labels, array.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for one operand, which does not broadcast with "
                    f"previously seen size {known}"
                )
