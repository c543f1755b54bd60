"""Random programs, with views, writes in place and reductions: compiled, they give what they give uncompiled.

PULLBACK_FUZZ says how many; PULLBACK_FUZZ=3000 scripts/test tests/compile/test_fuzz.py runs a few thousand.
"""

import os

import numpy as np
import pytest

import pullback
from pullback.compile import Compiled

COUNT = int(os.environ.get("PULLBACK_FUZZ", "60"))
SHAPES = [(), (3,), (2, 3), (1, 3), (2, 1), (4, 2, 3), (0, 3)]

UNARY = [
    "exp", "sin", "cos", "tanh", "sigmoid", "relu", "abs", "square", "neg", "sqrt", "log", "reciprocal", "sign",
    "floor", "expm1", "erf", "softmax", "cumsum", "clone", "detach", "contiguous",
]  # fmt: skip
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "atan2", "where", "greater", "remainder"]
REDUCTIONS = ["sum", "mean", "max", "min", "amax", "logsumexp", "prod", "var", "norm", "argmax", "any"]
VIEWS = ["t", "slice", "index", "unsqueeze", "flatten", "expand", "flip", "step", "view_as", "diagonal", "unbind"]
WRITES = ["add_", "mul_", "assign", "assign_part", "sub_scalar_", "relu_", "zero_", "copy_", "masked_fill_", "iadd"]
JOINS = ["cat", "stack", "matmul", "outer", "gather", "take", "pad"]


class Draw:
    """A random program: decisions drawn once, so that every run of it does the same."""

    def __init__(self, seed, shapes=SHAPES):
        rng = np.random.default_rng(seed)
        self.inputs = [rng.uniform(-2, 2, shapes[rng.integers(len(shapes))]) for _ in range(rng.integers(1, 4))]
        kinds = rng.choice(["unary", "binary", "reduction", "view", "write", "join"], rng.integers(3, 18),
                           p=[0.22, 0.25, 0.13, 0.16, 0.16, 0.08])  # fmt: skip
        self.steps = [(kind, rng.integers(1 << 30)) for kind in kinds]
        self.values = rng.uniform(-2, 2, 5).tolist()

    def __call__(self, *inputs):
        """All results, and the gradients of the inputs."""
        pool = [x * 1.0 if i % 2 else x for i, x in enumerate(inputs)]
        for kind, number in self.steps:
            rng = np.random.default_rng(number)
            x = pool[rng.integers(len(pool))]
            made = getattr(self, f"_{kind}")(rng, x, pool)
            if made is not None:
                pool.append(made)
        results = [x for x in pool[len(inputs) :] if x.is_floating_point()]
        total = sum((r.sum() for r in results), inputs[0].sum() * 0)
        grads = pullback.autograd.grad(total, inputs, allow_unused=True, materialize_grads=True)
        return [x.detach() for x in pool], list(grads)

    def _unary(self, rng, x, pool):
        name = UNARY[rng.integers(len(UNARY))]
        if name in ("log", "sqrt", "reciprocal"):
            x = x.abs() + 0.5
        if name == "exp":
            x = x.clamp(max=3.0)
        if name in ("softmax", "cumsum"):
            return getattr(x, name)(-1) if x.ndim else None
        return getattr(x, name)() if hasattr(x, name) else getattr(pullback, name)(x)

    def _binary(self, rng, x, pool):
        name = BINARY[rng.integers(len(BINARY))]
        y = pool[rng.integers(len(pool))]
        try:
            pullback.broadcast_shapes(x.shape, y.shape)
        except RuntimeError:
            y = self.values[rng.integers(5)]
        if name == "pow":
            return (x.abs() + 0.5) ** (y.clamp(-2, 2) if isinstance(y, pullback.Tensor) else y)
        if name == "div":
            return x / (y * y + 0.5)
        if name == "where":
            return pullback.where(x > 0, x, y * 2)
        if name == "greater":
            return (x > y) * x
        if name == "remainder":
            return pullback.remainder(x, 0.75)
        if name in ("maximum", "minimum", "atan2") and not isinstance(y, pullback.Tensor):
            y = pullback.full_like(x, y)
        return getattr(pullback, name)(x, y)

    def _reduction(self, rng, x, pool):
        name = REDUCTIONS[rng.integers(len(REDUCTIONS))]
        if not x.ndim or not x.numel():
            return x.sum()
        dim, keep = int(rng.integers(x.ndim)), bool(rng.integers(2))
        if name in ("max", "min"):
            return getattr(x, name)(dim, keep)[0]
        if name == "argmax":
            return x.argmax(dim, keep) * 1.0
        if name == "any":
            return (x > 0).any(dim, keep) * 1.0
        if name == "norm":
            return (x.abs() + 0.1).norm(dim=dim, keepdim=keep)
        if name == "var":
            return x.var(dim, unbiased=False, keepdim=keep)
        return getattr(x, name)(dim, keep)

    def _view(self, rng, x, pool):
        name = VIEWS[rng.integers(len(VIEWS))]
        if name == "unsqueeze":
            return x.unsqueeze(int(rng.integers(x.ndim + 1)))
        if name == "expand":
            return x.unsqueeze(0).expand(2, *x.shape)
        if not x.ndim:
            return x.view(1)
        if name == "t":
            return x.transpose(0, -1)
        if name == "flatten":
            return x.flatten()
        if name == "flip":
            return x.flip(0)
        if name == "view_as":
            return x.reshape(-1)
        if name == "step":
            return x[..., ::2]
        if name == "index":
            return x[0] if len(x) else x
        if name == "unbind":
            return x.unbind(-1)[-1] if x.shape[-1] else None
        if name == "diagonal":
            return x.diagonal(0, 0, -1) if x.ndim > 1 else None
        return x[..., : max(1, x.shape[-1] - 1)]

    def _write(self, rng, x, pool):
        name = WRITES[rng.integers(len(WRITES))]
        leaf = x if x._base is None else x._base
        if (leaf.is_leaf and leaf.requires_grad) or not x.is_floating_point():
            return
        if 0 in x.stride() and x.numel() > 1:
            return
        value = self.values[rng.integers(5)]
        if name == "assign":
            x[...] = value
        elif name == "assign_part" and x.ndim and len(x):
            x[0] = x[-1] * value
        elif name == "relu_":
            x.relu_()
        elif name == "zero_":
            x.zero_()
        elif name == "copy_":
            x.copy_(x * value)
        elif name == "masked_fill_":
            x.masked_fill_(x > 0.5, value)
        elif name == "iadd":
            x += value
        elif name == "sub_scalar_":
            x.sub_(value)
        elif name in ("add_", "mul_"):
            getattr(x, name)(x.detach() * 0.5)

    def _join(self, rng, x, pool):
        name = JOINS[rng.integers(len(JOINS))]
        if name == "outer":
            return pullback.outer(x.reshape(-1)[:3], x.reshape(-1)[:2])
        if name == "matmul":
            return x @ x.transpose(-1, -2) if x.ndim > 1 else None
        if name == "stack":
            return pullback.stack([x, x * 2])
        if not x.ndim or not len(x):
            return None
        if name == "gather":
            return x.gather(0, (x.detach() > 0).long() * (len(x) - 1))
        if name == "take":
            return x[pullback.tensor([0, len(x) - 1, 0])]
        if name == "pad":
            return pullback.nn.functional.pad(x, (1, 2))
        return pullback.cat([x, x], 0)


def agree(left, right, exact):
    """Doubles may come from singles, and are then as good as those."""
    tolerance = 1e-5 if any(each.dtype == pullback.float32 for each in left) else 1e-10
    for a, b in zip(left, right, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if exact:  # NumPy's own functions round by layout in the last bit
            np.testing.assert_array_almost_equal_nulp(a.numpy(), b.numpy(), 4)
        else:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_random_program(seed):
    program = Draw(seed)
    functions = [Compiled(program, fuse=False), Compiled(program, fuse=True)]
    for turn in range(2):
        results = []
        for function in (program, *functions):
            inputs = [pullback.tensor(x * (1 + 0.25 * turn), requires_grad=True) for x in program.inputs]
            results.append((function(*inputs), inputs))
        (values, grads), _ = results[0]
        for ((others, found), _), exact in zip(results[1:], (True, False), strict=True):
            agree([*values, *grads], [*others, *found], exact)
    for compiled in functions:
        assert not [reason for reason in compiled.refused.values() if "fails where" in reason]
