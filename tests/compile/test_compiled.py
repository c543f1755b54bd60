"""What stands around compiled functions: their texts, the cache, threads, faults, and life without llvmlite."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import pullback
from pullback.compile import CaptureError, Compiled, store


def run(program, **environment):
    """What a program prints in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_texts():
    @pullback.compile
    def gradient(x):
        return pullback.func.grad(lambda t: (t.exp() * t).sum())(x)

    with pytest.raises(RuntimeError, match="call it first"):
        gradient.ir  # the property raises
    x = pullback.arange(3.0)
    result = gradient(x)
    assert "exp" in gradient.ir
    space = {}
    exec(gradient.source, space)  # what is to be shipped
    np.testing.assert_allclose(space["gradient"](x.numpy()), result.numpy(), rtol=1e-6)
    code = [line for line in gradient.source.splitlines() if not line.strip().startswith(("#", '"""'))]
    assert "pullback" not in "".join(code)
    pytest.importorskip("llvmlite")
    assert "define" in gradient.llvm
    report = str(gradient.report())
    assert "kernel" in report
    assert "a first call" in report


def test_the_text_of_a_training_step():
    """It changes the arrays of the parameters that it is given, at the learning rate that it is given."""
    model = pullback.nn.Linear(3, 2)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.1)

    @pullback.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = pullback.linspace(-1, 1, 12).reshape(4, 3)
    step(x)
    space = {}
    exec(step.source, space)
    weight, bias = (parameter.detach().numpy().copy() for parameter in model.parameters())
    space["step"](x=x.numpy(), weight=weight, bias=bias, lr=np.array(0.1))
    step(x)
    np.testing.assert_allclose(weight, model.weight.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(bias, model.bias.detach().numpy(), rtol=1e-6)


def test_modules_decorators_and_torch_s_arguments():
    module = pullback.nn.Linear(3, 2)
    compiled = pullback.compile(module, mode="max-autotune", dynamic=False, backend="inductor")
    x = pullback.ones(4, 3)
    for _ in range(3):
        assert (compiled(x) == module(x)).all()
    assert compiled.weight is module.weight
    assert [id(p) for p in compiled.parameters()] == [id(p) for p in module.parameters()]
    assert compiled.eval() is compiled
    assert not module.training
    assert pullback.compile(fullgraph=True)(lambda x: x + 1)(x).sum().item() == 24
    assert pullback.compile(abs, disable=True) is abs
    with pytest.raises(TypeError, match="a function or a module"):
        pullback.compile(3)


def test_methods():
    class Thing:
        factor = 3

        @pullback.compile
        def scaled(self, x):
            return x * self.factor

    thing = Thing()
    assert thing.scaled(pullback.ones(2)).tolist() == [3.0, 3.0]
    thing.factor = 4
    assert thing.scaled(pullback.ones(2)).tolist() == [4.0, 4.0]


def test_fullgraph_raises_what_is_told_otherwise():
    with pytest.raises(CaptureError, match="depends on values"):
        pullback.compile(lambda x: x[x > 0], fullgraph=True)(pullback.ones(3))


def test_inside_transforms_it_runs_as_it_is():
    compiled = pullback.compile(lambda x: (x**3).sum())
    x = pullback.arange(3.0)
    compiled(x)
    assert pullback.func.grad(compiled)(x).tolist() == [0.0, 3.0, 12.0]


def test_the_strides_of_a_gradient_that_comes_and_goes():
    w = pullback.ones(2, 3, requires_grad=True)

    def double_if_in_order(x):
        in_order = w.grad is not None and w.grad.is_contiguous() and w.grad.stride() == (3, 1)
        return x * 2 if in_order else x * 3

    compiled = pullback.compile(double_if_in_order)
    straight, turned = pullback.ones(2, 3), pullback.ones(3, 2).T
    for gradient in (straight, straight, straight, None, turned, turned, turned, straight, None):
        w.grad = gradient
        x = pullback.ones(2)
        assert compiled(x).tolist() == double_if_in_order(x).tolist()


def test_a_failing_call_writes_nothing():
    w = pullback.ones(4, requires_grad=True)

    @pullback.compile
    def step(table, places):
        w.grad = None
        loss = (w * table[places]).sum()
        loss.backward()
        with pullback.no_grad():
            w.sub_(w.grad)
        return loss.detach()

    table = pullback.arange(3.0)
    step(table, pullback.tensor([0, 1, 2, 0]))
    step(table, pullback.tensor([0, 1, 2, 0]))
    before, version = w.tolist(), w._version
    with pytest.raises(IndexError):
        step(table, pullback.tensor([0, 1, 7, 0]))
    assert w.tolist() == before
    assert w._version == version
    step(table, pullback.tensor([2, 2, 2, 2]))
    assert w.tolist() == [value - 2 for value in before]


def test_threads_share_a_compiled_function():
    compiled = pullback.compile(lambda x, y: (x @ y).tanh().sum())
    inputs = [(pullback.randn(8, 8), pullback.randn(8, 8)) for _ in range(4)]
    expected = [(x @ y).tanh().sum().item() for x, y in inputs]
    compiled(*inputs[0])
    wrong = []

    def work(number):
        values = [compiled(*inputs[number]).item() for _ in range(200)]
        wrong.extend(value for value in values if abs(value - expected[number]) > 1e-4)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_are_all_the_first_to_call_make_one_record():
    """There are more of them than records may be made for one kind of call."""
    compiled = pullback.compile(lambda x: (x * 2).sum())
    line = threading.Barrier(12)
    answers = []

    def work():
        line.wait()
        answers.append(compiled(pullback.ones(3)).item())

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [6.0] * 12
    assert (compiled.report().records, compiled.refused) == ([(1, "a first call")], {})


PROGRAM = """
    import pullback
    f = pullback.compile(lambda x: (x.exp() * x).sum())
    x = pullback.arange(4.0)
    print(f(x).item(), f(x).item())
"""


def test_a_second_process_takes_its_code_from_the_disk(tmp_path):
    first = run(PROGRAM, PULLBACK_CACHE=str(tmp_path))
    entry = max(tmp_path.glob("**/*.code"), key=lambda path: path.stat().st_mtime_ns)
    written = entry.stat().st_mtime_ns
    compiles = """
        from pullback.compile.machine import native
        def refuse(*args, **options):
            raise AssertionError("compiled anew")
        import pullback.compile.machine.executable as executable
        executable.native.compiled = refuse
    """
    second = run(textwrap.dedent(compiles) + textwrap.dedent(PROGRAM), PULLBACK_CACHE=str(tmp_path))
    assert second == first
    assert entry.stat().st_mtime_ns == written


def test_a_damaged_entry_is_made_anew(tmp_path):
    first = run(PROGRAM, PULLBACK_CACHE=str(tmp_path))
    entry = max(tmp_path.glob("**/*.code"), key=lambda path: path.stat().st_mtime_ns)
    content = entry.read_bytes()
    for damaged in (content[: len(content) // 2], b"", content[:-9] + b"123456789"):
        entry.write_bytes(damaged)
        assert run(PROGRAM, PULLBACK_CACHE=str(tmp_path)) == first


def test_without_llvmlite_it_says_so_once_and_runs():
    program = """
        import sys, warnings
        sys.modules["llvmlite"] = None
        import importlib.util
        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "llvmlite" else found(name, *rest)
        import pullback
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for power in (2, 3):
                f = pullback.compile(lambda x: (x ** power).sum())
                print(f(pullback.ones(3)).item(), f(pullback.ones(3)).item(), repr(f.llvm))
        print(len(told), "llvmlite" in str(told[0].message), f.source.count("def "))
    """
    assert run(program).split() == ["3.0", "3.0", "''"] * 2 + ["1", "True", "1"]


def test_large_arrays_go_through_machine_code():
    rng = np.random.default_rng(0)
    for shape in ((1 << 19,), (800, 801), (3, 1 << 18)):
        a, b = rng.uniform(0.1, 2, shape).astype("f"), rng.uniform(-2, 2, shape).astype("f")
        x, y = pullback.tensor(a), pullback.tensor(b)
        for _ in range(3):
            np.testing.assert_array_equal((x + y).numpy(), a + b)
            np.testing.assert_array_equal((y * 2.5).numpy(), b * np.float32(2.5))
            np.testing.assert_array_equal((x.T / y.T).numpy(), a.T / b.T)
            np.testing.assert_array_equal((x > y).numpy(), a > b)
            np.testing.assert_allclose(y.exp().numpy(), np.exp(b), rtol=3e-7)
            np.testing.assert_allclose(y.tanh().numpy(), np.tanh(b), rtol=3e-7)
    x.requires_grad_()
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * a)


def test_the_store_is_used_only_where_it_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("PULLBACK_CACHE", "off")
    compiled = Compiled(lambda x: x * 2 + 1)
    compiled(pullback.ones(3))
    assert store.status().startswith("off")


def test_a_refused_function_runs_as_it_is_until_it_can_be_compiled():
    @pullback.compile(lenient=True)
    def function(x, as_number):
        return x * (x.sum().item() if as_number else 2.0)

    x = pullback.arange(3.0)
    with pytest.warns(UserWarning, match="uncompiled"):
        assert function(x, True).tolist() == [0.0, 3.0, 6.0]
    for _ in range(200):  # another kind of call is compiled, if not at once
        assert function(x, True).tolist() == [0.0, 3.0, 6.0]
        assert function(x, False).tolist() == [0.0, 2.0, 4.0]
    assert "multiply" in function.ir


@pytest.mark.parametrize("options", [{}, {"fuse": False}], ids=["fused", "not fused"])
@pytest.mark.parametrize(
    "name", ["gather", "index_select", "scatter", "index_add", "index_copy", "embedding", "cross_entropy"]
)
def test_indices_out_of_bounds_raise_as_in_eager_code(name, options):
    x = pullback.arange(12.0).reshape(4, 3)
    f = {
        "gather": lambda i: x.gather(0, i[:, None].expand(2, 3)),
        "index_select": lambda i: x.index_select(0, i),
        "scatter": lambda i: x.scatter(0, i[:, None].expand(2, 3), 1.0),
        "index_add": lambda i: x.index_add(0, i, x[:2]),
        "index_copy": lambda i: x.index_copy(0, i, x[:2]),
        "embedding": lambda i: pullback.nn.functional.embedding(i, x),
        "cross_entropy": lambda i: pullback.nn.functional.cross_entropy(x.T[:2], i),
    }[name]
    compiled, right = pullback.compile(f, **options), pullback.tensor([1, 0])
    computed = pullback.compile(lambda i: f(i * 2 - i), **options)
    assert np.allclose(compiled(right), f(right))

    def raises_the_same(index):
        wrong = pullback.tensor([index, 0])
        with pytest.raises((IndexError, RuntimeError)) as eager:
            f(wrong)
        fixed = pullback.compile(lambda: f(wrong), **options)
        for call in (lambda: compiled(wrong), fixed, lambda: computed(wrong)):
            with pytest.raises(type(eager.value)) as raised:
                call()
            assert str(raised.value) == str(eager.value)

    raises_the_same(-1)
    raises_the_same(4)


BESIDE = {
    "leaf": lambda x: x,
    "product": lambda x: 2 * x,
    "view": lambda x: x.reshape(3),
    "part": lambda x: x.split([3])[0],
}


@pytest.mark.parametrize("before", BESIDE.values(), ids=BESIDE)
@pytest.mark.parametrize("after", BESIDE.values(), ids=BESIDE)
def test_a_jacobian_of_what_is_around_a_compiled_function(before, after):
    """All rows at once, which is a second run of the function; also of an argument that is no leaf."""
    x = pullback.tensor([0.5, 1.0, -2.0], dtype=pullback.float64, requires_grad=True)
    compiled = pullback.compile(lambda x: x.sin() * x)
    found, expected = (pullback.jacobian(after(f(before(x))), x) for f in (compiled, compiled.function))
    np.testing.assert_allclose(found.detach(), expected, atol=1e-15)
