"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import overload as _overload
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from typing import Any as _Any
import numpy as _np

_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def adaptive_avg_pool1d(input: Tensor, output_size: int | _Sequence[int]) -> Tensor:
    """The means over `output_size` regions that cover the signals; arguments as for `nn.AdaptiveAvgPool1d`."""
def adaptive_avg_pool2d(input: Tensor, output_size: int | _Sequence[int | None] | None) -> Tensor:
    """The means over `output_size` regions that cover the images; arguments as for `nn.AdaptiveAvgPool2d`."""
def adaptive_avg_pool3d(input: Tensor, output_size: int | _Sequence[int | None] | None) -> Tensor:
    """The means over `output_size` regions that cover the volumes; arguments as for `nn.AdaptiveAvgPool3d`."""
def adaptive_max_pool1d(input: Tensor, output_size: int | _Sequence[int], return_indices: bool = False) -> Tensor:
    """The maxima over `output_size` regions that cover the signals; arguments as for `nn.AdaptiveMaxPool1d`."""
def adaptive_max_pool2d(input: Tensor, output_size: int | _Sequence[int | None] | None, return_indices: bool = False) -> Tensor:
    """The maxima over `output_size` regions that cover the images; arguments as for `nn.AdaptiveMaxPool2d`."""
def adaptive_max_pool3d(input: Tensor, output_size: int | _Sequence[int | None] | None, return_indices: bool = False) -> Tensor:
    """The maxima over `output_size` regions that cover the volumes; arguments as for `nn.AdaptiveMaxPool3d`."""
def affine_grid(theta: Tensor, size: _Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` of an image size transformed by affine maps, (batch, 2, 3) or (batch, 3, 4)."""
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that preserves the mean and variance of the outputs of selu; arguments as for `nn.Dropout`."""
def avg_pool1d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The means over windows of signals, (batch, channels, length); arguments as for `nn.AvgPool1d`."""
def avg_pool2d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The means over windows of images, (batch, channels, height, width); arguments as for `nn.AvgPool2d`."""
def avg_pool3d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The means over windows of volumes, (batch, channels, depth, height, width); arguments as for `nn.AvgPool3d`."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel (axis 1) minus its mean, divided by its standard deviation, times a weight plus a bias."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each k, plus a bias, over the last axes of the inputs."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The negative log-probability of targets in [0, 1], from probabilities (logarithms at least -100); arguments as for `nn.BCELoss`."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """The negative log-probability of targets in [0, 1], from scores whose sigmoid is the probability."""
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input above 0, alpha * (exp(input / alpha) - 1) elsewhere; arguments as for `nn.CELU`."""
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In place: The input above 0, alpha * (exp(input / alpha) - 1) elsewhere; arguments as for `nn.CELU`."""
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels interleaved: the first of each group, then the second of each, and so on."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] | str = 0, dilation: int | _Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of signals, (batch, channels, length), with a weight, (results, channels / groups, size)."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] | str = 0, dilation: int | _Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of images, (batch, channels, height, width), with a weight, (results, channels / groups, *)."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] | str = 0, dilation: int | _Sequence[int] = 1, groups: int = 1) -> Tensor:
    """The cross-correlation of volumes, (batch, channels, *size), with a weight, (results, channels / groups, *kernel)."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The cross-correlation of signals, (length, batch, channels), with a weight, (size, channels, results)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] = 0, output_padding: int | _Sequence[int] = 0, groups: int = 1, dilation: int | _Sequence[int] = 1) -> Tensor:
    """The transpose of conv1d, its vector-Jacobian product; the weight is (channels, results / groups, size)."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] = 0, output_padding: int | _Sequence[int] = 0, groups: int = 1, dilation: int | _Sequence[int] = 1) -> Tensor:
    """The transpose of conv2d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel)."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | _Sequence[int] = 1, padding: int | _Sequence[int] = 0, output_padding: int | _Sequence[int] = 0, groups: int = 1, dilation: int | _Sequence[int] = 1) -> Tensor:
    """The transpose of conv3d, its vector-Jacobian product; the weight is (channels, results / groups, *kernel)."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """For vectors along the last axis, 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
@_overload
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dim; norms below eps are replaced by eps."""
@_overload
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dim; norms below eps are replaced by eps."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """The negative log-probability of the target classes, from unnormalized scores of shape (C), (N, C) or (N, C, ...)."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | _Sequence[int], target_lengths: Tensor | _Sequence[int], blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False) -> Tensor:
    """The negative log-probability of label sequences, over all their alignments with log-probabilities (T, N, C)."""
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, zeros with probability p; the other elements are divided by 1 - p; arguments as for `nn.Dropout`."""
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L); arguments as for `nn.Dropout`."""
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W); arguments as for `nn.Dropout`."""
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W); arguments as for `nn.Dropout`."""
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input above 0, alpha * (exp(input) - 1) elsewhere; arguments as for `nn.ELU`."""
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In place: The input above 0, alpha * (exp(input) - 1) elsewhere; arguments as for `nn.ELU`."""
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of `weight` selected by the indices in `input`; arguments as for `nn.Embedding`."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` selected by each bag of indices; an empty bag gives zeros."""
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels; arguments as for `nn.Dropout`."""
def fold(input: Tensor, output_size: int | _Sequence[int], kernel_size: int | _Sequence[int], dilation: int | _Sequence[int] = 1, padding: int | _Sequence[int] = 0, stride: int | _Sequence[int] = 1) -> Tensor:
    """The sum of columns at their window positions in an image of a given size: the transpose of `unfold`."""
def fractional_max_pool2d(input: Tensor, kernel_size: int | _Sequence[int], output_size: int | _Sequence[int] | None = None, output_ratio: float | _Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None) -> Tensor:
    """The maxima over windows of images at random positions; arguments as for `nn.FractionalMaxPool2d`."""
def fractional_max_pool3d(input: Tensor, kernel_size: int | _Sequence[int], output_size: int | _Sequence[int] | None = None, output_ratio: float | _Sequence[float] | None = None, return_indices: bool = False, _random_samples: Tensor | None = None) -> Tensor:
    """The maxima over windows of volumes at random positions; arguments as for `nn.FractionalMaxPool3d`."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> Tensor:
    """The negative log-probability of targets under normal distributions with means `input` and variances `var`."""
def gelu(input: Tensor, approximate: str = 'none', *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input times the probability that a standard normal variable lies below it; arguments as for `nn.GELU`."""
@_overload
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of its second half."""
@_overload
def glu(input: Tensor, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of its second half."""
def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """Images, (batch, channels, height, width), sampled at the points (x, y) of a grid, (batch, height, width, 2)."""
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Groups of channels of each sample with mean 0 and variance 1, times a weight plus a bias per channel."""
@_overload
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample from the Gumbel-softmax distribution: logits plus noise, through a softmax of temperature tau."""
@_overload
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, axis: int = -1) -> Tensor:
    """A sample from the Gumbel-softmax distribution: logits plus noise, through a softmax of temperature tau."""
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within `lambd` of 0, the input elsewhere; arguments as for `nn.Hardshrink`."""
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1 / 2, limited to [0, 1]."""
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input)."""
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """The input limited to [min_val, max_val]; its slope at the bounds is 0; arguments as for `nn.Hardtanh`."""
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In place: The input limited to [min_val, max_val]; its slope at the bounds is 0; arguments as for `n"""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1; arguments as for `nn.HingeEmbeddingLoss`."""
def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """Half the squared difference where it is below delta; else delta times the absolute one less delta / 2."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel of each sample, less its mean, over its standard deviation, times a weight plus a bias."""
def interpolate(input: Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """Signals, images or volumes, (batch, channels, *lengths), interpolated to another size."""
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence target * (log(target) - input), where input is a log-probability."""
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', weight: Tensor | None = None) -> Tensor:
    """The absolute difference of two tensors; arguments as for `mse_loss`."""
def layer_norm(input: Tensor, normalized_shape: int | _Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """The input with mean 0 and variance 1 over its last axes, times a weight plus a bias."""
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The input above 0, `negative_slope` times the input elsewhere; arguments as for `nn.LeakyReLU`."""
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In place: The input above 0, `negative_slope` times the input elsewhere; arguments as for `nn.LeakyR"""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input @ weight.T + bias, over the last axis of the input."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int | None = None, label_smoothing: float = 0.0, options: object = None) -> Tensor:
    """The cross-entropy of scores that are linear in the input: `input @ linear_weight.T + linear_bias`."""
def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """The input divided by (k + alpha * the mean square of `size` neighboring channels) ** beta."""
@_overload
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
@_overload
def log_softmax(input: Tensor, axis: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without overflow."""
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The roots of sums of powers over windows of signals, without absolute values; arguments as for `nn.LPPool1d`."""
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms over windows of images, without absolute values; arguments as for `nn.LPPool2d`."""
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """The p-norms over windows of volumes, without absolute values; arguments as for `nn.LPPool3d`."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, margin - target * (input1 - input2)), where target 1 ranks input1 higher, and -1 input2."""
def max_pool1d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, dilation: int | _Sequence[int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """The maxima over windows of signals, (batch, channels, length); arguments as for `nn.MaxPool1d`."""
def max_pool2d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, dilation: int | _Sequence[int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """The maxima over windows of images, (batch, channels, height, width); arguments as for `nn.MaxPool2d`."""
def max_pool3d(input: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, dilation: int | _Sequence[int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """The maxima over windows of volumes; arguments as for `nn.MaxPool3d`."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, output_size: _Sequence[int] | None = None) -> Tensor:
    """The inverse of max_pool1d: maxima at their indices, zeros elsewhere; arguments as for `nn.MaxUnpool1d`."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, output_size: _Sequence[int] | None = None) -> Tensor:
    """The inverse of max_pool2d: maxima at their indices, zeros elsewhere; arguments as for `max_unpool1d`."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: int | _Sequence[int], stride: int | _Sequence[int] | None = None, padding: int | _Sequence[int] = 0, output_size: _Sequence[int] | None = None) -> Tensor:
    """The inverse of max_pool3d: maxima at their indices, zeros elsewhere; arguments as for `max_unpool1d`."""
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input))."""
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', weight: Tensor | None = None) -> Tensor:
    """The squared difference of two tensors."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, between linear projections: the result and, with `need_weights`, the weights."""
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The mean of max(0, margin - score of the target class + score) ** p over the other classes."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The sum of max(0, 1 - score of a label + score of another class) over classes: labels end at the first -1."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The mean over the last axis of the negative log-probability of labels, from scores."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The negative log-probability of the target classes, from log-probabilities of shape (C), (N, C) or (N, C, ...)."""
@_overload
def normalize(input: Tensor, p: float = 2.0, dim: int | _Sequence[int] | None = 1, eps: float = 1e-12, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input divided by its p-norm along a dim; norms below eps are replaced by eps."""
@_overload
def normalize(input: Tensor, p: float = 2.0, axis: int | _Sequence[int] | None = 1, eps: float = 1e-12, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input divided by its p-norm along a dim; norms below eps are replaced by eps."""
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 at the index given by each class number, along a new last axis, and 0 elsewhere."""
def pad(input: Tensor, pad: _Sequence[int], mode: str = 'constant', value: float | None = None) -> Tensor:
    """An input with its last axes padded or, by negative widths, cropped: `pad` is (before, after) of the last, then others."""
@_overload
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis; arguments as for `nn.PairwiseDistance`."""
@_overload
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdims: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis; arguments as for `nn.PairwiseDistance`."""
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distances between the rows of a matrix, each pair once."""
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Images of r times the height and width, from r * r times as many channels; arguments as for `nn.PixelShuffle`."""
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: images of an r-th of the height and width, with r * r times as many channels."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-08, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """The negative log-probability of counts, from the rate of their Poisson distribution or its logarithm."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input above 0, elsewhere weight times it; a weight for all elements or for each channel (axis 1)."""
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0), elementwise; its slope at 0 is 0."""
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The input limited to [0, 6]."""
def relu_(input: Tensor) -> Tensor:
    """In place: max(input, 0), elementwise; its slope at 0 is 0."""
def rms_norm(input: Tensor, normalized_shape: int | _Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The input divided by its root mean square over its last axes, times a weight; arguments as for `nn.RMSNorm`."""
def rrelu(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, inplace: bool = False) -> Tensor:
    """A leaky relu whose slope is random for each element while training, and otherwise the mean of its bounds."""
def rrelu_(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False) -> Tensor:
    """In place: A leaky relu whose slope is random for each element while training, and otherwise the mean"""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value; the scale is 1 / sqrt(the last size) unless given."""
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The elu that preserves mean 0 and variance 1 from layer to layer."""
def selu_(input: Tensor) -> Tensor:
    """In place: The elu that preserves mean 0 and variance 1 from layer to layer."""
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)), elementwise."""
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """The squared difference, halved and divided by beta, below beta; else the absolute one less beta / 2; arguments as for `nn.SmoothL1Loss`."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1."""
@_overload
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
@_overload
def softmax(input: Tensor, axis: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
@_overload
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """The softmax of -input."""
@_overload
def softmin(input: Tensor, axis: int | None = None, _stacklevel: int = 3, dtype: _DType | None = None) -> Tensor:
    """The softmax of -input."""
def softplus(input: Tensor, beta: float = 1, threshold: float = 20, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(1 + exp(beta * input)) / beta; the input itself where beta * input is above the threshold."""
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The input moved towards 0 by `lambd`, and 0 within that of 0; arguments as for `nn.Softshrink`."""
def softsign(input: Tensor) -> Tensor:
    """input / (1 + abs(input))."""
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The input above the threshold, the value elsewhere; arguments as for `nn.Threshold`."""
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In place: The input above the threshold, the value elsewhere; arguments as for `nn.Threshold`."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-06, swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative), with p-norm distances."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: _Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """`triplet_margin_loss` with any function of two tensors as the distance."""
def unfold(input: Tensor, kernel_size: int | _Sequence[int], dilation: int | _Sequence[int] = 1, padding: int | _Sequence[int] = 0, stride: int | _Sequence[int] = 1) -> Tensor:
    """The windows of images as columns: (batch, channels * height * width of a window, number of windows)."""
def upsample(input: Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None) -> Tensor:
    """`interpolate` under its older name; arguments as for `interpolate`."""
def upsample_bilinear(input: Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None) -> Tensor:
    """`interpolate` with mode 'bilinear' and aligned corners; arguments as for `interpolate`."""
def upsample_nearest(input: Tensor, size: int | _Sequence[int] | None = None, scale_factor: float | _Sequence[float] | None = None) -> Tensor:
    """`interpolate` with mode 'nearest'; arguments as for `interpolate`."""
