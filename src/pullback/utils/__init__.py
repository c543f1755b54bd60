"""torch.utils's surface, as far as it is about derivatives."""

from . import checkpoint as checkpoint
