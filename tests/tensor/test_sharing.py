"""Memory that processes share: a model that several of them train, by every start method there is."""

import multiprocessing

import numpy as np
import pytest

import pullback
from pullback import nn


def train(model, vector, view):
    """What another process does: a step of an optimizer, and writes."""
    optimizer = pullback.optim.SGD(model.parameters(), lr=1.0)
    model(pullback.ones(1, 2)).sum().backward()
    optimizer.step()
    vector += 5
    view[1] = 9


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of threads where this one is forked
def test_processes_write_to_one_memory(method):
    model = nn.Linear(2, 1)
    model.load_state_dict({"weight": pullback.zeros(1, 2), "bias": pullback.zeros(1)})
    assert model.share_memory() is model
    vector = pullback.zeros(3)
    view = vector[1:]
    assert vector.share_memory_() is vector and view.is_shared()
    context = multiprocessing.get_context(method)
    process = context.Process(target=train, args=(model, vector, view))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert model.weight.tolist() == [[-1.0, -1.0]] and model.bias.tolist() == [-1.0]
    assert vector.tolist() == [5.0, 5.0, 9.0] and view.tolist() == [5.0, 9.0]


def test_memory_stays_shared_through_training() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).share_memory()
    optimizer = pullback.optim.Adam(model.parameters())
    for _ in range(2):
        model(pullback.randn(4, 2)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.load_state_dict({name: value + 1 for name, value in model.state_dict().items()})
    members = [*model.parameters(), *model.buffers(), *model.state_dict().values()]
    assert all(member.is_shared() for member in members)
    assert not nn.Linear(1, 1).weight.is_shared()


def test_views_move_with_their_base_and_gradients_stay() -> None:
    base = pullback.arange(6.0).view(2, 3).clone().requires_grad_()
    (base * 2).sum().backward()
    row = base.detach()[1]
    row.share_memory_()
    assert base.is_shared() and row.is_shared() and base.grad.tolist() == [[2.0] * 3] * 2
    row += 10
    np.testing.assert_array_equal(base.detach().numpy(), [[0, 1, 2], [13, 14, 15]])
    assert base.share_memory_() is base and pullback.zeros(0).share_memory_().is_shared()


def test_queues_carry_values() -> None:
    shared = pullback.ones(2).share_memory_()
    queue = multiprocessing.get_context("spawn").Queue()
    queue.put(shared)
    received = queue.get()
    shared += 1
    assert received.tolist() == [1.0, 1.0] and not received.is_shared()
    queue.close()
    queue.join_thread()


def test_a_gradient_can_be_assigned_by_its_inner_name() -> None:
    p = nn.Parameter(pullback.zeros(2))
    p._grad = pullback.ones(2)
    pullback.optim.SGD([p], lr=1.0).step()
    assert p.tolist() == [-1.0, -1.0] and p.grad is p._grad
