"""Modules that infer the size of their input from the first one: the Lazy... variants of other layers.

Until then their parameters are `UninitializedParameter`s. The first call gives them shapes and initial values, and
changes the module's class to the ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ..._core.modes import no_grad, restoring
from ..._tensor.tensor import Tensor
from ..uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy
from . import batchnorm, conv, instancenorm, linear
from .module import Module
from .state import Report, State

if TYPE_CHECKING:
    from ..._core.typing import Device, DType, Sizes


class LazyModuleMixin(State):
    """What makes a lazy module of a class of modules: a base to stand before it, for modules of your own, too.

    Give the parameters whose shape is unknown as `UninitializedParameter`s in `__init__`, and shapes to them in
    `initialize_parameters`, which gets the arguments of the first call. The module then becomes one of the class
    `cls_to_become`, if that is not None.

    >>> import pullback
    >>> from pullback import nn
    >>> class Scale(nn.LazyModuleMixin, nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.UninitializedParameter()
    ...
    ...     def initialize_parameters(self, x):
    ...         with pullback.no_grad():
    ...             self.factor.materialize(x.shape[-1:])
    ...             self.factor.fill_(2.0)
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(pullback.ones(3))
    tensor([2., 2., 2.], grad_fn=<MulBackward0>)
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(_infer, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give shapes and initial values to the parameters, from the arguments of the first call; for subclasses."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """True if a parameter or buffer of this module, not counting submodules, has no shape yet."""
        return any(map(is_lazy, [*self._parameters.values(), *self._buffers.values()]))

    def _load_member(self, name: str, member: Tensor, key: str, value: Any, assign: bool, report: Report) -> None:
        """Load a parameter: the state gives it its shape; an uninitialized one in the state leaves it uninitialized."""
        if not (is_lazy(member) and isinstance(value, Tensor)):
            super()._load_member(name, member, key, value, assign, report)
        elif not is_lazy(value):
            if not assign:
                report.writes.append(lambda: member.materialize(value.shape))
            report.writes.append(lambda: self._put(name, member, value, assign))


def _infer(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The hook before the first call: it initializes the parameters and removes itself."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    del module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class _Learning(LazyModuleMixin):
    """A lazy module of this library, which infers the first argument of its class from its first input."""

    _learned: ClassVar[str]
    """The name of that argument."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter(dtype=parameter.dtype)

    def reset_parameters(self) -> None:
        """Reset to random initial values, if the shapes are known."""
        if getattr(self, self._learned) != 0 and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]  # that of the class to become

    @restoring
    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Infer the size from an input, and give shapes and initial values to uninitialized parameters."""
        setattr(self, self._learned, self._size_of(input))
        if self.has_uninitialized_params():
            with no_grad():
                for name, member in [*self._parameters.items(), *self._buffers.items()]:
                    if is_lazy(member):
                        member.materialize(self._shape_of(name))
            self.reset_parameters()

    def _size_of(self, input: Tensor) -> int:
        """The size to be inferred from an input."""
        raise NotImplementedError

    def _shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter or buffer, given the size."""
        raise NotImplementedError


class LazyLinear(_Learning, linear.Linear):
    """`Linear` whose `in_features` is the size of the last axis of its first input.

    Arguments as for `Linear`.

    >>> import pullback
    >>> from pullback import nn
    >>> layer = nn.LazyLinear(3)
    >>> layer
    LazyLinear(in_features=0, out_features=3, bias=True)
    >>> layer(pullback.ones(4, 2)).shape, layer
    (pullback.Size([4, 3]), Linear(in_features=2, out_features=3, bias=True))
    """

    cls_to_become = linear.Linear
    _learned = "in_features"

    def __init__(
        self, out_features: int, bias: bool = True, device: Device | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__(out_features, bias, device, dtype)

    def _size_of(self, input: Tensor) -> int:
        return int(input.shape[-1])

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return (self.out_features, self.in_features) if name == "weight" else (self.out_features,)


class _Channels(_Learning):
    """A convolution whose `in_channels` is inferred from its first input."""

    _learned = "in_channels"
    _axes: int
    out_channels: int
    groups: int
    _weight_shape: Callable[[], tuple[int, ...]]

    def _size_of(self, input: Tensor) -> int:
        if input.ndim not in (self._axes + 1, self._axes + 2):
            raise RuntimeError(
                f"Expected {self._axes + 1}D (unbatched) or {self._axes + 2}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {list(input.shape)}"
            )
        channels = int(input.shape[-self._axes - 1])
        if channels % self.groups:
            raise ValueError(f"in_channels must be divisible by groups: got {channels} and {self.groups}")
        return channels

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return self._weight_shape() if name == "weight" else (self.out_channels,)


class _LazyConvolution(_Channels):
    """A convolution that infers its `in_channels`."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        given = (out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        super().__init__(*given)


class _LazyTransposed(_Channels):
    """A transposed convolution that infers its `in_channels`."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        given = (out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode)
        super().__init__(*given, device, dtype)


class LazyConv1d(_LazyConvolution, conv.Conv1d):
    """`Conv1d` whose `in_channels` is that of its first input.

    Arguments as for `Conv1d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConv1d(4, 3)
    >>> layer(pullback.ones(2, 5, 8)).shape, layer
    (pullback.Size([2, 4, 6]), Conv1d(5, 4, kernel_size=(3,), stride=(1,)))
    """

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyConvolution, conv.Conv2d):
    """`Conv2d` whose `in_channels` is that of its first input.

    Arguments as for `Conv2d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConv2d(4, kernel_size=3)
    >>> layer(pullback.ones(1, 2, 5, 5)).shape, layer.in_channels
    (pullback.Size([1, 4, 3, 3]), 2)
    """

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyConvolution, conv.Conv3d):
    """`Conv3d` whose `in_channels` is that of its first input.

    Arguments as for `Conv3d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConv3d(4, kernel_size=3)
    >>> layer(pullback.ones(1, 2, 5, 5, 5)).shape, layer.in_channels
    (pullback.Size([1, 4, 3, 3, 3]), 2)
    """

    cls_to_become = conv.Conv3d


class LazyConvTranspose1d(_LazyTransposed, conv.ConvTranspose1d):
    """`ConvTranspose1d` whose `in_channels` is that of its first input.

    Arguments as for `ConvTranspose1d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConvTranspose1d(4, kernel_size=3)
    >>> layer(pullback.ones(1, 2, 5)).shape, layer.in_channels
    (pullback.Size([1, 4, 7]), 2)
    """

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, conv.ConvTranspose2d):
    """`ConvTranspose2d` whose `in_channels` is that of its first input.

    Arguments as for `ConvTranspose2d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConvTranspose2d(4, kernel_size=3)
    >>> layer(pullback.ones(1, 2, 5, 5)).shape, layer.in_channels
    (pullback.Size([1, 4, 7, 7]), 2)
    """

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, conv.ConvTranspose3d):
    """`ConvTranspose3d` whose `in_channels` is that of its first input.

    Arguments as for `ConvTranspose3d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyConvTranspose3d(4, kernel_size=3)
    >>> layer(pullback.ones(1, 2, 5, 5, 5)).shape, layer.in_channels
    (pullback.Size([1, 4, 7, 7, 7]), 2)
    """

    cls_to_become = conv.ConvTranspose3d


class _LazyNorm(_Learning):
    """A normalization whose `num_features` is the size of axis 1 of its first input."""

    _learned = "num_features"
    num_features: int
    running_mean: Tensor | None
    running_var: Tensor | None

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(dtype=dtype), UninitializedBuffer(dtype=dtype)

    def _size_of(self, input: Tensor) -> int:
        return int(input.shape[1])

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return (self.num_features,)


class LazyBatchNorm1d(_LazyNorm, batchnorm.BatchNorm1d):
    """`BatchNorm1d` whose `num_features` is the size of axis 1 of its first input.

    Arguments as for `BatchNorm1d`.

    >>> import pullback
    >>> norm = pullback.nn.LazyBatchNorm1d()
    >>> norm(pullback.randn(4, 2)).shape, norm.num_features
    (pullback.Size([4, 2]), 2)
    """

    cls_to_become = batchnorm.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, batchnorm.BatchNorm2d):
    """`BatchNorm2d` whose `num_features` is the size of axis 1 of its first input.

    Arguments as for `BatchNorm2d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyBatchNorm2d()
    >>> layer(pullback.ones(4, 3, 2, 2)).shape, layer.num_features
    (pullback.Size([4, 3, 2, 2]), 3)
    """

    cls_to_become = batchnorm.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, batchnorm.BatchNorm3d):
    """`BatchNorm3d` whose `num_features` is the size of axis 1 of its first input.

    Arguments as for `BatchNorm3d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyBatchNorm3d()
    >>> layer(pullback.ones(4, 3, 2, 2, 2)).shape, layer.num_features
    (pullback.Size([4, 3, 2, 2, 2]), 3)
    """

    cls_to_become = batchnorm.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, instancenorm.InstanceNorm1d):
    """`InstanceNorm1d` whose `num_features` is the size of axis 1 of its first input.

    Unlike `InstanceNorm1d`, it has weights and running statistics by default, as in torch.

    Arguments as for `InstanceNorm1d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyInstanceNorm1d()
    >>> layer(pullback.ones(4, 3, 2)).shape, layer.num_features
    (pullback.Size([4, 3, 2]), 3)
    """

    cls_to_become = instancenorm.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, instancenorm.InstanceNorm2d):
    """`InstanceNorm2d` whose `num_features` is the size of axis 1 of its first input; as `LazyInstanceNorm1d`.

    Arguments as for `InstanceNorm2d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyInstanceNorm2d()
    >>> layer(pullback.ones(4, 3, 2, 2)).shape, layer.num_features
    (pullback.Size([4, 3, 2, 2]), 3)
    """

    cls_to_become = instancenorm.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, instancenorm.InstanceNorm3d):
    """`InstanceNorm3d` whose `num_features` is the size of axis 1 of its first input; as `LazyInstanceNorm1d`.

    Arguments as for `InstanceNorm3d`.

    >>> import pullback
    >>> layer = pullback.nn.LazyInstanceNorm3d()
    >>> layer(pullback.ones(4, 3, 2, 2, 2)).shape, layer.num_features
    (pullback.Size([4, 3, 2, 2, 2]), 3)
    """

    cls_to_become = instancenorm.InstanceNorm3d
