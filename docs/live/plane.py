"""Two numbers, two outputs of them: each output has a weight, and each way back is one product."""

import pullback

x = pullback.tensor([2.0, 1.0], requires_grad=True)
a, b = x
p = a * b
q = a**2 + b
y = pullback.stack([p, q])
y.backward(pullback.tensor([1.0, 2.0]))
