"""Operations of a package of its own, as a scientist writes them, and the mistakes that are made in writing them."""

import importlib
import sys

import numpy as np
import pytest

import pullback
from pullback import func, testing
from pullback.extend import elementwise, general, linear, multilinear

MODULE = """
from pullback.extend import elementwise, general, linear

softclip = elementwise(
    "softclip", lambda xp, g, x, *, limit: g * (1 - xp.square(xp.tanh(x / limit))),
    definition=lambda xp, x, *, limit=1.0: limit * xp.tanh(x / limit))

def pull(xp, g, a, b):
    return g * (a - b) / (1 + (a - b) ** 2)

cauchy = elementwise(
    "cauchy", pull, lambda xp, g, a, b: -pull(xp, g, a, b), definition=lambda xp, a, b: 0.5 * xp.log1p(xp.square(a - b)))

def log_mean(xp, x, *, axis):
    top = xp.max(x, axis, keepdims=True)
    return xp.log(xp.mean(xp.exp(x - top), axis)) + xp.squeeze(top, axis)

log_mean_exp = general(
    "log_mean_exp",
    lambda xp, g, x, y, *, axis: xp.expand_dims(g, axis) * xp.exp(x - xp.expand_dims(y, axis)) / x.shape[axis],
    definition=log_mean)
moment = general(
    "moment", lambda xp, g, x, *, axes, power: power * xp.expand_dims(g, axes) * x ** (power - 1),
    definition=lambda xp, x, *, axes, power: xp.sum(x**power, axes))
both = general(
    "both", lambda xp, g, y: g[0] * y[1] - g[1] * y[0], outputs=2, definition=lambda xp, x: (xp.sin(x), xp.cos(x)))

def second(xp, x, *, axis):
    return xp.roll(x, 1, axis) - 2 * x + xp.roll(x, -1, axis)

laplace = linear("laplace", lambda xp, g, *, axis: second(xp, g, axis=axis), definition=second)
"""
DRAWN = np.random.default_rng(0)
MATRIX, ROW = DRAWN.normal(size=(3, 4)), DRAWN.normal(size=4)
CALLS = {
    "softclip": ((MATRIX,), {"limit": 2.0}),
    "cauchy": ((MATRIX, ROW), {}),
    "log_mean_exp": ((MATRIX,), {"axis": -1}),
    "moment": ((MATRIX,), {"axes": (0, -1), "power": 3}),
    "both": ((MATRIX,), {}),
    "laplace": ((MATRIX,), {"axis": -2}),
}
KERNELS = {"softclip": 1, "cauchy": 1, "both": 1}
FORMULAS = {
    "softclip": "y = 2*tanh(x/2)",
    "cauchy": "y = 0.5*log1p(square(a - b))",
    "log_mean_exp": "y = log(mean(exp(x - max(x, -1, keepdims=True)), -1)) + squeeze(max(x, -1, keepdims=True), -1)",
    "moment": "y = sum(x**3, (0, -1))",
    "both": "y = sin(x), cos(x)",
    "laplace": "y = roll(x, 1, -2) - 2*x + roll(x, -1, -2)",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    (folder / "scientific.py").write_text(MODULE, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield importlib.import_module("scientific")
    sys.path.remove(str(folder))
    del sys.modules["scientific"]


def among_others(package, name):
    """A function with the operation and its derivative among others."""
    operation, (_, params) = getattr(package, name), CALLS[name]

    def parts(*tensors):
        made = operation(*[2 * x.sin() for x in tensors], **params)
        return made if isinstance(made, tuple) else (made,)

    def loss(*tensors):
        return sum((y * y * (i + 1)).sum() for i, y in enumerate(parts(*tensors)))

    return lambda *tensors: (*[y + 1 for y in parts(*tensors)], func.grad(loss)(*tensors))


@pytest.mark.parametrize("name", CALLS)
def test_each_is_what_its_definition_and_rules_say(package, name):
    arrays, params = CALLS[name]
    assert testing.check_operation(getattr(package, name), *arrays, **params)


@pytest.mark.parametrize("name", KERNELS)
def test_one_kernel_among_others(package, name):
    pytest.importorskip("llvmlite", reason="llvmlite is not installed: it compiles")
    compiled = pullback.compile(among_others(package, name))
    compiled(*map(pullback.tensor, CALLS[name][0]))
    assert len(compiled.report().kernels) == KERNELS[name]
    assert "scientific" not in str(compiled.ir)


def placed(library):
    """Where arrays of a library come from, and what `on` is given."""
    name = {"dask": "dask.array", "jax": "jax.numpy"}.get(library, library)
    module = pytest.importorskip(name, reason=f"{library} is not installed: it computes")
    if library == "jax":
        sys.modules["jax"].config.update("jax_enable_x64", True)
    makers = {"torch": "from_numpy", "dask": "from_array"}
    return getattr(module, makers.get(library, "asarray")), module if library == "array_api_strict" else library


@pytest.mark.parametrize("library", ["array_api_strict", "jax", "torch", "dask"])
@pytest.mark.parametrize("name", CALLS)
def test_on_other_libraries(package, name, library):
    make, place = placed(library)
    function, arrays = among_others(package, name), CALLS[name][0]
    found = pullback.compile(function).on(place)(*[make(x.copy()) for x in arrays])
    for one, other in zip(found, function(*map(pullback.tensor, arrays)), strict=True):
        np.testing.assert_allclose(np.asarray(one), other.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_explained_with_its_formula(package, name):
    arrays, params = CALLS[name]
    made = getattr(package, name)(*[pullback.tensor(x, requires_grad=True) for x in arrays], **params)
    made = sum(y.sum() for y in made) if isinstance(made, tuple) else made.sum()
    steps = pullback.explain(made).steps
    (step,) = [step for step in steps if step.op == name]
    assert step.terms[0].derivation.value == FORMULAS[name]


def test_metadata_may_be_left_out_where_the_definition_has_a_default(package):
    x = pullback.tensor(ROW, requires_grad=True)
    package.softclip(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 - np.tanh(ROW) ** 2, rtol=1e-12)


REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod, "var": np.var, "std": np.std,
}  # fmt: skip
CUBE = DRAWN.normal(size=(2, 3, 4))


@pytest.mark.parametrize("axis", [-1, 1, (0, -1), None])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_take_axes_as_those_of_numpy_do(name, axis):
    made = general(
        name, lambda xp, g, x: xp.zeros_like(x), definition=lambda xp, x: getattr(xp, name)(x, axis=axis) * 1
    )
    expected = REDUCTIONS[name](CUBE, axis=axis)
    x = pullback.tensor(CUBE)
    batch = pullback.stack([x, x])
    for found in (made(x), pullback.compile(made.__call__)(x), func.vmap(made)(batch)[1]):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


MOVES = {
    "flip": (lambda xp, x: xp.flip(x, -1), lambda x: np.flip(x, -1)),
    "roll": (lambda xp, x: xp.roll(x, 1, -1), lambda x: np.roll(x, 1, -1)),
    "cumsum": (lambda xp, x: xp.cumsum(x, -1), lambda x: np.cumsum(x, -1)),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, (-1, 0)), lambda x: np.expand_dims(x, (-1, 0))),
    "squeeze": (lambda xp, x: xp.squeeze(x[:, :1], -2), lambda x: x[:, 0]),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (0, -1, 1)), lambda x: x.transpose(0, 2, 1)),
    "reshape": (lambda xp, x: xp.reshape(x, (2, -1)), lambda x: x.reshape(2, -1)),
    "concat": (lambda xp, x: xp.concat([x, 2 * x], axis=-1), lambda x: np.concatenate([x, 2 * x], -1)),
    "stack": (lambda xp, x: xp.stack([x, 2 * x], axis=-1), lambda x: np.stack([x, 2 * x], -1)),
    "split": (lambda xp, x: xp.split(x, (1, 3), axis=-1)[1], lambda x: x[..., 1:]),
    "unbind": (lambda xp, x: xp.unbind(x, -1)[2], lambda x: x[..., 2]),
    "diagonal": (lambda xp, x: xp.diagonal(x), lambda x: np.diagonal(x, 0, -2, -1)),
    "einsum": (lambda xp, x: xp.einsum("abc,abd->cd", x, x), lambda x: np.einsum("abc,abd->cd", x, x)),
    "ones_like": (lambda xp, x: xp.ones_like(x) * x, lambda x: x),
    "softmax": (lambda xp, x: xp.softmax(x, -1), lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    "astype": (lambda xp, x: xp.astype(xp.astype(x, np.float32), x.dtype), lambda x: x.astype("f").astype("d")),
    "triangles": (lambda xp, x: xp.tril(x) + xp.triu(x, 1), lambda x: x),
    "clip": (lambda xp, x: xp.clip(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
}


@pytest.mark.parametrize("name", MOVES)
def test_other_functions_take_what_those_of_numpy_do(name):
    definition, expected = MOVES[name]
    made = general(name, lambda xp, g, x: definition(xp, x) * xp.sum(g), definition=definition)
    x = pullback.tensor(CUBE)
    for found in (made(x), pullback.compile(lambda t: made(t) * 1)(x), func.vmap(made)(pullback.stack([x, x]))[1]):
        np.testing.assert_allclose(found.numpy(), expected(CUBE), rtol=1e-12)


def run(operation, *arrays, **params):
    x, *others = [pullback.tensor(a) for a in arrays or ([0.5, -1.0],)]
    made = operation(x.requires_grad_(True), *others, **params)
    (made[0] if isinstance(made, tuple) else made).sum().backward()


def add(xp, x):
    x += 1
    return x * 2


# What a call refuses: the operation, and what its error says
REFUSED = {
    "no result": (elementwise("op", lambda xp, g: g, definition=lambda xp, x: None), "op returned None, not an array"),
    "a number": (elementwise("op", lambda xp, g: g, definition=lambda xp, x: 3.0), "op returned the float 3.0, not an array"),
    "no number": (elementwise("op", lambda xp, g: g, forward=lambda x: np.array([None])), "op returned an array of object"),
    "one result for two": (
        general("op", lambda xp, g: g[0], definition=lambda xp, x: x * 2, outputs=2),
        "op returned an array of float32 of shape (2,), and was made with outputs=2",
    ),
    "two results for one": (
        general("op", lambda xp, g: g, definition=lambda xp, x: (x * 2, x)), "op returned 2 results, and was made with outputs=1"
    ),
    "another shape": (elementwise("op", lambda xp, g: g, definition=lambda xp, x: xp.sum(x)), "op is elementwise, and returned"),
    "a write": (elementwise("op", lambda xp, g: g, definition=add), "op wrote to its argument 'x'"),
    "a rule without result": (elementwise("op", lambda xp, g: None, definition=lambda xp, x: x * 2), "the rule of op for 'x' returned None"),
    "a rule's number": (elementwise("op", lambda xp, g: 2.0, definition=lambda xp, x: x * 2), "for 'x' returned the float 2.0"),
    "a rule's shape": (
        elementwise("op", lambda xp, g: xp.sum(g), definition=lambda xp, x: x * 2),
        "the rule of op for 'x' returned a cotangent of shape () for an input of shape (2,)",
    ),
    "an unknown function": (elementwise("op", lambda xp, g: g, definition=lambda xp, x: xp.maximun(x, 0)), "xp has no function 'maximun': did you mean 'maximum'?"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_are_refused(name):
    operation, message = REFUSED[name]
    for _ in range(2):
        with pytest.raises(Exception, match=r"op|xp") as caught:
            run(operation)
        assert message in str(caught.value)


def test_a_joint_rule_gives_a_cotangent_to_each_input():
    made = general("op", joint=lambda xp, g, a, b: (g,), inputs=("a", "b"), definition=lambda xp, a, b: a + b)
    with pytest.raises(TypeError, match="the joint rule of op returned 1 cotangents for 2 inputs"):
        run(made, [1.0], [2.0])


def test_nothing_is_changed_by_a_definition_that_writes_to_its_argument():
    x = pullback.tensor([1.0, 2.0])
    for function in (REFUSED["a write"][0], pullback.compile(REFUSED["a write"][0].__call__)):
        with pytest.raises(ValueError, match="its numbers again: write x = x \\+ 1 for x \\+= 1"):
            function(x)
        assert x.tolist() == [1.0, 2.0]


def test_arguments_may_have_any_names():
    def definition(xp, function, *, results=1.0, made=2.0):
        return function * results * made

    own = elementwise(
        "own", lambda xp, g, *, results, made: g * results * made, definition=definition, inputs=("function",)
    )
    assert testing.check_operation(own, ROW, made=3.0)


def test_calls_with_other_arguments():
    made = elementwise("op", lambda xp, g, x, *, beta: g * beta, definition=lambda xp, x, *, beta: x * beta)
    x = pullback.ones(2)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"op\(\) got an unexpected keyword argument 'bta'"):
            made(x, bta=2.0)
        with pytest.raises(TypeError, match=r"op\(\) missing 1 required keyword-only argument: 'beta'"):
            made(x)
        with pytest.raises(TypeError, match=r"op\(\) takes 1 positional argument but 2 were given"):
            made(x, 2.0)
        assert made(x, beta=2.0).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="op returned a list, not an array: call it with tensors or arrays"):
        elementwise("op", lambda xp, g: g, definition=lambda xp, x: x * 2)([1.0, 2.0])


# What is refused when an operation is made
UNMADE = {
    "the definition of op takes (x), and is called with (xp, x)": {"definition": lambda x: x * 2},
    "the definition of op takes (xp, x, k), and is called with (xp, x)": {"definition": lambda xp, x, k: x * k},
    "the forward of op takes (xp, x), and is called with (x)": {"forward": lambda xp, x: x * 2},
    "the forward of op takes (2 arrays), and is called with (x)": {"forward": np.add},
    "'k' is taken by the definition of op alone": {"forward": lambda x: x, "definition": lambda xp, x, *, k: x * k},
    "'k' is taken by the forward of op alone": {"forward": lambda x, *, k: x, "definition": lambda xp, x: x * 2},
}


@pytest.mark.parametrize("message", UNMADE)
def test_functions_that_do_not_fit_are_refused_when_the_operation_is_made(message):
    with pytest.raises(TypeError) as caught:
        elementwise("op", lambda xp, g: g, **UNMADE[message])
    assert message in str(caught.value)


def test_rules_that_are_no_rules():
    for rule in (3, np.sin):
        with pytest.raises(TypeError, match=r"the rule of op is .*, not a function written with def or lambda"):
            elementwise("op", rule, definition=lambda xp, x: x)
    with pytest.raises(TypeError, match=r"the rule of op starts with \(xp, x\), not with \(xp, g\)"):
        elementwise("op", lambda xp, x: x, definition=lambda xp, x: x)
    with pytest.raises(TypeError, match=r"op has 2 rules for 1 inputs \(x\)"):
        general("op", lambda xp, g: g, lambda xp, g: g, definition=lambda xp, a, b: a + b)


def counting(counts=[0]):  # noqa: B006  # it is to be kept
    def forward(x):
        counts[0] += 1
        return x * counts[0]

    return forward


def late(xp, x, *, n):
    if n > 1:
        x += 1
    return x * 2


FOUND = {
    "the definition and forward differ": elementwise(
        "op", lambda xp, g, x: 2 * g * x, forward=lambda x: x * x, definition=lambda xp, x: x * x * x),
    "differ: result is float64[3, 4] against float64[]": general(
        "op", lambda xp, g, x: 0 * x * g, forward=np.sum, definition=lambda xp, x: x * 2),
    "the definition returned 1 results, and forward 2": general(
        "op", lambda xp, g: g[0], forward=lambda x: (x * 2, x * 3), definition=lambda xp, x: x * 2, outputs=2),
    "and differs if its operands are exchanged": elementwise(
        "op", lambda xp, g: g, lambda xp, g: -g, definition=lambda xp, a, b: a - b, commutes=True),
    "for other libraries: it calls numpy.clip": elementwise(
        "op", lambda xp, g, x: g, definition=lambda xp, x: np.clip(x, 0, 1)),
    "it asks for the value of an array": elementwise(
        "op", lambda xp, g, x: g, definition=lambda xp, x: x * 2 if xp.sum(x) > 0 else x * 3),
    "it asks an array for .mean: use operators and functions": elementwise(
        "op", lambda xp, g, x: g, definition=lambda xp, x: x * x.mean()),
    "a rule is not linear in the cotangent g": elementwise("op", lambda xp, g, x: g * g, definition=lambda xp, x: x * 1),
    "Jacobian mismatch": elementwise("op", lambda xp, g, x: g * xp.sin(x), definition=lambda xp, x: xp.sin(x)),
    "it is elementwise, and an element depends on others": elementwise(
        "op", lambda xp, g: g, definition=lambda xp, x: xp.cumsum(x, 0)),
    "it is linear, and not linear in x": linear("op", lambda xp, g: g, definition=lambda xp, x: x + 1),
    "it is multilinear, and not linear in a": multilinear(
        "op", lambda xp, g: g, lambda xp, g: g, definition=lambda xp, a, b: a + b),
    "arguments that lie backwards in memory make a difference": elementwise(
        "op", lambda xp, g: g, forward=lambda x: np.ndarray(x.shape, x.dtype, x.base if x.strides[-1] < 0 else x).copy()),
    "a second call differs": elementwise("op", lambda xp, g: g, forward=counting()),
    "it raised ValueError (zero-size array": elementwise(
        "op", lambda xp, g: g, forward=lambda x: x + 0 * x.max()),
}  # fmt: skip


@pytest.mark.parametrize("message", FOUND)
def test_what_check_operation_finds(message):
    operation = FOUND[message]
    arrays = (MATRIX, MATRIX[::-1]) if len(operation.inputs) > 1 else (MATRIX,)
    with pytest.raises((testing.OperationError, testing.GradcheckError)) as caught:
        testing.check_operation(operation, *arrays)
    assert message in str(caught.value)


def test_check_operation_finds_a_write_in_another_case():
    made = elementwise("op", lambda xp, g: 2 * g, definition=late)
    made(ROW, n=1)
    with pytest.raises(testing.OperationError, match=r"op\(float64\[4\], n=2\): it wrote to its argument 'x'"):
        testing.check_operation(made, ROW, n=2)


def test_check_operation_takes_operations_alone():
    with pytest.raises(TypeError, match=r"is not an operation: it takes what a function of pullback\.extend returned"):
        testing.check_operation(np.sin, ROW)


def test_what_other_libraries_refuse_names_the_fix():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed: it compares")
    whole = elementwise("op", lambda xp, g: g, forward=lambda x: x * 2)
    with pytest.raises(
        pullback.compile.LoweringError, match="with a definition= beside its forward=, it runs as its parts"
    ):
        pullback.compile(whole.__call__).on(strict)(strict.ones(2))


WIDE = {
    "forward": elementwise("wide", lambda xp, g: 2 * g, forward=lambda x: x.astype("d") * 2),
    "two numbers": elementwise(
        "chosen", lambda xp, g, x: 2 * g, definition=lambda xp, x: x * xp.where(xp.abs(x) >= 0, 2.0, 0.5)
    ),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_result_has_the_precision_of_its_arguments(name, dtype):
    x = pullback.ones(3, dtype=getattr(pullback, dtype))
    if name == "forward" and x.is_complex():
        pytest.skip("it drops imaginary parts")
    for run in (WIDE[name], pullback.compile(WIDE[name]), pullback.func.vmap(WIDE[name])):
        assert run(x).dtype == x.dtype
        assert (run(x) == 2).all()


def test_a_result_in_the_memory_of_an_argument_is_a_copy_in_every_way():
    same = elementwise("same", lambda xp, g: g, definition=lambda xp, x: x)

    def function(x):
        h = x * 1
        u = same(h)
        u.mul_(10)
        return (h * u).sum()

    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    for run in (function, pullback.compile(function), pullback.compile(function, fuse=False)):
        (slope,) = pullback.autograd.grad(run(x), x)
        assert (run(x).item(), slope.tolist()) == (50.0, [20.0, 40.0])
    assert pullback.func.jvp(function, (x.detach(),), (pullback.ones(2),))[1].item() == 60.0
    assert pullback.func.vmap(function)(x.detach().expand(2, 2)).tolist() == [50.0, 50.0]
    same(x).mul_(10)
    assert x.tolist() == [1.0, 2.0]


def test_an_axis_that_is_not_1_is_not_squeezed():
    op = general("squeezed", lambda xp, g, x: xp.expand_dims(g, 0), definition=lambda xp, x: xp.squeeze(x, 0))
    assert op(pullback.ones(1, 3)).shape == (3,)
    with pytest.raises(ValueError, match=r"axis 0 has length 2, not 1: its shape is \(2, 3\)"):
        op(pullback.ones(2, 3))
