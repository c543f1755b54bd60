"""Values and gradients of expressions over all rooms: those that torch gave when it was asked, with its version."""

import pytest

import pullback

from . import programs

EXPRESSIONS = programs.expressions()
RECORD = programs.record()["answers"]


def test_the_record_is_of_these_expressions():
    assert sorted(RECORD) == sorted(line for _, line in EXPRESSIONS)


@pytest.mark.parametrize("room", sorted({room for room, _ in EXPRESSIONS}))
def test_answers_are_those_of_torch(room):
    found = []
    for line in [line for its, line in EXPRESSIONS if its == room]:
        try:
            found += [f"{line}: {each}" for each in programs.differences(programs.answer(pullback, line), RECORD[line])]
        except Exception as error:
            error.add_note(line)
            raise
    assert not found, "\n".join(found)
