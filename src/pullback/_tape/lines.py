"""What the source of a program says about a value: read for errors alone, where the tape does not know it."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import NamedTuple

from .._core.sites import Site, line_of, user_frame, variables_of


class Binding(NamedTuple):
    """A statement, without those inside of it: the line, what it binds, and what it reads."""

    line: int
    targets: Sequence[ast.expr]
    value: ast.expr

    @property
    def bound(self) -> list[str]:
        """The names and attributes that it binds."""
        return [ast.unparse(each) for target in self.targets for each in _places(target)]

    @property
    def read(self) -> set[str]:
        """The names and attributes that it reads."""
        return {ast.unparse(each) for each in _places(self.value)}


def detached(site: Site) -> list[str]:
    """Statements that detach what a statement both reads and binds, as a loop does with a state: `h` of `y, h = cell(x, h)`."""
    here = _bindings(*site)[-1:]
    values = variables_of(user_frame(sys._getframe(1)))
    several = "{0} = tuple(each.detach() for each in {0})"
    return [
        (several if isinstance(values.get(name), tuple) else "{0} = {0}.detach()").format(name)
        for binding in here
        for name in binding.bound
        if name in binding.read and name != "self"
    ]


def gradient_before(frame: FrameType) -> tuple[str, int] | None:
    """A gradient without a graph from which the statement was computed that a frame is at, with its line; None if none is found."""
    wanted: set[str] = set()
    for number, binding in enumerate(reversed(_bindings(frame.f_code, frame.f_lasti))):
        if number and wanted.isdisjoint(binding.bound):
            continue
        parts = [binding.value] if number else _operands(binding.value)
        if (found := next(filter(None, map(_gradient, parts)), None)) is not None:
            return found, binding.line
        wanted |= binding.read
    return None


def _bindings(code: CodeType, offset: int) -> list[Binding]:
    """The statements of the function, or module, that a site is in, up to its line."""
    lines = importlib.import_module("linecache").getlines(code.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    line = line_of((code, offset))
    scopes = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == code.co_name]
    scope = next((each for each in scopes if each.lineno <= line <= (each.end_lineno or line)), tree)
    return [each for each in _flat(scope.body) if each.line <= line]


def _flat(body: Sequence[ast.stmt]) -> Iterator[Binding]:
    """All statements of a block, with those in the blocks inside of it, but for definitions."""
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                yield Binding(statement.lineno, targets, value)
            case ast.AugAssign(target=target, op=op, value=value):
                yield Binding(statement.lineno, [target], ast.BinOp(target, op, value))
            case ast.For(target=target, iter=value):
                yield Binding(statement.lineno, [target], value)
            case (
                ast.Expr(value=value)
                | ast.Return(value=ast.expr() as value)
                | ast.If(test=value)
                | ast.While(test=value)
            ):
                yield Binding(statement.lineno, [], value)
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for inside in ("body", "orelse", "handlers", "finalbody"):
                yield from _flat(getattr(statement, inside, ()))


def _places(expression: ast.expr) -> list[ast.expr]:
    """The names in an expression, and the attributes of names."""
    found = ast.walk(expression)
    return [each for each in found if isinstance(each, ast.Name | ast.Attribute)]


def _operands(expression: ast.expr) -> list[ast.expr]:
    """What the call that has failed was given, or was called on; another expression itself."""
    if not isinstance(expression, ast.Call):
        return [expression]
    given = [*expression.args, *(keyword.value for keyword in expression.keywords)]
    return [*given, expression.func.value] if isinstance(expression.func, ast.Attribute) else given


def _gradient(expression: ast.AST) -> str | None:
    """A call of `autograd.grad` without create_graph in an expression, or an attribute `grad`, as it is written."""
    called = {id(each.func) for each in ast.walk(expression) if isinstance(each, ast.Call)}
    for each in ast.walk(expression):
        if isinstance(each, ast.Attribute) and each.attr == "grad" and id(each) not in called:
            return ast.unparse(each)
        asks = isinstance(each, ast.Call) and any(keyword.arg == "create_graph" for keyword in each.keywords)
        if isinstance(each, ast.Call) and len(each.args) > 1 and not asks:
            function = ast.unparse(each.func)
            if function.rpartition(".")[2] == "grad":
                return function
    return None
