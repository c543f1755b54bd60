"""Checkpoints: gradients, how often what is run, errors and warnings."""

import functools
import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity, raises, warns  # noqa: E402


def counted(function, calls, name="function"):
    def wrapped(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    return wrapped


def checkpoint(t, reentrant):
    return functools.partial(t.utils.checkpoint.checkpoint, use_reentrant=reentrant)


both = pytest.mark.parametrize("reentrant", [True, False])


@both
@parity
def test_backward(t, reentrant):
    x, w, calls = leaf(t, 1, 2), leaf(t, 3, 4), []
    y = checkpoint(t, reentrant)(counted(lambda a: (a * w).sin() * a, calls), x)
    y.sum().backward()
    return y, x.grad, w.grad, calls


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
@parity
def test_nested(t, first, second):
    x, calls = leaf(t, 1, 2), []
    inner = counted(lambda a: a.sin().exp(), calls, "inner")
    outer = counted(lambda a: checkpoint(t, second)(inner, a * 2).tanh(), calls, "outer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checkpoint(t, first)(outer, x).sum().backward()
    return x.grad, calls


@parity
def test_three_deep(t):
    x, calls = leaf(t, 1, 2), []
    inner = counted(lambda a: a.sin().exp(), calls, "inner")
    middle = counted(lambda a: checkpoint(t, False)(inner, a * 2).tanh(), calls, "middle")
    outer = counted(lambda a: checkpoint(t, False)(middle, a.cos()).exp(), calls, "outer")
    checkpoint(t, False)(outer, x).sum().backward()
    return x.grad, sorted(calls)


@parity
def test_retained_graphs_and_second_derivatives(t):
    x, calls = leaf(t, 1, 2), []
    y = checkpoint(t, False)(counted(lambda a: (a * a).sin(), calls), x).sum()
    y.backward(retain_graph=True)
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    return x.grad, g, h


@both
@parity
def test_results_that_are_no_tensors(t, reentrant):
    x = leaf(t, 1, 2)
    a, n, s, i, none = checkpoint(t, reentrant)(lambda a: (a * 2, 3, "s", a.long(), None), x)
    a.sum().backward()
    return a, n, s, i, none, x.grad


@both
@parity
def test_under_no_grad(t, reentrant):
    with t.no_grad():
        return checkpoint(t, reentrant)(lambda a: a * 2, leaf(t, 1, 2))


@parity
def test_backward_inside(t):
    x, calls = leaf(t, 1, 2), []

    def penalty(a):
        (g,) = t.autograd.grad((a * a).sin().sum(), a, create_graph=True)
        return g * a

    checkpoint(t, False)(counted(penalty, calls), x).sum().backward()
    return x.grad, calls


@parity
def test_early_stop(t):
    ends = []

    def function(a):
        b = a.exp().sin()
        b + 1
        ends.append(len(ends))
        return b

    x = leaf(t, 1, 2)
    for early_stop in (True, False):
        checkpoint(t, False)(function, x, early_stop=early_stop).sum().backward()
    with t.utils.checkpoint.set_checkpoint_early_stop(False):
        y = checkpoint(t, False)(function, x)
    y.sum().backward()
    return ends


@parity
def test_keyword_arguments(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    checkpoint(t, False)(lambda a, *, w, n: (a * w).exp() * n, x, w=w, n=2).sum().backward()
    raises(ValueError, "Unexpected keyword arguments: n", lambda: checkpoint(t, True)(lambda a, n: a, x, n=2))
    return x.grad, w.grad


@parity
def test_sequential(t):
    x = leaf(t, 1, 2)
    chain = [t.sin, t.exp, t.tanh, t.cos, t.sum]
    found = []
    for segments in (1, 2, 3, 5):
        calls = []
        functions = [counted(function, calls, str(i)) for i, function in enumerate(chain)]
        y = t.utils.checkpoint.checkpoint_sequential(functions, segments, x, use_reentrant=False)
        found.append([t.autograd.grad(y, x), calls])
    raises(ValueError, "Unexpected keyword arguments: foo",
           lambda: t.utils.checkpoint.checkpoint_sequential(chain, 2, x, use_reentrant=False, foo=1))  # fmt: skip
    with pytest.raises(ValueError):
        t.utils.checkpoint.checkpoint_sequential(chain, 6, x, use_reentrant=False)
    return found


@parity
def test_warnings(t):
    utils, x = t.utils.checkpoint, leaf(t, 1, 2)
    form = "the use_reentrant parameter should be passed explicitly"
    y = warns(UserWarning, f"torch.utils.checkpoint: {form}", lambda: utils.checkpoint(lambda a: a * 2, x))
    z = warns(
        UserWarning, f"torch.utils.checkpoint.checkpoint_sequential: {form}",
        lambda: utils.checkpoint_sequential([t.exp], 1, x),
    )  # fmt: skip
    none = "None of the inputs have requires_grad=True. Gradients will be None"
    return y, z, warns(UserWarning, none, lambda: checkpoint(t, True)(lambda a: a * 2, x.detach()))


@parity
def test_the_reentrant_form_works_with_backward_alone(t):
    x = leaf(t, 1, 2)
    y = checkpoint(t, True)(lambda a: a * a, x).sum()
    wording = (
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
        ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
        "the `inputs` argument."
    )
    raises(RuntimeError, wording, lambda: t.autograd.grad(y, x, retain_graph=True))
    raises(RuntimeError, wording, lambda: y.backward(inputs=[x], retain_graph=True))
    y = checkpoint(t, True)(lambda a: a.detach(), x).sum()
    raises(RuntimeError, "none of output has requires_grad=True, this checkpoint() is not necessary", y.backward)


def changing(first, second):
    runs = iter([first, second])
    return lambda a: next(runs)(a).sum()


@pytest.mark.parametrize(
    ("first", "second", "wording"),
    [
        (
            lambda a: a.exp().sin(),
            lambda a: a.exp(),
            "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
            "recomputation.\nNumber of tensors saved during forward: 2\nNumber of tensors saved during recomputation: 1.",
        ),
        (
            lambda a: a.exp(),
            lambda a: a.exp().sin(),
            "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward",
        ),
        (
            lambda a: a.exp(),
            lambda a: a[:1].exp(),
            "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
            "forward pass.\ntensor at position 0:\nsaved metadata: {'shape': torch.Size([2]), 'dtype': ",
        ),
    ],
    ids=["fewer", "more", "shape"],
)
@parity
def test_runs_that_differ(t, first, second, wording):
    y = checkpoint(t, False)(changing(first, second), leaf(t, 1, 2), early_stop=False)
    raises(t.utils.checkpoint.CheckpointError, wording, y.backward)
    return issubclass(t.utils.checkpoint.CheckpointError, RuntimeError)


@parity
def test_options_that_are_refused(t):
    x = leaf(t, 1, 2)
    call = lambda form, **options: lambda: checkpoint(t, form)(lambda a: a, x, **options)
    only = "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
    raises(ValueError, only, call(True, debug=True))
    raises(ValueError, only, call(True, context_fn=lambda: None))
    raises(ValueError, "determinism_check should be one of ['default', 'none'], but got x",
           call(False, determinism_check="x"))  # fmt: skip
    raises(ValueError, "debug=True is incompatible with non-default context_fn",
           call(False, debug=True, context_fn=lambda: None))  # fmt: skip
    with t.autograd.graph.disable_saved_tensors_hooks("no hooks"):
        raises(RuntimeError, "no hooks", call(False))


@parity
def test_policies(t):
    names = []
    policy = t.utils.checkpoint.CheckpointPolicy

    def choose(ctx, op, *args, **kwargs):
        names.append(list(ctx.op_output.shape))
        return policy.MUST_SAVE if len(names) % 2 else policy.PREFER_RECOMPUTE

    x = leaf(t, 1, 2)
    contexts = functools.partial(t.utils.checkpoint.create_selective_checkpoint_contexts, choose)
    y = checkpoint(t, False)(lambda a: (a.exp() * a).sin().sum(), x, context_fn=contexts)
    y.backward()
    return y, x.grad, names, [each.name for each in policy]


@parity
def test_helpers(t):
    utils, x = t.utils.checkpoint, leaf(t, 1, 2)
    raises(RuntimeError, "Only tuple of tensors is supported. Got Unsupported input type: ",
           lambda: utils.detach_variable([x]))  # fmt: skip
    return utils.detach_variable((x * 2, x.detach(), 3)), utils.check_backward_validity([x, 3])
