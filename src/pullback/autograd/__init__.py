"""torch.autograd's public names: backward, grad, and access to the graph."""

from .._core import lazy as _lazy
from .._core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tape.backward import grad

__getattr__, __dir__, __all__ = _lazy.index(
    globals(),
    {
        "anomaly_mode": "AnomalyError detect_anomaly is_anomaly_enabled set_detect_anomaly",
        "checks": "gradcheck gradgradcheck",
        "function": "Function",
        "passes": "backward",
        "variables": "Variable variable",
    },
    "forward_ad functional graph",
)
__all__ += ["enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
