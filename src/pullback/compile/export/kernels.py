"""Words for the code of single primitives: loops over axes, places in memory, indices that are checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..machine.indices import strides
from ..program import Array, Equation
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter

Kernel = Callable[["FunctionWriter", Equation], None]


def code(writer: FunctionWriter, text: str, **words: object) -> None:
    """Write lines of C, in which words stand for numbers and types: `{n}`."""
    for name, word in words.items():
        text = text.replace("{" + name + "}", str(word))
    for line in text.strip("\n").splitlines():
        writer.block.say(line)


@contextlib.contextmanager
def over(writer: FunctionWriter, shape: tuple[int, ...]) -> Iterator[list[str]]:
    """Loops over the axes of a shape; the indices."""
    names = [writer.fresh("q") for _ in shape]
    with contextlib.ExitStack() as stack:
        for name, size in zip(names, shape, strict=True):
            stack.enter_context(writer.inside(f"for (int {name} = 0; {name} < {size}; ++{name})"))
        yield names


def flat(names: Sequence[str], shape: tuple[int, ...]) -> str:
    """The place of an element in memory."""
    terms = [f"{step} * {name}" for name, step in zip(names, strides(shape), strict=True)]
    return " + ".join(terms) or "0"


def static(writer: FunctionWriter, places: Array, names: Sequence[str]) -> str:
    """Whole numbers that are known for each index: a sum of multiples of the indices, or an element of a table."""
    places = np.asarray(places, np.int64, order="C")
    first = int(places.flat[0]) if places.size else 0
    steps = [int(np.take(places, 1, axis).flat[0]) - first if size > 1 else 0 for axis, size in enumerate(places.shape)]
    plain = first + sum(
        (np.indices(places.shape)[axis] * step for axis, step in enumerate(steps)), np.zeros((), np.int64)
    )
    if np.array_equal(places, np.broadcast_to(plain, places.shape)):
        terms = [f"{step} * {name}" for name, step in zip(names, steps, strict=True) if step]
        return " + ".join([*terms, *([str(first)] if first or not terms else [])])
    table = writer.unit.constant(places.astype(np.int32))
    return f"{table}[{flat(names, places.shape)}]"


def wrapped(writer: FunctionWriter, index: str, size: int, about: str) -> str:
    """An index counted from the front, in a variable; where it is out of range the function returns."""
    name = writer.fresh("at")
    code(
        writer,
        """
int64_t {name} = (int64_t){index};
if ({name} < 0) {name} += {size};
if ({name} < 0 || {name} >= {size}) return {failure};
""",
        name=name,
        index=index,
        size=size,
        failure=writer.failure(f"{about}: an index out of range"),
    )
    return name


def set_to(writer: FunctionWriter, target: str, kind: str, text: str) -> None:
    """Write an assignment, with the conversion that small types need."""
    writer.block.say(f"{target} = ({STORED[kind]})({text});")
