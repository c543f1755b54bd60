"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from . import checkpoint as checkpoint
from . import data as data
from . import trees as trees
