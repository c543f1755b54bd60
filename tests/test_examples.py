"""The examples: each runs, and what Ctrl-C leaves behind is gone on with as if nothing had happened."""

import importlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SOURCE = str(Path(pullback.__file__).resolve().parent.parent)
TRAINED = {
    "digits": "accuracy on 360 pictures",
    "characters": "A tensor is ",
    "adding": "mean squared error on 1024 new rows",
    "poisson": "error against the solution",
    "pole": "16 new games: the pole stood for",
}
OTHERS = {"gaussian_process", "gaussian_mixture", "printing_tracer", "explaining"}
SHARED = {"progress", "beside_torch"}
PACKAGES = {"shape_tracer": "affine      (5, 3) (4, 3) (4,) -> (5, 4)  Linear", "program_graph": "v1 -> v5"}
NEEDS = {"digits": "sklearn", "gaussian_process": "scipy", "gaussian_mixture": "scipy"}


def command(name: str, *arguments: str) -> list[str]:
    """An example as a program of its own; skipped where it needs what is not installed."""
    needed = NEEDS.get(name)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{name}.py needs {needed}")
    program = ["-m", name] if name in PACKAGES else [str(EXAMPLES / f"{name}.py")]
    return [sys.executable, "-W", "error", *program, *arguments]


def environment() -> dict[str, str]:
    """This process's, with the pullback that is tested."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, str(EXAMPLES)]), "PYTHONIOENCODING": "utf-8"}


def run(folder: Path, name: str, *arguments: str) -> str:
    """What an example prints, run in a folder."""
    done = subprocess.run(
        command(name, *arguments), cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_examples_are_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == TRAINED.keys() | OTHERS | SHARED
    assert {path.parent.name for path in EXAMPLES.glob("*/__main__.py")} == PACKAGES.keys()


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_runs_and_leaves_a_file(name: str, tmp_path: Path) -> None:
    assert TRAINED[name] in run(tmp_path, name, "--quick")
    state = pullback.load(tmp_path / f"{name}.safetensors")
    assert state["step"] > 0
    assert {"model", "optimizer"} <= state.keys()


def test_the_process_is_fitted(tmp_path: Path) -> None:
    before, after = run(tmp_path, "gaussian_process", "--quick").splitlines()[0].split(" before, ")
    assert float(after.split()[0]) < float(before.split()[-1])


def test_the_mixture_is_found(tmp_path: Path) -> None:
    heaps = [line.split() for line in run(tmp_path, "gaussian_mixture").splitlines()[-2:]]
    found = [(float(share), float(centre.rstrip(","))) for share, *_, centre, _, _ in heaps]
    np.testing.assert_allclose(found, [(0.3, -2), (0.7, 1)], atol=0.15)


def test_the_others_run(tmp_path: Path) -> None:
    assert "multiply" in run(tmp_path, "printing_tracer")
    assert "x.grad" in run(tmp_path, "explaining")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_runs_by_itself(name: str, tmp_path: Path) -> None:
    assert PACKAGES[name] in run(tmp_path, name)


def test_a_traced_program_gets_its_own_gradients() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        tracer = importlib.import_module("shape_tracer").ShapeTracer
    finally:
        sys.path.remove(str(EXAMPLES))
    file = io.StringIO()
    x = pullback.tensor([0.5, -1.0], requires_grad=True)
    with tracer(file):
        (x * x).sin().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy() * np.cos(x.detach().numpy() ** 2), rtol=1e-6)
    kinds = [line.split()[1] for line in file.getvalue().splitlines()]
    assert kinds == ["multiply", "sin", "sum", "backward"]
    assert all(line.startswith("test_examples.py:") for line in file.getvalue().splitlines())


def test_an_exported_graph_has_the_whole_program() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        dot = importlib.import_module("program_graph").dot
    finally:
        sys.path.remove(str(EXAMPLES))
    text = dot(lambda x: (x.exp() * x).sum(), pullback.ones(3))
    assert text.startswith("digraph program {")
    assert text.endswith("}")
    assert all(name in text for name in ("exp", "multiply", "sum", "test_examples.py:"))
    assert text.count(" -> ") == 5  # four operands and the output


def weights(path: Path) -> dict[str, np.ndarray]:
    """The model that a training has saved."""
    return {name: value.numpy() for name, value in pullback.load(path)["model"].items()}


def test_resuming_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.safetensors", tmp_path / "part.safetensors"
    run(tmp_path, "pole", "--quick", "--checkpoint", str(whole))
    run(tmp_path, "pole", "--quick", "--steps", "1", "--checkpoint", str(part))
    run(tmp_path, "pole", "--quick", "--checkpoint", str(part), "--resume")
    expected, found = weights(whole), weights(part)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_an_interrupt_leaves_a_file_of_whole_steps(tmp_path: Path) -> None:
    program = (
        f"import sys, os, signal; sys.path.insert(0, {str(EXAMPLES)!r}); sys.modules['tqdm'] = None\n"
        "sys.argv = ['adding.py', '--steps', '50', '--quick']\n"
        "import adding, progress\n"
        "tell = progress.Training.tell\n"
        "def interrupted(training, **numbers):\n"
        "    tell(training, **numbers)\n"
        f"    if training.done == 6: os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "progress.Training.tell = interrupted\n"
        "adding.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "adding: step 5 of 50, error " in done.stdout
    assert "stopped after 7 steps, saved as adding.safetensors: --resume goes on" in done.stderr
    assert pullback.load(tmp_path / "adding.safetensors")["step"] == 7


def test_without_scikit_learn_the_digits_say_so(tmp_path: Path) -> None:
    program = f"import sys, runpy; sys.modules['sklearn'] = None; sys.path.insert(0, {str(EXAMPLES)!r}); import digits; digits.main()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install scikit-learn" in done.stderr
