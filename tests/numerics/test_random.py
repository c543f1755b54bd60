"""Random numbers: where they come from, what they are like, and what may be asked of them."""

import pickle

import numpy as np
import pytest

import pullback

COUNT = 20_000

# By name: the call, and the mean and standard deviation that its numbers have.
SAMPLERS = {
    "uniform_": (lambda t, g: t.uniform_(-1, 3, generator=g), 1, 4 / 12**0.5),
    "normal_": (lambda t, g: t.normal_(2, 3, generator=g), 2, 3),
    "log_normal_": (lambda t, g: t.log_normal_(0, 0.5, generator=g), np.exp(0.125), 0.604),
    "exponential_": (lambda t, g: t.exponential_(2, generator=g), 0.5, 0.5),
    "geometric_": (lambda t, g: t.geometric_(0.25, generator=g), 4, 12**0.5),
    "bernoulli_": (lambda t, g: t.bernoulli_(0.25, generator=g), 0.25, 0.433),
    "random_": (lambda t, g: t.random_(2, 6, generator=g), 3.5, 1.118),
    "bernoulli": (lambda t, g: pullback.bernoulli(t + 0.25, generator=g), 0.25, 0.433),
    "poisson": (lambda t, g: pullback.poisson(t + 4, generator=g), 4, 2),
    "binomial": (lambda t, g: pullback.binomial(t + 4, t + 0.5, generator=g), 2, 1),
    "normal": (lambda t, g: pullback.normal(t + 2, 3.0, generator=g), 2, 3),
    "normal of a size": (lambda t, g: pullback.normal(2.0, 3.0, t.shape, generator=g), 2, 3),
    "rand": (lambda t, g: pullback.rand(t.shape, generator=g), 0.5, 12**-0.5),
    "randn": (lambda t, g: pullback.randn(t.shape, generator=g), 0, 1),
    "rand, complex": (lambda t, g: pullback.rand(t.shape, generator=g, dtype=pullback.complex64), 0.5 + 0.5j, 6**-0.5),
    "randn, complex": (lambda t, g: pullback.randn(t.shape, generator=g, dtype=pullback.complex128), 0, 1),
    "randn_like": (lambda t, g: pullback.randn_like(t.cfloat(), generator=g), 0, 1),
    "normal by default": (lambda t, g: pullback.normal(size=t.shape, generator=g), 0, 1),
    "normal_, complex": (lambda t, g: t.cfloat().normal_(2, 3, generator=g), 2, 3),
    "randint": (lambda t, g: pullback.randint(2, 6, t.shape, generator=g), 3.5, 1.118),
    "randperm": (lambda t, g: pullback.randperm(COUNT, generator=g), (COUNT - 1) / 2, COUNT / 12**0.5),
}
each_sampler = pytest.mark.parametrize(("call", "mean", "spread"), SAMPLERS.values(), ids=SAMPLERS)


def drawn(call, seed):
    return call(pullback.zeros(COUNT), pullback.Generator().manual_seed(seed)).numpy()


@each_sampler
def test_moments(call, mean, spread):
    found = drawn(call, 3)
    assert found.mean() == pytest.approx(mean, abs=5 * spread / COUNT**0.5)
    assert found.std() == pytest.approx(spread, rel=0.06)


@pytest.mark.parametrize("name", [name for name in SAMPLERS if "complex" in name])
def test_parts_of_complex_numbers_are_alike_and_independent(name):
    call, mean, spread = SAMPLERS[name]
    found = (drawn(call, 3) - mean) / spread
    parts = np.stack([found.real, found.imag])
    np.testing.assert_allclose(parts @ parts.T / COUNT, [[0.5, 0], [0, 0.5]], atol=0.02)


@each_sampler
def test_a_seed_decides_the_numbers(call, mean, spread):
    np.testing.assert_array_equal(drawn(call, 3), drawn(call, 3))
    assert (drawn(call, 3) != drawn(call, 4)).any()


def test_cauchy():
    found = pullback.zeros(COUNT).cauchy_(1, 2, generator=pullback.Generator()).numpy()
    np.testing.assert_allclose(np.quantile(found, [0.25, 0.5, 0.75]), [-1, 1, 3], atol=0.2)


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_draws_in_proportion_to_weights(replacement):
    weights = pullback.tensor([[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]]).expand(2, 3).repeat(5000, 1)
    first = pullback.multinomial(weights, 2, replacement, generator=pullback.Generator()).numpy()[:, 0].reshape(-1, 2)
    counts = [np.bincount(column.astype(np.intp), minlength=3) / len(column) for column in first.T]
    np.testing.assert_allclose(counts, [[0.25, 0, 0.75], [0, 0.5, 0.5]], atol=0.03)


def test_multinomial_without_replacement_draws_each_place_once():
    found = pullback.multinomial(pullback.rand(50, 6), 6).numpy()
    np.testing.assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(6), (50, 1)))


def test_parameters_and_targets_get_gradients_of_zero():
    mean = pullback.zeros(3, requires_grad=True)
    std = pullback.ones(2, 1, requires_grad=True)
    kept = pullback.ones(3, requires_grad=True)
    written = kept * 2
    written.uniform_()
    (pullback.normal(mean, std).sum() + pullback.bernoulli(std / 2).sum() + written.sum()).backward()
    assert [t.grad.tolist() for t in (mean, std, kept)] == [[0.0] * 3, [[0.0]] * 2, [0.0] * 3]


def test_generators_have_a_state():
    g = pullback.Generator(device="cpu")
    assert g.initial_seed() == pullback.Generator().initial_seed()
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    state = g.get_state()
    first, again = pullback.rand(3, generator=g), pullback.rand(3, generator=g.set_state(state))
    assert first.tolist() == again.tolist()
    twin = pickle.loads(pickle.dumps(g))
    assert pullback.rand(3, generator=twin).tolist() == pullback.rand(3, generator=g).tolist()
    assert g.seed() == g.initial_seed()


def test_the_threads_own_generator_is_the_default():
    g = pullback.manual_seed(5)
    a = pullback.rand(2).tolist()
    assert pullback.initial_seed() == 5
    assert pullback.rand(2, generator=g.manual_seed(5)).tolist() == a
    assert pullback.rand(2, generator=np.random.default_rng(5)).tolist() == a


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: pullback.rand(2, generator=3), TypeError, "generator"),
        (lambda: pullback.Generator("cuda"), RuntimeError, "no device"),
        (lambda: pullback.Generator().set_state(3), TypeError, "get_state"),
        (lambda: pullback.manual_seed(2**64), RuntimeError, "Overflow"),
        (lambda: pullback.zeros(2).normal_(0, -1), RuntimeError, "std >= 0.0, but found std -1"),
        (lambda: pullback.zeros(2, dtype=pullback.int64).normal_(), NotImplementedError, "Long"),
        (lambda: pullback.ones(2, requires_grad=True).normal_(), RuntimeError, "leaf"),
        (lambda: pullback.zeros(2).uniform_(2, 1), RuntimeError, r"from=2 > to=1"),
        (lambda: pullback.bernoulli(pullback.tensor([2.0])), RuntimeError, "p_in"),
        (lambda: pullback.poisson(pullback.tensor([1.0, -1.0])), RuntimeError, "invalid Poisson rate"),
        (lambda: pullback.multinomial(pullback.tensor([0.0]), 1), RuntimeError, "sum of probabilities"),
        (lambda: pullback.multinomial(pullback.tensor([1.0]), 2), RuntimeError, "without replacement"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_certain_happens_and_what_is_impossible_does_not(compiled):
    draw = pullback.compile(pullback.bernoulli) if compiled else pullback.bernoulli
    for _ in range(3):
        assert draw(pullback.tensor([0.0, 1.0, 0.0, 1.0])).tolist() == [0, 1, 0, 1]
