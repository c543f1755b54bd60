"""Tensor: an array that records the operations applied to it, with torch's names.

Its operations are the functions of `vocabulary`; the most frequent ones take the fast paths of `_tape.shortcuts`.
"""

from __future__ import annotations

import _thread
import functools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import ops, vocabulary
from .._core import dtypes, errors, placement as _placement
from .._core.bfloat import KNOWN, BFloatArray, held
from .._core.lazy import provider
from .._core.modes import RECORD, mode, quiet
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .._core.shapes import broadcast_shapes, expand_shape
from .._core.sites import function_of, named, warn
from .._core.values import concrete, shared
from .._tape import shortcuts, writes
from .._tape.cuts import cut_off, escape, looked, refused
from .._tape.memory import storage_of
from .._tape.node import AccumulateGrad, Node, new
from .._tape.recording import Tape, heirs
from .._tape.shortcuts import Form
from .._tape.views import stepped, write
from ..vocabulary import arithmetic, fills, indexing, numpy_protocol, products, shapes
from ..vocabulary.promotion import cast
from . import surface
from .attributes import Autograd
from .nested import is_nested, read, sizes_of_old

if TYPE_CHECKING:
    from types import ModuleType

    from .._core.primitives import Function
    from .._core.typing import Array, Converted, Device, DType, MemoryFormat, Number, Sizes, TensorLike, Value


ndarray = np.ndarray
HELD = Carrier, BFloatArray


class Eager(Tape):
    """The default tape, on which every program is recorded."""

    def wrap(self, value: Value, node: Node | None) -> Tensor:
        """A tensor around an array."""
        tensor: Tensor = new(Tensor)
        if KNOWN:
            value = held(value)
        tensor._array = value if type(value) is ndarray or isinstance(value, HELD) else np.asarray(value)
        tensor._node = node
        tensor._cell = None
        current = mode.get()
        if current is not RECORD:
            if current.inference:
                tensor._inference = True
            if current.created is not None:
                current.created(tensor)
        return tensor


class _Alone(_thread._local):
    """Of each thread: in how many blocks it is in which results do not inherit the class of their arguments."""

    count = 0


alone = _Alone()


def inherited(result: Any, subclasses: Collection[type]) -> Any:
    """A result, or each one of a tuple, as an instance of that class of some which is derived from all others."""
    subclass = next((each for each in subclasses if all(issubclass(each, other) for other in subclasses)), None)
    for piece in result if type(result) is tuple else (result,):
        if subclass is not None and type(piece) is Tensor:
            piece.__class__ = subclass
    return result


def _inherit(args: Sequence[Value], result: Any) -> None:
    subclasses = {arg._subclass for arg in args if isinstance(arg, Carrier) and arg._subclass is not None}
    if subclasses and not alone.count:
        inherited(result, subclasses)


DISABLED = "_disabled_torch_function_impl"
"""torch's name of the `__torch_function__` of classes that results do not inherit."""
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""The versions of the array API standard: a later one has all that earlier ones have."""
OPERANDS = (Carrier, np.ndarray, np.generic, int, float, complex)


class Conversions(Autograd):
    """Conversions of a tensor: to NumPy, to Python numbers, to text, and to other dtypes."""

    __slots__ = ()

    def numpy(self, *, force: bool = False) -> Array:
        """The tensor's NumPy array, which shares its memory.

        A tensor that requires grad has one only with `force`, or where nothing is recorded, as inside `no_grad`.

        >>> import pullback
        >>> x = pullback.tensor([1.0, 2.0])
        >>> x.numpy()[0] = 10.0
        >>> x
        tensor([10.,  2.])
        """
        if self._node is not None and not force and mode.get().grad:
            raise errors.tracked_numpy(self, "numpy()")
        if self._node is not None or (self._cut is not None and self._cut.hides):
            cut_off("numpy", (self,), asked=2)
        looked(self)
        storage_of(self)  # from here on others may see the memory: it is written in place, never replaced
        return self._array.view(ndarray)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"cannot convert from {array.dtype} to {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        if api_version is not None and api_version not in VERSIONS:
            raise ValueError(f"there is no array API {api_version!r} here: the versions are {', '.join(VERSIONS)}")
        return provider("array namespace")

    def to_device(self, device: Device, /, *, stream: None = None) -> Self:
        """This tensor, which is on the CPU already; other devices raise RuntimeError.

        >>> import pullback
        >>> x = pullback.ones(2)
        >>> x.to_device("cpu") is x
        True
        """
        if stream is not None:
            raise ValueError(f"to_device: the CPU has no streams, and {stream!r} was given")
        _placement.here(device)
        return self

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if self._node is not None:
            raise errors.tracked_numpy(self, "__dlpack__()")
        if isinstance(self._array, BFloatArray):
            raise BufferError(
                f"__dlpack__() of a bfloat16 tensor of shape {tuple(self.shape)}: NumPy, which hands the memory on, has no "
                f"such numbers. Hand on t.float(), or the same bits, t.view({package}.int16)"
            )
        options: dict[str, Any] = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self.numpy().__dlpack__(**{key: value for key, value in options.items() if value is not None})

    def __buffer__(self, flags: int) -> memoryview:
        return self.__array__().data

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def item(self) -> Any:
        """The only element, as a Python number.

        >>> import pullback
        >>> pullback.tensor([2.5]).item()
        2.5
        """
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar: index it, or reduce it first"
            )
        escape("item", self, "item()")
        return self._array.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number for a 0-d tensor.

        >>> import pullback
        >>> pullback.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        escape("tolist", self, "tolist()")
        return self._array.tolist()

    def _scalar(self, convert: type[Converted]) -> Converted:
        if self._followed:
            if (function := function_of(sys._getframe(2))) is not None:
                raise errors.tracked_number(function, self)
            escape("item", self, "conversion to a number")
            if not refused():  # what is allowed there is meant
                warn(
                    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                    f"Consider using tensor.detach() first. The number has no gradient. {errors.keeping()}; for the value, x.item()."
                )
        if self.numel() != 1:
            raise ValueError(
                f"expected one element, got shape {tuple(self.shape)}: index or reduce it, or use an elementwise "
                f"function, such as {package}.sin(x) for math.sin(x). only one element tensors can be "
                f"converted to Python scalars: a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        looked(self)
        number = self._array.item()
        if isinstance(number, complex) and convert is not complex:
            if number.imag:
                kind = "double" if convert is float else "int64_t"
                raise RuntimeError(
                    f"value cannot be converted to type {kind} without overflow: {number} is complex, take x.real or x.abs()"
                )
            number = number.real
        return convert(number)

    def __float__(self) -> float:
        return self._scalar(float)

    def __int__(self) -> int:
        return self._scalar(int)

    def __complex__(self) -> complex:
        return self._scalar(complex)

    def __index__(self) -> int:
        if self._dtype.kind not in "biu" or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        looked(self)
        return int(self._array.item())

    def __bool__(self) -> bool:
        if self.numel() == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous: use .numel() or .any()")
        if self.numel() > 1:
            raise RuntimeError(
                "Boolean value of Tensor with more than one value is ambiguous: "
                f"this one has shape {tuple(self.shape)}; {errors.truth_wanted()}"
            )
        looked(self)
        return bool(self._array.item())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor: it is one number, of shape (); x.numel() is 1")
        return self.shape[0]

    def __contains__(self, element: object) -> bool:
        if not isinstance(element, OPERANDS):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        found: Any = self == element
        return bool(found.any())

    def __repr__(self) -> str:
        shown: str = vocabulary.load("_tensor.showing", "text")(self)
        return shown

    def __format__(self, spec: str) -> str:
        array = shared(self)  # a text is no escape
        return (
            format((self if array is None else array).item(), spec) if self.ndim == 0 else object.__format__(self, spec)
        )

    def __copy__(self) -> Self:
        if self.is_leaf and not self.level:
            return self._copied_to(self.detach(), self._given_attributes())
        vars(copied := self.clone()).update(self._given_attributes())
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        if not self.is_leaf and self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment: "
                f"this one was made by {self.grad_fn.title}; {errors.copying(memo)}"
            )
        copied = memo[id(self)] = self._copied()
        vars(copied).update(sys.modules["copy"].deepcopy(self._given_attributes(), memo))  # which has called this
        return copied

    def _given_attributes(self) -> dict[str, Any]:
        """The attributes that the program has given to this tensor."""
        return {name: value for name, value in vars(self).items() if name[0] != "_" and name not in self._held}

    def _copied(self) -> Self:
        """A leaf with a copy of this tensor's values, and its class, requires_grad flag and gradient."""
        return self._copied_to(self.interpreter.wrap(self._array.copy(order="K"), None), {})

    def _copied_to(self, copied: Self, marks: dict[str, Any]) -> Any:
        copied.__class__ = type(self)
        vars(copied).update(marks)
        if self.is_leaf and self.requires_grad:
            copied.requires_grad = True
        if self._role is not None:  # as in torch, a parameter's gradient is not copied
            return self._role.mark(copied)
        leaf = self._node if isinstance(self._node, AccumulateGrad) else self._leaf
        grad = self._kept_grad if leaf is None else leaf.grad
        if grad is not None:
            copied.grad = grad._copied()
        return copied

    def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Any, ...], dict[str, Any] | None]:
        if not self.is_leaf:
            escape("detach", self, "pickling")
        kind = self._role or (None if type(self) is Tensor else type(self))
        return rebuild, (self._array, self.requires_grad, kind), self._given_attributes() or None

    def to(
        self, *args: DType | Tensor | Device | None, dtype: DType | None = None, copy: bool = False, **options: object
    ) -> Self:
        """This tensor converted to another dtype (or to another tensor's dtype); itself if nothing changes.

        A device may be given: 'cpu', or 'meta', which only marks a copy. `non_blocking` and `copy` may follow it or the dtype.

        >>> import pullback
        >>> pullback.tensor([1, 2]).to(pullback.float64)
        tensor([1., 2.], dtype=pullback.float64)
        """
        flags = [value for value in args if isinstance(value, bool)]
        named: list[Any] = [options.pop(name, None) for name in ("device", "other", "non_blocking")]
        place = _placement.CPU
        for given in (*args, *named):
            dtype, value = (given.dtype, given.device) if isinstance(given, Carrier) else (dtype, given)
            if isinstance(value, str) and not hasattr(np, value) and value != "bfloat16":
                place = _placement.reached(value, self.is_meta)
            elif value is not None and not isinstance(value, bool):
                dtype = value
        _placement.accept("to", options)
        converted = self if dtype is None else cast(self, dtypes.as_dtype(dtype).numpy)
        if converted is not self and options.get("memory_format") is _placement.contiguous_format:
            return converted.contiguous()
        if converted is self and (copy or flags[1:] == [True] or (place.type == "meta" and not self.is_meta)):
            converted = ops.clone(converted)
        if place.type == "meta":
            converted._place = place
        return converted

    def type(self, dtype: DType | type[Tensor] | None = None, non_blocking: bool = False) -> Any:
        """The name of this tensor's type, or the tensor converted to another dtype or old tensor type.

        `Tensor` itself represents the default dtype.

        >>> import pullback
        >>> pullback.tensor([1.5]).type(), pullback.tensor([1.5]).type(pullback.int64)
        ('pullback.FloatTensor', tensor([1]))
        """
        if dtype is None:
            return dtypes.qualified(f"{self._type_name}Tensor")
        return self.to(dtypes.get_default_dtype() if dtype is Tensor else dtypes.of_tensor_type(dtype))

    def type_as(self, other: Tensor) -> Self:
        """This tensor in the dtype of another.

        >>> import pullback
        >>> pullback.tensor([1.5]).type_as(pullback.tensor([1]))
        tensor([1])
        """
        return self.to(other)

    def cpu(self, memory_format: MemoryFormat | None = None) -> Self:
        """This tensor, which is on the CPU already; NotImplementedError for one that tells 'meta'.

        >>> import pullback
        >>> (x := pullback.ones(2)).cpu() is x
        True
        """
        return self.to(_placement.CPU, memory_format=memory_format)

    def contiguous(self, memory_format: MemoryFormat | None = None) -> Self:
        """This tensor, or a contiguous copy of it.

        >>> import pullback
        >>> pullback.zeros(2, 3).T.contiguous().stride()
        (2, 1)
        """
        _placement.accept("contiguous", {"memory_format": memory_format})
        return self if self.is_contiguous() else ops.clone(self, order="C")


def rebuild(array: Value, requires_grad: bool, kind: Any = None) -> Tensor:
    """A leaf rebuilt from its pickled form; `kind` is its role as a parameter, or its class if that is a subclass."""
    tensor: Tensor = Tensor.interpreter.wrap(array, None)
    tensor.requires_grad = requires_grad
    if hasattr(kind, "mark"):
        kind.mark(tensor)
    elif kind is not None:
        tensor.__class__ = kind
    return tensor


def in_place(general: Function) -> Callable[..., Tensor]:
    """The in-place form of an operation: its result is written to the first operand."""

    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        result = stepped(self, args, general(self, *args, **options), general.__name__)
        return result if result is NotImplemented else write(self, result, f"{general.__name__}_")

    return named(f"{general.__name__}_", method, vocabulary.in_place_text(general))


def operator(general: Callable[[Any, Any], Tensor], *, swapped: bool = False) -> Callable[[Tensor, Any], Tensor]:
    """A binary operator: operands of unknown types are left to their own methods; `swapped` for `number - tensor`."""

    def method(self: Tensor, other: TensorLike) -> Tensor:
        if not isinstance(other, OPERANDS):
            return NotImplemented
        return general(other, self) if swapped else general(self, other)

    return named(general.__name__, method, general.__doc__ or "")


class Tensor(Conversions):
    """An array of numbers that records operations if it, or a tensor it was computed from, requires grad.

    Created by `tensor`, `zeros`, `randn`, ...; `Tensor(nested list)` and `Tensor(2, 3)` are torch's old constructors,
    always of the default dtype. `shape`, `dtype`, indexing, arithmetic and `@` are as in torch and NumPy.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> y
    tensor(5., grad_fn=<SumBackward0>)
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()
    __array_ufunc__ = numpy_protocol.array_ufunc
    __array_function__ = numpy_protocol.array_function
    __hash__ = object.__hash__
    _bequeaths = True
    """Whether what is computed from tensors of a derived class has that class."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls._bequeaths:
            disabled = getattr(getattr(cls, "__torch_function__", None), "__name__", "") == DISABLED
            cls._subclass = None if disabled else cls
            heirs[:] = [_inherit]

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError(
                "iteration over a 0-d tensor: it is one number, of shape (); x.reshape(1) can be iterated over"
            )
        return iter(shapes.unbind(self))

    def __reversed__(self) -> Tensor:
        return shapes.flip(self, 0) if self.ndim else self

    def __new__(cls, *data: object, size: Sizes | None = None, **placement: object) -> Self:
        """A tensor of the default dtype from nested lists, an array or a tensor; or uninitialized, of given sizes."""
        _placement.accept("tensor", placement)
        dtype = dtypes.default_numpy()
        sizes = sizes_of_old(data, size)
        if sizes is not None:
            return Tensor.interpreter.wrap(np.empty(sizes, dtype), None)
        if isinstance(data[0], Carrier):
            return data[0].view_as(data[0])
        values = read(data[0], dtype)[0] if is_nested(data[0]) else np.array(concrete(data[0], "tensor"))
        if values.dtype.kind not in "buif":
            raise TypeError(f"new(): expected real numbers to make a tensor of {dtype}, not {type(data[0]).__name__}")
        return Tensor.interpreter.wrap(quiet.run(values.astype, dtype), None)

    # Operators
    __add__ = __radd__ = operator(arithmetic.add)
    __sub__ = operator(arithmetic.sub)
    __rsub__ = operator(arithmetic.rsub)
    __mul__ = __rmul__ = operator(arithmetic.mul)
    __truediv__ = operator(arithmetic.div)
    __rtruediv__ = __rdiv__ = operator(arithmetic.div, swapped=True)
    __floordiv__ = operator(arithmetic.floor_divide)
    __rfloordiv__ = operator(arithmetic.floor_divide, swapped=True)
    __mod__ = operator(arithmetic.remainder)
    __rmod__ = operator(arithmetic.remainder, swapped=True)
    __pow__ = operator(arithmetic.pow)
    __rpow__ = operator(arithmetic.pow, swapped=True)
    __matmul__ = operator(products.matmul)
    __rmatmul__ = operator(products.matmul, swapped=True)
    __and__ = __rand__ = operator(arithmetic.bitwise_and)
    __or__ = __ror__ = operator(arithmetic.bitwise_or)
    __xor__ = __rxor__ = operator(arithmetic.bitwise_xor)
    __eq__: Callable[[Any, object], Any] = operator(arithmetic.eq)
    __ne__: Callable[[Any, object], Any] = operator(arithmetic.ne)
    __lt__ = operator(arithmetic.lt)
    __le__ = operator(arithmetic.le)
    __gt__ = operator(arithmetic.gt)
    __ge__ = operator(arithmetic.ge)
    __neg__ = arithmetic.neg
    __abs__ = arithmetic.abs

    def __invert__(self) -> Tensor:
        if self._dtype.kind in "fc":
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors: compare first, as ~(x > 0)"
            )
        return arithmetic.bitwise_not(self)

    __lshift__ = operator(arithmetic.bitwise_left_shift)
    __rlshift__ = operator(arithmetic.bitwise_left_shift, swapped=True)
    __rshift__ = operator(arithmetic.bitwise_right_shift)
    __rrshift__ = operator(arithmetic.bitwise_right_shift, swapped=True)
    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem
    __delitem__ = indexing.delitem
    __iadd__ = in_place(__add__)
    __isub__ = in_place(__sub__)
    __imul__ = in_place(__mul__)
    __itruediv__ = in_place(__truediv__)
    __ifloordiv__ = in_place(__floordiv__)
    __imod__ = in_place(__mod__)
    __ipow__ = in_place(__pow__)
    __iand__ = in_place(__and__)
    __ior__ = in_place(__or__)
    __ixor__ = in_place(__xor__)
    __ilshift__ = in_place(__lshift__)
    __irshift__ = in_place(__rshift__)

    def __round__(self, ndigits: int = 0) -> Tensor:
        return vocabulary.load("vocabulary.rounding", "round")(self, decimals=ndigits)

    def __divmod__(self, other: object) -> tuple[Tensor, Tensor]:
        return NotImplemented if not isinstance(other, OPERANDS) else (self // other, self % other)

    def __rdivmod__(self, other: object) -> tuple[Tensor, Tensor]:
        return NotImplemented if not isinstance(other, OPERANDS) else (self.__rfloordiv__(other), self.__rmod__(other))

    def __pos__(self) -> Tensor:
        return vocabulary.load("vocabulary.functions", "positive")(self)

    @property
    def real(self) -> Tensor:
        """The real part, as a view; assigning writes to it.

        >>> import pullback
        >>> z = pullback.tensor([1 + 2j])
        >>> z.real = 5.0
        >>> z
        tensor([5.+2.j])
        """
        return vocabulary.load("vocabulary.complexes", "real")(self)

    @real.setter
    def real(self, value: TensorLike) -> None:
        self.real[...] = value.real if isinstance(value, Carrier) else value

    @property
    def imag(self) -> Tensor:
        """The imaginary part of a complex tensor, as a view; assigning writes to it. That of a real one is zero, as in NumPy.

        >>> import pullback
        >>> pullback.tensor([1 + 2j]).imag
        tensor([2.])
        """
        if self._dtype.kind == "c":
            return vocabulary.load("vocabulary.complexes", "imag")(self)
        zeros = ops.zeros_like(self)
        if (array := shared(zeros)) is not None:
            array.flags.writeable = False  # there is no imaginary part to write to
        return zeros

    @imag.setter
    def imag(self, value: TensorLike) -> None:
        if self._dtype.kind != "c":
            raise RuntimeError(f"imag is not implemented for tensors with non-complex dtypes: this one is {self.dtype}")
        self.imag[...] = value.real if isinstance(value, Carrier) else value

    def where(self, condition: Tensor, other: TensorLike) -> Tensor:
        """This tensor where the condition holds, other elsewhere.

        >>> import pullback
        >>> pullback.tensor([1.0, -2.0]).where(pullback.tensor([True, False]), 0.0)
        tensor([1., 0.])
        """
        return arithmetic.where(condition, self, other)

    T = property(shapes.reversed_axes, doc="The axes in reverse order.")
    mT = property(shapes.matrix_transpose, doc="The last two axes exchanged.")  # noqa: N815  # torch's name

    @fills
    def zero_(self) -> Tensor:
        """Set all elements to zero, in place.

        >>> import pullback
        >>> pullback.ones(2).zero_()
        tensor([0., 0.])
        """
        return write(self, ops.zeros_like(self), "zero_")

    @fills
    def fill_(self, value: Number | Tensor) -> Tensor:
        """Set all elements to one value, a number or a 0-d tensor, in place.

        >>> import pullback
        >>> pullback.zeros(2).fill_(7.0)
        tensor([7., 7.])
        """
        if not isinstance(value, OPERANDS):
            raise TypeError(f"fill_(): argument 'value' must be Number or Tensor, not {type(value).__name__}")
        if isinstance(value, complex) and not self.is_complex():
            raise RuntimeError(f"value cannot be converted to type {self.dtype} without overflow: it is complex")
        if dimensions := getattr(value, "ndim", 0):
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {dimensions} dimensions: use copy_"
            )
        return write(self, ops.fill(self, cast(value, self._dtype)), "fill_")

    def copy_(self, other: Tensor | Array, non_blocking: bool = False) -> Tensor:
        """Copy the elements of another tensor or array to this one, broadcast and converted, in place.

        Parameters
        ----------
        non_blocking
            Accepted, and changes nothing.

        >>> import pullback
        >>> pullback.zeros(2, 2).copy_(pullback.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
        """
        if not isinstance(other, (Carrier, np.ndarray)):
            raise errors.no_tensor("copy_", "other", 1, other)
        broadcast_shapes(tuple(self.shape), tuple(other.shape))
        expand_shape(tuple(other.shape), tuple(self.shape), "copy_")
        return write(self, ops.copy(self, cast(other, self._dtype)), "copy_")


@functools.cache
def method(module: str, defined: str) -> Function:
    """The method for a function of the vocabulary, with torch's and NumPy's parameter names, and its fast path."""
    general = vocabulary.taking_numbers(vocabulary.in_both_spellings(vocabulary.load(module, defined)))
    return shortcuts.short(Tensor, general)


def written_method(place: surface.Place) -> Function:
    """The in-place method for a function of the vocabulary."""
    written = in_place(method(place.module, place.defined))
    if place.defined in writes.COMPUTED:
        written = shortcuts.computed(Tensor, *writes.COMPUTED[place.defined], written)
    return fills(written) if place.form.endswith("+fills") else written


class Later:
    """A method that is imported on first use, and then replaces itself."""

    __slots__ = ("name", "load")

    def __init__(self, name: str, load: Callable[[], Function]) -> None:
        self.name, self.load = name, functools.cache(load)

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        setattr(Tensor, self.name, self.load())
        return getattr(owner if tensor is None else tensor, self.name)


for name, place in surface.METHODS.items():
    setattr(Tensor, name, Later(name, functools.partial(method, place.module, place.defined)))
for name, place in surface.IN_PLACE.items():
    setattr(Tensor, f"{name}_", Later(f"{name}_", functools.partial(written_method, place)))

Tensor.interpreter, Eager.boxes = Eager(), Tensor
past_bind = functools.partial(shortcuts.past_bind, Tensor)

IN_PLACE = {
    "add_": ops.add, "sub_": ops.subtract, "mul_": ops.multiply, "div_": ops.divide,
    "__iadd__": ops.add, "__isub__": ops.subtract, "__imul__": ops.multiply, "__itruediv__": ops.divide,
}  # fmt: skip
HOT = {
    "__add__": ops.add, "__radd__": ops.add, "__sub__": ops.subtract, "__truediv__": ops.divide,
    "__mul__": ops.multiply, "__rmul__": ops.multiply, "mul": ops.multiply, "__neg__": ops.negative,
    "neg": ops.negative, "maximum": ops.maximum, "minimum": ops.minimum, "exp": ops.exp, "log": ops.log,
    "sqrt": ops.sqrt, "abs": ops.abs, "__abs__": ops.abs, "square": ops.square, "reciprocal": ops.reciprocal, "sin": ops.sin,
    "cos": ops.cos, "tanh": ops.tanh, "sigmoid": ops.sigmoid, "relu": ops.relu, "__eq__": ops.equal, "__ne__": ops.not_equal,
    "__lt__": ops.less, "__le__": ops.less_equal, "__gt__": ops.greater, "__ge__": ops.greater_equal,
}  # fmt: skip
WHOLE = {"sum": ops.sum, "mean": ops.mean, "max": ops.largest, "min": ops.smallest}
SHORT_WAYS: dict[Function, dict[str, Primitive]] = {
    shortcuts.method: HOT,
    functools.partial(shortcuts.method, form=Form(numbers=True)): {"__rsub__": ops.rsub},
    functools.partial(shortcuts.method, form=Form(number="exponent")): dict.fromkeys(("__pow__", "pow"), ops.power),
    functools.partial(shortcuts.method, form=Form(whole=True)): WHOLE,
    functools.partial(shortcuts.method, form=Form(ndim=2)): dict.fromkeys(("__matmul__", "matmul", "mm"), ops.matmul),
    shortcuts.in_place: IN_PLACE,
}
WAYS = {name: functools.partial(way, Tensor, methods[name]) for way, methods in SHORT_WAYS.items() for name in methods}
WAYS |= {f"{name}_": functools.partial(shortcuts.computed, Tensor, *writes.COMPUTED[name]) for name in writes.METHODS}
for name, shorter in WAYS.items():
    setattr(Tensor, name, shorter(getattr(Tensor, name)))
