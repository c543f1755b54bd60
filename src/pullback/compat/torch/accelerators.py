"""torch.cuda and similar modules on a machine without accelerators: no devices, and nothing to wait for.

Functions that query devices report none; functions that free memory, wait or count have no effect; functions that would
compute on a device raise torch's errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import precision
from .inert import block, does_nothing, no, none_found, zero

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from ..._core.typing import Tensor


_NO_CUDA = "Torch not compiled with CUDA enabled: pullback computes on the CPU"


def _refuse(*args: object, **options: object) -> NoReturn:
    """Raises: there is no device."""
    raise AssertionError(_NO_CUDA)


class _Typed(type):
    """The deprecated tensor types of accelerators, which have no instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return False

    __call__ = staticmethod(_refuse)


class _CudaTensor(metaclass=_Typed):
    pass


class _Accelerator:
    """The common functions of the modules of all accelerators."""

    is_available = is_initialized = is_bf16_supported = is_built = is_tf32_supported = staticmethod(no)
    device_count = memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = staticmethod(zero)
    memory_cached = max_memory_cached = current_allocated_memory = driver_allocated_memory = staticmethod(zero)
    empty_cache = synchronize = manual_seed = manual_seed_all = seed = seed_all = staticmethod(does_nothing)
    reset_peak_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = staticmethod(does_nothing)
    reset_accumulated_memory_stats = ipc_collect = set_per_process_memory_fraction = staticmethod(does_nothing)
    current_device = set_device = get_device_name = get_device_capability = staticmethod(_refuse)
    get_device_properties = mem_get_info = utilization = init = current_stream = staticmethod(_refuse)
    default_stream = set_rng_state = get_rng_state = staticmethod(_refuse)
    stream = device_of = staticmethod(block)
    get_arch_list = get_rng_state_all = staticmethod(none_found)

    @staticmethod
    def set_rng_state_all(new_states: Sequence[Tensor]) -> None:
        """Set the states of all devices, of which there are none."""
        if len(new_states):
            _refuse()


class OutOfMemoryError(RuntimeError):
    """The error for a full accelerator memory, which cannot occur here; programs name it to catch it."""


class profiler:
    """torch.cuda.profiler: the limits of what a profiler of devices sees."""

    init = start = stop = staticmethod(does_nothing)
    profile = staticmethod(block)


class nvtx:
    """torch.cuda.nvtx: marks for a profiler that does not exist here."""

    mark = range_push = range_pop = staticmethod(does_nothing)
    range = staticmethod(block)


class cuda(_Accelerator):
    """torch.cuda without a device."""

    amp = precision.cuda_amp
    nvtx = nvtx
    profiler = profiler
    _initialized = False
    default_generators: tuple[Any, ...] = ()  # one for each device
    is_current_stream_capturing = staticmethod(no)
    can_device_access_peer = staticmethod(_refuse)
    set_stream = staticmethod(does_nothing)
    _lazy_call = staticmethod(does_nothing)  # what is to be done when a device is first used
    _record_memory_history = staticmethod(does_nothing)
    cudart = _snapshot = _dump_snapshot = staticmethod(_refuse)
    OutOfMemoryError = OutOfMemoryError
    device = staticmethod(block)
    memory_stats: Callable[..., dict[str, int]] = staticmethod(lambda device=None: {})
    memory_summary: Callable[..., str] = staticmethod(lambda device=None, abbreviated=False: "")
    FloatTensor = DoubleTensor = HalfTensor = BFloat16Tensor = LongTensor = IntTensor = _CudaTensor
    ByteTensor = BoolTensor = CharTensor = ShortTensor = _CudaTensor


class mps(_Accelerator):
    """torch.mps without a device."""


class xpu(_Accelerator):
    """torch.xpu without a device."""

    device = staticmethod(block)


class mtia(_Accelerator):
    """torch.mtia without a device."""


class accelerator(_Accelerator):
    """torch.accelerator: the current accelerator, None."""

    current_accelerator = staticmethod(does_nothing)
    current_device_index = current_device_idx = staticmethod(_refuse)


class cpu:
    """torch.cpu: the only device."""

    amp = precision.cpu_amp
    is_available: Callable[..., bool] = staticmethod(lambda: True)
    device_count: Callable[..., int] = staticmethod(lambda: 1)
    current_device: Callable[..., str] = staticmethod(lambda: "cpu")
    synchronize = set_device = staticmethod(does_nothing)
