"""torch.autograd.graph's public names: nodes, edges, hooks on saved values and on several gradients at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from .._core.errors import kind
from .._core.modes import FieldBlock, ModeBlock, mode, running
from .._tape.memory import protect, written
from .._tape.node import Node as Node, hooks_of
from .._tape.seeds import GradientEdge as GradientEdge, get_gradient_edge as get_gradient_edge

if TYPE_CHECKING:
    from typing import NoReturn

    from .._core.primitives import Carrier
    from .._core.typing import Tensor


class saved_tensors_hooks(ModeBlock):
    """A block in which each value saved for backward is passed to `pack`, and to `unpack` when it is needed.

    `pack(tensor)` may return anything; `unpack` converts that back to a tensor. Only the innermost block applies.

    >>> import pullback
    >>> x = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> with pullback.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), pullback.from_numpy):
    ...     y = x * x
    >>> y.backward(pullback.ones(2))
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        super().__init__()
        self._hooks = pack_hook, unpack_hook

    def _fields(self) -> dict[str, Any]:
        refused = mode.get().hooks_refused
        if refused is not None:
            raise RuntimeError(refused)
        return {"pack": self._hooks[0], "unpack": self._hooks[1]}

    def _fresh(self) -> ModeBlock:
        return type(self)(*self._hooks)


class save_on_cpu(saved_tensors_hooks):
    """A block in which graphs save copies of values; torch moves them from a GPU to the CPU.

    >>> import pullback
    >>> with pullback.autograd.graph.save_on_cpu():
    ...     y = pullback.ones(2, requires_grad=True).exp()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.detach().clone(), lambda tensor: tensor)

    def _fresh(self) -> ModeBlock:
        return type(self)()


def disable_saved_tensors_hooks(error_message: str) -> ModeBlock:
    """A block in which entering `saved_tensors_hooks` raises RuntimeError with this message.

    >>> import pullback
    >>> with pullback.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     pass
    """
    return FieldBlock(hooks_refused=error_message)


def allow_mutation_on_saved_tensors() -> ModeBlock:
    """A block without effect: in pullback a graph's saved values are never changed by later writes.

    >>> import pullback
    >>> with pullback.autograd.graph.allow_mutation_on_saved_tensors():
    ...     pass
    """
    return FieldBlock()


def increment_version(tensor: Carrier | Sequence[Carrier]) -> None:
    """Increment the version counter of one tensor or several, for a write that pullback could not see.

    What graphs had saved of their memory is gone: a backward pass that needs it raises RuntimeError.

    >>> import pullback
    >>> t = pullback.ones(2)
    >>> pullback.autograd.graph.increment_version(t)
    >>> t._version
    1
    """
    tensors: Sequence[Any] = tensor if isinstance(tensor, (list, tuple)) else [tensor]
    for each in tensors:
        written(each)
        protect(each, _Overwritten())


class _Overwritten:
    """What a graph has of a saved value that was written by others: every use raises RuntimeError."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: its memory was "
            "written outside of pullback after it was used, as increment_version has told; use a clone() there"
        )

    def _refused(self, *args: Any, **options: Any) -> Any:
        return self.values

    __array__ = __array_ufunc__ = __array_function__ = __getitem__ = __len__ = __neg__ = __matmul__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = _refused


class _MultiHook:
    """A hook on several tensors, and the gradients that have arrived for it in each pass."""

    def __init__(self, nodes: Sequence[Node], function: Callable[..., object], first_only: bool) -> None:
        self.count = len(nodes)
        self.function = function
        self.first_only = first_only
        self.handles = [
            hooks_of(node).add("tensor", functools.partial(self._arrived, index)) for index, node in enumerate(nodes)
        ]

    def _arrived(self, index: int, g: Tensor) -> None:
        arrived = running.get().waiting.setdefault(self, {})
        if self.first_only and not arrived:
            self.function(g)
        arrived[index] = g

    def finish(self, arrived: dict[int, Tensor]) -> None:
        """Called by the pass once all its gradients are known."""
        if not self.first_only:
            self.function([arrived.get(index) for index in range(self.count)])

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., object], *, mode: str = "all") -> _MultiHook:
    """Call `fn` once per pass: with all gradients (None for those not computed), or, in mode 'any', with the first.

    Raises
    ------
    ValueError
        If `mode` is neither 'all' nor 'any'.
    AssertionError
        If a tensor does not require grad.

    >>> import pullback
    >>> x, y = pullback.ones(2, requires_grad=True), pullback.ones(2, requires_grad=True)
    >>> handle = pullback.autograd.graph.register_multi_grad_hook([x, y], print)
    >>> (x * 3).sum().backward()
    [tensor([3., 3.]), None]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    nodes = []
    for index, tensor in enumerate(tensors):
        if tensor._node is None:
            raise AssertionError(
                f"Expected gradient function to be set: tensor {index} is a {kind(tensor)}, not tracked"
            )
        nodes.append(tensor._node)
    return _MultiHook(nodes, fn, mode == "any")
