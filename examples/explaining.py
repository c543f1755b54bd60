"""What did backward([1, 10, 100]) do?

The last program of examples/seeds/scalar_and_vector_outputs.py, recorded: the answer, every step, and, if a folder is
named, the page that steps through it.
"""

import sys
from pathlib import Path

import pullback


def record() -> pullback.explain.Explanation:
    """Three outputs of two inputs, written one by one."""
    with pullback.explain.record() as ex:
        x = pullback.tensor([1.0, 2.0], requires_grad=True)
        y = pullback.zeros(3)
        y[0] = 3 * x[0] ** 2
        y[1] = x[0] ** 2 + 2 * x[1] ** 3
        y[2] = 10 * x[1]
        y.backward(pullback.tensor([1.0, 10.0, 100.0]))
    return ex


def save(ex: pullback.explain.Explanation, folder: Path) -> None:
    """Write the page, or what needs no program of its own where that was not built."""
    try:
        ex.save(folder / "explain.html")
        print("the page:", folder / "explain.html")
    except RuntimeError as error:
        ex.save(folder / "explain.txt")
        ex.save(folder / "explain.json")
        print("no page:", error)
        print("instead: ", folder / "explain.txt", "and", folder / "explain.json")


def main() -> None:
    """Print the explanation; write it to the folder that the command line names."""
    ex = record()
    print(ex)
    for name in sys.argv[1:2]:
        save(ex, Path(name))


if __name__ == "__main__":
    main()
