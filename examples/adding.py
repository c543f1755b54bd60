"""An LSTM that adds: in a long row of numbers two are marked, and at its end it is to say their sum.

Who always answers 1 is wrong by 0.167, squared, on average; to do better one must remember the first number until the
second comes (S. Hochreiter and J. Schmidhuber, Long Short-Term Memory, 1997).
"""

from typing import Any

import numpy as np
from beside_torch import Task, compare
from progress import Training, read_options

import pullback

BATCH, LENGTH, HIDDEN, STEPS = 64, 30, 48, 1200


def model(library: Any) -> Any:
    """An LSTM, and a linear map of what it holds at the end."""
    nn = library.nn

    class Adder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.memory = nn.LSTM(2, HIDDEN, batch_first=True)
            self.answer = nn.Linear(HIDDEN, 1)

        def forward(self, rows: Any) -> Any:
            states, _ = self.memory(rows)
            return self.answer(states[:, -1])[:, 0]

    return Adder()


def batch(step: int, _: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers from 0 to 1 with their marks, and the sums: one mark in each half of a row."""
    rng = np.random.default_rng((1, step))
    numbers, marks = rng.random((BATCH, LENGTH)), np.zeros((BATCH, LENGTH))
    rows = np.arange(BATCH)
    for low, high in ((0, LENGTH // 2), (LENGTH // 2, LENGTH)):
        marks[rows, rng.integers(low, high, BATCH)] = 1
    return np.stack([numbers, marks], 2).astype(np.float32), (numbers * marks).sum(1).astype(np.float32)


def loss(library: Any, net: Any, rows: Any, sums: Any) -> Any:
    """The mean squared error of the sums."""
    return library.nn.functional.mse_loss(net(rows), sums)


def optimizer(library: Any, parameters: Any) -> Any:
    """Adam."""
    return library.optim.Adam(parameters, lr=5e-3)


TASK = Task(model, loss, optimizer, batch)


def main() -> None:
    """Train with clipped gradients, and test on rows that were not seen."""
    options = read_options(__doc__, "adding", STEPS, quick=5)
    pullback.manual_seed(0)
    net = model(pullback)
    descent = optimizer(pullback, net.parameters())
    schedule = pullback.optim.lr_scheduler.CosineAnnealingLR(descent, T_max=options.steps)
    training = Training(options, model=net, optimizer=descent, schedule=schedule)
    for step in training.steps():
        descent.zero_grad()
        error = loss(pullback, net, *map(pullback.tensor, batch(step)))
        error.backward()
        pullback.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        descent.step()
        schedule.step()
        training.tell(error=error.item())
    with pullback.no_grad():
        unseen = [loss(pullback, net, *map(pullback.tensor, batch(10**6 + number))).item() for number in range(16)]
    print(f"mean squared error on {16 * BATCH} new rows: {np.mean(unseen):.5f}; always 1: 0.167")
    if not options.quick:
        compare(TASK)


if __name__ == "__main__":
    main()
