"""The namespace of the Python array API standard, version 2025.12, on tensors.

A program that is written for the standard finds it by `x.__array_namespace__()`, or by `array_namespace(x)` of
array-api-compat, and then runs on tensors with gradients. Its functions have the standard's names, parameters and
dtypes: new tensors are float64 unless a dtype is given, and a 0-d tensor counts like any other in promotion. Operators
such as `*` and methods of tensors keep torch's rules, unless `pullback.set_promotion("standard")` changes them.

>>> import pullback
>>> from pullback import array_api as xp
>>> x = xp.asarray([1.0, 2.0]).requires_grad_()
>>> xp.sum(xp.sin(x) * xp.asarray([1.0, 10.0])).backward()
>>> x.grad
tensor([ 0.5403, -4.1615], dtype=pullback.float64)
"""

from __future__ import annotations

from math import e, inf, nan, pi

from .._core.lazy import index as _index

__array_api_version__ = "2025.12"
newaxis = None

_INDEX = {
    "creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like""",
    "elementwise": """
        add atan2 bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clip copysign
        divide equal expm1 floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
        logical_xor maximum minimum multiply nextafter not_equal pow remainder round sign subtract tanh
        where""",
    "inspection": "__array_namespace_info__",
    "kinds": "astype can_cast finfo iinfo isdtype result_type",
    "linalg": "matmul matrix_transpose tensordot vecdot",
    "manipulation": """
        broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack
        take take_along_axis tile unstack""",
    "searching": """
        argmax argmin argsort count_nonzero isin nonzero searchsorted sort unique_all unique_counts unique_inverse
        unique_values""",
    "shared": """
        abs acos acosh asin asinh atan atanh bool ceil complex128 complex64 conj cos cosh exp
        float32 float64 floor imag int16 int32 int64 int8 isfinite isinf isnan log log10 log1p log2 logical_not
        negative positive real reciprocal signbit sin sinh sqrt square tan trunc uint16 uint32 uint64
        uint8""",
    "statistics": "all any cumulative_prod cumulative_sum diff max mean min prod std sum var",
}
__getattr__, __dir__, _names = _index(globals(), _INDEX, "fft linalg special")
__all__ = ["e", "inf", "nan", "newaxis", "pi", *_names]  # noqa: PLE0604  # strings, of the index
