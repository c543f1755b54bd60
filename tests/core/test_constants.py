"""Numbers that stand in the code, in a dtype: kept, and never taken for another that is equal."""

import numpy as np
import pytest

import pullback

WHOLE = [0, 0.0, -0.0, 1, 1.0, True]
NUMBERS = [*WHOLE, float("nan"), float("inf"), 0.1, np.float32(0.1)]


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        *((number, dtype) for number in NUMBERS for dtype in (np.float32, np.float64)),
        *((each, np.int64) for each in WHOLE),
    ],
)
def test_a_number_keeps_its_bits(number, dtype):
    for _ in range(2):
        for other in (0, 0.0, 1, True, number):
            pullback.ops.clip(np.zeros(1, dtype), lower=other, upper=None)
        found = pullback._core.bounds.constant(number, np.dtype(dtype))
        assert found.tobytes() == np.array(number, dtype).tobytes()


@pytest.mark.parametrize("compiled", [False, True])
def test_negative_zero_is_not_taken_for_zero(compiled):
    """NumPy's maximum of 0.0 and -0.0 is the second one."""
    x = pullback.tensor([-1.0, 2.0])
    for value in (0.0, -0.0, 0, -0.0):
        function = lambda t, value=value: pullback.nn.functional.threshold(t, 0.5, value)
        found = (pullback.compile(function) if compiled else function)(x).numpy()
        assert np.signbit(found[0]) == np.signbit(np.float64(value))


def test_numbers_of_compiled_functions_are_not_kept():
    compiled = pullback.compile(lambda t, low: (t.clamp(low, 3.0) * 2).sum())
    for low in (0.25, 0.5, 0.25, 0.75):
        x = pullback.tensor([-1.0, 2.0, 5.0], requires_grad=True)
        compiled(x, low).backward()
        assert compiled(x, low).item() == 2 * (low + 2 + 3)
        np.testing.assert_array_equal(x.grad.numpy(), [0.0, 2.0, 0.0])
        assert (x.clamp(low, 3.0) * 2).sum().item() == 2 * (low + 2 + 3)
