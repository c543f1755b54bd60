"""Why a rule is what it is: every formula is evaluated, and compared with differences, Jacobians and the step's numbers."""

import ast
import contextlib
import inspect
import itertools
import re

import numpy as np
import pytest

import pullback as pb
from pullback._core import xp as raw
from pullback._core.composing import signature
from pullback.explain.derivations import numbers, table
from pullback.explain.formulas import slope_of
from pullback.explain.reading import from_dict
from pullback.nn import functional as fn
from pullback.ops import tables

from . import networks
from .test_forms import recorded

FUNCTIONS = {
    "pi": np.pi, "max": np.maximum, "min": np.minimum, "sigmoid": raw.sigmoid, "acos": np.arccos, "asin": np.arcsin,
    "floor_quotient": np.floor_divide, "softmax": lambda x: np.exp(x) / np.exp(x).sum(), "inv": np.linalg.inv,
    "det": np.linalg.det, "inf": np.inf, "nan": np.nan, "mean": np.mean, "var": np.var,
}  # fmt: skip
SIZES = {
    "exponent": 3.0, "base": 2.0, "lower": -0.5, "upper": 0.55, "eps": None, "slope": 0.01, "bound": 0.5, "value": 0.0,
    "alpha": 1.5, "scale": 1.2, "input_scale": 0.7, "beta": 2.0, "threshold": 20.0, "order": 1, "n": 2, "delta": 0.45,
    "decimals": 1, "divisor": 0.7,
}  # fmt: skip
ABOVE_ONE = {"acosh", "gammaincinv", "zeta"}


class _Sums(ast.NodeTransformer):
    """sum(x[k], k < j) as a sum over a generator."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) not in {"sum", "prod"}:
            return node
        test = [] if isinstance(node.args[1], ast.Name) else [node.args[1]]
        each = ast.comprehension(ast.Name("k", ast.Store()), ast.parse("range(n)", mode="eval").body, test, 0)
        function = ast.parse(f"__{ast.unparse(node.func)}", mode="eval").body
        return ast.Call(function, [ast.GeneratorExp(node.args[0], [each])], [])


def on_scalars(function):
    """A function of arrays on numbers of NumPy in the place of Python's."""

    def called(*args, **metadata):
        return function(*[np.float64(each) if type(each) in {int, float} else each for each in args], **metadata)

    return called


def value_of(text, **names):
    """The value of a formula."""
    tree = ast.fix_missing_locations(_Sums().visit(ast.parse(text, mode="eval")))
    known = {name: on_scalars(getattr(raw, name)) for name in re.findall(r"(\w+)\(", text) if hasattr(raw, name)}
    scope = {**known, **FUNCTIONS, "__sum": sum, "__prod": lambda each: np.prod(list(each)), **names}
    with np.errstate(all="ignore"):
        return eval(compile(tree, text, "eval"), scope)


def arguments(primitive, random):
    """A place at which a function has a slope: numbers that most functions accept."""
    low = 1.6 if primitive.name in ABOVE_ONE else 0.3
    found = [np.float64(random.uniform(low, low + 0.6)) for _ in primitive.inputs]
    if primitive.name in {"betainc", "betaincc", "gammaincinv", "gammainccinv", "betaincinv"}:
        found[-1] = np.float64(random.uniform(0.3, 0.6))
    if primitive.name == "expn":
        found[0] = np.float64(2)
    return found


def forward_of(primitive, params):
    own = primitive.defined or inspect.isfunction(inspect.unwrap(primitive.forward))  # NumPy's are not
    named = inspect.signature(primitive.forward).parameters if own else {}
    needs = {name for rule in primitive.rules if rule is not None for name in signature(rule)[1]}
    given = {key: size for key, size in params.items() if key in named or (key in needs and "metadata" in named)}
    return lambda *args: np.asarray(primitive.forward(*(np.array([each]) for each in args), **given))[0]


SLOPED = [
    (name, place)
    for name, primitive in sorted(tables().items())
    if primitive.kind == "elementwise"
    for place, rule in enumerate(primitive.rules)
    if rule is not None
]
NO_FORMULA = set(
    "betainc betaincc betaincinv betainc_by_shapes gammainc_by_shape hypot_slope orthogonal_polynomial".split()
)
"""Functions whose slopes are not formulas of functions that have names."""
NOT_SLOPES = {
    "copy",
    "fill",
    "complex_of",
    "conj",
    "angle",
    "attached",
    "nextafter",
    "leaky_factor",
    "above",
    "within",
    "beyond",
    "bend",
    "not_clipped",
    "lambertw",
}
"""Operations that move or choose numbers, or belong to complex ones: no differences are taken."""


@pytest.mark.parametrize(("name", "place"), SLOPED, ids=str)
def test_the_slope_of_an_elementwise_function_is_its_difference_quotient(name, place):
    primitive = tables()[name]
    entry = table().get(name, {}).get("slope", [])
    slope = (
        entry[place].partition(" = ")[2].format_map(SIZES) if place < len(entry) else slope_of(primitive, place, SIZES)
    )
    if slope is None:
        assert name in NO_FORMULA
        return
    if name in NOT_SLOPES:
        return
    forward = forward_of(primitive, SIZES)
    random = np.random.default_rng(3)
    for _ in range(3):
        at = arguments(primitive, random)
        if name in {"where", "select"}:
            at[0] = np.bool_(True)
        if name in {"where", "select"} and place == 0:
            return
        step = 1e-5
        moved = [[each + side * step * (index == place) for index, each in enumerate(at)] for side in (1, -1)]
        if name in {"where", "select"}:
            moved = [[np.bool_(True), *each[1:]] for each in moved]
        quotient = (forward(*moved[0]) - forward(*moved[1])) / (2 * step)
        names = dict(zip(primitive.inputs, at, strict=True))
        found = value_of(
            slope, y=np.float64(forward(*at)), **names, **{k: v for k, v in SIZES.items() if k not in names}
        )
        np.testing.assert_allclose(float(found), quotient, rtol=2e-4, atol=2e-5, err_msg=slope)


def leaf(*shape, seed=0, shift=0.0):
    values = np.random.default_rng([seed, *shape]).normal(size=shape) + shift
    return pb.tensor(values, requires_grad=True)


def positive(*shape, seed=0):
    return pb.tensor(np.random.default_rng([seed, *shape]).uniform(0.5, 2, shape), requires_grad=True)


A, B, X = leaf(2, 3), leaf(3, 2), leaf(4)
SQUARE = pb.tensor(np.array([[2.0, 0.3], [0.4, 1.5]]), requires_grad=True)
PROGRAMS_OF = {
    "sum": X.sum, "mean": X.mean, "cumsum": lambda: X.cumsum(0), "prod": lambda: X.prod(0),
    "cumprod": lambda: X.cumprod(0), "logsumexp": lambda: X.logsumexp(0), "logcumsumexp": lambda: X.logcumsumexp(0),
    "var": X.var, "std": X.std, "amax": X.amax, "amin": X.amin,
    "largest": X.max, "smallest": X.min, "median": X.median,
    "vector_norm of order 2": lambda: pb.linalg.vector_norm(X), "vector_norm of order 1": lambda: pb.linalg.vector_norm(X, 1),
    "vector_norm": lambda: pb.linalg.vector_norm(X, 3), "softmax": lambda: X.softmax(0), "log_softmax": lambda: X.log_softmax(0),
    "standardize": lambda: fn.layer_norm(X, (4,)), "rms_normalize": lambda: fn.rms_norm(X, (4,), eps=1e-5),
    "matmul": lambda: A @ B, "matmul of 2 and 1": lambda: A @ leaf(3), "matmul of 1 and 1": lambda: X @ leaf(4, seed=1),
    "matmul of 1 and 2": lambda: leaf(2) @ A, "project": lambda: fn.linear(A, leaf(4, 3)),
    "affine": lambda: fn.linear(A, leaf(4, 3), leaf(4)), "inv": lambda: pb.linalg.inv(SQUARE),
    "solve": lambda: pb.linalg.solve(SQUARE, A), "det": lambda: pb.linalg.det(SQUARE),
    "max_pool": lambda: fn.max_pool1d(leaf(1, 1, 4), 4),
}  # fmt: skip
NAMES = {
    "a": "self", "x": "self", "b": "other", "y": "result",
}  # fmt: skip
ELSEWHERE = {
    "weighed_nll",
    "cross_entropy",
    "standardize_affine",
    "convolve",
    "times_transpose",
    "transpose_times",
    "slogdet",
    "solve_triangular",
}
"""Entries whose slopes have names for what is not an input: they are compared below, or by those they are like."""


def test_each_slope_of_the_table_is_compared():
    elementwise = {name for name, each in tables().items() if each.kind == "elementwise"}
    assert {name for name, entry in table().items() if isinstance(entry.get("slope"), list) and entry["slope"]} <= {
        *elementwise,
        *PROGRAMS_OF,
        *ELSEWHERE,
    }


@pytest.mark.parametrize("name", PROGRAMS_OF)
def test_a_slope_of_the_table_is_the_jacobian(name):
    result = PROGRAMS_OF[name]()
    ex = pb.explain(result, gradient=pb.ones_like(result))
    step = ex.steps[0]
    values = {f"arg{term.input}": np.asarray(term.to.data) for term in step.terms}
    compared = 0
    for term in step.terms:
        slope = term.derivation.slope
        if slope is None:
            continue
        left, _, right = slope.partition(" = ")
        above, below = left.split("/d")
        letters = [re.findall(r"\w+", each.partition("[")[2]) for each in (above, below)]
        primitive_inputs = {"project": "x weight", "affine": "x weight bias"}.get(name.split()[0])
        inputs = primitive_inputs.split() if primitive_inputs else ["a", "b"] if len(step.terms) > 1 else ["x"]
        known = {each: values.get(f"arg{place}") for place, each in enumerate(inputs)}
        y = np.asarray(result.detach())
        flat = name == "max_pool"
        for row, column in itertools.product(range(term.J.shape[0]), range(term.J.shape[1])):
            at = [np.unravel_index(row, y.shape), np.unravel_index(column, term.to.shape)]
            bound = {}
            clash = False
            for names, index in zip(letters, at, strict=True):
                for letter, place in zip(names, index[len(index) - len(names) :], strict=True):
                    clash = clash or bound.get(letter, place) != place
                    bound[letter] = int(place)
            arrays = {
                key: array.reshape(-1) if flat else array
                for key, array in {**known, "y": y}.items()
                if array is not None
            }
            if flat:
                arrays["y"], bound["i"], bound["j"] = y.reshape(-1), row, column
            found = 0 if clash else value_of(
                re.sub(r"\b([a-z]\w*)\[(\w+(?:, \w+)*)\]", r"\1[(\2,)]", right),
                n=max(each.size for each in values.values()), eps=1e-5, **arrays, **bound,
            )  # fmt: skip
            np.testing.assert_allclose(
                float(found), term.J[row, column], rtol=1e-6, atol=1e-9, err_msg=f"{slope} {bound}"
            )
            compared += 1
    assert compared


def test_slopes_with_names_of_their_own():
    scores, right = leaf(3, 4), pb.tensor([1, 0, 3])
    step = pb.explain(fn.cross_entropy(scores, right)).steps[0]
    assert step.terms[0].derivation.slope == "dy/dx[j] = softmax(x)[j] - (j == t)"
    shares = np.asarray(scores.detach().softmax(1)) - np.eye(4)[[1, 0, 3]]
    np.testing.assert_allclose(step.terms[0].J.reshape(3, 4), shares / 3, rtol=1e-6)
    x, weight = leaf(4), leaf(4, seed=2)
    step = pb.explain(fn.layer_norm(x, (4,), weight, leaf(4, seed=3)), gradient=pb.ones(4)).steps[0]
    values = np.asarray(x.detach())
    deviation = np.sqrt(values.var() + 1e-5)
    z = (values - values.mean()) / deviation
    expected = np.asarray(weight.detach())[:, None] * (np.eye(4) - 1 / 4 - np.outer(z, z) / 4) / deviation
    np.testing.assert_allclose(step.terms[0].J, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(step.terms[1].J, np.diag(z), rtol=1e-6, atol=1e-9)


def filled(step, term):
    """The equations of a term, each as the values of its sides."""
    for line in numbers(step, term):
        sides = line.split(" = ")
        if line.startswith("y") or len(sides) < 2:
            continue
        kept = [side for side in sides[1:] if not re.fullmatch(r"(?!inf|nan)[a-z]\w*(\[[\d, ]*\])?", side)]
        texts = [re.sub(r"(?<![\w.])(\d[\d.]*(?:e[+-]?\d+)?)", r"float64(\1)", side) for side in kept]
        yield line, [value_of(text, float64=np.float64) for text in texts]


def explained():
    """Explanations of all kinds of programs."""
    for name in ("seed", "mlp", "nans", "overwritten"):
        yield name, recorded(name)
    for network in (*networks.RIGHT,):
        pb.manual_seed(0)
        with pb.explain.record() as ex:
            network()
        yield network.__name__, ex
    for name, made in PROGRAMS_OF.items():
        result = made()
        yield name, pb.explain(result, gradient=pb.ones_like(result))
    yield "functions", pb.explain(
        lambda x, m: (x.sin() * x.exp() / x.sqrt() + x.tanh().sigmoid() - x.log() ** 2 + x.clamp(0.2, 0.9)).sum()
        + (m.t() @ m).trace() + m[0].cumsum(0).max() + pb.where(m > 0, m, -m).sum() + pb.cat([m, m]).norm(),
        [0.5, 0.7], [[1.0, -2.0], [3.0, 0.5]],
    )  # fmt: skip


@pytest.fixture(scope="module")
def everything():
    with contextlib.suppress(RuntimeError):
        return list(explained())


def test_numbers_that_are_put_in_give_the_numbers_of_the_step(everything):
    lines = 0
    for name, ex in everything:
        for step in ex.steps:
            for term in step.terms:
                for line, sides in filled(step, term):
                    parts = [
                        abs(float(each)) for each in re.findall(r"\d[\d.]*(?:e[+-]?\d+)?", line.partition(" = ")[2])
                    ]
                    np.testing.assert_allclose(
                        sides, sides[-1], rtol=1e-4, atol=1e-5 * max(parts, default=0), err_msg=f"{name}: {line}"
                    )
                    lines += 1
    assert lines > 300


def test_nearly_every_step_of_ordinary_programs_has_formulas(everything):
    """The share of steps for which more is said than what their kind implies, or whose kind says it all."""
    found, without = 0, {}
    for _, ex in everything:
        for call in ex.all_calls:
            for term in (term for step in call.steps for term in step.terms):
                made = term.derivation
                if made.value or made.slope or made.kind in {"linear", "jointly linear"}:
                    found += 1
                else:
                    without[made] = without.get(made, 0) + 1
    share = found / (found + sum(without.values()))
    assert share > 0.98, without


def test_derivations_as_text_and_in_the_file():
    ex = recorded("seed")
    text = ex.steps[12].derivation
    assert "dy/dx = 2*x" in text
    assert "dy/dx = 2*1 = 2" in text
    assert "v @ J = 3*2 = 6" in text
    again = from_dict(ex.to_dict())
    assert [step.derivation for step in again.steps] == [step.derivation for step in ex.steps]


def test_a_page_opens_at_a_call_and_a_backward_step():
    ex = recorded("mlp")
    page = ex.to_html(call=1, step=2)
    assert f'data-start="#mode=read&amp;call=1&amp;step={len(ex.calls[0].forward) + 2}"' in page
    assert 'data-start=""' in ex.to_html()
    with pytest.raises(ValueError, match="call=3 is out of range: there are 2 calls"):
        ex.to_html(call=3)
    with pytest.raises(ValueError, match=r"step=0 is out of range: the call has \d+ backward steps"):
        ex.to_html(step=0)


def test_a_rule_of_the_program_is_not_explained_away():
    class Twice(pb.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 3 * g

    (term,) = pb.explain(Twice.apply(X).sum()).steps[1].terms
    assert term.derivation.kind == "own"
    assert term.derivation.slope is None


def test_redacted_derivations_have_no_numbers():
    ex = pb.explain(X.sin().sum(), redact=True)
    assert [numbers(step, term) for step in ex.steps for term in step.terms] == [[], []]
