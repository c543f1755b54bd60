"""A value without history: x.grad stays None, since detach() cut x off."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
w = pullback.tensor([3.0, 4.0], requires_grad=True)
scale = x.detach() * 2
loss = (scale * w).sum()
loss.backward()
