"""One gradient of a network with one hidden layer, for three points."""

import pullback
from pullback import nn

pullback.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
points = pullback.tensor([[0.1, 0.2], [-0.9, 0.5], [0.3, -0.4]])
inside = pullback.tensor([[1.0], [0.0], [1.0]])
scores = model(points)
loss = nn.functional.binary_cross_entropy_with_logits(scores, inside)
loss.backward()
