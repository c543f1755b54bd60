"""Programs: the public interface to what `pullback.compile` records, for compilers, engines and exporters.

A `Program` is a straight line of equations between values, each made once. An `Equation` applies a primitive, one of
`pullback.ops` or of `pullback.extend`, to values; what it computes is the primitive's `forward`. `record` writes down one
call of a function, `run` says what a program means, `check` which are valid; `rewrite` and `simplify` make other programs of
one, and `lower` a function of another library's arrays. Nothing else of the compiler is needed to write down programs in
another form, as `examples/program_graph` does for Graphviz, or to run them elsewhere.

>>> import pullback
>>> from pullback.program import record, run
>>> recording = record(lambda x: (x * x).sum(), pullback.tensor([1.0, 2.0, 3.0]))
>>> print(recording.program)
inputs v0: float32[3]
v1: float32[3] = multiply(v0, v0)
v2: float32[] = sum(v1, axis=(0,), keepdims=False, given=False)
outputs v2
>>> run(recording.program, recording.arrays)
[array(14., dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ._core.primitives import Primitive
from ._core.trees import flatten
from .compile.compiled import Compiled
from .compile.engines.lowerings import LoweringError as LoweringError
from .compile.passes import simplify as simplify
from .compile.passes.building import Builder, Table
from .compile.program import (
    ARRAY as ARRAY,
    DepartedError as DepartedError,
    Equation as Equation,
    InvalidError as InvalidError,
    Program as Program,
    Value as Value,
    bodies as bodies,
    check as check,
    has_effect as has_effect,
    require_program,
    run as run,
)
from .compile.refusals import CaptureError as CaptureError, RefusedError, ShownError

if TYPE_CHECKING:
    from ._core.typing import Array, Number, Params

__all__ = [
    "ARRAY",
    "CaptureError",
    "DepartedError",
    "Equation",
    "InvalidError",
    "LoweringError",
    "Program",
    "RecordedCall",
    "RewriteRule",
    "Rewriter",
    "Value",
    "bodies",
    "check",
    "has_effect",
    "lower",
    "record",
    "rewrite",
    "run",
    "simplify",
]  # fmt: skip


class RecordedCall(NamedTuple):
    """A program of one call of a function, and what it was given: what `record` returns.

    >>> import pullback
    >>> layer = pullback.nn.Linear(2, 1)
    >>> recording = pullback.program.record(layer, pullback.ones(3, 2))
    >>> recording.names
    ('input', 'weight', 'bias')
    """

    program: Program
    names: tuple[str, ...]
    """What the inputs are called where they come from: parameters of the function, members of modules, `lr`."""
    arrays: tuple[Array, ...]
    """The arrays that the inputs had."""


def record(function: Callable[..., Any], *args: object, **kwargs: object) -> RecordedCall:
    """The program of one call of a function.

    Inputs are the tensors among its arguments and those that it reaches by itself, such as parameters and what an optimizer
    holds; the outputs are the tensors that it makes and returns or puts somewhere, and `writes` what it writes. The call
    itself is taken back: nothing has changed after it. Where the results require grad, outputs follow that their backward
    pass will need; compute gradients in the function, or record under `no_grad`.

    Raises
    ------
    CaptureError
        If the function depends on values, as `if x > 0` does, or cannot be recorded for another reason.

    >>> import pullback
    >>> slope = pullback.func.grad(lambda x: (x**3).sum())
    >>> [each.name for each in pullback.program.simplify(pullback.program.record(slope, pullback.ones(2)).program).equations]
    ['multiply', 'multiply']
    """
    if not callable(function):
        raise TypeError(f"record() takes a function and its arguments, not {type(function).__name__}")
    leaves, structure = flatten((args, kwargs))
    try:
        found, reason = Compiled(function, fullgraph=True).recorded(leaves, structure)
    except ShownError as error:
        raise CaptureError(str(error)) from None
    except RefusedError as refusal:
        found, reason = None, str(refusal)
    if found is None:
        raise CaptureError(f"record: the call cannot be kept as a program, because {reason}")
    names = found.names(getattr(function, "forward", function))
    return RecordedCall(found.program, tuple(names), tuple(place.array(leaves) for place in found.places))


class Rewriter(Protocol):
    """What a rule of `rewrite` writes with: the program in the making."""

    def maker(self, value: Value, name: str) -> Equation | None:
        """The equation that makes a value, if it is one of a primitive of that name."""

    def number(self, value: Value) -> Any:
        """The number that all elements of a value are known to be, as a NumPy scalar; else None."""

    def constant(self, array: Array) -> Value:
        """A value that is an array."""

    def scalar(self, number: Number | np.generic, dtype: np.dtype[Any]) -> Value:
        """A value that is a number, without axes."""

    def apply(self, primitive: Primitive, values: tuple[Value, ...], params: Params) -> tuple[Value, ...]:
        """The outputs of a new equation, to which the rules are applied, too."""


RewriteRule = Callable[[Rewriter, Equation], "Value | tuple[Value, ...] | None"]
"""A function of a `Rewriter` and an equation: what takes the place of its outputs; None leaves it as it is."""


def rewrite(program: Program, rules: Mapping[str, RewriteRule | Sequence[RewriteRule]]) -> Program:
    """The program with each equation as the rules for its primitive have it; those of loops' bodies, too.

    Parameters
    ----------
    program
        A valid program, which stays as it is.
    rules
        By the name of a primitive one rule, or several, of which the first that does not return None counts.

    Raises
    ------
    TypeError, ValueError
        If a rule gives something else than values, or values of other shapes or dtypes than those that they replace.

    >>> import pullback
    >>> from pullback.program import record, rewrite
    >>> def doubled(rewriter, equation):  # x + x is 2 * x
    ...     a, b = equation.inputs
    ...     return rewriter.apply(pullback.ops.multiply, (a, rewriter.scalar(2, a.dtype)), {}) if a is b else None
    >>> print(rewrite(record(lambda x: x + x, pullback.ones(2)).program, {"add": doubled}))
    inputs v0: float32[2]
    v1: float32[] = 2.0
    v2: float32[2] = multiply(v0, v1)
    outputs v2
    """
    require_program("rewrite", program)
    table: Table = {name: tuple(map(_fitting, (rule,) if callable(rule) else rule)) for name, rule in rules.items()}
    builder = Builder(program, table, strict=False, fold=False, share=False, inner=lambda body: rewrite(body, rules))
    return builder.rewrite()


def _fitting(rule: RewriteRule) -> RewriteRule:
    """A rule whose result is compared with what it takes the place of."""

    def compared(rewriter: Rewriter, equation: Equation) -> Value | tuple[Value, ...] | None:
        found = rule(rewriter, equation)
        if found is None:
            return None
        made = found if isinstance(found, tuple) else (found,)
        for each in made:
            if not isinstance(each, Value):
                raise TypeError(
                    f"rewrite: the rule for {equation.name} gave {type(each).__name__}: a rule returns a Value, a tuple of "
                    "them, or None; rewriter.scalar and rewriter.constant make values of numbers and arrays"
                )
        if [(each.shape, each.dtype) for each in made] != [(each.shape, each.dtype) for each in equation.outputs]:
            raise ValueError(
                f"rewrite: the rule for {equation.name} gave {list(made)} in the place of {list(equation.outputs)}: return "
                "values of the same shapes and dtypes, or None to leave the equation as it is"
            )
        return found

    return compared


def lower(program: Program, library: object) -> Callable[..., list[Any]]:
    """A function of another library's arrays that computes a program: its outputs, then what is to be written, as `run` gives them.

    Parameters
    ----------
    program
        A program; simplified ones, see `simplify`, need fewer functions of the library.
    library
        "jax", "torch", "cupy", "dask", or a namespace of the array API standard, as for `compile(f).on`.

    Raises
    ------
    LoweringError
        If the library has no function for one of the equations.

    >>> import numpy, pullback
    >>> from pullback.program import lower, record
    >>> function = lower(record(lambda x: x.exp().sum(), pullback.zeros(3)).program, numpy)
    >>> [float(each) for each in function(numpy.zeros(3, "float32"))]
    [3.0]
    """
    require_program("lower", program)
    lowered: Callable[..., list[Any]] = import_module("pullback.compile.engines.running").lower(program, library)
    return lowered
