"""Functions of the parameters of a module: torch.nn.utils."""

from ..._core import lazy as _lazy

__getattr__, __dir__, __all__ = _lazy.index(
    globals(),
    {
        "clip_grad": "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm",
        "convert_parameters": "parameters_to_vector vector_to_parameters",
        "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
        "init": "skip_init",
        "norms": "remove_spectral_norm remove_weight_norm spectral_norm weight_norm",
    },
    "parametrizations parametrize prune rnn stateless",
)
