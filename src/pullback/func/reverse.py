"""Reverse mode: grad, grad_and_value, value_and_grad, vjp."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.modes import restoring
from .._core.primitives import Carrier, Function
from .._core.trees import Structure, flatten, mapped, paths, unflatten
from .._tape import reasons
from .._tape.cuts import strictly
from .._tape.seeds import cotangent
from .levels import (
    Level,
    beside,
    chosen,
    compiled_around,
    is_row,
    output_leaves,
    require_numbers,
    require_tensors,
    tensor_of,
    tensors,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Given, Tensor, Value


@compiled_around
def grad(f: Callable[Given, Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[Given, Any]:
    """The function that computes the gradient of a scalar function f.

    Parameters
    ----------
    f
        A function of tensors, or of nested tuples, lists, dicts and dataclasses of tensors, to a 0-d tensor. An array,
        a float or a list of numbers stands for the tensor that `pullback.tensor` makes of it, as in all transforms.
    argnums
        The positional argument to differentiate; for a tuple the result is a tuple.
    has_aux
        If true, f returns (value, aux), and the new function (gradient, aux).

    An argument that f does not depend on has gradient zero. The result is tracked outside if the arguments are.

    Raises
    ------
    RuntimeError
        If f does not return a 0-d tensor, `argnums` does not fit, or an argument holds integers.
    ValueError
        If an argument to differentiate is not a tensor and cannot become one.

    >>> import pullback
    >>> from pullback.func import grad
    >>> grad(grad(lambda x: x**3))(pullback.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(f, argnums, has_aux)

    @functools.wraps(f)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


def grad_and_value(
    f: Callable[Given, Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[Given, Any]:
    """The function that computes the gradient of a scalar function f and its value; otherwise like `grad`.

    With `has_aux` the result is (gradient, (value, aux)).

    Parameters
    ----------
    f
        A function that returns a tensor of one element.
    argnums
        The number of the argument to differentiate by, or several in a tuple.
    has_aux
        The function returns a pair: its result, and something that is passed on as it is.

    >>> import pullback
    >>> pullback.func.grad_and_value(lambda x: (x * x).sum())(pullback.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """
    return _derivative(f, argnums, has_aux)


def value_and_grad(
    f: Callable[..., Tensor], argnums: int | tuple[int, ...] = 0, *, allow_escapes: bool = False
) -> Callable[..., tuple[float, Any]]:
    """The function that computes the value of a scalar function f and its gradient, as a float and NumPy arrays.

    This is the form that optimizers of other libraries call. Parameters are floats, arrays, or nested containers of
    them; f sees them as tensors of their dtype (float64 for floats and lists), and the gradient is nested as they are.
    Further arguments of f are passed on as they are. If f is a compiled function, value and gradient are computed by one
    compiled program. Inside other transforms, use `grad_and_value`.

    Parameters
    ----------
    f
        A function of tensors, or of nested containers of tensors, to a 0-d tensor.
    argnums
        The positional argument to differentiate; for a tuple the gradient is a tuple.
    allow_escapes
        If true, f may turn a tensor into a number that has no gradient, as it may in other transforms: `float(x)`,
        `math.exp(x)` and `a[0] = x` warn, `x.item()` and `x.tolist()` do so without a word. By default that is an
        error, as inside `no_escapes`: what f returns depends on the number, and its gradient would be wrong.

    Raises
    ------
    RuntimeError
        If what f returns does not depend on these arguments or is no 0-d tensor, or an argument holds integers; and
        unless `allow_escapes`, for `float(x)`, `x.item()`, `math.exp(x)`, `a[0] = x` and the like, with the line.

    >>> import numpy as np
    >>> import pullback
    >>> pullback.value_and_grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))

    With SciPy: `minimize(value_and_grad(f), x0, args=(data,), jac=True)`.
    """
    strict = "" if allow_escapes else "value_and_grad"
    derivative = _derivative(f, argnums, has_aux=False, strict=strict, connected=True)

    @functools.wraps(f)
    def numbers(*args: Any, **kwargs: Any) -> Any:
        places = chosen(argnums, args)[0]
        given = [tensors(_doubles(arg)) if place in places else arg for place, arg in enumerate(args)]
        gradient, value = derivative(*given, **kwargs)
        if value.level:
            raise NotImplementedError("value_and_grad: f belongs to another transform: use grad_and_value inside of it")
        return value.item(), mapped(lambda g: g.detach().numpy()[()], gradient)

    return numbers


def _doubles(tree: object) -> Any:
    """A tree in which floats and lists of numbers are arrays, of float64."""
    leaves, structure = flatten(tree, is_row)
    return unflatten(structure, [np.asarray(leaf) if isinstance(leaf, (float, list)) else leaf for leaf in leaves])


@compiled_around
def _derivative(
    f: Function, argnums: int | tuple[int, ...], has_aux: bool, strict: str = "", *, connected: bool = False
) -> Function:
    """The function that computes f's gradient and value; if `connected`, a value that depends on no argument is refused.

    `strict` is the name of what refuses conversions that would lose a gradient.
    """

    @restoring
    @functools.wraps(f)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        places, taken = chosen(argnums, args)
        with Level() as level:
            given, variables, structures = tracked(level, taken, places)
            with strictly(strict):
                value, aux = split(f(*given, **kwargs), has_aux, "grad_and_value(f)(*args)")
            _require_scalar(value, "value_and_grad" if connected else "grad_and_value")
            if connected and not (level.holds(value) and value.requires_grad):
                why = reasons.untracked(value, "it").text if not value.requires_grad else "it was computed without them"
                raise RuntimeError(f"what f returns does not depend on the arguments to differentiate: {why}")
            start = [cotangent(level, value, None, 0, False)] if level.holds(value) else [None]
        flat = level.pull([value], start, variables, retain_graph=False)
        gradients = regrouped(flat, structures)
        answer = level.lowered(value)
        return (
            gradients[0] if isinstance(argnums, int) else tuple(gradients),
            (answer, mapped(level.lowered, aux)) if has_aux else answer,
        )

    return derivative


@restoring
def vjp(f: Function, *primals: object, has_aux: bool = False) -> Any:
    """f(*primals), and the function that pulls cotangents of the outputs back to the primals.

    Returns (outputs, pullback), with `has_aux` (outputs, pullback, aux). The pullback takes cotangents nested as the
    outputs are, each with its output's shape, and gives one result for each primal; it may be called again.

    Parameters
    ----------
    f
        A function of tensors that returns tensors.
    has_aux
        The function returns a pair: its result, and something that is passed on as it is.

    Raises
    ------
    RuntimeError
        If f returns anything but tensors of real or complex numbers, or cotangents do not match the outputs.
    ValueError
        If a primal is not a tensor and cannot become one.

    >>> import pullback
    >>> y, pull = pullback.func.vjp(lambda x: x * x, pullback.tensor([1.0, 2.0]))
    >>> pull(pullback.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    primals = tensors(primals)
    with Level() as level:
        given, variables, structures = tracked(level, primals, range(len(primals)))
        outputs, aux = split(f(*given), has_aux, "vjp(f, *primals)")
        leaves, structure = output_leaves(outputs, "vjp(f, *primals)")
        require_numbers(leaves, structure)

    def pull(cotangents: object, retain_graph: bool = True, create_graph: bool | None = None) -> tuple[Any, ...]:
        """The pullbacks of cotangents of the outputs, one for each primal."""
        cotangents = tensors(cotangents)
        start = _fitting(level, cotangents, leaves, structure)
        given = flatten(cotangents)[0]
        found = [beside(g, given) for g in level.pull(leaves, start, variables, retain_graph=retain_graph)]
        return tuple(regrouped(found, structures))

    lowered = unflatten(structure, list(map(level.lowered, leaves)))
    return (lowered, pull, mapped(level.lowered, aux)) if has_aux else (lowered, pull)


def tracked(
    level: Level, args: Sequence[object], places: Sequence[int]
) -> tuple[list[Any], list[Tensor], list[Structure]]:
    """The arguments with a level's variables at `places`; the variables; and the structure at each place."""
    given = list(args)
    variables: list[Tensor] = []
    structures = []
    for place in places:
        leaves, structure = flatten(args[place])
        require_tensors(leaves, structure, f"args[{place}]", "Thing passed to transform API must be Tensor")
        own = list(map(level.variable, leaves))
        given[place] = unflatten(structure, own)
        variables += own
        structures.append(structure)
    return given, variables, structures


def regrouped(flat: Sequence[Tensor], structures: Sequence[Structure]) -> list[Any]:
    """The leaves of several trees, concatenated, as these trees."""
    rest = iter(flat)
    return [unflatten(structure, [next(rest) for _ in range(structure.leaf_count())]) for structure in structures]


def split(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """A function's result, separated into value and aux if `has_aux`."""
    if not has_aux:
        return result, ()
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True, not "
            f"{type(result).__name__}"
        )
    for leaf, path in zip(flatten(result[1])[0], paths(flatten(result[1])[1], "aux"), strict=True):
        if not isinstance(leaf, Carrier):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)} for {path}")
    return result[0], result[1]


def _require_scalar(value: object, name: str = "grad_and_value") -> None:
    where = f"{name}(f)(*args): Expected f(*args) to return"
    if not isinstance(value, Carrier):
        kept = " Leave out what takes its history away: float(), .item(), .numpy(), np.array()"
        fix = (
            kept if isinstance(value, (float, np.generic, np.ndarray)) else " f has no return" if value is None else ""
        )
        raise RuntimeError(f"{where} a Tensor, got {type(value)}.{fix}")
    if value.ndim:
        vector = "Maybe you wanted to use the vjp or jacrev APIs instead?"
        residuals = "Sum it; for least_squares, flatten_problem has residuals and jacobian"
        raise RuntimeError(
            f"{where} a scalar Tensor, got tensor with {value.ndim} dims, of shape {tuple(value.shape)}. "
            f"{vector if name == 'grad_and_value' else residuals}"
        )


def _fitting(level: Level, cotangents: object, outputs: Sequence[Tensor], structure: Structure) -> list[Value | None]:
    """The cotangents, checked and converted to the shape and dtype of their outputs."""
    leaves, given = flatten(cotangents)
    if given != structure:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
            f"cotangents: {given}, primal output: {structure}"
        )
    return [
        cotangent(level, output, tensor_of(g), index, False) if level.holds(output) else None
        for index, (g, output) in enumerate(zip(leaves, outputs, strict=True))
    ]
