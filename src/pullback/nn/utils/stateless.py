"""A module called with other tensors in place of its own: the implementation of `pullback.func.functional_call`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..._core.forks import give_way, swapping
from ..._core.primitives import Carrier
from ..._core.sites import warn
from ..modules.members import type_name

if TYPE_CHECKING:
    from ..._core.typing import Tensor
    from ..modules.module import Module

_ABSENT = object()


def _tied(module: Module) -> dict[str, list[str]]:
    """For each parameter and buffer with several names, all of its names."""
    names: dict[int, list[str]] = {}
    for walk in (module.named_parameters, module.named_buffers):
        for name, tensor in walk(remove_duplicate=False):
            names.setdefault(id(tensor), []).append(name)
    return {name: group for group in names.values() if len(group) > 1 for name in group}


def _with_tied(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, under every name that the replaced parameter has in the module."""
    found = dict(tensors)
    for group in _tied(module).values():
        given = {id(tensors[name]): tensors[name] for name in group if name in tensors}
        if len(given) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(group)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for tensor in given.values():
            found |= dict.fromkeys(group, tensor)
    return found


def _check_keys(module: Module, tensors: dict[str, Tensor]) -> None:
    """Raise for missing and unexpected keys."""
    own = {name for walk in (module.named_parameters, module.named_buffers) for name, _ in walk(remove_duplicate=False)}
    wrong = []
    if unexpected := [name for name in tensors if name not in own]:
        wrong.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing := sorted(own - tensors.keys()):
        wrong.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if wrong:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(wrong))


def _exchange(owner: Module, name: str, value: Any) -> Any:
    """Set a parameter, buffer or other tensor of a module, and return the old one."""
    places: tuple[dict[str, Any], ...] = owner._parameters, owner._buffers
    for place in places:
        if name in place:
            kept, place[name] = place[name], value
            return kept
    before: Any = getattr(owner, name, _ABSENT)
    if not (before is _ABSENT or before is None or isinstance(before, Carrier)):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if value is not _ABSENT:
        object.__setattr__(owner, name, value)
    elif before is not _ABSENT:
        object.__delattr__(owner, name)
    return before


@contextmanager
def _replaced(module: Module, tensors: dict[str, Tensor]) -> Iterator[None]:
    """A context in which tensors replace a module's own; on exit, they are as the block has left them."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Carrier | None):
            raise TypeError(f"{tensor} is not an instance of torch.Tensor: {name!r} is a {type_name(tensor)}")
    places = []
    for path in tensors:
        parent, _, name = path.rpartition(".")
        places.append((module.get_submodule(parent), name, path))
    before: list[Any] = []
    try:
        for owner, name, path in places:
            before.append(_exchange(owner, name, tensors[path]))
        yield
    finally:
        for (owner, name, path), value in reversed(list(zip(places, before, strict=False))):
            tensors[path] = _exchange(owner, name, value)


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """A block in which tensors stand in the place of a module's own; what replaces them there is in the dictionary after it.

    What was there before comes back in the reverse order, as torch's `stack_weights` asks.
    """
    full = _with_tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        _check_keys(module, full)
    give_way()
    try:
        with swapping, _replaced(module, full):
            yield
    finally:
        parameters_and_buffers.update((name, full[name]) for name in parameters_and_buffers)


def called(
    module: Module,
    tensors: dict[str, Tensor],
    args: Any,
    kwargs: dict[str, Any] | None,
    *,
    tie_weights: bool,
    strict: bool,
) -> Any:
    """The result of a module with other tensors; tensors that it replaces are replaced in the dictionary."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`pullback.func.functional_call` under its deprecated name in torch, with a warning."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return called(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
