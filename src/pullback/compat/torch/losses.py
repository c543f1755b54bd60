"""torch.nn._reduction: how losses encode the word for their reduction, by its number or by the deprecated arguments."""

from ...extend import warn

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number of a reduction: 0 for "none", 1 for "mean", 2 for "sum"; ValueError for another word."""
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for two deprecated arguments, each true by default."""
    averaged, reduced = (each is None or bool(each) for each in (size_average, reduce))
    word = "none" if not reduced else "mean" if averaged else "sum"
    if emit_warning:
        warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number for two deprecated arguments."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
