"""Programs of users, with the type that an editor must show for each expression: `reveal_type(...)  # the type`."""

import numpy as np

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, nn, optim
from pullback.distributions import Normal
from pullback.utils.data import TensorDataset

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
reveal_type(x.grad)  # Tensor | None
reveal_type(x.requires_grad)  # bool
reveal_type(x.T)  # Tensor
reveal_type(x.detach().numpy())  # ndarray[Any, Any]
reveal_type(x.backward())  # None
reveal_type(x.split(1))  # tuple[Tensor, ...]
reveal_type(x.to(pb.float64))  # Tensor
reveal_type(x.topk(1).values)  # Tensor
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
reveal_type(layer(x))  # Any
reveal_type(nn.Sequential(layer, nn.ReLU()))  # Sequential
reveal_type(layer.state_dict())  # dict[str, Any]

optimizer = optim.SGD(layer.parameters(), lr=0.1)
reveal_type(optimizer)  # SGD
reveal_type(optimizer.zero_grad())  # None


def square(t: Tensor, scale: float = 1.0) -> Tensor:
    """A function to differentiate and to compile."""
    return (t * t * scale).sum()


reveal_type(pb.compile(square)(x))  # Tensor
reveal_type(pb.func.vmap(square)(x))  # Any
reveal_type(pb.explain(square(x)))  # Explanation
reveal_type(pb.autograd.grad(square(x), x))  # tuple[Tensor, ...]
reveal_type(Normal(0.0, 1.0).sample())  # Any
reveal_type(Normal(0.0, 1.0).log_prob(x))  # Any
reveal_type(TensorDataset(x, x))  # TensorDataset


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
    reveal_type(model(x, twice=True))  # Any
for name, parameter in model.named_parameters():
    reveal_type(name)  # str
    reveal_type(parameter)  # Parameter
