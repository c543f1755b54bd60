"""The parameters of a module as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..._core.primitives import Carrier
from ...vocabulary.shapes import cat
from ..modules.members import type_name

if TYPE_CHECKING:
    from ..._core.typing import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of some parameters, concatenated to one vector; the operation is recorded.

    >>> from pullback import nn
    >>> nn.utils.parameters_to_vector(nn.Linear(2, 3).parameters()).shape
    pullback.Size([9])
    """
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the values of a vector, as `parameters_to_vector` made it: each becomes a view of its part.

    Raises
    ------
    TypeError
        If `vec` is not a tensor.
    RuntimeError
        If it has not as many elements as the parameters together.

    >>> import pullback
    >>> from pullback import nn
    >>> layer = nn.Linear(2, 1)
    >>> nn.utils.vector_to_parameters(pullback.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight
    Parameter containing:
    tensor([[1., 2.]], requires_grad=True)
    """
    if not isinstance(vec, Carrier):
        raise TypeError(f"expected torch.Tensor, but got: {type_name(vec)}")
    listed = list(parameters)
    total = sum(parameter.numel() for parameter in listed)
    if vec.ndim != 1 or vec.numel() != total:
        raise RuntimeError(
            f"vector_to_parameters: a vector of {total} elements is needed for these parameters, got shape "
            f"{tuple(vec.shape)}"
        )
    pieces = vec.split([parameter.numel() for parameter in listed])
    for parameter, piece in zip(listed, pieces, strict=True):
        parameter.data = piece.reshape(parameter.shape).data
