"""Recurrent layers in compiled functions: loops of machine code, with eager's values and gradients."""

import numpy as np
import pytest

import pullback

pytest.importorskip("llvmlite")

nn = pullback.nn


class Steps(nn.Module):
    """A cell called once for each step, in a loop of Python."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        states, state = [], None
        for row in x:
            state = self.cell(row, state)
            states.append(state[0] if isinstance(state, tuple) else state)
        return pullback.stack(states), state


LAYERS = {
    "LSTM cell": lambda: Steps(nn.LSTMCell(3, 5)),
    "LSTM cell without bias": lambda: Steps(nn.LSTMCell(3, 40, bias=False)),
    "GRU cell": lambda: Steps(nn.GRUCell(3, 40)),
    "RNN cell": lambda: Steps(nn.RNNCell(3, 5)),
    "RNN cell of rectifiers": lambda: Steps(nn.RNNCell(3, 5, nonlinearity="relu")),
    "LSTM": lambda: nn.LSTM(3, 5, batch_first=True),
    "LSTM, both ways": lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True),
    "LSTM without bias": lambda: nn.LSTM(3, 40, bias=False),
    "GRU": lambda: nn.GRU(3, 5),
    "GRU, both ways": lambda: nn.GRU(3, 40, bidirectional=True, bias=False),
    "RNN": lambda: nn.RNN(3, 5, num_layers=2),
    "RNN of rectifiers": lambda: nn.RNN(3, 40, nonlinearity="relu", batch_first=True),
}


def step_of(net):
    def step(x):
        for parameter in net.parameters():
            parameter.grad = None
        states, last = net(x)
        loss = (states * states).sum() + sum(part.sum() for part in (last if isinstance(last, tuple) else (last,)))
        loss.backward()
        return loss.detach(), x.grad, *(parameter.grad for parameter in net.parameters())

    return step


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    pullback.manual_seed(0)
    net = LAYERS[name]().double()
    x = pullback.randn(4, 6, 3, dtype=pullback.float64, requires_grad=True)
    compiled = pullback.compile(step_of(net), fullgraph=True)
    for _ in range(3):
        x.grad = None
        expected = [t.clone() for t in step_of(net)(x)]
        x.grad = None
        for mine, plain in zip(compiled(x), expected, strict=True):
            np.testing.assert_allclose(mine.numpy(), plain.numpy(), rtol=1e-11, atol=1e-12)
    assert compiled._newest().machinery.executable.builtin is not None, "a step runs as Python"


def test_sequences_of_different_lengths_stay_as_they_are():
    rng = np.random.default_rng(0)
    given = [pullback.tensor(rng.standard_normal(shape)) for shape in ((8, 20), (3, 5), (3, 5), (20, 5))]

    def function(x, h, c, weight):
        return pullback.ops.lstm(x, h, c, weight, sizes=(3, 2, 2, 1), reverse=False)

    compiled = pullback.compile(function)
    for _ in range(2):
        for mine, plain in zip(compiled(*given), function(*given), strict=True):
            np.testing.assert_array_equal(mine.numpy(), plain.numpy())
    assert "lstm" in compiled.ir
