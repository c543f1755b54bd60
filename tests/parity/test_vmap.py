"""vmap of every public operator is the loop over the examples, on the samples of torch's own database."""

import itertools
import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to take samples from")
pytest.importorskip("expecttest", reason="torch's database of operators needs the package expecttest")

import pullback  # noqa: E402
from pullback._core.trees import flatten, unflatten  # noqa: E402
from pullback.func import vmap  # noqa: E402

from . import operators  # noqa: E402
from .compare import parity  # noqa: E402

# Python numbers, and results whose shapes depend on the values.
REFUSED = {
    "allclose", "argwhere", "equal", "histogram", "linspace.tensor_overload", "nonzero", "nonzero_static",
    "unique", "unique_consecutive",
}  # fmt: skip
RANDOM = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "nn.functional.alpha_dropout",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout.with_train",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward",
    "nn.functional.rrelu", "normal", "normal.in_place", "normal.number_mean", "pca_lowrank", "rand_like", "randint_like", "randn_like", "svd_lowrank",
    "uniform",
}  # fmt: skip
OTHER = {"item"}  # of plain tensors alone, where it is called as a function of the class
SCALES = (1.0, 0.97)  # the examples: a sample, and one beside it, within the same domain


def drawn(op, count):
    """The first samples of an entry."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = op.sample_inputs("cpu", operators.dtype_for(op, None))
        return list(itertools.islice((s for s in samples if not s.kwargs.get("dropout_p")), count))


def arguments(op, sample):
    """The arguments of a call as leaves, the numbers of those to be batched, and how to make the call of leaves."""
    moving: list = []
    given = (sample.input, tuple(sample.args), dict(sample.kwargs))
    made = operators.translated(given, moving, to_pullback=True)
    leaves, structure = flatten(made)
    places = [i for i, x in enumerate(leaves) if pullback.is_tensor(x) and x.dtype.is_floating_point]

    def call(function, *values):
        first, args, kwargs = unflatten(structure, values)
        return function(first, *args, **kwargs)

    return leaves, places, call


def outcome(op, sample):
    function = operators.resolved(op)
    leaves, places, call = arguments(op, sample)
    if not places:
        return [], []
    examples = [[x.detach() * s if i in places else x for i, x in enumerate(leaves)] for s in SCALES]
    batched = [pullback.stack([e[i] for e in examples]) if i in places else x for i, x in enumerate(leaves)]
    dims = [0 if i in places else None for i in range(len(leaves))]

    def on(*moving):
        rest = iter(moving)
        found, _ = flatten(call(function, *[next(rest) if i in places else x for i, x in enumerate(leaves)]))
        return [y for y in found if pullback.is_tensor(y)]

    loop = [on(*[e[i] for i in places]) for e in examples]
    found = vmap(on, tuple(dims[i] for i in places))(*[batched[i] for i in places])
    return found, loop


NAMES = [name for name in operators.baseline() if not operators.UNWRITTEN.fullmatch(name.partition(".")[0])]


@pytest.mark.filterwarnings("ignore")  # of functions that warn of their arguments
@pytest.mark.parametrize("name", sorted({*NAMES} - OTHER - REFUSED - RANDOM))
def test_a_batch_is_the_loop(name):
    op = operators.database()[name]
    for sample in drawn(op, 3):
        found, loop = outcome(op, sample)
        for i, y in enumerate(found):
            for k in range(len(SCALES)):
                np.testing.assert_allclose(y[k].numpy(), loop[k][i].numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", sorted(REFUSED | RANDOM))
def test_what_is_refused(name):
    op = operators.database()[name]
    wording = "randomness error mode" if name in RANDOM else "vmap: (We do not support|It looks like)"
    texts = []
    for sample in drawn(op, 12):
        try:
            outcome(op, sample)
        except RuntimeError as error:
            texts.append(str(error))
    assert texts
    assert all(re.search(wording, text) for text in texts)


@parity
def test_filled_places_of_each_example(t):
    x = t.arange(12.0, dtype=t.float64).reshape(3, 4).requires_grad_()
    places, values = t.tensor([[0, 1], [2, 2], [3, 0]]), t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
    both = t.func.vmap(lambda row, index, value: row.index_fill(0, index, value))(x, places, values)
    one = t.func.vmap(lambda index: x.index_fill(-1, index, 5.0))(places)
    return both.detach(), one.detach(), t.autograd.grad((both**2).sum() + (one**2).sum(), (x, values))
