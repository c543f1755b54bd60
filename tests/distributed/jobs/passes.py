"""Passes through DistributedDataParallel whose numbers torch's gloo gives, too: each line is printed by rank 0."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.set_default_dtype(torch.float64)
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


def numbers(*shape):
    count = torch.Size(shape).numel()
    return torch.sin(torch.arange(count, dtype=torch.float64) * (rank + 1) + rank).view(shape)


def made(module):
    """Other weights in every rank, so that those of rank 0 have to be taken."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(numbers(*parameter.shape) / 2)
    return module


def show(name, *tensors):
    """Print tensors, which are equal in all ranks."""
    values = [value for tensor in tensors for value in tensor.detach().reshape(-1).tolist()]
    everywhere = [None] * size
    dist.all_gather_object(everywhere, values)
    assert all(each == values for each in everywhere), (name, everywhere)
    if rank == 0:
        print(name, *(f"{value:.17g}" for value in values))


def gradients(model):
    return [torch.zeros(1) if p.grad is None else p.grad for p in model.parameters()]


model = DDP(made(nn.Linear(3, 2)))
show("weights of rank 0", *model.parameters())
assert [*model.state_dict()] == ["module.weight", "module.bias"]
model(numbers(4 + rank, 3)).square().mean().backward()  # uneven: the mean of means
show("uneven batches", *gradients(model))

model.zero_grad()
with model.no_sync():
    model(numbers(4, 3)).square().sum().backward()
    model(numbers(2, 3)).square().sum().backward()
local = model.module.weight.grad.clone()
model(numbers(3, 3)).square().sum().backward()
show("after no_sync", *gradients(model))
everywhere = [None] * size
dist.all_gather_object(everywhere, local.tolist())
assert size == 1 or everywhere[0] != everywhere[1]
model(numbers(3, 3)).sum().backward()
show("without zero_grad", *gradients(model))
model.zero_grad(set_to_none=False)
(model(numbers(3, 3)).sum() * model(numbers(2, 3)).mean()).backward()
show("two calls", *gradients(model))

model = DDP(made(nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.Linear(4, 1))))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    loss = model(numbers(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
show("Adam", *model.parameters())
model(numbers(5, 3))  # takes the buffers of rank 0, then changes them
model.eval()
with torch.no_grad():
    model(numbers(5, 3))
mean = model.module[1].running_mean.clone()
dist.broadcast(mean, 0)
show("buffers of rank 0 in evaluation", mean, model.module[1].running_mean)


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 1), nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x, first):
        return {"y": self.a(x) if first else self.b(x)}


model = DDP(made(Branches()), find_unused_parameters=True)
for step in range(2):
    model.zero_grad()
    model(numbers(3, 2), rank == 0)["y"].sum().backward()
    show(f"branches {step}", *gradients(model))
assert model.module.c.weight.grad is None
model = DDP(made(Branches()))
model(numbers(3, 2), True)["y"].sum().backward()
try:
    model(numbers(3, 2), True)
except RuntimeError as error:
    assert "Expected to have finished reduction in the prior iteration" in str(error)
else:
    raise AssertionError("unused parameters were not noticed")

data = TensorDataset(torch.arange(11))
for options in ({}, {"shuffle": False}, {"seed": 3}, {"drop_last": True}):
    sampler = DistributedSampler(data, **options)
    for epoch in (0, 1):
        sampler.set_epoch(epoch)
        batches = [batch.tolist() for (batch,) in DataLoader(data, batch_size=2, sampler=sampler)]
        everywhere = [None] * size
        dist.all_gather_object(everywhere, batches)
        if rank == 0:
            print("sampler", options, epoch, len(sampler), everywhere)
dist.destroy_process_group()
