"""torch.utils.checkpoint's surface: memory saved by computing again."""

from ..checkpointing import CheckpointError as CheckpointError
from ..checkpointing import check_backward_validity as check_backward_validity
from ..checkpointing import checkpoint as checkpoint
from ..checkpointing import checkpoint_sequential as checkpoint_sequential
from ..checkpointing import detach_variable as detach_variable
from ..checkpointing import noop_context_fn as noop_context_fn
from ..checkpointing import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..checkpointing import set_checkpoint_early_stop as set_checkpoint_early_stop
from ..selective import CheckpointPolicy as CheckpointPolicy
from ..selective import SelectiveCheckpointContext as SelectiveCheckpointContext
from ..selective import create_selective_checkpoint_contexts as create_selective_checkpoint_contexts
