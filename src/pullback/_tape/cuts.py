"""Cuts: places where a value loses its history, recorded for messages about a missing gradient.

A value that depends on tracked tensors and is not tracked itself carries its cut. The latest cuts are also kept by
themselves, since the value may be gone when somebody asks.
"""

from __future__ import annotations

import collections
import contextlib
import functools
from collections.abc import Iterator, Sequence
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .._core import errors, xp as _xp
from .._core.modes import FieldBlock, losses, mode
from .._core.primitives import Carrier, Primitive
from .._core.sites import Site, caller, internal, user_frame
from .node import Node, count

if TYPE_CHECKING:
    from .._core.typing import Tensor, Threshold
    from .._tensor.attributes import Attributes


HIDING = {"detach", "data", "no_grad", "inference_mode", "numpy"}


class Cut:
    """Why a value that depends on tracked tensors is not tracked, at which line that happened, when, and to which nodes."""

    __slots__ = ("reason", "site", "seq", "origins")

    def __init__(self, reason: str, site: Site, seq: int = 0, origins: tuple[ref[Node], ...] = ()) -> None:
        self.reason, self.site, self.seq, self.origins = reason, site, seq, origins

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cut) and (self.reason, self.site) == (other.reason, other.site)

    def __hash__(self) -> int:
        return hash((self.reason, self.site))

    @property
    def hides(self) -> bool:
        """True if a derivative is lost that may not be zero."""
        return self.reason in HIDING


REACH: Threshold = 8
recent: collections.deque[Cut] = collections.deque(maxlen=1024)
"""The latest cuts, for `reasons`: the value itself may no longer exist when its gradient is found to be missing."""


refusals: collections.deque[tuple[Exception, FrameType, int]] = collections.deque(maxlen=8)
"""The latest refusals inside `numpy_programs`, with the frame that asked and the instruction that it was at; cleared at the end."""


def cut(reason: str, tensors: Sequence[object], asked: int = 0) -> Cut:
    """A cut at the current line of the user, for a value that was computed from these tensors."""
    made = Cut(reason, caller(asked + 2), next(count), _origins(tensors))
    recent.append(made)
    return made


@functools.cache
def flat(primitive: Primitive) -> bool:
    """True if the derivative is zero wherever it exists: by its kind, or because its rule, which saves nothing, maps 1 to 0."""
    if primitive.kind != "elementwise" or primitive.saved:
        return primitive.kind == "zero"
    rules = [rule for rule in primitive.rules if rule is not None]
    codes = [rule.__code__ for rule in rules]
    plain = all(code.co_argcount == 2 and not code.co_kwonlyargcount for code in codes)
    return plain and not any(rule(_xp, np.ones(())) for rule in rules)


def escape(reason: str, tensor: Attributes, call: str) -> Cut | None:
    """Note that a tensor's values leave without its derivative, by a call that does not say so; inside no_escapes an error."""
    if not tensor._followed:
        return None
    if refused() and not _constant(tensor._node) and errors.asking_function() not in PREDICATES:
        error = errors.escaped(tensor, call, mode.get().escapes_refused)
        if mode.get().programs:
            frame = user_frame(_getframe(1))
            refusals.append((error, frame, frame.f_lasti))
        raise error
    return cut(reason, (tensor,), asked=1)


def looked(tensor: Attributes) -> None:
    """Tell whoever watches that the program asks a tensor for its numbers: what it does then may depend on them."""
    if (watcher := mode.get().watcher) is not None:
        watcher.looked(tensor)


PREDICATES = {"isnan", "isinf", "isfinite", "isclose", "floor", "ceil", "trunc"}
"""Functions of `math` whose results change in steps."""


@contextlib.contextmanager
def strictly(name: str) -> Iterator[None]:
    """A block in which an escape is an error that begins with a name, whatever it passes through; none if the name is empty."""
    if not name:
        yield
        return
    with FieldBlock(escapes_refused=name):
        try:
            yield
        except (ValueError, SystemError) as error:  # what C code makes of an error while it converts
            refusal = error.__cause__
            if refusal is None or not str(refusal).startswith(f"{name}:"):
                raise
            error.__cause__ = error.__context__ = None  # else each would be the reason for the other
            raise refusal from None


def refused() -> bool:
    """Whether an escape is an error."""
    current = mode.get()
    return bool(current.escapes_refused) and current.grad


def _constant(node: Node | None) -> bool:
    """True if a value is the result of a step function, such as floor: no gradient is lost by it."""
    primitive = getattr(node, "primitive", None)  # none where several tensors are the results of one node
    return primitive is not None and bool(node and node.edges) and flat(primitive)


def _origins(tensors: Sequence[Any]) -> tuple[ref[Node], ...]:
    """Some of the nodes from which tensors were computed: few, since only cuts may pay for the search.

    Weakly, so that no graph lives longer than it would; and further back than the tensors' own, which may die at once.
    """
    if len(tensors) == 1 and (node := tensors[0]._node) is not None and not node.edges:
        return (ref(node),)  # a leaf
    found: list[Node] = []
    earlier: list[ref[Node]] = []
    for tensor in tensors:
        if isinstance(tensor, Carrier):
            if tensor._node is not None:
                if tensor._node not in found:
                    found.append(tensor._node)
            elif tensor._cut is not None:
                earlier += tensor._cut.origins
    for node in found:
        if len(found) >= REACH:
            break
        found += [edge for edge in node.edges if edge is not None and edge not in found]
    if len(found) == 1 and not earlier:
        return (ref(found[0]),)
    together = {
        id(each): each for each in (*map(ref, found), *earlier)
    }  # equal references are one object, so each node is held once
    return (*together.values(),)[:REACH]


def withdraw(made: Cut, target: Tensor) -> None:
    """Forget the latest cuts if the detached value is written back to its source, as an in-place update does."""
    with contextlib.suppress(IndexError):  # where none is left
        while recent[-1].reason == made.reason and any(origin() is target._node for origin in recent[-1].origins):
            recent.pop()


def cut_off(reason: str, tensors: Sequence[object], *, asked: int = 0) -> Cut:
    """A cut at the current line of the user, added to the list of latest cuts.

    What pullback cuts off for purposes of its own is not noted: `asked` is how many frames back somebody asked for it.
    """
    made = cut(reason, tensors, asked)
    noted = losses.get()
    if noted is not None and not (asked and internal[_getframe(asked).f_code.co_filename]):
        noted.append(made)
    return made
