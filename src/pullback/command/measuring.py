"""What one backward call of a program gives: measured where a program is tried with a change against NaN or inf."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from ..explain.arrays import Limits, Summary, marks_of
from ..explain.numbers import nested, short
from ..explain.recording import Recording

if TYPE_CHECKING:
    from ..explain.trace import Call

MEASURED = "measured"
WHOLE = 12
"""The number of elements up to which a gradient is told in full."""


class Measure(NamedTuple):
    """The gradient of a leaf as text, whether anything is NaN, inf or huge, and the loss, if it is one finite number."""

    grad: str
    bad: bool
    huge: bool
    loss: float | None

    @property
    def helps(self) -> bool:
        """Whether the numbers are such that a network can be trained with them."""
        return not self.bad and not self.huge

    def told(self, before: Measure) -> str:
        """The gradient, and how far the loss is from the one before."""
        text = self.grad
        if self.helps and self.loss is not None and before.loss is not None:
            moved = abs(self.loss - before.loss)
            text += "; the loss is the same" if not moved else f"; the loss moves by {short(moved, 1)}"
        return text


class Measured(Recording):
    """A recording that ends the process when it has explained the call with a number."""

    def __init__(self, call: int, leaf: str, end: Callable[[str, str], NoReturn]) -> None:
        super().__init__(Limits(timing=False))
        self.wanted, self.name, self.end = call, leaf, end

    def _close(self) -> Call | None:
        call = super()._close()
        if call is not None and self.count == self.wanted + 1:
            self.end(MEASURED, json.dumps(self._measure(call)._asdict()))
        return call

    def _measure(self, call: Call) -> Measure:
        kinds = {finding.kind for finding in call.findings}
        leaf = next((each for each in call.leaves if each.tensor.name == self.name), next(iter(call.leaves), None))
        if leaf is None or marks_of(leaf.grad).bad is None:
            leaf = next((each for each in call.leaves if marks_of(each.grad).bad is not None), leaf)
        told = "" if leaf is None else f"{leaf.tensor.name}.grad = {_gradient(leaf.grad)}"
        if leaf is None or marks_of(leaf.grad).bad is None:
            outputs = [output.tensor for output in call.outputs if output.tensor.marks.bad is not None]
            told += "".join(f"; {each.name} is still {each.marks.bad}" for each in outputs[:1])
        return Measure(told, bool(kinds & {"nan", "inf"}), "huge" in kinds, _loss(call))


def _loss(call: Call) -> float | None:
    """The value of a call's only output, if it is one finite number."""
    values = [output.tensor.data for output in call.outputs]
    value = values[0] if len(values) == 1 else None
    single = isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind == "f" and np.isfinite(value).all()
    return float(value.reshape(-1)[0]) if isinstance(value, np.ndarray) and single else None


def _gradient(value: np.ndarray | Summary) -> str:
    """A gradient in full if it has few elements, else its size."""
    if isinstance(value, Summary) or value.size > WHOLE:
        stats = Summary(value).stats if isinstance(value, np.ndarray) else value.stats
        bad = 0 if stats is None else stats.nans + stats.infs
        return f"{bad} elements are nan or inf" if bad else f"of norm {short(0 if stats is None else stats.norm)}"
    return nested(value)
