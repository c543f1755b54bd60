"""Products of matrices, vectors and batches, and einsum."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier
from .._core.shapes import expand_shape, in_common
from .._core.values import followed, require_operand, require_operands, require_tensor, require_tensors
from .._tape.shortcuts import is_primitive
from .._tape.views import view
from . import arithmetic
from .promotion import binary, cast, category, common, once, together

if TYPE_CHECKING:
    from .._core.typing import Array, Number, Tensor, TensorLike

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def matching(a: Any, b: Any, name: str, what: str = "the operands") -> tuple[Any, Any]:
    """Operands of one dtype: products do not promote, as in torch; a NumPy array is cast to the tensor's dtype.

    An array that would lose more than precision, as floats cast to integers, promotes the tensor instead.
    """
    if isinstance(a, Carrier) and isinstance(b, Carrier) and a._dtype is b._dtype:
        return a, b
    if not isinstance(a, Carrier):
        if not isinstance(b, Carrier):
            raise errors.no_tensor(name, "input", 1, a)
        a, b = _beside(a, b)
    if not isinstance(b, Carrier):
        b, a = _beside(b, a)
    kinds = [value._dtype if isinstance(value, Carrier) else value.dtype for value in (a, b)]
    if kinds[0] is kinds[1]:
        return a, b
    if kinds[0] != kinds[1]:
        have = " != ".join(dtypes.type_name(dtypes.from_numpy(kind)).lower() for kind in kinds)
        raise errors.mixed(name, what, a, b, f"expected m1 and m2 to have the same dtype, but got: {have}")
    return a, b


def _beside(array: Array, tensor: Carrier) -> tuple[Array, Carrier]:
    """An array and a tensor in one dtype: the tensor's, if that can hold the array's kind of numbers."""
    if array.dtype is tensor._dtype:
        return array, tensor
    dtype = tensor._dtype if np.can_cast(array.dtype, tensor._dtype, "same_kind") else common(array, tensor)
    return cast(array, dtype), cast(tensor, dtype)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    require_operands("mm", input=input, mat2=mat2)
    for name, value in (("self", input), ("mat2", mat2)):
        if value.ndim != 2:
            raise RuntimeError(
                f"{name} must be a matrix: mm multiplies matrices, and it has shape {tuple(value.shape)}"
            )
    return matmul(input, mat2)


_LABELS: dict[tuple[int, int], dict[str, str]] = {
    (1, 1): {"label": "DotBackward0"},
    (2, 1): {"label": "MvBackward0"},
    (1, 2): {"label": "MvBackward0"},
    (2, 2): {},
}


def matmul(input: Tensor | Array, other: Tensor | Array) -> Tensor:
    """input @ other: matrices, vectors, and batches of them, with broadcasting of the batch axes.

    >>> import pullback
    >>> a = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> pullback.matmul(a, pullback.tensor([1.0, 10.0])).backward(pullback.ones(2))
    >>> a.grad
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    require_operand("matmul", "input", input)
    require_operand("matmul", "other", other, 2)
    a, b = matching(input, other, "matmul")
    dims = a.ndim, b.ndim
    if 0 in dims:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D: use * for a product "
            "with a scalar"
        )
    label = _LABELS.get(dims, {"label": "BmmBackward0"})
    try:
        return ops.matmul(a, b, **label)
    except ValueError:
        shapes = tuple(a.shape), tuple(b.shape)
    _check_product(*shapes)  # which reports axes that do not fit, when the exception is over
    return ops.matmul(a, b, **label)


def _check_product(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    if a[-1] != (b[0] if len(b) == 1 else b[-2]):
        raise errors.no_product(a, b)
    if len(a) > 2 and len(b) > 2:
        in_common(a[:-2], b[:-2], "matmul, before the last two axes")


@is_primitive(ops.matmul, ndim=1, label="DotBackward0")
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors.

    Parameters
    ----------
    tensor
        The other vector.

    >>> import pullback
    >>> pullback.dot(pullback.tensor([1.0, 2.0]), pullback.tensor([3.0, 4.0]))
    tensor(11.)
    """
    require_operands("dot", input=input, tensor=tensor)
    for value in (input, tensor):
        if value.ndim != 1:
            raise RuntimeError(
                f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors: dot is for vectors"
            )
    return matmul(input, tensor)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    >>> import pullback
    >>> pullback.mv(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    require_operands("mv", input=input, vec=vec)
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}D and {vec.ndim}D tensors")
    return matmul(input, vec)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices.

    >>> import pullback
    >>> pullback.bmm(pullback.tensor([[[1.0, 2.0]], [[3.0, 4.0]]]), pullback.ones(2, 2, 1))
    tensor([[[3.]],
    <BLANKLINE>
            [[7.]]])
    """
    require_operands("bmm", input=input, mat2=mat2)
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


def outer(input: Tensor | Array, vec2: Tensor | Array) -> Tensor:
    """All products of an element of one vector with an element of another.

    >>> import pullback
    >>> pullback.outer(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    require_operands("outer", input=input, vec2=vec2)
    if input.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, got {input.ndim}D and {vec2.ndim}D")
    column = view(ops.expand_dims, input, axis=1) if isinstance(input, Carrier) else input[:, None]
    return binary(ops.outer, column, vec2)


def vdot(input: Tensor | Array, other: TensorLike) -> Tensor:
    """The sum of the products of two vectors, the first one conjugated.

    >>> import pullback
    >>> pullback.vdot(pullback.tensor([1 + 1j]), pullback.tensor([1 + 1j])).real
    tensor(2.)
    """
    require_operands("vdot", input=input, other=other)
    return dot(ops.conj(input) if isinstance(input, Carrier) and input._dtype.kind == "c" else input, other)


# A product added to a tensor


def _tensors(name: str, **operands: Any) -> list[Any]:
    """Operands as tensors, at least one of which is one already: NumPy arrays are cast to its dtype."""
    if all(isinstance(operand, Carrier) for operand in operands.values()):
        return [*operands.values()]
    require_operands(name, **operands)
    tensors = [operand for operand in operands.values() if isinstance(operand, Carrier)]
    if not tensors:
        require_tensors(name, **operands)
    for operand in operands.values():
        category(operand)  # raises if it is not a number
    found, wrap = tensors[0], tensors[0].interpreter.wrap
    return [x if isinstance(x, Carrier) else wrap(cast(x, found._dtype), None) for x in operands.values()]


def _added(name: str, input: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """beta * input + alpha * product; with beta 0 NaNs of the input are ignored, and its gradient is zero."""
    if input._dtype != product._dtype:
        raise RuntimeError(
            f"{name}: self and the product must have the same dtype, but got {input._type_name} and {product._type_name}"
        )
    expand_shape(tuple(input.shape), tuple(product.shape), "")
    result = _times(product, alpha, "alpha")
    if beta == 0:
        return ops.where(np.False_, input, result) if followed(input) else result
    return ops.add(_times(input, beta, "beta"), result)


def _times(x: Tensor, factor: Number, name: str) -> Tensor:
    return x if type(factor) in (int, float) and factor == 1 else arithmetic.scaled(x, factor, name)


@once
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2) for matrices; the input is broadcast.

    >>> import pullback
    >>> pullback.addmm(pullback.tensor([[10.0, 20.0]]), pullback.tensor([[1.0, 2.0]]), pullback.eye(2), beta=2)
    tensor([[21., 42.]])
    """
    input, mat1, mat2 = _tensors("addmm", input=input, mat1=mat1, mat2=mat2)
    for name, value in (("mat1", mat1), ("mat2", mat2)):
        if value.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {value.ndim}-D tensor")
    return _added("addmm", input, mat1 @ mat2, beta, alpha)


@once
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec) for a matrix and a vector; the input is broadcast.

    >>> from pullback import addmv, ones, tensor
    >>> addmv(tensor([10.0, 20.0]), tensor([[1.0, 2.0], [3.0, 4.0]]), ones(2))
    tensor([13., 27.])
    """
    input, mat, vec = _tensors("addmv", input=input, mat=mat, vec=vec)
    return _added("addmv", input, mv(mat, vec), beta, alpha)


@once
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2) for batches of matrices; the input is broadcast.

    >>> import pullback
    >>> pullback.baddbmm(pullback.tensor([[[1.0]]]), pullback.ones(1, 1, 3), pullback.ones(1, 3, 1))
    tensor([[[4.]]])
    """
    input, batch1, batch2 = _tensors("baddbmm", input=input, batch1=batch1, batch2=batch2)
    return _added("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@once
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * the sum of the products of two batches of matrices; the input is broadcast.

    >>> import pullback
    >>> pullback.addbmm(pullback.tensor([[1.0]]), pullback.ones(3, 1, 2), pullback.ones(3, 2, 1))  # 1 + 3 * 2
    tensor([[7.]])
    """
    input, batch1, batch2 = _tensors("addbmm", input=input, batch1=batch1, batch2=batch2)
    product = ops.sum(bmm(batch1, batch2), axis=(0,), keepdims=False)
    return _added("addbmm", input, product, beta, alpha)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2); the input is broadcast.

    >>> import pullback
    >>> pullback.addr(pullback.tensor([[100.0, 200.0]]), pullback.tensor([2.0]), pullback.tensor([1.0, 10.0]))
    tensor([[102., 220.]])
    """
    input, vec1, vec2 = _tensors("addr", input=input, vec1=vec1, vec2=vec2)
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"addr: Expected 1-D argument vec1 and vec2, but got {vec1.ndim}-D and {vec2.ndim}-D")
    return _addr(*together(input, vec1, vec2), beta, alpha)


@once
def _addr(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Tensor:
    product = outer(vec1, vec2)
    if input._dtype.kind == "b":
        product = ops.logical_and(product, np.asarray(bool(alpha)))
        return product if not beta else ops.logical_or(product, input)
    return _added("addr", input, product, beta, alpha)


# Chains of products


def multi_dot(tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """The product of matrices in the order that takes the fewest multiplications; the ends may be vectors.

    >>> import pullback
    >>> a, b = pullback.ones(2, 3), pullback.ones(3, 4)
    >>> pullback.linalg.multi_dot([a, b, pullback.ones(4)])
    tensor([12., 12.])
    """
    factors = list(tensors)
    if len(factors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(factors)}")
    for place, factor in enumerate(factors):
        require_tensor("multi_dot", "tensors", factor, place + 1)
        end = place in (0, len(factors) - 1)
        if factor.ndim != 2 and not (end and factor.ndim == 1):
            kind = "1D or 2D" if end else "2D"
            raise RuntimeError(f"multi_dot(): tensor {place} must be {kind} but got {factor.ndim}D")
        if factor._dtype != factors[0]._dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype: {factors[0].dtype} and {factor.dtype}"
            )
    rows = [factors[0].shape[0] if factors[0].ndim == 2 else 1]
    for place, factor in enumerate(factors):
        if place and factor.shape[0] != rows[-1]:
            raise RuntimeError(
                f"multi_dot(): tensors {place - 1} and {place} with shapes {list(factors[place - 1].shape)} and "
                f"{list(factor.shape)} cannot be multiplied"
            )
        rows.append(factor.shape[-1] if place == 0 or factor.ndim == 2 else 1)
    return _chained(factors, _best_order(rows), 0, len(factors) - 1)


def _best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """The index at which to split each run of factors (Cormen and others, Introduction to Algorithms, section 15.2)."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            prices = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(prices)
    return split


def _chained(factors: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return factors[i]
    k = split[i, j]
    return matmul(_chained(factors, split, i, k), _chained(factors, split, k + 1, j))


def chain_matmul(*matrices: Tensor) -> Tensor:
    """`linalg.multi_dot` under its older name, with the matrices as separate arguments.

    >>> from pullback import chain_matmul, tensor
    >>> chain_matmul(tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]), tensor([[10.0]]))
    tensor([[110.]])
    """
    if len(matrices) == 1:
        require_tensor("chain_matmul", "matrices", matrices[0])
        return matrices[0]
    return multi_dot(matrices)


def einsum(equation: Any, *operands: Any) -> Tensor:
    """A sum of products over labeled axes, as `einsum('ij,jk->ik', a, b)`; '...' represents batch axes.

    Labels may be numbers in lists after each operand, as `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    >>> import pullback
    >>> a = pullback.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> pullback.einsum("ii->", a), pullback.einsum("ij,j->i", a, pullback.tensor([1.0, 10.0]))
    (tensor(5.), tensor([21., 43.]))
    """
    if isinstance(equation, (Carrier, np.ndarray)):
        equation, operands = _numbered(equation, *operands)
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum(): the equation comes first, as text such as 'ij,jk->ik', not {type(equation).__name__}"
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    for position, operand in enumerate(operands, 1):
        require_operand("einsum", "operands", operand, position)
    labels, result = _parsed(equation, tuple([tuple(operand.shape) for operand in operands]))
    terms = list(labels)
    dtype = common(*operands)
    if len(terms) == 1 and dtype.kind in "biu" and not set(terms[0]) <= set(result):  # a sum
        dtype = np.dtype(np.int64)
    arrays = []
    for i, operand in enumerate(operands):
        terms[i], array = _unique_labels(terms[i], cast(operand, dtype))
        arrays.append(array)
    _check_sizes(terms, arrays)
    return ops.einsum(*arrays, equation=f"{','.join(terms)}->{result}")


def _numbered(*arguments: Any) -> tuple[str, tuple[Any, ...]]:
    """The equation and the operands of a call in which each operand is followed by a list of labels."""
    operands, lists = arguments[: len(arguments) // 2 * 2 : 2], arguments[1::2]
    terms = ["".join(map(_letter, labels)) for labels in lists]
    equation = ",".join(terms)
    if len(arguments) % 2:
        equation += "->" + "".join(map(_letter, arguments[-1]))
    return equation, operands


def _letter(label: Any) -> str:
    if label is Ellipsis:
        return "..."
    if not isinstance(label, (int, np.integer)) or not 0 <= label < len(LETTERS):
        raise ValueError(
            f"einsum(): not enough input: a label is a number from 0 to {len(LETTERS) - 1} or an ellipsis, not {label!r}"
        )
    return LETTERS[label]


@functools.lru_cache(512)
def _parsed(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[str, ...], str]:
    """The labels of each operand, of these shapes, and of the result, '...' replaced by fresh letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        which = "more operands were provided than" if len(shapes) > len(terms) else "fewer operands were provided than"
        raise RuntimeError(
            f"einsum(): {which} specified in the equation: {equation!r} takes {len(terms)}, got {len(shapes)}"
        )
    free = [letter for letter in LETTERS if letter not in equation]
    batch = 0
    for i, (labels, shape) in enumerate(zip(terms, shapes, strict=True)):
        named = labels.replace("...", "")
        rest = len(shape) - len(named)
        if not set(named) <= set(LETTERS):
            raise RuntimeError(f"einsum(): invalid subscript given in {labels!r}: subscripts are letters and one '...'")
        if rest < 0 or (rest and "..." not in labels):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of dimensions "
                f"({len(shape)}) for operand {i}, of shape {shape}"
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
    return tuple(terms), result


def _unique_labels(labels: str, operand: Any) -> tuple[str, Any]:
    """An operand without repeated labels: a repeated one takes the diagonal."""
    for label in dict.fromkeys(labels) if len(set(labels)) < len(labels) else ():
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if operand.shape[first] != operand.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for an operand but the sizes don't match, "
                    f"{operand.shape[first]} != {operand.shape[second]}"
                )
            diagonal: Any = functools.partial(view, ops.diagonal) if isinstance(operand, Carrier) else ops.diagonal
            operand = diagonal(operand, axes=(first, second))
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
