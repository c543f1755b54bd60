"""What becomes of a program by others: right, refused with a message, or wrong."""

import builtins
import importlib
import warnings
from typing import Any

import numpy as np

import pullback

from . import programs

Outcome = tuple[str, str]


def result(program: programs.Program, inputs: dict[str, Any]) -> Any:
    """What the program's call gives."""
    module = importlib.import_module(program.module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages
        return eval(program.call, {**vars(programs), "m": module, "np": np, **inputs})  # a row of our table


def weighed(values: Any) -> Any:
    """The sum of a result's elements with weights of their own, which a gradient of one element in place of another changes."""
    count = int(np.prod(values.shape))
    weights = np.cos(np.arange(1.0, count + 1)).reshape(tuple(values.shape))
    return (values * weights).sum()


def number(program: programs.Program, inputs: dict[str, Any]) -> float:
    """The weighed sum of the result, by NumPy alone."""
    found = np.asarray(result(program, {name: np.array(v) if np.ndim(v) else float(v) for name, v in inputs.items()}))
    return float(np.real(weighed(found)))


def differences(program: programs.Program) -> dict[str, Any]:
    """The gradient by central differences of fourth order."""
    gradients = {}
    for name, value in program.inputs.items():
        at = np.asarray(value, float)
        gradients[name] = np.zeros(at.shape)
        for index in np.ndindex(at.shape):
            step = 1e-4 * max(1.0, builtins.abs(at[index]))
            total = 0.0
            for times, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
                moved = at.copy()
                moved[index] += times * step
                total += weight * number(program, {**program.inputs, name: moved})
            gradients[name][index] = total / (12 * step)
    return gradients


def gradients(program: programs.Program) -> tuple[float, dict[str, Any]]:
    """The same number and its gradient, by pullback."""
    with pullback.numpy_programs(*program.packages):
        given = {name: pullback.tensor(np.asarray(v, float), requires_grad=True) for name, v in program.inputs.items()}
        found = result(program, given)
        if not isinstance(found, pullback.Tensor):
            raise TypeError(f"the result is a {type(found).__name__}")
        total = weighed(found).real
        names = list(given)
        grads = pullback.autograd.grad(total, list(given.values()), allow_unused=True)
        zero = {name: np.zeros(np.shape(value)) for name, value in program.inputs.items()}
        return float(total.detach()), {
            name: zero[name] if grad is None else grad.numpy() for name, grad in zip(names, grads, strict=True)
        }


def outcome(program: programs.Program) -> Outcome:
    """'right', 'refused' or 'wrong', and why."""
    expected, slopes = number(program, program.inputs), differences(program)
    try:
        value, found = gradients(program)
    except Exception as error:  # noqa: BLE001  # whatever a package makes of our errors
        notes = " ".join(getattr(error, "__notes__", ()))
        return "refused", f"{type(error).__name__}: {error} {notes}"
    if not np.isclose(value, expected, rtol=1e-9, atol=1e-12):
        return "wrong", f"the value is {value!r}, and NumPy's {expected!r}"
    for name, slope in slopes.items():
        if not np.allclose(found[name], slope, rtol=1e-5, atol=1e-7 * max(1.0, builtins.abs(expected))):
            return "wrong", f"the gradient by {name} is {found[name]!r}, and differences give {slope!r}"
    return "right", ""
