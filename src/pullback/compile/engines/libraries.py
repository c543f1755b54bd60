"""Libraries: what an engine is, and which lowerings each library has of its own.

An engine is a namespace of the standard and what the standard lacks: loops, sums at places, special functions,
convolutions. `Engine` does all of it by the standard's functions, as well as they can; a library that has a function for it
uses that.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._core.package import package
from . import elements, matrices, moving, sums, windows  # noqa: F401  # they fill the table
from .lowerings import LOWERINGS, SILENT, STANDARD, Lowering, LoweringError, missing

if TYPE_CHECKING:
    from types import EllipsisType

    from ..._core.primitives import Primitive
    from ..._core.typing import Array, Index, NumpyType
    from ...ops.convolution import Window
    from ..program import Equation, Value
    from ..scans import Scan
    from .lowerings import Foreign, Made, StandardNames

SPECIAL = {
    "lgamma": "gammaln", "bessel_j": "bessel_j{order} j{order}", "bessel_y": "bessel_y{order} y{order}",
    "bessel_i": "i{order}", "bessel_k": "modified_bessel_k{order} k{order}", "scaled_bessel_i": "i{order}e",
    "scaled_bessel_k": "scaled_modified_bessel_k{order} k{order}e", "zeta": "zeta{order}", "polygamma": "polygamma",
    **{name: name for name in """beta betainc betaln betaincc betaincinv binom dawsn digamma ellipe ellipk erf erfc erfcinv
        erfcx erfi erfinv exp1 expi expn gamma gammainc gammaincc gammaincinv gammainccinv hyp1f1 hyp2f1 log_ndtr ndtr ndtri
        poch wrightomega""".split()},
}  # fmt: skip
"""Names that libraries of special functions have for primitives; `{order}` stands for metadata, where 0 is left out of zeta's."""

OLDER = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "concat": "concatenate", "permute_dims": "transpose", "pow": "power", "bool": "bool_",
    "cumulative_sum": "cumsum", "cumulative_prod": "cumprod", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}  # fmt: skip
"""Names that functions of the standard have in libraries that follow NumPy before its version 2."""


class RenamedNamespace:
    """The functions of the standard in a library that has them under other names; what is defined here it has otherwise."""

    def __init__(self, module: Any, others: dict[str, str]) -> None:
        self._module, self._others = module, others

    linalg: StandardNames
    fft: StandardNames

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, self._others.get(name, name), None) or getattr(self._module, name, None)
        if found is None:
            raise LoweringError(f"{self._module.__name__} has no function {name}, which")
        setattr(self, name, found)
        return found

    def matrix_transpose(self, x: Foreign) -> Foreign:
        """The last two axes exchanged."""
        return self.permute_dims(x, (*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2))

    def argsort(self, x: Foreign, *, axis: int, stable: bool) -> Foreign:
        """The places that sort x."""
        try:
            return self._module.argsort(x, axis=axis, stable=stable)
        except TypeError:
            return self._module.argsort(x, axis=axis, kind="stable")


class TorchNames(RenamedNamespace):
    """The functions of the standard in torch."""

    def __init__(self, module: Any) -> None:
        super().__init__(
            module, {"equal": "eq", "permute_dims": "permute", "max": "amax", "min": "amin", "cumulative_sum": "cumsum",
                     "cumulative_prod": "cumprod"}
        )  # fmt: skip

    def argsort(self, x: Any, *, axis: int, stable: bool) -> Foreign:
        """The places that sort x."""
        return self._module.argsort(x, dim=axis, stable=stable)

    def take(self, x: Any, indices: Foreign, *, axis: int) -> Foreign:
        """Slices along an axis."""
        return x.index_select(axis, indices)

    def flip(self, x: Any, *, axis: int | tuple[int, ...]) -> Foreign:
        """x in the opposite order along axes."""
        return x.flip(axis if isinstance(axis, tuple) else (axis,))

    def take_along_axis(self, x: Any, indices: Foreign, *, axis: int) -> Foreign:
        """One element along an axis for each place along the others."""
        return self._module.take_along_dim(x, indices, axis)


OF_BOOLEANS = set(
    """add amax amin arglast argkth argmax argmin argsort argtop einsum fmax fmin greater greater_equal isfinite isinf isnan
    less less_equal matmul maximum minimum multiply outer searchsorted signbit times_transpose transpose_times""".split()
)
"""Operations that NumPy has of booleans and the standard has not: there they are of 0 and 1."""


class Engine:
    """A library by its namespace of the standard, and what a program needs besides."""

    own: ClassVar[dict[str, Lowering]] = {}  # never changed
    of_booleans: ClassVar[set[str]] = OF_BOOLEANS

    def __init__(self, xp: StandardNames, library: Any = None, special: Any = None) -> None:
        self.xp, self.library, self.special = xp, library or xp, special
        self.name = self.library.__name__
        self.kinds: dict[Any, np.dtype[Any]] = {}
        self.array: Any = type(self.xp.asarray(0.0))

    # 1. Arrays

    def mode(self, arrays: Sequence[Foreign] = ()) -> AbstractContextManager[Any]:
        """Settings for computing with arrays: dtypes mean what they say, and new arrays are where those are."""
        return nullcontext()

    def dtype(self, dtype: NumpyType) -> Any:
        """The library's dtype."""
        return getattr(self.xp, "bool" if dtype.kind == "b" else dtype.name)

    def kind(self, x: Foreign) -> NumpyType:
        """The dtype of an array as NumPy's."""
        dtype = x.dtype
        found = self.kinds.get(dtype)
        if found is None:
            found = self.kinds[dtype] = np.dtype(str(dtype).rpartition(".")[2])
        return found

    def part(self, dtype: NumpyType) -> NumpyType:
        """The dtype of a complex number's parts."""
        return np.empty(0, dtype).real.dtype

    def astype(self, x: Foreign, dtype: NumpyType) -> Foreign:
        """x in a dtype."""
        if self.kind(x) == dtype:
            return x
        return x.astype(dtype) if hasattr(x, "astype") else self.xp.astype(x, self.dtype(dtype))

    def constant(self, array: Array | np.generic) -> Foreign:
        """An array of the host's, on the engine."""
        return self.xp.asarray(np.array(array), dtype=self.dtype(array.dtype))

    def host(self, x: Foreign) -> Array:
        """An array of the engine's, on the host."""
        return np.asarray(x)

    def held(self, arrays: list[Foreign]) -> list[Foreign]:
        """The results of a call whose numbers later calls begin with."""
        return arrays

    def truth(self, x: Foreign) -> Foreign:
        """Where numbers are not zero."""
        return x if self.kind(x).kind == "b" else x != 0

    # 2. What the standard lacks

    def complex(self, a: Foreign, b: Foreign) -> Foreign:
        """Complex numbers of two parts. A product with 1j alone makes NaN of infinite ones, and loses the signs of zeros:
        here numbers with an imaginary part below 0 are made, and their conjugates where it is not.
        """
        xp, kind = self.xp, np.result_type(self.kind(a), np.complex64)
        whole, size = self.astype(a, kind), xp.abs(b)
        below = -(self.astype(xp.where(xp.isfinite(size), size, xp.zeros_like(size)), kind) * 1j)
        for number in (math.inf, math.nan):
            end = self.constant(np.asarray(complex(-0.0, -number), kind))
            below = xp.where(size == number if number == math.inf else missing(size), end, below)
        below = xp.where(size == 0, xp.conj(whole), whole + below)
        return xp.where(xp.signbit(b), below, xp.conj(below))

    def basic(
        self, index: tuple[int | slice | EllipsisType | None, ...], shape: tuple[int, ...]
    ) -> tuple[int | slice | None, ...]:
        """A basic index with an entry for each axis, within its bounds."""
        missing = len(shape) - sum(entry is not None and entry is not Ellipsis for entry in index)
        place = next((i for i, entry in enumerate(index) if entry is Ellipsis), len(index))
        full = [*index[:place], *[slice(None)] * missing, *index[place + 1 :]]
        sizes = iter(shape)
        return tuple([_within(entry, next(sizes)) if isinstance(entry, int | slice) else None for entry in full])

    def inside(self, indices: Foreign, size: int) -> Foreign:
        """Indices counted from the front."""
        indices = self.astype(indices, np.dtype(np.int64))
        return self.xp.where(indices < 0, indices + size, indices)

    def put(self, x: Foreign, index: Index, value: Foreign) -> Foreign:
        """x with a value at a basic index."""
        x = self.xp.asarray(x.copy()) if hasattr(x, "copy") else self.xp.asarray(x, copy=True)
        x[index] = value
        return x

    def combine(self, how: str, x: Foreign, places: Foreign, values: Foreign) -> Foreign:
        """A line of elements with values combined at places: by a comparison of all places with all elements."""
        count = self.constant(np.arange(x.shape[0]))
        same = places[:, None] == count
        if how == "put":
            number = self.constant(np.arange(values.shape[0])[:, None])
            last = self.xp.max(self.xp.where(same, number, -1), axis=0) if values.shape[0] else count * 0 - 1
            found = self.xp.take(self.xp.concat([values, x[:1]], axis=0), self.inside(last, values.shape[0]), axis=0)
            return self.xp.where(last >= 0, found, x)
        kind = self.kind(values)
        bound = math.inf if kind.kind in "fc" else np.iinfo(kind).max
        neutral = {"add": 0, "multiply": 1, "maximum": -bound, "minimum": bound}[how]
        name = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}[how]
        if not values.shape[0]:
            return x
        spread = self.xp.where(same, values[:, None], self.constant(np.asarray(neutral, kind)))
        return getattr(self.xp, how)(x, getattr(self.xp, name)(spread, axis=0))

    # 3. Programs

    def ready(self, function: Callable[..., list[Foreign]]) -> Callable[..., list[Foreign]]:
        """A function of arrays, prepared to be called often."""
        return function

    def scan(
        self, step: Callable[..., Sequence[Foreign]], arrays: Sequence[Foreign], loop: Scan
    ) -> tuple[Foreign, ...]:
        """A loop of Python's."""
        carries, ends = list(arrays[: loop.carries]), loop.carries + loop.columns
        kept = []
        for number in reversed(range(loop.length)) if loop.reverse else range(loop.length):
            found = step(*carries, *[column[number, ...] for column in arrays[loop.carries : ends]], *arrays[ends:])
            carries = list(found[: loop.carries])
            kept.append(found[loop.carries :])
        stacks = zip(*(reversed(kept) if loop.reverse else kept), strict=True)
        return (*carries, *[self.xp.stack(list(stack), axis=0) for stack in stacks])

    def branch(
        self, predicate: Foreign, sides: Sequence[Callable[..., Sequence[Foreign]]], arrays: Sequence[Foreign]
    ) -> tuple[Foreign, ...]:
        """A branch of Python's."""
        return tuple(sides[0 if bool(predicate) else 1](*arrays))

    def repeat(
        self, test: Callable[..., Foreign], step: Callable[..., Sequence[Foreign]], carries: Sequence[Foreign]
    ) -> tuple[Foreign, ...]:
        """A loop of Python's, as long as a test holds."""
        while bool(test(*carries)):
            carries = step(*carries)
        return tuple(carries)

    # 4. Lowerings

    def find(self, e: Equation) -> Lowering:
        """The lowering of an equation's primitive.

        Raises
        ------
        LoweringError
            If there is none.
        """
        name = e.name
        found = self.own.get(name) or LOWERINGS.get(name)
        if found is not None:
            return found
        if name in STANDARD:
            return lambda w, e, *arrays: getattr(w.xp, e.name)(*arrays)
        for candidate in SPECIAL.get(name, "").format(**{"order": "", **e.params}).split():
            function = getattr(self.special, candidate.removesuffix("0") if name == "zeta" else candidate, None)
            if function is not None and name == "polygamma":
                return lambda w, e, x, *, n: function(n, x)
            if function is not None:
                return lambda w, e, *arrays, **_: function(*arrays)
        raise LoweringError(f"{name} has no lowering for {self.name}{_of_user(e.primitive)}")

    def refusal(self, case: str) -> LoweringError:
        """The error for a case that has no lowering."""
        return LoweringError(f"a case {case}")

    def compute(self, e: Equation, arrays: Sequence[Foreign]) -> Made:
        """What an equation gives; operands of several dtypes, or of whole numbers where results are not, are converted as by NumPy."""
        if e.primitive.kind in {"elementwise", "zero", "multilinear"} and e.name not in APART:
            numbers = [value.dtype for value in e.inputs if value.dtype.kind != "b"]
            dtypes = {value.dtype for value in e.inputs}
            turned = e.outputs[0].dtype.kind in "fc" and all(dtype.kind in "biu" for dtype in dtypes)
            if turned or (len(dtypes) > 1 and numbers):
                common = e.outputs[0].dtype if turned else np.result_type(*numbers)
                skip = int(e.name in {"where", "select"})
                arrays = [x if i < skip else self.astype(x, common) for i, x in enumerate(arrays)]
        if e.name in self.of_booleans and all(value.dtype.kind == "b" for value in e.inputs):
            arrays = [self.astype(x, np.dtype(np.float32)) for x in arrays]
        if e.name.startswith("logical"):
            arrays = [self.truth(x) for x in arrays]
        params = {name: value for name, value in e.params.items() if name not in SILENT}
        return self.find(e)(self, e, *arrays, **params)


APART = {"ldexp", "masked_fill", "copy", "fill", "max_places", "searchsorted", "orthogonal_polynomial"}
"""Operations whose operands have dtypes of their own."""


def _within(entry: int | slice, size: int) -> int | slice:
    """An entry of a basic index that is within the bounds of an axis."""
    return slice(*entry.indices(size)) if isinstance(entry, slice) else int(entry)


# Libraries


def _covering(own: Lowering) -> Lowering:
    """A library's transpose of a convolution, for outputs that cover the whole image; for others the standard's lowering."""

    def chosen(w: Engine, e: Equation, a: Foreign, b: Foreign, **params: Any) -> Foreign:
        y, size, kernel = (a, params["size"], b.shape[2:]) if "size" in params else (b, a.shape[2:], params["kernel"])
        whole = params["window"].lengths(tuple(size), tuple(kernel)) == tuple(y.shape[2:])
        return (own if whole else LOWERINGS[e.name])(w, e, a, b, **params)

    return chosen


def _dims(window: Window) -> str:
    return f"conv{len(window.stride)}d"


class Jax(Engine):
    """JAX: programs and their loops are compiled by XLA."""

    def __init__(self) -> None:
        self.jax = importlib.import_module("jax")
        super().__init__(importlib.import_module("jax.numpy"), special=importlib.import_module("jax.scipy.special"))
        self.name, self.array = "jax", self.jax.Array

    def mode(self, arrays: Sequence[Foreign] = ()) -> AbstractContextManager[Any]:
        """Dtypes of 64 bits are not cut to 32."""
        mode: AbstractContextManager[Any] = self.jax.enable_x64(True)
        return mode

    def put(self, x: Any, index: Index, value: Foreign) -> Foreign:
        """x with a value at a basic index."""
        return x.at[index].set(value)

    def combine(self, how: str, x: Any, places: Foreign, values: Foreign) -> Foreign:
        """A line of elements with values combined at places."""
        name = {"put": "set", "maximum": "max", "minimum": "min"}.get(how, how)
        return getattr(x.at[places], name)(values)

    def ready(self, function: Callable[..., list[Foreign]]) -> Callable[..., list[Foreign]]:
        """A function of arrays, compiled when it is first called."""
        compiled: Callable[..., list[Foreign]] = self.jax.jit(function)
        return compiled

    def scan(
        self, step: Callable[..., Sequence[Foreign]], arrays: Sequence[Foreign], loop: Scan
    ) -> tuple[Foreign, ...]:
        """A loop of XLA's."""
        ends = loop.carries + loop.columns

        def one(
            carries: tuple[Foreign, ...], columns: tuple[Foreign, ...]
        ) -> tuple[tuple[Foreign, ...], tuple[Foreign, ...]]:
            found = step(*carries, *columns, *arrays[ends:])
            return tuple(found[: loop.carries]), tuple(found[loop.carries :])

        carries, columns = tuple(arrays[: loop.carries]), tuple(arrays[loop.carries : ends])
        carries, kept = self.jax.lax.scan(one, carries, columns, length=loop.length, reverse=loop.reverse)
        return (*carries, *kept)

    def branch(
        self, predicate: Foreign, sides: Sequence[Callable[..., Sequence[Foreign]]], arrays: Sequence[Foreign]
    ) -> tuple[Foreign, ...]:
        """A branch of XLA's."""
        return tuple(self.jax.lax.cond(self.xp.reshape(predicate, ()), *sides, *arrays))

    def repeat(
        self, test: Callable[..., Foreign], step: Callable[..., Sequence[Foreign]], carries: Sequence[Foreign]
    ) -> tuple[Foreign, ...]:
        """A loop of XLA's."""
        return tuple(
            self.jax.lax.while_loop(lambda c: self.xp.reshape(test(*c), ()), lambda c: tuple(step(*c)), tuple(carries))
        )

    def convolution(self, x: Foreign, weight: Foreign, window: Window) -> Foreign:
        """XLA's convolution."""
        return self.jax.lax.conv_general_dilated(
            x, weight, window.stride, [(p, p) for p in window.padding], rhs_dilation=window.dilation,
            feature_group_count=window.groups,
        )  # fmt: skip

    def complex(self, a: Foreign, b: Foreign) -> Foreign:
        """Complex numbers of two parts."""
        return self.jax.lax.complex(*self.xp.broadcast_arrays(a, b))

    def transposed(self, function: Callable[[Foreign], Foreign], shape: tuple[int, ...], given: Foreign) -> Foreign:
        """The transpose of a linear function of an array of a shape."""
        like = self.jax.ShapeDtypeStruct(tuple(shape), given.dtype)
        return self.jax.linear_transpose(function, like)(given)[0]

    own: ClassVar[dict[str, Lowering]] = {
        "convolve": lambda w, e, x, weight, *, window: w.convolution(x, weight, window),
        "convolve_transpose": _covering(
            lambda w, e, y, weight, *, size, window: w.transposed(
                lambda x: w.convolution(x, weight, window), e.output.shape, y
            )
        ),
        "convolve_weight": _covering(
            lambda w, e, x, y, *, kernel, window: w.transposed(
                lambda weight: w.convolution(x, weight, window), e.output.shape, y
            )
        ),
        "matrix_exp": lambda w, e, x: w.jax.scipy.linalg.expm(x),
        "einsum": lambda w, e, *arrays, equation: w.xp.einsum(equation, *arrays),
    }


class Torch(Engine):
    """torch: eager, on the device where the arrays are."""

    def __init__(self) -> None:
        torch = importlib.import_module("torch")
        super().__init__(TorchNames(torch), torch, torch.special)

    def mode(self, arrays: Sequence[Foreign] = ()) -> AbstractContextManager[Any]:
        """Without torch's own gradients, and on the device of the arrays."""
        stack = ExitStack()
        stack.enter_context(self.library.no_grad())
        for array in arrays[:1]:
            stack.enter_context(self.library.device(array.device))
        return stack

    def astype(self, x: Any, dtype: NumpyType) -> Foreign:
        """x in a dtype."""
        return x.to(self.dtype(dtype))

    def host(self, x: Any) -> Array:
        """An array of the engine's, on the host."""
        return x.detach().cpu().resolve_conj().numpy()

    def complex(self, a: Foreign, b: Foreign) -> Foreign:
        """Complex numbers of two parts."""
        return self.library.complex(*self.library.broadcast_tensors(a, b))

    def put(self, x: Any, index: Index, value: Foreign) -> Foreign:
        """x with a value at a basic index."""
        x = x.clone()
        x[index] = value
        return x

    def combine(self, how: str, x: Any, places: Foreign, values: Foreign) -> Foreign:
        """A line of elements with values combined at places."""
        if how == "put":
            return x.scatter(0, places, values)
        if how == "add":
            return x.index_add(0, places, values)
        name = {"multiply": "prod", "maximum": "amax", "minimum": "amin"}[how]
        return x.scatter_reduce(0, places, values, name)

    own: ClassVar[dict[str, Lowering]] = {
        "convolve": lambda w, e, x, weight, *, window: getattr(w.library, _dims(window))(
            x, weight, None, window.stride, window.padding, window.dilation, window.groups
        ),
        "convolve_transpose": _covering(
            lambda w, e, y, weight, *, size, window: getattr(w.library.nn.grad, f"{_dims(window)}_input")(
                e.output.shape, weight, y, window.stride, window.padding, window.dilation, window.groups
            )
        ),
        "convolve_weight": _covering(
            lambda w, e, x, y, *, kernel, window: getattr(w.library.nn.grad, f"{_dims(window)}_weight")(
                x, e.output.shape, y, window.stride, window.padding, window.dilation, window.groups
            )
        ),
        "fft": lambda w, e, x, *, axes, inverse, scale: (
            scale
            * (
                (w.library.fft.ifftn if inverse else w.library.fft.fftn)(
                    x, dim=axes, norm="forward" if inverse else "backward"
                )
                if axes
                else x
            )
        ),
        "einsum": lambda w, e, *arrays, equation: w.library.einsum(equation, *arrays),
        "solve_triangular": lambda w, e, a, b, *, upper, unitriangular=False: w.library.linalg.solve_triangular(
            a, b, upper=upper, unitriangular=unitriangular
        ),
        "matrix_exp": lambda w, e, x: w.library.linalg.matrix_exp(x),
    }


class Cupy(Engine):
    """CuPy: eager, on NVIDIA's and AMD's GPUs."""

    def __init__(self) -> None:
        cupy = importlib.import_module("cupy")
        super().__init__(RenamedNamespace(cupy, OLDER), cupy, importlib.import_module("cupyx.scipy.special"))

    def host(self, x: Any) -> Array:
        """An array of the engine's, on the host."""
        return x.get()

    def combine(self, how: str, x: Any, places: Foreign, values: Foreign) -> Foreign:
        """A line of elements with values combined at places."""
        if how == "multiply":
            return super().combine(how, x, places, values)
        x = x.copy()
        if how == "put":
            x[places] = values
        else:
            getattr(self.library, how).at(x, places, values)
        return x

    own: ClassVar[dict[str, Lowering]] = {"einsum": lambda w, e, *arrays, equation: w.library.einsum(equation, *arrays)}


class Dask(Engine):
    """dask.array: lazy. What goes chunk by chunk does, and all else computes as it does on the host, with whole arrays."""

    of_booleans: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        self.dask = importlib.import_module("dask")
        array = importlib.import_module("dask.array")
        super().__init__(RenamedNamespace(array, OLDER), array)
        self.name, self.array = "dask", array.Array

    def host(self, x: Any) -> Array:
        """An array of the engine's, computed."""
        return np.asarray(x.compute())

    def held(self, arrays: list[Foreign]) -> list[Foreign]:
        """The results, computed: what is lazy would hold the tasks of all calls before."""
        return list(self.dask.persist(*arrays))

    def find(self, e: Equation) -> Lowering:
        """The lowering for chunks, or the forward function, of elements or of whole arrays."""
        if e.name in CHUNKED:
            return super().find(e)
        forward = functools.partial(_quietly, e.primitive.forward, e.params)  # which workers may be sent
        if e.primitive.kind == "elementwise" or e.name in STANDARD:
            return lambda w, e, *arrays, **_: w.library.core.elemwise(forward, *arrays, dtype=e.output.dtype)
        return lambda w, e, *arrays, **_: w.whole(forward, arrays, e.outputs)

    def whole(
        self, forward: Callable[..., Any], arrays: Sequence[Foreign], outputs: Sequence[Value]
    ) -> tuple[Foreign, ...]:
        """The outputs of a function of whole arrays."""
        found = self.dask.delayed(_several)(forward, *arrays)
        return tuple(self.library.from_delayed(found[i], value.shape, value.dtype) for i, value in enumerate(outputs))


def _quietly(
    forward: Callable[..., Array | tuple[Array, ...]], params: dict[str, Any], *arrays: Array
) -> Array | tuple[Array, ...]:
    with np.errstate(all="ignore"):
        return forward(*arrays, **params)


def _several(forward: Callable[..., Array | tuple[Array, ...]], *arrays: Array) -> list[Array]:
    found = forward(*arrays)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


CHUNKED = set(
    "sum total amax amin largest smallest matmul permute_dims matrix_transpose astype tied attached clone".split()
)
"""Operations that are done chunk by chunk by dask's functions."""


ENGINES: dict[str, Callable[[], Engine]] = {"jax": Jax, "torch": Torch, "cupy": Cupy, "dask": Dask}


def engine(what: Any) -> Engine:
    """The engine of a name, or of a namespace of the standard.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if isinstance(what, Engine):
        return what
    if isinstance(what, str) and what not in ENGINES:
        raise ValueError(
            f"there is no engine {what!r}: engines are {', '.join(ENGINES)}, or a namespace of the array API"
        )
    return _made(what)


@functools.cache
def _made(what: Any) -> Engine:
    return ENGINES[what]() if isinstance(what, str) else Engine(RenamedNamespace(what, OLDER), what)


def _of_user(primitive: Primitive) -> str:
    """What to change in an operation of a user that has no lowering."""
    if not primitive.of_user:
        return ""
    if primitive.definition is None:
        return ": with a definition= beside its forward=, it runs as its parts"
    return f": its definition cannot be read as a program; {package}.testing.check_operation says why"
