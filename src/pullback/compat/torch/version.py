"""torch's version."""

import re

cuda = hip = xpu = git_version = None
debug = False


class TorchVersion(str):
    """A version that compares with strings and tuples, number by number.

    >>> from pullback.compat.torch.version import TorchVersion
    >>> version = TorchVersion("2.13.0")
    >>> version >= "2.9", version >= (1, 8), version < "10.0"
    (True, True, True)
    """

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: object) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: object) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: object) -> bool:
        return _numbers(self) >= _numbers(other)

    def __eq__(self, other: object) -> bool:
        return str(self) == other or (isinstance(other, (str, tuple)) and _numbers(self) == _numbers(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _numbers(version: object) -> tuple[int, ...]:
    """The leading numbers of a version, without trailing zeros."""
    text = ".".join(map(str, version)) if isinstance(version, tuple) else str(version)
    release = re.match(r"\d+(\.\d+)*", text)
    numbers = [int(number) for number in release.group().split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


__version__ = TorchVersion("2.13.0+pullback")
