"""torch.nn.parallel.DistributedDataParallel: one model in all ranks, whose gradients are averaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor, empty, from_numpy, is_grad_enabled, no_grad
from ...extend import restoring
from ...nn.modules.module import Module
from ...observe import node
from ...utils.trees import flatten
from . import collectives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .collectives import ProcessGroup
    from .fx.node import Node


class DistributedDataParallel(Module):
    """A module of which every rank has a copy: the gradients of the parameters are averaged over the ranks.

    Parameters and buffers are those of rank 0 at the beginning; buffers also before a forward pass, if a backward pass can
    follow. When all gradients of a backward pass are there, they are replaced by their means over the ranks.

    Raises
    ------
    ValueError
        Before `init_process_group`.
    RuntimeError
        If the parameters differ between ranks in number, shape or dtype, or there are none that learn.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[int] | None = None, output_device: object = None, dim: int = 0, broadcast_buffers: bool = True,
        init_sync: bool = True, process_group: ProcessGroup | None = None, bucket_cap_mb: object = None, find_unused_parameters: bool = False,
        **options: object
    ) -> None:  # fmt: skip
        super().__init__()
        self.process_group = collectives._found(process_group)
        if device_ids:
            empty(0, device=f"cuda:{device_ids[0]}")
        self._learning = {name: each for name, each in module.named_parameters() if each.requires_grad}
        if not self._learning:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient."
            )
        self.module, self.broadcast_buffers, self.find_unused = module, broadcast_buffers, find_unused_parameters
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._missing: set[Any] | None = None
        self._begun = False
        if init_sync:
            self._take([*module.parameters(), *module.buffers()], "the construction of DistributedDataParallel")
        for parameter in self._learning.values():
            parameter.register_post_accumulate_grad_hook(self._arrived)

    @restoring
    def _take(self, tensors: Sequence[Tensor], name: str) -> None:
        with no_grad():
            collectives.take(tensors, 0, self.process_group, name)

    def forward(self, *args: object, **options: object) -> Any:
        """The result of the module."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs and self._begun:
            missing = ", ".join(name for name, each in self._learning.items() if node(each) in (self._missing or ()))
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a new one: there was no gradient "
                f"for {missing}. If the loss does not depend on it, say find_unused_parameters=True"
            )
        if self.require_forward_param_sync and self.broadcast_buffers and [*self.module.buffers()]:
            self._take([*self.module.buffers()], "forward of DistributedDataParallel")
        result = self.module(*args, **options)
        self.require_forward_param_sync = syncs
        if syncs:
            self._missing = {node(parameter) for parameter in self._learning.values()}
            self._missing &= _reached(result) if self.find_unused else self._missing
        return result

    def _arrived(self, parameter: Tensor) -> None:
        """The gradient of a parameter is there."""
        if self._missing is not None:
            self._begun = True
            self._missing.discard(node(parameter))
            if not self._missing:
                self._missing, self._begun = None, False
                self._average()

    @restoring
    def _average(self) -> None:
        """Replace all gradients by their means over the ranks; one that no rank has stays away."""
        learning = [*self._learning.values()]
        given = [each.grad is not None for each in learning]
        arrays = [
            np.zeros_like(each.detach().numpy()) if each.grad is None else each.grad.detach().numpy()
            for each in learning
        ]
        ranks = self.process_group.ranks
        *means, anywhere = ranks.reduced(
            [*arrays, np.array(given, float)], "mean", "backward of DistributedDataParallel"
        )
        with no_grad():
            for each, mean, used in zip(learning, means, anywhere, strict=True):
                if each.grad is not None:
                    each.grad.copy_(from_numpy(mean))
                elif used:
                    each.grad = from_numpy(mean)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose passes leave gradients as they are; the first pass after it averages what has added up."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def _reached(result: object) -> set[Node]:
    """The nodes on which a result depends."""
    nodes = [leaf.grad_fn for leaf in flatten(result)[0] if isinstance(leaf, Tensor) and leaf.grad_fn is not None]
    found: set[Any] = set()
    while nodes:
        node = nodes.pop()
        if node not in found:
            found.add(node)
            nodes += [each for each, _ in node.next_functions if each is not None]
    return found
