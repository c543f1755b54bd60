"""The reference of the site: every public name has one entry, which says how it is called and what it is."""

import ast
import functools
import inspect
import re
import types
from collections import Counter

import pytest

import inserts
import pullback
import reference
import source

STABILITY = (inserts.DOCS / "reference" / "stability.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^`{5,6}\{py:\w+\} ([\w.]+)(.*)\n(:no-index:)?", re.MULTILINE)
WITHOUT_OWN_LIST = {module for module in reference.MODULES if not hasattr(reference.owner(module), "__all__")}


@functools.cache
def entries() -> list[re.Match[str]]:
    """All entries, which take seconds to make: not where tests are collected."""
    return [match for text in reference.pages().values() for match in ENTRY.finditer(text)]


@functools.cache
def paths() -> set[str]:
    """The names that have an entry."""
    return {match[1] for match in entries()}


@pytest.mark.parametrize("module", [*sorted({*reference.MODULES} - WITHOUT_OWN_LIST), "Tensor"])
def test_every_public_name_has_an_entry(module: str) -> None:
    """Those that `dir` or `__all__` lists: other modules are in the reference with what they define themselves."""
    holder = reference.owner(module)
    index = module == "Tensor" or "__dir__" in vars(holder)
    public = {name for name in (dir(holder) if index else holder.__all__) if not name.startswith("_")}
    elsewhere = reference.ELSEWHERE.get(module, set())
    names = {name for name in public - elsewhere if not isinstance(getattr(holder, name), types.ModuleType)}
    assert names
    assert not {name for name in names if path_of(module) + name not in paths()}


EXCEPTIONS = set(re.findall(r"^- `pullback\.(\w+)`|and `pullback\.(\w+)` are", STABILITY, re.MULTILINE))
ROOMS = sorted({module.partition(".")[0] for module in source.PATHS if not module.startswith("_")})


@pytest.mark.parametrize("room", ROOMS)
def test_what_has_no_underscore_is_documented_or_named_as_an_exception(room: str) -> None:
    documented = any(f"{module}.".startswith(f"{room}.") for module in reference.MODULES)
    assert documented != any(room in names for names in EXCEPTIONS)


def test_nothing_of_our_own_is_deprecated() -> None:
    """If this fails: the page has to say so, and the warning names the version of the removal and what to use."""
    calls = [(name, node) for name in source.PATHS for node in source.nodes(name) if isinstance(node, ast.Call)]
    warned = {name for name, call in calls if "DeprecationWarning" in map(ast.unparse, call.args)}
    assert warned - {"distributed.launching"} == {"_tensor.function"}  # the first silences one, the second has torch's
    assert "nothing of pullback's own is deprecated" in STABILITY


def path_of(module: str) -> str:
    """What stands before the names of a module."""
    return "pullback." if module == "pullback" else f"pullback.{module}."


def test_a_name_has_one_anchor() -> None:
    assert not [path for path, count in Counter(match[1] for match in entries() if not match[3]).items() if count > 1]


def test_functions_say_what_they_take_and_give() -> None:
    """Few are left whose arguments neither a stub nor a source says."""
    unknown = [match[1] for match in entries() if match[2] == "(...)"]
    assert len(unknown) < 0.01 * len(entries()), unknown
    (conv,) = (match[2] for match in entries() if match[1] == "pullback.nn.functional.conv2d")
    assert conv.startswith("(input: pullback.Tensor, weight: pullback.Tensor, bias: pullback.Tensor | None")
    assert conv.endswith("-> pullback.Tensor")
    assert len([match for match in entries() if match[1] == "pullback.max"]) > 2  # the overloads


def test_layers_and_optimizers_are_shown_with_all_their_arguments() -> None:
    shown = {
        match[1].rpartition(".")[2]: match[2]
        for match in entries()
        if match[1].startswith(("pullback.nn.", "pullback.optim."))
    }
    assert shown["ReLU"] == "(inplace: builtins.bool=False)"
    assert shown["CrossEntropyLoss"].endswith("reduction: builtins.str='mean', label_smoothing: builtins.float=0.0)")
    sizes = "builtins.int | Sequence[builtins.int]"
    assert shown["MaxPool2d"].startswith(f"(kernel_size: {sizes}, stride: {sizes} | None=None, padding: {sizes}=0")
    assert shown["Conv2d"].startswith(f"(in_channels: builtins.int, out_channels: builtins.int, kernel_size: {sizes}")
    assert "lr: builtins.float | pullback.Tensor=0.001" in shown["Adam"]
    steps = reference.signatures("", "step", pullback.optim.Muon.step)
    assert steps == ["(closure: None=None) -> None", "(closure: Callable[[], Loss]) -> Loss"]


def test_a_docstring_becomes_sections_blocks_and_links() -> None:
    text = "A sum of `nn.Linear` and `x`.\n\nRaises\n------\nValueError\n    If there\n    is none.\n\n>>> 1 + 1\n2\n"
    assert reference.markdown(text, {"pullback.nn.Linear"}) == (
        "A sum of {py:obj}`nn.Linear <pullback.nn.Linear>` and `x`.\n\n**Raises**\n\n`ValueError`\n: If there\n  is none.\n\n"
        "```python\n>>> 1 + 1\n2\n```"
    )


def test_arguments_are_in_a_table_with_their_types_defaults_and_meanings() -> None:
    text = "A sum.\n\nParameters\n----------\nx, y\n    What is\n    added.\nscale\n    A factor | number.\n\nRaises\n------\nValueError\n    Never.\n"
    form = "(x: pullback.Tensor, /, y: builtins.int | None=None, *, scale: builtins.float=1.0)"
    table = (
        "| parameter | type | default | meaning |\n|---|---|---|---|\n| ``x`` | ``Tensor`` |  | What is added. |\n"
        "| ``y`` | ``int \\| None`` | ``None`` | What is added. |\n| ``scale`` | ``float`` | ``1.0`` | A factor \\| number. |"
    )
    made = reference.with_table(text, form, "observe")
    assert made == f"A sum.\n\n\n{table}\n\nRaises\n------\nValueError\n    Never.\n"
    strange = reference.with_table(text.replace("scale\n", "factor\n"), form, "observe")
    assert strange.count("|") == 1  # as it is written
    assert reference.with_table("A sum.\n\n>>> 1\n1\n", "(x: builtins.int=2)", "observe") == (
        "A sum.\n\n| parameter | type | default |\n|---|---|---|\n| ``x`` | ``int`` | ``2`` |\n\n>>> 1\n1\n"
    )


def test_classes_say_what_they_inherit_and_where_they_are_written() -> None:
    known = {"pullback.nn.Module", "pullback.optim.Optimizer"}
    assert reference.inherited(pullback.nn.Conv2d, known).startswith(
        "Inherits the methods of {py:obj}`Module <pullback.nn.Module>`."
    )
    assert reference.inherited(pullback.nn.Linear, known).count("``forward``") == 0
    assert re.search(r"src/pullback/nn/modules/conv\.py#L\d+\)$", reference.source_link(pullback.nn.Conv2d))
    assert "src/pullback/vocabulary/arithmetic.py#L" in reference.source_link(pullback.exp)
    assert not reference.source_link(len)


def test_arguments_that_are_those_of_another_layer_mean_what_they_mean_there() -> None:
    assert reference.meanings_elsewhere("A mean.\n\nArguments as for `AvgPool3d`.") == reference.meanings_elsewhere(
        "A mean; its other arguments are those of `AvgPool2d`."
    )
    table = reference.with_table("A layer.\n\nArguments as for `Conv3d`.", "(in_channels: int, padding: int=0)", "nn")
    assert "| ``in_channels`` | ``int`` |  | The number of channels of the input. |" in table
    own = "A layer.\n\nArguments as for `Conv3d`.\n\nParameters\n----------\npadding\n    What is cut off.\n"
    assert "| What is cut off. |" in reference.with_table(own, "(in_channels: int, padding: int=0)", "nn")


SAID = "pullback Tensor func nn nn.functional optim optim.lr_scheduler optim.swa_utils".split()
"""Modules all of whose parameters have a meaning in the reference, but for private ones."""


@pytest.mark.parametrize("module", SAID)
def test_every_parameter_has_a_meaning(module: str) -> None:
    silent = []
    for name in reference.names(module):
        value = inspect.getattr_static(reference.owner(module), name, None) or getattr(reference.owner(module), name)
        for form in reference.signatures(module, name, value)[-1:]:
            rows = reference.explained(reference.described(module, name), form, module)
            silent += [f"{name}({row[0]})" for row in rows if not row[3] and not row[0].startswith("_")]
    assert not silent


def test_what_parameters_mean_in_common_is_said_where_a_function_does_not_say_it() -> None:
    said = {row[0]: row[3] for row in reference.explained("", "(input: int, bias: int, strange: int)", "nn.functional")}
    assert said["input"] and said["bias"] and not said["strange"]
    own = "A sum.\n\nParameters\n----------\nbias\n    A constant.\n"
    assert [row[3] for row in reference.explained(own, "(bias: int)", "nn.functional")] == ["A constant."]


def test_a_parameter_in_numpys_spelling_means_what_it_does_in_torchs() -> None:
    text = "A sum.\n\nParameters\n----------\ndim\n    Where.\nkeepdim\n    Whether.\n"
    table = reference.with_table(text, "(axis: int, keepdims: bool=False)", "nn.functional")
    assert "| ``axis`` | ``int`` |  | Where. |" in table
    assert "| ``keepdims`` | ``bool`` | ``False`` | Whether. |" in table
