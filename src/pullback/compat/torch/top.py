"""The names of the torch module that are not operators: versions, switches, and dtypes that NumPy lacks."""

import importlib
import typing
from types import ModuleType
from typing import Any

from ... import (
    Tensor,
    as_tensor,
    device as _device,
    dtype as _Kind,
    empty,
    finfo as _Limits,
    float16,
    get_machine_code,
    inference_mode as inference_mode,
    int8,
    int32,
    layout as _layout,
    set_default_dtype,
    set_machine_code,
)
from ..._core.placement import accept
from ..._numerics import random
from . import precision, scripting
from .accelerators import OutOfMemoryError as OutOfMemoryError
from .exchange import from_dlpack as from_dlpack, to_dlpack as to_dlpack
from .futures import Future as Future
from .precision import GradScaler as GradScaler
from .sparse import (
    smm as smm,
    sparse_coo_tensor as sparse_coo_tensor,
    sparse_csr_tensor as sparse_csr_tensor,
    spmm as spmm,
)
from .storing import load as load, save as save
from .version import __version__ as __version__

autocast = precision.autocast
compile = scripting.compile
newaxis = None
DeviceObjType = _device
TYPE_CHECKING = typing.TYPE_CHECKING
has_mkl = has_openmp = False
has_lapack = True


class _Bits:
    """A dtype of fewer than eight bits: programs may name it, but no tensor has it, and torch's have no operations."""

    itemsize, is_complex, is_floating_point = 1, False, False

    def __init__(self, name: str) -> None:
        self.name, self.is_signed = name, name[0] != "u"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class _Absent(_Bits):
    """A dtype of more bits that NumPy does not have: programs may also ask for its limits."""

    def __init__(self, name: str, bits: int, largest: float, eps: float, tiny: float, resolution: float) -> None:
        super().__init__(name)
        self.itemsize = bits // 8
        self.limits = FloatingLimits(bits, largest, eps, tiny, resolution, name)
        self.is_floating_point = name != "complex32"


class FloatingLimits:
    """What `torch.finfo` says of a dtype that NumPy does not have."""

    def __init__(self, bits: int, largest: float, eps: float, tiny: float, resolution: float, name: str) -> None:
        self.bits, self.max, self.min, self.eps, self.dtype = bits, largest, -largest, eps, name
        self.tiny = self.smallest_normal = tiny
        self.resolution = resolution


class finfo(_Limits):
    """`pullback.finfo`, which also knows the dtypes that NumPy does not have."""

    __slots__ = ()

    def __new__(cls, type: Any = None) -> Any:
        """The limits of a dtype."""
        return type.limits if isinstance(type, _Absent) else object.__new__(cls)


int1, int2, int3, int4, int5, int6, int7 = [_Bits(f"int{bits}") for bits in range(1, 8)]
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = [_Bits(f"uint{bits}") for bits in range(1, 8)]
sparse_coo, sparse_csr, sparse_csc, jagged = map(_layout, ("sparse_coo", "sparse_csr", "sparse_csc", "jagged"))
# Bits; the largest number, the gap above 1, the smallest normal number; the resolution of decimal digits. By the OCP's
# definitions of small formats, and as torch.finfo says.
float8_e4m3fn = _Absent("float8_e4m3fn", 8, 448.0, 2**-3, 2**-6, 1.0)
float8_e5m2 = _Absent("float8_e5m2", 8, 57344.0, 2**-2, 2**-14, 1.0)
float8_e4m3fnuz = _Absent("float8_e4m3fnuz", 8, 240.0, 2**-3, 2**-7, 1.0)
float8_e5m2fnuz = _Absent("float8_e5m2fnuz", 8, 57344.0, 2**-2, 2**-15, 1.0)
float8_e8m0fnu = _Absent("float8_e8m0fnu", 8, 2.0**127, 1.0, 2.0**-127, 1.0)
float4_e2m1fn_x2 = _Absent("float4_e2m1fn_x2", 8, 6.0, 0.5, 1.0, 1.0)
complex32 = _Absent("complex32", 32, 65504.0, 2**-10, 2**-14, 0.001)


class _Chosen:
    """What a process has chosen."""

    product_precision = "highest"


def set_product_precision(precision: str) -> None:
    """Set the precision of float32 products, without effect on NumPy's; ValueError for an unknown value."""
    if precision not in {"highest", "high", "medium"}:
        raise ValueError(f"invalid float32 matmul precision {precision!r}: choose 'highest', 'high' or 'medium'")
    _Chosen.product_precision = precision


def get_product_precision() -> str:
    """The last argument of `set_float32_matmul_precision`."""
    return _Chosen.product_precision


set_float32_matmul_precision, get_float32_matmul_precision = set_product_precision, get_product_precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Have the bits of results not depend on what the process has computed before: see `pullback.set_machine_code`.

    With True, what would be "auto" becomes "never"; with False, the mode is "auto" again.
    """
    if bool(mode) != are_deterministic_algorithms_enabled():
        set_machine_code("never" if mode else "auto")


def are_deterministic_algorithms_enabled() -> bool:
    """Whether machine code is used always or never, so that results do not depend on what came before."""
    return get_machine_code() != "auto"


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """False: there is nothing to warn of."""
    return False


def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made in inference mode."""
    return bool(input.is_inference())


def set_flush_denormal(mode: bool) -> bool:
    """False: the processor's mode is not changed."""
    return False


def set_num_interop_threads(number: int) -> None:
    """Has no effect: operations run one after the other."""


def get_num_interop_threads() -> int:
    """1: operations run one after the other."""
    return 1


def get_deterministic_debug_mode() -> int:
    """0, or 2 while what depends on earlier computation is left out."""
    return 2 * are_deterministic_algorithms_enabled()


def is_autocast_cache_enabled() -> bool:
    """True, as in torch: weights are not converted, so none is kept."""
    return True


def set_warn_always(mode: bool) -> None:
    """Has no effect: Python's filters decide how often a warning is shown."""


def is_warn_always_enabled() -> bool:
    """False: Python's filters decide how often a warning is shown."""
    return False


def _assert(condition: object, message: str) -> None:
    """Raises AssertionError with the message unless the condition holds."""
    assert condition, message


def _assert_async(tensor: object, message: str = "") -> None:
    """Raises RuntimeError with the message unless the tensor's only element is not zero."""
    if not tensor:
        raise RuntimeError(message or "Expected Tensor with single nonzero value, but got zero")


def _check(cond: object, message: typing.Callable[[], str] | None = None) -> None:
    """Raises RuntimeError, with the message that `message` returns, unless the condition holds."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False." if message is None else message())


def _check_is_size(i: int, message: typing.Callable[[], str] | None = None, *, max: int | None = None) -> None:
    """Raises RuntimeError unless a number can be the size of an axis, up to `max`."""
    _check(i >= 0 and (max is None or i <= max), message)


def _int_mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices of int8, which is of int32."""
    wrong = [each for each in (input, mat2) if each.dtype != int8 or each.ndim != 2]
    if wrong:
        raise RuntimeError(f"_int_mm: both must be matrices of int8, not {wrong[0].dtype} with {wrong[0].ndim} axes")
    return input.to(int32) @ mat2.to(int32)


def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> bool:
    """True: all tensors are dense, on the CPU."""
    return True


def _disable_dynamo(fn: typing.Any = None, recursive: bool = True) -> typing.Any:
    """A function as it is, or a decorator that leaves functions so."""
    return fn if fn is not None else lambda function: function


def set_default_device(device: str | _device) -> None:
    """Set the device of new tensors; RuntimeError for one other than the CPU."""
    accept("set_default_device", {"device": device})


def get_default_device() -> _device:
    """The device of new tensors: the CPU, or in its block meta."""
    return empty(0).device


def set_default_tensor_type(t: str | type) -> None:
    """The deprecated form of `set_default_dtype`: by a tensor type such as `torch.DoubleTensor`, or its name."""
    set_default_dtype(empty(0).type(t).dtype)


def typename(obj: object) -> str:
    """The name of an object's type, with its module; for a tensor, its legacy type."""
    if isinstance(obj, type):
        return f"{obj.__module__}.{obj.__qualname__}"
    return str(obj.type()) if hasattr(obj, "requires_grad") and hasattr(obj, "type") else typename(type(obj))


def is_distributed(input: object) -> bool:
    """False: tensors belong to one process."""
    return False


def is_vulkan_available() -> bool:
    """False: there is only the CPU."""
    return False


def is_autocast_enabled(device_type: object = None) -> bool:
    """False: the precision of operations is not changed."""
    return False


def is_autocast_available(device_type: str) -> bool:
    """True if there is such a device."""
    return precision.is_autocast_available(device_type)


def get_autocast_dtype(device_type: str) -> _Kind | _Absent:
    """The dtype that mixed precision would have on a kind of device: bfloat16 on the CPU, float16 elsewhere."""
    return __getattr__("bfloat16") if device_type == "cpu" else float16


def get_autocast_cpu_dtype() -> _Kind | _Absent:
    """The dtype that mixed precision would have on the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> _Kind | _Absent:
    """The dtype that mixed precision would have on a GPU."""
    return get_autocast_dtype("cuda")


def get_device_module(device: str | _device | None = None) -> ModuleType:
    """The module of a kind of device, by default of the CPU: `torch.cpu`."""
    kind = "cpu" if device is None else device.type if isinstance(device, _device) else _device(device).type
    return getattr(importlib.import_module("torch"), kind)


def sym_int(a: float) -> int:
    """A number, which is no symbol here, without its fraction."""
    return int(a)


def _shape_as_tensor(input: Tensor) -> Tensor:
    """The shape of a tensor, as a tensor."""
    return as_tensor(input.shape)


def clear_autocast_cache() -> None:
    """Has no effect: there is no cache."""


def _bfloat() -> _Kind | _Absent:
    try:
        return importlib.import_module("pullback").bfloat16
    except ImportError:  # of the package that stores such numbers
        return _Absent("bfloat16", 16, (2 - 2**-7) * 2.0**127, 2**-7, 2.0**-126, 0.01)


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        globals()[name] = found = _bfloat()
        return found
    if name == "StorageBase":
        return type(empty(0).untyped_storage())
    if name == "default_generator":
        return random.default_generator()
    if name == "torch":  # torch has itself as an attribute, and programs use torch.torch.Tensor
        return importlib.import_module("torch")
    if name.startswith("_foreach_"):
        return importlib.import_module("pullback.compat.torch.foreach").foreach(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
