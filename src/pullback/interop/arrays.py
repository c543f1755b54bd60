"""Libraries that ask for NumPy's own class of arrays, and so refuse tensors: with one call they take them."""

from __future__ import annotations

import functools
from importlib import import_module

from .._core.primitives import Carrier, Function

__all__ = ["enable"]

TAKING: dict[str, str] = {
    "PIL": "PIL.Image:fromarray",
    "polars": "polars.series.series:Series.__init__ polars.dataframe.frame:DataFrame.__init__",
    "tensorboardX": " ".join(
        f"tensorboardX.{module}:make_np" for module in ("x2num", "embedding", "summary", "utils", "writer")
    ),
}
"""The functions that take arrays, of each library, after their modules."""


def _array(value: object) -> object:
    """A tensor as its array, also in a list, a tuple or a dict; anything else as it is."""
    if isinstance(value, Carrier):
        return value.numpy()
    if type(value) is dict:
        return {key: _array(part) for key, part in value.items()}
    if type(value) is list or type(value) is tuple:
        return type(value)(map(_array, value))
    return value


def _of_arrays(function: Function) -> Function:
    @functools.wraps(function)
    def call(*args: object, **options: object) -> object:
        return function(*map(_array, args), **{key: _array(value) for key, value in options.items()})

    vars(call)["takes_tensors"] = True  # the mark by which a second call of `enable` knows it
    return call


def enable(*libraries: str) -> None:
    """Make libraries take tensors where they take arrays, in this process from now on; a second call changes nothing.

    A tensor is passed on as the array whose memory it has, `t.numpy()`, which raises for one that requires grad.

    Parameters
    ----------
    libraries
        "polars" (`Series`, `DataFrame`), "PIL" (`Image.fromarray`), "tensorboardX" (numbers, histograms, images).

    Raises
    ------
    ImportError
        If a library is not installed. Nothing is changed then.
    ValueError
        If a library is none of these.

    Examples
    --------
    At the top of a program::

        import polars
        import pullback
        import pullback.interop.arrays

        pullback.interop.arrays.enable("polars")
        polars.Series("x", pullback.tensor([1.0, 2.0]))
    """
    if unknown := [name for name in libraries if name not in TAKING]:
        raise ValueError(f"interop.arrays.enable: {', '.join(unknown)} is none of {', '.join(TAKING)}")
    places = [place.split(":") for name in libraries for place in TAKING[name].split()]
    modules = [import_module(module) for module, _ in places]
    for module, (_, path) in zip(modules, places, strict=True):
        *owners, name = path.split(".")
        owner: object = functools.reduce(getattr, owners, module)
        function = getattr(owner, name, None)
        if function is not None and not hasattr(function, "takes_tensors"):
            setattr(owner, name, _of_arrays(function))
