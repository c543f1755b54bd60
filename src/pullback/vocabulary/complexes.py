"""Complex numbers: parts, absolute values and angles, and views as pairs of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.values import require_tensor, require_tensors
from .._tape.views import view
from .arithmetic import elementwise, sign
from .promotion import broadcast, cast

if TYPE_CHECKING:
    from .._core.typing import Tensor


@elementwise(ops.angle)
def angle(input: Tensor) -> Tensor:
    """The angle of complex numbers; pi for negative real ones, 0 for others.

    >>> import pullback
    >>> pullback.angle(pullback.tensor([-1.0, 2.0]))
    tensor([3.1416, 0.0000])
    """


def _is_complex(name: str, input: Tensor) -> bool:
    require_tensor(name, "input", input)
    return bool(input._dtype.kind == "c")


def sgn(input: Tensor) -> Tensor:
    """input / abs(input), for complex numbers too; 0 at 0.

    >>> import pullback
    >>> pullback.sgn(pullback.tensor([3 + 4j, 0j]))
    tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    return ops.sgn(input) if _is_complex("sgn", input) else sign(input)


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is returned unchanged.

    >>> import pullback
    >>> pullback.conj(pullback.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return ops.conj(input) if _is_complex("conj", input) else input


def is_conj(input: Tensor) -> bool:
    """False: conjugation is never lazy here.

    >>> import pullback
    >>> pullback.is_conj(pullback.tensor([1 + 2j]).conj())
    False
    """
    return False


def is_neg(input: Tensor) -> bool:
    """False: negation is never lazy here.

    >>> import pullback
    >>> pullback.is_neg(-pullback.tensor([1.0]))
    False
    """
    return False


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugation is never lazy here.

    >>> import pullback
    >>> pullback.resolve_conj(pullback.tensor([1 + 2j]))
    tensor([1.+2.j])
    """
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negation is never lazy here.

    >>> import pullback
    >>> pullback.resolve_neg(pullback.tensor([1.0]))
    tensor([1.])
    """
    return input


def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor itself.

    >>> import pullback
    >>> z = pullback.tensor([1 + 2j, 3 - 1j])
    >>> pullback.real(z), z.imag
    (tensor([1., 3.]), tensor([ 2., -1.]))
    """
    return view(ops.real, input, source=input._dtype) if _is_complex("real", input) else input


def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view.

    >>> import pullback
    >>> pullback.imag(pullback.tensor([1 + 2j, 3 - 4j]))
    tensor([ 2., -4.])
    """
    if not _is_complex("imag", input):
        raise RuntimeError(f"imag is not implemented for tensors with non-complex dtypes: this one is {input.dtype}")
    return view(ops.imag, input, source=input._dtype)


def view_as_real(input: Tensor) -> Tensor:
    """A real view of a complex tensor, with real and imaginary parts along a new last axis.

    >>> import pullback
    >>> pullback.view_as_real(pullback.tensor([1 + 2j, 3 - 1j]))
    tensor([[ 1.,  2.],
            [ 3., -1.]])
    """
    if not _is_complex("view_as_real", input):
        raise RuntimeError(f"view_as_real is only supported for complex tensors: this one is {input.dtype}")
    return view(ops.view_as_real, input, source=input._dtype)


def view_as_complex(input: Tensor) -> Tensor:
    """A complex view of a real tensor whose last axis holds pairs of real and imaginary parts.

    >>> import pullback
    >>> pullback.view_as_complex(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1.+2.j, 3.+4.j])
    """
    if _is_complex("view_as_complex", input) or input._dtype.name not in ("float32", "float64"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{input._type_name}{', of which NumPy has no complex numbers' * (input._dtype.kind == 'f')}"
        )
    if not input.ndim or input.shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2: this one has shape {tuple(input.shape)}")
    steps = input.stride()
    if steps[-1] != 1 and input.numel():
        raise RuntimeError("Tensor must have a last dimension with stride 1: call .contiguous() first")
    if any(step % 2 for step, length in zip(steps[:-1], input.shape, strict=False) if length > 1) and input.numel():
        raise RuntimeError(
            f"Tensor must have a stride divisible by 2 for all but last dimension: the strides are {steps}"
        )
    return view(ops.view_as_complex, input, source=input._dtype)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """The complex numbers with these real and imaginary parts.

    Parameters
    ----------
    real
        The real parts.
    imag
        The imaginary parts.

    >>> import pullback
    >>> pullback.complex(pullback.tensor([1.0, 2.0]), pullback.tensor([0.5, -1.0]))
    tensor([1.+0.5000j, 2.-1.0000j])
    """
    return broadcast(ops.complex_of, *_parts("complex", real=real, imag=imag))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex numbers with these absolute values and angles.

    Parameters
    ----------
    abs
        The absolute values.
    angle
        The angles.

    >>> import pullback
    >>> pullback.polar(pullback.tensor([2.0]), pullback.tensor([0.0]))
    tensor([2.+0.j])
    """
    length, direction = _parts("polar", abs=abs, angle=angle)
    return broadcast(ops.complex_of, length * ops.cos(direction), length * ops.sin(direction))


def _parts(name: str, **arguments: Any) -> list[Any]:
    """Two real tensors of one dtype that has a complex counterpart; otherwise an error."""
    require_tensors(name, **arguments)
    first, second = (value._dtype for value in arguments.values())
    types = [dtypes.type_name(dtypes.from_numpy(dtype)) for dtype in (first, second)]
    if first.kind != "f" or second.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {types[0]} and {types[1]}"
        )
    if first != second:
        raise RuntimeError(
            f"Expected object of scalar type {types[0]} but got scalar type {types[1]} for second argument"
        )
    single = np.dtype(np.float32)
    return [cast(value, single) if first.itemsize < 4 else value for value in arguments.values()]
