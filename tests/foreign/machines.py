"""Runs tests on machines that this one is not: see scripts/test-foreign."""

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import json
import lzma
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("PULLBACK_FOREIGN", Path.home() / ".cache/pullback-foreign"))
PAGE = ROOT / "docs/reference/platforms.md"
ARCHIVES = "http://deb.debian.org/debian", "http://snapshot.debian.org/archive/debian/20261121T120000Z"


@dataclasses.dataclass
class Machine:
    """A machine, and how tests run on it here."""

    name: str
    label: str
    debian: str = ""  # Debian's name of it
    loader: str = ""  # its dynamic loader, in the folder of its libraries
    emulator: str = ""
    seconds: int = 300  # that one file of tests may take
    processor: str = "max"  # that is emulated

    @property
    def lane(self) -> Path:
        return CACHE / self.name

    @property
    def results(self) -> Path:
        return self.lane / "results"


MACHINES = {
    each.name: each
    for each in (
        Machine("wasm32", "WebAssembly, 32 bits, in Node"),
        Machine("i386", "Linux x86, 32 bits", "i386", "ld-linux.so.2"),
        # A processor without pointer authentication, whose emulation takes most of the time.
        Machine("aarch64", "Linux ARM, 64 bits, emulated", "arm64", "", "qemu-aarch64-static", 540, "neoverse-n1"),
        Machine("s390x", "Linux s390x, big-endian, emulated", "s390x", "", "qemu-s390x-static", 540),
    )
}

# 1. What failed for want of something that the machine does not have; everything else is our fault

ENDED = {"crashed": "^crashed: ", "late": "^late: "}
CAUSES = {"ours": "by our fault", "crashed": "as the interpreter crashed", "late": "not done in time"}


def reason(line: dict, lacks: dict[str, str]) -> str:
    """What the machine lacks for a test that failed, by the words of files.toml in its name or error; or "ours"."""
    said = f"{line['test']}\n{line['why']}"
    return next((name for name, words in {**ENDED, **lacks}.items() if re.search(words, said, re.MULTILINE)), "ours")


# 2. The lanes: made once, of pinned packages whose checksums are checked


def make(machine: Machine) -> None:
    """The machine's interpreter, NumPy and pytest, in its folder of the cache."""
    pins = [HERE / name for name in ("wheels.txt", "wheels-aarch64.txt", "package-lock.json")]
    ours = "\n".join(line for line in (HERE / "debian.txt").read_text().splitlines() if line.startswith(machine.name))
    wanted = hashlib.sha256(b"".join([*(each.read_bytes() for each in pins), ours.encode()])).hexdigest()
    done = machine.lane / "done"
    if done.exists() and done.read_text() == wanted:
        return
    print(f"test-foreign: making {machine.lane}, once", flush=True)
    shutil.rmtree(machine.lane, ignore_errors=True)
    machine.lane.mkdir(parents=True)
    if machine.debian:
        unpack(machine)
    else:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, machine.lane)
        quiet("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=machine.lane)
    install(machine, "wheels.txt")
    if machine.name == "aarch64":
        platforms = [f"--platform=manylinux{age}_aarch64" for age in ("2014", "_2_17", "_2_27", "_2_28")]
        install(machine, "wheels-aarch64.txt", "--python-version=3.13", "--implementation=cp", *platforms)
    done.write_text(wanted)


def quiet(*command: str, folder: Path = ROOT) -> None:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"test-foreign: {' '.join(command)}\n{ended.stdout}{ended.stderr}")


def install(machine: Machine, pins: str, *more: str) -> None:
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", f"--target={machine.lane / 'site'}"]
    quiet(sys.executable, "-m", "pip", "install", *options, *more, f"--requirement={HERE / pins}")


def unpack(machine: Machine) -> None:
    """Debian's packages for the machine, of which nothing is run."""
    root = machine.lane / "root"
    for line in (HERE / "debian.txt").read_text().splitlines():
        name, digest, path = line.split()
        if name in {machine.name, "all"}:
            with tempfile.NamedTemporaryFile(suffix=".deb") as file:
                file.write(fetched(path, digest))
                file.flush()
                quiet("dpkg-deb", "--extract", file.name, str(root))
    for name in ("lib", "lib64"):  # where loaders look
        if not (root / name).exists():
            (root / name).symlink_to("usr/lib")
    # Its interpreter, and the children that tests start, take this checkout from the variables that their script sets.
    custom = root / "usr/lib/python3.13/sitecustomize.py"
    custom.unlink(missing_ok=True)
    custom.write_text(
        "import os, sys\n"
        "if 'FOREIGN_PATH' in os.environ:\n"
        "    sys.path[1:1] = os.environ['FOREIGN_PATH'].split(':')\n"
        "    sys.executable = sys._base_executable = os.environ['FOREIGN_PYTHON']\n"
    )


def fetched(path: str, digest: str) -> bytes:
    for archive in ARCHIVES:
        try:
            with urllib.request.urlopen(f"{archive}/{path}", timeout=120) as answer:
                data = answer.read()
        except OSError:
            continue
        if hashlib.sha256(data).hexdigest() == digest:
            return data
    sys.exit(f"test-foreign: {path} is in neither of {', '.join(ARCHIVES)} with its checksum")


def pin() -> None:
    """Write debian.txt: the packages that are needed on each machine, with the checksums that the archive's index has."""
    lines = set()
    for machine in (each for each in MACHINES.values() if each.debian):
        with urllib.request.urlopen(f"{ARCHIVES[0]}/dists/trixie/main/binary-{machine.debian}/Packages.xz") as answer:
            text = lzma.decompress(answer.read()).decode()
        blocks = (dict(re.findall(r"^(\S+): (.*)$", block, re.MULTILINE)) for block in text.split("\n\n") if block)
        packages, provided = {}, {}
        for block in blocks:
            packages.setdefault(block["Package"], block)
            for each in re.findall(r"[\w.+-]+", re.sub(r"\(.*?\)", "", block.get("Provides", ""))):
                provided.setdefault(each, block["Package"])
        wheels = machine.name == "aarch64"
        waiting = ["python3", "libstdc++6"] if wheels else ["python3", "python3-numpy", "python3-scipy"]
        seen = set()
        while waiting:
            name = waiting.pop()
            name = name if name in packages else provided.get(name, name)
            if name in seen:
                continue
            seen.add(name)
            block = packages[name]
            owner = "all" if block["Architecture"] == "all" else machine.name
            lines.add(f"{owner} {block['SHA256']} {block['Filename']}\n")
            needed = f"{block.get('Depends', '')}, {block.get('Pre-Depends', '')}"
            waiting += [re.split(r"[ :(|]", each.strip())[0] for each in needed.split(",") if each.strip()]
    (HERE / "debian.txt").write_text("".join(sorted(lines)))


# 3. Runs


def started(machine: Machine, folder: Path) -> list[str]:
    """The command that pytest's arguments follow; a script in the folder is the interpreter, for child processes, too."""
    if not machine.debian:
        node = ["node", "--stack-size=8000", "--no-warnings"]
        return [*node, str(HERE / "wasm.js"), str(machine.lane), str(HERE / "within.py"), str(ROOT)]
    root = machine.lane / "root"
    (libraries,) = (root / "usr/lib").glob("*-linux-gnu")
    paths = f"{libraries}:{libraries}/blas:{libraries}/lapack"
    inside = f"{root}/usr/bin/python3.13"
    run = f"{root}/usr/lib/{machine.loader} --library-path {paths} {inside}"
    if machine.emulator:
        run = f"{machine.emulator} -cpu {machine.processor} -L {root} -E LD_LIBRARY_PATH={paths} {inside}"
    script = folder / "python"
    path = f"{ROOT}/src:{ROOT}/scripts:{HERE}:{machine.lane}/site:{root}/usr/lib/python3/dist-packages"
    script.write_text(
        f"#!/bin/sh\nexport FOREIGN_PYTHON={script} FOREIGN_PATH={path} PYTHONHOME={root}/usr PYTHONNOUSERSITE=1\n"
        f'exec {run} "$@"\n'
    )
    script.chmod(0o755)
    return [str(script), "-m", "pytest", "-o", "addopts=--import-mode=importlib"]


def run(machine: Machine, files: list[str]) -> None:
    """Each file in a process of its own; after a test that ends the process, the others of its file in another one."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what it has started ends with it
    machine.results.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="foreign-") as temporary:
        command = started(machine, Path(temporary))
        for name in files:
            told = told_of(machine, name)
            told.unlink(missing_ok=True)
            log = told.with_suffix(".log")
            environment = {
                **{key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))},
                "FOREIGN_RESULTS": str(told),
                "FOREIGN_LOG": str(log),
                "PULLBACK_CACHE": f"{temporary}/compiled",
                "PYTHONPYCACHEPREFIX": str(machine.lane / "bytecode"),
            }
            began, without = time.monotonic(), []
            while len(without) < 6:
                ended = once([*command, *arguments(name, without)], environment, log, machine.seconds)
                if not (test := unfinished(told)) or test in without:
                    break
                without.append(test)
                tell(told, "failed", test, ended)
                if ended.startswith("late"):
                    break
            counts = collections.Counter(line["kind"] for line in lines_of(told))
            if not {"passed", "failed", "skipped"} & counts.keys():
                tell(told, "failed", name, f"nothing was run: {log.read_text(errors='replace')[-500:]}")
            tell(told, "done", name)
            print(f"{name}: {written(counts)} ({time.monotonic() - began:.0f} s)", flush=True)


def tell(told: Path, kind: str, test: str, why: str = "") -> None:
    with told.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"kind": kind, "test": test, "why": why}) + "\n")


def arguments(name: str, without: list[str]) -> list[str]:
    return ["-p", "told", "-p", "no:cacheprovider", "-q", *(f"--deselect={test}" for test in without), name]


def once(command: list[str], environment: dict[str, str], log: Path, seconds: int) -> str:
    """How a process ended that may take some time, and whose group is ended after it."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return f"crashed: status {process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            return f"late: {seconds} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


def told_of(machine: Machine, name: str) -> Path:
    return machine.results / f"{name.replace('/', '.')}.jsonl"


def done(told: Path, lacks: dict[str, str]) -> bool:
    """True if a file of tests has been run, with no failure by our fault."""
    lines = lines_of(told)
    ours = any(line["kind"] == "failed" and reason(line, lacks) == "ours" for line in lines)
    return not ours and any(line["kind"] == "done" for line in lines)


def lines_of(told: Path) -> list[dict]:
    return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()] if told.exists() else []


def unfinished(told: Path) -> str:
    """The test in which the process ended; the file itself where it came to none."""
    lines = lines_of(told)
    if not lines:
        return told.stem
    last = [line for line in lines if line["kind"] != "machine"][-1:]
    return last[0]["test"] if last and last[0]["kind"] == "began" else ""


# 4. What is said of them


def written(counts: collections.Counter) -> str:
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind]) or "nothing"


@dataclasses.dataclass
class Outcome:
    machine: dict
    files: int
    counts: collections.Counter
    lacks: collections.Counter
    ours: list[dict]


def outcome(machine: Machine, lacks: dict[str, str]) -> Outcome:
    """The sum of all results in the machine's folder."""
    found = Outcome({}, 0, collections.Counter(), collections.Counter(), [])
    for told in sorted(machine.results.glob("*.jsonl")):
        found.files += 1
        last = {}  # a test whose teardown failed has passed before
        for line in lines_of(told):
            if line["kind"] == "machine":
                found.machine = line
            elif line["kind"] in {"passed", "failed", "skipped"}:
                last[line["test"]] = line
        for line in last.values():
            found.counts[line["kind"]] += 1
            if line["kind"] == "failed":
                cause = reason(line, lacks)
                found.lacks[cause] += 1
                if cause == "ours":
                    found.ours.append(line)
    return found


def row(machine: Machine, found: Outcome) -> str:
    with_it = [f"NumPy {found.machine['numpy']}"]
    with_it += [
        f"{title} {found.machine[key]}"
        for key, title in (("scipy", "SciPy"), ("llvmlite", "llvmlite"))
        if found.machine[key]
    ]
    causes = [f"{count} {CAUSES.get(cause, f'without {cause}')}" for cause, count in found.lacks.most_common()]
    failed = f"{found.counts['failed']}{': ' if causes else ''}{', '.join(causes)}"
    cells = [
        machine.label,
        found.machine["python"],
        ", ".join(with_it),
        str(found.files),
        str(found.counts["passed"]),
        failed,
        str(found.counts["skipped"]),
    ]
    return f"| {' | '.join(cells)} |"


def tabulate(machine: Machine, found: Outcome) -> None:
    """Put the machine's row into the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = rf"^\| {re.escape(machine.label)} \|.*$"
    if not re.search(pattern, text, re.MULTILINE):
        sys.exit(f"test-foreign: {PAGE} has no row for {machine.label}")
    new = re.sub(pattern, lambda _: row(machine, found), text, flags=re.MULTILINE)
    PAGE.write_text(new, encoding="utf-8")


def files_of(chosen: dict[str, list[str]]) -> list[str]:
    """The files of tests that files.toml has chosen for a machine."""
    found = {path for pattern in chosen["run"] for path in ROOT.glob(pattern)}
    found -= {path for pattern in chosen.get("but", []) for path in ROOT.glob(pattern)}
    return sorted(str(path.relative_to(ROOT)) for path in found)


def main() -> None:
    parser = argparse.ArgumentParser("scripts/test-foreign")
    parser.add_argument("machine", choices=MACHINES)
    parser.add_argument("files", nargs="*", help="of tests; else those of tests/foreign/files.toml")
    parser.add_argument(
        "--rest", action="store_true", help="only files without results, and with failures by our fault"
    )
    parser.add_argument("--only-say", action="store_true", help="nothing is run: what is known from before")
    parser.add_argument("--table", action="store_true", help="write the row of docs/reference/platforms.md")
    parser.add_argument("--pin", action="store_true", help="write tests/foreign/debian.txt anew, from the archive")
    parser.add_argument("--seconds", type=int, help="that one file may take")
    given = parser.parse_intermixed_args()
    machine = MACHINES[given.machine]
    machine.seconds = given.seconds or machine.seconds
    if given.pin:
        return pin()
    lacking = [name for name in tools(machine) if not shutil.which(name)]
    if lacking or (machine.debian and platform.system() != "Linux"):
        sys.exit(f"test-foreign: {machine.name} needs {', '.join(lacking) or 'Linux'}")
    chosen = tomllib.loads((HERE / "files.toml").read_text())[machine.name]
    make(machine)
    if not given.only_say:
        if not given.files and not given.rest:
            shutil.rmtree(machine.results, ignore_errors=True)
        files = given.files or files_of(chosen)
        run(
            machine,
            [name for name in files if not given.rest or not done(told_of(machine, name), chosen.get("lacks", {}))],
        )
    found = outcome(machine, chosen.get("lacks", {}))
    for line in found.ours:
        print(f"ours: {line['test']}\n    {line['why'].strip().splitlines()[-1][:200]}")
    print(row(machine, found))
    if given.table:
        tabulate(machine, found)
    return sys.exit(bool(found.ours))


def tools(machine: Machine) -> list[str]:
    """The programs that the machine's lane needs."""
    return ["dpkg-deb", *filter(None, [machine.emulator])] if machine.debian else ["node", "npm"]


if __name__ == "__main__":
    main()
