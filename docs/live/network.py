"""One gradient of a network of two layers."""

import pullback
from pullback import nn

pullback.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
loss = (model(pullback.tensor([[1.0, 2.0], [3.0, 4.0]])) ** 2).mean()
loss.backward()
