"""A plugin of pytest that tells coverage.py which test is running, as `file::function`: `-p tests.coverage.contexts`."""

import os
import sys

import coverage
import pytest

running = [""]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Switch where the function is another one: each switch writes what has been measured.

    Python takes a tracer away that fails, as coverage.py's does in tests that leave no room on the stack: it is put back.
    """
    if (measured := coverage.Coverage.current()) is None:
        return
    if sys.gettrace() is None:
        measured.stop()
        measured.start()
    context = f"{item.nodeid.partition('::')[0]}::{item.originalname}"
    if context != running[0]:
        measured.switch_context(context)
        running[0] = os.environ["RUNNING_TEST"] = context
