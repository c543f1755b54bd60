"""vmap of every public operator is the loop over the examples, on the samples of torch's own database."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to take samples from")
pytest.importorskip("expecttest", reason="torch's database of operators needs the package expecttest")

import pullback  # noqa: E402
from pullback._trees import flatten, unflatten  # noqa: E402
from pullback.func import vmap  # noqa: E402

from . import operators  # noqa: E402

# Results whose shapes depend on the values, or that are Python numbers: each example has its own.
REFUSED = set()
SCALES = (1.0, 0.97)  # the examples: a sample, and one beside it, within the same domain


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
        pytest.skip("no real numbers")
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


@pytest.mark.parametrize("name", operators.baseline())
def test_a_batch_is_the_loop(name):
    op = operators.database()[name]
    for sample in operators.drawn(op, operators.dtype_for(op, None), tracked=False, count=2):
        found, loop = outcome(op, sample)
        for i, y in enumerate(found):
            for k in range(len(SCALES)):
                np.testing.assert_allclose(y[k].numpy(), loop[k][i].numpy(), rtol=1e-9, atol=1e-10)
