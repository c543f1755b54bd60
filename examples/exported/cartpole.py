"""Model predictive control of a cart with a pole: the optimum by SciPy and by IPOPT, and a controller that runs as C.

    python cartpole.py FOLDER

`cost` and `defects` state the problem with all states as unknowns (multiple shooting); they are exported for CasADi, whose
IPOPT is given the sparse Jacobian and the Hessian of the Lagrangian. `control` is a step of an iterative linear-quadratic regulator that keeps its plan from call to call: it is exported
together with `plant`, the cart itself, for cartpole.c.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import pullback
from pullback import func

COUNT, STEP, MOST = 40, 0.05, 15.0
F64 = pullback.float64
WEIGHTS = pullback.tensor([1.0, 10.0, 0.1, 0.1], dtype=F64)
"""Of position, angle, speed and angular speed in the cost; those at the end count LAST times as much."""
EFFORT, LAST = 0.01, 10.0
START = [0.0, 0.6, 0.0, 0.0]


def rate(x, force):
    """How fast position, angle from upright, speed and angular speed change."""
    _, angle, speed, turning = x.unbind(-1)
    sin, cos = angle.sin(), angle.cos()
    push = (force + 0.05 * turning**2 * sin) / 1.1
    bend = (9.81 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    return pullback.stack([speed, turning, push - 0.05 * bend * cos / 1.1, bend], -1)


def moved(x, force, h=STEP):
    """The state after a step of Runge and Kutta's."""
    a = rate(x, force)
    b = rate(x + h / 2 * a, force)
    c = rate(x + h / 2 * b, force)
    d = rate(x + h * c, force)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


def priced(states, forces):
    """The cost of states after each force."""
    parts = (states**2 * WEIGHTS).sum(-1)
    return STEP / 2 * (parts[:-1].sum() + LAST * parts[-1] + EFFORT * (forces**2).sum())


def cost(z):
    """The cost, where the unknowns are the force and the state after it at each step."""
    z = z.reshape(COUNT, 5)
    return priced(z[:, 1:], z[:, 0])


def defects(z, start):
    """What states are beyond where the step before leads: zero at a path of the cart."""
    z = z.reshape(COUNT, 5)
    before = pullback.cat([start[None], z[:-1, 1:]])
    return (z[:, 1:] - moved(before, z[:, 0])).reshape(-1)


def path(forces, start):
    """The states after each force."""

    def step(x, force):
        x = moved(x, force)
        return x, x

    return pullback.scan(step, start, forces)[1]


plan = pullback.zeros(COUNT, dtype=F64)


@pullback.compile
def control(x):
    """The force now: the plan is moved on by a step, and improved by a linear-quadratic regulator along its path."""
    forces = pullback.cat([plan[1:], plan[-1:]])
    states = pullback.cat([x[None], path(forces, x)])
    a, b = func.vmap(func.jacfwd(moved, argnums=(0, 1)))(states[:-1], forces)
    q = WEIGHTS.diag()

    def back(carry, at):
        slope, bend = carry  # of the cost to go
        x, force, a, b = at
        along = bend @ a
        mixed, twice = b @ along, EFFORT + b @ bend @ b
        step, gain = -(EFFORT * force + b @ slope) / twice, -mixed / twice
        slope = q @ x + a.T @ slope + mixed * step
        return (slope, q + a.T @ along + mixed[:, None] * gain), (step, gain)

    ends = LAST * (q @ states[-1]), LAST * q
    at = states[:-1].flip(0), forces.flip(0), a.flip(0), b.flip(0)
    _, (steps, gains) = pullback.scan(back, ends, at)

    def forth(x, at):
        force, before, step, gain = at
        force = (force + step + gain @ (x - before)).clamp(-MOST, MOST)
        return moved(x, force), force

    found = pullback.scan(forth, x, (forces, states[:-1], steps.flip(0), gains.flip(0)))[1]
    plan.copy_(found)
    return found[0]


@pullback.compile
def plant(x, force):
    """The cart after a step, in ten finer ones."""
    return pullback.scan(lambda x, _: (moved(x, force, STEP / 10), None), x, None, length=10)[0]


def by_scipy(start):
    """The optimum by SciPy's SLSQP with our derivatives: unknowns, iterations, seconds."""
    from scipy.optimize import minimize

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
    import casadi

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
    solvers = {"SciPy": lambda: by_scipy(start), "IPOPT": lambda: by_ipopt(folder, start)}
    for name, solver in solvers.items():
        try:
            found, count, seconds = solver()
            value = cost(pullback.from_numpy(found)).item()
            print(f"{name}: cost {value:.8f}, first force {found[0]:.6f}, {count} steps, {seconds:.3f} s")
        except ImportError as missing:
            print(f"{name}: skipped, {missing.name} is not installed")
    control.export(folder / "control", start, name="control")
    plant.export(folder / "plant", start, pullback.tensor(0.0, dtype=F64), name="plant")
    x = start
    for number in range(1, 101):
        x = plant(x, control(x))
        if number % 10 == 0:
            print(f"{number / 20:.1f} s: {' '.join(f'{each:.12f}' for each in x.tolist())}")
