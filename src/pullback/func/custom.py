"""Custom functions under the transforms: the user's jvp and vmap, and the batching rule generated from a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import ops
from .._core.errors import size
from .._core.modes import FieldBlock, innermost, restoring
from .._core.primitives import Carrier, Primitive
from .._core.shapes import sum_to
from .._core.trees import flatten, spread, unflatten
from .._tensor.custom import Custom, CustomCall, Meta, among, expandable, tensor_of
from .._tensor.function import NO_JVP, Function, FunctionCtx, FunctionPrimitive, backward_of, has_context
from . import batching_rules, pushforwards
from .arguments import Argument
from .levels import inner
from .mapping import vmap

if TYPE_CHECKING:
    from .._core.typing import Params, Tensor, Value


EXTENDING = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"

# 1. Tangents


@restoring
def pushed(
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: tuple[Value, ...],
    params: Params,
) -> tuple[Tensor | None, ...]:
    """The tangents of a custom function's outputs, computed by its jvp."""
    assert isinstance(primitive, FunctionPrimitive)
    function, call = primitive.function, params["call"]
    if not getattr(innermost.get(), "takes_old_form", False):
        primitive.require_context()
    if function.jvp is Function.jvp:
        raise NotImplementedError(NO_JVP.format(function.__name__))
    if has_context(function):
        ctx = FunctionCtx()
        ctx.needs_input_grad = (False,) * len(call.constants)
        with FieldBlock(grad=False), among((*primals, *y)):
            function.setup_context(ctx, call.filled(primals), call.assembled(y))
        saved = ctx._saved if ctx._for_forward is None else ctx._for_forward
    else:
        ctx, saved = call.context, call.pushed
    moves: list[Tensor | None] = [None] * len(call.constants)
    for place, primal, tangent in zip(call.places, primals, tangents, strict=True):
        meta = Meta.of(tensor_of(primal))
        if tangent is not None:
            moves[place] = tensor_of(tangent)
        elif ctx._materialize and meta is not None and meta.dtype.kind in "fc":
            moves[place] = meta.zeros()
    with among((*primals, *moves)):
        answer = ctx._pushing(function.jvp, moves, saved)
    return _checked_tangents(function, call, y, answer)


def _checked_tangents(
    function: type[Function], call: CustomCall, y: Sequence[Value], answer: object
) -> tuple[Tensor | None, ...]:
    """The tangents that jvp returned, checked: those of the tensors among the outputs."""
    answers = answer if isinstance(answer, tuple) else (answer,)
    count = len(call.template)
    if len(answers) != count:
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {count} but got {len(answers)}): "
            f"jvp of {function.__name__} returns one for each output of forward, None for one that is not a tensor"
        )
    positions = call.positions()
    tangents = []
    for number, tangent in enumerate(answers):
        out = tensor_of(y[positions.index(number)]) if number in positions else None
        if out is not None and out._dtype.kind in "fc":
            tangents.append(_checked_tangent(function, number, out, tangent))
            continue
        if tangent is not None:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {number}, but  the corresponding forward output is not a "
                f"differentiable Tensor.You should return None at that position instead. This is jvp of {function.__name__}"
            )
        if out is not None:
            tangents.append(None)
    return tuple(tangents)


def _checked_tangent(function: type[Function], number: int, out: Tensor, tangent: object) -> Tensor | None:
    if tangent is None:
        return None
    if not isinstance(tangent, Carrier):
        raise RuntimeError(
            f"expected Variable or None (got {type(tangent).__name__}) for grad output {number}.: jvp of "
            f"{function.__name__} returns a tensor of shape {tuple(out.shape)} there, or None"
        )
    if tuple(tangent.shape) != tuple(out.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {size(out.shape)} while the given forward gradient is of size "
            f"{size(tangent.shape)}: it is output {number} of {function.__name__}"
        )
    return tangent if tangent._dtype == out._dtype else ops.astype(tangent, dtype=out._dtype, source=tangent._dtype)


# 2. Batches


class VmapInfo(NamedTuple):
    """The first argument of a function's `vmap`: the batch size, and how random numbers are drawn inside."""

    batch_size: int
    randomness: str


@restoring
def batched(count: int, primitive: Primitive, args: list[Argument], params: Params) -> tuple[Value, ...]:
    """The outputs for all examples of a batch."""
    assert isinstance(primitive, FunctionPrimitive)
    function, call = primitive.function, params["call"]
    primitive.require_context()
    dims: list[int | None] = [None] * len(call.constants)
    for place, arg in zip(call.places, args, strict=True):
        dims[place] = 0 if arg.batched else None
    given = call.filled([arg.value for arg in args])
    own = function.vmap is not Function.vmap
    if function.generate_vmap_rule and own:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {EXTENDING}"
        )
    if not own and not function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {EXTENDING}"
        )
    info = VmapInfo(count, getattr(innermost.get(), "randomness", "error"))
    with among(given):
        if own:
            outputs, places = _two(function.vmap(info, tuple(dims), *given))
        else:
            outputs, places = on_batches(function, tuple(dims)).apply(*given), 0
        return _examples_first(count, function, call, outputs, places)


def _two(answer: object) -> tuple[Any, Any]:
    if not isinstance(answer, tuple) or len(answer) != 2:
        got = f"{len(answer)} returns" if isinstance(answer, tuple) else f"a {type(answer)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
            f"with the output. Got {got} instead"
        )
    return answer


def _examples_first(
    count: int, function: type[Function], call: CustomCall, outputs: object, out_dims: object
) -> tuple[Value, ...]:
    """The outputs with the batch axis of each tensor moved to the front."""
    leaves, structure = flatten(outputs)
    dims = spread(out_dims, structure)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{flatten(out_dims)[1]} but output has structure {structure}. {EXTENDING}"
        )
    moved = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if not isinstance(leaf, Carrier):
            moved.append(leaf)
        elif dim is None:
            moved.append(leaf.expand(count, *leaf.shape))
        elif not -leaf.ndim <= dim < leaf.ndim or leaf.shape[dim] != count:
            raise RuntimeError(
                f"vmap of {function.__name__} returned an output of shape {tuple(leaf.shape)} with out_dims {dim}: that axis "
                f"must exist and count the {count} examples of the batch"
            )
        else:
            moved.append(leaf.movedim(dim, 0))
    call.aliases, call.dirty = {}, {}
    return tuple(map(inner, call.taken_apart(unflatten(structure, moved))))


# The batched form of a function is again a function; its forward, backward and jvp are the original's under vmap. It
# saves the batched tensors. An input that is saved is saved as that same input, so that higher derivatives reach it.


class _Noted(FunctionCtx):
    """The ctx shared by all examples."""

    def __init__(self, ctx: FunctionCtx, saved: tuple[Tensor | None, ...] = ()) -> None:
        self.needs_input_grad = ctx.needs_input_grad
        self._pushed = saved


def _attributes(ctx: _Noted) -> dict[str, Any]:
    """The attributes that the user set on a ctx."""
    return {name: value for name, value in vars(ctx).items() if name not in vars(FunctionCtx)}


class _Examples(NamedTuple):
    """What `setup_context` produced: batch axes of the saved tensors, one example's arguments, attributes."""

    saved_dims: list[int | None]
    metas: list[Meta | None]
    attributes: dict[str, Any]


def on_batches(function: type[Function], dims: tuple[int | None, ...]) -> type[Function]:
    """The function that computes a batch of examples; `dims` are the batch axes of the arguments."""
    members = {
        "forward": staticmethod(_forward(function, dims)),
        "setup_context": staticmethod(_setup_context(function, dims)),
        "backward": staticmethod(_backward(function, dims)),
        "generate_vmap_rule": True,
    }
    if function.jvp is not Function.jvp:
        members["jvp"] = staticmethod(_jvp(function, dims))
    return type(f"Vmapped{function.__name__}", (Function,), members)


def _forward(function: type[Function], dims: tuple[int | None, ...]) -> Callable[..., Any]:
    def forward(*args: Any) -> Any:
        nest = CustomCall(())
        outs = vmap(lambda *examples: nest.taken_apart(function.forward(*examples)), in_dims=dims)(*args)
        return nest.assembled(outs)

    forward.__signature__ = inspect.signature(function.forward)  # type: ignore[attr-defined]  # for the user's parameter names
    return forward


def _setup_context(function: type[Function], dims: tuple[int | None, ...]) -> Callable[..., None]:
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
        noted = _Noted(ctx)
        outputs = CustomCall(())
        batches = outputs.taken_apart(output)
        metas: list[Meta | None] = []
        origins: list[int | None] = []

        def one(inputs: tuple[Any, ...], outs: list[Tensor]) -> list[Tensor]:
            metas.extend(map(Meta.of, inputs))
            function.setup_context(noted, inputs, outputs.assembled(outs))
            if noted._dirty:
                raise RuntimeError(
                    f"vmap over {function.__name__}, which writes to its inputs (mark_dirty), is not supported with "
                    "generate_vmap_rule=True: write the vmap staticmethod"
                )
            noted._tensors(noted._saved)
            known = [*zip(inputs, range(len(inputs)), strict=True), *zip(outs, range(-len(outs), 0), strict=True)]
            origins.extend(next((n for other, n in known if other is t), None) for t in noted._saved)
            return [t for t, n in zip(noted._saved, origins, strict=True) if n is None and t is not None]

        computed = iter(vmap(one, in_dims=(dims, 0))(inputs, batches))
        saved: list[Tensor | None] = []
        saved_dims: list[int | None] = []
        for tensor, origin in zip(noted._saved, origins, strict=True):
            if origin is None:
                saved.append(None if tensor is None else next(computed))
            else:
                saved.append(inputs[origin] if origin >= 0 else batches[origin])
            saved_dims.append(None if tensor is None else dims[origin] if origin is not None and origin >= 0 else 0)
        ctx.save_for_backward(*saved)
        ctx._examples = _Examples(saved_dims, metas, _attributes(noted))
        ctx.set_materialize_grads(noted._materialize)

    return setup_context


def _backward(function: type[Function], dims: tuple[int | None, ...]) -> Callable[..., Any]:
    def backward(ctx: Any, *g: Tensor | None) -> Any:
        answered: list[bool] = []
        misfit: list[tuple[object, ...]] = []

        def one(saved: list[Tensor], *g: Tensor | None) -> list[Tensor]:
            noted = _Noted(ctx, tuple(saved))
            vars(noted).update(ctx._examples.attributes)
            answer = backward_of(function)(noted, *g)
            answers = answer if isinstance(answer, tuple) else (answer,)
            if len(answers) < len(dims) or not all(r is None or isinstance(r, Carrier) for r in answers):
                misfit.append(answers)  # refused with a reason by the receiver
                return []
            answered.extend(r is not None for r in answers)
            return [
                sum_to(ops, r, meta.shape) if meta is not None and expandable(meta.shape, tuple(r.shape)) else r
                for r, meta in zip(answers, [*ctx._examples.metas, *[None] * len(answers)], strict=False)
                if r is not None
            ]

        in_dims = (ctx._examples.saved_dims, *(None if each is None else 0 for each in g))
        found = iter(vmap(one, in_dims=in_dims)(list(ctx.saved_tensors), *g))
        if misfit:
            return misfit[0]
        rows = [next(found) if one_has else None for one_has in answered]
        shared = [dim is None for dim in dims] + [False] * len(rows)
        return tuple(r.sum(0) if r is not None and alike else r for r, alike in zip(rows, shared, strict=False))

    return backward


def _jvp(function: type[Function], dims: tuple[int | None, ...]) -> Callable[..., Any]:
    def jvp(ctx: Any, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        answered: list[bool] = []

        def one(saved: list[Tensor], *tangents: Tensor | None) -> list[Tensor]:
            noted = _Noted(ctx)
            vars(noted).update(ctx._examples.attributes)
            answer = noted._pushing(function.jvp, tangents, tuple(saved))
            answers = answer if isinstance(answer, tuple) else (answer,)
            answered.extend(t is not None for t in answers)
            return [t for t in answers if t is not None]

        moved = [None if t is None else dim for t, dim in zip(tangents, dims, strict=True)]
        found = iter(vmap(one, in_dims=(ctx._examples.saved_dims, *moved))(list(ctx.saved_tensors), *tangents))
        return tuple(next(found) if one_has else None for one_has in answered)

    return jvp


# 3. Which rule a custom operation has


class Rules(NamedTuple):
    """The pushforward rule and the batching rule of a kind of custom operation."""

    pushed: Callable[..., Any]
    batched: Callable[..., Any]


RULES: dict[type[Custom], Rules] = {FunctionPrimitive: Rules(pushed, batched)}

pushforwards.PUSHFORWARDS["custom"] = lambda xp, primitive, *rest: RULES[type(primitive)].pushed(primitive, *rest)
batching_rules.KINDS["custom"] = lambda count, primitive, *rest: RULES[type(primitive)].batched(count, primitive, *rest)
