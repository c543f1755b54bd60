"""Each generator of this folder, with few draws; `scripts/fuzz` draws many."""

import importlib

import pytest
from tests.generators.__main__ import NAMES, case


@pytest.mark.parametrize("name", NAMES)
def test_few_draws(name):
    few = importlib.import_module(f"tests.generators.{name}").FEW
    compared = 0
    for seed in range(few):
        try:
            compared += case(name, seed)
        except Exception as failure:
            failure.add_note(f"to repeat it: scripts/fuzz {name} --draws 1 --seed {seed}")
            raise
    assert compared >= few // 2  # a generator whose cases compare nothing proves nothing
