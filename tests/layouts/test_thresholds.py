"""Every threshold of size in the code is in the list that says at which sizes tests run."""

import ast
import importlib

import pytest

from .thresholds import AROUND, SIZES, modules

# Whole numbers that are no thresholds of what is computed at once: thresholds of programs that are compiled, which have
# tests of their own (tests/compile); how work is cut into tasks for threads; counts, codes and limits.
OTHERS = {
    "_core.machine": "BUSY CALL ENOUGH LONGEST PORTION PRODUCTS SPREAD STEP",
    "_numerics.blas": "DIAGONAL LEFT LOWER ONES OPENMP PLAIN ROW_MAJOR TRANSPOSED UPPER",
    "_numerics.gamma_functions": "FACTORIALS LARGE LARGE_FOR_SLOPE TERMS",
    "_tape.cuts": "REACH",
    "_tape.shortcuts": "ANY_NAMES",
    "compile.machine.assembly": "ALIGNED HEAVY LONG_LINE THREADED THREADED_COST",
    "compile.machine.callables": "ALIGNED CONTIGUOUS WRITABLE",
    "compile.machine.convolution": "MANY PACKED PADDED PANEL PLACES SHARE SHARED SHARES TASK WIDEST",
    "compile.machine.dense": "FEWEST LEAST LEAST_BATCH MOST_TASKS SHARED TINY",
    "compile.machine.depthwise": "LARGEST LINES",
    "compile.machine.elements": "ALTERNATING COSTLY INLINE",
    "compile.machine.executable": "ROUNDS",
    "compile.machine.fusion": "AGAIN DEAR DEEPEST FEW MOST_ELEMENTS MOST_EQUATIONS NESTS_BACK",
    "compile.machine.im2col": "LARGEST MOST_TAPS",
    "compile.machine.large": "MOST SEVERAL TABLE",
    "compile.machine.loops": "ALIGNED BRIEF CHUNK MANY SHORT SHORT_IN_LANES TOGETHER",
    "compile.machine.lowering": "LONG MANY",
    "compile.machine.matrices": "DEPTH FEW VECTORS",
    "compile.machine.modules": "ALIKE PART",
    "compile.machine.native": "NEW_ARRAY",
    "compile.machine.nests": "ACROSS APART CHEAP FULL KEPT_BYTES LANES MOST_NODES MOST_SUMMED SMALL",
    "compile.machine.pool": "ALL_LEFT ALL_TAKEN BITS LOCK LOOKS MEMBER NUMBER ONE_LEFT PATIENCE SLEEPS THREADS",
    "compile.machine.pooling": "MOST",
    "compile.machine.products": "ALIGNED BAND PART PARTS SHARED SMALL SPLIT TINY",
    "compile.machine.recurrent": "FEWEST SHARED",
    "compile.machine.reducing": "LONG_SUM",
    "compile.machine.registers": "EXACT_TERMS",
    "compile.machine.resampling": "TASK TOGETHER",
    "compile.machine.rows": "TOGETHER",
    "compile.machine.scanning": "TASK",
    "compile.machine.sequences": "LEAST SLOT_BITS",
    "compile.machine.small": "PACKED",
    "compile.machine.streaming": "AHEAD COOL LINE PART",
    "compile.machine.totals": "EXPONENT FAR MOST NEAR STACKED STRIP SUBNORMAL TOGETHER TURNS",
    "compile.machine.updates": "SEVERAL TASK",
    "compile.machine.watching": "RENEWALS",
    "func.live": "MEMORY",
    "ops.convolution": "ADDITION LAID NARROWEST SHARES TABLE",
    "ops.dot_product_attention": "SEVERAL",
    "ops.indexing": "LARGEST_MASK",
    "ops.losses": "LOWEST_LOG",
    "ops.recurrent": "STEP",
    "ops.special": "CANCELS FLAT LEVELS TERMS WORK",
    "optim.muon": "MANY",
    "vocabulary.attention": "SINGLE",
    "vocabulary.numpy_protocol": "VARARGS VARKEYWORDS",
    "vocabulary.special": "MOST_TERMS",
}
SIZED = {"size", "nbytes", "shape", "itemsize", "numel", "prod", "len", "count"}


WHOLE = {ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.USub, ast.LShift, ast.RShift, ast.Mult, ast.Sub}


def constants(tree):
    """The whole numbers that a module gives capital names."""
    for statement in tree.body:
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            several = isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple)
            pairs = zip(target.elts, statement.value.elts, strict=True) if several else [(target, statement.value)]
            for name, value in pairs:
                parts = {type(part) for part in ast.walk(value)} - {ast.Load}
                if isinstance(name, ast.Name) and name.id.isupper() and parts <= WHOLE:
                    yield name.id


def whole_numbers(name, tree):
    """Those of them whose values are whole numbers."""
    found = [*constants(tree)]
    if found:
        values = vars(importlib.import_module(f"pullback.{name}".removesuffix(".__init__")))
        return {each for each in found if type(values[each]) is int}
    return set()


def test_every_threshold_is_in_the_list():
    known = dict(modules())
    assert SIZES.keys() | OTHERS.keys() <= known.keys()
    for name, tree in known.items():
        listed = {*SIZES.get(name, ()), *OTHERS.get(name, "").split()}
        assert whole_numbers(name, tree) == listed, (
            f"{name}: thresholds of size, or others, are listed in tests/layouts"
        )


def literal_sizes(tree):
    """Comparisons of a size with a whole number that has no name: those below 100 are no thresholds of size."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            names = {getattr(part, "attr", getattr(part, "id", "")) for side in parts for part in ast.walk(side)}
            for side in parts:
                if {type(part) for part in ast.walk(side)} <= {ast.Constant, ast.BinOp, ast.LShift, ast.Pow, ast.Mult}:
                    value = ast.literal_eval(side) if isinstance(side, ast.Constant) else eval(ast.unparse(side))
                    if type(value) is int and 100 <= value < 1 << 31 and names & SIZED:
                        yield node


def test_thresholds_have_names():
    for name, tree in modules():
        for node in literal_sizes(tree):
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
