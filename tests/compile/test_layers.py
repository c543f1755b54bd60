"""Losses and layers whose work depends on numbers that change from call to call are recorded once, for all of them.

Labels to ignore, lengths of sequences, bags of indices and padding are masks in the program, not shapes.
"""

import numpy as np
import pytest

import pullback
from pullback import nn

from .beside import plain, same

F = nn.functional
CLASSES = 5


def scores(rng, *shape):
    return pullback.tensor(rng.standard_normal(shape), requires_grad=True)


def labels(rng, *shape, ignored=-100):
    """Class numbers, one of them to be ignored."""
    drawn = rng.integers(0, CLASSES, shape)
    drawn[0] = ignored
    return pullback.tensor(drawn)


def weights(rng):
    return pullback.tensor(rng.uniform(0.5, 2, CLASSES))


def many_labels(rng):
    """Different labels in each row, and -1 behind the last."""
    rows = np.argsort(rng.random((4, CLASSES)), axis=1)
    rows[np.arange(CLASSES) >= rng.integers(0, CLASSES + 1, (4, 1))] = -1
    return pullback.tensor(rows)


def bags(rng):
    """Where bags of eight indices begin: the first index begins one, and some may be empty."""
    return pullback.tensor(np.append(0, np.sort(rng.integers(0, 9, 2))))


def sequences(rng):
    """Scores of six steps, labels, and how many of each count."""
    lengths = rng.integers(3, 7, 3), rng.integers(0, 3, 3)
    return (
        scores(rng, 6, 3, CLASSES), pullback.tensor(rng.integers(1, CLASSES, (3, 3))),
        *map(pullback.tensor, lengths),
    )  # fmt: skip


def normed(indices, weight):
    """An embedding that shortens rows of a table, which is then no leaf."""
    table = (3 * weight).detach()
    rows = F.embedding(indices, table, max_norm=1.0)
    return (rows * weight.mean()).sum() + (table * weight).sum()


def cross(**options):
    return lambda x, y, w: F.cross_entropy(x, y, w, **options)


def bag(**options):
    return lambda i, w, *o: F.embedding_bag(i, w, *o, **options)


PROGRAMS = {
    "smoothed": (cross(label_smoothing=0.1), lambda r: (scores(r, 4, CLASSES), labels(r, 4), None)),
    "smoothed and weighed": (cross(label_smoothing=0.1), lambda r: (scores(r, 4, CLASSES), labels(r, 4), weights(r))),
    "a class ignored": (cross(ignore_index=1), lambda r: (scores(r, 4, CLASSES), labels(r, 4, ignored=1), None)),
    "sums": (cross(label_smoothing=0.3, reduction="sum"), lambda r: (scores(r, 4, CLASSES), labels(r, 4), None)),
    "each": (cross(label_smoothing=0.3, reduction="none"), lambda r: (scores(r, 4, CLASSES), labels(r, 4), weights(r))),
    "pixels": (cross(label_smoothing=0.1), lambda r: (scores(r, 2, CLASSES, 3), labels(r, 2, 3), weights(r))),
    "nll_loss": (
        lambda x, y, w: F.nll_loss(x.log_softmax(1), y, w),
        lambda r: (scores(r, 4, CLASSES), labels(r, 4), weights(r)),
    ),
    "linear_cross_entropy": (
        lambda x, w, y: F.linear_cross_entropy(x, w, y, ignore_index=2, label_smoothing=0.1),
        lambda r: (scores(r, 4, 3), scores(r, CLASSES, 3), labels(r, 4, ignored=2)),
    ),
    "multilabel_margin_loss": (F.multilabel_margin_loss, lambda r: (scores(r, 4, CLASSES), many_labels(r))),
    "ctc_loss": (lambda x, *rest: F.ctc_loss(x.log_softmax(2), *rest), sequences),
    "embedding, max_norm": (normed, lambda r: (pullback.tensor(r.integers(0, 6, (2, 3))), scores(r, 6, 2))),
    **{
        f"embedding_bag, {mode}, offsets": (
            bag(mode=mode), lambda r: (pullback.tensor(r.integers(0, 6, 8)), scores(r, 6, 2), bags(r)))
        for mode in ("sum", "mean", "max")
    },
    **{
        f"embedding_bag, {mode}, padding": (
            bag(mode=mode, padding_idx=2), lambda r: (pullback.tensor(r.integers(0, 3, (4, 3))), scores(r, 3, 2)))
        for mode in ("sum", "mean", "max")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_recorded_once_for_all_numbers(name):
    function, drawn = PROGRAMS[name]

    def step(*given):
        loss = function(*given).sum()
        loss.backward()
        return loss.detach()

    compiled = pullback.compile(step, fullgraph=True)
    for seed in range(4):
        ours, expected = (drawn(np.random.default_rng(seed)) for _ in range(2))
        found, wanted = compiled(*ours), step(*expected)
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-10, atol=1e-12)
        for a, b in zip(ours, expected, strict=True):
            if a is not None and a.requires_grad:
                np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-10, atol=1e-12)
    assert len(compiled.reasons) == 1, compiled.reasons


def test_a_label_that_is_none_is_refused_in_a_program_too():
    step = pullback.compile(cross(label_smoothing=0.1))
    x = scores(np.random.default_rng(0), 2, CLASSES)
    step(x, pullback.tensor([0, 1]), None)
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        step(x, pullback.tensor([0, 5]), None)
    with pytest.raises(IndexError, match="Target -1 is out of bounds"):
        step(x, pullback.tensor([-1, 0]), None)


def test_a_plain_average_of_statistics():
    """The momentum of each call is one over the number of calls."""

    def statistics(compiled):
        norm = nn.BatchNorm1d(3, momentum=None)
        step = plain(lambda x: norm(x).sum()) if compiled else norm
        rng = np.random.default_rng(0)
        for _ in range(3):
            step(pullback.tensor(rng.standard_normal((4, 3), dtype=np.float32)))
        return [*norm.buffers()]

    same(statistics(compiled=True), statistics(compiled=False))


def test_a_layer_of_a_transformer():
    pullback.manual_seed(0)
    width, length, double = 32, 8, {"dtype": pullback.float64}
    characters, places = nn.Embedding(11, width, **double), nn.Embedding(length, width, **double)
    layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True, norm_first=True, **double)
    parameters = [*characters.parameters(), *places.parameters(), *layer.parameters()]

    def step(given):
        future = pullback.ones(length, length, dtype=pullback.bool).triu(1)
        x = layer(characters(given) + places(pullback.arange(length)), src_mask=future, is_causal=True)
        loss = (x * x).sum()
        return loss.detach(), *pullback.autograd.grad(loss, parameters)

    compiled, given = pullback.compile(step, fullgraph=True), pullback.randint(0, 11, (3, length))
    for _ in range(2):
        for mine, eager in zip(compiled(given), step(given), strict=True):
            np.testing.assert_allclose(mine.numpy(), eager.numpy(), rtol=1e-9, atol=1e-10)
