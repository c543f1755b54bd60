"""Dual tensors: explicit forward mode with torch.autograd.forward_ad's functions.

Inside a `dual_level` a tensor may carry a tangent, which every operation pushes forwards; outside, a dual tensor is its
primal. Reverse mode works as usual beneath: primals and tangents are tracked like other tensors, so the gradient of a
tangent, or the tangent of a gradient, is a second derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import ops
from .._core.errors import kind
from .._core.modes import dual
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .._tape import backward as _backward
from .._tape.views import steps
from ..func import levels
from ..func.forward import DualTensor, Forward

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor


class UnpackedDualTensor(NamedTuple):
    """A primal and its tangent; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


class _Dual(DualTensor):
    __slots__ = ()

    def backward(self, *args: Any, **options: Any) -> None:
        """The backward pass of the primal."""
        self._array.backward(*args, **options)

    def numpy(self, *, force: bool = False) -> Array:
        """The values of the primal, once the level has been left."""
        if self.interpreter.entered:
            return super().numpy(force=force)
        settle(self)
        return self.numpy(force=force)


def settle(tensor: Tensor) -> None:
    """Turn a dual tensor whose level has been left into its primal, in place, with all that are views of the same."""
    base = tensor if tensor._base is None else tensor._base
    for each in (base, *(base._storage.tensors() if base._storage is not None else ())):
        if type(each) is _Dual and (each is base or each._base is base):
            primal: Any = (
                levels.tensor_of(each._array).clone() if each is base else ops.replay(base, path=steps(each._path))
            )
            each.__class__ = type(primal)
            each._array, each._node, each._cell = primal._array, primal._node, None
            for name in _Dual._held:
                del vars(each)[name]


class _Level(Forward):
    """The interpreter of dual tensors; once the level has been left, they are their primals."""

    carrier = _Dual
    takes_old_form = True  # functions whose forward takes ctx are supported
    way_out = "Write y = make_dual(x, zeros_like(x)) first."

    def _values(self) -> dict[Any, Any]:
        return {**super()._values(), dual: self}

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor created inside, unchanged: it outlives the level."""
        return made

    def enlist(self, tensor: Tensor) -> Tensor:
        """A tensor that will be its primal again once the level has been left."""
        return super().adopt(tensor)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The operation and its derivative; the operation on primals alone once the level has been left."""
        if not self.entered:
            for arg in filter(self.holds, args):
                settle(arg)
            return primitive(*args, **params)
        return super().process(primitive, args, params)

    def grad(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], cotangents: Sequence[Tensor | None], **options: Any
    ) -> tuple[Tensor | None, ...]:
        """Gradients with their tangents: the tangent of a gradient is the gradient of the tangent."""
        options["retain_graph"] = True
        primals, targets = [self.unbox(y) for y in outputs], [self.unbox(x) for x in inputs]
        given = [None if g is None else self.unbox(g) for g in cotangents]
        gradients = _backward.grad(primals, targets, given, **options)
        moved: list[Tensor | None] = [None] * len(targets)
        for y, g in zip(outputs, cotangents, strict=True):
            for of, by in ((self.tangent(y), g), (self.unbox(y), self.tangent(g))):
                if not isinstance(of, Carrier) or of._node is None or (by is None and of is not self.tangent(y)):
                    continue
                start = None if by is None else self.unbox(by)
                parts = _backward.grad([of], targets, [start], **{**options, "allow_unused": True})
                moved = [
                    part if old is None else old if part is None else old + part
                    for old, part in zip(moved, parts, strict=True)
                ]
        return tuple(g if g is None or t is None else self.dual(g, t) for g, t in zip(gradients, moved, strict=True))


def enter_dual_level() -> int:
    """Enter the level on which tensors may carry tangents; returns its number, always 0.

    Raises
    ------
    RuntimeError
        If a level has already been entered.

    >>> from pullback.autograd import forward_ad
    >>> forward_ad.enter_dual_level()
    0
    >>> forward_ad.exit_dual_level()
    """
    if dual.get() is not None:
        raise RuntimeError(
            f"Nested forward mode AD is not supported at the moment: use {package}.func.jvp, which nests"
        )
    _Level().__enter__()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level; from then on dual tensors are their primals.

    Raises
    ------
    RuntimeError
        If no level has been entered, or `level` is not its number.

    >>> from pullback import tensor
    >>> from pullback.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> x = forward_ad.make_dual(tensor(3.0), tensor(1.0))
    >>> forward_ad.exit_dual_level()
    >>> forward_ad.unpack_dual(x).tangent is None
    True
    """
    forward = dual.get()
    if forward is None:
        raise RuntimeError("Dual level must be a positive number: no level has been entered.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported: the "
            f"level is 0, not {level}"
        )
    forward.__exit__(None, None, None)


class dual_level:
    """A block in which tensors may carry tangents.

    >>> import pullback
    >>> from pullback.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 10.0]))
    ...     forward_ad.unpack_dual(x * x).tangent
    tensor([ 2., 40.])
    """

    def __enter__(self) -> int:
        before = dual.get()
        try:
            level = enter_dual_level()
            return level  # noqa: RET504, TRY300  # what comes after the call is inside, too
        except BaseException:  # the handler of a signal may raise it when the level has been entered
            if before is None and dual.get() is not None:
                exit_dual_level()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            exit_dual_level()
        finally:
            if dual.get() is not None:  # that was interrupted
                exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor that carries a tangent of its shape; both remain tracked as before.

    Raises
    ------
    RuntimeError
        If no level has been entered, the shapes differ, or the tensor already carries a tangent.
    ValueError
        If one of them holds integers.
    AttributeError
        If one of them is not a tensor.

    >>> from pullback import tensor
    >>> from pullback.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(tensor(3.0), tensor(1.0))
    ...     forward_ad.unpack_dual(x * x).tangent
    tensor(6.)
    """
    forward = dual.get()
    if forward is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if forward.tangent(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported: unpack_dual it first."
        )
    if tuple(tangent.shape) != tuple(tensor.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}: the primal is a {kind(tensor)}."
        )
    if tangent._dtype != tensor._dtype:
        tangent = ops.astype(tangent, dtype=tensor._dtype, source=tangent._dtype)
    return forward.dual(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor; the tangent is None if there is none, or the level has been left.

    >>> from pullback import tensor
    >>> from pullback.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     forward_ad.unpack_dual(forward_ad.make_dual(tensor(3.0), tensor(10.0)))
    UnpackedDualTensor(primal=tensor(3.), tangent=tensor(10.))
    """
    interpreter = getattr(tensor, "interpreter", None)
    if not isinstance(interpreter, _Level):
        return UnpackedDualTensor(tensor, None)
    tangent = tensor.tangent if interpreter.entered else None
    return UnpackedDualTensor(tensor._array, tangent)
