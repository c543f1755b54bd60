"""The state of a module as a dictionary: `state_dict`, and `load_state_dict`, which writes all or nothing.

torch's protocol: each module saves and loads its own part, `_save_to_state_dict` and `_load_from_state_dict`, which
subclasses may override, and hooks run before and after. Loading first lets every module record what it would write; the
writes are done only if no error was found.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._core.errors import require_state, size
from ..._core.modes import no_grad, restoring
from ..._core.primitives import Carrier
from ..._core.sites import warn
from ..._core.texts import printable
from ..._tensor.creation import from_numpy
from ..parameter import Parameter
from .hooks import Handle
from .members import Members

if TYPE_CHECKING:
    from ..._core.typing import Tensor

EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """The missing and the unexpected keys of a state."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Report(list[str]):
    """The errors found so far, and the pending writes, which are done if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Callable[[], None]] = []


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{printable(key)}"' for key in keys)  # they may come from a file


class State(Members):
    """The part of a module that saves and loads its state."""

    # Saving

    def get_extra_state(self) -> Any:
        """The state of a module besides its tensors; to be defined together with `set_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state(): it has no extra state")

    def set_extra_state(self, state: object) -> None:
        """Restore a result of `get_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state(): it takes no extra state")

    def _persistent(self) -> dict[str, Any]:
        """The parameters and persistent buffers of this module alone."""
        skipped = self._non_persistent_buffers_set
        members = {**self._parameters, **{name: b for name, b in self._buffers.items() if name not in skipped}}
        return {name: member for name, member in members.items() if member is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write the state of this module alone to a dictionary."""
        for name, member in self._persistent().items():
            destination[prefix + name] = member if keep_vars else member.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The state of this module and all below it: an OrderedDict of tensors by their paths.

        The tensors share the memory of the parameters and persistent buffers; with `keep_vars` they are those
        themselves. The dictionary's `_metadata` holds each module's version.

        >>> from pullback import nn
        >>> list(nn.Sequential(nn.Linear(2, 3), nn.ReLU()).state_dict())
        ['0.weight', '0.bias']
        """
        if args:
            warn("Positional args are being deprecated, use kwargs instead.", FutureWarning)
            given = {"destination": destination, "prefix": prefix, "keep_vars": keep_vars}
            return self.state_dict(**given | dict(zip(given, args, strict=False)))
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, public in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None and public:
                raise RuntimeError(f"state_dict post-hook must return None, not {type(replaced).__name__}")
            destination = destination if replaced is None else replaced
        state: dict[str, Any] = destination
        return state

    # Loading

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this module alone from a dictionary, and report errors."""
        for hook, owner in self._load_state_dict_pre_hooks.values():
            first = () if owner is None else (owner,)
            hook(*first, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._persistent()
        report = error_msgs if isinstance(error_msgs, Report) else Report()
        for name, member in own.items():
            key = prefix + name
            if key in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                self._load_member(name, member, key, state_dict[key], assign, report)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                report.writes.append(lambda: self.set_extra_state(state_dict[extra]))
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            unexpected_keys.extend(self._strangers(state_dict, prefix, own))
        if report is not error_msgs:
            error_msgs += report
            for write in report.writes:
                write()

    def _strangers(self, state_dict: dict[str, Any], prefix: str, own: Container[str]) -> list[str]:
        """The keys of a state that belong to no member of this module."""
        found = []
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA:
                name, *deeper = key[len(prefix) :].split(".", 1)
                if name not in (self._modules if deeper else own):
                    found.append(key)
        return found

    def _load_member(self, name: str, member: Tensor, key: str, value: Any, assign: bool, report: Report) -> None:
        """Record how a value will be loaded into a parameter or buffer, or why it cannot."""
        if isinstance(value, np.ndarray):
            value = from_numpy(value)
        if not isinstance(value, Carrier):
            report.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
            return
        if member.ndim == 0 and tuple(value.shape) == (1,):
            value = value.reshape(())
        if value.shape != member.shape:
            report.append(
                f"size mismatch for {key}: copying a param with shape {size(value.shape)} from checkpoint, the shape in "
                f"current model is {size(member.shape)}."
            )
            return
        if member._dtype.kind != "c" and value._dtype.kind == "c":
            report.append(
                f'While copying the parameter named "{key}", an exception occurred: it is {member.dtype} in the model '
                f"and {value.dtype} in the checkpoint, whose imaginary part would be lost."
            )
            return
        report.writes.append(lambda: self._put(name, member, value, assign))

    def _put(self, name: str, member: Tensor, value: Tensor, assign: bool) -> None:
        if not assign:
            member.copy_(value)
        elif not isinstance(member, Parameter):
            setattr(self, name, value)
        elif isinstance(value, Parameter):
            setattr(self, name, value.requires_grad_(member.requires_grad))
        else:
            setattr(self, name, Parameter(value, requires_grad=member.requires_grad))

    @restoring
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Load a state: copied into the parameters and buffers or, with `assign`, replacing them.

        Returns the missing and the unexpected keys, which must be none unless `strict` is False. Values may be tensors
        or NumPy arrays. When an error is raised nothing has been loaded.

        Raises
        ------
        TypeError
            If the state is not a mapping.
        RuntimeError
            If keys are missing or unexpected (with `strict`), or values have other shapes: all that is wrong at once.

        >>> import pullback
        >>> from pullback import nn
        >>> nn.Linear(2, 1).load_state_dict({"weight": pullback.ones(1, 2), "bias": pullback.zeros(1)})
        <All keys matched successfully>
        """
        require_state(state_dict)
        for key in state_dict:
            if not isinstance(key, str):
                raise TypeError(f"the keys of a state_dict are strings, got {key!r}, a {type(key).__name__}")
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        found, errors = _IncompatibleKeys([], []), Report()
        self._ask(state, "", metadata or {}, assign, found, errors)
        hooks = [(module, hook) for module in _last(self) for hook in module._load_state_dict_post_hooks.values()]
        if errors or not hooks:
            self._refuse(found, errors, strict)
        with no_grad():
            for write in errors.writes:
                write()
        for module, hook in hooks:
            if hook(module, found) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )
        self._refuse(found, errors, strict)
        return found

    def _ask(
        self,
        state: dict[str, Any],
        prefix: str,
        metadata: dict[str, Any],
        assign: bool,
        found: _IncompatibleKeys,
        errors: Report,
    ) -> None:
        """Let this module and all below it record what they would write."""
        own = dict(metadata.get(prefix[:-1], {}))
        if assign:
            own["assign_to_params_buffers"] = True
        self._load_from_state_dict(state, prefix, own, True, found.missing_keys, found.unexpected_keys, errors)
        for name, child in self._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                part = {key: value for key, value in state.items() if key.startswith(inner)}
                child._ask(part, inner, metadata, assign, found, errors)

    def _refuse(self, found: _IncompatibleKeys, errors: list[str], strict: bool) -> None:
        """Raise an error with everything that is wrong with a state, if anything is."""
        wrong = list(errors)
        if strict and found.unexpected_keys:
            wrong.insert(0, f"Unexpected key(s) in state_dict: {_quoted(found.unexpected_keys)}. ")
        if strict and found.missing_keys:
            wrong.insert(0, f"Missing key(s) in state_dict: {_quoted(found.missing_keys)}. ")
        if strict and found.unexpected_keys and found.missing_keys:
            wrong += filter(None, [_prefixed(found.missing_keys, found.unexpected_keys)])
        if wrong:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(wrong))

    # Hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected."""
        return Handle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after; it may change the dictionary in place."""
        return Handle(self._state_dict_hooks, (hook, True))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> Handle:
        """As `register_state_dict_post_hook`, but the hook's result replaces the dictionary."""
        return Handle(self._state_dict_hooks, (hook, False))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading.

        The hook may change the dictionary, which is not the caller's.
        """
        return Handle(self._load_state_dict_pre_hooks, (hook, self))

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Handle:
        """As `register_load_state_dict_pre_hook`; the module is passed to the hook only if `with_module`."""
        return Handle(self._load_state_dict_pre_hooks, (hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists of keys in place."""
        return Handle(self._load_state_dict_post_hooks, hook)


def _prefixed(missing: list[str], unexpected: list[str]) -> str:
    """The fix where the keys differ by the same prefix, which DataParallel, compile and modules that hold the model add."""
    prefix = unexpected[0].removesuffix(missing[0])
    if prefix and sorted(prefix + key for key in missing) == sorted(unexpected):
        return f"Each key begins with {prefix!r}: load {{key.removeprefix({prefix!r}): value for key, value in state.items()}}."
    prefix = missing[0].removesuffix(unexpected[0])
    if prefix and sorted(prefix + key for key in unexpected) == sorted(missing):
        return f"Each key lacks {prefix!r}: load {{{prefix!r} + key: value for key, value in state.items()}}."
    return ""


def _last(module: State) -> list[State]:
    """A module and all below it, in postorder."""
    below = [each for child in module._modules.values() if child is not None for each in _last(child)]
    return [*below, module]
