"""The native core where memory runs out, and what it leaves behind: each form in a process of its own, which may crash."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import memory

ROOT = Path(__file__).parents[2]
CORE = importlib.util.find_spec("_pullback_native")
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def passes(way, name):
    command = [sys.executable, "-W", "ignore", "-X", "faulthandler", "-m", "tests.native.memory", way, name]
    environment = os.environ | {"PULLBACK_NATIVE": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-1000:]


@pytest.mark.skipif(CORE is None or SANITIZED, reason="no core that counts references")
@pytest.mark.parametrize("name", memory.FORMS)
def test_no_references_are_leaked_leaking(name):
    passes("leaking", name)


@pytest.mark.skipif(
    CORE is None or importlib.util.find_spec("_testcapi") is None, reason="no core, or no failing allocations"
)
@pytest.mark.parametrize("name", sorted(memory.FORMS.keys() - memory.UNTRIED))
def test_nothing_is_left_half_done_where_an_allocation_is_failing(name):
    if sys.version_info >= (3, 12) and name in memory.MAKING:
        pytest.skip("where memory runs out CPython 3.12 and 3.13 crash after making a function")
    passes("failing", name)
