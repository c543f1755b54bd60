"""Private modules of torch, with an underscore, that programs import nevertheless."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._core import dtypes, placement
from ..._core.primitives import Carrier
from ..._numerics import blocks
from ..._numerics.random import Generator as Generator
from ..._tape.node import AccumulateGrad
from ..._tensor.tensor import Tensor as Tensor
from ...func import vmap
from ...vocabulary.shapes import cat
from .inert import no

_vmap = vmap


class Value:
    """A value in a graph of TorchScript, which has no instances."""


def _log_api_usage_once(*args: Any) -> None:
    """Has no effect: usage is not counted."""


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _copy_to_script_wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return function


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """All elements of tensors, concatenated to one vector."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of a vector in the shapes of tensors."""
    pieces = flat.split([tensor.numel() for tensor in tensors])
    return tuple(piece.reshape(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True))


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """-1, which means the CPU; ValueError for another device."""
    if not (optional or allow_cpu):
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")
    return -1


class _functions:
    """Classes of nodes that programs use in `isinstance`."""

    AccumulateGrad = AccumulateGrad


class onnx:
    """torch.onnx: there is no export."""

    is_in_onnx_export = staticmethod(no)


class fake:
    """torch._subclasses.fake_tensor: all tensors have numbers."""

    is_fake = staticmethod(no)


class config:
    """torch.__config__: how the library was built."""

    show: Callable[[], str] = staticmethod(lambda: f"pullback in the place of torch, on NumPy {np.__version__}")
    parallel_info: Callable[[], str] = staticmethod(lambda: f"pullback::get_num_threads() : {blocks.get_num_threads()}")


class inside:
    """torch._C._nn: functions of layers."""

    @staticmethod
    def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """What the arguments of `Module.to` say: the device, the dtype, `non_blocking`, and the memory format."""
        given = [*args, *(kwargs.get(name) for name in ("device", "dtype", "tensor"))]
        dtype = next((each.dtype if isinstance(each, Carrier) else each for each in given if _tells(each)), None)
        devices = [each for each in given if isinstance(each, (str, placement.device))]
        flags = [each for each in given if isinstance(each, bool)]
        device = placement.device(devices[0]) if devices else None
        return device, dtype, kwargs.get("non_blocking", bool(flags[:1] == [True])), kwargs.get("memory_format")


def _tells(value: Any) -> bool:
    """True for an argument that says a dtype."""
    return isinstance(value, (Carrier, dtypes.dtype))


class processes:
    """Classes of torch.distributed that programs use in `isinstance`, without instances."""

    class DTensor:
        """A tensor distributed over several processes, which cannot be created: there is only one."""

        def __init__(self, *args: Any, **options: Any) -> None:
            raise RuntimeError("Distributed package doesn't have it built in: pullback computes in one process")

    ZeroRedundancyOptimizer = FullyShardedDataParallel = DTensor
