"""Derivatives of functions under torch.autograd.functional's names.

`func` is a function of tensors; `inputs` is a tensor, an array, a float or a list of numbers, or a tuple of them. All results are nested as the function's
inputs and outputs are. With `create_graph` the results are tracked; with `strict` an output that does not depend on an
input raises an error instead of giving zero. `pullback.func` has composable forms, which also accept nested containers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .._core.errors import size
from .._core.modes import enable_grad, restoring
from .._core.primitives import Carrier, Function
from .._tape import backward
from ..func import jacobians, live
from ..func.levels import tensor_of, tensors

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Tensor, TensorLike

    Single: TypeAlias = TensorLike | list[Any]  # numbers, nested or not, count as one tensor
    Several: TypeAlias = tuple[TensorLike | list[Any], ...]
    Operands: TypeAlias = Single | Several
    Tensors: TypeAlias = Tensor | tuple[Tensor, ...]

T = TypeVar("T")

UNTRACKED = (
    "Output {index} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
INDEPENDENT = (
    "Output {index} of the user-provided function is independent of input {place}. This is not allowed in strict mode."
)
CONSTANT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {index} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)


@overload
def jacobian(
    func: Callable[..., Tensor],
    inputs: Single,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def jacobian(
    func: Callable[..., Tensor],
    inputs: Several,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[Tensor, ...]: ...
@overload
def jacobian(
    func: Callable[..., tuple[Tensor, ...]],
    inputs: Single,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[Tensor, ...]: ...
@overload
def jacobian(
    func: Callable[..., tuple[Tensor, ...]],
    inputs: Several,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[tuple[Tensor, ...], ...]: ...
@restoring
def jacobian(
    func: Function,
    inputs: Operands,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensors | tuple[Tensors, ...]:
    """The Jacobian of a function: for each pair of output and input, a tensor of the output's shape and the input's.

    All rows are computed in one pass, whether `vectorize` is set or not; `strategy="forward-mode"`, which needs
    `vectorize=True` as in torch, computes columns.

    Raises
    ------
    TypeError
        If inputs or outputs are not tensors.
    RuntimeError
        With `strict`, if an output does not depend on an input.
    NotImplementedError
        If forward mode is combined with an option that it does not support.

    >>> import pullback
    >>> from pullback.autograd.functional import jacobian
    >>> jacobian(lambda x: x * x.sum(), pullback.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    _check_strategy(strategy, create_graph, strict, vectorize)
    if strategy == "forward-mode":
        given, single = _inputs(inputs, "jacobian")
        kinds: list[bool] = []

        def of_tensors(*moving: Tensor) -> tuple[Tensor, ...]:
            ys, alone = _outputs(func(*moving), "jacobian", strict)
            kinds.append(alone)
            return tuple(ys)

        rows = jacobians.jacfwd(of_tensors, tuple(range(len(given))))(*given)
        return _single(tuple(_single(row, single) for row in rows), kinds[-1])
    with enable_grad():
        variables, single = _variables(inputs, "jacobian", create_graph)
        outputs, alone = _outputs(func(*variables), "jacobian", strict)
        found: tuple[Tensors, ...] = tuple(
            _single(_rows(y, index, variables, create_graph, strict), single) for index, y in enumerate(outputs)
        )
    return _single(found, alone)


def _check_strategy(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
            "either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`."
            )


def _rows(y: Tensor, index: int, variables: Sequence[Tensor], create_graph: bool, strict: bool) -> tuple[Tensor, ...]:
    """The Jacobians of one output; for inputs that it does not depend on zeros, or an error."""
    if strict:
        for place, used in enumerate(_used(y, variables)):
            if not used:
                raise RuntimeError(INDEPENDENT.format(index=index, place=place))
    found: tuple[Tensor, ...] = live.second(y, y, variables, create_graph=create_graph)
    if strict and create_graph:
        _require_tracked(found)
    return found


def _used(y: Tensor, variables: Sequence[Tensor]) -> list[bool]:
    zeros = tensor_of(np.zeros(tuple(y.shape), y._dtype))
    pulled = backward.grad(y, variables, zeros, retain_graph=True, allow_unused=True)
    return [g is not None for g in pulled]


def _require_tracked(found: Sequence[Tensor]) -> None:
    for place, part in enumerate(found):
        if not part.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {place}. This is not allowed in "
                "strict mode when create_graph=True."
            )


@overload
def hessian(
    func: Callable[..., Tensor],
    inputs: Single,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def hessian(
    func: Callable[..., Tensor],
    inputs: Several,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> tuple[tuple[Tensor, ...], ...]: ...
@restoring
def hessian(
    func: Function,
    inputs: Operands,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensors | tuple[Tensors, ...]:
    """The second derivatives of a scalar function: for each pair of inputs a tensor of both their shapes.

    Raises
    ------
    RuntimeError
        If the function returns more than one element; with `strict`, if its gradient does not depend on an input.
    TypeError
        If inputs or the output are not tensors.

    >>> import pullback
    >>> from pullback.autograd.functional import hessian
    >>> hessian(lambda x: x.prod(), pullback.tensor([2.0, 3.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    _check_strategy(outer_jacobian_strategy, create_graph, strict, vectorize)
    with enable_grad():
        variables, single = _variables(inputs, "hessian", create_graph)
        y = _scalar(func(*variables), "hessian", strict)
        gradients: Sequence[Tensor | None] = [None] * len(variables)
        if y.requires_grad:
            gradients = backward.grad(y, variables, create_graph=True, allow_unused=True)
        found: list[Tensors] = []
        for place, (g, a) in enumerate(zip(gradients, variables, strict=True)):
            if g is None and strict:
                raise RuntimeError(INDEPENDENT.format(index=0, place=place))
            if strict and not all(_used(g, variables) if g is not None and g.requires_grad else [False]):
                raise RuntimeError(CONSTANT.format(index=place))
            found.append(_single(live.second(g, a, variables, create_graph=create_graph), single))
    return _single(tuple(found), single)


@overload
def vjp(
    func: Callable[..., Tensor],
    inputs: Single,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def vjp(
    func: Callable[..., Tensor],
    inputs: Several,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
@overload
def vjp(
    func: Callable[..., tuple[Tensor, ...]],
    inputs: Single,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[tuple[Tensor, ...], Tensor]: ...
@overload
def vjp(
    func: Callable[..., tuple[Tensor, ...]],
    inputs: Several,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]: ...
@restoring
def vjp(
    func: Function, inputs: Operands, v: Operands | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(outputs, v @ J): the function's outputs, and its vector-Jacobian product.

    v has the outputs' shapes; it may be left out for a single output of one element.

    >>> import pullback
    >>> pullback.autograd.functional.vjp(lambda x: x * x, pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        variables, single = _variables(inputs, "vjp", create_graph)
        outputs, alone = _outputs(func(*variables), "vjp", strict)
        cotangents = _vector(v, outputs, alone, "vjp", "if the user-provided function returns a single Tensor")
        found = _pulled(outputs, variables, cotangents, create_graph, strict)
        if strict and create_graph:
            _require_tracked(found)
    return _finished(outputs, alone, create_graph), _single(found, single)


@overload
def jvp(
    func: Callable[..., Tensor],
    inputs: Operands,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def jvp(
    func: Callable[..., tuple[Tensor, ...]],
    inputs: Operands,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]: ...
@restoring
def jvp(
    func: Function, inputs: Operands, v: Operands | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensors, Tensors]:
    """(outputs, J @ v): the function's outputs, and its Jacobian-vector product, computed by two backward passes.

    v has the inputs' shapes; it may be left out for a single input of one element. `func.jvp` needs no graph.

    >>> import pullback
    >>> pullback.autograd.functional.jvp(lambda x: x * x, pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        variables, single = _variables(inputs, "jvp", create_graph)
        tangents = _vector(v, variables, single, "jvp", "if the input to the user-provided function is a single Tensor")
        outputs, alone = _outputs(func(*variables), "jvp", strict)
        starts = [tensor_of(np.zeros(tuple(y.shape), y._dtype)).requires_grad_() for y in outputs]
        pulled = _pulled(outputs, variables, starts, True, strict)
        found = _pulled(pulled, starts, tangents, create_graph, False)
        if strict and create_graph:
            _require_tracked(found)
    return _finished(outputs, alone, create_graph), _single(found, alone)


@overload
def vhp(
    func: Callable[..., Tensor],
    inputs: Single,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def vhp(
    func: Callable[..., Tensor],
    inputs: Several,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
def vhp(
    func: Function, inputs: Operands, v: Operands | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(output, v @ H): the value of a scalar function, and its vector-Hessian product.

    >>> import pullback
    >>> pullback.autograd.functional.vhp(lambda x: (x**3).sum(), pullback.tensor([1.0, 2.0]), pullback.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _second(func, inputs, v, create_graph, strict, "vhp")


@overload
def hvp(
    func: Callable[..., Tensor],
    inputs: Single,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def hvp(
    func: Callable[..., Tensor],
    inputs: Several,
    v: Operands | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
def hvp(
    func: Function, inputs: Operands, v: Operands | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Tensors]:
    """(output, H @ v): the value of a scalar function, and its Hessian-vector product.

    The Hessian is symmetric: the result is that of `vhp`, which costs one pass less than torch's.

    >>> import pullback
    >>> pullback.autograd.functional.hvp(lambda x: (x**3).sum(), pullback.tensor([1.0, 2.0]), pullback.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _second(func, inputs, v, create_graph, strict, "hvp")


@restoring
def _second(
    func: Function, inputs: Operands, v: Operands | None, create_graph: bool, strict: bool, name: str
) -> tuple[Tensor, Tensors]:
    with enable_grad():
        variables, single = _variables(inputs, name, create_graph)
        vector = _vector(v, variables, single, name, "if the input to the user-provided function is a single Tensor")
        y = _scalar(func(*variables), name, strict)
        gradients = _pulled([y], variables, [None], True, strict)
        if strict:
            for place, g in enumerate(gradients):
                if not g.requires_grad:
                    raise RuntimeError(CONSTANT.format(index=place))
        found = _pulled(gradients, variables, vector, create_graph, False)
    return y if create_graph else y.detach(), _single(found, single)


# Conversion of arguments and results


def _inputs(inputs: Operands, name: str) -> tuple[list[Tensor], bool]:
    """The inputs as a list, and whether there was a single tensor."""
    return _tensors(tensors(inputs), f"The inputs given to {name}", "inputs")


def _tensors(values: Tensor | tuple[Tensor, ...] | None, who: str, what: str) -> tuple[list[Tensor], bool]:
    if isinstance(values, Carrier):
        return [values], True
    if not isinstance(values, tuple):
        raise TypeError(
            f"{who} must be either a Tensor or a tuple of Tensors but the given {what} has type {type(values)}."
        )
    for index, value in enumerate(values):
        if not isinstance(value, Carrier):
            raise TypeError(
                f"{who} must be either a Tensor or a tuple of Tensors but the value at index {index} has type {type(value)}."
            )
    return list(values), False


def _variables(inputs: Operands, name: str, create_graph: bool) -> tuple[list[Tensor], bool]:
    """New variables with the values of the inputs; with create_graph they are connected to the tracked inputs."""
    given, single = _inputs(inputs, name)
    fresh = [x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given]
    return fresh, single


def _outputs(outputs: Tensor | tuple[Tensor, ...] | None, name: str, strict: bool) -> tuple[list[Tensor], bool]:
    """A function's result as a list, and whether it was a single tensor."""
    who = f"The outputs of the user-provided function given to {name}"
    found, single = _tensors(outputs, who, "outputs of the user-provided function")
    if strict:
        for index, y in enumerate(found):
            if not y.requires_grad:
                raise RuntimeError(UNTRACKED.format(index=index))
    return found, single


def _scalar(output: Tensor | tuple[Tensor, ...] | None, name: str, strict: bool) -> Tensor:
    """The only output of a function, which must have one element."""
    found, single = _outputs(output, name, strict)
    if not single:
        raise RuntimeError(f"The function given to {name} should return a single Tensor, not a tuple of {len(found)}")
    if found[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element: it has shape "
            f"{tuple(found[0].shape)}"
        )
    return found[0]


def _vector(v: Operands | None, like: Sequence[Tensor], single: bool, name: str, condition: str) -> list[Tensor]:
    """The vector of a product as a list, one tensor for each tensor it is multiplied with."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None {condition} with a single element.")
        return [tensor_of(np.ones(tuple(like[0].shape), like[0]._dtype))]
    given, _ = _tensors(tensors(v), f"The v given to {name}", "v")
    if len(given) != len(like):
        if single:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
    for index, (part, wanted) in enumerate(zip(given, like, strict=True)):
        if tuple(part.shape) != tuple(wanted.shape):
            entry = "" if single else f"Entry {index} in "
            raise RuntimeError(f"{entry}v has invalid size: should be {size(wanted.shape)} but got {size(part.shape)}.")
    return given


def _pulled(
    outputs: Sequence[Tensor],
    variables: Sequence[Tensor],
    cotangents: Sequence[Tensor | None],
    create_graph: bool,
    strict: bool,
) -> tuple[Tensor, ...]:
    """The pullbacks of cotangents; for inputs that are not reached zeros, or an error."""
    tracked = [(y, g) for y, g in zip(outputs, cotangents, strict=True) if y.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(variables)
    if tracked:
        found = backward.grad(
            [y for y, _ in tracked], variables, [g for _, g in tracked], create_graph=create_graph, allow_unused=True
        )
    for place, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {place}. This is not allowed in strict "
                "mode."
            )
    return tuple(
        tensor_of(np.zeros(tuple(x.shape), x._dtype)) if g is None else g for g, x in zip(found, variables, strict=True)
    )


def _finished(outputs: Sequence[Tensor], alone: bool, create_graph: bool) -> Tensors:
    """The function's outputs in the form that is returned to the caller."""
    return _single(tuple(y if create_graph else y.detach() for y in outputs), alone)


def _single(values: tuple[Any, ...], single: bool) -> T | tuple[T, ...]:
    return values[0] if single else values
