"""Functions with a derivative written by the user: `custom_vjp` for reverse mode, `custom_jvp` for forward mode.

The idea and the names are JAX's. The functions take and return trees of tensors. Their rules are ordinary code, and are
themselves differentiated for a derivative of higher order.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import ops
from .._core.errors import kind
from .._core.primitives import Carrier, Function
from .._core.trees import flatten, paths, unflatten
from .._tensor.custom import CustomCall
from .rules import Backward, Leaves, PushforwardRule, Rule, RulePrimitive

if TYPE_CHECKING:
    from .._core.typing import Tensor


# 1. Trees


class CallStructure:
    """The structure of the arguments of one call: which are differentiated, and their leaves."""

    def __init__(self, name: str, parameters: Sequence[str], args: Sequence[object], held: Sequence[int]) -> None:
        self.name = name
        self.args = list(args)
        self.held = held
        self.places = [place for place in range(len(args)) if place not in held]
        self.parameters = [parameters[place] for place in self.places]
        self.leaves, self.structure = flatten(tuple(args[place] for place in self.places))
        for place in held:
            for leaf, path in zip(*_leaves(args[place], parameters[place]), strict=True):
                if isinstance(leaf, Carrier) and (leaf.level or leaf._node is not None):
                    raise TypeError(
                        f"{name}: {path} is among nondiff_argnums, and holds a {kind(leaf)} that requires grad or belongs to "
                        "a transform. Make it an ordinary argument"
                    )

    def whole(self, leaves: Leaves) -> list[object]:
        """All arguments, rebuilt with the given leaves."""
        args = list(self.args)
        for place, arg in zip(self.places, unflatten(self.structure, leaves), strict=True):
            args[place] = arg
        return args

    def fixed(self) -> list[object]:
        """The arguments that are not differentiated."""
        return [self.args[place] for place in self.held]

    def names(self) -> list[str]:
        """The expression that names each leaf in the user's terms."""
        return [
            path
            for parameter, structure in zip(self.parameters, self.structure.children, strict=True)
            for path in paths(structure, parameter)
        ]


def _leaves(tree: object, name: str) -> tuple[list[object], list[str]]:
    leaves, structure = flatten(tree)
    return leaves, paths(structure, name)


class OfTrees(Rule):
    """One call of a function with its derivative: one function for `custom_jvp`, two for `custom_vjp`."""

    def __init__(self, fun: Function, plan: CallStructure, *rules: Function) -> None:
        self.fun, self.plan, self.rules = fun, plan, rules
        self.result: Any = None
        self.residual: Any = None

    def names(self) -> list[str]:
        """The names of the arguments' leaves."""
        return self.plan.names()

    def value(self, leaves: Leaves) -> list[object]:
        """The leaves of the result."""
        outs, self.result = flatten(self.fun(*self.plan.whole(leaves)))
        return outs


class BackwardOfTrees(OfTrees, Backward):
    """One call of a function with its pullback."""

    def forward(self, leaves: Leaves) -> tuple[list[object], list[object]]:
        """The leaves of the result, and those of the residuals."""
        answer = self.rules[0](*self.plan.whole(leaves))
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(
                f"the forward rule of {self.plan.name} must return a pair (output, residuals), and returned "
                f"{_described(answer)}"
            )
        outs, self.result = flatten(answer[0])
        needed, self.residual = flatten(answer[1])
        return outs, needed

    def backward(self, residuals: Leaves, g: Leaves) -> list[object]:
        """A cotangent or None for each leaf of the arguments."""
        plan = self.plan
        answer = self.rules[1](*plan.fixed(), unflatten(self.residual, residuals), unflatten(self.result, g))
        if not isinstance(answer, tuple) or len(answer) != len(plan.places):
            raise TypeError(
                f"the backward rule of {plan.name} must return a tuple with one gradient for each of its arguments "
                f"({', '.join(plan.parameters)}), None for one without, and returned {_described(answer)}"
            )
        found: list[object] = []
        for parameter, structure, part in zip(plan.parameters, plan.structure.children, answer, strict=True):
            leaves, given = ([None] * structure.leaf_count(), structure) if part is None else flatten(part)
            if given != structure:
                raise TypeError(
                    f"the backward rule of {plan.name} returned a gradient for {parameter!r} that nests as {given}, and "
                    f"{parameter!r} nests as {structure}"
                )
            found += leaves
        return found


class ForwardOfTrees(OfTrees, PushforwardRule):
    """One call of a function with its pushforward."""

    def push(self, leaves: Leaves, tangents: Leaves) -> list[Tensor | None]:
        """A tangent or None for each leaf of the result."""
        plan = self.plan
        answer = self.rules[0](*plan.fixed(), unflatten(plan.structure, leaves), unflatten(plan.structure, tangents))
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(
                f"the rule of {plan.name} must return a pair (outputs, tangents of the outputs), and returned "
                f"{_described(answer)}"
            )
        outs, self.result = flatten(answer[0])
        pushed, given = flatten(answer[1])
        if answer[1] is None:
            pushed, given = [None] * len(outs), self.result
        if given != self.result:
            raise TypeError(
                f"the rule of {plan.name} returned tangents that nest as {given}, and outputs that nest as {self.result}"
            )
        triples = zip(outs, pushed, paths(self.result, "output"), strict=True)
        return [self._fitted(out, tangent, path) for out, tangent, path in triples]

    def _fitted(self, out: object, tangent: object, path: str) -> Tensor | None:
        """A tangent checked against its output's shape and converted to its dtype."""
        if tangent is None:
            return None
        if not isinstance(out, Carrier) or out._dtype.kind not in "fc":
            raise TypeError(
                f"the rule of {self.plan.name} returned a tangent for {path}, which is not a tensor of real or complex numbers: "
                "return None in its place"
            )
        if not isinstance(tangent, Carrier) or tuple(tangent.shape) != tuple(out.shape):
            raise TypeError(
                f"the rule of {self.plan.name} returned {_described(tangent)} as the tangent of {path}, which is a tensor of "
                f"shape {tuple(out.shape)}: a tangent has its output's shape"
            )
        fits = tangent._dtype == out._dtype
        return tangent if fits else ops.astype(tangent, dtype=out._dtype, source=tangent._dtype)


def _described(answer: object) -> str:
    if isinstance(answer, Carrier):
        return f"a tensor of shape {tuple(answer.shape)}"
    if isinstance(answer, (tuple, list)):
        return f"a {type(answer).__name__} of {len(answer)}"
    return f"a {type(answer).__name__}"


# 2. The decorators


class _Decorator:
    """A function whose rule is defined after its creation."""

    __name__: str

    def __new__(cls, fun: Function | None = None, nondiff_argnums: int | Sequence[int] = ()) -> Any:
        if fun is None:
            return functools.partial(cls, nondiff_argnums=nondiff_argnums)
        return super().__new__(cls)

    def __init__(self, fun: Function, nondiff_argnums: int | Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.signature = inspect.signature(fun)
        self._held = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self._primitive = RulePrimitive(self.__name__)

    def __get__(self, instance: object, owner: type) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.__name__} has keyword-only arguments {sorted(bound.kwargs)}: a custom rule takes all of them by "
                "position"
            )
        names = _parameters(self.signature, len(bound.args))
        held = [self._place(number, len(names)) for number in self._held]
        rule = self._rule(CallStructure(self.__name__, names, bound.args, held))
        call = CustomCall(rule.plan.leaves)
        call.rule = rule
        tensors = [rule.plan.leaves[place] for place in call.places]
        results = call.assembled(self._primitive(*tensors, call=call))
        return unflatten(rule.result, results)

    def _place(self, number: int, count: int) -> int:
        if not -count <= number < count:
            raise ValueError(f"{self.__name__} has {count} arguments, and nondiff_argnums names number {number}")
        return number % count

    def _rule(self, plan: CallStructure) -> OfTrees:
        raise NotImplementedError


def _parameters(signature: inspect.Signature, count: int) -> list[str]:
    """The names of `count` arguments; those of `*rest` are numbered."""
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{number}]" for number in range(count - len(names))]
        elif len(names) < count:
            names.append(parameter.name)
    return names


class custom_vjp(_Decorator):
    """A decorator for a function whose pullback you write: `f.defvjp(fwd, bwd)`.

    `fwd` takes f's arguments and returns (output, residuals); `bwd(residuals, g)` returns a tuple with the gradient for
    each argument, nested as the argument is, or None. Arguments, outputs and residuals are trees of tensors. Arguments
    whose positions are in `nondiff_argnums` are not differentiated, and need not hold tensors: `bwd` gets them first.

    `fwd` and `bwd` must be pure. For a second derivative they are run again and recorded, so residuals may be any
    values that depend on the arguments. Under `jvp` the pullback is transposed; under `vmap` all three functions are
    run on the batch.

    Parameters
    ----------
    fun
        The function.
    nondiff_argnums
        The positions of arguments that are not differentiated.

    Raises
    ------
    AttributeError
        When called before `defvjp`.
    TypeError
        If a rule's result does not have the required structure.
    RuntimeError
        If a gradient does not fit its argument, which is named.

    >>> import pullback
    >>> @pullback.custom_vjp
    ... def clipped(x, limit):
    ...     return x
    >>> clipped.defvjp(lambda x, limit: (x, limit), lambda limit, g: (g.clamp(-limit, limit), None))
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> (clipped(x, 1.0) * pullback.tensor([0.5, 30.0])).sum().backward()
    >>> x.grad
    tensor([0.5000, 1.0000])
    """

    def defvjp(self, fwd: Function, bwd: Function) -> None:
        """Set the function's forward rule (output and residuals) and its pullback."""
        for name, rule in (("fwd", fwd), ("bwd", bwd)):
            if not callable(rule):
                raise TypeError(f"defvjp of {self.__name__}: {name} must be a function, not {_described(rule)}")
        self._fwd, self._bwd = fwd, bwd

    def _rule(self, plan: CallStructure) -> OfTrees:
        if not hasattr(self, "_bwd"):
            raise AttributeError(
                f"No VJP defined for custom_vjp function {self.__name__} using defvjp: call {self.__name__}.defvjp(fwd, bwd)"
            )
        return BackwardOfTrees(self.fun, plan, self._fwd, self._bwd)


class custom_jvp(_Decorator):
    """A decorator for a function whose pushforward you write: `@f.defjvp`, a rule (primals, tangents).

    The rule takes a tuple of f's arguments and a tuple of their tangents, nested alike, and returns (output, tangent of
    the output). It must be pure, and linear in the tangents: the backward pass transposes it. The tangent of a value
    that is not a real or complex tensor is None. Arguments whose positions are in `nondiff_argnums` are not
    differentiated: the rule gets them first.

    Parameters
    ----------
    fun
        The function.
    nondiff_argnums
        The positions of arguments that are not differentiated.

    Raises
    ------
    AttributeError
        When called before `defjvp`.
    TypeError
        If the rule's result does not have the required structure, or a tangent does not have its output's shape.

    >>> import pullback
    >>> @pullback.custom_jvp
    ... def softplus(x):
    ...     return (1 + x.exp()).log()
    >>> @softplus.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return softplus(x), t * x.sigmoid()
    >>> x = pullback.tensor([0.0, 100.0], requires_grad=True)
    >>> softplus(x).sum().backward()
    >>> x.grad
    tensor([0.5000, 1.0000])
    """

    def defjvp(self, rule: Function) -> Function:
        """Set the rule; returns it, so that this is a decorator."""
        if not callable(rule):
            raise TypeError(f"defjvp of {self.__name__}: the rule must be a function, not {_described(rule)}")
        self._pushforward = rule
        return rule

    def defjvps(self, *rules: Function | None) -> None:
        """Set a rule for each argument: the tangent it contributes, from (tangent, output, *arguments), or None."""
        if self._held:
            raise TypeError(f"defjvps of {self.__name__}: with nondiff_argnums only defjvp can be used")

        def rule(primals: tuple[object, ...], tangents: tuple[object, ...]) -> tuple[object, object]:
            if len(rules) != len(primals):
                raise TypeError(
                    f"{self.__name__} has {len(primals)} arguments, and defjvps was given {len(rules)} rules"
                )
            y = self(*primals)
            parts = [
                push(tangent, y, *primals)
                for push, tangent in zip(rules, tangents, strict=True)
                if push and tangent is not None
            ]
            return y, functools.reduce(ops.add, parts) if parts else None

        self._pushforward = rule

    def _rule(self, plan: CallStructure) -> OfTrees:
        if not hasattr(self, "_pushforward"):
            raise AttributeError(
                f"No JVP defined for custom_jvp function {self.__name__} using defjvp: call {self.__name__}.defjvp(rule)"
            )
        return ForwardOfTrees(self.fun, plan, self._pushforward)
