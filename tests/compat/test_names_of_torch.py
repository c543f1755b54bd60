"""Names of torch that packages import: what they are for works as in torch, or raises when it is used."""

import copy
import pickle

import numpy as np
import pytest
from tests.prepared import installed

import pullback
from pullback.compat.torch import containers, hub, library
from pullback.compat.torch.operators import ops


def test_other_packages_of_torch_are_looked_for_as_usual():
    installed("""
        import importlib.metadata, importlib.util
        assert importlib.util.find_spec("torchaudio") is None
        assert importlib.util.find_spec("torch").origin == "pullback"
        assert importlib.metadata.version("torch") == torch.__version__
        assert "torch" in importlib.metadata.packages_distributions()["torch"]
        from pullback.compat.torch import uninstall
        uninstall()
        try:
            assert "pullback" not in importlib.metadata.version("torch")
        except importlib.metadata.PackageNotFoundError:
            pass
    """)


def test_modules_list_their_names():
    installed("""
        found = torch.distributions.__dict__
        assert found["Normal"] is torch.distributions.Normal and "Gamma" in vars(torch.distributions)
        assert vars(torch.optim)["AdamW"] is torch.optim.AdamW
    """)


def test_names_that_raise_when_they_are_used():
    installed("""
        from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
        from torch.nn.attention.flex_attention import BlockMask
        from torch.overrides import TorchFunctionMode
        class Mode(TorchFunctionMode):
            pass
        kinds = torch.Tensor | BlockMask | None
        assert not isinstance(torch.ones(1), (BlockMask, torch.cuda.Stream, torch.SymInt))
        strategy = ShardingStrategy.FULL_SHARD
        raises(RuntimeError, "torch.distributed.fsdp.FullyShardedDataParallel is not in pullback", FullyShardedDataParallel)
        @torch.distributed.rpc.api._require_initialized
        def needs_it():
            pass
        raises(RuntimeError, "torch.distributed.rpc.api._require_initialized is not", needs_it)
        raises(RuntimeError, "cuda", torch.cuda.Stream)
        torch.cuda.set_rng_state_all([])
        raises(OSError, "compiled for torch", lambda: torch.ops.load_library("x.so"))
        raises(AttributeError, "frobnicate", lambda: torch.ops.tried.frobnicate)
        assert torch._C._nn._parse_to("cpu", torch.float64)[:2] == (torch.device("cpu"), torch.float64)
        from torch.utils._python_dispatch import is_traceable_wrapper_subclass
        assert not is_traceable_wrapper_subclass(torch.ones(1))
        assert torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX == "_extra_state"
        assert torch._utils._element_size(torch.float64) == 8 and not torch.autograd.kineto_available()
        with torch.device("meta"):
            assert torch.get_default_device() == torch.device("meta") == torch.tensor([]).device
        assert torch.get_default_device() == torch.device("cpu")
        assert not torch.onnx.is_in_onnx_export() and "NumPy" in torch.__config__.show()
    """)


def test_names_that_torchvision_needs_to_be_imported():
    installed("""
        from torch.jit.annotations import BroadcastingList2
        from torch.onnx import operators, symbolic_opset11
        from torch.onnx.symbolic_helper import parse_args
        from torch.utils.model_zoo import load_url, tqdm
        import torch._custom_ops
        from torch._dynamo.utils import is_compile_supported

        assert parse_args("v", "i")(len) is len and BroadcastingList2[int]
        assert torch.onnx.register_custom_op_symbolic("a::b", len, 11) is None
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU) | torch._C.DispatchKeySet("AutocastCUDA")
        assert keys == {"AutocastCPU", "AutocastCUDA"}
        for name in (load_url, tqdm, is_compile_supported, symbolic_opset11.unsqueeze):
            raises(RuntimeError, "is not in pullback", lambda: name("https://example.com"))
        torch._check(True)
        torch._assert_async(torch.tensor(1))
        raises(RuntimeError, "too few", lambda: torch._check(False, lambda: "too few"))
        raises(RuntimeError, "empty", lambda: torch._assert_async(torch.tensor(False), "empty"))
    """)


def test_limits_of_dtypes_that_numpy_lacks():
    installed("""
        found = torch.finfo(torch.bfloat16)
        assert (found.bits, found.eps, found.max, found.tiny) == (16, 2**-7, 3.3895313892515355e38, 2**-126)
        assert torch.finfo(torch.float8_e4m3fn).max == 448 and torch.finfo(torch.float32).bits == 32
        assert torch.bfloat16.is_floating_point and torch.bfloat16.itemsize == 2
        assert repr(torch.ones(2, dtype=torch.bfloat16)) == "tensor([1., 1.], dtype=torch.bfloat16)"
        assert torch.nn.Linear(2, 2).bfloat16()(torch.ones(1, 2).bfloat16()).dtype is torch.bfloat16
        raises(TypeError, "float8_e4m3fn is not a dtype of pullback", lambda: torch.ones(2, dtype=torch.float8_e4m3fn))
    """)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: pullback.add(1, 2), pullback.tensor(3)),
        (lambda: pullback.div(7, 2), pullback.tensor(3.5)),
        (lambda: pullback.div(7, 2, rounding_mode="trunc"), pullback.tensor(3)),
        (lambda: pullback.mul(2.5, True), pullback.tensor(2.5)),
        (lambda: pullback.sub(5, 2, alpha=2), pullback.tensor(1)),
        (lambda: pullback.floor_divide(7, 2), pullback.tensor(3)),
    ],
)
def test_arithmetic_of_two_numbers_gives_a_tensor(call, expected):
    assert call().dtype == expected.dtype
    assert call() == expected


@pytest.mark.parametrize("function", ["pow", "maximum", "eq", "remainder", "atan2"])
def test_other_functions_of_two_numbers_are_refused(function):
    with pytest.raises(TypeError, match=r"must be Tensor"):
        getattr(pullback, function)(1, 2)


def test_numpy_where_nothing_is_recorded():
    x = pullback.ones(2, requires_grad=True)
    with pullback.no_grad():
        x.numpy()[0] = 5
        np.testing.assert_array_equal(np.asarray(x), [5, 1])
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()


# Subclasses


class Weighted(pullback.Tensor):
    """A tensor with attributes of its own."""


class Scaled(pullback.nn.Parameter):
    """A parameter with attributes of its own."""


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("kind", [Weighted, Scaled])
def test_subclasses_are_copied_with_their_attributes(kind, copied):
    x = pullback.ones(2).as_subclass(Weighted) if kind is Weighted else Scaled(pullback.ones(2))
    x.tag = ["a"]
    found = copied(x)
    assert type(found) is kind
    assert found.tag == ["a"]
    assert found.requires_grad == x.requires_grad
    assert found.tolist() == [1, 1]
    if copied is copy.deepcopy:
        assert found.tag is not x.tag


def test_a_parameter_of_a_subclass_in_a_module():
    module = pullback.nn.Linear(2, 1)
    module.weight = Scaled(pullback.ones(1, 2))
    assert type(dict(module.named_parameters())["weight"]) is Scaled
    assert type(module.state_dict()["weight"]) is pullback.Tensor
    assert type(module.weight.detach()) is pullback.Tensor
    assert type(copy.deepcopy(module).weight) is Scaled


def test_files_of_subclasses_keep_the_class():
    installed("""
        import io, __main__
        class Kept(torch.Tensor):
            pass
        __main__.Kept = Kept
        x = torch.ones(2).as_subclass(Kept)
        x.tag = 3
        file = io.BytesIO()
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.save({"x": x}, file)
        file.seek(0)
        found = torch.load(file, weights_only=False)["x"]
        assert type(found) is Kept and found.tag == 3 and found.tolist() == [1, 1]
        file.seek(0)
        raises(Exception, "Kept", lambda: torch.load(file))
    """)


# Distributions


def test_parameters_that_follow_are_found_by_super():
    class Shifted(pullback.distributions.Categorical):
        @property
        def doubled(self):
            return 2 * super().logits

    chances = pullback.tensor([0.25, 0.75])
    np.testing.assert_allclose(Shifted(probs=chances).doubled.tolist(), 2 * np.log([0.25, 0.75]), rtol=1e-6)
    assert Shifted(logits=chances).doubled.shape == (2,)
    normal = pullback.distributions.MultivariateNormal(pullback.zeros(2), 4 * pullback.eye(2))
    assert normal.scale_tril.tolist() == [[2, 0], [0, 2]]
    assert normal.precision_matrix.tolist() == [[0.25, 0], [0, 0.25]]
    with pytest.raises(AttributeError, match="frobnicate"):
        normal.frobnicate


def test_dependent_constraints_are_not_checked():
    class Counted(pullback.distributions.Distribution):
        arg_constraints = {"count": pullback.distributions.constraints.dependent}  # noqa: RUF012
        support = pullback.distributions.constraints.real

        def __init__(self, count):
            self.count = count
            super().__init__(validate_args=True)

    assert Counted(pullback.tensor(-1)).count == -1


# Trees


class Pair:
    """Two values."""

    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.fixture
def pairs():
    containers.register_pytree_node(
        Pair,
        lambda p: ([p.a, p.b], "pair"),
        lambda parts, _: Pair(*parts),
        serialized_type_name="pair",
        flatten_with_keys_fn=lambda p: (
            [(containers.GetAttrKey("a"), p.a), (containers.GetAttrKey("b"), p.b)],
            "pair",
        ),
    )
    yield
    containers._deregister_pytree_node(Pair)


@pytest.mark.usefixtures("pairs")
def test_registered_classes_are_containers_everywhere():
    assert containers.tree_leaves({"x": Pair(1, [2, 3])}) == [1, 2, 3]
    slope = pullback.func.grad(lambda p: (p.a * p.b).sum())(Pair(pullback.ones(2), pullback.full((2,), 3.0)))
    assert type(slope) is Pair
    assert slope.a.tolist() == [3, 3]
    rows = pullback.vmap(lambda p: Pair(p.a + p.b, p.a))(Pair(pullback.ones(2), pullback.ones(2)))
    assert rows.a.tolist() == [2, 2]
    spec = containers.tree_structure(Pair(0, (0,)))
    assert containers.treespec_loads(containers.treespec_dumps(spec)) == spec
    found = containers.tree_leaves_with_path({"k": Pair(1, [2])})
    assert [containers.keystr(path) for path, _ in found] == ["['k'].a", "['k'].b[0]"]
    assert all(containers.key_get({"k": Pair(1, [2])}, path) == leaf for path, leaf in found)
    with pytest.raises(ValueError, match="already registered"):
        containers.register_pytree_node(Pair, None, None)


def test_a_class_that_is_no_longer_registered():
    assert containers.tree_leaves(Pair(1, 2))[0].a == 1


def test_trees_of_pythons_containers():
    from collections import OrderedDict, defaultdict, deque, namedtuple

    point = namedtuple("point", "x y")  # noqa: PYI024
    tree = [defaultdict(list, {"a": 1}), deque([2, 3], maxlen=5), OrderedDict(b=4), point(5, None)]
    leaves, spec = containers.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4, 5, None]
    built = spec.unflatten(range(6))
    assert built[0].default_factory is list
    assert built[1].maxlen == 5
    assert built[3] == point(4, 5)
    assert spec.num_leaves == 6
    assert spec.num_nodes == 11
    assert containers.tree_map(lambda a, b: (a, b), {"k": 1}, {"k": [2]}) == {"k": (1, [2])}
    assert containers.tree_map_only(int, lambda n: -n, [1, "a"]) == [-1, "a"]
    assert containers.tree_any(lambda n: n == 2, [1, 2])
    assert not containers.tree_all(lambda n: n == 2, [1, 2])
    with pytest.raises(ValueError, match="holds 2 items"):
        containers.tree_unflatten([1], containers.tree_structure((1, 2)))
    for mine, other in (([1], (1,)), (deque([1], maxlen=2), deque([1], maxlen=3)), ({"a": 1}, {"b": 1})):
        with pytest.raises(ValueError, match="nests differently"):
            containers.tree_map(lambda a, b: a, mine, other)


def test_the_ranks_of_a_group_of_one():
    installed("""
        import torch.distributed as dist
        dist.init_process_group("gloo")
        assert dist.get_process_group_ranks() == [0]
        assert dist.get_global_rank(None, 0) == dist.get_group_rank(None, 0) == 0
        raises(ValueError, "not part of group", lambda: dist.get_group_rank(None, 3))
        dist.destroy_process_group()
        raises(ValueError, "has not been initialized", dist.get_process_group_ranks)
    """)


# Operators of one's own


@pytest.fixture
def operators():
    before = dict(library.OPERATORS)
    yield
    library.OPERATORS.clear()
    library.OPERATORS.update(before)


@pytest.mark.usefixtures("operators")
def test_an_operator_of_lists_with_a_formula():
    @library.custom_op("tried::weighted", mutates_args=())
    def weighted(parts: list[pullback.Tensor], factor: float, *, shift: float = 0.0) -> pullback.Tensor:
        return pullback.from_numpy(sum(factor * part.numpy() for part in parts) + np.float32(shift))

    weighted.register_autograd(lambda ctx, g: ([g * ctx.factor] * ctx.count, None), setup_context=_keep)
    a, b = pullback.ones(2, requires_grad=True), pullback.ones(2, requires_grad=True)
    ops.tried.weighted([a, b], 3.0, shift=1.0).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [3, 3]
    assert ops.tried.weighted.default([a], 2.0).tolist() == [2, 2]


def _keep(ctx, inputs, output, keyword_only_inputs):
    ctx.count, ctx.factor = len(inputs[0]), inputs[1]
    assert output.shape == (2,)
    assert keyword_only_inputs in ({"shift": 1.0}, {"shift": 0.0})


@pytest.mark.usefixtures("operators")
def test_an_operator_without_a_formula():
    @library.custom_op("tried::halved", mutates_args=())
    def halved(x: pullback.Tensor) -> tuple[pullback.Tensor, int]:
        return x / 2, 5

    found, number = halved(pullback.ones(2, requires_grad=True))
    assert number == 5
    assert found.tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        found.sum().backward()
    library.register_autograd("tried::halved", lambda ctx, g, _: (g, g))
    with pytest.raises(RuntimeError, match="2 gradients for 1 inputs"):
        halved(pullback.ones(2, requires_grad=True))[0].sum().backward()


@pytest.mark.usefixtures("operators")
def test_an_operator_that_writes():
    @library.custom_op("tried::clear", mutates_args={"x"})
    def clear(x: pullback.Tensor) -> None:
        x.numpy()[...] = 0

    x = pullback.ones(2)
    w = pullback.ones(2, requires_grad=True)
    y = (w * x).sum()
    assert clear(x) is None
    assert x.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with pytest.raises(RuntimeError, match="requires grad"):
        clear(w)

    @library.custom_op("tried::wipe", mutates_args="unknown")
    def wipe(x: pullback.Tensor, y: pullback.Tensor) -> None:
        y.numpy()[...] = 0

    kept = (w * (x := pullback.ones(2))).sum()
    wipe(pullback.ones(1), x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


@pytest.mark.usefixtures("operators")
def test_a_library_of_operators():
    made = library.Library("tried", "DEF")
    made.define("twice(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="no kernel for the CPU"):
        ops.tried.twice(pullback.ones(1))
    library.impl(made, "twice", "CompositeImplicitAutograd")(lambda x: 2 * x)
    x = pullback.ones(1, requires_grad=True)
    ops.tried.twice(x).backward()
    assert x.grad.item() == 2
    library.define("tried::thrice", "(Tensor x) -> Tensor")
    library.impl("tried::thrice", "cpu", lambda x: 3 * x)
    assert ops.tried.thrice(pullback.ones(1)).item() == 3
    assert library.infer_schema(_annotated, mutates_args=()) == "(Tensor x, float? s, SymInt[] n) -> Tensor"
    assert ops.aten.add.Tensor(pullback.ones(1), 1).item() == 2
    with pytest.raises(NotImplementedError, match=r"aten.frobnicate is not"):
        ops.aten.frobnicate.default()
    with pytest.raises(ValueError, match="namespace::name"):
        library.custom_op("alone", lambda x: x, mutates_args=())


def _annotated(x: pullback.Tensor, s: float | None, n: list[int]) -> pullback.Tensor:
    return x


# The hub


def test_models_of_local_folders(tmp_path, monkeypatch):
    (tmp_path / "hubconf.py").write_text("dependencies = ['numpy']\ndef made(n):\n    'A number.'\n    return n + 1\n")
    assert hub.load(tmp_path, "made", 2, source="local") == 3
    assert hub.list(tmp_path, source="local") == ["made"]
    assert hub.help(tmp_path, "made", source="local") == "A number."
    with pytest.raises(RuntimeError, match="Cannot find callable frobnicate"):
        hub.load(tmp_path, "frobnicate", source="local")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert hub.get_dir() == str(tmp_path / "hub")
    with pytest.raises(FileNotFoundError, match=r"put it at .*owner_name_main"):
        hub.load("owner/name", "made")
    with pytest.raises(FileNotFoundError, match="downloads nothing"):
        hub.load_state_dict_from_url("https://host/weights.pth")
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    pullback.save({"w": pullback.ones(2)}, tmp_path / "hub" / "checkpoints" / "weights.pth")
    assert hub.load_state_dict_from_url("https://host/weights.pth")["w"].tolist() == [1, 1]


def test_points_of_sobol():
    pytest.importorskip("scipy")
    from pullback.compat.torch.quasirandom import SobolEngine

    engine = SobolEngine(3)
    whole = engine.draw(8)
    assert engine.num_generated == 8
    assert engine.reset().fast_forward(4).draw(4).tolist() == whole[4:].tolist()
    assert sorted(whole[:, 0].tolist()) == [n / 8 for n in range(8)]
    assert SobolEngine(2, scramble=True, seed=3).draw(4).tolist() == SobolEngine(2, True, 3).draw(4).tolist()
    with pytest.raises(ValueError, match="range of dimensionality"):
        SobolEngine(0)


def test_is_inference_is_a_function_too():
    installed("""
        with torch.inference_mode():
            x = torch.zeros(2)
        assert torch.is_inference(x) and not torch.is_inference(torch.zeros(2))
    """)


def test_results_are_of_the_kinds_of_return_types():
    installed("""
        x = torch.arange(6.0).reshape(2, 3)
        assert isinstance(x.max(1), torch.return_types.max) and not isinstance(x.max(1), torch.return_types.topk)
        assert isinstance(torch.return_types.linalg_svd, type) and not hasattr(torch.return_types, "add")
        assert torch.return_types.sort([x, x + 1]).indices.tolist() == (x + 1).tolist()
        values = {
            "aminmax": torch.aminmax(x), "mode": x.mode(1), "linalg_qr": torch.linalg.qr(x), "frexp": torch.frexp(x),
            "histogram": torch.histogram(x, 3), "linalg_slogdet": torch.linalg.slogdet(torch.eye(2)),
            "linalg_inv_ex": torch.linalg.inv_ex(torch.eye(2)),
        }
        assert all(isinstance(value, getattr(torch.return_types, name)) for name, value in values.items())
        assert set(values) <= set(dir(torch.return_types))
    """)


def test_tensors_are_swapped_with_all_that_they_are():
    installed("""
        layer = torch.nn.Linear(2, 2)
        weight = layer.weight
        loss = layer(torch.ones(1, 2)).sum()
        loss.backward(retain_graph=True)
        weight.tag = "first"
        other = torch.nn.Parameter(torch.ones(3, 2, dtype=torch.float64))
        torch.utils.swap_tensors(weight, other)
        assert layer.weight is weight and weight.shape == (3, 2) and weight.dtype == torch.float64
        assert weight.grad is None and other.grad.shape == (2, 2) and other.tag == "first" and not hasattr(weight, "tag")
        raises(RuntimeError, "poisoned by swap_tensors", loss.backward)
        plain = torch.zeros(4)
        torch.utils.swap_tensors(plain, other)
        assert isinstance(plain, torch.nn.Parameter) and not isinstance(other, torch.nn.Parameter)
        assert (other.shape, other.requires_grad, plain.requires_grad) == ((4,), False, True)
        (plain * 3).sum().backward()
        assert plain.grad.tolist() == [[4.0, 4.0]] * 2
        raises(RuntimeError, "Expected use_count of t2 to be 1", lambda: torch.utils.swap_tensors(other, plain * 2))
        raises(RuntimeError, "Expected use_count of t1 to be 1", lambda: torch.utils.swap_tensors(other[1:], plain))
        assert other.shape == (4,)
    """)


def test_a_table_of_a_profiler_tells_of_named_blocks():
    installed("""
        from torch.profiler import profile, record_function
        with profile() as seen:
            for _ in range(3):
                with record_function("step of mine"):
                    torch.ones(2).sum()
        with record_function("afterwards"):
            pass
        table = seen.key_averages().table(row_limit=3)
        assert "3 " in table.splitlines()[0] and "step of mine" in table.splitlines()[0] and "afterwards" not in table
    """)


def test_graphs_of_models_for_tensorboard():
    pytest.importorskip("tensorboardX")
    installed("""
        from torch.utils.tensorboard._pytorch_graph import graph
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.part = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
            def forward(self, x):
                return torch.sin(self.part(x))
        model = Model()
        drawn, device = graph(model, torch.ones(2, 3))
        nodes = {node.name: node for node in drawn.node}
        assert list(nodes) == ["input/x", "part/0/part_0", "part/1/part_1", "functions/sin", "output/output"], list(nodes)
        linear = nodes["part/0/part_0"]
        assert (linear.op, list(linear.input)) == ("Linear", ["input/x"]) and nodes["functions/sin"].op == "sin"
        shape = linear.attr["_output_shapes"].list.shape[0]
        assert [each.size for each in shape.dim] == [2, 4] and b"in_features=3" in linear.attr["attr"].s
        assert b"/device:CPU:0" in device.SerializeToString() and model.training
        drawn.SerializeToString()
    """)


def test_copies_of_layers_and_places_of_differences():
    installed("""
        from torch.nn.modules.transformer import _get_activation_fn, _get_clones
        copies = _get_clones(torch.nn.Linear(1, 1), 2)
        assert len(copies) == 2 and copies[0].weight is not copies[1].weight
        assert _get_activation_fn("gelu") is torch.nn.functional.gelu
        far = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
        near = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        raises(AssertionError, "difference: 1.0 at index (1, 1)", lambda: torch.testing.assert_close(far, near))
        raises(AssertionError, "(up to 1e-07 allowed)", lambda: torch.testing.assert_close(1.0, 1.000001))
        torch.testing.assert_close({"a": [0.1, 1 + 2j]}, {"a": [0.1 + 1e-9, 1 + 2j]})
        torch.testing.assert_close(torch.tensor(0.1), 0.1)
    """)


def test_dtypes_of_few_bits_are_names():
    installed("""
        import pickle
        assert [kind.is_signed for kind in (torch.int1, torch.uint7)] == [True, False]
        assert (repr(torch.int4), torch.int4.itemsize, torch.int4.is_floating_point) == ("torch.int4", 1, False)
        assert pickle.loads(pickle.dumps(torch.uint4)) is torch.uint4
        assert torch.ones(2).dtype != torch.int4 != torch.uint4
        raises(TypeError, "torch.int4 is not a dtype", lambda: torch.zeros(2, dtype=torch.int4))
        assert torch.ones(2).layout != torch.jagged and repr(torch.jagged) == "torch.jagged"
    """)
