"""The dispatching namespace: every primitive under the name rules use, for values of any kind.

The derivative tables are the modules of this package. Called with plain arrays, a primitive computes its result; called
with boxed values, it dispatches to their interpreter. The tables that every program needs are imported at once, the
others when a name is first looked up that none of the loaded tables has.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .._core import xp as _xp
from .._core.primitives import Primitive
from .._core.values import shared
from .elementwise import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shapes import *  # noqa: F403

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.dtypes import dtype as Dtype
    from .._core.typing import Array, Entry, NumpyType, Tensor

LATER: tuple[str, ...] = (
    "exponentials",
    "complexes",
    "functions",
    "scans",
    "selections",
    "activations",
    "indexing",
    "convolution",
    "decompositions",
    "spectra",
    "special",
    "pooling",
    "resampling",
    "losses",
    "alignment",
    "fourier",
    "normalization",
    "layers",
    "dot_product_attention",
    "recurrent",
    "classical",
)


def zeros(shape: tuple[int, ...], *, like: Tensor | Array) -> Array:
    """Zeros with the dtype of `like`, a constant."""
    return _xp.zeros(shape, like=like)


def asarray(x: Array) -> Array:
    """A constant array, which may be combined with tensors as it is."""
    return x


def constant(value: float, dtype: Dtype | NumpyType) -> float:
    """A constant in the source code, which may be combined with tensors as it is."""
    return value


def repeats(
    shape: tuple[int, ...], arrays: Sequence[Tensor | Array], spec: tuple[Entry, ...], picked: tuple[int, ...]
) -> bool:
    """Whether an advanced index may pick an element twice: True where its numbers are not known yet."""
    known = [found for found in map(shared, arrays) if found is not None]
    return len(known) < len(arrays) or _xp.repeats(tuple(shape), known, spec, tuple(picked))


def is_complex(x: Tensor | Array) -> bool:
    """True if the elements of a tensor or an array are complex numbers."""
    kind: str = getattr(x, "_dtype", x.dtype).kind
    return kind == "c"


def __getattr__(name: str) -> Primitive:
    if not name.startswith("_") and name != "lapack":  # a module of this package that is not a table
        for table in LATER:
            found = getattr(importlib.import_module(f"{__name__}.{table}"), name, None)
            if isinstance(found, Primitive):
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def tables() -> dict[str, Primitive]:
    """Every primitive of every table, by name."""
    found: dict[str, Primitive] = {}
    for table in ("elementwise", "linear_algebra", "reductions", "shapes", *LATER):
        entries = vars(importlib.import_module(f"{__name__}.{table}")).items()
        found |= {name: entry for name, entry in entries if isinstance(entry, Primitive)}
    return found
