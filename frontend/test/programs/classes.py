"""Four examples of two classes."""

import pullback
from pullback import nn

pullback.manual_seed(3)
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
flowers = pullback.randn(4, 3)
kinds = pullback.tensor([1, 0, 0, 1])
loss = nn.functional.cross_entropy(model(flowers), kinds)
loss.backward()
