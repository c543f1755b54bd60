"""The mistakes that `scripts/mutants` plants can still be planted: the text that each replaces stands in the source once."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MUTANTS = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant['file']}: {mutant['name']}")
def test_a_mistake_can_be_planted(mutant):
    text = (ROOT / "src" / "pullback" / mutant["file"]).read_text(encoding="utf-8")
    assert text.count(mutant["old"]) == 1
    assert ast.dump(ast.parse(text.replace(mutant["old"], mutant["new"]))) != ast.dump(ast.parse(text))
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.get("tests", []))


def test_mistakes_are_planted_in_all_rooms():
    rooms = {mutant["file"].partition("/")[0] for mutant in MUTANTS}
    assert len(MUTANTS) >= 60
    assert rooms >= {
        *(
            "_core",
            "_numerics",
            "_tape",
            "autograd",
            "compile",
            "distributions",
            "explain",
            "files",
            "func",
            "nn",
            "ops",
        ),
        *("optim", "signal", "sparsity", "utils", "vocabulary"),
    }
