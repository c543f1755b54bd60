"""Transformers: layers of attention and feed-forward networks, as encoders, decoders, and both.

Vaswani et al., Attention is all you need, 2017. Sequences are (steps, batch, features), or (batch, steps, features)
with `batch_first`, or (steps, features). Attention ignores positions at which a bool mask is True; any other mask is
added to the scores. `is_causal` is a hint that a mask is the causal one; the mask must be passed nevertheless.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ..._tensor.creation import full
from ...vocabulary.diagonals import triu
from .. import functional as F, init
from ..parameter import check_sizes
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor

Activation = str | Callable[["Tensor"], "Tensor"]


def _get_activation_fn(given: Activation) -> Callable[[Tensor], Tensor]:
    """An activation function, given itself or by name."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    found: Callable[[Tensor], Tensor] = getattr(F, given)
    return found


def _get_clones(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class _Layer(Module):
    """The common base of layers: a feed-forward network after attention, and the order of normalizations."""

    _attentions: ClassVar[tuple[str, ...]]
    """The names of the attentions that come before the network."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_sizes(self, 1, d_model=d_model, nhead=nhead)
        check_sizes(self, dim_feedforward=dim_feedforward)
        super().__init__()
        for name in self._attentions:
            setattr(
                self,
                name,
                MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype),
            )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for block in blocks:
            setattr(self, f"norm{block}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype))
        for block in blocks:
            setattr(self, f"dropout{block}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def _added(self, x: Tensor, place: int, block: Callable[[Tensor], Tensor]) -> Tensor:
        """x plus a block's result, normalized either before the block or after the sum."""
        norm, dropout = getattr(self, f"norm{place}"), getattr(self, f"dropout{place}")
        return x + dropout(block(norm(x))) if self.norm_first else norm(x + dropout(block(x)))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


class TransformerEncoderLayer(_Layer):
    """Self-attention, then a feed-forward network; each is added to its input, and normalized.

    Parameters
    ----------
    d_model
        The number of features.
    nhead
        The number of heads.
    dim_feedforward
        The number of features between the two linear layers.
    dropout
        The probability with which an element is set to zero in training.
    activation
        The function between them: "relu", "gelu" or a function.
    layer_norm_eps
        The `eps` of the layer normalizations.
    batch_first
        The batch is the first axis of input and result, the steps the second.
    norm_first
        Normalize before each part, not after it.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> layer = pullback.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(pullback.randn(10, 3, 8)).shape
    pullback.Size([10, 3, 8])
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
            return self.self_attn(x, x, x, need_weights=False, **masks)[0]

        return self._added(self._added(src, 1, attend), 2, self._ff_block)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to `memory`, then a feed-forward network; each is added to its input, and normalized.

    Arguments as for `TransformerEncoderLayer`.

    >>> import pullback
    >>> layer = pullback.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(pullback.randn(10, 3, 8), pullback.randn(7, 3, 8)).shape
    pullback.Size([10, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            masks = {"attn_mask": tgt_mask, "key_padding_mask": tgt_key_padding_mask, "is_causal": tgt_is_causal}
            return self.self_attn(x, x, x, need_weights=False, **masks)[0]

        def remember(x: Tensor) -> Tensor:
            masks = {"attn_mask": memory_mask, "key_padding_mask": memory_key_padding_mask}
            return self.multihead_attn(x, memory, memory, need_weights=False, is_causal=memory_is_causal, **masks)[0]

        return self._added(self._added(self._added(tgt, 1, attend), 2, remember), 3, self._ff_block)


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other, with an optional normalization at the end.

    `enable_nested_tensor` and `mask_check` are accepted, and have no effect.

    Parameters
    ----------
    encoder_layer
        The layer of which copies are made.
    num_layers
        The number of layers, each of which gets the states of the one before.
    norm
        A module for the result of the last layer.
    enable_nested_tensor, mask_check
        Accepted, and changes nothing.

    >>> import pullback
    >>> from pullback import nn
    >>> encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), num_layers=2)
    >>> encoder(pullback.randn(10, 3, 8), mask=nn.Transformer.generate_square_subsequent_mask(10)).shape
    pullback.Size([10, 3, 8])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(self, num_layers=num_layers)
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other, with an optional normalization at the end.

    Parameters
    ----------
    decoder_layer
        The layer of which copies are made.
    num_layers
        The number of layers, each of which gets the states of the one before.
    norm
        A module for the result of the last layer.

    >>> from pullback import nn, ones
    >>> decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, nhead=2, batch_first=True), num_layers=2)
    >>> decoder(ones(1, 3, 8), memory=ones(1, 5, 8)).shape
    pullback.Size([1, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        check_sizes(self, num_layers=num_layers)
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence, and a decoder that computes another sequence from it.

    Parameters
    ----------
    d_model
        The number of features.
    nhead
        The number of heads.
    num_encoder_layers
        The number of layers of the encoder.
    num_decoder_layers
        The number of layers of the decoder.
    dim_feedforward
        The number of features between the two linear layers.
    dropout
        The probability with which an element is set to zero in training.
    activation
        The function between them: "relu", "gelu" or a function.
    custom_encoder
        A module in the place of the encoder.
    custom_decoder
        A module in the place of the decoder.
    layer_norm_eps
        The `eps` of the layer normalizations.
    batch_first
        The batch is the first axis of input and result, the steps the second.
    norm_first
        Normalize before each part, not after it.
    bias
        Add a bias, which is learned.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    >>> import pullback
    >>> from pullback import nn
    >>> model = nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(pullback.randn(10, 3, 8), pullback.randn(7, 3, 8)).shape
    pullback.Size([7, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        norm = (d_model, layer_norm_eps, True, bias)
        if custom_encoder is None:
            encoder = TransformerEncoderLayer(*settings, device=device, dtype=dtype)
            last = LayerNorm(*norm, device=device, dtype=dtype)
            custom_encoder = TransformerEncoder(encoder, num_encoder_layers, last)
        if custom_decoder is None:
            decoder = TransformerDecoderLayer(*settings, device=device, dtype=dtype)
            last = LayerNorm(*norm, device=device, dtype=dtype)
            custom_decoder = TransformerDecoder(decoder, num_decoder_layers, last)
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Reset all matrices to new random weights."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and tgt.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                f"the batch number of src and tgt must be equal: got {tuple(src.shape)} and {tuple(tgt.shape)}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model: got "
                f"{tuple(src.shape)} and {tuple(tgt.shape)}, with d_model={self.d_model}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device | None = None, dtype: DType | None = None) -> Tensor:
        """The causal mask: 0 for positions up to the query's own, -inf for later ones.

        >>> from pullback import nn
        >>> nn.Transformer.generate_square_subsequent_mask(3)
        tensor([[0., -inf, -inf],
                [0., 0., -inf],
                [0., 0., 0.]])
        """
        return triu(full((sz, sz), float("-inf"), device=device, dtype=dtype), 1)
