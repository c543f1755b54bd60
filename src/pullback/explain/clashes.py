"""Two axes that do not fit each other, found by the shapes that an operation was given; and what failed, in one sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import Tensor
from .sources import excerpt_at
from .trace import Argument, Clash, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping


PRODUCT, EQUAL = "product", "equal"
LONGEST = 60
"""The number of characters above which an expression is left out of a sentence."""
TAKES = {
    "in_features": "features", "in_channels": "channels", "input_size": "features", "num_features": "channels",
    "normalized_shape": "features", "num_embeddings": "rows",
}  # fmt: skip
"""The settings of layers for the size of what they take, and what it is a number of."""
SENTENCE = re.compile(r"(?<=[a-z0-9)\]])(?:\. |, in (?=\S+\.py:\d)| \((?=while|or )|\n)")
PART = re.compile(r": |; |, ")
PREFIX = re.compile(r"^[a-z]\w*(\(\w*\))?: ")
MOST = 120
"""The number of characters above which a message is cut at its next mark."""

Tensors = Sequence[tuple[int, tuple[int, ...]]]
"""The numbers and shapes of those arguments that are tensors."""


def clash(op: str | None, values: Sequence[Any]) -> Clash | None:
    """The axes that do not fit in what an operation was given; None if that cannot be told from shapes."""
    tensors = [(at, tuple(map(int, each.shape))) for at, each in enumerate(values) if isinstance(each, Tensor)]
    if op is None or len(tensors) < 2:
        return None
    if op == "einsum":
        equation = next((each for each in values if isinstance(each, str)), "")
        return _of_letters(equation, tensors)
    find = RULES.get(op, _broadcast)
    return find(tensors)


def _pair(kind: str, tensors: Tensors, first: int, second: int) -> Clash | None:
    """A clash of an axis of the first with one of the second of some tensors, if their sizes differ."""
    (one, shape), (other, second_shape) = tensors[0], tensors[1]
    if not (-len(shape) <= first < len(shape) and -len(second_shape) <= second < len(second_shape)):
        return None
    if shape[first] == second_shape[second]:
        return None
    return Clash(kind, ((one, first % len(shape)), (other, second % len(second_shape))))


def _product(tensors: Tensors) -> Clash | None:
    return _pair(PRODUCT, tensors, -1, -2 if len(tensors[1][1]) > 1 else 0)


def _added_product(tensors: Tensors) -> Clash | None:
    return _product(tensors[1:]) if len(tensors) > 2 else None


def _linear(tensors: Tensors) -> Clash | None:
    return _pair(PRODUCT, tensors, -1, -1)


def _channels(tensors: Tensors) -> Clash | None:
    rank = len(tensors[1][1])
    return _pair(EQUAL, tensors, 1 if len(tensors[0][1]) == rank else 0, 1)


def _transposed_channels(tensors: Tensors) -> Clash | None:
    return _pair(EQUAL, tensors, 1 if len(tensors[0][1]) == len(tensors[1][1]) else 0, 0)


def _second(tensors: Tensors) -> Clash | None:
    return _pair(EQUAL, tensors, 1, 0)


def _last(tensors: Tensors) -> Clash | None:
    return _pair(EQUAL, tensors, -1, -1)


def _first(tensors: Tensors) -> Clash | None:
    return _pair(EQUAL, tensors, 0, 0)


def _joined(tensors: Tensors) -> Clash | None:
    """Of tensors that are joined, the first whose shape differs from that of the first in one axis more than may differ."""
    for other in tensors[1:]:
        axes = [at for at, (a, b) in enumerate(zip(tensors[0][1], other[1], strict=False)) if a != b]
        if axes:
            return _pair(EQUAL, [tensors[0], other], axes[0], axes[0])
    return None


def _broadcast(tensors: Tensors) -> Clash | None:
    """Of tensors whose shapes are aligned from the right, two sizes that differ, of which none is 1."""
    for one, other in itertools.combinations(tensors, 2):
        for axis in range(-1, -min(len(one[1]), len(other[1])) - 1, -1):
            if one[1][axis] != other[1][axis] and 1 not in {one[1][axis], other[1][axis]}:
                return _pair(EQUAL, [one, other], axis, axis)
    return None


def _of_letters(equation: str, tensors: Tensors) -> Clash | None:
    """Two axes of one letter in an equation of einsum."""
    seen: dict[str, tuple[int, int, int]] = {}
    for letters, (at, shape) in zip(equation.replace(" ", "").partition("->")[0].split(","), tensors, strict=False):
        for axis, (letter, size) in enumerate(zip(letters, shape, strict=False)):
            before = seen.setdefault(letter, (at, axis, size))
            if before[2] != size and 1 not in {before[2], size}:
                return Clash(EQUAL, (before[:2], (at, axis)))
    return None


RULES: Mapping[str, Callable[[Tensors], Clash | None]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "vdot", "inner"), _product),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _added_product),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _channels),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed_channels),
    **dict.fromkeys(("cat", "concat", "stack", "vstack", "hstack"), _joined),
    **dict.fromkeys(("cross_entropy", "nll_loss"), _first),
    **dict.fromkeys(("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), lambda _: None),
    "linear": _linear,
    "batch_norm": _second,
    "layer_norm": _last,
    "getitem": lambda _: None,
    "setitem": lambda _: None,
    "embedding": lambda _: None,
    "gather": lambda _: None,
}  # fmt: skip
"""Operations whose arguments need not have shapes that broadcast."""


# In a sentence

PHRASES = (
    (
        r"grad can be implicitly created only for scalar outputs.*?of shape \((.+?)\)",
        "needs a gradient: its output has the shape ({0})",
    ),
    (r"Trying to backward through the graph a second time", "goes through a graph that the backward before has freed"),
    (r"a (?:view of a )?leaf Variable that requires grad", "writes in place to a leaf that requires grad"),
    (
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "asks for index {0} of axis {1}, which has {2} places",
    ),
    (r"Target (\d+) is out of bounds: there are (\d+) classes", "was given the class {0} of {1}, counted from 0"),
    (r"missing \d+ required positional arguments?: (.+)", "was called without {0}"),
    (r"element \d+ of tensors does not require grad", "starts from a tensor that nothing that requires grad has made"),
)
"""Of messages that begin as torch's, which are long: what is said of whatever failed."""


class Misfit(NamedTuple):
    """A setting of a layer, the size that it was given, and the size that it takes; of a table the row, and the number of rows."""

    setting: str
    given: int
    taken: int


def size_at(failure: Failure, side: tuple[int, int]) -> int:
    """The size of one side of a clash."""
    shape = failure.arguments[side[0]].shape
    assert shape is not None
    return shape[side[1]]


def said(failure: Failure, misfit: Misfit | None, *, of_module: bool, remote: bool = False) -> str:
    """What failed, in one sentence: the module or the operation, and what does not fit; of other errors, whose they are."""
    message = first_sentence(failure.message)
    if failure.op is None and failure.scope is None:
        other = ", in another process" if remote else ". No operation of pullback failed"
        where = "The program" if failure.place is None else f"Line {failure.place.line} of the program"
        return f"{where} raised {failure.type}{f': {message}' if message else ''}{other}."
    who = subject(failure, of_module=of_module)
    if misfit is not None:
        noun = TAKES[misfit.setting]
        if noun == "rows":
            return f"{who} has {misfit.taken} rows, counted from 0, and was asked for row {misfit.given}."
        return f"{who} takes {misfit.taken} {noun} and got {misfit.given}."
    if failure.clash is not None:
        return f"{who} {_fit(failure, failure.clash)}."
    if failure.overwritten is not None:
        return f"{who} needs {failure.overwritten.name} as it was: it has been written since."
    for pattern, phrase in PHRASES:
        if found := re.search(pattern, failure.message):
            return f"{who} {phrase.format(*found.groups())}."
    tensors = [each for each in failure.arguments if each.dtype is not None]
    kinds = list(dict.fromkeys(each.dtype for each in tensors))
    if len(kinds) > 1 and "dtype" in failure.message:
        return f"{who} was given {' and '.join(filter(None, kinds[:2]))}, and takes one dtype."
    return f"{who} failed: {message}." if message else f"{who} failed."


def subject(failure: Failure, *, of_module: bool) -> str:
    """What failed, as the program calls it: the module, or the expression."""
    if failure.scope is not None and of_module:
        return failure.scope.name
    expr = excerpt_at(failure.place).expr
    what = expr if expr is not None and len(expr) <= LONGEST else f"{failure.op}()"
    return what if failure.scope is None else f"{what}, in {failure.scope.name},"


def _fit(failure: Failure, found: Clash) -> str:
    one, other = (size_at(failure, side) for side in found.sides)
    first, second = (failure.arguments[side[0]] for side in found.sides)
    if found.kind == PRODUCT:
        if len(first.shape or ()) == len(second.shape or ()) == 1:
            return f"multiplies {one} elements by {other}"
        columns, rows = (
            "elements" if len(each.shape or ()) == 1 else word for each, word in ((first, "columns"), (second, "rows"))
        )
        turned = (found.sides[1][1] == len(second.shape or ()) - 1) and len(second.shape or ()) > 1  # a layer's weight
        return f"multiplies {_shape(first)} by {_shape(second, turned=turned)}: {one} {columns} meet {other} {rows}"
    return f"was given {_shape(first)} and {_shape(second)}, and {one} is not {other}"


def _shape(argument: Argument, *, turned: bool = False) -> str:
    shape = list(argument.shape or ())
    if turned:
        shape[-2:] = shape[:-3:-1]
    return "×".join(map(str, shape)) if shape else "one number"


def first_sentence(message: str) -> str:
    """The beginning of a message, up to the end of its first part."""
    lines = (line.strip() for line in message.splitlines())
    text = SENTENCE.split(PREFIX.sub("", next(filter(None, lines), ""), count=1), maxsplit=1)[0]
    marks = PART.finditer(text, MOST // 2) if len(text) > MOST else iter(())
    mark = next((each for each in marks if text.count("(", 0, each.start()) == text.count(")", 0, each.start())), None)
    return (text if mark is None else text[: mark.start()]).rstrip(".:")
