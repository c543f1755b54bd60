"""Signal processing, by torch's names."""

from . import windows as windows
