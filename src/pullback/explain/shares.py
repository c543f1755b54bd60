"""Which example moved a weight: the gradient of a batch, divided among its examples."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import Tensor
from ..nn.modules.module import Module
from ..observe import aside, value
from .arrays import Array
from .numbers import short
from .sheets import Sheet

CLOSE = {"float64": 1e-9, "float32": 1e-4}
"""By how much of the largest element the examples' sum may differ from the gradient of the batch."""
MODES = ("vmap", "each")
SHOWN = 20


class Example(NamedTuple):
    """What one example adds to the gradients: its number in the batch, the norm of that, and how much of the whole it is."""

    number: int
    norm: float
    share: float
    """The part along the gradient of the batch: those of all examples add up to 1."""


class Examples:
    """The gradient of a batch, divided among its examples: what `explain.examples` gives.

    >>> import pullback
    >>> from pullback import nn
    >>> layer = nn.Linear(1, 1, bias=False)
    >>> x = pullback.tensor([[1.0], [3.0]])
    >>> found = pullback.explain.examples(layer, lambda model, x: model(x).mean(), x)
    >>> found.of("weight").reshape(-1).tolist(), found.largest(1)
    ([0.5, 1.5], [Example(number=1, norm=1.5, share=0.75)])
    """

    def __init__(self, parts: dict[str, Array], whole: dict[str, Array], inputs: Sequence[Array]) -> None:
        self.parts, self.whole = parts, whole
        """Of each parameter the parts, an array with an axis of examples in front, and the gradient of the batch."""
        self._inputs = inputs
        rows = [part.reshape(len(part), -1).astype(np.float64) for part in parts.values()]
        total = [gradient.reshape(-1).astype(np.float64) for gradient in whole.values()]
        squares = sum(float(each @ each) for each in total)
        self.norms: Array = np.sqrt(np.sum([(each * each).sum(1) for each in rows], 0))
        """The norm of what each example adds, over all parameters that were asked for."""
        along = np.sum([each @ one for each, one in zip(rows, total, strict=True)], 0)
        self.shares: Array = along / squares if squares else np.zeros_like(self.norms)

    def of(self, parameter: str) -> Array:
        """What each example adds to the gradient of a parameter.

        Raises
        ------
        KeyError
            If there is no such parameter.
        """
        if parameter not in self.parts:
            raise KeyError(f"{parameter!r} was not asked for; there are {', '.join(self.parts)}")
        return self.parts[parameter]

    def at(self, parameter: str, *index: int) -> list[Example]:
        """The examples by what they add to one element of a weight, the largest first."""
        at: tuple[Any, ...] = (slice(None), *index)
        moved = self.of(parameter)[at].astype(np.float64).reshape(-1)
        if len(moved) != len(self.norms):
            raise IndexError(
                f"at({parameter!r}, {', '.join(map(str, index))}): name one element of {self.whole[parameter].shape}"
            )
        total = moved.sum()
        shares = moved / total if total else np.zeros_like(moved)
        return [Example(int(i), float(moved[i]), float(shares[i])) for i in np.argsort(-np.abs(moved), kind="stable")]

    def largest(self, count: int = SHOWN) -> list[Example]:
        """The examples that add most."""
        order = np.argsort(-np.nan_to_num(self.norms, nan=np.inf), kind="stable")[:count]
        return [Example(int(i), float(self.norms[i]), float(self.shares[i])) for i in order]

    def __len__(self) -> int:
        return len(self.norms)

    def __str__(self) -> str:
        first = self.largest(1)[0]
        median = float(np.median(self.norms))
        names = ", ".join([*self.parts][:3]) + (f" and {len(self.parts) - 3} more" if len(self.parts) > 3 else "")
        return (
            f"of {len(self)} examples, number {first.number} adds most to the gradient of {names}: "
            f"norm {short(first.norm)}, the median is {short(median)}"
        )

    def sheet(self) -> Sheet:
        """The examples that add most as a table."""
        found = self.largest()
        most = max((each.norm for each in found if np.isfinite(each.norm)), default=0.0) or 1.0
        rows = [
            [
                str(each.number),
                short(each.norm),
                f"{100 * each.share:.1f} %",
                *[_seen(x[each.number]) for x in self._inputs],
            ]
            for each in found
        ]
        names = ["input", "target"][: len(self._inputs)] + [f"argument {i}" for i in range(2, len(self._inputs))]
        bars = [min(1.0, each.norm / most) if np.isfinite(each.norm) else 1.0 for each in found]
        columns = ["example", "norm", "share", *names]
        answer = f"number {found[0].number} of {len(self)}"
        return Sheet("examples", "Examples", answer, str(self), columns, rows, bars, 0)


class _Loss(Module):
    """A loss as a module, so that its parameters can be others."""

    def __init__(self, model: Any, loss: Callable[..., Any]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *batch: Any) -> Any:
        return self.loss(self.model, *batch)


def examples(
    model: Module, loss: Callable[..., Tensor], *batch: Tensor,
    parameters: Sequence[str] | None = None, chunk: int = 64, mode: str = "vmap",
) -> Examples:  # fmt: skip
    """What each example of a batch adds to the gradient of a model's parameters.

    Parameters
    ----------
    model
        The model. Nothing of it is changed, and no `.grad` is written.
    loss
        `loss(model, *batch)`, the mean or the sum over the first axis of a loss of each example.
    batch
        Tensors with an axis of examples in front.
    parameters
        The names of those that are asked for, as in `named_parameters`; without, all that require grad.
    chunk
        How many examples are worked on at once: the gradients of so many take memory, besides those that are returned.
    mode
        'vmap' runs a chunk as one program, 'each' one example after another, for operations that cannot be batched.

    What is returned has the parts by parameter; their sum is the gradient of the batch, which `.grad` would be.

    Raises
    ------
    ValueError
        If the parts do not add up to the gradient of the batch: examples that see each other, as in batch norm while
        training, or dropout, or another reduction, have no parts.

    >>> import pullback
    >>> from pullback import nn
    >>> _ = pullback.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    >>> x = pullback.randn(8, 2)
    >>> y = x.sum(1, keepdim=True)
    >>> y[5] += 10  # a wrong target
    >>> found = pullback.explain.examples(model, lambda model, x, y: nn.functional.mse_loss(model(x), y), x, y)
    >>> found.largest(1)[0].number
    5
    """
    _check(model, batch, chunk, mode)
    named = {name: each for name, each in model.named_parameters() if each.requires_grad}
    wanted = [*named] if parameters is None else [*parameters]
    if unknown := [name for name in wanted if name not in named]:
        raise ValueError(f"examples(): {unknown[0]!r} is no parameter that requires grad; there are {', '.join(named)}")
    if not wanted:
        raise ValueError("examples(): the model has no parameter that requires grad")
    return _divided(_Loss(model, loss), {name: named[name].detach() for name in wanted}, batch, chunk, mode)


def _divided(wrapped: _Loss, chosen: dict[str, Tensor], batch: Sequence[Tensor], chunk: int, mode: str) -> Examples:
    """The gradient of a batch, of a chunk of examples at a time."""
    func = importlib.import_module("pullback.func")

    def of(values: Mapping[str, Tensor], *given: Tensor) -> Tensor:
        found: Tensor = func.functional_call(wrapped, {f"model.{name}": each for name, each in values.items()}, given)
        return found

    def one(values: Mapping[str, Tensor], *given: Tensor) -> Tensor:
        return of(values, *[each.unsqueeze(0) for each in given])

    def gradient(*given: Tensor) -> dict[str, Array]:
        return {name: np.array(value(each)) for name, each in func.grad(of)(chosen, *given).items()}

    single, size, found = func.grad(one), 1, dict[str, list[Array]]()
    if mode == "vmap":
        single, size = func.vmap(single, in_dims=(None, *[0] * len(batch))), chunk
    with aside():
        whole = gradient(*batch)
        for start in range(0, len(batch[0]), size):
            part = [each[start : start + size] if mode == "vmap" else each[start] for each in batch]
            for name, each in single(chosen, *part).items():
                array = np.array(value(each))
                found.setdefault(name, []).append(array if mode == "vmap" else array[None])
        parts = {name: np.concatenate(each) for name, each in found.items()}
        most = int(np.argmax(np.sum([np.square(each.reshape(len(each), -1)).sum(1) for each in parts.values()], 0)))
        twice = gradient(*[each[[most, most]] for each in batch])
    scale = _scale(parts, whole, twice, most)
    return Examples({name: each * scale for name, each in parts.items()}, whole, [value(each) for each in batch])


def _check(model: object, batch: Sequence[Any], chunk: int, mode: str) -> None:
    if not hasattr(model, "named_parameters"):
        raise TypeError(
            f"examples(): the first argument is the model, which has parameters, not a {type(model).__name__}"
        )
    if mode not in MODES:
        raise ValueError(f"examples(): mode is one of {', '.join(map(repr, MODES))}, not {mode!r}")
    if chunk < 1:
        raise ValueError(f"examples(chunk={chunk!r}): the number of examples at once, 1 or more")
    if not batch or not all(isinstance(each, Tensor) and each.ndim for each in batch):
        raise TypeError("examples(): give the batch as tensors with an axis of examples in front, after the loss")
    sizes = [len(each) for each in batch]
    if len({*sizes}) > 1 or not sizes[0]:
        raise ValueError(
            f"examples(): the tensors have {', '.join(map(str, sizes))} examples: expected equal numbers, 1 or more"
        )


def _scale(parts: dict[str, Array], whole: dict[str, Array], doubled: dict[str, Array], at: int) -> float:
    """What the examples' gradients are multiplied by to add up to that of the batch: 1 for a sum, 1 / n for a mean.

    Which of them it is, a batch that has one example twice tells: there a mean is what it is without.
    """
    count = len(next(iter(parts.values())))
    single = {name: each[at] for name, each in parts.items()}
    mean, total = (_off(doubled, {name: factor * each for name, each in single.items()}) for factor in (1, 2))
    scale = 1 / count if mean <= total else 1.0
    off = _off(whole, {name: each.sum(0, np.float64) * scale for name, each in parts.items()})
    largest = max((scale * float(np.abs(each).max(initial=0)) for each in parts.values()), default=0.0)
    close = max(CLOSE.get(str(each.dtype), 1e-2) for each in whole.values())
    if off > close * largest and np.isfinite(largest):
        raise ValueError(
            f"examples(): the gradients of the {count} examples add up to another one than that of the batch (off by "
            f"{short(off)}): the loss must be a mean or a sum over the first axis, of examples that do not see each other; "
            "call model.eval() if there is batch norm or dropout in it"
        )
    return scale


def _off(one: dict[str, Array], other: dict[str, Array]) -> float:
    """The largest distance of two gradients; NaN does not count."""
    with np.errstate(invalid="ignore"):
        return max(float(np.nan_to_num(np.abs(each - other[name])).max(initial=0)) for name, each in one.items())


def _seen(array: Array) -> str:
    """An example in few characters."""
    flat = np.asarray(array).reshape(-1)
    text = " ".join(short(each.item(), 3) for each in flat[:4])
    return f"{text} ..." if flat.size > 4 else text
