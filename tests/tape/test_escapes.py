"""no_escapes: what would lose a gradient is an error that names the value, the function and the line."""

import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

import pullback


def tracked():
    x = pullback.tensor([1.0, 2.0], requires_grad=True, dtype=pullback.float64)
    return x * 3


ESCAPES = {
    "float": lambda t: float(t[0]),
    "int": lambda t: int(t[0]),
    "complex": lambda t: complex(t[0]),
    "math": lambda t: math.sin(t[0]),
    "item": lambda t: t[0].item(),
    "tolist": lambda t: t.tolist(),
    "percent": lambda t: "%.3f" % t[0],  # noqa: UP031
    "tensor": pullback.tensor,
    "tensor of a list": lambda t: pullback.tensor([t[0], 0.0]),
    "as_tensor": lambda t: pullback.as_tensor([t[0], 0.0]),
    "old constructor": lambda t: pullback.Tensor([t[0], 0.0]),
    "new_tensor": lambda t: t.new_tensor(t),
    "pickle": pickle.dumps,
    "asarray": np.asarray,
    "array": lambda t: np.array([t[0], 0.0]),
    "numpy": lambda t: t.numpy(),
    "from_dlpack": np.from_dlpack,
    "float64": lambda t: np.float64(t[0]),
}
ALLOWED = {
    "detach": lambda t: float(t.detach()[0]),
    "data": lambda t: t.data.tolist(),
    "forced": lambda t: t.numpy(force=True),
    "bool": lambda t: bool(t[0]) and bool(t[0] > 1) and t[0] < 5,
    "format": lambda t: f"{t[0]:.3f} {t} {t[0]!r}",
    "questions": lambda t: (math.isnan(t[0]), math.isfinite(t[0]), math.isclose(t[0], 3), math.floor(t[0])),
    "index": lambda t: [1, 2, 3][t.argmax()],
    "shape": lambda t: (len(t), t.shape, t.ndim),
    "copy": copy.copy,
    "copy of a leaf": lambda t: copy.copy(pullback.ones(2, requires_grad=True)),
    "pickled leaf": lambda t: pickle.dumps(pullback.ones(2, requires_grad=True)),
    "steps, whose derivative is zero": lambda t: (int(t[0].floor()), int(t[0].round()), t[0].sign().item()),
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_escapes_are_errors_with_the_line_and_the_value(escape):
    t = tracked()
    with pullback.no_escapes(), pytest.raises(RuntimeError, match=r"would be lost|hold no gradients") as caught:
        escape(t)
    assert "tensor of shape" in str(caught.value)
    assert "test_escapes.py" in str(caught.value) or "copy.py" in str(caught.value)


@pytest.mark.parametrize("allowed", ALLOWED.values(), ids=ALLOWED)
def test_what_says_that_no_gradient_is_wanted_is_allowed(allowed):
    with pullback.no_escapes():
        allowed(tracked())


def test_the_message_names_the_function_both_lines_and_the_fix():
    t = tracked()
    with pullback.no_escapes(), pytest.raises(RuntimeError) as caught:
        math.sqrt(t[1])
    text = str(caught.value)
    for part in (
        "math.sqrt at test_escapes.py",
        "math.sqrt(t[1])",
        "conversion to a number",
        "pullback.sqrt for math.sqrt",
    ):
        assert part in text


def test_a_write_into_an_array_is_an_error_and_writes_nothing():
    t, a = tracked(), np.zeros(2)
    with pullback.no_escapes(), pytest.raises(ValueError, match="array element") as caught:
        a[0] = t[0]
    assert "no_escapes" in str(caught.value.__cause__)  # the error is NumPy's, which tells its cause
    assert "a[0] = t[0]" in str(caught.value.__cause__)
    with pullback.no_escapes(), pytest.raises(RuntimeError, match="a\\[:\\] = t"):
        a[:] = t
    with pullback.no_escapes(), pytest.raises(TypeError, match=r"numpy\.add"):
        a += t
    assert not a.any()


def test_constants_and_what_no_grad_computes_may_leave():
    with pullback.no_escapes():
        assert float(pullback.tensor(2.0) * 3) == 6
        with pullback.no_grad():
            assert tracked()[0].item() == 3
            assert pullback.ones((), requires_grad=True).item() == 1


@pytest.mark.parametrize("transform", [pullback.func.grad, pullback.func.jacrev, pullback.func.jacfwd])
def test_derivatives_of_transforms_do_not_escape_either(transform):
    x = pullback.tensor(2.0, dtype=pullback.float64)
    with pullback.no_escapes():
        with pytest.raises(RuntimeError, match="would be lost"):
            transform(lambda t: t * t.item())(x)
        with pytest.raises(RuntimeError, match="would be lost"):
            pullback.vmap(transform(lambda t: t * math.sin(t)))(pullback.ones(3, dtype=pullback.float64))
        assert transform(lambda t: t * t.detach().item())(x) == 2


def test_jvp_keeps_the_tangent():
    x = pullback.tensor(2.0)
    with pullback.no_escapes(), pytest.raises(RuntimeError, match="would be lost"):
        pullback.func.jvp(lambda t: t * float(t), (x,), (x,))


def test_the_mode_is_the_block_s_and_the_thread_s():
    t, found = tracked(), []
    with pullback.no_escapes():
        thread = threading.Thread(target=lambda: found.append(t[0].item()))
        thread.start()
        thread.join()
    assert found == [3.0]
    assert t[0].item() == 3

    @pullback.no_escapes
    def refused():
        return t[0].item()

    @pullback.no_escapes()
    def items():
        yield 1
        yield t[0].item()

    with pytest.raises(RuntimeError, match="no_escapes"):
        refused()
    made = items()
    assert next(made) == 1
    assert t[0].item() == 3  # between two items the mode is the caller's
    with pytest.raises(RuntimeError, match="no_escapes"):
        next(made)


def test_compiled_functions_are_recorded_for_each_mode():
    compiled = pullback.compile(lambda t: (t * t).sum())
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        with pullback.no_escapes():
            compiled(x).backward()
        compiled(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [12, 24])


@pytest.mark.parametrize(
    ("escape", "cause"), [(lambda t: math.sin(t[0]), "item"), (lambda t: t.tolist()[0], "tolist"), (float, "item")]
)
def test_why_names_the_line_of_an_escape(escape, cause):
    x = pullback.tensor([1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        number = escape(x * 2)
    reason = pullback.why(x, pullback.tensor(number) * 2)
    assert reason.cause == cause
    assert "test_escapes.py" in reason
    assert "number = escape(x * 2)" in reason or "ESCAPES" in reason or "lambda t" in reason


def test_why_names_the_line_of_a_write_into_an_array():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    out = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out[0] = x[0] * x[1]
    assert "out[0] = x[0] * x[1]" in pullback.why(x, pullback.tensor(out).sum())
