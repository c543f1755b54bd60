"""Calls of SciPy and scikit-learn on tensors: of each, whether values and gradients are right, or what refuses it.

    python -m tests.interop.calls [--write] [module ...]

tries the calls of `calls.tsv` and prints those whose outcome is another than is written there; `--write` writes it, and the
page docs/how-to/scipy-table.md. A call is an expression. The names of INPUTS in it are what gradients are taken with respect
to, by central differences of fourth order; those of CONSTANTS are arrays of the same kind without gradients. Calls run under
`no_escapes` and `strong_zeros`; those that are refused run once more under `numpy_programs` of the package.
"""

import ast
import sys
import warnings
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np

import pullback
import pullback.interop.scipy

TABLE = Path(__file__).with_name("calls.tsv")
PAGE = Path(__file__).parents[2] / "docs/how-to/scipy-table.md"
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
    "sklearn": ("sklearn.preprocessing", "sklearn.decomposition", "sklearn.linear_model", "sklearn.naive_bayes"),
}
"""Modules that calls name beside their own."""
SEARCHES = ("boxcox(", "curve_fit(", "minimize(", "differential_evolution(")
"""What finds a minimum, to half of the digits: the steps of differences are larger."""
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
    inside = {"np": np, **vars(sys.modules[package]), **vars(sys.modules[module])}
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


def differences(module, call):
    """The gradients by differences."""
    found, step = {}, 1e-2 if call.startswith(SEARCHES) else 1e-4
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


def compared(total, given, expected, slopes):
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
        if not np.allclose(array, slopes[name], rtol=1e-5, atol=1e-6 * scale):
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
                found, why = compared(total, given, expected, slopes)
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


def page(table):
    """The text of the page."""
    counts = {
        package: Counter(row[2] for row in table if row[0].startswith(package)) for package in ("scipy", "sklearn")
    }
    lines = [
        "# What of SciPy and scikit-learn differentiates",
        "",
        "After [`pullback.interop.scipy.enable()`](array-api.md) these calls were tried on tensors, and their values and",
        "gradients compared with NumPy's and with central differences. *Right as a program* are calls that are right inside",
        "[`numpy_programs`](numpy-programs.md) of the package. A constant has no derivative. What is refused raises an error: most of",
        "it is compiled code, which takes no tensors. No call gave a wrong gradient inside `no_escapes` and `strong_zeros`.",
        "Without `strong_zeros` the three calls with `StandardScaler` give NaN, a product of an infinite slope and zero.",
        "",
        "| | right | right as a program | constant | refused |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, package in (("SciPy", "scipy"), ("scikit-learn", "sklearn")):
        lines.append(f"| {name} | " + " | ".join(str(counts[package][kind]) for kind in (*GOOD, "refused")) + " |")
    lines += ["", f"{versions()}. Made by `python -m tests.interop.calls --write`.", ""]
    for module in dict.fromkeys(row[0] for row in table):
        lines += [f"## {module}", ""]
        for kind in (*GOOD, "refused"):
            calls = [row[1] for row in table if row[0] == module and row[2] == kind]
            if calls:
                lines += [f"{kind.capitalize()}:", "", *[f"- `{call}`" for call in calls], ""]
    return "\n".join(lines)


def main(arguments):
    """1 if a call is silently wrong, or was right and is no longer so."""
    pullback.interop.scipy.enable()
    wanted = [each for each in arguments if not each.startswith("-")]
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
        PAGE.write_text(page([row for row in table if row[2] != "unusable"]), encoding="utf-8")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
