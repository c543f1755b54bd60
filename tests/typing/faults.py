"""Mistakes in small programs of users: each line that ends in `# wrong` must be flagged, and no other, as in `wrong`."""

from collections.abc import Iterator
from typing import Any

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, func, linalg, nn, optim
from pullback.distributions import Bernoulli, Categorical, Independent, Normal, TransformedDistribution, kl_divergence
from pullback.distributions.transforms import AffineTransform
from pullback.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, ReduceLROnPlateau, SequentialLR
from pullback.utils.data import ConcatDataset, DataLoader, Dataset, TensorDataset, WeightedRandomSampler, random_split

x = pb.ones(2, 3, requires_grad=True)
y = pb.tensor([0, 2])


# 1. A data set that gives something else than it says, and a loader that is asked for too much
class Pairs(Dataset[tuple[Tensor, int]]):
    def __getitem__(self, index: int) -> Tensor:  # wrong
        return pb.ones(3)


loader = DataLoader(TensorDataset(x, y), batch_size="4")  # wrong
DataLoader(TensorDataset(x, y), batchsize=4)  # wrong
DataLoader(TensorDataset(x, y), collate_fn=3)  # wrong
TensorDataset([x, y])  # wrong
random_split(TensorDataset(x, y), 0.5)  # wrong
ConcatDataset(3)  # wrong
WeightedRandomSampler([1.0, 2.0])  # wrong


# 2. A model whose layers are asked for what they lack
class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.GELU(approx="tanh"))  # wrong
        self.head = nn.Linear(16)  # wrong

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x, x)  # wrong


class Twice(nn.Module):
    def forward(self, x: Tensor, twice: bool = False) -> Tensor:
        return x * 2 if twice else x


Twice()(x, twice="yes")  # wrong
Twice()(x, thrice=True)  # wrong
Twice()(x).sofmax()  # wrong
nn.Linear(3, 2)("x")  # wrong
nn.Linear(3, 2)(x, x)  # wrong
nn.CrossEntropyLoss()(x)  # wrong
nn.LSTM(3, 4)(x)[1].sum()  # wrong
nn.MultiheadAttention(8, 2)(x)  # wrong


model = Classifier()
model.parameters().zero_grad()  # wrong
model.load_state_dict()  # wrong
model.train("yes")  # wrong
model.register_buffer("mean", 3)  # wrong
model.named_parameters(recursive=False)  # wrong
nn.ModuleList(nn.Linear(2, 2), nn.Linear(2, 2))  # wrong
nn.Parameter("a")  # wrong
nn.CrossEntropyLoss(reduction=True)  # wrong
nn.Dropout("0.1")  # wrong
nn.BatchNorm1d(3, momentum="high")  # wrong
nn.LSTM(3, 4, bidirectional="yes")  # wrong
nn.MultiheadAttention(8)  # wrong
nn.Embedding(10, 3, padding_idx="0")  # wrong
nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2))  # wrong

# 3. Optimizers and schedules
optimizer = optim.AdamW(model.parameters(), learning_rate=1e-2)  # wrong
optimizer.zero_grad(to_none=True)  # wrong
optimizer.step(lambda: 3, 4)  # wrong
optim.SGD([x], lr=0.1, momentum="0.9")  # wrong
optim.SGD([x], lr=0.1, nestrov=True)  # wrong
optim.RMSprop([x], alpha=None)  # wrong
optim.LBFGS([x], line_search_fn=3)  # wrong
CosineAnnealingLR(optimizer)  # wrong
CosineAnnealingLR(model, 10)  # wrong
LambdaLR(optimizer, 0.5)  # wrong
ReduceLROnPlateau(optimizer, patience=2.5)  # wrong
ReduceLROnPlateau(optimizer).step()  # wrong
SequentialLR(optimizer, [], milestones=5)  # wrong

# 4. Transforms of functions
func.grad(3)  # wrong
func.grad(lambda x: x.sum(), argnum=0)  # wrong
func.vmap(lambda x: x, in_dim=0)  # wrong
func.jvp(lambda x: x, x)  # wrong
func.hessian("f")  # wrong
func.functional_call(model, x, (x,))  # wrong
pb.sparse_jacobian(x, lambda x: x)  # wrong

# 5. Distributions
Normal(0.0)  # wrong
Normal(0.0, 1.0).rsample(size=(3,))  # wrong
Bernoulli(prob=0.5)  # wrong
Categorical(logits="a")  # wrong
Independent(Normal(0.0, 1.0))  # wrong
kl_divergence(Normal(0.0, 1.0))  # wrong
TransformedDistribution(Normal(0.0, 1.0), [3])  # wrong
AffineTransform(loc=0.0)  # wrong
Categorical(logits=x).entropy().smaple()  # wrong

# 6. Linear algebra
linalg.lstsq(x, x).solutions  # wrong
u, s = linalg.svd(x)  # wrong
linalg.eigh(x, uplo="L")  # wrong
linalg.qr(x, mode=3)  # wrong
linalg.solve_triangular(x, x)  # wrong
linalg.matrix_power(x, "2")  # wrong

# 7. Functions of layers
F.cross_entropy(x, y, smoothing=0.1)  # wrong
F.cross_entropy(x, "y")  # wrong
F.dropout(x, train=True)  # wrong
F.interpolate(x, factor=2)  # wrong
F.pad(x, 1)  # wrong
F.celu_(x, beta=2.0)  # wrong
F.threshold_(x)  # wrong
F.conv2d(x, x, pad=1)  # wrong
F.one_hot(y, classes=3)  # wrong
F.softmax(x, dim="0")  # wrong
F.layer_norm(x)  # wrong
F.scaled_dot_product_attention(x, x)  # wrong


# 8. Results that are taken for something else
def wanted() -> Iterator[int]:
    yield x.sum()  # wrong


loss: float = F.mse_loss(x, x)  # wrong
shape: tuple[str, ...] = x.shape  # wrong
found: dict[str, int] = optimizer.state_dict()["state"].keys
state: list[Any] = model.state_dict()  # wrong
