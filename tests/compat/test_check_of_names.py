"""`pullback run --check`: the names of torch that a program uses, and which are missing."""

import subprocess
import sys
import textwrap


def checked(folder, text, files=None):
    """The exit code and what is printed, without the folder; other files lie beside the script."""
    for name, content in {"script.py": text, **(files or {})}.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(textwrap.dedent(content))
    command = [sys.executable, "-W", "error", "-m", "pullback", "run", "--check", str(folder / "script.py")]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
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
            return torch.linalg.absent(x), torch.Tensor.anything, torch.zeros(1).anything
        """,
    )
    assert code == 1
    assert lines[0].startswith("script.py:4: torch.distributed.fsdp.FullyShardedDataParallel is not in pullback: ")
    assert lines[0].endswith("; it raises when it is called")
    assert lines[1:3] == [
        "script.py:6: torch.nn.functional.frobnicate is not in pullback",
        "script.py:7: torch.linalg.absent is not in pullback",
    ]
    assert lines[3].startswith("script.py: 7 torch names, 3 missing")


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
    assert lines[0] == "script.py:9: torch.missing is not in pullback"
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
        "package/deep.py:2: torch.second is not in pullback",
        "package/part.py:4: torch.first is not in pullback",
    ]
    assert lines[2].startswith("script.py and 2 modules that it imports: 3 torch names, 2 missing")


def test_a_script_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "pullback", "run", "--check", str(tmp_path / "none.py")]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
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
