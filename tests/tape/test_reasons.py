"""Why a gradient is missing, zero or NaN: programs with a mistake, and the line on which `why` must put its finger.

The line is marked with the comment `# HERE`: a site is the text of its line.
"""

import copy
import gc
import inspect
import weakref

import numpy as np
import pytest

import pullback
from pullback import nn


def leaf(*values):
    return pullback.tensor(list(values) or [1.0, 2.0], requires_grad=True)


MISTAKES = []


def mistake(cause, *words):
    """A program with a mistake: it returns x and loss, and has called backward if it can."""

    def register(program):
        MISTAKES.append(pytest.param(program, cause, words, id=program.__name__))
        return program

    return register


@mistake("detach", "cut off by detach()")
def detached():
    x, w = leaf(), leaf()
    loss = (
        x.detach() * w  # HERE
    ).sum()
    loss.backward()
    return x, loss


@mistake("detach")
def detached_after_a_few_operations_that_are_gone():
    x, w = leaf(), leaf()
    h = ((x * 2).exp() + 1).detach() + w  # HERE
    loss = h.sum()
    loss.backward()
    return x, loss


@mistake("detach")
def detached_in_place():
    x, w = leaf(), leaf()
    h = x * 2
    h.detach_()  # HERE
    loss = (h * w).sum()
    loss.backward()
    return x, loss


@mistake("data", ".data")
def taken_by_data():
    x, w = leaf(), leaf()
    h = x.data * 3  # HERE
    loss = (h * w).sum()
    loss.backward()
    return x, loss


@mistake("tensor", "copied by pullback.tensor")
def copied_by_tensor():
    x, w = leaf(), leaf()
    with pytest.warns(UserWarning, match="copy construct"):
        h = pullback.tensor(x)  # HERE
    loss = (h * w).sum()
    loss.backward()
    return x, loss


@mistake("no_grad", "under no_grad")
def computed_under_no_grad():
    x, w = leaf(), leaf()
    with pullback.no_grad():
        h = x.exp()  # HERE
    loss = (h * w).sum()
    loss.backward()
    return x, loss


@mistake("inference_mode", "under inference_mode")
def computed_in_inference_mode():
    x = leaf()
    with pullback.inference_mode():
        h = x.exp()  # HERE
    return x, (h.clone() + 1).sum()


@mistake("astype", "integer or bool")
def cast_to_integers():
    x, w = leaf(), leaf()
    h = (x * 10).long()  # HERE
    loss = (h * w).sum()
    loss.backward()
    return x, loss


@mistake("zero factor", "sign at", "its derivative is 0 everywhere")
def through_a_step():
    x, w = leaf(), leaf()
    loss = (x.sign() * w).sum()  # HERE
    loss.backward()
    return x, loss


@mistake("greater", "greater")
def through_a_comparison():
    x, w = leaf(), leaf()
    hits = (x > 1.5).float()  # HERE
    loss = (hits * w).mean()
    loss.backward()
    return x, loss


@mistake("numpy", "NumPy")
def copied_through_numpy():
    x, w = leaf(), leaf()
    values = np.tanh(x.numpy(force=True))  # HERE
    loss = (pullback.from_numpy(values) * w).sum()
    loss.backward()
    return x, loss


@mistake("item", "Python number")
def rebuilt_from_numbers():
    x, w = leaf(), leaf()
    total = sum(value.item() for value in x)  # HERE
    loss = (w * total).sum()
    loss.backward()
    return x, loss


@mistake("unused", "no operation that leads to loss used x")
def never_used():
    x, w = leaf(), leaf()
    loss = (w * 2).sum()
    loss.backward()
    return x, loss


@mistake("requires_grad", "does not require grad")
def not_asked_for():
    x, w = pullback.ones(2), leaf()
    loss = (x * w).sum()
    loss.backward()
    return x, loss


@mistake("requires_grad", "switched off")
def switched_off():
    x, w = leaf(), leaf()
    x.requires_grad_(False)
    loss = (x * w).sum()
    loss.backward()
    return x, loss


@mistake("constant", "constants only")
def loss_of_constants():
    return leaf(), pullback.ones(2).sum()


@mistake("not a leaf", "retain_grad()")
def not_a_leaf():
    h = leaf() * 2  # HERE
    loss = h.sum()
    loss.backward()
    return h, loss


@mistake("not a leaf", "made by")
def moved_when_it_was_made():
    x = pullback.ones(2, requires_grad=True, dtype=pullback.float32).to(pullback.float64)  # HERE
    loss = x.sum()
    loss.backward()
    return x, loss


@mistake("backward not run", "Call loss.backward()")
def never_run():
    x = leaf()
    return x, (x * x).sum()


@mistake("cleared", "zero_grad")
def cleared_by_the_optimizer():
    x = leaf()
    loss = (x * x).sum()
    loss.backward()  # HERE
    pullback.optim.SGD([x], lr=0.1).zero_grad()
    return x, loss


@mistake("cleared", "autograd.grad")
def asked_by_grad():
    x = leaf()
    loss = (x * x).sum()
    pullback.autograd.grad(loss, x)  # HERE
    return x, loss


@mistake("cleared", "retain_grad() was called after")
def retained_too_late():
    x = leaf()
    h = x * x
    loss = (h * h).sum()
    loss.backward()  # HERE
    h.retain_grad()
    return h, loss


@mistake("freed", "needed again for exp")
def freed_by_another_pass():
    x = leaf()
    h = x.exp()
    (h * h).sum().backward()  # HERE
    x.grad = None
    return x, (h * 3).square().sum()


@mistake("made later", "tensor that had the name before")
def parameter_bound_to_a_new_tensor():
    w = leaf()
    loss = (w * w).sum()
    loss.backward()
    w = w - 0.1 * w.grad  # HERE
    return w, loss


@mistake("no_grad", "under no_grad")
def parameter_bound_under_no_grad():
    w = leaf()
    (w * w).sum().backward()
    with pullback.no_grad():
        w = w - 0.1 * w.grad  # HERE
    return w, (w * w).sum()


@mistake("made later", "began to require grad")
def parameter_made_again():
    w = leaf()
    loss = (w * w).sum()
    loss.backward()
    w = pullback.ones(2, requires_grad=True)  # HERE
    return w, loss


@mistake("made later", "began to require grad")
def flag_set_after_the_loss():
    x, w = pullback.ones(2), leaf()
    loss = (x * w).sum()
    x.requires_grad_()  # HERE
    loss.backward()
    return x, loss


@mistake("another leaf", "Parameter")
def wrapped_in_a_parameter():
    x = leaf()
    w = nn.Parameter(x)  # HERE
    loss = (w * w).sum()
    loss.backward()
    return x, loss


@mistake("unused")
def copied_model():
    model = nn.Linear(2, 1)
    other = copy.deepcopy(model)
    loss = other(pullback.ones(3, 2)).sum()
    loss.backward()
    return model.weight, loss


@mistake("zero factor", "relu is not positive", "input")
def dead_relu():
    x = leaf(-1.0, -2.0)
    loss = (x * 3).relu().sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("zero factor", "the other factor is 0")
def product_with_zero():
    x, gate = leaf(), pullback.zeros(2)
    loss = (x * gate).exp().sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("zero factor", "outside the bounds")
def clamped():
    x = leaf(5.0, 7.0)
    loss = x.clamp(0, 1).sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("zero factor", "at 1 of 2 elements, the first (0,)", "another element")
def not_the_maximum():
    x = leaf(1.0, 2.0)
    loss = x.max(0).values * 2  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("zero factor", "selects the other branch")
def branch_not_taken():
    x = leaf()
    loss = pullback.where(x.detach() > 5, x, 0.0).sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("zero factor", "overwritten")
def overwritten():
    x = leaf()
    h = x * 2
    h[:] = 0.0  # HERE
    h.sum().backward(retain_graph=True)
    return x, h.sum()


@mistake("zero factor", "relu at", "retain_graph=True")
def dead_relu_in_a_graph_that_is_gone():
    x = leaf(-1.0, -2.0)
    loss = (x * 3).relu().sum()  # HERE
    loss.backward()
    return x, loss


@mistake("cancelled", "add up to zero")
def cancelled():
    x = leaf()
    loss = (x - x).sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("nan", "sqrt at", "× local factor inf", "'input'", "pullback.where(condition, f, g, x)")
def masked_root():
    x = leaf(0.0, 4.0)
    root = x.sqrt()  # HERE
    loss = pullback.where(x.detach() > 0, root, 0.0).sum()
    loss.backward(retain_graph=True)
    return x, loss


@mistake("inf", "sqrt at", "local factor inf", "the first (0,)")
def root_of_zero():
    x = leaf(0.0, 4.0)
    loss = (3 * x.sqrt()).sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("nan", "the derivative of mul at", "It was there before: b is nan in the forward pass")
def nan_from_the_forward_pass():
    x = leaf(1.0, 2.0)
    scale = pullback.tensor([1.0, -1.0]).log()
    loss = (x * scale).sum()  # HERE
    loss.backward(retain_graph=True)
    return x, loss


@mistake("stale", "earlier pass")
def left_by_an_earlier_pass():
    x = leaf(0.0, 4.0)
    (x.sqrt() * 0).sum().backward()
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    return x, loss


@mistake("nothing wrong", "Nothing is wrong")
def nothing():
    x = leaf()
    loss = (x * x).sum()
    loss.backward()
    return x, loss


@pytest.mark.parametrize(("program", "cause", "words"), MISTAKES)
def test_mistakes(program, cause, words):
    x, loss = program()
    reason = pullback.why(x, loss)
    assert reason.cause == cause, reason
    for text in words:
        assert text in reason
    if "# HERE" in inspect.getsource(program):
        assert reason.site.endswith("# HERE"), reason
        assert reason.site in reason
    else:
        assert reason.site is None, reason


# The programs of those who asked elsewhere: a gradient that is None, zero or NaN, and nothing that said why.


def test_a_captured_weight_says_that_its_graph_was_left():
    """A Hessian by a weight that the function does not take as an argument: silent zeros in torch."""
    w = leaf()
    f = lambda t: (t * w.detach()).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as caught:
        pullback.autograd.grad(f(leaf()), w)
    assert "was cut off by detach() at test_reasons.py" in str(caught.value)


def test_targets_of_a_discriminator():
    """A generator trained through a detached output: none of its weights moves."""
    generator, discriminator = nn.Linear(2, 2), nn.Linear(2, 1)
    fake = generator(pullback.ones(4, 2)).detach()  # HERE
    loss = discriminator(fake).mean()
    loss.backward()
    for weight in generator.parameters():
        reason = pullback.why(weight, loss)
        assert (reason.cause, reason.site[-6:]) == ("detach", "# HERE")
    for weight in discriminator.parameters():
        assert pullback.why(weight, loss).cause == "nothing wrong"


def test_a_prediction_by_argmax():
    model = nn.Linear(2, 3)
    chosen = model(pullback.ones(4, 2)).argmax(1)  # HERE
    loss = (chosen.float() - 1).square().mean()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn") as caught:
        loss.backward()
    assert "argmax at test_reasons.py" in str(caught.value)
    reason = pullback.why(model.weight, loss)
    assert (reason.cause, reason.site[-6:]) == ("argmax", "# HERE")


def test_a_branch_of_a_model_that_was_frozen():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].requires_grad_(False)
    loss = model(pullback.ones(3, 2)).sum()
    loss.backward()
    assert pullback.why(model[0].weight, loss).cause == "requires_grad"


def test_an_update_under_no_grad_is_not_taken_for_a_cut():
    w, unused, once = leaf(), leaf(), leaf()
    with pullback.no_grad():
        unused -= 0.1 * unused
        unused.mul_(2.0).add_(unused)
        once -= 0.1 * once
    loss = w.sum()
    loss.backward()
    assert pullback.why(unused, loss).cause == pullback.why(once, loss).cause == "unused"


def test_printing_is_not_taken_for_the_cut():
    x, w = leaf(), leaf()
    h = x.detach()  # HERE
    str(x.tolist()), x.sum().item(), x.numpy(force=True)
    loss = (h * w).sum()
    loss.backward()
    reason = pullback.why(x, loss)
    assert (reason.cause, reason.site[-6:]) == ("detach", "# HERE")


def test_norm_of_a_difference_that_is_zero():
    x = leaf(1.0, 1.0)
    distance = (x - x.detach()).square().sum().sqrt()  # HERE
    distance.backward(retain_graph=True)
    reason = pullback.why(x, distance)
    assert reason.cause == "nan"
    assert "incoming gradient 1 × local factor inf = inf" in reason
    assert "norm, whose gradient is 0 there" in reason
    assert reason.site.endswith("# HERE")


def test_where_with_the_branch_that_overflows():
    """where(x > 80, x, log(1 + exp(x))): finite forward, NaN backward."""
    x = leaf(1.0, 800.0)
    y = x.exp().log1p()  # HERE
    loss = pullback.where(x.detach() > 80, x, y).sum()
    loss.backward(retain_graph=True)
    reason = pullback.why(x, loss)
    assert reason.cause == "nan"
    assert "at 1 of 2 elements, the first (1,)" in reason
    assert reason.site.endswith("# HERE")


def test_why_changes_nothing():
    x = leaf(0.0, 4.0)
    loss = (x.sqrt() * 0).sum()
    loss.backward(retain_graph=True)
    before = x.grad
    values = x.grad.tolist()
    pullback.why(x, loss)
    assert x.grad is before
    assert np.array_equal(x.grad.tolist(), values, equal_nan=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_gradient_for_a_loss_of_several_elements():
    x = leaf()
    y = x * 3
    y.backward([0.0, 1.0], retain_graph=True)
    assert "at 1 of 2 elements, the first (0,)" in pullback.why(x, y, gradient=[0.0, 1.0])
    assert pullback.why(x, y, gradient=[0.0, 1.0]).cause == "zero gradient"


def test_an_optimizer_of_other_tensors():
    model = nn.Linear(2, 1)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.1)
    assert pullback.why(model.weight, model(pullback.ones(1, 2)).sum(), optimizer=optimizer).cause == "backward not run"
    model.weight = nn.Parameter(pullback.ones(1, 2))  # HERE
    loss = model(pullback.ones(1, 2)).sum()
    loss.backward()
    reason = pullback.why(model.weight, loss, optimizer=optimizer)
    assert (reason.cause, reason.site[-6:]) == ("other optimizer", "# HERE")
    assert "holds 2 tensors, among them one of the same shape" in reason


def test_a_reason_is_text_with_two_fields():
    x = leaf()
    reason = pullback.why(x, x.sum())
    assert isinstance(reason, str)
    assert str(reason).startswith("x.grad is None: ")
    assert (reason.cause, reason.site) == ("backward not run", None)


class Counter:
    """An object with a weight, as a program may keep it."""

    def __init__(self):
        self.rate = leaf()

    def asked(self, total):
        return pullback.why(self.rate, total)


def in_a_loop(model, total):
    reason = ""
    for p in model.parameters():
        reason = reason or pullback.why(p, total)
    return reason


def under_a_keyword(given, total):
    return pullback.why(x=given["w"], loss=total)


MODEL, COUNTER, GIVEN, OTHERS = nn.Linear(2, 1), Counter(), {"w": leaf()}, [leaf(), pullback.ones(2)]

NAMES = [
    (lambda total: pullback.why(OTHERS[0], total), "OTHERS[0]"),
    (lambda total: pullback.why(OTHERS[1], total), "OTHERS[1]"),
    (COUNTER.asked, "self.rate"),
    (lambda total: in_a_loop(MODEL, total), "model.weight"),
    (lambda total: under_a_keyword(GIVEN, total), "given['w']"),
    (lambda total: pullback.why(leaf(), total), "x"),
]


@pytest.mark.parametrize(("ask", "name"), NAMES, ids=[name for _, name in NAMES])
def test_reasons_use_the_names_of_the_program(ask, name):
    base = leaf()
    reason = ask((base * 2).sum())
    assert reason.startswith(f"{name}.grad is None: ")
    if reason.cause == "unused":
        assert f"no operation that leads to total used {name}. " in reason
    assert "loss" not in reason.partition("unless")[0] or name == "x"


def test_every_sentence_of_a_reason_has_the_names_of_the_program():
    w2, rate = leaf(), leaf()
    total = (w2 * 2).sum()
    assert "no pass has run from total, or w2.grad was set to None since. Call total.backward()" in pullback.why(
        w2, total
    )
    assert pullback.why(total, total * 2).endswith("Call total.retain_grad() before backward.")
    assert pullback.why(rate, total).count("rate") == 2
    assert "depends on are w2 of shape (2,) from" in pullback.why(rate, total)
    total.backward()
    assert pullback.why(w2, total) == "Nothing is wrong with w2.grad: it is finite, and nowhere zero."
    rate.grad = pullback.ones(2)
    assert pullback.why(rate, total).startswith("rate.grad was not written by a pass from total: ")
    optimizer = pullback.optim.SGD([rate], lr=0.1)
    text = "w2 is not changed by step(): the optimizer holds 1 tensor, among them rate of the same shape from"
    assert pullback.why(w2, total, optimizer=optimizer).startswith(text)


@pytest.mark.parametrize("arguments", [(1.0, leaf()), (leaf(), 1.0), (np.ones(2), leaf())])
def test_only_tensors_have_reasons(arguments):
    with pytest.raises(TypeError, match="must be Tensor, not"):
        pullback.why(*arguments)


def test_what_is_remembered_of_a_cut_keeps_nothing_alive():
    x = leaf()
    h = x.exp()
    gone = weakref.ref(h.grad_fn)
    values = h.detach()
    del h
    gc.collect()
    assert gone() is None
    assert values.tolist() == x.exp().tolist()


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (lambda x: x.detach(), "was cut off by detach() at test_reasons.py"),
        (lambda x: x.data, "was cut off by .data at test_reasons.py"),
        (lambda x: x.long().double(), "went through a conversion to an integer or bool dtype at test_reasons.py"),
        (lambda x: pullback.ones(2), "no operation that leads to loss used x"),
    ],
)
def test_unused_inputs_are_reported_with_the_cut(cut, words):
    x, w = leaf(), leaf()
    loss = (cut(x) * w).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph") as caught:
        pullback.autograd.grad(loss, x)
    assert words in str(caught.value)


def test_an_input_that_was_cut_off_itself():
    x = leaf()
    h = (x * 2).detach()  # HERE
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad") as caught:
        pullback.autograd.grad(x.sum(), h)
    assert "It was cut off by detach() at test_reasons.py" in str(caught.value)
    assert "# HERE" in str(caught.value)


@pytest.mark.parametrize("outputs", [[], (), {}])
def test_no_outputs_depend_on_nothing(outputs):
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    assert pullback.autograd.grad(outputs, x, allow_unused=True) == (None,)
    assert pullback.autograd.grad(outputs, x, materialize_grads=True)[0].tolist() == [0.0, 0.0]
    with pytest.raises(
        RuntimeError, match=r"index 0 appears to not have been used in the graph.* there are no outputs"
    ):
        pullback.autograd.grad(outputs, x)
    with pytest.raises(RuntimeError, match="got 0 tensors and 1 gradients"):
        pullback.autograd.grad(outputs, x, [x], allow_unused=True)
    pullback.autograd.backward(list(outputs))
    assert x.grad is None


def test_what_is_deleted_is_freed_though_names_were_looked_for():
    x, y = leaf(), leaf()
    gone = weakref.ref(y)
    held = locals()
    assert pullback.why(x, x.sum()).cause == "backward not run"
    assert held["x"] is x  # what the program itself has asked for stays as it is
    del held
    assert eval("(pullback.why(x, x.sum()).cause, y)")[1] is y
    pullback.why(x, x.sum())
    del y
    gc.collect()
    assert gone() is None


def test_a_name_of_a_comprehension_yields_to_that_of_its_list():
    params = [pullback.tensor(float(i), requires_grad=True) for i in range(3)]
    loss = params[0] * params[1]
    told = [pullback.why(each, loss) for each in params]
    assert [str(reason).partition(".grad")[0] for reason in told] == [f"params[{i}]" for i in range(3)]


@pytest.mark.parametrize("entries", [[True, False, True], [0, 2, 2]])
def test_a_gradient_of_picks_that_fits_its_tensor_no_longer_is_told_in_words(entries):
    x = pullback.arange(3.0, requires_grad=True)
    y = x[pullback.tensor(entries)]
    x.data = pullback.ones(2)
    with pytest.raises(RuntimeError, match=r"what an index picked does not fit the shape \(2,\) of the indexed tensor"):
        y.sum().backward()
    z = pullback.arange(3.0, requires_grad=True) * 2
    z.data = pullback.ones(4)
    with pytest.raises(RuntimeError, match=r"what an index picked does not fit the shape \(3,\) of the indexed tensor"):
        z[pullback.tensor([True, True, True, False])].sum().backward()
