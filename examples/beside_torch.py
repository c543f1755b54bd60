"""The same training in pullback and in torch: the same initial weights, the same batches, step by step.

An example is written in words that both libraries know, and takes the library as an argument where it needs one.
"""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback


class Task(NamedTuple):
    """What is trained, in any library with torch's names."""

    model: Callable[[Any], Any]  # of a library
    loss: Callable[..., Any]  # of a library, a model, and the tensors of a batch
    optimizer: Callable[[Any, Any], Any]  # of a library and parameters
    batch: Callable[[int, Any], Sequence[np.ndarray]]  # of the number of a step, and pullback's model at that step


def step_of(task: Task, library: Any, model: Any) -> Callable[..., Any]:
    """One step of the training of a model: given the tensors of a batch, it gives their loss."""
    optimizer, loss_of = task.optimizer(library, model.parameters()), task.loss

    def step(*batch: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(library, model, *batch)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def same_model(task: Task, library: Any, model: Any) -> Any:
    """The model in another library, with the weights that it has in pullback."""
    other = task.model(library)
    other.load_state_dict({name: library.tensor(value.detach().numpy()) for name, value in model.state_dict().items()})
    return other


def losses(task: Task, steps: int, seed: int = 0) -> tuple[list[float], list[float]]:
    """The losses of so many steps, pullback's and torch's."""
    torch = importlib.import_module("torch")
    pullback.manual_seed(seed)
    mine = task.model(pullback)
    models = {pullback: mine, torch: same_model(task, torch, mine)}
    step = {library: step_of(task, library, model) for library, model in models.items()}
    curves: dict[Any, list[float]] = {library: [] for library in models}
    for number in range(steps):
        batch = task.batch(number, mine)
        for library, curve in curves.items():
            curve.append(step[library](*map(library.tensor, batch)).item())
    return curves[pullback], curves[torch]


def furthest(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The largest difference between two curves, as a part of the loss, or of 1 where it is larger."""
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(ours, theirs, strict=True))


def compare(task: Task, steps: int = 100) -> None:
    """Print both libraries' losses side by side."""
    if importlib.util.find_spec("torch") is None:
        print("\ntorch is not installed: its numbers would stand here beside ours")
        return
    ours, theirs = losses(task, steps)
    version = importlib.import_module("torch").__version__
    print(f"\nthe first {steps} steps, same weights, same batches\n{'step':>8}{'pullback':>14}{'torch ' + version:>20}")
    for number in sorted({*range(0, steps, max(1, steps // 5)), steps - 1}):
        print(f"{number:>8}{ours[number]:>14.7f}{theirs[number]:>20.7f}")
    print(f"largest difference of the losses: {furthest(ours, theirs):.1e}")
