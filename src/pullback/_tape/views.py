"""Views and writes: tensors that share memory, and what a write does to their history.

A view remembers its base and the chain of primitives that leads from the base to it. A write changes memory once, in
place, and rebases histories: the target's, or, when the target is a view, its base's and that of every view of it.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence
from operator import call
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.modes import NO_GRAD, RECORD, FieldBlock, Mode, mode
from .._core.primitives import Carrier, Primitive
from . import native
from .cuts import withdraw
from .memory import Storage, followed, owner, protect, storage_of, version, written
from .node import AccumulateGrad, Node, Succeeded, hooks_of, leaf, make, new, node_class, outputs
from .recording import Tape
from .refusals import OF_INFERENCE, UNTRACKED, MarkedView, WithoutHistory

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.shapes import Shape
    from .._core.typing import Aliased, Array, Params, Tensor, Tensors, Value
    from .._tensor.attributes import Attributes
    from .memory import Cell


Step = tuple[Primitive, dict[str, Any]]
COUNTED = "counted"
"""`_inference` of what is detached outside from a tensor that was made in inference mode: its writes count, as any other's."""
ndarray = np.ndarray


def view(primitive: Primitive, tensor: Tensor, **params: Any) -> Any:
    """The result of a primitive that moves no elements, recorded as a view if it shares memory with its input."""
    array, edge = tensor._array, tensor._node
    current = mode.get()
    plain = (
        type(array) is ndarray
        and (current is RECORD or (current is NO_GRAD and edge is None))
        and (edge is not None or tensor._cut is None)
        and tensor._subclass is None
        and isinstance(tensor.interpreter, Tape)
    )
    moved: Any = primitive.forward(array, **params) if plain else None
    several = type(moved) is tuple
    if type(moved) is not ndarray and not several:
        return _tracked(primitive, tensor, params, primitive(tensor, **params))
    node: Node | None = None
    if edge is not None:
        title = primitive.title
        cls = node_class(primitive, title if isinstance(title, str) else title(**params), array.dtype.kind == "c")
        node = make(cls, (edge,), (), params, None if several else moved.shape)
    if not several:
        return _seen(tensor, moved, node, (primitive, params), current)
    ends = itertools.repeat(None) if node is None else outputs(node, [piece.shape for piece in moved])
    steps = [(ops.getitem, {"index": index}) for index in pieces(primitive, params, moved)]
    return tuple(map(_seen, itertools.repeat(tensor), moved, ends, steps, itertools.repeat(current)))


if native.core is not None:
    view = native.viewing("any view", view)


def _seen(tensor: Tensor, moved: Array, node: Node | None, step: Step, current: Mode) -> Tensor:
    """A tensor around an array, as by `wrap` and `track`, which would take twice the time for plain tensors."""
    tape, plain = tensor.interpreter, type(tensor)
    if plain is not tape.boxes:
        result = tape.wrap(moved, node)
        track(tensor, result, step)
        return result
    result = new(plain)
    result._array = moved
    result._node = node
    result._cell = None
    if moved.base is not tensor._array and owner(moved) is not owner(tensor._array):
        return result
    (tensor._storage or storage_of(tensor)).join(result)
    result._base = tensor if tensor._base is None else tensor._base
    result._path = (tensor._path, step)
    if current is not RECORD or tensor._inference or tensor._made_untracked:
        _mark(tensor, result)
    return result


def _tracked(primitive: Primitive, tensor: Tensor, params: Params, result: Tensors) -> Tensors:
    """A result of a primitive that moves no elements, or several of them, recorded as views."""
    if not isinstance(result, tuple):
        track(tensor, result, (primitive, params))
        return result
    for piece, index in zip(result, pieces(primitive, params, result), strict=True):
        track(tensor, piece, (ops.getitem, {"index": index}))
    return result


def pieces(primitive: Primitive, params: Params, result: Sequence[Value]) -> list[tuple[Any, ...]]:
    """The index of each output of unbind and split."""
    before = (slice(None),) * params["axis"]
    if primitive is ops.unbind:
        return [(*before, i, ...) for i in range(len(result))]
    ends = itertools.accumulate(params["sizes"])
    return [(*before, slice(end - size, end)) for size, end in zip(params["sizes"], ends, strict=True)]


def track(base: Tensor, result: Tensor, step: Step) -> None:
    """Record that `result` is `base` seen through one more primitive, if they share memory."""
    array, source = result._array, base._array
    if not isinstance(array, ndarray):
        if isinstance(array, Carrier) and array._apart(source):
            return
    elif array.base is not source and owner(array) is not owner(source):
        return
    attach(base, result, step)


def attach(base: Tensor, result: Tensor, step: Step) -> None:
    """Record that `result` is `base` seen through one more primitive."""
    storage = base._storage or storage_of(base)
    if result._storage is not storage:
        storage.join(result)
    result._base = base if base._base is None else base._base
    result._path = (base._path, step)
    _mark(base, result)


def _mark(base: Tensor, result: Tensor) -> None:
    """Note of a view that it is of inference, as its base, or without the history of its base."""
    inference = bool(base._inference)
    if result._inference is not inference:
        result._inference = inference
    current = mode.get()
    if base._made_untracked or not current.grad:
        result._made_untracked = base._made_untracked or (OF_INFERENCE if current.inference else UNTRACKED)


class Lineage(NamedTuple):
    """What a tensor is a view of: its base and the steps from there, in order, its mark (see `MarkedView`), and its storage."""

    base: Tensor | None
    steps: tuple[Step, ...]
    mark: MarkedView | None
    storage: Storage | None


def lineage(tensor: Tensor) -> Lineage:
    """What a tensor is a view of. Writes of tensors that have one storage count together."""
    return Lineage(tensor._base, steps(tensor._path), tensor._made_untracked, tensor._storage)


def seen_again(tensor: Tensor, way: Sequence[Step], *, tracked: bool, mark: MarkedView | None) -> Tensor:
    """A tensor seen through the steps of another one's lineage, with a history only if that was tracked, and with its mark."""
    if way:
        with FieldBlock(grad=tracked):
            for primitive, params in way:
                tensor = view(primitive, tensor, **params)
    return marked(tensor, mark)


def marked(tensor: Tensor, mark: MarkedView | None) -> Tensor:
    """A tensor with the mark of a view (see `MarkedView`), or without one."""
    tensor._made_untracked = mark
    return tensor


def steps(path: Any) -> tuple[Step, ...]:
    """The views that lead from a base to a tensor, in order; tensors keep them as links, the last one first."""
    found: list[Step] = []
    while path:
        path, step = path
        found.append(step)
    return tuple(reversed(found))


def alias(tensor: Attributes, result: Aliased, *, counted: bool = True) -> Aliased:
    """Record that `result` shares the memory of `tensor` without being a differentiable view of it.

    With `counted=False`, as for `.data`, the writes of each do not count as writes of the other.
    """
    storage = tensor._storage or storage_of(tensor)
    (storage if counted else Storage(storage)).join(result)
    return result


def beside(primitive: Primitive, tensor: Tensor, **params: Any) -> Any:
    """The result of a primitive that moves no elements, in the memory of `tensor`, but not recorded as a view of it."""
    return alias(tensor, primitive(tensor, **params))


def overlaps(tensor: Tensor) -> bool:
    """True if elements of a tensor share memory, as those of an expanded tensor do.

    Inside a transform only views have memory that counts: a write gives any other tensor new values, each its own.
    """
    array = tensor._array
    if tensor.level:
        return tensor._base is not None and _repeats(tensor.stride(), tensor.shape)
    return isinstance(array, ndarray) and 0 in array.strides and _repeats(array.strides, array.shape)


def _repeats(strides: Sequence[int], shape: Sequence[int]) -> bool:
    return 0 not in shape and any(n > 1 and not step for step, n in zip(strides, shape, strict=True))


def check_writable(tensor: Tensor, operation: str, *, region: Any = None, value: object = None) -> None:
    """Raise an error if a write of a value, to a tensor or to the part that an index selects, would make a gradient wrong.

    Nothing has changed yet.
    """
    current = mode.get()
    if tensor._inference is True and not current.inference:
        raise RuntimeError(errors.INFERENCE_WRITTEN)
    array = tensor._array
    if isinstance(array, np.ndarray) and not tensor.level:
        if not array.flags.carray:  # else in order, and writeable
            if region is not None and 0 in array.strides:
                array = array[region]
            if 0 in array.strides and _repeats(array.strides, array.shape):
                raise RuntimeError(errors.overlapping(tensor, operation))
            if not array.flags.writeable:
                raise ValueError(errors.read_only(tensor, operation))
    elif region is None and overlaps(tensor):
        raise RuntimeError(errors.overlapping(tensor, operation))
    if not current.grad:
        return
    base, mark = tensor._base, tensor._made_untracked
    if mark and (
        not isinstance(mark, WithoutHistory) or any(getattr(each, "_node", None) for each in (tensor, base, value))
    ):
        raise RuntimeError(mark.refusal)
    _check_leaf(tensor, operation, part=region is not None)


def _check_leaf(tensor: Tensor, operation: str, *, part: bool = False) -> None:
    """Raise the error of a recorded write to a leaf that requires grad, or to a tracked view whose base is a leaf."""
    base, node = tensor._base, tensor._node
    if base is None and isinstance(node, AccumulateGrad):
        raise RuntimeError((errors.leaf_view_write if part else errors.leaf_write)(tensor, operation))
    if base is not None and (node is not None or base._node is not None) and base.is_leaf:
        raise RuntimeError(errors.leaf_view_write(tensor, operation))


def write(target: Tensor, result: Tensor, operation: str) -> Tensor:
    """Write a result into the target: it keeps its memory and gets a new history."""
    check_writable(target, operation, value=result)
    if result._cut is not None:
        withdraw(result._cut, target)
    if result.level > target.level:
        enlist(target, result, operation)
    if tuple(result.shape) != tuple(target.shape):
        raise RuntimeError(errors.written_shape(target, result, operation))
    if result._dtype != target._dtype:
        if not dtypes.can_cast(result._dtype, target._dtype):
            raise RuntimeError(errors.written_dtype(target, result, operation))
        result = ops.astype(result, dtype=target._dtype, source=result._dtype)
    if target.level:
        exchange_all(target, result)
    else:
        rebase(target, result, replacing(target, result))
    return target


# A write changes memory, then histories: of the target or its base, and of its views. Python may look for a signal after any
# call, and memory may run out. So all that can fail comes first, and what is left, the writes proper, are steps that one call
# of a function written in C carries out: the first is that of the memory, and only that one can fail.

Steps = list[tuple[Any, ...]]
_put = object.__setattr__


def carry_out(writes: Steps) -> None:
    """Call the functions written in C, each with its arguments, without looking for a signal in between."""
    deque(itertools.starmap(call, writes), 0)


def stepped(target: Tensor, args: Sequence[object], result: Tensor, name: str) -> Tensor:
    """An untracked result that is to be written in place: that of a comparison of tracked tensors, with derivative zero.

    So comparisons leave a tracked tensor tracked, as in torch.
    """
    if result is NotImplemented or result._node is not None or result._dtype.kind != "b":
        return result
    tracked = [x for x in (target, *args) if isinstance(x, Carrier) and x._node is not None]
    if not tracked or not mode.get().grad or target._dtype.kind not in "fc":
        return result
    if result._dtype != target._dtype:
        result = ops.astype(result, dtype=target._dtype, source=result._dtype)
    return ops.drawn(result, *tracked, label=f"{name.title().replace('_', '')}Backward{len(args)}")


def enlist(target: Tensor, value: Tensor, operation: str) -> None:
    """Before a value of a transform is written to a tensor of a lower level: make the tensor one of that transform's.

    Only a tensor that was made inside the transform, with all that lies in its memory, can become one.
    """
    interpreter = value.interpreter
    since = getattr(interpreter, "since", math.inf)
    base = target if target._base is None else target._base
    family = (
        [base] if base._storage is None else [base, *(each for each in base._storage.tensors() if each is not base)]
    )
    if base._since < since or any(each._base is not base or each._subclass for each in family[1:]) or base._subclass:
        raise RuntimeError(errors.captured_write(target, operation, value))
    copies = [interpreter.enlist(each._shallow_copy()) for each in family]
    if any(copy.level < value.level for copy in copies):
        raise RuntimeError(errors.captured_write(target, operation, value))
    carry_out(
        [
            (_put, each, name, None if name in {"_node", "_cell"} else getattr(copy, name))
            for each, copy in zip(family, copies, strict=True)
            for name in ("__class__", "_array", "_node", "_cell", *copy._held)
        ]
    )


def exchange_all(target: Tensor, result: Tensor) -> None:
    """A write at the level of a transform, where arrays are never changed: the target and its views get new values."""
    base = target if target._base is None else target._base
    value = result if target is base else ops.overwrite(base, result, path=steps(target._path))
    _take(base, value)
    written(base)
    for member in base._storage.tensors() if base._storage is not None else ():
        if member._base is base:
            _take(member, ops.replay(base, path=steps(member._path)))
    _tell(base, {id(base)})


def _tell(base: Tensor, told: set[int]) -> None:
    """Pass the values of a base at a level to its detached aliases, which keep histories of their own."""
    for other in base._storage.tensors() if base._storage is not None else ():
        if other._base is not None or id(other) in told:
            continue
        if other._origin is not None and other._origin[0] is base:
            _see(other, ops.replay(_plain(base), path=steps(other._origin[1])))
        elif base._origin is not None and base._origin[0] is other:
            _see(other, ops.overwrite(_plain(other), _plain(base), path=steps(base._origin[1])))
        else:
            continue
        told.add(id(other))
        assert other._storage is not None
        for member in other._storage.tensors():
            if member._base is other:
                _see(member, ops.replay(_plain(other), path=steps(member._path)))
        _tell(other, told)


def _plain(tensor: Tensor) -> Tensor:
    """The values of a tensor at its level, without history."""
    values = tensor._shallow_copy()
    values._cut_off("detach")
    return values


def _see(target: Tensor, value: Tensor) -> None:
    """Replace the values of a tensor by those of another of its level; its histories, here and on lower levels, stay."""
    inner, found = target._array, value._array
    if isinstance(inner, Carrier) and (not inner.level or (isinstance(found, Carrier) and found.level == inner.level)):
        beneath = inner._shallow_copy()
        if isinstance(found, Carrier):
            _see(beneath, found)
        else:
            exchange(beneath, found)
        found = beneath
    exchange(target, found)
    for name in target._held:
        if name not in target._histories:
            setattr(target, name, getattr(value, name))


def _take(target: Tensor, value: Tensor) -> None:
    """Replace the values of a tensor by those of another of its level."""
    exchange(target, value._array)
    if mode.get().grad:
        set_node(target, value._node)
    for name in target._held:
        setattr(target, name, getattr(value, name))


def replacing(target: Tensor, result: Tensor) -> Steps:
    """The steps that write a result's values into the target's memory; graphs keep the values that they have saved.

    Memory that nothing else can see is simply exchanged, for such with the same order of axes: the graph keeps the old
    array, and nothing is copied. What graphs keep of the result is then kept of the target, too: the next write leaves
    them that.
    """
    old, array = target._array, result._array
    if not isinstance(old, ndarray):
        if getattr(old, "_memory", None) is None:
            return [*_exchanging(target, array), counting(target)]
        protect(target)
        return [(old.assign, array), counting(target)]
    if target._storage is None and old.base is None and array.base is None and array.strides == old.strides:
        return [*_exchanging(target, array, result._cell), counting(target)]
    protect(target)
    return [(np.copyto, old, array), counting(target)]


def replace(target: Tensor, result: Tensor) -> None:
    """Write a result's values into the target's memory."""
    carry_out(replacing(target, result))


def counting(tensor: Tensor) -> tuple[Any, ...]:
    """The step that counts a write."""
    storage = tensor._storage
    return (
        (_put, tensor, "_writes", tensor._writes + 1)
        if storage is None
        else (_put, storage, "version", storage.version + 1)
    )


def _exchanging(tensor: Attributes, array: Value, cell: Cell | None = None) -> Steps:
    """The steps that replace the array of a tensor, whose cell that of another is from now on."""
    found: Steps = [(_put, tensor, "_array", array), (_put, tensor, "_cell", cell)]
    if isinstance(tensor._node, AccumulateGrad):
        found += [(_put, tensor._node, "array", array), (_put, tensor._node, "shape", array.shape)]
    return found


def exchange(tensor: Attributes, array: Value) -> None:
    """Replace the array of a tensor."""
    carry_out(_exchanging(tensor, array))


def move_in(tensor: Attributes, other: Tensor) -> None:
    """Have a tensor share the memory of another, which counts its own writes."""
    storage = Storage(other._storage or storage_of(other))
    storage.version = version(tensor)
    storage.members.append(ref(tensor))
    writes = [*_exchanging(tensor, other._array), (_put, tensor, "_storage", storage)]
    if type(tensor._node) is AccumulateGrad:
        writes.append((_put, tensor._node, "grad_dtype", other._dtype))
    carry_out(writes)


def begun(writes: Steps) -> Steps:
    """The steps that are left when histories are prepared: none if somebody looks at each result, and so at memory as it will be."""
    if mode.get().compute is None:
        return writes
    carry_out(writes)
    return []


def rebase(target: Tensor, result: Tensor, writes: Steps) -> None:
    """Write a result over all of the target, by these steps, and give it the result's history."""
    if target._base is not None:
        rebase_region(target._base, result, steps(target._path), writes)
        return
    current = mode.get()
    recorded = current.grad and (result._node is not None or target._node is not None or target._detached)
    if recorded:
        writes = begun(writes)
        writes += [
            *_turning(target, result._node),
            (_put, target, "_detached", False),
            (_put, target, "_cut", result._cut),
        ]
        writes += _refreshing(target, result)
    carry_out(writes if recorded else [*writes, *_following(target)])
    if current.watcher is not None:
        current.watcher.wrote(target, recorded, result)


def rebase_region(base: Tensor, value: Value, path: tuple[Step, ...], writes: Steps) -> None:
    """Write a value to a region of a base, a chain of views away, by these steps, and record that it is there."""
    edges = (base._node, value._node if isinstance(value, Carrier) else None)
    current = mode.get()
    recorded = edges != (None, None) and current.grad
    if recorded:
        writes = begun(writes)
        out = base.interpreter.record(
            ops.overwrite, (base, value), edges, base._array, {"path": path}, conjugated=base._dtype.kind == "c"
        )
        writes += _turning(base, out._node)
        writes += _refreshing(base, out)
    carry_out(writes if recorded else [*writes, *_following(base)])
    if current.watcher is not None:
        current.watcher.wrote(base, recorded, value)


def _refreshing(base: Tensor, new: Tensor, *, late: bool = False) -> Steps:
    """The steps that give every live view of a base the history of what is written to the base; with `late` those without one."""
    found: Steps = []
    for member in base._storage.tensors() if base._storage is not None else ():
        if member._base is base and not (late and member._node is not None):
            mark = member._made_untracked
            node = mark.spoiled(member, new._node) if mark else ops.replay(new, path=steps(member._path))._node
            found += _turning(member, node)
    return found


def _following(base: Tensor) -> Steps:
    """The steps that let views follow a base, after a write that leaves no record."""
    if not followed(base):
        return []
    with FieldBlock(grad=True):
        return _refreshing(base, base, late=base._node is not None)


def unrecorded(tensor: Tensor, writes: Steps) -> None:
    """Carry out a write that leaves no record."""
    carry_out([*writes, *_following(tensor if tensor._base is None else tensor._base)])


def _turning(tensor: Tensor, node: Node | None) -> Steps:
    """The steps to a new history for a tensor; a retained gradient follows, hooks stay with the value they were set on."""
    old = tensor._node
    found: Steps = [(_put, tensor, "_node", node)]
    if tensor._leaf is not None:
        found.append((_put, tensor, "_leaf", None))
    if node is not None and old is not None and old.hooks is not None and old.hooks.retained is not None:
        found += [(_put, hooks_of(node), "retained", old.hooks.retained), (_put, old.hooks, "retained", None)]
    return found


def set_node(tensor: Tensor, node: Node | None) -> None:
    """A new history for a tensor."""
    carry_out(_turning(tensor, node))


def become(target: Tensor, function: Callable[[Tensor], Tensor], operation: str) -> Tensor:
    """Turn a tensor into a view of itself in place, by a function: the same memory with other axes.

    It stays the base of its views, whose ways from it begin with the way back to the old axes. The history of a tensor that has
    one goes on under `no_grad`, too: its values are the same, and its gradient must have their axes.
    """
    if mode.get().grad:
        _check_leaf(target, operation)
    if target._inference is True and not mode.get().inference:
        raise RuntimeError(errors.INFERENCE_WRITTEN)
    before = target._shallow_copy() if target._held else target.interpreter.wrap(target._array, target._node)
    for name in ("_base", "_path", "_made_untracked", "_inference", "_cut"):
        setattr(before, name, getattr(target, name))
    storage_of(target).join(before)
    with FieldBlock(grad=mode.get().grad or target.grad_fn is not None):
        result = function(before)
    writes: Steps = [*_exchanging(target, result._array), counting(target)]
    writes += [(_put, target, name, getattr(result, name)) for name in target._held]
    back = _undoing(steps(result._path)[len(steps(before._path)) :], tuple(before.shape))
    views = [member for member in storage_of(target).tensors() if member._base is target]
    if back is not None:
        writes += [(_put, member, "_path", _linked((*back, *steps(member._path)))) for member in views]
    else:
        writes += [(_put, member, "_base", before) for member in views]
    if target._base is not None or (views and back is None):
        writes += [(_put, target, name, getattr(result, name)) for name in ("_base", "_path", "_made_untracked")]
    if isinstance(target._node, AccumulateGrad):
        writes += _succeeding(target, target._node, result._array, back) if back else []
    elif target._node is not result._node:
        writes += _turning(target, result._node)
    carry_out(writes)
    return target


def _undoing(turned: Sequence[Step], shape: Shape) -> tuple[Step, ...] | None:
    """The views that lead from other axes of a tensor back to its shape; None where elements were left out."""
    back: list[Step] = []
    for primitive, params in reversed(turned):
        if primitive is ops.permute_dims:
            back.append((primitive, {**params, "axes": tuple(np.argsort(params["axes"]).tolist())}))
        elif primitive is ops.matrix_transpose:
            back.append((primitive, params))
        elif primitive is ops.squeeze or primitive is ops.expand_dims:
            back.append((ops.reshape, {"shape": shape}))
        elif primitive is ops.as_strided:
            return None
    return tuple(back)


def _succeeding(target: Tensor, old: AccumulateGrad, array: Array, back: tuple[Step, ...]) -> Steps:
    """The steps after which a leaf with other axes has a node of its own, to which the old one, that graphs know, sends gradients."""
    node = leaf(target, array)
    with FieldBlock(grad=True):
        way = ops.replay(target.interpreter.wrap(array, node), path=back)._node
    assert way is not None
    node.seq, way.seq = old.seq - 2, old.seq - 1  # a leaf runs after all that leads to it
    moved = [
        (_put, node, name, getattr(old, name)) for name in ("grad", "grad_dtype", "post", "hooks", "code", "offset")
    ]
    turned: Steps = [(_put, old, "__class__", Succeeded), (_put, old, "edges", (way,)), (_put, old, "hooks", None)]
    turned.append((_put, old, "shape", old.shape))
    return [*moved, *turned, (_put, target, "_node", node)]


def _linked(found: Sequence[Step]) -> tuple[Any, ...]:
    """The views that lead from a base to a tensor as tensors keep them: see `steps`."""
    path: tuple[Any, ...] = ()
    for step in found:
        path = (path, step)
    return path


def remake(self: Any, shape: tuple[int, ...]) -> None:
    """Give a tensor another shape in place, in its own memory if that is large enough; graphs keep the values that they have saved."""
    protect(self)
    count = math.prod(shape)
    memory = _memory_from(self._array)
    if count > memory.size:
        new = np.empty(count, memory.dtype)
        new[: memory.size] = memory
        self._writes = version(self)
        self._storage, self._base, self._path = None, None, ()
        memory = new
    exchange(self, memory[:count].reshape(shape))


def _memory_from(array: Array) -> Array:
    """The memory of an array, in order from its first element on, as far as that is known to be there."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    whole = owner(array)
    if not isinstance(whole, ndarray) or whole.dtype != array.dtype or not whole.flags.forc:
        return array.reshape(-1)
    start = (array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // array.itemsize
    return whole.ravel(order="K")[start:]
