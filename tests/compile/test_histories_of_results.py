"""What results of compiled functions are besides their values: views, aliases, leaves, tracked or not, written so often."""

import pytest

import pullback
from pullback.compile import Compiled


def calls(function, *given, count=3):
    """What a function gives, without compile and then in each of some compiled calls, for arguments made anew."""
    yield function(*[each() for each in given])
    compiled = Compiled(function)
    for _ in range(count):
        yield compiled(*[each() for each in given])


def plain():
    return pullback.arange(6.0, dtype=pullback.float64).view(2, 3).clone()


def tracked():
    return plain().requires_grad_() * 2


def test_a_tracked_value_that_is_written_to_a_view_of_an_argument_reaches_the_argument():
    compiled = Compiled(lambda x: x[0])
    for _ in range(3):
        x, weight = plain(), pullback.tensor(3.0, dtype=pullback.float64, requires_grad=True)
        row = compiled(x)
        assert row._base is x
        row.mul_(weight)
        x.sum().backward()
        assert weight.grad.item() == 0 + 1 + 2


def test_a_tracked_value_that_is_written_to_a_view_of_a_detached_result_reaches_that():
    def function(x):
        detached = x.detach()
        return detached, detached[0]

    for detached, row in calls(function, plain):
        assert row._base is detached
        row.mul_(pullback.tensor(3.0, dtype=pullback.float64, requires_grad=True))
        assert detached.requires_grad


def test_a_view_of_a_view_that_is_passed_has_its_base():
    compiled = Compiled(lambda row: row[1:])
    for _ in range(3):
        whole = plain()
        assert compiled(whole[1])._base is whole


@pytest.mark.parametrize("given", [plain, tracked])
def test_a_view_made_under_no_grad_requires_grad_as_its_base_does(given):
    def function(x):
        doubled = x * 2
        with pullback.no_grad():
            return doubled[0]

    found = [(row.requires_grad, row.is_leaf, row.grad_fn) for row in calls(function, given)]
    assert found == [found[0]] * 4
    assert found[0][0] == (given is tracked)


def test_a_view_made_under_no_grad_is_not_written_with_what_is_tracked():
    def function(x):
        with pullback.no_grad():
            return (x * 2)[0]

    for row in calls(function, plain):
        with pytest.raises(RuntimeError, match="no_grad"):
            row.mul_(pullback.tensor(3.0, dtype=pullback.float64, requires_grad=True))


def test_results_have_been_written_as_often():
    def function(x):
        made, other = x * 2, x + 1
        made.add_(1).mul_(2)
        other[0] = 5
        return made, other, other.data, x.data

    for results in calls(function, plain):
        assert [each._version for each in results] == [2, 1, 0, 0]
        results[3].add_(1)
        assert results[3]._version == 1


def write_and_write_through_data(x):
    x.add_(1)
    x.data.mul_(2)


def set_data_and_write(x):
    x.data = x.detach() * 2
    x.add_(1)


@pytest.mark.parametrize(
    ("function", "place", "number"), [(write_and_write_through_data, (0, 0), 2), (set_data_and_write, (0, 1), 3)]
)
def test_writes_are_counted_but_those_through_data(function, place, number):
    compiled = Compiled(function)
    for _ in range(3):
        x = plain()
        compiled(x)
        assert x._version == 1
        assert x[place] == number


@pytest.mark.filterwarnings("ignore:compile.*runs as it is")
def test_an_argument_with_a_history_is_detached_in_place():
    compiled = Compiled(lambda x: x.detach_())
    for _ in range(3):
        x = tracked()
        assert compiled(x) is x
        assert not x.requires_grad


def test_a_hook_that_is_registered_in_a_recording_that_is_taken_back_is_registered_once():
    def function(x, y):
        y.register_hook(lambda g: g * 2)
        x.detach_()
        return y * 3

    compiled = Compiled(function)
    x, y = tracked(), plain().requires_grad_()
    with pytest.warns(UserWarning, match="requires_grad, hooks or the history"):
        compiled(x, y).sum().backward()
    assert (y.grad == 6).all()


@pytest.mark.filterwarnings("ignore:compile.*runs as it is")
def test_memory_that_is_exchanged_in_a_recording_that_is_taken_back_is_shared_as_before():
    def function(row, whole):
        row.tanh_()
        row.data = row.detach() * 2
        return whole * 1

    found = []
    for make in (lambda f: f, Compiled):
        whole = plain()
        row = whole[1]
        make(function)(row, whole)
        found.append((whole._version, row._version))
        whole.add_(1)
        found.append((whole._version, row._version))
    assert found[:2] == found[2:]


@pytest.mark.parametrize("given", [plain, tracked])
def test_an_argument_that_has_no_view_of_a_shape_is_refused_by_view(given):
    compiled = Compiled(lambda x: x.view(-1) * 2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            compiled(given().T)


def test_a_view_of_a_tensor_whose_data_is_set_is_its_view():
    def function(x):
        x.data = x.detach() * 2
        return x[0]

    x = plain()
    with pytest.warns(UserWarning, match="set .data last, and return a clone"):
        row = Compiled(function)(x)
    assert row._base is x


def test_a_hook_on_a_view_of_a_result_is_called():
    def f(a):
        t = a * 1
        v = t[0]
        v.register_hook(lambda g: g * 2)
        return t, v

    a = pullback.ones(2, 2, requires_grad=True)
    with pytest.warns(UserWarning, match="returns a view with a hook"):
        t, v = pullback.compile(f)(a)
    (t.sum() + v.sum()).backward()
    assert a.grad.tolist() == [[3, 3], [1, 1]]


def test_a_result_whose_gradient_is_retained_inside_has_it():
    def f(a):
        t = a * 2
        t.retain_grad()
        return t

    a = pullback.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="a tensor whose gradient it retains"):
        t = pullback.compile(f)(a)
    (t * t).sum().backward()
    assert t.grad.tolist() == [4, 4]


def test_second_derivatives_through_hooks_are_refused():
    """A hook gets the sum of all that arrives, and a second run of the function has a hook of its own."""

    def f(a):
        t = a.sin()
        t.register_hook(lambda g: g.sin())
        return t * t

    a = pullback.tensor([0.3, 0.4], dtype=pullback.float64, requires_grad=True)
    function = pullback.compile(f)
    (first,) = pullback.autograd.grad(function(a).sum(), a)
    (plain,) = pullback.autograd.grad(f(a).sum(), a)
    assert first.tolist() == pytest.approx(plain.tolist(), rel=1e-14)
    with pytest.raises(RuntimeError, match="has no derivative here"):
        d = pullback.autograd.grad(function(a).sum(), a, create_graph=True)[0]
        (d * d).sum().backward()


def test_an_empty_write_through_a_view_makes_history():
    def f(a, b):
        v = a * 1
        v[None][1:1] = b * 1
        return v

    b = pullback.tensor(1.0, requires_grad=True)
    for function in (f, pullback.compile(f)):
        (slope,) = pullback.autograd.grad(function(pullback.ones(2), b).sum(), b)
        assert slope.item() == 0
