"""Attention of several heads and transformers against torch's: text, state, output, gradients and refusals."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import normal_leaf, parity, raises  # noqa: E402


def made(t, expression):
    """A module with weights that are the same in both libraries."""
    module = eval(f"nn.{expression}", {"nn": t.nn, "t": t}).double()
    rng = np.random.RandomState(1)
    with t.no_grad():
        for parameter in module.parameters():
            parameter.copy_(t.tensor(rng.uniform(-0.6, 0.6, tuple(parameter.shape))))
    return module


def answers(module, result, given):
    """What a call of a module gives, and the gradients of all that it was made of."""
    tensors = [each for each in (result if isinstance(result, tuple) else (result,)) if each is not None]
    sum((index + 1) * each.cos().sum() for index, each in enumerate(tensors)).backward()
    return (
        repr(module),
        [each.detach() for each in tensors],
        [each.grad for each in given],
        {name: parameter.grad for name, parameter in module.named_parameters()},
        dict(module.state_dict()),
    )


ATTENTION = [
    "MultiheadAttention(8, 2)",
    "MultiheadAttention(8, 4, bias=False, batch_first=True)",
    "MultiheadAttention(8, 2, kdim=8, vdim=8, add_bias_kv=True)",
    "MultiheadAttention(8, 1, add_zero_attn=True, batch_first=True)",
    "MultiheadAttention(8, 2, 0.5, add_bias_kv=True, add_zero_attn=True).eval()",
]

CALLS = {
    "plain": lambda t: {},
    "each head": lambda t: {"average_attn_weights": False},
    "no weights": lambda t: {"need_weights": False},
    "mask": lambda t: {"attn_mask": t.tensor(np.eye(5, 4) > 0)},
    "added": lambda t: {"attn_mask": normal_leaf(t, 5, 4, seed=3).detach(), "need_weights": False},
    "padding": lambda t: {"key_padding_mask": t.tensor([[False, True, False, False], [False, False, False, True]])},
    "both": lambda t: CALLS["mask"](t) | CALLS["padding"](t),
}


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("expression", ATTENTION)
@parity
def test_attention(t, expression, how):
    module = made(t, expression)
    shapes = [(5, 2, 8), (4, 2, 8), (4, 2, 8)]
    given = [normal_leaf(t, *shape, seed=seed) for seed, shape in enumerate(shapes)]
    turned = [each.transpose(0, 1) if module.batch_first else each for each in given]
    return answers(module, module(*turned, **CALLS[how](t)), given)


@parity
def test_attention_with_other_sizes(t):
    module = made(t, "MultiheadAttention(8, 2, kdim=3, vdim=5)")
    given = [normal_leaf(t, 5, 8), normal_leaf(t, 4, 3), normal_leaf(t, 4, 5)]
    return answers(module, module(*given), given)


@parity
def test_attention_to_itself(t):
    module, x = made(t, "MultiheadAttention(8, 2, batch_first=True)"), normal_leaf(t, 3, 5, 8)
    heads = t.tensor(np.tril(np.ones((6, 5, 5))) == 0)
    return answers(module, module(x, x, x, attn_mask=heads), [x])


def closed(t):
    """A mask that leaves one query no key."""
    return t.tensor((np.arange(20).reshape(4, 5) % 3 > 0) & (np.arange(4) != 2)[:, None])


WEIGHED = {
    "no mask": ((2, 3, 4, 6), (2, 3, 5, 6), lambda t: {}),
    "causal": ((2, 3, 5, 6), (2, 3, 5, 6), lambda t: {"is_causal": True}),
    "causal, more keys": ((2, 3, 6), (2, 5, 6), lambda t: {"is_causal": True, "scale": 0.3}),
    "added": ((2, 3, 4, 6), (2, 3, 5, 6), lambda t: {"attn_mask": normal_leaf(t, 4, 5, seed=3)}),
    "added to each": ((2, 3, 4, 6), (2, 3, 5, 6), lambda t: {"attn_mask": normal_leaf(t, 2, 1, 1, 5, seed=3)}),
    "a query without keys": ((2, 3, 4, 6), (2, 3, 5, 6), lambda t: {"attn_mask": closed(t)}),
    "no key": ((3, 4, 6), (3, 5, 6), lambda t: {"attn_mask": t.zeros(4, 5, dtype=t.bool)}),
    "other batches": ((3, 4, 6), (1, 5, 6), lambda t: {}),
    "many heads": ((3, 4, 150, 4), (3, 4, 160, 4), lambda t: {"attn_mask": normal_leaf(t, 3, 1, 150, 160).detach()}),
    "long sequences": ((1, 2, 420, 4), (1, 2, 400, 4), lambda t: {"attn_mask": normal_leaf(t, 420, 400).detach()}),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("how", WEIGHED)
@parity
def test_values_weighed(t, how, turned):
    """Results and gradients, of arrays as they lie and of ones whose steps come before their heads."""
    queries, keys, options = WEIGHED[how]
    given = [normal_leaf(t, *shape, seed=seed) for seed, shape in enumerate((queries, keys, keys))]
    parts = [(x.transpose(-3, -2) * 1).transpose(-3, -2) if turned else x for x in given]
    options = options(t)
    mask = options.get("attn_mask")
    inputs = [*given, mask] if mask is not None and mask.requires_grad else given
    result = t.nn.functional.scaled_dot_product_attention(*parts, **options)
    return result.detach(), *t.autograd.grad(result.sin().sum(), inputs)


@parity
def test_values_weighed_by_large_scores(t):
    given = [normal_leaf(t, 3, 2, 4, 6, seed=seed).detach() for seed in range(3)]
    return [t.nn.functional.scaled_dot_product_attention(*given, scale=scale) for scale in (20.0, 300.0, 1e5)]


@pytest.mark.parametrize("how", ["no mask", "causal", "added", "added to each", "a query without keys"])
@parity
def test_second_derivatives_of_values_weighed(t, how):
    queries, keys, options = WEIGHED[how]
    given = [normal_leaf(t, *shape, seed=seed) for seed, shape in enumerate((queries, keys, keys))]
    options = options(t)
    mask = options.get("attn_mask")
    inputs = [*given, mask] if mask is not None and mask.requires_grad else given
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # torch's other one has no second
        result = t.nn.functional.scaled_dot_product_attention(*given, **options)
    first = t.autograd.grad(result.sin().sum(), inputs, create_graph=True)
    return [g.detach() for g in first], list(t.autograd.grad(sum(g.cos().sum() for g in first), inputs))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_values_weighed_in_lower_precision(dtype):
    """Halves are weighed in single precision; the gradients have the dtype of what they are for."""
    arrays = [np.random.RandomState(seed).randn(2, 7, 4).astype(dtype) for seed in range(3)]
    found = []
    for wide in (False, True):
        given = [pullback.tensor(a.astype("float64") if wide else a, requires_grad=True) for a in arrays]
        result = pullback.nn.functional.scaled_dot_product_attention(*given, is_causal=True)
        found.append([result.detach(), *pullback.autograd.grad(result.sum(), given)])
    for narrow, exact in zip(*found, strict=True):
        assert narrow.numpy().dtype == dtype
        np.testing.assert_allclose(narrow.numpy(), exact.numpy(), rtol=0, atol=4 * np.finfo(dtype).eps)


LAYERS = [
    "TransformerEncoderLayer(8, 2, 16, 0.0)",
    "TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu', norm_first=True)",
    "TransformerEncoderLayer(8, 2, 16, 0.0, t.tanh, batch_first=True, bias=False)",
    "TransformerEncoderLayer(8, 2, 16, 0.0, nn.SiLU(), layer_norm_eps=1e-3)",
    "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2, enable_nested_tensor=False)",
    "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2, nn.LayerNorm(8))",
]


@pytest.mark.parametrize("masked", ["nothing", "causal", "padding", "both"])
@pytest.mark.parametrize("expression", LAYERS)
@parity
def test_encoders(t, expression, masked):
    module = made(t, expression)
    x = normal_leaf(t, 3, 5, 8)
    turned = x if "batch_first" in expression else x.transpose(0, 1)
    options = {}
    if masked in ("causal", "both"):
        options["mask" if "Encoder(" in expression else "src_mask"] = t.tensor(np.tril(np.ones((5, 5))) == 0)
        options["is_causal"] = masked == "causal"
    if masked in ("padding", "both"):
        options["src_key_padding_mask"] = t.tensor(np.arange(5) >= np.array([[5], [3], [4]]))
    return answers(module, module(turned, **options), [x])


@pytest.mark.parametrize(
    "expression",
    [
        "TransformerDecoderLayer(8, 2, 16, 0.0)",
        "TransformerDecoderLayer(8, 4, 16, 0.0, 'gelu', norm_first=True, batch_first=True)",
        "TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2, nn.LayerNorm(8))",
    ],
)
@pytest.mark.parametrize("masked", [False, True])
@parity
def test_decoders(t, expression, masked):
    module, x, memory = made(t, expression), normal_leaf(t, 5, 5, 8), normal_leaf(t, 5, 5, 8, seed=1)
    options = {}
    if masked:
        mask = t.nn.Transformer.generate_square_subsequent_mask(5).double()
        options = {"tgt_mask": mask, "tgt_is_causal": True, "memory_mask": t.tensor(np.eye(5) > 0)}
        options["memory_key_padding_mask"] = t.tensor(np.arange(5) >= np.array([[5], [3], [4], [5], [3]]))
    return answers(module, module(x, memory, **options), [x, memory])


# Without biases, two decoder layers turn one ulp in the weights into 15 in a gradient: too many to compare libraries by.
DEEP = ["2, 16, 0.0", "2, 16, 0.0, batch_first=True, norm_first=True, activation='gelu'", "1, 16, 0.0, bias=False"]


@pytest.mark.parametrize("settings", DEEP)
@parity
def test_transformers(t, settings):
    module = made(t, f"Transformer(8, 2, 1, {settings})")
    src, tgt = normal_leaf(t, 4, 4, 8), normal_leaf(t, 4, 4, 8, seed=1)
    mask = t.nn.Transformer.generate_square_subsequent_mask(4, dtype=t.float64)
    padding = t.tensor(np.arange(4) >= np.array([[4], [3], [4], [2]]))
    result = module(src, tgt, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    return answers(module, result, [src, tgt])


@parity
def test_second_derivatives(t):
    module, x = made(t, "TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu')"), normal_leaf(t, 3, 2, 4)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # torch's other one has no second
        loss = module(x, src_mask=t.tensor(np.eye(3) > 1)).sin().sum()
    inputs = [x, *module.parameters()]
    first = t.autograd.grad(loss, inputs, create_graph=True)
    second = t.autograd.grad(sum(g.cos().sum() for g in first), inputs)
    return [g.detach() for g in first], list(second)


@parity
def test_masks(t):
    return [
        t.nn.Transformer.generate_square_subsequent_mask(n, dtype=d) for n, d in ((3, None), (0, None), (2, t.float64))
    ]


def test_layers_of_an_encoder_start_alike_and_apart():
    encoder = pullback.nn.TransformerEncoder(pullback.nn.TransformerEncoderLayer(8, 2, 16), 2)
    first, second = (layer.linear1.weight for layer in encoder.layers)
    assert pullback.equal(first, second) and first is not second


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("expression", ["MultiheadAttention(24, 4, add_bias_kv=True)", "Transformer(24, 4, 1, 1, 48)"])
def test_weights_start_as_torchs_do(expression):
    ours, theirs = (dict(eval(f"t.nn.{expression}", {"t": t}).named_parameters()) for t in (pullback, torch))
    assert ours.keys() == theirs.keys()
    for name, parameter in ours.items():
        a, b = parameter.detach().numpy().ravel(), theirs[name].detach().numpy().ravel()
        assert a.shape == b.shape and (a.std() == b.std() == 0 or a.size < 500 or abs(a.std() / b.std() - 1) < 0.2)


REFUSED = {
    "MultiheadAttention(7, 2)": (AssertionError, "embed_dim must be divisible by num_heads"),
    "MultiheadAttention(0, 2)": (
        ValueError,
        "embed_dim and num_heads must be greater than 0, got embed_dim=0 and num_heads=2",
    ),
    "MultiheadAttention(8, 2)(x, x, x, is_causal=True)": (
        RuntimeError,
        "Need attn_mask if specifying the is_causal hint",
    ),
    "MultiheadAttention(6, 2)(x, x, x)": (AssertionError, "was expecting embedding dimension of 6, but got 8"),
    "MultiheadAttention(8, 2)(x, x, x, attn_mask=t.ones(2, 2))": (
        RuntimeError,
        "The shape of the 2D attn_mask is",
    ),
    "TransformerEncoderLayer(8, 2, activation='tanh')": (RuntimeError, "activation should be relu/gelu, not tanh"),
    "Transformer(8, 2, 1, 1, 8)(x, t.ones(4, 3, 8))": (RuntimeError, "the batch number of src and tgt must be equal"),
    "Transformer(8, 2, 1, 1, 8)(x, t.ones(4, 2, 6))": (
        RuntimeError,
        "the feature number of src and tgt must be equal to d_model",
    ),
}


@pytest.mark.parametrize("expression", REFUSED)
@parity
def test_refusals(t, expression):
    raises(*REFUSED[expression], lambda: eval(f"t.nn.{expression}", {"t": t, "x": t.ones(4, 2, 8)}))
