"""The `torch` package of processes spawned by one in which pullback replaces torch."""

import sys

from pullback.compat.torch import install

if __name__ == "torch":
    del sys.modules["torch"]
    install()
