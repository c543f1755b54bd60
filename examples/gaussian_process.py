"""A Gaussian process, whose kernel is fitted to data by `scipy.optimize`, with gradients from pullback.

The data depend on two of three inputs. The evidence of the data (the logarithm of their density under the process) is
largest where the length of the third input is long: then the process does not look at it. After C. Rasmussen and
C. Williams, Gaussian Processes for Machine Learning, 2006, sections 5.1 and 5.4.
"""

import argparse
import importlib
import importlib.util
import math
from typing import Any

import numpy as np
from beside_torch import furthest

import pullback

try:
    from scipy.optimize import minimize
except ImportError:
    minimize = None

COUNT, NOISE, STEPS = 120, 0.1, 60
START = {"log_lengths": np.zeros(3), "log_size": np.zeros(()), "log_noise": np.full((), -1.0)}


def data(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a cube and noisy values there."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (count, 3))
    return points, np.sin(4 * points[:, 0]) + points[:, 1] ** 2 + NOISE * rng.standard_normal(count)


def kernel(params: dict, left: Any, right: Any) -> Any:
    """The covariance of the values at points and other points."""
    scaled = (left[:, None] - right) / params["log_lengths"].exp()
    return (2 * params["log_size"] - (scaled**2).sum(-1) / 2).exp()


def factor(library: Any, params: dict, points: Any) -> Any:
    """The Cholesky factor of the covariance of the data."""
    noise = (2 * params["log_noise"]).exp() * library.eye(len(points), dtype=library.float64)
    return library.linalg.cholesky(kernel(params, points, points) + noise)


def surprise(library: Any, params: dict, points: Any, values: Any) -> Any:
    """The negative evidence, for each of the data."""
    low = factor(library, params, points)
    white = library.linalg.solve_triangular(low, values[:, None], upper=False)
    count = len(points)
    return ((white**2).sum() / 2 + low.diagonal().log().sum()) / count + math.log(2 * math.pi) / 2


def predict(params: dict, points: Any, values: Any, asked: Any) -> Any:
    """The mean of the values elsewhere, given the data."""
    weights = pullback.cholesky_solve(values[:, None], factor(pullback, params, points))
    return (kernel(params, asked, points) @ weights)[:, 0]


def fit(fun: Any, x0: np.ndarray, steps: int) -> tuple[Any, list[float]]:
    """What SciPy finds, and the objective after each of its steps."""
    curve: list[float] = []
    found = minimize(
        fun, x0, jac=True, method="L-BFGS-B", options={"maxiter": steps},
        callback=lambda intermediate_result: curve.append(float(intermediate_result.fun)),
    )  # fmt: skip
    return found, curve


def beside_torch(x0: np.ndarray, unflatten: Any, steps: int) -> list[float]:
    """The curve of the same fit with torch's gradients."""
    torch = importlib.import_module("torch")
    points, values = map(torch.tensor, data(COUNT, 0))

    def fun(vector: np.ndarray) -> tuple[float, np.ndarray]:
        params = {name: torch.tensor(array, requires_grad=True) for name, array in unflatten(vector).items()}
        value = surprise(torch, params, points, values)
        value.backward()
        return value.item(), np.concatenate([p.grad.numpy().ravel() for p in params.values()])

    return fit(fun, x0, steps)[1]


def compare(ours: list[float], theirs: list[float]) -> None:
    """Print the two curves side by side."""
    print(f"\n{'step':>8}{'pullback':>14}{'torch':>14}")
    for number in range(0, min(len(ours), len(theirs)), 4):
        print(f"{number:>8}{ours[number]:>14.8f}{theirs[number]:>14.8f}")
    print(f"largest difference: {furthest(ours, theirs):.1e}")


def main() -> None:
    """Fit, say what was found, and predict what was not seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, compared with nothing: to see that it runs")
    options = parser.parse_args()
    if minimize is None:
        raise SystemExit("this example fits with SciPy, which is not installed: pip install scipy")
    points, values = map(pullback.tensor, data(COUNT, 0))
    fun, x0, unflatten = pullback.flatten_problem(lambda params: surprise(pullback, params, points, values), START)
    steps = 3 if options.quick else STEPS
    result, curve = fit(fun, x0, steps)
    found = {name: pullback.tensor(array) for name, array in unflatten(result.x).items()}
    asked, truth = data(500, 1)
    error = np.sqrt(np.mean((predict(found, points, values, pullback.tensor(asked)).numpy() - truth) ** 2))
    print(f"surprise {fun.value(x0):.4f} before, {result.fun:.4f} after {result.nit} steps of L-BFGS")
    print("lengths of the three inputs:", ", ".join(f"{length:.2f}" for length in found["log_lengths"].exp().tolist()))
    print(
        f"noise {found['log_noise'].exp():.3f}, which is {NOISE}; error on 500 new points {error:.3f}, noise included"
    )
    if not options.quick and importlib.util.find_spec("torch"):
        compare(curve, beside_torch(x0, unflatten, steps))


if __name__ == "__main__":
    main()
