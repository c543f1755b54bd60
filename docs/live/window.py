"""Three outputs of a window, weighted by their prices."""

import pullback

x = pullback.tensor([3.0, 4.0], requires_grad=True)
width, height = x
y = pullback.stack([width * height, 2 * (width + height), (width**2 + height**2) ** 0.5])
y.backward(pullback.tensor([10.0, 5.0, 20.0]))
