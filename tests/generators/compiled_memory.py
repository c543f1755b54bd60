"""Memory of results, arguments and state: what shares it without compile shares it compiled, and what does not does not.

Functions of views, in-place writes and computations return some of their tensors, and put others into an object. Compiled,
with and without machine code and fusion, and with one pass of the compiler left out, these have the same values and
strides, share memory in the same pairs, and a write to one of them changes the same others.
"""

import contextlib
import itertools

import numpy as np

import pullback
from pullback.compile import Compiled, passes

FEW = 2

VIEWS = {
    "T": lambda t: t.T, "row": lambda t: t[0], "rows": lambda t: t[1:], "column": lambda t: t[:, 0], "every": lambda t: t[:, ::2],
    "flat": lambda t: t.reshape(-1), "detach": lambda t: t.detach(), "unbind": lambda t: t.unbind(0)[-1],
    "split": lambda t: t.split([1, t.shape[0] - 1])[1], "chunk": lambda t: t.chunk(2, 1)[0], "expand": lambda t: t[None].expand(2, *t.shape),
    "diagonal": lambda t: t.diagonal(), "unsqueeze": lambda t: t[:, None], "all": lambda t: t[...], "contiguous": lambda t: t.contiguous(),
    "swap": lambda t: t.transpose(0, -1), "narrow": lambda t: t.narrow(0, 0, 1),
}  # fmt: skip
COMPUTED = {
    "double": lambda t: t * 2, "negative": lambda t: t.neg().neg(), "one": lambda t: t * 1, "clone": lambda t: t.clone(), "added": lambda t: t + 0.5,
    "sum": lambda t: t.sum(0), "kept": lambda t: t.sum(0, keepdim=True) + t, "exp": lambda t: (t / 9).exp(), "like": pullback.zeros_like,
    "square": lambda t: t @ t.T if t.ndim == 2 else t * t, "stacked": lambda t: pullback.stack([t, t]), "cast": lambda t: t.double().float(),
    "where": lambda t: pullback.where(t > 3, t, t * 2),
}  # fmt: skip
WRITES = {
    "mul": lambda t: t.mul_(2), "add": lambda t: t.add_(1), "first": lambda t: t.__setitem__(0, 7), "copy": lambda t: t.copy_(t + t),
}  # fmt: skip


class Box:
    """What a function keeps tensors in."""


def program(steps, returned, kept):
    """A function of two tensors and an object, of the steps that are drawn."""

    def function(x, y, box):
        pool = [x, y, box.first, box.second]
        for kind, name, place in steps:
            target = pool[place % len(pool)]
            if kind == "write":
                WRITES[name](target)
            else:
                pool.append((VIEWS if kind == "view" else COMPUTED)[name](target))
        for attribute, place in kept:
            setattr(box, attribute, pool[place % len(pool)])
        return [pool[place % len(pool)] for place in returned]

    return function


def drawn(rng):
    """Steps that can be carried out, and which of what they make is returned or kept."""
    tables = {"view": VIEWS, "computed": COMPUTED, "write": WRITES}
    while True:
        kinds = rng.choice(["view", "view", "computed", "computed", "write"], rng.integers(2, 8))
        steps = [(str(kind), str(rng.choice([*tables[kind]])), int(rng.integers(100))) for kind in kinds]
        size = 4 + sum(kind != "write" for kind, *_ in steps)
        returned = [int(place) for place in rng.integers(2, size, rng.integers(2, 5))]
        names = ["first", "second"][: rng.integers(3)]
        kept = [(name, int(rng.integers(4, size))) for name in names] if size > 4 else []
        function = program(steps, returned, kept)
        with contextlib.suppress(Exception):
            function(*given())
            return function, f"{steps}, returned {returned}, kept {kept}"


def given():
    """Arguments of each run."""
    box = Box()
    box.first, box.second = pullback.arange(6.0).view(2, 3) + 1, pullback.arange(4.0)
    return pullback.arange(12.0).view(3, 4).clone(), pullback.arange(12.0).view(4, 3).clone().T, box


def observed(function, box, x, y):
    """What is seen of a run: the tensors by their values, strides and the memory that they share, and after a write to each."""
    results = function(x, y, box)
    tensors = [*results, x, y, box.first, box.second]
    arrays = [tensor.detach().numpy() for tensor in tensors]
    strides = [
        [step for step, size in zip(a.strides, a.shape, strict=True) if size > 1] if a.size else [] for a in arrays
    ]
    shared = [np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2)]
    same = [a is b for a, b in itertools.combinations(tensors, 2)]
    seen = [array.copy() for array in arrays]
    for number, tensor in enumerate(tensors):
        if tensor.numel() and all(step or size == 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)):
            tensor[(0,) * tensor.ndim] = 100.0 + number
        seen += [array.copy() for array in arrays]
    return strides, shared, same, [tensor.requires_grad for tensor in tensors], seen


def check(rng):
    function, told = drawn(rng)
    x, y, box = given()
    expected = observed(function, box, x, y)
    mode, fuse, left_out = (
        rng.choice(["never", "auto", "always"]),
        bool(rng.integers(2)),
        rng.choice([*passes.PASSES, ""]),
    )
    before, all_passes = pullback.get_machine_code(), dict(passes.PASSES)
    compared = 0
    try:
        pullback.set_machine_code(str(mode))
        passes.PASSES.pop(left_out, None)
        box = given()[2]
        inside = Compiled(lambda x, y: function(x, y, box), fuse=fuse)
        for call in range(3):
            x, y, fresh = given()
            box.first, box.second = fresh.first, fresh.second
            got = observed(lambda x, y, box: inside(x, y), box, x, y)
            for name, one, other in zip(("strides", "shared", "same", "tracked", "values"), got, expected, strict=True):
                for number, (a, b) in enumerate(zip(one, other, strict=True)):
                    equal = np.allclose(a, b, rtol=1e-5, equal_nan=True) if name == "values" else a == b
                    assert equal, (
                        f"{told}; {mode}, fuse={fuse}, no {left_out}, call {call}: {name} {number}, {a} instead of {b}"
                    )
                    compared += 1
    finally:
        pullback.set_machine_code(before)
        passes.PASSES.clear()
        passes.PASSES.update(all_passes)
    return compared
