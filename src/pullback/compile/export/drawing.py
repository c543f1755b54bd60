"""Random numbers in C: NumPy's generator PCG64 and its ways to whole, even, normal, exponential and Poisson numbers, so that a stream is the same.

A program draws from generators; here it is given their states, and gives them back, so that drawing is a function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._numerics.random import source
from ..definitions import Namespace, Symbol
from ..drawing import Draw
from ..machine.elements import KINDS
from ..passes.building import Builder
from ..program import Array, Equation, Program, Value
from .kernels import Kernel, code
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter

LONG, DOUBLE, SINGLE = np.dtype(np.uint64), np.dtype(np.float64), np.dtype(np.float32)
WORDS = 6
"""The numbers of a state: two of the state itself, two of its increment, and the kept half of a number, if there is one."""
LOW = (1 << 64) - 1
MULTIPLIER = 2549297995355413924 << 64 | 4865540595714422341


def packed(rng: np.random.Generator) -> Array:
    """The state of a generator as C has it."""
    state: Any = rng.bit_generator.state
    inner = state["state"]
    words = [inner["state"] >> 64, inner["state"] & LOW, inner["inc"] >> 64, inner["inc"] & LOW]
    return np.array([*words, state["has_uint32"], state["uinteger"]], LONG)


def unpacked(words: Array) -> np.random.Generator:
    """A generator with a state."""
    high, low, more, least, kept, half = map(int, words)
    rng = np.random.Generator(np.random.PCG64(0))
    state = {"state": high << 64 | low, "inc": more << 64 | least}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": state, "has_uint32": kept, "uinteger": half}
    return rng


class DrawNumbers(Draw):
    """A primitive that draws the numbers of a draw from a state, which it gives back as it is afterwards."""

    name = "draw_numbers"
    kind = "general"
    title = "DrawNumbersBackward"
    outputs = 2

    def forward(self, *parameters: Array, distribution: str = "") -> Any:
        """The numbers, and the state."""
        draw: Any = self.draw
        rng = unpacked(parameters[0])
        return draw.drawn(rng, self.shape, *parameters[1:]), packed(rng)


def with_states(program: Program) -> tuple[Program, list[Any]]:
    """A program that draws, as one to which states of generators are further inputs; these generators."""
    places: list[Any] = []
    states: list[tuple[Value, Value]] = []
    guards: list[tuple[Value, Any]] = []

    def drawn(build: Builder, e: Equation) -> tuple[Value, ...] | None:
        primitive: Any = e.primitive
        draw, generator = primitive.draw, source(primitive.generator)
        if not exportable(draw, generator):
            return None
        number = next((i for i, each in enumerate(places) if each is generator), len(places))
        if number == len(places):
            places.append(generator)
            state = Value((WORDS,), LONG)
            states.append((state, state))
        start, before = states[number]
        found, after = (
            Value(e.output.shape, np.dtype(np.int64) if draw.whole else draw.dtype),
            before.like(),
        )
        again: Any = DrawNumbers(draw, e.output.shape, None)
        given = [Symbol(build, value) for value in e.inputs]
        rates = [_rates(Namespace(build), x, e.output.shape) for x in given if draw.number == "poisson"]
        build.place(Equation(again, (before, *rates), {}, (found, after), e.site))
        states[number] = start, after
        if draw.allowed is not None:
            fits = draw.allowed[0](Namespace(build), *given).value
            guards.append((build.all(fits, axis=tuple(range(len(fits.shape))), keepdims=False), True))
        return (found,) if draw.made is None else (draw.made(Namespace(build), Symbol(build, found), *given).value,)

    rules: Any = {Draw.name: (drawn,)}
    made = Builder(program, rules, strict=False, fold=True, share=False, inner=lambda body: body).rewrite()
    first = len(program.inputs)
    writes = tuple([(first + number, after) for number, (_, after) in enumerate(states)])
    inputs = tuple([start for start, _ in states])
    return (
        made.changed(
            inputs=made.inputs + inputs, writes=made.writes + writes, guards=(*made.guards, *_unknown(made, guards))
        ),
        places,
    )


def _rates(xp: Any, x: Any, shape: tuple[int, ...]) -> Value:
    """A rate in double for each number that is drawn."""
    rates: Value = xp.broadcast_to(xp.astype(x, dtype=DOUBLE, source=x.dtype), shape=shape).value
    return rates


def _unknown(program: Program, guards: list[tuple[Value, Any]]) -> list[tuple[Value, Any]]:
    """The guards whose values are not known, and those that fail."""
    return [(value, wanted) for value, wanted in guards if program.constants.get(value, not wanted) != wanted]


def exportable(draw: Any, generator: np.random.Generator) -> bool:
    """Whether samples have C code."""
    known = hasattr(draw, "number") and (draw.whole or draw.dtype in {DOUBLE, SINGLE})
    return known and type(generator.bit_generator) is np.random.PCG64


# C

GENERATOR = (
    """
/* The product of two numbers of 64 bits: its lower half, and its upper one. */
PB_INLINE uint64_t pb_product(uint64_t a, uint64_t b, uint64_t *high)
{
    const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const uint64_t other = a0 * b1 + (middle & 0xffffffffu);
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    return a * b;
}

/* PCG64: state and increment have 128 bits. */
PB_INLINE uint64_t pb_next64(uint64_t *state)
{
    uint64_t high;
    const uint64_t low = pb_product(state[1], UINT64_C("""
    f"{MULTIPLIER & LOW}), &high) + state[3];"
    """
    high += state[0] * UINT64_C("""
    f"{MULTIPLIER & LOW}) + state[1] * UINT64_C({MULTIPLIER >> 64});"
    """
    state[0] = high + state[2] + (low < state[3]);
    state[1] = low;
    const uint64_t mixed = state[0] ^ low;
    const unsigned turn = (unsigned)(state[0] >> 58);
    return mixed >> turn | mixed << ((64 - turn) & 63);
}

/* 32 bits: half of a number, whose other half is kept. */
PB_INLINE uint32_t pb_next32(uint64_t *state)
{
    if (state[4]) {
        state[4] = 0;
        return (uint32_t)state[5];
    }
    const uint64_t both = pb_next64(state);
    state[4] = 1;
    state[5] = both >> 32;
    return (uint32_t)(both & 0xffffffffu);
}

PB_INLINE double pb_random_d(uint64_t *state) { return (double)(pb_next64(state) >> 11) * (1.0 / 9007199254740992.0); }
PB_INLINE float pb_random_f(uint64_t *state) { return (float)(pb_next32(state) >> 8) * (1.0f / 16777216.0f); }
"""
)
BOUNDED = """
/* A whole number up to a bound, without preference. */
PB_INLINE uint64_t pb_bounded(uint64_t *state, uint64_t most)
{
    const uint64_t count = most + 1;
    uint64_t high, low;
    if (most == UINT64_MAX) return pb_next64(state);
    if (most == UINT32_MAX) return pb_next32(state);
    if (most < UINT32_MAX) {
        if (most == 0) return 0;
        low = pb_next32(state) * count;
        if ((low & 0xffffffffu) < count)
            while ((low & 0xffffffffu) < (UINT32_MAX - most) % count) low = pb_next32(state) * count;
        return low >> 32;
    }
    low = pb_product(pb_next64(state), count, &high);
    if (low < count)
        while (low < (UINT64_MAX - most) % count) low = pb_product(pb_next64(state), count, &high);
    return high;
}
"""
SEED = """
/* Sets a generator as manual_seed does: {name}_seed(state.generator, 7). */
void {name}_seed(uint64_t generator[{words}], uint64_t seed)
{
    uint32_t pool[4] = {(uint32_t)(seed & 0xffffffffu), (uint32_t)(seed >> 32), 0, 0}, mixed = 0x43b0d7e5u;
    uint64_t made[4] = {0, 0, 0, 0};
    for (int i = 0; i < 20; ++i) { /* each number by itself, then each into the others */
        const int from = i < 4 ? i : (i - 4) / 4, to = i % 4;
        uint32_t x = pool[from] ^ mixed;
        if (i >= 4 && from == to) continue;
        mixed *= 0x931e8875u;
        x *= mixed;
        x ^= x >> 16;
        if (i >= 4) x = 0xca01f9ddu * pool[to] - 0x4973f715u * x;
        pool[to] = i < 4 ? x : x ^ x >> 16;
    }
    mixed = 0x8b51f9ddu;
    for (int i = 0; i < 8; ++i) {
        uint32_t x = pool[i % 4] ^ mixed;
        mixed *= 0x58f38dedu;
        x *= mixed;
        made[i / 2] |= (uint64_t)(x ^ x >> 16) << 32 * (i % 2);
    }
    generator[2] = made[2] << 1 | made[3] >> 63;
    generator[3] = made[3] << 1 | 1;
    generator[1] = made[1] + generator[3];
    generator[0] = made[0] + generator[2] + (generator[1] < made[1]);
    generator[4] = generator[5] = 0;
    (void)pb_next64(generator);
}
"""
NORMAL = """
/* A normal number: one of 256 strips of the same area, and a place in it; rarely, whether it is below the curve. */
static {type} pb_normal_{kind}(uint64_t *state)
{
    for (;;) {
        const {bits} r = {next}(state);
        const int strip = (int)(r & 0xff);
        const {bits} place = (r >> 9) & {mask};
        const {type} size = ({type})place * {widths}[strip], x = (r >> 8) & 1 ? -size : size;
        if (place < {inner}[strip]) return x;
        if (strip == 0) {
            for (;;) {
                const {type} xx = {inverse} * -{log1p}(-pb_random_{kind}(state)), yy = -{log1p}(-pb_random_{kind}(state));
                if (yy + yy > xx * xx) return (place >> 8) & 1 ? -({last} + xx) : {last} + xx;
            }
        }
        if ({exp}(-0.5 * (double)x * (double)x) > (double)(({heights}[strip - 1] - {heights}[strip]) * pb_random_{kind}(state) + {heights}[strip])) return x;
    }
}
"""
EXPONENTIAL = """
/* An exponential number, likewise. */
static double pb_exponential_d(uint64_t *state)
{
    for (;;) {
        const uint64_t r = pb_next64(state) >> 3;
        const int strip = (int)(r & 0xff);
        const uint64_t place = r >> 8;
        const double x = (double)place * {widths}[strip];
        if (place < {inner}[strip]) return x;
        if (strip == 0) return {last} - {log1p}(-pb_random_d(state));
        if (({heights}[strip - 1] - {heights}[strip]) * pb_random_d(state) + {heights}[strip] < {exp}(-x)) return x;
    }
}
"""
POISSON = """
/* How often happens what happens `rate` times on average. Rare things: as many even numbers as can be multiplied. Others: a
   place below a curve that is above the distribution, until one is below the distribution as well. */
static int64_t pb_poisson(uint64_t *state, double rate)
{
    if (rate == 0) return 0;
    if (rate < 10) {
        const double least = {exp}(-rate);
        double product = pb_random_d(state);
        int64_t count = 0;
        for (; product > least; ++count) product *= pb_random_d(state);
        return count;
    }
    const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const double top = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = pb_random_d(state) - 0.5, v = pb_random_d(state), inside = 0.5 - fabs(u);
        const double count = {floor}((2 * a / inside + b) * u + rate + 0.43);
        if (inside >= 0.07 && v <= sure) return (int64_t)count;
        if (count < 0 || (inside < 0.013 && v > inside)) continue;
        if ({log}(v) + {log}(top) - {log}(a / (inside * inside) + b) <= -rate + count * {log}(rate) - {lgamma}(count + 1))
            return (int64_t)count;
    }
}
"""


class Curve(NamedTuple):
    """A curve that numbers are drawn under, in strips: its function in C, its formula, and where the last strip begins.

    Of the bits of a draw, strips have those from `strip` on, and places those from `place` on, as many as `bits` in double.
    """

    text: str
    height: Callable[[Array], Array]
    last: float
    strip: int
    place: int
    bits: int


CURVES = {
    "standard_normal": Curve(NORMAL, lambda x: np.exp(-0.5 * x * x), 3.6541528853610087963519472518, 0, 9, 52),
    "standard_exponential": Curve(EXPONENTIAL, lambda x: np.exp(-x), 7.69711747013104972, 3, 11, 53),
}
"""By the names of NumPy's functions."""


@functools.cache
def strips(number: str, dtype: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """The strips under a curve, as NumPy has them: widths for each place, places surely inside, and heights.

    NumPy tells the widths when it draws the first place of a strip, of a generator that is about to give just that.
    """
    curve = CURVES[number]
    bits = curve.bits if dtype == DOUBLE else 32 - curve.place
    rng, back = np.random.Generator(np.random.PCG64(0)), pow(MULTIPLIER, -1, 1 << 128)
    state: Any = rng.bit_generator.state
    widths = np.zeros(256, dtype)
    for strip in range(256):
        state["state"] = {"state": ((strip << curve.strip | 1 << curve.place) - 1) * back % (1 << 128), "inc": 1}
        rng.bit_generator.state = state
        widths[strip] = getattr(rng, number)(dtype=dtype.type)
    wide = widths.astype(DOUBLE) * 2.0**bits
    inside = np.rint(np.concatenate([[wide[-1] / wide[0], 0.0], wide[1:-1] / wide[2:]]) * 2.0**bits)
    heights = curve.height(wide)
    heights[0] = 1
    return widths, inside.astype(LONG if dtype == DOUBLE else np.uint32), heights.astype(dtype)


def _curved(writer: FunctionWriter, number: str, kind: str) -> str:
    """The function for numbers under a curve."""
    functions, curve, title = writer.unit.functions, CURVES[number], f"pb_{number.removeprefix('standard_')}_{kind}"
    if title in functions.texts:
        return title
    widths, inner, heights = map(writer.unit.constant, strips(number, SINGLE if kind == "f" else DOUBLE))
    suffix = "f" if kind == "f" else ""
    words = {"kind": kind, "type": STORED[kind], "widths": widths, "inner": inner, "heights": heights}
    words |= {"bits": f"uint{32 if suffix else 64}_t", "next": f"pb_next{32 if suffix else 64}"}
    words |= {"mask": "0x7fffffu" if suffix else "UINT64_C(0xfffffffffffff)"}
    words |= {"last": f"{curve.last}{suffix}", "inverse": f"{1 / curve.last}{suffix}"}
    words |= {"exp": functions.named("exp", "d", 1), "log1p": functions.named("log1p", kind, 1)}
    text = curve.text
    for word, said in words.items():
        text = text.replace("{" + word + "}", said)
    functions.texts[title] = text
    return title


def _poisson(writer: FunctionWriter) -> str:
    """The function for Poisson numbers of a rate."""
    functions, text = writer.unit.functions, POISSON
    if "pb_poisson" not in functions.texts:
        for word in ("exp", "log", "lgamma"):
            text = text.replace("{" + word + "}", functions.named(word, "d", 1))
        functions.texts["pb_poisson"] = text.replace("{floor}", functions.processor("floor", "d"))
    return "pb_poisson"


def seeding(name: str) -> str:
    """The function of a file that sets a generator."""
    return SEED.replace("{name}", name).replace("{words}", str(WORDS))


def seeding_head(name: str) -> str:
    """Its head, and what it does."""
    told, _, rest = seeding(name).strip().partition("\n")
    return f"{told}\n{rest.partition(chr(10))[0]};"


def _numbers(writer: FunctionWriter, e: Equation) -> None:
    """Numbers one after another."""
    primitive: Any = e.primitive
    draw, texts = primitive.draw, writer.unit.functions.texts
    texts.setdefault("pb_next", GENERATOR)
    if draw.number == "integers":
        texts.setdefault("pb_bounded", BOUNDED)
        least, beyond = draw.bounds
        start = f"UINT64_C({least % (1 << 64)})"
        number = f"(int64_t)({start} + pb_bounded(z, UINT64_C({beyond - 1 - least})))"
    elif draw.number == "poisson":
        number = f"{_poisson(writer)}(z, b[i])"
        large = writer.failure("poisson: a rate of 9e18 or more")
        writer.block.say(f"for (int i = 0; i < {e.outputs[0].size}; ++i) if (!(b[i] < 9e18)) return {large};")
    else:
        kind = KINDS[e.outputs[0].dtype]
        function = _curved(writer, draw.number, kind) if draw.number in CURVES else f"pb_random_{kind}"
        number = f"{function}(z)"
    code(
        writer,
        """
for (int i = 0; i < {words}; ++i) z[i] = a[i];
for (int i = 0; i < {size}; ++i) y[i] = {number};
""",
        words=WORDS,
        size=e.outputs[0].size,
        number=number,
    )


KERNELS: dict[str, Kernel] = {DrawNumbers.name: _numbers}
CONDITIONS: dict[str, Callable[[Equation], bool]] = {}
