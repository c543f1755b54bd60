"""The HTML page: one file with a trace and the program that shows it; it loads nothing else."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import html
import json
import re
import tempfile
import webbrowser
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

# A trace of more characters is compressed, to about a tenth; a page of more is too large for a notebook cell.
PACKED = 100_000
CELL = 2_000_000
# A row of a Jacobian with more columns is only described.
ROW = 8

THEMES = ("auto", "light", "dark")
FILES = ("explain.css", "common.js", "explain.js", "later.js", "computing.js", "run.js")

# Characters that would end the enclosing element or line; JSON can write them as escapes.
_LIVE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

# What a frame does in a notebook when it has loaded: it takes the place of what is static and is as high as its page says.
# The attribute `hidden` would not work: notebook styles set pictures to display: block.
_LOADED = (
    "const f=this;f.style.height='900px';f.previousElementSibling.style.display='none';"
    "window.addEventListener('message',e=>{if(e.source===f.contentWindow&&e.data?.pullback==='height')"
    "f.style.height=Number(e.data.height)+'px'});f.contentWindow.postMessage({pullback:'height?'},'*')"
)

EMBEDDED = "#embed"
"""The start of a page that is shown inside another one: without its header, as high as what it shows."""

# The page's own style and programs are compressed as well. Added unpacked, they are what the policy's digests allow. What the
# first screen does without waits until that has been seen.
_UNPACK = (
    "(async()=>{const text=e=>{const s=atob(e.textContent),b=new Uint8Array(s.length);"
    "for(let i=0;i<s.length;i++)b[i]=s.charCodeAt(i);"
    "return new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).text()},"
    "put=async([e,t])=>{t=await t;if(!e.dataset.for){e.textContent=t;return}"
    "const made=document.createElement(e.dataset.for);made.textContent=t;e.remove();document.head.append(made)},"
    "begin=which=>[...document.querySelectorAll('[data-encoding]'+which)].map(e=>[e,text(e)]);"
    "for(const each of begin(':not([data-later])'))await put(each);"
    "await new Promise(done=>{setTimeout(done,500);requestAnimationFrame(()=>setTimeout(done))});"
    "for(const each of begin('[data-later]'))await put(each);"
    "dispatchEvent(new Event('whole'))})()"
    ".catch(e=>{document.querySelector('#app').textContent='pullback explain: '+e})"
)

_SCRIPT = '<script type="text/plain" data-encoding="gzip" data-for="{}"{}>{}</script>\n'

_PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}" data-start="{start}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{title}</title>
</head>
<body>
<div id="app"><noscript>{still}</noscript></div>
<script type="application/json" id="trace"{encoding}>{trace}</script>
{bundle}<script>{unpack}</script>
</body>
</html>
"""


@cache
def bundle() -> dict[str, str]:
    """The page's programs and its style sheet by the names of their files, as built for the wheel.

    Raises
    ------
    RuntimeError
        If they were not built: an editable install without Node.
    """
    folder = resources.files(__package__) / "static"
    try:
        return {name: (folder / name).read_text(encoding="utf-8").strip() for name in FILES}
    except FileNotFoundError:
        raise RuntimeError(
            "the page of explain was not built into this installation: install Node and run\n"
            "    npm --prefix frontend ci --ignore-scripts && npm --prefix frontend run build\n"
            "in the checkout, or install pullback from a wheel. Text, DOT, Mermaid and JSON work without it"
        ) from None


def _programs(trace: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The files that the page needs, and those that it needs when it has been seen."""
    if trace["schema"] == "pullback-run":
        return ["explain.css", "common.js", "run.js"], []
    # Only pages of calls that can be computed anew have what computes.
    return ["explain.css", "common.js", "explain.js"], ["later.js", *["computing.js"] * bool(trace.get("statements"))]


def to_html(trace: dict[str, Any], *, theme: str = "auto", start: str = "") -> str:
    """A trace, or training runs, as one HTML file; it sends no request and runs no program but its own.

    `start` is the state in which it opens, written as in its address.

    Raises
    ------
    ValueError
        If the theme is invalid.
    RuntimeError
        If the page's script is not part of this installation.
    """
    if theme not in THEMES:
        raise ValueError(f"theme must be 'auto', 'light' or 'dark', not {theme!r}")
    files = bundle()
    first, later = _programs(trace)
    data = json.dumps(_lean(trace), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_LIVE)
    encoding = ""
    if len(data) > PACKED:
        data = _packed(data)
        encoding = ' data-encoding="gzip"'
    scripts = " ".join(_digest(files[name]) for name in (*first, *later) if name.endswith(".js"))
    policy = (
        f"default-src 'none'; script-src {_digest(_UNPACK)} {scripts}; "
        f"style-src {_digest(files['explain.css'])}; img-src data: blob:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    bundled = [
        _SCRIPT.format("style" if name.endswith(".css") else "script", mark, _packed_once(files[name]))
        for names, mark in ((first, ""), (later, " data-later"))
        for name in names
    ]
    parts = {
        "theme": theme,
        "start": html.escape(start),
        "policy": policy,
        "title": html.escape(_title(trace)),
        "still": _still(trace),
        "bundle": "".join(bundled),
        "unpack": _UNPACK,
        "encoding": encoding,
        "trace": data,
    }
    # Each part is inserted once and not scanned again, so that no part can refer to another.
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _PAGE)


def _packed(text: str) -> str:
    """The text compressed. The timestamp is left out of the bytes, so that the same trace gives the same page."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


_packed_once = lru_cache(8)(_packed)


def _lean(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace without what no page shows: the long Jacobians of a network's parameters, whose one row is the gradient."""
    calls = [
        call | {"leaves": [*map(_leaf, call["leaves"])]} if call["gradients"] else call
        for call in trace.get("calls", [])
    ]
    return trace | {"calls": calls} if calls else trace


def _leaf(leaf: dict[str, Any]) -> dict[str, Any]:
    long = [local is not None and local["rows"] == 1 and local["cols"] > ROW for local in leaf["jacobians"]]
    if not any(long):
        return leaf
    return leaf | {"jacobians": [None if cut else local for cut, local in zip(long, leaf["jacobians"], strict=True)]}


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _primary(trace: dict[str, Any]) -> dict[str, Any] | None:
    calls: list[dict[str, Any]] = trace.get("calls", [])  # training runs have none
    return calls[trace["primary"] or 0] if calls else None


def _title(trace: dict[str, Any]) -> str:
    call = _primary(trace)
    given = trace["title"] or (call["text"] if call else "no backward call")
    return f"{given[:200]} - pullback explain"


def _still(trace: dict[str, Any]) -> str:
    """The text shown if scripts are disabled: the call and the gradients."""
    lines = ["This page needs JavaScript."]
    if call := _primary(trace):
        lines.insert(0, call["text"])
        for leaf in call["leaves"]:
            name = call["tensors"][leaf["tensor"]]["name"]
            lines.append(f"{name}.grad gets {leaf['grad'].get('data', leaf['grad']['shape'])}")
    return "".join(f"<p>{html.escape(line[:2000])}</p>" for line in lines)


def browse(page: str) -> Path:
    """Write a page to a temporary file and open it in a browser; without a browser, the path is printed."""
    with tempfile.NamedTemporaryFile("w", prefix="pullback-", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(page)
    path = Path(file.name)
    if not webbrowser.open(path.as_uri()):
        print(path)  # noqa: T201  # the result of show() if no browser is available
    return path


def mimebundle(text: str, page: Callable[[], str], picture: Callable[[], str] | None = None) -> dict[str, str]:
    """What a notebook shows: the page, and a picture, if one can be drawn, and the text where scripts do not run."""
    still = f"<pre>{html.escape(text)}</pre>"
    if picture is not None:
        with contextlib.suppress(RuntimeError):  # Graphviz is not installed
            address = base64.b64encode(picture().encode()).decode("ascii")
            still = f'<img alt="The graph" style="max-width:100%" src="data:image/svg+xml;base64,{address}">{still}'
    try:
        shown = frame(page(), f"<div>{still}</div>")
    except RuntimeError as error:  # the page was not built
        shown = f"{still}<p>{html.escape(str(error))}</p>"
    return {"text/plain": text, "text/html": shown}


def frame(page: str, still: str) -> str:
    """HTML for a notebook cell: what is static, and the page in a frame that takes its place when it has loaded.

    The frame has no height before, so that there is no gap where a notebook removes the handler of its load, or blocks it.
    """
    if len(page) > CELL:
        size = f"{len(page) / 1e6:.1f} MB"
        return f"{still}<p>The page has {size}, too much for a cell: .save('page.html') writes it to a file.</p>"
    return (
        f'{still}<iframe title="pullback explain" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:0;border:0" onload="{html.escape(_LOADED)}" srcdoc="{html.escape(page)}"></iframe>'
    )
