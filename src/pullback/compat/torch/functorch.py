"""functorch, the predecessor of torch.func: the same transforms, and the functions that torch.func does not have."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...func import functional_call, stack_module_state, vmap
from ...func.batching import BatchedTensor
from ...utils.trees import flatten, spread
from . import notes
from .inert import no

if TYPE_CHECKING:
    from ..._core.typing import Function, Tensor, Value
    from ...nn.modules.module import Module


_LATER = "is deprecated: use torch.func.functional_call and torch.func.stack_module_state"


def _split(model: Module, tracked: bool) -> tuple[Function, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A module as a function of its parameters and buffers, and these."""
    duplicate = copy.deepcopy(model)
    parameters = {name: p.detach().requires_grad_(p.requires_grad and tracked) for name, p in model.named_parameters()}
    buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}

    def function(params: Sequence[Tensor], kept: Sequence[Tensor], *args: object, **kwargs: object) -> Any:
        state = dict(zip(parameters, params, strict=True)) | dict(zip(buffers, kept, strict=True))
        return functional_call(duplicate, state, args, kwargs)

    return function, tuple(parameters.values()), tuple(buffers.values())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[Function, tuple[Tensor, ...]]:
    """A module as a function of its parameters, and these: `f(parameters, *args)` is the module's result.

    Raises
    ------
    RuntimeError
        If the module has buffers.
    """
    notes.note(f"make_functional {_LATER}")
    function, parameters, buffers = _split(model, not disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return lambda params, *args, **kwargs: function(params, (), *args, **kwargs), parameters


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Function, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A module as a function of its parameters and buffers, and these: `f(parameters, buffers, *args)`."""
    notes.note(f"make_functional_with_buffers {_LATER}")
    return _split(model, not disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[Function, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Modules of one kind as a function, with their parameters and buffers stacked along a new first axis."""
    notes.note(f"combine_state_for_ensemble {_LATER}")
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    function, _, _ = make_functional_with_buffers(models[0])
    parameters, buffers = stack_module_state(list(models))
    return function, tuple(parameters.values()), tuple(buffers.values())


class levels:
    """torch._C._functorch: what the tensors of transforms are asked about their levels."""

    is_legacy_batchedtensor = staticmethod(no)

    @staticmethod
    def is_batchedtensor(tensor: object) -> bool:
        """True for a tensor that stands for one sample of a batch, inside vmap."""
        return isinstance(tensor, BatchedTensor)

    @staticmethod
    def get_unwrapped(tensor: BatchedTensor) -> Value:
        """A tensor of a transform as the next level outside has it."""
        return tensor.interpreter.unbox(tensor)


def chunk_vmap(
    func: Callable[..., Any],
    in_dims: int | tuple[object, ...] = 0,
    out_dims: int | tuple[object, ...] = 0,
    randomness: str = "error",
    chunks: int = 2,
) -> Callable[..., Any]:
    """`vmap` in a number of chunks of the batch, one after the other; `vmap` itself has `chunk_size` instead.

    >>> import pullback
    >>> from pullback.compat.torch.functorch import chunk_vmap
    >>> chunk_vmap(lambda x: x * 2, chunks=2)(pullback.arange(3))
    tensor([0, 2, 4])
    """

    def mapped(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten(args)
        dims = spread(in_dims, structure) or []
        sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=False) if dim is not None]
        part = -(-sizes[0] // chunks) if sizes and chunks > 1 else None
        return vmap(func, in_dims, out_dims, randomness, chunk_size=part)(*args, **kwargs)

    return mapped
