"""Every module of nn against torch's: text, state, output and gradients, with the same weights and inputs."""

import inspect
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402
from pullback.nn.modules import INDEX  # noqa: E402

from .compare import describe, parity, same, warns  # noqa: E402

# What a module is made with, as an expression, and what it is called with: the shape of normally distributed numbers
# that require grad, or a kind of number before a shape.
CALLS = {
    "Identity(3, x=4)": [(2, 3)],
    "Linear(3, 4)": [(5, 3)],
    "Linear(3, 4, bias=False)": [(2, 5, 3)],
    "Linear(in_features=3, out_features=1, dtype=t.float64)": [(3,)],
    "Bilinear(2, 3, 4)": [(5, 2), (5, 3)],
    "Bilinear(2, 3, 4, bias=False)": [(5, 2), (5, 3)],
    "Flatten()": [(2, 3, 4)],
    "Flatten(0, 1)": [(2, 3, 4)],
    "Unflatten(1, (3, 4))": [(2, 12)],
    "Unflatten(-1, [2, 2])": [(2, 4)],
    "Embedding(10, 3)": [("under 10", 2, 4)],
    "Embedding(10, 3, padding_idx=-1)": [("under 10", 2, 4)],
    "Embedding(10, 3, padding_idx=0, scale_grad_by_freq=True)": [("pairs", 3, 2)],
    "Embedding(10, 3, max_norm=1.0, norm_type=1.0)": [("under 10", 2, 4)],
    "Embedding.from_pretrained(t.ones(10, 3))": [("under 10", 2, 4)],
    "Embedding.from_pretrained(t.ones(10, 3), freeze=False, padding_idx=2)": [("under 10", 2, 4)],
    "EmbeddingBag(10, 3)": [("under 10", 2, 4)],
    "EmbeddingBag(10, 3, mode='sum', padding_idx=1)": [("under 10", 2, 4)],
    "EmbeddingBag(10, 3, mode='max')": [("under 10", 8), ("offsets", 3)],
    "EmbeddingBag.from_pretrained(t.ones(10, 3), mode='sum')": [("under 10", 2, 4)],
    # Activations
    "CELU()": [(3, 4)],
    "CELU(2.0, True)": [("untracked", 3, 4)],
    "ELU()": [(3, 4)],
    "ELU(0.5, inplace=True)": [("untracked", 3, 4)],
    "GELU()": [(3, 4)],
    "GELU('tanh')": [(3, 4)],
    "GLU()": [(3, 4)],
    "GLU(0)": [(4, 3)],
    "Hardshrink()": [(3, 4)],
    "Hardshrink(0.1)": [(3, 4)],
    "Hardsigmoid()": [("untracked", 3, 4)],
    "Hardsigmoid(inplace=True)": [("untracked", 3, 4)],
    "Hardswish()": [(3, 4)],
    "Hardswish(True)": [("untracked", 3, 4)],
    "Hardtanh()": [(3, 4)],
    "Hardtanh(-0.5, 0.25, True)": [("untracked", 3, 4)],
    "LeakyReLU()": [(3, 4)],
    "LeakyReLU(0.2, True)": [("untracked", 3, 4)],
    "LogSigmoid()": [(3, 4)],
    "LogSoftmax(1)": [(3, 4)],
    "Mish()": [(3, 4)],
    "Mish(True)": [("untracked", 3, 4)],
    "PReLU()": [(3, 4)],
    "PReLU(4, 0.1)": [(3, 4)],
    "RReLU().eval()": [(3, 4)],
    "RReLU(0.1, 0.3, True).eval()": [("untracked", 3, 4)],
    "ReLU()": [(3, 4)],
    "ReLU(True)": [("untracked", 3, 4)],
    "ReLU6()": [(3, 4)],
    "ReLU6(True)": [("untracked", 3, 4)],
    "SELU()": [(3, 4)],
    "SELU(True)": [("untracked", 3, 4)],
    "SiLU()": [(3, 4)],
    "SiLU(True)": [("untracked", 3, 4)],
    "Sigmoid()": [(3, 4)],
    "Softmax(dim=-1)": [(3, 4)],
    "Softmax2d()": [(2, 3, 4, 5)],
    "Softmin(0)": [(3, 4)],
    "Softplus()": [(3, 4)],
    "Softplus(2, 1)": [(3, 4)],
    "Softshrink()": [(3, 4)],
    "Softshrink(0.25)": [(3, 4)],
    "Softsign()": [(3, 4)],
    "Tanh()": [(3, 4)],
    "Tanhshrink()": [(3, 4)],
    "Threshold(0.1, 20)": [(3, 4)],
    "Threshold(0.1, 20.0, True)": [("untracked", 3, 4)],
    # Convolutions
    "Conv1d(4, 6, 3)": [(2, 4, 9)],
    "Conv1d(4, 6, 3, 2, 1, 2, 2, False)": [(2, 4, 9)],
    "Conv1d(4, 6, 4, padding='same', padding_mode='circular')": [(2, 4, 9)],
    "Conv1d(4, 6, 4, padding='valid', padding_mode='circular')": [(2, 4, 9)],
    "Conv1d(4, 6, (3,), padding=(2,), padding_mode='reflect')": [(4, 9)],
    "Conv2d(2, 3, 3)": [(2, 2, 6, 5)],
    "Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)": [(2, 2, 6, 5)],
    "Conv2d(2, 3, (3, 2), padding=(1, 2), padding_mode='replicate', bias=False)": [(2, 2, 6, 5)],
    "Conv2d(2, 3, 3, padding='same')": [(2, 6, 5)],
    "Conv2d(16, 32, 3, padding=1)": [(16, 16, 8, 8)],  # by machine code, where there is some, as the next ones
    "Conv2d(3, 20, (3, 2), stride=(2, 1), dilation=(1, 2), bias=False)": [(8, 3, 24, 25)],
    "Conv3d(2, 3, 2)": [(1, 2, 4, 3, 3)],
    "Conv3d(2, 2, (2, 1, 2), padding=1, groups=2)": [(1, 2, 4, 3, 3)],
    "ConvTranspose1d(4, 6, 3)": [(2, 4, 5)],
    "ConvTranspose1d(4, 6, 3, 2, 1, 1, 2, False, 2)": [(2, 4, 5)],
    "ConvTranspose2d(2, 3, (3, 2), stride=2, padding=1, output_padding=(1, 0))": [(2, 2, 4, 3)],
    "ConvTranspose3d(2, 3, 2, stride=(1, 2, 1))": [(1, 2, 3, 2, 2)],
    # Normalisation
    "BatchNorm1d(4)": [(5, 4)],
    "BatchNorm1d(4, momentum=None)": [(5, 4, 3)],
    "BatchNorm1d(4, affine=False)": [(5, 4)],
    "BatchNorm1d(4, bias=False)": [(5, 4)],
    "BatchNorm1d(4, track_running_stats=False)": [(5, 4)],
    "BatchNorm1d(4).eval()": [(5, 4)],
    "BatchNorm2d(3, eps=1e-3, momentum=0.3)": [(2, 3, 4, 4)],
    "BatchNorm3d(2)": [(2, 2, 2, 3, 2)],
    "InstanceNorm1d(4)": [(5, 4, 3)],
    "InstanceNorm1d(4, affine=True, track_running_stats=True)": [(5, 4, 3)],
    "InstanceNorm1d(4, affine=True, bias=False)": [(4, 3)],
    "InstanceNorm1d(4, track_running_stats=True).eval()": [(5, 4, 3)],
    "InstanceNorm2d(3)": [(3, 4, 4)],
    "InstanceNorm3d(2)": [(2, 2, 2, 3, 2)],
    "LayerNorm(4)": [(5, 4)],
    "LayerNorm([3, 4], eps=1e-3)": [(5, 3, 4)],
    "LayerNorm(4, bias=False)": [(5, 4)],
    "LayerNorm(4, elementwise_affine=False)": [(5, 4)],
    "GroupNorm(2, 4)": [(5, 4, 3)],
    "GroupNorm(2, 4, affine=False)": [(5, 4, 3)],
    "GroupNorm(2, 4, bias=False)": [(4, 4, 2)],
    "RMSNorm(4)": [(5, 4)],
    "RMSNorm((3, 4), eps=1e-2, elementwise_affine=False)": [(5, 3, 4)],
    "LocalResponseNorm(2)": [(2, 4, 3, 3)],
    "LocalResponseNorm(3, 0.1, 0.5, 2.0)": [(2, 4, 3)],
    # Dropout does nothing in evaluation
    **{
        f"{name}(0.3).eval()": [(2, 3, 4, 4)]
        for name in ("Dropout", "Dropout2d", "AlphaDropout", "FeatureAlphaDropout")
    },
    "Dropout(p=1.0)": [(2, 3)],
    "Dropout1d(0.2, True).eval()": [(2, 3, 4)],
    "Dropout3d().eval()": [(2, 3, 2, 2, 2)],
    # Pooling
    "MaxPool1d(3)": [(2, 3, 9)],
    "MaxPool1d(3, stride=2, padding=1, dilation=2, ceil_mode=True)": [(2, 3, 9)],
    "MaxPool2d(2)": [(2, 3, 6, 5)],
    "MaxPool2d((2, 3), (2, 1), return_indices=True)": [(2, 3, 6, 5)],
    "MaxPool2d(2, ceil_mode=True)": [(4, 8, 17, 16)],
    "MaxPool2d(3, 2, 1, return_indices=True)": [(4, 8, 17, 16)],
    "MaxPool3d(2)": [(1, 2, 4, 4, 4)],
    "MaxUnpool1d(2)": [(1, 2, 3), ("indices 1", 1, 2, 3)],
    "MaxUnpool2d(2, stride=2)": [(1, 2, 3, 3), ("indices 2", 1, 2, 3, 3)],
    "MaxUnpool3d(2)": [(1, 1, 2, 2, 2), ("indices 3", 1, 1, 2, 2, 2)],
    "AvgPool1d(3)": [(2, 3, 9)],
    "AvgPool1d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)": [(2, 3, 9)],
    "AvgPool2d(2)": [(2, 3, 6, 5)],
    "AvgPool2d((2, 3), stride=1, divisor_override=5)": [(2, 3, 6, 5)],
    "AvgPool3d(2, padding=1)": [(1, 2, 4, 4, 4)],
    "LPPool1d(2, 3)": [("positive", 2, 3, 9)],
    "LPPool2d(1.5, 2, stride=1)": [("positive", 2, 3, 6, 5)],
    "LPPool3d(2, 2, ceil_mode=True)": [("positive", 1, 2, 4, 3, 4)],
    "AdaptiveAvgPool1d(4)": [(2, 3, 9)],
    "AdaptiveAvgPool2d((None, 2))": [(2, 3, 6, 5)],
    "AdaptiveAvgPool3d(2)": [(1, 2, 4, 4, 4)],
    "AdaptiveMaxPool1d(4)": [(2, 3, 9)],
    "AdaptiveMaxPool2d((3, 2), return_indices=True)": [(2, 3, 6, 5)],
    "AdaptiveMaxPool3d(2)": [(1, 2, 4, 4, 4)],
    "FractionalMaxPool2d(2, output_size=3, _random_samples=t.full((2, 3, 2), 0.4).double())": [(2, 3, 6, 5)],
    "FractionalMaxPool3d(2, output_ratio=0.5, _random_samples=t.full((1, 2, 3), 0.4).double())": [(1, 2, 4, 4, 4)],
    # Padding
    "ConstantPad1d(2, 7.5)": [(2, 3, 4)],
    "ConstantPad2d((1, 0, 2, 1), 7.5)": [(2, 3, 4)],
    "ConstantPad3d(1, 7)": [(2, 3, 2, 2)],
    "ZeroPad1d(2)": [(2, 3, 4)],
    "ZeroPad2d((1, 0, 2, 1))": [(2, 3, 4)],
    "ZeroPad3d(1)": [(2, 3, 2, 2)],
    "ReflectionPad1d((1, 2))": [(2, 3, 4)],
    "ReflectionPad2d(1)": [(2, 3, 4)],
    "ReflectionPad3d(1)": [(1, 2, 3, 2, 2)],
    "ReplicationPad1d(2)": [(2, 3, 4)],
    "ReplicationPad2d((1, 0, 2, 1))": [(2, 3, 4)],
    "ReplicationPad3d(1)": [(1, 2, 3, 2, 2)],
    "CircularPad1d((3, 1))": [(2, 3, 4)],
    "CircularPad2d(1)": [(1, 2, 3, 4)],
    "CircularPad3d(1)": [(1, 2, 3, 2, 2)],
    # Images
    "Upsample(scale_factor=2)": [(1, 2, 3)],
    "Upsample(size=(5, 4), mode='bilinear', align_corners=True)": [(1, 2, 3, 3)],
    "Upsample(scale_factor=(2, 1.5), mode='bicubic')": [(1, 2, 3, 4)],
    "UpsamplingNearest2d(scale_factor=2)": [(1, 2, 3, 3)],
    "UpsamplingBilinear2d((5, 4))": [(1, 2, 3, 3)],
    "PixelShuffle(2)": [(1, 8, 3, 2)],
    "PixelUnshuffle(2)": [(1, 2, 4, 6)],
    "ChannelShuffle(2)": [(1, 4, 2, 2)],
    "Fold((4, 5), 2)": [(1, 8, 12)],
    "Fold((4, 5), (2, 2), padding=1, stride=(2, 1))": [(1, 8, 18)],
    "Unfold(2)": [(1, 2, 4, 5)],
    "Unfold((2, 3), dilation=1, padding=1, stride=2)": [(1, 2, 4, 5)],
    # Distances and losses
    "CosineSimilarity()": [(3, 4), (3, 4)],
    "CosineSimilarity(0, 1e-3)": [(3, 4), (3, 4)],
    "PairwiseDistance()": [(3, 4), (3, 4)],
    "PairwiseDistance(1.5, keepdim=True)": [(3, 4), (3, 4)],
    "L1Loss()": [(3, 4), (3, 4)],
    "L1Loss(reduction='sum')": [(3, 4), (3, 4)],
    "MSELoss(reduction='none')": [(3, 4), (3, 4)],
    "SmoothL1Loss(beta=0.5)": [(3, 4), (3, 4)],
    "HuberLoss('sum', 0.7)": [(3, 4), (3, 4)],
    "NLLLoss()": [(3, 4), ("under 4", 3)],
    "NLLLoss(weight=t.tensor([0.1, 0.2, 0.3, 0.4]).double(), ignore_index=1)": [(3, 4), ("under 4", 3)],
    "CrossEntropyLoss()": [(3, 4), ("under 4", 3)],
    "CrossEntropyLoss(t.tensor([0.1, 0.2, 0.3, 0.4]).double(), label_smoothing=0.1)": [(3, 4, 2), ("under 4", 3, 2)],
    "LinearCrossEntropyLoss(5, 4)": [(3, 5), ("under 4", 3)],
    "LinearCrossEntropyLoss(5, 4, bias=True, reduction='sum')": [(3, 5), ("under 4", 3)],
    "BCELoss()": [("positive", 3, 4), ("positive", 3, 4)],
    "BCELoss(weight=t.tensor([0.1, 0.2, 0.3, 0.4]).double())": [("positive", 3, 4), ("positive", 3, 4)],
    "BCEWithLogitsLoss(pos_weight=t.tensor([0.1, 0.2, 0.3, 0.4]).double())": [(3, 4), ("positive", 3, 4)],
    "KLDivLoss(reduction='batchmean')": [(3, 4), ("positive", 3, 4)],
    "KLDivLoss(reduction='sum', log_target=True)": [(3, 4), (3, 4)],
    "PoissonNLLLoss()": [(3, 4), ("positive", 3, 4)],
    "PoissonNLLLoss(False, True, eps=1e-3)": [("positive", 3, 4), ("positive", 3, 4)],
    "GaussianNLLLoss()": [(3, 4), (3, 4), ("positive", 3, 4)],
    "GaussianNLLLoss(full=True, eps=1e-2, reduction='none')": [(3, 4), (3, 4), ("positive", 3, 1)],
    "HingeEmbeddingLoss(0.5)": [(3, 4), ("signs", 3, 4)],
    "MarginRankingLoss(0.5)": [(3,), (3,), ("signs", 3)],
    "MultiLabelMarginLoss()": [(3, 4), ("under 4", 3, 4)],
    "MultiLabelSoftMarginLoss()": [(3, 4), ("bits", 3, 4)],
    "MultiLabelSoftMarginLoss(t.tensor([0.1, 0.2, 0.3, 0.4]).double())": [(3, 4), ("bits", 3, 4)],
    "MultiMarginLoss()": [(3, 4), ("under 4", 3)],
    "MultiMarginLoss(2, 0.5, t.tensor([0.1, 0.2, 0.3, 0.4]).double())": [(3, 4), ("under 4", 3)],
    "SoftMarginLoss()": [(3, 4), ("signs", 3, 4)],
    "CosineEmbeddingLoss(0.1)": [(3, 4), (3, 4), ("signs", 3)],
    "TripletMarginLoss(swap=True)": [(3, 4), (3, 4), (3, 4)],
    "TripletMarginWithDistanceLoss(margin=0.5)": [(3, 4), (3, 4), (3, 4)],
    "TripletMarginWithDistanceLoss(distance_function=nn.CosineSimilarity())": [(3, 4), (3, 4), (3, 4)],
    "CTCLoss()": [(6, 2, 5), ("labels", 2, 3), ("lengths 6", 2), ("lengths 3", 2)],
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7])": [(5, 8), ("under 10", 5)],
    "AdaptiveLogSoftmaxWithLoss(8, 10, [2, 3, 9], div_value=2, head_bias=True)": [(8,), ("under 10",)],
    # Containers
    "Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))": [(5, 3)],
    "Sequential()": [(5, 3)],
}

KINDS = {
    "positive": lambda rng, *shape: rng.uniform(0.1, 0.9, shape),
    "signs": lambda rng, *shape: rng.choice([-1.0, 1.0], shape),
    "bits": lambda rng, *shape: rng.choice([0.0, 1.0], shape),
    "under 4": lambda rng, *shape: rng.randint(0, 4, shape),
    "under 10": lambda rng, *shape: rng.randint(0, 10, shape),
    "pairs": lambda rng, *shape: np.broadcast_to([0, 7], shape) % np.array([[8], [8], [5]]),
    "labels": lambda rng, *shape: rng.randint(1, 5, shape),
    "lengths 3": lambda rng, *shape: np.full(shape, 3),
    "lengths 6": lambda rng, *shape: np.full(shape, 6),
    "offsets": lambda rng, count: 2 * np.arange(count),
    "indices 1": lambda rng, *shape: np.broadcast_to(2 * np.arange(shape[-1]), shape),
    "indices 2": lambda rng, *shape: np.broadcast_to(2 * np.arange(9).reshape(3, 3), shape),
    "indices 3": lambda rng, *shape: np.broadcast_to(2 * np.arange(8).reshape(2, 2, 2), shape),
    "untracked": lambda rng, *shape: rng.randn(*shape),
}


def inputs(t, specs):
    """The arguments of a call, the same in both libraries."""
    rng = np.random.RandomState(0)
    found = []
    for spec in specs:
        if isinstance(spec[0], str):
            kind, *shape = spec
            found.append(t.tensor(KINDS[kind](rng, *shape)))
        else:
            found.append(t.tensor(rng.randn(*spec), requires_grad=True))
    return found


def made(t, expression):
    """The module that an expression makes, with weights that are the same in both libraries."""
    module = eval(f"nn.{expression}", {"nn": t.nn, "t": t}).double()
    rng = np.random.RandomState(1)
    with t.no_grad():
        for parameter in module.parameters():
            parameter.copy_(t.tensor(rng.uniform(-1, 1, tuple(parameter.shape))))
    return module


def as_tuple(output):
    return output if isinstance(output, tuple) else (output,)


@pytest.mark.parametrize("expression", CALLS)
@parity
def test_calls(t, expression):
    module = made(t, expression)
    given = inputs(t, CALLS[expression])
    outputs = as_tuple(module(*given))
    if outputs[0].requires_grad:
        outputs[0].cos().sum().backward()
    return (
        repr(module),
        [output.detach() for output in outputs],
        [each.grad for each in given if each.requires_grad],
        {name: parameter.grad for name, parameter in module.named_parameters()},
        dict(module.state_dict()),
        {name: (value.requires_grad, str(value.dtype).rpartition(".")[2]) for name, value in module.named_parameters()},
    )


def test_every_module_is_called():
    called = {re.match(r"\w+", expression)[0] for expression in CALLS}
    others = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "SyncBatchNorm"}
    others |= {name for part in ("recurrent", "attention", "transformer", "lazy") for name in INDEX[part].split()}
    uncalled = {*pullback.nn.modules.__places__} - called
    new, needless = sorted(uncalled - others), sorted(others - uncalled)
    assert not new, f"write a call into CALLS for each of {new}; a class that torch lacks goes into `others`"
    assert not needless, f"take {needless} out of `others`: they are called, or gone"


def names_and_defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, getattr(p.default, "__name__", p.default), p.kind) for p in parameters]


# Whose arguments are not compared with torch's; a class that torch lacks belongs here, too
UNCOMPARED = {"LazyModuleMixin", "Sequential"}


@pytest.mark.parametrize("name", sorted({*pullback.nn.modules.__places__} - UNCOMPARED))
def test_constructors_take_torchs_arguments(name):
    ours = names_and_defaults(getattr(pullback.nn, name).__init__)
    assert hasattr(torch.nn, name), f"torch has no {name}: write it into UNCOMPARED"
    theirs = names_and_defaults(getattr(torch.nn, name).__init__)
    passed_on = [kind for *_, kind in theirs if kind == inspect.Parameter.VAR_POSITIONAL]
    assert ours == theirs or (passed_on and (len(ours) == 1 or name in INDEX["recurrent"]))  # all, to the base


@pytest.mark.parametrize(
    "expression",
    [
        "Linear(50, 600)",
        "Bilinear(20, 30, 600)",
        "Conv1d(20, 30, 5, groups=2)",
        "Conv2d(8, 501, 5)",
        "ConvTranspose1d(20, 10, 9)",
        "Embedding(50, 40)",
        "EmbeddingBag(50, 40)",
        "PReLU(3)",
        "BatchNorm1d(4)",
        "LayerNorm((2, 3))",
    ],
)
def test_weights_start_as_torchs_do(expression):
    pullback.manual_seed(0)
    torch.manual_seed(0)
    ours, theirs = (dict(eval(f"t.nn.{expression}", {"t": t}).named_parameters()) for t in (pullback, torch))
    assert ours.keys() == theirs.keys()
    for name, parameter in ours.items():
        a, b = parameter.numpy(force=True).ravel(), theirs[name].numpy(force=True).ravel()
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.std() == 0:
            np.testing.assert_array_equal(a, b)
        elif a.size > 500:
            assert abs(a.mean() - b.mean()) < 8 * a.std() / np.sqrt(a.size)
            assert abs(a.std() / b.std() - 1) < 6 / np.sqrt(a.size)
            assert (np.abs(a).max() < 2 * a.std()) == (np.abs(b).max() < 2 * b.std())  # evenly distributed, or normally


@parity
def test_all_classes_of_the_adaptive_softmax(t):
    module = made(t, "AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7])")
    x = t.tensor(np.random.RandomState(0).randn(5, 8))
    return module.log_prob(x).detach(), module.predict(x)


@parity
def test_output_size_of_a_transposed_convolution(t):
    x = t.tensor(np.random.RandomState(0).randn(1, 2, 3, 3))
    layer = made(t, "ConvTranspose2d(2, 3, 3, stride=2, padding=1)")
    return [layer(x, output_size=size).detach() for size in ([5, 6], [1, 3, 6, 6])]


@parity
def test_batch_normalisation_learns_and_forgets(t):
    layer = t.nn.BatchNorm1d(3).double()
    rng = np.random.RandomState(0)
    for _ in range(3):
        layer(t.tensor(rng.randn(7, 3)))
    learned = {name: value.clone() for name, value in layer.state_dict().items()}
    answer = layer.eval()(t.tensor(rng.randn(2, 3))).detach()
    layer.reset_running_stats()
    return learned, answer, dict(layer.state_dict())


@parity
def test_a_batch_of_which_nothing_counts(t):
    x = t.ones(2, 3, requires_grad=True)
    loss = t.nn.CrossEntropyLoss(ignore_index=1)(x, t.tensor([1, 1]))
    loss.backward()
    norm = t.nn.BatchNorm1d(3)
    norm.running_mean.fill_(2)
    return loss.detach(), x.grad, norm(t.ones(0, 3)).detach(), dict(norm.state_dict())


@parity
def test_old_words_for_the_reduction(t):
    x = t.tensor([1.0, 2.0])
    old = "size_average and reduce args will be deprecated, please use reduction='{}' instead."
    total = warns(UserWarning, old.format("sum"), lambda: t.nn.MSELoss(size_average=False))
    each = warns(UserWarning, old.format("none"), lambda: t.nn.NLLLoss(None, None, -100, False))
    return total.reduction, each.reduction, total(x, x + 1)


def test_layers_of_the_users_own_loss():
    class Loss(pullback.nn.modules.loss._WeightedLoss):
        def forward(self, input, target):
            return (self.weight * (input - target)).sum()

    loss = Loss(pullback.ones(2), reduction="sum")
    assert loss.reduction == "sum" and list(loss.state_dict()) == ["weight"]
    same(describe(loss(pullback.ones(2), pullback.zeros(2)))["values"], np.array(2.0, np.float32), "the loss")


REFUSED = {
    # The settings, and what torch says: pullback says it too, and may say more
    "Bilinear(0, 1, 1)": "in1_features must be > 0, but got (in1_features=0)",
    "Unflatten(1, 3)": "unflattened_size must be a tuple",
    "Unflatten(1, (2, 1.5))": "unflattened_size must be tuple of ints, but found element of type float at pos 1",
    "Embedding(3, 2, padding_idx=3)": "Padding_idx must be within num_embeddings",
    "Embedding(3, 2, _weight=t.ones(2, 2))": "Shape of weight does not match num_embeddings and embedding_dim",
    "Embedding.from_pretrained(t.ones(2))": "Embeddings parameter is expected to be 2-dimensional",
    "Hardtanh(1, 0)": "max_val (0) must be greater than min_val (1)",
    "Conv2d(3, 4, 3, groups=0)": "groups must be a positive integer",
    "Conv2d(3, 4, 3, groups=2)": "in_channels must be divisible by groups",
    "Conv2d(4, 3, 3, groups=2)": "out_channels must be divisible by groups",
    "Conv1d(1, 1, 1, padding='full')": "Invalid padding string 'full'",
    "Conv1d(1, 1, 1, stride=2, padding='same')": "padding='same' is not supported for strided convolutions",
    "Conv1d(1, 1, 1, padding_mode='mirror')": "padding_mode must be one of",
    "ConvTranspose1d(1, 1, 1, padding_mode='reflect')": 'Only "zeros" padding mode is supported for ConvTranspose1d',
    "GroupNorm(2, 3)": "num_channels (3) must be divisible by num_groups (2)",
    "Dropout(1.5)": "dropout probability has to be between 0 and 1, but got 1.5",
    "AlphaDropout(-1)": "dropout probability has to be between 0 and 1, but got -1",
    "FractionalMaxPool2d(2)": "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio",
    "FractionalMaxPool2d(2, 3, 0.5)": "only one of output_size and output_ratio may be specified",
    "FractionalMaxPool3d(2, output_ratio=2)": "output_ratio must be between 0 and 1",
    "HuberLoss(delta='1')": "delta must be a float or int, got",
    "MultiMarginLoss(p=3)": "only p == 1 and p == 2 supported",
    "MultiMarginLoss(weight=t.ones(1, 2))": "MultiMarginLoss: expected weight to be None or 1D tensor, got 2D instead",
    "TripletMarginLoss(margin=0)": "TripletMarginLoss: expected margin to be greater than 0, got 0 instead",
    "TripletMarginWithDistanceLoss(margin=-1)": "expected margin to be greater than 0, got -1 instead",
    "LinearCrossEntropyLoss(2, 3, weight=t.ones(2))": "expected weight shape to be (3,), got (2,)",
    "LinearCrossEntropyLoss(2, 3, label_smoothing=2)": "expected label_smoothing to be in range [0, 1], got 2",
    # The same of calls
    "AdaptiveLogSoftmaxWithLoss(8, 10, [])": "cutoffs should be a sequence of length larger than 0",
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4, 4])": "cutoffs should be a sequence of unique, positive integers sorted",
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4])(t.ones(2, 8), t.tensor([1, 10]))": "Target values should be in [0, 9]",
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4])(t.ones(8), t.tensor([1]))": "should have the same size in the batch",
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4])(t.ones(1), t.tensor([1]))": "1D target tensor expects 2D input tensors",
    "AdaptiveLogSoftmaxWithLoss(8, 10, [4])(t.ones(1, 8), t.tensor([[1]]))": "multi-target not supported",
    "BatchNorm1d(3)(t.ones(2))": "expected 2D or 3D input (got 1D input)",
    "BatchNorm2d(3)(t.ones(2, 3))": "expected 4D input (got 2D input)",
    "InstanceNorm1d(3, affine=True)(t.ones(2, 4, 5))": "expected input's size at dim=1 to match num_features (3)",
    "InstanceNorm2d(3)(t.ones(2, 3))": "expected 3D or 4D input (got 2D input)",
    "Softmax2d()(t.ones(2, 3))": "Softmax2d: expected input to be 3D or 4D, got 2D instead",
    "ConvTranspose1d(1, 1, 3, stride=2)(t.ones(1, 1, 4), output_size=[20])": "requested an output size of [20]",
    "ConvTranspose1d(1, 1, 3)(t.ones(1, 1, 4), output_size=[6, 6])": "ConvTranspose1D: for 3D input, output_size must",
    "Linear(3, 4)(t.ones(2, 5))": "mat1 and mat2 shapes cannot be multiplied",
    "Conv2d(3, 4, 2)(t.ones(1, 2, 5, 5))": "Given groups=1, weight of size [4, 3, 2, 2], expected input[1, 2, 5, 5] to",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals(expression):
    types = []
    for t in (torch, pullback):
        with pytest.raises(Exception, match=re.escape(REFUSED[expression])) as caught:
            eval(f"t.nn.{expression}", {"t": t})
        types.append(caught.type)
    assert types[0] is types[1]


HOLLOW = {
    "of two": ((1, 1, 2, 2), {"kernel_size": 2, "dilation": 3, "padding": 1}),
    "that move": ((2, 1, 3, 4), {"kernel_size": (2, 3), "dilation": (4, 1), "padding": 1, "stride": 1}),
    "beyond the end": ((1, 2, 3, 3), {"kernel_size": 2, "dilation": 4, "padding": 1, "stride": 3, "ceil_mode": True}),
    "of integers": ((1, 1, 2, 2), {"kernel_size": 2, "dilation": 3, "padding": 1, "dtype": "int32"}),
}


def hollow(t, case):
    """Maxima over windows some of which lie wholly in the padding, on both sides of the image."""
    shape, options = HOLLOW[case]
    options = dict(options)
    x = t.arange(float(np.prod(shape))).reshape(shape).to(getattr(t, options.pop("dtype", "float32"))) - 20
    return x, lambda x, **more: t.nn.functional.max_pool2d(x, **options, **more)


@pytest.mark.parametrize("case", HOLLOW)
@parity
def test_windows_without_an_element(t, case):
    x, pool = hollow(t, case)
    return pool(x)


@pytest.mark.parametrize("case", [case for case in HOLLOW if case != "of integers"])
def test_windows_without_an_element_have_no_gradient(case):
    """torch's backward writes outside of its memory there."""
    x, pool = hollow(pullback, case)
    x.requires_grad_()
    y = pool(x)
    (y * pullback.arange(1.0, y.numel() + 1).reshape(y.shape)).nan_to_num(neginf=0.0).sum().backward()
    weights = np.arange(1.0, y.numel() + 1).reshape(y.shape)
    there = np.isfinite(y.detach().numpy())
    assert (~there).sum() > 0
    expected = np.zeros(x.shape, np.float32)
    for place in zip(*np.nonzero(there), strict=True):
        expected[np.asarray(x.detach()) == y.detach().numpy()[place]] += weights[place]
    assert x.grad.tolist() == expected.tolist()
    with pytest.raises(RuntimeError, match="a window has no element of the image"):
        pool(x, return_indices=True)
