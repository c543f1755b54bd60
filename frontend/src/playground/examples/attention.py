"""Attention.

What flows back to queries, keys and values?

To the values flow the weights of the softmax, transposed; to the scores what a different weighting would have
changed, and from these keys and queries get each other's numbers, scaled.
"""

import math

import torch

q = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
k = torch.tensor([[1.0, 1.0], [0.0, 2.0]], requires_grad=True)
v = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

scores = q @ k.t() / math.sqrt(2)
weights = torch.softmax(scores, dim=-1)
out = weights @ v

out.backward(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
print(weights)
print(v.grad)
