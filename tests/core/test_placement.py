"""The device meta: a label of tensors that are made in its block."""

import copy
import threading

import pytest

import pullback as pb


def test_tensors_made_in_its_block_are_on_meta_and_their_results_are_not() -> None:
    with pb.device("meta"):
        made = [pb.ones(2), pb.zeros(2, 2), pb.arange(3), pb.tensor([1.0]), pb.randn(3), pb.empty(1)]
        layer = pb.nn.Linear(2, 3)
        parameter = pb.nn.Parameter(pb.ones(2))
        with pb.device("meta"):
            made.append(pb.ones(1))
        made.append(pb.full((2,), 3.0))
    assert all(tensor.device == pb.device("meta") and tensor.is_meta for tensor in made)
    assert {parameter.device.type for parameter in layer.parameters()} == {"meta"}
    assert parameter.is_meta
    assert not pb.ones(1).is_meta
    x = made[0]
    for result in (x + 1, pb.empty_like(x, device="cpu"), x.sum(), layer(pb.ones(1, 2))):
        assert not result.is_meta
        assert result.device == "cpu"


def test_the_numbers_are_those_of_the_cpu() -> None:
    with pb.device("meta"):
        x = pb.arange(3.0).requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 4.0]
    assert copy.deepcopy(x).tolist() == [0.0, 1.0, 2.0]


def test_it_ends_with_an_exception_and_belongs_to_its_thread() -> None:
    seen = []
    with pytest.raises(KeyError), pb.device("meta"):
        thread = threading.Thread(target=lambda: seen.append(pb.ones(1).is_meta))
        thread.start()
        thread.join()
        raise KeyError
    assert seen == [False]
    assert not pb.ones(1).is_meta


def test_compiled_functions_are_not_kept_from_it() -> None:
    double = pb.compile(lambda x: x * 2)
    with pb.device("meta"):
        x = pb.ones(3)
        assert double(x).tolist() == [2.0] * 3
    assert double(x).tolist() == [2.0] * 3


def test_other_devices_are_refused_as_ever() -> None:
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"), pb.device("cuda"):
        pass
    with pytest.raises(RuntimeError, match="there is no device 'meta'"):
        pb.ones(2, device="meta")


def test_cuda_takes_devices_of_cuda_alone() -> None:
    x = pb.ones(2)
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device: this is 'cpu'"):
        x.cuda("cpu")
    for device in (None, 0, "cuda:1"):
        with pytest.raises(RuntimeError, match="there is no device 'cuda"):
            x.cuda(device)


def test_what_is_moved_to_it_is_a_copy_that_tells_so() -> None:
    x = pb.ones(2, requires_grad=True)
    moved = x.to("meta")
    assert (moved.device.type, x.device.type) == ("meta", "cpu")
    assert moved.to("meta") is moved
    moved.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]
    assert pb.ones(2).to(pb.device("meta"), pb.float64).dtype == pb.float64
    layer = pb.nn.Linear(2, 2)
    template = copy.deepcopy(layer).to("meta")
    assert {each.device.type for each in template.parameters()} == {"meta"}
    assert not layer.weight.is_meta
    values = {"weight": pb.ones(2, 2), "bias": pb.zeros(2)}
    assert pb.func.functional_call(template, values, (pb.ones(1, 2),)).tolist() == [[2.0, 2.0]]
    assert not template.to_empty(device="cpu").weight.is_meta
    with pytest.raises(RuntimeError, match="computes on the CPU"):
        layer.to("cuda")


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.cpu(), lambda x: x.to("cpu"), lambda x: x.to(device=pb.device("cpu"), dtype=pb.float64),
        lambda x: x.to(pb.ones(1)), lambda x: x.type_as(pb.ones(1)),
    ],
)  # fmt: skip
def test_there_is_no_way_back_from_meta(move):
    with pytest.raises(NotImplementedError, match=r"Cannot copy out of meta tensor; no data! .*to_empty"):
        move(pb.ones(2).to("meta"))
    assert move(pb.ones(2)).tolist() == [1.0, 1.0]
    assert pb.ones(2).to(pb.ones(1, dtype=pb.float64).to("meta")).is_meta
    layer = pb.nn.Linear(2, 2)
    assert layer.cpu().to("cpu") is layer
    for back in (lambda: layer.to("cpu"), layer.cpu):
        layer.to("meta")
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            back()
    assert not layer.to_empty(device="cpu").cpu().weight.is_meta


def test_cpu_takes_a_memory_format():
    x = pb.ones(1, 2, 3, 3)
    assert x.cpu(memory_format=pb.preserve_format) is x
    with pytest.raises(TypeError, match="memory_format"):
        x.cpu(memory_format="channels_last")
