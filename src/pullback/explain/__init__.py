"""explain: a step-by-step account of what `backward(gradient)` did, with all values.

`pullback.explain(y, gradient=v)` explains an existing tensor; `pullback.explain(f, x, gradient=v)` runs a function; and
`with pullback.explain.record() as ex:` records a part of a program with every backward call in it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .arrays import Limits as Limits
from .arrays import Stats as Stats
from .arrays import Summary as Summary
from .asking import explain as explain
from .asking import last_error as last_error
from .asking import record as record
from .document import schema as schema
from .explanation import Explanation as Explanation
from .recording import Recording as Recording
from .trace import Call as Call
from .trace import Finding as Finding
from .trace import Leaf as Leaf
from .trace import Scope as Scope
from .trace import Step as Step
from .trace import Term as Term
from .trace import Traced as Traced


class _Explain(ModuleType):
    """The type of this module, which makes it callable: `pullback.explain(...)` is `pullback.explain.explain(...)`."""

    def __call__(self, *args: Any, **options: Any) -> Explanation:
        return explain(*args, **options)


sys.modules[__name__].__class__ = _Explain
