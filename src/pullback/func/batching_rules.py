"""The batching rules: how each primitive carries the batch axis along.

A rule takes the batch size, the primitive, its arguments and its parameters, and returns the result with the batch as
its first axis. Most rules are of one of three kinds: the operation broadcasts leading axes anyway; the axes named in
the parameters are shifted by one; or the batch axis is merged into the first axis. Primitives without a rule are
computed example by example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import ops
from .._core.package import package
from .._core.primitives import Primitive
from . import batched_indexing, products
from .arguments import Argument, Rule, count, folded, one_by_one, raised, spread, unfolded, whole

if TYPE_CHECKING:
    from .._core.typing import Params, Result


def batched_result(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The results for all examples, along a first axis; a tuple for several outputs."""
    rule = RULES.get(primitive.name) or KINDS.get(primitive.kind, one_by_one)
    return rule(size, primitive, args, params)


# 1. Kinds of rules


def stacks(*cores: int, repeated: bool = False) -> Rule:
    """The rule of an operation on arrays with `cores` axes that broadcasts all leading axes.

    With `repeated` every argument gets a batch axis, for operations whose result has the shape of one argument.
    """

    def rule(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
        pairs = list(zip(args, cores, strict=False))
        lead = max([arg.rank - core for arg, core in pairs])
        if repeated:
            pairs = [(Argument(whole(size, arg), True), core) for arg, core in pairs]
        return primitive(*[raised(arg, lead + core) for arg, core in pairs], **params)

    return rule


def elementwise(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The same operation; examples of lower rank get axes of length 1, so that they broadcast as before."""
    if len(args) == 1:
        return primitive(args[0].value, **params)
    rank = max([arg.rank for arg in args])
    return primitive(*[raised(arg, rank) if arg.batched else arg.value for arg in args], **params)


def alike(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """An operation on arrays that must all have the shape of the first."""
    return primitive(*[spread(size, arg, args[0].shape) for arg in args], **params)


def carried(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The same operation, with the axes and shapes in its parameters adapted to the batch axis in front."""
    return primitive(*[whole(size, arg) for arg in args], **batched_indexing.moved(size, primitive, params))


def scattered(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Like `carried`, for an operation that writes a value, which may be a number."""
    x, source, indices = args
    rank = x.rank
    written = whole(size, source) if source.shape else raised(source, rank)
    return primitive(whole(size, x), written, whole(size, indices), **batched_indexing.moved(size, primitive, params))


def rows(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """An operation on each element of the first axis independently: the batch is merged into that axis."""
    return unfolded(size, primitive(*[folded(size, arg) for arg in args], **params), args[0].shape[0])


def beside_first(fewer: int = 0) -> Rule:
    """The rule of an operation whose result is like its first argument; the others have `fewer` axes, or broadcast."""

    def rule(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
        first, *rest = args
        others = [raised(arg, first.rank - fewer) for arg in rest]
        return primitive(whole(size, first), *others, **batched_indexing.moved(size, primitive, params))

    return rule


def tile(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Copies side by side along the example's axes, with a single copy along the batch axis."""
    repeats = params["repeats"]
    return primitive(raised(args[0], len(repeats)), repeats=(1, *repeats))


def place_of_extreme(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The index of the largest or smallest element along an axis, or among all elements for None."""
    if params["axis"] is not None:
        return carried(size, primitive, args, params)
    x = args[0]
    y = primitive(ops.reshape(x.value, shape=(size, count(x.shape))), axis=1, keepdims=False)
    return ops.reshape(y, shape=(size, *(1,) * x.rank)) if params.get("keepdims") else y


def distinct(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The distinct elements: refused, since their number differs between the examples."""
    name = "_unique2" if primitive.name == "unique" else primitive.name
    raise RuntimeError(batched_indexing.DYNAMIC.format(name=name, package=package))


# 2. The table


def _named(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


KINDS: dict[str, Rule] = {"elementwise": elementwise}

RULES: dict[str, Rule] = {
    **_named(
        elementwise,
        "astype clone zeros_like matrix_transpose tril triu real imag view_as_real view_as_complex isnan isinf isfinite "
        "logical_not equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and "
        "bitwise_or bitwise_xor floor_divide left_shift right_shift masked_fill ldexp exponent signbit isposinf isneginf "
        "heaviside gcd lcm isclose cross inv det cofactor slogdet cholesky lu_factor eigh eig svd qr matrix_exp geqrf ldl_factor",
    ),
    **_named(stacks(2, 2), "solve solve_triangular"),
    **_named(stacks(2, 2, repeated=True), "cofactor_slope pivot_info minor_info"),
    **_named(stacks(2, 1, 2, repeated=True), "ldl_solve"),
    **_named(stacks(1, 2), "check_phase"),
    **_named(stacks(2, 2, 2), "attention"),
    **_named(stacks(2, 2, 2, 2), "masked_attention attention_pullback"),
    **_named(stacks(2, 2, 2, 2, 2), "masked_attention_pullback"),
    **_named(beside_first(), "attached copy drawn fill tied scale_and_shift standardize_affine"),
    **_named(stacks(3, 2, 2, 2, 2, 1, repeated=True), "ctc"),
    **_named(stacks(3, 3, 3, 3, repeated=True), "lattice"),
    **_named(
        carried,
        "sum mean prod var std amax amin largest smallest logsumexp softmax log_softmax vector_norm cumsum cumprod all any "
        "argsort flip expand_dims squeeze unbind split concat stack take_along_axis select_along windows "
        "arglast argtop argkth argmode argmedian put_along_axis fold_windows reshape permute_dims getitem scatter_slice "
        "roll diagonal scatter_diagonal softmax_pullback log_softmax_pullback logcumsumexp resample fft rfft irfft total "
        "standardize standardize_pullback rms_normalize median product_of_others",
    ),
    **_named(scattered, "scatter scatter_add scatter_prod scatter_amax scatter_amin"),
    **_named(
        rows,
        "window_columns window_overlay window_mean window_spread max_pool gather accumulate put max_places "
        "adaptive_places fractional_places take_rows weighed_nll max_spread",
    ),
    "permutation": lambda size, primitive, args, params: primitive(whole(size, args[0]), args[1].value),
    "unique": distinct,
    "unique_consecutive": distinct,
    "argmax": place_of_extreme,
    "argmin": place_of_extreme,
    "pinv": beside_first(2),
    "broadcast_to": lambda size, primitive, args, params: spread(size, args[0], params["shape"]),
    "tile": tile,
    "matmul": products.matmul,
    "times_transpose": products.times_transpose,
    "transpose_times": products.transpose_times,
    "outer": products.outer,
    "einsum": products.einsum,
    "project": products.affine,
    "affine": products.affine,
    **_named(products.recurrent, "rnn lstm lstm_projected gru"),
    "convolve": products.convolve,
    "convolve_transpose": products.convolve_transpose,
    "convolve_weight": products.convolve_weight,
    "biased": products.biased,
    "cross_entropy": products.cross_entropy,
    "cross_entropy_pullback": products.cross_entropy_pullback,
    "index": batched_indexing.index,
    "index_add": batched_indexing.index_add,
    "index_put": batched_indexing.index_put,
    "embedding": batched_indexing.embedding,
    "scatter_rows": batched_indexing.scatter_rows,
    "put_rows": batched_indexing.put_rows,
    "searchsorted": batched_indexing.searchsorted,
    "isin": batched_indexing.isin,
    "overwrite": batched_indexing.viewed,
    "replay": batched_indexing.viewed,
}
"""The rules by primitive name; elementwise primitives and those without a rule of their own are left out."""
