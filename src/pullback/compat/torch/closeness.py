"""torch.testing: assertions that two values are close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor, as_tensor

if TYPE_CHECKING:
    from typing import TypeGuard

    from ..._core.typing import Array


_TOLERANCES = {"bfloat16": (1.6e-2, 1e-5), "float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
_TOLERANCES |= {"complex64": _TOLERANCES["float32"], "complex128": _TOLERANCES["float64"]}
_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}
"""The tolerances of `assert_allclose`; none for complex numbers, which must be equal."""

Options = dict[str, Any]


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless two tensors, numbers, or containers of them have the same shape, dtype, and close values.

    >>> import pullback
    >>> from pullback.compat.torch.closeness import assert_close
    >>> assert_close(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 2.0 + 1e-6]))
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "dtype": check_dtype, "stride": check_stride}
    found = _difference(actual, expected, "", options)
    if found is not None:
        raise AssertionError(msg(found) if callable(msg) else msg or found)


def _difference(actual: object, expected: object, place: str, options: Options) -> str | None:
    """The difference of two values as text; None if there is none."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match: {list(actual)} and {list(expected)}{_at(place)}"
        pairs = [(actual[key], expected[key], f"{place}[{key!r}]") for key in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{_at(place)}"
        pairs = [(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(actual, expected, strict=True))]
    elif actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual!r} is not {expected!r}{_at(place)}"
    else:
        return _between(actual, expected, place, options)
    return next(filter(None, (_difference(*pair, options) for pair in pairs)), None)


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _at(place: str) -> str:
    return f"\nThe failure occurred for item {place}" if place else ""


def _between(actual: object, expected: object, place: str, options: Options) -> str | None:
    """The difference of two tensors, arrays or numbers."""
    strict = isinstance(actual, Tensor) and isinstance(expected, Tensor)
    a, b = (  # Python's numbers have the digits of float64
        as_tensor(np.asarray(each) if isinstance(each, (float, complex)) else each).detach()
        for each in (actual, expected)
    )
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.{_at(place)}"
    if strict and options["dtype"] and a.dtype != b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.{_at(place)}"
    if strict and options["stride"] and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}.{_at(place)}"
    rtol, atol = options["rtol"], options["atol"]
    if rtol is None:
        rtol, atol = _loosest(a, b, _TOLERANCES)
    return _of_elements(a.numpy(), b.numpy(), (rtol, atol, options["equal_nan"]), place)


def _loosest(a: Tensor, b: Tensor, table: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """The larger of two tensors' relative and absolute tolerances."""
    (rtol, atol), (other_rtol, other_atol) = (table.get(value.dtype.name, (0.0, 0.0)) for value in (a, b))
    return max(rtol, other_rtol), max(atol, other_atol)


def _of_elements(a: Array, b: Array, tolerances: tuple[float, float, bool], place: str) -> str | None:
    rtol, atol, equal_nan = tolerances
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return None
    if a.dtype.kind == "b":
        a, b = a.astype(int), b.astype(int)
    with np.errstate(all="ignore"):  # as in torch: NaN, and elements that should be zero, count
        absolute = np.where(close, 0, np.abs(a - b))
        relative = np.where(close, 0, absolute / np.abs(b))
    kind = "Scalars" if not a.ndim else "Tensor-likes"
    return (
        f"{kind} are not {'close' if rtol or atol else 'equal'}!\n\nMismatched elements: {int((~close).sum())} / {close.size} "
        f"({100 * (~close).mean():.1f}%)\nGreatest absolute difference: {_greatest(absolute)} (up to {atol} allowed)"
        f"\nGreatest relative difference: {_greatest(relative)} (up to {rtol} allowed){_at(place)}"
    )


def _greatest(values: Array) -> str:
    """The greatest of some values, and where it is."""
    where = tuple(map(int, np.unravel_index(values.argmax(), values.shape)))
    return f"{values[where]}{f' at index {where}' * bool(where)}"


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` by its deprecated name: without comparing dtypes, with equal NaNs and wider tolerances.

    >>> import pullback
    >>> from pullback.compat.torch.closeness import assert_allclose
    >>> assert_allclose(pullback.tensor([1.0, float("nan")]), [1.0 + 5e-5, float("nan")])
    """
    actual = as_tensor(actual)
    expected = expected if isinstance(expected, Tensor) else as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _loosest(actual, expected, _OLD_TOLERANCES)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
