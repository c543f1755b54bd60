"""Trace one step of a small network."""

import pullback
from pullback import nn

from . import ShapeTracer


def main() -> None:
    """Print the operations of a step, forwards and backwards."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.1)
    x, y = pullback.ones(5, 3), pullback.zeros(5, 1)
    with ShapeTracer():
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


main()
