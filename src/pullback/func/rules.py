"""Functions with a custom derivative rule: how a call is recorded, pulled back, pushed forward and batched.

Each call has its own rule, which works on lists of leaves: trees have been flattened before. A tape runs the forward
rule beneath itself, where it is an ordinary program; the backward rule runs there too, or recorded if it is to be
differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.errors import kind
from .._core.modes import mode, restoring
from .._core.primitives import Carrier, Primitive
from .._core.shapes import sum_to
from .._tape.recording import Tape
from .._tape.views import alias
from .._tensor.custom import (
    Custom,
    CustomCall,
    CustomNode,
    Kept,
    Meta,
    RuleRun,
    among,
    beneath,
    edges_of,
    expandable,
    places_of,
    record,
    slot,
    tensor_of,
)
from .arguments import Argument
from .custom import RULES, Rules
from .levels import Level, inner
from .mapping import vmap

if TYPE_CHECKING:
    from .._core.typing import Params, Tensor, Value


Leaves = Sequence[Any]

# 1. Rules
#
# The batched form of a rule is the rule under vmap.


class Rule:
    """A function on leaves with its derivative."""

    def value(self, leaves: Leaves) -> list[object]:
        """The leaves of the result."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """The expression that names each leaf of the arguments in the user's terms."""
        raise NotImplementedError

    def on_batches(self, dims: Sequence[int | None]) -> Rule:
        """The rule for a batch of examples, along these axes of the leaves."""
        raise NotImplementedError


class Backward(Rule):
    """A function with its pullback."""

    def forward(self, leaves: Leaves) -> tuple[list[object], list[object]]:
        """The leaves of the result, and those of the residuals."""
        raise NotImplementedError

    def backward(self, residuals: Leaves, g: Leaves) -> list[object]:
        """A cotangent or None for each leaf of the arguments, from the residuals and the result's cotangents."""
        raise NotImplementedError

    def on_batches(self, dims: Sequence[int | None]) -> Rule:
        """This rule under vmap."""
        return BackwardOnBatches(self, dims)


class PushforwardRule(Rule):
    """A function with its pushforward."""

    def push(self, leaves: Leaves, tangents: Leaves) -> list[Tensor | None]:
        """A tangent or None for each leaf of the result, from one for each leaf of the arguments."""
        raise NotImplementedError

    def on_batches(self, dims: Sequence[int | None]) -> Rule:
        """This rule under vmap."""
        return ForwardOnBatches(self, dims)


def _mapped(function: Callable[..., Leaves], in_dims: tuple[object, ...], *args: Any) -> list[Any]:
    """The results of a function of leaves on a batch: tensors with the batch axis in front, other leaves unchanged."""
    nest = CustomCall(())
    outs = vmap(lambda *examples: nest.taken_apart(tuple(function(*examples))), in_dims=in_dims)(*args)
    return list(nest.assembled(outs))


def _fronted(leaves: Leaves) -> list[int | None]:
    return [0 if isinstance(leaf, Carrier) else None for leaf in leaves]


class OnBatches(Rule):
    """The batched form of a rule."""

    def __init__(self, rule: Rule, dims: Sequence[int | None]) -> None:
        self.rule, self.dims = rule, list(dims)
        self.metas: list[Meta | None] = []

    def names(self) -> list[str]:
        """The names of the original rule."""
        return self.rule.names()

    def value(self, leaves: Leaves) -> list[object]:
        """The results of all examples."""
        return _mapped(self.rule.value, (self.dims,), list(leaves))


class BackwardOnBatches(OnBatches, Backward):
    """The batched form of a function with its pullback."""

    rule: Backward

    def forward(self, leaves: Leaves) -> tuple[list[object], list[object]]:
        """The results and the residuals of all examples."""
        counts: list[int] = []

        def both(leaves: Leaves) -> list[object]:
            self.metas = list(map(Meta.of, leaves))
            outs, residuals = self.rule.forward(leaves)
            counts.append(len(outs))
            return [*outs, *residuals]

        found = _mapped(both, (self.dims,), list(leaves))
        return found[: counts[0]], found[counts[0] :]

    def backward(self, residuals: Leaves, g: Leaves) -> list[object]:
        """The cotangents of all examples; summed over the examples for shared arguments."""

        def one(residuals: Leaves, g: Leaves) -> list[object]:
            return [
                r if not isinstance(r, Carrier) or meta is None or not expandable(meta.shape, tuple(r.shape))
                else sum_to(ops, r, meta.shape)
                for r, meta in zip(self.rule.backward(residuals, g), self.metas, strict=True)
            ]  # fmt: skip

        found = _mapped(one, (_fronted(residuals), _fronted(g)), list(residuals), list(g))
        return [
            r.sum(0) if isinstance(r, Carrier) and dim is None else r for r, dim in zip(found, self.dims, strict=True)
        ]


class ForwardOnBatches(OnBatches, PushforwardRule):
    """The batched form of a function with its pushforward."""

    rule: PushforwardRule

    def push(self, leaves: Leaves, tangents: Leaves) -> list[Tensor | None]:
        """The tangents of all examples."""
        moved = [None if t is None else dim for t, dim in zip(tangents, self.dims, strict=True)]
        return _mapped(self.rule.push, (self.dims, moved), list(leaves), list(tangents))


# 2. The node and the primitive


class RuleNode(CustomNode):
    """The node of a function with a custom rule."""

    __slots__ = ("rule", "leaves", "residuals", "count")

    rule: PushforwardRule | Backward
    leaves: list[tuple[object] | None]
    residuals: list[tuple[object] | None]
    count: int

    def names(self) -> list[str]:
        """The expression that names each leaf of the arguments in the user's terms."""
        return self.rule.names()

    def gradients(self, run: RuleRun, g: Sequence[Tensor | None]) -> tuple[object, ...]:
        """A cotangent or None for each leaf of the arguments."""
        g = [
            made.zeros() if each is None and made is not None else each for each, made in zip(g, self.made, strict=True)
        ]
        saved = run.saved()
        inputs = _with(self.leaves, saved[: self.count])
        if isinstance(self.rule, PushforwardRule):
            return tuple(_transposed(self.rule, inputs, g))
        residuals = _with(self.residuals, saved[self.count :])
        if run.connected and mode.get().grad:  # recorded on this same tape, so the residuals have a history too
            residuals = self.rule.forward(inputs)[1]
        return tuple(self.rule.backward(residuals, g))


def _with(template: Leaves, tensors: Leaves) -> list[Any]:
    """A template of leaves, filled with tensors where it has placeholders."""
    rest = iter(tensors)
    return [next(rest) if entry is None else entry[0] for entry in template]


def _without(leaves: Leaves) -> list[tuple[object] | None]:
    return [None if isinstance(leaf, Carrier) else (leaf,) for leaf in leaves]


@restoring
def _transposed(rule: PushforwardRule, leaves: Leaves, g: Leaves) -> list[Tensor | None]:
    """The pullback of cotangents: the transpose of the pushforward, recorded as a function of its tangents."""
    with Level() as level:
        tangents = [
            level.variable(tensor_of(np.zeros(tuple(leaf.shape), leaf._dtype)))
            if isinstance(leaf, Carrier) and leaf._dtype.kind in "fc"
            else None
            for leaf in leaves
        ]
        pushed = rule.push(leaves, tangents)
    moved = [
        (out, cotangent) for out, cotangent in zip(pushed, g, strict=True) if level.holds(out) and cotangent is not None
    ]
    variables = [tangent for tangent in tangents if tangent is not None]
    pulled = iter(level.pull([out for out, _ in moved], [inner(c) for _, c in moved], variables, retain_graph=False))
    return [None if tangent is None else next(pulled) for tangent in tangents]


class RulePrimitive(Custom):
    """The primitive of one function with a custom rule."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"{''.join(word.title() for word in name.split('_'))}Backward")
        self.label = name
        members = {"__slots__": (), "title": self.title, "primitive": self}
        self.node = type(str(self.title), (RuleNode,), members)

    def computed(self, *arrays: Value, call: CustomCall) -> tuple[Value, ...]:
        """The results for plain arrays, as arrays."""
        with among(()):
            outs = call.taken_apart(tuple(call.rule.value(call.filled(arrays))))
        return tuple(map(inner, outs))

    def recorded(self, tape: Tape, args: Sequence[Value], call: CustomCall) -> Sequence[Tensor]:
        """The results, recorded on a tape."""
        edges = edges_of(tape, args)
        if not mode.get().grad or all(edge is None for edge in edges):
            if tape.level:
                return [tape.wrap(piece, None) for piece in beneath(self, tape, args, call)]
            return call.taken_apart(tuple(call.rule.value(call.filled(args))))
        lower = [_lowered(tape, arg) for arg in args]
        leaves = call.filled(lower)
        residuals: list[object] = []

        def run(*_: object) -> list[object]:
            with among(lower):
                if isinstance(call.rule, PushforwardRule):
                    return call.rule.value(leaves)
                outs, needed = call.rule.forward(leaves)
                residuals.extend(needed)
                return list(outs)

        below: Any = tape.beneath  # it accepts any callable
        if tape.level and isinstance(call.rule, PushforwardRule):  # on the levels beneath it is this same operation
            outs = list(map(tensor_of, beneath(self, tape, args, call)))
        else:
            outs = call.taken_apart(tuple(below(run, lower, {}) if tape.level else run()))
        for out in outs:
            if out.level == tape.level and out._node is not None:
                raise RuntimeError(
                    f"{self.label} depends on a {kind(out)} that requires grad and is not an argument: its gradient would be "
                    "lost. Pass it as an argument"
                )
        node: RuleNode = record(self.node, tape, args, edges, call, outs)
        places = places_of(node)
        results = [
            tape.wrap(_apart(inner(out), lower), places[position] if out._dtype.kind in "fc" else None)
            for out, position in zip(outs, call.positions(), strict=True)
        ]
        node.rule, node.count = call.rule, len(lower)
        node.leaves, node.residuals = _without(leaves), _without(residuals)
        slots = [slot(tape, tensor_of(arg), edge) for arg, edge in zip(args, edges, strict=True)]
        inputs = {id(value): own for value, own in zip(lower, slots, strict=True)}
        tracked = {
            id(out): (y, at) for out, y, at in zip(outs, results, call.positions(), strict=True) if y._node is not None
        }
        for residual in residuals:  # one that is an input, or a result, is saved as that
            if isinstance(residual, Carrier):
                known = inputs.get(id(residual))
                slots.append(known or slot(tape, *tracked.get(id(residual), (residual, None))))
        node.saved = (Kept(slots),)
        return results


def _lowered(tape: Tape, arg: Value) -> Tensor:
    """An argument as seen beneath a tape; beneath the lowest tape, the same memory without history."""
    if not isinstance(arg, Carrier) or arg.level != tape.level:
        return tensor_of(arg)
    return tensor_of(arg._array) if tape.level else alias(arg, tape.wrap(arg._array, None))


def _apart(value: Value, lower: Sequence[Tensor]) -> Value:
    """A result that shares no memory with an input."""
    if isinstance(value, np.ndarray) and any(
        isinstance(other._array, np.ndarray) and np.may_share_memory(value, other._array) for other in lower
    ):
        return value.copy()
    return value


# 3. Under the transforms


@restoring
def pushed(
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: tuple[Value, ...],
    params: Params,
) -> tuple[Tensor | None, ...]:
    """The tangents of the results, by the pushforward, or by transposing the pullback."""
    call = params["call"]
    leaves = list(call.filled(primals))
    moves: list[Tensor | None] = [None] * len(leaves)
    for place, tangent in zip(call.places, tangents, strict=True):
        if tangent is not None:
            moves[place] = tensor_of(tangent)
        elif leaves[place]._dtype.kind in "fc":
            moves[place] = tensor_of(np.zeros(tuple(leaves[place].shape), leaves[place]._dtype))
    with among((*primals, *moves)):
        answers = (
            call.rule.push(leaves, moves)
            if isinstance(call.rule, PushforwardRule)
            else _pushed_back(call, leaves, moves, y)
        )
    return tuple(answers[position] for position in call.positions())


@restoring
def _pushed_back(call: CustomCall, leaves: Leaves, moves: Leaves, y: tuple[Value, ...]) -> list[Tensor | None]:
    """The tangents of the results by transposing the pullback, which is linear in its cotangents."""
    residuals = call.rule.forward(leaves)[1]
    metas = [Meta.of(tensor_of(piece)) for piece in y]
    with Level() as level:
        variables = [
            level.variable(meta.zeros()) if meta is not None and meta.dtype.kind in "fc" else None for meta in metas
        ]
        rest = iter(variables)
        g = [next(rest) if entry is None else None for entry in call.template]
        answers = call.rule.backward(residuals, g)
    pairs = [(r, t) for r, t in zip(answers, moves, strict=True) if level.holds(r) and t is not None]
    known = [variable for variable in variables if variable is not None]
    pulled = iter(
        level.pull(
            [sum_to(ops, r, tuple(t.shape)) for r, t in pairs], [inner(t) for _, t in pairs], known, retain_graph=False
        )
    )
    return [None if each is None else next(pulled) for each in g]


@restoring
def batched(count: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Value, ...]:
    """The results for all examples of a batch."""
    assert isinstance(primitive, RulePrimitive)
    call = params["call"]
    values = [arg.value for arg in args]
    dims: list[int | None] = [None] * len(call.constants)
    for place, arg in zip(call.places, args, strict=True):
        dims[place] = 0 if arg.batched else None
    below = CustomCall(call.filled(values))
    below.rule = call.rule.on_batches(dims)
    with among(values):
        results = primitive(*map(tensor_of, values), call=below)
    call.template, call.single = below.template, below.single
    return tuple(map(inner, map(tensor_of, results)))


RULES[RulePrimitive] = Rules(pushed, batched)
