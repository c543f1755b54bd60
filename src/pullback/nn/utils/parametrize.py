"""Parametrizations: a parameter or buffer of a module computed by other modules from an unconstrained tensor.

A parametrized module gets a class of its own, with a property in place of the tensor. `module.parametrizations` has, by
the tensor's name, the modules that compute it and, as `original`, their input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..._core.modes import no_grad, restoring
from ..._core.primitives import Carrier
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

if TYPE_CHECKING:
    from ..._core.typing import DType, Tensor
    from ..modules.module import Module

M = TypeVar("M", bound="Module")

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache: ContextVar[dict[tuple[int, str], Tensor] | None] = ContextVar("pullback.cache", default=None)


@contextmanager
def cached() -> Iterator[None]:
    """A context in which each parametrized tensor is computed once, on first access.

    >>> import pullback
    >>> from pullback.nn.utils import parametrize
    >>> layer = pullback.nn.utils.parametrizations.weight_norm(pullback.nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    token = _cache.set({}) if _cache.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _cache.reset(token)


def _register(module: Module, name: str, tensor: Tensor) -> None:
    """Register a tensor as a parameter or a buffer of a module, whichever it is."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _comparison(first: str, a: object, second: str, b: object) -> str:
    return f"\n{first}: {a}\n{second}: {b}"


class ParametrizationList(ModuleList):
    """The modules that compute a parametrized tensor, one after the other, and their input.

    That is `original`, or `original0`, `original1` and so on where the first module's `right_inverse` gives several.

    Raises
    ------
    ValueError
        If there are no modules; or if they change the dtype or shape of the tensor, unless `unsafe`.
    """

    @restoring
    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules. It was given none")
        super().__init__(modules)
        self.unsafe = unsafe
        dtype, shape = original.dtype, tuple(original.shape)
        with no_grad():
            new = original
            for module in reversed(list(self._steps())):
                new = _inverse(module, new)
        if not isinstance(new, (Carrier, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Carrier)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_made(self(), dtype, shape)

    def _keep(self, original: Tensor, new: Tensor) -> None:
        """Write new values to the original tensor itself, so that an optimizer that refers to it stays valid."""
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype."
                + _comparison("original.dtype", original.dtype, "right_inverse(original).dtype", new.dtype)
            )
        if new is not original:
            original.data = new.data
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Tensor | Sequence[Tensor]) -> None:
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Carrier):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{place} of the sequence with type {type(tensor).__name__}."
                )
            kept = Parameter(tensor, original.requires_grad) if isinstance(original, Parameter) else tensor
            kept.requires_grad_(original.requires_grad)
            _register(self, f"original{place}", kept)

    def _steps(self) -> Iterator[Module]:
        """The modules that compute the tensor."""
        return (module for name, module in self._modules.items() if name.isdigit())

    def _originals(self) -> list[Tensor]:
        names = ["original"] if self.is_tensor else [f"original{place}" for place in range(self.ntensors)]
        return [getattr(self, name) for name in names]

    @restoring
    def right_inverse(self, value: Tensor) -> None:
        """Set the tensor to `value`: the modules' input is replaced by the right inverse of `value`.

        Raises
        ------
        RuntimeError
            If a module has no `right_inverse`.
        ValueError
            If the result of one has the wrong shape or dtype.
        """
        found: Any = value
        with no_grad():
            for module in reversed(list(self._steps())):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                found = module.right_inverse(found)
            originals = self._originals()
            if self.is_tensor and not isinstance(found, Carrier):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(found).__name__}")
            values = [found] if self.is_tensor else found
            if not isinstance(values, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(found).__name__}.")
            if len(values) != len(originals):
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {len(originals)}. Got a sequence of "
                    f"length {len(values)}."
                )
            for place, (kept, new) in enumerate(zip(originals, values, strict=True)):
                self._check_new(place, kept, new)
            for kept, new in zip(originals, values, strict=True):
                kept.data = new.data

    def _check_new(self, place: int, kept: Tensor, new: object) -> None:
        if not isinstance(new, Carrier):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got element {place} of type {type(new).__name__}."
            )
        if new.dtype != kept.dtype:
            which, name = ("The tensor", "original") if self.is_tensor else (f"Tensor {place}", f"original{place}")
            raise ValueError(
                f"{which} returned by `right_inverse` has dtype {new.dtype} while `{name}` has dtype {kept.dtype}"
            )

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *rest = self._steps()
        made = first(*self._originals())
        for module in rest:
            made = module(made)
        return made


def _inverse(module: Module, value: Any) -> Any:
    """The right inverse of a module at a value; the value itself if the module does not define one."""
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _check_made(made: object, dtype: DType | None, shape: tuple[int, ...]) -> None:
    """Raise for a parametrization that changes the dtype or shape of the tensor."""
    if not isinstance(made, Carrier):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for name, before, after in (("dtype", dtype, made.dtype), ("shape", shape, tuple(made.shape))):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {name} of the tensor, unless `unsafe` flag is enabled."
                + _comparison(f"unparametrized {name}", before, f"parametrized {name}", after)
            )


# The classes of parametrized modules


def _property(name: str) -> property:
    def get(module: Module) -> Tensor:
        made, known = module.parametrizations[name], _cache.get()
        if known is None:
            return made()
        key = (id(module), name)
        if key not in known:
            known[key] = made()
        return known[key]

    def put(module: Module, value: Any) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, put)


def _refuse_state(module: Module) -> NoReturn:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, and load it into a "
        "module that is parametrized in the same way"
    )


def _copied(module: Module, memo: dict[int, Any]) -> Module:
    made = memo[id(module)] = module.__new__(type(module))
    made.__dict__ = deepcopy(module.__dict__, memo)
    return made


def _retype(module: Module, base: type, names: Sequence[str]) -> None:
    """Set the class of a module to one with these tensors parametrized, or to its own if there are none."""
    if not names:
        module.__class__ = base
        return
    members: dict[str, Any] = {name: _property(name) for name in names}
    members |= {"__getstate__": _refuse_state, "_parametrized": base, "__module__": base.__module__}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def register_parametrization(module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> M:
    """Parametrize a parameter or buffer of a module by `parametrization`; the module is returned.

    `module.<tensor_name>` is computed on access, and gradients flow to
    `module.parametrizations.<tensor_name>.original`. Where the parametrization has a `right_inverse`, a tensor can be
    assigned. A tensor can have several parametrizations, one after the other.

    Raises
    ------
    ValueError
        If there is no such tensor; if the parametrization changes its dtype or shape, unless `unsafe`.

    >>> import pullback
    >>> from pullback import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = nn.Linear(3, 3)
    >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module.parametrizations[tensor_name]
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        known.append(parametrization)
        known.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    base = type_before_parametrizations(module)
    if not is_parametrized(module):
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = made
    _retype(module, base, list(module.parametrizations))
    return module


def _check_further(module: Module, name: str, parametrization: Module) -> None:
    """Raise for a further parametrization that does not fit, before anything is changed."""
    before = getattr(module, name)
    made = parametrization(before)
    _check_made(made, before.dtype, tuple(before.shape))
    if hasattr(parametrization, "right_inverse"):
        back = parametrization.right_inverse(made)
        if not isinstance(back, Carrier):
            raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
        for what, wanted, given in (
            ("dtype", before.dtype, back.dtype),
            ("shape", tuple(before.shape), tuple(back.shape)),
        ):
            if wanted != given:
                raise ValueError(
                    f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                    "unless the `unsafe` flag is enabled."
                    + _comparison(f"module.{name}.{what}", wanted, f"returned {what}", given)
                )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """True if a module has a parametrization, of one tensor or of any.

    >>> from pullback import nn
    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
    >>> nn.utils.parametrize.is_parametrized(layer, "weight"), nn.utils.parametrize.is_parametrized(layer, "bias")
    (True, False)
    """
    known = module._modules.get("parametrizations")
    if not isinstance(known, ModuleDict):
        return False
    return len(known) > 0 if tensor_name is None else tensor_name in known


@restoring
def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a parametrized tensor a parameter or buffer again, with the value it has; the module is returned.

    With `leave_parametrized=False`, with the value of the original tensor.

    Raises
    ------
    ValueError
        If it is not parametrized; or was made of several tensors, with `leave_parametrized=False`.

    >>> from pullback import nn
    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
    >>> [name for name, _ in nn.utils.parametrize.remove_parametrizations(layer, "weight").named_parameters()]
    ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    made = module.parametrizations[tensor_name]
    if made.is_tensor:
        original = made.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).data
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    base = type_before_parametrizations(module)
    del module.parametrizations[tensor_name]
    _retype(module, base, list(module.parametrizations))
    _register(module, tensor_name, original)
    if not len(module.parametrizations):
        del module.parametrizations
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module before it was parametrized, or its class if it is not.

    >>> from pullback import nn
    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    >>> type(layer).__name__, nn.utils.parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return getattr(type(module), "_parametrized", type(module))


def transfer_parametrizations_and_params(from_module: Module, to_module: M, tensor_name: str | None = None) -> M:
    """Give a module the parametrizations of another, and what they make their tensors of; it is returned.

    Those of one tensor, or of all.
    """
    names = [tensor_name] if tensor_name is not None else list(getattr(from_module, "parametrizations", ()))
    for name in names:
        if not is_parametrized(from_module, name):
            continue
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        known = from_module.parametrizations[name]
        for step in known._steps():
            register_parametrization(to_module, name, step, unsafe=known.unsafe)
        for key, original in [(k, t) for place in (known._parameters, known._buffers) for k, t in place.items()]:
            setattr(to_module.parametrizations[name], key, original)
    return to_module
