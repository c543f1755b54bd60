"""The table of public names: the module that defines each, and the form in which it is public.

Each name has one entry. The contents of `pullback` and its namespaces, the methods of `Tensor`, `dir()`, `__all__`, the
stubs (`scripts/stubs`) and the argument checks are derived from it. Names defined by packages above this one (`func`,
`files`, ...) are in the package's own index, `pullback/__init__.py`.

A row lists names by their forms:

    package       pullback.f, whatever it is, as it is defined
    of_tensor     pullback.f(input, ...), whose first argument must be a tensor
    of_pair       pullback.f(input, other), both of which must be tensors
    of_either     pullback.f(input, other, ...), one of which must be a tensor
    of_method     pullback.f(input, ...), which is input.f(...)
    method        tensor.f(...)
    in_place      tensor.f_(...): the same operation, its result written to the tensor
    functional    pullback.nn.functional.f; likewise linalg, fft and special

`+out` after a form: these functions take `out=`. `+fills` after `in_place`: a single value is written to all elements,
so elements may share memory. `name=defined`: the public name is `name`, the name in the module is `defined`.
"""

from typing import NamedTuple

TABLE: dict[str, dict[str, str]] = {
    "_core.dtypes": {
        "package": """
            bfloat16 bool=bool_ can_cast cdouble cfloat complex128 complex64 double dtype finfo float16 float32 float64
            float=float_ get_default_dtype get_promotion half iinfo int16 int32 int64 int8 int=int_ long promote_types
            set_default_dtype set_promotion short uint16 uint32 uint64 uint8"""
    },
    "_core.machine": {"package": "get_machine_code set_machine_code"},
    "_core.modes": {
        "package": """
            enable_grad inference_mode is_grad_enabled is_inference_mode_enabled no_escapes no_grad set_grad_enabled strong_zeros"""
    },
    "_core.placement": {
        "package": """
            channels_last channels_last_3d contiguous_format device layout memory_format preserve_format strided"""
    },
    "_core.shapes": {"package": "Size broadcast_shapes"},
    "_numerics.blocks": {"package": "get_num_threads set_num_threads"},
    "_numerics.printing": {"package": "get_printoptions set_printoptions"},
    "_numerics.random": {"package": "Generator fork_rng get_rng_state initial_seed manual_seed seed set_rng_state"},
    "_tensor.alike": {
        "package": "fill",
        "method": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
    },
    "_tensor.creation": {
        "package": """
            as_tensor empty_permuted empty_strided from_numpy is_tensor result_type scalar_tensor tensor tril_indices
            triu_indices""",
        "package+out": """
            arange empty empty_like eye full full_like linspace logspace ones ones_like zeros zeros_like""",
        "fft+out": "fftfreq rfftfreq",
    },
    "_tensor.layouts": {
        "method": """
            _indices _nnz _values coalesce indices is_coalesced sparse_mask to_dense to_sparse to_sparse_coo
            to_sparse_csc to_sparse_csr values"""
    },
    "_tensor.legacy": {
        "package": "asarray detach from_dlpack frombuffer vander",
        "package method": "get_device is_same_size",
        "package+out": "range",
        "method": "apply_ cuda is_pinned map_ new pin_memory resize resize_as",
    },
    "_tensor.sampling": {
        "package": "rand_like randint_like randn_like",
        "package+out": "normal rand randint randn randperm",
        "of_tensor method": "binomial poisson",
        "of_tensor+out method": "bernoulli multinomial",
    },
    "_tensor.sharing": {"method": "is_shared share_memory_"},
    "_tensor.showing": {"method": "_repr_html_"},
    "_tensor.spellings": {"method": "astype copy fill flags flat strides"},
    "_tensor.storages": {"package": "TypedStorage UntypedStorage is_storage", "method": "set_ storage untyped_storage"},
    "_tensor.subclasses": {"method": "_make_subclass as_subclass"},
    "_tensor.tensor": {
        "package": "Tensor",
        "of_method": """
            abs_ absolute_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_
            asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ clone conj_physical_ cos_ cosh_ deg2rad_
            detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ is_complex
            is_floating_point lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ numel rad2deg_
            reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_""",
    },
    "_tensor.typed": {
        "package": """
            BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor"""
    },
    "ops.lapack": {"linalg": "LinAlgError"},
    "vocabulary.activations": {
        "package method functional": "prelu",
        "package functional": "celu celu_ relu_ rrelu rrelu_ selu selu_ threshold_",
        "package+out method functional": "hardshrink",
        "package+out functional": "threshold",
        "functional": """
            elu elu_ glu gumbel_softmax hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ log_softmax
            logsigmoid mish relu relu6 silu softmax softmin softsign tanhshrink""",
        "functional+out": "gelu softplus softshrink",
    },
    "vocabulary.alignment": {"functional": "ctc_loss"},
    "vocabulary.arithmetic": {
        "package+out method in_place": "bitwise_left_shift bitwise_right_shift",
        "of_tensor": "rsub",
        "of_tensor method in_place": "relu",
        "of_tensor+out method in_place": """
            abs absolute=abs bitwise_not clamp clip=clamp cos eq exp ge greater=gt greater_equal=ge gt le less=lt
            less_equal=le log lt ne neg negative=neg not_equal=ne reciprocal rsqrt sign sin sqrt square""",
        "of_tensor+out method in_place functional": "sigmoid tanh",
        "of_either+out method": "maximum minimum",
        "of_either+out method in_place": """
            add bitwise_and bitwise_or bitwise_xor div divide=div floor_divide mul multiply=mul pow remainder sub
            subtract=sub true_divide=div""",
        "special": "expit=sigmoid",
    },
    "vocabulary.attention": {"functional": "multi_head_attention_forward scaled_dot_product_attention"},
    "vocabulary.bits": {
        "package+out method": "isin",
        "of_tensor method": "allclose equal is_nonzero is_signed isclose isfinite isinf isnan isreal",
        "of_tensor+out method in_place": "logical_not",
        "of_tensor+out method": "isneginf isposinf signbit",
        "of_pair+out method in_place": "gcd lcm logical_and logical_or logical_xor",
    },
    "vocabulary.branches": {"package+out": "where"},
    "vocabulary.casts": {"method": "bfloat16 bool byte cdouble cfloat char double float half int long short"},
    "vocabulary.complexes": {
        "package": "imag real view_as_complex view_as_real",
        "package+out": "complex polar",
        "of_tensor method": "is_conj is_neg resolve_conj resolve_neg",
        "of_tensor+out method": "angle",
        "of_tensor+out method in_place": "conj conj_physical=conj sgn",
    },
    "vocabulary.contractions": {
        "package": "block_diag cartesian_prod cdist combinations",
        "package+out": "tensordot",
        "of_tensor+out method": "cross inner kron",
        "linalg": "vander",
        "linalg+out": "cross=linalg_cross vecdot",
    },
    "vocabulary.convolution": {
        "package functional": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
        "functional": "fold unfold",
    },
    "vocabulary.decompositions": {
        "package+out": "lu_unpack",
        "of_tensor method": "logdet",
        "of_tensor method linalg": "matrix_exp",
        "of_tensor method linalg+out": "det",
        "of_tensor+out method": "orgqr=householder_product",
        "of_tensor+out method linalg+out": "matrix_power slogdet",
        "linalg+out": """
            cholesky cholesky_ex eig eigh eigvals eigvalsh householder_product ldl_factor ldl_factor_ex ldl_solve lu
            lu_factor lu_factor_ex qr svd svdvals""",
    },
    "vocabulary.diagonals": {
        "of_tensor method": "diag_embed diagflat diagonal diagonal_scatter",
        "of_tensor+out method": "diag",
        "of_tensor+out method in_place+fills": "tril triu",
        "method": "fill_diagonal_",
        "linalg": "diagonal=linalg_diagonal",
    },
    "vocabulary.dropout": {"functional": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout"},
    "vocabulary.equations": {
        "of_tensor+out method": "inverse=inv",
        "linalg+out": "inv inv_ex lstsq lu_solve pinv solve solve_ex solve_triangular tensorinv tensorsolve",
    },
    "vocabulary.fourier": {
        "fft": "fftshift ifftshift",
        "fft+out": """
            fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn""",
    },
    "vocabulary.functions": {
        "package+out method": "float_power",
        "package+out method in_place special": "xlogy",
        "of_tensor method": "positive",
        "of_tensor+out method": "frexp",
        "of_tensor+out method in_place": """
            acos acosh addcdiv addcmul arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan arctanh=atanh
            asin asinh atan atanh clamp_max clamp_min copysign cosh deg2rad fmod frac lerp log10 log2 nan_to_num rad2deg
            sinh tan""",
        "of_tensor+out method in_place special": "exp2 expm1 log1p logit sinc",
        "of_pair+out method": "fmax fmin logaddexp logaddexp2",
        "of_pair+out method in_place": "arctan2=atan2 atan2 heaviside hypot ldexp nextafter",
        "method": "float_power_",
    },
    "vocabulary.in_place_sampling": {
        "in_place": "bernoulli cauchy exponential geometric log_normal normal random uniform"
    },
    "vocabulary.in_place_shapes": {
        "of_tensor method": "resize_as_",
        "method": "as_strided_ resize_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    },
    "vocabulary.indexing": {"of_tensor method in_place+fills": "index_put"},
    "vocabulary.joining": {
        "package": "atleast_1d atleast_2d atleast_3d broadcast_tensors meshgrid",
        "package+out": "column_stack dstack hstack row_stack=vstack vstack",
        "of_tensor method": """
            dsplit hsplit split_with_sizes tensor_split unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit""",
    },
    "vocabulary.layers": {
        "package functional": "bilinear",
        "functional": "embedding embedding_bag one_hot",
        "functional+out": "linear",
    },
    "vocabulary.linear_algebra": {
        "package": "pca_lowrank svd_lowrank",
        "of_tensor method": "pinverse",
        "of_tensor+out method": """
            cholesky cholesky_inverse cholesky_solve geqrf lu lu_solve ormqr qr svd triangular_solve""",
    },
    "vocabulary.losses": {
        "functional": """
            binary_cross_entropy binary_cross_entropy_with_logits cross_entropy gaussian_nll_loss huber_loss kl_div
            l1_loss linear_cross_entropy mse_loss nll_loss poisson_nll_loss smooth_l1_loss"""
    },
    "vocabulary.margins": {
        "package functional": "cosine_similarity pairwise_distance pdist",
        "functional": """
            cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss
            multilabel_soft_margin_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss""",
    },
    "vocabulary.native": {
        "package": """
            alpha_dropout alpha_dropout_ batch_norm binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss
            dropout dropout_ embedding feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_
            group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss poisson_nll_loss
            triplet_margin_loss"""
    },
    "vocabulary.normalization": {
        "package": "native_group_norm",
        "package functional": "rms_norm",
        "functional": "batch_norm group_norm instance_norm layer_norm local_response_norm",
        "functional+out": "normalize",
    },
    "vocabulary.norms": {"package": "nuclear_norm", "linalg+out": "cond matrix_norm matrix_rank norm vector_norm"},
    "vocabulary.padding": {"package": "constant_pad_nd", "functional": "pad"},
    "vocabulary.pooling": {
        "package functional": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d",
        "functional": """
            adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
            fractional_max_pool2d fractional_max_pool3d lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d
            max_unpool3d""",
        "functional+out": "avg_pool2d avg_pool3d",
    },
    "vocabulary.products": {
        "package": "einsum",
        "package+out": "chain_matmul",
        "of_tensor+out method": "ger=outer vdot",
        "of_tensor+out method in_place": "addbmm addmm addmv addr baddbmm",
        "of_either+out method": "bmm dot mm mv outer",
        "of_either+out method linalg+out": "matmul",
        "linalg+out": "multi_dot",
    },
    "vocabulary.rearranging": {
        "of_tensor method": "as_strided fliplr flipud repeat_interleave roll rot90 tile",
        "method": "repeat unfold",
    },
    "vocabulary.recurrent": {"package": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"},
    "vocabulary.reductions": {
        "package": "std_mean var_mean",
        "of_tensor method": "count_nonzero dist trace",
        "of_tensor+out method": """
            all amax amin aminmax any argmax argmin max mean min nanmean nansum norm prod std sum var""",
        "of_tensor+out method in_place": "cumsum renorm",
        "of_tensor+out method special": "log_softmax logsumexp softmax",
    },
    "vocabulary.resampling": {
        "package": "native_channel_shuffle=channel_shuffle",
        "package functional": "channel_shuffle pixel_shuffle pixel_unshuffle",
        "functional": "affine_grid grid_sample interpolate upsample upsample_bilinear upsample_nearest",
    },
    "vocabulary.rounding": {
        "of_tensor+out method in_place": "ceil fix=trunc floor trunc",
        "of_tensor+out method in_place special": "round",
    },
    "vocabulary.scans": {
        "package": "cumulative_trapezoid gradient trapezoid trapz=trapezoid",
        "of_tensor+out method": "cummax cummin diff logcumsumexp",
        "of_tensor+out method in_place": "cumprod",
    },
    "vocabulary.scatter": {
        "of_tensor method in_place": "put",
        "of_tensor method in_place+fills": "index_fill",
        "of_tensor+out method": "gather index_select take take_along_dim",
        "of_tensor+out method in_place": "index_add index_copy index_reduce scatter scatter_add scatter_reduce",
    },
    "vocabulary.segments": {"package": "segment_reduce"},
    "vocabulary.shapes": {
        "package+out": "cat concat=cat concatenate=cat stack",
        "of_tensor method": """
            adjoint broadcast_to chunk flatten flip moveaxis movedim permute ravel reshape split squeeze swapaxes
            swapdims t transpose unbind unflatten unsqueeze""",
        "method": "H expand expand_as mH reshape_as sum_to_size view view_as",
    },
    "vocabulary.slicing": {
        "package": "unravel_index",
        "of_tensor method": "argwhere as_strided_scatter narrow select select_scatter slice_scatter",
        "of_tensor method in_place": "masked_scatter",
        "of_tensor method in_place+fills": "masked_fill",
        "of_tensor+out method": "masked_select nonzero nonzero_static",
    },
    "vocabulary.sorting": {
        "package+out": "bucketize searchsorted",
        "of_tensor method": "unique unique_consecutive",
        "of_tensor+out method": "argsort kthvalue msort sort topk",
    },
    "vocabulary.special": {
        "package+out special+out": "polygamma=polygamma_of_order",
        "of_tensor+out method in_place": "igamma igammac lgamma mvlgamma",
        "of_tensor+out method in_place special": "digamma erf erfc erfinv i0",
        "method in_place": "polygamma",
        "special": """
            gammainc=igamma gammaincc=igammac gammaln=lgamma modified_bessel_i0=i0 multigammaln=mvlgamma psi=digamma""",
    },
    "vocabulary.special_namespace": {
        "special+out": """
            airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 betainc chebyshev_polynomial_t chebyshev_polynomial_u
            chebyshev_polynomial_v chebyshev_polynomial_w entr erfcx hermite_polynomial_h hermite_polynomial_he i0e i1
            i1e laguerre_polynomial_l legendre_polynomial_p log_ndtr modified_bessel_i1 modified_bessel_k0
            modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0 scaled_modified_bessel_k1
            shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
            shifted_chebyshev_polynomial_w spherical_bessel_j0 xlog1py zeta"""
    },
    "vocabulary.spectra": {"of_tensor method": "istft stft"},
    "vocabulary.statistics": {
        "package": "histogramdd",
        "of_tensor method": "bincount corrcoef cov",
        "of_tensor+out method": "histc histogram median mode nanmedian nanquantile quantile",
    },
}


class Place(NamedTuple):
    """The module that defines a public name, and the name's form."""

    module: str
    defined: str
    form: str
    """The form, including its `+out` or `+fills`."""

    @property
    def takes_out(self) -> bool:
        """True if the function takes `out=`."""
        return self.form.endswith("+out")


METHODS: dict[str, Place] = {}
IN_PLACE: dict[str, Place] = {}
NAMESPACES: dict[str, dict[str, Place]] = {
    "pullback": {}, "nn.functional": {}, "linalg": {}, "fft": {}, "special": {},
}  # fmt: skip
"""The functions of the package, and of its namespace modules that have no definitions of their own."""

BY_FORM = {
    **dict.fromkeys(("package", "of_tensor", "of_pair", "of_either", "of_method"), NAMESPACES["pullback"]),
    "method": METHODS, "in_place": IN_PLACE, "functional": NAMESPACES["nn.functional"],
    "linalg": NAMESPACES["linalg"], "fft": NAMESPACES["fft"], "special": NAMESPACES["special"],
}  # fmt: skip


def _read_table() -> None:
    for module, rows in TABLE.items():
        for forms, names in rows.items():
            for form in forms.split():
                index = BY_FORM[form.partition("+")[0]]
                for word in names.split():
                    name, _, defined = word.partition("=")
                    index[name] = Place(module, defined or name, form)


_read_table()
