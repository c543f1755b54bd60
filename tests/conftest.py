import gc
import importlib.util
import os
import re
import signal
import sys
import tempfile
import tracemalloc

import pytest
from hypothesis import settings

from pullback._core import machine

# No test is timed, and CI draws the same examples each time.
settings.register_profile("pullback", deadline=None, derandomize="CI" in os.environ, max_examples=50)
settings.load_profile("pullback")

# Where llvmlite is installed, rows, products and other operations are left to machine code when many have been met, which
# changes last digits: here rows and products from the beginning, and others only where a test says so, so that no test
# meets the change.
machine.budget.elements = machine.ENOUGH
machine.budget.multiplications = machine.PRODUCTS
machine.PORTION = sys.maxsize


# A shell starts jobs in the background with SIGINT ignored, and tests raise it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What there is not here, and the words in which a test that needs it fails: it is skipped instead.
PACKAGES = [name for name in ("llvmlite", "scipy") if importlib.util.find_spec(name) is None]
LACKING = {name: f"No module named '{name}|{name} is not installed" for name in PACKAGES}
if importlib.util.find_spec("pullback.explain") is None:  # scripts/test-core
    LACKING["clients"] = (
        r"No module named 'pullback\.(explain|sparsity|distributions|compat|distributed|command|compile|program)|llvmlite is not installed"
    )
if sys.platform in {"emscripten", "wasi"}:
    LACKING["threads"] = "can't start new thread"
    LACKING["processes"] = "does not support processes|No module named '_multiprocessing'|'os' has no attribute 'fork'"
    vars(os).pop("fork", None)  # python-wasm has one, whose child crashes
    tracemalloc.start = lambda *_: pytest.skip("needs tracemalloc, which ends this interpreter")


def _needs(error):
    """Skip a test that has failed for what there is not here."""
    said = f"{error} {error.__cause__ or error.__context__}"
    for name, words in LACKING.items():
        if re.search(words, said):
            pytest.skip(f"needs {name}, which is not here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    try:
        return (yield)
    except Exception as error:
        _needs(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        _needs(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A file that imports a client is skipped where there is none."""
    report = yield
    if report.failed and "clients" in LACKING and re.search(LACKING["clients"], str(report.longrepr)):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, "Skipped: needs clients of the core")
    return report


def pytest_configure(config):
    """Compiled code of the tests is kept in a folder of their own, for this run, and for all its processes."""
    if "PULLBACK_CACHE" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="pullback-tests-")
        os.environ["PULLBACK_CACHE"] = folder.name
        config.add_cleanup(folder.cleanup)
    if "llvmlite" in LACKING:  # compiled functions say so once, which is no fault
        config.addinivalue_line("filterwarnings", "ignore:compile. llvmlite is not installed:UserWarning")


def pytest_collection_finish():
    """What collecting has made lives to the end: the garbage collector need not visit it again and again."""
    gc.collect()
    gc.freeze()
