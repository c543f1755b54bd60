"""Gradient flow: the size of each parameter's gradient, step by step, as numbers and as a plot.

A layer that gets no gradient, or whose gradient grows without bound, can be seen in such a plot before it affects the
loss. `statistics` computes the numbers, `GradientFlow` collects them, and `plot` draws them; it needs matplotlib.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import Tensor
from .arrays import plain

Step = Mapping[str, "Statistics | None"]


class Statistics(NamedTuple):
    """Statistics of a gradient: the mean and maximum of its absolute values, its norm, and its share of zeros.

    NaN and inf are included in `mean`, `largest` and `norm`; `bad` counts them.
    """

    mean: float
    largest: float
    norm: float
    zeros: float
    bad: int


def statistics(gradient: object) -> Statistics:
    """The statistics of a gradient: a tensor or an array.

    >>> import numpy as np
    >>> from pullback.explain.plots import statistics
    >>> statistics(np.array([3.0, 0.0, -4.0, 0.0]))
    Statistics(mean=1.75, largest=4.0, norm=5.0, zeros=0.5, bad=0)
    """
    array = plain(gradient)
    with np.errstate(all="ignore"):
        return _statistics(np.asarray(gradient) if array is None else array)


def _statistics(array: np.ndarray[Any, Any]) -> Statistics:
    if not array.size:
        return Statistics(0.0, 0.0, 0.0, 0.0, 0)
    sizes = np.abs(array).astype(np.float64)
    norm = float(np.sqrt(np.square(sizes).sum()))
    zeros = 1 - int(np.count_nonzero(sizes)) / sizes.size
    bad = sizes.size - int(np.count_nonzero(np.isfinite(sizes)))
    return Statistics(float(sizes.mean()), float(sizes.max()), norm, zeros, bad)


class GradientFlow:
    """A record of the gradients of some parameters: call `record()` after each backward, then `plot()`.

    Parameters
    ----------
    parameters
        A module, a dict of tensors by name, or pairs of name and tensor, as from `named_parameters()`.

    Raises
    ------
    TypeError
        If one of them is not a tensor.
    ValueError
        If there are none, or two have the same name.

    >>> import pullback
    >>> from pullback.explain.plots import GradientFlow
    >>> w = pullback.tensor([3.0, 4.0], requires_grad=True)
    >>> flow = GradientFlow({"w": w})
    >>> for _ in range(2):
    ...     w.grad = None
    ...     (w * w).sum().backward()
    ...     statistics = flow.record()
    ...     with pullback.no_grad():
    ...         w -= 0.25 * w.grad
    >>> [step["w"].norm for step in flow.steps]
    [10.0, 5.0]
    """

    def __init__(self, parameters: Any) -> None:
        named = parameters.named_parameters() if hasattr(parameters, "named_parameters") else parameters
        pairs: Iterable[Any] = named.items() if isinstance(named, Mapping) else named
        self.tensors: dict[str, Any] = {}
        for name, tensor in pairs:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"GradientFlow(): parameter {name!r} must be Tensor, not {type(tensor).__name__}")
            if name in self.tensors:
                raise ValueError(f"GradientFlow(): duplicate parameter name {name!r}")
            self.tensors[name] = tensor
        if not self.tensors:
            raise ValueError("GradientFlow(): there are no parameters")
        self.steps: list[dict[str, Statistics | None]] = []

    def record(self) -> dict[str, Statistics | None]:
        """Record the current gradients as one more step; None for a parameter that has none."""
        step = {}
        for name, tensor in self.tensors.items():
            leaf = tensor.is_leaf or tensor.retains_grad
            step[name] = statistics(tensor.grad) if leaf and tensor.grad is not None else None
        self.steps.append(step)
        return step

    def plot(self, statistic: str = "norm", *, ax: Any = None) -> Any:
        """A plot of all steps: see `plot`."""
        return plot(list(self.tensors), self.steps, statistic, ax=ax)


STATISTICS = {
    "mean": "mean of |gradient|",
    "largest": "largest |gradient|",
    "norm": "norm of the gradient",
    "zeros": "share of zeros in the gradient",
}


def plot(names: Sequence[str], steps: Sequence[Step], statistic: str = "norm", *, ax: Any = None) -> Any:
    """A plot of gradient flow, as matplotlib's Axes: bars by parameter for one step, lines for several.

    Parameters
    ----------
    names
        The parameters, in the order in which the data passes through them.
    steps
        For each step the statistics of each parameter by name; None for a parameter without a gradient.
    statistic
        'mean', 'largest', 'norm' or 'zeros'. All but the last are drawn on a logarithmic axis if possible.
    ax
        The axes to draw on; by default a new figure.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If there are no names or steps, or `statistic` is invalid.
    """
    if statistic not in STATISTICS:
        raise ValueError(f"plot: statistic is one of {', '.join(map(repr, STATISTICS))}, not {statistic!r}")
    if not names or not steps:
        raise ValueError("plot(): nothing was recorded; call record() after backward at least once")
    values = np.array([[_value(step.get(name), statistic) for name in names] for step in steps])
    ax = _axes() if ax is None else ax
    if statistic != "zeros" and (values[np.isfinite(values)] > 0).any():
        ax.set_yscale("log")
    (_bars if len(steps) == 1 else _lines)(ax, names, values)
    ax.set_ylabel(STATISTICS[statistic])
    return ax


def _value(found: Statistics | None, statistic: str) -> float:
    return float("nan") if found is None else float(getattr(found, statistic))


def _axes() -> Any:
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        raise ImportError(
            "plot needs matplotlib, which is not installed: pip install matplotlib. The numbers are there without it, in "
            "`steps`"
        ) from error
    return pyplot.subplots(layout="constrained")[1]


def _bars(ax: Any, names: Sequence[str], values: np.ndarray[Any, Any]) -> None:
    """One step: a bar for each parameter, with a text if its value cannot be drawn."""
    places = range(len(names))
    ax.bar(places, np.where(np.isfinite(values[0]), values[0], 0))
    for place, value in zip(places, values[0], strict=True):
        if not np.isfinite(value) or value == 0:
            text = "0" if value == 0 else "inf" if np.isinf(value) else "none or nan"
            ax.text(place, 0.02, text, rotation=90, ha="center", va="bottom", transform=ax.get_xaxis_transform())
    ax.set_xticks(places, names, rotation=90)
    ax.set_xlabel("parameter")


def _lines(ax: Any, names: Sequence[str], values: np.ndarray[Any, Any]) -> None:
    """Several steps: a line per parameter, from the first (dark) to the last (light), with gaps at NaN and inf."""
    colors = importlib.import_module("matplotlib").colormaps["viridis"](np.linspace(0, 0.9, len(names)))
    steps = np.arange(1, len(values) + 1)
    for name, line, color in zip(names, values.T, colors, strict=True):
        drawn = np.where(np.isfinite(line), line, np.nan)
        ax.plot(steps, drawn, color=color, label=name, marker="." if len(steps) < 50 else None)
        lost = steps[~np.isfinite(line)]
        ax.plot(lost, np.full(len(lost), 0.02), "x", color=color, transform=ax.get_xaxis_transform())
    ax.set_xlabel("step")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize="small", ncols=1 + len(names) // 20, loc="center left", bbox_to_anchor=(1, 0.5))
