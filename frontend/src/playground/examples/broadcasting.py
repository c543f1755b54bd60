"""Broadcasting.

b has three numbers and was added to a matrix with two rows. Which shape does its gradient have, and why is it twice
as large?

Broadcasting uses each number of b once in each row. Its gradient has the shape of b, and is the sum over the rows
where it was used: 2 for each.
"""

import torch

A = torch.zeros(2, 3, requires_grad=True)
b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

(A + b).sum().backward()
print(A.grad)
print(b.grad)
