"""Backward a second time.

Why may I not call backward twice on the same result?

The first call frees what the steps had saved, here x for the slope 2 x, since most programs need it once. Ask for it
with `y.backward(retain_graph=True)`, or compute y again.
"""

import torch

x = torch.tensor(3.0, requires_grad=True)
y = x**2

y.backward()
print(x.grad)
y.backward()
