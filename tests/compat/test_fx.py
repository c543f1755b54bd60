"""torch.fx: graphs of programs, in the situations of its tutorials and examples."""

import copy
import functools
import gc
import math
import operator
import pickle
import sys
import threading
import time

import numpy as np
import pytest

from pullback import explain, nn
from pullback.compat.torch import install, stands_in, uninstall
from pullback.compat.torch.fx import wrap


@pytest.fixture(autouse=True, scope="module")
def installed():
    if "torch" in sys.modules and not stands_in():
        pytest.skip("the real torch is imported")
    before = stands_in()
    install()
    yield
    if not before:
        uninstall()


@pytest.fixture
def torch():
    import torch

    return torch


@pytest.fixture
def fx():
    import torch.fx

    return torch.fx


def numbers(tensor):
    return tensor.detach().numpy()


def targets(graph):
    return [node.target for node in graph.nodes]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        self.scale = nn.Parameter(self.first.weight.detach().sum().reshape(1))
        self.register_buffer("shift", self.first.weight.detach()[:1, :2])

    def forward(self, x):
        h = self.first(x).clamp(min=-1.0, max=1.0)
        return self.second(h * self.scale) + self.shift


@wrap
def halved(x, by=2):
    return x if isinstance(x, str) else x / by


wrap("len")


# Recording


def test_a_module_is_a_graph_whose_code_computes_the_same(torch, fx):
    net = Net()
    traced = fx.symbolic_trace(net)
    x = torch.randn(5, 3)
    assert np.array_equal(numbers(traced(x)), numbers(net(x)))
    assert [node.op for node in traced.graph.nodes] == [
        "placeholder", "call_module", "call_method", "get_attr", "call_function", "call_module", "get_attr",
        "call_function", "output",
    ]  # fmt: skip
    assert traced.code.strip().splitlines() == [
        "def forward(self, x):",
        "    first = self.first(x);  x = None",
        "    clamp = first.clamp(min = -1.0, max = 1.0);  first = None",
        "    scale = self.scale",
        "    mul = clamp * scale;  clamp = scale = None",
        "    second = self.second(mul);  mul = None",
        "    shift = self.shift",
        "    add = second + shift;  second = shift = None",
        "    return add",
    ]
    assert {name for name, _ in traced.named_parameters()} == {name for name, _ in net.named_parameters()}
    assert traced.get_parameter("first.weight") is net.first.weight
    traced(x).sum().backward()
    assert net.first.weight.grad is not None


def test_functions_are_recorded_however_a_program_holds_them(torch, fx):
    from torch.nn import functional as F  # noqa: N812
    from torch.nn.functional import relu

    class Held(nn.Module):
        def __init__(self):
            super().__init__()
            self.act, self.several = F.gelu, {"a": [torch.tanh]}

        def forward(self, x, last=torch.exp):
            x = relu(x) + torch.sigmoid(x) + self.act(x) + self.several["a"][0](x)
            return functools.partial(torch.sum, dim=-1)(last(x))

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.held = Held()

        def forward(self, x):
            return torch.cat([self.held(x), torch.linalg.norm(x, dim=1)], dim=0)

    traced = fx.symbolic_trace(Deep())
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert [each for each in called if each is not operator.add] == [
        relu, torch.sigmoid, F.gelu, torch.tanh, torch.exp, torch.sum, torch.linalg.norm, torch.cat,
    ]  # fmt: skip
    for text in ("torch.nn.functional.relu(", "torch.nn.functional.gelu(", "torch.linalg.norm(", "torch.cat(["):
        assert text in traced.code
    x = torch.randn(2, 3)
    assert np.array_equal(numbers(traced(x)), numbers(Deep()(x)))


def test_what_a_function_gets_is_recorded_as_torch_does(torch, fx):
    from torch.nn import functional as F  # noqa: N812

    def program(x, w):
        a = F.dropout(x, 0.25, training=False)
        b = F.linear(a, w)
        return torch.einsum("ij,jk", (b, b)), F.softmax(b, -1), b.size(0), b.shape[1:], x[:, None, ..., 1:2]

    code = fx.symbolic_trace(program).code
    assert "dropout(x, p = 0.25, training = False, inplace = False)" in code
    assert "linear(dropout, w)" in code
    assert "torch.einsum('ij,jk', linear, linear)" in code
    assert "linear.size(0)" in code and "getattr_1 = linear.shape" in code
    assert "x[(slice(None, None, None), None, Ellipsis, slice(1, 2, None))]" in code


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (lambda x: x if x.sum() > 0 else -x, "symbolically traced variables cannot be used as inputs to control flow"),
        (lambda x: not x, "symbolically traced variables cannot be used as inputs to control flow"),
        (lambda x: x in (1, 2), "symbolically traced variables cannot be used as inputs to control flow"),
        (lambda x: [*x], "Proxy object cannot be iterated"),
        (lambda x: dict(**x), "Proxy object cannot be iterated"),
        (lambda x: x.__len__(), "'len' is not supported in symbolic tracing by default"),
        (lambda x: int(x + 1), "not 'Proxy'"),
        (lambda x: range(x + 1), "cannot be interpreted as an integer"),
        (lambda x: x.__setitem__(0, 1), "__setitem__"),
        (lambda x: object(), "argument of type"),
        (lambda x: {x: 1}, "Keys for dictionaries used as an argument cannot contain a Node"),
        (lambda x: x + nn.Parameter(Net().scale), "parameter is not a member of this module"),
        (lambda x: nn.ReLU()(x + 1), "module is not installed as a submodule"),
    ],
)
def test_what_depends_on_numbers_is_refused(fx, program, text):
    kinds = (fx.proxy.TraceError, RuntimeError, TypeError, NotImplementedError, NameError, AttributeError)
    with pytest.raises(kinds, match=text.replace("(", r"\(")):
        fx.symbolic_trace(program)


def test_a_proxy_is_unpacked_to_several_names(fx):
    def program(pair):
        a, (b, c) = pair
        return a + b * c

    assert fx.symbolic_trace(program)((1, (2, 3))) == 7


def test_tensors_beside_proxies(torch, fx):
    weight = torch.tensor([2.0, 3.0])

    class Constants(nn.Module):
        def __init__(self):
            super().__init__()
            self.own = torch.tensor([5.0, 7.0])

        def forward(self, x):
            return weight * x - x / self.own + (self.own - x) + (weight @ x) + (weight > x) + weight**x

    x = torch.tensor([1.0, 4.0])
    traced = fx.symbolic_trace(Constants())
    assert "self.own" in traced.code and "self._tensor_constant0" in traced.code
    assert np.array_equal(numbers(traced(x)), numbers(Constants()(x)))


def test_operators(fx):
    def program(x, y):
        return (x + 1, 2 - x, x * y, 7 / x, x // 2, x % 3, 2**x, x**2, (-3) ** x, x @ y if False else x & 6, 1 | x, x ^ 3,
                x << 1, 8 >> x, -x, +x, ~x, abs(x), x == 2, x != 2, x > 1, x <= 2, x > 1, x >= y)  # fmt: skip

    traced = fx.symbolic_trace(program)
    assert traced(2, 5) == program(2, 5)
    assert "(-3) ** x" in traced.code


def test_arguments_of_all_kinds(torch, fx):
    import enum
    from typing import NamedTuple

    class Pair(NamedTuple):
        a: object
        b: object

    class Colour(enum.Enum):
        RED = 1

    @functools.wraps(halved)
    def program(x):
        return x.given({"a": (1.5, [x])}, range(3), slice(None, 2), torch.float64, torch.strided, "it's", 1j,
                       float("inf"), Colour.RED, torch.device("cpu"), key=Pair(x, None))  # fmt: skip

    class Asked:
        def given(self, *args, **kwargs):
            return args, kwargs

    del program.__wrapped__
    asked = Asked()
    args, kwargs = fx.symbolic_trace(program)(asked)
    assert args[0] == {"a": (1.5, [asked])}
    assert args[1:3] == (range(3), slice(None, 2))
    assert args[3] is torch.float64 and args[4] is torch.strided
    assert args[5:9] == ("it's", 1j, math.inf, Colour.RED) and str(args[9]) == "cpu"
    assert kwargs == {"key": Pair(asked, None)}


def test_parameters_of_all_kinds(fx):
    def program(x: float, /, y: list[int] = 2, *more, k: int = 3, **named):
        return x + y * more[0] + k * named["z"]

    traced = fx.symbolic_trace(program)
    assert traced(1, 5, 7, k=11, z=13) == program(1, 5, 7, k=11, z=13)
    assert next(node.type for node in traced.graph.nodes) is float
    assert "y : list_int_ = 2" in traced.code


def test_functions_that_a_program_wraps(torch, fx):
    def program(x):
        return halved(x, by=4) + len(x) + math.sqrt(x.size(0))

    traced = fx.symbolic_trace(program)
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert halved in called and len in called and math.sqrt in called
    x = torch.ones(4)
    assert numbers(traced(x)).tolist() == [6.25] * 4
    assert len([1, 2]) == 2 and math.sqrt(4) == 2 and halved(3) == 1.5
    again = fx.symbolic_trace(traced)
    assert again.code == traced.code
    assert 'torch.fx._symbolic_trace.wrap("len")' in traced.code
    with pytest.raises(NotImplementedError, match="top level"):
        wrap("len")
    with pytest.raises(RuntimeError, match="Unsupported type"):
        wrap(3)


def test_inputs_that_are_fixed(torch, fx):
    def program(x, flag, other):
        return x + 1 if flag and other is None else x - 1

    traced = fx.symbolic_trace(program, concrete_args={"flag": True, "other": None})
    assert traced(torch.tensor(1.0), True, None).item() == 2
    with pytest.raises(AssertionError, match="flag has been specialized to have value True"):
        traced(torch.tensor(1.0), False, None)
    with pytest.raises(AssertionError, match="other has been specialized"):
        traced(torch.tensor(1.0), True, 3)
    with pytest.raises(NotImplementedError, match="PH"):
        fx.symbolic_trace(program, concrete_args={"flag": fx.PH})


def test_shapes_of_parameters_can_be_numbers(fx):
    class Checks(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 4)

        def forward(self, x):
            return x * self.first.weight.shape[0] if self.first.weight.dim() == 2 else x

    with pytest.raises(fx.proxy.TraceError):
        fx.Tracer().trace(Checks())
    graph = fx.Tracer(param_shapes_constant=True).trace(Checks())
    assert next(node.args for node in graph.nodes if node.target is operator.mul)[1] == 4


def test_a_subclass_of_a_layer_is_traced_through(torch, fx):
    class Scaled(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    layer = Scaled(3, 2)
    traced = fx.symbolic_trace(layer)
    x = torch.randn(4, 3)
    assert np.array_equal(numbers(traced(x)), numbers(layer(x)))
    assert torch.nn.functional.linear in targets(traced.graph)


# What recording leaves behind


def test_functions_have_their_own_code_afterwards(torch, fx):
    from torch.nn import functional as F  # noqa: N812

    functions = [torch.relu, F.softmax, torch.cat, torch.sum]
    gc.collect()  # while there are proxies of earlier tests, functions have other code
    fx.symbolic_trace(lambda x: x + 1)  # which has functions written that are written when they are first called
    codes = [function.__code__ for function in functions]
    had = [hasattr(function, "__wrapped__") for function in functions]

    def fails(x):
        torch.relu(x)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        fx.symbolic_trace(fails)
    traced = fx.symbolic_trace(lambda x: torch.cat([F.softmax(x, 0), torch.sum(x)]))
    del traced
    assert [function.__code__ for function in functions] == codes
    assert [hasattr(function, "__wrapped__") for function in functions] == had
    assert nn.Linear(1, 1)(torch.ones(1)).shape == (1,)
    assert math.sqrt.__name__ == "sqrt" and type(math.sqrt).__name__ == "builtin_function_or_method"


def test_functions_compute_while_there_are_proxies(torch, fx):
    import inspect

    signature = inspect.signature(torch.nn.functional.softmax)
    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    torch.relu(x).sum().backward()
    assert x.grad.tolist() == [1, 0]
    assert np.sum(x.detach()).item() == 0
    assert inspect.signature(torch.nn.functional.softmax) == signature
    with pytest.raises(TypeError):
        torch.relu("text")
    assert not torch.is_tensor(proxy)


def test_other_threads_see_nothing_of_a_trace(torch, fx):
    stop, wrong, layer = threading.Event(), [], nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    x = torch.ones(3, 2)
    expected = numbers(layer(x))

    def compute():
        while not stop.is_set():
            try:
                if not np.array_equal(numbers(torch.relu(layer(x))), expected):
                    wrong.append("numbers")
            except Exception as error:  # noqa: BLE001
                wrong.append(repr(error))

    thread = threading.Thread(target=compute)
    thread.start()

    def slow(y):
        for _ in range(5):
            time.sleep(0.005)
            y = torch.relu(y) + 1
        return y

    for _ in range(4):
        assert len(fx.symbolic_trace(slow).graph.nodes) == 12
    stop.set()
    thread.join()
    assert not wrong


def test_two_threads_trace_at_once(torch, fx):
    def program(x):
        for _ in range(20):
            x = torch.relu(layer(x)) + math.sqrt(len(x)) + halved(x)
            time.sleep(0.001)
        return x

    layer, found = nn.ReLU(), []

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return program(x)

    def trace():
        traced = fx.symbolic_trace(Whole())
        found.append(traced.code)
        assert {*before} <= {*targets(traced.graph)}

    threads = [threading.Thread(target=trace) for _ in range(3)]
    before = math.sqrt, halved, len
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len({*found}) == 1
    assert (math.sqrt, halved, len) == before and "len" not in globals()


# Graphs


def test_a_graph_is_built_and_printed(torch, fx, capsys):
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=torch.Tensor)
    y = graph.placeholder("y", default_value=2)
    total = graph.call_function(operator.add, (x, y))
    graph.output(graph.call_method("neg", (total,)))
    assert str(graph).splitlines() == [
        "graph():",
        "    %x : torch.Tensor [num_users=1] = placeholder[target=x]",
        "    %y : [num_users=1] = placeholder[target=y](default=2)",
        "    %add : [num_users=1] = call_function[target=operator.add](args = (%x, %y), kwargs = {})",
        "    %neg : [num_users=1] = call_method[target=neg](args = (%add,), kwargs = {})",
        "    return neg",
    ]
    graph.print_tabular()
    assert capsys.readouterr().out.splitlines()[2].split() == ["placeholder", "x", "x", "()", "{}"]
    module = fx.GraphModule(nn.Module(), graph, "Sum")
    assert module(torch.tensor(3.0)).item() == -5
    assert type(module).__name__ == "Sum" and module.graph.owning_module is module
    assert "def forward(self, x : torch.Tensor, y = 2):" in module.print_readable(print_output=False)
    assert str(module).startswith("Sum()\n") and "return neg" in str(module)


def test_nodes_know_their_neighbours(fx):
    graph = fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    c = graph.call_function(max, (a, [b, {"k": a}]), {"default": b})
    end = graph.output(c)
    assert c.all_input_nodes == [a, b] and list(a.users) == [c] and c.users == {end: None}
    assert c.next is end and c.prev is b and a < c and not c < a and c > b
    c.replace_input_with(a, b)
    assert c.args == (b, [b, {"k": b}]) and not a.users
    assert c.args[1].__class__ is fx.immutable_collections.immutable_list
    with pytest.raises(TypeError, match="does not support mutation"):
        c.args[1].append(a)
    with pytest.raises(TypeError, match="does not support mutation"):
        c.kwargs["default"] = a
    c.insert_arg(0, a)
    c.update_arg(1, 5)
    c.update_kwarg("default", None)
    assert c.args == (a, 5, [b, {"k": b}]) and c.kwargs == {"default": None}
    a.append(c)
    assert [*graph.nodes] == [a, c, b, end] and [*reversed(graph.nodes)] == [end, b, c, a]
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    b.append(c)
    graph.lint()
    assert graph.find_nodes(op="call_function", target=max) == [c] and graph.output_node() is end
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(c)
    assert fx.map_arg(c.args, lambda node: node.name) == ("a", 5, ["b", {"k": "b"}])
    with pytest.raises(ValueError, match="another graph"):
        fx.Graph().call_function(max, (a,))
    with pytest.raises(ValueError, match="Callable"):
        graph.call_function("text", (a,))


def test_nodes_are_inserted_where_a_block_says(torch, fx):
    traced = fx.symbolic_trace(lambda x, y: torch.relu(x) * y)
    relu = next(node for node in traced.graph.nodes if node.target is torch.relu)
    with traced.graph.inserting_after(relu):
        new = traced.graph.call_function(torch.neg, (relu,))
    relu.replace_all_uses_with(new, lambda user: user is not new)
    with traced.graph.inserting_before():
        traced.graph.get_attr("nothing")
    assert next(node.op for node in traced.graph.nodes) == "get_attr"
    with pytest.raises(RuntimeError, match="nonexistent attribute nothing"):
        traced.graph.lint()
    assert traced.graph.eliminate_dead_code()
    traced.recompile()
    assert traced(torch.tensor(2.0), 3).item() == -6


def test_the_place_of_new_nodes_can_be_set_without_a_block(fx):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(x)
    graph.inserting_after(x)
    graph.call_method("neg", (x,))
    assert targets(graph) == ["x", "neg", "output"]


def test_dead_code_that_writes_is_no_dead_code(torch, fx):
    def program(x):
        y = x * 1
        torch.exp(x)
        y.add_(1)
        y.neg()
        torch.nn.functional.relu(y, inplace=True)
        torch.rand(1)
        return y

    traced = fx.symbolic_trace(program)
    assert traced.graph.eliminate_dead_code() and not traced.graph.eliminate_dead_code()
    traced.recompile()
    names = [node.name for node in traced.graph.nodes]
    assert names == ["x", "mul", "add_", "relu", "output"]
    x = torch.tensor([-3.0, 2.0])
    assert numbers(traced(x)).tolist() == numbers(program(x)).tolist()


def test_copies_and_pickles_compute_the_same(torch, fx):
    traced = fx.symbolic_trace(Net())
    x = torch.randn(2, 3)
    traced.note = "kept"
    for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced)):
        assert np.array_equal(numbers(other(x)), numbers(traced(x)))
        assert other.code == traced.code and type(other).__name__ == "Net" and other.note == "kept"
        assert other is not traced and other.graph is not traced.graph
    separate = copy.deepcopy(traced)
    with torch.no_grad():
        separate.first.weight.zero_()
    assert traced.first.weight.any()
    file = pickle.dumps(traced)
    assert b"def forward" not in file


def test_code_that_wraps_is_forgotten_with_its_module(fx):
    def count():
        gc.collect()
        return len(capture.WRAPPED)

    capture = sys.modules["pullback.compat.torch.fx.capture"]
    before = count()
    traced = fx.symbolic_trace(lambda x: halved(x) + len(x))
    assert count() == before + 2
    traced.recompile()
    assert count() == before + 2
    del traced
    assert count() == before


def test_submodules_of_a_graph_module(torch, fx):
    traced = fx.symbolic_trace(Net())
    assert traced.add_submodule("deep.er", nn.ReLU())
    assert isinstance(traced.get_submodule("deep.er"), nn.ReLU)
    assert not traced.delete_submodule("nowhere") and not traced.delete_submodule("scale")
    traced.delete_all_unused_submodules()
    assert [name for name, _ in traced.named_modules()] == ["", "first", "second"]
    assert traced.delete_submodule("first")
    with pytest.raises(RuntimeError, match="nonexistent attribute first"):
        traced.graph.lint()
    graph = fx.Graph()
    graph.output(graph.call_module("a.b", (graph.get_attr("w"),)))
    made = fx.GraphModule({"a.b": nn.ReLU(), "w": torch.tensor([-1.0, 1.0])}, graph)
    assert numbers(made()).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="not provided"):
        fx.GraphModule({}, graph)


@pytest.mark.parametrize(
    "build",
    [
        lambda graph, text: graph.placeholder(text),
        lambda graph, text: graph.call_method(text, (graph.placeholder("x"),)),
        lambda graph, text: graph.call_function(max, (1,), {text: 2}),
    ],
)
@pytest.mark.parametrize("text", ["x): print('no') #", "a b", "x\ny", 'a"b'])
def test_names_that_are_no_identifiers_make_no_code(fx, build, text):
    graph = fx.Graph()
    graph.output(build(graph, text))
    with pytest.raises(ValueError, match="no code can be generated"):
        graph.python_code("self")


@pytest.mark.parametrize("name", ["0", "a-b", "x\ny", 'a"b', "a'); print('no", "\\"])
def test_names_of_modules_are_only_names(fx, name, capsys):
    module = nn.Module()
    module.add_module(name, nn.ReLU())
    graph = fx.Graph()
    graph.output(graph.call_module(name, (graph.placeholder("x"),)))
    made = fx.GraphModule(module, graph)
    assert made(nn.Parameter(Net().scale)).shape == (1,)
    assert not capsys.readouterr().out


def test_objects_are_not_executed_as_they_print(fx):
    class Evil:
        def __repr__(self):
            return "print('no')"

    class Text(str):
        __slots__ = ()

        def __repr__(self):
            return "print('no')"

    evil, text = Evil(), Text("a")
    graph = fx.Graph()
    graph.output((graph.call_function(id, (evil,)), text))
    module = fx.GraphModule(nn.Module(), graph)
    assert "print" not in module.code
    assert module() == (id(evil), "a")


# Tutorials and examples


def test_inverse_functions(torch, fx):
    """examples/fx: invert_mapping of a composition."""
    inverse = {torch.sin: torch.arcsin, torch.exp: torch.log, torch.tanh: torch.atanh}

    def inverted(model):
        graph, environment = fx.Graph(), {}
        steps = list(fx.symbolic_trace(model).graph.nodes)
        value = graph.placeholder("y")
        for node in reversed(steps[1:-1]):
            value = environment[node] = graph.call_function(inverse[node.target], (value,))
        graph.output(value)
        graph.lint()
        return fx.GraphModule(nn.Module(), graph)

    x = torch.tensor([0.1, 0.3])
    model = fx.symbolic_trace(lambda x: torch.exp(torch.sin(torch.tanh(x))))
    assert np.allclose(numbers(inverted(model)(model(x))), numbers(x), atol=1e-6)


def test_one_operation_is_replaced_by_another(torch, fx):
    """examples/fx: replace_op, and the tutorial's add by mul."""

    class Adds(nn.Module):
        def forward(self, x, y):
            return x + y, torch.add(x, y), x.add(y)

    traced = fx.symbolic_trace(Adds())
    patterns = {operator.add, torch.add, "add"}
    for node in traced.graph.nodes:
        if any(node.target == pattern for pattern in patterns):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.bitwise_and, node.args, node.kwargs)
                node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    assert [each.item() for each in traced(torch.tensor(6), torch.tensor(3))] == [2, 2, 2]


def test_an_interpreter_that_profiles(torch, fx):
    """The tutorial: ProfilingInterpreter."""

    class Profiling(fx.Interpreter):
        def __init__(self, module):
            super().__init__(fx.symbolic_trace(module))
            self.times = {}

        def run_node(self, n):
            start = time.perf_counter()
            value = super().run_node(n)
            self.times.setdefault(n, []).append(time.perf_counter() - start)
            return value

    net, x = Net(), torch.randn(2, 3)
    profiling = Profiling(net)
    assert np.array_equal(numbers(profiling.run(x)), numbers(net(x)))
    assert [node.name for node in profiling.times][:3] == ["x", "first", "clamp"]
    with pytest.raises(RuntimeError, match=r"While executing %first : \[num_users=1\] = call_module"):
        profiling.run(torch.ones(2, 7))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        profiling.run()


def test_primitives_by_which_functions_are_composed(torch, fx):
    """examples/fx: primitive_library: an activation as one function of primitives, recorded inside."""

    def sigmoid_lowp(x):
        return (x.float() if False else x).sigmoid()

    def add_lowp(a, b):
        return torch.add(a, b)

    for function, count in ((sigmoid_lowp, 3), (add_lowp, 4)):
        traced = fx.symbolic_trace(function)
        assert len(traced.graph.nodes) == count
        args = [torch.randn(3) for _ in range(count - 2)]
        assert np.array_equal(numbers(traced(*args)), numbers(function(*args)))


def test_a_tracer_that_looks_into_layers_and_one_that_does_not(fx):
    """examples/fx: custom_tracer."""

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, x):
            return self.net(x).relu()

    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            seen.append(module_qualified_name)
            return isinstance(m, Net) or super().is_leaf_module(m, module_qualified_name)

    seen = []
    assert targets(Whole().trace(Outer())) == ["x", "net", "relu", "output"]
    assert seen == ["net"]
    assert "net.first" in targets(fx.Tracer().trace(Outer()))

    class Named(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            self.path = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)

        def create_proxy(self, kind, target, args, kwargs, *more, **others):
            proxy = super().create_proxy(kind, target, args, kwargs, *more, **others)
            proxy.node.meta["in"] = getattr(self, "path", None)
            return proxy

        def create_node(self, kind, *args, **kwargs):
            if kind == "get_attr":
                raise ValueError("refused")
            return super().create_node(kind, *args, **kwargs)

    with pytest.raises(ValueError, match="refused"):
        Named().trace(Outer())


def test_convolutions_are_fused_with_their_normalisations(torch, fx):
    """The tutorial: fuse convolution and batch norm."""
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 2, 1))
            self.norm = nn.BatchNorm2d(2)

        def forward(self, x):
            return self.norm(self.body(x))

    block = Block()
    for _ in range(3):
        block(torch.randn(4, 1, 6, 6) * 2 + 1)
    block.eval()
    traced = fx.symbolic_trace(block)
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op != "call_module" or type(modules[node.target]) is not nn.BatchNorm2d:
            continue
        before = node.args[0]
        if before.op == "call_module" and type(modules[before.target]) is nn.Conv2d and len(before.users) == 1:
            fused = fuse_conv_bn_eval(modules[before.target], modules[node.target])
            path, _, name = before.target.rpartition(".")
            setattr(modules[path], name, fused)
            node.replace_all_uses_with(before)
            traced.graph.erase_node(node)
    traced.recompile()
    traced.delete_all_unused_submodules()
    assert not [each for each in traced.modules() if isinstance(each, nn.BatchNorm2d)]
    x = torch.randn(2, 1, 6, 6)
    assert np.allclose(numbers(traced(x)), numbers(block(x)), atol=1e-5)


def test_operations_are_decomposed_by_proxies(torch, fx):
    """The tutorial: proxies of a new graph, outside of any tracer."""
    from torch.nn import functional as F  # noqa: N812

    def relu(x):
        return (x > 0) * torch.abs(x)

    traced = fx.symbolic_trace(lambda x: torch.exp(F.relu(x, inplace=False)))
    graph, environment = fx.Graph(), {}
    tracer = fx.proxy.GraphAppendingTracer(graph)
    for node in traced.graph.nodes:
        if node.target is F.relu:
            args = [
                fx.Proxy(environment[each.name], tracer) if isinstance(each, fx.Node) else each for each in node.args
            ]
            environment[node.name] = relu(*args).node
        else:
            environment[node.name] = graph.node_copy(node, lambda each: environment[each.name])
    module = fx.GraphModule(traced, graph)
    assert [each for each in targets(module.graph) if callable(each)] == [
        operator.gt,
        torch.abs,
        operator.mul,
        torch.exp,
    ]
    x = torch.tensor([-1.0, 2.0])
    assert np.array_equal(numbers(module(x)), numbers(traced(x)))


def test_a_transformer(torch, fx):
    class Swapped(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return torch.neg(*args) if target is torch.sigmoid else super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return args[0].sigmoid() if target == "neg" else super().call_method(target, args, kwargs)

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, x, y=2):
            return {"sum": torch.sigmoid(self.net(x)).neg().add(y), "w": self.net.scale}

    both = Both()
    traced = fx.symbolic_trace(both)
    changed, same = Swapped(traced).transform(), fx.Transformer(traced).transform()
    x = torch.randn(2, 3)
    assert same.code == traced.code
    assert np.array_equal(numbers(changed(x)["sum"]), numbers((-both.net(x)).sigmoid() + 2))
    assert changed(x)["w"] is both.net.scale


def test_shapes_are_noted(torch, fx):
    from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata

    traced = fx.symbolic_trace(lambda x: (x.reshape(2, 3).t(), x.size(0)))
    ShapeProp(traced).propagate(torch.ones(6, dtype=torch.float64))
    known = {node.name: node.meta.get("tensor_meta") for node in traced.graph.nodes}
    assert isinstance(known["t"], TensorMetadata) and tuple(known["t"].shape) == (3, 2)
    assert known["t"].stride == (1, 3) and known["t"].dtype is torch.float64 and not known["t"].requires_grad
    assert known["size"] is None and known["x"].memory_format is torch.contiguous_format


def test_patterns_are_replaced(torch, fx):
    class Model(nn.Module):
        def forward(self, x, w1, w2):
            m1 = torch.cat([w1, w2]).sum()
            m2 = torch.cat([w1, w2]).sum()
            return x + torch.max(m1) + torch.max(m2)

    traced = fx.symbolic_trace(Model())
    matches = fx.replace_pattern(
        traced, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]).sum() * 2
    )
    traced.graph.lint()
    assert len(matches) == 2 and matches[0].anchor.name == "sum_1"
    x, w = torch.tensor(1.0), torch.tensor([1.0, 2.0])
    assert traced(x, w, w).item() == 1 + 12 + 12


def test_patterns_with_users_elsewhere_and_chains(torch, fx):
    def shares(x):
        a = torch.exp(x)
        return torch.neg(a) + a

    traced = fx.symbolic_trace(shares)
    assert fx.replace_pattern(traced, lambda x: torch.neg(torch.exp(x)), lambda x: x) == []
    chain = fx.symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(x))))
    assert len(fx.replace_pattern(chain, torch.neg, lambda x: x * 2)) == 3
    assert chain(torch.tensor(1.0)).item() == 8

    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    named = fx.symbolic_trace(lambda x: torch.clamp(x, min=0.0) + torch.clamp(x, min=1.0))
    scale = Scale()
    assert len(fx.replace_pattern(named, lambda x: torch.clamp(x, min=1.0), scale)) == 1
    x = torch.randn(2, 3)
    assert np.array_equal(numbers(named(x)), numbers(x.clamp(min=0.0) + scale(x)))


def test_what_is_not_there_says_so_when_it_is_used(fx):
    from torch.fx.experimental.optimization import fuse
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.passes.graph_drawer import FxGraphDrawer
    from torch.fx.passes.split_module import split_module

    for absent in (fuse, make_fx, FxGraphDrawer, split_module):
        with pytest.raises(RuntimeError, match=r"is not in pullback"):
            absent()


def test_programs_may_have_a_trace_of_their_own(torch, fx):
    """As PyTorch Geometric has, of private names of torch.fx."""
    from torch.fx import _symbolic_trace as st

    class Own(fx.Tracer):
        @st.compatibility(is_backward_compatible=True)
        def trace(self, root, concrete_args=None):
            self.root, self.graph, self.tensor_attrs = root, fx.Graph(), {}
            function, args = self.create_args_for_root(type(root).forward, True, concrete_args)

            @st.functools.wraps(st._orig_module_call)
            def call(module, *args, **kwargs):
                return self.call_module(module, functools.partial(st._orig_module_call, module), args, kwargs)

            def fetch(module, name):
                return self.getattr(name, st._orig_module_getattr(module, name), self.parameter_proxy_cache)

            with st._Patcher() as patcher:
                patcher.patch_method(torch.nn.Module, "__getattr__", fetch, deduplicate=False)
                patcher.patch_method(torch.nn.Module, "__call__", call, deduplicate=False)
                st._patch_wrapped_functions(patcher)
                st._autowrap_check(patcher, function.__globals__, self._autowrap_function_ids)
                self.create_node("output", "output", (self.create_arg(function(*args)),), {})
            return self.graph

    net = Net()
    before = nn.Module.__call__, nn.Module.__getattr__
    assert str(Own().trace(net)) == str(fx.Tracer().trace(net))
    assert (nn.Module.__call__, nn.Module.__getattr__) == before
    assert "__call__" not in vars(nn.Module)


def test_patterns_of_several_results_and_of_modules(torch, fx):
    def program(x, y):
        grown = torch.exp(y)
        return torch.neg(x) + 1, torch.abs(torch.neg(x)), grown, torch.log(grown)

    def pair(a):
        b = torch.exp(a)
        return b, torch.log(b)

    traced = fx.symbolic_trace(program)
    matches = fx.replace_pattern(traced, pair, lambda a: (a * 2, a * 3))
    traced.graph.lint()
    assert len(matches) == 1
    x, y = torch.tensor(-1.0), torch.tensor(2.0)
    assert [each.item() for each in traced(x, y)] == [2, 1, 4, 6]
    with pytest.raises(RuntimeError, match="has 1 results, and its replacement 2"):
        fx.replace_pattern(traced, lambda a: torch.abs(a), lambda a: (a, a))  # noqa: PLW0108

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 4)

        def forward(self, x):
            return self.first(x).clamp(min=-1.0, max=1.0)

    net = Net()
    traced = fx.symbolic_trace(net)
    assert len(fx.replace_pattern(traced, Part(), lambda x: x.sum(-1, keepdim=True) * torch.ones(4))) == 1
    x = torch.randn(2, 3)
    expected = net.second(x.sum(-1, keepdim=True).expand(2, 4) * net.scale) + net.shift
    assert np.array_equal(numbers(traced(x)), numbers(expected))


def test_an_interpreter_takes_inputs_as_the_graph_does(torch, fx):
    traced = fx.symbolic_trace(lambda x, y=5, *more: x + y + more[0])
    assert fx.Interpreter(traced).run(1, 2, 3) == 6
    assert fx.Interpreter(fx.symbolic_trace(lambda x, y=5: x + y)).run(1) == 6
    first = next(iter(traced.graph.nodes))
    assert fx.Interpreter(traced).run(2, 3, initial_env={first: 100}) == 105
    assert fx.Interpreter(fx.GraphModule(nn.Module(), fx.Graph())).run() is None


def test_writes_are_written_as_statements(torch, fx):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(operator.setitem, (x, 0, 5))
    doubled = graph.call_function(operator.imul, (x, 2))
    graph.output((x, doubled))
    module = fx.GraphModule(nn.Module(), graph)
    assert "x[0] = 5;  setitem = x" in module.code and "x *= 2;  imul = x" in module.code
    assert [numbers(each).tolist() for each in module(torch.ones(2))] == [[10, 2], [10, 2]]


def test_graphs_that_are_wrong_are_refused(fx):
    one, other = fx.Graph(), fx.Graph()
    x, y = one.placeholder("x"), other.placeholder("y")
    with pytest.raises(AssertionError, match="different Graph"):
        x.append(y)
    with pytest.raises(AssertionError, match="not in graph"):
        one.inserting_before(y)
    with pytest.raises(RuntimeError, match="wrong graph"):
        one.erase_node(y)
    one.erase_node(x)
    with pytest.warns(UserWarning, match="already erased"):
        one.erase_node(x)
    with pytest.raises(ValueError, match="has been erased"):
        one.output(x)
    with pytest.raises(ValueError, match="a node is one of"):
        one.create_node("call", "x")
    with pytest.raises(IndexError, match="nothing can be inserted"):
        one.call_method("neg", (1,)).insert_arg(3, 2)
    with pytest.raises(AssertionError, match="Expected a Graph"):
        fx.GraphModule(nn.Module(), one).graph = None


def test_a_program_may_branch_on_a_buffer_unless_buffers_are_recorded(torch, fx):
    class Switched(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("on", torch.ones(()))

        def forward(self, x):
            return x * 2 if self.on > 0 else x

    assert targets(fx.symbolic_trace(Switched()).graph) == ["x", operator.mul, "output"]
    recording = fx.Tracer()
    recording.proxy_buffer_attributes = True
    with pytest.raises(fx.proxy.TraceError):
        recording.trace(Switched())


def test_what_a_tracer_can_be_asked_for(torch, fx):
    net = Net()
    buffers = fx.Tracer()
    buffers.proxy_buffer_attributes = buffers.record_stack_traces = True
    graph = buffers.trace(net)
    assert {node.target for node in graph.nodes if node.op == "get_attr"} == {"scale", "shift"}
    assert all(__file__ in node.stack_trace for node in graph.nodes if node.op == "call_method")
    autowrap = fx.Tracer(autowrap_functions=(numbers,))
    scope = {"numbers": numbers}
    exec("def program(x):\n    return numbers(x)", scope)
    assert targets(autowrap.trace(scope["program"])) == ["x", numbers, "output"]

    class Own:
        def __fx_create_arg__(self, tracer):
            return tracer.create_node("call_function", Own, (), {})

    assert targets(fx.symbolic_trace(lambda x: x.take(Own())).graph) == ["x", Own, "take", "output"]
    assert fx.symbolic_trace(lambda f, x: f(x))(abs, -2) == 2
    wrapped = torch.no_grad()(lambda *args: args[0] + 1)
    with pytest.raises(fx.proxy.TraceError, match="wrapped"):
        fx.symbolic_trace(wrapped)
    with pytest.warns(UserWarning, match="Was not able to add assertion"):
        fx.symbolic_trace(lambda x, y: x + y[0], concrete_args={"y": [3]})


def test_functions_that_are_marked_are_no_dead_code(torch, fx):
    def told(x):
        seen.append(x)

    seen = []
    fx.has_side_effect(told)
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(told, (x,))
    graph.call_module("act", (x,))
    graph.output(x)
    quiet = nn.ReLU()
    quiet._is_impure = True
    module = fx.GraphModule({"act": quiet}, graph)
    assert not module.graph.eliminate_dead_code()
    quiet._is_impure = False
    assert module.graph.eliminate_dead_code()
    module.recompile()
    assert module(3) == 3 and seen == [3]


def test_a_live_proxy_does_not_change_what_is_explained(torch, fx):
    tracer = fx.Tracer()
    tracer.graph = fx.Graph()
    proxy = fx.Proxy(tracer.graph.placeholder("x"), tracer)
    x = torch.ones(2, requires_grad=True)
    with explain.record() as explained:
        (x * x).sum().backward()
        (x * x).backward(torch.tensor([1.0, 2.0]))
    assert [call.text for call in explained.all_calls] == ["(x * x).sum().backward()", "(x * x).backward([1., 2.])"]
    assert proxy.node.op == "placeholder"


def test_functions_that_write_are_refused_where_that_is_asked_for(torch, fx):
    class Strict(fx.Tracer):
        check_mutable_operations = True

    class Module(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, x):
            return self.function(x)

    for function in (torch.relu_, lambda x: torch.add(x, 1, out=x)):
        with pytest.raises(RuntimeError, match="Tried to trace mutable operation"):
            Strict().trace(Module(function))
        fx.Tracer().trace(Module(function))
    Strict().trace(Module(lambda x: torch.relu(x) + x.__abs__()))


def test_a_module_keeps_what_passes_note(torch, fx):
    traced = fx.symbolic_trace(torch.nn.Linear(2, 2))
    assert traced.meta == {}
    traced.meta["pass"] = [1]
    assert copy.deepcopy(traced).meta == pickle.loads(pickle.dumps(traced)).meta == {"pass": [1]}
    assert fx.GraphModule(traced, traced.graph).meta == {}
