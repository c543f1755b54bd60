"""autograd's differential operators: functions that return derivatives of functions, by autograd's names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...extend import warn
from ...utils.trees import flatten
from .spaces import vspace
from .tracing import TracedRun, make_jvp as _make_jvp, make_vjp as _make_vjp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._core.typing import Array


Function = Callable[..., Any]


DESCRIPTION = (
    "    {op} of function {fun} with respect to argument number {argnum}. Takes the\n"
    "    same arguments as {fun} but returns the {op}.\n    "
)
"""What the functions that operators return say of themselves."""


def name_of(function: object) -> str:
    """The name of a function.

    >>> from pullback.compat.autograd.operators import name_of
    >>> name_of(abs)
    'abs'
    """
    return str(getattr(function, "__name__", "[unknown name]"))


def wraps(fun: object, namestr: str = "{fun}", docstr: str = "{doc}", **names: object) -> Function:
    """A decorator that gives a function the name and the documentation of another, or texts made of them.

    >>> from pullback.compat.autograd.operators import wraps
    >>> wraps(abs, "{kind}_{fun}", kind="safe")(lambda x: x).__name__
    'safe_abs'
    """

    def named(function: Function) -> Function:
        known = names | {"fun": name_of(fun)}
        function.__name__ = namestr.format(**known)
        function.__doc__ = docstr.format(doc=getattr(fun, "__doc__", ""), **known)
        return function

    return named


def unary_to_nary(operator: Function) -> Callable[..., Function]:
    """The operator on functions of several arguments from one on functions of one: `argnum` selects the argument.

    `operator(function, x)` becomes `operator(function, argnum=0)(*args, **kwargs)`; with a tuple or list of numbers, x
    is the tuple of these arguments.

    >>> from pullback.compat.autograd.operators import unary_to_nary
    >>> twice = unary_to_nary(lambda function, x: function(2 * x))
    >>> twice(lambda x, y: x + 10 * y, 1)(1, 2)
    41
    """

    @functools.wraps(operator)
    def of_function(
        function: Function, argnum: int | Sequence[int] = 0, *operator_args: object, **operator_options: object
    ) -> Function:
        if not callable(function):
            raise TypeError(f"{name_of(operator)} takes a function first, and got a {type(function).__name__}")
        if type(argnum) not in (int, tuple, list):
            raise TypeError(f"argnum must be an int, or a tuple or list of ints, and is {argnum!r}")

        def of_arguments(*args: object, **kwargs: object) -> Any:
            def of_one(x: Any) -> Any:
                given = list(args)
                pairs = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x, strict=True)
                for place, value in pairs:
                    given[place] = value
                return function(*given, **kwargs)

            of_one.__name__ = name_of(function)
            numbers = (argnum,) if isinstance(argnum, int) else argnum
            if any(not -len(args) <= number < len(args) for number in numbers):
                raise TypeError(
                    f"{name_of(operator)} of {name_of(function)} by argument number {argnum}, and the call has {len(args)} "
                    "positional arguments"
                )
            x = args[argnum] if isinstance(argnum, int) else tuple(args[number] for number in argnum)
            return operator(of_one, x, *operator_args, **operator_options)

        return wraps(function, "{op}_of_{fun}_wrt_argnum_{argnum}", DESCRIPTION, op=name_of(operator), argnum=argnum)(
            of_arguments
        )

    return of_function


make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _require_scalar(value: object, name: str) -> None:
    leaves, _ = flatten(value)
    if sum(np.size(leaf) for leaf in leaves) != 1 or np.iscomplexobj(leaves[0]):
        shapes = ", ".join(f"{np.result_type(leaf)} of shape {np.shape(leaf)}" for leaf in leaves)
        raise TypeError(
            f"{name} only applies to real scalar-output functions. Try jacobian, elementwise_grad or holomorphic_grad. "
            f"The function returned {shapes}"
        )
    if np.result_type(leaves[0]).kind not in "fiu":
        raise TypeError(f"{name} only applies to functions of real numbers, and this one returned {value!r}")


def _value_and_grad(function: Function, x: object, name: str) -> tuple[Any, Any]:
    pull, value = _make_vjp(function, x)
    if type(value) is np.float64:  # the usual one, which needs no questions
        return value, pull(1.0)
    _require_scalar(value, name)
    return value, pull(vspace(value).ones())


@unary_to_nary
def grad(fun: Function, x: object) -> Any:
    """
    Returns a function which gives the gradient of a scalar function by argument number `argnum` (a tuple of numbers: a
    tuple of gradients). It takes the function's arguments; its answer nests as that argument does, in float64.

    >>> from pullback.compat.autograd import grad, numpy as np
    >>> grad(lambda p: (p["a"] ** 2).sum() * p["b"].sum())({"a": np.array([1.0, 2.0]), "b": np.ones(2)})
    {'a': array([4., 8.]), 'b': array([5., 5.])}
    """
    return _value_and_grad(fun, x, "Grad")[1]


@unary_to_nary
def value_and_grad(fun: Function, x: object) -> tuple[Any, Any]:
    """A function that returns the value and the gradient of a scalar function, as SciPy's optimizers expect.

    >>> from pullback.compat.autograd import value_and_grad
    >>> tuple(map(float, value_and_grad(lambda x: x**3)(2.0)))
    (8.0, 12.0)
    """
    return _value_and_grad(fun, x, "value_and_grad")


@unary_to_nary
def elementwise_grad(fun: Function, x: object) -> Any:
    """A function that returns the sum of each column of the Jacobian: for an elementwise function, its derivatives.

    >>> from pullback.compat.autograd import elementwise_grad, numpy as np
    >>> elementwise_grad(np.square)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    pull, value = _make_vjp(fun, x)
    if vspace(value).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return pull(vspace(value).ones())


@unary_to_nary
def deriv(fun: Function, x: object) -> Any:
    """A function that returns the derivative in the direction of ones, by forward mode: for a scalar its derivative.

    >>> from pullback.compat.autograd import deriv
    >>> float(deriv(lambda x: x**3)(2.0))
    12.0
    """
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: object) -> Array:
    """A function that returns the Jacobian of a function of one array, of the output's shape and then the input's.

    >>> from pullback.compat.autograd import jacobian, numpy as np
    >>> jacobian(lambda x: x * x[0])(np.array([2.0, 3.0]))
    array([[4., 0.],
           [3., 2.]])
    """
    traced = TracedRun(fun, x)
    if len(traced.outputs) != 1 or len(traced.variables) != 1 or traced.structure.kind or traced.nesting.kind:
        raise TypeError(
            f"jacobian takes functions of one array to one array: the argument nests as {traced.nesting}, the output as "
            f"{traced.structure}"
        )
    if vspace(traced.outputs[0]).iscomplex and not vspace(x).iscomplex:
        return jacobian(lambda x: np.real(fun(x)))(x) + 1j * jacobian(lambda x: np.imag(fun(x)))(x)
    (rows,) = traced.rows()
    return np.reshape(rows, (*np.shape(traced.outputs[0]), *traced.variables[0].shape))


@unary_to_nary
def holomorphic_grad(fun: Function, x: object) -> Any:
    """A function that returns the complex derivative of a holomorphic scalar function.

    >>> from pullback.compat.autograd import holomorphic_grad
    >>> complex(holomorphic_grad(lambda z: z**2)(1.0 + 2.0j))
    (2+4j)
    """
    if not vspace(x).iscomplex:
        warn("Input to holomorphic_grad is not complex")
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """A function that returns the gradient by an argument given by name.

    >>> from pullback.compat.autograd import grad_named
    >>> float(grad_named(lambda x, y: x * y, "y")(2.0, 3.0))
    2.0
    """
    names = inspect.getfullargspec(fun).args
    if argname not in names:
        raise ValueError(f"{name_of(fun)} has no argument {argname!r}: it has {', '.join(names)}")
    return grad(fun, names.index(argname))


@unary_to_nary
def hessian(fun: Function, x: object) -> Array:
    """A function that returns the Hessian of a scalar function of one array.

    >>> from pullback.compat.autograd import hessian, numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: object) -> tuple[Function, Any]:
    """A function that returns, at a point, the Hessian-vector product as a function of the vector, and the gradient.

    >>> from pullback.compat.autograd import make_hvp, numpy as np
    >>> product, gradient = make_hvp(lambda x: (x**3).sum())(np.array([1.0, 2.0]))
    >>> product(np.array([1.0, 0.0])), gradient
    (array([6., 0.]), array([ 3., 12.]))
    """
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """A function of `(*args, tensor)`: the product of the Hessian with a tensor of the argument's shape.

    >>> from pullback.compat.autograd import hessian_tensor_product, numpy as np
    >>> hessian_tensor_product(lambda x: (x**3).sum())(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    gradient = grad(fun, argnum)

    def product(*args: Array, **kwargs: object) -> Array:
        *before, vector = args
        return np.tensordot(gradient(*before, **kwargs), vector, np.ndim(vector))

    return grad(product, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """A function of `(*args, tensor)`: the tensor times the Jacobian, contracted over the tensor's axes.

    >>> from pullback.compat.autograd import tensor_jacobian_product, numpy as np
    >>> tensor_jacobian_product(lambda x: x**2)(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([ 2., 40.])
    """

    def product(*args: Any, **kwargs: object) -> Any:
        *before, vector = args
        return np.tensordot(vector, fun(*before, **kwargs), axes=np.ndim(vector))

    return jacobian(product, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: object) -> Function:
    """A function that returns the pushforward at a point, as the pullback of the pullback, which is linear.

    >>> from pullback.compat.autograd.operators import make_jvp_reversemode
    >>> make_jvp_reversemode(lambda x: x**2)(np.array([1.0, 2.0]))(np.array([1.0, 10.0]))
    array([ 2., 40.])
    """
    pull, value = _make_vjp(fun, x)
    return _make_vjp(pull, vspace(value).zeros())[0]


def _half_square(x: Array) -> Array:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_square, f_argnum: int | Sequence[int] = 0) -> Function:
    """A function that returns, at a point, the product of the generalized Gauss-Newton matrix of g(f) with a vector.

    That is J^T H J v, with the Jacobian J of f and the Hessian H of g (Schraudolph, 2002).

    >>> from pullback.compat.autograd import make_ggnvp, numpy as np
    >>> make_ggnvp(lambda x: x**2)(np.array([1.0, 2.0]))(np.array([1.0, 1.0]))
    array([ 4., 16.])
    """

    @unary_to_nary
    def product_at(f: Function, x: object) -> Function:
        pull, value = _make_vjp(f, x)
        curve, slope = _make_vjp(grad(g), value)
        push = _make_vjp(pull, vspace(slope).zeros())[0]
        return lambda v: pull(curve(push(v)))

    return product_at(f, f_argnum)


@unary_to_nary
def grad_and_aux(fun: Function, x: object) -> tuple[Any, Any]:
    """A function that returns the gradient of the first of two outputs, and the second output.

    >>> from pullback.compat.autograd import grad_and_aux
    >>> tuple(map(float, grad_and_aux(lambda x: (x**2, x + 1))(3.0)))
    (6.0, 4.0)
    """
    pull, (value, aux) = _make_vjp(fun, x)
    return pull((vspace(value).ones(), vspace(aux).zeros())), aux


def multigrad_dict(fun: Function) -> Function:
    """A function that returns the gradients by all arguments, as a dict by their names.

    >>> from pullback.compat.autograd import multigrad_dict
    >>> {name: float(g) for name, g in multigrad_dict(lambda x, y=2.0: x * y)(3.0).items()}
    {'x': 2.0, 'y': 3.0}
    """
    signature = inspect.signature(fun)

    def gradients(*args: object, **kwargs: object) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(arguments: dict[str, object]) -> Any:
            call = inspect.BoundArguments(signature, dict(arguments))
            return fun(*call.args, **call.kwargs)

        return grad(of_arguments)(dict(bound.arguments))

    return gradients
