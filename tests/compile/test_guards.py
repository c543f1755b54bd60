"""Facts: machine code that watches them, and Python's expression of them, both find every change and nothing else."""

import types
from collections import OrderedDict, defaultdict

import pytest

from pullback.compile.facts import Attribute, facts
from pullback.compile.state import Closure, Facets, Mapping, Members, Named, Sequence

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
        return Facets(made, "__code__", "__defaults__", "__kwdefaults__", "__dict__")

    yield of_function, assigning("__code__", another.__code__)
    yield of_function, assigning("__defaults__", (*[2],))
    yield of_function, assigning("__kwdefaults__", None)
    yield of_function, assigning("__dict__", {})
    yield lambda: Closure(types.CellType(1), "x"), assigning("cell_contents", 2)
    yield lambda: Closure(types.CellType(1), "x"), lambda cell: cell.__delattr__("cell_contents")
    yield lambda: Closure(types.CellType(), "x"), assigning("cell_contents", 2)
    yield lambda: Facets(Plain(), "__class__", "__dict__"), assigning("__class__", Derived)
    yield lambda: Facets(Plain(a=1), "__class__", "__dict__"), assigning("__dict__", {"a": 1})
    yield lambda: Facets(Slotted(), "__class__", "__dict__"), assigning("__class__", Other)
    yield lambda: Facets(Slotted(), "__class__", "__dict__"), assigning("__dict__", {})
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
    yield lambda: Facets(type("Made", (Plain,), {}), "__class__", "__bases__"), assigning("__bases__", (Derived,))
    yield lambda: Facets(Meta("Made", (), {}), "__class__", "__bases__"), assigning("__class__", DerivedMeta)


CASES = list(cases())


def asked(stated):
    """What Python says of facts: a function without arguments."""
    names = {}

    def name(value):
        key = f"c{id(value)}"
        names[key] = value
        return key

    text = " and ".join(fact.expression(name) for fact in stated)

    def ask():
        try:
            return bool(eval(text, names))  # the expression under test
        except (AttributeError, ValueError, KeyError):
            return False

    return ask


@pytest.mark.parametrize("number", range(len(CASES)))
def test_every_change_is_found_by_both(number):
    make, change = CASES[number]
    holder = make()
    stated = facts(holder)
    ask = asked(stated)
    watch, left = watching.watch(stated)
    assert ask()
    assert watch is None or watch.unchanged()
    try:
        change(holder.held)
    except TypeError:
        pytest.skip("this Python does not allow the change")
    assert not ask()
    assert left or not watch.unchanged()


def test_most_facts_are_watched():
    stated = [fact for make, _ in CASES for fact in facts(make())]
    _, left = watching.watch(stated)
    assert len(left) < len(stated) / 3
    assert not any(isinstance(fact, Attribute) for fact in left)


def test_a_learning_rate_may_be_any_float_and_nothing_else():
    group = {"params": [], "lr": 0.1}
    holder = Mapping(group)
    holder.moving.add("lr")
    stated = facts(holder)
    ask, (watch, left) = asked(stated), watching.watch(stated)
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
        assert ask() == watch.unchanged() == expected


def test_what_means_the_same_is_watched_from_then_on():
    held = {"a": (1, 2), "b": [1]}
    holder = Mapping(held)
    watch, _ = watching.watch(facts(holder))
    held["a"] = (*[1, 2],)
    assert holder.same()
    assert not watch.unchanged()
    assert watch.renewed(holder.same)
    assert watch.unchanged()
    held["a"] = (1, 3)
    assert not watch.unchanged()


def test_objects_of_changed_facts_are_kept_alive():
    """No new object takes the address of one that is watched."""
    held = {"a": object()}
    watch, _ = watching.watch(facts(Mapping(held)))
    for _ in range(100):
        held["a"] = object()
        assert not watch.unchanged()
    assert watch.renewed(lambda: True)
    for _ in range(100):
        held["a"] = object()
        assert not watch.unchanged()


def test_what_changes_while_it_is_asked_about_is_not_watched():
    """As when another thread changes it."""
    held = {"a": (1, 2)}
    watch, _ = watching.watch(facts(Mapping(held)))
    held["a"] = (*[1, 2],)

    def again():
        held["a"] = (1, 3)
        return True

    assert watch.renewed(again)
    assert not watch.unchanged()


def test_what_is_gone_is_no_error():
    cell = types.CellType(1)
    watch, _ = watching.watch(facts(Closure(cell, "x")))
    del cell.cell_contents
    assert not watch.unchanged()
    assert not watch.renewed(lambda: True)
