"""Limits on the size of gradients: Pascanu, Mikolov and Bengio, On the difficulty of training RNNs, 2013."""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, TypeAlias

from ..._core.modes import no_grad
from ..._core.sites import warn
from ..._tensor.creation import tensor
from ..._tensor.tensor import Tensor
from ...vocabulary.arithmetic import clamp
from ...vocabulary.norms import vector_norm
from ...vocabulary.shapes import stack

if TYPE_CHECKING:
    from collections.abc import Iterable


Tensors: TypeAlias = "Tensor | Iterable[Tensor]"


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensors) -> list[Tensor]:
    return [parameter.grad for parameter in _listed(parameters) if parameter.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of several tensors concatenated to one vector; `foreach` is accepted, without effect.

    Raises
    ------
    RuntimeError
        If it is infinite or NaN, and `error_if_nonfinite`.

    >>> import pullback
    >>> pullback.nn.utils.get_total_norm([pullback.tensor([3.0]), pullback.tensor([4.0])])
    tensor(5.)
    """
    norms = [vector_norm(each, float(norm_type)) for each in _listed(tensors)]
    total = vector_norm(stack(norms), float(norm_type)) if norms else tensor(0.0)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients of parameters in place, by their given total norm, so that it becomes at most `max_norm`.

    >>> import pullback
    >>> w = pullback.tensor([0.0, 0.0], requires_grad=True)
    >>> w.grad = pullback.tensor([3.0, 4.0])
    >>> pullback.nn.utils.clip_grads_with_norm_([w], 1.0, total_norm=pullback.tensor(10.0))
    >>> w.grad
    tensor([0.3000, 0.4000])
    """
    factor = clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(factor)


@no_grad()
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of parameters in place so that their norm, taken together, is at most `max_norm`.

    The norm before that is returned. `foreach` is accepted, and changes nothing.

    Raises
    ------
    RuntimeError
        If the norm is infinite or NaN, and `error_if_nonfinite`.

    >>> import pullback
    >>> w = pullback.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> pullback.nn.utils.clip_grad_norm_(w, max_norm=1.0)
    tensor(10.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    listed = _listed(parameters)
    if isinstance(parameters, GeneratorType) and not listed:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """`clip_grad_norm_` under its older name."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp the gradients of parameters, elementwise and in place, to [-clip_value, clip_value].

    >>> import pullback
    >>> w = pullback.tensor([3.0, 0.1], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> pullback.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([1.0000, 0.2000])
    """
    bound = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.clamp_(-bound, bound)
