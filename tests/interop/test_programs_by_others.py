"""Functions of public packages that know nothing of pullback: right with right gradients, or refused by name.

Run where the packages are installed: pip install tmm scikit-image filterpy lmfit fluids geographiclib colour-science
pykalman control sympy statsmodels pvlib ahrs pyproj.
"""

import doctest
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from .outcomes import outcome
from .programs import PROGRAMS

NEW = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4)  # in older environments packages are others


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{each.module} {each.call}" for each in PROGRAMS])
def test_a_program_is_right_or_refused_by_name(program):
    if importlib.util.find_spec(program.package) is None:
        pytest.skip(f"{program.package} is not installed")
    found, text = outcome(program)
    assert found != "wrong", text
    if NEW and program.refused:
        assert re.search(rf"{program.refused}|raised by", text)
    elif NEW:
        assert (found, text) == ("right", "")


def test_the_page_on_three_packages():
    for package in ("tmm", "skimage", "filterpy"):
        pytest.importorskip(package)
    page = Path(__file__).parents[2] / "docs/how-to/numpy-programs.md"
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    report = []
    with np.printoptions(legacy=False):  # packages set it
        assert not doctest.DocTestRunner().run(test, out=report.append).failed, "".join(report)
    assert len(blocks) == 3
