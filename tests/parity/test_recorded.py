"""What is recorded of torch for the tests that run without it is what torch says."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare the record with")

from ..recorded import programs  # noqa: E402


def test_the_record_is_torchs():
    answers = programs.record()["answers"]
    found = {line: programs.differences(programs.answer(torch, line), answers[line]) for line in answers}
    assert not any(found.values()), {line: each for line, each in found.items() if each}
