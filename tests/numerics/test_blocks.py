"""Large arrays are worked on in blocks, by several threads: the results do not show it."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pullback
from pullback._numerics import blocks
from pullback.nn import functional

LONG = 3 * blocks.BLOCK // 8  # doubles of three blocks


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = pullback.get_num_threads()
    yield
    pullback.set_num_threads(before)


def scores(seed, *shape):
    return pullback.from_numpy(np.random.default_rng(seed).standard_normal(shape)).requires_grad_()


def kernel(*shape):
    return pullback.from_numpy(np.random.default_rng(2).standard_normal(shape))


LAYERS = {
    "softmax": lambda x: functional.softmax(x, 1),
    "softmax of columns": lambda x: functional.softmax(x, 0),
    "log_softmax": lambda x: functional.log_softmax(x, 1),
    "cross_entropy": lambda x: functional.cross_entropy(x, pullback.arange(len(x)) % x.shape[1], reduction="none"),
    "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
    "batch_norm": lambda x: functional.batch_norm(x.reshape(len(x), 8, -1), None, None, training=True),
    "lgamma": lambda x: x.lgamma(),
    "polygamma": lambda x: pullback.polygamma(2, x),
    "max_pool2d": lambda x: functional.max_pool2d(x.reshape(8, 4, -1, 32), 2),
    "conv1d": lambda x: functional.conv1d(x.reshape(4, 16, -1), kernel(12, 8, 5), stride=2, groups=2),
    "conv2d": lambda x: functional.conv2d(x.reshape(-1, 8, 16, 16), kernel(16, 8, 3, 3), padding=1),
    "conv2d of one image": lambda x: functional.conv2d(
        x.reshape(1, 8, 128, -1), kernel(4, 8, 3, 3), padding=2, dilation=2
    ),
    "conv2d of few channels": lambda x: functional.conv2d(x.reshape(1, 3, 256, -1), kernel(8, 3, 3, 3), padding=1),
    "conv_transpose2d": lambda x: functional.conv_transpose2d(x.reshape(-1, 16, 8, 8), kernel(16, 8, 2, 2), stride=2),
}


def attention(x):
    heads = x.reshape(8, -1, 64, 64)
    return functional.scaled_dot_product_attention(heads, heads.flip(1), heads, is_causal=True)


LAYERS |= {
    "attention": attention,
    "attention of one head": lambda x: functional.scaled_dot_product_attention(x, x[:400], x[:400]),
}


def value_and_gradient(layer, x, **options):
    y = layer(x)
    g = pullback.from_numpy(np.random.default_rng(1).standard_normal(tuple(y.shape)))
    return y.detach().numpy(), pullback.autograd.grad(y, x, g, **options)[0].detach().numpy()


@pytest.mark.parametrize("name", LAYERS)
def test_results_do_not_depend_on_the_number_of_threads(name):
    x = scores(0, LONG // 64, 64)
    found = []
    for number in (1, 2, 5):
        pullback.set_num_threads(number)
        found.append(value_and_gradient(LAYERS[name], x))
    for value, gradient in found[1:]:
        assert value.tobytes() == found[0][0].tobytes()
        assert gradient.tobytes() == found[0][1].tobytes()


@pytest.mark.parametrize("name", LAYERS)
def test_raw_and_dispatched_agree_to_the_bit_in_blocks(name):
    x = scores(0, LONG // 64, 64)
    raw, dispatched = (value_and_gradient(LAYERS[name], x, create_graph=graph)[1] for graph in (False, True))
    assert raw.tobytes() == dispatched.tobytes()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "cross_entropy", "layer_norm"])
def test_rows_in_blocks_are_as_by_themselves(name):
    x = scores(0, LONG // 64, 64)
    value, gradient = value_and_gradient(LAYERS[name], x)
    few = x.detach()[:7].requires_grad_()
    alone = LAYERS[name](few).detach().numpy()
    np.testing.assert_allclose(value[:7], alone, rtol=1e-13, atol=1e-15)
    assert gradient.shape == tuple(x.shape)


@pytest.mark.parametrize("function", [functional.softmax, functional.log_softmax])
def test_scores_that_exponentials_do_not_reach(function):
    """Large, small and infinite scores, in rows of an array computed without a shift and with one."""
    x = np.random.default_rng(0).standard_normal((300, 40))
    x[3] += 800
    x[5] -= 900
    x[7, :39] = -np.inf
    x[9, 0] = np.nan
    x[11, 0] = np.inf
    x[13] = -np.inf
    with np.errstate(all="ignore"):
        shifted = x - x.max(1, keepdims=True)
        wanted = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    if function is functional.softmax:
        wanted = np.exp(wanted)
    for begin in (0, 3, 5, 7, 9, 11, 13):
        part = x[begin:].copy()
        found = function(pullback.from_numpy(part), 1).numpy()
        np.testing.assert_allclose(found, wanted[begin:], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_loss_of_large_scores_keeps_its_digits(dtype):
    x = np.full((200, 50), 60.0, dtype)
    x[:, 1] += dtype(0.5)
    loss = functional.cross_entropy(pullback.from_numpy(x), pullback.ones(200).long())
    np.testing.assert_allclose(loss.item(), np.log(49 * np.exp(-0.5) + 1), rtol=4 * np.finfo(dtype).eps)


def test_pieces_cover_everything_once():
    for length, size in ((0, 8), (1, 8), (10, 8), (10, blocks.BLOCK), (1000, blocks.BLOCK // 10), (7, 10**9)):
        seen = []
        blocks.pieces(lambda start, stop, seen=seen: seen.append((start, stop)), length, size)
        seen.sort()
        assert [start for start, _ in seen] == [0, *(stop for _, stop in seen[:-1])]
        assert seen[-1][1] == length


def test_an_error_in_a_piece_is_raised_when_all_are_done():
    done = []

    def work(start, stop):
        if start == 2:
            raise KeyError(start)
        done.append(start)

    pullback.set_num_threads(3)
    for _ in range(20):
        done.clear()
        with pytest.raises(KeyError, match="2"):
            blocks.pieces(work, 5, blocks.BLOCK)
        assert sorted(done) == [0, 1, 3, 4]


def test_threads_compute_without_warnings():
    pullback.set_num_threads(4)
    x = scores(0, LONG // 64, 64).detach() * 1e4
    with np.errstate(all="raise"):
        assert functional.log_softmax(x, 1).isfinite().all()


def test_pieces_within_pieces_and_several_callers():
    pullback.set_num_threads(3)
    total = np.zeros((6, 4, 5))

    def outer(caller, i):
        blocks.pieces(lambda j, stop: np.add(total[caller, i, j:stop], 1, total[caller, i, j:stop]), 5, blocks.BLOCK)

    def call(caller):
        blocks.pieces(lambda i, _: outer(caller, i), 4, blocks.BLOCK)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(6)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert (total == 1).all()


def test_products_in_pieces_have_one_thread_each_and_leave_blas_as_it_was():
    program = """
import os, sys, threading
import numpy as np, pullback
from pullback._numerics import blas as _blas; from pullback._numerics import blocks as _blocks
before = _blas.threads()
if before is None:
    sys.exit()
pullback.set_num_threads(3)
x, weight = pullback.from_numpy(np.ones((32, 8, 32, 32))), pullback.from_numpy(np.ones((8, 8, 3, 3)))
seen = []

def work(start, stop):
    seen.append(_blas.threads())
    if start == 3:
        raise KeyError(start)

def call():
    for _ in range(5):
        pullback.nn.functional.conv2d(x, weight)
        try:
            _blocks.pieces(work, 6, _blocks.BLOCK, products=True)
        except KeyError:
            continue

callers = [threading.Thread(target=call) for _ in range(4)]
for each in callers:
    each.start()
for each in callers:
    each.join()
assert set(seen) == {1} and _blas.threads() == before, (seen, before, _blas.threads())
if hasattr(os, "fork"):
    with _blas.single():
        child = os.fork()
        if not child:
            wrong = _blas.threads() != before
    if not child:  # which leaves what it never entered
        with _blas.single():
            wrong = wrong or _blas.threads() != 1
        os._exit(wrong or _blas.threads() != before)
    else:
        assert _blas.threads() == before
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=environment)


@pytest.mark.parametrize("weight", [kernel(4, 2, 3, 3), kernel(4, 8, 3, 3)])
def test_what_is_not_finite_stays_where_it_is(weight):
    x = scores(0, 8, weight.shape[1], 6, 6)
    with pullback.no_grad():
        x[3, 1, 0, 0] = np.inf
    weight = weight.requires_grad_()
    pullback.nn.functional.conv2d(x, weight).sum().backward()
    met = np.zeros(tuple(weight.shape), bool)
    met[:, 1, 0, 0] = True
    assert (np.isfinite(weight.grad.numpy()) != met).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_fork_has_threads_of_its_own():
    program = """
import os, sys, threading, warnings
warnings.simplefilter("error")
import numpy as np, pullback
pullback.set_num_threads(3)
x = pullback.from_numpy(np.random.default_rng(0).standard_normal((4000, 128)))
before = x.softmax(1).numpy()
child = os.fork()
same = (x.softmax(1).numpy() == before).all() and threading.active_count() == 3
if not child:
    os._exit(not same)
sys.exit(not same or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_threads_start_only_for_large_arrays():
    program = """
import threading, numpy as np, pullback
x = pullback.from_numpy(np.ones((1000, 8)))
x.softmax(1)
assert threading.active_count() == 1
pullback.set_num_threads(1)
large = pullback.from_numpy(np.ones((100000, 8)))
large.softmax(1)
assert threading.active_count() == 1
pullback.set_num_threads(2)
large.softmax(1)
assert threading.active_count() == 2
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "2", None])
def test_a_number_of_threads_is_a_positive_int(wrong):
    before = pullback.get_num_threads()
    with pytest.raises(RuntimeError, match="set_num_threads expects"):
        pullback.set_num_threads(wrong)
    assert pullback.get_num_threads() == before


@pytest.mark.parametrize(("asked", "number"), [("3", 3), ("2,4", 2), ("nonsense", None), ("", None)])
def test_the_environment_says_how_many_threads(asked, number):
    program = "import pullback; print(pullback.get_num_threads())"
    environment = {**os.environ, "OMP_NUM_THREADS": asked}
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert int(done.stdout) == (
        number or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else int(done.stdout)
    )


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("100000 100000", 1), ("5000 100000", 1), ("max 100000", None),
     ("", None), ("1 0", None), ("0 1000", 1), (None, None)],
)  # fmt: skip
def test_cores_of_a_container(tmp_path, limit, cores):
    if limit is not None:
        (tmp_path / "cpu.max").write_text(limit, encoding="ascii")
    assert blocks._quota(str(tmp_path)) == cores
