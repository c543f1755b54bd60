"""Programs by others that know nothing of pullback: functions of public packages, and where their gradients are taken.

A row says what is called, which packages `numpy_programs` names, and the inputs. The calls are plain uses of the packages.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RGB = np.array([[[0.2, 0.5, 0.7], [0.9, 0.3, 0.15]]])
LAB = np.array([[[52.0, 20.0, -30.0], [70.0, -15.0, 25.0]]])
SERIES = np.array([0.3, 1.2, -0.4, 0.8, 2.1, 0.1, -1.3, 0.6, 1.9, -0.2, 0.4, 1.1])


class Program(NamedTuple):
    """One function of a package: the module that is imported as `m`, the call, and the names that the block is given."""

    module: str
    call: str
    inputs: dict[str, Any]
    more: tuple[str, ...] = ()
    refused: str = ""
    """The function by whose name the program is refused: a pattern."""

    @property
    def package(self) -> str:
        """The name of the package."""
        return self.module.partition(".")[0]

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages whose NumPy makes tensors."""
        return (self.package, *self.more)


PROGRAMS = [
    Program("tmm", "m.coh_tmm('s', [1, n, 1.5], [np.inf, d, np.inf], 0.1, 500)['R']", {"n": 2.2, "d": 120.0}),
    Program("tmm", "m.coh_tmm('p', [1, n, 3.3 + 0.2j, 1], [np.inf, d, 30.0, np.inf], 0.3, 600)['T']", {"n": 2.0, "d": 90.0}),
    Program("tmm", "m.unpolarized_RT([1, n, 1.5], [np.inf, d, np.inf], 0.4, 500)['T']", {"n": 2.2, "d": 120.0}),
    Program("tmm", "m.ellips([1, n, 3.4], [np.inf, d, np.inf], 1.0, 500)['psi']", {"n": 1.8, "d": 80.0}),
    Program("skimage.color", "m.rgb2lab(x)", {"x": RGB}),
    Program("skimage.color", "m.lab2rgb(x)", {"x": np.array([[[52.0, 20.0, -10.0], [70.0, -5.0, 15.0]]])}),
    Program("skimage.color", "m.rgb2hsv(x)", {"x": RGB}),
    Program("skimage.color", "m.hsv2rgb(x)", {"x": RGB}),
    Program("skimage.color", "m.rgb2luv(x)", {"x": RGB}),
    Program("skimage.color", "m.rgb2hed(x)", {"x": RGB}),
    Program("skimage.color", "m.deltaE_ciede2000(x, y)", {"x": LAB, "y": LAB[:, ::-1].copy()}),
    Program("skimage.color", "m.deltaE_cmc(x, y)", {"x": LAB, "y": LAB[:, ::-1].copy()}),
    Program("skimage.exposure", "m.adjust_sigmoid(x, cutoff=0.4, gain=5)", {"x": RGB[0]}),
    Program("skimage.metrics", "m.peak_signal_noise_ratio(x, y, data_range=1.0)", {"x": RGB[0], "y": RGB[0] ** 2}),
    Program("skimage.transform", "m.EuclideanTransform(rotation=a, translation=(t, 1.0)).params", {"a": 0.3, "t": 2.0}),
    Program("skimage.filters", "m.gaussian(x, 1.0)", {"x": RGB[0]}, ("scipy",)),
    Program("filterpy.kalman", "kalman(m, q, r)", {"q": 0.1, "r": 0.5}, ("scipy",)),
    Program("filterpy.kalman", "unscented(m, q, r)", {"q": 0.1, "r": 0.5}, ("scipy",)),
    Program("filterpy.gh", "gh(m, g, h)", {"g": 0.6, "h": 0.2}),
    Program("filterpy.leastsq", "least_squares(m, z)", {"z": SERIES[:6]}),
    Program("filterpy.common", "m.Q_discrete_white_noise(3, dt=dt, var=v)", {"dt": 0.3, "v": 2.0}, ("scipy",), refused="_at.py"),
    Program("filterpy.stats", "m.mul(x, v, 1.0, 0.5)[0] + m.gaussian(0.3, x, v)", {"x": 0.7, "v": 1.4}),
    Program("lmfit.lineshapes", "m.pearson7(SERIES, a, c, s, 1.5)", {"a": 2.0, "c": 0.3, "s": 0.8}),
    Program("lmfit.lineshapes", "m.lognormal(np.abs(SERIES), a, c, s)", {"a": 2.0, "c": 0.3, "s": 0.8}),
    Program("lmfit.lineshapes", "m.voigt(SERIES, a, c, s)", {"a": 2.0, "c": 0.3, "s": 0.8}, refused="scipy.special.wofz"),
    Program("fluids.friction", "m.Colebrook(Re, eD)", {"Re": 1e5, "eD": 1e-2}),
    Program("fluids.friction", "m.friction_factor(Re=Re, eD=eD)", {"Re": 2e5, "eD": 1e-3}),
    Program("fluids.atmosphere", "m.ATMOSPHERE_1976(z).rho", {"z": 5000.0}),
    Program("fluids.compressible", "m.isentropic_T_rise_compression(T, 54050.0, p, 1.4)", {"T": 286.8, "p": 432400.0}),
    Program("geographiclib.geodesic", "m.Geodesic.WGS84.Inverse(a, b, 50.0, 10.0)['s12']", {"a": 40.0, "b": -3.0}),
    Program("colour", "m.XYZ_to_Lab(m.sRGB_to_XYZ(x))", {"x": RGB[0, 0]}),
    Program("colour", "m.delta_E(x, y, method='CIE 2000')", {"x": LAB[0], "y": LAB[0, ::-1].copy()}),
    Program("colour", "m.XYZ_to_Oklab(x)", {"x": RGB[0, 0]}),
    Program("pykalman", "filtered(m, a, c)", {"a": 0.8, "c": 1.3}, ("scipy",), refused="gesXd"),
    Program("control", "abs(m.tf([1.0], [1.0, a, b])(0.7j))", {"a": 0.5, "b": 2.0}, ("scipy",)),
    Program("sympy", "symbolic(m)(a, b)", {"a": 0.5, "b": 2.0}),
    Program("statsmodels.tsa.stattools", "m.acf(x, nlags=3, fft=False)", {"x": SERIES}, ("scipy",)),
    Program("statsmodels.stats.stattools", "m.durbin_watson(x) + m.jarque_bera(x)[0]", {"x": SERIES}, ("scipy",)),
    Program("statsmodels.robust.norms", "m.TukeyBiweight().rho(x)", {"x": SERIES}),
    Program("statsmodels.api", "m.OLS(y, np.vander(np.arange(12.0), 3)).fit().params", {"y": SERIES}, ("scipy",), refused="__array__"),
    Program("pvlib.irradiance", "m.haydavies(20, 180, d, 800.0, 1300.0, z, 190.0)", {"d": 120.0, "z": 40.0}),
    Program("pvlib.temperature", "m.sapm_cell(p, t, 3.0, -3.47, -0.0594, 3.0)", {"p": 800.0, "t": 20.0}),
    Program("pvlib.iam", "m.physical(a, n=n)", {"a": np.array([10.0, 40.0, 70.0]), "n": 1.5}),
    Program("pvlib.pvsystem", "m.calcparams_desoto(g, t, 0.004, 1.8, 6.0, 2e-9, 300.0, 0.3)[0]", {"g": 800.0, "t": 45.0}),
    Program("ahrs.common.orientation", "m.q_prod(p, m.q_conj(q))", {"p": RGB.ravel()[:4], "q": RGB.ravel()[2:]}),
    Program("ahrs", "m.filters.Madgwick(gyr=x, acc=x + 1.0).Q", {"x": SERIES.reshape(4, 3)}, refused="Quaternion"),
    Program("scipy.stats", "m.linregress(np.arange(12.0), y).slope", {"y": SERIES}),
    Program("scipy.stats", "m.norm.logpdf(x, loc=a, scale=b)", {"x": SERIES, "a": 0.3, "b": 1.2}),
    Program("scipy.stats", "m.multivariate_normal.logpdf(x, mean, [[2.0, 0.3], [0.3, 1.0]])", {"x": SERIES[:2], "mean": SERIES[2:4]}),
    Program("scipy.stats", "m.skew(x) + m.kurtosis(x)", {"x": SERIES}),
    Program("scipy.stats", "m.gmean(np.abs(x) + 1.0) + m.zscore(x)", {"x": SERIES}),
    Program("scipy.integrate", "m.simpson(y, dx=0.3)", {"y": SERIES}),
    Program("scipy.integrate", "m.solve_ivp(lambda t, y: -k * y, (0, 1), [a, 1.0], rtol=1e-9, atol=1e-9).y[:, -1]", {"k": 0.7, "a": 2.0}),
    Program("scipy.integrate", "m.cumulative_trapezoid(y, dx=0.1)", {"y": SERIES}),
    Program("scipy.signal", "m.convolve(x, y, method='direct')", {"x": SERIES, "y": SERIES[:3]}),
    Program("scipy.signal", "m.welch(x, nperseg=6)[1]", {"x": SERIES}),
    Program("scipy.interpolate", "m.BarycentricInterpolator([0.0, 1.0, 2.0], y)(0.7)", {"y": SERIES[:3]}),
    Program("scipy.interpolate", "m.CubicSpline(np.arange(12.0), y)(3.3)", {"y": SERIES}, refused="gtsv|hold no gradients"),
    Program("scipy.optimize", "m.rosen(x) + m.rosen_der(x).sum()", {"x": SERIES[:5]}),
    Program("scipy.optimize", "m.minimize_scalar(lambda v: (v - a) ** 2 + v**4).x", {"a": 0.7}),
    Program("scipy.spatial.transform", "m.Rotation.from_rotvec(v).apply([1.0, 2.0, 3.0])", {"v": SERIES[:3]}, refused="from_rotvec"),
    Program("scipy.linalg", "m.expm(x)", {"x": SERIES[:4].reshape(2, 2)}),
    Program("pyproj", "m.Transformer.from_crs('EPSG:4326', 'EPSG:3857').transform(a, b)[0]", {"a": 40.0, "b": 10.0}, refused="_transform_point"),
]  # fmt: skip


def kalman(m: Any, q: Any, r: Any) -> Any:
    """A filter of constant velocity, over a series of positions."""
    filter = m.KalmanFilter(dim_x=2, dim_z=1)
    filter.F = np.array([[1.0, 1.0], [0.0, 1.0]])
    filter.H = np.array([[1.0, 0.0]])
    filter.P *= 10.0
    filter.R *= r
    filter.Q = np.array([[0.25, 0.5], [0.5, 1.0]]) * q
    for position in SERIES:
        filter.predict()
        filter.update(position)
    return filter.x


def unscented(m: Any, q: Any, r: Any) -> Any:
    """The same by an unscented filter, whose square roots of matrices are SciPy's."""
    points = m.MerweScaledSigmaPoints(2, 0.1, 2.0, 1.0)
    filter = m.UnscentedKalmanFilter(
        2, 1, 1.0, hx=lambda x: x[:1], fx=lambda x, dt: np.array([[1.0, 1.0], [0.0, 1.0]]) @ x, points=points
    )
    filter.R *= r
    filter.Q = np.eye(2) * q
    for position in SERIES[:4]:
        filter.predict()
        filter.update(position)
    return filter.x


def gh(m: Any, g: Any, h: Any) -> Any:
    """A g-h filter over a series."""
    filter = m.GHFilter(x=0.0, dx=0.0, dt=1.0, g=g, h=h)
    for position in SERIES:
        filter.update(position)
    return filter.x


def least_squares(m: Any, z: Any) -> Any:
    """A recursive filter of second order."""
    filter = m.LeastSquaresFilter(dt=1.0, order=1)
    for position in z:
        filter.update(position)
    return filter.x


def filtered(m: Any, a: Any, c: Any) -> Any:
    """The means of a Kalman filter with one state."""
    filter = m.KalmanFilter(
        transition_matrices=np.reshape(a, (1, 1)),
        observation_matrices=np.reshape(c, (1, 1)),
        transition_covariance=np.eye(1),
        observation_covariance=np.eye(1),
        initial_state_mean=np.zeros(1),
        initial_state_covariance=np.eye(1),
    )
    return filter.filter(SERIES[:5, None])[0]


def symbolic(m: Any) -> Callable[..., Any]:
    """A function that sympy has written for NumPy."""
    a, b = m.symbols("a b")
    return m.lambdify([a, b], m.exp(-a * b) * m.sin(a**2) / (1 + m.Abs(b)), "numpy")  # type: ignore[no-any-return]
