"""What SECURITY.md promises of files, each sentence: hostile ones are refused, in little time and memory, and do nothing.

Most are loaded in a process with limits, as the generator of files has it: it says "refused" where a FileError was raised.
"""

import io
import json
import os
import pickle
import struct
import sys
import zipfile

import numpy as np
import pytest
from tests.generators.files import HEADER, outcome

import pullback
from pullback import nn
from pullback.compat.torch import storing
from pullback.files import FileError, UnsafeFileError
from pullback.files.arrays import made

from .test_files import Call, archive, name, number, rebuilt, safetensors, storage, text

ALIKE = 2**61 - 1  # its multiples have one hash
EXPANDED = rebuilt(0, (2**31 - 1,), (0,))


def large(value):
    return b"\x8a\x10" + value.to_bytes(16, "little")


class Made(Call):
    """What a pickle makes by a call, and then gives a state."""

    def __init__(self, function, arguments, state):
        super().__init__(function, *arguments)
        self.given = state

    def __reduce__(self):
        return self.function, self.arguments, self.given


def dtype(code, order="|", part=None, names=None, fields=None, size=-1, alignment=-1, flags=0):
    return Made(np.dtype, (code, False, True), (3, order, part, names, fields, size, alignment, flags))


def array(kind, shape, content, turned=False):
    core = np._core.multiarray
    return Made(core._reconstruct, (np.ndarray, (0,), b"b"), (1, shape, kind, turned, content))


def ours(value, protocol=4):
    """A file of pullback's own pickles."""
    return HEADER + pickle.dumps(value, protocol)


# "They run nothing that a file names"


@pytest.mark.parametrize("function", [os.system, eval, exec, getattr, np.load, nn.Linear, pickle.loads])
@pytest.mark.parametrize("options", [{}, {"weights_only": None}, {"weights_only": True}], ids=str)
def test_own_pickles_name_nothing_but_data(function, options):
    with pytest.raises(UnsafeFileError, match="Weights only load failed"):
        storing.load(io.BytesIO(ours(Call(function, "exit 3"))), **options)


def test_what_is_trusted_is_called_and_nothing_else():
    content = ours(Call(os.path.join, "a", "b"))
    with storing.safe_globals([os.path.join]):
        assert storing.load(io.BytesIO(content)) == "a/b"
        with pytest.raises(UnsafeFileError, match=r"(posix|nt)\.system"):
            storing.load(io.BytesIO(ours(Call(os.system, "exit 3"))))
    with pytest.raises(UnsafeFileError, match=r"posixpath\.join"):
        storing.load(io.BytesIO(content))
    assert storing.load(io.BytesIO(content), weights_only=False) == "a/b"


class Names(list):
    """A list of a program's own, which a pickle fills by APPENDS."""

    def append(self, value):
        super().append(value.upper())

    extend = None


def test_a_trusted_list_is_filled_by_its_own_method():
    content = HEADER + pickle.dumps(Names(["a", "b"]), protocol=2)
    with storing.safe_globals([Names]):
        found = storing.load(io.BytesIO(content))
    assert type(found) is Names
    assert found == ["A", "B"]
    with pytest.raises(UnsafeFileError, match="Names"):
        storing.load(io.BytesIO(content))


@pytest.mark.parametrize(
    ("written", "right"), [("'a'", "a"), ('"bc"', "bc"), ("''", ""), ("'", None), ("a'", None), ("'a\"", None)]
)
def test_texts_of_the_oldest_protocol(written, right):
    content = HEADER + b"S" + written.encode() + b"\n."
    if right is not None:
        assert storing.load(io.BytesIO(content)) == right
        return
    with pytest.raises(FileError, match="no quotes"):
        storing.load(io.BytesIO(content))


def test_files_of_torch_run_nothing_whatever_the_arguments():
    content = archive(name("os", "system") + b"(" + text("exit 3") + b"tR")
    for options in ({}, {"weights_only": True}, {"weights_only": False}):
        for load in (pullback.load, storing.load):
            with pytest.raises(UnsafeFileError, match=r"os\.system"):
                load(io.BytesIO(content), **options)


def test_an_exception_of_a_trusted_class_is_seen_as_it_is():
    with pytest.raises(ZeroDivisionError), storing.safe_globals([divmod]):
        storing.load(io.BytesIO(ours(Call(divmod, 1, 0))))
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        storing.load(io.BytesIO(HEADER + b"\x80\x04" + name("nowhere", "x") + b"."), weights_only=False)


# "... and change nothing in the process"


@pytest.mark.parametrize(
    "program",
    [
        name("pullback.nn.parameter", "Parameter") + b"N}" + text("__new__") + name("builtins", "set") + b"s\x86b",
        name("pullback.nn.parameter", "Parameter") + b"}" + text("__new__") + name("builtins", "set") + b"sb",
        name("pullback", "float32") + b"}" + text("numpy") + b"Nsb",
        name("numpy", "ndarray") + b"}" + text("shape") + b"Nsb",
        name("pullback.nn.parameter", "Parameter") + b"N\x85R",
        name("pullback.nn.parameter", "Parameter") + b")\x81",
        name("numpy", "ndarray") + b"K\x01\x85R",
    ],
)
def test_classes_and_functions_are_neither_written_to_nor_called(program):
    before = nn.Parameter.__new__
    with pytest.raises(FileError):
        storing.load(io.BytesIO(HEADER + b"\x80\x02" + program + b"."))
    assert nn.Parameter.__new__ is before


@pytest.mark.parametrize(
    "attribute", ["_array", "requires_grad", "backward", "__class__", "data", "shape", "not a name"]
)
def test_a_tensor_gets_no_attributes_but_new_ones(attribute):
    program = b"}" + text(attribute) + b"Ns"
    tensor = pickle.dumps(pullback.ones(2), 4).removesuffix(b".")
    with pytest.raises(FileError, match="attribute"):
        storing.load(io.BytesIO(HEADER + tensor + program + b"b."))
    given = storing.load(io.BytesIO(HEADER + tensor + b"}" + text("tag") + b"K\x03sb."))
    assert given.tag == 3 and given.tolist() == [1, 1]


def test_what_a_tensor_gets_is_looked_at():
    tensor = pickle.dumps(pullback.ones(2), 4).removesuffix(b".")
    for given in (
        b")" + b"\x85" * 2000,
        name("builtins", "set"),
        b"(" + name("numpy", "dtype") + text("f8") + b"\x85Rt",
    ):
        assert outcome(HEADER + tensor + b"}" + text("tag") + given + b"sb.") == "refused"


# "Arrays and tensors have the memory that was read for them, and no other"


@pytest.mark.parametrize(
    "value",
    [
        array(dtype("V8", names=("a",), fields={"a": (np.dtype("i8"), 10**6)}, size=8), (1,), bytes(8)),
        array(dtype("V8", names=("a",), fields={"a": (np.dtype("i8"), -64)}, size=8), (1,), bytes(8)),
        array(dtype("V8", names=("a",), fields={"a": (np.dtype("O"), 0)}, size=8), (1,), bytes(8)),
        array(dtype("V8", names=("a",), fields={"a": (dtype("O8"), 0)}, size=8, flags=0), (1,), bytes(8)),
        array(dtype("O8"), (1,), bytes(8)),
        array(dtype("O8", flags=0), (1,), b"\x01" * 8),
        array(dtype("O8"), (2,), [1]),
        array(dtype("f8", "<"), (1000,), bytes(8)),
        array(dtype("f8", "<"), (-1,), bytes(8)),
        array(dtype("f8", "<"), (2**32, 2**32), b""),
        array(dtype("f8", "<"), (1,), [1.0]),
        array(dtype("U999999999", "<"), (1,), bytes(4)),
        array(dtype("V0"), (10**12,), b""),
        array(dtype("V8", part=(np.dtype("f8"), (2**31, 2**31)), size=8), (1,), bytes(8)),
        array(dtype("b1"), (1,), b"\x07"),
        array(dtype("U1", "<"), (1,), b"\xff" * 4),
        Made(np._core.multiarray.scalar, (dtype("O8"), bytes(8)), None),
        Call(np._core.numeric._frombuffer, bytes(8), dtype("O8"), (1,), "C"),
        Call(np._core.numeric._frombuffer, bytes(8), np.dtype("f8"), (2,), "C"),
    ],
    ids=range(19),
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_that_lie(value, protocol):
    assert outcome(ours([value], protocol)) == "refused"


def test_a_tensor_is_no_storage():
    """Otherwise one of a million elements that are one number would be read from a million places."""
    assert outcome(archive(rebuilt(0, (10**6,), (1,), of=EXPANDED))) == "refused"
    assert outcome(archive(rebuilt(0, (4,), (1,), of=rebuilt()))) == "refused"


# "Loading takes time and memory in proportion to the file"


def lists_of(items):
    return b"](" + items + b"e"


@pytest.mark.parametrize(
    "program",
    {
        "a deep key": b"}" + b")" + b"\x85" * 100_000 + b"Ns",
        "a deep element": b"\x8f(" + b")" + b"\x85" * 100_000 + b"\x90",
        "a deep value": b")" + b"\x85" * 50_000,
        "a key of 2**60 parts": b"}" + b")" + b"2\x86" * 60 + b"Ns",
        "2**60 parts in a list of keys": name("builtins", "set") + lists_of(b")" + b"2\x86" * 60) + b"\x85R",
        "a huge key": b"}" + b"\x8b" + struct.pack("<i", 10**5) + b"\x7f" * 10**5 + b"Ns",
        **{
            f"{kind} of an expanded tensor": name(module, kind) + EXPANDED + b"\x85R"
            for module, kind in [("builtins", each) for each in ("set", "frozenset", "bytearray", "complex")]
            + [("collections", "Counter"), ("collections", "OrderedDict"), ("torch", "Size"), ("torch", "device")]
        },
        "a bytearray of its length": name("builtins", "bytearray") + number(10**9) + b"\x85R",
        "many axes": rebuilt(0, (2**31 - 1,) * 50_000, (0,) * 50_000),
        "a table of one hash": b"}(" + b"".join(large(k * ALIKE) + b"N" for k in range(10_000)) + b"u",
        "a set of one hash": b"\x8f(" + b"".join(large(k * ALIKE) for k in range(10_000)) + b"\x90",
        "one hash, item by item": b"}" + b"".join(large(k * ALIKE) + b"Ns" for k in range(10_000)),
        "copies of a list": lists_of(b"N" * 10**5) + b"q\1(" + (name("builtins", "set") + b"h\1\x85R") * 1000 + b"l",
        "copies of a text": text("a" * 10**5) + b"q\1(" + (name("builtins", "bytearray") + b"h\1h\0\x86R") * 1000 + b"l",
        "a text for ever": b"(" + b")" + b"2\x86" * 40 + text("x") + b"\x93l",
        "a name of parts": b")" + b"2\x86" * 40 + b"q\1" + rebuilt() + b"h\1\x93",
        "sizes of parts": name("torch._utils", "_rebuild_tensor_v2") + b"(" + storage() + b"K\0" + b")" + b"2\x86" * 40 + b")\x89NtR",
        "a number of many digits": b"L" + b"9" * 10**6 + b"L\n",
    }.items(),
    ids=lambda item: item[0],
)  # fmt: skip
def test_small_files_stay_small(program):
    assert outcome(archive(program[1])) == "refused"


def test_conjugates_are_those_of_the_storage():
    conjugate = EXPANDED.replace(b")RtR", b")R}" + text("conj") + b"\x88stR")
    assert outcome(archive(b"(" + conjugate * 5 + b"l")) == "value"


def test_older_files_refer_to_storages_by_texts():
    start = b"".join(pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    keys = b"\x80\x02" + lists_of(b")" + b"2\x86" * 40) + b"."
    assert outcome(start + b"\x80\x02N." + keys) == "refused"


@pytest.mark.parametrize(
    "header",
    {
        "many axes": {"x": {"dtype": "F32", "shape": [2**62] * 50_000, "data_offsets": [0, 0]}},
        "a name twice": ("{" + ", ".join(f'"{k}": 1' for k in [*range(20_000), 19_999]) + "}").encode(),
        "one hash": {"__metadata__": {"pullback": json.dumps({"dict": [[k * ALIKE, None] for k in range(10_000)]})}},
        "deep": b'{"x": ' + b"[" * 10**6 + b"]" * 10**6 + b"}",
        "many digits": b'{"x": ' + b"9" * 10**6 + b"}",
    }.items(),
    ids=lambda item: item[0],
)
def test_small_headers_stay_small(header):
    assert outcome(safetensors(header[1])) == "refused"


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a": ' * 100_000], ids=["lists", "objects"])
def test_deep_headers_are_refused_whatever_the_recursion_limit(text):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)  # as programs do; the reader of Python's json would go on until the stack ends
    try:
        with pytest.raises(FileError, match="1000 levels"):
            pullback.load(io.BytesIO(safetensors(b'{"x": ' + text)))
    finally:
        sys.setrecursionlimit(before)


def test_an_archive_that_inflates():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zip:
        zip.writestr("archive/data.pkl", b"\x80\x02N.")
        zip.writestr("archive/data/0", bytes(10**7))
    assert outcome(file.getvalue()) == "refused"


def test_many_keys_of_any_honest_kind_are_no_trouble():
    value = {
        "by number": {k: str(k) for k in range(10_000)},
        "backwards": {-k: None for k in range(10_000)},
        "floats": {k / 7 for k in range(10_000)},
        "tuples": {(k, str(k)) for k in range(10_000)},
    }
    file = io.BytesIO()
    for save, load in ((pullback.save, pullback.load), (storing.save, storing.load)):
        file = io.BytesIO()
        save(value, file)
        file.seek(0)
        assert load(file) == value


# "What a file says reaches the terminal without its control characters"


@pytest.mark.parametrize(
    "content",
    [
        archive(name("\x1b]0;title\x07", "x\u202e")),
        archive(name("torch", "device") + text("\x1b[2J") + b"\x85R"),
        archive(rebuilt(of=storage(key="\x1b[2J"))),
        safetensors({"\x1b[2J": 1}),
        safetensors({"x": {"dtype": "\x1b[2J", "shape": [], "data_offsets": [0, 0]}}),
        safetensors({"__metadata__": {"pullback": '{"\\u001b[2J": 1}'}}),
        safetensors({"__metadata__": {"pullback": '{"device": "\\u001b[2J"}'}}),
        ours(Call(os.system, "x")).replace(b"posix", b"\x1b[2Jx"),
    ],
)
def test_messages_are_printable(content):
    with pytest.raises(FileError) as caught:
        storing.load(io.BytesIO(content))
    message = str(caught.value)
    assert message.isprintable() and len(message) < 1100
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None  # no traceback shows another


def test_keys_that_do_not_fit_a_module_are_printable():
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(1, 1).load_state_dict({"\x1b[2J": pullback.ones(1)})
    assert "\x1b" not in str(caught.value)


# Genuine pickles of ours


class Everything:
    def __init__(self):
        self.arrays = [np.ones((2, 3)).T, np.array(["a", "bc"]), np.array([1, "a", [2]], object), np.array(3.0)]
        self.arrays += [
            np.array([3], "m8[25ns]"),
            np.array(["2020-01-01"], "M8[D]"),
            np.ones(2, ">f4"),
            np.array([b"ab"]),
        ]
        self.arrays += [np.zeros(2, [("a", "f4"), ("b", "i2", (3,))]), np.ma.masked_array([1, 2], [0, 1])]
        self.numbers = [np.float32(0.5), np.complex64(1j), np.bool_(True), np.datetime64("2020"), np.longdouble(1)]
        self.tensors = [pullback.ones(2, requires_grad=True), nn.Parameter(pullback.zeros(1)), pullback.Size([1, 2])]
        self.tensors += [pullback.float16, pullback.device("cpu"), pullback.ones(2).to(pullback.bfloat16)]
        self.itself = [self]


@pytest.mark.parametrize("protocol", [4, 5])
def test_objects_come_back_as_they_were(protocol):
    given = Everything()
    found = storing.load(io.BytesIO(ours(given, protocol)), weights_only=False)
    assert type(found) is Everything and found.itself[0] is found
    for a, b in zip(given.arrays, found.arrays, strict=True):
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and repr(a) == repr(b)
    assert repr(found.numbers) == repr(given.numbers) and repr(found.tensors) == repr(given.tensors)
    data = [given.arrays[:-1], given.numbers, given.tensors]
    found = storing.load(io.BytesIO(ours(data, protocol)))
    assert repr(found) == repr(data)
    found[0][0][:] = 7  # memory of its own


# "All of it is written"


class Short(io.RawIOBase):
    """A file without a buffer that takes a few bytes at a time."""

    def __init__(self, most, times=10**9):
        self.content, self.most, self.times = bytearray(), most, times

    def writable(self):
        return True

    def write(self, data):
        self.times -= 1
        if self.times < 0:
            return None  # as files do that would have to wait
        self.content += bytes(data[: self.most])
        return min(self.most, len(data))


VALUES = {"a": pullback.arange(1000.0), "b": [1, "x"]}


@pytest.mark.parametrize("save", [pullback.save, storing.save])
@pytest.mark.parametrize("value", [VALUES, {"b": np.arange(3)}], ids=["data", "arrays"])
def test_a_file_that_takes_few_bytes_gets_all(save, value, recwarn):
    file, whole = Short(7), io.BytesIO()
    save(value, file)
    save(value, whole)
    assert file.content == whole.getvalue() or repr(storing.load(io.BytesIO(file.content))) == repr(value)


@pytest.mark.parametrize("save", [pullback.save, storing.save])
@pytest.mark.parametrize("times", [0, 3, 20])
def test_a_file_that_takes_no_more_is_an_error(save, times):
    with pytest.raises(OSError, match="takes no more bytes"):
        save(VALUES, Short(7, times))


def test_a_file_that_gives_few_bytes_is_read_to_its_end(tmp_path):
    class Slow(io.FileIO):
        def read(self, count=-1):
            return super().read(min(count, 3) if count >= 0 else count)

        def readinto(self, memory):
            return super().readinto(memory[:5])

    pullback.save(VALUES, tmp_path / "x")
    with Slow(tmp_path / "x") as file:
        assert pullback.load(file)["a"].tolist() == VALUES["a"].tolist()


@pytest.mark.parametrize("count", [0, 7, 23, 25, 48])
def test_arrays_have_as_many_bytes_as_their_shape_needs(count):
    with pytest.raises(FileError, match=f"{count} bytes are not 6 elements of 4"):
        made(bytes(count), np.dtype(np.float32), (2, 3))
    assert made(bytes(24), np.dtype(np.float32), (2, 3)).tolist() == np.zeros((2, 3)).tolist()
