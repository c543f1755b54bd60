"""autograd.scipy.integrate: solutions of ordinary differential equations, differentiated by the adjoint equation."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .flattening import flatten
from .operators import make_vjp
from .primitives import defvjp_argnums, primitive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..._core.typing import Array


Function = Callable[..., Any]


@primitive
def odeint(func: Function, y0: Array, t: Array, args: Iterable[object] = (), **options: object) -> Array:
    """The solution of dy/dt = func(y, t, *args) at the times t, from y0 at the first, by SciPy's odeint.

    Its derivative, by y0, t and args, solves the adjoint equation backwards from time to time (Chen et al., 2018).

    >>> from pullback.compat.autograd import grad, numpy as np
    >>> end = lambda rate: odeint(lambda y, t, rate: rate * y, np.array([1.0]), np.array([0.0, 1.0]), (rate,))[-1, 0]
    >>> round(float(grad(end)(0.5)), 5)
    1.64872
    """
    return importlib.import_module("scipy.integrate").odeint(func, y0, t, tuple(args), **options)


def _pulled(argnums: Sequence[int], ans: Array, args: Sequence[Any], options: dict[str, object]) -> Function:
    func, _, t, *rest = args
    given = tuple(rest[0]) if rest else ()
    parameters, unflatten = flatten(given)
    count, width = np.shape(ans)

    def velocity(y: Array, time: float, flat: Array) -> Array:
        return func(y, time, *unflatten(flat))

    def adjoint(state: Array, time: float, flat: Array) -> Array:
        """The time derivatives of y, its cotangent, and the cotangents of time and parameters."""
        pull, dy = make_vjp(velocity, argnum=(0, 1, 2))(state[:width], time, flat)
        changes = pull(-state[width : 2 * width])
        return np.concatenate([dy, *[np.reshape(change, -1) for change in changes]])

    def pull(g: Array) -> list[object]:
        at_y, at_start, at_flat = g[-1], 0.0, np.zeros(np.size(parameters))
        at_times: list[Any] = []
        for step in range(count - 1, 0, -1):
            at_time = np.dot(func(ans[step], t[step], *given), g[step])
            at_times.insert(0, at_time)
            at_start = at_start - at_time
            state = np.concatenate([ans[step], at_y, np.reshape(at_start, -1), at_flat])
            times = np.stack([t[step], t[step - 1]])
            state = odeint(adjoint, state, times, (parameters,), **options)[1]
            at_y = state[width : 2 * width] + g[step - 1]
            at_start, at_flat = state[2 * width], state[2 * width + 1 :]
        at_times.insert(0, at_start)
        found = {1: at_y, 2: np.stack(at_times), 3: type(args[3])(unflatten(at_flat)) if rest else None}
        return [found.get(argnum) for argnum in argnums]

    return pull


defvjp_argnums(odeint, _pulled)
