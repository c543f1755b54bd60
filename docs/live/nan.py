"""A NaN that is born in the backward pass, in a branch of where that is not selected."""

import pullback

x = pullback.tensor([0.0, 4.0], requires_grad=True)
loss = pullback.where(x > 0, x.sqrt(), 0).sum()
loss.backward()
