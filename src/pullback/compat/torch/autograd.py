"""The functions of torch.autograd that are not about derivatives."""

import contextlib
from collections.abc import Sequence
from typing import Any

from ... import Tensor, zeros
from .inert import does_nothing
from .profiling import kineto_available as kineto_available


def is_multithreading_enabled() -> bool:
    """False: a backward pass runs in the thread that called it."""
    return False


def _is_checkpoint_valid() -> bool:
    """True: a pass may compute again what a checkpoint has not kept."""
    return True


def _profiler_enabled() -> bool:
    """False: the profiler is Python's."""
    return False


_disable_profiler = does_nothing


def set_multithreading_enabled(mode: object) -> contextlib.AbstractContextManager[None]:
    """A context in which backward passes may run in several threads; it has no effect."""
    return contextlib.nullcontext()


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """The unit vectors of a space, a row for each, divided into columns for tensors with so many elements."""
    size, parts, before = sum(tensor_numels), [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        part = zeros(size, count, dtype=tensor.dtype)
        part.diagonal(-before).fill_(1)
        parts.append(part)
        before += count
    return tuple(parts)


def _as_tuple(inp: object, arg_name: str | None = None, fn_name: str | None = None) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether a tensor or a tuple of tensors is a tuple, and its tensors.

    Raises
    ------
    TypeError
        If it is neither.
    """
    given = inp if isinstance(inp, tuple) else (inp,)
    for each in given:
        if not isinstance(each, Tensor):
            raise TypeError(f"{arg_name} given to {fn_name} must be a Tensor or a tuple of Tensors; found {type(each)}")
    return isinstance(inp, tuple), given


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Results without the tuples around those of arguments, or of results and arguments, that were tensors alone."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    rows = res if inner else tuple(row[0] for row in res)
    return rows if outer else rows[0]


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Tensors in tuples, without history unless the graph was asked for."""
    if isinstance(inputs, Tensor):
        return inputs if create_graph else inputs.detach()
    return tuple(_grad_postprocess(each, create_graph) for each in inputs)
