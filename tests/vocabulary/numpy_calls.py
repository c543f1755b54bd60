"""Calls of NumPy's functions, by name: what `test_numpy_namespace` tries on arrays and on tensors.

A call takes one array or more, as many as it has parameters. Those of statistics, shapes and linear algebra are in the
tests of these.
"""

# ruff: noqa: PLW0108  # the number of a lambda's parameters says how many arrays a call takes

import numpy as np

MASK = np.array([[True, False, True], [False, True, True]])
FEW = np.array([[0.31, -0.72, 1.93], [-1.24, 0.85, 2.36]])
COUNTS = np.array([0, 2, 1, 2, 0, 4])
PLACES = np.array([[0, 1, 1], [1, 0, 1]])


def since_two(call):
    """A call that NumPy 1 has not, or computes otherwise."""
    return [] if np.lib.NumpyVersion(np.__version__) < "2.0.0" else [call]


def written(write):
    """A function that writes to a copy of its first argument and returns the copy."""

    def function(a, b):
        copy = a * 1
        write(copy, b)
        return copy

    return function


REDUCTIONS = {
    name: [
        lambda a, f=name: getattr(np, f)(a),
        lambda a, f=name: getattr(np, f)(a, 1),
        lambda a, f=name: getattr(np, f)(a, axis=(0, 1), keepdims=True),
        *options,
    ]
    for name, options in {
        "sum": [lambda a: np.sum(a, 0, where=MASK, initial=2.0), lambda a: np.sum(a, dtype=np.complex128)],
        "prod": [lambda a: np.prod(a, 0, where=MASK, initial=2.0)],
        "max": [lambda a: np.max(a, initial=1.0, where=MASK, axis=1), lambda a: np.max(a, 0, initial=0.5)],
        "min": [lambda a: np.min(a, initial=1.0, where=MASK, axis=1)],
        "amax": [],
        "amin": [],
        "mean": [lambda a: np.mean(a, 1, where=MASK), lambda a: np.mean(a, where=MASK, keepdims=True)],
        "var": [
            lambda a: np.var(a, 1, ddof=1),
            lambda a: np.var(a, where=MASK),
            lambda a: np.var(a, 1, where=MASK, ddof=1),
        ],
        "std": [lambda a: np.std(a, 1, ddof=1), lambda a: np.std(a, where=MASK, axis=1)],
    }.items()
}

CALLS = {
    **REDUCTIONS,
    # what is made like something, or between numbers
    "linspace": [
        lambda a, b: np.linspace(a, b, 4),
        lambda a: np.linspace(a[0], 2.0, 3, axis=-1),
        lambda a: np.linspace(0.0, a, 4, endpoint=False, axis=1),
        lambda a, b: list(np.linspace(a[0, 0], b[0, 0], 5, retstep=True)),
        lambda a, b: np.linspace(a, b, 1),
    ],
    "logspace": [
        lambda a, b: np.logspace(a, b, 4),
        lambda a: np.logspace(a[0], 1.0, 3, base=2.0, endpoint=False),
        lambda a: np.logspace(0.0, 1.0, 4, base=np.abs(a) + 1),
    ],
    "geomspace": [
        lambda a, b: np.geomspace(np.abs(a), np.abs(b), 4),
        *since_two(lambda a: np.geomspace(-np.abs(a), -2.0, 3, endpoint=False, axis=1)),
    ],
    "full_like": [lambda a: np.full_like(a, a[0]), lambda a: np.full_like(a[0], a, shape=(2, 2, 3))],
    "astype": [lambda a: np.astype(a, np.complex128), lambda a: np.astype(a, np.float64)],
    "copy": [lambda a: np.copy(a)],
    # choices
    "select": [
        lambda a, b: np.select([a > 0, b > 0], [a * b, b], 0.5),
        lambda a, b: np.select([MASK, ~MASK], [a, b]),
        lambda a: np.select([MASK[0]], [FEW * a], a),
    ],
    "choose": [
        lambda a, b: np.choose(PLACES, [a, b]),
        lambda a: np.choose(PLACES[0], a),
        lambda a: np.choose([3, -1, 2], [a, 2 * a, 1.5], mode="wrap"),
        lambda a: np.choose([3, -1, 2], (a[0], a[1]), mode="clip"),
    ],
    "piecewise": [
        lambda a: np.piecewise(a, [a < 0, a > 1], [lambda x: x * x, np.exp, 0.25]),
        lambda a: np.piecewise(a, [a > 0], [lambda x, k, power: k * x**power, lambda x, k, power: -x], 2.0, power=3),
        lambda a: np.piecewise(a[0, 0], [a[0, 0] > 0], [lambda x: x * 3]),
    ],
    "where": [lambda a, b: np.where(a > b, a, b), lambda a: np.where(MASK[0], a, 0.5)],
    "clip": [lambda a: np.clip(a, -0.5, 1), lambda a, b: np.clip(a, b, None), lambda a: np.clip(FEW, 0.1, a + 1)],
    # joins and pieces
    "concatenate": [
        lambda a, b: np.concatenate([a, b], 1),
        lambda a: np.concatenate((FEW, a), axis=None),
        lambda a: np.concatenate(a),
    ],
    "stack": [lambda a, b: np.stack([a, b], -1), lambda a: np.stack([FEW, a, a])],
    "vstack": [lambda a, b: np.vstack([a, b[0]]), lambda a: np.vstack(a)],
    "hstack": [lambda a, b: np.hstack([a, b]), lambda a: np.hstack([a[0], 2.0])],
    "block": [
        lambda a, b: np.block([[a, np.ones((2, 1))], [np.zeros((1, 3)), b[:1, :1]]]),
        lambda a, b: np.block([a[0], b[1], 3.0]),
        lambda a: np.block([[a], [a[0]]]),
    ],
    "split": [lambda a: np.split(a, 3, axis=1), lambda a: np.split(a, [1], axis=-1)],
    "array_split": [lambda a: np.array_split(a, 2, 1), lambda a: np.array_split(a, 5)[1:]],
    "insert": [
        lambda a, b: np.insert(a, 1, b[0, 0], axis=1),
        lambda a, b: np.insert(a, 1, b[:, 0], axis=1),
        lambda a, b: np.insert(a, [1], b[:, :2], axis=1),
        lambda a, b: np.insert(a, [2, 0, 0], b[:1], axis=1),
        lambda a, b: np.insert(a, [2, 5], b[0, :2]),
        lambda a: np.insert(FEW, slice(1, 3), a[:, :2], axis=1),
        *since_two(lambda a: np.insert(a, np.array([True, False, True]), 0.5, axis=1)),
    ],
    "delete": [
        lambda a: np.delete(a, 1, axis=1),
        lambda a: np.delete(a, [0, -1]),
        lambda a: np.delete(a, slice(0, 2), 1),
    ],
    "trim_zeros": [
        lambda a: np.trim_zeros(np.concatenate([np.zeros(2), a[0], np.zeros(1)])),
        lambda a: np.trim_zeros(np.concatenate([np.zeros(2), a[0], np.zeros(1)]), "b"),
    ],
    "apply_along_axis": [
        lambda a: np.apply_along_axis(np.cumsum, 0, a),
        lambda a: np.apply_along_axis(lambda row, power: np.sum(row**power), 1, a, power=2),
        lambda a: np.apply_along_axis(lambda row: np.outer(row, row), 1, a),
    ],
    "apply_over_axes": [lambda a: np.apply_over_axes(np.sum, a, [0, 1]), lambda a: np.apply_over_axes(np.cumsum, a, 1)],
    # shapes
    "reshape": [lambda a: np.reshape(a, (3, 2)), lambda a: np.reshape(a, -1, "F"), lambda a: np.reshape(a, (3, 2), order="F")],
    "ravel": [lambda a: np.ravel(a), lambda a: np.ravel(a, order="F")],
    "broadcast_to": [lambda a: np.broadcast_to(a, (2, 2, 3))],
    "transpose": [lambda a: np.transpose(a), lambda a: np.transpose(a[None], (1, 0, -1))],
    "permute_dims": [lambda a: np.permute_dims(a, (1, 0))],
    "swapaxes": [lambda a: np.swapaxes(a, 0, 1)],
    "moveaxis": [lambda a: np.moveaxis(a, 0, -1), lambda a: np.moveaxis(a[None], (0, 2), (1, 0))],
    "squeeze": [lambda a: np.squeeze(a[:1]), lambda a: np.squeeze(a[:1], 0)],
    "expand_dims": [lambda a: np.expand_dims(a, (0, -1))],
    "flip": [lambda a: np.flip(a), lambda a: np.flip(a, 1)],
    "flipud": [lambda a: np.flipud(a)],
    "fliplr": [lambda a: np.fliplr(a)],
    "pad": [
        *(lambda a, mode=mode: np.pad(a, ((2, 1), (0, 3)), mode) for mode in ("maximum", "minimum", "mean", "median", "edge")),
        lambda a: np.pad(a, 2, "mean", stat_length=2),
        lambda a: np.pad(a, 2, "linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
        lambda a, b: np.pad(a, ((1, 0), (0, 2)), constant_values=b[0, 0]),
        lambda a: np.pad(a, 1, "linear_ramp", end_values=a[0, 0]),
        *(lambda a, mode=mode: np.pad(a, 1, mode) for mode in ("reflect", "symmetric", "wrap")),
    ],
    # elements by place
    "take": [
        lambda a: np.take(a, [[0, 5]]),
        lambda a: np.take(a, [7, -3], mode="wrap", axis=1),
        lambda a: np.take(a, [7, -3], mode="clip"),
    ],
    "compress": [lambda a: np.compress([True, False, True], a, axis=1)],
    "extract": [lambda a: np.extract(MASK, a)],
    "take_along_axis": [lambda a: np.take_along_axis(a, PLACES, axis=1)],
    "put_along_axis": [written(lambda a, b: np.put_along_axis(a, PLACES[:, :1], b[:, :1], 1))],
    "put": [written(lambda a, b: np.put(a, [0, -1, 3], b[0])), written(lambda a, b: np.put(a, [7], b[0, 0], "wrap"))],
    "place": [written(lambda a, b: np.place(a, MASK, b[0])), written(lambda a, b: np.place(a, a > 0, b[0, :2]))],
    "putmask": [written(lambda a, b: np.putmask(a, MASK, b)), written(lambda a, b: np.putmask(a, MASK, b[0, :2]))],
    "copyto": [
        written(lambda a, b: np.copyto(a, b)),
        written(lambda a, b: np.copyto(a, b[0], where=MASK)),
        written(lambda a, b: np.copyto(a, b[0, 0], where=MASK[0])),
    ],
    "fill_diagonal": [
        written(lambda a, b: np.fill_diagonal(a, b[0, 0])),
        written(lambda a, b: np.fill_diagonal(a, b[0, :2])),
        lambda a, b: written(lambda x, y: np.fill_diagonal(x, y, wrap=True))(np.tile(np.transpose(a), (3, 1)), b[0]),
    ],
    "diag": [lambda a: np.diag(a), lambda a: np.diag(a[0], 1)],
    "diagflat": [lambda a: np.diagflat(a, -1)],
    "diagonal": [lambda a: np.diagonal(a, 1)],
    "tril": [lambda a: np.tril(a)],
    "triu": [lambda a: np.triu(a, 1)],
    "trace": [lambda a: np.trace(a, 1), lambda a: np.trace(a, dtype=np.complex128)],
    # elements by value
    "unique": [
        lambda a: np.unique(np.concatenate([a, a])),
        lambda a: np.unique(np.concatenate([a, a]), axis=0),
        lambda a: np.unique(a, return_index=True, return_counts=True)[0],
    ],
    "unique_all": [lambda a: np.unique_all(a).values],
    "unique_counts": [lambda a: np.unique_counts(a).values],
    "unique_inverse": [lambda a: np.unique_inverse(a).values],
    "unique_values": [lambda a: np.sort(np.unique_values(a))],
    "union1d": [lambda a, b: np.union1d(a, b)],
    "intersect1d": [lambda a: np.intersect1d(a, a[0]), lambda a: np.intersect1d(a[1], a, return_indices=True)[0]],
    "setdiff1d": [lambda a: np.setdiff1d(a, a[0]), lambda a: np.setdiff1d(a, a[0, 0], assume_unique=True)],
    "setxor1d": [lambda a, b: np.setxor1d(a, b), lambda a: np.setxor1d(a, a[0])],
    "partition": [
        lambda a: np.partition(a, 1)[:, 1],
        lambda a: np.partition(a, [0, 2], axis=None)[[0, 2]],
        lambda a: np.partition(a, 0, axis=0),
    ],
    "sort_complex": [lambda a: np.sort_complex(a), lambda a, b: np.sort_complex(a + 1j * b)],
    "ediff1d": [lambda a: np.ediff1d(a), lambda a, b: np.ediff1d(a, to_end=b[0], to_begin=0.5)],
    "bincount": [lambda a: np.bincount(COUNTS, np.ravel(a)), lambda a: np.bincount(COUNTS, np.ravel(a), minlength=7)],
    "histogram": [
        lambda a: np.histogram(FEW, 3, weights=a)[0],
        lambda a: np.histogram(FEW, [-2.0, 0.0, 1.0, 2.36], weights=a, density=True)[0],
        lambda a: np.histogram(a, 4)[1],
        lambda a: np.histogram(a, 4, density=True)[0],
        lambda a: np.histogram(a, 2, (-1.0, 2.0), weights=a * a)[0],
        lambda a: np.histogram(FEW, np.sort(a[0]) + 0.05, density=True)[0],
    ],
    "histogram_bin_edges": [
        lambda a: np.histogram_bin_edges(a, 3),
        lambda a: np.histogram_bin_edges(a, "sturges"),
        lambda a: np.histogram_bin_edges(FEW, np.sort(a[0])),
    ],
    # sums and sequences
    "cumsum": [lambda a: np.cumsum(a), lambda a: np.cumsum(a, 1)],
    "convolve": [lambda a, b: np.convolve(a[0], b[0, :2], "same")],
    "correlate": [lambda a, b: np.correlate(a[0], b[0, :2], "full")],
    "unwrap": [
        lambda a: np.unwrap(a * 5),
        lambda a: np.unwrap(a * 5, axis=0, discont=4.0),
        lambda a: np.unwrap(a, period=0.7),
    ],
    # products
    "dot": [lambda a, b: np.dot(a, np.transpose(b)), lambda a: np.dot(FEW[0], a[0])],
    "outer": [lambda a, b: np.outer(a, b)],
    "einsum": [lambda a, b: np.einsum("ij,kj->ik", a, b, optimize=True)],
    # elementwise
    "round": [lambda a: np.round(a * 1.01, 1), lambda a: np.round(a)],
    "around": [lambda a: np.around(a * 1.01, 1)],
    "sinc": [lambda a: np.sinc(a)],
    "logn": [lambda a: np.emath.logn(2, a), lambda a: np.emath.logn(a * a + 2, 3.0)],
    **{  # inside the real domain, and on both sides of its edge
        f.__name__: [lambda a, f=f, shift=shift: f(a * a + shift) for shift in (1, -1)]
        for f in (np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10)
    },
    **{
        f.__name__: [lambda a, f=f, scale=scale: f(a * scale) for scale in (0.1, 2)]
        for f in (np.emath.arcsin, np.emath.arccos, np.emath.arctanh)
    },
    "power": [lambda a: np.emath.power(a, 1.5), lambda a: np.emath.power(2.0, a)],
    "fix": [lambda a: np.fix(a)],
    "nan_to_num": [lambda a: np.nan_to_num(a)],
    "real": [lambda a: np.real(a), lambda a, b: np.real(a + 1j * b)],
    "imag": [lambda a, b: np.imag(a + 1j * b)],
    "angle": [lambda a, b: np.angle(a + 1j * b), lambda a, b: np.angle(a + 1j * b, deg=True)],
    "real_if_close": [lambda a: np.real_if_close(a + 0j), lambda a: np.real_if_close(a + 0.5j)],
    # polynomials
    "polyval": [lambda a, b: np.polyval(a[0], b), lambda a: np.polyval([1, 2, 3], a), lambda a: np.polyval(a[0], 2.0)],
    "polyadd": [lambda a, b: np.polyadd(a[0], b[0, :2]), lambda a: np.polyadd([1, 2, 3, 4], a[0])],
    "polysub": [lambda a, b: np.polysub(a[0], b[0, :2])],
    "polymul": [lambda a, b: np.polymul(a[0], b[0, :2]), lambda a: np.polymul([0, 0, 1, 2], a[0])],
    "polydiv": [lambda a, b: list(np.polydiv(np.ravel(a), b[0])), lambda a: np.polydiv(a[0, :2], [1.0, 2.0, 3.0])[1]],
    "polyder": [lambda a: np.polyder(a[0]), lambda a: np.polyder(np.ravel(a), 2)],
    "polyint": [lambda a: np.polyint(a[0]), lambda a, b: np.polyint(a[0], 2, b[0, :2]), lambda a: np.polyint(a[0], 2, 1.5)],
    "poly": [lambda a: np.poly(a[0]), lambda a: np.poly(np.tensordot(a, a, axes=(1, 1)))],
    "roots": [
        lambda a: np.abs(np.roots(a[0])),
        lambda a: np.sum(np.abs(np.roots(np.concatenate([[0.0], a[0], [0.0, 0.0]]))) ** 3),
    ],
    "polyfit": [
        lambda a, b: np.polyfit(np.ravel(a), np.ravel(b), 2),
        lambda a: np.polyfit(np.arange(6.0), np.ravel(a), 1, w=np.arange(1.0, 7.0)),
        lambda a: list(np.polyfit(np.arange(6.0), np.ravel(a), 1, cov=True)),
        lambda a: np.polyfit([0.0, 1.0], a, 1),
    ],
    "interp": [lambda a: np.interp(a, [3.0, 0.5, 1.7], [1.0, 2.0, -1.0], period=3.1)],
    # transforms
    **{name: [lambda a, f=name: getattr(np.fft, f)(a)] for name in (
        "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2 fftshift ifftshift").split()},
}  # fmt: skip

# Results that have no derivative: equal values, in tensors that are not tracked
WITHOUT_SLOPE = {
    "argmax": [lambda a: np.argmax(a), lambda a: np.argmax(a, 1, keepdims=True)],
    "argmin": [lambda a: np.argmin(a, axis=0)],
    "all": [lambda a: np.all(a, 1), lambda a: np.all(a > 0, where=MASK)],
    "any": [lambda a: np.any(a, 0), lambda a: np.any(a < -1, where=MASK, axis=1)],
    "nonzero": [lambda a: np.nonzero(a)],
    "zeros_like": [lambda a: np.zeros_like(a)],
    "ones_like": [lambda a: np.ones_like(a, dtype=np.int32, shape=4)],
    "empty_like": [lambda a: np.empty_like(a, dtype=bool) & False],
    "matrix_rank": [lambda a: np.linalg.matrix_rank(a)],
}

# NumPy's own answers about values, arrays as it makes them
ANSWERS = {
    "shape": [lambda a: np.shape(a)], "ndim": [lambda a: np.ndim(a)], "size": [lambda a: np.size(a, 1)],
    "array_equal": [lambda a: np.array_equal(a, FEW)], "array_equiv": [lambda a: np.array_equiv(a, FEW[0])],
    "allclose": [lambda a: np.allclose(FEW, a)], "isclose": [lambda a: np.isclose(a, 0.31)],
    "argsort": [lambda a: np.argsort(a, 0)], "searchsorted": [lambda a: np.searchsorted([0.0, 1.0], a)],
    "digitize": [lambda a: np.digitize(a, [0.0, 1.0])], "argpartition": [lambda a: np.argpartition(a, 1)],
    "lexsort": [lambda a: np.lexsort(a)], "nanargmax": [lambda a: np.nanargmax(a)],
    "nanargmin": [lambda a: np.nanargmin(a, 1)], "count_nonzero": [lambda a: np.count_nonzero(a > 0, axis=1)],
    "argwhere": [lambda a: np.argwhere(a > 0)], "flatnonzero": [lambda a: np.flatnonzero(a > 0)],
    "iscomplexobj": [lambda a: np.iscomplexobj(a)], "isrealobj": [lambda a: np.isrealobj(a)],
    "result_type": [lambda a: np.result_type(a, np.complex64)], "can_cast": [lambda a: np.can_cast(FEW.dtype, np.float32)],
    "common_type": [lambda a: np.common_type(a)], "min_scalar_type": [lambda a: np.min_scalar_type(a)],
    "shares_memory": [lambda a: np.shares_memory(a, a[0])], "may_share_memory": [lambda a: np.may_share_memory(a, a * 2)],
    "array2string": [lambda a: np.array2string(a)], "array_repr": [lambda a: np.array_repr(a)],
    "array_str": [lambda a: np.array_str(a)], "isin": [lambda a: np.isin(a, FEW[0])],
    "isposinf": [lambda a: np.isposinf(a)], "isneginf": [lambda a: np.isneginf(a)], "isreal": [lambda a: np.isreal(a)],
    "iscomplex": [lambda a: np.iscomplex(a)], "diag_indices_from": [lambda a: np.diag_indices_from(a[:, :2])],
    "tril_indices_from": [lambda a: np.tril_indices_from(a)], "triu_indices_from": [lambda a: np.triu_indices_from(a, 1)],
    "ix_": [lambda a: np.ix_(a[0] > 0, a[1] > 0)],
    "ravel_multi_index": [lambda a: np.ravel_multi_index((np.argmax(a, 0), np.argmin(a, 0)), (2, 3))],
    "unravel_index": [lambda a: np.unravel_index(np.argmax(a), (2, 3))],
    "einsum_path": [lambda a: np.einsum_path("ij,kj->ik", a, a)[0]],
}  # fmt: skip
