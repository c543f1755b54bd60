"""The native core beside Python alone: every bit, stride, node, version and error text is the same."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pullback._tape import native

ROOT = Path(__file__).parents[2]
HERE = importlib.util.find_spec(native.MODULE) is not None
needs_core = pytest.mark.skipif(not HERE, reason="the native core is not built: native/README.md")


def lines(way, *arguments):
    command = [sys.executable, "-m", "tests.native", *arguments]
    environment = os.environ | {"PULLBACK_NATIVE": way, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == f"native core: {way == '1'}"
    return rest


@needs_core
@pytest.mark.parametrize("part", ["samples", "operations", "expressions", "writes", "programs"])
def test_both_ways_give_the_same(part):
    python, core = lines("0", part), lines("1", part)
    assert len(python) == len(core) > 20
    differences = [f"{one}\n{other}" for one, other in zip(python, core, strict=True) if one != other]
    assert not differences, f"{len(differences)} of {len(python)}:\n" + "\n\n".join(differences[:3])
