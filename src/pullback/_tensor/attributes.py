"""The attributes of every tensor, and torch's autograd methods.

A tensor consists of an array; the node that computed it (or, for a leaf that requires grad, the node that accumulates
its gradient); and the cell through which graphs save its value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from .. import ops
from .._core import dtypes, errors, placement
from .._core.modes import innermost, mode
from .._core.primitives import Box, Carrier
from .._core.shapes import CallableInt, Size
from .._core.sites import warn
from .._core.values import require_hook
from .._tape import backward as _backward
from .._tape.cuts import Cut, cut, looked
from .._tape.memory import Cell, version
from .._tape.native import Fields
from .._tape.node import AccumulateGrad, Node, RemovableHandle, hooks_of, new
from .._tape.views import move_in
from .flags import check_assigned_grad, set_flag, untracked_alias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._core.dtypes import NumpyType
    from .._core.typing import Array, DType, MemoryFormat, Tensor, TensorLike
    from .._tape.memory import Storage
    from .._tape.refusals import MarkedView
    from .._tape.seeds import GradientEdge


ndarray = np.ndarray
new_size = tuple.__new__


class _Defaults(Box):
    """Default values of the attributes that only few tensors set themselves."""

    __slots__ = ()

    _storage: Storage | None = None
    _writes = _since = 0  # `_since`: of the innermost interpreter in whose block it was made: see Interpreter
    _base: Tensor | None = None
    _path: tuple[Any, ...] = ()
    _made_untracked: MarkedView | None = None  # the mark of a view that has no history of its base: see MarkedView
    _inference: bool | str = False  # see COUNTED
    _cut: Cut | None = None
    _kept_grad: Tensor | None = None
    _leaf: AccumulateGrad | None = None
    _role: Any = None  # e.g. a module's parameter: see nn.parameter
    _held: tuple[str, ...] = ()
    _detached = False  # True if it was detached in place; its views may still have a history
    _histories: tuple[str, ...] = ()  # the entries of _held that depend on the history
    _origin: tuple[Attributes, tuple[Any, ...]] | None = (
        None  # for a tensor detached inside a transform: its base, and the path of views to it
    )
    _subclass: type[Tensor] | None = (
        None  # the class of what is computed from this tensor, if it is derived from Tensor
    )
    _takes_out = False  # True if `out=` may be a tensor of this level, and this level's values may be written to it
    _transparent = True  # True if _array holds the represented values themselves
    _memory: Any = None  # for a carrier beneath the tape, the memory it represents: see compile

    def _apart(self, other: Carrier) -> bool:
        """True if this carrier, a view of another by construction, nevertheless does not share its memory."""
        return False


class Attributes(Fields, _Defaults):
    """A tensor's basic attributes: its shape, dtype, memory, and position in the graph."""

    __slots__ = ("_array", "_cell", "_node", "__dict__", "__weakref__")

    _array: Any
    _node: Node | None
    _cell: Cell | None

    is_cpu = True
    _place: placement.device = placement.CPU
    is_cuda = is_xpu = is_mps = is_mkldnn = is_sparse = is_quantized = is_nested = False

    def _shallow_copy(self) -> Self:
        """Another tensor with the same value and history."""
        copy: Any = new(type(self))
        copy._array, copy._node, copy._cell = self._array, self._node, None
        for name in self._held:
            setattr(copy, name, getattr(self, name))
        return copy

    @property
    def _followed(self) -> bool:
        """True if derivatives go through this tensor, at its own level."""
        return self._node is not None

    def _cut_off(self, reason: str) -> None:
        """Drop the history, here and on the levels beneath; `reason` is 'detach' or 'data'."""
        self._node = None
        if isinstance(self._array, Carrier):
            self._array = self._array.data if reason == "data" else self._array.detach()

    def _concrete(self, operation: str = "nonzero") -> Array:
        """The elements as an array, for an operation whose result's shape depends on them: refused under vmap."""
        looked(self)
        array = self._array
        return array if isinstance(array, np.ndarray) else array._concrete(operation)

    def _elements(self) -> Array:
        """An array with the elements of all examples of a batch, for checks that apply to each example."""
        array = self._array
        return array if isinstance(array, np.ndarray) else array._elements()

    @property
    def shape(self) -> Size:
        """The length of each axis.

        >>> import pullback
        >>> pullback.zeros(2, 3).shape, pullback.tensor(1.0).shape
        (pullback.Size([2, 3]), pullback.Size([]))
        """
        return new_size(Size, self._array.shape)  # the same as `size_of`, without a call

    @property
    def _dtype(self) -> NumpyType:
        array = self._array
        return array.dtype if isinstance(array, ndarray) else array._dtype

    @property
    def _type_name(self) -> str:
        return dtypes.type_name(self.dtype)

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of the elements, one of pullback's own dtype objects.

        >>> import pullback
        >>> pullback.tensor([1.0]).dtype, pullback.tensor([1]).dtype
        (pullback.float32, pullback.int64)
        """
        return dtypes.from_numpy(self._dtype)

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> import pullback
        >>> pullback.zeros(2, 3).ndim, pullback.tensor(1.0).ndim
        (2, 0)
        """
        return len(self._array.shape)

    def dim(self) -> int:
        """The number of axes."""
        return len(self._array.shape)

    ndimension = dim

    @property
    def size(self) -> CallableInt:
        """The number of elements, as in NumPy; if called, the shape or the length of one axis, as in torch.

        >>> import pullback
        >>> x = pullback.zeros(2, 3)
        >>> x.size(), x.size(1), int(x.size)
        (pullback.Size([2, 3]), 3, 6)
        """
        return CallableInt(tuple(self.shape))

    def numel(self) -> int:
        """The number of elements.

        >>> import pullback
        >>> pullback.zeros(2, 3).numel()
        6
        """
        return math.prod(self.shape)

    nelement = numel

    @property
    def device(self) -> placement.device:
        """The device of the elements: 'cpu', or 'meta' for tensors made in a block of that device.

        >>> import pullback
        >>> pullback.ones(2).device
        device(type='cpu')
        """
        return self._place

    @property
    def is_meta(self) -> bool:
        """True for a tensor made in a block of `device("meta")`.

        >>> import pullback
        >>> pullback.ones(2).is_meta
        False
        """
        return bool(self._place.type == "meta")

    @property
    def layout(self) -> placement.layout:
        """The memory layout: always `strided`.

        >>> import pullback
        >>> pullback.ones(2).layout
        pullback.strided
        """
        return placement.strided

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element.

        >>> import pullback
        >>> pullback.tensor([1.0]).itemsize, pullback.tensor([1]).itemsize
        (4, 8)
        """
        return self._dtype.itemsize

    def element_size(self) -> int:
        """The number of bytes of one element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements.

        >>> import pullback
        >>> pullback.tensor([1.0, 2.0]).nbytes
        8
        """
        return self._dtype.itemsize * self.numel()

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """The number of elements between neighbors along each axis, or along one.

        >>> import pullback
        >>> pullback.zeros(2, 3).stride(), pullback.zeros(2, 3).T.stride()
        ((3, 1), (1, 3))
        """
        array = self._array
        if array.size or not isinstance(array, np.ndarray) or 0 not in array.strides:
            strides = tuple(step // self.itemsize for step in array.strides)
        else:  # empty tensors, for which NumPy's strides are zero
            strides = tuple(math.prod([max(n, 1) for n in array.shape[axis:]]) for axis in range(1, array.ndim + 1))
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """The index of this tensor's first element in its storage.

        >>> import pullback
        >>> pullback.arange(4)[1:].storage_offset()
        1
        """
        base = self._array if self._array.base is None else self._array.base
        if not isinstance(base, np.ndarray):
            return 0
        start = base.__array_interface__["data"][0]
        return int((self.data_ptr() - start) // self.itemsize)

    def is_contiguous(self, memory_format: MemoryFormat | None = None) -> bool:
        """True if the elements are contiguous in the given memory format.

        >>> import pullback
        >>> pullback.zeros(2, 3).is_contiguous(), pullback.zeros(2, 3).T.is_contiguous()
        (True, False)
        """
        return bool(self._array.flags.c_contiguous)

    def data_ptr(self) -> int:
        """The address of the first element.

        >>> import pullback
        >>> x = pullback.arange(4)
        >>> x[1:].data_ptr() - x.data_ptr()
        8
        """
        return int(self._array.__array_interface__["data"][0])

    def is_floating_point(self) -> bool:
        """True if the dtype is a real floating-point dtype.

        >>> import pullback
        >>> pullback.tensor([1.0]).is_floating_point(), pullback.tensor([1]).is_floating_point()
        (True, False)
        """
        return self._dtype.kind == "f"

    def is_complex(self) -> bool:
        """True if the dtype is complex.

        >>> import pullback
        >>> pullback.tensor([1j]).is_complex()
        True
        """
        return self._dtype.kind == "c"

    def is_inference(self) -> bool:
        """True if the tensor was created under inference_mode.

        >>> import pullback
        >>> with pullback.inference_mode():
        ...     x = pullback.ones(2)
        >>> x.is_inference()
        True
        """
        return bool(self._inference)

    @property
    def requires_grad(self) -> bool:
        """True if operations on this tensor are recorded; settable on leaves. A view without a history says its base's.

        >>> import pullback
        >>> x = pullback.tensor([1.0], requires_grad=True)
        >>> (x * 2).requires_grad, x.detach().requires_grad
        (True, False)
        """
        base = self._base
        return self._node is not None or (base is not None and base._node is not None and self._dtype.kind in "fc")

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
        if not self.is_leaf:
            raise RuntimeError(errors.non_leaf_flag(self, value))
        set_flag(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool: set it to False instead of deleting it")

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operation computed this tensor.

        >>> import pullback
        >>> x = pullback.tensor([1.0], requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf
        (True, False)
        """
        return self._node is None or type(self._node) is AccumulateGrad

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that computed this tensor; None for a leaf.

        >>> import pullback
        >>> x = pullback.tensor([1.0], requires_grad=True)
        >>> (x * 2).grad_fn.name(), x.grad_fn
        ('MulBackward0', None)
        """
        node = self._node
        return None if node is None or type(node) is AccumulateGrad else node.endpoint[0]

    @property
    def output_nr(self) -> int:
        """The index of this tensor among the outputs of its operation.

        >>> import pullback
        >>> first, second = pullback.ones(2, requires_grad=True).unbind()
        >>> first.output_nr, second.output_nr
        (0, 1)
        """
        return 0 if self._node is None else self._node.endpoint[1]

    @property
    def _version(self) -> int:
        if self._inference is True:
            raise RuntimeError("Inference tensors do not track version counter.")
        return version(self)

    def _is_view(self) -> bool:
        return self._base is not None and not self._inference


class Autograd(Attributes):
    """The autograd part of a tensor, with torch's names and rules."""

    __slots__ = ()

    def backward(
        self,
        gradient: TensorLike | Sequence[object] | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge] | None = None,
        *,
        retain_variables: bool | None = None,
    ) -> None:
        """Accumulate the vector-Jacobian product of `gradient` into the `.grad` of the leaves.

        Parameters
        ----------
        gradient
            The vector v of v @ J: a tensor, array, list or number with this tensor's shape. May be left out for a
            tensor of one element (v = 1). For a one-element tensor v may have any shape: its entries are pulled back
            and summed. Axes of length 1 may be missing or extra.
        retain_graph
            Retain the values that the graph has saved, so that backward can run again; defaults to `create_graph`.
        create_graph
            Record the pass itself, for derivatives of higher order.
        inputs
            Accumulate only into these tensors (also non-leaves).
        retain_variables
            The old name of `retain_graph`.

        Raises
        ------
        RuntimeError
            If this tensor is not tracked, if `gradient` is missing or does not match, or if the graph has been freed.
            In this case nothing is changed.

        Examples
        --------
        >>> import pullback
        >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
        >>> y = 3 * x**2
        >>> y.backward(pullback.tensor([1.0, 10.0]))
        >>> x.grad
        tensor([  6., 120.])
        """
        if retain_variables is not None:
            warn("retain_variables is the old name: use retain_graph", FutureWarning)
            retain_graph = retain_variables
        _backward.backward(self, gradient, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start (or stop) recording operations on this leaf, in place.

        >>> import pullback
        >>> x = pullback.ones(2).requires_grad_()
        >>> x.requires_grad
        True
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                f"not {type(requires_grad).__name__}"
            )
        if not self.is_leaf:
            if not requires_grad:
                raise RuntimeError(errors.non_leaf_flag(self, requires_grad))
            return self
        set_flag(self, requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by backward passes: None before the first; settable.

        A non-leaf has one only after `retain_grad()`; reading it otherwise warns once per source line.

        >>> import pullback
        >>> x = pullback.tensor([3.0], requires_grad=True)
        >>> (x * x).backward()
        >>> (x * x).backward()  # is added
        >>> x.grad
        tensor([12.])
        """
        node = self._node
        leaf = node if type(node) is AccumulateGrad else self._leaf
        if leaf is not None:
            return leaf.grad
        if self._kept_grad is None and node is not None and not self.retains_grad:
            warn(errors.non_leaf_grad(self))
        return self._kept_grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_assigned_grad(self, value)
        leaf = self._node if type(self._node) is AccumulateGrad else self._leaf
        if leaf is not None:
            leaf.grad = value
        else:
            self._kept_grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    _grad = grad  # the name used by programs that share a model between processes

    @property
    def grad_dtype(self) -> dtypes.dtype | None:
        """The dtype that `.grad` must have: the tensor's own by default; None allows any.

        >>> import pullback
        >>> pullback.tensor([1.0], requires_grad=True).grad_dtype
        pullback.float32
        """
        if type(self._node) is AccumulateGrad:
            dtype = self._node.grad_dtype
            return None if dtype is None else dtypes.from_numpy(dtype)
        return self.dtype

    @grad_dtype.setter
    def grad_dtype(self, value: DType | None) -> None:
        if type(self._node) is not AccumulateGrad:
            raise RuntimeError("grad_dtype can only be set on leaf tensors that require grad")
        self._node.grad_dtype = None if value is None else dtypes.as_dtype(value).numpy

    def retain_grad(self) -> None:
        """Make passes store this tensor's gradient in `.grad`, although it is not a leaf.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad.

        >>> import pullback
        >>> x = pullback.tensor(2.0, requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> (y * y).backward()
        >>> y.grad
        tensor(12.)
        """
        _backward.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """True if `retain_grad()` has been called on this non-leaf.

        >>> import pullback
        >>> y = pullback.tensor([3.0], requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """
        hooks = None if self._node is None else self._node.hooks
        return hooks is not None and hooks.retained is not None

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a tensor that it returns replaces the gradient.

        Parameters
        ----------
        hook
            The function of the gradient, which returns what replaces it, or None.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad.

        >>> import pullback
        >>> x = pullback.tensor(2.0, requires_grad=True)
        >>> handle = x.register_hook(lambda g: g * 10)
        >>> (x * x).backward()
        >>> x.grad
        tensor(40.)
        """
        if self._node is None:
            raise RuntimeError(
                f"cannot register a hook on a tensor that doesn't require gradient: this is a {errors.kind(self)}"
            )
        require_hook("register_hook", hook, "grad")
        return hooks_of(self._node).add("tensor", hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> RemovableHandle:
        """Call `hook(tensor)` after a pass has updated this leaf's `.grad`.

        Parameters
        ----------
        hook
            The function of the tensor.

        Raises
        ------
        RuntimeError
            If the tensor is not a leaf that requires grad.

        >>> import pullback
        >>> w = pullback.tensor(2.0, requires_grad=True)
        >>> handle = w.register_post_accumulate_grad_hook(lambda p: print(p.grad))
        >>> (w * 3).backward()
        tensor(3.)
        """
        if self._node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not isinstance(self._node, AccumulateGrad):
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors: use register_hook")
        require_hook("register_post_accumulate_grad_hook", hook, "tensor")
        return RemovableHandle(self._node.post, hook)

    def detach(self) -> Self:
        """A tensor with the same memory and without the history.

        >>> import pullback
        >>> x = pullback.tensor([3.0], requires_grad=True)
        >>> (x * x.detach()).backward()  # the second factor is constant
        >>> x.grad
        tensor([3.])
        """
        return untracked_alias(self, "detach")

    def detach_(self) -> Self:
        """Drop this tensor's history, in place; in inference mode, nothing changes.

        >>> import pullback
        >>> y = pullback.tensor([3.0], requires_grad=True) * 2
        >>> y.detach_()
        tensor([6.])
        """
        if mode.get().inference or self._inference:
            return self  # as torch's: nothing is recorded there, and the tensor may be used outside
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        if type(self._node) is AccumulateGrad:
            return self.requires_grad_(False)
        if self._node is not None:
            self._cut = cut("detach", (self,))
            self._detached = self._storage is not None
        self._cut_off("detach")
        return self

    @property
    def data(self) -> Self:
        """A tensor with the same memory and without the history; assigning replaces the values.

        Writes through it are neither recorded nor counted. Values that a graph has saved do not change.

        >>> import pullback
        >>> w = pullback.tensor([1.0], requires_grad=True)
        >>> w.data -= 0.25  # is not recorded
        >>> w
        tensor([0.7500], requires_grad=True)
        """
        return untracked_alias(self, "data")

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Attributes):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._node is not None and value._dtype.kind not in "fc":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype, "
                f"not {value.dtype}"
            )
        if value._array is self._array:
            return
        move_in(self, value)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead! (del x, not del x.data)")

    def clone(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """A recorded copy; inside a transform, the transform's values can be written to it.

        >>> import pullback
        >>> x = pullback.tensor([1.0], requires_grad=True)
        >>> x.clone().mul_(3).backward()
        >>> x.grad
        tensor([3.])
        """
        if memory_format is None:
            made = ops.clone(self)
        else:
            placement.accept("clone", {"memory_format": memory_format})
            made = ops.clone(self, order="C" if memory_format is placement.contiguous_format else "K")
        interpreter = innermost.get()
        return made if interpreter is None or made.level >= interpreter.level else interpreter.adopt(made)
