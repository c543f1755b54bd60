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


class sizes:
    """torch.nn.common_types: a number for all axes, or one for each."""

    _size_any_t = _size_1_t = _size_2_t = _size_3_t = _size_4_t = _size_5_t = _size_6_t = (
        builtins.int | tuple[builtins.int, ...]
    )
    _size_any_opt_t = _size_2_opt_t = _size_3_opt_t = builtins.int | None | tuple[builtins.int | None, ...]
    _ratio_any_t = _ratio_2_t = _ratio_3_t = builtins.float | tuple[builtins.float, ...]
    _tensor_list_t = Tensor | list[Tensor]
    _maybe_indices_t = Tensor | tuple[Tensor, Tensor]


_size, _dtype, _device = Sequence[builtins.int], dtype, device
