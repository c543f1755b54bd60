"""Modules as functions of their parameters: `functional_call`, and the stacked state of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .. import nn
from ..nn.utils.stateless import called
from ..vocabulary.shapes import stack

if TYPE_CHECKING:
    from .._core.typing import Tensor
    from ..nn.modules.module import Module

    Network = TypeVar("Network", bound=Module)


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """A module's result with other parameters and buffers: a function that can be differentiated by them.

    The tensors are given by their paths, in one dictionary or several. The module's own tensors are used for names that
    are left out, and are unchanged afterwards. `args` is a tuple of arguments, or a single argument. Parameters with
    several names are replaced under all of them, unless `tie_weights` is False. Tensors that the module updates, such
    as running statistics, are updated in the dictionary. Calls in several threads take turns; a thread that uses the
    module in another way meanwhile finds the tensors that are given here.

    Parameters
    ----------
    module
        The module whose `forward` is called.
    parameter_and_buffer_dicts
        By name, the tensors that take the place of its parameters and buffers; or several such dictionaries.
    args
        The argument of the call, or several in a tuple.
    kwargs
        Its keyword arguments.
    tie_weights
        Replace tensors that the module shares wherever they are, if one of their names is given.
    strict
        Refuse names that are missing or unknown.

    Raises
    ------
    ValueError
        If a name is in several dictionaries, or one parameter is given several values.
    TypeError
        If a value is not a tensor.
    RuntimeError
        With `strict`, if names are missing or unexpected.

    >>> import pullback
    >>> from pullback import nn
    >>> layer = nn.Linear(2, 1)
    >>> tensors = {"weight": pullback.tensor([[1.0, 2.0]]), "bias": pullback.tensor([3.0])}
    >>> pullback.func.functional_call(layer, tensors, pullback.ones(2))
    tensor([6.])
    """
    tensors = _together(parameter_and_buffer_dicts)
    return called(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def _together(dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """One dictionary, or several merged into one."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = [key for each in dicts for key in each]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for each in dicts for key, value in each.items()}


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several models of one class, stacked along a new first axis, for `vmap`.

    Parameters
    ----------
    models
        Modules of one class, all in training mode or all in evaluation.

    Raises
    ------
    RuntimeError
        If there is no model, or the models differ in class, in training mode, or in which parameters require grad.

    >>> import pullback
    >>> from pullback import nn
    >>> params, buffers = pullback.func.stack_module_state([nn.Linear(3, 2) for _ in range(5)])
    >>> params["weight"].shape, buffers
    (pullback.Size([5, 2, 3]), {})
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return _stacked([dict(model.named_parameters()) for model in models]), _stacked(
        [dict(model.named_buffers()) for model in models]
    )


def replace_all_batch_norm_modules_(root: Network) -> Network:
    """Make batch normalizations keep no running statistics, in place, so that transforms need not update them.

    Parameters
    ----------
    root
        The module in which they are.

    >>> import pullback
    >>> from pullback import nn
    >>> model = pullback.func.replace_all_batch_norm_modules_(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    >>> model[1].running_mean is None, pullback.func.vmap(model)(pullback.ones(4, 5, 2)).shape
    (True, pullback.Size([4, 5, 3]))
    """
    for module in root.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def _stacked(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The states of all models stacked into one leaf for each name."""
    found = {}
    for name, first in states[0].items():
        tensors = [state[name] for state in states]
        if any(tensor.requires_grad != first.requires_grad for tensor in tensors):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        leaf = stack(tensors).detach()
        leaf._cut = None
        found[name] = leaf.requires_grad_(first.requires_grad)
    return found
