"""What is shown of a tensor: its text, and the table that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import dtypes
from .._core.lazy import provider
from .._core.values import shared
from .._numerics.printing import format_tensor
from .._numerics.tables import to_html

if TYPE_CHECKING:
    from .tensor import Tensor


def text(tensor: Tensor) -> str:
    """The text of a tensor, as torch has it: `tensor([1., 2.], requires_grad=True)`."""
    suffixes = []
    shows_its_kind = tensor.numel() > 0 and tensor.dtype in (dtypes.default_complex(), dtypes.int64, dtypes.bool_)
    if not shows_its_kind and tensor.dtype != dtypes.get_default_dtype():
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes += _history(tensor)
    role, prefix = tensor._role, "tensor(" if _is_plain(tensor) else f"{type(tensor).__name__}("
    return ("" if role is None else role.heading) + format_tensor(tensor._array, suffixes=suffixes, prefix=prefix)


def _repr_html_(input: Tensor) -> str | None:
    """The table that notebooks show: numbers, and a caption with dtype, shape and history; None for tensors of a subclass.

    >>> import pullback
    >>> pullback.tensor([1, 2])._repr_html_()
    '<table><caption>int64, shape (2,)</caption><tr><td>1</td><td>2</td></tr></table>'
    """
    array = shared(input)
    if array is None or not _is_plain(input):
        return None
    return to_html(array, ", ".join([input.dtype.numpy.name, f"shape {tuple(input.shape)}", *_history(input)]))


def _is_plain(tensor: Tensor) -> bool:
    """Whether a tensor is of no class of a user."""
    return type(tensor) is provider("plain tensors").Tensor or tensor._role is not None


def _history(tensor: Tensor) -> list[str]:
    """What is said of where a tensor comes from."""
    if tensor.grad_fn is not None:
        return [f"grad_fn=<{tensor.grad_fn.title}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []
