"""torch.utils.checkpoint's public names: recomputation in the backward pass to save memory."""

from ..autograd.checkpointing import (
    CheckpointError as CheckpointError,
    check_backward_validity as check_backward_validity,
    checkpoint as checkpoint,
    checkpoint_sequential as checkpoint_sequential,
    detach_variable as detach_variable,
    noop_context_fn as noop_context_fn,
    set_checkpoint_debug_enabled as set_checkpoint_debug_enabled,
    set_checkpoint_early_stop as set_checkpoint_early_stop,
)
from ..autograd.selective import (
    CheckpointPolicy as CheckpointPolicy,
    SelectiveCheckpointContext as SelectiveCheckpointContext,
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
)
