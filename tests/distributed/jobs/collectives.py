"""What the functions of torch.distributed do, as assertions that hold on torch's gloo, too, on 1, 2 and 4 ranks."""

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp


def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing was raised: {words}")


not_yet = "Default process group has not been initialized, please make sure to call init_process_group."
assert dist.is_available() and not dist.is_initialized()
refuses(ValueError, not_yet, dist.get_rank)
refuses(ValueError, not_yet, lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1)))
dist.init_process_group("gloo", init_method="env://")
refuses(ValueError, "trying to initialize the default process group twice!", lambda: dist.init_process_group("gloo"))
rank, size = dist.get_rank(), dist.get_world_size()
assert dist.is_initialized() and 0 <= rank < size and dist.get_backend() == "gloo"
everyone = range(size)

for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.float16):
    x = torch.arange(1, 7, dtype=dtype).view(2, 3) + rank
    each = [torch.arange(1, 7, dtype=dtype).view(2, 3) + r for r in everyone]
    for op, expected in (
        (ReduceOp.SUM, torch.stack(each).sum(0)),
        (ReduceOp.MIN, each[0]),
        (ReduceOp.MAX, each[-1]),
    ):
        y = x.clone()
        assert dist.all_reduce(y, op=op) is None
        assert torch.equal(y, expected.to(dtype)), (dtype, op, y, expected)
y = torch.tensor([float(rank + 1)] * 3)
dist.all_reduce(y, ReduceOp.PRODUCT)
assert y.tolist() == [float(torch.arange(1, size + 1).prod())] * 3
y = torch.full((3, 2), float(rank))
work = dist.all_reduce(y[1:], async_op=True)
work.wait()
assert work.is_completed()
assert y.tolist() == [[rank] * 2, *[[sum(everyone)] * 2] * 2]
y = torch.tensor(float(rank))
dist.all_reduce(y)
assert y.item() == sum(everyone)
w = torch.full((2,), float(rank), requires_grad=True)
dist.broadcast(w.detach(), src=size - 1)
assert w.tolist() == [size - 1.0] * 2

last = size - 1
y = torch.full((2, 2), rank)
dist.broadcast(y, last)
assert (y == last).all()
y = torch.full((3,), float(rank))
dist.reduce(y, dst=last)
assert rank != last or y.tolist() == [sum(everyone)] * 3
parts = [torch.zeros(2) for _ in everyone]
dist.all_gather(parts, torch.tensor([rank, 2.0 * rank]))
assert [part.tolist() for part in parts] == [[r, 2.0 * r] for r in everyone]
parts = [torch.zeros(2, dtype=torch.int64) for _ in everyone] if rank == 0 else None
dist.gather(torch.tensor([rank, -rank]), parts, dst=0)
assert rank or [part.tolist() for part in parts] == [[r, -r] for r in everyone]
y = torch.zeros(2)
dist.scatter(y, [torch.tensor([r, 7.0]) for r in everyone] if rank == last else None, src=last)
assert y.tolist() == [rank, 7.0]
y = torch.zeros(2)
dist.reduce_scatter(y, [torch.tensor([r + rank, 1.0]) for r in everyone])
assert y.tolist() == [size * rank + sum(everyone), size]
objects = ["x", {"a": 1}, None] if rank == 0 else [None] * 3
dist.broadcast_object_list(objects, src=0)
assert objects == ["x", {"a": 1}, None]
objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in everyone]
dist.barrier()

if size > 1:
    if rank == 0:
        dist.send(torch.arange(3.0), dst=1)
        y = torch.zeros(2, dtype=torch.int64)
        assert dist.recv(y) == 1 and y.tolist() == [4, 5]
    elif rank == 1:
        y = torch.zeros(3)
        dist.recv(y, src=0)
        assert y.tolist() == [0.0, 1.0, 2.0]
        dist.send(torch.tensor([4, 5]), dst=0)
    refuses(ValueError, "", lambda: dist.send(torch.ones(1), dst=rank))
    ends = dist.new_group([0, last])
    inside = rank in {0, last}
    y = torch.tensor([float(rank + 1)])
    if inside:
        dist.all_reduce(y, ReduceOp.SUM, ends)
        dist.broadcast(y + 1, src=last, group=ends)
        assert (dist.get_rank(ends), dist.get_world_size(ends)) == (int(rank == last), 2)
    else:
        assert (dist.get_rank(ends), dist.get_world_size(ends)) == (-1, -1)
    assert y.item() == (1 + size if inside else rank + 1)

dist.destroy_process_group()
assert not dist.is_initialized()
print("passed", rank, size)
