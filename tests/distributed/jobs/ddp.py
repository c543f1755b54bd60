"""A program for torch, as torch's tutorials of DistributedDataParallel have it: it runs on torch and on pullback, unchanged.

Only the weights and the data are made of formulas, so that both begin with the same numbers.
"""

import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class WaveDataset(Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        x = torch.sin(torch.arange(10, dtype=torch.get_default_dtype()) * (index + 1))
        return x, x[:5] * x[5:]


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10, bias=False)  # the norm takes it away
        self.norm = nn.BatchNorm1d(10)
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(F.relu(self.norm(self.net1(x))))


def fill(model, shift):
    with torch.no_grad():
        for parameter in model.parameters():
            numbers = torch.arange(parameter.numel(), dtype=torch.get_default_dtype())
            parameter.copy_((torch.cos(numbers + shift) / 3).view_as(parameter))


class Trainer:
    def __init__(self, model, data, optimizer, rank, snapshot):
        self.rank, self.snapshot = rank, snapshot
        self.model, self.data, self.optimizer = DDP(model), data, optimizer

    def run_batch(self, inputs, targets):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(inputs), targets)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run_epoch(self, epoch):
        self.data.sampler.set_epoch(epoch)
        losses = torch.stack([self.run_batch(x, y) for x, y in self.data])
        dist.all_reduce(losses, op=dist.ReduceOp.SUM)
        return losses / dist.get_world_size()

    def train(self, epochs):
        for epoch in range(epochs):
            losses = self.run_epoch(epoch)
            if self.rank == 0:
                print(f"epoch {epoch} losses {' '.join(f'{loss:.17g}' for loss in losses.tolist())}")
                torch.save(self.model.module.state_dict(), self.snapshot)
        dist.barrier()  # rank 0 has saved
        other = DDP(ToyModel())
        other.module.load_state_dict(torch.load(self.snapshot, map_location="cpu"))
        same = [torch.equal(a, b) for a, b in zip(other.state_dict().values(), self.model.state_dict().values())]
        print(f"rank {self.rank} loaded {sum(same[:-3])} and {'module.net1.weight' in other.state_dict()}")


def main(epochs, batch_size, size, folder):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    dataset, model = WaveDataset(size), ToyModel()
    fill(model, shift=rank)  # DDP takes those of rank 0
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = DataLoader(dataset, batch_size=batch_size, shuffle=False, sampler=DistributedSampler(dataset))
    trainer = Trainer(model, data, optimizer, rank, os.path.join(folder, "snapshot.pt"))
    trainer.train(epochs)
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, [p.detach().numpy().tobytes() for p in model.parameters()])
    assert all(each == digests[0] for each in digests)
    if rank == 0:
        print("parameters", " ".join(f"{p.norm().item():.17g}" for p in model.parameters()))
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--size", type=int, default=38)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--double", action="store_true")
    arguments = parser.parse_args()
    if arguments.double:
        torch.set_default_dtype(torch.float64)
    main(arguments.epochs, arguments.batch_size, arguments.size, arguments.folder)
