"""The names that have the same meaning in the standard and in the package, such as `sin` and `float32`."""

from __future__ import annotations

from .._tensor.functions import __getattr__ as __getattr__
