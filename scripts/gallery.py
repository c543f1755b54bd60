"""The gallery of the site: each picture that a page draws, with the names that the page's programs use."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PICTURE = re.compile(r"!\[([^\]]*)\]\((\S*/plots/\S+\.svg)\)")
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"(?<![\w.])(?:(?:pullback|torch)\.)?([A-Za-z_]\w*(?:\.\w+)*)")
SHORT = {"F": "nn.functional"}
SHOWN = 8
MARK = "<!-- gallery: made by scripts/gallery.py -->"


def used(text: str, known: set[str]) -> list[str]:
    """The public names that the programs of a page use, each once, with its module."""
    found: dict[str, None] = {}
    for block in CODE.findall(text):
        lines = [line for line in block.splitlines() if ">>>" not in block or line.startswith((">>> ", "... "))]
        for match in DOTTED.finditer("\n".join(lines)):
            first, *rest = match[1].split(".")
            words = [*SHORT.get(first, first).split("."), *rest]
            whole = match[0] != match[1] or len(words) > 1
            places = [".".join(["pullback", *words[:end]]) for end in range(len(words), 0, -1)] if whole else []
            found |= dict.fromkeys([place for place in places if place in known][:1])
    return [*found]


def cards(folder: Path, home: Path, known: set[str]) -> Iterator[str]:
    """A card for each picture of the pages of the site: the picture, its page, and the names, first those that few pages use."""
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(folder.rglob("*.md"))}
    drawn = {page: used(text, known) for page, text in texts.items() if PICTURE.search(text)}
    counts = Counter(name for names in drawn.values() for name in names)
    for page, names in drawn.items():
        title = texts[page].partition("# ")[2].partition("\n")[0]
        place = os.path.relpath(page, home)
        listed = sorted(names, key=counts.__getitem__)[:SHOWN]
        links = ", ".join(f"{{py:obj}}`{name.removeprefix('pullback.')} <{name}>`" for name in listed)
        for described, picture in PICTURE.findall(texts[page]):
            path = os.path.relpath((page.parent / picture).resolve(), home)
            yield f"```{{container}} card\n[![{described}]({path})]({place})\n\n[{title}]({place}): {described}\n\n{links}\n```\n"


def gallery(folder: Path, known: set[str]) -> None:
    """Complete the page of the gallery."""
    page = folder / "how-to" / "gallery.md"
    text = page.read_text(encoding="utf-8")
    assert MARK in text
    made = "\n".join(cards(folder, page.parent, known))
    page.write_text(text.replace(MARK, f"````{{container}} gallery\n\n{made}\n````\n"), encoding="utf-8")
