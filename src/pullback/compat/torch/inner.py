"""Private modules of torch, with an underscore, that programs import nevertheless."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ... import (
    Generator as Generator,
    Tensor,
    cat,
    device as Device,
    dtype as Kind,
    empty,
    get_num_threads,
    get_printoptions,
)
from ..._core.modes import ModeBlock
from ...func import vmap
from ...nn import Parameter
from ...observe import AccumulateGrad
from ...utils.data.loader import FromWorkers, Here, Pass
from .inert import block, does_nothing, no

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeGuard

    from ..._core.typing import DType, Function, Returned


_vmap = vmap


_TensorMeta = type(Tensor)


def _disabled_torch_function_impl(
    func: Function, types: object, args: Sequence[object] = (), kwargs: dict[str, object] | None = None
) -> Any:
    """The function's own result: what `__torch_function__ = ...` says in a class that does not dispatch."""
    return func(*args, **(kwargs or {}))


_is_tracing = _are_functorch_transforms_active = no
_ExcludeDispatchKeyGuard = block
# Settings of TorchScript's compiler, which changes nothing here: what was set before is False
_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_set_nvfuser_enabled = _jit_set_texpr_fuser_enabled = no
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = does_nothing


def _get_accelerator(check: bool | None = None) -> Device:
    """The device of new work: the CPU."""
    return Device("cpu")


def _get_available_device_type() -> None:
    """None: there is no accelerator."""


def _get_device_module(device_type: str) -> Any:
    """The module of a kind of device, such as torch.cuda; RuntimeError if there is none."""
    found = getattr(importlib.import_module("torch"), device_type, None)
    if found is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return found


def _get_privateuse1_backend_name() -> str:
    """The name of devices of other packages: what torch calls them until one has given its name."""
    return "privateuseone"


class Value:
    """A value in a graph of TorchScript, which has no instances."""


def _log_api_usage_once(*args: object) -> None:
    """Has no effect: usage is not counted."""


def _element_size(dtype: DType) -> int:
    """The bytes of an element of a dtype."""
    return int(empty(0, dtype=dtype).itemsize)


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _copy_to_script_wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return function


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors, concatenated to one vector."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The parts of a vector in the shapes of tensors."""
    pieces = flat.split([tensor.numel() for tensor in tensors])
    return tuple(piece.reshape(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True))


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: object,
    metadata: object = None,
) -> Tensor:
    """A tensor over the memory of a storage."""
    made: Tensor = empty(0, dtype=storage.dtype).set_(storage, storage_offset, tuple(size), tuple(stride))
    return made.requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: object) -> Parameter:
    """A parameter over a tensor's memory."""
    return Parameter(data, requires_grad)


def _rebuild_from_type_v2(func: Function, new_type: type[Tensor], args: Sequence[Any], state: Any) -> Tensor:
    """A tensor of a class, as a pickle describes it: made by a function, with its attributes."""
    made: Any = func(*args)
    made = made if type(made) is new_type else made.as_subclass(new_type)
    if hasattr(made, "__setstate__"):  # which tensors have not
        made.__setstate__(state)
        return made
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        setattr(made, name, value)
    return made


class _PrintOptions:
    """How tensors are printed: what `set_printoptions` has chosen."""

    def __getattr__(self, name: str) -> Any:
        options = get_printoptions()
        if name not in options:
            raise AttributeError(f"print options have no {name!r}: they are {', '.join(options)}")
        return options[name]


PRINT_OPTS = _PrintOptions()


def _tensor_str(tensor: Tensor, indent: int) -> str:
    """The numbers of a tensor as they are printed."""
    return repr(tensor)[7:-1]


def _get_device_index(device: object, optional: bool = False, allow_cpu: bool = False) -> int:
    """-1, which means the CPU; ValueError for another device."""
    if not (optional or allow_cpu):
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")
    return -1


class _functions:
    """Classes of nodes that programs use in `isinstance`."""

    AccumulateGrad = AccumulateGrad


class elastic:
    """torch.distributed.elastic: a mark for the function that a program begins with."""

    @staticmethod
    def record(fn: Returned, error_handler: object = None) -> Returned:
        """The function itself."""
        return fn


class layouts:
    """torch.distributed.tensor: how a tensor would be divided, which programs say in tables; nothing divides one."""

    class Placement:
        """What is said of a tensor, or of a module, by its arguments."""

        def __init__(self, *args: object, **options: object) -> None:
            self.args, self.options = args, options

    class Replicate(Placement):
        """The whole tensor in each process."""

    class Shard(Placement):
        """A part of an axis in each process."""

    class Partial(Placement):
        """A summand in each process."""

    ParallelStyle = ColwiseParallel = RowwiseParallel = SequenceParallel = Placement
    PrepareModuleInput = PrepareModuleOutput = PrepareModuleInputOutput = Placement


class onnx:
    """torch.onnx: there is no export."""

    is_in_onnx_export = staticmethod(no)
    register_custom_op_symbolic = staticmethod(does_nothing)


class symbolic:
    """torch.onnx.symbolic_helper: decorators of functions that only an export would call."""

    @staticmethod
    def parse_args(*kinds: str) -> Callable[[Any], Any]:
        """A decorator that leaves functions as they are."""
        return lambda function: function


class _Keys:
    """torch's names of what kernels are for: any name is one."""

    def __getattr__(self, name: str) -> object:
        return name


DispatchKey = _Keys()


class DispatchKeySet(frozenset[str]):
    """A set of such names."""

    def __new__(cls, key: str | Iterable[str]) -> Self:
        """The set of one name, or of several."""
        return super().__new__(cls, [key] if isinstance(key, str) else key)


class fake:
    """torch._subclasses.fake_tensor: all tensors have numbers."""

    is_fake = staticmethod(no)
    unset_fake_temporarily = staticmethod(block)


class config:
    """torch.__config__: how the library was built."""

    show: Callable[[], str] = staticmethod(lambda: f"pullback in the place of torch, on NumPy {np.__version__}")
    parallel_info: Callable[[], str] = staticmethod(lambda: f"pullback::get_num_threads() : {get_num_threads()}")


class data:
    """torch.utils.data.dataloader: names for annotations, and the passes through a loader's data."""

    _collate_fn_t = _worker_init_fn_t = Callable[..., Any]
    _BaseDataLoaderIter, _SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter = Pass, Here, FromWorkers

    @staticmethod
    def _generate_state(base_seed: int, worker_id: int) -> list[int]:
        """The seed of NumPy's generator in a worker."""
        words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        return np.random.SeedSequence(words).generate_state(4).tolist()


class contexts:
    """torch.utils._contextlib: blocks that are decorators, too."""

    class _DecoratorContextManager(ModeBlock):
        """A block whose class has `__enter__` and `__exit__`; one with arguments has `clone`."""

        def __init__(self) -> None:
            """Nothing is kept."""

        def __enter__(self) -> Any:
            raise NotImplementedError

        def __exit__(self, *exc: object) -> None:
            raise NotImplementedError

        def clone(self) -> Self:
            """A new block for a call of a decorated function."""
            return type(self)()

        def _fresh(self) -> Self:
            return self.clone()

    class _NoParamDecoratorContextManager(_DecoratorContextManager):
        """A block without arguments, which decorates with and without parentheses."""

        def __new__(cls, orig_func: Function | None = None) -> Any:
            """The block, or a decorated function."""
            return super().__new__(cls) if orig_func is None else cls()(orig_func)

        def __init__(self, orig_func: None = None) -> None:
            super().__init__()


class wrappers:
    """torch.utils._python_dispatch: tensors that consist of other tensors, which there are none of."""

    @staticmethod
    def is_traceable_wrapper_subclass(t: object) -> bool:
        """False: no tensor is made of others."""
        return False

    @staticmethod
    def is_traceable_wrapper_subclass_type(t: object) -> bool:
        """False: there is no class of such tensors."""
        return False


class inside:
    """torch._C._nn: functions of layers."""

    @staticmethod
    def _parse_to(*args: object, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """What the arguments of `Module.to` say: the device, the dtype, `non_blocking`, and the memory format."""
        given = [*args, *(kwargs.get(name) for name in ("device", "dtype", "tensor"))]
        dtype = next((each.dtype if isinstance(each, Tensor) else each for each in given if _tells(each)), None)
        devices = [each for each in given if isinstance(each, (str, Device))]
        flags = [each for each in given if isinstance(each, bool)]
        device = Device(devices[0]) if devices else None
        return device, dtype, kwargs.get("non_blocking", bool(flags[:1] == [True])), kwargs.get("memory_format")


def _tells(value: object) -> TypeGuard[Tensor | Kind]:
    """True for an argument that says a dtype."""
    return isinstance(value, (Tensor, Kind))
