"""The names of arguments: what torch's functions can be told by name, ours can be told by the same."""

import re
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: parity is checked where it is")

import pullback  # noqa: E402

MISNAMED = re.compile(r"unexpected keyword|missing \d* ?required|got multiple|takes \d+ positional")
OF_SCRIPTS = {
    "dtype",
    "a",
    "t",
    "str",
    "int",
    "float",
    "complex",
    "Scalar_Tensor",
    "Sequence",
    "TensorList",
    "Tensor_list",
}

# Functions that are Python's in torch, too, and have other names than the operators they call
PYTHONS = set(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul einsum meshgrid split "
    "tensordot Tensor.resize Tensor.resize_as Tensor.split".split()
)
OTHERWISE = {
    "repeat_interleave",
    "Tensor.copy_",
    "Tensor.random_",
    "Tensor.where",
}  # names of overloads Python cannot reach


def operators():
    found = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        kinds = {str(argument.type) for argument in schema.arguments}
        tensors = kinds & {"Tensor", "List[Tensor]"} and not kinds & {"t", "List[t]"} and "Dimname" not in str(schema)
        written = schema.overload_name in OF_SCRIPTS or any(argument.is_out for argument in schema.arguments)
        if schema.name.startswith("aten::") and tensors and not written:
            found[schema.name[6:]].append(schema)
    return found


def placeholder(kind):
    """Some value of a type: calls are to be understood, not to succeed."""
    if kind.startswith("List"):
        return [placeholder(kind[5:-1])]
    return {"Tensor": pullback.ones(2, 2), "int": 1, "number": 1, "float": 1.0, "bool": True, "str": "a"}.get(kind)


SPACES = {"": (torch, pullback, ""), "Tensor.": (torch.Tensor, pullback.Tensor, "")} | {
    f"{name}.": (getattr(torch, name), getattr(pullback, name), f"{name}_") for name in ("linalg", "special", "fft")
}


@pytest.mark.parametrize("space", SPACES)
def test_arguments_by_name(space):
    theirs, ours, prefix = SPACES[space]
    schemas, misnamed = operators(), []
    for name in dir(theirs):
        function = None if name.startswith("_") else getattr(ours, name, None)
        if not callable(function) or isinstance(function, type) or f"{space}{name}" in PYTHONS | OTHERWISE:
            continue
        for schema in schemas[prefix + name]:
            needed = [each for each in schema.arguments if not each.has_default_value()]
            named = {
                "input" if each.name == "self" else each.name: placeholder(str(each.type))
                for each in needed
                if not (each.name == "self" and space == "Tensor.")
            }
            tensor = [pullback.ones(2, 2)] if space == "Tensor." else []
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(*tensor, **named)
            except TypeError as error:
                misnamed += [(space + name, list(named), str(error))] if MISNAMED.search(str(error)) else []
            except Exception:  # noqa: BLE001  # understood, and refused for what the placeholders are
                pass
    assert not misnamed


@pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
def test_out_is_given_by_name(t):
    x = t.ones(2)
    for call in (lambda: t.sin(x, None, x), lambda: t.sin(x, x), lambda: t.add(x, x, None, x)):
        with pytest.raises(TypeError):
            call()
    assert x.tolist() == [1.0, 1.0]
    assert t.outer(x, vec2=x).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_the_reference_says_of_each_name_whether_torch_has_it():
    """In a process of its own: what other tests have imported are names, too."""
    scripts = Path(__file__).parents[2] / "scripts"
    program = "import sys, beside; sys.stdout.write(beside.found())"
    done = subprocess.run([sys.executable, "-c", program], cwd=scripts, capture_output=True, text=True, check=True)
    assert (scripts / "beside.txt").read_text(encoding="utf-8") == done.stdout, (
        "run scripts/beside.py where torch is installed"
    )
