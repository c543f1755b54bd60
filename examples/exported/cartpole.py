"""Model predictive control of a cart with a pole, in a closed loop: here, and as C.

    python cartpole.py FOLDER

`control` moves its plan on by a step, and improves it by a linear-quadratic regulator along its path: one iteration at each
sampling time. It is exported with `plant`, the cart itself, for cartpole.c, which prints what this program prints.
"""

import sys
from pathlib import Path

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


if __name__ == "__main__":
    folder, start = Path(sys.argv[1]), pullback.tensor(START, dtype=F64)
    control.export(folder / "control", start, name="control")
    plant.export(folder / "plant", start, pullback.tensor(0.0, dtype=F64), name="plant")
    x = start
    for number in range(1, 101):
        x = plant(x, control(x))
        if number % 10 == 0:
            print(f"{number / 20:.1f} s: {' '.join(f'{each:.12f}' for each in x.tolist())}")
