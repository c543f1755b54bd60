"""Histories of results: what is tracked, a leaf, a view or written without compile is so compiled, and stays so in what follows.

Functions of views, computations and writes, each with or without `no_grad`, take leaves, tracked tensors, views of both and
plain tensors. Of all that they return, and of their arguments, is compared: the values, whether it requires grad, is a leaf, has
a `grad_fn`, is a view of one of the others, and how often it was written; then the same after a tracked value is written to each; then
the gradients.
"""

import contextlib
import warnings

import numpy as np

import pullback
from pullback.compile import Compiled

FEW = 40
PRIMES = [3.0, 5.0, 7.0]

VIEWS = {
    "T": lambda t: t.T, "row": lambda t: t[0], "rows": lambda t: t[1:], "every": lambda t: t[..., ::2], "flat": lambda t: t.view(-1),
    "reshaped": lambda t: t.reshape(-1), "unbind": lambda t: t.unbind(0)[-1], "split": lambda t: t.split(1)[0], "all": lambda t: t[...],
    "expand": lambda t: t[None].expand(2, *t.shape), "diagonal": lambda t: t.diagonal(), "unsqueeze": lambda t: t[:, None],
    "same": lambda t: t.view_as(t), "detach": lambda t: t.detach(), "contiguous": lambda t: t.contiguous(), "data": lambda t: t.data,
    "narrow": lambda t: t.narrow(0, 0, 1), "squeeze": lambda t: t.squeeze(), "to": lambda t: t.to(t.dtype), "real": lambda t: t.real,
}  # fmt: skip
COMPUTED = {
    "double": lambda t: t * 2, "clone": lambda t: t.clone(), "sum": lambda t: t.sum(0), "exp": lambda t: (t / 9).exp(),
    "like": pullback.zeros_like, "positive": lambda t: t > 0, "fresh": lambda t: pullback.ones(3, dtype=t.dtype),
    "dropped": lambda t: pullback.nn.functional.dropout(t, 0.5, training=False), "cast": lambda t: t.float(), "square": lambda t: t * t,
}  # fmt: skip
WRITES = {
    "mul": lambda t: t.mul_(2), "first": lambda t: t.__setitem__(0, 7), "copy": lambda t: t.copy_(t + t), "zero": lambda t: t.zero_(),
    "part": lambda t: t[..., :1].add_(1), "detached": lambda t: t.detach_(), "flag": lambda t: t.requires_grad_(),
    "tanh": lambda t: t.tanh_(), "twice": lambda t: t.add_(1).sub_(2), "row": lambda t: t[0].fill_(2),
    "unflag": lambda t: t.requires_grad_(requires_grad=False), "retain": lambda t: t.retain_grad(), "data": lambda t: t.data.add_(1),
    "hook": lambda t: t.register_hook(lambda g: g * 2), "tracked": lambda t: t.mul_(KEPT[0][: t.shape[-1]].sum()), "exchange": lambda t: setattr(t, "data", t.detach() * 2),
}  # fmt: skip
KEPT = []
"""A leaf and a plain tensor that functions find by themselves."""

TABLES = {"view": VIEWS, "computed": COMPUTED, "write": WRITES}


def given(more):
    """Arguments: a leaf, a plain tensor, a tracked one, views of a leaf, a plain and a tracked tensor; and all that these lie in.

    There may be `more` that share memory with these. What the function finds by itself is made anew, too.
    """
    leaf, plain, inner, other = [pullback.arange(6.0, dtype=pullback.float64).view(2, 3).clone() + i for i in range(4)]
    leaf.requires_grad_(), inner.requires_grad_(), other.requires_grad_()
    tracked, whole, under = inner * 1, plain * 1, inner * 3
    KEPT[:] = [inner.detach().reshape(-1)[:3].clone().requires_grad_(), plain[0] * 2]
    arguments = [
        leaf,
        plain,
        tracked,
        other[:1],
        whole[1],
        under.T,
        *[(leaf.detach(), plain[0], whole, plain.data)[i] for i in more],
    ]
    return arguments, [leaf, plain, inner, other, tracked, whole, under, *KEPT]


def program(steps, returned):
    """A function of the arguments, of the steps that are drawn."""

    def function(*arguments):
        pool = [*arguments, *KEPT]
        for kind, name, place, grad in steps:
            with contextlib.nullcontext() if grad else pullback.no_grad():
                made = TABLES[kind][name](pool[place % len(pool)])
            if kind != "write":
                pool.append(made)
        return [pool[place % len(pool)] for place in returned]

    return function


def drawn(rng):
    """A function, and what it was made of."""
    kinds = [str(kind) for kind in rng.choice(["view", "view", "computed", "write"], rng.integers(1, 6))]
    steps = [(kind, str(rng.choice([*TABLES[kind]])), int(rng.integers(100)), bool(rng.integers(2))) for kind in kinds]
    more = [int(i) for i in rng.integers(0, 4, rng.integers(0, 2))]
    first = len(given(more)[0]) + len(KEPT)
    size = first + sum(kind != "write" for kind in kinds)
    returned = [int(place) for place in rng.integers(0 if rng.random() < 0.3 else first - 1, size, rng.integers(1, 4))]
    return program(steps, returned), more, f"{steps}, returned {returned}, more {more}"


def facts(tensors, known):
    """What is seen of tensors, by name."""
    found = {}
    for i, t in enumerate(tensors):
        if not t.numel():
            continue  # memory without elements is shared or not, which nobody sees
        base = t._base
        of = next((j for j, each in enumerate(known) if each is base), None)  # a base that nobody has need not be there
        for name, value in {
            "values": t.detach().numpy().tolist(), "requires_grad": t.requires_grad, "is_leaf": t.is_leaf, "grad_fn": t.grad_fn is None,
            "_version": t._version, "_base": of, "dtype": str(t.dtype), "stride": [step for step, size in zip(t.stride(), t.shape, strict=True) if size > 1],
            "grad": None if not t.is_leaf or t.grad is None else t.grad.tolist()         }.items():  # fmt: skip
            found[f"{name} of {i}"] = value
    return found


def observed(function, more):
    """All that is seen of a call."""
    arguments, lying = given(more)
    try:
        results = function(*arguments)
    except Exception as raised:
        return {"raises": type(raised).__name__}
    tensors = [*results, *arguments, *lying]
    seen = facts(tensors, tensors)
    weights = pullback.tensor(PRIMES, dtype=pullback.float64, requires_grad=True)
    for i, target in enumerate(results):
        if not target.numel():
            continue
        try:
            target.mul_(weights[: target.shape[-1] if target.ndim else 1].reshape(-1).sum().to(target.dtype))
            seen[f"written {i}"] = ""
        except Exception as raised:
            seen[f"written {i}"] = type(raised).__name__
        seen |= {f"{name} after {i}": value for name, value in facts(tensors, tensors).items()}
    total = sum((t.double() * (i + 1)).sum() for i, t in enumerate(tensors) if t.is_floating_point())
    try:
        total.backward()
    except Exception as raised:
        seen["backward"] = type(raised).__name__
    seen |= {f"{name} at last": value for name, value in facts(tensors, tensors).items() if name.startswith("grad ")}
    seen["weights"] = None if weights.grad is None else weights.grad.tolist()
    return seen


def check(rng):
    function, more, told = drawn(rng)
    expected = observed(function, more)
    compiled = Compiled(function, fuse=bool(rng.integers(2)))
    compared = 0
    for call in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some run as they are, which a warning says
            got = observed(compiled, more)
        assert got.get("raises") == expected.get("raises"), (
            f"{told}, call {call}: raises {got.get('raises')} instead of {expected.get('raises')}"
        )
        assert got.get("backward") == expected.get("backward"), (
            f"{told}, call {call}: backward raises {got.get('backward')} instead of {expected.get('backward')}"
        )
        for name, value in expected.items():
            same = got[name] == value
            if not same and isinstance(value, list):
                same = got[name] is not None and np.allclose(got[name], value, rtol=1e-6, equal_nan=True)
            assert same, f"{told}, call {call}: {name} is {got[name]} instead of {value}"
            compared += 1
    return compared
