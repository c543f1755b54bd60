"""An operation that a package of its own defines, through all that pullback's operations go through."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import pullback

MODULE = """
import numpy as np
from pullback.extend import elementwise

softsign = elementwise(
    "softsign", lambda xp, g, x: g / xp.square(1 + xp.abs(x)), forward=lambda x: x / (1 + np.abs(x))
)
"""


@pytest.fixture
def softsign(tmp_path, monkeypatch):
    (tmp_path / "own_operations").mkdir()
    (tmp_path / "own_operations" / "__init__.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import own_operations

    yield own_operations.softsign
    del sys.modules["own_operations"]


VALUES = np.array([-2.0, -0.5, 0.25, 3.0])
SLOPE = 1 / (1 + np.abs(VALUES)) ** 2
CURVATURE = -2 * np.sign(VALUES) / (1 + np.abs(VALUES)) ** 3


def test_value_and_derivatives(softsign):
    x = pullback.tensor(VALUES, requires_grad=True)
    y = softsign(x)
    np.testing.assert_allclose(y.detach().numpy(), VALUES / (1 + np.abs(VALUES)), rtol=1e-15)
    (slope,) = pullback.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy(), SLOPE, rtol=1e-14)
    (curvature,) = pullback.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(curvature.numpy(), CURVATURE, rtol=1e-14)
    assert pullback.autograd.gradcheck(softsign, (x,))
    assert pullback.autograd.gradgradcheck(softsign, (x,))


def test_transforms(softsign):
    x = pullback.tensor(VALUES)
    np.testing.assert_allclose(pullback.func.vmap(pullback.func.grad(softsign))(x).numpy(), SLOPE, rtol=1e-14)
    value, tangent = pullback.func.jvp(softsign, (x,), (pullback.ones_like(x),))
    np.testing.assert_allclose(value.numpy(), VALUES / (1 + np.abs(VALUES)), rtol=1e-15)
    np.testing.assert_allclose(tangent.numpy(), SLOPE, rtol=1e-14)


def test_compiled(softsign):
    pytest.importorskip("llvmlite", reason="llvmlite is not installed: it compiles")
    compiled = pullback.compile(lambda t: (softsign(t) * t).sum())
    for _ in range(3):
        x = pullback.tensor(VALUES, requires_grad=True)
        compiled(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), SLOPE * VALUES + VALUES / (1 + np.abs(VALUES)), rtol=1e-12)


def test_the_door_needs_no_other_import():
    program = f"{MODULE}\nprint(softsign(np.array(3.0)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "0.75\n"


DEFINED = """
from pullback.extend import elementwise

softsign = elementwise(
    "softsign", lambda xp, g, x: g / xp.square(1 + xp.abs(x)), definition=lambda xp, x: x / (1 + xp.abs(x))
)
"""


@pytest.fixture
def defined(tmp_path, monkeypatch):
    (tmp_path / "defined_operations.py").write_text(DEFINED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import defined_operations

    yield defined_operations.softsign
    del sys.modules["defined_operations"]


def test_a_definition_is_enough(defined):
    test_value_and_derivatives(defined)
    test_transforms(defined)


def test_a_definition_fuses_with_what_is_around_it(defined):
    pytest.importorskip("llvmlite", reason="llvmlite is not installed: it compiles")
    compiled = pullback.compile(lambda t: (defined(t * 2) + 1).sum())
    x = pullback.tensor(VALUES, requires_grad=True)
    for _ in range(3):
        x.grad = None
        compiled(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 / (1 + np.abs(2 * VALUES)) ** 2, rtol=1e-14)
    report = compiled.report()
    assert len(report.kernels) == 1
    assert not any("softsign" in name for kernel in report.kernels for name in kernel.equations)


def test_a_definition_goes_to_other_libraries(defined):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed: it compares")
    placed = pullback.compile(lambda t: (defined(t * 2) + 1).sum()).on(strict)
    expected = np.sum(2 * VALUES / (1 + np.abs(2 * VALUES)) + 1)
    np.testing.assert_allclose(np.asarray(placed(strict.asarray(VALUES))), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["relu", "rsqrt", "deg2rad", "softplus", "logsigmoid", "frac"])
def test_so_it_does_without_elements(name):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed: it compares")
    function = getattr(pullback, name, None) or getattr(pullback.nn.functional, name)
    placed = pullback.compile(lambda t: function(t) * 2).on(strict)
    assert placed(strict.zeros((0, 3))).shape == (0, 3)


EMPTY = {
    "a layer": (lambda x: pullback.nn.functional.linear(x, pullback.ones(2, 4), pullback.ones(2)), (0, 4)),
    "a softmax of no rows": (lambda x: pullback.softmax(x, 1), (0, 4)),
    "a softmax of nothing": (lambda x: pullback.softmax(x, 1), (3, 0)),
    "a logarithm of no exponentials": (lambda x: pullback.logsumexp(x, 1), (3, 0)),
    "a mean": (lambda x: x.mean(), (0, 4)),
    "a deviation": (lambda x: x.std(0), (0, 4)),
    "a norm": (lambda x: x.norm(), (0, 4)),
    "a normalisation": (lambda x: pullback.nn.functional.layer_norm(x, (4,)), (0, 4)),
    "a loss": (lambda x: pullback.nn.functional.cross_entropy(x, pullback.zeros(0, dtype=pullback.int64)), (0, 4)),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
def test_nor_do_compositions_need_elements(name, dtype):
    function, shape = EMPTY[name]
    if dtype == pullback.float64 and name == "a layer":
        return  # its weights are single
    x = pullback.zeros(*shape, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of degrees of freedom
        expected = function(x)
        found = pullback.compile(function)(x)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_definition_is_explained(defined):
    x = pullback.tensor(VALUES, requires_grad=True)
    derivations = [
        term.derivation
        for step in pullback.explain(defined(x).sum()).steps
        for term in step.terms
        if step.phase == "backward"
    ]
    assert ("y = x/(1 + abs(x))", "dy/dx = 1/square(1 + abs(x))") in [(each.value, each.slope) for each in derivations]


@pytest.fixture
def always():
    before = pullback.get_machine_code()
    pullback.set_machine_code("always")
    yield
    pullback.set_machine_code(before)


NUMBERS = {
    "float64": np.array([[-2.0, -0.5, 0.25], [3.0, 0.5, 1.5]]),
    "float32": np.array([[-2.0, -0.5, 0.25], [3.0, 0.5, 1.5]], np.float32),
    "int64": np.array([[-3, 0, 2], [5, -1, 7]]),
    "int8": np.array([[-3, 0, 2], [5, -1, 7]], np.int8),
    "uint8": np.array([[3, 0, 2], [5, 1, 7]], np.uint8),
    "bool": np.array([[True, False, True], [False, False, True]]),
}
WEIGHT = np.array([[1.0, -2.0], [0.5, 0.25], [3.0, 1.0]])
READ = {
    "quotients of whole numbers": lambda xp, x: x / 3 * 1.5,
    "roots": lambda xp, x: xp.sqrt(xp.abs(x) * 1) * 1.5 + xp.exp(-xp.abs(x) * 1),
    "powers": lambda xp, x: (x * 1) ** 2 + 2.0 ** xp.abs(x * 1) + (x * 1.0) ** 2.0,
    "sums from the end": lambda xp, x: x / (1 + xp.sum(xp.abs(x * 1), axis=(-1,), keepdims=True)),
    "an axis alone": lambda xp, x: x - 1.0 * xp.amax(x, axis=-1, keepdims=True),
    "means": lambda xp, x: xp.mean(x * 1, axis=(0,), keepdims=True) * 1.5 + x,
    "a softmax": lambda xp, x: xp.softmax(x * 1.0, axis=-1) + xp.log_softmax(x * 1.0, axis=1),
    "flips": lambda xp, x: xp.flip(x, axis=(-1,)) * 2.5 + 1,
    "remainders": lambda xp, x: (x * 1) // 2 + x % 3 + 7.5,
    "on the left": lambda xp, x: 1 - x * 2 + 2 / (x * 1.0 + 9) + +x,
    "numbers of NumPy": lambda xp, x: np.float64(2) * x + x * np.float32(0.5),
    "arrays": lambda xp, x: np.array([1.0, 2.0, 3.0]) * x + np.exp(x * 0.1),
    "a matrix": lambda xp, x: xp.matmul(x * 1.0, xp.asarray(WEIGHT)) @ WEIGHT.T,
    "masks": lambda xp, x: ((x > 0) & (x < 3) | (x == 5)) * 1.5 - ~(x > 1) * 1.0 + ((x > 0) ^ (x < 2)),
    "bounds": lambda xp, x: (x < 1000) * 1.0 + (x > -1) * 2.0 + (x >= 300) * 4.0,
    "the shape": lambda xp, x: x / x.size + x.shape[-1] * x.ndim,
    "an if": lambda xp, x: x * 2 if xp.sum(x, axis=(0, 1), keepdims=False) > 0 else x * 3,
    "the functions of NumPy": lambda xp, x: np.tanh(x * 1.0) + np.cumsum(x * 1.0, axis=1),
    "elements by an array": lambda xp, x: x[:, np.array([2, 0, 1])] * 2,
    "a loop": lambda xp, x: sum(row for row in x) + x,
    "one of its operands": lambda xp, x: x,
}
WHOLE = {"bits": lambda xp, x: (x & 3) * 1.0 + (x | 1) - ~x + (x ^ 2)}
UNREAD = {"an if", "the functions of NumPy", "elements by an array", "a loop"}


@pytest.mark.filterwarnings("ignore:compile. own is computed as a whole:UserWarning")
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", [*READ, *WHOLE])
def test_a_definition_means_the_same_to_arrays_and_to_the_compiler(name, dtype):
    if name in WHOLE and "int" not in dtype:
        return
    if dtype == "bool" and name in {"on the left", "sums from the end", "quotients of whole numbers"}:
        return  # NumPy refuses -x and +x of truth values, or has a dtype of its own
    own = pullback.extend.zero("own", definition=(READ | WHOLE)[name])
    x = pullback.from_numpy(NUMBERS[dtype])
    try:
        expected = own(x)
    except (TypeError, ValueError, OverflowError):
        return  # NumPy has none
    for fuse in (True, False):
        compiled = pullback.compile(lambda t: own(t.clone()), fuse=fuse)
        for _ in range(2):
            found = compiled(x)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=4e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("name", sorted(UNREAD))
def test_what_only_arrays_can_do_is_left_to_them_and_said(name):
    own = pullback.extend.zero("own", definition=READ[name])
    x = pullback.from_numpy(NUMBERS["float64"])
    with pytest.warns(UserWarning, match="compile: own is computed as a whole, as its definition cannot be read"):
        found = pullback.compile(lambda t: own(t) + 1)(x)
    np.testing.assert_allclose(found.numpy(), own(x).numpy() + 1, rtol=1e-13)


ELEMENTWISE = [
    *"quotients roots powers remainders masks bounds".split(),
    "on the left",
    "numbers of",
    "the shape",
    "bits",
]


@pytest.mark.parametrize("name", [name for name in READ | WHOLE if name.startswith(tuple(ELEMENTWISE))])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_so_it_does_where_arrays_are_large(name, dtype, always):
    numbers = np.resize(NUMBERS[dtype], (70, 1_000))
    if name in WHOLE and dtype == "float64":
        return
    definition = (READ | WHOLE)[name]
    own = pullback.extend.elementwise("own", lambda xp, g: g, definition=definition)
    x = pullback.from_numpy(numbers)
    with np.errstate(all="ignore"):
        expected = np.asarray(definition(pullback._core.xp, numbers))
    for _ in range(3):
        found = own(x)
        assert str(found.numpy().dtype) == str(expected.dtype)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_numbers_of_parameters_are_told_apart(always):
    times = pullback.extend.elementwise("times", lambda xp, g: g, definition=lambda xp, x, *, k: x * k)
    x = pullback.arange(70_000)
    assert [times(x, k=k).dtype for k in (1, 1.0, 1, True)] == [
        pullback.int64,
        pullback.float64,
        pullback.int64,
        pullback.int64,
    ]


def test_nor_is_the_sign_of_zero_lost(always):
    x = pullback.full((70_000,), -1.0)
    for value in (0.0, -0.0, 0.0, 0, -0.0):
        found = pullback.nn.functional.threshold(x, 0.5, value).numpy()
        assert np.signbit(found).all() == np.signbit(np.float64(value))


def test_an_operand_that_is_not_used(always):
    second = pullback.extend.elementwise("second", lambda xp, g: g, lambda xp, g: g, definition=lambda xp, a, b: b * 2)
    a, b = pullback.ones(70_000, dtype=pullback.float16), pullback.ones(70_000, dtype=pullback.float64)
    for _ in range(2):
        np.testing.assert_array_equal(second(a, b).numpy(), np.full(70_000, 2.0))


def test_an_operation_needs_a_forward_function_or_a_definition():
    for name in ("own", "exp"):
        with pytest.raises(TypeError, match=f"{name} needs forward= or definition="):
            pullback.extend.elementwise(name, lambda xp, g, x: g)


def test_a_definition_with_parameters_numbers_and_masks():
    def clipped(xp, x, *, most):
        return xp.where(xp.abs(x) > most, most * xp.sign(x), x) ** 2 - (x > 0) * 1.0

    made = pullback.extend.elementwise("made", lambda xp, g, x, *, most: g, definition=clipped, complex="refused")
    expected = np.clip(VALUES, -0.75, 0.75) ** 2 - (VALUES > 0)
    for function in (lambda t: made(t, most=0.75), pullback.compile(lambda t: made(t, most=0.75))):
        found = function(pullback.tensor(VALUES))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15)
        assert found.dtype == pullback.float64


# Operations with the names of pullback's own, and other meanings

LIKE_OURS = {
    "relu": {},
    "exp": {},
    "abs": {},
    "softplus": {"beta": 1, "threshold": 20},
    "sum": {"axis": (1,), "keepdims": False},
    "softmax": {"axis": 1},
    "permute_dims": {"axes": (1, 0)},
    "flip": {"axis": (0,)},
}


@pytest.mark.parametrize("kind", ["elementwise", "linear", "general"])
@pytest.mark.parametrize(("name", "params"), LIKE_OURS.items(), ids=LIKE_OURS)
def test_an_operation_is_not_taken_for_pullbacks_own_of_that_name(name, params, kind):
    tripled = getattr(pullback.extend, kind)(name, lambda xp, g: 3 * g, forward=lambda x, **_: x * 3, inputs=("x",))
    x = pullback.tensor(np.arange(6.0).reshape(2, 3) - 2.5, requires_grad=True)

    def function(t):
        return tripled(t * 1.5, **params) + 1

    for form in (function, pullback.compile(function), pullback.compile(function, fuse=False)):
        for _ in range(2):
            y = form(x)
            np.testing.assert_allclose(y.detach().numpy(), x.detach().numpy() * 4.5 + 1, rtol=1e-15)
            (slope,) = pullback.autograd.grad(y.sum(), x)
            np.testing.assert_array_equal(slope.numpy(), np.full((2, 3), 4.5))
    batch = pullback.stack([x.detach(), x.detach() + 1])
    np.testing.assert_allclose(pullback.func.vmap(function)(batch).numpy(), batch.numpy() * 4.5 + 1, rtol=1e-15)
    _, moved = pullback.func.jvp(function, (x.detach(),), (pullback.ones(2, 3, dtype=pullback.float64),))
    np.testing.assert_array_equal(moved.numpy(), np.full((2, 3), 4.5))
    assert name in [step.op for step in pullback.explain(tripled(x, **params).sum()).steps]


@pytest.mark.parametrize("name", ["relu", "exp", "tanh", "softsign"])
def test_nor_where_arrays_are_large(name, always):
    x = np.linspace(-3, 3, 70_000)
    tripled = pullback.extend.elementwise(name, lambda xp, g, x: 3 * g, forward=lambda x: x * 3)
    again = pullback.extend.elementwise(name, lambda xp, g, x: 4 * g, definition=lambda xp, x: x * 4 + 0)
    for operation, factor in ((tripled, 3), (again, 4)):
        t = pullback.tensor(x, requires_grad=True)
        for _ in range(3):
            y = operation(t)
            np.testing.assert_allclose(y.detach().numpy(), x * factor, rtol=1e-15)
        y.sum().backward()
        np.testing.assert_array_equal(t.grad.numpy(), np.full(70_000, float(factor)))


def test_a_warning_names_the_line_of_the_program():
    with pytest.warns(FutureWarning, match="soon") as found:
        pullback.extend.warn("soon", FutureWarning)
    assert found[0].filename == __file__
