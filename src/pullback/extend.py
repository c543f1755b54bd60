"""For packages that extend pullback: functions that make primitives, by kind, and what such packages need besides.

A primitive made here goes through everything that pullback's own go through: recording, second derivatives, transforms,
compiled programs and the checks. [Your own derivatives](../docs/how-to/custom-rules.md#an-operation-with-a-definition) shows
how to write one, and [adding an operation](../docs/contribute/adding-an-operation.md#kinds) says what a rule may do.
`ArrayFunctions` lists what the `xp` of rules and definitions has, and `pullback.testing.check_operation` tests an operation.

Functions with checks of arguments, random numbers, modes or warnings of their own have `holds`, `sampled`, `restoring` and
`warn`; `concrete` is for those whose results have shapes that depend on values.

>>> import numpy, pullback
>>> from pullback.extend import elementwise
>>> gauss = elementwise("gauss", lambda xp, g, x, y: -2 * g * x * y, forward=lambda x: numpy.exp(-x * x))
>>> x = pullback.tensor(1.0, requires_grad=True)
>>> gauss(x).backward()
>>> x.grad
tensor(-0.7358)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import xp as _xp
from ._core.modes import restoring as restoring
from ._core.namespaces import ArrayFunctions as ArrayFunctions
from ._core.primitives import (
    Primitive as Primitive,
    elementwise as elementwise,
    general as general,
    jointly_linear as jointly_linear,
    linear as linear,
    multilinear as multilinear,
    zero as zero,
)
from ._core.sites import warn as warn
from ._core.values import concrete as concrete, holds as holds
from ._numerics import random as _random
from ._tensor.creation import made as _made

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._core.typing import Array, Generator, Tensor

__all__ = [
    "ArrayFunctions", "Primitive", "concrete", "elementwise", "general", "holds", "jointly_linear", "linear", "multilinear", "restoring",
    "sampled", "warn", "xp", "zero",
]  # fmt: skip

xp = _xp
"""The functions of rules and definitions on NumPy arrays, those of `ArrayFunctions`, as `pullback.ops` has them on tensors."""


def sampled(
    draw: Callable[..., Array], shape: Sequence[int], *parameters: Any, generator: Generator | None = None
) -> Tensor:
    """Random numbers that a function of NumPy's draws, as a tensor: by the package's generator, and as `vmap` wants them.

    Parameters
    ----------
    draw
        `draw(rng, shape, *parameters)`, with a `numpy.random.Generator` and the parameters' arrays.
    shape
        The shape of the result.
    parameters
        Tensors or arrays; the result has no derivative with respect to them.
    generator
        What to draw from in place of the package's own.

    >>> import pullback
    >>> from pullback.extend import sampled
    >>> generator = pullback.manual_seed(0)
    >>> drawn = sampled(lambda rng, shape, p: rng.geometric(p, shape), (3,), pullback.tensor(0.5))
    >>> drawn.shape, bool((drawn >= 1).all())
    (pullback.Size([3]), True)
    """
    return _made(_random.sampled(draw, tuple(shape), *parameters, generator=generator), False)
