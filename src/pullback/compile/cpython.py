"""What compiling needs of CPython beyond what Python's reference promises: a new version of Python is looked at here.

Everything was written for CPython 3.11 and later. Facts about memory are not believed but found, on objects that are
known: where one is not found, functions here give None, and Python looks in place of machine code.
"""

from __future__ import annotations

import copyreg
import ctypes
import dis
import functools
import gc
import inspect
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .machine.native import Code

# Objects that are alive


def references(thing: object) -> int:
    """How many hold an object, some always the same ones: only a difference of two answers means anything.

    Relies upon reference counts, where each reference of Python's code counts as one. Since 3.14 a local variable that
    is loaded may be borrowed, which does not count: so both answers are to be asked for in one way.
    """
    return sys.getrefcount(thing)


def referring(*things: object) -> list[Any]:
    """The objects that hold one of some; this asks every object there is.

    Relies upon the collector of garbage, which knows all containers, and upon what these let it visit.
    """
    return gc.get_referrers(*things)


def owners(thing: object) -> list[Any]:
    """The objects that hold one, in an attribute perhaps.

    Since 3.13 an object may let the collector visit the dictionary of its attributes, and not what is in there.
    """
    found = referring(thing)
    attributes = [each for each in found if type(each) is dict]
    return found + referring(*attributes) if attributes else found


def within(view: Any) -> list[Any]:
    """What an object that shows another one, such as `vars(cls)` or `d.keys()`, lets the collector of garbage visit.

    Relies upon a read-only mapping, or the view of a dictionary, holding that dictionary and nothing else.
    """
    return gc.get_referents(view)


FINDERS = (sys._getframe, gc.get_objects, gc.get_referrers)
"""Functions by which any object can be found; none is promised to exist, and all do in CPython."""

# Caches of functions

Cache: type = functools._lru_cache_wrapper
"""The class of functions with a cache: it is written in C and has a private name, as long as `functools` has it."""


def cached(function: object) -> Any:
    """What the cache of a function holds; it is no attribute, but can be asked for as what is referred to.

    Relies upon the cache being the one dictionary, besides that of attributes, that such a function holds.
    """
    own = vars(function)
    return tuple(
        _linked(value)
        for held in gc.get_referents(function)
        if type(held) is dict and held is not own
        for value in held.values()
    )


def _linked(value: Any) -> Any:
    """The result that a link of a cache with a limit holds.

    Relies upon a link being the words of any object, two neighbors, a hash, the arguments and the result, as
    `lru_list_elem` in `_functoolsmodule.c` is; this is believed, not tried out.
    """
    if type(value).__name__ != "_lru_list_elem" or sys.implementation.name != "cpython":
        return value
    return ctypes.py_object.from_address(id(value) + HEAD + 4 * WORD).value


# Profile functions

profile_function = sys.getprofile
"""The profile function of this thread, which need not exist outside CPython; None if there is none."""
set_profile_function = sys.setprofile
"""Have a profile function in this thread, or None.

What is relied upon: it is called as `function(frame, "c_call", called)` before a function written in C is called, which
is not called if it raises; and as `function(frame, "call", None)` at the start of one written in Python. Both are names
of Python's own functions, since a function around them would be seen itself.
"""

ASKING_MODULES = {
    "time", "posix", "nt", "_posixsubprocess", "_winapi", "_socket", "_ssl", "select", "resource", "pwd", "grp", "gc",
    "_uuid", "_locale", "msvcrt", "termios", "fcntl",
}  # fmt: skip
"""Modules written in C whose functions ask the system, but for those that only compute; private ones may change."""
COMPUTING = {"collect", "fspath", "_path_normpath", "_path_splitroot", "_path_splitroot_ex", "struct_time"}
"""Functions of these modules that only compute, or whose effect a program does not see; those of `os.path` change."""
ASKING_FUNCTIONS = {
    ("io", "open"), ("_io", "open"), ("_io", "open_code"), ("builtins", "input"), ("builtins", "breakpoint"),
    ("_thread", "start_new_thread"), ("_thread", "start_joinable_thread"),
}  # fmt: skip
"""Functions of other modules that read what is outside, or begin it; threads are started by the last one since 3.13."""
SETTINGS = {
    "getrecursionlimit",
    "getswitchinterval",
    "get_int_max_str_digits",
    "getrefcount",
    "gettrace",
    "getallocatedblocks",
}
"""Functions of `sys` that read a setting of the process."""


C_DATA = (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)
"""The classes of what has the memory of a value of C; the last one is documented as not public."""

# Code


def names_in(code: types.CodeType) -> set[str]:
    """All names in a function and those inside it, those of attributes among them.

    Relies upon `co_names`, which holds what instructions name, and upon the code of functions inside it, which is among
    its constants.
    """
    return {*code.co_names, *[name for inner in _inner(code) for name in names_in(inner)]}


def globals_in(code: types.CodeType) -> tuple[str, ...]:
    """The globals that a function looks up or sets.

    Relies upon the names of instructions, which any version may change. Builtins are looked up by the same.
    """
    return _operands(code, "LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")


def imports_in(code: types.CodeType) -> tuple[str, ...]:
    """The modules that a function imports, by the name of the instruction."""
    return _operands(code, "IMPORT_NAME")


@functools.lru_cache(maxsize=2048)
def _operands(code: types.CodeType, *kinds: str) -> tuple[str, ...]:
    """What instructions of some kinds name in a function, and in those inside it."""
    found = [i.argval for i in dis.get_instructions(code) if i.opname in kinds]
    return tuple(dict.fromkeys([*found, *[name for inner in _inner(code) for name in _operands(inner, *kinds)]]))


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


# Classes

UNNOTICED = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__abstractmethods__", "__slotnames__", "__dataclass_fields__", "__dataclass_params__"),
}
"""Entries of a class that Python makes, some when they are first asked for; annotations have other ones since 3.14."""
slots_of: Callable[[type], list[str]] = copyreg._slotnames  # type: ignore[attr-defined]
"""The names of the slots of a class and its bases: what copies are made by, a private name."""


def hides(kind: type) -> bool:
    """Whether objects of a class have more inside than attributes: the test by which Python refuses to copy them.

    Relies upon the sizes that a class tells of its objects, as `object.__reduce_ex__` does. A dictionary (since 3.11)
    or a list of weak references (since 3.12) whose place is negative lies before the object, and takes no room in it.
    """
    shown = HEAD + WORD * (len(slots_of(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0))
    return bool(kind.__itemsize__) or kind.__basicsize__ > shown


def can_be_gone(thing: object) -> bool:
    """Whether there can be weak references to an object: its class tells where it has them."""
    return type(thing).__weakrefoffset__ != 0


def version(cls: type) -> int | None:
    """The word in which Python keeps the number of a class's attributes; None if there is none now."""
    place = version_place()
    word = 0 if place is None else ctypes.c_uint64.from_address(id(cls) + place).value
    return word if word & 0xFFFFFFFF else None


@functools.cache
def version_place() -> int | None:
    """Where a class has the number of its attributes, in bytes from its address; None where that is not found.

    Relies upon `tp_version_tag`: 32 bits that are 0 after an attribute has been exchanged, and another number after the
    next look-up. The words of a class are searched for one that does so.
    """
    if sys.implementation.name != "cpython" or sys.byteorder != "little" or WORD != 8:
        return None

    class Probe:
        mark = 0

    size: Any = type.__basicsize__
    words = (ctypes.c_uint64 * (size // 8)).from_address(id(Probe))

    def looked_up() -> list[int]:
        getattr(Probe, "mark", None)
        return [word & 0xFFFFFFFF for word in words]

    first = looked_up()
    Probe.mark = 1
    between = [word & 0xFFFFFFFF for word in words]
    second = looked_up()
    places = [i for i, word in enumerate(first) if between[i] == 0 < word < second[i] and second == looked_up()]
    return 8 * places[0] if len(places) == 1 else None


# Objects in memory: an object's `id` is its address; its first words are what all objects have, the last one its type

WORD = ctypes.sizeof(ctypes.c_void_p)
HEAD = object.__basicsize__
"""The bytes of what all objects have: two words, and more in builds for free threads or with traces."""
LOCKED = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether one thread at a time changes objects; not so in builds for free threads, since 3.13."""
word_at = ctypes.c_size_t.from_address
"""The word at an address, as an object whose `value` it is."""
int_at = ctypes.c_int.from_address
"""The `int` of C at an address, likewise."""


def words_at(address: int, count: int) -> ctypes.Array[ctypes.c_void_p]:
    """An array of the words at an address."""
    return (ctypes.c_void_p * count).from_address(address)


def words_of(thing: object) -> ctypes.Array[ctypes.c_void_p] | None:
    """An array of the words of which an object is made, as its class says; None outside CPython."""
    kind: Any = type(thing)
    return words_at(id(thing), -(-kind.__basicsize__ // WORD)) if sys.implementation.name == "cpython" else None


@functools.cache
def list_places() -> dict[str, int] | None:
    """Where a list has its length and the address of its items; None where they are not found.

    Relies upon `PyListObject`: after what all objects have, the length, then that address. It is compared with a list.
    """
    probe = [object(), object(), object()]
    words: Any = words_of(probe)
    first = HEAD // WORD
    if words is None or len(words) < first + 2 or words[first] != 3 or not words[first + 1]:
        return None
    right = list(words_at(words[first + 1], 3)) == [id(item) for item in probe]
    return {"list_size": HEAD, "list_items": HEAD + WORD} if right else None


@functools.cache
def size_place(kind: type) -> int | None:
    """Where a set, or a dictionary, has its length; None where it is not found.

    Relies upon `PySetObject` and `PyDictObject`: the first or second word after what all objects have. It is compared with
    three of them.
    """
    place, make = (HEAD + WORD, set[int]) if kind is set else (HEAD, dict.fromkeys)
    probes = [make(range(count)) for count in (0, 1, 100)]
    lengths = [word_at(id(probe) + place).value for probe in probes]
    return place if lengths == [0, 1, 100] else None


@functools.cache
def float_place() -> int | None:
    """Where a float has its number; None where it is not found.

    Relies upon `PyFloatObject`: it comes after what all objects have. It is compared with a float.
    """
    probe = float.fromhex("0x1.23456789abcdep+3")
    if sys.implementation.name != "cpython" or float.__basicsize__ < HEAD + 8:
        return None
    return HEAD if ctypes.c_double.from_address(id(probe) + HEAD).value == probe else None


MANAGED = 4
"""Words before an object in which Python may keep its dictionary."""


def attribute_place(held: object, attribute: str) -> int | None:
    """Where an object has the address of an attribute, in bytes from its own; None where that is not known.

    Relies upon the type being the last word of what all objects have; upon `__dictoffset__`, where it is positive; and
    otherwise, since 3.11, upon a dictionary that lies before the object where the flag Py_TPFLAGS_MANAGED_DICT is set.
    """
    kind: Any = type(held)
    if attribute in slots_of(kind) and not hides(kind):
        return _slot(kind, attribute)
    if attribute == "__class__":
        return None if any("__class__" in vars(cls) for cls in kind.__mro__[:-1]) else HEAD - WORD
    if attribute == "__bases__":
        return _probed(type, attribute)
    if kind in (types.FunctionType, types.CellType):
        return _probed(kind, attribute)
    if attribute == "__dict__" and kind.__dictoffset__ > 0:
        return int(kind.__dictoffset__)
    if attribute == "__dict__" and kind.__flags__ & (1 << 4):  # Py_TPFLAGS_MANAGED_DICT
        return _only(words_at(id(held) - MANAGED * WORD, MANAGED), id(held.__dict__), -MANAGED)
    return None


@functools.cache
def _slot(kind: type, name: str) -> int | None:
    """Where objects of a class have what a slot holds, from a new one that has something of its own there."""
    slot = inspect.getattr_static(kind, name)
    if not isinstance(slot, types.MemberDescriptorType):
        return None
    probe: object = object.__new__(kind)
    slot.__set__(probe, mark := object())
    return _only(words_of(probe) or (), id(mark), 0)


@functools.cache
def _probed(kind: type, attribute: str) -> int | None:
    """Where functions, closures or classes have an attribute, from one that has something of its own there."""
    if kind is type:
        probe: Any = type("Probe", (), {})
        return _only(words_of(probe) or (), id(getattr(probe, attribute)), 0)
    marks = {"__code__": compile("0", "probe", "eval"), "__defaults__": (object(),), "__kwdefaults__": {"k": 0}}
    marks |= {"__name__": f"{kind} {attribute}", "__qualname__": f"{kind} {attribute}"}  # new objects
    mark: Any = marks.get(attribute, {"mark": 0})
    probe = types.CellType() if kind is types.CellType else types.FunctionType((lambda: None).__code__, {})
    setattr(probe, attribute, mark)
    return _only(words_of(probe) or (), id(mark), 0)


def _only(words: Iterable[int | None], word: int, first: int) -> int | None:
    """The place in bytes of the one word that is this one."""
    found = list(words)
    return None if found.count(word) != 1 else (found.index(word) + first) * WORD


# Functions written in C


def function_address(name: str) -> int:
    """The address of a function of Python's C API; AttributeError where this Python has none of that name."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def clock() -> tuple[int, bool]:
    """The address of Python's clock in nanoseconds; whether it returns the time, as before 3.13, or writes it where it is told to."""
    raw = "PyTime_PerfCounterRaw"
    return (
        (function_address(raw), False)
        if hasattr(ctypes.pythonapi, raw)
        else (function_address("_PyTime_GetPerfCounter"), True)
    )


def contents(capsule: object) -> int:
    """The address that a capsule without a name holds, by the stable part of the C API."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: int = get(capsule, None)
    return found


def free(address: int) -> None:
    """Give back memory that `PyMem_RawMalloc` has given, in the stable part of the C API since 3.13."""
    function = ctypes.pythonapi.PyMem_RawFree
    function.argtypes, function.restype = [ctypes.c_void_p], None
    function(address)


class _Method(ctypes.Structure):
    code: Code
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80


def method(code: Code, name: str, doc: str) -> Any:
    """The PyMethodDef of a function of some code that takes an array of arguments; it must outlive its functions.

    Relies upon METH_FASTCALL, which the stable part of the C API has since 3.10.
    """
    made = _Method(name.encode(), code.address(name), FASTCALL, doc.encode())
    made.code = code
    return made


def builtin(method: Any, words: Any) -> Callable[..., Any]:
    """A built-in function whose `self` is an array of words."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    function: Callable[..., Any] = make(ctypes.addressof(method), words, None)
    return function
