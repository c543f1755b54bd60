"""Recurrent networks: RNN, LSTM and GRU over sequences, and their single steps."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar, Never, Protocol, TypeAlias, TypeVar, overload

from ..._core.sites import warn
from ..._core.values import data, require_tensor
from ..._tensor.creation import zeros
from ...vocabulary import recurrent
from ...vocabulary.shapes import squeeze, unsqueeze
from .. import init
from ..parameter import allocate, check_sizes
from ..utils.rnn import PackedSequence
from .declared import settings
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor

    Kept = TypeVar("Kept")

    class Over(Protocol[Kept]):
        """What a network over sequences takes and gives: sequences with the states that are kept from step to step."""

        @overload
        def __call__(self, input: Tensor, hx: Kept | None = None) -> tuple[Tensor, Kept]: ...
        @overload
        def __call__(self, input: PackedSequence, hx: Kept | None = None) -> tuple[PackedSequence, Kept]: ...


States: TypeAlias = "Tensor | tuple[Tensor, ...] | list[Tensor]"
Pair: TypeAlias = "tuple[Tensor, Tensor]"
Either: TypeAlias = "tuple[Tensor | PackedSequence, Tensor | tuple[Tensor, ...]]"
KINDS = {"RNN_TANH": recurrent.RNN_TANH, "RNN_RELU": recurrent.RNN_RELU, "LSTM": recurrent.LSTM, "GRU": recurrent.GRU}


def _of_any_states(forward: Callable[..., Either]) -> Callable[..., Any]:
    """A `forward` as it is: for type checkers, subclasses say what states they take."""
    return forward


class _Recurrent(Module):
    """The common base of recurrent modules: weights start uniformly distributed within 1 / sqrt(hidden_size)."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Reset to new random weights."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)


@settings
class RNNBase(_Recurrent):
    """Layers of a recurrent network over sequences: what RNN, LSTM and GRU have in common.

    The weights of layer k are `weight_ih_lk`, `weight_hh_lk`, `bias_ih_lk`, `bias_hh_lk` and, with `proj_size`,
    `weight_hr_lk`; with `_reverse` at the end those of the direction from the last step to the first.

    Parameters
    ----------
    mode
        'RNN_TANH', 'RNN_RELU', 'LSTM' or 'GRU'.
    input_size
        The number of features of each step's input.
    hidden_size
        The number of features of the state.
    num_layers
        The number of layers, each of which gets the states of the one before.
    bias
        Add a bias, which is learned.
    batch_first
        The batch is the first axis of input and result, the steps the second.
    dropout
        The probability with which an element is set to zero in training.
    bidirectional
        Go through the steps in both directions.
    proj_size
        The number of features to which the state is projected; 0 for none.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    Raises
    ------
    TypeError, ValueError
        If a setting is of another type, or of no use.

    >>> import pullback
    >>> isinstance(pullback.nn.GRU(4, 8), pullback.nn.RNNBase), pullback.nn.GRU(4, 8).hidden_size
    (True, 8)
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0
    device: InitVar[Device | None] = None
    dtype: InitVar[DType | None] = None

    def __post_init__(self, device: Device | None, dtype: DType | None) -> None:
        Module.__init__(self)
        self.dropout = float(self.dropout) if _is_number(self.dropout) else self.dropout
        _check_settings(self)
        for name, sizes in self._weights():
            self.register_parameter(name, allocate(*sizes, device=device, dtype=dtype))
        self.reset_parameters()

    def _weights(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names and sizes of all weights."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        gates, out = KINDS[self.mode].gates * self.hidden_size, self.proj_size or self.hidden_size
        found: list[tuple[str, tuple[int, ...]]] = []
        for layer in range(self.num_layers):
            wide = out * len(directions) if layer else self.input_size
            for direction in directions:
                end = f"_l{layer}{direction}"
                found += [(f"weight_ih{end}", (gates, wide)), (f"weight_hh{end}", (gates, out))]
                found += [(f"bias_{part}{end}", (gates,)) for part in ("ih", "hh") if self.bias]
                found += [(f"weight_hr{end}", (out, self.hidden_size))] if self.proj_size else []
        return found

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name, _ in self._weights()]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The weights of each layer and direction."""
        flat = self._flat_weights
        per = len(flat) // (self.num_layers * (1 + self.bidirectional))
        return [flat[start : start + per] for start in range(0, len(flat), per)]

    def flatten_parameters(self) -> None:
        """Does nothing: the memory layout of weights makes no difference here."""

    @_of_any_states
    def forward(self, input: Tensor | PackedSequence, hx: States | None = None) -> Either:
        """The states of the last layer at every step, and the final ones of every layer and direction."""
        packed = isinstance(input, PackedSequence)
        x = input.data if isinstance(input, PackedSequence) else input
        require_tensor(type(self).__name__, "input", x)
        batched = packed or x.ndim == 3
        if not packed and x.ndim not in (2, 3):
            tensor = "" if self.mode == "LSTM" else " tensor"
            name = self.mode.partition("_")[0]
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {x.ndim}D{tensor} instead")
        states = self._given_states(hx, batched)
        if not batched:
            x = unsqueeze(x, 0 if self.batch_first else 1)
        sizes = input.batch_sizes if isinstance(input, PackedSequence) else None
        count = x.shape[0 if self.batch_first else 1] if sizes is None else int(sizes[0])
        self._check_input(x, packed)
        if states is None:
            places = self.num_layers * (1 + self.bidirectional)
            states = tuple(zeros(places, count, width, dtype=x.dtype) for width in self._widths())
        else:
            self._check_states(states, count)
        if isinstance(input, PackedSequence):
            return self._over_packed(input, states)
        out, *ends = recurrent._over_sequences(self._layers(), x, states, self._flat_weights, self.batch_first)
        if not batched:
            out, ends = squeeze(out, 0 if self.batch_first else 1), [squeeze(end, 1) for end in ends]
        return out, self._shown(ends)

    def _layers(self) -> recurrent.Layers:
        return recurrent.Layers(
            KINDS[self.mode], self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        )

    def _over_packed(
        self, input: PackedSequence, states: tuple[Tensor, ...]
    ) -> tuple[PackedSequence, Tensor | tuple[Tensor, ...]]:
        if input.sorted_indices is not None:
            states = tuple(state[:, data(input.sorted_indices)] for state in states)
        rows, *ends = recurrent._over_packed(
            self._layers(), input.data, input.batch_sizes, states, self._flat_weights
        )  # fmt: skip
        if input.unsorted_indices is not None:
            ends = [end[:, data(input.unsorted_indices)] for end in ends]
        return input._replace(data=rows), self._shown(ends)

    def _widths(self) -> tuple[int, ...]:
        """The size of each state."""
        return (self.proj_size or self.hidden_size, self.hidden_size)[: KINDS[self.mode].states]

    def _shown(self, states: Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
        return tuple(states) if self.mode == "LSTM" else states[0]

    def _given_states(self, hx: States | None, batched: bool) -> tuple[Tensor, ...] | None:
        """The given initial states, with an axis for the batch."""
        if hx is None:
            return None
        lstm, several = self.mode == "LSTM", isinstance(hx, (tuple, list))
        if several and not lstm:
            raise TypeError(f"{type(self).__name__}: hx must be one tensor, not {type(hx).__name__}")
        states: tuple[Tensor, ...] = tuple(hx) if lstm or isinstance(hx, (tuple, list)) else (hx,)
        wanted, kind = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if any(state.ndim != wanted for state in states):
            ranks = [f"{state.ndim}-D" for state in states]
            if self.mode == "LSTM":
                raise RuntimeError(
                    f"For {kind} input, hx and cx should also be {wanted}-D but got ({', '.join(ranks)}) tensors"
                    f"{'' if several else ': pass both, as the tuple (h, c)'}"
                )
            raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {ranks[0]} tensor")
        return states if batched else tuple(unsqueeze(state, 1) for state in states)

    def _check_input(self, x: Tensor, packed: bool) -> None:
        weight = self._flat_weights[0]
        if x._dtype != weight._dtype:
            raise ValueError(
                f"RNN input dtype ({x.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({x.dtype})"
            )
        if x.ndim != (2 if packed else 3):
            raise RuntimeError(f"input must have {2 if packed else 3} dimensions, got {x.ndim}")
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}: "
                f"the input has shape {tuple(x.shape)}, whose last axis holds the features"
            )

    def _check_states(self, states: tuple[Tensor, ...], count: int) -> None:
        places = self.num_layers * (1 + self.bidirectional)
        for index, (state, width) in enumerate(zip(states, self._widths(), strict=True)):
            wanted = (places, count, width)
            if tuple(state.shape) != wanted:
                which = f"hidden[{index}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {which} size {wanted}, got {list(state.shape)}")

    def extra_repr(self) -> str:
        defaults = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        others = [
            f"{name}={getattr(self, name)}"
            for name, default in {"proj_size": 0, **defaults}.items()
            if getattr(self, name) != default
        ]
        return ", ".join([str(self.input_size), str(self.hidden_size), *others])


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def _check_settings(module: Module) -> None:
    """Raise torch's errors for invalid settings."""
    p, hidden, proj = module.dropout, module.hidden_size, module.proj_size
    if not _is_number(p) or not 0 <= p <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed, got "
            f"{p!r}"
        )
    if p > 0 and module.num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={p} and num_layers={module.num_layers}"
        )
    for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
        value = getattr(module, name)
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    check_sizes(module, num_layers=() if module.num_layers <= 0 else module.num_layers)
    for name in ("input_size", "hidden_size", "num_layers"):
        if getattr(module, name) <= 0:
            raise ValueError(f"{name} must be greater than zero: it is {getattr(module, name)}")
    if proj < 0:
        raise ValueError(f"proj_size should be a positive integer or zero to disable projections: it is {proj}")
    if proj >= hidden:
        raise ValueError(f"proj_size has to be smaller than hidden_size: they are {proj} and {hidden}")
    if proj and module.mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if module.mode not in KINDS:
        raise ValueError(f"Unrecognized RNN mode: {module.mode}")


class RNN(RNNBase):
    """Layers of h' = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh) over sequences, or of relu.

    Elman, Finding structure in time, 1990. The input is (steps, batch, features), (batch, steps, features) with
    `batch_first`, (steps, features) for a single sequence, or packed. Gives the states of the last layer at each step
    and, for each layer and direction, the last state. Between layers is `dropout`.

    Arguments as for `RNNBase`.

    Parameters
    ----------
    nonlinearity
        "tanh" or "relu".

    >>> import pullback
    >>> out, last = pullback.nn.RNN(10, 20, num_layers=2)(pullback.randn(5, 3, 10))
    >>> out.shape, last.shape
    (pullback.Size([5, 3, 20]), pullback.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
        **refused: Never,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        given = (num_layers, bias, batch_first, dropout, bidirectional)
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, *given, device=device, dtype=dtype, **_none_of(refused, "RNN"))
        self.nonlinearity = nonlinearity

    if TYPE_CHECKING:
        forward: Over[Tensor]
        __call__: Over[Tensor]


def _none_of(refused: dict[str, Never], name: str) -> dict[str, Never]:
    """Raise for settings that a module does not have: torch's error for projections, TypeError for others."""
    if "proj_size" in refused:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if refused:
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(refused))}'")
    return {}


class LSTM(RNNBase):
    """Layers of long short-term memory over sequences.

    Hochreiter and Schmidhuber, Long short-term memory, 1997. With gates i, f, g, o computed from input and state,
    c' = f * c + i * g and h' = o * tanh(c'); with `proj_size`, h' is projected to that size. Called as `RNN`, with
    initial states (h, c), and gives the last ones as such a pair.

    Arguments as for `RNNBase`.

    >>> import pullback
    >>> out, (h, c) = pullback.nn.LSTM(10, 20, batch_first=True)(pullback.randn(3, 5, 10))
    >>> out.shape, h.shape, c.shape
    (pullback.Size([3, 5, 20]), pullback.Size([1, 3, 20]), pullback.Size([1, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        given = (num_layers, bias, batch_first, dropout, bidirectional, proj_size)
        super().__init__("LSTM", input_size, hidden_size, *given, device=device, dtype=dtype)

    if TYPE_CHECKING:
        forward: Over[Pair]
        __call__: Over[Pair]


class GRU(RNNBase):
    """Layers of gated recurrent units over sequences; called as `RNN`.

    Cho et al., Learning phrase representations using RNN encoder-decoder, 2014. h' = (1 - z) * n + z * h, with gates
    r and z, and n = tanh(weight_in @ x + bias_in + r * (weight_hn @ h + bias_hn)).

    Arguments as for `RNNBase`.

    >>> import pullback
    >>> out, last = pullback.nn.GRU(10, 20, bidirectional=True)(pullback.randn(5, 10))
    >>> out.shape, last.shape
    (pullback.Size([5, 40]), pullback.Size([2, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
        **refused: Never,
    ) -> None:
        given = (num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__("GRU", input_size, hidden_size, *given, device=device, dtype=dtype, **_none_of(refused, "GRU"))

    if TYPE_CHECKING:
        forward: Over[Tensor]
        __call__: Over[Tensor]


# Single steps


class RNNCellBase(_Recurrent):
    """The common base of cells: one step of a recurrent network.

    Arguments as for `RNNBase`.

    Parameters
    ----------
    num_chunks
        How often `hidden_size` goes into the rows of the weights.

    >>> from pullback import nn
    >>> isinstance(nn.GRUCell(4, 8), nn.RNNCellBase), nn.GRUCell(4, 8).weight_hh.shape
    (True, pullback.Size([24, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = allocate(gates, input_size, device=device, dtype=dtype)
        self.weight_hh = allocate(gates, hidden_size, device=device, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, allocate(gates, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def _step(self, step: Callable[..., Any], input: Tensor, hx: States | None) -> Any:
        """The next state, or states where there are several."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        states = hx if isinstance(hx, (tuple, list)) else () if hx is None else (hx,)
        for index, state in enumerate(states):
            if state.ndim not in (1, 2):
                which = f"hx[{index}]" if states is hx else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {state.ndim}D instead")
        if hx is None:
            begin = zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype)
            hx = (begin, begin) if isinstance(self, LSTMCell) else begin
        return step(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def extra_repr(self) -> str:
        bias = "" if self.bias is True else f", bias={self.bias}"
        return f"{self.input_size}, {self.hidden_size}{bias}"


class RNNCell(RNNCellBase):
    """h' = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh), or relu: one step of an `RNN`.

    Arguments as for `RNN`.

    >>> import pullback
    >>> cell, h = pullback.nn.RNNCell(10, 20), None
    >>> for x in pullback.randn(5, 3, 10):
    ...     h = cell(x, h)
    >>> h.shape
    pullback.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        step = recurrent.rnn_tanh_cell if self.nonlinearity == "tanh" else recurrent.rnn_relu_cell
        return self._step(step, input, hx)

    def extra_repr(self) -> str:
        shown = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        return super().extra_repr() + shown


class _GatedCell(RNNCellBase):
    """A cell with gates, whose number is a class attribute."""

    _gates: ClassVar[int]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, self._gates, device, dtype)


class LSTMCell(_GatedCell):
    """One step of an `LSTM`, from (h, c) to the next such pair; the default state is zero.

    Arguments as for `RNNBase`.

    >>> import pullback
    >>> h, c = pullback.nn.LSTMCell(4, 8)(pullback.ones(2, 4))
    >>> h.shape, c.shape
    (pullback.Size([2, 8]), pullback.Size([2, 8]))
    """

    _gates = 4

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        return self._step(recurrent.lstm_cell, input, hx)


class GRUCell(_GatedCell):
    """One step of a `GRU`: the next state; the default state is zero.

    Arguments as for `RNNBase`.

    >>> import pullback
    >>> pullback.nn.GRUCell(4, 8)(pullback.ones(2, 4)).shape
    pullback.Size([2, 8])
    """

    _gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(recurrent.gru_cell, input, hx)
