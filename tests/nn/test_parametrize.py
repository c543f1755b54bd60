"""Parametrized weights: what they are made of, their norms, and taking the parametrization off again."""

import copy
import pickle

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


class Product(nn.Module):
    """Of two factors, from which it is made."""

    def forward(self, a, b):
        return a * b

    def right_inverse(self, x):
        return x / 2, pullback.full_like(x, 2.0)


def layer(*sizes):
    pullback.manual_seed(0)
    return nn.Linear(*sizes).double()


def gradcheck_weight(module, x, *, diagonal=True):
    """The gradients of the originals are those of differences; without their diagonal, where that stands for signs."""
    originals = [p for name, p in module.named_parameters() if "original" in name]

    def loss():
        return module(x).sin().sum()

    loss().backward()
    for original in originals:
        direction = pullback.randn(*original.shape, dtype=pullback.float64)
        if not diagonal:
            direction.fill_diagonal_(0)
        found = []
        for step in (1e-6, -1e-6):
            with pullback.no_grad():
                original.add_(direction, alpha=step)
                found.append(loss().item())
                original.sub_(direction, alpha=step)
        assert (original.grad * direction).sum().item() == pytest.approx(
            (found[0] - found[1]) / 2e-6, rel=1e-6, abs=1e-8
        )


def test_a_symmetric_weight():
    module = layer(3, 3)
    before = module.weight
    parametrize.register_parametrization(module, "weight", Symmetric())
    assert pullback.equal(module.weight, module.weight.mT)
    assert module.parametrizations.weight.original is before
    assert [name for name, _ in module.named_parameters()] == ["bias", "parametrizations.weight.original"]
    assert repr(module).splitlines()[:2] == ["ParametrizedLinear(", "  in_features=3, out_features=3, bias=True"]
    gradcheck_weight(module, pullback.randn(4, 3, dtype=pullback.float64))
    module.weight = pullback.eye(3, dtype=pullback.float64)
    assert pullback.equal(module.weight, pullback.eye(3, dtype=pullback.float64))


def test_several_parametrizations():
    module = layer(3, 3)
    parametrize.register_parametrization(module, "weight", Symmetric())
    once = module.weight
    parametrize.register_parametrization(module, "weight", Doubled())
    assert pullback.equal(module.weight, 2 * once)
    with pytest.raises(RuntimeError, match="parametrization Doubled does not implement right_inverse"):
        module.weight = once
    parametrize.register_parametrization(module, "bias", Doubled())
    assert list(module.parametrizations) == ["weight", "bias"]
    parametrize.remove_parametrizations(module, "weight")
    assert pullback.equal(module.weight, 2 * once) and parametrize.is_parametrized(module, "bias")
    assert type(module).__name__ == "ParametrizedLinear"
    parametrize.remove_parametrizations(module, "bias", leave_parametrized=False)
    assert type(module) is nn.Linear and not hasattr(module, "parametrizations")
    assert isinstance(module.weight, nn.Parameter) and not parametrize.is_parametrized(module)


def test_a_weight_made_of_two():
    module = layer(2, 2)
    before = module.weight.detach().clone()
    parametrize.register_parametrization(module, "weight", Product())
    assert pullback.equal(module.weight, before)
    names = [name for name, _ in module.parametrizations.weight.named_parameters()]
    assert names == ["original0", "original1"]
    gradcheck_weight(module, pullback.randn(4, 2, dtype=pullback.float64))
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    assert pullback.equal(parametrize.remove_parametrizations(module, "weight").weight, before)


def test_cached_weights_are_computed_once():
    calls = []

    class Counted(nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 1

    module = parametrize.register_parametrization(layer(2, 2), "weight", Counted())
    del calls[:]
    with parametrize.cached(), parametrize.cached():
        assert module.weight is module.weight
    assert len(calls) == 1
    assert module.weight is not module.weight and len(calls) == 3


def test_copies_are_of_the_same_kind():
    module = parametrizations.weight_norm(layer(3, 2))
    other = copy.deepcopy(module)
    parametrize.remove_parametrizations(module, "weight")
    assert type(module) is nn.Linear and parametrize.is_parametrized(other, "weight")
    assert pullback.allclose(other.weight, module.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(other)
    third = parametrizations.weight_norm(layer(3, 2))
    third.load_state_dict(other.state_dict())
    assert pullback.equal(third.weight, other.weight)
    assert parametrize.type_before_parametrizations(third) is nn.Linear


def test_transfer():
    source = parametrize.register_parametrization(layer(3, 3), "weight", Symmetric())
    target = parametrize.transfer_parametrizations_and_params(source, nn.Linear(3, 3).double())
    assert pullback.equal(source.weight, target.weight) and parametrize.is_parametrized(target, "weight")


def test_parametrized_recurrent_weights():
    net = nn.LSTM(2, 3).double()
    x = pullback.randn(4, 2, 2, dtype=pullback.float64)
    before = net(x)[0]
    parametrizations.weight_norm(net, "weight_hh_l0")
    np.testing.assert_allclose(net(x)[0].detach().numpy(), before.detach().numpy(), rtol=1e-12)
    gradcheck_weight(nn.Sequential(net, First()), x)


class First(nn.Module):
    def forward(self, pair):
        return pair[0]


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    module = layer(3, 4)
    before = module.weight.detach().clone()
    parametrizations.weight_norm(module, dim=dim)
    np.testing.assert_allclose(module.weight.detach().numpy(), before.numpy(), rtol=1e-13)
    gradcheck_weight(module, pullback.randn(5, 3, dtype=pullback.float64))
    with pytest.warns(FutureWarning, match="is deprecated in favor of"):
        old = nn.utils.weight_norm(layer(3, 4), dim=dim)
    loaded = parametrizations.weight_norm(nn.Linear(3, 4).double(), dim=dim)
    loaded.load_state_dict(old.state_dict())
    np.testing.assert_allclose(loaded.weight.detach().numpy(), before.numpy(), rtol=1e-13)
    x = pullback.randn(5, 3, dtype=pullback.float64)
    old(x).sum().backward()
    assert old.weight_g.grad is not None and old.weight_v.grad is not None
    nn.utils.remove_weight_norm(old)
    assert {name for name, _ in old.named_parameters()} == {"weight", "bias"}
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found in"):
        nn.utils.remove_weight_norm(old)


@pytest.mark.parametrize(
    "make", [lambda: nn.Linear(6, 4), lambda: nn.Conv2d(3, 4, 2), lambda: nn.ConvTranspose1d(3, 4, 2)]
)
def test_spectral_norm(make):
    module = make().double()
    axis = 1 if isinstance(module, nn.ConvTranspose1d) else 0
    weight = module.weight.detach().clone().movedim(axis, 0).flatten(1).numpy()
    ndim = module.weight.ndim
    parametrizations.spectral_norm(module, n_power_iterations=300)
    made = module.weight.detach().movedim(axis, 0).flatten(1).numpy()
    np.testing.assert_allclose(made, weight / np.linalg.norm(weight, 2), rtol=1e-6)
    kept = module.eval().weight
    assert pullback.equal(kept, module.weight)
    for dim, fits in ((-ndim, True), (ndim - 1, True), (-ndim - 1, False), (ndim, False)):
        if fits:
            assert parametrizations.spectral_norm(make(), dim=dim).weight.isfinite().all()
            continue
        with pytest.raises(IndexError, match="Dimension out of range"):
            parametrizations.spectral_norm(make(), dim=dim)
    module = nn.utils.spectral_norm(make().double(), n_power_iterations=2)
    assert {"weight_orig", "weight_u", "weight_v"} <= module.state_dict().keys()
    x = pullback.randn(2, module.weight_orig.shape[0 if axis else 1], *[5] * (module.weight_orig.ndim - 2)).double()
    module(x).sum().backward()
    assert module.weight_orig.grad.abs().max() > 0
    nn.utils.remove_spectral_norm(module)
    assert "weight_orig" not in module.state_dict()


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal(kind, sizes, trivial):
    module = parametrizations.orthogonal(layer(*sizes), orthogonal_map=kind, use_trivialization=trivial)
    q = module.weight.detach().numpy()
    q = q if q.shape[0] >= q.shape[1] else q.T
    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-13)
    if kind != "householder" or trivial:
        gradcheck_weight(module, pullback.randn(2, sizes[0]).double(), diagonal=kind != "householder")
    if trivial:
        wanted = np.linalg.qr(np.random.RandomState(0).randn(*q.shape))[0]
        wanted = wanted if module.weight.shape == wanted.shape else wanted.T
        module.weight = pullback.tensor(wanted)
        np.testing.assert_allclose(np.abs(module.weight.detach().numpy()), np.abs(wanted), atol=1e-12)


def test_refusals():
    module = layer(3, 2)
    for call, wording in {
        lambda: parametrize.register_parametrization(module, "mass", Doubled()): "with name 'mass'",
        lambda: parametrize.remove_parametrizations(module, "weight"): "does not have a parametrization on weight",
        lambda: parametrize.register_parametrization(module, "weight", nn.Flatten(0)): "may not change the shape",
        lambda: parametrizations.orthogonal(module, "bias"): "Expected a matrix or batch of matrices",
        lambda: parametrizations.orthogonal(module, orthogonal_map="x"): "orthogonal_map has to be one of",
        lambda: parametrizations.spectral_norm(module, "mass"): "has no parameter or buffer with name 'mass'",
        lambda: parametrizations.spectral_norm(module, n_power_iterations=0): "to be positive",
    }.items():
        with pytest.raises(ValueError, match=wording):
            call()
    assert type(module) is nn.Linear and {name for name, _ in module.named_parameters()} == {"weight", "bias"}


@pytest.mark.parametrize("transpose", [False, True])
def test_fusion(transpose):
    conv = (nn.ConvTranspose2d if transpose else nn.Conv2d)(2, 3, 2).double().eval()
    bn = nn.BatchNorm2d(3).double()
    x = pullback.randn(4, 2, 5, 5, dtype=pullback.float64)
    bn(conv(x))
    bn.eval()
    fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
    np.testing.assert_allclose(fused(x).detach().numpy(), bn(conv(x)).detach().numpy(), rtol=1e-10, atol=1e-12)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(conv.train(), bn)
    linear, bn = layer(3, 4).eval(), nn.BatchNorm1d(4).double()
    x = pullback.randn(6, 3, dtype=pullback.float64)
    bn(linear(x))
    bn.eval()
    fused = nn.utils.fuse_linear_bn_eval(linear, bn)
    np.testing.assert_allclose(fused(x).detach().numpy(), bn(linear(x)).detach().numpy(), rtol=1e-10, atol=1e-12)
