"""One-sentence descriptions of what a step does."""

from __future__ import annotations

from .matrices import vector_text
from .trace import Hooked, Step, Traced

FORWARD = {
    "setitem": "An in-place write: the memory stays the same, the history is new.",
    "select": "Reads one part; the rest of the input has no effect.",
    "detach": "Passes the value on without its history.",
}

SENTENCES = {
    "The written elements send v to the new values, the others to the previous version of the tensor.": "setitem",
    "The part that was read gets v, the rest zeros.": "select slice",
    "The elements that were read get v, the others zeros.": "index gather",
    "Each term gets v unchanged.": "add",
    "The first term gets v, the second -v.": "sub",
    "Each factor gets v times the other factor.": "mul",
    "The numerator gets v divided by the denominator.": "div",
    "v changes its sign.": "neg",
    "v is multiplied by the slope of the power at the input.": "pow",
    "Each matrix gets v times the transpose of the other.": "mm",
    "The input and the weight get v times the transpose of the other; the bias gets the sum of v.": "addmm",
    "Every element of the input gets v.": "sum",
    "Every element of the input gets v divided by their number.": "mean",
    "v passes where the input was positive, and is zero elsewhere.": "relu",
    "v is multiplied by the result.": "exp",
    "v is divided by the input.": "log",
    "v is divided by twice the root.": "sqrt",
    "v is multiplied by 1 - result**2.": "tanh",
    "v is multiplied by result * (1 - result).": "sigmoid",
    "v passes unchanged.": "clone",
    "v is reshaped to the shape of the input.": "view reshape unsafe_view",
    "v is transposed back.": "t transpose",
    "The axes of v are permuted back.": "permute",
    "v is summed over the repeated axes.": "expand",
    "v is converted back to the dtype of the input.": "to_copy",
}
"""What a backward step does, and for which operations."""
BACKWARD = {op: text for text, ops in SENTENCES.items() for op in ops.split()}


def note(step: Step) -> str | None:
    """The sentences for a step; None if its numbers speak for themselves."""
    hook = "" if step.hooked is None else f"{hooked(step.hooked)}."
    return " ".join(filter(None, [_computed(step), hook])) or None


def hooked(found: Hooked) -> str:
    """What a hook of the program did to a gradient."""
    return f"{found} changed the gradient from {vector_text(found.before)} to {vector_text(found.after)}"


def _computed(step: Step) -> str | None:
    if step.phase == "forward":
        return FORWARD.get(step.op or "")
    if step.op is None:
        return _accumulated(step.outputs[0])
    return BACKWARD.get(step.op)


def _accumulated(leaf: Traced) -> str:
    return f"The contributions are summed and added to {leaf.name}.grad."
