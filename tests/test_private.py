"""What clients of the core still take from it through the back door, each with its reason; and that the core needs no client.

scripts/private counts, and says what is private. What is listed here may only become less.
"""

import runpy

import pytest

import source

count = runpy.run_path(str(source.ROOT / "scripts/private"), run_name="private")
CLIENTS = [client for client in count["CLIENTS"] if client != "compile"]

REASONS = {
    "_core.errors.UncompiledError": "said to the compiler alone: this call is to run as it was written",
    "_core.errors.require_state": "the words in which all `load_state_dict` refuse what is no state",
    "_core.forks.lock": "locks that the child of a fork finds open: a matter of the process, one place for all",
    "_core.keywords.suggested": "the name that a misspelt one was meant for, as errors have it",
    "_core.lazy.index": "how packages offer names that are imported on first use",
    "_core.package.package": "the name under which a program has imported pullback, for messages",
    "_core.placement.accept": "the words in which all functions refuse a device or a layout",
    "_core.shapes.sum_to": "a sum to a shape, for words of the array standard as for tensors",
    "_core.sites.generated": "functions made of text, whose tracebacks show it",
    "_core.texts.printable": "texts that are safe in a terminal",
    "_core.modes.ModeBlock": "a block that decorates functions and generators, which torch lets packages derive from",
    "_core.modes.under": "a context variable with another value, safe from interruptions",
    "_numerics.blas.reproducible": "results with the same bits in every process: no promise to users yet",
    "_numerics.random.default_generator": "torch has its generator as a name, pullback has functions",
    "_numerics.scipy.special": "SciPy's functions, or the name of the extra that installs it",
    "_tensor.custom.CustomCall": "the call of an operation with a derivative by hand: one machine for autograd's and torch's",
    "_tensor.layouts.with_pattern": "sparse tensors of torch, which are dense here and remember their pattern",
    "_tensor.tensor.DISABLED": "torch's dispatch on subclasses is half in the class Tensor",
    "_tensor.tensor.alone": "torch's dispatch on subclasses is half in the class Tensor",
    "_tensor.tensor.inherited": "torch's dispatch on subclasses is half in the class Tensor",
}
ATTRIBUTES = {"_bequeaths": "torch's dispatch on subclasses is half in the class Tensor"}

COMPILE = 64, 56  # names, and uses of private attributes, of compile: the compiler works on the tape's own objects


def test_clients_use_the_front_door() -> None:
    found = {name for client in CLIENTS for name in count["private_names"](client)}
    assert not found - REASONS.keys(), "take these from where users do, or say here why not"
    assert not REASONS.keys() - found, "used no more: remove these lines"
    assert len(REASONS) <= 20


def test_clients_leave_private_attributes_alone() -> None:
    found = {name for client in CLIENTS for name in count["private_attributes"](client)}
    assert found == ATTRIBUTES.keys()


def test_the_compiler_takes_no_more_than_it_did() -> None:
    names, attributes = count["private_names"]("compile"), count["private_attributes"]("compile")
    assert len(names) <= COMPILE[0]
    assert sum(map(len, attributes.values())) <= COMPILE[1]


ROOMS = {path.partition(".")[0] for path in count["CLIENTS"].values()}
BESIDE = {"__main__", "program", "testing"}  # of the command line, of the compiler, and for both


@pytest.mark.parametrize("name", [name for name in source.PATHS if source.room(name) not in ROOMS | BESIDE])
def test_the_core_imports_no_client(name: str) -> None:
    """What calls upwards finds its module in `_core.lazy.PROVIDERS`, which the root of the package fills."""
    found = [each for each in source.imports(name) if source.room(each.module) in ROOMS | BESIDE]
    assert not found


def test_only_the_root_names_clients() -> None:
    text = source.text("__init__")
    begin, end = text.index("_PROVIDERS.update("), text.index("_install()\n")
    for name in source.PATHS:
        if source.room(name) not in ROOMS | BESIDE:
            strings = [node.value for node in source.nodes(name) if isinstance(node, source.ast.Constant)]
            named = [word for word in strings if isinstance(word, str) and word.startswith("pullback.")]
            clients = {word for word in named if word.split(".")[1] in ROOMS and " " not in word}
            assert not clients or (name == "__init__" and all(word in text[begin:end] for word in clients)), name
