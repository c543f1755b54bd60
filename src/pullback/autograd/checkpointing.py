"""Checkpoints: calls whose intermediate values are recomputed in the backward pass, to save memory.

A checkpointed call saves its arguments. Of the values that its operations save for backward, only the order is
remembered. The first value that a backward pass needs runs the call again, and values are identified by their position
in that order. So both runs must do the same: random numbers, modes and arguments are restored, and the shape and dtype
of each value are compared with those of the first run.

The reentrant form, torch's older one, records nothing in the first run; its node runs the call again and starts a
nested backward pass.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core import errors, xp as _xp
from .._core.modes import FieldBlock, innermost, is_grad_enabled, mode, no_grad, restoring, running
from .._core.package import package
from .._core.primitives import Carrier, Function, general
from .._core.sites import Site, caller, describe
from .._core.trees import Structure, flatten, unflatten
from .._numerics.random import Moment, sources
from .._tape import backward
from .._tape.memory import Cell, version
from .._tape.node import count, hooks_of
from .._tape.recording import keep
from .._tape.views import alias
from .graph import saved_tensors_hooks

if TYPE_CHECKING:
    from types import ModuleType

    from .._core.dtypes import dtype
    from .._core.typing import Array, Returned, Tensor
    from ..nn.modules.module import Module

Contexts = Callable[[], tuple[Any, Any]]


class CheckpointError(RuntimeError):
    """Raised when a checkpointed function behaves differently when it is run again."""

    __module__ = "pullback.utils.checkpoint"


# 1. The state needed to run a call again


class Kept:
    """A tensor saved as graphs save values: later writes do not change it, and hooks on saved values pack it."""

    __slots__ = ("shell", "cell")

    def __init__(self, tensor: Carrier) -> None:
        self.cell = keep(tensor, tensor.level)
        self.shell = tensor._shallow_copy()
        self.shell._array = None

    @property
    def tracked(self) -> bool:
        """True if the tensor has a history."""
        return self.shell._node is not None

    def tensor(self, *, tracked: bool = False) -> Tensor:
        """The saved tensor, with or without its history."""
        made = self.shell._shallow_copy()
        made._array = self.cell.array
        if not tracked:
            made._node = None
        if isinstance(self.cell, Cell):
            made._cell = self.cell
        return made


class RepeatableCall:
    """A call that can be repeated under the modes and with the random numbers of the first run."""

    def __init__(self, function: Function, args: Any, kwargs: Any, preserve_rng_state: bool) -> None:
        self.function = function
        leaves, self.structure = flatten((args, kwargs))
        self.leaves = [Kept(leaf) if isinstance(leaf, Carrier) else leaf for leaf in leaves]
        self.context = contextvars.copy_context()
        self.moment = Moment(sources(leaves) if preserve_rng_state else ())

    def first(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result in the first run."""
        result = self.function(*args, **kwargs)
        self.moment.limit(self.moment.moved())
        return result

    def arguments(self, *, tracked: bool) -> list[Any]:
        """The leaves of the arguments; tensors keep their history, or are detached and require grad as before."""
        made = []
        for leaf in self.leaves:
            tensor = leaf.tensor(tracked=tracked) if isinstance(leaf, Kept) else leaf
            made.append(tensor.requires_grad_() if isinstance(leaf, Kept) and leaf.tracked and not tracked else tensor)
        return made

    def again(self, leaves: Sequence[Any], around: contextlib.AbstractContextManager[object]) -> Any:
        """The function's result in a further run, inside another context."""
        args, kwargs = unflatten(self.structure, leaves)
        with self.moment.again():
            return self.context.copy().run(_within, around, self.function, args, kwargs)


def _within(around: contextlib.AbstractContextManager[object], function: Function, args: Any, kwargs: Any) -> Any:
    with around:
        return function(*args, **kwargs)


# 2. The non-reentrant form


class Saved(NamedTuple):
    """The description of a value that an operation saved for backward, to be compared between the runs."""

    shape: tuple[int, ...]
    dtype: dtype
    site: Site
    tensor: weakref.ref[Tensor]
    version: int

    @classmethod
    def of(cls, tensor: Tensor) -> Saved:
        """The description of a tensor."""
        return cls(tuple(tensor.shape), tensor.dtype, caller(3), weakref.ref(tensor), version(tensor))

    @property
    def metadata(self) -> str:
        """Shape, dtype and device in torch's notation."""
        return f"{{'shape': {errors.size(self.shape)}, 'dtype': {self.dtype}, 'device': device(type='cpu')}}"


class Place:
    """A placeholder that a graph holds for a value: its position among the values that the call saves."""

    __slots__ = ("block", "number", "__weakref__")

    def __init__(self, block: Block, number: int) -> None:
        self.block = block
        self.number = number

    def tensor(self) -> Tensor:
        """The value that belongs to this placeholder."""
        return self.block.value(self).tensor()


def _unpack(held: Place | Kept) -> Tensor:
    return held.tensor()


Recomputed = weakref.WeakKeyDictionary[Place, Kept]


class Block:
    """A checkpointed call: the placeholders for the values it saves, and the means to recompute them."""

    def __init__(
        self,
        call: RepeatableCall,
        around: contextlib.AbstractContextManager[object],
        *,
        early_stop: bool,
        compare: bool,
        debug: bool,
    ) -> None:
        self.call = call
        self.around = around
        self.early_stop = early_stop
        self.compare = compare
        self.debug = debug
        self.places: list[weakref.ref[Place]] = []
        self.saved: list[Saved] = []
        self.level = 0 if (transform := innermost.get()) is None else transform.level
        self.first = next(count)
        self.last: float = float("inf")  # infinite during the first run

    def pack(self, tensor: Tensor) -> Place | Kept:
        """A placeholder for a value saved in the first run; values saved by transforms inside the call are kept."""
        if tensor.level != self.level:
            return Kept(tensor)
        place = Place(self, len(self.places))
        self.places.append(weakref.ref(place))
        self.saved.append(Saved.of(tensor))
        return place

    def value(self, place: Place) -> Kept:
        """The value for a placeholder, from the recomputation made for this pass.

        A pass visits all nodes of one call before those of an earlier one. So only the values of the latest call, and
        of the calls that enclose it, are held. They are freed when the graph drops their placeholders, or when the pass
        ends.
        """
        walker = running.get(None)
        if walker is None:
            return self.rerun()[place]
        if walker.recomputed is None:
            walker.recomputed = weakref.WeakKeyDictionary()
        blocks: weakref.WeakKeyDictionary[Block, Recomputed] = walker.recomputed
        found = blocks.get(self)
        if found is None or place not in found:
            for block in list(blocks):
                if block.first > self.last:
                    del blocks[block]
            found = blocks[self] = self.rerun()
        return found[place]

    def rerun(self) -> Recomputed:
        """Run the call again, as far as values are still needed."""
        live = [number for number, place in enumerate(self.places) if place() is not None]
        second = SecondRun(self, live[-1])
        with contextlib.suppress(Enough):
            self.call.again(self.call.arguments(tracked=True), second)
        second.check(live)
        return second.found

    def error(self, text: str, second: Sequence[Saved]) -> CheckpointError:
        """The error for a second run that differs, with the lists of values that both runs saved if debug is set."""
        if not self.debug:
            return CheckpointError(
                f"torch.utils.checkpoint: {text}\n\nTip: To see a more detailed error message, either pass `debug=True` "
                f"to `{package}.utils.checkpoint.checkpoint(...)` or wrap the code block with `with "
                f"{package}.utils.checkpoint.set_checkpoint_debug_enabled(True):`. A function must do the same when it is "
                "run again: it must not depend on anything that has changed since."
            )
        runs = [
            "\n".join(f"  {number}: {saved.metadata}, at {describe(saved.site)}" for number, saved in enumerate(run))
            for run in (self.saved, second)
        ]
        return CheckpointError(
            f"torch.utils.checkpoint: {text}\n\nTensors saved during the original forward:\n{runs[0]}\n"
            f"Tensors saved during recomputation:\n{runs[1]}"
        )


class Enough(BaseException):
    """Ends a second run when all needed values are computed; `except Exception` does not catch it."""


class SecondRun:
    """A context in which a call is run again, and its values are assigned to their placeholders."""

    def __init__(self, block: Block, last: int) -> None:
        self.block = block
        self.stop = last if block.early_stop or block.last == float("inf") else -1
        self.saved: list[Saved] = []
        self.found: Recomputed = weakref.WeakKeyDictionary()
        self.hooks = contextlib.ExitStack()

    def __enter__(self) -> None:
        self.hooks.enter_context(saved_tensors_hooks(self.pack, _unpack))
        self.hooks.enter_context(self.block.around)

    def __exit__(self, *exc: object) -> bool | None:
        return self.hooks.__exit__(*exc)  # type: ignore[arg-type]

    def pack(self, tensor: Tensor) -> Kept:
        """Save a value, for its placeholder and for passes inside the call itself."""
        kept = Kept(tensor)
        if tensor.level != self.block.level:
            return kept
        number = len(self.saved)
        saved = Saved.of(tensor)
        self.saved.append(saved)
        if number >= len(self.block.places):
            raise self.block.error(
                "trying to save more tensors during recomputation than during the original forward pass.\n"
                f"The first one too many is saved at {describe(saved.site)}",
                self.saved,
            )
        before = self.block.saved[number]
        if before.tensor() is tensor and saved.version != before.version:
            raise errors.modified(
                tensor,
                before.version,
                saved.version,
                f"A checkpointed function uses it at {describe(before.site)}, and would compute something else now. Pass it "
                "to the function as an argument (arguments are kept as they were), or write to it after backward",
            )
        if (place := self.block.places[number]()) is not None:
            self.found[place] = kept
        if number == self.stop:
            raise Enough
        return kept

    def check(self, live: Sequence[int]) -> None:
        """Refuse a run that differs from the first."""
        block, seen = self.block, len(self.saved)
        if seen <= live[-1] or (self.stop < 0 and seen != len(block.places)):
            raise block.error(
                "A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(block.places)}\n"
                f"Number of tensors saved during recomputation: {seen}.\n"
                f"The first one missing was saved at {describe(block.saved[seen].site)}",
                self.saved,
            )
        differing = [
            f"tensor at position {number}:\nsaved metadata: {first.metadata}, at {describe(first.site)}\n"
            f"recomputed metadata: {second.metadata}, at {describe(second.site)}"
            for number, (first, second) in enumerate(zip(block.saved, self.saved, strict=False))
            if first[:2] != second[:2]
        ]
        if differing and block.compare:
            raise block.error(
                "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                + "\n".join(differing),
                self.saved,
            )


# 3. The reentrant form


class Reentrant:
    """A call that was run without recording, as its node stores it."""

    def __init__(self, call: RepeatableCall, structure: Structure, tracked: Sequence[int]) -> None:
        self.call = call
        self.structure = structure
        self.tracked = tracked  # the leaves of the outputs that have a gradient

    def pull(self, cotangents: Sequence[Array]) -> list[Tensor | None]:
        """Run the call again and run a nested backward pass; the gradients of its arguments."""
        leaves = self.call.arguments(tracked=False)
        recorded = FieldBlock(grad=True, pack=None, unpack=None)
        outputs, structure = flatten(self.call.again(leaves, recorded))
        if structure != self.structure:
            raise CheckpointError(
                f"torch.utils.checkpoint: the function returned {self.structure} in the original forward, and {structure} "
                "when it was run again: a leaf is shown as *"
            )
        roots, given = [], []
        for number, g in zip(self.tracked, cotangents, strict=True):
            if isinstance(outputs[number], Carrier) and outputs[number].requires_grad:
                roots.append(outputs[number])
                given.append(roots[-1].interpreter.wrap(g, None))
        if not roots:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary: nothing that the function "
                f"{_name(self.call.function)} returns depends on a tensor that requires grad"
            )
        backward.backward(roots, given)
        return [leaf.grad for leaf in leaves if isinstance(leaf, Carrier)]


def _pull_reentrant(
    xp: ModuleType, g: Sequence[Array], call: Reentrant, *, needs: Sequence[bool]
) -> list[Array | None]:
    walker = running.get(None)
    if walker is not None and walker.targeted:
        raise RuntimeError(
            "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
            "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
            "passing the `inputs` argument."
        )
    if xp is not _xp:
        raise RuntimeError(
            "a checkpoint with use_reentrant=True has no second derivative: the pass that it starts is not recorded. Pass "
            "use_reentrant=False to use create_graph=True"
        )
    gradients = call.pull(g)
    return [None, *(g if g is None else g._array for g in gradients)]


_REENTRANT = general(
    "checkpoint",
    forward=lambda call, *inputs: call,
    inputs=("call", "*inputs"),
    joint=_pull_reentrant,
    halves="as written",
    title="CheckpointFunctionBackward",
    complex="as written",
)


@restoring
def _reentrant(function: Function, args: Any, preserve_rng_state: bool) -> Any:
    call = RepeatableCall(function, args, {}, preserve_rng_state)
    inputs = [leaf for leaf in flatten(args)[0] if isinstance(leaf, Carrier)]
    for tensor in inputs:
        if tensor.level:
            raise RuntimeError(
                "a checkpoint with use_reentrant=True does not work inside a transform such as func.grad: pass "
                "use_reentrant=False"
            )
    check_backward_validity(inputs)
    with no_grad():
        outputs, structure = flatten(call.first(*args))
    if not is_grad_enabled() or not any(tensor.requires_grad for tensor in inputs):
        return unflatten(structure, outputs)
    tracked = [i for i, each in enumerate(outputs) if isinstance(each, Carrier) and each._dtype.kind in "fc"]
    if tracked:
        edges = (None, *(tensor._node for tensor in inputs))
        arrays = tuple(outputs[i]._array for i in tracked)
        kept = Reentrant(call, structure, tracked)
        tape = inputs[0].interpreter
        conjugated = outputs[tracked[0]]._dtype.kind == "c"
        results = tape.record(_REENTRANT, (kept, *inputs), edges, arrays, {}, conjugated=conjugated)
        hooks_of(results[0].grad_fn)  # this node runs the user's code
        for i, result in zip(tracked, results, strict=True):
            outputs[i] = alias(outputs[i], result)
    return unflatten(structure, outputs)


def _name(function: Function) -> str:
    return getattr(function, "__name__", repr(function))


# 4. The public functions


def noop_context_fn() -> tuple[contextlib.AbstractContextManager[None], contextlib.AbstractContextManager[None]]:
    """Two contexts that do nothing: the default of `context_fn`.

    >>> from pullback.utils.checkpoint import noop_context_fn
    >>> with noop_context_fn()[0]:
    ...     pass
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Returned],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Returned:
    """The result of `function(*args, **kwargs)`, without saving its intermediate values for backward.

    Backward runs the function again, so memory is needed only for the arguments and one call's intermediate values at a
    time. The second run gets the original arguments, the modes of the first run, and, unless
    `preserve_rng_state=False`, its random numbers: pullback's, NumPy's, and those of generators among the arguments.

    Parameters
    ----------
    use_reentrant
        False is recommended. True, the default with a warning, is torch's older form, a nested backward pass: only for
        positional arguments and `backward()` without `inputs`, and without second derivatives.
    context_fn
        A function that returns two contexts: one for the first run, one for each further run.
    determinism_check
        "default" compares shapes and dtypes of the values that the two runs save, "none" only their number.
    debug
        If true, the error for runs that differ lists all values that they have saved.
    early_stop
        End the second run as soon as all needed values have been computed.

    Raises
    ------
    RuntimeError
        In backward: a CheckpointError that names the lines, if the second run saves other values than the first; or if
        the function uses a tensor that is not one of its arguments and has been written to since.
    ValueError
        If an option is invalid, or two options are incompatible.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> pullback.utils.checkpoint.checkpoint(lambda t: (t * t).exp().sum(), x, use_reentrant=False).backward()
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        _warn("", "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.")
    if use_reentrant is None or use_reentrant:
        _check_reentrant(kwargs, context_fn, debug)
        return _reentrant(function, args, preserve)
    options = _options(context_fn, determinism_check, debug, early_stop)
    return _blocked(RepeatableCall(function, args, kwargs, preserve), args, kwargs, context_fn(), options)


def _blocked(
    call: RepeatableCall,
    args: Any,
    kwargs: Any,
    contexts: tuple[contextlib.AbstractContextManager[object], contextlib.AbstractContextManager[object]],
    options: dict[str, bool],
) -> Any:
    """The result of a call made as a checkpointed block."""
    first, second = contexts
    block = Block(call, second, **options)
    with saved_tensors_hooks(block.pack, _unpack), first:
        result = call.first(*args, **kwargs)
    block.last = next(count)
    return result


def _check_reentrant(kwargs: dict[str, Any], context_fn: Contexts, debug: bool) -> None:
    if kwargs:
        raise ValueError(
            f"Unexpected keyword arguments: {','.join(kwargs)}. With use_reentrant=True the function gets positional "
            "arguments only"
        )
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")


CHECKS = ["default", "none"]


def _options(context_fn: Contexts, determinism_check: str, debug: bool, early_stop: bool) -> dict[str, bool]:
    """The options of a block, overridden by the settings in force."""
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {CHECKS}, but got {determinism_check}")
    forced = mode.get()
    debug = debug if forced.debugging is None else forced.debugging
    early_stop = early_stop if forced.early_stop is None else forced.early_stop
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    return {"early_stop": early_stop, "compare": determinism_check == "default", "debug": debug}


def _warn(name: str, announcement: str) -> None:
    warnings.warn(
        f"torch.utils.checkpoint{name}: the use_reentrant parameter should be passed explicitly. {announcement} "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
        "use_reentrant=True. Refer to docs for more details on the differences between the two variants.",
        stacklevel=3,
    )


def checkpoint_sequential(
    functions: Iterable[Function] | Module, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """The result of a chain of functions for an input, with all of its segments checkpointed except the last.

    `functions` is a list, or has `children()`, as `nn.Sequential` does. `preserve_rng_state` is as for `checkpoint`.

    Raises
    ------
    ValueError
        If there are fewer functions than segments, or other keyword arguments.

    >>> import pullback
    >>> from pullback.utils.checkpoint import checkpoint_sequential
    >>> x = pullback.tensor([0.0, 1.0], requires_grad=True)
    >>> layers = [pullback.exp, pullback.sin, pullback.sum]
    >>> checkpoint_sequential(layers, 3, x, use_reentrant=False).backward()
    >>> x.grad
    tensor([ 0.5403, -2.4784])
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    if use_reentrant is None:
        _warn(".checkpoint_sequential", "In version 2.9 we will raise an exception if use_reentrant is not passed.")
        use_reentrant = True
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    if not 1 <= segments <= len(chain):
        raise ValueError(f"checkpoint_sequential(): {len(chain)} functions cannot be cut into {segments} segments")
    length = len(chain) // segments
    last = length * (segments - 1)
    for start in range(0, last, length):
        part = functools.partial(_in_a_row, chain[start : start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _in_a_row(chain[last:], input)


def _in_a_row(functions: Iterable[Function], value: Any) -> Any:
    for function in functions:
        value = function(value)
    return value


def set_checkpoint_early_stop(enable: bool) -> FieldBlock:
    """A block that overrides `early_stop` for all its checkpoints: all end their second run early, or none does.

    >>> from pullback.utils.checkpoint import set_checkpoint_early_stop
    >>> with set_checkpoint_early_stop(False):
    ...     pass
    """
    return FieldBlock(early_stop=enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> FieldBlock:
    """A block that overrides `debug` for all its checkpoints; None leaves it unchanged.

    >>> from pullback.utils.checkpoint import set_checkpoint_debug_enabled
    >>> with set_checkpoint_debug_enabled(True):
    ...     pass
    """
    return FieldBlock(debugging=enabled)


def check_backward_validity(inputs: Iterable[object]) -> None:
    """Warn if no input requires grad: a reentrant checkpoint of such inputs has no gradient.

    >>> import pullback
    >>> from pullback.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([pullback.ones(2, requires_grad=True)])
    """
    if not any(isinstance(value, Carrier) and value.requires_grad for value in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: tuple[object, ...]) -> tuple[object, ...]:
    """A tuple's tensors detached, with their requires_grad unchanged; other values unchanged.

    Raises
    ------
    RuntimeError
        If `inputs` is not a tuple.

    >>> import pullback
    >>> from pullback.utils.checkpoint import detach_variable
    >>> detach_variable((pullback.ones(2, requires_grad=True) * 2, 3))
    (tensor([2., 2.], requires_grad=True), 3)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Carrier) else value for value in inputs
    )
