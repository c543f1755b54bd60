"""Programs through C: written into one file, compiled, and called."""

import importlib.util
import shutil
import subprocess

import numpy as np

from pullback.compile.export.bound import Bound, Slot
from pullback.compile.export.exporting import write, writer
from pullback.compile.export.unit import Options, Unit
from pullback.compile.passes import simplify
from pullback.compile.passes.dead import without_dead_code

GCC = shutil.which("gcc")
STRICT = "-std=c99 -Wall -Wextra -pedantic -Wconversion -Werror -ffp-contract=off".split()
QUICK = ("-O1",)


def bound_program(name, program, arrays):
    """A program, and arrays for its inputs, as a function to export."""
    simple = simplify(without_dead_code(program))
    written = {place for place, _ in simple.writes}
    inputs = [
        Slot(f"x{place}", f"x{place}", value, array, written=place in written)
        for place, (value, array) in enumerate(zip(simple.inputs, arrays, strict=True))
    ]
    outputs = [Slot(f"y{place}", f"y{place}", value) for place, value in enumerate(simple.outputs)]
    return Bound(name, simple, inputs, outputs)


def written_programs(folder, bounds, title="programs", **options):
    """The folder with the C file of several functions."""
    return write(folder, title, bounds, Options(**options))


def compiled_sources(folder, *names, flags=QUICK):
    """C files of a folder, compiled without a warning, as the library of the first name."""
    sources = [str(folder / f"{name}.c") for name in names]
    command = [GCC, *STRICT, *flags, "-fPIC", "-shared", *sources, "-o", str(folder / f"lib{names[0]}.so"), "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[:3000]


def compiled_library(folder, title="programs", flags=QUICK):
    """The functions of a folder, compiled without a warning, by the wrapper that lies there."""
    compiled_sources(folder, title, flags=flags)
    spec = importlib.util.spec_from_file_location(f"exported_{folder.name}_{title}", folder / f"{title}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Library()


def called(library, bound):
    """What a function gives for the arrays that it was recorded with, and what the inputs that it writes hold then."""
    function = getattr(library, bound.name)
    given = [np.array(slot.array, order="C") for slot in bound.arguments]
    results = function(*given)
    results = results if type(results) is tuple else (results,)
    return [*results, *[given[place] for place, _ in bound.program.writes]]


def run_test(folder, title, *flags):
    """Compile and run the recorded test of a folder; what it prints."""
    test = folder / "test"
    sources = [str(folder / f"test_{title}.c"), str(folder / f"{title}.c")]
    built = subprocess.run(
        [GCC, *STRICT, *flags, *sources, "-o", str(test), "-lm"],
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert built.returncode == 0, built.stderr[:3000]
    done = subprocess.run([str(test)], check=False, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr[:3000]
    return done.stdout


def planned(bound):
    """Plan a function, as far as that it is known to have code."""
    writer(Unit("programs", Options()), bound)
