"""Holders of a state: machine code that watches them, and Python that asks them, both find every change and nothing else."""

import types
from collections import OrderedDict, defaultdict

import pytest

from pullback.compile.holders import Attributes, Closure, Mapping, Members, Named, Sequence
from pullback.compile.state import State

watching = pytest.importorskip("pullback.compile.machine.watching", reason="llvmlite is not installed")


class Plain:
    """An object with a dictionary."""

    def __init__(self, **given):
        self.__dict__.update(given)


class Slotted:
    __slots__ = ("first", "__dict__")


class Other(Slotted):
    __slots__ = ()


class Derived(Plain):
    pass


class Meta(type):
    pass


class DerivedMeta(Meta):
    pass


def function(a, b=2, *, c=3):
    return a, b, c


def another(a):
    return a


def assigning(name, value):
    return lambda held: setattr(held, name, value)


def setting(key, value):
    return lambda held: held.__setitem__(key, value)


def moved(held):
    held["a"] = held.pop("a")


def hidden(cls):
    """Have a member more and a mark less, so that there are as many."""
    del cls.__mark__
    cls.a = 1


def cases():
    """Makers of a holder, and changes of what it holds."""
    code, method = function.__code__, Plain.__init__

    def of_function():
        made = types.FunctionType(code, globals(), "made", (2,))
        made.__kwdefaults__ = {"c": 3}
        return Attributes(made, "__code__", "__defaults__", "__kwdefaults__", "__dict__")

    yield of_function, assigning("__code__", another.__code__)
    yield of_function, assigning("__defaults__", (3,))
    yield of_function, assigning("__kwdefaults__", None)
    yield of_function, assigning("__dict__", {})
    yield lambda: Closure(types.CellType(1), "x"), assigning("cell_contents", 2)
    yield lambda: Closure(types.CellType(1), "x"), lambda cell: cell.__delattr__("cell_contents")
    yield lambda: Closure(types.CellType(), "x"), assigning("cell_contents", 2)
    yield lambda: Attributes(Plain(), "__class__", "__dict__"), assigning("__class__", Derived)
    yield lambda: Attributes(Plain(a=1), "__class__", "__dict__"), assigning("__dict__", {"a": 1})
    yield lambda: Attributes(Slotted(), "__class__", "__dict__"), assigning("__class__", Other)
    yield lambda: Attributes(Slotted(), "__class__", "__dict__"), assigning("__dict__", {})
    for made in (dict, OrderedDict, lambda **given: defaultdict(list, **given)):
        yield lambda made=made: Mapping(made(a=1, b=object())), setting("b", object())
        yield lambda made=made: Mapping(made(a=float, b=2)), setting("a", 1.0)
        yield lambda made=made: Mapping(made(a=1, b=2)), setting("c", 3)
        yield lambda made=made: Mapping(made(a=1, b=2)), lambda held: held.pop("b")
        yield lambda made=made: Mapping(made(a=1, b=2)), moved
        yield lambda made=made: Mapping(made()), setting("c", 3)
    yield lambda: Mapping({1: "one", (2,): "two"}), setting((2,), "three")
    yield lambda: Sequence([1, object()]), setting(1, object())
    yield lambda: Sequence([1, object()]), lambda held: held.append(1)
    yield lambda: Sequence([1, object()]), lambda held: held.reverse()
    yield lambda: Sequence([]), lambda held: held.append(1)
    yield lambda: Sequence({"a"}), lambda held: held.add("b")
    yield lambda: Named({"a": 1, "z": 0}, ["a", "b"]), setting("a", 2)
    yield lambda: Named({"a": None, "z": 0}, ["a", "b"]), lambda held: held.pop("a")
    yield lambda: Named({"a": 1, "z": 0}, ["a", "b"]), setting("b", None)
    yield lambda: Members(type("Made", (), {"a": 1, "f": method})), assigning("f", function)
    yield lambda: Members(type("Made", (), {"a": 1, "f": method})), assigning("g", method)
    yield lambda: Members(type("Made", (), {"a": 1, "f": method})), lambda cls: delattr(cls, "a")
    yield lambda: Members(type("Made", (), {"__mark__": 1})), hidden
    yield lambda: Attributes(type("Made", (Plain,), {}), "__class__", "__bases__"), assigning("__bases__", (Derived,))
    yield lambda: Attributes(Meta("Made", (), {}), "__class__", "__bases__"), assigning("__class__", DerivedMeta)


CASES = list(cases())


def watched(*holders):
    """What watches some holders, if anything can, and those that are left for Python."""
    state = State([])
    state.holders.extend(holders)
    return watching.watch(state.holders, state.renew)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_change_is_found_by_both(number):
    make, change = CASES[number]
    holder = make()
    watch, left = watched(holder)
    assert holder.same()
    assert watch is None or watch.unchanged()
    try:
        change(holder.held)
    except TypeError:
        pytest.skip("this Python does not allow the change")
    assert not holder.same()
    assert left or not watch.unchanged()


def test_most_holders_are_watched():
    holders = [make() for make, _ in CASES]
    _, left = watched(*holders)
    assert len(left) < len(holders) / 3
    assert not any(type(holder) is Attributes for holder in left)


def test_a_learning_rate_may_be_any_float_and_nothing_else():
    group = {"params": [], "lr": 0.1}
    holder = Mapping(group)
    holder.moving.add("lr")
    watch, left = watched(holder)
    assert not left
    for value, expected in (
        (0.2, True),
        (float("nan"), True),
        (1, False),
        (float, False),
        (None, False),
        ("0.1", False),
    ):
        group["lr"] = value
        assert holder.same() == watch.unchanged() == expected


def test_what_means_the_same_is_watched_from_then_on():
    held = {"a": (1, 2), "b": [1]}
    holder = Mapping(held)
    watch, _ = watched(holder)
    held["a"] = (*[1, 2],)
    assert holder.same()
    assert not watch.unchanged()
    assert watch.renewed()
    assert watch.unchanged()
    held["a"] = (1, 3)
    assert not watch.unchanged()
    assert not watch.renewed()


@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 1.0), (1, True), (0.0, -0.0), (range(0, 3, 2), range(0, 4, 2)), ((1,), (1.0,)), (b"a", "a"), (1.0, 1 + 0j)],
)
def test_values_and_keys_that_are_equal_but_differ(old, new):
    as_value, as_key, in_set = {"k": old}, {old: 1}, {old}
    holders = Mapping(as_value), Mapping(as_key), Sequence(in_set)
    as_value["k"] = new
    for held, put in ((as_key, lambda: as_key.setdefault(new, 1)), (in_set, lambda: in_set.add(new))):
        held.clear()
        put()
    assert not any(holder.same() for holder in holders)


def test_objects_of_changed_holders_are_kept_alive():
    """No new object takes the address of one that is watched."""
    held = {"a": object()}
    watch, _ = watched(Mapping(held))
    for _ in range(100):
        held["a"] = object()
        assert not watch.unchanged()
        assert not watch.renewed()


def test_what_changes_while_it_is_asked_about_is_not_watched():
    """As when another thread changes it."""
    held = {"a": (1, 2)}
    holder = Mapping(held)
    state = State([])
    state.holders.append(holder)

    def renew():
        found = state.renew()
        held["a"] = (1, 3)
        return found

    watch, _ = watching.watch(state.holders, renew)
    held["a"] = (*[1, 2],)
    assert watch.renewed()
    assert not watch.unchanged()


def test_what_is_gone_is_no_error():
    cell = types.CellType(1)
    watch, _ = watched(Closure(cell, "x"))
    del cell.cell_contents
    assert not watch.unchanged()
    assert not watch.renewed()
