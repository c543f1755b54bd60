"""Programs that use HIPS autograd, or packages built on it: each gives numbers that are the same under autograd and under pullback.

`scripts/programs --autograd [NAME ...]` runs them in processes of their own, with autograd and with pullback in turns, and prints
how they compare. Each is repeated in its process, and its time is the least of processor time.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

PROGRAMS = {}
ROUNDS, SECONDS = 3, 0.3
"""How often each side runs, and for how long a program is repeated."""


def program(function):
    """A program, under its name: it returns a function to be timed, which returns numbers."""
    PROGRAMS[function.__name__] = function
    return function


def _state(system, position):
    import mici

    momentum = np.linspace(-1.0, 1.0, len(position))
    state = mici.states.ChainState(pos=position, mom=momentum, dir=1)
    state.mom = system.project_onto_cotangent_space(momentum, state) if hasattr(system, "constr") else momentum
    return state


def _steps(system, integrator, position, count):
    state = _state(system, position)
    for _ in range(count):
        state = integrator.step(state)
    return [*state.pos, *state.mom]


@program
def mici_leapfrog():
    import autograd.numpy as anp
    import mici

    def density(q):
        return 0.5 * anp.sum(q**2 / (1 + anp.arange(10))) + 0.1 * anp.sum(q**4) + anp.log(1 + anp.exp(q[0] * q[1]))

    def run():
        system = mici.systems.EuclideanMetricSystem(density, backend="autograd")
        return _steps(system, mici.integrators.LeapfrogIntegrator(system, 0.05), np.linspace(-1.0, 1.0, 10), 100)

    return run


@program
def mici_constrained():
    import autograd.numpy as anp
    import mici

    def constraint(q):
        x, y, z = q
        return anp.array([z**2 + ((x**2 + y**2) ** 0.5 - 1.0) ** 2 - 0.25])

    def run():
        system = mici.systems.DenseConstrainedEuclideanMetricSystem(
            lambda q: 0.5 * anp.sum(q**2) + anp.sin(q[0]), constraint, backend="autograd"
        )
        integrator = mici.integrators.ConstrainedLeapfrogIntegrator(system, 0.05)
        return _steps(system, integrator, np.array([1.5, 0.0, 0.0]), 30)

    return run


@program
def mici_sampler():
    import autograd.numpy as anp
    import mici

    def density(q):
        return anp.sum((q[1:] - q[:-1] ** 2) ** 2) + 0.5 * (1 - q[0]) ** 2 + 0.05 * anp.sum(q**2)

    def run():
        system = mici.systems.EuclideanMetricSystem(density, backend="autograd")
        sampler = mici.samplers.DynamicMultinomialHMC(
            system, mici.integrators.LeapfrogIntegrator(system, 0.1), np.random.default_rng(1)
        )
        found = sampler.sample_chains(0, 20, [np.zeros(5)], display_progress=False)
        return found.final_states[0].pos

    return run


def _objective():
    import autograd.numpy as anp

    anp.product = anp.prod  # a name of NumPy 1, which paragami uses
    import paragami

    pattern = paragami.PatternDict()
    pattern["mean"] = paragami.NumericVectorPattern(length=3)
    pattern["cov"] = paragami.PSDSymmetricMatrixPattern(size=3)
    pattern["weights"] = paragami.SimplexArrayPattern(array_shape=(2,), simplex_size=3)
    rows = np.random.default_rng(1).standard_normal((20, 3))

    def loss(par):
        away = rows - par["mean"]
        quadratic = anp.sum(away * anp.linalg.solve(par["cov"], away.T).T)
        fit = 0.5 * quadratic + 10 * anp.linalg.slogdet(par["cov"])[1]
        return fit - anp.sum(anp.log(par["weights"])) + anp.sum(par["mean"] ** 2)

    return paragami.FlattenFunctionInput(loss, patterns=pattern, free=True), np.linspace(-0.3, 0.3, 13)


@program
def paragami_gradient():
    import autograd

    objective, x = _objective()
    return lambda: autograd.grad(objective)(x)


@program
def paragami_hessian():
    import autograd

    objective, x = _objective()
    return lambda: autograd.hessian(objective)(x).ravel()


@program
def autoptim_rosenbrock():
    import autoptim

    def rosenbrock(x):
        return sum(100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))

    return lambda: autoptim.minimize(rosenbrock, np.zeros(6), method="BFGS", options={"maxiter": 25})[0]


@program
def autoptim_several():
    import autograd.numpy as anp
    import autoptim

    rows = np.random.default_rng(1).standard_normal((20, 3))

    def loss(weights, bias, rows):
        return anp.mean(anp.log(1 + anp.exp(anp.dot(rows, weights) + bias))) + anp.sum(weights**2)

    return lambda: [
        *np.concatenate([
            np.ravel(part)
            for part in autoptim.minimize(loss, [np.ones(3), np.ones(1)], args=(rows,), options={"maxiter": 12})[0]
        ])
    ]  # fmt: skip


def _grating(count):
    import autograd.numpy as anp
    import grcwa

    grcwa.set_backend("autograd")

    def reflected(x):
        cell = grcwa.obj(count, [1.0, 0.0], [0.0, 1.0], 1.0, 0.2, 0.0, verbose=0)
        cell.Add_LayerUniform(1.0, 1.0)
        if len(x) > 1:
            cell.Add_LayerGrid(0.3, 8, 8)
        else:
            cell.Add_LayerUniform(0.3, x[0])
        cell.Add_LayerUniform(1.0, 1.0)
        cell.Init_Setup()
        if len(x) > 1:
            cell.GridLayer_geteps(x)
        cell.MakeExcitationPlanewave(1.0, 0.0, 0.0, 0.0, order=0)
        return anp.real(cell.RT_Solve(normalize=1)[0])

    return reflected


@program
def grcwa_slab():
    import autograd

    gradient = autograd.grad(_grating(11))
    return lambda: gradient(np.array([3.0]))


@program
def grcwa_grid():
    import autograd

    gradient = autograd.grad(_grating(21))
    x = 1 + 3 * np.random.default_rng(1).random(64)
    return lambda: gradient(x)


@program
def legume_waves():
    import autograd
    import autograd.numpy as anp
    import legume

    legume.set_backend("autograd")

    def bands(radius):
        lattice = legume.Lattice("square")
        layer = legume.ShapesLayer(lattice, eps_b=1.0)
        layer.add_shape(legume.Circle(eps=9.0, r=radius))
        waves = legume.PlaneWaveExp(layer, gmax=3)
        waves.run(kpoints=np.array([[0.3], [0.2]]), pol="te", numeig=3)
        return anp.sum(anp.array(waves.freqs[0]))

    gradient = autograd.grad(bands)
    return lambda: [gradient(0.2)]


def _model(kind, **options):
    import ssm

    np.random.seed(1)  # the generator that ssm uses
    return kind(ssm)(**options)


def _observed():
    return np.cumsum(np.random.default_rng(1).standard_normal((60, 4)), axis=0) * 0.3


@program
def ssm_hmm_em():
    return lambda: _model(lambda ssm: ssm.HMM, K=3, D=4).fit(_observed(), method="em", num_iters=5, verbose=0)


@program
def ssm_hmm_adam():
    return lambda: _model(lambda ssm: ssm.HMM, K=3, D=4).fit(_observed(), method="adam", num_iters=20, verbose=0)


@program
def ssm_arhmm():
    return lambda: _model(lambda ssm: ssm.HMM, K=3, D=4, observations="ar").fit(
        _observed(), method="em", num_iters=5, verbose=0
    )


def _laplace(kind, **options):
    model = _model(kind, N=4, D=2, **options)
    return model.fit(_observed(), method="laplace_em", num_iters=2, initialize=False, verbose=0)[0]


@program
def ssm_lds():
    return lambda: _laplace(lambda ssm: ssm.LDS, emissions="gaussian")


@program
def ssm_slds():
    return lambda: _laplace(lambda ssm: ssm.SLDS, K=2, emissions="gaussian")


@program
def autograd_gamma_gradients():
    import autograd
    import autograd_gamma

    def value(x):
        return autograd_gamma.gammainc(x[0], 1.5) + autograd_gamma.gammaincc(x[1], x[2]) + autograd_gamma.betainc(*x)

    return lambda: autograd.grad(value)(np.array([0.5, 1.5, 0.3]))


def _repeated(function):
    """The numbers that a function gives, and the least processor time of its calls."""
    numbers = [float(np.real(each)) for each in np.ravel(function())]
    times, began = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - began < SECONDS:
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return {"numbers": numbers, "seconds": min(times)}


def one(name, stands_in):
    """Run a program here, with pullback in autograd's place or without, and print a line of JSON."""
    if stands_in:
        from pullback.compat import autograd

        autograd.install()
    print(json.dumps(_repeated(PROGRAMS[name]())), flush=True)


def _result(name, *under):
    command = [sys.executable, "-W", "ignore", "-m", __package__, "--autograd", "--one", name, *under]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": done.stderr.strip().rpartition("\n")[2][:150]}


def main(names):
    """Print how each program compares; 1 if one fails, or gives other numbers."""
    wrong, ratios = 0, []
    for name in names or PROGRAMS:
        pairs = [(_result(name), _result(name, "--under")) for _ in range(ROUNDS)]
        theirs, ours = pairs[0]
        if "error" in theirs or "error" in ours:
            print(f"{name:28} autograd {theirs.get('error', 'runs')}; pullback {ours.get('error', 'runs')}", flush=True)
            wrong += "error" not in theirs
            continue
        a, b = np.array(theirs["numbers"]), np.array(ours["numbers"])
        off = np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-3)) if a.shape == b.shape else np.inf
        wrong += not off < 1e-6
        ratios.append(statistics.median(o["seconds"] / t["seconds"] for t, o in pairs))
        text = f"{off:.0e}, {theirs['seconds'] * 1e3:.2f} ms, times {ratios[-1]:.2f}"
        print(f"{name:28} {'equal' if off < 1e-6 else 'different':12} {text}", flush=True)
    if ratios:
        print(f"time over autograd's: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
    return int(wrong > 0)
