"""Results of elementwise functions lie in memory as their operands do."""

import numpy as np
import pytest

import pullback

special = pullback.special
FUNCTIONS = {
    "erf": pullback.erf,
    "erfc": pullback.erfc,
    "erfcx": special.erfcx,
    "erfinv": pullback.erfinv,
    "ndtr": special.ndtr,
    "log_ndtr": special.log_ndtr,
    "ndtri": special.ndtri,
    "lgamma": pullback.lgamma,
    "digamma": pullback.digamma,
    "polygamma": lambda x: pullback.polygamma(1, x),
    "gelu": pullback.nn.functional.gelu,
}


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
@pytest.mark.parametrize("shape", [(3, 1, 5, 7), (1, 50, 70, 30)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_functions_keep_the_order_of_the_axes(name, shape, dtype):
    """Above and below the size from which they are computed in blocks, with axes of length 1 and steps."""
    near = {"rtol": 2e-5 if dtype == pullback.float32 else 1e-12}
    values = pullback.tensor(np.random.default_rng(0).uniform(0.1, 0.9, shape), dtype=dtype)
    function = FUNCTIONS[name]
    wanted = function(values).numpy()
    for axes in ((3, 1, 0, 2), (2, 0, 1, 3), (0, 1, 3, 2)):
        x = values.permute(*axes)
        y = function(x)
        assert y.squeeze().stride() == x.squeeze().stride()
        np.testing.assert_allclose(y.numpy(), wanted.transpose(axes), **near)
    apart = values[..., ::2].permute(3, 0, 1, 2)
    y = function(apart)
    assert y.permute(1, 2, 3, 0).is_contiguous()
    np.testing.assert_allclose(y.numpy(), wanted[..., ::2].transpose(3, 0, 1, 2), **near)
