"""The memory behind tensors: storages, the same bytes as another dtype, tensors of a user's own class; as torch has them."""

import sys

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch")
both = pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


@both
def test_views_have_one_memory(t):
    x = t.arange(6.0).reshape(2, 3)
    for view in (x, x[1:], x.t(), x[:, 1], x.t()[1:]):
        storage = view.untyped_storage()
        assert storage.data_ptr() == x.data_ptr() and storage.nbytes() == len(storage) == 24
        assert view.storage().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and view.storage().size() == 6
    assert x.clone().untyped_storage().data_ptr() != x.data_ptr()
    assert t.zeros(0).untyped_storage().nbytes() == 0 and t.tensor(3.0).untyped_storage().nbytes() == 4
    assert t.is_storage(x.storage()) and t.is_storage(x.untyped_storage()) and not t.is_storage(x)


@both
def test_storages_are_read_and_written_in_place(t):
    x = t.arange(4, dtype=t.int32)
    data, numbers = x.untyped_storage(), x.storage()
    assert data[4] == 1 and data[4:8].tolist() == [1, 0, 0, 0] and numbers[3] == 3 and numbers.dtype == t.int32
    data[4], numbers[3] = 7, 9
    assert x.tolist() == [0, 7, 2, 9] and data.element_size() == 1 and numbers.element_size() == 4
    assert t.asarray(data[4:8], dtype=t.uint8).tolist() == [7, 0, 0, 0]
    kept = data.clone()
    kept[4] = 1
    assert x.tolist() == [0, 7, 2, 9]
    data.copy_(kept)
    assert x.tolist() == [0, 1, 2, 9]
    with pytest.raises(IndexError):
        data[100]
    with pytest.raises(RuntimeError, match="slices are only supported"):
        numbers[0:2]


@both
def test_a_file_as_a_storage(t, tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(8)))
    storage = t.UntypedStorage.from_file(str(file), False, 8)
    assert storage.untyped()[2:4].tolist() == [2, 3]
    storage[0] = 200
    assert file.read_bytes() == bytes(range(8))


DTYPES = "float32 int32 uint8 float64 complex64 int16 float16 bool int64".split()


@pytest.mark.parametrize("old", ["float32", "uint8", "int64", "complex64"])
@pytest.mark.parametrize("new", DTYPES)
def test_bytes_as_numbers_of_another_dtype(old, new):
    if new == "bool":
        pytest.skip("bytes other than 0 and 1 are no truth values") if old != "uint8" else None
    values = np.arange(2 * 16).reshape(2, 16) % 2
    found = [t.tensor(values).to(getattr(t, old)).view(getattr(t, new)) for t in (pullback, torch)]
    assert [*found[0].shape] == [*found[1].shape] and str(found[0].dtype).split(".")[1] == new
    assert found[0].numpy().tobytes() == found[1].numpy().tobytes()
    assert found[0].stride() == found[1].stride()


@both
def test_bytes_as_another_dtype_share_memory_and_have_no_gradient(t):
    x = t.ones(2, 3)
    bits = x.view(dtype=t.int32)
    assert bits.data_ptr() == x.data_ptr() and bits[0, 0].item() == 0x3F800000
    bits[0, 0] = 0
    assert x[0].tolist() == [0.0, 1.0, 1.0]
    assert not t.ones(2, requires_grad=True).view(t.int32).requires_grad
    assert t.tensor(1.0).view(t.int32).shape == () and t.ones(0).view(t.uint8).shape == (0,)


@both
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.ones(2, 4).t().view(t.uint8), r"self.stride\(-1\) must be 1 to view Float as Byte"),
        (lambda t: t.ones(2, 3).view(t.float64), r"self.size\(-1\) must be divisible by 2 to view Float as Double"),
        (lambda t: t.tensor(1.0).view(t.uint8), r"self.dim\(\) cannot be 0 to view Float as Byte"),
        (lambda t: t.ones(4, 3)[:, :2].view(t.float64), r"self.stride\(0\) must be divisible by 2"),
        (lambda t: t.ones(6)[1:5].view(t.float64), r"self.storage_offset\(\) must be divisible by 2"),
    ],
)
def test_bytes_that_make_no_numbers(t, call, words):
    with pytest.raises(RuntimeError, match=words):
        call(t)


@both
def test_tensors_of_ones_own_class(t):
    class Price(t.Tensor):
        def doubled(self):
            return self * 2

    x = t.ones(2, requires_grad=True)
    price = x.as_subclass(Price)
    assert type(price) is Price and price.data_ptr() == x.data_ptr()
    price.doubled().sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    leaf = t.Tensor._make_subclass(Price, t.ones(2), True)
    assert type(leaf) is Price and leaf.is_leaf and leaf.requires_grad
    leaf.doubled().sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0]
    with pytest.raises(TypeError):
        x.as_subclass(int)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        t.Tensor._make_subclass(Price, t.tensor([1]), True)


@both
def test_tensors_are_set_on_the_memory_of_others(t):
    x, y = t.zeros(2), t.arange(6.0)
    assert x.set_(y.reshape(2, 3)) is x and x.data_ptr() == y.data_ptr() and x.shape == (2, 3)
    assert x.set_(y, 2, (2, 2)).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert x.set_(y, 1, (2,), (2,)).tolist() == [1.0, 3.0]
    x[0] = 9
    assert y[1] == 9 and x.set_().shape == (0,)
    assert x.set_(y.storage()).tolist() == y.tolist() and x.set_(y.untyped_storage(), 1, (2,)).tolist() == [9.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        t.zeros(2, requires_grad=True).set_(y)
    with pytest.raises(RuntimeError, match="Could not set tensor of type double to a tensor of type float"):
        t.zeros(2).set_(y.double())


@both
def test_the_size_of_a_storage_has_its_memory_in_it(t):
    few, many = (sys.getsizeof(t.ones(n).untyped_storage()) for n in (10, 1000))
    assert many - few == 4 * 990
    assert sys.getsizeof(t.ones(1000).double().storage()) - sys.getsizeof(t.ones(10).double().storage()) == 8 * 990
