"""Numbers to be typed over: of leaves, and constants on both sides; a branch asks for one."""

import pullback

x = pullback.tensor([2.0, -1.0], requires_grad=True)
h = 3 * x - 1
k = 1 - x * 3
y = h * k + h.detach()
if y.sum() < 0:
    y = y / 2
y.backward(pullback.tensor([1.0, 10.0]))
