"""Tests of tables of samples: one test for each primitive, which runs on all of its rows."""

import functools

import pytest


def each_row(rows):
    """Run a test of a name, makers and parameters on every row of a table, those of a primitive in one go.

    A test for each row would cost more in pytest than in the library. Which row it was stands beside a failure.
    """
    found = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)

    def decorate(test):
        @functools.wraps(test)
        def each(primitive):
            for i, row in enumerate(found[primitive]):
                try:
                    test(*row)
                except pytest.skip.Exception as skipped:  # would skip the rows after it, too
                    raise AssertionError(f"{primitive}, row {i} asks to be skipped") from skipped
                except Exception as failure:
                    failure.add_note(f"{primitive}, row {i}: {row[2]}")
                    raise

        del each.__wrapped__  # whose arguments pytest would ask for
        return pytest.mark.parametrize("primitive", found)(each)

    return decorate
