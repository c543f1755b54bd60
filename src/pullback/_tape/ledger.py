"""The ledger of a pass: every cotangent that was sent, from which node to which, for the search for a cause.

A walk keeps the cotangents that wait in a dict. A ledger is such a dict that writes down what goes through it, so that
a pass can be looked at without another walk.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.modes import FieldBlock, quiet
from .._core.primitives import Carrier
from .node import Node, Parts
from .walk import Pass, pull_back

if TYPE_CHECKING:
    from .._core.primitives import Function
    from .._core.typing import Array, Tensor, Value
    from .recording import Tape


ndarray = np.ndarray


class Entry(NamedTuple):
    """One contribution: what a node sent along an edge, the cotangent that it had received, and the values saved for its rule."""

    node: Node
    incoming: Any
    edge: Node
    outgoing: Any
    saved: Any

    @property
    def place(self) -> int:
        """The index of the input to which the edge belongs."""
        return self.node.edges.index(self.edge)


class Ledger(dict[Node, Any]):
    """The pending cotangents of a pass, and all contributions to them, in order."""

    def __init__(self, pending: dict[Node, Any]) -> None:
        super().__init__(pending)
        self.entries: list[Entry] = []
        self._node: Any = None
        self._incoming: Any = None
        self._saved: Any = None

    def pop(self, node: Node, default: object = None) -> Any:
        """The cotangent that has arrived at the node that runs next."""
        self._node, self._saved = node, node.saved
        self._incoming = super().pop(node, default)
        return self._incoming

    def get(self, edge: Node, default: object = None) -> Any:
        """Always None, so that contributions are not added up before they arrive here."""
        return default

    def __setitem__(self, edge: Node, outgoing: Any) -> None:
        self.entries.append(Entry(self._node, self._incoming, edge, outgoing, self._saved))
        before = super().get(edge)
        super().__setitem__(edge, outgoing if before is None else before + outgoing)

    def into(self, node: Node) -> list[Entry]:
        """The contributions to a node's cotangent."""
        return [entry for entry in self.entries if entry.edge is node]


class Listener:
    """A watcher that records the ledger of a pass."""

    ledger: Ledger

    def begins(
        self, walker: Pass, order: list[Node], roots: Sequence[tuple[Node, Value]], needed: set[Node] | None
    ) -> Callable[..., None]:
        """Make the pass write into a ledger."""
        return functools.partial(self._walk, walker.walk)

    def _walk(
        self,
        walk: Function,
        order: list[Node],
        pending: dict[Node, Any],
        wanted: frozenset[Node],
        needed: set[Node] | None,
    ) -> None:
        self.ledger = Ledger(pending)
        walk(order, self.ledger, wanted, needed)

    def ends(self, walker: Pass) -> None:
        """Do nothing: the ledger is complete."""

    def wrote(self, tensor: Tensor, recorded: bool, value: Value | None) -> None:
        """Do nothing: writes are of no interest."""

    def looked(self, tensor: Tensor) -> None:
        """Do nothing: neither are looks."""


def replayed(tape: Tape, roots: Sequence[tuple[Node, Value]], target: Node) -> Ledger:
    """The ledger of a pass from roots to one node; the pass changes nothing."""
    listener = Listener()
    with FieldBlock(watcher=listener, compute=None):
        pull_back(tape, roots, targets=[target], retain_graph=True, create_graph=False)
    return listener.ledger


DOUBLE, FLOAT = np.dtype(np.float64), np.dtype(np.float32)
isfinite, vdot = math.isfinite, getattr(np.vdot, "_implementation", np.vdot)  # without NumPy's dispatch


def arrays(value: Any) -> Iterator[Array]:
    """The real and complex arrays in a cotangent, which may hold one for each of several outputs."""
    if isinstance(value, Parts):
        value = list(value.values())
    for piece in value if isinstance(value, (list, tuple)) else (value,):
        array = piece._elements() if isinstance(piece, Carrier) else piece
        if isinstance(array, (ndarray, np.generic)) and array.dtype.kind in "fc":
            yield np.asarray(array)


def finite(array: Array) -> bool:
    """True if all elements are finite. A finite sum of squares, quick to compute, proves it; otherwise each is tested.

    The sum is computed by BLAS where it can be, at a fraction of the cost of an array of answers. Of NumPy's ways there
    `vdot` is the shortest, and the one that looks at no flags.
    """
    if array.size == 1 and type(value := array.item()) is float:  # BLAS would take five times as long
        return isfinite(value)
    if (dtype := array.dtype) is not DOUBLE and dtype is not FLOAT and dtype.kind != "f":
        return dtype.kind != "c" or bool(np.isfinite(array).all())
    if (flags := array.flags).c_contiguous:
        total = vdot(array, array)
    elif flags.f_contiguous:
        total = vdot(array.T, array.T)
    elif 0 in array.strides:  # broadcast: look at each element once
        return finite(array[(*[slice(None) if stride else 0 for stride in array.strides], ...)])
    else:
        total = quiet.copy().run(array.sum)
    return isfinite(total) or bool(np.isfinite(array).all())


def all_finite(value: object) -> bool:
    """True if all elements of a cotangent are finite."""
    return all(map(finite, arrays(value)))


def all_zero(value: object) -> bool:
    """True if all elements of a cotangent are exactly zero."""
    return not any(array.any() for array in arrays(value))


def first(mask: Array) -> tuple[int, ...]:
    """The index of the first true element."""
    return tuple(int(place) for place in np.unravel_index(int(np.argmax(mask)), mask.shape))
