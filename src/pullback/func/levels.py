"""What the transforms have in common: a tape for each nested transform, and the conversion of values between levels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import ReferenceType, ref

import numpy as np

from .. import ops
from .._core.errors import kind
from .._core.modes import Mode, changed, mode, observed
from .._core.primitives import Carrier, Primitive
from .._core.trees import Structure, flatten, paths, unflatten
from .._tape import node as _node
from .._tape.memory import aliased, owner
from .._tape.node import Node
from .._tape.recording import Tape
from .._tape.seeds import cotangent
from .._tape.views import alias
from .._tape.walk import pull_back
from .._tensor.creation import tensor as new_tensor
from .._tensor.flags import DIFFERENTIABLE
from .._tensor.tensor import Tensor
from ..interpreters import Boxed, Interpreter

if TYPE_CHECKING:
    from .._core.typing import Params, Result, Value


Transform = TypeVar("Transform", bound=Callable[..., Any])
ndarray = np.ndarray

INTEGERS = "Write 1.0 for 1; x.astype(float) converts an array, x.double() a tensor"
"""What to do where integers are given to be differentiated by."""
_NUMBERS = (float, complex, int, np.generic)


class Following(Boxed):
    """A value that one of its slots, `_follows`, ties to what a transform follows; that is None if the value does not depend on it."""

    __slots__ = ()

    _follows: str
    _transparent = True

    @property
    def _followed(self) -> bool:
        return self._node is not None or getattr(self, self._follows) is not None

    def _cut_off(self, reason: str) -> None:
        super()._cut_off(reason)
        setattr(self, self._follows, None)


def is_row(value: object) -> bool:
    """True for a list of numbers, or of such lists, which stands for a tensor; other lists are containers."""
    return type(value) is list and bool(value) and all(isinstance(each, _NUMBERS) or is_row(each) for each in value)


def tensors(tree: object) -> Any:
    """A tree in which arrays, numbers and lists of numbers are tensors: what all transforms convert arguments by.

    The tensors are those that `pullback.tensor` makes: they have an array's dtype, and memory of their own.
    """
    if type(tree) is Tensor:
        return tree
    leaves, structure = flatten(tree, is_row)
    stand = (*_NUMBERS, ndarray, list)
    return unflatten(structure, [new_tensor(leaf) if isinstance(leaf, stand) else leaf for leaf in leaves])


def stands(tree: object) -> bool:
    """Whether an array, or a list of numbers, stands for a tensor somewhere in a tree."""
    return any(isinstance(leaf, (ndarray, np.generic, list)) for leaf in flatten(tree, is_row)[0])


def compiled_around(transform: Transform) -> Transform:
    """A transform that makes a compiled function of a compiled one, which compiles what the transform makes of it as a whole."""

    @functools.wraps(transform)
    def made(f: Callable[..., object], *args: object, **options: object) -> object:
        around: Callable[..., object] | None = getattr(f, "around", None)
        if around is None:
            return transform(f, *args, **options)
        return around(transform, *args, unless=stands, **options)

    return cast("Transform", made)


def tensor_of(value: Value) -> Tensor:
    """A value from the level beneath as a public tensor."""
    return value if isinstance(value, Carrier) and value.level >= 0 else Tensor.interpreter.wrap(value, None)


def inner(tensor: Value) -> Value:
    """The value that a level computes with for a tensor: its array if no tape, transform or observer needs the tensor."""
    if type(tensor) is not Tensor or tensor._node is not None or observed():
        return tensor
    if isinstance(tensor._array, Carrier):
        tensor._array.interpreter.ended()  # or waits for the thread that records it
    return aliased(tensor)


def beside(value: Any, given: Sequence[object]) -> Any:
    """A transform's result; if it shares memory with a given tensor, the two are registered as aliases."""
    if isinstance(value, Carrier) and isinstance(value._array, ndarray) and value._storage is None:
        memory = owner(value._array)
        for tensor in given:
            if isinstance(tensor, Carrier) and isinstance(tensor._array, ndarray) and owner(tensor._array) is memory:
                return value if tensor is value else alias(tensor, value)
    return value


def rewritten(tensor: Tensor, before: Value) -> bool:
    """True if a function wrote to a level's tensor: a write replaces its array, and keeps the shape."""
    return tensor._array is not before and np.shape(tensor._array) == np.shape(before)


class GradTrackingTensor(Boxed):
    """A tensor inside `grad`, `vjp` and related transforms."""

    __slots__ = ()
    _transparent = True


class Level(Tape, Interpreter):
    """A tape of an outer level: inside its `with` block it records regardless of the surrounding grad mode.

    Its operations on lower levels are recorded there as the mode around the block says.
    """

    carrier = GradTrackingTensor

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[int, tuple[ReferenceType[Tensor], Tensor]] = {}  # weak: the tensors hold the level

    def _values(self) -> dict[Any, Any]:
        values = super()._values()
        return {**values, mode: changed(values[mode], grad=True)}

    @property
    def outside(self) -> Mode:
        """The mode for operations beneath this level: operations not recorded here are not recorded there either."""
        here = mode.get()
        return self._around[-1][mode] if self._around and here.grad else here

    def wrap(self, value: Value, node: Node | None) -> Tensor:
        """A tensor of this level."""
        boxed = self.box(value)
        boxed._node = node
        if type(boxed._array) is ndarray and (created := mode.get().created) is not None:
            created(boxed)
        return boxed

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of this level, so that values of this level can be written to it."""
        return self.box(inner(made))

    def beneath(self, primitive: Primitive, values: Sequence[Value], params: Params) -> Result:
        """The operation one level further in, under the mode that applies there."""
        values = [inner(value) for value in values]
        outside = self.outside
        before = mode.get()
        if outside is before:
            return primitive(*values, **params)
        try:
            mode.set(outside)
            return primitive(*values, **params)
        finally:
            mode.set(before)

    def recording(self, create_graph: bool, cotangents: Sequence[object]) -> bool:
        """A context in which operations beneath are recorded as the mode outside says."""
        return self.outside.grad or super().recording(create_graph, cotangents)

    def variable(self, tensor: Tensor) -> Tensor:
        """A leaf of this level that requires grad; the history of the tensor it is made from stays beneath."""
        plain = type(tensor) is Tensor and tensor._node is None
        boxed = self.box(aliased(tensor) if plain else tensor)
        self._given[id(boxed)] = (ref(boxed), tensor)
        if plain:
            alias(tensor, boxed, counted=False)  # writes to the tensor must not reach values saved here
        boxed._node = _node.leaf(boxed, boxed._array)
        return boxed

    def pull(
        self,
        outputs: Sequence[Tensor],
        cotangents: Sequence[Value | None],
        inputs: Sequence[Tensor],
        *,
        retain_graph: bool,
    ) -> list[Tensor]:
        """The pullbacks of cotangents of outputs to inputs, as tensors of the level beneath; zeros without a path."""
        roots: list[tuple[Node, Any]] = [
            (output._node, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if self.holds(output) and output._node is not None
        ]
        places: list[Any] = [tensor._node for tensor in inputs]
        found: dict[Node, Value] = {}
        if roots:
            walker = pull_back(self, roots, targets=places, retain_graph=retain_graph, create_graph=False)
            found = walker.found
            if walker.watcher is not None:
                walker.watcher.ends(walker)
        answers = []
        for tensor, place in zip(inputs, places, strict=True):
            g = found.get(place)
            if g is None:
                g = np.zeros(tuple(tensor.shape), tensor._dtype)
            elif (dtype := tensor_of(g)._dtype) != tensor._dtype:
                g = ops.astype(g, dtype=tensor._dtype, source=dtype)
            answers.append(tensor_of(g))
        return answers

    def fitted(self, outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of outputs as `pull` takes them; raises where one does not have the shape or the dtype of its output."""
        pairs = enumerate(zip(outputs, cotangents, strict=True))
        return [cotangent(self, output, g, place, create_graph=False) for place, (output, g) in pairs]

    def lowered(self, value: object) -> Any:
        """A value as seen outside this level: an unmodified argument is the original tensor."""
        if not self.holds(value):
            return value
        given = self._given.get(id(value))
        if given is not None and given[0]() is value and value._array is inner(given[1]):
            return given[1]
        return beside(tensor_of(value._array), [tensor for _, tensor in self._given.values()])


def require_tensors(leaves: Sequence[object], structure: Structure, name: str, message: str) -> None:
    """Refuse leaves that are not tensors of real or complex numbers; the error names their paths."""
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, Carrier):
            raise ValueError(f"{message}, got {type(leaf)} for {paths(structure, name)[i]}")
        if leaf._dtype.kind not in "fc":
            raise RuntimeError(f"only {DIFFERENTIABLE}: {paths(structure, name)[i]} is a {kind(leaf)}. {INTEGERS}")


def output_leaves(outputs: object, who: str) -> tuple[list[Tensor], Structure]:
    """The leaves of a function's result, and their structure; refused if there are none, or one is not a tensor."""
    leaves, structure = flatten(outputs)
    if not leaves or outputs is None:
        raise RuntimeError(f"{who}: Expected f to be a function that has non-empty output (got output = {outputs!r})")
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, Carrier):
            raise RuntimeError(
                f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)} for "
                f"{paths(structure, 'output')[i]}"
            )
    return leaves, structure


def require_numbers(leaves: Sequence[Tensor], structure: Structure) -> None:
    """Refuse integer outputs, which have no cotangents."""
    for i, leaf in enumerate(leaves):
        if leaf._dtype.kind not in "fc":
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{leaf.dtype} for {paths(structure, 'output')[i]}. Return it as aux, with has_aux=True"
            )


def require_real(leaves: Sequence[Tensor], structure: Structure, name: str, what: str) -> None:
    """Refuse complex tensors, whose Jacobian would be that of their real and imaginary parts."""
    for i, leaf in enumerate(leaves):
        if leaf._dtype.kind == "c":
            raise RuntimeError(
                f"{name}: Expected all {what}s to be real but received complex tensor at flattened input idx: {i} "
                f"({paths(structure, what)[i]}). Its Jacobian is that of the real and imaginary parts: see view_as_real "
                "and view_as_complex"
            )


def chosen(argnums: int | tuple[int, ...], args: Sequence[object]) -> tuple[tuple[int, ...], list[Any]]:
    """The indices of the arguments to differentiate, checked and counted from 0; and all arguments, these as tensors."""
    count = len(args)
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty: name an argument to differentiate by")
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got an element of {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    placed = tuple(number % count for number in numbers)
    if len(set(placed)) != len(placed):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return placed, [tensors(arg) if place in placed else arg for place, arg in enumerate(args)]
