"""The CTC loss against the sum over all alignments, one by one, where probabilities are zero, too."""

import itertools

import numpy as np
import pytest

import pullback
from pullback.nn.functional import ctc_loss

BOTH = pytest.mark.parametrize("mode", ["never", "always"])


@pytest.fixture(autouse=True)
def _machine_code(request, monkeypatch):
    """NumPy, and machine code for however few states."""
    mode = request.getfixturevalue("mode")
    if mode == "always":
        pytest.importorskip("llvmlite")
    monkeypatch.setattr("pullback._core.machine.ALIGNED", 1)
    before = pullback.get_machine_code()
    pullback.set_machine_code(mode)
    yield
    pullback.set_machine_code(before)


def collapsed(path):
    """The labels of an alignment: runs of equal ones count once, and blanks (0) not at all."""
    return tuple(label for label, _ in itertools.groupby(path) if label)


def by_alignments(logits, labels):
    """The loss and its gradient with respect to the logits: of every alignment, its probability."""
    steps, classes = logits.shape
    chances = np.exp(logits - logits.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    total, shares = 0.0, np.zeros_like(chances)
    for path in itertools.product(range(classes), repeat=steps):
        if collapsed(path) == tuple(labels):
            chance = np.prod(chances[np.arange(steps), path])
            total += chance
            shares[np.arange(steps), path] += chance
    return -np.log(total), chances - shares / total


CASES = {
    "two labels": ((5, 3), [1, 2]),
    "one label twice": ((5, 3), [1, 1]),
    "no label": ((4, 3), []),
    "one step": ((1, 3), [2]),
    "as many as steps": ((3, 4), [1, 2, 3]),
    "states over several registers": ((6, 3), [1, 2, 1, 2, 1]),
}
ZEROS = {
    "none": (),
    "the blank": (slice(None), 0),
    "a label": (slice(None), 2),
    "all but one": (slice(1, 3), slice(0, -1)),
    "some": (slice(0, 2), slice(1, None)),
}


@BOTH
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("case", CASES)
def test_the_loss_is_the_sum_over_alignments(case, zeros, dtype, mode):
    shape, labels = CASES[case]
    logits = np.random.default_rng(0).normal(size=shape)
    if ZEROS[zeros]:
        logits[ZEROS[zeros]] = -np.inf
    if not np.isfinite(logits).any(1).all():
        return  # a step without any class has no probabilities
    with np.errstate(divide="ignore", invalid="ignore"):
        loss, slope = by_alignments(logits, labels)
    x = pullback.tensor(logits[:, None].astype(dtype), requires_grad=True)
    targets = pullback.tensor(np.array([labels], np.int64).reshape(1, -1))
    found = ctc_loss(x.log_softmax(2), targets, (shape[0],), (len(labels),), reduction="sum")
    found.backward()
    close = 1e-12 if dtype is np.float64 else 2e-6
    np.testing.assert_allclose(found.item(), loss, rtol=close, atol=close)
    if np.isfinite(loss):
        np.testing.assert_allclose(x.grad.numpy()[:, 0], slope, rtol=close, atol=close)
    else:
        assert np.isnan(x.grad.numpy()).all()


@BOTH
@pytest.mark.parametrize("compiled", [False, True])
def test_an_impossible_sequence_is_infinite_beside_others_or_zero_where_asked(compiled, mode):
    logits = np.random.default_rng(1).normal(size=(4, 2, 5))
    targets = pullback.tensor([[1, 2, 3], [1, 1, 1]])  # three equal labels need two blanks between

    def losses(x, zero):
        return ctc_loss(x.log_softmax(2), targets, (4, 4), (3, 3), reduction="none", zero_infinity=zero)

    run = pullback.compile(losses) if compiled else losses
    for zero, value in ((False, np.inf), (True, 0.0)):
        x = pullback.tensor(logits, requires_grad=True)
        found = run(x, zero)
        found.sum().backward()
        loss, slope = by_alignments(logits[:, 0], [1, 2, 3])
        np.testing.assert_allclose(found.detach().numpy(), [loss, value], rtol=1e-12)
        np.testing.assert_allclose(x.grad.numpy()[:, 0], slope, rtol=1e-11)
        other = x.grad.numpy()[:, 1]
        assert (other == 0).all() if zero else np.isnan(other).all()


@BOTH
@pytest.mark.parametrize("compiled", [False, True])
def test_a_sequence_without_steps_has_no_gradient(compiled, mode):
    """The loss of labels is infinite there, and does not depend on any step; the other sequence is as ever."""
    logits = np.random.default_rng(1).normal(size=(3, 2, 4))
    targets = pullback.tensor([[1, 2], [1, 2]])

    def losses(x, steps):
        return ctc_loss(x.log_softmax(2), targets, steps, (2, 2), reduction="none")

    run = pullback.compile(losses) if compiled else losses
    x = pullback.tensor(logits, requires_grad=True)
    found = run(x, (0, 3))
    found.sum().backward()
    loss, slope = by_alignments(logits[:, 1], [1, 2])
    np.testing.assert_allclose(found.detach().numpy(), [np.inf, loss], rtol=1e-12)
    np.testing.assert_allclose(x.grad.numpy()[:, 1], slope, rtol=1e-11)
    assert (x.grad.numpy()[:, 0] == 0).all()


@BOTH
def test_second_derivatives_are_those_of_the_gradient(mode):
    logits = np.random.default_rng(2).normal(size=(4, 1, 3))
    targets = pullback.tensor([[1, 2]])

    def loss(x):
        return ctc_loss(x.log_softmax(2), targets, (4,), (2,), reduction="sum")

    # The gradient that ctc_loss has is that of a log_softmax, so only the share of the alignments is compared.
    def likelihood(x):
        return loss(x) - (x.log_softmax(2).exp().sum() - x.log_softmax(2).exp().sum().detach())

    x = pullback.tensor(logits)
    found = pullback.func.hessian(likelihood)(x).numpy().reshape(12, 12)
    gradient, step = pullback.func.grad(likelihood), 1e-6
    for place in range(12):
        moved = np.zeros(12)
        moved[place] = step
        moved = moved.reshape(logits.shape)
        ends = [gradient(pullback.tensor(logits + sign * moved)).numpy().ravel() for sign in (1, -1)]
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


def by_recursions(logits, labels, blank):
    """The loss and its gradient with respect to the logits, forwards and backwards in long doubles."""
    logs = logits.astype(np.longdouble)
    logs -= np.logaddexp.reduce(logs, 1, keepdims=True)
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    skips = np.array([i > 1 and states[i] not in (blank, states[i - 2]) for i in range(len(states))])

    def reached(emissions, skips):
        rows = np.full(emissions.shape, -np.inf, np.longdouble)
        rows[0, :2] = emissions[0, :2]
        for t in range(1, len(rows)):
            for s in range(len(states)):
                ways = [rows[t - 1, s], *rows[t - 1, max(s - 1, 0) : s], *[rows[t - 1, max(s - 2, 0)]] * bool(skips[s])]
                rows[t, s] = np.logaddexp.reduce(ways) + emissions[t, s]
        return rows

    emissions = logs[:, states]
    forth = reached(emissions, skips)
    back = reached(emissions[::-1, ::-1], np.array([False, False, *skips[:1:-1]]))[::-1, ::-1]
    total = np.logaddexp.reduce(forth[-1, -2:])
    shares, found = np.exp(forth + back - emissions - total), np.exp(logs)
    np.subtract.at(found, (slice(None), states), shares)
    return -total, found


@BOTH
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])  # with the last, most states are below the least double
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("blank", [0, 3])
def test_long_sequences_of_several_lengths_are_as_in_long_doubles(blank, dtype, scale, mode):
    """Where one step is as likely as the next, errors add up: to less than steps times the unit of the loss."""
    rng = np.random.default_rng(5)
    steps, sizes, classes = (90, 61, 90), (20, 0, 11), 9
    logits = (rng.normal(size=(90, 3, classes)) * scale).astype(dtype)
    targets = (blank + 1 + rng.integers(0, classes - 1, (3, 20))) % classes
    targets[0, 3:6] = targets[0, 3]
    x = pullback.tensor(logits, requires_grad=True)
    losses = ctc_loss(x.log_softmax(2), pullback.tensor(targets), steps, sizes, blank=blank, reduction="none")
    losses.sum().backward()
    for n, (count, size) in enumerate(zip(steps, sizes, strict=True)):
        loss, slopes = by_recursions(logits[:count, n], targets[n, :size], blank)
        close = 90 * np.finfo(dtype).eps
        np.testing.assert_allclose(losses[n].item(), float(loss), rtol=close)
        np.testing.assert_allclose(x.grad.numpy()[:count, n], slopes.astype(float), atol=close * (1 + float(loss)))
        assert (x.grad.numpy()[count:, n] == 0).all()


@BOTH
def test_threads_share_long_sequences(mode):
    rng = np.random.default_rng(6)
    logits = rng.normal(size=(120, 20, 40))
    targets = rng.integers(1, 40, (20, 30))
    x = pullback.tensor(logits, requires_grad=True)
    loss = ctc_loss(x.log_softmax(2), pullback.tensor(targets), [120] * 20, [30] * 20, reduction="sum")
    loss.backward()
    found = [by_recursions(logits[:, n], targets[n], 0) for n in range(20)]
    np.testing.assert_allclose(loss.item(), float(sum(each for each, _ in found)), rtol=1e-13)
    np.testing.assert_allclose(x.grad.numpy(), np.stack([slopes for _, slopes in found], 1).astype(float), atol=1e-12)


@BOTH
def test_what_is_not_a_number_stays_so(mode):
    logits = np.random.default_rng(3).normal(size=(5, 1, 3))
    logits[2, 0, 1] = np.nan
    x = pullback.tensor(logits, requires_grad=True)
    loss = ctc_loss(x.log_softmax(2), pullback.tensor([[1, 2]]), (5,), (2,), reduction="sum")
    loss.backward()
    assert np.isnan(loss.item())
    assert np.isnan(x.grad.numpy()).any()


@BOTH
def test_a_sequence_that_cannot_be_aligned_has_no_gradient_after_its_end(mode):
    """As in torch, its gradient is NaN without zero_infinity, but not where it has no steps; that of others is finite."""
    logs = pullback.log_softmax(pullback.arange(40.0).reshape(5, 4, 2).sin(), -1).detach().requires_grad_()
    targets, sizes = pullback.ones(4, 3, dtype=pullback.int64), pullback.tensor([3, 3, 3, 1])
    loss = ctc_loss(logs, targets, pullback.tensor([5, 3, 2, 4]), sizes, reduction="sum")
    loss.backward()
    assert loss.item() == float("inf")
    assert pullback.isnan(logs.grad[:3, 1]).all() and pullback.isnan(logs.grad[:2, 2]).all()
    assert logs.grad[3:, 1].tolist() == [[0, 0]] * 2 and logs.grad[2:, 2].tolist() == [[0, 0]] * 3
    assert logs.grad[:, [0, 3]].isfinite().all() and logs.grad[4:, 3].tolist() == [[0, 0]]


@pytest.mark.parametrize("mode", ["never"])
def test_the_blank_is_the_first_class_unless_another_is_named(mode):
    log_probs = pullback.randn(5, 2, 4).log_softmax(-1)
    targets, lengths = pullback.tensor([[1, 2], [3, 1]]), (pullback.tensor([5, 5]), pullback.tensor([2, 2]))
    assert ctc_loss(log_probs, targets, *lengths).equal(ctc_loss(log_probs, targets, *lengths, blank=0))
    assert pullback.nn.CTCLoss().blank == 0
