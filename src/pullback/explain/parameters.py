"""The parameters of the program's modules that no backward call of a recording gave a gradient, and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from .. import Tensor
from ..autograd.graph import GradientEdge
from ..nn import Module, ModuleList
from ..observe import Node, node as node_of, unreached
from .bounds import DIVERGED, FIXES
from .naming import variables_in
from .trace import Call, Finding

ASKED = 20
"""The number of parameters for which the reason is looked up."""
FROZEN = (
    "it does not require grad, though an optimizer updates it: call requires_grad_(), or remove it from the optimizer"
)
UNUSED = "the loss does not depend on it"


class Missing(NamedTuple):
    """A parameter without a gradient, its name, and the reason."""

    tensor: Any
    name: str
    reason: str


class Parameters:
    """The parameters of modules that took part in a call: those without a gradient remain if no later call gives one."""

    def __init__(self) -> None:
        self.missing: dict[int, Missing] = {}
        self.reached: set[int] = set()
        self.idle: set[int] = set()
        self.asked = 0

    def see(self, frame: FrameType, nodes: Sequence[Node], root: Node) -> None:
        """Look at the modules and optimizers that a program's functions hold when a call begins."""
        present = set(nodes)
        values = list(variables_in(frame))
        held = {id(tensor) for _, value in values for tensor in _optimized(value)}
        for name, module in values:
            if not hasattr(type(module), "named_parameters"):
                continue
            named = list(module.named_parameters())
            got = {id(tensor) for _, tensor in named if node_of(tensor) in present}
            self.reached |= got
            self.idle |= idle(module, got)
            wanted = held or {id(tensor) for _, tensor in named if tensor.requires_grad}
            rest = wanted - got - frozen(module) - self.missing.keys()
            for path, tensor in named if got else ():
                if id(tensor) in rest:
                    full = f"{name}.{path}"
                    self.missing[id(tensor)] = Missing(tensor, full, self._reason(tensor, full, root))

    def _reason(self, tensor: Tensor, name: str, root: Node) -> str:
        if node_of(tensor) is None:
            return FROZEN
        self.asked += 1
        if self.asked > ASKED:
            return ""
        called = f"{name.rpartition('.')[0]}'s parameters"  # of which several may have the same reason
        found = unreached(tensor, [GradientEdge(root, 0)], called)
        return UNUSED if found is None or found.cause == "unused" else found.removesuffix(".")

    def findings(self, call: Call, notes: list[str]) -> list[Finding]:
        """A finding for each module, or reason, of the parameters that never got a gradient."""
        lost = {key: each for key, each in self.missing.items() if key not in self.reached}
        rest = [each for key, each in lost.items() if key not in self.idle or each.reason not in ("", UNUSED)]
        if len(rest) < len(lost):
            first = next(each.name for each in lost.values() if each not in rest)
            notes.append(
                f"{first} and {len(lost) - len(rest) - 1} more got no gradient, unlike other members of their ModuleList"
            )
        found = []
        for (_, reason), group in itertools.groupby(rest, lambda each: (each.name.rpartition(".")[0], each.reason)):
            names = [each.name for each in group]
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            why = f"{', '.join(names[:3])}{more} got no gradient{': ' if reason else ''}{reason}"
            found.append(Finding("missing", "backward", None, call.outputs[0].tensor, None, why))
        return found


def frozen(module: Module) -> set[int]:
    """The parameters that do not require grad on purpose: those of whole modules, or all of one name, such as `weight`."""
    named = [(*path.rpartition(".")[::2], tensor) for path, tensor in module.named_parameters()]
    trained = [(owner, name) for owner, name, tensor in named if tensor.requires_grad]
    owners, names = map(set, zip(*trained, strict=True)) if trained else (set(), set())
    still = [(owner, name, id(tensor)) for owner, name, tensor in named if not tensor.requires_grad]
    return {key for owner, name, key in still if owner not in owners or name not in names}


def idle(module: Module, got: set[int]) -> set[int]:
    """The parameters of members of a ModuleList that had no gradient while other members did: experts, heads, branches."""
    found: set[int] = set()
    for each in module.modules() if got and isinstance(module, Module) else ():
        members = [{*map(id, one.parameters())} for one in each.children()] if isinstance(each, ModuleList) else []
        if not got.isdisjoint(set().union(*members)):
            found.update(*(member for member in members if member.isdisjoint(got)))
    return found


def _optimized(value: object) -> Iterator[Tensor]:
    """The tensors that an optimizer holds."""
    for group in getattr(value, "param_groups", ()) if hasattr(type(value), "zero_grad") else ():
        yield from group["params"]


class Losses:
    """The losses of a recording's calls by line: training has diverged where one is a multiple of the first."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, float, float] | None] = {}
        self.count: dict[str, int] = {}

    def see(self, call: Call) -> list[Finding]:
        """The finding for the first call of a line in which the training has diverged."""
        output = call.outputs[0] if call.outputs and call.outputs[0].implicit else None
        data = None if output is None else output.tensor.data
        if output is None or call.place is None or not isinstance(data, np.ndarray):
            return []
        where, loss = call.place.where, float(abs(data).max())
        norm = float(np.sqrt(sum(leaf.flow.norm**2 for leaf in call.leaves if leaf.flow is not None)))
        number = self.count[where] = self.count.get(where, 0) + 1
        first = self.known.setdefault(where, (number, loss, norm))
        if first is None or not loss > DIVERGED * first[1] or norm <= DIVERGED * first[2]:
            return []
        self.known[where] = None
        why = f"the loss rose from {first[1]:.4g} in the first of these calls to {loss:.4g} in call {number}"
        return [Finding("diverged", "forward", None, output.tensor, None, why, fix=FIXES["diverged"])]
