"""Custom operations, for packages that extend pullback: functions that make primitives, by kind.

A primitive made here goes through everything that pullback's own go through: recording, second derivatives, transforms,
compiled programs and the checks. [Your own derivatives](../docs/how-to/custom-rules.md#an-operation-with-a-definition) shows
how to write one, and [adding an operation](../docs/contribute/adding-an-operation.md#kinds) says what a rule may do.
`ArrayFunctions` lists what the `xp` of rules and definitions has, and `pullback.testing.check_operation` tests an operation.

>>> import numpy, pullback
>>> from pullback.extend import elementwise
>>> gauss = elementwise("gauss", lambda xp, g, x, y: -2 * g * x * y, forward=lambda x: numpy.exp(-x * x))
>>> x = pullback.tensor(1.0, requires_grad=True)
>>> gauss(x).backward()
>>> x.grad
tensor(-0.7358)
"""

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

__all__ = ["ArrayFunctions", "Primitive", "elementwise", "general", "jointly_linear", "linear", "multilinear", "zero"]
