"""What type checkers say of programs of users: of the wheel, and of an editable install."""

import ast
import functools
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "typing"
STUBS = ROOT / "stubs" / "pullback-stubs"
RIGHT, WRONG = ("right.py", "rooms.py", "programs.py"), ("wrong.py", "slips.py", "faults.py")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MYPYPATH", "PYTHONPATH")}
pytestmark = pytest.mark.skipif(not (ROOT / "stubs").is_dir(), reason="the stubs are in the repository")


@pytest.fixture(scope="session", params=["wheel", "editable"])
def installed(request, tmp_path_factory):
    """A virtual environment with the package: stubs beside the modules as in the wheel, or a file with paths of a checkout."""
    there = tmp_path_factory.mktemp(request.param)
    venv.create(there / "environment")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": there / "environment"}))
    if request.param == "wheel":
        shutil.copytree(ROOT / "src" / "pullback", packages / "pullback")
        for stub in STUBS.rglob("*.pyi"):
            shutil.copy(stub, packages / "pullback" / stub.relative_to(STUBS))
    else:
        folders = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
            "dev-mode-dirs"
        ]
        (packages / "pullback.pth").write_text(
            "\n".join(str(ROOT / folder) for folder in folders) + "\n", encoding="utf-8"
        )
    numpy = Path(importlib.util.find_spec("numpy").origin).parent
    (packages / "numpy.pth").write_text(f"{numpy.parent}\n", encoding="utf-8")
    for program in PROGRAMS.glob("*.py"):
        shutil.copy(program, there)
    return there


def python_of(installed):
    """The interpreter of the environment."""
    return str(
        Path(sysconfig.get_path("scripts", "venv", {"base": installed / "environment"}))
        / Path("python").with_suffix(Path(sys.executable).suffix)
    )


def expected(name, marker):
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    return {number: found[1] for number, line in enumerate(lines, 1) if (found := re.search(marker, line))}


def plain(text):
    """A type without the modules that its names come from, and without what a checker knows of a literal."""
    text = re.sub(r"(\w+\.)+(?=\w)", "", text.replace("builtins.", ""))
    return re.sub(r"ndarray\[.*", "ndarray[Any, Any]", text).replace("Union[Tensor, None]", "Tensor | None")


@functools.cache
def by_mypy(installed):
    """All programs at once: most of the time goes into the package."""
    pytest.importorskip("mypy", reason="mypy is not installed: scripts/check has it")
    (installed / "mypy.ini").write_text("[mypy]\n", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "mypy.ini", "--cache-dir", "cache",
         "--python-executable", python_of(installed), *RIGHT, *WRONG],
        cwd=installed, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.findall(r"^(\w+\.py):(\d+): (\w+): (.*)$", result.stdout, re.MULTILINE)
    assert found, result.stdout + result.stderr
    return [(name, int(line), kind, text) for name, line, kind, text in found]


@functools.cache
def by_pyright(installed):
    """All programs at once."""
    pytest.importorskip("pyright", reason="pyright is not installed: scripts/check has it")
    config = {"include": [*RIGHT, *WRONG], "pythonVersion": "3.11"}
    (installed / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", python_of(installed), "-p", str(installed)],
        env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    kinds = {"information": "note", "error": "error"}
    return [
        (
            Path(found["file"]).name,
            found["range"]["start"]["line"] + 1,
            kinds.get(found["severity"], ""),
            found["message"],
        )
        for found in json.loads(result.stdout)["generalDiagnostics"]
    ]


CHECKERS = pytest.mark.parametrize("checker", [by_mypy, by_pyright], ids=["mypy", "pyright"])


@CHECKERS
@pytest.mark.parametrize("program", RIGHT)
def test_types_of_right_programs(installed, checker, program):
    found = [(line, kind, text) for name, line, kind, text in checker(installed) if name == program]
    assert not [each for each in found if each[1] == "error"]
    revealed = {
        line: plain(shown[1])
        for line, _, text in found
        if (shown := re.search(r'(?:Revealed type is|Type of .* is) "(.*)"', text, re.DOTALL))
    }
    wanted = expected(program, r"^\s*reveal_type\(.*\)  # (.*)$")
    assert len(wanted) >= (20 if program == "programs.py" else 180)
    assert revealed == wanted


@CHECKERS
@pytest.mark.parametrize("program", WRONG)
def test_mistakes_are_flagged(installed, checker, program):
    found = {line for name, line, kind, _ in checker(installed) if name == program and kind == "error"}
    assert found == {*expected(program, r"(  # wrong)$")}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from pullback import nn\nnn.Li", {"Linear"}),
        ("import pullback as pb\npb.func.", {"grad", "vmap", "jvp", "jacrev", "hessian"}),
        ("import pullback as pb\nx = pb.ones(2)\nx.", {"exp", "backward", "grad", "sum", "add_", "topk"}),
        ("import pullback as pb\npb.sof", {"softmax"}),
        ("import pullback as pb\npb.optim.A", {"Adam", "AdamW"}),
        ("import pullback as pb\n(pb.ones(2) + 1).exp().log_s", {"log_softmax"}),
        ("from pullback.distributions import Normal\nNormal(0.0, 1.0).sample().log_s", {"log_softmax"}),
        ("from pullback import nn\nnn.Linear(2, 2).wei", {"weight"}),
        ("from pullback import nn\nnn.LSTM(2, 3).forward(3)[0].exp().log_s", {"log_softmax"}),
        ("import pullback as pb\npb.linalg.svd(pb.ones(2, 2)).", {"U", "S", "Vh"}),
        ("import pullback as pb\npb.ones(2).max(dim=0).val", {"values"}),
        ("import pullback as pb\nx = pb.ones(2)\nx[0].rel", {"relu", "relu_"}),
        ("import pullback as pb\npb.einsum('i,i', 1, 2).relu_", {"relu_"}),
        ("import pullback as pb\npb.fft.rf", {"rfft", "rfftn"}),
        ("import pullback as pb\npb.special.lo", {"logit", "logsumexp"}),
        ("import pullback as pb\npb.autograd.grad(3, 4)[0].su", {"sum"}),
        ("import pullback as pb\npb.explain(3).st", {"steps"}),
        ("import pullback as pb\npb.observe.Obs", {"Observer"}),
        ("import pullback as pb\npb.program.record(pb.exp, 3).pro", {"program"}),
        ("from pullback.utils.data import Da", {"DataLoader", "Dataset"}),
        ("from pullback.utils.data import DataLoader\nDataLoader([1]).batch", {"batch_size"}),
        ("from pullback import optim\noptim.lr_scheduler.Co", {"CosineAnnealingLR", "ConstantLR"}),
        ("from pullback import optim\noptim.SGD([]).para", {"param_groups"}),
        ("import pullback.nn.functional as F\nF.cross_", {"cross_entropy"}),
        ("from pullback.autograd import Function\nFunction.app", {"apply"}),
        ("from pullback import array_api as xp\nxp.unique_c", {"unique_counts"}),
        ("from pullback import distributions as d\nd.Multi", {"Multinomial", "MultivariateNormal"}),
        ("from pullback.distributions import Normal\nNormal(0.0, 1.0).loc.clam", {"clamp", "clamp_"}),
        ("from pullback.nn import init\ninit.kaim", {"kaiming_normal_"}),
        ("from pullback.nn.utils import clip", {"clip_grad_norm_"}),
    ],
)
def test_an_editor_completes(installed, text, wanted):
    jedi = pytest.importorskip("jedi", reason="jedi is not installed: scripts/check has it")
    environment = jedi.create_environment(installed / "environment", safe=False, env_vars=ENVIRONMENT)
    lines = text.splitlines()
    found = jedi.Script(text, environment=environment).complete(len(lines), len(lines[-1]))
    assert wanted <= {each.name for each in found}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from pullback import nn\nnn.Conv2d(", "kernel_size: Sizes, stride: Sizes=1, padding: Sizes | str=0"),
        ("from pullback import nn\nnn.MaxPool2d(", "kernel_size: Sizes, stride: Sizes | None=None"),
        ("from pullback import nn\nnn.LazyLinear(", "out_features: int, bias: bool=True, device: Device | None=None"),
        ("from pullback import nn\nnn.init.normal_(", "tensor: Tensor, mean: float=0.0, std: float=1.0"),
        ("from pullback import optim\noptim.Adam(", "params: Params, lr: float | Tensor=1e-3"),
        ("from pullback import optim\noptim.SGD([]).step(", "closure: None=None"),
        ("from pullback import optim\noptim.LBFGS([]).step(", "closure: Callable[[], Loss]"),
        (
            "from pullback import optim\noptim.lr_scheduler.StepLR(",
            "optimizer: Optimizer, step_size: int, gamma: float=0.1",
        ),
        ("import pullback as pb\npb.masked.sum(", "input: Tensor, dim: Dim=None, *, keepdim: bool=False"),
        (
            "import pullback as pb\npb.ones(2).sum(",
            "dim: _builtins.int | _Sequence[_builtins.int] | None=None, keepdim: _builtins",
        ),
        ("import pullback as pb\npb.ones(2).mean(", "dtype: _DType | None=None, axis: _builtins.int"),
        ("import pullback as pb\npb.ones(2).reshape(", "*sizes: _builtins.int | _Sequence[_builtins.int]"),
        (
            "import pullback as pb\npb.ones(2).topk(",
            "k: _builtins.int, axis: _builtins.int=-1, largest: _builtins.bool=True",
        ),
        ("import pullback as pb\npb.ones(2).backward(", "retain_graph: _builtins.bool | None=None"),
        (
            "import pullback as pb\npb.tensor(",
            "data: object, *, dtype: _DType | None=None, requires_grad: _builtins.bool=False",
        ),
        ("import pullback as pb\npb.linspace(", "start: _Number | Tensor, end: _Number | Tensor, steps: _builtins.int"),
        ("import pullback as pb\npb.where(", "condition: Tensor, input: _TensorLike"),
        ("import pullback as pb\npb.manual_seed(", "seed: _builtins.int"),
        ("import pullback as pb\npb.compile(", "fullgraph: bool=False, dynamic: bool | None=None"),
        ("import pullback as pb\npb.explain(", "target: object, *args: object, gradient: object=None"),
        ("import pullback as pb\npb.save(", "obj: object, f: File"),
        ("import pullback as pb\npb.linalg.solve(", "A: Tensor, B: Tensor, *, left: bool=True"),
        ("import pullback as pb\npb.fft.rfft(", "input: Tensor, n: int | None=None, axis: int=-1"),
        ("import pullback as pb\npb.func.vmap(", "in_dims: int | tuple[object, ...]=0, out_dims: object=0"),
        (
            "import pullback as pb\npb.sparse_jacobian(",
            "x: ArrayLike, *, local: bool=False, like: SparseMatrix | None=None",
        ),
        (
            "import pullback.nn.functional as F\nF.cross_entropy(",
            "input: Tensor, target: Tensor, weight: Tensor | None=None",
        ),
        ("import pullback.nn.functional as F\nF.conv2d(", "bias: Tensor | None=None, stride: int | _Sequence[int]=1"),
        ("from pullback import nn\nnn.LSTM(", "input_size: int, hidden_size: int, num_layers: int=1, bias: bool=True"),
        ("from pullback import nn\nnn.MultiheadAttention(", "embed_dim: int, num_heads: int, dropout: float=0.0"),
        ("from pullback.distributions import Normal\nNormal(", "loc: Tensor | float, scale: Tensor | float"),
        ("from pullback.distributions import Normal\nNormal(0.0, 1.0).rsample(", "sample_shape: Sequence[int]=()"),
    ],
)
def test_an_editor_shows_parameters_with_their_types(installed, text, wanted):
    jedi = pytest.importorskip("jedi", reason="jedi is not installed: scripts/check has it")
    environment = jedi.create_environment(installed / "environment", safe=False, env_vars=ENVIRONMENT)
    lines = text.splitlines()
    found = [
        each.to_string()
        for each in jedi.Script(text, environment=environment).get_signatures(len(lines), len(lines[-1]))
    ]
    assert any(wanted in each for each in found)
    assert not any("Any" in each for each in found)


def test_the_stubs_are_up_to_date():
    subprocess.run([sys.executable, ROOT / "scripts" / "stubs", "--check"], check=True)


@pytest.mark.parametrize(
    ("written", "changed", "name"),
    [
        ("def cond(pred: _Any, true_fn:", "def cond(predicate: _Any, true_fn:", "cond"),
        ("reverse: bool = False, *, dim: int = 0", "reverse: bool = False, dim: int = 0", "scan"),
        ("lower: _Any, upper: _Any", "upper: _Any, lower: _Any", "fori_loop"),
        ("mode: bool = True) -> _Self", "mode: bool) -> _Self", "inference_mode.__new__"),
        ("def hessian(", "def hessians(", "hessians"),
    ],
)
def test_forms_that_are_written_out_have_the_arguments_of_the_source(tmp_path, written, changed, name):
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "stubs", tmp_path / "scripts")
    forms = (ROOT / "scripts" / "overloads.pyi").read_text(encoding="utf-8")
    assert written in forms
    (tmp_path / "scripts" / "overloads.pyi").write_text(forms.replace(written, changed), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, tmp_path / "scripts" / "stubs", "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert re.search(rf"overloads.*\b{name}\b|\b{name}\b.*overloads", result.stderr)


@pytest.mark.parametrize("path", ["", "linalg", "fft", "special", "nn", "nn.functional", "optim", "distributions"])
def test_the_stubs_declare_what_dir_lists(path):
    module = importlib.import_module(f"pullback.{path}" if path else "pullback")
    place = STUBS / path.replace(".", "/")
    file = place / "__init__.pyi" if (place / "__init__.pyi").exists() else place.with_suffix(".pyi")
    declared = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            declared |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.AnnAssign):
            declared.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            declared.add(node.name)
    imported = {name for name in dir(module) if isinstance(getattr(module, name), ModuleType)}  # attributes since then
    listed = {*module.__all__} if path else {*dir(module)} - imported | {*module.__all__}
    assert {name for name in listed if not name.startswith("_")} <= declared
    assert {name for name in declared if not name.startswith("_")} <= {*dir(module), "Tensor"}
