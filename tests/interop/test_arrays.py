"""Libraries that ask for NumPy's class of arrays take tensors; those installed here are tried, and one made for this."""

import sys
import types

import numpy as np
import pytest

import pullback
from pullback.interop.arrays import TAKING, enable


@pytest.fixture
def picky(monkeypatch):
    """A library that takes NumPy's arrays only."""

    def fromarray(obj, mode=None):
        assert type(obj) is np.ndarray
        return obj, mode

    module = types.ModuleType("PIL.Image")
    module.fromarray = fromarray
    package = types.ModuleType("PIL")
    package.Image = module
    monkeypatch.setitem(sys.modules, "PIL", package)
    monkeypatch.setitem(sys.modules, "PIL.Image", module)
    enable("PIL")
    return module


def test_a_tensor_arrives_as_its_array(picky):
    t = pullback.arange(6).reshape(2, 3)
    array, mode = picky.fromarray(t, mode="L")
    assert mode == "L"
    assert np.shares_memory(array, t.numpy())
    assert picky.fromarray(obj=t)[0].shape == (2, 3)
    assert picky.fromarray(np.ones(2))[0].sum() == 2


def test_a_second_call_changes_nothing(picky):
    before = picky.fromarray
    enable("PIL")
    assert picky.fromarray is before


def test_a_gradient_would_be_lost(picky):
    with pytest.raises(RuntimeError, match="requires grad"):
        picky.fromarray(pullback.ones(2, 2, requires_grad=True))


def test_unknown_libraries_are_refused():
    with pytest.raises(ValueError, match=r"pandas is none of PIL, polars, tensorboardX"):
        enable("pandas")
    with pytest.raises(ValueError, match="torch"):
        enable("PIL", "torch")


def test_nothing_changes_if_a_library_is_missing(monkeypatch):
    monkeypatch.setitem(TAKING, "absent", "absent_library.arrays:make")
    with pytest.raises(ImportError, match="absent_library"):
        enable("absent")


def test_polars():
    polars = pytest.importorskip("polars")
    enable("polars")
    t = pullback.tensor([1.0, 2.0, 4.0])
    assert polars.Series("x", t).to_list() == [1, 2, 4]
    assert polars.Series(t.int()).dtype == polars.Int32
    frame = polars.DataFrame({"x": t, "n": [1, 2, 3]})
    assert frame["x"].sum() == 7
    assert polars.DataFrame(pullback.ones(2, 3)).shape == (2, 3)


def test_pillow():
    image = pytest.importorskip("PIL.Image")
    enable("PIL")
    t = pullback.arange(48).reshape(4, 4, 3).to(pullback.uint8)
    assert (np.asarray(image.fromarray(t)) == t.numpy()).all()
    assert (np.asarray(image.fromarray(t.permute(1, 0, 2))) == t.permute(1, 0, 2).numpy()).all()


def test_tensorboard(tmp_path):
    board = pytest.importorskip("tensorboardX")
    enable("tensorboardX")
    with board.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", pullback.tensor(2.5), 0)
        writer.add_histogram("weights", pullback.ones(3), 0)
        writer.add_image("picture", pullback.rand(3, 4, 4), 0)
    assert any(tmp_path.iterdir())


def test_bfloat16_goes_through_dlpack_as_its_bits():
    t = pullback.tensor([1.0, -2.5]).bfloat16()
    with pytest.raises(BufferError, match=r"bfloat16 tensor of shape \(2,\): NumPy.*t\.float\(\)"):
        np.from_dlpack(t)
    bits = np.from_dlpack(t.view(pullback.int16))
    assert (pullback.from_numpy(bits).view(pullback.bfloat16) == t).all()
