"""A plugin of pytest that tells coverage.py which test is running, as `file::function`: `-p tests.coverage.contexts`."""

import coverage
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if (measured := coverage.Coverage.current()) is not None:
        measured.switch_context(f"{item.nodeid.partition('::')[0]}::{item.originalname}")


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish(nodeid):
    if (measured := coverage.Coverage.current()) is not None:
        measured.switch_context("")
