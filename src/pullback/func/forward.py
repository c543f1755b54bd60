"""Forward mode: jvp and linearize, on values that carry their tangents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.modes import restoring
from .._core.primitives import Carrier, Function, Primitive
from .._core.trees import Structure, flatten, mapped, paths, unflatten
from ..interpreters import Interpreter
from .levels import INTEGERS, Following, Level, beside, inner, output_leaves, rewritten, tensor_of, tensors
from .pushforwards import dtype_of, pushforward
from .reverse import split, tracked

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Params, Result, Returned, Tensor, Value


class DualTensor(Following):
    """A value with its tangent; the tangent is None if the value does not depend on the primals."""

    __slots__ = ()

    tangent: Value | None
    _held = (*Following._held, "tangent")
    _follows = "tangent"
    _histories = ("tangent",)

    def __repr__(self) -> str:
        primal = repr(tensor_of(self._array))
        return (
            primal
            if self.tangent is None or not self.interpreter.entered
            else f"{primal[:-1]}, tangent={tensor_of(self.tangent)!r})"
        )


class Forward(Interpreter):
    """The interpreter that pushes tangents forwards through every operation, whatever the grad mode."""

    carrier = DualTensor

    def dual(self, primal: Result, tangent: Any) -> Any:
        """A value with a tangent; for tuples, element by element."""
        if type(primal) is tuple:
            tangents = (None,) * len(primal) if tangent is None else tangent
            return tuple(map(self.dual, primal, tangents))
        boxed = self.box(primal)
        boxed.tangent = tangent
        return boxed

    def box(self, value: object) -> Any:
        """A value without a tangent."""
        boxed = super().box(value)
        for piece in boxed if type(boxed) is tuple else (boxed,):
            piece.tangent = None
        return boxed

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of this level without a tangent, so that a value with one can be written to it."""
        return self.box(inner(made))

    def tangent(self, value: object) -> Value | None:
        """The tangent of a value; None for a value of another level."""
        return value.tangent if self.holds(value) else None

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on the values, and its derivative on their tangents."""
        primals, tangents = [], []
        known = False
        for arg in args:
            tangent = None
            if isinstance(arg, Carrier) and arg.interpreter is self:
                primals.append(arg._array)
                tangent = arg.tangent
                known = known or tangent is not None
            else:
                primals.append(inner(arg))
            tangents.append(tangent)
        y = as_arrays(primitive(*primals, **params))
        if not (known and primitive.differentiable and is_moving(y)):
            return self.box(y)
        return self.dual(y, as_arrays(pushforward(primitive, primals, tangents, y, params)))


def as_arrays(value: Any) -> Any:
    """A value whose NumPy scalars are replaced by arrays."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def is_moving(y: Result) -> bool:
    """True if a result's dtype is real or complex floating point, so that it can have a tangent."""
    return any(dtype_of(piece).kind in "fc" for piece in y) if isinstance(y, tuple) else dtype_of(y).kind in "fc"


@restoring
def _tangent_of(forward: Forward, result: Tensor, strict: bool) -> Tensor:
    """The tangent of an output; zeros if it depends on no input, which `strict` refuses."""
    tangent = forward.tangent(result)
    if tangent is None and strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
            "allowed with strict=True."
        )
    return tensor_of(np.zeros(tuple(result.shape), result._dtype) if tangent is None else tangent)


def jvp(
    f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False, has_aux: bool = False
) -> Any:
    """f(*primals), and the derivative of f at the primals in the direction of the tangents.

    Both are tuples of the same structure; a tangent has its primal's shape. Returns (outputs, tangents), and with
    `has_aux` (outputs, tangents, aux). An output that does not depend on the primals has tangent zero; with `strict` it
    is refused. Nothing is recorded: memory does not grow with the length of the computation.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.
    primals, tangents
        The arguments, and the direction, in tuples.
    strict
        Refuse results that do not depend on the arguments.
    has_aux
        The function returns a pair: its result, and something that is passed on as it is.

    Raises
    ------
    RuntimeError
        If primals and tangents do not match, or f does not return tensors.

    >>> import pullback
    >>> pullback.func.jvp(lambda x: x * x, (pullback.tensor([1.0, 2.0]),), (pullback.tensor([1.0, 10.0]),))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    name = "jvp(f, primals, tangents)"
    leaves, moves, structure = fitting(name, tensors(primals), tangents)
    forward = Forward()
    boxes = partial(map, lambda leaf, move: forward.dual(inner(leaf), inner(move)), leaves, moves)

    def call(duals: list[Tensor]) -> tuple[Any, object]:
        outputs, aux = split(f(*unflatten(structure, duals)), has_aux, name)
        return output_leaves(outputs, name), aux

    (results, nested), aux, lowered = applied(forward, boxes, call, leaves, [*leaves, *moves])
    pushed = [beside(_tangent_of(forward, result, strict), [*leaves, *moves]) for result in results]
    answer = unflatten(nested, list(map(lowered, results))), unflatten(nested, pushed)
    return (*answer, mapped(lowered, aux)) if has_aux else answer


def applied(
    interpreter: Interpreter,
    boxes: Callable[[], Iterable[Tensor]],
    call: Callable[[list[Tensor]], tuple[Returned, object]],
    leaves: Sequence[Tensor],
    given: Sequence[Tensor],
) -> tuple[Returned, object, Callable[[object], Any]]:
    """What a call gives for arguments that it gets from an interpreter, and a function that shows values outside of that.

    What the call writes to its arguments is written to `leaves`. Results may share memory with `given` tensors.
    """
    with interpreter:
        boxed = list(boxes())
        before = [value._array for value in boxed]
        outputs, aux = call(boxed)
    written = {
        id(value): leaf.copy_(tensor_of(value._array))
        for leaf, value, old in zip(leaves, boxed, before, strict=True)
        if rewritten(value, old)
    }

    def lowered(value: object) -> Any:
        found = written.get(id(value))
        return beside(tensor_of(interpreter.unbox(value)), given) if found is None else found

    return outputs, aux, lowered


@restoring
def linearize(f: Callable[..., Returned], *primals: object) -> tuple[Returned, Callable[..., Returned]]:
    """f(*primals), and f's derivative there as a function of tangents, which does not run f again.

    Returns (outputs, jvp_fn); jvp_fn takes one tangent for each primal, of its shape, and returns one for each output.
    Since f runs once in reverse mode, `no_grad` and hooks inside f take effect, which `jvp` ignores.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.

    >>> import pullback
    >>> y, push = pullback.func.linearize(lambda x: x * x, pullback.tensor([1.0, 2.0]))
    >>> push(pullback.tensor([1.0, 10.0]))
    tensor([ 2., 40.])
    """
    primals = tensors(primals)
    with Level() as level:
        given, variables, _ = tracked(level, primals, range(len(primals)))
        leaves, nested = output_leaves(f(*given), "linearize(f, *primals)")
    with Level() as transposing:  # the pullback is linear: its pullback is f's derivative
        zeros = [tensor_of(np.zeros(tuple(leaf.shape), leaf._dtype)) for leaf in leaves]
        cotangents = [transposing.variable(zero) if zero._dtype.kind in "fc" else zero for zero in zeros]
        pulled = level.pull(leaves, cotangents, variables, retain_graph=False)

    def push(*tangents: Any) -> Any:
        """The derivative in the direction of the tangents."""
        moves = fitting("jvp_fn(*tangents)", primals, tangents)[1]
        variables = list(filter(transposing.holds, cotangents))
        found = transposing.pull(pulled, list(map(inner, moves)), variables, retain_graph=True)
        answers = iter([beside(tangent, moves) for tangent in found])
        return unflatten(nested, [next(answers) if transposing.holds(g) else g.clone() for g in cotangents])

    return unflatten(nested, list(map(level.lowered, leaves))), push


def require_primals(leaves: Sequence[object], structure: Structure, name: str) -> None:
    """Refuse leaves that cannot be differentiated; the error names their paths."""
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, Carrier):
            path = paths(structure, name)[i]
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)} for {path}")
        if leaf._dtype.kind not in "fc":
            path = paths(structure, name)[i]
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {leaf.dtype} for {path}. {INTEGERS}"
            )


def fitting(name: str, primals: object, tangents: object) -> tuple[list[Tensor], list[Tensor], Structure]:
    """The leaves of the primals and of their tangents, checked against each other, and their structure."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    leaves, structure = flatten(primals)
    moves, given = flatten(tensors(tangents))
    if given != structure:
        raise RuntimeError(
            f"{name}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {structure} and tangents with "
            f"structure {given}"
        )
    if not leaves:
        raise RuntimeError(f"{name}: Expected primals to contain at least one Tensor.")
    for what, values in (("primals", leaves), ("tangents", moves)):
        for i, value in enumerate(values):
            if not isinstance(value, Carrier):
                path = paths(structure, what)[i]
                raise RuntimeError(f"{name}: Expected {what} to only contain Tensors, got {type(value)} for {path}")
    require_primals(leaves, structure, "primals")
    fitted = []
    for i, (leaf, move) in enumerate(zip(leaves, moves, strict=True)):
        if move._dtype.kind not in "fc":
            path = paths(structure, "tangents")[i]
            raise ValueError(f"Expected tangent to be floating point or complex, but got: {move.dtype} for {path}")
        if move._dtype.kind == "c" and leaf._dtype.kind == "f":
            raise RuntimeError(
                f"{name}: {paths(structure, 'tangents')[i]} is complex, and its primal real: push the real and the "
                "imaginary part of the tangent"
            )
        if move.shape != leaf.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {list(leaf.shape)} while the given forward gradient is of size "
                f"{list(move.shape)}."
            )
        fits = move._dtype == leaf._dtype
        fitted.append(move if fits else ops.astype(move, dtype=leaf._dtype, source=move._dtype))
    return leaves, fitted, structure
