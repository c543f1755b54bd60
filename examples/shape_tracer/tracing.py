"""The tracer: one method for each thing that it prints."""

from typing import TextIO

from pullback import observe


class ShapeTracer(observe.Observer):
    """Prints each operation with its shapes, its line and its module, and each backward pass with its nodes."""

    def __init__(self, file: TextIO | None = None) -> None:
        super().__init__()
        self.file = file

    def operation(self, seen: observe.Operation) -> None:
        """One line for an operation: `train.py:12  matmul  (4, 3) (3, 2) -> (4, 2)  Linear`."""
        if not seen.computed:
            return  # inside a transform: the level that computes has a line of its own
        given = " ".join(shape(each) for each in seen.arguments)
        made = " ".join(shape(each) for each in seen.results)
        module = "" if seen.module is None else f"  {type(seen.module).__name__}"
        print(f"{place(seen.site):20}{seen.name:12}{given} -> {made}{module}", file=self.file)

    def wrote(self, write: observe.Write) -> None:
        """One line for a write in place."""
        kept = "" if write.recorded else "  (not recorded)"
        print(f"{place(write.site):20}{'written':12}{shape(write.tensor)}{kept}", file=self.file)

    def begins(self, backward: observe.BackwardPass) -> None:
        """The nodes of a backward pass, in the order in which they run."""
        print(f"{place(backward.site):20}{'backward':12}", *[node.title for node in backward.nodes], file=self.file)


def place(site: observe.Site) -> str:
    """The file and the line of a site: `train.py:12`."""
    return observe.describe(site).partition(": ")[0]


def shape(value: object) -> str:
    """The shape of a tensor or an array; of a number `()`."""
    return str(tuple(getattr(value, "shape", ())))
