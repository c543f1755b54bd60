"""A Hessian.

How do I differentiate a second time?

`create_graph=True` records the first backward as well, so its result can be differentiated: each row of the Hessian is
a backward of one number of the gradient. Here they are [6 x0, 2 x1] and [2 x1, 2 x0].
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x[0] ** 3 + x[0] * x[1] ** 2

(gradient,) = torch.autograd.grad(y, x, create_graph=True)
print("gradient:", gradient)
for row in range(2):
    (hessian_row,) = torch.autograd.grad(gradient[row], x, retain_graph=True)
    print("row", row, "of the Hessian:", hessian_row)
