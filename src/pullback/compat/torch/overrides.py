"""torch.overrides: calls of functions of torch that are answered by `__torch_function__` of an argument, or of a mode.

Functions look for such arguments from the moment on in which a program has made the first class with a method of that name,
and while a mode is entered; before, it costs nothing. As in torch, a mode is off while its own method runs, and a
class's method calls the function itself by `super().__torch_function__`. Attributes of tensors are not dispatched.
"""

from __future__ import annotations

import builtins
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from ... import Tensor
from ..._tensor.tensor import DISABLED, alone, inherited
from ...utils.trees import mapped
from . import redirecting

if TYPE_CHECKING:
    from ..._core.typing import Function


FACTORIES = set(
    "tensor as_tensor asarray from_numpy from_file frombuffer zeros ones empty full eye arange range linspace logspace rand "
    "randn randint randperm normal complex polar manual_seed seed initial_seed get_rng_state set_rng_state save load "
    "is_grad_enabled set_grad_enabled no_grad enable_grad inference_mode get_default_dtype set_default_dtype "
    "set_printoptions get_num_threads set_num_threads compile vmap promote_types result_type can_cast "
    "finfo iinfo broadcast_shapes tril_indices triu_indices bartlett_window blackman_window hamming_window "
    "hann_window kaiser_window empty_strided meshgrid_of".split()
)
"""Functions of torch without tensors among their arguments: only modes see their calls."""


class _Here(threading.local):
    """What is active in a thread: modes, the last entered at the end, and blocks that switch dispatch off."""

    modes: tuple[TorchFunctionMode, ...] = ()
    classes_off = all_off = 0


_here = _Here()


def _method_of(kind: type) -> Function | None:
    """The `__torch_function__` of a type, or None where it does not dispatch."""
    method = getattr(kind, "__torch_function__", None)
    inherited = getattr(method, "__func__", None) is _converted
    plain = inherited and (kind is Tensor or not kind._bequeaths)  # type: ignore[attr-defined]  # a Tensor or a Parameter
    return None if plain or getattr(method, "__name__", "") == DISABLED else method


def _overloaded(arguments: Iterable[object]) -> list[Any]:
    """The arguments with `__torch_function__`, one of each type, subclasses before their bases."""
    found: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if _method_of(kind) is None or any(type(each) is kind for each in found):
            continue
        place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), len(found))
        found.insert(place, argument)
    return found


def _dispatches(argument: object) -> bool:
    """True if the class of an argument has a method of its own, other than that of Tensor."""
    return getattr(_method_of(type(argument)), "__func__", None) is not _converted


def _answer(function: Function, overloaded: Sequence[Any], args: Sequence[object], kwargs: dict[str, object]) -> Any:
    """The result of the first `__torch_function__` that implements a function: of the last mode, then of arguments."""
    types = tuple(map(type, overloaded))
    modes = _here.modes
    if modes and not _here.all_off:
        _here.modes = modes[:-1]
        try:
            answer = modes[-1].__torch_function__(function, types, args, kwargs)
        finally:
            _here.modes = modes
        if answer is not NotImplemented:
            return answer
    for argument in overloaded:
        answer = argument.__torch_function__(function, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = redirecting.path_of(function) or f"{function.__module__}.{function.__qualname__}"
    who = [*types, *(type(mode) for mode in modes[-1:])]
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {who}")


def _seek(function: Function, method: str | None, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Have a call answered by `__torch_function__`, if a mode or an argument has one."""
    overloaded = [] if _here.all_off or _here.classes_off else _overloaded(_candidates(args, kwargs))
    overloaded = [argument for argument in overloaded if _dispatches(argument)]
    if not overloaded and (not _here.modes or _here.all_off):
        return redirecting.UNANSWERED
    return _answer(getattr(Tensor, method or "", function), overloaded, args, kwargs)


def _candidates(args: tuple[object, ...], kwargs: dict[str, object]) -> Iterator[object]:
    """Arguments, and what is in lists and tuples of them."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, (list, tuple)):
            yield from argument
        yield argument


def _converted(
    cls: type,
    func: Function,
    types: Iterable[type],
    args: Sequence[object] = (),
    kwargs: dict[str, object] | None = None,
) -> Any:
    """The result of a function itself, with the class of its arguments: what `super().__torch_function__` calls."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return mapped(lambda leaf: inherited(leaf, {cls}), result)


_build_class = builtins.__build_class__


@functools.wraps(_build_class)
def _built(*args: Any, **options: Any) -> Any:
    """Make a class; from the first one on that has `__torch_function__`, functions look for it."""
    made = _build_class(*args, **options)
    method = vars(made).get("__torch_function__")
    theirs = method is not None and not made.__module__.startswith("pullback.") and _method_of(made) is not None
    if theirs and not issubclass(made, TorchFunctionMode) and not _started:
        _started.append(made)
        redirecting.begin(_seek)
    return made


_started: list[type] = []


def start() -> None:
    """Give Tensor its `__torch_function__`, and see the classes that programs make from now on."""
    Tensor.__torch_function__ = classmethod(_converted)  # type: ignore[attr-defined]
    builtins.__build_class__ = _built


def stop() -> None:
    """Undo `start`."""
    builtins.__build_class__ = _build_class
    del Tensor.__torch_function__  # type: ignore[attr-defined]
    while _started:
        _started.pop()
        redirecting.end(_seek)


class TorchFunctionMode:
    """A block in which calls of functions of torch are answered by its method `__torch_function__`.

    Derive from it, and define `__torch_function__(self, func, types, args=(), kwargs=None)`: it calls `func(*args, **kwargs)`
    for the function's own result. Of nested blocks the inner one is asked first.
    """

    def __torch_function__(
        self,
        func: Function,
        types: Iterable[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        """The result of a call."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        redirecting.begin(_seek)
        _here.modes = (*_here.modes, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.modes = _here.modes[:-1]
        redirecting.end(_seek)

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> Self:
        """An instance, as an older torch spelled it."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that answers each call with the function's own result."""

    def __torch_function__(
        self,
        func: Function,
        types: Iterable[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        """The function's own result."""
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A block in which the arguments' `__torch_function__` is not called, and results are plain tensors."""

    def __enter__(self) -> None:
        _here.classes_off += 1
        alone.count += 1

    def __exit__(self, *error: object) -> None:
        _here.classes_off -= 1
        alone.count -= 1


class DisableTorchFunction:
    """A block in which no `__torch_function__` is called, of arguments or of modes."""

    def __enter__(self) -> None:
        _here.all_off += 1

    def __exit__(self, *error: object) -> None:
        _here.all_off -= 1


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """True if one of the arguments has a method `__torch_function__`, or a mode is active.

    >>> from pullback.compat.torch.overrides import has_torch_function
    >>> has_torch_function((1, "a"))
    False
    """
    if _here.all_off:
        return False
    return bool(_here.modes) or (not _here.classes_off and bool(_overloaded(relevant_args)))


def has_torch_function_unary(obj: object) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*objs: object) -> bool:
    """`has_torch_function` of the arguments that are given."""
    return has_torch_function(objs)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[object], /, *args: object, **kwargs: object
) -> Any:
    """The result of the first `__torch_function__` of the arguments that implements `public_api`.

    Raises
    ------
    TypeError
        If none does.
    """
    return _answer(public_api, _overloaded(relevant_args), args, kwargs)


class questions:
    """torch.nn.functional: what a function asks before it computes."""

    has_torch_function = staticmethod(has_torch_function)
    has_torch_function_unary = staticmethod(has_torch_function_unary)
    has_torch_function_variadic = staticmethod(has_torch_function_variadic)
    handle_torch_function = staticmethod(handle_torch_function)


def is_tensor_like(inp: object) -> bool:
    """True if it is a tensor, or has a method `__torch_function__`."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher: Callable[..., Iterable[object]]) -> Callable[[Function], Function]:
    """A decorator for functions whose calls are answered by `__torch_function__` of the arguments that `dispatcher` gives."""

    def decorator(function: Function) -> Function:
        @functools.wraps(function)
        def called(*args: object, **kwargs: object) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(called, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return called

    return decorator


def get_ignored_functions() -> set[Function]:
    """The functions of torch whose calls no argument can answer: those that make tensors, and settings."""
    torch = redirecting.module("torch")
    found = (getattr(torch, name, None) for name in FACTORIES | redirecting.UNSEEN)
    return {function for function in found if function is not None}


def get_overridable_functions() -> dict[object, list[Function]]:
    """The functions whose calls an argument can answer, by the module or class that has them."""
    ignored = get_ignored_functions()
    found: dict[Any, list[Any]] = {}
    for name in redirecting.NAMESPACES:
        module = redirecting.module(name)
        values = [getattr(module, each) for each in dir(module) if not each.startswith("_")]
        found[module] = [value for value in values if isinstance(value, FunctionType) and value not in ignored]
    found[Tensor] = [*redirecting.methods()]
    return found


def resolve_name(f: object) -> str | None:
    """The name of a function of torch, as in "torch.nn.functional.relu" or "torch.Tensor.add"; None for others.

    >>> import pullback
    >>> from pullback.compat.torch.overrides import resolve_name
    >>> resolve_name(pullback.add), resolve_name(pullback.Tensor.add), resolve_name(len)
    ('torch.add', 'torch.Tensor.add', None)
    """
    path = redirecting.path_of(f)
    if path is None and f in redirecting.methods():
        return f"torch.Tensor.{redirecting.methods()[f]}"
    return path


def is_tensor_method_or_property(func: object) -> bool:
    """True for a function that is a method of tensors."""
    return func in redirecting.methods()
