"""Anomaly mode: the first NaN or inf raises an error that names the line, in forward and in backward.

Each result is checked for finiteness, except where the processor does so: by IEEE 754, arithmetic that produces NaN or
inf from finite numbers raises a flag, which NumPy reports. A value that is not finite is a suspect, but not always an
error: `_tape.faults` has the rule. So its operation and operands are remembered, and the error is raised when the value
reaches a result. In a backward pass only the final gradients are checked; if one is not finite, the pass is run again with
a ledger that records every gradient.
"""

from __future__ import annotations

import functools
import itertools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.errors import operation_name, operation_of
from .._core.modes import Computing, ModeBlock, changed, mode, quiet
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .._core.sites import Site, caller, describe
from .._tape.diagnosis import Cause, cause, made_at, number, origin_of
from .._tape.faults import begins, fault, kind_of
from .._tape.ledger import Entry, Ledger, arrays, finite, first
from .._tape.node import Node, count
from .._tape.observers import ResultObserver, passing, pieces
from .._tape.walk import Pass

if TYPE_CHECKING:
    from .._core.modes import Mode
    from .._core.typing import Array, Tensor, Value

POLICIES: dict[str, Callable[[Array], Array]] = {
    "nan": np.isnan,
    "inf": np.isinf,
    "both": lambda array: ~np.isfinite(array),
}
TAME = {
    "abs", "broadcast_to", "clip", "concat", "copy", "cos", "expand_dims", "flip", "getitem", "index",
    "matrix_transpose", "maximum", "minimum", "negative", "permute_dims", "relu", "reshape", "roll", "sigmoid", "sign",
    "sin", "split", "squeeze", "stack", "tanh", "unbind", "where",
}  # fmt: skip
"""Operations whose results are finite if their operands are: checked only where an operand may be a suspect."""
FLAGGED: set[str] = {"add", "divide", "multiply", "reciprocal", "rsub", "rsqrt", "sqrt", "square", "subtract"}
"""Elementary operations of IEEE 754, which raise a flag for every NaN and inf produced from finite numbers.

Matrix products are excluded, since their threads have flags of their own; and so are sums, which may be computed as
such products.
"""
PROBES = {"exp": (2e4,), "expm1": (2e4,), "log": (0, -1), "log1p": (-1, -2)}
"""Functions that NumPy may compute without raising flags, which `calm` tests, with arguments that give NaN or inf."""
ALL_SEEN: frozenset[Primitive] = frozenset()

Walk = Callable[..., None]
ndarray = np.ndarray


@functools.cache
def calm() -> frozenset[Primitive]:
    """Operations whose results need no check while there is no suspect and no flag has been raised."""
    heard: list[str] = []
    copy = Computing(lambda kind, flag: heard.append(kind)).copy

    def raises(name: str, pole: float, dtype: str, place: int, step: int) -> bool:
        array = np.ones(step * 67, dtype)[::step]  # several full vector registers and a remainder
        array[place] = pole
        heard.clear()
        result = copy().run(getattr(ops, name).forward, array)
        return bool(heard or np.isfinite(result).all())

    tries = list(itertools.product("efdgFDG", (0, 33, 66), (1, 2)))
    told = {name for name, poles in PROBES.items() if all(raises(name, pole, *one) for pole in poles for one in tries)}
    flagged = FLAGGED if raises("sqrt", -1, "d", 0, 1) else set()  # WebAssembly has no flags
    return frozenset(getattr(ops, name) for name in TAME | flagged | told)


class AnomalyError(RuntimeError):
    """Raised by anomaly mode for a number that is not finite.

    `phase` is 'forward' or 'backward'. `operation` and `site` name the operation that produced the number and its line.
    `index` is its position in the result (in backward: in the gradient of the operation's input), and `value` the
    number itself. In backward `gradient` is the incoming gradient and `factor` the local derivative at that index.
    `masked_by` is the line of the `where`, or other mask, that had deselected the value, else None.
    """

    phase: str
    operation: str
    site: str
    index: tuple[int, ...] | None
    value: Any
    gradient: Any = None
    factor: Any = None
    masked_by: str | None = None


# 1. Forward


class Origin(NamedTuple):
    """The operation in which numbers that are not finite began; or, not `new`, the first that got them from the program."""

    operation: str
    site: Site
    at: tuple[int, ...]
    value: Any
    given: str
    new: bool

    def error(self, how: str) -> AnomalyError:
        """The error; `how` says why the number matters."""
        place = f" at index {self.at}" if self.at else ""
        error = AnomalyError(
            f"{self.operation} at {describe(self.site)} gave {number(self.value)}{place}{self.given}, and {how}"
        )
        error.phase, error.operation, error.site = "forward", self.operation, describe(self.site)
        error.index, error.value = self.at, self.value
        return error


class Suspect:
    """A value with numbers that are not finite, and whether an operation has used it since."""

    __slots__ = ("array", "origin", "taken")

    def __init__(self, array: weakref.ref[Array], origin: Origin) -> None:
        self.array = array
        self.origin = origin
        self.taken = False

    @property
    def matters(self) -> bool:
        """True if the program did not supply it, and no operation has used it."""
        return self.origin.new and not self.taken


_looking: weakref.WeakSet[Anomalies] = weakref.WeakSet()
"""All active observers. Flags of every thread are reported to each: a needless check does no harm."""


def _told(kind: str, flag: int) -> None:
    """The callback for a raised flag: check results from here on, until one is finite and no suspect is left."""
    for observer in list(_looking):
        observer.unseen = ALL_SEEN


class Anomalies(ResultObserver):
    """The observer that looks for numbers that are not finite."""

    copy = Computing(_told).copy

    def __init__(self, before: Mode, check_nan: bool, policy: str) -> None:
        super().__init__(before)
        self.check_nan = check_nan
        self.bad = POLICIES[policy]
        self.suspects: dict[int, Suspect] = {}
        self.nodes: weakref.WeakKeyDictionary[Node, Origin] | None = None
        self.dropped: Origin | None = None
        self.calm = self.unseen = calm()
        self.since = next(count)
        """Nodes with a larger number were made inside the block, or after it."""
        _looking.add(self)

    def fields(self) -> dict[str, Any]:
        """The mode fields that install this observer; with check_nan=False it checks nothing."""
        return super().fields() if self.check_nan else {"watcher": self}

    def sees(self, primitive: Primitive, params: dict[str, Any], values: Sequence[object], out: Any) -> None:
        """Check a result; the common case, a finite one, returns early."""
        suspects = self.suspects
        if not suspects and (finite(out._array) if type(out) is not tuple else all(finite(p._array) for p in out)):
            self.unseen = self.calm
            return
        for piece in pieces(out):
            array = piece._array
            if finite(array):
                if suspects:
                    self._take(values)
            elif not passing():
                self._suspect(primitive, params, values, piece)

    def _take(self, values: Sequence[object]) -> Origin | None:
        """Mark the suspects among some operands as used, and return the origin of one, if it can of one that is new."""
        found = [suspect for value in values if (suspect := self.suspects.get(id(value))) is not None]
        for suspect in found:
            suspect.taken = True
        return max((suspect.origin for suspect in found), key=operator.attrgetter("new"), default=None)

    def _suspect(self, primitive: Primitive, params: dict[str, Any], values: Sequence[object], piece: Tensor) -> None:
        """Remember a result that is not finite, and where it began; values supplied by the user do not count."""
        array = piece._array
        origin = self._take(values)
        if origin is None or not origin.new:
            here = _origin(primitive, params, values, array)
            origin = here if here.new or origin is None else origin
        if not self.bad(array).any() or (piece._node is None and not origin.new):
            return  # what the program supplied matters where it becomes part of a graph
        key = id(array)
        self.unseen = ALL_SEEN
        self.suspects[key] = Suspect(weakref.ref(array, functools.partial(self._gone, key)), origin)
        if piece._node is not None:
            if self.nodes is None:
                self.nodes = weakref.WeakKeyDictionary()
            self.nodes[piece._node] = origin

    def _gone(self, key: int, _: object) -> None:
        """The callback for a suspect's array being freed: it matters if no operation has used the suspect."""
        suspect = self.suspects.pop(key, None)
        if suspect is not None and suspect.matters and self.dropped is None:
            self.dropped = suspect.origin

    def settle(self) -> None:
        """Raise for a suspect that no operation has used: it is a result of the block."""
        left = next((suspect.origin for suspect in self.suspects.values() if suspect.matters), self.dropped)
        if left is not None:
            raise left.error("nothing has masked it since")

    # 2. Backward

    def begins(self, walker: Pass, order: list[Node], roots: Sequence[tuple[Node, Value]], needed: Any) -> Walk:
        """Check the roots now, and the final gradients after the pass."""
        walk = walker.walk if self.before is None else self.before.begins(walker, order, roots, needed)
        if not self.check_nan:
            return walk
        if self.nodes is not None:
            for node, _ in roots:
                if (origin := self.nodes.get(node)) is not None and (origin.new or not node.shape):
                    for suspect in self.suspects.values():  # told now, and not once more at the end of the block
                        suspect.taken = suspect.taken or suspect.origin is origin
                    raise origin.error("backward starts from it, or from a result computed from it")
        return functools.partial(self._walk, walker, walk)

    def _walk(
        self, walker: Pass, walk: Walk, order: list[Node], pending: dict[Node, Array], wanted: Any, needed: Any
    ) -> None:
        """Run the pass; if a gradient is not finite, restore the graph's saved values and locate the origin.

        If the user's hooks or functions take part, which may behave differently the second time, the first pass already
        uses a ledger.
        """
        kept, start = [*map(_saved, order)], pending.copy()
        ledger = Ledger(pending) if walker.foreign else None
        walk(order, pending if ledger is None else ledger, wanted, needed)
        for _, g in walker.leaves:
            if type(g) is not ndarray or not finite(g):
                break
        else:
            if not walker.found and not walker.retained:
                return
        broken = self._broken(walker)
        if broken is None:
            return
        for node, saved in zip(order, kept, strict=True):
            node.saved = saved
        if ledger is None:
            ledger = Ledger(start)
            again = Pass(walker.tape, walker.create_graph, walker.recording, walker.xp is _xp, None)
            again.walk(order, ledger, wanted, needed)
        raise self._pulled(ledger, *broken)

    def _pulled(self, ledger: Ledger, node: Node, index: tuple[int, ...]) -> AnomalyError:
        """The error for a gradient that is not finite."""
        place = quiet.run(origin_of, ledger, node, index)
        if place is None:
            return _given(ledger, node, index)
        found: Cause = quiet.run(cause, ledger, *place)
        entry = found.entry
        kind = kind_of(next(arrays(entry.outgoing)) if found.outgoing is None else found.outgoing)
        text = (
            f"Function '{entry.node.title}' returned {kind} values in its {entry.place}th output.\n"
            f"  {made_at(entry.node)}{found.numbers()}"
        )
        advice = found.advice(self._made(entry))
        error = AnomalyError(f"{text}\n  {advice}" if advice else text)
        error.operation, error.site = operation_of(entry.node), describe(entry.node.site)
        error.index, error.value = found.at, found.outgoing
        error.gradient, error.factor = found.incoming, found.factor
        error.masked_by = None if found.mask is None else describe(found.mask.node.site)
        error.phase = "backward"
        return error

    def _made(self, entry: Entry) -> str:
        """Where the values come from that an operation of this block has saved and that are not finite; empty if unknown."""
        if entry.node.seq < self.since or not self.check_nan or not isinstance(entry.saved, tuple):
            return ""
        saved = [cell.array for cell in entry.saved if cell is not None]
        found = [self.suspects.get(id(x._elements() if isinstance(x, Carrier) else x)) for x in saved]
        origin = next((each.origin for each in found if each is not None and each.origin.new), None)
        if origin is not None:
            return f"{origin.operation} at {describe(origin.site)} had made it{origin.given}"
        return (
            "no operation of this block has made it from finite numbers: the program has put it in. If it was computed "
            f"before, put that into the block of {package}.detect_anomaly(), too"
        )

    def _broken(self, walker: Pass) -> tuple[Node, tuple[int, ...]] | None:
        """A node whose final gradient is not finite, and the first such index; None if all are finite."""
        retained = ((tensor._node, g) for tensor, g in walker.retained)
        for node, g in (*walker.leaves, *walker.found.items(), *retained):
            for array in arrays(g):
                if not finite(array) and (bad := self.bad(array)).any():
                    return node, first(bad)
        return None


_saved = operator.attrgetter("saved")


def _origin(primitive: Primitive, params: dict[str, Any], values: Sequence[object], array: Array) -> Origin:
    """The origin of the NaN or inf in a result of operands that are no suspects."""
    operands = {
        name: value
        for name, value in zip(_names(primitive, len(values)), values, strict=True)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    }
    kind, index = fault(array) or ("", ())
    given = ", ".join(_shown(name, value, array.shape, index, primitive) for name, value in operands.items())
    text = f" from {given}" if given else ""
    new = begins(kind, map(kind_of, operands.values()))
    return Origin(operation_name(primitive, params), caller(), index, array[index], text, new)


def _names(primitive: Primitive, count: int) -> list[str]:
    """The names of an operation's operands."""
    names = list(primitive.inputs)
    return names if len(names) == count else [f"operand {place}" for place in range(count)]


def _shown(name: str, value: Array, shape: tuple[int, ...], index: tuple[int, ...], primitive: Primitive) -> str:
    """An operand as text: its element at the index, or its range if the operation mixes elements."""
    if primitive.kind == "elementwise":
        return f"{name} = {number(np.broadcast_to(value, shape)[index])}"
    if value.size == 0 or value.dtype.kind == "c":
        return f"{name} of shape {value.shape}"
    return f"{name} between {number(value.min())} and {number(value.max())}"


def _given(ledger: Ledger, node: Node, index: tuple[int, ...]) -> AnomalyError:
    """The error for numbers that no backward rule produced: the gradient passed in, or a sum that overflows."""
    entries = ledger.into(node)
    summed = len(entries) > 1 and all(finite(array) for entry in entries for array in arrays(entry.outgoing))
    origin = (
        f"the contributions to the gradient of {made_at(node)} are finite, and their sum is not"
        if summed
        else "the gradient that was passed to backward is not finite"
    )
    error = AnomalyError(f"A gradient is not finite at index {index}: {origin}")
    error.phase, error.operation, error.site = "backward", "backward", describe(node.site)
    error.index, error.value = index, None
    return error


# 3. The mode


def _checked(name: str, check_nan: object, policy: object) -> None:
    if policy not in POLICIES:
        raise ValueError(f"{name}: policy is 'nan', 'inf' or 'both', not {policy!r}")
    if not isinstance(check_nan, bool):
        raise TypeError(f"{name}(): argument 'check_nan' must be bool, not {type(check_nan).__name__}")


class detect_anomaly(ModeBlock):
    """A block in which the first NaN or inf raises `AnomalyError`, a RuntimeError that names the operation and the line.

    An operation that produces NaN or inf from finite numbers is remembered. It raises when the value reaches a result:
    when backward starts from it, or when it is left at the end of the block and no operation has used it. Not errors are
    values that `where` or an index deselects, also after they have been added up with others, -inf that `exp` or `softmax`
    maps to 0, and values that the program supplied itself. backward raises if a final gradient is not finite,
    before `.grad` is written, and the graph is retained. The error has the forward line, the incoming gradient, the
    local factor and the index, and says if a mask's zero was multiplied by inf. The graph may have been recorded before
    the block.

    Works as `with detect_anomaly():` and as a decorator. The mode belongs to the thread.

    Parameters
    ----------
    check_nan
        False disables all checks: the mode is then on only nominally, as in torch.
    policy
        What is reported: 'nan', 'inf', or 'both' (the default).

    Raises
    ------
    ValueError
        If `policy` is none of those.
    TypeError
        If `check_nan` is not a bool.

    >>> import pullback
    >>> x = pullback.tensor([0.0, 4.0], requires_grad=True)
    >>> with pullback.detect_anomaly():  # doctest: +ELLIPSIS
    ...     (3 * x.sqrt()).sum().backward()
    Traceback (most recent call last):
        ...
    pullback.autograd.anomaly_mode.AnomalyError: Function 'SqrtBackward0' returned inf values in its 0th output.
      sqrt at ... at index (0,): incoming gradient 3 × local factor inf = inf, where result = 0
      The derivative of sqrt at 0 is inf...
    """

    def __init__(self, check_nan: bool = True, *, policy: str = "both") -> None:
        super().__init__()
        _checked("detect_anomaly", check_nan, policy)
        self._options = check_nan, policy
        self._observers: list[Anomalies] = []

    def _fields(self) -> dict[str, Any]:
        self._observers.append(Anomalies(mode.get(), *self._options))
        return self._observers[-1].fields()

    def _fresh(self) -> ModeBlock:
        check_nan, policy = self._options
        return type(self)(check_nan, policy=policy)

    def _left(self, error: object) -> None:
        observer = self._observers.pop()
        if error is None:
            observer.settle()


class set_detect_anomaly:
    """A switch for anomaly mode: it takes effect when called, and until the end of the block when used with `with`.

    `check_nan` and `policy` are as for `detect_anomaly`. Without a block there is no end of the block, so a suspect
    that no operation uses is never reported.

    Raises
    ------
    TypeError
        If `mode` or `check_nan` is not a bool.
    ValueError
        If `policy` is not known.

    >>> import pullback
    >>> with pullback.autograd.set_detect_anomaly(True):
    ...     pullback.is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True, *, policy: str = "both") -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_detect_anomaly(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
            )
        _checked("set_detect_anomaly", check_nan, policy)
        self._before = _switch(mode, check_nan, policy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        observer = _observer()
        mode.set(changed(**self._before))
        if observer is not None and exc[0] is None:
            observer.settle()


def _switch(on: bool, check_nan: bool, policy: str) -> dict[str, Any]:
    """Replace the current observer, if any; returns the previous mode fields."""
    current = mode.get()
    fields = {"compute": current.compute, "watcher": current.watcher}
    old = _observer()
    if old is current.watcher and old is not None:
        mode.set(changed(compute=old.computes, watcher=old.before))
    if on:
        mode.set(changed(**Anomalies(mode.get(), check_nan, policy).fields()))
    return fields


def _observer() -> Anomalies | None:
    """The observer of anomaly mode, if it is on."""
    watcher = mode.get().watcher
    while watcher is not None and not isinstance(watcher, Anomalies):
        watcher = getattr(watcher, "before", None)
    return watcher


def is_anomaly_enabled() -> bool:
    """True if this thread is in anomaly mode.

    >>> import pullback
    >>> pullback.is_anomaly_enabled()
    False
    """
    return _observer() is not None


def is_anomaly_check_nan_enabled() -> bool:
    """True if anomaly mode checks numbers; also True while it is off, as in torch.

    >>> import pullback
    >>> with pullback.detect_anomaly(check_nan=False):
    ...     pullback.is_anomaly_check_nan_enabled()
    False
    """
    observer = _observer()
    return observer is None or observer.check_nan
