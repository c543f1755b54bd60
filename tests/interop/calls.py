"""Calls of SciPy and scikit-learn on tensors: of each, whether values and gradients are right, or what refuses it.

    python -m tests.interop.calls [--write | --instead] [module ...]

tries the calls of `calls.tsv` and prints those whose outcome is another than is written there; `--write` writes it, and the
pages scipy-table.md and scikit-learn-table.md of docs/how-to, whose text is tests/interop/table.md. `--instead` tries what `instead.tsv` has for calls that
are refused: it must give their values. A call is an expression. The names of INPUTS in it are what gradients are taken with respect
to, by central differences of fourth order; those of CONSTANTS are arrays of the same kind without gradients. Calls run under
`no_escapes` and `strong_zeros`; those that are refused run once more under `numpy_programs` of the package.
"""

import ast
import sys
import textwrap
import warnings
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np

import pullback
import pullback.interop.scipy

TABLE = Path(__file__).with_name("calls.tsv")
INSTEAD = TABLE.with_name("instead.tsv")
TEXT = TABLE.with_name("table.md")
PAGES = [Path(__file__).parents[2] / "docs/how-to" / f"{name}-table.md" for name in ("scipy", "scikit-learn")]
SERIES = np.array([0.3, 1.2, -0.4, 0.8, 2.1, 0.1, -1.3, 0.6, 1.9, -0.2, 0.4, 1.1])
_draw = np.random.default_rng(0)
INPUTS = {
    "x": np.array([0.7, 1.3, 0.4, 2.2, 1.6]), "y": np.array([1.1, 0.5, 1.9, 0.8, 1.4]),
    "u": np.array([0.15, 0.35, 0.6, 0.85, 0.5]), "p": np.array([0.1, 0.2, 0.3, 0.15, 0.25]),
    "q": np.array([0.2, 0.25, 0.1, 0.3, 0.15]), "s": SERIES, "r": np.cos(SERIES * 3) + SERIES[::-1] * 0.4,
    "a": np.array(0.7), "b": np.array(1.6), "v": np.array([0.3, -0.5, 0.8]),
    "M": np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]]), "N": _draw.normal(size=(3, 3)),
    "A": _draw.normal(size=(8, 3)), "B": _draw.normal(size=(5, 3)), "z": _draw.normal(size=8),
    "P": np.abs(_draw.normal(size=(8, 3))) + 0.2, "c": _draw.uniform(0.1, 0.9, size=8),
}  # fmt: skip
CONSTANTS = {
    "t": np.arange(12.0), "g": np.linspace(0.0, 2.0, 5), "k": np.array([0, 1, 0, 1, 1, 0, 1, 0]),
    "K": np.array([0, 1, 2, 1, 2, 0, 1, 0]), "f": np.array([0.2, 0.5, 0.3]), "w": np.array([1.0, 2.0, 0.5, 1.5, 1.0]),
    "W": np.array([1.0, 2.0, 0.5, 1.5, 1.0, 0.7, 1.2, 0.9]), "zero": np.array(0.0), "three": np.array(3.0),
}  # fmt: skip
BESIDE = {
    "scipy": ("scipy.cluster.vq", "scipy.optimize.elementwise", "scipy.spatial.distance", "scipy.stats"),
    "sklearn": (
        "scipy.optimize",
        "scipy.stats",
        "sklearn.metrics",
        "sklearn.preprocessing",
        "sklearn.decomposition",
        "sklearn.linear_model",
        "sklearn.naive_bayes",
    ),
}
"""Modules that calls name beside their own."""
SEARCHES = ("boxcox(x)[0]", "curve_fit(", "minimize(", "differential_evolution(")
"""What finds a minimum, to half of the digits: differences have larger steps, and no more digits than it."""
GOOD = ("right", "right as a program", "constant")


class _Renamed(ast.NodeTransformer):
    """Names of values get an underscore: modules have functions of the same names, such as `scipy.stats.t`."""

    bound: frozenset[str] = frozenset()

    def visit_Lambda(self, node):  # as in ast
        before, self.bound = self.bound, self.bound | {each.arg for each in node.args.args}
        self.generic_visit(node)
        self.bound = before
        return node

    def visit_Attribute(self, node):
        distribution = isinstance(node.value, ast.Name) and node.value.id == "t"
        return node if distribution else self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in {*INPUTS, *CONSTANTS} - self.bound:
            node.id = f"_{node.id}"
        return node


def fixed(values):
    """The values as an array, which has no gradient."""
    return values.detach().numpy() if isinstance(values, pullback.Tensor) else values


def _tree(call):
    return _Renamed().visit(ast.parse(call, mode="eval"))


def used(call):
    """The names of inputs in a call."""
    names = {node.id[1:] for node in ast.walk(_tree(call)) if isinstance(node, ast.Name) and node.id.startswith("_")}
    return [name for name in INPUTS if name in names]


def evaluated(module, call, values):
    """The parts of what a call gives, for these values."""
    package = module.partition(".")[0]
    for name in (module, *BESIDE[package]):
        __import__(name)
    inside = {
        "np": np,
        "fixed": fixed,
        **(vars(sys.modules["scipy"]) if package == "sklearn" else {}),
        **vars(sys.modules[package]),
        **vars(sys.modules[module]),
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = eval(compile(_tree(call), call, "eval"), {**inside, **{f"_{k}": v for k, v in values.items()}})
    return _listed(found)


def _listed(result):
    return [part for each in result for part in _listed(each)] if isinstance(result, (list, tuple)) else [result]


def weights(size, part):
    """A weight for each element of a part of the result."""
    return np.cos(np.arange(1.0, size + 1) + part)


def number(module, call, moved):
    """The weighed sum of a result, by NumPy alone."""
    values = {k: v.copy() for k, v in {**INPUTS, **CONSTANTS, **moved}.items()}
    parts = [np.asarray(each).ravel() for each in evaluated(module, call, values)]
    return sum(float(np.real(each @ weights(each.size, part))) for part, each in enumerate(parts))


def searches(call):
    """Whether a call looks for a minimum."""
    return any(map(call.__contains__, SEARCHES))


def differences(module, call):
    """The gradients by differences."""
    found, step = {}, 1e-2 if searches(call) else 1e-4
    for name in used(call):
        found[name] = np.zeros(INPUTS[name].shape)
        for index in np.ndindex(found[name].shape):
            for times, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
                moved = INPUTS[name].copy()
                moved[index] += times * step
                found[name][index] += weight * number(module, call, {name: moved}) / (12 * step)
    return found


def weighed(module, call, given):
    """The weighed sum of a result, as a tensor if it has a gradient."""
    constants = {k: pullback.tensor(v) for k, v in CONSTANTS.items()}
    total = 0.0
    for part, each in enumerate(evaluated(module, call, {**constants, **given})):
        if isinstance(each, pullback.Tensor):
            total = total + (each.reshape(-1) * pullback.tensor(weights(each.numel(), part))).sum().real
        else:
            total = total + float((np.ravel(each) * weights(np.size(each), part)).sum().real)
    return total


def _line(error):
    return f"{type(error).__name__}: {error}".partition("\n")[0].replace("\t", " ")[:150]


def compared(total, given, expected, slopes, rough):
    """The outcome of a call that was not refused."""
    if not isinstance(total, pullback.Tensor) or not total.requires_grad:
        constant = all(np.abs(slope).max() < 1e-8 for slope in slopes.values())
        return ("constant", "") if constant else ("wrong", "the result has no gradient")
    if not np.isclose(float(total.detach()), expected, rtol=1e-7, atol=1e-9):
        return "wrong", f"the value is {float(total.detach())!r}, NumPy's {expected!r}"
    gradients = pullback.autograd.grad(total, list(given.values()), allow_unused=True)
    for name, gradient in zip(given, gradients, strict=True):
        array = np.zeros(INPUTS[name].shape) if gradient is None else gradient.numpy()
        scale = max(1.0, abs(expected), np.abs(slopes[name]).max())
        if not np.allclose(array, slopes[name], rtol=rough * 1e-5, atol=rough * 1e-6 * scale):
            return "wrong", f"by {name}: {np.ravel(array)[:3]}, differences {np.ravel(slopes[name])[:3]}"
    return "right", ""


def outcome(module, call):
    """One of GOOD, 'refused', 'wrong' or 'unusable', and why."""
    try:
        expected, slopes = number(module, call, {}), differences(module, call)
    except Exception as error:  # noqa: BLE001  # told in the table
        return "unusable", _line(error)
    reason = ""
    for word, block in (
        ("right", pullback.no_escapes),
        ("right as a program", lambda: pullback.numpy_programs(module.partition(".")[0])),
    ):
        given = {k: pullback.tensor(INPUTS[k], requires_grad=True) for k in used(call)}
        try:
            with block(), pullback.strong_zeros():
                total = weighed(module, call, given)
                found, why = compared(total, given, expected, slopes, 10 if searches(call) else 1)
        except Exception as error:  # noqa: BLE001  # told in the table
            reason = reason or _line(error)
        else:
            return (word, "") if found == "right" else (found, why)
    return "refused", reason


def rows():
    """Module, call, outcome and reason of each row of the table."""
    return [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]


def versions():
    """What the outcomes depend on."""
    return ", ".join(f"{name} {version(package)}" for name, package in PACKAGES.items())


PACKAGES = {"SciPy": "scipy", "scikit-learn": "scikit-learn", "NumPy": "numpy"}


def instead():
    """Of each call that is refused what to write instead, or '', and otherwise why there is nothing."""
    lines = [line.split("\t") for line in INSTEAD.read_text(encoding="utf-8").splitlines()]
    return {(module, call): (way, why) for module, call, way, why in lines}


def differs(module, call, way):
    """What is wrong with what is written instead of a call, if anything: it gives the same values, and the right gradients."""
    given, wanted = number(module, way, {}), number(module, call, {})
    if not np.isclose(given, wanted, rtol=1e-6, atol=1e-6):
        return f"{given}, and the call gives {wanted}"
    said, why = outcome(module, way)
    return "" if said == "right" else f"{said}: {why}"


def _listed_calls(calls):
    """Calls in lines, none of which is broken."""
    whole = " ".join(f"`{call}`".replace(" ", "\0") for call in calls)
    return textwrap.fill(whole, 128, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def texts(table, tried):
    """The texts of the pages, for outcomes that were tried with these versions."""
    totals = {
        package: Counter(row[2] for row in table if row[0].startswith(package)) for package in ("scipy", "sklearn")
    }
    ways, lines = instead(), []
    for name, package in (("SciPy", "scipy"), ("scikit-learn", "sklearn")):
        found = [totals[package][kind] for kind in (*GOOD, "refused")]
        lines.append(f"| {name} | " + " | ".join(map(str, [*found, sum(found)])) + " |")
    text = TEXT.read_text(encoding="utf-8")
    counts = "\n".join(lines)
    for module in dict.fromkeys(row[0] for row in table):
        lines = []
        for kind in GOOD:
            calls = [row[1] for row in table if row[0] == module and row[2] == kind]
            if calls:
                lines += [f"{SAID[kind]}:", "", _listed_calls(calls), ""]
        refused = [row[1] for row in table if row[0] == module and row[2] == "refused"]
        if refused:
            lines += ["| refused | instead |", "| --- | --- |"]
            lines += [f"| `{call}` | {_way(*ways[module, call])} |" for call in refused] + [""]
        mark = f"<!-- {module} -->\n"
        assert mark in text, f"{TEXT.name} has no place for {module}"
        text = text.replace(mark, "\n".join(lines).rstrip() + "\n")
    scipy, title, sklearn = (
        text.replace("<!-- counts -->", counts).replace("<!-- versions -->", tried).rpartition("\n# ")
    )
    return [scipy, title[1:] + sklearn]


SAID = {
    "right": "Work",
    "right as a program": "Work in a block `numpy_programs`",
    "constant": "Constant around a point",
}


def _way(way, why):
    return f"`{way}`" if way else f"{why[0].upper()}{why[1:]}."


def main(arguments):
    """1 if a call is silently wrong, or was right and is no longer so."""
    pullback.interop.scipy.enable()
    wanted = [each for each in arguments if not each.startswith("-")]
    if "--instead" in arguments:
        ways = [
            (*key, way) for key, (way, _) in instead().items() if way and any(map(key[0].__contains__, wanted or [""]))
        ]
        said = {row: said for row in ways if (said := differs(*row))}
        print(len(ways), *[f"{row}: {why}" for row, why in said.items()], sep="\n")
        return int(bool(said))
    table, bad = rows(), []
    for row in table:
        module, call, before, _ = row
        if wanted and not any(each in module for each in wanted):
            continue
        row[2:] = outcome(module, call)
        if row[2] != before:
            print(*row[2:], *row[:2], f"(before: {before})", sep="\t", flush=True)
        if row[2] == "wrong" or (before in GOOD and row[2] not in GOOD):
            bad.append(row)
    print(versions(), dict(Counter(row[2] for row in table)), f"worse: {len(bad)}")
    if "--write" in arguments:
        TABLE.write_text("".join("\t".join(row) + "\n" for row in table if row[2] != "unusable"), encoding="utf-8")
        for page, text in zip(PAGES, texts([row for row in table if row[2] != "unusable"], versions()), strict=True):
            page.write_text(text, encoding="utf-8")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
