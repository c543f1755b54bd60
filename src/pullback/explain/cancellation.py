"""Digits lost: each operation of a program, and each rule of backward, beside itself in float64, and where the two part."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import Tensor
from ..interpreters import pull
from ..observe import AccumulateGrad, BackwardPass, Node, Observer, Operation, Site, replay, value, version
from .arrays import Array
from .numbers import short
from .sheets import Sheet
from .sources import Place, excerpt_at, place_of

FULL = 7.2
"""The number of decimal digits of float32."""
MISSED = 2.0
"""The number of digits of a result or a gradient that must be missing before anything is said."""
LOST = 3.0
"""The number that the line must lose: two may be lost by chance, where numbers of both signs are added."""
SPARED = 0.05
"""The share of the elements of a large tensor that may be worse: where numbers of both signs are added, some are near 0."""
VANISHING = 2.0**-40
"""A number so small beside its operands is not judged: it may be 0, of which float64 knows no digit either."""
SLIGHT = 2.0**-20
"""Elements of a gradient so small beside the largest of all gradients are rounding of what is 0 in mathematics."""
NARROW = (np.dtype(np.float32), np.dtype(np.float16))
SUMS = {"add", "subtract", "rsub", "sum", "mean"}
FIXES = {
    "exp": "exp(x) - 1 is expm1(x), which is right near 0",
    "cos": "1 - cos(x) is 2 * sin(x / 2)**2",
    "sqrt": "sqrt(a) - sqrt(b) is (a - b) / (sqrt(a) + sqrt(b))",
    "sigmoid": "1 - sigmoid(x) is sigmoid(-x)",
    "softmax": "1 - p is the sum of the other probabilities; for log(1 - p), use log_softmax or logsumexp",
    "tanh": "1 - tanh(x) is 2 * sigmoid(-2 * x)",
    "log": "log(a) - log(b) is log1p((a - b) / b)",
    "sin": "for small x, use the first terms of the series: x - sin(x) is x**3 / 6 - x**5 / 120",
    "square": "subtract first: the variance is ((x - x.mean())**2).mean(), and a**2 - b**2 is (a - b) * (a + b)",
    "multiply": "subtract first: the variance is ((x - x.mean())**2).mean(), and a*a - b*b is (a - b) * (a + b)",
    "reciprocal": "1/a - 1/b is (b - a) / (a * b)",
    "divide": "1/a - 1/b is (b - a) / (a * b)",
}
"""What to write instead of a difference, by the operation that made what is subtracted."""
QUOTIENTS = {"reciprocal", "divide"}
"""What helps a difference of two of these helps no other."""
FIXES["power"] = FIXES["square"]
LOGARITHM = "log(1 + x) is log1p(x), which is right near 0"
PLAIN = "subtract the nearly equal parts before they are rounded, or compute this line in float64"
NEAREST = 4
"""The number of operations before a difference that are looked at for a fix."""


class Loss(NamedTuple):
    """A line at which digits are lost that a result or a gradient then lacks.

    >>> import pullback
    >>> with pullback.explain.digits() as found:
    ...     y = pullback.exp(pullback.tensor(1e-5)) - 1
    >>> found.losses[0].operation, found.losses[0].phase, found.losses[0].left < 4 < found.losses[0].given
    ('subtract', 'forward', True)
    """

    operation: str
    phase: str
    place: Place | None
    left: float
    """How many digits of its result are right."""
    given: float
    """How many were right of the worst of its operands."""
    value: float
    exact: float
    """The element that is off the most, and what float64 gives there."""
    fix: str

    def __str__(self) -> str:
        what = self.operation if self.phase == "forward" else f"the derivative of {self.operation}"
        code = excerpt_at(self.place).expr
        line = "" if self.place is None else f" at {self.place.where}{f': {code}' if code else ''}"
        return (
            f"{what}{line}: {self.left:.1f} of {FULL} digits are right, {self.given:.1f} of its operands; "
            f"it gave {short(self.value, 8)} for {short(self.exact, 8)}. {self.fix[0].upper()}{self.fix[1:]}"
        )


class _Step(NamedTuple):
    """An operation, or a rule, that has run twice."""

    name: str
    phase: str
    site: Site
    before: Sequence[_Step]
    left: float
    value: float
    exact: float

    @property
    def given(self) -> float:
        return min((each.left for each in self.before), default=FULL)


class _Known(NamedTuple):
    """A tensor that the program has, its number of writes, and the same in float64."""

    tensor: Any
    version: int | None
    exact: Any
    step: _Step | None


class Digits(Observer):
    """A block whose operations and backward passes are computed in float64, too: what `digits` gives.

    >>> import pullback
    >>> with pullback.explain.digits() as found:
    ...     y = (pullback.tensor([1.0, 2.0]) * 3).sum()
    >>> found.losses, str(found)
    ([], 'no digits are lost: 2 steps were compared with float64')
    """

    finds_modules = False

    def __init__(self) -> None:
        super().__init__()
        self.losses: list[Loss] = []
        self.steps = 0
        """The number of operations and rules that were compared."""
        self._known: dict[int, _Known] = {}
        self._made: dict[Node, tuple[Operation, list[Any], Any]] = {}
        self._last: dict[int, _Step] = {}

    def operation(self, seen: Operation) -> None:
        """Run an operation again on its operands in float64."""
        if not seen.computed:
            return
        known = [self._find(each) for each in seen.arguments]
        exact = [each.exact for each in known]
        params = _settings(seen)
        with np.errstate(all="ignore"):
            found = seen.primitive(*exact, **params)
        before = [each.step for each in known if each.step is not None]
        for each in before:
            self._last.pop(id(each), None)
        for made, high in zip(seen.results, found if type(found) is tuple else (found,), strict=True):
            low, wide = value(made), _array(high)
            step = None
            if low.dtype in NARROW:
                step = self._compared((seen.name, "forward", seen.site), before, low, wide, _size(exact))
                self._last[id(step)] = step
            self._known[id(made)] = _Known(made, version(made), wide, step)
        if seen.node is not None:
            self._made[seen.node] = seen, exact, found

    def begins(self, backward: BackwardPass) -> None:
        """Run the rules of a pass in float64 beside those of the program."""
        _Rules(self, backward).run()

    def _find(self, operand: Any) -> _Known:
        """An operand in float64: as it was computed, if nothing has written to it since."""
        if not isinstance(operand, Tensor):
            return _Known(operand, None, _widened(operand), None)
        known = self._known.get(id(operand))
        if known is None or known.version != version(operand):
            known = _Known(operand, version(operand), _widened(value(operand)), None)
        return known

    def _compared(
        self, what: tuple[str, str, Site], before: Sequence[_Step], low: Array, high: Array, size: float
    ) -> _Step:
        self.steps += 1
        return _Step(*what, before, *_right(low, high, VANISHING * size))

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        for step in self._last.values():
            self._tell(step)
        self._known.clear()
        self._made.clear()
        self._last.clear()

    def _tell(self, end: _Step) -> None:
        """Name the step that has lost most of the digits that a result, or a gradient, lacks."""
        if end.left > FULL - MISSED:
            return
        worst, step = end, end
        while step.before and step.given < FULL - 1:
            step = min(step.before, key=lambda each: each.left)
            if step.given - step.left > worst.given - worst.left:
                worst = step
        if worst.given - worst.left < LOST:
            return
        place = place_of(worst.site)
        here = place, worst.name, worst.phase
        if all((each.place, each.operation, each.phase) != here for each in self.losses):
            given = worst.left, worst.given, worst.value, worst.exact
            self.losses.append(Loss(worst.name, worst.phase, place, *given, _fix(worst)))

    def __str__(self) -> str:
        return "\n".join(map(str, self.losses)) or f"no digits are lost: {self.steps} steps were compared with float64"

    def sheet(self) -> Sheet:
        """The lines that lose digits as a table."""
        rows = [
            [
                "" if each.place is None else each.place.where, excerpt_at(each.place).expr or "", each.operation, each.phase,
                short(each.value, 8), short(each.exact, 8), f"{each.left:.1f}",
            ]
            for each in self.losses
        ]  # fmt: skip
        columns = ["line", "source", "operation", "of", "it gave", "in float64", "digits right"]
        least = min((each.left for each in self.losses), default=FULL)
        bars = [each.left / FULL for each in self.losses]
        marked = min(range(len(rows)), key=bars.__getitem__) if rows else None
        return Sheet("digits", "Digits", f"{least:.1f} of {FULL} right", str(self), columns, rows, bars, marked)


class _Rules:
    """A backward pass in float64, beside the program's own."""

    def __init__(self, digits: Digits, backward: BackwardPass) -> None:
        self.digits, self.backward = digits, backward
        self.sums: dict[Node, list[tuple[Any, _Step | None]]] = {}
        self.totals: dict[Node, tuple[Any, _Step | None]] = {}
        self.ends: list[tuple[Array, Array, _Step]] = []
        self.largest = 0.0

    def run(self) -> None:
        """Walk the graph; what is lost on the way is told if a leaf's gradient lacks it."""
        with np.errstate(all="ignore"):
            for node, g in self.backward.roots:
                self.sums[node] = [(_widened(g), None)]
            replay(
                self.backward.tape, self.backward.nodes, self.backward.roots, self.backward.needed,
                self.arrived, self.sent,
            )  # fmt: skip
        largest = max((float(np.abs(high).max()) for _, high, _ in self.ends if high.size), default=0.0)
        least = max(SLIGHT * largest, VANISHING * self.largest)
        for low, high, step in self.ends:
            self.digits._tell(step._replace(left=_right(low, high, least)[0]))

    def arrived(self, node: Node, g: Any) -> None:
        """Add what has reached a node, in float64."""
        terms = self.sums.pop(node, [])
        g = np.asarray(g) if isinstance(g, np.generic) else g
        if not isinstance(g, np.ndarray) or not terms:
            self.totals[node] = _widened(g), None
            return
        high, step = sum(each for each, _ in terms), next((each for _, each in terms if each is not None), None)
        if g.dtype in NARROW and (len(terms) > 1 or isinstance(node, AccumulateGrad)):
            before = [each for _, each in terms if each is not None]
            what = (
                before[0].name if before else "the loss",
                "backward",
                before[0].site if before else self.backward.site,
            )
            step = self.digits._compared(what, before, g, high, _size([each for each, _ in terms]))
            if isinstance(node, AccumulateGrad):
                self.ends.append((g, high, step))
        self.totals[node] = high, step

    def sent(self, node: Node, edges: tuple[Node | None, ...], results: list[Any]) -> None:
        """Apply a node's rule in float64."""
        g, arriving = self.totals.pop(node)
        made = self.digits._made.get(node)
        found = [None] * len(edges) if made is None else self.pulled(made, g, edges)
        before = [] if arriving is None else [arriving]
        if made is not None:
            before += [each.step for each in map(self.digits._find, made[0].arguments) if each.step is not None]
        arrays = [np.asarray(each) if isinstance(each, np.generic) else each for each in results]
        for edge, low, high in zip(edges, arrays, found, strict=False):
            if edge is None or low is None:
                continue
            if made is None or high is None or not isinstance(low, np.ndarray):
                self.sums.setdefault(edge, []).append((_widened(low), None))
                continue
            what = made[0].name, "backward", made[0].site
            self.largest = max(self.largest, _size([high]))
            step = self.digits._compared(what, before, low, high, _size([g])) if low.dtype in NARROW else None
            self.sums.setdefault(edge, []).append((high, step))

    @staticmethod
    def pulled(made: tuple[Operation, list[Any], Any], g: Any, edges: tuple[Node | None, ...]) -> list[Any]:
        """The cotangents of a node's inputs in float64, each of its input's shape."""
        seen, exact, result = made
        wanted = [edge is not None for edge in edges]
        found = pull(seen.primitive, None, g, exact, result, _settings(seen), wanted)
        return [
            None if each is None else _summed(np.asarray(each), np.shape(operand))
            for each, operand in zip(found, exact, strict=False)
        ]


def _summed(g: Array, shape: tuple[int, ...]) -> Array:
    """A cotangent summed over the axes along which an operand of a shape was broadcast."""
    summed = g.sum(tuple(range(g.ndim - len(shape))))
    return np.asarray(summed.sum(tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True))


def digits() -> Digits:
    """A block that finds the lines at which a program loses digits: everything in it is computed again in float64.

    Each operation, and each rule of a backward pass, runs also on float64 values of what it was given, and the results are
    compared element by element. A line is named if digits that it loses are missing in a result or a gradient at the end;
    a difference of nearby numbers that is harmless, as in `x - x.mean()`, is not. What is written in place counts as exact
    from there on. A program that computes in float64 already has nothing to be compared with.

    >>> import pullback
    >>> x = pullback.tensor(1e-4, requires_grad=True)
    >>> with pullback.explain.digits() as found:
    ...     y = 1 - pullback.cos(x)
    ...     y.backward()
    >>> print(found)  # doctest: +ELLIPSIS
    rsub at ...: 0.0 of 7.2 digits are right, 7.2 of its operands; it gave 0 for ... 1 - cos(x) is 2 * sin(x / 2)**2
    """
    return Digits()


def _right(low: Array, high: Array, least: float) -> tuple[float, float, float]:
    """How many digits of an array are right, and the worst element of those that count, beside the exact one."""
    low, high = np.asarray(low, high.dtype).reshape(-1), high.reshape(-1)
    known = (
        (np.abs(high) > least) & (np.abs(high) > np.finfo(np.float32).tiny) & (np.abs(high) < np.finfo(np.float32).max)
    )
    low, high = low[known], high[known]
    if not high.size:
        return FULL, 0.0, 0.0
    with np.errstate(all="ignore"):
        off = np.nan_to_num(np.abs(low - high), nan=np.inf)
        each = _digits(off / np.abs(high))
        whole = float(_digits(np.asarray(np.linalg.norm(off) / np.linalg.norm(high))))
    place = np.argsort(each, kind="stable")[int(SPARED * each.size)]
    return min(whole, float(each[place]) + 1, FULL), low[place].real.item(), high[place].real.item()


def _digits(ratio: Array) -> Array:
    found: Array = np.clip(-np.log10(np.clip(ratio, 10.0**-FULL, 1)), 0, FULL) + 0.0
    return found


def _fix(step: _Step) -> str:
    """What a teacher would say of a step: by what made the operands, the nearest first."""
    if step.name == "log":
        return LOGARITHM
    if step.name in SUMS:
        waiting = deque((each, 1) for each in step.before)
        while waiting:
            each, depth = waiting.popleft()
            quotients = len(step.before) == 2 and all(other.name in QUOTIENTS for other in step.before)
            if each.name in FIXES and (quotients or each.name not in QUOTIENTS):
                return FIXES[each.name]
            waiting.extend((other, depth + 1) for other in each.before if depth < NEAREST)
    return PLAIN


def _array(found: Any) -> Any:
    return value(found) if isinstance(found, Tensor) else np.asarray(found)


def _size(operands: Sequence[Any]) -> float:
    """The largest number among operands."""
    arrays = [np.asarray(each) for each in operands if not isinstance(each, (list, tuple))]
    return max((float(np.abs(each).max()) for each in arrays if each.size and each.dtype.kind in "fc"), default=0.0)


def _settings(seen: Operation) -> dict[str, Any]:
    """An operation's settings for float64, without what it has computed before in float32."""
    return {name: None if name == "known" else _widened(each) for name, each in seen.params.items()}


def _widened(given: Any) -> Any:
    """An operand, or an operation's setting, with float64 for narrower floats."""
    if isinstance(given, np.dtype):
        return np.dtype(np.float64) if given in NARROW else given
    if isinstance(given, (np.ndarray, np.generic)):
        return np.asarray(given, np.float64) if given.dtype in NARROW else given
    if isinstance(given, (tuple, list)) and not hasattr(given, "_fields"):
        return type(given)(map(_widened, given))
    return given
