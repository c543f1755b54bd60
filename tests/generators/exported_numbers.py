"""Exported operations and their gradients of numbers that are none, infinities, zeros of both signs, and the ends of the range.

Each file has a dozen operations of the samples, compiled under sanitizers' eyes and called with what was recorded and with
arguments of which some, or most, are replaced. NaN and infinities must stand where they stand here, and zeros have their sign,
but for what docs/how-to/export.md names: sums that are added up in another order, and matrices that have no factors.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
from tests import samples

import pullback
from pullback import ops
from pullback.compile.export import ExportError

from . import exported_files

FEW, FUNCTIONS = 2, 12
USUAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0, -2.5]
ENDS = {"f": [1e-40, -1e-45, 1e30, -3.3e38], "d": [1e-310, -5e-324, 1e300, -1.7e308]}
"""Numbers that only operations of single elements are given: of others the order of a sum decides what overflows."""
MATRICES = set("cholesky det eigh eigvalsh inv lu_factor slogdet solve solve_triangular".split())
"""Of matrices with numbers that are none, LAPACK has other results than substitution."""
ADDED = set(
    "add_strided affine attention attention_pullback convolve convolve_transpose convolve_weight einsum embedding fold_windows "
    "gru lstm masked_attention masked_attention_pullback matmul max_pool max_spread project resample rnn scatter_rows "
    "standardize_pullback times_transpose total window_mean window_overlay window_spread".split()
)
"""Sums from zero or of products in BLAS's order, in which -0 may be lost."""
TIES = set("amax amin largest max_pool scatter_amax scatter_amin select_along smallest".split())
"""Either of two zeros is the largest."""
LACKING: set[int] = set()
"""Rows of the samples whose operation has no code, or no gradient."""
ROWS = samples.rows()


def function(number, dtype):
    """A function of a row: the value, and the gradients of its sum with weights, which are the last argument; and arguments."""
    name, makers, params = ROWS[number]
    rng = np.random.default_rng(5)
    arrays = [np.asarray(make(rng)) for make in makers]
    arrays = [array.astype(dtype) if array.dtype.kind == "f" else array for array in arrays]
    reals = [place for place, array in enumerate(arrays) if array.dtype.kind == "f"]
    primitive = getattr(ops, name)

    def of_row(*args):
        *given, weights = args
        leaves = [x.detach().requires_grad_() if place in reals else x for place, x in enumerate(given)]
        value = primitive(*leaves, **params)
        value = value[0] if isinstance(value, tuple) else value
        if not value.requires_grad:
            return (value.detach(),)
        total = (value * weights[: value.numel()].reshape(value.shape)).sum()
        wanted = [leaves[place] for place in reals]
        return value.detach(), *pullback.autograd.grad(total, wanted, allow_unused=True, materialize_grads=True)

    return of_row, [*arrays, rng.standard_normal(10_000).astype(dtype)]


def replaced(rng, array, name, share):
    """An array of which a share is other numbers."""
    if array.dtype.kind != "f":
        return array
    kind = getattr(ops, name).kind
    numbers = np.array(USUAL + ENDS[array.dtype.char] * (kind == "elementwise"), array.dtype)
    return np.where(rng.random(array.shape) < share, rng.choice(numbers, array.shape), array)


def drawn(rng):
    """Functions by their names, with arguments, of rows that have code."""
    calls = {}
    while len(calls) < FUNCTIONS:
        number = int(rng.integers(len(ROWS)))
        if number in LACKING or f"f{number}" in calls:
            continue
        dtype = np.float32 if rng.random() < 0.5 else np.float64
        try:
            made, arrays = function(number, dtype)
            given = [pullback.from_numpy(np.array(array)) for array in arrays]
            results = made(*given)
        except (RuntimeError, TypeError, ValueError):
            results = ()
        if not results or any(found.dtype.is_complex or found.numel() > 10_000 for found in results):
            LACKING.add(number)
            continue
        calls[f"f{number}"] = made, *given
    return calls


def exported(calls, folder):
    """The folder of those that have code."""
    while calls:
        try:
            return pullback.export(folder / "out", calls, name="numbers")
        except ExportError as error:
            name = str(error).split()[0]
            LACKING.add(int(name[1:]))
            del calls[name]
    return None


def check(rng):
    if exported_files.GCC is None:
        return 1
    compared = 0
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        calls = drawn(rng)
        out = exported(calls, Path(place))
        if out is None:
            return 0
        exported_files.sanitized(out, "numbers")
        library = exported_files.library(out, "numbers")
        for name, (here, *args) in calls.items():
            for share in (0.0, 0.15, 0.5, 0.9):
                compared += same(rng, name, here, [x.numpy() for x in args], getattr(library, name), share)
    return compared


def same(rng, name, here, arrays, there, share):
    """Compare one function of arguments of which a share is replaced."""
    title, _, params = ROWS[int(name[1:])]
    given = [replaced(rng, array, title, share) for array in arrays]
    try:
        expected = here(*[pullback.from_numpy(np.array(array)) for array in given])
    except (RuntimeError, ValueError, np.linalg.LinAlgError):
        return 0  # refused
    places = [int(row[0].removeprefix("args_").removeprefix("args")) for row in there.table["arguments"]]
    try:
        found = there(*[given[place] for place in places])
    except ValueError:
        assert title in MATRICES, f"{title}: a check fails that does not here, of {given}"
        return 0
    if share and (
        title in MATRICES or "," in params.get("equation", "")
    ):  # factors may be taken out of the sums of einsum
        return 0
    found = found if isinstance(found, tuple) else (found,)
    if len(found) < len(
        expected
    ):  # what is one value in the program, as gradients of both operands of a sum, is one result
        expected = [*{(tuple(each.shape), each.numpy().tobytes()): each for each in reversed(expected)}.values()][::-1]
    if len(found) != len(expected):
        return 0  # others agree by what they were given
    for place, (one, result) in enumerate(zip(found, expected, strict=True)):
        other = result.numpy()
        text = f"{title}{params} of {given}"
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other), err_msg=text)
        finite = np.isfinite(other)
        np.testing.assert_array_equal(one[~finite], other[~finite], err_msg=text)
        size = np.abs(other[finite]).max(initial=1)
        near = 1e-4 if other.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(one[finite], other[finite], rtol=near, atol=near * size, err_msg=text)
        alone = getattr(ops, title).kind == "elementwise" and one.shape == found[0].shape
        added = place > 0 and not alone  # gradients of what is read several times
        if other.dtype.kind == "f" and not added and title not in MATRICES | ADDED | TIES:
            zero = (one == 0) & (other == 0)
            np.testing.assert_array_equal(np.signbit(one)[zero], np.signbit(other)[zero], err_msg=f"zeros of {text}")
    return len(found)
