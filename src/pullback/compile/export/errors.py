"""What cannot be exported, and why: everything that is missing, with the lines of the user's program."""

from __future__ import annotations

from collections.abc import Iterable

from ..program import Equation
from ..statements import described

MOST = 8
"""Lines of a message that name what is missing."""


class ExportError(Exception):
    """Raised, before anything is written, where a program has no C code."""


def missing(name: str, equations: Iterable[Equation]) -> ExportError:
    """The error that names all primitives without code, each with the lines that ask for it."""
    lines: dict[str, list[str]] = {}
    for e in equations:
        kinds = sorted({str(value.dtype) for value in (*e.inputs, *e.outputs)})
        what = f" ({e.params['distribution']})" if e.name == "draw" else ""
        title = f"{e.name}{what} of {' and '.join(kinds)}"
        known = lines.setdefault(title, [])
        site = "a line unknown" if e.site is None else described(e.site)[0].lstrip("# ")
        if site not in known:
            known.append(site)
    told = [
        f"  {title}: {sites[0]}" + (f", and {len(sites) - 1} more" * (len(sites) > 1)) for title, sites in lines.items()
    ]
    more = [f"  and {len(told) - MOST} others"] if len(told) > MOST else []
    head = (
        f"{name} cannot be exported: {len(told)} {'operation has' if len(told) == 1 else 'operations have'} no C code"
    )
    return ExportError("\n".join([head, *told[:MOST], *more]))
