"""Pruning: parameters with some entries fixed at zero.

A pruned parameter `weight` is stored as the parameter `weight_orig` and the buffer `weight_mask` of ones and zeros;
before each call a hook sets `weight` to their product. If a parameter is pruned again, its zeros remain, and the next
method selects among the other entries. `remove` makes the zeros permanent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ..._core.modes import no_grad, restoring
from ..._tensor.creation import ones_like, zeros_like
from ..._tensor.sampling import rand, rand_like
from ...vocabulary.shapes import cat

if TYPE_CHECKING:
    from ..._core.typing import Tensor
    from ..modules.module import Module

Amount: TypeAlias = int | float | np.integer[Any] | np.floating[Any]
"""How many are pruned: a number of them, or a fraction."""

M = TypeVar("M", bound="Module")


class BasePruningMethod(ABC):
    """The base of pruning methods; subclasses define `PRUNING_TYPE` and `compute_mask`.

    >>> import pullback
    >>> from pullback import nn
    >>> from pullback.nn.utils import prune
    >>> class Checkered(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = nn.Linear(4, 1)
    >>> _ = Checkered.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1., 0., 1.]])
    """

    PRUNING_TYPE: str
    """'unstructured' (single entries), 'structured' (slices along `dim`) or 'global', for `PruningContainer`."""

    _tensor_name: str

    def __call__(self, module: Module, inputs: object) -> None:
        """The hook: set the parameter to its product with the mask."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask, of the shape of `t`: `default_mask` with more zeros, by the importance `t` of the entries."""

    def apply_mask(self, module: Module) -> Tensor:
        """The product of the parameter and its mask; AssertionError if the module is not pruned by this method."""
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, f"{name}_orig")
        return getattr(module, f"{name}_mask").to(dtype=original.dtype) * original

    @classmethod
    @restoring
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of a module; other arguments are those of the method.

        Importance is that of the entries, the parameter itself when left out. Returns the method, or the container
        with it if the parameter was pruned before.

        Raises
        ------
        AssertionError
            If `importance_scores` are of another shape.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        number, before = _found(module, name)
        if before is not None:
            combined = before if isinstance(before, PruningContainer) else PruningContainer(before)
            combined.add_pruning_method(method)
        used = method if before is None else combined
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}: they are "
                f"{tuple(scores.shape)}, it is {tuple(original.shape)}"
            )
        start = ones_like(original) if before is None else getattr(module, f"{name}_mask").detach().clone()
        try:
            with no_grad():
                mask = used.compute_mask(scores, start)
        except Exception:
            if isinstance(before, PruningContainer):
                before._pruning_methods.pop()  # restores the state before the call
            raise
        if before is None:
            delattr(module, name)
            module.register_parameter(f"{name}_orig", original)
        else:
            del module._forward_pre_hooks[number]
        module.register_buffer(f"{name}_mask", mask)
        used(module, None)
        module.register_forward_pre_hook(used)
        return used

    @restoring
    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned copy of a tensor.

        >>> import pullback
        >>> from pullback.nn.utils import prune
        >>> prune.L1Unstructured(amount=2).prune(pullback.tensor([3.0, -1.0, 2.0]))
        tensor([3., -0., 0.])
        """
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t: they are {tuple(scores.shape)}, it is "
                f"{tuple(t.shape)}"
            )
        with no_grad():
            mask = self.compute_mask(scores, ones_like(t) if default_mask is None else default_mask)
        return t * mask

    def remove(self, module: Module) -> None:
        """Replace the pruned parameter by an ordinary one with its zeros; the hook stays, as in torch: see `remove`."""
        weight = self.apply_mask(module)
        name = self._tensor_name
        original = module._parameters.pop(f"{name}_orig")
        assert original is not None
        del module._buffers[f"{name}_mask"]
        if hasattr(module, name):
            delattr(module, name)
        original.data = weight.data
        setattr(module, name, original)


def _found(module: Module, name: str) -> tuple[int, BasePruningMethod | None]:
    """The hook that prunes a parameter, with its id; None if there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number, hook
    return -1, None


class PruningContainer(BasePruningMethod):
    """The pruning methods applied to one parameter, in order; each selects among the entries left by those before."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: list[BasePruningMethod] = []
        if args and isinstance(args[0], BasePruningMethod):
            self._tensor_name = args[0]._tensor_name
        for method in args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a method, which is to prune the same parameter as the others.

        Raises
        ------
        TypeError
            If it is not a pruning method.
        ValueError
            If it prunes a parameter of another name.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        own = getattr(self, "_tensor_name", None)
        if own is not None and own != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{own}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'"
            )
        self._pruning_methods.append(method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask, after the last method has pruned the remaining entries."""
        method = self._pruning_methods[-1]
        left = _left(method, t, default_mask)
        mask = default_mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """The index of the entries or slices that a method may prune: those not pruned before."""
    kind = getattr(method, "PRUNING_TYPE", None)
    if kind == "unstructured":
        return mask == 1
    if kind == "global":
        return ...
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            "Pruning methods of PRUNING_TYPE 'structured' need to have the attribute `dim` defined: "
            f"{type(method).__name__} has none"
        )
    dim = method.dim % t.ndim
    kept = mask.sum(dim=[axis for axis in range(t.ndim) if axis != dim]) != 0
    return (*[slice(None)] * dim, kept)


# Methods


def _checked(amount: Amount) -> Amount:
    """An amount, checked: a number of entries, or a fraction of them."""
    if not isinstance(amount, int | float | np.integer | np.floating):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, int | np.integer)
    if amount < 0 or (not whole and amount > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    return amount


def _count(amount: Amount, size: int) -> int:
    """An amount as a number of entries; ValueError if it exceeds `size`."""
    if not isinstance(amount, int | np.integer):
        return round(float(amount) * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(amount)


def _slices(t: Tensor, dim: int) -> int:
    """The number of slices of a tensor along an axis."""
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{tuple(t.shape)} with {t.ndim} dims"
        )
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")
    return int(t.shape[dim])


class Identity(BasePruningMethod):
    """The method that prunes nothing, and leaves the parameter pruned by a mask of ones.

    >>> import pullback
    >>> pullback.nn.utils.prune.Identity().prune(pullback.tensor([3.0, 4.0]))
    tensor([3., 4.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask


class _Unstructured(BasePruningMethod):
    """A method that prunes the entries of least importance."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        self.amount = _checked(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with zeros where the importance `t` is least."""
        pruned = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if pruned:
            mask.view(-1)[self._ranks(t).reshape(-1).topk(pruned, largest=False).indices] = 0
        return mask

    def _ranks(self, t: Tensor) -> Tensor:
        raise NotImplementedError


class RandomUnstructured(_Unstructured):
    """Prunes random entries: `amount` is their number or, if a float, their fraction.

    >>> import pullback
    >>> (pullback.nn.utils.prune.RandomUnstructured(amount=0.5).prune(pullback.ones(10)) == 0).sum()
    tensor(5)
    """

    def _ranks(self, t: Tensor) -> Tensor:
        return rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the entries of least absolute value: `amount` is their number or, if a float, their fraction.

    >>> import pullback
    >>> pullback.nn.utils.prune.L1Unstructured(amount=1).prune(pullback.tensor([3.0, 0.5, 1.0]))
    tensor([3., 0., 1.])
    """

    def _ranks(self, t: Tensor) -> Tensor:
        return t.abs()


class _Structured(BasePruningMethod):
    """A method that prunes the slices of least importance along an axis."""

    PRUNING_TYPE = "structured"
    dim: int
    amount: Amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with zeros in the slices where the importance of `t` is least."""
        size = _slices(t, self.dim)
        pruned = _count(self.amount, size)
        if pruned == 0:
            return default_mask
        kept = zeros_like(t)
        dim = self.dim % t.ndim
        kept[(*[slice(None)] * dim, self._ranks(t, dim).topk(size - pruned).indices)] = 1
        return kept * default_mask

    def _ranks(self, t: Tensor, dim: int) -> Tensor:
        raise NotImplementedError


class RandomStructured(_Structured):
    """Prunes random slices along `dim`: `amount` is their number or, if a float, their fraction.

    >>> import pullback
    >>> (pullback.nn.utils.prune.RandomStructured(amount=1, dim=0).prune(pullback.ones(3, 2)) == 0).sum()
    tensor(2)
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount = _checked(amount)
        self.dim = dim

    def _ranks(self, t: Tensor, dim: int) -> Tensor:
        return rand(t.shape[dim])


class LnStructured(_Structured):
    """Prunes the slices along `dim` with the least norm of order `n`.

    `amount` is their number or, if a float, their fraction.

    >>> from pullback import nn, tensor
    >>> nn.utils.prune.LnStructured(amount=1, n=2, dim=0).prune(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [3., 4.]])
    """

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        self.amount = _checked(amount)
        self.n = n
        self.dim = dim

    def _ranks(self, t: Tensor, dim: int) -> Tensor:
        return t.norm(p=self.n, dim=[axis for axis in range(t.ndim) if axis != dim])


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask has zeros.

    >>> import pullback
    >>> method = pullback.nn.utils.prune.CustomFromMask(pullback.tensor([1.0, 0.0]))
    >>> method.prune(pullback.tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The product of both masks; AssertionError if their shapes differ."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask has shape {tuple(self.mask.shape)}, and what it is to prune {tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# Functions


def identity(module: M, name: str) -> M:
    """Mask a parameter with ones, which leaves it unchanged; returns the module.

    >>> import pullback
    >>> pullback.nn.utils.prune.identity(pullback.nn.Linear(2, 1), "weight").weight_mask
    tensor([[1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: float) -> M:
    """Prune random entries of a parameter, a number or, if a float, a fraction of them; returns the module.

    >>> from pullback import nn
    >>> from pullback.nn.utils import prune
    >>> layer = prune.random_unstructured(nn.Linear(4, 5), "weight", amount=0.25)
    >>> int((layer.weight == 0).sum())
    5
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: float, importance_scores: Tensor | None = None) -> M:
    """Prune the entries of least absolute value, a number or, if a float, a fraction of them; returns the module.

    >>> import pullback
    >>> from pullback import nn
    >>> from pullback.nn.utils import prune
    >>> layer = nn.Linear(3, 1, bias=False)
    >>> layer.weight.data = pullback.tensor([[3.0, -1.0, 2.0]])
    >>> prune.l1_unstructured(layer, "weight", amount=1)(pullback.ones(3))
    tensor([5.], grad_fn=<MmBackward0>)
    >>> [name for name, _ in layer.named_parameters()], layer.weight_mask
    (['weight_orig'], tensor([[1., 0., 1.]]))
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: float, dim: int) -> M:
    """Prune random slices of a parameter along an axis, a number or, if a float, a fraction; returns the module.

    >>> import pullback
    >>> layer = pullback.nn.utils.prune.random_structured(pullback.nn.Linear(4, 3), "weight", amount=1, dim=0)
    >>> (layer.weight == 0).all(dim=1).sum()
    tensor(1)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M, name: str, amount: float, n: float | str, dim: int, importance_scores: Tensor | None = None
) -> M:
    """Prune the slices of a parameter along an axis with the least norm of order `n`; returns the module.

    >>> import pullback
    >>> layer = pullback.nn.Linear(2, 2)
    >>> layer.weight.data = pullback.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> pullback.nn.utils.prune.ln_structured(layer, "weight", amount=1, n=2, dim=0).weight.tolist()
    [[0.0, 0.0], [3.0, 4.0]]
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune a parameter where a mask has zeros; returns the module.

    >>> from pullback import nn, tensor
    >>> layer = nn.utils.prune.custom_from_mask(nn.Linear(2, 1), "weight", tensor([[1.0, 0.0]]))
    >>> (layer.weight == 0).tolist()
    [[False, True]]
    """
    CustomFromMask.apply(module, name, mask)
    return module


@restoring
def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters, given as pairs of module and name, as if they were one.

    Other arguments are those of the method, say `amount=0.2`.

    Raises
    ------
    TypeError
        If the parameters are not a collection, the scores not a dictionary, or the method not for single entries.

    >>> from pullback import nn
    >>> from pullback.nn.utils import prune
    >>> net = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2))
    >>> prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], prune.L1Unstructured, amount=10)
    >>> int((net[0].weight == 0).sum() + (net[1].weight == 0).sum())
    10
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable: pass pairs, as in [(layer, 'weight')]")
    if not isinstance(importance_scores, dict | None):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    places: Sequence[tuple[Module, str]] = list(parameters)
    tensors = [getattr(module, name) for module, name in places]
    given = importance_scores or {}
    scores = [given.get(place, tensor) for place, tensor in zip(places, tensors, strict=True)]
    masks = [getattr(m, f"{name}_mask", ones_like(t)) for (m, name), t in zip(places, tensors, strict=True)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    container = PruningContainer([method])
    with no_grad():
        joined = container.compute_mask(_joined(scores), _joined(masks))
    sizes = [tensor.numel() for tensor in tensors]
    for (module, name), tensor, part in zip(places, tensors, joined.split(sizes), strict=True):
        custom_from_mask(module, name, part.view(tensor.shape))


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return cat([tensor.detach().reshape(-1) for tensor in tensors])


def remove(module: M, name: str) -> M:
    """Make the zeros of pruning permanent: the parameter becomes ordinary again, without mask and hook.

    Raises
    ------
    ValueError
        If the parameter is not pruned.

    >>> from pullback import nn
    >>> layer = nn.utils.prune.identity(nn.Linear(2, 1), "weight")
    >>> nn.utils.prune.is_pruned(layer), nn.utils.prune.is_pruned(nn.utils.prune.remove(layer, "weight"))
    (True, False)
    """
    number, method = _found(module, name)
    if method is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    method.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Module) -> bool:
    """True if a parameter of a module, or of a module below it, is pruned.

    >>> from pullback import nn
    >>> from pullback.nn.utils import prune
    >>> prune.is_pruned(nn.Sequential(nn.Linear(2, 2))), prune.is_pruned(prune.identity(nn.Linear(2, 2), "bias"))
    (False, True)
    """
    hooks = (hook for below in module.modules() for hook in below._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
