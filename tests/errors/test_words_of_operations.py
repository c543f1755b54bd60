"""An operation has one word for people: in errors, and in explain."""

import pytest

import pullback
from pullback.autograd import Function


class MyCube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return 3 * g * ctx.saved_tensors[0] ** 2


def written(x):
    y = x * 1
    y[0] = x[1]
    return y


CALLS = {
    "mul": lambda x: x * 2,
    "log_softmax": lambda x: x.log_softmax(0),
    "deg2rad": lambda x: x.deg2rad(),
    "fft_r2c": pullback.fft.rfft,
    "max_pool2d_with_indices": lambda x: pullback.nn.functional.max_pool2d(x.reshape(1, 1, 1, 4), (1, 2)),
    "linalg_eigh": lambda x: pullback.linalg.eigh(x.reshape(2, 2))[0],
    "bessel_j": pullback.special.bessel_j0,
    "setitem": written,
    "MyCube": MyCube.apply,
}


@pytest.mark.parametrize("word", CALLS)
def test_an_operation_has_one_word(word):
    x = pullback.tensor([0.5, 0.25, 0.25, 2.0], requires_grad=True)
    y = CALLS[word](x)
    shown = {tensor.op for tensor in pullback.explain(y.sum().abs()).tensors}
    assert word in shown
    with pytest.raises(RuntimeError, match=rf"made by {word} at "):
        y.backward(pullback.ones(7, dtype=y.dtype))
