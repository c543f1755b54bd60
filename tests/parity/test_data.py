"""Data sets, samplers, collation and the loader's arguments, as torch has them."""

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity, raises, warns  # noqa: E402


class Pair(NamedTuple):
    x: Any
    y: Any


def data(t):
    return t.utils.data.TensorDataset(t.arange(5), t.arange(5.0) ** 2)


def stream(t, size=7):
    class Stream(t.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(size))

    return Stream()


def plain(value):
    """Tensors as what can be compared inside of mappings and named tuples, with the kind of each container."""
    if isinstance(value, dict):
        return [type(value).__name__, [[key, plain(item)] for key, item in value.items()]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [plain(item) for item in value]]
    if hasattr(value, "dtype") and not isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype).rpartition(".")[2], value.tolist()]
    return [type(value).__name__, str(value)]


@parity
def test_data_sets(t):
    d = t.utils.data
    x, y = data(t), d.StackDataset(a=[1, 2, 3], b=[4, 5, 6])
    joined = d.ConcatDataset([x, x])
    return [
        len(x),
        list(x[1]),
        list(x[1:3][0]),
        y[1],
        d.StackDataset([1, 2], [3, 4])[0],
        y.__getitems__([0, 2]),
        list(joined[-1]),
        len(joined),
        joined.cumulative_sizes,
        list(d.ChainDataset([stream(t), stream(t, 2)])),
        list(stream(t) + stream(t)),
        len(x + x),
        list(d.Subset(x, [3, 0])[1]),
        d.Subset(list(range(10)), [3, 0, 7]).__getitems__([2, 0]),
        [len(part) for part in d.random_split(range(10), [0.33, 0.33, 0.34])],
        [len(part) for part in d.random_split(range(3), [1, 0, 2])],
        [type(part).__name__ for part in d.random_split(range(3), [1.0])],
    ]


@parity
def test_errors_of_data_sets(t):
    d = t.utils.data
    raises(AssertionError, "Size mismatch between tensors", lambda: d.TensorDataset(t.ones(2), t.ones(3)))
    raises(ValueError, "At least one dataset should be passed", d.StackDataset)
    raises(ValueError, "but both types are given.", lambda: d.StackDataset([1], a=[1]))
    raises(ValueError, "Size mismatch between datasets", lambda: d.StackDataset([1], [1, 2]))
    raises(AssertionError, "datasets should not be an empty iterable", lambda: d.ConcatDataset([]))
    raises(AssertionError, "ConcatDataset does not support IterableDataset", lambda: d.ConcatDataset([stream(t)]))
    raises(AssertionError, "ChainDataset only supports IterableDataset", lambda: list(d.ChainDataset([data(t)])))
    too_far = "absolute value of index should not exceed dataset length"
    raises(ValueError, too_far, lambda: d.ConcatDataset([[1]])[-2])
    raises(IndexError, "range", lambda: d.ConcatDataset([[1]])[1])
    raises(NotImplementedError, "Subclasses of Dataset should implement __getitem__.", lambda: d.Dataset()[0])
    raises(TypeError, "has no len()", lambda: len(d.Dataset()))
    raises(TypeError, "abstract", d.IterableDataset)
    wrong = "Sum of input lengths does not equal the length of the input dataset!"
    raises(ValueError, wrong, lambda: d.random_split([1, 2], [1, 2]))
    raises(ValueError, wrong, lambda: d.random_split([1, 2], [0.5, 0.6]))
    raises(ValueError, "Fraction at index 0 is not between 0 and 1", lambda: d.random_split([1], [1.5, -0.5]))
    empty = "Length of split at index 1 is 0. This might result in an empty dataset."
    return len(warns(UserWarning, empty, lambda: d.random_split([1], [0.9, 0.1])))


@parity
def test_samplers(t):
    d = t.utils.data
    return [
        list(d.SequentialSampler("abc")),
        sorted(d.RandomSampler("abc")),
        len(list(d.RandomSampler("abc", num_samples=8))),
        len(d.RandomSampler("abc", replacement=True, num_samples=8)),
        list(d.BatchSampler(range(5), 2, drop_last=False)),
        list(d.BatchSampler(range(5), 2, drop_last=True)),
        [len(d.BatchSampler(range(5), 2, drop)) for drop in (False, True)],
        list(d.WeightedRandomSampler([0, 1.0, 0], 3)),
        sorted(d.WeightedRandomSampler([1, 1.0, 2], 3, replacement=False)),
        sorted(d.SubsetRandomSampler([5, 7])),
    ]


@parity
def test_errors_of_samplers(t):
    d = t.utils.data
    raises(TypeError, "replacement should be a boolean value, but got replacement=1", lambda: d.RandomSampler([1], 1))
    for count in (-1, 0, 2.0):
        wrong = f"num_samples should be a positive integer value, but got num_samples={count}"
        raises(ValueError, wrong, lambda count=count: d.RandomSampler([1], num_samples=count))
        raises(ValueError, wrong, lambda count=count: d.WeightedRandomSampler([1], count))
    raises(ValueError, "but got num_samples=0", lambda: d.RandomSampler([]))
    raises(ValueError, "replacement should be a boolean value", lambda: d.WeightedRandomSampler([1], 1, 1))
    raises(ValueError, "weights should be a 1d sequence", lambda: d.WeightedRandomSampler([[1.0]], 1))
    wrong = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
    raises(RuntimeError, wrong, lambda: list(d.WeightedRandomSampler([1.0], 2, replacement=False)))
    for size in (0, True, 2.5):
        wrong = f"batch_size should be a positive integer value, but got batch_size={size}"
        raises(ValueError, wrong, lambda size=size: d.BatchSampler([1], size, drop_last=True))
    raises(ValueError, "drop_last should be a boolean value", lambda: d.BatchSampler([1], 1, 1))
    with pytest.raises(NotImplementedError):
        iter(d.Sampler())


BATCHES = [
    [1, 2],
    [1.0, 2],
    [1, 2.5],
    [True, False],
    ["a", "b"],
    [np.str_("a"), np.str_("b")],
    [b"a", b"b"],
    [(1, 2.0), (3, 4.0)],
    [[1, "x"], [3, "y"]],
    [Pair(1, 2), Pair(3, 4)],
    [{"a": 1, "b": [2.0]}, {"a": 2, "b": [3.0]}],
    [OrderedDict(b=1, a=2)] * 2,
    [np.float32(1), np.float32(2)],
    [np.bool_(True), np.bool_(False)],
    [np.arange(3), np.arange(3)],
    [np.array(1, "int8"), np.array(2, "int8")],
    [range(2), range(2)],
]


@pytest.mark.parametrize("batch", BATCHES, ids=repr)
@parity
def test_collate(t, batch):
    return plain(t.utils.data.default_collate(batch))


@pytest.mark.parametrize("batch", BATCHES, ids=repr)
@parity
def test_convert(t, batch):
    return [plain(t.utils.data.default_convert(sample)) for sample in [*batch, batch]]


@parity
def test_collate_tensors(t):
    collate = t.utils.data.default_collate
    leaf = t.ones(2, requires_grad=True)
    raises(
        RuntimeError,
        "stack expects each tensor to be equal size, but got [3] at entry 0 and [2] at entry 1",
        lambda: collate([t.ones(3), t.ones(2)]),
    )
    return [collate([t.arange(3), t.arange(3.0)]), collate([leaf, leaf * 2]), collate([(t.ones(2), 1)] * 2)]


@parity
def test_errors_of_collate(t):
    collate = t.utils.data.default_collate
    wrong = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
    for value, found in [
        (None, "<class 'NoneType'>"),
        ({1}, "<class 'set'>"),
        (1j, "<class 'complex'>"),
        (np.array(["a"]), "<U1"),
        (np.datetime64("2020-01-01"), "<class 'numpy.datetime64'>"),
    ]:
        raises(TypeError, wrong + found, lambda value=value: collate([value, value]))
    raises(
        RuntimeError,
        "each element in list of batch should be of equal size",
        lambda: collate([[1, 2], [1]]),
    )
    raises(KeyError, "b", lambda: collate([{"a": 1, "b": 3}, {"a": 2}]))
    raises(IndexError, "list index out of range", lambda: collate([]))


@parity
def test_batches(t):
    def batches(dataset, *args, **options):
        return [plain(batch) for batch in t.utils.data.DataLoader(dataset, *args, **options)]

    return [
        batches(data(t)),
        batches(data(t), 2),
        batches(data(t), 2, drop_last=True),
        batches(data(t), None),
        batches(data(t), sampler=[3, 1]),
        batches(data(t), None, sampler=[3, 1]),
        batches(data(t), batch_sampler=[[3, 1], [2]]),
        batches(stream(t), 3),
        batches(stream(t), 3, drop_last=True),
        batches(stream(t), None),
        batches([], 2),
        batches(data(t), 2, collate_fn=len),
        [len(t.utils.data.DataLoader(data(t), size)) for size in (1, 2, 5, None)],
    ]


@parity
def test_batches_of_workers(t):
    loader = t.utils.data.DataLoader(data(t), 2, num_workers=1, persistent_workers=True)
    return [plain(batch) for _ in range(2) for batch in loader]


@parity
def test_arguments_of_the_loader(t):
    def loader(dataset=None, **options):
        return t.utils.data.DataLoader(data(t) if dataset is None else dataset, **options)

    for options, wrong in [
        (
            {"num_workers": -1},
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
        ),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing."),
        ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"sampler": [1], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
        (
            {"batch_sampler": [[1]], "batch_size": 2},
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
        ),
        (
            {"batch_size": None, "drop_last": True},
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
        ),
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        (
            {"multiprocessing_context": "spawn"},
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0",
        ),
        (
            {"num_workers": 1, "multiprocessing_context": "thread"},
            "multiprocessing_context option should specify a valid start method in ",
        ),
    ]:
        raises(ValueError, wrong, lambda options=options: loader(**options))
    wrong = "multiprocessing_context option should be a valid context object or a string specifying the start method"
    raises(TypeError, wrong, lambda: loader(num_workers=1, multiprocessing_context=3))
    raises(AssertionError, "requires timeout == 0", lambda: iter(loader(timeout=5)))
    raises(TypeError, "has no len()", lambda: len(loader(stream(t))))
    raises(ValueError, "num_samples should be a positive integer value", lambda: loader([], shuffle=True))
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        [(name, value)] = options.items()
        wrong = f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
        raises(ValueError, wrong, lambda options=options: loader(stream(t), **options))
    made = loader()
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"):
        wrong = f"{name} attribute should not be set after DataLoader is initialized"
        raises(ValueError, wrong, lambda name=name: setattr(made, name, 3))
    wrong = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
    warns(UserWarning, wrong, lambda: iter(loader(pin_memory=True)))
    names = "batch_size drop_last num_workers prefetch_factor pin_memory timeout persistent_workers in_order".split()
    return [[getattr(loader(**options), name) for name in names] for options in ({}, {"batch_sampler": [[1]]})]


@pytest.mark.parametrize("count", [1, 5, 6, 7])
@pytest.mark.parametrize("drop_last", [False, True])
@parity
def test_distributed_samplers(t, count, drop_last):
    sampler = t.utils.data.distributed.DistributedSampler if t is torch else t.utils.data.DistributedSampler
    raises(ValueError, "Default process group has not been initialized", lambda: sampler(range(3)))
    raises(ValueError, "Invalid rank 2, rank should be in the interval [0, 1]", lambda: sampler(range(3), 2, 2))
    each = [sampler(range(count), k, rank, False, drop_last=drop_last) for k in (1, 2, 3) for rank in range(k)]
    return [[len(one), [*one]] for one in each]


def test_a_distributed_sampler_shuffles_by_epoch():
    samplers = [pullback.utils.data.DistributedSampler(range(10), 2, rank) for rank in (0, 1)]
    first = [[*each] for each in samplers]
    assert sorted(first[0] + first[1]) == list(range(10))
    assert [*samplers[0]] == first[0]
    for each in samplers:
        each.set_epoch(1)
    assert [[*each] for each in samplers] != first


@parity
def test_more_samples_than_there_were_to_be(t):
    class Stream(t.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(4))

        def __len__(self):
            return 2

    loader = t.utils.data.DataLoader(Stream(), batch_size=None)
    seen = [len(loader)]
    batches = iter(loader)
    seen += [next(batches), next(batches)]
    with pytest.warns(
        UserWarning, match=r"was reported to be 2 ?\(when accessing len\(dataloader\)\), but 3 samples have"
    ):
        seen.append(next(batches))
    return seen
