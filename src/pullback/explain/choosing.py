"""Parts of an explanation: the paths to some leaves, the calls or steps of one line."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .sources import Place
from .trace import Call, Step, Traced


def only_inputs(call: Call, names: Iterable[str]) -> Call:
    """A call reduced to the paths to the leaves of these names."""
    wanted = {name.strip() for name in names}
    needed = {tensor for tensor in call.tensors if tensor.is_leaf and tensor.name in wanted}
    for tensor in call.tensors:
        if not needed.isdisjoint(tensor.inputs):
            needed.add(tensor)
    return _restricted(call, needed)


def _restricted(call: Call, needed: set[Traced]) -> Call:
    def kept(step: Step) -> Step:
        return replace(step, terms=[term for term in step.terms if term.to in needed])

    pairs = {step: kept(step) for step in call.steps if not needed.isdisjoint(step.outputs)}
    forward = [step for step in call.forward if not needed.isdisjoint(step.outputs)]
    known = {*forward, *pairs}
    findings = [
        replace(
            each, step=pairs.get(each.step, each.step) if each.step else None, path=_through(each.path, known, pairs)
        )
        for each in call.findings
        if each.tensor in needed and (each.step is None or each.step in known)
    ]
    leaves = [leaf for leaf in call.leaves if leaf.tensor in needed]
    leaves = [
        replace(leaf, contributions=[(pairs[step], term) for step, term in leaf.contributions]) for leaf in leaves
    ]
    tensors = [tensor for tensor in call.tensors if tensor in needed]
    outputs = [output for output in call.outputs if output.tensor in needed]
    return replace(
        call,
        tensors=tensors,
        forward=forward,
        steps=list(pairs.values()),
        leaves=leaves,
        findings=findings,
        outputs=outputs,
    )


def _through(path: Sequence[Step], known: set[Step], pairs: dict[Step, Step]) -> list[Step]:
    return [pairs.get(step, step) for step in path if step in known]


def calls_at(calls: Sequence[Call], where: str) -> list[Call]:
    """The calls on one line, `train.py:41`; if there are none, all calls reduced to the steps of that line."""
    file, _, line = where.rpartition(":")

    def there(place: Place | None) -> bool:
        if place is None or place.line != int(line):
            return False
        return place.file == file or os.path.basename(place.file) == os.path.basename(file)

    found = [call for call in calls if there(call.place)]
    if found:
        return found
    return [_steps_only(call, [step for step in (*call.forward, *call.steps) if there(step.place)]) for call in calls]


def _steps_only(call: Call, steps: Sequence[Step]) -> Call:
    forward = [step for step in steps if step.phase == "forward"]
    backward = [step for step in steps if step.phase == "backward"]
    known = set(steps)
    findings = [
        replace(each, path=[step for step in each.path if step in known])
        for each in call.findings
        if each.step is None or each.step in known
    ]
    leaves = [
        replace(leaf, contributions=[(step, term) for step, term in leaf.contributions if step in known])
        for leaf in call.leaves
    ]
    return replace(call, forward=forward, steps=backward, findings=findings, leaves=leaves)
