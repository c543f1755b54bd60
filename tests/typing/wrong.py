"""Mistakes of users: each line that ends in `# wrong` must be flagged, and no other."""

import pullback as pb
import pullback.nn.functional as F
from pullback import nn, optim

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
