"""One-sentence descriptions of what a step does."""

from __future__ import annotations

from .trace import Step, Traced

FORWARD = {
    "setitem": "The tensor is written in place: the same memory, a new history.",
    "select": "One part is read; the rest of the input plays no role.",
    "detach": "The value goes on without its history.",
}

BACKWARD = {
    "setitem": "The elements that were written send v to what was written; the others to what the tensor was before.",
    "select": "v goes to the part that was read, and zeros everywhere else.",
    "slice": "v goes to the part that was read, and zeros everywhere else.",
    "index": "v goes to the elements that were read, and zeros everywhere else.",
    "gather": "v goes to the elements that were read, and zeros everywhere else.",
    "add": "Each summand gets v as it is.",
    "sub": "The first gets v as it is, the second its negative.",
    "mul": "Each factor gets v times the other factor.",
    "div": "The numerator gets v divided by the denominator.",
    "neg": "The sign changes.",
    "pow": "v is multiplied by the slope of the power where the input was.",
    "mm": "Each matrix gets v multiplied by the other, transposed.",
    "addmm": "The input and the weights get v multiplied by the other, the bias the sum of v.",
    "sum": "Every element of the input gets v: a sum rises by as much as any of its summands.",
    "mean": "Every element of the input gets the same share of v.",
    "relu": "v passes where the input was positive, and stops where it was not.",
    "exp": "v is multiplied by the result.",
    "log": "v is divided by the input.",
    "sqrt": "v is divided by twice the root.",
    "tanh": "v is multiplied by 1 - result**2.",
    "sigmoid": "v is multiplied by result * (1 - result).",
    "clone": "v goes on as it is.",
    "view": "v gets the shape that the input had.",
    "reshape": "v gets the shape that the input had.",
    "unsafe_view": "v gets the shape that the input had.",
    "t": "v is transposed back.",
    "transpose": "v is transposed back.",
    "permute": "The axes of v go back to their places.",
    "expand": "v is summed over the axes that were repeated.",
    "to_copy": "v is converted back to the dtype of the input.",
}


def note(step: Step) -> str | None:
    """The sentence for a step; None if its numbers speak for themselves."""
    if step.phase == "forward":
        return FORWARD.get(step.op or "")
    if step.op is None:
        return _accumulated(step.outputs[0])
    return BACKWARD.get(step.op)


def _accumulated(leaf: Traced) -> str:
    return f"All that was sent to {leaf.name} has been added up: it is added to {leaf.name}.grad."
