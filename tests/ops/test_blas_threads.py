"""NumPy's BLAS beside the threads that multiply matrices for us."""

import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")

PROGRAM = """
import numpy, pullback
from pullback._numerics import blas
from pullback.compile.machine import native
before = blas.threads()
if before is None or before < 2 or not native.multiplies():
    raise SystemExit(77)
seen = []
class Seen(numpy.ndarray):
    def dot(self, other):
        seen.append(blas.threads())
        return numpy.ndarray.dot(self, other)
from pullback._core import machine
large = numpy.ones((200, 200), numpy.float32)
machine.dot(large.view(Seen), large)
pullback.set_machine_code("always")
machine.dot(large.view(Seen), large)  # although no product of ours came before
pullback.tensor(large) @ pullback.tensor(large)
machine.dot(large.view(Seen), large)
machine.dot(large[:4, :4].view(Seen), large[:4, :4])
machine.dot(large[:, :10].view(Seen), large[:10])  # few numbers, but 400 000 multiplications
assert seen == [before, 1, 1, before, 1], seen
assert blas.threads() == before  # a program's own products
"""


def test_blas_has_one_thread_inside_ours_and_all_outside():
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=False, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("no BLAS with several threads, or narrow registers")
    assert not done.returncode, done.stderr
