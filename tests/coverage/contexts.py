"""A plugin of pytest that tells coverage.py which test is running, as `file::function`: `-p tests.coverage.contexts`."""

import os

import coverage
import pytest

running = [""]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Switch where the function is another one: each switch writes what has been measured."""
    context = f"{item.nodeid.partition('::')[0]}::{item.originalname}"
    if (measured := coverage.Coverage.current()) is not None and context != running[0]:
        measured.switch_context(context)
        running[0] = os.environ["RUNNING_TEST"] = context
