"""torch.autograd.functional and torch.autograd.forward_ad, side by side: values, structures, flags and refusals."""

import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: parity is checked where it is")

import pullback  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


class Library:
    """One of the two, with a vector and a scalar to differentiate by."""

    def __init__(self, lib):
        self.lib = lib
        self.functional = lib.autograd.functional
        self.dual = importlib.import_module(f"{lib.__name__}.autograd.forward_ad")

    @property
    def x(self):
        return self.lib.tensor([1.0, 2.0], dtype=self.lib.float64)

    @property
    def w(self):
        return self.lib.tensor([0.5, -1.0], dtype=self.lib.float64, requires_grad=True)

    def ones(self, *shape):
        return self.lib.ones(*shape, dtype=self.lib.float64)


LIBRARIES = Library(torch), Library(pullback)


def flat(value):
    """The leaves of nested tuples, and how they nest; torch has a list among them in forward mode."""
    if isinstance(value, (tuple, list)):
        parts = [flat(part) for part in value]
        return [leaf for leaves, _ in parts for leaf in leaves], tuple(shape for _, shape in parts)
    return [value], "leaf"


def alike(theirs, mine):
    expected, nested = flat(theirs)
    found, structure = flat(mine)
    assert structure == nested
    for a, b in zip(expected, found, strict=True):
        if a is None or isinstance(a, bool):
            assert b is a
            continue
        assert tuple(b.shape) == tuple(a.shape)
        assert b.requires_grad == a.requires_grad
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-12, atol=1e-14)


def cube(x):
    return (x**3).sum()


ANSWERED = {
    "jacobian": lambda m: m.functional.jacobian(lambda x: x * x.sum(), m.x),
    "jacobian of several outputs": lambda m: m.functional.jacobian(lambda x: (x, x * 2), m.x),
    "jacobian by several inputs": lambda m: m.functional.jacobian(lambda x, y: x * y.exp(), (m.x, m.x)),
    "jacobian of several by several": lambda m: m.functional.jacobian(lambda x, y: (x * y, x.sum()), (m.x, m.x)),
    "jacobian of a constant": lambda m: m.functional.jacobian(lambda x: x.detach() * 1, m.x),
    "jacobian by what is not used": lambda m: m.functional.jacobian(lambda x, y: x * 2, (m.x, m.x)),
    "jacobian, recorded": lambda m: m.functional.jacobian(lambda x: x.exp() * m.w, m.w, create_graph=True),
    "jacobian of a matrix": lambda m: m.functional.jacobian(lambda x: x[:, None] * x, m.x),
    "jacobian, vectorized": lambda m: m.functional.jacobian(lambda x, y: (x * y, x), (m.x, m.x), vectorize=True),
    "jacobian, forward": lambda m: m.functional.jacobian(
        lambda x, y: (x * y, x.sum()), (m.x, m.x), vectorize=True, strategy="forward-mode"
    ),
    "jacobian of a tuple of one": lambda m: m.functional.jacobian(lambda x: (x * 2,), (m.x,)),
    "hessian": lambda m: m.functional.hessian(lambda x: x.prod() + cube(x), m.x),
    "hessian by several inputs": lambda m: m.functional.hessian(lambda x, y: (x * y * y).sum(), (m.x, m.x)),
    "hessian of a linear function": lambda m: m.functional.hessian(lambda x: x.sum(), m.x),
    "hessian of a constant": lambda m: m.functional.hessian(lambda x: x.detach().sum(), m.x),
    "hessian, recorded": lambda m: m.functional.hessian(cube, m.w, create_graph=True),
    "hessian, forward": lambda m: m.functional.hessian(
        cube, m.x, vectorize=True, outer_jacobian_strategy="forward-mode"
    ).detach(),  # torch's is tracked without having been asked
    "vjp": lambda m: m.functional.vjp(lambda x: x * x, m.x, m.ones(2)),
    "vjp of several": lambda m: m.functional.vjp(lambda x, y: (x * y, x), (m.x, m.x), (m.ones(2), m.x)),
    "vjp of a scalar": lambda m: m.functional.vjp(cube, m.x),
    "vjp of a constant": lambda m: m.functional.vjp(lambda x: x.detach() * 1, m.x, m.x),
    "vjp, recorded": lambda m: m.functional.vjp(cube, m.w, create_graph=True),
    "jvp": lambda m: m.functional.jvp(lambda x: x * x, m.x, m.x),
    "jvp of several": lambda m: m.functional.jvp(lambda x, y: (x * y, x), (m.x, m.x), (m.ones(2), m.x)),
    "jvp of a constant": lambda m: m.functional.jvp(lambda x: x.detach() * 1, m.x, m.x),
    "jvp, recorded": lambda m: m.functional.jvp(lambda x: x**3, m.w, m.x, create_graph=True),
    "hvp": lambda m: m.functional.hvp(cube, m.x, m.x),
    "hvp of several": lambda m: m.functional.hvp(lambda x, y: (x * y * y).sum(), (m.x, m.x), (m.ones(2), m.x)),
    "hvp of a linear function": lambda m: m.functional.hvp(lambda x: x.sum(), m.x, m.x),
    "vhp": lambda m: m.functional.vhp(cube, m.x, m.x),
    "vhp, recorded": lambda m: m.functional.vhp(cube, m.w, m.x, create_graph=True),
    "no dual": lambda m: tuple(m.dual.unpack_dual(m.x)),
}

REFUSED = {
    "strict jacobian of a constant": lambda m: m.functional.jacobian(lambda x: x.detach(), m.x, strict=True),
    "strict jacobian of another": lambda m: m.functional.jacobian(lambda x: m.w * 2, m.x, strict=True),
    "strict jacobian, one unused": lambda m: m.functional.jacobian(lambda x, y: x * 2, (m.x, m.x), strict=True),
    "strict jacobian, recorded": lambda m: m.functional.jacobian(lambda x: x * 2, m.w, create_graph=True, strict=True),
    "jacobian of a list": lambda m: m.functional.jacobian(lambda x: x * 2, [m.x]),
    "jacobian to a list": lambda m: m.functional.jacobian(lambda x: [x * 2], m.x),
    "jacobian by a text": lambda m: m.functional.jacobian(lambda x, y: x * 2, (m.x, "y")),
    "jacobian to a number": lambda m: m.functional.jacobian(lambda x: (x * 2, 3), m.x),
    "jacobian by integers": lambda m: m.functional.jacobian(lambda x: x * 2, m.lib.tensor([1, 2])),
    "an unknown strategy": lambda m: m.functional.jacobian(lambda x: x, m.x, strategy="x"),
    "forward, not vectorized": lambda m: m.functional.jacobian(lambda x: x, m.x, strategy="forward-mode"),
    "forward, recorded": lambda m: m.functional.jacobian(
        lambda x: x, m.x, vectorize=True, create_graph=True, strategy="forward-mode"
    ),
    "strict and vectorized": lambda m: m.functional.jacobian(lambda x: x, m.x, strict=True, vectorize=True),
    "strict hessian of a linear function": lambda m: m.functional.hessian(lambda x: x.sum(), m.x, strict=True),
    "hessian of a vector": lambda m: m.functional.hessian(lambda x: x * x, m.x),
    "hessian of two": lambda m: m.functional.hessian(lambda x: (x.sum(), x.sum()), m.x),
    "hessian of a number": lambda m: m.functional.hessian(lambda x: 3, m.x),
    "an unknown outer strategy": lambda m: m.functional.hessian(cube, m.x, outer_jacobian_strategy="y"),
    "vjp without v": lambda m: m.functional.vjp(lambda x: x * x, m.x),
    "v of another shape": lambda m: m.functional.vjp(lambda x: x * x, m.x, m.ones(3)),
    "two v": lambda m: m.functional.vjp(lambda x: x * x, m.x, (m.ones(2), m.ones(2))),
    "too few v": lambda m: m.functional.vjp(lambda x: (x, x), m.x, (m.ones(2),)),
    "an entry of another shape": lambda m: m.functional.vjp(lambda x: (x, x), m.x, (m.ones(2), m.ones(3))),
    "a set as v": lambda m: m.functional.vjp(lambda x: x * x, m.x, {1.0, 2.0}),
    "strict vjp, one unused": lambda m: m.functional.vjp(lambda x, y: cube(x), (m.x, m.x), strict=True),
    "strict vjp, recorded": lambda m: m.functional.vjp(lambda x: x.sum(), m.x, strict=True, create_graph=True),
    "jvp without v": lambda m: m.functional.jvp(lambda x: x * x, m.x),
    "strict jvp of a constant": lambda m: m.functional.jvp(lambda x: x.detach(), m.x, m.x, strict=True),
    "strict jvp, recorded": lambda m: m.functional.jvp(lambda x: x * 2, m.x, m.x, strict=True, create_graph=True),
    "strict hvp of a linear function": lambda m: m.functional.hvp(lambda x: x.sum(), m.x, m.x, strict=True),
    "strict vhp, one unused": lambda m: m.functional.vhp(lambda x, y: cube(x), (m.x, m.x), (m.x, m.x), strict=True),
    "vhp of a vector": lambda m: m.functional.vhp(lambda x: x**3, m.x, m.x),
    "hvp without v": lambda m: m.functional.hvp(cube, m.x),
    "dual without a level": lambda m: m.dual.make_dual(m.x, m.x),
    "no level to leave": lambda m: m.dual.exit_dual_level(),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_answers(name):
    alike(*map(ANSWERED[name], LIBRARIES))


def refused_alike(function):
    """Both refuse, with the same type, and torch's first words are in our text."""
    texts = []
    kind = Exception
    for library in LIBRARIES:
        with pytest.raises(kind) as caught:
            function(library)
        kind = type(caught.value)
        texts.append(str(caught.value).replace("torch.autograd.functional.", ""))
    assert texts[1].replace("pullback.", "torch.").startswith(texts[0][:35]), texts


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    if name == "jacobian by integers":  # torch has a text of its own for this place
        with pytest.raises(RuntimeError, match="floating point"):
            REFUSED[name](LIBRARIES[1])
        return
    refused_alike(REFUSED[name])


DUALS = {
    "a product": lambda m, d: d * d,
    "a constant": lambda m, d: m.ones(2) * 2,
    "mixed with others": lambda m, d: (d * m.ones(2)).sum() + m.ones(1),
    "views": lambda m, d: d[1:].unsqueeze(0),
    "no_grad does not stop it": lambda m, d: no_grad(m, d.exp),
    "detached": lambda m, d: d.detach() * 3,
    "a selection": lambda m, d: d.max(),
    "softmax": lambda m, d: d.softmax(0),
}


def no_grad(m, function):
    with m.lib.no_grad():
        return function()


@pytest.mark.parametrize("name", DUALS)
def test_dual_tensors(name):
    answers = []
    for m in LIBRARIES:
        with m.dual.dual_level():
            dual = m.dual.make_dual(m.x, m.ones(2) * 0.5)
            answers.append(tuple(m.dual.unpack_dual(DUALS[name](m, dual))))
    alike(*answers)


def both_modes(m):
    """Reverse over forward, and forward over reverse."""
    w = m.w
    with m.dual.dual_level():
        dual = m.dual.make_dual(w, m.x)
        y = (dual**3).sum() * dual[0]
        (gradient,) = m.lib.autograd.grad(y, dual, create_graph=True)
        product = m.dual.unpack_dual(gradient).tangent
        tangent = m.dual.unpack_dual(y).tangent
        (second,) = m.lib.autograd.grad(tangent, w, retain_graph=True)
        m.dual.unpack_dual(y).primal.backward()
    return product.detach(), second, w.grad


def test_duals_and_the_tape():
    alike(*map(both_modes, LIBRARIES))


def test_a_dual_outlives_its_level_as_its_primal():
    answers = []
    for m in LIBRARIES:
        with m.dual.dual_level():
            y = m.dual.make_dual(m.x, m.x) * 2
        answers.append((*m.dual.unpack_dual(y), y + 1))
    assert answers[1][1] is None
    alike(*answers)


INSIDE = {
    "twice": lambda m, d: m.dual.make_dual(d, m.x),
    "integers": lambda m, d: m.dual.make_dual(m.lib.tensor([1, 2]), m.x),
    "an integer tangent": lambda m, d: m.dual.make_dual(m.x, m.lib.tensor([1, 2])),
    "another shape": lambda m, d: m.dual.make_dual(m.x, m.ones(3)),
    "a number": lambda m, d: m.dual.make_dual(3.0, m.x),
    "nested levels": lambda m, d: m.dual.dual_level().__enter__(),
}


@pytest.mark.parametrize("name", INSIDE)
def test_refusals_inside_a_level(name):
    def attempt(m):
        with m.dual.dual_level():
            INSIDE[name](m, m.dual.make_dual(m.x, m.x))

    refused_alike(attempt)
