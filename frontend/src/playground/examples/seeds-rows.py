"""The rows of a Jacobian.

A product gives two numbers. Which gradient do I pass to get the derivatives of the first one, and of the second?

`v = [1, 0]` asks for the first output alone, `v = [0, 1]` for the second: each call returns one row of the Jacobian, and
[1, 1] the sum of both rows. The second and third call need the graph again, hence `retain_graph`, and `.grad` is set to
zero between them as it would add up.
"""

import torch

x = torch.tensor([[2.0, 1.0]], requires_grad=True)
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
y = torch.mm(x, W)

y.backward(torch.tensor([[1.0, 0.0]]), retain_graph=True)
print("first row: ", x.grad)
x.grad.data.zero_()

y.backward(torch.tensor([[0.0, 1.0]]), retain_graph=True)
print("second row:", x.grad)
x.grad.data.zero_()

y.backward(torch.tensor([[1.0, 1.0]]))
print("their sum: ", x.grad)
