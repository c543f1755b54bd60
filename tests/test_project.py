"""What pyproject.toml, the package, the workflows and the pages for contributors say of each other."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = DECLARED["project"], DECLARED["dependency-groups"]
CHANGED = runpy.run_path(str(ROOT / "scripts/changed"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_stands_in_the_package_alone() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    (written,) = re.findall(r'^__version__ = "(.*)"$', text("src/pullback/__init__.py"), re.MULTILINE)
    assert written == pullback.__version__


def test_all_links_lead_to_one_repository() -> None:
    home = PROJECT["urls"]["Homepage"]
    assert re.fullmatch(r"https://github\.com/[\w-]+/pullback", home)
    assert all(url.startswith(home) for url in PROJECT["urls"].values())
    for key in ("repository-code", "url"):
        assert re.findall(rf"^{key}: (.*)$", text("CITATION.cff"), re.MULTILINE) == [home]
    for label in PROJECT["urls"]:
        assert label in {"Homepage", "Documentation", "Source", "Changelog", "Issues", "Security"}
    linked = [url.removeprefix(home) for url in PROJECT["urls"].values()]
    for path in (re.sub(r"^/(blob|tree)/main/", "", each) for each in linked if "/main/" in each):
        assert (ROOT / path).exists(), path


def test_the_version_is_cited_and_has_notes() -> None:
    (cited,) = re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE)
    (day,) = re.findall(r"^date-released: (.*)$", text("CITATION.cff"), re.MULTILINE)
    assert cited == pullback.__version__
    assert f"\n## {cited} ({day})\n" in text("CHANGELOG.md")


def test_numpy_is_the_only_dependency() -> None:
    assert PROJECT["dependencies"] == ["numpy>=1.26"]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src/pullback/py.typed").read_bytes() == b""


def test_no_extra_is_for_contributors_and_all_has_the_others_but_mpi() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras.keys() == {"compile", "special", "io", "bfloat16", "dask", "native", "mpi", "all"}
    assert extras["all"] == ["pullback[compile,special,io,bfloat16,dask,native]"]
    assert GROUPS.keys() == {"test", "check", "docs", "release"}


def test_the_oldest_numpy_is_the_one_that_is_tested() -> None:
    (oldest,) = re.findall(r"^numpy==(\S+)\.\*", text("scripts/oldest.txt"))
    assert PROJECT["dependencies"] == [f"numpy>={oldest}"]


def test_a_commit_is_checked_by_the_tools_of_the_group() -> None:
    """The hooks have no versions of their own, which could differ."""
    hooks = text(".pre-commit-config.yaml")
    assert re.findall(r"repo: (.*)", hooks) == ["local"]
    tools = re.findall(r"entry: scripts/tool (\w+)", hooks)
    assert len(tools) == hooks.count("entry:") == 3
    assert {*tools} <= {re.split(r"\W", requirement)[0] for requirement in GROUPS["check"]}


def test_every_script_that_is_named_exists() -> None:
    pages = [*WORKFLOWS, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changelog.d").glob("*.md")]
    assert len(WORKFLOWS) == 4
    for page in [*pages, ROOT / ".ci/run", ROOT / ".github/pull_request_template.md"]:
        for name in re.findall(r"\bscripts/([a-z][a-z.-]*[a-z])", page.read_text(encoding="utf-8")):
            assert (ROOT / "scripts" / name).exists(), f"{page} names scripts/{name}"


def test_actions_are_pinned_and_jobs_may_do_what_they_need() -> None:
    for workflow in WORKFLOWS:
        written = workflow.read_text(encoding="utf-8")
        used = re.findall(r"uses: (\S+)(.*)", written)
        assert used
        for action, version in used:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", version), action
        assert "\npermissions: {}\n" in written
        granted = re.findall(r"^      ([\w-]+: (?:read|write))", written, re.MULTILINE)
        assert {*granted} <= {"contents: read", "id-token: write"}
        assert written.count("runs-on:") == written.count("timeout-minutes:") == written.count("    permissions:\n")


def test_every_python_that_is_declared_is_tested() -> None:
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    (tested,) = re.findall(r"^        python: \[(.*)\]$", text(".github/workflows/tests.yml"), re.MULTILINE)
    assert {*declared} <= {*re.findall(r'"([^"]*)"', tested)}
    assert "3.14t" in tested


TEXT = """A = 1


def f():
    g()
    return A


class C:
    B = 2

    def m(self):
        return f()
"""


@pytest.mark.parametrize(
    ("lines", "whole", "outside"),
    [({5}, {4, 5, 6}, set()), ({1}, set(), {1}), ({2, 3}, set(), set()), ({6, 7, 10, 13}, {4, 5, 6, 12, 13}, {10})],
)
def test_a_changed_line_stands_for_its_function(lines, whole, outside):
    assert CHANGED["functions"](TEXT, lines) == (whole, outside)


def test_files_of_tests_are_reached_by_what_they_import_and_name():
    assert CHANGED["of_tests"](["tests/optim/test_updates.py"]) == {"tests/optim/test_updates.py"}
    by_table = CHANGED["of_tests"](["tests/layouts/thresholds.py"])
    assert {"tests/layouts/test_thresholds.py", "tests/layouts/test_layouts.py"} <= by_table
    assert "tests/optim/test_updates.py" not in by_table
    assert "tests/test_project.py" in CHANGED["of_tests"](["CITATION.cff"])
