"""What is said of a primitive on the line that defines it, derived from what it does to samples."""

import itertools

import numpy as np
import pytest

from pullback import ops
from pullback.compile.costs import flops

from .. import samples
from ..compile.programs import of_row
from ..samples import makers

PRIMITIVES = ops.tables()
WITHOUT_DERIVATIVE = [
    *(
        (name, [makers.reals(3, 4), makers.reals(3, 4)], {})
        for name in ("equal", "less", "logical_and", "floor_divide")
    ),
    *((name, [makers.reals(3, 4)], {"axis": 1, "keepdims": True}) for name in ("argmax", "argmin", "all", "any")),
    *((name, [makers.reals(3, 4)], {}) for name in ("isnan", "isfinite", "logical_not", "signbit", "exponent")),
]
ROWS = [*samples.rows(), *WITHOUT_DERIVATIVE]


def results(program, arrays):
    (equation,) = program.equations
    with np.errstate(all="ignore"):
        made = equation.primitive.forward(*arrays, **equation.params)
    return [np.asarray(array) for array in (made if isinstance(made, (tuple, list)) else [made])]


@pytest.fixture(scope="module")
def tried():
    """For each primitive its samples, and what it makes of them."""
    found = {}
    for row in ROWS:
        program, arrays = of_row(row, np.dtype(np.float64))
        found.setdefault(row[0], []).append((program.equations[0], arrays, results(program, arrays)))
    return found


def test_views_are_what_shares_memory(tried):
    views = {name for name, primitive in PRIMITIVES.items() if primitive.view} & tried.keys()
    sharing = {
        name
        for name, cases in tried.items()
        for _, arrays, made in cases
        if any(np.shares_memory(array, arrays[0]) for array in made if array.size)
    }
    assert sharing == views


NUMBERS = np.array([0.0, -0.0, 1.0, -2.0, 3.5, np.inf, -np.inf, np.nan, 1e-300, -1e30, 100.0, 100.001000015])
UNPROMISED = set("beta betaln gcd hypot lcm logaddexp logaddexp2".split())
"""Functions of libraries that are symmetric here, and need not be elsewhere."""


def commutes(primitive, numbers):
    """Whether no bit of a result changes when operands are exchanged."""
    a, b = np.array(list(itertools.product(numbers, repeat=2)), numbers.dtype).T
    with np.errstate(all="ignore"):
        return bool(primitive.forward(a, b).tobytes() == primitive.forward(b, a).tobytes())


def test_operands_commute_if_it_is_said():
    with np.errstate(all="ignore"):
        kinds = [NUMBERS, NUMBERS.astype(np.float32), np.arange(-4, 9)]
    found = set()
    for name, primitive in PRIMITIVES.items():
        leg = name == "hypot_slope"  # by metadata
        if primitive.kind in ("elementwise", "zero") and primitive.inputs == ("a", "b") and not leg:
            whole = name.startswith("bitwise") or name in {"gcd", "lcm", "left_shift", "right_shift"}
            if all(commutes(primitive, numbers) for numbers in (kinds[2:] if whole else kinds[:2])):
                found.add(name)
    assert found - UNPROMISED == {name for name, primitive in PRIMITIVES.items() if primitive.commutes}


def test_what_does_work_costs_something(tried):
    """What makes numbers that were not there before, but as views."""
    for name, cases in tried.items():
        for equation, arrays, made in cases:
            there = np.concatenate([np.zeros(1, complex), *[np.ravel(array).astype(complex) for array in arrays]])
            moves = all(np.isin(np.nan_to_num(array.astype(complex)), np.nan_to_num(there)).all() for array in made)
            if equation.primitive.view or moves:
                continue
            assert flops(equation) > 0, name


def test_a_definition_costs_what_its_parts_do():
    program, _ = of_row(("softsign", [makers.reals(3, 4)], {}), np.dtype(np.float64))
    assert flops(program.equations[0]) == 12 * (1 + 1 + 4)  # abs, add, divide
    program, _ = of_row(("logsigmoid", [makers.reals(5)], {}), np.dtype(np.float64))
    assert flops(program.equations[0]) == 5 * (1 + 1 + 1 + 16 + 16 + 1)  # minimum, abs, negative, exp, log1p, subtract
