"""An optimal path of the cart and pole of cartpole.py, all states being unknowns: by SciPy, and by CasADi's IPOPT.

    python cartpole_path.py FOLDER

IPOPT is given `cost` and `defects` as C, with the sparse Jacobian and the Hessian of the Lagrangian.
"""

import subprocess
import sys
import time
from pathlib import Path

import casadi
import numpy as np
from cartpole import COUNT, F64, MOST, START, cost, defects
from scipy.optimize import minimize

import pullback
from pullback import func


def by_scipy(start):
    """The optimum by SciPy's SLSQP with our derivatives: unknowns, iterations, seconds."""
    slope = pullback.compile(func.grad_and_value(cost))
    apart = pullback.compile(defects)
    turned = pullback.compile(lambda z, start: pullback.sparse_jacobian(lambda z: defects(z, start), z))

    def priced(z):
        found, value = slope(pullback.from_numpy(z))
        return value.item(), found.numpy()

    path = {
        "type": "eq",
        "fun": lambda z: apart(pullback.from_numpy(z), start).numpy(),
        "jac": lambda z: turned(pullback.from_numpy(z), start).toarray(),
    }
    limits = [(-MOST, MOST), *[(None, None)] * 4] * COUNT
    began = time.perf_counter()
    options = {"maxiter": 200, "ftol": 1e-10}
    found = minimize(
        priced, np.zeros(5 * COUNT), jac=True, method="SLSQP", bounds=limits, constraints=path, options=options
    )
    return found.x, found.nit, time.perf_counter() - began


def by_ipopt(folder, start):
    """The optimum with all states as unknowns: CasADi's IPOPT with our C code."""
    z = pullback.zeros(5 * COUNT, dtype=F64)
    pullback.compile(cost).export(folder / "cost", z, abi="casadi")
    pullback.compile(defects).export(folder / "defects", z, start, abi="casadi")
    known = {}
    for name in ("cost", "defects"):
        subprocess.run(["make", "-s", "-C", folder / name, f"lib{name}.so"], check=True)
        known[name] = casadi.external(name, str((folder / name / f"lib{name}.so").resolve()))
    unknown, given = casadi.MX.sym("z", 5 * COUNT), casadi.MX.sym("start", 4)
    problem = {"x": unknown, "p": given, "f": known["cost"](unknown), "g": known["defects"](unknown, given)}
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-10}
    solve = casadi.nlpsol("solve", "ipopt", problem, quiet)
    limits = np.full((COUNT, 5), np.inf)
    limits[:, 0] = MOST
    began = time.perf_counter()
    found = solve(x0=0, p=start.numpy(), lbx=-limits.reshape(-1), ubx=limits.reshape(-1), lbg=0, ubg=0)
    return found["x"].full()[:, 0], solve.stats()["iter_count"], time.perf_counter() - began


if __name__ == "__main__":
    folder, start = Path(sys.argv[1]), pullback.tensor(START, dtype=F64)
    for name, (found, count, seconds) in {"SciPy": by_scipy(start), "IPOPT": by_ipopt(folder, start)}.items():
        value = cost(pullback.from_numpy(found)).item()
        print(f"{name}: cost {value:.6f}, first force {found[0]:.6f}, {count} steps, {seconds:.3f} s")
