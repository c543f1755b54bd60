"""Transforms beside the derivatives of what they compute, and constraints by values at their bounds."""

import numpy as np
import pytest

import pullback
from pullback import distributions as d
from pullback.distributions import constraints as c
from pullback.func import jacrev

POINTS = pullback.tensor([[0.2, 0.7], [1.1, 1.6]], dtype=pullback.float64)
EXP, SIGMOID, CUBE = (
    d.ExpTransform(),
    d.SigmoidTransform(),
    d.PowerTransform(pullback.tensor(3.0, dtype=pullback.float64)),
)
OF_ELEMENTS = {
    "exp": EXP,
    "log": EXP.inv,
    "power": CUBE,
    "sigmoid": SIGMOID,
    "tanh": d.transforms.TanhTransform(),
    "softplus": d.transforms.SoftplusTransform(),
    "affine": d.AffineTransform(0.3, -2.0),
    "cumulative": d.transforms.CumulativeDistributionTransform(d.Normal(POINTS[0] * 0 + 0.3, 1.2)),
    "composed": d.ComposeTransform([CUBE, d.AffineTransform(0.5, 2.0), EXP.inv]),
    "cat": d.CatTransform([EXP, CUBE], lengths=[1, 1], dim=-1),
    "stack": d.StackTransform([SIGMOID, CUBE], dim=-2),
}
OF_VECTORS = {
    "independent": (d.IndependentTransform(EXP, 1), lambda y: y),
    "reshape": (d.transforms.ReshapeTransform((3,), (3, 1)), lambda y: y[:, 0]),
    "stick breaking": (d.StickBreakingTransform(), lambda y: y[:-1]),
    "correlations": (d.CorrCholeskyTransform(), lambda y: y[[1, 2, 2], [0, 0, 1]]),
    "cat": (d.CatTransform([d.IndependentTransform(EXP, 1)] * 2, lengths=[1, 2]), lambda y: y),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_a_transform_of_elements_knows_its_slopes_and_its_inverse(name):
    transform, x = OF_ELEMENTS[name], POINTS.clone().requires_grad_()
    y = transform(x)
    (slopes,) = pullback.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(
        transform.log_abs_det_jacobian(x, y).detach(), slopes.abs().log(), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(transform.inv(y.detach()), POINTS, rtol=1e-9)
    back = transform.inv.log_abs_det_jacobian(y.detach(), POINTS)
    np.testing.assert_allclose(back, -slopes.abs().log(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OF_VECTORS)
def test_a_transform_of_vectors_knows_its_determinant_and_its_inverse(name):
    transform, coordinates = OF_VECTORS[name]
    x = pullback.tensor([0.2, -0.7, 1.1], dtype=pullback.float64)
    y = transform(x)
    size = pullback.linalg.slogdet(jacrev(lambda x: coordinates(transform(x)))(x))[1]
    np.testing.assert_allclose(transform.log_abs_det_jacobian(x, y).sum(), size, rtol=1e-12)
    np.testing.assert_allclose(transform.inv(y), x, rtol=1e-9)
    assert transform.forward_shape((5, 3)) == (5, *y.shape)
    assert transform.inverse_shape((5, *y.shape)) == (5, 3)


def test_a_kept_value_answers_for_its_own_argument_only():
    kept, twice = d.ExpTransform().with_cache(), POINTS * 2
    y = kept(POINTS)
    assert kept(POINTS) is y and kept.inv(y) is POINTS
    np.testing.assert_array_equal(kept(twice), twice.exp())
    np.testing.assert_array_equal(kept.inv(POINTS), POINTS.log())


NAN = float("nan")
# A constraint, values that fulfil it, and values that do not: those at its bounds among them.
CONSTRAINED = [
    (c.boolean, [0, 1], [0.5, 2, NAN]),
    (c.nonnegative_integer, [0, 3], [-1, 0.5]),
    (c.positive_integer, [1, 3], [0, 1.5]),
    (c.integer_interval(1, 3), [1, 3], [0, 4, 1.5]),
    (c.real, [0, -1e9], [NAN]),
    (c.positive, [1e-9], [0, -1]),
    (c.nonnegative, [0, 1], [-1e-9]),
    (c.greater_than(2), [3], [2, 1]),
    (c.greater_than_eq(2), [2, 3], [1]),
    (c.less_than(2), [1], [2, 3]),
    (c.interval(1, 2), [1, 2], [0.9, 2.1]),
    (c.half_open_interval(1, 2), [1, 1.9], [2, 0.9]),
    (c.unit_interval, [0, 1], [-0.1, 1.1]),
    (c.real_vector, [[0, 1]], [[0, NAN]]),
    (c.simplex, [[0, 1], [0.5, 0.5]], [[0.5, 0.6], [-0.5, 1.5]]),
    (c.one_hot, [[0, 1]], [[0, 0], [1, 1], [0.5, 0.5]]),
    (c.multinomial(3), [[0, 3], [1, 1]], [[4, 0], [-1, 4]]),
    (c.lower_triangular, [[[-1, 0], [2, 3]]], [[[1, 2], [0, 1]]]),
    (c.lower_cholesky, [[[1, 0], [2, 3]]], [[[-1, 0], [2, 3]], [[1, 2], [0, 1]]]),
    (c.corr_cholesky, [[[1, 0], [0.6, 0.8]]], [[[1, 0], [0.6, 0.9]], [[1, 0], [0.6, -0.8]]]),
    (c.square, [[[1, 2], [3, 4]]], [[[1, 2, 3], [3, 4, 5]], [[1], [2]]]),
    (c.symmetric, [[[1, 2], [2, 4]]], [[[1, 2], [3, 4]], [[1, 2, 3], [2, 4, 5]]]),
    (c.positive_semidefinite, [[[1, 1], [1, 1]]], [[[1, 2], [2, 1]], [[1, 2], [3, 40]]]),
    (c.positive_definite, [[[2, 1], [1, 1]]], [[[1, 1], [1, 1]], [[2, 1, 0], [1, 1, 0]]]),
    (c.cat([c.positive, c.boolean], -1, [1, 2]), [[3, 0, 1]], [[0, 0, 1], [3, 0, 2]]),
    (c.stack([c.positive, c.boolean], -1), [[3, 1]], [[0, 1], [3, 3]]),
    (c.independent(c.positive, 1), [[1, 2]], [[0, 2], [1, -1]]),
]


@pytest.mark.parametrize(("constraint", "right", "wrong"), CONSTRAINED, ids=lambda each: str(each)[:40])
def test_values_at_the_bounds_of_a_constraint(constraint, right, wrong):
    for value in right:
        assert constraint.check(pullback.tensor(value, dtype=pullback.float64)).all(), value
    for value in wrong:
        assert not constraint.check(pullback.tensor(value, dtype=pullback.float64)).all(), value
