"""An optimal path of the cart and pole of cartpole.py: by SciPy and by CasADi's IPOPT.

    python cartpole_path.py FOLDER

SciPy is given the forces as unknowns, and the Jacobian of a least-squares problem; IPOPT all states as well, and `cost` and
`defects` as C, with the sparse Jacobian and the Hessian of the Lagrangian.
"""

import subprocess
import sys
import time
from pathlib import Path

import casadi
import numpy as np
from cartpole import COUNT, EFFORT, F64, LAST, MOST, START, STEP, WEIGHTS, cost, defects, moved, path
from scipy.optimize import least_squares

import pullback
from pullback import func


def residual(forces, start):
    """What squared and summed is twice the cost, by forces alone."""
    states = path(forces, start)
    last = pullback.cat([states[:-1], LAST**0.5 * states[-1:]])
    return (STEP**0.5) * pullback.cat([(last * WEIGHTS.sqrt()).reshape(-1), EFFORT**0.5 * forces])


def guess(start):
    """Forces that keep the pole upright: a plain feedback."""

    def step(x, _):
        force = (x * pullback.tensor([1.0, 40.0, 3.0, 8.0], dtype=F64)).sum().clamp(-MOST, MOST)
        return moved(x, force), force

    return pullback.scan(step, start, None, length=COUNT)[1]


def by_scipy(start):
    """The optimum by SciPy's least squares, of forces alone: unknowns, calls, seconds."""
    value = pullback.compile(residual)
    slopes = pullback.compile(func.jacfwd(residual))
    value(pullback.zeros(COUNT, dtype=F64), start), slopes(pullback.zeros(COUNT, dtype=F64), start)
    began = time.perf_counter()
    found = least_squares(
        lambda forces: value(pullback.from_numpy(forces), start).numpy(),
        guess(start).numpy() * 0.999,  # within the bounds
        lambda forces: slopes(pullback.from_numpy(forces), start).numpy(),
        bounds=(-MOST, MOST),
        xtol=1e-10,
    )
    forces = pullback.from_numpy(found.x)
    unknowns = pullback.cat([forces[:, None], path(forces, start)], 1).reshape(-1)
    return unknowns.numpy(), found.nfev, time.perf_counter() - began


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
