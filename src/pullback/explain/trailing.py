"""The observer that records a trail: results, gradients on their way, writes, and operands that no operation has made."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from ..observe import (
    AccumulateGrad,
    BackwardPass,
    Node,
    Observer,
    Operation,
    OutputNode,
    Write,
    node as node_of,
    user_frame,
    value,
    variables_of,
    version,
    watch,
)
from .arrays import Array
from .scopes import MODULE_CALL
from .sources import Place, place_of
from .trails import BACKWARD, FORWARD, GIVEN, LEAF, SENT, WRITE, Known, Trail, module_path


OVERWRITES = {"drawn", "fill", "zeros_like", "ones_like", "full_like"}
"""Operations that do not read their operand, which may be memory that nobody has written."""


class Trailing(Observer):
    """A block whose operations, gradients and writes are added to a trail."""

    finds_modules = False

    def __init__(self, trail: Trail) -> None:
        super().__init__()
        self.trail = trail
        self._known = Known()
        self._nodes: weakref.WeakKeyDictionary[Node, int] = weakref.WeakKeyDictionary()
        self._leaves: weakref.WeakKeyDictionary[Node, tuple[Place | None, str, str]] = weakref.WeakKeyDictionary()
        self._watched: dict[BackwardPass, list[Any]] = {}

    def operation(self, seen: Operation) -> None:
        """Add the results of an operation, and operands that nothing recorded has made."""
        if not seen.computed or seen.level:
            return
        frame = sys._getframe(1)
        module, path = module_path(frame, MODULE_CALL)
        where = place_of(seen.site), path
        given = () if seen.name in OVERWRITES else seen.arguments
        tensors = [each for each in given if isinstance(each, Tensor)]
        makers = [entry for each in tensors if (entry := self._operand(each, seen.name, where, module)) is not None]
        for each in tensors if seen.node is not None else ():
            if isinstance(leaf := node_of(each), AccumulateGrad) and leaf not in self._leaves:
                self._leaves[leaf] = (*where, _name(each, module))
        for number, each in enumerate(seen.results):
            array = _array(each)
            if array is None:
                continue
            name = str(number) if len(seen.results) > 1 else ""
            entry = self.trail.add(FORWARD, seen.name, array, where, makers, name, str(each.dtype).rpartition(".")[2])
            self._know(each, entry)

    def wrote(self, write: Write) -> None:
        """Add what a tensor holds after a write."""
        array = _array(write.tensor)
        if array is None:
            return
        before = self._known.find(write.tensor, version(write.tensor) - 1)
        makers = [] if before is None else [before]
        leaf = node_of(write.tensor)
        name = self._leaves[leaf][2] if leaf in self._leaves else ""
        entry = self.trail.add(WRITE, "write", array, (place_of(write.site), ""), makers, name)
        self._know(write.tensor, entry)

    def begins(self, backward: BackwardPass) -> None:
        """Watch what passes through the nodes of a pass."""
        if backward.level:
            return
        wanted = backward.nodes if backward.needed is None else [n for n in backward.nodes if n in backward.needed]
        self._watched[backward] = [
            watch(node, partial(self._arrived, node)) if isinstance(node, AccumulateGrad)
            else watch(node, partial(self._arrived, node), None, partial(self._sent, node))
            for node in wanted
        ]  # fmt: skip

    def ends(self, backward: BackwardPass) -> None:
        """Watch no longer."""
        for handle in self._watched.pop(backward, ()):
            handle.remove()

    def __exit__(self, *error: Any) -> None:
        for handles in self._watched.values():  # of passes that have raised
            for handle in handles:
                handle.remove()
        super().__exit__(*error)

    def _know(self, tensor: Any, entry: int | None) -> None:
        self._known.add(tensor, version(tensor), entry)
        node = node_of(tensor)
        if node is not None and entry is not None:
            self._nodes[node] = entry
            if isinstance(node, OutputNode):
                self._nodes.setdefault(node.endpoint[0], entry)

    def _operand(self, tensor: Any, operation: str, where: Any, module: Any) -> int | None:
        """The entry of an operand, which is added if there is none."""
        found = self._known.find(tensor, version(tensor))
        if found is None and (array := _array(tensor)) is not None:
            found = self.trail.add(GIVEN, operation, array, where, (), _name(tensor, module))
            self._know(tensor, found)
        return found

    def _arrived(self, node: Node, gradients: Sequence[Any]) -> None:
        for number, each in enumerate(gradients):
            if isinstance(node, AccumulateGrad):
                place, module, name = self._leaves.get(node, (None, "", ""))
                self._add(LEAF, "gradient", each, node, name, (place, module))
            else:
                self._add(BACKWARD, _called(node), each, node, str(number) if len(gradients) > 1 else "")

    def _sent(self, node: Node, gradients: Sequence[Any]) -> None:
        for number, each in enumerate(gradients):
            self._add(SENT, _called(node), each, node, str(number))

    def _add(
        self, phase: str, operation: str, gradient: Any, node: Node, name: str, where: tuple[Place | None, str] | None = None
    ) -> None:
        array = None if gradient is None else _array(gradient)
        if array is None:
            return
        entry = self._nodes.get(node)
        if where is None:
            made = None if entry is None else self.trail.entries[entry]
            where = (place_of(node.site), "") if made is None else (made.place, made.module)
        self.trail.add(phase, operation, array, where, () if entry is None else (entry,), name)


def _called(node: Node) -> str:
    primitive = getattr(node, "primitive", None)  # the single outputs of an operation, and rules of the program's, have none
    return node.title if primitive is None else primitive.name


def _array(tensor: Any) -> Array | None:
    """The numbers of a tensor of the program itself; None where there are none, or a transform has them."""
    found = value(tensor) if isinstance(tensor, Tensor) else tensor
    return found if isinstance(found, np.ndarray) else np.asarray(found) if isinstance(found, np.generic) else None


def _name(tensor: Any, module: Any) -> str:
    """What the program calls a tensor: its name as a parameter of the module that is running, or a variable's."""
    for name, each in module.named_parameters(recurse=False) if module is not None else ():
        if each is tensor:
            return str(name)
    with contextlib.suppress(Exception):  # variables may have any class
        frame = user_frame(sys._getframe(2))
        for variables in _scopes(frame):
            for name, each in variables.items():
                if each is tensor:
                    return str(name)
    return ""


def _scopes(frame: Any) -> Iterator[dict[str, Any]]:
    yield variables_of(frame)
    yield frame.f_globals
