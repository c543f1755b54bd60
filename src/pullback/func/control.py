"""Branches and loops as single operations: cond, while_loop, scan, fori_loop.

Python's own `if` and `for` work on tensors, and the tape unrolls them. These functions express the same control flow
for `vmap`, whose examples may take different branches, and for a compiler, which emits a loop once. Each function
checks its arguments, flattens them into leaves, and calls one method of the current `Runner`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.modes import FieldBlock
from .._core.package import package
from .._core.primitives import Carrier, Function
from .._core.trees import LEAF, Structure, flatten, paths, unflatten
from .._tensor.creation import arange, as_tensor, zeros
from .._tensor.custom import Meta
from .._tensor.tensor import Tensor
from ..vocabulary.arithmetic import ne, where
from ..vocabulary.reductions import argmax
from ..vocabulary.shapes import movedim, reshape, stack, unbind

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, Number
    from .batching import Batch


Leaves = list[Any]

# 1. Leaves
#
# A leaf is a tensor or None: arrays and numbers are converted to tensors on entry. A loop's carry keeps its structure,
# shapes and dtypes from one step to the next, and both sides of a branch return the same ones.


def _taken(tree: object, name: str, message: str) -> tuple[Leaves, Structure]:
    """The leaves of a tree as tensors, and their structure; anything else is refused, and its path is named."""
    leaves, structure = flatten(tree)
    for place, leaf in enumerate(leaves):
        if leaf is None or isinstance(leaf, Carrier):
            continue
        if not isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)):
            path = paths(structure, name)[place]
            raise RuntimeError(f"{message}, but got a {type(leaf).__name__} for {path}")
        leaves[place] = as_tensor(leaf)
    return leaves, structure


def _described(meta: Meta | None) -> str:
    return "None" if meta is None else f"{meta.dtype} of shape {meta.shape}"


class Pattern(NamedTuple):
    """The required form of leaves: their structure, and the name, shape and dtype of each."""

    structure: Structure
    names: list[str]
    metas: list[Meta | None]

    @classmethod
    def of(cls, name: str, leaves: Leaves, structure: Structure) -> Pattern:
        """The pattern of some leaves; `name` names the whole tree."""
        return cls(structure, paths(structure, name), list(map(Meta.of, leaves)))

    def require(self, leaves: Leaves, structure: Structure, nesting: str, change: str, fix: str) -> None:
        """Refuse leaves that differ; the texts describe a structural difference, a leaf's, and the remedy."""
        if structure != self.structure:
            raise RuntimeError(f"{nesting} {self.structure} vs {structure}. {fix}")
        for leaf, name, meta in zip(leaves, self.names, self.metas, strict=True):
            if (now := Meta.of(leaf)) != meta:
                raise RuntimeError(f"{change} {name}: {_described(meta)} vs {_described(now)}. {fix}")


class Side:
    """One side of a branch, a function from leaves to leaves; it remembers the pattern of its last result."""

    def __init__(self, function: Function, name: str, structure: Structure) -> None:
        self.function = function
        self.name = name
        self.nesting = structure
        self.pattern: Pattern | None = None

    def __call__(self, operands: Leaves) -> Leaves:
        """The leaves of the function's result."""
        result = self.function(*unflatten(self.nesting, operands))
        leaves, structure = _taken(result, "output", f"cond: {self.name} must return tensors or numbers")
        self.pattern = Pattern.of("output", leaves, structure)
        return leaves

    def agree(self, other: Side, leaves: Leaves) -> None:
        """Refuse leaves of the other side that do not match this side's pattern."""
        assert self.pattern is not None
        assert other.pattern is not None
        self.pattern.require(
            leaves,
            other.pattern.structure,
            f"Unmatched output spec from cond branches: {self.name} vs {other.name},",
            f"cond: mismatched tensor metadata of the branches, {self.name} vs {other.name}, for",
            "Return the same structure, shapes and dtypes from both",
        )


class LoopStep:
    """One step of a loop, from the leaves of its carry to those of the next carry.

    If `spread` is true, the entries of the carry are passed as separate arguments.
    """

    def __init__(self, who: str, function: Function, carry: Pattern, *, spread: bool = False) -> None:
        self.who = who
        self.function = function
        self.carry = carry
        self.spread = spread

    def __call__(self, carry: Leaves) -> Leaves:
        """The leaves of the next carry."""
        state = unflatten(self.carry.structure, carry)
        result = self.unwritten(carry, *(state if self.spread else (state,)))
        if self.spread:
            if not isinstance(result, (tuple, list)):
                raise RuntimeError(
                    f"{self.who} should return a tuple but got {type(result)}: an entry for each of its arguments"
                )
            if len(result) != len(state):
                raise RuntimeError(
                    f"{self.who} should return the same number of elements as carried_inputs, got {len(result)} vs "
                    f"{len(state)}"
                )
            result = type(state)(result)
        return self.next(result)

    def unwritten(self, leaves: Leaves, *args: Any) -> Any:
        """The function's result; refused if the function wrote to its arguments."""
        given = [leaf for leaf in leaves if leaf is not None]
        versions = [leaf._version for leaf in given]
        result = self.function(*args)
        if versions != [leaf._version for leaf in given]:
            raise RuntimeError(
                f"{self.who} might be modifying the input: it wrote in place to its arguments, which others share. Write "
                "carry = carry + 1 instead of carry += 1, or clone it first"
            )
        return result

    def next(self, tree: object) -> Leaves:
        """The leaves of the next carry, checked against the pattern of the one before."""
        leaves, structure = _taken(tree, "carry", f"{self.who} must return tensors or numbers")
        self.carry.require(
            leaves,
            structure,
            f"{self.who} changed the structure of the carry,",
            f"{self.who} changed the tensor metadata of",
            "A carry keeps its structure, shapes and dtypes: convert what is returned, or start from what it has to be",
        )
        return leaves


class ScanStep(LoopStep):
    """One step of a scan: from the leaves of the carry and of a slice to those of the next carry and of an output."""

    def __init__(self, who: str, function: Function, carry: Pattern, slices: Structure) -> None:
        super().__init__(who, function, carry)
        self.slices = slices
        self.output: Pattern | None = None

    def __call__(self, carry: Leaves, operands: Sequence[Tensor | None] = ()) -> Any:
        """The leaves of the next carry and of the output, whose pattern must match the first output's."""
        args = unflatten(self.carry.structure, carry), unflatten(self.slices, operands)
        answer = self.unwritten([*carry, *operands], *args)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise RuntimeError(f"{self.who} must return two values, (carry, y), but got {type(answer)}")
        leaves, structure = _taken(answer[1], "y", f"{self.who} must return tensors or numbers")
        if self.output is None:
            self.output = Pattern.of("y", leaves, structure)
        self.output.require(
            leaves,
            structure,
            f"{self.who} changed the structure of its output between steps,",
            f"{self.who} changed between steps",
            "The outputs of all steps are stacked, and have to be alike",
        )
        return self.next(answer[0]), leaves


# 2. Conditions of many examples
#
# Under vmap a condition may hold for some examples and not for others. Then both sides are computed for all examples,
# and the results are selected example by example. On the side that an example does not take, its values are replaced by
# a constant copy of those of an example that does. So neither side sees a value it was not meant for, and no NaN from
# there reaches a gradient.


def _bared(value: Any) -> tuple[list[Batch], Any]:
    """The batch levels that a value varies in, in the order of their axes, and the array beneath, or what a compiler has there."""
    batches: list[Batch] = []
    while isinstance(value, Carrier) and value.level >= 0:
        if getattr(value, "batched", False):
            batches.insert(0, value.interpreter)
            value = value.interpreter.spread(value)
        value = value._array
    return batches, value


class Mask(NamedTuple):
    """A condition on which the examples of one or more batches disagree; `holds` says of each, beneath the transforms, whether it holds."""

    condition: Tensor
    batches: list[Batch]
    holds: Tensor

    def stand_in(self, leaf: Tensor, side: bool) -> Tensor:
        """A leaf's value for one example that takes `side`, as a constant; a shared leaf unchanged."""
        batches, array = _bared(leaf)
        if not any(batch in self.batches for batch in batches):
            return leaf
        first: Any = argmax(where(self.holds, int(side), int(not side)))
        sizes, row = [batch.size for batch in self.batches], 0 * first
        for batch in batches:
            row = row * batch.size
            if batch in self.batches:
                row = row + first // math.prod(sizes[self.batches.index(batch) + 1 :]) % batch.size
        rows = reshape(Tensor.interpreter.wrap(array, None), (-1, *array.shape[len(batches) :]))
        return rows[row]

    def kept(self, leaves: Leaves, side: bool) -> Leaves:
        """The leaves for one side, with constant values for the examples that do not take it."""
        others = [leaf if leaf is None else self.stand_in(leaf, side) for leaf in leaves]
        return self.chosen(leaves, others) if side else self.chosen(others, leaves)

    def chosen(self, leaves: Leaves, others: Leaves) -> Leaves:
        """Per example, the first leaves where the condition holds, else the others."""
        pairs = zip(leaves, others, strict=True)
        return [a if a is b else where(self.condition, a, b) for a, b in pairs]


# 3. Runners


class Runner:
    """The implementation of branches and loops: here step by step, on whatever tapes and transforms are active.

    A compiler sets `runner` to a subclass that records the operation instead: `side`, `test` and `step` map leaves to
    leaves, and may be run on the compiler's own values.
    """

    def decided(self, predicate: Any) -> bool | Mask:
        """The predicate as a bool, or as a `Mask` if the examples disagree."""
        batches, array = _bared(predicate)
        if not batches:
            return bool(predicate)
        holds = ne(reshape(Tensor.interpreter.wrap(array, None), tuple(batch.size for batch in batches)), 0)
        if not holds.any()._array:
            return False
        if holds.all()._array:
            return True
        condition = reshape(predicate, ())
        return Mask(condition if condition._dtype.kind == "b" else ne(condition, 0), batches, holds)

    def cond(self, predicate: Any, first: Side, second: Side, operands: Leaves) -> Leaves:
        """The leaves of the first side if the predicate holds, else of the second."""
        decided = self.decided(predicate)
        if isinstance(decided, bool):
            return first(operands) if decided else second(operands)
        results = first(decided.kept(operands, True))
        others = second(decided.kept(operands, False))
        first.agree(second, others)
        return decided.chosen(results, others)

    def while_loop(self, test: Function, step: LoopStep, carry: Leaves) -> Leaves:
        """The leaves of the first carry for which the test no longer holds."""
        while True:
            decided = self.decided(test(carry))
            if decided is False:
                return carry
            carry = step(carry) if decided is True else decided.chosen(step(decided.kept(carry, True)), carry)

    def scan(self, step: ScanStep, carry: Leaves, columns: Leaves, count: int, reverse: bool) -> tuple[Leaves, Leaves]:
        """The last carry and the stacked outputs of all steps; `columns` hold the slices along axis 0."""
        slices = [[None] * count if column is None else unbind(column) for column in columns]
        outputs: list[Leaves] = []
        for number in reversed(range(count)) if reverse else range(count):
            carry, output = step(carry, [column[number] for column in slices])
            outputs.append(output)
        if not count:
            return carry, self._outputs_of_no_steps(step, carry, columns)
        if reverse:
            outputs.reverse()
        return carry, [None if parts[0] is None else stack(parts) for parts in zip(*outputs, strict=True)]

    def _outputs_of_no_steps(self, step: ScanStep, carry: Leaves, columns: Leaves) -> Leaves:
        """Outputs of length 0, with the shapes that a step on zeros gives."""

        def blank(leaf: Tensor, shape: Sequence[int]) -> Tensor:
            return zeros(tuple(shape), dtype=leaf.dtype)

        with FieldBlock(grad=False):
            carry = [leaf if leaf is None else blank(leaf, leaf.shape) for leaf in carry]
            outputs = step(carry, [leaf if leaf is None else blank(leaf, leaf.shape[1:]) for leaf in columns])[1]
        return [leaf if leaf is None else blank(leaf, (0, *leaf.shape)) for leaf in outputs]


runner: ContextVar[Runner] = ContextVar("pullback.runner", default=Runner())  # noqa: B039  # Runner has no state


# 4. The functions


def cond(pred: Tensor | Array | Number, true_fn: Function, false_fn: Function, operands: Sequence[object] = ()) -> Any:
    """The result of true_fn(*operands) where pred holds, and of false_fn(*operands) otherwise.

    Parameters
    ----------
    pred
        A bool, a number, or a tensor of one element.
    true_fn, false_fn
        Functions of the operands, which return nested tuples, lists, dicts and dataclasses of tensors. Both return the
        same structure, shapes and dtypes.
    operands
        A tuple or list of the arguments of both functions, nested likewise.

    Only one side is run and differentiated. Under `vmap`, if the examples disagree, both sides are run, each on the
    operands of the examples that take it, and each example gets the result of its own side.

    Raises
    ------
    RuntimeError
        If pred is not of these types, a branch cannot be called, or both run and return results that do not match.

    >>> import pullback
    >>> x = pullback.tensor(4.0, requires_grad=True)
    >>> pullback.cond(x > 0, pullback.sqrt, lambda x: 0 * x, (x,))
    tensor(2., grad_fn=<SqrtBackward0>)
    >>> f = lambda x: pullback.cond(x > 0, pullback.sqrt, lambda x: 0 * x, (x,))
    >>> pullback.func.vmap(pullback.func.grad(f))(pullback.tensor([4.0, 0.0]))
    tensor([0.2500, 0.0000])
    """
    _require_decisive(pred)
    if not all(map(callable, (true_fn, false_fn))):
        raise RuntimeError(f"Expect both branches to be callable, but got {type(true_fn)} and {type(false_fn)}")
    message = "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves"
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"{message}, but got a {type(operands).__name__}: write operands=(x,)")
    leaves, structure = _taken(operands, "operands", message)
    first, second = Side(true_fn, "true_fn", structure), Side(false_fn, "false_fn", structure)
    results = runner.get().cond(pred, first, second, leaves)
    pattern = second.pattern if first.pattern is None else first.pattern
    assert pattern is not None
    return unflatten(pattern.structure, results)


def _require_decisive(pred: object) -> None:
    """Refuse a predicate that is not a number, or not a single one."""
    if isinstance(pred, Carrier):
        if pred.numel() != 1:
            raise RuntimeError(
                f"Expected pred to be bool or single-element tensor, but got one of shape {tuple(pred.shape)}: use "
                f"{package}.where to choose element by element, or .any() or .all() to decide once"
            )
    elif not isinstance(pred, (bool, int, float, np.generic, np.ndarray)) or np.size(pred) != 1:
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred!r}")


def while_loop(cond_fn: Callable[..., Tensor | bool], body_fn: Function, carried_inputs: object) -> Any:
    """The first values in the sequence carried_inputs, body_fn(*carried_inputs), ... for which cond_fn does not hold.

    Parameters
    ----------
    cond_fn
        A function of the carried values that returns a bool, or a boolean tensor of one element.
    body_fn
        A function of the carried values that returns the next ones, with the same structure, shapes and dtypes.
    carried_inputs
        The initial values: a tuple or list, whose entries are separate arguments; or a single tensor or dict, for
        example, which is one argument. Numbers become tensors.

    The steps are recorded one by one, and can be differentiated. Under `vmap` the loop runs until it has ended for
    every example, and each example's values stop changing when its own loop ends.

    Raises
    ------
    RuntimeError
        If body_fn's result does not match the values before it (the error names which), or body_fn writes to its
        arguments, or cond_fn returns anything but a single bool.

    >>> import pullback
    >>> halve = lambda n, x: (n + 1, x / 2)
    >>> pullback.while_loop(lambda n, x: x > 1, halve, (0, pullback.tensor(10.0)))
    (tensor(4), tensor(0.6250))
    >>> steps = lambda x: pullback.while_loop(lambda n, x: x > 1, halve, (0, x))[0]
    >>> pullback.func.vmap(steps)(pullback.tensor([10.0, 0.5, 3.0]))
    tensor([4, 0, 2])
    """
    if not all(map(callable, (cond_fn, body_fn))):
        raise RuntimeError(f"Expect cond_fn and body_fn to be callable, but got {type(cond_fn)} and {type(body_fn)}")
    leaves, structure = _taken(
        carried_inputs,
        "carried_inputs",
        "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor or int leaves",
    )
    spread = structure.kind in (tuple, list)
    pattern = Pattern.of("carried_inputs", leaves, structure)

    def test(carry: Leaves) -> Tensor | bool:
        state = unflatten(structure, carry)
        return _truth(cond_fn(*state) if spread else cond_fn(state))

    step = LoopStep("body_fn", body_fn, pattern, spread=spread)
    return unflatten(structure, runner.get().while_loop(test, step, leaves))


def _truth(answer: object) -> Tensor | bool:
    """The result of a condition, checked: a bool, or a boolean tensor of one element."""
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    if isinstance(answer, Carrier) and answer.numel() == 1 and answer._dtype.kind == "b":
        return answer
    got = _described(Meta.of(answer)) if isinstance(answer, Carrier) else repr(answer)
    raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {got}")


def scan(
    combine_fn: Function, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, *, dim: int = 0
) -> tuple[Any, Any]:
    """The last carry and all outputs of `carry, y = combine_fn(carry, x)`, run for each slice x of xs in turn.

    Parameters
    ----------
    combine_fn
        A function of the carry and of one slice, which returns the next carry, with the structure, shapes and dtypes of
        the one before, and an output, which may be None.
    init
        The first carry: a tensor, a number, or a nesting of them.
    xs
        A tensor, or a nesting of tensors, which is sliced along `dim`; None for no slices.
    length
        The number of steps; needed if xs is None.
    reverse
        Run from the last slice to the first; each output is at its slice's index.
    dim
        The axis along which xs is sliced, and along which the outputs are stacked.

    Raises
    ------
    RuntimeError
        If the tensors in xs differ in length, or a carry or an output does not match the one before; the error names
        what differs, with both shapes.

    >>> import pullback
    >>> pullback.scan(lambda total, x: (total + x, total * x), 0.0, pullback.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn!r}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    leaves, structure = _taken(init, "init", "All init leaves must be a Tensor")
    columns, rest = _taken(xs, "xs", "All xs leaves must be a Tensor")
    count = _step_count(columns, paths(rest, "xs"), length, dim)
    if dim:
        columns = [column if column is None else movedim(column, dim, 0) for column in columns]
    step = ScanStep("combine_fn", combine_fn, Pattern.of("init", leaves, structure), rest)
    carry, outputs = runner.get().scan(step, leaves, columns, count, reverse)
    assert step.output is not None
    if dim:
        outputs = [y if y is None or not -y.ndim <= dim < y.ndim else movedim(y, 0, dim) for y in outputs]
    return unflatten(structure, carry), unflatten(step.output.structure, outputs)


def _step_count(columns: Leaves, names: list[str], length: object, dim: object) -> int:
    """The number of steps of a scan; refused if its sources disagree."""
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise RuntimeError(f"Dim must be an int, but got {type(dim)}")
    if length is not None and (not isinstance(length, int) or length < 0):
        raise RuntimeError(f"scan: length must be a number of steps, but got {length!r}")
    counts = {} if length is None else {"length": length}
    for column, name in zip(columns, names, strict=True):
        if column is None:
            continue
        if not -column.ndim <= dim < column.ndim:
            raise RuntimeError(
                "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0: dim is "
                f"{dim}, and {name} has shape {tuple(column.shape)}"
            )
        counts[name] = column.shape[dim]
    if not counts:
        raise RuntimeError("scan: xs holds no tensor, and length= does not say how many steps there are")
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise RuntimeError(f"scan: xs must have one length along dim {dim}: {listed}")
    return int(next(iter(counts.values())))


def fori_loop(lower: int | Tensor, upper: int | Tensor, body_fun: Function, init_val: object) -> Any:
    """The value after `value = body_fun(i, value)` for each i from lower up to, but not including, upper.

    The bounds are ints, or integer tensors of one element, which under `vmap` may differ between the examples. `i` is an
    integer tensor. The value keeps its structure, shapes and dtypes.

    Parameters
    ----------
    lower
        The first number.
    upper
        The number at which it ends.
    body_fun
        Called with the number and the state; gives the next state.
    init_val
        The first state.

    Raises
    ------
    RuntimeError
        If a bound is not an integer, or body_fn's result does not match the value before; the error names what differs.

    >>> import pullback
    >>> pullback.fori_loop(1, 5, lambda i, product: product * i, 1)
    tensor(24)
    """
    if not callable(body_fun):
        raise RuntimeError(f"fori_loop: body_fun must be callable, but got {type(body_fun)}")
    for name, bound in (("lower", lower), ("upper", upper)):
        tensor = isinstance(bound, Carrier) and bound.numel() == 1 and bound._dtype.kind in "iu"
        if not tensor and (not isinstance(bound, (int, np.integer)) or isinstance(bound, bool)):
            raise RuntimeError(
                f"fori_loop: {name} must be an int or an integer tensor of one element, but got {bound!r}"
            )
    leaves, structure = _taken(init_val, "init_val", "fori_loop: init_val must consist of tensors or numbers")
    carry, who = Pattern.of("init_val", leaves, structure), "body_fun of fori_loop"
    if isinstance(lower, Carrier) or isinstance(upper, Carrier):
        start, end = (reshape(as_tensor(bound), ()) for bound in (lower, upper))
        counted = Pattern(flatten((0, init_val))[1], ["i", *carry.names], [Meta.of(start), *carry.metas])
        step = LoopStep(who, lambda i, value: (i + 1, body_fun(i, value)), counted, spread=True)
        leaves = runner.get().while_loop(lambda state: state[0] < end, step, [start, *leaves])[1:]
    elif lower < upper:
        scanned = ScanStep(who, lambda value, i: (body_fun(i, value), None), carry, LEAF)
        leaves = runner.get().scan(scanned, leaves, [arange(int(lower), int(upper))], int(upper) - int(lower), False)[0]
    return unflatten(structure, leaves)
