"""The texts of errors that teach: torch's wording, then what torch leaves out and the way on."""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .package import package
from .sites import Site, called, caller, describe, internal, wanted_by

if TYPE_CHECKING:
    from types import FrameType

    from .._tape.node import Node
    from .._tensor.attributes import Attributes
    from .primitives import Primitive
    from .typing import Array, Params, Tensor


PACK_WROTE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Write to a clone inside the hook."
)
PICKED = (
    "The gradient of what an index picked does not fit the shape {} of the indexed tensor: `.data` has been assigned with "
    "another shape, before or after the index. Assign data of the same shape, or index the new data in a graph of its own."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor: "
    "use t.clone() outside inference_mode, or make the tensor under no_grad instead."
)
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
    "tensor before doing inplace update."
)
UNTRACKED_VIEW_WRITTEN = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. It is unclear whether "
    "the write should be differentiated. Move both the view and the write inside the no_grad block, or both outside."
)
INFERENCE_VIEW_WRITTEN = (
    "A view was created in inference mode and is being modified inplace in normal mode. It is unclear whether the write "
    "should be differentiated. Move both the view and the write inside the inference_mode block, or both outside."
)

FLAG_INSIDE = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a "
    "function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd) or call requires_grad_() outside of a function being transformed "
    "instead: leave requires_grad=True out."
)


class UncompiledError(Exception):
    """Raised by a hook that needs numbers while compile records a function: this call runs as it is, the next is tried again."""


class AbsentError(RuntimeError, AttributeError):
    """Raised by an attribute that only other tensors have: for torch's programs a RuntimeError; `hasattr` is False."""


def kind(tensor: Attributes) -> str:
    """A tensor in one phrase: dtype, shape, and where it was made; how it is worded may change.

    >>> import pullback
    >>> pullback.observe.in_words(pullback.ones(2, 3))
    'float32 tensor of shape (2, 3)'
    """
    text = f"{str(tensor.dtype).rpartition('.')[2]} tensor of shape {tuple(tensor.shape)}"
    node = tensor._node
    if node is None:
        return text
    return f"{text} made by {operation_of(node)} at {describe(node.site)}"


_BOUNDARIES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")  # FftR2C is fft_r2c


def operation_of(node: Node) -> str:
    """The operation that made a node, as messages name it: `log_softmax` of a LogSoftmaxBackward0."""
    maker = node.endpoint[0]
    title: str = maker.title
    if title == "AccumulateGrad":
        return "the program"
    return title.removesuffix("Backward") if maker.foreign else _name_of_title(title, maker.primitive)


def operation_name(primitive: Primitive, params: Params) -> str:
    """The name of an operation in messages, which some primitives choose by their parameters."""
    return _name_of_title(primitive.node_name(params), primitive)


def _name_of_title(title: str, primitive: Primitive) -> str:
    if title == "CopySlices":
        return "setitem"
    name = _BOUNDARIES.sub("_", title.rstrip("0123456789").removesuffix("Backward")).lower()
    own: str = primitive.short_name
    return own if own.replace("_", "") == name.replace("_", "") else name  # `deg2rad`, of Deg2RadBackward0


def no_tensor(function: str, argument: str, position: int, value: object) -> TypeError:
    """An argument that should be a tensor and is not."""
    return TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}: "
        f"{_as_tensor(value, function.endswith('_'))}"
    )


def _as_tensor(value: Any, in_place: bool) -> str:
    """How to get a tensor out of what was passed for one, to read or, `in_place`, to write."""
    if value is None:
        return "it is None, which a function without a return statement returns"
    if isinstance(value, type):
        return f"it is a class: create an instance, {value.__name__}(...), and call that"
    if hasattr(value, "_modules") and in_place:
        return "it is a module: pass one of its parameters, such as module.weight"
    if hasattr(value, "_modules"):
        return f"it is a module: call it, as in {type(value).__name__}(...)(x), and pass what that returns"
    if isinstance(value, (list, tuple)) and any(hasattr(each, "_node") for each in value):
        if isinstance(value, list):
            return f"it holds tensors: pass one of them, or join them with {package}.stack or {package}.cat"
        return (
            "it is the tuple of a function or layer that returns several results, as LSTM does: select one, output[0] "
            "for the first"
        )
    if callable(value):
        return "it is a function: call it, and pass what it returns"
    return f"wrap numbers, lists and arrays with {package}.as_tensor"


def strange(value: object) -> str:
    """What is not a number in something that should hold numbers, and the fix."""
    if value is None:
        return ". It is None, which a function without a return statement returns"
    if getattr(getattr(value, "dtype", None), "kind", "") != "O":
        return f", and cannot be made from {value.dtype if hasattr(value, 'dtype') else type(value).__name__}"
    for place, each in np.ndenumerate(value):
        if not isinstance(each, numbers.Number):
            return f", and element {list(place)} of this array of objects is {each!r:.40}, a {type(each).__name__}"
    return ". This array holds Python objects that are numbers: convert it with array.astype(float)"


def second_backward(node: Any, site: Site, again: Site | None = None, cuts: Sequence[str] = ()) -> RuntimeError:
    """A graph whose saved values are gone; where a loop has handed a value on to its next round, at which line, and what cuts it off."""
    fix = "pass retain_graph=True to that first backward, or compute this part again before the second."
    if again is not None:
        what = f"write {'; '.join(cuts)}" if cuts else f"detach() what is made at {describe(again)} and kept,"
        fix = f"{what} after each backward: it was computed before one and is used in the next."
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.\n"
        f"  Freed by the backward at {describe(site)}\n"
        f"  Needed again: {operation_of(node)} at {describe(node.site)}\n"
        f"  Fix: {fix}"
    )


def no_product(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    """Shapes of which there is no matrix product."""
    axis, inner = ("only", b[0]) if len(b) == 1 else ("second to last", b[-2])
    words = "mat1 and mat2 shapes cannot be multiplied (" + " and ".join("x".join(map(str, s)) for s in (a, b)) + ")"
    if len(a) == len(b) == 1:
        words = (
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements"
        )
        words += f", but got {a[0]} and {b[0]} elements respectively"
    ways = [f"a @ b.mT has shape {(*a[:-1], inner)}"] if len(b) > 1 and a[-1] == b[-1] else []
    ways += [f"a.mT @ b has shape {(*a[:-2], a[-1], *b[-1:])}"] if len(a) > 1 and a[-2] == inner else []
    return RuntimeError(
        f"matmul: the last axis of a, of shape {a}, has size {a[-1]}, and the {axis} one of b, of shape {b}, has size {inner}, in "
        f"{describe(caller())}: they must be equal. {words}"
        + (f". With one of them transposed: {', '.join(ways)}" if ways else "")
    )


def no_layer(shape: tuple[int, ...], weight: tuple[int, ...]) -> RuntimeError:
    """An input of a linear layer whose last axis has not the layer's size."""
    have, (results, want) = shape[-1], weight
    fix = f"Make the layer Linear({have}, {results}), or have the layer before it return {want} features"
    if math.prod(shape[1:]) == want:
        fix = f"input.flatten(1) has shape {(shape[0], want)}"
    return RuntimeError(
        f"linear: the last axis of the input, of shape {shape}, has size {have}, and the layer takes {want} features, in "
        f"{describe(caller())}. mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, shape))} and "
        f"{want}x{results}). {fix}"
    )


def mixed(operation: str, what: str, first: Tensor | Array, second: Tensor | Array, words: str) -> RuntimeError:
    """Two operands of different dtypes, of which neither is promoted."""
    have, other = (str(operand.dtype).rpartition(".")[2] for operand in (first, second))
    fix = f"convert one: x.to({other}) or y.to({have})"
    integer, floating = sorted((have, other), key=lambda name: "float" in name)
    if "float" in floating and integer.startswith(("int", "uint", "bool")):
        fix = f"convert the {integer}: x.to({package}.{floating})"
    if {have, other} == {"float32", "float64"}:
        fix = "float64 is NumPy's default: write x.float(), or call .double() on the other, which may be a model"
    return RuntimeError(f"{operation}: {what} are {have} and {other}, in {describe(caller())}: {fix}. {words}")


class Overwritten(NamedTuple):
    """A tensor that a pass needs as it was, with its version then and now; `modified` hangs it on its error."""

    tensor: Tensor
    expected: int
    version: int


def modified(tensor: Any, expected: int, version: int, advice: str) -> RuntimeError:
    """A tensor that has been written after its value was used, and that is not kept."""
    error = RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: a {kind(tensor)} "
        f"is at version {version}; expected version {expected} instead. {advice}"
    )
    error.overwritten = Overwritten(tensor, expected, version)  # type: ignore[attr-defined]  # for explain: the type is torch's
    return error


def missing_gradient(tensor: Attributes) -> RuntimeError:
    """backward() without a gradient on a tensor with several elements."""
    return RuntimeError(
        f"grad can be implicitly created only for scalar outputs: this is a {kind(tensor)}, so backward needs a "
        f"gradient v of that shape, and x.grad becomes v @ J, the derivative of (v * y).sum().\n"
        "  The sum of all outputs: y.sum().backward()\n"
        "  One output: a v that is 1 there and 0 elsewhere\n"
        "  Weights for the outputs: y.backward(v)"
    )


def gradient_shape(gradient: Tensor, tensor: Attributes, index: int) -> RuntimeError:
    """A gradient that fits neither the output nor one of the seeds' readings."""
    have, want = tuple(gradient.shape), tuple(tensor.shape)
    fix = "pass one weight for each element of the output"
    if gradient.numel() == tensor.numel():
        fix = f"pass gradient.reshape({want})"
    elif gradient.numel() == 1:
        ones = [1.0] * want[0] if len(want) == 1 and want[0] < 5 else f"{package}.ones{want}"
        fix += f": y.backward({ones}) is the same as y.sum().backward()"
    return RuntimeError(
        f"the gradient has shape {have} and the output is a {kind(tensor)}: {fix}. Mismatch in shape: grad_output[{index}] "
        f"has a shape of {size(have)} and output[{index}] has a shape of {size(want)}."
    )


def size(shape: tuple[int, ...]) -> str:
    return f"torch.Size({list(shape)})"


def leaf_write(tensor: Attributes, operation: str) -> str:
    """A write to a leaf that requires grad."""
    return (
        f"a leaf Variable that requires grad is being used in an in-place operation. {operation} writes to a "
        f"{kind(tensor)}. To update a parameter: with {package}.no_grad(): w -= lr * w.grad. To compute with it: write "
        "y = x * 2 instead of x *= 2, or x.clone() first."
    )


def leaked(operation: str) -> str:
    """An operation on a value of a transform that is over."""
    return (
        f"{operation} was called on a tensor that has leaked from vmap or jvp: it was kept somewhere while the function "
        "ran. Return it from the function instead"
    )


def captured_write(tensor: Attributes, operation: str, value: Tensor) -> str:
    """A write of a transform's value into a tensor from outside the transform."""
    way_out = value.interpreter.way_out
    if operation == "batch_norm":
        way_out = (
            "These are the running statistics of batch normalisation: evaluate with net.eval(), or keep none, by "
            f"{package}.func.replace_all_batch_norm_modules_(net)"
        )
    return (
        "During a grad (vjp, jvp, grad, vmap, etc) transform, the function provided attempted to call in-place operation "
        f"({operation}) that would mutate a captured Tensor, a {kind(tensor)}. This is not supported: it would hold a value "
        f"of the transform after the transform is over. {way_out}"
    )


def leaf_view_write(tensor: Attributes, operation: str) -> str:
    """A write through a view of a leaf that requires grad."""
    leaf = tensor if tensor._base is None else tensor._base
    return (
        f"a view of a leaf Variable that requires grad is being used in an in-place operation. {operation} writes to "
        f"part of a leaf, a {kind(leaf)}. Write to x.clone(), or, for a parameter update, inside with "
        f"{package}.no_grad()."
    )


def overlapping(tensor: Attributes, operation: str) -> str:
    """A write to memory that one element shares with another."""
    return (
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        f"Please clone() the tensor before performing the operation. {operation} writes to an expanded {kind(tensor)}."
    )


def read_only(tensor: Attributes, operation: str) -> str:
    """A write to an array that NumPy has marked read-only."""
    return (
        f"{operation} writes to a {kind(tensor)} whose NumPy array is read-only. Use t.clone(), or make the array "
        "writable before from_numpy."
    )


def written_shape(target: Tensor, result: Tensor, operation: str) -> str:
    """A write that would change the target's shape."""
    return (
        f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}. {operation} "
        f"keeps the shape of its target; write y = x + other instead of x += other."
    )


def written_dtype(target: Tensor, result: Tensor, operation: str) -> str:
    """A write that would change the target's kind of dtype."""
    from_, to = (str(t.dtype).rpartition(".")[2] for t in (result, target))
    return (
        f"result type {result._type_name} can't be cast to the desired output type {target._type_name}. {operation} "
        f"keeps the dtype of its target: {from_} does not fit into {to}; write y = x * other, or convert x first."
    )


def power_dtype(role: str, name: str, target: Tensor, result: Tensor) -> str:
    """A tensor that should take the result of float_power, which is exact in the largest dtypes alone."""
    return (
        f"the {role} given to {name} has dtype {target._type_name} but the operation's result requires dtype "
        f"{result._type_name}: write y = x.float_power(p), or convert first, x.double()"
    )


def non_leaf_flag(tensor: Attributes, value: bool) -> str:
    """Setting requires_grad on the result of a recorded operation."""
    text = "you can only change requires_grad flags of leaf variables."
    if not value:
        text += (
            " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
            "var_no_grad = var.detach()."
        )
    note = "It requires grad already." if value else "Use t.detach() for an untracked tensor with these values."
    return f"{text} This is a {kind(tensor)}. {note}"


def non_leaf_grad(tensor: Attributes) -> str:
    """Reading .grad where no pass will ever put one."""
    return (
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        f"populated during autograd.backward(): this is a {kind(tensor)}. Call .retain_grad() on it before backward to "
        "keep its gradient, or read .grad of the leaf it was computed from."
    )


def tracked_numpy(tensor: Attributes, call: str) -> RuntimeError:
    """Handing the memory of a tracked tensor to NumPy."""
    return RuntimeError(
        f"NumPy arrays hold no gradients, and this is a {kind(tensor)}, asked for by {_asking()}. To keep the gradient stay with tensors: "
        f"{package}.stack([a, b]) for np.array([a, b]), {package}'s functions for NumPy's, value_and_grad(f) for SciPy. For the values alone, as torch says: "
        f"Can't call {call} on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )


def require_state(given: object) -> None:
    """Raise unless what is to be loaded is a state: not the name of its file, nor the object whose state it should be."""
    if isinstance(given, Mapping):
        return
    found, fix = str(type(given)), ""
    if isinstance(given, (str, PathLike)):
        fix = f" Read the file first: load_state_dict({package}.load({str(given)!r}))."
    elif hasattr(given, "load_state_dict"):
        found, fix = f"a {type(given).__name__}", " Pass its state: load_state_dict(other.state_dict())."
    raise TypeError(f"Expected state_dict to be dict-like, got {found}.{fix}")


def keeping() -> str:
    """How a program that leaves tensors keeps its gradients."""
    return (
        f"To keep it, write {package}.sin(x) for math.sin(x), {package}.stack([a, b]) for np.array([a, b]), and out = "
        f"{package}.zeros(3) for out = np.zeros(3) before out[i] = x[i]"
    )


def escaped(tensor: Attributes, call: str, refused_by: str) -> RuntimeError:
    """A conversion by which a gradient would be lost, inside no_escapes or a function that refuses it, too."""
    asking, name = _asking(), asking_function("math.")
    plain = asking_function()
    if name and hasattr(sys.modules["pullback"], name):
        keep = f"To keep it, write {package}.{name} for math.{name}"
    else:
        keep = f"To keep it, leave {plain}() out" if plain in {"float", "item", "tolist"} else keeping()
    fixed = refused_by == "no_escapes" or refused_by.startswith("scipy.")
    allowed = "" if fixed else "; allow_escapes=True lets it go"
    return RuntimeError(
        f"{refused_by}: {asking} takes, by {call}, the values of a {kind(tensor)}, and its gradient would be lost. {keep}. For "
        f"the value alone, write x.detach(){allowed}"
    )


def _asking() -> str:
    """Which function of the program asks for something now, and the line."""
    site = wanted_by()
    function = called(site)
    return f"{function} at {describe(site)}" if function else describe(site)


def out_of_bounds(index: int, axis: int, size: int) -> str:
    """An index that an axis does not have."""
    places = f"its places are 0 to {size - 1}" if size else "it has no places"
    return f"index {index} is out of bounds for dimension {axis} with size {size}: {places}"


def asking_function(module: str = "") -> str:
    """The name of the function of the program that asks for something now, without its module; "" for one of another module."""
    function = called(wanted_by()) or ""
    return function.rpartition(".")[2] if function.startswith(module) else ""


def truth_wanted() -> str:
    """The fix where the truth of many numbers is asked for: by an `if`, or by a layer that is made where it should be called."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and internal[frame.f_code.co_filename]:
        made: Any = frame.f_locals.get("self")
        if frame.f_code.co_name in {"__init__", "__post_init__"} and hasattr(made, "_modules"):
            name, code = type(made).__name__, type(made).forward.__code__
            taken = ", ".join(code.co_varnames[1 : code.co_argcount - len(type(made).forward.__defaults__ or ())])
            return f"{name}(...) makes a module from its settings, which takes tensors when it is called: {name}()({taken})"
        frame = frame.f_back
    return "use .any() or .all()"


def copying(memo: dict[int, object]) -> str:
    """The fix where deepcopy meets a result: by itself, or as an attribute of a module."""
    if type(memo) is dict and any(hasattr(type(each), "load_state_dict") for each in memo.values()):
        return (
            "it is an attribute of a module, as nn.utils.weight_norm and spectral_norm make them: those of "
            "nn.utils.parametrizations can be copied; of an attribute of your own keep the detach()"
        )
    return "copy its detach()"


def tracked_number(function: str, tensor: Attributes) -> TypeError:
    """A tracked tensor where a number is asked for, by which there is no derivative."""
    return TypeError(
        f"{function}(): an argument must be Number, not Tensor: its gradient would be lost. This is a {kind(tensor)}; "
        f"{function} has no derivative by this argument, so pass its value, tensor.item()."
    )


def way_of_classes(input: Tensor, target: Tensor) -> str:
    """What to change where class indices do not fit the scores: their order, an axis of one of them, or nothing that is certain."""
    sizes, have = list(input.shape), list(target.shape)
    if input._dtype.kind in "iub" and target._dtype.kind == "f":
        return ". The scores come first, then the target: here they are swapped"
    if have == [*sizes[:1], 1]:
        return ". The target has one axis too many: write target.squeeze(1)"
    if len(sizes) > 2 and have == sizes[:-1]:
        move = "transpose(1, 2)" if len(sizes) == 3 else "movedim(-1, 1)"
        return f". The classes are on axis 1 of the scores, here they are on the last: write scores.{move}"
    if len(sizes) == 3 and have == [sizes[1], sizes[0]]:
        return ". Their first axes are in different orders: write scores.transpose(0, 1) if the first is time"
    return (
        ". For probabilities of classes it has the shape of the scores, and a floating dtype" if len(have) > 1 else ""
    )
