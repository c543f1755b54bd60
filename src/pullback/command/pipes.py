"""Pipes whose reader has seen enough, such as `head`: no fault, and nothing to tell."""

from __future__ import annotations

import os
from typing import TextIO


def reader_gone(stream: TextIO) -> bool:
    """True if nobody reads a stream any more; what is still to be written to it is then dropped."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return True
    return False
