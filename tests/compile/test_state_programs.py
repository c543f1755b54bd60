"""Random programs over Python state give, compiled, what they give as they are, and leave the same state behind."""

import pytest

from .state_programs import outcome

PROGRAMS, IN_ONE = 150, 10


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("first", range(0, PROGRAMS, IN_ONE))
def test_random_programs(first):
    made = {seed: outcome(seed, fuse=seed % 100 == 0) for seed in range(first, first + IN_ONE)}
    assert [seed for seed, each in made.items() if not each.right] == []
    assert sum(not each.reasons for each in made.values()) >= IN_ONE / 2
