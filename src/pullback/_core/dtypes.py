"""dtypes: what the elements of a tensor are, and what two of them become together.

A dtype is one object per element type, with torch's name. Promotion follows torch: a lattice of dtypes, and over it
three strengths of operand (tensors with axes, 0-d tensors, Python numbers), of which a weaker one changes the result
only when its kind is higher. `set_promotion("standard")` gives 0-d tensors the strength of those with axes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Self, final

import numpy as np

from .bfloat import CHAR, BFloatType, bfloat_type, finfo as finfo_of
from .modes import mode
from .package import package

if TYPE_CHECKING:
    from .typing import DType


NumpyType = np.dtype[Any]

# bool < int < float < complex: promotion and can_cast compare these.
_RANK: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def qualified(name: str) -> str:
    """A name of the package, as it prints: `pullback.float32`."""
    return f"{package}.{name}"


@final
class dtype:
    """The type of a tensor's elements: one object for each, such as `pullback.float32`.

    `dtype(value)` is the dtype that a NumPy dtype, scalar type or name, or one of Python's number types, stands for; it
    raises TypeError for others. `numpy` is the NumPy dtype, and `np.dtype(pullback.float32)` gives it as well.
    A dtype equals whatever stands for it, and its hash is the NumPy dtype's.

    Parameters
    ----------
    value
        What stands for the dtype: one of NumPy, a scalar type, a name, or a number type of Python.

    >>> import pullback, numpy
    >>> pullback.float32, pullback.float32.itemsize, pullback.float32.is_floating_point
    (pullback.float32, 4, True)
    >>> pullback.float32 == numpy.dtype("float32"), pullback.float32 == "float32", pullback.float32 == pullback.float64
    (True, True, False)
    """

    __slots__ = ("name", "numpy", "itemsize", "is_floating_point", "is_complex", "is_signed", "_legacy")
    __module__ = "pullback"  # pickles name the public place, so that they outlive the private one

    name: str
    numpy: NumpyType
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    _legacy: str

    def __new__(cls, value: object) -> Self:
        return as_dtype(value)

    @property
    def dtype(self) -> NumpyType:
        """The NumPy dtype, where NumPy looks for it."""
        return getattr(self.numpy, "__numpy_dtype__", self.numpy)

    @property
    def kind(self) -> str:
        """NumPy's character for the kind: 'b', 'i', 'u', 'f' or 'c'."""
        return self.numpy.kind

    @property
    def char(self) -> str:
        """NumPy's character for the dtype, such as 'd' for float64."""
        return self.numpy.char

    @property
    def type(self) -> type[np.generic]:
        """The type of NumPy's scalars."""
        return self.numpy.type

    # NumPy's name for the same from 2.4 on, where `.dtype` is on its way out.
    __numpy_dtype__ = dtype

    def to_complex(self) -> Self:
        """The complex dtype whose parts have this one: complex64 for float16 too, since NumPy has no smaller one.

        Integers and bools raise RuntimeError.

        >>> import pullback
        >>> pullback.float64.to_complex()
        pullback.complex128
        """
        if self.is_complex:
            return self
        if not self.is_floating_point:
            raise RuntimeError(
                f"Unknown Complex ScalarType for {self._legacy}: {self!r} is neither floating nor complex, so "
                "convert to float32 or float64 first"
            )
        return _COMPLEX[self]

    def to_real(self) -> Self:
        """The dtype of the real part: another one only for complex dtypes.

        >>> import pullback
        >>> pullback.complex64.to_real(), pullback.int32.to_real()
        (pullback.float32, pullback.int32)
        """
        return _REAL.get(self, self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, dtype):
            return False
        found = _found(other)
        return NotImplemented if found is None else found is self

    def __hash__(self) -> int:
        return hash(self.numpy)

    def __repr__(self) -> str:
        return qualified(self.name)

    def __reduce__(self) -> str:
        return self.name

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"attribute {name!r} of '{package}.dtype' objects is not writable")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)


def _declare(name: str, legacy: str, numpy: NumpyType | None = None) -> dtype:
    numpy = np.dtype(name) if numpy is None else numpy
    new: dtype = object.__new__(dtype)
    for slot, value in {
        "name": name,
        "numpy": numpy,
        "itemsize": numpy.itemsize,
        "is_floating_point": numpy.kind == "f",
        "is_complex": numpy.kind == "c",
        "is_signed": numpy.kind in "ifc",
        "_legacy": legacy,
    }.items():
        object.__setattr__(new, slot, value)
    return new


# The second name is the one in torch's legacy tensor types and error texts.
bool_: Final = _declare("bool", "Bool")
uint8: Final = _declare("uint8", "Byte")
uint16: Final = _declare("uint16", "UInt16")
uint32: Final = _declare("uint32", "UInt32")
uint64: Final = _declare("uint64", "UInt64")
int8: Final = _declare("int8", "Char")
int16: Final = _declare("int16", "Short")
int32: Final = _declare("int32", "Int")
int64: Final = _declare("int64", "Long")
float16: Final = _declare("float16", "Half")
float32: Final = _declare("float32", "Float")
float64: Final = _declare("float64", "Double")
complex64: Final = _declare("complex64", "ComplexFloat")
complex128: Final = _declare("complex128", "ComplexDouble")

DTYPES: Final = (
    *(bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64),
    *(float16, float32, float64, complex64, complex128),
)

# Public as bool, float and int: under those names this module would lose Python's own.
float_: Final = float32
int_: Final = int32
half: Final = float16
double: Final = float64
short: Final = int16
long: Final = int64
cfloat: Final = complex64
cdouble: Final = complex128

_COMPLEX: Final = {float16: complex64, float32: complex64, float64: complex128}
_REAL: Final = {complex64: float32, complex128: float64}

_FROM_NUMPY: Final = {each.numpy: each for each in DTYPES}
# By character code: C's integers have several types of one size, and all of them are known.
_FROM_TYPE: Final[dict[type, dtype]] = {
    **{np.dtype(code).type: _FROM_NUMPY[np.dtype(code)] for code in "?bBhHiIlLqQefdFD"},
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
}


bfloat16: dtype  # where ml_dtypes is installed


def __getattr__(name: str) -> Any:
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    try:
        return bfloat()
    except ImportError as error:
        raise AttributeError(str(error), name=name) from None


@functools.cache
def bfloat() -> dtype:
    """The dtype bfloat16; ImportError if ml_dtypes, which stores it, is not installed."""
    numpy = bfloat_type()
    made = _declare("bfloat16", "BFloat16", numpy)
    _FROM_NUMPY[numpy] = _FROM_TYPE[numpy.type] = made
    _COMPLEX[made] = complex64
    return made


def known() -> tuple[dtype, ...]:
    """All dtypes: bfloat16 among them where ml_dtypes is installed."""
    try:
        return (*DTYPES, bfloat())
    except ImportError:
        return DTYPES


# NumPy and torch mean different types by these.
_AMBIGUOUS: Final = {"float", "int", "long", "cfloat"}


def from_numpy(numpy: NumpyType) -> dtype:
    """The dtype of a NumPy dtype; TypeError for one that tensors cannot have."""
    try:
        return _FROM_NUMPY[numpy]
    except KeyError:
        return as_dtype(numpy)


def as_dtype(value: object) -> dtype:
    """The dtype that a value stands for.

    A value is a dtype of ours or of NumPy, one of NumPy's scalar types, its name or type string ('float32', 'f4'), or
    Python's bool, int (int64), float (float64) or complex (complex128). Everything else raises TypeError.

    >>> from pullback._core.dtypes import as_dtype
    >>> as_dtype("float32"), as_dtype(float)
    (pullback.float32, pullback.float64)
    """
    if isinstance(value, dtype):
        return value
    found = _found(value)
    if found is None:
        raise _refusal(value)
    return found


def _found(value: object) -> dtype | None:
    if isinstance(value, (str, type, np.dtype, BFloatType)) and "bfloat16" in str(value):
        return bfloat()
    if isinstance(value, np.dtype):
        return _FROM_NUMPY.get(value)
    if isinstance(value, type):
        return _FROM_TYPE.get(value)
    if isinstance(value, str) and value not in _AMBIGUOUS:
        parsed = _parsed(value)
        return None if parsed is None else _FROM_NUMPY.get(parsed)
    return None


def _parsed(text: str) -> NumpyType | None:
    try:
        return np.dtype(text)
    except (TypeError, ValueError, SyntaxError, Warning):  # whatever NumPy says to a name that it does not know
        return None


def _refusal(value: object) -> TypeError:
    """The error for a value that stands for no dtype, with what would."""
    return TypeError(
        f"{value!r} is not a dtype of pullback: {_reason(value)}. A dtype is one of "
        f"{', '.join(repr(each) for each in DTYPES)}; NumPy's dtypes, scalar types and names for these; or Python's "
        "bool, int (int64), float (float64) and complex (complex128)"
    )


def _reason(value: object) -> str:
    if isinstance(value, str) and value in _AMBIGUOUS:
        ours = {"float": float_, "int": int_, "long": long, "cfloat": cfloat}[value]
        return f"the name means {ours!r} here and may mean another type to NumPy, so write the one with its size"
    if not isinstance(value, str | type | np.dtype):
        return "pass its .dtype" if hasattr(value, "dtype") else f"it is of type {type(value).__name__}"
    parsed = value if isinstance(value, np.dtype) else None
    if isinstance(value, str):
        parsed = _parsed(value)
    elif isinstance(value, type) and issubclass(value, np.longdouble | np.clongdouble):
        parsed = np.dtype(value)
    if parsed is None:
        return "it is no type of number" if isinstance(value, type) else "NumPy knows no such name either"
    if not parsed.isnative:
        return "its bytes are in the other order, so convert the array with .astype(dtype.newbyteorder('='))"
    if parsed.kind in "fc":
        return "its size depends on the machine, so convert to float64 or complex128"
    return "it is not a type of number"


class Rules(NamedTuple):
    """What the dtypes of results depend on besides the operands: two programs with the same rules have the same object."""

    default: dtype
    promotion: str


_KNOWN: Final[dict[Rules, Rules]] = {}
_rules = Rules(float32, "torch")


def _set_rules(**changes: Any) -> None:
    global _rules  # noqa: PLW0603  # one object in a process, as in torch
    new = _rules._replace(**changes)
    _rules = _KNOWN.setdefault(new, new)


_set_rules()
_NUMPY = Rules(float64, "standard")
_blocks = False


def expect_programs(now: bool) -> None:
    """Say whether some thread is inside a block of numpy_programs: only then is each asked for its mode."""
    global _blocks  # noqa: PLW0603  # of the process
    _blocks = now


def rules() -> Rules:
    """The rules now in force, NumPy's in numpy_programs: compiled functions are recorded anew under others."""
    return _NUMPY if _blocks and mode.get().programs else _rules


def get_promotion() -> str:
    """The rule of type promotion in this process: 'torch' or 'standard'.

    >>> import pullback
    >>> pullback.get_promotion()
    'torch'
    """
    return rules().promotion


def set_promotion(rule: str, /) -> None:
    """Choose the rule of type promotion in this process: torch's, which is the default, or the array API standard's.

    By torch's rule a 0-d tensor changes the dtype of a tensor with axes only if its kind is higher, such as float over
    integer. By the standard's rule it counts like any other tensor; `//` of infinities gives what the standard says, and
    masks without elements fit any length.
    Functions of `pullback.array_api` follow the standard's rule in any case; operators and all else follow this one.

    Parameters
    ----------
    rule
        "torch" or "standard".

    >>> import pullback
    >>> x, y = pullback.ones(2), pullback.tensor(1.0, dtype=pullback.float64)
    >>> (x * y).dtype
    pullback.float32
    >>> pullback.set_promotion("standard")
    >>> (x * y).dtype
    pullback.float64
    >>> pullback.set_promotion("torch")
    """
    if rule not in ("torch", "standard"):
        raise ValueError(f"the rule of promotion is 'torch' or 'standard', not {rule!r}")
    _set_rules(promotion=rule)


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats: float32 at first.

    >>> import pullback
    >>> pullback.get_default_dtype()
    pullback.float32
    """
    return rules().default


def set_default_dtype(d: DType, /) -> None:
    """Makes a floating dtype the one of tensors made from Python floats, in this process.

    Tensors made from Python's complex numbers have the complex dtype with such parts. Any other dtype raises TypeError.

    Parameters
    ----------
    d
        A floating-point dtype.

    >>> import pullback
    >>> pullback.set_default_dtype(pullback.float64)
    >>> pullback.get_default_dtype(), (pullback.tensor([1, 2]) / 2).dtype
    (pullback.float64, pullback.float64)
    >>> pullback.set_default_dtype(pullback.float32)
    """
    new = _found(d) if not isinstance(d, dtype) else d
    if new is None or not new.is_floating_point:
        raise TypeError(
            f"{'invalid dtype object: ' if new is None else ''}only floating-point types are supported as the default "
            f"type, not {d!r}: use {package}.float16, {package}.float32 or {package}.float64"
        )
    _set_rules(default=new)


def default_numpy() -> NumpyType:
    """The default dtype, as NumPy's."""
    return rules().default.numpy


def default_complex() -> dtype:
    """The dtype of tensors made from Python's complex numbers."""
    return _COMPLEX[rules().default]


def type_name(value: DType) -> str:
    """A dtype's name in torch's legacy types and error texts: 'Float' for float32, 'Long' for int64.

    >>> from pullback._core.dtypes import complex64, type_name
    >>> type_name(complex64)
    'ComplexFloat'
    """
    return as_dtype(value)._legacy


def of_tensor_type(value: object) -> dtype:
    """The dtype of one of torch's old tensor types, by the type or its name ('torch.FloatTensor'), or what stands for it.

    >>> from pullback._core.dtypes import of_tensor_type
    >>> of_tensor_type("torch.LongTensor")
    pullback.int64
    """
    own = getattr(value, "dtype", None)
    if isinstance(own, dtype):
        return own
    if isinstance(value, str) and value.endswith("Tensor") and value.count(".") < 2:
        legacy = value.rpartition(".")[2].removesuffix("Tensor")
        if legacy == "BFloat16":
            return bfloat()
        if (found := next((each for each in DTYPES if each._legacy == legacy), None)) is not None:
            return found
    if isinstance(value, str | type) and _found(value) is None:
        given = value if isinstance(value, str) else value.__name__
        where = " pullback computes on the CPU," if ".cuda." in given else ""
        raise ValueError(f"invalid type: {given!r}:{where} types are those such as 'torch.FloatTensor', and dtypes")
    return as_dtype(value)


def promote_types(type1: DType, type2: DType) -> dtype:
    """The smallest dtype to which tensors of both dtypes are converted when they meet.

    It is torch's, which never leaves a kind without need: int64 with float16 is float16. With uint16, uint32 and
    uint64, which torch does not promote, it is the integer dtype that holds both, as in NumPy; for uint64 with a signed
    one there is none, and that raises RuntimeError.

    Parameters
    ----------
    type1
        A dtype.
    type2
        Another one.

    >>> import pullback
    >>> pullback.promote_types(pullback.int64, pullback.float16), pullback.promote_types(pullback.uint8, pullback.int8)
    (pullback.float16, pullback.int16)
    """
    return from_numpy(_promoted(as_dtype(type1).numpy, as_dtype(type2).numpy))


@functools.cache
def _promoted(a: NumpyType, b: NumpyType) -> NumpyType:
    low, high = sorted((a, b), key=lambda numpy: _RANK[numpy.kind])
    if low.kind != "f" and _RANK[low.kind] < _RANK[high.kind]:
        return high
    if a is not b:
        a, b = (float32.numpy if each.char == CHAR else each for each in (a, b))
    both = a if a is b else np.promote_types(a, b)
    if low.kind != "f" and both.kind == "f":
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {type_name(a)} and "
            f"{type_name(b)}: no integer dtype holds both. Convert one: x.to({package}.int64), or x.to({package}.float64)"
        )
    return both


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of one dtype may be stored in another: any but one of a lower kind.

    Kinds rise from bool over integers and floats to complex; sizes do not matter.

    Parameters
    ----------
    from_
        The dtype that is there.
    to
        The dtype that is wanted.

    >>> import pullback
    >>> pullback.can_cast(pullback.float64, pullback.float16), pullback.can_cast(pullback.float16, pullback.int64)
    (True, False)
    """
    return _RANK[as_dtype(from_).numpy.kind] <= _RANK[as_dtype(to).numpy.kind]


def result_dtype(operands: Sequence[tuple[NumpyType, str]]) -> NumpyType:
    """The NumPy dtype in which an operation on operands is computed: torch's result_type for any number of them.

    Each operand is its NumPy dtype and its strength: 'dim' for a tensor with axes, 'zero' for a 0-d one, 'scalar' for a
    Python number, of whose dtype only the kind counts. There is at least one operand.

    >>> import numpy as np
    >>> from pullback._core.dtypes import result_dtype
    >>> result_dtype([(np.dtype("float32"), "dim"), (np.dtype("float64"), "zero")])
    dtype('float32')
    """
    first, strength = operands[0]
    if strength != "scalar":
        for other, _ in operands:
            if other is not first:
                break
        else:
            return first
    return _resolved(tuple(operands), rules())


@functools.lru_cache(maxsize=1024)
def _resolved(operands: tuple[tuple[NumpyType, str], ...], rules: Rules) -> NumpyType:
    zero = "zero" if rules.promotion == "torch" else "dim"
    known = [
        (_of_number(numpy.kind, rules.default), strength)
        if strength == "scalar"
        else (from_numpy(numpy).numpy, zero if strength == "zero" else strength)
        for numpy, strength in operands
    ]
    known.sort(
        key=lambda operand: -_RANK[operand[0].kind]
    )  # integers that do not fit together do not matter to a float
    together: dict[str, NumpyType] = {}
    for numpy, strength in known:
        together[strength] = _promoted(together.get(strength, numpy), numpy)
    return functools.reduce(
        _raised, [together[strength] for strength in ("dim", "zero", "scalar") if strength in together]
    )


def _of_number(kind: str, default: dtype) -> NumpyType:
    return {"b": bool_, "f": default, "c": _COMPLEX[default]}.get(kind, int64).numpy


def _raised(strong: NumpyType, weak: NumpyType) -> NumpyType:
    """The strong dtype, or what it becomes beside a weak one of a higher kind."""
    if _RANK[weak.kind] <= _RANK[strong.kind]:
        return strong
    return from_numpy(strong).to_complex().numpy if strong.kind == "f" else weak


class _Limits:
    """What finfo and iinfo have in common."""

    __slots__ = ("bits", "max", "min", "dtype")

    shown: tuple[str, ...]
    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name):.6g}" for name in self.shown)
        return f"{type(self).__name__}({values}, dtype={self.dtype})"


class finfo(_Limits):
    """The limits of a floating dtype, and of the parts of a complex one; without an argument, of the default dtype.

    `bits`, `max`, `min`, `eps` (the gap above 1), `tiny` and `smallest_normal` (the smallest positive number of full
    precision), `resolution` (that of its decimal digits) and `dtype`, the name. Other dtypes raise TypeError.

    Parameters
    ----------
    type
        A floating or complex dtype; None for the default.

    >>> import pullback
    >>> pullback.finfo(pullback.float64).eps
    2.220446049250313e-16
    """

    __slots__ = ("eps", "tiny", "smallest_normal", "resolution")
    __module__ = "pullback"
    shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: DType | None = None) -> None:
        given = rules().default if type is None else as_dtype(type)
        if not (given.is_floating_point or given.is_complex):
            raise TypeError(f"finfo() requires a floating point input type. Use {package}.iinfo to handle {given!r}")
        limits = finfo_of(given.numpy)
        self.bits = int(limits.bits)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.eps = float(limits.eps)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = 10.0**-limits.precision
        self.dtype = given.to_real().name


class iinfo(_Limits):
    """The limits of an integer dtype: `bits`, `max`, `min` and `dtype`, the name. Other dtypes raise TypeError.

    Parameters
    ----------
    type
        An integer dtype.

    >>> import pullback
    >>> pullback.iinfo(pullback.int8).max
    127
    """

    __slots__ = ()
    __module__ = "pullback"
    shown = ("min", "max")

    def __init__(self, type: DType) -> None:
        given = as_dtype(type)
        if given is bool_:
            raise TypeError(f"{package}.bool is not supported by {package}.iinfo: its values are False and True")
        if given.numpy.kind not in "iu":
            raise TypeError(f"iinfo() requires an integer input type. Use {package}.finfo to handle {given!r}")
        limits = np.iinfo(given.numpy)
        self.bits = int(limits.bits)
        self.max = int(limits.max)
        self.min = int(limits.min)
        self.dtype = given.name
