"""Each output has a weight, and backward adds up."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
y = 3 * x**2
y.backward(pullback.tensor([1.0, 10.0]))
