"""Module: the base of every layer and model, by torch's names.

Its parts are modules of their own: its parameters, buffers and submodules (`members`), calling it (`calls`), and its
state as a dictionary (`state`). This one has the operations on all members at once, and how a module is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, overload

from ..._core import dtypes, placement
from ..._core.modes import no_grad, restoring
from ..._core.primitives import Carrier
from ..._core.sites import warn
from ..uninitialized import is_lazy
from .calls import Calls
from .hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
    register_module_forward_hook as register_module_forward_hook,
    register_module_forward_pre_hook as register_module_forward_pre_hook,
    register_module_full_backward_hook as register_module_full_backward_hook,
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
    register_module_module_registration_hook as register_module_module_registration_hook,
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from .state import State, _IncompatibleKeys as _IncompatibleKeys

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Tensor


def _take(tensor: Tensor, value: Tensor) -> None:
    """Replace a tensor's values, and the device that it tells, by those of another, unless it is the same."""
    if value is not tensor:
        tensor.data = value
        if value.device is not tensor.device:
            tensor._place = value.device


class Module(State, Calls):
    """The base of layers and models: define `__init__`, which assigns parameters and other modules, and `forward`.

    Assigned parameters, buffers and modules are registered: `parameters()` finds those of all modules below, for an
    optimizer; `state_dict()` saves them. Call the module, not its `forward`, so that hooks run.

    >>> import pullback
    >>> from pullback import nn
    >>> class Model(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = nn.Linear(4, 8)
    ...         self.out = nn.Linear(8, 1)
    ...
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    >>> model = Model()
    >>> model(pullback.ones(3, 4)).shape
    pullback.Size([3, 1])
    >>> [name for name, _ in model.named_parameters()]
    ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias']
    """

    # All at once

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call a function with each module below this one, then with this one, for example to initialize weights.

        >>> from pullback import nn
        >>> net = nn.Sequential(nn.Linear(1, 1), nn.ReLU()).apply(print)
        Linear(in_features=1, out_features=1, bias=True)
        ReLU()
        Sequential(
          (0): Linear(in_features=1, out_features=1, bias=True)
          (1): ReLU()
        )
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set the mode in which dropout and batch normalization learn, here and below.

        Raises
        ------
        ValueError
            If `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, not {type(mode).__name__}: {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Have every parameter collect gradients, or none: a frozen module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Delete the gradients of every parameter; with `set_to_none=False` fill them with zeros in place."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.detach_().zero_()

    @restoring
    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the values of parameters, gradients and buffers by the results of a function."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    gradient = parameter.grad
                    _take(parameter, fn(parameter.data if is_lazy(parameter) else parameter))
                    if gradient is not None:
                        parameter.grad = None
                        _take(gradient, fn(gradient))
                        parameter.grad = gradient
            for name, buffer in self._buffers.items():
                if is_lazy(buffer):
                    buffer.data = fn(buffer.data)
                elif buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    @overload
    def to(self, device: Device | None = None, dtype: DType | None = None, non_blocking: bool = False) -> Self: ...

    @overload
    def to(self, dtype: DType, non_blocking: bool = False) -> Self: ...

    @overload
    def to(self, tensor: Tensor, non_blocking: bool = False) -> Self: ...

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating-point parameters and buffers to a dtype, in place; a device may be named, and is the CPU or 'meta'.

        Raises
        ------
        TypeError
            If the dtype is neither floating point nor complex.
        RuntimeError
            If the device is another.

        >>> import pullback
        >>> from pullback import nn
        >>> nn.Linear(2, 1).to(pullback.float64).weight.dtype
        pullback.float64
        """
        dtype, device = None, None
        named = [kwargs.pop(name, None) for name in ("device", "dtype", "tensor")]
        kwargs.pop("non_blocking", None)
        if "copy" in kwargs:
            raise RuntimeError(
                ".to() does not accept copy argument: a module is converted in place; copy.deepcopy copies it"
            )
        placement.accept("to", kwargs)
        for place, value in enumerate((*args, *named)):
            if isinstance(value, Carrier):
                dtype = value.dtype
            elif isinstance(value, str):
                device = placement.reached(value)
            elif isinstance(value, bool) and dtype is None and place < 2:
                raise TypeError(
                    f"to() received an invalid combination of arguments: {value} stands where a dtype or a device does; "
                    "say non_blocking= before it"
                )
            elif value is not None and not isinstance(value, bool):
                dtype = dtypes.as_dtype(value)
        if device is not None:
            self._apply(lambda t: t.to(device))
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def type(self, dst_type: DType) -> Self:
        """Convert all parameters and buffers to a dtype, in place."""
        return self._apply(lambda t: t.type(dst_type))

    def _floating(self, dtype: DType) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Convert floating-point parameters and buffers to float32, in place."""
        return self._floating(dtypes.float32)

    def double(self) -> Self:
        """Convert floating-point parameters and buffers to float64, in place."""
        return self._floating(dtypes.float64)

    def half(self) -> Self:
        """Convert floating-point parameters and buffers to float16, in place."""
        return self._floating(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert floating-point parameters and buffers to bfloat16, in place; ImportError without the package ml_dtypes."""
        return self._floating(dtypes.bfloat())

    def cpu(self) -> Self:
        """This module, which is on the CPU already; NotImplementedError if parameters or buffers tell 'meta'."""
        return self.to("cpu")

    def cuda(self, device: Device | None = None) -> Self:
        """Raises: there is no device but the CPU.

        Raises
        ------
        RuntimeError
            Always.
        """
        placement.here("cuda" if device is None else device)
        return self

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory shared between processes: see `Tensor.share_memory_`."""
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args: object, **kwargs: object) -> None:
        """Compatibility with torch: only issues a note. Use `pullback.compile(module)`, which is faster."""
        warn("Module.compile() changes nothing here: use what compile(module) returns")

    def to_empty(self, *, device: Device | None = None, recurse: bool = True) -> Self:
        """Replace parameters and buffers by uninitialized memory."""
        placement.accept("to_empty", {"device": device})
        return self._apply(lambda t: t.new_empty(t.shape), recurse)

    # Text

    def extra_repr(self) -> str:
        """The text in the brackets of a printed module: its settings, defined by subclasses."""
        return ""

    def _get_name(self) -> str:
        return self.__class__.__name__

    def __repr__(self) -> str:
        own = self.extra_repr()
        lines = own.split("\n") if own else []
        below = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if not below and len(lines) <= 1:
            return f"{self._get_name()}({own})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *below]) + "\n)"


def indented(text: str) -> str:
    """A text with all lines but the first indented by two columns."""
    return text.replace("\n", "\n  ")
