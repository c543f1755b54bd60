"""What SciPy computes in compiled code, on tensors: beside SciPy's own values, differences, forward mode and a second derivative.

SciPy reads once whether it should dispatch: tests run in copies of a process in which it does.
"""

import textwrap

import pytest
from tests.prepared import after

from .test_scipy import run

BEGIN = """
    import numpy as np, pytest, pullback, pullback.interop.scipy
    pullback.interop.scipy.enable()
    import scipy.fft, scipy.integrate, scipy.interpolate, scipy.linalg, scipy.ndimage, scipy.signal, scipy.spatial
    def given(*shape, seed=0):
        return pullback.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)
    def check(function, *values):
        '''The value is what SciPy gives for arrays, and the gradient that of differences; 0-d and float32 where SciPy takes it.'''
        found, expected = function(*values), function(*[v.detach().numpy() for v in values])
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-9, atol=1e-10)
        assert pullback.autograd.gradcheck(function, values)
        assert pullback.autograd.gradgradcheck(function, values, fast_mode=True)
"""
MODULES = {"linalg": 34, "fft": 12, "signal": 24, "ndimage": 16, "interpolate": 7, "spatial": 14, "integrate": 7}
"""Of each module, at least how many calls of the table are right."""


@pytest.mark.parametrize("module", MODULES)
def test_forward_mode_and_second_derivatives(module):
    said = after(
        textwrap.dedent(BEGIN), f"from tests.interop import orders\nassert orders.main(['scipy.{module}']) == 0\n"
    )
    assert int(said.split()[-2]) >= MODULES[module]


PROGRAMS = {
    "triangles are read as LAPACK reads them": """
        import scipy.linalg as L
        a = pullback.tensor(given(3, 3).detach().numpy() + 4 * np.eye(3), requires_grad=True)
        b = given(3, 2, seed=1)
        for lower in (False, True):
            check(lambda a: L.cholesky(a, lower=lower), a)
            check(lambda a: L.eigvalsh(a, lower=lower), a)
            check(lambda a, b: L.solve(a, b, assume_a="pos", lower=lower), a, b)
            check(lambda a, b: L.cho_solve(L.cho_factor(a, lower=lower), b), a, b)
            for trans in (0, 1, 2):
                check(lambda a, b: L.solve_triangular(a, b, trans=trans, lower=lower), a, b)
        for trans in (0, 1):
            check(lambda a, b: L.lu_solve(L.lu_factor(a), b, trans), a, b)
        check(lambda a, b: L.solve(a, b, transposed=True), a, b)
        check(lambda a: L.logm(a), a)
        """,
    "full factors of a matrix that is not square": """
        import scipy.linalg as L
        for shape in ((2, 4), (4, 2)):
            check(lambda a: L.svd(a)[0][:, 2:] @ L.svd(a)[0][:, 2:].T, given(*shape))
            check(lambda a: L.svd(a)[2][2:].T @ L.svd(a)[2][2:], given(*shape))
            check(lambda a: L.polar(a, side="left")[1], given(*shape))
        check(lambda a: L.null_space(a)[:, 0] ** 2, given(2, 3))
        """,
    "transforms along any axis and of any type": """
        import scipy.fft as F, scipy.signal as G
        x = given(3, 4)
        check(lambda x: abs(G.czt(x[0])) ** 2, x)  # calls fft on what it has computed
        for kind in (1, 2, 3, 4):
            check(lambda x: F.dct(x, kind, axis=0, norm="ortho"), x)
            check(lambda x: F.idst(x, kind, n=5), x)
        check(lambda x: F.dctn(x, axes=[0]), x)
        check(lambda x: F.idctn(x, s=(2, 6)), x)
        check(lambda x: F.dstn(x, s=3), x)
        """,
    "filters with other borders than by default": """
        import scipy.ndimage as N, scipy.signal as G
        x, w = given(3, 4), given(3, 2, seed=1)
        for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
            check(lambda x, w: N.convolve(x, w, mode=mode, cval=0.3, origin=(1, -1)), x, w)
            check(lambda x, w: N.correlate(x, w, mode=mode, cval=0.3, origin=(1, 0)), x, w)
            check(lambda x: N.gaussian_filter(x, (0.5, 1.0), order=(0, 1), mode=mode, cval=0.3), x)
            check(lambda x: N.sobel(x, 0, mode=mode, cval=0.3), x)
        check(lambda x: N.zoom(x, (2, 1.5), order=1), x)
        check(lambda x: N.shift(x, (0.5, -0.3), order=3, mode="nearest"), x)
        check(lambda x: N.map_coordinates(x, [[0.5, 1.2], [2.1, 3.3]], order=1), x)
        check(lambda x: G.savgol_filter(x, 3, 1, axis=0), x)
        check(lambda b, a, x: G.lfilter(b, a, x, axis=0), given(2), given(3, seed=5) + 2, x)
        """,
    "splines, by their values and by the point": """
        import scipy.interpolate as I
        g, at = np.array([0.0, 0.4, 1.1, 1.7, 2.5, 3.0]), pullback.tensor([0.3, 1.5, 2.9], dtype=pullback.float64, requires_grad=True)
        y = given(6, 2)
        for make in (I.CubicSpline, I.PchipInterpolator, I.make_interp_spline):
            check(lambda y, at: make(g, y)(at), y, at)
            check(lambda y, at: make(g, y)(at, 1), y, at)
            check(lambda y, at: make(g, y.T, axis=1)(at), y, at)
        for bounds in ("natural", "clamped", ((1, np.array([0.5, 1.0])), (2, np.array([0.0, 0.3])))):
            check(lambda y, at: I.CubicSpline(g, y, bc_type=bounds)(at), y, at)
        fixed = I.CubicSpline(g, y.detach().numpy())
        check(fixed, at)
        assert isinstance(I.CubicSpline(g, y), I.CubicSpline)
        points = pullback.tensor([[0.3, 0.2], [2.1, 0.9]], dtype=pullback.float64, requires_grad=True)
        for falling in (1, -1):
            check(lambda v, p: I.RegularGridInterpolator((g, [0.0, 0.7, 1.0][::falling]), v)(p), given(6, 3), points)
        """,
    "what stays refused says so": """
        import scipy.linalg as L, scipy.signal as G, scipy.ndimage as N, scipy.spatial.distance as D, scipy.interpolate as I
        x, axes = given(3, 3), (np.arange(3.0),) * 2
        refused = [
            (lambda: L.eigh(x, x), "with b="), (lambda: L.qr(x, pivoting=True), "with pivoting=True"),
            (lambda: L.solve(x, x, assume_a="banded"), "derivative here with assume_a='banded'"),
            (lambda: L.qr(x, mode="raw"), "derivative here with mode='raw': 'full' and 'economic' have"),
            (lambda: G.upfirdn(x[0], x), "derivative here but for one axis"),
            (lambda: G.detrend(np.ones(3), bp=pullback.ones(1)), "derivative here but by data"),
            (lambda: I.RegularGridInterpolator(axes, x, "cubic"), "derivative here with method='cubic'"),
            (lambda: I.RegularGridInterpolator(axes, x)([1, 1], method="nearest"), "derivative here with method='nearest'"),
            (lambda: I.PPoly(x, [0, 1, 1, 2])(0.5), "unless its breakpoints increase"),
            (lambda: G.resample_poly(x, 2, 3, padtype="median"), "it is not linear"),
            (lambda: N.gaussian_filter1d(np.ones(3), x[0, 0]), "has no derivative here"),
            (lambda: D.cdist(x, x, "jaccard"), "derivative here with metric='jaccard'"),
            (lambda: L.sqrtm(-x @ x.T), "complex"),
        ]
        for call, why in refused:
            with pytest.raises(TypeError, match=why.replace("'", ".")):
                call()
        with pytest.raises(ValueError, match="5 are not the distances among"):
            D.squareform(given(5))
        with pytest.raises(ValueError, match="requested xi is out of bounds"):
            I.RegularGridInterpolator(axes, x)([1, 3])
        with pytest.raises(ValueError, match="5000 columns"):
            G.savgol_filter(pullback.zeros(5000, requires_grad=True), 5, 2)
        """,
    "arrays are computed as before, and functions can be copied": """
        import copy, pickle, scipy.linalg as L, scipy.interpolate as I
        assert type(L.solve(np.eye(2), np.ones(2))) is np.ndarray
        assert pickle.loads(pickle.dumps(L.solve)) is L.solve
        spline = I.CubicSpline([0.0, 1, 2, 3], [0.0, 1, 4, 9])
        assert abs(pickle.loads(pickle.dumps(spline))(1.5) - 2.25) < 1e-12
        """,
    "in a program that is named, without enable": """
        import types, sys
        theirs = types.ModuleType("theirs")
        exec("from scipy import linalg\\nimport scipy.fft\\nfrom scipy.optimize import least_squares\\nfrom scipy.signal import savgol_filter as smooth\\n"
             "def f(a, b): return linalg.solve(a, b), scipy.fft.dct(b), smooth(b, 3, 1)\\n"
             "def fitted(a): return least_squares(lambda x: x - a, a.detach().numpy()).x", vars(theirs))
        sys.modules["theirs"] = theirs
        a, b = given(4, 4), given(4, seed=1)
        with pullback.numpy_programs("theirs"):
            parts = theirs.f(a, b)
            assert all(part.requires_grad for part in parts)
            with pytest.raises(TypeError, match="func.implicit makes one of any solver"):
                theirs.fitted(b)
        for part, right in zip(parts, theirs.f(a.detach().numpy(), b.detach().numpy())):
            np.testing.assert_allclose(part.detach().numpy(), right, rtol=1e-9)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls(name):
    begin, text = textwrap.dedent(BEGIN), textwrap.dedent(PROGRAMS[name])
    if "without enable" in name:
        run(begin.replace("pullback.interop.scipy.enable()\n", "") + text)
    else:
        after(begin, text)
