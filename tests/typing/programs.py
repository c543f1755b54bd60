"""Small programs of users, each as it would be written, with the type that an editor must show, as in `right`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback as pb
import pullback.nn.functional as F
from pullback import Tensor, func, linalg, nn, optim
from pullback.distributions import Bernoulli, Categorical, Independent, Normal, TransformedDistribution, kl_divergence
from pullback.distributions.transforms import AffineTransform, SigmoidTransform
from pullback.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, ReduceLROnPlateau, SequentialLR
from pullback.utils.data import ConcatDataset, DataLoader, Dataset, Sampler, TensorDataset, WeightedRandomSampler, random_split


# 1. A data set of one's own, shuffled and put together by a function
class Pairs(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return pb.full((3,), float(index)), index % 2


def joined(samples: Sequence[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    return pb.stack([x for x, _ in samples]), pb.tensor([y for _, y in samples])


def batches(seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    loader = DataLoader(Pairs(), batch_size=4, shuffle=True, collate_fn=joined, generator=pb.Generator().manual_seed(seed))
    reveal_type(len(loader))  # int
    yield from loader


# 2. A classifier with a loop over epochs, a schedule, and the best state kept
class Classifier(nn.Module):
    def __init__(self, features: int, classes: int, p: float = 0.1) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 16), nn.GELU(), nn.Dropout(p))
        self.head = nn.Linear(16, classes)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.body(x)
        return self.head(hidden)


def fit(model: Classifier, epochs: int) -> dict[str, Any]:
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    schedule = CosineAnnealingLR(optimizer, T_max=epochs)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    best, state = float("inf"), model.state_dict()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in batches(epoch):
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x), y)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            reveal_type(norm)  # Tensor
            optimizer.step()
            total += loss.item() * len(x)
        schedule.step()
        if total < best:
            best, state = total, {name: value.clone() for name, value in model.state_dict().items()}
    reveal_type(schedule.get_last_lr())  # list[float | Tensor]
    return state


# 3. Accuracy without gradients
@pb.no_grad()
def accuracy(model: nn.Module, loader: DataLoader[tuple[Tensor, ...]]) -> float:
    model.eval()
    right = sum(int((model(x).argmax(dim=1) == y).sum()) for x, y in loader)
    return right / 10


reveal_type(accuracy(nn.Linear(2, 2), DataLoader(TensorDataset(pb.ones(2), pb.ones(2)))))  # float


# 4. Two groups of parameters, one without decay
def grouped(model: nn.Module) -> optim.SGD:
    plain = [p for name, p in model.named_parameters() if name.endswith("bias")]
    decayed = [p for name, p in model.named_parameters() if not name.endswith("bias")]
    optimizer = optim.SGD([{"params": plain, "weight_decay": 0.0}, {"params": decayed}], lr=0.1, momentum=0.9, nesterov=True)
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
    optimizer.add_param_group({"params": [nn.Parameter(pb.zeros(2))]})
    return optimizer


# 5. A schedule on a plateau, and two in a row
def scheduled(optimizer: optim.Optimizer) -> None:
    plateau = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=3)
    plateau.step(0.3)
    plateau.step(pb.tensor(0.3))
    warm = LambdaLR(optimizer, lambda epoch: min(1.0, epoch / 5))
    both = SequentialLR(optimizer, [warm, CosineAnnealingLR(optimizer, 10)], milestones=[5])
    both.step()
    reveal_type(both.state_dict())  # dict[str, Any]


# 6. L-BFGS with a closure
def minimized(f: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    x = start.clone().requires_grad_()
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe", max_iter=50)

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = f(x)
        value.backward()
        return value

    reveal_type(optimizer.step(closure))  # Tensor
    return x.detach()


# 7. Newton's method with a Hessian and a solve
def newton(f: Callable[[Tensor], Tensor], x: Tensor, steps: int = 5) -> Tensor:
    gradient, hessian = func.grad(f), func.hessian(f)
    for _ in range(steps):
        x = x - linalg.solve(hessian(x), gradient(x))
    reveal_type(gradient(x))  # Tensor
    return x


# 8. Gradients of each example by vmap, and a Jacobian in both modes
def of_each(model: nn.Module, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        scores: Tensor = func.functional_call(model, parameters, (x.unsqueeze(0),))
        return F.cross_entropy(scores, y.unsqueeze(0))

    each: dict[str, Tensor] = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    return each


def slopes(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    value, tangent = func.jvp(f, (x,), (pb.ones_like(x),))
    reveal_type(value)  # Tensor
    _, pull = func.vjp(f, x)
    return func.jacrev(f)(x) + func.jacfwd(f)(x)


# 9. A variational autoencoder's bound
class Encoded(NamedTuple):
    mean: Tensor
    log_scale: Tensor


def bound(x: Tensor, encode: Callable[[Tensor], Encoded], decode: nn.Module) -> Tensor:
    code = encode(x)
    posterior = Independent(Normal(code.mean, code.log_scale.exp()), 1)
    z = posterior.rsample()
    reveal_type(z)  # Tensor
    fit = Independent(Bernoulli(logits=decode(z)), 1).log_prob(x)
    prior = Independent(Normal(pb.zeros_like(z), pb.ones_like(z)), 1)
    reveal_type(kl_divergence(posterior, prior))  # Tensor
    return (fit - kl_divergence(posterior, prior)).mean()


# 10. REINFORCE, and a squashed normal distribution
def policy_loss(scores: Tensor, reward: Callable[[Tensor], Tensor]) -> Tensor:
    policy = Categorical(logits=scores)
    action = policy.sample((5,))
    return -(policy.log_prob(action) * reward(action)).mean() - 0.01 * policy.entropy().mean()


squashed = TransformedDistribution(Normal(0.0, 1.0), [SigmoidTransform(), AffineTransform(loc=-1.0, scale=2.0)])
reveal_type(squashed.rsample((3,)))  # Tensor
reveal_type(squashed.log_prob(pb.tensor([0.5])))  # Tensor
reveal_type(squashed.batch_shape)  # Size


# 11. Least squares, a decomposition and its parts
def fitted(a: Tensor, b: Tensor) -> Tensor:
    solution = linalg.lstsq(a, b).solution
    u, s, vh = linalg.svd(a, full_matrices=False)
    reveal_type((u * s) @ vh)  # Tensor
    q, r = linalg.qr(a)
    values, vectors = linalg.eigh(a.mT @ a)
    reveal_type(values)  # Tensor
    reveal_type(linalg.cholesky(a.mT @ a + pb.eye(2)))  # Tensor
    reveal_type(linalg.slogdet(a.mT @ a).logabsdet)  # Tensor
    return solution - linalg.solve_triangular(r, q.mT @ b, upper=True)


# 12. A sparse Jacobian
def sparse(f: Callable[[Tensor], Tensor], x: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    matrix = pb.sparse_jacobian(f, x)
    reveal_type(matrix.shape)  # tuple[int, int]
    reveal_type(matrix.nnz)  # int
    return matrix.toarray()


# 13. An operation of one's own, with its derivative
class Clipped(pb.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, limit: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= ctx.limit), None


reveal_type(Clipped.apply(pb.ones(2), 0.5))  # Any


# 14. A recurrent network over packed sequences, and attention
def read(lengths: list[int], x: Tensor) -> Tensor:
    network = nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
    packed = nn.utils.rnn.pack_padded_sequence(x, pb.tensor(lengths), batch_first=True, enforce_sorted=False)
    result, (h, c) = network(packed)
    padded, sizes = nn.utils.rnn.pad_packed_sequence(result, batch_first=True)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    mixed, weights = attention(padded, padded, padded, need_weights=True)
    reveal_type(F.scaled_dot_product_attention(padded, padded, padded, is_causal=True))  # Tensor
    return mixed.mean(dim=1)


# 15. Data sets put together, split, and drawn with weights; results as NumPy's and saved
def mixed(first: TensorDataset, second: TensorDataset) -> np.ndarray[Any, np.dtype[Any]]:
    both = ConcatDataset([first, second])
    train, rest = random_split(both, [0.8, 0.2], generator=pb.Generator())
    sampler: Sampler[int] = WeightedRandomSampler([1.0, 2.0], num_samples=4, replacement=True)
    loader = DataLoader(train, batch_size=2, sampler=sampler, num_workers=0, drop_last=True)
    found = [batch for batch in loader]
    pb.save({"found": found, "seed": 3}, "found.pt")
    loaded = pb.load("found.pt", weights_only=True)
    reveal_type(loaded)  # Any
    reveal_type(F.celu_(pb.ones(2), alpha=2.0))  # Tensor
    return pb.cat([pb.ones(2), pb.zeros(2)]).numpy()
