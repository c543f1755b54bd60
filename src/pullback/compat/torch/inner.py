"""Private modules of torch, with an underscore, that programs import nevertheless."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._numerics.random import Generator as Generator
from ..._tape.node import AccumulateGrad
from ..._tensor.tensor import Tensor as Tensor
from ...func import vmap
from ...vocabulary.shapes import cat

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


class fx:
    """torch.fx: marks for functions that graphs call without tracing them. There are no graphs."""

    @staticmethod
    def wrap(fn_or_name: Any) -> Any:
        """The function, or name, itself."""
        return fn_or_name


class elastic:
    """torch.distributed.elastic: a mark for the function that a program begins with."""

    @staticmethod
    def record(fn: Any, error_handler: Any = None) -> Any:
        """The function itself."""
        return fn
