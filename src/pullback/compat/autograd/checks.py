"""autograd.test_util: derivatives compared with finite differences, along random directions."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...extend import warn
from .operators import make_jvp, make_vjp, name_of, unary_to_nary
from .spaces import vspace

Function = Callable[..., Any]

TOL = RTOL = EPS = 1e-6


def scalar_close(a: float, b: float) -> bool:
    """True if two numbers differ by less than 1e-6, absolutely or relative to their sum."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Function, x: object) -> Function:
    """The pushforward of a function at x, by finite differences."""
    space, image = vspace(x), vspace(f(x))

    def jvp(v: object) -> object:
        ahead = f(space.add(x, space.scalar_mul(v, EPS / 2)))
        behind = f(space.add(x, space.scalar_mul(v, -EPS / 2)))
        return image.scalar_mul(image.add(ahead, image.scalar_mul(behind, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Function, x: object) -> None:
    """Compare the pullback of a function at x with finite differences."""
    pull, y = make_vjp(f)(x)
    jvp = make_numerical_jvp(f, x)
    space, image = vspace(x), vspace(y)
    v, w = space.randn(), image.randn()
    pulled = space.covector(pull(image.covector(w)))
    if vspace(pulled) != space:
        raise AssertionError(f"the VJP of {name_of(f)} gives {vspace(pulled)}, and the argument is in {space}")
    exact, numeric = space.inner_prod(v, pulled), image.inner_prod(w, jvp(v))
    if not scalar_close(numeric, exact):
        raise AssertionError(
            f"Derivative (VJP) check of {name_of(f)} failed with arg {x}:\nanalytic: {exact}\nnumeric:  {numeric}"
        )


def check_jvp(f: Function, x: object) -> None:
    """Compare the pushforward of a function at x with finite differences."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f)(x)(v)[1], make_numerical_jvp(f, x)(v))


def check_equivalent(x: object, y: object) -> None:
    """Raise AssertionError if two values differ in shape or dtype, or along a random direction."""
    space, other = vspace(x), vspace(y)
    if space != other:
        raise AssertionError(f"VSpace mismatch:\nx: {space}\ny: {other}")
    v = space.randn()
    if not scalar_close(space.inner_prod(x, v), space.inner_prod(y, v)):
        raise AssertionError(f"Value mismatch:\nx: {x}\ny: {y}")


@unary_to_nary
def check_grads(f: Function, x: object, modes: Sequence[str] | None = None, order: int = 2) -> None:
    """Compare the derivatives of a function with finite differences: `check_grads(f)(*args)`.

    Raises
    ------
    AssertionError
        If a derivative is wrong; the message names it.

    >>> from pullback.compat.autograd.checks import check_grads
    >>> check_grads(lambda x: x**3)(2.0)
    """
    modes = ["fwd", "rev"] if modes is None else modes
    if not all(mode in ("fwd", "rev") for mode in modes):
        raise ValueError(f"modes are 'fwd' and 'rev', and not {modes}")
    for mode, check in (("fwd", check_jvp), ("rev", check_vjp)):
        if mode not in modes:
            continue
        check(f, x)
        if order > 1:
            derivative, v = _derivative(mode, f), vspace(x if mode == "fwd" else f(x)).randn()
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, v)


def _derivative(mode: str, f: Function) -> Function:
    def pushed(x: object, v: object) -> Any:
        return make_jvp(f)(x)(v)[1]

    def pulled(x: object, v: object) -> Any:
        return make_vjp(f)(x)[0](v)

    function = pushed if mode == "fwd" else pulled
    function.__name__ = f"{'jvp' if mode == 'fwd' else 'vjp'}_{name_of(f)}"
    return function


def combo_check(fun: Function, *args: object, **options: object) -> Function:
    """A check of a function for all combinations of values: `combo_check(f, argnums)([a, b], [c, d], axis=[0, 1])`."""

    def check(*choices: Iterable[object], **named: Iterable[object]) -> None:
        pairs = [[(key, value) for value in values] for key, values in named.items()]
        for values in itertools.product(*choices):
            for keywords in itertools.product(*pairs):
                check_grads(fun, *args, **options)(*values, **dict(keywords))

    return check


def subvals(x: Sequence[object], ivs: Iterable[tuple[int, object]]) -> tuple[object, ...]:
    """A tuple with some of its entries replaced."""
    changed = dict(ivs)
    return tuple(changed.get(place, value) for place, value in enumerate(x))


def subval(x: Sequence[object], i: int, v: object) -> tuple[object, ...]:
    """A tuple with one of its entries replaced."""
    return subvals(x, [(i, v)])


def quick_grad_check(
    fun: Function,
    arg0: object,
    extra_args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    **_: object,
) -> None:
    """The check of autograd's first versions; use `check_grads` instead."""
    warn("quick_grad_check is deprecated: call check_grads of autograd.test_util")
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
