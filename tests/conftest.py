import os
import sys
import tempfile

from hypothesis import settings

from pullback._core import machine

# No test is timed, and CI draws the same examples each time.
settings.register_profile("pullback", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("pullback")

# Where llvmlite is installed, rows, products and other operations are left to machine code when many have been met, which
# changes last digits: here rows and products from the beginning, and others only where a test says so, so that no test
# meets the change.
machine.met[0] = machine.ENOUGH
machine._multiplied[0] = machine.PRODUCTS
machine.PORTION = sys.maxsize


def pytest_configure(config):
    """Compiled code of the tests is kept in a folder of their own, for this run, and for all its processes."""
    if "PULLBACK_CACHE" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="pullback-tests-")
        os.environ["PULLBACK_CACHE"] = folder.name
        config.add_cleanup(folder.cleanup)
