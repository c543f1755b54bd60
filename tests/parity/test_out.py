"""`out=`: which functions take it, what they write there, and what they refuse, as torch has it."""

import functools
import inspect
import re
import types
import warnings

import numpy as np
import pytest

import pullback
from pullback._tensor import surface

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")
pytest.importorskip("expecttest", reason="torch's database of operators needs the package expecttest")

from . import operators  # noqa: E402
from .compare import parity, raises, warns  # noqa: E402

PREFIXES = {"": "", "linalg": "linalg_", "fft": "fft_", "special": "special_", "nn.functional": ""}

# What takes it here alone: being the same function as another that does, or one that makes tensors like another.
OURS = {
    "conj", "nuclear_norm", "special.log_softmax", "special.softmax",
    "empty_like", "full_like", "ones_like", "zeros_like",
}  # fmt: skip
# Names whose result is drawn at random, is not set at all, or has a sign or phase that nothing fixes.
UNFIXED = {
    "bernoulli", "empty", "multinomial", "normal", "rand", "randint", "randn", "randperm",
    "geqrf", "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd", "qr", "svd",
    "fft.ihfftn",  # torch leaves its out unset
    "special.bessel_j0", "special.bessel_y1",  # torch is less exact: see operators.REASONS
}  # fmt: skip


@functools.cache
def written_overloads():
    """The names of torch's own operators with an `out` that its Python functions pass on."""
    found = set()
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::") and any(argument.is_out for argument in schema.arguments):
            name = schema.name.removeprefix("aten::")
            overload = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
            if torch.Tag.generated not in overload.tags:
                found.add(name)
    return found


def torch_takes_out(path, name, function):
    if function is torch.lu:
        return True  # its signature does not say
    if isinstance(function, types.FunctionType):
        return "out" in inspect.signature(function).parameters
    if path == "nn.functional" and not hasattr(torch._C._nn, name):
        return False
    return f"{PREFIXES[path]}{name}" in written_overloads()


def functions():
    """The functions that both libraries have, under their names."""
    for path in PREFIXES:
        mine, its = (operators.dotted(library, path) if path else library for library in (pullback, torch))
        for name in sorted(dir(mine)):
            function = getattr(mine, name)
            plain = callable(function) and not isinstance(function, (type, pullback.dtype, types.ModuleType))
            if plain and hasattr(its, name) and not name.startswith("_") and not name.endswith("_"):
                yield path, name, function, getattr(its, name)


def takes_out(function):
    """Whether a function refuses the tensors, not the word: one that takes `out` looks at it first of all."""
    try:
        function(pullback.zeros(2), pullback.zeros(2), out=3)
    except TypeError as error:
        return "argument 'out' must be Tensor" in str(error)
    except Exception:  # noqa: BLE001  # whatever it did, it did not look at `out` first
        return False
    return False


def test_the_functions_that_take_out_are_those_of_torch():
    different = {
        f"{path}.{name}".lstrip(".")
        for path, name, mine, its in functions()
        if takes_out(mine) != torch_takes_out(path, name, its)
    }
    assert different == OURS


def test_the_index_names_functions_only():
    for path, places in surface.NAMESPACES.items():
        namespace = operators.dotted(pullback, path) if path != "pullback" else pullback
        assert all(callable(getattr(namespace, name)) for name, place in places.items() if place.takes_out)


def entries():
    """torch's entries about a function of the package that takes `out`."""
    for name, op in operators.database().items():
        path, _, last = op.name.rpartition(".")
        if path in PREFIXES and not operators.is_wrapper(op.op):
            theirs = operators.dotted(torch, op.name)
            mine = operators.dotted(pullback, op.name)
            if theirs is not None and mine is not None and torch_takes_out(path, last, theirs):
                yield name


def outs_like(result, kind):
    """Unset tensors for a result, in its own form."""
    made = [each.new_empty(tuple(each.shape)) for each in operators.tensors(result, kind)]
    return made[0] if isinstance(result, kind) else tuple(made)


@pytest.mark.parametrize("name", [*entries()])
def test_what_is_written_is_what_torch_writes(name):
    op = operators.database()[name]
    kind = operators.dtype_for(op, None)
    mine, its = (operators.dotted(library, op.name) for library in (pullback, torch))
    for sample in operators.drawn(op, kind, tracked=False, count=4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that go
            expected, _ = operators.calls(its, sample, to_pullback=False)
            plain, _ = operators.calls(mine, sample, to_pullback=True)
            theirs = outs_like(expected, torch.Tensor)
            try:
                with_out = functools.partial(its, out=theirs)
                expected, _ = operators.calls(with_out, sample, to_pullback=False)
            except (TypeError, RuntimeError):
                pass  # torch's samples of overloads that take none: ours write what torch returns
            outs = outs_like(plain, pullback.Tensor)
            versions = [out._version for out in operators.tensors(outs, pullback.Tensor)]
            result, _ = operators.calls(functools.partial(mine, out=outs), sample, to_pullback=True)
        if isinstance(outs, tuple):
            assert all(one is other for one, other in zip(result, outs, strict=True))
            assert getattr(result, "_fields", None) == getattr(plain, "_fields", None)
        else:
            assert result is outs
        written = list(operators.tensors(outs, pullback.Tensor))
        assert [out._version for out in written] == [version + 1 for version in versions]
        for out, other in zip(written, operators.tensors(expected, torch.Tensor), strict=True):
            operators.compare(out, other, name, values=op.name not in UNFIXED)


# What happens to `out`

A = np.array([[0.5, -1.5, 2.0], [0.25, 1.0, -0.25]])


def operands(t):
    return t.from_numpy(A.copy()), t.from_numpy(A[::-1].copy())


@parity
def test_of_another_shape_it_is_resized(t):
    x, y = operands(t)
    out = t.empty(0, dtype=t.float64)
    assert t.add(x, y, out=out) is out
    large = t.zeros(3, 4, dtype=t.float64)
    wording = "An output with one or more elements was resized since it had shape [3, 4], which does not match"
    warns(UserWarning, wording, lambda: t.mul(x, y, out=large))
    return out, out._version, large, large._version


@parity
def test_it_keeps_its_memory_where_that_is_large_enough(t):
    x, y = operands(t)
    memory = np.zeros((4, 4))
    out = t.from_numpy(memory)
    row = out[1, :3]
    t.sum(x, 0, out=row)
    warns(UserWarning, "An output with one or more elements was resized", lambda: t.sub(x, y, out=out))
    return memory, out, row


@parity
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "complex64"])
@pytest.mark.parametrize("given", ["int64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
def test_totals_are_taken_in_the_dtype_of_out(t, name, given, dtype):
    """Of a lower kind, too: fractions and imaginary parts are cut off term by term."""
    if dtype == "bool" and name.startswith("cum"):
        x, out = t.ones(2, dtype=getattr(t, given)), t.zeros(2, dtype=t.bool)
        wording = f"\"{name}_out_cpu\" not implemented for 'Bool'"
        raises(NotImplementedError, wording, lambda: getattr(t, name)(x, 0, out=out))
        return raises(NotImplementedError, wording, lambda: getattr(t, name)(x, 0, dtype=t.bool))
    x = t.tensor([0.75, 0.75, 3.25, 2.0]).to(getattr(t, given))
    out = t.zeros(4 if name.startswith("cum") else (), dtype=getattr(t, dtype))
    return getattr(t, name)(x, 0, out=out)


@parity
@pytest.mark.parametrize("given", ["bool", "uint8", "float32"])
@pytest.mark.parametrize("name", ["any", "all"])
def test_answers_are_bools_or_bytes(t, name, given):
    x = t.tensor([[0, 2], [1, 1]]).to(getattr(t, given))
    truth = getattr(t, name)
    for dtype, title in ((t.int64, "Long"), (t.float32, "Float")):
        wording = f"{name} only supports bool tensor for result, got: {title}"
        raises(RuntimeError, wording, lambda dtype=dtype: truth(x, 0, out=t.zeros(2, dtype=dtype)))
    whole = [truth(x, out=t.zeros((), dtype=dtype)) for dtype in (t.bool, t.uint8)]
    return truth(x), truth(x, 0), whole, [truth(x, 0, out=t.zeros(2, dtype=dtype)) for dtype in (t.bool, t.uint8)]


@parity
@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64", "complex64", "complex128"])
def test_float_power_demands_the_dtype_of_its_result(t, dtype):
    found = []
    for exponent in (2, 2.5, 2j, t.tensor([1, 2]), t.tensor([1j, 2])):
        for write in (lambda x, p: x.float_power_(p), lambda x, p: t.float_power(t.ones(2), p, out=x)):
            try:
                found.append(write(t.ones(2, dtype=getattr(t, dtype)), exponent))
            except RuntimeError as error:
                found.append(re.search("the .* requires dtype [A-Za-z]*", str(error)).group())
    return found


@parity
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex128"])
def test_the_result_is_converted(t, dtype):
    x, y = operands(t)
    out = t.empty((2, 3), dtype=getattr(t, dtype))
    return t.add(x, y, out=out), t.gt(x, y, out=t.empty((2, 3))), t.add(t.tensor(-3), 1, out=t.zeros((), dtype=t.uint8))


@parity
@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod", "mean", "nanmean"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_can_be_asked_for_a_dtype_is_computed_in_that_of_out(t, name, dtype):
    x = t.from_numpy(A.astype(np.float32)) / 3
    return getattr(t, name)(x, 0, out=t.empty(0, dtype=getattr(t, dtype)))


@parity
def test_new_tensors_have_its_dtype(t):
    made = [
        t.zeros(2, out=t.empty(2, dtype=t.int8)),
        t.ones((2, 2), out=t.empty(0, dtype=t.bool)),
        t.full((2,), 1.5, out=t.empty(2, dtype=t.float64)),
        t.full((2,), 1.5, out=t.empty(2, dtype=t.int64)),
        t.eye(2, out=t.empty(0, dtype=t.complex64)),
        t.arange(3, out=t.empty(0)),
        t.linspace(0, 1, 3, out=t.empty(0, dtype=t.float64)),
        t.logspace(0, 1, 2, out=t.empty(2, dtype=t.float64)),
        t.fft.fftfreq(4, out=t.empty(0, dtype=t.float64)),
        t.zeros(2, out=t.empty(2), requires_grad=True),
    ]
    drawn = [
        t.rand(2, out=t.empty(0, dtype=t.float64)), t.randn(2, out=t.empty(0, dtype=t.float64)),
        t.randint(5, (2,), out=t.empty(0)), t.randperm(3, out=t.empty(0, dtype=t.int32)),
        t.normal(0.0, 1.0, (2,), out=t.empty(0)),
    ]  # fmt: skip
    raises(
        RuntimeError,
        "dtype Float does not match dtype of out parameter (Double)",
        lambda: t.zeros(2, dtype=t.float32, out=t.empty(2, dtype=t.float64)),
    )
    return made, [(each.dtype, list(each.shape)) for each in drawn]


@parity
def test_it_may_be_an_operand(t):
    x, y = operands(t)
    return t.add(x, y, out=x), t.exp(y, out=y), t.cumsum(x, 1, out=x)


def test_it_may_be_a_factor():
    """What torch computes then depends on the processor."""
    squares = pullback.eye(2) * 2
    assert pullback.mm(squares, squares, out=squares).tolist() == [[4, 0], [0, 4]]


def test_it_may_overlap_an_operand_which_torch_refuses():
    x = pullback.arange(5.0)
    pullback.add(x[:-1], 1, out=x[1:])
    assert x.tolist() == [0, 1, 2, 3, 4]
    m = pullback.arange(9.0).reshape(3, 3)
    pullback.tril(m.t(), out=m)
    assert m.tolist() == [[0, 0, 0], [1, 4, 0], [2, 5, 8]]


def test_what_an_operation_hands_through_is_copied():
    x = pullback.tensor([1.0, 2.0])
    for function in (
        lambda out: pullback.matrix_power(pullback.diag(x), 1, out=out),
        lambda out: pullback.sgn(x, out=out),
    ):
        out = pullback.empty(0)
        function(out)
        out.zero_()
        assert x.tolist() == [1, 2]


@parity
def test_no_grad_opens_it_to_what_requires_grad(t):
    x, _ = operands(t)
    x.requires_grad_()
    out = t.zeros(2, 3, dtype=t.float64, requires_grad=True)
    with t.no_grad():
        return t.exp(x, out=t.empty(2, 3)), t.exp(x, out=out)


@parity
def test_results_without_a_derivative_may_come_from_what_requires_grad(t):
    x, y = operands(t)
    x.requires_grad_()
    return (
        t.gt(x, y, out=t.empty(2, 3, dtype=t.bool)),
        t.argmax(x, out=t.empty((), dtype=t.int64)),
        t.isposinf(x, out=t.empty(2, 3, dtype=t.bool)),
    )


LOST = (
    "functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
)


@parity
@pytest.mark.parametrize(
    "call",
    [
        lambda t, x, y: t.add(x, y.requires_grad_(), out=t.empty(2, 3)),
        lambda t, x, y: t.mul(x, y, out=t.empty(2, 3, requires_grad=True)),
        lambda t, x, y: t.exp(x.requires_grad_(), out=t.empty(2, 3)),
        lambda t, x, y: t.cat([y, x.requires_grad_()], out=t.empty(0)),
        lambda t, x, y: t.max(x.requires_grad_(), 0, out=(t.empty(3), t.empty(3, dtype=t.int64))),
        lambda t, x, y: t.linalg.svdvals(x.requires_grad_(), out=t.empty(2)),
        lambda t, x, y: t.special.entr(x.requires_grad_(), out=t.empty(2)),
        lambda t, x, y: t.fft.fft(x.requires_grad_(), out=t.empty(2, dtype=t.complex64)),
        lambda t, x, y: t.nn.functional.gelu(x.requires_grad_(), out=t.empty(2)),
        lambda t, x, y: t.floor(x.requires_grad_(), out=t.empty(2)),
        lambda t, x, y: t.zeros(2, out=t.empty(2, requires_grad=True)),
    ],
)
def test_a_gradient_that_would_be_lost_is_refused(t, call):
    x, y = operands(t)
    raises(RuntimeError, LOST, lambda: call(t, x, y))
    return x, y


@parity
@pytest.mark.parametrize(
    ("error", "wording", "call"),
    [
        (TypeError, "exp(): argument 'out' must be Tensor, not int", lambda t, x: t.exp(x, out=3)),
        (TypeError, "exp(): argument 'out' must be Tensor, not list", lambda t, x: t.exp(x, out=[x])),
        (TypeError, "exp(): argument 'out' must be Tensor, not tuple", lambda t, x: t.exp(x, out=(x,))),
        (TypeError, "mul() takes 2 positional arguments but 3 were given", lambda t, x: t.mul(x, x, x)),
        (TypeError, "max()", lambda t, x: t.max(x, 0, out=x)),
        (TypeError, "expected tuple of 2 elements but got 1", lambda t, x: t.max(x, 0, out=(x,))),
        (TypeError, "unexpected keyword argument 'out'", lambda t, x: t.relu(x, out=x)),
        (TypeError, "exp()", lambda t, x: x.exp(out=x)),
        (TypeError, "unexpected keyword argument 'out'", lambda t, x: x.mul(x, out=x)),
        (
            RuntimeError,
            "result type Double can't be cast to the desired output type Long",
            lambda t, x: t.add(x, x, out=t.empty(2, 3, dtype=t.int64)),
        ),
        (
            RuntimeError,
            "result type Long can't be cast to the desired output type Bool",
            lambda t, x: t.add(t.tensor([1]), 1, out=t.empty(1, dtype=t.bool)),
        ),
        (
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
            lambda t, x: t.add(x, x, out=t.empty(1, 1, dtype=t.float64).expand(2, 3)),
        ),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_changed(t, error, wording, call):
    x, _ = operands(t)
    raises(error, wording, lambda: call(t, x))
    return x


@parity
def test_a_graph_keeps_what_was_overwritten_and_torch_says_it_has_not(t):
    """Only the refusal is torch's; pullback's gradient is that of the values multiplied."""
    w, v = t.ones(3), t.ones(3, requires_grad=True)
    total = (w * v).sum()
    if t is torch:
        t.add(w, 1, out=w)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()
        return [1.0, 1.0, 1.0]
    t.add(w, 1, out=w)
    total.backward()
    return v.grad.tolist()


def test_a_graph_keeps_what_was_resized_and_overwritten():
    w, v = pullback.ones(3), pullback.ones(3, requires_grad=True)
    total = (w * v).sum()
    w.resize_(0)
    pullback.zeros(2, out=w)
    total.backward()
    assert v.grad.tolist() == [1, 1, 1]
