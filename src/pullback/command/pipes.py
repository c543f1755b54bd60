"""Pipes whose reader has seen enough, such as `head`: no fault, and nothing to tell."""

from __future__ import annotations

import contextlib
import os
import select
from typing import TextIO


def reader_gone(stream: TextIO) -> bool:
    """True if nobody reads a stream any more; what is still to be written to it is then dropped."""
    try:
        stream.flush()
        gone = _is_broken(stream)
    except BrokenPipeError:
        gone = True
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        with contextlib.suppress(BrokenPipeError):
            stream.flush()
    return gone


def _is_broken(stream: TextIO) -> bool:
    """True for a pipe without a reader, as far as this system can say: after a write that failed, a flush has nothing to do."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
    except (AttributeError, OSError, ValueError):  # no such function; a stream that is no file
        return False
    return any(event & select.POLLERR for _, event in poll.poll(0))
