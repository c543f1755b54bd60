"""torch.autograd.function's public names: operations with a user-defined derivative, as classes.

`forward` computes with plain tensors and is not recorded; `backward` maps the gradients of its outputs to those of its
inputs. The class owns a primitive, so that a call is one operation to every interpreter, and a node class.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import ops
from .._core.errors import kind
from .._core.modes import FieldBlock, losses, mode, no_grad, restoring, under
from .._core.package import package
from .._core.primitives import Carrier
from .._core.sites import caller, warn
from .._tape.cuts import Cut
from .._tape.memory import written
from .._tape.node import AccumulateGrad, Node
from .._tape.recording import Obstacle, Tape
from .._tape.views import rebase, view
from .custom import (
    Custom,
    CustomCall,
    CustomNode,
    CustomView,
    Kept,
    RuleRun,
    Slot,
    among,
    beneath,
    edges_of,
    places_of,
    record,
    running,
    slot,
    tensor_of,
)

if TYPE_CHECKING:
    from .._core.typing import Tensor, Value


# 1. The context


class FunctionCtx:
    """The context that `forward` fills for `backward`: saved tensors, marks, and any attributes.

    `backward` receives the same object as `forward`. Attributes are stored unchanged, and are constants in derivatives
    of higher order. Tensors should be saved instead, so that later writes do not change them.

    >>> import pullback
    >>> class Power(pullback.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, exponent):
    ...         ctx.save_for_backward(x)
    ...         ctx.exponent = exponent
    ...         return x**exponent
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * ctx.exponent * x ** (ctx.exponent - 1), None
    >>> x = pullback.tensor(3.0, requires_grad=True)
    >>> Power.apply(x, 2).backward()
    >>> x.grad
    tensor(6.)
    """

    needs_input_grad: tuple[bool, ...] = ()
    """For each argument of forward, True if it is a tensor whose gradient is needed."""

    _recorded = False
    _saved: tuple[Tensor | None, ...] = ()
    _for_forward: tuple[Tensor | None, ...] | None = None
    _pushed: tuple[Tensor | None, ...] | None = None
    _dirty: tuple[Tensor, ...] = ()
    _non_differentiable: tuple[Tensor, ...] = ()
    _materialize = True
    _node: weakref.ref[FunctionNode] | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors, or None, for `backward`, as `ctx.saved_tensors`; a second call replaces the first.

        Inputs and outputs are returned connected to the graph, so that `backward` can be differentiated. An
        intermediate value is returned without history: a second derivative through it is refused.
        """
        self._saved = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors, or None, for `jvp`, as `ctx.saved_tensors`.

        Raises
        ------
        AssertionError
            If an argument is not a tensor.
        """
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Carrier):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                    f"ctx: got {type(tensor).__name__}"
                )
        self._for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The saved tensors, and None where None was saved, in `backward` and `jvp`.

        Raises
        ------
        RuntimeError
            If an earlier backward has freed them.
        """
        found: tuple[Any, ...] = self._kept_tensors()
        return found

    def _kept_tensors(self) -> tuple[Tensor | None, ...]:
        run = running.get()
        if run is not None and getattr(run.node, "context", None) is self:
            return run.saved()
        if self._pushed is not None:
            return self._pushed
        node = None if self._node is None else self._node()
        return () if node is None else node.saved_tensors

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The old name of `saved_tensors`."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def saved_for_forward(self) -> tuple[Tensor | None, ...] | None:
        """The tensors saved for `jvp`, inside `jvp`."""
        return self._pushed

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that forward has changed in place; each must be returned.

        Raises
        ------
        RuntimeError
            If an argument is not a tensor, or is a leaf that requires grad.
        """
        for number, arg in enumerate(args):
            if not isinstance(arg, Carrier):
                raise RuntimeError(
                    f"mark_dirty can only accept variables, but argument {number} is of type {type(arg).__name__}"
                )
            leaf = arg if arg._base is None else arg._base
            if self._recorded and isinstance(leaf._node, AccumulateGrad):
                what = "a leaf" if leaf is arg else "a view of a leaf"
                raise RuntimeError(
                    f"{what} Variable that requires grad has been used in an in-place operation. mark_dirty was called on a "
                    f"{kind(arg)}: pass x.clone() instead of x, or update a parameter inside with {package}.no_grad()."
                )
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that have no derivative: they are not tracked, and their gradient in `backward` is zero.

        Raises
        ------
        RuntimeError
            If an argument is not a tensor.
        """
        for arg in args:
            if not isinstance(arg, Carrier):
                raise RuntimeError(
                    f"mark_non_differentiable only accepts variable arguments, but got {type(arg).__name__}"
                )
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what `backward` gets as gradient of an output that nothing depends on: zeros (default) or None."""
        self._materialize = value

    def _pushing(
        self, jvp: Callable[..., Any], tangents: Sequence[Tensor | None], tensors: tuple[Tensor | None, ...]
    ) -> Any:
        """The result of jvp for tangents, with these as the saved tensors."""
        self._pushed = tensors
        try:
            return jvp(self, *tangents)
        finally:
            self._pushed = None

    def _tensors(self, tensors: Sequence[object]) -> None:
        for number, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Carrier):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {number} is of type "
                    f"{type(tensor).__name__}: store other values as attributes of ctx"
                )


# 2. The node


BOTH = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them: "
    "{} has both."
)
NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode "
    "AD. {} has neither: add a static method backward(ctx, *grad_outputs) that returns a gradient for each argument of "
    "forward."
)


class FunctionNode(CustomNode):
    """The node of a custom function: its outputs' `grad_fn`. Attributes of ctx can be read here too."""

    __slots__ = ()

    _forward_cls: type[Function]
    context: FunctionCtx

    def __getattr__(self, name: str) -> Any:
        if name != "context" and not name.startswith("__") and name in vars(self.context):
            return vars(self.context)[name]
        raise AttributeError(f"{self.title!r} object has no attribute {name!r}")

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of forward, True if it is a tensor that requires grad."""
        return self.context.needs_input_grad

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved."""
        if isinstance(self.saved, Obstacle):
            raise self.saved.error(self)
        return RuleRun(self, self.saved[0].array, connected=True).saved() if self.saved else ()

    def gradients(self, run: RuleRun, g: Sequence[Tensor | None]) -> Any:
        """The result of backward, or vjp."""
        ctx = self.context
        rule = backward_of(self._forward_cls)
        if ctx._materialize:
            g = [
                made.zeros() if each is None and made is not None else each
                for each, made in zip(g, self.made, strict=True)
            ]
        return rule(ctx, *g)

    def names(self) -> list[str]:
        """The names of forward's arguments."""
        return argument_names(self._forward_cls, len(self.given))


def backward_of(function: type[Function]) -> Callable[..., Any]:
    """The user's backward, or vjp."""
    written = [method for method in (function.backward, function.vjp) if method is not Function.backward]
    if len(written) == 2 and written[0] is not written[1]:
        raise RuntimeError(BOTH.format(function.__name__))
    if not written:
        raise NotImplementedError(NO_BACKWARD.format(function.__name__))
    return written[0]


def argument_names(function: type[Function], count: int) -> list[str]:
    """The names of forward's first `count` arguments; those of `*rest` are numbered."""
    parameters = list(inspect.signature(function.forward).parameters.values())
    names: list[str] = []
    for parameter in parameters if has_context(function) else parameters[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{number}]" for number in range(count - len(names))]
        else:
            names.append(parameter.name)
    return names


def has_context(function: type[Function]) -> bool:
    """True if a function defines `setup_context`, so that its forward takes no ctx."""
    return function.setup_context is not Function.setup_context


# 3. A call

OLD_FORM = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
    "setup_context staticmethod. {name}.forward takes ctx: write forward(*args) and setup_context(ctx, inputs, output), "
    "which are called one after the other. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
    "inplace must all be outputs of the Function. {name}.forward marked {which} and did not return it."
)
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed "
    "to ctx.mark_dirty()."
)


class FunctionPrimitive(Custom):
    """The primitive of one Function."""

    def __init__(self, function: type[Function]) -> None:
        super().__init__(function.__name__, f"{function.__name__}Backward")
        self.function = function

    def computed(self, *arrays: Value, call: CustomCall) -> tuple[Value, ...]:
        """The outputs of forward for plain arrays, as arrays."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = (False,) * len(call.constants)
        tensors = [tensor_of(array) for array in arrays]
        outs = self._forward(ctx, tensors, call)
        return tuple(out._array if not out.level and out._node is None else out for out in outs)

    def recorded(self, tape: Tape, args: Sequence[Value], call: CustomCall) -> Sequence[Tensor]:
        """The outputs of forward, with backward as their history."""
        edges = edges_of(tape, args)
        tensors = list(map(tensor_of, args))
        ctx = FunctionCtx()
        wanted = [False] * len(call.constants)
        for place, edge in zip(call.places, edges, strict=True):
            wanted[place] = edge is not None
        ctx.needs_input_grad = tuple(wanted)
        ctx._recorded = mode.get().grad and any(wanted)
        noted: list[Cut] = []
        if tape.level:
            self.require_context()
            outs = [tape.wrap(piece, None) for piece in beneath(self, tape, args, call)]
            with FieldBlock(grad=False), among(outs):
                self.function.setup_context(ctx, call.filled(tensors), call.assembled(outs))
        else:
            outs = under(losses, noted if ctx._recorded else None, self._forward, ctx, tensors, call)
        return self._finished(tape, ctx, tensors, edges, outs, call, noted)

    def require_context(self) -> None:
        """Refuse a function that a transform cannot run."""
        if not has_context(self.function):
            raise RuntimeError(OLD_FORM.format(name=self.function.__name__))

    def _forward(self, ctx: FunctionCtx, tensors: Sequence[Tensor], call: CustomCall) -> list[Tensor]:
        """One unrecorded run of forward: the tensors among its outputs."""
        function = self.function
        args = call.filled(tensors)
        with FieldBlock(grad=False), among(()):
            if has_context(function):
                result = function.forward(*args)
                outs = call.taken_apart(result)
                function.setup_context(ctx, args, result)
            else:
                outs = call.taken_apart(function.forward(ctx, *args))
        if not outs and any(ctx.needs_input_grad) and any(isinstance(e[0], np.ndarray) for e in call.template):
            raise TypeError(
                f"forward of {function.__name__} returned a NumPy array and no tensor, so that nothing can be "
                f"differentiated: return {package}.from_numpy(array)"
            )
        for number, out in enumerate(outs):
            for place, tensor in enumerate(tensors):
                if out is tensor:
                    call.aliases[number] = place
                    if any(tensor is dirty for dirty in ctx._dirty):
                        call.dirty[number] = place
                        written(tensor)
        self._require_returned(ctx, tensors, call)
        call.context = ctx
        call.pushed = ctx._saved if ctx._for_forward is None else ctx._for_forward
        return outs

    def _require_returned(self, ctx: FunctionCtx, tensors: Sequence[Tensor], call: CustomCall) -> None:
        for dirty in ctx._dirty:
            place = next((place for place, tensor in enumerate(tensors) if tensor is dirty), None)
            if place is None:
                warn(NOT_AN_INPUT)
            elif place not in call.dirty.values():
                names = argument_names(self.function, len(call.constants))
                which = repr(names[call.places[place]])
                raise RuntimeError(NOT_RETURNED.format(name=self.function.__name__, which=which))

    def _finished(
        self,
        tape: Tape,
        ctx: FunctionCtx,
        args: Sequence[Tensor],
        edges: tuple[Node | None, ...],
        outs: Sequence[Tensor],
        call: CustomCall,
        noted: Sequence[Cut],
    ) -> list[Tensor]:
        """The outputs as they are returned to the caller."""
        smooth = [
            ctx._recorded and out._dtype.kind in "fc" and not any(out is other for other in ctx._non_differentiable)
            for out in outs
        ]
        node = None
        places: list[Node | None] = [None] * len(outs)
        if any(smooth):
            node = record(self.function._backward_cls, tape, args, edges, call, outs)
            found = places_of(node)
            places = [found[i] if s else None for i, s in zip(call.positions(), smooth, strict=True)]
        results: list[Tensor] = []
        for number, (out, place) in enumerate(zip(outs, places, strict=True)):
            results.append(self._linked(tape, ctx, args, out, call, number, place, results))
        if node is not None:
            node.context = ctx
            ctx._node = weakref.ref(node)
            ctx._tensors(ctx._saved)
            own = [None if p is None else position for p, position in zip(places, call.positions(), strict=True)]
            known = [*zip(results, own, strict=True), *zip(args, edges, strict=True)]
            slots = [_slot(tape, tensor, known, noted) for tensor in ctx._saved]
            node.saved = (Kept(slots),) if slots else ()
        ctx._saved = ctx._dirty = ctx._non_differentiable = ()
        ctx._for_forward = None
        return results

    def _linked(
        self,
        tape: Tape,
        ctx: FunctionCtx,
        args: Sequence[Tensor],
        out: Tensor,
        call: CustomCall,
        number: int,
        place: Node | None,
        before: Sequence[Tensor],
    ) -> Tensor:
        """One output with its history."""
        position = call.positions()[number]
        if tape.level:
            return tape.wrap(out._array, place)
        if number in call.dirty:
            if ctx._recorded:
                rebase(out, tape.wrap(out._array, place), [])
            if ctx._recorded or out._node is None:
                return out
        shared = None
        if any(out is other for other in before):  # a tensor returned twice gets the gradient of its last position
            out._node = place
            return out
        if number in call.aliases or out._node is not None:
            result, shared = _another(out), out
            if place is None and (
                ctx._recorded or (number in call.aliases and out.requires_grad)
            ):  # an alias, as that of `detach`
                result._base, result._path, result._made_untracked = None, (), None
        else:
            result = out
            shared = next(
                (t for t in (*args, *before) if out._storage is not None and t._storage is out._storage), None
            )
            if shared is None and out._base is not None:
                result._base, result._path, result._made_untracked = None, (), None
        result._node = place
        result._cut = None if place is not None or not ctx._recorded else Cut(self.function.__name__, caller())
        if shared is not None and place is not None:
            result._made_untracked = CustomView(position, self.function.__name__)
        return result


def _slot(
    tape: Tape, tensor: Tensor | None, known: Sequence[tuple[Tensor, Node | int | None]], noted: Sequence[Cut]
) -> Slot | None:
    """The slot of one saved tensor: that of an output or an input, which are `known`, or a value of its own."""
    if tensor is None:
        return None
    for other, place in known:
        if other is tensor:
            return slot(tape, tensor, place)
    node = tensor._node if tensor.level == tape.level else None
    return slot(tape, tensor, node, None if node is not None else lost_by(tensor, noted))


def _another(tensor: Tensor) -> Tensor:
    """A second tensor with the same memory; that it is untracked does not count as a lost history."""
    with FieldBlock(grad=False):
        return under(losses, None, functools.partial(view, ops.reshape, tensor, shape=tuple(tensor.shape)))


def lost_by(tensor: Tensor, noted: Sequence[Cut]) -> Cut | None:
    """The place where the history of a saved intermediate value was lost; None if it has none.

    A detached tensor records that itself. A tensor created from a NumPy array does not: it is assumed to depend on the
    inputs if forward has converted one of them to NumPy.
    """
    if tensor._dtype.kind not in "fc":
        return None
    if tensor._cut is not None:
        return Cut("saved", tensor._cut.site) if tensor._cut.hides else None
    left = next((cut for cut in noted if cut.reason in {"detach", "data", "numpy"}), None)
    return None if left is None else Cut("saved", left.site)


# 4. The class


NO_JVP = (
    "You must implement the jvp function for custom autograd.Function to use it with forward mode AD. {} has none: add a "
    "static method jvp(ctx, *tangents) that returns a tangent for each output."
)


class Function:
    """An operation with a user-defined derivative: subclass it, define `forward` and `backward`, and call `apply`.

    `forward(ctx, *args)` computes the outputs, a tensor or a tuple; its computations are not recorded. It saves what
    `backward(ctx, *grad_outputs)` needs, which returns one gradient for each argument, or None. Alternatively
    `forward(*args)` has no ctx, and `setup_context(ctx, inputs, output)` does the saving; this form also works under
    the transforms of `pullback.func`. Arguments and outputs that are not tensors are passed through.

    `backward` may itself be differentiated if it is written with operations on tensors. If it loses the history of a
    value, a second derivative raises an error. `vjp` is another name for `backward`. `jvp(ctx, *tangents)` is the
    forward-mode derivative; `vmap(info, in_dims, *args)`, or ``generate_vmap_rule = True``, makes the function work on
    batches.

    >>> import pullback
    >>> class Cube(pullback.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_backward(*inputs)
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * g
    >>> x = pullback.tensor(2.0, requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y
    tensor(8., grad_fn=<CubeBackward>)
    >>> pullback.func.grad(pullback.func.grad(Cube.apply))(x)
    tensor(12., grad_fn=<MulBackward0>)
    """

    generate_vmap_rule = False
    """If true, the batching rule is generated from forward, backward and jvp."""

    _backward_cls: type[FunctionNode]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        _equip(cls)

    def __init__(self, *args: object, **kwargs: object) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            f"them on the class itself: {type(self).__name__}.apply(...). Instantiating an autograd function will raise an "
            "error in a future version of PyTorch.",
            DeprecationWarning,
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:  # refused
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function) "
            f"Call {type(self).__name__}.apply(...)."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """The outputs of forward, with their history."""
        forward = cls.forward
        if kwargs or has_context(cls):
            given = args if has_context(cls) else (None, *args)
            bound = inspect.signature(forward).bind(*given, **kwargs)
            if has_context(cls) or bound.kwargs:
                bound.apply_defaults()
            args = bound.args[len(given) - len(args) :]
            if bound.kwargs:
                raise TypeError(
                    f"forward() of {cls.__name__} got keyword-only arguments {sorted(bound.kwargs)}: its arguments must be "
                    "positional, because backward returns a gradient for each of them, in order"
                )
        call = CustomCall(args)
        primitive = cls._backward_cls.primitive
        return call.assembled(primitive(*[args[place] for place in call.places], call=call))

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every subclass defines this, as `forward(ctx, *args)` or `forward(*args)`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function. Add a static method "
            "forward(ctx, *args)."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs; defined by subclasses whose forward has no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """The gradients of the arguments from those of the outputs; defined by every subclass, as `backward(ctx, *grad_outputs)`."""
        raise NotImplementedError(NO_BACKWARD.format("The function"))

    vjp = backward

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        """The tangents of the outputs from those of the arguments; defined for forward mode, as `jvp(ctx, *grad_inputs)`."""
        raise NotImplementedError(NO_JVP.format("The function"))

    @staticmethod
    def vmap(*args: Any, **kwargs: Any) -> Any:
        """The outputs for a batch of examples, and their batch axes; defined for `vmap`, as `vmap(info, in_dims, *args)`."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )


def _equip(function: type[Function]) -> None:
    """Create a function's primitive and node class."""
    title = f"{function.__name__}Backward"
    members = {"__slots__": (), "title": title, "_forward_cls": function, "primitive": FunctionPrimitive(function)}
    function._backward_cls = type(title, (FunctionNode,), members)


_equip(Function)


class InplaceFunction(Function):
    """The base class of old programs for functions with an `inplace` attribute: subclass Function instead.

    >>> import pullback
    >>> from pullback.autograd.function import InplaceFunction
    >>> issubclass(InplaceFunction, pullback.autograd.Function)
    True
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


ONCE = (
    "trying to differentiate twice a function that was marked with @once_differentiable: {title}. Its backward is not "
    "recorded. Remove the mark and write backward with operations on tensors, or differentiate once only."
)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a backward that is not recorded: its results cannot be differentiated.

    >>> import pullback
    >>> from pullback.autograd.function import once_differentiable
    >>> class Double(pullback.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         return pullback.from_numpy(g.numpy() * 2)
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @restoring
    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        run = running.get()
        with no_grad():
            answer = fn(ctx, *args)
        if run is not None:
            run.refusal = ONCE.format(title=run.node.title)
        return answer

    return wrapper
