"""A batch of 32 examples of ten classes."""

import pullback
from pullback import nn

pullback.manual_seed(3)
model = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 10))
images, digits = pullback.randn(32, 24), pullback.randint(0, 10, (32,))
loss = nn.functional.cross_entropy(model(images), digits)
loss.backward()
