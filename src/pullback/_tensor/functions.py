"""The operations as functions of the package: `pullback.exp(t)` is `t.exp()`.

Each function refuses, by name, a first argument that is no tensor; the hottest are those of Tensor, where the short way
stands in front of them.
"""

from __future__ import annotations

from typing import Any

from .. import vocabulary
from .._core.values import require_tensor
from .._tape import shortcuts
from ..vocabulary import arithmetic, of_pair, of_tensor, of_tensors, products, reductions, shapes, short_way, taking_out
from ..vocabulary.products import einsum as einsum
from .tensor import HOT, Tensor


def _hot(name: str) -> Any:
    """The function that has the short way of the method of that name."""
    return shortcuts.method(
        Tensor,
        HOT[name],
        (of_tensors if len(HOT[name].inputs) == 2 else of_tensor)(getattr(arithmetic, name)),
        out=True,
    )


# Elementwise
abs = _hot("abs")
cos = _hot("cos")
exp = _hot("exp")
log = _hot("log")
maximum = _hot("maximum")
minimum = _hot("minimum")
mul = _hot("mul")
neg = _hot("neg")
reciprocal = _hot("reciprocal")
relu = Tensor.relu
sigmoid = _hot("sigmoid")
sin = _hot("sin")
sqrt = _hot("sqrt")
square = _hot("square")
tanh = _hot("tanh")
add = short_way(of_tensors(arithmetic.add))
bitwise_and = of_tensors(arithmetic.bitwise_and)
bitwise_not = of_tensor(arithmetic.bitwise_not)
bitwise_or = of_tensors(arithmetic.bitwise_or)
bitwise_xor = of_tensors(arithmetic.bitwise_xor)
ceil = short_way(of_tensor(arithmetic.ceil))
clamp = of_tensor(arithmetic.clamp)
cosh = short_way(of_tensor(arithmetic.cosh))
div = short_way(of_tensors(arithmetic.div))
eq = of_tensor(arithmetic.eq)
expm1 = short_way(of_tensor(arithmetic.expm1))
floor = short_way(of_tensor(arithmetic.floor))
floor_divide = short_way(of_tensors(arithmetic.floor_divide))
ge = of_tensor(arithmetic.ge)
gt = of_tensor(arithmetic.gt)
isfinite = of_tensor(arithmetic.isfinite)
isinf = of_tensor(arithmetic.isinf)
isnan = of_tensor(arithmetic.isnan)
le = of_tensor(arithmetic.le)
log1p = short_way(of_tensor(arithmetic.log1p))
logical_and = of_pair(arithmetic.logical_and)
logical_not = of_tensor(arithmetic.logical_not)
logical_or = of_pair(arithmetic.logical_or)
logical_xor = of_pair(arithmetic.logical_xor)
lt = of_tensor(arithmetic.lt)
ne = of_tensor(arithmetic.ne)
nonzero = of_tensor(arithmetic.nonzero)
pow = of_tensors(arithmetic.pow)
remainder = short_way(of_tensors(arithmetic.remainder))
round = short_way(of_tensor(arithmetic.round))
rsqrt = short_way(of_tensor(arithmetic.rsqrt))
rsub = of_tensor(arithmetic.rsub)
sign = short_way(of_tensor(arithmetic.sign))
sinh = short_way(of_tensor(arithmetic.sinh))
sub = short_way(of_tensors(arithmetic.sub))
tan = short_way(of_tensor(arithmetic.tan))
trunc = short_way(of_tensor(arithmetic.trunc))
where = short_way(taking_out(arithmetic.where))

# Reductions
all = of_tensor(reductions.all)
amax = of_tensor(reductions.amax)
amin = of_tensor(reductions.amin)
any = of_tensor(reductions.any)
argmax = of_tensor(reductions.argmax)
argmin = of_tensor(reductions.argmin)
cumsum = of_tensor(reductions.cumsum)
log_softmax = of_tensor(reductions.log_softmax)
logsumexp = of_tensor(reductions.logsumexp)
max = of_tensor(reductions.max)
mean = of_tensor(reductions.mean)
min = of_tensor(reductions.min)
norm = of_tensor(reductions.norm)
softmax = of_tensor(reductions.softmax)
std = of_tensor(reductions.std)
sum = of_tensor(reductions.sum)
var = of_tensor(reductions.var)

# Shapes
broadcast_to = of_tensor(shapes.broadcast_to)
cat = taking_out(shapes.cat)
chunk = of_tensor(shapes.chunk)
flatten = of_tensor(shapes.flatten)
flip = of_tensor(shapes.flip)
movedim = of_tensor(shapes.movedim)
permute = of_tensor(shapes.permute)
ravel = of_tensor(shapes.ravel)
reshape = of_tensor(shapes.reshape)
split = of_tensor(shapes.split)
squeeze = of_tensor(shapes.squeeze)
stack = taking_out(shapes.stack)
t = of_tensor(shapes.t)
transpose = of_tensor(shapes.transpose)
unbind = of_tensor(shapes.unbind)
unsqueeze = of_tensor(shapes.unsqueeze)

# Products
bmm = of_tensors(products.bmm)
dot = short_way(of_tensors(products.dot))
matmul = of_tensors(products.matmul)
mm = of_tensors(products.mm)
mv = of_tensors(products.mv)
outer = of_tensors(products.outer)

# Other names of the same functions
absolute = abs
clip = clamp
concat = cat
divide = true_divide = div
multiply = mul
negative = neg
subtract = sub


@of_tensor
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A recorded copy."""
    return input.clone(memory_format=memory_format)


@of_tensor
def numel(input: Any) -> int:
    """The number of elements."""
    return int(input.numel())


@of_tensor
def zero_(input: Any) -> Any:
    """In place: zeros."""
    return input.zero_()


@of_tensor
def is_floating_point(input: Any) -> bool:
    """Whether the elements are real floating-point numbers."""
    return bool(input.is_floating_point())


@of_tensor
def is_complex(input: Any) -> bool:
    """Whether the elements are complex numbers."""
    return bool(input.is_complex())


@of_tensor
def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    require_tensor("equal", "other", other, 2)
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all())


@of_tensor
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether two tensors agree within atol + rtol * abs(other), everywhere."""
    require_tensor("allclose", "other", other, 2)
    return bool(vocabulary.load("vocabulary.bits", "isclose")(input, other, rtol, atol, equal_nan).all())


for _name, _each in [*globals().items()]:
    if hasattr(_each, "__wrapped__"):
        vocabulary.published(_each, "pullback", _name)
