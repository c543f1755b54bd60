"""Programs lowered to an engine, equation by equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..program import LOOPS, DepartedError, Program, bodies, has_effect
from .libraries import Engine, engine
from .lowerings import LoweringError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..program import Equation
    from .lowerings import Foreign


def check(program: Program, w: Engine) -> None:
    """Nothing, if an engine has lowerings for all of a program.

    Raises
    ------
    LoweringError
        If it has none for one of the primitives, or if random numbers are drawn by a loop or from computed parameters.
    """
    for e in program.equations:
        if has_effect(e) and (e.name in LOOPS or e.inputs):
            raise LoweringError(
                "draw in a loop or a branch, or with parameters that are tensors, has no lowering for engines"
            )
        for body in bodies(e.params):
            check(body, w)
        if not has_effect(e) and e.name not in LOOPS:
            w.find(e)


def lowered(program: Program, w: Engine) -> Callable[..., list[Foreign]]:
    """The function of an engine's arrays that computes what a program needs: outputs, writes, guards; and checks.

    Random numbers, which the host draws, are further arguments. Where the host's functions raise an error, those of engines
    may give NaN: a check is True where finite operands have finite results.
    """
    constants = {value: w.constant(array) for value, array in program.constants.items()}
    inner = {id(body): _within(body, w) for e in program.equations for body in bodies(e.params)}
    draws = [e.output for e in program.equations if has_effect(e)]
    kept, last = {*program.needed, *constants}, {value: e for e in program.equations for value in e.inputs}

    def call(*arrays: Foreign) -> list[Foreign]:
        held = {**constants, **dict(zip((*program.inputs, *draws), arrays, strict=True))}
        checks = []
        for e in program.equations:
            if has_effect(e):
                continue
            given = [held[value] for value in e.inputs]
            try:
                made = _loop(w, e, given, inner) if e.name in LOOPS else w.compute(e, given)
            except LoweringError as error:
                raise LoweringError(f"{error} has no lowering for {w.name}: {e.name}") from None
            except (TypeError, IndexError, AttributeError, NotImplementedError) as error:
                case = f"a case that it refuses ({error})"
                raise LoweringError(f"{case} has no lowering for {w.name}: {e.name}") from error
            for value, array in zip(e.outputs, made if isinstance(made, tuple) else (made,), strict=True):
                held[value] = w.astype(array, value.dtype)
            if e.params.get("operation"):
                results = [held[value] for value in e.outputs]
                checks.append(_finite(w, results) | ~_finite(w, given))
            for value in e.inputs:
                if last[value] is e and value not in kept:
                    held.pop(value, None)
        return [*[held[value] for value in program.needed], *checks]

    return call


def executed(program: Program, w: Engine, *, keep: bool = False) -> Callable[..., list[Foreign]]:
    """The function of an engine's arrays that gives a program's outputs, then what is to be written; the host draws, and guards.

    With `keep` its results stay on the engine as numbers, where that is more than a plan to compute them.
    """
    check(program, w)
    compute = w.ready(lowered(program, w))
    draws = [e for e in program.equations if has_effect(e)]
    count = len(program.outputs) + len(program.writes)

    def call(*arrays: Foreign) -> list[Foreign]:
        drawn = [w.constant(np.asarray(e.primitive.forward(**e.params))) for e in draws]
        with np.errstate(all="ignore"):
            found = compute(*arrays, *drawn)
        found = w.held(found) if keep else found
        expected = [number for _, number in program.guards]
        expected += [True] * (len(found) - count - len(expected))
        if any(w.host(array).item() != number for number, array in zip(expected, found[count:], strict=True)):
            raise DepartedError("a guard does not hold")
        return found[:count]

    return call


def lower(program: Program, library: Any) -> Callable[..., list[Foreign]]:
    """The function of arrays of a library, or of the host, that computes a program there: see `pullback.program.lower`."""
    w = engine(library)
    call = executed(program, w)

    def lowered(*arrays: Any) -> list[Foreign]:
        with w.mode([array for array in arrays if isinstance(array, w.array)]):
            return call(*[array if isinstance(array, w.array) else w.constant(np.asarray(array)) for array in arrays])

    return lowered


def _within(body: Program, w: Engine) -> Callable[..., list[Foreign]]:
    """The function of a program within, without its checks."""
    function, count = lowered(body, w), len(body.outputs)
    return lambda *arrays: function(*arrays)[:count]


def _finite(w: Engine, arrays: list[Foreign]) -> Foreign:
    """Whether all elements of arrays are finite."""
    return w.xp.asarray(math.prod([w.astype(w.xp.all(w.xp.isfinite(x)), np.dtype(np.int64)) for x in arrays]) != 0)


def _loop(
    w: Engine, e: Equation, given: list[Foreign], inner: dict[int, Callable[..., list[Foreign]]]
) -> Sequence[Foreign]:
    """What a loop or a branch gives."""
    if e.name == "scan_loop":
        loop = e.params["loop"]
        return w.scan(inner[id(loop.body)], given, loop)
    if e.name == "branch":
        return w.branch(given[0], [inner[id(body)] for body in e.params["bodies"]], given[1:])
    test, step, tested = inner[id(e.params["test"])], inner[id(e.params["body"])], e.params["tested"]
    count = e.params["carries"]
    shared = given[count:]
    return w.repeat(
        lambda *carries: test(*carries, *shared[:tested])[0],
        lambda *carries: step(*carries, *shared[tested:]),
        given[:count],
    )
