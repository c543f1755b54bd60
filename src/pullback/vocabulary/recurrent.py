"""Recurrent networks by torch's names: multi-layer networks over sequences, and single steps.

All process rows, those of each step concatenated, as torch packs sequences of different lengths; sequences of equal
length are reshaped to this form. The contribution of a layer's inputs is a single product for all steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.primitives import Carrier
from .._core.values import concrete, require_tensor
from . import layers, shapes
from .dropout import dropout

if TYPE_CHECKING:
    from .._core.typing import Tensor

Sizes = tuple[int, ...]
States = tuple[Any, ...]


class Kind(NamedTuple):
    """A kind of network: its numbers of gates and states, and the function that runs one layer in one direction."""

    name: str
    gates: int
    states: int
    run: Callable[..., States]


def _simple(relu: bool) -> Callable[..., States]:
    def run(rows: Tensor, states: States, weights: Sequence[Tensor], sizes: Sizes, reverse: bool) -> States:
        w_input, w_state, *biases = weights
        x = layers.linear(rows, w_input, biases[0] + biases[1] if biases else None)
        return (ops.rnn(x, *states, w_state, sizes=sizes, reverse=reverse, relu=relu),)

    return run


def _lstm(rows: Tensor, states: States, weights: Sequence[Tensor], sizes: Sizes, reverse: bool) -> States:
    w_input, w_state, *others = weights
    bias = others[0] + others[1] if len(others) > 1 else None
    x = layers.linear(rows, w_input, bias)
    operation, weights = (ops.lstm_projected, (w_state, others[-1])) if len(others) % 2 else (ops.lstm, (w_state,))
    y, h, *_ = operation(x, *states, *weights, sizes=sizes, reverse=reverse)
    return y, h


def _gru(rows: Tensor, states: States, weights: Sequence[Tensor], sizes: Sizes, reverse: bool) -> States:
    w_input, w_state, *biases = weights
    x = layers.linear(rows, w_input, biases[0] if biases else None)
    bias = biases[1] if biases else np.zeros(w_state.shape[0], w_state._dtype)
    return (ops.gru(x, *states, w_state, bias, sizes=sizes, reverse=reverse)[0],)


RNN_TANH = Kind("rnn_tanh", 1, 1, _simple(False))
RNN_RELU = Kind("rnn_relu", 1, 1, _simple(True))
LSTM = Kind("lstm", 4, 2, _lstm)
GRU = Kind("gru", 3, 1, _gru)


# Layers


class Layers(NamedTuple):
    """The layers of a network: their number, directions, dropout and parameters."""

    kind: Kind
    biases: bool
    depth: int
    dropout: float
    train: bool
    bidirectional: bool

    @property
    def directions(self) -> int:
        """1, or 2 if sequences are read backwards as well."""
        return 2 if self.bidirectional else 1


def _last(rows: Tensor, sizes: Sizes, reverse: bool) -> Tensor:
    """The final state of each sequence."""
    count = sizes[0]
    if reverse or len(sizes) == 1:
        return rows[:count]
    if sizes[-1] == count:
        return rows[rows.shape[0] - count :]
    starts = np.array([0, *itertools.accumulate(sizes)])
    lengths = np.array([sum(size > place for size in sizes) for place in range(count)])
    return ops.embedding(rows, starts[lengths - 1] + np.arange(count), padding=None, by_frequency=False)


def _stacked(net: Layers, rows: Tensor, sizes: Sizes, states: States, params: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The rows of the last layer, and the final states of every layer and direction."""
    per = len(params) // (net.depth * net.directions)
    first = [shapes.unbind(state) for state in states]
    ends: list[States] = []
    for layer in range(net.depth):
        found = []
        for direction in range(net.directions):
            place = layer * net.directions + direction
            weights = params[place * per : (place + 1) * per]
            outs = net.kind.run(rows, tuple(s[place] for s in first), weights, sizes, direction == 1)
            found.append(outs[0])
            ends.append(tuple(_last(out, sizes, direction == 1) for out in outs))
        rows = found[0] if len(found) == 1 else shapes.cat(found, 1)
        if net.dropout and net.train and layer + 1 < net.depth:
            rows = dropout(rows, net.dropout)
    return rows, *(shapes.stack(pieces) for pieces in zip(*ends, strict=True))


# Checks


def _check(net: Layers, rows: Tensor, states: States, params: Sequence[Tensor]) -> None:
    """Raise for arguments with incompatible shapes."""
    name, places = net.kind.name, net.depth * net.directions
    for argument, value in (("input", rows), *(("hx", state) for state in states), *(("params", p) for p in params)):
        require_tensor(name, argument, value)
        if value._dtype != rows._dtype:
            raise RuntimeError(
                f"Input and parameter tensors are not the same dtype, found input tensor with {rows.dtype} and "
                f"{argument} with {value.dtype}"
            )
    needed = 4 if net.biases else 2
    per, left = divmod(len(params), places) if places else (0, 1)
    if left or per not in ((needed, needed + 1) if net.kind is LSTM else (needed,)):
        raise RuntimeError(
            f"{name}: got an incorrect number of RNN parameters: {len(params)} for {places} layers and directions"
        )
    width = params[1].shape[0] // net.kind.gates
    out = params[per - 1].shape[0] if per > needed else width
    features = rows.shape[-1]
    for place in range(places):
        wide = features if place < net.directions else out * net.directions
        expected: list[tuple[int, ...]] = [(net.kind.gates * width, wide), (net.kind.gates * width, out)]
        expected += [(net.kind.gates * width,)] * 2 * net.biases + [(out, width)] * (per - needed)
        for index, wanted in enumerate(expected):
            given = tuple(params[place * per + index].shape)
            if given != wanted:
                raise RuntimeError(f"{name}: parameter {place * per + index} has shape {given}, expected {wanted}")
    for state, size in zip(states, (out, width), strict=False):
        if state.ndim != 3 or state.shape[0] != places or state.shape[2] != size:
            raise RuntimeError(
                f"Expected hidden size {(places, 'batch', size)}, got {list(state.shape)}: one state for each layer and direction"
            )


def _over_sequences(
    net: Layers, input: Tensor, states: States, params: Sequence[Tensor], batch_first: bool
) -> tuple[Tensor, ...]:
    """The network over sequences of equal length: (steps, batch, features), or (batch, steps, features)."""
    require_tensor(net.kind.name, "input", input)
    if input.ndim != 3:
        raise RuntimeError(f"input must have 3 dimensions, got {input.ndim}")
    _check(net, input, states, params)
    x = shapes.swapaxes(input, 0, 1) if batch_first else input
    steps, batch, features = x.shape
    if not steps:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    _check_batch(states, batch)
    rows = ops.reshape(x, shape=(steps * batch, features))
    rows, *ends = _stacked(net, rows, (batch,) * steps, states, params)
    out = ops.reshape(rows, shape=(steps, batch, rows.shape[1]))
    return shapes.swapaxes(out, 0, 1) if batch_first else out, *ends


def _over_packed(
    net: Layers, data: Tensor, batch_sizes: Tensor, states: States, params: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """The network over packed sequences: rows, and the number of rows of each step."""
    _check(net, data, states, params)
    sizes = tuple(int(size) for size in concrete(batch_sizes, net.kind.name))
    falling = all(a >= b > 0 for a, b in itertools.pairwise((*sizes, 1)))
    if data.ndim != 2 or not sizes or not falling or sum(sizes) != data.shape[0]:
        raise RuntimeError(
            f"{net.kind.name}: batch_sizes {list(sizes)} do not fit data of shape {tuple(data.shape)}: they are above 0, do "
            "not grow, and sum to the rows"
        )
    _check_batch(states, sizes[0])
    return _stacked(net, data, sizes, states, params)


def _check_batch(states: States, batch: int) -> None:
    for state in states:
        if state.shape[1] != batch:
            raise RuntimeError(
                f"Expected hidden size {(state.shape[0], batch, state.shape[2])}, got {list(state.shape)}"
            )


# torch's functions


def _over(kind: Kind, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Tensor, ...]:
    """torch's function of a kind; the type of the fourth argument tells packed sequences from those of equal length."""
    arguments = PACKED if (len(args) > 3 and not isinstance(args[3], bool)) or "data" in options else PADDED
    given = dict(zip(arguments, args, strict=False)) | options
    if len(args) > len(arguments) or given.keys() != {*arguments}:
        raise TypeError(
            f"{kind.name}() received an invalid combination of arguments: expected ({', '.join(PADDED)}) or "
            f"({', '.join(PACKED)})"
        )
    net = Layers(
        kind, given["has_biases"], given["num_layers"], given["dropout"], given["train"], given["bidirectional"]
    )
    states = (given["hx"],) if isinstance(given["hx"], Carrier) else tuple(given["hx"])
    if len(states) != kind.states:
        raise RuntimeError(f"{kind.name} expects {('one hidden state', 'two hidden states')[kind.states - 1]}")
    params = list(given["params"])
    if arguments is PACKED:
        return _over_packed(net, given["data"], given["batch_sizes"], states, params)
    return _over_sequences(net, given["input"], states, params, given["batch_first"])


SETTINGS = ("hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
PADDED, PACKED = ("input", *SETTINGS, "batch_first"), ("data", "batch_sizes", *SETTINGS)


def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """Layers of h' = tanh(W x + b + V h + c) over sequences: the last layer's states, and each layer's final states.

    The arguments are (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first) or, for
    packed sequences, (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional).
    """
    return _over(RNN_TANH, args, options)


def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """Layers of h' = relu(W x + b + V h + c) over sequences; arguments as for `rnn_tanh`."""
    return _over(RNN_RELU, args, options)


def gru(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """Layers of gated recurrent units over sequences; arguments as for `rnn_tanh`."""
    return _over(GRU, args, options)


def lstm(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """Layers of long short-term memory over sequences; arguments as for `rnn_tanh`, with `hx` of states and cells."""
    return _over(LSTM, args, options)


# Single steps


def _step(kind: Kind, input: Tensor, states: States, weights: Sequence[Tensor | None]) -> States:
    """One step of one layer, for a batch or a single example."""
    names = ("input", *["hx"] * len(states), "w_ih", "w_hh", "b_ih", "b_hh")
    for place, (name, value) in enumerate(zip(names, (input, *states, *weights), strict=True), 1):
        if value is not None or not name.startswith("b_"):
            require_tensor("rnn_cell", name, value, place)
    given = [weight for weight in weights if weight is not None]
    single = input.ndim == 1
    if single:
        input, *states = (shapes.unsqueeze(value, 0) for value in (input, *states))  # type: ignore[assignment]
    if not _fits(kind, input, states, given):
        net = Layers(kind, len(given) > 2, 1, 0.0, False, False)
        whole = tuple(shapes.unsqueeze(state, 0) for state in states)
        _check_step(input, weights, states)
        _check(net, input, whole, given)
    outs = kind.run(input, tuple(states), given, (input.shape[0],), False)
    return tuple(shapes.squeeze(out, 0) for out in outs) if single else outs


def _fits(kind: Kind, input: Tensor, states: States, weights: Sequence[Any]) -> bool:
    """True if the arguments of a step have the usual shapes and one dtype: there is no more to check."""
    sizes, dtype = tuple(weights[1].shape), input._dtype
    if len(sizes) != 2 or sizes[0] != kind.gates * sizes[1] or input.ndim != 2 or len(weights) not in {2, 4}:
        return False
    wanted = [(sizes[0], input.shape[1]), sizes, sizes[:1], sizes[:1]][: len(weights)]
    wanted += [(input.shape[0], sizes[1])] * len(states)
    return all(x.shape == size and x._dtype is dtype for x, size in zip((*weights, *states), wanted, strict=True))


def _check_step(input: Tensor, weights: Sequence[Any], states: States) -> None:
    """Raise torch's errors for single steps with incompatible shapes."""
    for name, weight in zip(("w_ih", "w_hh"), weights, strict=False):
        if weight.ndim != 2:
            raise RuntimeError(f"{name} must have 2 dimensions, gates and features, not shape {tuple(weight.shape)}")
    wide, narrow = weights[0].shape[1], weights[1].shape[1]
    if input.ndim != 2 or input.shape[1] != wide:
        found = input.shape[-1] if input.ndim else "a number,"
        raise RuntimeError(f"input has inconsistent input_size: got {found} expected {wide}")
    for place, state in enumerate(states):
        if state.ndim != 2 or state.shape[0] != input.shape[0]:
            batch = state.shape[0] if state.ndim else 0
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden{place} batch size {batch}")
        if state.shape[1] != narrow:
            raise RuntimeError(f"hidden{place} has inconsistent hidden_size: got {state.shape[1]}, expected {narrow}")


def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """tanh(w_ih @ x + b_ih + w_hh @ h + b_hh): one step of a simple recurrent network.

    >>> from pullback import rnn_tanh_cell, tensor
    >>> rnn_tanh_cell(tensor([[1.0]]), tensor([[0.5]]), tensor([[0.25]]), tensor([[0.5]]))  # tanh(0.25 + 0.25)
    tensor([[0.4621]])
    """
    return _step(RNN_TANH, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """relu(w_ih @ x + b_ih + w_hh @ h + b_hh): one step of a simple recurrent network.

    >>> from pullback import rnn_relu_cell, tensor
    >>> rnn_relu_cell(tensor([[1.0]]), tensor([[0.5]]), tensor([[2.0]]), tensor([[4.0]]))  # 2 * 1 + 4 * 0.5
    tensor([[4.]])
    """
    return _step(RNN_RELU, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a gated recurrent unit: the next state.

    >>> from pullback import gru_cell, ones, zeros
    >>> gru_cell(zeros(1, 1), ones(1, 1), zeros(3, 1), zeros(3, 1))  # half of h
    tensor([[0.5000]])
    """
    return _step(GRU, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def lstm_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, ...]:
    """One step of long short-term memory: the next state and cell.

    >>> from pullback import lstm_cell, ones, zeros
    >>> lstm_cell(zeros(1, 1), (zeros(1, 1), ones(1, 1)), zeros(4, 1), zeros(4, 1))[1]  # half of c
    tensor([[0.5000]])
    """
    return _step(LSTM, input, tuple(hx), (w_ih, w_hh, b_ih, b_hh))
