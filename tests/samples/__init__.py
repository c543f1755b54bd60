"""Samples: for each primitive, arguments on which its rules are put to the proof.

A row is a primitive's name, makers of its arguments, and its metadata. The modules here hold the rows of the tables of `ops`
that have their names.
"""

from __future__ import annotations

import importlib

from pullback import ops

from .makers import Row


def rows() -> list[Row]:
    """The rows of all tables."""
    found: list[Row] = []
    for table in ("elementwise", "reductions", "linear_algebra", "shapes", *ops.LATER):
        found += importlib.import_module(f"{__name__}.{table}").ROWS
    return found
