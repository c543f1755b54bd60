"""Passes on random programs: what they give is valid, computes the same, and cannot be simplified further."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import pullback
from pullback import ops
from pullback.compile.inference import RULES, infer
from pullback.compile.passes import PASSES, simplify
from pullback.compile.program import Equation, Program, Value, check, run

from .. import samples
from ..samples import makers
from .near import DivisionByZeroError, assert_near, slack
from .programs import FAMILIES, Growing, assert_same, of_row, one_equation, programs

EXACT = [name for name, each in PASSES.items() if each.exact]
FAST = [name for name, each in PASSES.items() if not each.exact]
JUMPING = {"jumping", "comparison", "logic", "where", "cast"}
SMOOTH = [name for name in FAMILIES if name not in JUMPING]
SINGLE = np.dtype(np.float32)


def conforms(program, arrays):
    """What a program computes, with every value found to have the shape and dtype that it is said to have."""

    def each(equation, given):
        made = equation.primitive.forward(*given, **equation.params)
        for value, array in zip(equation.outputs, made if type(made) is tuple else (made,), strict=True):
            assert (np.shape(array), array.dtype) == (value.shape, value.dtype), (equation.name, equation.params)
        return made

    with np.errstate(all="ignore"):
        return run(check(program), arrays, each=each)


def laid_out(drawn, order):
    """A program with the same numbers in another order in memory; sums then differ from those that guards expect."""
    program, arrays = drawn
    if order == "C":
        return program, arrays
    if order == "gaps":
        arrays = [np.repeat(array[..., None], 2, -1)[..., 0] for array in arrays]
    return program.changed(guards=()), [np.asarray(array, order="F" if order == "F" else "K") for array in arrays]


each_order = st.sampled_from(["C", "F", "gaps"])


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=30)
@given(programs(20), each_order)
def test_an_exact_pass_changes_no_bit(name, drawn, order):
    program, arrays = laid_out(drawn, order)
    assert_same(conforms(PASSES[name](program), arrays), run(program, arrays))


@given(programs(40), each_order)
def test_exact_passes_together_change_no_bit(drawn, order):
    program, arrays = laid_out(drawn, order)
    simple = simplify(program, fuse=False)
    assert len(simple.equations) <= sum(len(e.params.get("path", ())) + 1 for e in program.equations)
    assert_same(conforms(simple, arrays), run(program, arrays))


@pytest.mark.parametrize("names", [*([name] for name in FAST), [*PASSES]], ids=[*FAST, "all"])
@settings(max_examples=40)
@given(data=st.data())
def test_a_fast_pass_only_rounds(names, data):
    program, arrays = data.draw(programs(12, families=SMOOTH))
    program = program.changed(guards=())
    try:
        allowed = slack(program, arrays)
    except DivisionByZeroError:
        assume(False)
    simple = simplify(program, without=[name for name in PASSES if name not in names])
    assert_near(conforms(simple, arrays), allowed)


@given(programs(30), st.booleans())
def test_simple_is_simple(drawn, fuse):
    once = simplify(drawn[0], fuse=fuse)
    twice = simplify(once, fuse=fuse)
    assert [e.name for e in twice.equations] == [e.name for e in once.equations]


def test_unknown_passes_are_refused():
    with pytest.raises(ValueError, match=r"there is no pass 'dead'.*dead code"):
        simplify(Program((), (), ()), without=["dead"])


@given(programs(20))
def test_shapes_are_inferred_as_they_are(drawn):
    for equation in drawn[0].equations:
        if equation.name in RULES and len({value.dtype for value in equation.inputs if value.dtype.kind == "f"}) == 1:
            found = infer(equation.primitive, equation.inputs, equation.params)
            assert found == [(value.shape, value.dtype) for value in equation.outputs], equation.name


# Definitions

DEFINED = {name for name, primitive in ops.tables().items() if primitive.definition is not None}
WEIGHED = ("weighed_nll", [makers.reals(4, 3), makers.whole(3, 4), makers.reals(4)], {})
WITHOUT_DERIVATIVE = [
    ("heaviside", [makers.reals(3, 4), makers.reals(4)], {}),
    *((name, [makers.reals(3, 4)], {}) for name in ("isposinf", "isneginf")),
]
ROWS = [row for row in samples.rows() if row[0] in DEFINED and row[0] != "weighed_nll"] + [WEIGHED, *WITHOUT_DERIVATIVE]
WHOLE = {("vector_norm", 0.0), ("vector_norm", 3.0), ("vector_norm", 0.5), ("vector_norm", -1.0)}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{i}" for i, row in enumerate(ROWS)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_definition_computes_what_its_primitive_does(row, dtype):
    program, arrays = of_row(row, np.dtype(dtype))
    simple = PASSES["decompositions"](program)
    primitive = getattr(ops, row[0])
    whole = row[0] == "prod" or (row[0], row[2].get("order")) in WHOLE
    whole |= arrays[0].dtype.kind == "c" and not (primitive.defined and primitive.complex != "refused")
    if row[1] and not arrays[0].shape:
        whole |= program.outputs[0].dtype != arrays[0].dtype  # NumPy 1 widens arrays without axes
    assert (row[0] in [e.name for e in simple.equations]) == whole
    assert_near(conforms(simple, arrays), slack(program, arrays))


def test_every_definition_has_a_row():
    assert DEFINED - {row[0] for row in ROWS} == set()


SPECIAL = np.array([math.nan, math.inf, -math.inf, 0.0, 1.0, -2.0, 1e30, -1e30, 88.0, -88.0, 1e-30])
ELEMENTS = [row for row in ROWS if getattr(ops, row[0]).kind in ("elementwise", "zero") and len(row[1]) == 1]
OF_ROWS = [
    *((name, {"axis": 1}) for name in ("softmax", "log_softmax")),
    *((name, {"axis": (1,), "keepdims": True}) for name in ("mean", "logsumexp", "largest", "smallest")),
    *((name, {"axis": (1,), "keepdims": False, "correction": 1}) for name in ("var", "std")),
    *((name, {"axis": (1,), "eps": 1e-5}) for name in ("standardize", "rms_normalize")),
    *(("vector_norm", {"axis": (1,), "keepdims": True, "order": order}) for order in (1.0, 2.0, math.inf, -math.inf)),
]


def special_rows():
    """Rows of a matrix: ordinary numbers, all of them one number, and with one or two that are special."""
    rows = [[1.0, 2.0, -3.0], [5.0, 5.0, 5.0], [-math.inf] * 3, [math.inf] * 3, [math.inf, -math.inf, 0.0]]
    rows += [[special, 1.0, 2.0] for special in (math.nan, math.inf, -math.inf, 1e4, -1e4)]
    return np.array(rows)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("name", "params", "array"),
    [*((name, params, SPECIAL) for name, _, params in ELEMENTS), *((*case, special_rows()) for case in OF_ROWS)],
)
def test_definitions_send_special_numbers_where_eager_does(name, params, array, dtype):
    array = array.astype(dtype)
    program = one_equation(name, [array], params)
    (found,) = conforms(simplify(program), [array])
    (expected,) = run(program, [array])
    np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


OF_AXES = {
    "sum": lambda x: ops.sum(x, axis=(-1,), keepdims=True),
    "softmax": lambda x: ops.softmax(x, axis=-1),
    "logsumexp": lambda x: ops.logsumexp(x, axis=(-1,), keepdims=False),
    "amax": lambda x: ops.amax(x, axis=(-2, -1), keepdims=True),
    "flip": lambda x: ops.flip(x, axis=(-1,)),
    "cumsum": lambda x: ops.cumsum(x, axis=-1),
    "concat": lambda x: ops.concat(x, x, axis=-1, sizes=(3, 3)),
}


@pytest.mark.parametrize("name", OF_AXES)
def test_axes_may_be_counted_from_the_end(name):
    x = pullback.tensor([[1.0, -2.0, 3.0], [0.5, 7.0, -1.0]])
    expected = OF_AXES[name](x.numpy()) * 2.0
    for fuse in (True, False):
        compiled = pullback.compile(lambda t: OF_AXES[name](t) * 2.0, fuse=fuse)
        for _ in range(2):
            np.testing.assert_allclose(compiled(x).numpy(), expected, rtol=1e-6)


# What is left of given programs


def built(*steps, inputs=((3, 4),), constants=(), dtype=SINGLE):
    """The program of steps `(name, places, params)`; places count inputs, then constants, then what steps have made."""
    values = [Value(shape, dtype) for shape in inputs]
    fixed = {Value(array.shape, array.dtype): array for array in (np.asarray(x, dtype) for x in constants)}
    known, equations = [*values, *fixed], []
    for name, places, params in steps:
        operands = tuple(known[place] for place in places)
        outputs = tuple(Value(*kind) for kind in infer(getattr(ops, name), operands, params))
        equations.append(Equation(getattr(ops, name), operands, params, outputs))
        known += outputs
    return Program(tuple(values), tuple(equations), (known[-1],), fixed)


def left(program, **options):
    """The names of the equations that are left, in order."""
    return [e.name for e in simplify(program, **options).equations]


ONE, NOUGHT = [0, 1], {}
PERMUTED = {"axes": (1, 0)}
EXACT_CASES = {
    "x * 1": (built(("exp", [0], {}), ("multiply", [2, 1], {}), constants=[1.0]), ["exp"]),
    "x / 4": (built(("divide", ONE, {}), constants=[4.0]), ["multiply"]),
    "x / 3": (built(("divide", ONE, {}), constants=[3.0]), ["divide"]),
    "x / a tiny power of two": (built(("divide", ONE, {}), constants=[2.0**-149]), ["divide"]),
    "x + 0.0": (built(("exp", [0], {}), ("add", [2, 1], {}), constants=[0.0]), ["exp", "add"]),
    "x + -0.0": (built(("exp", [0], {}), ("add", [2, 1], {}), constants=[-0.0]), ["exp"]),
    "x - 0.0": (built(("exp", [0], {}), ("subtract", [2, 1], {}), constants=[0.0]), ["exp"]),
    "x - -0.0": (built(("exp", [0], {}), ("subtract", [2, 1], {}), constants=[-0.0]), ["exp", "subtract"]),
    "-(-x)": (built(("exp", [0], {}), ("negative", [1], {}), ("negative", [2], {})), ["exp"]),
    "x + -y": (built(("negative", [1], {}), ("add", [0, 2], {}), inputs=[(3,), (3,)]), ["subtract"]),
    "x.T.T": (built(("permute_dims", [0], PERMUTED), ("permute_dims", [1], PERMUTED), ("exp", [2], {})), ["exp"]),
    "a cast and back": (
        built(
            ("exp", [0], {}),
            ("astype", [1], {"dtype": np.dtype(float), "source": SINGLE}),
            ("astype", [2], {"dtype": SINGLE, "source": np.dtype(float)}),
        ),
        ["exp"],
    ),
    "a cast that loses, and back": (
        built(
            ("exp", [0], {}),
            ("astype", [1], {"dtype": np.dtype(np.float16), "source": SINGLE}),
            ("astype", [2], {"dtype": SINGLE, "source": np.dtype(np.float16)}),
        ),
        ["exp", "astype", "astype"],
    ),
    "a copy": (built(("exp", [0], {}), ("clone", [1], {})), ["exp"]),
    "the same twice": (built(("exp", [0], {}), ("exp", [0], {}), ("multiply", [1, 2], {})), ["exp", "multiply"]),
    "the same by other metadata": (
        built(("power", [0], {"exponent": 0.0}), ("power", [0], {"exponent": -0.0}), ("add", [1, 2], {})),
        ["power", "power", "add"],
    ),
    "a sum repeated for a product": (
        built(
            ("sum", [0], {"axis": (1,), "keepdims": True}),
            ("broadcast_to", [1], {"shape": (3, 4)}),
            ("multiply", [2, 0], {}),
        ),
        ["sum", "multiply"],
    ),
    "constants": (built(("exp", [1], {}), ("add", [0, 2], {}), constants=[1.0]), ["add"]),
    "what is not used": (built(("log", [0], {}), ("exp", [0], {})), ["exp"]),
}


@pytest.mark.parametrize("name", EXACT_CASES)
def test_exact_passes_leave(name):
    program, expected = EXACT_CASES[name]
    assert left(program, fuse=False) == expected


REPEATED = ("broadcast_to", [0], {"shape": (5, 3, 4)})
FAST_CASES = {
    "x + 0.0": (built(("exp", [0], {}), ("add", [2, 1], {}), constants=[0.0]), ["exp"]),
    "x ** 2": (built(("power", [0], {"exponent": 2})), ["multiply"]),
    "the sum of repeated elements": (
        built(REPEATED, ("sum", [1], {"axis": (0,), "keepdims": False})),
        ["multiply"],
    ),
    "the sum of a sum": (
        built(("sum", [0], {"axis": (0,), "keepdims": False}), ("sum", [1], {"axis": (0,), "keepdims": False})),
        ["sum"],
    ),
    "the sum of a transpose": (
        built(("permute_dims", [0], PERMUTED), ("sum", [1], {"axis": (0, 1), "keepdims": False})),
        ["sum", "reshape"],
    ),
    "exp of repeated elements": (built(REPEATED, ("exp", [1], {})), ["exp", "broadcast_to"]),
    "factors": (built(("multiply", [0, 1], {}), ("multiply", [3, 2], {}), constants=[3.0, 5.0]), ["multiply"]),
    "factors that overflow": (
        built(("multiply", [0, 1], {}), ("multiply", [3, 2], {}), constants=[1e30, 1e-30]),
        ["multiply", "multiply"],
    ),
    "a sum of products over an inner axis": (
        built(
            ("reshape", [0], {"shape": (3, 1, 4)}),
            ("multiply", [2, 1], {}),
            ("sum", [3], {"axis": (2,), "keepdims": False}),
            inputs=[(3, 4), (5, 4)],
        ),
        ["permute_dims", "matmul"],
    ),
    "an einsum": (
        built(("einsum", [0, 1], {"equation": "bij,bkj->bik"}), inputs=[(2, 3, 4), (2, 5, 4)]),
        ["permute_dims", "matmul"],
    ),
    "an einsum of three": (
        built(("einsum", [0, 1, 2], {"equation": "bij,vj,vb->vi"}), inputs=[(2, 3, 4), (5, 4), (5, 2)]),
        ["reshape", "permute_dims", "matmul", "reshape", "permute_dims", "reshape", "multiply", "sum"],
    ),
    "the transpose of a product with a transpose": (
        built(("permute_dims", [1], PERMUTED), ("matmul", [0, 2], {}), ("permute_dims", [3], PERMUTED),
              inputs=[(3, 4), (5, 4)]),
        ["permute_dims", "matmul"],
    ),
    "the sum of a batch of products": (
        built(
            ("permute_dims", [0], {"axes": (0, 2, 1)}),
            ("matmul", [2, 1], {}),
            ("sum", [3], {"axis": (0,), "keepdims": False}),
            inputs=[(6, 5, 3), (6, 5, 4)],
        ),
        ["reshape", "permute_dims", "reshape", "matmul"],
    ),
    "a batch of rows": (built(("matmul", [0, 1], {}), inputs=[(6, 5, 3), (3, 4)]), ["reshape", "matmul", "reshape"]),
    "the slope of logsumexp": (
        built(
            ("logsumexp", [0], {"axis": (1,), "keepdims": False}),
            ("reshape", [1], {"shape": (3, 1)}),
            ("subtract", [0, 2], {}),
            ("exp", [3], {}),
        ),
        ["amax", "maximum", "minimum", "subtract", "exp", "sum", "reciprocal", "multiply"],
    ),
    "the slope of log_softmax": (
        built(("log_softmax", [0], {"axis": 1}), ("exp", [1], {})),
        ["amax", "subtract", "exp", "sum", "reciprocal", "multiply"],
    ),
    "x + x of a multiple": (
        built(("multiply", [0, 1], {}), ("add", [2, 2], {}), constants=[0.1]),
        ["multiply"],
    ),
    "rows side by side": (
        built(
            *[("exp", [i], {}) for i in range(3)],
            *[("scatter_slice", [3 + i], {"shape": (5, 4), "index": (i - 4, ...)}) for i in (2, 0, 1)],
            ("add", [6, 7], {}),
            ("add", [9, 8], {}),
            inputs=[(4,)] * 3,
        ),
        ["exp"] * 3 + ["broadcast_to"] + ["reshape"] * 3 + ["concat"],
    ),
    "columns that overlap": (
        built(
            *[("scatter_slice", [i], {"shape": (2, 6), "index": (..., slice(i, i + 3))}) for i in range(3)],
            ("add", [3, 4], {}),
            ("add", [6, 5], {}),
            inputs=[(2, 3)] * 3,
        ),
        ["scatter_slice"] * 3 + ["add"] * 2,
    ),
    "columns of which one overlaps": (
        built(
            *[("scatter_slice", [i], {"shape": (2, 6), "index": (..., slice(s, s + 3))}) for i, s in enumerate((0, 1, 3))],
            ("add", [3, 4], {}),
            ("add", [6, 5], {}),
            inputs=[(2, 3)] * 3,
        ),
        ["scatter_slice", "concat", "add"],
    ),
    "all of it": (built(("exp", [0], {}), ("getitem", [1], {"index": (None, slice(0, 3), ...)})), ["exp", "reshape"]),
    "what was put is taken": (
        built(("exp", [0], {}), ("scatter_slice", [1], {"shape": (6, 4), "index": (slice(0, 3), ...)}),
              ("getitem", [2], {"index": (slice(0, 3), ...)})),
        ["exp"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAST_CASES)
def test_fast_passes_leave(name):
    program, expected = FAST_CASES[name]
    assert left(program) == expected
    rng = np.random.default_rng(4)
    arrays = [rng.uniform(0.5, 1.5, value.shape).astype(value.dtype) for value in program.inputs]
    if name != "factors that overflow":
        assert_near(conforms(simplify(program), arrays), slack(program, arrays))


@pytest.mark.parametrize("name", ["the slope of logsumexp", "the slope of log_softmax"])
def test_shares_of_exponentials_are_where_they_were(name):
    """NaN, infinities, rows of -inf alone, and numbers whose exponentials overflow."""
    rows = special_rows().astype(np.float32)
    steps = {
        "the slope of logsumexp": [
            ("logsumexp", [0], {"axis": (1,), "keepdims": True}), ("subtract", [0, 1], {}), ("exp", [2], {})
        ],
        "the slope of log_softmax": [("log_softmax", [0], {"axis": 1}), ("exp", [1], {})],
    }[name]  # fmt: skip
    program = built(*steps, inputs=[rows.shape])
    assert left(program).count("exp") == 1
    (found,), (expected,) = conforms(simplify(program), [rows]), run(program, [rows])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-37)


def test_effects_stay_and_are_not_shared():
    class Dice:
        name, kind, definition = "dice", "effect", None

        @staticmethod
        def forward(x):
            return np.random.random(x.shape)

    x = Value((3,), np.dtype(float))
    draws = [Equation(Dice, (x,), {}, (x.like(),)) for _ in range(3)]
    total = Equation(ops.add, (draws[0].output, draws[1].output), {}, (x.like(),))
    program = Program((x,), (*draws, total), (total.output,))
    assert left(program) == ["dice", "dice", "dice", "add"]


def test_constants_are_told_apart_by_their_bits():
    growing = Growing(None)
    x = growing.keep(np.ones(3))
    growing.inputs.append(x)
    quiet_nan = growing.constant(np.array(math.nan))
    for number in (0.0, -0.0, 0.0, math.nan):
        growing.do("maximum", x, growing.constant(np.array(number)))
    growing.do("maximum", x, quiet_nan)
    made = tuple(e.output for e in growing.equations)
    program = Program((x,), tuple(growing.equations), made, growing.constants)
    simple = simplify(program, fuse=False)
    assert len(simple.equations) == 3
    assert len({*simple.outputs}) == 3
