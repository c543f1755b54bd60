"""Whatever is passed in: the right answer or a clear exception, and nothing changed that was not to be changed."""

import inspect
import os
import random
import warnings

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pullback
from pullback._tensor.tensor import HOT

CLEAR = (
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    NotImplementedError,
    OverflowError,
    BufferError,
    AssertionError,
)
"""Errors that say what is wrong: the last only where torch has it, and with a text, which our own assertions lack."""
REFUSED_BY_NUMPY_2 = (
    "In future, it will be an error for 'np.bool_?' scalars to be interpreted as an index",
    "The truth value of an empty array is ambiguous",
    "Conversion of an array with ndim > 0 to a scalar is deprecated",
    "in the future the `.dtype` attribute of a given datatype object must be a valid dtype",
    "Out of bound index found. This was previously ignored when the indexing result contained no elements",
)
"""What NumPy 1 takes with these warnings, which are all that keeps it from an answer."""
UNCLEAR = (RecursionError, UnicodeError)  # of those types, but nobody's answer
EXAMPLES = hypothesis.settings(max_examples=25, suppress_health_check=list(hypothesis.HealthCheck))

# 1. Arrays of every kind, against NumPy


def layouts(array):
    """The same numbers laid out in other ways."""
    wide = np.zeros((*(2 * size for size in array.shape),), array.dtype)
    strided = wide[(..., *[slice(None, None, 2)] * array.ndim)]
    strided[...] = array
    backwards = (..., *[slice(None, None, -1)] * array.ndim)
    frozen = array.copy()
    frozen.flags.writeable = False
    return [array.copy(), array.copy("F"), strided, array[backwards].copy()[backwards], frozen]


VALUES = {
    "f": st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-30, 1e30, np.nan, np.inf, -np.inf]),
    "i": st.integers(-5, 5),
    "b": st.booleans(),
}
DTYPES = {"f": ["f4", "f8"], "i": ["i8", "i4"], "b": ["?"]}
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def arrays(draw, kinds="fib", shapes=SHAPES):
    dtype = np.dtype(draw(st.sampled_from(DTYPES[draw(st.sampled_from(kinds))])))
    shape = draw(shapes)
    count = int(np.prod(shape))
    values = draw(st.lists(VALUES[dtype.kind], min_size=count, max_size=count))
    return draw(st.sampled_from(layouts(np.array(values, dtype).reshape(shape))))


def as_float(array):
    """What functions of real numbers make of integers: the default dtype."""
    return array if array.dtype.kind == "f" else array.astype(np.float32)


def softmax(x):
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


UNARY = {
    **{name: getattr(np, name) for name in "exp expm1 log log1p sqrt sin cos tan sinh cosh tanh".split()},
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "reciprocal": lambda x: np.divide(1, x, dtype=x.dtype),
    "rsqrt": lambda x: np.divide(1, np.sqrt(x), dtype=x.dtype),
}
KEEPING = {
    "abs": np.abs, "square": np.square, "sign": lambda x: np.where(np.isnan(x), 0, np.sign(x)), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "round": np.rint, "relu": lambda x: np.maximum(x, np.zeros((), x.dtype)),
}  # fmt: skip
TESTS = {name: getattr(np, name) for name in ("isnan", "isinf", "isfinite", "logical_not")}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip
WHOLE = {"sum": np.sum, "all": np.all, "any": np.any, "amax": np.max, "amin": np.min, "mean": np.mean}
MOVED = {
    "flatten": lambda x: x.reshape(-1),
    "ravel": lambda x: x.reshape(-1),
    "clone": lambda x: x,
    "contiguous": lambda x: x,
    "squeeze": np.squeeze,
}


def agrees(tensor, expected, like):
    """The numbers of a reference, to a few units in the last place, in its shape."""
    found = tensor.detach().numpy()
    assert found.shape == np.shape(expected)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, np.asarray(expected).astype(found.dtype), rtol=40 * np.finfo(like).eps)


def unchanged(array, program):
    """Run a program that has no business writing to an array."""
    before, flags = array.copy(), str(array.flags)
    with np.errstate(all="ignore"):
        result = program()
    np.testing.assert_array_equal(array, before)
    assert str(array.flags) == flags
    return result


@pytest.mark.parametrize("name", [*UNARY, *KEEPING, *TESTS, *MOVED])
@EXAMPLES
@hypothesis.given(arrays())
def test_functions_of_one_array(name, array):
    if name in KEEPING and array.dtype.kind == "b":
        return  # torch's dtypes for these are in the parity tests
    x = pullback.from_numpy(array)
    reference = {**UNARY, **KEEPING, **TESTS, **MOVED}[name]

    def program():
        agrees(getattr(x, name)(), reference(as_float(array) if name in UNARY else array), np.float32)

    unchanged(array, program)


@pytest.mark.parametrize("name", BINARY)
@EXAMPLES
@hypothesis.given(arrays(), arrays())
def test_functions_of_two_arrays(name, a, b):
    if name == "sub" and a.dtype.kind == b.dtype.kind == "b":
        return
    x, y = pullback.from_numpy(a), pullback.from_numpy(b)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        with pytest.raises(RuntimeError, match="must match the size"):
            getattr(x, name)(y)
        return
    dtype = pullback.result_type(x, y).numpy
    agrees_with = BINARY[name]

    def program():
        agrees(getattr(x, name)(y), agrees_with(a.astype(dtype), b.astype(dtype)), np.float32)

    unchanged(a, lambda: unchanged(b, program))


@pytest.mark.parametrize("name", WHOLE)
@EXAMPLES
@hypothesis.given(arrays(), st.data())
def test_reductions(name, array, data):
    x = pullback.from_numpy(array)
    dim = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1) if array.ndim else st.none())
    keep = data.draw(st.booleans())
    if name == "mean" and array.dtype.kind != "f":
        return
    over = array.shape if dim is None else array.shape[dim : dim + 1 or None]
    if name in ("amax", "amin") and 0 in over:
        with pytest.raises((RuntimeError, IndexError), match=name):
            getattr(x, name)(dim, keep)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = WHOLE[name](array.astype(np.float64) if name in ("sum", "mean") else array, axis=dim, keepdims=keep)
    finite = np.abs(array[np.isfinite(array)]).max(initial=0)
    found = unchanged(array, lambda: getattr(x, name)(dim, keep)).numpy()
    np.testing.assert_allclose(found, expected.astype(found.dtype), rtol=1e-5, atol=1e-6 * float(finite))


# Both take a tensor or an array of at least one axis and one element.
ALIKE = {
    "softmax": (lambda x: x.softmax(-1), softmax),
    "log_softmax": (lambda x: x.log_softmax(-1).exp(), softmax),
    "logsumexp": (lambda x: x.logsumexp(0), np.logaddexp.reduce),
    "cumsum": (lambda x: x.cumsum(0), lambda x: np.cumsum(x, 0)),
    "argmax": (lambda x: x.argmax(-1), lambda x: np.argmax(x, -1)),
    "argmin": (lambda x: x.argmin(), np.argmin),
    "max": (lambda x: x.max(0).values, lambda x: np.max(x, 0)),
    "min": (lambda x: x.min(-1, keepdim=True)[0], lambda x: np.min(x, -1, keepdims=True)),
    "var": (lambda x: x.var(0, correction=0), lambda x: np.var(x, 0)),
    "std": (lambda x: x.std(unbiased=False), lambda x: np.std(x.astype(np.float64))),  # no square is out of range
    "norm": (lambda x: x.norm(1), lambda x: np.abs(x).sum()),
    "norm inf": (lambda x: x.norm(np.inf), lambda x: np.abs(x).max()),
    "clamp": (lambda x: x.clamp(-0.5, 1), lambda x: np.clip(x, -0.5, 1)),
    "where": (lambda x: pullback.where(x > 0, x, -2 * x), lambda x: np.where(x > 0, x, -2 * x)),
    "flip": (lambda x: x.flip(0), lambda x: x[::-1]),
    "T": (lambda x: x.T, lambda x: x.T),
    "permute": (lambda x: x.unsqueeze(0).permute(*range(1, x.ndim + 1), 0), lambda x: np.moveaxis(x[None], 0, -1)),
    "expand": (lambda x: x.expand(2, *x.shape), lambda x: np.stack([x, x])),
    "stack": (lambda x: pullback.stack([x, -x], -1), lambda x: np.stack([x, -x], -1)),
    "cat": (lambda x: pullback.cat([x, x], 0), lambda x: np.concatenate([x, x])),
    "split": (lambda x: pullback.cat(x.split(2)[::-1]), lambda x: np.concatenate([x[2:], x[:2]]) if len(x) > 2 else x),
    "unbind": (lambda x: x.unbind(-1)[-1], lambda x: x[..., -1]),
    "nonzero": (lambda x: x.nonzero(), np.argwhere),
    "matmul": (lambda x: x.reshape(-1, 1) @ x.reshape(1, -1), lambda x: x.reshape(-1, 1) @ x.reshape(1, -1)),
    "einsum": (lambda x: pullback.einsum("...i->...", x), lambda x: np.sum(x, -1)),
    "float": (lambda x: x.float(), lambda x: x.astype(np.float32)),
    "bool": (lambda x: x.bool(), lambda x: x.astype(bool)),
    "tolist": (lambda x: pullback.tensor(x.tolist(), dtype=x.dtype), lambda x: x),
}


@pytest.mark.parametrize("name", ALIKE)
@EXAMPLES
@hypothesis.given(arrays(kinds="f", shapes=st.sampled_from([(3,), (1,), (2, 3), (3, 1), (1, 2, 3)])))
def test_functions_of_an_array_with_options(name, array):
    ours, theirs = ALIKE[name]
    found = unchanged(array, lambda: ours(pullback.from_numpy(array))).numpy()
    with np.errstate(all="ignore"):
        expected = theirs(array).astype(found.dtype)
    largest = float(np.abs(array[np.isfinite(array)]).max(initial=0))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * largest)


@pytest.mark.parametrize("name", [*UNARY, "abs", "square", "relu", "sum", "mean", "std", "logsumexp", "softmax"])
@EXAMPLES
@hypothesis.given(arrays(kinds="f"))
def test_backward_of_any_numbers(name, array):
    """A gradient of the right shape and dtype, whatever the numbers; the array is left alone."""
    x = pullback.from_numpy(array).requires_grad_()
    options = {"dim": -1} if name in ("softmax", "logsumexp") else {}

    def program():
        y = getattr(x, name)(**options)
        y.backward(pullback.ones_like(y))

    unchanged(array, program)
    assert (x.grad.shape, x.grad.dtype) == (x.shape, x.dtype)


# 2. Anything at all


def tracked_result():
    return pullback.ones(2, 3, requires_grad=True) * 2


def frozen():
    array = np.ones((2, 3))
    array.flags.writeable = False
    return pullback.from_numpy(array)


TENSORS = [
    lambda: pullback.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(), lambda: pullback.ones(3, dtype=float),
    lambda: pullback.tensor(2.0, requires_grad=True), lambda: pullback.zeros(0, 3), lambda: pullback.arange(3),
    lambda: pullback.tensor([[True, False, True]] * 2), lambda: pullback.tensor([1 + 2j, 0j]), tracked_result, frozen,
    lambda: pullback.ones(3).expand(2, 3), lambda: pullback.ones(3, 3), lambda: pullback.ones(2, 3, 3),
    lambda: pullback.tensor(1), lambda: pullback.ones(3, requires_grad=True).detach(),
    lambda: pullback.tensor([np.nan, np.inf, -1.0], requires_grad=True),
]  # fmt: skip
THINGS = [
    0, 1, -1, 2, 3, -4, 7, 10**30, -(10**30), True, False, 0.5, -1.5, 1e300, np.nan, np.inf, 1j, np.float32(2), np.int64(1),
    np.bool_(True), None, "", "a", "i,i->", "float32", b"x", (), (0,), (0, 1), (1, 0), (-1,), (2, 3), (0, 0), (3, -1),
    (None,), (1.5,), ("a",), slice(None), slice(None, None, -1), slice(1, None, 0), slice("a"), Ellipsis, float, int, "mean",
    pullback.int64, pullback.float64, object(), len,
]  # fmt: skip
FRESH = [
    list, dict, set, lambda: [1], lambda: [1.0, 2.0, 3.0], lambda: [[1], [1, 2]], lambda: [None], lambda: ["a"], lambda: [0, 5],
    lambda: [[0, 1], [1, 0]], lambda: [10**30], lambda: np.ones((2, 3)), lambda: np.array(2), lambda: np.array(0.5),
    lambda: np.array(["a"]), lambda: np.array([None, 1.0]), lambda: np.ones((2, 3))[::-1, ::2], lambda: np.array([0, 1]),
    lambda: np.array([True, False, True]), lambda: np.zeros((0, 3)), lambda: np.array(["2020"], "M8[D]"),
    lambda: np.ones(3, np.float16), lambda: np.array([2**63], np.uint64), lambda: np.zeros(2, [("x", float)]),
    lambda: [pullback.ones(3), pullback.ones(3)], lambda: [pullback.ones(2, requires_grad=True), None],
]  # fmt: skip

tensors = st.sampled_from(TENSORS).map(lambda make: make())
things = st.sampled_from(THINGS) | st.sampled_from(FRESH).map(lambda make: make()) | tensors

# Calls that set the state of the process, or name files (test_files.py feeds those), and values that are no functions.
STATEFUL = {
    "set_printoptions",
    "set_default_dtype",
    "manual_seed",
    "set_grad_enabled",
    "inference_mode",
    "save",
    "load",
}
FUNCTIONS = [
    name for name in pullback.__all__
    if callable(getattr(pullback, name)) and not inspect.isclass(getattr(pullback, name)) and name not in STATEFUL
]  # fmt: skip
METHODS = [
    name for name in dir(pullback.Tensor)
    if callable(getattr(pullback.Tensor, name)) and (not name.startswith("_") or name.strip("_").isalpha())
    and name not in dir(object) and name not in {"__weakref__", "__class__", "interpreter"}
]  # fmt: skip
NESTED = {
    **{f"nn.functional.{name}": getattr(pullback.nn.functional, name) for name in ("cross_entropy", "mse_loss")},
    "autograd.backward": pullback.autograd.backward,
    "autograd.grad": pullback.autograd.grad,
}
WRITING = {"backward", "autograd.backward", "zero_", "requires_grad_", "retain_grad", "register_hook", "__setitem__"}
WRITING |= {"asarray"}  # whose requires_grad=True makes the given tensor itself a leaf, as torch's does
WRITING |= {"fill"}  # NumPy's spelling, which has no underscore


def state(value):
    """All of a tensor or array that a refused call must leave alone."""
    if isinstance(value, (list, tuple)):
        return [state(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tobytes(), value.shape, str(value.flags)
    if not pullback.is_tensor(value):
        return None
    grad = value.grad.tolist() if value.is_leaf and value.grad is not None else None
    return value.detach().numpy().tobytes(), value.shape, value._version, value._node, grad


def in_place(function, args, options):
    """Whether a call asks for an argument to be written: by `inplace`, or by its place, where that of `out` is open."""
    primitive = HOT.get(getattr(function, "__name__", None))
    if primitive is not None and len(args) == len(primitive.inputs) + 2:
        return True
    try:
        return bool(inspect.signature(function).bind(*args, **options).arguments.get("inplace"))
    except (TypeError, ValueError):  # arguments it does not take, or a function written in C
        return False


def call(name, function, args, options):
    """Call, and hold it to the promise of this file."""
    given = [*args, *options.values()]
    before = [state(value) for value in given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", "Data type alias", DeprecationWarning)  # NumPy's, of the dtype 'a'
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # NumPy's, of complex numbers as a real dtype
        for text in REFUSED_BY_NUMPY_2:
            warnings.filterwarnings("ignore", text, DeprecationWarning)
        refusal = None
        try:
            function(*args, **options)
        except CLEAR as error:
            refusal = error
    if refusal is None and (name in WRITING or name.endswith("_") or in_place(function, args, options)):
        return
    assert refusal is None or (str(refusal) and not isinstance(refusal, UNCLEAR)), repr(refusal)
    assert [state(value) for value in given] == before


def keywords(function):
    """The names of a function's arguments, but for the first."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]


# Drawn without hypothesis, which takes twenty times as long as the calls. PULLBACK_FUZZ says how many calls of each function.
CALLS = int(os.environ.get("PULLBACK_FUZZ", "60"))
SEED = os.environ.get("PULLBACK_SEED", "0" if "CI" in os.environ else str(random.randrange(10**6)))


def thing(rng):
    """What `things` draws."""
    kind = rng.choice([THINGS, FRESH, TENSORS])
    return rng.choice(kind) if kind is THINGS else rng.choice(kind)()


def tensor(rng):
    return rng.choice(TENSORS)()


def fuzzed(name, function, first):
    """Calls with a first argument of a kind, up to three more of any, and up to two by keyword."""
    parameters = keywords(function)
    for turn in range(CALLS):
        rng = random.Random(f"{SEED} {name} {turn}")
        args = [first(rng), *(thing(rng) for _ in range(rng.randrange(4)))]
        names = parameters[len(args) - 1 :]
        options = {rng.choice(names): thing(rng) for _ in range(rng.randrange(3) if names else 0)}
        try:
            call(name, function, args, options)
        except BaseException as failure:
            failure.add_note(f"PULLBACK_SEED={SEED}, call {turn}: {name}(*{args}, **{options})")
            raise


@pytest.mark.parametrize("name", [*FUNCTIONS, *NESTED])
def test_functions_take_anything(name):
    fuzzed(
        name, NESTED.get(name) or getattr(pullback, name), lambda rng: rng.choice([tensor, thing, thing, thing])(rng)
    )


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_anything(name):
    fuzzed(name, getattr(pullback.Tensor, name), tensor)


indices = arrays(kinds="ib", shapes=st.sampled_from([(), (0,), (2,), (3,), (2, 3)]))
entries = things | st.slices(4) | st.integers(-4, 4) | indices


@EXAMPLES
@hypothesis.given(tensors, entries | st.lists(entries, max_size=4).map(tuple))
def test_reading_through_anything(tensor, index):
    call("__getitem__", pullback.Tensor.__getitem__, [tensor, index], {})


@EXAMPLES
@hypothesis.given(tensors, entries | st.lists(entries, max_size=4).map(tuple), things)
def test_writing_through_anything(tensor, index, value):
    call("__setitem__", pullback.Tensor.__setitem__, [tensor, index, value], {})


plain = st.slices(4) | st.integers(-4, 4) | st.none() | st.just(Ellipsis) | indices


@pytest.mark.filterwarnings("ignore:Out of bound index found:DeprecationWarning")  # NumPy 1's, where nothing is read
@hypothesis.settings(EXAMPLES, max_examples=400)
@hypothesis.given(arrays(kinds="fi"), plain | st.lists(plain, max_size=3).map(tuple), st.data())
def test_reading_and_writing_as_numpy_does(array, index, data):
    """Both refuse, or both give the same elements; and then a write puts a value there and nowhere else."""
    entries = index if isinstance(index, tuple) else (index,)
    listed = [entry for entry in entries if isinstance(entry, np.ndarray)]
    # With arrays in an index, torch takes the integers first; an empty mask fits any axis in NumPy, and none in torch.
    hypothesis.assume(not listed or not any(isinstance(entry, int) for entry in entries))
    hypothesis.assume(not any(entry.dtype == bool and entry.size == 0 for entry in listed))
    hypothesis.assume(sum(entry is Ellipsis for entry in entries) < 2)  # torch takes a second one
    x = pullback.from_numpy(array.copy())
    try:
        expected = array[index]
    except IndexError:
        for use in (lambda: x[index], lambda: x.__setitem__(index, 1)):
            with pytest.raises(IndexError):
                use()
        np.testing.assert_array_equal(x.numpy(), array)
        return
    np.testing.assert_array_equal(x[index].numpy(), expected)
    value = data.draw(st.sampled_from([7, -2.0, np.ones(np.shape(expected)), pullback.zeros(np.shape(expected))]))
    written = array.copy()
    written[index] = value.numpy() if pullback.is_tensor(value) else value
    x[index] = value
    np.testing.assert_array_equal(x.numpy(), written)
    assert x._version == 1


@pytest.mark.parametrize("name", ["backward", "grad"])
@EXAMPLES
@hypothesis.given(st.data())
def test_a_refused_pass_can_be_run_properly_afterwards(name, data):
    x = pullback.linspace(0, 1, 3, dtype=float).requires_grad_()
    y = x.exp()
    gradient = data.draw(things)
    run = y.backward if name == "backward" else (lambda v: pullback.autograd.grad(y, x, v))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(gradient)
    except CLEAR:
        assert x.grad is None
        y.backward(pullback.ones(3))
        np.testing.assert_allclose(x.grad.numpy(), np.exp(x.detach().numpy()))


def test_what_calls_with_anything_have_found():
    x = pullback.ones(2, 3)
    with pytest.raises(TypeError, match=r"group_norm\(\): argument 'weight' \(position 3\) must be Tensor, not bytes"):
        pullback.nn.functional.group_norm(x, 3, b"x")
    with pytest.raises(RuntimeError, match="Overflow when unpacking long long"):
        pullback.mvlgamma(x, 10**30)
    with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
        pullback.constant_pad_nd(x, [0, 5], 1e300)
    for low in (1.5, np.ones(3, np.float16), "1"):
        with pytest.raises(TypeError, match=r"randint\(\): low and high must be ints"):
            pullback.randint_like(x, low, -(10**30))


F = pullback.nn.functional
NUMBERS_WITHOUT_DERIVATIVES = {
    "softplus beta": lambda x, number: F.softplus(x, beta=number),
    "threshold value": lambda x, number: F.threshold(x, 0.0, number),
    "rrelu bound": lambda x, number: F.rrelu(x, lower=0.0, upper=number),
    "dropout p": F.dropout,
    "alpha_dropout p": lambda x, number: F.alpha_dropout(x, number, training=True),
    "huber_loss delta": lambda x, number: F.huber_loss(x, x * 2, delta=number),
    "normalize p": lambda x, number: F.normalize(x, p=number, dim=0),
    "norm p": pullback.norm,
    "linalg.norm ord": pullback.linalg.norm,
    "cdist p": lambda x, number: pullback.cdist(x[None], x[None] + 1, p=number),
    "pairwise_distance p": lambda x, number: F.pairwise_distance(x, x + 1, p=number),
    "layer_norm eps": lambda x, number: F.layer_norm(x, (3,), eps=number),
    "interpolate scale_factor": lambda x, number: F.interpolate(x[None, None], scale_factor=number),
    "full fill_value": lambda x, number: pullback.full((2,), number),
    "full_like fill_value": pullback.full_like,
    "arange end": lambda x, number: pullback.arange(0.0, number),
}


@pytest.mark.parametrize("name", NUMBERS_WITHOUT_DERIVATIVES)
def test_no_gradient_is_lost_in_a_number(name):
    """A tensor that requires grad, where a function has no derivative: torch refuses it, and so do we."""
    x = pullback.tensor([1.0, -2.0, 3.0], dtype=pullback.float64, requires_grad=True)
    number = pullback.tensor(0.75, dtype=pullback.float64, requires_grad=True)
    with pytest.raises((TypeError, RuntimeError), match=r"must be Number, not Tensor|Can't call numpy\(\)"):
        NUMBERS_WITHOUT_DERIVATIVES[name](x, number)
    NUMBERS_WITHOUT_DERIVATIVES[name](x, 0.75)


def test_a_number_of_the_user_s_own_costs_a_warning_only():
    number = pullback.tensor(0.5, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert float(number) == 0.5


def test_batches_of_gradients_from_an_edge_or_from_no_tensor():
    x = pullback.tensor([1.0, 2.0, 3.0], requires_grad=True)
    edge = pullback.autograd.graph.get_gradient_edge(x * x)
    (rows,) = pullback.autograd.grad(edge, x, pullback.eye(3), is_grads_batched=True)
    np.testing.assert_array_equal(rows.numpy(), np.diag([2.0, 4.0, 6.0]))
    with pytest.raises(TypeError, match=r"Expected output to be a torch.Tensor"):
        pullback.autograd.grad([np.ones(3)], x, pullback.eye(3), is_grads_batched=True)


def test_an_image_has_one_size():
    image = pullback.ones(1, 1, 2, 2)
    with pytest.raises(ValueError, match="only one of size or scale_factor should be defined"):
        F.interpolate(image, size=4, scale_factor=2)
    with pytest.raises(ValueError, match="either size or scale_factor"):
        F.interpolate(image)
