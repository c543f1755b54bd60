"""Names and numbers as text: identifiers that clash with nothing, numbers that are read back to the last bit."""

from __future__ import annotations

import builtins
import keyword
import math
import re
import unicodedata
from typing import Any

import numpy as np

MODULES = "cmath dataclasses fractions functools importlib itertools math operator types typing".split()
RESERVED = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *MODULES, "np", "xp"}


class Identifiers:
    """The identifiers of a text: each is given once."""

    def __init__(self, taken: set[str] | None = None) -> None:
        self._taken = RESERVED | (taken or set())
        self._counts: dict[str, int] = {}

    def new(self, hint: str, prefix: str = "") -> str:
        """An identifier like the hint, whatever that holds: `x`, then `x_2`; `lambda_`; `model_0_weight`."""
        base = prefix + identifier(hint)
        name = base
        while name in self._taken:
            count = self._counts[base] = self._counts.get(base, 1) + 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def number(self, letter: str) -> str:
        """The next of `t1`, `t2`, ..."""
        while True:
            count = self._counts[letter] = self._counts.get(letter, 0) + 1
            if (name := f"{letter}{count}") not in self._taken:
                self._taken.add(name)
                return name


def identifier(hint: str) -> str:
    """A text made an identifier, in the form to which Python brings all of them."""
    plain = unicodedata.normalize("NFKC", hint)
    name = re.sub(r"\W+", "_", plain).strip("_") or "x"
    if not name.isidentifier():
        name = f"x_{name}"
    if not name.isidentifier():
        name = "x"
    return f"{name}_" if name in RESERVED else name


def number(value: Any) -> str:
    """A number, a text or None as an expression that gives the same, to the last bit."""
    if isinstance(value, np.bool_):
        return f"np.bool_({bool(value)})"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({digits(value)})"
    if isinstance(value, bool | int | str | bytes) or value is None:
        return repr(value)
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if math.isfinite(value):
        return repr(float(value))
    return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"


def digits(value: Any) -> str:
    """A NumPy scalar as a literal of Python, as short as it is exact in its dtype."""
    if value.dtype.kind != "f" or not np.isfinite(value):
        return number(value.item())
    short = np.format_float_positional(value, unique=True, trim="0")
    if len(short) > 12:
        short = np.format_float_scientific(value, unique=True, trim="0")
    return short if value.dtype.type(float(short)) == value else repr(float(value))


def comment(text: str) -> str:
    """A text as what may stand in a comment: one line, nothing that does not print."""
    return "".join(c if c.isprintable() else "?" for c in text).strip()
