"""Functions with user-defined derivatives: primitive, defvjp, defjvp and others.

A primitive is called only with plain values, even if its arguments are traced. Its rules get boxes if a derivative of
the derivative is computed, and must be written in autograd.numpy.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ... import Tensor, is_grad_enabled, ops
from ..._tensor.custom import CustomCall
from ...extend import Primitive, general
from ...func import rules as _rules
from ...func.arguments import Argument
from ...func.custom import RULES, Rules
from ...func.rules import Backward, RulePrimitive
from ...interpreters import constant
from ...observe import value
from ...utils.trees import Structure, flatten, paths, unflatten
from .boxes import Box, getval, seen
from .operators import make_vjp, name_of
from .spaces import vspace
from .tracing import active, conjugate

if TYPE_CHECKING:
    from ..._core.typing import Params, Value

Function = Callable[..., Any]

primitive_vjps: dict[Any, Function] = {}
"""For each primitive the function of `(argnums, ans, args, kwargs)` that returns its pullback for these arguments."""

primitive_jvps: dict[Any, Function] = {}
"""For each primitive the function of `(argnums, tangents, ans, args, kwargs)` that returns its value's tangent."""


class VJPNode:
    """The name of reverse mode in `register_notrace`."""


class JVPNode:
    """The name of forward mode in `register_notrace`."""


# 1. Calls


class ByHand(RulePrimitive):
    """The internal primitive of a user's primitive."""


class Rule(Backward):
    """One call of a user's primitive: its flattened arguments, and the rules that apply to it."""

    def __init__(
        self, function: Function, structure: Structure, leaves: Sequence[object], kwargs: dict[str, object]
    ) -> None:
        self.function = function
        self.structure = structure
        self.kwargs = kwargs
        self.result: Structure | None = None
        top = max((leaf for leaf in leaves if isinstance(leaf, Tensor)), key=attrgetter("level")).interpreter
        counts = [child.leaf_count() for child in structure.children]
        owners = [number for number, count in enumerate(counts) for _ in range(count)]
        holders = {
            owner for owner, leaf in zip(owners, leaves, strict=True) if getattr(leaf, "interpreter", None) is top
        }
        self.argnums = tuple(sorted(holders))
        self.counts = counts
        for traced in active.get():
            traced.by_hand = True

    def names(self) -> list[str]:
        """Names for the leaves of the arguments."""
        return paths(self.structure, "args")

    def value(self, leaves: Sequence[object]) -> list[object]:
        """The leaves of the result, computed one level further in."""
        result = self.function(*unflatten(self.structure, list(map(_shown, leaves))), **self.kwargs)
        outs, self.result = flatten(result)
        return [_as_tensor(out) for out in outs]

    def forward(self, leaves: Sequence[object]) -> tuple[list[object], list[object]]:
        """The leaves of the result; they are saved with those of the arguments."""
        if self.function not in primitive_vjps:
            raise NotImplementedError(
                f"VJP of {name_of(self.function)} wrt argnums {self.argnums} not defined: define it with defvjp"
            )
        outs = self.value(leaves)
        return outs, [*leaves, *outs]

    def backward(self, residuals: Sequence[object], g: Sequence[Tensor | None]) -> list[object]:
        """A cotangent for each leaf of the arguments that are traced."""
        args, ans = self.apart(residuals)
        assert self.result is not None
        pull = primitive_vjps[self.function](self.argnums, ans, args, self.kwargs)
        cotangent = unflatten(self.result, [None if each is None else _shown(conjugate(each)) for each in g])
        found = dict(zip(self.argnums, pull(cotangent), strict=True))
        answers: list[Any] = []
        for number, count in enumerate(self.counts):
            parts = flatten(found[number])[0] if found.get(number) is not None else [None] * count
            if len(parts) != count:
                raise TypeError(
                    f"the VJP of {name_of(self.function)} by argument {number} returned {len(parts)} gradients, and the "
                    f"argument nests as {self.structure.children[number]}"
                )
            answers += [None if part is None else _conjugated(part) for part in parts]
        return [_like(answer, residual) for answer, residual in zip(answers, residuals, strict=False)]

    def apart(self, residuals: Sequence[object]) -> tuple[list[Any], Any]:
        """The arguments and the value, unflattened from their leaves."""
        assert self.result is not None
        count = sum(self.counts)
        leaves = [_shown(leaf) for leaf in residuals]
        return unflatten(self.structure, leaves[:count]), unflatten(self.result, leaves[count:])


def _shown(leaf: object) -> Any:
    """A leaf as passed to the user's code: a plain array if nothing is recorded."""
    return seen(value(leaf) if isinstance(leaf, Tensor) and not leaf.level and not is_grad_enabled() else leaf)


def _as_tensor(value: object) -> Any:
    if isinstance(value, Box):
        return value.tensor
    numeric = (
        isinstance(value, (np.ndarray, np.generic, int, float, complex)) and np.asarray(value).dtype.kind in "biufc"
    )
    return constant(np.array(value)) if numeric else value


def _conjugated(value: object) -> Tensor:
    return constant(conjugate(_as_tensor(value)))


def _like(answer: Tensor | None, leaf: object) -> Tensor | None:
    """A cotangent of a leaf: its real part if the leaf is real, None if it is a constant."""
    if answer is None or not isinstance(leaf, Tensor):
        return None
    real = not leaf.is_complex() and answer.is_complex()
    return constant(ops.real(answer)) if real else answer


def pushed(
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: tuple[Value, ...],
    params: Params,
) -> tuple[Tensor | None, ...]:
    """The tangents of the results: by the user's pushforward, or else by transposing the pullback."""
    call = params["call"]
    rule = call.rule
    if rule.function not in primitive_jvps:
        if rule.function not in primitive_vjps:
            raise NotImplementedError(
                f"JVP of {name_of(rule.function)} wrt argnums {rule.argnums} not defined: define it with defjvp or defvjp"
            )
        return _rules.pushed(primitive, primals, tangents, y, params)
    leaves = [seen(leaf) for leaf in call.filled(primals)]
    args = unflatten(rule.structure, leaves)
    ans = unflatten(rule.result, [seen(piece) for piece in call.assembled(y)])
    moves: list[Any] = [
        np.zeros_like(getval(leaf)) if isinstance(leaf, (Box, np.ndarray, float)) else None for leaf in leaves
    ]
    for place, tangent in zip(call.places, tangents, strict=True):
        if tangent is not None:
            moves[place] = seen(tangent)
    nested = unflatten(rule.structure, moves)
    found = primitive_jvps[rule.function](rule.argnums, [nested[n] for n in rule.argnums], ans, args, rule.kwargs)
    changes = [_as_tensor(leaf) for leaf in flatten(found)[0]]
    return tuple(changes[position] for position in call.positions())


def batched(count: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Tensor, ...]:
    """The results for all examples of a batch, one call of the user's function for each."""
    call = params["call"]
    rows = []
    for number in range(count):
        own = [ops.getitem(arg.value, index=(number, ...)) if arg.batched else arg.value for arg in args]
        rows.append(call.taken_apart(tuple(call.rule.value(call.filled(own)))))
    return tuple(ops.stack(*column, axis=0) for column in zip(*rows, strict=True))


RULES[ByHand] = Rules(pushed, batched)


HOLDERS = (Box, list, tuple, dict)
"""What is, or may hold, a traced value."""


class ShortCall:
    """A call of single arrays with a single array as its value, in the outermost trace: the most frequent kind.

    Of the default tape alone it needs no more than an operation with a rule, which gets plain arrays in an ordinary pass.
    """

    __slots__ = ("args", "function", "kwargs", "places", "value")

    def __init__(self, function: Function, args: Sequence[Any], kwargs: dict[str, object]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.places = tuple([place for place, arg in enumerate(args) if isinstance(arg, Box)])
        self.value: Any = None

    def applies(self) -> bool:
        """True if the arguments are single ones, traced on the default tape, and the function has a pullback."""
        given = [*self.args, *self.kwargs.values()]
        return (
            self.function in primitive_vjps
            and is_grad_enabled()
            and not any(isinstance(each, HOLDERS[1:]) for each in given)
            and len(self.places) > 0
            and all(not self.args[place].tensor.level for place in self.places)
            and not any(isinstance(each, Box) for each in self.kwargs.values())
        )

    def filled(self, arrays: Iterable[object]) -> list[Any]:
        """The arguments, with these arrays in the places of those that are traced."""
        args = list(self.args)
        for place, array in zip(self.places, arrays, strict=True):
            args[place] = seen(array)
        return args


def _short_pullback(
    xp: Any, g: Any, arrays: Sequence[Any], y: Any, *, call: ShortCall, needs: Sequence[bool]
) -> list[Any]:
    """A cotangent for each traced argument, by the user's rule: of arrays, or of boxes where the pass is recorded."""
    pull = primitive_vjps[call.function](call.places, seen(y), call.filled(arrays), call.kwargs)
    answers = zip(call.places, arrays, pull(seen(_turned(xp, g))), strict=True)
    return [None if answer is None else _fitted(call, place, array, answer) for place, array, answer in answers]


def _turned(xp: Any, g: Any) -> Any:
    complex_values = g.is_complex() if isinstance(g, Tensor) else g.dtype.kind == "c"
    return xp.conj(g) if complex_values else g


def _sums_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """True if an array of the target shape broadcasts to the shape."""
    try:
        return np.broadcast_shapes(shape, target) == shape
    except ValueError:
        return False


def _fitted(call: ShortCall, place: int, array: Any, answer: Any) -> Any:
    """A cotangent as the pass wants it: conjugated, real for a real argument, of a shape that sums to the argument's."""
    if isinstance(array, Tensor) or isinstance(answer, Box):
        found: Any = _like(_conjugated(answer), array if isinstance(array, Tensor) else constant(array))
    else:
        found = np.conj(answer) if np.iscomplexobj(answer) else np.asarray(answer)
        found = np.asarray(found if array.dtype.kind == "c" else np.real(found), array.dtype)
    if found.shape != array.shape and not _sums_to(tuple(found.shape), tuple(array.shape)):
        raise RuntimeError(
            f"the VJP of {name_of(call.function)} by argument {place} returned shape {tuple(found.shape)}, and the argument "
            f"has {tuple(array.shape)}: a larger cotangent is summed to that shape, another must be expanded in the VJP"
        )
    return found


_short = general(
    "by_hand",
    joint=_short_pullback,
    forward=lambda *arrays, call: call.value,
    inputs=("*arrays",),
    complex="as written",
)
_single: set[Any] = set()
"""The primitives of which a call had a single array as its value, so that the next one may be short."""


def _recorded_shortly(function: Function, args: Sequence[Any], kwargs: dict[str, object], f_raw: Function) -> Any:
    """The value of a short call, recorded; NotImplemented if it is none, or its value no array of floating-point numbers."""
    if function not in _single or not (call := ShortCall(function, args, kwargs)).applies():
        return NotImplemented
    value = f_raw(*[arg._value if isinstance(arg, Box) else arg for arg in args], **kwargs)
    if not isinstance(value, (np.ndarray, np.generic, float, complex)) or np.asarray(value).dtype.kind not in "fc":
        return NotImplemented
    call.value = np.array(value)
    for traced in active.get():
        traced.by_hand = True
    return seen(_short(*[args[place].tensor for place in call.places], call=call))


# 2. Primitives


def primitive(f_raw: Function) -> Function:
    """A function as a single operation of plain values, whose derivative `defvjp` and `defjvp` define.

    >>> from pullback.compat import autograd
    >>> from pullback.compat.autograd.primitives import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> float(autograd.grad(autograd.grad(cube))(2.0))
    12.0
    """
    operation = ByHand(name_of(f_raw).replace("<lambda>", "lambda"))

    @functools.wraps(f_raw)
    def wrapped(*args: object, **kwargs: object) -> Any:
        if not any(isinstance(given, HOLDERS) for given in (*args, *kwargs.values())):
            return f_raw(*args, **kwargs)
        if (shortly := _recorded_shortly(wrapped, args, kwargs, f_raw)) is not NotImplemented:
            return shortly
        leaves, structure = flatten(args)
        if not any(isinstance(leaf, Box) for leaf in leaves):
            return f_raw(*args, **kwargs)
        if wrapped in _untraced:
            return wrapped(
                *unflatten(structure, [leaf._value if isinstance(leaf, Box) else leaf for leaf in leaves]), **kwargs
            )
        if any(isinstance(leaf, Box) for leaf in flatten(kwargs)[0]):
            raise TypeError(
                f"{name_of(f_raw)}: a traced value was passed by keyword, and a primitive has no derivative by keyword "
                "arguments: pass it by position"
            )
        opened = [leaf.tensor if isinstance(leaf, Box) else leaf for leaf in leaves]
        call = CustomCall(opened)
        call.rule = Rule(wrapped, structure, opened, kwargs)
        results = call.assembled(operation(*[opened[place] for place in call.places], call=call))
        if call.rule.result.kind is None:
            _single.add(wrapped)
        return unflatten(call.rule.result, [seen(result) for result in results])

    wrapped.fun = f_raw  # type: ignore[attr-defined]  # autograd's name for it
    wrapped.defvjp = functools.partial(_defined_by_gradient, wrapped)  # type: ignore[attr-defined]  # old spellings
    wrapped.defgrad = functools.partial(_defined_by_maker, wrapped)  # type: ignore[attr-defined]  # as above
    wrapped.defvjp_is_zero = functools.partial(_defined_as_zero, wrapped)  # type: ignore[attr-defined]  # as above
    return wrapped


_untraced: set[Any] = set()


def register_notrace(trace_type: object, primitive_fun: Function) -> None:
    """Declare that a primitive has no derivative, and that its value is plain."""
    _untraced.add(primitive_fun)


def notrace_primitive(f_raw: Function) -> Function:
    """A function of plain values without a derivative.

    >>> from pullback.compat import autograd
    >>> from pullback.compat.autograd.primitives import notrace_primitive
    >>> rounded = notrace_primitive(lambda x: float(x) // 1)
    >>> float(autograd.grad(lambda x: x * rounded(x))(2.5))
    2.0
    """

    @functools.wraps(f_raw)
    def wrapped(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten(args)
        return f_raw(*unflatten(structure, list(map(getval, leaves))), **kwargs)

    return wrapped


# 3. Rules


def defvjp_argnums(fun: Function, vjpmaker: Function) -> None:
    """Define a primitive's derivative by `vjpmaker(argnums, ans, args, kwargs)`.

    It returns a function from the cotangent of the value to a cotangent for each of these arguments.
    """
    primitive_vjps[fun] = vjpmaker


def defvjp_argnum(fun: Function, vjpmaker: Function) -> None:
    """Define a primitive's derivative by `vjpmaker(argnum, ans, args, kwargs)`, for one argument at a time."""

    def maker(argnums: Sequence[int], *rest: object) -> Function:
        pulls = [vjpmaker(argnum, *rest) for argnum in argnums]
        return lambda g: [pull(g) for pull in pulls]

    defvjp_argnums(fun, maker)


def defvjp(fun: Function, *vjpmakers: Callable[..., Function] | None, argnums: Iterable[int] | None = None) -> None:
    """Define a primitive's derivative, by each argument in turn or by those in `argnums`.

    A maker takes `(ans, *args, **kwargs)` and returns a function from the cotangent of the value to that of the
    argument; None is an argument without one.
    """
    makers = dict(zip(itertools.count() if argnums is None else argnums, vjpmakers, strict=False))
    for argnum, maker in makers.items():
        if maker is not None and not callable(maker):
            raise TypeError(
                f"Bad VJP '{maker}' for '{name_of(fun)}', by argument {argnum}: it must be a function or None"
            )

    def by_one(argnum: int, ans: object, args: Sequence[object], kwargs: dict[str, object]) -> Function:
        if argnum not in makers:
            raise NotImplementedError(f"VJP of {name_of(fun)} wrt argnum {argnum} not defined")
        maker = makers[argnum]
        if maker is None:
            return lambda g: vspace(args[argnum]).zeros()
        return maker(ans, *args, **kwargs)

    defvjp_argnum(fun, by_one)


def defjvp_argnums(fun: Function, jvpmaker: Function) -> None:
    """Define a primitive's derivative in forward mode by `jvpmaker(argnums, tangents, ans, args, kwargs)`."""
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun: Function, jvpmaker: Function) -> None:
    """Define it by `jvpmaker(argnum, tangent, ans, args, kwargs)`, for each argument; the tangents are added."""

    def maker(
        argnums: Sequence[int], tangents: Sequence[object], ans: object, args: Sequence[object], kwargs: object
    ) -> Any:
        pairs = zip(argnums, tangents, strict=True)
        changes = [jvpmaker(argnum, tangent, ans, args, kwargs) for argnum, tangent in pairs]
        return functools.reduce(vspace(ans).add, changes)

    defjvp_argnums(fun, maker)


def defjvp(fun: Function, *jvpfuns: Function | Literal["same"] | None, argnums: Iterable[int] | None = None) -> None:
    """Define a primitive's derivative in forward mode, by each argument in turn or by those in `argnums`.

    A rule takes `(tangent, ans, *args, **kwargs)` and returns the tangent of the value; None is an argument without one,
    and "same" one in which the function is linear.
    """
    rules = dict(zip(itertools.count() if argnums is None else argnums, jvpfuns, strict=False))

    def by_one(argnum: int, tangent: object, ans: object, args: Sequence[object], kwargs: dict[str, object]) -> Any:
        if argnum not in rules:
            raise NotImplementedError(f"JVP of {name_of(fun)} wrt argnum {argnum} not defined")
        rule = rules[argnum]
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return fun(*(*args[:argnum], tangent, *args[argnum + 1 :]), **kwargs)
        return rule(tangent, ans, *args, **kwargs)

    for rule in rules.values():
        if rule is not None and rule != "same" and not callable(rule):
            raise TypeError(f"Bad JVP '{rule}' for '{name_of(fun)}'")
    defjvp_argnum(fun, by_one)


def def_linear(fun: Function) -> None:
    """Declare that a primitive is linear in each of its arguments, which defines its derivative in forward mode."""
    linear: Literal["same"] = "same"
    defjvp(fun, *[linear] * 64)


def checkpoint(fun: Function) -> Function:
    """A function that saves only its arguments, and is computed again for its derivative.

    >>> from pullback.compat.autograd import checkpoint, grad
    >>> float(grad(checkpoint(lambda x: (x * x) ** 2))(1.0))
    4.0
    """
    wrapped = primitive(fun)
    defvjp_argnum(wrapped, lambda argnum, ans, args, kwargs: make_vjp(fun, argnum)(*args, **kwargs)[0])
    return wrapped


# 4. Deprecated names of autograd


def _added(function: Function, maker: Function | None, argnum: int) -> None:
    table = function.__dict__.setdefault("_makers", {})
    table[argnum] = maker
    defvjp(function, *table.values(), argnums=list(table))


def _defined_by_maker(function: Function, maker: Function, argnum: int = 0) -> None:
    _added(function, maker, argnum)


def _defined_by_gradient(function: Function, gradient: Function, argnum: int = 0) -> None:
    def maker(ans: object, *args: object, **kwargs: object) -> Function:
        return lambda g: gradient(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

    _added(function, maker, argnum)


def _defined_as_zero(function: Function, argnums: Iterable[int] = (0,)) -> None:
    for argnum in argnums:
        _added(function, None, argnum)
