"""The names of torch.nn that are not layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...nn.modules.module import Module
from ...nn.parameter import Parameter

if TYPE_CHECKING:
    from ..._core.typing import Returned, Tensor


class DataParallel(Module):
    """A module that computes on several devices; there is only one, on which the wrapped module computes."""

    def __init__(self, module: Module, device_ids: object = None, output_device: object = None, dim: int = 0) -> None:
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *args: object, **options: object) -> Any:
        """The result of the wrapped module."""
        return self.module(*args, **options)


_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


def _ntuple(n: int, name: str = "parse") -> Callable[[object], tuple[object, ...]]:
    def repeated(value: object) -> tuple[object, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(itertools.repeat(value, n))

    repeated.__name__ = name
    return repeated


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1)
)


def _reverse_repeat_tuple(values: Iterable[Returned], times: int) -> tuple[Returned, ...]:
    return tuple(value for value in reversed([*values]) for _ in range(times))


def _addindent(text: str, spaces: int) -> str:
    """A text with all lines but the first indented."""
    return text.replace("\n", "\n" + " " * spaces)


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix such as `module.` from the keys of a state dict, in place."""
    for key in [*state_dict]:
        if key.startswith(prefix):
            state_dict[key.removeprefix(prefix)] = state_dict.pop(key)


_ParameterMeta = type(Parameter)
_ABSENT: Any = object()


def swap_tensor(module: Module, name: str, tensor: Tensor | None, allow_missing: bool = False) -> Tensor | None:
    """Put a tensor in the place of a parameter, a buffer or another attribute of a module, and give what was there.

    Raises
    ------
    AttributeError
        If there was nothing, unless `allow_missing`.
    """
    kept = next(
        (each for each in (getattr(module, kind) for kind in ("_parameters", "_buffers")) if name in each), vars(module)
    )
    before: Tensor | None = kept.get(name, _ABSENT)
    if before is _ABSENT and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    kept[name] = tensor  # what `__setattr__` would refuse: any tensor may stand for a parameter
    return None if before is _ABSENT else before
