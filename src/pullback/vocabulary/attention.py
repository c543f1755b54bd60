"""Attention, by torch's names: means of values, weighted by a softmax of the products of queries and keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.modes import quiet
from .._core.shapes import broadcasts_to
from .._core.values import data, every, require_tensors
from ..ops.dot_product_attention import known_weights, small
from . import arithmetic, layers, products, reductions, shapes
from .dropout import dropout
from .promotion import cast, category

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Tensor

SINGLE = 4  # bytes of a float32: weights of float16 are not saved


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value; the scale is 1 / sqrt(the last size) unless given.

    Parameters
    ----------
    query
        (..., queries, features).
    key
        (..., keys, features).
    value
        (..., keys, features of the result).
    attn_mask
        A bool mask, True where a query may attend to a key; any other mask is added to the scores.
    dropout_p
        The probability with which a weight is set to zero, in evaluation too.
    is_causal
        Let each query attend only to the keys up to its own position.
    scale
        What products are multiplied by; None for 1 / sqrt(features).
    enable_gqa
        Let each head, on the third last axis, of keys and values serve several heads of queries.

    >>> import pullback
    >>> q, k, v = pullback.zeros(1, 2), pullback.zeros(2, 2), pullback.tensor([[0.0, 4.0], [2.0, 0.0]])
    >>> pullback.nn.functional.scaled_dot_product_attention(q, k, v)
    tensor([[1., 2.]])
    """
    _check_queries(query, key, value)
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (_repeated_heads(part, query.shape[-3]) for part in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    if is_causal:
        mask: Tensor | Array | None
        open_places = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask, open_rows = np.where(open_places, 0, -np.inf).astype(query._dtype), None
    else:
        mask, open_rows = _additive(attn_mask, query._dtype)
    return _weighed(query, key, value, mask, open_rows, float(scale), dropout_p)[0]  # float: NumPy's would be float64


def _check_queries(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise unless queries, keys and values have the two last axes, and one dtype."""
    require_tensors("scaled_dot_product_attention", query=query, key=key, value=value)
    for name, part in (("query", query), ("key", key), ("value", value)):
        if part.ndim < 2:
            raise RuntimeError(
                "scaled_dot_product_attention: Expected query, key, and value to all be  at least 2 dimensional, but got "
                f"{name} of shape {tuple(part.shape)}"
            )
        if part._dtype is not query._dtype and part._dtype != query._dtype:
            raise RuntimeError(
                "Expected query, key, and value to have the same dtype, but got query.dtype: "
                f"{query.dtype} and {name}.dtype: {part.dtype} instead."
            )


def _weighed(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | Array | None,
    open_rows: Tensor | None,
    scale: float,
    p: float,
    *,
    shown: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The weighted values, and the weights if they are returned to the caller."""
    if shown or p or not _plain(query, key, value, mask):
        return _attend(query * scale, key, value, mask, p, open_rows)
    given = [query, key, value] if mask is None else [query, key, value, mask]
    known = _known_weights(data(query), data(key), None if mask is None else data(mask), scale)
    result = (ops.attention if mask is None else ops.masked_attention)(*given, scale=scale, known=known)
    return result if open_rows is None else result * open_rows, None


def _known_weights(query: Tensor, key: Tensor, mask: Tensor | Array | None, scale: float) -> Any:
    """The weights, if they are small enough to be saved by a node for as long as it lives; else None."""
    if any(type(part) is not np.ndarray for part in ((query, key) if mask is None else (query, key, mask))):
        return None
    fits = small(query, key) and query.itemsize >= SINGLE
    return quiet.run(known_weights, query, key, mask, scale) if fits else None


def _plain(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | Array | None) -> bool:
    """True if queries, keys and values are real and not empty, have the same batch shape, and fit the mask."""
    shapes_ = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    (*batch, length, features), keys, values = shapes_
    scores = (*batch, length, values[-2])
    return (
        query._dtype.kind == "f"
        and keys == (*batch, values[-2], features)
        and values[:-2] == tuple(batch)
        and (mask is None or broadcasts_to(tuple(mask.shape), scores))
        and not any(0 in shape for shape in shapes_)
    )


def _repeated_heads(x: Tensor, heads: int) -> Tensor:
    """Each head repeated, so that there are as many as for the queries."""
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


def _additive(mask: Tensor | None, dtype: np.dtype[Any]) -> tuple[Tensor | None, Tensor | None]:
    """A mask to add to scores, and a factor that zeroes the results of queries for which it excludes all keys."""
    if mask is None:
        return None, None
    if category(mask)[0].kind == "b":
        mask = ops.where(data(mask), np.zeros((), dtype), np.asarray(-np.inf, dtype))
    closed = ops.all(ops.equal(data(mask), -np.inf), axis=(mask.ndim - 1,), keepdims=True)
    if not every(closed).any():
        return cast(mask, dtype), None
    opened = ops.astype(ops.logical_not(closed), dtype=dtype, source=np.dtype(np.bool_))
    return arithmetic.where(closed, 0.0, cast(mask, dtype)), opened


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | Array | None, p: float, open_rows: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The weighted values, and the weights."""
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
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of several heads, between linear projections: the result and, with `need_weights`, the weights.

    Parameters
    ----------
    query, key, value
        (L, N, E), (S, N, E) and (S, N, E), or the same without the axis of the batch.
    embed_dim_to_check, num_heads
        E, the number of features, and the number of heads, which divides it.
    in_proj_weight, in_proj_bias, q_proj_weight, k_proj_weight, v_proj_weight
        The projections of queries, keys and values: one weight (3 * E, E) or three, and one bias (3 * E,).
    use_separate_proj_weight
        Take the three weights.
    out_proj_weight, out_proj_bias
        The projection of the result.
    bias_k, bias_v, add_zero_attn, static_k, static_v
        What is appended to the keys and values, also zeros; and (N * heads, S, E / heads) to take in their place.
    dropout_p
        The probability with which a weight is set to zero in training.
    attn_mask, key_padding_mask, is_causal
        Masks (L, S) or (N * heads, L, S), and (N, S) or (S,): True excludes a key, numbers are added to its scores.
        `is_causal` only says that `attn_mask` is causal.
    need_weights, average_attn_weights
        Return the weights, and of these the mean over the heads.
    """
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    return of_heads(
        (query, key, value),
        (embed_dim_to_check, num_heads),
        Projections(weights, in_proj_bias, out_proj_weight, out_proj_bias),
        Places(bias_k, bias_v, static_k, static_v, add_zero_attn),
        (attn_mask, key_padding_mask, is_causal),
        p=dropout_p if training else 0.0,
        need_weights=need_weights,
        averaged=average_attn_weights,
    )


class Projections(NamedTuple):
    """The weights of the projections: of queries, keys and values, as one tensor or three, and of the result."""

    weights: Any
    bias: Tensor | None
    out_weight: Tensor
    out_bias: Tensor | None


class Places(NamedTuple):
    """What is appended to the keys and values, or replaces them."""

    bias_k: Tensor | None
    bias_v: Tensor | None
    static_k: Tensor | None
    static_v: Tensor | None
    zero: bool


def of_heads(
    inputs: tuple[Tensor, Tensor, Tensor],
    sizes: tuple[int, int],
    projections: Projections,
    places: Places,
    masks: tuple[Tensor | None, Tensor | None, bool],
    *,
    p: float,
    need_weights: bool,
    averaged: bool,
    batch_first: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, as in `multi_head_attention_forward`; further batch axes may come first.

    Heads are (batch, heads, steps, features), views of the projections, so that they are split and joined without a
    copy.
    """
    features, heads = sizes
    _check_inputs(*inputs, features, heads)
    attn_mask, padding_mask, is_causal = masks
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint: pass the causal mask itself")
    batched = inputs[0].ndim == 3
    if not batched:
        wide = {id(part): shapes.unsqueeze(part, 1) for part in inputs}
        query, key, value = (wide[id(part)] for part in inputs)
        inputs = query, key, value
    to_heads = (0, 2, 1, 3) if batched and batch_first else (1, 2, 0, 3)
    projected = _projected(inputs, projections.weights, projections.bias)
    q, k, v = (ops.permute_dims(_split(x, heads), axes=to_heads) for x in projected)
    k, v, added = _extended(k, v, places)
    mask = _merged(attn_mask, padding_mask, added, q, k)
    mask, open_rows = (mask, None) if need_weights else _additive(mask, q._dtype)
    scale = math.sqrt(heads / features)
    result, weights = _weighed(q, k, v, mask, open_rows, scale, p, shown=need_weights)
    back = to_heads if to_heads[0] == 0 else (2, 0, 1, 3)
    result = ops.reshape(ops.permute_dims(result, axes=back), shape=tuple(inputs[0].shape))
    result = layers.linear(result, projections.out_weight, projections.out_bias)
    result = result if batched else shapes.squeeze(result, 1)
    return result, _shown(weights, averaged, batched) if need_weights and weights is not None else None


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, features: int, heads: int) -> None:
    """Raise for inputs of multi-head attention with incompatible shapes."""
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


def _shown(weights: Tensor, averaged: bool, batched: bool) -> Tensor:
    """The weights of all heads, or their mean."""
    weights = reductions.mean(weights, 1) if averaged else weights
    return weights if batched else shapes.squeeze(weights, 0)


def _projected(inputs: tuple[Tensor, ...], weights: Any, bias: Tensor | None) -> Sequence[Tensor]:
    """Queries, keys and values after their projections, whose weights may be stacked in one tensor.

    Inputs that are the same tensor are projected by a single product.
    """
    query, key, value = inputs
    if not isinstance(weights, tuple) and query is key is value and not weights.shape[0] % 3:
        packed = layers.linear(query, weights, bias)
        return ops.unbind(_split(packed, 3), axis=packed.ndim - 1)
    parts = weights if isinstance(weights, tuple) else shapes.chunk(weights, 3)
    biases = (None,) * 3 if bias is None else shapes.chunk(bias, 3)
    return [layers.linear(*part) for part in zip(inputs, parts, biases, strict=True)]


def _split(x: Tensor, count: int) -> Tensor:
    """The last axis split into two, the first of length `count`."""
    *before, features = x.shape
    return ops.reshape(x, shape=(*before, count, features // count))


def _extended(k: Tensor, v: Tensor, places: Places) -> tuple[Tensor, Tensor, int]:
    """Keys and values by heads, with what is appended to the sequences, and the number of appended positions."""
    if (places.bias_k is None) != (places.bias_v is None):
        raise AssertionError("bias_k and bias_v are given together, or neither of them")
    for name, bias, static in (("key", places.bias_k, places.static_k), ("value", places.bias_v, places.static_v)):
        if bias is not None and static is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    (batch, heads, _, size), added = k.shape, 0
    if places.bias_k is not None and places.bias_v is not None:
        k, v = (
            shapes.cat([x, shapes.expand(shapes.reshape(bias, 1, heads, 1, size), batch, -1, -1, -1)], 2)
            for x, bias in ((k, places.bias_k), (v, places.bias_v))
        )
        added += 1
    k, v = (
        x if static is None else shapes.reshape(static, batch, heads, *static.shape[1:])
        for x, static in ((k, places.static_k), (v, places.static_v))
    )
    if places.zero:
        k, v = (
            ops.concat(x, np.zeros((batch, heads, 1, x.shape[3]), x._dtype), axis=2, sizes=(x.shape[2], 1))
            for x in (k, v)
        )
        added += 1
    return k, v, added


def _added(mask: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """A mask of multi-head attention as a term of the scores; in a bool mask True excludes a key."""
    if mask._dtype.kind == "b":
        return ops.where(mask, np.asarray(-np.inf, dtype), np.zeros((), dtype))
    if mask._dtype.kind != "f":
        raise AssertionError("only bool and floating types of masks are supported")
    return cast(mask, dtype)


def _scores_mask(
    mask: Tensor | None, heads: tuple[int, int], sizes: tuple[int, int], dtype: np.dtype[Any]
) -> Tensor | None:
    """A mask of scores; one with a mask for each head gets a batch axis."""
    if mask is None:
        return None
    count = heads[0] * heads[1]
    if mask.ndim == 2 and tuple(mask.shape) == sizes:
        return _added(mask, dtype)
    if mask.ndim == 3 and tuple(mask.shape) == (count, *sizes):
        return shapes.reshape(_added(mask, dtype), *heads, *sizes)
    wanted = {2: sizes, 3: (count, *sizes)}.get(mask.ndim)
    if wanted is None:
        raise RuntimeError(f"attn_mask's dimension {mask.ndim} is not supported")
    raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {wanted}.")


def _merged(scores_mask: Tensor | None, padding_mask: Tensor | None, added: int, q: Tensor, k: Tensor) -> Tensor | None:
    """The sum of both masks, extended over the positions appended to the sequences."""
    batch, heads, length, _ = q.shape
    keys = k.shape[2]
    scores_mask = _scores_mask(scores_mask, (batch, heads), (length, keys - added), q._dtype)
    padding_mask = None if padding_mask is None else _added(padding_mask, q._dtype)
    scores_mask, padding_mask = (_widened(mask, added) for mask in (scores_mask, padding_mask))
    if padding_mask is None:
        return scores_mask
    if tuple(padding_mask.shape) not in ((batch, keys), (keys,)):
        raise AssertionError(
            f"Expected key_padding_mask of shape {(batch, keys - added)}, but got one of {padding_mask.shape[-1] - added} keys"
        )
    wide = shapes.reshape(padding_mask, batch, 1, 1, keys)
    return wide if scores_mask is None else scores_mask + wide


def _widened(mask: Tensor | None, added: int) -> Tensor | None:
    """A mask extended over the positions appended to the sequences, to which every query may attend."""
    if mask is None or not added:
        return mask
    free = np.zeros((*mask.shape[:-1], added), mask._dtype)
    return ops.concat(mask, free, axis=mask.ndim - 1, sizes=(mask.shape[-1], added))
