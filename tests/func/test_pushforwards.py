"""Forward mode through every primitive: the adjoint of its pullback, from one row of samples each, and nested."""

import numpy as np

import pullback
from pullback import func, ops

from .. import samples
from ..ops.test_rules import PRIMITIVES, arguments, each_sample, inner, pieces, random_like


def floats(arrays):
    """The places of what has a derivative."""
    return [i for i, array in enumerate(arrays) if array.dtype.kind in "fc"]


def of_floats(name, arrays, params):
    """The primitive as a function of its float arguments, to a tuple of its outputs that can have a derivative."""

    def f(*given):
        values = list(arrays)
        for place, value in zip(floats(arrays), given, strict=True):
            values[place] = value
        return tuple(pieces(PRIMITIVES[name](*values, **params)))

    return f


def sample(name, makers, params):
    """The function of a row, its arguments as tensors, and tangents for them."""
    arrays = arguments(makers)
    primals = [pullback.from_numpy(arrays[i].copy()) for i in floats(arrays)]
    return of_floats(name, arrays, params), primals, random_like(primals, 2)


@each_sample
def test_tangents_and_cotangents_are_adjoint(name, makers, params):
    """<J t, g> = <t, J^T g>, with the dtypes and shapes of the outputs."""
    f, primals, tangents = sample(name, makers, params)
    outputs, pushed = func.jvp(f, tuple(primals), tuple(tangents))
    for y, t in zip(outputs, pushed, strict=True):
        assert (t.shape, t.dtype) == (y.shape, y.dtype)
    cotangents = random_like(outputs, 3)
    _, pull = func.vjp(f, *primals)
    pulled = pull(tuple(cotangents))
    left = inner([g.numpy() for g in cotangents], [t.numpy() for t in pushed])
    right = inner([g.numpy() for g in pulled], [t.numpy() for t in tangents])
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@each_sample
def test_a_linearized_function_is_its_tangent(name, makers, params):
    f, primals, tangents = sample(name, makers, params)
    _, push = func.linearize(f, *primals)
    _, pushed = func.jvp(f, tuple(primals), tuple(tangents))
    for mine, theirs in zip(push(*tangents), pushed, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-9)


@each_sample
def test_the_tangent_of_a_gradient_is_the_gradient_of_a_tangent(name, makers, params):
    """Derivatives commute: forward over reverse is reverse over forward."""
    f, primals, tangents = sample(name, makers, params)
    if any(primal.is_complex() for primal in primals) or any(y.is_complex() for y in f(*primals)):
        return  # the gradient of a complex function's real part: checked by the adjoint alone
    cotangents = random_like(f(*primals), 3)

    def value(*given):
        return sum((y * g).sum() for y, g in zip(f(*given), cotangents, strict=True))

    where = tuple(range(len(primals)))
    _, ahead = func.jvp(func.grad(value, where), tuple(primals), tuple(tangents))
    behind = func.grad(lambda *given: func.jvp(value, given, tuple(tangents))[1], where)(*primals)
    for mine, theirs in zip(ahead, behind, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-7, atol=1e-7)


def test_every_kind_is_among_the_samples():
    kinds = {ops.tables()[row[0]].kind for row in samples.rows()}
    assert kinds == {"elementwise", "linear", "jointly linear", "multilinear", "general"}


def test_a_function_with_outputs_that_have_no_tangent():
    """Its jvp returns one for each output, None for integers and for what is no tensor."""

    class Parts(pullback.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3, (x * 2).int(), "text", x > 0, x * 1

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3, None, None, None, tangent

    with pullback.autograd.forward_ad.dual_level():
        x = pullback.autograd.forward_ad.make_dual(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 10.0]))
        first, whole, text, truth, last = Parts.apply(x)
        assert text == "text"
        found = [pullback.autograd.forward_ad.unpack_dual(each).tangent for each in (first, whole, truth, last)]
    assert found[0].tolist() == [3.0, 30.0]
    assert found[1:3] == [None, None]
    assert found[3].tolist() == [1.0, 10.0]
