"""The source code of a backward rule, and the local Jacobian of which the rule is the transpose.

No derivative is repeated here: the text is the rule's source code, and a Jacobian is computed by applying the rule to
unit vectors. So neither can differ from what the pass computes.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..observe import Node, OutputNode as Output, apply_rule, saved
from .arrays import Array, Limits
from .sources import shortened, text_of


class Jacobian(NamedTuple):
    """A local Jacobian: rows are output elements, columns input elements; `diagonal`: only the diagonal is stored."""

    form: str
    rows: int
    cols: int
    data: Array

    def dense(self) -> Array:
        """The Jacobian as a dense matrix."""
        if self.form == "dense":
            return self.data.reshape(self.rows, self.cols)
        matrix = np.zeros((self.rows, self.cols), self.data.dtype)
        np.fill_diagonal(matrix, self.data)
        return matrix


# 1. Jacobians

MOST_RUNS = 50_000
"""The maximal number of times that rules are run to compute Jacobians for one explanation."""


REDACTED = "values are redacted (redact=True)"
COMPLEX = "for complex numbers v @ J is not a matrix product"


def too_large(limits: Limits) -> str:
    """The reason why a large Jacobian is missing."""
    return f"it has more than {limits.jacobian} elements; raise jacobian= to compute it"


class Builder:
    """Computes the local Jacobians of one explanation, within its limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.runs = 0

    def build(
        self, node: Node, wanted: Sequence[int], dtype: np.dtype
    ) -> tuple[dict[int, list[Jacobian | None]], str | None]:
        """For each wanted input a Jacobian for each output, and the reason why some are missing."""
        shapes = shapes_of(node)
        found: dict[int, list[Jacobian | None]] = {index: [None] * len(shapes) for index in wanted}
        reason = self._refused(node, dtype)
        if reason is not None:
            return found, reason
        plain = {index for index in wanted if self._diagonal(node, index, shapes)}
        if plain:
            for index, result in self._rows(node, [np.ones(shapes[0], dtype)], plain):
                found[index][0] = Jacobian("diagonal", result.size, result.size, result.reshape(-1).copy())
        for place, shape in enumerate(shapes):
            size = math.prod(shape)
            small = {i for i in wanted if i not in plain and self._small(size * math.prod(_input_shape(node, i)))}
            if not small:
                continue
            if self.runs + size > MOST_RUNS:
                reason = "the limit on the local Jacobians of one explanation is reached"
                continue
            rows: dict[int, list[Array]] = {index: [] for index in small}
            for unit in range(size):
                for index, result in self._rows(node, _units(shapes, place, unit, dtype), small):
                    rows[index].append(result.reshape(-1))
            for index, data in rows.items():
                cols = math.prod(_input_shape(node, index))
                matrix = np.concatenate(data) if data else np.zeros(0, dtype)
                found[index][place] = Jacobian("dense", size, cols, matrix)
        if reason is None and any(None in each for each in found.values()):
            reason = too_large(self.limits)
        return found, reason

    def _refused(self, node: Node, dtype: np.dtype) -> str | None:
        if self.limits.redact:
            return REDACTED
        if node.foreign:
            return "the rule is the program's own, and explain does not call it a second time"
        if dtype.kind == "c" or any(edge is not None and _complex(edge) for edge in node.edges):
            return COMPLEX
        kept = saved(node)
        if kept is None or any(
            each.packed or not isinstance(each.value, (np.ndarray, np.generic, int, type(None))) for each in kept
        ):
            return "hooks hold the values that the rule needs, and explain does not call them a second time"
        return None

    def _small(self, size: int) -> bool:
        return size <= self.limits.jacobian

    def _diagonal(self, node: Node, index: int, shapes: Sequence[tuple[int, ...]]) -> bool:
        """True if the operation's kind makes the Jacobian diagonal, and it is small enough."""
        shape = _input_shape(node, index)
        size = math.prod(shape)
        return node.primitive.kind == "elementwise" and shape == shapes[0] and size != 1 and self._small(size)

    def _rows(self, node: Node, g: list[Array], wanted: set[int]) -> list[tuple[int, Array]]:
        """The results of the rule for one cotangent per output, for each wanted input."""
        self.runs += 1
        edges = tuple(edge if index in wanted else None for index, edge in enumerate(node.edges))
        results = apply_rule(node, g if several(node) else g[0], edges)
        zeros = ((i, np.zeros(_input_shape(node, i), g[0].dtype)) for i in wanted)
        return [(i, zero if results[i] is None else results[i]) for i, zero in zeros]


def shapes_of(node: Node) -> list[tuple[int, ...]]:
    """The shapes of a node's outputs."""
    if not several(node):
        return [tuple(node.shape)]
    return [() if shape is None else tuple(shape) for shape in node.params["shapes"]]


def several(node: Node) -> bool:
    """True if an operation has several outputs: its tensors then have nodes of their own."""
    return isinstance(node.params, dict) and "shapes" in node.params and not isinstance(node, Output)


def _input_shape(node: Node, index: int) -> tuple[int, ...]:
    edge = node.edges[index]
    return () if edge is None or edge.shape is None else tuple(edge.shape)


def _complex(node: Node) -> bool:
    array = getattr(node, "array", None)
    return array is not None and array.dtype.kind == "c"


def _units(shapes: Sequence[tuple[int, ...]], place: int, unit: int, dtype: np.dtype) -> list[Array]:
    """One cotangent for each output: zeros, with a single 1."""
    g = [np.zeros(shape, dtype) for shape in shapes]
    g[place].flat[unit] = 1
    return g


# 2. Source code


@functools.lru_cache(maxsize=4096)
def source_of(rule: object) -> str | None:
    """The source code of a rule, without `xp.`: `g * b`; a longer one as a call, `pad_pullback(g, x)`."""
    code = getattr(rule, "__code__", None)
    if code is None:
        return None
    if code.co_name != "<lambda>":
        names = inspect.getargs(code).args[1:]
        return f"{code.co_name}({', '.join(names)})"
    columns = [
        (line, start) for line, _, start, end in code.co_positions() if line and start is not None and start != end
    ]
    body = next((node.body for node in _lambdas(code.co_filename) if _covers(node, columns)), None)
    return None if body is None else shortened(ast.unparse(body).replace("xp.", ""), 160)


@functools.lru_cache(maxsize=64)
def _lambdas(filename: str) -> list[ast.Lambda]:
    """The lambdas of a file, inner ones before the enclosing ones."""
    found = [node for node in ast.walk(text_of(filename).tree) if isinstance(node, ast.Lambda)]
    return found[::-1]


def _covers(node: ast.Lambda, columns: list[tuple[int, int]]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return bool(columns) and all(start <= place < end for place in columns)


def rule_source(node: Node, index: int | None = None) -> str | None:
    """The source code of the rule that ran for one input of a node, or for all of them."""
    primitive = getattr(node, "primitive", None)
    if primitive is None or node.foreign:
        return None
    if primitive.joint is not None:
        return source_of(primitive.joint)
    if index is not None:
        rule = primitive.rules[index] if index < len(primitive.rules) else None
        return None if rule is None else source_of(rule)
    ran = [
        rule for rule, edge in zip(primitive.rules, node.edges, strict=False) if rule is not None and edge is not None
    ]
    texts = [text for rule in ran if (text := source_of(rule)) is not None]
    return "; ".join(texts) or None
