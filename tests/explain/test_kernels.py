"""Kernels beside a call: the lines of a compiled function, in the page, the terminal and on the command line."""

import json

import pytest

import pullback
from pullback.command import main

PROGRAM = """import pullback as pb
from pullback import nn, optim

model = nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 3))
optimizer = optim.Adam(model.parameters())


@pb.compile
def step(x, target):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()
    return loss.detach()


def loss(model, x, target):
    return nn.functional.cross_entropy(model(x), target)


x, target = pb.randn(20, 6), pb.randint(0, 3, (20,))
"""


@pytest.fixture(autouse=True)
def no_store(monkeypatch):
    monkeypatch.setenv("PULLBACK_CACHE", "off")


def test_each_line_has_its_kernels_with_their_times_and_limits():
    @pullback.compile
    def f(a, b):
        c = a @ b
        return c.exp().sum(0)

    given = pullback.rand(12, 7), pullback.rand(7, 9)
    f(*given)
    with pytest.raises(ValueError, match="f: the report has no times of kernels"):
        pullback.explain(pullback.ones(2, requires_grad=True).sum()).attach(f.report())
    report = f.report(*given, profile=True)
    ex = pullback.explain(pullback.ones(2, requires_grad=True).sum()).attach(report)
    (sheet,) = ex.to_dict()["sheets"]
    line = f.function.__code__.co_firstlineno + 2
    assert [*dict.fromkeys(row[0] for row in sheet["rows"])] == [f"test_kernels.py:{at}" for at in (line, line + 1)]
    sources = [row[1] for row in sheet["rows"] if row[1]]
    assert sources == ["c = a @ b", "return c.exp().sum(0)"]
    assert [row[3] for row in sheet["rows"]] == [kernel.name for kernel in report.kernels]
    for row, bar, kernel, limit in zip(sheet["rows"], sheet["bars"], report.kernels, report.limits, strict=True):
        assert kernel.equations[0] in row[2]
        assert float(row[5]) == pytest.approx(kernel.seconds / limit, abs=0.06)
        assert bar == pytest.approx(kernel.seconds / max(each.seconds for each in report.kernels), abs=1e-4)
    over = [kernel.seconds - limit for kernel, limit in zip(report.kernels, report.limits, strict=True)]
    assert sheet["marked"] == over.index(max(over))
    assert sheet["said"].startswith("A call of f takes ")
    assert f"in {len(report.kernels)} kernel" in sheet["said"]


def test_kernels_and_examples_on_the_command_line(tmp_path, capsys):
    file, page = tmp_path / "train.py", tmp_path / "x.json"
    file.write_text(PROGRAM + "for _ in range(2):\n    step(x, target)\n", encoding="utf-8")
    assert main(["explain", "--kernels", "--examples", "model,loss,x,target", "-o", str(page), str(file)]) == 0
    kernels, examples = json.loads(page.read_text())["sheets"]
    assert kernels["title"] == "Kernels of step"
    lines = {row[0].partition(",")[0] for row in kernels["rows"]}
    assert {f"train.py:{at}" for at in (11, 12, 13)} <= lines
    assert len(examples["rows"]) == 20
    printed = capsys.readouterr().out
    assert "A call of step takes" in printed
    assert "of 20 examples" in printed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kernels"], "the program called no compiled function"),
        (["--examples", "model,lass,x,target"], "'lass' is no variable of the script"),
        (["--examples", "model,loss"], "name the model, loss"),
        (["--examples", "model,loss,x,model.kind"], "'model.kind' is no variable of the script"),
        (["--examples", "model,loss,x,loss"], "give the batch as tensors"),
        (["--examples", "model,loss,x"], "It takes variables of the script: a model, loss(model, *batch)"),
        (["--examples", "model,lass,x,target"], "there are pb, nn, optim"),
        (["--examples", "loss,loss,x,target"], "the first argument is the model, which has parameters, not a function"),
    ],
)
def test_what_cannot_be_found_beside_a_program_is_said(tmp_path, capsys, options, said):
    file = tmp_path / "train.py"
    file.write_text(PROGRAM, encoding="utf-8")
    assert main(["explain", *options, str(file)]) == 2
    assert said in capsys.readouterr().err


def test_trails_are_compared_and_where_one_cannot_be_written_it_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "import pullback as pb; pb.tensor([1.0, 2.0]).exp() * "
    for name, factor in (("a", 2), ("b", 3)):
        assert main(["explain", "--trail", f"{name}.trail", "-c", f"{code}{factor}"]) == 0
    assert main(["explain", "a.trail", "b.trail"]) == 4
    assert "multiply at <string>:1" in capsys.readouterr().out
    assert main(["explain", "a.trail", "a.trail"]) == 0
    (tmp_path / "c.trail").write_text("no")
    pullback.explain.Trail().save("empty.trail")
    assert (
        main(["explain", "--trail", "strange.trail", "-c", "import pullback as pb; pb.eye(3).inverse().log1p()"]) == 0
    )
    whole = (tmp_path / "a.trail").read_bytes()
    size = len(whole)
    for count in range(0, size, 37):
        (tmp_path / f"cut_{count}.trail").write_bytes(whole[:count])
    (tmp_path / "folder").mkdir()
    for arguments, said in (
        (["a.trail"], "a trail is compared with another one"),
        (["a.trail", "a.trail", "b.trail"], "a trail is compared with another one"),
        (["-o", "x.html", "a.trail", "b.trail"], "a trail is compared with another one"),
        (["a.trail", "other.trail"], "there is no file other.trail"),
        (["a.trail", "c.trail"], "c.trail: not the file of a trail"),
        (["--against", "other.trail", "-c", code + "2"], "there is no file"),
        (["--trail", "d.trail", "-c", "import pullback"], "no operation of pullback ran, so there is no trail"),
        (["a.trail", "empty.trail"], "the second trail is empty, so there is nothing to compare"),
        (["empty.trail", "a.trail"], "the first trail is empty"),
        (["empty.trail", "empty.trail"], "the first trail is empty"),
        (["--against", "empty.trail", "-c", code + "2"], "the second trail is empty"),
        (["a.trail", "strange.trail"], "these are no runs of one program"),
        (["--against", "strange.trail", "-c", code + "2"], "these are no runs of one program"),
        *((["a.trail", f"cut_{count}.trail"], f"cut_{count}.trail") for count in range(0, size, 37)),
        (["--trail", "none/x.trail", "-c", code + "2"], "none/x.trail cannot be written: there is no folder none"),
        (["--trail", "folder", "-c", code + "2"], "--trail folder: the trail was not written"),
    ):
        assert main(["explain", *arguments]) == 2
        assert said in capsys.readouterr().err
