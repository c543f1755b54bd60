"""autograd.misc.fixed_points: the fixed point of an iteration, differentiated implicitly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .operators import make_vjp
from .primitives import defvjp, primitive
from .spaces import vspace

Function = Callable[..., Any]


@primitive
def fixed_point(f: Function, a: object, x0: object, distance: Function, tol: float) -> Any:
    """The x = f(a)(x) reached by iterating from x0 until two steps are at most tol apart.

    Its derivative by `a` is that of the equation (Christianson, 1994); the iteration is not differentiated step by
    step.

    >>> from pullback.compat.autograd import grad
    >>> root = lambda a: fixed_point(lambda a: lambda x: (x + a / x) / 2, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(float(grad(root)(4.0)), 12)
    0.25
    """
    step = f(a)
    before, x = x0, step(x0)
    while distance(x, before) > tol:
        before, x = x, step(x)
    return x


def _pulled(ans: object, f: Function, a: object, x0: object, distance: Function, tol: float) -> Function:
    pull_a = make_vjp(lambda a, x: f(a)(x))(a, ans)[0]

    def adjoint(params: tuple[object, object, object]) -> Function:
        a, x, g = params
        pull_x = make_vjp(f(a))(x)[0]
        return lambda w: vspace(x).add(pull_x(w), g)

    def pull(g: object) -> Any:
        return pull_a(fixed_point(adjoint, (a, ans, g), vspace(x0).zeros(), distance, tol))

    return pull


defvjp(fixed_point, None, _pulled, None)
