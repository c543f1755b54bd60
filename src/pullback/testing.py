"""Functions to test derivatives, and operations of one's own."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._core.modes import quiet
from ._core.namespaces import ARRAYS
from ._core.primitives import Primitive
from ._core.recompiling import RecompiledError as RecompiledError, no_recompiles as no_recompiles
from ._tape.backward import grad
from ._tensor.creation import from_numpy
from .autograd.checks import GradcheckError as GradcheckError, gradcheck as gradcheck, gradgradcheck as gradgradcheck
from .func.mapping import vmap

if TYPE_CHECKING:
    from ._core.typing import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
EXACT, CLOSE = {"float64": 1e-12, "float32": 1e-5}, {"float64": 1e-9, "float32": 1e-4}
"""The relative difference up to which results are the same: of one function in two orders, and of two functions."""


class OperationError(AssertionError):
    """Raised for an operation that is not what it was said to be."""


class _Sample(NamedTuple):
    """An operation with the arguments of one call."""

    operation: Primitive
    arrays: tuple[Array, ...]
    params: dict[str, Any]

    def __call__(self, *arrays: Array | Tensor) -> tuple[Any, ...]:
        """The results for arrays or tensors: those of the sample, or others."""
        made = self.operation(*(arrays or [each.copy() for each in self.arrays]), **self.params)
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)

    def in_dtype(self, dtype: str) -> _Sample:
        """The same call with floating arrays of another dtype."""
        return self._replace(arrays=tuple([x.astype(dtype) if x.dtype.kind == "f" else x for x in self.arrays]))

    def refuse(self, what: str) -> None:
        """Raise the error that something does not hold."""
        shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in self.arrays)
        options = "".join(f", {key}={value!r}" for key, value in self.params.items())
        raise OperationError(f"{self.operation.short_name}({shapes}{options}): {what}")

    def compare(
        self, found: Sequence[Array | Tensor], wanted: Sequence[Array | Tensor], what: str, sizes: dict[str, float]
    ) -> None:
        """Raise if arrays differ."""
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            a, b = np.asarray(one), np.asarray(other)
            of = f" {place}" if len(wanted) > 1 else ""
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                self.refuse(f"{what}: result{of} is {a.dtype}{list(a.shape)} against {b.dtype}{list(b.shape)}")
            if b.dtype.kind not in "fc":
                near: Array = a == b
            else:
                near = np.isclose(a, b, sizes.get(str(b.dtype), 1e-3), sizes.get(str(b.dtype), 1e-3), equal_nan=True)
            if not near.all():
                index = tuple(map(int, np.argwhere(~near)[0])) if b.ndim else ()
                at = f" at {list(index)}" if index else ""
                self.refuse(f"{what}: result{of} is {a[index]!s}{at} against {b[index]!s}")


def check_operation(operation: Primitive, *inputs: Array | Tensor, **parameters: Any) -> bool:
    """True if an operation that `pullback.extend` made is what it was said to be, by what it does with these arguments.

    Call it in the tests of your package, for each case with a definition or a formula of its own. It compares the definition
    with `forward`, with the program that compiled functions make of it, and with itself in float32, in other layouts of
    memory, on batches, for one element and for none; looks whether the operation is elementwise or linear as its kind says,
    and whether `commutes=True` holds; and compares its rules with finite differences, twice, in both directions.

    Floating arrays are taken in double precision. The numbers should be away from kinks and ties of the operation.

    Raises
    ------
    OperationError
        If something differs, with the first place where it does.
    GradcheckError
        If a derivative does not agree with finite differences.

    >>> import pullback
    >>> cube = pullback.extend.elementwise(
    ...     "cube", lambda xp, g, x: 3 * g * x * x, forward=lambda x: x**3, definition=lambda xp, x: x * x)
    >>> pullback.testing.check_operation(cube, [0.5, 2.0])
    Traceback (most recent call last):
        ...
    pullback.testing.OperationError: cube(float64[2]): the definition and forward differ: result is 0.25 at [0] against 0.125
    """
    if not isinstance(operation, Primitive):
        raise TypeError(
            f"check_operation: {operation!r} is not an operation: it takes what a function of pullback.extend returned"
        )
    arrays = tuple([np.array(each.detach() if hasattr(each, "detach") else each) for each in inputs])
    sample = _Sample(operation, arrays, parameters).in_dtype("float64")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "compile: ", UserWarning)
        sample()  # an error of the call itself is the caller's
        for check in (*_OF_VALUES, *(_OF_DERIVATIVES if operation.differentiable else ())):
            try:
                check(sample)
            except (OperationError, GradcheckError):
                raise
            except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
                sample.refuse(f"it raised {type(error).__name__} ({error}), where this was checked: {check.__doc__}")
    return True


def _check_calls(sample: _Sample) -> None:
    """Arguments stay as they are, and a second call gives the same."""
    given = [each.copy() for each in sample.arrays]
    first = sample(*given)
    for name, x, before in zip(_names(sample), given, sample.arrays, strict=True):
        if x.tobytes() != before.tobytes():
            sample.refuse(f"it wrote to its argument {name!r}: copy an array before you write to it")
    sample.compare(sample(), first, "a second call differs", EXACT)


def _names(sample: _Sample) -> list[str]:
    names = list(sample.operation.inputs)
    return names + names[-1:] * (len(sample.arrays) - len(names))


def _check_definition(sample: _Sample) -> None:
    """The definition agrees with forward, and can be read as a program."""
    definition = sample.operation.definition
    if definition is None:
        return
    for dtype in ("float64", "float32"):
        same = sample.in_dtype(dtype)
        found = quiet.run(definition, ARRAYS, *[x.copy() for x in same.arrays], **sample.params)
        if found is NotImplemented:
            return
        results = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        wanted = same()
        if len(results) != len(wanted):
            sample.refuse(f"the definition returned {len(results)} results, and forward {len(wanted)}")
        sample.compare(results, wanted, "the definition and forward differ", CLOSE)
    _require_readable(sample)


def _require_readable(sample: _Sample) -> None:
    """Raise if a definition cannot be read as a program."""
    definitions = importlib.import_module("pullback.compile.definitions")  # imported only on use
    program = importlib.import_module("pullback.compile.program")
    build, results = definitions.EquationList(), sample()
    values = tuple([program.Value(x.shape, x.dtype) for x in sample.arrays])
    outputs = tuple([program.Value(np.shape(x), np.asarray(x).dtype) for x in results])
    if definitions.read(build, program.Equation(sample.operation, values, sample.params, outputs)) is None:
        why = f": {build.unread[0][1]}" if build.unread else ""
        sample.refuse(
            "its definition cannot be read as a program, so that it does not fuse in compiled functions and has no lowering for "
            f"other libraries{why}"
        )


def _check_program(sample: _Sample) -> None:
    """Compiled functions give the same."""
    compiled = importlib.import_module("pullback.compile.compiled").compile(sample.__call__)
    for dtype in ("float64", "float32"):
        same = sample.in_dtype(dtype)
        found = compiled(*map(from_numpy, [x.copy() for x in same.arrays]))
        sample.compare([each.numpy() for each in found], same(), "a compiled function differs", CLOSE)


def _check_layouts(sample: _Sample) -> None:
    """The layout of arguments in memory makes no difference; nor does one element, or none, to an elementwise operation."""
    wanted = sample()
    backwards: list[Array] = [np.flip(np.flip(x).copy()) for x in sample.arrays]
    columns = [np.asfortranarray(x) for x in sample.arrays]
    sparse = [np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x for x in sample.arrays]
    for arrays, name in ((backwards, "backwards"), (columns, "by columns"), (sparse, "with gaps")):
        sample.compare(sample(*arrays), wanted, f"arguments that lie {name} in memory make a difference", EXACT)
    if sample.operation.kind != "elementwise":
        return
    whole = np.broadcast_arrays(*sample.arrays)
    for index in ((0,) * whole[0].ndim, (-1,) * whole[0].ndim) if whole[0].size else ():
        alone = sample(*[np.array(x[index]) for x in whole])
        sample.compare(alone, [np.asarray(y)[index] for y in wanted], "alone, an element differs", EXACT)
    for result, before in zip(sample(*[np.zeros((0, 2), x.dtype) for x in whole]), wanted, strict=True):
        if (np.shape(result), result.dtype) != ((0, 2), before.dtype):
            sample.refuse(
                f"of no elements it makes {result.dtype}{list(np.shape(result))}, and not {before.dtype}[0, 2]"
            )


def _check_kind(sample: _Sample) -> None:
    """Elementwise and linear operations are so."""
    kind, wanted = sample.operation.kind, sample()
    if kind == "elementwise":
        expected = np.broadcast_shapes(*[x.shape for x in sample.arrays])
        if np.shape(wanted[0]) != expected:
            sample.refuse(f"it is elementwise, and returned {list(np.shape(wanted[0]))} for the shape {list(expected)}")
        turned = [np.flip(x).copy() for x in np.broadcast_arrays(*sample.arrays)]
        sample.compare(
            [np.flip(y) for y in sample(*turned)], wanted, "it is elementwise, and an element depends on others", EXACT
        )
    floating = [i for i, x in enumerate(sample.arrays) if x.dtype.kind == "f"]
    together = {"linear": floating[:1], "jointly linear": floating}.get(kind, [])
    for places in [[i] for i in floating] if kind == "multilinear" else [together] if together else []:
        doubled = [x * -3 if i in places else x for i, x in enumerate(sample.arrays)]
        moved = [
            x + np.cos(np.arange(x.size)).reshape(x.shape) if i in places else x for i, x in enumerate(sample.arrays)
        ]
        steps = [b - a if i in places else a for i, (a, b) in enumerate(zip(sample.arrays, moved, strict=True))]
        names = ", ".join(_names(sample)[i] for i in places)
        what = f"it is {kind}, and not linear in {names}"
        sample.compare(sample(*doubled), [-3 * y for y in wanted], what, CLOSE)
        sample.compare(sample(*moved), [a + b for a, b in zip(sample(*steps), wanted, strict=True)], what, CLOSE)


def _check_exchanged(sample: _Sample) -> None:
    """`commutes=True` holds to the last bit."""
    if sample.operation.commutes:
        a, b = sample.arrays
        for one, other in zip(sample(b, a), sample(), strict=True):
            if not np.array_equal(one, other, equal_nan=True):
                sample.refuse("it was made with commutes=True, and differs if its operands are exchanged")


def _check_batches(sample: _Sample) -> None:
    """`vmap` gives what the examples give one by one."""
    factors = (1.0, 0.75, 1.25)
    each = [[x * f if x.dtype.kind == "f" else x for x in sample.arrays] for f in factors]
    batch = [from_numpy(np.stack(column)) for column in zip(*each, strict=True)]
    found = vmap(sample.__call__)(*batch)
    for place in range(len(factors)):
        sample.compare(
            [y.numpy()[place] for y in found], sample(*each[place]), f"in a batch, example {place} differs", CLOSE
        )


def _tracked(sample: _Sample) -> list[Tensor]:
    return [from_numpy(x.copy()).requires_grad_(x.dtype.kind == "f") for x in sample.arrays]


def _cotangents(results: Sequence[Tensor], phase: int) -> list[Tensor]:
    waves = [np.cos(np.arange(y.numel()) + phase).reshape(tuple(y.shape)) for y in results]
    return [from_numpy(wave.astype(y._dtype)) for wave, y in zip(waves, results, strict=True)]


def _check_rules(sample: _Sample) -> None:
    """Rules are linear in the cotangent, and gradients have the dtype of their inputs."""
    for dtype in ("float64", "float32"):
        same = sample.in_dtype(dtype)
        leaves = _tracked(same)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        outputs = [y for y in same(*leaves) if y.requires_grad]
        g, h = _cotangents(outputs, 0), _cotangents(outputs, 1)
        one, two, both = (
            [x.numpy() for x in grad(outputs, wanted, cotangents, retain_graph=True, materialize_grads=True)]
            for cotangents in (g, h, [a + 3 * b for a, b in zip(g, h, strict=True)])
        )
        for leaf, gradient in zip(wanted, one, strict=True):
            if gradient.dtype != leaf._dtype:
                sample.refuse(f"a gradient is {gradient.dtype} for an argument in {leaf._dtype}")
        sums = [a + 3 * b for a, b in zip(one, two, strict=True)]
        sample.compare(both, sums, "a rule is not linear in the cotangent g", CLOSE)


def _check_differences(sample: _Sample) -> None:
    """First and second derivatives agree with finite differences, in both directions and in batches."""
    operation, params = sample.operation, sample.params
    leaves = tuple(_tracked(sample))

    def function(*tensors: Tensor) -> Any:
        return operation(*tensors, **params)

    gradcheck(function, leaves, check_forward_ad=True, check_batched_grad=True)
    gradgradcheck(function, leaves)


Check = Callable[[_Sample], None]
_OF_VALUES: tuple[Check, ...] = (
    _check_calls, _check_definition, _check_kind, _check_layouts, _check_exchanged, _check_program, _check_batches,
)  # fmt: skip
_OF_DERIVATIVES: tuple[Check, ...] = (_check_rules, _check_differences)
