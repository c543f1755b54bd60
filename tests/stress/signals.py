"""Passes interrupted by a timer's signals at random moments: `.grad` has all of a pass, or nothing.

    python tests/stress/signals.py --passes 2000

A signal's handler raises an exception wherever Python looks for signals. Afterwards each gradient is compared with what it
was before the pass, and with what it must be after: all leaves must tell the same. Then the pass runs again, undisturbed.
"""

import argparse
import random
import signal
import sys

import pullback

LEAVES = 40


class InterruptionError(Exception):
    """What the handler raises."""


def interrupt(number, frame):
    """The handler."""
    raise InterruptionError


def leaves(kind):
    """Leaves with small whole numbers, and gradients of the kind that is to be accumulated into."""
    made = [pullback.tensor([float(i), 2.0, 3.0], requires_grad=True) for i in range(LEAVES)]
    for i, leaf in enumerate(made):
        if kind == "in place" or (kind == "mixed" and i % 2):
            leaf.grad = pullback.ones(3)
        elif kind == "read-only":
            leaf.grad = pullback.ones(1).expand(3)
    return made


def one_pass(kind, made):
    """One backward; each leaf's gradient grows by 5."""
    total = made[0] * 5
    for leaf in made[1:]:
        total = total + leaf * 5
    total.sum().backward(create_graph=kind == "recorded")


def numbers(made):
    """The gradients as numbers, 0 where there is none."""
    found = [[0.0] * 3 if leaf.grad is None else leaf.grad.tolist() for leaf in made]
    assert all(len(set(values)) == 1 for values in found), "a gradient is half written"
    return [values[0] for values in found]


def seconds(kind):
    """How long a pass takes."""
    signal.setitimer(signal.ITIMER_REAL, 100.0)
    for _ in range(5):
        one_pass(kind, leaves(kind))
    made = leaves(kind)
    begin = signal.getitimer(signal.ITIMER_REAL)[0]
    one_pass(kind, made)
    return begin - signal.setitimer(signal.ITIMER_REAL, 0.0)[0]


def trial(kind, delay):
    """A pass with a signal after some seconds: whether it came, and whether some gradients changed and others did not."""
    made = leaves(kind)
    before, kept = numbers(made), [leaf.grad for leaf in made]
    came = False
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        one_pass(kind, made)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except InterruptionError:
        came = True
    after = numbers(made)
    grown = {b - a for a, b in zip(before, after, strict=True)}
    if kind == "in place":
        assert all(leaf.grad is grad for leaf, grad in zip(made, kept, strict=True)), "a gradient is another tensor"
    partial = grown not in ({0.0}, {5.0})
    one_pass(kind, made)  # nothing stays locked, and the next one counts once
    assert numbers(made) == [value + 5 for value in after] or partial, "the next pass is wrong"
    return came, partial


def main():
    """So many passes; 1 where one was partial."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    signal.signal(signal.SIGALRM, interrupt)
    chance, kinds = random.Random(asked.seed), ["fresh", "in place", "mixed", "read-only", "recorded"]
    length = {kind: seconds(kind) for kind in kinds}
    came = partial = 0
    for number in range(asked.passes):
        kind = kinds[number % len(kinds)]
        found = trial(kind, max(1e-6, length[kind] * (0.3 + 0.9 * chance.random())))
        came, partial = came + found[0], partial + found[1]
    print(f"{asked.passes} passes, {came} interrupted: {partial} partial")
    return int(partial > 0 or came < asked.passes // 4)


if __name__ == "__main__":
    sys.exit(main())
