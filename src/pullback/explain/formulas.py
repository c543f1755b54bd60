"""Derivatives of elementwise rules as formulas: a rule is run once with symbols in place of arrays.

A formula is written as a Python expression, which a terminal shows as it is and the page typesets: `y*(1 - y)`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from functools import partialmethod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..extend import Primitive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core.typing import Function


CONSTANTS = {
    math.pi: "pi", math.log(2): "log(2)", math.log(10): "log(10)", math.sqrt(math.pi): "sqrt(pi)",
    math.sqrt(2 * math.pi): "sqrt(2*pi)", 1 / math.sqrt(2 * math.pi): "1/sqrt(2*pi)", math.sqrt(0.5): "sqrt(1/2)",
    2 / math.sqrt(math.pi): "2/sqrt(pi)", math.sqrt(math.pi) / 2: "sqrt(pi)/2", math.pi / 180: "pi/180",
    math.sqrt(2 / math.pi): "sqrt(2/pi)",
}  # fmt: skip
"""Constants of rules that are shown by what they are, not by their digits."""


def digits(value: float) -> str:
    """A number as it is shown in a formula: at most six digits."""
    return f"{value:.6g}"


def parsed(text: str) -> ast.expr:
    """The tree of a formula."""
    return ast.parse(text, mode="eval").body


def as_text(tree: ast.AST) -> str:
    """A tree as a formula."""
    return ast.unparse(tree).replace(" * ", "*").replace(" / ", "/").replace(" ** ", "**")


Operand: TypeAlias = "Formula | float"


class Formula:
    """A symbolic value: the operators of Python build larger formulas from smaller ones."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]  # as arrays have none
    dtype = np.dtype(np.float64)
    ndim = 0

    def __init__(self, tree: ast.expr) -> None:
        self.tree = tree

    def __str__(self) -> str:
        return as_text(self.tree)

    def __add__(self, other: Operand) -> Operand:
        if _number(other) == 0:
            return self
        if isinstance(_tree(other), ast.UnaryOp):
            return self - -other
        return 2 * self if str(self) == str(other) else _binary(self, ast.Add(), other)

    def __radd__(self, other: Operand) -> Operand:
        return _binary(other, ast.Add(), self) if other else self

    def __sub__(self, other: Operand) -> Operand:
        return self if _number(other) == 0 else _binary(self, ast.Sub(), other)

    def __rsub__(self, other: Operand) -> Operand:
        return _binary(other, ast.Sub(), self) if other else -self

    def __mul__(self, other: Operand) -> Operand:
        if (factor := _number(other)) is not None or (factor := _number(self)) is not None:
            rest = self if _number(other) is not None else other
            if factor in {1, -1}:
                return rest if factor == 1 else -rest
            return _binary(factor, ast.Mult(), rest) if factor else Formula(ast.Constant(0))
        if isinstance(self.tree, ast.UnaryOp):
            return -(Formula(self.tree.operand) * other)
        match self.tree:  # y*y*y
            case ast.BinOp(base, ast.Pow(), ast.Constant(float() | int() as power)) if ast.unparse(base) == str(other):
                return other ** (power + 1)
        return self**2 if str(self) == str(other) else _binary(self, ast.Mult(), other)

    def __rmul__(self, other: Operand) -> Operand:
        return self * other

    def __truediv__(self, other: Operand) -> Operand:
        if isinstance(self.tree, ast.UnaryOp):
            return -(Formula(self.tree.operand) / other)
        value: float | None = _number(other)
        if value is not None and value < 0:
            return -(self / -value)
        return self if value == 1 else _binary(self, ast.Div(), other)

    def __rtruediv__(self, other: Operand) -> Operand:
        return _binary(other, ast.Div(), self)

    def __pow__(self, other: Operand) -> Operand:
        return self if _number(other) == 1 else _binary(self, ast.Pow(), other)

    def __neg__(self) -> Formula:
        return Formula(_negated(self.tree))

    def __matmul__(self, other: Operand) -> Formula:
        return _binary(self, ast.MatMult(), other)

    def __abs__(self) -> Formula:
        return Formula(ast.Call(ast.Name("abs"), [self.tree], []))

    def __getitem__(self, index: object) -> Formula:
        entries = index if isinstance(index, tuple) else (index,)
        return Formula(ast.Subscript(self.tree, parsed(f"_[{', '.join(map(_entry, entries))}]").slice))  # type: ignore[attr-defined]

    def _joined(self, word: ast.boolop, other: object) -> Formula:
        return Formula(ast.BoolOp(word, [self.tree, _tree(other)]))

    def _compared(self, sign: ast.cmpop, other: Any) -> Formula:
        return Formula(ast.Compare(self.tree, [sign], [_tree(other)]))

    __and__, __or__ = partialmethod(_joined, ast.And()), partialmethod(_joined, ast.Or())
    __lt__, __le__ = partialmethod(_compared, ast.Lt()), partialmethod(_compared, ast.LtE())
    __gt__, __ge__ = partialmethod(_compared, ast.Gt()), partialmethod(_compared, ast.GtE())
    __eq__ = partialmethod(_compared, ast.Eq())  # a formula, as for arrays an array
    __ne__ = partialmethod(_compared, ast.NotEq())


def _entry(index: object) -> str:
    """An entry of an index as it is written."""
    if not isinstance(index, slice):
        return "..." if index is Ellipsis else repr(index)
    start, stop, step = ("" if each is None else repr(each) for each in (index.start, index.stop, index.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _negated(tree: ast.expr) -> ast.expr:
    """-x, where the sign stands before the first factor."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Mult, ast.Div)):
        return ast.BinOp(_negated(tree.left), tree.op, tree.right)
    return tree.operand if isinstance(tree, ast.UnaryOp) else ast.UnaryOp(ast.USub(), tree)


def _number(value: object) -> Any:
    """The number that a value is; None for a formula with names."""
    tree = value.tree if isinstance(value, Formula) else None
    return value if tree is None else tree.value if isinstance(tree, ast.Constant) else None


def _tree(value: Any) -> ast.expr:
    if isinstance(value, Formula):
        return value.tree
    if isinstance(value, (tuple, list)):
        return _tree(value[0]) if len(value) == 1 else ast.Tuple([*map(_tree, value)])
    if isinstance(value, (str, bool)):
        return ast.Constant(value)
    value = float(value)
    known = next((text for size, text in CONSTANTS.items() if math.isclose(abs(value), size, rel_tol=1e-9)), None)
    text = known or digits(abs(value))
    return parsed(f"-({text})" if value < 0 else text)


def _binary(left: Operand, operator: ast.operator, right: Operand) -> Formula:
    return Formula(ast.BinOp(_tree(left), operator, _tree(right)))


class _Symbols:
    """What a rule's `xp` is when its values are formulas."""

    def __getattr__(self, name: str) -> Callable[..., Formula]:
        def called(*args: object, **params: object) -> Formula:
            said = {key: value for key, value in params.items() if value is not False and value is not None}
            keywords = [ast.keyword(key, _tree(value)) for key, value in said.items()]
            return Formula(ast.Call(ast.Name(name), [*map(_tree, args)], keywords))

        return called

    def constant(self, value: float, dtype: object) -> float:
        return value

    def is_complex(self, x: object) -> bool:
        return False

    def real(self, x: Operand) -> Operand:
        return x

    conj = real

    def zeros_like(self, x: object) -> Formula:
        return Formula(ast.Constant(0))

    def power(self, x: Operand, exponent: float) -> Operand:
        return x**exponent

    pow = power

    def sgn(self, x: Operand) -> Operand:
        return self.sign(x)

    def logical_not(self, condition: Operand) -> Formula:
        return Formula(ast.UnaryOp(ast.Not(), _tree(condition)))

    def where(self, condition: Operand, one: Operand, other: Operand) -> Formula:
        return Formula(ast.IfExp(_tree(condition), _tree(one), _tree(other)))

    def select(self, condition: Operand, one: Operand) -> Formula:
        tested = (
            condition
            if isinstance(_tree(condition), (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call))
            else condition > 0
        )
        return self.where(tested, one, 0)


def slope_of(primitive: Primitive, index: int, params: Mapping[str, Any]) -> str | None:
    """The derivative by one input that an elementwise rule multiplies the cotangent by; None if it has no formula."""
    rule = primitive.rules[index]
    if rule is None:
        return None
    code = rule.__code__
    names, metadata = (
        code.co_varnames[2 : code.co_argcount],
        code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount],
    )
    params = {**primitive.defaults, **params}
    given = {name: params[name] for name in metadata if name in params}
    return _written(rule, [Formula(ast.Constant(1)), *_named(names)], given)


def value_of(primitive: Primitive, params: Mapping[str, Any]) -> str | None:
    """What a primitive computes, by its definition; None if that has no formula. Several results are joined by commas."""
    if primitive.definition is None or primitive.variadic:
        return None
    return _written(primitive.definition, _named(primitive.inputs), params)


def _named(names: Iterable[str]) -> list[Formula]:
    return [Formula(ast.Name(name)) for name in names]


def _written(function: Function, values: list[Formula], params: Mapping[str, Any]) -> str | None:
    try:
        made = function(_Symbols(), *values, **params)
        return ", ".join(map(str, made)) if isinstance(made, (tuple, list)) else str(made)
    except (TypeError, AttributeError, ValueError):  # it does what a symbol cannot
        return None
