"""Every operation with arrays of every layout, at both sides of the thresholds of size, beside plain arrays in C's order.

    python -m tests.layouts {samples,operations} [--all] [--draws N] [--seed N] [--part I/N] [--sizes N,...] [--single] [NAME ...]

What stands in C's order is computed by NumPy, without machine code, and compared with central differences; what lies in
some layout is computed with machine code from the first call on, if it can be made. Without `--all` each operation has
some layouts and sizes, drawn with the seed. Samples run with all thresholds as they are, and lowered, so that a few elements are many.
"""

import argparse
import itertools
import sys
import warnings
import zlib

import numpy as np

from pullback import ops
from pullback._core import machine

from ..samples import rows
from . import operations, thresholds
from .arrays import LAYOUTS, in_order, laid_out
from .results import differences, distance, results

JUMPING = (
    "lu qr inv det solve slogdet cofactor cond eig svd schur hessenberg chol ldl rank lstsq geqrf householder "
    "norm var std standardize affine max_spread"
).split()
"""Parts of the names of operations that repeated rows or columns bring to where results jump: matrices become singular,
variances zero, and maxima are no longer those of what is given with them."""


def drawn(name, several, options):
    """All of several, or some of them, by the seed and a name."""
    if options.all:
        return several
    rng = np.random.default_rng([options.seed, zlib.crc32(name.encode())])
    return [several[place] for place in rng.permutation(len(several))[: options.draws]]


def samples(options):
    """The primitives, as they are sampled: (name, function, arrays, step of differences)."""
    primitives = {name: value for name, value in ops.tables().items() if value.differentiable}
    for number, (name, makers, params) in enumerate(rows()):
        rng = np.random.default_rng(5)
        arrays = [np.asarray(make(rng)) for make in makers]
        yield (
            f"{name} {number}",
            lambda *args, name=name, params=params: primitives[name](*args, **params),
            arrays,
            None,
        )


def sized(options):
    """The operations, with inputs of several sizes and forms."""
    for name in operations.OPERATIONS:
        found = list(itertools.product(options.sizes, operations.FORMS))
        for size, form in drawn(name, found, options):
            arrays = operations.arguments(name, int(size), form, np.float32 if options.single else np.float64)
            step = None if options.single else min(1e-6, 0.01 / max(array.size for array in arrays))
            yield f"{name} {size} {form}", operations.called(name), arrays, step


def ways(name, options):
    """The layouts of the first input, of the others and of cotangents, and whether what lies between has them."""
    jumps = any(part in name for part in JUMPING)
    layouts = [layout for layout in LAYOUTS if not (jumps and "expanded" in layout)]
    mixed = {way for layout in layouts for way in itertools.product({layout, "C"}, repeat=3)}
    return drawn(name, list(itertools.product(sorted(mixed), (False, True))), options)


def given_in(layouts, arrays, lay):
    """Arrays in layouts, by a function of an array and a layout; and how cotangents are laid out."""
    first, other, last = layouts
    given = [lay(array, other if place else first) for place, array in enumerate(arrays)]
    return given, lambda array: lay(array, last)


class Plain:
    """A block in which NumPy computes everything."""

    def __enter__(self):
        self.before = machine.installed, machine.budget.products
        machine.installed = lambda: False
        machine.budget.products = dict.fromkeys([*machine.budget.products, "f", "d"])

    def __exit__(self, *_):
        machine.installed, machine.budget.products = self.before


def attempted(function, *args, **options):
    """What a function gives, or the error that it raises."""
    try:
        return function(*args, **options)
    except Exception as error:  # noqa: BLE001  # as with any other way
        return error


def wanted(name, function, arrays, step, options):
    """For each layout the results for the same numbers in C's order, and what is wrong with these."""
    found, wrong = [], []
    for layouts, between in ways(name, options):
        plain, laid = given_in(layouts, arrays, in_order)
        found.append((layouts, between, attempted(results, function, plain, laid, between=between)))
    if step:
        plain = [in_order(array, "C") for array in arrays]
        slope, by_values = differences(function, plain, lambda array: array, step)
        if not abs(slope - by_values) <= 2e-5 * max(1, abs(slope)) + 1e-9 / step * 1e-3:
            wrong.append(f"{name}: the derivative is {slope}, values have {by_values}")
    return found, wrong


def compared(name, function, arrays, references, tolerance):
    """What is wrong with the results for arrays in layouts."""
    for layouts, between, reference in references:
        given, laid = given_in(layouts, arrays, laid_out)
        before = [array.copy() for array in given]
        found = attempted(results, function, given, laid, between=between)
        where = f"{name}, {'/'.join(layouts)}{', between' if between else ''}"
        if isinstance(found, Exception) or isinstance(reference, Exception):
            if type(found) is not type(reference) or {*layouts} == {"C"}:
                yield f"{where}: {found!r}, in C's order {type(reference).__name__}"
            continue
        if not all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(given, before, strict=True)):
            yield f"{where}: an input has changed"
        distances = distance(found, reference)
        if not all(each < tolerance for each in distances.values()):
            yield f"{where}: {distances}"


def main():
    parser = argparse.ArgumentParser(prog="tests.layouts", description=__doc__)
    parser.add_argument("what", choices=["samples", "operations"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--draws", type=int, default=2, help="of sizes, and of layouts for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--sizes", default=None)
    parser.add_argument("--single", action="store_true", help="float32, without central differences")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    most = None if options.all else 7
    options.sizes = list(map(int, options.sizes.split(","))) if options.sizes else thresholds.AROUND[:most]
    part, parts = map(int, options.part.split("/"))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    cases = list((samples if options.what == "samples" else sized)(options))[part::parts]
    cases = [
        case
        for case in cases
        if not options.names or case[0].split(" ")[0] in options.names or case[0] in options.names
    ]
    begun(options)
    failures, count = [], 0

    def run(several):
        nonlocal count
        references = []
        for case in several:
            with Plain():
                found, wrong = wanted(*case, options)
            references.append(found)
            failures.extend(wrong)
            count += len(found)
        for lowered in (False, True) if options.what == "samples" else (False,):
            if lowered:
                thresholds.lower()
            for (name, function, arrays, _), found in zip(several, references, strict=True):
                failures.extend(compared(name, function, arrays, found, 5e-3 if options.single else 1e-9))

    if options.what == "samples":
        run(cases)
    else:
        for case in cases:
            run([case])
    print(*failures, sep="\n")
    print(f"{count} comparisons of {len(cases)} cases, {len(failures)} wrong")
    sys.exit(bool(failures))


def begun(options):
    """Machine code from the first call on."""
    machine.budget.elements, machine.budget.multiplications = machine.ENOUGH, machine.PRODUCTS
    machine.PORTION = 0
    machine.ENOUGH = 0


if __name__ == "__main__":
    main()
