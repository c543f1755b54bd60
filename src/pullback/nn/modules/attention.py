"""Attention of several heads, as a module."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...vocabulary.attention import Places, Projections, of_heads
from .. import init
from ..parameter import Parameter, allocate, check_sizes
from .linear import Linear
from .module import Module

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under torch's name for the output projection of attention."""


class MultiheadAttention(Module):
    """Multi-head attention: means of projected values, weighted by a softmax of the products of queries and keys.

    Vaswani et al., Attention is all you need, 2017. Queries are (L, N, embed_dim), keys (S, N, kdim) and values
    (S, N, vdim), or (N, L, embed_dim) and so on with `batch_first`, or without N. Gives the result, shaped as the
    queries, and the weights, which are (N, L, S), or (N, num_heads, L, S) with `average_attn_weights=False`, and None
    with `need_weights=False`. Where a bool mask is True a key is left out; another mask is added to the scores.
    `is_causal` is a hint, and `attn_mask` given all the same.

    Parameters
    ----------
    embed_dim
        The number of features.
    num_heads
        The number of heads.
    dropout
        The probability with which an element is set to zero in training.
    bias
        Add a bias, which is learned.
    add_bias_kv
        Add a key and a value that are learned.
    add_zero_attn
        Add a key and a value of zeros.
    kdim
        The number of features of keys; None for `embed_dim`.
    vdim
        The number of features of values; None for `embed_dim`.
    batch_first
        The batch is the first axis of input and result, the steps the second.
    device
        Where the parameters lie; there is only the CPU.
    dtype
        The dtype of the parameters; None for the default.

    Raises
    ------
    ValueError, AssertionError
        If `embed_dim` is not a multiple of `num_heads`, or one of them is not positive.

    >>> import pullback
    >>> attention = pullback.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = pullback.randn(3, 5, 8)
    >>> out, weights = attention(x, x, x)
    >>> out.shape, weights.shape
    (pullback.Size([3, 5, 8]), pullback.Size([3, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_sizes(self, -math.inf, embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        if embed_dim % num_heads:
            raise AssertionError(f"embed_dim must be divisible by num_heads: {embed_dim} is not by {num_heads}")
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        together = self._qkv_same_embed_dim
        sizes = {
            "q_proj_weight": None if together else (embed_dim, embed_dim),
            "k_proj_weight": None if together else (embed_dim, self.kdim),
            "v_proj_weight": None if together else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if together else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
            "bias_k": (1, 1, embed_dim) if add_bias_kv else None,
            "bias_v": (1, 1, embed_dim) if add_bias_kv else None,
        }
        for name, shape in sizes.items():
            made = None if shape is None else allocate(*shape, device=device, dtype=dtype)
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Reset to new random weights; the output projection is initialized like a `Linear`."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attention result and the weights; arguments as for `functional.multi_head_attention_forward`."""
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weights = self.in_proj_weight if self._qkv_same_embed_dim else separate
        return of_heads(
            (query, key, value),
            (self.embed_dim, self.num_heads),
            Projections(weights, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias),
            Places(self.bias_k, self.bias_v, None, None, self.add_zero_attn),
            (attn_mask, key_padding_mask, is_causal),
            p=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            averaged=average_attn_weights,
            batch_first=self.batch_first,
        )
