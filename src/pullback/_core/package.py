"""The name of this package in texts that programs read: `pullback`, or `torch` where it stands in for torch."""


class _Package:
    """The name as a program writes it; a text is to spell it when it is needed: `f"{package}.float32"`."""

    __slots__ = ("name",)

    def __init__(self) -> None:
        self.name = "pullback"

    def __str__(self) -> str:
        return self.name


package = _Package()
