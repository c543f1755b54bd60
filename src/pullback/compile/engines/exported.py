"""Programs as StableHLO: what `compile(f).on("jax").exported(...)` returns, by jax's own export."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...utils.trees import flatten, unflatten
from .lowerings import LoweringError
from .running import check, lowered

if TYPE_CHECKING:
    from ..export.bound import Bound
    from .libraries import Engine
    from .lowerings import Foreign


class StableHLO(NamedTuple):
    """A function of one call, exported by jax, and the state that it begins with.

    `exported` is a `jax.export.Exported`: `exported.call(state, *args, **kwargs)` gives the result, the state after it, and
    whether all checks have passed; where one has failed the state is as it was.
    """

    exported: Any
    state: dict[str, Any]


def exported(made: Bound, w: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]) -> StableHLO:
    """A program, with the state as an argument and a result, as jax exports it. The arguments are of the engine's arrays."""
    try:
        export = importlib.import_module("jax.export")
    except ImportError:
        export = None
    if export is None or w.name != "jax":
        raise TypeError(f"exported: StableHLO is what jax exports, and the function is on {w.name}: use .on('jax')")
    if any(isinstance(slot.memory, np.random.Generator) for slot in made.inputs):
        raise LoweringError(f"{made.name} draws random numbers, which an exported program does not: draw them outside")
    check(made.program, w)
    state = {slot.name: w.constant(slot.array) for slot in made.inputs if slot.place is None and slot.array is not None}
    jax = importlib.import_module("jax")
    call = _Call(made, w)
    leaves, structure = flatten((args, kwargs))
    given = [x if isinstance(x, w.array) else w.constant(np.asarray(x)) for x in leaves]
    positional, named = unflatten(structure, given)
    return StableHLO(export.export(jax.jit(call))(state, *positional, **named), state)


class _Call:
    """The function that is exported."""

    def __init__(self, made: Bound, w: Engine) -> None:
        self.made, self.w = made, w
        self.compute = lowered(made.program, w)
        self.__name__ = made.name

    def __call__(self, state: dict[str, Foreign], *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Foreign], Foreign]:
        made, w = self.made, self.w
        leaves, structure = flatten((args, kwargs))
        before = [state[slot.name] if slot.place is None else leaves[slot.place] for slot in made.inputs]
        found = self.compute(*before)
        results, written = found[: len(made.outputs)], found[len(made.outputs) :]
        writes = made.program.writes
        passed = self._passed(written[len(writes) :])
        after = dict(state)
        for (number, _), array in zip(writes, written, strict=False):
            slot, kept = made.inputs[number], w.xp.where(passed, array, before[number])
            if slot.place is None:
                after[slot.name] = kept
            else:
                leaves[slot.place] = kept
        result = unflatten(made.structure, [plain if n is None else results[n] for n, plain in made.returned])
        if any(slot.written and slot.place is not None for slot in made.inputs):
            result = result, unflatten(structure, leaves)[0]
        return result, after, passed

    def _passed(self, found: list[Foreign]) -> Foreign:
        """Whether guards are what they were, and checks hold."""
        w = self.w
        expected = [number for _, number in self.made.program.guards]
        expected += [True] * (len(found) - len(expected))
        passed = w.xp.asarray(True)
        for array, number in zip(found, expected, strict=True):
            passed = passed & w.xp.reshape(array == number, ())
        return passed
