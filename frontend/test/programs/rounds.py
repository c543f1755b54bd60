"""A line that runs three times, and one that runs once and holds seven operations."""

import pullback

x = pullback.tensor([1.0, 2.0], requires_grad=True)
w = pullback.tensor(0.5, requires_grad=True)
y = x
for _ in range(3):
    # A comment,
    # and another.
    y = (y * w + x).tanh()
z = (y * y - y).exp().sin() * x / w + y
z.backward(pullback.tensor([1.0, -1.0]))
