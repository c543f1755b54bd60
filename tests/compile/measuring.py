"""Loops over one scalar operation as machine code, true values, and distances in units in the last place.

Shared by test_scalars.py and benchmarks/accuracy.py.
"""

import ctypes
import functools

import mpmath
import numpy as np
from llvmlite import binding, ir
from scipy import special

from pullback.compile import scalars
from pullback.compile.machine.contexts import EmitContext
from pullback.compile.machine.llvm import TYPES, host
from pullback.compile.mathematics import trigonometry
from pullback.compile.mathematics.lanes import IRValue, Target

mpmath.mp.prec = 160

NUMPY = {
    "f": np.float32, "d": np.float64, "b1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip

TWO = "arctan2 copysign fmod floor_divide fmax fmin hypot left_shift logaddexp maximum minimum power remainder"
TWO += " add subtract multiply divide right_shift"
TWO += " greater greater_equal less less_equal equal not_equal"
TWO += " logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
COUNTS = {**dict.fromkeys(TWO.split(), 2), "where": 3}


class Loop:
    """A compiled loop that stores body(builder, *elements) for every element of arrays of these dtypes.

    `width` makes fixed vectors of what is loaded, `fma=False` a processor without it. `ir` is the optimised code.
    """

    def __init__(self, body, dtypes, out, *, fma=True, width=None):
        self.out, self.width = out, width
        module = ir.Module()
        module.triple = binding.get_process_triple()
        self._write(module, body, dtypes)
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        features = binding.get_host_cpu_features()
        if "avx512f" in features:
            features["prefer-256-bit"] = False
        if not fma and "fma" in features:
            features["fma"] = False
        machine = binding.Target.from_default_triple().create_target_machine(
            cpu=binding.get_host_cpu_name(), features=features.flatten(), opt=3
        )
        parsed = binding.parse_assembly(str(module))
        parsed.verify()
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(parsed, builder)
        self.ir = str(parsed)
        self.engine = binding.create_mcjit_compiler(parsed, machine)
        self.engine.finalize_object()
        pointers = [ctypes.c_void_p] * (len(dtypes) + 1)
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *pointers)(self.engine.get_function_address("loop"))

    def _write(self, module, body, dtypes):
        size, pointer = ir.IntType(64), ir.PointerType()
        kind = ir.FunctionType(ir.VoidType(), [size, *[pointer] * (len(dtypes) + 1)])
        function = ir.Function(module, kind, "loop")
        for argument in function.args[1:]:
            argument.add_attribute("noalias")
        entry, loop, end = (function.append_basic_block(name) for name in ("entry", "loop", "end"))
        ir.IRBuilder(entry).branch(loop)
        ir.IRBuilder(end).ret_void()
        builder = ir.IRBuilder(loop)
        i = builder.phi(size)
        i.add_incoming(ir.Constant(size, 0), entry)
        elements = []
        for argument, dtype in zip(function.args[2:], dtypes, strict=True):
            memory = self._memory(dtype)
            value = builder.load(
                builder.gep(argument, [i], source_etype=memory), typ=self._spread(memory), align=memory_size(dtype)
            )
            elements.append(builder.trunc(value, self._spread(TYPES["b1"])) if dtype == "b1" else value)
        result = body(builder, *elements)
        if self.out == "b1":
            result = builder.zext(result, self._spread(TYPES["u8"]))
        place = builder.gep(function.args[1], [i], source_etype=self._memory(self.out))
        builder.store(result, place, align=memory_size(self.out))
        following = builder.add(i, ir.Constant(size, self.width or 1))
        i.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, function.args[0]), loop, end)

    @staticmethod
    def _memory(dtype):
        return TYPES["u8"] if dtype == "b1" else TYPES[dtype]

    def _spread(self, kind):
        return ir.VectorType(kind, self.width) if self.width else kind

    def __call__(self, *arrays):
        arrays = [np.ascontiguousarray(array) for array in arrays]
        out = np.empty(arrays[0].shape, NUMPY[self.out])
        assert out.size
        assert not self.width or out.size % self.width == 0
        self.function(out.size, out.ctypes.data, *(array.ctypes.data for array in arrays))
        return out


def memory_size(dtype):
    return np.dtype(NUMPY[dtype]).itemsize


def words(builder, dtype, operands, target=None):
    """LLVM values of one dtype as words."""
    lanes = getattr(operands[0].type, "count", None)
    ctx = EmitContext(builder, target or host(), lanes)
    return [IRValue(ctx, dtype, operand) for operand in operands]


@functools.cache
def loop_of(name, dtype, *, near=False, fma=True, width=None):
    """The loop over an operation of `scalars`; `fma` where this machine has it."""
    target = host() if fma else Target(fma=False)
    dtypes = [dtype] * COUNTS.get(name, 1)

    def body(builder, *operands):
        return scalars.emit(name, *words(builder, dtype, operands, target), near=near).value

    return Loop(body, dtypes, dtype, fma=target.fma, width=width)


@functools.cache
def loop_of_few(name, dtype, *, near=False, fma=True):
    """The loop over sine or cosine as they are where numbers are few, and each operation waits for the last."""
    target = host() if fma else Target(fma=False)

    def body(builder, x):
        return getattr(trigonometry, name)(
            IRValue(EmitContext(builder, target, None, branching=True), dtype, x), near=near
        ).value

    return Loop(body, [dtype], dtype, fma=target.fma)


# True values.


def _undefined(x):
    raise ValueError(x)


def _erfinv(y):
    if abs(y) >= 1:
        return mpmath.inf * y if abs(y) == 1 else _undefined(y)
    x = y * mpmath.sqrt(mpmath.pi) / 2
    if abs(y) > 0.1:
        x = mpmath.sign(y) * mpmath.sqrt(-mpmath.log1p(-abs(y)))
    for _ in range(60 if y else 0):  # Halley's method, in the tail for the logarithm's sake on erfc
        error = mpmath.erf(x) - y if abs(x) < 1 else mpmath.sign(x) * (1 - abs(y) - mpmath.erfc(abs(x)))
        step = error * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(x * x)
        step /= 1 + x * step if abs(x * step) < mpmath.mpf(1) / 2 else 2
        x -= step
        if abs(step) <= abs(x) * mpmath.mpf(2) ** -120:
            break
    return x


def _lgamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return mpmath.inf
    if x > 1e30:
        return x * (mpmath.log(x) - 1)
    return mpmath.loggamma(x) if x > 0 else mpmath.log(mpmath.pi / abs(mpmath.sinpi(x))) - _lgamma(1 - x)


def _digamma(x):
    if x <= 0 and x == mpmath.floor(x):
        _undefined(x)
    return mpmath.log(x) - 1 / (2 * x) if x > 1e30 else mpmath.digamma(x)


def _far(function, low, high, below, above):
    """A function with limits that are reached, in every precision that counts, outside of an interval."""
    return lambda x: mpmath.mpf(below) if x < low else mpmath.mpf(above) if x > high else function(x)


def _real(function):
    """Complex results are none."""
    return lambda x: y if not isinstance(y := function(x), mpmath.mpc) else _undefined(x)


def _softplus(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 0 else x + mpmath.log1p(mpmath.exp(-x))


TRUE = {
    "exp": _far(mpmath.exp, -1000, 1000, 0, mpmath.inf),
    "exp2": _far(lambda x: mpmath.mpf(2) ** x, -1200, 1200, 0, mpmath.inf),
    "expm1": _far(mpmath.expm1, -1000, 1000, -1, mpmath.inf),
    "sigmoid": _far(lambda x: 1 / (1 + mpmath.exp(-x)), -1000, 1000, 0, 1),
    "tanh": _far(mpmath.tanh, -100, 100, -1, 1),
    "sinh": _far(mpmath.sinh, -1000, 1000, -mpmath.inf, mpmath.inf),
    "cosh": _far(mpmath.cosh, -1000, 1000, mpmath.inf, mpmath.inf),
    "log": _real(mpmath.log),
    "log2": _real(lambda x: mpmath.log(x) / mpmath.log(2)),
    "log10": _real(lambda x: mpmath.log(x) / mpmath.log(10)),
    "log1p": lambda x: mpmath.log1p(x) if x > -1 else -mpmath.inf if x == -1 else _undefined(x),
    "softplus": _far(_softplus, -1000, mpmath.inf, 0, 0),
    "logsigmoid": lambda x: -_far(_softplus, -1000, mpmath.inf, 0, 0)(-x),
    "arcsinh": lambda x: mpmath.sign(x) * mpmath.asinh(abs(x)),
    "arccosh": _real(mpmath.acosh),
    "arctanh": lambda x: mpmath.atanh(x) if abs(x) < 1 else mpmath.inf * x if abs(x) == 1 else _undefined(x),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "arcsin": _real(mpmath.asin),
    "arccos": _real(mpmath.acos),
    "arctan": mpmath.atan,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erf": _far(mpmath.erf, -30, 30, -1, 1),
    "erfc": _far(mpmath.erfc, -30, 40, 2, 0),
    "erfinv": _erfinv,
    "lgamma": _lgamma,
    "digamma": _digamma,
}


def split(x):
    """An mpmath number as (a + b) * 2^power, a the nearest double to between 1/2 and 1, b the rest."""
    if not mpmath.isfinite(x) or x == 0:
        return float(x), 0.0, 0
    power = int(mpmath.mag(x))
    scaled = mpmath.ldexp(x, -power)
    return float(scaled), float(scaled - float(scaled)), max(power, -20000)


def true_values(name, x):
    """The function at each element, as rows of `split`; NaN where it has no value."""
    out = np.empty((x.size, 3))
    for row, value in zip(out, x.tolist(), strict=True):
        if value != value:
            row[:] = np.nan, 0, 0
            continue
        try:
            row[:] = split(TRUE[name](mpmath.mpf(value)))
        except (ValueError, ZeroDivisionError):
            row[:] = np.nan, 0, 0
    return out


WIDER = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "logsigmoid": lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "lgamma": special.gammaln,
    "digamma": special.psi,
}


def wider(name, x, wide):
    """The function in a wider dtype than that of x."""
    with np.errstate(all="ignore"):
        x = x.astype(wide)
        return WIDER[name](x) if name in WIDER else getattr(np, name)(x)


def wider_values(name, x, wide=np.float64):
    """The same, float64 or longdouble, as rows of `split`."""
    with np.errstate(all="ignore"):
        scaled, power = np.frexp(wider(name, x, wide))
        head = scaled.astype(np.float64)
        return np.stack([head, np.where(np.isfinite(scaled), scaled - head, 0).astype(np.float64), power], axis=1)


def distance(y, truth, dtype):
    """How far y is from the truth, in units in the last place of the truth; 0 for the right infinity or NaN.

    An infinity stands for the number that would come after the largest.
    """
    (head, rest, power), info = truth.T, np.finfo(NUMPY[dtype])
    power = np.where(np.isfinite(head), power, 0).astype(int)
    unit = np.maximum(np.frexp(head)[1] + power, info.minexp + 1) - 1 - info.nmant
    with np.errstate(all="ignore"):
        scaled = np.where(
            np.isinf(y), np.sign(y) * np.ldexp(1.0, info.maxexp - power), np.ldexp(y.astype(float), -power)
        )
        units = np.abs((scaled - head) - rest) / np.ldexp(1.0, unit - power)
        beyond = np.isinf(head) | (power > info.maxexp)
    right = (
        (np.isnan(y) & np.isnan(head))
        | ((y == 0) & (head == 0))
        | (beyond & np.isinf(y) & (np.sign(y) == np.sign(head)))
    )
    return np.where(right, 0, np.where(np.isnan(units) | beyond | (np.isnan(y) != np.isnan(head)), np.inf, units))


def arguments(dtype, count, rng):
    """Numbers of all bit patterns, numbers of moderate size, numbers near 1, and the special ones."""
    real = NUMPY[dtype]
    width = np.dtype(real).itemsize
    patterns = rng.integers(0, 2 ** (8 * width), count, np.uint64).astype(f"u{width}").view(real)
    moderate = rng.choice([-1, 1], count) * np.exp2(rng.uniform(-30, 12, count))
    near_one = rng.choice([-1, 1], count) * (1 + rng.choice([-1, 1], count) * np.exp2(rng.uniform(-54, -0.1, count)))
    return np.concatenate([patterns, moderate.astype(real), near_one.astype(real), specials(dtype)])


def specials(dtype):
    """Zeros, infinities, NaN, whole numbers and halves, and the ends of the range, of both signs."""
    info = np.finfo(NUMPY[dtype])
    ends = [info.max, info.tiny, np.nextafter(info.tiny, NUMPY[dtype](0)), info.smallest_subnormal, info.eps]
    some = [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 7, 10, 100, 255.5, 1e10, 1e30, 2**31, 2**53, 2**63, np.inf, np.nan, *ends]
    return np.array([x * sign for x in some for sign in (1, -1)], NUMPY[dtype])
