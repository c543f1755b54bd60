"""The five seed documents: the numbers they print, the identities behind those drawn at random, and their scripts."""

import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp

import pullback
from pullback import tensor
from pullback.autograd import Variable

EXAMPLES = Path(__file__).parent.parent / "examples" / "seeds"
IMPORTED = Path(pullback.__file__).parent.parent

WEIGHTS = [0.1, 1.0, 0.0001]
FOUR = [1.0, 10.0, 100.0, 1000.0]


def doubled(x):
    y = x * 2
    while y.data.norm() < 1000:
        y = y * 2
    return y


@pytest.mark.parametrize("gradient", [(), (tensor(1.0),)], ids=["implicit", "tensor(1.)"])
def test_the_gradient_of_a_sum_is_ones(gradient):
    x = pullback.randn(3, requires_grad=True)
    x.sum().backward(*gradient)
    assert repr(x.grad) == "tensor([1., 1., 1.])"


def test_ten_doublings_weigh_by_a_thousand_and_twenty_four():
    x = tensor([0.6, -1.0, 0.8], requires_grad=True)
    doubled(x).backward(tensor(WEIGHTS, dtype=pullback.float))
    assert repr(x.grad) == "tensor([1.0240e+02, 1.0240e+03, 1.0240e-01])"
    np.testing.assert_allclose(x.grad.numpy(), [102.4, 1024, 0.1024], rtol=1e-6)


def test_nine_doublings_give_the_other_figures():
    x = (tensor([-590.4467, 97.6760, 921.0221]) / 512).requires_grad_()
    y = doubled(x)
    assert repr(y.data) == "tensor([-590.4467,   97.6760,  921.0221])"
    assert repr(y) == "tensor([-590.4467,   97.6760,  921.0221], grad_fn=<MulBackward0>)"
    y.backward(tensor(WEIGHTS))
    assert [f"{entry:.4f}" for entry in x.grad.tolist()] == ["51.2000", "512.0000", "0.0512"]


entries = st.floats(-100, 100, width=32).filter(lambda entry: entry == 0 or abs(entry) > 2**-10)


@given(hnp.arrays(np.float32, 3, elements=entries), hnp.arrays(np.float32, 3, elements=entries))
def test_doublings_scale_every_gradient_by_one_power_of_two(start, v):
    assume(start.any())
    assume(v.all())
    x = tensor(start.tolist(), requires_grad=True)
    y = doubled(x)
    y.backward(tensor(v.tolist()))
    ratio = x.grad.numpy() / v
    assert set(np.frexp(ratio)[0]) == {0.5}
    np.testing.assert_array_equal(ratio, ratio[0])
    np.testing.assert_array_equal(y.detach().numpy(), start * ratio)


def test_a_product_answers_three_questions():
    x = Variable(pullback.FloatTensor([[2, 1]]), requires_grad=True)
    M = Variable(pullback.FloatTensor([[1, 2], [3, 4]]))
    y = pullback.mm(x, M)
    assert repr(x) == "tensor([[2., 1.]], requires_grad=True)"
    assert repr(M) == "tensor([[1., 2.],\n        [3., 4.]])"
    assert repr(y) == "tensor([[5., 8.]], grad_fn=<MmBackward0>)"
    for v, answer in (([[1, 0]], [[1, 3]]), ([[0, 1]], [[2, 4]]), ([[1, 1]], [[3, 7]])):
        y.backward(pullback.FloatTensor(v), retain_graph=True)
        assert x.grad.data.tolist() == answer
        x.grad.data.zero_()
        assert x.grad.tolist() == [[0, 0]]
    assert M.grad is None


def test_answers_add_up_where_they_are_not_cleared():
    x = tensor([[2.0, 1.0]], requires_grad=True)
    y = pullback.mm(x, tensor([[1.0, 2.0], [3.0, 4.0]]))
    y.backward(tensor([[1.0, 0.0]]), retain_graph=True)
    y.backward(tensor([[0.0, 1.0]]))
    assert x.grad.tolist() == [[3, 7]]


@pytest.mark.parametrize("name", ["grad_tensors", "grad_variables"])
def test_the_function_takes_the_gradient_under_both_its_names(name):
    x = tensor([[2.0, 1.0]], requires_grad=True)
    y = pullback.mm(x, tensor([[1.0, 2.0], [3.0, 4.0]]))
    gradient = {name: [tensor([[1.0, 1.0]])]}
    if name == "grad_variables":
        with pytest.warns(FutureWarning, match="grad_tensors"):
            pullback.autograd.backward([y], **gradient)
    else:
        pullback.autograd.backward([y], **gradient)
    assert x.grad.tolist() == [[3, 7]]


def test_a_graph_that_was_not_retained_answers_once():
    x = tensor(1.0, requires_grad=True)
    y = x**2
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.item() == 2


def outer(y):
    upper, lower = y
    return pullback.stack([upper * lower, lower**2])


def inner(x):
    left, right = x
    return pullback.stack([left * right, left + right])


vectors = hnp.arrays(np.float64, 2, elements=st.floats(-3, 3))


@given(vectors, st.one_of(vectors, st.just(np.ones(2)), st.just(np.array([0.2, 0.8]))))
def test_a_chain_is_a_product_of_jacobians_however_it_is_cut(start, v):
    x = tensor(start, requires_grad=True)
    outer(inner(x)).backward(tensor(v))

    left, right = start
    upper, lower = left * right, left + right
    Jz = np.array([[lower, upper], [0, 2 * lower]])
    Jy = np.array([[right, left], [1, 1]])
    np.testing.assert_allclose(x.grad.numpy(), v @ Jz @ Jy, rtol=1e-12, atol=1e-12)

    again = tensor(start, requires_grad=True)
    y = inner(again)
    middle = y.detach().requires_grad_()
    outer(middle).backward(tensor(v))
    np.testing.assert_allclose(middle.grad.numpy(), v @ Jz, rtol=1e-12, atol=1e-12)
    y.backward(middle.grad)
    np.testing.assert_array_equal(again.grad.numpy(), x.grad.numpy())


@given(vectors)
def test_weights_mix_the_gradients_of_the_single_losses(start):
    def gradient(v):
        x = tensor(start, requires_grad=True)
        outer(inner(x)).backward(tensor(np.array(v)))
        return x.grad.numpy()

    mixed = 0.2 * gradient([1.0, 0.0]) + 0.8 * gradient([0.0, 1.0])
    np.testing.assert_allclose(gradient([0.2, 0.8]), mixed, rtol=1e-12, atol=1e-12)


X = [[0.1, 0.2, 0.3], [0.4, 0.6, 0.8]]
PREDICTED = np.array([[0.658438, 0.5751416]])  # the only figures, but for 1e-6, that round to what the document prints
ROWS = [[1.4808, 2.9616, 4.4424], [-4.1526, -6.2289, -8.3053]]


def network(slopes, offsets, target=((0, 1),)):
    W = Variable(slopes, requires_grad=True)
    b = Variable(offsets, requires_grad=True)
    x, y_true = tensor(X, dtype=slopes.dtype), tensor(target, dtype=slopes.dtype)
    y_pred = pullback.nn.Sigmoid()(pullback.mm(W, pullback.transpose(x, 0, 1)) + b)
    return W, b, (y_true - y_pred) ** 2


def document(slopes=((0.5, -1.0, 0.25),)):
    offsets = np.log(PREDICTED / (1 - PREDICTED)) - np.array(slopes) @ np.array(X).T
    return network(pullback.Tensor([list(row) for row in slopes]), pullback.Tensor(offsets.tolist()))


def assert_the_printed_gradients(W, b):
    assert repr(b.grad) == "tensor([[ 0.1481, -0.1038]])"
    assert (100 * W.grad.numpy().astype(float)).round(4).tolist() == [[-2.6718, -3.2673, -3.8628]]


@pytest.mark.parametrize("slopes", [[[0.5, -1.0, 0.25]], [[0.0, 0.0, 0.0]], [[-1.5, 2.0, 0.75]]], ids=str)
def test_the_average_loss_gives_the_printed_gradients_whatever_the_slopes(slopes):
    W, b, losses = document(slopes)
    avg_loss = losses.sum() / 2
    avg_loss.backward()
    assert_the_printed_gradients(W, b)


def test_a_tensor_of_one_element_stands_for_the_implicit_gradient():
    W, b, losses = document()
    avg_loss = losses.sum() / 2
    assert tuple(avg_loss.shape) == ()
    avg_loss.backward(pullback.Tensor([1]))
    assert_the_printed_gradients(W, b)


@pytest.mark.parametrize("half", [[0.5, 0.5], [[0.5, 0.5]]], ids=str)
def test_two_halves_make_the_average(half):
    W, b, losses = document()
    assert tuple(losses.shape) == (1, 2)
    losses.backward(pullback.FloatTensor(half))
    assert_the_printed_gradients(W, b)


def test_two_losses_need_a_gradient():
    W, b, losses = document()
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        losses.backward()
    assert W.grad is None
    assert b.grad is None
    losses.backward(pullback.FloatTensor([0.5, 0.5]))
    assert_the_printed_gradients(W, b)


def test_masks_of_a_half_give_the_rows():
    W, _, losses = document()
    jacobian = pullback.zeros((2, 3))
    for row, mask in enumerate(([0.5, 0], [0, 0.5])):
        with pytest.warns(FutureWarning, match="retain_graph"):
            losses.backward(pullback.FloatTensor(mask), retain_variables=True)
        jacobian[row, :] = W.grad.data
        W.grad.data.zero_()
    assert (100 * jacobian.numpy().astype(float)).round(4).tolist() == ROWS
    losses.backward(pullback.FloatTensor([0.5, 0.5]))
    np.testing.assert_allclose(jacobian.numpy().sum(axis=0, keepdims=True), W.grad.numpy(), rtol=1e-5)


def test_masks_of_one_give_twice_the_rows():
    W, _, losses = document()
    for row, mask in zip(ROWS, ([1, 0], [0, 1]), strict=True):
        losses.backward(pullback.FloatTensor(mask), retain_graph=True)
        np.testing.assert_allclose(100 * W.grad.numpy()[0], 2 * np.array(row), atol=2e-4)
        W.grad.zero_()


@given(
    hnp.arrays(np.float64, (1, 3), elements=st.floats(-3, 3)),
    hnp.arrays(np.float64, (1, 2), elements=st.floats(-3, 3)),
    hnp.arrays(np.float64, (1, 2), elements=st.sampled_from([0.0, 1.0])),
)
def test_the_gradients_of_any_such_network(slopes, offsets, target):
    W, b, losses = network(tensor(slopes), tensor(offsets), target)
    losses.backward(tensor([0.5, 0.5]))
    p = 1 / (1 + np.exp(-(slopes @ np.array(X).T + offsets)))
    np.testing.assert_allclose(b.grad.numpy(), (p - target) * p * (1 - p), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(W.grad.numpy(), b.grad.numpy() @ np.array(X), rtol=1e-9, atol=1e-14)


def test_a_step_by_hand_lowers_the_loss():
    W, b, losses = document()
    (losses.sum() / 2).backward()
    expected = W.detach().numpy() - 0.5 * W.grad.numpy()
    with pullback.no_grad():
        W -= 0.5 * W.grad
        b -= 0.5 * b.grad
    np.testing.assert_allclose(W.detach().numpy(), expected, rtol=1e-6)
    assert W.is_leaf
    assert W.requires_grad
    assert network(W.detach(), b.detach())[2].sum().item() < losses.sum().item()


def written(x):
    y = pullback.empty(3)
    y[0] = 3 * x[0] ** 2
    y[1] = x[0] ** 2 + 2 * x[1] ** 3
    y[2] = 10 * x[1]
    return y


SQUARE = lambda x: x**2
TRIPLED = lambda x: 3 * x**2
DIAGONAL = [[6, 0], [0, 12]]
#    x, y = f(x), v, J, the texts of y and x.grad
CASES = {
    "scalar": (1.0, SQUARE, None, [[2]], "tensor(1., grad_fn=<PowBackward0>)", "tensor(2.)"),
    "scalar, 100": (1.0, SQUARE, 100.0, [[2]], "tensor(1., grad_fn=<PowBackward0>)", "tensor(200.)"),
    "sum": ([1.0, 2.0], sum, None, [[1, 1]], "tensor(3., grad_fn=<AddBackward0>)", "tensor([1., 1.])"),
    "sum, 100": ([1.0, 2.0], sum, 100.0, [[1, 1]], "tensor(3., grad_fn=<AddBackward0>)", "tensor([100., 100.])"),
    "vector": (
        [1.0, 2.0],
        TRIPLED,
        [1.0, 1.0],
        DIAGONAL,
        "tensor([ 3., 12.], grad_fn=<MulBackward0>)",
        "tensor([ 6., 12.])",
    ),
    "vector, weighted": (
        [1.0, 2.0],
        TRIPLED,
        [1.0, 10.0],
        DIAGONAL,
        "tensor([ 3., 12.], grad_fn=<MulBackward0>)",
        "tensor([  6., 120.])",
    ),
    "three of two": (
        [1.0, 2.0],
        written,
        [1.0, 10.0, 100.0],
        [[6, 0], [2, 24], [0, 10]],
        "tensor([ 3., 17., 20.], grad_fn=<CopySlices>)",
        "tensor([  26., 1240.])",
    ),
    "scalar, four weights": (
        1.0,
        SQUARE,
        FOUR,
        [[2]] * 4,
        "tensor(1., grad_fn=<PowBackward0>)",
        "tensor(2222.)",
    ),
    "sum, four weights": (
        [1.0, 2.0],
        sum,
        FOUR,
        [[1, 1]] * 4,
        "tensor(3., grad_fn=<AddBackward0>)",
        "tensor([1111., 1111.])",
    ),
}


@pytest.mark.parametrize(("start", "f", "v", "J", "output", "gradient"), CASES.values(), ids=CASES)
def test_backward_is_the_product_with_the_jacobian(start, f, v, J, output, gradient):
    x = tensor(start, requires_grad=True)
    y = f(x)
    assert repr(x) == ("tensor(1., requires_grad=True)" if start == 1.0 else "tensor([1., 2.], requires_grad=True)")
    assert repr(y) == output
    y.backward() if v is None else y.backward(tensor(v))
    assert repr(x.grad) == gradient
    product = np.atleast_1d(1.0 if v is None else v) @ np.array(J)
    np.testing.assert_array_equal(np.atleast_1d(x.grad.numpy()), product)


@pytest.mark.parametrize(
    ("start", "f", "texts"),
    [
        (1.0, SQUARE, ["tensor(2.)", "tensor(22.)", "tensor(222.)", "tensor(2222.)"]),
        (
            [1.0, 2.0],
            sum,
            ["tensor([1., 1.])", "tensor([11., 11.])", "tensor([111., 111.])", "tensor([1111., 1111.])"],
        ),
    ],
    ids=["scalar", "sum"],
)
def test_one_weight_at_a_time(start, f, texts):
    x = tensor(start, requires_grad=True)
    y = f(x)
    seen = []
    for weight in FOUR:
        y.backward(tensor(weight), retain_graph=True)
        seen.append(repr(x.grad))
    assert seen == texts


lengths = st.lists(st.integers(1, 4), max_size=3).map(tuple)


def whole(shape, seed):
    """Small whole numbers, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@given(lengths, st.integers(0, 2), st.integers(0, 99))
def test_one_output_takes_a_gradient_of_any_shape(shape, axes, seed):
    x = tensor([1.0, 2.0], requires_grad=True)
    y = (3 * x).sum().reshape((1,) * axes)
    v = whole(shape, seed)
    y.backward(tensor(v))
    assert x.grad.tolist() == [3 * v.sum()] * 2


@given(lengths, st.data(), st.integers(0, 99))
def test_axes_of_length_one_may_be_missing_or_extra(shape, data, seed):
    given_shape = [length for length in shape if length > 1]
    for place in data.draw(st.lists(st.integers(0, len(given_shape)), max_size=3)):
        given_shape.insert(place, 1)
    x = pullback.ones(shape, requires_grad=True)
    v = whole(given_shape, seed)
    (3 * x).backward(tensor(v))
    assert tuple(x.grad.shape) == shape
    np.testing.assert_array_equal(x.grad.numpy(), 3 * v.reshape(shape))


@given(lengths, st.one_of(st.none(), lengths), st.booleans())
def test_a_refused_gradient_changes_nothing(shape, wrong, used):
    assume(math.prod(shape) > 1)
    assume(wrong is None or [n for n in shape if n > 1] != [n for n in wrong if n > 1])
    start = whole(shape, 0)
    x = tensor(start, requires_grad=True)
    y = x**2
    if used:
        y.sum().backward(retain_graph=True)
    held, before = x.grad, 2 * start if used else np.zeros_like(start)

    words = "implicitly created only for scalar outputs" if wrong is None else "Mismatch in shape"
    with pytest.raises(RuntimeError, match=words):
        y.backward(*([] if wrong is None else [pullback.ones(wrong)]))
    assert x.grad is held
    if used:
        np.testing.assert_array_equal(held.numpy(), before)

    v = whole(shape, 1)
    y.backward(tensor(v))
    np.testing.assert_array_equal(x.grad.numpy(), before + 2 * start * v)


def test_a_tracked_product_leads_back_to_its_leaves():
    a = tensor(2.0, requires_grad=True)
    b = tensor(3.0, requires_grad=True)
    c = a * b
    assert (a.grad_fn, b.grad_fn, a.is_leaf, b.is_leaf) == (None, None, True, True)
    assert repr(c) == "tensor(6., grad_fn=<MulBackward0>)"
    assert not c.is_leaf
    assert c.requires_grad
    (left, _), (right, _) = c.grad_fn.next_functions
    assert [type(node).__name__ for node in (c.grad_fn, left, right)] == [
        "MulBackward0",
        "AccumulateGrad",
        "AccumulateGrad",
    ]
    assert left.variable is a
    assert right.variable is b
    assert left.next_functions == ()
    c.backward()
    assert (repr(a.grad), repr(b.grad)) == ("tensor(3.)", "tensor(2.)")


def test_a_constant_has_no_place_in_the_graph():
    a = tensor(2.0, requires_grad=True)
    (left, _), (right, _) = (a * tensor(3.0)).grad_fn.next_functions
    assert left.variable is a
    assert right is None


def attributes(leaf):
    return repr(leaf.data), leaf.grad, leaf.grad_fn, leaf.is_leaf, leaf.requires_grad


def test_an_untracked_product_may_become_a_leaf():
    a, b = tensor(2.0), tensor(2.0)
    assert attributes(a) == attributes(b) == ("tensor(2.)", None, None, True, False)
    c = a * b
    assert attributes(c) == ("tensor(4.)", None, None, True, False)
    c.requires_grad = True
    assert attributes(c) == ("tensor(4.)", None, None, True, True)
    c.backward()
    assert c.grad.item() == 1
    assert a.grad is None
    assert b.grad is None


def test_nothing_reaches_an_untracked_output():
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        (tensor(2.0) * tensor(2.0)).backward()


def test_the_flag_of_a_recorded_product_is_not_up_to_it():
    a = tensor(2.0, requires_grad=True)
    c = a * a
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf variables"):
        c.requires_grad = False
    c.backward()
    assert a.grad.item() == 4
    assert attributes(c.detach()) == ("tensor(4.)", None, None, True, False)


@cache
def printed(script):
    path = os.pathsep.join(filter(None, (str(IMPORTED), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


SHOWN = {
    "chains_and_weights.py": """
        x.grad: tensor([1., 1., 1.])
        x.grad: tensor([1.0240e+02, 1.0240e+03, 1.0240e-01])
        v @ J: [ 102.4 1024. 0.1024]
        v: [0.2 0.8]
        at y: tensor([0.6000, 5.2000])
        x.grad: tensor([14., 11.])
        x.grad: tensor([6.4000, 5.8000])
    """,
    "doublings_and_products.py": """
        y: tensor([-590.4467, 97.6760, 921.0221], grad_fn=<MulBackward0>)
        0.1000 * 512 = 51.2000
        1.0000 * 512 = 512.0000
        0.0001 * 512 = 0.0512
        x: tensor([[2., 1.]], requires_grad=True)
        M: tensor([[1., 2.],
        y: tensor([[5., 8.]], grad_fn=<MmBackward0>)
        v: tensor([[1., 0.]]) v @ J: [[1. 3.]] x.grad: tensor([[1., 3.]])
        v: tensor([[0., 1.]]) v @ J: [[2. 4.]] x.grad: tensor([[2., 4.]])
        v: tensor([[1., 1.]]) v @ J: [[3. 7.]] x.grad: tensor([[3., 7.]])
    """,
    "one_layer_network.py": """
        W.grad: 1e-2 * [[-2.6718 -3.2673 -3.8628]] b.grad: tensor([[ 0.1481, -0.1038]])
        losses.backward(torch.FloatTensor([0.5, 0.5]))
        J = 1e-2 * [[ 1.4808 2.9616 4.4424]
        jacobian = 1e-2 * [[ 1.4808 2.9616 4.4424]
        [-4.1526 -6.2289 -8.3053]]
        [1, 1] @ J = 1e-2 * [[-2.6718 -3.2673 -3.8628]]
    """,
    "scalar_and_vector_outputs.py": """
        x: tensor(1., requires_grad=True)
        x: tensor([1., 2.], requires_grad=True)
        x.grad: tensor(2.)
        x.grad: tensor(200.)
        x.grad: tensor([1., 1.])
        x.grad: tensor([100., 100.])
        y: tensor(1., grad_fn=<PowBackward0>)
        y: tensor(3., grad_fn=<AddBackward0>)
        y: tensor([ 3., 12.], grad_fn=<MulBackward0>)
        x.grad: tensor([ 6., 12.])
        x.grad: tensor([ 6., 120.])
        y: tensor([ 3., 17., 20.], grad_fn=<CopySlices>)
        x.grad: tensor([ 26., 1240.])
        J: [[ 6. 0.]
        v: [[ 1. 10. 100.]]
        v @ J: [[ 26. 1240.]]
        v: [[ 1. 10. 100. 1000.]]
        v @ J: [[2222.]]
        x.grad: tensor(22.)
        x.grad: tensor(222.)
        x.grad: tensor(2222.)
        v @ J: [[1111. 1111.]]
        x.grad: tensor([11., 11.])
        x.grad: tensor([111., 111.])
        x.grad: tensor([1111., 1111.])
    """,
    "tracked_and_untracked.py": """
        data = tensor(2.)
        data = tensor(3.)
        grad = None
        grad_fn = None
        is_leaf = True
        requires_grad = False
        c = tensor(6., grad_fn=<MulBackward0>)
        next: AccumulateGrad into tensor(2., requires_grad=True)
        next: AccumulateGrad into tensor(3., requires_grad=True)
        v @ J: [3. 2.]
        a.grad: tensor(3.) b.grad: tensor(2.)
        c = tensor(4.) is_leaf = True grad_fn = None
        c.grad: tensor(2.) a.grad: None
    """,
}
AGREEMENTS = {
    "chains_and_weights.py": 5,
    "doublings_and_products.py": 4,
    "one_layer_network.py": 1,
    "scalar_and_vector_outputs.py": 9,
    "tracked_and_untracked.py": 1,
}


def test_every_script_is_looked_at():
    assert set(SHOWN) == set(AGREEMENTS) == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("script", SHOWN)
def test_the_scripts_show_the_numbers(script):
    lines = [" ".join(line.split()) for line in printed(script).splitlines()]
    missing = [line for line in map(str.strip, SHOWN[script].strip().splitlines()) if line not in lines]
    assert not missing, printed(script)


@pytest.mark.parametrize(("script", "count"), AGREEMENTS.items())
def test_the_scripts_agree_with_the_mathematics(script, count):
    assert re.findall(r"^agree: +(\w+)$", printed(script), re.MULTILINE) == ["True"] * count


def test_the_script_of_the_network_shows_the_refusal_and_the_old_name():
    output = printed("one_layer_network.py")
    assert "grad can be implicitly created only for scalar outputs" in output
    assert output.count("FutureWarning: ") == 2
    assert output.count("b.grad: tensor([[ 0.1481, -0.1038]])") == 3
    before, after = re.search(r"avg_loss: (\d\.\d{4}) -> (\d\.\d{4})", output).groups()
    assert before > after


def test_the_script_of_the_cases_shows_both_ways_to_the_same_sum():
    output = printed("scalar_and_vector_outputs.py")
    assert output.count("x.grad: tensor(2222.)") == 2
    assert output.count("x.grad: tensor([1111., 1111.])") == 2
