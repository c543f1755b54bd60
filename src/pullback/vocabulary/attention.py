"""Attention, by torch's names: means of values, weighed by how well keys fit a query."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _refusals, _xp, ops
from .._core import Carrier
from .._modes import quiet
from .._promotion import cast, category
from .._values import data, every
from ..ops.layers import attention_weights
from . import arithmetic, layers, products, reductions, shapes
from .dropout import dropout

KEPT = 1 << 20  # bytes of weights


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key.mT * scale + mask) @ value; the scale is 1 / sqrt(the last size) unless given.

    A bool mask is True where a query may attend to a key, another one is added to the scores. `is_causal` stands for
    the mask that lets each query attend to the keys up to its own place. With `enable_gqa`, each head of keys and
    values serves several heads of queries.

    >>> import pullback
    >>> q, k, v = pullback.zeros(1, 2), pullback.zeros(2, 2), pullback.tensor([[0.0, 4.0], [2.0, 0.0]])
    >>> pullback.nn.functional.scaled_dot_product_attention(q, k, v)
    tensor([[1., 2.]])
    """
    for position, (name, part) in enumerate((("query", query), ("key", key), ("value", value)), 1):
        if not isinstance(part, Carrier):
            raise _refusals.no_tensor("scaled_dot_product_attention", name, position, part)
        if part.ndim < 2:
            raise RuntimeError(
                "scaled_dot_product_attention: Expected query, key, and value to all be  at least 2 dimensional, but got "
                f"{name} of shape {tuple(part.shape)}"
            )
        if part._dtype != query._dtype:
            raise RuntimeError(
                "Expected query, key, and value to have the same dtype, but got query.dtype: "
                f"{query.dtype} and {name}.dtype: {part.dtype} instead."
            )
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        attn_mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    if enable_gqa:
        key, value = (_repeated_heads(part, query.shape[-3]) for part in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    scale = float(scale)  # a number of NumPy would make float64 of the result
    if attn_mask is None and not dropout_p and _plain(query, key, value):
        return ops.attention(query, key, value, scale=scale, known=_known_weights(data(query), data(key), scale))
    mask, open_rows = _additive(attn_mask, query._dtype)
    result, _ = _attend(query * scale, key, value, mask, dropout_p, open_rows)
    return result


def _known_weights(query: Any, key: Any, scale: float) -> Any:
    """The weights of arrays where they are so few that a node may keep them as long as it lives; else None."""
    if type(query) is not np.ndarray or type(key) is not np.ndarray:
        return None
    if query.size // query.shape[-1] * key.shape[-2] * query.itemsize > KEPT:
        return None
    return quiet.run(attention_weights, _xp, query, key, scale)


def _plain(query: Any, key: Any, value: Any) -> bool:
    """Whether queries, keys and values are real, belong to the same batch, fit together, and are not empty."""
    shapes_ = [tuple(part.shape) for part in (query, key, value)]
    (*batch, _, features), keys, values = shapes_
    return (
        query._dtype.kind == "f"
        and keys == (*batch, values[-2], features)
        and values[:-2] == tuple(batch)
        and not any(0 in shape for shape in shapes_)
    )


def _repeated_heads(x: Any, heads: int) -> Any:
    """Each head repeated so that there are as many as queries have."""
    have = x.shape[-3]
    if have == heads:
        return x
    if not have or heads % have:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query: {have}, {heads}"
        )
    before, after = tuple(x.shape[:-3]), tuple(x.shape[-2:])
    wide = ops.broadcast_to(ops.expand_dims(x, axis=x.ndim - 2), shape=(*before, have, heads // have, *after))
    return ops.reshape(wide, shape=(*before, heads, *after))


def _additive(mask: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """A mask to add to scores, and 0 where it leaves a query no key: such a query's result is zeros."""
    if mask is None:
        return None, None
    if category(mask)[0].kind == "b":
        mask = ops.where(data(mask), np.zeros((), dtype), np.asarray(-np.inf, dtype))
    closed = ops.all(ops.equal(data(mask), -np.inf), axis=(mask.ndim - 1,), keepdims=True)
    if not every(closed).any():
        return cast(mask, dtype), None
    opened = ops.astype(ops.logical_not(closed), dtype=dtype, source=np.dtype(np.bool_))
    return arithmetic.where(closed, 0.0, cast(mask, dtype)), opened


def _attend(query: Any, key: Any, value: Any, mask: Any, p: float, open_rows: Any = None) -> tuple[Any, Any]:
    """The values weighed, and the weights."""
    scores = products.matmul(query, ops.matrix_transpose(key))
    if mask is not None:
        scores = scores + mask
    weights = ops.softmax(scores, axis=scores.ndim - 1)
    if open_rows is not None:
        weights = weights * open_rows
    if p:
        weights = dropout(weights, p)
    return products.matmul(weights, value), weights


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of several heads, between projections: the result and, if asked for, the weights.

    Queries are (L, N, E) or (L, E), keys and values (S, N, E) or (S, E). Masks are True where a key is left out, or
    are added to the scores.
    """
    _check_inputs(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint: pass the causal mask itself")
    batched = query.ndim == 3
    inputs = [part if batched else shapes.unsqueeze(part, 1) for part in (query, key, value)]
    weights_in = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(inputs, weights_in, in_proj_bias)
    k, v, added = _extended(k, v, bias_k, bias_v, static_k, static_v, add_zero_attn, num_heads)
    q = _heads(q, num_heads) * math.sqrt(num_heads / embed_dim_to_check)
    mask = _merged(attn_mask, key_padding_mask, added, q, k, num_heads)
    mask, open_rows = (mask, None) if need_weights else _additive(mask, q._dtype)
    result, weights = _attend(q, k, v, mask, dropout_p if training else 0.0, open_rows)
    result = ops.reshape(ops.permute_dims(result, axes=(1, 0, 2)), shape=tuple(inputs[0].shape))
    result = layers.linear(result, out_proj_weight, out_proj_bias)
    result = result if batched else shapes.squeeze(result, 1)
    return result, _shown(weights, num_heads, average_attn_weights, batched) if need_weights else None


def _check_inputs(query: Any, key: Any, value: Any, features: int, heads: int) -> None:
    """Refuse inputs of multi-head attention that do not fit."""
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            "For batched (3-D) or unbatched (2-D) `query`, expected `key` and `value` to be alike, but found "
            f"{query.ndim}-D, {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if query.shape[-1] != features:
        raise AssertionError(f"was expecting embedding dimension of {features}, but got {query.shape[-1]}")
    if features % heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {heads}")
    if tuple(key.shape[:-1]) != tuple(value.shape[:-1]):
        raise AssertionError(
            f"key's sequence and batch dims {tuple(key.shape[:-1])} do not match value's {tuple(value.shape[:-1])}"
        )


def _shown(weights: Any, heads: int, averaged: bool, batched: bool) -> Any:
    """The weights with an axis for the heads, or their mean over it."""
    count, *sizes = weights.shape
    weights = ops.reshape(weights, shape=(count // heads, heads, *sizes))
    weights = reductions.mean(weights, 1) if averaged else weights
    return weights if batched else shapes.squeeze(weights, 0)


def _projected(inputs: list[Any], weights: Any, bias: Any) -> list[Any]:
    """Queries, keys and values after their projections, whose weights may be one tensor, one below the other."""
    parts = weights if isinstance(weights, tuple) else shapes.chunk(weights, 3)
    biases = (None,) * 3 if bias is None else shapes.chunk(bias, 3)
    return [layers.linear(*part) for part in zip(inputs, parts, biases, strict=True)]


def _heads(x: Any, heads: int) -> Any:
    """(L, N, E) as (N * heads, L, E / heads)."""
    length, batch, features = x.shape
    return ops.permute_dims(ops.reshape(x, shape=(length, batch * heads, features // heads)), axes=(1, 0, 2))


def _extended(
    k: Any, v: Any, bias_k: Any, bias_v: Any, static_k: Any, static_v: Any, add_zero: bool, heads: int
) -> tuple[Any, Any, int]:
    """Keys and values by heads, with what is added to the sequences, and how many places that is."""
    added = 0
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v are given together, or neither of them")
    if bias_k is not None:
        batch = k.shape[1]
        k, v = (shapes.cat([x, shapes.expand(bias, 1, batch, x.shape[2])]) for x, bias in ((k, bias_k), (v, bias_v)))
        added += 1
    k = _heads(k, heads) if static_k is None else static_k
    v = _heads(v, heads) if static_v is None else static_v
    if add_zero:
        k, v = (
            ops.concat(x, np.zeros((x.shape[0], 1, x.shape[2]), x._dtype), axis=1, sizes=(x.shape[1], 1))
            for x in (k, v)
        )
        added += 1
    return k, v, added


def _added(mask: Any, dtype: np.dtype[Any]) -> Any:
    """A mask of multi-head attention as what is added to scores: True leaves out."""
    if mask is None:
        return None
    if mask._dtype.kind == "b":
        return ops.where(mask, np.asarray(-np.inf, dtype), np.zeros((), dtype))
    if mask._dtype.kind != "f":
        raise AssertionError("only bool and floating types of masks are supported")
    return cast(mask, dtype)


def _scores_mask(mask: Any, sizes: tuple[int, int], count: int, dtype: np.dtype[Any]) -> Any:
    """A mask of scores with an axis for batches and heads."""
    if mask is None:
        return None
    if mask.ndim == 2 and tuple(mask.shape) == sizes:
        return shapes.unsqueeze(_added(mask, dtype), 0)
    if mask.ndim == 3 and tuple(mask.shape) == (count, *sizes):
        return _added(mask, dtype)
    wanted = {2: sizes, 3: (count, *sizes)}.get(mask.ndim)
    if wanted is None:
        raise RuntimeError(f"attn_mask's dimension {mask.ndim} is not supported")
    raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {wanted}.")


def _merged(scores_mask: Any, padding_mask: Any, added: int, q: Any, k: Any, heads: int) -> Any:
    """The sum of both masks, with places for what was added to the sequences."""
    count, length, _ = q.shape
    batch, keys = count // heads, k.shape[1]
    scores_mask = _scores_mask(scores_mask, (length, keys - added), count, q._dtype)
    padding_mask = _added(padding_mask, q._dtype)
    scores_mask, padding_mask = (_widened(mask, added) for mask in (scores_mask, padding_mask))
    if padding_mask is None:
        return scores_mask
    if tuple(padding_mask.shape) not in ((batch, keys), (keys,)):
        raise AssertionError(
            f"Expected key_padding_mask of shape {(batch, keys - added)}, but got one of {padding_mask.shape[-1] - added} keys"
        )
    wide = shapes.expand(shapes.reshape(padding_mask, batch, 1, 1, keys), -1, heads, -1, -1)
    wide = shapes.reshape(wide, count, 1, keys)
    return wide if scores_mask is None else scores_mask + wide


def _widened(mask: Any, added: int) -> Any:
    """A mask with places, open to all, for what was added to the sequences."""
    if mask is None or not added:
        return mask
    free = np.zeros((*mask.shape[:-1], added), mask._dtype)
    return ops.concat(mask, free, axis=mask.ndim - 1, sizes=(mask.shape[-1], added))
