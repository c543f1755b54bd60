"""torch's words on the primitives: names, defaults, `dim` and `keepdim`, with NumPy's spellings beside them.

These functions are the methods of `Tensor` and the functions of the package alike. Rules never see them. Those that
every program needs are named in `_tensor` and `_functions`; this is the index of all others, which are imported when
they are first asked for: by the module that defines them, the names under which the package and its tensors have them.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .._core import errors
from .._core.primitives import Carrier
from .._core.sites import depth
from .._tape.shortcuts import unwrapped
from .._tape.views import overlaps

Function = Callable[..., Any]
Named = TypeVar("Named", bound=Function)

# pullback.<name>(...), as it is defined
FUNCTIONS: dict[str, str] = {
    "func.live": "grad hessian jacobian value_grad_hessian",
    "files": "load save",
    "func.flattening": "flatten_problem",
    "func.mapping": "vmap",
    "_tape.checking": "check",
    "_tape.reasons": "why",
    "autograd.anomaly_mode": "detect_anomaly is_anomaly_check_nan_enabled is_anomaly_enabled",
    "func.control": "cond fori_loop scan while_loop",
    "func.custom_rules": "custom_jvp custom_vjp",
    "sparsity": "sparse_hessian sparse_jacobian",
    "vocabulary.shapes": "concatenate",
    "vocabulary.writing": (
        "abs_ absolute_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ "
        "atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_ exp_ "
        "exp2_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log_ log10_ log1p_ log2_ logit_ nan_to_num_ "
        "neg_ negative_ "
        "rad2deg_ reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_"
    ),
    "vocabulary.segments": "segment_reduce",
    "vocabulary.products": "chain_matmul",
    "vocabulary.contractions": "block_diag cartesian_prod cdist combinations tensordot",
    "vocabulary.decompositions": "lu_unpack",
    "vocabulary.linear_algebra": "pca_lowrank svd_lowrank",
    "vocabulary.padding": "constant_pad_nd",
    "vocabulary.resampling": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "_tensor.alike": "fill",
    "_tensor.legacy": "asarray detach from_dlpack frombuffer get_device is_same_size range vander",
    "_numerics.blocks": "get_num_threads set_num_threads",
    "_tensor.storages": "TypedStorage UntypedStorage is_storage",
    "_tensor.creation": "empty_permuted empty_strided logspace scalar_tensor tril_indices triu_indices",
    "_core.placement": (
        "channels_last channels_last_3d contiguous_format device layout memory_format preserve_format strided"
    ),
    "_numerics.printing": "get_printoptions set_printoptions",
    "_numerics.random": "Generator fork_rng get_rng_state initial_seed manual_seed seed set_rng_state",
    "_tensor.sampling": "normal rand rand_like randint randint_like randn randn_like randperm",
    "_tensor.typed": (
        "BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor"
    ),
    "autograd.revolve": "checkpoint_loop",
    "vocabulary.pooling": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d",
    "signal.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "special": "polygamma",
    "vocabulary.joining": (
        "atleast_1d atleast_2d atleast_3d broadcast_tensors column_stack dstack hstack meshgrid row_stack vstack"
    ),
    "vocabulary.complexes": "complex imag polar real view_as_complex view_as_real",
    "vocabulary.bits": "isin",
    "vocabulary.arithmetic": "bitwise_left_shift bitwise_right_shift",
    "vocabulary.functions": "float_power xlogy",
    "vocabulary.pieces": "unravel_index",
    "vocabulary.convolution": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    "vocabulary.reductions": "std_mean var_mean",
    "vocabulary.scans": "cumulative_trapezoid gradient trapezoid",
    "vocabulary.sorting": "bucketize searchsorted",
    "vocabulary.statistics": "histogramdd",
    "vocabulary.activations": "celu celu_ hardshrink prelu relu_ rrelu rrelu_ selu selu_ threshold threshold_",
    "vocabulary.margins": "cosine_similarity pairwise_distance pdist",
    "vocabulary.normalization": "native_group_norm rms_norm",
    "vocabulary.layers": "bilinear",
    "vocabulary.recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
    "vocabulary.native": (
        "alpha_dropout alpha_dropout_ batch_norm binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss "
        "dropout dropout_ embedding feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ "
        "group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss poisson_nll_loss "
        "triplet_margin_loss"
    ),
}

# pullback.<name>(input, ...) and tensor.<name>(...): the first argument must be a tensor
BOTH: dict[str, str] = {
    "vocabulary.products": "addbmm addmm addmv addr baddbmm ger vdot",
    "vocabulary.contractions": "cross inner kron",
    "vocabulary.decompositions": "det logdet matrix_exp matrix_power orgqr slogdet",
    "vocabulary.equations": "inverse",
    "vocabulary.linear_algebra": (
        "cholesky cholesky_inverse cholesky_solve geqrf lu lu_solve ormqr pinverse qr svd triangular_solve"
    ),
    "vocabulary.spectra": "istft stft",
    "vocabulary.turning": "resize_as_",
    "_tensor.sampling": "bernoulli binomial multinomial poisson",
    "vocabulary.special": "digamma erf erfc erfinv i0 igamma igammac lgamma mvlgamma",
    "vocabulary.joining": (
        "dsplit hsplit split_with_sizes tensor_split unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit"
    ),
    "vocabulary.rearranging": "as_strided fliplr flipud repeat_interleave roll rot90 tile",
    "vocabulary.shapes": "adjoint moveaxis swapaxes swapdims unflatten",
    "vocabulary.complexes": "angle conj is_conj is_neg resolve_conj resolve_neg sgn",
    "vocabulary.bits": "is_nonzero is_signed isclose isneginf isposinf isreal signbit",
    "vocabulary.arithmetic": "fix greater greater_equal less less_equal not_equal",
    "vocabulary.functions": (
        "acos acosh addcdiv addcmul asin asinh atan atanh clamp_max clamp_min copysign deg2rad exp2 fmod frac frexp "
        "lerp log10 log2 logit nan_to_num positive rad2deg sinc"
    ),
    "vocabulary.diagonals": "diag diag_embed diagflat diagonal diagonal_scatter tril triu",
    "vocabulary.indexing": "index_put",
    "vocabulary.pieces": (
        "argwhere as_strided_scatter masked_fill masked_scatter masked_select narrow nonzero_static select "
        "select_scatter slice_scatter"
    ),
    "vocabulary.scatter": (
        "gather index_add index_copy index_fill index_reduce index_select put scatter scatter_add "
        "scatter_reduce take take_along_dim"
    ),
    "vocabulary.reductions": "aminmax count_nonzero dist nanmean nansum prod renorm trace",
    "vocabulary.scans": "cummax cummin cumprod diff logcumsumexp",
    "vocabulary.sorting": "argsort kthvalue msort sort topk unique unique_consecutive",
    "vocabulary.statistics": "bincount corrcoef cov histc histogram median mode nanmedian nanquantile quantile",
}

# The same, of two tensors: pullback.<name>(input, other) takes no numbers
PAIRS: dict[str, str] = {
    "vocabulary.bits": "gcd lcm",
    "vocabulary.functions": "atan2 fmax fmin heaviside hypot ldexp logaddexp logaddexp2 nextafter",
}

# tensor.<name>(...) alone
METHODS: dict[str, str] = {
    "_tensor.legacy": "apply_ cuda get_device is_pinned is_same_size map_ new pin_memory resize resize_as",
    "_tensor.sharing": "is_shared share_memory_",
    "_tensor.storages": "set_ storage untyped_storage",
    "_tensor.subclasses": "_make_subclass as_subclass",
    "_tensor.layouts": (
        "coalesce indices is_coalesced sparse_mask to_dense to_sparse to_sparse_coo to_sparse_csc to_sparse_csr values "
        "_indices _nnz _values"
    ),
    "_tensor.alike": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
    "vocabulary.turning": "as_strided_ resize_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    "vocabulary.special": "polygamma",
    "vocabulary.rearranging": "repeat unfold",
    "vocabulary.shapes": "H mH sum_to_size",
    "_tensor.functions": "allclose equal",
    "vocabulary.bits": "isin",
    "vocabulary.casts": "bool byte cdouble cfloat char double float half int long short",
    "vocabulary.arithmetic": "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor",
    "vocabulary.functions": "float_power float_power_ xlogy",
    "vocabulary.diagonals": "fill_diagonal_",
    "vocabulary.activations": "hardshrink prelu",
}

# tensor.<name>_(...): the same operation, written to the tensor
IN_PLACE: dict[str, str] = {
    "vocabulary.products": "addbmm addmm addmv addr baddbmm",
    "vocabulary.redrawing": "bernoulli cauchy exponential geometric log_normal normal random uniform",
    "vocabulary.special": "digamma erf erfc erfinv i0 igamma igammac lgamma mvlgamma polygamma",
    "vocabulary.complexes": "conj sgn",
    "vocabulary.bits": "gcd lcm",
    "vocabulary.functions": (
        "acos acosh addcdiv addcmul asin asinh atan atan2 atanh clamp_max clamp_min copysign deg2rad "
        "exp2 fmod frac heaviside hypot ldexp lerp log10 log2 logit nan_to_num nextafter "
        "rad2deg sinc xlogy"
    ),
    "vocabulary.arithmetic": (
        "abs bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp cos "
        "cosh div eq exp expm1 floor floor_divide ge gt le log log1p logical_and logical_not logical_or logical_xor "
        "lt mul ne neg pow reciprocal relu remainder round rsqrt sigmoid sign sin sinh sqrt square sub tan tanh trunc"
    ),
    "vocabulary.diagonals": "tril triu",
    "vocabulary.indexing": "index_put",
    "vocabulary.pieces": "masked_fill masked_scatter",
    "vocabulary.scatter": "index_add index_copy index_fill index_reduce put scatter scatter_add scatter_reduce",
    "vocabulary.reductions": "cumsum renorm",
    "vocabulary.scans": "cumprod",
}

# pullback.nn.functional.<name>(...)
FUNCTIONAL: dict[str, str] = {
    "vocabulary.padding": "pad",
    "vocabulary.resampling": (
        "affine_grid channel_shuffle grid_sample interpolate pixel_shuffle pixel_unshuffle upsample upsample_bilinear "
        "upsample_nearest"
    ),
    "vocabulary.pooling": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d fractional_max_pool2d fractional_max_pool3d lp_pool1d "
        "lp_pool2d lp_pool3d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d"
    ),
    "vocabulary.convolution": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d fold unfold",
    "vocabulary.activations": (
        "celu celu_ elu elu_ gelu glu gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ "
        "leaky_relu leaky_relu_ log_softmax logsigmoid mish prelu relu relu6 relu_ rrelu rrelu_ selu selu_ silu "
        "softmax softmin softplus softshrink softsign tanhshrink threshold threshold_"
    ),
    "vocabulary.losses": (
        "binary_cross_entropy binary_cross_entropy_with_logits cross_entropy gaussian_nll_loss huber_loss kl_div "
        "l1_loss linear_cross_entropy mse_loss multilabel_soft_margin_loss nll_loss poisson_nll_loss "
        "smooth_l1_loss soft_margin_loss"
    ),
    "vocabulary.margins": (
        "cosine_embedding_loss cosine_similarity hinge_embedding_loss margin_ranking_loss multi_margin_loss "
        "multilabel_margin_loss pairwise_distance pdist triplet_margin_loss triplet_margin_with_distance_loss"
    ),
    "vocabulary.alignment": "ctc_loss",
    "vocabulary.normalization": "batch_norm group_norm instance_norm layer_norm local_response_norm normalize rms_norm",
    "vocabulary.layers": "bilinear embedding embedding_bag linear one_hot",
    "vocabulary.dropout": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
    "vocabulary.attention": "multi_head_attention_forward scaled_dot_product_attention",
}

# Functions that take `out=`, by the names they are defined under, and where users find them
OUT: dict[str, str] = {
    "pullback": (
        "abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax angle any arange argmax "
        "argmin argsort asin asinh atan atan2 atanh baddbmm bernoulli bitwise_and bitwise_left_shift bitwise_not "
        "bitwise_or bitwise_right_shift bitwise_xor bmm bucketize cat ceil chain_matmul cholesky cholesky_inverse "
        "cholesky_solve clamp clamp_max clamp_min column_stack complex conj copysign cos cosh cross cummax cummin "
        "cumprod cumsum deg2rad diag diff digamma div dot dstack empty eq erf erfc erfinv exp exp2 expm1 eye "
        "float_power floor floor_divide fmax fmin fmod frac frexp full gather gcd ge geqrf gt hardshrink heaviside "
        "histc histogram householder_product hstack hypot i0 igamma igammac index_add index_copy index_reduce "
        "index_select inner inv isin isneginf isposinf kron kthvalue lcm ldexp le lerp lgamma linspace log log10 "
        "log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor "
        "logit logspace logsumexp lt lu lu_solve lu_unpack masked_select matmul matrix_power max maximum mean "
        "median min minimum mm mode msort mul multinomial mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum ne "
        "neg nextafter nonzero nonzero_static norm normal ones ormqr outer polar polygamma pow prod qr quantile range "
        "rad2deg rand randint randn randperm reciprocal remainder renorm round rsqrt scatter scatter_add "
        "scatter_reduce searchsorted sgn sigmoid sign signbit sin sinc sinh slogdet softmax sort sqrt square stack "
        "std sub sum svd take take_along_dim tan tanh tensordot threshold topk triangular_solve tril triu trunc var "
        "vdot vstack where xlogy zeros"
    ),
    "linalg": (
        "cholesky cholesky_ex cond cross det eig eigh eigvals eigvalsh householder_product inv inv_ex ldl_factor "
        "ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matmul matrix_norm matrix_power "
        "matrix_rank multi_dot norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv "
        "tensorsolve vecdot vector_norm"
    ),
    "fft": (
        "fft fft2 fftfreq fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 "
        "rfftfreq rfftn"
    ),
    "special": (
        "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 betainc chebyshev_polynomial_t chebyshev_polynomial_u "
        "chebyshev_polynomial_v chebyshev_polynomial_w entr erfcx hermite_polynomial_h hermite_polynomial_he i0e i1 "
        "i1e laguerre_polynomial_l legendre_polynomial_p log_ndtr modified_bessel_i1 modified_bessel_k0 "
        "modified_bessel_k1 ndtr ndtri polygamma scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
        "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
        "shifted_chebyshev_polynomial_w spherical_bessel_j0 xlog1py zeta"
    ),
    "nn.functional": "avg_pool2d avg_pool3d gelu linear normalize softplus softshrink",
}

# Other names: the same function or method
ALIASES: dict[str, str] = {
    "concatenate": "cat",
    "ger": "outer",
    "inverse": "inv",
    "orgqr": "householder_product",
    "row_stack": "vstack",
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "conj_physical": "conj",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "subtract": "sub",
    "true_divide": "div",
    "trapz": "trapezoid",
}


# What is filled with one value, and so may be of elements that share memory
FILLS = frozenset({"fill_diagonal_", "index_fill_", "index_put_", "masked_fill_", "tril_", "triu_", "fill_", "zero_"})

# Functions of three tensors that torch once gave these numbers by position, before what they scale, and still does
NUMBERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("addcdiv", "addcmul"), ("value",)),
    **dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), ("beta", "alpha")),
}


def _by_name(*indexes: dict[str, str]) -> dict[str, str]:
    found = {name: module for index in indexes for module, names in index.items() for name in names.split()}
    return found | {alias: found[name] for alias, name in ALIASES.items() if name in found}


LATER_FUNCTIONS = _by_name(FUNCTIONS, BOTH, PAIRS)
LATER_METHODS = _by_name(BOTH, PAIRS, METHODS)
LATER_IN_PLACE = _by_name(IN_PLACE)
LATER_FUNCTIONAL = _by_name(FUNCTIONAL)
_BOTH = _by_name(BOTH, PAIRS)
_PAIRS = _by_name(PAIRS)


def as_defined(function: Function) -> Function:
    """What `short_way` is until there are tensors."""
    return function


short_way: Callable[[Function], Function] = as_defined
"""Puts the short way of `_eager` in front of a function that users get: `_tensor` sets it."""


def load(module: str, name: str) -> Function:
    """The function that a module of pullback defines under a name, or under the one it is an alias of."""
    defined: Function = getattr(importlib.import_module(f"pullback.{module}"), ALIASES.get(name, name))
    return defined


SPELLINGS: dict[str, tuple[str, ...]] = {
    "axis": ("dim",),
    "axes": ("dims",),
    "keepdims": ("keepdim",),
    "input": ("A", "L", "tensor", "x"),
    "b": ("B",),
    "input2": ("L", "tau"),
    "sections": ("indices_or_sections",),
    "indices": ("indices_or_sections",),
    "tensor_indices_or_sections": ("indices_or_sections",),
    "element": ("elements",),
    "test_element": ("test_elements",),
}
"""NumPy's names of arguments, and those that torch's own functions go by, and the names that torch's documentation has."""

NUMPYS = {"axis", "axes", "keepdims"}
MISSING = object()


def in_both_spellings(function: Named) -> Named:
    """A function that takes all names of its arguments; itself if each has one."""
    code = getattr(unwrapped(function), "__code__", None)
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    names = {
        other: found[0]
        for other, ours in SPELLINGS.items()
        if other not in taken
        and (found := [name for name in (taken[:1] if other == "input" else taken) if name in ours])
    }
    return spelled(function, names) if names else function


def spelled(function: Named, names: dict[str, str]) -> Named:
    """A function that takes other names of its arguments, each of which stands for one of its own."""

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        if not options:
            return function(*args)
        for given in names.keys() & options.keys():
            if names[given] in options:
                whose = "NumPy's " if given in NUMPYS else ""
                raise TypeError(f"{function.__name__}() got both {names[given]!r} and {whose}{given!r}: pass one")
            options[names[given]] = options.pop(given)
        return function(*args, **options)

    return called  # type: ignore[return-value]  # the same arguments, by more names


def spelled_as(**names: str) -> Callable[[Named], Named]:
    """A decorator for a function that takes other names of its arguments."""
    return functools.partial(spelled, names=names)


def spell(namespace: dict[str, Any], names: str) -> None:
    """Make functions of a module take all names of their arguments."""
    for name in names.split():
        namespace[name] = published(in_both_spellings(namespace[name]), namespace["__name__"], name)


def fills(method: Named) -> Named:
    """An in-place method that fills with one value, which elements that share memory can have as well."""

    @functools.wraps(method)
    def filled(self: Any, *args: Any, **options: Any) -> Any:
        if overlaps(self) and load("vocabulary.shared_memory", "is_filled")(method.__name__, self, args, options):
            return self
        return method(self, *args, **options)

    return filled  # type: ignore[return-value]  # the same arguments


def public(module: str, name: str) -> Function:
    """The function that users of a name get: in torch's and NumPy's spelling."""
    return short_way(taking_numbers(in_both_spellings(load(module, name))))


def taking_numbers(function: Named) -> Named:
    """A function that also takes its numbers by position, as torch does with a warning; itself if it has none of these."""
    names = NUMBERS.get(getattr(function, "__name__", ""), ())
    if not names:
        return function

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        numbers = [value for value in args if isinstance(value, (int, float, complex))]
        if not 0 < len(numbers) <= len(names) or len(args) != 3 + len(numbers):
            return function(*args, **options)
        warn_of_numbers(function.__name__, names[: len(numbers)])
        tensors = [value for value in args if not isinstance(value, (int, float, complex))]
        return function(*tensors, **dict(zip(names, numbers, strict=False)), **options)

    return called  # type: ignore[return-value]  # the same arguments, in another order, too


def warn_of_numbers(name: str, keywords: Sequence[str]) -> None:
    """Warn of numbers that were given by position, in torch's words."""
    spelling = ", ".join(f"{keyword}=..." for keyword in keywords)
    text = (
        f"This overload of {name} is deprecated: it takes numbers before the tensors that they scale. Write {spelling}"
    )
    warnings.warn(text, UserWarning, stacklevel=depth())


def later(module: str, name: str) -> Function:
    """A function of a module of pullback, which is imported when the function is called."""

    def called(*args: Any, **options: Any) -> Any:
        return load(module, name)(*args, **options)

    return called


def functional(name: str) -> Function:
    """The function `pullback.nn.functional.<name>`."""
    plain = load(LATER_FUNCTIONAL[name], name)
    found = short_way(taking_out(plain) if name in OUT["nn.functional"].split() else plain)
    return found if found is plain else published(found, "pullback.nn.functional", name)


@functools.cache
def function(name: str) -> Function:
    """The function `pullback.<name>`."""
    plain = load(LATER_FUNCTIONS[name], name)
    found = in_both_spellings(plain)
    if name in _PAIRS:
        found = of_pair(found)
    elif name in _BOTH:
        found = taking_numbers(of_tensor(found))
    elif ALIASES.get(name, name) in OUT["pullback"].split():
        found = taking_out(found)
    found = short_way(found)
    return found if found is plain else published(found, "pullback", name)


def _named(function: Function, name: str, options: dict[str, Any]) -> Any:
    """An argument that was given by its name, and is taken out of the options."""
    if name not in options:
        raise TypeError(f"{function.__name__}() missing 1 required positional argument: {name!r}")
    return options.pop(name)


def of_tensor(function: Function) -> Function:
    """A function whose first argument must be a tensor."""
    code = getattr(unwrapped(function), "__code__", None)
    first = code.co_varnames[0] if code else "input"

    @functools.wraps(function)
    def checked(input: Any = MISSING, *args: Any, out: Any = None, **options: Any) -> Any:
        if input is MISSING:
            input = _named(function, first, options)
        if not isinstance(input, Carrier):
            raise errors.no_tensor(function.__name__, "input", 1, input)
        if out is not None:
            return written(out, function, input, *args, **options)
        return function(input, *args, **options) if options else function(input, *args)

    return checked


def of_pair(function: Function) -> Function:
    """A function of two operands, both of which must be tensors, or arrays beside a tensor."""
    second = unwrapped(function).__code__.co_varnames[1]

    @functools.wraps(function)
    def checked(input: Any, other: Any = MISSING, *, out: Any = None, **options: Any) -> Any:
        if other is MISSING:
            other = _named(function, second, options)
        if options:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {next(iter(options))!r}")
        if not isinstance(input, Carrier) and not (isinstance(input, np.ndarray) and isinstance(other, Carrier)):
            raise errors.no_tensor(function.__name__, "input", 1, input)
        if not isinstance(other, (Carrier, np.ndarray)):
            raise errors.no_tensor(function.__name__, second, 2, other)
        return function(input, other) if out is None else written(out, function, input, other)

    return checked


def of_tensors(function: Function) -> Function:
    """A function of two operands, one of which must be a tensor."""
    second = unwrapped(function).__code__.co_varnames[1]

    @functools.wraps(function)
    def checked(input: Any, other: Any = MISSING, *args: Any, out: Any = None, **options: Any) -> Any:
        if other is MISSING:
            other = _named(function, second, options)
        if not isinstance(input, Carrier) and not isinstance(other, Carrier):
            raise errors.no_tensor(function.__name__, "input", 1, input)
        if out is not None:
            return written(out, function, input, other, *args, **options)
        return function(input, other, *args, **options) if options else function(input, other, *args)

    return checked


def taking_out(function: Named) -> Named:
    """A function that takes `out=`."""

    @functools.wraps(function)
    def public(*args: Any, out: Any = None, **options: Any) -> Any:
        if out is not None:
            return load("vocabulary.outputs", "into")(out, function, args, options)
        return function(*args, **options) if options else function(*args)

    return public  # type: ignore[return-value]  # the same arguments, and one more


def take_out(namespace: dict[str, Any], module: str) -> None:
    """Make the functions of a module take `out=`, those that do by the index."""
    for name in OUT[module].split():
        namespace[name] = published(taking_out(namespace[name]), namespace["__name__"], name)


def published(function: Named, module: str, name: str) -> Named:
    """A function that knows where users find it, which is where its pickles look for it."""
    function.__module__, function.__qualname__ = module, name
    return function


def written(out: Any, function: Function, /, *args: Any, **options: Any) -> Any:
    """The result of a function of the package, written to `out`; refused if the function does not take it."""
    name = function.__name__
    if name not in OUT["pullback"].split():
        raise TypeError(f"{name}() got an unexpected keyword argument 'out': write t.copy_({name}(...))")
    return load("vocabulary.outputs", "into")(out, function, args, options)
