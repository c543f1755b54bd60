"""What is the same as torch's and what differs, for each page of the reference: from the pages of docs/reference that list it.

What torch lacks stands in beside.txt. tests/parity/test_names.py compares it with torch; `python scripts/beside.py` writes it,
where torch is installed.
"""

import functools
import importlib
import re
from pathlib import Path

from inserts import DOCS

FILE = Path(__file__).with_name("beside.txt")
OTHERS = {"distributed", "testing"}
"""Modules whose names have another meaning in torch."""
PAGES = ("torch-differences", "torch-numbers")
EVERYWHERE = "[what holds everywhere](../torch-differences.md)"
CODE = re.compile(r"`\.?([A-Za-z_][\w.]*)")


@functools.cache
def lacking() -> dict[str, set[str]]:
    """By modules that torch has, too, the names that it has not."""
    rows = (line.split() for line in FILE.read_text(encoding="utf-8").splitlines())
    return {module.removesuffix(":"): {*names} for module, *names in rows}


@functools.cache
def differences() -> list[tuple[str, str, frozenset[str]]]:
    """The bold sentences of the pages about what differs, each with its section's address, and what is named there."""
    texts = {page: (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    found = []
    for page, section in ((page, each) for page, text in texts.items() for each in text.split("\n## ")[1:]):
        title, _, body = section.partition("\n")
        address = f"../{page}.md#{re.sub('[^a-z0-9]+', '-', title.lower())}"
        for item in re.split(r"(?m)^(?=\*\*)", re.sub(r"(?ms)^```.*?^```\n", "", body))[1:]:
            lead, rest = re.match(r"(?s)\*\*(.*?)\*\*(.*)", item).groups()
            said = " ".join(lead.split()).rstrip(".,")
            found.append((address, said, frozenset(CODE.findall(lead + rest.partition("\n\n")[0]))))
    return found


def beside_torch(module: str, listed: list[str]) -> str:
    """A sentence: whether names of a module are the same as torch's, or what differs; nothing if torch has none of them."""
    if module not in lacking():
        return ""
    prefix = "" if module == "pullback" else f"{module}."
    own = [name for name in listed if name in lacking()[module]]
    if len(own) == len(listed):
        return ""
    what = f"`torch.{prefix}{listed[0]}`" if len(listed) == 1 else f"those of `torch{prefix and '.'}{prefix[:-1]}`"
    told = []
    for address, said, codes in differences():
        if about := [name for name in listed if name not in own and (codes & _spellings(module, name))]:
            names = "" if len(listed) == 1 else f"{', '.join(f'`{name}`' for name in about)}: "
            told.append(f"- {names}[{said}]({address})")
    text = f"The same as {what}, but for {EVERYWHERE}"
    alone = f" torch has no {', '.join(f'`{name}`' for name in own)}." if own else ""
    return (
        f"{text}{' and this:' if told else '.'}{alone}\n\n" + "".join(f"{line}\n" for line in told) + "\n" * bool(told)
    )


def _spellings(module: str, name: str) -> set[str]:
    """How the page of differences writes a name: with its module, or alone where that is the package's or a tensor's."""
    alone = (
        {name, f"x.{name}", f"y.{name}", f"Tensor.{name}"}
        if module in {"pullback", "Tensor", "nn", "nn.functional"}
        else set()
    )
    return {f"{module}.{name}", *alone}


def found() -> str:
    """What torch lacks, by modules, where it is installed."""
    reference, torch = importlib.import_module("reference"), importlib.import_module("torch")
    lines = []
    for module in reference.CHAPTERS:
        if module in OTHERS:
            continue
        try:
            path = {"pullback": "torch", "Tensor": "torch"}.get(module, f"torch.{module}")
            theirs = torch.Tensor if module == "Tensor" else importlib.import_module(path)
        except ImportError:
            continue
        lines.append(" ".join([f"{module}:", *[name for name in reference.names(module) if not hasattr(theirs, name)]]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(found(), encoding="utf-8")
