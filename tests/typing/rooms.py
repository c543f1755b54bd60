"""Programs of users of many rooms, with the type that an editor must show, as in `right`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, array_api as xp, fft, func, linalg, masked, nn, observe, optim, program, signal, special
from pullback.autograd import Function
from pullback.autograd.function import FunctionCtx
from pullback.distributions import (
    Beta, Categorical, ComposeTransform, Dirichlet, Distribution, ExpTransform, Gamma, HalfNormal, Independent, Laplace,
    MultivariateNormal, Normal, Poisson, StudentT, Uniform, biject_to, constraints,
)
from pullback.nn.utils import parameters_to_vector, parametrizations, parametrize, prune, rnn, vector_to_parameters
from pullback.optim.lr_scheduler import OneCycleLR
from pullback.utils import checkpoint
from pullback.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, Subset, TensorDataset

x = pb.ones(2, 2, requires_grad=True)
v = pb.ones(2)

# tensors
reveal_type(x.numel())  # int
reveal_type(x.size())  # Size
reveal_type(x.size(0))  # int
reveal_type(x.shape[0])  # int
reveal_type(len(x))  # int
reveal_type(float(x.sum()))  # float
reveal_type(x.is_leaf)  # bool
reveal_type(x.device)  # device
reveal_type(x.mT)  # Tensor
reveal_type(x[:, None, ...])  # Tensor
reveal_type(x[x > 0])  # Tensor
reveal_type(pb.var_mean(x))  # tuple[Tensor, Tensor]
reveal_type(x.unbind(0))  # tuple[Tensor, ...]
reveal_type(x.chunk(2))  # tuple[Tensor, ...]
reveal_type(pb.split(x, [1, 1]))  # tuple[Tensor, ...]
reveal_type(x.unique())  # Tensor
reveal_type(x.unique(return_counts=True))  # tuple[Tensor, Tensor]
reveal_type(pb.unique(x, return_inverse=True, return_counts=True))  # tuple[Tensor, Tensor, Tensor]
reveal_type(nn.BatchNorm2d(2).weight)  # Parameter | None
reveal_type(nn.ReLU().forward(x))  # Tensor
reveal_type(pb.kthvalue(v, 1).values)  # Tensor
reveal_type(x.cummax(0).indices)  # Tensor
reveal_type(pb.histogram(v, 4).hist)  # Tensor
reveal_type(pb.meshgrid(v, v, indexing="ij"))  # tuple[Tensor, ...]
reveal_type(pb.broadcast_tensors(x, v))  # tuple[Tensor, ...]
reveal_type(pb.einsum("ij,j->i", x, v))  # Tensor
reveal_type(pb.allclose(x, x))  # bool
reveal_type(pb.equal(x, x))  # bool

reveal_type(pb.promote_types(pb.float32, pb.int64))  # dtype
reveal_type(pb.finfo(pb.float32).eps)  # float
reveal_type(pb.iinfo(pb.int8).max)  # int
reveal_type(pb.get_default_dtype())  # dtype
reveal_type(pb.Generator().manual_seed(3))  # Generator
reveal_type(pb.randn(2, 3, generator=pb.Generator()))  # Tensor
reveal_type(pb.randn((2, 3)))  # Tensor
reveal_type(pb.randint(0, 3, (2,)))  # Tensor
reveal_type(pb.load("file"))  # Any
reveal_type(x.register_hook(lambda g: g * 2))  # RemovableHandle
reveal_type(x.retain_grad())  # None
reveal_type(x.requires_grad_().detach_())  # Tensor
reveal_type(x.new_zeros(2))  # Tensor
reveal_type(x.view(-1))  # Tensor
reveal_type(x.view(pb.int32))  # Tensor
reveal_type(x.expand(3, -1, -1))  # Tensor
reveal_type(x.permute(1, 0).flatten(0).unsqueeze(-1))  # Tensor
reveal_type([row for row in x])  # list[Tensor]
reveal_type(1 - x)  # Tensor
reveal_type(x**2)  # Tensor
reveal_type(x // 2 % 3)  # Tensor
reveal_type(~(x > 0) & (x < 1))  # Tensor
reveal_type(abs(x))  # Tensor
reveal_type(np.asarray(x.detach()))  # ndarray[Any, Any]
reveal_type(pb.as_tensor(np.ones(2)))  # Tensor
reveal_type(pb.tensor(3).tolist())  # Any
reveal_type(pb.stack((x, x)).movedim(0, -1))  # Tensor
reveal_type(pb.no_grad())  # no_grad
reveal_type(pb.zeros_like(x, dtype=pb.float64))  # Tensor
reveal_type(pb.std(x, dim=0, correction=0))  # Tensor
reveal_type(pb.std_mean(x, dim=0))  # tuple[Tensor, Tensor]
reveal_type(pb.topk(x, 1).indices)  # Tensor
reveal_type(pb.aminmax(x).min)  # Tensor
reveal_type(pb.frexp(x).mantissa)  # Tensor
reveal_type(x.mode().values)  # Tensor
reveal_type(x.argmax())  # Tensor
reveal_type(x.any())  # Tensor

# more of tensors, and of all rooms
z = pb.complex(x, x)
reveal_type(z)  # Tensor
reveal_type(z.real)  # Tensor
reveal_type(z.conj().abs())  # Tensor
reveal_type(pb.view_as_real(z))  # Tensor
reveal_type(x.masked_fill(x > 0, 0.0))  # Tensor
reveal_type(x.scatter_add(0, pb.tensor([[0]]), x))  # Tensor
reveal_type(x.index_select(0, pb.tensor([0])))  # Tensor
reveal_type(x.gather(1, pb.tensor([[0]])))  # Tensor
reveal_type(x.copy_(x))  # Tensor
reveal_type(x.cumsum(dim=0))  # Tensor
reveal_type(x.norm(p=2))  # Tensor
reveal_type(x.repeat_interleave(2))  # Tensor
reveal_type(x.detach().cpu().numpy().tolist())  # Any
reveal_type(x.element_size())  # int
reveal_type(x.is_floating_point())  # bool
reveal_type(x.data_ptr())  # int
reveal_type(x.data)  # Tensor
reveal_type(x.storage_offset())  # int
reveal_type(x.dim())  # int
reveal_type(x.is_contiguous())  # bool
reveal_type(x.logical_not())  # Tensor
reveal_type(x.equal(x))  # bool
reveal_type(x.allclose(x))  # bool
reveal_type(x.isnan().all().item())  # int | float
reveal_type(x.lerp(x, 0.5))  # Tensor
reveal_type(x.clamp(min=0.0, max=1.0))  # Tensor
reveal_type(x.quantile(0.5))  # Tensor
reveal_type(x.histc(3))  # Tensor
reveal_type(x.int())  # Tensor
reveal_type(x.square().sqrt_())  # Tensor
reveal_type(pb.addmm(x, x, x, beta=0.5))  # Tensor
reveal_type(pb.bmm(x[None], x[None]))  # Tensor
reveal_type(pb.outer(v, v))  # Tensor
reveal_type(pb.triu(x, diagonal=1))  # Tensor
reveal_type(pb.searchsorted(v, v))  # Tensor
reveal_type(pb.bincount(pb.tensor([0])))  # Tensor
reveal_type(pb.cdist(x, x))  # Tensor
reveal_type(pb.logspace(0, 1, 3))  # Tensor
reveal_type(pb.full((2,), 3.0))  # Tensor
reveal_type(pb.eye(2))  # Tensor
reveal_type(pb.normal(0.0, 1.0, (2,)))  # Tensor
reveal_type(pb.randperm(3))  # Tensor
reveal_type(pb.multinomial(v, 1))  # Tensor
reveal_type(pb.initial_seed())  # int
reveal_type(pb.get_rng_state())  # dict[str, Any]
reveal_type(pb.result_type(x, 1.0))  # dtype
reveal_type(pb.can_cast(pb.int8, pb.float32))  # bool
reveal_type(pb.cartesian_prod(v, v))  # Tensor
reveal_type(pb.combinations(v))  # Tensor
reveal_type(pb.block_diag(x, x))  # Tensor
reveal_type(pb.nonzero(x))  # Tensor
reveal_type(pb.vmap(F.relu)(x))  # Tensor
reveal_type(nn.utils.clip_grad_value_([x], 1.0))  # None
reveal_type(nn.utils.get_total_norm([x]))  # Tensor
reveal_type(nn.Identity().forward(x))  # Tensor
reveal_type(nn.ParameterList([nn.Parameter(x)])[0])  # Any
reveal_type(nn.ModuleDict({"a": nn.ReLU()}).keys())  # KeysView[str]
reveal_type(nn.Sequential(nn.ReLU())[0:1])  # Sequential
reveal_type(list(nn.Linear(2, 2).buffers()))  # list[Tensor]
reveal_type(dict(nn.Linear(2, 2).named_parameters()))  # dict[str, Parameter]
reveal_type(nn.Linear(2, 2).apply(lambda m: None))  # Linear
reveal_type(nn.Linear(2, 2).requires_grad_(False))  # Linear
reveal_type(nn.Linear(2, 2).training)  # bool
reveal_type(nn.Linear(2, 2).in_features)  # int
reveal_type(nn.Conv2d(1, 1, 3).weight)  # Parameter
reveal_type(nn.Conv2d(1, 1, 3).kernel_size)  # tuple[int, ...]
reveal_type(nn.Conv2d(1, 1, 3).forward(x))  # Tensor
reveal_type(nn.Dropout(0.1).p)  # float
reveal_type(nn.LayerNorm(2).weight)  # Parameter | None
reveal_type(nn.GroupNorm(1, 2).forward(x))  # Tensor
reveal_type(nn.BatchNorm2d(2).forward(x))  # Tensor
reveal_type(nn.MaxPool2d(2).forward(x))  # Any
reveal_type(nn.AdaptiveAvgPool2d(1).forward(x))  # Tensor
reveal_type(nn.Embedding(3, 2).forward(x))  # Tensor
reveal_type(nn.Bilinear(2, 2, 2).forward(x, x))  # Tensor
reveal_type(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2).forward(x))  # Tensor
reveal_type(nn.Flatten().forward(x))  # Tensor
reveal_type(nn.CrossEntropyLoss().forward(x, v))  # Tensor
reveal_type(nn.CrossEntropyLoss().weight)  # Tensor | None
reveal_type(nn.LSTMCell(2, 2).forward(x))  # tuple[Tensor, Tensor]
reveal_type(nn.Softmax(dim=-1).forward(x))  # Tensor
reveal_type(nn.PReLU().forward(x))  # Tensor
reveal_type(parametrizations.orthogonal(nn.Linear(2, 2)))  # Linear
reveal_type(prune.l1_unstructured(nn.Linear(2, 2), "weight", 0.5))  # Linear
reveal_type(OneCycleLR(optim.SGD([x]), max_lr=0.1, total_steps=3).last_epoch)  # int
reveal_type(optim.SGD([x]).state[x])  # dict[str, Any]
reveal_type(optim.SGD([x]).defaults)  # dict[str, Any]
reveal_type(optim.lr_scheduler.StepLR(optim.SGD([x]), 3).optimizer)  # Optimizer
reveal_type(optim.swa_utils.update_bn([x], nn.ReLU()))  # None
reveal_type(BatchSampler(range(3), 2, drop_last=False))  # BatchSampler[int]
reveal_type(DataLoader(range(3)))  # DataLoader[int]
reveal_type(Laplace(0.0, 1.0).rsample())  # Tensor
reveal_type(StudentT(3.0).variance)  # Tensor
reveal_type(HalfNormal(1.0).mean)  # Tensor
reveal_type(ExpTransform().log_abs_det_jacobian(v, v))  # Tensor
reveal_type(biject_to(constraints.simplex).inv)  # Transform
reveal_type(ComposeTransform([ExpTransform()])(v))  # Tensor
reveal_type(masked.softmax(x, 0, mask=x > 0))  # Tensor
reveal_type(pb.autograd.graph.save_on_cpu())  # save_on_cpu
reveal_type(pb.set_grad_enabled(False))  # set_grad_enabled
reveal_type(pb.is_anomaly_enabled())  # bool

# linalg, fft, special, signal, masked
reveal_type(linalg.svd(x).S)  # Tensor
reveal_type(linalg.eigh(x).eigenvectors)  # Tensor
reveal_type(linalg.qr(x).Q)  # Tensor
reveal_type(linalg.lstsq(x, x).solution)  # Tensor
reveal_type(linalg.norm(x, ord="fro"))  # Tensor
reveal_type(linalg.cond(x, p=2))  # Tensor
reveal_type(linalg.matrix_rank(x))  # Tensor
reveal_type(linalg.multi_dot([x, x]))  # Tensor
reveal_type(linalg.lu_factor(x).LU)  # Tensor
reveal_type(fft.fftn(x, dim=(0, 1), norm="ortho"))  # Tensor
reveal_type(fft.irfft(fft.rfft(v), n=2))  # Tensor
reveal_type(fft.fftfreq(8, d=0.5))  # Tensor
reveal_type(special.logsumexp(x, 0))  # Tensor
reveal_type(special.xlogy(x, 2.0))  # Tensor
reveal_type(special.polygamma(1, x))  # Tensor
reveal_type(signal.windows.hann(8))  # Tensor
reveal_type(masked.mean(x, dim=1, mask=x > 0))  # Tensor

# nn
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Dropout(0.5))
reveal_type(net.eval())  # Sequential
reveal_type(net.append(nn.ReLU()))  # Sequential
reveal_type(len(net))  # int
reveal_type(nn.ModuleList([nn.Linear(2, 2)])[0])  # Module
reveal_type([name for name, _ in net.named_modules()])  # list[str]
reveal_type(nn.LSTM(2, 3)(x))  # tuple[Tensor, tuple[Tensor, Tensor]]
reveal_type(nn.LSTM(2, 3).forward(x))  # tuple[Tensor, tuple[Tensor, Tensor]]
reveal_type(nn.GRU(2, 3).forward(x))  # tuple[Tensor, Tensor]
reveal_type(nn.MultiheadAttention(2, 1).forward(x, x, x))  # tuple[Tensor, Tensor | None]
reveal_type(nn.Embedding(3, 2).weight)  # Parameter
reveal_type(nn.BatchNorm1d(2).running_mean)  # Tensor | None
reveal_type(nn.LayerNorm([2, 2]).forward(x))  # Tensor
reveal_type(nn.Linear(2, 2).weight.grad)  # Tensor | None
reveal_type(nn.MSELoss(reduction="sum").forward(x, x))  # Tensor
reveal_type(net.register_forward_hook(lambda module, given, out: None))  # Handle
reveal_type(net.load_state_dict(net.state_dict()).missing_keys)  # list[str]
reveal_type(net.zero_grad())  # None
reveal_type(nn.Transformer(4, 2).forward(x, x))  # Tensor
reveal_type(F.max_pool2d(x, 2))  # Tensor
reveal_type(F.softmax(x, dim=-1))  # Tensor
reveal_type(F.scaled_dot_product_attention(x, x, x, is_causal=True))  # Tensor
reveal_type(F.one_hot(pb.tensor([0, 1]), 3))  # Tensor
reveal_type(F.pad(x, (1, 1), value=0.0))  # Tensor
reveal_type(F.interpolate(x, scale_factor=2.0))  # Tensor
reveal_type(parameters_to_vector(net.parameters()))  # Tensor
reveal_type(vector_to_parameters(v, net.parameters()))  # None
reveal_type(rnn.pad_sequence([v, v], batch_first=True))  # Tensor
reveal_type(rnn.pack_padded_sequence(x, pb.tensor([2, 1])).batch_sizes)  # Tensor
reveal_type(parametrize.is_parametrized(net))  # bool
reveal_type(nn.init.xavier_uniform_(x, gain=nn.init.calculate_gain("relu")))  # Tensor

# optim
adam = optim.Adam([x], lr=1e-3)
reveal_type(adam.param_groups[0]["lr"])  # Any
reveal_type(adam.state_dict())  # dict[str, Any]
reveal_type(adam.add_param_group({"params": [v]}))  # None
reveal_type(optim.lr_scheduler.ReduceLROnPlateau(adam, patience=3).step(1.0))  # None
reveal_type(optim.lr_scheduler.CosineAnnealingLR(adam, T_max=10))  # CosineAnnealingLR
reveal_type(optim.lr_scheduler.SequentialLR(adam, [optim.lr_scheduler.ConstantLR(adam)], [3]))  # SequentialLR
reveal_type(optim.swa_utils.AveragedModel(net).module)  # Module
reveal_type(optim.RMSprop([x], alpha=0.9, centered=True))  # RMSprop

def times(a: Tensor, b: Tensor) -> Tensor:
    """A product."""
    return a * b


# func, compile, vmap, autograd
reveal_type(func.vmap(times, in_dims=(0, None))(x, v))  # Tensor
reveal_type(func.jacfwd(func.jacrev(pb.sin))(v))  # Tensor
reveal_type(func.functionalize(pb.exp)(x))  # Tensor
reveal_type(func.stack_module_state([net, net])[0])  # dict[str, Tensor]
reveal_type(pb.compile(net))  # Sequential
reveal_type(pb.compile(pb.exp)(x))  # Tensor
reveal_type(pb.autograd.backward(x.sum()))  # None
reveal_type(pb.autograd.gradcheck(pb.exp, (x,)))  # bool
reveal_type(pb.autograd.functional.jvp(pb.exp, x, x))  # tuple[Tensor, Tensor]
reveal_type(checkpoint.checkpoint(pb.exp, x, use_reentrant=False))  # Tensor
reveal_type(pb.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (pb.tensor(0), x)))  # tuple[Tensor, Tensor]
with pb.enable_grad(), pb.autograd.detect_anomaly():
    reveal_type(x @ x)  # Tensor
with pb.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    pass


class Cube(Function):
    """An operation with a derivative by hand."""

    @staticmethod
    def forward(ctx: FunctionCtx, t: Tensor) -> Tensor:
        """The cube."""
        ctx.save_for_backward(t)
        return t**3

    @staticmethod
    def backward(ctx: FunctionCtx, g: Tensor) -> Tensor:
        """Three squares."""
        (t,) = ctx.saved_tensors
        reveal_type(t)  # Tensor
        return 3 * t**2 * g


reveal_type(Cube.apply(x))  # Any

# distributions
reveal_type(Gamma(1.0, v).rsample())  # Tensor
reveal_type(MultivariateNormal(v, covariance_matrix=x).precision_matrix)  # Tensor
reveal_type(Independent(Normal(v, 1.0), 1).base_dist)  # Distribution
reveal_type(Independent(Normal(v, 1.0), 1).log_prob(v))  # Tensor
reveal_type(Beta(1.0, 1.0).concentration0)  # Tensor
reveal_type(Dirichlet(v).event_shape)  # Size
reveal_type(Categorical(logits=v).probs)  # Tensor
reveal_type(Uniform(0.0, 1.0).icdf(v))  # Tensor
reveal_type(Poisson(v).rate)  # Tensor
reveal_type(constraints.positive.check(v))  # Tensor

# data
class Squares(Dataset[tuple[Tensor, int]]):
    """A data set as users write it."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: int) -> tuple[Tensor, int]:
        return pb.ones(2) * place, place


class Stream(IterableDataset[Tensor]):
    """A stream as users write it."""

    def __iter__(self) -> Iterator[Tensor]:
        yield pb.ones(2)


reveal_type(Squares()[0])  # tuple[Tensor, int]
for batch, labels in DataLoader(TensorDataset(x, v), batch_size=2):
    reveal_type(batch)  # Any
reveal_type(next(iter(DataLoader(Stream(), batch_size=None))))  # Any
reveal_type(len(DataLoader(Squares(), shuffle=True, drop_last=True)))  # int
reveal_type(Subset(Squares(), [0])[0])  # tuple[Tensor, int]
reveal_type(Squares() + Squares())  # ConcatDataset[tuple[Tensor, int]]
reveal_type(list(RandomSampler(Squares())))  # list[int]

# array_api, interop, observe, program, testing
reveal_type(xp.linalg.svd(x).U)  # Tensor
reveal_type(xp.max(x, axis=0))  # Tensor
reveal_type(xp.where(x > 0, x, x))  # Tensor
reveal_type(xp.isdtype(pb.float32, "real floating"))  # bool
reveal_type(xp.result_type(x, pb.float64))  # dtype
reveal_type(observe.node(x))  # Node | None
reveal_type(program.record(pb.exp, x).program)  # Program
reveal_type(program.simplify(program.record(pb.exp, x).program).equations)  # tuple[Equation, ...]
reveal_type(pb.save({"x": x}, Path("file")))  # None
reveal_type(pb.explain(x.sum()).leaf(x).grad)  # ndarray[Any, Any]
reveal_type(pb.sparse_hessian(lambda t: (t**2).sum(), v))  # SparseMatrix


def shown(thing: object) -> None:
    """What is known of a value after a question."""
    if pb.is_tensor(thing):
        reveal_type(thing)  # Tensor


class Pair(Function):
    """An operation of two results, with a context of its own."""

    @staticmethod
    def forward(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """The sum and the difference."""
        return a + b, a - b

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        """Nothing is needed."""
        ctx.set_materialize_grads(False)
        reveal_type(ctx.needs_input_grad)  # tuple[bool, ...]

    @staticmethod
    def backward(ctx: FunctionCtx, g: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """The same two."""
        return g + h, g - h

    @staticmethod
    def jvp(ctx: FunctionCtx, t: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
        """The same two."""
        return t + s, t - s
