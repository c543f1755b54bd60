"""NaN and inf of a call: in which operation they begin, and on which steps they then go.

What is a fault is decided as in anomaly mode: `_tape.faults` has the rule. Whatever a NaN or inf turns into on its way, inf into NaN
above all, is one finding with the cause at which it began, as is what the backward pass makes of an inf of the forward pass.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import finfo
from ..observe import begins, masks, pole_of
from .arrays import Kept, Marks, Summary, marks_of, ranged, stats_of
from .numbers import short
from .trace import Call, Finding, Step, Term, Traced

if TYPE_CHECKING:
    from .._tape.diagnosis import Pole


Origins = dict[Traced, list[Finding]]
"""The findings that have come to a tensor: forward to its value, backward to its gradient."""

ADVICE = {
    ("exp", "inf"): "exp overflows: subtract the largest first, or use softmax, logsumexp or softplus",
    (
        "softmax",
        "nan",
    ): "all of a row is -inf: the mask has to leave one position of each row, and may be the wrong way round",
    ("std", "nan"): "std of one element is 0 / 0: take it of more, or pass correction=0",
    ("var", "nan"): "var of one element is 0 / 0: take it of more, or pass correction=0",
    ("mean", "nan"): "mean of no elements is 0 / 0: leave out what is empty",
}
"""What helps where an operation gives NaN or inf elsewhere than at a pole."""
SCALE = "scale the numbers down: a smaller learning rate, normalization, or a mean in place of a sum"
WIDEN = "compute this in float32, which holds numbers up to 3.4e38"
BEFORE = "look at the calls before this one, and at what it was loaded from"
EXAMPLES = "leave out the examples that have such numbers: isfinite finds them"
WIDE = 1e5
"""The largest number of a dtype above which a wider one helps little."""
LARGE = {*"exp expm1 cosh sinh exp2 mul pow add sub sum mm addmm bmm prod cumprod square mv dot baddbmm".split()}
"""Operations whose inf is an overflow, if their inputs are finite."""
MOVED = {*"alias as_strided clone contiguous diagonal expand flip gather index index_select permute reshape select slice "
         "squeeze t take to_copy transpose unbind unsqueeze view".split()}  # fmt: skip
"""Operations whose elements are elements of what they are given, in other places or dtypes."""
DIVISIONS = {"div", "reciprocal"}
NORMALIZED = {"softmax", "log_softmax", "logsumexp"}
"""Operations that take the -inf of a mask, as long as not all of a row is."""


def births(call: Call) -> list[Finding]:
    """NaN and inf that reach a result or the gradient of a leaf, in chronological order."""
    values: Origins = {}
    forward = _forward(call, values)
    kept = _kept(forward, values, [output.tensor for output in call.outputs]) if call.outputs else {*forward}
    gradients: Origins = {}
    backward = _backward(call, values, gradients)
    ends = {each for leaf in call.leaves for each in gradients.get(leaf.tensor, ())}
    forward = [each for each in forward if each in kept or each in ends]
    backward = [each for each in backward if each in ends or not call.leaves]
    return [*forward, *(each for each in backward if not _joined(each, forward))]


def _joined(finding: Finding, forward: Sequence[Finding]) -> bool:
    """Join a finding of the backward pass to that of the same operation's value, if there is one of the same element.

    What overflows on the way back did so on the way there, if it is of a line whose values do.
    """
    made = [] if finding.step is None else finding.step.outputs
    same = [each for each in forward if each.tensor in made and _meet(finding, each)]
    if not same and finding.fix in {SCALE, WIDEN}:
        same = [each for each in forward if each.place == finding.place and each.fix == finding.fix][-1:]
    for each in same:
        for step in (finding.step, *finding.path):
            _pass([each], finding.kind, step)
    return bool(same)


def _meet(gradient: Finding, value: Finding) -> bool:
    """True if a gradient's and a value's may come of one number: the same pole, or the same element, as far as that is known."""
    pole = gradient.fix == value.fix != ""
    terms = [] if gradient.step is None else [each for each in gradient.step.terms if each.to is gradient.tensor]
    other = any(local is None or local.form != "diagonal" for each in terms for local in each.jacobians)
    return pole or other or gradient.element == value.element or gradient.tensor.shape != value.tensor.shape


# 1. Forward


def _forward(call: Call, origins: Origins) -> list[Finding]:
    """NaN and inf among the values; they begin where no input has one."""
    found: list[Finding] = []
    steps = {tensor: step for step in call.forward for tensor in step.outputs}
    for tensor in call.tensors:
        bad, step = tensor.marks.bad, steps.get(tensor)
        carried = _united(origins, tensor.inputs)
        if bad is None:
            if tensor.data is None and carried:
                origins[tensor] = carried  # its value is not stored: assume that it passes the problem on
            continue
        if not _starts(tensor, bad, carried):
            _pass(carried, bad, step)
            origins[tensor] = carried
            continue
        why, fix = _born_forward(tensor, step, bad)
        finding = Finding(bad, "forward", step, tensor, tensor.marks.element, why)
        if swallowed := _swallowed(step, finding.element, origins):
            _pass(swallowed, bad, step)
            origins[tensor] = swallowed
            continue
        finding.fix = fix or _helps(finding, step)
        origins[tensor] = [finding]
        found.append(finding)
    return found


def _starts(tensor: Traced, bad: str, carried: Sequence[Finding]) -> bool:
    """True if NaN or inf begins in a value: no operand has one, or only the -inf of a mask, which it may have."""
    before = [each.marks.bad for each in tensor.inputs] + [each.kind for each in carried]
    excused = tensor.op in NORMALIZED or all(map(_masked, carried))
    return begins(bad, before) if excused else not any(before)


def _swallowed(step: Step | None, element: tuple[int, ...] | None, origins: Origins) -> list[Finding]:
    """The findings whose inf has made the 0 of which an operation has a pole: what is divided by inf is 0."""
    pole = None if step is None else pole_of(step.op or "")
    if step is None or pole is None or touched(step, element) != 0:
        return []
    made = step.outputs[0].inputs[pole.operand :][:1] or step.outputs[0].inputs[:1]
    while made and made[0].op in MOVED:
        made = made[0].inputs[:1]
    divisors = [each for each in made[0].inputs if each.marks.bad == "inf"] if made and made[0].op in DIVISIONS else []
    found = _united(origins, [each for each in divisors if _makes_zeros(each.data, made[0].data)])
    return [each for each in found if not _masked(each)]


def _makes_zeros(divisor: Kept | None, quotient: Kept | None) -> bool:
    """True if all zeros of a quotient are where the divisor is infinite, as far as the numbers are known."""
    if not isinstance(divisor, np.ndarray) or not isinstance(quotient, np.ndarray):
        return True
    try:
        infinite = np.broadcast_to(np.isinf(divisor), quotient.shape)
    except ValueError:
        return False
    return bool(infinite[quotient == 0].all())


def _kept(found: list[Finding], origins: Origins, ends: Iterable[Traced]) -> set[Finding]:
    """The findings that reach a result, and those from which they came; inf of a mask only if it is the loss."""
    arrived = ((end, each) for end in ends for each in origins.get(end, ()))
    waiting = [each for end, each in arrived if not end.shape or not _masked(each)]
    reached: set[Finding] = set()
    while waiting:
        finding = waiting.pop()
        if finding not in reached:
            reached.add(finding)
            waiting += [each for each in _united(origins, finding.tensor.inputs) if not _masked(each)]
    return reached.intersection(found)


def _masked(finding: Finding) -> bool:
    return finding.kind == "inf" and masks(finding.tensor.op or "")


def _united(origins: Origins, tensors: Iterable[Traced]) -> list[Finding]:
    return [*dict.fromkeys(each for tensor in tensors for each in origins.get(tensor, ()))]


def _pass(carried: Iterable[Finding], bad: str, step: Step | None) -> None:
    """Take findings through a step, in which inf may become NaN."""
    for each in carried:
        each.through(step)
        if bad != each.kind == "inf":
            each.began, each.kind = each.kind, bad


def _born_forward(tensor: Traced, step: Step | None, bad: str) -> tuple[str, str]:
    """What is said of a value with NaN or inf, and what helps, where it is not the operation that is to blame."""
    if step is None:
        return f"{tensor.name} has {bad}{_at(tensor.marks)} before this call computed anything", BEFORE
    finite = all(each.marks.bad is None for each in tensor.inputs)
    if finite and (found := _constant(tensor, step, bad)) is not None:
        what = f"{_written(tensor) or 'a tensor'}, which needs no gradient"
        return f"{tensor.op} was given {found.bad}{_at(found)} of {what}", EXAMPLES
    over = _overflows(tensor, step)
    much = f": more than {tensor.dtype} can hold ({short(_limit(tensor))})" if over else ""
    inputs = [_operand(each, tensor.marks, each.shape == tensor.shape) for each in tensor.inputs]
    met = f", where {', '.join(inputs)}" if inputs else ""
    advice = ADVICE.get((tensor.op or "", bad), _smaller(tensor) if over else "")
    return f"{tensor.op} gives {bad}{_at(tensor.marks)}{met}{much}", advice


def _constant(tensor: Traced, step: Step, bad: str) -> Marks | None:
    """The NaN or inf of an operand that is not differentiated: as it is saved, or where nothing else can have given it."""
    given = [each for each in tensor.saved if each.tensor is None and len(step.outputs) == 1]
    known = [marks_of(each.value) for each in given if each.value is not None]
    sums = tensor.op in {"add", "sub"} and len(tensor.inputs) == 1 and (bad == "nan" or not _near_limit(tensor))
    return next((marks for marks in known if marks.bad), tensor.marks if sums else None)


def _near_limit(tensor: Traced) -> bool:
    """True if the only operand has numbers with which a sum of two may overflow."""
    value = tensor.inputs[0].data
    stats = None if value is None else stats_of(value)
    ends = [] if stats is None else [abs(each) for each in (stats.min, stats.max) if each is not None]
    return max(ends, default=0.0) > _limit(tensor) / 4


def _limit(tensor: Traced) -> float:
    """The largest number of a tensor's dtype."""
    return float(finfo(tensor.dtype).max)


def _overflows(tensor: Traced, step: Step) -> bool:
    """True if an operation's finite operands have made a number that its dtype cannot hold."""
    finite = all(each.marks.bad is None for each in tensor.inputs)
    return tensor.marks.bad == "inf" and finite and tensor.op in LARGE and touched(step) is None


def _written(tensor: Traced) -> str | None:
    """How the program writes the only operand that is none of a tensor's inputs."""
    try:
        whole = ast.parse(tensor.expr or tensor.name.partition(" in ")[2], mode="eval").body
    except SyntaxError:
        return None
    parts: list[ast.expr] = [whole.left, whole.right] if isinstance(whole, ast.BinOp) else []
    parts = [getattr(whole.func, "value", whole.func), *whole.args] if isinstance(whole, ast.Call) else parts
    known = {each.name for each in tensor.inputs} | {each.expr for each in tensor.inputs}
    texts = [ast.unparse(each) for each in parts if not isinstance(each, ast.Constant)]
    others = [text for text in texts if text not in known]
    return others[-1] if others and len(others) < len(texts) else None


# 2. Backward


def _backward(call: Call, values: Origins, origins: Origins) -> list[Finding]:
    """NaN and inf among the gradients: from a step whose incoming gradient had none, or from v."""
    found = _given(call, origins)
    for step in call.steps:
        carried = _united(origins, step.outputs)
        if step.marks.bad is not None:
            _pass(carried, step.marks.bad, None)
        for term in step.terms:
            bad = term.marks.bad
            if bad is None:
                continue
            causes = carried or _causes(step, values)
            _pass(causes, bad, step)
            place = term.marks.element if not causes else _fresh(step, term)
            twin = next((each for each in found if each.step is step and each.element == place), None)
            if twin is not None:  # of a number that is both operands
                causes = [*causes, twin]
            elif place is not None or not causes:
                finding = Finding(bad, "backward", step, term.to, place, _born_backward(step, term, place))
                finding.fix = _helps(finding, step) or _grown(step, term, place)
                found.append(finding)
                causes = [*causes, finding]
            origins[term.to] = [*dict.fromkeys([*origins.get(term.to, ()), *causes])]
    return found


def _given(call: Call, origins: Origins) -> list[Finding]:
    """The NaN and inf that the program passed to backward itself."""
    found = []
    for output in call.outputs:
        marks = next((step.marks for step in call.steps if output.tensor in step.outputs), None)
        if marks is not None and marks.bad is not None and marks_of(output.gradient).bad is not None:
            why = f"the gradient that backward was given has {marks.bad}{_at(marks)}"
            finding = Finding(marks.bad, "backward", None, output.tensor, marks.element, why, given=call.place)
            origins[output.tensor] = [finding]
            found.append(finding)
    return found


def _causes(step: Step, values: Origins) -> list[Finding]:
    """The findings of the forward pass that a step multiplies by; where they began, it is the slope that counts."""
    tensors = [*step.outputs, *step.outputs[0].inputs]
    found = [each for each in _united(values, tensors) if not _masked(each) and each.tensor not in step.outputs]
    return found or _swallowed(step, None, values)


def _fresh(step: Step, term: Term) -> tuple[int, ...] | None:
    """The first element at which NaN or inf begins although other elements of the incoming gradient have one already."""
    local = term.jacobians[0]
    v, out = step.v, term.out
    if step.marks.bad is None or not isinstance(v, np.ndarray) or not isinstance(out, np.ndarray):
        return None
    if v.shape != out.shape or local is None or local.form != "diagonal":
        return None
    begun = np.argwhere(~np.isfinite(out) & np.isfinite(v))
    return tuple(map(int, begun[0])) if len(begun) else None


def _born_backward(step: Step, term: Term, place: tuple[int, ...] | None) -> str:
    """The operands at the first bad element: v and the local factor."""
    text = f"{step.node} sends {term.marks.bad} to {term.to.name}{_at(term.marks._replace(element=place))}"
    factor = product(step, term, place)
    return text if factor is None else f"{text}: v = {short(factor.v)} times J = {short(factor.local)}"


def _grown(step: Step, term: Term, place: tuple[int, ...] | None) -> str:
    """What helps where a product of finite numbers is more than the dtype can hold."""
    factor = product(step, term, place)
    finite = factor is not None and np.isfinite(factor.v) and np.isfinite(factor.local)
    return _smaller(term.to) if finite and term.marks.bad == "inf" else ""


class Product(NamedTuple):
    """The summand of v @ J that makes an element of it NaN or inf: which element of v it is of, and its factors."""

    output: int
    element: tuple[int, ...]
    v: float
    local: float
    part: float
    summands: int


def product(step: Step, term: Term, element: tuple[int, ...] | None) -> Product | None:
    """That summand at an element of what a step sends; None if the factors are not stored."""
    column = 0 if not element else int(np.ravel_multi_index(element, term.to.shape))
    found: Product | None = None
    for place, local in enumerate(term.jacobians):
        v = step.vs[place]
        if local is None or not isinstance(v, np.ndarray) or element is None:
            continue
        factors, flat = local.dense()[:, column], v.reshape(-1)
        with np.errstate(all="ignore"):
            parts = flat * factors
        bad = ~np.isfinite(parts)
        carried = bad & ~np.isfinite(flat)
        row = int(np.argmax(carried if carried.any() else bad if bad.any() else np.abs(factors)))
        if found is None or bad.any():
            at = tuple(map(int, np.unravel_index(row, step.outputs[place].shape)))
            found = Product(place, at, flat[row], factors[row], parts[row], int(np.count_nonzero(factors)))
    return found


# 3. Poles


def touched(step: Step, element: tuple[int, ...] | None = None) -> float | None:
    """The pole that an operation's operand is at, among its elements if it is not known at which; None if at none."""
    pole, tensor = pole_of(step.op or ""), step.outputs[0]
    if pole is None:
        return None
    names = {1: "other"}.get(pole.operand, "self")
    values = [saved.value for saved in tensor.saved if saved.name == names and saved.value is not None]
    values += [each.data for each in tensor.inputs[pole.operand :][:1] if each.data is not None]
    values += [each.data for each in tensor.inputs[-1:] if each.data is not None and pole.operand]
    return next((point for value in values for point in pole.points if _has(value, point, element)), None)


def _has(value: Kept, point: float, element: tuple[int, ...] | None) -> bool:
    """True if a value is at a point: at an element, if its place is known, or else anywhere."""
    if isinstance(value, Summary):
        stats = value.stats
        return stats is not None and (point in {stats.min, stats.max} or (not point and stats.zeros > 0))
    if element is not None and len(element) == value.ndim and all(map(int.__lt__, element, value.shape)):
        return bool(value[element] == point)
    return bool((value == point).any())


def kept_out(finding: Finding) -> Pole | None:
    """The pole that an operation is to be kept from, if that is what helps: it was met, or its operand lay beyond it."""
    step = finding.step
    pole = None if step is None else pole_of(step.op or "")
    if step is None or pole is None or not pole.keep:
        return None
    beyond = finding.phase == "forward" and finding.tensor.marks.bad == "nan" and step.op not in DIVISIONS
    return pole if beyond or touched(step, finding.element) is not None else None


def _helps(finding: Finding, step: Step | None) -> str:
    """What helps where an operation is to be kept from a pole, by the table of poles."""
    pole = kept_out(finding)
    if step is None or pole is None:
        return ""
    met = touched(step, finding.element) is not None
    return str(pole) if met else f"{step.op} has no value there: keep its {pole.subject} {pole.keep}"


def _smaller(tensor: Traced) -> str:
    """What helps where numbers overflow."""
    return WIDEN if _limit(tensor) < WIDE else SCALE


# Parts of the sentences


def _at(marks: Marks) -> str:
    return f" at [{', '.join(map(str, marks.element))}]" if marks.element else ""


def _operand(operand: Traced, marks: Marks, same: bool) -> str:
    """An operand with its element at the position of the first bad element, or with its range."""
    value = operand.data
    if 0 in operand.shape:
        return f"{operand.name} has no elements"
    if same and marks.element is not None and isinstance(value, np.ndarray):
        return f"{operand.name} = {short(value[marks.element])}"
    return f"{operand.name} = {ranged(value) or 'not kept'}"
