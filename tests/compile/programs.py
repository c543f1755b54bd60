"""Random programs: valid ones of every shape and kind, with arrays to run them on.

`random_program` grows one from a `random.Random`; `programs` is the hypothesis strategy over it, which shrinks. Each
equation is run as it is made, so that a program says the shapes and dtypes that NumPy has, and its guards hold.
"""

import math
from random import Random

import numpy as np
from hypothesis import strategies as st

from pullback import ops
from pullback._core import xp as _xp
from pullback._core.modes import quiet
from pullback.compile.program import Equation, Program, Value

SHAPES = [(), (1,), (3,), (4,), (3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 4), (0,), (2, 0), (1, 1)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.nan, math.inf, -math.inf, 1e-40, 3e38, -2.5]
HARMLESS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -2.5]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]

SMOOTH = (
    "negative exp log tanh sigmoid sin cos sqrt square relu abs reciprocal rsqrt expm1 log1p silu gelu mish".split()
)
JUMPING = "floor ceil rint trunc sign zeros_like".split()
ARITHMETIC = "add subtract rsub multiply divide maximum minimum".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
TURNS = "reshape permute_dims broadcast_to expand_dims squeeze getitem matrix_transpose flip clone".split()
REDUCTIONS = "sum mean amax amin total var std logsumexp cumsum prod vector_norm".split()
ROWS = "softmax log_softmax standardize rms_normalize".split()
FAMILIES = {
    "smooth": 4, "jumping": 1, "arithmetic": 8, "number": 5, "comparison": 1, "logic": 1, "where": 2, "turn": 5,
    "reduction": 4, "rows": 1, "product": 2, "join": 1, "pieces": 1, "indexing": 2, "cast": 2, "again": 3,
    "metadata": 2, "write": 1, "undone": 2,
}  # fmt: skip


class Growing:
    """A program in the making: the values there are, each with the array it has."""

    def __init__(self, rng: Random, *, special: bool = True) -> None:
        self.rng = rng
        self.numbers = SPECIAL if special else HARMLESS
        self.held = {}
        self.inputs, self.constants, self.equations = [], {}, []

    def array(self, shape, dtype):
        """Numbers of a shape, now and then one that is special."""
        count = math.prod(shape)
        if dtype.kind == "b":
            drawn = [self.rng.random() < 0.5 for _ in range(count)]
        elif dtype.kind == "i":
            drawn = [self.rng.randrange(-3, 4) for _ in range(count)]
        else:
            drawn = [self.number() if self.rng.random() < 0.15 else self.rng.uniform(-2, 2) for _ in range(count)]
        with np.errstate(all="ignore"):
            return np.array(drawn, dtype).reshape(shape)

    def number(self):
        return self.rng.choice(self.numbers)

    def cast(self, dtype):
        """A number of a dtype, without axes."""
        return quiet.run(np.array(self.number()).astype, dtype)

    def input(self, shape, dtype):
        array = self.array(shape, dtype)
        value = self.keep(array)
        self.inputs.append(value)
        return value

    def constant(self, array):
        value = self.keep(array)
        self.constants[value] = array
        return value

    def keep(self, array):
        value = Value(array.shape, array.dtype)
        self.held[value] = array
        return value

    def do(self, name, *values, **params):
        """Append an equation; its outputs."""
        primitive = getattr(ops, name)
        arrays = [self.held[value] for value in values]
        made = quiet.run(primitive.forward, *arrays, **params)
        outputs = tuple(self.keep(np.asarray(array)) for array in (made if type(made) is tuple else (made,)))
        self.equations.append(Equation(primitive, values, params, outputs))
        return outputs

    def pick(self, holds=lambda value: value.dtype.kind == "f"):
        """One of the values of which something holds; late ones are likelier."""
        found = [value for value in self.held if holds(value)]
        return found[-1 - int(len(found) * self.rng.random() ** 1.5)] if found else None

    def beside(self, value):
        """A value of the same dtype that broadcasts with another: itself, if it is large."""

        def fits(other):
            if other.dtype != value.dtype:
                return False
            try:
                return math.prod(np.broadcast_shapes(other.shape, value.shape)) <= 200
            except ValueError:
                return False

        return self.pick(fits) or value


def grow(growing: Growing, family: str) -> None:
    """Append one or a few equations of a family, if there are values for it."""
    x = growing.pick()
    if x is not None:
        GROWERS[family](growing, growing.rng, x)


def grow_number(g, rng, x):
    number = g.constant(g.cast(x.dtype))
    operands = (x, number) if rng.random() < 0.6 else (number, x)
    g.do(rng.choice(ARITHMETIC), *operands)


def grow_where(g, rng, x):
    other = g.beside(x)
    if rng.random() < 0.4:
        truth = np.array([rng.random() < 0.5] * x.size, bool).reshape(x.shape)
        condition = g.constant(truth)
    else:
        (condition,) = g.do(rng.choice(COMPARISONS), x, other)
    if rng.random() < 0.5:
        g.do("where", condition, x, other)
    elif condition.shape == x.shape:
        g.do("select", condition, x)


def grow_logic(g, rng, x):
    (condition,) = g.do(rng.choice(COMPARISONS), x, g.beside(x))
    (other,) = g.do(rng.choice("isnan isinf isfinite".split()), x)
    g.do(rng.choice("logical_and logical_or logical_xor".split()), condition, other)
    g.do("logical_not", condition)


def turn_parameters(rng, name, x):
    """The metadata of a change of shape; None where x has no such change."""
    axes = list(range(len(x.shape)))
    if name == "reshape":
        forms = [(x.size,), (1, x.size), (x.size, 1), *([(2, x.size // 2)] if x.size % 2 == 0 else []), x.shape]
        return {"shape": rng.choice(forms)}
    if name == "permute_dims":
        rng.shuffle(axes)
        return {"axes": tuple(axes)}
    if name == "broadcast_to":
        wide = tuple(rng.choice([2, 3]) if size == 1 and rng.random() < 0.7 else size for size in x.shape)
        return {"shape": (2, *wide) if rng.random() < 0.4 and x.size < 50 else wide}
    if name == "expand_dims":
        return {"axis": rng.randrange(len(axes) + 1)}
    if name == "squeeze":
        return {"axis": tuple(i for i in axes if x.shape[i] == 1 and rng.random() < 0.7), "given": True}
    if name == "getitem":
        options = [slice(None), slice(None, None, -1), slice(1, None), slice(0, 1)]
        index = [rng.choice(options + ([0, -1] if size else [])) for size in x.shape]
        return {"index": (*index, ..., *([None] if rng.random() < 0.2 else []))}
    if name == "flip":
        return {"axis": tuple(i for i in axes if rng.random() < 0.5)}
    return {} if name == "clone" or len(axes) >= 2 else None


def grow_turn(g, rng, x):
    name = rng.choice(TURNS)
    params = turn_parameters(rng, name, x)
    if params is not None:
        g.do(name, x, **params)


def grow_undone(g, rng, x):
    """What takes back what was done before, or does the same once more: what identities are for."""
    axes = len(x.shape)
    kind = rng.randrange(6)
    if kind == 0:
        g.do("negative", *g.do("negative", x))
    elif kind == 1:
        order = list(range(axes))
        rng.shuffle(order)
        back = tuple(sorted(range(axes), key=order.__getitem__))
        g.do("permute_dims", *g.do("permute_dims", x, axes=tuple(order)), axes=back)
    elif kind == 2:
        g.do("reshape", *g.do("reshape", x, shape=(x.size,)), shape=x.shape)
    elif kind == 3:
        wide = np.dtype(np.float64)
        g.do("astype", *g.do("astype", x, dtype=wide, source=x.dtype), dtype=x.dtype, source=wide)
    elif kind == 4:
        number = g.constant(np.array(rng.choice([1.0, 0.0, -0.0]), x.dtype))
        name = rng.choice(["multiply", "divide", "subtract", "add"])
        g.do(name, x, number)
    else:
        spread = (2, *x.shape)
        g.do("sum", *g.do("broadcast_to", x, shape=spread), axis=(0,), keepdims=rng.random() < 0.5)


def grow_reduction(g, rng, x):
    name = rng.choice(REDUCTIONS)
    axes = tuple(i for i, size in enumerate(x.shape) if size and rng.random() < 0.6)
    if name in {"cumsum", "prod"}:
        if not axes:
            return
        g.do(name, x, axis=axes[0], **({"keepdims": rng.random() < 0.5} if name == "prod" else {}))
    elif name == "total":
        g.do(name, x, axis=axes)
    else:
        params = {"axis": axes, "keepdims": rng.random() < 0.5}
        if name in {"var", "std"}:
            params["correction"] = rng.randrange(2)
        if name == "vector_norm":
            params["order"] = rng.choice([1.0, 2.0, 3.0, math.inf])
        if 0 not in x.shape:
            g.do(name, x, **params)


def grow_rows(g, rng, x):
    if not x.shape or 0 in x.shape:
        return
    name, axis = rng.choice(ROWS), rng.randrange(len(x.shape))
    if name.endswith("softmax"):
        (y,) = g.do(name, x, axis=axis)
        if rng.random() < 0.5:
            g.do(f"{name}_pullback", g.pick(lambda v: v.shape == y.shape and v.dtype == y.dtype), y, axis=axis)
    else:
        g.do(name, x, axis=(axis,), eps=1e-3)


def grow_product(g, rng, x):
    if len(x.shape) < 2:
        other = g.pick(lambda v: v.dtype == x.dtype and v.shape[-2:-1] == x.shape[-1:] and len(v.shape) == 2)
        if other is not None and x.shape:
            g.do("matmul", x, other)
        return
    (turned,) = g.do("permute_dims", x, axes=(*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2))
    if rng.random() < 0.6:
        g.do("matmul", *((x, turned) if rng.random() < 0.5 else (turned, x)))
    elif len(x.shape) == 2:
        g.do("einsum", x, x, equation=rng.choice(["ij,kj->ik", "ij,ij->", "ij,ij->i", "ij,kj->ki", "ij,ik->jk"]))


def grow_join(g, rng, x):
    other = g.pick(lambda v: v.shape == x.shape and v.dtype == x.dtype)
    if rng.random() < 0.5:
        g.do("stack", x, other, axis=rng.randrange(len(x.shape) + 1))
    elif x.shape:
        axis = rng.randrange(len(x.shape))
        g.do("concat", x, other, axis=axis, sizes=(x.shape[axis], other.shape[axis]))


def grow_pieces(g, rng, x):
    if not x.shape or not x.shape[0]:
        return
    if rng.random() < 0.5:
        g.do("unbind", x, axis=0)
    else:
        g.do("split", x, axis=0, sizes=(1, x.shape[0] - 1))


def grow_indexing(g, rng, x):
    if not x.shape or not x.shape[0]:
        return
    places = g.constant(np.array([rng.randrange(x.shape[0]) for _ in range(rng.randrange(1, 4))]))
    kind = rng.randrange(4)
    if kind == 0:
        g.do("index", x, places, spec=(_xp.array,))
    elif kind == 1:
        (part,) = g.do("getitem", x, index=(slice(0, 1), ...))
        g.do("scatter_slice", part, shape=x.shape, index=(slice(0, 1), ...))
    elif kind == 2:
        rows = [g.do("getitem", x, index=(row, ...))[0] for row in range(x.shape[0])]
        rng.shuffle(rows)
        spread = [g.do("scatter_slice", row, shape=x.shape, index=(i, ...))[0] for i, row in enumerate(rows)]
        total = spread[0]
        for each in spread[1:]:
            (total,) = g.do("add", total, each)
    elif len(x.shape) == 2 and x.shape[1]:
        columns = g.constant(np.array([rng.randrange(x.shape[1]) for _ in range(x.shape[0])]))
        (taken,) = g.do("take_rows", x, columns)
        g.do("put_rows", taken, columns, shape=x.shape)


def grow_cast(g, rng, x):
    dtype = rng.choice([*FLOATS, np.dtype(np.float16)])
    (y,) = g.do("astype", x, dtype=dtype, source=x.dtype)
    if rng.random() < 0.5:
        g.do("astype", y, dtype=x.dtype, source=dtype)


def grow_again(g, rng, x):
    """An equation that is already there."""
    if g.equations:
        old = rng.choice(g.equations)
        g.do(old.name, *old.inputs, **old.params)


def grow_metadata(g, rng, x):
    name, params = rng.choice([
        ("power", {"exponent": rng.choice([2, 3, 0.5, -1, 1, 0, 2.5])}),
        ("clip", {"lower": rng.choice([None, -1.0]), "upper": rng.choice([None, 1.0])}),
        ("leaky_relu", {"slope": 0.01}),
        ("softplus", {"beta": rng.choice([1, 2.0]), "threshold": 20}),
        ("elu", {"alpha": 1.5, "scale": 1, "input_scale": 1}),
        ("modulo", {"divisor": 1.5}),
        ("exponential", {"base": 2.0}),
    ])  # fmt: skip
    g.do(name, x, **params)


def grow_write(g, rng, x):
    """A copy of x in part of which something else stands."""
    if x.shape and x.shape[0]:
        path = ((ops.getitem, {"index": (slice(0, 1), ...)}),)
        number = g.constant(g.cast(x.dtype))
        g.do("overwrite", x, number, path=path)


GROWERS = {
    "smooth": lambda g, rng, x: g.do(rng.choice(SMOOTH), x),
    "jumping": lambda g, rng, x: g.do(rng.choice(JUMPING), x),
    "arithmetic": lambda g, rng, x: g.do(rng.choice(ARITHMETIC), x, g.beside(x)),
    "comparison": lambda g, rng, x: g.do(rng.choice(COMPARISONS), x, g.beside(x)),
    "number": grow_number, "logic": grow_logic, "where": grow_where, "turn": grow_turn, "reduction": grow_reduction,
    "rows": grow_rows, "product": grow_product, "join": grow_join, "pieces": grow_pieces, "indexing": grow_indexing,
    "cast": grow_cast, "again": grow_again, "metadata": grow_metadata, "write": grow_write, "undone": grow_undone,
}  # fmt: skip


def random_program(rng, length=12, *, special=True, families=tuple(FAMILIES)):
    """A program of about so many equations, and arrays for its inputs.

    `special` is whether NaN, infinities and numbers near the ends of the range may occur; `families` are the kinds of
    equations.
    """
    growing = Growing(rng, special=special)
    dtype = rng.choice(FLOATS)
    for shape in [rng.choice(SHAPES) for _ in range(rng.randrange(1, 4))]:
        growing.input(shape, dtype)
    if rng.random() < 0.3:
        growing.input(rng.choice(SHAPES), rng.choice(FLOATS))
    weights = [FAMILIES[name] for name in families]
    for _ in range(3 * length):  # not every step finds values that suit it
        if len(growing.equations) >= length:
            break
        grow(growing, rng.choices(families, weights)[0])
    return ended(growing), [growing.held[value] for value in growing.inputs]


def ended(growing):
    """The program with outputs, values to be written, and guards."""
    rng = growing.rng
    made = list(growing.held)
    outputs = [growing.pick(lambda value: True) for _ in range(rng.randrange(1, 4))] + made[-1:]
    writes = []
    for place, target in enumerate(growing.inputs):
        fitting = [v for v in made if (v.shape, v.dtype) == (target.shape, target.dtype)]
        if rng.random() < 0.4:
            writes.append((place, rng.choice(fitting)))
    single = [v for v in made if v.size == 1 and v not in growing.constants]
    guards = []
    if single and rng.random() < 0.3:
        value = rng.choice(single)
        expected = growing.held[value].item()
        if expected == expected:  # a NaN is never what it was
            guards.append((value, expected))
    return Program(
        tuple(growing.inputs), tuple(growing.equations), tuple(outputs), growing.constants, tuple(writes), tuple(guards)
    )


def programs(length=12, **options):
    """Programs with their arrays, as a strategy."""
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda rng: random_program(rng, rng.randrange(1, length + 1), **options))


def signed(program):
    """True if zeros have one sign: of products of matrices, -0 * 0 is -0 by `np.dot` and 0 by `@`, which a text has."""
    return not any(equation.name == "matmul" for equation in program.equations)


def assert_same(found, expected, signs=True):
    """Arrays are equal to the last bit, and zeros have the same sign; of NaNs there is one."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
        if a.dtype.kind == "f" and signs:
            zero = (a == 0) & (b == 0)
            np.testing.assert_array_equal(np.signbit(a)[zero], np.signbit(b)[zero])


def one_equation(name, arrays, params):
    """The program of a single operation on inputs."""
    primitive = getattr(ops, name)
    made = quiet.run(primitive.forward, *arrays, **params)
    outputs = [np.asarray(array) for array in (made if type(made) is tuple else (made,))]
    inputs = tuple(Value(array.shape, array.dtype) for array in arrays)
    values = tuple(Value(array.shape, array.dtype) for array in outputs)
    return Program(inputs, (Equation(primitive, inputs, params, values),), values)


def of_row(row, dtype=FLOATS[1], seed=5):
    """The program of a row of `pullback.testing`, with its arguments; floats in a dtype."""
    name, makers, params = row
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(make(rng)) for make in makers]
    arrays = [array.astype(dtype) if array.dtype.kind == "f" else array for array in arrays]
    return one_equation(name, arrays, params), arrays
