"""torch.utils.checkpoint's public names: recomputation in the backward pass to save memory."""

from ..autograd.checkpointing import CheckpointError as CheckpointError
from ..autograd.checkpointing import check_backward_validity as check_backward_validity
from ..autograd.checkpointing import checkpoint as checkpoint
from ..autograd.checkpointing import checkpoint_sequential as checkpoint_sequential
from ..autograd.checkpointing import detach_variable as detach_variable
from ..autograd.checkpointing import noop_context_fn as noop_context_fn
from ..autograd.checkpointing import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..autograd.checkpointing import set_checkpoint_early_stop as set_checkpoint_early_stop
from ..autograd.selective import CheckpointPolicy as CheckpointPolicy
from ..autograd.selective import SelectiveCheckpointContext as SelectiveCheckpointContext
from ..autograd.selective import create_selective_checkpoint_contexts as create_selective_checkpoint_contexts
