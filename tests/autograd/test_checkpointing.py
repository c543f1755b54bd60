"""Memory saved by computing again: checkpoints, loops with few stored states, and saved values packed elsewhere."""

import contextlib
import functools
import gc
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback import checkpoint_loop, func
from pullback.autograd import grad
from pullback.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from pullback.autograd.revolve import least_runs
from pullback.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

again = functools.partial(checkpoint, use_reentrant=False)
VALUES = np.linspace(-1.0, 1.5, 6).reshape(2, 3)
MATRIX = np.cos(np.arange(9.0)).reshape(3, 3) / 2


def leaf(values=VALUES):
    return pullback.tensor(np.array(values, dtype=float), requires_grad=True)


def counted(function):
    """A function that counts its calls."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        wrapped.calls += 1
        return function(*args, **kwargs)

    wrapped.calls = 0
    return wrapped


def equal(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy())


# 1. Checkpoints


def program(x, w):
    h = (x @ w).tanh() * x.exp()
    h = h + h.sigmoid().sum(1, keepdim=True)
    return (h * h).mean() + w.sin().sum()


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradients_are_those_of_the_plain_call(reentrant):
    x, w = leaf(), leaf(MATRIX)
    program(x, w).backward()
    expected = [x.grad, w.grad]
    x.grad = w.grad = None
    function = counted(program)
    checkpoint(function, x, w, use_reentrant=reentrant).backward()
    equal([x.grad, w.grad], expected)
    assert function.calls == 2


def test_what_is_closed_over_gets_its_gradient_too():
    x, w = leaf(), leaf(MATRIX)
    equal(grad(again(lambda t: program(t, w), x), [x, w]), grad(program(x, w), [x, w]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_higher_order(order):
    x = leaf([0.3, 0.7])

    def differentiate(y):
        for _ in range(order):
            (y,) = grad(y.sum(), x, create_graph=True)
        return [y]

    function = lambda t: (t.sin() * t.exp()).tanh()
    equal(differentiate(again(function, x)), differentiate(function(x)))


def test_each_pass_runs_the_call_once_more():
    x = leaf()
    function = counted(lambda t: (t * t).exp().atan2(t))
    y = again(function, x).sum()
    for calls in (2, 3):
        y.backward(retain_graph=True)
        assert function.calls == calls
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    assert function.calls == 4


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("outer", [True, False])
def test_nested(outer, inner):
    x = leaf()

    def part(t):
        return checkpoint(lambda u: u.sin().exp(), t * 2, use_reentrant=inner).tanh()

    (x * 2).sin().exp().tanh().sum().backward()
    expected, x.grad = x.grad, None
    with pytest.warns(UserWarning, match="None of the inputs") if outer and inner else contextlib.nullcontext():
        y = checkpoint(part, x, use_reentrant=outer)
    y.sum().backward()
    equal([x.grad], [expected])


def test_arguments_and_results_of_every_kind():
    x, w = leaf(), leaf(MATRIX)

    def function(pair, number, *, scale, name):
        t, options = pair
        assert name == "name"
        return {"a": (t @ options["w"]) * number, "b": [t * scale, number, None, t.argmax()]}

    for reentrant in (False, True):
        call = functools.partial(function, scale=x.detach(), name="name")
        found = checkpoint(call, (x, {"w": w}), 3, use_reentrant=reentrant)
        assert found["b"][1:3] == [3, None] and found["b"][3].dtype == pullback.int64
        x.grad = w.grad = None
        (found["a"].sum() + (found["b"][0] ** 2).sum()).backward()
        equal([x.grad, w.grad], grad((x @ w * 3).sum() + ((x * x.detach()) ** 2).sum(), [x, w]))
    found = again(function, (x, {"w": w}), 3, scale=w[0], name="name")
    equal(grad(found["b"][0].sum(), w), grad((x * w[0]).sum(), w))


def test_nothing_is_kept_of_the_way():
    size = 100_000
    x = pullback.tensor(np.ones(size), requires_grad=True)

    def deep(t):
        for _ in range(20):
            t = t.sin()
        return t

    again(deep, x).sum().backward()  # imports what is needed
    x.grad = None
    tracemalloc.start()
    y = x
    for _ in range(5):
        y = again(deep, y)
    kept = tracemalloc.get_traced_memory()[0]
    y.sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept < 6.5 * 8 * size
    assert peak < 35 * 8 * size  # five inputs, and one call at a time: not 100 values


def test_a_kept_graph_holds_no_recomputed_values_after_a_pass():
    size = 100_000
    x = pullback.tensor(np.ones(size), requires_grad=True)
    y = again(lambda t: t.sin().exp().tanh().sin().exp().tanh(), x).sum()
    gc.collect()
    tracemalloc.start()
    for _ in range(2):
        y.backward(retain_graph=True)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1.5 * 8 * size < 5 * 8 * size < peak  # .grad alone


def test_arguments_keep_their_values_when_they_are_written():
    x = leaf()
    expected = x.detach().cos()
    for reentrant in (False, True):
        x.grad = None
        h = x * 1
        y = checkpoint(lambda t: t.sin(), h, use_reentrant=reentrant)
        h.mul_(100)
        y.sum().backward()
        equal([x.grad], [expected])


def test_a_write_to_what_is_closed_over_is_refused():
    x, w = leaf(), leaf()
    y = again(lambda t: (t * w).sin(), x).sum()
    with pullback.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*(?s:.)*Pass it to the function"):
        y.backward()
    assert x.grad is None and w.grad is None


def draws(t, generators):
    ours, numpys = generators
    noise = pullback.rand(t.shape, dtype=t.dtype) + pullback.tensor(np.random.rand(*t.shape))
    noise = noise + pullback.rand(t.shape, dtype=t.dtype, generator=ours) + pullback.tensor(numpys.random(t.shape))
    return pullback.nn.functional.dropout(t.exp(), 0.5) * noise


@pytest.mark.parametrize("reentrant", [True, False])
def test_random_numbers_come_again_and_go_on(reentrant):
    def run(call):
        x = leaf()
        pullback.manual_seed(1)
        np.random.seed(2)
        generators = pullback.Generator().manual_seed(3), np.random.default_rng(4)
        call(draws, x, generators).sum().backward()
        return [x.grad, draws(x.detach(), generators)]

    plain = run(lambda function, *args: function(*args))
    equal(run(functools.partial(checkpoint, use_reentrant=reentrant)), plain)


def test_random_numbers_need_not_come_again():
    x = leaf(np.ones(50))
    pullback.manual_seed(0)
    y = again(lambda t: pullback.nn.functional.dropout(t, 0.5).exp(), x, preserve_rng_state=False)
    y.sum().backward()
    assert not np.array_equal(x.grad != 0, y.detach() != 1)


def test_modes_come_again():
    x = leaf()
    seen = []

    def function(t):
        with pullback.no_grad():
            constant = t.exp()
        seen.append(pullback.is_grad_enabled())
        return (t * constant).sin()

    y = again(function, x).sum()
    with pullback.no_grad():
        gradient = grad(y, x)
    equal(gradient, grad(function(x).sum(), x))
    assert seen == [True] * 3


@pytest.mark.parametrize("reentrant", [True, False])
def test_without_grad_nothing_is_recorded(reentrant):
    with pullback.no_grad():
        assert not checkpoint(lambda t: t.exp(), leaf(), use_reentrant=reentrant).requires_grad


def test_hooks_and_retained_gradients_inside():
    x, seen = leaf(), []

    def function(t):
        h = t.exp()
        h.register_hook(lambda g: seen.append(g) or 2 * g)
        return h.sin()

    equal(grad(again(function, x).sum(), x), grad(function(x).sum(), x))
    equal(seen[:1], seen[1:])


def test_passes_inside_the_call():
    x = leaf()

    def penalty(t):
        (slope,) = grad(t.sin().exp().sum(), t, create_graph=True)
        return slope * t

    for early_stop in (True, False):
        equal(grad(again(penalty, x, early_stop=early_stop).sum(), x), grad(penalty(x).sum(), x))


def test_saved_values_can_be_looked_at():
    x = leaf()
    node = again(lambda t: t.exp(), x).grad_fn
    equal([node._saved_result], [x.exp()])


def test_early_stop():
    steps = []

    def function(t):
        h = t.exp().sin()
        steps.append("saved")
        h + 1
        steps.append("end")
        return h

    for ends, options, block in [
        (1, {}, contextlib.nullcontext()),
        (2, {"early_stop": False}, contextlib.nullcontext()),
        (2, {}, set_checkpoint_early_stop(False)),
        (1, {"early_stop": False}, set_checkpoint_early_stop(True)),
    ]:
        steps.clear()
        with block:
            y = again(function, leaf(), **options)
        y.sum().backward()
        assert steps.count("end") == ends


def test_the_second_run_is_not_stopped_by_functions_that_catch_errors():
    x = leaf()

    def function(t):
        try:
            return t.exp()
        except Exception:  # noqa: BLE001  # the point of the test
            pytest.fail("the second run ends in an error that programs see")

    again(function, x).sum().backward()
    equal([x.grad], [x.exp()])


def test_context_fn():
    entered = []

    @contextlib.contextmanager
    def block(name):
        entered.append(name)
        yield

    y = again(lambda t: t.exp(), leaf(), context_fn=lambda: (block("first"), block("second")))
    assert entered == ["first"]
    y.sum().backward()
    assert entered == ["first", "second"]


def changing(first, second):
    runs = iter([first, second])
    return lambda t: next(runs)(t).sum()


def test_a_second_run_that_saves_less_names_the_line():
    y = again(changing(lambda t: t.exp().sin(), lambda t: t * 1), leaf())
    with pytest.raises(CheckpointError, match=r"A different number of tensors(?s:.)*test_checkpointing\.py:\d+: .*sin"):
        y.backward()


@pytest.mark.parametrize("second", [lambda t: t[:1].exp(), lambda t: t.float().exp()], ids=["shape", "dtype"])
def test_a_second_run_with_other_shapes_or_dtypes_names_both_lines(second):
    y = again(changing(lambda t: t.exp(), second), leaf())
    with pytest.raises(CheckpointError, match="different metadata") as caught:
        y.backward()
    assert str(caught.value).count("test_checkpointing.py:") == 2


def test_debug_lists_what_was_saved():
    with set_checkpoint_debug_enabled(True):
        y = again(changing(lambda t: t.exp().sin(), pullback.exp), leaf())
    with pytest.raises(CheckpointError, match=r"original forward:\n  0: (?s:.)*\n  1: (?s:.)*recomputation:\n  0: "):
        y.backward()


def test_the_reentrant_form_refuses_what_it_cannot_do():
    x = leaf()
    y = checkpoint(lambda t: t.exp(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad\(\)"):
        grad(y, x, retain_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        y.backward(create_graph=True)
    with pytest.raises(RuntimeError, match="does not work inside a transform"):
        func.grad(lambda t: checkpoint(lambda u: u.exp(), t, use_reentrant=True).sum())(x.detach())
    assert x.grad is None


def test_sequential():
    x, w = leaf(), leaf(MATRIX)
    chain = [lambda t: t @ w, counted(pullback.exp), pullback.sin, lambda t: t @ w, pullback.sum]
    plain = functools.reduce(lambda value, function: function(value), chain, x)
    expected = grad(plain, [x, w])
    for segments in (1, 2, 3, 5):
        chain[1].calls = 0
        equal(grad(checkpoint_sequential(chain, segments, x, use_reentrant=False), [x, w]), expected)
        assert chain[1].calls == (1 if segments == 1 else 2)
    for segments in (0, 6):
        with pytest.raises(ValueError, match="5 functions cannot be cut into"):
            checkpoint_sequential(chain, segments, x, use_reentrant=False)


TRANSFORMS = {
    "grad": lambda f, x, _: func.grad(f)(x[0]),
    "grad of grad": lambda f, x, _: func.grad(lambda t: (func.grad(f)(t) ** 2).sum())(x[0]),
    "hessian": lambda f, x, _: func.hessian(f)(x[0]),
    "jacfwd": lambda f, x, _: func.jacfwd(f)(x[0]),
    "vmap": lambda f, x, _: func.vmap(f)(x),
    "vmap of grad": lambda f, x, _: func.vmap(func.grad(f))(x),
    "grad of vmap": lambda f, x, _: func.grad(lambda t: func.vmap(f)(t).sum())(x),
    "grad of jvp": lambda f, x, _: func.grad(lambda t: func.jvp(f, (t,), (x[1],))[1])(x[0]),
    "tape around": lambda f, x, w: grad((func.grad(f)(x[0]) ** 2).sum(), w)[0],
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("form", ["checkpoint", "nested", "loop"])
def test_inside_transforms(form, transform):
    w, x = leaf(MATRIX), pullback.tensor(VALUES)

    def plain(t):
        for _ in range(4):
            t = (w @ t).tanh()
        return (t * t).sum()

    forms = {
        "checkpoint": lambda t: again(plain, t),
        "nested": lambda t: again(lambda u: again(plain, u * 1) * 1, t),
        "loop": lambda t: (checkpoint_loop(lambda u: (w @ u).tanh(), t, 4, slots=2) ** 2).sum(),
    }
    found, expected = transform(forms[form], x, w), transform(plain, x, w)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-12, atol=1e-14)


# 2. Selective checkpoints


def kept_by(policy):
    return functools.partial(create_selective_checkpoint_contexts, policy)


@pytest.mark.parametrize("everything", [True, False])
def test_selective_gradients(everything):
    x, w = leaf(), leaf(MATRIX)

    def writing(t, w):
        h = t @ w
        row = h[0]
        y = h.exp() * t
        row.mul_(2)
        return (y * h).sum() + program(t, w)

    policy = (lambda *_, **__: CheckpointPolicy.MUST_SAVE) if everything else [pullback.ops.matmul, pullback.ops.exp]
    y = again(writing, x, w, context_fn=kept_by(policy))
    expected = grad(writing(x, w), [x, w])
    for _ in range(2):
        equal(grad(y, [x, w], retain_graph=True), expected)


def test_what_a_policy_keeps_is_not_computed_again():
    computed = []
    cube = pullback._core.primitives.elementwise(
        "cube", lambda xp, g, x: 3 * g * x * x, forward=lambda x: computed.append(x) or x**3
    )
    for policy, times in [([cube], 1), ([], 2)]:
        computed.clear()
        x = leaf()
        again(lambda t: cube(t).sin(), x, context_fn=kept_by(policy)).sum().backward()
        assert len(computed) == times
        np.testing.assert_allclose(x.grad.numpy(), 3 * VALUES**2 * np.cos(VALUES**3), rtol=1e-14)


def test_policies_are_asked_about_each_operation():
    asked = []

    def policy(ctx, op, *args, **params):
        asked.append((op.name, ctx.is_recompute, tuple(ctx.op_output.shape), len(args)))
        return CheckpointPolicy.PREFER_RECOMPUTE

    again(lambda t: (t @ t).exp(), leaf(MATRIX), context_fn=kept_by(policy)).sum().backward()
    assert asked == [("matmul", False, (3, 3), 2), ("exp", False, (3, 3), 1)]


def test_selective_refusals():
    with pytest.raises(TypeError, match="either a function or a list"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(ValueError, match="Expected op in `op_list`"):
        create_selective_checkpoint_contexts([pullback.exp])
    with pytest.raises(TypeError, match="returns a CheckpointPolicy, not int"):
        again(lambda t: t.exp(), leaf(), context_fn=kept_by(lambda *_, **__: 3))
    twice = changing(pullback.exp, lambda t: t.exp().exp())
    y = again(twice, leaf(), context_fn=kept_by([pullback.ops.sum]), early_stop=False)
    with pytest.raises(CheckpointError, match="exp was called 1 times"):
        y.backward()


# 3. Loops


def cheapest(length, places):
    """The least number of runs, by trying every place for the next stored state."""

    @functools.cache
    def runs(length, places):
        if places == 1 or length < 2:
            return length * (length - 1) // 2
        return min(m + runs(length - m, places - 1) + runs(m, places) for m in range(1, length))

    return runs(length, places)


def test_the_formula_is_the_optimum():
    for places in range(1, 7):
        for length in range(1, 60):
            assert least_runs(length, places) == cheapest(length, places)


def oscillator(w, b):
    @counted
    def step(state, i):
        h = (state["h"] @ w + b * b).tanh()
        return {"h": h, "v": (state["v"][0] * 0.9 + h * h * (i + 1), state["v"][1] + 1)}

    return step


def start():
    return {"h": leaf(VALUES[0]), "v": (leaf(VALUES[1]), pullback.tensor(0))}


def total(state):
    return state["v"][0].sum() + state["h"][0]


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 30), slots=st.integers(1, 12), packed=st.booleans())
def test_loops_have_the_gradients_of_plain_ones_and_the_least_number_of_runs(n, slots, packed):
    w, b = leaf(MATRIX), leaf(VALUES[1])
    step = oscillator(w, b)
    x = state = start()
    for i in range(n):
        state = step(state, i)
    leaves = [x["h"], x["v"][0], w, b]
    expected = grad(total(state), leaves)
    step.calls = 0
    with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t) if packed else contextlib.nullcontext():
        state = checkpoint_loop(step, x, n, slots=slots)
    assert step.calls == n
    assert state["v"][1].item() == n
    equal(grad(total(state), leaves), expected)
    assert step.calls == n + least_runs(n, slots)


def test_ten_thousand_steps_with_ten_slots():
    gain = pullback.tensor(0.9999, dtype=pullback.float64, requires_grad=True)
    x, n = leaf(2.0), 10_000
    step = counted(lambda t: t * gain)
    checkpoint_loop(step, x, n, slots=10).backward()
    assert step.calls == n + least_runs(n, 10) == n + 57_624
    np.testing.assert_allclose(x.grad.item(), 0.9999**n, rtol=1e-10)
    np.testing.assert_allclose(gain.grad.item(), 2 * n * 0.9999 ** (n - 1), rtol=1e-9)


@pytest.mark.parametrize("slots", [1, 4, 10])
def test_loops_keep_so_many_states_and_the_graph_of_one_step(slots):
    size = 100_000
    x = leaf(np.linspace(0, 1, size))
    checkpoint_loop(pullback.sin, x, 3, slots=2).sum().backward()  # imports what is needed
    x.grad = None
    tracemalloc.start()
    y = checkpoint_loop(pullback.sin, x, 25, slots=slots)
    kept = tracemalloc.get_traced_memory()[0]
    y.sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept < (slots + 3) * size * 8  # the last step's graph: its state and its result, which is y's memory
    assert peak < (slots + 6) * size * 8  # a state, a step, its result, and cotangents


def test_loops_draw_the_same_random_numbers_again():
    def run(loop):
        pullback.manual_seed(0)
        np.random.seed(1)
        x, w = leaf(), leaf(MATRIX)

        def step(t):
            t = pullback.nn.functional.dropout(t @ w, 0.3)
            return t + pullback.tensor(np.random.rand(2, 3)) * t

        return [*grad((loop(step, x) ** 2).sum(), [x, w]), pullback.rand(2), pullback.tensor(np.random.rand(2))]

    def plain(step, x):
        for _ in range(9):
            x = step(x)
        return x

    equal(run(lambda step, x: checkpoint_loop(step, x, 9, slots=2)), run(plain))


def test_loops_of_higher_order_and_over_kept_graphs():
    x, w = leaf(VALUES[0]), leaf(MATRIX)
    step = lambda t: (w @ t).tanh() * t
    plain = x
    for _ in range(6):
        plain = step(plain)

    def second(y):
        found = grad((y * y).sum(), [x, w], create_graph=True)
        return grad(sum((g * g).sum() for g in found), [x, w])

    y = checkpoint_loop(step, x, 6, slots=3)
    expected = grad(plain.sum(), [x, w], retain_graph=True)
    for retain in (True, True, False):
        equal(grad(y.sum(), [x, w], retain_graph=retain), expected)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y.sum(), w)
    for found, wanted in zip(second(checkpoint_loop(step, x, 6, slots=2)), second(plain), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12)


def test_loops_in_loops_and_in_checkpoints():
    x, w = leaf(VALUES[0]), leaf(MATRIX)
    step = lambda t: (w @ t).tanh()
    plain = x
    for _ in range(12):
        plain = step(plain)
    forms = [
        checkpoint_loop(lambda t: checkpoint_loop(step, t, 3, slots=1), x, 4, slots=2),
        checkpoint_loop(functools.partial(again, step), x, 12, slots=2),
        again(lambda t: checkpoint_loop(step, t, 12, slots=3), x),
    ]
    expected = grad(plain.sum(), [x, w])
    for form in forms:
        for found, wanted in zip(grad(form.sum(), [x, w]), expected, strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-13)


def test_steps_that_write_and_steps_that_differentiate():
    x, w = leaf(VALUES[0]), leaf(MATRIX)

    def writing(t):
        t = t * 1
        t[0] = t[1] * w[0, 0]
        return t.mul_(0.9)

    def descending(t):
        (slope,) = grad((w @ t).sin().sum(), t, create_graph=True)
        return t - 0.1 * slope

    for step in (writing, descending):
        plain = x
        for _ in range(7):
            plain = step(plain)
        equal(grad(checkpoint_loop(step, x, 7, slots=2).sum(), [x, w]), grad(plain.sum(), [x, w]))


def test_loops_that_need_no_gradient():
    x = pullback.tensor(VALUES)
    assert checkpoint_loop(lambda t: t + 1, x, 0, slots=1) is x
    y = checkpoint_loop(lambda t: t + 1, x, 5, slots=1)
    assert not y.requires_grad and (y == x + 5).all()
    with pullback.no_grad():
        assert not checkpoint_loop(lambda t: t * 2, leaf(), 5, slots=1).requires_grad


@pytest.mark.parametrize(
    ("error", "wording", "call"),
    [
        (ValueError, "slots must be at least 1, got 0", lambda x: checkpoint_loop(pullback.exp, x, 3, slots=0)),
        (ValueError, "n must be at least 0, got -1", lambda x: checkpoint_loop(pullback.exp, x, -1, slots=1)),
        (TypeError, "n must be an int, not float", lambda x: checkpoint_loop(pullback.exp, x, 2.0, slots=1)),
        (TypeError, r"x\['a'\]\[1\] is a float", lambda x: checkpoint_loop(pullback.exp, {"a": [x, 1.0]}, 2, slots=1)),
        (TypeError, r"step 0 returned \(\*, \*\) for a state \*", lambda x: checkpoint_loop(lambda t: (t, t), x, 2, 1)),
        (TypeError, "step 0 returned a float for x", lambda x: checkpoint_loop(lambda t: 1.0, x, 2, slots=1)),
        (
            RuntimeError,
            r"step 0 returned for x a .*\(2,\)",
            lambda x: checkpoint_loop(lambda t: t.sum(1), x, 2, slots=1),
        ),
        (RuntimeError, "a state keeps its shapes and dtypes", lambda x: checkpoint_loop(lambda t: t.float(), x, 2, 1)),
    ],
)
def test_loops_refuse(error, wording, call):
    with pytest.raises(error, match=wording):
        call(leaf())


def test_loops_refuse_what_would_lose_a_gradient():
    x, w, seen = leaf(), leaf(), []

    def remembering(t):
        seen.append(t * w)
        return t + seen[0]

    with pytest.raises(RuntimeError, match="step 1 uses a tensor that an earlier step has made"):
        checkpoint_loop(remembering, x, 5, slots=2)
    y = checkpoint_loop(lambda t: t * w, x, 5, slots=2).sum()
    with pullback.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    others = iter([w, w, leaf(), leaf()])
    y = checkpoint_loop(lambda t: t * next(others), x, 2, slots=1).sum()
    with pytest.raises(CheckpointError, match="step 0 uses another tensor"):
        y.backward()


# 4. Saved values packed elsewhere


def packers(tmp_path):
    """A pair of hooks that keep saved values in files of a directory."""

    def pack(tensor):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, tensor.numpy(force=True), allow_pickle=False)
        return path

    return pack, lambda path: pullback.from_numpy(np.load(path, allow_pickle=False))


def test_saved_values_on_disk(tmp_path):
    x, w = leaf(), leaf(MATRIX)
    with saved_tensors_hooks(*packers(tmp_path)):
        y = program(x, w)
    assert len(list(tmp_path.iterdir())) > 5
    expected = grad(program(x, w), [x, w])
    equal(grad(y, [x, w], retain_graph=True), expected)
    equal(grad(y, [x, w], create_graph=True), expected)


def test_saved_values_as_half_precision():
    x = leaf(np.linspace(0, 3, 50))
    with saved_tensors_hooks(lambda t: (t.dtype, t.half()), lambda packed: packed[1].to(packed[0])):
        y = (x.exp() * x.sin()).sum()
    (found,), (expected,) = grad(y, x), grad((x.exp() * x.sin()).sum(), x)
    assert found.dtype == pullback.float64
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=3e-3, atol=0.03)
    assert not np.array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_keep_their_arguments_on_disk(tmp_path, reentrant):
    x, w = leaf(), leaf(MATRIX)
    with saved_tensors_hooks(*packers(tmp_path)):
        y = checkpoint(program, x * 1, w, use_reentrant=reentrant)
    assert 2 <= len(list(tmp_path.iterdir())) <= 3
    y.backward()
    equal([x.grad, w.grad], grad(program(x, w), [x, w]))


def test_loops_keep_their_states_on_disk(tmp_path):
    x = leaf()
    with saved_tensors_hooks(*packers(tmp_path)):
        y = checkpoint_loop(lambda t: t.sin(), x, 20, slots=5)
    assert len(list(tmp_path.iterdir())) == 5
    plain = x
    for _ in range(20):
        plain = plain.sin()
    equal(grad(y.sum(), x), grad(plain.sum(), x))


def test_save_on_cpu():
    x, w = leaf(), leaf(MATRIX)
    with save_on_cpu():
        y = program(x, w)
    equal(grad(y, [x, w]), grad(program(x, w), [x, w]))


def test_hooks_that_are_refused_refuse_checkpoints():
    with disable_saved_tensors_hooks("no hooks here"):
        with pytest.raises(RuntimeError, match="no hooks here"):
            again(pullback.exp, leaf())
        with pytest.raises(RuntimeError, match="no hooks here"), save_on_cpu():
            pass
        checkpoint(pullback.exp, leaf(), use_reentrant=True)
