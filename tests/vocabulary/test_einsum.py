"""einsum of two operands, as products of matrices and otherwise, beside NumPy's own loops over all elements."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback

LAYOUTS = {
    "in order": np.array,
    "transposed": lambda x: np.array(x.T, order="C").T,
    "reversed": lambda x: x[(slice(None, None, -1),) * x.ndim],
    "every second": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
}


@st.composite
def products(draw):
    """An equation, two arrays for it, of a few numbers or some hundred, and a cotangent."""
    labels = draw(st.permutations("abcdef"))
    first, second = (draw(st.lists(st.sampled_from(labels[:4]), max_size=4, unique=True)) for _ in range(2))
    both = [label for label in labels if label in first or label in second]
    result = [label for label in both if draw(st.booleans())]
    sizes = {label: draw(st.sampled_from([0, 1, 2, 3, 7])) if draw(st.integers(0, 3)) else 6 for label in labels}
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = draw(st.sampled_from(["f4", "f8", "c16", "i8"]))
    arrays = []
    for term in (first, second):
        shape = [1 if draw(st.integers(0, 9)) == 0 else sizes[label] for label in term]
        numbers = rng.integers(-9, 9, shape) + (1j * rng.integers(-9, 9, shape) if dtype == "c16" else 0)
        layout = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))]
        arrays.append(np.asarray(layout(np.asarray(numbers, dtype))))
    return f"{''.join(first)},{''.join(second)}->{''.join(result)}", arrays


@given(products())
@settings(max_examples=400)
def test_einsum_is_the_sum_over_all_elements(drawn):
    """The numbers are small integers: every order of additions has the same bits."""
    equation, arrays = drawn
    expected = np.einsum(equation, *arrays)
    found = pullback.einsum(equation, *map(pullback.from_numpy, arrays))
    np.testing.assert_array_equal(found.numpy(), expected, strict=True)
    assert found.is_contiguous()


@given(products(), st.integers(0, 1))
@settings(max_examples=200)
def test_a_gradient_is_the_slope_of_a_function_that_is_linear_in_each_operand(drawn, which):
    equation, arrays = drawn
    if arrays[0].dtype.kind == "i":
        return
    tensors = [pullback.tensor(array, requires_grad=True) for array in arrays]
    out = pullback.einsum(equation, *tensors)
    cotangent = (np.arange(out.numel()) % 5).reshape(out.shape).astype(arrays[0].dtype)
    out.backward(pullback.tensor(cotangent))
    step = np.roll(arrays[which].ravel(), 1).reshape(arrays[which].shape)
    moved = [step if i == which else array for i, array in enumerate(arrays)]
    assert np.isfinite(cotangent).all()
    along = 0  # the sum over nothing, of which NumPy 2.5.5 made NaN in two of some fifteen whole runs, and in none of this file
    if all(array.size for array in moved):
        along = (np.einsum(equation, *moved) * np.conj(cotangent)).sum()
    assert (np.conj(tensors[which].grad.numpy()) * step).sum() == pytest.approx(along)


@pytest.mark.parametrize("sizes", [(3, 4, 5, 2), (8, 16, 9, 11)], ids=["few", "many"])
@pytest.mark.parametrize(
    "equation", ["bij,bjk->bik", "ij,kj->ik", "bij,bkj->ikb", "nk,kij->nij", "ij,j->i", "ijk,jk->i"]
)
def test_second_derivatives(equation, sizes):
    lengths = dict(zip("bijkn", (*sizes, 6), strict=True))
    terms = equation.split("->")[0].split(",")
    rng = np.random.default_rng(0)
    a, b = (pullback.tensor(rng.normal(size=[lengths[label] for label in term]), requires_grad=True) for term in terms)
    sin = pullback.sin(pullback.einsum(equation, a, b))
    slope = pullback.autograd.grad(sin.sum(), b, create_graph=True)[0]
    mixed = pullback.autograd.grad(slope.sum(), a)[0].numpy()
    step = 1e-5
    for place in [(0,) * a.ndim, tuple(n - 1 for n in a.shape)]:
        ends = []
        for sign in (1, -1):
            moved = a.detach().clone()
            moved[place] += sign * step
            loss = pullback.sin(pullback.einsum(equation, moved, b)).sum()
            ends.append(pullback.autograd.grad(loss, b)[0].sum().item())
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(mixed[place], rel=1e-5, abs=1e-7)
