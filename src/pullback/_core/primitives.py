"""Primitives, kinds, carriers, levels and bind: how an operation finds who interprets it.

A derivative rule is a pure function, linear in its cotangent, of exactly the values its signature names, written once
on the line that defines its primitive. This module reads those signatures and knows nothing about any particular
operation, tape or transform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from . import xp as _xp
from .composing import composed, signature
from .halves import as_singles, pulled_as_singles
from .modes import innermost, quiet

# 1. Primitives and kinds
#
# A primitive is a name, a raw forward function, and what its kind asks the author to write. Array data comes
# positionally, metadata by keyword. A rule's signature is `(xp, g, <saved>, *, <metadata>)`: `xp` is a namespace, `g`
# the cotangent, a saved name is one of the forward's inputs, `y` for the output, or `<input>_shape`. What a signature
# names is what is kept for the backward pass; a name that means nothing fails at import.
#
# Rules are written for real numbers. Of a complex operation the cotangent is conjugated before and after its rule
# ("holomorphic"), which is torch's convention; the rule runs as it is ("as written", where it says the same for complex
# numbers), or the operation is refused when it would be recorded ("refused").
#
# With `halves="as singles"` an operation computes halves in single precision, forwards and backwards: see `halves`.

Rule = Callable[..., Any]
SINGLES: Any = {"halves": "as singles"}


class Primitive:
    """An operation with its derivative: what `bind` interprets.

    Calling it dispatches: plain arrays are computed at once, boxed values go to the interpreter of the highest level.
    """

    __slots__ = (
        "name", "kind", "title", "forward", "inputs", "rules", "joint", "saved", "variadic", "differentiable",
        "complex", "halves", "outputs", "push", "keeps", "_pull", "_way",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        forward: Callable[..., Any],
        inputs: Sequence[str],
        rules: Sequence[Rule | None] = (),
        *,
        joint: Rule | None = None,
        title: str | Callable[..., str] | None = None,
        complex: str = "refused",
        halves: str = "as they are",
        outputs: int = 1,
        push: Callable[..., Any] | None = None,
    ) -> None:
        self.push = push
        self.complex = complex
        self.halves = halves
        self.outputs = outputs
        self.name = name
        self.kind = kind
        self.forward = as_singles(forward) if halves == "as singles" else forward
        self.variadic = inputs[-1].startswith("*")
        self.inputs = tuple(name.lstrip("*") for name in inputs)
        self.rules = tuple(rules)
        self.joint = joint
        self.title = title or "".join(word.title() for word in name.split("_")) + "Backward0"
        self.differentiable = joint is not None or any(rule is not None for rule in rules)
        self.saved = {name: self._place(name) for name in _saved_names(self)}
        self.keeps = [(place, self.users(name)) for name, place in self.saved.items()]
        self._pull: Callable[..., Any] | None = None
        self._way: Callable[..., Any] = self._first

    __call__: Callable[..., Any]
    short: ClassVar[Callable[[Primitive], Callable[..., Any]]]
    """Makes a primitive's quicker way past `bind`, for plain values: `_eager` sets it."""

    def _first(self, *args: Any, **params: Any) -> Any:
        self._way = Primitive.short(self)
        return self._way(*args, **params)

    def __repr__(self) -> str:
        return f"<primitive {self.name} ({self.kind})>"

    def node_name(self, params: dict[str, Any]) -> str:
        """The name torch shows for this operation's node."""
        return self.title if isinstance(self.title, str) else self.title(**params)

    def starred(self, name: str) -> str:
        """`*name` for the input that takes any number of arrays, and for several outputs, else `name`."""
        many = self.outputs > 1 if name == "y" else self.variadic and name == self.inputs[-1]
        return f"*{name}" if many else name

    def _place(self, name: str) -> int | slice | None:
        """Where a saved value stands among the arguments: a number, a slice for any number of arrays, None for y."""
        if name == "y":
            return None
        index = self.inputs.index(name)
        return index if self.starred(name) == name else slice(index, None)

    def users(self, name: str) -> tuple[int, ...] | None:
        """The inputs whose rules name a value; None for all of them, however many there are."""
        if self.joint is not None:
            return None
        return tuple(i for i, rule in enumerate(self.rules) if rule is not None and name in signature(rule)[0])

    def kept(self, count: int) -> list[tuple[str, int | None]]:
        """What an operation with `count` inputs keeps: rules' names, each with the input it was, or None for an output."""
        found: list[tuple[str, int | None]] = []
        for name, place in self.saved.items():
            if isinstance(place, slice):
                found.extend((name, index) for index in range(*place.indices(count)))
            else:
                found.extend([(name, place)] * (self.outputs if place is None else 1))
        return found

    @property
    def pull(self) -> Callable[..., Any]:
        """The rules composed into one function of `(xp, g, edges, saved, params)`, built when first needed."""
        if self._pull is None:
            self._pull = pulled_as_singles(self, composed(self)) if self.halves == "as singles" else composed(self)
        return self._pull


Primitive.__call__ = Primitive._way  # type: ignore[method-assign, misc]  # a method would take 0.5 us more


def _saved_names(primitive: Primitive) -> tuple[str, ...]:
    rules = [primitive.joint] if primitive.joint else [rule for rule in primitive.rules if rule is not None]
    if not primitive.joint and primitive.rules and len(primitive.rules) != len(primitive.inputs):
        raise TypeError(f"{primitive.name} has {len(primitive.inputs)} inputs and {len(primitive.rules)} rules")
    shapes = {f"{name}_shape" for name in primitive.inputs}
    saved: dict[str, None] = {}
    for rule in rules:
        for name in signature(rule)[0]:
            if name not in primitive.inputs and name != "y" and name not in shapes:
                raise TypeError(f"the rule of {primitive.name} names {name!r}: not an input, 'y' or '<input>_shape'")
            if name not in shapes:
                saved[name] = None
    return tuple(sorted(saved, key=("y", *primitive.inputs).index))


def elementwise(
    name: str,
    *rules: Rule | None,
    forward: Callable[..., Any] | None = None,
    inputs: Sequence[str] = (),
    title: str | None = None,
    complex: str = "holomorphic",
) -> Primitive:
    """One output element from the elements in the same place; one rule per input."""
    inputs = inputs or {1: ("x",), 2: ("a", "b")}.get(len(rules), ("condition", "a", "b"))
    return Primitive(name, "elementwise", forward or getattr(_xp, name), inputs, rules, title=title, complex=complex)


def linear(
    name: str,
    rule: Rule,
    *,
    forward: Callable[..., Any] | None = None,
    inputs: Sequence[str] = ("x",),
    title: str | Callable[..., str] | None = None,
    complex: str = "holomorphic",
    halves: str = "as they are",
) -> Primitive:
    """A linear map of its first input: the rule is its transpose; further inputs are data without a derivative."""
    rules = (rule, *[None] * (len(inputs) - 1)) if len(inputs) == 1 or not inputs[-1].startswith("*") else ()
    joint = None if rules else rule
    return Primitive(
        name,
        "linear",
        forward or getattr(_xp, name),
        inputs,
        rules,
        joint=joint,
        title=title,
        complex=complex,
        halves=halves,
    )


def jointly_linear(
    name: str,
    *rules: Rule | None,
    forward: Callable[..., Any] | None = None,
    inputs: Sequence[str] = ("*arrays",),
    joint: Rule | None = None,
    title: str | Callable[..., str] | None = None,
    complex: str = "holomorphic",
) -> Primitive:
    """A linear map of all its operands at once, as a join is; operands that are no real or complex numbers are data."""
    forward = forward or getattr(_xp, name)
    return Primitive(name, "jointly linear", forward, inputs, rules, joint=joint, title=title, complex=complex)


def multilinear(
    name: str,
    *rules: Rule | None,
    forward: Callable[..., Any] | None = None,
    inputs: Sequence[str] = ("a", "b"),
    joint: Rule | None = None,
    title: str | Callable[..., str] | None = None,
    complex: str = "holomorphic",
    halves: str = "as they are",
) -> Primitive:
    """Linear in each operand alone: a rule per operand, or one joint rule for any number of them."""
    forward = forward or getattr(_xp, name)
    return Primitive(
        name, "multilinear", forward, inputs, rules, joint=joint, title=title, complex=complex, halves=halves
    )


def general(
    name: str,
    *rules: Rule | None,
    forward: Callable[..., Any],
    inputs: Sequence[str] = ("x",),
    joint: Rule | None = None,
    title: str | Callable[..., str] | None = None,
    complex: str = "refused",
    halves: str = "as they are",
    outputs: int = 1,
    push: Callable[..., Any] | None = None,
) -> Primitive:
    """Anything else: the pullback is stated as it is, per input or jointly; `y` of several outputs is their list.

    `push(xp, primals, tangents, y, **metadata)` is the derivative in forward mode, where transposing the rule is not it.
    """
    return Primitive(
        name,
        "general",
        forward,
        inputs,
        rules,
        joint=joint,
        title=title,
        complex=complex,
        halves=halves,
        outputs=outputs,
        push=push,
    )


def zero(name: str, *, forward: Callable[..., Any] | None = None, inputs: Sequence[str] = ("x",)) -> Primitive:
    """An operation whose derivative is zero wherever it exists: its results are not tracked."""
    return Primitive(name, "zero", forward or getattr(_xp, name), inputs)


# 2. Carriers and levels
#
# A carrier boxes a value for one interpreter and has that interpreter's level: 0 for the tape that every program runs
# on, higher for each transform entered later, lower for what sits beneath the tape. The level, not the type, decides
# who acts first; without it vmap(grad) and grad(vmap) cannot both be right.


class Carrier:
    """A boxed value: `level` says how far out its interpreter stands."""

    __slots__ = ()
    level: int = 0
    interpreter: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # a carrier is a tensor to everybody but this module


# 3. Bind
#
# One rule: the interpreter of the highest level among the arguments processes the operation. When no argument is
# boxed, the raw forward function runs.


def bind(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Hand an operation to the interpreter of the highest level among its arguments, or compute it."""
    top: Carrier | None = None
    for arg in args:
        if isinstance(arg, Carrier) and (top is None or arg.level > top.level):
            top = arg
    if top is None:
        return quiet.copy().run(primitive.forward, *args, **params)
    return top.interpreter.process(primitive, args, params)


# 4. Interpreters
#
# An interpreter is one class with one method. Entering it takes the next level, so that an interpreter entered later
# stands further out. Adding one touches no other file; `examples/printing_tracer.py` is the proof.


class Interpreter:
    """A reading of a program: what happens to each operation on the values it has boxed."""

    level: int = 0
    way_out = "Pass the tensor as an argument, or write y = x.clone() first."
    """How a tensor becomes one that can hold values of this interpreter, for the error that says it is not."""

    def __init__(self) -> None:
        self._tokens: list[Any] = []

    def __enter__(self) -> Self:
        around = innermost.get()
        self.level = 1 if around is None else max(around.level, 0) + 1
        self._tokens.append(innermost.set(self))
        return self

    def __exit__(self, *exc: object) -> None:
        innermost.reset(self._tokens.pop())

    def grad(self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], **options: Any) -> Any:
        """What `autograd.grad` gives for outputs that this interpreter has boxed, where that means something."""
        raise RuntimeError(
            f"autograd.grad inside {type(self).__name__}: its values have no graph; use pullback.func.grad"
        )

    def adopt(self, made: Any) -> Any:
        """What a tensor becomes that is made, not computed, while this interpreter is the innermost: itself."""
        return made

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The result of one operation, at least one of whose arguments this interpreter has boxed."""
        raise NotImplementedError
