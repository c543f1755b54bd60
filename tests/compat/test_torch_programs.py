"""Programs that say `import torch`: each test runs one in a process of its own, with warnings as errors."""

import io
import pickle
import sys
import textwrap

import pytest
from tests.prepared import command, installed, python

import pullback

RUN = ("-m", "pullback", "run")
ORDERS = [
    (0, 0, [0, 5, 1, 6]),
    (0, 1, [10, 7, 8, 5]),
    (7, 2, [9, 3, 1, 6]),
    (2**32 - 1, 0, [9, 7, 5, 3]),
]


def program(text, folder, *arguments, name="program.py", status=0):
    """Write a program and run it by `pullback run`."""
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    done = command(*RUN[2:], name, *arguments, cwd=folder, flags=("-W", "error"))
    assert done.returncode == status, done.stdout + done.stderr
    return done


# The command


def test_a_program_is_run_as_python_runs_it(tmp_path):
    text = """
        import sys
        import torch
        import beside
        print(sys.argv, __name__, __file__, torch.ones(2).sum().item(), beside.x.shape)
        sys.exit(7)
    """
    (tmp_path / "beside.py").write_text("import torch\nx = torch.zeros(3)", encoding="utf-8")
    printed = program(text, tmp_path, "--lr", "0.1", status=7).stdout
    assert printed.strip() == "['program.py', '--lr', '0.1'] __main__ program.py 2.0 torch.Size([3])"


def test_a_module_is_run_as_python_runs_it(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    text = "import sys, torch\nprint(__package__, __spec__.name, sys.argv[1:], torch.float64)"
    (tmp_path / "package" / "tool.py").write_text(text, encoding="utf-8")
    result = python(*RUN, "-m", "package.tool", "-x", cwd=tmp_path)
    assert result.stdout.strip() == "package package.tool ['-x'] torch.float64"


def test_an_exception_is_shown_without_our_own_lines(tmp_path):
    result = program("import torch\nraise ValueError('mine')\n", tmp_path, status=1)
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "program.py" in lines[1]
    assert lines[-1] == "ValueError: mine"
    assert "runpy" not in result.stderr


def test_an_exit_with_a_text_goes_to_stderr(tmp_path):
    assert program("import sys\nsys.exit('no data')\n", tmp_path, status=1).stderr.strip() == "no data"


@pytest.mark.parametrize("arguments", [[], ["--what"], ["nowhere.py"], ["-m"]])
def test_a_command_line_that_names_no_program(arguments, tmp_path):
    done = command(*RUN[2:], *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_a_loader_find_torch(tmp_path, method):
    if sys.platform == "win32" and method == "forkserver":
        pytest.skip("Windows has no fork server")
    text = f"""
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Squares(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, i):
                return torch.tensor([float(i * i)])

        if __name__ == "__main__":
            for batch in DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context={method!r}):
                print(batch.tolist())
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(text), encoding="utf-8")
    printed = python(*RUN, "program.py", cwd=tmp_path).stdout
    assert printed.split("\n")[:2] == ["[[0.0], [1.0]]", "[[4.0], [9.0]]"]


def test_a_program_gets_the_numbers_that_pullback_gives(tmp_path):
    """A training loop, twice: with torch's names through the stand-in, and directly."""
    text = """
        import NAME as torch
        from NAME import nn, optim
        import NAME.nn.functional as F
        from NAME.utils.data import DataLoader, TensorDataset

        torch.manual_seed(0)
        x = torch.randn(64, 3)
        data = TensorDataset(x, (x[:, 0] > 0).long())
        model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        step = optim.Adam(model.parameters(), lr=0.05)
        for _ in range(3):
            for a, b in DataLoader(data, batch_size=16, shuffle=True):
                step.zero_grad()
                loss = F.cross_entropy(model(a), b)
                loss.backward()
                step.step()
        print(loss.item())
    """
    ours = program(text.replace("NAME", "pullback"), tmp_path).stdout
    assert program(text.replace("NAME", "torch"), tmp_path).stdout == ours


# The stand-in


def test_torchs_modules_are_pullbacks():
    installed("""
        import torch.nn as nn, torch.nn.functional as F, torch.optim as optim, torch.autograd.functional
        from torch import Tensor, nn as again, linalg, fft, special
        from torch.nn import Linear, functional, init
        from torch.nn.modules.utils import _pair
        from torch.nn.modules.conv import Conv2d
        from torch.nn.parallel import DataParallel
        from torch.nn.utils import clip_grad_norm_
        from torch.nn.utils.rnn import pad_sequence
        from torch.autograd import Variable, Function, grad
        from torch.func import vmap, grad as of
        from torch.optim.lr_scheduler import StepLR, _LRScheduler
        from torch.optim.optimizer import Optimizer
        from torch.utils.data import DataLoader, Dataset, random_split
        from torch.utils.data.dataloader import default_collate
        from torch.utils.checkpoint import checkpoint
        from torch.distributions import Normal, kl_divergence
        from torch.distributions.categorical import Categorical
        from torch.types import Number, Device
        assert torch.tensor is pullback.tensor and Tensor is pullback.Tensor and torch.float32 is pullback.float32
        assert Linear is pullback.nn.Linear is nn.Linear and F.relu is pullback.nn.functional.relu and nn is again
        assert optim.SGD is pullback.optim.SGD and torch.optim is optim and torch.nn.functional is F
        assert linalg.norm is pullback.linalg.norm and _pair(3) == (3, 3) and _pair([1, 2]) == (1, 2)
        assert isinstance(torch.ones(2), torch.Tensor) and isinstance(torch.ones(2), torch.FloatTensor)
        assert torch.nn.utils.spectral_norm is pullback.nn.utils.spectral_norm
        assert torch.autograd.gradcheck is pullback.autograd.gradcheck
        from torch.utils._pytree import tree_map
        assert tree_map(lambda a, b: a + b, {"a": [1, 2]}, {"a": [10, 20]}) == {"a": [11, 22]}
        names = {}
        exec("from torch import *\\nfrom torch.nn import *", names)
        assert names["randn"] is pullback.randn and names["LSTM"] is pullback.nn.LSTM
        model = DataParallel(Linear(2, 1))
        assert [*model.state_dict()] == ["module.weight", "module.bias"] and model(torch.ones(3, 2)).shape == (3, 1)
    """)


def test_what_pullback_lacks_is_said_by_name():
    installed("""
        raises(AttributeError, "torch.frobnicate is not in pullback: https://", lambda: torch.frobnicate)
        raises(AttributeError, "torch.nn.Frobnicate is not in pullback", lambda: torch.nn.Frobnicate)
        import torch.onnx, torch.hub
        raises(FileNotFoundError, "pullback downloads nothing", lambda: torch.hub.load("owner/name", "model"))
        raises(AttributeError, "torch.nested is not in pullback: the rows of a tensor have one length", lambda: torch.nested)
        raises(AttributeError, "_dtypes", lambda: torch._dtypes)
        raises(ImportError, "torch.utils.cpp_extension is not", lambda: exec("import torch.utils.cpp_extension"))
        raises(ImportError, "Frobnicate", lambda: exec("from torch.nn import Frobnicate"))
        raises(ModuleNotFoundError, "No module named 'torchtext'", lambda: exec("import torchtext"))
        assert not hasattr(torch, "frobnicate") and getattr(torch, "frobnicate", None) is None
        import os.path, email.mime.text  # other imports go on as ever
    """)


def test_install_and_uninstall():
    python(
        "-c",
        textwrap.dedent("""
        import sys, types
        import pullback
        from pullback.compat.torch import install, uninstall
        before = [*sys.meta_path], [*sys.path], {*sys.modules}
        install()
        install()
        import torch, torch.nn.functional, torch.utils.data
        assert repr(torch.ones(2, dtype=torch.float64).dtype) == "torch.float64" and str(torch.Size([1])) == "torch.Size([1])"
        assert torch.ones(1).type() == "torch.FloatTensor" and repr(torch.strided) == "torch.strided"
        uninstall()
        uninstall()
        assert [*sys.meta_path] == before[0] and [*sys.path] == before[1]
        assert not [name for name in sys.modules if name.partition(".")[0] == "torch"]
        assert repr(pullback.float64) == "pullback.float64"
        sys.modules["torch"] = real = types.ModuleType("torch")
        try:
            install()
        except RuntimeError as error:
            assert "torch is already imported" in str(error)
        else:
            raise AssertionError
        assert [*sys.meta_path] == before[0] and sys.modules["torch"] is real
        uninstall()
        assert sys.modules["torch"] is real
    """),
    )


def test_versions():
    installed("""
        version = torch.__version__
        assert isinstance(version, str) and version.startswith("2.13") and torch.version.cuda is None
        assert version >= "1.8" and version >= (2, 0) and version > "2.9.1" and version < "10" and version != "2.12"
        assert not version < (2, 13) and version == "2.13.0" and version <= (2, 13, 1)
        assert tuple(int(part) for part in version.split("+")[0].split(".")) == (2, 13, 0)
    """)


def test_accelerators_are_not_there():
    installed("""
        assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and torch.cuda.memory_allocated() == 0
        assert not torch.backends.mps.is_available() and not torch.backends.cudnn.is_available()
        torch.cuda.empty_cache(), torch.cuda.synchronize(), torch.cuda.manual_seed_all(0), torch.mps.manual_seed(0)
        raises(AssertionError, "Torch not compiled with CUDA enabled", lambda: torch.cuda.get_device_name(0))
        raises(AssertionError, "Torch not compiled with CUDA enabled", lambda: torch.cuda.FloatTensor([1.0]))
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        assert device.type == "cpu" and torch.ones(2).to(device).is_cuda is False and torch.ones(2).is_cpu
        with torch.device("cpu"):
            torch.ones(2, device=device)
        elsewhere = torch.device("cuda:1")
        assert (elsewhere.type, elsewhere.index) == ("cuda", 1) and elsewhere != device
        raises(RuntimeError, "there is no device 'cuda:1'", lambda: torch.ones(2).to(elsewhere))
        raises(RuntimeError, "there is no device 'cuda'", lambda: torch.ones(2).cuda())
        raises(RuntimeError, "there is no device 'mps'", lambda: torch.ones(2, device="mps"))
        raises(RuntimeError, "device type at start of device string", lambda: torch.device("tpu"))
        torch.set_default_device("cpu")
        raises(RuntimeError, "no device 'cuda'", lambda: torch.set_default_device("cuda"))
        import torch.backends.cudnn as cudnn
        cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.set_float32_matmul_precision("high")
        assert torch.backends.cudnn.benchmark is True and torch.get_float32_matmul_precision() == "high"
        raises(ValueError, "invalid float32 matmul precision", lambda: torch.set_float32_matmul_precision("low"))
        torch.use_deterministic_algorithms(True)
        assert torch.are_deterministic_algorithms_enabled() and torch.get_num_threads() > 0
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.ones(1).dtype == torch.float64
        torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.ones(1).dtype == torch.float32 and torch.bfloat16 != torch.float32
        raises(TypeError, "torch.complex32 is not a dtype", lambda: torch.ones(1, dtype=torch.complex32))
    """)


def test_one_process_is_a_world_of_one():
    """Without mpiexec; programs on several ranks: tests/distributed/test_ranks.py."""
    installed("""
        import torch.distributed as dist
        from torch.distributed.elastic.multiprocessing.errors import record
        from torch.nn.parallel import DistributedDataParallel as DDP
        from torch.utils.data.distributed import DistributedSampler
        assert dist.is_available() and not dist.is_initialized() and not dist.is_nccl_available()
        raises(ValueError, "Default process group has not been initialized", lambda: DDP(torch.nn.Linear(2, 1)))
        raises(ValueError, "Default process group has not been initialized", lambda: DistributedSampler([1, 2]))
        raises(RuntimeError, "Distributed package doesn't have NCCL built in", lambda: dist.init_process_group("nccl"))
        words = "told that WORLD_SIZE is 4, but this is rank 0 of 1: start"
        raises(RuntimeError, words, lambda: dist.init_process_group("gloo", rank=0, world_size=4))
        dist.init_process_group("mpi")
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "mpi")
        x, y = torch.arange(3.0), [torch.zeros(3)]
        dist.all_reduce(x, dist.ReduceOp.AVG)
        dist.broadcast(x, 0)
        dist.all_gather(y, x)
        dist.barrier()
        assert y[0].tolist() == [0.0, 1.0, 2.0] and record(len) is len
        raises(ValueError, "destination rank should not be the same as the rank", lambda: dist.send(x, 0))
        raises(ValueError, "source rank should not be the same as the rank", lambda: dist.recv(x))
        raises(ValueError, "Global rank 3 is not part of group", lambda: dist.broadcast(x, 3))
        raises(ValueError, "there are float32 (3,), but the tensors", lambda: dist.all_gather([torch.ones(2)], x))
        raises(TypeError, "Expected parameter of type torch.Tensor", lambda: dist.all_reduce([1]))
        words = "torch.distributed.{} is not in pullback: there are all_reduce and the like"
        raises(RuntimeError, words.format("TCPStore"), lambda: dist.TCPStore("localhost", 1))
        raises(RuntimeError, words.format("all_to_all"), lambda: dist.all_to_all([x], [x]))
        raises(RuntimeError, words.format("nn.all_reduce"), lambda: torch.distributed.nn.all_reduce(x))
        torch.manual_seed(0)
        plain = torch.nn.Linear(3, 2)
        torch.manual_seed(0)
        model = DDP(torch.nn.Linear(3, 2), find_unused_parameters=True)
        for each in (plain, model):
            each(torch.ones(4, 3)).square().mean().backward()
        assert torch.equal(plain.weight.grad, model.module.weight.grad)
        assert [*model.state_dict()] == ["module.weight", "module.bias"]
        raises(RuntimeError, "there is no device", lambda: DDP(plain, device_ids=[0]))
        raises(RuntimeError, "DistributedDataParallel is not needed", lambda: DDP(torch.nn.ReLU()))
        assert sorted(DistributedSampler(range(4))) == [0, 1, 2, 3]
        assert torch.utils.data.DistributedSampler is DistributedSampler
        dist.destroy_process_group()
        assert not dist.is_initialized() and "mpi4py" not in sys.modules
    """)


def test_the_order_of_a_distributed_sampler_is_torchs():
    """`list(DistributedSampler(range(11), 3, 1, seed=seed))` of torch 2.13.0, after `set_epoch(epoch)`."""
    installed(
        """
        from torch.utils.data import DistributedSampler
        for seed, epoch, order in ORDERS:
            sampler = DistributedSampler(range(11), 3, 1, seed=seed)
            sampler.set_epoch(epoch)
            assert list(sampler) == order, (seed, epoch, list(sampler))
    """.replace("ORDERS", repr(ORDERS))
    )


def test_compilers():
    installed("""
        model = torch.nn.Linear(2, 1)
        compiled = torch.compile(model, mode="max-autotune")
        x = torch.ones(3, 2)
        assert (compiled(x) == model(x)).all() and (compiled(x) == model(x)).all()
        @torch.compile
        def looks(x):
            return x if x.sum() > 0 else -x
        assert warned("runs as it is, uncompiled", lambda: looks(-x)).tolist() == x.tolist()
        def f(x):
            return x * 2
        assert warned("torch.jit.script changes nothing", lambda: torch.jit.script(f)) is f
        assert torch.jit.script(f) is f
        assert warned("torch.jit.trace changes nothing", lambda: torch.jit.trace(f, torch.ones(1))) is f
        @torch.compile
        def g(x):
            return x + 1
        @torch.compile(dynamic=True)
        def h(x):
            return x + 2
        class Scripted(torch.jit.ScriptModule):
            @torch.jit.script_method
            def forward(self, x):
                return x
        assert (g(1), h(1), Scripted()(1)) == (2, 3, 1)
        assert isinstance(Scripted(), torch.jit.ScriptModule) and isinstance(Scripted(), torch.nn.Module)
        assert not isinstance(torch.nn.Linear(2, 1), torch.jit.ScriptModule) and not isinstance(f, torch.jit.ScriptFunction)
        assert not torch.jit.is_scripting() and not torch.compiler.is_compiling()
        torch._dynamo.config.suppress_errors = True
        raises(NotImplementedError, "TorchScript", lambda: torch.jit.load("model.pt"))
    """)


def test_mixed_precision():
    installed("""
        block = warned("autocast has no effect here", lambda: torch.autocast("cpu", dtype=torch.bfloat16))
        with block, torch.amp.autocast(device_type="cpu"):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        with warned("not available. Disabling", lambda: torch.autocast(device_type="cuda", dtype=torch.float16)):
            pass
        with torch.autocast("cuda", enabled=False):
            pass
        from torch.cuda.amp import GradScaler, autocast
        scaler = warned("Disabling", GradScaler)
        w = torch.ones(1, requires_grad=True)
        step = torch.optim.SGD([w], lr=1.0)
        assert scaler.scale(w) is w and not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
        scaler.scale(w * 0.5).backward()
        assert w.grad.item() == 4.0
        scaler.unscale_(step)
        assert w.grad.item() == 0.5
        raises(RuntimeError, "already been called", lambda: scaler.unscale_(step))
        scaler.step(step), scaler.update()
        assert w.item() == 0.5 and scaler.get_scale() == 16.0
        w.grad = torch.tensor([float("inf")])
        scaler.step(step), scaler.update()
        assert w.item() == 0.5 and scaler.get_scale() == 8.0  # the step was left out
        other = torch.amp.GradScaler("cpu")
        other.load_state_dict(scaler.state_dict())
        assert other.get_scale() == 8.0
        raises(AssertionError, "No inf checks", scaler.update)
    """)


def test_closeness():
    installed("""
        from torch.testing import assert_close
        assert_close(torch.ones(2), torch.ones(2) + 1e-7)
        assert_close({"a": [torch.ones(2), 1.0]}, {"a": [torch.ones(2), 1.0]})
        raises(AssertionError, "Mismatched elements: 1 / 2 (50.0%)", lambda: assert_close(torch.ones(2), torch.tensor([1, 2.0])))
        raises(AssertionError, "item ['a'][1]", lambda: assert_close({"a": [1, 2]}, {"a": [1, 3]}))
        raises(AssertionError, "'shape' do not match", lambda: assert_close(torch.ones(2), torch.ones(3)))
        raises(AssertionError, "'dtype' do not match", lambda: assert_close(torch.ones(2), torch.ones(2).double()))
        raises(AssertionError, "Scalars are not close", lambda: assert_close(1.0, 1.1))
        raises(ValueError, "must both be specified", lambda: assert_close(1.0, 1.0, rtol=1.0))
        assert_close(torch.tensor(float("nan")), torch.tensor(float("nan")), equal_nan=True)
        raises(AssertionError, "mine", lambda: assert_close(1, 2, msg="mine"))
        from torch.testing import assert_allclose
        assert_allclose(torch.tensor([1.0, float("nan")]), [1 + 5e-5, float("nan")])
        raises(AssertionError, "Mismatched", lambda: assert_allclose(torch.tensor(float("nan")), 1.0))
        raises(AssertionError, "Mismatched", lambda: assert_allclose(torch.tensor(float("nan")), float("nan"), equal_nan=False))
        raises(AssertionError, "Mismatched", lambda: assert_allclose(torch.ones(1), torch.ones(1) + 2e-4))
    """)


def test_tensors_to_test_with():
    installed("""
        from torch.testing import make_tensor
        for dtype, low, high in [(torch.float32, -9, 9), (torch.int8, -9, 9), (torch.uint8, 0, 9), (torch.bool, 0, 1)]:
            t = make_tensor(40, 30, dtype=dtype, device="cpu")
            assert t.dtype == dtype and t.shape == (40, 30) and t.min() >= low and t.max() <= high, dtype
        t = make_tensor((40, 30), dtype=torch.complex64, device="cpu", low=-1, high=1, requires_grad=True)
        assert t.requires_grad and t.is_leaf and t.real.abs().max() <= 1 and t.imag.abs().max() <= 1
        assert make_tensor(dtype=torch.float64, device="cpu").shape == ()
        t = make_tensor((), dtype=torch.float64, device="cpu", low=2, high=2)
        assert t == 2
        t = make_tensor(4, 5, dtype=torch.float16, device="cpu", noncontiguous=True)
        assert t.stride() == (10, 2) and t.shape == (4, 5)
        t = make_tensor(200, dtype=torch.int64, device="cpu", low=-1, high=1.5, exclude_zero=True)
        assert sorted(set(t.tolist())) == [-1, 1]
        wide = make_tensor(9, dtype=torch.float64, device="cpu", low=float("-inf"), high=float("inf"))
        assert wide.isfinite().all() and wide.abs().max() > 1e300
        wide = make_tensor(9, dtype=torch.int64, device="cpu", low=float("-inf"), high=float("inf"))
        assert wide.abs().max() > 2**50

        def refused(error, text, *args, **options):
            raises(error, text, lambda: make_tensor(*args, **{"dtype": torch.int64, "device": "cpu", **options}))

        refused(ValueError, "`low` must be less than `high`, but got 2 >= 2", 3, low=2, high=2)
        refused(ValueError, "no whole number", 3, low=1.2, high=1.8)
        refused(ValueError, "cannot be NaN", 3, low=float("nan"))
        refused(ValueError, "`requires_grad=True` is not supported", 3, requires_grad=True)
        refused(ValueError, "mutually exclusive", 3, noncontiguous=True, memory_format=torch.contiguous_format)
        refused(TypeError, "not a dtype", 3, dtype="floating")
        refused(RuntimeError, "non-negative", -1)
    """)


def test_files_go_both_ways(tmp_path):
    text = """
        import torch
        model = torch.nn.Linear(2, 1)
        step = torch.optim.Adam(model.parameters())
        torch.save({"model": model.state_dict(), "step": step.state_dict(), "epoch": 3, "rng": torch.get_rng_state()}, "a.pt")
        found = torch.load("a.pt", map_location="cpu", weights_only=True)
        model.load_state_dict(found["model"])
        torch.set_rng_state(found["rng"])
        print(found["epoch"])
    """
    assert program(text, tmp_path).stdout.strip() == "3"


def test_whole_modules_are_pickles_that_are_read_when_a_program_says_so(tmp_path):
    text = """
        import pickle, warnings
        import torch

        class Net(torch.nn.Linear):
            pass

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.save(Net(2, 1), "net.pt")
        assert "written as a pickle" in str(caught[0].message)
        assert isinstance(torch.load("net.pt", weights_only=False), Net)
        for options in ({}, {"weights_only": True}):
            try:
                torch.load("net.pt", **options)
            except pickle.UnpicklingError as error:
                assert "Weights only load failed" in str(error)
            else:
                raise AssertionError(options)
        with torch.serialization.safe_globals([Net]):
            assert torch.equal(torch.load("net.pt").weight, torch.load("net.pt", weights_only=False).weight)
        assert torch.serialization.get_safe_globals() == []
        with open("net.pt", "wb") as file:
            file.write(pickle.dumps(Net(2, 1)))  # of another hand: never read
        try:
            torch.load("net.pt", weights_only=False)
        except pickle.UnpicklingError:
            print("refused")
    """
    assert program(text, tmp_path).stdout.strip() == "refused"


@pytest.mark.parametrize("protocol", [4, 5])
def test_pickles_of_all_protocols_are_read(protocol):
    """Which one is written is for Python to say: 5 from 3.14 on."""
    from pullback.compat.torch import storing

    held = [pullback.ones(2, 3).T, pullback.tensor(1.5), {1, 2}]
    file = io.BytesIO(storing._HEADER + pickle.dumps(held, protocol))
    x, y, numbers = storing.load(file)
    assert (x.tolist(), y.item(), numbers) == ([[1.0, 1.0]] * 3, 1.5, {1, 2})
    x.add_(1)


def test_profilers():
    installed("""
        from torch.profiler import profile, record_function, ProfilerActivity
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as seen, record_function("part"):
            torch.ones(2, 2) @ torch.ones(2, 2)
        assert "matmul" in seen.key_averages().table(sort_by="cpu_time_total", row_limit=100)
        with torch.autograd.profiler.profile(use_cuda=False) as seen:
            sum(range(3))
        assert "sum" in seen.key_averages().table(sort_by="self_cpu_time_total")
    """)


def test_tensors_are_known_by_the_text_of_their_type():
    printed = installed("""
        import pickle

        print(type(torch.ones(1)), type(torch.nn.Linear(1, 1).weight).__module__)
        assert pickle.loads(pickle.dumps(torch.Tensor)) is torch.Tensor
        uninstall()
        assert pickle.loads(pickle.dumps(pullback.Tensor)) is pullback.Tensor
        print(type(pullback.ones(1)))
    """)
    assert printed.splitlines() == ["<class 'torch.Tensor'> torch", "<class 'pullback._tensor.tensor.Tensor'>"]


def test_sparse_tensors_are_dense_ones():
    installed("""
        places = torch.tensor([[0, 1, 1, 1], [2, 0, 2, 2]])
        values = torch.tensor([3.0, 0.0, 5.0, 1.0], requires_grad=True)
        made = warned("sparse tensors are kept as dense ones", lambda: torch.sparse_coo_tensor(places, values, (2, 3)))
        assert made.to_dense().tolist() == [[0, 0, 3], [0, 0, 6]] and made._nnz() == 4
        assert made._indices().equal(places) and not made.is_coalesced()
        assert made.coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
        assert made.coalesce().values().tolist() == [3, 0, 6] and made.coalesce().is_coalesced()
        dense = torch.arange(6.0).view(3, 2)
        for product in (torch.sparse.mm, torch.spmm, torch.mm, torch.matmul):
            assert product(made, dense).tolist() == [[12, 15], [24, 30]]
        torch.sparse.mm(made, dense).sum().backward()
        assert values.grad.tolist() == [9, 1, 9, 9]

        old = torch.sparse.FloatTensor(places, torch.ones(4), torch.Size([2, 3]))
        assert old.dtype == torch.float32 and old.tolist() == [[0, 0, 1], [1, 0, 2]]
        assert torch.sparse_coo_tensor((2, 3)).tolist() == [[0] * 3] * 2
        assert torch.sparse_coo_tensor([[0, 1]], [1, 2]).tolist() == [1, 2]
        rows = torch.sparse_csr_tensor(torch.tensor([0, 2, 3]), torch.tensor([0, 2, 1]), torch.tensor([1.0, 2.0, 3.0]), (2, 3))
        assert rows.tolist() == [[1, 0, 2], [0, 3, 0]]

        x = torch.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
        torch.sparse.mm(x.to_sparse(), torch.ones(2, 2)).sum().backward()
        assert x.grad.tolist() == [[0, 2], [2, 0]]
        assert x.to_sparse().indices().tolist() == [[0, 1], [1, 0]] and x.to_dense() is x
        assert torch.sparse.softmax(x.detach().to_sparse(), 1).tolist() == [[0, 1], [1, 0]]
        assert torch.sparse.sum(x.detach(), 0).tolist() == [3, 2]
        assert torch.ones(2, 2).sparse_mask(x.detach()).tolist() == [[0, 1], [1, 0]]

        refuse = lambda words, *args: raises(RuntimeError, words, lambda: torch.sparse_coo_tensor(*args))
        refuse("indices and values must have same nnz", places, torch.ones(2), (2, 3))
        refuse("for dim 1, size is 2 but found index 2", places, torch.ones(4), (2, 2))
        refuse("'len(size) == sparse_dim + dense_dim' is not satisfied", places, torch.ones(4), (2, 3, 3))
        refuse("indices must be sparse_dim x nnz", torch.tensor([0]), torch.ones(1), (2,))
        refuse("found negative index -2", -places, torch.ones(4), (2, 3))
    """)


def test_statements_are_measured():
    printed = installed("""
        from torch.utils import benchmark

        timer = benchmark.Timer("x * x", "x = torch.ones(3)", globals={"torch": torch}, label="square", sub_label="three")
        once = timer.timeit(10)
        assert once.mean == once.median > 0 and once.iqr == 0 and len(once.times) == 1
        many = timer.blocked_autorange(min_run_time=0.001)
        assert sum(many.raw_times) >= 0.001 and many.label == "square"
        assert timer.adaptive_autorange(max_run_time=0.01).number_per_run >= 1
        print(once)
        table = benchmark.Compare([once, many])
        table.trim_significant_figures()
        table.print()
        raises(NotImplementedError, "blocked_autorange", timer.repeat)
    """)
    assert "IQR" not in printed  # one run has no range
    assert "square: three" in printed and "10 runs per measurement, 1 thread" in printed and "Times are in" in printed


def test_functorch_is_func():
    installed("""
        import functorch
        from functorch import make_functional, vmap

        assert vmap is torch.func.vmap and functorch.grad is torch.func.grad
        model = torch.nn.Linear(2, 1)
        f, parameters = warned("make_functional is deprecated", lambda: make_functional(model))
        x = torch.ones(3, 2)
        assert torch.equal(f(parameters, x), model(x)) and all(p.requires_grad for p in parameters)
        grads = functorch.grad(lambda p: f(p, x).sum())(parameters)
        assert grads[0].tolist() == [[3, 3]] and grads[1].tolist() == [3]

        norm = torch.nn.BatchNorm1d(2).eval()
        make = functorch.make_functional_with_buffers
        g, parameters, buffers = warned("make_functional_with_buffers", lambda: make(norm))
        assert torch.equal(g(parameters, buffers, x), norm(x)) and len(buffers) == 3
        raises(RuntimeError, "`model` has buffers", lambda: make_functional(norm))

        nets = [torch.nn.Linear(2, 1) for _ in range(4)]
        f, parameters, buffers = warned("combine_state", lambda: functorch.combine_state_for_ensemble(nets))
        found = vmap(f, (0, 0, None))(parameters, buffers, x)
        assert torch.allclose(found, torch.stack([net(x) for net in nets]))
    """)


def test_old_places_of_names():
    installed("""
        from torch.autograd.gradcheck import gradcheck
        from torch.distributions.transformed_distribution import TransformedDistribution
        from torch.distributions.utils import broadcast_all
        from torch.nn.parameter import UninitializedParameter
        import torch.nn.utils.prune as prune

        assert gradcheck is torch.autograd.gradcheck and UninitializedParameter is torch.nn.UninitializedParameter
        assert prune.l1_unstructured and TransformedDistribution is torch.distributions.TransformedDistribution
        assert broadcast_all(1, torch.ones(2))[0].shape == (2,)
        from torch.distributions.utils import _standard_normal, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

        chances = torch.tensor([0.25, 0.75])
        for binary in (False, True):
            assert torch.allclose(logits_to_probs(probs_to_logits(chances, binary), binary), chances)
        assert 0 < clamp_probs(torch.zeros(1)).item() < 1e-6 and _standard_normal((2, 3), torch.float64, "cpu").shape == (2, 3)

        class Lazy:
            asked = 0

            @lazy_property
            def value(self):
                self.asked += 1
                return self.asked

        one = Lazy()
        assert one.value == one.value == one.asked == 1 and isinstance(Lazy.value, lazy_property)
        layer = torch.nn.Linear(1, 1)
        warned("Module.compile() changes nothing", layer.compile)
    """)


def test_futures():
    installed("""
        from torch.futures import Future, collect_all, wait_all

        first, second = Future(), Future()
        both = collect_all([first, second])
        later = first.then(lambda done: done.value() + 1)
        failing = first.then(lambda done: 1 / 0)
        seen = []
        first.add_done_callback(lambda done: seen.append(done.wait()))
        assert not first.done() and not both.done()
        raises(RuntimeError, "not completed", first.value)
        first.set_result(2)
        assert later.wait() == 3 and seen == [2] and not both.done()
        raises(ZeroDivisionError, "division", failing.wait)
        raises(RuntimeError, "Attempting to mark a completed Future as complete again", lambda: first.set_result(1))
        raises(TypeError, "not an Exception", lambda: second.set_exception("no"))
        second.set_exception(ValueError("why"))
        assert both.wait() == [first, second] and collect_all([]).wait() == []
        raises(ValueError, "why", lambda: wait_all([first, second]))
    """)


def test_operations_on_lists_of_tensors():
    installed("""
        a, b = [torch.ones(2), torch.full((3,), 4.0)], [torch.zeros(2), torch.ones(3)]
        values = lambda tensors: [tensor.tolist() for tensor in tensors]
        assert values(torch._foreach_add(a, b, alpha=2)) == [[1.0, 1.0], [6.0, 6.0, 6.0]]
        assert values(torch._foreach_mul(a, [2.0, 3.0])) == [[2.0, 2.0], [12.0, 12.0, 12.0]]
        assert values(torch._foreach_norm(a, 1)) == [2.0, 12.0] and values(torch._foreach_max(a)) == [1.0, 4.0]
        assert values(torch._foreach_sqrt(a)) == [[1.0, 1.0], [2.0, 2.0, 2.0]]
        assert values(torch._foreach_maximum(a, 2.0)) == [[2.0, 2.0], [4.0, 4.0, 4.0]]
        torch._foreach_addcdiv_(a, b, [torch.ones(2), torch.ones(3)], value=0.5)
        assert values(a) == [[1.0, 1.0], [4.5, 4.5, 4.5]]
        torch._foreach_lerp_(a, b, 1.0)
        assert values(a) == values(b)
        torch._foreach_copy_(a, [torch.ones(2), torch.zeros(3)])
        torch._foreach_clamp_min_(a, 0.5)
        assert values(a) == [[1.0, 1.0], [0.5, 0.5, 0.5]]
        torch._foreach_zero_(a)
        assert values(a) == [[0.0, 0.0], [0.0, 0.0, 0.0]]
        raises(RuntimeError, "must have at least one tensor", lambda: torch._foreach_add([], 1))
        raises(RuntimeError, "must have the same number of tensors", lambda: torch._foreach_add(a, b[:1]))
        raises(AttributeError, "torch._foreach_frob is not in pullback", lambda: torch._foreach_frob)
    """)


def test_names_that_programs_import_from_within_torch():
    installed("""
        import torch.distributed.tensor, torch.fx
        from torch._C import Value
        from torch._jit_internal import List, Optional, _copy_to_script_wrapper
        from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
        from torch._vmap_internals import _vmap
        from torch.distributed.optim import ZeroRedundancyOptimizer
        from torch.nn.modules.module import Module, _addindent
        from torch.torch_version import TorchVersion

        tensors = [torch.ones(2, 2), torch.zeros(3)]
        flat = _flatten_dense_tensors(tensors)
        assert flat.tolist() == [1.0] * 4 + [0.0] * 3
        assert all(map(torch.equal, _unflatten_dense_tensors(flat, tensors), tensors))
        assert _vmap(torch.sum)(torch.ones(2, 3)).tolist() == [3.0, 3.0]
        assert Optional[List[int]] == torch._jit_internal.Optional[torch._jit_internal.List[int]]
        assert torch.torch is torch
        assert _addindent("a\\nb", 2) == "a\\n  b" and Module is torch.nn.Module
        assert torch.fx.wrap(len) is len and isinstance(torch.__version__, TorchVersion)
        assert not isinstance(tensors[0], torch.distributed.tensor.DTensor)
        raises(RuntimeError, "ZeroRedundancyOptimizer is not in pullback", ZeroRedundancyOptimizer)
        raises(ModuleNotFoundError, "torch._C._absent is not in pullback", lambda: __import__("torch._C._absent"))
    """)


def test_safetensors_writes_and_reads(tmp_path):
    pytest.importorskip("safetensors")
    installed(f"""
        import safetensors.torch

        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        path = {str(tmp_path / "model.safetensors")!r}
        safetensors.torch.save_model(model, path)
        other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        safetensors.torch.load_model(other, path)
        for name, tensor in safetensors.torch.load_file(path).items():
            assert torch.equal(tensor, model.state_dict()[name]) and torch.equal(tensor, other.state_dict()[name])
        shared = torch.ones(4)
        raises(RuntimeError, "share memory", lambda: safetensors.torch.save_file({{"a": shared, "b": shared[1:]}}, path))
        assert safetensors.torch.load(safetensors.torch.save({{"a": torch.arange(3)}}))["a"].tolist() == [0, 1, 2]
    """)


def test_arguments_that_take_a_call_for_themselves():
    installed("""
        from torch.overrides import handle_torch_function, has_torch_function_variadic, is_tensor_like

        class Base:
            def __torch_function__(self, function, types, args, kwargs):
                return function.__name__, types, args, kwargs

        class Derived(Base):
            def __torch_function__(self, function, types, args, kwargs):
                return NotImplemented

        def scaled(x, factor=1):
            return x * factor

        x, one, other = torch.ones(2), Base(), Derived()
        assert not torch.nn.functional.has_torch_function((x, 1.0)) and has_torch_function_variadic(x, one)
        assert is_tensor_like(x) and is_tensor_like(one) and not is_tensor_like([1.0])
        found = handle_torch_function(scaled, (x, one, other, Base()), x, factor=one)
        assert found == ("scaled", (Derived, Base), (x,), {"factor": one})
        raises(TypeError, "no implementation found for '__main__.scaled'", lambda: handle_torch_function(scaled, (other,), other))
    """)


def test_capsules_carry_memory():
    installed("""
        import numpy as np
        from torch.utils.dlpack import from_dlpack, to_dlpack

        x = torch.zeros(3)
        assert torch.to_dlpack is to_dlpack
        assert from_dlpack(to_dlpack(x)).equal(x) and from_dlpack(x).equal(x)
        if np.from_dlpack(np.ones(1)).flags.writeable:  # else, what comes from a capsule is a copy
            from_dlpack(to_dlpack(x))[0] = 2
            from_dlpack(np.asarray(x))[2] = 4
            assert x.tolist() == [2, 0, 4]
        raises(TypeError, "__dlpack__", lambda: from_dlpack(3))
    """)
