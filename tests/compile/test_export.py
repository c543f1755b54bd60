"""Export: what functions compute in C, under sanitizers, is what they compute here; what has no code is refused by name."""

import contextlib
import functools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

import pullback
from pullback import func, nn, ops, optim
from pullback.compile.export import coded, loops
from pullback.compile.export.errors import ExportError
from pullback.compile.program import Equation, Program, Value

from .. import samples
from . import exporting
from .exporting import GCC, bound_program, called, compiled_library, run_test, written_programs
from .near import DivisionByZeroError, assert_near, slack
from .programs import FLOATS, of_row, programs

ROOT = Path(__file__).parents[2]
needs_gcc = pytest.mark.skipif(GCC is None, reason="C is compiled by gcc, which is not installed")
# Without optimization nothing that is wrong is optimized away, and without tables for debuggers it takes a tenth of the time.
SANITIZED = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def numbers(*shape, seed=0, dtype=np.float32):
    return pullback.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


# Programs: each gives a compiled function and its arguments


def training(model, loss, optimizer, *args):
    """A step of training, after one that makes the optimizer's state."""
    opt = optimizer(model.parameters())

    def step(*args):
        opt.zero_grad()
        value = loss(model, *args)
        value.backward()
        opt.step()
        return value.detach()

    compiled = pullback.compile(step, fullgraph=True)
    step(*args)
    return compiled, args


def mlp_adam():
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
    labels = pullback.tensor(np.arange(32) % 4)
    return training(
        model,
        lambda m, x, t: nn.functional.cross_entropy(m(x), t),
        lambda p: optim.Adam(p, lr=1e-2),
        numbers(32, 16),
        labels,
    )


def convnet_sgd():
    pullback.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(24, 3),
    )
    labels = pullback.tensor(np.arange(4) % 3)
    return training(
        model,
        lambda m, x, t: nn.functional.cross_entropy(m(x), t),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        numbers(4, 1, 8, 8),
        labels,
    )


def layer(model, *args):
    """The value and the gradients of a model's squares."""

    def value(*args):
        out = model(*args)
        out = out[0] if isinstance(out, tuple) else out
        total = (out.tanh() * pullback.arange(out.numel(), dtype=out.dtype).reshape(out.shape).sin()).sum()
        return (total, *pullback.autograd.grad(total, [*model.parameters()]))

    return pullback.compile(value, fullgraph=True), args


def lstm_module():
    pullback.manual_seed(1)
    return layer(nn.LSTM(3, 5), numbers(6, 2, 3))


def gru_module():
    pullback.manual_seed(1)
    return layer(nn.GRU(3, 4), numbers(5, 2, 3))


def transformer_block():
    pullback.manual_seed(2)
    return layer(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), numbers(2, 5, 8))


def normalized():
    pullback.manual_seed(2)
    return layer(
        nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.SiLU(), nn.Linear(8, 2), nn.Softplus()), numbers(7, 6)
    )


def lstm_by_loop():
    w, u = numbers(20, 3, seed=1, dtype=float) * 0.3, numbers(20, 5, seed=2, dtype=float) * 0.3

    def loss(w, u, xs):
        h = c = pullback.zeros(5, dtype=pullback.float64)
        for x in xs:
            i, f, g, o = (w @ x + u @ h).reshape(4, 5)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return (h**2).sum()

    return pullback.compile(func.grad_and_value(loss, argnums=(0, 1))), (w, u, numbers(9, 3, dtype=float))


def pendulum_by_scan():
    def loss(x0, length):
        def step(state, _):
            angle, speed = state
            speed = speed - 0.01 * pullback.sin(angle) / length
            return (angle + 0.01 * speed, speed), angle

        (angle, _), path = pullback.scan(step, (x0[0], x0[1]), None, length=200)
        return (path**2).mean() + angle

    return pullback.compile(func.grad_and_value(loss, argnums=(0, 1))), (
        pullback.tensor([1.0, 0.0], dtype=pullback.float64),
        pullback.tensor(2.0, dtype=pullback.float64),
    )


def kalman_by_scan():
    a = pullback.tensor([[1.0, 0.1], [0.0, 1.0]], dtype=pullback.float64)

    def likelihood(noise, ys):
        def step(carry, y):
            mean, cov = carry
            mean, cov = a @ mean, a @ cov @ a.T + 0.01 * pullback.eye(2, dtype=pullback.float64)
            s = cov[0, 0] + noise
            gain = cov[:, 0] / s
            rest = y - mean[0]
            return (mean + gain * rest, cov - gain[:, None] * cov[0]), s.log() + rest**2 / s

        start = pullback.zeros(2, dtype=pullback.float64), pullback.eye(2, dtype=pullback.float64)
        return pullback.scan(step, start, ys)[1].sum()

    return pullback.compile(func.grad_and_value(likelihood)), (
        pullback.tensor(0.5, dtype=pullback.float64),
        numbers(30, dtype=float),
    )


def gaussian_process():
    def loss(log_scale, x, y):
        gaps = (x[:, None] - x) / log_scale.exp()
        k = pullback.exp(-0.5 * gaps**2) + 0.1 * pullback.eye(len(x), dtype=pullback.float64)
        lower = pullback.linalg.cholesky(k)
        z = pullback.linalg.solve_triangular(lower, y[:, None], upper=False)
        return 0.5 * (z**2).sum() + lower.diagonal().log().sum()

    x = numbers(12, dtype=float)
    return pullback.compile(func.grad_and_value(loss)), (
        pullback.tensor(0.2, dtype=pullback.float64),
        x,
        pullback.sin(x),
    )


def mixture():
    def loss(logits, means, x):
        parts = logits.log_softmax(0) - 0.5 * (x[:, None] - means) ** 2
        return -parts.logsumexp(1).mean()

    return pullback.compile(func.grad_and_value(loss, argnums=(0, 1))), (
        numbers(3, dtype=float),
        numbers(3, seed=1, dtype=float),
        numbers(600, seed=2, dtype=float),
    )


def physics_informed():
    w, v = numbers(16, dtype=float), numbers(16, seed=1, dtype=float)

    def residual(w, v, t):
        u = lambda t: (v * pullback.tanh(w * t)).sum()
        du = func.grad(u)
        return func.vmap(lambda t: func.grad(du)(t) + u(t))(t).pow(2).mean()

    return pullback.compile(func.grad_and_value(residual, argnums=(0, 1))), (w, v, numbers(20, seed=3, dtype=float))


def ode_jacobian():
    def path(p):
        x = pullback.stack([p[0], p[1]])
        found = []
        f = lambda x: pullback.stack([x[0] * (1.1 - x[1]), x[1] * (p[2] * x[0] - 0.4)])
        for _ in range(20):
            k1 = f(x)
            k2 = f(x + 0.05 * k1)
            x = x + 0.1 * k2
            found.append(x)
        return pullback.stack(found)

    return pullback.compile(func.jacfwd(path)), (pullback.tensor([1.0, 0.5, 0.3], dtype=pullback.float64),)


def control():
    def cost(u, x0):
        def step(x, u):
            x = x + 0.1 * pullback.stack([x[1], u - pullback.sin(x[0])])
            return x, (x**2).sum() + 0.1 * u**2

        return pullback.scan(step, x0, u)[1].sum()

    return pullback.compile(func.grad_and_value(cost)), (numbers(40, dtype=float), numbers(2, seed=1, dtype=float))


def hessian():
    f = lambda x: ((x[1:] - x[:-1] ** 2) ** 2).sum() + pullback.cos(x).prod()
    return pullback.compile(func.hessian(f)), (numbers(6, dtype=float),)


def ordering():
    def f(x, edges):
        values, places = x.sort(-1, descending=True)
        top = x.topk(3).values
        return values, places, top.sum(), x.median(), pullback.searchsorted(edges, x), x.argsort(0), x.cumsum(1)

    return pullback.compile(f), (numbers(4, 9, dtype=float), pullback.linspace(-1, 1, 5, dtype=pullback.float64))


def indexing():
    def f(x, i, j):
        y = x[i] * x[:, j].sum()
        z = x.index_add(0, i, y)
        return y, z.scatter_add(1, j[None].expand(4, 3), y[:4]), x.gather(1, j[None].expand(5, 3)), x[i, j[0]]

    i = pullback.tensor([0, 4, 2, 2, 1])
    return pullback.compile(f), (numbers(5, 6, dtype=float), i, pullback.tensor([5, 1, 1]))


def branches():
    def f(x):
        y = pullback.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x * 3, (x,))
        z = pullback.while_loop(lambda s: s.sum() < 50, lambda s: (s * 2 + 1,), (y.abs() + 1,))
        return y, z

    return pullback.compile(f), (numbers(5, dtype=float),)


def algebra():
    def f(a, b):
        spd = a @ a.T + pullback.eye(4, dtype=pullback.float64)
        sign, size = pullback.linalg.slogdet(a)
        return (
            pullback.linalg.solve(a, b),
            pullback.linalg.inv(a),
            pullback.linalg.det(a),
            sign,
            size,
            pullback.linalg.eigvalsh(spd),
        )

    return pullback.compile(f), (numbers(4, 4, dtype=float), numbers(4, 3, seed=1, dtype=float))


def integers():
    def f(i, b):
        return i // 3 if False else i * 7 - 3, (i > 2) & b, i.sum(), b.any(), i.to(pullback.float32).exp(), i.argmax()

    return pullback.compile(f), (pullback.tensor([[1, 5, -3], [2, 2, 9]]), pullback.tensor([True, False, True]))


PROGRAMS = [
    mlp_adam, convnet_sgd, lstm_module, gru_module, transformer_block, normalized, lstm_by_loop, pendulum_by_scan,
    kalman_by_scan, gaussian_process, mixture, physics_informed, ode_jacobian, control, hessian, ordering, indexing,
    branches, algebra, integers,
]  # fmt: skip


@needs_gcc
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_agree_under_sanitizers(program, tmp_path):
    compiled, args = program()
    folder = compiled.export(tmp_path / "out", *args, name="step")
    assert run_test(folder, "step", *SANITIZED).endswith("passed\n")


@needs_gcc
@pytest.mark.parametrize("program", [mlp_adam, mixture, ode_jacobian, pendulum_by_scan], ids=lambda f: f.__name__)
def test_bits_do_not_depend_on_optimization(program, tmp_path):
    compiled, args = program()
    found = []
    for number, flags in enumerate((("-O0",), ("-O3", "-fno-math-errno", "-fno-trapping-math"), ("-Os",))):
        folder = compiled.export(tmp_path / f"out{number}", *args, name="step")
        step = compiled_library(folder, "step", flags).step
        results = step(*[arg.numpy() for arg in args], *rates(step, len(args)))
        found.append(results if type(results) is tuple else (results,))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two, strict=True)


@needs_gcc
def test_a_step_learns_as_it_does_here(tmp_path):
    compiled, (x, labels) = mlp_adam()
    step = compiled_library(compiled.export(tmp_path / "out", x, labels, name="step"), "step").step
    theirs = [float(step(x.numpy(), labels.numpy(), *rates(step))) for _ in range(20)]
    ours = [compiled(x, labels).item() for _ in range(20)]
    np.testing.assert_allclose(theirs, ours, rtol=1e-4)
    assert theirs[-1] < 0.5 * theirs[0]


def rates(step, count=2):
    """What a step takes besides its tensors: learning rates."""
    return [np.array(0.01) for _ in step.table["arguments"][count:]]


@needs_gcc
def test_a_failed_check_leaves_the_state(tmp_path):
    compiled, (x, labels) = mlp_adam()
    step = compiled_library(compiled.export(tmp_path / "out", x, labels, name="step"), "step").step
    before = step.state.tobytes()
    with pytest.raises(ValueError, match="check 1 failed"):
        step(x.numpy(), labels.numpy() + 3, *rates(step))
    assert step.state.tobytes() == before
    with pytest.raises(ValueError, match=r"args_0 is to be float32\[32, 16\]"):
        step(x.numpy()[:3], labels.numpy(), *rates(step))


@needs_gcc
@pytest.mark.parametrize("options", [{"math": "libm"}, {"work": "static"}, {"fma": True}], ids=str)
def test_options(options, tmp_path):
    compiled, args = mlp_adam()
    folder = compiled.export(tmp_path / "out", *args, name="step", **options)
    flags = ("-O2", "-mfma") if "fma" in options else ("-O2",)
    assert run_test(folder, "step", *flags).endswith("passed\n")
    text = (folder / "step.c").read_text()
    assert ("pb_tanh" in text) is ("math" not in options)


def test_what_has_no_code_is_named_with_its_lines_and_nothing_is_written(tmp_path):
    def f(x):
        y = pullback.special.zeta(x, x)
        return y + pullback.special.airy_ai(x), pullback.linalg.svdvals(x[None])

    with pytest.raises(ExportError) as refusal:
        pullback.compile(f).export(tmp_path / "out", numbers(3, dtype=float))
    assert not (tmp_path / "out").exists()
    for name in ("zeta", "airy", "svdvals"):
        assert name in str(refusal.value)
    assert str(refusal.value).count("test_export.py") == 3


@pytest.mark.parametrize("wrong", [{"math": "fast"}, {"products": "mkl"}, {"work": "heap"}], ids=str)
def test_options_that_are_not_known_are_refused(wrong, tmp_path):
    with pytest.raises(ValueError, match="is not known: use"):
        pullback.compile(lambda x: x * 2).export(tmp_path / "out", numbers(3), **wrong)


def test_the_call_is_taken_back(tmp_path):
    compiled, args = mlp_adam()
    before = [cell.cell_contents for cell in compiled.function.__closure__]
    model = (
        next(each for each in before if isinstance(each, nn.Module))
        if any(isinstance(e, nn.Module) for e in before)
        else None
    )
    old = [] if model is None else [p.detach().clone() for p in model.parameters()]
    compiled.export(tmp_path / "out", *args)
    for one, two in zip(old, [] if model is None else model.parameters(), strict=True):
        np.testing.assert_array_equal(one.numpy(), two.detach().numpy())


@needs_gcc
def test_products_with_few_columns(tmp_path):
    """They are computed turned where rows of the left factor lie side by side, and sums have the same order."""
    a, b = numbers(37, 20, dtype=float), numbers(37, 3, seed=1, dtype=float)
    folder = pullback.compile(lambda a, b: (a.T @ b, a.T.contiguous() @ b)).export(tmp_path / "out", a, b, name="f")
    assert "_turned(" in (folder / "f.c").read_text()
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")
    turned, straight = compiled_library(folder, "f").f(np.array(a), np.array(b))
    np.testing.assert_array_equal(turned, straight)
    np.testing.assert_allclose(turned, np.array(a.T @ b), rtol=1e-12, atol=1e-13)


@needs_gcc
def test_nests_over_short_axes_have_far_numbers_and_none(tmp_path):
    """A nest that adds up along short axes takes the cosines first, of which some need more digits of pi."""
    x = numbers(2, 3, 80, dtype=float).reshape(-1)
    x[::7] = pullback.tensor([1e5, 1e22, -3e300, np.inf, np.nan, -0.0, 1e-310], dtype=pullback.float64).repeat(20)[:69]

    def f(x, b):
        inner = 3 * (x + b)
        made = inner.cos() * x[:, :1].abs().sqrt().sin()
        return made, made.nan_to_num().sum((0, 1)), (made * 2).sin().nan_to_num().sum((0, 1))

    args = x.reshape(2, 3, 80), numbers(80, seed=1, dtype=float)
    folder = pullback.compile(f).export(tmp_path / "out", *args)
    assert "far |= " in (folder / "f.c").read_text()
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")
    for found, expected in zip(compiled_library(folder, "f").f(*map(np.array, args)), f(*args), strict=True):
        np.testing.assert_allclose(found, np.array(expected), rtol=1e-12, atol=1e-13)


@needs_gcc
def test_running_values_are_carried_in_doubles(tmp_path):
    x = pullback.full((3, 6000), 0.1)
    x[:, ::3] = 1e-25
    x[:, 1::3] = 1e25

    def f(x):
        return x.cumsum(1), x.cumprod(1)

    library = compiled_library(pullback.compile(f).export(tmp_path / "out", x), "f")
    for found, expected in zip(library.f(np.array(x)), f(x), strict=True):
        np.testing.assert_array_equal(found, np.array(expected))


@needs_gcc
def test_operations_of_nothing(tmp_path):
    """Products without terms, and what else is known of empty arrays alone, under sanitizers."""
    x, w = pullback.zeros(0, 3), pullback.zeros(0, 4)

    def f(x, w):
        gram = x.T @ x
        return (
            x.T @ w + 1,
            x @ gram,
            gram.det(),
            x[:, :0].T.mean(1),
            w.T @ x.sum(1),
            pullback.func.grad(lambda x: (x.T @ w).sum())(x),
        )

    folder = pullback.compile(f).export(tmp_path / "out", x, w)
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")
    for found, expected in zip(compiled_library(folder, "f").f(np.array(x), np.array(w)), f(x, w), strict=True):
        np.testing.assert_array_equal(found, np.array(expected), strict=True)


@needs_gcc
def test_the_sign_of_zero_is_kept_by_running_sums_and_copies(tmp_path):
    x = pullback.tensor([[-0.0, 0.0, -0.0], [-0.0, -0.0, 1.0]])

    def f(x):
        windows = pullback.nn.functional.unfold(x[None, None], (1, 2))
        return x.cumsum(1), x.cumsum(0), pullback.einsum("ij->ji", x), windows

    for found, expected in zip(
        compiled_library(pullback.compile(f).export(tmp_path / "out", x), "f").f(np.array(x)), f(x), strict=True
    ):
        np.testing.assert_array_equal(np.signbit(found), np.signbit(np.array(expected)))


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigenvalues_of_matrices_of_any_size_of_numbers(dtype, tmp_path):
    """Squares of their elements overflow, or are lost; of numbers that are none all is NaN."""
    x = numbers(4, 4, dtype=dtype)
    library = compiled_library(pullback.compile(pullback.linalg.eigvalsh).export(tmp_path / "out", x, name="f"), "f")
    expected = pullback.linalg.eigvalsh(x).numpy()
    for power in (-30, -20, 20, 36) if dtype is np.float32 else (-300, -160, 160, 300):
        scale = dtype(10.0**power)
        np.testing.assert_allclose(
            library.f(np.array(x) * scale) / scale, expected, rtol=2e-5 if dtype is np.float32 else 1e-12
        )
    assert np.isnan(library.f(np.full((4, 4), np.inf, dtype))).all()


@needs_gcc
def test_a_matrix_that_is_not_positive_definite_has_no_factor(tmp_path):
    """Where no check is made, all of it is NaN; a NaN spreads to what depends on it alone."""
    x = pullback.tensor([[4.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, -3.0]])

    def f(x):
        return pullback.linalg.cholesky_ex(x).L

    library = compiled_library(pullback.compile(f).export(tmp_path / "out", x), "f")
    for each in (
        x,
        x.index_put((pullback.tensor(2), pullback.tensor(2)), pullback.tensor(math.nan)),
        x + 3 * pullback.eye(3),
    ):
        np.testing.assert_allclose(library.f(np.array(each)), np.array(f(each)), rtol=1e-6)


# Every operation, and random programs


@needs_gcc
def test_operations(tmp_path):
    made = []
    for number, row in enumerate(samples.rows()):
        for dtype in FLOATS[number % 2 :][:1]:
            program, arrays = of_row(row, dtype)
            try:
                exporting.planned(bound := bound_program(f"f{number}", program, arrays))
            except ExportError:
                continue
            made.append((bound, program, arrays))
    assert len({equation.name for _, program, _ in made for equation in program.equations}) >= 200
    for start in range(0, len(made), 200):
        part = made[start : start + 200]
        folder = written_programs(tmp_path / str(start), [bound for bound, _, _ in part])
        library = compiled_library(folder, flags=("-O0",))  # gcc optimizes random programs, below
        for bound, program, arrays in part:
            with contextlib.suppress(DivisionByZeroError):
                assert_near(called(library, bound), [(y, 2 * gap) for y, gap in slack(program, arrays)])


@needs_gcc
@settings(max_examples=25, deadline=None)
@given(made=programs(special=False))
def test_random_programs(made, tmp_path_factory):
    program, arrays = made
    program = program.changed(guards=())
    assume(all(equation.name != "gelu" for equation in program.equations))
    try:
        allowed = slack(program, arrays)
    except DivisionByZeroError:
        return
    bound = bound_program("f", program, arrays)
    try:
        exporting.planned(bound)
    except ExportError:
        return
    folder = written_programs(tmp_path_factory.mktemp("random"), [bound])
    assert_near(called(compiled_library(folder), bound), allowed)


def test_the_page_names_what_has_code_of_its_own():
    page = (ROOT / "docs/how-to/export.md").read_text(encoding="utf-8")
    for name in (*coded.KERNELS, *loops.WRITERS):
        assert f"`{name}`" in page, f"name {name} on docs/how-to/export.md"


def test_without_llvmlite(tmp_path):
    """Planning and writing need NumPy alone."""
    text = f"""
import sys
sys.modules["llvmlite"] = None
import pullback
f = pullback.compile(lambda x: (x.exp() @ x.T).sum())
folder = f.export({str(tmp_path / "out")!r}, pullback.ones(3, 4), name="f")
assert (folder / "f.c").exists()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=True, timeout=100)


@needs_gcc
def test_the_command_exports_a_function_of_a_script(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("""
import pullback
w = pullback.ones(3)

@pullback.compile
def energy(x):
    return (w * x).exp().sum()

energy(pullback.arange(3.0))
""")
    command = [
        sys.executable,
        "-m",
        "pullback",
        "export",
        f"{script}:energy",
        "-o",
        str(tmp_path / "out"),
        "--math",
        "libm",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert "energy.c" in done.stdout
    assert run_test(tmp_path / "out", "energy", "-O1").endswith("passed\n")
    command[4] = f"{script}:power"
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (1, "pullback export: power is not there\n")


@needs_gcc
def test_empty_arrays_and_numbers_that_are_none_are_recorded(tmp_path):
    f = pullback.compile(lambda x, none: (x.log(), 1 / x, none * 2, none.sum()))
    folder = f.export(tmp_path / "out", pullback.tensor([-1.0, 0.0, 2.0]), pullback.zeros(0, 3), name="f")
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")


@needs_gcc
def test_the_smallest_numbers_are_recorded(tmp_path):
    x = pullback.tensor([5e-324, -1e-310, 0.0, -0.0], dtype=pullback.float64)
    folder = pullback.compile(lambda x: (x.asin(), x * 3, x.float())).export(tmp_path / "out", x, name="f")
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")


@needs_gcc
def test_a_function_and_arguments_may_have_names_of_c_and_of_the_file(tmp_path):
    def exp(t0, i0, failed, a, y, p0):
        return (t0 * i0).sin() + a, pullback.linalg.inv(y) @ y, failed.sum() * p0.cumsum(0), a[failed.argsort()]

    args = [numbers(3, seed=seed, dtype=float) for seed in range(4)]
    folder = pullback.compile(exp).export(tmp_path / "out", *args, numbers(3, 3, dtype=float), numbers(3, dtype=float))
    assert run_test(folder, "exp_", *SANITIZED).endswith("passed\n")


def test_names_of_c_are_not_taken(tmp_path):
    folder = pullback.compile(lambda double, state: double * state).export(tmp_path / "out", numbers(2), numbers(2))
    header = (folder / "lambda.h").read_text()
    assert "const float double_[2]" in header
    assert "const float state_[2]" in header


def test_what_cannot_be_recorded_has_no_size_or_no_kind_says_so(tmp_path):
    def grown(model, x):
        model.seen = pullback.cat([model.seen, x])
        return model.seen.sum()

    model = nn.Module()
    model.register_buffer("seen", pullback.zeros(2))
    for function, args, told in (
        (
            lambda x: [x, object()],
            (numbers(3),),
            "cannot be exported, because the function returns a new object, which is not looked into: return",
        ),
        (
            functools.partial(grown, model),
            (numbers(3),),
            "and the call puts float32.5. there: memory in C has one size",
        ),
        (lambda x: x + 1, (pullback.ones(2, dtype=pullback.float16),), "is float16, which C lacks"),
    ):
        with pytest.raises(ExportError, match=told):
            pullback.compile(function).export(tmp_path / "out", *args)
        assert not (tmp_path / "out").exists()


@needs_gcc
def test_names_of_c_of_cplusplus_and_of_the_file_in_all_places(tmp_path):
    def distance(NAN, virtual, distance_loop0, d, worst, isnan, fmaxf, export):
        d.add_(1)
        worst.mul_(2)
        return NAN + virtual * distance_loop0.exp(), d + worst, isnan * fmaxf - export.sort().values

    folder = pullback.compile(distance).export(tmp_path / "out", *[numbers(3, seed=seed) for seed in range(8)])
    assert run_test(folder, "distance", *SANITIZED).endswith("passed\n")
    program = tmp_path / "main.cpp"
    program.write_text(f'#include "{folder / "distance.h"}"\nint main() {{ return 0; }}\n')
    subprocess.run(["g++", "-fsyntax-only", str(program)], check=True, timeout=100)


@needs_gcc
@pytest.mark.parametrize("name", ["puts", "isnan", "fmax", "memmove", "NAN", "try"])
def test_a_function_is_not_one_of_the_library(name, tmp_path):
    folder = pullback.compile(lambda x: x.exp()).export(tmp_path / "out", numbers(3), name=name)
    assert run_test(folder, f"{name}_").endswith("passed\n")


def test_names_in_other_scripts_are_names_of_c(tmp_path):
    scope = {}
    exec("def f(\u03c3, \u00e9t\u00e9, \u65e5): return \u03c3 * \u00e9t\u00e9 + \u65e5", scope)
    folder = pullback.compile(scope["f"]).export(tmp_path / "\u03a9", *[numbers(2, seed=n) for n in range(3)])
    head = (folder / "f.h").read_text().partition("int f")[2].partition(";")[0]
    assert head == "(const float sigma[2], const float ete[2], const float ideograph_65e5[2], float out[2])"


@needs_gcc
def test_lines_with_signs_of_comments(tmp_path):
    texts = {"w*/ /*": pullback.ones(3)}

    def f(x):
        y = x * texts["w*/ /*"]  # /* and */
        texts["w*/ /*"].add_(1)
        return y.exp()

    assert run_test(pullback.compile(f).export(tmp_path / "out", numbers(3)), "f").endswith("passed\n")


@needs_gcc
def test_arguments_and_views_of_them_are_results(tmp_path):
    def f(untouched, x, y):
        y.add_(1)
        return x, x[1:], x + y, y, untouched

    args = numbers(2), numbers(3), numbers(3, seed=1)
    expected = f(*[x.clone() for x in args])
    folder = pullback.compile(f).export(tmp_path / "out", *args)
    found = compiled_library(folder, "f").f(*[np.array(x) for x in args])
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, np.array(other))


INTEGERS = {
    "a sign of what has none": lambda x: x.to(pullback.uint8).sign(),
    "sums of small ones": lambda x: x.to(pullback.int16).diff(dim=0),
    "a scan of nothing": lambda x: pullback.scan(lambda c, r: (c + r, c), x[:, :0][0], x[:, :0])[1],
    "a condition as a number": lambda x: (x > 0).to(pullback.int64) + 1,
    "rows with NaN": lambda x: pullback.searchsorted(x.double().log().sort(-1).values, x.double().log()),
    "quotients and divisors": lambda x: pullback.div(x, -2, rounding_mode="floor") + pullback.gcd(x, x.flip(0) * 6),
    "sizes that are none": lambda x: pullback.cat([x[:0], x, x[3:]]),
    "small ones of reals": lambda x: (x * 77.7).to(pullback.int8) + (x.abs() * 300.5).to(pullback.uint16),
    "itself": lambda x: (x == x) & (x <= x),
    "nothing": lambda x: x[:, :0],
    "a place that a number says": lambda x: x.flatten().index_put((x[0, 0],), x[1, 2]),
    "a line with NaN": lambda x: pullback.searchsorted(x.double().log()[0].sort().values, x.double().log()[0]),
}


@needs_gcc
@pytest.mark.parametrize("f", INTEGERS.values(), ids=INTEGERS)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_no_warnings_and_the_same_numbers(f, tmp_path):
    x = pullback.tensor([[1, -3, 2], [0, 5, -1], [-2, 7, 0]])
    folder = pullback.compile(f).export(tmp_path / "out", x, name="f")
    assert run_test(folder, "f", *SANITIZED).endswith("passed\n")
    np.testing.assert_array_equal(compiled_library(folder, "f").f(np.array(x)), np.array(f(x)))


def test_places_that_are_no_int_are_refused(tmp_path):
    x, y = Value((1 << 16, 1 << 15), np.dtype(np.float32)), Value((), np.dtype(np.float32))
    program = Program((x,), (Equation(ops.getitem, (x,), {"index": (0, 0)}, (y,)),), (y,))
    bound = bound_program("f", program, [np.broadcast_to(np.float32(1), x.shape)])
    with pytest.raises(ExportError, match="has 2,147,483,648 elements, and indices in C go to 2,147,483,647"):
        written_programs(tmp_path, [bound])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, ["without dependencies", "no global state", "Threads may", "`-lm`"]),
        ({"work": "static", "products": "cblas"}, ["that calls CBLAS", "static work memory", "One thread may"]),
    ],
)
def test_the_readme_says_what_the_options_need(options, said, tmp_path):
    folder = pullback.compile(lambda x: x.exp()).export(tmp_path / "out", numbers(3), **options)
    text = (folder / "README.md").read_text()
    assert all(each in text for each in said)
