"""Standard streams: pipes whose reader has seen enough, such as `head`, and streams that a program has closed or replaced."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def own_streams() -> Iterator[None]:
    """A block after which the standard streams are what they were; in place of a closed one there is the other, or none."""
    before: tuple[TextIO | None, TextIO | None] = sys.stdout, sys.stderr
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # it may be the program's own
            sys.stdout.flush()
        out, err = (None if each is None or each.closed else each for each in before)
        sys.stdout, sys.stderr = out or err or io.StringIO(), err or io.StringIO()


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
