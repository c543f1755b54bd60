"""Training that goes wrong in rank 1, in a way that the command line names, while the others wait for its gradients."""

import os
import signal
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, what = dist.get_rank(), sys.argv[1]
print(f"process {os.getpid()}", flush=True)
if rank == 1 and what in ("sends too little", "receives nothing"):
    dist.send(torch.ones(2), 0)
    sys.exit()
if rank == 0 and what == "sends too little":
    dist.recv(torch.zeros(2), 1)
    dist.recv(torch.zeros(2), 1)
if rank == 0 and what == "receives nothing":
    dist.send(torch.ones(1_000_000), 1)
model = DDP(torch.nn.Linear(3, 2))
for step in range(3):
    if step == 2 and rank == 1:
        if what == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "raises":
            raise ValueError("a bad batch")
        elif what == "ends":
            sys.exit()
        elif what == "exits":
            sys.exit(3)
        elif what == "goes on":
            break
    model(torch.ones(4, 3)).sum().backward()
dist.barrier()
if what == "differs":
    dist.all_reduce(torch.ones(3 + rank))
if what == "differs in what":
    dist.all_reduce(torch.ones(3), op=dist.ReduceOp.SUM if rank else dist.ReduceOp.MAX)
