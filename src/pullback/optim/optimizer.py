"""Optimizer: parameters in groups with options, what is remembered of each parameter, hooks, and state dictionaries."""

from __future__ import annotations

import inspect
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, Self, TypeVar, overload

import numpy as np

from .._core.errors import require_state
from .._core.modes import like
from .._core.primitives import Carrier
from .._core.sites import warn
from .._tensor.creation import as_tensor
from .._tensor.tensor import Tensor
from ..nn.modules.hooks import Handle
from ..nn.modules.members import type_name

Hook = Callable[..., Any]
Params = Iterable[Tensor | dict[str, Any] | tuple[str, Tensor]]
"""What is optimized: tensors, or pairs of a name and a tensor, or groups with options of their own."""
Options = dict[str, Any]
Group = dict[str, Any]
State = dict[str, Any]
"""What is remembered of one parameter."""
Loss = TypeVar("Loss")
Initialise = TypeVar("Initialise", bound=Callable[..., None])
Step = TypeVar("Step", bound=Callable[..., Any])


class _Required:
    """A placeholder for the default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

_before_every_step: dict[int, Hook] = OrderedDict()
_after_every_step: dict[int, Hook] = OrderedDict()
_after_every_group: dict[int, Hook] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Hook) -> Handle:
    """Call `hook(optimizer, args, kwargs)` before every optimizer's step; see `Optimizer.register_step_pre_hook`."""
    return Handle(_before_every_step, hook)


def register_optimizer_step_post_hook(hook: Hook) -> Handle:
    """Call `hook(optimizer, args, kwargs)` after every optimizer's step."""
    return Handle(_after_every_step, hook)


def register_optimizer_group_hook(hook: Callable[[list[Tensor]], object]) -> Handle:
    """Call `hook(parameters)` for each group of parameters that any optimizer gets from now on."""
    return Handle(_after_every_group, hook)


def _hooked(step: Step) -> Step:
    """A step that calls the pre-hooks before it and the post-hooks after it."""

    @like(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        before, after = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (before or after or _before_every_step or _after_every_step):
            return step(self, *args, **kwargs)
        given: tuple[Any, ...] = (self, *args)
        for hook in (*_before_every_step.values(), *before.values()):
            answer = hook(self, given, kwargs)
            if answer is not None:
                if not isinstance(answer, tuple) or len(answer) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {answer}: this is what "
                        "a step pre hook returned"
                    )
                given, kwargs = answer
        result = step(*given, **kwargs)
        for hook in (*after.values(), *_after_every_step.values()):
            hook(self, given, kwargs)
        return result

    vars(hooked)["hooked"] = True  # torch's mark
    return hooked


def declared(initialise: Initialise) -> Initialise:
    """A decorator that makes an `__init__` of a signature: its parameters other than `params` are options, and checked."""
    signature = inspect.signature(initialise)

    @like(initialise)
    def initialised(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        initialise(self, *args, **kwargs)  # says properly what does not fit the signature
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        _, params, *_ = bound.arguments.values()
        defaults = {name: value for name, value in bound.arguments.items() if name not in ("self", "params")}
        self.check_options(defaults)
        Optimizer.__init__(self, params, defaults)
        self.begin()

    return initialised


def as_float(value: float | Tensor) -> float:
    """A loss as a Python number."""
    return float(value.item() if isinstance(value, Carrier) else value)


class Optimizer:
    """The base of all optimizers: subclasses define `step`.

    Parameters
    ----------
    params
        Tensors, or pairs of a name and a tensor, or dictionaries for groups with options of their own.
    defaults
        The options of groups that do not give them.

    Raises
    ------
    TypeError
        If `params` is a tensor, or has in it what is not a tensor.
    ValueError
        If it is empty, if a tensor is not a leaf, or if a tensor is in two groups.

    >>> import pullback
    >>> w = pullback.ones(2, requires_grad=True)
    >>> pullback.optim.SGD([{"params": [w], "lr": 0.1}], momentum=0.9).param_groups[0]["lr"]
    0.1
    """

    _optimizer_step_pre_hooks: dict[int, Hook]
    _optimizer_step_post_hooks: dict[int, Hook]
    _optimizer_state_dict_pre_hooks: dict[int, Hook]
    _optimizer_state_dict_post_hooks: dict[int, Hook]
    _optimizer_load_state_dict_pre_hooks: dict[int, Hook]
    _optimizer_load_state_dict_post_hooks: dict[int, Hook]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An optimizer with its hooks, before any `__init__`."""
        self = super().__new__(cls)
        self._make_hooks()  # not in __init__, which those that wrap another optimizer often do not call
        return self

    def __init__(self, params: Params, defaults: Options) -> None:
        self.defaults = defaults
        if isinstance(params, Carrier):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type_name(params)}: put it into a list"
            )
        self.state: defaultdict[Tensor | str, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        given: object = params
        if not isinstance(given, Iterable) and (hasattr(given, "parameters") or callable(given)):
            advice = "pass its parameters" if hasattr(given, "parameters") else "call it"
            raise TypeError(f"{type(given).__name__!r} object is not iterable: {advice}, model.parameters()")
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: a module knows the layers in nn.ModuleList([...]) and nn.Sequential, "
                "not those in a plain list or dict; or model.parameters() was used up by another loop"
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        step = cls.__dict__.get("step")
        if inspect.isfunction(step):
            type.__setattr__(cls, "step", _hooked(step))  # by which type checkers and editors keep its signature

    def _patch_step_function(self) -> None:
        """Has no effect: steps are hooked where a class is made; subclasses written for torch call it."""

    def _make_hooks(self) -> None:
        for name in Optimizer.__annotations__:
            vars(self).setdefault(name, OrderedDict())

    def check_options(self, options: Options) -> None:
        """Refuse options that make no sense: for subclasses whose `__init__` is `declared`."""

    def begin(self) -> None:
        """Called when the optimizer has been made; does nothing unless overridden."""

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        groups = []
        for i, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            groups.append(f"\nParameter Group {i}\n{''.join(options)}")
        return f"{type(self).__name__} ({''.join(groups)})"

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], Loss]) -> Loss: ...

    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Change the parameters once; `closure` computes the loss anew, with its gradients, and returns it."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zeros with `set_to_none=False`."""
        for group in self.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                    continue
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()

    # Groups

    def add_param_group(self, param_group: Group) -> None:
        """Add another group: a dictionary with `params` and those options that differ from the defaults.

        Raises
        ------
        TypeError, ValueError
            As for an Optimizer; nothing has changed then.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        if "params" not in param_group:
            raise KeyError(
                f"a group of an optimizer has its tensors under 'params', this one has {', '.join(map(repr, param_group)) or 'nothing'}"
            )
        found = self._listed(param_group["params"])
        for parameter in found["params"]:
            self._check_parameter(parameter)
        given = {**param_group, **found}
        for name, default in self.defaults.items():
            if default is required and name not in given:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            given.setdefault(name, default)
        if len(found["params"]) != len(set(found["params"])):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information"
            )
        for group in self.param_groups:
            if ("param_names" in given) != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if 'param_names' in given else 'without'} names to the optimizer"
                )
            if not set(group["params"]).isdisjoint(found["params"]):
                raise ValueError("some parameters appear in more than one parameter group: list each in one group only")
        param_group.update(given)
        self.param_groups.append(param_group)
        for hook in (*_after_every_group.values(),):
            hook(found["params"])

    @staticmethod
    def _listed(params: Params) -> Group:
        """The parameters of a group as a list, and their names if they have any."""
        if isinstance(params, Carrier):
            return {"params": [params]}
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        listed = list(params)
        names = [each[0] for each in listed if isinstance(each, tuple)]
        if not names:
            return {"params": listed}
        if len(names) < len(listed):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        return {"params": [tensor for _, tensor in listed], "param_names": names}

    def _check_parameter(self, parameter: Tensor) -> None:
        if not isinstance(parameter, Carrier):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {type_name(parameter)}"
                + (": pass model.parameters()" + ", or the values() of a dict" * isinstance(parameter, str))
            )
        if not self.defaults.get("differentiable") and not (parameter.is_leaf or parameter.retains_grad):
            raise ValueError(
                "can't optimize a non-leaf Tensor: this one is the result of a recorded operation; optimize the tensor "
                "it was made from, or its detach()"
            )

    # Hooks

    def register_step_pre_hook(self, hook: Hook) -> Handle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other `(args, kwargs)`."""
        return Handle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> Handle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return Handle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(optimizer)` before `state_dict` collects the state."""
        return Handle(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(optimizer, state_dict)` on what `state_dict` is to return; it may return another."""
        return Handle(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(optimizer, state_dict)` on what is to be loaded; it may return another."""
        return Handle(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        """Call `hook(optimizer)` after `load_state_dict`."""
        return Handle(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    # State as a dictionary

    def state_dict(self) -> dict[str, Any]:
        """The state and the groups as a dictionary in which parameters are numbers, in the order of the groups.

        >>> import pullback
        >>> w = pullback.ones(2, requires_grad=True)
        >>> optimizer = pullback.optim.SGD([w], lr=0.5, momentum=0.9)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> optimizer.state_dict()["state"]
        {0: {'momentum_buffer': tensor([1., 1.])}}
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for number, parameter in enumerate(group["params"], start):
                numbers.setdefault(id(parameter), number)
            start += len(group["params"])
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(parameter)] for parameter in group["params"]]})
        state = {numbers[id(key)] if isinstance(key, Carrier) else key: value for key, value in self.state.items()}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            answer = hook(self, result)
            result = result if answer is None else answer
        return result

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a state that `state_dict` returned, here or in torch; arrays may stand for tensors. All is copied.

        Raises
        ------
        TypeError
            If the state is not a mapping.
        ValueError
            If it has other groups than this optimizer, or groups of other sizes. Nothing has changed then.
        """
        require_state(state_dict)
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = hook(self, state_dict)
            state_dict = state_dict if answer is None else answer
        if lacking := {"state", "param_groups"} - state_dict.keys():
            raise KeyError(
                f"the state of an optimizer has {' and '.join(sorted(lacking))}, this one {'only ' * bool(state_dict)}{', '.join(state_dict) or 'nothing'}: "
                "pass what optimizer.state_dict() gave, and a model's to the model"
            )
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, this optimizer has {len(self.param_groups)}"
            )
        for i, (old, new) in enumerate(zip(self.param_groups, saved, strict=True)):
            if len(old["params"]) != len(new["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {i} has {len(new['params'])} parameters there, {len(old['params'])} here"
                )
        keys = itertools.chain.from_iterable(group["params"] for group in saved)
        parameters = itertools.chain.from_iterable(group["params"] for group in self.param_groups)
        place = dict(zip(keys, parameters, strict=True))
        state: defaultdict[Tensor | str, State] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            state[place.get(key, key)] = self._fitting(place[key], value) if key in place else value
        for old, new in zip(self.param_groups, saved, strict=True):
            new["params"] = old["params"]
            if "param_names" in old:
                new.setdefault("param_names", old["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _fitting(self, parameter: Tensor, value: Any, key: str | None = None) -> Any:
        """A copy of a part of a parameter's state, in the parameter's dtype; steps are counted in their own."""
        if isinstance(value, Carrier) or (hasattr(value, "__array__") and not isinstance(value, np.generic)):
            tensor = (value if isinstance(value, Carrier) else as_tensor(np.asarray(value))).detach().clone()
            cast = key != "step" and parameter.is_floating_point()
            return tensor.to(parameter.dtype) if cast else tensor
        if isinstance(value, Mapping):
            return {name: self._fitting(parameter, each, name) for name, each in value.items()}
        if hasattr(value, "__iter__") and not isinstance(value, str):
            return type(value)(self._fitting(parameter, each) for each in value)
        return value
