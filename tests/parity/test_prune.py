"""nn.utils.prune against torch's."""

import copy
import importlib
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")


import pullback  # noqa: E402
from pullback import nn  # noqa: E402
from pullback.nn.utils import prune  # noqa: E402

from .compare import parity, raises  # noqa: E402


def filled(t, module, seed=0):
    """A module with the same weights in both libraries."""
    rng = np.random.default_rng(seed)
    for parameter in module.parameters():
        parameter.data = t.from_numpy(rng.standard_normal(tuple(parameter.shape)).astype(np.float32))
    return module


def described(module):
    hooks = list(module._forward_pre_hooks.values())
    methods = [[type(m).__name__ for m in (hook if hasattr(hook, "add_pruning_method") else [hook])] for hook in hooks]
    return [methods, sorted(module.state_dict().items()), sorted(name for name, _ in module.named_parameters())]


@parity
def test_pruned_layers_compute_and_learn_with_their_zeros(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    layer = filled(t, t.nn.Linear(4, 5))
    answers = [prune.l1_unstructured(layer, "weight", amount=0.3) is layer, described(layer)]
    x = t.arange(8.0).view(2, 4)
    out = layer(x)
    out.sum().backward()
    answers += [out, layer.weight, layer.weight_orig.grad]
    t.optim.SGD(layer.parameters(), lr=0.1).step()
    answers.append(layer(x))
    prune.l1_unstructured(layer, "bias", 2)
    answers += [described(layer), prune.is_pruned(layer)]
    prune.remove(layer, "weight")
    answers += [described(layer), layer.weight, isinstance(layer.weight, t.nn.Parameter)]
    prune.remove(layer, "bias")
    return [*answers, described(layer), prune.is_pruned(layer)]


@parity
def test_pruning_again_looks_at_what_is_left(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    layer = filled(t, t.nn.Linear(6, 5))
    answers = []
    prune.l1_unstructured(layer, "weight", amount=4)
    prune.l1_unstructured(layer, "weight", amount=0.2)
    answers.append(described(layer))
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    answers.append(described(layer))
    prune.ln_structured(layer, "weight", amount=0.4, n=1, dim=-1)
    answers.append(described(layer))
    prune.custom_from_mask(layer, "weight", mask=t.tensor([0, 1, 1, 1, 1, 1]).expand(5, 6))
    container = next(iter(layer._forward_pre_hooks.values()))
    return [*answers, described(layer), len(container), type(container[0]).__name__]


@parity
def test_slices_of_convolutions(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    layer = filled(t, t.nn.Conv2d(2, 4, 3))
    prune.ln_structured(layer, "weight", 0.5, n=float("inf"), dim=0)
    answers = [described(layer), layer(t.ones(1, 2, 4, 4))]
    prune.random_structured(layer, "weight", 1, dim=1)
    answers.append(layer.weight_mask.sum())
    prune.random_unstructured(layer, "weight", 1.0)
    return [*answers, layer.weight_mask.sum(), prune.identity(t.nn.Linear(2, 2), "bias").bias_mask]


@parity
def test_several_parameters_as_one(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    a, b = filled(t, t.nn.Linear(3, 4)), filled(t, t.nn.Linear(4, 2), seed=1)
    prune.l1_unstructured(a, "weight", amount=2)
    places = [(a, "weight"), (b, "weight"), (b, "bias")]
    prune.global_unstructured(places, pruning_method=prune.L1Unstructured, amount=0.4)
    answers = [described(a), described(b)]
    scores = {(b, "weight"): t.arange(8.0).view(2, 4)}
    prune.global_unstructured([(b, "weight")], prune.L1Unstructured, importance_scores=scores, amount=1)
    return [*answers, described(b), prune.is_pruned(t.nn.Sequential(t.nn.ReLU(), a))]


@parity
def test_methods_prune_tensors(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    x = t.tensor([[3.0, -1.0], [2.0, 0.5]])
    answers = [prune.L1Unstructured(amount=2).prune(x), prune.LnStructured(1, 2, dim=0).prune(x)]
    answers.append(prune.L1Unstructured(1).prune(x, importance_scores=-x.abs()))
    answers.append(prune.RandomStructured(amount=1, dim=0).prune(t.ones(3, 2)).sum())
    return [*answers, prune.L1Unstructured(1).prune(x, default_mask=t.tensor([[1.0, 0.0], [1.0, 1.0]]))]


@parity
def test_what_cannot_be_pruned_is_refused(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")
    layer = filled(t, t.nn.Linear(2, 2))

    def l1(amount, name="weight", **options):
        return lambda: prune.l1_unstructured(layer, name, amount=amount, **options)

    raises(ValueError, "amount=-1 should either be a float in the range [0, 1] or a non-negative integer", l1(-1))
    raises(ValueError, "amount=1.5 should either be a float in the range", l1(1.5))
    raises(ValueError, "amount=50 should be smaller than the number of parameters to prune=4", l1(50))
    raises(TypeError, "Invalid type for amount: a. Must be int or float.", l1("a"))
    raises(AttributeError, "'Linear' object has no attribute 'missing'", l1(1, "missing"))
    raises(AssertionError, "importance_scores should have the same shape", l1(1, importance_scores=t.ones(3)))
    structured = "Structured pruning can only be applied to multidimensional tensors."
    raises(ValueError, structured, lambda: prune.ln_structured(layer, "bias", amount=1, n=2, dim=0))
    raises(IndexError, "Invalid index 4 for tensor of size", lambda: prune.ln_structured(layer, "weight", 1, 2, 4))
    raises(AssertionError, "shape", lambda: prune.custom_from_mask(layer, "weight", t.ones(3)))
    raises(ValueError, "has to be pruned before pruning can be removed", lambda: prune.remove(layer, "weight"))
    raises(TypeError, "parameters is not an Iterable", lambda: prune.global_unstructured(3, prune.L1Unstructured))
    pairs = [(layer, "weight")]
    several = lambda: prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=2)
    raises(TypeError, 'Only "unstructured" PRUNING_TYPE supported', several)
    listed = lambda: prune.global_unstructured(pairs, prune.L1Unstructured, importance_scores=[1], amount=1)
    raises(TypeError, "importance_scores must be of type dict", listed)
    return described(layer)


@parity
def test_a_method_of_ones_own(t):
    prune = importlib.import_module(f"{t.__name__}.nn.utils.prune")

    class Checkered(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    class Odd(Checkered):
        PRUNING_TYPE = "odd"

    layer = filled(t, t.nn.Linear(4, 2))
    Checkered.apply(layer, "weight")
    Checkered.apply(layer, "weight")
    container = next(iter(layer._forward_pre_hooks.values()))
    other = prune.Identity.apply(layer, "bias")
    raises(
        ValueError,
        "Can only add pruning methods acting on the parameter named 'weight'",
        lambda: container.add_pruning_method(other),
    )
    raises(TypeError, "is not a BasePruningMethod subclass", lambda: container.add_pruning_method(3))
    mask = layer.weight_mask
    raises(ValueError, "Unrecognized PRUNING_TYPE odd", lambda: Odd.apply(layer, "weight"))
    return mask


def test_pruned_layers_can_be_saved_and_pickled() -> None:
    layer = prune.l1_unstructured(nn.Linear(3, 2), "weight", amount=3)
    twin = prune.identity(nn.Linear(3, 2), "weight")
    twin.load_state_dict(copy.deepcopy(layer.state_dict()))
    pickled = pickle.loads(pickle.dumps(layer))
    x = pullback.ones(1, 3)
    assert pullback.equal(twin(x), layer(x)) and pullback.equal(pickled(x), layer(x))


def test_a_refusal_leaves_what_was_pruned_before() -> None:
    layer = prune.l1_unstructured(nn.Linear(3, 2), "weight", amount=3)
    (container,) = layer._forward_pre_hooks.values()
    before = layer.weight_mask.clone()
    with pytest.raises(ValueError, match="should be smaller"):
        prune.l1_unstructured(layer, "weight", amount=9)
    assert list(layer._forward_pre_hooks.values()) == [container] and pullback.equal(layer.weight_mask, before)
    prune.l1_unstructured(layer, "weight", amount=1)
    (container,) = layer._forward_pre_hooks.values()
    assert len(container) == 2 and int(layer.weight_mask.sum()) == 2
    with pytest.raises(ValueError, match="should be smaller"):
        prune.l1_unstructured(layer, "weight", amount=9)
    assert len(container) == 2 and int(prune.remove(layer, "weight").weight.count_nonzero()) == 2
