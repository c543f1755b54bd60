"""Exported functions where they are meant to run: other processors, C++, Rust, JavaScript, CasADi. The programs are examples.

scripts/test-targets runs this file.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.compile.test_casadi import made
from tests.compile.test_export import PROGRAMS

EXAMPLES = Path(__file__).parents[2] / "examples" / "exported"
STRICT = "-std=c99 -O1 -ffp-contract=off -Wall -Wextra -pedantic -Wconversion -Werror".split()
CORTEX = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16".split()


def needs(*tools):
    """A mark of tests that need programs."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not installed")


def run(*command, folder):
    """What a program prints."""
    done = subprocess.run(
        [str(each) for each in command], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


def example(name, folder):
    """What an example prints, in this environment."""
    return run(sys.executable, "-W", "ignore", EXAMPLES / name, folder, folder=EXAMPLES)


def zig():
    """The compiler of a package, if it is installed."""
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def webassembly():
    """What the makefile is told of the compiler to WebAssembly; None if there is none."""
    if zig():
        return [f"WASM={' '.join(zig())} -target wasm32-freestanding"]
    return [] if shutil.which("clang") and shutil.which("wasm-ld") else None


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    """The folder of the exported network, with programs that train it, what Python prints, and what C prints here."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc: not installed")
    folder = tmp_path_factory.mktemp("moons")
    python = example("moons.py", folder)
    for file in (*EXAMPLES.glob("train.*"), *(EXAMPLES / "cortex-m4").iterdir()):
        shutil.copy(file, folder)
    run("gcc", *STRICT, "train.c", "step.c", "-o", "train", "-lm", folder=folder)
    return folder, python, run("./train", folder=folder)


def bits(lines):
    """The losses that are printed by their bits."""
    return np.array([int(line.split()[1], 16) for line in lines], np.uint32).view(np.float32)


def test_a_network_learns_in_c_as_it_does_here(moons):
    _, python, here = moons
    np.testing.assert_array_max_ulp(bits(here), bits(python), 128)
    assert bits(here)[-1] < 0.01


@needs("aarch64-linux-gnu-gcc", "qemu-aarch64")
def test_bits_are_those_of_64_bit_arm(moons):
    folder, _, here = moons
    run("aarch64-linux-gnu-gcc", *STRICT, "-static", "train.c", "step.c", "-o", "train64", "-lm", folder=folder)
    assert run("qemu-aarch64", "./train64", folder=folder) == here


@needs("arm-none-eabi-gcc", "qemu-system-arm")
@pytest.mark.parametrize("size", ["-Os", "-O2"])
def test_a_microcontroller_learns_with_the_same_bits(size, moons):
    folder, _, here = moons
    linked = ["--specs=nano.specs", "-nostartfiles", "-T", "mps2.ld", "-ffunction-sections", "-Wl,--gc-sections"]
    strict = [flag for flag in STRICT if flag != "-pedantic"]  # of the processor's own words
    run("arm-none-eabi-gcc", *CORTEX, *strict, size, *linked, "train.c", "step.c", "start.c", "-lm", "-o", "train.elf",
        folder=folder)  # fmt: skip
    board = ["-machine", "mps2-an386", "-nographic", "-semihosting", "-kernel", "train.elf"]
    assert run("qemu-system-arm", *board, folder=folder) == here
    sizes = run("arm-none-eabi-size", "train.elf", folder=folder)[1].split()
    assert int(sizes[0]) < (32_000 if size == "-Os" else 80_000)
    assert int(sizes[2]) < 32_000


@needs("arm-none-eabi-g++")
def test_the_header_is_one_of_cpp_for_microcontrollers(moons):
    folder, _, _ = moons
    run("arm-none-eabi-g++", *CORTEX, "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "step.h",
        "-o", "header.o", folder=folder)  # fmt: skip


@needs("gcc", "g++")
def test_a_program_of_cpp_calls_it(moons):
    folder, _, here = moons
    run("gcc", *STRICT, "-c", "step.c", "-o", "step.o", folder=folder)
    run("g++", "-std=c++20", *STRICT[1:], "train.cpp", "step.o", "-o", "traincpp", folder=folder)
    assert run("./traincpp", folder=folder) == [*here, "step: check 1 failed"]


@needs("gcc", "ar", "rustc")
def test_a_program_of_rust_calls_it(moons):
    folder, _, here = moons
    run("gcc", *STRICT, "-c", "step.c", "-o", "step.o", folder=folder)
    run("ar", "rcs", "libstep.a", "step.o", folder=folder)
    linked = ["-L", ".", "-l", "static=step", "-l", "m"]
    run("rustc", "--edition", "2021", "-D", "warnings", "train.rs", *linked, "-o", "trainrs", folder=folder)
    assert run("./trainrs", folder=folder) == [*here, "step: check 1 failed: true"]


@needs("make", "node")
@pytest.mark.skipif(webassembly() is None, reason="ziglang, or clang with wasm-ld: not installed")
def test_javascript_calls_it_as_webassembly(moons, tmp_path):
    folder, _, here = moons
    run("make", "-s", "step.wasm", *webassembly(), folder=folder)
    assert run("node", "train.mjs", folder, folder=folder) == [
        *here, "step: check 1 failed, and the state is as it was: true",
    ]  # fmt: skip
    example("web.py", tmp_path)
    page = """
        import { readFileSync } from "node:fs";
        import { load } from "./step.mjs";
        const { points, labels, side } = JSON.parse(readFileSync("data.json"));
        const { step } = await load(readFileSync("step.wasm"));
        for (let number = 0; number < 10; ++number) var [loss, picture] = step(points, labels, 0.01);
        console.log(10, new Uint32Array(loss.slice().buffer)[0].toString(16), picture.length === side * side);
    """
    (tmp_path / "page.mjs").write_text(page)
    assert run("node", "page.mjs", folder=tmp_path) == [f"{here[0]} true"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.skipif(shutil.which("clang") is None and zig() is None, reason="clang: not installed")
def test_clang_warns_of_nothing_and_c_needs_no_library(program, tmp_path):
    compiled, args = program()
    folder = compiled.export(tmp_path / "out", *args, name="step")
    clang = zig() or ["clang"]
    for file in ("step.c", "test_step.c"):
        run(*clang, *STRICT, "-c", file, "-o", "step.o", folder=folder)
    run(*clang, *STRICT, "-DPB_FREESTANDING", "-ffreestanding", "-c", "step.c", "-o", "step.o", folder=folder)
    if shutil.which("nm"):
        foreign = {line.split()[-1] for line in run("nm", "-u", "step.o", folder=folder)}
        assert not foreign - {
            "memcpy",
            "memset",
            "memmove",
            "sqrt",
            "sqrtf",
            "_GLOBAL_OFFSET_TABLE_",
            "__stack_chk_fail",
        }


@needs("gcc")
def test_a_controller_balances_a_pole_as_it_does_here(tmp_path):
    expected = example("cartpole.py", tmp_path)
    shutil.copy(EXAMPLES / "cartpole.c", tmp_path)
    sources = ["-Icontrol", "-Iplant", "cartpole.c", "control/control.c", "plant/plant.c"]
    run("gcc", *STRICT, *sources, "-o", "cartpole", "-lm", folder=tmp_path)
    found = [line.split()[2:] for line in run("./cartpole", folder=tmp_path)]
    np.testing.assert_allclose(
        np.array(found, float), np.array([line.split()[2:] for line in expected], float), atol=1e-9
    )
    assert abs(float(found[-1][1])) < 1e-2


# CasADi


def test_casadi_takes_it(tmp_path):
    casadi = pytest.importorskip("casadi", reason="casadi: not installed")
    folder, (x, a) = made(tmp_path)
    ours = casadi.external("f", str(folder / "libf.so"))
    xs, rows = casadi.SX.sym("x", 3), casadi.SX.sym("a", 4, 3)
    theirs = casadi.Function("g", [xs, rows], [casadi.sin(rows @ xs) * xs[0], ((xs[1:] * xs[:-1]) @ xs.T)[:2, :]])
    none = [casadi.DM(4, 1), casadi.DM(2, 3)]
    random = np.random.default_rng(0)
    given, seeds = [x.numpy(), a.numpy()], [random.random((4, 1)), random.random((2, 3))]
    both = [
        lambda f: f(*given),
        lambda f: f.jacobian()(*given, *none),
        lambda f: f.forward(2)(*given, *none, np.ones((3, 2)), np.ones((4, 6))),
        lambda f: f.reverse(1)(*given, *none, *seeds),
        lambda f: f.reverse(1).jacobian()(*given, *none, *seeds, casadi.DM(3, 1), casadi.DM(4, 3)),
    ]
    for way in both:
        for one, other in zip(way(ours), way(theirs), strict=True):
            np.testing.assert_allclose(one.full(), other.full(), rtol=1e-11, atol=1e-12)


def test_solvers_find_one_path(tmp_path):
    pytest.importorskip("casadi", reason="casadi: not installed")
    pytest.importorskip("scipy", reason="scipy: not installed")
    costs = [float(line.split()[2].rstrip(",")) for line in example("cartpole_path.py", tmp_path)]
    np.testing.assert_allclose(costs, 2.61845, rtol=1e-4)
