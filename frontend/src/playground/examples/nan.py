"""NaN by 0 times infinity.

The wrong branch of `torch.where` is never used. Why is the gradient NaN?

backward goes through both branches. In the one that was not chosen the cotangent is 0 and the slope of sqrt at 0 is
infinite, and 0 times infinity is NaN. Make the argument safe before the root: `torch.sqrt(torch.where(x > 0, x, 1.0))`.
"""

import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), 0.0)
y.sum().backward()
print(x.grad)
