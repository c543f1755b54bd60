"""The parts of an explanation: tensors, steps, the terms that steps send, and the leaves.

They are plain objects, which all renderers and the JSON writer read. Arrays are NumPy arrays, or a `Summary` if they
are too large to be stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .arrays import FINE, Array, Flat, Kept, Marks
from .derivations import Derivation, told
from .numbers import counted
from .plots import Statistics
from .rules import Jacobian
from .sources import Place

if TYPE_CHECKING:
    from .accounts import Account
    from .arrays import Stats
    from .yardsticks import Yardstick


@dataclass(eq=False, slots=True)
class Scope:
    """A call of a module or a function of the program, inside which operations ran."""

    index: int
    kind: str
    name: str
    type: str
    parent: Scope | None = field(repr=False)
    nth: int = 1

    @property
    def path(self) -> tuple[Scope, ...]:
        """This scope and the enclosing ones, outermost first."""
        found: list[Scope] = []
        scope: Scope | None = self
        while scope is not None:
            found.append(scope)
            scope = scope.parent
        return tuple(reversed(found))

    def __str__(self) -> str:
        return self.name if self.nth == 1 else f"{self.name} (call {self.nth})"


@dataclass(eq=False, slots=True)
class Saved:
    """A value that a node saves for backward: an array, or a setting such as an exponent or a shape."""

    name: str
    text: str
    tensor: Traced | None = None
    value: Kept | None = None


@dataclass(eq=False, slots=True)
class Traced:
    """A value in the graph, with the node that computed it; a leaf has none.

    `data` is None if the value is unknown: see `value_from`.
    """

    index: int
    name: str
    expr: str | None
    role: str
    op: str | None
    grad_fn: str | None
    node: int
    output: int
    inputs: list[Traced]
    shape: tuple[int, ...]
    dtype: Any
    requires_grad: bool = True
    version: int | None = None
    data: Kept | None = None
    value_from: str = "not kept"
    saved: list[Saved] = field(default_factory=list)
    bytes: int = 0
    place: Place | None = None
    scope: Scope | None = None
    time: float | None = None
    marks: Marks = FINE
    flat: Flat | None = None
    round: tuple[int, int] | None = None

    @property
    def is_leaf(self) -> bool:
        """True if no operation computed it."""
        return self.op is None

    @property
    def line(self) -> int | None:
        """The line of the program that computed it."""
        return None if self.place is None else self.place.line

    @property
    def stats(self) -> Stats | None:
        """The statistics of a shortened value; None for others."""
        return getattr(self.data, "stats", None)

    def __repr__(self) -> str:
        made = "leaf" if self.op is None else self.grad_fn
        return f"<{self.name}: {made}, shape {self.shape}{'' if self.line is None else f', line {self.line}'}>"


@dataclass(eq=False, slots=True)
class Term:
    """The cotangent that a step sends to one input: `v @ J = out`, added to those that arrived before.

    >>> import pullback
    >>> x = pullback.tensor([3.0, 4.0], requires_grad=True)
    >>> term = pullback.explain(x * x, gradient=[1.0, 10.0]).steps[0].terms[0]
    >>> term.J, term.out
    (array([[3., 0.],
           [0., 4.]], dtype=float32), array([ 3., 40.], dtype=float32))
    """

    to: Traced
    input: int
    jacobians: list[Jacobian | None]
    missing: str | None
    ran: str | None
    out: Kept
    before: Kept | None
    after: Kept
    nth: int = 1
    of: int = 1
    marks: Marks = FINE
    derivation: Derivation | None = None

    @property
    def J(self) -> Array | None:  # noqa: N802  # what it is called in mathematics
        """The local Jacobian as a matrix; None if it was not computed or belongs to several outputs."""
        first = self.jacobians[0]
        return None if first is None or len(self.jacobians) > 1 else first.dense()

    def __repr__(self) -> str:
        return f"<to {self.to.name}: {self.out}, contribution {self.nth} of {self.of}>"


class Hooked(NamedTuple):
    """A gradient that a hook of the program has changed: which functions were called, with their places, and the gradients."""

    functions: list[tuple[str, Place | None]]
    before: Kept
    after: Kept

    def __str__(self) -> str:
        """Which hooks."""
        texts = [name if place is None else f"{name} ({place.where})" for name, place in self.functions]
        return f"hook{'s' * (len(texts) > 1)} {' and '.join(texts)}"


@dataclass(eq=False, slots=True)
class Step:
    """One operation, forward or backward. A backward step is one vector-Jacobian product, or the sum at a leaf."""

    phase: str
    index: int
    node: str
    op: str | None
    outputs: list[Traced]
    vs: list[Kept | None] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    ran: str | None = None
    place: Place | None = None
    scope: Scope | None = None
    time: float | None = None
    live_bytes: int = 0
    marks: Marks = FINE
    hooked: Hooked | None = None

    @property
    def v(self) -> Kept | None:
        """The vector that arrived; if there are several outputs, that of the first."""
        return self.vs[0] if self.vs else None

    @property
    def line(self) -> int | None:
        """The line of the program where the operation is."""
        return None if self.place is None else self.place.line

    @property
    def derivation(self) -> str:
        """Why the rule is what it is: formulas with the numbers of the step put in."""
        return "\n".join(told(self))

    def __repr__(self) -> str:
        where = "" if self.line is None else f", line {self.line}"
        return f"<{self.phase} step {self.index}: {self.node} of {self.outputs[0].name}{where}>"


@dataclass(eq=False, slots=True)
class Leaf:
    """A leaf of the graph: the gradient that the call computed for it, and its contributions.

    >>> import pullback
    >>> x = pullback.tensor([3.0], requires_grad=True)
    >>> leaf = pullback.explain((x * x).sum()).leaf(x)
    >>> leaf.grad, len(leaf.contributions)
    (array([6.], dtype=float32), 2)
    """

    tensor: Traced
    grad: Kept
    grad_before: Kept | None
    grad_after: Kept | None
    contributions: list[tuple[Step, Term]]
    jacobians: list[Jacobian | None]
    missing: str | None = None
    flow: Statistics | None = None

    @property
    def J(self) -> Array | None:  # noqa: N802  # what it is called in mathematics
        """The Jacobian of the output with respect to this leaf; None if it was not computed."""
        if any(each is None for each in self.jacobians) or not self.jacobians:
            return None
        return np.concatenate([each.dense() for each in self.jacobians if each is not None])

    def __repr__(self) -> str:
        return f"<{self.tensor.name}: {self.grad}, from {counted(len(self.contributions), 'contribution')}>"


@dataclass(eq=False, slots=True)
class Output:
    """The start of a call: a tensor, and the vector passed for it."""

    tensor: Traced
    gradient: Kept
    implicit: bool


class Hop(NamedTuple):
    """A step on the way of one NaN or inf: to which element of which tensor, and the numbers that were multiplied there."""

    step: Step
    to: Traced
    element: tuple[int, ...] | None
    said: str


@dataclass(eq=False, slots=True)
class Finding:
    """A numerical problem: its kind, where it first appeared, where it propagated, and what helps."""

    kind: str
    phase: str
    step: Step | None
    tensor: Traced
    element: tuple[int, ...] | None
    why: str
    path: list[Step] = field(default_factory=list)
    fix: str = ""
    began: str = ""
    """The kind at its birth, if it was another: what began as inf may be NaN at the end."""
    told: str = ""
    """Of NaN and inf: which number is, and why, in one sentence."""
    extent: str = ""
    """What else it has reached, and what not."""
    way: list[Hop] = field(default_factory=list)
    """The way of that number, from where it began."""
    fixes: list[Fix] = field(default_factory=list)
    """Changes of the program that help; only those that were tried say with what result."""
    vain: list[Fix] = field(default_factory=list)
    """Changes with which the program was run, and the number still is what it is."""
    given: Place | None = None
    """Where the program gave the number itself, if no operation made it."""

    @property
    def kinds(self) -> set[str]:
        """What it is, and what it was at its birth."""
        return {self.kind, self.began or self.kind}

    def through(self, step: Step | None) -> None:
        """Add a step to the path."""
        if step is not None and step not in self.path:
            self.path.append(step)

    @property
    def born(self) -> Step | None:
        """The step in which it first appeared; None if it came from outside."""
        return self.step

    @property
    def shown_fixes(self) -> list[Fix]:
        """Those fixes that have been tried, or may stand without."""
        return shown(self.fixes)

    @property
    def place(self) -> Place | None:
        """The place of the program where it first appeared."""
        return self.given or (self.tensor.place if self.step is None else self.step.place)

    @property
    def line(self) -> int | None:
        """The line of the program where it first appeared."""
        return None if self.place is None else self.place.line


@dataclass(eq=False, slots=True)
class Overwritten:
    """A tensor written after a pass was to use its old value: both versions, and the place of the last write."""

    name: str
    tensor: Traced | None
    expected: int
    version: int
    place: Place | None

    def __str__(self) -> str:
        where = "" if self.place is None else f", last written at {self.place.where}"
        return f"{self.name} was used at version {self.expected}, and is at version {self.version}{where}"


class Argument(NamedTuple):
    """What the operation that failed was given: the program's name for it; of a tensor its shape and dtype, else a text."""

    name: str
    shape: tuple[int, ...] | None
    dtype: str | None
    text: str | None = None


class Clash(NamedTuple):
    """Two axes that do not fit: of a matrix product, where the first meets the second, or of shapes to be equal."""

    kind: str
    sides: tuple[tuple[int, int], tuple[int, int]]
    """Each as the number of an argument, and the axis, counted from 0."""


class Stage(NamedTuple):
    """A module beside the one that failed, in the order in which they were called; the last is the one that failed."""

    scope: Scope
    title: str
    shape: tuple[int, ...] | None
    """That of its result; None if it is not known, or there is none."""


class Change(NamedTuple):
    """A part of the program's text, and what is written in its place."""

    place: Place
    text: str


@dataclass(eq=False, slots=True)
class Fix:
    """A change of the program that may help; `tried` says what happened when the program was run with it, if it was.

    A guess is worth showing only if it was tried.
    """

    why: str
    changes: list[Change]
    tried: str | None = None
    guess: bool = False


def shown(fixes: list[Fix]) -> list[Fix]:
    """Those fixes that have been tried, or may stand without."""
    return [fix for fix in fixes if fix.tried is not None or not fix.guess]


@dataclass(eq=False, slots=True)
class Failure:
    """The exception that the program raised, and what failed: nothing of ours if there is neither scope nor operation.

    `said` is that in one sentence. `made` is where the module that failed was made, `frames` are the program's functions
    that were running, the outermost first.
    """

    type: str
    message: str
    place: Place | None
    call: int | None = None
    tensor: Traced | None = None
    overwritten: Overwritten | None = None
    said: str = ""
    scope: Scope | None = None
    op: str | None = None
    arguments: list[Argument] = field(default_factory=list)
    clash: Clash | None = None
    made: Place | None = None
    stages: list[Stage] = field(default_factory=list)
    frames: list[tuple[str, Place]] = field(default_factory=list)
    fixes: list[Fix] = field(default_factory=list)
    raised: str = ""
    """The exception with which the program ended, if it was made of this one."""

    @property
    def ours(self) -> bool:
        """Whether a module or an operation has failed."""
        return self.op is not None or self.scope is not None

    @property
    def shown_fixes(self) -> list[Fix]:
        """Those fixes that have been tried, or may stand without."""
        return shown(self.fixes)


@dataclass(eq=False, slots=True)
class Call:
    """One call of backward, or an account of what one would do."""

    text: str
    kind: str
    place: Place | None
    outputs: list[Output]
    tensors: list[Traced]
    forward: list[Step]
    steps: list[Step]
    leaves: list[Leaf]
    findings: list[Finding] = field(default_factory=list)
    account: Account | None = None
    kept_bytes: int = 0
    estimated: bool = True
    loss: Yardstick | None = None

    @property
    def peak_bytes(self) -> int:
        """The peak memory of saved values and gradients together."""
        return max((step.live_bytes for step in (*self.forward, *self.steps)), default=0)

    def seconds(self, phase: str) -> float | None:
        """The duration of a phase; None if it was not measured."""
        times = [step.time for step in (self.forward if phase == "forward" else self.steps)]
        known = [time for time in times if time is not None]
        return sum(known) if known else None
