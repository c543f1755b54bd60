"""A program that starts its processes itself, as torch's first tutorial of DistributedDataParallel does."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def demo(rank, world_size):
    setup(rank, world_size)
    model = DDP(torch.nn.Linear(10, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    torch.nn.functional.mse_loss(model(torch.randn(20, 10)), torch.randn(20, 5)).backward()
    optimizer.step()
    weights = [None] * world_size
    dist.all_gather_object(weights, model.module.weight.tolist())
    assert all(each == weights[0] for each in weights)
    print("trained", rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    world_size = int(sys.argv[1])
    mp.spawn(demo, args=(world_size,), nprocs=world_size, join=True)
