"""A small part of `scripts/failures`: the n-th event of an operation fails, and nothing is half done."""

import os

import pytest
from tests.stress.failing import WAYS
from tests.stress.failures import places
from tests.stress.operations import MAKERS

from pullback._tape import native

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")

WITHOUT_MEMORY = [
    *(name for name in MAKERS if name.startswith(("no_grad", "alone", "recorded")) and "mul" in name),
    "no_grad: zero_", "alone: copy_", "recorded: t[1:] =", "recorded: t[[0, 2]] =", "no_grad: out=", "backward",
]  # fmt: skip
INTERRUPTED = {
    ("recorded: mul_", "signal"): 17, ("alone: t[1:] =", "signal"): 17, ("compiled first", "signal"): 2999,
    ("func: grad", "block"): 1, ("func: vmap", "block"): 1, ("backward recorded", "block"): 1,
    ("compiled first", "block"): 31, ("block: no_grad", "block"): 1, ("block: dual_level", "block"): 1,
    ("block: decorated with no_grad", "block"): 1, ("block: detect_anomaly", "block"): 1, ("block: check", "block"): 1,
    ("save", "signal"): 1,
}  # fmt: skip
"""Operations, and how many places of each are passed over after one that is tried."""


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_without_memory(name):
    """Graphs keep what they have saved, and the same call with memory gives the right numbers."""
    found = [*places(name, "memory")]
    assert found
    assert [each for each in found if each[1]] == []


@pytest.mark.parametrize(("name", "way"), INTERRUPTED)
def test_interrupted(name, way):
    """The thread is in nothing that it was not in, a write is whole, and the same call gives the right numbers."""
    found = [*places(name, way, INTERRUPTED[name, way])]
    assert len(found) > (0 if native.core else 3)  # which is in C, where nothing interrupts
    assert [each for each in found if each[1]] == []


def test_save_without_a_disk():
    found = [*places("save", "system")]
    assert len(found) > 3
    assert [each for each in found if each[1]] == []


@pytest.mark.parametrize("way", WAYS)
def test_every_way_fails_something(way):
    """An operation has events of each kind."""
    assert next(places("save" if way == "system" else "func: grad", way))[0] == 1
