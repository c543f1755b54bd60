"""Spellings: the table of operations that are written with NumPy.

`SPELLINGS` has, by the name of a primitive, a function of an equation and the texts of its operands that returns the
expression or the lines to write, or None where the forward function is called instead. The text computes what `forward`
computes, to the last bit. In the lines, `{0}` stands for the output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import xp as _xp
from .._core.contraction import in_pairs
from .naming import number
from .program import ARRAY, Equation, Value

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType, Path

Spelling = Callable[[Equation, Sequence[str]], "list[str] | str | None"]

OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "equal": "==", "not_equal": "!=", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
SPELLINGS: dict[str, Spelling] = {}


def spelling(*names: str) -> Callable[[Spelling], Spelling]:
    """A decorator that registers a function as the spelling of primitives."""

    def register(function: Spelling) -> Spelling:
        SPELLINGS.update(dict.fromkeys(names, function))
        return function

    return register


@spelling("power")
def _power(e: Equation, args: Sequence[str]) -> str | None:
    x, exponent = args[0], e.params["exponent"]
    if e.inputs[0].dtype.kind != "f":
        return None
    if exponent == 3:
        return f"{x} * {x} * {x}"
    quick = {2: "square", 0.5: "sqrt", -1: "reciprocal"}.get(exponent)
    return f"np.{quick}({x})" if quick else f"np.power({x}, {number(exponent)})" if exponent not in {0, 1} else None


@spelling("clip")
def _clip(e: Equation, args: Sequence[str]) -> str:
    text = args[0]
    for name, bound in (("maximum", e.params["lower"]), ("minimum", e.params["upper"])):
        if bound is not None:
            text = f"np.{name}({text}, {number(e.output.dtype.type(bound))})"
    return text


SELECTED = 1 << 10  # elements from which on `select` is not written as `np.where`


@spelling("select")
def _select(e: Equation, args: Sequence[str]) -> str | None:
    condition, x = e.inputs
    if x.size < SELECTED or x.dtype.kind != "f" or condition.shape != x.shape:
        return f"np.where({args[0]}, {args[1]}, {number(x.dtype.type(0))})"
    return None


@spelling("sum", "total")
def _sum(e: Equation, args: Sequence[str]) -> str | None:
    (x,) = e.inputs
    axis = e.params["axis"]
    if e.name == "total" or x.dtype.kind in "biu" or not _xp.sums_as_numpy(x, axis):
        return None
    keep = ", keepdims=True" if e.params["keepdims"] else ""
    return f"np.sum({args[0]}, axis={axis}{keep})"


@spelling("amax", "amin", "largest", "smallest")
def _extreme(e: Equation, args: Sequence[str]) -> str:
    function = "max" if e.name in {"amax", "largest"} else "min"
    keep = ", keepdims=True" if e.params["keepdims"] else ""
    return f"np.{function}({args[0]}, axis={e.params['axis']}{keep})"


@spelling("astype")
def _astype(e: Equation, args: Sequence[str]) -> str | None:
    if e.inputs[0].dtype.kind == "c" and e.output.dtype.kind != "c":
        return None
    return f"{args[0]}.astype({_dtype(e.output)})"


def _dtype(value: Value) -> str:
    return f"np.{value.dtype.name}" if value.dtype.kind != "b" else "np.bool_"


@spelling("clone")
def _clone(e: Equation, args: Sequence[str]) -> str:
    order = e.params.get("order", "K")
    return f"np.array({args[0]})" if order == "K" else f'np.array({args[0]}, order="{order}")'


@spelling("einsum")
def _einsum(e: Equation, args: Sequence[str]) -> str:
    optimize = ", optimize=True" if in_pairs([value.shape for value in e.inputs]) else ""
    return f'np.einsum("{e.params["equation"]}", {", ".join(args)}{optimize})'


def entry(given: Any) -> str:
    """The text of one entry of a basic index."""
    if isinstance(given, slice):
        parts = ["" if part is None else str(part) for part in (given.start, given.stop)]
        return ":".join(parts if given.step is None else [*parts, str(given.step)])
    return "..." if given is Ellipsis else "None" if given is None else str(int(given))


def subscript(index: Any, arrays: Sequence[str] = ()) -> str:
    """The text of an index; arrays replace the markers in it."""
    entries = index if isinstance(index, tuple) else (index,)
    rest = iter(arrays)
    texts = [next(rest) if given is ARRAY else entry(given) for given in entries]
    return ", ".join(texts) + ("," if len(texts) == 1 and isinstance(index, tuple) and not texts[0] else "") or "()"


def _zeros(e: Equation) -> str:
    return f"{{0}} = np.zeros({e.output.shape}, {_dtype(e.output)})"


def way(path: Path, shape: tuple[int, ...], dtype: NumpyType, text: str) -> tuple[str, bool] | None:
    """A chain of views as an expression, and whether the result shares memory with a C-contiguous operand."""
    array = view = np.empty(shape, dtype)
    for primitive, params in path:
        before, view = view, primitive.forward(view, **params)
        values = [Value(each.shape, each.dtype) for each in (before, view)]
        step = Equation(primitive, (values[0],), params, (values[1],))
        found = SPELLINGS[primitive.name](step, [text]) if primitive.name in SPELLINGS else None
        if not isinstance(found, str) or primitive.name == "broadcast_to":
            return None
        text = found
    return text, np.may_share_memory(array, view)


@spelling("overwrite")
def _overwrite(e: Equation, args: Sequence[str]) -> list[str] | None:
    found = way(e.params["path"], e.output.shape, e.output.dtype, "{0}")
    if found is None or not found[1]:
        return None
    view, _ = found
    target = view if view.endswith("]") else f"{view}[...]"
    return [f'{{0}} = np.array({args[0]}, order="C")', f"{target} = {args[1]}"]


@spelling("replay")
def _replay(e: Equation, args: Sequence[str]) -> str | None:
    (x,) = e.inputs
    found = way(e.params["path"], x.shape, x.dtype, args[0])
    return None if found is None else found[0]


@spelling("unbind")
def _unbind(e: Equation, args: Sequence[str]) -> str | None:
    if not 1 < len(e.outputs) <= 16:
        return None
    before = ":, " * e.params["axis"]
    return ", ".join(f"{args[0]}[{before}{i}, ...]" for i in range(len(e.outputs)))


@spelling("split")
def _split(e: Equation, args: Sequence[str]) -> str | None:
    if not 1 < len(e.outputs) <= 16:
        return None
    before = ":, " * e.params["axis"]
    ends = [sum(e.params["sizes"][: i + 1]) for i in range(len(e.outputs))]
    pairs = zip(e.params["sizes"], ends, strict=True)
    return ", ".join(f"{args[0]}[{before}{end - size}:{end}]" for size, end in pairs)


SPELLINGS |= {
    **{name: lambda e, a: f"{a[0]} {OPERATORS[e.name]} {a[1]}" for name in OPERATORS},
    **dict.fromkeys(("tied", "attached"), lambda e, a: a[0]),
    **dict.fromkeys(
        ("reshape", "expand_dims"), lambda e, a: f"{a[0]}.reshape({', '.join(map(str, e.output.shape)) or '()'})"
    ),
    "rsub": lambda e, a: f"{a[1]} - {a[0]}",
    "negative": lambda e, a: f"-{a[0]}",
    "squeeze": lambda e, a: f"{a[0]}.squeeze({e.params['axis']})",
    "permute_dims": lambda e, a: f"{a[0]}.{'T' if e.params['axes'] == (1, 0) else 'transpose({axes})'.format(**e.params)}",
    "matrix_transpose": lambda e, a: f"{a[0]}.{'T' if len(e.output.shape) == 2 else 'swapaxes(-1, -2)'}",
    "broadcast_to": lambda e, a: f"np.broadcast_to({a[0]}, {e.output.shape})",
    "matmul": lambda e, a: (
        f"{a[0]}.dot({a[1]})" if all(len(value.shape) == 2 for value in e.inputs) else f"{a[0]} @ {a[1]}"
    ),
    "concat": lambda e, a: f"np.concatenate(({', '.join(a)},), axis={e.params['axis']})",
    "stack": lambda e, a: f"np.stack(({', '.join(a)},), axis={e.params['axis']})",
    "getitem": lambda e, a: f"{a[0]}[{subscript(e.params['index'])}]",
    "index": lambda e, a: f"{a[0]}[{subscript(e.params['spec'], a[1:])}]",
    "take_rows": lambda e, a: f"{a[0]}[np.arange(len({a[1]})), {a[1]}]",
    "scatter_slice": lambda e, a: [_zeros(e), f"{{0}}[{subscript(e.params['index'])}] = {a[0]}"],
    "put_rows": lambda e, a: [_zeros(e), f"{{0}}[np.arange({e.output.shape[0]}), {a[1]}] = {a[0]}"],
    "index_put": lambda e, a: [
        f"{{0}} = np.array({a[0]})", f"{{0}}[{subscript(e.params['spec'], a[2:])}] = {a[1]}",
    ],
}  # fmt: skip


def of_numpy(forward: Callable[..., Any]) -> str | None:
    """The name of a forward function in NumPy, if it is NumPy's."""
    name = getattr(forward, "__name__", "")
    return f"np.{name}" if name and getattr(np, name, None) is forward else None


def literal(array: Array, e: Equation, known: Callable[[Value], bool]) -> str:
    """The text of a scalar constant: without its dtype if the other operands determine that of the result."""
    decided = any(v.shape and v.dtype == array.dtype and not known(v) for v in e.inputs)
    single = array[()]
    if decided and e.name in OPERATORS and array.dtype.kind == "f" and math.isfinite(single):
        return number(single).partition("(")[2][:-1]
    return number(single)
