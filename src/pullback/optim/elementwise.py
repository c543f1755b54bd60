"""Elementwise optimizers: the update of each element depends on its own value, gradient and state only.

A subclass says which tensors it remembers of a parameter, and its rule: a function of arrays that reads as the formula
of the paper. Here is what all of them share: options and what they must be, gradients turned and decayed, counting,
and how the formula is carried out. It runs on NumPy arrays, and the results are put into the parameters' memory; or,
with `differentiable=True`, on tensors, and is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import ops
from .._core import machine, xp as _xp
from .._core.dtypes import default_numpy
from .._core.modes import changed, enable_grad, mode, quiet
from .._core.primitives import Carrier
from .._numerics.blocks import pieces
from .._tape.memory import protect, written
from .._tape.views import check_writable
from .._tensor.creation import as_tensor, full_like
from .._tensor.tensor import Tensor
from ..vocabulary.complexes import view_as_real
from .optimizer import Group, Loss, Optimizer, Options, State, as_float

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Threshold

Formula = Callable[..., None]
Rule = tuple[Formula, tuple[Any, ...]]
Count = np.float32 | np.float64 | Tensor
"""One of the numbers that are kept of a parameter; a tensor while a program is compiled."""
ndarray = np.ndarray


# Options


_PLAIN = {
    "lr": "learning rate",
    "momentum": "momentum value",
    "eps": "epsilon value",
    "weight_decay": "weight_decay value",
    "momentum_decay": "momentum_decay value",
    "lr_decay": "lr_decay value",
    "initial_accumulator_value": "initial_accumulator_value value",
}


_SEVERAL = {"betas": (0.9, 0.999), "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)}


def check(options: Options, also: Sequence[str] = ()) -> None:
    """Refuse options that make no sense, in torch's words; `also` are others that must not be negative."""
    for name, value in options.items():
        if name in {"betas", "etas", "step_sizes"} and not (isinstance(value, (tuple, list)) and len(value) > 1):
            raise TypeError(f"{name} must be several numbers, such as {_SEVERAL[name]}, and not {value!r}")
        if (name in _PLAIN or name in also) and isinstance(value, (str, list, tuple, type(None))):
            raise TypeError(f"{name} must be a number, and not {value!r}")
        if name == "lr" and isinstance(value, Carrier) and value.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element: it has shape {tuple(value.shape)}")
        if (name in _PLAIN or name in also) and not value >= 0:
            raise ValueError(f"Invalid {_PLAIN.get(name, f'{name} value')}: {value}")
        if name == "betas":
            _check_betas(value)
        if name == "rho" and not 0 <= value <= 1:
            raise ValueError(f"Invalid rho value: {value}")
        if name == "etas" and not 0 < value[0] < 1 < value[1]:
            raise ValueError(f"Invalid eta values: {value[0]}, {value[1]}")
    if options.get("nesterov") and (options["momentum"] <= 0 or options["dampening"] != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")
    if options.get("fused"):
        if options.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`: leave fused out")
        if options.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together. Leave both out")


def _check_betas(betas: Sequence[float | Tensor]) -> None:
    tensors = [isinstance(beta, Carrier) for beta in betas]
    for i, beta in enumerate(betas):
        if isinstance(beta, Carrier) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element: it has shape {tuple(beta.shape)}")
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
    if any(tensors) and not all(tensors):
        raise ValueError("betas must be either both floats or both Tensors")


def _number(value: Any) -> Any:
    """An option as a number: tensors of one element may stand for numbers."""
    if isinstance(value, Carrier):  # read like a count: a compiled program has it as an input
        return value.detach().reshape(())._array[()].item()
    return tuple(map(_number, value)) if type(value) is tuple else value


def _without_axes(value: Any) -> Any:
    """An option for recorded steps: a tensor of one element is reshaped to have no axes."""
    if isinstance(value, Carrier):
        return value.reshape(())
    return tuple(map(_without_axes, value)) if type(value) is tuple else value


# Formulas


class Elementwise(Optimizer):
    """The base of elementwise optimizers.

    Subclasses define `rule`, and say with `remembers` and `counts` what they keep of each parameter.
    """

    not_negative: Sequence[str] = ()
    """Options, besides the usual ones, that must not be negative."""

    def check_options(self, options: Options) -> None:
        """Raise an error for an option that is out of range."""
        check(options, self.not_negative)

    def counts(self, group: Group) -> dict[str, float | Tensor]:
        """The numbers that are kept of each parameter, and what they begin with."""
        return {"step": 0.0}

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The tensors that are kept of each parameter, in the order in which the formula takes them, and their fill."""
        return {}

    def rule(self, group: Group, first: bool, *counts: Any) -> Rule:
        """The formula for parameters with these counts, and what the counts become.

        The formula, `f(xp, p, g, *memory)`, writes to the parameter `p` and to what is remembered, in place. `g` is the
        gradient, in the direction to go down and with weight decay in it, `xp` the namespace of their functions, and
        `first` whether nothing has been remembered yet.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no rule()")

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], Loss]) -> Loss: ...

    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Change the parameters once.

        `closure`, if given, computes the loss anew, with its gradients, and returns it; so does `step` then.
        Parameters without a gradient are left alone.
        """
        loss = None if closure is None else enable_grad()(closure)()
        before = mode.get()
        try:  # around the change, too: the handler of a signal may raise an exception after it
            mode.set(changed(grad=self.defaults["differentiable"]))
            self._move_all()  # a call, since CPython 3.13 leaves the jump at the end of a loop outside of its `try`
        finally:
            mode.set(before)
        return loss

    def _move_all(self) -> None:
        """Carry out the formula for all parameters that have a gradient."""
        for group in self.param_groups:
            moving = [(p, g) for p in group["params"] if (g := p.grad) is not None]
            for p, _ in moving:
                check_writable(p, "step")
            if self.defaults["differentiable"]:
                self._move({name: _without_axes(value) for name, value in group.items()}, moving, _record)
                continue
            plain = all(type(p._array) is ndarray for p, _ in moving)
            carry_out = quiet.run if plain else _called
            carry_out(self._move, {name: _number(value) for name, value in group.items()}, moving, _compute)
            if (watcher := mode.get().watcher) is not None:
                for p, _ in moving:
                    watcher.wrote(p, False, None)

    def _move(self, group: Group, moving: list[tuple[Tensor, Tensor]], carry_out: Callable[..., None]) -> None:
        """Carry out the formula for each parameter of a group that has a gradient."""
        counts, memory = self.counts(group), self.remembers(group)
        if not counts and not memory:
            formula = _complete(self.rule(group, False)[0], group)
            for p, g in moving:
                carry_out(formula, g, [p])
            return
        formulas: dict[tuple[Any, ...], Rule] = {}
        for p, g in moving:
            state = self.state[p]
            first = begin(state, counts, memory, p)
            tensors = [state[name] for name in counts]
            if tensors and any(tensor.requires_grad for tensor in tensors):
                raise RuntimeError(
                    f"{' and '.join(counts)} are numbers here, through which no gradient flows: detach them"
                )
            key = (first, *[tensor._array[()] for tensor in tensors])
            if key not in formulas:
                rule, become = self.rule(group, *key)
                formulas[key] = _complete(rule, group), become
            formula, become = formulas[key]
            carry_out(formula, g, [p, *[state[name] for name in memory]])
            for tensor, value in zip(tensors, become, strict=True):
                protect(tensor)
                tensor._array[()] = value
                written(tensor)

    def _fitting(self, parameter: Tensor, value: Any, key: str | None = None) -> Any:
        fitting = super()._fitting(parameter, value, key)
        if isinstance(fitting, Carrier) and fitting.ndim and fitting.shape != parameter.shape:
            raise ValueError(
                f"loaded state dict contains {key!r} of shape {tuple(fitting.shape)} for a parameter of shape "
                f"{tuple(parameter.shape)}"
            )
        return fitting


def _called(function: Callable[..., None], *args: Any) -> None:
    """Call a function in the current context, so that the modes of an enclosing transform apply."""
    function(*args)


def begin(state: State, counts: dict[str, float | Tensor], memory: dict[str, float | Tensor], p: Tensor) -> bool:
    """Initialize what is missing in the state of a parameter; True if one of its tensors was missing.

    Counts are in double precision if that is the default; in a state of an older torch they are Python's numbers. The parts
    of a complex number are two numbers.
    """
    for name, value in counts.items():
        kept = state.get(name)
        if not isinstance(kept, Carrier):
            default = default_numpy()
            begun = as_float(value) if kept is None else kept
            state[name] = as_tensor(np.array(begun, default if default == np.float64 else np.float32))
    first = False
    for name, value in memory.items():
        if state.get(name) is None:
            first = True
            fill = as_float(value)
            state[name] = full_like(p.detach(), complex(fill, fill) if p._dtype.kind == "c" else fill)
    return first


def _complete(rule: Formula, group: Group) -> Formula:
    """A formula with what all optimizers share: `maximize`, which negates the gradient, and weight decay.

    Decay is part of the gradient, or shrinks the parameter itself ("decoupled": Loshchilov and Hutter, Decoupled weight
    decay regularization, 2019).
    """
    decay = group.get("weight_decay", 0)
    decays = isinstance(decay, Carrier) or decay != 0
    if not decays and not group["maximize"]:
        return rule
    decoupled, turned = group.get("decoupled_weight_decay", False), group["maximize"]
    kept = 1 - group["lr"] * decay if decays and decoupled else 1

    def complete(xp: Namespace, p: Array, g: Array, *memory: Array) -> None:
        if turned:
            g = -g
        if decays and decoupled:
            p *= kept
        elif decays:
            g = g + decay * p
        rule(xp, p, g, *memory)

    return complete


# Carrying out


LARGE: Threshold = 1 << 17
"""Above this number of elements, a formula is computed in blocks that fit the cache."""


def _record(formula: Formula, gradient: Tensor, tensors: list[Tensor]) -> None:
    """Compute a formula on tensors, so that it is recorded."""
    p, *memory = map(view_as_real, tensors) if tensors[0].is_complex() else tensors
    formula(ops, p, view_as_real(gradient) if gradient.is_complex() else gradient, *memory)


def _compute(formula: Formula, gradient: Tensor, tensors: list[Tensor]) -> None:
    """Compute a formula on the arrays of tensors, in place."""
    g = gradient._array
    arrays = [tensor._array for tensor in tensors]
    p = arrays[0]
    if type(p) is not ndarray or type(g) is not ndarray:
        _record(formula, gradient, tensors)  # inside a transform
        return
    for tensor in tensors:
        if tensor._cell is not None or tensor._storage is not None:  # else nothing has kept its value
            protect(tensor)
    if machine.update(formula, [p, g, *arrays[1:]]):
        pass
    elif p.size < LARGE and p.dtype.kind != "c":
        formula(_xp, p, g, *arrays[1:])
    elif all(array.flags.c_contiguous for array in (*arrays, g)):
        _compute_in_pieces(formula, g, arrays)
    else:
        copies = [array.copy("C") for array in arrays]
        _compute_in_pieces(formula, g.copy("C"), copies)
        for array, copy in zip(arrays, copies, strict=True):
            array[...] = copy
    for tensor in tensors:
        written(tensor)


def _compute_in_pieces(formula: Formula, g: Array, arrays: list[Array]) -> None:
    """Compute a formula on C-contiguous arrays in blocks that fit the cache; complex numbers as pairs of real ones."""
    g, p, *memory = [_xp.reshaped_view(array, -1).view(array.real.dtype) for array in (g, *arrays)]

    def piece(start: int, stop: int) -> None:
        here = slice(start, stop)
        formula(_xp, p[here], g[here], *[each[here] for each in memory])

    pieces(piece, p.size, p.itemsize * (len(arrays) + 2))
