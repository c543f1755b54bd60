"""Programs that simplification turns into others, compiled: values and slopes are those of NumPy formulas."""

import numpy as np
import pytest

import pullback

# A program, its value, and its slope, at x and a number c.
PROGRAMS = {
    "x ** 0": (lambda x: x**0 + x, lambda x: x + 1, lambda x: 1 + 0 * x),
    "x ** 1": (lambda x: x**1 * x, lambda x: x * x, lambda x: 2 * x),
    "x ** 2": (lambda x: x**2, lambda x: x * x, lambda x: 2 * x),
    "x ** 3": (lambda x: x**3, lambda x: x * x * x, lambda x: 3 * x * x),
    "x ** 4": (lambda x: x**4, lambda x: x * x * x * x, lambda x: 4 * x * x * x),
    "x ** -1": (lambda x: x**-1, lambda x: 1 / x, lambda x: -1 / x / x),
    "x ** -2": (lambda x: x**-2, lambda x: 1 / x / x, lambda x: -2 / x / x / x),
    "x ** 0.5": (lambda x: x**0.5, np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "x ** 5": (lambda x: x**5, lambda x: x**5, lambda x: 5 * x**4),
    "0 - x": (lambda x: 0 - x, lambda x: -x, lambda x: -1 + 0 * x),
    "-0.0 - x": (lambda x: -0.0 - x, lambda x: -x, lambda x: -1 + 0 * x),
    "-(2 - x)": (lambda x: -(2 - x), lambda x: x - 2, lambda x: 1 + 0 * x),
    "-(-x)": (lambda x: x.neg().neg() * x, lambda x: x * x, lambda x: 2 * x),
    "x - -x": (lambda x: x - -x, lambda x: 2 * x, lambda x: 2 + 0 * x),
    "x + -x.exp()": (lambda x: x + x.exp().neg(), lambda x: x - np.exp(x), lambda x: 1 - np.exp(x)),
    "x / 4": (lambda x: x / 4, lambda x: x / 4, lambda x: 0.25 + 0 * x),
    "4 / x": (lambda x: 4 / x, lambda x: 4 / x, lambda x: -4 / x / x),
    "x / -3": (lambda x: x / -3, lambda x: x / -3, lambda x: -1 / 3 + 0 * x),
    "x * 2 * 3": (lambda x: (x * 2) * 3, lambda x: 6 * x, lambda x: 6 + 0 * x),
    "x * 3 / 2": (lambda x: (x * 3) / 2, lambda x: 1.5 * x, lambda x: 1.5 + 0 * x),
    "x + x": (lambda x: x + x, lambda x: 2 * x, lambda x: 2 + 0 * x),
    "x * 3 + x * 3": (lambda x: (y := x * 3) + y, lambda x: 6 * x, lambda x: 6 + 0 * x),
    "-x * -x": (lambda x: -x * -x, lambda x: x * x, lambda x: 2 * x),
    "-x / 2": (lambda x: -x / 2, lambda x: -x / 2, lambda x: -0.5 + 0 * x),
    "abs(-x)": (lambda x: (-x).abs(), np.abs, np.sign),
    "square(-x)": (lambda x: (-x).square(), lambda x: x * x, lambda x: 2 * x),
    "abs(abs(x))": (lambda x: x.abs().abs(), np.abs, np.sign),
    "rsub": (lambda x: pullback.rsub(x, 5, alpha=2), lambda x: 5 - 2 * x, lambda x: -2 + 0 * x),
    "where": (lambda x: pullback.where(x > 1, x, 2 * x), lambda x: np.where(x > 1, x, 2 * x), lambda x: 2.0 - (x > 1)),
    "not": (lambda x: pullback.where(~(x == 9), x, 0), lambda x: x, lambda x: 1 + 0 * x),
    "clamp": (lambda x: x.clamp(0.5, 1.5), lambda x: x.clip(0.5, 1.5), lambda x: 1.0 * ((x > 0.5) & (x < 1.5))),
    "logsumexp": (
        lambda x: x - x.logsumexp(0), lambda x: x - np.log(np.exp(x).sum()),
        lambda x: 1 - len(x) * np.exp(x) / np.exp(x).sum(),
    ),
    "exp(log_softmax)": (
        lambda x: x.log_softmax(0).exp(), lambda x: np.exp(x) / np.exp(x).sum(), lambda x: 0 * x,
    ),
    "sigmoid": (lambda x: 1 / (1 + (-x).exp()), lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    "mean of squares": (lambda x: (x * x).mean(), lambda x: (x * x).mean(), lambda x: 2 * x / len(x)),
    "var": (lambda x: x.var(0), lambda x: x.var(ddof=1), lambda x: 2 * (x - x.mean()) / (len(x) - 1)),
    "transposed": (
        lambda x: (x.reshape(2, -1).T @ x.reshape(2, -1)).T.sum(), lambda x: (x.reshape(2, -1).sum(1) ** 2).sum(),
        lambda x: np.repeat(2 * x.reshape(2, -1).sum(1), len(x) // 2),
    ),
    "products of a batch": (
        lambda x: pullback.einsum("bi,bj->ij", x.reshape(-1, 2), x.reshape(-1, 2)).sum(),
        lambda x: (x.reshape(-1, 2).sum(1) ** 2).sum(), lambda x: np.repeat(2 * x.reshape(-1, 2).sum(1), 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes(name):
    program, value, slope = PROGRAMS[name]
    compiled = pullback.compile(pullback.func.grad_and_value(lambda x: ((y := program(x)).sum(), y), has_aux=True))
    for shift in (0.0, 0.1):
        x = np.array([0.3, 0.8, 1.2, 1.7, 2.4, 0.9]) + shift
        found, (_, result) = compiled(pullback.from_numpy(x))
        np.testing.assert_allclose(result.numpy(), value(x), rtol=1e-12)
        np.testing.assert_allclose(found.numpy(), slope(x), rtol=1e-11, atol=1e-12)
