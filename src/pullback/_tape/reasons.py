"""Why a gradient is missing, zero or NaN: the search for the line that did it, in one sentence.

A value that is not tracked although it was computed from tracked ones knows where it was cut off; the tape remembers the
latest such cuts, so that a value need not be there any more. Zeros and NaN are found by pulling the gradient back once
more, on the same rules, into a ledger.
"""

from __future__ import annotations

import os.path
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core import errors
from .._core.lazy import provider
from .._core.package import package
from .._core.primitives import Carrier
from .._core.sites import Site, describe, given, user_frame, variables_of
from .._core.values import require_tensors
from .cuts import HIDING, Cut, recent
from .diagnosis import POLES, Cause, above, cause, made_at, origin_of, vanishes
from .faults import kind_of
from .ledger import Entry, Ledger, first, replayed
from .lines import gradient_before
from .node import AccumulateGrad, Node, grad_of
from .recording import Freed
from .seeds import cotangent
from .walk import restrict, youngest_first

if TYPE_CHECKING:
    from .._core.typing import Array, Target, Tensor, Value
    from .._tensor.attributes import Attributes
    from ..optim.optimizer import Optimizer


class Reason(str):
    """A sentence that says why a gradient is what it is; `cause` is the same in a word, `site` the line that did it."""

    __slots__ = ("cause", "site")

    cause: str
    site: str | None


class Found(NamedTuple):
    """What the search has found: a word, the rest of a sentence, and the line."""

    cause: str
    text: str
    site: Site | None = None

    def sentence(self, start: str) -> Reason:
        """The whole sentence."""
        reason = Reason(f"{start}{self.text}.")
        reason.cause = self.cause
        reason.site = None if self.site is None else describe(self.site)
        return reason


class Asked(NamedTuple):
    """A tensor whose gradient is missed, the outputs that it is looked for in, and what the program calls them."""

    x: Tensor
    outputs: Sequence[Target]
    name: str
    loss: str = ""
    """What the first output is called; empty where it has no name."""
    names: Mapping[Node, str] = {}

    @property
    def the_loss(self) -> str:
        """The first output in a sentence."""
        return self.loss or "the loss"

    def named(self, node: Node, otherwise: str) -> str:
        """The program's name for the tensor of a node."""
        return self.names.get(node, otherwise)


def asked(
    x: Tensor, outputs: Sequence[Target], names: Mapping[Node, str], name: str | None, loss: str | None = None
) -> Asked:
    """With the names that the program has for them, or else those that are given."""
    root = _node(outputs[0]) if outputs else None
    known, found = (None if node is None else names.get(node) for node in (x._node, root))
    return Asked(x, outputs, known or name or "x", found or loss or "", names)


def _variables(frame: FrameType) -> dict[Node, str]:
    """The variables of a function, and of its module, that hold tensors of a graph: what an error can find out in no time."""
    variables = [*variables_of(frame).items(), *frame.f_globals.items()]
    return {
        each._node: name for name, each in reversed(variables) if isinstance(each, Carrier) and each._node is not None
    }


def why(x: Tensor, loss: Tensor, *, gradient: object = None, optimizer: Optimizer | None = None) -> Reason:
    """Why `x.grad` is None, zero or NaN after (or before) `loss.backward(gradient)`, as a sentence that names the line.

    The answer is a string with two fields: `cause`, one of the words below, and `site`, the line of the program, or None
    where no line did it. Nothing is changed: no `.grad` is written and no graph is freed. Hooks on the way are called.

    - The chain is broken: `'detach'`, `'data'`, `'no_grad'`, `'inference_mode'`, `'numpy'` (a copy through NumPy),
      `'item'` and `'tolist'` (through Python numbers), `'tensor'` (a copy by `pullback.tensor`), `'create_graph'` (computed from a
      gradient, whose pass kept no graph), `'linear'` (computed from the gradient of a linear function, a constant),
      `'astype'` (an integer or bool cast), the name of an operation without a derivative (`'greater'`, `'argmax'`), `'constant'`, `'unused'`, `'made later'` (the name was
      bound to a new tensor after the loss was computed), `'another leaf'` (on the same memory), `'requires_grad'`.
    - The chain is whole, and `.grad` is None: `'not a leaf'`, `'backward not run'`, `'freed'` (an earlier pass has freed
      a part of the graph), `'cleared'` (a pass has run, and there is no `.grad`).
    - `.grad` is there: `'zero factor'`, `'zero gradient'`, `'cancelled'`, `'nan'`, `'inf'`, `'stale'` (left by an earlier
      pass), `'other optimizer'`, or `'nothing wrong'`. Where the graph has been freed, the operations that could have done it are named; the
      number that did needs the graph: `loss.backward(retain_graph=True)`.

    Parameters
    ----------
    x
        The tensor whose gradient is missed.
    loss
        The tensor from which backward starts.
    gradient
        What was passed to backward; 1 for each element of loss when left out.
    optimizer
        The optimizer that should change x: whether it holds x itself, or other tensors, is looked at too.

    Raises
    ------
    TypeError
        If x or loss is not a tensor.

    >>> import pullback
    >>> x = pullback.tensor([-1.0, -2.0], requires_grad=True)
    >>> loss = (3 * x.detach()).sum()
    >>> pullback.why(x, loss).cause
    'detach'
    >>> loss = x.relu().sum()
    >>> pullback.why(x, loss).cause
    'backward not run'
    >>> loss.backward(retain_graph=True)
    >>> pullback.why(x, loss).cause
    'zero factor'
    """
    require_tensors("why", x=x, loss=loss)
    site = (frame := user_frame(sys._getframe(1))).f_code, frame.f_lasti
    known = {node: each.name for node, each in provider("names of tensors").names_in(frame).items()}
    called = asked(x, [loss], known, given(site, 0, "x"), given(site, 1, "loss"))
    return _reason(called, loss, gradient, grad_of(x), optimizer)


def _reason(asked: Asked, loss: Tensor, gradient: object, grad: Tensor | None, optimizer: Optimizer | None) -> Reason:
    name, broken = asked.name, cut_between(asked)
    if broken is None and optimizer is not None and (strange := _not_held(asked, optimizer)) is not None:
        return strange.sentence(f"{name} is not changed by step(): ")
    if grad is None:
        return (broken or _missing(asked, loss)).sentence(f"{name}.grad is None: ")
    if broken is not None:
        return broken.sentence(f"{name}.grad was not written by a pass from {asked.loss or 'this loss'}: ")
    values = np.asarray(grad._elements())
    if np.isfinite(values).all() and values.all():
        return Found("nothing wrong", "it is finite, and nowhere zero").sentence(f"Nothing is wrong with {name}.grad: ")
    return _traced(asked, loss, gradient, values)


def _not_held(asked: Asked, optimizer: Optimizer) -> Found | None:
    """What an optimizer holds instead of a tensor; None if it holds that."""
    x = asked.x
    held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    if any(tensor is x for tensor in held):
        return None
    alike = [tensor._node for tensor in held if tensor.shape == x.shape and tensor._node is not None]
    instead = (
        f", among them {asked.named(alike[0], 'one')} of the same shape from {describe(alike[0].site)}" if alike else ""
    )
    text = (
        f"the optimizer holds {len(held)} tensor{'s' * (len(held) != 1)}{instead}, and {asked.name} is not among them. Create the optimizer after the "
        "parameters, and change these only in place"
    )
    return Found("other optimizer", text, _own(x).site)


# 1. The chain
#
# Errors about tensors that do not require grad, or have not been used, get their reasons here, too.


def no_history(index: int, tensor: Tensor) -> RuntimeError:
    """backward from a tensor that does not require grad."""
    text = untracked(tensor, f"this {errors.kind(tensor)}").text
    return RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn: {text}")


def no_input(index: int, tensor: Tensor) -> RuntimeError:
    """A derivative by a tensor that does not require grad."""
    what = errors.kind(tensor)
    text = f"One of the differentiated Tensors does not require grad: input {index} is a {what}. "
    if tensor._cut is None:
        text += "Call requires_grad_() on it before computing the outputs."
    else:
        text += f"{untracked(tensor, 'It').text}."
    return RuntimeError(text)


def unused(index: int, tensor: object, outputs: Sequence[Target]) -> RuntimeError:
    """A derivative by a tensor that the outputs do not depend on."""
    text = (
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set allow_unused=True "
        "if this is the desired behavior."
    )
    if isinstance(tensor, Carrier):
        found = cut_between(asked(tensor, outputs, _variables(user_frame(sys._getframe(1))), "it"))
        text += f" It is a {errors.kind(tensor)}" + ("." if found is None else f": {found.text}.")
    return RuntimeError(text)


CUTS = {
    "detach": "was cut off by detach() at {}. Use the tensor itself, without detach",
    "data": "was cut off by .data at {}. Use the tensor itself, without .data",
    "no_grad": "was computed under no_grad at {}. Compute it outside the block, or inside enable_grad()",
    "inference_mode": "was computed under inference_mode at {}. Compute it outside the block",
    "astype": "went through a conversion to an integer or bool dtype at {}, which has no derivative",
    "numpy": "went through a NumPy array at {}, which records nothing. NumPy's functions work on tensors themselves",
    "tensor": "was copied by {package}.tensor at {}, which records nothing. Use x.clone()",
    "item": "went through a Python number at {}, which records nothing. Join tensors with {package}.stack",
    "tolist": "went through Python numbers at {}, which record nothing",
    "linear": "was computed from a gradient that does not depend on the inputs, at {}. Its function is linear there: the "
    "second derivative is zero",
}


def untracked(tensor: Attributes, what: str) -> Found:
    """Why a tensor is not tracked."""
    made = tensor._cut
    if made is not None:
        return _at_cut(made, what)
    if tensor._leaf is not None:
        text = "had its requires_grad switched off. Call requires_grad_() before computing"
        return Found("requires_grad", f"{what} {text}")
    if tensor._dtype.kind not in "fc":
        return Found("constant", f"{what} has no derivative: only floating-point and complex tensors have one")
    frame = user_frame(sys._getframe(1))
    if (found := gradient_before(frame)) is not None:
        gradient, line = found
        asked = (
            "it" if gradient.rpartition(".")[2] == "grad" and "autograd" in gradient else "the pass that computed it"
        )
        file = os.path.basename(frame.f_code.co_filename)
        text = f"was computed from a gradient without a history, {gradient} at {file}:{line}. Pass create_graph=True to {asked}"
        return Found("create_graph", f"{what} {text}")
    return Found(
        "constant",
        f"{what} was computed from constants only. Create the inputs you want to differentiate with "
        "requires_grad=True, or call x.requires_grad_() before computing",
    )


def _at_cut(made: Cut, what: str) -> Found:
    other = f"went through {made.reason} at {{}}: derivative for aten::{made.reason} is not implemented"
    return Found(
        made.reason, f"{what} {CUTS.get(made.reason, other).format(describe(made.site), package=package)}", made.site
    )


def cut_between(asked: Asked) -> Found | None:
    """Why no output depends on a tensor as far as the tape knows; None if one does."""
    x, outputs, name = asked.x, asked.outputs, asked.name
    if not outputs:
        return Found("outputs", "there are no outputs")
    if x._node is None:
        if x._cut is None and x._leaf is None and x._dtype.kind in "fc":
            text = f"{name} does not require grad. Call {name}.requires_grad_() before computing with it"
            return Found("requires_grad", text)
        return untracked(x, name)
    roots = [node for output in outputs if (node := _node(output)) is not None]
    order = youngest_first(roots)
    if x._node in order:
        return None
    if not roots:
        output = outputs[0]
        assert isinstance(output, Carrier)  # for an edge has a node
        made = output._cut
        found = _cut_of(asked, None if made is None else made.seq + 1)
        if found is None and made is not None and made.origins and all(origin() is not None for origin in made.origins):
            found = _cut_of(
                asked, None
            )  # the loss's own cut is one of others' history: x may have been cut off after it
        return found or untracked(output, asked.the_loss)
    latest = max(node.seq for node in roots)
    if _own(x).seq > latest:
        return _made_later(asked, order)
    return _other_leaf(asked, order) or _cut_of(asked, latest) or _never_used(asked, order)


def _node(output: Target) -> Node | None:
    """The node of a tensor, or of an edge of the graph."""
    node: Node | None = output._node if isinstance(output, Carrier) else output.ownership_token or output.node
    return node


def _own(tensor: Tensor) -> Node:
    """The node of a tensor that has one."""
    assert tensor._node is not None
    return tensor._node


def _made_later(asked: Asked, order: Iterable[Node]) -> Found:
    own, name, loss = _own(asked.x), asked.name, asked.the_loss
    if isinstance(own, AccumulateGrad):
        text = (
            f"{name} began to require grad at {describe(own.site)}, after {loss} was computed, so {loss} was computed from "
            f"another tensor, or from this one before. Change a parameter in place: with {package}.no_grad(): w -= lr * w.grad"
        )
    else:
        old = not set(order).isdisjoint(youngest_first([own]))
        text = (
            f"{name} was made by {made_at(own)}, after {loss} was computed"
            f"{' from the tensor that had the name before' if old else ''}. A parameter that is bound to a new tensor is no "
            f"longer a leaf: change it in place, with {package}.no_grad(): w -= lr * w.grad"
        )
    return Found("made later", text, own.site)


def _other_leaf(asked: Asked, order: Iterable[Node]) -> Found | None:
    array = np.asarray(asked.x._elements())
    for node in order:
        if isinstance(node, AccumulateGrad) and np.may_share_memory(np.asarray(node.variable._elements()), array):
            text = (
                f"{asked.the_loss} was computed from {asked.named(node, 'another leaf')}, which lies in the memory of {asked.name} "
                f"and was made at {describe(node.site)}. Its gradient is there: a Parameter of a tensor, or a detached tensor "
                "that requires grad, is a leaf of its own"
            )
            return Found("another leaf", text, node.site)
    return None


def _cut_of(asked: Asked, latest: int | None) -> Found | None:
    """The likeliest cut of what was computed from a tensor before a loss, and of those the latest."""
    lines: dict[Site, Cut] = {}
    barren: set[Node] = set()
    own = _own(asked.x)
    for made in reversed(list(recent)):
        if made.seq <= own.seq or (latest is not None and made.seq >= latest) or made.site in lines:
            continue
        if _reaches(made, own, barren):
            lines[made.site] = made
    return _at_cut(min(lines.values(), key=_innocence), f"what was computed from {asked.name}") if lines else None


def _reaches(made: Cut, target: Node, barren: set[Node]) -> bool:
    """Whether what was cut off came from a node; nodes that do not are remembered."""
    waiting = [node for origin in made.origins if (node := origin()) is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if node is target:
            return True
        for edge in node.edges:
            if edge is not None and edge.seq >= target.seq and edge not in seen and edge not in barren:
                seen.add(edge)
                waiting.append(edge)
    barren |= seen
    return False


def _innocence(made: Cut) -> int:
    """How probable it is that a cut was meant: numbers are printed, and comparisons make masks."""
    return (made.reason not in HIDING | {"astype", "tensor"}) + 2 * (made.reason in {"item", "tolist", "numpy"})


def _never_used(asked: Asked, order: Iterable[Node]) -> Found:
    leaves = [node for node in order if isinstance(node, AccumulateGrad)]
    known = ", ".join(
        f"{asked.named(node, 'one')} of shape {tuple(node.shape)} from {describe(node.site)}" for node in leaves[:3]
    )
    more = f" and {len(leaves) - 3} more" if len(leaves) > 3 else ""
    return Found(
        "unused",
        f"no operation that leads to {asked.the_loss} used {asked.name}. It may have been replaced or copied before it was "
        f"used; the leaves that {asked.the_loss} depends on are {known}{more}",
    )


# 2. The pass that wrote nothing


def _missing(asked: Asked, loss: Tensor) -> Found:
    """Why `.grad` is None although the loss depends on the tensor."""
    x, name = asked.x, asked.name
    leaf = isinstance(x._node, AccumulateGrad)
    if not leaf and not x.retains_grad:
        text = (
            f"{name} is not a leaf, it was made by {made_at(_own(x))}, and gradients are kept for leaves only. Call "
            f"{name}.retain_grad() before backward"
        )
        return Found("not a leaf", text, _own(x).site)
    way = _way(x, loss)
    freed = [node for node in way if isinstance(node.saved, Freed)]
    if not freed:
        text = f"no pass has run from {asked.loss or 'this loss'}, or {name}.grad was set to None since. "
        return Found("backward not run", f"{text}Call {asked.loss or 'loss'}.backward()")
    line = describe(freed[0].saved.site)
    if any(node.saved and not isinstance(node.saved, Freed) for node in way):
        text = (
            f"a part of the graph was freed by the pass at {line}, and is needed again for {made_at(freed[0])}. Pass "
            "retain_graph=True there, or compute that part again"
        )
        return Found("freed", text, freed[0].saved.site)
    after = (
        f"it was autograd.grad, or backward with other inputs, or {name}.grad was set to None since, as zero_grad does"
        if leaf
        else f"{name}.retain_grad() was called after it, or {name}.grad was set to None since"
    )
    return Found(
        "cleared",
        f"the pass at {line} has run and freed the graph, and there is no gradient: {after}",
        freed[0].saved.site,
    )


def _way(x: Tensor, loss: Tensor) -> list[Node]:
    """The nodes between a loss and x, the latest made first."""
    order = youngest_first([_own(loss)])
    needed = restrict(order, [_own(x)])
    return [node for node in order if node in needed and node is not x._node]


# 3. Numbers that went wrong


def _traced(asked: Asked, loss: Tensor, gradient: object, values: Array) -> Reason:
    """Where the first number of `.grad` that is zero or not finite began."""
    x = asked.x
    broken = ~np.isfinite(values)
    mask = broken if broken.any() else values == 0
    index = None if mask.all() and not broken.any() else first(mask)
    share = (
        "" if values.ndim == 0 or index is None else f" at {int(mask.sum())} of {mask.size} elements, the first {index}"
    )
    kind = kind_of(values[broken]) or "0"
    start = f"{asked.name}.grad is {kind}{share}: "
    way = _way(x, loss)
    freed = next((node for node in way if isinstance(node.saved, Freed)), None)
    if freed is not None:
        return _guessed(way, freed.saved.site, kind).sentence(start)
    ledger = replayed(loss.interpreter, [(_own(loss), _start(loss, gradient))], _own(x))
    search = _zero if kind == "0" else _not_finite
    return search(ledger, _own(x), index, kind, loss).sentence(start)


def _start(loss: Tensor, gradient: object) -> Value:
    given = np.ones(loss.shape) if gradient is None else gradient
    return cotangent(loss.interpreter, loss, given, 0, False)


def _not_finite(ledger: Ledger, node: Node, index: tuple[int, ...] | None, kind: str, loss: Tensor) -> Found:
    place = origin_of(ledger, node, index)
    if place is not None:
        found = cause(ledger, *place)
        text = f"it began in the derivative of {made_at(found.entry.node)}{found.numbers()}"
        advice = found.advice()
        return Found(kind, text + (f". {advice}" if advice else ""), found.entry.node.site)
    if all(np.isfinite(entry.outgoing).all() for entry in ledger.into(node)):
        text = "this loss gives finite numbers, so it was left by an earlier pass. Clear .grad, as zero_grad does"
        return Found("stale", text)
    return Found(kind, f"the gradient that the pass started from is {kind}; the loss was made by {made_at(_own(loss))}")


def _zero(ledger: Ledger, node: Node, index: tuple[int, ...] | None, kind: str, loss: Tensor) -> Found:
    """The operations in which an element, or all of them, became exactly zero."""
    deaths: list[Cause] = []
    alive: list[Entry] = []
    waiting = [(node, index)]
    seen: set[Node] = set()
    while waiting:
        here, place = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        for entry in ledger.into(here):
            higher = above(entry, place)
            if not vanishes(entry.outgoing, place):
                alive.append(entry)
            elif vanishes(entry.incoming, higher):
                waiting.append((entry.node, higher))
            else:
                deaths.append(cause(ledger, entry, place))
    if alive and not deaths:
        lines = " and ".join(dict.fromkeys(made_at(entry.node) for entry in alive))
        return Found("cancelled", f"contributions that are not zero add up to zero: {lines}", alive[0].node.site)
    if not deaths:
        return Found("zero gradient", "the gradient that the pass started from is zero")
    death = max(deaths, key=lambda found: found.entry.node.seq)
    others = len({found.entry.node.site for found in deaths}) - 1
    more = f" (and {others} more lines do so)" if others else ""
    text = f"its factor in the derivative of {made_at(death.entry.node)} is exactly 0{_because(death)}{more}"
    return Found("zero factor", text, death.entry.node.site)


ZEROS = {
    "relu": "the input of relu is not positive",
    "clip": "the value lies outside the bounds",
    "clip_by": "the value lies outside the bounds",
    "maximum": "the other operand is larger",
    "minimum": "the other operand is smaller",
    "largest": "another element is the maximum",
    "smallest": "another element is the minimum",
    "amax": "another element is the maximum",
    "amin": "another element is the minimum",
    "select_along": "another element was selected",
    "where": "the condition selects the other branch",
    "masked_fill": "the mask replaces the value",
    "multiply": "the other factor is 0",
    "matmul": "the other matrix has only zeros there",
    "overwrite": "the value was overwritten",
    "getitem": "the index leaves it out",
    "index": "the index leaves it out",
    "abs": "the value is 0",
    **dict.fromkeys(("sign", "floor", "ceil", "rint", "trunc"), "its derivative is 0 everywhere"),
}


def _because(found: Cause) -> str:
    """Why a factor is zero, where that can be said in a few words."""
    text = ZEROS.get(found.entry.node.primitive.name)
    numbers = ", ".join(f"{name} = {value:.6g}" for name, value in found.operands.items())
    return "".join([f": {text}" if text else "", f" ({numbers})" if numbers else ""])


COMMON = {"multiply", "matmul", "abs", "divide"}  # in nearly every program


def _guessed(way: Sequence[Node], site: Site, kind: str) -> Found:
    """What may have happened in a graph whose numbers are gone."""
    again = (
        f"the graph was freed by the pass at {describe(site)}, so its values are gone; with retain_graph=True there, why can "
        "name the cause"
    )
    known = ZEROS if kind == "0" else {name: pole.where for name, pole in POLES.items()}
    suspects = [node for node in way if node.primitive.name in known]
    suspects.sort(key=lambda node: node.primitive.name in COMMON)
    if not suspects:
        return Found("zero factor" if kind == "0" else kind, again)
    lines = "; ".join(dict.fromkeys(f"{made_at(node)} ({known[node.primitive.name]})" for node in suspects[:3]))
    could = f"possible causes: {lines}"
    return Found("zero factor" if kind == "0" else kind, f"{could}; {again}", suspects[0].site)
