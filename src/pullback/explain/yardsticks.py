"""Yardsticks for a loss: what a guess would have cost, and which example is the largest part of the gradient."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..observe import AccumulateGrad, Node, OutputNode, saved
from .numbers import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from .arrays import Array
    from .trace import Traced

    Values = Callable[[Node], Array | None]

WORDS = (
    (0.1, "much better than a guess"),
    (0.8, "better than a guess"),
    (0.98, "just better than a guess"),
    (1.5, "no better than a guess"),
    (math.inf, "worse than a guess"),
)
"""What is said of a loss, by the largest part of a guess's loss of which it is said."""
CALLED = re.compile(r"[\w.]+\((\w+)\)")


class Yardstick(NamedTuple):
    """What the loss of a guess is, in words, and the example whose gradient is the largest; None if unknown.

    `kind` is the rule of the loss: 'cross_entropy' or 'squared_error'. `examples` is how the program names what has
    examples as rows, as in `x[1]`; None if it has no short name.
    """

    kind: str
    guess: float
    said: str
    examples: str | None = None
    largest: str | None = None


def yardstick(node: Node, value: float, values: Values, traced: dict[Node, Traced]) -> Yardstick | None:
    """The yardstick of a loss that is a cross-entropy or a squared error itself; None for others."""
    maker = node.edges[0] if isinstance(node, OutputNode) else node
    if maker is None or isinstance(maker, AccumulateGrad) or maker.foreign:
        return None
    with np.errstate(all="ignore"):
        if made_by(maker, "cross_entropy"):
            return _of_classes(maker, value, traced)
        if maker.primitive.name in {"mean", "sum"} and not node.shape:
            return _of_squares(maker, value, values)
    return None


def _compared(value: float, guess: float) -> str:
    if not math.isfinite(value) or not guess:
        return ""
    return f": this loss is {next(words for most, words in WORDS if value <= most * guess)}"


def _of_classes(node: Node, value: float, traced: dict[Node, Traced]) -> Yardstick | None:
    held = {each.name: each.value for each in saved(node) or ()}
    scores, right = held.get("x"), held.get("indices")
    if not isinstance(scores, np.ndarray) or not isinstance(right, np.ndarray) or node.params["reduction"] == "none":
        return None
    examples, classes = scores.shape
    if classes < 2:
        return None
    guess = math.log(classes) * (examples if node.params["reduction"] == "sum" else 1)
    number = short(guess)
    costs = f"ln {classes}" if guess == math.log(classes) else f"{examples} · ln {classes}"
    said = f"Guessing between {classes} classes costs {costs} = {number}{_compared(value, guess)}"
    name = _examples(node, traced)
    return Yardstick("cross_entropy", guess, f"{said}.", name, _largest(scores, right, name))


def _examples(node: Node, traced: dict[Node, Traced]) -> str | None:
    """The name of what a module was called with to give the scores, or of the scores, if it is one word."""
    scores = None if node.edges[0] is None else traced.get(node.edges[0])
    if scores is None:
        return None
    found = CALLED.fullmatch(scores.expr or scores.name)
    name = scores.name if found is None else found[1]
    return name if name.isidentifier() else None


def _largest(scores: Array, right: Array, name: str | None) -> str | None:
    """The example whose row of the gradient, softmax minus target, has the largest norm."""
    exact = scores.astype(np.float64)
    shares = np.exp(exact - exact.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    rows = np.arange(len(shares))
    slopes = shares.copy()
    slopes[rows, right] -= 1
    norms = np.linalg.norm(slopes, axis=1)
    if not np.isfinite(norms).all():
        return None
    row = int(norms.argmax())
    own, first = int(right[row]), int(shares[row].argmax())
    which = f"row {row}" if name is None else f"{name}[{row}]"
    got = f"{which} is of class {own}, " + (
        f"which got {short(shares[row, own], 3)}"
        if own == first
        else f"but class {first} got {short(shares[row, first], 3)} and class {own} {short(shares[row, own], 3)}"
    )
    return f"{got}. Its row is the largest." if len(norms) > 1 else f"{got}."


def _of_squares(node: Node, value: float, values: Values) -> Yardstick | None:
    """The mean or sum of the squares of a difference, of which one side is the target: it needs no gradient."""
    square = made_by(node.edges[0], "square") or made_by(node.edges[0], "power")
    difference = None if square is None else made_by(square.edges[0], "subtract")
    if square is None or difference is None or (square.params or {}).get("exponent", 2) != 2:
        return None
    held = [each.value for each in saved(square) or () if each.name == "x"]
    known = [(i, edge) for i, edge in enumerate(difference.edges) if edge is not None]
    if len(known) != 1 or not held or not isinstance(held[0], np.ndarray) or held[0].dtype.kind != "f":
        return None
    ((side, predicted),) = known
    given = values(predicted)
    if given is None or given.shape != held[0].shape or not given.size:
        return None
    exact, left = given.astype(np.float64), held[0].astype(np.float64)
    target = exact - left if side == 0 else exact + left
    spread = target.var(axis=0) if target.ndim and len(target) > 1 else np.zeros(target.shape)
    guess = float(spread.mean()) * (target.size if node.primitive.name == "sum" else 1)
    if guess <= 1e-12 * float(np.square(target).mean()):
        return None  # one example, or targets that are all the same: their mean is no guess
    said = f"Always answering the mean of the targets costs their variance, {short(guess)}{_compared(value, guess)}"
    return Yardstick("squared_error", guess, f"{said}.")


def made_by(node: Node | None, name: str) -> Node | None:
    """The node, if a primitive of this name made it."""
    if node is None or isinstance(node, (AccumulateGrad, OutputNode)) or node.foreign:
        return None
    return node if node.primitive.name == name else None
