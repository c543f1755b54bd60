"""A saved trace, read back into an explanation: the inverse of `document`."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import dtype
from .accounts import Account, Constant, Line, Said, Statement
from .arrays import FINE, Cells, Kept, Limits, Stats, Summary, marks_of
from .damage import DAMAGES, FormatError, called, readable, why
from .derivations import Derivation
from .document import NAME, PLAIN, VERSION, schema
from .explanation import Explanation
from .plots import Statistics, statistics
from .rules import Jacobian
from .schemas import problem
from .sheets import Sheet
from .sources import Place, remember
from .trace import (
    Argument,
    Call,
    Change,
    Clash,
    Failure,
    Finding,
    Fix,
    Hop,
    Leaf,
    Output,
    Overwritten,
    Saved,
    Scope,
    Stage,
    Step,
    Term,
    Traced,
)
from .yardsticks import Yardstick

if TYPE_CHECKING:
    from os import PathLike


NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def read(path: str | PathLike[str]) -> Explanation:
    """The explanation that was saved in a .json file.

    Raises
    ------
    ValueError
        If the file is not a trace, or has another version.
    """
    file = readable(path)
    try:
        document = json.loads(file.read_text(encoding="utf-8"), parse_constant=_not_finite)
        if wrong := problem(document, schema()):
            raise FormatError(wrong)
        with np.errstate(all="ignore"):
            return from_dict(document)
    except DAMAGES as error:
        raise ValueError(f"{called(path)} is no trace that can be shown: {why(error)}") from None


def _not_finite(text: str) -> NoReturn:
    raise FormatError(f"{text} is no JSON number")


def from_dict(document: dict[str, Any]) -> Explanation:
    """The explanation that `to_dict` was called on."""
    if document["schema"] != NAME or document["version"] != VERSION:
        raise FormatError(f"expected a {NAME} of version {VERSION}")
    given = document["limits"]
    limits = Limits(given["values"], given["jacobian"], given["max_nodes"], redact=given["redacted"])
    reader = _Reader(document)
    calls = [reader.call(call) for call in document["calls"]]
    ex = Explanation(calls, limits, recorded=document["recorded"], scopes=reader.scopes)
    ex.notes = list(given["notes"])
    ex.sheets = [Sheet(**each) for each in document.get("sheets", [])]
    ex.shown = document["primary"]
    if document["error"] is not None:
        ex.failure = reader.failure(document["error"], calls)
    return ex


class _Reader:
    def __init__(self, document: dict[str, Any]) -> None:
        self.files = [remember(source["file"], source["first"], source["lines"]) for source in document["sources"]]
        self.scopes: list[Scope] = []
        for index, each in enumerate(document["scopes"]):
            parent = None if each["parent"] is None else self.scopes[each["parent"]]
            self.scopes.append(Scope(index, each["kind"], each["name"], each["type"], parent, each["nth"]))
        self.tensors: list[Traced] = []
        self.statements = [Statement(**each) for each in document.get("statements", [])]
        self.derivations = [Derivation(**each) for each in document.get("derivations", [])]

    def place(self, place: dict[str, Any] | None) -> Place | None:
        if place is None:
            return None
        ends = place["column"], place["end_line"], place["end_column"]
        return Place(self.files[place["source"]], place["line"], *ends)

    def scope(self, index: int | None) -> Scope | None:
        return None if index is None else self.scopes[index]

    def call(self, given: dict[str, Any]) -> Call:
        self.tensors = []
        for each in given["tensors"]:
            self.tensors.append(self.tensor(each))
        for tensor, each in zip(self.tensors, given["tensors"], strict=True):
            for saved in each["saved"]:
                other = None if saved["tensor"] is None else self.tensors[saved["tensor"]]
                tensor.saved.append(Saved(saved["name"], saved["text"], other, _maybe(saved["value"])))
        steps = [self.step(each) for each in given["steps"]]
        cost = given["cost"]
        return Call(
            text=given["text"],
            kind=given["kind"],
            place=self.place(given["place"]),
            outputs=[
                Output(self.tensors[each["tensor"]], _array(each["gradient"]), each["implicit"])
                for each in given["outputs"]
            ],
            tensors=self.tensors,
            forward=[step for step in steps if step.phase == "forward"],
            steps=[step for step in steps if step.phase == "backward"],
            leaves=[self.leaf(each, steps) for each in given["leaves"]],
            findings=[self.finding(each, steps) for each in given["findings"]],
            account=None if given.get("account") is None else self.account(given["account"]),
            kept_bytes=cost["kept_bytes"],
            estimated=cost["estimated"],
            loss=None if given.get("loss") is None else Yardstick(**given["loss"]),
        )

    def account(self, given: dict[str, Any]) -> Account:
        constants = [Constant(_maybe(each["value"]), each["given"], each["why"] or "") for each in given["constants"]]
        return Account(constants, [*map(self.line, given["lines"])], given["v"], given["why"] or "")

    def line(self, given: dict[str, Any]) -> Line:
        statement, pull = (
            None if given[name] is None else self.statements[given[name]] for name in ("statement", "pull")
        )
        said = Said(statement, pull, given["why"] or "")
        return Line(given["inputs"], given["outputs"], place=self.place(given["place"]), look=given["look"], said=said)

    def tensor(self, given: dict[str, Any]) -> Traced:
        data = _maybe(given["data"])
        return Traced(
            index=len(self.tensors),
            inputs=[self.tensors[index] for index in given["inputs"]],
            shape=tuple(given["shape"]),
            dtype=_dtype(given["dtype"]),
            data=data,
            place=self.place(given["place"]),
            scope=self.scope(given["scope"]),
            marks=marks_of(data),
            round=tuple(given["round"]) if "round" in given else None,
            **{name: given[name] for name in PLAIN.split()},
        )

    def step(self, given: dict[str, Any]) -> Step:
        outputs = [self.tensors[index] for index in given["outputs"]]
        step = Step(given["phase"], given["number"], given["node"], given["op"], outputs)
        step.vs = [_maybe(v) for v in given["v"]]
        step.terms = [self.term(each) for each in given["terms"]]
        step.ran, step.time, step.live_bytes = given["ran"], given["time"], given["live_bytes"]
        step.place, step.scope = self.place(given["place"]), self.scope(given["scope"])
        step.marks = next((found for v in step.vs if (found := marks_of(v)).bad), FINE)
        return step

    def term(self, given: dict[str, Any]) -> Term:
        out = _array(given["out"])
        return Term(
            self.tensors[given["to"]],
            given["input"],
            [_jacobian(each, out.dtype) for each in given["jacobians"]],
            given["missing"],
            given["ran"],
            out,
            _maybe(given["before"]),
            _array(given["after"]),
            given["nth"],
            given["of"],
            marks_of(out),
            None if given.get("derivation") is None else self.derivations[given["derivation"]],
        )

    def leaf(self, given: dict[str, Any], steps: list[Step]) -> Leaf:
        grad = _array(given["grad"])
        pairs = [(steps[each["step"]], steps[each["step"]].terms[each["term"]]) for each in given["contributions"]]
        before, after = _maybe(given["grad_before"]), _maybe(given["grad_after"])
        local = [_jacobian(each, grad.dtype) for each in given["jacobians"]]
        leaf = Leaf(self.tensors[given["tensor"]], grad, before, after, pairs, local, given["missing"])
        leaf.flow = _flow(grad)
        return leaf

    def failure(self, given: dict[str, Any], calls: list[Call]) -> Failure:
        tensors = {} if given["call"] is None else dict(enumerate(calls[given["call"]].tensors))
        failure = Failure(given["type"], given["message"], self.place(given["place"]), given["call"])
        failure.tensor = tensors.get(given["tensor"])
        if (found := given["overwritten"]) is not None:
            whose = found["name"], tensors.get(found["tensor"])
            place = self.place(found["place"])
            failure.overwritten = Overwritten(*whose, found["expected"], found["version"], place)
        if "said" not in given:  # an older version wrote it
            return failure
        failure.said, failure.op, failure.made = given["said"], given["op"], self.place(given["made"])
        failure.scope = self.scope(given["scope"])
        failure.arguments = [Argument(**each | {"shape": _shape(each)}) for each in given["arguments"]]
        if given["clash"] is not None:
            sides = [(side["argument"], side["axis"]) for side in given["clash"]["sides"]]
            failure.clash = Clash(given["clash"]["kind"], (sides[0], sides[1]))
        failure.stages = [Stage(self.scopes[each["scope"]], each["title"], _shape(each)) for each in given["stages"]]
        places = [(each["name"], self.place(each["place"])) for each in given["frames"]]
        failure.frames = [(name, place) for name, place in places if place is not None]
        failure.fixes = [self.fix(each) for each in given["fixes"]]
        return failure

    def fix(self, given: dict[str, Any]) -> Fix:
        changes = [(self.place(each["place"]), each["text"]) for each in given["changes"]]
        return Fix(given["why"], [Change(place, text) for place, text in changes if place is not None], given["tried"])

    def finding(self, given: dict[str, Any], steps: list[Step]) -> Finding:
        step = None if given["step"] is None else steps[given["step"]]
        element = None if given["element"] is None else tuple(given["element"])
        path = [steps[index] for index in given["path"]]
        where = step, self.tensors[given["tensor"]], element
        found = Finding(given["kind"], given["phase"], *where, given["why"], path, given.get("fix", ""))
        found.began, found.told, found.extent = (given.get(name, "") for name in ("began", "told", "extent"))
        for hop in given.get("way", []):
            element = None if hop["element"] is None else tuple(hop["element"])
            found.way.append(Hop(steps[hop["step"]], self.tensors[hop["to"]], element, hop["said"]))
        found.fixes, found.vain = ([self.fix(each) for each in given.get(name, [])] for name in ("fixes", "vain"))
        return found


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return complex(_number(value[0]), _number(value[1]))
    return NUMBERS[value] if isinstance(value, str) else value


def _array(given: dict[str, Any]) -> Kept:
    dtype, shape = _dtype(given["dtype"]), tuple(given["shape"])
    if "data" in given:
        return np.array(list(map(_number, given["data"])), dtype).reshape(shape)
    summary: Summary = object.__new__(Summary)
    summary.shape, summary.dtype = shape, dtype
    summary.head = summary.tail = summary.stats = summary.cells = None
    if "stats" in given:
        summary.head, summary.tail = (np.array(list(map(_number, given[end])), dtype) for end in ("head", "tail"))
        stats = {name: _number(value) for name, value in given["stats"].items()}
        summary.stats = Stats(**stats)
        summary.cells = Cells(**given["cells"]) if "cells" in given else None
    return summary


def _shape(given: dict[str, Any]) -> tuple[int, ...] | None:
    return None if given["shape"] is None else tuple(given["shape"])


def _flow(grad: Kept) -> Statistics | None:
    """The statistics that a plot needs of a gradient; the mean of a shortened one is unknown."""
    if not isinstance(grad, Summary):
        return statistics(grad)
    stats = grad.stats
    if stats is None:
        return None
    largest = max(abs(end) for end in (stats.min, stats.max) if end is not None) if stats.min is not None else math.nan
    return Statistics(math.nan, largest, stats.norm, stats.zeros / max(1, grad.size), stats.nans + stats.infs)


def _maybe(given: dict[str, Any] | None) -> Kept | None:
    return None if given is None else _array(given)


def _jacobian(given: dict[str, Any] | None, dtype: np.dtype) -> Jacobian | None:
    if given is None:
        return None
    data = np.array(list(map(_number, given["data"])), dtype)
    rows, cols = given["rows"], given["cols"]
    if data.shape != (rows * cols if given["form"] == "dense" else rows,) or (
        given["form"] == "diagonal" and rows != cols
    ):
        raise FormatError(f"a Jacobian of {rows} rows and {cols} columns has {data.size} numbers")
    return Jacobian(given["form"], rows, cols, data)


def _dtype(name: str) -> np.dtype:
    """The dtype of a name: tensors have no others."""
    try:
        found = dtype(name)
        if found.name == name:
            return np.dtype(found.numpy)
    except (TypeError, ValueError):
        pass
    raise FormatError(f"{name[:100]} is no dtype")
