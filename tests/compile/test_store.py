"""The store of compiled code: what is kept comes back, and nothing else does."""

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from pullback import ops
from pullback.compile import store
from pullback.compile.program import Equation, Program, Value

from .programs import one_equation, random_program

POSIX = hasattr(os, "geteuid")
only_posix = pytest.mark.skipif(
    not POSIX or sys.platform in {"emscripten", "wasi"}, reason="owners and modes are those of POSIX"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The directory of a store that is there for one test."""
    path = tmp_path / "cache"
    monkeypatch.setenv(store.VARIABLE, str(path))
    monkeypatch.setattr(store, "_problems", [])
    return path


def entry(place):
    """The only file of a store."""
    (path,) = place.iterdir()
    return path


def test_what_is_kept_comes_back(place):
    assert store.get("a key") is None
    for data in (b"some code", b"", bytes(range(256)) * 1000):
        store.put("a key", data)
        assert store.get("a key") == data
    assert store.get("another key") is None
    assert len([*place.iterdir()]) == 1
    assert store.status() == f"{place}: 1 entry, 0.3 MB"


def test_keys_may_be_any_text(place):
    for key in ("../../outside", "a/b", "x" * 5000, "", "é\n"):
        store.put(key, key.encode())
        assert store.get(key) == key.encode()
    assert {path.parent for path in place.rglob("*")} == {place}


def test_no_key_no_entry(place):
    store.put(None, b"data")
    assert store.get(None) is None
    assert not place.exists() or not [*place.iterdir()]


@only_posix
def test_files_are_the_users_alone(place):
    store.put("key", b"data")
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(place).stat().st_mode) == 0o600


@pytest.mark.parametrize("where", [0, 8, 20, 47, 48, 60, 79, 80, -1])
def test_a_damaged_entry_is_noticed_and_removed(place, where):
    store.put("key", b"some code " * 10)
    path = entry(place)
    content = bytearray(path.read_bytes())
    content[where] ^= 0x10
    path.write_bytes(content)
    assert store.get("key") is None
    assert not path.exists()
    store.put("key", b"new")
    assert store.get("key") == b"new"


@pytest.mark.parametrize("length", [0, 1, 15, 16, 40, 48, 49, 79, 80, 81, 179])
def test_a_truncated_entry_is_noticed_and_removed(place, length):
    store.put("key", b"some code " * 10)
    path = entry(place)
    path.write_bytes(path.read_bytes()[:length])
    assert store.get("key") is None
    assert not path.exists()


def test_what_is_no_entry_is_left_alone(place):
    store.put("key", b"data")
    path = entry(place)
    path.unlink()
    path.mkdir()
    assert store.get("key") is None
    store.put("key", b"data")
    assert "cannot be written to" in store.status()
    assert path.is_dir()


def files(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


def test_an_entry_under_the_name_of_another_is_noticed_and_removed(place):
    """Its checksum is right: only what it says of itself tells that it is other code."""
    store.put("first", b"code of the first")
    (name,) = files(place)
    store.put("second", b"code of the second")
    (other,) = files(place).keys() - {name}
    (place / name).write_bytes((place / other).read_bytes())
    assert store.get("first") is None
    assert files(place).keys() == {other}
    assert store.get("second") == b"code of the second"


PROGRAMS = """
import numpy as np, pullback
x = pullback.tensor(np.linspace(0.1, 1, 5000))
for function in (lambda x: x.sin() * x, lambda x: (x.reshape(50, 100) @ x.reshape(100, 50)).sum(), lambda x: x.softmax(0)):
    compiled = pullback.compile(function, fullgraph=True)
    for _ in range(2):
        assert np.allclose(compiled(x).numpy(), function(x).numpy(), rtol=1e-12, atol=0)
"""


def test_programs_run_although_all_entries_have_changed_places(place):
    """Machine code of another program, called with these arguments, would end the process."""
    pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", PROGRAMS], check=False, capture_output=True, text=True, timeout=120)
        assert (run.returncode, run.stderr) == (0, "")
        contents = files(place)
        assert len(contents) > 2
        for name, content in zip(contents, [*contents.values()][1:] + [*contents.values()][:1], strict=True):
            (place / name).write_bytes(content)


@only_posix
@pytest.mark.parametrize("link", [Path.hardlink_to, Path.symlink_to])
def test_a_link_to_another_entry_is_not_taken_for_it(place, link):
    store.put("first", b"code of the first")
    first = entry(place)
    store.put("second", b"code of the second")
    (second,) = {*place.iterdir()} - {first}
    first.unlink()
    link(first, second)
    assert store.get("first") is None
    assert store.get("second") == b"code of the second"


WAITS = """
import sys
from pullback.compile import store
print(store.get("key"))
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_of_that_name_is_not_waited_for(place):
    store.put("key", b"data")
    path = entry(place)
    path.unlink()
    os.mkfifo(path, 0o600)
    run = subprocess.run([sys.executable, "-c", WAITS], check=False, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "None\n", "")
    store.put("key", b"data")  # which takes its place
    assert store.get("key") == b"data"


@only_posix
def test_other_things_of_that_name_are_not_read_and_leave_nothing_open(place, tmp_path):
    store.put("key", b"data")
    path = entry(place)
    path.unlink()
    opened = [*Path("/dev/fd").iterdir()] if Path("/dev/fd").is_dir() else []
    path.mkdir()
    for _ in range(3):
        assert store.get("key") is None
    path.rmdir()
    path.symlink_to("/dev/zero")
    assert store.get("key") is None
    path.unlink()
    with path.open("wb") as file:
        file.truncate(1 << 40)  # without blocks, and of more bytes than there is memory
    assert store.get("key") is None
    assert len(opened) == (len([*Path("/dev/fd").iterdir()]) if opened else 0)


@only_posix
@pytest.mark.parametrize("mode", [0o622, 0o606, 0o660])
def test_a_file_that_others_could_write_to_is_ignored(place, mode):
    store.put("key", b"data")
    entry(place).chmod(mode)
    assert store.get("key") is None


@only_posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_could_write_to_is_ignored(place, mode):
    store.put("key", b"data")
    place.chmod(mode)
    assert store.get("key") is None
    store.put("other", b"data")
    assert len([*place.iterdir()]) == 1
    assert "not a directory that only its owner" in store.status()


@only_posix
@pytest.mark.skipif(POSIX and os.geteuid() != 0, reason="only root can give files away")
def test_what_another_owns_is_ignored(place):
    store.put("key", b"data")
    os.chown(entry(place), 12345, -1)
    assert store.get("key") is None
    os.chown(entry(place), 0, -1)
    assert store.get("key") == b"data"
    os.chown(place, 12345, -1)
    assert store.get("key") is None


@only_posix
def test_links_are_not_followed(place, tmp_path):
    store.put("key", b"data")
    path = entry(place)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert store.get("key") is None
    linked = tmp_path / "linked"
    linked.symlink_to(place)
    os.environ[store.VARIABLE] = str(linked)
    store.put("key", b"data")
    assert path.is_symlink()


def test_a_full_disk_leaves_nothing_behind(place, monkeypatch):
    store.put("key", b"old")
    write, written = os.write, []

    def fails(file, data):
        if len(written) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(write(file, data[:10]))
        return written[-1]

    monkeypatch.setattr(os, "write", fails)
    store.put("key", b"new code that does not fit")
    store.put("other", b"new code that does not fit")
    monkeypatch.undo()
    os.environ[store.VARIABLE] = str(place)
    assert store.get("key") == b"old"
    assert store.get("other") is None
    assert len([*place.iterdir()]) == 1


def test_a_full_disk_is_told(place, monkeypatch):
    def fails(file, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", fails)
    store.put("key", b"new")
    assert store.status() == f"none: {place} cannot be written to: No space left on device"


def test_short_writes_are_continued(place, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    store.put("key", b"longer than seven bytes")
    assert store.get("key") == b"longer than seven bytes"


def test_no_place_to_write_to(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "file" / "cache"))
    store.put("key", b"data")
    assert store.get("key") is None
    assert "cannot be made: Not a directory" in store.status()
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "file"))
    store.put("key", b"data")
    assert store.get("key") is None
    assert (tmp_path / "file").read_text() == "a file"


@only_posix
@pytest.mark.skipif(POSIX and os.geteuid() == 0, reason="root writes to read-only directories")
def test_a_directory_that_is_read_only(place):
    store.put("key", b"data")
    place.chmod(0o500)
    store.put("other", b"data")
    assert store.get("key") == b"data"
    assert store.get("other") is None
    assert "cannot be written to: Permission denied" in store.status()
    place.chmod(0o700)


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "false"])
def test_it_can_be_switched_off(tmp_path, monkeypatch, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(store.VARIABLE, word)
    store.put("key", b"data")
    assert store.get("key") is None
    assert store.status() == "off (environment variable PULLBACK_CACHE)"
    assert not [*tmp_path.iterdir()]


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv(store.VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    expected = {"linux": ("xdg", ".cache"), "darwin": ("Library/Caches",) * 2, "win32": ("Local", "AppData/Local")}
    for system, (chosen, usual) in expected.items():
        monkeypatch.setattr(sys, "platform", system)
        assert store.directory() == tmp_path / chosen / "pullback"
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        assert store.directory() == tmp_path / usual / "pullback"
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
        monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr(sys, "platform", "linux")
    assert store.directory() == tmp_path / ".cache" / "pullback"


def test_the_oldest_go_when_there_is_no_room(place, monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 10_000)
    for number in range(8):
        before = {*place.iterdir()} if number else set()
        store.put(f"key {number}", bytes(2000))
        (new,) = {*place.iterdir()} - before
        os.utime(new, (1e9 + number, 1e9 + number))
        if number == 3:
            assert store.get("key 0") is not None  # which makes it young again
    kept = [number for number in range(8) if store.get(f"key {number}") is not None]
    assert kept == [0, 5, 6, 7]
    store.put("too large", bytes(9000))
    assert store.get("too large") is None


def test_a_file_of_today_is_left_as_it_is(place):
    store.put("key", b"data")
    (path,) = place.iterdir()
    os.utime(path, (time.time() - 3600,) * 2)
    before = path.stat().st_mtime_ns
    assert store.get("key") == b"data"
    assert path.stat().st_mtime_ns == before


def test_a_full_store_is_looked_through_now_and_then(place, monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 1_000_000)
    looks, trim = [], store._trim
    monkeypatch.setattr(store, "_trim", lambda place: (looks.append(place), trim(place)))
    most = 0
    for number in range(1500):
        store.put(f"key {number}", bytes(1900))
        most = max(most, number % 50 == 0 and sum(path.stat().st_size for path in place.iterdir()))
    assert len(looks) == pytest.approx(192, rel=0.2)  # 3 MB of 1 MB, 64 times
    assert 990_000 < most < 1_100_000


def test_what_was_begun_and_left_is_removed(place, monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 100)  # so that each entry has the others looked through
    store.put("key", b"data")
    old, young = place / ".begun-old", place / ".begun-young"
    for path, age in ((old, 7200), (young, 60)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    store.put("other", b"data")
    assert not old.exists()
    assert young.exists()


TWO = """
import sys
from pullback.compile import store
number = int(sys.argv[1])
codes = [bytes([i]) * 50_000 for i in range(4)]
for i in range(60):
    store.put("shared", codes[(i + number) % 4])
    found = store.get("shared")
    assert found is None or found in codes
    assert found is not None
print("done", store.status())
"""


def test_two_processes_at_once(place):
    command = [sys.executable, "-c", TWO]
    source = str(Path(store.__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    both = [
        subprocess.Popen([*command, str(i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for i in range(2)
    ]
    for process in both:
        output, error = process.communicate()
        assert process.returncode == 0, error
        assert output.startswith("done"), output
    assert len([*place.iterdir()]) == 1


# Keys


def changed(program, **params):
    (equation,) = program.equations
    new = Equation(equation.primitive, equation.inputs, equation.params | params, equation.outputs)
    return program.changed(equations=(new,))


def test_equal_programs_have_one_digest():
    for seed in range(20):
        first, second = (random_program(Random(seed), 12)[0] for _ in range(2))
        assert store.digest(first) == store.digest(second) is not None
        assert store.digest(first, "fused") != store.digest(first) != store.digest(first, "fused", 1)


def test_programs_that_differ_have_different_digests():
    x = np.ones((3, 4), np.float32)
    power = one_equation("power", [x], {"exponent": 0.0})
    total = one_equation("sum", [x], {"axis": (0,), "keepdims": False})
    a, b = Value((2,), np.dtype(float)), Value((2,), np.dtype(float))

    def subtraction(first, second, **parts):
        return Program((a, b), (Equation(ops.subtract, (first, second), {}, (y := a.like(),)),), (y,), **parts)

    def with_constant(number):
        constant = Value((2,), np.dtype(float))
        base = subtraction(a, b)
        return base.changed(constants={constant: np.array([1.0, number])})

    programs = [
        power, changed(power, exponent=-0.0), changed(power, exponent=0), changed(power, exponent=False),
        changed(power, exponent=np.float32(0)), changed(power, exponent=np.nan), changed(power, exponent="0.0"),
        total, changed(total, axis=(1,)), changed(total, axis=((0,),)), changed(total, axis=[0]),
        changed(total, keepdims=True), changed(total, axis=slice(0, 1)), changed(total, axis=slice(0, 1, 1)),
        one_equation("sum", [x.astype(float)], {"axis": (0,), "keepdims": False}),
        one_equation("sum", [x.T], {"axis": (0,), "keepdims": False}),
        one_equation("mean", [x], {"axis": (0,), "keepdims": False}),
        subtraction(a, b), subtraction(b, a), subtraction(a, a), subtraction(b, b),
        subtraction(a, b, writes=((0, a),)), subtraction(a, b, writes=((0, b),)), subtraction(a, b, writes=((1, b),)),
        with_constant(0.0), with_constant(-0.0), with_constant(1.0),
        changed(power, exponent=(power,)), changed(power, exponent=(total,)),
        changed(power, path=((ops.getitem, {"index": (0, ...)}),)), changed(power, path=((ops.getitem, {"index": (1, ...)}),)),
        changed(power, path=((ops.reshape, {"shape": (0, ...)}),)),
    ]  # fmt: skip
    digests = [store.digest(program) for program in programs]
    assert None not in digests
    assert len({*digests}) == len(programs)


def test_what_no_text_tells_apart_has_no_digest():
    program = one_equation("power", [np.ones(3)], {"exponent": 2.0})
    assert store.digest(changed(program, exponent=object())) is None


def test_the_surroundings_name_what_took_part():
    for part in (np.__version__, sys.version):
        assert part in store.surroundings()


CONVOLUTION = """
import pullback
x, weight = pullback.ones(2, 16, 16, 31, requires_grad=True), pullback.ones(4, 16, 3, 3, requires_grad=True)
y = pullback.compile(lambda x, weight: pullback.nn.functional.conv2d(x, weight, padding=1))(x, weight)
y.sum().backward()
print(y.sum().item(), x.grad.sum().item(), weight.grad.sum().item())
"""


@pytest.mark.parametrize("modes", [("always", "never", "always"), ("never", "auto", "never")])
def test_processes_that_choose_other_machine_code_share_a_store(place, modes):
    """A convolution is a step of its own where there is code for it, and a product of columns where there is not."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", CONVOLUTION], env={**os.environ, "PULLBACK_MACHINE_CODE": mode}, check=True,
            capture_output=True, text=True,
        ).stdout
        for mode in modes
    ]  # fmt: skip
    assert printed == printed[:1] * len(modes)
    assert list(place.iterdir())
