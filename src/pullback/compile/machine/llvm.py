"""LLVM's types and constants, and what this machine's processor can do."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from llvmlite import binding, ir

from ..mathematics.lanes import WIDTH, Target

TYPES = {"f": ir.FloatType(), "d": ir.DoubleType()} | {kind: ir.IntType(width) for kind, width in WIDTH.items()}
LONG, POINTER, BYTE = ir.IntType(64), ir.PointerType(), ir.IntType(8)


def long(number: int) -> ir.Constant:
    """A constant of 64 bits."""
    return ir.Constant(LONG, number)


@functools.cache
def host() -> Target:
    """The target of this machine."""
    if "aarch64" in binding.get_process_triple() or "arm64" in binding.get_process_triple():
        return Target(fma=True)
    features = binding.get_host_cpu_features()
    wide, masks = (bool(features.get(name)) for name in ("avx512f", "avx512vl"))
    return Target(fma=bool(features.get("fma")), scalef=wide, masks=masks)


class _Spread(ir.Constant):  # type: ignore[misc]  # llvmlite has no annotations
    """A constant that is the same in every lane, in the short form of LLVM's text."""

    def get_reference(self) -> str:
        """The text of an operand."""
        return f"splat ({self.constant[0]})"


@functools.lru_cache(maxsize=4096)
def constant(kind: str, number: float | str, lanes: int | None) -> ir.Constant:
    """A constant, a real by its hexadecimal digits; one object for each, which writes its text once."""
    one = ir.Constant(TYPES[kind], float.fromhex(number) if isinstance(number, str) else number)
    return one if lanes is None else _Spread(ir.VectorType(TYPES[kind], lanes), [one] * lanes)


def declared(module: ir.Module, name: str, of: ir.Type) -> ir.Function:
    """The function of that name in a module, declared there if it is not yet."""
    known = module.globals.get(name)
    return ir.Function(module, of, name) if known is None else known


def table(module: ir.Module, name: str, entries: Sequence[float]) -> ir.GlobalVariable:
    """The constant array of that name in a module."""
    known = module.globals.get(name)
    if known is not None:
        return known
    of = ir.ArrayType(TYPES["d"], len(entries))
    array = ir.GlobalVariable(module, of, name)
    array.linkage, array.global_constant, array.unnamed_addr = "internal", True, True
    array.initializer = ir.Constant(of, list(entries))
    return array
