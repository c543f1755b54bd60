"""NumPy's own functions on tensors: the values NumPy has, the gradients finite differences have, refusals by name."""

import itertools

import numpy as np
import pytest

import pullback

from ..differences import check, listed

A = np.array([[0.3, -0.7, 1.9], [-1.2, 0.8, 2.3]])
B = np.array([[0.9, 1.4, -0.6], [0.5, -2.1, 1.1]])
POSITIVE = np.abs(A) + 0.5


ONE = [
    "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "absolute", "square", "reciprocal", "negative", "positive",
    "floor", "ceil", "rint", "trunc", "sign", "conjugate",
]  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_ufuncs_of_one_tensor(name):
    check(getattr(np, name), A)


@pytest.mark.parametrize("name", ["sqrt", "log", "log1p"])
def test_ufuncs_of_one_positive_tensor(name):
    check(getattr(np, name), POSITIVE)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"])
@pytest.mark.parametrize("second", [B, B[0], B[:, :1]], ids=["same", "row", "column"])
def test_ufuncs_of_two_tensors(name, second):
    check(getattr(np, name), A, second)
    check(lambda x: getattr(np, name)(x, second), A)
    check(lambda x: getattr(np, name)(A, x), second)


def test_floor_division_has_no_gradient():
    x = pullback.tensor(A, requires_grad=True)
    assert np.floor_divide(x, 0.5).tolist() == (A // 0.5).tolist()
    assert not np.floor_divide(x, 0.5).requires_grad


def test_powers():
    check(np.power, POSITIVE, B)
    check(lambda x: np.power(x, 3), A)
    check(lambda x: np.power(2.0, x), A)


WITH_AXES = ["sum", "mean", "var", "std", "max", "min", "amax", "amin"]
AXES = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}]


@pytest.mark.parametrize("name", WITH_AXES)
@pytest.mark.parametrize("options", AXES, ids=str)
def test_reductions(name, options):
    check(lambda x: getattr(np, name)(x, **options), A)


FUNCTIONS_OF_ONE = {
    "sum by position": lambda x: np.sum(x, 0, None, None, True),
    "std with ddof": lambda x: np.std(x, axis=1, ddof=1),
    "var with ddof 2": lambda x: np.var(x, axis=1, ddof=2),
    "cumsum of everything": np.cumsum,
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "norm": np.linalg.norm,
    "norm of rows": lambda x: np.linalg.norm(x, ord=3, axis=1, keepdims=True),
    "norm by Frobenius": lambda x: np.linalg.norm(x, "fro"),
    "sum by ufunc": np.add.reduce,
    "sum of everything by ufunc": lambda x: np.add.reduce(x, axis=None),
    "max by ufunc": lambda x: np.maximum.reduce(x, axis=1, keepdims=True),
    "min by ufunc": np.minimum.reduce,
    "clip": lambda x: np.clip(x, -0.5, 1),
    "clip from below": lambda x: np.clip(x, -0.5, None),
    "clip by an array": lambda x: np.clip(x, [-0.5, 0, 0.5], 2),
    "round": np.round,
    "around": np.around,
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "reshape to what is left": lambda x: np.reshape(x, -1),
    "ravel": np.ravel,
    "copy": np.copy,
    "transpose": np.transpose,
    "transpose by axes": lambda x: np.transpose(x, (-1, 0)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1),
    "squeeze": lambda x: np.squeeze(x[:1]),
    "squeeze an axis": lambda x: np.squeeze(x[:1], axis=0),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "expand_dims twice": lambda x: np.expand_dims(x, (0, -1)),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "flip": np.flip,
    "flip an axis": lambda x: np.flip(x, axis=1),
    "flipud": np.flipud,
    "fliplr": np.fliplr,
    "split": lambda x: np.split(x, 3, axis=1),
    "split at": lambda x: np.split(x, [1], axis=-1),
    "array_split": lambda x: np.array_split(x, 2, 1),
    "where with a number": lambda x: np.where(x > 0, x, 0.5),
    "where with 0 and 1": lambda x: np.where(np.array([1, 0, 1]), x, 2 * x),
    "einsum of one": lambda x: np.einsum("ij->j", x),
    "a list of one tensor": lambda x: np.concatenate([x]),
    "rows": np.vstack,
}


@pytest.mark.parametrize("function", FUNCTIONS_OF_ONE.values(), ids=FUNCTIONS_OF_ONE)
def test_functions_of_one_tensor(function):
    check(function, A)


FUNCTIONS_OF_TWO = {
    "concatenate": lambda x, y: np.concatenate([x, y]),
    "concatenate along": lambda x, y: np.concatenate((x, y), axis=1),
    "concatenate flat": lambda x, y: np.concatenate([x, y], axis=None),
    "stack": lambda x, y: np.stack([x, y, x * y], axis=1),
    "vstack": lambda x, y: np.vstack([x[0], y]),
    "hstack": lambda x, y: np.hstack([x, y]),
    "hstack of vectors": lambda x, y: np.hstack([x[0], y[1]]),
    "where": lambda x, y: np.where(x > y, x, y),
    "clip by tensors": lambda x, y: np.clip(x, y, 2),
    "matmul": lambda x, y: np.matmul(x, np.transpose(y)),
    "dot": lambda x, y: np.dot(x[0], y[1]),
    "dot of matrices": lambda x, y: np.dot(x, np.transpose(y)),
    "dot with a number": lambda x, y: np.dot(2.0, x) + np.dot(y, 3.0),
    "dot of more axes": lambda x, y: np.dot(x, np.reshape(y, (1, 3, 2)) * np.ones((2, 1, 1))),
    "outer": np.outer,
    "einsum": lambda x, y: np.einsum("ij,kj->ik", x, y, optimize=True),
}


@pytest.mark.parametrize("function", FUNCTIONS_OF_TWO.values(), ids=FUNCTIONS_OF_TWO)
def test_functions_of_two_tensors(function):
    check(function, A, B)


@pytest.mark.parametrize("function", FUNCTIONS_OF_TWO.values(), ids=FUNCTIONS_OF_TWO)
def test_an_array_may_stand_beside_a_tensor(function):
    check(lambda x: function(x, B), A)
    check(lambda y: function(A, y), B)


def test_dot_of_many_axes():
    left, right = np.linspace(-1, 1, 12).reshape(2, 2, 3), np.linspace(0, 2, 12).reshape(2, 3, 2)
    for a, b in itertools.product((left[0, 0], left[0], left), (right[0, :, 0], right[0], right)):
        check(np.dot, a, b)


def test_moveaxis_of_several():
    x = np.arange(24.0).reshape(2, 3, 4)
    check(lambda x: np.moveaxis(x, (0, 2), (1, 0)), x)
    check(lambda x: np.moveaxis(x, [2, 1], [-3, -1]), x)


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons_are_tensors_without_gradient(name):
    compare = getattr(np, name)
    x = pullback.tensor(A, requires_grad=True)
    for result in (compare(x, B), compare(B, x), compare(x, pullback.tensor(B))):
        assert isinstance(result, pullback.Tensor)
        assert not result.requires_grad
    assert compare(x, B).tolist() == compare(A, B).tolist()
    assert compare(0.3, x).tolist() == compare(0.3, A).tolist()


@pytest.mark.parametrize("name", ["argmax", "argmin", "all", "any"])
def test_results_that_have_no_gradient(name):
    function = getattr(np, name)
    x = pullback.tensor(A, requires_grad=True)
    for axis in (None, 0, 1):
        result = function(x, axis=axis)
        assert isinstance(result, pullback.Tensor)
        assert not result.requires_grad
        assert result.tolist() == function(A, axis=axis).tolist()


def test_logical_and_bitwise_functions():
    p, q = np.array([True, True, False]), np.array([True, False, False])
    for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"):
        f = getattr(np, name)
        assert f(pullback.tensor(p), q).tolist() == f(p, q).tolist()
    for name in ("logical_not", "invert"):
        f = getattr(np, name)
        assert f(pullback.tensor(p)).tolist() == f(p).tolist()
    for f in (np.logical_and.reduce, np.logical_or.reduce):
        assert f(pullback.tensor(p)).item() == f(p)
    for f in (np.isnan, np.isinf, np.isfinite):
        assert f(pullback.tensor([np.nan, np.inf, 1.0])).tolist() == f([np.nan, np.inf, 1.0]).tolist()


def test_indices_of_nonzero_elements():
    x = pullback.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
    for found in (np.nonzero(x), np.where(x)):
        assert [index.tolist() for index in found] == [[0, 1], [1, 0]]
    x[np.nonzero(x)].sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    for one in (x, x.detach().numpy()):
        with pytest.raises(ValueError, match="either both or neither of x and y should be given"):
            np.where(x > 0, one)


def test_answers_about_values_are_those_of_numpy():
    x = pullback.tensor(A, requires_grad=True)
    assert np.shape(x) == (2, 3)
    assert (np.ndim(x), np.size(x), np.size(x, 1)) == (2, 6, 3)
    assert np.array_equal(x, A) is True
    assert np.array_equal(x, B) is False
    assert np.allclose(A, x + 1e-12) is True
    assert np.isclose(x, A).all()
    assert np.argsort(x, axis=1).tolist() == np.argsort(A, axis=1).tolist()
    assert np.count_nonzero(x) == 6
    assert (np.iscomplexobj(x), np.isrealobj(x)) == (False, True)
    assert np.array_equiv(x, [A, A]) is True
    assert np.searchsorted(x[0] ** 2, [0.1, 9.0]).tolist() == [1, 3]
    assert np.argwhere(x > 2).tolist() == [[1, 2]]
    assert np.flatnonzero(x > 2).tolist() == [5]
    assert np.result_type(x, np.float32) == np.float64
    assert np.can_cast(x, np.float64) is True
    assert np.shares_memory(x, x[0]) and np.may_share_memory(x, x[0])
    assert not np.shares_memory(x, x * 2)
    for write in (np.array2string, np.array_repr, np.array_str):
        assert write(x) == write(A)


def test_constants_like_a_tensor():
    x = pullback.tensor(A, requires_grad=True)
    for made, value in ((np.zeros_like(x), 0), (np.ones_like(x), 1), (np.full_like(x, 7), 7)):
        assert isinstance(made, pullback.Tensor)
        assert not made.requires_grad
        assert made.dtype == x.dtype
        assert made.tolist() == np.full((2, 3), value).tolist()
    assert np.empty_like(x, shape=(4,)).shape == (4,)
    assert np.zeros_like(x, dtype=np.int32).dtype == pullback.int32
    assert np.zeros_like(x, dtype=pullback.float32).dtype == pullback.float32
    assert np.full_like(x, x[0, 0]).requires_grad
    with pytest.raises(TypeError, match="copyto"):
        np.full_like(A, x[0, 0])


# Operators


OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "%": lambda a, b: a % b, "**": lambda a, b: abs(a) ** b,
}  # fmt: skip


@pytest.mark.parametrize("function", OPERATORS.values(), ids=OPERATORS)
def test_operators_between_arrays_and_tensors(function):
    check(lambda x: function(x, B), A)
    check(lambda x: function(A, x), B)
    check(lambda x: function(np.float64(1.7), x), B)
    check(lambda x: function(np.array(1.7), x), B)


def test_matrix_products_between_arrays_and_tensors():
    check(lambda x: A.T @ x, B)
    check(lambda x: x @ A.T, B)


def test_products_keep_the_fractions_of_an_array():
    whole, fractions = np.array([[1], [2]]), np.array([[1.5, 2.5]])
    t = pullback.tensor(whole)
    for product in (fractions @ t, t.T @ fractions.T, np.dot(fractions, t), np.tensordot(fractions, t, 1)):
        assert product.tolist() == [[6.5]]
    imaginary = pullback.tensor(whole * 1.0, requires_grad=True)
    assert (1j * fractions @ imaginary).tolist() == [[6.5j]]
    assert (fractions.astype(np.float32) @ imaginary).dtype == pullback.float64


@pytest.mark.parametrize("single", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("other", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("axes", [0, 1])
def test_the_order_of_operands_does_not_change_the_dtype(single, other, axes):
    t = pullback.tensor(np.ones(2, single))
    array = np.ones((2,) * axes, other)
    for operand in (array, array[()]):
        dtype = (t + operand).dtype
        assert (operand + t).dtype == dtype
        assert np.add(operand, t).dtype == np.add(t, operand).dtype == dtype


def test_numpy_scalars_are_weak():
    t = pullback.tensor([1.0, 2.0], requires_grad=True)
    for result in (np.float64(2) * t, np.multiply(np.float64(2), t), np.multiply(t, 2), np.sqrt(2) * t):
        assert result.dtype == pullback.float32
        assert result.requires_grad


def test_lists_become_arrays():
    t = pullback.tensor(A, requires_grad=True)
    assert np.add(t, [1, 2, 3]).tolist() == (np.array([1, 2, 3]) + A).tolist()
    assert np.maximum([1, 2, 3], t).tolist() == np.maximum([1, 2, 3], A).tolist()
    with pytest.raises(RuntimeError, match="requires grad"):
        np.add([t, t], 1)


def test_means_of_integers_are_of_the_default_dtype():
    t = pullback.arange(4)
    for f in (np.mean, np.var, np.std):
        assert f(t).dtype == pullback.float32
        assert f(t, dtype=np.float64).item() == f(np.arange(4))
    assert np.sum(t, dtype=np.float64).dtype == pullback.float64
    assert np.cumsum(t, dtype=np.float64).dtype == pullback.float64


# out=


def test_a_result_written_to_a_tensor_has_its_history():
    x = pullback.tensor(A, requires_grad=True)
    y = pullback.tensor(np.zeros_like(A))
    assert np.sin(x, out=y) is y
    assert np.multiply(y, x, y) is y
    assert y.tolist() == (np.sin(A) * A).tolist()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(A) * A + np.sin(A))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, out: np.sum(x, 1, None, out),
        lambda x, out: np.mean(x, axis=1, out=out),
        lambda x, out: np.max(x, 1, out),
        lambda x, out: np.add.reduce(x, axis=1, out=out),
        lambda x, out: np.clip(x[:, 0], 0, 1, out=out),
        lambda x, out: np.concatenate([x[:1, 0], x[1:, 1]], out=out),
    ],
)
def test_a_function_writes_into_a_tensor(function):
    x, y = pullback.tensor(A, requires_grad=True), pullback.zeros(2, dtype=pullback.float64)
    assert function(x, y) is y
    assert y.tolist() == function(A, np.zeros(2)).tolist()
    y.sum().backward()
    reference = pullback.tensor(A, requires_grad=True)
    function(reference, None).sum().backward()
    assert x.grad.tolist() == reference.grad.tolist()


@pytest.mark.parametrize(
    "function",
    [np.sin, np.spacing, lambda a, out: np.cumsum(a, 1, None, out)],
)
def test_results_of_arrays_are_written_as_constants(function):
    x = pullback.tensor(A, requires_grad=True)
    y = x * 2
    assert function(A, y) is y
    assert y.tolist() == function(A, np.zeros_like(A)).tolist()
    (y * x).sum().backward()
    assert x.grad.tolist() == y.tolist()


@pytest.mark.parametrize("function", [lambda x, out: np.greater(x, 0, out=out), lambda x, out: np.add(B, 1, out)])
def test_what_has_no_gradient_ends_the_history_of_what_it_replaces(function):
    x = pullback.tensor(A, requires_grad=True)
    y = (x * 2).float()
    assert function(x, y) is y
    assert y.dtype == pullback.float32
    y.sum().backward()
    assert x.grad is None or not x.grad.any()


def test_writes_keep_the_rules_of_tensors():
    x = pullback.tensor(A, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        np.sin(x, out=x)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        np.sin(x, out=pullback.zeros(3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        np.sin(x, out=pullback.zeros(2, 3, dtype=pullback.int64))
    assert x.tolist() == A.tolist()


def test_a_value_saved_for_backward_outlives_the_write():
    x = pullback.tensor(A, requires_grad=True)
    y = np.exp(x)
    z = y * y
    np.negative(y, out=y)
    z.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2 * A))


def test_arrays_take_tensors_that_are_not_tracked():
    array = A.copy()
    before = array
    array += pullback.tensor(B)
    assert array is before
    assert type(array) is np.ndarray
    assert array.tolist() == (A + B).tolist()
    total = np.zeros(3)
    assert np.sum(pullback.tensor(A), axis=0, out=total) is total
    assert total.tolist() == A.sum(0).tolist()
    with pytest.raises(ValueError, match=r"numpy\.sum.*shape"):
        np.sum(pullback.tensor(A), out=total)
    with pytest.raises(TypeError, match="same_kind"):
        np.sin(pullback.tensor(A), out=np.zeros((2, 3), int))


def test_arrays_refuse_tensors_that_are_tracked():
    x, array = pullback.tensor(A, requires_grad=True), B.copy()
    with pytest.raises(TypeError, match=r"numpy\.add.*a = a \+ t"):
        array += x
    with pytest.raises(TypeError, match=r"numpy\.sin.*detach"):
        np.sin(x, out=array)
    with pytest.raises(TypeError, match=r"numpy\.sum.*detach"):
        np.sum(x, out=array)
    with pytest.raises(TypeError, match=r"numpy\.spacing .*detach"):
        np.spacing(x, out=array)
    with pytest.raises(RuntimeError, match="requires grad"):
        array[...] = x
    assert array.tolist() == B.tolist()
    with pullback.no_grad():
        array += x
    assert array.tolist() == (A + B).tolist()


# Refusals


UNSUPPORTED = {
    r"numpy\.spacing ": np.spacing,
    r"numpy\.histogramdd ": np.histogramdd,
    r"numpy\.copyto": lambda x: np.copyto(np.zeros((2, 3)), x),
    r"numpy\.hypot\.reduce .*where=": lambda x: np.hypot.reduce(x, where=A > 0),
    r"numpy\.add\.at": lambda x: np.add.at(np.zeros((2, 3)), 0, x),
    r"numpy\.sin .*where=": lambda x: np.sin(x, where=A > 0),
    r"numpy\.add .*dtype=": lambda x: np.add(x, 1, dtype=np.int64),
    r"numpy\.nansum .*where=": lambda x: np.nansum(x, where=A > 0),
    r"numpy\.nanmax .*initial=": lambda x: np.nanmax(x, initial=1),
    r"numpy\.sum .*axis=\(\)": lambda x: np.sum(x, axis=()),
    r"numpy\.reshape .*order=": lambda x: np.reshape(x, (3, 2), order="A"),
    r"numpy\.sort takes": lambda x: np.sort(x, 0, None, None),
    r"abs \(vectorized\)": np.frompyfunc(abs, 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_not_supported_is_refused_by_name(name):
    x = pullback.tensor(A, requires_grad=True)
    with pytest.raises(TypeError, match=name):
        UNSUPPORTED[name](x)
    with pullback.no_grad(), pytest.raises(TypeError, match=name):
        UNSUPPORTED[name](x)


def test_squeeze_keeps_what_is_longer():
    with pytest.raises(ValueError, match="length 1"):
        np.squeeze(pullback.tensor(A), axis=0)


def test_arguments_that_change_nothing_are_accepted():
    x = pullback.tensor(A, requires_grad=True)
    assert np.sin(x, where=True, out=None, casting="same_kind").tolist() == np.sin(A).tolist()
    assert np.reshape(x, (3, 2), order="C").tolist() == np.reshape(A, (3, 2)).tolist()
    assert np.copy(x, order="K", subok=True).tolist() == A.tolist()


def test_numpy_computes_the_rest_for_tensors_that_are_not_tracked():
    t = pullback.tensor(A)
    for f in (np.spacing, np.histogramdd, lambda x: np.histogram2d(x[0], x[1])[0]):
        for got, want in zip(listed(f(t)), listed(f(A)), strict=True):
            np.testing.assert_equal(got, want)
    out = pullback.zeros(2, 3, dtype=pullback.float64)
    assert np.spacing(t, out=out) is out
    assert out.tolist() == np.spacing(A).tolist()
    assert np.where([True, False, True], A, 0).tolist() == np.where([True, False, True], t, 0).tolist()


def test_writes_of_numpy_are_those_of_tensors():
    t, x = pullback.tensor(A), pullback.tensor(A, requires_grad=True)
    product = t * x
    np.copyto(t, B)
    with pytest.raises(TypeError, match=r"numpy\.multiply\.at"):
        np.multiply.at(t, 0, 1)
    np.spacing(A, out=t, where=A > 0)
    assert t.tolist() == np.where(A > 0, np.spacing(A), B).tolist()
    product.sum().backward()
    assert x.grad.tolist() == A.tolist()
    np.copyto(t, A)
    t.mul_(2)
    assert t.tolist() == (2 * A).tolist()


class Foreign:
    """A type that computes with NumPy's functions itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "foreign"

    def __array_function__(self, function, types, args, kwargs):
        return "foreign"


class Silent(Foreign):
    __array_ufunc__ = None


def test_other_types_get_their_turn():
    x = pullback.tensor(A, requires_grad=True)
    assert np.add(x, Foreign()) == "foreign"
    assert np.add(Foreign(), x) == "foreign"
    assert np.concatenate([x, Foreign()]) == "foreign"
    with pytest.raises(TypeError, match="Silent"):
        np.add(x, Silent())
    for nothing in (None, "text", object()):
        with pytest.raises(TypeError):
            np.add(x, nothing)


def test_second_derivatives_pass_through():
    x = pullback.tensor(A, requires_grad=True)
    (first,) = pullback.autograd.grad(np.sum(np.exp(x) * np.sin(x)), x, create_graph=True)
    (second,) = pullback.autograd.grad(np.sum(first), x)
    np.testing.assert_allclose(second.numpy(), 2 * np.exp(A) * np.cos(A))


def test_interpreters_see_the_operations():
    seen = []

    class Names(pullback.interpreters.Interpreter):
        def process(self, primitive, args, params):
            seen.append(primitive.name)
            return self.box(primitive(*map(self.unbox, args), **params))

    with Names() as names:
        x = names.box(pullback.tensor(A, requires_grad=True))
        y = names.unbox(np.sum(np.sin(x) + B))
        with pytest.raises(TypeError, match=r"numpy\.spacing"):
            np.spacing(x)
    assert seen == ["sin", "add", "sum"]
    assert y.requires_grad


@pytest.mark.parametrize("mask", [[True, True, False], [True, False, False]])
def test_a_spread_of_zero_among_chosen_elements_has_slope_zero(mask):
    x = pullback.tensor([2.0, 2.0, 5.0], requires_grad=True)
    result = np.std(x, where=np.array(mask))
    result.backward()
    assert result.item() == 0
    assert x.grad.tolist() == [0, 0, 0]
