"""What is no tensor where torch wants one: refused by TypeError, with torch's place for the argument."""

import functools
import re
import types
import warnings

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")
pytest.importorskip("expecttest", reason="torch's database of operators needs the package expecttest")

from . import operators  # noqa: E402

PLACE = re.compile(r"argument '\w+' \(position (\d+)\) must be Tensor, not list")
# Where a list will do here: whole numbers that are sizes, and of ctc_loss in torch as well, if both lengths are lists.
LISTS = {("repeat_interleave", "repeats"), ("nn.functional.ctc_loss", 2), ("nn.functional.ctc_loss", 3)}
# Losses hand class weights on: torch's error names the function inside, and so does ours, in another place.
INSIDE = {("nn.functional.nll_loss", "weight"), ("nn.functional.linear_cross_entropy", "weight")}
# Functions that are another one here, which counts its own arguments.
OTHERS = {("native_group_norm", 1), ("native_group_norm", 2), ("lu_solve", 2)}


def functions():
    """torch's entries about public functions that both libraries have, by name."""
    methods = types.MethodDescriptorType, types.WrapperDescriptorType
    for name, op in operators.database().items():
        mine = operators.resolved(op)
        plain = not operators.is_wrapper(op.op) and not isinstance(op.op, methods)
        if plain and mine is not None and operators.dtype_for(op, None) is not None:
            yield name


NAMES = [*functions()]


@functools.cache
def fullest(name):
    """The arguments of the sample with the most tensors that have elements, by place and by name."""
    op = operators.database()[name]
    samples = operators.drawn(op, operators.dtype_for(op, None), tracked=False, count=12)
    given = [dict(enumerate((sample.input, *sample.args))) | sample.kwargs for sample in samples]
    return max(given, key=lambda arguments: len(places(arguments)))


def places(arguments):
    return [place for place, value in arguments.items() if isinstance(value, torch.Tensor) and value.numel()]


def refusal(function, arguments, place, value, *, to_pullback):
    """What a function raises with a value in the place of one of its arguments, or None."""
    given = {
        other: value if other == place else operators.translated(old, [], to_pullback=to_pullback)
        for other, old in arguments.items()
    }
    positional = [given.pop(other) for other in list(given) if isinstance(other, int)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(*positional, **given)
        except Exception as error:  # noqa: BLE001  # which one it is, is the question
            return error
    return None


@pytest.mark.parametrize("name", NAMES)
def test_a_list_is_no_tensor(name):
    op, arguments = operators.database()[name], fullest(name)
    mine = operators.resolved(op)
    for place in places(arguments):
        tensor = arguments[place].detach().resolve_conj().resolve_neg()
        value = tensor.tolist() if tensor.ndim else [tensor.item()]
        theirs = refusal(op.op, arguments, place, value, to_pullback=False)
        ours = refusal(mine, arguments, place, value, to_pullback=True)
        if theirs is None or (op.name, place) in LISTS:
            continue
        assert isinstance(ours, TypeError), f"{place}: pullback has {ours!r}, torch {theirs!r}"
        wanted, found = PLACE.search(str(theirs)), PLACE.search(str(ours))
        if wanted and found and (op.name, place) not in INSIDE | OTHERS:
            assert found[1] == wanted[1], f"{place}: pullback has {ours!r}, torch {theirs!r}"


@pytest.mark.parametrize("name", NAMES)
def test_an_array_is_no_tensor_without_one(name):
    """Arrays go beside tensors; a function of one tensor refuses an array as torch does."""
    op, arguments = operators.database()[name], fullest(name)
    tensors = [place for place, value in arguments.items() if isinstance(value, torch.Tensor)]
    others = [value for value in arguments.values() if isinstance(value, (list, tuple))]
    if len(tensors) != 1 or any(isinstance(item, torch.Tensor) for items in others for item in items):
        return
    value = arguments[tensors[0]].detach().resolve_conj().resolve_neg().numpy()
    if refusal(op.op, arguments, tensors[0], value, to_pullback=False) is not None:
        assert isinstance(refusal(operators.resolved(op), arguments, tensors[0], value, to_pullback=True), TypeError)


def test_refusals_name_the_argument():
    x = pullback.ones(2, 2)
    for call, text in (
        (lambda: pullback.addmm(x, x, [1.0]), "addmm(): argument 'mat2' (position 3) must be Tensor, not list"),
        (lambda: pullback.mv(x, 2.0), "mv(): argument 'vec' (position 2) must be Tensor, not float"),
        (lambda: pullback.heaviside(x, 1), "heaviside(): argument 'values' (position 2) must be Tensor, not int"),
        (
            lambda: pullback.linalg.diagonal([1.0]),
            "linalg_diagonal(): argument 'A' (position 1) must be Tensor, not list",
        ),
        (
            lambda: pullback.fft.fftshift(None),
            "fft_fftshift(): argument 'input' (position 1) must be Tensor, not NoneType",
        ),
    ):
        with pytest.raises(TypeError, match=re.escape(text)):
            call()
