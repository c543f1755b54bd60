"""The page and the text say the same: it stops at the rows of the text, and writes numbers as the text does."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback.explain.arrays import number
from pullback.explain.numbers import short
from pullback.explain.stops import stops

from .node import FRONTEND, Node, needed

needed()
ROOT = Path(__file__).parents[2]
PROGRAMS = [
    ROOT / "docs/live/plane.py",
    *(ROOT / f"tests/explain/programs/{name}.py" for name in ("gpt", "lstm", "mlp", "nans", "plane", "seed")),
    *(FRONTEND / f"test/programs/{name}.py" for name in ("batch", "classes", "edited", "letters", "rounds", "squares")),
]


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    nodes = {name: Node(name, tmp_path_factory.mktemp("page")) for name in ("stops", "numbers")}
    yield nodes
    for node in nodes.values():
        node.process.communicate()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: "/".join(path.parts[-2:]))
def test_the_page_stops_at_the_rows_of_the_text(started, program):
    with pullback.explain.record(timing=False) as ex:
        runpy.run_path(str(program), run_name="__main__")
    trace = json.loads(json.dumps(ex.to_dict()))
    pages = started["stops"].answer(trace)
    assert len(pages) == len(ex.all_calls)
    for call, shown in zip(ex.all_calls, pages, strict=True):
        begin = len(call.forward)
        lines = {
            at: (stop["source"], stop["line"], stop["round"] and tuple(stop["round"]))
            for stop in shown["stops"]
            for at in stop["steps"]
        }
        rows = {}
        for stop in stops(call, 10**6):
            steps = [begin + call.steps.index(step) for step in stop.steps if step.op is not None]
            if stop.scope is None:
                found = {lines[at] for at in steps}
                assert len(found) <= 1, f"a row of the text is at {found}"
                assert not found & rows.keys(), f"two rows of the text are at {found}"
                rows |= dict.fromkeys(found, stop)
            elif shown["parts"] is not None:
                assert len({shown["parts"][at] for at in steps}) <= 1, f"{stop} lies in two parts"
            for place in found if stop.scope is None else ():
                source, line, times = place
                assert line == stop.place.line
                assert trace["sources"][source]["file"] == Path(stop.place.file).name
                assert times == ((stop.nth, stop.of) if stop.of > 1 else None)


def test_the_page_writes_numbers_as_the_text_does(started):
    random = np.random.default_rng(0)
    values = [
        0.0,
        -0.0,
        1.0,
        -26.0,
        0.25,
        0.1 + 0.2,
        1.0000001,
        -0.99999,
        100.00001,
        1234.5,
        9999.9,
        123456.7,
        1e7,
        9999999.0,
    ]
    values += [
        12345678.0,
        1e-4,
        9.9996e-5,
        1e-5,
        1e-300,
        1e300,
        np.nan,
        np.inf,
        -np.inf,
        1 + 2j,
        -0.5 - 0.25j,
        complex(1, -0.0),
    ]
    values += [k / 2**places for k in range(-40, 41, 3) for places in (1, 4, 7, 11)]  # many lie in the middle
    values += [
        sign * 10**power for sign, power in zip(random.choice([-1, 1], 300), random.uniform(-12, 12, 300), strict=True)
    ]
    assert started["numbers"].answer([number(value) for value in values]) == [short(value) for value in values]
