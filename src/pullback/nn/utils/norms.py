"""torch's deprecated functions to normalize weights: hooks that compute a weight before each call of its module.

`parametrizations` has their replacements, which the warnings name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..._core.modes import no_grad, restoring
from ..._core.sites import warn
from ..._tensor.sampling import randn
from .. import functional as F
from ..parameter import Parameter
from .parametrizations import TRANSPOSED, as_matrix, check_iterations, norm_except

if TYPE_CHECKING:
    from ..._core.typing import Tensor
    from ..modules.module import Module

M = TypeVar("M", bound="Module")


class WeightNorm:
    """A hook that computes a weight from its norms and its direction."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight."""
        norms, direction = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return direction * (norms / norm_except(direction, self.dim))

    def start(self, module: Module) -> None:
        """Replace the parameter by its norms and its direction."""
        weight = getattr(module, self.name)
        delattr(module, self.name)
        module.register_parameter(f"{self.name}_g", Parameter(norm_except(weight.detach(), self.dim)))
        module.register_parameter(f"{self.name}_v", Parameter(weight.data))
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module: Module) -> None:
        """Replace the two by an ordinary parameter again."""
        weight = self.compute_weight(module)
        for name in (self.name, f"{self.name}_g", f"{self.name}_v"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: object) -> None:
        """Compute the weight, before a call of its module."""
        setattr(module, self.name, self.compute_weight(module))


class SpectralNorm:
    """A hook that divides a weight by its spectral norm, as estimated by power iteration."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        check_iterations(n_power_iterations, 1)
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    @restoring
    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight, after power iterations if requested."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.mT.mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def start(self, module: Module) -> None:
        """Replace the parameter by one of another name, and add buffers for the power iteration."""
        weight = module._parameters[self.name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{self.name}` is None")
        delattr(module, self.name)
        module.register_parameter(f"{self.name}_orig", weight)
        setattr(module, self.name, weight.data)
        for end, size in zip(("_u", "_v"), as_matrix(weight, self.dim).shape, strict=True):
            made = F.normalize(randn(size, dtype=weight.dtype), dim=0, eps=self.eps)
            module.register_buffer(self.name + end, made)

    @restoring
    def remove(self, module: Module) -> None:
        """Replace them by an ordinary parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: object) -> None:
        """Compute the weight, before a call of its module."""
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def _register(module: M, hook: WeightNorm | SpectralNorm, noun: str) -> M:
    for other in module._forward_pre_hooks.values():
        if isinstance(other, (WeightNorm, SpectralNorm)) and type(other) is type(hook) and other.name == hook.name:
            raise RuntimeError(f"Cannot register two {noun} hooks on the same parameter {hook.name}")
    hook.start(module)
    module.register_forward_pre_hook(hook)
    return module


def _remove(module: M, kind: type, name: str, noun: str) -> M:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, (WeightNorm, SpectralNorm)) and type(hook) is kind and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{noun} of '{name}' not found in {module}")


def _warn(name: str) -> None:
    warn(f"`torch.nn.utils.{name}` is deprecated in favor of `torch.nn.utils.parametrizations.{name}`.", FutureWarning)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """torch's old way to make a weight the product of `<name>_g`, its norms, and `<name>_v`, its direction; warns.

    Raises
    ------
    RuntimeError
        If it is done already.
    """
    _warn("weight_norm")
    return _register(module, WeightNorm(name, dim), "weight_norm")


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`: one parameter instead of two.

    Raises
    ------
    ValueError
        If `weight_norm` was not applied.
    """
    return _remove(module, WeightNorm, name, "weight_norm")


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """torch's old way to divide a weight by its spectral norm, before each call of the module.

    Raises
    ------
    RuntimeError
        If it is done already.
    ValueError
        If the parameter is None, or `n_power_iterations` not above 0.
    """
    rows = int(isinstance(module, TRANSPOSED)) if dim is None else dim
    return _register(module, SpectralNorm(name, n_power_iterations, rows, eps), "spectral_norm")


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make what `spectral_norm` divides a parameter again, as it is.

    Raises
    ------
    ValueError
        If it is not divided.
    """
    return _remove(module, SpectralNorm, name, "spectral_norm")
