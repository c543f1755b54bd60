"""What an explanation says of a backward call: torch's numbers, finite differences, and nothing touched."""

import gc
import linecache
import math
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback import nn
from pullback.utils.checkpoint import checkpoint

from .. import samples
from .seeds import CASES, three_of_two
from .torch_steps import STEPS


def leaves_of(y):
    found, todo = {}, [y.grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            found[node] = node.variable
        todo += [after for after, _ in node.next_functions if after is not None]
    return list(found.values())


def consistent(ex):
    """Every stored product is a product, and every sum a sum."""
    for step in ex.steps:
        for term in step.terms:
            if None not in term.jacobians:
                together = sum(
                    np.asarray(v).reshape(-1) @ local.dense()
                    for v, local in zip(step.vs, term.jacobians, strict=True)
                    if v is not None
                )
                np.testing.assert_allclose(together, np.asarray(term.out).reshape(-1), rtol=1e-5, atol=1e-7)
            before = 0 if term.before is None else term.before
            np.testing.assert_allclose(before + np.asarray(term.out), term.after, rtol=1e-6)
    for leaf in ex.leaves:
        if leaf.contributions:
            total = sum(np.asarray(term.out) for _, term in leaf.contributions)
            np.testing.assert_allclose(total, leaf.grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("recorded", [False, True])
def test_steps_are_those_of_torch(case, recorded):
    """Which vector reaches which node, on every example of the seeds: torch's, as its own hooks tell it."""
    if recorded:
        with pullback.explain.record() as ex:
            y, v = case(pullback)
            y.backward(v)
    else:
        y, v = case(pullback)
        ex = pullback.explain(y, gradient=v)
    seen = sorted(
        (step.node, np.concatenate([np.asarray(v).reshape(-1) for v in step.vs]).tolist()) for step in ex.steps
    )
    expected = STEPS[case.__name__]
    assert [name for name, _ in seen] == [name for name, _ in expected]
    for (_, ours), (_, theirs) in zip(seen, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-7)
    consistent(ex)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_tensor_is_explained_without_a_trace(case):
    y, v = case(pullback)
    leaves = leaves_of(y)
    versions = [leaf._version for leaf in leaves]
    ex = pullback.explain(y, gradient=v)
    assert all(leaf.grad is None for leaf in leaves)
    assert [leaf._version for leaf in leaves] == versions
    y.backward(v, retain_graph=True)
    y.backward(v)
    for leaf in leaves:
        np.testing.assert_allclose(np.asarray(ex.leaf(leaf).grad) * 2, leaf.grad.numpy(), rtol=1e-6)


def test_the_jacobian_row_by_row():
    y, v = three_of_two(pullback)
    ex = pullback.explain(y, gradient=v)
    assert ex.jacobian().tolist() == [[6, 0], [2, 24], [0, 10]]
    assert [(unit.tolist(), line.tolist()) for unit, line in ex.rows()] == [
        ([1, 0, 0], [6, 0]),
        ([0, 1, 0], [2, 24]),
        ([0, 0, 1], [0, 10]),
    ]
    step = ex.steps[7]
    assert (step.index, step.node, step.line, step.v) == (8, "SelectBackward0", step.line, 240)
    assert step.terms[0].J.tolist() == [[0, 1]]
    assert (step.terms[0].nth, step.terms[0].of, step.terms[0].after.tolist()) == (2, 4, [0, 1240])


FUNCTIONS = [
    lambda x, w: (x * w).sum(-1),
    lambda x, w: x @ w.reshape(-1)[:3],
    lambda x, w: pullback.stack([x.sin(), w.exp()]).sum(0),
    lambda x, w: pullback.softmax(x, -1) * w,
    lambda x, w: x[1:] - x[:1] * w.mean(),
    lambda x, w: (x.reshape(3, 2) @ w.reshape(2, 3)).relu().cumsum(0),
    lambda x, w: pullback.cat([x, w], 0).max(0).values,
    lambda x, w: x.unbind(0)[1] ** 2 + w.t()[:, 0],
]


@given(st.sampled_from(FUNCTIONS), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_jacobians_are_those_of_finite_differences(f, seed):
    rng = np.random.default_rng(seed)
    x, w = (pullback.tensor(rng.normal(size=(2, 3)), requires_grad=True) for _ in range(2))
    v = rng.normal(size=tuple(f(x, w).shape))
    ex = pullback.explain(f, x, w, gradient=v)
    consistent(ex)
    for leaf, arrays in ((x, "xw"), (w, "wx")):
        assert x.grad is None
        matrix = ex.jacobian(leaf)
        columns = []
        for i in range(leaf.numel()):
            ends = []
            for sign in (1, -1):
                moved = leaf.detach().clone()
                moved.view(-1)[i] += sign * 1e-6
                given_now = (moved, w.detach()) if arrays == "xw" else (x.detach(), moved)
                ends.append(f(*given_now).numpy().reshape(-1))
            columns.append((ends[0] - ends[1]) / 2e-6)
        np.testing.assert_allclose(matrix, np.stack(columns, 1), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(
            v.reshape(-1) @ matrix, np.asarray(ex.leaf(leaf).grad).reshape(-1), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("row", samples.rows()[::15], ids=lambda row: row[0])
def test_every_kind_of_rule_is_explained(row):
    """Samples of the operators' own table: products are products, and what reaches a leaf is its `.grad`."""
    name, makers, params = row
    rng = np.random.default_rng(5)
    arrays = [np.asarray(make(rng)) for make in makers]
    args = [pullback.from_numpy(a).requires_grad_() if a.dtype.kind in "fc" else a for a in arrays]
    with pullback.explain.record(values=10**6, jacobian=10**5) as ex:
        result = getattr(pullback.ops, name)(*args, **params)
        outputs = [each for each in (result if isinstance(result, tuple) else (result,)) if each.requires_grad]
        vectors = [pullback.from_numpy(np.asarray(rng.standard_normal(tuple(y.shape)), y._dtype)) for y in outputs]
        if outputs:
            pullback.autograd.backward(outputs, vectors)
    if outputs:
        consistent(ex)
        for leaf in (arg for arg in args if pullback.is_tensor(arg) and arg.grad is not None):
            np.testing.assert_array_equal(ex.leaf(leaf).grad, leaf.grad.numpy())


def test_a_recording_has_values_places_names_times_and_scopes():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    data = pullback.tensor([[1.0, 2.0], [3.0, 4.0]])

    def loss_of(batch):
        return (model(batch) ** 2).mean()

    with pullback.explain.record(timing=True) as ex:
        loss = loss_of(data)
        loss.backward()
    assert [tensor.op for tensor in ex.nodes] == ["addmm", "relu", "addmm", "pow", "mean"]
    assert [str(tensor.scope).split(".")[-1] for tensor in ex.nodes[:3]] == ["0", "1", "2"]
    assert [scope.kind for scope in ex.nodes[0].scope.path] == ["function", "module", "module"]
    assert ex.nodes[0].scope.path[0].name.endswith("loss_of")
    assert {leaf.tensor.name for leaf in ex.leaves} == {f"model.{name}" for name, _ in model.named_parameters()}
    assert all(tensor.time > 0 and tensor.value_from == "recorded" for tensor in ex.nodes)
    assert all(step.time > 0 for step in ex.steps if step.terms)
    assert ex.nodes[3].expr == "model(batch) ** 2"
    assert ex.nodes[-1].data == loss.item()
    for leaf, parameter in ((leaf, dict(model.named_parameters())[leaf.tensor.name[6:]]) for leaf in ex.leaves):
        np.testing.assert_array_equal(leaf.grad_after, parameter.grad.numpy())
    consistent(ex)


def test_every_backward_of_a_recording_is_a_call():
    w = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record(calls=3) as ex:
        for _ in range(5):
            (w * w).sum().backward()
    assert len(ex.calls) == 3
    assert ex.count == 5
    last = ex.calls[-1].leaf(w)
    assert (last.grad_before.tolist(), last.grad.tolist(), last.grad_after.tolist()) == ([8, 16], [2, 4], [10, 20])
    assert [each.leaf("w").grad.tolist() for each in ex.calls] == [[2, 4]] * 3


def test_writes_and_views_keep_the_value_of_each_moment():
    x = pullback.ones(3, requires_grad=True)
    with pullback.explain.record() as ex:
        y = x * 2
        y.exp_()
        part = y[0:1]
        part.mul_(10)
        y[1:].add_(1)
        y.backward(pullback.ones(3))
    e = math.exp(2)
    values = [tensor.data for tensor in ex.nodes if tensor.shape == (3,)]
    for value, expected in zip(values, [[2, 2, 2], [e, e, e], [10 * e, e, e], [10 * e, e + 1, e + 1]], strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [20 * e, 2 * e, 2 * e], rtol=1e-6)
    consistent(ex)
    assert ex.nodes[-1].name == "y"


def test_hooks_of_the_program_run_in_backward_alone():
    calls = []
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: calls.append("tensor") or g * 10)
    y.grad_fn.register_hook(lambda results, given: calls.append("node"))
    ex = pullback.explain(y.sum())
    assert calls == []
    assert ex.leaf(x).grad.tolist() == [3, 3]  # what the tape gives: hooks are the program's
    with pullback.explain.record() as ex:
        y.sum().backward()
    assert calls == ["tensor", "node"]
    assert ex.leaf(x).grad.tolist() == x.grad.tolist() == [30, 30]
    assert next(step for step in ex.steps if step.node == "MulBackward0").v.tolist() == [10, 10]
    with pytest.raises(RuntimeError, match="the Jacobian with respect to x was not computed: a rule or hook"):
        ex.jacobian(x)


def test_a_pass_inside_a_pass_is_no_part_of_it():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    inner = []

    def hook(g):
        if not inner:
            inner.append(None)
            inner.append(pullback.autograd.grad(y, x, pullback.tensor([100.0, 100.0]), retain_graph=True))

    y.register_hook(hook)
    with pullback.explain.record() as ex:
        y.sum().backward()
    assert inner[1][0].tolist() == [300, 300]
    assert [step.node for step in ex.steps] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert ex.leaf(x).grad.tolist() == x.grad.tolist() == [3, 3]
    consistent(ex)


def test_recordings_nest():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record() as outer:
        with pullback.explain.record() as inner:
            y = x * 2
            y += 1
            y.sum().backward()
        (x * 3).sum().backward()
    assert (len(inner.calls), len(outer.calls)) == (1, 2)
    assert outer.calls[0].to_text(width=100).splitlines()[2:] != []
    assert [tensor.data.tolist() for tensor in outer.calls[0].nodes] == [tensor.data.tolist() for tensor in inner.nodes]
    consistent(outer)


def test_recording_leaves_no_hooks_behind():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with pullback.explain.record():
        y.backward(retain_graph=True)
    assert y._node.hooks is None
    assert x._node.hooks is None


def test_options_of_backward_are_told():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    w = pullback.tensor([3.0, 4.0], requires_grad=True)
    with pullback.explain.record() as ex:
        y = x * w
        y.retain_grad()
        z = y.sum()
        z.backward(inputs=[x], retain_graph=True)
        z.backward()
        pullback.autograd.grad((x * w).sum(), w)
    first, second, third = ex.calls
    assert [leaf.tensor.name for leaf in first.leaves if leaf.tensor.is_leaf] == ["x"]
    assert {leaf.tensor.name for leaf in second.leaves} == {"x", "w", "y"}
    assert [leaf.tensor.name for leaf in third.leaves] == ["w"]
    assert third.leaf("w").grad_after.tolist() == [1, 2]  # grad writes nothing: this is what backward left
    assert third.call.text == "pullback.autograd.grad((x * w).sum(), w)"
    ex = pullback.explain(x * w, gradient=[1.0, 1.0], inputs=w)
    assert [leaf.tensor.name for leaf in ex.leaves] == ["w"]


def test_several_outputs_of_one_operation():
    x = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with pullback.explain.record() as ex:
        first, second = x.unbind(0)
        values, _ = second.max(0)
        (first * values).backward(pullback.ones(2))
    unbind = next(step for step in ex.steps if step.op == "unbind")
    assert len(unbind.outputs) == len(unbind.vs) == len(unbind.terms[0].jacobians) == 2
    assert [v.tolist() for v in unbind.vs] == [[4, 4], [0, 3]]
    consistent(ex)


def test_derivatives_of_derivatives():
    x = pullback.tensor(2.0, requires_grad=True)
    with pullback.explain.record() as ex:
        (slope,) = pullback.autograd.grad(x**3, x, create_graph=True)
        slope.backward()
    assert ex.leaf(x).grad == 12
    assert len(ex.calls) == 2
    consistent(ex)


def test_functions_of_the_program_are_not_run_more_often_than_it_asks():
    class Double(pullback.autograd.Function):
        runs = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            Double.runs += 1
            return g * 2

    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record() as ex:
        Double.apply(x).sum().backward()
    assert Double.runs == 1
    term = next(step for step in ex.steps if step.node == "DoubleBackward").terms[0]
    assert term.out.tolist() == [2, 2]
    assert term.jacobians == [None]
    assert "the program's own" in term.missing
    assert ex.leaf(x).J is None


def test_complex_numbers():
    z = pullback.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    ex = pullback.explain((z * z.conj()).real.sum())
    assert ex.leaf(z).grad.tolist() == [2 + 4j, 6 - 2j]
    assert all(term.jacobians == [None] for step in ex.steps for term in step.terms if step.op == "mul")
    assert pullback.explain(z.abs().sum()).leaf(z).J is None


def test_checkpoints_are_walked_once_by_the_program():
    from pullback.utils.checkpoint import checkpoint

    runs = []

    def block(t):
        runs.append(1)
        return t.sin().exp()

    x = pullback.tensor([0.5, 1.0], requires_grad=True)
    with pullback.explain.record() as ex:
        checkpoint(block, x, use_reentrant=False).sum().backward()
    assert len(runs) == 2
    np.testing.assert_allclose(ex.leaf(x).grad, np.exp(np.sin([0.5, 1.0])) * np.cos([0.5, 1.0]), rtol=1e-6)
    np.testing.assert_array_equal(ex.leaf(x).grad, x.grad.numpy())


def test_transforms_pass_through_a_recording():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record() as ex:
        slope = pullback.func.grad(lambda t: (t**2).sum())(x.detach())
        (x * slope).sum().backward()
    assert len(ex.calls) == 1
    assert ex.leaf(x).grad.tolist() == [2, 4]


def test_a_function_is_explained_with_its_arguments():
    ex = pullback.explain(lambda a, b: a * b, [1.0, 2.0], np.array([3.0, 4.0], np.float32), gradient=[1.0, 10.0])
    assert {leaf.tensor.name: leaf.grad.tolist() for leaf in ex.leaves} == {"a": [3, 40], "b": [1, 20]}
    assert ex.recorded
    assert ex.call.kind == "explain"


def test_limits():
    x = pullback.ones(100, requires_grad=True)
    with pullback.explain.record(values=10, jacobian=50) as ex:
        (x * 2).sum().backward()
    step = ex.steps[1]
    assert step.v.shape == (100,)
    assert step.v.stats.max == 1
    assert step.v.head.tolist() == [1] * 4
    assert step.terms[0].J is None
    assert "more than 50 elements" in step.terms[0].missing
    with pytest.raises(RuntimeError, match="was not computed: it has more than 50 elements; raise jacobian="):
        ex.jacobian(x)
    y = x * 2
    big = pullback.explain(y, gradient=np.ones(100), jacobian=50)
    np.testing.assert_array_equal(big.jacobian(x), 2 * np.eye(100))
    short = pullback.explain((x * 2).exp().sin().sum(), max_nodes=3, values=100)
    assert len(short.nodes) == 3
    np.testing.assert_allclose(short.leaf(x).grad, 2 * math.exp(2) * math.cos(math.exp(2)), rtol=1e-5)
    assert "left out" in short.notes[0]


def test_redacted_explanations_have_no_values():
    x = pullback.tensor([12345.0, 2.0], requires_grad=True)
    with pullback.explain.record(redact=True) as ex:
        (x * 3).sum().backward()
    text = ex.to_json() + ex.to_text() + ex.to_dot() + ex.to_mermaid()
    assert "12345" not in text
    assert "37035" not in text  # 3 * 12345
    assert ex.leaves[0].grad.shape == (2,)


def test_a_variable_of_the_program_tells_its_value_unless_it_was_written():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    kept = x + 1
    written = kept + 1
    y = (written + 1).sum()
    with pullback.no_grad():
        written.mul_(100)
    ex = pullback.explain(y)
    values = {tensor.name: (tensor.value_from, tensor.data) for tensor in ex.nodes}
    assert (values["kept"][0], values["kept"][1].tolist()) == ("variable", [2, 3])
    assert values["written"] == ("not kept", None)
    assert values["y"][0] == "output"


def test_gradient_flow_over_the_calls():
    w = pullback.tensor([3.0, 4.0], requires_grad=True)
    with pullback.explain.record() as ex:
        (w * w).sum().backward()
        (w * 0).sum().backward()
    assert [each.leaf("w").flow.norm for each in ex.calls] == [10, 0]
    with pytest.raises(ValueError, match="statistic is one of"):
        ex.plot("median")


def test_five_thousand_operations_without_recursion():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(2500):
        y = (y * 1.0001).sin()
    ex = pullback.explain(y.sum())
    assert len(ex.steps) == 5002
    assert len(ex.to_text().splitlines()) < 60
    assert ex.to_mermaid().count("-->") < 450
    y.sum().backward()
    np.testing.assert_array_equal(ex.leaf(x).grad, x.grad.numpy())


def test_an_explanation_of_a_recording_keeps_no_graph_alive():
    def run():
        y = (pullback.ones(3, requires_grad=True) * 2).sum()
        y.backward()
        return weakref.ref(y.grad_fn)

    with pullback.explain.record() as ex:
        node = run()
    gc.collect()
    assert node() is None
    assert ex.leaves[0].grad.tolist() == [2, 2, 2]


def test_errors_are_those_of_backward():
    x = pullback.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        pullback.explain(x * 2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        pullback.explain(pullback.ones(2))
    with pytest.raises(RuntimeError, match="shape"):
        pullback.explain(x * 2, gradient=[1.0, 2.0, 3.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        pullback.explain(y)
    with pytest.raises(TypeError, match="a tensor that requires grad, or a function"):
        pullback.explain(3.0)
    with pytest.raises(TypeError, match="returned int"):
        pullback.explain(lambda t: 3, x)
    with pytest.raises(KeyError, match="'u' is not a leaf of this call; its leaves are x"):
        pullback.explain(x.sum()).jacobian("u")
    with pytest.raises(TypeError, match="values is a number of elements"):
        pullback.explain(x.sum(), values="many")
    with pytest.raises(ValueError, match="jacobian=0"):
        pullback.explain(x.sum(), jacobian=0)
    with pullback.explain.record() as ex:
        pass
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        ex.steps
    with pytest.raises(RuntimeError, match="entered already"), ex:
        pass


def test_a_failed_run_keeps_its_tape():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError) as raised, pullback.explain.record() as ex:
        y = x * 3
        y @ pullback.ones(5)
    assert pullback.explain.last_error() is ex
    assert raised.value.__notes__ == ["explain: the tape is kept; pullback.explain.last_error() shows it"]
    assert ex.failure.type == "RuntimeError"
    assert ex.failure.place.file == __file__
    assert [tensor.name for tensor in ex.nodes] == ["y"]
    assert ex.steps == []
    assert "RuntimeError" in " ".join(ex.to_text().split())
    with pytest.raises(ZeroDivisionError), pullback.explain.record() as ex:
        x.register_hook(lambda g: 1 / 0)
        (x * 3).sum().backward()
    assert ex.failure.type == "ZeroDivisionError"
    assert [step.node for step in ex.steps] == ["SumBackward0", "MulBackward0"]


def in_no_grad(w):
    with pullback.no_grad():
        w.mul_(2)  # HERE


def through_a_view(w):
    with pullback.no_grad():
        w[1:] = 5.0  # HERE


def by_a_mask(w):
    with pullback.no_grad():
        w[w > 3] = 5.0  # HERE


def by_an_optimizer(w):
    w.grad = pullback.ones(2)
    pullback.optim.SGD([w], lr=0.1).step()  # HERE


@pytest.mark.parametrize("write", [in_no_grad, through_a_view, by_a_mask, by_an_optimizer])
@pytest.mark.parametrize("loop", [False, True])
def test_a_tensor_that_was_overwritten_is_named_with_both_versions_and_the_line(write, loop):
    """A pass that computes again what was not kept cannot have the value of then: the one in-place error of backward."""
    x, w = (pullback.tensor([2.0, 4.0], requires_grad=True) for _ in range(2))
    with (
        pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"),
        pullback.explain.record() as ex,
    ):
        if loop:
            y = pullback.checkpoint_loop(lambda t: t * w, x, 3, slots=1).sum()
        else:
            y = checkpoint(lambda t: (t * w).sin(), x, use_reentrant=False).sum()
        write(w)
        y.backward()
    found = ex.failure.overwritten
    assert (found.name, found.expected, found.version) == ("w", 0, 1)
    assert linecache.getline(found.place.file, found.place.line).rstrip().endswith("# HERE")
    assert found.tensor in ex.tensors
    assert ex.failure.tensor is ex.steps[-1].outputs[0]
    assert ex.steps[-1].terms == []
    assert f"w was used at version 0, and is at version 1, last written at {found.place.where}" in " ".join(
        ex.to_text().split()
    )


@pytest.mark.parametrize("grown", [False, True])
def test_what_was_overwritten_may_be_no_part_of_the_graph(grown):
    x = pullback.ones(2, requires_grad=True)
    factor = x * 2 if grown else pullback.tensor(3.0)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"), pullback.explain.record() as ex:
        y = checkpoint(lambda t: (t * factor).sum(), x, use_reentrant=False)
        factor.mul_(2)
        y.backward()
    found = ex.failure.overwritten
    assert (found.name, found.tensor, found.version) == ("factor", None, 1)
    assert ex.failure.tensor.op == "mul"


def test_what_a_graph_keeps_is_not_overwritten():
    w = pullback.tensor([2.0, 4.0], requires_grad=True)
    with pullback.explain.record() as ex:
        y = (w * w).sum()
        in_no_grad(w)
        y.backward()
    assert ex.failure is None
    assert w.grad.tolist() == [4, 8]


def test_one_recording_belongs_to_one_thread():
    import threading

    x = pullback.ones(2, requires_grad=True)
    with pullback.explain.record() as ex:
        other = threading.Thread(target=lambda: (pullback.ones(2, requires_grad=True) * 3).sum().backward())
        other.start()
        other.join()
        (x * 2).sum().backward()
    assert len(ex.calls) == 1
    assert ex.leaves[0].grad.tolist() == [2, 2]


def test_why_is_asked_of_the_same_graph():
    x = pullback.ones(2, requires_grad=True)
    unused = pullback.ones(2, requires_grad=True)
    y = (x * 2).sum()
    assert pullback.explain(y).why(unused)


def test_better_names_win():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)))
    _ = model[0].bias
    for p in model.parameters():
        p.grad = None
    x = pullback.ones(1, 2)
    with pullback.explain.record() as ex:
        h = model[0](x)
        for layer in model[1]:
            h = layer(h)
        h.sum().backward()
    names = {leaf.tensor.name for leaf in ex.leaves}
    assert names == {f"model.{part}.{kind}" for part in ("0", "1.0", "1.1") for kind in ("weight", "bias")}
    assert [scope.name for scope in ex.scopes] == ["model.0", "model.1.0", "model.1.1"]


def test_a_notebook_s_own_names_are_none():
    namespace = {"pullback": pullback}
    exec(compile("v = pullback.ones(2, requires_grad=True) * 2\n_ = _1 = v", "<cell>", "exec"), namespace)
    code = "with pullback.explain.record() as ex:\n    (_1 * v).sum().backward()"
    del namespace["v"]
    namespace["u"] = namespace["_"]
    exec(compile(code.replace("v", "u"), "<cell>", "exec"), namespace)
    assert "u" in {tensor.name for tensor in namespace["ex"].tensors}
    assert not {"_", "_1"} & {tensor.name for tensor in namespace["ex"].tensors}


def test_a_line_that_ran_again_says_which_time_it_was():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record() as ex:
        y = x
        for _ in range(3):
            y = (y * 2 + x).tanh()
        z = y * y * y + y * y  # seven names, one time
        sum(z).backward()
    found = {}
    for tensor in ex.to_dict()["calls"][0]["tensors"]:
        if tensor["op"] is not None:
            found.setdefault(tensor["place"]["line"], []).append(tensor.get("round"))
    loop, once, total = found.values()
    assert loop == [[nth, 3] for nth in (1, 2, 3) for _ in range(3)]
    assert once == [None] * 4
    assert total == [None] * 4
    assert [tensor.round for tensor in ex.calls[0].tensors if tensor.round] == [tuple(each) for each in loop]


def test_a_reader_stops_at_lines_and_each_time_that_they_ran():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record() as ex:
        y = x
        for _ in range(3):
            y = (y * 2 + x).tanh()
        (y * y).sum().backward()
    (call,) = ex.to_dict()["calls"]
    stops = [*zip(call["stops"], [*call["stops"][1:], len(call["steps"])], strict=True)]
    lines = [{step["place"]["line"] for step in call["steps"][a:b] if step["place"]} for a, b in stops]
    first = lines[1].copy().pop()
    assert lines == [{first + 1}, {first}, {first}, {first}]
    ops = [[step["op"] for step in call["steps"][a:b]] for a, b in stops]
    assert ops[0] == ["sum", "mul"]
    assert [each[:2] for each in ops[1:]] == [["tanh", "add"]] * 3
    assert ops[-1][-1] is None  # what has been added up for x


@pytest.mark.parametrize("size", [2, 5000])
def test_a_hook_on_a_node_is_told_with_what_it_changed(size):
    def triple(sent, given):
        return (sent[0] * 3, *sent[1:])

    x = pullback.ones(size, requires_grad=True)
    with pullback.explain.record() as ex:
        y = x * 2
        y.grad_fn.register_hook(triple)
        y.sum().backward()
    (found,) = [step.hooked for step in ex.call.steps if step.hooked is not None]
    assert [name.rpartition(".")[2] for name, _ in found.functions] == ["triple"]
    text = str(ex)
    assert "triple (test_steps.py:" in text
    if size == 2:
        assert (found.before.tolist(), found.after.tolist()) == ([2, 2], [6, 6])
        assert "@diag[2 2]" not in text  # that product is not what was sent
    assert x.grad.tolist() == [6] * size


def test_products_that_are_not_what_was_sent_are_not_written():
    w = pullback.tensor([1.0, -1.0], requires_grad=True)
    with pullback.explain.record() as ex:
        (w * 2).sqrt().sum().backward()
    row = next(line for line in str(ex).splitlines() if line.rstrip().endswith("-> w"))
    assert "@" not in row and "[0.7071 nan]" in row
