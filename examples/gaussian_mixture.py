"""A mixture of two Gaussians, fitted by SciPy's trust region method with products of the Hessian.

The parameters are a dictionary; `pullback.flatten_problem` makes a problem of one vector of them, and nests its solution
again.
"""

import math

import numpy as np

import pullback

try:
    from scipy.optimize import minimize
except ImportError:
    minimize = None


def sample(count: int) -> pullback.Tensor:
    """Numbers of which three in ten come from a wide heap at -2, the others from a narrow one at 1."""
    rng = np.random.default_rng(0)
    wide = rng.random(count) < 0.3
    return pullback.from_numpy(np.where(wide, rng.normal(-2, 1, count), rng.normal(1, 0.5, count)))


def surprise(params: dict, x: pullback.Tensor) -> pullback.Tensor:
    """The mean negative logarithm of the density of the numbers under the mixture."""
    log_shares = params["scores"].log_softmax(0)
    scaled = (x[:, None] - params["centre"]) * (-params["log_width"]).exp()
    log_density = -(scaled**2) / 2 - params["log_width"] - math.log(2 * math.pi) / 2
    return -pullback.logsumexp(log_shares + log_density, 1).mean()


def main() -> None:
    """Fit, and print what was found."""
    x = sample(2000)
    start = {"scores": np.zeros(2), "centre": np.array([-1.0, 0.5]), "log_width": np.zeros(2)}
    fun, x0, unflatten = pullback.flatten_problem(lambda params: surprise(params, x), start)
    print(f"before  surprise {fun.value(x0):.4f}")
    if minimize is None:
        print("SciPy is not installed: pip install scipy to see the fit")
        return
    result = minimize(fun, x0, jac=True, hessp=fun.hessp, method="trust-krylov")
    found = unflatten(result.x)
    shares = np.exp(found["scores"]) / np.exp(found["scores"]).sum()
    print(f"after   surprise {result.fun:.4f}, in {result.nit} steps and {result.nhev} products with the Hessian")
    for share, centre, log_width in zip(shares, found["centre"], found["log_width"], strict=True):
        print(f"        {share:.2f} of the numbers around {centre:5.2f}, width {math.exp(log_width):.2f}")


if __name__ == "__main__":
    main()
