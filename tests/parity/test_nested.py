"""Tensors made of nested lists that hold tensors, arrays and numbers: torch's shapes, dtypes and refusals."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity, raises  # noqa: E402

DATA = [
    "[f, 3]", "[3, f]", "[i, 2.5]", "[f, i]", "[d, 1.0]", "[1.0, d]", "[f, d]", "[b, 1]", "[b, True]", "[f, 2j]", "[d, 2j]",
    "[one, one]", "[[one], [one]]", "[[one, f], [1, i]]", "[[[one]], [[2]]]", "[cube]", "(f, one)", "[i, i]", "[b, b]", "[b, 2.5]",
    "[[1, 2], row]", "[[1, 2], [3, 4], row]", "[[[1], [2]], row.view(2, 1)]", "[[one], [one]]", "[[3], one]",
    "[n.float32(1), 2.0]", "[2.0, n.float64(1)]", "[n.int32(1), 2]", "[n.int32(1), n.int32(2)]", "[n.bool_(True)]", "[n.float64(2), f]",
    "[n.array([1, 2]), [3, 4]]", "[[1, 2], n.array([3, 4])]", "[[1, 2], n.array([3.0, 4.0])]", "[n.ones((2, 1)), n.zeros((2, 1))]",
    "[]", "[[]]", "[[], []]", "[1, 2.5]", "[True, 2]", "[1, 2j]", "[True, 2.5]", "[[True, 1], [2, 3]]", "range(3)", "[range(2), [4, 5]]",
]  # fmt: skip


def names(t):
    return {
        "t": t,
        "n": np,
        "f": t.tensor(2.0),
        "d": t.tensor(2.0, dtype=t.float64),
        "i": t.tensor(3),
        "b": t.tensor(True),
        "one": t.tensor([1.5]),
        "cube": t.ones(1, 1, 1),
        "row": t.tensor([3, 4]),
    }


@pytest.mark.parametrize("data", DATA)
@parity
def test_shapes_and_dtypes(t, data):
    made = eval(data, names(t))
    return [t.tensor(made), t.tensor(made, dtype=t.complex64), t.as_tensor(made)]


@parity
def test_targets_and_old_types(t):
    known = names(t)
    f, i, b, one = (known[name] for name in ("f", "i", "b", "one"))
    made = [t.tensor([i], dtype=t.float32), t.tensor([b, i], dtype=t.int32), t.tensor([i, 0], dtype=t.bool)]
    made += [t.FloatTensor([one, one]), t.LongTensor([i, b]), t.ones(2, dtype=t.float64).new_tensor([f, 1])]
    return [*made, t.tensor([np.float64(2.7), 2.7], dtype=t.int64)]


REFUSED = {
    "float rows": (
        "t.tensor([t.ones(2), t.ones(2)])",
        ValueError,
        "only one element tensors can be converted to Python",
    ),
    "nested float rows": ("t.tensor([[t.ones(2)]])", ValueError, "only one element tensors can be converted to Python"),
    "empty": ("t.tensor([t.ones(0)])", ValueError, "only one element tensors can be converted to Python scalars"),
    "whole rows": (
        "t.tensor([row, row])",
        TypeError,
        "only integer tensors of a single element can be converted to an",
    ),
    "truths": (
        "t.tensor([row > 3])",
        TypeError,
        "only integer tensors of a single element can be converted to an index",
    ),
    "float for int": ("t.tensor([f], dtype=t.int64)", TypeError, "only integer tensors of a single element can be"),
    "float for bool": ("t.tensor([f], dtype=t.bool)", TypeError, "only integer tensors of a single element can be"),
    "float for Long": ("t.LongTensor([f])", TypeError, "only integer tensors of a single element can be converted"),
    "a number among rows": ("t.tensor([[1, 2], 3])", TypeError, "not a sequence"),
    "a tensor among rows": ("t.tensor([[1], i])", TypeError, "not a sequence"),
    "too few axes": ("t.tensor([[[1], [2]], row])", TypeError, "not a sequence"),
    "a row among numbers": ("t.tensor([1, [2, 3]])", TypeError, "'list' object cannot be interpreted as an integer"),
    "a longer row": ("t.tensor([[1, 2], t.ones(3)])", ValueError, "expected sequence of length 2 at dim 1 (got 3)"),
    "a shorter array": (
        "t.tensor([n.ones(2), n.ones(1)])",
        ValueError,
        "expected sequence of length 2 at dim 1 (got 1)",
    ),
    "nothing later": ("t.tensor([1, None])", RuntimeError, "Could not infer dtype of NoneType"),
    "a dict": ("t.tensor([1, {}])", RuntimeError, "Could not infer dtype of dict"),
    "complex": ("t.tensor([f * 1j], dtype=t.float32)", RuntimeError, "without overflow"),
    "overflow": ("t.tensor([t.tensor(300)], dtype=t.uint8)", RuntimeError, "value cannot be converted to type uint8"),
}


@pytest.mark.parametrize("case", REFUSED)
@parity
def test_what_is_refused(t, case):
    text, error, words = REFUSED[case]
    raises(error, words, lambda: eval(text, names(t)))


KINDS = ["Tensor", "FloatTensor", "DoubleTensor", "LongTensor"]
GIVEN = [
    "t.Size([2, 3])", "t.Size([])", "t.ones(2, 3).size()", "t.ones(4, 5).size()[:1]", "t.ones(2, 3).size() + (4,)", "2, 3", "2", "",
    "size=(2, 3)", "n.int64(3)", "t.ones(2, 3).size(0), 4", "0", "2, 3, device='cpu'",
]  # fmt: skip
ELEMENTS = ["(2, 3)", "[2, 3]", "[[1, 2], [3, 4]]", "range(3)", "[]", "n.arange(3)", "[i, 4]", "(i, i)"]


@pytest.mark.parametrize("given", GIVEN)
@parity
def test_old_constructors_take_sizes(t, given):
    made = [eval(f"t.{kind}({given})", {"t": t, "n": np}) for kind in KINDS] + [
        eval(f"t.ones(1).new({given})", {"t": t, "n": np})
    ]
    return [[each.shape, each.dtype] for each in made]


@pytest.mark.parametrize("given", ELEMENTS)
@parity
def test_old_constructors_take_elements(t, given):
    kinds = [kind for kind in KINDS if given != "n.arange(3)" or kind == "LongTensor"]
    return [eval(f"t.{kind}({given})", names(t)) for kind in kinds]


@parity
def test_old_constructors_refuse_what_is_neither(t):
    for make in (t.Tensor, t.FloatTensor, t.ones(1).new):
        for value in (2.5, True, None, 1j, {}):
            raises(
                TypeError, f"new(): data must be a sequence (got {type(value).__name__})", lambda v=value, m=make: m(v)
            )
        raises(RuntimeError, "Trying to create tensor with negative dimension -1: [2, -1]", lambda m=make: m(2, -1))
    whole = t.Tensor(t.tensor([1, 2]))
    tracked = t.ones(2, requires_grad=True)
    return [whole, t.Tensor(tracked).requires_grad, t.Tensor(t.tensor([1.0])) * 2]


LARGE = {
    "beside small ones": "t.tensor([0, 2**63 + 1, 2**64 - 1], dtype=t.uint64)",
    "alone": "t.tensor(2**64 - 1, dtype=t.uint64)",
    "in rows": "t.tensor([[True, 2**63], [1, 2]], dtype=t.uint64)",
    "full": "t.full((2,), 2**64 - 1, dtype=t.uint64)",
    "sorted": "t.tensor([2**63, 2**64 - 1, 1], dtype=t.uint64).sort()[0]",
    "compared": "t.tensor([2**64 - 1, 1], dtype=t.uint64) == 2**64 - 1",
    "as floats": "t.tensor([2**64, 1], dtype=t.float64)",
    "beside floats": "t.tensor([2**63, 1.5])",
    "as bools": "t.tensor([2**63, 0], dtype=t.bool)",
    "as complex numbers": "t.tensor([2**63, 0], dtype=t.complex128)",
}
TOO_LARGE = {
    "int64": ("t.tensor([0, 2**63])", ValueError, "Overflow when unpacking long long"),
    "a number": ("t.tensor(2**63)", ValueError, "Overflow when unpacking long long"),
    "int32": ("t.tensor([2**63], dtype=t.int32)", ValueError, "Overflow when unpacking long long"),
    "uint64": ("t.tensor([0, 2**64], dtype=t.uint64)", OverflowError, "int too big to convert"),
    "below zero": ("t.tensor([-1, 2**63], dtype=t.uint64)", OverflowError, "can't convert negative int to unsigned"),
    "float64": ("t.tensor([10**400], dtype=t.float64)", OverflowError, "int too large to convert to float"),
    "a bound": ("t.ones(2, dtype=t.int8).clamp(300)", RuntimeError, "value cannot be converted to type int8_t without overflow"),
    "a lower bound": ("t.ones(2, dtype=t.int64).clamp(min=2**63)", RuntimeError, "value cannot be converted to type int64_t without overflow"),
}  # fmt: skip


@pytest.mark.parametrize("case", LARGE)
@parity
def test_integers_of_more_than_63_bits(t, case):
    found = eval(LARGE[case], {"t": t})
    return found, found.tolist()


@pytest.mark.parametrize("case", TOO_LARGE)
@parity
def test_integers_that_no_dtype_holds(t, case):
    text, error, wording = TOO_LARGE[case]
    raises(error, wording, lambda: eval(text, {"t": t}))
    return t.ones(1, dtype=t.uint8).clamp(min=-1), t.tensor([3, 0], dtype=t.uint64).pow(True)
