"""C of `Compiled.export` beside the C that CasADi generates of the same functions: time of a call, size, the processor's seconds to
compile.

    python benchmarks/casadi_code.py

It needs casadi and gcc. Both are compiled with the same flags, and called in turns by the same loop, of whose
rounds the quickest counts; values are compared.
"""

import ctypes
import functools
import resource
import subprocess
import tempfile
from pathlib import Path

import casadi as ca
import numpy as np

import pullback
from pullback import func

F64 = pullback.float64
FLAGS = "-std=c99 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC".split()
ROUNDS = 60
LOOP = """#define _POSIX_C_SOURCE 199309L
#include <time.h>
{declared}
double timed(const void *const *a, int count);
double timed(const void *const *a, int count)
{{
    struct timespec began, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (int i = 0; i < count; ++i) {call};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    return ((double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec)) / count;
}}
"""


class Built:
    """A function in C: how long it took to compile, how large it is, and calls of it."""

    def __init__(self, folder, source, declared, call, arrays):
        (folder / "loop.c").write_text(LOOP.format(declared=declared, call=call))
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(["gcc", *FLAGS, "-c", source, "-o", "function.o"], cwd=folder, check=True)
        self.seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        subprocess.run(
            ["gcc", *FLAGS, "-shared", "loop.c", "function.o", "-o", "loop.so", "-lm"], cwd=folder, check=True
        )
        told = subprocess.run(["size", "function.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
        self.text = int(told.splitlines()[1].split()[0])
        self.call = ctypes.CDLL(str(folder / "loop.so")).timed
        self.call.restype = ctypes.c_double
        self.pointers = (ctypes.c_void_p * len(arrays))(*[each.ctypes.data for each in arrays])
        self.arrays = arrays

    def time(self, seconds=0.005):
        """The processor's seconds for a call."""
        one = self.call(self.pointers, 2)
        return self.call(self.pointers, max(3, int(seconds / one)))


def ours(folder, function, args, **options):
    """Our C."""
    pullback.compile(function).export(folder, *args, name="ours", **options)
    header = (folder / "ours.h").read_text()
    count = header.partition("int ours(")[2].partition(";")[0].count(",") + 1
    results = [np.zeros(max(y.numel(), 1)) for y in function(*args)]
    arrays = [*[np.ascontiguousarray(x.numpy()) for x in args], *results]
    arrays += [np.zeros(1 << 20, np.uint8)] * (count - len(arrays))  # work memory
    call = f"ours({', '.join(f'(void *)a[{number}]' for number in range(count))})"
    return Built(folder, "ours.c", '#include "ours.h"', call, arrays), results


def theirs(folder, function, args):
    """CasADi's C."""
    function.generate("theirs.c", {"with_header": True})
    for file in ("theirs.c", "theirs.h"):
        Path(file).rename(folder / file)
    results = [np.zeros(function.nnz_out(number)) for number in range(function.n_out())]
    given = [np.asarray(x.numpy()).reshape(-1).copy() for x in args]  # the columns of CasADi are rows of ours
    room, whole = np.zeros(function.sz_w() + 1), np.zeros(function.sz_iw() + 1, np.int64)
    rows = [(ctypes.c_void_p * (size + 1))(*[each.ctypes.data for each in arrays])
            for size, arrays in ((function.sz_arg(), given), (function.sz_res(), results))]  # fmt: skip
    held = [np.frombuffer(row, np.uint64) for row in rows]
    call = "theirs((const double **)(void *)a[0], (double **)(void *)a[1], (void *)a[2], (void *)a[3], 0)"
    built = Built(folder, "theirs.c", '#include "theirs.h"', call, [*held, whole, room])
    built.kept = rows, given, results
    return built, results


def nine():
    """Nine operations on nine numbers: the value and both gradients."""

    def f(w, x):
        y = pullback.sin(w * x) + pullback.exp(-w * w)
        return (y * pullback.tanh(x) / (1 + x * x)).sum()

    def both(w, x):
        slopes, value = func.grad_and_value(f, argnums=(0, 1))(w, x)
        return (value, *slopes)

    pullback.manual_seed(0)
    args = pullback.randn(9, dtype=F64), pullback.randn(9, dtype=F64)
    w, x = ca.SX.sym("w", 9), ca.SX.sym("x", 9)
    value = ca.sum1((ca.sin(w * x) + ca.exp(-w * w)) * ca.tanh(x) / (1 + x * x))
    return both, args, {"SX": ca.Function("theirs", [w, x], [value, ca.gradient(value, w), ca.gradient(value, x)])}


def orbit():
    """Lotka and Volterra's equations by 50 steps of Runge and Kutta's: residuals, and their Jacobian by six parameters."""

    def rate(s, p):
        return pullback.stack([p[0] * s[0] - p[1] * s[0] * s[1], p[2] * s[0] * s[1] - p[3] * s[1]])

    def residual(p, data):
        def step(s, _):
            a = rate(s, p)
            b = rate(s + 0.05 * a, p)
            c = rate(s + 0.05 * b, p)
            s = s + 0.1 / 6 * (a + 2 * b + 2 * c + rate(s + 0.1 * c, p))
            return s, s

        _, path = pullback.scan(step, p[4:6], length=50)
        return (pullback.cat([p[None, 4:6], path]) - data).reshape(-1)

    def both(p, data):
        return residual(p, data), func.jacfwd(residual)(p, data)

    def built(kind):
        p, data = kind.sym("p", 6), kind.sym("data", 2, 51)
        s, q = ca.SX.sym("s", 2), ca.SX.sym("q", 6)

        def change(s, q):
            return ca.vertcat(q[0] * s[0] - q[1] * s[0] * s[1], q[2] * s[0] * s[1] - q[3] * s[1])

        a = change(s, q)
        b = change(s + 0.05 * a, q)
        c = change(s + 0.05 * b, q)
        step = ca.Function("step", [s, q], [s + 0.1 / 6 * (a + 2 * b + 2 * c + change(s + 0.1 * c, q))])
        states = [p[4:6]]
        if kind is ca.SX:
            for _ in range(50):
                states.append(step(states[-1], p))
        else:
            states.append(step.mapaccum(50)(p[4:6], ca.repmat(p, 1, 50)))
        found = ca.vec(ca.horzcat(*states) - data)
        return ca.Function("theirs", [p, data], [found, ca.densify(ca.jacobian(found, p)).T])

    pullback.manual_seed(0)
    args = pullback.tensor([1.0, 0.5, 0.3, 0.8, 2.0, 1.0], dtype=F64), pullback.randn(51, 2, dtype=F64)
    return both, args, {"SX": built(ca.SX), "MX": built(ca.MX)}


def control():
    """The cost of a cart and pole after 100 steps of Runge and Kutta's, and its gradient by the forces."""

    def rate(x, force, w):
        sin, cos = w.sin(x[1]), w.cos(x[1])
        push = (force + 0.05 * x[3] * x[3] * sin) / 1.1
        bend = (9.81 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
        return [x[2], x[3], push - 0.05 * bend * cos / 1.1, bend]

    def moved(x, force, w):

        def after(k, h):
            return [one + h * other for one, other in zip(x, k, strict=True)]

        a = rate(x, force, w)
        b = rate(after(a, 0.01), force, w)
        c = rate(after(b, 0.01), force, w)
        d = rate(after(c, 0.02), force, w)
        return [x[i] + 0.02 / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in range(4)]

    def cost(forces, start):
        def step(x, force):
            x = moved(x, force, pullback)
            return tuple(x), x[0] * x[0] + 10 * x[1] * x[1] + 0.1 * (x[2] * x[2] + x[3] * x[3]) + 0.01 * force * force

        return pullback.scan(step, tuple(start.unbind()), forces)[1].sum()

    def both(forces, start):
        forces = forces.detach().clone().requires_grad_()
        value = cost(forces, start)
        return value.detach(), *pullback.autograd.grad(value, [forces])

    def built(kind):
        forces, start = kind.sym("u", 100), kind.sym("x", 4)
        x, force = ca.SX.sym("x", 4), ca.SX.sym("u")
        new = moved([x[i] for i in range(4)], force, ca)
        price = new[0] ** 2 + 10 * new[1] ** 2 + 0.1 * (new[2] ** 2 + new[3] ** 2) + 0.01 * force**2
        step = ca.Function("step", [x, force], [ca.vertcat(*new), price])
        if kind is ca.SX:
            state, total = start, 0
            for number in range(100):
                state, more = step(state, forces[number])
                total += more
        else:
            total = ca.sum2(step.mapaccum(100)(start, forces.T)[1])
        return ca.Function("theirs", [forces, start], [total, ca.gradient(total, forces)])

    pullback.manual_seed(0)
    args = pullback.randn(100, dtype=F64), pullback.tensor([0.0, 0.1, 0.0, 0.0], dtype=F64)
    return both, args, {"SX": built(ca.SX), "MX": built(ca.MX)}


def _pairs(x, size):
    return [(x[i], x[i + 1]) for i in range(size - 1)]


def _rolling(w, x):
    """A quarter car over a bump, by 20 explicit steps: stiffness and damping of both springs, and the start."""
    high, fast, low, slow = x[4], x[5], x[6], x[7]
    total = 0
    for number in range(20):
        upper, lower = x[0] * (low - high) + x[1] * (slow - fast), x[2] * (w.sin(0.3 * number + x[3]) - low)
        high, low = high + 0.05 * fast, low + 0.05 * slow
        fast, slow = fast + 0.05 * upper, slow + 0.05 * (lower - upper)
        total = total + upper * upper
    return total


SHARED = {
    "rosenbrock": (20, lambda w, x: sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in _pairs(x, 20))),
    "chain": (30, lambda w, x: sum((w.sqrt(0.01 + (b - a) ** 2) - 0.5) ** 2 + 0.1 * a for a, b in _pairs(x, 30))),
    "arm": (
        6,
        lambda w, x: (
            (sum(w.cos(sum(x[j] for j in range(i + 1))) for i in range(6)) - 2) ** 2
            + (sum(w.sin(sum(x[j] for j in range(i + 1))) for i in range(6)) - 3) ** 2
        ),
    ),
    "logistic": (10, lambda w, x: sum(w.log(1 + w.exp(-w.sin(7.0 * i) * x[i] - x[9])) for i in range(9))),
    "energies": (
        12,
        lambda w, x: sum(
            ((x[i] - x[j]) ** 2 + 0.3) ** -6 - ((x[i] - x[j]) ** 2 + 0.3) ** -3 for i in range(12) for j in range(i)
        ),
    ),
    "exponentials": (
        4,
        lambda w, x: sum((x[0] * w.exp(-x[1] * t / 8) + x[2] * w.cos(x[3] * t) - 1) ** 2 for t in range(16)),
    ),
    "quarter car": (8, _rolling),
}
"""Functions of some numbers, written once for both libraries: the value and the gradient."""


def shared(size, f):
    """What `main` takes of a function that is written for both."""

    def both(x):
        slope, value = func.grad_and_value(lambda x: f(pullback, x))(x)
        return value, slope

    pullback.manual_seed(0)
    x = ca.SX.sym("x", size)
    value = f(ca, x)
    return (
        both,
        (pullback.rand(size, dtype=F64) + 0.5,),
        {"SX": ca.Function("theirs", [x], [value, ca.gradient(value, x)])},
    )


def main():
    """Print a table."""
    print(
        "| program | C of | time of a call (µs) | text (KB) | gcc (s) | largest difference |\n|---|---|---|---|---|---|"
    )
    programs = {each.__name__: each for each in (nine, control, orbit)}
    programs |= {name: functools.partial(shared, *given) for name, given in SHARED.items()}
    for label, program in programs.items():
        function, args, others = program()
        with tempfile.TemporaryDirectory() as name:
            root, made = Path(name), {}
            for title, options in {"pullback": {}, "pullback, libm": {"math": "libm"}}.items():
                made[title] = ours(root / title.replace(", ", "-"), function, args, **options)
            for kind, other in others.items():
                (root / kind).mkdir()
                made[f"CasADi {kind}"] = theirs(root / kind, other, args)
            times = {title: [] for title in made}
            for _ in range(ROUNDS):
                for title, (built, _) in made.items():
                    times[title].append(built.time())
            expected = [y.numpy().reshape(-1) for y in function(*args)]
            for title, (built, results) in made.items():
                gap = max(
                    np.max(np.abs(one - two)) / np.max(np.abs(two)) for one, two in zip(results, expected, strict=True)
                )
                least = 1e6 * min(times[title])
                sizes = f"{built.text / 1000:.1f} | {built.seconds:.1f}"
                print(f"| {label} | {title} | {least:.3f} | {sizes} | {gap:.0e} |", flush=True)


if __name__ == "__main__":
    main()
