"""Each message that the source raises is known to a test, or to an example that is run: three words of it in a row stand there.

Words that other messages share, such as "must be an", count only where a message has no others.
tests/errors/untold.txt has those of before that no test knows. A new message brings its test; the list only gets shorter.
"""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import pullback
from source import called

ROOT = Path(__file__).parent.parent.parent
SOURCE = Path(pullback.__file__).parent
UNTOLD = Path(__file__).with_name("untold.txt")
pytestmark = pytest.mark.skipif(not (ROOT / "tests/parity").exists(), reason="tests beside torch are in the repository")


def threes(text):
    """The words of a text, three in a row."""
    words = re.findall(r"\w+", text)
    return zip(words, words[1:], words[2:], strict=False)


def messages():
    """The messages of the source, by what they say always, with its words: those that stand where the error is made."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and called(node).endswith("Error"):
                parts = getattr(node.args[0], "values", [node.args[0]])
                texts = [part.value for part in parts if isinstance(getattr(part, "value", None), str)]
                words = {three for each in texts for three in threes(each)}
                if words:
                    line = " ... ".join(" ".join(each.split()) for each in texts)
                    found[f"{path.relative_to(SOURCE).as_posix()}: {line}"] = words
    return found


def told():
    """The texts of tests, and the errors of examples; strings that go on in the next line are joined."""
    for folder in ("tests", "docs", "src"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md"}:
                text = path.read_text(encoding="utf-8")
                text = text if folder == "tests" else "\n".join(re.findall(r"(?m)^ *\w+Error: (.*)$", text))
                yield re.sub(r"""["']\s*\n\s*r?f?["']""", "", text).replace("\\", "")


def test_a_new_message_is_known_to_a_test():
    said, known = messages(), set()
    counts = Counter(three for words in said.values() for three in words)
    for text in told():
        known |= counts.keys() & threes(text)
    own = {line: {three for three in words if counts[three] == 1} or words for line, words in said.items()}
    listed = {*UNTOLD.read_text(encoding="utf-8").splitlines()}
    new = {line for line, words in own.items() if not words & known} - listed
    assert len(said) > 1500
    assert not new, (
        "write a test of each of these messages, with three words of it in `match=` that no other message has:\n"
        + "\n".join(sorted(new))
    )
    gone = "\n".join(sorted(listed - said.keys()))
    assert not gone, f"the source has these messages no longer: take them out of {UNTOLD.name}\n{gone}"
