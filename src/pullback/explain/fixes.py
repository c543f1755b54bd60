"""Changes of the program that may help against what failed, as small differences of its text.

Each is made from what failed, its shapes and dtypes, and from how the program is written there; whether it helps is
known only where the program is run with it, which `trying` does.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import Tensor
from .._core.keywords import suggested
from . import fitting
from .edits import Written, constants, method_or_function, number_at, value_of
from .failing import Failed, made_at
from .trace import Call, Change, Failure, Fix

if TYPE_CHECKING:
    from .scopes import Scopes
    from .sources import Place


MOST = 8
GIVES = ("out_features", "out_channels", "hidden_size", "embedding_dim")
"""The settings of layers for the size of what they give."""
CASTS = {"float32": "float", "float64": "double", "int64": "long", "complex64": "cfloat", "complex128": "cdouble"}
CASTS |= {"float16": "half", "bfloat16": "bfloat16", "int32": "int"}
OUT_OF_BOUNDS = re.compile(r"index (?P<index>-?\d+) is out of bounds for dimension \d+ with size (?P<size>\d+)")
CLASSES = re.compile(r"Target (?P<index>\d+) is out of bounds: there are (?P<size>\d+) classes")
OUT_OF_RANGE = re.compile(r"Dimension out of range \(expected to be in range of \[.*\], but got (?P<dim>-?\d+)\)")
MISSING = re.compile(r"missing \d+ required positional arguments?: (?P<names>.+)")
MEANT = re.compile(r"unexpected keyword argument '(?P<given>\w+)'\. Did you mean '(?P<meant>\w+)'")


class Case:
    """A failure, and the program around it."""

    def __init__(self, failed: Failed, failure: Failure, scopes: Scopes, calls: Sequence[Call]) -> None:
        assert failed.last is not None
        assert failure.place is not None
        self.failed, self.failure, self.scopes, self.calls = failed, failure, scopes, calls
        self.place, self.frame = failure.place, failed.last.tb_frame
        self.written = Written(self.place.file)
        self.call = self.written.at(self.place, ast.Call)
        self.message = failure.message

    def operands(self) -> list[ast.expr]:
        """What the operation works on, as it is written at the place of the failure."""
        product = self.written.at(self.place, ast.BinOp)
        if product is not None:
            return [product.left, product.right]
        return [] if self.call is None else method_or_function(self.call, self.frame)

    def operand_of(self, argument: int) -> ast.expr | None:
        """Where an argument of what failed is written, if it is a variable, or the only part that it can be."""
        given = self.failed.given[argument].value
        operands = [*self.operands()]
        for each in operands:
            operands += each.elts if isinstance(each, (ast.List, ast.Tuple)) else []
        for each in operands:
            if value_of(each, self.frame) is given:
                return each
        fresh = [each for each in operands if not isinstance(each, (ast.Name, ast.Constant))]
        unnamed = [each for each in self.failed.given if isinstance(each.value, Tensor)]
        if len(operands) == len(unnamed) and self.failed.module is None:
            at = [each.value is given for each in unnamed].index(True)
            return operands[at] if operands[at] in fresh else None
        return None

    def setting(self, module: Any, name: str, value: int, why: str) -> Iterator[Fix]:
        """A change of one setting where a module is made."""
        place = made_at(module)
        if place is None:
            return
        written = Written(place.file)
        call = written.at(place, ast.Call)
        if call is None or any(isinstance(each, ast.Starred) for each in call.args):
            return
        names = [each for each in inspect.signature(type(module).__init__).parameters if each != "self"]
        found = next((each.value for each in call.keywords if each.arg == name), None)
        if found is None and name in names[: len(call.args)]:
            found = call.args[names.index(name)]
        if found is not None:
            yield Fix(f"Line {found.lineno}: {why}", [written.replaced(found, str(value))])


def fixes(failed: Failed, failure: Failure, scopes: Scopes, calls: Sequence[Call]) -> list[Fix]:
    """What may help, the likeliest first."""
    place = failure.place
    if not failed.ours or failed.last is None or place is None or place.column is None:
        return []
    case = Case(failed, failure, scopes, calls)
    found: list[Fix] = []
    for make in MAKERS:
        for each in make(case):
            if each.changes not in [known.changes for known in found]:
                found.append(each)
    return found[:MOST]


# Sizes of layers


def _layers(case: Case) -> Iterator[Fix]:
    """Another size for the layer, or for what comes before it."""
    found, scope = case.failed.misfit, case.failure.scope
    if found is None or scope is None:
        return
    rows = found.setting == "num_embeddings"
    why = "the table has a row for each number." if rows else "the layer takes what it gets."
    yield from case.setting(case.failed.module, found.setting, found.given + rows, why)
    if not rows:
        yield from _flattened(case, found.taken)
        yield from _given_by(case, found.given, found.taken, scope.index, "the layer before gives what is wanted.")


def _given_by(case: Case, have: int, want: int, until: int, why: str) -> Iterator[Fix]:
    """Another size for the last layer that gives one, of those that were called before a scope."""
    for scope in reversed(case.scopes.all[:until]):
        module = case.scopes.modules.get(scope.index)
        name = next((each for each in GIVES if getattr(module, each, None) == have), None)
        if name is not None:
            yield from case.setting(module, name, want, why)
            return


def _flattened(case: Case, want: int) -> Iterator[Fix]:
    """The axes of each example as one, before a linear layer."""
    first = next((each.value for each in case.failed.given if isinstance(each.value, Tensor)), None)
    if first is None or first.ndim < 3 or math.prod(first.shape[1:]) != want:
        return
    made = case.failure.made
    written = Written(made.file) if made is not None else case.written
    call = written.at(made, ast.Call)
    if call is not None and written.is_part(call, "Sequential"):
        name = re.sub(r"\w+$", "Flatten", written.segment(call.func))
        why = f"Line {call.lineno}: the axes of each example are made one before the layer."
        yield Fix(why, [written.before(call, f"{name}(), ")])
    elif case.call is not None and case.call.args:
        why = "The axes of each example are made one before the layer."
        yield Fix(why, [case.written.appended(case.call.args[0], ".flatten(1)")])


def _classes(case: Case) -> Iterator[Fix]:
    """As many scores as there are classes."""
    found = CLASSES.search(case.message)
    if found is not None:
        until = len(case.scopes.all)
        why = "the layer gives a score for each class."
        yield from _given_by(case, int(found["size"]), int(found["index"]) + 1, until, why)


# Dtypes


def _casts(case: Case) -> Iterator[Fix]:
    """One operand in the dtype of the other."""
    tensors = [(at, each.value) for at, each in enumerate(case.failed.given) if isinstance(each.value, Tensor)]
    kinds = [str(each.dtype).rpartition(".")[2] for _, each in tensors]
    wanted: list[tuple[int, str]] = []
    if (
        ("Long" in case.message and "expected Float" not in case.message)
        or "must be long" in case.message
        or "must be int" in case.message
    ):
        wanted = [(at, "int64") for (at, _), kind in zip(tensors, kinds, strict=True) if "float" in kind]
    elif "dtype" in case.message and len(kinds) > 1 and kinds[0] != kinds[1]:
        order = sorted((0, 1), key=lambda at: ("float" in kinds[at], kinds[at] != "float64"))
        wanted = [(tensors[at][0], kinds[1 - at]) for at in order if "int" not in kinds[1 - at]]
    own = [] if case.failed.module is None else [*case.failed.module.parameters()]
    wanted = [(at, kind) for at, kind in wanted if not any(each is case.failed.given[at].value for each in own)]
    for at, kind in wanted:
        if kind not in CASTS:
            continue
        operand = case.operand_of(at)
        why = f"{case.failure.arguments[at].name} is converted to {kind}."
        if operand is not None:
            yield Fix(_upper(why), [case.written.appended(operand, f".{CASTS[kind]}()")])
        elif case.failed.module is not None and case.call is not None:
            for each in case.call.args:
                if not isinstance(each, (ast.Constant, ast.Starred)):
                    why = f"{case.written.segment(each)} is converted to {kind}."
                    yield Fix(_upper(why), [case.written.appended(each, f".{CASTS[kind]}()")], guess=True)


def _upper(text: str) -> str:
    return f"`{text.partition(' ')[0]}` {text.partition(' ')[2]}" if text[:1].islower() else text


# Indices, axes and arguments


def _indices(case: Case) -> Iterator[Fix]:
    """The last place in the place of one that is not there."""
    found = OUT_OF_BOUNDS.search(case.message)
    subscript = case.written.at(case.place, ast.Subscript)
    if found is None or subscript is None:
        return
    index, size = int(found["index"]), int(found["size"])
    for each in constants(subscript.slice):
        if number_at(each) == index and size:
            yield Fix(f"The last place of this axis is {size - 1}.", [case.written.replaced(each, str(size - 1))])
            return
    names = {each.id for each in ast.walk(subscript.slice) if isinstance(each, ast.Name)}
    for loop in case.written.loops(case.place.line):
        if isinstance(loop.target, ast.Name) and loop.target.id in names:
            for each in constants(loop.iter):
                why = f"Line {each.lineno}: the axis has {size} places, counted from 0."
                yield Fix(why, [case.written.replaced(each, str(size))], guess=True)


def _axes(case: Case) -> Iterator[Fix]:
    """The last axis in the place of one that is not there."""
    found = OUT_OF_RANGE.search(case.message)
    if found is None or case.call is None:
        return
    given = [*case.call.args, *(keyword.value for keyword in case.call.keywords)]
    for each in (each for part in given for each in constants(part)):
        if number_at(each) == int(found["dim"]):
            yield Fix("The last axis is -1.", [case.written.replaced(each, "-1")])
            return


def _missing(case: Case) -> Iterator[Fix]:
    """A variable for an argument that is missing: of its name, or one that is not passed yet."""
    found = MISSING.search(case.message)
    if found is None or case.call is None or not isinstance(case.failed.error, TypeError):
        return
    names = re.findall(r"'(\w+)'", found["names"])
    if len(names) != 1:
        return
    known = {**case.frame.f_locals} if case.frame.f_code.co_name != "<module>" else {**case.frame.f_globals}
    used = {each.id for each in ast.walk(case.call) if isinstance(each, ast.Name)}
    tensors = [each for each, value in known.items() if isinstance(value, Tensor) and each not in used]
    given = [each for each in (names[0], *reversed(tensors)) if each in known]
    for name in dict.fromkeys(given):
        text = name if not case.call.keywords else f"{names[0]}={name}"
        yield Fix(f"{names[0]} is passed.", [case.written.passed(case.call, text)], guess=name != names[0])


def _keywords(case: Case) -> Iterator[Fix]:
    """A keyword as it is spelled."""
    if case.call is None or not isinstance(case.failed.error, TypeError):
        return
    found = MEANT.search(str(suggested(case.failed.error, case.failed.entries)[0]))
    for keyword in case.call.keywords if found is not None else ():
        if found is not None and keyword.arg == found["given"]:
            place = case.written.place(keyword)
            name = place._replace(end_line=place.line, end_column=(place.column or 0) + len(found["given"]))
            yield Fix("The keyword is spelled so.", [Change(name, found["meant"])])


# Writes


def _writes(case: Case) -> Iterator[Fix]:
    """A new tensor in the place of a write."""
    overwritten = case.failure.overwritten
    place = overwritten.place if overwritten is not None else case.place if "leaf" in case.message else None
    if place is None:
        return
    written = Written(place.file)
    statement = written.statement(place.line)
    target = text = None
    if isinstance(statement, ast.AugAssign):
        target = written.segment(statement.target)
        value = written.segment(statement.value)
        sign = written.segment(statement)[len(target) :].lstrip().partition("=")[0]
        value = value if isinstance(statement.value, (ast.Name, ast.Constant, ast.Call)) else f"({value})"
        if ".grad" in value and overwritten is None:
            yield from _not_recorded(case, written, statement)
        text = f"{target} = {target} {sign} {value}"
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            target, whole = written.segment(call.func.value), written.segment(call)
            function = written.segment(call.func)
            text = f"{target} = {function[:-1]}{whole[len(function) :]}"
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        owner = written.segment(statement.targets[0].value)
        why = f"Line {place.line}: a copy is written, not {owner} itself."
        yield Fix(why, [written.before(statement, f"{owner} = {owner}.clone(); ")])
    if statement is not None and text is not None and target is not None and target.replace(".", "").isidentifier():
        yield Fix(
            f"Line {place.line}: {target} names a new tensor, and none is written.", [written.replaced(statement, text)]
        )


def _not_recorded(case: Case, written: Written, statement: ast.stmt) -> Iterator[Fix]:
    """An update of a parameter that is not recorded."""
    name = library(case)
    if name is not None:
        why = f"Line {statement.lineno}: the update is not recorded."
        yield Fix(why, [written.before(statement, f"with {name}.no_grad(): ")])


def library(case: Case) -> str | None:
    """The program's name for this package."""
    values = {**case.frame.f_globals, **case.frame.f_locals}
    modules = (name for name, value in values.items() if getattr(value, "Tensor", None) is Tensor)
    return next((name for name in modules if not name.startswith("_")), None)


# Backward


def _again(case: Case) -> Iterator[Fix]:
    """The graph is retained by the pass before."""
    if not case.message.startswith("Trying to backward") or case.failure.op not in {"backward", "grad"}:
        return
    places: list[Place | None] = [call.place for call in case.calls if call.steps]
    for place in dict.fromkeys(reversed(places)):
        if place is None:
            continue
        written = Written(place.file)
        call = written.at(place, ast.Call)
        if call is not None and not any(each.arg == "retain_graph" for each in call.keywords):
            why = f"Line {place.line}: the graph is kept for the next backward."
            yield Fix(why, [written.passed(call, "retain_graph=True")])
            return


def _seeds(case: Case) -> Iterator[Fix]:
    """A number to begin with, or a gradient for each."""
    wanted = "grad can be implicitly created only for scalar outputs" in case.message
    if not wanted or case.call is None or not isinstance(case.call.func, ast.Attribute):
        return
    if case.call.func.attr != "backward":
        return
    output, line = case.call.func.value, case.place.line
    yield Fix(f"Line {line}: the sum of all outputs.", [case.written.appended(output, ".sum()")])
    name = library(case)
    if name is not None and isinstance(output, (ast.Name, ast.Attribute)):
        ones = f"gradient={name}.ones_like({case.written.segment(output)})"
        yield Fix(f"Line {line}: a weight for each output.", [case.written.passed(case.call, ones)])


def _constants(case: Case) -> Iterator[Fix]:
    """Tensors that hold gradients where other libraries want arrays, and outputs of constants."""
    if case.failure.op == "numpy" and case.call is not None and isinstance(case.call.func, ast.Attribute):
        why = f"Line {case.place.line}: the array holds the numbers, without their graph."
        yield Fix(why, [case.written.appended(case.call.func.value, ".detach()")])
    if "does not require grad and does not have a grad_fn" not in case.message:
        return
    for name, value in {**case.frame.f_globals, **case.frame.f_locals}.items():
        call = case.written.assigned(name, case.place.line)
        if isinstance(value, Tensor) and value.is_floating_point() and isinstance(call, ast.Call):
            why = f"Line {call.lineno}: {name} is a leaf whose gradient is wanted."
            yield Fix(why, [case.written.passed(call, "requires_grad=True")], guess=True)


MAKERS: Sequence[Callable[[Case], Iterator[Fix]]] = (
    _layers, _classes, _casts, _indices, _axes, _missing, _keywords, _writes, _again, _seeds, _constants, *fitting.MAKERS,
)  # fmt: skip
