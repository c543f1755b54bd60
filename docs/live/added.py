"""Two backward calls add to the same .grad."""

import pullback

w = pullback.tensor([1.0, 2.0], requires_grad=True)
for step in range(2):
    loss = (w**2).sum()
    loss.backward()
