"""What pages of the site have beyond docs/: plots, flowcharts, live pages, the changelog, fields of traces, symptoms."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from flowchart import drawing

ROOT = Path(__file__).resolve().parent.parent
DOCS, SOURCE = ROOT / "docs", ROOT / "src"
BLOCK = re.compile(r"^```(python|\{plot\}|mermaid)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)]*)?\)")


def drawn(folder: Path, page: Path, text: str) -> str:
    """A page with its pictures: its flowcharts, and those of its blocks that plot."""
    names: dict[str, Any] = {"__name__": "__main__"}
    last = text.rfind("```{plot}")

    def block(match: re.Match[str]) -> str:
        kind, code = match.groups()
        if kind == "mermaid":
            return drawing(code)
        if kind == "{plot}":
            return plotted(folder, page, match.start(), code, names)
        if match.start() < last:  # plots see the names of the blocks before them
            execute(code, names)
        return match[0]

    return BLOCK.sub(block, text)


def execute(code: str, names: dict[str, Any]) -> None:
    """Run the code of a block; whether it prints what the page says is for tests/test_docs.py."""
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, names, "page", None, None)
        test.globs = names
        doctest.DocTestRunner().run(test, out=lambda _: None, clear_globs=False)
    else:
        exec(code, names)


def plotted(folder: Path, page: Path, start: int, code: str, names: dict[str, Any]) -> str:
    """A block that plots, with its picture; its first line is a comment that describes it."""
    described, _, code = code.removeprefix("# ").partition("\n")
    place = folder / "_static" / "plots" / f"{page.stem}-{start}.svg"
    place.parent.mkdir(exist_ok=True)
    plt = importlib.import_module("matplotlib.pyplot")  # which a list of names does not need
    exec(code, names)
    plt.savefig(place, bbox_inches="tight")
    plt.close()
    folded = f"<details><summary>Code of the picture</summary>\n\n```python\n{code}```\n\n</details>"
    return f"![{described}]({os.path.relpath(place, page.parent)})\n\n{folded}\n"


def live(folder: Path) -> None:
    """Write the page of explain for each script of docs/live; one whose first word is "Raises" has to raise."""
    folder.mkdir(parents=True)
    for script in sorted((DOCS / "live").glob("*.py")):
        command = [sys.executable, "-m", "pullback", "explain", "-o", str(folder / f"{script.stem}.html"), script.name]
        environment = os.environ | {"PYTHONPATH": str(SOURCE)}
        raises = script.read_text(encoding="utf-8").startswith('"""Raises')
        done = subprocess.run(command, cwd=script.parent, env=environment, check=False, capture_output=True, text=True)
        assert done.returncode == raises, f"{script.name} ended with {done.returncode}\n{done.stderr}"


ANEW = ("derivation", "statement", "account", "line")
"""The parts of the trace file that say how a call is computed anew."""


def fields(*, anew: bool) -> str:
    """The parts of the trace file with their fields, as its schema describes them: those of `ANEW`, or all others."""
    schema = json.loads((SOURCE / "pullback" / "explain" / "schema.json").read_text(encoding="utf-8"))
    parts = {"the document": schema, **schema["$defs"]}
    found = []
    for name, part in parts.items():
        if (name in ANEW) != anew:
            continue
        rows = [
            f"| `{field}` | {what.get('description', '').replace('|', chr(92) + '|')} |"
            for field, what in part.get("properties", {}).items()
        ]
        if rows:
            found.append(
                "\n".join([f"## {name}\n", part.get("description", ""), "\n| field | what it is |", "|---|---|", *rows])
            )
    return "\n\n".join(found)


def changelog() -> str:
    """CHANGELOG.md, with what the next release brings; its links as they are from within docs/."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    before, mark, after = text.partition("<!-- releases -->\n")
    assert mark, "CHANGELOG.md has lost the mark at which releases are inserted"
    coming = "\n\n## Next release\n"
    for kind in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]["type"]:
        found = sorted((ROOT / "changelog.d").glob(f"*.{kind['directory']}.md"))
        lines = [" ".join(each.read_text(encoding="utf-8").split()) for each in found]
        if lines:  # hundreds: folded, so that the releases below are in reach
            listed = "\n".join(f"- {line}" for line in lines)
            coming += (
                f"\n### {kind['name']}\n\n<details><summary>{len(lines)} entries</summary>\n\n{listed}\n\n</details>\n"
            )
    return LINK.sub(lambda link: f"]({os.path.relpath(ROOT / link[1], DOCS)}{link[2] or ''})", before + coming + after)


def symptoms(folder: Path) -> None:
    """Add what readers search for to the index of the site, at the headings that docs/symptoms.txt names; `*` is the title."""
    for line in (DOCS / "symptoms.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        place, _, words = line.partition(" = ")
        file, _, heading = place.partition(": ")
        text = (folder / file).read_text(encoding="utf-8")
        pattern = ".*" if heading == "*" else re.escape(heading)
        entries = ", ".join(f"! {each}" for each in words.split("; "))
        text, count = re.subn(rf"(?m)^(#+ {pattern})$", rf"\1\n\n```{{index}} {entries}\n```", text, count=1)
        assert count, f"docs/symptoms.txt: {file} has no heading {heading!r}"
        (folder / file).write_text(text, encoding="utf-8")
