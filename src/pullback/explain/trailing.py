"""The observer that records a trail: results, gradients on their way, writes, and operands that no operation has made."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from types import FrameType
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
from .sources import place_of
from .trails import BACKWARD, FORWARD, GIVEN, LEAF, SENT, VALUES, WRITE, Known, Trail, What, Where, module_path

if TYPE_CHECKING:
    from os import PathLike

    from ..nn.modules.module import Module

UNUSED = Where(None), ""
"""What is known of a leaf that no operation has used."""
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
        self._leaves: weakref.WeakKeyDictionary[Node, tuple[Where, str]] = weakref.WeakKeyDictionary()
        self._watched: dict[BackwardPass, list[Any]] = {}

    def operation(self, seen: Operation) -> None:
        """Add the results of an operation, and operands that nothing recorded has made."""
        if not seen.computed or seen.level:
            return
        frame = sys._getframe(1)
        module, path = module_path(frame, MODULE_CALL)
        where = Where(place_of(seen.site), path)
        given = () if seen.name in OVERWRITES else seen.arguments
        tensors = [each for each in given if isinstance(each, Tensor)]
        makers = [entry for each in tensors if (entry := self._operand(each, seen.name, where, module)) is not None]
        for each in tensors if seen.node is not None else ():
            if isinstance(leaf := node_of(each), AccumulateGrad) and leaf not in self._leaves:
                self._leaves[leaf] = where, _name(each, module)
        for number, each in enumerate(seen.results):
            array = _array(each)
            if array is None:
                continue
            name = str(number) if len(seen.results) > 1 else ""
            entry = self.trail.add(
                What(FORWARD, seen.name, name), array, where, makers, str(each.dtype).rpartition(".")[2]
            )
            self._know(each, entry)

    def wrote(self, write: Write) -> None:
        """Add what a tensor holds after a write."""
        array = _array(write.tensor)
        if array is None:
            return
        before = self._known.find(write.tensor, version(write.tensor) - 1)
        makers = [] if before is None else [before]
        leaf = node_of(write.tensor)
        name = self._gradient_of(write.tensor) if leaf is None else self._leaves.get(leaf, UNUSED)[1]
        entry = self.trail.add(What(WRITE, "write", name), array, Where(place_of(write.site)), makers)
        self._know(write.tensor, entry)

    def _gradient_of(self, tensor: Tensor) -> str:
        """What a gradient is called that is written in place, as a clip does; no name for another tensor."""
        found = (
            name for leaf, (_, name) in self._leaves.items() if isinstance(leaf, AccumulateGrad) and leaf.grad is tensor
        )
        return next((f"the gradient of {name}" for name in found if name), "")

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

    def __exit__(self, *error: object) -> None:
        for handles in self._watched.values():  # of passes that have raised
            for handle in handles:
                handle.remove()
        super().__exit__(*error)

    def _know(self, tensor: Tensor, entry: int | None) -> None:
        self._known.add(tensor, version(tensor), entry)
        node = node_of(tensor)
        if node is not None and entry is not None:
            self._nodes[node] = entry
            if isinstance(node, OutputNode):
                self._nodes.setdefault(node.endpoint[0], entry)

    def _operand(self, tensor: Tensor, operation: str, where: Where, module: Module | None) -> int | None:
        """The entry of an operand, which is added if there is none."""
        found = self._known.find(tensor, version(tensor))
        if found is None and (array := _array(tensor)) is not None:
            found = self.trail.add(What(GIVEN, operation, _name(tensor, module)), array, where)
            self._know(tensor, found)
        return found

    def _arrived(self, node: Node, gradients: Sequence[Tensor | None]) -> None:
        for number, each in enumerate(gradients):
            if isinstance(node, AccumulateGrad):
                where, name = self._leaves.get(node, UNUSED)
                self._add(What(LEAF, "gradient", name), each, node, where)
            else:
                self._add(What(BACKWARD, _called(node), str(number) if len(gradients) > 1 else ""), each, node)

    def _sent(self, node: Node, gradients: Sequence[Tensor | None]) -> None:
        for number, each in enumerate(gradients):
            self._add(What(SENT, _called(node), str(number)), each, node)

    def _add(self, what: What, gradient: Tensor | None, node: Node, where: Where | None = None) -> None:
        array = None if gradient is None else _array(gradient)
        if array is None:
            return
        entry = self._nodes.get(node)
        if where is None:
            made = None if entry is None else self.trail.entries[entry]
            where = Where(place_of(node.site)) if made is None else Where(made.place, made.module)
        self.trail.add(what, array, where, () if entry is None else (entry,))


def _called(node: Node) -> str:
    primitive = getattr(
        node, "primitive", None
    )  # the single outputs of an operation, and rules of the program's, have none
    return node.title if primitive is None else primitive.name


def _array(tensor: object) -> Array | None:
    """The numbers of a tensor of the program itself; None where there are none, or a transform has them."""
    found = value(tensor) if isinstance(tensor, Tensor) else tensor
    return found if isinstance(found, np.ndarray) else np.asarray(found) if isinstance(found, np.generic) else None


def _name(tensor: Tensor, module: Module | None) -> str:
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


def _scopes(frame: FrameType) -> Iterator[dict[str, Any]]:
    yield variables_of(frame)
    yield frame.f_globals


@contextlib.contextmanager
def trail(path: str | PathLike[str] | None = None, *, values: int = VALUES) -> Iterator[Trail]:
    """A block whose operations and gradients are recorded, to be compared with those of another run by `first_difference`.

    Parameters
    ----------
    path
        The file that is written when the block ends, also by an exception.
    values
        The number of elements up to which an array is kept whole; of a larger one so many, evenly spread, and statistics
        of all.

    A trail takes about 64 MB at most: after so many bytes of elements only statistics are kept, and after 200 000 entries
    nothing.

    >>> import pullback
    >>> def run(factor):
    ...     with pullback.explain.trail() as trail:
    ...         y = (pullback.tensor([1.0, 2.0]) * factor).exp()
    ...     return trail
    >>> print(pullback.explain.first_difference(run(2.0), run(2.5)))  # doctest: +ELLIPSIS
    multiply at ...: ... gave 4 in the first run and 5 in the second, at [1]...
    """
    if values < 1:
        raise ValueError(f"trail(values={values!r}): the number of elements to keep of an array, 1 or more")
    found = Trail(values=values)
    try:
        with Trailing(found):
            yield found
    finally:
        if path is not None:
            found.save(path)
