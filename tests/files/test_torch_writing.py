"""torch.save under pullback: archives in torch's format, read back by pullback; tests/parity has torch read them."""

import io
import pickletools
import warnings
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest

import pullback as pb
from pullback import nn
from pullback.compat.torch.storing import load, save

KINDS = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
DTYPES = [getattr(pb, kind) for kind in KINDS]
STORAGES = "Bool Byte Char Short Int Long Half Float Double ComplexFloat ComplexDouble".split()
# What a pickle of torch.save may name: nothing here does anything but build a value
ALLOWED = {
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_tensor_v3",
    "torch.storage UntypedStorage",
    "torch Size",
    "torch device",
    "collections OrderedDict",
    "collections Counter",
    "_codecs encode",
    "__builtin__ set",
    "__builtin__ frozenset",
    "__builtin__ complex",
    *(f"torch {kind}" for kind in KINDS),
    *(f"torch {kind}Storage" for kind in STORAGES),
}


def archive(value):
    file = io.BytesIO()
    save(value, file)
    return file


def returned(value):
    file = archive(value)
    file.seek(0)
    return load(file)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)], ids=str)
def test_tensors(dtype, shape):
    x = pb.from_numpy(np.arange(np.prod(shape)).reshape(shape).astype(str(dtype).split(".")[1]))
    found = returned(x)
    assert (found.dtype, found.shape, found.tolist()) == (dtype, x.shape, x.tolist())


def test_layouts_and_shared_memory():
    x = pb.arange(24.0).reshape(4, 6)
    given = {"all": x, "turned": x.T, "part": x[1:3, ::2], "row": x[2], "far": x[3, 5:], "again": x}
    found = returned(given)
    for name, tensor in given.items():
        assert found[name].tolist() == tensor.tolist()
        assert found[name].stride() == tensor.stride()
    found["all"].mul_(-1)
    for name, tensor in given.items():
        assert found[name].tolist() == (-tensor).tolist()
    assert found["again"] is found["all"]


def test_a_part_does_not_bring_the_whole_memory():
    x = pb.zeros(1_000_000)
    assert len(archive(x[10:20]).getvalue()) < 2000
    assert len(archive([x[10:20], x[15:40]]).getvalue()) < 3000


def test_layouts_that_torch_lacks_are_copied():
    backwards = pb.from_numpy(np.arange(6.0)[::-1])
    swapped = pb.from_numpy(np.arange(3.0).astype(">f8").astype("=f8"))
    between = pb.from_numpy(np.zeros(2, np.dtype([("a", "i1"), ("b", "f4")]))["b"])
    assert returned([backwards, swapped, between])[0].tolist() == [5, 4, 3, 2, 1, 0]
    assert returned(between).tolist() == [0, 0]
    assert returned(pb.ones(1).expand(3, 2)).stride() == (0, 0)


def test_containers_and_numbers():
    inner = [1, (2, ())]
    value = {
        "ints": [0, 1, -1, 255, 256, 65_536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**70, -(2**200)],
        "floats": [0.5, -0.0, float("inf"), 1e-320],
        "texts": ["", "é", "\U0001f600", "a\nb", b"", b"\0\xff"],
        "others": (None, True, False, 1 + 2j, pb.float16, pb.Size([2, 3]), pb.device("cpu")),
        "sets": [{1, 2}, frozenset("a"), Counter("aab"), set()],
        "empty": ([], (), {}, OrderedDict()),
        "shared": [inner, inner],
        7: OrderedDict(b=1, a=(1, {"x": [2]})),
        (1, "k"): 2,
    }
    found = returned(value)
    assert found == value
    assert repr(found) == repr(value)
    assert found["shared"][0] is found["shared"][1]


def test_states_of_modules_and_optimizers():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    net[2].weight = nn.Parameter(net[0].weight[:, :1].detach().repeat(1, 4))
    optimizer = pb.optim.AdamW(net.parameters(), lr=0.1)
    net(pb.randn(5, 3)).square().sum().backward()
    optimizer.step()
    found = returned({"net": net.state_dict(), "optimizer": optimizer.state_dict()})
    assert found["net"]._metadata == net.state_dict()._metadata
    for name, tensor in net.state_dict().items():
        assert found["net"][name].tolist() == tensor.tolist()
    assert repr(found["optimizer"]) == repr(optimizer.state_dict())


def test_leaves_keep_requires_grad():
    found = returned([pb.ones(2, requires_grad=True), pb.ones(2)])
    assert [tensor.requires_grad for tensor in found] == [True, False]


def test_the_archive_has_torchs_members_and_names_data_alone():
    file = archive(
        {**{str(dtype): pb.ones(2).to(dtype) for dtype in DTYPES}, "net": nn.Linear(2, 2).state_dict(), "s": {1j}}
    )
    with zipfile.ZipFile(file) as members:
        names = members.namelist()
        pickled = members.read("archive/data.pkl")
        assert members.read("archive/version") == b"3\n"
        assert members.read("archive/.format_version") == b"1"
        assert members.read("archive/byteorder") in (b"little", b"big")
        assert all(member.compress_type == zipfile.ZIP_STORED for member in members.infolist())
        for member in members.infolist():  # where torch.load(mmap=True) finds the numbers
            assert (member.header_offset + 30 + len(member.filename) + len(member.extra)) % 64 == 0
    assert names[0] == "archive/data.pkl"
    assert {name for name in names if "/data/" in name} == {f"archive/data/{key}" for key in range(len(DTYPES) + 2)}
    opcodes = [(opcode.name, argument) for opcode, argument, _ in pickletools.genops(pickled)]
    assert opcodes[0] == ("PROTO", 2)
    assert {argument for name, argument in opcodes if name == "GLOBAL"} <= ALLOWED
    assert max(opcode.proto for opcode, _, _ in pickletools.genops(pickled)) == 2
    assert archive({"x": pb.ones(2)}).getvalue() == archive({"x": pb.ones(2)}).getvalue()


def test_the_name_says_safetensors(tmp_path):
    save({"x": pb.ones(2)}, tmp_path / "x.safetensors")
    assert (tmp_path / "x.safetensors").read_bytes()[8:9] == b"{"
    save({"x": pb.ones(2)}, tmp_path / "x.pt")
    assert zipfile.is_zipfile(tmp_path / "x.pt")
    assert [pb.load(tmp_path / name)["x"].tolist() for name in ("x.safetensors", "x.pt")] == [[1, 1]] * 2


def test_what_data_cannot_hold_is_a_pickle_with_a_note():
    cycle = []
    cycle.append(cycle)
    for value in ({"accuracy": np.float64(0.5)}, np.arange(3), cycle):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = returned(value)
        assert repr(found) == repr(value)
        assert all("written as a pickle, which torch does not read" in str(each.message) for each in told)  # once


def test_a_refusal_leaves_the_old_file(tmp_path):
    save(pb.ones(2), tmp_path / "x.pt")
    with pytest.raises(RuntimeError, match="belongs to a transform"):
        pb.func.vmap(lambda x: save([x], tmp_path / "x.pt"))(pb.ones(3))
    with pytest.raises(ValueError, match="leave pickle_module out"):
        save(pb.ones(2), tmp_path / "x.pt", pickle_module=object())
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        save(pb.ones(2), tmp_path / "x.pt", nonsense=1)
    assert load(tmp_path / "x.pt").tolist() == [1, 1]


@pytest.mark.parametrize("name", ["x.pt", "x.pth"])
def test_pullbacks_save_writes_torch_files_by_their_names(name, tmp_path):
    pb.save({"x": pb.ones(2), "step": 3}, tmp_path / name)
    assert zipfile.is_zipfile(tmp_path / name)
    assert pb.load(tmp_path / name)["x"].tolist() == [1, 1]


def test_what_torch_files_cannot_hold_is_written_as_safetensors_and_said(tmp_path):
    with pytest.warns(UserWarning, match=r"x\.pt is a safetensors file, which torch\.load does not read"):
        pb.save({"x": np.ones(2)}, tmp_path / "x.pt")
    assert pb.load(tmp_path / "x.pt")["x"].tolist() == [1, 1]
    pb.save({"x": pb.ones(2)}, tmp_path / "y.pt", metadata={"made by": "a test"})
    assert not zipfile.is_zipfile(tmp_path / "y.pt")
    for refused in (nn.Linear(1, 1), lambda: None):
        with pytest.raises(TypeError, match=r"save\(\)"):
            pb.save(refused, tmp_path / "z.pt")
    assert not (tmp_path / "z.pt").exists()
