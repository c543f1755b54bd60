"""Mistakes of users: each line that ends in `# wrong` must be flagged, and no other."""

import pullback as pb
import pullback.nn.functional as F
from pullback import nn, optim
from pullback import array_api as xp
from pullback.distributions import Categorical, Normal

x = pb.ones(2, 2)
pb.sofmax(x)  # wrong
x.sofmax(0)  # wrong
nn.Lineer(2)  # wrong
pb.zeros("a")  # wrong
pb.linalg.inverse_of(x)  # wrong
F.relu6000(x)  # wrong
pb.exp("a")  # wrong
pb.exp(x, dimension=0)  # wrong
x.sum(dims="a")  # wrong
x.reshape("a", "b")  # wrong
optim.SDG([x])  # wrong
x + "a"  # wrong
x.requires_grad_("yes")  # wrong
nn.Linear("2", 2)  # wrong
pb.float33  # wrong
pb.func.gradient(x)  # wrong
x.shape.dimensions  # wrong
y: int = pb.exp(x)  # wrong
pb.fft.fft3(x)  # wrong
pb.cat(3)  # wrong

optimizer = optim.SGD([x], lr=0.1)
optimizer.stepp()  # wrong
optim.SGD([x], rate=0.1)  # wrong
optim.Adam([x], lr="fast")  # wrong
optim.Adam([x], betas=0.9)  # wrong
optim.Adam(3)  # wrong
optimizer.step(3)  # wrong
optim.LBFGS([x]).step()  # wrong
optim.lr_scheduler.StepLR([x], 2)  # wrong
optim.lr_scheduler.StepLR(optimizer, "2")  # wrong
nn.Conv2d(3, 8, kernal_size=3)  # wrong
nn.Conv2d(3, 8, kernel_size="three")  # wrong
nn.MaxPool2d(2, strides=2)  # wrong
nn.MaxPool2d("2")  # wrong
nn.Sequential(F.relu)  # wrong
nn.GRU(2, 3, proj_size=1)  # wrong
nn.Embedding.from_pretrained(x, frozen=True)  # wrong
nn.Linear(2, 2).to(device=pb.float64)  # wrong
nn.init.normal_(x, sd=0.1)  # wrong
nn.utils.clip_grad_norm_([x], "1")  # wrong
pb.masked.sum(x, mask="all")  # wrong
Normal(0.0, 1.0).smaple()  # wrong
Normal(0.0, 1.0).sample().sofmax()  # wrong
Normal("a", 1.0)  # wrong
Normal(0.0, 1.0).sample(3)  # wrong
Normal(0.0, 1.0).log_prob("a")  # wrong
Normal(0.0, 1.0).support.chek(x)  # wrong
Normal(0.0, 1.0).loc.sofmax()  # wrong
Categorical(0.5)  # wrong
xp.asarray([1.0]).sofmax()  # wrong
xp.zeros("a")  # wrong
xp.roll(x, "a")  # wrong
pb.autograd.functional.jacobian(x, x)  # wrong
pb.sparse_jacobian(3, x)  # wrong
pb.checkpoint_loop(pb.exp, x, "a", 2)  # wrong
pb.func.gradd  # wrong
pb.compile(pb.exp, fulgraph=True)  # wrong
pb.explain(x, line=False)  # wrong
pb.explain.recrod()  # wrong
x.max(dim=0).value  # wrong
x.item().values  # wrong


@pb.no_grad()
def halved(t: pb.Tensor) -> pb.Tensor:
    """A decorated function keeps its signature."""
    return t / 2


halved()  # wrong
pb.func.grad(halved)()  # wrong


def loss(params: dict[str, pb.Tensor]) -> pb.Tensor:
    """A function of a dict of parameters."""
    return params["w"].sum()


pb.func.grad(loss)({"w": x})["w"].exp()
pb.func.grad(loss)({"w": x}).exp()  # wrong
pb.func.grad(loss)(x)  # wrong
pb.autograd.grad(x, 3)  # wrong
pb.hessian(x, x).smu()  # wrong
