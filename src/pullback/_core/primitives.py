"""Primitives, carriers, levels and `bind`: how an operation finds the interpreter that processes it.

A derivative rule is a pure function, linear in the cotangent, of exactly the values that its signature names, and is
written on the line that defines its primitive. This module reads those signatures; it knows no particular operation,
tape or transform.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from . import bfloat, xp as _xp
from .composing import composed, saved_names, signature
from .halves import as_singles, pulled_as_singles
from .lazy import provider
from .modes import ValuesBlock, innermost, quiet
from .package import package
from .sites import qualified

if TYPE_CHECKING:
    from .typing import Options, Params, Result, Value

# 1. Primitives and kinds
#
# A primitive is a name, a forward function on arrays, and the derivative rules that its kind requires. Arrays are passed by
# position, other parameters by keyword. A rule's signature is `(xp, g, <saved>, *, <parameters>)`: `xp` is a namespace of
# array functions, `g` the cotangent, and a saved name is one of the inputs, `y` for the output, or `<input>_shape`. The
# values that signatures name are saved for the backward pass; an unknown name is an error at import. Rules are written for
# real numbers. For complex inputs, `complex` says what happens: the cotangent is conjugated before and after the rule
# ("holomorphic", torch's convention), the rule is called as it is ("as written"), or recording is "refused".
# With `halves="as singles"` a primitive computes with float16 in float32, in both passes, and rounds its results once. With
# bfloat16 all do; rules of those with `halves="as written"` take cotangents as they are.
# `definition(xp, <inputs>, *, <parameters>)` says what a composed primitive computes, in the language of rules; it may return
# NotImplemented for a case that only `forward` has. The compiler, engines and explain read it, and eager execution too, unless
# `forward` says the same in a quicker way. With `view=True` results may lie in the memory of the first input. With
# `commutes=True` two real operands may be exchanged without changing a bit. `cost` is about how many additions and
# multiplications an element of the largest array takes; a definition costs what its parts do.

Function = Callable[..., Any]
Rule = Function
SINGLES: Any = {"halves": "as singles"}


class Primitive:
    """An operation with its derivative: what `bind` interprets.

    Calling it dispatches: plain arrays are computed at once, boxed values go to the interpreter of the highest level.
    `short_name` is the name that it was given, and `name` the one for tables: one of a user has its module in front.
    """

    __slots__ = (
        "name", "short_name", "kind", "title", "forward", "inputs", "rules", "joint", "saved", "variadic", "differentiable",
        "complex", "halves", "outputs", "push", "view", "definition", "defined", "commutes", "cost", "keeps", "defaults", "of_user", "_pull", "_way",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        forward: Function | None,
        inputs: Sequence[str],
        rules: Sequence[Rule | None] = (),
        *,
        joint: Rule | None = None,
        title: str | Callable[..., str] | None = None,
        complex: str = "refused",
        halves: str = "as they are",
        outputs: int = 1,
        push: Function | None = None,
        view: bool = False,
        definition: Function | None = None,
        commutes: bool = False,
        cost: int | None = None,
    ) -> None:
        self.push, self.view, self.definition, self.commutes = push, view, definition, commutes
        self.cost = int("linear" not in kind or kind == "multilinear") if cost is None and definition is None else cost
        self.defined = forward is None and definition is not None  # arrays, too, are computed as the definition says
        self.name, self.short_name, self.kind = qualified(name, __name__), name, kind
        self.complex, self.halves, self.outputs, self.of_user = complex, halves, outputs, self.name != name
        if forward is None:
            if definition is None and self.of_user:
                raise TypeError(f"{name} needs forward= or definition=")
            forward = getattr(_xp, name) if definition is None else functools.partial(definition, _xp)
        self.forward = as_singles(forward) if halves == "as singles" else forward
        self.variadic = inputs[-1].startswith("*")
        self.inputs = tuple(name.lstrip("*") for name in inputs)
        self.rules, self.joint = tuple(rules), joint
        self.title = title or "".join(word.title() for word in name.split("_")) + "Backward0"
        self.differentiable = joint is not None or any(rule is not None for rule in rules)
        self.saved = {name: self._place(name) for name in saved_names(self)}
        self.keeps = [(place, self.users(name)) for name, place in self.saved.items()]
        self.defaults: dict[str, Any] = {}  # metadata that calls of a user's operation may leave out
        self._pull: Function | None = None
        self._way: Function = self._first
        if self.of_user:
            provider("operations of users").complete(self)

    __call__: Function

    def _first(self, *args: Any, **params: Any) -> Any:
        self._way = provider("plain tensors").past_bind(self)
        return self._way(*args, **params)

    def __repr__(self) -> str:
        return f"<primitive {self.short_name} ({self.kind})>"

    def node_name(self, params: Params) -> str:
        """The name torch shows for this operation's node."""
        return self.title if isinstance(self.title, str) else self.title(**params)

    def starred(self, name: str) -> str:
        """`*name` for a variadic input and for `y` of several outputs, otherwise `name`."""
        many = self.outputs > 1 if name == "y" else self.variadic and name == self.inputs[-1]
        return f"*{name}" if many else name

    def _place(self, name: str) -> int | slice | None:
        """The position of a saved value among the arguments: an index, a slice for a variadic input, None for `y`."""
        if name == "y":
            return None
        index = self.inputs.index(name)
        return index if self.starred(name) == name else slice(index, None)

    def users(self, name: str) -> tuple[int, ...] | None:
        """The indices of the inputs whose rules need a saved value; None for all inputs."""
        if self.joint is not None:
            return None
        return tuple(i for i, rule in enumerate(self.rules) if rule is not None and name in signature(rule)[0])

    def kept(self, count: int) -> list[tuple[str, int | None]]:
        """The values that an operation with `count` inputs saves: names, each with the index of its input, or None for an output."""
        found: list[tuple[str, int | None]] = []
        for name, place in self.saved.items():
            if isinstance(place, slice):
                found.extend((name, index) for index in range(*place.indices(count)))
            else:
                found.extend([(name, place)] * (self.outputs if place is None else 1))
        return found

    @property
    def pull(self) -> Function:
        """The rules composed into one function of `(xp, g, edges, saved, params)`, built when first needed."""
        if self._pull is None:
            pull = provider("operations of users").pulled(self) if self.of_user else composed(self)
            self._pull = pulled_as_singles(self, pull) if self.halves == "as singles" else pull
        return self._pull


Primitive.__call__ = Primitive._way  # type: ignore[method-assign, misc]  # a method would cost 0.5 us more per call


def _holomorphic(
    name: str,
    kind: str,
    forward: Function | None,
    inputs: Sequence[str],
    rules: Sequence[Rule | None],
    joint: Rule | None,
    options: Options,
) -> Primitive:
    """A primitive whose rules are those of a holomorphic function."""
    options.setdefault("complex", "holomorphic")
    return Primitive(name, kind, forward, inputs, rules, joint=joint, **options)


def elementwise(
    name: str,
    *rules: Rule | None,
    forward: Function | None = None,
    inputs: Sequence[str] = (),
    **options: Unpack[Options],
) -> Primitive:
    """A primitive whose output elements each depend on the input elements at the same index; one rule for each input.

    >>> from pullback import extend, tensor
    >>> product = extend.elementwise(
    ...     "product", lambda xp, g, x, y: g * y, lambda xp, g, x, y: g * x,
    ...     forward=lambda x, y: x * y, inputs=("x", "y"))
    >>> x = tensor(3.0, requires_grad=True)
    >>> product(x, tensor(5.0)).backward()
    >>> x.grad
    tensor(15.)
    """
    inputs = inputs or {1: ("x",), 2: ("a", "b")}.get(len(rules), ("condition", "a", "b"))
    return _holomorphic(name, "elementwise", forward, inputs, rules, None, options)


def linear(
    name: str,
    rule: Rule,
    *,
    forward: Function | None = None,
    inputs: Sequence[str] = ("x",),
    **options: Unpack[Options],
) -> Primitive:
    """A primitive that is linear in its first input; the rule is the transpose. Other inputs are not differentiated.

    >>> from pullback import extend, tensor
    >>> double = extend.linear("double", lambda xp, g: 2 * g, forward=lambda x: 2 * x)
    >>> x = tensor(3.0, requires_grad=True)
    >>> double(x).backward()
    >>> x.grad
    tensor(2.)
    """
    rules = (rule, *[None] * (len(inputs) - 1)) if len(inputs) == 1 or not inputs[-1].startswith("*") else ()
    return _holomorphic(name, "linear", forward, inputs, rules, None if rules else rule, options)


def jointly_linear(
    name: str,
    *rules: Rule | None,
    forward: Function | None = None,
    inputs: Sequence[str] = ("*arrays",),
    joint: Rule | None = None,
    **options: Unpack[Options],
) -> Primitive:
    """A primitive that is linear in all its operands together, such as concatenation. Integer operands are not differentiated."""
    return _holomorphic(name, "jointly linear", forward, inputs, rules, joint, options)


def multilinear(
    name: str,
    *rules: Rule | None,
    forward: Function | None = None,
    inputs: Sequence[str] = ("a", "b"),
    joint: Rule | None = None,
    **options: Unpack[Options],
) -> Primitive:
    """A primitive that is linear in each operand separately: one rule for each operand, or one joint rule for all."""
    return _holomorphic(name, "multilinear", forward, inputs, rules, joint, options)


def general(
    name: str,
    *rules: Rule | None,
    forward: Function | None = None,
    inputs: Sequence[str] = ("x",),
    joint: Rule | None = None,
    outputs: int = 1,
    **options: Unpack[Options],
) -> Primitive:
    """Any other differentiable primitive: one rule for each input, or a joint rule; `y` is a list if there are several outputs.

    `push(xp, primals, tangents, y, **parameters)` is the forward-mode derivative; where it returns NotImplemented, the transposed rule is.
    """
    return Primitive(name, "general", forward, inputs, rules, joint=joint, outputs=outputs, **options)


def zero(
    name: str, *, forward: Function | None = None, inputs: Sequence[str] = ("x",), **options: Unpack[Options]
) -> Primitive:
    """A primitive whose derivative is zero wherever it exists: its results are not tracked.

    >>> import numpy
    >>> from pullback import extend, tensor
    >>> step = extend.zero("step", forward=lambda x: numpy.where(x > 0, 1.0, 0.0).astype(x.dtype))
    >>> step(tensor([-1.0, 2.0], requires_grad=True))
    tensor([0., 1.])
    """
    return Primitive(name, "zero", forward, inputs, **options)


# 2. Carriers and levels
#
# A carrier, of which all are tensors, boxes a value for one interpreter and has its level: 0 for the tape on which every program
# runs, higher for each transform that is entered later, negative for interpreters below the tape. The level, not the type, decides
# which interpreter processes an operation first; without levels, vmap(grad) and grad(vmap) could not both be right.


class Box:
    """A boxed value: `level` is that of the interpreter that boxed it."""

    __slots__ = ()
    level: int = 0
    interpreter: Any

    if TYPE_CHECKING:

        def __getattr__(
            self, name: str
        ) -> Any: ...  # the attributes and methods of tensors, which a higher layer defines


if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

    Carrier = Tensor
else:
    Carrier = Box


# 3. Bind
#
# One rule: the interpreter of the highest level among the arguments processes the operation; without one, `forward` runs.


def bind(primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
    """Let the interpreter of the highest level among the arguments process an operation; without any, compute it."""
    top: Carrier | None = None
    rounded = False
    for arg in args:
        if not isinstance(arg, Carrier):
            rounded = rounded or type(arg) is bfloat.BFloatArray
        elif top is None or arg.level > top.level:
            top = arg
    if top is None:
        forward = bfloat.rounding(primitive) if rounded else primitive.forward
        return quiet.copy().run(forward, *args, **params)
    return top.interpreter.process(primitive, args, params)


# 4. Interpreters
#
# An interpreter is one class with one method. Entering it takes the next higher level, so that the interpreter that was entered
# last is the first to process an operation. To add one, no other file has to change: see `examples/printing_tracer.py`.


class BaseInterpreter(ValuesBlock):
    """An object that processes the operations on the values that it has boxed."""

    level: int = 0
    way_out = "Pass the tensor as an argument, or write y = x.clone() first."
    """The advice in the error that a tensor of a lower level cannot be written with a value of this interpreter."""

    def _values(self) -> dict[Any, Any]:
        around = innermost.get()
        self.level = 1 if around is None else max(around.level, 0) + 1
        return {innermost: self}

    def grad(
        self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], cotangents: Sequence[Tensor | None], **options: Any
    ) -> Any:
        """The result of `autograd.grad` for outputs that this interpreter has boxed; raises RuntimeError if there is none."""
        raise RuntimeError(f"autograd.grad inside {type(self).__name__}: values have no graph; use {package}.func.grad")

    def ended(self) -> bool:
        """True if tensors hold this interpreter's values no more, after a wait for the thread whose values they are."""
        return False

    def adopt(self, made: Tensor) -> Tensor:
        """The tensor that replaces one newly created while this interpreter is the innermost: by default, the tensor itself."""
        return made

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The result of one operation with at least one argument that this interpreter has boxed."""
        raise NotImplementedError
