"""Arrays that behave as CuPy's, for machines without a GPU.

A namespace with the names that CuPy 13 has, over NumPy. Its arrays refuse to become NumPy's by themselves and to be mixed with
them, as those on a GPU do; each passage between them and the host is counted.
"""

import types

import numpy as np

NAMES = set(
    """
    abs add all any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort bitwise_and bitwise_or
    bitwise_xor broadcast_arrays broadcast_to ceil concatenate conj copysign cos cosh cumprod cumsum divide einsum equal exp
    expand_dims expm1 flip floor floor_divide full full_like greater greater_equal hypot imag isfinite isinf isnan left_shift
    less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul max maximum mean min
    minimum multiply negative nextafter not_equal ones ones_like power prod real reciprocal remainder reshape right_shift round
    searchsorted sign signbit sin sinh sqrt square squeeze stack subtract sum take take_along_axis tan tanh transpose tril
    triu trunc where zeros zeros_like
    """.split()
)
DTYPES = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
PARTS = {
    "linalg": "cholesky det eigh eigvalsh inv qr slogdet solve svd".split(),
    "fft": "fftn ifftn irfft rfft".split(),
}


class Passages:
    """How often arrays went to the engine and back."""

    def __init__(self):
        self.there = self.back = 0


passages = Passages()


def inner(value):
    """NumPy's arrays in the place of ours; an array of NumPy's is an error."""
    if isinstance(value, Array):
        return value._array
    if isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in {list, tuple}:
        return type(value)(map(inner, value))
    if isinstance(value, slice):
        return slice(*map(inner, (value.start, value.stop, value.step)))
    return value


def outer(value):
    """Ours in the place of NumPy's, also of NumPy's numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(np.asarray(value))
    return tuple(map(outer, value)) if isinstance(value, (tuple, list)) else value


def wrapped(function):
    def call(*args, **kwargs):
        with np.errstate(all="ignore"):
            return outer(function(*map(inner, args), **{name: inner(value) for name, value in kwargs.items()}))

    if isinstance(function, np.ufunc):
        call.at = lambda out, places, values: function.at(inner(out), inner(places), inner(values))
    return call


class Array:
    """An array on the engine."""

    __array_ufunc__ = None

    def __init__(self, array):
        self._array = array

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def get(self):
        passages.back += 1
        return self._array.copy()

    def copy(self):
        return Array(self._array.copy())

    def astype(self, dtype, *, copy=True):
        return Array(self._array.astype(dtype, copy=copy))

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    dtype = property(lambda self: self._array.dtype)

    def __getitem__(self, index):
        return outer(self._array[inner(index)])

    def __setitem__(self, index, value):
        self._array[inner(index)] = inner(value)

    def __bool__(self):
        passages.back += 1
        return bool(self._array)


for name in """add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rpow neg abs eq ne lt le gt ge and or invert
    matmul""".split():
    operation = wrapped(getattr(np.ndarray, f"__{name}__"))
    setattr(Array, f"__{name}__", lambda *args, operation=operation: operation(*args))


def asarray(array, dtype=None):
    if not isinstance(array, Array):
        passages.there += 1
        array = Array(np.array(array))
    return array if dtype is None else array.astype(dtype)


def module(name, source, names):
    made = types.ModuleType(name)
    vars(made).update({each: wrapped(getattr(source, each)) for each in names})
    return made


def modules():
    """The modules of the stand-in, by their names."""
    cupy = module("cupy", np, NAMES)
    cupy.asarray, cupy.ndarray = asarray, Array
    for name in DTYPES:
        setattr(cupy, name, getattr(np, name))
    for part, names in PARTS.items():
        setattr(cupy, part, module(f"cupy.{part}", getattr(np, part), names))
    special = types.ModuleType("cupyx.scipy.special")
    try:
        from scipy import special as scipys
    except ImportError:
        pass
    else:
        names = "digamma erf erfc erfcinv erfcx erfinv gammaln i0 i0e i1 i1e j0 j1 log_ndtr ndtr ndtri polygamma zeta".split()
        vars(special).update({each: wrapped(getattr(scipys, each)) for each in names})
    parents = {each: types.ModuleType(each) for each in ("cupyx", "cupyx.scipy")}
    return {"cupy": cupy, **parents, "cupyx.scipy.special": special}
