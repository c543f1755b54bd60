"""Export: several functions in a file, their state, random numbers, whole numbers, sparse results, and where files go."""

import os
import subprocess

import numpy as np
import pytest

import pullback
from pullback import func, nn, optim
from pullback.compile.export.drawing import packed
from pullback.compile.export.errors import ExportError

from .exporting import GCC, STRICT, compiled_library, run_test

needs_gcc = pytest.mark.skipif(GCC is None, reason="C is compiled by gcc, which is not installed")
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
UNDEFINED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all")


def numbers(*shape, seed=0, dtype=np.float64):
    return pullback.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


# Random numbers

OWN = pullback.Generator()
DOUBLE = {"dtype": pullback.float64}
DRAWS = {
    "rand": lambda p: (pullback.rand(5, 3), pullback.rand(3, **DOUBLE), pullback.rand(4)),
    "randn": lambda p: pullback.randn(1501),
    "randn_double": lambda p: pullback.randn(1501, **DOUBLE),
    "randint": lambda p: (
        pullback.randint(-3, 10, (50,)),
        pullback.randint(-(2**31), 2**31, (3,)),
        pullback.randint(-(2**62), 2**62 + 5, (50,)),
        pullback.randint(3, 4, (2,)),
        pullback.randint(9, (3,), dtype=pullback.int32),
    ),
    "bernoulli": lambda p: (pullback.bernoulli(p), pullback.bernoulli(p, 0.3), pullback.zeros(9).bernoulli_(0.7)),
    "dropout": lambda p: (nn.functional.dropout(p, 0.3), nn.functional.dropout1d(p.expand(4, 2, 6), 0.5)),
    "in_place": lambda p: (pullback.zeros(9).normal_(2, 3), pullback.zeros(9, **DOUBLE).uniform_(-2, 3)),
    "random": lambda p: (pullback.zeros(9, dtype=pullback.int16).random_(5, 12), pullback.zeros(2).log_normal_() > 0),
    "exponential": lambda p: (pullback.zeros(9).exponential_(2.0), pullback.zeros(2000, **DOUBLE).exponential_()),
    "poisson": lambda p: (
        pullback.poisson(p.expand(50, 6)),
        pullback.poisson(p.double() ** 2 * 200),
        pullback.poisson(0 * p),
    ),
    "large_rates": lambda p: (pullback.poisson((p * 11).expand(99, 6).exp()), pullback.rand(2)),
    "normal": lambda p: (pullback.normal(p, p + 1), pullback.normal(1.0, 2.0, (4,)), pullback.randn_like(p)),
    "generator": lambda p: (pullback.rand(3, generator=OWN), pullback.rand(3)),
    "examples": lambda p: func.vmap(lambda x: x + pullback.randn(3), randomness="different")(p[:, None].expand(6, 3)),
}


@needs_gcc
def test_random_numbers_are_those_of_compiled_calls(tmp_path):
    p = pullback.linspace(0.1, 0.9, 6)
    default = pullback.manual_seed(5)
    folder = pullback.export(
        tmp_path / "out", {f"draw_{name}": (draw, p) for name, draw in DRAWS.items()}, name="draws"
    )
    library = compiled_library(folder, "draws", UNDEFINED)
    begun = pullback.get_rng_state()
    for name, draw in DRAWS.items():
        compiled, exported = pullback.compile(draw, fullgraph=True), getattr(library, f"draw_{name}")
        pullback.set_rng_state(begun)
        own = OWN.get_state()
        library.state["generator"], library.state["generator_2"] = map(packed, (default.numpy, OWN.numpy))
        for _ in range(2):
            theirs = exported(*[p.numpy() for _ in exported.table["arguments"]])
            ours = compiled(p)
            pairs = zip(*[each if isinstance(each, tuple) else (each,) for each in (theirs, ours)], strict=True)
            for found, expected in pairs:
                np.testing.assert_array_equal(found, expected.numpy(), strict=True, err_msg=name)
        OWN.set_state(own)


@needs_gcc
def test_a_generator_is_seeded_as_by_manual_seed(tmp_path):
    draw = lambda: (pullback.rand(3, generator=OWN), pullback.randn(3))
    library = compiled_library(pullback.compile(draw).export(tmp_path / "out", name="draw"), "draw", UNDEFINED)
    for seed in (0, 7, 2**40 + 3, 2**64 - 1):
        for generator, name in ((OWN, "generator"), (pullback.manual_seed(seed), "generator_2")):
            generator.manual_seed(seed)
            library.seed(seed, name)
            np.testing.assert_array_equal(library.state[name][0], packed(generator.numpy))
        for found, expected in zip(library.draw(), draw(), strict=True):
            np.testing.assert_array_equal(found, expected.numpy())


def test_a_probability_that_is_none_is_a_check(tmp_path):
    folder = pullback.compile(pullback.bernoulli).export(tmp_path / "out", pullback.full((3,), 0.5), name="f")
    assert "1. all" in (folder / "README.md").read_text()
    if GCC:
        with pytest.raises(ValueError, match=r"check \d failed"):
            compiled_library(folder, "f").f(np.float32([0.5, 2.0, 0.5]))


def test_rates_that_are_none_are_a_check(tmp_path):
    folder = pullback.compile(pullback.poisson).export(tmp_path / "out", pullback.full((3,), 0.5), name="f")
    assert "a rate of 9e18 or more" in (folder / "README.md").read_text()
    if GCC:
        library = compiled_library(folder, "f", UNDEFINED)
        before = library.state.copy()
        for rate in (-1.0, np.nan, np.inf, 1e19):
            with pytest.raises(ValueError, match=r"check \d failed"):
                library.f(np.float32([0.5, rate, 0.5]))
        assert library.state == before


def test_numbers_that_take_several_draws_or_another_generator_are_refused(tmp_path):
    with pytest.raises(ExportError, match=r"draw \(gammas\) of float32"):
        pullback.compile(lambda: pullback.distributions.Gamma(2.0, 1.0).sample((3,))).export(tmp_path / "out")
    other = np.random.Generator(np.random.Philox(1))
    with pytest.raises(ExportError, match=r"draw \(uniform\) of float32"):
        pullback.compile(lambda: pullback.rand(3, generator=other)).export(tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Several functions


def learner():
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 2))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    x, labels = numbers(6, 3, dtype=np.float32), pullback.tensor([0, 1, 0, 1, 1, 0])

    def step(x, labels):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def predict(x):
        model.eval()
        try:
            return model(x).softmax(1).detach()
        finally:
            model.train()

    step(x, labels)
    return step, predict, x, labels


def test_readers_are_told_where_the_state_is_and_what_a_rate_is(tmp_path):
    step, _, x, labels = learner()
    folder = pullback.compile(step).export(tmp_path / "out", x, labels)
    text, header = (folder / "README.md").read_text(), (folder / "step.h").read_text()
    for told in (
        "| `lr` | float64[] | learning rate, 0.1 at the export |",
        "| `state->weight_2` | float32[2, 8] | model.3.weight, written |",
        "| exp_avg of model.0.bias, written |",
        "static double lr[1] = {0.1};",
        "`step_seed(state.generator, 7)` sets",
        "A check is an index or a label in range",
    ):
        assert told in text
    assert "float weight_2[16]; /* model.3.weight: float32[2, 8] */" in header
    assert (folder / "Makefile").read_text().count("--export=step_init") == 1


@needs_gcc
def test_functions_share_a_state_and_loops(tmp_path):
    step, predict, x, labels = learner()
    calls = {"step": (step, x, labels), "predict": (pullback.compile(predict), x), "again": (predict, x)}
    folder = pullback.export(tmp_path / "model", calls)
    assert run_test(folder, "model", *SANITIZED).endswith("passed\n")
    text = (folder / "model.c").read_text()
    assert text.count("pb_tanh_f(float a)") == 1
    body = lambda name: text.partition(f"int {name}(")[2].partition("return 0;")[0].partition("{")[2]
    assert body("predict") == body("again")
    library, compiled = compiled_library(folder, "model"), pullback.compile(step)
    for _ in range(10):
        loss = library.step(x.numpy(), labels.numpy(), np.array(0.1))
        np.testing.assert_allclose(loss, compiled(x, labels).numpy(), rtol=1e-5)
    np.testing.assert_allclose(library.predict(x.numpy()), predict(x).numpy(), rtol=1e-4)


@needs_gcc
def test_parameters_that_nothing_writes_may_be_constants_of_the_file(tmp_path):
    step, predict, x, labels = learner()
    alone = pullback.compile(predict).export(tmp_path / "alone", x, parameters="embedded")
    assert "_state" not in (alone / "predict.h").read_text()
    np.testing.assert_allclose(compiled_library(alone, "predict").predict(x.numpy()), predict(x).numpy(), rtol=1e-5)
    calls = {"step": (step, x, labels), "predict": (predict, x)}
    both = pullback.export(tmp_path / "model", calls, parameters="embedded")
    assert "model_state *PB_RESTRICT state" in (both / "model.h").read_text().partition("int predict")[2]


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ({}, "there is nothing to export"),
        ({"f": (pullback.sin,), "f_work": (pullback.sin,)}, "the name f_work is that of another function"),
        ({"f": (pullback.sin,), "model_init": (pullback.sin,)}, "the name model_init is that of another function"),
    ],
)
def test_names_of_functions(calls, told, tmp_path):
    calls = {name: (*call, numbers(2)) for name, call in calls.items()}
    with pytest.raises(ExportError, match=told):
        pullback.export(tmp_path / "out", calls, name="model")


@pytest.mark.parametrize("functions", [numbers, [numbers], {"f": numbers}, {"f": ()}, {1: (numbers,)}, numbers(2)])
def test_what_is_no_dict_of_calls_is_refused(functions, tmp_path):
    with pytest.raises(TypeError, match="functions is a dict that has for each name in C a function and its arguments"):
        pullback.export(tmp_path / "out", functions)
    assert not (tmp_path / "out").exists()


def test_a_function_has_its_own_name_also_alone(tmp_path):
    folder = pullback.export(tmp_path / "out", {"predict": (pullback.sin, numbers(2))}, name="model")
    assert "int predict(" in (folder / "model.h").read_text(encoding="utf-8")


def test_parts_of_one_memory_are_refused(tmp_path):
    w = numbers(4, 4)
    row = w[0]
    calls = {"whole": (lambda x: w @ x, numbers(4)), "part": (lambda x: row * x, numbers(4))}
    with pytest.raises(ExportError, match="are views of one memory: have each reach the same tensor"):
        pullback.export(tmp_path / "out", calls)


@needs_gcc
def test_names_of_the_wrapper_and_of_numpy_are_free(tmp_path):
    def f(numpy, ctypes, FUNCTIONS, Library, self, np, struct_, out, given, failed):
        return numpy + ctypes * FUNCTIONS - Library, self * np + struct_, out * given + failed

    args = [numbers(3, seed=seed) for seed in range(10)]
    folder = pullback.export(tmp_path / "out", {"numpy": (f, *args), "table": (f, *args)}, name="ctypes")
    library = compiled_library(folder, "ctypes", UNDEFINED)
    for found, expected in zip(library.numpy(*[x.numpy() for x in args]), f(*args), strict=True):
        np.testing.assert_array_equal(found, expected.numpy())


# Whole numbers and sparse matrices

QUOTIENTS = {
    "floor": lambda a, b: a // b, "modulo": lambda a, b: a % b, "fmod": pullback.fmod, "by_constant": lambda a, b: a // -3 + a % 5,
    "towards_zero": lambda a, b: pullback.div(a, b, rounding_mode="trunc"), "left": lambda a, b: a << b.abs(),
    "right": lambda a, b: a >> b.abs(), "square": lambda a, b: a**2, "power": lambda a, b: a ** b.abs(),
}  # fmt: skip


@needs_gcc
def test_whole_numbers_are_divided_shifted_and_raised_as_here(tmp_path):
    a = np.array([7, -7, 5, -5, 0, 1, 100, -128, 127, 3])
    b = np.array([2, 2, -3, -3, 5, -1, 7, -1, 3, 1])
    calls = {}
    for dtype in ("int64", "int32", "int16", "int8", "uint8"):
        args = [pullback.tensor(each.astype(dtype)) for each in (a, b)]
        calls |= {f"{name}_{dtype}": (function, *args) for name, function in QUOTIENTS.items()}
    library = compiled_library(pullback.export(tmp_path / "out", calls), "out", UNDEFINED)
    for name, (function, *args) in calls.items():
        exported = getattr(library, name)
        found = exported(*[x.numpy() for x in args][: len(exported.table["arguments"])])
        np.testing.assert_array_equal(found, function(*args).numpy(), strict=True, err_msg=name)


@needs_gcc
def test_a_divisor_of_zero_is_a_check_and_a_negative_power_too(tmp_path):
    a, b = pullback.tensor([7, -7]), pullback.tensor([2, 3])
    library = compiled_library(
        pullback.export(tmp_path / "out", {"f": (pullback.floor_divide, a, b), "g": (pullback.pow, a, b)}), "out"
    )
    with pytest.raises(ValueError, match="f: check 1 failed"):
        library.f(a.numpy(), np.array([1, 0]))
    with pytest.raises(ValueError, match="g: check 1 failed"):
        library.g(a.numpy(), np.array([1, -2]))


@needs_gcc
def test_the_header_says_where_the_entries_of_sparse_matrices_are(tmp_path):
    x = numbers(12)
    chain = lambda x: ((x[1:] - x[:-1] ** 2) ** 2).sum()
    f = pullback.compile(lambda x: (x.sum(), pullback.sparse_hessian(chain, x)))
    folder = f.export(tmp_path / "out", x, name="f")
    program = tmp_path / "main.c"
    program.write_text(
        """
#include <stdio.h>
#include "out/f.h"
int main(void)
{
    static double x[12], total[1], entries[f_out1_entries];
    static f_work work;
    for (int i = 0; i < 12; ++i) if (scanf("%lf", x + i) != 1) return 1;
    if (f(x, total, entries, &work)) return 1;
    for (int k = 0; k < f_out1_entries; ++k) printf("%d %d %.17g\\n", (int)f_out1_rows[k], (int)f_out1_columns[k], entries[k]);
    return 0;
}
"""
    )
    subprocess.run(
        [GCC, *SANITIZED, str(program), str(folder / "f.c"), "-o", str(tmp_path / "main"), "-lm"],
        check=True,
        timeout=100,
    )
    given = "\n".join(map(repr, x.tolist()))
    done = subprocess.run([tmp_path / "main"], input=given, capture_output=True, text=True, check=True, timeout=100)
    found = np.zeros((12, 12))
    for line in done.stdout.splitlines():
        row, column, entry = line.split()
        found[int(row), int(column)] = float(entry)
    np.testing.assert_allclose(found, func.hessian(chain)(x).numpy(), rtol=1e-12, atol=1e-12)


# Folders


def test_a_folder_that_cannot_be_written_to(tmp_path):
    f, x = pullback.compile(lambda x: x * 2), numbers(2)
    (tmp_path / "file").write_text("mine")
    for place in ("file", "file/below"):
        with pytest.raises(ExportError, match=r"is not a folder. Name another, or move it away"):
            f.export(tmp_path / place, x)
    (tmp_path / "out" / "f.c").mkdir(parents=True)
    with pytest.raises(ExportError, match=r"f\.c is a folder there. Name another"):
        f.export(tmp_path / "out", x, name="f")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["f.c"]
    assert (tmp_path / "file").read_text() == "mine"
    f.export(tmp_path / "new" / "below", x, name="f")
    assert (tmp_path / "new" / "below" / "f.c").exists()


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", int)() == 0, reason="all folders may be written to")
def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ExportError, match=r"may not be written to. Name another folder"):
            pullback.compile(lambda x: x * 2).export(tmp_path / "out", numbers(2))
    finally:
        tmp_path.chmod(0o700)


@needs_gcc
@pytest.mark.parametrize("work", ["argument", "static"])
def test_the_example_of_the_readme_compiles_and_runs(work, tmp_path):
    step, predict, x, labels = learner()
    folder = pullback.export(
        tmp_path / "out", {"step": (step, x, labels), "predict": (predict, x)}, name="model", work=work
    )
    text = (folder / "README.md").read_text()
    (folder / "main.c").write_text(text.partition("## Example\n\n```c\n")[2].partition("```")[0])
    subprocess.run([GCC, *STRICT, "main.c", "model.c", "-o", "main", "-lm"], cwd=folder, check=True, timeout=100)
    assert subprocess.run([folder / "main"], check=False, timeout=100).returncode == 0


BLAS = """
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };
static void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
    int ldb, double beta, double *c, int ldc)
{
    if (order != CblasRowMajor || alpha != 1 || beta != 0) return;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l)
                sum += a[ta == CblasTrans ? l * lda + i : i * lda + l] * b[tb == CblasTrans ? j * ldb + l : l * ldb + j];
            c[i * ldc + j] = sum;
        }
}
"""


@needs_gcc
def test_larger_products_are_calls_of_blas(tmp_path):
    def f(a, b):
        return a @ b, a.T @ a, a @ a.T @ b

    args = numbers(20, 20), numbers(20, 20, seed=1)
    folder = pullback.compile(f).export(tmp_path / "out", *args, products="cblas")
    assert (folder / "f.c").read_text().count("cblas_dgemm(") >= 3
    (folder / "cblas.h").write_text(BLAS)
    found = compiled_library(folder, "f", ("-O1", f"-I{folder}")).f(*[x.numpy() for x in args])
    for one, other in zip(found, f(*args), strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-12, atol=1e-12)
