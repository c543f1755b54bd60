"""Modules as their users see them: what torch cannot be asked about, and what it does otherwise."""

import copy
import pickle
import re
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

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
print(sorted(name for name in sys.modules if name.startswith("pullback.nn.")))
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


def test_a_module_with_a_hook_sees_the_memory_of_its_input_and_must_not_write_to_it() -> None:
    """As in torch 2.13: what is passed in and out of the hooks' nodes is a view."""
    layer = nn.ReLU()
    seen: list[pullback.Tensor] = []
    layer.register_forward_hook(lambda module, args, result: seen.append(args[0]))
    layer.register_full_backward_hook(lambda module, gi, go: seen.append(gi[0]))
    x = pullback.tensor([-1.0, 2.0], requires_grad=True) * 1
    y = layer(x)
    assert seen[0]._base is x
    assert seen[0].data_ptr() == x.data_ptr()
    for hooked in (seen[0], y):
        with pytest.raises(
            RuntimeError, match="Output 0 of BackwardHookFunction is a view and is being modified inplace"
        ):
            hooked.add_(1)
    y.sum().backward()
    same(seen[1], pullback.tensor([0.0, 1.0]))
    layer.inplace = True
    with pytest.raises(RuntimeError, match="is being modified inplace"):
        layer(x)
    same(x, pullback.tensor([-1.0, 2.0]))
    x.add_(1)
    same(seen[0], pullback.tensor([0.0, 3.0]))
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified"):
        seen[0].sum().backward()


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


def test_hooks_see_what_is_registered_and_may_replace_it() -> None:
    from pullback.nn.modules import module as everywhere

    seen = []

    def note(module, name, value):
        seen.append((type(module).__name__, name, type(value).__name__))

    with (
        everywhere.register_module_parameter_registration_hook(note),
        everywhere.register_module_buffer_registration_hook(note),
        everywhere.register_module_module_registration_hook(note),
    ):
        model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1, affine=False))
        model[0].bias = None
        model[1].running_var = pullback.zeros(1)
        model.add_module("last", None)
    assert seen == [
        ("Linear", "weight", "Tensor"),
        *[("BatchNorm1d", name, "Tensor") for name in ("running_mean", "running_var", "num_batches_tracked")],
        ("Sequential", "0", "Linear"),
        ("Sequential", "1", "BatchNorm1d"),
        ("BatchNorm1d", "running_var", "Tensor"),
        ("Sequential", "last", "NoneType"),
    ]
    with everywhere.register_module_module_registration_hook(lambda module, name, child: nn.Sigmoid()):
        assert isinstance(nn.Sequential(nn.Tanh())[0], nn.Sigmoid)
    assert isinstance(nn.Sequential(nn.Tanh())[0], nn.Tanh)


def test_what_is_applied_in_place_counts_as_a_write() -> None:
    model = nn.Linear(2, 1)
    weight, version = model.weight, model.weight._version
    square = (weight * weight).sum()
    before = weight.tolist()[0]
    model._apply(lambda t: t.add_(1.0))
    assert model.weight is weight
    assert weight._version > version
    square.backward()
    assert weight.grad.tolist()[0] == pytest.approx([2 * value for value in before])


def test_what_to_does_not_take() -> None:
    model = nn.Linear(2, 1)
    with pytest.raises(RuntimeError, match="does not accept copy argument"):
        model.to("cpu", copy=True)
    for args in [("cpu", True), (None, True), (True,)]:
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            model.to(*args)
    assert model.to("cpu", None, True) is model.to(pullback.float64, True)
    assert model.weight.dtype == pullback.float64


def test_a_module_whose_weights_are_not_drawn() -> None:
    assert [tuple(p.shape) for p in nn.utils.skip_init(nn.Linear, 2, 3, device="cpu").parameters()] == [(3, 2), (3,)]
    with pytest.raises(RuntimeError, match="Expected a Module"):
        nn.utils.skip_init(int)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions_by_name(dims: int) -> None:
    rng = np.random.default_rng(dims)
    x = pullback.from_numpy(rng.random((2, 4) + (5,) * dims)).requires_grad_()
    w = pullback.from_numpy(rng.random((6, 2) + (3,) * dims)).requires_grad_()
    options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
    y = getattr(nn.functional, f"conv{dims}d")(x, w, None, *options.values())
    g = pullback.from_numpy(rng.random(y.shape))
    by_input, by_weight = (getattr(nn.grad, f"conv{dims}d_{name}") for name in ("input", "weight"))
    expected = pullback.autograd.grad(y, (x, w), g)
    found = by_input(x.shape, w, g, **options), by_weight(x, w.shape, g, **options)
    for a, b in zip(found, expected, strict=True):
        assert pullback.allclose(a, b)
        assert a.requires_grad
    assert not by_input(x.shape, w.detach(), g, **options).requires_grad
    w = w.detach()[:, :1].repeat(1, 4, *[1] * dims).requires_grad_()
    y = getattr(nn.functional, f"conv{dims}d")(x, w)
    plain = by_input(x.shape, w, pullback.ones_like(y)), by_weight(x, w.shape, pullback.ones_like(y))
    for a, b in zip(plain, pullback.autograd.grad(y.sum(), (x, w)), strict=True):
        assert pullback.allclose(a, b)


def test_named_tuples_stay_named_through_backward_hooks() -> None:
    class Pair(NamedTuple):
        first: object
        second: object

    class Both(nn.Module):
        def forward(self, x):
            return Pair(x * 2, x + 1)

    model, seen = Both(), []
    model.register_full_backward_hook(lambda module, given, taken: seen.append(len(taken)))
    x = pullback.ones(2, requires_grad=True)
    result = model(x)
    assert type(result) is Pair
    result.first.sum().backward()
    assert (x.grad.tolist(), seen) == ([2, 2], [2])


def test_tables_of_whole_numbers_and_padding() -> None:
    whole = pullback.arange(6, dtype=pullback.int8).reshape(3, 2)
    assert nn.Embedding.from_pretrained(whole)(pullback.tensor([2])).tolist() == [[4, 5]]
    with pytest.raises(RuntimeError, match="floating point and complex"):
        nn.Embedding.from_pretrained(whole, freeze=False)
    bag = nn.EmbeddingBag.from_pretrained(pullback.ones(3, 2), True, None, 2.0, False, "sum", False, True, 1)
    assert (bag.mode, bag.include_last_offset, bag.padding_idx) == ("sum", True, 1)
    w = pullback.ones(3, 2, dtype=pullback.float64, requires_grad=True)
    y = nn.functional.embedding(pullback.tensor([0, 1, 0, 0]), w, padding_idx=1, scale_grad_by_freq=True)
    g = pullback.ones(4, 2, dtype=pullback.float64)
    g[1] = float("nan")
    assert pullback.autograd.grad(y, w, g)[0].tolist() == [[1, 1], [0, 0], [0, 0]]
    for args, text in [
        ((pullback.tensor([[1, 3]]), w), "Index 1 of input takes value 3 which is not in the valid range [0, 3)"),
        ((pullback.tensor([[1, 2]]), w, None, None, 2, False, "sum", False, whole[:1]), "to have the same type as"),
    ]:
        with pytest.raises(RuntimeError, match=re.escape(text)):
            nn.functional.embedding_bag(*args)
    with pytest.raises(RuntimeError, match="within the number of embeddings, -3 through 2, but got 3"):
        nn.functional.embedding_bag(pullback.tensor([[1, 2]]), w, padding_idx=3)
    first = nn.functional.embedding_bag(pullback.tensor([[0, 2]]), w * pullback.arange(3.0)[:, None], padding_idx=-3)
    assert first.tolist() == [[2, 2]]  # the mean of one


def test_samples_of_fractional_poolings_are_checked() -> None:
    x = pullback.rand(2, 3, 7, 7)
    for shape, text in [
        ((2, 3), "to have 3 dimensions, got 2"),
        ((1, 3, 2), "no less then input batch size"),
        ((2, 1, 2), "equals to input channel size"),
        ((2, 3, 3), "equals to 2; got 3"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            nn.functional.fractional_max_pool2d(x, 2, 3, _random_samples=pullback.rand(*shape))
    with pytest.raises(RuntimeError, match="same dtype as input"):
        nn.functional.fractional_max_pool2d(x, 2, 3, _random_samples=pullback.rand(2, 3, 2).double())
    for name in ("kernel_size", "output_size", "output_ratio"):
        given = {"kernel_size": 2, "output_size": None, "output_ratio": None, "return_indices": False, name: (1,)}
        with pytest.raises(RuntimeError, match=f"{name} must either be a single Int or tuple of Ints"):
            nn.functional.fractional_max_pool2d(x, **(given | ({"output_size": 3} if name == "kernel_size" else {})))
    assert nn.functional.fractional_max_pool2d(x, 2, (0, 1)).shape == (2, 3, 0, 1)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        nn.functional.adaptive_avg_pool1d(pullback.ones(1, 4, dtype=pullback.int64), 2)


def test_groups_of_one_number_have_no_deviation() -> None:
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.GroupNorm(4, 4)(pullback.rand(1, 4))
    assert nn.GroupNorm(4, 4)(pullback.rand(2, 4)).shape == (2, 4)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_layers_without_a_batch_have_gradients(name: str) -> None:
    x = pullback.zeros(5, 0, 3, requires_grad=True)
    model = getattr(nn, name)(3, 4, 2, bidirectional=True)
    model(x)[0].sum().backward()
    assert x.grad.shape == (5, 0, 3)
    assert model.weight_ih_l0.grad.tolist() == pullback.zeros_like(model.weight_ih_l0).tolist()


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grids_may_hold_what_is_no_number(padding: str) -> None:
    grid = pullback.tensor([[[[float("nan"), 0.0], [0.0, float("inf")]]]])
    found = nn.functional.grid_sample(pullback.zeros(1, 1, 3, 3), grid, "nearest", padding, align_corners=False)
    assert found.tolist() == [[[[0, 0]]]]


class Point(nn.Parameter):
    """A parameter on a manifold, made as torch's packages make their own kinds."""

    def __new__(cls, data, requires_grad=True):
        return pullback.Tensor._make_subclass(cls, data, requires_grad)


@pytest.mark.parametrize("made", [Point, lambda data: data.as_subclass(Point), lambda data: copy.deepcopy(Point(data))])
def test_a_parameter_of_a_class_of_its_own_is_registered_however_it_was_made(made):
    m = nn.Linear(2, 1)
    m.point = made(pullback.ones(2))
    assert isinstance(m.point, Point) and isinstance(m.point, nn.Parameter) and not isinstance(m.weight, Point)
    assert [name for name, _ in m.named_parameters()] == ["weight", "bias", "point"]
    assert [*m.state_dict()] == ["weight", "bias", "point"]
    m.register_parameter("other", Point(pullback.zeros(3)))
    m.load_state_dict({name: value + 1 for name, value in m.state_dict().items()})
    assert m.point.tolist() == [2, 2] and m.other.tolist() == [1, 1, 1]
    optimizer = pullback.optim.SGD(m.parameters(), lr=1.0)
    m.other.sum().backward()
    optimizer.step()
    assert m.other.tolist() == [0, 0, 0] and type(m.other) is Point


def test_the_mean_of_weighted_huber_losses_is_over_all_elements() -> None:
    """(1 * 0.5 * 1 ** 2 + 3 * 0.5 * 2 ** 2) / 2; the other losses with weights divide by 4, the sum of the weights."""
    x, weight = pullback.tensor([1.0, 2.0]), pullback.tensor([1.0, 3.0])
    losses = nn.functional
    assert losses.huber_loss(x, x * 0, delta=5.0, weight=weight).item() == 3.25
    assert losses.mse_loss(x, x * 0, weight=weight).item() == 3.25
    assert losses.l1_loss(x, x * 0, weight=weight).item() == 1.75


def test_a_projection_is_smaller_than_the_hidden_state():
    with pytest.raises(ValueError, match="proj_size has to be smaller than hidden_size"):
        nn.LSTM(3, 4, proj_size=4)
    assert nn.LSTM(3, 4, proj_size=3)(pullback.ones(2, 1, 3))[0].shape == (2, 1, 3)


@pytest.mark.parametrize("shape", [(1, 3, 4), (2, 2, 4), (1, 2, 5)], ids=["batch", "layers", "size"])
def test_a_hidden_state_has_the_layers_the_batch_and_the_size(shape):
    layer, x, state = nn.GRU(3, 4), pullback.ones(2, 2, 3), pullback.ones(shape)
    calls = [
        lambda: layer(x, state),
        lambda: pullback.gru(x, state, layer._flat_weights, True, 1, 0.0, False, False, False),
    ]
    for call in calls:
        with pytest.raises(
            RuntimeError, match=rf"Expected hidden size \(1, .*, 4\), got \[{', '.join(map(str, shape))}\]"
        ):
            call()


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_a_hook_where_no_input_has_a_gradient_returns_none_for_all():
    def pulled(answer):
        layer = nn.Linear(3, 2)
        layer.register_full_backward_hook(lambda module, inputs, outputs: answer)
        layer(pullback.ones(1, 3)).sum().backward()

    pulled(None)
    pulled((None,))
    for answer in (pullback.ones(1, 3), (pullback.ones(1, 3),)):
        with pytest.raises(RuntimeError, match="should always return None"):
            pulled(answer)


def test_of_an_exception_hears_only_the_hook_that_is_always_called_and_once():
    heard, layer = [], nn.Linear(3, 2)

    def fails(module, given, result):
        heard.append("fails")
        raise ArithmeticError

    layer.register_forward_hook(lambda *_: heard.append("before"), always_call=True)
    layer.register_forward_hook(fails)
    layer.register_forward_hook(lambda *_: heard.append("plain"))
    layer.register_forward_hook(lambda *_: heard.append("always"), always_call=True)
    with pytest.raises(ArithmeticError):
        layer(pullback.ones(1, 3))
    assert heard == ["before", "fails", "always"]


def test_a_grid_has_as_many_pictures_as_matrices():
    theta = pullback.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]).repeat(2, 1, 1)
    grid = nn.functional.affine_grid(theta, (2, 3, 4, 5), align_corners=True)
    assert grid.shape == (2, 4, 5, 2)
    assert grid[1, 0, 0].tolist() == [-1.0, -1.0] and grid[1, -1, -1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("scores", "target"), [((2, 3, 4), (2,)), ((2, 3, 4), (2, 3)), ((2, 3, 4, 5), (2, 4)), ((2, 3), (2, 1))]
)
def test_classes_have_the_axes_of_the_scores_but_their_own(scores, target):
    with pytest.raises(RuntimeError, match=r"Expected target size|0D or 1D target tensor expected"):
        nn.functional.cross_entropy(pullback.ones(scores), pullback.zeros(target, dtype=pullback.int64))


def test_a_list_shows_neighbours_that_are_alike_once():
    shown = "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Linear(in_features=1, out_features=2, bias=True)\n)"
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 2)])) == shown


SIZES = {
    nn.Linear: "in_features out_features",
    nn.LazyLinear: "out_features",
    nn.Bilinear: "in1_features in2_features out_features",
    nn.Conv1d: "in_channels out_channels kernel_size",
    nn.Conv2d: "in_channels out_channels kernel_size",
    nn.ConvTranspose3d: "in_channels out_channels kernel_size",
    nn.LazyConv2d: "out_channels kernel_size",
    nn.Embedding: "num_embeddings embedding_dim",
    nn.EmbeddingBag: "num_embeddings embedding_dim",
    nn.BatchNorm1d: "num_features",
    nn.InstanceNorm2d: "num_features",
    nn.LayerNorm: "normalized_shape",
    nn.RMSNorm: "normalized_shape",
    nn.GroupNorm: "num_groups num_channels",
    nn.PReLU: "num_parameters",
    nn.LSTMCell: "input_size hidden_size",
    nn.GRUCell: "input_size hidden_size",
    nn.TransformerEncoderLayer: "d_model nhead dim_feedforward",
    nn.TransformerDecoderLayer: "d_model nhead dim_feedforward",
}


@pytest.mark.parametrize(
    ("value", "error"), [(3.5, TypeError), ("4", TypeError), (True, TypeError), (None, TypeError), (-4, RuntimeError)]
)
@pytest.mark.parametrize(("layer", "name"), [(layer, name) for layer, names in SIZES.items() for name in names.split()])
def test_a_size_that_is_none_is_refused_by_the_names_of_layer_and_argument(
    layer: Any, name: str, value: object, error: type[Exception]
) -> None:
    good: dict[str, Any] = dict.fromkeys(SIZES[layer].split(), 4)
    assert isinstance(layer(**good), layer) and isinstance(layer(**good | {name: np.int64(4)}), layer)
    with pytest.raises(error) as raised:
        layer(**good | {name: value})
    assert str(raised.value).startswith(f"{layer.__name__}: {name} must be an int")
    assert str(raised.value).endswith(f": {value!r}")


def test_sizes_along_several_axes_and_other_integers_of_layers_are_named() -> None:
    for make, message in {
        lambda: nn.Conv2d(1, 2, (3, 2.5)): r"Conv2d: kernel_size must be ints, not a float: \(3, 2.5\)",  # type: ignore[arg-type]
        lambda: nn.Conv2d(1, 2, 3, stride=1.5): "Conv2d: stride must be an int, not a float: 1.5",  # type: ignore[arg-type]
        lambda: nn.LayerNorm([3, 2.5]): r"LayerNorm: normalized_shape must be ints, not a float: \[3, 2.5\]",  # type: ignore[list-item]
        lambda: nn.PixelShuffle(2.5): "PixelShuffle: upscale_factor must be an int, not a float: 2.5",  # type: ignore[arg-type]
        lambda: nn.ChannelShuffle(1.5): "ChannelShuffle: groups must be an int, not a float: 1.5",  # type: ignore[arg-type]
    }.items():
        with pytest.raises(TypeError, match=f"^{message}$"):
            make()
    with pytest.raises(RuntimeError, match=r"^GroupNorm: num_groups must be an int of at least 1: 0$"):
        nn.GroupNorm(0, 4)


def test_a_state_of_before_batches_were_counted_leaves_the_count():
    norm, older = nn.BatchNorm1d(2), nn.BatchNorm1d(2).state_dict()
    norm(pullback.ones(3, 2))
    del older["num_batches_tracked"]
    older._metadata[""]["version"] = 1
    norm.load_state_dict(older)
    assert norm.num_batches_tracked == 1 and norm.running_mean.tolist() == [0, 0]


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("kind", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
def test_a_transformer_layer_adds_its_parts_with_a_normalization_each(kind, norm_first):
    layer = kind(4, 2, 8, 0.0, batch_first=True, norm_first=norm_first).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    x, memory = pullback.randn(2, 3, 4, dtype=pullback.float64), pullback.randn(2, 5, 4, dtype=pullback.float64)
    parts = [lambda y: layer.self_attn(y, y, y)[0], lambda y: layer.linear2(layer.linear1(y).relu())]
    given = [x]
    if kind is nn.TransformerDecoderLayer:
        parts.insert(1, lambda y: layer.multihead_attn(y, memory, memory)[0])
        given.append(memory)
    expected = x
    for number, part in enumerate(parts, 1):
        norm = getattr(layer, f"norm{number}")
        expected = expected + part(norm(expected)) if norm_first else norm(expected + part(expected))
    np.testing.assert_allclose(layer(*given).detach(), expected.detach(), rtol=1e-10)


def lstm_by_hand(x, h, c, w_input, w_state, bias, w_out=None):
    """One step of an LSTM, in NumPy."""
    i, f, g, o = np.split(x @ w_input.T + h @ w_state.T + bias, 4, axis=-1)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    h = o * np.tanh(c)
    return h if w_out is None else h @ w_out.T


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("proj", [0, 2])
def test_an_lstm_adds_both_biases_if_it_has_some(bias, proj):
    layer = nn.LSTM(3, 4, bias=bias, proj_size=proj)
    x = pullback.randn(1, 5, 3)
    state = pullback.randn(1, 5, proj or 4), pullback.randn(1, 5, 4)
    arrays = {name: value.numpy(force=True).astype(float) for name, value in layer.named_parameters()}
    biases = arrays["bias_ih_l0"] + arrays["bias_hh_l0"] if bias else 0.0
    given = [each.numpy(force=True)[0].astype(float) for each in (x, *state)]
    wanted = lstm_by_hand(*given, arrays["weight_ih_l0"], arrays["weight_hh_l0"], biases, arrays.get("weight_hr_l0"))
    np.testing.assert_allclose(layer(x, state)[0].numpy(force=True)[0], wanted, rtol=1e-4, atol=1e-5)


def test_a_step_with_a_state_of_another_batch_is_refused():
    weights = pullback.ones(4, 3), pullback.ones(4, 4)
    with pytest.raises(RuntimeError, match="Input batch size 2 doesn't match hidden0 batch size 5"):
        pullback.rnn_tanh_cell(pullback.ones(2, 3), pullback.ones(5, 4), *weights)


def test_fractional_pooling_takes_a_size_or_a_ratio():
    x = pullback.randn(1, 1, 6, 6)
    assert nn.FractionalMaxPool2d(2, output_size=3)(x).shape == nn.FractionalMaxPool2d(2, output_ratio=0.5)(x).shape
    with pytest.raises(ValueError, match="requires specifying either an output size, or a pooling ratio"):
        nn.FractionalMaxPool2d(2)
    with pytest.raises(ValueError, match="only one of output_size and output_ratio may be specified"):
        nn.FractionalMaxPool2d(2, output_size=3, output_ratio=0.5)


@pytest.mark.parametrize("inplace", [False, True])
def test_alpha_dropout_moves_to_the_saturation_of_selu(inplace):
    p, low = 0.25, -1.7580993408473766
    scale = 1 / np.sqrt((low**2 * p + 1) * (1 - p))
    shift = -scale * p * low
    x = pullback.full((1000,), 3.0)
    y = nn.functional.alpha_dropout(x, p, training=True, inplace=inplace)
    assert (y is x) == inplace and (inplace or x.eq(3).all())
    wanted = np.where(y.numpy() > 0, 3 * scale + shift, low * scale + shift)
    np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-5)
    assert 150 < (y.numpy() < 0).sum() < 350
    assert nn.functional.alpha_dropout(pullback.ones(4), 1.0, training=True).tolist() == [0.0] * 4
    for same_as in ({"training": False}, {"p": 0.0, "training": True}):
        assert nn.functional.alpha_dropout(x, **same_as) is x


def test_padding_by_what_is_there_takes_no_value():
    x = pullback.tensor([[1.0, 2.0, 3.0]])
    pad = nn.functional.pad
    assert (
        pad(x, (1, 0), mode="reflect", value=0.0).tolist()
        == pad(x, (1, 0), mode="reflect").tolist()
        == [[2.0, 1.0, 2.0, 3.0]]
    )
    with pytest.raises(RuntimeError, match="doesn't take in value argument"):
        pad(x, (1, 0), mode="reflect", value=1.0)
    with pytest.raises(NotImplementedError, match="Unrecognised padding mode mirror"):
        pad(x, (1, 0), mode="mirror")
    assert pad(x, (1, 0)).tolist() == [[0.0, 1.0, 2.0, 3.0]] and pad(x, (0, 1), value=5.0).tolist() == [
        [1.0, 2.0, 3.0, 5.0]
    ]
    with pytest.raises(NotImplementedError, match="Padding size 2 is not supported for 1D input"):
        pad(x[0], (1, 0), mode="replicate")
    assert pad(x[None], (1, 0), mode="replicate").shape == (1, 1, 4)
    assert pad(pullback.ones(1, 1, 2, 2, 2), (1,) * 6, mode="replicate").shape == (1, 1, 4, 4, 4)
    with pytest.raises(NotImplementedError, match="Padding size 8 is not supported"):
        pad(pullback.ones(1, 1, 2, 2, 2, 2), (1,) * 8, mode="replicate")
