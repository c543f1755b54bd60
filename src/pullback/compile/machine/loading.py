"""Loading: the code of a program in memory, with the addresses of what it calls."""

from __future__ import annotations

from ..._numerics.blas import routine
from . import library, matrices, native, pool, small


def loaded(code: bytes) -> native.Code:
    """The loaded code of a program, its table of addresses filled."""
    made = native.Code(code)
    names = made.names
    mathematical = [name for name in names if "." in name]
    known = dict(zip(mathematical, library.addresses(mathematical), strict=True))
    made.fill([known.get(name) or _address(name, names) for name in names])
    return made


def _address(name: str, names: list[str]) -> int:
    """The address of a function that code calls by name, among others: of the thread pool, or of matrix products.

    Small products are left to the function for large ones where a program has both: the bits are the same, and one function less is compiled.
    """
    if name.startswith("share") or name == "alone":
        return pool.address(name)
    what, _, kind = name.rpartition("_")
    if what == "multiply" or (what == "small" and f"multiply_{kind}" in names):
        return matrices.address(f"multiply_{kind}")
    return small.address(f"small_{kind}") if what else (routine(name) or (0, 0))[0]
