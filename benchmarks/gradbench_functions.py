"""The functions of GradBench, written anew from their formulas, and inputs for them in the form of its protocol.

A case has an input, made of random numbers as JSON has them, and two functions on tensors, compiled as they are: the objective and its
derivative, with their names in GradBench. What they give has the form of its answers, so that all tools can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback
from pullback import func

Input = dict[str, Any]
Made = Callable[[], Any]


class Case(NamedTuple):
    """A function of GradBench at one size: the names of the objective and the derivative, the input, and how both are made of it."""

    module: str
    size: str
    names: tuple[str, str]
    given: Input
    made: Callable[[Input], tuple[Made, Made]]


def real(values: Any) -> Any:
    """A tensor in double precision."""
    return pullback.tensor(np.asarray(values, float))


def called(function: Callable[..., Any], *tensors: Any) -> Made:
    """A compiled function with its arguments."""
    compiled = pullback.compile(function, fullgraph=True)
    return lambda: compiled(*tensors)


# Mixtures of normal distributions


def gmm_input(d: int, k: int, n: int) -> Input:
    rng = np.random.default_rng(1)
    uniform = {"mu": (k, d)}
    normal = {"x": (n, d), "alpha": (k,), "q": (k, d), "l": (k, d * (d - 1) // 2)}
    drawn = {name: rng.random(shape).tolist() for name, shape in uniform.items()}
    drawn |= {name: rng.normal(size=shape).tolist() for name, shape in normal.items()}
    return {"d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, **drawn}


def gmm(given: Input) -> tuple[Made, Made]:
    d, k, n, m, gamma = (given[name] for name in ("d", "k", "n", "m", "gamma"))
    columns, rows = np.triu_indices(d, 1)
    places = np.zeros((d, d), int)
    places[rows, columns] = np.arange(len(rows))
    below = real(np.tri(d, k=-1))
    freedom = d + m + 1
    constant = freedom * d * math.log(gamma / math.sqrt(2))
    constant -= float(pullback.special.multigammaln(real(freedom / 2), d))

    def posterior(alpha: Any, mu: Any, q: Any, l: Any, x: Any) -> Any:  # noqa: E741  # GradBench's name
        scales, logs = q.exp(), q.sum(1)
        lower = (l[:, places] if l.shape[1] else pullback.zeros(k, d, d, dtype=pullback.float64)) * below
        centred = x[:, None, :] - mu
        turned = scales * centred + pullback.einsum("kij,nkj->nki", lower, centred)
        inner = alpha + logs - 0.5 * (turned**2).sum(2)
        wishart = 0.5 * gamma**2 * ((scales**2).sum() + (l**2).sum()) - m * logs.sum()
        likelihood = pullback.logsumexp(inner, 1).sum() - n * pullback.logsumexp(alpha, 0)
        return likelihood - n * d * 0.5 * math.log(2 * math.pi) - wishart + k * constant

    names = ("alpha", "mu", "q", "l")
    tensors = [real(given[name]) for name in (*names, "x")]
    slopes = called(func.grad(posterior, (0, 1, 2, 3)), *tensors)
    return called(posterior, *tensors), lambda: dict(zip(names, slopes(), strict=True))


# Clusters


def kmeans_input(k: int, n: int, d: int) -> Input:
    points = np.random.default_rng(1).random((n, d)).tolist()
    return {"points": points, "centroids": points[-k:]}


def kmeans(given: Input) -> tuple[Made, Made]:
    def cost(centroids: Any, points: Any) -> Any:
        return ((points[:, None] - centroids) ** 2).sum(2).amin(1).sum()

    def direction(centroids: Any, points: Any) -> Any:
        """The gradient over the diagonal of the Hessian, which has no other entries."""
        slope, curve = func.jvp(func.grad(lambda c: cost(c, points)), (centroids,), (pullback.ones_like(centroids),))
        return slope / curve

    tensors = real(given["centroids"]), real(given["points"])
    return called(cost, *tensors), called(direction, *tensors)


# Least squares by a polynomial


def llsq_input(n: int, m: int = 128) -> Input:
    return {"x": np.random.default_rng(1).random(m).tolist(), "n": n}


def llsq(given: Input) -> tuple[Made, Made]:
    n, m = given["n"], len(given["x"])

    def objective(x: Any) -> Any:
        t = -1 + pullback.arange(n, dtype=pullback.float64) * (2 / (n - 1))
        powers = pullback.cat([pullback.ones(n, 1, dtype=pullback.float64), t[:, None].expand(n, m - 1).cumprod(1)], 1)
        return 0.5 * ((t.sign() - powers @ x) ** 2).sum()

    x = real(given["x"])
    return called(objective, x), called(func.grad(objective), x)


# The logarithm of a sum of exponentials


def lse_input(n: int) -> Input:
    return {"x": np.random.default_rng(1).random(n).tolist()}


def lse(given: Input) -> tuple[Made, Made]:
    def objective(x: Any) -> Any:
        most = x.max()
        return most + (x - most).exp().sum().log()

    x = real(given["x"])
    return called(objective, x), called(func.grad(objective), x)


# An ordinary differential equation


def ode_input(n: int, s: int) -> Input:
    return {"x": np.random.default_rng(1).random(n).tolist(), "s": s}


def ode(given: Input) -> tuple[Made, Made]:
    steps = given["s"]

    def end(x: Any) -> Any:
        h = 2 / steps

        def slope(y: Any) -> Any:
            return pullback.cat([x[:1], x[1:] * y[:-1]])

        def step(y: Any, _: Any) -> tuple[Any, None]:
            first = slope(y)
            second = slope(y + h / 2 * first)
            third = slope(y + h / 2 * second)
            fourth = slope(y + h * third)
            return y + h / 6 * (first + 2 * second + 2 * third + fourth), None

        return pullback.scan(step, pullback.zeros_like(x), length=steps)[0]

    x = real(given["x"])
    return called(end, x), called(func.grad(lambda x: end(x)[-1]), x)


# A recurrent network with diagonal weights


def lstm_input(layers: int, length: int, bits: int = 14) -> Input:
    rng = np.random.default_rng(1)
    shapes = {"main_params": (2 * layers, 4 * bits), "extra_params": (3, bits), "state": (2 * layers, bits)}
    drawn = {name: rng.random(shape).tolist() for name, shape in shapes.items()}
    return {**drawn, "sequence": rng.integers(0, 2, (length, bits)).astype(float).tolist()}


def lstm(given: Input) -> tuple[Made, Made]:
    def loss(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
        bits = sequence.shape[1]

        def step(state: Any, seen: Any) -> tuple[Any, Any]:
            now, gold = seen
            below, rows = now * extra[0], []
            for weight, bias, hidden, cell in zip(main[::2], main[1::2], state[::2], state[1::2], strict=True):
                gates = pullback.cat([below, hidden, below, hidden]) * weight + bias
                forget, inward, outward = (gates[i * bits : (i + 1) * bits].sigmoid() for i in range(3))
                cell = cell * forget + inward * gates[3 * bits :].tanh()  # noqa: PLW2901
                below = outward * cell.tanh()
                rows += [below, cell]
            guess = below * extra[1] + extra[2]
            return pullback.stack(rows), (gold * (guess - (guess.exp().sum() + 2).log())).sum()

        _, found = pullback.scan(step, state, (sequence[:-1], sequence[1:]))
        return -found.sum() / ((sequence.shape[0] - 1) * bits)

    def slope(*given: Any) -> Any:
        return pullback.cat([each.flatten() for each in func.grad(loss, (0, 1))(*given)])

    tensors = [real(given[name]) for name in ("main_params", "extra_params", "state", "sequence")]
    return called(loss, *tensors), called(slope, *tensors)


# A determinant by minors


def det_input(ell: int) -> Input:
    return {"A": np.random.default_rng(1).random(ell * ell).tolist(), "ell": ell}


def det(given: Input) -> tuple[Made, Made]:
    ell = given["ell"]

    def minor(a: Any, row: int, columns: list[int]) -> Any:
        if len(columns) == 1:
            return a[row, columns[0]]
        parts = [a[row, c] * minor(a, row + 1, [x for x in columns if x != c]) for c in columns]
        return sum(parts[2::2], parts[0]) - sum(parts[3::2], parts[1])

    def determinant(entries: Any) -> Any:
        return minor(entries.reshape(ell, ell), 0, [*range(ell)])

    entries = real(given["A"])
    return called(determinant, entries), called(func.grad(determinant), entries)


# Cameras and points


def ba_input(n: int, m: int, p: int) -> Input:
    rng = np.random.default_rng(1)
    cam = [*(0.1 * rng.normal(size=3)), *rng.normal(size=3), 300.0, 1.0, 2.0, 0.01, 0.001]
    return {"n": n, "m": m, "p": p, "cam": list(map(float, cam)), "x": [0.5, 0.4, 9.0], "w": 0.7, "feat": [3.0, 5.0]}


def projected(cam: Any, point: Any) -> Any:
    """Points as cameras see them; the last axis is that of coordinates."""
    turn, centre, focal, origin, bends = cam[..., :3], cam[..., 3:6], cam[..., 6:7], cam[..., 7:9], cam[..., 9:]
    square = (turn**2).sum(-1, keepdim=True)
    angle = pullback.where(square > 0, square, 1.0).sqrt()
    axis, x = turn / angle, point - centre
    across = (axis * x).sum(-1, keepdim=True)
    rotated = x * angle.cos() + pullback.linalg.cross(axis, x) * angle.sin() + axis * across * (1 - angle.cos())
    rotated = pullback.where(square > 0, rotated, x + pullback.linalg.cross(turn, x))
    flat = rotated[..., :2] / rotated[..., 2:]
    far = (flat**2).sum(-1, keepdim=True)
    return flat * (1 + bends[..., :1] * far + bends[..., 1:] * far * far) * focal + origin


def ba(given: Input) -> tuple[Made, Made]:
    n, m, p = (given[name] for name in "nmp")
    cams, points = real([given["cam"]] * n), real([given["x"]] * m)
    weights, features = real([given["w"]] * p), real([given["feat"]] * p)
    cameras, seen = (pullback.tensor(np.arange(p) % count) for count in (n, m))

    def error(cam: Any, x: Any, w: Any, feature: Any) -> Any:
        return w[..., None] * (projected(cam, x) - feature)

    def errors(cams: Any, points: Any, w: Any, features: Any) -> tuple[Any, Any]:
        return error(cams[cameras], points[seen], w, features).flatten(), 1 - w**2

    def entries(cams: Any, points: Any, w: Any, features: Any) -> Any:
        one = func.jacrev(error, (0, 1, 2))
        by_cam, by_point, by_weight = func.vmap(one)(cams[cameras], points[seen], w, features)
        return pullback.cat([pullback.cat([by_cam, by_point, by_weight[..., None]], 2).flatten(), -2 * w])

    tensors = cams, points, weights, features
    objective, jacobian = called(errors, *tensors), called(entries, *tensors)

    def answer() -> Any:
        reprojected, regular = objective()
        return {
            "reproj_error": {"elements": reprojected[:2], "repeated": p},
            "w_err": {"element": regular[0], "repeated": p},
        }

    def derivative() -> Any:
        found = jacobian()
        return {"vals": pullback.cat([found[:30], found[-1:]])}

    answer.timed, derivative.timed = objective, jacobian  # type: ignore[attr-defined]
    return answer, derivative


# A hand

BONES, FINGERS = 22, 5


def ht_input(count: int, *, complicated: bool, vertices: int = 544) -> Input:
    rng = np.random.default_rng(1)
    parents = [
        -1,
        *[0 if bone % 4 == 1 else bone - 1 for bone in range(1, BONES)],
    ]  # a wrist, five fingers of four bones, an arm
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[:, :3] += 0.1 * rng.normal(size=(BONES, 3, 4))
    weights = rng.random((vertices, BONES))
    model = {
        "bone_count": BONES, "bone_names": [f"bone{i}" for i in range(BONES)], "parents": parents,
        "base_relatives": relatives.tolist(), "inverse_base_absolutes": np.linalg.inv(relatives).tolist(),
        "base_positions": np.hstack([rng.normal(size=(vertices, 3)), np.ones((vertices, 1))]).tolist(),
        "weights": (weights / weights.sum(1, keepdims=True)).tolist(),
        "triangles": rng.integers(0, vertices, (2 * vertices, 3)).tolist(), "is_mirrored": False,
    }  # fmt: skip
    among = 2 * vertices if complicated else vertices
    data = {
        "model": model,
        "correspondences": rng.integers(0, among, count).tolist(),
        "points": rng.normal(size=(count, 3)).tolist(),
    }
    return {
        "theta": (0.3 * rng.normal(size=26)).tolist(),
        "data": data,
        "us": rng.random((count, 2)).tolist() if complicated else [],
    }


def rotation(turn: Any) -> Any:
    """The matrix of a rotation about an axis, by an angle that is its length."""
    angle = (turn**2).sum().sqrt()
    x, y, z = axis = turn / angle
    zero = pullback.zeros_like(x)
    cross = pullback.stack([zero, -z, y, z, zero, -x, -y, x, zero]).reshape(3, 3)
    outer = axis[:, None] * axis
    return outer + (pullback.eye(3, dtype=pullback.float64) - outer) * angle.cos() + cross * angle.sin()


def ht(given: Input) -> tuple[Made, Made]:
    data, model = given["data"], given["data"]["model"]
    names = ("base_relatives", "inverse_base_absolutes", "base_positions", "weights")
    relatives, inverses, base, weights = (real(model[name]) for name in names)
    angles = np.zeros((2, BONES), int)  # the places of each bone's angles about x and z in the parameters, 0 for none
    for finger in range(FINGERS):
        angles[0, 2 + 4 * finger : 5 + 4 * finger] = 6 + 4 * finger + np.array([0, 2, 3])
        angles[1, 2 + 4 * finger] = 7 + 4 * finger
    bent = real(angles > 0)
    corresponding, triangles = np.array(data["correspondences"]), np.array(model["triangles"])

    def vertices(theta: Any) -> Any:
        turns = theta[angles] * bent
        (cos_x, cos_z), (sin_x, sin_z) = turns.cos(), turns.sin()
        zero, one = pullback.zeros_like(cos_x), pullback.ones_like(cos_x)
        rows = [cos_z, -sin_z * cos_x, sin_z * sin_x, zero, sin_z, cos_z * cos_x, -cos_z * sin_x, zero]
        rows += [zero, sin_x, cos_x, zero, zero, zero, zero, one]
        posed = relatives @ pullback.stack(rows, 1).reshape(BONES, 4, 4)
        absolute: list[Any] = []
        for bone, parent in enumerate(model["parents"]):
            absolute.append(posed[bone] if parent < 0 else absolute[parent] @ posed[bone])
        moved = pullback.stack(absolute) @ inverses @ base.T
        found = (moved * weights.T[:, None]).sum(0)[:3].T
        return found @ rotation(theta[:3]).T + theta[3:6]

    points = real(data["points"])
    if not given["us"]:
        theta = real(given["theta"])

        def objective(theta: Any) -> Any:
            return (points - vertices(theta)[corresponding]).flatten()

        return called(objective, theta), called(func.jacfwd(objective), theta)
    corners = triangles[corresponding].T

    def error(us: Any, theta: Any) -> Any:
        a, b, c = (vertices(theta)[corner] for corner in corners)
        u, v = us.T[..., None]
        return (points - (u * a + v * b + (1 - u - v) * c)).flatten()

    def jacobian(us: Any, theta: Any) -> Any:
        """Each point has its own pair of us, so one direction of each serves all."""
        return func.jacfwd(lambda all: error(us + all[:2], theta + all[2:]))(pullback.zeros(28, dtype=pullback.float64))

    tensors = real(given["us"]), real(given["theta"])
    return called(error, *tensors), called(jacobian, *tensors)


OBJECTIVE, PRIMAL = ("objective", "jacobian"), ("primal", "gradient")


def cases() -> list[Case]:
    """All cases, each with its input."""
    return [
        Case("gmm", "d=2, k=5", OBJECTIVE, gmm_input(2, 5, 1000), gmm),
        Case("gmm", "d=10, k=25", OBJECTIVE, gmm_input(10, 25, 1000), gmm),
        Case("kmeans", "k=10, n=1000", ("cost", "dir"), kmeans_input(10, 1000, 8), kmeans),
        Case("kmeans", "k=100, n=10000", ("cost", "dir"), kmeans_input(100, 10000, 8), kmeans),
        Case("llsq", "n=128", PRIMAL, llsq_input(128), llsq),
        Case("llsq", "n=4096", PRIMAL, llsq_input(4096), llsq),
        Case("lse", "n=2500", PRIMAL, lse_input(2500), lse),
        Case("lse", "n=320000", PRIMAL, lse_input(320_000), lse),
        Case("ode", "n=1000, s=10", PRIMAL, ode_input(1000, 10), ode),
        Case("ode", "n=10000, s=100", PRIMAL, ode_input(10_000, 100), ode),
        Case("lstm", "l=2, c=1024", OBJECTIVE, lstm_input(2, 1024), lstm),
        Case("det", "ell=5", PRIMAL, det_input(5), det),
        Case("ba", "p=3000", OBJECTIVE, ba_input(49, 776, 3000), ba),
        Case("ht", "simple", OBJECTIVE, ht_input(100, complicated=False), ht),
        Case("ht", "complicated", OBJECTIVE, ht_input(100, complicated=True), ht),
    ]
