"""Machine code for processors with narrower registers than this one has: the same tests, in a process that hides the wider ones.

Every fourth test runs with each width, others with the other one: `PULLBACK_REGISTERS=all` runs all with both.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

binding = pytest.importorskip("llvmlite.binding", reason="machine code is made by llvmlite, which is not installed")

HIDDEN = {
    "256 bits": ("avx512",),
    "128 bits": ("avx512", "avx2", "fma", "f16c", "vaes", "vpclmulqdq"),
}
FILES = (
    "test_scanning.py",
    "test_resampling.py",
    "test_matrices.py",
    "test_dense.py",
    "test_rows.py",
    "test_totals.py",
    "test_loops.py",
    "test_templates.py::test_sizes_on_both_sides_of_thresholds",
)
PROGRAM = """
import sys
import llvmlite.binding
import pytest

hidden, share, *arguments = sys.argv[1:]
known = llvmlite.binding.get_host_cpu_features

def narrower():
    features = known()
    for name in features:
        if name.startswith(tuple(hidden.split(","))):
            features[name] = False
    return features

class Share:
    def pytest_collection_modifyitems(self, items):
        items[:] = items[int(share) :: 4] if share else items

llvmlite.binding.get_host_cpu_features = narrower
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *arguments], plugins=[Share()]))
"""


@pytest.mark.parametrize("registers", HIDDEN)
def test_narrower_registers_give_the_same(registers, tmp_path, monkeypatch):
    features, hidden = binding.get_host_cpu_features(), HIDDEN[registers]
    if not features.get("avx512f" if registers == "256 bits" else "avx2"):
        pytest.skip(f"this processor has no registers wider than {registers}")
    monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path))
    share = "" if os.environ.get("PULLBACK_REGISTERS") == "all" else str([*HIDDEN].index(registers))
    here = Path(__file__).parent
    command = [sys.executable, "-c", PROGRAM, ",".join(hidden), share, *[str(here / name) for name in FILES]]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=here.parent.parent)
    assert not done.returncode, done.stdout[-3000:] + done.stderr[-1000:]
