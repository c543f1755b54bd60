"""Python's cyclic collector beside long graphs: cycles are found, what the program has frozen stays so."""

import subprocess
import sys

import pytest

RECORDING = """
import gc, sys, weakref
import numpy as np
import pullback

class Cycle:
    def __init__(self):
        self.me = self

def recorded(count, z):
    for _ in range(count):
        z = z * w
    return z

w = pullback.tensor(1.0, requires_grad=True)
z = pullback.tensor(0.5)
frozen = gc.get_freeze_count()  # Python 3.12 has some from the beginning
"""


def told(program):
    """What a process of its own prints, whose collector has seen nothing else."""
    done = subprocess.run([sys.executable, "-c", RECORDING + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


FOUND = """
cycle = Cycle()
gc.collect()  # the cycle is among the oldest objects
gone = weakref.ref(cycle)
del cycle
steps = 0
while gone() is not None and steps < 400:
    z = recorded(1000, z)
    steps += 1
print(steps)
z.backward()
print(int(w.grad.item() == 0.5 * 1000 * steps), int(gc.get_freeze_count() <= frozen))
"""


def test_a_dropped_cycle_is_found_while_a_graph_grows():
    """With four times as much memory, which 400 000 operations take several times over."""
    steps, right, thawed = map(int, told(FOUND))
    assert steps < 400
    assert right == 1
    assert thawed == 1


@pytest.mark.skipif(
    sys.version_info >= (3, 14) or "free-threading" in sys.version, reason="no generations that grow old"
)
def test_full_collections_of_a_long_graph_are_left_out():
    """Python by itself has found the cycle after thirty thousand operations: they leave more than a quarter of all objects."""
    steps, *_ = map(int, told(FOUND))
    assert steps > 40


def test_full_collections_of_short_graphs_are_not_left_out():
    """Graphs that are let go of, and cycles beside them: as without the library."""
    (found,) = map(
        int,
        told("""
cycle = Cycle()
gc.collect()
gone = weakref.ref(cycle)
del cycle
kept = []
for _ in range(200):
    recorded(500, z)
    kept.append([[] for _ in range(3000)])
print(int(gone() is None))
"""),
    )
    assert found


def test_gc_collect_always_collects():
    """The program asks for it, whatever graph is there."""
    assert (
        told("""
z = recorded(100_000, z)
for _ in range(5):
    cycle = Cycle()
    gc.collect()
    gone = weakref.ref(cycle)
    del cycle
    z = recorded(100, z)
    gc.collect()
    print(int(gone() is None), int(gc.get_freeze_count() <= frozen))
""")
        == ["1", "1"] * 5
    )


def test_what_the_program_has_frozen_stays_frozen():
    """As servers do before they fork."""
    before, after = map(
        int,
        told("""
gc.freeze()
print(gc.get_freeze_count())
z = recorded(150_000, z)
print(gc.get_freeze_count())
"""),
    )
    assert 0 < after <= before
    assert after > before // 2


def test_a_disabled_collector_stays_disabled():
    """No collection runs, and nothing is moved."""
    assert told("""
gc.disable()
z = recorded(50_000, z)
print(int(gc.isenabled()), int(gc.get_freeze_count() <= frozen))
""") == ["0", "1"]
