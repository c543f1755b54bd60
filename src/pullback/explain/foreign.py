"""A trail of a program under torch itself: what each function of torch gave, in a process in which torch is imported.

Random numbers are pullback's, drawn as pullback draws them, so that both runs have the same.
"""

from __future__ import annotations

import importlib
import operator
import os.path
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from .. import bernoulli, empty, float32, float64, nn, ones, rand, randint, randn, randperm, tensor
from ..observe import is_internal, variables_of
from .arrays import Array
from .sources import place_of
from .trails import BACKWARD, FORWARD, GIVEN, LEAF, WRITE, Known, Trail, What, Where, module_path

Theirs = Any
"""A value of torch's, of whose types nothing is known here."""
_writes = operator.attrgetter("_version")
"""How often a tensor of torch's has been written in place."""
SILENT = (
    "__get__",
    "__set__",
    "detach",
    "requires_grad_",
    "numpy",
    "item",
    "tolist",
    "backward",
    "register_hook",
    "size",
)
"""Functions of torch that compute nothing."""


@contextmanager
def under_torch(trail: Trail) -> Iterator[None]:
    """A block whose functions of torch, the installed one, are added to a trail.

    Raises
    ------
    ImportError
        If torch is not installed.
    """
    torch: Theirs = importlib.import_module("torch")
    trail.source = "torch"
    tracer = _Tracer(torch, trail)
    seeded = torch.manual_seed
    ours: Theirs = importlib.import_module("pullback")

    def seed(number: int) -> Theirs:
        ours.manual_seed(int(number))
        return seeded(number)

    with ExitStack() as stack:
        torch.manual_seed = torch.random.manual_seed = seed
        stack.callback(setattr, torch, "manual_seed", seeded)
        stack.callback(setattr, torch.random, "manual_seed", seeded)
        optimizers = importlib.import_module("torch.optim.optimizer")
        stack.callback(optimizers.register_optimizer_step_post_hook(tracer.stepped).remove)
        modes = importlib.import_module("torch.utils._python_dispatch"), importlib.import_module("torch.overrides")
        stack.enter_context(_mode(modes[0].TorchDispatchMode, "__torch_dispatch__", partial(_drawn, torch)))
        stack.enter_context(_mode(modes[1].TorchFunctionMode, "__torch_function__", tracer.called))
        yield


def _mode(base: type, method: str, function: Callable[..., Theirs]) -> Theirs:
    def act(_: Theirs, func: Theirs, types: Theirs, args: Theirs = (), kwargs: Theirs = None) -> Theirs:
        return function(func, args, kwargs or {})

    return type("Mode", (base,), {method: act})()


# 1. Random numbers


def _filled(name: str, dtype: Theirs, x: Theirs, *given: Theirs) -> Theirs:
    return getattr(empty(*x.shape, dtype=dtype), name)(*given)


def _like(draw: Callable[..., Theirs], dtype: Theirs, x: Theirs) -> Theirs:
    return draw(*x.shape, dtype=dtype)


def _kept(dtype: Theirs, x: Theirs, p: float = 0.5, train: Theirs = None) -> Theirs:
    """The elements that dropout keeps: 1, or 1 / (1 - p), and else 0."""
    kept = nn.functional.dropout(ones(*x.shape, dtype=dtype), p if train is not None else 1 - p)
    return kept if train is not None else kept.ne(0)


_DRAWS: dict[str, Callable[..., Theirs]] = {
    "uniform_": partial(_filled, "uniform_"),
    "normal_": partial(_filled, "normal_"),
    "exponential_": partial(_filled, "exponential_"),
    "bernoulli_": _kept,
    "native_dropout": _kept,
    "bernoulli": lambda dtype, x: bernoulli(tensor(x.detach().numpy())),
    "rand": lambda dtype, size: rand(*size, dtype=dtype),
    "randn": lambda dtype, size: randn(*size, dtype=dtype),
    "rand_like": partial(_like, rand),
    "randn_like": partial(_like, randn),
    "randint": lambda dtype, *given: randint(*given),
    "randperm": lambda dtype, count: randperm(count),
}
"""What torch draws, and how pullback draws it; the names are those of torch's operators."""


def _drawn(torch: Theirs, called: Theirs, args: tuple[Theirs, ...], kwargs: dict[str, Theirs]) -> Theirs:
    """What an operator of torch gives, with pullback's random numbers."""
    name = called.overloadpacket.__name__
    if name not in _DRAWS or kwargs.get("generator") is not None:
        return called(*args, **kwargs)
    dtype = args[0].dtype if isinstance(args[0], torch.Tensor) else kwargs.get("dtype")
    floats = [float32, float64][
        dtype == torch.float64 or (dtype is None and torch.get_default_dtype() == torch.float64)
    ]
    drawn = torch.from_numpy(np.array(_DRAWS[name](floats, *args).numpy()))
    if name == "native_dropout":
        return args[0] * drawn, drawn != 0
    if name.endswith("_"):
        return args[0].copy_(drawn)
    return drawn if dtype is None else drawn.to(dtype)


# 2. Results


class _Tracer:
    """Adds what functions of torch give, and the gradients of it, to a trail."""

    def __init__(self, torch: Theirs, trail: Trail) -> None:
        self.torch, self.trail = torch, trail
        self.call = torch.nn.Module._call_impl.__code__
        self.folder = os.path.dirname(torch.__file__)
        self._known = Known()
        self._followed = Known()

    def called(self, function: Theirs, args: tuple[Theirs, ...], kwargs: dict[str, Theirs]) -> Theirs:
        """Call a function of torch, and add its results."""
        result = function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name in SILENT or "empty" in name or not self._tensors([result]):
            return result
        frame = self._program(sys._getframe(1))
        if frame is None:
            return result
        module, path = module_path(sys._getframe(1), self.call)
        where = Where(place_of((frame.f_code, frame.f_lasti)), path)
        given = self._tensors([args, kwargs])
        makers = [self._operand(each, name, where, module, frame) for each in given]
        if self.torch.is_grad_enabled():
            for each, maker in zip(given, makers, strict=True):
                self._follow(each, where, _name(each, module, frame), maker)
        results = self._tensors([result])
        for number, each in enumerate(results):
            many = str(number) if len(results) > 1 else ""
            array, dtype = _array(each)
            known = [maker for maker in makers if maker is not None]
            entry = self.trail.add(What(FORWARD, name, many), array, where, known, dtype)
            self._known.add(each, _writes(each), entry)
            if each.requires_grad and entry is not None:
                each.register_hook(partial(self._arrived, What(BACKWARD, name, many), where, entry))
        return result

    def stepped(self, optimizer: Theirs, args: Theirs, kwargs: Theirs) -> None:
        """Add what an optimizer has written."""
        frame = self._program(sys._getframe(1))
        where = Where(None if frame is None else place_of((frame.f_code, frame.f_lasti)))
        for each in [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]:
            array, dtype = _array(each)
            self._known.add(each, _writes(each), self.trail.add(What(WRITE, "write"), array, where, (), dtype))

    def _arrived(self, what: What, where: Where, entry: int, gradient: Theirs) -> None:
        array, dtype = _array(gradient)
        self.trail.add(what, array, where, (entry,), dtype)

    def _operand(self, tensor: Theirs, operation: str, where: Where, module: Theirs, frame: FrameType) -> int | None:
        found = self._known.find(tensor, _writes(tensor))
        if found is not None:
            return found
        name = _name(tensor, module, frame)
        array, dtype = _array(tensor)
        found = self.trail.add(What(GIVEN, operation, name), array, where, (), dtype)
        self._known.add(tensor, _writes(tensor), found)
        return found

    def _follow(self, tensor: Theirs, where: Where, name: str, entry: int | None) -> None:
        """Add the gradients of a leaf, from its first use on."""
        if not (tensor.requires_grad and tensor.is_leaf) or entry is None:
            return
        if self._followed.find(tensor, 0) is None:
            self._followed.add(tensor, 0, entry)
            tensor.register_hook(partial(self._arrived, What(LEAF, "gradient", name), where, entry))

    def _program(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the program."""
        while frame is not None and (
            frame.f_code.co_filename.startswith((self.folder, "<frozen")) or is_internal(frame.f_code.co_filename)
        ):
            frame = frame.f_back
        return frame

    def _tensors(self, given: Iterable[Theirs]) -> list[Theirs]:
        found: list[Theirs] = []
        for each in given:
            if isinstance(each, self.torch.Tensor):
                found.append(each)
            elif isinstance(each, (tuple, list)):
                found += self._tensors(each)
            elif isinstance(each, dict):
                found += self._tensors(each.values())
        return found


def _array(tensor: Theirs) -> tuple[Array, str]:
    """The numbers of a tensor of torch, and the name of its dtype."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    return (tensor.float() if dtype == "bfloat16" else tensor).numpy(), dtype


def _name(tensor: Theirs, module: Theirs, frame: FrameType) -> str:
    named = module.named_parameters(recurse=False) if module is not None else ()
    pairs = [*named, *variables_of(frame).items(), *frame.f_globals.items()]
    return next((str(name) for name, each in pairs if each is tensor), "")
