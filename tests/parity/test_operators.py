"""torch's database of operators: what has passed before passes now. `python tests/parity/operators.py` asks for all."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")
pytest.importorskip("expecttest", reason="torch's database of operators needs the package expecttest")

from . import operators  # noqa: E402


@pytest.mark.parametrize(("name", "with_gradient"), operators.baseline().items())
def test_operator(name, with_gradient):
    outcome = operators.ask(name)
    assert outcome.forward, outcome.reason
    assert outcome.gradient or not with_gradient, outcome.reason


@pytest.mark.parametrize("name", [name for name, known in operators.recorded().items() if "bfloat16" in known])
def test_operator_in_bfloat(name):
    outcome = operators.ask(name, count=2, dtype="bfloat16")
    assert outcome.forward, outcome.reason
