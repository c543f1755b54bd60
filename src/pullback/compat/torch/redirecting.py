"""Functions of torch whose calls something else may answer: graphs of torch.fx, and `__torch_function__`.

A function of pullback knows nothing of proxies and modes, and programs hold it in many places: globals, attributes, closures.
So, while something seeks calls, the function keeps its identity and gets other code, which asks each seeker; where
none answers, as in all other threads, the function's own code runs. When the last seeker has gone, all functions have
their own code again. What nobody uses costs nothing.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from ... import Tensor
from ..._core import forks
from ..._core.sites import generated
from . import facade

Answer = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
Seeker = Callable[[Any, str | None, tuple[Any, ...], dict[str, Any]], Any]
UNANSWERED = object()
"""What a seeker returns for a call that it leaves to others."""
OVERRIDES = f"{__package__}.overrides"
UNSEEN = {"is_tensor", "is_storage", "typename"}
"""Functions of torch that are asked about any object, and so are never answered by a seeker."""
NAMESPACES = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
"""The modules of torch whose functions can be answered by a seeker."""
NATIVE = set(
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity gelu hardshrink linear logsigmoid one_hot "
    "pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu scaled_dot_product_attention softplus softshrink".split()
)
"""Functions of torch.nn.functional that torch records as they are called; for others, it names what has a default."""


def module(name: str) -> Any:
    """A module of torch as pullback has it, also where it does not stand in for torch."""
    here = isinstance(sys.modules.get("torch"), facade.Facade)
    return importlib.import_module(name) if here else _made(name)


@functools.cache
def _made(name: str) -> Any:
    return facade.made(name)


def path_of(function: object) -> str | None:
    """Where torch has a function of pullback, as in "torch.nn.functional.relu"; None for any other object."""
    if not str(getattr(function, "__module__", "")).startswith("pullback"):
        return None
    name = getattr(function, "__name__", "")
    first = NAMESPACES[0 if name in NATIVE or name.endswith("_") else 1]  # where both have the same
    places = (first, *NAMESPACES)
    return next((f"{each}.{name}" for each in places if getattr(module(each), name, None) is function), None)


@functools.cache
def _code(free: int) -> CodeType:
    """The code of a function with so many free variables, which calls the constant that takes the place of `...`."""
    names = [f"free_{index}" for index in range(free)]
    lines = [
        "def outer():",
        *(f"    {name} = None" for name in names),
        "    def stand_in(*args, **options):",
        "        answer = ...",
        "        return answer(args, options)",
        f"        ({', '.join(names)})",
        "    return stand_in",
    ]
    code: CodeType = generated(f"a function of {free} cells", "\n".join(lines), {}, "outer")().__code__
    return code


class Redirected:
    """A function whose calls can be answered by another one: `answer(function, its own code, args, kwargs)`."""

    def __init__(self, function: Any, answer: Answer) -> None:
        write = (function.__kwdefaults__ or {}).get("_write")
        if write is not None:
            write()  # a short way, whose code is not yet there
        self.function, self.code, names = function, function.__code__, function.__globals__
        own = FunctionType(self.code, names, function.__name__, function.__defaults__, function.__closure__)
        own.__kwdefaults__, own.__annotations__ = function.__kwdefaults__, function.__annotations__
        self.signed = None if hasattr(function, "__wrapped__") else own
        code = _code(len(self.code.co_freevars))
        constants = tuple(functools.partial(answer, function, own) if each is ... else each for each in code.co_consts)
        self.other = code.replace(co_consts=constants, co_name=self.code.co_name)

    def do(self) -> None:
        """Have calls answered by the other function."""
        self.function.__code__ = self.other
        if self.signed is not None:
            self.function.__wrapped__ = self.signed  # for those who ask for its parameters

    def undo(self) -> None:
        """Give the function its own code again."""
        self.function.__code__ = self.code
        if self.signed is not None:
            del self.function.__wrapped__


redirected = functools.cache(Redirected)
"""What redirects a function, made once."""


# Seekers

OPERATORS = {
    **{f"__{name}__": name for name in "add sub mul pow matmul eq ne lt le gt ge".split()},
    **{f"__{name}__": f"__{name}__" for name in "floordiv and or xor lshift rshift getitem".split()},
    "__truediv__": "div",
    "__mod__": "remainder",
}
"""The methods as which operators of a tensor, and of a proxy, are known."""
OTHERS = {
    "__radd__": "add",
    "__rmul__": "mul",
    "__neg__": "neg",
    "__abs__": "abs",
    "__invert__": "bitwise_not",
    **{f"__i{name}__": f"{name}_" for name in "add sub mul".split()},
    "__itruediv__": "div_",
    **{f"__{name}__": f"__{name}__" for name in "rsub rpow setitem len bool contains".split()},
    "__rtruediv__": "__rdiv__",
}
"""Those of operators that a proxy has of its own."""


@functools.cache
def methods() -> dict[FunctionType, str]:
    """The methods of tensors, and the names by which seekers know them."""
    called = {**OPERATORS, **OTHERS}
    names = {name: called.get(name, name) for kind in Tensor.__mro__ for name in vars(kind)}
    public = [(getattr(Tensor, name), known) for name, known in names.items() if name[0] != "_" or name in called]
    methods = [(method, known) for method, known in public if isinstance(method, FunctionType)]
    return dict(sorted(methods, key=lambda each: each[0].__name__ == each[1]))  # of several names, its own


_lock = forks.lock()
_seekers: Counter[Seeker] = Counter()
_asked: tuple[Seeker, ...] = ()
_done: dict[int, Redirected] = {}


def begin(seeker: Seeker) -> None:
    """Have a seeker asked for the answer of each call, `seeker(function, name of a method, args, kwargs)`, until `end`."""
    global _asked  # noqa: PLW0603  # the seekers of a process
    with _lock:
        _seekers[seeker] += 1
        _asked = tuple(_seekers)
        if not _done:
            _redirect_all()


def end(seeker: Seeker) -> None:
    """Undo one `begin`; without seekers, functions have their own code again."""
    global _asked  # noqa: PLW0603
    with _lock:
        _seekers[seeker] -= 1
        if not _seekers[seeker]:
            del _seekers[seeker]
        _asked = tuple(_seekers)
        if not _asked:
            facade.WATCHERS.clear()
            while _done:
                _done.popitem()[1].undo()


def _answer(*call: Any) -> Any:  # named parameters would make it a function that the program called: see explain
    name, function, own, args, kwargs = call
    for seeker in _asked:
        answer = seeker(function, name, args, kwargs)
        if answer is not UNANSWERED:
            return answer
    return own(*args, **kwargs)


def _of_function(*call: object) -> Any:
    return _answer(None, *call)


def _of_method(*call: Any) -> Any:
    return _answer(methods()[call[0]], *call)


def _redirect_all() -> None:
    facade.WATCHERS.append(_watch)
    for name in NAMESPACES:
        found = sys.modules.get(name)
        for value in facade.kept(found) if isinstance(found, facade.Facade) else ():
            _watch(name, value)
    layers = module("torch.nn.functional")
    for name in layers.__all__:  # those that layers call
        _watch(layers.__name__, getattr(layers, name))
    for method in methods():
        _redirect(method, _of_method)


def _watch(name: str, value: object) -> None:
    """Redirect a function that a module of torch has."""
    if not isinstance(value, FunctionType) or not str(value.__module__).startswith("pullback"):
        return
    if value.__module__ != OVERRIDES and name in NAMESPACES and value.__name__ not in UNSEEN:
        _redirect(value, _of_function)


def _redirect(function: object, answer: Answer) -> None:
    with _lock:
        if id(function) not in _done:
            _done[id(function)] = redirected(function, answer)
            _done[id(function)].do()
