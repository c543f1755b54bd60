"""The text has a row for each line or module of a program, and the page stops there: both divide the steps alike."""

import json
import runpy
from pathlib import Path

import pytest

import pullback
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
def page(tmp_path_factory):
    node = Node("stops", tmp_path_factory.mktemp("page"))
    yield node
    node.process.communicate()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: "/".join(path.parts[-2:]))
def test_the_page_stops_at_the_rows_of_the_text(page, program):
    with pullback.explain.record(timing=False) as ex:
        runpy.run_path(str(program), run_name="__main__")
    trace = json.loads(json.dumps(ex.to_dict()))
    pages = page.answer(trace)
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
