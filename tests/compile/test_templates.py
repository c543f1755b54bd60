"""Machine code that sizes share: the same bits as with code of their own, and how often something is compiled.

PULLBACK_FUZZ says how many random programs there are, as in `test_fuzz`: a tenth, each at four sizes.
"""

import gc
import threading
import weakref

import numpy as np
import pytest

import pullback

from .sized import PROGRAMS
from .test_fuzz import COUNT, Draw

executable = pytest.importorskip("pullback.compile.machine.executable", reason="llvmlite is not installed")
from pullback.compile.machine import native, templates  # noqa: E402

SIZES = (523, 587, 651, 715)
"""Sizes of one class on every processor: as many more than a number of its widest registers, and between the same thresholds."""
BETWEEN = (SIZES, (267, 331, 395, 459), (395, 459, 523, 587), (779, 843, 907, 971))
"""The same for programs that compute with the squares of sizes, whose thresholds are elsewhere on each processor."""
EDGES = (0, 1, 2, 7, 8, 9, 31, 127, 128, 129, 255, 2047, 2048, 2049, 4099, 32771, 65535, 65537, 131071, 131085, 200_003)
"""Sizes around thresholds: of registers, of loops that are unrolled or cut into chunks."""


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """No code of other tests, in memory or on disk."""
    monkeypatch.setenv("PULLBACK_CACHE", "off")
    monkeypatch.setattr(templates, "_seen", {})
    monkeypatch.setattr(templates, "_templates", weakref.WeakValueDictionary())


@pytest.fixture
def counted(monkeypatch):
    """What is compiled."""
    texts, compiled = [], native.compiled

    def noted(text, *, plain=False):
        texts.append(text)
        return compiled(text, plain=plain)

    monkeypatch.setattr(native, "compiled", noted)
    return texts


def alone(monkeypatch):
    """Give each size code of its own."""
    monkeypatch.setattr(templates, "shared", lambda text, plain: None)


def bits(results):
    """The bytes of all tensors."""
    if isinstance(results, list | tuple):
        return [each for some in results for each in bits(some)]
    return [results.detach().numpy().tobytes()]


def found(program, arguments, rounds=2):
    """The bits of all calls, and how many records run shared code."""
    pullback.manual_seed(1)
    function = pullback.compile(program.make())
    pullback.manual_seed(2)
    results = [bits(function(*given)) for _ in range(rounds) for given in arguments]
    made = [each.machinery.executable for known in function.records.values() for each in known]
    return results, sum(each is not None and each.template is not None for each in made), len(made)


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_share_code_and_every_bit_is_that_of_their_own(name, monkeypatch):
    program = PROGRAMS[name]

    def do_share(sizes):
        templates._seen.clear()
        pullback.manual_seed(0)
        arguments = [program.arguments(n) for n in sizes]
        shared, count, records = found(program, arguments)
        with monkeypatch.context() as patched:
            alone(patched)
            own, none, _ = found(program, arguments)
        assert shared == own
        assert none == 0
        return count >= min(records, len(sizes)) - 2  # the first, and one more where the numbers of two happen to agree

    assert any(map(do_share, BETWEEN))


@pytest.mark.parametrize("seed", range(-(-COUNT // 10)))
def test_random_programs_at_four_sizes(seed, monkeypatch):
    draw = Draw(seed, [(3,), (2, 3), (1, 3), (3, 1), (4, 2, 3)])
    rng, shapes = np.random.default_rng(seed), [x.shape for x in draw.inputs]
    calls = [[rng.uniform(-2, 2, [n if size == 3 else size for size in shape]) for shape in shapes] for n in SIZES]

    def run():
        function, results = pullback.compile(draw), []
        for _ in range(2):
            for arrays in calls:
                with np.errstate(all="ignore"):
                    results.append(bits(function(*[pullback.tensor(x, requires_grad=True) for x in arrays])))
        return results

    shared = run()
    alone(monkeypatch)
    assert shared == run()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sizes_on_both_sides_of_thresholds(dtype, monkeypatch):
    def function(x, w):
        y = (x * w).sin() + x.sum() / max(len(x), 1)
        return y, (y * y).mean(), y[1:] - y[:-1], x[:, None] @ w[None] if len(x) < 300 else x @ y

    rng = np.random.default_rng(0)
    calls = [[rng.standard_normal(n).astype(dtype) for _ in range(2)] for n in EDGES]

    def run():
        compiled = pullback.compile(function)
        return [bits(compiled(*map(pullback.tensor, arrays))) for _ in range(2) for arrays in calls]

    shared = run()
    alone(monkeypatch)
    assert shared == run()


def test_two_threads_run_one_code_at_two_sizes():
    step = pullback.compile(lambda x: ((x[:, None] - x[None]).tanh().sum(1) / len(x)).cumsum(0)[1:] * x[:-1].mean())
    pullback.manual_seed(0)
    given = [pullback.randn(n) for n in SIZES]
    expected = [bits(step(x)) for x in given for _ in range(2)][::2]
    assert len({id(each.machinery.executable.template) for [each] in step.records.values()}) < len(SIZES)
    wrong, start = [], threading.Barrier(len(given))

    def calls(number):
        start.wait()
        wrong.extend([number for _ in range(300) if bits(step(given[number])) != expected[number]])

    threads = [threading.Thread(target=calls, args=(number,)) for number in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_new_size_compiles_nothing(counted):
    program = PROGRAMS["valley_slope"]
    function = pullback.compile(program.make())
    for n in SIZES:
        function(*program.arguments(n))
    assert len([text for text in counted if '@"run"' in text]) == 2


def test_words_that_differ_share_nothing(counted):
    for function in (pullback.sin, pullback.cos):
        compiled = pullback.compile(function)
        for dtype in (pullback.float32, pullback.float64):
            compiled(pullback.ones(203, dtype=dtype))
    assert len([text for text in counted if '@"run"' in text]) == 4


def test_constants_of_functions_become_parameters(counted):
    functions = [pullback.compile(lambda x, factor=factor: x * factor + 1) for factor in (0.1, 0.2, 0.3, 0.4)]
    found = [function(pullback.ones(203, dtype=pullback.float64))[0].item() for function in functions]
    assert found == [0.1 + 1, 0.2 + 1, 0.3 + 1, 0.4 + 1]
    assert len([text for text in counted if '@"run"' in text]) == 2


def test_one_entry_on_disk_serves_all_sizes(counted, monkeypatch, tmp_path):
    monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path))
    program = PROGRAMS["softmax_slope"]
    for sizes in (SIZES[:3], SIZES[3:]):  # in what could be two processes
        function = pullback.compile(program.make())
        before, results = len(counted), []
        for n in sizes:
            x = pullback.linspace(0, 1, n)
            results.append((bits(function(x)), bits(program.make()(x))))
        monkeypatch.setattr(templates, "_seen", {})
        templates._templates.clear()
    assert not [text for text in counted[before:] if '@"run"' in text]
    entries = len([*tmp_path.iterdir()])
    for n in (779, 843, 907):
        pullback.compile(program.make())(pullback.linspace(0, 1, n))
    assert len([*tmp_path.iterdir()]) == entries


def test_code_whose_functions_are_gone_is_read_from_disk(counted, monkeypatch, tmp_path):
    monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path))

    def run():
        function = pullback.compile(PROGRAMS["softmax_slope"].make())
        for n in SIZES:
            function(pullback.linspace(0, 1, n))
        return [known.machinery.executable.template for [known] in function.records.values()]

    assert run()[-1] is not None
    gc.collect()
    before = len(counted)
    assert None not in run()[1:]  # the first, which none was compared with, has an entry of its own
    assert not [text for text in counted[before:] if '@"run"' in text]


def test_types_and_cases_are_words_and_sizes_are_numbers():
    text = (
        'define void @"run"(ptr %"table")\n{\n.2:\n  %".3" = getelementptr i8, ptr %"table", i64 SIZE\n'
        '  switch i64 4, label %".2" [i64 CASE, label %".2"]\n  store KIND 0, ptr %".3"\n  ret void\n}\n'
    )

    def made(size, case, kind):
        return text.replace("SIZE", size).replace("CASE", case).replace("KIND", kind)

    first = templates.apart(made("8", "3", "i32"), plain=False)
    assert first.key == templates.apart(made("16", "3", "i32"), plain=False).key
    assert first.key != templates.apart(made("8", "5", "i32"), plain=False).key
    assert first.key != templates.apart(made("8", "3", "i64"), plain=False).key
    assert first.key != templates.apart(made("8", "3", "i32"), plain=True).key


def test_what_was_forgotten_is_made_again():
    """The report and a call with an array in other memory need the steps."""
    function = pullback.compile(lambda x: (x.exp() * 2).sum(0))
    for n in SIZES:
        for _ in range(2):
            function(pullback.ones(n, 3))
    made = function._newest().machinery.executable
    assert made.template is not None
    assert made._assembled is None
    assert made.kernels
    assert '@"run"' in function.llvm
    turned = np.ones((3, SIZES[-1]), np.float32).T
    assert made(turned)[0].tobytes() == made(turned.copy())[0].tobytes()
