"""Leaves and results.

What distinguishes a tensor that I made from one that was computed, and which of them gets a `.grad`?

a and b are leaves: nothing computed them. c was computed by a product, which its `grad_fn` names, and is not a leaf.
backward() writes `.grad` of leaves that require grad: b in a's, and a in b's.
"""

import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = a * b
c.backward()

for name, tensor in [("a", a), ("b", b), ("c", c)]:
    print(name, tensor.data, tensor.is_leaf, tensor.requires_grad, tensor.grad_fn)
print(a.grad, b.grad)
