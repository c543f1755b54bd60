"""Programs on several ranks of MPI: all_reduce, torch.distributed, and ranks that are lost. Run by scripts/test-cluster."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback.distributed import all_reduce

ROOT = Path(__file__).parents[2]
JOBS = Path(__file__).parent / "jobs"
# What torch 2.13 printed with gloo: made by `python tests/distributed/jobs`
RECORD = json.loads((JOBS / "torch.json").read_text(encoding="utf-8"))["answers"]
BESIDE = Path(sys.executable).with_name("mpiexec")
LAUNCHER = BESIDE if BESIDE.exists() else shutil.which("mpiexec")

mpi = pytest.mark.skipif(
    LAUNCHER is None or importlib.util.find_spec("mpi4py") is None,
    reason="without mpi4py and mpiexec: scripts/test-cluster has them",
)


def ranks(size, *command, status=0):
    """What `size` ranks print; with a status other than 0 the job must fail, and within a minute."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(pullback.__file__).parents[1])])}
    environment.pop("PYTHONUNBUFFERED", None)  # or lines of several ranks are mixed
    begin = time.monotonic()
    run = subprocess.run(
        [LAUNCHER, "-n", str(size), sys.executable, "-W", "error", *map(str, command)],
        capture_output=True, text=True, check=False, env=environment, timeout=200,
    )  # fmt: skip
    assert (run.returncode == 0) == (status == 0), run.stdout + run.stderr
    assert status == 0 or time.monotonic() - begin < 60
    return run


def job(size, name, *arguments, status=0):
    """A program for torch on `size` ranks."""
    return ranks(size, "-m", "pullback", "run", JOBS / name, *arguments, status=status)


def same(found, expected, tolerance):
    """Lines are equal, up to a relative difference of their numbers."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert len(mine.split()) == len(theirs.split()), (mine, theirs)
        for a, b in zip(mine.split(), theirs.split(), strict=True):
            if a != b:
                np.testing.assert_allclose(float(a), float(b), rtol=tolerance, atol=tolerance / 10, err_msg=theirs[:40])


def runs(pid):
    """Whether a process is one of the job's, and has not ended."""
    try:
        return b"lost.py" in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False


# Against torch's gloo


@mpi
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize(("options", "tolerance"), [((), 2e-6), (("--double",), 1e-13)], ids=["float32", "float64"])
def test_a_program_of_torch_has_the_losses_of_gloo(size, options, tolerance, tmp_path):
    found = job(size, "ddp.py", *options, "--folder", tmp_path).stdout.splitlines()
    same(sorted(found), RECORD[" ".join(["ddp.py", *options, "on", str(size)])], tolerance)


@mpi
@pytest.mark.parametrize("size", [1, 2, 4])
def test_passes_give_the_numbers_of_gloo(size):
    """Uneven batches, no_sync, several calls, buffers, parameters that some ranks do not use, orders of samplers."""
    same(sorted(job(size, "passes.py").stdout.splitlines()), RECORD[f"passes.py on {size}"], 1e-12)


@mpi
@pytest.mark.parametrize("size", [1, 2, 4])
def test_collectives(size):
    assert sorted(job(size, "collectives.py").stdout.splitlines()) == RECORD[f"collectives.py on {size}"]


@mpi
def test_a_program_that_starts_processes_itself_takes_those_of_mpiexec(tmp_path):
    run = ranks(3, "-W", "default", "-m", "pullback", "run", JOBS / "tutorial.py", 3)
    assert sorted(run.stdout.split()) == sorted("trained 0 trained 1 trained 2".split())
    assert "the 3 processes are those that mpiexec has started" in run.stderr
    run = job(2, "tutorial.py", 1, status=1)
    assert "RuntimeError: this process is not a rank: a rank started it, and mpiexec started the rank" in run.stderr


@mpi
def test_other_ranks_than_the_program_says_are_told():
    text = "from pullback.compat.torch import install; install(); import torch; torch.distributed.init_process_group(world_size=3)"
    words = "init_process_group is told that WORLD_SIZE is 3, but this is rank 0 of 2: start"
    assert words in ranks(2, "-c", text, status=1).stderr


# What is lost


@mpi
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("killed", r"rank 1 of 3 (process {pid} on "),
        ("raises", "ValueError: a bad batch\nrank 1 of 3 has failed (ValueError), so the job ends\n"),
        ("ends", "backward of DistributedDataParallel (mean) in rank 0 of 3, the end of its program in rank 1\n"),
        ("exits", "backward of DistributedDataParallel (mean) in rank 0 of 3, the end of its program in rank 1\n"),
        ("goes on", "backward of DistributedDataParallel (mean) in rank 0 of 3, barrier in rank 1\n"),
        ("sends too little", "the ranks do not do the same: recv in rank 0 of 3, the end of its program in rank 1\n"),
        ("receives nothing", "the ranks do not do the same: send in rank 0 of 3, the end of its program in rank 1\n"),
        ("differs", "do not do the same in all_reduce (sum): float32 (3,) in rank 0 of 3, float32 (4,) in rank 1\n"),
        ("differs in what", "do not do the same: all_reduce (max) in rank 0 of 3, all_reduce (sum) in rank 1\n"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere mpiexec alone says who was killed")
def test_a_rank_that_is_lost_ends_the_job_with_a_sentence(what, words):
    run = job(3, "lost.py", what, status=1)
    pids = [word for word in run.stdout.split() if word.isdecimal()]
    if what == "killed":
        assert sum(words.format(pid=pid) in run.stderr for pid in pids) == 1, run.stderr
        assert "was ended by SIGKILL, so the job ends\n" in run.stderr
        assert "Traceback" not in run.stderr
    else:
        assert words in run.stderr
        assert run.stderr.count("Traceback") == 1, run.stderr
    end = time.monotonic() + 10
    while alive := [pid for pid in pids if runs(pid)]:
        assert time.monotonic() < end, alive
        time.sleep(0.05)


# Without torch's names


@mpi
@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_reduce(size, tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        textwrap.dedent("""
        import hashlib, sys
        import numpy as np
        import pullback
        from mpi4py import MPI
        from pullback.distributed import all_reduce

        rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
        rows = [np.random.default_rng(r).normal(size=(7, 5)) * 10.0 ** r for r in range(size)]
        tree = {"tensor": pullback.from_numpy(rows[rank]), "array": [rows[rank].astype(np.float32), None], "one": (rank, 0.5)}
        total = all_reduce(tree)
        assert isinstance(total["tensor"], pullback.Tensor) and total["array"][1] is None
        expected = rows[0]
        for row in rows[1:]:
            expected = expected + row  # in the order of the ranks
        np.testing.assert_array_equal(total["tensor"].numpy(), expected)
        assert total["array"][0].dtype == np.float32 and total["one"] == (sum(range(size)), 0.5 * size)
        np.testing.assert_array_equal(all_reduce(rows[rank], "mean"), expected / size)
        assert all_reduce(rank + 1j, "mean") == sum(range(size)) / size + 1j
        np.testing.assert_array_equal(all_reduce(rows[rank], "max"), np.max(rows, axis=0))
        np.testing.assert_array_equal(all_reduce(rows[rank], "min"), np.min(rows, axis=0))
        assert all_reduce(rank + 2, "product") == np.prod(np.arange(size) + 2)
        assert all_reduce(np.zeros((0, 3))).shape == (0, 3) and all_reduce({}) == {}
        half = MPI.COMM_WORLD.Split(rank % 2, rank)
        assert all_reduce(1, comm=half) == half.size
        assert pullback.get_machine_code() == ("auto" if size == 1 else "never")
        print(hashlib.sha256(total["tensor"].numpy().tobytes()).hexdigest())
    """)
    )
    assert len(set(ranks(size, script).stdout.split())) == 1


def test_one_process_alone_needs_no_mpi():
    text = """
        import sys
        import pullback
        from pullback.distributed import all_reduce
        assert all_reduce([1.0, pullback.ones(2)], "mean")[1].tolist() == [1.0, 1.0]
        assert "mpi4py" not in sys.modules
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "OMPI", "MPI"))}
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(text)], check=True, env=environment)


def test_a_launcher_without_mpi4py_is_told():
    text = "import sys; sys.modules['mpi4py.MPI'] = None; from pullback.distributed import all_reduce; all_reduce(1)"
    environment = {**os.environ, "PMI_RANK": "1", "PMI_SIZE": "4"}
    command = [sys.executable, "-c", text]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "RuntimeError: mpi4py does not work here (" in run.stderr
    assert "pip install 'pullback[mpi]'" in run.stderr


@mpi
def test_another_mpi_than_the_launchers_is_told():
    environment = {**os.environ, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
    command = [sys.executable, "-c", "from pullback.distributed import all_reduce; all_reduce(1)"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "4 processes were started, but mpi4py sees 1" in run.stderr


def test_what_cannot_be_reduced_is_refused():
    import pullback

    with pytest.raises(ValueError, match=r"all_reduce: the operations are sum, .*, not 'median'"):
        all_reduce(1.0, "median")
    with pytest.raises(TypeError, match=r"there is no mean over ranks of int64 numbers"):
        all_reduce(np.ones(2, np.int64), "mean")
    with pytest.raises(TypeError, match=r"there is no sum over ranks of bool numbers"):
        all_reduce(np.ones(2, bool))
    with pytest.raises(TypeError, match=r"there is no max over ranks of complex128 numbers"):
        all_reduce(1j, "max")
    with pytest.raises(TypeError, match=r"there is no sum over ranks of <U1 numbers"):
        all_reduce("x")
    w = pullback.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"no derivative: reduce gradients"):
        all_reduce(w * 2)
