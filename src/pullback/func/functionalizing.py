"""functionalize: a program with in-place writes, run as one without."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.errors import kind
from .._core.modes import restoring
from .._core.primitives import Carrier, Function, Primitive
from .._core.trees import flatten, mapped, unflatten
from .._tape.views import steps, view
from ..interpreters import Boxed, Interpreter
from .levels import inner, rewritten, tensor_of
from .mapping import name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Given, Params, Result, Returned, Tensor, Value


REMOVALS = ("mutations", "mutations_and_views")


class FunctionalTensor(Boxed):
    """A tensor inside `functionalize`."""

    __slots__ = ()
    _transparent = True
    _takes_out = True


class Functional(Interpreter):
    """The interpreter that computes each operation one level further in, where no tensor is written to."""

    carrier = FunctionalTensor

    def adopt(self, made: Tensor) -> Tensor:
        """A tensor of this level, so that tensors of this level can be written to it."""
        return self.box(inner(made))

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on the values."""
        result = primitive(*[arg._array if self.holds(arg) else inner(arg) for arg in args], **params)
        return self.box(np.asarray(result) if isinstance(result, np.generic) else result)


def functionalize(func: Callable[Given, Returned], *, remove: str = "mutations") -> Callable[Given, Returned]:
    """The function that computes what func computes without writing to tensors while it runs.

    Inside it, the values of every tensor that is created or passed as an argument never change: a write such as
    `t.add_(1)` gives t and its views new values instead. An outer or inner interpreter sees operations without side
    effects. When func returns, each argument that it wrote to is updated once, with `copy_`; so an exception in func
    leaves the arguments unchanged. A tensor that is passed twice is also one tensor inside func.

    Parameters
    ----------
    func
        A function of tensors, of nested tuples, lists, dicts and dataclasses of tensors, and of anything else.
    remove
        'mutations', or 'mutations_and_views': then no result shares memory with an argument.

    Raises
    ------
    RuntimeError
        For another `remove`. When the new function is called: for a write to a tensor that is not one of its arguments,
        for `backward()` inside func, and for a write to an argument that is a leaf and requires grad.

    >>> import pullback
    >>> def centred(x):
    ...     y = x.clone()
    ...     y.view(-1).sub_(x.mean())
    ...     return y
    >>> x = pullback.tensor([1.0, 3.0], requires_grad=True)
    >>> y = pullback.func.functionalize(centred)(x)
    >>> y
    tensor([-1.,  1.], grad_fn=<CopySlices>)
    """
    if remove not in REMOVALS:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            f"remove='mutations', for in-place and out= operations, and remove='mutations_and_views', for views, too"
        )

    return functools.wraps(func)(lambda *args, **kwargs: _run(func, args, kwargs, views=remove == REMOVALS[0]))


@restoring
def _run(func: Function, args: tuple[object, ...], kwargs: dict[str, object], *, views: bool) -> Any:
    """A call of a function whose writes to the arguments are deferred until it returns."""
    leaves, structure = flatten((args, kwargs))
    tensors = {id(leaf): leaf for leaf in leaves if isinstance(leaf, Carrier)}
    with Functional() as interpreter:
        boxes = {key: interpreter.box(inner(tensor)) for key, tensor in tensors.items()}
        before = {key: box._array for key, box in boxes.items()}
        given, named = unflatten(structure, [boxes.get(id(leaf), leaf) for leaf in leaves])
        result = func(*given, **named)
    unwritten = {}
    for key, box in boxes.items():
        if box._array is before[key]:
            unwritten[id(box)] = tensors[key]
        elif not rewritten(box, before[key]):
            raise RuntimeError(
                f"functionalize: {name_of(func)} has changed the axes of an argument in place, which was a "
                f"{kind(tensors[key])} and is one of shape {tuple(box.shape)}. Return the view instead, as t.t()"
            )
    answer = mapped(lambda value: _lowered(interpreter, value, unwritten, views), result)
    for key, box in boxes.items():
        if id(box) not in unwritten:
            tensors[key].copy_(tensor_of(box._array))
    return answer


def _lowered(interpreter: Functional, value: object, unwritten: dict[int, Tensor], views: bool) -> object:
    """A result outside: an unwritten argument itself, or a view of it unless views are removed."""
    if not interpreter.holds(value):
        return value
    if id(value) in unwritten:
        return unwritten[id(value)]
    seen = None if value._base is None else unwritten.get(id(value._base))
    if seen is None:
        return tensor_of(value._array)
    if not views:
        return tensor_of(value._array).clone()
    for primitive, params in steps(value._path):
        seen = view(primitive, seen, **params)
    return seen
