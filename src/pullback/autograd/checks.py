"""gradcheck: derivatives compared with finite differences.

Everything is compared as real numbers: a complex element counts as two, its real and its imaginary part. With torch's
convention for complex gradients, the row of the Jacobian for one real component of an output is the gradient itself,
viewed as real numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.primitives import Carrier, Function
from .._tape.backward import grad
from .._tensor.creation import from_numpy
from . import forward_ad

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor


class GradcheckError(RuntimeError):
    """Raised for a derivative that does not agree with finite differences."""


class Tolerances(NamedTuple):
    """The step of the differences, and the tolerance: atol + rtol * abs(numeric)."""

    eps: float
    atol: float
    rtol: float


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True if the gradients of a function agree with central differences, for every element of every tracked input.

    `func(*inputs)` returns a tensor or several; inputs are not changed. `fast_mode` compares one random combination of
    the entries. Gradients computed twice may differ by `nondet_tol`. `check_batched_grad` compares `is_grads_batched=True`
    with one call per gradient, `check_forward_ad` the derivatives of dual tensors. `check_undefined_grad` and `masked` have
    no effect: an unused output counts as zero, and there are no sparse layouts.

    Raises
    ------
    GradcheckError
        If they do not agree. The error names the worst element and both slopes, and says if there is a kink, where the
        slopes to the left and right differ. With ``raise_exception=False`` the result is False instead.
    ValueError
        If no input requires grad.

    >>> import pullback
    >>> x = pullback.tensor([0.5, -2.0], dtype=pullback.float64, requires_grad=True)
    >>> pullback.testing.gradcheck(lambda x: (x.sin() * x).sum(), x)
    True
    """
    given, limits = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), Tolerances(eps, atol, rtol)
    _check_arguments(given)
    checks: list[Callable[[], None]] = []
    if check_backward_ad:
        checks.append(lambda: _compare_derivatives(func, given, limits, _compare_one if fast_mode else _compare_all))
        checks.append(lambda: _check_repetition(func, given, nondet_tol))
    if check_forward_ad:
        checks.append(lambda: _compare_forward(func, given, limits, fast=fast_mode))
    if check_grad_dtypes:
        checks.append(lambda: _check_dtypes(func, given))
    if check_batched_grad:
        checks.append(lambda: _check_batched(func, given, limits))
    return _passes(checks, raise_exception)


def _passes(checks: Iterable[Callable[[], None]], raise_exception: bool) -> bool:
    """True if all checks pass; the first that fails raises if `raise_exception` is set."""
    try:
        for check in checks:
            check()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """True if the second derivatives of a function agree with central differences of its gradients.

    `grad_outputs` are the cotangents to start from, random by default. torch assumes that the first derivative is
    correct; here it is checked before the second. `check_fwd_over_rev` also compares the tangents that dual tensors
    carry through the gradient; without `check_rev_over_rev` only they are compared.

    Raises
    ------
    GradcheckError, ValueError
        As `gradcheck` does.

    >>> import pullback
    >>> x = pullback.tensor([0.5, -2.0], dtype=pullback.float64, requires_grad=True)
    >>> pullback.testing.gradgradcheck(lambda x: x ** 3, x)
    True
    """
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    options: dict[str, Any] = {"eps": eps, "atol": atol, "rtol": rtol, "fast_mode": fast_mode, "nondet_tol": nondet_tol}
    if not gradcheck(func, given, raise_exception=raise_exception, **options):
        return False
    cotangents = _cotangents(func, given, grad_outputs, strided=gen_non_contig_grad_outputs)
    return gradcheck(
        _gradient_of(func, len(given)),
        (*given, *cotangents),
        raise_exception=raise_exception,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        **options,
    )


def _gradient_of(func: Function, count: int) -> Function:
    """The gradients of a function of `count` inputs, as a function of the inputs and the cotangents."""

    def gradient(*values: Tensor) -> tuple[Tensor, ...]:
        primals, cotangents = values[:count], values[count:]
        targets = [value for value in primals if _is_tracked(value)]
        pulled = grad(_outputs(func, primals), targets, cotangents, create_graph=True, materialize_grads=True)
        return tuple(g for g in pulled if _is_tracked(g))

    return gradient


# 1. Values


def _is_tracked(value: object) -> bool:
    return isinstance(value, Carrier) and value.requires_grad


def _check_arguments(inputs: Sequence[Tensor]) -> None:
    if not any(map(_is_tracked, inputs)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for place, value in enumerate(inputs):
        if not _is_tracked(value):
            continue
        if value._dtype.itemsize // (1 + value.is_complex()) < 8:
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        array = value._array
        if array.size and any(size > 1 and not step for size, step in zip(array.shape, array.strides, strict=True)):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                f"non-overlapping to be able to compute the numerical gradients correctly: its shape is "
                f"{tuple(array.shape)} and its strides are {value.stride()}; pass its .contiguous() or .clone()"
            )


def _outputs(func: Function, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The real and complex tensors among a function's outputs."""
    result = func(*inputs)
    several: list[Tensor | None] = list(result) if isinstance(result, (tuple, list)) else [result]
    return [value for value in several if isinstance(value, Carrier) and value._dtype.kind in "fc"]


def _reals(array: Array) -> Array:
    """An array's elements as a 1-d array of real numbers."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _values(func: Function, inputs: Sequence[Tensor]) -> list[Array]:
    """A function's outputs, each as real numbers."""
    return [_reals(output.detach()._array).astype(np.float64) for output in _outputs(func, inputs)]


def _moved(func: Function, inputs: Sequence[Tensor], place: int, shift: Array) -> list[Array]:
    """A function's outputs after one input has been shifted; the shift is given as real numbers.

    The input is changed in place, since a function may refer to it otherwise, as a module does to its weights; a
    read-only input is replaced by a leaf.
    """
    array = inputs[place]._array
    kept = array.copy()
    values = np.array(_reals(array))
    values += shift.astype(values.dtype)
    moved = values.view(array.dtype).reshape(array.shape)
    if not array.flags.writeable:
        leaf = from_numpy(moved).requires_grad_()
        return _values(func, [leaf if i == place else value for i, value in enumerate(inputs)])
    array[...] = moved
    try:
        return _values(func, inputs)
    finally:
        array[...] = kept


def _units(array: Array) -> Iterator[Array]:
    """For each real component of an array, the array of its shape that is 1 (or 1j) there and 0 elsewhere."""
    count = _reals(array).size
    for i in range(count):
        row = np.zeros(count, array.real.dtype)
        row[i] = 1
        yield row.view(array.dtype).reshape(array.shape)


def _pulled(output: Tensor, target: Tensor, cotangent: Array) -> Array:
    """The gradient of one input, as real numbers; zeros where the output does not depend on it."""
    if not output.requires_grad:
        return np.zeros_like(_reals(target._array), np.float64)
    (g,) = grad(output, target, from_numpy(cotangent), retain_graph=True, allow_unused=True, materialize_grads=True)
    return _reals(g.detach()._array).astype(np.float64)


# 2. Comparison


def _compare_derivatives(func: Function, inputs: Sequence[Tensor], limits: Tolerances, compare: Function) -> None:
    outputs = _outputs(func, inputs)
    for place, value in enumerate(inputs):
        if _is_tracked(value):
            compare(func, inputs, place, outputs, limits)


def _slopes(func: Function, inputs: Sequence[Tensor], place: int, direction: Array, eps: float) -> list[Array]:
    """The change of each output along a direction of one input, by a central difference."""
    ahead, behind = (_moved(func, inputs, place, step * direction) for step in (eps, -eps))
    return [(a - b) / (2 * eps) for a, b in zip(ahead, behind, strict=True)]


def _close(analytic: Array, numeric: Array, limits: Tolerances) -> bool:
    return np.allclose(analytic, numeric, limits.rtol, limits.atol)


def _compare_all(
    func: Function, inputs: Sequence[Tensor], place: int, outputs: Sequence[Tensor], limits: Tolerances
) -> None:
    """Compare the full Jacobian of every output with respect to one input."""
    size = _reals(inputs[place]._array).size
    columns = [_slopes(func, inputs, place, direction, limits.eps) for direction in np.eye(size)]
    for which, output in enumerate(outputs):
        count = _reals(output.detach()._array).size
        numeric = np.array([column[which] for column in columns]).reshape(size, count)
        rows = [_pulled(output, inputs[place], unit) for unit in _units(output.detach()._array)]
        analytic = np.array(rows).reshape(count, size).T
        if not _close(analytic, numeric, limits):
            raise GradcheckError(_mismatch(func, inputs, place, outputs, which, analytic, numeric, limits))


def _compare_one(
    func: Function, inputs: Sequence[Tensor], place: int, outputs: Sequence[Tensor], limits: Tolerances
) -> None:
    """Compare one random combination of the Jacobian's entries for every output."""
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(_reals(inputs[place]._array).size)
    slopes = _slopes(func, inputs, place, direction, limits.eps)
    for which, (output, slope) in enumerate(zip(outputs, slopes, strict=True)):
        array = output.detach()._array
        weights = rng.standard_normal(slope.size).astype(array.real.dtype)
        numeric = np.asarray(weights @ slope)
        analytic = np.asarray(
            _pulled(output, inputs[place], weights.view(array.dtype).reshape(array.shape)) @ direction
        )
        if not _close(analytic, numeric, limits):
            raise GradcheckError(
                f"Jacobian mismatch for output {which} with respect to input {place}, in one random combination of its "
                f"entries: numerical {numeric:.10g}, analytical {analytic:.10g}. "
                "Without fast_mode=True the worst entry is named"
            )


def _compare_forward(func: Function, inputs: Sequence[Tensor], limits: Tolerances, *, fast: bool) -> None:
    """Compare the tangents of dual tensors along every direction of each input, or one random direction."""
    for place, value in enumerate(inputs):
        if not _is_tracked(value):
            continue
        size = _reals(value._array).size
        for direction in np.random.default_rng(0).standard_normal((1, size)) if fast else np.eye(size):
            slopes = _slopes(func, inputs, place, direction, limits.eps)
            for which, (numeric, pushed) in enumerate(
                zip(slopes, _pushed(func, inputs, place, direction), strict=True)
            ):
                if not _close(pushed, numeric, limits):
                    raise GradcheckError(
                        f"Jacobian computed with forward mode mismatch for output {which} with respect to input {place},\n"
                        f"numerical:{from_numpy(numeric)}\nanalytical:{from_numpy(pushed)}\nalong the direction "
                        f"{from_numpy(direction)} of that input"
                    )


def _pushed(func: Function, inputs: Sequence[Tensor], place: int, direction: Array) -> list[Array]:
    """The tangent of each output along a direction of one input, computed with dual tensors, as real numbers."""
    array = inputs[place]._array
    tangent = from_numpy(direction.astype(array.real.dtype).view(array.dtype).reshape(array.shape))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(inputs[place].detach().requires_grad_(), tangent)
        outputs = _outputs(func, [dual if i == place else value for i, value in enumerate(inputs)])
        parts = [forward_ad.unpack_dual(output) for output in outputs]
    changes = [primal * 0 if tangent is None else tangent for primal, tangent in parts]
    return [_reals(change.numpy(force=True)).astype(np.float64) for change in changes]


def _mismatch(
    func: Function,
    inputs: Sequence[Tensor],
    place: int,
    outputs: Sequence[Tensor],
    which: int,
    analytic: Array,
    numeric: Array,
    limits: Tolerances,
) -> str:
    """The message for two Jacobians that differ: torch's words, then the worst entry."""
    excess = np.abs(analytic - numeric) - limits.rtol * np.abs(numeric)
    row, column = np.unravel_index(np.argmax(np.where(np.isnan(excess), np.inf, excess)), excess.shape)
    text = "" if outputs[which].requires_grad else "Numerical gradient for function expected to be zero. "
    text += f"Jacobian mismatch for output {which} with respect to input {place},\n"
    text += f"numerical:{from_numpy(numeric)}\nanalytical:{from_numpy(analytic)}\n"
    text += (
        f"The worst entry is that of output {_component(outputs[which], int(column))} by input "
        f"{_component(inputs[place], int(row))}: analytical {analytic[row, column]:.10g}, numerical "
        f"{numeric[row, column]:.10g}"
    )
    direction = np.zeros(len(analytic))
    direction[row] = limits.eps
    before, here, after = (_moved(func, inputs, place, step * direction)[which][column] for step in (-1.0, 0.0, 1.0))
    left, right = (here - before) / limits.eps, (after - here) / limits.eps
    if abs(left - right) > 10 * (limits.atol + limits.rtol * max(abs(left), abs(right))):
        text += (
            f". There is a kink there: the slope to the left is {left:.6g}, to the right {right:.6g}, and no single "
            "number is the derivative; move the input away from it"
        )
    return text


def _component(tensor: Tensor, position: int) -> str:
    """The index of a real component of a tensor, as text."""
    part = ""
    if tensor.is_complex():
        position, half = divmod(position, 2)
        part = (".real", ".imag")[half]
    return f"{[int(i) for i in np.unravel_index(position, tensor.shape)] if tensor.ndim else '()'}{part}"


# 3. Other checks


def _cotangents(
    func: Function, inputs: Sequence[Tensor], given: Tensor | Sequence[Tensor] | None, *, strided: bool
) -> list[Tensor]:
    """Tracked cotangents of a function's outputs, random unless given."""
    if given is not None:
        several = [given] if isinstance(given, Carrier) else list(given)
        return [value.detach().requires_grad_() for value in several]
    rng = np.random.default_rng(0)
    made = []
    for output in _outputs(func, inputs):
        array = output.detach()._array
        shape = (*array.shape, 2) if strided else array.shape
        values = rng.standard_normal(shape).astype(array.dtype)
        if array.dtype.kind == "c":
            values = values + 1j * rng.standard_normal(shape)
        made.append(from_numpy(np.asarray(values[..., 0] if strided else values, array.dtype)).requires_grad_())
    return made


def _gradients(func: Function, inputs: Sequence[Tensor]) -> list[Tensor | None]:
    outputs = [output for output in _outputs(func, inputs) if output.requires_grad]
    targets = [value for value in inputs if _is_tracked(value)]
    if not outputs:
        return []
    starts = [from_numpy(np.ones(output.shape, output._dtype)) for output in outputs]
    return list(grad(outputs, targets, starts, allow_unused=True))


def _check_repetition(func: Function, inputs: Sequence[Tensor], tolerance: float) -> None:
    for place, (once, again) in enumerate(zip(_gradients(func, inputs), _gradients(func, inputs), strict=True)):
        if once is None or again is None or once.numel() == 0:
            continue
        apart = float(np.max(np.abs(once.detach().numpy() - again.detach().numpy())))
        if apart > tolerance:
            raise GradcheckError(
                f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                f"different values: those for tracked input {place} are up to {apart:.3g} apart, and nondet_tol is "
                f"{tolerance:g}"
            )


def _check_dtypes(func: Function, inputs: Sequence[Tensor]) -> None:
    targets = [value for value in inputs if _is_tracked(value)]
    for target, g in zip(targets, _gradients(func, inputs), strict=False):
        if g is not None and g.dtype != target.dtype:
            raise GradcheckError(
                f"Expected a gradient of dtype {target.dtype} for an input of that dtype, got {g.dtype}"
            )


def _check_batched(func: Function, inputs: Sequence[Tensor], limits: Tolerances) -> None:
    targets = [value for value in inputs if _is_tracked(value)]
    rng = np.random.default_rng(0)
    for output in _outputs(func, inputs):
        if not output.requires_grad:
            continue
        batch = from_numpy(rng.standard_normal((2, *output.shape)).astype(output._dtype))
        options: dict[str, Any] = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
        together = grad(output, targets, batch, is_grads_batched=True, **options)
        for row in range(2):
            for one, many in zip(grad(output, targets, batch[row], **options), together, strict=True):
                if not _close(many[row].detach().numpy(), one.detach().numpy(), limits):
                    raise GradcheckError(
                        "While computing batched gradients, got other values than for one gradient at a time"
                    )
