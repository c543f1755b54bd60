"""Every example that a reader meets is run: in docstrings, in the pages, and in examples/seeds/."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import reference

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((SOURCE / "pullback").rglob("*.py"))
]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "changelog.d/README.md"]
SEEDS = sorted((ROOT / "examples" / "seeds").glob("*.py"))  # the others: tests/test_examples.py

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
REPOSITORY = "https://github.com/pullback-autograd/pullback/blob/main/"
PICTURES = "https://raw.githubusercontent.com/pullback-autograd/pullback/main/"
ABSOLUTE = re.compile(rf"\]\((?:{REPOSITORY}|{PICTURES})([^)#]+)(?:#([^)]*))?\)")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run(test: doctest.DocTest) -> None:
    """Run one doctest to its end, and fail with all that differs."""
    report: list[str] = []
    failed, _ = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
    assert not failed, "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    names = {"__name__": "__main__"} if name == "pullback" else None  # among its own `float` is a dtype
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name, globs=names):
        run(test)


@pytest.mark.parametrize("module", [*reference.MODULES, "Tensor"])
def test_the_reference(module: str) -> None:
    """The entries of a module's names, also of those that are made elsewhere, in another form or from a table."""
    texts = {reference.described(module, name): name for name in reference.names(module)}
    for text, name in texts.items():
        run(doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, f"{module}.{name}", None, None))


def test_most_names_of_the_reference_have_an_example() -> None:
    counts = reference.examples()
    names, shown = (sum(each) for each in zip(*counts.values(), strict=True))
    assert shown >= 0.6 * names, f"{shown} of {names}"
    names, shown = counts["Tensor"]  # of others all functions and classes have one, see below
    assert shown >= 0.6 * names, f"Tensor: {shown} of {names}"


# Other names of functions whose entries have one, and what takes a page: docs/how-to has it
WITHOUT = set(
    "LinAlgError bartlett_window blackman_window compile explain gru log_softmax lstm mm moveaxis "
    "multi_head_attention_forward permute rnn_relu rnn_tanh softmax swapdims upsample".split()
)


@pytest.mark.parametrize("module", "pullback nn nn.functional linalg fft special optim func".split())
def test_every_function_and_class_has_an_example(module: str) -> None:
    values = {name: getattr(reference.owner(module), name) for name in reference.names(module)}
    lacking = {
        name for name, value in values.items() if callable(value) and ">>>" not in reference.described(module, name)
    }
    assert not lacking - WITHOUT, f"write an example in the docstrings of {sorted(lacking - WITHOUT)}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_pages(page: Path) -> None:
    """The blocks of a page share their names, as its reader's session does; one without prompts is run as it is."""
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        if ">>>" in block[1]:
            test = doctest.DocTestParser().get_doctest(block[1], names, relative(page), str(page), line)
            test.globs = names  # itself, not a copy: a function sees what later blocks define
            run(test)
        else:
            exec(compile("\n" * line + block[1], page, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    dead = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert not dead


def test_the_readme_can_be_read_away_from_the_repository() -> None:
    """A package index shows it alone: its links are absolute, and lead to files and headings that exist."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not LINK.findall(text)
    links = ABSOLUTE.findall(text)
    assert len(links) > 10
    for path, anchor in links:
        assert (ROOT / path).exists(), path
        headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in map(slug, headings), anchor


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("example", SEEDS, ids=relative)
def test_seeds(example: Path) -> None:
    result = subprocess.run([sys.executable, "-W", "error", example], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_table_of_where_to_look_names_what_there_is() -> None:
    text = (
        (ROOT / "docs" / "explanation" / "how-it-works.md").read_text(encoding="utf-8").partition("## Where to look")[2]
    )
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) > 10
    for row in rows:
        for path in re.findall(r"`([\w/.]+)`", row):
            here = [ROOT / path, ROOT / "src" / "pullback" / path]
            assert path.isidentifier() or any(each.exists() for each in here), f"{path} in {row}"


def test_each_path_in_the_pages_for_contributors_is_there() -> None:
    pages = [ROOT / "docs/explanation/how-it-works.md", *sorted((ROOT / "docs/contribute").glob("*.md"))]
    roots = [ROOT, SOURCE, SOURCE / "pullback", SOURCE / "pullback/compile"]
    found = [
        (page.name, path)
        for page in pages
        for path in re.findall(r"`((?!build/)[\w.-]+(?:/[\w.-]+)+)/?(?:::\w+)?`", page.read_text(encoding="utf-8"))
    ]
    assert len(found) > 150
    assert [each for each in found if not any((root / each[1]).exists() for root in roots)] == []


def test_the_page_of_compile_names_each_module_of_machine_code() -> None:
    pages = [ROOT / "docs/contribute" / name for name in ("compile-internals.md", "compile-machine.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    modules = {path.name for path in (SOURCE / "pullback/compile/machine").glob("[a-z]*.py")}
    missing = modules - {*re.findall(r"\w+\.py", text)}
    assert not missing, f"neither page has a line about {sorted(missing)}"


CHANGES = "".join(
    page.read_text(encoding="utf-8") for page in PAGES if page.stem in {"where-a-change-goes", "changes-inside"}
)
SPANS = sorted({*re.findall(r"`([^`\n]+)`", CHANGES)})
FILES = [span for span in SPANS if re.fullmatch(r"(src|tests|docs|scripts|stubs|frontend|changelog\.d)/[\w./-]*", span)]


def test_where_a_change_goes_has_its_kinds() -> None:
    assert len(re.findall(r"^\| .* \| \[.*\]\(.*#.*\) \|$", CHANGES, re.MULTILINE)) >= 13
    headings = {slug(heading) for heading in re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)}
    assert {*re.findall(r"\]\((?:changes-inside\.md|where-a-change-goes\.md)?#([^)]+)\)", CHANGES)} <= headings
    assert len(FILES) > 50
    known = {path.name for path in (SOURCE / "pullback").rglob("*.py")}
    assert {span for span in SPANS if re.fullmatch(r"\w+\.py", span)} <= known


@pytest.mark.parametrize("path", FILES)
def test_where_a_change_goes_names_files_that_there_are(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", [span for span in SPANS if "::" in span])
def test_where_a_change_goes_names_tests_that_there_are(name: str) -> None:
    path, _, test = name.partition("::")
    assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


MODULE = r"^\| `(src/[\w/.]+\.py)`"


@pytest.mark.parametrize("row", [line for line in CHANGES.splitlines() if re.match(MODULE, line)])
def test_where_a_change_goes_names_what_its_files_have(row: str) -> None:
    """Tables in capitals, and functions, which are said of the files of a row."""
    files = [ROOT / path for path in re.findall(r"`((?:src|tests)/[\w/.]+\.py)`", row)]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for name in re.findall(r"`(_?[A-Z][A-Z_]+)`", row):
        assert re.search(rf"\b{name}\b", text), name
