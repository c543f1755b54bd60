"""numpy_programs: programs that know nothing of pullback, their gradients beside differences, and what is undone."""

import contextlib
import importlib
import math
import operator
import sys
import threading

import numpy as np
import pytest
from tests.stress.failing import InterruptionError, Signals

import pullback
from pullback._core.modes import RECORD, mode
from pullback._numpy.programs import _entered

from .theirs import arrays

NAME = arrays.__name__
X = [1.2, 2.2, 1.9]
CASES = {
    "heat": ([1.0, 2.0, 3.0, 4.0], 0.1), "swapped": (X,), "augmented": (1.5,), "methods": (X,), "in_order": (X,),
    "rotation": (0.3,), "outputs": (X,), "kinds": (X,), "copied": (X,), "numbers_of_math": (X,), "constants": (X,),
    "iterated": ([0.7, 3.1, -2.2],), "flipped": (X,), "checked": (X,), "tabled": (X,),
}  # fmt: skip


def weighed(result):
    shape = tuple(np.shape(result))
    return (result * np.cos(np.arange(1.0, np.prod(shape) + 1)).reshape(shape)).sum()


def number(function, inputs):
    return float(weighed(np.asarray(function(*[x.copy() if x.ndim else float(x) for x in inputs]))))


def differences(function, inputs):
    slopes = [np.zeros(x.shape) for x in inputs]
    for place, x in enumerate(inputs):
        for index in np.ndindex(x.shape):
            moved = [[y.copy() for y in inputs] for _ in range(2)]
            moved[0][place][index] += 1e-5
            moved[1][place][index] -= 1e-5
            slopes[place][index] = (number(function, moved[0]) - number(function, moved[1])) / 2e-5
    return slopes


@pytest.mark.parametrize("name", CASES)
def test_values_are_numpys_and_gradients_those_of_differences(name):
    function, inputs = getattr(arrays, name), [np.asarray(x, float) for x in CASES[name]]
    expected, slopes = number(function, inputs), differences(function, inputs)
    with pullback.numpy_programs(NAME):
        given = [pullback.tensor(x, requires_grad=True) for x in inputs]
        value = weighed(function(*given))
        gradients = pullback.autograd.grad(value, given)
    assert value.item() == pytest.approx(expected, rel=1e-12)
    for gradient, slope in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(gradient.numpy(), slope, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["heat", "swapped", "augmented", "rotation", "outputs", "kinds", "iterated"])
@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "compile", "compiled forward", "vmap"])
def test_under_transforms(name, transform):
    if transform.startswith("compile"):
        pytest.importorskip("llvmlite")
    if transform == "vmap" and name in ("outputs", "iterated"):
        pytest.skip("a mask, or a loop, that depends on values")
    if transform.startswith("compile") and name in ("outputs", "iterated"):
        pytest.skip("a mask, or a loop, that depends on values")
    program, (first, *others) = getattr(arrays, name), [np.asarray(x, float) for x in CASES[name]]
    x = pullback.tensor(first)

    def function(x):
        return weighed(program(x, *map(float, others)))

    with pullback.numpy_programs(NAME):
        expected = pullback.func.grad(function)(x).numpy()
        ways = {
            "jacrev": pullback.func.jacrev(function),
            "jacfwd": pullback.func.jacfwd(function),
            "compile": pullback.compile(pullback.func.grad(function)),
            "compiled forward": lambda x: pullback.autograd.grad(
                pullback.compile(function)(y := x.clone().requires_grad_()), y
            )[0],
            "vmap": lambda x: pullback.vmap(pullback.func.grad(function))(pullback.stack([x, x]))[1],
        }
        for _ in range(2):
            np.testing.assert_allclose(ways[transform](x).numpy(), expected, rtol=1e-12)


def test_the_block_inside_of_a_transform():
    def function(x):
        with pullback.numpy_programs(NAME):
            return arrays.heat(x, 0.1).sum()

    x = pullback.tensor([1.0, 2.0, 3.0, 4.0], dtype=pullback.float64)
    found = pullback.func.grad(function)(x)
    np.testing.assert_allclose(
        found.numpy(), differences(lambda x: arrays.heat(x, 0.1).sum(), [x.numpy()])[0] / math.cos(1)
    )


def untouched():
    assert arrays.np is np
    assert arrays.zeros is np.zeros
    assert arrays.math is math
    assert arrays.ndarray is np.ndarray
    assert "float" not in vars(arrays)
    assert type(arrays.made()[0]) is np.ndarray
    assert pullback.get_default_dtype() == pullback.float32
    assert pullback.ones(2, 2).max(0).values.shape == (2,)
    assert not any(type(finder).__module__.startswith("pullback") for finder in sys.meta_path)


def test_everything_is_undone():
    untouched()
    with pullback.numpy_programs(NAME):
        pass
    untouched()
    with pytest.raises(KeyError), pullback.numpy_programs(NAME):
        arrays.failing(1)
    untouched()
    with pytest.raises(KeyboardInterrupt), pullback.numpy_programs(NAME):
        raise KeyboardInterrupt
    untouched()
    with pullback.numpy_programs(NAME):
        with pullback.numpy_programs(NAME), pullback.numpy_programs("json"):
            assert isinstance(arrays.made()[0], pullback.Tensor)
        assert isinstance(arrays.made()[0], pullback.Tensor)
    untouched()


def test_as_a_decorator_also_of_generators():
    @pullback.numpy_programs(NAME)
    def made():
        return arrays.made()

    @pullback.numpy_programs(NAME)
    def several():
        yield arrays.made()[0]
        yield arrays.made()[0]

    assert isinstance(made()[0], pullback.Tensor)
    untouched()
    for each in several():
        assert isinstance(each, pullback.Tensor)
        untouched()


def test_new_arrays_of_floats_are_tensors_and_others_are_not():
    with pullback.numpy_programs(NAME):
        floats, integers, bools, line, listed = arrays.made()
    assert [type(each) for each in (floats, line, listed)] == [pullback.Tensor] * 3
    assert [type(each) for each in (integers, bools)] == [np.ndarray] * 2
    assert type(arrays.GRID) is np.ndarray


def test_memory_of_others_stays_an_array():
    memory = bytearray(16)
    with pullback.numpy_programs(NAME):
        assert type(arrays.from_buffer(memory)) is np.ndarray
    assert np.frombuffer(memory)[0] == 3


def test_the_block_belongs_to_the_thread():
    found = {}
    inside, leave = threading.Event(), threading.Event()

    def other():
        with pullback.numpy_programs(NAME):
            inside.set()
            leave.wait(10)
            found["other"] = arrays.made()[0]

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    assert type(arrays.made()[0]) is np.ndarray  # its modules are changed now, and here make arrays
    assert arrays.kinds(np.array(X)).shape == (3,)
    x = pullback.tensor(X)
    assert x.max(0).indices == 1
    assert pullback.get_default_dtype() == pullback.float32
    leave.set()
    thread.join()
    assert isinstance(found["other"], pullback.Tensor)
    untouched()


def test_what_functions_keep_for_later_calls_is_forgotten():
    with pullback.numpy_programs(NAME):
        assert isinstance(arrays.table(4), pullback.Tensor)
    assert type(arrays.table(4)) is np.ndarray


def test_blocks_of_two_threads_for_one_module_by_different_names():
    inside, leave, found = threading.Event(), threading.Event(), []

    def other():
        with pullback.numpy_programs(NAME):
            inside.set()
            leave.wait(10)
            found.append(arrays.made()[0])

    thread = threading.Thread(target=other)
    with pullback.numpy_programs(__package__):
        thread.start()
        inside.wait(10)
        assert isinstance(arrays.made()[0], pullback.Tensor)
    assert type(arrays.made()[0]) is np.ndarray
    leave.set()
    thread.join()
    assert isinstance(found[0], pullback.Tensor)  # its block has gone on
    untouched()


def test_modules_imported_inside():
    name = f"{__package__}.theirs.late"
    sys.modules.pop(name, None)
    with pullback.numpy_programs(f"{__package__}.theirs"):
        late = importlib.import_module(name)
        x = pullback.tensor(2.0, requires_grad=True, dtype=pullback.float64)
        late.weighed(x).sum().backward()
    assert x.grad.item() == 6
    assert type(late.WEIGHTS) is np.ndarray
    assert late.ones is np.ones
    untouched()


def test_modules_may_be_given_themselves_and_others_are_left_alone():
    with pullback.numpy_programs(arrays):
        assert isinstance(arrays.made()[0], pullback.Tensor)
        assert type(np.zeros(2)) is np.ndarray
        assert pullback.tensor([1.0, 2.0]).max(0).indices == 1  # a call from here has torch's result
        with pytest.raises(AttributeError, match="'no_such_method'"):
            pullback.tensor([1.0]).no_such_method()
        assert not hasattr(pullback.tensor(1.0), "conjugate")


def test_state_in_classes():
    holder = arrays.Holder(2)
    x = pullback.tensor([1.0, 2.0], requires_grad=True, dtype=pullback.float64)
    with pullback.numpy_programs(NAME):
        inner = arrays.Holder(2)
        inner.update(x).update(x * x)
        inner.state.sum().backward()
        with pytest.raises(RuntimeError, match="hold no gradients"):
            holder.update(x)  # its array was made outside
    np.testing.assert_allclose(x.grad.numpy(), 0.5 + 2 * x.detach().numpy())


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        ("vectorized", RuntimeError, "np.vectorize"),
        ("from_function", TypeError, "<lambda>"),
        ("converted", RuntimeError, '"%g" % x'),
        ("listed", RuntimeError, "x.tolist"),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(function, error, words):
    x = pullback.tensor(X, requires_grad=True)
    with pullback.numpy_programs(NAME), pytest.raises(error) as caught:
        getattr(arrays, function)(x)
    assert words in f"{caught.value} {getattr(caught.value, '__notes__', '')}"
    untouched()


def test_writes_into_arrays_from_outside_are_refused():
    x, out = pullback.tensor(X, requires_grad=True), np.zeros(3)
    with pullback.numpy_programs(NAME), pytest.raises(ValueError, match="array element") as caught:
        arrays.into(x, out)
    assert "out[0] = x[0]" in str(caught.value.__cause__)
    assert not out.any()


def test_errors_of_compiled_code_get_a_note():
    x = pullback.tensor(X, requires_grad=True)
    with pytest.raises(TypeError) as caught, pullback.numpy_programs(__name__):
        operator.concat(x, 3)
    assert "operator.concat at test_numpy_programs.py" in caught.value.__notes__[0]


@pytest.mark.parametrize(("packages", "error"), [((), ValueError), (("numpy",), ValueError), ((3,), TypeError), (("pullback.nn",), ValueError)])  # fmt: skip
def test_bad_names_are_refused(packages, error):
    with pytest.raises(error, match="numpy_programs"):
        pullback.numpy_programs(*packages)
    untouched()


def test_compiled_modules_of_a_package_keep_their_own_names():
    """Their code takes what NumPy's functions return for arrays unseen, so a tensor there would end the process."""
    compiled = pytest.importorskip("scipy.interpolate._interpnd")
    interpolate = importlib.import_module("scipy.interpolate")
    points = pullback.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=pullback.float64)
    values = pullback.ones(4, dtype=pullback.float64, requires_grad=True)
    before = {**vars(compiled)}
    with pullback.numpy_programs("scipy"):
        assert all(vars(compiled)[name] is value for name, value in before.items())
        with pytest.raises(RuntimeError, match="hold no gradients"):
            interpolate.LinearNDInterpolator(points.requires_grad_(), values)


@pytest.mark.skipif(not hasattr(sys, "_clear_type_cache"), reason="Python's table of methods cannot be cleared")
def test_the_refusal_that_compiled_code_went_on_from_is_what_is_raised():
    """SciPy's brentq does not look whether the result of its function is a number, and ends in an error of its own."""
    optimize = pytest.importorskip("scipy.optimize")
    x = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)

    def function(s):
        sys._clear_type_cache()  # Python looks methods up again, at which it loses the refusal of the call before
        return s**2 - x

    with pytest.raises(RuntimeError, match=r"^no_escapes: _zeros\._brentq at"), pullback.numpy_programs(NAME):
        optimize.brentq(function, 0.0, 3.0)


def test_an_error_after_a_refusal_that_was_caught_stays_what_it_is():
    optimize = pytest.importorskip("scipy.optimize")
    x = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)

    def called(function, argument):
        return function(argument)

    refused = []
    with pytest.raises(ValueError, match="different signs"), pullback.numpy_programs(NAME):
        for wanted in (math.exp, lambda _: optimize.brentq(lambda s: s**2 + 1, 0.0, 3.0)):
            try:
                called(wanted, x)
            except RuntimeError as error:
                refused.append(str(error))
    assert [text.partition(" ")[0] for text in refused] == ["no_escapes:"]


class Around(Signals):
    only = ("__enter__", "__exit__")


def test_an_interruption_while_it_is_entered_or_left_leaves_the_mode():
    for n in range(1, 100):
        way = Around(n)
        with contextlib.suppress(InterruptionError), way, pullback.numpy_programs(NAME):
            pass
        assert mode.get() is RECORD
        _entered.leave([*_entered.entered])  # where it came right before that
        if not way.came:
            break
    assert 5 < n < 99
