"""Records: a program for some calls of a function, where its inputs come from, and what becomes of its results.

`capture` makes them; `compiled`, place by place, and `quick`, as the source of one function, do what they say.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tape.node import grad_of, leaf_of
from ..observe import AccumulateGrad
from ..utils.trees import LEAF, Structure, paths
from .holders import Holder
from .numbers import DOUBLE, INT
from .program import Program
from .state import State, hooks_on

if TYPE_CHECKING:
    from .._core.typing import Array
    from .._numerics.random import Place as Random
    from .._tensor.tensor import Tensor
    from .answers import Alias, Made


class Place:
    """Where a program's input comes from at each call, or where one of its results goes."""

    def tensor(self, leaves: Sequence[Any]) -> Tensor:
        """The tensor that is there."""
        raise NotImplementedError

    def array(self, leaves: Sequence[Any]) -> Array:
        """The array that the program is given."""
        return self.tensor(leaves)._array

    def operand(self, leaves: Sequence[Any]) -> Tensor | Array:
        """What the tape is given, where the whole function is one operation on it."""
        return self.tensor(leaves)

    def put(self, leaves: Sequence[Any], tensor: Tensor | None) -> None:
        """Put a new tensor there."""
        raise NotImplementedError


class Scalar(Place):
    """A Python float: the program is given it as an array, and it has no history."""

    def operand(self, leaves: Sequence[Any]) -> Array:
        """What the tape is given, where the whole function is one operation on it."""
        return self.array(leaves)


class Argument(Place):
    """One of the function's arguments."""

    def __init__(self, number: int) -> None:
        self.number = number

    def tensor(self, leaves: Sequence[Any]) -> Tensor:
        """The tensor that is there."""
        return leaves[self.number]


class Float(Scalar, Argument):
    """An argument that is a Python float, or NumPy's scalar of the same precision."""

    def array(self, leaves: Sequence[Any]) -> Array:
        """The array that the program is given."""
        return np.array(leaves[self.number], DOUBLE)


class Int(Scalar, Argument):
    """An argument that is a Python int, of a size that the program was recorded for."""

    def array(self, leaves: Sequence[Any]) -> Array:
        """The array that the program is given."""
        return np.array(leaves[self.number], INT)


class Fixed(Place):
    """A tensor of the state."""

    def __init__(self, tensor: Tensor) -> None:
        self.found = tensor

    def tensor(self, leaves: Sequence[Any]) -> Tensor:
        """The tensor that is there."""
        return self.found


class Held(Place):
    """A tensor of the state that is exchanged for another at each call."""

    def __init__(self, holder: Holder, key: Hashable) -> None:
        self.holder, self.key = holder, key

    def tensor(self, leaves: Sequence[Any]) -> Tensor:
        """The tensor that is there."""
        return self.holder.entries()[self.key]

    def put(self, leaves: Sequence[Any], tensor: Tensor | None) -> None:
        """Put a new tensor there."""
        self.holder.put(self.key, tensor)


class Rate(Scalar):
    """The learning rate of a group of parameters."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder

    def array(self, leaves: Sequence[Any]) -> Array:
        """The rate as an array."""
        return np.array(self.holder.held["lr"], DOUBLE)


class Gradient(Place):
    """The `.grad` of a tensor."""

    def __init__(self, of: Place) -> None:
        self.of = of

    def tensor(self, leaves: Sequence[Any]) -> Any:
        """The tensor that is there."""
        return grad_of(self.of.tensor(leaves))

    def put(self, leaves: Sequence[Any], tensor: Tensor | None) -> None:
        """Put a new tensor there."""
        set_grad(self.of.tensor(leaves), tensor)


class Exchanged(Place):
    """The memory of a tensor, which gets another one: `.data = value`."""

    def __init__(self, of: Place) -> None:
        self.of = of

    def put(self, leaves: Sequence[Any], tensor: Tensor | None) -> None:
        """Give the tensor the memory of a new one."""
        assert tensor is not None
        self.of.tensor(leaves).data = tensor


def set_grad(tensor: Tensor, grad: Tensor | None) -> None:
    """Give a tensor a gradient."""
    leaf = leaf_of(tensor)
    if leaf is None:
        tensor._kept_grad = grad
    else:
        leaf.grad = grad


UNTRACKED = 5
"""How many parts the signature of a tensor has that requires no grad."""


def signature(tensor: Tensor) -> tuple[Any, ...]:
    """What of a tensor, besides its numbers, decides what a program does with it."""
    array, node = tensor._array, tensor._node
    if node is None:
        return type(tensor), array.shape, array.dtype, tensor._inference, tensor._kept_grad is None
    if type(node) is AccumulateGrad:
        hooks = tuple(hook for hooks in hooks_on(tensor) for (hook,) in hooks)
        return type(tensor), array.shape, array.dtype, node.grad is None, node.grad_dtype, node.hooks is None, hooks
    return type(tensor), array.shape, array.dtype, "tracked"


def difference(found: Sequence[Any], expected: Sequence[Any]) -> str:
    """In what two signatures of tensors differ, in words."""
    for name, one, other in zip(("class", "shape", "dtype"), found, expected, strict=False):
        if one != other:
            shown = [each.__name__ if isinstance(each, type) else str(each) for each in (one, other)]
            return f"{name} {shown[0]} instead of {shown[1]}"
    kinds = [_tracking(each) for each in (found, expected)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]} instead of {kinds[1]}"
    grad = UNTRACKED - 1 if len(found) == UNTRACKED else 3  # whether there is none
    if grad < len(found) and found[grad] != expected[grad]:
        return f"{'no' if found[grad] else 'a'} .grad, unlike before"
    return "other hooks, or another grad_dtype, than before"


def _tracking(found: Sequence[Any]) -> str:
    """Whether a signature is that of a tensor with a history, of one that requires grad, or of another."""
    if found[-1] == "tracked":
        return "a history"
    return "requires_grad=False" if len(found) == UNTRACKED else "requires_grad=True"


class Way:
    """The way back from outputs that require grad: a second program, from what the first has kept to gradients.

    `kept` says of each argument of the operation that the whole function is to the tape what it is: the place of an
    input, or the number of an output; `reached` for each gradient which of them it belongs to. `roots` are the numbers
    of the tensors, among those made, that are tracked.
    """

    def __init__(self, roots: list[int], program: Program, kept: list[Place | int], reached: list[int]) -> None:
        self.roots, self.program, self.kept, self.reached = roots, program, kept, reached


class Record:
    """A program, where its inputs come from, and what becomes of its results.

    `made` are the tensors that a call makes, and `outputs` says of each leaf of the result what it is: a Python value
    ("plain"), a "number" that is an output of the program, the tensor of a place, a leaf "again", the "view" of a place's tensor, the number of a tensor
    that was "made", how one of these is "seen", the number of an "alias" of a place's tensor, or an "alias view"; after the
    leaves, so it says of tensors that are put somewhere. `aliases_made` are those aliases. `effects` are places with the number of what they hold then among these, or None where a gradient is
    forgotten. `layouts` are the strides that the function has asked for, `orders` those
    of the axes of inputs by which elements of results lie,
    `aliases` pairs of places whose tensors hold one array, as x and x.detach() do, and are one input of the program,
    `numbers` the float arguments that are part of the program, `ints` the int arguments that are not, `drawn` where random
    numbers come from.
    """

    way: Way | None = None

    def __init__(self, program: Program, places: list[Place], state: State) -> None:
        self.program = program
        self.places = places
        self.state = state
        self.arguments: Structure = LEAF
        self.structure: Structure = LEAF
        self.made: list[Made] = []
        self.aliases_made: list[Alias] = []
        self.leaves = 0
        self.outputs: list[tuple[str, Any]] = []
        self.effects: list[tuple[Place, int | None]] = []
        self.written: list[tuple[Place, int]] = []
        self.fixed: list[tuple[Fixed, Any]] = []
        self.signatures: list[tuple[Place, Any]] = []
        self.layouts: list[tuple[Place, tuple[int, ...]]] = []
        self.orders: list[tuple[Place, tuple[int, ...] | None]] = []
        self.aliases: list[tuple[Place, Place]] = []
        self.numbers: list[tuple[int, str]] = []
        self.ints: frozenset[int] = frozenset()
        self.drawn: list[Random] = []
        self.reached: frozenset[int] = frozenset()
        self.met: list[int] = []

    def meets(self, leaves: Sequence[Any]) -> list[int]:
        """Which arguments are tensors that the function reaches by itself, too."""
        return [id(leaf) if id(leaf) in self.reached else 0 for leaf in leaves]

    def names(self, function: Callable[..., Any]) -> list[str]:
        """What the inputs are called where the function was written."""
        leaves = leaf_names(function, self.arguments)
        return [self._name(place, leaves) for place in self.places]

    def _name(self, place: Place, leaves: list[str]) -> str:
        if isinstance(place, Argument):
            return leaves[place.number]
        if isinstance(place, Gradient):
            return f"{self._name(place.of, leaves)}_grad"
        if isinstance(place, Rate):
            return "lr"
        tensor = place.tensor(())
        for holder in self.state.holders:
            for key, value in holder.named():
                if value is tensor:
                    return key
        return "state"


def leaf_names(function: Callable[..., Any], arguments: Structure) -> list[str]:
    """What the leaves of a call's arguments are called where the function was written: `x`, `params['w']`, `args[2]`."""
    args, kwargs = arguments.children
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # of no function written in Python
        parameters = []
    gathered = next((i for i, each in enumerate(parameters) if each.kind is each.VAR_POSITIONAL), None)
    names: list[str] = []
    for i, child in enumerate(args.children):
        if gathered is not None and i >= gathered:
            names += paths(child, f"{parameters[gathered].name}[{i - gathered}]")
        else:
            names += paths(child, parameters[i].name if i < len(parameters) else f"argument {i + 1}")
    for key, child in zip(kwargs.keys, kwargs.children, strict=True):
        names += paths(child, str(key))
    return names
