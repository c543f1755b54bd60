"""What operands, indices and factors stand for: numbers before tensors, masks of bytes, kinds that fit, what has no order."""

import copy
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity, raises, warns  # noqa: E402

BATCH, MATRIX, VECTOR = (3, 2, 2), (2, 2), (2,)
OPERANDS = {
    "addmm": (MATRIX, MATRIX, MATRIX),
    "addr": (MATRIX, VECTOR, VECTOR),
    "addmv": (VECTOR, MATRIX, VECTOR),
    "addbmm": (MATRIX, BATCH, BATCH),
    "baddbmm": (BATCH, BATCH, BATCH),
}
OUTDATED = "This overload of {}"  # torch names the in-place form, with _


def made(t, name):
    return [t.arange(1.0, 1 + math.prod(shape)).reshape(shape) for shape in OPERANDS[name]]


@pytest.mark.parametrize("name", OPERANDS)
@parity
def test_factors_before_matrices(t, name):
    first, *others = made(t, name)
    function, method = getattr(t, name), getattr(first, name)
    calls = [
        lambda: function(2, first, 3, *others),
        lambda: function(2, first, *others),
        lambda: method(2, 3, *others),
        lambda: method(0.5, *others),
        lambda: getattr(first.clone(), f"{name}_")(2, 3, *others),
    ]
    return [warns(UserWarning, OUTDATED.format(name), call) for call in calls]


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@parity
def test_a_factor_before_two_tensors(t, name):
    x, y = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([4.0, 5.0])
    results = [
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(t, name)(x, 3, x, y)),
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(x, name)(-0.5, y, y)),
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(y.clone(), f"{name}_")(2, y, y)),
    ]
    results[0].sum().backward()
    with pytest.raises(TypeError):
        getattr(t, name)(x, y, 2)
    return [[result.detach() for result in results], x.grad]


@pytest.mark.parametrize("name", ["add", "sub"])
@parity
def test_a_factor_before_the_other_operand(t, name):
    x, y = t.tensor([1.0, 2.0]), t.tensor([4.0, 5.0])
    return [
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(t, name)(x, 3, y)),
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(x, name)(0.5, y)),
        warns(UserWarning, OUTDATED.format(name), lambda: getattr(x.clone(), f"{name}_")(2, y)),
    ]


@parity
def test_factors_of_a_higher_kind_are_refused(t):
    whole, real, bools = t.tensor([1, 2]), t.tensor([1.0, 2.0]), t.tensor([True, False])
    fraction = "For integral input tensors, argument alpha must not be a floating point number"
    for name in ("add", "sub", "rsub"):
        raises(RuntimeError, fraction, lambda name=name: getattr(t, name)(whole, whole, alpha=1.5))
    raises(RuntimeError, fraction, lambda: t.add(bools, bools, alpha=0.5))
    raises(RuntimeError, fraction, lambda: whole.add_(whole, alpha=0.5))
    raises(RuntimeError, "argument alpha must not be a complex number", lambda: t.add(real, real, alpha=1j))
    raises(RuntimeError, "Boolean alpha only supported for Boolean results", lambda: t.add(real, real, alpha=False))
    return [t.add(whole, whole, alpha=2), t.add(whole, real, alpha=0.5), t.add(bools, bools, alpha=False), whole]


UNORDERED = {
    "lt": lambda t, z: z < z,
    "le of a number": lambda t, z: z <= 1,
    "gt by a complex number": lambda t, z: z.real > 1j,
    "ge": lambda t, z: t.ge(z, z.real),
    "max": lambda t, z: z.max(),
    "min along an axis": lambda t, z: z.min(0),
    "max of two": lambda t, z: t.max(z, z),
    "maximum": lambda t, z: t.maximum(z, z.real),
    "fmin": lambda t, z: t.fmin(z, z),
    "amax": lambda t, z: z.amax(),
    "amin": lambda t, z: z.amin(0),
    "aminmax": lambda t, z: z.aminmax(),
    "argmax": lambda t, z: z.argmax(),
    "argmin": lambda t, z: z.argmin(0),
    "mode": lambda t, z: z.mode(),
    "median": lambda t, z: z.median(),
    "cummax": lambda t, z: z.cummax(0),
    "sort of one": lambda t, z: z[0].sort(),
    "relu": lambda t, z: z.relu(),
}


@pytest.mark.parametrize("name", UNORDERED)
@parity
def test_complex_numbers_have_no_order(t, name):
    z = t.tensor([1j, 2 - 1j])
    with pytest.raises(RuntimeError, match=r"(?i)not implemented|complex"):
        UNORDERED[name](t, z)
    return [z == z, z != 1j]


@pytest.mark.filterwarnings("ignore:where received a uint8")
@parity
def test_where_takes_a_condition_of_bytes(t):
    condition = t.tensor([[1], [0], [2]], dtype=t.uint8)
    x = t.tensor([1.0, 2.0], requires_grad=True)
    chosen = t.where(condition, x * x, 3 * x)
    chosen.sum().backward()
    return chosen, x.grad, x.where(condition, -1.0), t.where(condition, 1, 0)


@parity
def test_a_tensor_of_bytes_is_a_mask(t):
    x, mask = t.arange(6.0).reshape(2, 3), t.tensor([1, 0, 1], dtype=t.uint8)
    found = [
        warns(UserWarning, "indexing with dtype torch.uint8 is now deprecated", call)
        for call in (lambda: x[0][mask], lambda: x[:, mask], lambda: x[(x > 2).to(t.uint8)])
    ]
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8"):
        x[:, mask] = t.tensor([7.0, 8.0])
    with pytest.raises(IndexError, match="The shape of the mask"), pytest.warns(UserWarning, match="uint8"):
        x[mask]
    return [found, x]


@parity
def test_entries_of_an_index(t):
    x = t.arange(6.0).reshape(2, 3)
    raises(TypeError, "slice indices must be integers or None or have an __index__ method", lambda: x["a":])
    return [x[(0, 1), :], x[(0, 1), (1, 2)], x[((1, 0), [2, 2])], x[..., (0, 2)]]


@parity
def test_whole_numbers_are_written_to_narrower_ones(t):
    x = t.tensor([200, 3], dtype=t.uint8)
    x *= t.tensor([3, -1], dtype=t.int16)
    y = t.tensor([1, 2], dtype=t.int8).add_(t.tensor([300, 1]))
    raises(RuntimeError, "can't be cast to the desired output type", lambda: x.add_(t.tensor(1.5)))
    raises(RuntimeError, "can't be cast to the desired output type", lambda: (x > 0).add_(x))
    return [x, y, x.clamp_(max=t.tensor(7))]


@parity
def test_sums_have_the_dtype_asked_for(t):
    x = t.tensor([[100, 100], [100, 1]])
    kinds = [t.uint8, t.int8, t.int16, t.int32, t.int64, t.bool, t.float16, t.float64]
    return [[x.sum(dtype=kind), x.sum(1, dtype=kind), x.prod(dtype=kind)] for kind in kinds]


@parity
def test_numbers_beside_whole_numbers_keep_their_sign_in_quotients(t):
    x = t.tensor([1, 2, 250], dtype=t.uint8)
    return [x / -1, t.div(x, -2), t.copysign(x, -1), t.xlogy(x, -1), t.true_divide(x, -3.0), -1 / x, x / 2, x / True]


@parity
def test_imaginary_numbers_are_true(t):
    z = t.tensor([1j, 0j, -0.5j, 1.0])
    return [z.bool(), z.to(t.bool), t.zeros(4, dtype=t.bool).copy_(z)]


@parity
def test_a_shallow_copy_shares_its_memory(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.grad = t.tensor([5.0, 6.0])
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    with t.no_grad():
        shallow.fill_(3)
    return [x, shallow, deep, deep.grad, copy.copy(x * 2).detach()]


@parity
def test_reversed_and_contained(t):
    x, one = t.arange(6.0).reshape(2, 3), t.tensor(7)
    for stranger in ("1", None, [1]):
        raises(
            RuntimeError,
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in",
            lambda s=stranger: s in x,
        )
    raises(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors", lambda: ~x)
    raises(NotImplementedError, "\"bitwise_not_cpu\" not implemented for 'Float'", lambda: t.bitwise_not(x))
    return [reversed(x), reversed(one), 4 in x, 9 in x, t.arange(3.0, 6.0) in x, one in x]


@parity
def test_ranges_fill_what_is_given_in_its_shape(t):
    results = []
    for fill in (
        lambda out: t.arange(0, 4, out=out),
        lambda out: t.linspace(0, 3, 4, out=out),
        lambda out: t.logspace(0, 3, 4, out=out),
    ):
        x = t.zeros(2, 3)
        fill(x.narrow(1, 1, 2))
        results.append(x)
    return results


@parity
def test_sizes_and_edges(t):
    inf, nan = math.inf, math.nan
    x = t.arange(6.0).reshape(2, 3).t()
    return [
        [piece.shape for piece in t.zeros(0, 2).chunk(3)],
        t.tensor([inf, 1.0, nan, -inf]).hardshrink(inf),
        [x.clone().stride(), x.clone(memory_format=t.contiguous_format).stride()],
        [part.shape for part in t.svd_lowrank(t.ones(1, 3))],
    ]


@parity
def test_slopes_between_infinite_values(t):
    inf, nan = math.inf, math.nan
    x = t.tensor([1, -inf, inf, inf, inf, 3, nan, 2])
    return [t.gradient(x), t.gradient(x, spacing=0.5), t.gradient(t.arange(5.0) ** 2, edge_order=2)]


@parity
def test_factors_of_numpy(t):
    x = t.tensor([1, 2])
    return [t.add(x, x, alpha=np.int64(3)), t.sub(x, x, alpha=np.int64(2))]


@parity
def test_bools_stay_bools(t):
    bools = t.tensor([True, False])
    raises(NotImplementedError, "\"pow\" not implemented for 'Bool'", lambda: bools**bools)
    raises(RuntimeError, "Boolean alpha only supported", lambda: t.add(t.ones(2), 1, alpha=True))
    raises(RuntimeError, "alpha must not be a floating point", lambda: t.add(t.arange(2), 1, alpha=1.0))
    return [
        bools**True,
        bools**False,
        bools.clone().pow_(False),
        t.add(bools, bools, alpha=2),
        t.add(bools, True, alpha=2),
    ]


@parity
def test_numbers_of_rows_and_places_are_whole(t):
    for name in ("tril_indices", "triu_indices"):
        for call in ((2.5, 2), (2, True), (3, 2, 0.5)):
            raises(TypeError, "must be int, not", lambda name=name, call=call: getattr(t, name)(*call))


@parity
def test_coordinates_are_given_as_a_list(t):
    x, places = t.tensor([0.0, 1.0, 5.0]), t.tensor([0.0, 1.0, 3.0])
    for wrong in (places, np.ones(3)):
        raises(
            TypeError, "gradient() received an invalid combination", lambda wrong=wrong: t.gradient(x, spacing=wrong)
        )
    raises(TypeError, "expected Tensor as element 0 in", lambda: t.gradient(x, spacing=[np.ones(3)]))
    return t.gradient(x, spacing=[places])


RUNNING = [("cumsum", "float16"), ("cumsum", "float32"), ("cumsum", "complex64"), ("cumprod", "float32")]


@pytest.mark.parametrize(("name", "dtype"), [*RUNNING, ("logcumsumexp", "float32")])
@parity
def test_what_runs_along_an_axis_adds_up_in_doubles(t, name, dtype):
    random = np.random.default_rng(0)
    values = random.uniform(0.1, 0.9, (2, 3000)) * random.choice([-1.0, 1.0], (2, 3000))
    values = (
        1 + values / 1000 if name == "cumprod" else values + 0.1j * values[::-1] if dtype == "complex64" else values
    )
    return getattr(t.tensor(values.astype(dtype)), name)(1)
