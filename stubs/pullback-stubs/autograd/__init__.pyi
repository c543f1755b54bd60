"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from .anomaly_mode import AnomalyError as AnomalyError
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .checks import gradcheck as gradcheck
from .checks import gradgradcheck as gradgradcheck
from .function import Function as Function
from .passes import backward as backward
from .variables import Variable as Variable
from .variables import variable as variable
from . import forward_ad as forward_ad
from . import functional as functional
from . import graph as graph
from .._core.modes import enable_grad as enable_grad
from .._core.modes import inference_mode as inference_mode
from .._core.modes import no_grad as no_grad
from .._core.modes import set_grad_enabled as set_grad_enabled
from .._tape.backward import grad as grad
