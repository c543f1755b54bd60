"""Other programs, run for the user: the one place where a process is started with what is not written here."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def run_program(
    command: Sequence[str],
    given: bytes | None = None,
    seconds: float | None = None,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What a program with its arguments, of which no shell reads any, has printed, and its exit code."""
    return subprocess.run(  # noqa: S603  # a program that the user asked for, or one of its name
        command, input=given, timeout=seconds, cwd=folder, env=environment, capture_output=True, check=False
    )
