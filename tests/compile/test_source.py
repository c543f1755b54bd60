"""The text of a program: it runs in a process of its own, and computes what NumPy does to the last bit."""

import ast
import json
import math
import subprocess
import sys
import textwrap
from itertools import chain
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pullback._core import machine
from pullback.compile.naming import Identifiers, number
from pullback.compile.passes import simplify
from pullback.compile.program import DepartedError, Equation, Program, Value, run
from pullback.compile.references import UnwritableError
from pullback.compile.source import compile_source, write

from .. import samples
from .programs import Growing, assert_same, of_row, one_equation, programs, random_program, signed

SINGLE = np.dtype(np.float32)


@pytest.fixture(autouse=True, scope="module")
def without_machine_code():
    """Programs that run one operation after another do so by NumPy, which is all that a text has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "installed", lambda: False)
        yield


def function_of(source):
    """The function of a text, after it was seen to import nothing but NumPy and pullback."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Import):
            assert [alias.name for alias in node.names] == ["numpy"]
        elif isinstance(node, ast.ImportFrom):
            assert node.module.partition(".")[0] == "pullback"
    scope = {}
    exec(compile(source.text, "<text>", "exec"), scope)
    return scope[source.name]


def called(source, program, arrays):
    """The outputs, and then what the inputs hold that are written."""
    arrays = [array.copy() for array in arrays]
    result = function_of(source)(*arrays, **({"constants": source.constants} if source.constants else {}))
    outputs = [result] if len(program.outputs) == 1 else [*result]
    assert all(type(output) is np.ndarray for output in outputs)
    return outputs + [arrays[place] for place, _ in program.writes]


@settings(max_examples=50)
@given(programs(25), st.booleans())
def test_text_computes_what_the_program_does(drawn, simple):
    program, arrays = drawn
    program = simplify(program, fuse=False) if simple else program
    expected = run(program, arrays)
    assert_same(called(write(program), program, arrays), expected, signs=signed(program))
    assert_same(compile_source(program)(*arrays), expected, signs=signed(program))


@settings(max_examples=25)
@given(programs(15))
def test_text_of_a_fused_program(drawn):
    program, arrays = drawn
    program = simplify(program.changed(guards=()))
    assert_same(called(write(program), program, arrays), run(program, arrays))


ROWS = samples.rows()
TABLES = sorted({row[0] for row in ROWS})
PARTS = ("inputs", "equations", "outputs")


@pytest.mark.parametrize("name", TABLES)
def test_every_operation_has_a_text(name):
    """The same numbers, whatever the sign of a NaN or of a zero."""
    rows = [row for row in ROWS if row[0] == name]
    single = [of_row(row, SINGLE if i % 2 else np.dtype(float)) for i, row in enumerate(rows)]
    parts = [program for program, _ in single]
    arrays = [array for _, given in single for array in given]
    inputs, equations, outputs = (tuple(chain.from_iterable(getattr(p, part) for p in parts)) for part in PARTS)
    program = Program(inputs, equations, outputs)
    expected = run(program, arrays)
    for found in (compile_source(program)(*arrays), called(write(program), program, arrays)):
        for a, b in zip(found, expected, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_array_equal(a, b)


ALONE = """
import json, sys
import numpy as np

sys.modules["llvmlite"] = sys.modules["torch"] = None
with open(sys.argv[1]) as file:
    cases = json.load(file)
for i, (text, name, inputs, constants) in enumerate(cases):
    scope = {}
    exec(text, scope)
    arrays = np.load(sys.argv[2])
    given = {"constants": {c: arrays[f"{i}-{c}"] for c in constants}} if constants else {}
    result = scope[name](*[arrays[f"{i}-in{j}"].copy() for j in range(inputs)], **given)
    for j, output in enumerate(result if isinstance(result, tuple) else (result,)):
        np.testing.assert_array_equal(output, arrays[f"{i}-out{j}"])
print("done", len(cases))
"""


def test_text_runs_in_a_process_of_its_own(tmp_path):
    drawn = [random_program(Random(seed), 20) for seed in range(15)]
    drawn += [of_row(row) for row in ROWS[::23]]
    cases, kept = [], {}
    for i, (program, arrays) in enumerate(drawn):
        source = write(program)
        cases.append([source.text, source.name, len(arrays), [*source.constants]])
        kept |= {f"{i}-in{j}": array for j, array in enumerate(arrays)}
        kept |= {f"{i}-{name}": array for name, array in source.constants.items()}
        outputs = run(program, arrays)[: len(program.outputs)]
        kept |= {f"{i}-out{j}": array for j, array in enumerate(outputs)}
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    np.savez(tmp_path / "arrays.npz", **kept)
    (tmp_path / "alone.py").write_text(ALONE)
    command = [sys.executable, "-W", "error", "alone.py", "cases.json", "arrays.npz"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip()) == (0, f"done {len(cases)}"), found.stderr


# How it reads


def grown(*arrays):
    growing = Growing(None)
    for array in arrays:
        value = growing.keep(np.asarray(array))
        growing.inputs.append(value)
    return growing


def finished(growing, outputs, writes=(), guards=()):
    return Program(
        tuple(growing.inputs), tuple(growing.equations), tuple(outputs), growing.constants, tuple(writes), tuple(guards)
    )


def body(text):
    """The statements of the function, without its documentation."""
    tree = ast.parse(text).body[-1]
    return [ast.unparse(statement) for statement in tree.body[1:]]


def test_the_text_of_a_small_program():
    growing = grown(np.ones(3, np.float32))
    (x,) = growing.inputs
    (half,) = growing.do("multiply", x, growing.constant(np.array(0.1, np.float32)))
    (y,) = growing.do("sum", half, axis=(0,), keepdims=False)
    source = write(finished(growing, [y]), "loss", ["weights"])
    assert source.text == textwrap.dedent('''\
        import numpy as np


        def loss(weights):
            """A program that pullback has recorded, written with NumPy.

            Inputs:
                weights: float32[3]

            Outputs: float32[]
            """
            for name, given, shape, dtype in (
                ("weights", weights, (3,), "float32"),
            ):
                if given.shape != shape or given.dtype != dtype:
                    raise ValueError(f"{name} is to be {dtype}{list(shape)}, not {given.dtype}{list(given.shape)}")
            with np.errstate(all="ignore"):
                t1 = weights * 0.1
                t2 = np.sum(t1, axis=(0,))
            return np.asarray(t2)
    ''')


def test_arguments_of_other_shapes_and_dtypes_are_refused():
    growing = grown(np.ones((2, 3)), np.ones(()))
    name, rate = growing.inputs
    (y,) = growing.do("multiply", name, rate)
    function = function_of(write(finished(growing, [y], writes=[(0, y)]), "step", ["name", "rate"]))
    given = np.ones((2, 3))
    for wrong in (np.ones((3, 2)), np.ones((2, 3), np.float32), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match=r"name is to be float64\[2, 3\], not float(64|32)\["):
            function(wrong, np.ones(()))
    np.testing.assert_array_equal(function(given, 0.5), np.full((2, 3), 0.5))
    np.testing.assert_array_equal(given, np.full((2, 3), 0.5))


def test_lines_of_users_are_comments_and_their_names_are_kept():
    module = "def step(x, np):\n    lambda_ = x * x\n    y = x + \\\n        x\n    y = y - lambda_\n"
    code = compile(module, "train\n.py", "exec").co_consts[0]
    import linecache

    linecache.cache["train\n.py"] = (len(module), None, module.splitlines(True), "train\n.py")
    sites = {}
    for offset, (_, _, line) in enumerate(code.co_lines()):
        starts = [start for start, _, number in code.co_lines() if number == line]
        sites[line] = (code, starts[0])
        assert offset >= 0
    growing = grown(np.ones(3))
    (x,) = growing.inputs
    (square,) = growing.do("multiply", x, x)
    (double,) = growing.do("add", x, x)
    (y,) = growing.do("subtract", double, square)
    lines = [2, 3, 5]
    growing.equations = [
        Equation(e.primitive, e.inputs, e.params, e.outputs, sites[line])
        for e, line in zip(growing.equations, lines, strict=True)
    ]
    text = write(finished(growing, [y]), "step", ["np"]).text
    assert "# train?.py:2: lambda_ = x * x\n        lambda_ = np_ * np_\n" in text
    assert "y = np_ + np_" in text
    assert "y_2 = y - lambda_" in text


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("x", "x"), ("lambda", "lambda_"), ("model.0.weight", "model_0_weight"), ("", "x"), ("3d", "x_3d"),
        ("a b\nimport os", "a_b_import_os"), ("ﬁne", "fine"), ("np", "np_"), ("print", "print_"), ("\u0661", "x_\u0661"),
        ("__class__", "class_"), ('"""', "x"), ("constants", "constants_2"), ("types", "types_"),
    ],
)  # fmt: skip
def test_names_are_identifiers_that_clash_with_nothing(hint, name):
    names = Identifiers({"constants"})
    first, second = names.new(hint), names.new(hint)
    if name != "x_\u0661":
        assert first == name
    assert first != second
    assert first.isidentifier() and second.isidentifier()


def test_names_that_python_takes_for_one_are_told_apart():
    names = Identifiers()
    assert len({names.new(hint) for hint in ("ſ", "s", "S", "ﬁ", "fi")}) == 5


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.bool_, np.complex64, np.complex128])
def test_numbers_are_read_back_to_the_last_bit(dtype):
    rng = np.random.default_rng(3)
    drawn = rng.integers(0, 256, 64 * np.dtype(dtype).itemsize, np.uint8)
    numbers = (drawn % 2 if dtype is np.bool_ else drawn).view(dtype)
    for value in [*numbers, dtype(0), -dtype(0) if dtype is not np.bool_ else dtype(1), dtype(1)]:
        read = eval(number(value), {"np": np})
        assert type(read) is dtype
        np.testing.assert_equal(read, value)
        if np.dtype(dtype).kind == "f":
            assert np.signbit(read) == np.signbit(value) or math.isnan(value)


def test_large_constants_are_handed_over():
    growing = grown(np.ones((5, 5)))
    constant = growing.constant(np.arange(25.0).reshape(5, 5))
    (y,) = growing.do("add", growing.inputs[0], constant)
    program = finished(growing, [y])
    source = write(program)
    assert [*source.constants] == ["c1"]
    assert "c1: float64[5, 5]" in source.text
    assert_same(called(source, program, [np.ones((5, 5))]), run(program, [np.ones((5, 5))]))


def test_writes_come_last_and_see_what_was_there_before():
    """Two inputs change places, one by way of a view; outputs hold what was there before."""
    a, b = np.arange(4.0).reshape(2, 2), -np.arange(4.0).reshape(2, 2)
    growing = grown(a, b)
    x, y = growing.inputs
    (turned,) = growing.do("permute_dims", y, axes=(1, 0))
    (flat,) = growing.do("reshape", x, shape=(4,))
    program = finished(growing, [x, flat], writes=[(0, turned), (1, x)])
    source = write(program)
    assert_same(called(source, program, [a, b]), run(program, [a, b]))
    assert body(source.text)[-1].startswith("return")


def test_a_guard_that_fails_leaves_everything_as_it_was():
    growing = grown(np.ones(3), np.ones(()))
    x, n = growing.inputs
    (y,) = growing.do("add", x, n)
    (positive,) = growing.do("greater", n, growing.constant(np.array(0.0)))
    program = finished(growing, [y], writes=[(0, y)], guards=[(positive, True), (n, 1.0)])
    function, quick = function_of(write(program)), compile_source(program)
    for other in (-1.0, 2.0, math.nan):
        given = np.zeros(3)
        with pytest.raises(ValueError, match="when the program was recorded"):
            function(given, np.array(other))
        with pytest.raises(DepartedError, match="when the program was recorded"):
            quick(given, np.array(other))
        assert not given.any()
    given = np.zeros(3)
    np.testing.assert_array_equal(function(given, np.ones(())), np.ones(3))
    np.testing.assert_array_equal(given, np.ones(3))


def test_an_output_may_be_written_into():
    program = one_equation("broadcast_to", [np.ones(3)], {"shape": (2, 3)})
    result = function_of(write(program))(np.ones(3))
    result[0, 0] = 5
    np.testing.assert_array_equal(result, [[5, 1, 1], [1, 1, 1]])


def test_a_constant_that_is_a_result_is_not_the_programs_own():
    growing = grown(np.ones(3))
    constant = growing.constant(np.arange(30.0))
    program = finished(growing, [constant, growing.inputs[0]], writes=[(0, growing.constant(np.zeros(3)))])
    function, quick = function_of(source := write(program)), compile_source(program)
    for _ in range(2):
        for result in (function(np.ones(3), constants=source.constants)[0], quick(np.ones(3))[0]):
            np.testing.assert_array_equal(result, np.arange(30.0))
            result[...] = -1


def test_what_cannot_be_written_is_refused_by_name():
    class Draw:
        name, kind = "draw", "effect"

        @staticmethod
        def forward():
            return np.zeros(3)

    value = Value((3,), np.dtype(float))
    with pytest.raises(UnwritableError, match="draw, at an unknown line, draws random numbers"):
        write(Program((), (Equation(Draw, (), {}, (value,)),), (value,)))

    class Foreign:
        name, kind = "foreign", "general"
        forward = staticmethod(eval("lambda x: x"))

    with pytest.raises(
        UnwritableError, match="foreign, at an unknown line, cannot be written: no module has foreign under a name"
    ):
        write(Program((value,), (Equation(Foreign, (value,), {}, (value.like(),)),), (value,)))


def test_operations_that_numpy_lacks_are_imported():
    growing = grown(np.ones(3))
    (x,) = growing.inputs
    (y,) = growing.do("sigmoid", x)
    (z,) = growing.do("sigmoid", y)
    text = write(finished(growing, [z])).text
    assert text.startswith("import numpy as np\n\nfrom pullback import ops\n\n\ndef compiled(x):")
    assert text.count("ops.sigmoid.forward(") == 2


def test_a_text_of_numpys_operations_imports_numpy_alone():
    growing = grown(np.ones(3))
    (x,) = growing.inputs
    (y,) = growing.do("exp", x)
    (z,) = growing.do("multiply", x, y)
    assert "pullback import" not in write(finished(growing, [z])).text
