"""What operations give, line by line: `test_native.py` runs this with PULLBACK_NATIVE=0 and 1 and compares.

    python -m tests.native PART

Parts: samples, operations, expressions, writes, programs, usual, free, views.
"""

import hashlib
import re
import sys
import warnings
from contextlib import nullcontext
from functools import partial

import numpy as np

import pullback
from pullback import ops
from pullback._tape.walk import youngest_first

from ..layouts import operations
from ..layouts.arrays import LAYOUTS, laid_out
from ..samples import rows
from . import expressions, programs
from .entering import entered_by


def bits(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def graph(node):
    """The nodes behind a tensor: names, shapes, which nodes their edges lead to, what is saved, and metadata but arrays."""
    if node is None:
        return "-"
    order = youngest_first([node])
    places = {each: place for place, each in enumerate(order)}
    found = []
    for each in order:
        saved = each.saved if type(each.saved) is tuple else ()
        kept = [None if cell is None else f"{bits(cell.array)}{np.shape(cell.array)}" for cell in saved]
        edges = [None if edge is None else places[edge] for edge in each.edges]
        line = next((line for start, end, line in each.code.co_lines() if start <= each.offset < end), None)
        params = re.sub(" at 0x[0-9a-f]+", "", str(each.params))
        found.append(f"{each.title} {each.shape} {edges} {kept} {params} {line}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:12] + f" of {len(order)} {order[0].title}"


def shown(value):
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(shown, value)) + ")"
    if not pullback.is_tensor(value):
        return f"{type(value).__name__} {value}"
    array = value._array
    version = "inference" if value.is_inference() else value._version
    path = [(primitive.name, params) for primitive, params in steps(value._path)]
    return (
        f"{array.dtype} {array.shape} {array.strides} {bits(array)} v{version} view={value._is_view()} {path} "
        f"cut={value._cut and value._cut.reason} {value.output_nr} {graph(value._node)}"
    )


def steps(path):
    found = []
    while path:
        path, step = path
        found.append(step)
    return found[::-1]


def called(function, *args):
    """What a function gives, or the text of its error."""
    try:
        return function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def pieces(result):
    found = result if isinstance(result, (tuple, list)) else [result]
    return [y for y in found if pullback.is_tensor(y) and y.requires_grad]


def gradients(result, leaves):
    """What cotangents pull back to, and, for the derivatives of this, a pass that is recorded."""
    ends = pieces(result)
    if not ends or not leaves:
        return "none"
    seeds = [
        pullback.from_numpy(np.asarray(np.random.default_rng(1).standard_normal(tuple(y.shape)), y._dtype))
        for y in ends
    ]
    once = called(lambda: pullback.autograd.grad(ends, leaves, seeds, retain_graph=True, allow_unused=True))
    again = called(lambda: pullback.autograd.grad(ends, leaves, seeds, create_graph=True, allow_unused=True))
    called(lambda: pullback.autograd.backward(ends, seeds))
    left = [leaf.grad for leaf in leaves]
    twice = called(lambda: pullback.autograd.backward(ends, seeds))
    return f"{shown(once)} | {shown(again)} | {shown(left)} | {twice if isinstance(twice, str) else 'freed nothing'}"


def tracked(array):
    return pullback.from_numpy(array).requires_grad_() if array.dtype.kind in "fc" else pullback.from_numpy(array)


def modes(function, arrays):
    """A function in the usual mode and in others."""
    leaves = [tracked(array) for array in arrays]
    found = called(function, *leaves)
    yield "recorded", f"{shown(found)} || {gradients(found, [leaf for leaf in leaves if leaf.requires_grad])}"
    for name, block in (("no_grad", pullback.no_grad), ("inference", pullback.inference_mode)):
        with block():
            yield name, shown(called(function, *leaves))
    yield "untracked", shown(called(function, *map(pullback.from_numpy, arrays)))
    yield "of results", shown(called(function, *[leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]))
    yield "of what was cut off", shown(called(function, *[leaf.detach() * 1 for leaf in leaves]))


def samples():
    primitives = {name: value for name, value in ops.tables().items() if value.differentiable}
    for number, (name, makers, params) in enumerate(rows()):
        rng = np.random.default_rng(5)
        arrays = [np.asarray(make(rng)) for make in makers]
        single = [array.astype(np.float32) if array.dtype == np.float64 else array for array in arrays]
        for given in (arrays, single):

            def function(*args, name=name, params=params):
                return primitives[name](*args, **params)

            for mode, text in modes(function, given):
                yield f"{name} {number} {given[0].dtype} {mode}", text


def sized():
    for name in operations.OPERATIONS:
        for size in (12, 5000):
            arrays = operations.arguments(name, size, "square", np.float32)
            for mode, text in modes(operations.called(name), arrays):
                yield f"{name} {size} {mode}", text


def laid():
    rng = np.random.default_rng(2)
    for text in expressions.EXPRESSIONS:
        function = eval(f"lambda x, y, r, c, i: {text}", {"pullback": pullback, "F": pullback.nn.functional, "np": np})
        for dtype in (np.float32, np.float64, np.float16, np.int64, np.complex64, np.bool_):
            base = [rng.standard_normal(shape) * 2 for shape in ((4, 4), (4, 4), (4,), (4, 1))]
            for layout in LAYOUTS if dtype is np.float32 else ("C",):
                arrays = [laid_out(array.astype(dtype), layout) for array in base]
                for mode, line in modes(function, [*arrays, np.array([0, 3, 1, 2])]):
                    yield f"{text} {np.dtype(dtype)} {layout} {mode}", line


def written():
    for text in expressions.PROGRAMS:
        scope = {"pullback": pullback, "np": np}
        scope["x"] = pullback.tensor(np.arange(1.0, 13.0).reshape(3, 4), requires_grad=True)
        scope["u"] = pullback.tensor(np.arange(1.0, 13.0).reshape(3, 4))
        outcome = called(exec, compile(text, "<program>", "exec"), scope)
        kept = [f"{name}: {shown(value)}" for name, value in scope.items() if pullback.is_tensor(value)]
        yield text.replace("\n", "; "), f"{outcome} {'; '.join(kept)} {shown(scope['x'].grad)}"


def run():
    for seed in range(300):
        yield f"program {seed}", programs.outcome(seed, shown, called)


USUAL = """
x * y; x + 2.0; x.sin(); u > v; x.sum(); x.sum(1); x.mean(0, keepdim=True); x @ y; x @ y[0]; y[0].dot(y[1]); y[0, :2].dot(y[1, :2]); F.linear(x, y, y[0]); F.cross_entropy(x, places)
x[0]; x[-1]; x[0] * y[1]; x[2, 1]; x[:, 1:]; x[None]; x[[0, 2]]; x[places]; x[u > 0]; x[:, places]; x.gather(1, square); x.take(places); x.index_select(0, places)
[row for row in x]; x.unbind(1); x.split(2); x.chunk(2); pullback.cat([x, y]); pullback.stack([x, y], 1); x.T; x.t(); x.transpose(0, 1); x.reshape(9); x.view(9, 1); x.unsqueeze(0)
u[0] = 1.0; u[0] = v[1]; u[places] = v; u[places] = 2.0; u[u > 1] = 0.0; u[:, places] = v; u += v; u *= 2.0; h = x * 1.0; h[0] = y[0]; h += x; h[0] = -h[1]; h[places] = y; h[u > 0] = 0.0; h[:, places] = y; seen[0] = y[0]; seen[places] = y; seen[u > 0] = 0.0
"""
FREE = "seen[0] = 1.0; seen[:] = v; seen[places] = v; seen[u > 1] = 0.0; seen[:, places] = v; seen += v; seen *= 2.0; row[1] = 2.0; leaf[0] = 1.0; leaf -= v"
VIEWS = "x.expand(2, 3, 3); x.permute(1, 0); x.flatten(); x.diagonal(); w.squeeze()"


def handed_over(texts, block=nullcontext):
    """The Python functions that each statement enters in a block, the second time: what is made once is made at the first."""
    numbers = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)
    for text in (text.strip() for line in texts.strip().splitlines() for text in line.split("; ")):
        scope = {"pullback": pullback, "F": pullback.nn.functional, "places": pullback.tensor([0, 2, 1])}
        scope |= {
            name: pullback.tensor(numbers * k + 0.1, requires_grad=name in "xy") for k, name in enumerate("xyuv", 1)
        }
        scope |= {"square": pullback.tensor([[0, 1, 2]] * 3), "h": scope["x"] * 1.0, "w": pullback.ones(1, 3)}
        scope |= {"seen": scope["x"] * 1.0, "leaf": pullback.ones(3, 3, requires_grad=True)}
        scope |= {"row": scope["seen"][2], "first": scope["leaf"][0]}
        with block():
            entered = entered_by(text, scope)
        yield text, entered


PARTS = {
    "samples": samples,
    "operations": sized,
    "expressions": laid,
    "writes": written,
    "programs": run,
    "usual": partial(handed_over, USUAL),
    "free": partial(handed_over, FREE, pullback.no_grad),
    "views": partial(handed_over, VIEWS),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from pullback._tape import native

    print(f"native core: {native.core is not None}")
    for name, text in PARTS[sys.argv[1]]():
        print(f"{name}\t{text}".replace("\n", "\\n"))
