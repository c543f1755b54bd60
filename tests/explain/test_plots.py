"""Gradient flow: its numbers, and its pictures where matplotlib is installed."""

import sys

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.explain.plots import GradientFlow, Statistics, plot, statistics

nan, inf = float("nan"), float("inf")


def test_statistics():
    assert statistics(pullback.tensor([3.0, 0.0, -4.0, 0.0])) == Statistics(1.75, 4.0, 5.0, 0.5, 0)
    assert statistics(pullback.tensor([3.0 + 4.0j])) == Statistics(5.0, 5.0, 5.0, 0.0, 0)
    assert statistics(np.zeros((0, 2))) == Statistics(0.0, 0.0, 0.0, 0.0, 0)
    assert statistics(np.array([1e200, 1e200])).mean == 1e200
    broken = statistics(np.array([inf, nan, 0.0, 1.0]))
    assert np.isnan(broken.mean)
    assert (broken.zeros, broken.bad) == (0.25, 2)


def test_a_flow_records_each_step():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    model[0].bias.requires_grad_(False)
    flow = GradientFlow(model)
    for _ in range(3):
        model.zero_grad()
        model(pullback.ones(2, 3)).sum().backward()
        flow.record()
    assert list(flow.tensors) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert len(flow.steps) == 3
    assert flow.steps[0]["0.bias"] is None
    assert flow.steps[0]["2.bias"] == Statistics(2.0, 2.0, 2.0, 0.0, 0)
    assert flow.steps[0]["2.weight"] == statistics(model[2].weight.grad)


def test_tensors_that_are_no_leaves():
    x = pullback.ones(2, requires_grad=True)
    h, kept = x * 2, x * 3
    kept.retain_grad()
    flow = GradientFlow({"h": h, "kept": kept})
    (h + kept).sum().backward()
    assert flow.record() == {"h": None, "kept": Statistics(1.0, 1.0, pytest.approx(2**0.5), 0.0, 0)}


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (TypeError, "must be Tensor, not float", lambda: GradientFlow({"x": 1.0})),
        (ValueError, "no parameters", lambda: GradientFlow({})),
        (ValueError, "duplicate parameter name 'x'", lambda: GradientFlow([("x", pullback.ones(1))] * 2)),
        (ValueError, "nothing was recorded", lambda: GradientFlow({"x": pullback.ones(1)}).plot()),
        (ValueError, "statistic is one of 'mean'", lambda: plot(["x"], [{}], "median")),
    ],
)
def test_bad_calls(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_without_matplotlib_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot(["x"], [{"x": statistics(np.ones(2))}])


def axes():
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed: no pictures")
    return figure.Figure().subplots()


STEPS = [
    {"w": Statistics(1.0, 2.0, 3.0, 0.0, 0), "b": None},
    {"w": Statistics(0.1, 0.2, 0.3, 0.5, 0), "b": Statistics(nan, inf, nan, 0.0, 1)},
]


def test_one_step_is_drawn_as_bars():
    ax = plot(["w", "b"], STEPS[:1], ax=axes())
    assert [bar.get_height() for bar in ax.patches] == [3.0, 0.0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["w", "b"]
    assert [text.get_text() for text in ax.texts] == ["none or nan"]
    assert ax.get_yscale() == "log"


def test_several_steps_are_drawn_as_lines():
    ax = plot(["w", "b"], STEPS, "mean", ax=axes())
    w, _, b, lost = ax.lines
    assert w.get_ydata().tolist() == [1.0, 0.1]
    assert np.isnan(b.get_ydata()).all()
    assert lost.get_xdata().tolist() == [1, 2]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["w", "b"]
    assert ax.get_ylabel() == "mean of |gradient|"


def test_shares_are_drawn_on_a_plain_axis():
    assert plot(["w"], STEPS, "zeros", ax=axes()).get_yscale() == "linear"
