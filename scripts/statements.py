"""Counts in how many places it is stated what each operation computes, and where facts about operations stand.

A value may be stated by a forward function or a definition of its own, by code for loops, by words for other libraries, as
NumPy's text and as a rule of the compiler. A forward function beside a definition is a quicker way, which tests hold to the
definition: it is counted apart. A function that is NumPy's, or one of the namespace of rules, states nothing itself.
"""

from __future__ import annotations

import argparse
import collections
import importlib
from typing import Any

import numpy as np

from pullback import ops
from pullback.compile import spelling
from pullback.compile.engines.libraries import LOWERINGS
from pullback.compile.machine.elements import ELEMENTS
from pullback.compile.passes.recurrence import decomposed

FACTS = {
    "how it batches": ("pullback.func.batching_rules", "RULES"),
    "its forward mode": ("pullback.func.pushforwards", "PUSHFORWARDS"),
    "its shape": ("pullback.compile.inference", "RULES"),
    "its Jacobian's structure": ("pullback.sparsity.structures", "STRUCTURES"),
    "its flops": ("pullback.compile.costs", "_COUNTED"),
    "its poles": ("pullback._tape.diagnosis", "POLES"),
}
"""Tables of rooms by what they say of an operation."""


def stated(name: str, primitive: Any) -> list[str]:
    """Where it is stated what an operation computes."""
    places = []
    if primitive.definition is not None:
        places.append("definition")
    elif primitive.forward.__module__.startswith("pullback.ops"):
        places.append("forward")
    tables = {"loops": ELEMENTS, "libraries": LOWERINGS, "text": spelling.SPELLINGS, "rule": decomposed.table}
    return places + [place for place, table in tables.items() if name in table]


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(prog="statements", description="Counts in how many places operations are stated.")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the operations with more than one")
    options = parser.parse_args()
    tables = ops.tables()
    places = {name: stated(name, primitive) for name, primitive in tables.items()}
    counts = collections.Counter(len(each) for each in places.values())
    print(f"{len(tables)} operations; what they compute is stated in")
    for number in sorted(counts):
        print(f"  {number} places: {counts[number]}")
    quicker = sum(each.definition is not None and not each.defined for each in tables.values())
    print(
        f"{sum(each.definition is not None for each in tables.values())} have a definition, {quicker} a quicker way beside"
    )
    basic = collections.Counter(
        "functions of NumPy" if isinstance(each.forward, np.ufunc) else each.kind
        for each in tables.values()
        if each.definition is None
    )
    print(f"{basic.total()} are basic:", ", ".join(f"{number} {kind}" for kind, number in basic.most_common()))
    for place in ("loops", "libraries", "text", "rule"):
        print(f"  {place}: {sum(place in each for each in places.values())}")
    print("facts at the definition: view, commutes, cost, complex, halves; in tables of rooms:")
    for fact, (module, table) in FACTS.items():
        print(f"  {fact}: {len(getattr(importlib.import_module(module), table))}")
    if options.verbose:
        for name, each in sorted(places.items(), key=lambda item: -len(item[1])):
            if len(each) > 1:
                print(f"  {name}: {', '.join(each)}")


if __name__ == "__main__":
    main()
