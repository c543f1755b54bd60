"""Why a run cannot be written down as a program: the errors, and what they say."""

from __future__ import annotations

from typing import Any, NoReturn

from .._core.modes import refusals
from .._core.package import package
from ..observe import caller, describe


class _NotedError(Exception):
    """An error of which the recorder of this thread takes note, since the function may catch it, and go on."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if (noted := refusals.get()) is not None:
            noted.append(self)


class CaptureError(_NotedError, RuntimeError):
    """A compiled function asked for the numbers in a tensor, which are other ones at each call."""


class RefusedError(_NotedError):
    """This run cannot be written down as a program, for a reason: the function runs as it is instead."""


class ShownError(RuntimeError):
    """A function shows the numbers in a tensor, which a record does not know: a message of an error does, too."""


EXCHANGED = "it writes a tensor whose .data it has set, or returns a view of it: set .data last, and return a clone"
RANDOM = (
    "random numbers are drawn from a generator that the function makes, or whose state it reads or sets: make and seed "
    "generators outside, or leave the function uncompiled"
)


def random_state() -> NoReturn:
    """Refuse random numbers of a generator that a program cannot have."""
    raise RefusedError(RANDOM)


def unknown(what: str) -> CaptureError:
    """The error for a request that has no answer while a program is recorded."""
    return CaptureError(unanswered(what))


def unanswered(what: str) -> str:
    """What is said where the numbers in a tensor are asked for."""
    return (
        f"{what} inside a compiled function, at {describe(caller())}: values are unavailable while tracing, since one "
        f"program serves them all. Return the tensor and convert it outside; use {package}.where to choose by element, "
        f"{package}.cond, while_loop, scan or fori_loop for control flow; or leave the function uncompiled"
    )


def shaped_by_values(operation: str) -> str:
    """What is said of an operation the shape of whose result depends on values."""
    return (
        f"the shape of the result of {operation} depends on values, at {describe(caller())}: compute it outside and pass it in, "
        f"or use {package}.where, sort or topk, whose results have the same shape for all values"
    )


def computed_outside(function: str) -> str:
    """What is said of a function of NumPy that gives an array for a tensor."""
    return (
        f"{function} computes an array from the values of a tensor, at {describe(caller())}: use the function of that name or "
        f"meaning in {package}, such as {package}.argsort, searchsorted, bucketize or histc, or compute it outside and pass it in"
    )
