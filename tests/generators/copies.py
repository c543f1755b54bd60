"""Random programs that copy their state, and write to copies, views and what they made of captured values, in transforms.

The right derivatives are NumPy's: the same program runs on complex arrays, with a step along the imaginary axis.
"""

import copy
import dataclasses

import numpy as np

import pullback as pb

FEW = 4
SIZE = 3
STEP = 1e-30


@dataclasses.dataclass
class State:
    """What a simulation keeps: nested, with one value twice."""

    first: object
    others: dict


def _nested(value, other):
    return State(value, {"twice": [value, other], "again": value})


def _out_of(state):
    return state.first + state.others["twice"][0] * state.others["again"] * state.others["twice"][1]


def _copied(value):
    """A copy as of an array: a plain tensor's shallow copy would be in the same memory, as torch's is."""
    plain = type(value) is pb.Tensor and not value.requires_grad
    return value.clone() if plain else copy.copy(value)


INSTRUCTIONS = (
    lambda values, i, j, k: values.append(_copied(values[i])),
    lambda values, i, j, k: values.append(copy.deepcopy(values[i])),
    lambda values, i, j, k: values.append(_out_of(copy.deepcopy(_nested(values[i], values[j])))),
    lambda values, i, j, k: values.append(_out_of(copy.copy(_nested(values[i], values[j])))),
    lambda values, i, j, k: values.extend(copy.deepcopy([values[i], values[j]])),
    lambda values, i, j, k: values.append(values[i] * values[j]),
    lambda values, i, j, k: values.append(np.sin(values[i])),
    lambda values, i, j, k: values.append(values[i] - 0.5 * values[j]),
    lambda values, i, j, k: values[i].__setitem__(k, values[j][k - 1]),
    lambda values, i, j, k: values[i].__setitem__(slice(None, -1), 0.5 * values[j][1:]),
    lambda values, i, j, k: values[i].__iadd__(values[j]),
    lambda values, i, j, k: values[i][1:].__imul__(values[j][:-1]),
    lambda values, i, j, k: values.append(
        values[i][::-1] * 1 if isinstance(values[i], np.ndarray) else values[i].flip(0)
    ),
)
COPIES = INSTRUCTIONS[:5]


class Program:
    """Random instructions on a growing list of vectors, which starts with copies of what is given and captured."""

    def __init__(self, rng, *, tape=False):
        # on the tape, copies of results by `deepcopy` are refused, as in torch
        allowed = [each for each in INSTRUCTIONS if not tape or each not in COPIES[1:]]
        self.steps = [
            (allowed[int(rng.integers(len(allowed)))], *rng.integers(0, 1 << 16, 2).tolist(), int(rng.integers(SIZE)))
            for _ in range(int(rng.integers(3, 9)))
        ]
        self.weights = rng.normal(size=SIZE)
        self.tape = tape

    def __call__(self, x, *captured):
        given = [x * 1 if self.tape else copy.deepcopy(x), *(each * 1 for each in captured)]
        values = [*given, given[0] * given[-1]]
        for step, i, j, k in self.steps:
            step(values, i % len(values), j % len(values), k)
        weights = self.weights if isinstance(x, np.ndarray) else pb.from_numpy(self.weights)
        return (sum(values) * weights).sum()


def slope(program, x, move, *captured):
    """The derivative of a program along a direction, exact up to rounding."""
    captured = [np.asarray(each, complex) for each in captured]
    return program(x + 1j * STEP * move, *captured).imag / STEP


def gradient(program, x, *captured):
    return np.array([slope(program, x, row, *captured) for row in np.eye(SIZE)])


def curvature(program, x, *captured):
    """The Hessian, from differences of gradients."""
    h = 1e-5
    rows = [
        gradient(program, x + h * row, *captured) - gradient(program, x - h * row, *captured) for row in np.eye(SIZE)
    ]
    return np.array(rows) / (2 * h)


def near(found, right, what, tolerance=1e-9):
    found = found.detach().numpy() if isinstance(found, pb.Tensor) else np.asarray(found)
    scale = 1 + np.abs(right).max()
    assert found.shape == np.shape(right), f"{what}: shape {found.shape} for {np.shape(right)}"
    assert np.abs(found - right).max() <= tolerance * scale, (
        f"{what}: {found.tolist()} for {np.asarray(right).tolist()}"
    )
    return 1


def check(rng):
    program = Program(rng)
    x, c, move = rng.uniform(-1, 1, size=(3, SIZE))
    t, u, v = map(pb.tensor, (x, c, move))
    right = gradient(program, x, c)

    def f(t):
        return program(t, u)

    compared = near(pb.func.grad(f)(t), right, "grad")
    compared += near(pb.func.jvp(f, (t,), (v,))[1], slope(program, x, move, c), "jvp")
    compared += near(pb.func.jacfwd(f)(t), right, "jacfwd")
    compared += near(pb.func.jacrev(f)(t), right, "jacrev")
    compared += near(pb.value_and_grad(lambda a: program(pb.as_tensor(a), u))(x)[1], right, "value_and_grad")
    compared += near(u, c, "the captured vector")

    # the captured vector belongs to a transform outside: by both, and by the one and then the other
    mixed = crossed(program, x, c)
    outside = pb.func.grad(lambda s: pb.func.grad(lambda t: program(t, s))(t).sum())
    compared += near(outside(u), mixed, "grad of grad", 1e-5)
    pushed = pb.func.jvp(lambda s: pb.func.grad(lambda t: program(t, s))(t), (u,), (v,))[1]
    compared += near(pushed.sum(), mixed @ move, "jvp of grad", 1e-5)
    hessian = curvature(program, x, c)
    compared += near(pb.func.hessian(f)(t), hessian, "hessian", 1e-5)
    compared += near(pb.func.jacrev(pb.func.jacfwd(f))(t), hessian, "jacrev of jacfwd", 1e-5)

    rows = np.stack([x, x / 2, -x])
    several = pb.vmap(pb.func.grad(f))(pb.tensor(rows))
    compared += near(several, np.stack([gradient(program, row, c) for row in rows]), "vmap of grad")
    both = pb.vmap(lambda t, s: pb.func.grad(lambda t: program(t, s))(t))(pb.tensor(rows), pb.tensor(rows[::-1].copy()))
    compared += near(
        both, np.stack([gradient(program, *pair) for pair in zip(rows, rows[::-1], strict=True)]), "vmap of both"
    )
    if rng.random() < 0.2:
        compared += near(pb.compile(pb.func.grad(program))(t, u), right, "compiled")
    return compared + on_the_tape(rng)


def crossed(program, x, c):
    """The derivative by the captured vector of the sum of the gradient by the given one."""
    h = 1e-5
    rows = [gradient(program, x, c + h * row).sum() - gradient(program, x, c - h * row).sum() for row in np.eye(SIZE)]
    return np.array(rows) / (2 * h)


def on_the_tape(rng):
    program = Program(rng, tape=True)
    x, c = rng.uniform(-1, 1, size=(2, SIZE))
    leaves = [pb.tensor(each, requires_grad=True) for each in (x, c)]
    program(*leaves).backward()
    turned = Turned(program)
    return near(leaves[0].grad, gradient(program, x, c), "the tape") + near(
        leaves[1].grad, gradient(turned, c, x), "the tape, by the second"
    )


class Turned:
    """A program of the second vector and the first."""

    def __init__(self, program):
        self.program = program

    def __call__(self, c, x):
        return self.program(x, c)
