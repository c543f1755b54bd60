"""Identities of shapes: changes of shape that undo each other, are one, or need not be written.

They move no numbers, and hold to the last bit. A reshape of a value that does not lie in the order of its axes copies
it, and so decides in which order it is summed later: such a one goes only where that order is of no account.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import keys
from ..inference import together
from ..program import Equation, Value
from .building import Builder
from .identities import stands
from .rules import Rules

shapes = Rules()

SPREADING = """add subtract multiply divide maximum minimum where equal not_equal less less_equal greater greater_equal
    logical_and logical_or logical_xor pow remainder""".split()
"""Operations that broadcast their operands themselves."""


@shapes("expand_dims", "squeeze")
def _reshaped(build: Builder, e: Equation) -> Value:
    return build.reshape(e.inputs[0], shape=e.output.shape)


@shapes("matrix_transpose")
def _permuted(build: Builder, e: Equation) -> Value:
    last = len(e.output.shape) - 1
    return build.permute_dims(e.inputs[0], axes=(*range(last - 1), last, last - 1))


@shapes("replay")
def _steps(build: Builder, e: Equation) -> Value:
    """A chain of views, one by one."""
    (x,) = e.inputs
    for primitive, params in e.params["path"]:
        x = build.apply(primitive, (x,), params)[0]
    return x


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the axes of length 1."""
    return tuple([size for size in shape if size != 1])


@shapes("reshape")
def _reshape(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    shape = e.output.shape
    if x.shape == shape:
        return x
    if spread := _single(build, e):
        return spread
    inner = build.maker(x, "reshape")
    if inner is None:
        return None
    source = inner.inputs[0]
    views = without_ones(shape) == without_ones(x.shape) or without_ones(x.shape) == without_ones(source.shape)
    return build.reshape(source, shape=shape) if views or build.plain(source) else None


@shapes("permute_dims")
def _permute(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    axes = e.params["axes"]
    if axes == tuple(range(len(axes))):
        return x
    if inner := build.maker(x, "permute_dims"):
        first = inner.params["axes"]
        return build.permute_dims(inner.inputs[0], axes=tuple([first[axis] for axis in axes]))
    moved = [axis for axis in axes if x.shape[axis] != 1]
    if moved == sorted(moved):
        return build.reshape(x, shape=e.output.shape)
    return _single(build, e)


@shapes("broadcast_to")
def _broadcast(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    if x.shape == e.output.shape:
        return x
    inner = build.maker(x, "broadcast_to")
    return build.broadcast_to(inner.inputs[0], shape=e.output.shape) if inner else None


def _single(build: Builder, e: Equation) -> Value | None:
    """What a change of shape makes of one number repeated: that number repeated."""
    single = build.numbers.get(e.inputs[0])
    if single is None or not build.maker(e.inputs[0], "broadcast_to"):
        return None
    return build.broadcast_to(single, shape=e.output.shape)


def _takes_all(index: object, size: int, whole: int) -> bool:
    """Whether an index takes all elements in their order: none is left out, and no slice runs backwards."""
    entries = index if isinstance(index, tuple) else (index,)
    backwards = any(isinstance(entry, slice) and (entry.step or 1) < 0 for entry in entries)
    return size == whole > 0 and not backwards


@shapes("getitem")
def _part_of_a_part(build: Builder, e: Equation) -> Value | None:
    inner = build.maker(e.inputs[0], "getitem")
    if inner is None:
        return None
    (x,), (outer, index) = inner.inputs, (inner.params["index"], e.params["index"])
    found = part_of_part(x.shape, outer, index) if isinstance(outer, tuple) and isinstance(index, tuple) else None
    return None if found is None else build.getitem(x, index=found)


def part_of_part(
    shape: Sequence[int], outer: tuple[object, ...] | None, index: tuple[object, ...]
) -> tuple[Any, ...] | None:
    """The index, in an array of a shape, of a part of what slices take; None where that is no part of it without gaps."""
    slices = [slice(None)] * len(shape) if outer is None else expanded(outer, len(shape))
    full = None if slices is None else expanded(index, len(slices))
    if slices is None or full is None:
        return None
    found: list[int | slice] = []
    for length, entry, part in zip(shape, slices, full, strict=True):
        span = range(length)[entry] if isinstance(entry, slice) else range(0)
        rest = (
            span[part : part + 1]
            if isinstance(part, int) and part >= 0
            else span[part]
            if isinstance(part, slice)
            else range(0)
        )
        if span.step != 1 or rest.step != 1 or not rest:
            return None
        whole = len(rest) == length
        found.append(
            rest.start if isinstance(part, int) else slice(None) if whole else slice(rest.start, rest.stop, None)
        )
    return (*found, ...)


def expanded(index: tuple[object, ...], axes: int) -> list[int | slice] | None:
    """An index with an entry for each axis; None if it has others than ints and slices."""
    place = next((i for i, entry in enumerate(index) if entry is Ellipsis), len(index))
    before, after = index[:place], index[place + 1 :]
    full: list[int | slice] = []
    for entry in (*before, *[slice(None)] * (axes - len(before) - len(after)), *after):
        if type(entry) is not int and not isinstance(entry, slice):
            return None
        full.append(entry)
    return full if len(full) == axes else None


@shapes("getitem")
def _everything(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    return build.reshape(x, shape=e.output.shape) if _takes_all(e.params["index"], e.output.size, x.size) else None


@shapes("scatter_slice")
def _everywhere(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    filled = _takes_all(e.params["index"], x.size, e.output.size) and build.plain(x)
    return build.reshape(x, shape=e.output.shape) if filled else None


@shapes(*SPREADING)
def _spread_by_the_operation(build: Builder, e: Equation) -> Value | None:
    """An operand need not be broadcast before an operation that does so anyway."""
    makers = build.makers
    operands = list(e.inputs)
    for place, value in enumerate(operands):
        maker = makers.get(value)
        if maker is not None and maker.primitive.name == "broadcast_to":
            source = maker.inputs[0]
            rest = [other.shape for i, other in enumerate(operands) if i != place]
            if together(source.shape, *rest) == e.output.shape:
                operands[place] = source
    if all(new is old for new, old in zip(operands, e.inputs, strict=True)):
        return None
    return build.place(Equation(e.primitive, tuple(operands), e.params, e.outputs, e.site))[0]


@shapes("sum", "mean", "amax", "amin", "total")
def _over_nothing(build: Builder, e: Equation) -> Value | None:
    """A reduction over no axis, where it may be left out: NumPy's sum of -0.0 alone may be 0.0."""
    (x,) = e.inputs
    harmless = e.primitive.name in {"amax", "amin"} or not build.strict
    return x if not e.params["axis"] and harmless and stands(build, x, e) else None


@shapes("overwrite")
def _overwritten(build: Builder, e: Equation) -> Value | None:
    """What is written over before anyone reads it need not be written."""
    x, value = e.inputs
    inner = build.maker(x, "overwrite")
    if inner and keys.of_metadata(inner.params) == keys.of_metadata(e.params):
        return build.overwrite(inner.inputs[0], value, path=e.params["path"])
    return None
