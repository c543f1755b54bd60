"""Profiles: the steps of a program with the time that each takes, measured when a report asks for it.

The code that is timed is made for the profile, from the program: the function's own code knows nothing of it, and calls
before and after are what they are without. It runs on copies, so nothing is written, and no random numbers are used up.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import quiet
from .._numerics.random import Moment
from .costs import works
from .program import DepartedError, Equation, run
from .scans import plain_numbers

if TYPE_CHECKING:
    from .costs import Work
    from .machinery import Machinery
    from .prepared import Prepared
    from .program import Array, Value
    from .records import Place

ROUNDS = 5


def profiled(prepared: Prepared, leaves: Sequence[Any]) -> list[Work]:
    """The work of a record's program, with its times: for arguments, or, where none are given, for numbers made up."""
    record = prepared.record
    arrays = [_array(place, value, leaves) for place, value in zip(record.places, record.program.inputs, strict=True)]
    moment = Moment(record.drawn)
    try:
        return _timed(prepared.machinery, arrays)
    except (DepartedError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(
            f"report: the program cannot be profiled for numbers made up ({error}); give it a call's arguments: report(x, profile=True)"
        ) from None
    finally:
        moment.restore()


def _array(place: Place, value: Value, leaves: Sequence[Any]) -> Array:
    """The array at a place, or one like it where there is none: of an argument that is not given, a gradient that is not there."""
    try:
        found = place.array(leaves)
        if (found.shape, found.dtype) == (value.shape, value.dtype):
            return found.copy()
    except (LookupError, AttributeError):
        pass
    return plain_numbers(value)


def _timed(machinery: Machinery, arrays: Sequence[Array]) -> list[Work]:
    if machinery.executable is not None:
        found: list[Work] = machinery.executable.profile(*arrays)
        return found
    runs: list[dict[Equation, float]] = []

    def each(equation: Equation, given: Sequence[Array]) -> Any:
        start = time.perf_counter()
        made = quiet.run(equation.primitive.forward, *given, **equation.params)
        runs[-1][equation] = time.perf_counter() - start
        return made

    for _ in range(ROUNDS):
        runs.append({})
        run(machinery.program, arrays, each=each)
    return works(machinery.program, min(runs, key=lambda seconds: sum(seconds.values())))
