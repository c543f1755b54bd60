"""Records programs, each in a trail of its own: python trailed.py FOLDER torch|pullback, with the programs as files in the folder."""

import contextlib
import runpy
import sys
from pathlib import Path

from pullback.compat.torch import install
from pullback.explain import Trail, trail
from pullback.explain.foreign import under_torch

if sys.argv[2] == "pullback":
    install()
for script in sorted(Path(sys.argv[1]).glob("*.py")):
    with contextlib.ExitStack() as stack:
        if sys.argv[2] == "torch":
            found = Trail()
            stack.enter_context(under_torch(found))
        else:
            found = stack.enter_context(trail())
        runpy.run_path(str(script), run_name="__main__")
    found.save(script.with_suffix(f".{sys.argv[2]}.trail"))
