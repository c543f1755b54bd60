"""Gradients that add up.

I call backward twice, and the second gradient is too large. Why?

backward adds to `.grad`, it does not replace it: 2 x = 6 after the first call, 6 + 6 = 12 after the second. Set x.grad
= None, or call `optimizer.zero_grad()`, before each step.
"""

import torch

x = torch.tensor(3.0, requires_grad=True)

(x**2).backward()
print("after the first call: ", x.grad)

(x**2).backward()
print("after the second call:", x.grad)

x.grad = None
(x**2).backward()
print("set to None before:   ", x.grad)
