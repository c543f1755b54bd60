"""REINFORCE: an agent learns to balance a pole on a cart by trying (R. J. Williams, 1992).

The cart is pushed left or right, fifty times a second; the game is over when the pole leans by more than 12 degrees or
the cart has moved by more than 2.4 metres. The equations of motion are those of A. Barto, R. Sutton and C. Anderson,
Neuronlike adaptive elements that can solve difficult learning control problems, 1983.
"""

from typing import Any

import numpy as np
from beside_torch import Task, compare
from progress import Training, read_options

import pullback

GAMES, TIME, STEPS = 16, 200, 100


class Poles:
    """Several carts with poles, in plain NumPy. A state is (place, speed, angle, speed of the angle)."""

    gravity, cart, pole, half_length, force, tick = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self.state = rng.uniform(-0.05, 0.05, (count, 4))
        self.alive = np.ones(count, bool)

    def push(self, right: np.ndarray) -> None:
        """One fiftieth of a second under a force to the right, where `right`, or to the left."""
        _, speed, angle, turning = self.state.T
        sine, cosine, mass = np.sin(angle), np.cos(angle), self.cart + self.pole
        swing = self.pole * self.half_length * turning**2 * sine
        pushed = (np.where(right, self.force, -self.force) + swing) / mass
        inertia = self.half_length * (4 / 3 - self.pole * cosine**2 / mass)
        falling = (self.gravity * sine - cosine * pushed) / inertia
        moving = pushed - self.pole * self.half_length * falling * cosine / mass
        self.state = self.state + self.tick * np.stack([speed, moving, turning, falling], 1)
        self.alive &= (np.abs(self.state[:, 0]) < 2.4) & (np.abs(self.state[:, 2]) < np.radians(12))


def model(library: Any) -> Any:
    """The scores of left and right in a state. In double precision: with luck in the loop, rounding would soon show."""
    nn = library.nn
    return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2)).double()


def play(policy: pullback.nn.Module, seed: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, pushes, and whether the game was still on: by time, then by game."""
    rng = np.random.default_rng(seed)
    poles, states, pushes, alive = Poles(rng, GAMES), [], [], []
    with pullback.no_grad():
        for _ in range(TIME):
            states.append(poles.state)
            alive.append(poles.alive.copy())
            chances = policy(pullback.tensor(states[-1])).softmax(1).numpy()
            pushes.append(rng.random(GAMES) < chances[:, 1])
            poles.push(pushes[-1])
    return np.stack(states), np.stack(pushes), np.stack(alive)


def batch(step: int, policy: Any) -> tuple[np.ndarray, ...]:
    """Games played by the policy: states, pushes, and how much better than in the other games it went on from there."""
    states, pushes, alive = play(policy, (1, step))
    returns = alive.astype(float)
    for time in reversed(range(TIME - 1)):
        returns[time] += 0.99 * returns[time + 1]
    advantages = (returns - returns.mean(1, keepdims=True)) * alive
    return states, pushes.astype(np.int64), advantages / (advantages.std() + 1e-6)


def loss(library: Any, policy: Any, states: Any, pushes: Any, advantages: Any) -> Any:
    """Its gradient is that of the expected return, estimated from the games, with the sign turned."""
    chances = policy(states).log_softmax(2).gather(2, pushes[..., None])[..., 0]
    return -(chances * advantages).mean()


def optimizer(library: Any, parameters: Any) -> Any:
    """Adam."""
    return library.optim.Adam(parameters, lr=3e-3)


TASK = Task(model, loss, optimizer, batch)


def main() -> None:
    """Train, and play with the policy that was learned."""
    options = read_options(__doc__, "pole", STEPS, quick=2)
    pullback.manual_seed(0)
    policy = model(pullback)
    descent = optimizer(pullback, policy.parameters())
    training = Training(options, model=policy, optimizer=descent)
    for step in training.steps():
        descent.zero_grad()
        value = loss(pullback, policy, *map(pullback.tensor, batch(step, policy)))
        value.backward()
        descent.step()
        training.tell(loss=value.item())
    lengths = play(policy, 0)[2].sum(0)
    print(f"{GAMES} new games: the pole stood for {lengths.mean():.0f} of {TIME} pushes, at least for {lengths.min()}")
    if not options.quick:
        compare(TASK)


if __name__ == "__main__":
    main()
