"""Numbers and small arrays as short text, with four significant digits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


DIGITS = 4


def short(value: Any, digits: int = DIGITS) -> str:
    """A number in the notation of gradients: `26`, `0.5`, `1.234e-08`, `nan`, `-inf`, `1+2j`."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (complex, np.complexfloating)):
        sign = "-" if value.imag < 0 or (value.imag == 0 and math.copysign(1, value.imag) < 0) else "+"
        return f"{short(value.real, digits)}{sign}{short(abs(value.imag), digits)}j"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    exact = float(value)
    if not math.isfinite(exact):
        return "nan" if math.isnan(exact) else "inf" if exact > 0 else "-inf"
    if exact == int(exact) and abs(exact) < 10**7:
        return "0" if exact == 0 else str(int(exact))
    text = f"{exact:.{digits}g}"
    if text.lstrip("-").isdigit():
        text = f"{exact:#.{digits}g}"  # 1.000: close to 1, but not 1
    return text.replace("e-0", "e-").replace("e+0", "e+").replace("e+", "e")


def element(value: object) -> str:
    """A number in the notation of data: an integral float has a point, `26.`."""
    text = short(value)
    return f"{text}." if isinstance(value, (float, np.floating)) and text.lstrip("-").isdigit() else text


def vector(array: Iterable[object]) -> str:
    """A 1-d array in the notation of data: `[3., 17., 0.]`."""
    return f"[{', '.join(element(value) for value in array)}]"


def nested(array: object) -> str:
    """An array of any shape in the notation of data, on one line."""
    array = np.asarray(array)
    if array.ndim == 0:
        return element(array.item() if array.dtype.kind != "f" else array[()])
    return vector(array) if array.ndim == 1 else f"[{', '.join(map(nested, array))}]"


def row(values: object, digits: int = DIGITS) -> str:
    """A vector in the notation of gradients: `[1 10 100]`."""
    return f"[{' '.join(short(value, digits) for value in np.asarray(values).reshape(-1))}]"


def rows(matrix: object, digits: int = DIGITS) -> str:
    """A matrix on one line: `[1 0 0; 0 1 0]`."""
    lines = (" ".join(short(value, digits) for value in each) for each in np.asarray(matrix))
    return f"[{'; '.join(lines)}]"


def grid(matrix: object, digits: int = DIGITS) -> list[str]:
    """A matrix as several lines, with right-aligned columns."""
    cells = [[short(value, digits) for value in each] for each in np.asarray(matrix)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)] if cells else []
    return [f"[{' '.join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))}]" for line in cells]


def size(count: float) -> str:
    """A number of bytes: `312 B`, `1.5 KB`, `20 MB`."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """A time: `52 ns`, `38 us`, `1.2 ms`, `3.4 s`."""
    if seconds < 1e-7:
        return f"{seconds * 1e9:.0f} ns"
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.0f} us" if unit == "us" and seconds > 1e-5 else f"{seconds * factor:.1f} {unit}"
    return f"{seconds:.1f} s"


def counted(number: int, thing: str) -> str:
    """A count with its noun: `1 step`, `3 steps`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
