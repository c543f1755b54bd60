"""`explain.trail` and `explain.first_difference`: planted differences at their line, harmless ones nowhere, files that are safe."""

import base64
import gzip
import json
import linecache
import subprocess

import numpy as np
import pytest

import pullback
from pullback.command import main
from pullback.explain import first_difference, read_trail

from .trailed import HARMLESS, HEAD, PLANTED, TRAINED


def ran(text, name="trained", **options):
    text = HEAD.replace("import torch\n", "import pullback as torch\n").replace("from torch", "from pullback") + text
    text = text.replace("import torch.nn.functional as F", "F = nn.functional")
    file = f"<{name} {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with pullback.explain.trail(**options) as trail:
        exec(compile(text, file, "exec"), {"__name__": "trained"})
    return trail


@pytest.fixture(scope="module")
def trained():
    return ran(TRAINED)


@pytest.mark.parametrize("name", PLANTED)
def test_planted_differences_are_found_at_their_line(name, trained):
    old, new, line = PLANTED[name]
    assert TRAINED.count(old) == 1
    changed = TRAINED.replace(old, new)
    other = ran(changed)
    for one, two in ((trained, other), (other, trained)):
        first = first_difference(one, two).first
        assert first.entry.place.line in {_line_of(line, text) for text in (TRAINED, changed) if line in text}, str(
            first
        )


def _line_of(line, text):
    lines = [number for number, each in enumerate((HEAD + text).splitlines(), 1) if line in each]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_changes_no_number_is_no_difference(name, trained):
    old, new = HARMLESS[name]
    found = first_difference(trained, ran(TRAINED.replace(old, new)))
    assert not found, str(found)
    assert len(found.agreed) > 150


BETWEEN = """x, t = torch.randn(6, 5, 3), torch.tensor([0, 1, 2, 0, 1, 2])
norm, first, second = nn.BatchNorm1d(3), nn.Linear(3, 4), nn.Linear(4, 3)
pooled = x.mean(1)
h = first(norm(pooled))
out = second(h)
loss = F.cross_entropy(out, t)
smooth = 0.1 * first.weight.square().sum()
total = loss + smooth
total.backward()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("x.mean(1)", "x.amax(1)"), ("(out, t)", "(out, t, reduction='sum')"), ("second(h)", "second(h.detach())")],
)
def test_what_one_run_lacks_is_found_behind_lines_that_agree(old, new):
    one, other = ran(BETWEEN), ran(BETWEEN.replace(old, new))
    for first in (first_difference(one, other).first, first_difference(other, one).first):
        assert old in first.entry.code or new in first.entry.code, str(first)


def test_the_answer_has_the_element_and_both_numbers():
    def run(factor):
        return ran(f"x = torch.arange(6.).reshape(2, 3)\ny = x * {factor}\n", name="y")

    first = first_difference(run(2.0), run(2.5)).first
    assert (first.what, first.entry.operation, first.element, first.first, first.second) == (
        "value",
        "multiply",
        (1, 2),
        10.0,
        12.5,
    )
    first = first_difference(
        *(ran(f"torch.ones(3, dtype=torch.{each}) * 2\n") for each in ("float32", "float64"))
    ).first
    assert (first.what, first.first, first.second) == ("dtype", "float32", "float64")


def test_nan_is_a_difference_and_rounding_is_none():
    one, other, third = (ran(f"x = torch.tensor([1., 2.])\ny = x * {f}\n") for f in ("1", "float('nan')", "1.000001"))
    assert first_difference(one, other).first.units == np.inf
    assert not first_difference(other, other)
    assert not first_difference(one, third)


def test_an_element_that_is_not_kept_is_seen_in_the_statistics():
    def run(change):
        return ran(f"x = torch.ones(5000)\nx[1234] = {change}\ny = x * 2\n", values=16)

    one, other = run(1.0), run(1.01)
    assert all(len(each.values) <= 16 for each in one.entries)
    found = first_difference(one, other)
    assert found.first.entry.place.line == 6
    assert "raise values=" in str(found)


def test_a_trail_takes_a_bounded_number_of_bytes(monkeypatch):
    monkeypatch.setattr(pullback.explain.trails, "BYTES", 1000)
    monkeypatch.setattr(pullback.explain.trails, "MOST", 30)
    trail = ran("x = torch.ones(100)\nfor _ in range(50):\n    x = x * 1.5\n")
    assert sum(each.values.nbytes for each in trail.entries) < 1500
    assert (len(trail.entries), trail.whole) == (30, False)


def test_a_file_is_what_was_recorded(tmp_path, trained):
    trained.save(tmp_path / "run.trail")
    again = read_trail(tmp_path / "run.trail")
    assert len(again.entries) == len(trained.entries)
    for one, two in zip(trained.entries, again.entries, strict=True):
        np.testing.assert_array_equal(one.values, two.values)
        assert one._replace(values=0) == two._replace(values=0)
    assert not first_difference(trained, again)


ENTRY = {
    "phase": "forward", "operation": "exp", "name": "", "module": "", "place": None, "code": "", "shape": [2],
    "dtype": "float32", "statistics": [0, 1.0, 1.0, 1.0], "makers": [], "kept": "f4",
    "values": base64.b64encode(bytes(8)).decode(),
}  # fmt: skip
HEAD_LINE = {"format": "pullback trail", "version": 1, "source": "torch", "values": 8, "whole": True}


@pytest.mark.parametrize(
    "lines",
    [
        [{"format": "another"}],
        [HEAD_LINE, ENTRY | {"kept": "O"}],
        [HEAD_LINE, ENTRY | {"kept": "V8"}],
        [HEAD_LINE, ENTRY | {"kept": "no dtype"}],
        [HEAD_LINE, ENTRY | {"kept": "f4,f4"}],
        [HEAD_LINE, ENTRY | {"values": "!"}],
        [HEAD_LINE, ENTRY | {"values": base64.b64encode(bytes(6)).decode()}],
        [HEAD_LINE, ENTRY | {"shape": [1]}],
        [HEAD_LINE, ENTRY | {"shape": [-2]}],
        [HEAD_LINE, ENTRY | {"phase": "sideways"}],
        [HEAD_LINE, ENTRY | {"makers": [7]}],
        [HEAD_LINE, ENTRY | {"place": [1, 2, 3, 4, 5]}],
        [HEAD_LINE, ENTRY | {"more": 1}],
        [HEAD_LINE, [[[[]]]]],
    ],
)
def test_what_is_no_trail_is_refused(tmp_path, lines):
    file = tmp_path / "bad.trail"
    with gzip.open(file, "wt") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    with pytest.raises(ValueError, match="not the file of a trail"):
        read_trail(file)


def test_a_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pullback.explain.trails, "LARGEST_FILE", 100_000)
    file = tmp_path / "large.trail"
    with gzip.open(file, "wt") as stream:
        stream.write(json.dumps(HEAD_LINE) + "\n")
        stream.writelines(json.dumps(ENTRY | {"code": " " * 1000}) + "\n" for _ in range(100))
    with pytest.raises(ValueError, match="unpacks to more than 100000 bytes"):
        read_trail(file)


def test_a_file_of_too_many_entries_is_refused_before_any_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(pullback.explain.trails, "MOST", 3)
    file, lines = tmp_path / "bomb.trail", [HEAD_LINE, {}, *[ENTRY] * 3]
    file.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    with pytest.raises(ValueError, match="there are more than 3 entries"):
        read_trail(file)


def test_other_files_are_refused_and_a_good_one_is_read(tmp_path):
    file = tmp_path / "x.trail"
    file.write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match=r"not the file of a trail \(it is empty\)"):
        read_trail(file)
    late = ENTRY | {"makers": [0]}
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, (HEAD_LINE, late))).encode()))
    with pytest.raises(ValueError, match="an operand that comes later"):
        read_trail(file)
    for content in (b"", b"\x80\x04K\x01.", gzip.compress(b"{")[:-4], gzip.compress(b"[" * 100_000)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="not the file of a trail"):
            read_trail(file)
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, (HEAD_LINE, ENTRY))).encode()))
    assert read_trail(file).entries[0].values.tolist() == [0.0, 0.0]
    with (
        pytest.raises(ValueError, match="the number of elements to keep of an array, 1 or more"),
        pullback.explain.trail(values=0),
    ):
        pass


def test_what_raises_leaves_its_trail_and_no_hook(tmp_path):
    x = pullback.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError), pullback.explain.trail(tmp_path / "x.trail") as trail:
        y.sum().backward()
    assert len(read_trail(tmp_path / "x.trail").entries) == len(trail.entries) > 1
    before = len(trail.entries)
    (x * 3).sum().backward()
    assert len(trail.entries) == before


def test_numbers_are_those_of_a_run_without_a_trail(trained):
    names = {"__name__": "trained"}
    text = HEAD.replace("import torch\n", "import pullback as torch\n").replace("from torch", "from pullback") + TRAINED
    exec(text.replace("import torch.nn.functional as F", "F = nn.functional"), names)
    written = [each for each in trained.entries if each.phase == "write"]
    for parameter, entry in zip(
        names["model"].parameters(), written[-len([*names["model"].parameters()]) :], strict=True
    ):
        np.testing.assert_array_equal(parameter.detach().numpy().reshape(-1), entry.values)


PROGRAM = (
    "import pullback as pb\nx = pb.tensor([1.0, 2.0], requires_grad=True)\ny = (x * 2).exp()\ny.sum().backward()\n"
)


def test_the_command_compares_with_a_file_a_script_a_folder_and_a_commit(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "p.py"
    script.write_text(PROGRAM)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "p.py"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    assert main(["explain", "--trail", "run.trail", "p.py"]) == 0
    script.write_text("\n" + PROGRAM.replace("x * 2", "x * 3"))
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "p.py").write_text(script.read_text())
    (tmp_path / "q.py").write_text(PROGRAM)
    capsys.readouterr()
    for what in ("run.trail", "q.py", "HEAD"):
        assert main(["explain", "--against", what, "p.py"]) == 4
        out = capsys.readouterr().out
        assert out.startswith("multiply at p.py:4: y = (x * 3).exp() gave 6 in the first run and 4 in the"), out
    assert main(["explain", "--against", "same", "p.py"]) == 0
    assert capsys.readouterr().out.startswith("no difference: ")
    assert main(["explain", "--against", "nothing", "p.py"]) == 2
    assert "neither a file, a folder" in capsys.readouterr().err
    assert main(["explain", "--against", "same", "-c", PROGRAM]) == 2
    assert "only a script" in capsys.readouterr().err


def test_the_command_says_what_cannot_be_compared(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.py").write_text(PROGRAM)
    (tmp_path / "empty.py").write_text("pass\n")
    (tmp_path / "folder").mkdir()
    for what, program, said in (
        ("run.trail", "p.py", "there is no file"),
        ("empty.py", "p.py", "nothing was recorded of the other run"),
        ("p.py", "empty.py", "no operation of pullback ran"),
        ("folder", "p.py", "there is no p.py in it, and no pullback"),
    ):
        assert main(["explain", "--against", what, program]) == 2
        assert said in capsys.readouterr().err
    assert main(["explain", "--under-torch", "p.py"]) == 2
    assert "--under-torch goes with --trail" in capsys.readouterr().err


def test_digits_on_the_command_line_and_in_the_page(tmp_path, capsys):
    code = "import pullback as pb; x = pb.tensor(1e-4, requires_grad=True); (1 - pb.cos(x)).backward()"
    assert main(["explain", "--digits", "-o", str(tmp_path / "x.json"), "-c", code]) == 4
    out = capsys.readouterr().out
    assert "rsub at <string>:1" in out
    assert "2 * sin(x / 2)**2" in out
    (sheet,) = json.loads((tmp_path / "x.json").read_text())["sheets"]
    assert (sheet["kind"], sheet["answer"], sheet["marked"]) == ("digits", "0.0 of 7.2 right", 0)
    assert main(["explain", str(tmp_path / "x.json")]) == 0
    assert main(["explain", "--digits", "-c", code.replace("1 - pb.cos(x)", "pb.cos(x)")]) == 0
    assert "no digits are lost" in capsys.readouterr().out


def test_what_is_compared_are_trails():
    with pytest.raises(TypeError, match="expected two trails, got str"):
        first_difference("before.trail", "after.trail")


CLIPPED = """
pullback.manual_seed(0)
m = pullback.nn.Linear(2, 1, bias=False)
m.weight.data.fill_(3.0)
o = pullback.optim.SGD(m.parameters(), lr=0.1)
for i in range(2):
    o.zero_grad()
    m(pullback.ones(1, 2)).sum().backward()
    pullback.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
    o.step()
"""


def clipped(text):
    file = f"<clipped {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with pullback.explain.trail() as trail:
        exec(compile(text, file, "exec"), {"__name__": "clipped", "pullback": pullback})
    return trail


def test_a_clip_of_gradients_that_one_run_has_alone_is_named():
    without = clipped("".join(line for line in CLIPPED.splitlines(True) if "clip" not in line))
    for one, two, which in ((clipped(CLIPPED), without, "first"), (without, clipped(CLIPPED), "second")):
        found = first_difference(one, two)
        assert found.first.what == "operation"
        assert "clip_grad_norm_(m.parameters(), 1.0)" in found.first.entry.code
        assert "what is written to the gradient of weight" in str(found)
        assert f"stands in the {which} run alone" in " ".join(str(found).split())


def test_a_clip_of_another_kind_is_named():
    other = clipped(CLIPPED.replace("clip_grad_norm_(m.parameters(), 1.0)", "clip_grad_value_(m.parameters(), 0.5)"))
    found = first_difference(clipped(CLIPPED), other)
    assert found.first.entry.name == "the gradient of weight"
    assert "clip_grad_norm_" in found.first.entry.code


@pytest.mark.parametrize("steps", [1, 3])
def test_a_run_of_other_length_is_a_difference(steps):
    one, other = clipped(CLIPPED), clipped(CLIPPED.replace("range(2)", f"range({steps})"))
    found = first_difference(one, other)
    assert found and found.first.what == "length"
    assert (found.first.first, found.first.second) == (2, steps)
    assert f"came 2 times in the first run and {steps} times in the second" in str(found)


def test_a_line_that_is_added_is_no_difference():
    assert not first_difference(clipped(CLIPPED), clipped(CLIPPED + "z = pullback.ones(2).exp()\n"))
