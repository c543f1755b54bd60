"""A hook.

Can I see, or change, a gradient on its way?

A hook on y is called with the gradient of y as soon as it is complete, and what it returns goes on in its place: 2
was cut to 1 here, so x gets 3 in place of 6.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = 3 * x
y.register_hook(lambda gradient: print("arrives at y:", gradient))
y.register_hook(lambda gradient: gradient.clamp(max=1.0))

(2 * y).backward()
print("x.grad:", x.grad)
