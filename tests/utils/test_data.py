"""Data sets, samplers, collation and the loader: in this process, and by workers that fail, hang and die."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import weakref
from collections import OrderedDict
from multiprocessing import active_children, get_all_start_methods
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)

pytestmark = [
    # A machine with a single processor is told that two workers are many; Python tells of threads where it forks.
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]


class Pair(NamedTuple):
    x: Any
    y: Any


class Squares(Dataset):
    def __init__(self, size=10):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(index)
        return index**2


class Failing(Squares):
    """What becomes of its third sample is told by name."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def __getitem__(self, index):
        if index == 2:
            getattr(self, self.how)()
        return index

    def key(self):
        raise KeyError("no such\nkey")

    def strange(self):
        raise StrangeError(1, 2)

    def local(self):
        class LocalError(Exception):
            pass

        raise LocalError("of no module")

    def stop(self):
        raise StopIteration

    def leave(self):
        os._exit(3)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def sleep(self):
        time.sleep(60)


class Reused(Squares):
    """Each sample lies where the one before lay."""

    buffer = np.zeros(100_000)

    def __getitem__(self, index):
        self.buffer[:] = index
        return self.buffer


class Tracked(Squares):
    def __getitem__(self, index):
        return pullback.ones(2, requires_grad=True) * index


class Pids(Squares):
    def __getitem__(self, index):
        return os.getpid()


class Sizes(Squares):
    def __getitem__(self, index):
        return self.size


class Uneven(Squares):
    """Its first sample takes longer than another one."""

    def __init__(self, size):
        super().__init__(size)
        self.other = multiprocessing.Event()

    def __getitem__(self, index):
        if index:
            self.other.set()
        else:
            self.other.wait(60)
            time.sleep(0.5)
        return index


def as_function(batch):
    return lambda: batch


def initialise(worker):
    info = get_worker_info()
    assert (info.id, info.num_workers) == (worker, 2)
    info.dataset.size = 100 + worker


def fail(worker):
    raise ValueError("not today")


class StrangeError(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class Stream(IterableDataset):
    """The numbers below a bound; each worker gives its part of them."""

    def __init__(self, size=7, part=True):
        self.size, self.part = size, part

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info and self.part else (0, 1)
        return iter(range(first, self.size, step))


class Sized(Stream):
    def __len__(self):
        return self.size


class Big(Squares):
    def __getitem__(self, index):
        return {"x": np.full((100, 100), index, np.float32), "y": pullback.full((3,), float(index)), "name": str(index)}


class Randoms(Squares):
    def __getitem__(self, index):
        return random.random(), np.random.rand(), pullback.rand(()), get_worker_info().seed


def lists(loader):
    return [batch.tolist() for batch in loader]


# Data sets


def test_random_split_holds_each_sample_once():
    parts = random_split(Squares(), [0.25, 0.25, 0.5], generator=pullback.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [3, 2, 5]
    assert sorted(value for part in parts for value in part) == [i**2 for i in range(10)]
    again = random_split(Squares(), [3, 2, 5], generator=pullback.Generator().manual_seed(1))
    assert [part.indices for part in parts] == [part.indices for part in again]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(sum), st.data())
def test_a_concatenation_is_one_list(sizes, data):
    whole = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
    joined = ConcatDataset([[(i, j) for j in range(size)] for i, size in enumerate(sizes)])
    index = data.draw(st.integers(-len(whole), len(whole) - 1))
    assert len(joined) == len(whole) and joined[index] == whole[index]


def test_batches_of_indices_are_handed_on():
    class Many(Squares):
        def __getitems__(self, indices):
            return [-index for index in indices]

    assert lists(DataLoader(Subset(Many(), [5, 3, 1]), batch_size=2)) == [[-5, -3], [-1]]
    stacked = StackDataset(a=Many(), b=Squares())
    assert stacked.__getitems__([2, 3]) == [{"a": -2, "b": 4}, {"a": -3, "b": 9}]


# Samplers


@given(st.integers(1, 20), st.integers(1, 50), st.booleans())
def test_random_sampler(size, count, replacement):
    found = list(RandomSampler(range(size), replacement, count))
    assert len(found) == count and set(found) <= set(range(size))
    if not replacement:
        for start in range(0, count - size + 1, size):
            assert sorted(found[start : start + size]) == list(range(size))


@given(st.integers(0, 20), st.integers(1, 6), st.booleans())
def test_batch_sampler(size, batch_size, drop_last):
    sampler = BatchSampler(SequentialSampler(range(size)), batch_size, drop_last)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    kept = size - size % batch_size if drop_last else size
    assert [index for batch in batches for index in batch] == list(range(kept))
    assert all(len(batch) == batch_size for batch in batches[:-1])


def test_weights_are_chances():
    drawn = list(WeightedRandomSampler([1, 0, 3], 4000, generator=pullback.Generator().manual_seed(0)))
    counts = np.bincount(drawn, minlength=3) / 4000
    np.testing.assert_allclose(counts, [0.25, 0, 0.75], atol=0.04)
    assert sorted(WeightedRandomSampler([1, 2, 3], 3, replacement=False)) == [0, 1, 2]


def test_one_seed_gives_one_order():
    def orders(seed):
        generator = pullback.Generator().manual_seed(seed)
        made = [
            RandomSampler(range(20), generator=generator),
            RandomSampler(range(20), True, generator=generator),
            SubsetRandomSampler(range(20), generator),
            WeightedRandomSampler(range(20), 20, generator=generator),
        ]
        return [list(sampler) for sampler in made]

    assert orders(3) == orders(3)
    assert orders(3) != orders(4)


# Collation


def test_containers_keep_their_kind():
    class Row(list):
        pass

    assert type(default_collate([Row([1, 2]), Row([3, 4])])) is Row
    ordered = default_collate([OrderedDict(b=1, a=2)] * 2)
    assert type(ordered) is OrderedDict and list(ordered) == ["b", "a"]
    assert default_collate([Pair(1, "a"), Pair(2, "b")]).y == ("a", "b")
    frozen = MappingProxyType({"a": 1})
    assert type(default_collate([frozen, frozen])) is MappingProxyType
    assert type(default_convert(Row([np.arange(2)]))) is Row


def test_a_batch_has_memory_of_its_own():
    x = np.zeros(3)
    batch = default_collate([x, x])
    batch[0, 0] = 5
    assert x[0] == 0


# The loader in this process


def test_batches_in_order():
    assert lists(DataLoader(Squares(5), batch_size=2)) == [[0, 1], [4, 9], [16]]
    assert lists(DataLoader(Squares(5), batch_size=2, drop_last=True)) == [[0, 1], [4, 9]]
    assert list(DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    assert lists(DataLoader(Squares(), batch_sampler=[[1, 2], [3]])) == [[1, 4], [9]]
    assert lists(DataLoader(Squares(), sampler=[3, 1])) == [[9], [1]]
    assert list(DataLoader(Squares(4), batch_size=2, collate_fn=sum)) == [1, 13]
    assert [len(DataLoader(Squares(5), batch_size=2, drop_last=drop)) for drop in (False, True)] == [3, 2]


def test_shuffling_from_a_seed():
    def order(seed):
        loader = DataLoader(Squares(), shuffle=True, batch_size=None, generator=pullback.Generator().manual_seed(seed))
        return [list(loader), list(loader)]

    first, second = order(0)
    assert sorted(first) == sorted(second) == [i**2 for i in range(10)]
    assert first != second
    assert order(0) == [first, second]
    pullback.manual_seed(0)
    by_thread = list(DataLoader(Squares(), shuffle=True, batch_size=None))
    pullback.manual_seed(0)
    assert list(DataLoader(Squares(), shuffle=True, batch_size=None)) == by_thread


def test_an_error_names_its_sample():
    with pytest.raises(KeyError) as caught:
        list(DataLoader(Failing("key"), batch_size=2))
    assert caught.value.__notes__ == ["DataLoader was loading sample 2 of Failing"]
    with pytest.raises(RuntimeError, match="StopIteration while loading sample 2"):
        list(DataLoader(Failing("stop"), batch_size=2))
    with pytest.raises(TypeError, match="default_collate") as caught:
        list(DataLoader([None] * 3, batch_size=2))
    assert caught.value.__notes__ == ["DataLoader was collating the samples 0, 1 of list"]


def test_a_stream_longer_than_it_says():
    class Liar(Stream):
        def __len__(self):
            return 6

    loader = DataLoader(Liar())
    assert len(loader) == 6
    with pytest.warns(UserWarning, match=r"was reported to be 6.*7 samples have been fetched"):
        list(loader)


# Workers


def test_workers_give_the_same_batches():
    def run(workers):
        loader = DataLoader(
            Squares(23),
            batch_size=3,
            shuffle=True,
            num_workers=workers,
            generator=pullback.Generator().manual_seed(5),
        )
        return [lists(loader), lists(loader)]

    assert run(0) == run(1) == run(2)
    assert not active_children()


def test_streams_are_shared_out():
    assert lists(DataLoader(Stream(), batch_size=2, num_workers=2)) == [[0, 2], [1, 3], [4, 6], [5]]
    assert lists(DataLoader(Stream(), batch_size=2, num_workers=2, drop_last=True)) == [[0, 2], [1, 3], [4, 6]]
    assert list(DataLoader(Stream(3), batch_size=None, num_workers=2)) == [0, 1, 2]
    assert len(DataLoader(Sized(), batch_size=2, num_workers=2)) == 4


def test_arrays_come_back_whole_and_writable():
    batches = list(DataLoader(Big(5), batch_size=2, num_workers=2))
    assert [batch["name"] for batch in batches] == [["0", "1"], ["2", "3"], ["4"]]
    for place, batch in enumerate(batches):
        expected = np.arange(2 * place, 2 * place + len(batch["name"]), dtype=np.float32)
        np.testing.assert_array_equal(batch["x"].numpy()[:, 50, 50], expected)
        assert batch["y"].tolist() == [[value] * 3 for value in expected]
        batch["x"].add_(1)


def test_an_array_that_the_data_set_goes_on_to_write():
    found = list(DataLoader(Reused(6), batch_size=None, num_workers=1, prefetch_factor=5))
    assert [x.unique().tolist() for x in found] == [[float(i)] for i in range(6)]


@pytest.mark.parametrize(
    ("how", "kind", "name"),
    [
        ("key", KeyError, "KeyError"),
        ("strange", RuntimeError, "StrangeError"),
        ("local", RuntimeError, "LocalError"),
        ("stop", RuntimeError, "StopIteration"),
    ],
)
def test_an_error_in_a_worker(how, kind, name):
    batches = iter(DataLoader(Failing(how), num_workers=2))
    assert [next(batches).item(), next(batches).item()] == [0, 1]
    with pytest.raises(kind) as caught:
        next(batches)
    text = str(caught.value)
    assert text.startswith(f"Caught {name} in DataLoader worker process 0. It was loading sample 2 of Failing.\n")
    assert "Original Traceback (most recent call last):" in text and f"in {how}\n" in text
    assert [batch.item() for batch in batches] == list(range(3, 10))


def test_what_cannot_be_sent():
    with pytest.raises(RuntimeError, match="non-leaf tensor which requires_grad"):
        list(DataLoader(Tracked(), num_workers=1))
    with pytest.raises(Exception, match=r"Caught .* in DataLoader worker process 0"):
        list(DataLoader(Squares(), num_workers=1, collate_fn=as_function))


def test_a_worker_that_ends():
    with pytest.raises(RuntimeError, match=r"exited unexpectedly with exit code 3.*was loading sample 2 of Failing"):
        list(DataLoader(Failing("leave"), num_workers=2))
    assert not active_children()


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_worker_that_is_killed():
    with pytest.raises(RuntimeError, match=r"is killed by signal: SIGKILL.*was loading sample 2 of Failing"):
        list(DataLoader(Failing("die"), batch_size=4, num_workers=1, persistent_workers=True))
    assert not active_children()


def test_a_worker_that_takes_too_long():
    fork = "fork" in get_all_start_methods()  # other processes may take longer than that to start
    seconds, context = (
        (5, "fork") if fork else (20, None)
    )  # of which the others need some where all processors are busy
    loader = DataLoader(Failing("sleep"), None, num_workers=1, timeout=seconds, multiprocessing_context=context)
    with pytest.raises(
        RuntimeError, match=f"timed out after {seconds} seconds: worker 0 was loading sample 2 of Failing"
    ):
        list(loader)
    assert not active_children()


def test_an_iterator_that_is_left():
    loader = DataLoader(Squares(1000), num_workers=2)
    for batch in loader:
        if batch.item() == 4:
            break
    iterator = iter(loader)
    next(iterator)
    gone = weakref.ref(iterator)
    del iterator
    assert gone() is None and not active_children()


def test_workers_that_persist():
    loader = DataLoader(Pids(), num_workers=2, persistent_workers=True)
    first = [batch.item() for batch in loader]
    left = iter(loader)
    next(left)
    second = [batch.item() for batch in loader]
    assert first == second and len(set(first)) == 2 and os.getpid() not in first
    with pytest.raises(RuntimeError, match="began another iteration"):
        next(left)
    del loader, left
    assert not active_children()
    streams = DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True)
    assert lists(streams) == lists(streams) == [[0, 2], [1, 3], [4, 6], [5]]


def test_what_a_worker_knows():
    assert list(DataLoader(Sizes(4), None, num_workers=2, worker_init_fn=initialise)) == [100, 101, 100, 101]
    assert get_worker_info() is None
    with pytest.raises(ValueError, match=r"running worker_init_fn(.|\n)*not today"):
        list(DataLoader(Squares(), num_workers=1, worker_init_fn=fail))


def test_random_numbers_of_workers():
    def run(seed):
        generator = pullback.Generator().manual_seed(seed)
        loader = DataLoader(Randoms(4), None, num_workers=2, generator=generator)
        return [[float(value) for value in sample] for sample in loader]

    first = run(0)
    assert first == run(0) != run(1)
    numbers = [value for sample in first for value in sample[:3]]
    assert len(set(numbers)) == len(numbers)
    assert first[1][3] == first[0][3] + 1 or len({sample[3] for sample in first}) == 2


def test_batches_as_they_are_ready():
    found = list(DataLoader(Uneven(6), None, num_workers=2, in_order=False))
    assert sorted(found) == list(range(6)) and found[0] != 0


@pytest.mark.parametrize("method", sorted({"spawn"} & set(get_all_start_methods())))
def test_processes_that_begin_anew(method):
    data = TensorDataset(pullback.arange(5.0), pullback.arange(5))
    loader = DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context=method)
    assert [[x.tolist(), y.tolist()] for x, y in loader] == [[[0, 1], [0, 1]], [[2, 3], [2, 3]], [[4], [4]]]
    with pytest.raises(Exception) as caught:  # which one differs between versions of Python
        iter(DataLoader(data, num_workers=1, multiprocessing_context=method, collate_fn=lambda batch: batch))
    assert "not lambdas" in caught.value.__notes__[-1]
    assert not active_children()


def program(text, *arguments):
    """A program on its own, with pullback's data imported."""
    head = "import os, signal, sys, time\nfrom pullback.utils.data import DataLoader, Dataset\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(text), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


ENDLESS = """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
    class Slow(Dataset):
        def __len__(self):
            return 1000
        def __getitem__(self, index):
            time.sleep(0.05)
            return os.getpid()
    loader = DataLoader(Slow(), num_workers=2, batch_size=None, multiprocessing_context="fork")
    pids = set()
    try:
        for pid in loader:
            pids.add(pid)
            if len(pids) == 2:
                print(*pids, flush=True)
                pids |= {0}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def gone(pid):
    """Whether a process has ended, within some seconds."""
    for _ in range(150):
        try:
            os.kill(pid, 0)
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except (OSError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes as Linux has them")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(how):
    parent = program(ENDLESS)
    workers = [int(word) for word in parent.stdout.readline().split()]
    assert len(workers) == 2
    (os.killpg if how == signal.SIGINT else os.kill)(parent.pid, how)
    out, err = parent.communicate(timeout=60)
    assert (out, err) == (("interrupted\n", "") if how == signal.SIGINT else ("", ""))
    assert all(map(gone, workers))


@settings(max_examples=10)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_any_loader_gives_each_sample_once(size, batch_size, workers, ahead, drop_last):
    loader = DataLoader(Squares(size), batch_size, num_workers=workers, prefetch_factor=ahead, drop_last=drop_last)
    assert lists(loader) == lists(DataLoader(Squares(size), batch_size, drop_last=drop_last))
