"""Tensors of one memory in compiled functions: arguments, what the function reaches and what it returns may share it."""

import itertools
import warnings

import pytest

import pullback


def twice(function, calls):
    """What calls give, of the function and of its compiled form; some run uncompiled, which is said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="compile: .* runs as it is, uncompiled")
        return calls(function), calls(pullback.compile(function))


def pair(kind):
    """A tensor of two numbers that requires grad, and another one: of its own, the same, its detached twin, or a view."""
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    own = pullback.tensor([3.0, 4.0])
    return x, {"own": own, "same": x, "twin": x.detach(), "view": x.detach()[...], "tracked": own.requires_grad_()}[
        kind
    ]


KINDS = ["own", "same", "twin", "view"]


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=3)), ids="-".join)
def test_arguments_that_share_memory_at_some_calls_only(kinds):
    def calls(function):
        found = []
        for kind in [*kinds, *kinds]:
            x, z = pair(kind)
            result = function(x, z)
            result.sum().backward()
            found.append((result.tolist(), x.grad.tolist()))
        return found

    right, compiled = twice(lambda x, z: x * z.tanh() + z, calls)
    assert compiled == right


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=3)), ids="-".join)
def test_arguments_that_share_memory_and_are_written(kinds):
    def written(x, z):
        x.mul_(2)
        return x + z

    def calls(function):
        found = []
        for kind in [*kinds, *kinds]:
            x, z = (each.detach() for each in pair(kind))
            found.append((function(x, z).tolist(), x.tolist(), z.tolist()))
        return found

    right, compiled = twice(written, calls)
    assert compiled == right


@pytest.mark.parametrize("twins", list(itertools.product([True, False], repeat=4)))
def test_an_argument_that_shares_the_memory_of_what_is_reached(twins):
    weight = pullback.tensor([1.0, 2.0])

    def calls(function):
        return [function(weight.detach() if twin else pullback.tensor([5.0, 6.0])).tolist() for twin in twins]

    right, compiled = twice(lambda x: x * weight + weight, calls)
    assert compiled == right


def test_tensors_of_one_memory_that_are_parted():
    def calls(function):
        held[0], held[1] = a, a.detach()
        held[1].data = held[0].data
        found = [function(x).tolist() for _ in range(3)]
        held[1].data = pullback.tensor([9.0, 9.0])
        return found + [function(x).tolist() for _ in range(3)]

    a, x, held = pullback.tensor([1.0, 2.0]), pullback.tensor([3.0, 4.0]), [None, None]
    right, compiled = twice(lambda x: x * held[0] + held[1], calls)
    assert compiled == right


def test_a_write_that_cannot_be_recorded_leaves_no_history():
    def written(x, y, z):
        x.add_(z)
        return (x * 1,)

    def calls(function):
        found = []
        for _ in range(3):
            x, z = pullback.ones(2), pullback.ones(2, requires_grad=True)
            (result,) = function(x, x[...], z)
            result.sum().backward()
            found.append((result.tolist(), z.grad.tolist()))
        return found

    right, compiled = twice(written, calls)
    assert compiled == right == [([2, 2], [1, 1])] * 3


@pytest.mark.parametrize("lie", ["part", "turned", "itself"])
@pytest.mark.parametrize("write", [lambda x: x.mul_(3), lambda x: x[0].mul_(3), lambda x: x.T.copy_(x * 3)])
def test_a_write_to_a_view_with_a_history(write, lie):
    """The history of its base, which the function cannot reach, and of other views of it goes on as without compile."""

    def calls(function):
        found = []
        for _ in range(2):
            leaf = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
            base = leaf * 1
            x = {"part": base[:], "turned": base.T, "itself": base}[lie]
            function(x)
            (x * leaf.detach() + base).sum().backward()
            found.append((x.tolist(), base.tolist(), leaf.grad.tolist()))
        return found

    right, compiled = twice(write, calls)
    assert compiled == right


def test_results_that_are_one_argument_several_times():
    state = pullback.nn.Module()

    def several(x, y):
        state.kept = x
        z = x * 2
        return x, x, z, y, z, x

    def calls(function):
        found = []
        for k in range(4):
            x, y = pullback.tensor([1.0, float(k)]), pullback.ones(2)
            results = function(x, y)
            names = {id(x): "x", id(y): "y", id(results[2]): "z", id(state.kept): "kept"}
            found.append(([each.tolist() for each in results], [names[id(each)] for each in results]))
        return found

    right, compiled = twice(several, calls)
    assert compiled == right


def chosen_then_written(z):
    element = z[z.argmax()]
    z.zero_()
    return element + 0


def chosen_and_written(z):
    element = z[z.argmax()]
    element.mul_(5)
    return element + z


def chosen_before_a_write_elsewhere(z):
    y = z * 2
    element = y[z.argmax()]
    y.add_(1)
    return element * y


def chosen_and_done_with(z):
    y = z * 2
    total = y[z.argmax()] + 1
    y.add_(1)
    return total * y


def chosen_and_returned(z):
    return z[z.argmax()]


@pytest.mark.parametrize(
    "function",
    [
        chosen_then_written,
        chosen_and_written,
        chosen_before_a_write_elsewhere,
        chosen_and_done_with,
        chosen_and_returned,
    ],
)
def test_an_element_whose_place_a_tensor_chooses_is_a_view(function):
    def calls(function):
        found = []
        for place in (0, 2, 1):
            z = pullback.zeros(3)
            z[place] = 4.0
            result = function(z)
            found.append((result.tolist(), z.tolist()))
            z.add_(10)
            found.append(result.tolist())
        return found

    right, compiled = twice(function, calls)
    assert compiled == right


def test_only_writes_to_chosen_views_that_are_still_held_are_refused():
    function = pullback.compile(chosen_and_done_with)
    for _ in range(3):  # warnings are errors
        function(pullback.ones(3))


def test_views_of_leaves_made_under_no_grad_require_grad():
    def calls(function):
        found = []
        for _ in range(3):
            with pullback.no_grad():
                results = function(pullback.ones(4, requires_grad=True))
            found.append([(each.requires_grad, each.tolist()) for each in results])
        return found

    right, compiled = twice(lambda x: (x[0], x.reshape(2, 2), x), calls)
    assert compiled == right


@pytest.mark.parametrize(
    "write",
    [
        lambda x, y: x.t_().add_(1),
        lambda x, y: x.add_(1).t_(),
        lambda x, y: x.t_()[0].mul_(y[0]),
        lambda x, y: x.unsqueeze_(0).data.mul_(2),
    ],
)
def test_an_argument_whose_axes_are_turned_is_written(write):
    def calls(function):
        found = []
        for _ in range(2):
            x, y = pullback.arange(4.0).reshape(2, 2), pullback.ones(2, 2) * 3
            whole = x[...]
            function(x, y)
            found.append((x.tolist(), whole.tolist()))
        return found

    right, compiled = twice(write, calls)
    assert compiled == right
