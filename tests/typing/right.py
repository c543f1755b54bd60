"""Programs of users, with the type that an editor must show for each expression: `reveal_type(...)  # the type`."""

from typing import Any

import numpy as np

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, nn, optim
from pullback import array_api as xp
from pullback.autograd import forward_ad, functional
from pullback import distributed
from pullback.distributions import (
    AffineTransform,
    Bernoulli,
    Categorical,
    LogNormal,
    MixtureSameFamily,
    Normal,
    TransformedDistribution,
    kl_divergence,
    register_kl,
    transform_to,
)
from pullback.utils.data import DataLoader, TensorDataset, random_split

x = pb.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
reveal_type(x)  # Tensor
reveal_type(x + 1)  # Tensor
reveal_type(2.0 * x)  # Tensor
reveal_type(x @ x)  # Tensor
reveal_type(-x)  # Tensor
reveal_type(x > 0)  # Tensor
reveal_type(x == x)  # Tensor
reveal_type(x[0])  # Tensor
reveal_type(x.sum())  # Tensor
reveal_type(x.sum(dim=0, keepdim=True))  # Tensor
reveal_type(x.sum(axis=0))  # Tensor
reveal_type(x.exp().log_softmax(-1))  # Tensor
reveal_type(x.add_(1))  # Tensor
reveal_type(x.shape)  # Size
reveal_type(x.dtype)  # dtype
reveal_type(x.ndim)  # int
reveal_type(x.stride())  # tuple[int, ...]
reveal_type(x.stride(0))  # int
reveal_type(x.type())  # str
reveal_type(x.type(pb.float64))  # Tensor
reveal_type(x.clone().detach().contiguous())  # Tensor
reveal_type(x.grad_dtype)  # dtype | None
reveal_type(x.grad)  # Tensor | None
reveal_type(x.requires_grad)  # bool
reveal_type(x.T)  # Tensor
reveal_type(x.detach().numpy())  # ndarray[Any, Any]
reveal_type(x.backward())  # None
reveal_type(x.split(1))  # tuple[Tensor, ...]
reveal_type(x.to(pb.float64))  # Tensor
reveal_type(x.topk(1).values)  # Tensor
reveal_type(x.sort().indices)  # Tensor
reveal_type(x.max())  # Tensor
reveal_type(x.max(dim=0).values)  # Tensor
reveal_type(x.min(1, keepdim=True).indices)  # Tensor
reveal_type(x.median(axis=0).values)  # Tensor
reveal_type(pb.max(x, 0).values)  # Tensor
reveal_type(pb.max(x, x))  # Tensor
reveal_type(x.item())  # int | float
reveal_type(x.tolist())  # Any
reveal_type(x.nonzero(as_tuple=True))  # tuple[Tensor, ...]
reveal_type(x.grad_fn)  # Node | None
reveal_type(pb.exp(x))  # Tensor
reveal_type(pb.exp(x, out=pb.empty(2, 2)))  # Tensor
reveal_type(pb.zeros(2, 3))  # Tensor
reveal_type(pb.arange(0, 10, 2))  # Tensor
reveal_type(pb.cat([x, x], dim=1))  # Tensor
reveal_type(pb.where(x > 0, x, 0.0))  # Tensor
reveal_type(pb.from_numpy(np.ones(3)))  # Tensor
reveal_type(pb.float32)  # dtype
reveal_type(pb.is_grad_enabled())  # bool
reveal_type(pb.linalg.inv(x))  # Tensor
reveal_type(pb.linalg.slogdet(x).logabsdet)  # Tensor
reveal_type(pb.fft.rfft(x))  # Tensor
reveal_type(pb.special.expit(x))  # Tensor
reveal_type(F.relu(x))  # Tensor
reveal_type(F.cross_entropy(x, pb.tensor([0, 1])))  # Tensor

layer = nn.Linear(2, 2)
reveal_type(layer)  # Linear
reveal_type(layer.weight)  # Parameter
reveal_type(layer.bias)  # Parameter | None
reveal_type(layer(x))  # Tensor
reveal_type(nn.Sequential(layer, nn.ReLU()))  # Sequential
reveal_type(layer.state_dict())  # dict[str, Any]
reveal_type(layer.forward(x))  # Tensor
reveal_type(layer.get_parameter("weight"))  # Parameter
reveal_type(next(layer.modules()))  # Module
reveal_type(nn.Conv2d(3, 8, kernel_size=(3, 3), padding="same"))  # Conv2d
reveal_type(nn.MaxPool2d(2, stride=(1, 2)))  # MaxPool2d
reveal_type(nn.CrossEntropyLoss(weight=x, label_smoothing=0.1))  # CrossEntropyLoss
reveal_type(nn.LazyLinear(2))  # LazyLinear
reveal_type(nn.Embedding.from_pretrained(x, freeze=False))  # Embedding
reveal_type(layer.to(pb.float64).to("cpu", pb.float32))  # Linear
reveal_type(layer.train().double())  # Linear
reveal_type(nn.Parameter(x))  # Parameter
reveal_type(nn.Sequential(layer, nn.ReLU())[0])  # Module
reveal_type(nn.Sequential(layer, nn.ReLU())[:1])  # Sequential
reveal_type(nn.ModuleDict({"first": layer})["first"])  # Module
reveal_type(nn.init.normal_(layer.weight, std=0.1))  # Tensor
reveal_type(nn.utils.clip_grad_norm_(layer.parameters(), 1.0))  # Tensor
reveal_type(nn.utils.parametrizations.weight_norm(layer))  # Linear
reveal_type(pb.masked.sum(x, 0, mask=x > 0))  # Tensor

optimizer = optim.SGD(layer.parameters(), lr=0.1)
reveal_type(optimizer)  # SGD
reveal_type(optimizer.zero_grad())  # None
reveal_type(optim.Adam(layer.parameters(), lr=1e-3, betas=(0.9, 0.99)))  # Adam
reveal_type(optim.AdamW([{"params": [x], "lr": 0.1}], weight_decay=0.1))  # AdamW
reveal_type(optim.Adam(layer.named_parameters()))  # Adam
reveal_type(optimizer.step())  # None
reveal_type(optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch))  # LambdaLR
reveal_type(optim.lr_scheduler.StepLR(optimizer, step_size=2).get_last_lr())  # list[float | Tensor]


def square(t: Tensor, scale: float = 1.0) -> Tensor:
    """A function to differentiate and to compile."""
    return (t * t * scale).sum()


def closure() -> Tensor:
    """A loss for an optimizer that computes it itself."""
    loss = square(x)
    loss.backward()
    return loss


reveal_type(optimizer.step(closure))  # Tensor
reveal_type(optim.LBFGS([x]).step(closure))  # Tensor
reveal_type(pb.compile(square)(x))  # Tensor
reveal_type(pb.func.vmap(square)(x))  # Tensor
reveal_type(pb.compile(fullgraph=True)(square)(x))  # Tensor
reveal_type(pb.func.grad(square)(x, scale=2.0))  # Tensor
reveal_type(pb.func.grad(square, argnums=(0,))(x))  # tuple[Tensor]
reveal_type(pb.func.vmap(pb.func.grad(square))(x))  # Tensor
reveal_type(pb.vmap(square)(x))  # Tensor
reveal_type(pb.func.grad_and_value(square)(x))  # tuple[Tensor, Tensor]
reveal_type(pb.func.jacrev(square)(x))  # Tensor
reveal_type(pb.func.jacfwd(square, argnums=(0,))(x))  # tuple[Tensor]
reveal_type(pb.func.hessian(square)(x))  # Tensor
reveal_type(pb.func.jvp(square, (x,), (x,)))  # tuple[Tensor, Tensor]
reveal_type(pb.func.vjp(square, x)[0])  # Tensor
reveal_type(pb.func.linearize(square, x)[1](x))  # Tensor
reveal_type(pb.func.functional_call(layer, {"weight": x}, (x,)))  # Any
reveal_type(pb.explain(square(x), lines=False))  # Explanation
reveal_type(pb.autograd.grad(square(x), x))  # tuple[Tensor, ...]
reveal_type(pb.autograd.grad(square(x), layer.parameters()))  # tuple[Tensor, ...]
reveal_type(pb.autograd.grad(square(x), x, allow_unused=True))  # tuple[Tensor | None, ...]
reveal_type(pb.autograd.grad(square(x), {"x": x}))  # dict[str, Tensor]
reveal_type(pb.grad(square(x), x))  # tuple[Tensor, ...]
reveal_type(pb.grad(square(x), {"x": x}, allow_unused=True))  # dict[str, Tensor | None]
reveal_type(pb.jacobian(2 * x, x))  # Tensor
reveal_type(pb.jacobian(2 * x, (x, x)))  # tuple[Tensor, ...]
reveal_type(pb.jacobian(2 * x, x, plan=True)[0])  # Tensor
reveal_type(pb.jacobian(2 * x, x, plan=True)[1].chunk_size)  # int
reveal_type(pb.hessian(square(x), x))  # Tensor
reveal_type(pb.hessian(square(x), layer.parameters()))  # tuple[tuple[Tensor, ...], ...]
reveal_type(pb.cond(x.sum() > 0, pb.exp, square, (x,)))  # Tensor
reveal_type(pb.fori_loop(0, 3, lambda i, t: t * i, x))  # Tensor
reveal_type(pb.checkpoint_loop(square, x, 10, slots=2))  # Tensor


Parameters = dict[str, Tensor]


def loss(params: Parameters, t: Tensor, *, scale: float = 1.0) -> Tensor:
    """A function of a dict of parameters."""
    return ((params["w"] * t) ** 2).mean() * scale


def traced(params: Parameters, t: Tensor) -> tuple[Tensor, list[float]]:
    """A function with an auxiliary result."""
    return loss(params, t), [1.0]


def total(params: Parameters) -> Tensor:
    """A function of a dict of parameters alone."""
    return params["w"].sum()


def untyped(params: Any, t: Any) -> Any:
    """A function whose arguments may be anything."""
    return loss(params, t)


params = {"w": x}
reveal_type(pb.func.grad(square)(np.ones(2)))  # Tensor
reveal_type(pb.func.jacrev(square)([1.0, 2.0]))  # Tensor
reveal_type(pb.value_and_grad(square)(np.ones(2)))  # tuple[float, Any]
reveal_type(pb.func.grad(loss)(params, x, scale=2.0))  # dict[str, Tensor]
reveal_type(pb.func.grad(loss, 1)(params, x))  # Tensor
reveal_type(pb.func.grad(loss, argnums=(0, 1))(params, x))  # tuple[dict[str, Tensor], Tensor]
reveal_type(pb.func.grad(loss, argnums=(1, 0))(params, x))  # tuple[Any, ...]
reveal_type(pb.func.grad(untyped)(params, x))  # Any
reveal_type(pb.func.hessian(untyped)(params, x))  # Any
reveal_type(pb.func.jacrev(lambda t: (t, t))(x))  # Any
reveal_type(pb.func.grad(traced, has_aux=True)(params, x))  # tuple[dict[str, Tensor], list[float]]
reveal_type(pb.func.grad_and_value(loss)(params, x))  # tuple[dict[str, Tensor], Tensor]
reveal_type(pb.func.grad_and_value(loss, 1)(params, x))  # tuple[Tensor, Tensor]
reveal_type(pb.func.jacrev(loss)(params, x))  # dict[str, Tensor]
reveal_type(pb.func.jacfwd(loss, 1)(params, x))  # Tensor
reveal_type(pb.func.hessian(loss)(params, x))  # Any
reveal_type(pb.func.grad(pb.func.grad(square))(x))  # Tensor
reveal_type(pb.value_grad_hessian(square, x))  # tuple[Tensor, Tensor, Tensor]
reveal_type(pb.value_grad_hessian(total, params))  # tuple[Tensor, dict[str, Tensor], Any]
reveal_type(Normal(0.0, 1.0).sample())  # Tensor
reveal_type(Normal(0.0, 1.0).log_prob(x))  # Tensor
normal = Normal(x, scale=1.0)
reveal_type(normal)  # Normal
reveal_type(normal.rsample((2,)))  # Tensor
reveal_type(normal.loc)  # Tensor
reveal_type(normal.mean)  # Tensor
reveal_type(normal.variance)  # Tensor
reveal_type(normal.entropy())  # Tensor
reveal_type(normal.cdf(x))  # Tensor
reveal_type(normal.batch_shape)  # Size
reveal_type(kl_divergence(normal, normal))  # Tensor
reveal_type(normal.loc)  # Tensor
reveal_type(normal.expand((3,)))  # Normal
reveal_type(normal.support)  # Constraint
reveal_type(Bernoulli(0.5).logits)  # Tensor
reveal_type(Bernoulli(0.5).support.check(x))  # Tensor
mixture = MixtureSameFamily(Categorical(pb.ones(3)), Normal(pb.zeros(3), 1.0))
reveal_type(mixture.support)  # Constraint | None
reveal_type(mixture.mixture_distribution)  # Categorical
reveal_type(LogNormal(0.0, 1.0).scale)  # Tensor
reveal_type(AffineTransform(0.0, 2.0).inv(x))  # Tensor
reveal_type(transform_to(normal.support)(x))  # Tensor
reveal_type(TransformedDistribution(normal, AffineTransform(0.0, 2.0)).transforms)  # list[Transform]


@register_kl(Normal, Bernoulli)
def _distance(p: Normal, q: Bernoulli) -> Tensor:
    return p.loc - q.probs


reveal_type(xp.asarray([1.0, 2.0]))  # Tensor
reveal_type(xp.sum(xp.ones((2, 3)), axis=(0, 1)))  # Tensor
reveal_type(xp.unique_counts(x).counts)  # Tensor
reveal_type(xp.meshgrid(x, x))  # tuple[Tensor, ...]
reveal_type(xp.finfo(x).eps)  # float
reveal_type(functional.jacobian(square, x))  # Tensor
reveal_type(functional.jacobian(square, (x,)))  # tuple[Tensor, ...]
reveal_type(functional.hessian(square, (x, x)))  # tuple[tuple[Tensor, ...], ...]
reveal_type(functional.hvp(square, x, x))  # tuple[Tensor, Tensor]
reveal_type(forward_ad.unpack_dual(x).tangent)  # Tensor | None
reveal_type(pb.checkpoint_loop(square, x, 10, 2))  # Tensor
reveal_type(pb.sparse_jacobian(square, x).rows)  # ndarray[Any, Any]
fit = distributed.total(lambda p, t: (p["slope"] * t).sum(), [(1.0,)], {"slope": x})
reveal_type(fit({"slope": x}))  # tuple[float, dict[str, Tensor]]
reveal_type(distributed.all_reduce([x, x]))  # list[Tensor]
reveal_type(DataLoader(TensorDataset(x, x), batch_size=2))  # DataLoader[tuple[Tensor, ...]]
reveal_type(DataLoader([1.0, 2.0], shuffle=True))  # DataLoader[float]
reveal_type(random_split(TensorDataset(x, x), [1, 1])[0])  # Subset[tuple[Tensor, ...]]
reveal_type(TensorDataset(x, x))  # TensorDataset


@pb.no_grad()
def halved(t: Tensor, *, times: int = 1) -> Tensor:
    """A decorated function keeps its signature."""
    return t / times


reveal_type(halved(x, times=2))  # Tensor


class Model(nn.Module):
    """A model as users write it: `forward` has its own arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)

    def forward(self, t: Tensor, *, twice: bool = False) -> Tensor:
        """Apply the layer, once or twice."""
        out = self.first(t)
        return F.relu(self.first(out) if twice else out)


model = Model()
reveal_type(model.first)  # Linear
reveal_type(model.forward(x))  # Tensor
with pb.no_grad():
    reveal_type(model(x, twice=True))  # Tensor
for name, parameter in model.named_parameters():
    reveal_type(name)  # str
    reveal_type(parameter)  # Parameter
