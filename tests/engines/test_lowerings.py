"""Every primitive's samples in the functions of the array API standard, against its forward function.

The arrays refuse whatever the standard does not promise. What has no lowering is refused by its name, and listed here.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.rows import each_row

import pullback
from pullback.compile import LoweringError
from pullback.compile.engines.libraries import ENGINES, engine

from .rows import PRIMITIVES, ROWS, compared, lacking

strict = pytest.importorskip(
    "array_api_strict", reason="array-api-strict is not installed: no arrays to be strict with"
)

# The standard has no special functions; libraries of arrays have some of them.
SPECIAL = set(
    """
    airy airy_slope bessel_i bessel_j bessel_k bessel_y beta betainc betainc_by_shapes betaincc betaincinv betaln binom
    cosine_of_fresnel cosine_of_shichi cosine_of_sici dawsn digamma ellipd ellipe ellipk erf erfc erfcinv erfcx erfcx_slope
    erfi erfinv exp1 expi expn gamma gammainc gammainc_by_shape gammaincc gammainccinv gammaincinv hyp0f1 hyp1f1 hyp2f1 iv
    ive jv kv kve lambertw lgamma log_ndtr ndtr ndtri orthogonal_polynomial owens_t poch polygamma scaled_bessel_i scaled_bessel_k
    sine_of_fresnel sine_of_shichi sine_of_sici spherical_bessel_j wrightomega yv zeta
    """.split()
)
# Factors that need LAPACK's own, results whose shapes depend on values, layers with sequences of different lengths.
OTHERS = set(
    """
    adaptive_places argmode cofactor_slope exponent fractional_places frames gcd geqrf gru lcm ldl_factor ldl_solve lstm
    lstm_projected lu_factor matrix_exp permutation rnn spectral_slopes tied_values unique unique_consecutive
    """.split()
)
COMPOSED = {"gelu"}  # of erf
RNG = np.random.default_rng(0)

W = engine(strict)
COVERED = [row for row in ROWS if row[0] not in SPECIAL | OTHERS | COMPOSED]


@each_row(COVERED)
def test_lowerings_give_what_the_forward_function_gives(name, makers, params):
    masked = name in {"index", "index_add", "index_put"} and any(make(RNG).dtype == bool for make in makers)
    masked = masked and not (name == "index_put" and makers[1](RNG).size == 1)
    if not masked:
        compared(W, name, makers, params)
        return
    with pytest.raises(LoweringError, match=f"an index by a mask, .*: {name}"):
        compared(W, name, makers, params)


def test_what_has_no_lowering_is_listed():
    covered = {row[0] for row in COVERED}
    assert PRIMITIVES.keys() - covered == SPECIAL | OTHERS | COMPOSED
    assert len(covered) >= 275


def test_an_operation_without_a_lowering_is_refused_by_its_name_before_anything_runs():
    weights = pullback.ones(3, dtype=pullback.float64)

    def step(x):
        weights.mul_(2)
        return pullback.special.bessel_j0(x * weights)

    placed = pullback.compile(step).on(strict)
    with pytest.raises(LoweringError, match="bessel_j has no lowering for array_api_strict"):
        placed(strict.asarray([1.0, 2.0, 3.0]))
    placed.fetch()
    assert weights.tolist() == [1, 1, 1]


def test_an_engine_of_no_name():
    message = f"there is no engine 'cuda': engines are {', '.join(ENGINES)}, or a namespace of the array API"
    with pytest.raises(ValueError, match=re.escape(message)):
        pullback.compile(np.sin).on("cuda")


def test_the_lowerings_use_nothing_beyond_the_standard():
    assert lacking(W) == lacking(engine(np)) == set()


ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(not (ROOT / "tests/parity").exists(), reason="pages and tests beside torch are in the repository")
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_a_row_on_its_page_and_is_tried(name):
    assert f'| `"{name}"` |' in (ROOT / "docs/how-to/engines.md").read_text(encoding="utf-8"), (
        f"write a row of {name} into the table of docs/how-to/engines.md"
    )
    tests = ["tests/engines/test_placed.py", "tests/parity/test_engines.py", "tests/distributed/test_clusters.py"]
    text = "\n".join((ROOT / each).read_text(encoding="utf-8") for each in tests)
    assert re.search(rf'"{name}"|\b{ENGINES[name].__name__}\(\)', text), (
        f"write a test that runs programs on {name} into one of {tests}"
    )
