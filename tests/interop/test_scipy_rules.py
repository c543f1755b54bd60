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
MODULES = {
    "linalg": 34,
    "fft": 12,
    "signal": 24,
    "ndimage": 16,
    "interpolate": 13,
    "spatial": 16,
    "integrate": 18,
    "optimize": 19,
    "cluster": 4,
}
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
        check(lambda c, b: L.solve_circulant(c, b), given(3) + 2, given(3, 2, seed=4))
        for wrong, match in (
            (lambda: L.solve_circulant(a, b), "but for one column c"),
            (lambda: L.eigh(a, np.eye(len(a))), r"here with b= of shape \\(\\d, \\d\\): leave it out"),
        ):
            with pytest.raises(TypeError, match=match):
                wrong()
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
        for order in (2, 3, 5):  # splines near the ends of short axes, also of those that are not moved
            check(lambda x: N.shift(x, (0, 0.3), order=order, mode="reflect"), x)
            check(lambda x: N.zoom(x, 2, order=order, mode="reflect"), x)
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
            if make is not I.make_interp_spline:
                check(lambda y, at: make(g, y).integrate(at[0], 2.7) + make(g, y).integrate(2.9, at[1]), y, at)
        with pytest.raises(TypeError, match="PPoly.integrate has no derivative here with extrapolate='periodic'"):
            I.CubicSpline(g, np.sin(2 * np.pi * g / 3).round(9), bc_type="periodic").integrate(at[0], 2.7)
        for bounds in ("natural", "clamped", ((1, np.array([0.5, 1.0])), (2, np.array([0.0, 0.3])))):
            check(lambda y, at: I.CubicSpline(g, y, bc_type=bounds)(at), y, at)
        fixed = I.CubicSpline(g, y.detach().numpy())
        check(fixed, at)
        assert isinstance(I.CubicSpline(g, y), I.CubicSpline)
        points = pullback.tensor([[0.3, 0.2], [2.1, 0.9]], dtype=pullback.float64, requires_grad=True)
        for falling in (1, -1):
            check(lambda v, p: I.RegularGridInterpolator((g, [0.0, 0.7, 1.0][::falling]), v)(p), given(6, 3), points)
        """,
    "solutions have the derivatives of their equations": """
        import scipy.optimize as O
        a = pullback.tensor(0.7, dtype=pullback.float64, requires_grad=True)
        slope = O.brentq(lambda h, a: h**3 - a, 0, 3, args=(a,))
        for factor in (1 / 3, -2 / 3, -5 / 3, -8 / 3):  # of a ** (1 / 3), four times
            expected = float(slope.detach()) * factor / 0.7
            (slope,) = pullback.autograd.grad(slope, a, create_graph=True)
            np.testing.assert_allclose(float(slope.detach()), expected, rtol=1e-9)
        root, told = O.brentq(lambda h: h**3 - a, 0, 3, full_output=True)
        assert told.root is root and told.converged and type(O.brentq(lambda h: h - 1, 0, 3)) is float
        assert O.brentq(lambda h: h**3 - a, pullback.tensor(0.0, requires_grad=True), 3).requires_grad
        def held(h):
            with pullback.no_grad():
                constant = h * 1
            return h**3 - a * constant
        by_a = pullback.autograd.grad(O.brentq(held, 0.5, 3), a)[0].item()
        np.testing.assert_allclose(by_a, 0.7**0.5 / (3 * 0.7), rtol=1e-9)
        found = O.minimize(lambda h: ((h - a) ** 2).sum(), np.zeros(2), bounds=[(1, 2), (0, 2)])
        np.testing.assert_allclose(pullback.jacobian(found.x, a).numpy(), [0, 1], atol=1e-9)
        np.testing.assert_allclose(pullback.autograd.grad(found.fun, a)[0].numpy(), 2 * (0.7 - 1), rtol=1e-6)
        assert found.success and "hess_inv" not in found and found.jac[0] != 0
        t, sigma = np.arange(6.0), pullback.tensor(np.linspace(0.5, 1, 6), requires_grad=True)
        data = pullback.tensor(np.sin(t), requires_grad=True)
        matrix = sigma * sigma * np.eye(6)
        by_numbers = O.curve_fit(lambda t, p, q: p * t + q, t, data.detach().numpy(), sigma=sigma.detach().numpy())
        for deviations in (sigma, matrix):
            fitted = O.curve_fit(lambda t, p, q: p * t + q, t, data, sigma=deviations)
            for ours, theirs in zip(fitted, by_numbers):
                np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-6)
        weights = 1 / sigma.detach().numpy() ** 2
        X = np.stack([t, np.ones(6)], 1)
        np.testing.assert_allclose(
            pullback.jacobian(fitted[0], data).numpy(), np.linalg.solve((X.T * weights) @ X, X.T * weights), rtol=1e-6)
        """,
    "integrals and trajectories": """
        import scipy.integrate as I
        a = pullback.tensor(0.7, dtype=pullback.float64, requires_grad=True)
        b = pullback.tensor(1.6, dtype=pullback.float64, requires_grad=True)
        for low, high, right in ((0, np.inf, lambda: 1 / a), (b, np.inf, lambda: np.exp(-a * b) / a), (a, b, lambda: (np.exp(-a * a) - np.exp(-a * b)) / a)):
            found, error = I.quad(lambda h: np.exp(-a * h), low, high)
            for x in (a, b) if low is b or high is b else (a,):
                ours, theirs = (pullback.autograd.grad(f, x, create_graph=True, allow_unused=True)[0] for f in (found, right()))
                np.testing.assert_allclose(float(ours.detach()), float(theirs.detach()), rtol=1e-8)
                second = [pullback.autograd.grad(f, x, retain_graph=True)[0].numpy() for f in (ours, theirs)]
                np.testing.assert_allclose(*second, rtol=1e-7)
        assert type(I.quad(np.sin, 0, 1)[0]) is float
        with pytest.raises(TypeError, match="derivative here with weight=: multiply"):
            I.quad(lambda h: a * h, 0, 1, weight="cos", wvar=1)
        rate = lambda t, y, a: [-a * y[0], a * y[0]]
        for method in ("LSODA", "BDF"):
            found = I.solve_ivp(rate, (0, 1), [b, 0.0], method=method, args=(a,), rtol=1e-9, atol=1e-11)
            assert found.success and found.sol is None
            end = found.y[0, -1]
            slopes = pullback.autograd.grad(end, (a, b))
            np.testing.assert_allclose([s.numpy() for s in slopes], [-1.6 * np.exp(-0.7), np.exp(-0.7)], rtol=1e-6)
            with pytest.raises(TypeError, match="derivative here with events= and method='.*': leave it out, or take method='RK45'"):
                I.solve_ivp(rate, (0, 1), [b, 0.0], method=method, args=(a,), events=lambda t, y, a: y[0] - 0.5)
            with pytest.raises(TypeError, match="reads from outside is no parameter"):
                I.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], method=method)
        states, told = I.odeint(lambda y, t, a: -a * y, [1.0], [0, 1], args=(a,), rtol=1e-10, full_output=True)
        np.testing.assert_allclose(pullback.autograd.grad(states[-1, 0], a)[0], -np.exp(-0.7), rtol=1e-6)
        assert told["message"] == "Integration successful."
        with pytest.raises(TypeError, match="derivative here with Dfun="):
            I.odeint(lambda y, t, a: -a * y, [1.0], [0, 1], args=(a,), Dfun=lambda y, t, a: -a)
        """,
    "scattered points and densities": """
        import scipy.interpolate as I, scipy.spatial as P, scipy.stats as T, scipy.cluster.vq as V
        points, values, at = given(7, 2), given(7, 2, seed=1), given(3, 2, seed=2)
        for kernel in "linear thin_plate_spline cubic quintic".split():
            check(lambda p, v, at: I.RBFInterpolator(p, v, kernel=kernel, smoothing=0.1)(at), points, values, at)
        for kernel in "multiquadric inverse_multiquadric inverse_quadratic gaussian".split():
            check(lambda p, v, at: I.RBFInterpolator(p, v[:, 0], kernel=kernel, epsilon=0.8)(at), points, values, at)
        inside = pullback.tensor((points.detach().numpy()[:3] + points.detach().numpy().mean(0)) / 2, requires_grad=True)
        check(lambda p, v, at: I.LinearNDInterpolator(p, v)(at), points, values, inside)
        assert I.LinearNDInterpolator(points, values, fill_value=-1.0)(inside.detach() + 9).eq(-1).all()
        check(lambda p, at: T.gaussian_kde(p.T, 0.6, weights=np.arange(1.0, 8)).logpdf(at.T), points, at)
        check(lambda p, at: T.gaussian_kde(p[:, 0])(at[:, 0]), points, at)
        for p in (1, 2, 3):
            check(lambda a, b: P.KDTree(a).query(b, 2, p=p)[0], points, at)
        assert P.KDTree(points).query(at, 9)[0][:, 7:].isinf().all()
        check(lambda a, b: V.vq(a, b)[1], points, at)
        for call, why in (
            (lambda: I.RBFInterpolator(points, values, neighbors=3), "derivative here with neighbors="),
            (lambda: I.LinearNDInterpolator(points, values, rescale=True), "derivative here with rescale="),
        ):
            with pytest.raises(TypeError, match=why):
                call()
        """,
    "what stays refused says so": """
        import scipy.linalg as L, scipy.signal as G, scipy.ndimage as N, scipy.spatial.distance as D, scipy.interpolate as I, scipy.optimize as O
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
            (lambda: O.minimize(lambda h: ((h - x[0]) ** 2).sum(), np.zeros(3), constraints={"type": "eq", "fun": sum}), "func.implicit takes the conditions"),
            (lambda: O.differential_evolution(lambda h: ((h - x[0, :2]) ** 2).sum(), [(-2, 2)] * 2, integrality=[True, False], maxiter=1, popsize=2), "derivative here with integrality="),
            (lambda: O.least_squares(lambda h: h - x[0], np.zeros(3), loss="cauchy"), "derivative here with loss='cauchy'"),
            (lambda: D.cdist(x, x, "jaccard"), "derivative here with metric='jaccard'"),
            (lambda: L.sqrtm(-x @ x.T), "complex"),
        ]
        for call, why in refused:
            with pytest.raises(TypeError, match=why.replace("'", ".")):
                call()
        with pytest.raises(ValueError, match="would change number 0 by"):
            O.brentq(lambda h: h**3 - x[0, 0], -9, 30, maxiter=1, disp=False)
        with pytest.warns(RuntimeWarning, match="cannot handle"):
            unbounded = O.minimize(lambda h: ((h - x[0]) ** 2).sum(), np.zeros(3), method="BFGS", bounds=[(0, 1e-3)] * 3).x
        assert np.allclose(pullback.autograd.grad(unbounded.sum(), x)[0][0], 1)
        with pytest.raises(ValueError, match="what the solver returned is no solution"):
            O.minimize(lambda h: ((h - x[0]) ** 2).sum(), np.ones(3), options={"maxiter": 0})
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
            np.testing.assert_allclose(pullback.jacobian(theirs.fitted(b), b).numpy(), np.eye(4), atol=1e-6)
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


def test_derivatives_of_solutions_of_any_order():
    """To order 8, beside formulas: those of a power of a, and of Lambert's function; by backward passes, transforms and Taylor series."""
    program = """
        import math, numpy as np, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import optimize as O, special as S
        def by_passes(f, a):
            a = a.clone().requires_grad_()
            y = f(a)
            for _ in range(9):
                yield y.item()
                (y,) = pullback.autograd.grad(y, a, create_graph=True)
        def by_transforms(f, a):
            for _ in range(6):
                yield float(f(a))
                f = pullback.func.grad(f)
        def by_series(f, a):
            one = pullback.ones_like(a)
            y, rest = pullback.func.jet(f, (a,), ([one, *[0 * one] * 7],))
            return [y.item(), *[each.item() for each in rest]]
        a = pullback.tensor(2.0, dtype=pullback.float64)
        roots = [math.prod(1 / 3 - j for j in range(n)) * 2 ** (1 / 3 - n) for n in range(9)]
        w = S.lambertw(2.0).real  # w' = exp(-w) / (1 + w), of order n a polynomial in w times exp(-n w) / (1 + w) ** (2 n - 1)
        lambert, p = [w], np.poly1d([1.0])
        for n in range(1, 9):
            lambert.append(p(w) * math.exp(-n * w) / (1 + w) ** (2 * n - 1))
            p = p.deriv() * np.poly1d([1, 1]) - p * np.poly1d([n, 3 * n - 1])
        solvers = {
            "brentq": lambda a: O.brentq(lambda y: y**3 - a, 0, 3, xtol=1e-15),
            "root": lambda a: O.root(lambda y: y**3 - a, np.ones(2), tol=1e-14).x[1],
            "least_squares": lambda a: O.least_squares(lambda y: y**3 - a, np.ones(1), xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0],
            "within": lambda a: O.brentq(lambda y: y - O.brentq(lambda z: z**3 + y - y - a, 0, 3, xtol=1e-15), 0, 3, xtol=1e-15),
        }
        for f, right in (*[(f, roots) for f in solvers.values()], (lambda a: S.lambertw(a).real, lambert)):
            ways = (by_series,) if f is solvers["within"] else (by_passes, by_transforms, by_series)
            for found in [list(way(f, a)) for way in ways]:
                np.testing.assert_allclose(found, right[: len(found)], rtol=1e-12)
        golden = lambda a: O.golden(lambda y: y**4 / 4 - a * y, brack=(0.5, 1.2, 2))  # as exact as values tell minima apart
        np.testing.assert_allclose([y for y, _ in zip(by_passes(golden, a), range(4))], roots[:4], rtol=1e-6)
        x = pullback.tensor(1e-4, dtype=pullback.float64)
        np.testing.assert_allclose(list(by_passes(lambda x: S.spherical_jn(0, x), x))[6], -1 / 7, rtol=1e-8)
        places = pullback.tensor([2.0, 3.0], dtype=pullback.float64, requires_grad=True)
        total = sum(O.brentq(lambda y: y**3 - place, 0, 3) for place in places)  # a lambda reads what place is then
        np.testing.assert_allclose(pullback.autograd.functional.hessian(lambda places: sum(
            O.brentq(lambda y: y**3 - place, 0, 3) for place in places), places).numpy(),
            np.diag(-2 / 9 * np.array([2.0, 3.0]) ** (-5 / 3)), rtol=1e-8, atol=1e-12)
    """
    after("import pullback", textwrap.dedent(program))


def test_what_stands_beside_a_solution():
    program = """
        import copy, numpy as np, pickle, pytest, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import optimize as O, integrate as I
        a = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)
        found = O.minimize(lambda y: ((y - a) ** 2).sum() + y[0] ** 4, np.ones(2))
        assert abs(found.jac.detach()).max() < 1e-5 and copy.copy(found).x is found.x and "hess_inv" not in found
        for ask in (lambda: found["hess_inv"], lambda: found.hess_inv):
            with pytest.raises((KeyError, AttributeError), match="there is only what has some"):
                ask()
        fitted = O.least_squares(lambda y: y**2 - a, np.ones(2))
        np.testing.assert_allclose(pullback.autograd.grad(fitted.jac[0, 0], a)[0].item(), 1 / 2**0.5, rtol=1e-8)
        assert abs(O.root(lambda y: y**2 - a, np.ones(2)).fun.detach()).max() < 1e-8
        t = np.arange(6.0)
        data = pullback.tensor(np.sin(t), requires_grad=True)
        line = lambda t, p, q: p * t + q
        right = np.linalg.pinv(np.stack([t, np.ones(6)], 1))
        for fit in (lambda d: O.leastsq(lambda p: line(t, *p) - d, np.ones(2))[0], lambda d: O.curve_fit(line, list(t), d)[0],
                    lambda d: O.leastsq(lambda p: line(t, *p) - d, np.ones(2), full_output=True)[0]):
            np.testing.assert_allclose(pullback.autograd.functional.jacobian(fit, data).numpy(), right, atol=1e-7)
        gap = pullback.tensor(np.r_[np.sin(t), np.nan], requires_grad=True)
        slopes = pullback.autograd.functional.jacobian(
            lambda d: O.curve_fit(line, np.arange(7.0), d, sigma=np.eye(7), check_finite=False, nan_policy="omit")[0], gap)
        np.testing.assert_allclose(slopes.numpy()[:, :6], right, atol=1e-7)
        with pytest.raises(TypeError, match="inside vmap this is a batch of problems"):
            pullback.func.vmap(lambda a: O.newton(lambda y, a: y**3 - a, 1.0, args=(a,)))(pullback.ones(2))
        with pytest.raises(TypeError, match="inside vmap this is a batch of problems"):
            pullback.func.vmap(lambda a: O.brentq(lambda y: y**3 - a, 0, 3))(pullback.ones(2))
    """
    after("import pullback", textwrap.dedent(program))


def test_integrals_to_any_order():
    program = """
        import numpy as np, math, pytest, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import integrate as I
        from pullback.nn import functional as F
        def orders(f, x):
            x = pullback.tensor(x, dtype=pullback.float64, requires_grad=True)
            y = f(x)
            for _ in range(6):
                yield y.item()
                (y,) = pullback.autograd.grad(y, x, create_graph=True)
        powers = lambda base, power, x: [base * math.prod(power - j for j in range(n)) * x ** (power - n) for n in range(6)]
        root = math.pi**0.5
        for f, right in (
            (lambda a: I.quad(lambda t: np.exp(-a * t), 0, np.inf)[0], powers(1, -1, 2.0)),
            (lambda a: I.quad(lambda t: np.exp(-a * t * t), np.inf, -np.inf)[0], powers(-root, -0.5, 2.0)),
            (lambda a: I.quad(lambda t: np.exp(t / a), -np.inf, 0 * a)[0], [2.0, 1, 0, 0, 0, 0]),
            (lambda a: I.quad(lambda t: t**a / np.sqrt(t), 0, 1)[0], powers(1, -1, 2.5)),
            (lambda a: I.quad(lambda t: abs(t - 0.3) * np.exp(a) * t**0, 0, 1, points=[0.3])[0], [0.29 * math.exp(2)] * 6),
            (lambda a: I.quad(lambda t: t * np.exp(a) if t < 0.5 else np.exp(a), 0, 1)[0], [0.625 * math.exp(2)] * 6),
            (lambda a: I.dblquad(lambda x, y: np.exp(a) * x * y, 0, 1, 0, 1)[0], [0.25 * math.exp(2)] * 6),
        ):
            np.testing.assert_allclose(list(orders(f, 2.0)), right, rtol=1e-7, atol=1e-9)
        b = pullback.tensor(0.3, dtype=pullback.float64, requires_grad=True)
        jumps = [lambda t: t * b if t < b else 2 * t + b, lambda t: np.where(t < b, 1.0, 0.0) * t, lambda t: np.mod(t, b)]
        jumps += [lambda t: (t + b).frac(), lambda t: (t + b).remainder(0.5), lambda t: F.hardshrink(t - b, 0.1)]
        jumps += [lambda t: abs(t - b) / (t - b), lambda t: np.arctan2(0.0 * t, t - b), lambda t: np.arctan(1 / (t - b))]
        jumps += [lambda t: np.arctan(np.tan(4 * (t + b))), lambda t: np.angle(np.exp(6j * (t + b)))]
        jumps += [lambda t: (t - b) ** -1 * abs(t - b), lambda t: np.sqrt(1e-30 + (t - b) ** 2) * (t - b).reciprocal()]
        for f in (*jumps, lambda t: F.threshold(t - b, 0.1, -1.0)):
            with pytest.raises(TypeError, match="of a function that jumps where a tensor"):
                I.quad(f, 0, 1)
        for end, place in ((1, 0.004), (1, 0.99), (np.inf, 200.0)):
            c = pullback.tensor(place, dtype=pullback.float64, requires_grad=True)
            with pytest.raises(TypeError, match="of a function that jumps where a tensor"):
                I.quad(lambda t: np.where(t < c, 1.0, 0.5) / (1 + t * t), 0, end, limit=300)
            with pytest.raises(TypeError, match="jumps where a tensor.* quad_vec.f, low, a."):
                I.quad_vec(lambda t: np.where(t < c, 1.0, 0.5) / (1 + t * t) * np.ones(2), 0, end, limit=30)
        both = I.quad(lambda t: t * b, 0, b)[0] + I.quad(lambda t: 2 * t + b, b, 1)[0]
        np.testing.assert_allclose(pullback.autograd.grad(both, b)[0].item(), 1.5 * 0.09 - 4 * 0.3 + 1, rtol=1e-9)
        with pytest.raises(ValueError, match="the rule that has derivatives gives"):
            I.quad(lambda t: b * t**-0.95, 0, 1)
    """
    after("import pullback", textwrap.dedent(program))


JUMPS = """
    import math, numpy as np, pytest, pullback.interop.scipy
    pullback.interop.scipy.enable()
    from scipy import integrate as I
    a = pullback.tensor(0.3, dtype=pullback.float64, requires_grad=True)
    table = np.array([1.0, 2.0, 4.0, 8.0])
    slope = lambda y: pullback.autograd.grad(y, a)[0].item()
    def orders(f, count=4):
        y, found = f(a), []
        for order in range(count):
            found.append(y.item())
            (y,) = pullback.autograd.grad(y, a, create_graph=True)
        return found
"""


def test_jumps_that_hide_in_numbers_and_in_boxes():
    program = """
        sharp = dict(rtol=1e-4, atol=1e-4)
        others = [lambda f: I.quad(f, 0, 1, complex_func=True), lambda f: I.quad_vec(f, 0, 1, limit=30), lambda f: I.dblquad(lambda t, s: f(t), 0, 1, 0, 1)]
        for k, f in enumerate((
            lambda t: table[int((t + a) * 1.4)] * t, lambda t: math.floor((t + a) * 1.4) * t, lambda t: round((t + a) * 1.4) * a,
            lambda t: t if t < a else 2 * t, lambda t: t * a if float(t) < float(a) else t, lambda t: t if (t - a).item() < 0 else 2 * a,
            lambda t: (t + a) // 0.4, lambda t: table[np.searchsorted([0.5, 0.9], t + a)] * t, lambda t: [1, 5][int(t + 2 * a)] * a,
            lambda t: ((t + a) * 1.4).astype(int) * t, lambda t: table[np.argsort(np.stack([t, a]))[0]] * a,
            lambda t: math.exp(t) * (t < a), lambda t: [1, 2][int(t + 2 * a)] * 3.0,
        )):
            for integral in (lambda f: I.quad(f, 0, 1), others[k % 3]):
                with pytest.raises(TypeError, match="of a function that jumps where a tensor"):
                    integral(f)
        for f, low, high in (
            (lambda x: np.where(x[:, 0] < a, x[:, 0], 2 * x[:, 0] + a), [0], [1]), (lambda x: table[((x[:, 0] + a) * 1.4).astype(int)], [0], [1]),
            (lambda x: np.where(x[:, 0] + x[:, 1] < 2 * a, x[:, 0], a), [0, 0], [1, 1]), (lambda x: (x.sum(1) > a) / (1 + (x**2).sum(1)), [-1, 0], [1, np.inf]),
            (lambda x: np.where(x[:, 0] < a, 1.0, 0.5) / (1 + x[:, 0] ** 2), [-np.inf], [np.inf]),
        ):
            with pytest.raises(TypeError, match="of a function that jumps where a tensor.* cubature.f, low, a."):
                I.cubature(f, low, high, max_subdivisions=50, **sharp)
        for integral, right in (
            (lambda: I.quad(lambda t: [1, 2, 3, 4][int(t * 4)] * a * t, 0, 1)[0], 50 / 32),
            (lambda: I.quad(lambda t: (t * t - a * a) / (t - a), 0, 1)[0], 1.0),
            (lambda: I.quad(lambda t: np.clip(t, a, 2.0) * t, 0, 1, epsabs=1e-12, epsrel=1e-12)[0], 0.045),
            (lambda: I.cubature(lambda x: np.where(x[:, 0] < 0.5, a, a * a), [0], [1]).estimate, 0.8),
            (lambda: I.cubature(lambda x: x[:, 0] ** 2, [0.0], a.reshape(1)).estimate, 0.09),
            (lambda: I.cubature(lambda x: np.exp(-a * x[:, 0] ** 2), [-np.inf], [np.inf]).estimate, -0.5 * math.pi**0.5 * 0.3**-1.5),
        ):
            np.testing.assert_allclose(slope(integral()), right, rtol=1e-7)
        assert I.quad(lambda t: t * int(a.detach() + t), 0, 0.5) == (0, 0)
        for slope in (pullback.func.grad, pullback.func.jacfwd):  # as backward does
            found = slope(lambda b: I.cubature(lambda x: np.exp(-b * x[:, 0]), [0.0], [1.0]).estimate)(a.detach())
            np.testing.assert_allclose(found.item(), (1.3 * math.exp(-0.3) - 1) / 0.09, rtol=1e-7)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_explicit_methods_to_high_orders():
    program = """
        import math, numpy as np, pullback, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import integrate as I
        for method, bound in (("RK45", 1e-7), ("DOP853", 1e-6)):
            a = pullback.tensor(0.7, dtype=pullback.float64, requires_grad=True)
            y = I.solve_ivp(lambda t, y, a: -a * y, (0, 1), [1.0], method, args=(a,), rtol=1e-10, atol=1e-12).y[0, -1]
            for order in range(1, 6):
                (y,) = pullback.autograd.grad(y, a, create_graph=True)
                assert abs(y.item() - (-1) ** order * math.exp(-0.7)) < bound, (method, order)
    """
    after("import pullback", textwrap.dedent(program))


def test_rates_that_jump_are_refused():
    program = """
        sharp = dict(rtol=1e-8, atol=1e-10)
        ways = [(lambda f, m=m, **more: I.solve_ivp(f, (0, 1), [1.0], m, args=(a,), **sharp, **more).y[0, -1]) for m in ("RK45", "Radau", "LSODA")]
        ways += [lambda f: I.odeint(lambda y, t, a: f(t, y, a), [1.0], [0, 1.0], args=(a,), **sharp)[-1, 0]]
        inside = lambda t, y, a: -y if y[0] > 2 * a else -3 * y * a
        numbered = lambda t, y, a: -y * table[int((t + a) * 1.4)]
        for k, way in enumerate(ways):
            for rate in (lambda t, y, a: -y if t < a else -3 * y * a, inside, *[numbered][k % 3 :]):
                with pytest.raises(TypeError, match="no derivative here of a rate that jumps at a state"):
                    way(rate)
            for kink in (lambda t, y, a: -np.maximum(y - a, 0), lambda t, y, a: np.where(y > a, a - y, 0 * y)):
                np.testing.assert_allclose(slope(way(kink)), 1 - math.exp(-1), rtol=1e-6)
        standing = lambda t, y, a: -y * a if t < 0.5 else -3 * y * a
        for way in ways:
            np.testing.assert_allclose(slope(way(standing)), -2 * math.exp(-0.6), rtol=1e-6)
        with pytest.raises(TypeError, match="a rate that jumps at a state"):
            I.solve_ivp(lambda t, y: -y if t < a else -3 * y, (0, 1), [1.0])
        reached = lambda t, y, a: y[0] - 2 * a
        reached.terminal = True
        with pytest.raises(TypeError, match="each with a rate of its own: with method='RK45' and events="):
            ways[0](inside, events=reached)
        first = I.solve_ivp(lambda t, y, a: -y, (0, 1), [1.0], args=(a,), events=reached, **sharp)
        start, rest = first.y_events[0][0], 1 - first.t_events[0][0]
        last = I.solve_ivp(lambda t, y, a, rest: -3 * y * a * rest, (0, 1), start, args=(a, rest), **sharp).y[0, -1]
        way, h = (lambda a: 2 * a * math.exp(-3 * a * (1 + math.log(2 * a)))), 1e-6
        np.testing.assert_allclose(slope(last), (way(0.3 + h) - way(0.3 - h)) / (2 * h), rtol=1e-6)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_kinks_that_move_have_derivatives_of_any_order():
    program = """
        from pullback.nn import functional as F
        cubic = [0.3**3 / 3 + 1 / 3 - 0.3 / 2, 0.3**2 - 0.5, 0.6, 2.0]  # the integral of abs(t - a) * t from 0 to 1
        for f in (
            lambda t, a: abs(t - a), lambda t, a: a - t if t < a else t - a, lambda t, a: np.where(t < a, a - t, t - a),
            lambda t, a: F.relu(t - a) + F.relu(a - t), lambda t, a: np.maximum(t, a) - np.minimum(t, a),
            lambda t, a: np.clip(t, a, 3.0) * 2 - t - a, lambda t, a: np.sqrt((t - a) ** 2), lambda t, a: F.leaky_relu(t - a, -1.0),
            lambda t, a: np.hypot(0.0, t - a), lambda t, a: abs((t - a) * 1j), lambda t, a: np.copysign(t - a, 1.0),
            lambda t, a: ((t - a) ** 2) ** 0.5, lambda t, a: (2 * (t - a) * (t - a)) ** 0.5 / 2**0.5, lambda t, a: ((t - a) ** 4) ** 0.25,
            lambda t, a: (t - a) ** 2 * pullback.rsqrt((t - a) ** 2), lambda t, a: np.arccos(np.cos(t - a)),
            lambda t, a: np.copysign(1.0, t - a) * (t - a), lambda t, a: F.prelu((t - a).reshape(1), pullback.tensor([-1.0], dtype=pullback.float64))[0],
        ):
            np.testing.assert_allclose(orders(lambda a: I.quad(lambda t: f(t, a) * t, 0, 1)[0]), cubic, atol=1e-8)
        for integral in (
            lambda a: -I.quad(lambda t: abs(t - a) * t, 1, 0)[0], lambda a: I.quad(lambda t: abs(t - a) * t, 0, 1, points=[0.3])[0],
            lambda a: I.quad_vec(lambda t: np.stack([t, abs(t - a) * t]), 0, 1)[0][1],
            lambda a: (I.quad(lambda t: abs(t - a) * t, 0, 2 * a)[0] + I.quad(lambda t: (t - a) * t, 2 * a, 1)[0]),
        ):
            np.testing.assert_allclose(orders(integral), cubic, atol=1e-8)
        both = orders(lambda a: I.quad(lambda t: np.exp(-t * t) * abs(t - a), -np.inf, np.inf)[0], 3)
        np.testing.assert_allclose(both[1:], [math.pi**0.5 * math.erf(0.3), 2 * math.exp(-0.09)], rtol=1e-9)
        found = pullback.func.hessian(lambda a: I.quad(lambda t: abs(t - a) * t, 0, 1)[0])(a.detach())
        np.testing.assert_allclose(found.item(), 0.6, rtol=1e-9)
        for kinked in (lambda: I.tanhsinh(lambda t: abs(t - a), 0.0, 1.0), lambda: I.fixed_quad(lambda t: abs(t - a), 0, 1),
                       lambda: I.cubature(lambda x: abs(x[:, 0] - a), [0], [1])):
            with pytest.raises(TypeError, match="whose slope jumps where a tensor .* scipy.integrate.quad finds such places"):
                kinked()
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_fixed_jumps_under_limits_that_move():
    program = """
        step = lambda t: t if t < 0.2 else 3 * t
        np.testing.assert_allclose(orders(lambda a: I.quad(lambda t: step(t) * a**0, 0, a)[0], 3), [0.095, 0.9, 3.0], rtol=1e-9)
        np.testing.assert_allclose(orders(lambda a: I.quad_vec(lambda t: step(t) * a**0, 0, a)[0], 3), [0.095, 0.9, 3.0], rtol=1e-9)
        numbers = lambda t: table[int(t * 4)] * t
        np.testing.assert_allclose(slope(I.quad(numbers, a, 1)[0]), -0.6, rtol=1e-9)
        after = orders(lambda a: I.quad(lambda t: np.exp(-t) * (1.0 if t < 0.5 else 3.0), a, np.inf)[0], 3)
        np.testing.assert_allclose(after[1:], [-math.exp(-0.3), math.exp(-0.3)], rtol=1e-9)
        with pytest.raises(TypeError, match="of a function that jumps where a tensor"):
            I.quad(lambda t: step(t - a), 0, a + 1)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_rules_with_fixed_nodes_refuse_jumps_that_move():
    program = """
        for f in (lambda t: np.where(t < a, 1.0, 2.0), lambda t: np.floor((t + a) * 1.4) * t):
            for integral in (I.tanhsinh, I.fixed_quad):
                with pytest.raises(TypeError, match="of a function that jumps where a tensor"):
                    integral(f, 0.0, 1.0)
        for integral in (
            lambda: I.tanhsinh(lambda t: np.exp(t * a), 0.0, 1.0).integral, lambda: I.fixed_quad(lambda t: np.exp(t * a), 0, 1, n=9)[0],
            lambda: I.tanhsinh(lambda t, b: np.exp(t * b), np.zeros(2), 1.0, args=(a,)).integral[1],
        ):
            np.testing.assert_allclose(slope(integral()), math.exp(0.3) / 0.3 - (math.exp(0.3) - 1) / 0.09, rtol=1e-9)
        np.testing.assert_allclose(slope(I.tanhsinh(lambda t: np.exp(t), 0.0, a).integral), math.exp(0.3), rtol=1e-9)
        to_infinity = slope(I.tanhsinh(lambda t, b: np.exp(-t * b), 0.0, np.inf, args=(a,)).integral)
        np.testing.assert_allclose(to_infinity, -1 / 0.09, rtol=1e-9)
        everywhere = slope(I.tanhsinh(lambda t, b: np.exp(-b * t * t), -np.inf, np.inf, args=(a,)).integral)
        np.testing.assert_allclose(everywhere, -math.sqrt(math.pi) / 2 * 0.3**-1.5, rtol=1e-8)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_rates_with_kinks_that_move():
    program = """
        sharp = dict(rtol=1e-8, atol=1e-10)
        for method in ("RK45", "RK23", "DOP853", "Radau", "LSODA"):
            solve = lambda rate, **more: I.solve_ivp(rate, (0, 1), [1.0], method, args=(a,), **sharp, **more).y[0, -1]
            y = solve(lambda t, y, a: abs(t - a) + 0 * y)
            (first,) = pullback.autograd.grad(y, a, create_graph=True)
            np.testing.assert_allclose(first.item(), 2 * 0.3 - 1, atol=1e-7)
            with pytest.raises(TypeError, match="has no derivative of order 2 here .* Lower orders are right"):
                pullback.autograd.grad(first, a)
        with pytest.raises(TypeError, match="events= and method='DOP853', of a rate whose slope jumps: leave it out"):
            I.solve_ivp(lambda t, y, a: abs(t - a) * y, (0, 1), [1.0], "DOP853", args=(a,), events=lambda t, y, a: y[0] - 3)
        standing = I.solve_ivp(lambda t, y, a: a * abs(t - 0.5) * y, (0, 1), [1.0], "RK45", args=(a,), max_step=0.01, **sharp).y[0, -1]
        (first,) = pullback.autograd.grad(standing, a, create_graph=True)
        np.testing.assert_allclose([first.item(), slope(first)], [math.exp(0.075) / 4, math.exp(0.075) / 16], rtol=1e-7)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_a_fault_of_ours_is_no_function_without_steps():
    program = """
        import pullback.func.replaying as R
        assert I.quad(lambda t: math.log(t) * a if t > 0 else 0.0, 0, 1)[0].requires_grad
        R.STEPS["abs"] = lambda y, x, missing: y
        with pytest.raises(TypeError, match="missing"):
            I.quad(lambda t: abs(t - a), 0, 1)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_roots_of_splines():
    program = """
        import scipy.interpolate as P
        x, given = np.linspace(0, 5, 11), pullback.tensor(np.cos(np.linspace(0, 5, 11)), requires_grad=True)
        for kind in (P.CubicSpline, P.PchipInterpolator, P.Akima1DInterpolator):
            for find in (lambda y: kind(x, y).roots(extrapolate=False), lambda y: kind(x, y).solve(y[0] / 3, extrapolate=False)):
                np.testing.assert_allclose(find(given).detach().numpy(), find(given.detach().numpy()), rtol=1e-12)
                assert pullback.autograd.gradcheck(find, given) and pullback.autograd.gradgradcheck(find, given, fast_mode=True)
        assert P.CubicSpline(x, given).solve(-50.0, extrapolate=False).shape == (0,)
        jumping = P.PPoly(pullback.tensor([[-1.0, 1.0], [3.0, -1.0]], requires_grad=True) * a, [0.0, 2.0, 4.0])
        assert jumping.roots().tolist() == [2.0, 3.0] and slope(jumping.roots().sum()) == 0
        with pytest.raises(TypeError, match="no derivative here of several polynomials"):
            P.CubicSpline(x, np.stack([given, given], 1)).roots()
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_what_stays_fixed_names_a_way_out():
    program = """
        import scipy.interpolate as P, scipy.optimize as O
        misfit, x = lambda v: ((v - 1) ** 2).sum(), np.linspace(0, 1, 5)
        for bounds in ([(0, a)], O.Bounds(np.zeros(1), a)):
            with pytest.raises(TypeError, match="a bound moves nothing unless a number is at it"):
                O.minimize(misfit, np.zeros(1), bounds=bounds)
        inside = O.minimize(lambda z: misfit(a + (3 - a) / (1 + np.exp(-z))), np.zeros(1), tol=1e-12).x
        np.testing.assert_allclose(slope(inside.sum()), -1 / 0.7, rtol=1e-5)
        for solve in (lambda t: I.solve_ivp(lambda t, y: -y, (0, 1), [1.0], t_eval=t), lambda t: I.odeint(lambda y, t: -y, [1.0], t)):
            with pytest.raises(TypeError, match="let the rate be T . f.s . T, y."):
                solve(np.stack([0 * a, a]))
        sharp = dict(rtol=1e-10, atol=1e-12)
        ends = I.solve_ivp(lambda t, y: -t * y, (0, a), [1.0], **sharp), I.solve_ivp(lambda s, y, T: T * -(s * T) * y, (0, 1), [1.0], "LSODA", args=(a,), **sharp)
        for end in ends:
            np.testing.assert_allclose(slope(end.y[0, -1]), -0.3 * math.exp(-0.045), rtol=1e-7)
        for knots in (lambda k: P.CubicSpline(k, x), lambda k: P.make_interp_spline(k, x), lambda k: P.BSpline(k, np.ones(1), 3), lambda k: P.PPoly(np.ones((2, 4)), k)):
            with pytest.raises(TypeError, match="no derivative by their knots, and np.interp has"):
                knots(x + a)
        np.testing.assert_allclose(slope(np.interp(0.9, x + a, x)), -1.0)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))


def test_what_makes_a_solution_no_function_is_refused():
    program = """
        import math, numpy as np, pytest, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import optimize as O
        a = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)
        with pytest.raises(RuntimeError, match="optimize.brentq: .* takes, by conversion to a number"):
            O.brentq(lambda y: y + math.exp(y) - a, -3, 3)
        with pytest.raises(pullback.linalg.LinAlgError, match="minimize: the solution is not the only one around: .* multiple of .1. 1.. and stays"):
            O.minimize(lambda y: (y[0] - y[1] - a) ** 2, np.ones(2))
    """
    after("import pullback", textwrap.dedent(program))


def test_linear_maps_give_the_precision_of_their_operand():
    program = """
        import scipy.ndimage as N, scipy.signal as S
        maps = lambda x: S.resample(x, 4), lambda x: N.gaussian_filter1d(x, 1.0), lambda x: N.uniform_filter1d(x, 3)
        for dtype in (np.float32, np.float64):
            values = np.random.default_rng(0).normal(size=6).astype(dtype)
            x = pullback.tensor(values, requires_grad=True)
            for function in maps:
                y = function(x)
                assert y.dtype == x.dtype
                np.testing.assert_allclose(y.numpy(force=True), function(values.astype(np.float64)), rtol=1e-6 if dtype is np.float32 else 1e-12)
                y.sum().backward()
            assert x.grad.dtype == x.dtype
    """
    after(textwrap.dedent(BEGIN), textwrap.dedent(program))


def test_events_and_dense_output_of_each_explicit_method():
    program = """
        rate = lambda t, y, a: -a * y
        for method in ("RK45", "RK23", "DOP853"):
            more = dict(method=method, args=(a,), rtol=1e-9, atol=1e-11, dense_output=True)
            found = I.solve_ivp(rate, (0, 4.0), [1.0], events=lambda t, y, a: y[0] - 0.5, **more)
            (moved,) = pullback.autograd.grad(found.t_events[0][0], a, retain_graph=True)
            np.testing.assert_allclose(moved, -math.log(2) / 0.09, rtol=1e-6)
            at = np.array([0.3, 1.9])
            np.testing.assert_allclose(slope(found.sol(at)[0].sum() + found.sol(0.7)[0]),
                -(at * np.exp(-0.3 * at)).sum() - 0.7 * math.exp(-0.21), rtol=1e-5)
    """
    after(textwrap.dedent(JUMPS), textwrap.dedent(program))
