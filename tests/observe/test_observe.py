"""Observers see what happens, and change nothing."""

import numpy as np
import pytest

import pullback
from pullback import func, nn, observe


class Seen(observe.Observer):
    """Keeps everything that it is told."""

    def __init__(self):
        super().__init__()
        self.operations, self.writes, self.passes, self.ended = [], [], [], []

    def operation(self, seen):
        self.operations.append(seen)

    def wrote(self, write):
        self.writes.append(write)

    def begins(self, backward):
        assert backward.runs == (backward.level > 0) or not backward.runs
        self.passes.append(backward)

    def ends(self, backward):
        self.ended.append(backward)

    @property
    def names(self):
        return [each.name for each in self.operations]


def program(x):
    y = (x * 2).sin()
    y.add_(1.0)
    return (y * y).sum()


def test_nothing_changes():
    plain, watched = (pullback.tensor([0.5, -1.0], requires_grad=True) for _ in range(2))
    expected = program(plain)
    expected.backward()
    with Seen() as seen:
        loss = program(watched)
        loss.backward()
    assert loss.item() == expected.item()
    np.testing.assert_array_equal(watched.grad.numpy(), plain.grad.numpy())
    assert [each.title for each in observe.ancestors([loss.grad_fn])] == [
        each.title for each in observe.ancestors([expected.grad_fn])
    ]
    assert seen.names[:2] == ["multiply", "sin"]
    assert seen.names[-1] == "sum"


def test_an_operation_says_all_of_itself():
    x = pullback.tensor([[1.0, 2.0]], requires_grad=True)
    with Seen() as seen:
        y = x.sum(1)
    (found,) = seen.operations
    assert found.name == "sum" == found.primitive.name
    assert found.arguments[0] is x
    assert found.result is y
    assert found.results == (y,)
    assert found.node is y.grad_fn
    assert found.params["axis"] in {1, (1,)}
    assert found.level == 0
    assert found.computed
    assert found.seconds > 0
    assert found.module is None
    assert observe.describe(found.site).endswith("y = x.sum(1)")


def test_several_results_have_one_node():
    x = pullback.arange(6.0).requires_grad_()
    with Seen() as seen:
        parts = x.unbind()
    (found,) = seen.operations
    assert len(found.results) == len(parts) == 6
    assert found.node is parts[0].grad_fn
    assert [each.primitive.name for each in observe.ancestors([found.node])[:1]] == ["unbind"]


def test_what_is_not_recorded_is_shown():
    with Seen() as seen, pullback.no_grad():
        pullback.ones(2, requires_grad=True).exp()
    assert [(each.name, each.node) for each in seen.operations if each.name == "exp"] == [("exp", None)]


def test_modules_are_known():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with Seen() as seen:
        model(pullback.ones(1, 2)).sum()
    assert [each.module for each in seen.operations] == [model[0], model[1], None]


def test_modules_need_not_be_looked_for():
    class Quick(Seen):
        finds_modules = False

    with Quick() as seen:
        nn.ReLU()(pullback.ones(2))
    assert [each.module for each in seen.operations] == [None]


def test_transforms_show_their_levels():
    x = pullback.ones(3, 2, requires_grad=True)
    with Seen() as seen:
        func.vmap(lambda x: x * 2)(x)
    assert [(each.name, each.level, each.results[0].shape) for each in seen.operations if each.computed] == [
        ("multiply", 0, (3, 2))
    ]
    with Seen() as seen:
        func.grad(lambda x: (x * x).sum())(x)
    assert [(each.name, each.level, each.computed) for each in seen.operations][:4] == [
        ("multiply", 0, True),
        ("multiply", 1, False),
        ("sum", 0, True),
        ("sum", 1, False),
    ]


def test_writes_are_shown():
    x = pullback.ones(2, requires_grad=True)
    with Seen() as seen:
        y = x * 1
        y.mul_(3)
        with pullback.no_grad():
            x.zero_()
    assert [(each.tensor is y, each.recorded) for each in seen.writes] == [(True, True), (False, False)]
    assert observe.describe(seen.writes[0].site).endswith("y.mul_(3)")


def test_passes_are_shown():
    x = pullback.ones(2, requires_grad=True)
    w = pullback.ones(2, requires_grad=True)
    with Seen() as seen:
        loss = (x * w).sum()
        loss.backward()
        pullback.autograd.grad((x * w).sum(), x)
    first, second = seen.passes
    assert seen.ended == seen.passes
    assert [node.title for node in first.nodes[:2]] == ["SumBackward0", "MulBackward0"]
    assert first.needed is None
    assert first.roots[0][0] is loss.grad_fn
    assert observe.node(x) in second.needed
    assert observe.node(w) not in second.needed
    assert observe.describe(first.site).endswith("loss.backward()")


def test_a_pass_that_raises_has_no_end():
    x = pullback.ones(2, requires_grad=True)
    with Seen() as seen:
        y = x.exp()
        y.sum().backward()
        with pytest.raises(RuntimeError):
            y.sum().backward()
        (x * 2).sum().backward()
    assert len(seen.ended) == 2


@pytest.mark.parametrize("transform", [func.grad, lambda f: func.vmap(func.grad(f)), func.hessian])
def test_a_pass_of_a_transform_ends(transform):
    with Seen() as seen:
        transform(lambda x: (x**3).sum())(pullback.ones(2, 3))
    assert seen.ended == seen.passes != []


def test_what_a_transform_does_with_tensors_from_outside_is_computed_somewhere():
    x = pullback.ones(5, 3)
    with Seen() as seen:
        func.grad(lambda w: (x @ w).sum())(pullback.ones(3))
    assert [each.name for each in seen.operations if each.computed][:2] == ["matmul", "sum"]


@pytest.mark.parametrize("transform", [func.vmap, lambda f: lambda x: func.jvp(f, (x,), (x,))])
def test_transforms_of_numbers_show_their_operations(transform):
    with Seen() as seen:
        transform(lambda x: x.exp())(pullback.ones(2, 3))
    assert seen.names[0] == "exp"
    assert seen.operations[0].computed
    assert seen.operations[0].level == 0


def test_the_outer_observer_is_told_first():
    told = []

    class Named(observe.Observer):
        def __init__(self, name):  # which has forgotten what its base needs
            self.label = name

        def operation(self, seen):
            told.append((self.label, seen.name))

        def wrote(self, write):
            told.append((self.label, "wrote"))

    x = pullback.ones(2)
    with Named("outer"), Named("inner"):
        x.exp_()
    names = [label for label, _ in told]
    assert names == ["outer", "inner"] * (len(told) // 2)


def test_observers_nest():
    with Seen() as outer:
        with Seen() as inner:
            x = pullback.ones(2, requires_grad=True)
            (x * 2).sum().backward()
        pullback.ones(2) + 1
    assert inner.names == outer.names[: len(inner.names)]
    assert outer.names[-1] == "add"
    assert "add" not in inner.names
    assert len(outer.passes) == len(inner.passes) == 1


def test_what_an_observer_computes_is_neither_observed_nor_recorded():
    class Squares(observe.Observer):
        def __init__(self):
            super().__init__()
            self.found = []

        def operation(self, seen):
            self.found.append(seen.result * 2)

    x = pullback.ones(2, requires_grad=True)
    with Seen() as outer, Squares() as squares:
        x.exp()
    assert outer.names == ["exp"]
    assert [each.requires_grad for each in squares.found] == [False]


def test_errors_of_observers_reach_the_program():
    class Refusing(observe.Observer):
        def operation(self, seen):
            if not np.isfinite(observe.value(seen.result)).all():
                raise FloatingPointError(observe.describe(seen.site))

    with pytest.raises(FloatingPointError, match="test_observe"), Refusing():
        pullback.zeros(2).log()
    assert pullback.is_grad_enabled()
    pullback.zeros(2).log()


def test_an_observer_is_entered_once_at_a_time():
    seen = Seen()
    with seen, pytest.raises(RuntimeError, match="entered already"), seen:
        pass
    with seen:
        pullback.ones(2) + 1
    assert seen.names == ["add"]


def test_it_decorates():
    seen = Seen()
    seen(lambda: pullback.ones(2) + 1)()
    assert seen.names == ["add"]


def test_compiled_functions_show_their_operations():
    compiled = pullback.compile(lambda x: (x * x).sum())
    x = pullback.ones(3)
    compiled(x)
    compiled(x)
    with Seen() as seen:
        assert compiled(x).item() == 3
    assert seen.names == ["multiply", "sum"]


def test_a_node_is_watched_and_left_as_it_was():
    x = pullback.tensor([2.0], requires_grad=True)
    y = x * x
    arrived, sent = [], []
    handle = observe.watch(y.grad_fn, arrived.extend, lambda results: sent.append(results) or (None, None))
    leaf = observe.watch(observe.node(x), arrived.extend)
    y.backward(retain_graph=True)
    assert [each.item() for each in arrived] == [1, 4]
    assert [each.item() for each in sent[0]] == [2, 2]
    handle.remove()
    leaf.remove()
    handle.remove()
    y.backward()
    assert len(arrived) == 2
    assert x.grad.item() == 8


def test_a_watched_node_keeps_the_hooks_of_the_program():
    x = pullback.tensor([2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    seen = []
    handle = observe.watch(y.grad_fn, seen.extend)
    handle.remove()
    y.backward()
    assert x.grad.item() == 30
    assert not seen


def test_gradients_without_a_warning():
    x = pullback.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    assert observe.retains(y.grad_fn)
    assert not observe.retains(observe.node(x))
    assert observe.gradient(y) is None
    y.sum().backward()
    assert observe.gradient(y).tolist() == observe.gradient(y.grad_fn).tolist() == [1, 1]
    assert observe.gradient(observe.node(x)) is x.grad
    assert observe.gradient(x * 2) is None


def test_the_short_ways_are_taken_outside():
    """Nothing new on the way of plain operations: the default mode has no observer, and is the same object after a block."""
    from pullback._core.modes import RECORD, mode

    assert mode.get() is RECORD
    with Seen():
        assert mode.get().compute is not None
    assert mode.get() is RECORD


@pytest.mark.parametrize("given", [pullback.ones(2), observe.node(pullback.ones(2))])
def test_what_is_no_node_is_not_watched(given):
    with pytest.raises(TypeError, match="that of a tensor"):
        observe.watch(given, print)


@pytest.mark.parametrize(
    ("name", "meant"), [("operaton", "operation"), ("write", "wrote"), ("begin", "begins"), ("end", "ends")]
)
def test_a_misspelt_method_is_refused_with_the_nearest(name, meant):
    with pytest.raises(TypeError, match=f"defines {name}, which Observer does not call. Did you mean '{meant}'"):
        type("Misspelt", (observe.Observer,), {name: lambda self, seen: None})


@pytest.mark.parametrize("name", ["report", "print_operation", "operation_names", "_write", "started"])
def test_methods_of_its_own_have_any_other_name(name):
    kept = type("Own", (observe.Observer,), {name: lambda self: None, "operation": lambda self, seen: None})
    assert name in vars(kept)
    assert type("Both", (Seen,), {"operations": property(len), "write": lambda self: None})


def test_anomaly_mode_says_that_a_number_was_put_in():
    outside = pullback.tensor([float("nan"), 1.0])
    expected = pytest.raises(RuntimeError, match="no operation of this block has made it")
    with expected as raised, pullback.detect_anomaly():
        func.grad(lambda x: (x * outside).sum())(pullback.ones(2))
    assert "around that names" not in str(raised.value)


def test_anomaly_mode_names_what_made_a_number_that_a_transform_takes_from_outside():
    zero = pullback.zeros(2)
    expected = pytest.raises(RuntimeError, match=r"and div at .* had made it from a = 0, b = 0")
    with expected, pullback.detect_anomaly():
        func.grad(lambda x: (x * (zero / 0)).sum())(pullback.ones(2))


def test_anomaly_mode_around_backward_alone_says_how_to_look_at_the_forward_pass():
    x = pullback.ones(2, requires_grad=True)
    y = (x * pullback.tensor([float("nan"), 1.0])).sum()
    expected = pytest.raises(RuntimeError, match=r"detect_anomaly\(\) around that names the operation")
    with expected, pullback.detect_anomaly():
        y.backward()


def test_entries_of_a_traceback_are_of_the_program_or_not():
    try:
        pullback.ones(2) @ pullback.ones(3)
    except RuntimeError as error:
        entry = error.__traceback__
    own = [observe.is_of_program(entry)]
    while entry := entry.tb_next:
        own.append(observe.is_of_program(entry))
    assert own == [True] + [False] * (len(own) - 1)
    for call in (lambda: np.linalg.inv(np.zeros((2, 2))), lambda: int.from_bytes("x")):
        with pytest.raises((np.linalg.LinAlgError, TypeError)) as raised:
            call()
        assert observe.is_of_program(raised.tb)


@pytest.mark.parametrize(
    ("cut", "cause"),
    [
        (lambda x: x * 2, None),
        (lambda x: x.detach() * 2, "detach"),
        (lambda x: (x > 0) * 1.0, "greater"),
        (lambda x: pullback.ones(2, requires_grad=True), "unused"),
    ],
)
def test_what_no_gradient_reaches_says_why(cut, cause):
    x = pullback.tensor([1.0, -1.0], requires_grad=True)
    other = pullback.ones(2, requires_grad=True)
    y = (cut(x) * other).sum()
    for output in (y, pullback.autograd.graph.GradientEdge(y.grad_fn, 0)):
        found = observe.unreached(x, [output])
        assert (None if found is None else found.cause) == cause
        assert found is None or found.endswith(".")


def test_a_tensor_in_words_has_its_dtype_its_shape_and_its_line():
    x = pullback.ones(2, 3, dtype=pullback.float64, requires_grad=True)
    assert "float64" in observe.in_words(x)
    assert "(2, 3)" in observe.in_words(x)
    assert "exp at" in observe.in_words(x.exp())


@pytest.mark.parametrize("name", ["sqrt", "log", "div", "acos"])
def test_a_pole_is_where_a_derivative_or_a_value_is_infinite(name):
    pole = observe.pole_of(name)
    for point in pole.points:
        x = pullback.tensor(point, requires_grad=True)
        y = pullback.tensor(1.0, requires_grad=True) / x if name == "div" else getattr(pullback, name)(x)
        y.backward()
        assert not np.isfinite([float(y.detach()), float(x.grad)]).all()
    assert observe.pole_of("cos") is None


def test_operations_that_put_numbers_in_are_known():
    assert all(map(observe.masks, ("where", "masked_fill")))
    assert not observe.masks("exp")


ROUNDED = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(1),
    "cumsum": lambda x: x.cumsum(0),
    "product": lambda x: x @ x.T,
    "var": lambda x: x.var(1),
    "norm": lambda x: pullback.nn.functional.layer_norm(x, (7,)),
    "gelu": pullback.nn.functional.gelu,
    "loss": lambda x: pullback.nn.functional.cross_entropy(x, pullback.tensor([0, 1, 2, 3, 4])),
}


@pytest.mark.parametrize("name", ROUNDED)
@pytest.mark.parametrize("block", [observe.Observer, pullback.explain.record, pullback.detect_anomaly])
def test_bfloat_computes_and_is_recorded_as_without_an_observer(name, block):
    """In float32, rounded once; its numbers are kept as raw bytes, which is no dtype without a derivative."""
    pytest.importorskip("ml_dtypes")
    x = pullback.randn(5, 7).bfloat16().requires_grad_()
    alone = ROUNDED[name](x)
    (expected,) = pullback.autograd.grad(alone.sum(), x)
    with block():
        seen = ROUNDED[name](x)
    assert (seen.dtype, type(seen.grad_fn).__name__) == (alone.dtype, type(alone.grad_fn).__name__)
    assert seen.tolist() == alone.tolist()
    assert pullback.autograd.grad(seen.sum(), x)[0].tolist() == expected.tolist()
