"""What is done with the parameters of a module: torch.nn.utils by its names."""

from __future__ import annotations

from typing import Any

from ..._core.lazy import later
from . import stateless as stateless
from .clip_grad import clip_grad_norm as clip_grad_norm
from .clip_grad import clip_grad_norm_ as clip_grad_norm_
from .clip_grad import clip_grad_value_ as clip_grad_value_
from .clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from .clip_grad import get_total_norm as get_total_norm
from .convert_parameters import parameters_to_vector as parameters_to_vector
from .convert_parameters import vector_to_parameters as vector_to_parameters

_PARTS = ("fusion", "init", "parametrizations", "parametrize", "prune", "rnn")
_LATER = {
    "skip_init": "init",
    **dict.fromkeys(("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"), "norms"),
    **dict.fromkeys(
        ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"), "fusion"
    ),
}


def __getattr__(name: str) -> Any:
    return later(globals(), name, _LATER, _PARTS)


def __dir__() -> list[str]:
    return [*globals(), *_PARTS, *_LATER]
