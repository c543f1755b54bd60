"""The shape of the source: who imports whom, how long things are, what they are called, what is public."""

import ast
import builtins
import inspect
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

from source import (
    PATHS,
    ROOT,
    called,
    circles,
    code_lines,
    graph,
    imports,
    named,
    nodes,
    room,
    statements,
    text,
    tree,
    unreadable_imports,
)

# Modules that import what their arguments say: doors, which offer names; loaders, of which scripts/source.py knows the
# callers; stand-ins for modules of other libraries; and what `_core.lazy.PROVIDERS` names.
TOLD = set(
    "_core.lazy _core.machine command command.names compat.autograd.facade compat.torch.facade compat.torch.redirecting ops vocabulary "
    "interop.arrays vocabulary.numpy_protocol".split()
)

# Clients of everything else: nothing outside one of these packages imports it.
CLIENTS = {"explain", "testing"}

MODULE_LINES = 700
FUNCTION_LINES = 50
LINES = {"_core.primitives": 350, "_tape.recording": 400}

# Digits are for dtypes, for the number of axes, and for the logarithms and the like that mathematics calls so.
NAMES_WITH_DIGITS = [
    "u?int[0-9]+",
    "b?float[0-9]+(_[a-z0-9]+)?",
    "complex[0-9]+",
    "[A-Za-z_]+_?[123]d(_with_indices)?",
    "log(addexp)?(2|10|1p)|xlog1py",
    "exp2|expm1",
    "(arc|a)tan2|deg2rad|rad2deg",
    "i?r?h?fft2|ihfft2",
    "(modified_|scaled_modified_|spherical_)?bessel_[ijky][01]|i[01]e?",
    "relu6|rot90|draw_base2",
    "l1_loss|smooth_l1_loss|rebuild_(tensor|from_type)_v2",
    "ReLU6|(Smooth)?L1Loss|L1Unstructured|l1_unstructured|Chi2",
    "im2col",
    "get_privateuse1_backend_name",
]
BAD_NAMES = re.compile(r"utils?|helper|misc|_impl(?![a-z])", re.IGNORECASE)
TORCH_NAMES = {"utils", "utils.checkpoint", "optim.swa_utils"}  # modules that are there to have torch's names
TORCHS_PACKAGES = {
    "_disabled_torch_function_impl",
    "utils",
}  # whose names say nothing, but are those of torch.utils and torch.nn.utils

PACKAGES: dict[str, list[str]] = {}
for each in PATHS:
    PACKAGES.setdefault(each.rpartition(".")[0] or "pullback", []).append(each)


def every_module(test: Callable[[str], None]) -> Callable[[str], None]:
    """Run a test on every module, those of a package in one go."""

    def each(package: str) -> None:
        for name in PACKAGES[package]:
            test(name)

    each.__name__ = each.__qualname__ = test.__name__
    return pytest.mark.parametrize("package", PACKAGES)(each)


def test_imports_make_no_circle() -> None:
    """So that rooms and modules have an order from the ground up: `scripts/rooms` computes it for the page of the rooms."""
    modules = {name: set(others) for name, others in graph().items()}
    assert circles(modules) == []
    rooms: dict[str, set[str]] = {room(name): set() for name in modules}
    for name, others in modules.items():
        rooms[room(name)] |= {room(other) for other in others} - {room(name)}
    assert circles(rooms) == []


def test_lazy_imports_can_be_read() -> None:
    """A module's name is a string, but where a package imports what it offers, or what it has been told."""
    assert {name for name in PATHS if unreadable_imports(name)} == TOLD


@every_module
def test_nothing_but_the_command_line_imports_a_client(name: str) -> None:
    for other, line, _ in imports(name):
        assert room(other) not in CLIENTS or room(name) in {room(other), "command"}, f"{name}:{line} imports {other}"


@every_module
def test_pullback_is_imported_at_the_top_of_a_module(name: str) -> None:
    for function in nodes(name):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in statements(function):
                others = list(named(statement, name))
                assert not others, f"{name}:{statement.lineno} imports {others} inside a function"


@every_module
def test_messages_spell_the_name_of_the_package_as_the_program_does(name: str) -> None:
    """`{package}.stack`, since a program that was written for torch imports it as torch; examples and names of modules apart."""
    if room(name) in {"array_api", "command", "compat", "explain", "interop", "testing"}:
        return  # their names do say pullback
    documents = {id(each.value) for each in nodes(name) if isinstance(each, ast.Expr)}
    texts = [each for each in nodes(name) if isinstance(each, ast.Constant) and id(each) not in documents]
    for each in texts:
        words = isinstance(each.value, str) and " " in each.value and not set(each.value) & {"\n", ">"}
        if words and not each.value.startswith("("):
            assert not re.search(r"\bpullback(\.[a-zA-Z_]\w*|'s functions)", each.value), (
                f"{name}:{each.lineno}: write {{package}}, from _core/package.py, instead of pullback in {each.value!r}"
            )


@every_module
def test_context_variables_say_whose_they_are(name: str) -> None:
    """Tests of interruptions look for what is still entered by that word."""
    for call in nodes(name):
        if isinstance(call, ast.Call) and called(call) == "ContextVar":
            assert ast.literal_eval(call.args[0]).startswith("pullback."), f"{name}:{call.lineno}"


MODES = {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"}


def entering(
    tree: ast.AST, around: tuple[ast.FunctionDef, ...] = ()
) -> Iterator[tuple[int, tuple[ast.FunctionDef, ...]]]:
    """The lines of `with` statements that enter a mode, and the functions around each."""
    if isinstance(tree, ast.FunctionDef):
        around = (*around, tree)
    if isinstance(tree, ast.With):
        calls = [each for item in tree.items for each in ast.walk(item.context_expr) if isinstance(each, ast.Call)]
        if any(called(call) in MODES for call in calls):
            yield tree.lineno, around
    for each in ast.iter_child_nodes(tree):
        yield from entering(each, around)


@every_module
def test_functions_that_enter_a_mode_leave_it_whatever_interrupts_them(name: str) -> None:
    for line, around in entering(tree(name)):
        decorators = [ast.unparse(each) for function in around for each in function.decorator_list]
        assert "restoring" in decorators, f"{name}:{line}: write @restoring above {around[-1].name}, see _core.modes"


@pytest.mark.skipif(not (ROOT / "tests/parity/operators.txt").exists(), reason="the measurements are in the repository")
def test_the_operators_are_listed_as_they_are() -> None:
    page = runpy.run_path(str(ROOT / "scripts/operators"))
    listed = (ROOT / "docs/reference/operators.md").read_text(encoding="utf-8")
    assert page["page"]() == listed, "docs/reference/operators.md is not up to date: run scripts/operators"


def test_the_page_of_the_rooms_has_them_all() -> None:
    page = runpy.run_path(str(ROOT / "scripts/rooms"))["completed"]()
    for each in {room(name) for name in PATHS}:
        assert f'["{each}"]' in page, f"the drawing lacks {each}"
        assert re.search(rf"(?m)^\| \d+ \| `{each}` \|", page), f"the table lacks {each}"
    assert page.count("Circles among the ") == 2 == page.count(": 0.\n")


# Rooms without an underscore whose names users do not import.
FOR_NOBODY = {"__main__", "command", "vocabulary"}


def _inner_interfaces() -> set[tuple[str, str]]:
    """The modules that tests may import although users do not, each with the folder or the file of tests that does."""
    page = (ROOT / "docs/contribute/architecture.md").read_text(encoding="utf-8")
    found = set()
    for name, modules, tests in re.findall(r"(?m)^\| `(\w+)` \| (`.*`) \| (`.*`) \|$", page):
        for module in re.findall(r"`([^`]+)`", modules):
            found |= {(f"{name}.{module}".removesuffix(".__init__"), test) for test in re.findall(r"`([^`]+)`", tests)}
    return found


def _inner_imports() -> Iterator[tuple[str, str]]:
    """The modules of pullback that tests import and that are not public, each with the folder or the file of the test."""
    names = (ROOT / "tests/public_names.txt").read_text(encoding="utf-8")
    public = {each.removeprefix("pullback.") for each in re.findall(r"(?m)^([\w.]+):", names)}
    public |= {room(name) for name in PATHS if not room(name).startswith("_") and room(name) not in FOR_NOBODY}
    for path in (ROOT / "tests").rglob("*.py"):
        place = path.relative_to(ROOT / "tests").parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level and f"{node.module}.".startswith("pullback."):
                for each in node.names:
                    whole = f"{node.module}.{each.name}".removeprefix("pullback.")
                    module = whole if whole in PATHS else str(node.module).removeprefix("pullback").lstrip(".")
                    if module in PATHS and module not in public:
                        yield module, place[0] if len(place) > 1 else path.stem


def test_tests_import_what_is_public_or_an_inner_interface() -> None:
    listed, found = _inner_interfaces(), {*_inner_imports()}
    assert not found - listed, (
        "test it from outside, or say on docs/contribute/architecture.md that it is an inner interface"
    )
    assert not listed - found, "no test imports these: take them out of docs/contribute/architecture.md"


def test_lines_of_code_are_counted() -> None:
    written = [
        '"""Text',
        'over two lines."""',
        "",
        "# a comment",
        "x = (",
        "    1,  # one",
        "",
        ")",
        "def f():",
        "    'Text.'",
    ]
    text = "\n".join([*written, '    return """a', "", 'b"""', ""])
    assert code_lines(text) == 7  # x = ( 1, ) are three, def is one, the returned string is three


@pytest.mark.parametrize(
    ("arrows", "found"),
    [
        ({"a": ["b"], "b": ["c"], "c": []}, []),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, [["b", "c"]]),
        ({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(arrows: dict[str, list[str]], found: list[list[str]]) -> None:
    assert circles(arrows) == found


@every_module
def test_sizes(name: str) -> None:
    most = LINES.get(name, MODULE_LINES)
    count = len(PATHS[name].read_text(encoding="utf-8").splitlines())
    assert count <= most, f"{name} has {count} lines, {most} are allowed"
    for function in nodes(name):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (function.end_lineno or 0) - function.lineno + 1
            assert count <= FUNCTION_LINES, f"{name}.{function.name} has {count} lines, {FUNCTION_LINES} are allowed"


# Signatures that are given: those of torch and NumPy, which the public names of these packages have, as have their
# classes' `__init__`; of autograd's functions and `compile`; of primitives, whose operands and metadata their rules name
# (functions of `ops` that a definition of a primitive names, and the words that engines have for one).
GIVEN_PACKAGES = set("array_api compat distributions files masked nn optim utils vocabulary".split())
GIVEN = set("compile grad gradcheck gradgradcheck _load_from_state_dict _rebuild_tensor_v2".split())
PARAMETERS, LONG_SIGNATURES = 6, 14


def _parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters but `self` and `cls`; none of an overload, which says it all again."""
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    again = any(ast.unparse(each) == "overload" for each in function.decorator_list)
    return [] if again else [each for each in names if each not in {"self", "cls"}]


def _is_given(function: ast.FunctionDef, name: str, defining: set[str]) -> bool:
    """Whether another library, or a primitive, says what a function takes."""
    if function.name in GIVEN or any(ast.unparse(each).startswith("lowering(") for each in function.decorator_list):
        return True
    if room(name) == "ops":
        return function.name in defining or name == "ops.namespace"
    if room(name) == "_numpy":
        return hasattr(np, function.name.strip("_"))
    return room(name) in GIVEN_PACKAGES and (function.name == "__init__" or not function.name.startswith("_"))


def _long_signatures(name: str) -> Iterator[str]:
    """The functions of a module with too many parameters that no given signature in it has."""
    tables = [each for each in tree(name).body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
    defining = {each.id for table in tables for each in ast.walk(table.value) if isinstance(each, ast.Name)}
    functions = [each for each in nodes(name) if isinstance(each, ast.FunctionDef)]
    given = {each for function in functions if _is_given(function, name, defining) for each in _parameters(function)}
    for function in functions:
        own = [each for each in _parameters(function) if each not in given]
        if len(own) > PARAMETERS:
            yield f"{name}.{function.name}({', '.join(own)})"


def test_few_signatures_of_our_own_are_long() -> None:
    found = [each for name in PATHS for each in _long_signatures(name)]
    assert len(found) <= LONG_SIGNATURES, "what belongs together may be one object:\n" + "\n".join(found)


@pytest.mark.parametrize(("mark", "most"), [("# type: ignore[", 65), ("# noqa: ", 71)])
def test_few_lines_are_exceptions_from_checks(mark: str, most: int) -> None:
    found = sum(path.read_text(encoding="utf-8").count(mark) for path in PATHS.values())
    assert found <= most, f"{found} lines have {mark!r}: remove a cause, not only its message"


# The rooms whose types have been written; others follow.
ANY = {
    "_core": 0.13,
    "_numerics": 0.06,
    "_numpy": 0.09,
    "_tape": 0.1,
    "_tensor": 0.1,
    "array_api": 0.03,
    "autograd": 0.09,
    "command": 0.07,
    "compat": 0.15,
    "compile": 0.08,
    "distributed": 0.1,
    "distributions": 0.01,
    "explain": 0.08,
    "files": 0.09,
    "func": 0.1,
    "interop": 0.09,
    "interpreters": 0.26,
    "masked": 0.01,
    "nn": 0.07,
    "observe": 0.24,
    "ops": 0.01,
    "optim": 0.06,
    "program": 0.18,
    "signal": 0.03,
    "sparsity": 0.09,
    "testing": 0.09,
    "utils": 0.11,
    "vocabulary": 0.1,
}


def _annotations(name: str) -> Iterator[ast.expr | None]:
    """What a module says of the types of arguments, results and variables."""
    for node in nodes(name):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.returns
        elif isinstance(node, ast.arg | ast.AnnAssign):
            yield node.annotation


@pytest.mark.parametrize(("folder", "most"), ANY.items())
def test_few_types_say_nothing(folder: str, most: float) -> None:
    said = [each for name in PATHS if room(name) == folder for each in _annotations(name) if each is not None]
    found = [each for each in said if "Any" in {node.id for node in ast.walk(each) if isinstance(node, ast.Name)}]
    assert len(found) <= most * len(said), f"{len(found)} of {len(said)} annotations of {folder} contain Any"


@every_module
def test_names(name: str) -> None:
    defined = [node.name for node in nodes(name) if hasattr(node, "name") and isinstance(node, ast.stmt)]
    for word in [*(() if name in TORCH_NAMES else name.split(".")), *defined]:
        assert word in TORCHS_PACKAGES or not BAD_NAMES.search(word), f"{name}: {word} says nothing about what it is"
        allowed = any(re.fullmatch(pattern, word.strip("_")) for pattern in NAMES_WITH_DIGITS)
        assert allowed or not re.search(r"\d", word), f"{name}: {word} has a digit, and is not in NAMES_WITH_DIGITS"


# Classes that have the name of another one, since torch has both: of pruning, of torch.fx and modules, and what programs that
# import pullback as torch find in place of pullback's own. All others have their own: in a room; everywhere if users have it.
MIRRORS = {
    "compat.torch.backends": "cpu cuda mps",
    "compat.torch.fx.interpreter": "Interpreter Transformer",
    "compat.torch.fx.node": "Node",
    "compat.torch.inner": "Value",
    "compat.torch.sampling": "DistributedSampler",
    "compat.torch.top": "finfo",
    "nn.utils.prune": "Identity",
}


def _offered(name: str) -> set[str]:
    """The names that a module offers to users: in `__all__`, in the tables given to `index`, or imported `as` themselves."""
    found = set()
    for node in nodes(name):
        match node:
            case ast.Call(func=ast.Name(id="index" | "_index") | ast.Attribute(attr="index")):
                tables = node.args
            case ast.Assign(targets=[ast.Name(id="__all__" | "INDEX" | "_INDEX" | "_others")]):
                tables = [node.value]
            case ast.ImportFrom(names=names):
                found |= {each.name for each in names if each.name == each.asname}
                continue
            case _:
                continue
        texts = [each.value for table in tables for each in ast.walk(table) if isinstance(each, ast.Constant)]
        found |= {word for text in texts if isinstance(text, str) for word in text.split()}
    return found


def test_names_of_classes_are_their_own() -> None:
    offered = set().union(*map(_offered, PATHS))
    places: dict[str, list[str]] = {}
    for name in PATHS:
        for node in nodes(name):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name)
    for name, shared in places.items():
        own = [each for each in shared if name not in MIRRORS.get(each, "").split()]
        several = own if name in offered else [*map(room, own)]
        assert len(several) == 1 or (name not in offered and len({*several}) == len(several)), f"{name}: {shared}"
    mirrored = {(name, module) for module, names in MIRRORS.items() for name in names.split()}
    assert all(module in places[name] and len(places[name]) > 1 for name, module in mirrored), "MIRRORS has too many"


def test_every_public_name_exists_and_is_documented() -> None:
    import pullback

    assert len(set(pullback.__all__)) == len(pullback.__all__)
    missing = [name for name in dir(pullback) if not hasattr(pullback, name)]
    assert not missing
    public = [name for name in dir(pullback) if not name.startswith("_")]
    undocumented = [name for name in public if not inspect.getdoc(getattr(pullback, name))]
    assert not undocumented


def test_nothing_else_is_public() -> None:
    import pullback

    public = {name: value for name, value in vars(pullback).items() if not name.startswith("_")}
    modules = {name: value.__name__ for name, value in public.items() if isinstance(value, ModuleType)}
    assert modules == {name: f"pullback.{name}" for name in modules}
    strays = public.keys() - modules.keys() - set(pullback.__all__) - vars(builtins).keys()
    assert not strays


WATCH = """
import sys
import numpy

class Watch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {"numpy", "pullback"} and top not in sys.stdlib_module_names:
            print(name)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Watch)
import pullback
"""


def test_the_import_asks_for_nothing_but_numpy_and_the_core() -> None:
    """Not even in vain, but for the native core: an import whose failure is caught is printed all the same."""
    asked = os.environ | {"PULLBACK_NATIVE": ""}
    result = subprocess.run([sys.executable, "-c", WATCH], capture_output=True, text=True, check=False, env=asked)
    assert (result.returncode, result.stdout) == (0, "_pullback_native\n"), result.stdout + result.stderr


# What `import pullback` reads: all else is read when it is first asked for. A name more here is a quarter of a millisecond.
EAGER = """
    _core
    _core.bfloat
    _core.bounds
    _core.composing
    _core.contraction
    _core.halves
    _core.dtypes
    _core.errors
    _core.forks
    _core.lazy
    _core.machine
    _core.modes
    _core.package
    _core.placement
    _core.primitives
    _core.shapes
    _core.sites
    _core.tracebacks
    _core.values
    _core.xp
    _tape
    _tape.backward
    _tape.cuts
    _tape.generating
    _tape.memory
    _tape.native
    _tape.node
    _tape.recording
    _tape.refusals
    _tape.seeds
    _tape.shortcuts
    _tape.views
    _tape.walk
    _tape.writes
    _tensor
    _tensor.attributes
    _tensor.flags
    _tensor.functions
    _tensor.nested
    _tensor.surface
    _tensor.tensor
    ops
    ops.elementwise
    ops.linear_algebra
    ops.reductions
    ops.shapes
    vocabulary
    vocabulary.arithmetic
    vocabulary.indexing
    vocabulary.numpy_protocol
    vocabulary.products
    vocabulary.promotion
    vocabulary.reductions
    vocabulary.reinterpreting
    vocabulary.shapes
"""

LOADED = """
import sys
import numpy
before = {*sys.modules}
import pullback
print(*sys.modules.keys() - before)
"""


def test_the_import_is_light() -> None:
    alone = os.environ | {"PULLBACK_NATIVE": "0"}
    result = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, env=alone)
    loaded = set(result.stdout.split()) - {"pullback"}
    ours = {name for name in loaded if name.startswith("pullback.")}
    assert ours == {f"pullback.{name}" for name in EAGER.split()}
    light = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external"}
    light |= {"opcode", "_opcode", "_opcode_metadata"}  # before 2.3, NumPy has not imported these
    assert loaded - ours <= light, "modules that NumPy has not imported already"


# What CPython has beyond Python's reference, or has otherwise in another version: how objects lie in memory, what refers
# to them, instructions, profile functions. Private names of Python's library are such, too.
INTERNALS = set(
    "getrefcount get_referrers get_referents get_objects getprofile setprofile settrace get_instructions "
    "get_config_var pythonapi from_address implementation version_info hexversion __basicsize__ __itemsize__ __dictoffset__ "
    "__weakrefoffset__ __flags__ dis opcode".split()
)


def _internals(tree: ast.AST) -> Iterator[str]:
    """The names in a module's code that are those of CPython's internals, or private ones of Python's library."""
    library = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found = [each.name for each in names]
                library |= {each.asname or each.name for each in names if each.name in sys.stdlib_module_names}
            case ast.ImportFrom(module=str(module), names=names, level=0) if module in sys.stdlib_module_names:
                found = [module, *[each.name for each in names]]
                yield from (each.name for each in names if each.name.startswith("_"))
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in library and re.match("_[^_]", name):
                found = []
                yield f"{owner}.{name}"
            case ast.Attribute(attr=name):
                found = [name]
            case _:
                continue
        yield from INTERNALS.intersection(found)


def test_one_module_of_compile_knows_the_internals_of_python() -> None:
    """So that a new version of Python is one place to look at."""
    for name in PATHS:
        if room(name) == "compile" and name != "compile.cpython":
            assert not (found := [*_internals(tree(name))]), f"{name} uses {found}: ask for it in compile/cpython.py"
    assert INTERNALS - {"settrace", "version_info", "hexversion", "opcode"} <= {*_internals(tree("compile.cpython"))}


@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.getrefcount(x)",
        "from sys import setprofile",
        "import dis",
        "from dis import get_instructions",
        "import functools; functools._lru_cache_wrapper",
        "from copyreg import _slotnames",
        "import sys as system; system._getframe(1)",
        "kind.__basicsize__",
        "import ctypes; ctypes.c_int.from_address(id(x))",
    ],
)
def test_internals_of_python_are_found(text: str) -> None:
    assert [*_internals(ast.parse(text))]


COPYING = {"reshape", "ravel"}  # they give a view or a copy, by the layout of the array: what is written may be lost


def _is_copying(expression: ast.AST | None) -> bool:
    """Whether an expression is, or picks from, or views, what `reshape` or `ravel` gave; also one for each of several."""
    match expression:
        case ast.Call(func=ast.Attribute(attr=name)) if name in COPYING:
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr="view" | "swapaxes" | "transpose" | "squeeze")):
            return _is_copying(inner)
        case (
            ast.Subscript(value=inner)
            | ast.Attribute(value=inner, attr="T" | "real" | "imag")
            | ast.Starred(value=inner)
        ):
            return _is_copying(inner)
        case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner) | ast.NamedExpr(value=inner):
            return _is_copying(inner)
        case ast.Tuple(elts=several) | ast.List(elts=several):
            return any(map(_is_copying, several))
        case ast.Call(func=ast.Name(id="tuple" | "list" | "map"), args=several):
            return any(map(_is_copying, several))
    return False


def _written_through(node: ast.AST) -> list[ast.AST]:
    """The expressions whose memory a statement or a call writes."""
    match node:
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
            return [part.value for part in parts if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)]
        case ast.AugAssign(target=ast.Subscript(value=target)) | ast.AugAssign(target=target):
            return [target]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="ops" | "xp"))):
            return []  # rules: nothing is in place
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=keywords):
            written = [keyword.value for keyword in keywords if keyword.arg and keyword.arg.startswith("out")]
            numpys = isinstance(owner, ast.Name) and owner.id == "np"
            if numpys and isinstance(ufunc := getattr(np, name, None), np.ufunc):
                written += arguments[ufunc.nin :]
            if name in {"copyto", "put", "place", "putmask", "put_along_axis", "fill", "sort", "partition"}:
                written += arguments[:1] if numpys else [owner]
            return written + arguments[:1] if name == "at" else written
    return []


def _given_names(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The names that a statement or an expression gives, and to what."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from zip(names, values, strict=False)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.NamedExpr(target=target, value=value):
            yield target, value


def _lost_writes(function: ast.AST) -> Iterator[ast.AST]:
    """What a function writes through `reshape` or `ravel`, or through a name that it has given to what they give."""
    copying: set[str] = set()
    for node in ast.walk(function):
        for target, value in _given_names(node):
            if _is_copying(value):
                parts = [part for part in ast.walk(target) if isinstance(part, ast.Name)]
                copying |= {part.id for part in parts if isinstance(part.ctx, ast.Store)}
    for node in ast.walk(function):
        for written in _written_through(node):
            if _is_copying(written) or (isinstance(written, ast.Name) and written.id in copying):
                yield node


@every_module
def test_nothing_is_written_through_a_reshape(name: str) -> None:
    """Such a write is lost where the layout needs a copy: `_xp.reshaped_view` makes no copy, and says so."""
    if not any(word in text(name) for word in COPYING):
        return
    for function in nodes(name):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in _lost_writes(function):
                raise AssertionError(f"{name}:{node.lineno} writes through a reshape: {ast.unparse(node)}")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "rows.reshape(-1)[places] -= own",
        "x.ravel()[0] = 1",
        "np.add.at(out.reshape(-1), places, values)",
        "np.exp(x, out=out.reshape(2, 3).T)",
        "np.add(a, b, out.ravel())",
        "flat = x.reshape(-1).view(kind); flat[::2] = 0",
        "a, b = [each.reshape(-1) for each in arrays]; b += 1",
        "np.copyto(np.reshape(x, -1), y)",
        "x.reshape(-1).sort()",
    ],
)
def test_writes_through_a_reshape_are_found(text: str) -> None:
    assert list(_lost_writes(ast.parse(text)))


@pytest.mark.parametrize(
    "text", ["out[places.reshape(-1)] = x.reshape(-1)", "np.add(a.reshape(-1), b)", "x = y.reshape(-1)"]
)
def test_other_reshapes_are_not(text: str) -> None:
    assert not list(_lost_writes(ast.parse(text)))
