"""Misuse: the same type of exception as torch's, with torch's words in the text, and nothing changed."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity, raises  # noqa: E402

EXPANDED = (
    "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  "
    "Target sizes: [3].  Tensor sizes: [2]"
)
VIEW = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    "contiguous subspaces). Use .reshape(...) instead."
)
NEGATION = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)
SUBTRACTION = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
BROADCAST = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"

Z = "not implemented for 'ComplexFloat'"
UNORDERED = {
    **dict.fromkeys(
        ("atan2", "copysign", "hypot", "nextafter", "logaddexp2", "remainder", "fmod"),
        (NotImplementedError, '"{}_cpu" ' + Z),
    ),
    "floor_divide": (NotImplementedError, '"div_floor_cpu" ' + Z),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (RuntimeError, "{} not implemented for complex tensors.")),
}
UNORDERED_ALONE = {
    **dict.fromkeys(("argmax", "argmin"), (RuntimeError, "{}(): does not support complex input")),
    **dict.fromkeys(("deg2rad", "rad2deg"), (RuntimeError, "{} is not supported for complex tensors.")),
    **dict.fromkeys(("isposinf", "isneginf"), (RuntimeError, "{} does not support complex inputs")),
    "signbit": (NotImplementedError, "{} is not implemented for complex tensors."),
}


@pytest.mark.parametrize("name", UNORDERED)
@parity
def test_complex_numbers_where_order_counts(t, name):
    error, words = UNORDERED[name]
    z, x = t.tensor([1 + 1j, 2]), t.tensor([1.0, 2.0])
    function = getattr(t, name)
    for pair in ((z, z), (z, x), (x, z)):
        raises(error, words.format(name), lambda pair=pair: function(*pair))
    if name == "remainder":
        raises(error, words.format(name), lambda: z % 2)
    if name == "floor_divide":
        raises(error, words, lambda: z // x)
        raises(error, words, lambda: t.div(z, 2, rounding_mode="floor"))
        raises(error, '"div_trunc_cpu" ' + Z, lambda: t.div(z, 2, rounding_mode="trunc"))


@pytest.mark.parametrize("name", UNORDERED_ALONE)
@parity
def test_complex_numbers_of_which_a_part_counts(t, name):
    error, words = UNORDERED_ALONE[name]
    raises(error, words.format(name), lambda: getattr(t, name)(t.tensor([1 + 1j, 2])))
    raises(NotImplementedError, '"kthvalue_cpu" ' + Z, lambda: t.kthvalue(t.tensor([1 + 1j, 2]), 1))


MISUSE = {
    "addition of two sizes": (lambda t: t.ones(2) + t.ones(3), RuntimeError, BROADCAST),
    "product of two sizes": (lambda t: t.ones(2) * t.ones(3), RuntimeError, BROADCAST),
    "maximum of two sizes": (lambda t: t.maximum(t.ones(2), t.ones(3)), RuntimeError, BROADCAST),
    "comparison of two sizes": (lambda t: t.ones(2) < t.ones(3), RuntimeError, BROADCAST),
    "where of two sizes": (lambda t: t.where(t.ones(2) > 0, t.ones(2), t.ones(3)), RuntimeError, "must match the size of tensor b"),
    "sizes that differ inside": (
        lambda t: t.ones(4, 2, 5) / t.ones(3, 1),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
    ),
    "mm": (lambda t: t.mm(t.ones(2, 3), t.ones(2, 3)), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    "matmul": (lambda t: t.ones(2, 3) @ t.ones(2, 3), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    "mm of a vector": (lambda t: t.mm(t.ones(2), t.ones(2, 2)), RuntimeError, "self must be a matrix"),
    "mm by a vector": (lambda t: t.mm(t.ones(2, 2), t.ones(2)), RuntimeError, "mat2 must be a matrix"),
    "dot of two sizes": (
        lambda t: t.ones(2) @ t.ones(3),
        RuntimeError,
        "inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements, but got 2 and 3 "
        "elements respectively",
    ),
    "dot of a matrix": (lambda t: t.dot(t.ones(2, 2), t.ones(2)), RuntimeError, "1D tensors expected"),
    "mm of two dtypes": (
        lambda t: t.mm(t.ones(2, 2), t.ones(2, 2, dtype=t.float64)),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: float != double",
    ),
    "matmul of a number": (lambda t: t.ones(()) @ t.ones(2), RuntimeError, "both arguments to matmul need to be at least 1D"),
    "bmm of matrices": (lambda t: t.bmm(t.ones(2, 2), t.ones(2, 2)), RuntimeError, "must be a 3D tensor"),
    "einsum of two sizes": (lambda t: t.einsum("ij,jk->ik", t.ones(2, 3), t.ones(2, 3)), RuntimeError, "does not broadcast with"),
    "einsum of too few operands": (lambda t: t.einsum("i,j->ij", t.ones(2)), RuntimeError, "einsum()"),
    "einsum with an unknown output": (lambda t: t.einsum("i->j", t.ones(2)), RuntimeError, "output subscript j does not appear"),
    "einsum of the wrong rank": (lambda t: t.einsum("ij->i", t.ones(2)), RuntimeError, "einsum()"),
    "reshape": (lambda t: t.ones(2).reshape(3), RuntimeError, "shape '[3]' is invalid for input of size 2"),
    "view": (lambda t: t.ones(2).view(3), RuntimeError, "shape '[3]' is invalid for input of size 2"),
    "reshape with an odd size": (lambda t: t.ones(3).reshape(2, -1), RuntimeError, "shape '[2, -1]' is invalid for input of size 3"),
    "reshape with two unknowns": (lambda t: t.ones(4).reshape(-1, -1), RuntimeError, "only one dimension can be inferred"),
    "view of a transpose": (lambda t: t.ones(2, 3).t().view(6), RuntimeError, VIEW),
    "expand": (lambda t: t.ones(2).expand(3), RuntimeError, EXPANDED),
    "expand to fewer axes": (lambda t: t.ones(2, 2).expand(2), RuntimeError, "must be greater or equal to the number of dimensions in the tensor"),
    "permute of too few axes": (lambda t: t.ones(2, 3).permute(0), RuntimeError, "is not equal to len(dims)"),
    "permute of one axis twice": (lambda t: t.ones(2, 3).permute(0, 0), RuntimeError, "duplicate dims are not allowed"),
    "t of three axes": (lambda t: t.ones(2, 2, 2).t(), RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    "cat of two ranks": (
        lambda t: t.cat([t.ones(2), t.ones(2, 2)]), RuntimeError, "Tensors must have same number of dimensions: got 1 and 2",
    ),
    "cat of two sizes": (
        lambda t: t.cat([t.ones(2, 2), t.ones(2, 3)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3 for tensor number 1 in the list.",
    ),
    "cat of nothing": (lambda t: t.cat([]), ValueError, "expected a non-empty list of Tensors"),
    "cat of numbers": (lambda t: t.cat([t.ones(()), t.ones(())]), RuntimeError, "zero-dimensional tensor (at position 0) cannot be concatenated"),
    "stack of two shapes": (
        lambda t: t.stack([t.ones(2), t.ones(3)]),
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1",
    ),
    "stack of nothing": (lambda t: t.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
    "split sizes that do not add up": (lambda t: t.ones(5).split([2, 2]), RuntimeError, "split_with_sizes expects split_sizes to sum exactly to 5"),
    "negative split": (lambda t: t.ones(5).split(-1), RuntimeError, "split"),
    "chunks of nothing": (lambda t: t.ones(5).chunk(0), RuntimeError, "chunk expects `chunks` to be greater than 0, got: 0"),
    "sum over a missing axis": (
        lambda t: t.ones(2).sum(3), IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 3)",
    ),
    "softmax over a missing axis": (
        lambda t: t.ones(2).softmax(-2), IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got -2)",
    ),
    "transpose of a missing axis": (
        lambda t: t.ones(2, 3).transpose(0, 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    "unsqueeze too far": (
        lambda t: t.ones(2).unsqueeze(3), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    ),
    "one axis twice": (lambda t: t.ones(2, 2).sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    "max of nothing": (lambda t: t.ones(0).max(), RuntimeError, "max(): Expected reduction dim to be specified for input.numel() == 0"),
    "argmax of nothing": (lambda t: t.ones(0).argmax(), IndexError, "argmax(): Expected reduction dim to be specified for input.numel() == 0"),
    "max over an empty axis": (lambda t: t.ones(2, 0).max(1), IndexError, "max(): Expected reduction dim 1 to have non-zero size."),
    "mean of integers": (
        lambda t: t.tensor([1, 2]).mean(),
        RuntimeError,
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long",
    ),
    "var of integers": (lambda t: t.tensor([1, 2]).var(), RuntimeError, "only support floating point and complex dtypes"),
    "norm of integers": (lambda t: t.tensor([1, 2]).norm(), RuntimeError, "Expected a floating point or complex tensor as input. Got Long"),
    "minus a bool": (lambda t: -t.tensor([True]), RuntimeError, NEGATION),
    "bool minus bool": (lambda t: t.tensor([True]) - t.tensor([True]), RuntimeError, SUBTRACTION),
    "integers to negative powers": (lambda t: t.tensor([2]) ** -1, RuntimeError, "Integers to negative integer powers are not allowed"),
    "clamp without bounds": (lambda t: t.ones(2).clamp(), RuntimeError, "At least one of 'min' or 'max' must not be None"),
    "where with numbers": (lambda t: t.where(t.ones(2), 1.0, 2.0), RuntimeError, "where expected condition to be a boolean tensor"),
    "index out of bounds": (lambda t: t.ones(2)[5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    "negative index out of bounds": (lambda t: t.ones(2, 3)[0, -4], IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
    "too many indices": (lambda t: t.ones(2)[0, 0], IndexError, "too many indices for tensor of dimension 1"),
    "index of a number": (lambda t: t.ones(())[0], IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()`"),
    "text as an index": (lambda t: t.ones(2)["a"], TypeError, "new(): invalid data type 'str'"),
    "text in an index": (lambda t: t.ones(2, 2).__setitem__((0, "a"), 1.0), TypeError, "new(): invalid data type 'str'"),
    "deletion": (lambda t: t.ones(2).__delitem__(0), TypeError, "Tensor does not support deleting items"),
    "axes after a second ellipsis": (lambda t: t.ones(2, 3, 4)[..., ..., t.tensor([0])], IndexError, "too many indices for tensor"),
    "norm by no name": (lambda t: t.ones(2, 2).norm("bad"), RuntimeError, "linalg.matrix_norm: Order bad not supported."),
    "norm by a number as text": (lambda t: t.ones(2).norm("inf", dim=0), RuntimeError, "linalg.matrix_norm: Order inf not supported."),
    "norm by a complex number": (lambda t: t.ones(2).norm(2j), RuntimeError, "linalg.vector_norm: Expected a non-complex scalar as the order of norm."),
    "frobenius norm over three axes": (lambda t: t.ones(2, 2, 2).norm("fro", dim=(0, 1, 2)), RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple. Got 0 1 2"),
    "nuclear norm over three axes": (lambda t: t.ones(2, 2, 2).norm("nuc"), RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple. Got 0 1 2"),
    "nuclear norm of a vector": (lambda t: t.ones(2).norm("nuc"), RuntimeError, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions"),
    "unknown type": (lambda t: t.ones(2).type("foo"), ValueError, "invalid type: 'foo'"),
    "unknown tensor type": (lambda t: t.ones(2).type("torch.FooTensor"), ValueError, "invalid type: 'torch.FooTensor'"),
    "type that is no dtype": (lambda t: t.ones(2).type(str), ValueError, "invalid type: 'str'"),
    "float index": (lambda t: t.ones(2)[1.0], IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got float)"),
    "float tensor as an index": (lambda t: t.ones(2)[t.ones(1)], IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    "list out of bounds": (lambda t: t.ones(2)[[0, 2]], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
    "mask of another size": (
        lambda t: t.ones(2)[t.tensor([True, False, True])],
        IndexError,
        "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2] at index 0",
    ),
    "lists of two lengths": (lambda t: t.ones(3, 3)[[0, 1], [0, 1, 2]], IndexError, "shape mismatch: indexing tensors could not be broadcast together"),
    "assignment out of bounds": (lambda t: t.ones(2).__setitem__(5, 1.0), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    "assignment through a mask": (
        lambda t: t.ones(3).__setitem__(t.tensor([True, True, False]), t.ones(3)), (RuntimeError, IndexError), "shape mismatch",
    ),
    "ragged lists": (lambda t: t.tensor([[1, 2], [3]]), ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
    "text": (lambda t: t.tensor(["a"]), ValueError, "too many dimensions 'str'"),
    "None in a list": (lambda t: t.tensor([None]), RuntimeError, "Could not infer dtype of NoneType"),
    "an object": (lambda t: t.tensor(object()), RuntimeError, "Could not infer dtype of object"),
    "from_numpy of a list": (lambda t: t.from_numpy([1.0]), TypeError, "expected np.ndarray (got list)"),
    "a negative size": (lambda t: t.zeros(-1), RuntimeError, "Dimension size must be non-negative"),
    "arange backwards": (lambda t: t.arange(5, 0), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
    "arange without a step": (lambda t: t.arange(0, 5, 0), RuntimeError, "step must be nonzero"),
    "randint from nothing": (lambda t: t.randint(5, 5, (2,)), RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
    "exp of a number": (lambda t: t.exp(1.0), TypeError, "exp(): argument 'input' (position 1) must be Tensor, not float"),
    "a list minus": (lambda t: [1, 2] - t.ones(2), TypeError, "unsupported operand type(s) for -: 'list' and 'Tensor'"),
    "cross_entropy of two lengths": (
        lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0])),
        ValueError,
        "Expected input batch_size (2) to match target batch_size (1).",
    ),
    "cross_entropy of a missing class": (
        lambda t: t.nn.functional.cross_entropy(t.ones(1, 3), t.tensor([3])), IndexError, "Target 3 is out of bounds.",
    ),
    "cross_entropy with another reduction": (
        lambda t: t.nn.functional.cross_entropy(t.ones(1, 3), t.tensor([0]), reduction="max"),
        ValueError,
        "max is not a valid value for reduction",
    ),
    "unknown attribute": (lambda t: t.ones(2).gradient, AttributeError, "'Tensor' object has no attribute 'gradient'"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSE)
@parity
def test_misuse(t, name):
    call, error, wording = MISUSE[name]
    with pytest.raises(error) as info:
        call(t)
    assert wording.rstrip(".") in str(info.value)


IN_PLACE = {
    "size": (lambda t, h: h.add_(t.ones(3)), RuntimeError),
    "dtype": (lambda t, h: t.tensor([1, 2]).add_(h), RuntimeError),
    "index": (lambda t, h: h.__setitem__(7, 1.0), IndexError),
    "value": (lambda t, h: h.__setitem__(slice(None), t.ones(3)), RuntimeError),
    "mask": (lambda t, h: h.__setitem__(t.tensor([True, False, True]), 1.0), IndexError),
}


@pytest.mark.parametrize("name", IN_PLACE)
@parity
def test_a_refused_write_changes_nothing(t, name):
    write, error = IN_PLACE[name]
    x = t.tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    node = h.grad_fn
    with pytest.raises(error):
        write(t, h)
    h.sum().backward()
    return h, h._version, h.grad_fn is node, x.grad


@parity
def test_a_refused_pass_leaves_the_graph(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    other = t.tensor([1.0], requires_grad=True)
    y = x * x
    with pytest.raises(RuntimeError):
        y.backward()
    with pytest.raises(RuntimeError):
        y.backward(t.ones(3))
    with pytest.raises(RuntimeError):
        t.autograd.grad(y, x, t.ones(5))
    with pytest.raises(RuntimeError):
        t.autograd.grad(y.sum(), t.ones(1))
    with pytest.raises(RuntimeError):
        t.autograd.backward([y.sum(), t.ones(())])
    before = x.grad
    y.sum().backward()
    return before, x.grad, other.grad


@parity
def test_floor_division_fails_when_it_is_differentiated(t):
    x = t.tensor([5.0, 7.0], requires_grad=True)
    y = x // 2
    raises(RuntimeError, "derivative for aten::floor_divide is not implemented", y.sum().backward)
    return y.detach(), x.grad
