"""Describes one entry of a ledger in words: where a cotangent became 0, NaN or inf, and by which factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core import xp as _xp
from .._core.errors import operation_of
from .._core.modes import quiet
from .._core.package import package
from .._core.primitives import Carrier
from .._core.shapes import sum_to
from .._core.sites import describe
from .faults import MASKS
from .ledger import Entry, Ledger, all_finite, all_zero, arrays, first
from .node import Node

if TYPE_CHECKING:
    from .._core.typing import Array, Value


Index = tuple[int, ...] | None

# 1. Names and places


def made_at(node: Node) -> str:
    """An operation and its line."""
    return f"{operation_of(node)} at {describe(node.site)}"


def number(value: Any) -> str:
    """One value as text."""
    return f"{value.item():.6g}" if isinstance(value, (np.ndarray, np.generic)) else f"{value:.6g}"


# 2. From entry to entry
#
# An element of a cotangent can be followed back through operations that keep every element at its index; through others
# the cotangent is followed as a whole, with None for the index.


def stays(entry: Entry) -> bool:
    """True if each element of the contribution comes from the element of the incoming cotangent at the same index."""
    primitive, edge = entry.node.primitive, entry.edge
    in_place = primitive.kind == "elementwise" or primitive.name == "masked_fill"
    return in_place and entry.node.shape == edge.shape


def above(entry: Entry, index: Index) -> Index:
    """The index in the incoming cotangent of the element from which an element of the contribution was computed, or None."""
    if index is None or stays(entry):
        return index
    params = entry.node.params
    if entry.node.shape is None or not isinstance(params, dict) or "axis" not in params:
        return None
    axes = params["axis"]
    ndim = len(index)
    gone = range(ndim) if axes is None else {axis % ndim for axis in np.atleast_1d(axes).tolist()} if ndim else ()
    kept = [place for axis, place in enumerate(index) if axis not in gone]
    if len(entry.node.shape) == len(kept):
        return tuple(kept)
    whole = [0 if axis in gone else place for axis, place in enumerate(index)]
    return tuple(whole) if len(entry.node.shape) == len(whole) else None


def element(value: object, index: Index) -> Any:
    """The element of a cotangent at an index; None if there is no such element."""
    pieces = list(arrays(value))
    if index is None or len(pieces) != 1 or pieces[0].ndim != len(index):
        return None
    places = zip(index, pieces[0].shape, strict=True)
    return pieces[0][index] if all(place < length for place, length in places) else None


def vanishes(value: object, index: Index) -> bool:
    """True if a cotangent is zero at an index, or everywhere if the index is None."""
    at = element(value, index)
    return all_zero(value) if at is None else not at


def clean(value: object, index: Index) -> bool:
    """True if a cotangent is finite at an index, or everywhere if the index is None."""
    at = element(value, index)
    return all_finite(value) if at is None else bool(np.isfinite(at))


# 3. What an entry did


SLOPE = "was taken of {}, where its slope is infinite"
BOTH = "was taken of {}, where its value and its slope are infinite"


class Pole(NamedTuple):
    """Where an operation, or its derivative, is infinite, and what to do about it.

    >>> import pullback
    >>> pullback.observe.pole_of("sqrt").where
    'derivative of sqrt at 0 is inf'
    """

    where: str
    """The place, in words."""
    keep: str = ""
    """Where to keep its operand, for which `explain` has changes of the program."""
    besides: str = ""
    """What else helps."""
    points: tuple[float, ...] = (0.0,)
    """The numbers at which it is."""
    told: str = BOTH
    """What is said of an operation that got such a number, with a place for the number."""
    operand: int = 0
    """The operand that is such a number."""
    subject: str = "argument"
    """What that operand is called."""

    def __str__(self) -> str:
        operand = "it" if self.where.startswith(self.subject) else f"its {self.subject}"
        return f"The {self.where}: keep {operand} {self.keep}{self.besides}" if self.keep else ""


POSITIVE, NONZERO, INSIDE = "above 0", "away from 0", "between -1 and 1"
_ENDS = (-1.0, 1.0)
_LOG = Pole(
    "value of log at 0 is -inf, and its derivative inf",
    POSITIVE,
    ", or use log_softmax, log1p or xlogy where they fit",
)
_DIVISOR = Pole("divisor is 0", NONZERO, told="was given the divisor {}", operand=1, subject="divisor")
_POWER = Pole(
    "base is 0, where the power or its slope is infinite",
    POSITIVE,
    told="was given the base {}, where it or its slope is infinite",
    subject="base",
)
POLES = {
    "sqrt": Pole(
        "derivative of sqrt at 0 is inf",
        POSITIVE,
        ", or for a length use norm, whose gradient is 0 there",
        told=SLOPE,
    ),
    "rsqrt": Pole("value of rsqrt at 0 is inf", POSITIVE),
    "log": _LOG,
    "log2": _LOG._replace(where="value of log2 at 0 is -inf, and its derivative inf"),
    "log10": _LOG._replace(where="value of log10 at 0 is -inf, and its derivative inf"),
    "log1p": Pole("value of log1p at -1 is -inf, and its derivative inf", "above -1", points=(-1.0,)),
    "xlogy": Pole("derivative of xlogy at 0 is inf", POSITIVE, operand=1, subject="second argument"),
    "divide": _DIVISOR,
    "reciprocal": _DIVISOR._replace(told=BOTH, operand=0),
    "power": _POWER,
    "pow": _POWER,
    "acos": Pole("derivative of acos at -1 and 1 is -inf", INSIDE, points=_ENDS, told=SLOPE),
    "asin": Pole("derivative of asin at -1 and 1 is inf", INSIDE, points=_ENDS, told=SLOPE),
    "acosh": Pole("derivative of acosh at 1 is inf", "above 1", points=(1.0,), told=SLOPE),
    "atanh": Pole("value of atanh at -1 and 1, and its derivative, are infinite", INSIDE, points=_ENDS),
    "erfinv": Pole("value of erfinv at -1 and 1, and its derivative, are infinite", INSIDE, points=_ENDS),
    "logit": Pole(
        "value of logit at 0 and 1, and its derivative, are infinite",
        "between 0 and 1",
        ", or pass eps=",
        (0.0, 1.0),
    ),
    "hypot": Pole("derivative of hypot at 0 is no number", NONZERO, told="was taken of {}, where it has no slope"),
    "digamma": Pole("value of digamma at 0, and its derivative, are infinite", POSITIVE),
    "lgamma": Pole("value of lgamma at 0, and its derivative, are infinite", POSITIVE),
    "exp": Pole("exponential may overflow", points=()),
    "vector_norm": Pole("derivatives of some norms at 0 are NaN", points=()),
}
"""By the name of a primitive."""


def pole_of(operation: str) -> Pole | None:
    """The pole of an operation by the name that messages use, as `div`; None if it is known to have none.

    >>> import pullback
    >>> pullback.observe.pole_of("acos").points, pullback.observe.pole_of("cos")
    ((-1.0, 1.0), None)
    """
    return POLES.get("divide" if operation == "div" else operation)


class Cause(NamedTuple):
    """An entry at which a zero, NaN or inf first appeared, with the values that were multiplied there."""

    entry: Entry
    at: Index
    incoming: Any
    factor: Any
    outgoing: Any
    operands: dict[str, Any]
    mask: Entry | None

    def numbers(self) -> str:
        """The element, the values that were multiplied in it, and the values that the rule had saved for it."""
        place = "" if not self.at else f" at index {self.at}"
        kept = ", ".join(f"{name} = {number(value)}" for name, value in self.operands.items())
        if self.incoming is None or self.outgoing is None:
            return f"{place}{f' ({kept})' if kept else ''}"
        product = f"incoming gradient {number(self.incoming)}"
        if self.factor is not None:
            product += f" × local factor {number(self.factor)}"
        return f"{place}: {product} = {number(self.outgoing)}{f', where {kept}' if kept else ''}"

    @property
    def already(self) -> str | None:
        """The name of an operand that was not finite in the forward pass; None if a mask is to blame, or all are finite."""
        broken = (name for name, value in self.operands.items() if not np.isfinite(value))
        return next(broken, None) if self.mask is None else None

    def advice(self, made: str = "") -> str:
        """A sentence on a mask times an infinite factor, or on a missing derivative, with the fix; otherwise empty.

        `made` says where an operand that was not finite comes from, if that is known.
        """
        already = self.already
        if already is not None:
            made = made or f"{package}.detect_anomaly() around that names the operation which made it"
            return f"It was there before: {already} is {number(self.operands[already])} in the forward pass, and {made}"
        if self.mask is None:
            pole = self.factor is not None and not np.isfinite(self.factor)
            return str(POLES.get(self.entry.node.primitive.name, "")) if pole else ""
        node = self.mask.node
        place = "" if not self.at else f" at index {self.at}"
        if node.primitive.name != "where":
            return (
                f"0 × {self.kind}: {made_at(node)} had masked this value out{place}, so its gradient is 0 there, and 0 "
                f"times {self.kind} is nan. Mask the input of {operation_of(self.entry.node)}, not its result"
            )
        side = ("", "input", "other")[self.mask.place]
        return (
            f"0 × {self.kind}: the gradient of the branch of where() at {describe(node.site)} that is not selected{place} "
            f"(the argument {side!r}) is 0 there, and 0 times {self.kind} is nan. Replace what goes into "
            f"{operation_of(self.entry.node)} where the condition deselects it, x = where(condition, x, 1), or give where functions "
            f"that it calls only where they are selected: {package}.where(condition, f, g, x)"
        )

    @property
    def kind(self) -> str:
        """The value of the factor: 'inf' or 'nan'."""
        return "nan" if self.factor is not None and np.isnan(self.factor) else "inf"


def cause(ledger: Ledger, entry: Entry, index: Index) -> Cause:
    """The cause at an entry, for one element of the contribution."""
    incoming = element(entry.incoming, above(entry, index))
    factor = _factor(entry, index) if stays(entry) else None
    mask = None
    if vanishes(entry.incoming, above(entry, index)) and (factor is None or not np.isfinite(factor)):
        mask = _mask(ledger, entry, above(entry, index))
    return Cause(entry, index, incoming, factor, element(entry.outgoing, index), operands(entry, index), mask)


def _factor(entry: Entry, index: Index) -> Any:
    """The local derivative of an element: the rule applied to 1."""
    node = entry.node
    if index is None or node.foreign or node.hooks is not None or not isinstance(entry.saved, tuple):
        return None
    like = next(arrays(entry.incoming))
    edges = tuple(edge if place == entry.place else None for place, edge in enumerate(node.edges))
    saved = tuple(None if cell is None else _Value(cell.array) for cell in entry.saved)
    answer = quiet.run(node.pull, _xp, np.ones_like(like), edges, saved, node.params)[entry.place]
    return None if answer is None else element(quiet.run(sum_to, _xp, answer, entry.edge.shape), index)


class _Value(NamedTuple):
    """A saved value in the form that rules take, on arrays."""

    value: Value

    @property
    def array(self) -> Array:
        """The values as plain arrays."""
        return self.value._elements() if isinstance(self.value, Carrier) else self.value


def operands(entry: Entry, index: Index) -> dict[str, Any]:
    """The saved elements at an index, by their names in the rule."""
    node = entry.node
    if index is None or node.foreign or not isinstance(entry.saved, tuple):
        return {}
    found = {}
    for (name, _), cell in zip(node.primitive.kept(len(node.edges)), entry.saved, strict=True):
        if cell is not None and (at := element(_Value(cell.array).array, index)) is not None:
            found["result" if name == "y" else name] = at
    return found


def _mask(ledger: Ledger, entry: Entry, index: Index) -> Entry | None:
    """The mask that caused the zero in the incoming cotangent of an entry."""
    seen: set[Node] = set()
    waiting = [(entry.node, index)]
    while waiting:
        node, place = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for upper in ledger.into(node):
            if not vanishes(upper.outgoing, place):
                continue
            higher = above(upper, place)
            if not vanishes(upper.incoming, higher):
                if _masks(upper, place):
                    return upper
            else:
                waiting.append((upper.node, higher))
    return None


def _masks(entry: Entry, index: Index) -> bool:
    """True if an operation selects elements: `where`, masks, and products with zeros."""
    name = entry.node.primitive.name
    return name in MASKS or (name == "multiply" and any(not value for value in operands(entry, index).values()))


# 4. Where it began


def origin_of(ledger: Ledger, node: Node, index: Index) -> tuple[Entry, Index] | None:
    """The entry at which the NaN or inf in a node's cotangent first appeared, and the index there; None if the root had it."""
    seen: set[Node] = set()
    while node not in seen:
        seen.add(node)
        for entry in ledger.into(node):
            if not clean(entry.outgoing, index):
                higher = above(entry, index)
                if clean(entry.incoming, higher):
                    return entry, _located(entry.outgoing, index)
                node, index = entry.node, _located(entry.incoming, higher)
                break
        else:
            return None
    return None


def _located(value: object, index: Index) -> Index:
    """The index; if it is None, that of the first element that is not finite."""
    if element(value, index) is not None:
        return index
    pieces = list(arrays(value))
    bad = None if len(pieces) != 1 else ~np.isfinite(pieces[0])
    return first(bad) if bad is not None and bad.any() else None
