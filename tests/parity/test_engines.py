"""Programs on jax and torch: every primitive's samples against its forward function, and whole programs."""

import math

import numpy as np
import pytest
from tests.engines.beside import compared as compared_program, every_program
from tests.engines.rows import ROWS, compared, lacking

import pullback
from pullback.compile import LoweringError
from pullback.compile.engines.libraries import engine

pytest.importorskip("jax", reason="jax is not installed: programs run on it where it is")
pytest.importorskip("torch", reason="torch is not installed: programs run on it where it is")

import jax
import torch

LEAST = {"jax": 300, "torch": 290}
"""Primitives that have a lowering for an engine, at least."""

libraries = pytest.mark.parametrize("what", LEAST)


def attempted(what, row):
    """Whether an engine has lowerings for a row, with the right numbers."""
    try:
        compared(engine(what), *row)
    except LoweringError:
        return False
    return True


@libraries
def test_lowerings_give_what_the_forward_functions_give(what):
    rows = ROWS if what == "torch" else {row[0]: row for row in reversed(ROWS)}.values()  # XLA takes 0.1 s for each
    found = {row[0]: attempted(what, row) for row in rows}
    assert sum(found.values()) >= LEAST[what]


@libraries
def test_a_library_lacks_nothing_of_the_standard_that_words_use(what):
    assert lacking(engine(what)) == set()


@libraries
@every_program
def test_programs(name, what):
    compared_program(name, what)


def test_later_calls_of_a_jitted_step_stay_on_the_device():
    def step(x):
        return pullback.func.grad(lambda x: (x.sin() ** 2).sum())(x)

    placed = pullback.compile(step).on("jax")
    x = jax.numpy.arange(3.0)
    placed(x)
    with jax.transfer_guard("disallow"):
        found = placed(x)
    np.testing.assert_allclose(np.asarray(found), np.sin(2 * np.arange(3.0)), rtol=1e-6)
    assert found.dtype == x.dtype


def test_a_guard_of_jax_is_looked_at_on_the_host():
    placed = pullback.compile(pullback.linalg.cholesky).on("jax")
    right = np.array([[4.0, 2.0], [2.0, 5.0]], np.float32)
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(placed(jax.numpy.asarray(right))), np.linalg.cholesky(right), rtol=1e-6)
    with pytest.raises(pullback.linalg.LinAlgError, match="not positive-definite"):
        placed(jax.numpy.asarray(-right))


def test_torchs_own_gradients_are_left_out():
    given = torch.ones(3, requires_grad=True)
    assert not pullback.compile(lambda x: x * 2).on("torch")(given).requires_grad


def test_special_functions_are_the_librarys_own():
    x = np.linspace(0.5, 3, 7)
    for what, asarray in (("jax", jax.numpy.asarray), ("torch", torch.asarray)):
        placed = pullback.compile(lambda x: (pullback.lgamma(x), pullback.special.i0(x))).on(what)
        found, bessel = placed(asarray(x.astype(np.float32)))
        np.testing.assert_allclose(np.asarray(found), [math.lgamma(each) for each in x], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.asarray(bessel), np.i0(x), rtol=1e-5)
