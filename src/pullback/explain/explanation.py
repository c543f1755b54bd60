"""Explanation: what one backward call did, as objects, text, pictures and an HTML page."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, MutableSequence, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor, why
from ..compile.report import Report
from ..observe import node as node_of
from .animation import animation
from .arrays import Array, Limits
from .costs import Cost, kernel_sheet
from .document import document
from .dot import to_dot
from .mermaid import to_mermaid
from .page import EMBEDDED, browse, mimebundle, to_html
from .pictures import to_svg
from .plots import plot
from .sheets import Sheet
from .terminal import WIDTH, terminal_width
from .text import to_text
from .trace import Call, Failure, Finding, Leaf, Scope, Step, Traced

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from .._tape.node import Node
    from .cancellation import Digits
    from .differing import Comparison
    from .shares import Examples


SUFFIXES = (".html", ".svg", ".dot", ".mmd", ".json", ".txt")


class Explanation:
    """The steps of a backward call with all values, and methods that show them.

    A terminal displays it as text, a notebook as a page. `steps` are the backward steps in execution order, `nodes` the
    operations, `tensors` the operations and the leaves; `health` lists numerical problems.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> ex = pullback.explain(x * x, gradient=[1.0, 10.0])
    >>> ex.jacobian(x)
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    >>> ex.steps[0].node, ex.steps[0].v
    ('MulBackward0', array([ 1., 10.], dtype=float32))
    >>> x.grad is None
    True
    """

    def __init__(
        self,
        calls: MutableSequence[Call],
        limits: Limits,
        *,
        recorded: bool,
        scopes: Sequence[Scope] = (),
        failure: Failure | None = None,
        tensors: Mapping[Node, Traced] | None = None,
    ) -> None:
        self.all_calls = calls
        self.limits = limits
        self.recorded = recorded
        self.scopes: Sequence[Scope] = scopes
        self.failure = failure
        self.notes: list[str] = []
        self.sheets: list[Sheet] = []
        self.shown: int | None = None
        self._rows: Callable[[int], Array] | None = None
        self._start: Callable[[], Any] | None = None
        self._known = tensors

    # Contents

    @property
    def call(self) -> Call:
        """The call that is shown: by default the last.

        Raises
        ------
        RuntimeError
            If there is none.
        """
        if not self.all_calls:
            raise RuntimeError(
                "nothing was recorded: inside record(), no backward() ran and no tensor that requires grad was used. "
                "Call backward() inside the block, or explain(y, gradient=v)"
            )
        return self.all_calls[self.primary]

    @property
    def primary(self) -> int:
        """The index of the call that is shown: the last, unless `shown` is set."""
        return len(self.all_calls) - 1 if self.shown is None else self.shown

    @property
    def calls(self) -> list[Explanation]:
        """An explanation for each backward call."""
        return [
            Explanation([call], self.limits, recorded=self.recorded, scopes=self.scopes, tensors=self._known)
            for call in self.all_calls
        ]

    @property
    def steps(self) -> list[Step]:
        """The backward steps, in execution order."""
        return self.call.steps

    @property
    def forward(self) -> list[Step]:
        """The operations as steps, oldest first."""
        return self.call.forward

    @property
    def tensors(self) -> list[Traced]:
        """The values in the graph, inputs before results."""
        return self.call.tensors

    @property
    def nodes(self) -> list[Traced]:
        """The results of operations: `tensors` without the leaves."""
        return [tensor for tensor in self.call.tensors if not tensor.is_leaf]

    @property
    def leaves(self) -> list[Leaf]:
        """The leaves, where gradients are accumulated."""
        return self.call.leaves

    @property
    def health(self) -> list[Finding]:
        """NaN, inf and zero gradients, with the step in which each first appeared."""
        return self.call.findings

    def cost(self) -> Cost:
        """The time and memory that the call took."""
        return Cost(self.call)

    def attach(self, *found: Digits | Comparison | Examples | Report) -> Explanation:
        """Show what was found beside the call, too: a drawer of the page for each, of digits, a difference, examples or kernels.

        Kernels are those of a compiled function's `report(profile=True)`; a report without times is a ValueError.

        >>> import pullback
        >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
        >>> with pullback.explain.record() as ex, pullback.explain.digits() as found:
        ...     (x * x).sum().backward()
        >>> [sheet.title for sheet in ex.attach(found).sheets]
        ['Digits']
        """
        self.sheets += [kernel_sheet(each) if isinstance(each, Report) else each.sheet() for each in found]
        return self

    # Jacobians

    def leaf(self, x: Tensor | Traced | str | None = None) -> Leaf:
        """The leaf of a tensor or a name; without an argument, the only leaf.

        Raises
        ------
        KeyError
            If there is no such leaf.
        """
        leaves = self.call.leaves
        if x is None and len(leaves) == 1:
            return leaves[0]
        names = ", ".join(leaf.tensor.name for leaf in leaves) or "none"
        if x is None:
            raise KeyError(f"there are {len(leaves)} leaves; choose one of {names}")
        for leaf in leaves:
            if leaf.tensor.name == x if isinstance(x, str) else leaf.tensor is x or self._is(leaf, x):
                return leaf
        what = repr(x) if isinstance(x, str) else "this tensor"
        raise KeyError(f"{what} is not a leaf of this call; its leaves are {names}")

    def _is(self, leaf: Leaf, x: object) -> bool:
        node = node_of(x) if isinstance(x, Tensor) else None
        return node is not None and self._known is not None and self._known.get(node) is leaf.tensor

    def jacobian(self, x: Tensor | Traced | str | None = None) -> Array:
        """The Jacobian of the output with respect to a leaf: one row for each output element, both flattened.

        Its rows are the pullbacks of unit vectors. A Jacobian larger than `jacobian=` is computed on request, if the
        graph still exists.

        Raises
        ------
        RuntimeError
            If it was not computed, and can no longer be computed.
        """
        leaf = self.leaf(x)
        found = leaf.J
        if found is None and self._rows is not None:
            found = self._rows(self.call.leaves.index(leaf))
        if found is None:
            raise RuntimeError(f"the Jacobian with respect to {leaf.tensor.name} was not computed: {leaf.missing}")
        return found

    def rows(self, x: Tensor | Traced | str | None = None) -> list[tuple[Array, Array]]:
        """Each unit vector, and its pullback: that row of the Jacobian."""
        matrix = self.jacobian(x)
        return list(zip(np.eye(len(matrix), dtype=matrix.dtype), matrix, strict=True))

    def why(self, x: Tensor) -> str:
        """A sentence that says why the gradient of a tensor is None, zero or NaN."""
        node = None if self._start is None else self._start()
        if node is None:
            raise RuntimeError(
                "why() needs the graph of this call, which has been freed; call pullback.why(x, loss) earlier"
            )
        data = self.call.outputs[0].tensor
        output = Tensor.interpreter.wrap(np.zeros(data.shape, data.dtype), node)
        sentence: str = why(x, output)
        return sentence

    # Output formats

    def to_dict(self, *, title: str | None = None) -> dict[str, Any]:
        """The trace file as a dictionary of JSON values, described by `schema.json`."""
        return document(self, importlib.import_module("pullback").__version__, title)

    def to_json(self, *, indent: int | None = None) -> str:
        """The trace file as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"

    def to_text(
        self, *, width: int | None = None, ascii: bool = False, color: bool = False, operations: bool = False
    ) -> str:
        """The explanation as text: a row for each line of the program, or, with `operations`, for each operation.

        `width` is the number of columns, by default those of the terminal, or 80 where there is none.
        """
        columns = terminal_width() if width is None else width
        return to_text(self, width=columns, ascii=ascii, color=color, operations=operations)

    def to_dot(self, *, detail: str = "auto") -> str:
        """The graph in Graphviz's language; `detail` is 'full', with all attributes, 'compact' or 'auto'."""
        return to_dot(self.call, detail)

    def to_mermaid(self, *, max_edges: int = 450) -> str:
        """The graph in Mermaid's language; if it has more than `max_edges` edges, steps are folded."""
        return to_mermaid(self.call, max_edges)

    def to_svg(self, *, detail: str = "auto") -> str:
        """The graph as SVG, drawn by Graphviz's `dot`."""
        return to_svg(self.call, detail)

    def to_animation(self) -> str:
        """The backward steps as an animated SVG: one file without script, a frame for each line of the program.

        It plays by a style sheet, in light and dark, and shows the last frame where the reader wants no motion. Of a long call
        the first 39 lines have a frame each.

        Raises
        ------
        RuntimeError
            If the call has no backward steps.

        >>> import pullback
        >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
        >>> pullback.explain((x * x).sum()).to_animation()[:38]
        '<svg xmlns="http://www.w3.org/2000/svg'
        """
        return animation(self.call)

    def to_html(
        self, *, title: str | None = None, theme: str = "auto", call: int | None = None, step: int | None = None
    ) -> str:
        """The explanation as one self-contained HTML page.

        It opens at a call and at one of its backward steps, both counted from 1, if they are given.

        Raises
        ------
        ValueError
            If there is no such call or step.
        """
        start = "" if call is None and step is None else self._address(call, step)
        return to_html(self.to_dict(title=title), theme=theme, start=start)

    def _address(self, call: int | None, step: int | None) -> str:
        """The state of the page at a call and a backward step, as its address has it."""
        number = self.primary + 1 if call is None else call
        if not 1 <= number <= len(self.all_calls):
            raise ValueError(f"call={call} is out of range: there are {len(self.all_calls)} calls, numbered from 1")
        steps = self.all_calls[number - 1].steps
        if step is None:
            return f"#mode=read&call={number}"
        if not 1 <= step <= len(steps):
            raise ValueError(f"step={step} is out of range: the call has {len(steps)} backward steps, numbered from 1")
        return f"#mode=read&call={number}&step={len(self.all_calls[number - 1].forward) + step}"

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write the explanation to a file, in the format given by its suffix.

        Raises
        ------
        ValueError
            If the suffix is none of .html, .svg, .dot, .mmd, .json and .txt.
        """
        file = Path(path)
        makers: dict[str, Callable[[], str]] = {
            ".html": lambda: self.to_html(title=title),
            ".svg": self.to_svg,
            ".dot": self.to_dot,
            ".mmd": self.to_mermaid,
            ".json": self.to_json,
            ".txt": lambda: self.to_text(width=WIDTH),
        }
        if file.suffix.lower() not in makers:
            raise ValueError(f"save({str(path)!r}): the suffix says what to write, one of {', '.join(SUFFIXES)}")
        file.write_text(makers[file.suffix.lower()](), encoding="utf-8", newline="\n")

    def show(self, *, call: int | None = None, step: int | None = None) -> Path:
        """Write the page to a temporary file and open it in a browser; without a browser, the path is printed.

        `call` and `step` are those of `to_html`.
        """
        return browse(self.to_html(call=call, step=step))

    def plot(self, statistic: str = "norm", *, ax: Any = None) -> Any:
        """The sizes of the gradients as matplotlib's Axes: a bar for each leaf, or, for several calls, lines.

        `statistic` is 'mean', 'largest', 'norm' or 'zeros'.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If no gradient reached a leaf, or `statistic` is invalid.
        """
        steps = [{leaf.tensor.name: leaf.flow for leaf in call.leaves} for call in self.all_calls if call.steps]
        names = list(dict.fromkeys(name for step in steps for name in step))
        return plot(names, steps, statistic, ax=ax)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text() if self.all_calls else "<nothing recorded: no backward() ran>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        if not self.all_calls:
            return {"text/plain": repr(self)}
        return mimebundle(repr(self), lambda: to_html(self.to_dict(), start=EMBEDDED), self.to_svg)
