"""Taylor mode: jet, which pushes truncated power series forwards through every operation.

The series of a result follows from the operation's derivative. If the derivative does not depend on what moves, each
coefficient of the result is the pushforward of those of the operands; products are products of series, and quotients are
divided as series are. For any other operation y = f(x), y'(t) is the pushforward of x'(t) at x(t) and y(t): a program of
operations on series, of which each coefficient needs those of y up to the same order, and gives the next one. So all rules
of higher order come from the derivatives in the table, and order k costs a number of operations proportional to k * k.

Source: Griewank and Walther, Evaluating Derivatives, second edition, chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.bfloat import held
from .._core.modes import restoring
from .._core.primitives import Primitive
from .._core.trees import Structure, unflatten
from ..interpreters import Interpreter
from .forward import applied, as_arrays, fitting, is_moving
from .levels import Following, inner, output_leaves, tensor_of, tensors
from .pushforwards import dtype_of, pushforward

if TYPE_CHECKING:
    from .._core.typing import Params, Result, Returned, Tensor, Value

    Coefficient = Value | None
    """None for zero."""
    Pieces = Sequence[Coefficient]
    """A coefficient of each result of an operation."""
    Done = dict[Hashable, tuple[Any, ...]]

TOLD = frozenset({"elementwise", "multilinear", "general"})
"""The kinds of operations whose rules say which values they read."""


class Series:
    """The derivatives of a curve, by order, which are the coefficients of its power series times order!.

    They are values one level beneath, None for zero.
    """

    def __init__(self, known: Pieces) -> None:
        self.known = known

    def __getitem__(self, order: int) -> Coefficient:
        return self.known[order]

    def moves(self, order: int) -> bool:
        """False if all coefficients from an order on are known to be zero."""
        return any(coefficient is not None for coefficient in self.known[order:])

    @property
    def key(self) -> Hashable:
        """What tells it from others that exist."""
        return id(self)


class TaylorTensor(Following):
    """A value with the power series that begins with it; without one (None) if it does not move."""

    __slots__ = ()

    series: Series | None
    _held = (*Following._held, "series")
    _follows = "series"
    _histories = ("series",)


class Taylor(Interpreter):
    """The interpreter that pushes power series up to an order through every operation, whatever the grad mode."""

    carrier = TaylorTensor

    def __init__(self, order: int) -> None:
        super().__init__()
        self.order = self.limit = order
        self.done: Done | None = None
        """The operations that the derivative being written has in common with what it is the derivative of; None elsewhere.

        So that sin and cos, of which each needs the other, are one series each.
        """

    pushes = True
    """The last order that anything asks for is a pushforward of coefficients, which are values as any others."""

    def box(self, value: object) -> Any:
        """A value that does not move."""
        boxed = super().box(value)
        for piece in boxed if type(boxed) is tuple else (boxed,):
            piece.series = None
        return boxed

    def moving(self, value: Value, series: Series | None) -> Tensor:
        """A value with its series, if that moves."""
        boxed = super().box(value)
        boxed.series = series if series is not None and series.moves(1) else None
        return boxed

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of this level that does not move, so that a value that does can be written to it."""
        return self.box(inner(made))

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on the values, and on their series."""
        pairs = [(arg._array, arg.series) if self.holds(arg) else (inner(arg), None) for arg in args]
        primals, moved = zip(*pairs, strict=True) if pairs else ((), ())
        if not (primitive.differentiable and any(series is not None for series in moved)):
            return self.box(as_arrays(self.computed(primitive, primals, params)))
        key = None if self.done is None else _key(primitive, primals, moved, params)
        known = None if key is None or self.done is None else self.done.get(key)
        if known is not None and known[1] >= self.limit:
            if "call" in params:
                params["call"].repeats(known[4])
            return known[0]
        y = as_arrays(self.computed(primitive, primals, params))
        if not is_moving(y):
            return self.box(y)
        done = {} if self.done is None else self.done
        pushed = Pushed(self, primitive, primals, moved, y, params, done)
        if self.done is None:
            return self._finished(pushed)
        result = pushed.result()
        if key is not None:
            done[key] = result, self.limit, primals, moved, params.get("call")  # whose ids are in the key
        return result

    def _finished(self, pushed: Pushed) -> Result:
        """The results of an operation of the program's own: all coefficients at once, without what they are computed from."""
        if pushed.written:
            key = _key(pushed.primitive, pushed.primals, pushed.moved, pushed.params)
            if key is not None:
                call = pushed.params.get("call")
                pushed.done[key] = pushed.result(), self.limit, pushed.primals, pushed.moved, call
        with np.errstate(all="ignore"):
            rows = [pushed[order] for order in range(self.order + 1)]
        pushed.done.clear()
        pieces = [self.moving(column[0], Series(column)) for column in zip(*rows, strict=True)]
        return tuple(pieces) if isinstance(pushed.y, tuple) else pieces[0]

    def computed(self, primitive: Primitive, values: Sequence[Any], params: Params) -> Any:
        """The operation on values, of which several may be coefficients of one order or another."""
        return primitive(*values, **params)


def _key(primitive: Primitive, primals: Sequence[Value], moved: Sequence[Series | None], params: Params) -> Hashable:
    """What tells an operation from others on the same series; None if its metadata cannot be compared."""
    operands = [id(x) if series is None else series.key for x, series in zip(primals, moved, strict=True)]
    key = (
        primitive,
        *operands,
        *[(name, type(value), value.key if name == "call" else value) for name, value in params.items()],
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


class Pushed:
    """The series of an operation's results: coefficients that are computed when they are asked for."""

    def __init__(
        self,
        taylor: Taylor,
        primitive: Primitive,
        primals: Sequence[Value],
        moved: Sequence[Series | None],
        y: Result,
        params: Params,
        done: Done,
    ) -> None:
        self.taylor, self.primitive, self.primals, self.moved = taylor, primitive, primals, moved
        self.y, self.params, self.done, self.limit = y, params, done, taylor.limit
        self.known: list[Pieces] = [pieces_of(y)]
        self.derivative: Pieces | None = None
        self.next = self._rule()

    def __getitem__(self, order: int) -> Pieces:
        while len(self.known) <= order:
            self.known.append([as_arrays(piece) for piece in self.next(len(self.known))])
        return self.known[order]

    def result(self) -> Result:
        """The results with their series."""
        if not isinstance(self.y, tuple):
            return self.taylor.moving(self.y, Part(self, 0))
        parts = [Part(self, i) if is_moving(piece) else None for i, piece in enumerate(self.y)]
        return tuple(map(self.taylor.moving, self.y, parts))

    def _rule(self) -> Callable[[int], Pieces]:
        """The coefficients of the results at an order, from those of lower orders and those of the operands."""
        if self.limit == 1 and self.taylor.pushes:
            return self._by_slope
        if is_linear_in(self.primitive, tuple([series is not None for series in self.moved])):
            return self._by_slope
        if self.primitive.kind == "multilinear" or self.primitive is ops.multiply:
            return self._product
        return self._quotient if self.primitive is ops.divide else self._by_derivative

    @property
    def written(self) -> bool:
        """Whether the derivative is a program, whose operations may be shared."""
        return self.next == self._by_derivative

    def _at(self, place: int, order: int) -> Coefficient:
        """A coefficient of an operand."""
        series = self.moved[place]
        return series[order] if series is not None else None if order else self.primals[place]

    def _by_slope(self, order: int) -> Pieces:
        moves = [self._at(place, order) for place in range(len(self.primals))]
        return self._of(pushforward(self.primitive, self.primals, moves, self.y, self.params))

    def _of(self, result: Coefficient | tuple[Coefficient, ...]) -> Pieces:
        """The pieces of a pushforward's result, which is None if it is zero."""
        return [None] * len(self.known[0]) if result is None else pieces_of(result)

    def _product(self, order: int) -> Pieces:
        total = None
        for orders in _sums(order, len(self.primals)):
            factors = [self._at(place, each) for place, each in enumerate(orders)]
            if all(factor is not None for factor in factors):
                part = _times(self.taylor.computed(self.primitive, factors, self.params), _ways(orders))
                total = part if total is None else total + part
        return [total]

    def _quotient(self, order: int) -> Pieces:
        """That of y = a / b, from those of y b = a."""
        rest = self._at(0, order)
        for each in range(1, order + 1):
            divisor, (value,) = self._at(1, each), self.known[order - each]
            if divisor is not None and value is not None:
                part: Any = _times(self.taylor.computed(ops.multiply, (value, divisor), {}), math.comb(order, each))
                rest = -part if rest is None else rest - part
        return [None if rest is None else self.primitive(rest, self.primals[1], **self.params)]

    def _by_derivative(self, order: int) -> Pieces:
        if self.derivative is None:
            self.derivative = self._written()
        return [self._coefficient(piece, order - 1) for piece in self.derivative]

    def _coefficient(self, value: Coefficient, order: int) -> Coefficient:
        """A coefficient of a value of this level, or of one that does not move."""
        if not self.taylor.holds(value):
            return None if order else value
        return value._array if not order else None if value.series is None else value.series[order]

    def _written(self) -> Pieces:
        """The derivative of the results, as values of this level."""
        taylor = self.taylor
        around = taylor.done, taylor.limit
        taylor.done, taylor.limit = self.done, self.limit - 1
        try:
            pairs = list(zip(self.primals, self.moved, strict=True))
            primals = [x if series is None else taylor.moving(x, series) for x, series in pairs]
            slopes = [None if series is None else self._slope(x, series) for x, series in pairs]
            y = self.result()
            return self._of(pushforward(self.primitive, primals, slopes, y, self.params))
        finally:
            taylor.done, taylor.limit = around

    def _slope(self, x: Value, series: Series) -> Tensor:
        first = series[1]
        return self.taylor.moving(held(np.zeros(np.shape(x), dtype_of(x))) if first is None else first, Slope(series))


@lru_cache(1000)
def is_linear_in(primitive: Primitive, moving: tuple[bool, ...]) -> bool:
    """True if an operation is known to be linear in the operands that move, together: no rule of theirs reads one of them."""
    if primitive.kind in ("linear", "jointly linear"):
        return True
    if primitive.kind not in TOLD:
        return False
    for place, users in primitive.keeps:
        read = moving if place is None else moving[place] if isinstance(place, slice) else [moving[place]]
        if any(read) and (users is None or any(moving[user] for user in users)):
            return False
    return True


class Part(Series):
    """The series of one of an operation's results."""

    def __init__(self, whole: Pushed, place: int) -> None:
        self.whole, self.place = whole, place

    def __getitem__(self, order: int) -> Coefficient:
        return self.whole[order][self.place]

    def moves(self, order: int) -> bool:
        """True, as what is not computed yet may be anything."""
        return True

    @property
    def key(self) -> Hashable:
        """Parts are made anew; what they are a part of is not."""
        return id(self.whole), self.place


class Slope(Series):
    """The derivative of a series."""

    def __init__(self, series: Series) -> None:
        self.series = series

    def __getitem__(self, order: int) -> Coefficient:
        return self.series[order + 1]

    def moves(self, order: int) -> bool:
        """False if all coefficients from an order on are known to be zero."""
        return self.series.moves(order + 1)


def pieces_of(result: Any) -> Sequence[Any]:
    """The results of an operation."""
    return result if type(result) is tuple else (result,)


def _ways(orders: Sequence[int]) -> int:
    """In how many orders a product can be differentiated so often by its factors."""
    return math.factorial(sum(orders)) // math.prod(map(math.factorial, orders))


def _times(value: Any, count: int) -> Any:
    return value if count == 1 else value * count


def _sums(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as a sum of so many whole numbers from 0 on, in order."""
    if count == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _sums(total - first, count - 1):
            yield (first, *rest)


@restoring
def jet(
    f: Callable[..., Returned], primals: tuple[object, ...], series: tuple[Sequence[Any], ...]
) -> tuple[Returned, list[Returned]]:
    """f(*primals), and the derivatives of f up to order k along a curve through the primals.

    The curve x(t) is given by its derivatives at t = 0: for each primal, the first, the second, ..., the k-th. Returns f's
    outputs, and the derivatives of f(x(t)) at t = 0 in a list, the first first. Along a line (v, 0, ..., 0) these are directional
    derivatives. It takes one pass, and about k * k operations for each of f's; k nested calls of `jvp` take about 2 ** k.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.
    primals
        The arguments, in a tuple.
    series
        For each argument a list with its k derivatives, each like the argument.

    Raises
    ------
    ValueError
        If the arguments do not have equally many derivatives, or have none.
    RuntimeError
        If a derivative does not have the structure or the shape of its argument, or f does not return tensors.

    Source: `jax.experimental.jet`, whose convention this is; Griewank and Walther, Evaluating Derivatives, chapter 13.

    >>> import pullback
    >>> x, v, zero = map(pullback.tensor, (2.0, 1.0, 0.0))
    >>> pullback.func.jet(lambda x: x**3, (x,), ([v, zero, zero],))
    (tensor(8.), [tensor(12.), tensor(12.), tensor(6.)])
    """
    name = "jet(f, primals, series)"
    order = _order(name, primals, series)
    primals = tensors(primals)
    rows = []
    for each in range(order):
        leaves, row, structure = fitting(name, primals, tuple([given[each] for given in series]))
        rows.append([_coefficient(inner(move)) for move in row])
    taylor = Taylor(order)

    def boxes() -> list[Tensor]:
        return [taylor.moving(x, Series([x, *column])) for x, *column in zip(map(inner, leaves), *rows, strict=True)]

    def call(boxed: list[Tensor]) -> tuple[tuple[list[Tensor], Structure], object]:
        return output_leaves(f(*unflatten(structure, boxed)), name), None

    (results, nested), _, lowered = applied(taylor, boxes, call, leaves, leaves)
    derivatives = [[derivative(taylor, result, each + 1) for result in results] for each in range(order)]
    return unflatten(nested, list(map(lowered, results))), [unflatten(nested, row) for row in derivatives]


def _order(name: str, primals: object, series: object) -> int:
    """How many derivatives each argument has."""
    if not isinstance(primals, tuple) or not isinstance(series, tuple) or len(primals) != len(series):
        raise ValueError(f"{name}: primals and series are tuples with an element for each argument of f")
    for place, given in enumerate(series):
        if not isinstance(given, (list, tuple)) or not given:
            raise ValueError(f"{name}: series[{place}] is a list of derivatives, the first first; got {given!r:.60}")
        if len(given) != len(series[0]):
            raise ValueError(
                f"{name}: series[0] has {len(series[0])} derivatives, and series[{place}] {len(given)}: give equally many, "
                "zeros if they vanish"
            )
    return len(series[0]) if series else 0


def _coefficient(value: Value) -> Coefficient:
    """A derivative of a curve; None for zeros."""
    return None if type(value) is np.ndarray and not value.any() else value


@restoring
def derivative(taylor: Taylor, result: Tensor, order: int) -> Tensor:
    """The derivative of an output of an order; zeros if it depends on no input."""
    series = result.series if taylor.holds(result) else None
    found = None if series is None else series[order]
    if found is None:
        return tensor_of(np.zeros(tuple(result.shape), result._dtype))
    made = tensor_of(found)
    return made if made._dtype == result._dtype else ops.astype(made, dtype=result._dtype, source=made._dtype)
