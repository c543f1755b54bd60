"""Short programs for torch and pullback: expressions, one a line of the `.txt` files here, and what they are made of.

`torch.json` holds what torch answered, so that pullback is compared with it where torch is not installed. Names in an
expression: those of `Names` below, and the modules of the library by short names. After a change of an expression,
`python -m tests.recorded` asks torch again; `tests/parity/test_recorded.py` holds that the record is torch's.
"""

import builtins
import importlib
import json
import re
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MODULES = {
    "F": "nn.functional", "L": "linalg", "d": "distributions", "data": "utils.data", "fft": "fft", "func": "func", "init": "nn.init",
    "nn": "nn", "optim": "optim", "prune": "nn.utils.prune", "special": "special", "swa": "optim.swa_utils", "utils": "nn.utils",
    "windows": "signal.windows",
}  # fmt: skip


def expressions():
    """All expressions, with the files that hold them."""
    lines = ((path.stem, line) for path in sorted(HERE.glob("*.txt")) for line in path.read_text("utf-8").splitlines())
    return [(room, line) for room, line in lines if line and not line.startswith("#")]


def record():
    """What torch answered: its version, and the answers by expression."""
    return json.loads((HERE / "torch.json").read_text("utf-8"))


class Names(dict):
    """What the names in an expression stand for, in a library `t`; numbers are another draw at each call."""

    def __init__(self, t):
        super().__init__(t=t, np=np, __builtins__=__builtins__)
        self.t, self.leaves, self.calls = t, [], 0

    def __missing__(self, name):
        if name in MODULES:
            return importlib.import_module(f"{self.t.__name__}.{MODULES[name]}")
        return getattr(self, name) if hasattr(type(self), name) else self._dtype_or_builtin(name)

    def _dtype_or_builtin(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)
        return getattr(self.t, name)

    def x(self, *shape, low=-1.5, high=1.5):
        """A leaf of distinct numbers of both signs."""
        self.calls += 1
        k = np.arange(np.prod(shape, dtype=int))
        waves = np.sin(k * 1.618 + k * k * 0.317 + 2.39 * self.calls) * 0.5 + 0.5
        self.leaves.append(self.t.tensor(low + (high - low) * waves.reshape(shape), requires_grad=True))
        return self.leaves[-1]

    def p(self, *shape):
        """Positive numbers."""
        return self.x(*shape, low=0.4, high=2.6)

    def u(self, *shape):
        """Numbers between 0 and 1."""
        return self.x(*shape, low=0.1, high=0.9)

    def i(self, *shape, high=4):
        """Whole numbers from 0 on."""
        self.calls += 1
        return self.t.tensor(
            (np.arange(np.prod(shape, dtype=int), dtype=np.int64) * 7 + self.calls).reshape(shape) % high
        )

    def z(self, *shape):
        """Complex numbers."""
        return self.t.complex(self.x(*shape), self.x(*shape))

    def spd(self, n):
        """A symmetric, positive definite matrix."""
        a = self.x(n, n)
        return a @ a.mT + self.t.eye(n, dtype=self.t.float64)

    def filled(self, module):
        """A module of double precision whose parameters are known numbers."""
        module = module.double()
        with self.t.no_grad():
            for place, p in enumerate(module.parameters()):
                p.copy_((self.t.arange(p.numel(), dtype=self.t.float64) * 0.7 + place).sin().reshape(p.shape) / 2)
        self.leaves += list(module.parameters())
        return module

    def law(self, it, *values):
        """What can be asked of a distribution: moments, entropy, and densities and cumulated ones at values."""
        asked = {name: lambda name=name: getattr(it, name) for name in ("mean", "variance", "stddev")}
        asked["mode"] = lambda it=it: it.mode.detach()
        asked["entropy"] = it.entropy
        for place, v in enumerate(values):
            for name in ("log_prob", "cdf"):
                asked[f"{name} {place}"] = lambda name=name, v=v: getattr(it, name)(v)
        if it.has_rsample or it.has_enumerate_support is False:
            asked["icdf"] = lambda: it.icdf(self.t.tensor(0.3, dtype=self.t.float64))
        found = {}
        for name, ask in asked.items():
            try:
                found[name] = ask()
            except (NotImplementedError, AttributeError):
                continue
        return found

    def course(self, name, steps=10, shapes=((3,), (2, 2)), **options):
        """Parameters during some steps of an optimizer, one with another rate and once without a gradient; the last state."""
        t = self.t
        ps = [t.tensor(np.cos(np.arange(np.prod(s)) + 1).reshape(s), requires_grad=True) for s in shapes]
        groups = [{"params": ps[:1]}, {"params": ps[1:], "lr": 0.03}]
        optimizer, found = getattr(t.optim, name)(groups, **options), []
        for k in range(steps):
            for place, p in enumerate(ps):
                noise = t.from_numpy(np.asarray(np.sin(k * 1.7 + np.arange(p.numel())).reshape(tuple(p.shape)) * 2))
                p.grad = None if place and k == 2 else 2 * (p.detach() - noise)
            optimizer.step()
            found += [p.detach().clone() for p in ps]
        return t.cat([each.reshape(-1) for each in found]), optimizer.state_dict()["state"]

    def quasi(self, **options):
        """What LBFGS makes of a function that is no parabola."""
        t = self.t
        w = t.tensor([-1.2, 1.0, 0.5, 2.0], dtype=t.float64, requires_grad=True)
        optimizer = t.optim.LBFGS([w], **options)

        def closure():
            optimizer.zero_grad()
            loss = (w.exp() - w).sum() + ((w[1:] - w[:-1]) ** 2).sum() * 2
            loss.backward()
            return loss

        found = [(optimizer.step(closure).item(), w.detach().clone()) for _ in range(4)]
        state = optimizer.state_dict()["state"][0]
        return found, state["func_evals"], state["n_iter"]

    def rates(self, name, *arguments, steps=30, metrics=None, **options):
        """Rates and momenta during the epochs of a schedule, for groups of two rates."""
        t = self.t
        ones = [t.ones(1, requires_grad=True) for _ in range(2)]
        optimizer = t.optim.SGD([{"params": ones[:1]}, {"params": ones[1:], "lr": 0.3}], lr=0.1, momentum=0.9)
        if name == "SWALR":
            made = t.optim.swa_utils.SWALR(optimizer, *arguments, **options)
        else:
            made = getattr(t.optim.lr_scheduler, name)(optimizer, *arguments, **options)
        found = [*made.get_last_lr()]
        for epoch in range(steps):
            optimizer.step()
            made.step(*([] if metrics is None else [metrics(epoch)]))
            found += [*made.get_last_lr(), *(group["momentum"] for group in optimizer.param_groups)]
        return t.tensor([float(each) for each in found], dtype=t.float64)

    def refused(self, call):
        """The words of an error."""
        try:
            call()
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            NotImplementedError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            return f"{type(error).__name__}: {error}"
        raise AssertionError("nothing was refused")

    def told(self, function, *arguments):
        """What a function that takes a list first has written there."""
        said = []
        result = function(said, *arguments)
        return said, result


def answer(t, expression):
    """What an expression gives, as JSON holds it: the results, and the gradients of the leaves that it has made."""
    names = Names(t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other tests ask for them
        result = eval(expression, names, names)
        tensors = [each for each in _tensors(t, result) if each.requires_grad and each.numel()]
        answers = [_told(t, result)]
        if tensors and names.leaves:
            total = sum(
                (y.abs() if y.is_complex() else y).mul(t.from_numpy(_weights(y.shape, y.dtype))).sum() for y in tensors
            )
            grads = t.autograd.grad(total, names.leaves, allow_unused=True)
            answers += [None if g is None else _told(t, g) for g in grads]
    return answers


def _weights(shape, dtype):
    weights = np.cos(np.arange(np.prod(shape, dtype=int)) + 1).reshape(tuple(shape))
    return np.asarray(weights, np.float64 if str(dtype).endswith(("64", "128")) else np.float32)


def _tensors(t, value):
    if isinstance(value, t.Tensor):
        return [value] if value.is_floating_point() or value.is_complex() else []
    if isinstance(value, dict):
        value = list(value.values())
    return [each for item in value for each in _tensors(t, item)] if isinstance(value, (list, tuple)) else []


def _told(t, value):
    """A tensor as its dtype, its shape, and its numbers, of many their sums with weights; containers by their elements."""
    if isinstance(value, t.Tensor):
        array = np.asarray(value.detach().resolve_conj().resolve_neg().numpy())
        numbers = np.concatenate([array.real.ravel(), array.imag.ravel()]) if array.dtype.kind == "c" else array.ravel()
        numbers = [float(each) for each in numbers]
        if len(numbers) > 8 and np.isfinite(numbers).all():
            turns = np.arange(len(numbers))
            sums = [float(np.dot(np.cos(a * turns), numbers)) for a in (0.0, 1.0, 2.1)]
            numbers = [*sums, float(np.abs(numbers).sum())]
        return {
            "dtype": str(value.dtype).rpartition(".")[2],
            "shape": list(value.shape),
            "numbers": [float(f"{each:.11g}") for each in numbers],
        }
    if isinstance(value, dict):
        return {str(key): _told(t, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_told(t, each) for each in value]
    if isinstance(value, np.ndarray):
        return _told(t, t.from_numpy(value))
    return value if isinstance(value, (int, float, str, type(None))) else str(value).rpartition(".")[2]


def differences(ours, theirs, place=""):
    """Where two answers differ: numbers by more than rounding, errors if ours does not hold torch's words."""
    if isinstance(theirs, dict) and "numbers" in theirs:
        kind = [ours[key] == theirs[key] for key in ("dtype", "shape")]
        if not all(kind):
            return [f"{place}: {ours['dtype']}{ours['shape']}, torch {theirs['dtype']}{theirs['shape']}"]
        digits = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-5, "complex64": 2e-5}.get(theirs["dtype"], 1e-2)
        a, b = np.array(ours["numbers"], float), np.array(theirs["numbers"], float)
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.1)
        return [] if np.allclose(a, b, rtol=0, atol=digits * largest, equal_nan=True) else [f"{place}: {a}, torch {b}"]
    if isinstance(theirs, dict):
        return [each for key in theirs for each in differences(ours.get(key), theirs[key], f"{place} {key}")]
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [each for n, (a, b) in pairs for each in differences(a, b, f"{place}[{n}]")]
    if isinstance(theirs, float) and isinstance(ours, (int, float)):
        return [] if np.isclose(ours, theirs, rtol=1e-6, atol=1e-9) else [f"{place}: {ours}, torch {theirs}"]
    if isinstance(theirs, str) and isinstance(ours, str) and re.match(r"\w+Error: ", theirs):
        kind, _, words = theirs.partition(": ")
        return (
            []
            if ours.startswith(kind) and words.partition("\n")[0] in ours
            else [f"{place}: {ours!r}, torch {theirs!r}"]
        )
    return [] if ours == theirs else [f"{place}: {ours!r}, torch {theirs!r}"]
