"""Calls of `calls.tsv` in forward mode and twice: python -m tests.interop.orders MODULE..., which prints what is wrong."""

import sys

import numpy as np

import pullback
import pullback.interop.scipy

from . import calls

ONCE = ("Radau", "dblquad", "Akima", "csd", "coherence", "welch", "periodogram")
"""Calls that are too slow, or not smooth, to be differentiated twice by differences."""


def along(module, call, values, direction):
    """The derivative of a call's weighed sum in a direction, by reverse mode, and that derivative's gradient."""
    given = {k: pullback.tensor(v, requires_grad=True) for k, v in values.items()}
    total = calls.weighed(module, call, {**calls.CONSTANTS, **given})
    slopes = pullback.autograd.grad(total, list(given.values()), create_graph=True, allow_unused=True)
    return sum(
        (s * pullback.tensor(direction[k])).sum() for k, s in zip(given, slopes, strict=True) if s is not None
    ), given


def wrong(module, call):
    """What is wrong with a call, if anything."""
    draw = np.random.default_rng(0)
    values = {k: calls.INPUTS[k] for k in calls.used(call)}
    direction = {k: draw.normal(size=v.shape) for k, v in values.items()}
    with pullback.strong_zeros():
        first, given = along(module, call, values, direction)
        _, forward = pullback.func.jvp(
            lambda *primals: calls.weighed(
                module, call, {**calls.CONSTANTS, **dict(zip(values, primals, strict=True))}
            ),
            tuple(pullback.tensor(v) for v in values.values()),
            tuple(pullback.tensor(v) for v in direction.values()),
        )
        if not np.isclose(float(forward), float(first.detach()), rtol=1e-8, atol=1e-8):
            return f"forward {float(forward)}, reverse {float(first.detach())}"
        if any(word in call for word in ONCE):
            return ""
        second = 0.0
        if first.requires_grad:
            slopes = pullback.autograd.grad(first, list(given.values()), allow_unused=True)
            second = sum(
                float((s.numpy() * direction[k]).sum()) for k, s in zip(given, slopes, strict=True) if s is not None
            )
        moved = [
            float(along(module, call, {k: v + h * direction[k] for k, v in values.items()}, direction)[0].detach())
            for h in (1e-5, -1e-5)
        ]
    expected = (moved[0] - moved[1]) / 2e-5
    return "" if np.isclose(second, expected, rtol=1e-4, atol=1e-5) else f"second {second}, differences {expected}"


def main(modules):
    """The number of calls that are wrong. What raises is refused: programs that write into arrays, inside transforms."""
    pullback.interop.scipy.enable()
    found = {"": 0, "refused": 0, "wrong": 0}
    for module, call, outcome, _ in calls.rows():
        if module in modules and outcome == "right":
            try:
                said = wrong(module, call)
            except Exception as error:  # noqa: BLE001  # told
                said, kind = str(error)[:150], "refused"
            else:
                kind = "wrong" if said else ""
            found[kind] += 1
            if said:
                print(kind, call, said)
    print(found[""], "calls")
    return found["wrong"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
