"""Hooks of modules: handles to remove them, global hooks, and how backward hooks observe gradients.

For backward hooks, the inputs and the outputs of a module each pass through a node that gets all their gradients at
once: the output node saves them, and the input node passes both to the hooks.
"""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import ops
from ..._core.modes import mode
from ..._core.primitives import Carrier, general
from ..._core.sites import warn
from ..._tape.node import RemovableHandle, hooks_of
from ..._tape.refusals import MarkedView
from ..._tape.views import track
from ..._tensor.creation import zeros
from .members import REGISTRATION

if TYPE_CHECKING:
    from ..._core.dtypes import dtype
    from ..._core.shapes import Size
    from ..._core.typing import Tensor

Hook = Callable[..., Any]

_count = itertools.count()


class Handle(RemovableHandle):
    """The result of registering a hook on a module: `remove()` removes the hook, as does leaving a `with` block."""

    def __init__(self, hooks: dict[int, Any], hook: Any, *notes: dict[int, bool], prepend: bool = False) -> None:
        self.id = next(_count)
        self._places = (hooks, *notes)
        hooks[self.id] = hook
        for note in notes:
            note[self.id] = True
        if prepend and isinstance(hooks, OrderedDict):
            hooks.move_to_end(self.id, last=False)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for place in self._places:
            place.pop(self.id, None)


class Everywhere:
    """The global hooks, which run on every module, under the same names as a module's own."""

    used = False
    """True once a hook has been registered; until then calls skip all checks."""

    def __init__(self) -> None:
        for name in ("", "_with_kwargs", "_always_called"):
            setattr(self, f"_forward_hooks{name}", OrderedDict())
            setattr(self, f"_forward_pre_hooks{name}", OrderedDict())
        self._backward_hooks: dict[int, Hook] = OrderedDict()
        self._backward_pre_hooks: dict[int, Hook] = OrderedDict()

    def add(self, kind: str, hook: Hook, *notes: str) -> Handle:
        """Register a hook of a kind on every module."""
        self.used = True
        return Handle(getattr(self, kind), hook, *(getattr(self, kind + note) for note in notes))


EVERYWHERE = Everywhere()


def register_module_forward_pre_hook(hook: Hook) -> Handle:
    """Call `hook(module, args)` before every module's forward, for debugging; see `Module.register_forward_pre_hook`."""
    return EVERYWHERE.add("_forward_pre_hooks", hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False, always_call: bool = False) -> Handle:
    """Call `hook(module, args, output)` after every module's forward; see `Module.register_forward_hook`."""
    notes = {"_with_kwargs": with_kwargs, "_always_called": always_call}
    return EVERYWHERE.add("_forward_hooks", hook, *(note for note, wanted in notes.items() if wanted))


def register_module_full_backward_pre_hook(hook: Hook) -> Handle:
    """Call `hook(module, grad_output)` before every module's backward; see `Module.register_full_backward_pre_hook`."""
    return EVERYWHERE.add("_backward_pre_hooks", hook)


def register_module_full_backward_hook(hook: Hook) -> Handle:
    """Call `hook(module, grad_input, grad_output)` after every module's backward.

    See `Module.register_full_backward_hook`.
    """
    return EVERYWHERE.add("_backward_hooks", hook)


def register_module_parameter_registration_hook(hook: Hook) -> Handle:
    """Call `hook(module, name, param)` when any module registers a parameter; its result replaces the parameter."""
    return Handle(REGISTRATION["_parameters"], hook)


def register_module_buffer_registration_hook(hook: Hook) -> Handle:
    """Call `hook(module, name, buffer)` when any module registers a buffer; its result replaces the buffer."""
    return Handle(REGISTRATION["_buffers"], hook)


def register_module_module_registration_hook(hook: Hook) -> Handle:
    """Call `hook(module, name, submodule)` when any module registers a submodule; its result replaces it.

    >>> from pullback import nn
    >>> from pullback.nn.modules.module import register_module_module_registration_hook
    >>> with register_module_module_registration_hook(lambda module, name, submodule: print(name, submodule)):
    ...     _ = nn.Sequential(nn.Tanh(), nn.ReLU())
    0 Tanh()
    1 ReLU()
    """
    return Handle(REGISTRATION["_modules"], hook)


# Gradients at the ends of a module
#
# The node's tensors are views of those passed in; as in torch they cannot be written to, since that would bypass the node.

_pass_through = general(
    "pass_through",
    forward=lambda *values: tuple(value.reshape(value.shape) for value in values),
    inputs=("*values",),
    joint=lambda xp, g: g,
    title="BackwardHookFunctionBackward",
    complex="as written",
)


class _End:
    """The inputs or outputs of a module in one call: which are tensors, and the node of those that require grad."""

    def __init__(self, module: object, which: str) -> None:
        self.refusal = (
            f"Output {{}} of BackwardHookFunction is a view and is being modified inplace. It is {which} of a "
            f"{type(module).__name__}, which has a full backward hook: the hook would be given the gradient of what is written "
            "over it. Write y = f(x) in place of the operation that writes, and inplace=False for a module that does"
        )
        self.count = 0
        self.places: list[int] = []
        self.untracked: dict[int, tuple[Size, dtype]] = {}
        self.arrived: set[int] = set()

    def passed(self, values: tuple[Any, ...], hook: Hook) -> tuple[Any, ...]:
        """The values after passing through the node, with a hook on the node's gradients."""
        self.count = len(values)
        tensors = {place: value for place, value in enumerate(values) if isinstance(value, Carrier)}
        places = [place for place, tensor in tensors.items() if tensor._node is not None]
        if not mode.get().grad or not places:
            return values
        self.places = places
        self.untracked = {place: (t.shape, t.dtype) for place, t in tensors.items() if t._node is None}
        views = dict(zip(places, _pass_through(*(values[place] for place in places)), strict=True))
        for number, (place, view) in enumerate(views.items()):
            track(values[place], view, (ops.reshape, {"shape": tuple(view.shape)}))
            view._made_untracked = MarkedView(self.refusal.format(number))
            hooks_of(view._node).add("tensor", functools.partial(self._arrive, place))
        views[places[0]].grad_fn.register_hook(hook)
        return tuple(views.get(place, value) for place, value in enumerate(values))

    def _arrive(self, place: int, _: object) -> None:
        self.arrived.add(place)

    def full(self, gradients: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """One gradient for each value, None for values that are not tensors, zeros where none can arrive, as in torch."""
        found = dict(zip(self.places, gradients, strict=True))
        found |= {place: zeros(shape, dtype=dtype) for place, (shape, dtype) in self.untracked.items()}
        return tuple(found.get(place) for place in range(self.count))

    def arriving(self, gradients: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """One gradient for each value, None where none has arrived."""
        found = {place: g for place, g in zip(self.places, gradients, strict=True) if place in self.arrived}
        self.arrived.clear()
        return tuple(found.get(place) for place in range(self.count))

    def short(self, gradients: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """The gradients that the node passes on."""
        return tuple(gradients[place] for place in self.places)


class BackwardHooks:
    """The full backward hooks of a module in one call of it."""

    def __init__(self, module: object, hooks: Sequence[Hook], pre_hooks: Sequence[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.front, self.back = _End(module, "an input"), _End(module, "an output")
        self.grad_outputs: tuple[Tensor | None, ...] | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the module, passed through the input node."""
        return self.front.passed(args, self._after)

    def leave(self, result: Any) -> Any:
        """The result of the module, passed through the output node."""
        if isinstance(result, tuple):
            passed = self.back.passed(result, self._before)
            return type(result)._make(passed) if hasattr(result, "_make") else passed  # a namedtuple keeps its names
        if not isinstance(result, Carrier):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}"
            )
            return result
        return self.back.passed((result,), self._before)[0]

    def _before(self, _: object, given: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """The hook that runs when the gradients of the outputs are known."""
        gradients = self.back.arriving(given)
        for hook in self.pre_hooks:
            answer = hook(self.module, gradients)
            if answer is not None:
                answer = answer if isinstance(answer, tuple) else (answer,)
                self._check("Backward pre hook", "grad_output", answer, gradients)
                gradients = answer
        if self.front.places:
            self.grad_outputs = gradients
            return self.back.short(gradients)
        if self.hooks:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                f"inputs require gradients: the hook of {type(self.module).__name__} is given None for each."
            )
        for hook in self.hooks:
            answer = hook(self.module, (None,) * self.front.count, gradients)
            if answer is not None and not (isinstance(answer, tuple) and all(each is None for each in answer)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        return self.back.short(gradients)

    def _after(self, given: Sequence[Tensor | None], _: object) -> Any:
        """The hook that runs when the gradients of the inputs are known."""
        if self.grad_outputs is None:
            return None  # they did not come through the outputs
        gradients = self.front.full(given)
        for hook in self.hooks:
            answer = hook(self.module, gradients, self.grad_outputs)
            if answer is not None:
                answer = answer if isinstance(answer, tuple) else (answer,)
                self._check("Backward hook", "grad_input", answer, gradients)
                gradients = answer
        self.grad_outputs = None
        return self.front.short(gradients)

    @staticmethod
    def _check(what: str, name: str, answer: Sequence[Tensor | None], given: Sequence[Tensor | None]) -> None:
        if len(answer) != len(given):
            raise RuntimeError(
                f"{what} returned an invalid number of {name}, got {len(answer)}, but expected {len(given)}"
            )
