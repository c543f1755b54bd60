"""Long loops and operations on large arrays, which a recorded run leaves to the program: results, effects and errors."""

import numpy as np
import pytest

import pullback
from pullback._core import machine
from pullback.compile import CaptureError, Compiled, deferred

from .beside import plain, same
from .test_fuzz import COUNT, Draw, agree

SIZE = 1 << 17


def large(*shape, scale=1.0):
    return pullback.tensor(np.random.default_rng(0).standard_normal(shape or SIZE).astype(np.float32) * scale)


def near(left, right):
    np.testing.assert_allclose(left.detach().numpy(), right.detach().numpy(), rtol=2e-6, atol=2e-6)


@pytest.fixture
def patience(monkeypatch):
    """Everything is put off that can be."""
    monkeypatch.setattr(deferred, "LARGE", 1)
    monkeypatch.setattr(deferred, "LONG", 1)


def gated(x, w):
    return (x * w).tanh() + (-x * x).exp() * w.sigmoid()


@pytest.mark.parametrize("make", [Compiled, plain])
def test_the_first_call_gives_what_the_second_gives(make):
    def step(x, w):
        value = gated(x, w).sum()
        return value.detach(), *pullback.autograd.grad(value, (x, w))

    compiled, x, w = make(step), large().requires_grad_(), large(scale=0.5).requires_grad_()
    first, second, eager = compiled(x, w), compiled(x, w), step(x, w)
    same(first, second)
    for one, other in zip(first[1:], eager[1:], strict=True):
        near(one, other)
    assert [*compiled.reasons] == ["a first call"]


def test_memory_that_is_written_after_it_was_read():
    def step(x):
        y = x.exp()
        x.mul_(0.5)
        z = y + x
        x[:3] = z[:3]
        return z, y.sort().values[:5], x.sum()

    given, x = large(), large()
    for made, expected in zip(Compiled(step)(given), step(x), strict=True):
        np.testing.assert_allclose(made.numpy(), expected.numpy(), rtol=1e-5, atol=1e-2)
    near(given, x)


def test_a_result_that_is_written_after_it_was_read():
    def step(x):
        y = x.sort().values
        z = y.exp()
        y[:5] = 7
        return z.sort(descending=True).values, y

    x = large()
    same(plain(step)(x), step(x))


def test_a_constant_that_is_written_after_it_was_read():
    def step(x):
        total = pullback.zeros(SIZE)
        before = x + total
        total += 1
        return before, total * 2

    x = large()
    same(plain(step)(x), step(x))


def test_tensors_that_escape_have_numbers():
    kept = []

    def step(x, y):
        kept.append((x * y).exp())
        kept.append(kept[0].reshape(2, -1).sum(0))
        x.zero_()
        return y + 1

    x, y = large(scale=0.1), large(scale=0.1)
    expected = (x * y).exp()
    Compiled(step)(x, y)
    near(kept[0], expected)
    near(kept[1], expected.reshape(2, -1).sum(0))
    assert not x.numpy().any()


def test_a_result_with_a_history():
    x = large().requires_grad_()
    outside = x * 3
    for function in (lambda t: (t * t).sin() + t.exp(), lambda t: (t * t).sin().sum()):
        (found,) = pullback.autograd.grad(Compiled(function)(outside).sum(), x, retain_graph=True)
        (expected,) = pullback.autograd.grad(function(outside).sum(), x, retain_graph=True)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-4)


def test_gradients_and_state_are_those_of_the_program():
    weight = large(scale=0.1).requires_grad_()
    optimizer = pullback.optim.Adam([weight], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = gated(x, weight).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, before = large(), weight.detach().clone()
    compiled = Compiled(step)
    losses = [float(compiled(x)) for _ in range(4)]
    with pullback.no_grad():
        weight.copy_(before)
    optimizer = pullback.optim.Adam([weight], lr=0.1)
    np.testing.assert_allclose(losses, [float(step(x)) for _ in range(4)], rtol=1e-5)


def test_numbers_that_are_asked_for():
    def checked(x):
        pullback.nn.functional.binary_cross_entropy((x * 0.5).sigmoid(), (x > 0).float())
        return (x * 2).sigmoid()

    def asks(x):
        return x if (x * 2).sum() > 0 else -x

    x = large()
    near(Compiled(checked)(x), checked(x))
    with pytest.raises(CaptureError, match="value of a tensor is needed"):
        Compiled(asks)(x)


def test_an_error_after_something_was_put_off():
    kept, x = [], large()

    def step(x):
        kept.append(x.exp())
        x.add_(1)
        raise ValueError("of the function")

    before = x.clone()
    with pytest.raises(ValueError, match="of the function"):
        Compiled(step)(x)
    near(x, before + 1)  # it ran once more, as it is
    for each in kept:
        near(each, before.exp())


def orbit(y, k):
    return pullback.scan(lambda y, _: (y + 0.01 * ((k * y).sin() - y * y), y.sum()), y, length=200)


def test_a_long_loop():
    y, k = pullback.tensor([0.5, 1, 1.5], requires_grad=True), pullback.tensor([1.0, 2, 3], requires_grad=True)

    def step(y, k):
        last, sums = orbit(y, k)
        value = (last * last).sum() + sums.mean()
        return value.detach(), sums.detach(), *pullback.autograd.grad(value, (y, k))

    compiled = Compiled(step)
    first = compiled(y, k)
    same(first, compiled(y, k))
    for one, other in zip(first, step(y, k), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-5)


def test_a_loop_after_a_loop_and_one_with_random_numbers():
    def twice(y, k):
        last, _ = orbit(y, k)
        return orbit(last * 2, k)[0]

    y, k = pullback.tensor([0.5, 1, 1.5]), pullback.tensor([1.0, 2, 3])
    near(Compiled(twice)(y, k), twice(y, k))

    def walk(y):
        return pullback.scan(lambda y, _: (y + pullback.randn(3), None), y, length=100)[0]

    results = []
    for function in (walk, Compiled(walk)):
        pullback.manual_seed(5)
        results.append([function(y), function(y)])
    for expected, found in zip(*results, strict=True):
        near(found, expected)


def test_a_loop_that_fails():
    def step(a):
        return pullback.scan(lambda x, _: (pullback.linalg.inv(x) - x, None), a, length=100)[0]

    a = pullback.tensor([[2.0, 0.0], [0.0, 1.0]])
    with pytest.raises(RuntimeError) as eager:
        step(a)
    with pytest.raises(RuntimeError) as compiled:
        Compiled(step)(a)
    assert str(compiled.value) == str(eager.value)
    same(a, pullback.tensor([[2.0, 0.0], [0.0, 1.0]]))


@pytest.mark.parametrize("layout", ["transposed", "every second", "one row"])
def test_layouts(layout):
    base = large(512, 512)
    x = {"transposed": base.T, "every second": base[:, ::2], "one row": base[:1].expand(512, 512)}[layout]

    def step(x):
        y = (x * 2).exp()
        return y, y.reshape(-1)[:7], y.sum(0), y.is_contiguous()

    compiled = plain(step)
    same(compiled(x), step(x))
    same(compiled(x), step(x))


@pytest.mark.filterwarnings("ignore:compile", "ignore:var")
@pytest.mark.parametrize("seed", range(max(COUNT // 6, 1)))
def test_random_programs(seed, patience):
    program = Draw(seed)
    for function, exact in ((plain(program), True), (Compiled(program), False)):
        for turn in range(2):
            given, inputs = (
                [pullback.tensor(x * (1 + 0.25 * turn), requires_grad=True) for x in program.inputs] for _ in range(2)
            )
            (values, grads), (others, found) = program(*given), function(*inputs)
            agree([*values, *grads], [*others, *found], exact)


def test_what_is_recorded_does_not_count_as_often_met(monkeypatch):
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(machine.budget, "elements", 0)
    x = large(1 << 7, 1 << 10)

    def step(x):
        return pullback.logsumexp(x[1:], -1).sum() + (x.softmax(-1) ** 2).sum()

    compiled = Compiled(step)
    assert compiled(x).item() == pytest.approx(compiled(x).item(), rel=1e-5)
    assert machine.budget.elements == 0
    assert step(x).item() == pytest.approx(compiled(x).item(), rel=1e-5)
    assert machine.budget.elements >= x.numel()
