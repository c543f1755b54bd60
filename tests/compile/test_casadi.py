"""CasADi's interface of exported functions, as CasADi calls it: values, derivatives, patterns."""

import ctypes

import numpy as np
import pytest

import pullback
from pullback.compile.export.errors import ExportError
from pullback.compile.export.exporting import exported
from pullback.compile.export.unit import Options

from .exporting import GCC, compiled_sources

F64 = pullback.float64


class External:
    """A function of a library as CasADi calls it."""

    def __init__(self, library, name):
        self.library, self.name = library, name

    def ask(self, what, *args, kind=ctypes.c_longlong):
        function = getattr(self.library, f"{self.name}_{what}")
        function.restype = kind
        return function(*[ctypes.c_longlong(arg) for arg in args])

    def names(self, way):
        return [self.ask(f"name_{way}", i, kind=ctypes.c_char_p).decode() for i in range(self.ask(f"n_{way}"))]

    def pattern(self, way, number):
        """The shape of an argument or a result, and the rows and columns of its entries, column after column."""
        told = self.ask(f"sparsity_{way}", number, kind=ctypes.POINTER(ctypes.c_longlong))
        rows, columns, dense = told[0], told[1], told[2]
        if dense:
            return (rows, columns), *np.divmod(np.arange(rows * columns), rows)[::-1]
        starts = told[2 : 2 + columns + 1]
        counts = np.diff(starts)
        return (
            (rows, columns),
            np.array(told[3 + columns : 3 + columns + starts[-1]], int),
            np.repeat(np.arange(columns), counts),
        )

    def __call__(self, *given):
        """Dense results; None is an argument of zeros."""
        sizes = [ctypes.c_longlong() for _ in range(4)]
        getattr(self.library, f"{self.name}_work")(*map(ctypes.byref, sizes))
        assert sizes[0].value >= len(given) == self.ask("n_in")
        arrays = [None if x is None else np.asarray(x, float).reshape(self.pattern("in", i)[0]).T.reshape(-1).copy()
                  for i, x in enumerate(given)]  # fmt: skip
        patterns = [self.pattern("out", i) for i in range(self.ask("n_out"))]
        results = [np.full(len(rows), np.nan) for _, rows, _ in patterns]
        work = np.empty(max(sizes[3].value, 1))
        pointers = [
            (ctypes.c_void_p * len(each))(*[None if x is None else x.ctypes.data for x in each])
            for each in (arrays, results)
        ]
        assert getattr(self.library, self.name)(*pointers, None, ctypes.c_void_p(work.ctypes.data), 0) == 0
        found = []
        for (shape, rows, columns), entries in zip(patterns, results, strict=True):
            found.append(np.zeros(shape))
            found[-1][rows, columns] = entries
        return found


def functions(x, a):
    """A vector and a matrix, of a vector and a matrix."""
    return (a @ x).sin() * x[0], (x[1:] * x[:-1]).outer(x)[:2]


def made(folder, **options):
    """The folder of the library of `functions`, and arguments."""
    if GCC is None:
        pytest.skip("C is compiled by gcc, which is not installed")
    x, a = pullback.tensor([1.0, 2.0, 3.0], dtype=F64), pullback.arange(12, dtype=F64).reshape(4, 3) / 7
    pullback.compile(functions).export(folder, x, a, name="f", abi="casadi", **options)
    compiled_sources(folder, "f", "f_casadi")
    return folder, [x + 0.1, a - 0.3]


def by_columns(jacobian, outer, inner):
    """A Jacobian of tensors as one of vectors of CasADi's: matrices column after column."""
    order = [np.arange(int(np.prod(shape))).reshape(shape).T.reshape(-1) for shape in (outer, inner)]
    return jacobian.reshape(len(order[0]), len(order[1]))[np.ix_(*order)]


@pytest.mark.parametrize("work", ["argument", "static"])
def test_casadis_interface_has_values_and_derivatives(work, tmp_path):
    folder, (x, a) = made(tmp_path, work=work)
    library = ctypes.CDLL(str(folder / "libf.so"))
    values = [y.numpy() for y in functions(x, a)]
    assert [External(library, "f").names(way) for way in ("in", "out")] == [["x", "a"], ["o0", "o1"]]
    for found, y in zip(External(library, "f")(x, a), values, strict=True):
        np.testing.assert_allclose(found.reshape(y.shape), y, rtol=1e-14)
    slopes = pullback.func.jacrev(functions, argnums=(0, 1))(x, a)
    jacobian = External(library, "jac_f")
    assert jacobian.names("out") == ["jac_o0_x", "jac_o0_a", "jac_o1_x", "jac_o1_a"]
    assert [len(jacobian.pattern("out", i)[1]) for i in range(4)] == [12, 12, 14, 0]
    expected = [by_columns(s.numpy(), y.shape, z.shape) for y, row in zip(values, slopes, strict=True)
                for z, s in zip((x, a), row, strict=True)]  # fmt: skip
    for found, dense in zip(jacobian(x, a, None, None), expected, strict=True):
        np.testing.assert_allclose(found, dense, rtol=1e-12, atol=1e-14)
    moved = External(library, "fwd1_f")(x, a, None, None, None, a)
    np.testing.assert_allclose(moved[0][:, 0], pullback.func.jvp(lambda a: functions(x, a)[0], (a,), (a,))[1].numpy())
    np.testing.assert_array_equal(moved[1], 0)
    seeds = [pullback.ones(4, dtype=F64), pullback.arange(6, dtype=F64).reshape(2, 3)]

    def gradient(x, a):
        return pullback.func.vjp(functions, x, a)[1](tuple(seeds))

    for found, slope in zip(External(library, "adj1_f")(x, a, None, None, *seeds), gradient(x, a), strict=True):
        np.testing.assert_allclose(found.reshape(slope.shape), slope.numpy(), rtol=1e-12)
    second = External(library, "jac_adj1_f")
    found = dict(zip(second.names("out"), second(x, a, None, None, *seeds, None, None), strict=True))
    for name, row in zip("xa", pullback.func.jacrev(gradient, argnums=(0, 1))(x, a), strict=True):
        for other, block in zip("xa", row, strict=True):
            shapes = {"x": x.shape, "a": a.shape}
            dense = by_columns(block.numpy(), shapes[name], shapes[other])
            np.testing.assert_allclose(found[f"jac_adj_{name}_{other}"], dense, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found["jac_adj_x_adj_o0"], expected[0].T, rtol=1e-12)
    assert not found["jac_adj_x_out_o0"].any()


@pytest.mark.parametrize("wrong", ["a state", "integers", "a name"])
def test_what_casadi_cannot_have_is_refused(wrong, tmp_path):
    held = pullback.zeros(3, dtype=F64)
    refused = {
        "a state": (lambda x: held.add_(x).sum(), [pullback.ones(3, dtype=F64)], {}),
        "integers": (lambda i: i * 2, [pullback.arange(3)], {}),
        "a name": (lambda x: x * 2, [], {"x": pullback.ones(3, dtype=F64)}),
    }
    f, args, kwargs = refused[wrong]
    with pytest.raises(ExportError, match="for CasADi"):
        pullback.compile(f).export(tmp_path / "out", *args, name="f", abi="casadi", **kwargs)
    assert not (tmp_path / "out").exists()


def test_several_functions_are_no_library_of_casadis(tmp_path):
    x = pullback.ones(3, dtype=F64)
    calls = {name: (pullback.compile(lambda x: x * 2), [x], {}) for name in ("f", "g")}
    with pytest.raises(ExportError, match="for CasADi: it is several functions"):
        exported(tmp_path / "out", calls, Options(abi="casadi"))


def test_weights_are_constants_of_the_library(tmp_path):
    pullback.manual_seed(0)
    model = pullback.nn.Sequential(pullback.nn.Linear(2, 4), pullback.nn.Tanh(), pullback.nn.Linear(4, 1)).double()
    x = pullback.tensor([0.3, -0.2], dtype=F64)
    if GCC is None:
        pytest.skip("C is compiled by gcc, which is not installed")
    pullback.compile(model).export(tmp_path, x, name="f", abi="casadi")
    compiled_sources(tmp_path, "f", "f_casadi")
    library = ctypes.CDLL(str(tmp_path / "libf.so"))
    np.testing.assert_allclose(External(library, "f")(x)[0][0], model(x).detach().numpy(), rtol=1e-14)
    expected = pullback.func.hessian(lambda x: model(x)[0])(x).detach().numpy()
    found = External(library, "jac_adj1_f")(x, None, [1.0], None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
