"""`pullback run --check`: the names of torch that a program uses, and which are missing."""

import importlib.machinery
import textwrap

import pytest
from tests.prepared import command


def checked(folder, text, files=None):
    """The exit code and what is printed, without the folder; other files lie beside the script."""
    for name, content in {"script.py": text, **(files or {})}.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(textwrap.dedent(content))
    run = command("run", "--check", str(folder / "script.py"), flags=("-W", "error"))
    assert run.stderr == ""
    return run.returncode, run.stdout.replace(f"{folder}/", "").splitlines()


def test_a_program_that_has_all_it_needs(tmp_path):
    code, lines = checked(tmp_path, "import torch.nn.functional as F\nprint(F.relu, open('ran', 'w'))\n")
    assert code == 0
    assert lines[0].startswith("script.py: 2 torch names, all available; https://")
    assert not (tmp_path / "ran").exists()


def test_names_that_are_missing_or_raise(tmp_path):
    code, lines = checked(
        tmp_path,
        """
        import torch
        from torch import nn as layers
        from torch.distributed.fsdp import FullyShardedDataParallel as Sharded
        def f(x):
            layers.functional.frobnicate(x)
            return torch.linalg.absent(x), torch.Tensor.anything, torch.zeros(1).anything, Sharded(x)
        """,
    )
    assert code == 1
    assert lines[:2] == [
        "script.py:6: torch.nn.functional.frobnicate is not in pullback",
        "script.py:7: torch.linalg.absent is not in pullback",
    ]
    assert lines[2].startswith("script.py:7: torch.distributed.fsdp.FullyShardedDataParallel is not in pullback: ")
    assert lines[2].endswith("; it raises when it is called")
    assert lines[3].startswith("script.py: 7 torch names, 3 missing, 0 as it is imported; ")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("print(torch.absent)", ["is not in pullback; it stops the import"]),
        ("def f(x=torch.absent):\n    pass", ["is not in pullback; it stops the import"]),
        ("@torch.absent\ndef f():\n    pass", ["is not in pullback; it stops the import"]),
        ("class A:\n    kind = torch.absent", ["is not in pullback; it stops the import"]),
        ("def f() -> torch.absent:\n    x: torch.absent = 1", []),
        ("f = lambda: torch.absent", ["is not in pullback"]),
        ("try:\n    torch.absent\nexcept ImportError:\n    pass", ["is not in pullback; it stops the import"]),
        ("try:\n    torch.absent\nexcept AttributeError:\n    pass", []),
        ("try:\n    from torch import absent\nexcept ImportError:\n    absent = None\nprint(absent)", []),
        ("try:\n    import torch.absent\nexcept:\n    pass", []),
        ("try:\n    def f():\n        torch.absent\nexcept Exception:\n    pass", ["is not in pullback"]),
        ("if torch.__version__ < '1':\n    torch.absent", []),
        ("isinstance(1, torch.fx.ProxyableClassMeta)", []),
        ("torch.onnx.export()", ["is not in pullback: there is no export to ONNX; it raises when it is called; it stops the import"]),
        ("class A(torch.onnx.ONNXProgram):\n    pass", ["ONNX; a class is derived from it, whose instances raise"]),
        ("def f():\n    return f'{torch.onnx.ONNXProgram}'", ["ONNX; its text is not that of torch's"]),
        ("torch.ops.mine.op(1)", ["torch.ops.mine.op is compiled for torch, and cannot be loaded by pullback; it stops the import"]),
        ("torch.library.define('mine::op', '(Tensor x) -> Tensor')\ntorch.ops.mine.op(1)", []),
    ],
)  # fmt: skip
def test_what_becomes_of_a_use(tmp_path, text, ends):
    code, lines = checked(tmp_path, f"import torch\n{text}\n")
    assert code == bool(ends)
    assert [line.endswith(end) for line, end in zip(lines[:-1], ends, strict=True)] == [True] * len(ends), lines


def test_modules_that_functions_import(tmp_path):
    files = {
        "package/__init__.py": "import torch\ntorch.first\n",
        "package/part.py": "import torch\ntorch.second\n",
        "other.py": "import torch\ntorch.third\n",
    }
    text = "import package.part\ndef f():\n    import other\ntry:\n    import torch.fourth\nexcept ImportError:\n    pass\n"
    code, lines = checked(tmp_path, text, files)
    assert code == 1
    assert lines[:3] == [
        "package/__init__.py:2: torch.first is not in pullback; it stops the import",
        "package/part.py:2: torch.second is not in pullback; it stops the import",
        "other.py:2: torch.third is not in pullback",
    ]
    assert ", 3 missing, 2 as it is imported, and 1 more with a way out; " in lines[3]


def test_modules_of_machine_code(tmp_path):
    end = importlib.machinery.EXTENSION_SUFFIXES[0]
    files = {f"fast{end}": "ELF ... libtorch.so", f"free{end}": "ELF ... libc.so"}
    code, lines = checked(tmp_path, "import torch\nimport fast\nimport free\n", files)
    assert code == 1
    assert lines[0] == "script.py:2: fast is compiled for torch, and cannot be loaded by pullback; it stops the import"
    assert len(lines) == 2


def test_names_that_a_program_can_do_without(tmp_path):
    text = """
        import torch
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from torch.absent import Thing
        try:
            from torch.absent import other
        except ImportError:
            other = torch.missing
        if hasattr(torch, "later"):
            torch.later()
        """
    code, lines = checked(tmp_path, text)
    assert code == 1
    assert lines[0] == "script.py:9: torch.missing is not in pullback; it stops the import"
    assert len(lines) == 2


def test_packages_are_looked_into_and_not_imported(tmp_path):
    files = {
        "package/__init__.py": "from . import part\nraise SystemExit\n",
        "package/part.py": "import torch\nfrom .deep import x\nfrom json import loads\ntorch.first\n",
        "package/deep.py": "import torch\ntorch.second\n",
        "unused.py": "import torch\ntorch.third\n",
    }
    code, lines = checked(tmp_path, "import package\n", files)
    assert code == 1
    assert lines[:2] == [
        "package/deep.py:2: torch.second is not in pullback; it stops the import",
        "package/part.py:4: torch.first is not in pullback; it stops the import",
    ]
    assert lines[2].startswith("script.py and 2 modules that it imports: 3 torch names, 2 missing")


def test_a_script_that_is_not_there(tmp_path):
    run = command("run", "--check", str(tmp_path / "none.py"))
    assert run.returncode == 2
    assert run.stderr.endswith("none.py': no such file\n")


def test_packages_that_are_not_there_cannot_be_looked_at(tmp_path):
    code, lines = checked(
        tmp_path,
        """
        import json
        import torch
        import no_such_vision
        from no_such_vision.models import resnet
        import helper
        try:
            import optional_package
        except ImportError:
            optional_package = None
        """,
        {"helper.py": "import torch\n"},
    )
    assert code == 1
    assert lines[0] == "script.py:4: no_such_vision is not installed here: which names of torch it uses is unknown"
    assert lines[1].startswith("script.py and 1 module that it imports: ")


def test_functorch_is_in_the_place_of_torchs(tmp_path):
    code, lines = checked(tmp_path, "import functorch\nfrom functorch import vmap, no_such\nfunctorch.grad\n")
    assert code == 1
    assert lines[0].startswith("script.py:2: functorch.no_such is not in pullback")
    assert lines[1].startswith("script.py: 4 torch names, 1 missing")
