"""detect_anomaly, set_detect_anomaly: the same programs raise in backward, with the same words, and leave the same."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity, raises  # noqa: E402

NANS = [
    ("SqrtBackward0", lambda t, x: t.where(x > 0, x.sqrt(), t.zeros(2))),
    ("SqrtBackward0", lambda t, x: x.sqrt() * t.tensor([0.0, 1.0])),
    ("LogBackward0", lambda t, x: t.where(x > 0, x.log(), t.zeros(2))),
    ("PowBackward0", lambda t, x: (x**0.5) * (x > 0)),
    ("ReciprocalBackward0", lambda t, x: x.reciprocal().masked_fill(x == 0, 0.0)),
    ("AcosBackward0", lambda t, x: t.where(x < 0, (x + 1).acos(), t.zeros(2))),
    ("RsqrtBackward0", lambda t, x: x.rsqrt().masked_fill(x == 0, 0.0)),
    ("AtanhBackward0", lambda t, x: (1 - x).atanh().masked_fill(x == 0, 0.0)[:1]),
]


@pytest.mark.parametrize(("title", "program"), NANS, ids=[f"{title}-{n}" for n, (title, _) in enumerate(NANS)])
@parity
def test_nan_is_an_error_in_the_function_that_returned_it(t, title, program):
    x = leaf(t, 0, 1)
    with t.autograd.detect_anomaly():
        y = program(t, x).sum()
        wording = f"Function '{title}' returned nan values in its 0th output."
        raises(RuntimeError, wording, y.backward)
    return x.grad, y


@parity
def test_a_graph_recorded_before(t):
    x = leaf(t, 0, 1)
    y = t.where(x > 0, x.sqrt(), t.zeros(2)).sum()
    with t.autograd.detect_anomaly():
        raises(RuntimeError, "Function 'SqrtBackward0' returned nan values in its 0th output.", y.backward)
    y = t.where(x > 0, x.sqrt(), t.zeros(2)).sum()
    y.backward()
    return x.grad


@parity
def test_an_output_that_is_not_the_first(t):
    w = leaf(t, 0, 1)
    with t.autograd.detect_anomaly():
        y = t.where(w != 0, t.ones(2) / w, t.zeros(2)).sum()
        raises(RuntimeError, "Function 'DivBackward0' returned nan values in its 1th output.", y.backward)
    return w.grad


@parity
def test_finite_programs_are_left_alone(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    with t.autograd.detect_anomaly():
        y = ((x * w).tanh() + x.exp() / w).sum()
        y.backward(retain_graph=True)
        (g,) = t.autograd.grad(y, x, create_graph=True)
        g.sum().backward()
    return y, x.grad, w.grad, g


@parity
def test_check_nan_off(t):
    x = leaf(t, 0, 1)
    with t.autograd.detect_anomaly(check_nan=False):
        t.where(x > 0, x.sqrt(), t.zeros(2)).sum().backward()
        inside = t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()
    return x.grad, inside, t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()


@parity
def test_the_mode_is_set_and_reset(t):
    seen = [t.is_anomaly_enabled()]
    t.autograd.set_detect_anomaly(True)
    seen.append(t.is_anomaly_enabled())
    with t.autograd.set_detect_anomaly(False):
        seen.append(t.is_anomaly_enabled())
        with t.autograd.detect_anomaly():
            seen.append(t.is_anomaly_enabled())
        seen.append(t.is_anomaly_enabled())
    seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
    with t.autograd.set_detect_anomaly(True, check_nan=False):
        seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
    seen.append((t.is_anomaly_enabled(), t.is_anomaly_check_nan_enabled()))
    t.autograd.set_detect_anomaly(False)
    seen.append(t.is_anomaly_enabled())
    return seen


@parity
def test_nan_in_a_function_of_the_user(t):
    class Broken(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    x = leaf(t, 1)
    with t.autograd.detect_anomaly():
        y = Broken.apply(x).sum()
        raises(RuntimeError, "Function 'BrokenBackward' returned nan values in its 0th output.", y.backward)
    return x.grad


@parity
def test_it_is_found_under_torchs_names(t):
    import importlib

    module = importlib.import_module(f"{t.__name__}.autograd.anomaly_mode")
    return (
        module.detect_anomaly is t.autograd.detect_anomaly,
        module.set_detect_anomaly is t.autograd.set_detect_anomaly,
    )
