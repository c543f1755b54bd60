"""The shape of gradient.

My output has two numbers, I pass one, and it raises. Which shape must `gradient` have?

Exactly the shape of the tensor on which backward is called: a weight for each of its numbers. Press "Explain this
error" to see both shapes. With `torch.tensor([1.0, 1.0])` it works, and adds the derivatives of both outputs.
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.backward(torch.tensor([1.0]))
