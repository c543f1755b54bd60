"""gradcheck and gradgradcheck: what they accept, what they find, and what they say of it."""

import numpy as np
import pytest

import pullback
from pullback.testing import GradcheckError, gradcheck, gradgradcheck

from ..tensors import double_leaf as leaf


def off_by(factor):
    """A function whose gradient is wrong by a factor: part of its value does not count."""
    return lambda x: x * factor + (1 - factor) * x.detach()


RIGHT = {
    "product": (lambda x, y: x * y, (leaf(1.0, 2.0), leaf(0.5, -1.0))),
    "broadcast": (lambda x, y: x * y, (leaf(1.0, 2.0), leaf(0.5))),
    "several outputs": (lambda x: (x.sin(), x.exp().sum()), (leaf(1.0, 2.0),)),
    "an output that is no number": (lambda x: (x.sin(), x > 0), (leaf(1.0, 2.0),)),
    "0-d": (lambda x: x**3, (pullback.tensor(1.5, dtype=pullback.float64, requires_grad=True),)),
    "empty": (lambda x: x * 2, (leaf(),)),
    "a constant beside it": (lambda x, n: x * n, (leaf(1.0, 2.0), 3)),
    "complex": (lambda z: z * z, (leaf(1 + 2j, -0.5j, dtype=pullback.complex128),)),
    "complex to real": (lambda z: z.abs(), (leaf(1 + 2j, -0.5j, dtype=pullback.complex128),)),
    "an unused input": (lambda x, y: x * 2, (leaf(1.0), leaf(2.0))),
}


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name, fast_mode):
    function, inputs = RIGHT[name]
    before = [value.detach().numpy().copy() for value in inputs if pullback.is_tensor(value)]
    assert gradcheck(function, inputs, fast_mode=fast_mode, check_grad_dtypes=True, check_batched_grad=True)
    assert gradgradcheck(function, inputs, fast_mode=fast_mode)
    after = [value.detach().numpy() for value in inputs if pullback.is_tensor(value)]
    for then, now in zip(before, after, strict=True):
        np.testing.assert_array_equal(then, now)
    assert all(value.grad is None for value in inputs if pullback.is_tensor(value))


@pytest.mark.parametrize("fast_mode", [False, True])
def test_wrong_gradients_are_found(fast_mode):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(off_by(2.0), leaf(1.0, 2.0), fast_mode=fast_mode)
    assert not gradcheck(off_by(2.0), leaf(1.0, 2.0), fast_mode=fast_mode, raise_exception=False)
    assert not gradgradcheck(off_by(2.0), leaf(1.0, 2.0), fast_mode=fast_mode, raise_exception=False)


def test_the_worst_entry_is_named():
    weights = pullback.tensor([[1.0, 1.0], [1.0, 5.0]], dtype=pullback.float64)
    x = leaf(1.0, 2.0, 3.0, 4.0).reshape(2, 2).detach().requires_grad_()
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: x + weights * x.detach(), x)
    assert "output [1, 1] by input [1, 1]: analytical 1, numerical 6" in str(caught.value)


def test_an_imaginary_part_is_named():
    z = leaf(1 + 2j, dtype=pullback.complex128)
    with pytest.raises(GradcheckError, match=r"output \[0\]\.imag by input \[0\]\.imag|output \[0\]\.real by input"):
        gradcheck(off_by(2.0), z)


def test_a_kink_is_called_one():
    with pytest.raises(GradcheckError, match="kink there: the slope to the left is 0, to the right 1"):
        gradcheck(lambda x: x.relu(), leaf(1.0, 0.0))


def test_a_wrong_second_derivative_is_found():
    def function(x):
        return x.detach() ** 2 * x - (2 / 3) * x.detach() ** 3 + 0 * x  # the first derivative is right, x**2

    x = leaf(1.0, 2.0)
    with pytest.raises(GradcheckError):
        gradgradcheck(function, x)


def test_an_output_cut_off_from_its_input_is_found():
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, leaf(1.0))


def test_results_that_change_are_found():
    calls = iter(range(100))
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(lambda x: x * float(next(calls)), leaf(1.0), atol=1e9)


def test_what_is_refused():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, pullback.ones(2))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x, leaf(1.0).expand(3))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x, leaf(1.0, dtype=pullback.float32), atol=1, rtol=1)


class Tripled(pullback.autograd.Function):
    """x * x, whose forward derivative is half as large again as it should be."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * tangent * ctx.saved_tensors[0]


def test_the_tangents_of_dual_tensors_are_compared() -> None:
    x, z = leaf(1.0, 2.0), leaf(1.0 + 2.0j, dtype=pullback.complex128)
    for fast in (False, True):
        options = {"check_forward_ad": True, "fast_mode": fast}
        assert gradcheck(lambda x, z: (x.sin().sum() * z.exp(), z.abs(), x * 0), (x, z), **options)
        assert gradcheck(Tripled.apply, x, fast_mode=fast)
        with pytest.raises(
            GradcheckError, match="Jacobian computed with forward mode mismatch for output 0 with respect"
        ):
            gradcheck(Tripled.apply, x, **options)
        assert not gradcheck(Tripled.apply, x, check_backward_ad=False, raise_exception=False, **options)


def test_an_input_that_the_function_knows_from_elsewhere_moves() -> None:
    model = pullback.nn.Linear(2, 1).double()
    x = leaf(1.0, 2.0)
    before = model.weight.tolist()
    assert gradcheck(lambda *_: model(x), (model.weight, model.bias))
    assert gradgradcheck(lambda *_: model(x) ** 2, (model.weight, model.bias))
    assert gradcheck(lambda a, b: a * b, (x, x))  # one tensor twice: it has one gradient
    assert model.weight.tolist() == before
    assert x.tolist() == [1.0, 2.0]


def test_a_failing_function_leaves_its_input_as_it_was() -> None:
    x = leaf(1.0, 2.0)
    calls = []

    def fails_later(x):
        calls.append(x.tolist())
        if len(calls) > 2:
            raise KeyError("no")
        return x * x

    with pytest.raises(KeyError):
        gradcheck(fails_later, x)
    assert calls[0] != calls[-1]
    assert x.tolist() == [1.0, 2.0]


def test_an_input_may_be_read_only() -> None:
    array = np.array([1.0, 2.0])
    array.flags.writeable = False
    assert gradcheck(lambda x: x**3, pullback.from_numpy(array).requires_grad_())


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_what_is_about_sparse_layouts_changes_nothing(check):
    x = leaf(0.5, -1.0)
    assert check(lambda x: x**3, (x,), masked=True)
    assert not check(lambda x: x.detach() * x**3, (x,), masked=True, raise_exception=False)
