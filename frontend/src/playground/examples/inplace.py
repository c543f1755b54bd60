"""A step that overwrites a leaf.

I update my weights with `w -= 0.1 * w.grad`, and it raises. Is writing to them forbidden?

Only while recording: w is a leaf, and what was written over it would have to be part of the graph. The update is no part of
what is differentiated, so put it into a block of `torch.no_grad()`. Press "Explain this error" to see what w is.
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0])
target = torch.tensor([2.0, 4.0, 6.0])
w = torch.tensor(0.5, requires_grad=True)

loss = ((w * x - target) ** 2).mean()
loss.backward()
print("slope of the loss:", w.grad)

w -= 0.1 * w.grad
