"""Sums with a factor (`alpha`, `beta`, `value`, a weight) of operands of mixed dtypes, beside exact fractions.

The operands get their common dtype before anything is computed: integers are the exact result modulo 2**bits, floats are
off by a few roundings of their terms at most, and only a result beyond the range of the dtype is infinite.
"""

import functools
import math
from fractions import Fraction

import numpy as np

import pullback

FEW = 40
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
FACTORS = [2, 3, -1, 0, 100, 1000, -7, 0.5, 0.1, -2.5, 3.0, 1e5, True]
LARGE = {"float16": [60000.0, -300.0], "float32": [1e30, -3e38, 1e-30], "float64": [1e300, -3e38, 1e-300]}

# name -> (how many operands, names of the factors, the result of one element as a function of fractions)
SUMS = {
    "add": (2, ["alpha"], lambda a, b, alpha: (a, alpha * b)),
    "sub": (2, ["alpha"], lambda a, b, alpha: (a, -alpha * b)),
    "rsub": (2, ["alpha"], lambda a, b, alpha: (b, -alpha * a)),
    "addcmul": (3, ["value"], lambda a, b, c, value: (a, value * b * c)),
    "addcdiv": (3, ["value"], lambda a, b, c, value: (a, value * b / c)),
    "lerp": (2, ["weight"], lambda a, b, weight: (a, weight * b, -weight * a)),
}
PRODUCTS = {
    "addmm": ((2, 3), (2, 4), (4, 3)),
    "addmv": ((2,), (2, 4), (4,)),
    "addr": ((2, 3), (2,), (3,)),
    "baddbmm": ((2, 2, 3), (2, 2, 4), (2, 4, 3)),
    "addbmm": ((2, 3), (2, 2, 4), (2, 4, 3)),
}


def dtype_of(operand):
    if isinstance(operand, pullback.Tensor):
        return np.dtype(operand.dtype.numpy)
    return np.dtype({bool: "bool", int: "int64", float: "float32"}[type(operand)])


def promoted(operands):
    """torch's rule: tensors with axes, then 0-d ones, then numbers, of which the later count only if of a higher kind."""
    groups = [[], [], []]
    for x in operands:
        groups[(0 if x.ndim else 1) if isinstance(x, pullback.Tensor) else 2].append(dtype_of(x))
    result = np.dtype(bool)
    for dtypes in groups:
        top = max(map(_kind, dtypes), default=-1)
        dtype = functools.reduce(np.promote_types, [each for each in dtypes if _kind(each) == top] or [result])
        result = dtype if _kind(dtype) > _kind(result) else result
    return result


def _kind(dtype):
    return {"b": 0, "u": 1, "i": 1, "f": 2}[dtype.kind]


def values(rng, dtype, shape):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -30000), min(info.max, 30000), shape, dtype, endpoint=True)
    plain = rng.standard_normal(shape) * 100
    return np.asarray(np.where(rng.random(shape) < 0.3, rng.choice(LARGE[dtype], shape), plain), dtype)


def exact(array):
    """The elements as fractions."""
    return np.vectorize(lambda x: Fraction(float(x)) if array.dtype.kind == "f" else Fraction(int(x)), otypes=[object])(
        array
    )


def rounded(number, dtype):
    """A number in a dtype, as a fraction: a factor is used in the dtype of the sum, in float32 for halves."""
    return (
        Fraction(float(np.dtype(dtype if dtype.itemsize > 2 else "float32").type(number)))
        if dtype.kind == "f"
        else Fraction(number)
    )


def compare(name, got, terms, dtype, slack, through=()):
    """Compare results with arrays of exact terms, whose sum they are; numbers beyond a dtype `through` which they go are infinite."""
    found = got.detach().numpy()
    assert found.dtype == dtype, f"{name}: the result is {found.dtype}, not {dtype}"
    shape = np.broadcast_shapes(*[np.shape(term) for term in terms], found.shape)
    assert found.shape == shape, f"{name}: the result has shape {found.shape}, not {shape}"
    total, size = (np.broadcast_to(sum(each), shape) for each in (terms, [abs(term) for term in terms]))
    for index in np.ndindex(shape):
        value, want, scale = found[index], total[index], size[index]
        where = f"{name} at {index}: {value!r}, not {float_of(want)!r}"
        if dtype.kind == "b":
            assert bool(value) == (want != 0), where
        elif dtype.kind != "f":
            bits = 8 * dtype.itemsize
            assert (int(value) - int(want)) % (1 << bits) == 0, where
        elif not math.isfinite(value):
            largest = min(Fraction(float(np.finfo(each).max)) for each in (dtype, *through))
            assert scale >= largest * Fraction(99, 100), where
        else:
            info = np.finfo(dtype)
            bound = slack * (Fraction(float(info.eps)) * scale) + 2 * Fraction(float(info.smallest_subnormal))
            assert abs(Fraction(float(value)) - want) <= bound, where
    return found.size


def float_of(fraction):
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def sum_case(rng):
    name = str(rng.choice(list(SUMS)))
    count, (factor_name,), formula = SUMS[name]
    kinds = FLOATS if name == "lerp" else ["bool", *INTEGERS, *FLOATS]
    dtypes = [str(x) for x in rng.choice(kinds, count)]
    if name == "lerp":
        dtypes = dtypes[:1] * 2
    shapes = [[(), (3,), (2, 3)][rng.choice(3, p=[0.2, 0.5, 0.3])] for _ in range(count)]
    operands = [pullback.from_numpy(np.array(values(rng, d, s))) for d, s in zip(dtypes, shapes, strict=True)]
    if rng.random() < 0.15 and name in ("add", "sub"):
        operands[1] = [7, 0.25, True][rng.integers(3)]
    factor = FACTORS[rng.integers(len(FACTORS))]
    if name == "lerp" and rng.random() < 0.5:
        factor = pullback.tensor(0.3, dtype=pullback.float64 if rng.random() < 0.5 else pullback.float32)
    return name, operands, {factor_name: factor}, formula


def refused(name, operands, dtype, factor):
    """Whether torch, or pullback by a line of torch-differences, refuses this sum."""
    kinds = [dtype_of(x).kind for x in operands]
    if name in ("sub", "rsub") and "b" in kinds and dtype.kind == "b":
        return True
    if name == "addcdiv" and "f" not in kinds[1:]:
        return True
    if name == "lerp":
        return False
    if type(factor) is bool:
        return dtype.kind != "b"
    if dtype.kind == "f":
        return False
    if type(factor) is float:
        return True
    info = np.iinfo(dtype) if dtype.kind != "b" else None
    return info is not None and not (info.min or -info.max) <= factor <= info.max


def described(operand):
    return f"{dtype_of(operand)} {tuple(operand.shape)}" if isinstance(operand, pullback.Tensor) else repr(operand)


def in_range(name, arrays, factor, dtype):
    """Whether the operands, and value * tensor1 and end - input, which are computed on the way as in torch, are in range."""
    largest = float(np.finfo(dtype if dtype.itemsize > 2 else "float32").max)
    a, b, *rest = (each.astype(float) for each in arrays)
    with np.errstate(invalid="ignore"):
        way = (b - a) * max(1, abs(1 - factor)) if name == "lerp" else b * factor if rest else b
    return (
        all(np.isfinite(each).all() for each in arrays)
        and (abs(way) <= largest).all()
        and (name != "addcdiv" or rest[0].all())
    )


def check_sum(rng):
    name, operands, factors, formula = sum_case(rng)
    ((factor_name, factor),) = factors.items()
    dtype = promoted(operands)
    positional = [factor] if name == "lerp" else []
    named = {} if name == "lerp" else factors
    said = f"{name}({', '.join(map(described, operands))}, {factor_name}={factor})"
    function = getattr(pullback, name)

    def call(*tensors, **out):
        return function(*tensors, *positional, **named, **out)

    if name != "lerp" and factor_name == "value" and type(factor) is int and factor == 1:
        return 0
    if refused(name, operands, dtype, factor):
        try:
            call(*operands)
        except RuntimeError:
            return 1
        raise AssertionError(f"{said} is refused by torch")
    arrays = [x.numpy() if isinstance(x, pullback.Tensor) else np.array(x) for x in operands]
    if name == "addcdiv" and not arrays[2].all():
        arrays[2] = np.where(arrays[2] == 0, np.ones_like(arrays[2]), arrays[2])
        operands[2] = pullback.from_numpy(arrays[2])
    with np.errstate(over="ignore"):
        same_dtype = [a.astype(dtype) if dtype.kind == "f" else a for a in arrays]
    number = factor.item() if isinstance(factor, pullback.Tensor) else bool(factor) if dtype.kind == "b" else factor
    if dtype.kind == "f" and not in_range(name, same_dtype, number, dtype):
        return 0
    fractions = [exact(a) for a in same_dtype]
    terms = formula(*fractions, rounded(number, dtype))
    compared = compare(said, call(*operands), terms, dtype, 4)
    result_shape = np.broadcast_shapes(*[a.shape for a in arrays])
    if isinstance(operands[0], pullback.Tensor) and name != "rsub" and arrays[0].shape == result_shape:
        own = dtype_of(operands[0])
        if _kind(own) >= _kind(dtype):
            target = operands[0].clone()
            getattr(target, name + "_")(*operands[1:], *positional, **named)
            compared += compare(f"in place, {said}", target, *cast(terms, dtype, own))
    if name != "rsub":
        into = str(rng.choice([d for d in ["bool", *INTEGERS, *FLOATS] if _kind(np.dtype(d)) >= _kind(dtype)]))
        out = pullback.empty(0, dtype=getattr(pullback, into))
        call(*operands, out=out)
        compared += compare(f"out={into}, {said}", out, *cast(terms, dtype, np.dtype(into)))
    if dtype.kind == "f":
        compared += check_slopes(said, call, operands, number, dtype) if name in ("add", "sub", "rsub") else 0
        if rng.random() < 0.1:
            compared += same(said, pullback.compile(call)(*operands), call(*operands))
    return compared


def cast(terms, dtype, into):
    """What `compare` needs for a sum in a dtype that is cast into another one."""
    if dtype.kind == "f":
        return terms, into, 4 * max(1, round(float(np.finfo(dtype).eps) / float(np.finfo(into).eps))), (dtype,)
    total = sum(terms)
    if dtype.kind == "b":
        return ((total != 0) * Fraction(1),), into, 4
    least, count = np.iinfo(dtype).min, 1 << 8 * dtype.itemsize
    return ((total - least) % count + least,), into, 4


def check_slopes(said, call, operands, factor, dtype):
    floats = [isinstance(x, pullback.Tensor) and x.is_floating_point() for x in operands]
    leaves = [x.clone().requires_grad_() if own else x for x, own in zip(operands, floats, strict=True)]
    tracked = [x for x, own in zip(leaves, floats, strict=True) if own]
    if not tracked:
        return 0
    call(*leaves).backward(pullback.ones((), dtype=getattr(pullback, dtype.name)).expand(call(*leaves).shape))
    compared = 0
    slopes = {"a": [1, factor], "s": [1, -factor], "r": [-factor, 1]}[said[0]]
    for x, slope in zip(leaves, slopes, strict=True):
        if any(x is each for each in tracked):
            count = call(*leaves).numel() // max(x.numel(), 1)
            want = np.full(tuple(x.shape), exact(np.array(float(slope) * count)).item(), object)
            compared += compare(f"gradient of {said}", x.grad, *cast((want,), dtype, dtype_of(x)))
    return compared


def same(said, a, b):
    a, b = a.detach().numpy(), b.detach().numpy()
    assert a.dtype == b.dtype, f"compiled, {said}: {a.dtype}, not {b.dtype}"
    eps = float(np.finfo(a.dtype).eps)
    close = np.isclose(a.astype(float), b.astype(float), rtol=8 * eps, atol=8 * eps * 60000, equal_nan=True)
    assert close.all(), f"compiled, {said}: {a}, not {b}"
    return a.size


def check_product(rng):
    name = str(rng.choice(list(PRODUCTS)))
    shapes = PRODUCTS[name]
    dtype = str(rng.choice([*INTEGERS, *FLOATS]))
    dtypes = [str(x) for x in rng.choice([*INTEGERS, *FLOATS], 3)] if name == "addr" else [dtype] * 3
    arrays = [np.array(values(rng, d, s)) for d, s in zip(dtypes, shapes, strict=True)]
    operands = [pullback.from_numpy(a) for a in arrays]
    dtype = promoted(operands)
    factors = {each: FACTORS[rng.integers(len(FACTORS) - 1)] for each in ("beta", "alpha")}
    said = f"{name}({', '.join(dtypes)}, {factors})"
    if any(refused(name, operands, dtype, x) and x != 0 for x in factors.values()) or (
        dtype.kind != "f" and any(type(x) is float for x in factors.values())
    ):
        try:
            getattr(pullback, name)(*operands, **factors)
        except RuntimeError:
            return 1
        if dtype.kind != "f" and all(x in (1.0, 0.0, 3.0) or type(x) is int for x in factors.values()):
            return 0
        raise AssertionError(f"{said} is refused by torch")
    a, b, c = (exact(x.astype(dtype)) for x in arrays)
    pairs = {
        "addmm": lambda: b[:, :, None] * c[None],
        "addmv": lambda: b * c,
        "addr": lambda: (b[:, None] * c)[:, None],
        "baddbmm": lambda: b[:, :, :, None] * c[:, None],
        "addbmm": lambda: np.moveaxis(b[:, :, :, None] * c[:, None], 0, 1).reshape(2, 8, 3),
    }[name]()
    pairs = np.moveaxis(pairs, {"addmm": 1, "addmv": 1, "addr": 1, "baddbmm": 2, "addbmm": 1}[name], 0)
    alpha, beta = (rounded(factors[each], dtype) for each in ("alpha", "beta"))
    inner = sum(abs(pair) for pair in pairs)
    limit = Fraction(float(np.finfo(dtype if dtype.itemsize > 2 else "float32").max)) if dtype.kind == "f" else None
    if limit is not None and max(inner.reshape(-1)) > limit / 2:
        return 0  # the product itself overflows
    terms = [beta * a, *[alpha * pair for pair in pairs]]
    return compare(said, getattr(pullback, name)(*operands, **factors), terms, dtype, 16)


def check(rng):
    """Draw one case, and return how many numbers were compared."""
    return check_product(rng) if rng.random() < 0.25 else check_sum(rng)
