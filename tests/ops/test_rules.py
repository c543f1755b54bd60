"""Every derivative rule against finite differences, on samples from one table; a primitive without a row fails."""

import inspect

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback._tensor.tensor import past_bind
from pullback.autograd import grad

from .. import samples
from ..rows import each_row
from ..samples.spectra import TOGETHER

PRIMITIVES = {name: value for name, value in ops.tables().items() if value.differentiable}
ROW = samples.rows()


each_sample = each_row(ROW)
STEP = 1e-6
SYMMETRIC = {"cholesky", "eigh"}  # they read one triangle of a matrix, and mean both


def arguments(makers):
    """The same read-only arrays at every call."""
    rng = np.random.default_rng(5)
    arrays = [np.asarray(make(rng)) for make in makers]
    for array in arrays:
        array.flags.writeable = False
    return arrays


def tracked(arrays):
    """Tensors that require grad for floats and complex numbers, plain arrays for indices and masks."""
    floats = [array.dtype.kind in "fc" for array in arrays]
    return [pullback.from_numpy(a).requires_grad_() if real else a for a, real in zip(arrays, floats, strict=True)]


def pieces(result):
    """The outputs of an operation, as a list; of several, those that can have a derivative."""
    if not isinstance(result, tuple):
        return [result]
    return [piece for piece in result if getattr(piece, "_dtype", piece.dtype).kind in "fc"]


def leaves(args):
    return [arg for arg in args if pullback.is_tensor(arg) and arg.requires_grad]


def random_like(tensors, seed):
    rng = np.random.default_rng(seed)
    kinds = [(t.shape, t.dtype.numpy) for t in tensors]
    return [
        pullback.from_numpy(
            np.asarray(rng.standard_normal(n) + (1j * rng.standard_normal(n) if d.kind == "c" else 0), d)
        )
        for n, d in kinds
    ]


def inner(a, b):
    """The real part of the inner product of arrays: of complex ones in torch's convention, where a gradient is conjugated."""
    return sum(np.sum(np.conj(x) * y).real for x, y in zip(a, b, strict=True))


def directions_like(name, tensors, seed):
    """Where the inputs of a primitive are moved to."""
    found = random_like(tensors, seed)
    return [found[0] + found[0].mT, *found[1:]] if name in SYMMETRIC else found


def pull(name, makers, params, seed, *, create_graph=False):
    """The arguments that are tracked, cotangents, and what they pull back to."""
    args = tracked(arguments(makers))
    outputs = pieces(PRIMITIVES[name](*args, **params))
    cotangents = random_like(outputs, seed)
    pulled = grad(outputs, leaves(args), cotangents, create_graph=create_graph, materialize_grads=True)
    return args, cotangents, pulled


def value(name, arrays, params, cotangents):
    """The inner product of the outputs with cotangents: what the pullback differentiates."""
    results = pieces(PRIMITIVES[name](*arrays, **params))
    return inner([c.numpy() for c in cotangents], results)


def moved(arrays, directions, step):
    """The float arrays moved along directions; the others as they are."""
    rest = iter(directions)
    return [np.asarray(a + step * next(rest).numpy()) if a.dtype.kind in "fc" else a for a in arrays]


def test_every_primitive_has_a_row():
    without = PRIMITIVES.keys() - {row[0] for row in ROW} - TOGETHER
    assert not without, f"write rows for {sorted(without)} in the module of tests/samples with the name of their table"
    assert {row[0] for row in ROW} | TOGETHER == PRIMITIVES.keys()


@each_sample
def test_the_pullback_is_the_derivative(name, makers, params):
    args, cotangents, pulled = pull(name, makers, params, seed=1)
    directions = directions_like(name, leaves(args), seed=2)
    arrays = arguments(makers)
    ahead, behind = (value(name, moved(arrays, directions, step), params, cotangents) for step in (STEP, -STEP))
    slope = inner([p.numpy() for p in pulled], [d.numpy() for d in directions])
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * STEP), rtol=2e-7, atol=2e-8)


@each_sample
def test_gradients_have_the_shapes_and_dtypes_of_their_inputs(name, makers, params):
    args, _, pulled = pull(name, makers, params, seed=1)
    for leaf, p in zip(leaves(args), pulled, strict=True):
        assert (p.shape, p.dtype) == (leaf.shape, leaf.dtype)


@each_sample
def test_the_pullback_is_linear(name, makers, params):
    args = tracked(arguments(makers))
    outputs = pieces(PRIMITIVES[name](*args, **params))
    first, second = random_like(outputs, 3), random_like(outputs, 4)
    both = [2 * a - 3 * b for a, b in zip(first, second, strict=True)]
    a, b, c = (grad(outputs, leaves(args), v, retain_graph=True, materialize_grads=True) for v in (first, second, both))
    for one, other, together in zip(a, b, c, strict=True):
        np.testing.assert_allclose(together.numpy(), 2 * one.numpy() - 3 * other.numpy(), rtol=1e-12, atol=1e-12)


@each_sample
def test_inputs_and_cotangents_stay_as_they_are(name, makers, params):
    arrays = arguments(makers)
    before = [array.copy() for array in arrays]
    args = tracked(arrays)
    outputs = pieces(PRIMITIVES[name](*args, **params))
    cotangents = random_like(outputs, 1)
    for c in cotangents:
        c.numpy().flags.writeable = False
    given = [c.numpy().copy() for c in cotangents]
    kept = [output.detach().numpy().copy() for output in outputs]
    grad(outputs, leaves(args), cotangents, retain_graph=True, materialize_grads=True)
    for now, then in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(now, then)
    for now, then in zip(cotangents, given, strict=True):
        np.testing.assert_array_equal(now.numpy(), then)
    for now, then in zip(outputs, kept, strict=True):
        np.testing.assert_array_equal(now.detach().numpy(), then)


@each_sample
def test_the_layout_of_memory_does_not_matter(name, makers, params):
    """Fortran's order and gaps between the elements, of inputs and of cotangents."""

    def loose(array):
        wide = np.zeros((*array.shape[::-1], 2), array.dtype)[..., 0].T
        wide[...] = array
        return wide

    _, cotangents, pulled = pull(name, makers, params, seed=1)
    args = tracked([loose(array) for array in arguments(makers)])
    outputs = pieces(PRIMITIVES[name](*args, **params))
    laid_out = [pullback.from_numpy(loose(c.numpy())) for c in cotangents]
    found = grad(outputs, leaves(args), laid_out, materialize_grads=True)
    for one, other in zip(found, pulled, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-14)


@each_sample
def test_raw_and_dispatched_agree_to_the_bit(name, makers, params):
    raw, boxed = (pull(name, makers, params, 1, create_graph=create_graph)[2] for create_graph in (False, True))
    for r, b in zip(raw, boxed, strict=True):
        assert r.dtype == b.dtype
        np.testing.assert_array_equal(r.numpy(), b.detach().numpy())
    arrays = arguments(makers)
    plain, tensors = (pieces(PRIMITIVES[name](*args, **params)) for args in (arrays, tracked(arrays)))
    for array, tensor in zip(plain, tensors, strict=True):
        assert array.dtype == tensor.dtype.numpy
        np.testing.assert_array_equal(array, tensor.detach().numpy())


def described(node):
    """What a node has kept, and how it was made."""
    kept = [None if cell is None else np.asarray(cell.array).tobytes() for cell in node.saved]
    return type(node), node.shape, node.params or {}, [edge is None for edge in node.edges], kept


@each_sample
def test_the_short_way_past_bind_is_the_general_way(name, makers, params):
    for constant in (False, True):
        args = tracked(arguments(makers))
        if constant and len(leaves(args)) > 1:
            leaves(args)[0].requires_grad_(False)
        short = pieces(PRIMITIVES[name](*args, **params))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PRIMITIVES[name], "_way", inspect.unwrap(past_bind(PRIMITIVES[name])))
            general = pieces(PRIMITIVES[name](*args, **params))
        for ours, theirs in zip(short, general, strict=True):
            assert ours.detach().numpy().tobytes() == theirs.detach().numpy().tobytes()
            assert described(ours._node) == described(theirs._node)


@each_sample
def test_the_pullback_has_the_right_derivative_itself(name, makers, params):
    """Pull back, take the product with a direction, and differentiate that by inputs and cotangents."""

    def product(arrays, cotangents, *, create_graph):
        args = tracked(arrays)
        outputs = pieces(PRIMITIVES[name](*args, **params))
        pulled = grad(outputs, leaves(args), cotangents, create_graph=create_graph, materialize_grads=True)
        directions = random_like(leaves(args), 2)
        total = sum(pullback.real((p * d).sum()) for p, d in zip(pulled, directions, strict=True))
        return leaves(args), total

    arrays = arguments(makers)
    shown = pieces(PRIMITIVES[name](*arrays, **params))
    cotangents = [c.requires_grad_() for c in random_like(map(pullback.from_numpy, map(np.asarray, shown)), 1)]
    inputs, total = product(arrays, cotangents, create_graph=True)
    sources = [*inputs, *cotangents]
    if not total.requires_grad:
        pulled = [pullback.zeros_like(source) for source in sources]
    else:
        pulled = grad(total, sources, materialize_grads=True)
    shifts = directions_like(name, sources, 6)
    ends = []
    for step in (STEP, -STEP):
        turned = [c.detach() + step * s for c, s in zip(cotangents, shifts[len(inputs) :], strict=True)]
        ends.append(product(moved(arrays, shifts[: len(inputs)], step), turned, create_graph=False)[1].item())
    slope = inner([p.numpy() for p in pulled], [s.numpy() for s in shifts])
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * STEP), rtol=2e-6, atol=2e-7)


HOLOMORPHIC = [
    *((name, 1, {}) for name in "negative square exp sin cos sinh cosh tanh reciprocal sqrt log clone conj".split()),
    *((name, 2, {}) for name in ("add", "subtract", "rsub", "multiply", "divide")),
    *(("power", 1, {"exponent": exponent}) for exponent in (2, 3, -1)),
    *((name, 1, {"axis": (0,), "keepdims": False}) for name in ("sum", "mean")),
    ("matmul", 2, {}),
    ("permute_dims", 1, {"axes": (1, 0)}),
]


@pytest.mark.parametrize(("name", "count", "params"), HOLOMORPHIC)
def test_a_complex_gradient_is_the_direction_of_steepest_ascent(name, count, params):
    """torch's convention: a step d changes a real loss by the real part of sum(conj(gradient) * d)."""
    rng = np.random.default_rng(7)

    def numbers(*shape):
        return rng.uniform(0.3, 1.2, shape) + 1j * rng.uniform(-0.8, 0.8, shape)

    arrays = [numbers(3, 3) for _ in range(count)]
    args = [pullback.from_numpy(array).requires_grad_() for array in arrays]
    output = PRIMITIVES[name](*args, **params)
    cotangent = numbers(*output.shape)
    pulled = grad(output, args, pullback.from_numpy(cotangent))
    directions = [numbers(3, 3) for _ in arrays]
    ends = []
    for step in (STEP, -STEP):
        result = PRIMITIVES[name](*(a + step * d for a, d in zip(arrays, directions, strict=True)), **params)
        ends.append(np.sum(np.conj(cotangent) * result).real)
    slope = sum(np.sum(np.conj(p.numpy()) * d).real for p, d in zip(pulled, directions, strict=True))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * STEP), rtol=2e-7, atol=2e-8)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_masked_cotangent_is_zero_whatever_it_was(bad):
    """Zero, not zero times infinity: relu, where and clamp pass nothing where they are closed."""
    for size in (8, 4000):
        x = pullback.from_numpy(np.where(np.arange(size) % 2, 1.0, -1.0)).requires_grad_()
        v = np.where(np.arange(size) % 4, 1.0, bad)
        for function in (lambda t: t.relu(), lambda t: pullback.where(t > 0, t, 0.0), lambda t: t.clamp(0, 2)):
            (g,) = pullback.autograd.grad(function(x), x, v)
            np.testing.assert_array_equal(g.numpy(), np.where(np.arange(size) % 2, v, 0))
