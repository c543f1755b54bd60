"""The quick way into a program: checks and effects of one record, written down as the source of one function.

What `Prepared` does in general, place by place, is known when a run has been recorded. The function written here does
exactly that, for plain tensors in the usual modes, or gives up and leaves the call to the general way. It costs half a
microsecond where that costs 35, and is all that stands between a call and machine code. Where there is machine code, one
built-in function of it looks at the arguments and at all else that the function reaches; only if that finds a change,
Python is asked whether it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .. import Tensor, ops
from .._core import dtypes
from .._core.modes import NO_GRAD, RECORD, innermost, mode
from .._core.sites import generated
from .._tape.memory import protect
from .._tape.node import new
from ..observe import AccumulateGrad
from ..utils.trees import LEAF, unflatten
from .holders import MISSING, Row, passed
from .layouts import order
from .numbers import FLOATS, INT, LARGEST
from .records import Argument, Fixed, Float, Gradient, Int, Place, Rate, Scalar

if TYPE_CHECKING:
    from .._core.typing import Array
    from .answers import Made
    from .prepared import Prepared

GIVEN_UP: Any = object()
MOST = 4
"""Quick ways for arguments of the same shapes."""
FEW = 3
"""Arguments from which on their identities go through a set."""
SCOPE = {
    "AccumulateGrad": AccumulateGrad, "GIVEN_UP": GIVEN_UP, "NO_GRAD": NO_GRAD, "RECORD": RECORD, "Tensor": Tensor,
    "array": np.array, "rules": dtypes.rules, "innermost": innermost, "mode": mode, "new": new, "order": order,
    "protect": protect, "unflatten": unflatten,
}  # fmt: skip


def quick(prepared: Prepared, leaves: list[Any], spent: Callable[[Array], Tensor]) -> Callable[[Any], Any] | None:
    """The function of the leaves of a call, or None where a record asks for the general way."""
    record = prepared.record
    if record.way is not None or mode.get() not in (RECORD, NO_GRAD):
        return None
    text = _FunctionText(prepared, leaves)
    try:
        text.write()
    except NotImplementedError:
        return None
    text.scope |= {"execute": prepared.execute, "spent": spent, "structure": record.structure}
    source = "\n".join(["def call(leaves):", *(f"    {line}" for line in text.lines)])
    call: Callable[[Any], Any] = generated(f"compiled call {id(record):x}", source, text.scope, "call", owner=prepared)
    return call


class _FunctionText:
    """The lines of the function, and what they name."""

    def __init__(self, prepared: Prepared, leaves: list[Any]) -> None:
        self.machinery, self.record, self.leaves = prepared.machinery, prepared.record, leaves
        alone = self.machinery.executable if prepared.execute is self.machinery.execute else None
        self.builtin = None if alone is None else alone.builtin
        self.later: list[str] = []
        self.lines: list[str] = []
        self.scope: dict[str, Any] = dict(SCOPE)
        self.names: dict[int, str] = {}
        self.nodes: dict[str, str] = {}
        self.conditions: list[str] = []
        self.given = _Looked()
        self.reached = _Looked()

    def constant(self, value: Any) -> str:
        """A name for something known now."""
        name = self.names.get(id(value))
        if name is None:
            name = self.names[id(value)] = f"c{len(self.names)}"
            self.scope[name] = value
        return name

    def write(self) -> None:
        """All lines."""
        self._around()
        self._arguments()
        self._state()
        places = self._arrays()
        self._run(places)

    def _around(self) -> None:
        """Check how the function is called."""
        count, now = len(self.leaves), mode.get()
        self.given.see(f"len(leaves) == {count}", Row("count", None, None, count))
        self.given.see(f"mode.get() is {'RECORD' if now is RECORD else 'NO_GRAD'}", Row("context", mode, None, now))
        self.given.see("innermost.get() is None", Row("context", innermost, None, None))

    def _unless(self, *conditions: str) -> None:
        self.conditions += conditions

    def _checked(self) -> None:
        """Give up unless all conditions hold that have come together."""
        if self.conditions:
            self.lines += _unless(self.conditions)
            self.conditions = []

    def _arguments(self) -> None:
        tensors = []
        for i, leaf in enumerate(self.leaves):
            if type(leaf) is Tensor:
                tensors.append(i)
                self.given.see(f"type(a{i}) is Tensor", _part(leaf, i, "__class__", Tensor))
                self._tensor(f"a{i}", leaf, i)
                reached = self.record.reached
                if id(leaf) in reached:
                    self._unless(f"a{i} is {self.constant(leaf)}")
                elif reached:
                    self.given.see(f"id(a{i}) not in {self.constant(reached)}", Row("outside", reached, i, None))
            elif isinstance(leaf, Tensor):
                raise NotImplementedError
            elif type(leaf) in FLOATS:
                self.given.see(f"type(a{i}) is {self.constant(type(leaf))}", _part(leaf, i, "__class__", type(leaf)))
                self._unless(*[f"a{i}.hex() == {hex!r}" for j, hex in self.record.numbers if i == j])
            elif i in self.record.ints:
                self._unless(f"type(a{i}) is int and {-LARGEST} <= a{i} <= {LARGEST}")
            elif isinstance(leaf, bool | int | str | bytes | None):
                one = f"type(a{i}) is {self.constant(type(leaf))} and a{i} == {self.constant(leaf)}"
                self.given.see(one, Row("argument", leaf, i, None))
            elif passed(leaf):
                self.given.see(f"a{i} is {self.constant(ref(leaf))}()", Row("argument", leaf, i, None, kept=False))
            else:
                self.given.see(f"a{i} is {self.constant(leaf)}", Row("argument", leaf, i, None))
        if len({id(self.leaves[i]) for i in tensors}) < len(tensors):
            raise NotImplementedError
        if len(tensors) > 1:
            rows = [Row("apart", None, i, tensors[:place]) for place, i in enumerate(tensors) if place]
            self.given.see(_apart([f"a{i}" for i in tensors]), *rows)

    def _tensor(self, name: str, tensor: Tensor, number: int | None = None) -> None:
        """Check what `signature` describes; its dtype and shape are checked with its array, if the program has that."""
        if not any(not isinstance(p, Scalar) and p.tensor(self.leaves) is tensor for p in self.record.places):
            shape, dtype = self.constant(tensor._array.shape), self.constant(tensor._array.dtype)
            self._unless(f"{name}._array.shape == {shape} and {name}._array.dtype is {dtype}")
        expected = next((s for place, s in self.record.signatures if place.tensor(self.leaves) is tensor), None)
        node = tensor._node
        if node is None:
            self._plain(name, tensor, number, kept=not (expected is None or expected[4]))
            return
        if type(node) is not AccumulateGrad or node.hooks is not None or node.post or expected is None:
            raise NotImplementedError
        at = self.nodes[name] = self.constant(node) if number is None else f"{name}_node"
        plain = (
            f"{at}.hooks is None and not {at}.post and {at}.grad_dtype is {self.constant(node.grad_dtype)} and "
            f"{at}.grad {'is' if expected[3] else 'is not'} None"
        )
        if number is None:  # always the same tensor, so always the same node
            self.reached.see(
                f"{name}._node is {at} and {plain}",
                Row("attribute", tensor, "_node", node),
                Row("attribute", node, "hooks", None),
                Row("attribute", node, "post", node.post),
                Row("items", node.post, None, ()),
                Row("attribute", node, "grad_dtype", node.grad_dtype),
                Row("attribute" if expected[3] else "other", node, "grad", None),
            )
            return
        self._checked()
        self.lines.append(f"{at} = {name}._node")
        self._unless(f"type({at}) is AccumulateGrad", plain)

    def _plain(self, name: str, tensor: Tensor, number: int | None, *, kept: bool) -> None:
        """Check that a tensor has no history, and a gradient if it had one that was kept."""
        plain = f"{name}._node is None and {name}._kept_grad is {'not ' if kept else ''}None"
        if number is None:
            self.reached.see(plain, Row("attribute", tensor, "_node", None), *_given(tensor, "_kept_grad"))
            return
        if kept:
            self._unless(f"{name}._kept_grad is not None")
        self.given.see(
            f"{plain} and not {name}._inference",
            _part(tensor, number, "_node", None),
            *[Row("asked", tensor, (number, "_kept_grad"), None, kept=False) for _ in range(not kept)],
            Row("asked", tensor, (number, "_inference"), False, kept=False),
        )

    def _state(self) -> None:
        for fixed, _ in self.record.fixed:
            name = self.constant(fixed.found)
            if not isinstance(fixed.found, Tensor):
                raise NotImplementedError
            self._tensor(name, fixed.found)
        rules = dtypes.rules()
        self.reached.see(f"rules() is {self.constant(rules)}", Row("entry", dtypes.rules.__globals__, "_rules", rules))
        for place in self.record.places:
            if isinstance(place, Fixed):  # its memory is written, but seldom exchanged
                name, array = self.constant(place.found), place.array(())
                self.reached.see(
                    f"{name}._array is {self.constant(array)}", Row("attribute", place.found, "_array", array)
                )
        self._seen()
        for place, strides in self.record.layouts:  # after the tensors, which tell where their gradients are, if any
            if isinstance(place, Fixed) and place in self.record.places:
                continue  # of one array, as is checked with it
            self._checked()
            self._unless(f"{self._name(place)}._array.strides == {self.constant(strides)}")
        for one, other in self.record.aliases:
            self._checked()
            self._unless(f"{self._name(one)}._array is {self._name(other)}._array")

    def _seen(self) -> None:
        """Give up unless all that is reached is what it was, and the arguments are of their kinds: in one call where machine code looks."""
        state, name = self.record.state, self.constant
        watch, left = self.machinery.watch(state)
        given, reached = self.machinery.look(self.given.rows, self.leaves), self.machinery.look(self.reached.rows)
        names = [f"a{i}" for i in range(len(self.leaves))]
        unpacked = [f"{', '.join(names)}, = leaves"] if names else []
        around, seen = self.given.conditions[:3], self.given.conditions[3:]
        if watch is not None:
            seen.append(f"{name(watch)}.unchanged() or {name(watch)}.renewed()")
        if reached is not None:
            seen.append(f"{name(reached)}.unchanged()")
        self._unless(*[f"{name(holder.same)}()" for holder in ([state] if watch is None else left)])
        self._unless(*([] if reached else self.reached.conditions))
        lines = [*_unless(around), *unpacked, *_unless(seen)]
        if given is not None:
            tables = [table for table in (given, reached, watch) if table is not None]
            self.scope["tables"] = tables  # they keep alive what is looked at
            lines = [f"if not {name(self.machinery.together(tables))}(*leaves):", *_indented(lines), *unpacked]
        self.lines[:0] = lines

    def _name(self, place: Place) -> str:
        """The expression for the tensor at a place."""
        if isinstance(place, Argument):
            return f"a{place.number}"
        if isinstance(place, Fixed):
            return self.constant(place.found)
        if isinstance(place, Gradient):
            of = self._name(place.of)
            return f"{self.nodes[of]}.grad" if of in self.nodes else f"{of}._kept_grad"
        return f"{self.constant(place)}.tensor(leaves)"

    def _arrays(self) -> list[str]:
        found = []
        writes = bool(self.record.program.writes)
        fixed = [place.found._array for place in self.record.places if isinstance(place, Fixed)]
        fixed += [array.base for array in fixed if array.base is not None]
        ids, others = self.constant(frozenset(map(id, fixed))), []
        for i, (place, value) in enumerate(zip(self.record.places, self.record.program.inputs, strict=True)):
            found.append(f"x{i}")
            if isinstance(place, Rate):
                self.lines.append(f"x{i} = {self.constant(place.holder.held)}['lr']")
                continue
            if isinstance(place, Float):
                self.lines.append(f"x{i} = a{place.number}")
                continue
            if isinstance(place, Int):
                self._checked()
                self.lines.append(f"x{i} = array(a{place.number}, {self.constant(INT)})")
                continue
            if isinstance(place, Fixed):
                found[-1] = self.constant(place.array(()))
                continue
            self._checked()
            self.lines.append(f"x{i} = {self._name(place)}._array")
            others.append(f"x{i}")
            if self.machinery.executable is None:  # which looks itself
                self._unless(
                    f"x{i}.shape == {self.constant(value.shape)} and x{i}.dtype is {self.constant(value.dtype)}"
                )
            if writes:
                self._unless(f"x{i}.base is None and id(x{i}) not in {ids}")
        if writes:
            self._unless(*([_apart(others)] if len(others) > 1 else ()))
        self._orders()
        return found

    def _orders(self) -> None:
        """Check in which order of axes the elements of inputs lie; the built-in function takes none that is not their own."""
        self._checked()
        for place, axes in self.record.orders:
            if isinstance(place, Fixed) and place in self.record.places:
                continue  # always the same array
            name = f"{self._name(place)}._array"
            condition = f"({name}.flags.c_contiguous or order({name}) is None)"
            if axes is not None:
                condition = f"order({name}) == {axes}"
            if axes is None and self.builtin is not None and place in self.record.places:
                self.later.append(condition)
            else:
                self._unless(condition)

    def _run(self, arrays: list[str]) -> None:
        record = self.record
        self._checked()
        names = [
            self._name(place) if isinstance(place, Fixed) else f"w{i}" for i, (place, _) in enumerate(record.written)
        ]
        pairs = zip(names, record.written, strict=True)
        self.lines += [f"{name} = {self._name(place)}" for name, (place, _) in pairs if name.startswith("w")]
        bare = self._protected(names)
        scalars = {f"x{i}" for i, place in enumerate(record.places) if isinstance(place, Rate | Float)}
        slow = f"execute({', '.join(f'array({name})' if name in scalars else name for name in arrays)})"
        indent = "" if self.builtin is None else "    "
        if self.builtin is not None:
            self.lines += [f"r = {self.constant(self.builtin)}({', '.join(arrays)})", "if type(r) is not list:"]
        if self.later:
            self.lines += [f"    if not ({' and '.join(self.later)}):", "        return GIVEN_UP"]
        lines = ["try:", f"    r = {slow}", "except Exception:", "    return GIVEN_UP"]
        self.lines += [indent + line for line in lines]
        self._counted(names, bare=bare)
        for i, made in enumerate(record.made):
            self._make(f"t{i}", made)
        answers: list[str] = []
        for kind, what in record.outputs:
            answers.append(self._answer(kind, what, answers))
            if kind == "place" and record.effects:  # what is there now
                self.lines.append(f"p{len(answers)} = {answers[-1]}")
                answers[-1] = f"p{len(answers)}"
        for place, number in record.effects:
            self._effect(place, "None" if number is None else answers[number])
        del answers[record.leaves :]
        structure = record.structure
        if structure == LEAF:
            self.lines.append(f"return {answers[0]}")
        elif structure.kind is tuple and all(child == LEAF for child in structure.children):
            self.lines.append(f"return ({''.join(f'{answer}, ' for answer in answers)})")
        else:
            self.lines.append(f"return unflatten(structure, [{', '.join(answers)}])")

    def _protected(self, names: list[str]) -> bool:
        """Have writes leave what is saved of tensors; whether machine code looks if anything is, and says so in `bare`."""
        fixed = [place.found for place, _ in self.record.written if isinstance(place, Fixed)]
        rows = [row for each in fixed for row in (Row("attribute", each, "_cell", None), *_given(each, "_storage"))]
        table = self.machinery.look(rows) if len(fixed) == len(names) else None
        lines = []
        for name in names:
            lines += [f"if {name}._cell is not None or ({name}._storage is not None and {name}._storage.cells):"]
            lines += [f"    protect({name})"]
        if table is not None:
            lines = [f"bare = {self.constant(table)}.unchanged()", "if not bare:", *_indented(lines)]
        self.lines += lines
        return table is not None

    def _counted(self, names: list[str], *, bare: bool) -> None:
        """Count the writes, in the dictionaries of tensors that have no storage yet."""
        quick, lines = list[str](), list[str]()
        for name, (place, writes) in zip(names, self.record.written, strict=True):
            if isinstance(place, Fixed):
                attributes = place.found.__dict__
                attributes.setdefault("_writes", 0)
                quick.append(f"{self.constant(attributes)}['_writes'] += {writes}")
            lines += [f"if {name}._storage is None:", f"    {name}._writes += {writes}"]
            lines += ["else:", f"    {name}._storage.version += {writes}"]
        self.lines += ["if bare:", *_indented(quick), "else:", *_indented(lines)] if bare else lines

    def _make(self, name: str, made: Made) -> None:
        """Make a tensor around a result; those that share memory, or are views, are left to the general way."""
        result = f"r[{made.number}]"
        if made.steps:
            primitive, params = made.steps[0]
            if len(made.steps) > 1 or primitive is not ops.permute_dims:
                raise NotImplementedError
            result = f"{result}.transpose({self.constant(params['axes'])})"
        if made.beside is not None or made.kind not in ("value", "spent"):
            raise NotImplementedError
        if made.kind == "spent":
            self.lines.append(f"{name} = spent({result})")
        else:
            self.lines += [f"{name} = new(Tensor)", f"{name}._array = {result}", f"{name}._node = {name}._cell = None"]
        if made.version:
            self.lines.append(f"{name}._writes = {made.version}")
        if made.mark is not None:
            self.lines.append(f"{name}._made_untracked = {self.constant(made.mark)}")

    def _answer(self, kind: str, what: Any, answers: list[str]) -> str:
        if kind == "plain":
            return self.constant(what)
        if kind == "number":
            return f"r[{what}].item()"
        if kind == "place":
            return self._name(what)
        if kind not in ("made", "again"):
            raise NotImplementedError
        return f"t{what}" if kind == "made" else answers[what]

    def _effect(self, place: Place, value: str) -> None:
        if isinstance(place, Gradient):
            self.lines.append(f"{self._name(place)} = {value}")
        else:
            self.lines.append(f"{self.constant(place)}.put(leaves, {value})")


class _Looked:
    """Conditions, and the rows of a table by which machine code sees whether they hold."""

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.rows: list[Row] = []

    def see(self, condition: str, *rows: Row) -> None:
        """Add a condition."""
        self.conditions.append(condition)
        self.rows += rows


def _unless(conditions: Sequence[str]) -> list[str]:
    """Lines that give up unless all conditions hold."""
    together = " and ".join(f"({condition})" for condition in conditions)
    return [f"if not ({together}):", "    return GIVEN_UP"] if conditions else []


def _apart(names: Sequence[str]) -> str:
    """The condition that no two are one object."""
    if len(names) < FEW:
        return f"{names[0]} is not {names[1]}"
    return f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}"


def _part(value: object, number: int, name: str, expected: object) -> Row:
    """What to look at to know what an argument of a class has in a slot."""
    return Row("part", value, (number, name), expected, kept=False)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _given(tensor: Tensor, name: str) -> list[Row]:
    """What to look at to know that a tensor has not got an attribute, or has that which it has."""
    attributes = tensor.__dict__
    return [
        Row("attribute", tensor, "__dict__", attributes),
        Row("entry", attributes, name, attributes.get(name, MISSING)),
    ]


class QuickCalls:
    """The quick ways into the records of a function.

    Those of a function that is called with one tuple of shapes are tried in turn (`alone`); if there are `several`, those
    for the shapes of the call are.
    """

    def __init__(self) -> None:
        self.alone: list[Callable[[Any], Any]] = []
        self.several = False
        self._found: dict[Hashable, list[tuple[Callable[[Any], Any], Prepared]]] = {}

    def __call__(self, args: Sequence[object]) -> Any:
        """What the function gives for arguments, if one of them knows it, else GIVEN_UP."""
        for call, prepared in self._found.get(_shapes(args), ()):
            answer = call(args)
            if answer is not GIVEN_UP:
                prepared.used = True
                return answer
        return GIVEN_UP

    def add(self, args: Sequence[object], call: Callable[[Any], Any], prepared: Prepared) -> None:
        """Add one for a call with such arguments; the oldest of too many for the same shapes goes."""
        shapes = _shapes(args)
        self._found[shapes] = [(call, prepared), *self._found.get(shapes, ())][:MOST]
        self._settle()

    def drop(self, prepared: Prepared) -> None:
        """Forget those of a record."""
        for shapes, calls in [*self._found.items()]:
            if left := [each for each in calls if each[1] is not prepared]:
                self._found[shapes] = left
            else:
                del self._found[shapes]
        self._settle()

    def used(self, prepared: Prepared) -> bool:
        """Whether a record has been used since it was last asked; always, if its quick ways are tried at each call."""
        used, prepared.used = prepared.used, False
        return used or (
            bool(self.alone) and any(each is prepared for calls in self._found.values() for _, each in calls)
        )

    def _settle(self) -> None:
        self.several = len(self._found) > 1
        self.alone[:] = [] if self.several else [call for calls in self._found.values() for call, _ in calls]


def _shapes(args: Sequence[object]) -> Hashable:
    """What tells calls of different sizes apart."""
    return tuple([arg._array.shape if type(arg) is Tensor else None for arg in args])
