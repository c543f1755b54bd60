"""explain: a step-by-step account of what `backward(gradient)` did, with all values.

`pullback.explain(y, gradient=v)` explains an existing tensor; `pullback.explain(f, x, gradient=v)` runs a function; and
`with pullback.explain.record() as ex:` records a part of a program with every backward call in it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import compile as _compile  # noqa: F401  # whole before modules in it: see `_core.lazy.imported`
from .arrays import Limits as Limits, Stats as Stats, Summary as Summary
from .asking import explain as explain, last_error as last_error, record as record
from .cancellation import Digits as Digits, Loss as Loss, digits as digits
from .differing import Comparison as Comparison, Difference as Difference, first_difference as first_difference
from .document import schema as schema
from .explanation import Explanation as Explanation
from .recording import Recording as Recording
from .runs import Run as Run, read_run as read_run
from .shares import Example as Example, Examples as Examples, examples as examples
from .trace import (
    Call as Call,
    Finding as Finding,
    Leaf as Leaf,
    Scope as Scope,
    Step as Step,
    Term as Term,
    Traced as Traced,
)
from .trailing import trail as trail
from .trails import Trail as Trail, TrailEntry as TrailEntry, read_trail as read_trail
from .training import Training as Training


class _Explain(ModuleType):
    """The type of this module, which makes it callable: `pullback.explain(...)` is `pullback.explain.explain(...)`."""

    def __call__(self, *args: object, **options: Any) -> Explanation:
        return explain(*args, **options)


sys.modules[__name__].__class__ = _Explain
