"""Mistakes of users in many rooms: each line that ends in `# wrong` must be flagged, and no other, as in `wrong`."""

from typing import Any

import numpy as np

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, array_api as xp, extend, fft, func, interpreters, linalg, masked, nn, observe, optim, program, signal, special
from pullback.autograd import Function
from pullback.distributions import Beta, Dirichlet, Gamma, MultivariateNormal, Normal, constraints
from pullback.nn.utils import clip_grad_value_, rnn
from pullback.utils.checkpoint import checkpoint
from pullback.utils.data import DataLoader, Dataset, Subset, TensorDataset

x = pb.ones(2, 2)
v = pb.ones(2)
x.sum(dim="0")  # wrong
x.mean(keepdim="yes")  # wrong
x.permute("a", "b")  # wrong
x.unsqueeze()  # wrong
x.size("0")  # wrong
x.clamp(minimum=0)  # wrong
x.numpy(forced=True)  # wrong
x.backward(retain=True)  # wrong
x.register_hook(3)  # wrong
x.grad.sum()  # wrong
x.grad_fn.title  # wrong
x.item().sum()  # wrong
x.shape.append(3)  # wrong
x["a"]  # wrong
x @ "a"  # wrong
x < "a"  # wrong
pb.stack(x, axes=0)  # wrong
pb.einsum(x, "ij->i")  # wrong
pb.randn("2")  # wrong
pb.randint(3.5, size=(2,))  # wrong
pb.linspace(0, 1, "10")  # wrong
pb.manual_seed("a")  # wrong
pb.where(x > 0, x)  # wrong
pb.allclose(x, x).sum()  # wrong
pb.finfo(pb.float32).epsilon  # wrong
pb.load()  # wrong
pb.set_default_dtype(3)  # wrong
pb.no_grad(True)  # wrong
pb.topk(x, "1")  # wrong
pb.tensor([1.0], requires_gard=True)  # wrong
linalg.svd(x).D  # wrong
linalg.solve(x)  # wrong
linalg.norm(x, order=2)  # wrong
fft.rfft(x, n="3")  # wrong
special.polygamma("1", x)  # wrong
special.logsumexp(x)  # wrong
signal.windows.han(8)  # wrong
masked.mean(x, msk=x > 0)  # wrong
nn.Conv2d(1, 2)  # wrong
nn.LSTM(2, 3, layers=2)  # wrong
nn.LSTM(2, 3).flatten_parameters(1)  # wrong
nn.Dropout(p="half")  # wrong
nn.BatchNorm2d(2, momentum="a")  # wrong
nn.CrossEntropyLoss(reduction=3)  # wrong
nn.ModuleList(nn.Linear(2, 2), nn.Linear(2, 2))  # wrong
nn.Linear(2, 2).weight.data.foo  # wrong
nn.Linear(2, 2).load_state_dict([1])  # wrong
nn.Linear(2, 2).register_buffer(x, "a")  # wrong
nn.Linear(2, 2).train("yes")  # wrong
nn.Linear(2, 2).parameters()[0]  # wrong
nn.MultiheadAttention(2)  # wrong
nn.Parameter(x, requires_grads=False)  # wrong
F.dropout(x, p="a")  # wrong
F.one_hot(x, "3")  # wrong
F.softmax(x, axis="a")  # wrong
F.conv2d(x)  # wrong
F.pad(x, "1")  # wrong
clip_grad_value_([x])  # wrong
rnn.pad_sequence(x, batch_firs=True)  # wrong
adam = optim.Adam([x])
adam.zero_grad(set_to_nothing=True)  # wrong
adam.param_groups["lr"]  # wrong
adam.load_state_dict(3)  # wrong
optim.lr_scheduler.CosineAnnealingLR(adam)  # wrong
optim.lr_scheduler.ReduceLROnPlateau(adam, mode=3)  # wrong
optim.SGD([x], momentum="0.9")  # wrong
optim.SGD("x")  # wrong
func.vmap(pb.exp, in_dims="0")  # wrong
func.grad(x)  # wrong
func.grad(pb.exp, argnums="x")  # wrong
func.jvp(pb.exp, x)  # wrong
func.functional_call(net := nn.ReLU(), "a", x)  # wrong
pb.compile(3)  # wrong
pb.compile(pb.exp)(x, 3, out_of="a").sofmax()  # wrong
pb.cond(x, pb.exp)  # wrong
pb.explain(x).stepz  # wrong
checkpoint(3, x)  # wrong
Normal(0.0)  # wrong
Normal(0.0, 1.0).rsample(sample_size=(2,))  # wrong
Beta(1.0)  # wrong
Gamma(1.0, "a")  # wrong
MultivariateNormal(v, covariance=x)  # wrong
Dirichlet(v).log_prob()  # wrong
constraints.positve  # wrong
DataLoader(TensorDataset(x), batchsize=2)  # wrong
DataLoader(3)  # wrong
DataLoader([1], batch_size="2")  # wrong
TensorDataset([1.0])  # wrong
Subset([1, 2])  # wrong
xp.sum(x, dim=0)  # wrong
xp.linalg.svdd(x)  # wrong
xp.ones(2, dtype=3)  # wrong
observe.node(3)  # wrong
observe.watch(x, 3)  # wrong
program.run(program.record(pb.exp, x), [])  # wrong
program.simplify(program.record(pb.exp, x))  # wrong
program.record(pb.exp, x).programm  # wrong
pb.save(x)  # wrong
n: str = x.numel()  # wrong
m: list[Tensor] = x.split(1)  # wrong
k: nn.Conv2d = nn.Linear(2, 2)  # wrong
s: Tensor = nn.Linear(2, 2).bias  # wrong
g: Tensor = x.grad  # wrong


class Wrong(observe.Observer):
    """An observer whose method takes nothing."""

    def operation(self) -> None:  # wrong
        """Nothing."""


class Lengths(Dataset[int]):
    """A data set whose elements are others than it says."""

    def __getitem__(self, place: int) -> str:  # wrong
        return "a"
