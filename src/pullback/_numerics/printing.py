"""The text of a tensor, character for character as torch 2.13 writes it.

The module handles plain arrays and complete suffixes only: the caller decides which dtype to name and how to describe
the tensor's history. Values are examined as Python numbers, so that no value, however extreme, causes a NumPy warning.
The print options are the only state: an immutable tuple, which is replaced as a whole and read once per call, so that
no thread sees a partial change.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np

from .._core.bfloat import widened

NDArray = np.ndarray[Any, np.dtype[Any]]

__all__ = ["format_tensor", "get_printoptions", "set_printoptions"]


class _Options(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {"default": _Options(), "short": _Options(precision=2, edgeitems=2), "full": _Options(threshold=math.inf)}

_options = _Options()


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None, linewidth: int | None = None,
    profile: Literal["default", "short", "full"] | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Choose how tensors are printed from now on, in every thread.

    Options that are left out keep their values, except `sci_mode`: as in torch, each call resets it.

    Parameters
    ----------
    precision
        Digits after the point of a number that is not whole (4 at the start).
    threshold
        The largest number of elements printed in full (1000); `math.inf` never shortens.
    edgeitems
        How many items a shortened axis keeps at each end (3).
    linewidth
        The width in characters at which lines are broken (80).
    profile
        The options to start from: 'default', 'short' (two digits, two items) or 'full' (no threshold).
    sci_mode
        Whether numbers are written like 1.5000e+06; None lets the values decide.

    Raises
    ------
    TypeError : an option has the wrong type. No option is changed if an error is raised.
    ValueError : an option is out of range, or the profile is unknown.

    Examples
    --------
    >>> import pullback
    >>> pullback.set_printoptions(precision=2)
    >>> pullback.tensor([3.14159, 2.71828])
    tensor([3.14, 2.72])
    >>> pullback.set_printoptions(profile="default")
    """
    global _options  # noqa: PLW0603  # the module's only state
    if profile not in (None, *_PROFILES):
        raise ValueError(f"set_printoptions(): profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
    if not (sci_mode is None or isinstance(sci_mode, bool)):
        raise TypeError(f"set_printoptions(): sci_mode must be True, False or None, got {sci_mode!r}")
    start = _options if profile is None else _PROFILES[profile]
    _options = _Options(
        precision=start.precision if precision is None else int(_checked("precision", precision)),
        threshold=start.threshold if threshold is None else _checked("threshold", threshold, kind=Real),
        edgeitems=start.edgeitems if edgeitems is None else int(_checked("edgeitems", edgeitems)),
        linewidth=start.linewidth if linewidth is None else int(_checked("linewidth", linewidth, least=1)),
        sci_mode=sci_mode,
    )


def _checked(name: str, value: Any, *, kind: type[Any] = Integral, least: int = 0) -> Any:
    """The value itself, checked to be a number of the given kind (NumPy scalars included) and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, kind):
        wanted = "an integer" if kind is Integral else "a number"
        raise TypeError(f"set_printoptions(): {name} must be {wanted}, got {value!r} ({type(value).__name__})")
    if not value >= least:  # written this way, it also refuses NaN
        raise ValueError(f"set_printoptions(): {name} must be at least {least}, got {value!r}")
    return value


def get_printoptions() -> dict[str, Any]:
    """The current print options, as a new dictionary of keyword arguments for `set_printoptions`.

    Examples
    --------
    >>> import pullback
    >>> pullback.get_printoptions()
    {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80, 'sci_mode': None}
    """
    return _options._asdict()


def format_tensor(array: NDArray, *, suffixes: Sequence[str] = (), prefix: str = "tensor(") -> str:
    """The text of an array in torch's layout, with the current print options.

    Any shape is allowed, and any bool, integer, float or complex dtype. The suffixes ("requires_grad=True") follow the
    values in order, each on a new line if it would exceed the line width. The shape precedes them if brackets cannot
    show it: for an empty array that is not 1-d, and whenever `edgeitems` is 0. No value raises or warns.

    Examples
    --------
    >>> import numpy as np
    >>> from pullback._numerics.printing import format_tensor
    >>> format_tensor(np.array([[1.0, 2.0]]), suffixes=["requires_grad=True"])
    'tensor([[1., 2.]], requires_grad=True)'
    >>> format_tensor(np.zeros((0, 3)))
    'tensor([], size=(0, 3))'
    """
    options = _options
    array = np.asarray(widened(array))  # a NumPy scalar is printed as a 0-d array
    indent = len(prefix)
    if array.size == 0:
        body, shape_is_hidden = "[]", array.ndim != 1
    else:
        body, shape_is_hidden = _body(array, indent, options), options.edgeitems == 0
    if shape_is_hidden:
        suffixes = [f"size={array.shape}", *suffixes]
    return _append(prefix + body, suffixes, indent, options.linewidth)


def formatted_cells(array: NDArray) -> list[str]:
    """The text of every element, in C order, with the current print options."""
    return _cells(array, _options)[0]


def _body(array: NDArray, indent: int, options: _Options) -> str:
    """The bracketed values of a nonempty array; the first bracket is in column `indent`."""
    edge = options.edgeitems
    elided = [array.size > options.threshold and length > 2 * edge for length in array.shape]
    if any(elided):
        axes = zip(array.shape, elided, strict=True)
        kept = [[*range(edge), *range(n - edge, n)] if shortened else range(n) for n, shortened in axes]
        array = array[np.ix_(*kept)]
    cells, width = _cells(array, options)
    room = options.linewidth - (indent + array.ndim - 1)
    return _nested(iter(cells), array.shape, elided, max(1, room // (width + len(", "))), indent)


def _cells(array: NDArray, options: _Options) -> tuple[list[str], int]:
    """The text of every element, in C order, and the width to which they are aligned.

    Zeros, infinities and NaNs do not count towards the width of floats, as in torch, and may therefore exceed it.
    """
    if array.dtype.kind == "c":
        reals, real_width = _cells(array.real, options)
        imaginaries, imaginary_width = _cells(array.imag, options)
        signed = (text if text.startswith("-") else "+" + text for text in map(str.lstrip, imaginaries))
        return [f"{x}{y}j" for x, y in zip(reals, signed, strict=True)], real_width + imaginary_width + len("j")
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        counted = [value for value in values if value and math.isfinite(value)]
        text = _float_style(counted, options)
    else:
        counted, text = values, str
    width = max((len(text(value)) for value in counted), default=1)
    return [text(value).rjust(width) for value in values], width


def _float_style(counted: list[float], options: _Options) -> Callable[[float], str]:
    """The number format shared by several floats, chosen from the finite nonzero ones among them."""
    if not counted:
        scientific = False
    elif options.sci_mode is not None:
        scientific = options.sci_mode
    else:
        magnitudes = [abs(value) for value in counted]
        least, most = min(magnitudes), max(magnitudes)
        scientific = most / least > 1000 or most > 1e8 or least < 1e-4
    if scientific:
        return f"{{:.{options.precision}e}}".format
    if all(value.is_integer() for value in counted):
        return lambda value: f"{value:.0f}." if math.isfinite(value) else str(value)
    return f"{{:.{options.precision}f}}".format


def _nested(cells: Iterator[str], shape: Sequence[int], elided: Sequence[bool], per_line: int, indent: int) -> str:
    """The next cells in the brackets of a shape; each shortened axis has dots in its middle."""
    if not shape:
        return next(cells)
    length, *inner = shape
    items = [_nested(cells, inner, elided[1:], per_line, indent + 1) for _ in range(length)]
    if elided[0]:
        # As in torch, the dots have an extra space among numbers; among rows, or alone, they do not.
        items.insert(length // 2, " ..." if items and not inner else "...")
    margin = " " * (indent + 1)
    if inner:
        return "[" + ("," + "\n" * len(inner) + margin).join(items) + "]"
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return "[" + f",\n{margin}".join(lines) + "]"


def _append(text: str, suffixes: Sequence[str], indent: int, linewidth: int) -> str:
    """The text with its suffixes and the closing bracket, each suffix on the current line if it fits."""
    # As in torch, the last line of the values, and no later one, counts as two columns longer than it is.
    column = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        if column + len(", ") + len(suffix) > linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(", ") + len(suffix)
    return text + ")"
