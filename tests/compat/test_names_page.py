"""The page of names that packages use says which of them are there."""

import re
from pathlib import Path

from tests.compat.test_torch_programs import installed

PAGE = Path(__file__).parents[2] / "docs" / "appendix" / "torch-names.md"
ROW = re.compile(r"^\| `([\w.]+)` \| \d+ \| (.*) \|$", re.MULTILINE)
STATES = {"there": None, "raises when it is called": True, "absent": False}


def test_what_the_page_says_of_names():
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) > 200 and {state for _, state in rows} == {*STATES}
    told = {name: STATES[state] for name, state in rows}
    wrong = installed(f"""
        warnings.simplefilter("ignore")
        from pullback.command.names import missing
        for name, wanted in {told!r}.items():
            found = missing(name)
            if (found if found is None else found[1]) is not wanted:
                print(name, wanted, found)
    """)
    assert not wrong
