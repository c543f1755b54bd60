"""Writes the pages that the browser tests open: python pages.py FOLDER."""

import contextlib
import json
import runpy
import sys
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

import pullback as pb
from pullback.command import main as command, trying
from pullback.explain import page
from pullback.explain.runs import Event, Measured, Run
from pullback.utils.checkpoint import checkpoint

FOLDER = Path(sys.argv[1])
ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/explain/programs"
NASTY = "</script><img src=x onerror=\"document.title='owned'\">"


def seed(dtype=None):
    x = pb.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    y = pb.zeros(3, dtype=dtype)
    y[0] = 3*x[0]**2  # fmt: skip
    y[1] = x[0]**2 + 2*x[1]**3  # fmt: skip
    y[2] = 10*x[1]  # fmt: skip
    y.backward(pb.tensor([1.0, 10.0, 100.0], dtype=dtype))


def twice():
    w = pb.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    for scale in (1.0, 2.0):
        loss = ((w @ pb.tensor([scale, 1.0])) ** 2).sum()
        loss.backward()


def invalid():
    x = pb.tensor([0.0, -1.0, 4.0], requires_grad=True)
    root = pb.sqrt(x)
    y = root * pb.tensor([0.0, 1.0, 1.0]) + pb.log(x)
    y.backward(pb.tensor([1.0, float("inf"), 0.0]))


def wide():
    x = pb.tensor([float(i) for i in range(40)], requires_grad=True)
    y = pb.sin(x) * x
    y.backward(pb.tensor([1.0] * 40))


def long(operations):
    x = pb.tensor([0.5, 1.5], requires_grad=True)
    y = x
    for _ in range(operations // 5):
        a = pb.sin(y)
        b = a * 0.5
        c = b + x
        d = pb.tanh(c)
        y = y + d
    y.backward(pb.tensor([1.0, 2.0]))


def network():
    pb.manual_seed(4)  # no gradient of a parameter is zero
    model = pb.nn.Sequential(pb.nn.Linear(3, 4), pb.nn.ReLU(), pb.nn.Linear(4, 4), pb.nn.ReLU(), pb.nn.Linear(4, 2))
    loss = (model(pb.ones(5, 3)) ** 2).mean()
    loss.backward()


class Layer(pb.nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.proj = pb.nn.Linear(4, 4), pb.nn.Linear(4, 4)

    def forward(self, x):
        return x + self.proj(self.attn(x).tanh())


class Deep(pb.nn.Module):
    def __init__(self):
        super().__init__()
        self.h, self.head = pb.nn.ModuleList([Layer() for _ in range(12)]), pb.nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.h:
            x = layer(x)
        return self.head(x)


def deep():
    pb.manual_seed(0)
    model = Deep()
    loss = (model(pb.ones(20, 4)) ** 2).mean()
    loss.backward()


def masked():
    pb.manual_seed(0)
    inner, outer = pb.nn.Linear(4, 4), pb.nn.Linear(4, 1)
    hidden = inner(pb.ones(3, 4)).masked_fill(pb.ones(3, 4) > 0, float("-inf"))
    loss = outer(hidden.softmax(1)).sum()
    loss.backward()


def layers():
    model = pb.nn.Sequential(pb.nn.Linear(8, 8), pb.nn.Tanh(), pb.nn.Linear(8, 3))
    loss = pb.nn.functional.cross_entropy(model(pb.randn(16, 8)), pb.randint(0, 3, (16,)))
    loss.backward()


def several():
    x = pb.tensor([3.0, 1.0, 2.0, 5.0], requires_grad=True)
    values, _ = pb.sort(x)
    a, b = pb.chunk(values, 2)
    (a * b).backward(pb.tensor([1.0, 1.0]))


def failing():
    x = pb.tensor([1.0, 2.0], requires_grad=True)
    y = pb.exp(x)
    x[0] = y[1]


def overwritten():
    x = pb.tensor([1.0, 2.0], requires_grad=True)
    w = pb.tensor([3.0, 4.0], requires_grad=True)
    y = checkpoint(lambda t: (t * w).sin(), x * 2, use_reentrant=False).sum()
    with pb.no_grad():
        w.mul_(2)
    y.backward()


def refused():
    x = pb.tensor([1.0, 2.0], requires_grad=True)
    y = pb.exp(x) * 2
    y @ pb.ones(3)


def traced(program, *args, **options):
    try:
        with pb.explain.record(**options) as ex:
            program(*args)
    except RuntimeError:
        pass
    return ex


def hostile():
    trace = traced(seed, pb.float64).to_dict()
    names = [
        NASTY,
        "__DATA__ {trace} {program}",
        "\u05d0\u05d1\u05d2 \u202e abc",
        "\U0001f600\U0001f680",
        "n" * 10_000,
        "a\u2028b\u2029c",
        "'\"&lt;",
    ]
    call = trace["calls"][0]
    for i, tensor in enumerate(call["tensors"]):
        tensor["name"] = names[i % len(names)]
        tensor["expr"] = NASTY
    call["text"] = f"y.backward({NASTY})"
    trace["title"] = f"title {NASTY}"
    for source in trace["sources"]:
        source["file"] = NASTY
        source["lines"] = [f"{NASTY} {names[2]} {names[5]}"] * len(source["lines"])
    for step in call["steps"]:
        step["note"] = NASTY
        for term in step["terms"]:
            term["numbers"] = [NASTY, f"y = {names[2]}"]
    for made in trace["derivations"]:
        made.update(dict.fromkeys(("why", "value", "slope"), NASTY), reason=f"`{NASTY}` {names[2]}")
    return trace


def run(steps, parameters, every, seed=0):
    """A training run of so many steps, as if it had been recorded."""
    random = np.random.default_rng(seed)
    made = Run(every)
    made.count, made.seconds = steps, 12.5
    made.parameters = [f"h.{i // 12}.{'attn' if i % 12 < 6 else 'mlp'}.layer{i % 6}.weight" for i in range(parameters)]
    made.shapes = [(64, 64)] * parameters
    for step in range(steps):
        loss = float("nan") if step == steps // 2 else float(3 * np.exp(-5 * step / steps) + random.random() / 10)
        made.losses.add(step, loss)
        if step % every == 0:
            rows = [random.lognormal(size=parameters).tolist() for _ in range(3)]
            made.steps.add(step, Measured(step, loss, 0.01, *rows))
    made.events.append(Event("nan", steps // 2, "", f"the loss is nan {NASTY}", "look at it"))
    return made


def write(name, trace, **options):
    (FOLDER / f"{name}.html").write_text(page.to_html(trace, **options), encoding="utf-8")
    (FOLDER / f"{name}.json").write_text(json.dumps(trace), encoding="utf-8")


# The policy that VS Code's setting notebook.experimental.enableCsp gives to its outputs, and one without inline scripts.
VSCODE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:; "
    "font-src https:; connect-src https:; child-src https: data: blob:"
)
STRICT = "default-src 'none'; script-src 'nonce-jupyter'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'"


class Untrusted(HTMLParser):
    """What JupyterLab leaves of an output that is not trusted: no frames, no scripts, no handlers."""

    def __init__(self, cell):
        super().__init__(convert_charrefs=False)
        self.left = []
        self.feed(cell)

    def handle_starttag(self, tag, attrs):
        if tag in {"div", "pre", "img", "p"}:
            kept = {"img": {"alt", "src", "style"}}.get(tag, {"style"})
            left = "".join(f' {name}="{escape(value)}"' for name, value in attrs if name in kept)
            self.left.append(f"<{tag}{left}>")

    def handle_endtag(self, tag):
        self.left.append(f"</{tag}>" if tag in {"div", "pre", "p"} else "")

    def handle_data(self, data):
        self.left.append(data)

    def handle_entityref(self, name):
        self.left.append(f"&{name};")

    def handle_charref(self, name):
        self.left.append(f"&#{name};")


def cells(*shown):
    """Notebooks whose cells hold these values, as the notebooks there are put outputs into their pages."""
    found = [each._repr_mimebundle_()["text/html"] for each in shown]
    static = "".join(f"<div class=output>{cell}</div>" for cell in found)
    texts = json.dumps(found).replace("<", "\\u003c")
    by_script = (
        "<main></main><script nonce=jupyter>for (const cell of "
        f"{texts}) {{ const output = document.createElement('div'); output.className = 'output'; output.innerHTML = cell; "
        "document.querySelector('main').append(output); }</script>"
    )

    def page(body, policy=""):
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
        return f"<!doctype html><meta charset=utf-8>{meta}<body>{body}"

    def framed(body, sandbox):
        style = "width:100%;height:3000px;border:0"
        return page(f'<iframe id=outer sandbox="{sandbox}" style="{style}" srcdoc="{escape(page(body))}"></iframe>')

    hosts = {
        "notebook": page(static),
        "notebook-jupyter": page(by_script),
        "notebook-vscode": page(by_script, VSCODE),
        "notebook-colab": framed(by_script, "allow-scripts allow-forms allow-popups allow-downloads"),
        "notebook-strict": page(by_script, STRICT),
        "notebook-static": framed(static, ""),
        "notebook-untrusted": page(
            "".join(f"<div class=output>{''.join(Untrusted(cell).left)}</div>" for cell in found)
        ),
    }
    for name, text in hosts.items():
        (FOLDER / f"{name}.html").write_text(text, encoding="utf-8")


def tried(name):
    """A program in which NaN is born, with the changes that the command tries, however busy this machine is."""
    trying.SECONDS, trying.IN_ALL = 120, 600
    command(["explain", "-o", str(FOLDER / f"{name}.html"), str(Path(__file__).parent / f"programs/{name}.py")])


def failures():
    """A page for each planted error; of the first, also as the command writes it, which tries what helps."""
    planted = runpy.run_path(str(ROOT / "tests/explain/planted.py"))
    for number, each in enumerate((*planted["ERRORS"].values(), *planted["OTHERS"].values())):
        file = FOLDER / f"failure{number}.py"
        file.write_text(planted["HEAD"] + each.text, encoding="utf-8")
        with contextlib.suppress(Exception), pb.explain.record() as ex:
            runpy.run_path(str(file), run_name="__main__")
        write(file.stem, ex.to_dict())
    out = [part for suffix in ("html", "json") for part in ("-o", str(FOLDER / f"tried.{suffix}"))]
    command(["explain", *out, str(FOLDER / "failure0.py")])


def beside():
    """A page with what was found beside the call: digits, a difference, and examples."""
    pb.manual_seed(0)
    model = pb.nn.Sequential(pb.nn.Linear(3, 4), pb.nn.Tanh(), pb.nn.Linear(4, 2))
    x, target = pb.randn(24, 3), pb.randint(0, 2, (24,))

    def step(slope):
        pb.nn.functional.cross_entropy(model(x) * slope, target).backward()
        return 1 - pb.cos(pb.tensor(1e-3))

    with pb.explain.record() as ex, pb.explain.digits() as digits, pb.explain.trail() as one:
        step(1.0)
    with pb.explain.trail() as other:
        step(1.1)
    loss = lambda model, x, t: pb.nn.functional.cross_entropy(model(x), t)  # noqa: E731
    return ex.attach(digits, pb.explain.first_difference(one, other), pb.explain.examples(model, loss, x, target))


def main():
    first = traced(seed, pb.float64, timing=True)
    write("seed", first.to_dict())
    write("single", traced(seed).to_dict())
    write("pictured", traced(runpy.run_path, str(PROGRAMS / "seed.py"), timing=False).to_dict())
    write("plane", traced(runpy.run_path, str(ROOT / "docs/live/plane.py")).to_dict())
    for name in ("rounds", "edited", "classes", "batch", "squares", "letters"):
        write(name, traced(runpy.run_path, str(ROOT / f"frontend/test/programs/{name}.py")).to_dict())
    for program in (twice, invalid, wide, network, failing, overwritten, refused, several, deep, masked, layers):
        write(program.__name__, traced(program).to_dict())
    write("long", traced(long, 2000).to_dict())
    start = traced(seed, pb.float64).to_html(step=8)
    (FOLDER / "started.html").write_text(start, encoding="utf-8")
    write("huge", traced(long, 20_000, max_nodes=20_000).to_dict())
    write("hostile", hostile())
    write("beside", beside().to_dict())
    failures()
    write("redacted", traced(seed, redact=True).to_dict())
    (FOLDER / "runs.html").write_text(run(200, 5, 10).to_html(run(300, 7, 10, 1)), encoding="utf-8")
    eight = [run(300, 3, 10, seed) for seed in range(8)]
    for i, each in enumerate(eight):
        each.settings = {"optimizer": "SGD", "lr": 10.0**-i, "momentum": 0.9}
        each.steps.kept = [(n, step._replace(time=(i + 1) * n / 1000)) for n, step in each.steps.kept]
        each.steps.last = each.steps.kept[-1]
    (FOLDER / "eight.html").write_text(eight[0].to_html(*eight[1:]), encoding="utf-8")
    (FOLDER / "training.html").write_text(run(10_000, 150, 10).to_html(), encoding="utf-8")
    cells(first, run(200, 5, 10))
    tried("root")
    tried("squashed")


main()
