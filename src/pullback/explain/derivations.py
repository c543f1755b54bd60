"""Why a backward rule is what it is: a derivation for each step, with the numbers of the step put in.

The slopes of elementwise operations are derived from their rules, and what a kind of operations has in common is said
once for the kind. What remains is in `derivations.toml`.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..extend import Primitive
from ..observe import SAVED_NAMES, Node
from .arrays import Array
from .formulas import as_text, digits, parsed, slope_of, value_of

if TYPE_CHECKING:
    from .trace import Step, Term, Traced


PLAIN = int, float, str, NoneType
"""The metadata that formulas have; those of users' operations have tuples, too."""
SHOWN, TERMS = 3, 6
"""The most entries of a Jacobian that are shown with their numbers, and the most summands of each."""


class Derivation(NamedTuple):
    """The derivation of a rule by one input: its kind and what that implies, the operation and its slope as formulas, and a reason."""

    kind: str
    why: str
    input: str = "x"
    value: str | None = None
    slope: str | None = None
    reason: str | None = None


@cache
def table() -> dict[str, Any]:
    """The entries of `derivations.toml`."""
    entries = tomllib.loads(resources.files(__package__).joinpath("derivations.toml").read_text(encoding="utf-8"))
    return {name: {**entries.get(entry.get("like", name), {}), **entry} for name, entry in entries.items()}


@cache
def of_sum() -> Derivation:
    """The derivation of the sum at a leaf."""
    return Derivation("sum", **table()["the sum at a leaf"])


def derive(node: Node, index: int) -> Derivation:
    """The derivation of a node's rule for one of its inputs."""
    if node.foreign:
        return Derivation("own", table()["own"]["why"])
    params = node.params if isinstance(node.params, dict) else {}
    kinds = (*PLAIN, tuple) if node.primitive.of_user else PLAIN
    plain = tuple((key, value) for key, value in params.items() if isinstance(value, kinds))
    dims = tuple(len(edge.shape or ()) if edge is not None else 0 for edge in node.edges)
    made = _derived(node.primitive, index, plain, dims[:2] if node.primitive.name == "matmul" else ())
    edge = node.edges[index]
    if made.kind == "elementwise" and edge is not None and edge.shape != node.shape:
        return made._replace(why=f"{made.why} {table()['repeated']['why']}")
    return made


@lru_cache(maxsize=4096)
def _derived(primitive: Primitive, index: int, plain: tuple[tuple[str, Any], ...], dims: tuple[int, ...]) -> Derivation:
    params: dict[str, Any] = dict(plain)
    name = primitive.name
    forms = [f"{name} of {' and '.join(map(str, dims))}"] if dims else []
    if isinstance(params.get("order"), (int, float)):  # of a norm; the order of a copy's elements is a string
        forms.append(f"{name} of order {params['order']:g}")
    entry: dict[str, Any] = next((table()[form] for form in (*forms, name) if form in table()), {})
    ends = {key: (-math.inf if key == "lower" else math.inf) if value is None else value for key, value in plain}
    shown = {key: digits(value) if isinstance(value, (int, float)) else str(value) for key, value in ends.items()}
    given = entry.get("slope", [])
    slope = given[index] if index < len(given) else ""
    if not slope and primitive.kind == "elementwise" and (found := slope_of(primitive, index, params)) is not None:
        slope = f"dy/d{primitive.inputs[index]} = {found}"
    kind = entry.get("kind", primitive.kind)
    if "value" not in entry and (found := value_of(primitive, params)) is not None:
        entry = {**entry, "value": f"y = {found}"}
    texts = [entry.get("value"), slope, entry.get("reason")]
    value, slope, reason = (_put(text, shown) if text else None for text in texts)
    place = len(primitive.inputs) - 1
    many = primitive.variadic and index >= place
    by = f"{primitive.inputs[place]}[{index - place}]" if many else primitive.inputs[index]
    return Derivation(kind, table()[kind]["why"], by, value, slope, reason)


def _put(text: str, params: Mapping[str, str]) -> str | None:
    """A text with the parameters of an operation; None if it does not have one of them."""
    names = re.findall(r"\{(\w+)\}", text)
    return text.format_map(params) if all(name in params for name in names) else None


# Numbers put in


def numbers(step: Step, term: Term) -> list[str]:
    """The derivation of one term with numbers: some entries of J, and one element of v @ J."""
    made = term.derivation
    places = [
        k
        for k, (local, v) in enumerate(zip(term.jacobians, step.vs, strict=True))
        if local is not None and v is not None
    ]
    if made is None or not places:
        return []
    local, of, to = term.jacobians[places[0]], step.outputs[places[0]], term.to
    if local is None or not local.data.size or local.data.dtype.kind not in "fiu":
        return []
    matrix = local.dense()
    entries = np.argwhere(matrix != 0)[:SHOWN] if matrix.any() else np.zeros((1, 2), int)
    lines = []
    if made.slope is None and made.kind in {"linear", "jointly linear"}:
        for row in dict.fromkeys(int(row) for row, _ in entries):
            total = _total([(value, f"{made.input}{_at(place, to)}") for place, value in enumerate(matrix[row])])
            lines += [f"y{_at(row, of)} = {total}"] if total else []
    else:
        for row, column in entries:
            put = _filled(made.slope, step, (int(row), of.shape), (int(column), to.shape))
            value = digits(matrix[row, column])
            left = f"dy{_at(int(row), of)}/d{made.input}{_at(int(column), to)}"
            lines.append(
                f"{left} = {value}" if put is None or put.strip("()") == value else f"{left} = {put} = {value}"
            )
    column = int(entries[0][1])
    v, out = step.vs[places[0]], term.out
    if len(term.jacobians) == 1 and isinstance(v, np.ndarray) and isinstance(out, np.ndarray):
        pairs = [(a, b) for a, b in zip(v.reshape(-1), matrix[:, column], strict=True) if b != 0]
        place = _at(column, to)
        total = " + ".join(f"{_factor(a)}*{_factor(b)}" for a, b in pairs) if len(pairs) <= TERMS else ""
        lines += (
            [f"{f'(v @ J){place}' if place else 'v @ J'} = {total} = {digits(out.reshape(-1)[column])}"]
            if total
            else []
        )
    return lines


def _at(place: int, tensor: Traced) -> str:
    """An index as it follows a name: `[0, 2]`; nothing for a number."""
    return f"[{', '.join(map(str, np.unravel_index(place, tensor.shape)))}]" if tensor.shape else ""


def _factor(value: float) -> str:
    """A number inside a formula: a negative one in brackets."""
    return digits(value) if math.copysign(1, value) > 0 else f"({digits(value)})"


def _total(pairs: Sequence[tuple[float, str]]) -> str | None:
    """A sum of numbers times names, zeros left out; None if it is too long."""
    kept = [(size, name) for size, name in pairs if size != 0]
    if not 0 < len(kept) <= TERMS:
        return None
    return " + ".join(name if size == 1 else f"{_factor(size)}*{name}" for size, name in kept)


def _filled(
    slope: str | None, step: Step, row: tuple[int, tuple[int, ...]], column: tuple[int, tuple[int, ...]]
) -> str | None:
    """The right side of a slope with the step's numbers in place of names; None if one of them is not stored."""
    if slope is None:
        return None
    left, right = slope.split(" = ", 1)
    above, below = left.split("/d")
    try:
        return _Filler(step, (above, *row), (below, *column)).put(parsed(right))
    except (KeyError, IndexError, ValueError):
        return None


class _Filler(ast.NodeTransformer):
    """Puts numbers in place of names: those that the step's rule has saved, at one entry of its Jacobian."""

    def __init__(self, step: Step, *sides: tuple[str, int, tuple[int, ...]]) -> None:
        self.saved = {saved.name: saved.value for saved in step.outputs[0].saved}
        self.count = math.prod(sides[1][2]) // max(1, math.prod(sides[0][2]))
        self.row, self.column = (tuple(map(int, np.unravel_index(place, shape))) for _, place, shape in sides)
        self.letters = [re.findall(r"\w+", name.partition("[")[2]) for name, _, _ in sides]
        self.bound: dict[str, int] = {}
        for letters, index in zip(self.letters, (self.row, self.column), strict=True):
            self.bound |= dict(zip(letters, index[len(index) - len(letters) :], strict=True))

    def put(self, tree: ast.expr) -> str:
        """A formula with numbers; a single name keeps its name, and gets its index."""
        if isinstance(tree, ast.Subscript) or (isinstance(tree, ast.Name) and tree.id not in {"pi", "n"}):
            name = as_text(tree).partition("[")[0]
            index = self._index(tree) if isinstance(tree, ast.Subscript) else self.row
            places = self._places(self._saved(name), index)
            return f"{name}[{', '.join(map(str, places))}]" if places else name
        return as_text(self.visit(tree))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if ast.unparse(node.func) in {"sum", "prod", "mean", "var", "softmax", "inv", "det"}:
            raise KeyError(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in {"pi", "n"}:
            return ast.Constant(self.count) if node.id == "n" else node
        return self._value(node.id, self.row)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._value(ast.unparse(node.value), self._index(node))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        names = [part.id for part in (node.left, *node.comparators) if isinstance(part, ast.Name)]
        if len(names) < 2 or not set(names) <= self.bound.keys():
            return self.generic_visit(node)
        row, column = self.row, self.column
        if len(row) != len(column):
            row, column = ((self.bound[letter],) for letter in (self.letters[0][-1], self.letters[1][-1]))
        return ast.Constant(int(row == column if isinstance(node.ops[0], ast.Eq) else column <= row))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            chosen: ast.expr = self.visit(node.body if test.value else node.orelse)
            return chosen
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def _index(self, node: ast.Subscript) -> tuple[int, ...]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        letters = [ast.unparse(part) for part in parts]
        same = {0: self.row, 1: self.column}
        return next((same[k] for k in same if letters == self.letters[k]), tuple(self.bound[each] for each in letters))

    def _value(self, name: str, index: tuple[int, ...]) -> ast.expr:
        value = self._saved(name)
        element = value[self._places(value, index)]
        return ast.Name(str(element) if value.dtype == bool else _factor(element))

    def _saved(self, name: str) -> Array:
        value = self.saved[SAVED_NAMES.get(name, name)]
        if not isinstance(value, np.ndarray):
            raise KeyError(name)
        return value

    def _places(self, value: Array, index: tuple[int, ...]) -> tuple[int, ...]:
        """An index of the result as one of an array that was repeated to its shape."""
        index = index[len(index) - value.ndim :]
        return tuple(place if size > 1 else 0 for place, size in zip(index, value.shape, strict=True))


# As text


def told(step: Step) -> list[str]:
    """The derivation of a step as lines of text, for each of its inputs."""
    lines: list[str] = []
    if step.op is None:
        return [*_lines(of_sum())]
    for term in step.terms:
        if term.derivation is not None:
            lines += [f"to {term.to.name}", *_lines(term.derivation), *(f"    {line}" for line in numbers(step, term))]
    return lines


def _lines(made: Derivation) -> list[str]:
    formulas = [f"    {text}" for text in (made.value, made.slope) if text]
    return [*formulas, *(f"  {text}" for text in (made.reason and made.reason.replace("`", ""), made.why) if text)]
