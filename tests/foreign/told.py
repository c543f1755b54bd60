"""A plugin of pytest that writes what becomes of each test, one line of JSON each, as soon as it is known.

A process that ends in the middle has then told how far it came, and in which test it was.
"""

import json
import os
import platform
import sys

import pytest


def write(**line):
    with open(os.environ["FOREIGN_RESULTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def version(name):
    try:
        return __import__(name).__version__
    except ImportError:
        return None


def pytest_sessionstart(session):
    python = platform.python_version()
    packages = {name: version(name) for name in ("numpy", "scipy", "llvmlite")}
    write(kind="machine", python=python, order=sys.byteorder, bits=sys.maxsize.bit_length() + 1, **packages)


def pytest_collectreport(report):
    if report.failed:
        write(kind="failed", test=report.nodeid, why=str(report.longrepr)[-2000:])
    elif report.skipped:
        write(kind="skipped", test=report.nodeid, why=str(report.longrepr[2]))


def pytest_runtest_logstart(nodeid):
    write(kind="began", test=nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.failed:
        write(kind="failed", test=report.nodeid, why=str(report.longrepr)[-2000:])
    elif report.skipped:
        write(
            kind="skipped",
            test=report.nodeid,
            why=str(report.longrepr[2] if isinstance(report.longrepr, tuple) else ""),
        )
    elif report.when == "call":
        write(kind="passed", test=report.nodeid)
