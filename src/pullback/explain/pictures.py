"""The graph as a picture, drawn by Graphviz if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess

from .dot import to_dot
from .processes import run_program
from .trace import Call

SECONDS = 60


def to_svg(call: Call, detail: str = "auto") -> str:
    """The graph as SVG.

    Raises
    ------
    RuntimeError
        If Graphviz's `dot` is not on the path, or fails.
    """
    dot = shutil.which("dot")
    if dot is None:
        raise RuntimeError(
            "a picture is drawn by Graphviz, and there is no `dot` on the path. Install Graphviz, or save the page "
            "(.html) or the text (.txt), which need nothing; .dot and .mmd can be drawn elsewhere"
        )
    try:
        done = run_program([dot, "-Tsvg"], to_dot(call, detail).encode(), SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"dot took more than {SECONDS} seconds: save the page (.html), which folds") from None
    if done.returncode:
        raise RuntimeError(f"dot failed: {done.stderr.decode(errors='replace').strip()[:500]}")
    return _standalone(done.stdout.decode())


def _standalone(svg: str) -> str:
    """The SVG without its reference to the DTD on the network."""
    return re.sub(r"<!DOCTYPE[^>]*>\s*", "", svg)
