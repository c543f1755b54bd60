"""interop.scipy: SciPy's and scikit-learn's functions on tensors. Each test is a process of its own: SciPy reads once."""

import importlib.util
import inspect
import os
import subprocess
import sys
import textwrap

import pytest

import pullback.interop.scipy

NO_LEARN = pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed")


def run(program, **more):
    environment = {**os.environ, **more}
    if not more:
        environment.pop("SCIPY_ARRAY_API", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_example_of_the_docstring():
    text = inspect.getdoc(pullback.interop.scipy.enable)
    assert run(text.partition("::\n")[2]) == "tensor([0.2689, 0.7311])"


def test_arrays_and_lists_beside_tensors():
    program = """
        import numpy as np, pullback, pullback.interop.scipy
        pullback.interop.scipy.enable()
        from scipy import ndimage, signal, special, stats

        x, y = np.array([1.0, 2.5, 0.7, 3.1]), np.array([2.0, 1.0, 0.5, 4.0])
        calls = [
            lambda t: stats.ttest_ind(t, y).statistic, lambda t: stats.ttest_ind(y, t).statistic,
            lambda t: stats.pearsonr(t, y).statistic, lambda t: stats.linregress(y, t).slope, lambda t: stats.entropy(t, y),
            lambda t: stats.gmean(t, weights=[1, 2, 1, 1]), lambda t: special.logsumexp(t, b=[1, 2, 1, 1]),
            lambda t: special.gammainc(y, t).sum(), lambda t: signal.fftconvolve(y, t)[3],
            lambda t: abs(signal.freqz(t, [1, 0.2], worN=5)[1]).sum(), lambda t: ndimage.sum_labels(t, np.array([1, 1, 2, 1]), [1, 2])[0],
        ]
        for number, call in enumerate(calls):
            t = pullback.tensor(x, requires_grad=True)
            result = call(t)
            result.backward()
            np.testing.assert_allclose(float(result), call(x), rtol=1e-12, err_msg=str(number))
            slopes = [(call(x + each) - call(x - each)) / 2e-5 for each in 1e-5 * np.eye(4)]
            np.testing.assert_allclose(t.grad, slopes, rtol=1e-6, atol=1e-8, err_msg=str(number))
        """
    run(program)


def test_values_and_gradients_are_those_of_a_formula():
    program = """
        import numpy as np, pullback, pullback.interop.scipy
        pullback.interop.scipy.enable()
        pullback.interop.scipy.enable()
        from scipy import stats
        x = pullback.tensor([1.0, 2.5, 4.0, -1.0], dtype=pullback.float64, requires_grad=True)
        with pullback.no_escapes():
            weights = pullback.tensor([1.0, -2.0, 0.5, 3.0], dtype=pullback.float64)
            (stats.zscore(x) * weights).sum().backward()
        a, w = x.detach().numpy(), weights.numpy()
        d, s = a - a.mean(), a.std()
        np.testing.assert_allclose(x.grad.numpy(), (w - w.mean() - d * (w @ d) / (len(a) * s * s)) / s, rtol=1e-12)
        """
    run(program)


def test_too_late_is_refused_with_the_fix_and_nothing_is_changed():
    program = """
        import os, sys, scipy.special, pullback.interop.scipy
        found = list(sys.meta_path)
        try:
            pullback.interop.scipy.enable()
        except RuntimeError as error:
            print(error)
        assert "SCIPY_ARRAY_API" not in os.environ and sys.meta_path == found
        """
    said = run(program)
    assert "SciPy has already been imported" in said
    assert "SCIPY_ARRAY_API=1" in said


def test_a_process_that_was_started_with_the_variable_is_not_too_late():
    run("import scipy.special, pullback.interop.scipy; pullback.interop.scipy.enable()", SCIPY_ARRAY_API="1")


def test_nothing_is_imported():
    program = """
        import sys, pullback.interop.scipy
        pullback.interop.scipy.enable()
        assert not {"scipy", "sklearn", "scipy.special"} & set(sys.modules)
        """
    run(program)


def test_from_several_threads():
    program = """
        import sys, threading, pullback.interop.scipy as interop
        threads = [threading.Thread(target=interop.enable) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert sum(finder is interop._Finder for finder in sys.meta_path) == 1
        """
    run(program)


@NO_LEARN
@pytest.mark.parametrize("first", [True, False])
def test_scikit_learn_dispatches_in_all_threads(first):
    lines = ["import sklearn", "pullback.interop.scipy.enable()"][:: 1 if first else -1]
    program = (
        "import sys, threading, pullback.interop.scipy\n"
        + "\n".join(lines)
        + textwrap.dedent("""
        found = [sklearn.get_config()["array_api_dispatch"]]
        thread = threading.Thread(target=lambda: found.append(sklearn.get_config()["array_api_dispatch"]))
        thread.start(); thread.join()
        assert found == [True, True], found
        """)
    )
    run(program, **({"SCIPY_ARRAY_API": "1"} if first else {"PATH": os.environ["PATH"]}))
