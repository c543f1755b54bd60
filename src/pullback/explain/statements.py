"""What operations and their rules compute, as statements: lists of words that a page can follow without knowing any operation.

A word is a function of the array API standard, applied to earlier results. Nothing is stated a second time here: the
definitions of operations, their rules and the compiler's lowerings are followed with words in place of arrays, which
write down what is asked of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .._core.shapes import sum_to
from ..compile.definitions import EquationList, Namespace, Symbol
from ..compile.engines.libraries import OLDER, Engine
from ..compile.engines.lowerings import LoweringError
from ..compile.engines.running import lowered
from ..compile.passes import simplify
from ..compile.program import Equation, Program, Value
from .accounts import Said, Statement
from .arrays import Array, as_json
from .operands import Applied, kinds

if TYPE_CHECKING:
    from .._core.typing import Index, NumpyType
    from ..extend import Primitive


Kind = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and the dtype of an array."""

UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log10 log1p log2
    logical_not negative positive reciprocal round sign signbit sin sinh sqrt square tan tanh trunc bitwise_invert""".split()
BINARY = """add atan2 bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide greater greater_equal hypot less
    less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply not_equal pow remainder
    subtract""".split()
REDUCTIONS = "sum prod max min any all argmax argmin".split()
OTHERS = """erf where matmul reshape broadcast_to permute_dims flip concat stack take take_along_axis argsort cumulative_sum
    cumulative_prod astype getitem put combine constant""".split()
WORDS = {*UNARY, *BINARY, *REDUCTIONS, *OTHERS}
"""The words that pages know."""

KINDS = {"float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
"""The dtypes in which pages compute."""
INSTEAD = ("pieces", "buffers", "loops", "rounding identities", "contractions")
"""The passes that make programs quicker, not plainer."""


# 1. Words in place of arrays


class Word:
    """The result of a word: its number, and an array like it, by which shapes and dtypes follow."""

    __array_ufunc__ = None

    def __init__(self, writer: Writer, number: int, like: Array) -> None:
        self.writer, self.number, self.like = writer, number, like
        self.shape, self.dtype, self.ndim = like.shape, like.dtype, like.ndim

    def __getitem__(self, index: Index) -> Word:
        return self.writer.indexed(self, index)

    def _unknown(self, *_: object) -> NoReturn:
        raise LoweringError("what depends on values")

    __bool__ = __int__ = __float__ = __index__ = __len__ = __iter__ = _unknown

    def __neg__(self) -> Word:
        return self.writer.called("negative", self)

    def __invert__(self) -> Word:
        return self.writer.called("logical_not" if self.dtype == bool else "bitwise_invert", self)


def _operator(name: str, *, swapped: bool) -> Callable[[Word, Any], Word]:
    def method(self: Word, other: Any) -> Word:
        return self.writer.called(name, *((other, self) if swapped else (self, other)))

    return method


for _name, _word in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
}.items():  # fmt: skip
    setattr(Word, f"__{_name}__", _operator(_word, swapped=False))
    setattr(Word, f"__r{_name}__", _operator(_word, swapped=True))
for _name, _word in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(Word, f"__{_name}__", _operator(_word, swapped=False))


class Writer:
    """The namespace of the standard that writes words down."""

    __name__ = "the page"

    def __init__(self) -> None:
        self.words: list[list[object]] = []
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in {"zeros", "ones", "full", "arange", "eye", "zeros_like", "ones_like", "full_like"}:
            return functools.partial(self._constant_of, getattr(np, name))
        if name not in WORDS:
            raise LoweringError(name)
        return functools.partial(self.called, name)

    def input(self, kind: Kind) -> Word:
        """The next input."""
        self.count += 1
        shape, dtype = kind  # whole numbers may be indices: 0 is always one
        return Word(self, self.count - 1, np.zeros(shape, dtype) if dtype.kind in "iu" else np.ones(shape, dtype))

    def word(self, name: str, operands: Sequence[Word], like: Any, **settings: object) -> Word:
        """The next word."""
        like = np.asarray(like)
        if like.dtype.name not in KINDS:
            raise LoweringError(f"numbers of dtype {like.dtype}")
        entry: list[object] = [name, [each.number for each in operands], like.dtype.name, list(like.shape)]
        self.words.append([*entry, settings] if settings else entry)
        self.count += 1
        return Word(self, self.count - 1, like)

    def constant(self, array: Any) -> Word:
        """An array that is known."""
        array = np.asarray(array)
        return self.word("constant", [], array, data=as_json(array)["data"])

    def _constant_of(self, make: Callable[..., Array], *args: Any, **options: Any) -> Word:
        return self.constant(make(*[each.like if isinstance(each, Word) else each for each in args], **options))

    def called(self, name: str, *args: Any, **settings: Any) -> Word:
        """The word for a call of a function of the standard."""
        if name in {"concat", "stack"}:
            args = tuple(args[0])
        likes = [each.like if isinstance(each, Word) else each for each in args]
        function = getattr(np, name, None) or getattr(np, OLDER.get(name, name))
        settings = {key: value for key, value in settings.items() if value is not None}
        given = {key: value for key, value in settings.items() if key != "stable"}
        with np.errstate(all="ignore"):
            like = function(likes, **given) if name in {"concat", "stack"} else function(*likes, **given)
        said = {key: _setting(value) for key, value in settings.items() if key not in {"dtype", "stable"}}
        if name in {"reshape", "broadcast_to", "permute_dims"}:
            args, said = args[:1], {"axes": list(args[1])} if name == "permute_dims" else {}
        dtype = np.result_type(*likes) if name in BINARY and name not in {"equal", "not_equal"} else None
        operands = [each if isinstance(each, Word) else self.constant(np.asarray(each, dtype)) for each in args]
        return self.word(name, operands, like, **said)

    def matrix_transpose(self, x: Word) -> Word:
        """The last two axes exchanged."""
        axes = [*range(x.ndim)]
        axes[-2:] = axes[:-3:-1]
        return self.called("permute_dims", x, axes)

    def indexed(self, x: Word, index: Any) -> Word:
        """The elements at a basic index."""
        entries = index if isinstance(index, tuple) else (index,)
        if any(isinstance(each, Word) for each in entries):
            raise LoweringError("an index by an array")
        numbers = np.arange(x.like.size).reshape(x.shape)[index]
        return self.word("getitem", [x], x.like[index], places=numbers.reshape(-1).tolist())


def _setting(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class _Page(Engine):
    """The engine whose arrays are words."""

    def dtype(self, dtype: NumpyType) -> Any:
        """NumPy's own."""
        return dtype

    def kind(self, x: Any) -> NumpyType:
        """NumPy's own."""
        found: NumpyType = x.dtype
        return found

    def astype(self, x: Any, dtype: NumpyType) -> Any:
        """A word, unless the dtype is that already."""
        return x if x.dtype == dtype else self.library.word("astype", [x], x.like.astype(dtype))

    def constant(self, array: Any) -> Any:
        """A word without operands."""
        return self.library.constant(array)

    def put(self, x: Any, index: Any, value: Any) -> Any:
        """A word: at places of x, elements of a value."""
        numbers = np.arange(math.prod(x.shape)).reshape(x.shape)[index]
        value = self.library.broadcast_to(value, numbers.shape)
        return self.library.word("put", [x, value], x.like, places=numbers.reshape(-1).tolist())

    def combine(self, how: str, x: Any, places: Any, values: Any) -> Any:
        """A word."""
        return self.library.word("combine", [x, places, values], x.like, how=how)


class _Special(NamedTuple):
    """The special functions of pages."""

    writer: Writer

    def erf(self, x: Word) -> Word:
        """The error function."""
        return self.writer.word("erf", [x], x.like)


def _engine(writer: Writer) -> _Page:
    engine = object.__new__(_Page)
    engine.xp = engine.library = writer
    engine.special, engine.name, engine.array, engine.kinds = _Special(writer), "the page", Word, {}
    return engine


# 2. Statements of operations and rules


class _Equations(EquationList):
    """Equations, with the numbers of their constants."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: dict[Value, Array] = {}

    def constant(self, array: Array) -> Value:
        """An array that is known."""
        value = super().constant(array)
        self.constants[value] = array
        return value

    def scalar(self, number: Any, dtype: NumpyType) -> Value:
        """A number that is known."""
        return self.constant(np.asarray(number).astype(dtype))


class _Saved(NamedTuple):
    """What a rule finds in the place of the cell that holds a saved value."""

    array: Symbol


def stated(primitive: Primitive, inputs: Sequence[Kind], outputs: Sequence[Kind], params: Any) -> Statement:
    """What a primitive computes from inputs of some kinds.

    Raises
    ------
    LoweringError
        If it cannot be said in words; the message says why.
    """
    found: Statement = _cached(primitive, tuple(inputs), tuple(outputs), None, _Params(params))
    return found


def pulled(
    primitive: Primitive, inputs: Sequence[Kind], outputs: Sequence[Kind], wanted: Sequence[bool], params: Any
) -> Statement:
    """What the rules of a primitive compute for the inputs that are wanted.

    The inputs of the statement are the cotangents of the outputs, the inputs of the primitive, and its outputs.

    Raises
    ------
    LoweringError
        As `stated`.
    """
    found: Statement = _cached(primitive, tuple(inputs), tuple(outputs), tuple(wanted), _Params(params))
    return found


class _Params:
    """The metadata of an operation, without what only saves time; alike if they read alike."""

    def __init__(self, params: Any) -> None:
        given = {key: None if key == "known" else value for key, value in dict(params or {}).items()}
        self.given = {key: value for key, value in given.items() if key != "shapes"}
        self._key = tuple((key, type(value), repr(value)) for key, value in self.given.items())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Params) and self._key == other._key


@functools.lru_cache(maxsize=1024)
def _cached(
    primitive: Primitive,
    inputs: tuple[Kind, ...],
    outputs: tuple[Kind, ...],
    wanted: tuple[bool, ...] | None,
    params: _Params,
) -> Statement:
    if primitive.name == "drawn":
        raise LoweringError("random numbers")
    values, made = [Value(*kind) for kind in inputs], [Value(*kind) for kind in outputs]
    for _, dtype in (*inputs, *outputs):
        if dtype.name not in KINDS:
            raise LoweringError(f"numbers of dtype {dtype}")
    if wanted is None:
        program = Program(tuple(values), (Equation(primitive, tuple(values), params.given, tuple(made)),), tuple(made))
        return _written(program, [True] * len(made))
    build, gs = _Equations(), [Value(*kind) for kind in outputs]
    found = _rules(build, primitive, values, made, gs, wanted, params)
    program = Program(
        (*gs, *values, *made),
        tuple(build.equations),
        tuple(each for each in found if each is not None),
        build.constants,
    )
    return _written(program, [each is not None for each in found])


def _rules(
    build: _Equations,
    primitive: Primitive,
    values: Sequence[Value],
    made: Sequence[Value],
    gs: Sequence[Value],
    wanted: Sequence[bool],
    params: _Params,
) -> list[Value | None]:
    """The cotangents of the inputs that are wanted, by the equations of the rules."""
    namespace: Any = Namespace(build)
    symbols = [Symbol(build, each) for each in values]
    places = iter(made)
    saved = [
        _Saved(Symbol(build, next(places) if place is None else values[place]))
        for _, place in primitive.kept(len(values))
    ]
    g = [Symbol(build, each) for each in gs]
    edges = [symbol if asked else None for symbol, asked in zip(symbols, wanted, strict=True)]
    several = primitive.outputs > 1 or len(made) > 1
    shapes = {"shapes": [each.shape for each in made]} if several else {}
    try:
        results = primitive.pull(namespace, g if several else g[0], edges, tuple(saved), {**params.given, **shapes})
        found: list[Value | None] = []
        for result, symbol, asked in zip(results, symbols, wanted, strict=True):
            if not asked or result is None:
                found.append(None)
            else:
                same = result.shape == symbol.shape
                found.append((result if same else sum_to(namespace, result, symbol.shape)).value)
    except LoweringError:
        raise
    except Exception as error:  # whatever a rule does, arrays may know how
        raise LoweringError(f"a rule of which {error}") from error
    return found


def _written(program: Program, there: Sequence[bool]) -> Statement:
    writer = Writer()
    words = [writer.input((value.shape, value.dtype)) for value in program.inputs]
    found: list[Any] = lowered(simplify(program, INSTEAD), _engine(writer))(*words)
    results = iter([each.number for each in found])
    return Statement(len(words), writer.words, [next(results) if each else None for each in there])


def said(applied: Applied, wanted: Sequence[bool]) -> Said:
    """The statements of an operation and of its rules for the inputs that are wanted; or why there are none."""
    given = applied.primitive, kinds(applied.values), kinds(applied.results)
    try:
        return Said(stated(*given, applied.params), pulled(*given, wanted, applied.params) if any(wanted) else None)
    except LoweringError as error:
        reason = str(error).partition(" has no lowering")[0].rstrip(",")
        return Said(why=f"the page cannot compute {applied.primitive.short_name}: there are no words for {reason}")
