"""RNN, LSTM, GRU, their cells, and packed sequences against torch's: text, state, output, gradients and refusals."""

import contextlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import describe, normal_leaf, parity, raises, same, warns  # noqa: E402

MODULES = [
    "RNN(3, 4)",
    "RNN(3, 4, 2, 'relu', bidirectional=True)",
    "RNN(3, 4, nonlinearity='relu', bias=False, batch_first=True)",
    "LSTM(3, 4)",
    "LSTM(3, 4, 2, bidirectional=True)",
    "LSTM(3, 4, bias=False, batch_first=True)",
    "LSTM(3, 4, 2, proj_size=2, bidirectional=True)",
    "LSTM(3, 4, 2, dropout=0.3).eval()",
    "LSTM(3, 5, bias=False, proj_size=3)",
    "GRU(3, 4)",
    "GRU(3, 4, 2, bidirectional=True, batch_first=True)",
    "GRU(3, 4, bias=False)",
    "RNNBase('GRU', 3, 4)",
]
CELLS = [
    "RNNCell(3, 4)",
    "RNNCell(3, 4, False, 'relu')",
    "LSTMCell(3, 4)",
    "LSTMCell(3, 4, bias=False)",
    "GRUCell(3, 4)",
]


def made(t, expression):
    """A module with weights that are the same in both libraries."""
    module = eval(f"nn.{expression}", {"nn": t.nn}).double()
    rng = np.random.RandomState(1)
    with t.no_grad():
        for parameter in module.parameters():
            parameter.copy_(t.tensor(rng.uniform(-0.5, 0.5, tuple(parameter.shape))))
    return module


def states(t, net, *batch):
    """Initial states of a module."""
    places = net.num_layers * (1 + net.bidirectional)
    widths = [net.proj_size or net.hidden_size, net.hidden_size]
    found = [normal_leaf(t, places, *batch, width, seed=7) for width in widths]
    return tuple(found) if net.mode == "LSTM" else found[0]


def flat(value):
    """The tensors in a result, packed sequences taken apart."""
    if isinstance(value, (tuple, list)):
        return [each for part in value for each in flat(part)]
    return [] if value is None else [value]


def answers(module, result, given):
    """What a call of a module gives, and the gradients of all that it was made of."""
    tensors = [each for each in flat(result) if each.requires_grad]
    sum((index + 1) * each.cos().sum() for index, each in enumerate(tensors)).backward()
    return (
        repr(module),
        [each.detach() for each in flat(result)],
        [each.grad for each in flat(given) if each.requires_grad],
        {name: parameter.grad for name, parameter in module.named_parameters()},
        dict(module.state_dict()),
    )


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("shape", [(5, 2, 3), (4, 3)])
@pytest.mark.parametrize("expression", MODULES[:-1])
@parity
def test_sequences(t, expression, shape, started):
    net, x = made(t, expression), normal_leaf(t, *shape)
    batch = () if len(shape) == 2 else (shape[0 if net.batch_first else 1],)
    given = (x, states(t, net, *batch)) if started else (x,)
    return answers(net, net(*given), given)


@pytest.mark.parametrize("lengths", [[4, 3, 3, 1], [1, 4, 2, 3]])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("expression", MODULES[:-1])
@parity
def test_packed_sequences(t, expression, started, lengths):
    net, x = made(t, expression), normal_leaf(t, 4, 4, 3)
    packed = t.nn.utils.rnn.pack_padded_sequence(x, t.tensor(lengths), net.batch_first, enforce_sorted=False)
    given = (packed, states(t, net, 4)) if started else (packed,)
    result = net(*given)
    padded = t.nn.utils.rnn.pad_packed_sequence(result[0], net.batch_first)
    kept = [result[0].batch_sizes, result[0].sorted_indices, result[0].unsorted_indices]
    return answers(net, (padded, result[0].data, result[1], kept), [x, *given[1:]])


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("expression", CELLS)
@parity
def test_cells(t, expression, started, batch):
    cell, x = made(t, expression), normal_leaf(t, *batch, 3)
    state = (normal_leaf(t, *batch, 4, seed=2), normal_leaf(t, *batch, 4, seed=3))
    given = (x, state if expression.startswith("LSTM") else state[0]) if started else (x,)
    first = cell(*given)
    return answers(cell, (first, cell(x, first)), given)


@pytest.mark.parametrize("name", ["rnn_tanh", "rnn_relu", "gru", "lstm"])
@parity
def test_functions(t, name):
    net = made(t, {"lstm": "LSTM(3, 4, 2)", "gru": "GRU(3, 4, 2)"}.get(name, "RNN(3, 4, 2)"))
    x, hx, params = normal_leaf(t, 5, 2, 3), states(t, net, 2), list(net.parameters())
    padded = getattr(t, name)(x, hx, params, True, 2, 0.0, False, False, False)
    rows, sizes = x.reshape(10, 3), t.tensor([2] * 5)
    packed = getattr(t, name)(rows, sizes, hx, params, True, 2, 0.0, False, False)
    cell = {"lstm": "lstm_cell", "gru": "gru_cell"}.get(name, f"{name}_cell")
    state = tuple(h[0] for h in hx) if name == "lstm" else hx[0]
    return answers(net, (padded, packed, getattr(t, cell)(x[0], state, *params[:4])), [x, hx])


@pytest.mark.parametrize(
    "expression", ["RNN(2, 3, nonlinearity='relu')", "LSTM(2, 3)", "LSTM(2, 3, proj_size=2)", "GRU(2, 3)"]
)
@pytest.mark.parametrize("packed", [False, True])
@parity
def test_second_derivatives(t, expression, packed):
    net, x = made(t, expression), normal_leaf(t, 4, 3, 2)
    inputs = [x, *net.parameters()]
    given = t.nn.utils.rnn.pack_padded_sequence(x, t.tensor([4, 3, 1])) if packed else x
    # Without oneDNN, whose LSTM has no second derivatives.
    with torch.backends.mkldnn.flags(enabled=False) if t is torch else contextlib.nullcontext():
        tensors = [each for each in flat(net(given)) if each.requires_grad]
        loss = sum((index + 1) * each.sin().sum() for index, each in enumerate(tensors))
        first = t.autograd.grad(loss, inputs, create_graph=True)
        second = t.autograd.grad(sum(g.cos().sum() for g in first), inputs)
    return [g.detach() for g in first], list(second)


@pytest.mark.parametrize("expression", ["RNN(2, 3)", "LSTM(2, 3, 2, bidirectional=True)", "GRU(2, 3)"])
@pytest.mark.parametrize("out_dims", [0, 1])
def test_under_transforms(expression, out_dims):
    """Gradients of each example, by vmap of grad, are those of the examples alone; so are tangents those of differences."""
    net = made(pullback, expression)
    weights = {name: p.detach() for name, p in net.named_parameters()}
    xs = normal_leaf(pullback, 3, 4, 2).detach()

    def loss(weights, x):
        return pullback.func.functional_call(net, weights, x)[0].sin().sum()

    each = pullback.func.vmap(pullback.func.grad(loss), in_dims=(None, 0), out_dims=out_dims)(weights, xs)
    for place, x in enumerate(xs):
        for name, slope in pullback.func.grad(loss)(weights, x).items():
            np.testing.assert_allclose(
                each[name].select(out_dims, place).numpy(), slope.numpy(), rtol=1e-12, atol=1e-13
            )
    batch = pullback.func.vmap(lambda x: net(x)[0].detach())(xs)
    np.testing.assert_allclose(
        batch.numpy(), net(xs.mT.permute(2, 0, 1))[0].detach().permute(1, 0, 2).numpy(), atol=1e-13
    )
    _, pushed = pullback.func.jvp(lambda x: loss(weights, x), (xs[0],), (xs[1],))
    assert pushed.item() == pytest.approx((pullback.func.grad(lambda x: loss(weights, x))(xs[0]) * xs[1]).sum().item())


@parity
def test_sequences_of_different_lengths(t):
    rnn = t.nn.utils.rnn
    pieces = [normal_leaf(t, n, 2, seed=n) for n in (2, 4, 3)]
    padded = [
        rnn.pad_sequence(pieces),
        rnn.pad_sequence(pieces, batch_first=True, padding_value=7.0),
        rnn.pad_sequence(tuple(pieces), True, -1.0, "left"),
    ]
    packed = rnn.pack_sequence(pieces, enforce_sorted=False)
    again = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=3.0, total_length=6)
    apart = [*rnn.unpack_sequence(packed), *rnn.unpad_sequence(padded[0] * 1, t.tensor([2, 4, 3]))]
    sum(each.sin().sum() for each in [*padded, packed.data, again[0], *apart]).backward()
    plain = rnn.PackedSequence(t.ones(3), t.tensor([2, 1]))
    return (
        [each.detach() for each in [*padded, packed.data, again[0], *apart]],
        [packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, again[1]],
        [piece.grad for piece in pieces],
        packed._fields,
        [plain.double().data, plain.to(t.float64).data, plain.long().data, plain.is_cuda, plain.is_pinned()],
        rnn.invert_permutation(t.tensor([2, 0, 1])),
    )


@pytest.mark.parametrize("expression", ["RNN(30, 20)", "LSTM(30, 20, 2, proj_size=10)", "GRUCell(30, 20)"])
def test_weights_start_as_torchs_do(expression):
    ours, theirs = (dict(eval(f"t.nn.{expression}", {"t": t}).named_parameters()) for t in (pullback, torch))
    assert {n: (tuple(p.shape), str(p.dtype)[-7:]) for n, p in ours.items()} == {
        n: (tuple(p.shape), str(p.dtype)[-7:]) for n, p in theirs.items()
    }
    for name, parameter in ours.items():
        for p in (parameter, theirs[name]):
            assert 0.9 / np.sqrt(20) < p.detach().numpy().max() <= 1 / np.sqrt(20) or p.numel() < 100


REFUSED = {
    "RNN(3, 4, nonlinearity='sin')": (ValueError, "Unknown nonlinearity 'sin'. Select from 'tanh' or 'relu'."),
    "GRU(3, 4, proj_size=2)": (ValueError, "proj_size argument is only supported for LSTM, not RNN or GRU"),
    "LSTM(3, 4, proj_size=4)": (ValueError, "proj_size has to be smaller than hidden_size"),
    "LSTM(3, 4, proj_size=-1)": (ValueError, "proj_size should be a positive integer or zero to disable projections"),
    "LSTM(3, 0)": (ValueError, "hidden_size must be greater than zero"),
    "LSTM(0, 3)": (ValueError, "input_size must be greater than zero"),
    "LSTM(3, 3, 0)": (ValueError, "num_layers must be greater than zero"),
    "LSTM(3, 2.5)": (TypeError, "hidden_size should be of type int, got: float"),
    "LSTM(3, 4, 2, 'yes')": (TypeError, "bias should be of type bool, got: str"),
    "GRU(3, 4, 2, dropout=2)": (ValueError, "dropout should be a number in range [0, 1]"),
    "RNNBase('X', 3, 4)": (ValueError, "Unrecognized RNN mode: X"),
    "GRU(3, 4)(t.ones(2, 2, 5))": (RuntimeError, "input.size(-1) must be equal to input_size. Expected 3, got 5"),
    "RNN(3, 4)(t.ones(3))": (ValueError, "RNN: Expected input to be 2D or 3D, got 1D tensor instead"),
    "LSTM(3, 4)(t.ones(3))": (ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"),
    "GRU(3, 4)(t.ones(2, 2, 3).double())": (ValueError, "does not match weight dtype"),
    "GRU(3, 4)(t.ones(2, 2, 3), t.ones(1, 3, 4))": (RuntimeError, "Expected hidden size (1, 2, 4), got [1, 3, 4]"),
    "GRU(3, 4)(t.ones(2, 2, 3), t.ones(2, 4))": (
        RuntimeError,
        "For batched 3-D input, hx should also be 3-D but got 2-D",
    ),
    "GRU(3, 4)(t.ones(2, 3), t.ones(1, 2, 4))": (
        RuntimeError,
        "For unbatched 2-D input, hx should also be 2-D but got 3-D",
    ),
    "LSTM(3, 4)(t.ones(2, 2, 3), (t.ones(1, 2, 4), t.ones(1, 2, 5)))": (RuntimeError, "size (1, 2, 4), got [1, 2, 5]"),
    "LSTM(3, 4)(t.ones(2, 2, 3), (t.ones(2, 4), t.ones(2, 4)))": (
        RuntimeError,
        "also be 3-D but got (2-D, 2-D) tensors",
    ),
    "LSTM(3, 4)(t.ones(0, 2, 3))": (RuntimeError, "Expected sequence length to be larger than 0 in RNN"),
    "RNNCell(3, 4)(t.ones(2, 2, 3))": (ValueError, "RNNCell: Expected input to be 1D or 2D, got 3D instead"),
    "RNNCell(3, 4)(t.ones(2, 3), t.ones(1, 2, 4))": (
        ValueError,
        "RNNCell: Expected hidden to be 1D or 2D, got 3D instead",
    ),
    "RNNCell(3, 4, nonlinearity='x')(t.ones(2, 3))": (RuntimeError, "Unknown nonlinearity: x"),
    "GRUCell(3, 4)(t.ones(2, 5))": (RuntimeError, "input has inconsistent input_size: got 5 expected 3"),
    "GRUCell(3, 4)(t.ones(2, 3), t.ones(2, 5))": (
        RuntimeError,
        "hidden0 has inconsistent hidden_size: got 5, expected 4",
    ),
    "GRUCell(3, 4)(t.ones(2, 3), t.ones(3, 4))": (
        RuntimeError,
        "Input batch size 2 doesn't match hidden0 batch size 3",
    ),
}


@pytest.mark.parametrize("expression", REFUSED)
@parity
def test_refusals(t, expression):
    raises(*REFUSED[expression], lambda: eval(f"t.nn.{expression}", {"t": t}))


PACKING = {
    "pack_padded_sequence(x, [2, 3])": (RuntimeError, "`lengths` array must be sorted in decreasing order"),
    "pack_padded_sequence(x, [2, 0])": (RuntimeError, "Length of all samples has to be greater than 0"),
    "pack_padded_sequence(x, [2])": (RuntimeError, "Expected `len(lengths)` to be equal to batch_size, but got 1"),
    "pad_packed_sequence(pack_padded_sequence(x, [2, 1]), total_length=1)": (
        ValueError,
        "Expected total_length to be at least the length of the longest sequence in input",
    ),
    "pad_sequence(3)": (RuntimeError, "pad_sequence: Expected iterable for input sequences, but got arg of type"),
    "pad_sequence([])": (RuntimeError, "received an empty list of sequences"),
    "pad_sequence([x], padding_side='up')": (
        RuntimeError,
        "Expected padding_side to be one of left or right, but got up",
    ),
}


@pytest.mark.parametrize("expression", PACKING)
@parity
def test_refusals_of_packing(t, expression):
    error, wording = PACKING[expression]
    raises(error, wording, lambda: eval(expression, vars(t.nn.utils.rnn) | {"x": t.ones(3, 2, 4)}))


@parity
def test_dropout_that_drops_nothing_warns(t):
    wording = "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers"
    return repr(warns(UserWarning, wording, lambda: t.nn.LSTM(3, 4, dropout=0.5)))


def test_dropout_between_layers():
    pullback.manual_seed(0)
    net, x = pullback.nn.GRU(3, 50, 2, dropout=0.5), pullback.randn(4, 2, 3)
    first, second = net(x)[0], net(x)[0]
    assert not pullback.equal(first, second) and pullback.equal(net.eval()(x)[0], net(x)[0])
    net.train().dropout = 1.0
    same(describe(net(x)[0].detach()), describe(net(x * 0)[0].detach()), "nothing passes")
