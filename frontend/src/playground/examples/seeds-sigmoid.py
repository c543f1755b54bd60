"""One layer and its average loss.

My loss has two numbers, and `losses.backward()` refuses. What do I pass in order to get the gradient of their
average?

The average weights each loss with one half, so its gradient is that of `v = [[0.5, 0.5]]`. The shape of v is that of
the losses, (1, 2). Masks such as [[1, 0]] give the gradient of one loss alone.
"""

import torch

x = torch.tensor([[0.5, -1.0, 2.0]])
target = torch.tensor([[0.0, 1.0]])
W = torch.tensor([[0.2, -0.4, 0.1], [0.7, 0.3, -0.5]], requires_grad=True)
b = torch.tensor([[0.1, -0.2]], requires_grad=True)

prediction = torch.sigmoid(torch.mm(x, W.t()) + b)
losses = (prediction - target) ** 2

losses.backward(torch.tensor([[0.5, 0.5]]))
print(W.grad)
print(b.grad)
