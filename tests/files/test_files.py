"""save and load: what comes back, what is refused, and that damaged and hostile files are only ever refused."""

import contextlib
import io
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import pullback
from pullback import nn
from pullback.files import FileError, UnsafeFileError, read_metadata

from ..stress.failing import InterruptionError, Signals


def written(value, **options):
    file = io.BytesIO()
    pullback.save(value, file, **options)
    return file.getvalue()


def again(value):
    return pullback.load(io.BytesIO(written(value)))


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for pair in zip(a, b, strict=True):
            same(*pair)
    elif isinstance(a, pullback.Tensor):
        assert (a.dtype, a.shape, a.requires_grad) == (b.dtype, b.shape, b.requires_grad)
        np.testing.assert_array_equal(a.numpy(force=True), b.numpy(force=True))
    elif isinstance(a, (np.ndarray, np.generic)):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b or (a != a and b != b)


def refused(content, *words, kind=FileError):
    """An error of the one family, which names the file."""
    with pytest.raises(kind) as caught:
        pullback.load(io.BytesIO(content))
    text = str(caught.value)
    assert text.startswith("<BytesIO>: ")
    for word in words:
        assert word in text


def safetensors(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


# What comes back


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_a_tensor(dtype, shape):
    size = int(np.prod(shape))
    value = pullback.from_numpy((np.arange(size) % 2).astype(dtype).reshape(shape))
    same(again(value), value)


def test_views_are_saved_as_they_look():
    x = pullback.arange(12.0).reshape(3, 4)
    for view in (x.T, x[::2, 1:], x.flip(0), x[:, 0], pullback.ones(1).expand(3)):
        same(again(view), view.contiguous())


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.complex_numbers()
)
KEYS = st.text(st.characters(exclude_categories=["Cs"])) | st.integers() | st.tuples(st.integers(), st.text("ab."))
TENSORS = st.builds(
    lambda shape, dtype: pullback.from_numpy(np.arange(np.prod(shape)).astype(dtype).reshape(shape)),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
    st.sampled_from(DTYPES[1:]),
)
NESTED = st.recursive(
    SCALARS | TENSORS | TENSORS.map(lambda t: t.numpy()),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@settings(max_examples=60)
@given(NESTED)
def test_nested_values(value):
    same(again(value), value)


def test_other_values():
    value = {
        "sizes": pullback.Size([1, 2]),
        "dtype": pullback.float16,
        "device": pullback.device("cpu"),
        "set": {1, 2},
        "frozen": frozenset("ab"),
        "ordered": OrderedDict(b=1, a=2),
        "counter": Counter("aab"),
        "number": np.float32(0.1),
        "leaf": pullback.ones(2, requires_grad=True),
        "__metadata__": pullback.ones(1),
        "a.b": pullback.zeros(1),
        "a": {"b": pullback.ones(1)},
    }
    same(again(value), value)


def test_the_states_of_a_module():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    state = again(net.state_dict())
    assert not any(value.requires_grad or isinstance(value, nn.Parameter) for value in state.values())
    other.load_state_dict(state)
    same(dict(other.state_dict()), dict(net.state_dict()))
    parameter = again(net[0].weight)
    assert type(parameter) is pullback.Tensor and parameter.requires_grad and not isinstance(parameter, nn.Parameter)


def test_one_memory_is_written_once_and_shared_again():
    x = pullback.ones(1000)
    content = written({"a": x, "b": x, "c": x.detach()})
    assert len(content) < 5000
    found = pullback.load(io.BytesIO(content))
    assert found["a"] is found["b"] and found["a"] is found["c"]
    found["a"][0] = 7
    assert found["b"][0] == 7


def test_other_programs_see_names_and_texts():
    content = written({"net": {"0.weight": pullback.ones(2, 3)}, "steps": [pullback.arange(2)]}, metadata={"by": "me"})
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    assert length % 8 == 0
    assert header.pop("__metadata__").keys() == {"by", "pullback"}
    assert {name: (entry["dtype"], entry["shape"]) for name, entry in header.items()} == {
        "net.0.weight": ("F32", [2, 3]),
        "steps.0": ("I64", [2]),
    }
    assert read_metadata(io.BytesIO(content)) == {"by": "me"}


def test_files_of_other_programs():
    header = {
        "__metadata__": {"format": "np"},
        "b": {"dtype": "U8", "shape": [3], "data_offsets": [8, 11]},
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "c": {"dtype": "I16", "shape": [1], "data_offsets": [11, 13]},
        "z": {"dtype": "C64", "shape": [1], "data_offsets": [13, 21]},
    }
    body = struct.pack("<2f3Bh2f", 1.5, -2.0, 1, 2, 3, -7, 1.0, 2.0)
    found = pullback.load(io.BytesIO(safetensors(header, body)))
    assert {name: value.tolist() for name, value in found.items()} == {
        "a": [1.5, -2.0],
        "b": [1, 2, 3],
        "c": [-7],
        "z": [1 + 2j],
    }
    assert read_metadata(io.BytesIO(safetensors(header, body))) == {"format": "np"}
    found["a"].mul_(2)  # memory of its own, which may be written


def test_metadata_of_another_kind_of_file():
    with pytest.raises(FileError, match="is not a safetensors file"):
        read_metadata(io.BytesIO(b"a text"))


def test_bfloat_is_read_as_it_is():
    header = {"x": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
    content = safetensors(header, np.array([0x3F80, 0xC000, 0x7F80], "<u2").tobytes())
    x = pullback.load(io.BytesIO(content))["x"]
    assert x.dtype == pullback.bfloat16 and x.tolist() == [1.0, -2.0, float("inf")]
    assert written({"x": x}).endswith(content[-6:])


# Where it is written to and read from


def test_paths_and_streams(tmp_path):
    x = pullback.arange(3)
    for place in (tmp_path / "a.st", str(tmp_path / "b.st"), os.fsencode(tmp_path / "c.st")):
        if not isinstance(place, bytes):
            pullback.save(x, place)
            same(pullback.load(place), x)
    with (tmp_path / "d.st").open("w+b") as file:
        file.write(b"before")
        pullback.save(x, file)
        file.seek(6)
        same(pullback.load(file), x)
        with pytest.raises(FileError, match=r"d\.st.*seek\(0\)"):
            pullback.load(file)


def test_a_stream_that_cannot_go_back():
    class Pipe(io.RawIOBase):
        def __init__(self, content):
            self.content = io.BytesIO(content)

        def readable(self):
            return True

        def readinto(self, memory):
            return self.content.readinto(memory)

    same(pullback.load(Pipe(written(pullback.ones(2)))), pullback.ones(2))


def test_no_stream(tmp_path):
    with pytest.raises(FileNotFoundError):
        pullback.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        pullback.save(pullback.ones(1), tmp_path / "none" / "x")
    with pytest.raises(TypeError, match="read"):
        pullback.load(3)
    with pytest.raises(TypeError, match="write"):
        pullback.save(pullback.ones(1), 3)
    with pytest.raises(TypeError, match="binary"):
        pullback.load(io.StringIO("abc"))
    with pytest.raises(TypeError, match="binary"):
        pullback.save(pullback.ones(1), io.StringIO())


CRASH = """
import os, sys
import pullback
real = os.fsync
def crash(descriptor):
    os._exit(7)
os.fsync = crash
pullback.save(pullback.zeros(10_000), sys.argv[1])
"""


def test_a_crash_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.st"
    pullback.save(pullback.ones(2), path)
    assert subprocess.run([sys.executable, "-c", CRASH, path], check=False).returncode == 7
    same(pullback.load(path), pullback.ones(2))


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.st"
    pullback.save(pullback.ones(2), path)

    def full(descriptor):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", full)
        pullback.save(pullback.zeros(10_000), path)
    with pytest.raises(TypeError):
        pullback.save({"x": pullback.zeros(2), "y": object()}, path)
    same(pullback.load(path), pullback.ones(2))
    assert [each.name for each in tmp_path.iterdir()] == ["x.st"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="what is open is known from Linux alone")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_interruption_anywhere_leaves_no_file_open(tmp_path):
    def interrupted(n):
        way = Signals(n)
        with contextlib.suppress(InterruptionError), way:
            pullback.save(pullback.ones(2), tmp_path / "x.st")
        return way.came

    interrupted(sys.maxsize)
    before = sorted(os.listdir("/proc/self/fd"))
    places = 1
    while interrupted(places):
        assert sorted(os.listdir("/proc/self/fd")) == before, places
        places += 1
    assert places > 50
    assert [each.name for each in tmp_path.iterdir()] == ["x.st"]


@pytest.mark.skipif(
    os.name != "posix" or sys.platform in {"emscripten", "wasi"}, reason="permissions and links as POSIX has them"
)
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "x.st", tmp_path / "link.st"
    pullback.save(pullback.ones(2), path)
    (tmp_path / "plain").write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    path.chmod(0o640)
    link.symlink_to(path)
    pullback.save(pullback.zeros(2), link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    same(pullback.load(path), pullback.zeros(2))
    pullback.save(pullback.zeros(2), os.devnull)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


# What is not saved


def test_what_cannot_be_saved():
    with pytest.raises(TypeError, match=r"\['net'\]\[0\] is a Linear.*state_dict"):
        pullback.save({"net": [nn.Linear(1, 1)]}, io.BytesIO())
    with pytest.raises(TypeError, match="function"):
        pullback.save(lambda: 0, io.BytesIO())
    with pytest.raises(TypeError, match=r"dtype [<>]U1"):
        pullback.save([np.array(["a"])], io.BytesIO())
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        pullback.save(endless, io.BytesIO())
    with pytest.raises(TypeError, match="metadata"):
        pullback.save(1, io.BytesIO(), metadata={"step": 3})
    with pytest.raises(ValueError, match="taken"):
        pullback.save(1, io.BytesIO(), metadata={"pullback": "x"})
    with pytest.raises(TypeError, match="unexpected"):
        pullback.save(1, io.BytesIO(), compress=True)
    with pytest.raises(RuntimeError, match="transform"):
        pullback.func.grad(lambda x: pullback.save(x, io.BytesIO()) or x)(pullback.tensor(1.0))


def test_arguments_of_torch():
    content = written(pullback.ones(2), pickle_protocol=4, _use_new_zipfile_serialization=False)
    for place in (None, "cpu", pullback.device("cpu"), {"cuda:0": "cpu"}, lambda storage, place: storage):
        for only in (None, True, False):
            same(pullback.load(io.BytesIO(content), map_location=place, weights_only=only), pullback.ones(2))
    for place in ("cuda", {"cpu": "cuda:1"}):
        with pytest.raises(RuntimeError, match="CPU"):
            pullback.load(io.BytesIO(content), place)
    with pytest.raises(ValueError, match="pickle"):
        pullback.load(io.BytesIO(content), pickle_module=pickle)
    with pytest.raises(TypeError, match="unexpected"):
        pullback.load(io.BytesIO(content), lazily=True)


# Damaged and hostile safetensors files

GOOD = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("header", "body", "word"),
    [
        ({"x": GOOD}, b"1234567", "truncated"),
        ({"x": GOOD}, b"123456789", "do not belong to a tensor"),
        ({"x": GOOD | {"shape": [3]}}, bytes(8), "has 8 bytes, not 12"),
        ({"x": GOOD | {"shape": [-2]}}, bytes(8), "not a list of sizes"),
        ({"x": GOOD | {"shape": [2.0]}}, bytes(8), "not a list of sizes"),
        ({"x": GOOD | {"shape": [True, 2]}}, bytes(8), "not a list of sizes"),
        ({"x": GOOD | {"shape": 2}}, bytes(8), "not a list of sizes"),
        ({"x": GOOD | {"shape": [2**62, 0], "data_offsets": [0, 0]}}, b"", "cannot have"),
        ({"x": GOOD | {"shape": [2**80, 0], "data_offsets": [0, 0]}}, b"", "not a list of sizes"),
        ({"x": GOOD | {"shape": [1] * 70 + [2]}}, bytes(8), "cannot have"),
        ({"x": GOOD | {"dtype": "F99"}}, bytes(8), "F99"),
        ({"x": GOOD | {"dtype": ["F32"]}}, bytes(8), "dtype"),
        ({"x": GOOD | {"dtype": "F64"}}, bytes(8), "not 16"),
        ({"x": GOOD | {"dtype": "BOOL", "shape": [8]}}, b"\2" * 8, "neither 0 nor 1"),
        ({"x": GOOD | {"data_offsets": [8, 0]}}, bytes(8), "not a range"),
        ({"x": GOOD | {"data_offsets": [-8, 0]}}, bytes(8), "not a range"),
        ({"x": GOOD | {"data_offsets": [0, 8, 8]}}, bytes(8), "not a range"),
        ({"x": GOOD | {"data_offsets": [4, 12]}}, bytes(12), "gap"),
        ({"x": GOOD, "y": GOOD}, bytes(8), "overlaps"),
        ({"x": GOOD, "y": GOOD | {"data_offsets": [4, 12]}}, bytes(12), "overlaps"),
        ({"x": GOOD | {"data_offsets": [2**60, 2**60 + 8]}}, bytes(8), "gap"),
        ({"x": GOOD | {"more": 1}}, bytes(8), "needs dtype"),
        ({"x": 3}, b"", "needs dtype"),
        ({"__metadata__": {"a": 1}}, b"", "not an object of strings"),
        ({"__metadata__": []}, b"", "not an object of strings"),
        (b'{"x": 1, "x": 2}', b"", "'x' is there twice"),
        (b'{"x": NaN}', b"", "NaN is no JSON number"),
        (b'{"x": 1e999999}', b"", "needs dtype"),
        (b'{"x": ' + b"9" * 5000 + b"}", b"", "not JSON"),
        (b'{"x": ' + b"[" * 100_000 + b"}", b"", "not JSON"),
        (b'{"\xff": 1}', b"", "not JSON"),
        (b"{", b"", "not JSON"),
    ],
)
def test_a_bad_header(header, body, word):
    refused(safetensors(header, body), word)


@pytest.mark.parametrize(
    ("structure", "word"),
    [
        ("[1]", "neither plain"),
        ("{}", "neither plain"),
        ('{"os.system": "x"}', "unknown kind"),
        ('{"tensor": ["z"]}', "missing tensor"),
        ('{"tensor": [["x"]]}', "invalid tensor"),
        ('{"tensor": ["y", "complex"]}', "pairs"),
        ('{"tensor": ["pairs", "complex"]}', "pairs"),
        ('{"tensor": ["x", "sparse"]}', "unknown kind of tensor"),
        ('{"tensor": 3}', "invalid tensor"),
        ('{"dict": [[1]]}', "invalid dict"),
        ('{"dict": [[{"list": []}, 1]]}', "list as a key"),
        ('{"Size": ["a"]}', "invalid Size"),
        ('{"dtype": "object"}', "invalid dtype"),
        ('{"device": "nowhere"}', "invalid device"),
        ('{"float": "1"}', "invalid float"),
        ('{"bytes": "zz"}', "invalid bytes"),
        ("NaN", "no JSON"),
        ("{", "not JSON"),
        ('{"list": [' * 50_000 + "]}" * 50_000, ""),
    ],
)
def test_a_bad_structure(structure, word):
    y = {"dtype": "F32", "shape": [3], "data_offsets": [8, 20]}
    pairs = {"dtype": "I32", "shape": [1, 2], "data_offsets": [20, 28]}
    header = {"__metadata__": {"pullback": structure}, "x": GOOD, "y": y, "pairs": pairs}
    refused(safetensors(header, bytes(28)), word)


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 8, b"{}", b"\xff" * 20, (2**40).to_bytes(8, "little") + b"{}"])
def test_no_file_of_ours(content):
    refused(content)


def test_a_huge_header():
    refused((99_000_000).to_bytes(8, "little") + b"{}", "99000000", "declares a header")


# torch's files, made here by hand: an archive of a pickle and of storages


class Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value)


def storage(kind="Float", key="0", count=4):
    return b"(" + text("storage") + name("torch", f"{kind}Storage") + text(key) + text("cpu") + number(count) + b"tQ"


def rebuilt(offset=0, size=(4,), stride=(1,), of=None):
    parts = b"".join(b"(" + b"".join(map(number, each)) + b"t" for each in (size, stride))
    return (
        name("torch._utils", "_rebuild_tensor_v2")
        + b"("
        + (of or storage())
        + number(offset)
        + parts
        + b"\x89"
        + name("collections", "OrderedDict")
        + b")RtR"
    )


NUMBERS = np.arange(4, dtype="<f4").tobytes()


def archive(program=None, data=NUMBERS, compression=zipfile.ZIP_STORED, **more):
    file = io.BytesIO()
    program = rebuilt() if program is None else program
    with zipfile.ZipFile(file, "w", compression) as zip:
        zip.writestr("archive/data.pkl", b"\x80\x02" + program + b".")
        zip.writestr("archive/data/0", data)
        for path, content in more.items():
            zip.writestr(path, content)
    return file.getvalue()


def test_an_archive_of_torch():
    assert pullback.load(io.BytesIO(archive())).tolist() == [0, 1, 2, 3]
    assert pullback.load(io.BytesIO(archive(rebuilt(1, (2, 2), (1, 1))))).tolist() == [[1, 2], [2, 3]]


def older(program=None, keys=("0",), count=4, data=NUMBERS, order="little"):
    """A file of torch's older format: pickles, and behind them the storages, each after the number of its elements."""
    system = {"protocol_version": 1001, "little_endian": order == "little", "type_sizes": {}}
    start = b"".join(pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, system))
    program = rebuilt(of=older_storage()) if program is None else program
    return start + b"\x80\x02" + program + b"." + pickle.dumps([*keys], 2) + count.to_bytes(8, order) + data


def older_storage(view=b"N", count=4):
    return storage(count=count).removesuffix(b"tQ") + view + b"tQ"


def test_an_older_file_of_torch():
    assert pullback.load(io.BytesIO(older())).tolist() == [0, 1, 2, 3]
    turned = np.arange(4, dtype=">f4").tobytes()
    assert pullback.load(io.BytesIO(older(data=turned, order="big"))).tolist() == [0, 1, 2, 3]
    part = b"(" + text("1") + number(1) + number(2) + b"t"
    of_part = rebuilt(0, (2,), (1,), of=older_storage(part))
    assert pullback.load(io.BytesIO(older(of_part))).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (older(count=3), "without the 4 elements"),
        (older(data=NUMBERS[:-1]), "is truncated"),
        (older(rebuilt(of=older_storage(count=2**30))), "is truncated: its storages have 4294967296 bytes"),
        (older(keys=("1",)), "other storages"),
        (older(keys=("0", "0")), "other storages"),
        (older(keys=(0,)), "no texts"),
        (
            older(rebuilt(0, (3,), (1,), of=older_storage(b"(" + text("1") + number(1) + number(2) + b"t"))),
            "beyond its storage",
        ),
        (older(rebuilt(of=older_storage(b"(" + text("1") + number(3) + number(2) + b"t"))), "beyond its storage"),
        (older(rebuilt(of=older_storage(b"(" + text("1") + number(1) + b"t"))), "without a key, offset and length"),
    ],
    ids=range(9),
)
def test_older_files_that_lie(content, said):
    with pytest.raises(FileError, match=said):
        pullback.load(io.BytesIO(content))


@pytest.mark.parametrize(
    "hostile",
    [
        name("os", "system") + b"(" + text("exit 3") + b"tR",
        name("posix", "system") + b"(" + text("exit 3") + b"tR",
        name("builtins", "eval") + b"(" + text("1") + b"tR",
        name("builtins", "getattr") + b"(" + text("1") + text("real") + b"tR",
        name("torch.nn.modules.linear", "Linear") + b")\x81",
        name("collections", "OrderedDict.fromkeys"),
        name("numpy", "load"),
        b"\x8c\x02os\x8c\x06system\x93",  # STACK_GLOBAL
        b"(ios\nsystem\n",  # INST
        b"(" + name("os", "system") + text("x") + b"o",  # OBJ
        b"\x82\x01",  # EXT1
        b"Pthere\n",  # PERSID
        text("x") + b")R",
        text("x") + b"Q",
        b"(" + text("module") + text("x") + b"tQ",
        name("collections", "OrderedDict") + b")R}" + text("__class__") + b"Nsb",
        b"]}" + text("a") + b"Nsb",
        rebuilt() + b"}" + text("grad") + b"Nsb",
        name("torch", "float32") + b")R",
        b")" + text("a") + b"a",
        b"]" + name("torch", "Size") + b"a",
    ],
)
def test_hostile_pickles(hostile):
    refused(archive(hostile), kind=UnsafeFileError)
    with pytest.raises(pickle.UnpicklingError):
        pullback.load(io.BytesIO(archive(hostile)))


@pytest.mark.parametrize(
    ("program", "word"),
    [
        (rebuilt(1), "beyond its storage"),
        (rebuilt(-1), "invalid layout"),
        (rebuilt(0, (2, 2), (3, 1)), "beyond"),
        (rebuilt(0, (-4,)), "invalid layout"),
        (rebuilt(0, (2,), (-1,)), "invalid layout"),
        (rebuilt(0, (2, 2), (1,)), "invalid layout"),
        (rebuilt(0, (2**31 - 1,) * 3, (0,) * 3), "too large for memory"),
        (rebuilt(0, (1,) * 70, (1,) * 70), "tensor"),
        (rebuilt(of=storage(count=5)), "16 bytes"),
        (rebuilt(of=storage(kind="Double")), "16 bytes"),
        (rebuilt(of=storage(key="1")), "lacks"),
        (rebuilt(of=storage(key="../../../etc/passwd")), "lacks"),
        (rebuilt(of=storage(kind="Bool", count=16)), "neither 0 nor 1"),
        (b"(" + rebuilt() + rebuilt(of=storage(kind="Int")) + b"l", "elsewhere"),
        (rebuilt(of=text("x")), "invalid"),
        (b"", "damaged"),
        (b"h\x05", "damaged"),
        (b"a", "damaged"),
        (b"t", "damaged"),
        (b"0", "damaged"),
        (b"(d(d", "damaged"),
        (b"}]Ns", "list as a key"),
        (b"N\x86", "damaged"),
        (b"](a", "damaged"),
        (b"(R", "damaged"),
        (b"\x8b\xff\xff\xff\x7f1", "damaged"),  # LONG4 of 2 GiB
        (b"\x8e" + b"\xff" * 8 + b"1", "damaged"),  # BINBYTES8
        (b"I" + b"9" * 5000 + b"\n", "5000 digits"),
        (name("torch", "Size") + b"(" + b"(" + b"K\x01" * 100 + b"ttR", "Size"),
        (name("torch", "Size"), "alone"),
    ],
)
def test_damaged_pickles(program, word):
    refused(archive(program), word)


def test_deep_pickles_are_refused():
    found = pullback.load(io.BytesIO(archive(b"]" * 1000 + b"a" * 999)))
    for _ in range(999):
        [found] = found
    assert found == []
    refused(archive(b"]" * 200_000 + b"a" * 199_999), "1000 levels")


def test_archives_that_lie():
    refused(archive(compression=zipfile.ZIP_DEFLATED, data=bytes(10**6)), "larger than it")
    refused(archive(compression=zipfile.ZIP_DEFLATED), "compressed")
    refused(archive(**{"../../etc/passwd": b"x"}), "leads out")
    refused(archive(**{"/etc/passwd": b"x"}), "leads out")
    refused(archive(**{"archive/constants.pkl": b"x"}), "TorchScript", kind=UnsafeFileError)
    refused(archive(**{"other/data.pkl": b"x"}), "no single data.pkl")
    refused(archive(**{"archive/byteorder": b"middle"}), "middle")
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = archive(**{"archive/data.pkl": b"."})
    refused(twice, "two members of one name")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    refused(empty.getvalue(), "data.pkl")
    refused(archive()[:-30], "damaged zip")
    place = archive().index(NUMBERS)
    refused(archive()[:place] + b"\1" + archive()[place + 1 :], "CRC")


@pytest.mark.parametrize("protocol", range(6))
def test_plain_pickles_are_refused(protocol):
    content = pickle.dumps(Call(os.system, "exit 3"), protocol)
    refused(content, kind=FileError)
    refused(pickle.dumps([1, 2], protocol), kind=FileError)


FILES = [
    written({"a": pullback.arange(3), "b": [pullback.ones(2, 2), 1.5, "x", (None, True)]}, metadata={"k": "v"}),
    archive(),
    archive(b"}" + text("x") + rebuilt(1, (3,)) + b"s"),
]


@pytest.mark.filterwarnings("ignore:.*bfloat16:UserWarning")
@settings(max_examples=300)
@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), max_size=3),
    st.floats(0, 1),
)
@example(FILES[0], [], 0.5)
def test_damage_is_reported_or_harmless(content, flips, kept):
    """Bits flipped and the end cut off: a value or an error of the family, and nothing else."""
    damaged = bytearray(content)
    for place, bit in flips:
        damaged[int(place * len(damaged))] ^= 1 << bit
    damaged = damaged[: len(damaged) if kept > 0.5 else int(2 * kept * len(damaged))]
    try:
        pullback.load(io.BytesIO(damaged))
    except FileError as error:
        text = str(error)
    else:
        text = "<BytesIO>: nothing" if len(content) - len(damaged) < 30 else "a file that was cut off"
    assert text.startswith("<BytesIO>: ")


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_program_is_refused_or_plain(program):
    try:
        found = pullback.load(io.BytesIO(archive(program)))
    except FileError:
        return
    assert type(found).__module__ in {
        "builtins",
        "collections",
        "pullback",
        "pullback._core.shapes",
        "pullback._core.placement",
    }
