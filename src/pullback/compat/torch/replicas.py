"""torch.nn.parallel.DistributedDataParallel: one model in all ranks, whose gradients are averaged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._core import placement
from ..._core.modes import is_grad_enabled, no_grad
from ..._core.primitives import Carrier
from ..._core.trees import flatten
from ..._tensor.creation import from_numpy
from ...nn.modules.module import Module
from . import collectives


class DistributedDataParallel(Module):
    """A module of which every rank has a copy: the gradients of the parameters are averaged over the ranks.

    Parameters and buffers are those of rank 0 at the beginning, buffers again before each forward pass that a backward pass
    follows. When all gradients of a backward pass are there, they are replaced by their mean over the ranks.
    """

    def __init__(
        self,
        module: Any,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self.process_group = collectives._found(process_group)
        for place in device_ids or ():
            placement.here(f"cuda:{place}" if isinstance(place, int) else place)
        self._learning = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if not self._learning:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.")  # fmt: skip
        self.module, self.broadcast_buffers, self.find_unused_parameters = (
            module,
            broadcast_buffers,
            find_unused_parameters,
        )
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._missing: set[int] | None = None
        self._begun = False
        if init_sync:
            self._take([*module.parameters(), *module.buffers()])
        for parameter in self._learning:
            parameter.register_post_accumulate_grad_hook(self._arrived)

    def _take(self, tensors: Any) -> None:
        """Give tensors the values that they have in rank 0."""
        for tensor in tensors:
            collectives.broadcast(tensor, self.process_group.members[0], self.process_group)

    def forward(self, *args: Any, **options: Any) -> Any:
        """The result of the module."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs and self._begun:
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a new one: parameters have got "
                f"no gradient ({', '.join(self._names(self._missing))}). If the loss does not depend on them, say "
                "find_unused_parameters=True"
            )
        if self.require_forward_param_sync and self.broadcast_buffers:
            self._take(self.module.buffers())
        result = self.module(*args, **options)
        self.require_forward_param_sync = syncs
        if syncs:
            known = {id(parameter) for parameter in self._learning}
            self._missing = known & _used(result) if self.find_unused_parameters else known
        return result

    def _names(self, missing: Any) -> list[str]:
        return [name for name, parameter in self.module.named_parameters() if id(parameter) in missing]

    def _arrived(self, parameter: Any) -> None:
        """The gradient of a parameter is there."""
        if self._missing is None:
            return
        self._begun = True
        self._missing.discard(id(parameter))
        if not self._missing:
            self._missing, self._begun = None, False
            self._average()

    def _average(self) -> None:
        """Replace all gradients by their mean over the ranks; those that no rank has stay as they are."""
        there = np.array([parameter.grad is not None for parameter in self._learning], np.float32)
        arrays = [
            np.zeros_like(each.detach().numpy()) if each.grad is None else each.grad.detach().numpy()
            for each in self._learning
        ]
        *means, anywhere = self.process_group.ranks.reduced(
            [*arrays, there], "mean", "backward of DistributedDataParallel"
        )
        with no_grad():
            for parameter, mean, used in zip(self._learning, means, anywhere, strict=True):
                if parameter.grad is not None:
                    parameter.grad.copy_(from_numpy(mean))
                elif used:
                    parameter.grad = from_numpy(mean)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose passes leave gradients as they are; the first pass after it averages what has added up."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, *args: Any, **options: Any) -> Any:
        """Raises: all ranks have equally many batches, as DistributedSampler gives them.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "DistributedDataParallel.join is not in pullback: give all ranks equally many batches"
        )

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Raises: gradients are averaged.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "DistributedDataParallel.register_comm_hook is not in pullback: gradients are averaged"
        )


def _used(result: Any) -> set[int]:
    """The leaves on which a result depends."""
    nodes = [leaf.grad_fn for leaf in flatten(result)[0] if isinstance(leaf, Carrier) and leaf.grad_fn is not None]
    seen, found = set(), set()
    while nodes:
        node = nodes.pop()
        if id(node) not in seen:
            seen.add(id(node))
            found |= {id(node.variable)} if hasattr(node, "variable") else set()
            nodes += [each for each, _ in node.next_functions if each is not None]
    return found
