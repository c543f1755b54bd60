"""A vector after a loop.

The tutorial doubles y until it is long and then calls `y.backward([0.1, 1.0, 0.0001])`. Where do the numbers in
`x.grad` come from?

The loop doubled ten times, so y = 1024 x and its Jacobian is 1024 on the diagonal. Each number of v is multiplied
with its row: 0.1, 1 and 0.0001 become 102.4, 1024 and 0.1024. Press through the ten steps: each multiplies by 2.
"""

import torch

x = torch.tensor([0.6, -1.0, 0.8], requires_grad=True)
y = x * 2
while y.data.norm() < 1000:
    y = y * 2

v = torch.tensor([0.1, 1.0, 0.0001])
y.backward(v)
print(x.grad)
