"""pullback: PyTorch's autograd for NumPy programs.

Tensors record what is done to them; `backward(gradient)` pulls a vector back through that record.
"""

from __future__ import annotations

from . import autograd as autograd
from . import nn as nn
from ._creation import arange as arange
from ._creation import as_tensor as as_tensor
from ._creation import asarray as asarray
from ._creation import empty as empty
from ._creation import empty_like as empty_like
from ._creation import eye as eye
from ._creation import from_numpy as from_numpy
from ._creation import full as full
from ._creation import full_like as full_like
from ._creation import linspace as linspace
from ._creation import manual_seed as manual_seed
from ._creation import ones as ones
from ._creation import ones_like as ones_like
from ._creation import rand as rand
from ._creation import rand_like as rand_like
from ._creation import randint as randint
from ._creation import randint_like as randint_like
from ._creation import randn as randn
from ._creation import randn_like as randn_like
from ._creation import tensor as tensor
from ._creation import zeros as zeros
from ._creation import zeros_like as zeros_like

__version__ = "0.1.0"
