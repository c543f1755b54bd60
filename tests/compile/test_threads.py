"""Tensors that several threads use while one of them records a compiled function: the others find the numbers that are there."""

import copy
import io
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pullback as pb
from pullback import nn

TRIES = 30_000


class World:
    """Tensors and modules that all threads reach."""

    def __init__(self):
        pb.manual_seed(0)
        self.x = pb.tensor([1.0, 2.0, 3.0])
        self.w = pb.tensor([1.0, -2.0, 3.0], requires_grad=True)
        self.layer, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)
        self.layer.weight.grad = pb.ones(3, 3)

    def value(self, x):
        return (x * self.w + self.layer(x) + self.norm.running_mean + self.layer.weight.sum()).detach()

    def state(self):
        tensors = [self.x, self.w, *self.layer.parameters(), *self.norm.buffers()]
        return repr([*tensors, *(tensor.grad for tensor in tensors), *(tensor._version for tensor in tensors)])


USES = {
    "elementwise": lambda o: o.x + 1,
    "tracked": lambda o: (o.x * o.w).sin(),
    "product": lambda o: o.layer.weight @ o.x,
    "module": lambda o: o.layer(o.x),
    "backward": lambda o: (o.layer(o.x * o.w).sum().backward(), o.w.grad),
    "grad": lambda o: pb.autograd.grad((o.w**3).sum(), o.w),
    "transform": lambda o: pb.func.grad(lambda v: (v * o.w).prod())(o.x),
    "vmap": lambda o: pb.func.vmap(lambda v: v * o.x)(pb.ones(2, 3)),
    "jvp": lambda o: pb.func.jvp(lambda v: v * o.w, (o.x,), (o.x,)),
    "functional_call": lambda o: pb.func.functional_call(o.layer, {"bias": o.x}, (o.x,)),
    "numpy": lambda o: o.x.numpy().tolist(),
    "asarray": lambda o: np.asarray(o.x).tolist(),
    "function of NumPy": lambda o: np.sin(o.x),
    "dlpack": lambda o: np.from_dlpack(o.x).tolist(),
    "item": lambda o: o.x[1].item(),
    "float": lambda o: float(o.x[2]),
    "loop": lambda o: [int(v) for v in o.x],
    "condition": lambda o: "yes" if o.x[0] > 0 else "no",
    "tolist": lambda o: o.x.tolist(),
    "text": lambda o: f"{o.x} {o.layer.weight} {o.x[0]:.2f}",
    "layout": lambda o: (
        o.x.stride(),
        o.x.is_contiguous(),
        o.x.data_ptr() == o.x.data_ptr(),
        o.x.untyped_storage().nbytes(),
    ),
    "nonzero": lambda o: o.x.nonzero(),
    "mask": lambda o: o.x[o.x > 1],
    "equal": lambda o: pb.equal(o.x, o.x.clone()),
    "pickle": lambda o: pickle.loads(pickle.dumps(o.x)),
    "copy": lambda o: (copy.copy(o.x), copy.deepcopy(o.layer).weight),
    "save": lambda o: pb.save(o.layer.state_dict(), io.BytesIO()),
    "state_dict": lambda o: o.layer.state_dict(),
    "in place": lambda o: o.x.add_(1),
    "view in place": lambda o: o.x.view(3, 1).mul_(2),
    "set": lambda o: o.x.__setitem__(0, 7.0),
    "fill": lambda o: o.x.fill_(3),
    "out": lambda o: pb.add(o.x, 1, out=o.x),
    "data": lambda o: setattr(o.x, "data", pb.zeros(3)),
    "random": lambda o: o.x.normal_(),
    "optimizer": lambda o: pb.optim.SGD(o.layer.parameters(), lr=0.5).step(),
    "statistics": lambda o: o.norm(pb.ones(2, 3) * o.x),
}


@pytest.mark.parametrize("use", USES)
def test_a_use_in_another_thread_while_a_function_is_recorded(use):
    alone = World()
    pb.manual_seed(1)
    expected = repr(USES[use](alone)), alone.state()
    world, done, over, found = World(), threading.Event(), threading.Event(), []

    def function(x):
        result, tries = world.value(x), TRIES
        while not done.is_set() and tries and recording():
            tries -= 1
        return result

    def recording():
        return world.x._array is not array

    array, me = world.x._array, threading.get_ident()

    def other():
        while not over.is_set() and all(each.f_code is not recording.__code__ for each in frames(me)):
            pass
        pb.manual_seed(1)
        try:
            found.append(repr(USES[use](world)))
        finally:
            done.set()

    thread = threading.Thread(target=other)
    thread.start()
    compiled = pb.compile(function)
    first = compiled(world.x)
    over.set()
    thread.join()
    assert (*found, world.state()) == expected
    assert np.allclose(first, World().value(World().x)) or np.allclose(first, alone.value(alone.x))
    np.testing.assert_allclose(compiled(world.x), world.value(world.x), rtol=1e-6)
    assert all(type(each._array) is np.ndarray for each in (world.x, world.w, *world.layer.parameters()))


def frames(thread):
    """The frames of a thread, the innermost first."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_functional_calls_in_threads_take_turns():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    x = pb.randn(6, 4)
    sets = [{name: pb.full_like(p, 0.01 * i) for name, p in model.named_parameters()} for i in range(1, 5)]

    def loss(tensors):
        return pb.func.functional_call(model, tensors, (x,)).square().sum()

    gradient, compiled = pb.func.grad(loss), pb.compile(pb.func.grad(loss))
    expected = [{name: g.numpy() for name, g in gradient(tensors).items()} for tensors in sets]
    before = [p.detach().clone() for p in model.parameters()]
    with ThreadPoolExecutor(4) as pool:
        jobs = [(i % 4, pool.submit((gradient, compiled)[i % 3 == 0], sets[i % 4])) for i in range(120)]
    for number, job in jobs:
        for name, g in job.result().items():
            np.testing.assert_allclose(g, expected[number][name], rtol=1e-5)
    assert all(map(pb.equal, model.parameters(), before))


class Slow(nn.Linear):
    def forward(self, x):
        first = super().forward(x)
        time.sleep(0.005)
        return first * self.weight.sum()


def test_a_functional_call_waits_for_the_one_of_another_thread():
    layer, x, line = Slow(2, 2), pb.tensor([1.0, 2.0]), threading.Barrier(4)

    def call(scale):
        line.wait()
        return pb.func.functional_call(layer, {"weight": scale * pb.ones(2, 2), "bias": pb.zeros(2)}, (x,)).tolist()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(call, range(4))] == [[12.0 * i * i] * 2 for i in range(4)]


def test_first_calls_with_many_shapes_beside_eager_threads():
    layer, stop, wrong = nn.Linear(3, 3), threading.Event(), []
    compiled = pb.compile(lambda x: layer(x).tanh().sum())
    expected = layer(pb.ones(3)).tolist()

    def eager():
        while not stop.is_set():
            if layer(pb.ones(3)).tolist() != expected:
                wrong.append(layer.weight)

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(eager) for _ in range(2)]
        for rows in range(1, 12):
            x = pb.ones(rows, 3)
            np.testing.assert_allclose(compiled(x).item(), layer(x).tanh().sum().item(), rtol=1e-5)
        stop.set()
        for job in jobs:
            job.result()
    assert not wrong
    assert not compiled.refused


@pytest.mark.filterwarnings("ignore:.*runs as it is, uncompiled:UserWarning")
def test_a_function_that_waits_for_a_thread_runs_as_it_is():
    w = pb.tensor([1.0, 2.0], requires_grad=True)

    def parts(x, pool):
        return sum(pool.map(lambda i: (x * w)[i] * (x * i).sum().item(), range(2)))

    with ThreadPoolExecutor(2) as pool:
        pool.submit(int).result()
        compiled = pb.compile(lambda x: parts(x, pool))
        for x in (pb.tensor([1.0, 2.0]), pb.tensor([3.0, 4.0])):
            assert compiled(x).item() == parts(x, pool).item()
    started = pb.compile(lambda x: ThreadPoolExecutor(1).submit(x.sum).result())
    assert [started(pb.ones(n)).item() for n in (2, 2)] == [2, 2]
    assert started.refused
