"""The forms of an explanation: text to the letter, Graphviz, Mermaid, SVG, the trace file, the page and the notebook."""

import contextlib
import json
import re
import runpy
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback.explain.reading import from_dict, read
from pullback.explain.sources import shortened

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
HOSTILE = "</script><img src=x onerror=alert(1)>\"'`]]>{{__DATA__}}\u2028\u202e[1]|%%;#\\\n\x1b[31m"


def recorded(name, **options):
    with contextlib.suppress(RuntimeError), pullback.explain.record(timing=False, **options) as ex:
        runpy.run_path(str(PROGRAMS / f"{name}.py"))
    return ex


def hostile():
    """A program whose expressions are an attack on whatever shows them."""
    name = "<b>attack</b>.py"
    code = f"y = (x * len({HOSTILE!r})).sum()\ny.backward()\n"
    import linecache

    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    x = pullback.tensor([float("nan"), float("inf"), -0.0], requires_grad=True)
    with pullback.explain.record() as ex:
        exec(compile(code, name, "exec"), {"x": x, "len": len})
    for tensor in ex.tensors:
        tensor.name = shortened(f"{tensor.name}{HOSTILE}")
        tensor.expr = HOSTILE * 200
    return ex


def test_text_in_ascii_and_without_what_steers_a_terminal():
    text = hostile().to_text(ascii=True)
    assert text.isascii()
    assert "\x1b" not in text
    for operations in (False, True):
        safe = hostile().to_text(width=100, operations=operations)
        assert not {"\x1b", "\u202e", "\u2028"} & set(safe)
        assert max(map(len, safe.splitlines())) <= 100


def test_a_long_tape_is_told_in_few_lines():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record(timing=False) as ex:
        y = x
        for _ in range(500):
            y = y * 1.01
            y = y.sin()
        y.sum().backward()
    text = ex.to_text(operations=True)
    assert "498 more rounds of these 2 steps" in text
    assert len(text.splitlines()) < 40
    text = ex.to_text()
    assert "... 498 more rounds of these 2" in text
    assert "round 1 of 500" in text
    assert "round 500 of 500" in text
    assert len(text.splitlines()) < 30


def test_calls_of_functions_and_modules_are_folded():
    model = pullback.nn.Sequential(
        *[pullback.nn.Sequential(pullback.nn.Linear(3, 3), pullback.nn.Tanh()) for _ in range(50)]
    )
    with pullback.explain.record(timing=False) as ex:
        model(pullback.ones(1, 3)).sum().backward()
    text = ex.to_text(operations=True)
    assert len(text.splitlines()) < 300
    assert "... model.0, 2 steps" in text
    assert len(ex.to_text().splitlines()) <= 45
    assert ex.to_dot().count("label=<") < 400


def test_a_step_names_itself():
    step = recorded("seed").steps[-1]
    assert repr(step).startswith("<backward step 15: ")
    assert repr(step).endswith(f", line {step.line}>" if step.line else ">")
    assert ", line 6>" in repr(next(step for step in recorded("seed").steps if step.line == 6))


def test_one_step_as_text():
    from pullback.explain.text import step_text

    text = step_text(recorded("seed"), 8, width=100)
    assert text.startswith("backward step 8 of 15: SelectBackward0 of x[1], seed.py:6\n")
    assert "x  2/4, sum [0 1240]" in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("make", [lambda: recorded("seed"), lambda: recorded("mlp"), hostile])
@pytest.mark.parametrize("detail", ["auto", "full", "compact"])
def test_graphviz_draws_it(make, detail):
    ex = make()
    svg = ex.to_svg(detail=detail)
    root = ET.fromstring(svg)
    assert root.tag.endswith("svg")
    assert not [element for element in root.iter() if element.tag.endswith(("script", "image"))]
    assert "onerror" not in {name for element in root.iter() for name in element.attrib}
    assert len([element for element in root.iter() if element.get("class") == "node"]) == len(ex.tensors)


def test_without_graphviz_an_svg_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"no `dot` on the path\. Install Graphviz"):
        recorded("seed").to_svg()


def test_graphviz_text_shows_all_attributes_of_few_boxes():
    x = pullback.tensor(2.0, requires_grad=True)
    text = pullback.explain(x * x).to_dot()
    for attribute in ("data", "grad", "grad_fn", "is_leaf", "requires_grad"):
        assert text.count(f">{attribute}<") == 2
    with pytest.raises(ValueError, match="detail='fine'"):
        pullback.explain(x * x).to_dot(detail="fine")


def test_mermaid_stays_small_and_escapes():
    text = hostile().to_mermaid()
    assert not {"<img", "</script", "\u2028", "\u202e", "\x1b"} & {
        text[i : i + n] for n in (1, 4, 8) for i in range(len(text))
    }
    for line in text.splitlines():
        if '["' in line:
            inside = line[line.index('["') + 2 : line.rindex('"]')].replace("<br/>", "")
            assert not set('"[]<>|{}`') & set(inside)
    x = pullback.ones(2, requires_grad=True)
    parts = [x * k for k in range(700)]
    wide = pullback.explain(pullback.stack(parts).sum())
    assert wide.to_mermaid().count("-->") + wide.to_mermaid().count("-.->") <= 450
    with pytest.raises(ValueError, match="max_edges=0"):
        wide.to_mermaid(max_edges=0)


def test_forward_and_backward_are_drawn_in_their_own_ways():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    ex = pullback.explain((x * 2).sum())
    mermaid = ex.to_mermaid()
    assert "n0 --> n1" in mermaid
    assert 'n1 ==>|"#91;2 2#93;"| n0' in mermaid
    assert "thick, up: gradients, backward" in mermaid
    dot = ex.to_dot()
    assert "n0 -> n1;" in dot
    assert 'n1 -> n0 [constraint=false, label="[2 2]", color="#b3420a"' in dot
    assert "Orange, up: gradients, backward" in dot


def network(layers):
    pullback.manual_seed(0)
    parts = [part for _ in range(layers) for part in (pullback.nn.Linear(4, 4), pullback.nn.Tanh())]
    model = pullback.nn.Sequential(*parts, pullback.nn.Linear(4, 1))
    loss = model(pullback.ones(2, 4)).mean()
    with pullback.explain.record(timing=False) as ex:
        loss.backward()
    return ex, model, loss


def test_a_network_is_told_by_the_sizes_of_its_gradients():
    ex, model, loss = network(1)
    text = " ".join(ex.to_text().split())
    norm = np.linalg.norm(model[2].weight.grad.numpy())
    assert f"The loss is {loss.item():.4g}. 4 parameters have a gradient; the largest, of norm " in text
    ratio = np.hypot(*(np.linalg.norm(part.grad.numpy()) for part in model[0].parameters())) / np.hypot(norm, 1)
    assert f"The gradient of model.0 is {ratio:.2g} times that of model.2." in text
    weight = norm / np.linalg.norm(model[2].weight.detach().numpy())
    line = next(line for line in ex.to_text().splitlines() if line.startswith("model.2.weight  "))
    assert line.split()[1] == f"{norm:.3g}"
    assert line.split()[3] == f"{weight:.2g}"
    (call,) = ex.to_dict()["calls"]
    assert call["said"] in text
    for leaf, row in zip(ex.leaves, call["gradients"], strict=True):
        grad, value = (np.asarray(array, float) for array in (leaf.grad, leaf.tensor.data))
        assert row["norm"] == pytest.approx(np.linalg.norm(grad), rel=1e-6)
        assert row["weight"] == pytest.approx(np.linalg.norm(value), rel=1e-6)
        assert row["zeros"] == np.mean(grad == 0)
        assert row["group"] is None


def test_the_gradients_of_many_parameters_are_folded_by_module():
    ex, _, _ = network(20)
    lines = ex.to_text().splitlines()
    (line,) = [line for line in lines if line.startswith("model.38 ")]
    assert line.endswith("2 parameters")
    groups = [row["group"] for row in ex.to_dict()["calls"][0]["gradients"]]
    assert groups == [leaf.tensor.name.rpartition(".")[0] for leaf in ex.leaves]
    assert "not stored" not in ex.to_text()


def test_small_arrays_are_shown_by_their_numbers():
    x = pullback.arange(12.0).requires_grad_()
    with pullback.explain.record(timing=False) as ex:
        ((x + 0.125) * 2).sum().backward()
    for width in (60, 80, 100):
        text = ex.to_text(width=width, operations=True)
        assert max(map(len, text.splitlines())) <= width
        assert "20.25, 22.25]" in " ".join(text.split())
        assert "norm" not in text.partition("forward  ")[2]


# The trace file

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)
}  # fmt: skip


def violations(value, rule, root, path="$"):
    """What of a JSON Schema a value breaks: of the words that ours uses."""
    if "$ref" in rule:
        rule = {**root["$defs"][rule["$ref"].rpartition("/")[2]], **{k: v for k, v in rule.items() if k != "$ref"}}
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds
    ):
        yield f"{path}: {value!r} is no {kinds}"
        return
    if "const" in rule and value != rule["const"]:
        yield f"{path}: {value!r} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{path}: {value!r} is none of {rule['enum']}"
    if "anyOf" in rule and all(list(violations(value, each, root, path)) for each in rule["anyOf"]):
        yield f"{path}: {str(value)[:80]} is nothing of anyOf"
    if "minimum" in rule and isinstance(value, (int, float)) and value < rule["minimum"]:
        yield f"{path}: {value} is less than {rule['minimum']}"
    if isinstance(value, list):
        if len(value) < rule.get("minItems", 0) or len(value) > rule.get("maxItems", len(value)):
            yield f"{path}: {len(value)} items"
        for index, item in enumerate(value if "items" in rule else ()):
            yield from violations(item, rule["items"], root, f"{path}[{index}]")
    if isinstance(value, dict):
        known = rule.get("properties", {})
        missing, strange = set(rule.get("required", ())) - set(value), set(value) - set(known)
        if missing or (strange and rule.get("additionalProperties") is False):
            yield f"{path}: lacks {missing}, has {strange}"
        for key in set(value) & set(known):
            yield from violations(value[key], known[key], root, f"{path}.{key}")


def checked(document):
    rules = pullback.explain.schema()
    assert list(violations(document, rules, rules)) == []
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again == document
    return document


def references_hold(document):
    """Every index points at something, and what is sent arrives."""
    for call in document["calls"]:
        tensors, steps = call["tensors"], call["steps"]
        for index, tensor in enumerate(tensors):
            assert all(each < index for each in tensor["inputs"])
        for step in steps:
            assert all(each < len(tensors) for each in step["outputs"])
            made = [step["derivation"], *(term["derivation"] for term in step["terms"])]
            assert all(each is None or each < len(document["derivations"]) for each in made)
            for term in step["terms"]:
                assert len(term["jacobians"]) == len(step["v"]) == len(step["outputs"])
                assert term["to"] in {i for output in step["outputs"] for i in tensors[output]["inputs"]}
        for leaf in call["leaves"]:
            for place in leaf["contributions"]:
                assert steps[place["step"]]["terms"][place["term"]]["to"] == leaf["tensor"]
        for finding in call["findings"]:
            assert finding["step"] is None or finding["step"] < len(steps)


@pytest.mark.parametrize("name", ["seed", "mlp", "nans", "failed", "overwritten"])
def test_the_trace_is_the_golden_file(name):
    golden = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    references_hold(checked(golden))
    made = checked(recorded(name).to_dict())
    for call in (*golden["calls"], *made["calls"]):
        call["cost"] = None
        for each in (*call["tensors"], *call["steps"]):
            each["time"] = None
        for term in (term for step in call["steps"] for term in step["terms"]):  # the last digits depend on the machine
            term["numbers"] = [
                list(map(float, re.findall(r"-?\d[\d.]*(?:e[+-]\d+)?", line))) for line in term["numbers"]
            ]
    same(made, golden)


# What may differ: the version; and with NumPy 1, whose rules for 0-d arrays differ, the dtype in which a gradient travels.
UNLIKE = {"pullback"} if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else {"pullback", "dtype", "live_bytes"}


def same(one, other, path="$"):
    """Two documents with the same structure, and the same numbers as far as machines agree."""
    if isinstance(other, float) and isinstance(one, (int, float)):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-6), path
    elif isinstance(other, dict):
        assert one.keys() == other.keys(), path
        for key in other.keys() - UNLIKE:
            same(one[key], other[key], f"{path}.{key}")
    elif isinstance(other, list):
        assert len(one) == len(other), path
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            same(first, second, f"{path}[{index}]")
    else:
        assert one == other, path


def test_numbers_that_json_lacks_travel_as_words():
    x = pullback.tensor([0.0, -1.0, 4.0], requires_grad=True)
    with pullback.explain.record(timing=False) as ex:
        (x.log() * pullback.tensor([1.0, float("inf"), 0.0])).sum().backward()
    document = checked(ex.to_dict())
    references_hold(document)
    log = next(tensor for tensor in document["calls"][0]["tensors"] if tensor["op"] == "log")
    assert log["data"]["data"][:2] == ["-Infinity", "NaN"]
    again = from_dict(document)
    assert np.isnan(again.nodes[0].data[1])
    assert again.to_dict() == document


@pytest.mark.parametrize(
    "make",
    [lambda: recorded("seed"), lambda: recorded("mlp", values=4), lambda: recorded("overwritten"), hostile],
)
def test_a_saved_trace_is_read_back_as_it_was(make, tmp_path):
    ex = make()
    ex.save(tmp_path / "trace.json")
    again = read(tmp_path / "trace.json")
    same(again.to_dict(), json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")))
    assert again.to_text(width=90) == ex.to_text(width=90)
    assert again.to_dot() == ex.to_dot()
    references_hold(checked(again.to_dict()))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": "pullback-trace", "version": 2}', '{"schema": "pullback-trace", "version": 1}']
)
def test_what_is_no_trace_is_refused(text, tmp_path):
    (tmp_path / "trace.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="is no trace that can be shown"):
        read(tmp_path / "trace.json")


STRANGE = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "\x1b[31m",
    [],
    {},
    [2**40, 2**40],
    ["a"],
    "O",
    "(9999,99999)f8",
    {"a": 1},
    [[1]] * 3,
]


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def test_a_trace_that_was_written_to_hurt_is_refused_or_shown(tmp_path):
    """Values of any kind in place of others: a ValueError of printable text, or an explanation that can be shown."""
    path, rng = tmp_path / "trace.json", np.random.default_rng(0)
    document = recorded("seed").to_dict()
    where = [each for each in places(document) if each]
    refused = 0
    for _ in range(300):
        changed = json.loads(json.dumps(document))
        *outer, last = where[rng.integers(len(where))]
        inner = changed
        for key in outer:
            inner = inner[key]
        inner[last] = STRANGE[rng.integers(len(STRANGE))]
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            text = read(path).to_text()
        except ValueError as error:
            refused += 1
            text = str(error)
        assert all(char.isprintable() or char == "\n" for char in text)
    assert refused > 100


def test_a_trace_without_an_end_is_refused(tmp_path):
    path = tmp_path / "trace.json"
    for text in ("[" * 100_000, '{"a": NaN}', "9" * 5000):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="is no trace that can be shown"):
            read(path)


def test_the_suffix_says_what_is_saved(tmp_path):
    ex = recorded("seed")
    for suffix, start in (
        (".txt", "seed.py:9  y.backward"),
        (".dot", "digraph"),
        (".mmd", "flowchart"),
        (".json", "{"),
    ):
        ex.save(tmp_path / f"out{suffix}")
        assert (tmp_path / f"out{suffix}").read_text(encoding="utf-8").startswith(start)
    with pytest.raises(ValueError, match=r"one of \.html, \.svg"):
        ex.save(tmp_path / "out.pdf")


# The page


class Scripts(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data):
        if self.inside:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = attrs, text + data

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "script"


@pytest.fixture
def program(monkeypatch):
    """A stand-in for the page's program, which a checkout may lack: the page around it is what is tested."""
    monkeypatch.setattr("pullback.explain.page.bundle", lambda: defaultdict(lambda: "/* a file */"))


@pytest.mark.usefixtures("program")
def test_the_page_holds_the_trace_as_data():
    ex = hostile()
    page = ex.to_html(title=HOSTILE)
    parser = Scripts()
    parser.feed(page)
    assert [tag for tag, _ in parser.tags if tag in {"script", "img", "b", "iframe"}] == ["script"] * 7
    attrs, text = parser.scripts[0]
    assert attrs == {"type": "application/json", "id": "trace"}
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ex.to_dict(title=HOSTILE)
    assert "default-src 'none'" in page
    links = [attrs[name] for _, attrs in parser.tags for name in ("src", "href") if name in attrs]
    assert all(link.startswith("data:") for link in links)


@pytest.mark.usefixtures("program")
def test_a_large_trace_is_packed():
    import base64
    import gzip

    x = pullback.ones(64, requires_grad=True)
    y = x
    for _ in range(300):
        y = y * 1.01
    ex = pullback.explain(y.sum())
    parser = Scripts()
    page = ex.to_html(theme="dark")
    parser.feed(page)
    attrs, text = parser.scripts[0]
    assert attrs["data-encoding"] == "gzip"
    assert json.loads(gzip.decompress(base64.b64decode(text))) == ex.to_dict()
    assert 'data-theme="dark"' in page
    with pytest.raises(ValueError, match=r"theme must be .* not 'pink'"):
        ex.to_html(theme="pink")


@pytest.mark.usefixtures("program")
def test_the_page_of_a_network_repeats_no_gradient_as_a_jacobian():
    model = pullback.nn.Linear(16, 4)
    ex = pullback.explain(model(pullback.ones(2, 16)).square().sum())
    parser = Scripts()
    parser.feed(ex.to_html())
    weight, bias = json.loads(parser.scripts[0][1])["calls"][0]["leaves"]
    assert weight["jacobians"] == [None]
    assert bias == ex.to_dict()["calls"][0]["leaves"][1]
    assert ex.leaf(model.weight).J.shape == (1, 64)


@pytest.mark.usefixtures("program")
def test_a_notebook_gets_a_frame_and_what_is_seen_without_scripts():
    shown = hostile()._repr_mimebundle_()
    parser = Scripts()
    parser.feed(shown["text/html"])
    tags = [tag for tag, _ in parser.tags]
    assert [tag for tag in tags if tag in {"script", "b", "pre", "iframe"}] == ["pre", "iframe"]
    frame = dict(parser.tags)["iframe"]
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert frame["srcdoc"].startswith("<!doctype html>")
    assert shown["text/plain"].startswith("b>.py:2  y.backward() put [72 72 72] into x")


def test_show_writes_a_page(monkeypatch, capsys, program):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    path = recorded("seed").show()
    try:
        assert capsys.readouterr().out.strip() == str(path)
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    finally:
        path.unlink()


def test_nothing_is_imported_until_it_is_asked_for():
    code = "import sys, pullback; assert not [m for m in sys.modules if 'explain' in m or 'argparse' in m]; pullback.explain"
    import sys

    subprocess.run([sys.executable, "-c", code], check=True)


def test_explain_is_a_module_that_can_be_called():
    from pullback import explain
    from pullback.explain import record

    x = pullback.tensor(3.0, requires_grad=True)
    assert explain is pullback.explain
    assert explain(x * x).leaf().grad == 6
    assert record is explain.record
    assert "explain" in dir(pullback)
