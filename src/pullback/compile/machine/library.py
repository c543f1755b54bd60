"""Mathematical functions that compiled programs share: each is compiled once, when it is first needed, and cached on disk.

Programs call them where inlining would take longer to compile than it saves: for operations on few elements, and for those
that occur in many places.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..._core import forks
from ..mathematics.lanes import IRValue
from . import contexts, native
from .contexts import EmitContext
from .llvm import host

_codes: dict[str, native.Code] = {}
"""The code in which each function is that has been asked for."""


def _text(names: Sequence[str]) -> str:
    """The LLVM module of functions."""
    module = ir.Module()
    for name in names:
        _write(module, name)
    return str(module)


def _write(module: ir.Module, name: str) -> None:
    """Write a function by its name: operation, kind and lanes, number of operands; as in `power.f16.2`."""
    operation, kind, count = name.split(".")
    ctx = EmitContext(None, host(), int(kind[1:]) if kind[1:] else None, branching=True)
    of = ctx.type(kind[0])
    result = contexts.rest_of(ctx, kind[0]) if operation == contexts.REDUCED else of
    function = ir.Function(module, ir.FunctionType(result, [of] * int(count)), name)
    builder = ctx.builder = ir.IRBuilder(function.append_basic_block())
    ir_values = [IRValue(ctx, kind[0], value) for value in function.args]
    if operation == contexts.REDUCED:
        contexts.returned(builder, result, contexts.reduction(ir_values[0]))
    else:
        builder.ret(contexts.written(operation, ir_values).value)


def addresses(names: Sequence[str]) -> list[int]:
    """The addresses of functions. Those that are not there yet are compiled together, which takes half of the time."""
    forks.give_way()
    with native.turn:
        found = {name: native.found(name) for name in names if name not in _codes}
        if missing := [name for name, code in found.items() if code is None]:
            code = native.compiled(_text(missing))
            for name in missing:
                found[name] = code
                native.keep(name, code)
        loaded = {code: native.Code(code) for code in {*found.values()} if code}
        _codes.update({name: loaded[code] for name, code in found.items() if code})
    return [_codes[name].address(name) for name in names]
