"""A trail of a program under torch itself: what each function of torch gave, in a process in which torch is imported.

Random numbers are pullback's, drawn as pullback draws them, so that both runs have the same.
"""

from __future__ import annotations

import importlib
import os.path
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from .. import bernoulli, empty, float32, float64, manual_seed, nn, ones, rand, randint, randn, randperm, tensor
from ..observe import is_internal, variables_of
from .arrays import Array
from .sources import Place, place_of
from .trails import BACKWARD, FORWARD, GIVEN, LEAF, WRITE, Known, Trail, module_path

SILENT = ("__get__", "__set__", "detach", "requires_grad_", "numpy", "item", "tolist", "backward", "register_hook", "size")
"""Functions of torch that compute nothing."""


@contextmanager
def under_torch(trail: Trail) -> Iterator[None]:
    """A block whose functions of torch, the installed one, are added to a trail.

    Raises
    ------
    ImportError
        If torch is not installed.
    """
    torch = importlib.import_module("torch")
    trail.source = "torch"
    tracer = _Tracer(torch, trail)
    seeded = torch.manual_seed

    def seed(number: int) -> Any:
        manual_seed(int(number))
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


def _mode(base: type, method: str, function: Callable[..., Any]) -> Any:
    def act(_: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(func, args, kwargs or {})

    return type("Mode", (base,), {method: act})()


# 1. Random numbers


def _filled(name: str, dtype: Any, x: Any, *given: Any) -> Any:
    return getattr(empty(*x.shape, dtype=dtype), name)(*given)


def _like(draw: Callable[..., Any], dtype: Any, x: Any) -> Any:
    return draw(*x.shape, dtype=dtype)


def _kept(dtype: Any, x: Any, p: float = 0.5, train: Any = None) -> Any:
    """The elements that dropout keeps: 1, or 1 / (1 - p), and else 0."""
    kept = nn.functional.dropout(ones(*x.shape, dtype=dtype), p if train is not None else 1 - p)
    return kept if train is not None else kept.ne(0)


_DRAWS: dict[str, Callable[..., Any]] = {
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


def _drawn(torch: Any, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an operator of torch gives, with pullback's random numbers."""
    name = operator.overloadpacket.__name__
    if name not in _DRAWS or kwargs.get("generator") is not None:
        return operator(*args, **kwargs)
    dtype = args[0].dtype if isinstance(args[0], torch.Tensor) else kwargs.get("dtype")
    floats = [float32, float64][dtype == torch.float64 or (dtype is None and torch.get_default_dtype() == torch.float64)]
    drawn = torch.from_numpy(np.array(_DRAWS[name](floats, *args).numpy()))
    if name == "native_dropout":
        return args[0] * drawn, drawn != 0
    if name.endswith("_"):
        return args[0].copy_(drawn)
    return drawn if dtype is None else drawn.to(dtype)


# 2. Results


class _Tracer:
    """Adds what functions of torch give, and the gradients of it, to a trail."""

    def __init__(self, torch: Any, trail: Trail) -> None:
        self.torch, self.trail = torch, trail
        self.call = torch.nn.Module._call_impl.__code__
        self.folder = os.path.dirname(torch.__file__)
        self._known = Known()
        self._followed = Known()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of torch, and add its results."""
        result = function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name in SILENT or "empty" in name or not self._tensors([result]):
            return result
        frame = self._program(sys._getframe(1))
        if frame is None:
            return result
        module, path = module_path(sys._getframe(1), self.call)
        where = place_of((frame.f_code, frame.f_lasti)), path
        given = self._tensors([args, kwargs])
        makers = [self._operand(each, name, where, module, frame) for each in given]
        if self.torch.is_grad_enabled():
            for each, maker in zip(given, makers, strict=True):
                self._follow(each, where, _name(each, module, frame), maker)
        results = self._tensors([result])
        for number, each in enumerate(results):
            many = str(number) if len(results) > 1 else ""
            array, dtype = _array(each)
            entry = self.trail.add(FORWARD, name, array, where, [m for m in makers if m is not None], many, dtype)
            self._known.add(each, each._version, entry)
            if each.requires_grad and entry is not None:
                each.register_hook(partial(self._arrived, BACKWARD, name, where, many, entry))
        return result

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Add what an optimizer has written."""
        frame = self._program(sys._getframe(1))
        where = None if frame is None else place_of((frame.f_code, frame.f_lasti)), ""
        for each in [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]:
            array, dtype = _array(each)
            self._known.add(each, each._version, self.trail.add(WRITE, "write", array, where, (), "", dtype))

    def _arrived(self, phase: str, name: str, where: tuple[Place | None, str], called: str, entry: int, g: Any) -> None:
        array, dtype = _array(g)
        self.trail.add(phase, name, array, where, (entry,), called, dtype)

    def _operand(self, tensor: Any, operation: str, where: Any, module: Any, frame: FrameType) -> int | None:
        found = self._known.find(tensor, tensor._version)
        if found is not None:
            return found
        name = _name(tensor, module, frame)
        array, dtype = _array(tensor)
        found = self.trail.add(GIVEN, operation, array, where, (), name, dtype)
        self._known.add(tensor, tensor._version, found)
        return found

    def _follow(self, tensor: Any, where: tuple[Place | None, str], name: str, entry: int | None) -> None:
        """Add the gradients of a leaf, from its first use on."""
        if not (tensor.requires_grad and tensor.is_leaf) or entry is None:
            return
        if self._followed.find(tensor, 0) is None:
            self._followed.add(tensor, 0, entry)
            tensor.register_hook(partial(self._arrived, LEAF, "gradient", where, name, entry))

    def _program(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the program."""
        while frame is not None and (
            frame.f_code.co_filename.startswith((self.folder, "<frozen")) or is_internal(frame.f_code.co_filename)
        ):
            frame = frame.f_back
        return frame

    def _tensors(self, given: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        for each in given:
            if isinstance(each, self.torch.Tensor):
                found.append(each)
            elif isinstance(each, (tuple, list)):
                found += self._tensors(each)
            elif isinstance(each, dict):
                found += self._tensors(each.values())
        return found


def _array(tensor: Any) -> tuple[Array, str]:
    """The numbers of a tensor of torch, and the name of its dtype."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    return (tensor.float() if dtype == "bfloat16" else tensor).numpy(), dtype


def _name(tensor: Any, module: Any, frame: FrameType) -> str:
    named = module.named_parameters(recurse=False) if module is not None else ()
    pairs = [*named, *variables_of(frame).items(), *frame.f_globals.items()]
    return next((str(name) for name, each in pairs if each is tensor), "")
