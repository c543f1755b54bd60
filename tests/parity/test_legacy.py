"""Old names: tensor types, methods of torch's first years, names of devices, and NumPy's spellings of arguments."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import parity, raises  # noqa: E402

TYPES = ["BoolTensor", "ByteTensor", "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "HalfTensor"]
TYPES += ["FloatTensor", "DoubleTensor"]


@pytest.mark.parametrize("name", TYPES)
@parity
def test_tensor_types(t, name):
    kind, x = getattr(t, name), t.tensor([[0.0, 1.0], [2.0, 3.0]])
    y = x.type(kind)
    return [
        kind([[1, 0]]),
        kind(2, 3).shape,
        kind().shape,
        y,
        x.type(f"torch.{name}"),
        y.type().rpartition(".")[2],
        isinstance(y, kind),
        [isinstance(y, getattr(t, other)) for other in TYPES],
        isinstance(3, kind),
    ]


@parity
def test_methods(t):
    x = t.arange(6.0).reshape(2, 3)
    raises(RuntimeError, "requires grad", lambda: t.ones(2, requires_grad=True).apply_(abs))
    raises(TypeError, "int", lambda: t.ones(2).apply_(3))
    return [
        x.ndimension(),
        x.new([1, 2, 3]),
        x.new(2, 4).shape,
        x.new().shape,
        t.arange(2).new([1.0, 2.0]),
        t.arange(3).apply_(lambda value: value * 10),
        x.clone().map_(x + 1, lambda a, b: a * b),
        x.get_device(),
        x.is_same_size(x + 1),
        x.is_same_size(x.t()),
        [x.is_cuda, x.is_cpu, x.is_sparse, x.is_quantized, x.is_meta, x.is_mps, x.is_nested],
        t.get_device(x),
        t.detach(t.ones(2, requires_grad=True)),
    ]


@parity
def test_functions(t):
    x = t.tensor([1.0, 2.0, 3.0])
    raises(RuntimeError, "x must be a one-dimensional tensor", lambda: t.vander(t.ones(2, 2)))
    raises(RuntimeError, "N must be non-negative", lambda: t.vander(t.ones(2), N=-1))
    return [
        t.vander(x),
        [t.vander(x, n, increasing=up) for n in (0, 1, 2, 4) for up in (False, True)],
        t.from_dlpack(np.arange(3.0)),
        t.frombuffer(bytearray(range(8)), dtype=t.int16),
        t.frombuffer(bytearray(range(8)), dtype=t.int16, count=2, offset=2),
        t.vmap(lambda value: value * 2)(t.arange(3)),
    ]


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@parity
def test_ranges_with_their_ends(t):
    for step in (0, float("nan")):
        raises(RuntimeError, "step must be nonzero", lambda step=step: t.range(0, 1, step))
    raises(RuntimeError, "upper bound and", lambda: t.range(0, 1, -1))
    return [
        t.range(0, 4),
        t.range(1, 2, 0.5),
        t.range(3, 0, -1),
        t.range(0, 3, 2, dtype=t.int64),
        t.range(0, 1, float("inf")),
    ]


@parity
def test_numpys_names_of_arguments(t):
    x = t.arange(6.0).reshape(2, 3) + 1
    return [
        x.cumsum(axis=0),
        x.cumprod(axis=1),
        t.cumsum(x, axis=1),
        x.unsqueeze(axis=1).shape,
        x.std(axis=0, keepdims=True),
        [*t.sort(x, axis=0, descending=True)],
        [*x.median(axis=1, keepdims=True)],
        x.argmax(axis=1, keepdims=True),
        t.logsumexp(x, axis=1, keepdims=True),
        x.index_select(axis=1, index=t.tensor([0])),
        x.gather(axis=1, index=t.tensor([[0], [1]])),
        [*t.unbind(x, axis=1)],
        x.clone().cumsum_(axis=0),
    ]


def test_both_names_of_an_argument_are_refused():
    with pytest.raises(TypeError, match="both 'dim' and NumPy's 'axis'"):
        pullback.ones(2).cumsum(dim=0, axis=0)


@parity
def test_devices(t):
    devices = [t.device(name) for name in ("cpu", "cpu:0", "cuda", "cuda:1", "mps", "meta")]
    raises(RuntimeError, "device type at start of device string: nowhere", lambda: t.device("nowhere"))
    raises(RuntimeError, "Invalid device string: 'cuda:x'", lambda: t.device("cuda:x"))
    with t.device("cpu") as entered:
        x = t.ones(2)
    return [[repr(each), each.type, each.index] for each in devices] + [
        entered.type,
        x,
        t.device("cuda", 1) == devices[3],
    ]


@parity
def test_random_numbers_of_a_block_are_forgotten(t):
    fork = t.random.fork_rng if t is torch else t.fork_rng
    t.manual_seed(0)
    with fork():
        a = t.randn(2)
    b = t.randn(2)
    with fork(enabled=False):
        c = t.randn(2)
    return [t.equal(a, b), t.equal(b, c)]
