"""Parameters of tests: a few combinations in which each two values of different parameters meet."""

import itertools


def pairwise(*axes):
    """Tuples of one value of each axis: each pair of values of two axes is in one of them at least.

    Faults that need three values at once are found by chance only: for what is prone to them, take the whole product.
    """
    order = sorted(range(len(axes)), key=lambda axis: -len(axes[axis]))
    rows = [
        dict(zip(order, pair, strict=False)) for pair in itertools.product(*[range(len(axes[a])) for a in order[:2]])
    ]
    for place, axis in enumerate(order[2:], 2):
        count, before = len(axes[axis]), order[:place]
        missing = {(a, i, j) for a in before for i in range(len(axes[a])) for j in range(count)}
        for number, row in enumerate(rows):
            fresh = [sum((a, row[a], j) in missing for a in before) for j in range(count)]
            row[axis] = max(range(count), key=lambda j: (fresh[j], -((j - number) % count)))
            missing -= {(a, row[a], row[axis]) for a in before}
        for number, (a, i, j) in enumerate(sorted(missing)):
            rows.append({b: number % len(axes[b]) for b in before} | {a: i, axis: j})
    return [tuple(axes[a][row[a]] for a in range(len(axes))) for row in rows]
