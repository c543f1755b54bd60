"""Mathematical functions that compiled programs share: each is compiled once, when it is first needed, and cached on disk.

Programs call them where inlining would take longer to compile than it saves: for operations on few elements, and for those
that occur in many places.
"""

from __future__ import annotations

from llvmlite import ir

from ..mathematics.lanes import Desk, Target, Word
from . import elements, native


def _text(name: str) -> str:
    """The LLVM module of a function by its name: operation, kind and lanes, number of operands; as in `power.f16.2`."""
    operation, kind, count = name.split(".")
    module, target, lanes = ir.Module(), Target.host(), int(kind[1:]) if kind[1:] else None
    desk = Desk(None, target, lanes, branching=True)
    of = desk.type(kind[0])
    result = elements.rest_of(desk, kind[0]) if operation == elements.REDUCED else of
    function = ir.Function(module, ir.FunctionType(result, [of] * int(count)), name)
    builder = desk.builder = ir.IRBuilder(function.append_basic_block())
    words = [Word(desk, kind[0], value) for value in function.args]
    if operation != elements.REDUCED:
        builder.ret(elements.written(operation, words).value)
        return str(module)
    rest = ir.Constant(result, ir.Undefined)
    for place, word in enumerate(elements.reduction(words[0])):
        rest = builder.insert_value(rest, word.value, place)
    builder.ret(rest)
    return str(module)


@native.once
def _code(name: str) -> native.Code:
    return native.Code(native.kept(name, lambda: _text(name)))


def address(name: str) -> int:
    """The address of a function."""
    return _code(name).address(name)
