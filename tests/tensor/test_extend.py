"""An operation that a package of its own defines, through all that pullback's operations go through."""

import subprocess
import sys

import numpy as np
import pytest

import pullback

MODULE = """
import numpy as np
from pullback.extend import elementwise

softsign = elementwise(
    "softsign", lambda xp, g, x: g / xp.square(1 + xp.abs(x)), forward=lambda x: x / (1 + np.abs(x))
)
"""


@pytest.fixture
def softsign(tmp_path, monkeypatch):
    (tmp_path / "own_operations").mkdir()
    (tmp_path / "own_operations" / "__init__.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import own_operations

    yield own_operations.softsign
    del sys.modules["own_operations"]


VALUES = np.array([-2.0, -0.5, 0.25, 3.0])
SLOPE = 1 / (1 + np.abs(VALUES)) ** 2
CURVATURE = -2 * np.sign(VALUES) / (1 + np.abs(VALUES)) ** 3


def test_value_and_derivatives(softsign):
    x = pullback.tensor(VALUES, requires_grad=True)
    y = softsign(x)
    np.testing.assert_allclose(y.detach().numpy(), VALUES / (1 + np.abs(VALUES)), rtol=1e-15)
    (slope,) = pullback.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy(), SLOPE, rtol=1e-14)
    (curvature,) = pullback.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(curvature.numpy(), CURVATURE, rtol=1e-14)
    assert pullback.autograd.gradcheck(softsign, (x,))
    assert pullback.autograd.gradgradcheck(softsign, (x,))


def test_transforms(softsign):
    x = pullback.tensor(VALUES)
    np.testing.assert_allclose(pullback.func.vmap(pullback.func.grad(softsign))(x).numpy(), SLOPE, rtol=1e-14)
    value, tangent = pullback.func.jvp(softsign, (x,), (pullback.ones_like(x),))
    np.testing.assert_allclose(value.numpy(), VALUES / (1 + np.abs(VALUES)), rtol=1e-15)
    np.testing.assert_allclose(tangent.numpy(), SLOPE, rtol=1e-14)


def test_compiled(softsign):
    pytest.importorskip("llvmlite", reason="llvmlite is not installed: it compiles")
    compiled = pullback.compile(lambda t: (softsign(t) * t).sum())
    for _ in range(3):
        x = pullback.tensor(VALUES, requires_grad=True)
        compiled(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), SLOPE * VALUES + VALUES / (1 + np.abs(VALUES)), rtol=1e-12)


def test_the_door_needs_no_other_import():
    program = f"{MODULE}\nprint(softsign(np.array(3.0)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "0.75\n"
