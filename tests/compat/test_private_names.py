"""Private names of torch that packages import: each does what torch's does on a CPU. The programs run with torch, too."""

import pytest
from tests.prepared import installed

PROGRAMS = {
    "print options": """
        from torch._tensor_str import PRINT_OPTS
        assert PRINT_OPTS.precision == 4 and not hasattr(PRINT_OPTS, "colors")
        if "pullback" in sys.modules:
            raises(AttributeError, "print options have no 'colors'", lambda: PRINT_OPTS.colors)
    """,
    "tensors in the place of a module's": """
        from torch.nn.utils.stateless import _reparametrize_module
        layer, other = torch.nn.Linear(2, 1), {"weight": torch.ones(1, 2)}
        before = layer.weight
        with _reparametrize_module(layer, other):
            assert layer.weight is other["weight"]
            layer._parameters["weight"] = torch.full((1, 2), 3.0)
        assert layer.weight is before and other["weight"].tolist() == [[3.0, 3.0]]
        raises(RuntimeError, "Missing key", lambda: _reparametrize_module(layer, {}, strict=True).__enter__())
    """,
    "tensors of a class, from a pickle": """
        from torch._tensor import _rebuild_from_type_v2
        class Named(torch.Tensor):
            pass
        made = _rebuild_from_type_v2(torch.ones, Named, (2,), {"name": "pair"})
        assert type(made) is Named and made.name == "pair" and made.tolist() == [1.0, 1.0]
        made = _rebuild_from_type_v2(torch.ones, torch.Tensor, (2,), ({"name": "a"}, {"more": 1}))
        assert type(made) is torch.Tensor and (made.name, made.more) == ("a", 1)
    """,
    "futures and arguments": """
        from torch.fx.node import Argument
        future = torch.jit.Future()
        future.set_result(1)
        assert future.wait() == 1
    """,
    "processes": """
        import torch.multiprocessing
        def twice(rank, number):
            assert (rank, number) == (0, 2)
        torch.multiprocessing.start_processes(twice, (2,), 1, True, False, "fork")
    """,
    "the state of devices": """
        from torch.utils.checkpoint import CheckpointFunction, get_device_states, set_device_states
        x = torch.ones(2, requires_grad=True)
        assert get_device_states(x, 1) == ([], [])
        set_device_states([], [])
        assert torch.cuda._initialized is False and torch.cuda.default_generators == ()
        assert torch.cuda._lazy_call(lambda: 1 / 0) is None
    """,
    "tensors in groups": """
        from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support
        lists = [[torch.ones(1), torch.ones(2, dtype=torch.float64), torch.zeros(3)], [None, torch.ones(2), torch.ones(3)]]
        groups = _group_tensors_by_device_and_dtype(lists, with_indices=True)
        found = {str(dtype): ([[None if t is None else len(t) for t in each] for each in both], places)
                 for (device, dtype), (both, places) in groups.items()}
        assert found == {"torch.float32": ([[1, 3], [None, 3]], [0, 2]), "torch.float64": ([[2], [2]], [1])}, found
        groups = _group_tensors_by_device_and_dtype([[torch.ones(1)], []])
        ((lists, places),) = groups.values()
        assert [len(each) for each in lists] == [1, 0] and places == []
        assert _has_foreach_support([torch.ones(1)], torch.device("cpu"))
    """,
    "optimizers": """
        from torch.optim.optimizer import ParamsT, _default_to_fused_or_foreach, _use_grad_for_differentiable
        class Halving(torch.optim.Optimizer):
            def __init__(self, params):
                super().__init__(params, {"differentiable": False})
            def __setstate__(self, state):
                super().__setstate__(state)
                self._patch_step_function()
            @_use_grad_for_differentiable
            def step(self, closure=None):
                assert not torch.is_grad_enabled()
                for group in self.param_groups:
                    for p in group["params"]:
                        p.mul_(0.5)
        p = torch.ones(2, requires_grad=True)
        halving = Halving([p])
        halving.__setstate__(halving.__getstate__())
        halving.step()
        assert p.tolist() == [0.5, 0.5] and p.grad_fn is None
        assert _default_to_fused_or_foreach([p], False) == (False, False)
    """,
    "results of derivatives": """
        from torch.autograd.functional import _as_tuple, _grad_postprocess, _tuple_postprocess
        x, y = torch.ones(2, requires_grad=True), torch.zeros(3)
        assert _as_tuple(x, "inputs", "f") == (False, (x,)) and _as_tuple((x, y))[0] is True
        raises(TypeError, "inputs given to f must be a Tensor or a tuple of Tensors; found", lambda: _as_tuple(1.0, "inputs", "f"))
        rows = ((x, y),)
        assert _tuple_postprocess(rows, (False, True)) == (x, y) and _tuple_postprocess(rows, (True, False)) == (x,)
        assert _tuple_postprocess(rows, (False, False)) is x and _tuple_postprocess((x,), False) is x
        assert _tuple_postprocess((x,), True) == (x,) and _tuple_postprocess(rows, (True, True)) == rows
        ((kept,),) = _grad_postprocess(((x * 2,),), create_graph=True)
        ((plain,),) = _grad_postprocess(((x * 2,),), create_graph=False)
        assert kept.grad_fn is not None and plain.grad_fn is None
    """,
    "line searches": """
        from torch.optim.lbfgs import _cubic_interpolate, _strong_wolfe
        ends = [torch.tensor(each) for each in (0.0, 1.0, -2.0, 3.0, 4.0, 4.0)]
        assert _cubic_interpolate(*ends) == 1.0 and _cubic_interpolate(*ends, bounds=(2.0, 3.0)) == 2.0
        def at(x, t, d):
            return float(((x + t * d) ** 4).sum()), 4 * (x + t * d) ** 3
        x, d = torch.tensor([1.0, -2.0]), torch.tensor([-1.0, 2.0])
        f, g = at(x, 0, d)
        found = _strong_wolfe(at, x, 0.1, d, f, g, g.dot(d))
        assert found[2:] == (0.1, 1) and abs(found[0] - 17 * 0.9**4) < 1e-4
        strict = _strong_wolfe(at, x, 0.1, d, f, g, g.dot(d), c2=0.01)
        raises(TypeError, "c3", lambda: _strong_wolfe(at, x, 0.1, d, f, g, g.dot(d), c3=0.01))
        assert strict[3] == 5 and abs(strict[2] - 1.0865) < 1e-4, strict
    """,
    "batches by classes": """
        from torch.utils.data._utils.collate import collate, collate_tensor_fn, default_collate_fn_map
        from torch.utils.data import default_collate
        class Point:
            def __init__(self, x):
                self.x = x
        def points(batch, *, collate_fn_map=None):
            return collate([p.x for p in batch], collate_fn_map=collate_fn_map)
        raises(TypeError, "batch must contain tensors", lambda: default_collate([Point(1.0)]))
        kinds = {Point: points, **default_collate_fn_map}
        found = collate([{"a": (Point(1.0), 2)}, {"a": (Point(3.0), 4)}], collate_fn_map=kinds)
        assert found["a"][0].tolist() == [1.0, 3.0] and found["a"][1].tolist() == [2, 4]
        assert default_collate_fn_map[torch.Tensor]([torch.ones(2)] * 3).shape == (3, 2)
        default_collate_fn_map[Point] = points
        assert default_collate([[Point(1)], [Point(2)]])[0].tolist() == [1, 2]
        assert collate_tensor_fn([torch.ones(1)]).shape == (1, 1)
    """,
    "reductions": """
        from torch.nn import _reduction
        assert [_reduction.get_enum(word) for word in ("none", "mean", "sum")] == [0, 1, 2]
        choices = (None, True, False)
        words = [_reduction.legacy_get_string(a, b, emit_warning=False) for a in choices for b in choices]
        assert words == ["mean", "mean", "none"] * 2 + ["sum", "sum", "none"], words
        assert _reduction.legacy_get_enum(False, None, False) == 2
        raises(ValueError, "total is not a valid value for reduction", lambda: _reduction.get_enum("total"))
    """,
    "questions of compilers": """
        assert not torch._C._is_tracing() and not torch._C._functorch.is_batchedtensor(torch.ones(1))
        seen = []
        torch.func.vmap(lambda x: seen.append(torch._C._functorch.is_batchedtensor(x)) or x)(torch.ones(2))
        assert seen == [True]
        assert issubclass(torch.jit.TracerWarning, Warning)
        from torch._subclasses.fake_tensor import unset_fake_temporarily
        with unset_fake_temporarily():
            pass
        assert torch._C._get_privateuse1_backend_name() == "privateuseone"
    """,
    "distributions": """
        from torch.distributions.multivariate_normal import MultivariateNormal, _precision_to_scale_tril
        from torch.distributions.transforms import SigmoidTransform, _clipped_sigmoid
        P = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
        L = _precision_to_scale_tril(P)
        assert L[0, 1] == 0 and torch.allclose(L @ L.mT @ P, torch.eye(2, dtype=torch.float64))
        x = torch.tensor([-200.0, 0.0, 200.0])
        limits = torch.finfo(torch.float32)
        assert _clipped_sigmoid(x).tolist() == [limits.tiny, 0.5, 1 - limits.eps]
    """,
    "words and numbers": """
        from torch.amp.grad_scaler import OptState
        from torch.nn.common_types import _ratio_any_t, _size_2_t, _size_any_t
        from torch.profiler.profiler import ProfilerAction, profile
        from torch.serialization import DEFAULT_PROTOCOL
        from torch.utils._pytree import _list_flatten, _namedtuple_flatten
        assert [each.name for each in OptState] == ["READY", "UNSCALED", "STEPPED"] and DEFAULT_PROTOCOL == 2
        assert _list_flatten([1, 2])[0] == [1, 2]
        assert not torch.distributed.autograd.is_available()
        pair = torch.ones(2).sort()
        assert _namedtuple_flatten(pair)[0] == [*pair]
        assert torch.sym_int(torch.tensor(3.0)) == 3 == torch.sym_int(3.7)
        assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16 == torch.get_autocast_cpu_dtype()
        assert torch.get_device_module("cpu") is torch.cpu and not torch.mtia.is_available()
        assert torch.autograd._is_checkpoint_valid()
    """,
    "samples": """
        from torch.utils.data._utils.collate import np_str_obj_array_pattern
        from torch.utils.data.dataloader import _DatasetKind
        pick = lambda kind, data, drop: _DatasetKind.create_fetcher(kind, data, True, tuple, drop)
        assert pick(_DatasetKind.Map, "abc", False).fetch([2, 0]) == ("c", "a")
        for drop, last in ((False, [("c",)]), (True, [])):
            fetcher, found = pick(_DatasetKind.Iterable, "abc", drop), []
            try:
                while True:
                    found.append(fetcher.fetch([0, 0]))
            except StopIteration:
                pass
            assert found == [("a", "b"), *last], found
        assert np_str_obj_array_pattern.search("<U3") and not np_str_obj_array_pattern.search("<f8")
    """,
    "a loader of one's own": """
        from torch.utils.data._utils.worker import _generate_state
        from torch.utils.data.dataloader import (
            _BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter
        )
        from torch.utils.data import DataLoader
        class Doubling(_BaseDataLoaderIter):
            def _next_data(self):
                return self._collate_fn([2 * self._dataset[place] for place in self._next_index()])
        passed = Doubling(DataLoader([1, 2, 3], batch_size=2, collate_fn=tuple))
        assert (len(passed), [*passed], passed._num_yielded) == (2, [(2, 4), (6,)], 2)
        raises(NotImplementedError, "", lambda: next(_BaseDataLoaderIter(DataLoader([1]))))
        class Loader:
            _IterableDataset_len_called, _auto_collation, collate_fn, drop_last = None, False, staticmethod(str), False
            _index_sampler, generator, prefetch_factor, _dataset_kind = range(9), None, 2, 1
            num_workers = timeout = pin_memory = 0
            persistent_workers, pin_memory_device, in_order = False, "", True
            worker_init_fn = multiprocessing_context = None
            dataset = [5, 6]
        assert [*_SingleProcessDataLoaderIter(Loader())] == ["5", "6"]
        assert DataLoader([1])._auto_collation and [*DataLoader([1], batch_size=None)._index_sampler] == [0]
        assert _generate_state(2**40 + 7, 3) == [400740237, 3779043709, 3128233089, 477537302]
    """,
    "blocks": """
        from torch.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager
        told = []
        class Block(_DecoratorContextManager):
            def __init__(self, name):
                self.name = name
            def __enter__(self):
                told.append(self.name)
            def __exit__(self, *exc):
                told.append("end")
            def clone(self):
                return Block(self.name + "'")
        @Block("a")
        def plain(x):
            return x + len(told)
        @Block("b")
        def several():
            yield 1
            yield 2
        assert plain(1) == 2 and told == ["a'", "end"]
        items = several()
        assert next(items) == 1 and told[2:] == ["b'", "end"] and [*items] == [2]
        class Bare(_NoParamDecoratorContextManager):
            __enter__, __exit__ = (lambda self: told.append("in")), (lambda self, *exc: told.append("out"))
        @Bare
        def bare():
            return told[-1]
        assert bare() == "in" and told[-1] == "out" and Bare()(bare)() == "in"
        raises(NotImplementedError, "", _DecoratorContextManager().__enter__)
    """,
    "names of functions' modules": """
        names = [each for each in dir(torch.nn.functional) if each[0] != "_"]
        values = [getattr(torch.nn.functional, each) for each in names]
        assert "has_torch_function" in names and not {"mapped", "inherited"} & {*names}
        class Kept(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return super().__torch_function__(func, types, args, kwargs or {})
        assert type(torch.ones(2).as_subclass(Kept).to(torch.float64)) is Kept
    """,
    "annotations of layers": """
        import typing
        assert {"ignore_index": int, "label_smoothing": float}.items() <= typing.get_type_hints(
            torch.nn.CrossEntropyLoss(), globals() | {"Tensor": torch.Tensor}
        ).items()
    """,
    "keys of containers": """
        import collections
        from torch.utils import _pytree
        Pair = collections.namedtuple("Pair", "a b")
        made = {
            "dict": {"x": 1, "y": 2}, "ordereddict": collections.OrderedDict(x=1, y=2), "list": [1, 2], "tuple": (1, 2),
            "defaultdict": collections.defaultdict(int, x=1, y=2), "deque": collections.deque([1, 2]), "namedtuple": Pair(1, 2),
        }
        for name, tree in made.items():
            keyed, context = getattr(_pytree, f"_{name}_flatten_with_keys")(tree)
            values, again = getattr(_pytree, f"_{name}_flatten")(tree)
            assert (values, context) == ([1, 2], again) and [value for _, value in keyed] == [1, 2], name
            assert [_pytree.key_get(tree, (key,)) for key, _ in keyed] == [1, 2], name
    """,
    "an optimizer of a list of parameters": """
        p = torch.nn.Parameter(torch.ones(1))
        p.grad = torch.ones(1)
        torch.optim.SGD(torch.nn.ParameterList([p]), lr=0.5).step()
        assert p.item() == 0.5
        raises(TypeError, "not iterable", lambda: torch.optim.SGD(torch.nn.Linear(1, 1)))
    """,
    "what is a few lines": """
        a, b = torch.tensor([[100, -3]], dtype=torch.int8), torch.tensor([[90], [2]], dtype=torch.int8)
        assert torch._int_mm(a, b).tolist() == [[8994]] and torch._int_mm(a, b).dtype == torch.int32
        raises(RuntimeError, "both must be matrices of int8, not", lambda: torch._int_mm(a.int(), b.int()))
        torch._check_is_size(0)
        torch._check_is_size(3, max=3)
        raises(RuntimeError, "low", lambda: torch._check_is_size(-1, lambda: "low"))
        raises(RuntimeError, "", lambda: torch._check_is_size(4, max=3))
        from torch._utils import _rebuild_parameter, _rebuild_tensor_v2
        memory = torch.arange(6.0)
        made = _rebuild_tensor_v2(memory.storage(), 1, (2, 2), (2, 1), True, {})
        assert made.tolist() == [[1, 2], [3, 4]] and made.requires_grad and made.data_ptr() == memory[1:].data_ptr()
        assert isinstance(_rebuild_parameter(memory, False, {}), torch.nn.Parameter)
        assert torch.get_deterministic_debug_mode() == 0 and torch.is_autocast_cache_enabled()
        assert torch._has_compatible_shallow_copy_type(memory, made)
        from torch._dynamo import config
        with config.patch(cache_size_limit=3):
            pass
        from torch.utils._triton import has_triton
        assert not has_triton() and torch._disable_dynamo(len) is len
        assert torch.DeviceObjType is torch.device
        from torch.distributions.kl import _KL_REGISTRY
        assert (torch.distributions.Normal, torch.distributions.Normal) in _KL_REGISTRY
        from torch.nn.utils._named_member_accessor import swap_tensor
        layer = torch.nn.Linear(1, 1)
        before = layer.weight
        assert swap_tensor(layer, "weight", torch.zeros(1, 1)) is before and layer(torch.ones(1)).item() == layer.bias.item()
        raises(AttributeError, "no attribute `other`", lambda: swap_tensor(layer, "other", before))
        from torch._utils import _get_available_device_type, _get_device_module
        assert _get_available_device_type() is None and _get_device_module("cuda") is torch.cuda
        from torch.autograd.functional import _construct_standard_basis_for
        first, second = _construct_standard_basis_for((torch.ones(2), torch.ones(1, dtype=torch.float64)), (2, 1))
        assert first.tolist() == [[1, 0], [0, 1], [0, 0]] and second.tolist() == [[0], [0], [1]]
        assert second.dtype == torch.float64
        from torch.nn.parameter import _ParameterMeta
        assert isinstance(torch.nn.Parameter, _ParameterMeta) and torch.TensorType
        raises(RuntimeError, "does not have a corresponding module", lambda: _get_device_module("nothing"))
    """,
    "a parameter without a shape": """
        from torch.nn.parameter import UninitializedParameter, UninitializedTensorMixin
        p = UninitializedParameter()
        assert isinstance(p, UninitializedTensorMixin)
        p.materialize((2,))
        assert not isinstance(p, UninitializedTensorMixin)
    """,
    "synchronised normalisation": """
        inner = torch.nn.BatchNorm1d(2, momentum=0.3)
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(inner)).eval()
        made = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
        assert made is model and type(model[1][0]) is torch.nn.SyncBatchNorm and model[1][0].weight is inner.weight
        assert model[1][0].running_var is inner.running_var and not model[1][0].training and model[1][0].momentum == 0.3
        alone = torch.nn.BatchNorm2d(3, affine=False, track_running_stats=False)
        assert torch.nn.SyncBatchNorm.convert_sync_batchnorm(alone).weight is None
    """,
    "one device": """
        from torch.nn.parallel.scatter_gather import gather, scatter
        if "pullback" in sys.modules:
            for each in (gather, scatter):
                raises(RuntimeError, "there is nothing to scatter to, and to gather from", lambda: each(torch.ones(2), [0]))
    """,
    "ranks": """
        from torch.distributed.distributed_c10d import _get_default_group, _get_global_rank
        assert torch.distributed.Backend.NCCL == "nccl" == torch.distributed.Backend("NCCL")
        raises(ValueError, "constructor parameter must be string-ish", lambda: torch.distributed.Backend(1))
        assert not torch.distributed.is_initialized()
        assert torch.distributed.ReduceOp.BAND != torch.distributed.ReduceOp.BOR
        raises(ValueError, "Default process group has not been initialized", _get_default_group)
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_private_names(program):
    installed(program)
