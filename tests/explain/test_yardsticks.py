"""What a loss is measured by, and the pictures of arrays that are not stored in full."""

import math

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.explain.arrays import cells
from pullback.explain.reading import read

F = nn.functional


def loss_of(program, **options):
    pullback.manual_seed(0)
    with pullback.explain.record(**options) as ex:
        program().backward()
    return ex.to_dict()["calls"][0]["loss"]


def scores(*rows):
    return pullback.tensor(rows, requires_grad=True)


def test_a_guess_between_classes():
    logits = scores([0.0, 2.0, 0.0], [0.0, 1.0, 0.0])
    found = loss_of(lambda: F.cross_entropy(logits, pullback.tensor([0, 1])))
    assert found["guess"] == pytest.approx(math.log(3))
    assert found["said"] == "Guessing between 3 classes costs ln 3 = 1.099: this loss is no better than a guess."
    share = math.exp(2) / (math.exp(2) + 2)
    assert found["largest"].startswith(f"logits[0] is of class 0, but class 1 got {share:.3g} and class 0 ")
    assert found["largest"].endswith("Its row is the largest.")


@pytest.mark.parametrize(
    ("lead", "words"),
    [(50.0, "much better"), (2.0, "better"), (0.2, "just better"), (0.0, "no better"), (-3.0, "worse")],
)
def test_a_loss_is_compared_with_a_guess(lead, words):
    found = loss_of(lambda: F.cross_entropy(scores([lead, 0.0], [0.0, lead]), pullback.tensor([0, 1])))
    assert found["said"].endswith(f": this loss is {words} than a guess.")


def test_examples_have_the_name_of_what_the_model_was_called_with():
    model, batch = nn.Linear(3, 2), pullback.randn(4, 3)
    found = loss_of(lambda: F.cross_entropy(model(batch), pullback.tensor([0, 1, 1, 0])))
    assert found["examples"] == "batch"
    assert found["largest"].startswith("batch[")


def test_a_sum_is_measured_by_so_many_guesses():
    logits = scores([0.0, 1.0], [0.0, 1.0])
    found = loss_of(lambda: F.cross_entropy(logits, pullback.tensor([0, 1]), reduction="sum"))
    assert found["guess"] == pytest.approx(2 * math.log(2))
    assert "costs 2 · ln 2 = 1.386" in found["said"]


TARGETS = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]], np.float32)


@pytest.mark.parametrize(
    ("squares", "elements"),
    [
        (F.mse_loss, 1),
        (lambda y, t: ((y - t) ** 2).mean(), 1),
        (lambda y, t: (t - y).square().mean(), 1),
        (lambda y, t: F.mse_loss(y, t, reduction="sum"), 6),
    ],
)
def test_squares_are_measured_by_the_variance_of_the_targets(squares, elements):
    x = pullback.ones(3, 2, requires_grad=True)
    targets = pullback.tensor(TARGETS)
    found = loss_of(lambda: squares(x * 2, targets))
    assert found["kind"] == "squared_error"
    assert found["guess"] == pytest.approx(elements * float(TARGETS.var(0).mean()), rel=1e-5)
    assert "costs their variance" in found["said"]


@pytest.mark.parametrize(
    "program",
    [
        lambda: pullback.sum(pullback.ones(3, requires_grad=True) * 2),
        lambda: F.mse_loss(pullback.ones(3, requires_grad=True) * 2, pullback.ones(3)),  # a target without variance
        lambda: F.cross_entropy(pullback.zeros(2, 1, requires_grad=True), pullback.tensor([0, 0])),  # a single class
        lambda: F.cross_entropy(scores([0.0, 1.0]), pullback.tensor([[0.5, 0.5]])),  # probabilities as targets
        lambda: F.mse_loss(pullback.ones(2, requires_grad=True), pullback.zeros(2, requires_grad=True)),
    ],
)
def test_other_outputs_have_no_yardstick(program):
    assert loss_of(program) is None


def test_no_numbers_without_values():
    logits = scores([0.0, 2.0], [0.0, 1.0])
    assert loss_of(lambda: F.cross_entropy(logits, pullback.tensor([0, 1])), redact=True) is None
    bad = scores([math.nan, 2.0], [0.0, 1.0])
    found = loss_of(lambda: F.cross_entropy(bad, pullback.tensor([0, 1])))
    assert (found["said"], found["largest"]) == ("Guessing between 2 classes costs ln 2 = 0.6931.", None)


def test_yardsticks_and_pictures_are_saved_with_the_trace(tmp_path):
    ex = pullback.explain(F.cross_entropy(pullback.zeros(40, 2, requires_grad=True), pullback.ones(40).long()))
    ex.save(tmp_path / "a.json")
    assert read(tmp_path / "a.json").to_dict() == ex.to_dict()
    assert all(name in (tmp_path / "a.json").read_text(encoding="utf-8") for name in ('"cells"', '"guess"'))


def levels(picture):
    return np.array([int(each, 36) - 17 for each in picture.data]).reshape(picture.rows, picture.cols)


def test_a_cell_for_each_element():
    picture = cells(np.array([[1.0, -2.0, 0.0], [math.inf, 0.5, 2.0]]))
    assert (picture.most, levels(picture).tolist()) == (2.0, [[8, -17, 0], [18, 4, 17]])


def test_a_cell_for_a_block_is_its_largest_element():
    array = np.zeros((96, 8, 48), np.float32)
    array[95, 7, 47], array[0, 0, 0], array[0, 1, 1] = -3, 1, 0.5
    picture = cells(array)
    found = levels(picture)
    assert found.shape == (24, 24)
    assert (found[-1, -1], found[0, 0], np.count_nonzero(found)) == (-17, 6, 2)


@pytest.mark.parametrize("shape", [(), (1,), (100,), (0, 3), (2, 3, 5, 7), (100, 1)])
def test_a_picture_of_any_shape(shape):
    picture = cells(np.ones(shape))
    assert (picture is None) == (0 in shape)
    assert picture is None or (picture.rows <= 24 and picture.cols <= 24 and set(picture.data) == {"y"})
    assert cells(np.ones(shape, complex)) is None


def test_pictures_stand_where_there_are_few_tensors():
    def arrays(steps):
        x = pullback.ones(100, requires_grad=True)
        y = x
        for _ in range(steps):
            y = y * 2
        return pullback.explain(y.sum()).to_dict()["calls"][0]["tensors"]

    assert "cells" in arrays(1)[0]["data"]
    assert "cells" not in arrays(100)[0]["data"]
