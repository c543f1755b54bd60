"""Situations that people have reported of other libraries, in small: what torch answers, what pullback says, and the way out.

Each is named by the thread that tells of it, so that it can be read there; the programs are new ones.
"""

import inspect

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.autograd.anomaly_mode import AnomalyError

from .tensors import leaf

inf, nan = float("inf"), float("nan")


def here(program):
    """The line of a program that is marked so."""
    return next(line.strip() for line in inspect.getsource(program).splitlines() if line.endswith("# HERE"))


# A mask that comes too late: the gradient of what it deselects is 0 times inf, or 0 times nan.

MASKED = []


def masked(expected, *values):
    """A program whose mask comes too late, with the gradient that is wanted; `late` says which of two ways it goes."""

    def register(program):
        MASKED.append(pytest.param(program, values, expected, id=program.__name__))
        return program

    return register


@masked([0.25, -1.0], 4.0, -9.0)
def pytorch_52248(x, late):
    """A fallback where the usual function has no value."""
    if late:
        root = x.sqrt()  # HERE
        return pullback.where(root.detach().isfinite(), root, -x).sum()
    return pullback.where(x.detach() >= 0, pullback.sqrt, lambda t: -t, x).sum()


@masked([1.0], 200.0)
def pytorch_68425(x, late):
    """One number, and the exponential that was not taken overflows."""
    if late:
        power = x.exp()  # HERE
        return pullback.where(x.detach() <= 0, power, x + 1).sum()
    return pullback.where(x.detach() <= 0, pullback.exp, lambda t: t + 1, x).sum()


@masked([-np.sin(0.5), 0.0], 0.5, inf)
def pytorch_18287(x, late):
    """Infinity, where the function that is not taken has no value."""
    if late:
        wave = x.cos()  # HERE
        return pullback.where(x.detach() < 3, wave, 0.0).sum()
    return pullback.where(x.detach() < 3, pullback.cos, lambda t: 0 * t.clamp(-1, 1), x).sum()


@masked([2.0, 2.0, 1 / (8 * np.log(2))], 0.0, 1.0, 8.0)
def pytorch_108618(x, late):
    """A logarithm that is masked at its pole."""
    if late:
        bits = x.log2()  # HERE
        return pullback.where(x.detach() > 2, bits, 2 * x).sum()
    return pullback.where(x.detach() > 2, pullback.log2, lambda t: 2 * t, x).sum()


@masked([1 / (1 + np.exp(-1.0)), 0.0], 1.0, 200.0)
def pytorch_17455(x, late):
    """A value that overflows on its way is overwritten."""
    if late:
        power = x.exp()  # HERE
        f = (power + 1).log()
        f[1] = 0.0
        return f.sum()
    return pullback.where(x.detach() < 50, lambda t: (t.exp() + 1).log(), lambda t: 0 * t, x).sum()


@masked([2.0, 0.0], 3.0, 5.0)
def pytorch_89543(x, late):
    """A squared error that leaves out what was not measured."""
    measured = pullback.tensor([2.0, nan])
    if late:
        square = (x - measured) ** 2  # HERE
        return pullback.where(measured.isnan(), 0.0, square).sum()
    return pullback.where(measured.isnan(), lambda t, y: 0 * t, lambda t, y: (t - y) ** 2, x, measured).sum()


@masked([1 / 8, 0.5], 16.0, 0.0)
def pytorch_23395(x, late):
    """A root with another formula at zero."""
    if late:
        root = x.sqrt()  # HERE
        return pullback.where(x.detach() == 0, x / 2, root + 1).sum()
    return pullback.where(x.detach() == 0, lambda t: t / 2, lambda t: t.sqrt() + 1, x).sum()


@masked([np.exp(1.0), 0.0, 0.0], 1.0, nan, 1e10)
def pytorch_156212(x, late):
    """A bound on an exponential, and a value that is missing."""
    if late:
        power = x.exp()  # HERE
        return pullback.where(x.detach() <= 10, power, 1.0).sum()
    return pullback.where(x.detach() <= 10, pullback.exp, pullback.ones_like, x).sum()


@masked([2.0, 0.0], 3.0, 5.0)
def pytorch_64305(x, late):
    """Outputs without a target are left out by an index, after the loss was computed."""
    target = pullback.tensor([2.0, nan])
    given = ~target.isnan()
    if late:
        square = (x - target).square()  # HERE
        return square[given].sum()
    return (x[given] - target[given]).square().sum()


@masked([0.0, 0.2, 0.0], 0.0, 5.0, -1.0)
def a_root_under_a_product_with_a_mask(x, late):
    """The same, with a product for a mask."""
    if late:
        log = x.log()  # HERE
        return (log * (x.detach() > 0)).nan_to_num(0.0, 0.0, 0.0).sum()
    return pullback.where(x.detach() > 0, pullback.log, lambda t: 0 * t, x).sum()


@pytest.mark.parametrize(("program", "values", "expected"), MASKED)
def test_a_mask_that_comes_too_late(program, values, expected):
    wanted = np.float32(expected)
    x = leaf(*values)
    loss = program(x, late=True)
    loss.backward(retain_graph=True)
    spoiled = ~np.isfinite(x.grad.numpy())
    assert spoiled.any()  # torch's answer
    np.testing.assert_allclose(x.grad.numpy()[~spoiled], wanted[~spoiled], rtol=1e-6)
    reason = pullback.why(x, loss)
    assert reason.cause in {"nan", "inf"}
    assert reason.site.endswith(here(program)), reason
    x = leaf(*values)
    with pytest.raises(AnomalyError) as caught, pullback.detect_anomaly():
        program(x, late=True).backward()
    assert caught.value.site.endswith(here(program)), caught.value
    assert x.grad is None
    x = leaf(*values)
    with pullback.detect_anomaly():
        program(x, late=False).backward()
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-6)


# Where a number that is not finite began, in the exception itself.


def alarm(program, **options):
    with pytest.raises(AnomalyError) as caught, pullback.detect_anomaly(**options):
        program()
    assert caught.value.site.endswith("# HERE"), caught.value
    assert caught.value.site in str(caught.value)
    return caught.value


def test_pytorch_160016_the_right_root_is_blamed_and_a_loss_that_is_nan_raises():
    a, b = leaf(0.0), leaf(4.0)

    def two():
        first = a.sqrt()  # HERE
        second = b.sqrt()
        (first + second).backward()

    def silent():
        loss = (b - 9).sqrt()  # HERE
        loss.sum().backward()

    assert alarm(two).factor == inf
    assert np.isnan(alarm(silent).value)
    assert a.grad is None and b.grad is None


def test_pytorch_160016_inf_is_an_alarm_that_can_be_switched():
    x = leaf(0.0)

    def program():
        (1 / x).sum().backward()  # HERE

    assert alarm(program, policy="inf").value == inf
    with pullback.detect_anomaly(policy="nan"):
        program()
    assert x.grad.tolist() == [-inf]


def test_pytorch_43405_in_a_second_derivative_the_line_is_that_of_the_forward_pass():
    x, y = leaf(0.4), leaf(0.0)

    def program():
        z = (x / y).exp().reciprocal()  # HERE
        (slope,) = pullback.autograd.grad(z.sum(), y, create_graph=True)
        slope.sum().backward()

    assert alarm(program, policy="nan").phase == "backward"


def test_pytorch_86362_the_line_is_found_deep_inside_a_model():
    class Distance(nn.Module):
        def forward(self, x):
            return (x - x.detach()).square().sqrt()  # HERE

    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(Distance()), nn.Linear(2, 1))

    def step():
        model(pullback.ones(4, 2)).sum().backward()

    assert alarm(step).operation == "sqrt"


def test_pytorch_1274_a_nan_that_is_made_of_an_inf_raises_at_the_first_of_them():
    def program():
        x = pullback.ones(2) / 0  # HERE
        (x * 0).sum()

    assert alarm(program).operation == "div"


def test_jax_25701_a_value_may_be_fine_where_its_gradient_is_not():
    x = leaf(0.0, 1.0)

    def program():
        length = x[:1].square().sum().sqrt()  # HERE
        (length + x.sum()).backward()

    error = alarm(program)
    assert (error.phase, error.operation, error.factor) == ("backward", "sqrt", inf)


def test_jax_5698_and_13600_what_reaches_no_result_is_no_alarm():
    x = leaf(0.0, 3.0)
    with pullback.detect_anomaly():
        pullback.where(x > 0, lambda t: 1 / t, lambda t: 0 * t, x).sum().backward()
        pullback.maximum(x.detach().log(), pullback.zeros(2)).sum()
    np.testing.assert_allclose(x.grad.numpy(), [0, -1 / 9], rtol=1e-6)


# A gradient that is missing.


def test_tbd_nets_8_recording_was_switched_off_elsewhere_and_never_on_again():
    model = nn.Linear(2, 1)
    pullback.set_grad_enabled(False)
    try:
        loss = model(pullback.ones(3, 2)).sum()  # HERE
    finally:
        pullback.set_grad_enabled(True)
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn") as caught:
        loss.backward()
    assert "# HERE" in str(caught.value)
    assert pullback.why(model.weight, loss).cause == "no_grad"


def test_arcface_56_a_flag_on_the_loss_hides_the_cut():
    """The advice of many answers: then backward runs, and the model learns nothing."""
    model = nn.Linear(2, 3)
    labels = model(pullback.ones(4, 2)).argmax(1)  # HERE
    loss = (labels.float() - 1).square().mean()
    loss.requires_grad_()
    loss.backward()
    assert model.weight.grad is None
    reason = pullback.why(model.weight, loss)
    assert reason.cause == "argmax"
    assert reason.site.endswith("# HERE")


def test_pytorch_34535_a_target_network_and_a_rebuilt_tensor():
    """Value learning: the values are taken out of the graph on the way into the loss."""
    network, target = nn.Linear(3, 2), nn.Linear(3, 2)
    states = pullback.ones(5, 3)
    with pullback.no_grad():
        wanted = target(states).max(1).values
    taken = pullback.tensor([row.max().item() for row in network(states)])  # HERE
    loss = (taken - wanted).square().mean()
    with pytest.raises(RuntimeError, match="does not require grad"):
        loss.backward()
    reason = pullback.why(network.weight, loss)
    assert (reason.cause, reason.site[-6:]) == ("item", "# HERE")
    assert pullback.why(target.weight, loss).cause == "no_grad"


def test_people_flows_7_nothing_that_the_loss_is_made_of_was_asked_to_require_grad():
    weights = pullback.ones(2)
    loss = (weights * pullback.tensor([3.0, 4.0])).sum()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        loss.backward()
    assert pullback.why(weights, loss).cause == "requires_grad"


def test_pytorch_50138_a_hessian_by_a_weight_that_the_function_does_not_take():
    weight = leaf(2.0)
    with pytest.raises(RuntimeError, match=r"Output 0 .* does not require gradients"):
        pullback.autograd.functional.hessian(lambda t: (weight.detach() ** 2).sum(), leaf(1.0), strict=True)


@pytest.mark.parametrize("thread", ["i_bau_2", "hypertorch_3", "melu_4"])
def test_a_parameter_that_the_loss_does_not_use_is_told_with_its_place(thread):
    model = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    skips = {"i_bau_2": 1, "hypertorch_3": 0, "melu_4": 1}[thread]
    loss = model[1 - skips](pullback.ones(3, 2)).square().sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as caught:
        pullback.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    assert f"at index {2 * skips} " in str(caught.value)
    found = pullback.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    assert [g is None for g in found] == [place // 2 == skips for place in range(4)]
    assert pullback.why(model[skips].weight, loss).cause == "unused"


def test_boxdiff_20_what_was_computed_of_it_was_not_recorded():
    """An image is moved along the gradient of attention maps, which a hook has stored under no_grad."""
    image = leaf(1.0, 2.0)
    with pullback.no_grad():
        attention = image.softmax(0)  # HERE
    loss = (attention * leaf(3.0, 4.0)).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as caught:
        pullback.autograd.grad(loss, image)
    assert "under no_grad at" in str(caught.value)
    assert "# HERE" in str(caught.value)


def test_tensorflow_783_the_derivative_of_what_does_not_depend_on_it_may_be_zero():
    x, other = leaf(1.0, 2.0), leaf(5.0)
    (zero,) = pullback.autograd.grad(other.sum(), x, materialize_grads=True)
    assert zero.tolist() == [0, 0]
