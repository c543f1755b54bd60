"""A physics-informed network: it learns the solution of a differential equation from the equation alone.

On the unit square u is to satisfy u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y), and to be 0 on the edge, which the model
is by its form. The loss holds second derivatives of the network by its inputs, and is differentiated once more, by its
weights. The solution is known: u = sin(pi x) sin(pi y).
"""

import math
from typing import Any

import numpy as np
from beside_torch import Task, compare
from progress import Training, read_options

import pullback

POINTS, STEPS = 200, 1000


def model(library: Any) -> Any:
    """A network of x and y, smooth, as it is differentiated three times, times what is 0 on the edge."""
    nn = library.nn

    class Membrane(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

        def forward(self, points: Any) -> Any:
            return (points * (1 - points)).prod(1, keepdim=True) * self.net(points)

    return Membrane()


def batch(step: int, _: Any = None) -> tuple[np.ndarray]:
    """Points of the square."""
    return (np.random.default_rng((1, step)).random((POINTS, 2)).astype(np.float32),)


def exact(points: Any, sin: Any) -> Any:
    """The solution, by the sine of a library."""
    return sin(math.pi * points[:, :1]) * sin(math.pi * points[:, 1:])


def laplacian(library: Any, u: Any, points: Any) -> Any:
    """u_xx + u_yy of values u that were computed from the points, one by one."""
    (slopes,) = library.autograd.grad(u.sum(), points, create_graph=True)
    curvatures = [library.autograd.grad(slopes[:, i].sum(), points, create_graph=True)[0][:, i : i + 1] for i in (0, 1)]
    return curvatures[0] + curvatures[1]


def loss(library: Any, net: Any, batch: Any) -> Any:
    """By how much the equation is missed, squared."""
    points = batch.detach().requires_grad_()
    missed = laplacian(library, net(points), points) + 2 * math.pi**2 * exact(batch, library.sin)
    return (missed**2).mean()


def optimizer(library: Any, parameters: Any) -> Any:
    """Adam."""
    return library.optim.Adam(parameters, lr=5e-3)


TASK = Task(model, loss, optimizer, batch)


def error(net: pullback.nn.Module) -> float:
    """The root mean square of the error on a grid, as a part of that of the solution."""
    axis = np.linspace(0, 1, 41, dtype=np.float32)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    with pullback.no_grad():
        found = net(pullback.tensor(grid)).numpy()
    solution = exact(grid, np.sin)
    return float(np.linalg.norm(found - solution) / np.linalg.norm(solution))


def main() -> None:
    """Train on new points at each step, and look how far from the solution the network is."""
    options = read_options(__doc__, "poisson", STEPS, quick=5)
    pullback.manual_seed(0)
    net = model(pullback)
    descent = optimizer(pullback, net.parameters())
    schedule = pullback.optim.lr_scheduler.CosineAnnealingLR(descent, T_max=options.steps)
    training = Training(options, model=net, optimizer=descent, schedule=schedule)
    for step in training.steps():
        descent.zero_grad()
        missed = loss(pullback, net, *map(pullback.tensor, batch(step)))
        missed.backward()
        descent.step()
        schedule.step()
        training.tell(loss=missed.item())
    print(f"error against the solution: {error(net):.2%}")
    if not options.quick:
        compare(TASK)


if __name__ == "__main__":
    main()
