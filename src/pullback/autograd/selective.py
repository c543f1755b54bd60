"""Selective checkpoints: checkpointed calls that save the results of some operations instead of recomputing them.

The two blocks that `create_selective_checkpoint_contexts` returns replace the tape's computation of an operation. The
first calls a policy for each result and saves some; in the second, a saved result is recorded as if it had just been
computed. Results are identified by their operation, and by their number among its results.
"""

from __future__ import annotations

import collections
import enum
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import FieldBlock, ModeBlock, innermost
from .._core.package import package
from .._core.primitives import Primitive
from .._tape.memory import cell_of
from .._tape.recording import TapeOperation
from .checkpointing import CheckpointError

if TYPE_CHECKING:
    from .._core.typing import Tensor

Policy = Callable[..., Any]


class CheckpointPolicy(enum.Enum):
    """What to do with an operation's result: save it, or recompute it.

    MUST and PREFER differ only for compilers. Offloading means saving, since everything is on the CPU.

    >>> from pullback.utils.checkpoint import CheckpointPolicy
    >>> CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


RECOMPUTED = {CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE}


class SelectiveCheckpointContext:
    """The policy's first argument: `op_output` is the operation's result; `is_recompute` is always False."""

    def __init__(self, *, is_recompute: bool, op_output: Tensor | tuple[Tensor, ...] | None = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class Selection:
    """The results that a policy has chosen to save."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        transform = innermost.get()
        self.level = 0 if transform is None else transform.level
        self.kept: dict[Primitive, list[Any]] = collections.defaultdict(list)

    def first(self, operation: TapeOperation) -> Any:
        """Compute an operation, and save its result if the policy says so."""
        result, primitive = operation.beneath(), operation.primitive
        out = operation.finished(result)
        if operation.tape.level == self.level:
            with FieldBlock(grad=False, pack=None, unpack=None, compute=None):
                told = SelectiveCheckpointContext(is_recompute=False, op_output=out)
                answer = self.policy(told, primitive, *operation.args, **operation.params)
                keeps = _keeps(answer) and not _shares(result, operation.values)
            self.kept[primitive].append(_each(lambda piece: piece._cell or cell_of(piece), out) if keeps else None)
        return out


def _each(function: Callable[[Any], Any], result: Any) -> Any:
    return tuple(map(function, result)) if type(result) is tuple else function(result)


def _shares(result: Any, values: Sequence[object]) -> bool:
    """True if a result shares memory with an argument: it must then be recomputed, so that it shares memory again."""
    pieces = result if type(result) is tuple else (result,)
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return any(np.may_share_memory(piece, array) for piece in pieces for array in arrays)


class Again(ModeBlock):
    """A block in which the saved results of a selection are not computed again."""

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self.selection = selection

    def _fields(self) -> dict[str, Any]:
        seen: dict[Primitive, int] = collections.defaultdict(int)

        def compute(operation: TapeOperation) -> Any:
            kept, primitive = None, operation.primitive
            if operation.tape.level == self.selection.level:
                kept = self.taken(primitive, seen[primitive])
                seen[primitive] += 1
            if kept is None:
                return operation.finished(operation.beneath())
            out = operation.finished(_each(_array, kept))
            cells = kept if type(kept) is tuple else (kept,)
            for piece, cell in zip(out if isinstance(out, tuple) else (out,), cells, strict=True):
                piece._cell = cell  # so later writes do not change the saved value
            return out

        return {"compute": compute}

    def taken(self, primitive: Primitive, number: int) -> Any:
        """The saved result of an operation; None if it is to be computed."""
        kept = self.selection.kept[primitive]
        if number >= len(kept):
            raise CheckpointError(
                f"torch.utils.checkpoint: {primitive.short_name} was called {len(kept)} times in the original forward, and is "
                "called more often in the recomputation. This can happen if the function depends on anything that has "
                "changed since"
            )
        return kept[number]


_array = operator.attrgetter("array")


def _keeps(answer: object) -> bool:
    if isinstance(answer, bool):
        return answer
    if not isinstance(answer, CheckpointPolicy):
        raise TypeError(f"a policy function returns a CheckpointPolicy, not {type(answer).__name__}: {answer!r}")
    return answer not in RECOMPUTED


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Primitive], allow_cache_entry_mutation: bool = False
) -> tuple[ModeBlock, ModeBlock]:
    """Two blocks for the `context_fn` of `checkpoint`, which save the results of some operations.

    `policy_fn(ctx, op, *args, **params)` is called for each operation, a primitive of `pullback.ops`, and returns a
    `CheckpointPolicy`; alternatively a list names the operations whose results are saved. Saved results are protected
    from later writes, so `allow_cache_entry_mutation` has no effect.

    Raises
    ------
    TypeError
        If the argument is neither a function nor a list.
    ValueError
        If the list holds anything but primitives.

    >>> import functools, pullback
    >>> from pullback.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [pullback.ops.matmul])
    >>> x = pullback.eye(2).requires_grad_()
    >>> checkpoint(lambda t: (t @ t).exp().sum(), x, use_reentrant=False, context_fn=keep).backward()
    >>> x.grad
    tensor([[5.4366, 2.0000],
            [2.0000, 5.4366]])
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, Primitive):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. Name a primitive, "
                    f"such as {package}.ops.matmul"
                )

        def listed(_: object, op: Primitive, *args: object, **params: object) -> bool:
            return op in policy_fn_or_list

        selection = Selection(listed)
    elif callable(policy_fn_or_list):
        selection = Selection(policy_fn_or_list)
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return FieldBlock(compute=selection.first), Again(selection)
