"""A weight for each output.

Here y has as many numbers as x. What does `backward(v)` compute, v times what?

v is a row vector, and the result is v J. Since each output depends on its own input only, J is diagonal: 6 and 12.
With `v = [1, 10]` they become 6 and 120. In the step's picture you can change v and see the product change.
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = 3 * x**2
v = torch.tensor([1.0, 10.0])

y.backward(v)
print("x.grad:", x.grad)
