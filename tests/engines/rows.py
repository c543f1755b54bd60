"""Samples of primitives without derivatives, which the tables of samples do not have, and each sample as a program."""

import inspect
import re
from pathlib import Path

import numpy as np
from tests.samples import rows
from tests.samples.makers import distinct, positive, reals, whole

from pullback import ops
from pullback.compile.engines import libraries, lowerings
from pullback.compile.engines.running import check, lowered
from pullback.compile.passes import simplify
from pullback.compile.program import Equation, Program, Value
from pullback.ops.convolution import Window


def given(array):
    return lambda rng: np.array(array)


SPECIAL = given([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])
OTHER = given([1.0, 0.0, 1.5, -3.0, np.inf, np.inf, np.nan])
BITS = [whole(7, 3, 4), whole(7, 3, 4)]
TIES = given([[3, 1, 3, 2, 1], [0, 0, 1, 1, 1]])
NANS = given([[3.0, np.nan, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0]])
PLAIN = Window((2, 2), (1, 1), (1, 1))
POOL = {"kernel": (3, 3), "window": PLAIN}

TRUE = given([[True, False, True], [False, False, True]])
TWO_BOOLEANS = "add multiply maximum minimum fmax fmin less less_equal greater greater_equal".split()
ENDS = [np.iinfo(kind) for kind in ("int8", "int64", "uint8")]
WHOLE = [
    np.unique(np.array([end.min, end.min + 1, 0, 7, 3, end.max, *[-7, -1] * (end.min < 0)], end.dtype)) for end in ENDS
]
DIVIDED = [[given(whole[:, None]), given(whole[whole != 0])] for whole in WHOLE]
COMPLEX = given([1 + 2j, complex(np.inf, 0), 0, complex(0, -np.inf), -3 + 0.5j])
CLOSE = [given([1.0, 1.001, np.nan, np.inf, -np.inf]), given([1.0, 1.0, np.nan, np.inf, np.inf])]


UNTRACKED = [
    *[(name, [SPECIAL], {}) for name in "isnan isinf isfinite isposinf isneginf signbit".split()],
    *[(name, [SPECIAL, OTHER], {}) for name in "equal not_equal less less_equal greater greater_equal isclose".split()],
    *[(name, [given([0.0, 2.0, 0.0, 1.0]), given([0.0, 0.0, 3.0, 4.0])], {}) for name in "logical_and logical_or".split()],
    ("logical_xor", [given([True, False]), given([True, True])], {}),
    ("logical_not", [given([0.0, 2.0])], {}),
    *[(name, BITS, {}) for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()],
    ("floor_divide", [reals(3, 4), positive(4)], {}),
    ("floor_divide", [whole(9, 3, 4), given([1, -2, 3, 4])], {}),
    ("heaviside", [SPECIAL, OTHER], {}),
    ("isin", [whole(9, 3, 4), given([1, 2, 8])], {}),
    *[("isin", [whole(9, 3, 4), given([1, 2, 8])], {"assume_unique": False, "invert": turned}) for turned in (False, True)],
    *[("isclose", CLOSE, {"rtol": rtol, "atol": 0, "equal_nan": n}) for rtol in (1e-5, 0.01) for n in (False, True)],
    *[("isclose", both, {"rtol": 0, "atol": 3, "equal_nan": False}) for both in DIVIDED],
    *[(name, both, {}) for name in ("fmod", "trunc_quotient", "remainder", "floor_divide") for both in DIVIDED],
    *[("power", [COMPLEX], {"exponent": number}) for number in (-1, 0, 0.5, 1, 2)],
    *[(name, [TRUE, given([True, False, False])], {}) for name in TWO_BOOLEANS],
    *[(name, [TRUE], {}) for name in "isnan isinf isfinite signbit".split()],
    *[(name, [TRUE], {"axis": 1, "largest": largest}) for name in ("arglast",) for largest in (False, True)],
    *[(name, [TRUE], {"axis": (1,), "keepdims": False}) for name in ("amax", "amin")],
    ("signbit", [given([0, -1, 3])], {}),
    ("imag", [SPECIAL], {}),
    ("astype", [COMPLEX], {"dtype": np.dtype(bool), "source": np.dtype(complex)}),
    ("pow", [whole(3, 4, 6), given([-3, -2, -1, 0, 1, 2])], {}),
    ("matmul", [TRUE, given(np.tri(3, 2, dtype=bool))], {}),
    ("matmul", [given(np.ones((2, 256), bool)), given(np.ones((256, 1), bool))], {}),
    ("times_transpose", [TRUE, TRUE], {}),
    ("transpose_times", [TRUE, TRUE], {}),
    *[("argsort", [TRUE], {"axis": axis, "descending": turned}) for axis in (0, 1) for turned in (False, True)],
    *[(name, [given([[True, False], [True, True]])], {"axis": (1,), "keepdims": False}) for name in ("all", "any")],
    *[(name, [distinct(3, 4)], {"axis": 1, "keepdims": True}) for name in ("argmax", "argmin")],
    *[("argsort", [TIES], {"axis": 1, "descending": turned}) for turned in (False, True)],
    *[("argsort", [NANS], {"axis": 0, "descending": turned}) for turned in (False, True)],
    *[("arglast", [NANS], {"axis": 1, "largest": largest}) for largest in (False, True)],
    *[("arglast", [TIES], {"axis": 1, "largest": largest}) for largest in (False, True)],
    *[("argtop", [distinct(3, 9)], {"axis": 1, "k": k, "largest": True}) for k in (2, 5)],
    ("argkth", [distinct(3, 9)], {"axis": 1, "k": 4}),
    *[("argmedian", [NANS], {"axis": 1, "skip": skip}) for skip in (False, True)],
    ("argmedian", [distinct(5, 3)], {"axis": 0, "skip": False}),
    ("argmode", [TIES], {"axis": 1}),
    *[("searchsorted", [given([1.0, 2.0, 2.0, 4.0]), given([[0.5, 2.0], [4.0, 9.0]])], {"right": r}) for r in (False, True)],
    *[("searchsorted", [given([[1, 2, 2], [3, 4, 5]]), given([[2, 0], [3, 9]])], {"right": r}) for r in (False, True)],
    ("index_counts", [whole(3, 2, 4)], {}),
    ("max_places", [distinct(2, 2, 6, 6), lambda rng: None], POOL),
    ("permutation", [given(np.array([[2, 3, 3], [1, 2, 3]], np.int32)), reals(2, 3, 3)], {}),
    ("pivot_info", [reals(2, 3, 3), reals(2, 3, 3)], {}),
    ("minor_info", [reals(2, 3, 3), reals(2, 3, 3)], {"upper": False}),
    ("check_phase", [reals(2, 3), reals(3, 3)], {"operation": "linalg_eigh_backward"}),
    ("eigvalsh", [reals(2, 3, 3)], {"lower": True}),
    ("svdvals", [reals(2, 4, 3)], {}),
    (
        "spectral_gradient",
        [reals(2, 3), reals(2, 4, 3), positive(2, 3), reals(2, 4, 3), reals(2, 3, 3), reals(2, 3, 3)],
        {"hermitian": False},
    ),
]  # fmt: skip

ROWS = [*rows(), *UNTRACKED]
PRIMITIVES = ops.tables()


def sample(name, makers, params):
    """The arrays of a row, and what the forward function gives."""
    rng = np.random.default_rng(5)
    arrays = [made if (made := make(rng)) is None else np.asarray(made) for make in makers]
    if name == "max_places":
        arrays[1] = PRIMITIVES["max_pool"].forward(arrays[0], lengths=PLAIN.lengths((6, 6), (3, 3)), **params)
    with np.errstate(all="ignore"):
        found = PRIMITIVES[name].forward(*arrays, **params)
    return arrays, [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def computed(w, name, arrays, outputs, params):
    """What an engine gives for a row, on the host."""
    inputs = tuple(Value(x.shape, x.dtype) for x in arrays)
    values = tuple(Value(y.shape, y.dtype) for y in outputs)
    program = simplify(Program(inputs, (Equation(PRIMITIVES[name], inputs, params, values),), values))
    with w.mode(), np.errstate(all="ignore"):
        check(program, w)
        found = w.ready(lowered(program, w))(*map(w.constant, arrays))
    return [np.asarray(w.host(y)) for y in found[: len(outputs)]]


def settled(name, factors):
    """Factors that are unique but for signs, as the products that are unique."""
    if name in {"eigh", "eigvalsh"}:
        values, vectors, *rest = factors
        return [values, vectors * values[..., None, :] @ np.conj(vectors).swapaxes(-1, -2), *rest]
    if name in {"svd", "svdvals"}:
        left, values, right, *rest = factors
        count = values.shape[-1]
        return [values, left[..., :count] * values[..., None, :] @ right[..., :count, :], *rest]
    if name == "qr":
        return [factors[0] @ factors[1], np.abs(factors[1])]
    if name == "eig":
        values, vectors = factors
        return [np.sort_complex(values), vectors * values[..., None, :] @ np.linalg.inv(vectors)]
    return factors


def compared(w, name, makers, params, *, rtol=1e-9):
    """Check an engine against the forward function."""
    arrays, outputs = sample(name, makers, params)
    found = computed(w, name, arrays, outputs, params)
    for mine, true in zip(settled(name, found), settled(name, outputs), strict=True):
        np.testing.assert_allclose(mine, true, rtol=rtol, atol=1e-10, strict=True)


SPARED = {"linalg", "fft", "astype"}
"""Names of modules, and what arrays may have as a method."""


def lacking(w):
    """The functions of the standard that lowerings and `Engine` use, as their source says, and an engine has not."""
    own = Path(libraries.__file__)  # where libraries use what they have themselves
    source = [path.read_text(encoding="utf-8") for path in own.parent.glob("*.py") if path != own]
    used = re.findall(
        r"\b(?:w|self)\.xp\.((?:linalg\.|fft\.)?\w+)", "\n".join([*source, inspect.getsource(libraries.Engine)])
    )
    return {name for name in {*lowerings.STANDARD, *used} - SPARED if not has(w.xp, name)}


def has(namespace, path):
    """Whether a namespace has a function: `Names` says that it lacks one by an error of its own."""
    for name in path.split("."):
        try:
            namespace = getattr(namespace, name)
        except (AttributeError, NotImplementedError):
            return False
    return True
