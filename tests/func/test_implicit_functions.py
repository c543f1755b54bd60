"""Implicit functions: their derivatives beside those of unrolled iterations, differences, and formulas."""

import numpy as np
import pytest
from scipy import optimize

import pullback
from pullback import func


def tensor(value):
    return pullback.tensor(value, dtype=pullback.float64)


def close(mine, theirs, rtol=1e-10):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=rtol, atol=rtol)


def cubic(y, a):
    return y**3 + y - a


def bracketed(a):
    return optimize.brentq(lambda y: y**3 + y - a.item(), -9.0, 9.0, xtol=1e-15)


def test_a_root_in_every_mode_and_order():
    """Of y**3 + y = a: y' = 1 / (3 y**2 + 1), and so on; at a = 2 the root is 1."""
    root, a, one, zero = func.implicit(cubic, bracketed), tensor(2.0), tensor(1.0), tensor(0.0)
    slope, second, third = 1 / 4, -6 / 4**3, -6 / 4**4 + 108 / 4**5
    grad = func.grad
    close(grad(root)(a), slope)
    close(grad(grad(root))(a), second)
    close(grad(grad(grad(root)))(a), third)
    close(func.jvp(root, (a,), (one,))[1], slope)
    close(func.jacfwd(func.jacrev(root))(a), second)
    close(func.jet(root, (a,), ([one, zero, zero],))[1], [slope, second, third])
    tracked = a.clone().requires_grad_()
    root(tracked).backward()
    close(tracked.grad, slope)
    assert root.__name__ == "bracketed"


def test_a_solver_solves_once_for_a_value_and_its_derivatives():
    calls = []

    def solver(a):
        calls.append(a.item())
        return bracketed(a)

    root = func.implicit(cubic, solver)
    for value in (2.0, 3.0, 2.0):
        func.grad(func.grad(root))(tensor(value))
    assert calls == [2.0, 3.0, 2.0]


def test_a_solver_written_with_tensors_is_mapped():
    def newton(a):
        y = pullback.ones_like(a)
        for _ in range(40):
            y = y - cubic(y, a) / (3 * y**2 + 1)
        return y

    points = pullback.linspace(0, 3, 5, dtype=pullback.float64)
    close(func.vmap(func.grad(func.implicit(cubic, newton)))(points), 1 / (3 * newton(points) ** 2 + 1))


def test_a_fixed_point_is_the_limit_of_its_iteration():
    def iterated(a, y):
        for _ in range(200):
            y = pullback.cos(a * y) + pullback.stack([y[1], y[0]]) / 4
        return y

    start = tensor([1.0, 0.5])
    fixed = func.implicit(lambda y, a: iterated_once(y, a) - y, lambda a: iterated(a, start))

    def iterated_once(y, a):
        return pullback.cos(a * y) + pullback.stack([y[1], y[0]]) / 4

    a = tensor([0.3, 0.4])
    close(func.jacrev(fixed)(a), func.jacrev(lambda a: iterated(a, start))(a))
    close(func.hessian(lambda a: fixed(a).prod())(a), func.hessian(lambda a: iterated(a, start).prod())(a))


def test_a_minimum_of_scipy_beside_differences():
    def objective(y, a):
        return ((y - a) ** 4).sum() / 4 + (y**2).sum() * a.sum()

    def solver(a):
        f = func.value_and_grad(lambda y: objective(y, a))
        return optimize.minimize(f, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-12}).x

    minimum, a = func.implicit(func.grad(objective), solver), tensor([1.0, 2.0])
    jacobian = func.jacrev(minimum)(a)
    for place in range(2):
        step = 1e-5 * pullback.eye(2, dtype=pullback.float64)[place]
        close(jacobian[:, place], (minimum(a + step) - minimum(a - step)) / 2e-5, rtol=1e-6)


def test_parameters_that_do_not_move_at_any_order():
    """A tensor among the parameters by which nothing is differentiated: of y**3 + y = a * b."""
    root = func.implicit(lambda y, a, b: cubic(y, a * b), lambda a, b: bracketed(a * b))
    f = lambda a: root(a, tensor(1.0))
    for expected in (1 / 4, -6 / 4**3, -6 / 4**4 + 108 / 4**5):
        f = func.grad(f)
        close(f(tensor(2.0)), expected)


def test_gradients_of_a_compiled_solver_reach_parameters():
    def newton(a):
        y = pullback.ones_like(a)
        for _ in range(20):
            y = y - cubic(y, a) / (3 * y**2 + 1)
        return y

    a = tensor(2.0).requires_grad_()
    compiled = pullback.compile(func.implicit(cubic, newton))
    for count in (1, 2):
        compiled(a).backward()
        close(a.grad, count / 4)


def test_trees_and_what_does_not_move():
    """Solutions and parameters in dicts; a linear system has the derivative of `solve`."""

    def condition(y, p, unit):
        return {"rest": p["A"] @ pullback.cat([y["u"], y["v"]]) - p["b"] * unit}

    def solver(p, unit):
        found = np.linalg.solve(p["A"].numpy(), p["b"].numpy() * unit)
        return {"u": found[:1], "v": found[1:]}

    solution = func.implicit(condition, solver)
    p = {"A": tensor([[2.0, 1.0], [0.5, 3.0]]), "b": tensor([1.0, -1.0])}
    mine = func.grad(lambda p: solution(p, 2.0)["u"].sum() * solution(p, 2.0)["v"].sum())(p)
    theirs = func.grad(lambda p: pullback.linalg.solve(p["A"], p["b"] * 2.0).prod())(p)
    for name in p:
        close(mine[name], theirs[name])


def test_a_call_solves_anew_and_its_result_may_be_written():
    """What the solver reads may have changed; a derivative belongs to the solution of its call."""
    scale = [1.0]
    scaled = func.implicit(lambda y, a: y - scale[0] * a, lambda a: a * scale[0])
    a = tensor([1.0, 2.0])
    scaled(a).mul_(0)
    close(scaled(a), a)
    scale[0] = 3.0
    close(scaled(a), 3 * a)
    tracked = a.clone().requires_grad_()
    y = scaled(tracked)
    y.detach().mul_(0)
    y.sum().backward()
    close(tracked.grad, [3.0, 3.0])


def test_complex_solutions():
    """The square root of a complex number, and that of a negative one as a function of the real number."""
    z = pullback.tensor([1 + 2j, 2 - 1j], dtype=pullback.complex128)
    root = func.implicit(lambda y, z: y * y - z, lambda z: np.sqrt(z.numpy()))
    close(func.jvp(root, (z,), (z * 1j,))[1], func.jvp(pullback.sqrt, (z,), (z * 1j,))[1])
    close(func.vjp(root, z)[1](z)[0], func.vjp(pullback.sqrt, z)[1](z)[0])
    imaginary = func.implicit(lambda y, a: y * y + a, lambda a: 1j * np.sqrt(a.numpy()))
    close(func.grad(func.grad(lambda a: imaginary(a).imag))(tensor(4.0)), -1 / 32)


def test_what_a_condition_detaches_is_constant_as_what_it_makes_under_no_grad():
    """y**3 + y = a * c with c = y held fixed: at a = 2 the root is 1, the slope by y 4 and that by a -1."""

    def detached(y, a):
        return y**3 + y - a * y.detach()

    def quiet(y, a):
        with pullback.no_grad():
            held = y * 1
        return y**3 + y - a * held

    def iterated(a):
        y = a * 0 + 1.5
        for _ in range(60):
            y = y - (y**3 + y - a * y) / (3 * y**2 + 1 - a)
        return y

    for condition in (detached, quiet):
        root = func.implicit(condition, iterated)
        for one in (func.grad(root), func.jacfwd(root), pullback.compile(func.grad(root))):
            close(one(tensor(2.0)), 1 / 4)
        tracked = tensor(2.0).requires_grad_()
        root(tracked).backward()
        close(tracked.grad, 1 / 4)
        with pullback.no_grad():
            close(func.grad(root)(tensor(2.0)), 1 / 4)


def test_solutions_of_integers_have_derivatives():
    for found in (2, np.array(2), np.int64(2), pullback.tensor(2)):
        close(func.grad(func.implicit(lambda y, a: y - a, lambda a, found=found: found))(tensor(2.0)), 1.0)


def test_what_is_no_solution_is_refused():
    a = tensor(2.0)
    with pytest.raises(TypeError, match=r"an object of type OptimizeResult, .* such as the x of a result of scipy"):
        func.implicit(cubic, lambda a: optimize.root(lambda y: y, 1.0))(a)
    with pytest.raises(RuntimeError, match="requires grad and is not an argument"):
        func.grad(lambda w: func.implicit(lambda y, a: y - a * w, lambda a: a * w)(a * w))(a)
    with pytest.raises(
        ValueError, match=r"no solution of the condition: a step of Newton's method would change number 0 by 0\.5"
    ):
        func.grad(func.implicit(lambda y, a: y - a, lambda a: 1.5))(a)
    with pytest.raises(ValueError, match="the solution has 1 numbers, and the condition returns 2"):
        func.grad(func.implicit(lambda y, a: pullback.stack([y - a, y - a]), lambda a: a))(a)
    with pytest.raises(pullback.linalg.LinAlgError, match="singular"):
        func.grad(func.implicit(lambda y, a: 0 * (y - a), lambda a: a))(a)
    with pytest.raises(ValueError, match="by nan"):
        func.grad(func.implicit(lambda y, a: y - a, lambda a: float("nan")))(a)
