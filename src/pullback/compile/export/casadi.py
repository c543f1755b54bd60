"""CasADi's interface: a function and its derivatives as `casadi.external` finds them, sparse where they are.

Each is a function of C whose result is one array. What CasADi is given are the elements of that array that it counts as
nonzero, in its order: column after column.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import Tensor, cat, float64, ones, zeros
from ...autograd import grad
from ...func import jvp
from ...sparsity import sparse_hessian, sparse_jacobian
from ...utils.trees import flatten
from ..compiled import Compiled
from ..program import Array
from .bound import Bound, bound, identifier
from .errors import ExportError
from .files import WrittenFunction
from .surroundings import Exported

Shape = tuple[int, int]


class Port(NamedTuple):
    """An argument or a result as CasADi sees it.

    `places` are where the nonzero entries are in the array of ours, which begins at `start`; None where the orders are the same.
    """

    name: str
    shape: Shape
    start: int = 0
    rows: Array | None = None
    columns: Array | None = None
    places: Array | None = None

    @property
    def entries(self) -> int:
        """The number of entries that can be nonzero."""
        return self.shape[0] * self.shape[1] if self.rows is None else len(self.rows)

    def sparsity(self) -> list[int]:
        """CasADi's description of the pattern."""
        if self.rows is None or self.columns is None:
            return [*self.shape, 1]
        starts = np.searchsorted(self.columns, np.arange(self.shape[1] + 1))
        return [*self.shape, *starts.tolist(), *self.rows.tolist()]


class External(NamedTuple):
    """A function of CasADi's: what computes it, and what it takes and gives."""

    name: str
    bound: Bound
    inputs: list[Port]
    outputs: list[Port]


def externals(compiled: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> list[External]:
    """A function, its directional derivatives forwards and backwards, its Jacobian, and the Jacobian of the gradient."""
    if kwargs or not all(isinstance(x, Tensor) and x.dtype.numpy == np.float64 for x in args):
        raise ExportError(
            f"{name} cannot be exported for CasADi, which has only doubles: give it tensors of float64, by position"
        )
    return _Derivatives(compiled.function, name, args).made()


class _Derivatives:
    """The functions that are made of one."""

    def __init__(self, function: Callable[..., Any], name: str, args: Sequence[Tensor]) -> None:
        self.function, self.name = function, name
        self.args = [x.detach().clone() for x in args]  # one tensor given twice is two arguments
        self.shapes: list[tuple[int, ...]] = []
        self.patterns: list[tuple[str, Shape, tuple[Array, Array]]] = []
        self.taken: set[str] = set()
        self.names = [identifier(each, self.taken) for each in _arguments(function, len(args))]

    def made(self) -> list[External]:
        """All of them."""
        given = [_dense(name, x.shape) for name, x in zip(self.names, self.args, strict=True)]
        value = self._bound("value", self.value, [])
        self.results = [f"o{number}" for number in range(len(self.shapes))]
        results = self._joined([(name, shape) for name, shape in zip(self.results, self.shapes, strict=True)])
        empty = [_empty(f"out_{port.name}", port.shape) for port in results]
        directions = [ones(x.shape, dtype=float64) for x in self.args]
        weights = [ones(shape, dtype=float64) for shape in self.shapes]
        tangents = [port._replace(name=f"fwd_{port.name}") for port in given]
        seeds = [port._replace(name=f"adj_{port.name}", start=0) for port in results]
        slopes = self._joined([(f"adj_{name}", x.shape) for name, x in zip(self.names, self.args, strict=True)])
        name, takes = self.name, [*given, *empty]
        forward = [port._replace(name=f"fwd_{port.name}") for port in results]
        found = [
            External(name, value, given, results),
            External(f"fwd1_{name}", self._bound("forward", self.forward, directions), [*takes, *tangents], forward),
            External(f"adj1_{name}", self._bound("adjoint", self.adjoint, weights), [*takes, *seeds], slopes),
        ]
        jacobian = self._bound("jacobian", self.jacobian, [])
        found.append(External(f"jac_{name}", jacobian, takes, self._sparse()))
        hessian = self._bound("hessian", self.hessian, weights)
        more = [_empty(f"out_{port.name}", port.shape) for port in slopes]
        found.append(External(f"jac_adj1_{name}", hessian, [*takes, *seeds, *more], self._sparse(empty)))
        return found

    def _bound(self, what: str, function: Callable[..., Tensor], more: Sequence[Tensor]) -> Bound:
        self.patterns.clear()
        made = bound(Compiled(function), f"{self.name}_{what}", [*self.args, *more], {})
        if made.program.writes or any(slot.place is None and not slot.state for slot in made.inputs):
            raise ExportError(
                f"{self.name} cannot be exported for CasADi: it writes tensors, and CasADi keeps no state"
            )
        return made.embedded()

    def _joined(self, shapes: Sequence[tuple[str, tuple[int, ...]]]) -> list[Port]:
        """Results that lie one after the other."""
        ports, start = [], 0
        for name, shape in shapes:
            ports.append(_dense(name, shape, start))
            start += int(np.prod(shape))
        return ports

    def _sparse(self, empty: Sequence[Port] = ()) -> list[Port]:
        """The blocks that were recorded, in CasADi's order."""
        ports, start = [], 0
        for name, shape, (rows, columns) in self.patterns:
            order = np.lexsort((rows, columns))
            ports.append(Port(name, shape, start, rows[order], columns[order], order))
            start += len(rows)
        return ports

    # The functions

    def _results(self, xs: Sequence[Tensor]) -> list[Tensor]:
        leaves, _ = flatten(self.function(*xs))
        self.shapes = [tuple(y.shape) for y in leaves]
        return [*leaves]

    def value(self, *xs: Tensor) -> Tensor:
        """The results, one after the other."""
        return _cat(self._results(xs))

    def forward(self, *given: Tensor) -> Tensor:
        """The derivatives of the results in a direction."""
        xs, directions = given[: len(self.args)], given[len(self.args) :]
        _, moved = jvp(lambda *xs: tuple(self._results(xs)), xs, directions)
        return _cat([*moved])

    def adjoint(self, *given: Tensor) -> Tensor:
        """The gradients of the results' sum with weights."""
        xs, total = self._weighted(given)
        return _cat([*grad(total, xs, allow_unused=True, materialize_grads=True)])

    def _weighted(self, given: Sequence[Tensor], *, seeds: Sequence[Tensor] = ()) -> tuple[list[Tensor], Tensor]:
        xs = [_leaf(x) for x in given[: len(self.args)]]
        weights = seeds or given[len(self.args) :]
        terms = [(y * weight).sum() for y, weight in zip(self._results(xs), weights, strict=True)]
        return xs, sum(terms[1:], terms[0])

    def jacobian(self, *given: Tensor) -> Tensor:
        """The entries of the Jacobian."""
        xs = [_leaf(x) for x in given]
        found = []
        for y, of in zip(self._results(xs), self.results, strict=True):
            for x, by in zip(xs, self.names, strict=True):
                matrix = sparse_jacobian(y, x, allow_unused=True)
                found.append(self._block(f"jac_{of}_{by}", y.shape, x.shape, matrix))
        return _cat(found)

    def hessian(self, *given: Tensor) -> Tensor:
        """The entries of the Jacobian of the gradients: by the arguments, by results that are not read, and by weights."""
        seeds = [_leaf(weight) for weight in given[len(self.args) :]]
        xs, total = self._weighted(given, seeds=seeds)
        found = []
        slopes = grad(total, xs, create_graph=True, allow_unused=True, materialize_grads=True)
        for i, (slope, of) in enumerate(zip(slopes, self.names, strict=True)):
            for j, (x, by) in enumerate(zip(xs, self.names, strict=True)):
                if i == j:
                    matrix = sparse_hessian(total, x, allow_unused=True)
                else:
                    matrix = sparse_jacobian(slope, x, allow_unused=True)
                found.append(self._block(f"jac_adj_{of}_{by}", slope.shape, x.shape, matrix))
            for seed, by in zip(seeds, self.results, strict=True):
                self.patterns.append((f"jac_adj_{of}_out_{by}", (slope.numel(), seed.numel()), _NONE))
            for seed, by in zip(seeds, self.results, strict=True):
                matrix = sparse_jacobian(slope, seed, allow_unused=True)
                found.append(self._block(f"jac_adj_{of}_adj_{by}", slope.shape, seed.shape, matrix))
        return _cat(found)

    def _block(self, name: str, outer: tuple[int, ...], inner: tuple[int, ...], matrix: Any) -> Tensor:
        """The entries of a block, whose pattern is noted as CasADi counts."""
        places = _by_columns(outer)[matrix.rows], _by_columns(inner)[matrix.cols]
        self.patterns.append((name, (int(np.prod(outer)), int(np.prod(inner))), places))
        entries: Tensor = matrix.entries
        return entries


_NONE = np.zeros(0, int), np.zeros(0, int)


def _arguments(function: Callable[..., Any], count: int) -> list[str]:
    """What the arguments are called."""
    try:
        known = [
            each.name for each in inspect.signature(function).parameters.values() if each.kind < each.VAR_POSITIONAL
        ]
    except (TypeError, ValueError):
        known = []
    return [*known, *[f"i{number}" for number in range(len(known), count)]][:count]


def _leaf(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def _cat(parts: list[Tensor]) -> Tensor:
    filled = [part.reshape(-1) for part in parts if part.numel()]
    return cat(filled) if filled else zeros(1, dtype=float64)


def _matrix(shape: tuple[int, ...]) -> Shape:
    """The shape of a tensor as a matrix of CasADi's; those of more than two axes are columns."""
    return (shape[0], shape[1]) if len(shape) == 2 else (int(np.prod(shape)), 1)


def _by_columns(shape: tuple[int, ...]) -> Array:
    """The number that CasADi gives each element of a tensor, in C's order."""
    rows, columns = _matrix(shape)
    return np.arange(rows * columns).reshape(columns, rows).T.reshape(-1)


def _dense(name: str, shape: tuple[int, ...], start: int = 0) -> Port:
    matrix = _matrix(shape)
    places = None if 1 in matrix else np.arange(matrix[0] * matrix[1]).reshape(matrix).T.reshape(-1)
    return Port(name, matrix, start, places=places)


def _empty(name: str, shape: Shape) -> Port:
    return Port(name, shape, 0, *_NONE)


HEAD = """/* @NAME@ for CasADi: `make lib@NAME@.so`, then `casadi.external("@NAME@", "./lib@NAME@.so")`. */
#include "@NAME@.h"

#include <stddef.h>

#if defined(_WIN32)
#define PB_SHOWN __declspec(dllexport)
#elif defined(__GNUC__)
#define PB_SHOWN __attribute__((visibility("default")))
#else
#define PB_SHOWN
#endif

typedef long long int casadi_int;

/* The elements of an array of ours, from the entries that CasADi gives; without them it is 0. */
static const double *pb_taken(const double *given, double *room, int count, const int *places)
{
    if (given && !places) return given;
    for (int i = 0; i < count; ++i) room[places ? places[i] : i] = given ? given[i] : 0;
    return room;
}

/* The entries that CasADi wants, from an array of ours. */
static void pb_given(double *wanted, const double *found, int count, const int *places)
{
    if (!wanted) return;
    for (int i = 0; i < count; ++i) wanted[i] = found[places ? places[i] : i];
}
"""


def source(exported: Exported, functions: Sequence[External]) -> str:
    """The C file of CasADi's interface."""
    parts = [HEAD.replace("@NAME@", exported.name)]
    static = exported.options.static
    parts += [
        _Interface(each, written, static).text() for each, written in zip(functions, exported.functions, strict=True)
    ]
    return "\n".join(parts)


class _Interface:
    """The C functions that CasADi asks about one function."""

    def __init__(self, external: External, written: WrittenFunction, static: bool) -> None:
        self.external, self.written, self.static = external, written, static
        self.tables: list[str] = []

    def text(self) -> str:
        """All of them."""
        body, size = self._call()
        name, inputs, outputs = self.external.name, self.external.inputs, self.external.outputs
        shown = [
            f"PB_SHOWN casadi_int {name}_n_in(void);", f"PB_SHOWN casadi_int {name}_n_in(void) {{ return {len(inputs)}; }}",
            f"PB_SHOWN casadi_int {name}_n_out(void);", f"PB_SHOWN casadi_int {name}_n_out(void) {{ return {len(outputs)}; }}",
        ]  # fmt: skip
        for kind, ports in (("in", inputs), ("out", outputs)):
            names = ", ".join(f'"{port.name}"' for port in ports)
            patterns = [self._table("casadi_int", port.sparsity()) for port in ports]
            for type_, title, values in (
                ("const char *", f"{name}_name_{kind}", names),
                ("const casadi_int *", f"{name}_sparsity_{kind}", ", ".join(patterns)),
            ):
                shown += [
                    f"PB_SHOWN {type_}{title}(casadi_int i);",
                    f"PB_SHOWN {type_}{title}(casadi_int i)\n{{",
                    f"    static {type_}const all[] = {{{values}}};",
                    f"    return i >= 0 && i < {len(ports)} ? all[i] : NULL;\n}}",
                ]
        sizes = "casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w"
        shown += [
            f"PB_SHOWN int {name}_work({sizes});", f"PB_SHOWN int {name}_work({sizes})\n{{",
            f"    if (sz_arg) *sz_arg = {len(inputs)};\n    if (sz_res) *sz_res = {len(outputs)};",
            f"    if (sz_iw) *sz_iw = 0;\n    if (sz_w) *sz_w = {size};\n    return 0;\n}}",
        ]  # fmt: skip
        return "\n".join([*self.tables, *body, *shown, ""])

    def _table(self, kind: str, numbers: Sequence[int]) -> str:
        title = f"{self.external.name}_table{len(self.tables)}"
        lines = [", ".join(map(str, numbers[at : at + 16])) for at in range(0, len(numbers), 16)]
        self.tables.append(f"static const {kind} {title}[{len(numbers)}] = {{\n    " + ",\n    ".join(lines) + "\n};")
        return title

    def _places(self, port: Port) -> str:
        same = port.places is None or np.array_equal(port.places, np.arange(len(port.places)))
        return "NULL" if same or port.places is None else self._table("int", port.places.tolist())

    def _call(self) -> tuple[list[str], int]:
        """The function itself, and how many doubles of work memory it takes."""
        external, bound = self.external, self.external.bound
        name, size, given = external.name, 0, []
        for slot in bound.arguments:
            port = external.inputs[_number(slot.place, external)]
            given.append(
                f"pb_taken(arg[{_number(slot.place, external)}], w + {size}, {port.entries}, {self._places(port)})"
            )
            size += port.entries
        lines = []
        for slot in bound.outputs:
            given.append(f"w + {size}")
            lines += [
                f"    pb_given(res[{number}], w + {size + port.start}, {port.entries}, {self._places(port)});"
                for number, port in enumerate(external.outputs)
                if port.entries
            ]
            size += max(slot.value.size, 1)
        if self.written.rooms and not self.static:
            given.append(f"({self.written.name}_work *)(void *)(w + {size})")
            size += -(-self.written.work // 8) + len(self.written.rooms)
        head = f"int {name}(const double **arg, double **res, casadi_int *iw, double *w, int mem)"
        call = f"{self.written.name}(\n        {(',' + chr(10) + '        ').join(given)}\n    )"
        return [
            f"PB_SHOWN {head};", f"PB_SHOWN {head}", "{", f"    const int check = {call};", "    (void)iw;", "    (void)mem;",
            "    (void)arg;", "    if (check) return check;", *lines, "    return 0;", "}",
        ], size  # fmt: skip


def _number(place: int | None, external: External) -> int:
    """The input of CasADi's that an argument is: results that are not read come between."""
    assert place is not None
    read = [number for number, port in enumerate(external.inputs) if port.rows is None]
    return read[place]
