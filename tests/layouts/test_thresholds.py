"""The source declares the thresholds of size, and tests run at both sides of them."""

import ast

import pytest

from .thresholds import AROUND, LOWERED, declared, modules

# What computes at once: programs that are compiled, which have thresholds of their own, have tests of their own.
ROOMS = ("_core", "_numerics", "_tape", "_tensor", "ops", "vocabulary", "nn", "optim", "func")
# Names in capitals beside a size that are no thresholds: bounds of what there is, factors of errors, matrices.
OTHERS = {
    "COMMON",
    "LD",
    "LETTERS",
    "LU",
    "NUMBERED",
    "ROUNDING",
    "SINGLE",
    "TINY",
    "UNSIGNED",
    "STEPS",
    "WORK",
    "WORTH_OF",
}
SIZED = {"size", "nbytes", "shape", "itemsize", "numel", "prod", "len", "count"}


def compared(tree):
    """The comparisons of a size with something else, with the names in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            names = {getattr(part, "attr", getattr(part, "id", "")) for side in parts for part in ast.walk(side)}
            if names & SIZED:
                yield node, parts, names


def test_thresholds_are_declared():
    known = {name for names in declared().values() for name in names}
    for name, tree in modules().items():
        if name.startswith(ROOMS):
            for node, _, names in compared(tree):
                unknown = {each for each in names if each.isupper() and len(each) > 1} - known - OTHERS
                assert not unknown, f"{name}:{node.lineno}: declare {unknown} as `NAME: Threshold = ...`, or see OTHERS"


def test_lower_values_are_those_of_thresholds():
    for name, values in LOWERED.items():
        assert {*values} <= {*declared()[name]}, name


def literal_sizes(tree):
    """Comparisons of a size with a whole number that has no name: those below 100 are no thresholds of size."""
    for node, parts, _ in compared(tree):
        for side in parts:
            if {type(part) for part in ast.walk(side)} <= {ast.Constant, ast.BinOp, ast.LShift, ast.Pow, ast.Mult}:
                value = ast.literal_eval(side) if isinstance(side, ast.Constant) else eval(ast.unparse(side))
                if type(value) is int and 100 <= value < 1 << 31:
                    yield node


def test_thresholds_have_names():
    for name, tree in modules().items():
        for node in literal_sizes(tree) if name.startswith((*ROOMS, "compile.machine")) else ():
            raise AssertionError(f"{name}:{node.lineno}: a threshold without a name: {ast.unparse(node)}")


@pytest.mark.parametrize("text", ["x.size > 256", "len(rows) >= 1 << 15", "4096 < math.prod(shape)"])
def test_literal_thresholds_are_found(text):
    assert [*literal_sizes(ast.parse(text))]


def test_sizes_are_at_both_sides_of_thresholds_of_elements():
    from pullback._core import machine, xp
    from pullback._numerics import blocks
    from pullback.ops import exponentials, normalization

    for threshold in (
        xp.FLAT,
        xp.VECTORS,
        xp.SMALL,
        xp.LONG,
        machine.WORTH,
        machine.LARGE,
        blocks.BLOCK // 8,
        exponentials.LARGE,
        normalization.MERGED,
        *machine.WORTH_OF.values(),
    ):
        assert min(AROUND) < threshold < max(AROUND)
        assert any(threshold / 3 < size < threshold for size in AROUND)
        assert any(threshold < size < 3 * threshold for size in AROUND)
