"""Packages that are first used by several threads at once."""

import subprocess
import sys
from itertools import combinations

import pytest

FIRST_USES = {
    "compile": "pullback.compile(lambda x: (x * 2).sum(), fullgraph=True)(pullback.ones(3))",
    "explain": "pullback.explain.record()",
    "func": "pullback.func.grad(lambda x: (x * 2).sum())(pullback.ones(3))",
    "softmax of many rows": "pullback.ones(600, 512, dtype=pullback.float64).softmax(1)",
}
AT_ONCE = """
import importlib.machinery, sys, threading, time, traceback
import pullback
executed = importlib.machinery.SourceFileLoader.exec_module
def slowly(loader, module):
    time.sleep(0.0005)  # another thread runs meanwhile
    executed(loader, module)
importlib.machinery.SourceFileLoader.exec_module = slowly
failed = []
def use(text):
    try:
        exec(text, {"pullback": pullback})
    except BaseException:
        failed.append(traceback.format_exc())
threads = [threading.Thread(target=use, args=(text,)) for text in sys.argv[1:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("\\n".join(failed) or 0)
"""


@pytest.mark.parametrize("pair", list(combinations(FIRST_USES, 2)), ids=" and ".join)
def test_two_threads_use_packages_for_the_first_time(pair):
    """Each import waits for the other, and neither gets a module that is not complete."""
    texts = [FIRST_USES[name] for name in pair]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AT_ONCE, *texts],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (run.returncode, run.stderr) == (0, "")
