"""Several training runs beside each other: their settings and names, which one is ahead, and what the command shows."""

import json
import math

import numpy as np
import pytest

import pullback
from pullback import nn, optim
from pullback.command.explain import main
from pullback.explain import read_run, record
from pullback.explain.runs import Run


def recorded(make, steps=3, **options):
    """A run of the optimizer that `make` returns of a parameter."""
    w = nn.Parameter(pullback.tensor([[1.0, 2.0]]))
    optimizer = make(w)
    with record(None, optimizer, every=1, **options) as run:
        for _ in range(steps):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()
    return run


def course(losses, name="", **given):
    """A run with these losses and settings, as if it had been recorded."""
    run = Run(1)
    run.count, run.name, run.settings, run.parameters = len(losses), name, given, ["w"]
    for step, loss in enumerate(losses):
        run.losses.add(step, float(loss))
    return run


def page(runs):
    """What the page of some runs is made from."""
    first, *others = runs
    return json.loads(first.to_html(*others).partition('id="trace">')[2].partition("</script>")[0])


def compared(runs):
    return page(runs)["compared"]


def labels(runs):
    return [run["name"] for run in page(runs)["runs"]]


def noisy(level, steps=200, seed=0, slope=0.0):
    random = np.random.default_rng(seed)
    return level * np.exp(-slope * np.arange(steps)) * random.lognormal(0, 0.3, steps)


def test_the_settings_of_a_run_are_those_of_its_optimizer_and_come_back_from_the_file(tmp_path):
    file = tmp_path / "run.jsonl"
    run = recorded(lambda w: optim.Adam([w], lr=0.25, betas=(0.5, 0.75), amsgrad=True), file=file)
    wanted = {"optimizer": "Adam", "lr": 0.25, "betas": [0.5, 0.75], "weight_decay": 0.0, "amsgrad": "True"}
    assert {name: run.settings[name] for name in wanted} == wanted
    assert "params" not in run.settings
    again = read_run(file)
    assert again.settings == run.settings
    times = [step.time for _, step in again.steps.values]
    assert times == sorted(times)
    assert 0 < times[0] <= times[-1] <= again.seconds


def test_other_groups_say_what_differs_and_other_optimizers_all():
    a, b, c = (nn.Parameter(pullback.ones(2)) for _ in range(3))
    first, second = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1), optim.Adam([c], lr=0.2)
    with record(None, None, every=1) as run:
        for _ in range(2):
            for optimizer in (first, second):
                optimizer.zero_grad()
            (a * b * c).sum().backward()
            first.step()
            second.step()
    assert run.settings["lr"] == 0.1
    assert [name for name in run.settings if name.endswith("of group 2")] == ["lr of group 2"]
    assert (run.settings["lr of group 2"], run.settings["lr of optimizer 2"]) == (0.5, 0.2)
    assert run.settings["optimizer of optimizer 2"] == "Adam"


def test_a_scheduler_and_a_tensor_as_rate_change_no_name():
    def scheduled(w):
        optimizer = optim.SGD([w], lr=0.5)
        optim.lr_scheduler.StepLR(optimizer, 10)
        return optimizer

    assert "initial_lr" not in recorded(scheduled).settings
    assert recorded(lambda w: optim.Adam([w], lr=pullback.tensor(0.5))).settings["lr"] == 0.5


def test_files_without_settings_and_times_are_read(tmp_path):
    file = tmp_path / "run.jsonl"
    recorded(lambda w: optim.SGD([w], lr=0.25), file=file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    old = [{name: value for name, value in row.items() if name not in {"settings", "time"}} for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in old), encoding="utf-8")
    run = read_run(file)
    assert run.settings == {}
    assert run.steps.values[0][1].time is None
    assert '"times":[null,null,null]' in run.to_html()


@pytest.mark.parametrize("bad", [{"lr": 1}, [["lr", 1]], [{"name": "lr"}], [{"name": "lr", "value": {}}]])
def test_settings_of_another_form_are_refused(tmp_path, bad):
    head = {"format": "pullback run", "version": 1, "every": 1, "parameters": ["w"], "shapes": [[1]], "settings": bad}
    file = tmp_path / "run.jsonl"
    file.write_text(json.dumps(head) + "\n{}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: not the file of a training run"):
        read_run(file)


def test_what_differs_has_a_text_for_each_run_and_what_does_not_has_one():
    runs = [course([1], lr=0.1, betas=[0.5, 0.9]), course([1], lr=1e-3, betas=[0.5, 0.9], momentum=None)]
    assert page(runs)["settings"] == {
        "differ": [["lr", ["0.1", "0.001"]], ["momentum", ["-", "none"]]],
        "same": [["betas", "(0.5, 0.9)"]],
    }


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ([course([1], "a", lr=0.1), course([1], "b", lr=0.2)], ["lr 0.1", "lr 0.2"]),
        ([course([1], "a", lr=0.1, nesterov="True"), course([1], "b", lr=0.2)], ["a", "b"]),
        ([course([1], "a"), course([1], "a")], ["run 1", "run 2"]),
        ([course([1], "a", lr=0.1), course([1], "b", lr=0.1), course([1], "c", lr=1.0)], ["a", "b", "c"]),
        ([course([1], "a", lr=0.1)], ["run"]),
    ],
)
def test_a_run_is_called_by_the_one_setting_that_differs_or_by_its_file(runs, names):
    assert labels(runs) == names


def test_the_run_with_the_lower_median_is_ahead_whatever_single_steps_were():
    ahead, behind = noisy(0.13), noisy(0.31, seed=1)
    ahead[-1], behind[-1] = 9.0, 1e-6
    told = compared([course(behind, lr=0.001), course(ahead, lr=0.01)])
    assert told.startswith(f"lr 0.01 is ahead after 200 steps: {np.median(ahead[-20:]):.3g} against ")
    assert f"{np.median(behind[-20:]):.3g} of lr 0.001" in told
    assert "falling" not in told


def test_runs_that_differ_by_less_than_their_noise_are_level():
    told = compared([course(noisy(0.2, seed=seed), lr=seed) for seed in (2, 3)])
    assert "are level after 200 steps" in told


def test_a_run_that_still_falls_is_said_to_and_one_that_ended_in_nan():
    lost = [*noisy(1.0, 100), *[math.nan] * 100]
    told = compared([course(noisy(2.0, slope=0.01), "slow"), course(noisy(0.01), "quick"), course(lost, "lost")])
    assert told.startswith("quick is ahead")
    assert "; slow is still falling; lost ended in nan or inf (" in told


def test_runs_are_compared_at_the_steps_that_all_have():
    long, short = course([*[1.0] * 50, *[0.1] * 150], "long"), course([0.5] * 50, "short")
    assert compared([long, short]).startswith("short is ahead after 50 steps: 0.5 against 1 of long")


def test_too_few_losses_say_nothing():
    assert compared([course([1, 2, 3], "a"), course([1, 2], "b")]) == ""
    assert compared([course([], "a"), course([], "b")]) == ""


def test_at_most_eight_runs_and_only_runs():
    run = recorded(lambda w: optim.SGD([w], lr=0.1))
    assert run.to_text(*[run] * 7).count("3 steps, all recorded") == 8
    with pytest.raises(ValueError, match=r"to_html\(\): 9 runs, and at most 8 can be told apart"):
        run.to_html(*[run] * 8)
    with pytest.raises(TypeError, match=r"to_text\(\): the others must be runs, not a list"):
        run.to_text([run])


@pytest.fixture
def files(tmp_path):
    for i, rate in enumerate([0.1, 0.4, 0.01]):
        recorded(lambda w, rate=rate: optim.SGD([w], lr=rate), 40, file=tmp_path / f"run{i}.jsonl")
    return [str(tmp_path / f"run{i}.jsonl") for i in range(3)]


def test_the_command_shows_recorded_runs_beside_each_other(files, tmp_path, capsys):
    assert main(["-o", str(tmp_path / "all.html"), *files]) == 0
    text, told = capsys.readouterr()
    assert text.startswith("compared    lr 0.4 is ahead after 40 steps")
    assert "lr          0.1 | 0.4 | 0.01" in text
    assert "gradient, last  lr 0.1" in text
    assert "wrote" in told
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert '"differ":[["lr",["0.1","0.4","0.01"]]]' in page
    assert '"file":"run2"' in page
    assert main(["--json", *files]) == 0
    assert [run["count"] for run in json.loads(capsys.readouterr().out)] == [40, 40, 40]
    assert main([files[0]]) == 0
    assert capsys.readouterr().out.startswith("run         40 steps")


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (["-o", "x.html"], "-o: after a recorded run come other runs; options stand before the first one"),
        (["none.jsonl"], "there is no file none.jsonl"),
    ],
)
def test_what_is_no_run_is_refused(files, capsys, rest, words):
    assert main([files[0], *rest]) == 2
    assert words in capsys.readouterr().err


def test_a_broken_run_and_a_wrong_suffix_are_refused(files, tmp_path, capsys):
    (tmp_path / "broken.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    assert main([files[0], str(tmp_path / "broken.jsonl")]) == 2
    assert "not the file of a training run" in capsys.readouterr().err
    assert main(["-o", "all.json", files[0]]) == 2
    assert "one of .html .txt" in capsys.readouterr().err


def test_a_run_without_a_step_has_a_page(tmp_path):
    with record(None, optim.SGD([nn.Parameter(pullback.ones(2))], lr=0.1)) as run:
        pass
    run.save(tmp_path / "none.html")
    assert '"count":0' in (tmp_path / "none.html").read_text(encoding="utf-8")
