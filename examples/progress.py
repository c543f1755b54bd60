"""The course of a training: shown as it goes, and kept in a file that Ctrl-C leaves behind.

The bar is tqdm's where that is installed; otherwise a line is printed for each tenth of the way.
"""

import argparse
import signal
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pullback

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None


class Lines:
    """A bar of plain lines, with the methods of tqdm's that are used here."""

    def __init__(self, total: int, initial: int, desc: str) -> None:
        self.total, self.done, self.name, self.told = total, initial, desc, ""
        self.start = perf_counter()

    def set_postfix(self, numbers: dict[str, str], refresh: bool) -> None:
        """What the next line tells."""
        self.told = ", ".join(f"{name} {value}" for name, value in numbers.items())

    def update(self) -> None:
        """One step is done."""
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            seconds = perf_counter() - self.start
            print(f"{self.name}: step {self.done} of {self.total}, {self.told}, {seconds:.0f} s", flush=True)

    def close(self) -> None:
        """Nothing is left to print."""


class Training:
    """So many steps, from where the file left off if it is resumed.

    `parts` are the model, the optimizer and whatever else has a `state_dict`. Ctrl-C lets the step end that is under way,
    saves, and ends the program; a second one ends it at once. Where the batch of each step is determined by its number,
    a training that was interrupted and resumed gives the same numbers as one that was not.
    """

    def __init__(self, options: argparse.Namespace, **parts: Any) -> None:
        self.path, self.total, self.parts, self.done = options.checkpoint, options.steps, parts, 0
        self.told: dict[str, str] = {}
        if options.resume:
            state = pullback.load(self.path)
            for name, part in parts.items():
                part.load_state_dict(state[name])
            self.done = state["step"]

    def save(self) -> None:
        """Write the file; a crash in the middle leaves the old one."""
        pullback.save({"step": self.done, **{name: part.state_dict() for name, part in self.parts.items()}}, self.path)

    def tell(self, **numbers: float) -> None:
        """Numbers to be shown beside the bar."""
        self.told = {name: f"{number:.4g}" for name, number in numbers.items()}

    def steps(self) -> Iterator[int]:
        """The numbers of the steps that are left."""
        stop = False

        def ask(*_: Any) -> None:
            nonlocal stop
            stop = True
            signal.signal(signal.SIGINT, before)

        before = signal.signal(signal.SIGINT, ask)
        bar = (tqdm or Lines)(total=self.total, initial=self.done, desc=self.path.stem)
        try:
            for step in range(self.done, self.total):
                yield step
                self.done = step + 1
                bar.set_postfix(self.told, refresh=False)
                bar.update()
                if stop:
                    self.save()
                    raise SystemExit(f"\nstopped after {self.done} steps, saved as {self.path}: --resume goes on")
        finally:
            bar.close()
            signal.signal(signal.SIGINT, before)
        self.save()


def read_options(description: str, name: str, steps: int, quick: int) -> argparse.Namespace:
    """The command line of an example."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--steps", type=int, metavar="N", help=f"train for N steps, instead of {steps}")
    parser.add_argument(
        "--quick", action="store_true", help=f"train for {quick} steps, compare with nothing: to see that it runs"
    )
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(f"{name}.safetensors"), metavar="FILE", help="%(default)s"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    options = parser.parse_args()
    if options.steps is None:
        options.steps = quick if options.quick else steps
    return options
