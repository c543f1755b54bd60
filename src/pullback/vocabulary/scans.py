"""Scans and differences along an axis: cumulative products and extremes, differences, gradients and integrals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .._core import dtypes
from .._core.primitives import Carrier
from .._core.shapes import normalize_axes, normalize_axis
from .._core.values import require_tensor, require_tensors
from . import arithmetic, bits, of_tensor, reductions, shapes
from .indexing import getitem
from .promotion import cast
from .reductions import scanned
from .sorting import Selection, alone, gathered

if TYPE_CHECKING:
    from .._core.typing import Dim, DType, Tensor


def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The cumulative product along a dim; of integers and bools in int64.

    >>> import pullback
    >>> pullback.cumprod(pullback.tensor([1.0, 2.0, 3.0, 4.0]), dim=0)
    tensor([ 1.,  2.,  6., 24.])
    """
    input = scanned("cumprod", input, dtype)
    place = normalize_axis(dim, input.ndim, "cumprod")
    return ops.cumprod(input, axis=place, exclusive=False) if input.ndim else input.clone()


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """log(cumsum(exp(input))) along a dim, without overflow.

    >>> import pullback
    >>> pullback.logcumsumexp(pullback.tensor([1000.0, 1000.0]), dim=0)
    tensor([1000.0000, 1000.6932])
    """
    place = normalize_axis(dim, input.ndim, "logcumsumexp")
    if input._dtype.kind not in "fc":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{input._type_name}': x.float() first")
    return ops.logcumsumexp(input, axis=place) if input.ndim else input.clone()


def cummax(input: Tensor, dim: int) -> Selection:
    """The cumulative maximum along a dim and its index, the last of equal ones: (values, indices).

    >>> import pullback
    >>> pullback.cummax(pullback.tensor([1, 3, 2, 3]), dim=0)
    Selection(values=tensor([1, 3, 3, 3]), indices=tensor([0, 1, 1, 3]))
    """
    return _running("cummax", input, dim, largest=True)


def cummin(input: Tensor, dim: int) -> Selection:
    """The cumulative minimum along a dim and its index, the last of equal ones: (values, indices).

    >>> import pullback
    >>> pullback.cummin(pullback.tensor([3, 1, 2, 1]), dim=0)
    Selection(values=tensor([3, 1, 1, 1]), indices=tensor([0, 1, 1, 3]))
    """
    return _running("cummin", input, dim, largest=False)


def _running(name: str, input: Tensor, dim: int, *, largest: bool) -> Selection:
    place = normalize_axis(dim, input.ndim, name)
    arithmetic.refuse_unordered(name, input._dtype)
    if not input.ndim:
        return alone(input)
    return gathered(input, ops.arglast(input, axis=place, largest=largest), place, f"{name.title()}Backward0")


def _part(input: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    return getitem(input, (*(slice(None),) * axis, slice(start, stop)))


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbors along a dim, n times; `prepend` and `append` are first joined to the input.

    Parameters
    ----------
    n
        How often.
    prepend
        What is put before the axis first.
    append
        What is put behind it first.

    >>> import pullback
    >>> pullback.diff(pullback.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    place = normalize_axis(dim, input.ndim, "diff")
    for argument, position, value in (("prepend", 4, prepend), ("append", 5, append)):
        if value is not None:
            require_tensor("diff", argument, value, position)
    if n and (prepend is not None or append is not None):
        input = shapes.cat([part for part in (prepend, input, append) if part is not None], place)
    subtract = bits.logical_xor if input._dtype.kind == "b" else arithmetic.sub
    result = input if n else input.clone()
    for _ in range(min(n, input.shape[place])):
        result = subtract(_part(result, place, 1, None), _part(result, place, None, -1))
    return result


@of_tensor
def gradient(input: Tensor, *, spacing: Any = 1, dim: Dim = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimates of the derivative along each dim, by central differences inside and one-sided ones at the edges.

    `spacing` is the distance of neighbors: one number, one for each dim, or a 1-d tensor of coordinates for each dim.

    Parameters
    ----------
    spacing
        The distance of points: one, one for each axis, or the points themselves.
    edge_order
        1 or 2: of the differences at the ends.

    >>> import pullback
    >>> pullback.gradient(pullback.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)
    """
    axes = normalize_axes(dim, input.ndim, "gradient")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    spacings = [1 if spacing is None else spacing] * len(axes)
    if isinstance(spacing, list | tuple):
        spacings = list(spacing)
        if len(spacings) != len(axes):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or a list of length equal to 'self.dim() - "
                f"1', got a list of length {len(spacings)} for {len(axes)} dims"
            )
    if getattr(spacing, "ndim", 0):
        raise TypeError(
            "gradient() received an invalid combination of arguments: spacing is a number, or a list with a number or a "
            f"1-d tensor for each dim, not {type(spacing).__name__} of shape {tuple(spacing.shape)}. Coordinates are given "
            "as [tensor]"
        )
    for place, given in enumerate(spacings):
        if getattr(given, "ndim", 0) and not isinstance(given, Carrier):
            raise TypeError(
                f"gradient(): expected Tensor as element {place} in spacing, but got {type(given).__name__}"
            )
    for axis in axes:
        if input.shape[axis] <= edge_order:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1: shape "
                f"{tuple(input.shape)}, edge_order {edge_order}"
            )
    return tuple([_slope(input, axis, h, edge_order) for axis, h in zip(axes, spacings, strict=True)])


def _slope(input: Tensor, axis: int, spacing: Any, edge_order: int) -> Tensor:
    """The estimates along one axis: the slope of a parabola through three neighbors, or of a line at the edges."""
    weight: Any = 0.5  # weight of the difference after an element
    if getattr(spacing, "ndim", 0):
        if tuple(spacing.shape) != (input.shape[axis],):
            raise RuntimeError(
                f"torch.gradient expected coordinates of dim {axis} to be a 1-d tensor of {input.shape[axis]} elements, "
                f"not of shape {tuple(spacing.shape)}"
            )
        spacing = shapes.reshape(diff(spacing), -1, *[1] * (input.ndim - axis - 1))
        before = _part(spacing, 0, None, -1)
        weight = arithmetic.div(before, arithmetic.add(before, _part(spacing, 0, 1, None)))
    rises = arithmetic.div(diff(input, dim=axis), spacing)
    bends = diff(rises, dim=axis)
    if isinstance(weight, float):  # the element itself does not occur, so it may be infinite
        apart = arithmetic.sub(_part(input, axis, 2, None), _part(input, axis, None, -2))
        inner = arithmetic.div(apart, 2 * spacing)
    else:
        inner = arithmetic.add(_part(rises, axis, None, -1), arithmetic.mul(bends, weight))
    first, last = _part(rises, axis, 0, 1), _part(rises, axis, -1, None)
    if edge_order == 2:
        ends = [weight, weight] if isinstance(weight, float) else [_part(weight, 0, 0, 1), _part(weight, 0, -1, None)]
        first = arithmetic.sub(first, arithmetic.mul(_part(bends, axis, 0, 1), ends[0]))
        last = arithmetic.add(last, arithmetic.mul(_part(bends, axis, -1, None), 1 - ends[1]))
    return shapes.cat([first, inner, last], axis)


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral along a dim by the trapezoidal rule, for points at coordinates x or at a distance dx.

    Parameters
    ----------
    y
        The values.
    x
        The points.
    dx
        The distance of points, where they are not given.

    >>> import pullback
    >>> pullback.trapezoid(pullback.tensor([1.0, 5.0, 10.0]), dx=2)
    tensor(21.)
    """
    return reductions.sum(_trapezoids("trapezoid", y, x, dx, dim), dim)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The cumulative integral along a dim by the trapezoidal rule; arguments as for `trapezoid`.

    Arguments as for `trapezoid`.

    >>> import pullback
    >>> pullback.cumulative_trapezoid(pullback.tensor([0.0, 2.0, 4.0]))
    tensor([1., 4.])
    """
    return reductions.cumsum(_trapezoids("cumulative_trapezoid", y, x, dx, dim), dim)


def _trapezoids(name: str, y: Tensor, x: Tensor | None, dx: float, dim: int) -> Tensor:
    """The areas of the trapezoids between neighbors."""
    require_tensors(name, y=y, **({} if x is None else {"x": x}))
    if not y.ndim:
        raise IndexError(f"{name}(): Dimension specified as {dim} but tensor has no dimensions")
    place = normalize_axis(dim, y.ndim, name)
    if "b" in (y._dtype.kind, None if x is None else x._dtype.kind):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if y._dtype.kind in "iu":  # whose sums may be out of range
        y = cast(y, dtypes.default_numpy())
    heights = arithmetic.add(_part(y, place, 1, None), _part(y, place, None, -1))
    widths: Tensor | float = dx
    if x is not None:
        along = 0 if x.ndim == 1 else normalize_axis(place - y.ndim, x.ndim, name)
        if x.ndim == 1 and x.shape[0] != y.shape[place]:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point: {x.shape[0]} for {y.shape[place]} points"
            )
        apart = diff(x, dim=along)
        widths = shapes.reshape(apart, -1, *[1] * (y.ndim - place - 1)) if x.ndim == 1 else apart
    return arithmetic.div(arithmetic.mul(heights, widths), 2.0)
