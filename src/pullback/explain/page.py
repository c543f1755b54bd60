"""The page: one HTML file that holds a trace, the program that shows it, and nothing that has to be fetched."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import tempfile
import webbrowser
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

# A trace of more characters is packed, and a page of more is too large for the cell of a notebook.
PACKED = 1_000_000
CELL = 2_000_000

THEMES = ("auto", "light", "dark")

# What would end the element or the line that a text stands in, as JSON may write it too.
_LIVE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

_PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"><noscript>{still}</noscript></div>
<script type="application/json" id="trace"{encoding}>{trace}</script>
<script>{program}</script>
</body>
</html>
"""


@cache
def bundle() -> tuple[str, str]:
    """The page's program and its style, as the build of the wheel left them.

    Raises
    ------
    RuntimeError
        If they were not built: an editable install made without Node.
    """
    folder = resources.files(__package__) / "static"
    try:
        program, style = ((folder / name).read_text(encoding="utf-8") for name in ("explain.js", "explain.css"))
    except FileNotFoundError:
        raise RuntimeError(
            "the page of explain was not built into this installation: install Node and run\n"
            "    npm --prefix frontend ci --ignore-scripts && npm --prefix frontend run build\n"
            "in the checkout, or install pullback from a wheel. Text, DOT, Mermaid and JSON work without it"
        ) from None
    return program.strip(), style.strip()


def to_html(trace: dict[str, Any], *, theme: str = "auto") -> str:
    """A trace as one HTML file: opened from anywhere, it sends no request and runs nothing but its own program.

    Raises
    ------
    ValueError
        If there is no such theme.
    RuntimeError
        If the page's program is not part of this installation.
    """
    if theme not in THEMES:
        raise ValueError(f"theme must be 'auto', 'light' or 'dark', not {theme!r}")
    program, style = bundle()
    data = json.dumps(trace, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_LIVE)
    encoding = ""
    if len(data) > PACKED:
        # The clock is left out of the packed bytes: the same trace makes the same page.
        data = base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode("ascii")
        encoding = ' data-encoding="gzip"'
    policy = (
        f"default-src 'none'; script-src {_digest(program)}; style-src {_digest(style)}; img-src data: blob:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "theme": theme,
        "policy": policy,
        "title": html.escape(_title(trace)),
        "still": _still(trace),
        "style": style,
        "program": program,
        "encoding": encoding,
        "trace": data,
    }
    # Each part is put in once and not looked at again, so that no part can name another.
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _PAGE)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _primary(trace: dict[str, Any]) -> dict[str, Any] | None:
    calls: list[dict[str, Any]] = trace["calls"]
    return calls[trace["primary"] or 0] if calls else None


def _title(trace: dict[str, Any]) -> str:
    call = _primary(trace)
    given = trace["title"] or (call["text"] if call else "no backward call")
    return f"{given[:200]} - pullback explain"


def _still(trace: dict[str, Any]) -> str:
    """What is said where scripts are off: the call and the gradients."""
    call = _primary(trace)
    lines = ["This page steps through a backward call, for which it needs JavaScript."]
    for leaf in call["leaves"] if call else []:
        name = call["tensors"][leaf["tensor"]]["name"]  # type: ignore[index]  # there is a call if it has leaves
        lines.append(f"{name}.grad gets {leaf['grad'].get('data', leaf['grad']['shape'])}")
    return "".join(f"<p>{html.escape(line[:2000])}</p>" for line in [*(([call["text"]]) if call else []), *lines])


def browse(page: str) -> Path:
    """Write a page to a temporary file and open it in a browser; where there is none, the path is printed."""
    with tempfile.NamedTemporaryFile("w", prefix="pullback-", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(page)
    path = Path(file.name)
    if not webbrowser.open(path.as_uri()):
        print(path)  # noqa: T201  # the answer to show() where nothing can be shown
    return path


def mimebundle(explanation: Any) -> dict[str, Any]:
    """What a notebook shows of an explanation: the page, over a still picture for where scripts do not run."""
    text = repr(explanation)
    if not explanation.all_calls:
        return {"text/plain": text}
    try:
        address = base64.b64encode(explanation.to_svg().encode()).decode("ascii")
        still = f'<img alt="The graph of the call" style="max-width:100%" src="data:image/svg+xml;base64,{address}">'
    except RuntimeError:  # there is nothing here that draws
        still = f"<pre>{html.escape(text)}</pre>"
    try:
        page = explanation.to_html()
    except RuntimeError as error:  # the page was not built
        return {"text/plain": text, "text/html": f"{still}<p>{html.escape(str(error))}</p>"}
    return {"text/plain": text, "text/html": frame(page, still)}


def frame(page: str, still: str) -> str:
    """HTML for the cell of a notebook: something still, and the page in a frame that takes its place where it may run."""
    if len(page) > CELL:
        size = f"{len(page) / 1e6:.1f} MB"
        return f"{still}<p>The page has {size}, too much for a cell: .save('page.html') writes it to a file.</p>"
    # Not by `hidden`: the styles of notebooks make pictures blocks, which that does not hide.
    return (
        f'{still}<iframe title="pullback explain" sandbox="allow-scripts allow-downloads" '
        'style="width:100%;height:900px;border:0" onload="this.previousElementSibling.style.display=&#39;none&#39;" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
