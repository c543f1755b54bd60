"""Where and how elements lie: torch's device, layout and memory formats, of which there is one each here.

Programs written for torch name them in many calls. What they name is accepted where it comes to what NumPy does
anyway, and refused where it does not: a tensor never lies elsewhere than its program believes.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, final

from .dtypes import qualified
from .modes import FieldBlock, mode
from .package import package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .typing import Device, Tensor


TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "hip", "ve", "fpga", "maia", "xla", "mps", "meta", "hpu", "mtia")
"""The kinds of devices that torch has names for."""


_entered: ContextVar[tuple[FieldBlock, ...]] = ContextVar("pullback.meta", default=())  # blocks of the device meta


@final
class device(str):
    """Where elements are: `device("cpu")`. It is a string, and has torch's `type` and `index`.

    Programs may name torch's other devices; a tensor that is to lie there is refused with a RuntimeError. As a block,
    `with device("cpu"):`, it says where new tensors are.

    Parameters
    ----------
    type
        'cpu', or 'cpu:0'.
    index
        0 or None: there is one.

    Raises
    ------
    RuntimeError
        If torch has no such kind of device.

    As a block, `with device("meta")`, it is the device that tensors made in the block tell, as do those of `to("meta")`; they have
    memory and numbers all the same, and what is computed from them later is on the CPU.

    >>> import pullback
    >>> pullback.device("cpu"), pullback.ones(2).device == "cpu"
    (device(type='cpu'), True)
    """

    __slots__ = ("type", "index")
    __module__ = "pullback"

    type: str
    index: int | None  # type: ignore[assignment]  # hides a string's method, as torch's name does

    def __new__(cls, type: Device = "cpu", index: int | None = None) -> Self:
        name, _, number = f"cuda:{type}".partition(":") if isinstance(type, int) else str(type).partition(":")
        if name not in TYPES:
            dtype = (
                f". A dtype is an object: {qualified(name)}"
                if name.startswith(("float", "int", "double", "half", "bool"))
                else ""
            )
            raise RuntimeError(
                f"Expected one of {', '.join(TYPES)} device type at start of device string: {type}{dtype}"
            )
        if number and not number.isdigit():
            raise RuntimeError(f"Invalid device string: {str(type)!r}")
        index = int(number) if number else index
        self = super().__new__(cls, name if index is None else f"{name}:{index}")
        self.type, self.index = name, index
        return self

    def __repr__(self) -> str:
        place = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{place})"

    def __reduce__(self) -> Any:
        return device, (str(self),)

    def __enter__(self) -> Self:
        if self.type != "meta":
            return here(self)
        before = mode.get().created

        def labelled(tensor: Tensor) -> None:
            tensor._place = self
            if before is not None:
                before(tensor)

        block = FieldBlock(created=labelled)
        outside = _entered.get()
        try:
            _entered.set((*outside, block))
            block.__enter__()
            return self  # noqa: TRY300  # a return can be interrupted, too
        except BaseException:
            _entered.set(outside)
            raise

    def __exit__(self, *error: object) -> None:
        if self.type == "meta":
            *blocks, last = _entered.get()
            try:
                last.__exit__(*error)
            finally:
                _entered.set(tuple(blocks))


class _Named:
    """An object that is no more than its name."""

    __slots__ = ("name",)
    __module__ = "pullback"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return qualified(self.name)

    def __reduce__(self) -> str:
        return self.name


class layout(_Named):
    """How memory is organized: `pullback.strided` is the only layout.

    Parameters
    ----------
    name
        Its name.

    >>> import pullback
    >>> pullback.zeros(2, layout=pullback.strided)
    tensor([0., 0.])
    """

    __slots__ = ()


class memory_format(_Named):
    """An order of elements in memory: a wish that programs may state, and that NumPy's own order answers.

    Parameters
    ----------
    name
        Its name.

    >>> import pullback
    >>> pullback.empty_like(pullback.ones(2), memory_format=pullback.preserve_format).shape
    pullback.Size([2])
    """

    __slots__ = ()


def here(place: Device) -> device:
    """The device of a name; RuntimeError for one where no tensor can be.

    >>> from pullback._core import placement as _placement
    >>> _placement.here("cpu:0")
    device(type='cpu', index=0)
    """
    found = device(place)
    if found.type != "cpu":
        raise RuntimeError(
            f"pullback computes on the CPU: there is no device {str(place)!r}; omit it or write 'cpu'. Compiled functions run "
            f'on GPUs as {package}.compile(f).on("cupy") or .on("jax"), with arrays of those libraries'
        )
    return found


def reached(place: Device, meta: bool = False) -> device:
    """The device to which a tensor can be moved: the CPU, or 'meta', which the result tells; RuntimeError for others.

    NotImplementedError for a tensor of meta that is moved to the CPU: elsewhere such a tensor has no numbers.

    >>> from pullback._core import placement as _placement
    >>> _placement.reached("meta")
    device(type='meta')
    """
    found = device(place)
    if found.type == "meta":
        return found
    if meta and found.type == "cpu":
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! A module has memory of its own after module.to_empty(device='cpu')"
        )
    return here(found)


CPU = device("cpu")
strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def _kind(expected: type) -> Callable[[str, str, object], None]:
    def check(function: str, argument: str, value: object) -> None:
        if value is not None and not isinstance(value, expected):
            what = expected.__name__.lstrip("_")
            raise TypeError(f"{function}(): argument {argument!r} must be pullback.{what}, not {type(value).__name__}")

    return check


def _on_cpu(function: str, argument: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{function}(): argument {argument!r} must be a device or its name, not {type(value).__name__}")
    if value is not None:
        here(value)


def _unpinned(function: str, argument: str, value: object) -> None:
    if value:
        raise RuntimeError(
            f"{function}(): pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is "
            f"available on this system: leave {argument} out"
        )


_CHECKS = {"device": _on_cpu, "layout": _kind(layout), "pin_memory": _unpinned, "memory_format": _kind(memory_format)}


def accept(function: str, options: Mapping[str, object]) -> None:
    """Check the options of a function that say where and how elements are to lie; nothing follows from them.

    >>> from pullback._core import placement as _placement
    >>> _placement.accept("zeros", {"device": "cpu", "layout": _placement.strided})
    """
    for argument, value in options.items():
        check = _CHECKS.get(argument)
        if check is None:
            raise TypeError(f"{function}() got an unexpected keyword argument {argument!r}")
        check(function, argument, value)
