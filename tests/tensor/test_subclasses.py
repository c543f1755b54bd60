"""Classes derived from Tensor: what is computed from their tensors has the class, as torch 2.13 does it."""

import copy
import pickle

import numpy as np
import pytest

import pullback
from pullback import nn


class Metres(pullback.Tensor):
    """Lengths."""

    def feet(self) -> "pullback.Tensor":
        return self / 0.3048


class Depths(Metres):
    """Lengths below a surface."""


class Seconds(pullback.Tensor):
    """Times."""


def metres(*numbers: float) -> pullback.Tensor:
    return pullback.tensor([*numbers]).as_subclass(Metres)


HEIRS = {
    "a method": lambda x: x.sin(),
    "an operator": lambda x: x + 1,
    "a reflected operator": lambda x: 1 - x,
    "after a plain tensor": lambda x: pullback.ones(3) * x,
    "a function": pullback.exp,
    "a view": lambda x: x.view(3, 1),
    "an element": lambda x: x[0],
    "a mask": lambda x: x > 1,
    "a reduction": lambda x: x.sum(),
    "one of several results": lambda x: x.max(0).values,
    "pieces": lambda x: x.unbind()[2],
    "one of a list": lambda x: pullback.cat([pullback.ones(1), x]),
    "a dtype": lambda x: x.double(),
    "a layer": nn.Linear(3, 2),
    "a loss": lambda x: nn.functional.mse_loss(x, pullback.zeros(3)),
    "NumPy's function": np.sqrt,
    "einsum": lambda x: pullback.einsum("i,i->", x, x),
    "detached": lambda x: x.detach(),
    "tracked": lambda x: x.requires_grad_() * 2,
}


@pytest.mark.parametrize("name", HEIRS)
def test_results_have_the_class_of_the_arguments(name):
    function = HEIRS[name]
    with pullback.no_grad() if name != "tracked" else pullback.enable_grad():
        found = function(metres(1.0, 2.0, 4.0))
        plain = function(pullback.tensor([1.0, 2.0, 4.0]))
    assert type(found) is Metres
    assert type(plain) is pullback.Tensor
    np.testing.assert_array_equal(found.detach().numpy(), plain.detach().numpy())
    assert (found.requires_grad, found.shape, found.dtype) == (plain.requires_grad, plain.shape, plain.dtype)


def test_the_class_is_the_one_that_is_derived_from_the_others():
    x, depths, times = metres(1.0), metres(2.0).as_subclass(Depths), metres(3.0).as_subclass(Seconds)
    assert type(x + depths) is type(depths + x) is Depths
    assert type(x * times) is pullback.Tensor  # torch refuses it
    assert metres(3.048).add(0).feet().tolist() == pytest.approx([10])


def test_the_text_has_the_name_of_the_class():
    assert repr(metres(1.0, 2.0).requires_grad_()) == "Metres([1., 2.], requires_grad=True)"
    assert repr(nn.Parameter(pullback.ones(1))).splitlines()[1] == "tensor([1.], requires_grad=True)"


def test_gradients_are_plain_tensors():
    x = metres(1.0, 2.0).requires_grad_()
    w = pullback.ones(2, requires_grad=True)
    loss = (x * x * w).sum()
    assert type(loss) is Metres
    loss.backward(create_graph=True)
    assert type(x.grad) is type(w.grad) is pullback.Tensor
    assert (x.grad.tolist(), w.grad.tolist()) == ([2.0, 4.0], [1.0, 4.0])
    (second,) = pullback.autograd.grad(x.grad.sum(), x)
    assert second.tolist() == [2.0, 2.0]


def test_writes_keep_the_class_of_their_target():
    x, plain = metres(1.0, 2.0), pullback.ones(2)
    x += 1
    plain += x
    plain[0] = x[1]
    assert (type(x), type(plain)) == (Metres, pullback.Tensor)
    assert (x.tolist(), plain.tolist()) == ([2.0, 3.0], [3.0, 4.0])


def test_results_of_parameters_are_plain_tensors():
    class Weight(nn.Parameter):
        pass

    for parameter in (nn.Parameter(pullback.ones(2)), Weight(pullback.ones(2))):
        assert type(parameter * 2) is type(parameter[0]) is type(parameter.view(2, 1)) is pullback.Tensor


def test_a_class_may_refuse_to_be_inherited():
    def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    class Marked(pullback.Tensor):
        __torch_function__ = _disabled_torch_function_impl

    assert type(pullback.ones(2).as_subclass(Marked) + 1) is pullback.Tensor


def test_results_are_copied_and_pickled_with_their_class():
    x = metres(1.0, 2.0) * 2
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(again) is Metres
        assert again.tolist() == [2.0, 4.0]


def test_transforms_and_compile_take_them():
    x = metres(1.0, 2.0)

    def energy(x):
        return (x**3).sum()

    assert pullback.func.grad(energy)(x).tolist() == [3.0, 12.0]
    assert pullback.func.vmap(lambda row: row * 2)(x).tolist() == [2.0, 4.0]
    with pytest.warns(UserWarning, match="uncompiled: the function returns a tensor of the class Metres"):
        found = pullback.compile(energy)(x)
    assert found.item() == 9.0
    assert type(found) is type(x)
