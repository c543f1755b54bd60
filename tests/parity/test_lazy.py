"""Lazy modules and uninitialized parameters, against torch's."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402
from pullback import nn  # noqa: E402

from .compare import parity, raises  # noqa: E402

LAYERS = {
    "LazyLinear(3)": (4, 2),
    "LazyLinear(3, bias=False, dtype=t.float64)": (2,),
    "LazyConv1d(4, 3)": (2, 5, 8),
    "LazyConv1d(4, 3, 2, 1, 1, 1, False, 'circular')": (5, 8),
    "LazyConv2d(4, (3, 2), padding='same', groups=2)": (2, 6, 5, 4),
    "LazyConv3d(2, 2)": (1, 3, 4, 3, 2),
    "LazyConvTranspose1d(4, 3, stride=2, output_padding=1)": (2, 5, 4),
    "LazyConvTranspose2d(4, 2, 2, 0, 0, 2)": (2, 4, 3, 3),
    "LazyConvTranspose3d(2, 2, bias=False)": (3, 2, 2, 2),
    "LazyBatchNorm1d()": (4, 3),
    "LazyBatchNorm2d(0.1, None, track_running_stats=False)": (2, 3, 4, 4),
    "LazyBatchNorm3d(affine=False)": (2, 3, 2, 2, 2),
    "LazyBatchNorm1d(bias=False)": (2, 3, 4),
    "LazyInstanceNorm1d()": (2, 3, 4),
    "LazyInstanceNorm2d(affine=False)": (2, 3, 4, 4),
    "LazyInstanceNorm3d(momentum=0.5)": (2, 3, 2, 3, 2),
}


@pytest.mark.parametrize("made", LAYERS)
@parity
def test_the_first_call_gives_shapes_and_the_ordinary_class(t, made):
    module = eval(f"t.nn.{made}", {"t": t})
    lazy = [isinstance(p, t.nn.UninitializedParameter) for p in module.parameters()]
    before = [repr(module), list(module.state_dict()), lazy, module.has_uninitialized_params()]
    first = next(module.parameters(), None)
    x = t.ones(LAYERS[made], dtype=t.float32 if first is None else first.dtype)
    module(x)
    rng = np.random.default_rng(0)
    with t.no_grad():
        for parameter in module.parameters():
            parameter.copy_(t.from_numpy(rng.standard_normal(tuple(parameter.shape))))
    x = t.from_numpy(rng.standard_normal(LAYERS[made])).to(x.dtype).requires_grad_()
    out = module(x)
    (out * out).sum().backward()
    after = [type(module).__name__, repr(module), hasattr(module, "_initialize_hook"), len(module._forward_pre_hooks)]
    kinds = [
        isinstance(p, t.nn.Parameter) and not isinstance(p, t.nn.UninitializedParameter) for p in module.parameters()
    ]
    return [
        before,
        after,
        kinds,
        list(module.state_dict()),
        list(module.buffers()),
        out.detach(),
        x.grad,
        [p.grad for p in module.parameters()],
    ]


@parity
def test_start_values_are_those_of_the_ordinary_layer(t):
    layer, norm = t.nn.LazyLinear(50), t.nn.LazyBatchNorm1d()
    norm(layer(t.ones(3, 100)))
    bounded = [0.05 < p.detach().abs().max().item() <= 0.1 for p in layer.parameters()]
    return [bounded, norm.weight, norm.bias, norm.num_batches_tracked, norm.running_var.shape]


@parity
def test_dtypes_change_before_the_first_call(t):
    net = t.nn.Sequential(t.nn.LazyConv2d(4, 3), t.nn.LazyBatchNorm2d(), t.nn.Flatten(), t.nn.LazyLinear(2)).double()
    before = [[p.dtype for p in net.parameters()], [b.dtype for b in net.buffers()]]
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    net(t.ones(2, 3, 5, 5, dtype=t.float64)).sum().backward()
    start = net[3].bias.detach().clone()
    optimizer.step()
    return [before, [p.dtype for p in net.parameters()], start - net[3].bias.detach()]


@parity
def test_an_uninitialized_parameter_refuses_to_be_used(t):
    p = t.nn.UninitializedParameter()
    raises(RuntimeError, "Can't access the shape of an uninitialized parameter or buffer", lambda: p.shape)
    raises(RuntimeError, "Can't share memory on an uninitialized parameter or buffer", p.share_memory_)
    uses = [
        p.sum,
        p.numel,
        p.tolist,
        p.clone,
        lambda: p.fill_(1),
        p.numpy,
    ]
    for use in uses:
        raises(ValueError, "Attempted to use an uninitialized parameter", use)
    kept = copy.deepcopy(p), pickle.loads(pickle.dumps(p))
    listed = [[repr(q), q.dtype, q.requires_grad, q.is_leaf, q.grad] for q in (p, *kept)]
    p.materialize((2, 3), dtype=t.float64)
    with t.no_grad():
        p.fill_(1)
    buffer = t.nn.UninitializedBuffer()
    said = repr(buffer), buffer.requires_grad, isinstance(buffer, t.nn.UninitializedBuffer)
    buffer.materialize((2,))
    return [listed, p, isinstance(p, t.nn.Parameter), said, buffer.shape, buffer.dtype]


@parity
def test_states_give_shapes_and_are_refused_without(t):
    known = t.nn.Linear(2, 3)
    lazy = t.nn.LazyLinear(3)
    raises(RuntimeError, "Can't access the shape", lambda: known.load_state_dict(lazy.state_dict()))
    blank = t.nn.LazyLinear(3)
    answers = [str(blank.load_state_dict(lazy.state_dict())), blank.has_uninitialized_params()]
    for assign in (False, True):
        lazy = t.nn.LazyLinear(3)
        answers += [
            str(lazy.load_state_dict(known.state_dict(), assign=assign)),
            type(lazy).__name__,
            lazy.weight.shape,
        ]
        x = t.ones(4, 2)
        answers += [t.equal(lazy(x), known(x)), repr(lazy), isinstance(lazy.weight, t.nn.Parameter)]
    return answers


@parity
def test_what_does_not_fit_is_refused(t):
    raises(RuntimeError, "input to LazyConv1d, but got input of size", lambda: t.nn.LazyConv1d(3, 2)(t.ones(3)))
    wrong = t.nn.LazyConv1d(4, 2, groups=2)
    raises(ValueError, "in_channels must be divisible by groups", lambda: wrong(t.ones(1, 3, 4)))

    class Forgetful(t.nn.modules.lazy.LazyModuleMixin, t.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = t.nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

        def forward(self, x):
            return x

    raises(RuntimeError, "module Forgetful has not been fully initialized", lambda: Forgetful()(t.ones(2)))

    class Bare(t.nn.modules.lazy.LazyModuleMixin, t.nn.Module):
        pass

    raises(NotImplementedError, "initialize_parameters is not implemented for Bare", lambda: Bare()(t.ones(2)))


def test_a_refused_state_leaves_the_parameters_without_a_shape() -> None:
    lazy = nn.LazyLinear(3)
    with pytest.raises(RuntimeError, match="bias"):
        lazy.load_state_dict({"weight": pullback.ones(3, 2)})
    assert lazy.has_uninitialized_params() and repr(lazy.weight) == "<UninitializedParameter>"


def test_lazy_networks_can_be_copied_and_pickled() -> None:
    net = nn.Sequential(nn.LazyConv1d(2, 3), nn.LazyBatchNorm1d())  # torch cannot copy the uninitialized buffers
    for twin in (copy.deepcopy(net.double()), pickle.loads(pickle.dumps(net))):
        assert twin[0].weight.dtype == twin[1].running_mean.dtype == pullback.float64  # pickled ones lose it in torch
        twin.float()
        assert twin(pullback.ones(2, 4, 5)).shape == (2, 2, 3)
        assert type(twin[1]) is nn.BatchNorm1d
    assert net[0].has_uninitialized_params()
