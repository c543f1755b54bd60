"""What torch's test files import from torch.testing._internal, as far as tests on the CPU need it, the same for torch and for pullback.

A name that is not here is `Unknown`: harmless while a file is loaded, and a skipped test where a test uses it.
"""

# ruff: noqa: N802, N815, PT009, PT027  # names and forms of unittest

import contextlib
import itertools
import os
import random
import re
import sys
import sysconfig
import tempfile
import types
import unittest
import warnings
from functools import partial, wraps
from importlib.machinery import ModuleSpec
from numbers import Number
from pathlib import Path

import numpy as np
import torch

LOADING = True
ROOT = "torch.testing._internal"
KEPT = ("dtypes", "parameters")


class Unknown:
    """A name of the harness, or of torch, that could not be imported."""

    def __init__(self, name, lacking=False):
        self.name, self.lacking = name, lacking

    def refuse(self):
        raise (
            AttributeError(f"torch has no {self.name}") if self.lacking else unittest.SkipTest(f"harness: {self.name}")
        )

    def __call__(self, *args, **kwargs):
        if not LOADING:
            self.refuse()
        return args[0] if len(args) == 1 and not kwargs and isinstance(args[0], type | types.FunctionType) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if not LOADING:
            self.refuse()
        return Unknown(f"{self.name}.{name}", self.lacking)

    def __mro_entries__(self, bases):
        return (unittest.TestCase,) if "Test" in self.name else (type(self),)

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False


def array(value):
    """A tensor's numbers as an array of NumPy."""
    value = value.detach()
    if value.layout != torch.strided:
        value = value.to_dense()
    if str(value.dtype) in {"torch.bfloat16", "torch.complex32"}:
        value = value.to(torch.float32 if value.dtype.is_floating_point else torch.complex64)
    return np.array(value.resolve_conj().resolve_neg().numpy())


def tolerances(*dtypes):
    """The greatest rtol and atol that torch uses for dtypes."""
    table = {
        "float16": (1e-3, 1e-5),
        "bfloat16": (1.6e-2, 1e-5),
        "float32": (1.3e-6, 1e-5),
        "complex64": (1.3e-6, 1e-5),
    }
    table |= {"float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7)}
    return tuple(map(max, zip(*(table.get(str(each).partition(".")[2], (0, 0)) for each in dtypes), strict=True)))


class TestCase(unittest.TestCase):
    precision = rel_tol = 0
    maxDiff = None

    def setUp(self):
        torch.manual_seed(1234)
        random.seed(1234)
        np.random.seed(1234)

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, **kwargs):
        try:
            self.equal(x, y, atol, rtol, equal_nan, exact_dtype)
        except AssertionError as error:
            text = msg(str(error)) if callable(msg) else msg
            raise AssertionError(f"{error} {text or ''}") from None

    def assertNotEqual(self, x, y, msg=None, **kwargs):
        with self.assertRaises(AssertionError):
            self.assertEqual(x, y, **kwargs)

    def equal(self, x, y, atol, rtol, equal_nan, exact):
        again = partial(self.equal, atol=atol, rtol=rtol, equal_nan=equal_nan, exact=exact)
        kinds = (torch.Tensor, np.ndarray, np.generic)
        if isinstance(x, kinds) or isinstance(y, kinds):
            if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
                self.assertTrue(x.shape == y.shape, f"shapes differ: {tuple(x.shape)}, {tuple(y.shape)}")
                self.assertTrue(not exact or x.dtype == y.dtype, f"dtypes differ: {x.dtype}, {y.dtype}")
            dtypes = [each.dtype for each in (x, y) if isinstance(each, torch.Tensor)]
            broad = isinstance(x, Number) or isinstance(y, Number)
            x, y = (array(each) if isinstance(each, torch.Tensor) else np.asarray(each) for each in (x, y))
            x, y = np.broadcast_arrays(x, y) if broad and x.size == y.size == 1 else (x, y)
            self.assertTrue(x.shape == y.shape, f"shapes differ: {x.shape}, {y.shape}")
            self.close(x, y, atol, rtol, equal_nan, dtypes or [f".{x.dtype}", f".{y.dtype}"])
        elif isinstance(x, Number) and isinstance(y, Number):
            self.close(np.asarray(x), np.asarray(y), atol, rtol, equal_nan, [".float64"])
        elif isinstance(x, dict) and isinstance(y, dict):
            self.assertTrue(set(x) == set(y), f"keys differ: {list(x)}, {list(y)}")
            for key in x:
                again(x[key], y[key])
        elif isinstance(x, list | tuple) and isinstance(y, list | tuple | torch.Size):
            self.assertTrue(len(x) == len(y), f"lengths differ: {len(x)}, {len(y)}")
            for first, second in zip(x, y, strict=True):
                again(first, second)
        else:
            self.assertTrue(x == y, f"not equal: {x!r}, {y!r}")

    def close(self, x, y, atol, rtol, equal_nan, dtypes):
        relative, absolute = tolerances(*dtypes)
        absolute = max(absolute, self.precision) if atol is None else atol
        relative = max(relative, self.rel_tol) if rtol is None else rtol
        with np.errstate(all="ignore"):
            if x.dtype.kind in "fc" or y.dtype.kind in "fc" or absolute or relative:
                kind = "complex128" if "c" in x.dtype.kind + y.dtype.kind else "float64"
                same = np.isclose(x.astype(kind), y.astype(kind), rtol=relative, atol=absolute, equal_nan=equal_nan)
            else:
                same = x == y
        if not np.all(same):
            off = np.argwhere(~np.atleast_1d(same))[0]
            pair = np.atleast_1d(x)[tuple(off)], np.atleast_1d(y)[tuple(off)]
            self.fail(f"values differ at {off.tolist()}: {pair[0]!r}, {pair[1]!r}")

    def compare_with_numpy(self, ours, numpys, x, device=None, dtype=None, **kwargs):
        x = x if isinstance(x, torch.Tensor) else torch.tensor(x, device=device, dtype=dtype)
        self.assertEqual(numpys(array(x)), ours(x), **{**kwargs, "exact_dtype": False})

    def assertEqualIgnoreType(self, *args, **kwargs):
        self.assertEqual(*args, **{**kwargs, "exact_dtype": False})

    def assertEqualTypeString(self, x, y):
        self.assertEqual((x.device, x.dtype, x.is_sparse), (y.device, y.dtype, y.is_sparse))

    def assertObjectIn(self, item, items):
        self.assertTrue(any(item is each for each in items))

    def assertRaisesRegex(self, kind, pattern, *args, **kwargs):
        """As unittest's; the words of an error are no part of the comparison."""
        return super().assertRaisesRegex(kind, "", *args, **kwargs)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category, regex=""):
        """Nothing is asked: torch warns of some things once in a process."""
        yield

    def check_nondeterministic_alert(self, function, caller=None, should_alert=True):
        function()

    def assertLeaksNoCudaTensors(self, name=None):
        return contextlib.nullcontext()

    def assertExpected(self, *args, **kwargs):
        self.skipTest("harness: recorded outputs")

    assertExpectedInline = assertExpectedInlineMunged = assertExpected


class NNTestCase(TestCase):
    pass


class DeviceTypeTestBase(TestCase):
    device_type = "cpu"


def mark(name, values):
    def decorate(function):
        setattr(function, name, values)
        return function

    return decorate


def named(value):
    text = str(value)
    return (
        text.removeprefix("torch.")
        if re.fullmatch(r"torch\.\w+", text)
        else re.sub(r"\W+", "_", getattr(value, "__name__", text))
    )


class subtest:  # noqa: N801  # as torch has it
    def __init__(self, arg_values, name=None, decorators=()):
        self.values, self.name = arg_values, name


def parametrize(names, values, name_fn=None):
    names = [each.strip() for each in names.split(",")]
    rows = []
    for value in values:
        given = value.values if isinstance(value, subtest) else value
        given = (
            [given]
            if len(names) == 1
            and not (isinstance(given, tuple | list) and isinstance(value, subtest) and len(given) == 1)
            else given
        )
        label = getattr(value, "name", None) if isinstance(value, subtest) else name_fn and name_fn(*given)
        label = label or "_".join(f"{name}_{named(each)}" for name, each in zip(names, given, strict=True))
        rows.append((label, dict(zip(names, given, strict=True))))

    def decorate(function):
        if not isinstance(function, type):
            function.parameters = [*getattr(function, "parameters", ()), rows]
        return function

    return decorate


def variants(function, device):
    """The names and arguments of a test's instances."""
    tables = list(getattr(function, "parameters", ()))
    kinds = function.__dict__.get("dtypes_here", function.__dict__.get("dtypes_all"))
    if kinds is not None and device:
        tables.append(
            [
                (
                    "_".join(map(named, each)) if isinstance(each, tuple) else named(each),
                    {"dtypes" if isinstance(each, tuple) else "dtype": each},
                )
                for each in kinds
            ]
        )
    for row in itertools.product(*tables):
        yield (
            "_".join(["", *(["cpu"] if device else []), *(label for label, _ in row)]).rstrip("_"),
            {key: value for _, each in row for key, value in each.items()},
        )


def instance(function, arguments):
    @wraps(function)
    def run(self):
        return function(self, **arguments)

    del run.__wrapped__
    return run


def instantiate(space, cls, device):
    made = {}
    for name in [each for each in dir(cls) if each.startswith("test")]:
        function = getattr(cls, name)
        if not device and not hasattr(function, "parameters"):
            continue
        for label, arguments in variants(function, device):
            made[name + label] = instance(function, {**({"device": "cpu"} if device else {}), **arguments})
        made[name] = made.get(name)
    if device:
        space.pop(cls.__name__, None)
        bases = (cls,) if issubclass(cls, TestCase) else (cls, TestCase)
        place = type(
            f"{cls.__name__}CPU",
            bases,
            {
                "__module__": cls.__module__,
                "device_type": "cpu",
                "get_primary_device": classmethod(lambda _: "cpu"),
                **made,
            },
        )
        space[place.__name__] = place
    else:
        for name, function in made.items():
            setattr(cls, name, function)
    return cls


def instantiate_device_type_tests(cls, space, **kwargs):
    if isinstance(cls, type):
        instantiate(space, cls, True)


def instantiate_parametrized_tests(cls):
    return instantiate({}, cls, False)


def skipped(*args, **kwargs):
    return (
        args[0]
        if False
        else unittest.skip("harness: not on this machine")(args[0])
        if args and callable(args[0])
        else skipped
    )


@contextlib.contextmanager
def freeze_rng_state(*args, **kwargs):
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextlib.contextmanager
def set_default_dtype(dtype):
    kept = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(kept)


@contextlib.contextmanager
def set_default_tensor_type(kind):
    with set_default_dtype(kind.dtype):
        yield


@contextlib.contextmanager
def TemporaryFileName(*args, **kwargs):
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "file")


@contextlib.contextmanager
def TemporaryDirectoryName(suffix=None):
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def noncontiguous_like(tensor):
    if not tensor.is_contiguous() or tensor.numel() < 2:
        return tensor
    made = torch.repeat_interleave(tensor.detach(), 2, dim=-1)[..., 1::2]
    return made.requires_grad_(tensor.requires_grad)


def gradcheck(function, inputs, **kwargs):
    kwargs.pop("check_batched_grad", None)
    kwargs.pop("fast_mode", None)
    return torch.autograd.gradcheck(function, inputs, **kwargs)


def gradgradcheck(function, inputs, grad_outputs=None, **kwargs):
    kwargs.pop("check_batched_grad", None)
    kwargs.pop("fast_mode", None)
    return torch.autograd.gradgradcheck(function, inputs, grad_outputs, **kwargs)


def passed(*args, **kwargs):
    """A decorator without effect, with or without arguments."""
    return args[0] if len(args) == 1 and isinstance(args[0], type | types.FunctionType) else lambda function: function


def iter_indices(tensor):
    return range(tensor.size(0)) if tensor.dim() == 1 else itertools.product(*map(range, tensor.size()))


def is_iterable(value):
    return hasattr(value, "__iter__")


def suppress_warnings(function):
    @wraps(function)
    def run(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return run


def precision(**kinds):
    return lambda function: function


def reparametrized(function):
    return function


NUMBERS = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
TO_TORCH = {np.dtype(name).type: getattr(torch, name) for name in NUMBERS}
SHARED = {
    **{
        each.__name__: each
        for each in (TestCase, NNTestCase, DeviceTypeTestBase, subtest, parametrize, freeze_rng_state)
    },
    **{
        each.__name__: each
        for each in (instantiate_device_type_tests, instantiate_parametrized_tests, set_default_dtype)
    },
    **{
        each.__name__: each
        for each in (TemporaryFileName, TemporaryDirectoryName, noncontiguous_like, gradcheck, gradgradcheck)
    },
    **{each.__name__: each for each in (iter_indices, is_iterable, suppress_warnings, set_default_tensor_type)},
    "dtypes": lambda *kinds, **kwargs: mark("dtypes_all", kinds),
    "dtypesIfCPU": lambda *kinds, **kwargs: mark("dtypes_here", kinds),
    "BytesIOContext": lambda *args: contextlib.nullcontext(__import__("io").BytesIO(*args)),
    "get_all_device_types": lambda: ["cpu"],
    "run_tests": lambda *args, **kwargs: None,
    "load_tests": None,
    "make_tensor": torch.testing.make_tensor,
    "numpy_to_torch_dtype_dict": TO_TORCH,
    "torch_to_numpy_dtype_dict": {value: key for key, value in TO_TORCH.items()},
    "bytes_to_scalar": None,
    "GRADCHECK_NONDET_TOL": 0.0,
    "IS_FBCODE": True,  # which leaves the libraries of torch's own build out
    "TEST_NUMPY": True,
    "TEST_SCIPY": True,
    "NO_MULTIPROCESSING_SPAWN": False,
    "wrapDeterministicFlagAPITest": passed,
    "_assertGradAndGradgradChecks": lambda test, function, inputs, **_: (
        gradcheck(function, inputs) and gradgradcheck(function, inputs)
    ),
    **dict.fromkeys(
        ["slowTest", "largeTensorTest", "onlyCUDA", "onlyOn", "onlyMPS", "onlyXPU", "deviceCountAtLeast", "slowTestIf"],
        skipped,
    ),
}


def looked_up(module, name):
    """A name of a module of the harness."""
    if name in SHARED:
        return SHARED[name]
    if re.fullmatch(r"[A-Z0-9_]+", name):
        return False
    if re.match(
        r"(skip|only|expectedFailure|precision|tol|dtypesIf|unMark|mark|xfail|with_tf32|tf32|decorateIf|disable|reduced|ops$|modules$|optims$|wrap|gcIf|toleranceOverride)",
        name,
    ):
        return (lambda *_, **__: skipped) if name in {"ops", "modules", "optims", "reduced_f32_on_and_off_"} else passed
    return Unknown(f"{module}.{name}")


class Harness(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return looked_up(self.__name__, name)


class Finder:
    """The modules below torch.testing._internal, and those of torch's folder of tests."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if (
            name == ROOT
            or name.startswith(f"{ROOT}.")
            or name
            in {
                "torch_npu",
                "torch_npu.testing",
                "url",
                "xpu_test_utils",
                "expecttest",
                "functorch_additional_op_db",
                "common_utils",
                "autograd",
                "autograd.test_complex",
            }
        ):
            return ModuleSpec(name, cls, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        return Harness(spec.name)

    @staticmethod
    def exec_module(module):
        if module.__name__.endswith(".common_dtype"):  # lists of dtypes
            source = Path(sysconfig.get_path("purelib"), "torch", "testing", "_internal", "common_dtype.py")
            with contextlib.suppress(Exception):
                text = source.read_text().replace("raise AssertionError", "str")  # dtypes that are named only
                exec(compile(text, source, "exec", optimize=1), module.__dict__)


sys.meta_path.insert(0, Finder)
