"""The trace file: an explanation as JSON, described by `schema.json` in this folder."""

from __future__ import annotations

import importlib
import json
import os.path
from importlib import resources
from typing import TYPE_CHECKING, Any

from .accounts import Account, Constant, Line, Said, Statement
from .arrays import Limits, as_json, maybe_json, number
from .derivations import Derivation, numbers, of_sum
from .gradients import is_network, sentence, shown
from .notes import note
from .rules import Jacobian
from .sources import Place, text_of
from .stops import reached
from .trace import Argument, Call, Clash, Failure, Finding, Fix, Leaf, Overwritten, Scope, Stage, Step, Term, Traced

if TYPE_CHECKING:
    from .explanation import Explanation


NAME, VERSION = "pullback-trace", 1
MOST_LINES = 2000
"""The number of lines above which only those near relevant lines of a source file are stored."""
AROUND = 20
MOST_FILLED = 1000
"""The number of backward steps above which derivations are written without the numbers of each step."""
PLAIN = "name expr role op grad_fn node output requires_grad version value_from bytes time"
"""The attributes of a tensor that are written and read unchanged."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the trace file.

    >>> from pullback import explain
    >>> explain.schema()["title"]
    'pullback-trace, version 1'
    """
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
    return found


def document(ex: Explanation, version: str, title: str | None) -> dict[str, Any]:
    """An explanation as one JSON document."""
    writer = _DocumentWriter(ex.limits)
    written = [writer.call(call) for call in ex.all_calls]
    error = None if ex.failure is None else writer.failure(ex.failure)
    return {
        "schema": NAME,
        "version": VERSION,
        "pullback": version,
        "title": title,
        "recorded": ex.recorded,
        "primary": ex.primary if written else None,
        "sources": writer.sources(),
        "scopes": [_scope(scope) for scope in ex.scopes],
        "calls": written,
        "derivations": [made._asdict() for made in writer.derivations],
        "statements": [json.loads(each) for each in writer.statements],
        "sheets": [] if ex.limits.redact else [sheet.plain() for sheet in ex.sheets],
        "error": error,
        "limits": _plain(ex.limits, "values jacobian max_nodes")
        | {"redacted": ex.limits.redact, "notes": list(dict.fromkeys(ex.notes))},
    }


def _scope(scope: Scope) -> dict[str, object]:
    return _plain(scope, "kind name type nth") | {"parent": None if scope.parent is None else scope.parent.index}


def _shaped(record: Argument | Stage) -> dict[str, object]:
    return record._asdict() | {"shape": None if record.shape is None else list(record.shape)}


def _clash(clash: Clash) -> dict[str, object]:
    return {"kind": clash.kind, "sides": [{"argument": argument, "axis": axis} for argument, axis in clash.sides]}


def _jacobian(local: Jacobian | None) -> dict[str, object] | None:
    if local is None:
        return None
    return _plain(local, "form rows cols") | {"data": list(map(number, local.data))}


def _plain(record: object, names: str) -> dict[str, object]:
    """The attributes of a record that are valid JSON values themselves."""
    return {name: getattr(record, name) for name in names.split()}


def _listed(element: tuple[int, ...] | None) -> list[int] | None:
    return None if element is None else list(element)


class _DocumentWriter:
    """Writes calls, and collects the source files of their places."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.files: dict[str, int] = {}
        self.lines: dict[str, set[int]] = {}
        self.ids: dict[Traced, int] = {}
        self.derivations: dict[Derivation, int] = {}
        self.statements: dict[str, int] = {}
        self.filled = True

    def place(self, place: Place | None) -> dict[str, object] | None:
        if place is None or not self.limits.lines:
            return None
        source = self.files.setdefault(place.file, len(self.files))
        self.lines.setdefault(place.file, set()).add(place.line)
        return _plain(place, "line column end_line end_column") | {"source": source}

    def sources(self) -> list[dict[str, object]]:
        return [self._source(file) for file in self.files]

    def _source(self, file: str) -> dict[str, object]:
        lines, first = text_of(file).lines, 1
        if self.limits.redact:
            lines = []
        if len(lines) > MOST_LINES:
            first = max(1, min(self.lines[file]) - AROUND)
            lines = lines[first - 1 : min(max(self.lines[file]) + AROUND, first + MOST_LINES)]
        return {"file": os.path.basename(file) or file, "first": first, "lines": lines}

    def call(self, call: Call) -> dict[str, object]:
        self.ids = {tensor: index for index, tensor in enumerate(call.tensors)}
        self.filled = len(call.steps) <= MOST_FILLED
        places = {step: index for index, step in enumerate((*call.forward, *call.steps))}
        terms = {term: (places[step], n) for step in call.steps for n, term in enumerate(step.terms)}
        return _plain(call, "text kind") | {
            "said": sentence(call) if is_network(call) else None,
            "gradients": shown(call),
            "loss": None if call.loss is None else call.loss._asdict(),
            "place": self.place(call.place),
            "outputs": [
                {"tensor": self.ids[out.tensor], "gradient": as_json(out.gradient), "implicit": out.implicit}
                for out in call.outputs
            ],
            "tensors": [self.tensor(tensor) for tensor in call.tensors],
            "steps": [self.step(step) for step in places],
            "stops": [places[steps[0]] for steps in reached(call)],
            "leaves": [self.leaf(leaf, terms) for leaf in call.leaves],
            "findings": [self.finding(each, places) for each in call.findings],
            "account": self.account(call.account),
            "cost": {
                "forward": call.seconds("forward"),
                "backward": call.seconds("backward"),
                **_plain(call, "kept_bytes peak_bytes estimated"),
            },
        }

    def tensor(self, tensor: Traced) -> dict[str, object]:
        again = {} if tensor.round is None else {"round": list(tensor.round)}
        return (
            _plain(tensor, PLAIN)
            | again
            | {
                "inputs": [self.ids[each] for each in tensor.inputs if each in self.ids],
                "shape": list(map(int, tensor.shape)),
                "dtype": str(tensor.dtype),
                "is_leaf": tensor.is_leaf,
                "data": maybe_json(tensor.data),
                "saved": [
                    _plain(saved, "name text")
                    | {
                        "tensor": None if saved.tensor is None else self.ids.get(saved.tensor),
                        "value": maybe_json(saved.value),
                    }
                    for saved in tensor.saved
                ],
                "place": self.place(tensor.place),
                "scope": None if tensor.scope is None else tensor.scope.index,
            }
        )

    def step(self, step: Step) -> dict[str, object]:
        return _plain(step, "phase node op ran time") | {
            "number": step.index,
            "outputs": [self.ids[each] for each in step.outputs],
            "v": list(map(maybe_json, step.vs)),
            "terms": [self.term(step, term) for term in step.terms],
            "derivation": self.derivation(of_sum()) if step.op is None else None,
            "note": note(step),
            "place": self.place(step.place),
            "scope": None if step.scope is None else step.scope.index,
            "live_bytes": max(0, int(step.live_bytes)),
        }

    def finding(self, finding: Finding, places: dict[Step, int]) -> dict[str, object]:
        return _plain(finding, "kind phase why fix began told extent") | {
            "step": None if finding.step is None else places[finding.step],
            "tensor": self.ids[finding.tensor],
            "element": _listed(finding.element),
            "place": self.place(finding.place),
            "path": [places[step] for step in finding.path],
            "way": [
                {"step": places[hop.step], "to": self.ids[hop.to], "element": _listed(hop.element), "said": hop.said}
                for hop in finding.way
            ],
            "fixes": self.fixes(finding.shown_fixes),
            "vain": self.fixes(finding.vain),
        }

    def account(self, account: Account | None) -> dict[str, object] | None:
        """What a page needs to compute a call anew; None where nothing was recorded."""
        if account is None or self.limits.redact:
            return None
        return {
            "why": account.why or None,
            "constants": [self.constant(each) for each in account.constants],
            "v": account.v,
            "lines": [self.line(each) for each in account.lines],
        }

    def constant(self, constant: Constant) -> dict[str, object]:
        return {"value": maybe_json(constant.value), "given": constant.given, "why": constant.why or None}

    def line(self, line: Line) -> dict[str, object]:
        said = line.said or Said(why=line.why)
        if line.applied is not None:
            said = importlib.import_module("pullback.explain.statements").said(
                line.applied, line.wanted
            )  # it takes time to import
        return _plain(line, "inputs outputs look") | {
            "statement": self.statement(said.statement),
            "pull": self.statement(said.pull),
            "why": said.why or None,
            "place": self.place(line.place),
        }

    def statement(self, statement: Statement | None) -> int | None:
        """The number of a statement, which stands once."""
        if statement is None:
            return None
        return self.statements.setdefault(json.dumps(statement._asdict()), len(self.statements))

    def failure(self, failure: Failure) -> dict[str, object]:
        return _plain(failure, "type message call said op") | {
            "place": self.place(failure.place),
            "tensor": None if failure.tensor is None else self.ids.get(failure.tensor),
            "overwritten": self.overwritten(failure.overwritten),
            "scope": None if failure.scope is None else failure.scope.index,
            "arguments": [_shaped(each) for each in failure.arguments],
            "clash": None if failure.clash is None else _clash(failure.clash),
            "made": self.place(failure.made),
            "stages": [_shaped(stage) | {"scope": stage.scope.index} for stage in failure.stages],
            "frames": [
                {"name": name, "place": self.place(place)} for name, place in failure.frames if self.limits.lines
            ],
            "fixes": self.fixes(failure.shown_fixes),
        }

    def fixes(self, fixes: list[Fix]) -> list[dict[str, object]]:
        return [self.fix(fix) for fix in fixes if self.limits.lines and not self.limits.redact]

    def fix(self, fix: Fix) -> dict[str, object]:
        changes = [{"place": self.place(change.place), "text": change.text} for change in fix.changes]
        return _plain(fix, "why tried") | {"changes": changes}

    def overwritten(self, overwritten: Overwritten | None) -> dict[str, object] | None:
        if overwritten is None:
            return None
        return _plain(overwritten, "name expected version") | {
            "tensor": None if overwritten.tensor is None else self.ids.get(overwritten.tensor),
            "place": self.place(overwritten.place),
        }

    def derivation(self, made: Derivation | None) -> int | None:
        return None if made is None else self.derivations.setdefault(made, len(self.derivations))

    def term(self, step: Step, term: Term) -> dict[str, object]:
        return _plain(term, "input missing ran nth of") | {
            "to": self.ids[term.to],
            "jacobians": list(map(_jacobian, term.jacobians)),
            "out": as_json(term.out),
            "before": maybe_json(term.before),
            "after": as_json(term.after),
            "derivation": self.derivation(term.derivation),
            "numbers": numbers(step, term) if self.filled else [],
        }

    def leaf(self, leaf: Leaf, terms: dict[Term, tuple[int, int]]) -> dict[str, object]:
        return {
            "tensor": self.ids[leaf.tensor],
            "grad": as_json(leaf.grad),
            "grad_before": maybe_json(leaf.grad_before),
            "grad_after": maybe_json(leaf.grad_after),
            "contributions": [{"step": terms[term][0], "term": terms[term][1]} for _, term in leaf.contributions],
            "jacobians": list(map(_jacobian, leaf.jacobians)),
            "missing": leaf.missing,
        }
