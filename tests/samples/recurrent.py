"""Samples of the primitives of `ops.recurrent`."""

from __future__ import annotations

from .makers import Row, reals

# The rows of each step, and whether the last step comes first.
STEPS = [((2, 2, 2), False), ((2, 2), True), ((3, 2, 2, 1), False), ((3, 1, 1), True), ((2,), False)]


def _row(
    name: str, sizes: tuple[int, ...], reverse: bool, gates: int, states: tuple[int, ...], **metadata: bool
) -> Row:
    rows, count, state = sum(sizes), max(sizes), states[0]
    width = states[-1]
    makers = [reals(rows, gates * width), *(reals(count, size) for size in states), reals(gates * width, state)]
    return name, makers, {"sizes": sizes, "reverse": reverse, **metadata}


def _with(row: Row, *shape: int) -> Row:
    name, makers, params = row
    return name, [*makers, reals(*shape)], params


ROWS: list[Row] = [
    *(_row("rnn", *steps, 1, (2,), relu=relu) for steps in STEPS for relu in (False, True)),
    *(_row("lstm", *steps, 4, (3, 3)) for steps in STEPS),
    *(_with(_row("lstm_projected", *steps, 4, (2, 3)), 2, 3) for steps in STEPS),
    *(_with(_row("gru", *steps, 3, (2,)), 6) for steps in STEPS),
]
