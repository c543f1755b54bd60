"""Modules as their users see them: what torch cannot be asked about, and what it does otherwise."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pullback
from pullback import nn


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def same(a, b):
    np.testing.assert_array_equal(a.numpy(force=True), b.numpy(force=True))


def test_the_package_imports_no_modules() -> None:
    program = """
import sys, pullback
pullback.nn.functional
print([name for name in sys.modules if name.startswith("pullback.nn.")])
pullback.nn.Linear
print(sorted(name for name in sys.modules if name.startswith("pullback.nn.modules.")))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    early, late = result.stdout.splitlines()
    assert early == "['pullback.nn.functional', 'pullback.nn.modules']"
    assert "linear" in late and "conv" not in late


def test_every_name_is_found_and_documented() -> None:
    for name in nn.__all__:
        found = getattr(nn, name)
        assert found.__doc__, name
        assert name in dir(nn)
    for name in nn.modules.INDEX:
        assert getattr(nn.modules, name).__name__ == f"pullback.nn.modules.{name}"
    with pytest.raises(AttributeError, match="Missing"):
        nn.Missing
    with pytest.raises(AttributeError, match="Missing"):
        nn.modules.Missing


# Parameters


def test_a_parameter_is_a_plain_tensor_with_a_mark() -> None:
    p = nn.Parameter(pullback.ones(2))
    assert type(p) is pullback.Tensor and isinstance(p, nn.Parameter) and isinstance(p, pullback.Tensor)
    assert not isinstance(p, nn.Buffer) and not isinstance(p + 0, nn.Parameter) and not isinstance(3, nn.Parameter)
    with pullback.no_grad():
        p += 1
    assert isinstance(p, nn.Parameter)


def test_a_class_of_ones_own() -> None:
    class Angle(nn.Parameter):
        def degrees(self):
            return self * (180 / np.pi)

    angle = Angle(pullback.tensor([np.pi, 0.0]))
    module = nn.Module()
    module.angle = angle
    assert type(angle) is Angle and isinstance(angle, nn.Parameter) and not isinstance(nn.Parameter(), Angle)
    angle.degrees().sum().backward()
    same(angle.grad, pullback.full((2,), 180 / np.pi))
    copied = copy.deepcopy(module).angle
    assert type(copied) is Angle and copied.degrees()[0].item() == pytest.approx(180)
    assert type(angle * 2) is pullback.Tensor


def test_parameters_are_leaves_of_the_graph() -> None:
    p = nn.Parameter(pullback.tensor([1.0, 2.0]))
    (p * p).sum().backward()
    same(p.grad, pullback.tensor([2.0, 4.0]))
    assert p.is_leaf and p.grad_fn is None


# Calls


def test_errors_name_the_module_and_the_shapes() -> None:
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Sequential(nn.Conv2d(3, 8, (3, 1))))
    with pytest.raises(RuntimeError, match=re.escape("Linear(784, 512) got (128, 512)")) as caught:
        model(pullback.ones(128, 512))
    assert str(caught.value).count(" got (") == 1
    with pytest.raises(RuntimeError, match=re.escape("Conv2d(3, 8, (3, 1)) got (1, 2, 4, 4)")):
        model[2](pullback.ones(1, 2, 4, 4))
    with pytest.raises(IndexError, match=re.escape("Embedding(3, 2) got (1,)")):
        nn.Embedding(3, 2)(pullback.tensor([7]))
    with pytest.raises(ValueError, match=re.escape("MSELoss() got (2,), (2,)")):
        nn.MSELoss(reduction="average")(pullback.ones(2), pullback.ones(2))


def test_errors_of_the_users_own_modules_stay_as_they_are() -> None:
    class Stop(nn.Module):
        def forward(self, x):
            raise ValueError("stop")

    with pytest.raises(ValueError, match=r"^stop$"):
        nn.Sequential(nn.Identity(), Stop())(pullback.ones(1))


def test_modules_of_modules_of_the_users_own() -> None:
    class Residual(nn.Linear):
        def forward(self, x, *, scale=1.0):
            return x + super().forward(x) * scale

    layer = Residual(2, 2, bias=False)
    x = pullback.ones(1, 2)
    same(layer(x, scale=2.0), x + 2 * x @ layer.weight.T)
    assert repr(layer) == "Residual(in_features=2, out_features=2, bias=False)"


def test_dropout_in_training() -> None:
    pullback.manual_seed(0)
    x = pullback.ones(100, 100, requires_grad=True)
    layer = nn.Dropout(0.25)
    y = layer(x)
    assert set(y.detach().numpy().ravel().tolist()) == {0.0, np.float32(1 / 0.75).item()}
    assert abs((y == 0).float().mean().item() - 0.25) < 0.02
    y.sum().backward()
    same(x.grad, y)
    same(nn.Dropout(0.0)(x), x)
    channels = nn.Dropout2d(0.5)(pullback.ones(50, 20, 3, 3)).flatten(2)
    assert ((channels == 0).all(2) | (channels == 2).all(2)).all()


# State


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = copy.deepcopy(model.state_dict())
    state = {name: value + 1 for name, value in before.items()}
    state["1.bias"] = pullback.ones(3)
    del state["1.running_var"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"1\.running_var"') as caught:
        model.load_state_dict(state)
    assert "size mismatch for 1.bias" in str(caught.value)
    for name, value in model.state_dict().items():
        same(value, before[name])


def test_states_of_numpy_arrays() -> None:
    layer = nn.Linear(2, 1)
    layer.load_state_dict({"weight": np.array([[1.0, 2.0]]), "bias": np.array([3.0], np.float32)})
    same(layer.weight, pullback.tensor([[1.0, 2.0]]))
    same(layer(pullback.ones(2)), pullback.tensor([6.0]))


def test_states_that_would_lose_something() -> None:
    layer = nn.Linear(2, 1, bias=False)
    with pytest.raises(RuntimeError, match="imaginary part would be lost"):
        layer.load_state_dict({"weight": pullback.ones(1, 2) * 1j})
    with pytest.raises(TypeError, match="keys of a state_dict are strings"):
        layer.load_state_dict({3: pullback.ones(1, 2)})


def test_a_state_keeps_the_graph_right() -> None:
    layer = nn.Linear(1, 1, bias=False)
    layer.load_state_dict({"weight": pullback.tensor([[3.0]])})
    y = layer(layer(pullback.tensor([2.0])))
    layer.load_state_dict({"weight": pullback.tensor([[100.0]])})
    y.backward()
    same(layer.weight.grad, pullback.tensor([[12.0]]))


LEAVES = {
    "linear": lambda n: nn.Linear(n, n),
    "norm": nn.BatchNorm1d,
    "parameter": lambda n: nn.Parameter(pullback.randn(n)),
    "buffer": lambda n: nn.Buffer(pullback.randn(n), persistent=n % 2 == 0),
}
TREES = st.recursive(
    st.tuples(st.sampled_from(sorted(LEAVES)), st.integers(1, 3)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
    max_leaves=8,
)


def grown(tree):
    if isinstance(tree, tuple):
        kind, size = tree
        return LEAVES[kind](size)
    module = nn.Module()
    for name, part in tree.items():
        setattr(module, name, grown(part))
    return module


@given(TREES.filter(lambda tree: isinstance(tree, dict)))
def test_any_module_is_saved_loaded_copied_and_pickled(tree) -> None:
    module, other = grown(tree), grown(tree)
    state = module.state_dict()
    other.load_state_dict(state)
    for same_module in (other, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert list(same_module.state_dict()) == list(state)
        assert repr(same_module) == repr(module)
        for name, value in same_module.state_dict().items():
            same(value, state[name])
    for name, parameter in module.named_parameters():
        assert module.get_parameter(name) is parameter
    for name, buffer in module.named_buffers():
        assert module.get_buffer(name) is buffer
    for name, each in module.named_modules():
        assert module.get_submodule(name) is each


# Hooks


def test_what_a_module_writes_to_a_hooked_input_stays_inside() -> None:
    layer = nn.ReLU(inplace=True)
    seen = []
    layer.register_full_backward_hook(lambda module, gi, go: seen.append(gi[0].tolist()))
    x = pullback.tensor([-1.0, 2.0], requires_grad=True) * 1
    y = layer(x)
    same(x, pullback.tensor([-1.0, 2.0]))
    y.sum().backward()
    assert seen == [[0.0, 1.0]]


def test_handles_of_copies_are_their_own() -> None:
    layer = nn.Linear(1, 1)
    calls = []
    handle = layer.register_forward_hook(lambda *args: calls.append(1))
    copied = copy.deepcopy(layer)
    handle.remove()
    layer(pullback.ones(1))
    copied(pullback.ones(1))
    assert calls == [1]


# Functions of modules


def test_functional_call_leaves_the_module_as_it_was() -> None:
    model = net()
    before = dict(model.named_parameters())
    call = pullback.func.functional_call
    for tensors in ({"0.weight": pullback.ones(9, 9)}, {"0.weight": pullback.ones(4, 3), "9.bias": pullback.ones(1)}):
        with pytest.raises((RuntimeError, AttributeError)):
            call(model, tensors, pullback.ones(3))
        assert all(parameter is before[name] for name, parameter in model.named_parameters())
        assert list(before) == [name for name, _ in model.named_parameters()]


def test_gradients_by_the_parameters_of_a_function() -> None:
    model = net().double()
    x = pullback.randn(5, 3).double()
    weights = {name: p.detach() for name, p in model.named_parameters()}
    call = pullback.func.functional_call
    slopes = pullback.func.grad(lambda w: call(model, w, (x,)).square().sum())(weights)
    model(x).square().sum().backward()
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(slopes[name].numpy(), parameter.grad.numpy(), rtol=1e-12)


def test_an_ensemble_at_once() -> None:
    models = [net().double() for _ in range(4)]
    params, buffers = pullback.func.stack_module_state(models)
    x = pullback.randn(5, 3).double()

    def output(params, buffers):
        return pullback.func.functional_call(models[0], (params, buffers), (x,))

    at_once = pullback.func.vmap(output)(params, buffers)
    for row, model in zip(at_once, models, strict=True):
        np.testing.assert_allclose(row.numpy(force=True), model(x).numpy(force=True), rtol=1e-12)


def test_stateless_is_the_old_name() -> None:
    layer = nn.Linear(2, 1)
    tensors = {"weight": pullback.ones(1, 2), "bias": pullback.zeros(1)}
    with pytest.warns(FutureWarning, match="deprecated as of PyTorch 2.0"):
        same(nn.utils.stateless.functional_call(layer, tensors, pullback.ones(2)), pullback.tensor([2.0]))


def test_a_vector_that_does_not_fit_parameters() -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    with pytest.raises(RuntimeError, match=re.escape("a vector of 3 elements is needed")):
        nn.utils.vector_to_parameters(pullback.ones(4), layer.parameters())
    same(layer.weight, before)


# Initial values


@pytest.mark.parametrize(
    ("initialise", "std"),
    [
        (lambda w: nn.init.uniform_(w, -3, 3), 3 / 3**0.5),
        (lambda w: nn.init.normal_(w, 5.0, 2.0) - 5, 2.0),
        (lambda w: nn.init.xavier_uniform_(w, gain=2.0), 2 * (2 / (60 * 9 + 40 * 9)) ** 0.5),
        (nn.init.xavier_normal_, (2 / (60 * 9 + 40 * 9)) ** 0.5),
        (lambda w: nn.init.kaiming_uniform_(w, a=5**0.5), (1 / (3 * 40 * 9)) ** 0.5),
        (lambda w: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), (2 / (60 * 9)) ** 0.5),
        (lambda w: nn.init.trunc_normal_(w, std=2.0, a=-4.0, b=4.0), 2 * 0.879626),  # 2 cut off at 2 sigma
    ],
)
def test_spread_of_initial_values(initialise, std) -> None:
    pullback.manual_seed(1)
    w = nn.Parameter(pullback.empty(60, 40, 3, 3))
    values = initialise(w)
    assert isinstance(w, nn.Parameter) and w.is_leaf and w.grad_fn is None
    assert abs(values.mean().item()) < 5 * std / 60 and values.std().item() == pytest.approx(std, rel=0.02)


def test_structure_of_initial_values() -> None:
    pullback.manual_seed(2)
    for shape in ((5, 3), (3, 5), (4, 2, 3)):
        q = nn.init.orthogonal_(pullback.empty(shape), gain=2.0).reshape(shape[0], -1).double()
        gram = q @ q.T if q.shape[0] < q.shape[1] else q.T @ q
        np.testing.assert_allclose(gram.numpy(), 4 * np.eye(len(gram)), atol=1e-5)
    columns = nn.init.sparse_(pullback.empty(10, 7), sparsity=0.25, std=1.0)
    assert (columns == 0).sum(0).tolist() == [3] * 7
    same(nn.init.eye_(pullback.empty(2, 3)), pullback.eye(2, 3))
    bounded = nn.init.trunc_normal_(pullback.empty(1000), mean=1.0, std=1.0, a=0.5, b=1.5)
    assert 0.5 <= bounded.min().item() < 0.55 and 1.45 < bounded.max().item() <= 1.5
    for layer in (nn.Conv1d(4, 4, 3, padding=1, bias=False), nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)):
        nn.init.dirac_(layer.weight, groups=layer.groups)
        x = pullback.randn(2, 4, *[5] * (layer.weight.ndim - 2))
        same(layer(x), x)


def test_refused_initial_values() -> None:
    for call, error, text in [
        (lambda: nn.init.xavier_uniform_(pullback.ones(3)), ValueError, "fewer than 2 dimensions"),
        (lambda: nn.init.kaiming_normal_(pullback.ones(3, 2), mode="fan"), ValueError, "Mode fan not supported"),
        (lambda: nn.init.eye_(pullback.ones(3)), ValueError, "Only tensors with 2 dimensions are supported"),
        (lambda: nn.init.sparse_(pullback.ones(3), 0.1), ValueError, "Only tensors with 2 dimensions are supported"),
        (lambda: nn.init.dirac_(pullback.ones(3, 2)), ValueError, "Only tensors with 3, 4, or 5 dimensions"),
        (lambda: nn.init.dirac_(pullback.ones(3, 2, 1), groups=2), ValueError, "dim 0 must be divisible by groups"),
        (lambda: nn.init.orthogonal_(pullback.ones(3)), ValueError, "Only tensors with 2 or more dimensions"),
        (lambda: nn.init.calculate_gain("relu7"), ValueError, "Unsupported nonlinearity relu7"),
        (lambda: nn.init.calculate_gain("leaky_relu", True), ValueError, "negative_slope True not a valid number"),
        (lambda: nn.init.ones_([1.0]), TypeError, "must be Tensor, not list"),
    ]:
        with pytest.raises(error, match=text):
            call()
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        nn.init.kaiming_uniform_(pullback.ones(0, 2))
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        nn.init.trunc_normal_(pullback.ones(2), mean=9.0)
    with pytest.warns(FutureWarning, match="nn.init.constant_"):
        same(nn.init.constant(pullback.ones(2), 3.0), pullback.full((2,), 3.0))


def test_initial_values_from_a_generator() -> None:
    a, b = (nn.init.uniform_(pullback.empty(3, 2), generator=pullback.Generator().manual_seed(7)) for _ in range(2))
    same(a, b)
