"""torch.backends: the settings of libraries that torch uses, and pullback does not.

They can be read and written, without effect.
"""

from collections.abc import Callable
from typing import Any

from .inert import block, does_nothing, no

fp32_precision = "none"


class _Settings:
    """Attributes that can be assigned."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = False
    allow_bf16_reduced_precision_reduction = False
    fp32_precision = "ieee"


class _Backend:
    """The common attributes of all backends."""

    is_available = is_built = staticmethod(no)
    enabled = False
    version: Callable[[], Any] = staticmethod(does_nothing)
    flags = staticmethod(block)


class cudnn(_Backend):
    """torch.backends.cudnn."""

    enabled = True
    benchmark = deterministic = False
    benchmark_limit = 10
    allow_tf32 = True
    fp32_precision = "none"
    conv = _Settings()
    rnn = _Settings()
    is_acceptable = staticmethod(no)


class cuda(_Backend):
    """torch.backends.cuda."""

    matmul = _Settings()
    sdp_kernel = staticmethod(block)
    enable_flash_sdp = enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = staticmethod(does_nothing)
    flash_sdp_enabled = mem_efficient_sdp_enabled = cudnn_sdp_enabled = staticmethod(no)
    is_flash_attention_available = staticmethod(no)
    math_sdp_enabled: Callable[[], bool] = staticmethod(lambda: True)
    preferred_linalg_library = preferred_blas_library = staticmethod(does_nothing)


class mps(_Backend):
    """torch.backends.mps."""

    is_macos_or_newer = staticmethod(no)


class mkl(_Backend):
    """torch.backends.mkl."""


class mkldnn(_Backend):
    """torch.backends.mkldnn."""

    matmul = _Settings()
    set_flags = staticmethod(does_nothing)


class openmp(_Backend):
    """torch.backends.openmp."""


class nnpack(_Backend):
    """torch.backends.nnpack."""

    set_flags = staticmethod(does_nothing)


class opt_einsum(_Backend):
    """torch.backends.opt_einsum."""

    strategy = "auto"


class quantized(_Backend):
    """torch.backends.quantized."""

    engine = "none"
    supported_engines = ("none",)


class cpu(_Backend):
    """torch.backends.cpu."""

    get_cpu_capability: Callable[[], str] = staticmethod(lambda: "DEFAULT")
