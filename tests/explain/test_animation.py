"""The steps as an animated SVG: one file without script, whose last frame is seen where nothing moves."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import pullback
from pullback.command import main

PROGRAMS = Path(__file__).with_name("programs")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(program, **options):
    with pullback.explain.record(**options) as ex:
        program()
    text = ex.to_animation()
    return text, ET.fromstring(text)


def plane():
    return drawn(lambda: runpy.run_path(str(PROGRAMS / "plane.py")))


def texts(tree, still=True):
    """What is written, in the last frame alone or in all."""
    found = []
    for each in tree:
        if each.tag == f"{SVG}g" and not (still and each.get("visibility") == "hidden"):
            found += texts(each, still)
        found += [each.text] if each.tag == f"{SVG}text" else []
    return found


def test_a_frame_for_each_line_and_the_result_in_the_last():
    _, tree = plane()
    assert "[9 4]" in texts(tree)
    assert "[1 2] @ [1; 0] = 1" not in " ".join(texts(tree))
    assert "to p:  [1 2] @ [1; 0] = 1" in texts(tree, still=False)
    marks = {
        each.get("class") for each in tree if each.tag == f"{SVG}g" and "var(--mark)" in ET.tostring(each, "unicode")
    }
    assert len(marks) == 4
    assert tree.get("aria-label") == "y.backward([1., 2.]) put [9 4] into x.grad" == tree.find(f"{SVG}title").text


def test_nothing_moves_without_leave_and_every_part_has_its_turn():
    _, tree = plane()
    style = tree.find(f"{SVG}style").text
    calm, moving = style.split("@media (prefers-reduced-motion:no-preference)")
    assert "animation" not in calm
    assert "prefers-color-scheme:dark" in calm
    used = {each.get("class") for each in tree if each.tag == f"{SVG}g"}
    assert (
        used
        == set(re.findall(r"@keyframes (f\d+-\d+)\{", moving))
        == set(re.findall(r"\.(f\d+-\d+)\{animation", moving))
    )


def test_it_is_a_file_that_needs_and_runs_nothing():
    text, tree = plane()
    assert {each.tag.removeprefix(SVG) for each in tree.iter()} == {"svg", "title", "style", "rect", "g", "text"}
    assert not re.search(r"https?:(?!//www\.w3\.org/2000/svg)|url\(|@import|<script|\son\w+=", text)


@pytest.mark.parametrize("name", ["gpt", "lstm", "mlp", "seed", "nans"])
def test_its_size_is_bounded(name):
    text, _ = drawn(lambda: runpy.run_path(str(PROGRAMS / f"{name}.py")))
    assert len(text.encode()) < 100_000


def test_a_long_call_and_hostile_names_are_drawn(tmp_path, capsys):
    lines = "".join(f"y = y * {1 + i / 100} # </text><script>&\x07\n" for i in range(200))
    (tmp_path / "long.py").write_text(
        f"import pullback as pb\nx = pb.ones(3, requires_grad=True)\ny = x\n{lines}y.sum().backward()\n"
    )
    assert main(["explain", "--svg", str(tmp_path / "x.svg"), str(tmp_path / "long.py")]) == 0
    assert "wrote" in capsys.readouterr().err
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    tree = ET.fromstring(text)
    assert "<script" not in text
    assert any(re.match(r"16\d more steps: ", each) for each in texts(tree, still=False))
    assert len(text) < 100_000


def test_the_picture_of_the_manual_is_what_is_drawn():
    docs = Path(__file__).parents[2] / "docs"
    text, _ = drawn(lambda: runpy.run_path(str(docs / "live/plane.py")))
    assert text == (docs / "pictures/plane.svg").read_text(encoding="utf-8")


def test_without_backward_there_is_nothing_to_draw(tmp_path, capsys):
    file = tmp_path / "x.svg"
    for code, said in (
        ("y = x * 2", "no backward() ran"),
        ("y = x * 2; y.nothing", "x.svg was not written: there are no backward steps"),
    ):
        text = f"import pullback as pb; x = pb.ones(2, requires_grad=True); {code}"
        assert main(["explain", "--svg", str(file), "-c", text]) in {1, 3}
        assert said in capsys.readouterr().err
        assert not file.exists()
