"""A new operation takes three edits of a copy of the repository: a rule, a sample and a name. All else follows from them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "scripts" / "stubs").is_file(), reason="scripts are in the repository")

RULE = """
gudermannian = elementwise("gudermannian", lambda xp, g, x: g / xp.cosh(x), forward=lambda x: np.arctan(np.sinh(x)))
"""
SAMPLE = """
ROWS += [("gudermannian", [reals(3, 2)], {})]
"""
NAME = '''

@elementwise(ops.gudermannian)
def gudermannian(input: Any) -> Any:
    """The Gudermannian function, elementwise."""
'''
PROGRAM = """
import numpy as np
import pullback as pb

values = np.array([-1.0, 0.5, 2.0])
x = pb.tensor(values, requires_grad=True)
y = pb.gudermannian(x)
np.testing.assert_allclose(y.detach().numpy(), np.arctan(np.sinh(values)), rtol=1e-15)
y.sum().backward()
np.testing.assert_allclose(x.grad.numpy(), 1 / np.cosh(values), rtol=1e-14)
assert y.grad_fn.name() == "GudermannianBackward0"
assert pb.autograd.gradgradcheck(pb.gudermannian, (x,))
assert pb.equal(x.gudermannian(), y) and pb.equal(x.detach().clone().gudermannian_(), y)
out = pb.empty(3, dtype=pb.float64)
assert pb.gudermannian(x.detach(), out=out) is out and pb.equal(out, y)
assert pb.equal(pb.func.vmap(pb.func.grad(pb.gudermannian))(x), x.grad)
assert pb.func.jvp(pb.gudermannian, (x,), (pb.ones_like(x),))[1].allclose(x.grad)
assert "gudermannian" in dir(pb) and "gudermannian" in pb.__all__ and {"gudermannian", "gudermannian_"} <= {*dir(x)}
try:
    pb.gudermannian(1.0)
except TypeError as error:
    assert "gudermannian(): argument 'input'" in str(error), error
else:
    raise AssertionError("a number is refused")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository with the three edits."""
    there = tmp_path_factory.mktemp("copy")
    for name in ("src", "tests", "scripts", "stubs"):
        shutil.copytree(ROOT / name, there / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", there)

    def edit(path, text):
        with (there / path).open("a", encoding="utf-8") as file:
            file.write(text)

    edit("src/pullback/ops/functions.py", RULE)
    edit("tests/samples/functions.py", SAMPLE)
    edit("src/pullback/vocabulary/functions.py", NAME)
    table = there / "src/pullback/_tensor/surface.py"
    row = "acos acosh addcdiv"
    text = table.read_text(encoding="utf-8")
    assert text.count(row) == 1
    table.write_text(text.replace(row, f"{row} gudermannian"), encoding="utf-8")
    return there


def run(copy, *arguments):
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_operation_is_there_in_all_its_forms(copy):
    run(copy, "-c", PROGRAM)


def test_the_rule_is_checked_on_the_sample(copy):
    found = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ops/test_rules.py", "-k", "gudermannian")
    assert int(found.splitlines()[-1].split(" passed")[0]) > 5


def test_the_stubs_have_it(copy):
    run(copy, "scripts/stubs")
    stub = (copy / "stubs" / "pullback-stubs" / "__init__.pyi").read_text(encoding="utf-8")
    assert "def gudermannian(input: Tensor, *, out:" in stub
    methods = (copy / "stubs" / "pullback-stubs" / "_tensor" / "tensor.pyi").read_text(encoding="utf-8")
    assert "def gudermannian(self) -> Tensor" in methods
    assert "def gudermannian_(self) -> Tensor" in methods
