"""`out=`: the result of a function, written to existing tensors.

The functions themselves have no such argument. Their public wrappers (`of_tensor` and others) call this module when
`out` is given: the function computes its result as usual, and the result is written like that of an in-place operation.
So `out` may share memory with an operand.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from .. import ops
from .._core import dtypes, errors
from .._core.modes import mode
from .._core.package import package
from .._core.primitives import Carrier, Function
from .._core.sites import warn
from .._tape.views import check_writable, remake, write
from .promotion import cast

RANGES = frozenset({"arange", "linspace", "logspace", "range"})
"""Functions that fill an `out` with the right number of elements in row-major order, whatever its shape."""

TOTALS = frozenset({"sum", "prod", "cumsum", "cumprod"})
"""Functions that first convert their input to the dtype of `out`, even to one of a lower kind."""

TRUTHS = frozenset({"all", "any"})
"""Functions whose `out` is bool or uint8."""

CHOSEN = frozenset("sort msort topk kthvalue mode median nanmedian cummax cummin argmax argmin max min".split())
"""Functions that choose elements: each `out` has the dtype of its result. Of two tensors, max and min are elementwise."""


def into(out: Any, function: Function, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`out`, filled with the result: a tensor, or a tuple with one for each result.

    Raises
    ------
    TypeError
        If `out` is neither a tensor nor a tuple with one tensor for each result.
    RuntimeError
        If a gradient would be lost, or a result does not fit into the dtype of its tensor.
    UserWarning
        If a nonempty tensor is resized to the shape of its result.
    """
    name = function.__name__
    outs = _tensors(name, out)
    inputs = list(_carriers((args, options)))
    _refuse_tracked(name, outs, outs)
    options, flag = _as_out(name, function, inputs, outs, options)
    result = function(*args, **options)
    results = _fitting(name, out, result)
    _refuse_tracked(name, inputs, results)
    for target, value in zip(outs, results, strict=True):
        _check(name if len(inputs) < 2 else {"max": "maximum", "min": "minimum"}.get(name, name), target, value)
    for target, value in zip(outs, results, strict=True):
        _store(name, target, value, inputs)
    if flag:
        outs[0].requires_grad_()
    if isinstance(out, Carrier):
        return out
    return type(result)(*outs) if hasattr(result, "_fields") else tuple(outs)


def _tensors(name: str, out: Any) -> Sequence[Any]:
    """The tensors to write to."""
    outs = out if isinstance(out, (tuple, list)) else [out]
    for each in outs:
        if not isinstance(each, Carrier):
            raise TypeError(
                f"{name}(): argument 'out' must be Tensor, not {type(each).__name__}: {package}.from_numpy(array) is a "
                "tensor in the memory of an array"
            )
    if len({id(each) for each in outs}) < len(outs):
        raise RuntimeError(
            f"unsupported operation: {name}() would write several results to one tensor: give out= a tensor for each"
        )
    return outs


def _carriers(value: Any) -> Iterator[Any]:
    """The tensors among arguments."""
    if isinstance(value, Carrier):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _carriers(item)


def _refuse_tracked(name: str, tensors: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise for tensors whose results would need a history: inexact numbers from tensors that require grad."""
    if not any(result._dtype.kind in "fc" for result in results):
        return
    for tensor in tensors:
        if (tensor.level and not tensor._takes_out) or (tensor.requires_grad and mode.get().grad):
            raise RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                f"arguments requires grad. It is a {errors.kind(tensor)}. Leave out= away, write t.copy_({name}(...)) "
                f"to have the copy recorded, or call it inside with {package}.no_grad()."
            )


def _as_out(
    name: str, function: Function, inputs: Sequence[Any], outs: Sequence[Any], options: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """The options with the dtype of `out`, if the function has a `dtype`, and whether `out` will require grad."""
    parameters = inspect.signature(function).parameters
    flag = options.get("requires_grad", False) is True and "requires_grad" in parameters
    if flag:
        options = options | {"requires_grad": False}
    if len(outs) != 1 or "dtype" not in parameters:
        return options, flag
    wanted = outs[0].dtype
    if (dtype := options.get("dtype")) is not None:
        given = dtypes.as_dtype(dtype)
        if given is not wanted:
            names = [dtypes.type_name(each) for each in (given, wanted)]
            raise RuntimeError(
                f"dtype {names[0]} does not match dtype of out parameter ({names[1]}): leave dtype= away"
            )
    elif name in TOTALS or (
        all(dtypes.can_cast(tensor.dtype, wanted) for tensor in inputs) and not (name == "normal" and inputs)
    ):
        options = options | {"dtype": wanted}
    return options, flag


def _fitting(name: str, out: Any, result: Any) -> Sequence[Any]:
    """The results, one for each tensor in `out`."""
    several = isinstance(result, (tuple, list))
    if several and isinstance(out, Carrier):
        raise TypeError(
            f"{name}(): argument 'out' must be tuple of Tensors, not Tensor: there are {len(result)} results"
        )
    if not several and not isinstance(out, Carrier):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}: there is one result")
    if several and len(result) != len(out):
        raise TypeError(f"{name}(): expected tuple of {len(result)} elements but got {len(out)}: one for each result")
    return result if several else [result]


def _check(name: str, target: Any, value: Any) -> None:
    """Raise for an impossible write, before any is done."""
    if name in TRUTHS:
        if target.dtype not in (dtypes.bool_, dtypes.uint8):
            raise RuntimeError(f"{name} only supports bool tensor for result, got: {target._type_name}")
    elif name in CHOSEN and value.dtype is not target.dtype:
        raise RuntimeError(
            f"{name}(): Expected out tensor to have dtype {value.dtype.name}, but got {target.dtype.name} instead: "
            "what is chosen is not converted"
        )
    elif name == "float_power" and value.dtype is not target.dtype:
        raise RuntimeError(errors.power_dtype("output", name, target, value))
    elif not dtypes.can_cast(value.dtype, target.dtype):
        raise RuntimeError(errors.written_dtype(target, value, f"{name} with out="))
    check_writable(target, name)
    if tuple(value.shape) != tuple(target.shape) and target._node is not None:
        raise RuntimeError(f"cannot resize variables that require grad: out is a {errors.kind(target)}")


def _store(name: str, target: Any, value: Any, inputs: Sequence[Any]) -> None:
    shape = tuple(value.shape)
    if name in RANGES and value.numel() == target.numel():
        value, shape = ops.reshape(value, shape=tuple(target.shape)), tuple(target.shape)
    if shape != tuple(target.shape):
        if target.numel():
            warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(target.shape)}, which does not match the required output shape {list(shape)}. This behavior is "
                "deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
                f"Make it out={package}.empty({shape}), or empty it first, with t.resize_(0)."
            )
        remake(target, shape)
    if any(value._array is tensor._array for tensor in inputs):
        value = ops.clone(value)
    write(target, cast(value, target._dtype), name)
