"""Loops of small steps are written out in registers, and give what the steps give one after another."""

import numpy as np
import pytest

import pullback

pytest.importorskip("llvmlite")


F = pullback.nn.functional


def rotation(state, _):
    x, m = state
    x = m @ x
    return (x / x.norm(), m), x.sum()


def pieces(state, row):
    x, y = state
    both = pullback.cat([x, y * row])
    turned = pullback.stack([both[1:4], both[:3].flip(0)]).transpose(0, 1)
    x = pullback.sin(turned[:, 0]) + 0.1 * both[::2]
    return (x, turned.reshape(-1)[1:6:2] - y.mean()), turned


def decisions(state, row):
    count, x = state
    positive = x > row
    count = count + positive.sum()
    x = pullback.where(positive, pullback.cos(x), x * 1.5 + row)
    return (count, x.clamp(-3, 3)), (positive, x.amax(), x.amin())


def far(state, _):
    x = state * 1.7
    return x, pullback.sin(x) + pullback.cos(x) + pullback.tan(x)


def mixture(state, row):
    x = state
    logits = pullback.log_softmax(x.reshape(2, 3) @ row.reshape(3, 2), -1)
    x = pullback.tanh(x + logits.sum() * pullback.exp(-x * x)) * pullback.sigmoid(row)
    return x, logits


def numbers(state, _):
    a, b = state
    return (b, (a + b) & 1023), a


def normal(*shape, dtype=np.float32, seed=0):
    return pullback.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


CASES = {
    "rotation": (rotation, (normal(3), normal(3, 3)), None, False),
    "pieces": (pieces, (normal(3), normal(3, seed=1)), normal(7, 3), False),
    "pieces, reversed": (pieces, (normal(3), normal(3, seed=1)), normal(7, 3), True),
    "decisions": (decisions, (pullback.tensor(0), normal(5)), normal(9, 5), False),
    "far": (far, normal(4), None, False),
    "mixture": (mixture, normal(6), normal(11, 6), False),
    "mixture of doubles": (mixture, normal(6, dtype=np.float64), normal(11, 6, dtype=np.float64), True),
    "numbers": (numbers, (pullback.tensor(0), pullback.tensor(1)), None, False),
    "one step": (mixture, normal(6), normal(1, 6), False),
    "single numbers": (lambda x, r: (pullback.sin(x) * r, x), normal(), normal(50), False),
}


def leaves(result):
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in leaves(part)]
    return [] if result is None else [result]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tracked", [False, True])
def test_a_loop_in_registers_gives_what_its_steps_give(name, tracked):
    step, state, rows, reverse = CASES[name]
    length = 40 if rows is None else None
    given = [t.clone() for t in leaves((state, rows))]
    count = len(leaves(state))

    def function(*tensors):
        if tracked:
            tensors = [t.detach().requires_grad_(t.is_floating_point()) for t in tensors]
        carry = tuple(tensors[:count]) if isinstance(state, tuple) else tensors[0]
        columns = None if rows is None else tensors[count]
        found = leaves(pullback.scan(step, carry, columns, length=length, reverse=reverse))
        if not tracked:
            return found
        ends = [t for t in found if t.requires_grad]
        wanted = [t for t in tensors if t.requires_grad]
        grads = pullback.autograd.grad([t.sum() for t in ends], wanted, allow_unused=True) if ends else []
        return [*(t.detach() for t in found), *(g for g in grads if g is not None)]

    expected = function(*given)
    compiled = pullback.compile(function, fullgraph=True)
    for _ in range(2):
        found = compiled(*given)
        for mine, plain in zip(found, expected, strict=True):
            assert mine.dtype == plain.dtype
            wide = plain.dtype == pullback.float64
            np.testing.assert_allclose(
                mine.numpy(), plain.numpy(), rtol=1e-12 if wide else 3e-5, atol=1e-12 if wide else 3e-5
            )
    executable = compiled._newest().machinery.executable
    assert executable.builtin is not None, "a step is not written out"


def test_what_does_not_change_is_computed_before_the_loop():
    @pullback.compile
    def function(x, k):
        return pullback.scan(lambda y, _: (y * pullback.exp(k).sum(), None), x, length=3)[0]

    x, k = normal(3), normal(3, seed=1)
    np.testing.assert_allclose(function(x, k).numpy(), (x * pullback.exp(k).sum() ** 3).numpy(), rtol=1e-5)
    before, _, inside = function.llvm.partition("phi i64")
    assert "fmul" in before
    assert len(inside.splitlines()) < 30


def test_steps_of_more_numbers_go_another_way():
    compiled = pullback.compile(lambda x: pullback.scan(lambda y, _: (pullback.sin(y), None), x, length=5)[0])
    x = normal(100)
    expected = x
    for _ in range(5):
        expected = pullback.sin(expected)
    np.testing.assert_allclose(compiled(x).numpy(), expected.numpy(), rtol=1e-6)


def oscillator(y, k):
    return y + 0.01 * (pullback.sin(k * y) - 0.1 * y * y * y)


def filtered(y, k, row):
    z = y * k * 0.5 - row * y * 0.25 + row
    return z * k, z


def gated(y, k, row):
    return pullback.tanh(y * k + row) * 0.5 + y * 0.25, y * row


LINEAR = {
    "oscillator": lambda y, k, row: (oscillator(y, k), None),
    "filtered": filtered,
    "gated": gated,
}


def slopes(step, y, k, rows, weight):
    y, k, rows = (t.clone().requires_grad_() for t in (y, k, rows))
    last, made = pullback.scan(lambda y, row: step(y, k, row), y, rows)
    total = (last * weight).sum() + (0.0 if made is None else (made * made).sum())
    return last.detach(), *pullback.autograd.grad(total, (y, k, rows), allow_unused=True)


def specials(dtype):
    huge = 1e25 if dtype == np.float32 else 1e200
    return [
        (1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1 / huge, 1.0, 1.0), (1.0, 1.0, huge), (1.0, 1.0, 1 / huge),
        (huge, 1.0, 1.0), (np.inf, 1.0, 1.0), (np.nan, 1.0, 1.0), (1.0, np.inf, 1.0), (1.0, np.nan, 0.0), (1.0, 1.0, np.inf),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LINEAR)
def test_a_way_back_that_is_linear_in_its_states(name, dtype):
    step = LINEAR[name]
    y, k, rows = normal(3, dtype=dtype), normal(3, seed=1, dtype=dtype) * 0.5, normal(100, 3, seed=2, dtype=dtype)
    compiled = pullback.compile(lambda *given: slopes(step, *given), fullgraph=True)
    for of_y, of_k, weight in specials(dtype):
        given = y * of_y, k * of_k, rows, pullback.tensor(np.array(weight, dtype))
        for found, expected in zip(compiled(*given), slopes(step, *given), strict=True):
            assert (found is None) == (expected is None)
            if found is not None:
                mine, plain = found.numpy(), expected.numpy()
                size = np.abs(plain[np.isfinite(plain)]).max(initial=0)
                tolerance = 2e-4 if dtype == np.float32 else 1e-11
                np.testing.assert_allclose(mine, plain, rtol=tolerance, atol=tolerance * size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_function_takes_in_a_term_and_a_steady_factor(dtype):
    """Its angle is a product, and it is one term of a sum, on either side; for NaN, infinities and angles far away, too."""

    def step(y, k):
        return pullback.sin(k * y) + 0.1 * y, y - pullback.cos(y * k), pullback.sin(y) - pullback.cos(k * y)

    def run(y, k):
        return pullback.scan(lambda y, _: (step(y, k)[0], step(y, k)), y, length=4)[1]

    y, k = normal(7, dtype=dtype), normal(7, seed=1, dtype=dtype)
    k[1], k[2], y[3], k[4], y[5], k[6] = 0.0, np.inf, np.nan, 1e12, -0.0, 1e-38
    for found, expected in zip(pullback.compile(run, fullgraph=True)(y, k), run(y, k), strict=True):
        tolerance = 1e-4 if dtype == np.float32 else 1e-3  # an angle of 1e12 has few digits left after some steps
        mine, plain = found.numpy(), expected.numpy()
        np.testing.assert_allclose(mine[0], plain[0], rtol=1e-5 if dtype == np.float32 else 1e-14, atol=1e-6)
        np.testing.assert_allclose(np.delete(mine, 4, 1), np.delete(plain, 4, 1), rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(np.signbit(mine[0, 5]), np.signbit(plain[0, 5]))
