"""L-BFGS: a quasi-Newton method that approximates the Hessian from its last few steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from .._core.modes import enable_grad, no_grad
from .._tensor.creation import zeros
from ..vocabulary.complexes import view_as_real
from ..vocabulary.shapes import cat
from .elementwise import check
from .line_search import Point, strong_wolfe
from .optimizer import Group, Optimizer, Options, Params, State, as_float, declared

if TYPE_CHECKING:
    from .._core.typing import Tensor


Loss = TypeVar("Loss", bound="float | Tensor")


class LBFGS(Optimizer):
    """Quasi-Newton steps on all parameters together: Liu and Nocedal, On the limited memory BFGS method, 1989.

    `step` takes a closure, which it calls several times, and does up to `max_iter` iterations. With
    `line_search_fn="strong_wolfe"` the length of each step is searched for; otherwise it is `lr`. There is one group.

    Parameters
    ----------
    params
        Tensors, pairs of a name and a tensor, or dictionaries for groups with options of their own.
    lr
        The length of a step, if it is not searched for.
    max_iter
        The largest number of iterations in a `step`.
    max_eval
        The largest number of calls of the closure in a `step`; None for 5/4 of `max_iter`.
    tolerance_grad
        The size of the gradient at which it ends.
    tolerance_change
        The size of a change of the loss or the parameters at which it ends.
    history_size
        How many past steps are remembered.
    line_search_fn
        "strong_wolfe" to search for the length of each step; None for `lr`.

    Raises
    ------
    ValueError
        If `lr` is negative, or there are several groups.
    RuntimeError
        From `step`, if `line_search_fn` is something else.

    >>> import pullback
    >>> w = pullback.tensor([-1.0, 2.0], requires_grad=True)
    >>> optimizer = pullback.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(3):
    ...     loss = optimizer.step(closure)
    >>> w
    tensor([1.0000, 1.0000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None: ...

    def check_options(self, options: Options) -> None:
        """Refuse options that make no sense, and complete the others."""
        check(options)
        if options["max_eval"] is None:
            options["max_eval"] = options["max_iter"] * 5 // 4

    def begin(self) -> None:
        """Refuse several groups."""
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups): it takes one group, not "
                f"{len(self.param_groups)}"
            )

    # Parameters and gradients as one vector

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _gradient(self) -> Tensor:
        """All gradients as one vector, complex numbers as pairs; zeros for what has none."""
        found = [zeros(p.shape, dtype=p.dtype) if p.grad is None else p.grad.detach() for p in self._params]
        return cat([(view_as_real(g) if g.is_complex() else g).reshape(-1) for g in found])

    def _move(self, step: float, direction: Tensor) -> None:
        """Change the parameters along a direction."""
        place = 0
        for p in self._params:
            numbers = view_as_real(p) if p.is_complex() else p
            count = numbers.numel()
            numbers += step * direction[place : place + count].reshape(numbers.shape)
            place += count

    # Steps

    @no_grad()
    def step(self, closure: Callable[[], Loss]) -> Loss:  # type: ignore[override]  # this one needs a closure
        """Do up to `max_iter` iterations; `closure` computes the loss, with its gradients, and returns it.

        The first loss is returned.
        """
        compute = enable_grad()(closure)
        group, state = self.param_groups[0], self.state[self._params[0]]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(f"only 'strong_wolfe' is supported, not {group['line_search_fn']!r}: or None")
        for name in ("func_evals", "n_iter"):
            state.setdefault(name, 0)
        first = compute()
        state["func_evals"] += 1
        gradient = self._gradient()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first
        self._iterate(compute, as_float(first), gradient, group, state)
        return first

    def _iterate(
        self, compute: Callable[[], float | Tensor], loss: float, gradient: Tensor, group: Group, state: State
    ) -> None:
        """The iterations of a step, starting from a loss and its gradient."""
        lr = as_float(group["lr"])
        count = 1
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = _direction(state, gradient, group["history_size"])
            t = lr / max(1.0, as_float(gradient.abs().sum())) if state["n_iter"] == 1 else lr
            before = loss
            state.update(d=d, t=t, prev_flat_grad=gradient.clone(), prev_loss=before)
            slope = as_float(gradient.dot(d))
            if slope > -group["tolerance_change"]:
                break
            evaluated = 0
            if group["line_search_fn"] is None:
                self._move(t, d)
                if n != group["max_iter"]:
                    loss, gradient, evaluated = as_float(compute()), self._gradient(), 1
            else:
                loss, gradient, t, evaluated = self._search(
                    compute, Point(0.0, loss, gradient, slope), t, d, group, group["max_eval"] - count
                )
                state["t"] = t
            count += evaluated
            state["func_evals"] += evaluated
            if (
                n == group["max_iter"]
                or count >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(d * t) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break

    def _search(
        self, compute: Callable[[], float | Tensor], start: Point, t: float, d: Tensor, group: Group, most: int
    ) -> tuple[float, Tensor, float, int]:
        """Go along d for as long as the strong Wolfe conditions ask: the loss there, its gradient, the step, the cost."""
        origin = [p.clone() for p in self._params]

        def evaluate(step: float) -> Point:
            self._move(step, d)
            loss, gradient = as_float(compute()), self._gradient()
            for p, value in zip(self._params, origin, strict=True):
                p.copy_(value)
            return Point(step, loss, gradient, as_float(gradient.dot(d)))

        point, count = strong_wolfe(evaluate, start, t, _largest(d), group["tolerance_change"], most)
        self._move(point.t, d)
        return point.f, point.g, point.t, count


def _largest(vector: Tensor) -> float:
    """The largest absolute value."""
    return as_float(vector.abs().max())


def _direction(state: State, gradient: Tensor, size: int) -> Tensor:
    """The direction of the next step: minus the inverse Hessian, as far as it is known, times the gradient.

    The history holds changes of the gradient y, of the parameters s, and 1 / (y s). The product is the two loops of
    Nocedal, Updating quasi-Newton matrices with limited storage, 1980.
    """
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return -gradient
    ys, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = y.dot(s)
    if curvature > 1e-10:
        if len(ys) == size:
            for history in (ys, steps, inverses):
                history.pop(0)
        ys.append(y)
        steps.append(s)
        inverses.append(1.0 / curvature)
        state["H_diag"] = curvature / y.dot(y)
    q = -gradient
    shares = state.setdefault("al", [None] * size)
    for i in range(len(ys) - 1, -1, -1):
        shares[i] = steps[i].dot(q) * inverses[i]
        q = q - shares[i] * ys[i]
    r = q * state["H_diag"]
    for i in range(len(ys)):
        r = r + steps[i] * (shares[i] - ys[i].dot(r) * inverses[i])
    return r
