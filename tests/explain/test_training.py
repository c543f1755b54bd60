"""Training runs: what is measured at each step, what is found, and what a file, a text and a page say of it."""

import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback import nn, optim
from pullback.command.explain import main
from pullback.explain import read_run, record
from pullback.explain.runs import MOST, Averaged, Series, bars

HEALTHY, SPIKE = 1.0, 300.0


def network(seed=0):
    pullback.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))


def fit(model, optimizer, steps, batch=lambda step, y: y):
    x = pullback.tensor(np.linspace(-1, 1, 40).reshape(20, 2).astype(np.float32))
    for step in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), batch(step, x[:, :1] * x[:, 1:])).backward()
        optimizer.step()


def recorded(steps=100, every=1, lr=0.01, batch=lambda step, y: y, model=None, **options):
    model = network() if model is None else model
    optimizer = optim.Adam(model.parameters(), lr=lr)
    with record(model, optimizer, every=every, **options) as run:
        fit(model, optimizer, steps, batch)
    return run


def descent(gradients, lr=0.5, start=((1.0, 1.0), (1.0, 1.0))):
    """A run in which the gradients of one matrix are those given."""
    w = nn.Parameter(pullback.tensor(start))
    optimizer = optim.SGD([w], lr=lr)
    with record(None, optimizer, every=1) as run:
        for g in gradients:
            optimizer.zero_grad()
            (w * pullback.full((2, 2), g)).sum().backward()
            optimizer.step()
    return run


def kinds(run):
    return [(event.kind, event.step, event.parameter) for event in run.events]


def test_numbers_of_each_step_are_those_of_the_formula():
    run = descent([2.0, 1.0])
    (first, one), (second, two) = run.steps.values
    assert (first, second, run.count) == (0, 1, 2)
    assert run.parameters == ["w"]
    # w = 1, then 1 - 0.5 * 2 = 0: the update is as large as the weight, and then the weight has no norm
    assert one.gradient == [pytest.approx(4.0)]
    assert one.update == [pytest.approx(1.0)]
    assert (one.loss, one.rate, one.zeros) == (8.0, 0.5, [0.0])
    assert two.gradient == [pytest.approx(2.0)]
    assert two.update == [None]
    assert run.losses.values == [(0, 8.0), (1, 0.0)]


def test_zeros_are_a_share():
    w = nn.Parameter(pullback.ones(4))
    optimizer = optim.SGD([w], lr=0.1)
    with record(None, optimizer, every=1) as run:
        (w * pullback.tensor([1.0, 0.0, 0.0, 0.0])).sum().backward()
        optimizer.step()
    assert run.series("w", "zeros") == ([0], [0.75])


def test_training_is_what_it_is_without_a_recording(tmp_path):
    plain, watched = network(), network()
    fit(plain, optim.Adam(plain.parameters(), lr=0.01), 30)
    recorded(30, every=3, model=watched, file=tmp_path / "run.jsonl")
    for a, b in zip(plain.parameters(), watched.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(force=True), b.numpy(force=True))
        assert b._node.post == a._node.post


@pytest.mark.parametrize("every", [1, 7, 100])
def test_losses_are_those_of_all_steps_and_measures_of_some(every, tmp_path):
    run = recorded(50, every=every, file=tmp_path / "run.jsonl")
    again = read_run(tmp_path / "run.jsonl")
    for each in (run, again):
        assert [number for number, _ in each.losses.values] == list(range(50))
        assert [number for number, _ in each.steps.values] == list(range(0, 50, every))
        assert each.parameters == ["0.weight", "0.bias", "2.weight", "2.bias"]
        assert each.shapes == [(8, 2), (8,), (1, 8), (1,)]
    assert again.losses.values == run.losses.values
    assert again.steps.values == run.steps.values
    assert again.to_text() == run.to_text()


def test_names_are_the_programs_own_without_a_model():
    layer = network()
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    with record(optimizer=optimizer) as run:
        fit(layer, optimizer, 2)
    assert run.parameters == ["layer.0.weight", "layer.0.bias", "layer.2.weight", "layer.2.bias"]


def test_parameters_that_are_added_later_are_recorded_too():
    a, b = nn.Parameter(pullback.ones(2)), nn.Parameter(pullback.ones(3))
    optimizer = optim.SGD([a], lr=0.1)
    with record(None, optimizer, every=1) as run:
        a.sum().backward()
        optimizer.step()
        optimizer.add_param_group({"params": [b]})
        (a.sum() + b.sum()).backward()
        optimizer.step()
    assert run.parameters == ["a", "b"]
    assert run.series("b") == ([0, 1], [None, pytest.approx(math.sqrt(3))])


# What is found


def test_nothing_is_found_in_a_healthy_run():
    assert recorded(200).events == []


def test_a_spike_is_found_once_at_its_step():
    run = recorded(120, batch=lambda step, y: y * (SPIKE if step == 83 else HEALTHY))
    assert kinds(run) == [("spike", 83, "")]
    assert "the batch of this step" in run.events[0].fix
    assert run.events[0].why.endswith("(step = 83)")


def test_a_spike_tells_of_its_batch():
    model = network()
    x = pullback.randn(640, 2)
    data = pullback.utils.data.TensorDataset(x, x[:, :1].clone())
    data.tensors[1][37 * 10 + 4] = 5000.0
    optimizer = optim.Adam(model.parameters(), lr=0.01)

    def step(number, x, y):
        assert number < 64
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    with record(model, optimizer, every=7) as run:
        for number, (x, y) in enumerate(pullback.utils.data.DataLoader(data, batch_size=10)):
            step(number, x, y)
    (event,) = run.events
    assert (event.kind, event.step) == ("spike", 37)
    assert "(number = 37; " in event.why
    assert re.search(r"y: float32 10x1, -[0-9.]+ to 5000[;)]", event.why)


def test_a_loss_that_is_not_a_number_is_found():
    run = recorded(30, batch=lambda step, y: y / (0.0 if step == 17 else 1.0))
    assert kinds(run) == [("inf", 17, ""), ("nan", 18, "")]


def test_a_weight_that_gets_zeros_or_nothing_is_found():
    used, dead, unused = (nn.Parameter(pullback.ones(2, 2)) for _ in range(3))
    optimizer = optim.SGD([used, dead, unused], lr=0.01)
    with record(None, optimizer, every=1) as run:
        for _ in range(5):
            optimizer.zero_grad()
            ((used * used).sum() + (dead * -1).relu().sum()).backward()
            optimizer.step()
    assert kinds(run) == [("zero", 2, "dead"), ("missing", 4, "unused")]


def test_an_exploding_and_a_vanishing_gradient_are_found():
    one, two = (nn.Parameter(pullback.ones(2, 2)) for _ in range(2))
    optimizer = optim.SGD([one, two], lr=1e-9)
    with record(None, optimizer, every=1) as run:
        for _ in range(4):
            optimizer.zero_grad()
            (1e8 * one + 1e-8 * two).sum().backward()
            optimizer.step()
    assert kinds(run) == [("huge", 0, "one"), ("tiny", 2, "two")]


@pytest.mark.parametrize(("lr", "found"), [(1e-3, 0), (1e-2, 0), (1.0, 1)])
def test_a_step_that_changes_most_weights_by_half_of_their_norm_is_found_at_once(lr, found):
    """The first step of Adam moves each element by the learning rate, whatever the gradient; a Linear's are about 0.2."""
    pullback.manual_seed(0)
    model = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(8, 8), nn.Tanh())))
    optimizer = optim.Adam(model.parameters(), lr=lr)
    x = pullback.randn(16, 8)
    with record(model, optimizer, every=10) as run:
        for _ in range(3):
            optimizer.zero_grad()
            ((model(x) - 1) ** 2).mean().backward()
            optimizer.step()
    events = [(event.kind, event.step, event.parameter) for event in run.events]
    assert events == [("update", 0, "")] * found


def test_updates_as_large_as_the_weights_are_found():
    assert ("update", 2, "w") in kinds(descent([1.0, -2.0, 2.0, -2.0], lr=0.7))
    assert kinds(descent([1.0, -1.0, 1.0, -1.0], lr=0.1)) == []


# Files


def test_a_file_of_a_program_that_was_killed_is_read(tmp_path):
    program = """
import os, sys
import pullback
w = pullback.nn.Parameter(pullback.ones(2))
optimizer = pullback.optim.SGD([w], lr=0.1)
with pullback.explain.record(None, optimizer, every=2, file=sys.argv[1]):
    for step in range(100):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
        if step == 50:
            os._exit(9)
"""
    path = tmp_path / "run.jsonl"
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == 9
    run = read_run(path)
    assert [number for number, _ in run.steps.values] == list(range(0, 51, 2))
    with path.open("a") as file:
        file.write('{"losses":[0.1')
    assert read_run(path).steps.values == run.steps.values
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{broken", *lines[1:]]))
    with pytest.raises(ValueError, match=r"run.jsonl, line 2: not the file of a training run"):
        read_run(path)


@pytest.mark.parametrize("text", ["", "[]", "7\n", '{"format":"other","version":1}', '{"losses":[]}\n{}\n'])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"other.jsonl.*not the file of a training run"):
        read_run(path)


def test_an_exception_is_passed_on_and_told(tmp_path):
    with pytest.raises(ZeroDivisionError), record(network(), None, file=tmp_path / "run.jsonl") as run:
        raise ZeroDivisionError("by the program")
    assert run.failure == "ZeroDivisionError: by the program"
    model = network()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(KeyError), record(model, optimizer, file=tmp_path / "run.jsonl") as run:
        fit(model, optimizer, 3)
        raise KeyError("w")
    assert read_run(tmp_path / "run.jsonl").failure == "KeyError: 'w'"
    fit(model, optimizer, 3)
    assert run.count == 3


# Text and page


def test_text_fits_and_can_be_ascii():
    one, two = recorded(40), recorded(60, lr=0.1)
    for width in (60, 80, 120):
        for others in ([], [two], [two] * 7):
            lines = one.to_text(*others, width=width).splitlines()
            assert max(map(len, lines)) <= width
    assert one.to_text(two, ascii=True).isascii()
    assert str(one).startswith("run         40 steps, all recorded, 4 parameters")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("before", "after"), ("before", "after")),
        (("before-the-change", "after"), ("befor..ange", "after")),
        (("same", "same"), ("run 1", "run 2")),
        (("", "after"), ("run 1", "run 2")),
    ],
)
def test_two_runs_are_called_as_their_files_where_that_tells_them_apart(tmp_path, names, shown):
    for folder, name in zip("ab", names, strict=True):
        (tmp_path / folder).mkdir()
        recorded(5, file=tmp_path / folder / f"{name}.jsonl" if name else None)
    one, two = (
        read_run(tmp_path / folder / f"{name}.jsonl") if name else recorded(5)
        for folder, name in zip("ab", names, strict=True)
    )
    lines = one.to_text(two).splitlines()
    assert [line[:12].rstrip() for line in lines if " 5 steps," in line] == list(shown)
    assert [line[12:] for line in lines if "nothing was found" in line] == [
        f"{name}: nothing was found in 5 steps" for name in shown
    ]
    assert [line[:10] for line in lines].count("looked for") == 1
    assert f'"name":"{shown[1]}"' in one.to_html(two)


@pytest.mark.parametrize("count", [1, 3, MOST, MOST + 1, MOST + 2, 4 * MOST + 7])
def test_the_means_of_losses_are_those_of_all_losses_since_the_one_that_was_kept_before(count):
    losses = [math.nan if step == 2 else math.sin(step) for step in range(count)]
    kept = Averaged()
    for step, loss in enumerate(losses):
        kept.add(step, loss)
    ends = [step + 1 for step, _ in kept.values]
    parts = [[x for x in losses[a:b] if math.isfinite(x)] for a, b in zip([0, *ends], ends, strict=False)]
    assert [x is None for x in kept.means] == [not part for part in parts]
    np.testing.assert_allclose(
        [x for x in kept.means if x is not None], [sum(p) / len(p) for p in parts if p], 1e-9, 1e-12
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_line_in_a_terminal_and_few_lines_in_a_file(monkeypatch, capsys):
    recorded(30)
    assert capsys.readouterr().err == ""
    recorded(30, progress=True)
    assert re.fullmatch(r"30 steps, loss [0-9.e-]+\n", capsys.readouterr().err)
    monkeypatch.setattr("pullback.explain.training.LOGGED", 0.0)
    recorded(30, progress=True)
    assert [line.partition(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "1 step", *(f"{n} steps" for n in range(2, 31)), "30 steps",
    ]  # fmt: skip
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr("pullback.explain.training.LIVE", 0.0)
    recorded(3, progress=True)
    written = sys.stderr.getvalue()
    assert written.count("\n") == 1
    assert [line.partition(",")[0] for line in written.split("\r")[1:]] == ["1 step", "2 steps", "3 steps", "3 steps"]
    assert {len(line.rstrip("\n")) for line in written.split("\r")[1:]} == {60}


def test_bars_are_the_means_of_parts():
    assert bars([0.0, 1.0, 2.0, 3.0], 2) == "▁█"
    assert bars([5.0, 5.0], 10) == "▁▁"
    assert bars([1.0, 100.0, 10000.0], 3) == bars([0.0, 1.0, 2.0], 3)


def test_the_page_has_the_numbers(tmp_path):
    one, two = recorded(40, batch=lambda step, y: y / (step != 20)), recorded(60, every=10)
    one.save(tmp_path / "two.html", two)
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="trace">')[2].partition("</script>")[0])
    assert data["schema"] == "pullback-run"
    first, second = data["runs"]
    assert first["losses"][20] == [20, "inf"]
    assert second["steps"] == [0, 10, 20, 30, 40, 50]
    assert second["gradient"][0] == [pytest.approx(x, rel=1e-3) for x in two.steps.values[0][1].gradient]
    with pytest.raises(ValueError, match=r"the suffix says what to write, one of .html .txt"):
        one.save("run.png")


def test_numbers_for_other_tools(tmp_path):
    run = descent([2.0])
    assert list(run.scalars()) == [
        (0, {"loss": 8.0, "lr": 0.5, "gradient/w": 4.0, "update/w": 1.0, "zeros/w": 0.0}),
    ]
    with pytest.raises(ImportError, match=r"to_tensorboard\(\) needs tensorboardX: pip install tensorboardX"):
        run.to_tensorboard(tmp_path)


def test_memory_is_bounded_and_evenly_spread():
    series = Series()
    for number in range(12_345):
        series.add(number, number**2)
    steps = [number for number, _ in series.values]
    assert MOST / 2 <= len(steps) <= MOST + 1
    assert steps[0] == 0
    assert steps[-1] == 12_344
    assert {*np.diff(steps[:-1])} == {16}
    assert all(value == number**2 for number, value in series.values)


# Arguments, and the command


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((), {"every": 0}, ValueError, "every must be a positive number"),
        (([1],), {}, TypeError, "takes a module and an optimizer, not list"),
        ((nn.Linear(1, 1), 0.1), {}, TypeError, "the optimizer is a float"),
    ],
)
def test_bad_arguments(arguments, options, error, text):
    with pytest.raises(error, match=text):
        record(*arguments, **options)


PROGRAM = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
head = torch.nn.Linear(1, 1)
first = torch.optim.SGD(net.parameters(), lr=0.1)
second = torch.optim.Adam(head.parameters(), lr=0.01)
for step in range(40):
    loss = (head(net(torch.ones(2, 3))) ** 2).mean()
    first.zero_grad(); second.zero_grad()
    loss.backward()
    first.step(); second.step()
"""


def test_the_command_records_all_optimizers_of_a_program(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM)
    assert main(["--training", "--torch", "--every", "4", "-o", "run.jsonl", "-o", "run.html", "train.py"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("run         80 steps, one in 4 recorded, 4 parameters")
    assert read_run("run.jsonl").parameters == ["net.weight", "net.bias", "head.weight", "head.bias"]
    assert os.path.getsize("run.html") > 10_000
    assert main(["--training", "-c", "print(7)"]) == 3
    assert "no optimizer made a step" in capsys.readouterr().err
    assert main(["--training", "-o", "run.svg", "-c", "print(7)"]) == 2
    assert main(["--training", "--torch", "--fail-on", "spike", "train.py"]) == 0
    bad = PROGRAM.replace("ones(2, 3)", "ones(2, 3) * (float('nan') if step == 3 else 1)")
    assert main(["--training", "--torch", "--json", "--fail-on", "nan", "-c", bad]) == 4
    captured = capsys.readouterr()
    assert json.loads(captured.out.splitlines()[-1])["events"][0]["kind"] == "nan"


def test_a_compiled_step_runs_as_it_is_and_is_compiled_again_afterwards():
    plain, compiled = network(), network()
    x = pullback.tensor([[1.0, 2.0], [3.0, -1.0]])

    def step(model, optimizer):
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()

    one, two = optim.SGD(plain.parameters(), lr=0.01), optim.SGD(compiled.parameters(), lr=0.01)
    quick = pullback.compile(lambda: step(compiled, two))
    for _ in range(3):
        step(plain, one)
        quick()
    with record(compiled, two, every=1) as run:
        for _ in range(20):
            step(plain, one)
            quick()
    assert len(run.losses) == len(run.steps) == 20
    quick()
    recordings = sum(count for count, _ in quick.report().records)
    for _ in range(29):
        quick()
    assert sum(count for count, _ in quick.report().records) == recordings
    assert not quick.refused
    for _ in range(30):
        step(plain, one)
    for a, b in zip(plain.parameters(), compiled.parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(force=True), b.numpy(force=True), rtol=1e-5, atol=1e-7)


STEP = {"step": 0, "loss": 1.0, "rate": 0.1, "gradient": [1.0], "update": [0.1], "zeros": [0.0], "losses": [1.0]}
HEAD = {"format": "pullback run", "version": 1, "every": 1, "parameters": ["w"], "shapes": [[2]]}
EVENT = {"event": {"kind": "nan", "step": 0, "parameter": "w", "why": "it is", "fix": "do"}}


@pytest.mark.parametrize(
    "row",
    [
        HEAD | {"every": 0},
        HEAD | {"parameters": "w"},
        HEAD | {"parameters": [3]},
        HEAD | {"shapes": [[-1]]},
        HEAD | {"shapes": [[2**70]]},
        STEP | {"step": "0"},
        STEP | {"rate": []},
        STEP | {"gradient": [1.0, 2.0]},
        STEP | {"gradient": [[1.0]]},
        STEP | {"loss": "\x1b[31m"},
        {"event": EVENT["event"] | {"fix": 3}},
        {"event": []},
        {"losses": [], "ended": 1, "seconds": "long", "failure": None},
        {},
        [],
        3,
    ],
    ids=repr,
)
def test_the_file_of_a_run_that_was_written_to_hurt_is_refused(tmp_path, row):
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, [HEAD, STEP, EVENT, row, STEP])), encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 4: not the file of a training run") as caught:
        read_run(path)
    assert str(caught.value).isprintable()
    path.write_text("\n".join(map(json.dumps, [HEAD, STEP, EVENT, STEP])), encoding="utf-8")
    assert len(read_run(path).steps) == 2


TRAINED = """
import pullback as pb
w = pb.tensor([4.0], requires_grad=True)
optimizer = pb.optim.SGD([w], lr=0.25)
for step in range(3):
    optimizer.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    optimizer.step()
"""


def test_the_command_keeps_the_first_loss_and_writes_what_the_suffix_says(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(TRAINED)
    names = [tmp_path / f"run{suffix}" for suffix in (".html", ".txt", ".jsonl")]
    saved = [word for name in names for word in ("-o", str(name))]
    assert main(["--training", "--every", "1", *saved, str(file)]) == 0
    page, text, lines = (name.read_text(encoding="utf-8") for name in names)
    assert page.startswith("<!doctype html>")
    assert re.search(r"^loss +16 -> 1,", text, re.MULTILINE)
    run = pullback.explain.read_run(tmp_path / "run.jsonl")
    assert [step.loss for _, step in run.steps.kept] == [16.0, 4.0, 1.0]
    assert json.loads(lines.splitlines()[1])["loss"] == 16.0


FIRST = """
import pullback as pb

pb.manual_seed(0)
model = pb.nn.Linear(3, 2)
x = pb.randn(8, 3)


def loss(part):
    return model(part).square().mean()


def whole(optimizer):
    value = loss(x)
    print(value.item())
    value.backward()


def unnamed(optimizer):
    print(loss(x).item())
    loss(x).backward()


def accumulated(optimizer):
    for part in x.chunk(2):
        value = loss(part) / 2
        print(value.item())
        value.backward()


class Trainer:
    def __init__(self):
        self.optimizer = pb.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, backward):
        for _ in range(3):
            self.optimizer.zero_grad()
            backward(self.optimizer)
            self.optimizer.step()
"""


@pytest.mark.parametrize("backward", ["whole", "unnamed", "accumulated"])
def test_the_first_point_is_the_first_loss_of_the_program(backward, tmp_path, capsys):
    """Wherever backward is called, and whatever the program calls its loss."""
    file, run = tmp_path / "program.py", tmp_path / "run.jsonl"
    file.write_text(f"{FIRST}\n\nTrainer().fit({backward})\n")
    assert main(["--training", "--every", "1", "-o", str(run), str(file)]) == 0
    printed = [float(line) for line in capsys.readouterr().out.splitlines() if re.fullmatch(r"[\d.]+", line)]
    losses = read_run(run).losses.values
    assert losses[0] == (0, pytest.approx(printed[0]))
    assert len(losses) == 3
