"""Digests of what many operations and their gradients give, at several moments of a process: all moments give the same.

    PULLBACK_MACHINE_CODE=always python tests/stress/bits.py [OPERATION...]

Prints one line for each operation and moment: its name, the moment, and a digest of all bits. The moments are the first
call, after 10^7 elements of other operations, with other numbers of threads, in another thread, beside a thread that
computes convolutions, in three spawned workers that run at the same time, and in the child of a fork.
"""

import hashlib
import multiprocessing
import os
import sys
import threading

import numpy as np

import pullback
from pullback.nn import functional

ROWS, COLUMNS = 384, 640


def array(seed, *shape, dtype=np.float32):
    """Numbers that are the same everywhere."""
    return pullback.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def elementwise(name):
    """An operation on positive numbers."""
    return lambda x: getattr(pullback, name)(x.abs() + 0.5)


def recurrent(cell):
    """A layer with numbers that are the same everywhere, on a sequence."""

    def run(x):
        layer = cell(64, 128)
        for seed, parameter in enumerate(layer.parameters()):
            parameter.data = array(seed, *parameter.shape) * 0.1
        return layer(x.reshape(-1, 32, 64)[:20])[0]

    return run


def training(x):
    """The loss of a small network after some steps of Adam."""
    weights = [(array(seed, *shape) * 0.05).requires_grad_() for seed, shape in enumerate([(COLUMNS, 512), (512, 10)])]
    optimizer, target = pullback.optim.Adam(weights, lr=0.01), pullback.arange(ROWS) % 10
    for _ in range(3):
        optimizer.zero_grad()
        hidden = functional.gelu(x.detach() @ weights[0])
        functional.cross_entropy(functional.layer_norm(hidden, (512,)) @ weights[1], target).backward()
        optimizer.step()
    return (x @ weights[0]).tanh() @ weights[1]


NAMES = """abs acos acosh asinh atan cos cosh digamma erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2 reciprocal
    rsqrt sigmoid sin sinh sqrt square tan tanh""".split()
ACTIVATIONS = "celu elu gelu hardswish leaky_relu logsigmoid mish relu selu silu softplus softsign tanhshrink".split()
OPERATIONS = {name: elementwise(name) for name in NAMES}
del OPERATIONS["acos"], OPERATIONS["erfinv"]
OPERATIONS |= {name: getattr(functional, name) for name in ACTIVATIONS} | {
    "product of two": lambda x: x * x.flip(0),
    "quotient": lambda x: x / (x.abs() + 1).flip(0),
    "power": lambda x: (x.abs() + 0.5) ** 1.7,
    "hypot": lambda x: pullback.hypot(x, x.flip(0)),
    "logaddexp": lambda x: pullback.logaddexp(x, x.flip(0)),
    "atan2": lambda x: pullback.atan2(x, x.flip(0)),
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1),
    "sum of columns": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(),
    "prod": lambda x: (1 + x / 100).prod(1),
    "max": lambda x: x.max(),
    "amax": lambda x: x.amax(0),
    "norm": lambda x: x.norm(),
    "norm of rows": lambda x: x.norm(dim=1),
    "logsumexp": lambda x: x.logsumexp(1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: (1 + x / 100).cumprod(0),
    "softmax": lambda x: x.softmax(1),
    "softmax of columns": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "matmul": lambda x: x @ x.t(),
    "matmul of batches": lambda x: x.reshape(6, 64, COLUMNS) @ x.reshape(6, COLUMNS, 64),
    "matrix and vector": lambda x: x @ x[0],
    "dot": lambda x: x.reshape(-1) @ x.flip(0).reshape(-1),
    "einsum": lambda x: pullback.einsum("ij,kj->ik", x, x),
    "conv1d": lambda x: functional.conv1d(x.reshape(6, 64, -1), array(1, 48, 64, 5), stride=2),
    "conv2d": lambda x: functional.conv2d(x.reshape(4, 12, 64, 80), array(2, 24, 12, 3, 3), padding=1),
    "depthwise": lambda x: functional.conv2d(x.reshape(4, 12, 64, 80), array(3, 12, 1, 3, 3), groups=12),
    "conv_transpose2d": lambda x: functional.conv_transpose2d(
        x.reshape(4, 12, 64, 80), array(4, 12, 8, 2, 2), stride=2
    ),
    "max_pool2d": lambda x: functional.max_pool2d(x.reshape(4, 12, 64, 80), 2),
    "avg_pool2d": lambda x: functional.avg_pool2d(x.reshape(4, 12, 64, 80), 3, 2),
    "interpolate": lambda x: functional.interpolate(x.reshape(4, 12, 64, 80), scale_factor=1.5, mode="bilinear"),
    "layer_norm": lambda x: functional.layer_norm(x, (COLUMNS,)),
    "batch_norm": lambda x: functional.batch_norm(x.reshape(-1, 8, 60), None, None, training=True),
    "group_norm": lambda x: functional.group_norm(x.reshape(4, 12, 64, 80), 3),
    "rms_norm": lambda x: functional.rms_norm(x, (COLUMNS,)),
    "cross_entropy": lambda x: functional.cross_entropy(x, pullback.arange(ROWS) % COLUMNS),
    "mse_loss": lambda x: functional.mse_loss(x, x.detach().flip(0)),
    "smooth_l1_loss": lambda x: functional.smooth_l1_loss(x, x.detach().flip(0)),
    "binary_cross_entropy": lambda x: functional.binary_cross_entropy_with_logits(x, x.detach().sigmoid()),
    "kl_div": lambda x: functional.kl_div(x.log_softmax(1), x.detach().softmax(0), reduction="batchmean"),
    "nll_loss": lambda x: functional.nll_loss(x.log_softmax(1), pullback.arange(ROWS) % COLUMNS),
    "attention": lambda x: functional.scaled_dot_product_attention(*[x.reshape(4, 6, 160, 64)] * 3, is_causal=True),
    "embedding": lambda x: functional.embedding(pullback.arange(9000) % ROWS, x),
    "index_add": lambda x: x.index_add(0, pullback.arange(ROWS) % 7, x),
    "gather": lambda x: x.gather(1, (pullback.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) * 7) % COLUMNS),
    "cat": lambda x: pullback.cat([x, x.tanh(), x], 1),
    "tril": lambda x: x.tril() @ x.t(),
    "lstm": recurrent(pullback.nn.LSTM),
    "gru": recurrent(pullback.nn.GRU),
    "training": training,
}


def digest(operation, dtype):
    """A digest of the result of an operation and of its gradient."""
    x = array(0, ROWS, COLUMNS, dtype=dtype).requires_grad_()
    y = operation(x) if dtype == np.float32 else operation(x).to(x.dtype)
    (g,) = pullback.autograd.grad(y, x, array(9, *y.shape, dtype=y.detach().numpy().dtype))
    return hashlib.sha256(y.detach().numpy().tobytes() + g.numpy().tobytes()).hexdigest()[:16]


def lines(name):
    """A line for each operation."""
    made = [f"{each}|{name}|{digest(OPERATIONS[each], np.float32)}\n" for each in sys.argv[1:] or OPERATIONS]
    doubles = () if sys.argv[1:] else ("sum", "tanh", "softmax", "matmul", "layer_norm", "norm")
    made += [f"{each} of doubles|{name}|{digest(OPERATIONS[each], np.float64)}\n" for each in doubles]
    return "".join(made)


def moment(name):
    """Print a line for each operation."""
    sys.stdout.write(lines(name))
    sys.stdout.flush()


def others():
    """Other operations, on 10^7 elements in all, of sizes for which there is machine code in the end."""
    x = array(5, 300, 500)
    for _ in range(9):
        for function in (
            OPERATIONS["softmax"],
            OPERATIONS["sum of rows"],
            pullback.sin,
            pullback.exp,
            OPERATIONS["mean"],
        ):
            function(x * 2)
    y = array(6, 500, 500)
    for _ in range(20):
        y = y @ y / 500


def convolutions(over):
    """What has threads for products of its own, which BLAS is told."""
    x, weight = array(7, 16, 12, 64, 80), array(8, 24, 12, 3, 3)
    while not over.is_set():
        functional.conv2d(x, weight)


def main():
    """All moments."""
    moment("first")
    others()
    moment("after")
    before = pullback.get_num_threads()
    for count in (1, 3):
        pullback.set_num_threads(count)
        moment(f"threads {count}")
    pullback.set_num_threads(before)
    thread = threading.Thread(target=moment, args=("thread",))
    thread.start()
    thread.join()
    over = threading.Event()
    thread = threading.Thread(target=convolutions, args=(over,))
    thread.start()
    moment("beside convolutions")
    over.set()
    thread.join()
    with multiprocessing.get_context("spawn").Pool(3) as workers:
        sys.stdout.write("".join(workers.map(lines, [f"worker {i}" for i in range(3)], chunksize=1)))
        sys.stdout.flush()
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            moment("fork")
            os._exit(0)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
