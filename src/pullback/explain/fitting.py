"""Changes of the program that make two shapes fit: of the operands, of where these are made, and of arguments."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import Tensor
from .clashes import PRODUCT, size_at
from .edits import constants, number_at
from .trace import Fix

if TYPE_CHECKING:
    from .fixes import Case


MOST_SPELLINGS = 3


def _turned(case: Case) -> Iterator[Fix]:
    """An operand with its last two axes swapped, or with one more axis, where the shapes then fit."""
    found = case.failure.clash
    if found is None or (case.failed.module is not None and found.kind != PRODUCT):
        return
    values = [case.failed.given[at].value for at, _ in found.sides]
    for number, (at, _) in enumerate(found.sides):
        operand = case.operand_of(at)
        if operand is None:
            continue
        value, other = values[number], values[1 - number]
        for text, turned in _forms(value, other):
            pair = (turned, other.shape) if number == 0 else (other.shape, turned)
            if _fits(*map(tuple, pair), product=found.kind == PRODUCT):
                shape = "×".join(map(str, turned))
                name = case.written.segment(operand)
                yield Fix(f"{name}{text} has the shape {shape}.", [case.written.appended(operand, text)])


def _forms(value: Any, other: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    shape = tuple(map(int, value.shape))
    if len(shape) > 1:
        yield ".mT", (*shape[:-2], shape[-1], shape[-2])
    if len(shape) == 1 and other.ndim > 1 and other.shape[-2] == shape[0]:
        yield ".unsqueeze(-1)", (*shape, 1)


def _fits(a: tuple[int, ...], b: tuple[int, ...], *, product: bool) -> bool:
    if product:
        return a[-1] == b[-2 if len(b) > 1 else 0]
    return all(m == n or 1 in {m, n} for m, n in zip(reversed(a), reversed(b), strict=False))


def _created(case: Case) -> Iterator[Fix]:
    """Another size where one of the operands is made."""
    found = case.failure.clash
    sides = [] if found is None else list(found.sides)
    sizes = [size_at(case.failure, side) for side in sides]
    for number in reversed(range(len(sides))):
        at, axis = sides[number]
        operand = case.operand_of(at)
        if isinstance(operand, ast.Name):
            operand = case.written.assigned(operand.id, case.place.line)
        if operand is None:
            continue
        for call in (node for node in ast.walk(operand) if isinstance(node, ast.Call)):
            given = call.args[0].elts if call.args and isinstance(call.args[0], (ast.Tuple, ast.List)) else call.args
            if axis < len(given) and number_at(given[axis]) == sizes[number]:
                why = (
                    f"Line {call.lineno}: {case.failure.arguments[at].name} is made with the size {sizes[1 - number]}."
                )
                yield Fix(why, [case.written.replaced(given[axis], str(sizes[1 - number]))])


def _reshaped(case: Case) -> Iterator[Fix]:
    """Sizes that multiply to what is there."""
    given = next((each.value for each in case.failed.given if isinstance(each.value, Tensor)), None)
    if case.call is None or given is None or case.failure.op not in {"reshape", "view", "unflatten"}:
        return
    numbers = [each for part in case.call.args for each in constants(part) if (number_at(each) or 0) > 0]
    free = any(number_at(each) == -1 for part in case.call.args for each in constants(part))
    for each in reversed(numbers):
        others = math.prod(number_at(other) or 1 for other in numbers if other is not each)
        others *= int(given.shape[0]) if free and given.ndim else 1
        if others and given.numel() % others == 0 and given.numel() // others != number_at(each):
            why = f"{given.numel()} elements make {given.numel() // others} here."
            yield Fix(why, [case.written.replaced(each, str(given.numel() // others))])
    sizes = [number_at(each) or 1 for each in numbers]
    if not free and len(numbers) > 1 and given.numel() % math.prod(sizes[1:]):
        for each in numbers:
            others = math.prod(number_at(other) or 1 for other in numbers if other is not each)
            if given.numel() % others == 0:
                yield Fix("This size is found from the others.", [case.written.replaced(each, "-1")])


def _joined(case: Case) -> Iterator[Fix]:
    """Tensors that are joined along the axis in which they differ."""
    if case.call is None or case.failure.op not in {"cat", "concat", "stack"}:
        return
    shapes = [tuple(each.value.shape) for each in case.failed.given if isinstance(each.value, Tensor)]
    if len({len(shape) for shape in shapes}) != 1:
        return
    differ = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
    if len(differ) != 1:
        return
    axis, why = differ[0], f"They are joined along axis {differ[0]}, the only one in which they differ."
    written = case.written
    changes = []
    name = written.segment(case.call.func)
    if case.failure.op == "stack" and name.endswith("stack"):
        changes.append(written.replaced(case.call.func, f"{name[:-5]}cat"))
    dims = [each.value for each in case.call.keywords if each.arg in {"dim", "axis"}] + case.call.args[1:2]
    changes.append(written.replaced(dims[0], str(axis)) if dims else written.passed(case.call, f"dim={axis}"))
    yield Fix(why, changes)


def _letters(case: Case) -> Iterator[Fix]:
    """The letters of one operand of einsum in another order."""
    if case.failure.op != "einsum" or case.call is None or not case.call.args:
        return
    equation = case.call.args[0]
    if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
        return
    shapes = [tuple(each.value.shape) for each in case.failed.given if isinstance(each.value, Tensor)]
    inputs, arrow, output = equation.value.partition("->")
    terms = inputs.split(",")
    quote = case.written.segment(equation)[0]
    spellings = []
    for place in reversed(range(len(terms))):
        for order in itertools.islice(itertools.permutations(terms[place]), 24):
            changed = [*terms[:place], "".join(order), *terms[place + 1 :]]
            if changed != terms and _agree(changed, shapes):
                spellings.append(f"{quote}{','.join(changed)}{arrow}{output}{quote}")
    for text in spellings[:MOST_SPELLINGS]:
        yield Fix("The letters are in the order of the axes.", [case.written.replaced(equation, text)])


def _agree(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> bool:
    sizes: dict[str, set[int]] = {}
    for letters, shape in zip(terms, shapes, strict=False):
        for letter, size in zip(letters.strip(), shape, strict=False):
            sizes.setdefault(letter, set()).add(size)
    return all(len(found - {1}) < 2 for found in sizes.values())


MAKERS: Sequence[Callable[[Case], Iterator[Fix]]] = (_turned, _joined, _letters, _reshaped, _created)
