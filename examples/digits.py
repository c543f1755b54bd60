"""Handwritten digits: a small convolutional network, trained to more than 98.5 % accuracy on digits it has not seen.

The 1797 pictures, of 8 x 8 pixels, come with scikit-learn.
"""

import functools
import importlib
from typing import Any

import numpy as np
from beside_torch import Task, compare
from progress import Training, read_options

import pullback

BATCH, STEPS, TEST = 64, 600, 360


@functools.cache
def pictures() -> tuple[np.ndarray, np.ndarray]:
    """All pictures, from 0 to 1, and what they show, in an order of our own: the last `TEST` are for the test."""
    try:
        data = importlib.import_module("sklearn.datasets").load_digits()
    except ImportError:
        raise SystemExit(
            "the digits come with scikit-learn, which is not installed: pip install scikit-learn"
        ) from None
    order = np.random.default_rng(0).permutation(len(data.target))
    return (data.images[order, None] / 16).astype(np.float32), data.target[order].astype(np.int64)


def model(library: Any) -> Any:
    """Three convolutions, two halvings, one linear map. What BatchNorm takes the mean off needs no bias of its own."""
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 10),
    )  # fmt: skip


def batch(step: int, _: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Some of the pictures, each moved by up to a pixel, so that the network learns shapes and not places."""
    images, labels = pictures()
    rng = np.random.default_rng((1, step))
    chosen = rng.integers(0, len(labels) - TEST, BATCH)
    padded = np.pad(images[chosen, 0], ((0, 0), (1, 1), (1, 1)))
    down, right = rng.integers(0, 3, (2, BATCH, 1))
    rows, columns = down + np.arange(8), right + np.arange(8)
    moved = padded[np.arange(BATCH)[:, None, None], rows[:, :, None], columns[:, None, :]]
    return moved[:, None], labels[chosen]


def loss(library: Any, net: Any, images: Any, labels: Any, smoothing: float = 0.0) -> Any:
    """How surprised the network is by what the pictures show; with smoothing, it is not to be too sure."""
    return library.nn.functional.cross_entropy(net(images), labels, label_smoothing=smoothing)


def optimizer(library: Any, parameters: Any) -> Any:
    """Adam, with decay."""
    return library.optim.AdamW(parameters, lr=3e-3, weight_decay=0.05)


TASK = Task(model, loss, optimizer, batch)


def accuracy(net: pullback.nn.Module) -> float:
    """The part of the test pictures that is recognised."""
    images, labels = (array[-TEST:] for array in pictures())
    net.eval()
    with pullback.no_grad():
        found = net(pullback.tensor(images)).argmax(1)
    net.train()
    return (found == pullback.tensor(labels)).float().mean().item()


def main() -> None:
    """Train, with a rate that falls to zero, and test."""
    options = read_options(__doc__, "digits", STEPS, quick=15)
    pictures()
    pullback.manual_seed(0)
    net = model(pullback)
    descent = optimizer(pullback, net.parameters())
    schedule = pullback.optim.lr_scheduler.CosineAnnealingLR(descent, T_max=options.steps)
    training = Training(options, model=net, optimizer=descent, schedule=schedule)
    for step in training.steps():
        descent.zero_grad()
        surprise = loss(pullback, net, *map(pullback.tensor, batch(step)), smoothing=0.1)
        surprise.backward()
        descent.step()
        schedule.step()
        training.tell(loss=surprise.item())
    print(f"accuracy on {TEST} pictures that it has not seen: {accuracy(net):.2%}")
    if not options.quick:
        compare(TASK)


if __name__ == "__main__":
    main()
