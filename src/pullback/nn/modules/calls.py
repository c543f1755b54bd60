"""Calling a module: forward, with hooks before and after it, and errors that name the module.

For a module without hooks the overhead is one condition.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from sys import _getframe
from typing import TYPE_CHECKING, Any, NoReturn

from ..._core.primitives import Carrier
from ..._core.sites import warn
from ..._core.values import require_hook
from .hooks import EVERYWHERE, BackwardHooks, Handle, Hook
from .members import Members

if TYPE_CHECKING:
    from types import FrameType
    from typing import ParamSpec, Protocol, TypeVar

    from .module import Module

    Given = ParamSpec("Given")
    Result_co = TypeVar("Result_co", covariant=True)

    class Forward(Protocol[Given, Result_co]):
        """What has a `forward`: a module."""

        @property
        def forward(self) -> Callable[Given, Result_co]: ...


MIXED = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
)


def forward(self: Members, *input: object) -> NoReturn:
    """The computation of the module: to be defined by every subclass.

    Raises
    ------
    NotImplementedError
        If the subclass does not define it.
    """
    fix = ": it holds modules, which are called one by one: for layer in layers: x = layer(x)" if self._modules else ""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function{fix}')


class Calls(Members):
    """The part of a module that makes it callable."""

    _forward_hooks: dict[int, Hook]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Hook]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _backward_hooks: dict[int, Hook]
    _backward_pre_hooks: dict[int, Hook]
    _is_full_backward_hook: bool | None

    forward: Callable[..., Any] = forward  # subclasses may have any arguments

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """The result of `forward`, with the hooks before and after it."""
        try:
            if (
                self._forward_hooks
                or self._forward_pre_hooks
                or self._backward_hooks
                or self._backward_pre_hooks
                or EVERYWHERE.used
            ):
                return self._call_hooked(args, kwargs)
            return self.forward(*args, **kwargs)
        except Exception as error:
            _name_module(self, args, error)
            raise

    if TYPE_CHECKING:  # a call takes and gives what `forward` does, also that of a subclass

        def __call__(self: Forward[Given, Result_co], /, *args: Given.args, **kwargs: Given.kwargs) -> Result_co: ...

    else:
        __call__ = _called

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = _Call(self, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.run_always_called()
            raise

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False) -> Handle:
        """Call `hook(module, args)` before forward; what it returns takes the place of the arguments.

        With `with_kwargs`, `hook(module, args, kwargs)`, which returns None or both. With `prepend`, before the hooks
        that are there.
        """
        require_hook("register_forward_pre_hook", hook, "module, args, kwargs" if with_kwargs else "module, args")
        notes = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return Handle(self._forward_pre_hooks, hook, *notes, prepend=prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Handle:
        """Call `hook(module, args, output)` after forward; what it returns takes the place of the output.

        With `with_kwargs`, `hook(module, args, kwargs, output)`. With `prepend`, before the hooks that are there. With
        `always_call`, even when an exception is on its way.

        >>> import pullback
        >>> from pullback import nn
        >>> layer = nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, output: print(module, tuple(output.shape)))
        >>> y = layer(pullback.ones(2, 3))
        ReLU() (2, 3)
        >>> handle.remove()
        """
        taken = "module, args, kwargs, output" if with_kwargs else "module, args, output"
        require_hook("register_forward_hook", hook, taken)
        notes = [self._forward_hooks_with_kwargs] if with_kwargs else []
        notes += [self._forward_hooks_always_called] if always_call else []
        return Handle(self._forward_hooks, hook, *notes, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(module, grad_output)` before gradients pass through the module; a returned tuple replaces them."""
        require_hook("register_full_backward_pre_hook", hook, "module, grad_output")
        return Handle(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known.

        Both are tuples with one entry for each positional argument and each output, None where there is no gradient. A
        tuple that the hook returns takes the place of `grad_input`.

        Raises
        ------
        RuntimeError
            If the module has hooks of the old kind, `register_backward_hook`.
        """
        require_hook("register_full_backward_hook", hook, "module, grad_input, grad_output")
        self._set_full(True)
        return Handle(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> Handle:
        """torch's old way: the hook sees the gradients of the last operation in the module, not of its inputs.

        Raises
        ------
        RuntimeError
            If the module has full backward hooks.
        """
        require_hook("register_backward_hook", hook, "module, grad_input, grad_output")
        self._set_full(False)
        return Handle(self._backward_hooks, hook)

    def _set_full(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(MIXED)
        self._is_full_backward_hook = full


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.ran: set[int] = set()

    def _hooks(self, kind: str) -> Iterator[tuple[int, Hook, Any]]:
        """The hooks of a kind, global ones first, each with the object on which it is registered."""
        for owner in (EVERYWHERE, self.module):
            for number, hook in list(getattr(owner, kind).items()):
                yield number, hook, owner

    def run(self) -> Any:
        """Run forward, and every hook."""
        module = self.module
        for number, hook, owner in self._hooks("_forward_pre_hooks"):
            self._prepare(hook, number in owner._forward_pre_hooks_with_kwargs)
        full = [
            hook
            for _, hook, owner in self._hooks("_backward_hooks")
            if owner is EVERYWHERE or module._is_full_backward_hook
        ]
        before = [hook for _, hook, _ in self._hooks("_backward_pre_hooks")]
        ends = BackwardHooks(module, full, before) if full or before else None
        args = self.args = self.args if ends is None else ends.enter(self.args)
        self.result = module.forward(*args, **self.kwargs)
        for number, hook, owner in self._hooks("_forward_hooks"):
            self._finish(number, hook, owner)
        if ends is not None:
            self.result = ends.leave(self.result)
        if module._is_full_backward_hook is False:
            self._hook_last_operation()
        return self.result

    def _prepare(self, hook: Hook, with_kwargs: bool) -> None:
        """Run a hook on the arguments."""
        if not with_kwargs:
            answer = hook(self.module, self.args)
            if answer is not None:
                self.args = answer if isinstance(answer, tuple) else (answer,)
            return
        answer = hook(self.module, self.args, self.kwargs)
        if answer is None:
            return
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {answer}."
            )
        self.args, self.kwargs = answer

    def _finish(self, number: int, hook: Hook, owner: Any) -> None:
        """Run a hook on the result."""
        self.ran.add(number)
        given = (self.args, self.kwargs) if number in owner._forward_hooks_with_kwargs else (self.args,)
        answer = hook(self.module, *given, self.result)
        if answer is not None:
            self.result = answer

    def run_always_called(self) -> None:
        """Run, during an exception, the hooks registered with `always_call` that have not run yet."""
        for number, hook, owner in self._hooks("_forward_hooks"):
            if number in owner._forward_hooks_always_called and number not in self.ran:
                try:
                    self._finish(number, hook, owner)
                except Exception as error:  # noqa: BLE001  # another one is on its way
                    warn(
                        f"{'global ' if owner is EVERYWHERE else ''}module forward hook with ``always_call=True`` raised "
                        f"an exception that was silenced as another error was raised in forward: {error}"
                    )

    def _hook_last_operation(self) -> None:
        """Register torch's old backward hooks on the node of the first tensor in the result."""
        tensor = self.result
        while not isinstance(tensor, Carrier):
            tensor = next(iter(tensor.values())) if isinstance(tensor, dict) else tensor[0]
        if tensor.grad_fn is not None:
            for hook in self.module._backward_hooks.values():
                tensor.grad_fn.register_hook(partial(hook, self.module))


# Errors
#
# Errors in modules of this package name the module and the shapes of its arguments: "Linear(784, 512) got (128, 512)".


def _name_module(module: Calls, args: tuple[Any, ...], error: Exception) -> None:
    """Add the layer and the shapes of its arguments to an error from a layer of this package, once."""
    forward = type(module).forward
    ours = forward is not Calls.forward and str(forward.__module__).startswith("pullback.nn.")
    said = getattr(error, "_said", False) or len(error.args) != 1 or not isinstance(error.args[0], str)
    if not ours or said or module._modules:
        return
    shapes = ", ".join(str(tuple(arg.shape)) if isinstance(arg, Carrier) else type(arg).__name__ for arg in args)
    error.args = (f"{error.args[0]}\n  {headline(module)} got {shapes or 'no arguments'}",)
    error._said = True  # type: ignore[attr-defined]  # errors take attributes


def headline(module: Calls) -> str:
    """The class of a module with its required settings: `Linear(784, 512)`."""
    parameters = list(inspect.signature(type(module).__init__).parameters.values())[1:]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    settings = [str(getattr(module, name)) for name in needed if hasattr(module, name)]
    return f"{type(module).__name__}({', '.join(settings)})"


_CALL = Calls.__call__.__code__


def running_module(frame: FrameType | None = None) -> Module | None:
    """The innermost module whose `forward` is running in this thread, seen from a frame; None outside of modules.

    >>> import pullback
    >>> pullback.observe.running_module() is None
    True
    """
    frame = frame or _getframe(1)
    while frame is not None:
        if frame.f_code is _CALL:
            found: Module = frame.f_locals["self"]
            return found
        frame = frame.f_back
    return None
