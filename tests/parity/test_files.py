"""Files that torch writes, read by pullback; and files of the package safetensors, in both directions."""

import io
from collections import Counter, OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402
from pullback.compat.torch.storing import save  # noqa: E402
from pullback.files import FileError, UnsafeFileError, read_metadata  # noqa: E402

from .compare import describe, same  # noqa: E402

both_forms = pytest.mark.parametrize("archive", [True, False], ids=["archive", "older"])


def read(value, archive=True):
    file = io.BytesIO()
    torch.save(value, file, _use_new_zipfile_serialization=archive)
    file.seek(0)
    return pullback.load(file)


def values():
    x = torch.arange(12.0).reshape(3, 4)
    return {
        "tensor": x,
        "transposed": x.T,
        "strided": x[1:, ::2],
        "expanded": torch.ones(1).expand(3, 2),
        "empty": torch.ones(0, 3),
        "scalar": torch.tensor(3),
        "leaf": torch.ones(2, requires_grad=True),
        "conjugate": torch.tensor([1 + 2j, 3j]).conj(),
        "imaginary": torch.tensor([1 + 2j, 3j]).conj().imag,
        "list": [1, -(2**70), 2.5, float("inf"), True, None, "é", b"\0\xff", 1j],
        "tuple": (1, (2, ()), {"x": 3}),
        "size": list(torch.Size([2, 3])),
        "dtype": torch.float16,
        7: OrderedDict(b=1, a=torch.ones(1)),
        (1, "k"): 2,
        **{
            str(dtype): torch.tensor([0, 1], dtype=dtype)
            for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16)
        },
        **{str(dtype): torch.ones(2, dtype=dtype) for dtype in (torch.float64, torch.complex64, torch.complex128)},
        **{str(dtype): torch.ones(2, dtype=dtype) for dtype in (torch.uint16, torch.uint32, torch.uint64)},
    }


@both_forms
def test_values(archive):
    same(describe(read(values(), archive)), describe(values()), "the file")


@both_forms
@pytest.mark.parametrize("value", [3, "x", torch.ones(2), {1, 2}, frozenset("a"), Counter("aab")], ids=repr)
def test_a_value_alone(archive, value):
    found = read(value, archive)
    same(describe(found), describe(value), "the file")
    assert type(found).__name__ == type(value).__name__


@both_forms
def test_states_of_modules_and_optimizers(archive):
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    net(torch.ones(5, 3)).square().sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    found = read(state, archive)
    same(describe(found), describe(state), "the file")
    ours = pullback.nn.Sequential(pullback.nn.Linear(3, 4), pullback.nn.BatchNorm1d(4))
    ours.load_state_dict(found["net"])
    same(describe(dict(ours.state_dict())), describe(dict(net.state_dict())), "the module")


@both_forms
def test_parameters_are_plain_tensors(archive):
    found = read(torch.nn.Parameter(torch.ones(2)), archive)
    assert type(found) is pullback.Tensor and found.requires_grad
    assert not isinstance(found, pullback.nn.Parameter)


@both_forms
def test_shared_memory_stays_shared(archive):
    x = torch.zeros(4)
    found = read([x, x[1:3]], archive)
    found[1].add_(1)
    assert found[0].tolist() == [0, 1, 1, 0]


@both_forms
def test_bfloat_is_read_and_written(archive):
    x = torch.randn(100).to(torch.bfloat16)
    found = read(x, archive)
    assert found.dtype == pullback.bfloat16
    np.testing.assert_array_equal(found.float().numpy(), x.float().numpy())
    assert read_by_torch({"x": found})["x"].equal(x)


@both_forms
@pytest.mark.parametrize("value", [torch.nn.Linear(1, 1), np.arange(3), torch.float8_e4m3fn, slice(3)], ids=repr)
def test_objects_are_refused_by_name(archive, value):
    name = type(value).__name__ if not isinstance(value, torch.dtype) else "float8_e4m3fn"
    with pytest.raises(UnsafeFileError, match=r"Weights only load failed.*Unsupported global: GLOBAL") as caught:
        read(value, archive)
    assert name in str(caught.value) or "numpy" in str(caught.value)


@both_forms
def test_every_end_that_is_cut_off_is_noticed(archive):
    file = io.BytesIO()
    torch.save({"x": torch.arange(3), "y": [torch.ones(2)]}, file, _use_new_zipfile_serialization=archive)
    content = file.getvalue()
    for length in range(0, len(content), 7 if archive else 1):
        with pytest.raises(FileError):
            pullback.load(io.BytesIO(content[:length]))


@both_forms
def test_every_byte_that_is_changed_is_noticed_or_harmless(archive):
    file = io.BytesIO()
    torch.save({"x": torch.arange(3), "y": [torch.ones(2)]}, file, _use_new_zipfile_serialization=archive)
    content = file.getvalue()
    refused = 0
    for place in range(0, len(content), 5 if archive else 1):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            pullback.load(io.BytesIO(damaged))
        except FileError:
            refused += 1
    assert refused > 20


# Files that pullback writes under torch.save, read by torch


def ours(values):
    """Torch's tensors, nested in containers, as pullback's: with the same memory, where it is shared."""
    memory = {}

    def made(value):
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            if storage.data_ptr() not in memory:
                elements = torch.empty(0, dtype=value.dtype).set_(storage, 0, (storage.nbytes() // value.itemsize,))
                memory[storage.data_ptr()] = pullback.from_numpy(elements.numpy().copy())
            whole = memory[storage.data_ptr()]
            layout = tuple(value.shape), tuple(value.stride()), value.storage_offset()
            return pullback.as_strided(whole, *layout).detach().requires_grad_(value.requires_grad)
        if isinstance(value, dict):
            return type(value)((key, made(item)) for key, item in value.items())
        return type(value)(map(made, value)) if isinstance(value, (list, tuple)) else value

    return made(values)


def read_by_torch(value, **options):
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True, **options)


def test_torch_reads_values():
    given = {name: value for name, value in values().items() if name not in {"conjugate", "imaginary", "dtype"}}
    found = read_by_torch(ours(given))
    same(describe(found), describe(given), "the file")
    assert found["transposed"].stride() == given["transposed"].stride()
    found["tensor"].mul_(-1)
    assert torch.equal(found["transposed"].T, found["tensor"])
    assert torch.equal(found["strided"], found["tensor"][1:, ::2])
    assert read_by_torch(pullback.float16) is torch.float16
    for value in (3, "x", {1, 2}, Counter("aab"), 1j, pullback.Size([2])):
        assert read_by_torch(value) == value
    x = pullback.tensor([1 + 2j, 3j])
    assert read_by_torch([x.conj(), x.conj().imag, x.flip(0)])[0].tolist() == [1 - 2j, -3j]


def networks(nn):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.embedding(x))

    return {
        "layers": nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)),
        "images": nn.Sequential(
            nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2)
        ),
        "recurrent": nn.LSTM(3, 4, num_layers=2, bidirectional=True),
        "attention": nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        "tied": Tied(),
    }


@pytest.mark.parametrize(
    ("name", "shape"),
    {"layers": (4, 3), "images": (2, 1, 4, 4), "recurrent": (5, 2, 3), "attention": (2, 3, 8), "tied": (6,)}.items(),
)
def test_torch_reads_the_states_of_modules(name, shape, tmp_path):
    net, theirs = (networks(library.nn)[name] for library in (pullback, torch))
    save({"net": net.state_dict(), "epoch": 3}, tmp_path / "x.pt")
    for options in ({}, {"mmap": True}):
        state = torch.load(tmp_path / "x.pt", weights_only=True, **options)
        theirs.load_state_dict(state["net"])
    assert state["net"]._metadata == theirs.state_dict()._metadata
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    x = np.arange(6) if name == "tied" else x
    found, expected = net(pullback.from_numpy(x)), theirs(torch.from_numpy(x))
    if name == "recurrent":
        found, expected = found[0], expected[0]
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-6)
    if name == "tied":
        assert state["net"]["head.weight"].data_ptr() == state["net"]["embedding.weight"].data_ptr()


def test_torch_goes_on_with_our_optimizer():
    nets = [library.nn.Linear(3, 2) for library in (pullback, torch)]
    optimizers = [
        library.optim.AdamW(net.parameters(), lr=0.1) for library, net in zip((pullback, torch), nets, strict=True)
    ]

    def step(library, net, optimizer):
        optimizer.zero_grad()
        net(library.ones(4, 3)).square().sum().backward()
        optimizer.step()

    step(pullback, nets[0], optimizers[0])
    state = read_by_torch({"net": nets[0].state_dict(), "optimizer": optimizers[0].state_dict()})
    nets[1].load_state_dict(state["net"])
    optimizers[1].load_state_dict(state["optimizer"])
    for library, net, optimizer in zip((pullback, torch), nets, optimizers, strict=True):
        step(library, net, optimizer)
    np.testing.assert_allclose(nets[0].weight.detach().numpy(), nets[1].weight.detach().numpy(), rtol=1e-5)


# The package safetensors


def test_our_files_are_safetensors(tmp_path):
    package = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    state = {
        str(dtype): pullback.from_numpy(np.arange(6).reshape(2, 3).astype(dtype))
        for dtype in "uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64".split()
    }
    state |= {"empty": pullback.ones(0, 2), "scalar": pullback.tensor(2.5), "bool": pullback.tensor([True, False])}
    pullback.save(state, tmp_path / "x.safetensors", metadata={"made": "by us"})
    found = package.load_file(tmp_path / "x.safetensors")
    same(describe(dict(sorted(state.items()))), describe(dict(sorted(found.items()))), "the file")


def test_safetensors_files_are_read(tmp_path):
    package = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    state = {name: value for name, value in values().items() if isinstance(value, torch.Tensor)}
    state = {str(name): value.detach().clone().contiguous() for name, value in state.items()}
    del state["torch.complex128"]
    state["conjugate"] = state["conjugate"].resolve_conj()
    package.save_file(state, tmp_path / "x.safetensors", {"made": "by them"})
    found = pullback.load(tmp_path / "x.safetensors")
    same(describe(dict(sorted(found.items()))), describe(dict(sorted(state.items()))), "the file")
    assert read_metadata(tmp_path / "x.safetensors") == {"made": "by them"}
