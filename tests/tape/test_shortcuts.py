"""The short way and the general way of an operation: the same values to the bit, nodes, saved values and gradients."""

import ast
import contextlib
import functools
import inspect
import operator
import warnings

import numpy as np
import pytest
from tests.covering import pairwise

import pullback
from pullback import ops
from pullback._tape import generating, node as nodes
from pullback._tape.generating import LOCALS, SCOPE, Metadata, Operands
from pullback._tape.shortcuts import PRIMITIVES, short
from pullback._tensor.tensor import HOT, IN_PLACE, SHORT_WAYS, past_bind
from pullback.autograd import grad
from pullback.vocabulary import activations, arithmetic, functions, products, reductions, special

UNARY = [name for name, primitive in HOT.items() if len(primitive.inputs) == 1]
BINARY = [*(name for name, primitive in HOT.items() if len(primitive.inputs) == 2), "__rsub__"]
POWERS, REDUCTIONS, PRODUCTS = ["__pow__", "pow"], ["sum", "mean", "max", "min"], ["__matmul__", "matmul", "mm"]
GENERAL = {
    "__add__": arithmetic.add, "__radd__": arithmetic.add, "__sub__": arithmetic.sub, "__mul__": arithmetic.mul,
    "__rmul__": arithmetic.mul, "__rsub__": arithmetic.rsub, "__truediv__": arithmetic.div, "__neg__": arithmetic.neg, "__abs__": arithmetic.abs, "__pow__": arithmetic.pow,
    "__eq__": arithmetic.eq, "__ne__": arithmetic.ne, "__lt__": arithmetic.lt, "__le__": arithmetic.le,
    "__gt__": arithmetic.gt, "__ge__": arithmetic.ge,
    "sum": reductions.sum, "mean": reductions.mean, "max": reductions.max, "min": reductions.min,
    "__matmul__": products.matmul, "matmul": products.matmul, "mm": products.mm,
}  # fmt: skip


def general_way(name):
    return GENERAL[name] if name in GENERAL else getattr(arithmetic, name)


BY_BIND = {primitive: inspect.unwrap(past_bind(primitive)) for primitive in ops.tables().values()}


@contextlib.contextmanager
def through_bind():
    """Every primitive goes through `bind` and the tape."""
    ways = {primitive: primitive._way for primitive in BY_BIND}
    for primitive, way in BY_BIND.items():
        primitive._way = way
    try:
        yield
    finally:
        for primitive, way in ways.items():
            primitive._way = way


VALUES = np.array([[0.5, -1.5, 2.0], [0.0, 1.0, -0.25]])
REAL = {"double": np.float64, "single": np.float32}


def made(values, dtype, *, tracked=True):
    return pullback.tensor(np.asarray(values, dtype)).requires_grad_(tracked)


def inside_inference():
    with pullback.inference_mode():
        return made(VALUES, np.float64, tracked=False) * 1


def cut_by_no_grad():
    with pullback.no_grad():
        return made(VALUES, np.float64).exp()


def saved_result():
    x = made(VALUES, np.float64) * 2
    (x * x).sum().backward(retain_graph=True)
    return x


TENSORS = {
    **{f"{name} leaf": lambda dtype=dtype: made(VALUES, dtype) for name, dtype in REAL.items()},
    **{f"{name} constant": lambda dtype=dtype: made(VALUES, dtype, tracked=False) for name, dtype in REAL.items()},
    **{f"{name} result": lambda dtype=dtype: made(VALUES, dtype) * 1.5 for name, dtype in REAL.items()},
    **{f"{name} 0-d leaf": lambda dtype=dtype: made(0.75, dtype) for name, dtype in REAL.items()},
    **{f"{name} 0-d constant": lambda dtype=dtype: made(0.75, dtype, tracked=False) for name, dtype in REAL.items()},
    "result that was saved": saved_result,
    "row": lambda: made(VALUES, np.float64)[1],
    "column": lambda: made(VALUES, np.float64)[:, :1],
    "transposed": lambda: made(VALUES.T, np.float64).T,
    "empty": lambda: made(np.zeros((0, 3)), np.float64),
    "another shape": lambda: made(np.ones(4), np.float64),
    "not finite": lambda: made([np.nan, np.inf, -np.inf], np.float64),
    "detached": lambda: made(VALUES, np.float64).detach(),
    "cut by no_grad": cut_by_no_grad,
    "made under inference": inside_inference,
    "integers": lambda: pullback.tensor([[1, 0, -2]]),
    "bools": lambda: pullback.tensor([[True, False, True]]),
    "half": lambda: made(VALUES, np.float16),
    "complex": lambda: made(VALUES + 1j, np.complex128),
}
OTHERS = {
    "int": lambda: 3,
    "float": lambda: -0.1,
    "bool": lambda: True,
    "complex number": lambda: 1 + 2j,
    "large int": lambda: 2**40 + 1,
    "float beyond single": lambda: 1e300,
    "nan": lambda: float("nan"),
    "NumPy float": lambda: np.float64(0.1),
    "NumPy single": lambda: np.float32(0.1),
    "NumPy int": lambda: np.int32(3),
    "0-d array": lambda: np.array(0.1),
    "array": lambda: np.array([0.1, 0.2, 0.3]),
    "int array": lambda: np.array([1, 2, 3]),
}


@contextlib.contextmanager
def enabled_again():
    with pullback.no_grad(), pullback.enable_grad():
        yield


BLOCKS = {
    "recording": pullback.enable_grad,
    "no_grad": pullback.no_grad,
    "inference": pullback.inference_mode,
    "no_grad, enabled again": enabled_again,
    "packing": lambda: pullback.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t),
}


def test_no_input_is_called_like_a_name_of_the_functions_that_are_written():
    words = {
        *SCOPE,
        *LOCALS,
        "primitive",
        "title",
        "forward",
        "general",
        "finish",
        "kind",
        "write",
        "function",
        "Tensor",
    }
    assert not [primitive for primitive in BY_BIND if words & {*primitive.inputs}]


def is_general(function):
    function = getattr(function, "func", function)
    return function.__module__.startswith("pullback.vocabulary") and not hasattr(function, "__wrapped__")


def outcome(function, *operands):
    """What a call gives: its result, or the error; both ways are called from this line."""
    try:
        with through_bind() if is_general(function) else contextlib.nullcontext():
            return function(*operands)
    except Exception as error:  # noqa: BLE001  # any: the two must agree
        return type(error), str(error)


def edge(node, operands):
    """An operand's own node by its place; another, a cast, by its name and what it leads to."""
    for place, operand in enumerate(operands):
        if node is not None and pullback.is_tensor(operand) and operand._node is node:
            return place
    return node and (node.name(), [edge(before, operands) for before, _ in node.next_functions])


def described(result, operands):
    """All that can be seen of a result, with operands in the place of the nodes and arrays that are theirs."""
    if not pullback.is_tensor(result):
        return result
    node = result.grad_fn
    arrays = {id(operand._array): place for place, operand in enumerate(operands) if pullback.is_tensor(operand)}
    arrays[id(result._array)] = "result"
    seen = {
        "type": type(result),
        "dtype": result.dtype,
        "shape": result.shape,
        "strides": result.stride(),
        "bits": result.detach().numpy().tobytes(),
        "requires_grad": result.requires_grad,
        "version": None if result.is_inference() else result._version,
        "view": result._is_view(),
        "cut": result._cut,
        "node": type(node),
    }
    if node is not None:
        cells = [None if cell is None else cell.array for cell in node.saved]
        seen |= {
            "edges": [edge(node, operands) for node, _ in node.next_functions],
            "node shape": node.shape,
            "site": node.site,
            "saved": [None if array is None else arrays.get(id(array), array.tobytes()) for array in cells],
            "primitive": node.primitive,
            "params": node.params or {},
        }
    return seen


def gradients(result, operands):
    """What a cotangent pulls back to, and, recorded, what the sum of that pulls back to."""
    leaves = [operand for operand in operands if pullback.is_tensor(operand) and operand.requires_grad]
    if not pullback.is_tensor(result) or not result.requires_grad:
        return None
    v = pullback.from_numpy(np.linspace(0.5, 1.5, result.numel()).reshape(result.shape).astype(result.dtype.numpy))
    first = grad(result, leaves, v, create_graph=True, materialize_grads=True)
    raw = grad(result, leaves, v, retain_graph=True, materialize_grads=True)
    total = sum(g.sum() for g in first)
    second = grad(total, leaves, materialize_grads=True) if total.requires_grad and not total.is_complex() else ()
    return [g.detach().numpy().tobytes() for g in (*first, *raw, *second)]


def parts(result):
    """Values and indices, where there are both."""
    return (
        [*result]
        if hasattr(result, "indices") and hasattr(result, "values") and isinstance(result, tuple)
        else [result]
    )


def same(name, short, operands):
    """Both ways on the same operands agree in everything."""
    if outcome(short, *operands) is NotImplemented:
        pytest.fail(f"{name} left {operands} to the other operand")
    return both(short, general_way(name), operands)


def both(short, general, operands):
    ours, theirs = (outcome(way, *operands) for way in (short, general))
    assert described(ours, operands) == described(theirs, operands)
    assert outcome(gradients, ours, operands) == outcome(gradients, theirs, operands)
    return ours


def test_every_short_way_is_tested():
    assert {name for methods in SHORT_WAYS.values() for name in methods} == {
        *UNARY, *BINARY, *IN_PLACE, *POWERS, *PRODUCTS, *REDUCTIONS
    }  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name, block):
    for make in TENSORS.values():
        x = make()
        with BLOCKS[block]():
            same(name, getattr(pullback.Tensor, name), [x])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, kind, block):
    x = TENSORS[kind]()
    method = getattr(pullback.Tensor, name)
    with BLOCKS[block]():
        same(name, method, [x])
        for options in ({"dim": 0}, {"keepdim": True}, {"dim": (), "keepdim": True}, {"dtype": pullback.float64}):
            ours, theirs = (outcome(functools.partial(way, **options), x) for way in (method, general_way(name)))
            for mine, other in zip(parts(ours), parts(theirs), strict=True):
                assert described(mine, [x]) == described(other, [x])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", POWERS)
def test_powers(name, kind, block):
    for exponent in (0, 1, 2, -1, 0.5, -2.5, 2.0, 10**400, *(make() for make in OTHERS.values())):
        x = TENSORS[kind]()
        with BLOCKS[block]():
            same(name, getattr(pullback.Tensor, name), [x, exponent])


@pytest.mark.parametrize("name", sorted({"pow", *REDUCTIONS, "mm", "matmul", *HOT} & {*dir(pullback)} - {"__eq__"}))
def test_functions_of_the_package_are_the_methods(name):
    """With arguments by name, with too many, with `out`, and with none."""
    function, method = getattr(pullback, name), getattr(pullback.Tensor, name)
    x, rest = matrix(3, 3) + 2, [2.0] if name in POWERS else [matrix(3, 3)] * (name in BINARY or name in PRODUCTS)
    x, rest = x.detach().requires_grad_(), [r if type(r) is float else r.detach() for r in rest]
    expected = both(function, method, [x, *rest])
    out = pullback.zeros_like(expected.detach())
    if name != "relu":  # which takes none, as in torch
        assert function(x.detach(), *rest, out=out) is out
        assert out.tolist() == expected.tolist()
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(x, *rest, nonsense=1)
    with pytest.raises(TypeError):
        function([1.0], *rest)


def matrix(*shape, **options):
    return pullback.linspace(-1, 1, int(np.prod(shape)), **options).reshape(*shape).detach().requires_grad_()


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, block):
    short = getattr(pullback.Tensor, name)
    rights = [
        matrix(3, 2),
        matrix(3, 2).detach(),
        matrix(3, 2, dtype=pullback.float64),
        matrix(2, 2),
        matrix(3),
        matrix(2, 3, 2),
    ]
    for left in (matrix(2, 3), matrix(2, 3).detach(), pullback.ones(2, 3), matrix(3), pullback.ones(2, 3).long()):
        for right in [*rights, rights[0] * 1, np.ones((3, 2), np.float32)]:
            with BLOCKS[block]():
                same(name, short, [left, right])


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", POWERS)
def test_powers_of_tensors(name, kind):
    for other in TENSORS.values():
        same(name, getattr(pullback.Tensor, name), [TENSORS[kind](), other()])


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name, kind):
    short = getattr(pullback.Tensor, name)
    for other in TENSORS.values():
        same(name, short, [TENSORS[kind](), other()])
    x = TENSORS[kind]()
    same(name, short, [x, x])


DEFINED = {
    f"{module.__name__.rpartition('.')[2]}.{name}": inspect.unwrap(function)
    for module in (activations, arithmetic, functions, products, special, pullback.special)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and inspect.unwrap(function) in PRIMITIVES
}


@functools.cache
def shortened(name):
    return short(pullback.Tensor, DEFINED[name])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    "name", [name for name, each in DEFINED.items() if len(PRIMITIVES[each].primitive.inputs) == 1]
)
def test_functions_that_are_a_primitive_of_one_tensor(name, block):
    for make in TENSORS.values():
        x = make()
        with BLOCKS[block]():
            both(shortened(name), DEFINED[name], [x])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    "name", [name for name, each in DEFINED.items() if len(PRIMITIVES[each].primitive.inputs) == 2]
)
def test_functions_that_are_a_primitive_of_two_tensors(name, block):
    several = ["double leaf", "single result", "single 0-d constant", "another shape", "half", "complex", "integers"]
    for kind in several:
        for other in [*several, "cut by no_grad", "made under inference", "float"]:
            operands = [TENSORS[kind](), (TENSORS | OTHERS)[other]()]
            with BLOCKS[block]():
                both(shortened(name), DEFINED[name], operands)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_choice_between_two_tensors(block):
    several = ["double leaf", "single result", "single constant", "double 0-d leaf", "another shape", "half", "complex"]
    for mask in (made(VALUES, np.float64) > 0, pullback.tensor(True), pullback.tensor([[1, 0, 1]]), VALUES > 0):
        for kind in several:
            for other in (*several, "cut by no_grad", "int"):
                operands = [mask, TENSORS[kind](), (TENSORS | OTHERS)[other]()]
                with BLOCKS[block]():
                    both(pullback.where, arithmetic.where, operands)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["concat", "stack"])
def test_joins(name, block):
    kinds = ["double leaf", "double result", "double constant", "transposed", "cut by no_grad", "made under inference"]
    for first in kinds:
        for second in (*kinds, "single leaf", "another shape"):
            operands = [TENSORS[first](), TENSORS[second]()]
            params = {"axis": 0} | ({"sizes": tuple(len(each) for each in operands)} if name == "concat" else {})
            short = functools.partial(getattr(ops, name), **params)
            with BLOCKS[block]():
                both(short, functools.partial(BY_BIND[getattr(ops, name)], **params), operands)


def test_operands_by_other_names_and_what_is_left_out():
    x, y = made(VALUES, np.float64), made(VALUES, np.float64)
    assert pullback.equal(pullback.hypot(other=y, input=x), x.hypot(y))
    assert pullback.equal(pullback.add(x, other=y, alpha=2), x + 2 * y)
    assert pullback.equal(x.add(y, alpha=2), x + 2 * y)
    assert pullback.equal(pullback.nn.functional.elu(x, 2.0), pullback.nn.functional.elu(input=x, alpha=2.0))
    for call, missing in ((pullback.hypot, "input"), (x.sub, "other"), (pullback.nn.functional.silu, "input")):
        with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{missing}'"):
            call()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'input'"):
        pullback.hypot(other=y)


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("name", BINARY)
def test_a_tensor_and_a_number_or_an_array(name, kind):
    for make in OTHERS.values():
        same(name, getattr(pullback.Tensor, name), [TENSORS[kind](), make()])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_in_every_mode(name, block):
    short = getattr(pullback.Tensor, name)
    several = ["double leaf", "single result", "single constant", "detached", "cut by no_grad", "made under inference"]
    for kind in several:
        for other in [*several, "int", "float"]:
            operands = [TENSORS[kind](), (TENSORS | OTHERS)[other]()]
            with BLOCKS[block]():
                same(name, short, operands)


@pytest.mark.parametrize("name", ["__add__", "__sub__", "__mul__", "__truediv__"])
def test_operators_with_the_tensor_on_the_right(name):
    symbol = getattr(operator, name)
    for kind, make in TENSORS.items():
        for number in (3, -0.1):
            x = make()
            ours = outcome(symbol, number, x)
            theirs = outcome(arithmetic.rsub, x, number) if name == "__sub__" else outcome(general_way(name), number, x)
            seen = [described(result, [x]) for result in (ours, theirs)]
            if isinstance(theirs, tuple):
                assert seen[0] == seen[1], kind
                continue
            for key in ("dtype", "shape", "bits", "requires_grad"):
                assert seen[0][key] == seen[1][key], (kind, key)
            mine, other = (outcome(gradients, result, [x]) for result in (ours, theirs))
            assert mine == other


@pytest.mark.parametrize("name", BINARY)
def test_operands_of_unknown_types_are_left_to_the_other_side(name):
    x = made(VALUES, np.float64)
    for other in ([1.0, 2.0, 3.0], None, "x", object()):
        if name.startswith("__"):
            assert getattr(x, name)(other) is NotImplemented
        else:
            with pytest.raises(TypeError, match="operand"):
                getattr(x, name)(other)


def written(way, name, target, other, block):
    """What an in-place operation leaves: the target, what a graph had saved of it, and the operand."""
    x = target()
    second = other()
    operands = [x, second]
    saved = outcome(arithmetic.mul, x, x) if x.requires_grad and not x.is_inference() else None
    with BLOCKS[block]():
        result = outcome(way, x, second)
    seen = described(result, operands)
    if isinstance(seen, dict):
        for key in ("edges", "cut", "site", "saved"):  # of operands made anew for each way
            seen.pop(key, None)
        seen["same object"] = result is x
    if isinstance(result, tuple):
        seen = result[0]
    pulled = None
    if saved is not None and pullback.is_tensor(saved) and saved.requires_grad:
        pulled = [node for node, _ in saved.grad_fn.next_functions]
        kept = [cell.array.tobytes() for cell in saved.grad_fn.saved]
        pulled = (len(pulled), kept)
    second_bits = second.detach().numpy().tobytes() if pullback.is_tensor(second) else second
    return seen, x.detach().numpy().tobytes(), None if x.is_inference() else x._version, pulled, second_bits


@pytest.mark.parametrize("block", ["recording", "no_grad", "inference"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms(name, block):
    """Against the general operation followed by a write, which is what the general way of the in-place form is."""
    from pullback._tape.views import write

    symbol = name.strip("_").removeprefix("i")
    plain = getattr(arithmetic, {"truediv": "div"}.get(symbol, symbol))

    def general(x, other):
        return write(x, plain(x, other), f"{plain.__name__}_")

    numbers = [OTHERS[kind] for kind in ("int", "float", "NumPy float", "complex number")]
    for kind, target in TENSORS.items():
        for other in [*TENSORS.values(), *numbers]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours, theirs = (
                    written(way, name, target, other, block) for way in (getattr(pullback.Tensor, name), general)
                )
            assert ours[1:] == theirs[1:], kind
            assert ours[0] == theirs[0], kind


FACTORS = [-0.1, 3, 1e300, float("nan"), np.float32(0.1), 1j, True]


@pytest.mark.parametrize(
    ("name", "alpha", "block"), pairwise(["add", "sub"], FACTORS, ["recording", "no_grad", "inference"]), ids=str
)
def test_in_place_forms_with_a_factor(name, alpha, block):
    from pullback._tape.views import write

    def ours(x, other):
        return getattr(x, f"{name}_")(other, alpha=alpha)

    def general(x, other):
        return write(x, getattr(arithmetic, name)(x, other, alpha=alpha), f"{name}_")

    others = [other for kind, other in TENSORS.items() if "leaf" not in kind and "bfloat16" not in kind]
    for target in TENSORS.values():
        for other in [*others, OTHERS["float"]]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mine, theirs = (written(way, f"{name}_", target, other, block) for way in (ours, general))
            assert mine == theirs


@pytest.mark.parametrize("block", ["recording", "no_grad", "inference"])
@pytest.mark.parametrize("name", ["copy_", "zero_"])
def test_copies_and_zeros_in_place(name, block):
    short = getattr(pullback.Tensor, name)
    others = TENSORS if name == "copy_" else {"nothing": lambda: None}
    for target in TENSORS.values():
        for other in others.values():
            mine, theirs = (
                written(lambda x, y, way=way: way(x) if y is None else way(x, y), name, target, other, block)
                for way in (short, inspect.unwrap(short))
            )
            assert mine == theirs


@pytest.mark.parametrize("block", ["recording", "no_grad", "inference"])
@pytest.mark.parametrize("name", ["stack", "concat"])
def test_joins_in_every_mode(name, block):
    """Of plain tensors, of those that lost their history, and of some that are recorded."""
    params = {"axis": 0} if name == "stack" else {"axis": 0, "sizes": (2, 2)}
    for first in TENSORS.values():
        for second in (first, TENSORS["double constant"], TENSORS["cut by no_grad"], TENSORS["double leaf"]):
            seen = []
            for way in (contextlib.nullcontext, through_bind):
                operands = [first(), second()]
                with way(), BLOCKS[block]():
                    seen.append(
                        described(outcome(functools.partial(getattr(ops, name), **params), *operands), operands)
                    )
            if isinstance(seen[0], dict):
                for each in seen:
                    each.pop("site", None)
            assert seen[0] == seen[1]


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_update_of_overlapping_memory(name):
    """The target's own elements in another order, read before they are written."""
    values = np.array([1.0, 2.0, 4.0])
    t = pullback.from_numpy(values)
    plain = getattr(np, {"__iadd__": "add", "__isub__": "subtract", "__imul__": "multiply", "__itruediv__": "divide",
                         "add_": "add", "sub_": "subtract", "mul_": "multiply", "div_": "divide"}[name])  # fmt: skip
    expected = plain(values, values[::-1].copy())
    with pullback.no_grad():
        getattr(t, name)(t[::-1])
    np.testing.assert_array_equal(values, expected)


def test_a_node_is_made_in_one_way():
    """What `node.make` says, and what the text of a recorded operation says of its node."""
    made = ast.parse(inspect.getsource(nodes.make)).body[0].body[1:-1]
    written = generating._noded(generating.Text(Operands(ops.sin, ["x"]), (), (), Metadata()), "params", depth=2)
    given = {
        "kind if is_real else turned": "cls",
        "frame_at": "_getframe",
        "result.shape": "shape",
        "(x_edge,)": "edges",
    }
    lines = [ast.unparse(each).replace("node: Any", "node") for each in made]
    text = ast.unparse(ast.parse("\n".join(written)))
    for name, parameter in given.items():
        text = text.replace(name, parameter)
    saved = next(line for line in text.splitlines() if line.startswith("node.saved = "))
    text = text.replace(saved, "node.saved = saved")
    assert sorted("\n".join(lines).splitlines()) == sorted(text.splitlines())


WRITES = [
    ("zero_", (0,), {}), ("zero_", (), {"x": 1}), ("copy_", (), {}), ("copy_", ("y", 0), {}), ("copy_", ("y",), {"non_blocking": True}),
    ("copy_", (), {"other": "y"}), ("copy_", ("row",), {}), ("copy_", ("y", 0, 0), {}), ("add_", (), {"other": "y"}), ("add_", ("row",), {}),
    ("add_", ("long",), {}), ("add_", (), {"alpha": 2.0}), ("add_", ("y",), {"alpha": 0.5}), ("add_", ("y", 2.0), {}), ("mul_", ("y",), {"alpha": 2.0}),
    ("mul_", (2.0,), {"alpha": 2.0}), ("add_", ("tracked",), {}), ("addcmul_", ("y", "y"), {"value": 0.5}),
    ("addcmul_", ("y",), {}), ("addcmul_", (), {"tensor1": "y", "tensor2": "y"}), ("addcmul_", ("y", "row"), {"value": None}),
    ("addcdiv_", ("y", "y"), {"value": 2}), ("lerp_", ("y", 0.25), {}), ("lerp_", ("y",), {"weight": 0.25}), ("lerp_", ("y", "y"), {}),
    ("lerp_", ("y",), {}), ("clamp_", (0.1,), {"max": 0.5}), ("clamp_", (0.1, 0.5, 1), {}), ("clamp_", (), {"min": None}), ("clamp_", (), {"low": 0.1}),
    ("clamp_", (0.1,), {"min": 0.2}), ("lerp_", ("y", 0.25), {"weight": 0.5}), ("fill_", (1.0,), {"value": 3}),
    ("fill_", (), {"value": 3}), ("fill_", (2.5,), {}), ("fill_", (), {}), ("fill_", ("y",), {}),
]  # fmt: skip


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize(("name", "args", "options"), WRITES)
def test_writes_are_those_of_the_general_way(name, args, options, tracked):
    """The values, the count of writes and the history; or the same error, with nothing written."""

    def call(general):
        given = {
            "y": pullback.tensor([[0.5, 2.0], [-1.0, 0.25]]), "row": pullback.tensor([1.0, -1.0]), "long": pullback.ones(3, 5),
            "tracked": pullback.ones(2, 2, requires_grad=True),
        }  # fmt: skip
        x = pullback.tensor([[0.1, 0.2], [0.3, 0.4]]).requires_grad_(tracked)
        x = x * 1.5 if tracked else x
        method = inspect.unwrap(getattr(pullback.Tensor, name)) if general else getattr(pullback.Tensor, name)
        values = [given[arg] if isinstance(arg, str) else arg for arg in args]
        try:
            method(
                x,
                *values,
                **{key: given.get(arg, arg) if isinstance(arg, str) else arg for key, arg in options.items()},
            )
        except (TypeError, RuntimeError, ValueError) as error:
            return type(error), str(error), x.tolist()
        return x.tolist(), x._version, x.requires_grad, type(x.grad_fn).__name__

    assert call(general=False) == call(general=True)
