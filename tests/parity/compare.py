"""One program, two libraries: what it answers on torch is what it must answer on pullback."""

import functools
import inspect
import re
import warnings

import numpy as np
import pytest

import pullback

# torch prints how it happened to compute these; the names say nothing about the program.
ACCIDENTS = {"AsStridedBackward0", "FillBackward2", "FillBackward3", "SqueezeBackward4", "UnsafeViewBackward0"}


def parity(program):
    """Make a test of a program: a function of a library `t` and the test's other arguments.

    torch also warns where pullback has nothing to warn of, so its warnings are dropped; pullback's are errors. Warnings
    that both must give are asked for with `warns`.
    """

    @functools.wraps(program)
    def test(*args, **options):
        import torch

        torch.set_warn_always(True)  # not once per process
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = describe(program(torch, *args, **options))
        same(describe(program(pullback, *args, **options)), expected, "the answer")

    _, *others = inspect.signature(program).parameters.values()
    test.__signature__ = inspect.Signature(others)
    return test


def leaf(t, *values, dtype="float32", **options):
    """A library's leaf with these elements."""
    return t.tensor(list(values), dtype=getattr(t, dtype), requires_grad=True, **options)


def normal_leaf(t, *shape, seed=0):
    """A library's leaf of normally distributed numbers, the same for both."""
    return t.tensor(np.random.RandomState(seed).randn(*shape), requires_grad=True)


def raises(error, wording, call):
    """Both libraries refuse, with this type of exception and these words of torch's in its text."""
    with pytest.raises(error, match=re.escape(wording)):
        call()


def warns(category, wording, call):
    """Both libraries warn once, with these words of torch's in the text."""
    with pytest.warns(category, match=re.escape(wording)) as record:
        result = call()
    assert len(record) == 1
    return result


def describe(value):
    """What can be compared of an answer: tensors, nodes, dtypes, shapes, numbers, and containers of them."""
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if isinstance(value, dict):
        return {key: describe(item) for key, item in value.items()}
    if hasattr(value, "requires_grad") and hasattr(value, "dtype"):
        node = value.grad_fn
        return {
            "dtype": str(value.dtype).rpartition(".")[2],
            "shape": list(value.shape),
            "requires_grad": value.requires_grad,
            "is_leaf": value.is_leaf,
            "grad_fn": node and describe(node),
            "values": np.array(value.detach().numpy(force=True)),
        }
    if hasattr(value, "next_functions"):
        return type(value).__name__  # what repr shows; name() has a prefix for some
    if type(value).__name__.lower() == "dtype":
        return str(value).rpartition(".")[2]
    return value


def same(ours, theirs, place):
    """Assert that two descriptions agree: values to a few units in the last place of the largest entry."""
    difference = f"{place}: pullback has {ours!r}, torch {theirs!r}"
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), difference
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            same(*pair, f"{place}[{index}]")
    elif isinstance(theirs, dict):
        assert isinstance(ours, dict) and list(ours) == list(theirs), difference
        for key in theirs:
            same(ours[key], theirs[key], f"{place}.{key}")
    elif isinstance(theirs, np.ndarray) and theirs.dtype.kind in "fc":
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1)
        close = np.allclose(ours, theirs, rtol=0, atol=16 * np.finfo(theirs.dtype).eps * largest, equal_nan=True)
        assert close, difference
    elif isinstance(theirs, np.ndarray):
        assert (ours == theirs).all(), difference
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-6, nan_ok=True), difference
    elif theirs in ACCIDENTS:
        assert ours is not None, difference
    else:
        assert type(ours) is type(theirs) and ours == theirs, difference
