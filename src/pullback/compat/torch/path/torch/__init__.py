"""What `import torch` finds in a process that was started by one in which pullback stands in for torch."""

import sys

from pullback.compat.torch import install

if __name__ == "torch":
    del sys.modules["torch"]
    install()
