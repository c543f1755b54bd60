"""Which NaN and inf are faults, and where they begin: one rule, for anomaly mode and for explain.

A number that is not finite is a fault if it reaches a result: a value that backward starts from, the gradient of a leaf
or, at the end of a block, a value that nothing has used. On its way it may be added up with others. It is none if a later
operation deselects it or maps it to a finite number, as `where` does, and softmax with the -inf of a mask. It begins in
the operation that got no such number. What the program supplied itself begins in no operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .ledger import finite, first

if TYPE_CHECKING:
    from .._core.typing import Array


MASKS = {"where", "masked_fill", "select"}
"""Operations that put numbers of the program's into a result, or leave some out."""


def fault(array: Array) -> tuple[str, tuple[int, ...]] | None:
    """The kind and the index of the first NaN in an array, or of the first inf if there is no NaN; None if all is finite."""
    if finite(array):
        return None
    bad = np.isnan(array)
    return ("nan", first(bad)) if bad.any() else ("inf", first(np.isinf(array)))


def kind_of(value: object) -> str | None:
    """'nan' if an element is NaN, 'inf' if one is infinite, else None."""
    found = fault(np.asarray(value))
    return None if found is None else found[0]


def begins(kind: str, before: Iterable[str | None]) -> bool:
    """True if NaN or inf of a result begins in it: no operand has NaN and, for inf, all are finite.

    >>> from pullback.observe import begins
    >>> begins("nan", ["inf", None]), begins("inf", ["inf", None])
    (True, False)
    """
    return not {"nan", kind} & {*before}
