"""torch.types: names for annotations."""

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from ... import Size as Size, Tensor as Tensor, device, dtype

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = device | str | builtins.int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = Any
_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_size, _dtype, _device = Sequence[builtins.int], dtype, device
