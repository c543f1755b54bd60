"""torch's own database of operators, asked of pullback: the same samples, the same values, the same gradients.

`torch.testing._internal.common_methods_invocations.op_db` lists torch's operators with a generator of samples for each.
An entry passes when pullback has it and, for every sample drawn, gives results of torch's shape, dtype and value, and
pulls a random cotangent back to torch's gradients. `operators.txt` beside this file holds what has passed before;
`test_operators.py` fails on a loss.

    python tests/parity/operators.py [--ops REGEX] [--second] [--samples N] [--dtype NAME] [--update] [--table]
"""

from __future__ import annotations

import argparse
import functools
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pullback

BASELINE = Path(__file__).with_suffix(".txt")
TABLE = Path(__file__).parent.parent.parent / "docs" / "reference" / "operators.md"
SAMPLES, POOL = 6, 60
RTOL, ATOL = 1e-6, 1e-8

# Kernels of torch's own machinery and formulas of its backward passes, which no program calls: patterns of names.
INTERNAL = (
    "torch.*", "jiterator_*", "native_batch_norm", "native_layer_norm", "native_dropout_backward", "_[!_]*", "slice",
    "sparse.*", "to_sparse", "grid_sampler_[23]d", "max_pool2d_with_indices_backward", "hash_tensor", "chalf",
    "bmm.triton_optimized", "as_strided.partial_views", "*_copy",
)  # fmt: skip
UNWRITTEN = re.compile(r"(new_)?empty.*|resize_(as_)?")  # memory that holds anything


class Outcome(NamedTuple):
    """How far pullback goes along with torch on one entry, and what stopped it."""

    forward: bool
    gradient: bool | None  # None where torch has none
    reason: str


class MismatchError(Exception):
    """pullback did something else than torch."""


@functools.cache
def database() -> dict[str, Any]:
    """torch's entries by name, those of no public operator left out."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_utils
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.opinfo import core
    # Each sample asked the stack for a unittest, and each seed noted it for devices that are not here: half of all time.
    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
    for device in (torch.cuda, torch.mtia, torch.xpu):
        device.manual_seed_all = lambda seed: None
    entries = {f"{op.name}.{op.variant_test_name}".rstrip("."): op for op in op_db}
    return {name: op for name, op in entries.items() if name == "index_copy" or not is_internal(name)}


def is_internal(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in INTERNAL)


# 1. Which function an entry means


def dotted(root: Any, path: str) -> Any:
    """The attribute of an attribute, or None."""
    for part in path.split("."):
        root = getattr(root, part, None)
        if root is None:
            return None
    return root


def resolved(op: Any) -> Callable[..., Any] | None:
    """The function of pullback that an entry is about."""
    function = op.op
    if is_wrapper(function):
        return rebound(function, pullback)
    for name in (op.name, *(alias.name for alias in op.aliases)):
        for root in (pullback, pullback.nn.functional, pullback.Tensor):
            found = dotted(root, name)
            if callable(found) and not isinstance(found, (pullback.dtype, types.ModuleType)):
                return found
        if dunder(name):
            return getattr(pullback.Tensor, name)
    return None


def dunder(name: str) -> bool:
    return name.startswith("__") and any(name in vars(cls) for cls in pullback.Tensor.__mro__[:-1])


def is_wrapper(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing")


def rebound(function: types.FunctionType, library: Any) -> Callable[..., Any]:
    """A wrapper from torch's database for one of the libraries; it leaves the seed alone."""
    scope = dict(function.__globals__)
    scope.update(torch=library, wrapper_set_seed=lambda op, *args, **options: op(*args, **options))
    copied = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def original(op: Any) -> Callable[..., Any]:
    """The function of torch that an entry is about."""
    import torch

    return rebound(op.op, torch) if is_wrapper(op.op) else op.op  # type: ignore[no-any-return]


# 2. Arguments and results


def translated(value: Any, leaves: list[Any], *, to_pullback: bool) -> Any:
    """An argument for one side: fresh leaves for tensors, pullback's words for torch's."""
    import torch

    again = functools.partial(translated, leaves=leaves, to_pullback=to_pullback)
    if isinstance(value, torch.Tensor):
        plain = value.detach().resolve_conj().resolve_neg()
        made = pullback.from_numpy(numbers(plain).copy(order="K")) if to_pullback else plain.clone()
        if value.requires_grad:
            made.requires_grad_()
            leaves.append(made)
        return made
    if isinstance(value, (torch.Size, list, tuple)):
        items = [again(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: again(item) for key, item in value.items()}
    if not to_pullback:
        return value
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        found = dotted(pullback, str(value).removeprefix("torch."))
        if found is None:
            raise MismatchError(f"no {value}")
        return found
    return str(value) if isinstance(value, torch.device) else value


def tensors(result: Any, kind: type) -> Iterator[Any]:
    """The tensors in a result, in order."""
    if isinstance(result, kind):
        yield result
    elif isinstance(result, dict):
        for item in result.values():
            yield from tensors(item, kind)
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from tensors(item, kind)


def plain(result: Any, kind: type) -> Any:
    """What is no tensor in a result: numbers, shapes, nothing."""
    if isinstance(result, kind):
        return "tensor"
    if isinstance(result, (list, tuple)):
        return [plain(item, kind) for item in result]
    return result if isinstance(result, (bool, int, float, complex, str, type(None))) else "something"


def compare(
    mine: Any, its: Any, what: str, *, values: bool = True, exact: Callable[[], np.ndarray[Any, Any]] | None = None
) -> None:
    """Shape, dtype and values of two tensors.

    In bfloat16 torch rounds sums several times on some processors: where the values differ, ours must be near those that are
    `exact`.
    """
    ours, theirs = mine.detach().numpy(), numbers(its)
    if ours.dtype != theirs.dtype:
        raise MismatchError(f"{what}: dtype {ours.dtype}, torch has {theirs.dtype}")
    if ours.shape != theirs.shape:
        raise MismatchError(f"{what}: shape {ours.shape}, torch has {theirs.shape}")
    precise = ours.dtype.itemsize // (1 + (ours.dtype.kind == "c")) >= 8 or ours.dtype.kind not in "fc"
    rtol, atol = (RTOL, ATOL) if precise else (2e-4, 2e-5)
    if ours.dtype.name == "bfloat16":
        ours, theirs, rtol, atol = ours.astype(np.float32), theirs.astype(np.float32), 2**-6, 2**-6
        if values and exact is not None and not np.allclose(ours, theirs, rtol, atol, equal_nan=True):
            theirs = exact()
    if values and not np.allclose(ours, theirs, rtol, atol, equal_nan=True):
        apart = np.abs(np.subtract(ours, theirs, dtype=np.result_type(ours, np.float64)))
        raise MismatchError(f"{what}: values up to {np.nanmax(apart):.3g} apart")


def numbers(its: Any) -> np.ndarray[Any, Any]:
    """The array of a tensor of torch, also of one in bfloat16, which torch does not give."""
    import torch

    its = its.detach()
    if its.dtype != torch.bfloat16:
        return its.resolve_conj().resolve_neg().numpy(force=True)  # type: ignore[no-any-return]  # an array
    import ml_dtypes

    return its.view(torch.int16).numpy(force=True).view(ml_dtypes.bfloat16)  # type: ignore[no-any-return]


def its_tensor(array: np.ndarray[Any, Any]) -> Any:
    """A tensor of torch with the numbers of an array."""
    import torch

    if array.dtype.name != "bfloat16":
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


# 3. One sample


def calls(function: Callable[..., Any], sample: Any, *, to_pullback: bool) -> tuple[Any, list[Any]]:
    """The result of a call on fresh leaves, and those leaves."""
    leaves: list[Any] = []
    args = [translated(value, leaves, to_pullback=to_pullback) for value in (sample.input, *sample.args)]
    options = {key: translated(value, leaves, to_pullback=to_pullback) for key, value in sample.kwargs.items()}
    return function(*args, **options), leaves


def in_doubles(op: Any, sample: Any, place: int) -> np.ndarray[Any, Any]:
    """One of torch's outputs, computed from the same numbers in double precision."""
    import torch
    from torch.utils._pytree import tree_map_only

    def wide(tensor: Any) -> Any:
        return tensor.detach().double() if tensor.is_floating_point() else tensor

    args, options = tree_map_only(torch.Tensor, wide, ((sample.input, *sample.args), sample.kwargs))
    found = list(tensors(original(op)(*args, **options), torch.Tensor))
    return found[place].numpy()  # type: ignore[no-any-return]  # an array


def compare_sample(op: Any, function: Callable[..., Any], sample: Any, *, orders: int, stable: bool) -> None:
    """Forward, and the gradients up to some order, on one sample."""
    import torch

    its, its_leaves = calls(original(op), sample, to_pullback=False)
    mine, my_leaves = calls(function, sample, to_pullback=True)
    its, mine = (sample.output_process_fn_grad(result) for result in (its, mine))
    ours, theirs = list(tensors(mine, pullback.Tensor)), list(tensors(its, torch.Tensor))
    if stable and plain(mine, pullback.Tensor) != plain(its, torch.Tensor):
        raise MismatchError(f"returned {plain(mine, pullback.Tensor)}, torch {plain(its, torch.Tensor)}")
    if len(ours) != len(theirs):
        raise MismatchError(f"{len(ours)} tensors, torch returns {len(theirs)}")
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        compare(one, other, f"output {place}", values=stable, exact=functools.partial(in_doubles, op, sample, place))
    rng = np.random.default_rng(0)
    for order in range(1, orders + 1):
        if not stable:
            return
        ours, theirs = pulled(ours, theirs, my_leaves, its_leaves, rng, order, keep=order < orders)


def pulled(
    ours: list[Any], theirs: list[Any], my_leaves: Any, its_leaves: Any, rng: Any, order: int, *, keep: bool
) -> tuple[list[Any], list[Any]]:
    """The gradients of both sides for one random cotangent, compared."""
    import torch

    pairs = [(one, other) for one, other in zip(ours, theirs, strict=True) if other is not None and other.requires_grad]
    missing = [place for place, (one, _) in enumerate(pairs) if one is None or not one.requires_grad]
    if missing:
        raise MismatchError(f"order {order}: output {missing[0]} does not require grad")
    if not pairs or not its_leaves:
        return [], []
    cotangents = []
    for _, other in pairs:
        values = rng.standard_normal(tuple(other.shape))
        if other.is_complex():
            values = values + 1j * rng.standard_normal(tuple(other.shape))
        cotangents.append(np.asarray(values).astype(numbers(other).dtype))
    options = {"allow_unused": True, "create_graph": keep}
    theirs = torch.autograd.grad([o for _, o in pairs], its_leaves, [its_tensor(c) for c in cotangents], **options)
    mine = pullback.autograd.grad(
        [o for o, _ in pairs], my_leaves, [pullback.from_numpy(c) for c in cotangents], **options
    )
    for place, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        if one is None or other is None:
            known = one if other is None else other
            if known is not None and bool((known != 0).any()):
                raise MismatchError(f"order {order}: gradient {place} is {'missing' if one is None else 'not zero'}")
            continue
        compare(one, other, f"order {order}: gradient {place}")
    return list(mine), list(theirs)


# 4. One entry


def dtype_for(op: Any, name: str | None) -> Any:
    """The dtype in which an entry is tried: the one asked for, or the first of the usual ones that it has."""
    import torch

    if name is not None:
        return getattr(torch, name) if getattr(torch, name) in op.dtypes else None
    usual = (torch.float64, torch.complex128, torch.float32, torch.complex64, torch.int64, torch.bool)
    return next((dtype for dtype in usual if dtype in op.dtypes), None)


def drawn(op: Any, dtype: Any, *, tracked: bool, count: int) -> list[Any]:
    """Samples, spread over the first of them."""
    import torch

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool = list(islice(op.sample_inputs("cpu", dtype, requires_grad=tracked), POOL if count else None))
    if not count or len(pool) <= count:
        return pool
    return [pool[i] for i in sorted({round(i * (len(pool) - 1) / (count - 1)) for i in range(count)})]


def is_stable(op: Any, sample: Any) -> bool:
    """Whether torch gives the same values again, whatever the seed."""
    import torch

    results = []
    for seed in range(8):
        torch.manual_seed(seed)
        results.append(list(tensors(calls(original(op), sample, to_pullback=False)[0], torch.Tensor)))
    first, *others = results
    return all(
        torch.equal(one.detach(), other.detach()) or bool((one != one).any())  # NaN
        for again in others
        for one, other in zip(first, again, strict=True)
    )


def try_sample(op: Any, function: Callable[..., Any], sample: Any, *, orders: int) -> None:
    """A sample in values or, where torch's own change with the seed, in shapes and dtypes."""
    pullback.manual_seed(0)
    try:
        compare_sample(op, function, sample, orders=orders, stable=True)
    except Exception:
        if UNWRITTEN.fullmatch(op.name) is None and is_stable(op, sample):
            raise
        compare_sample(op, function, sample, orders=orders, stable=False)


def ask(name: str, *, orders: int = 1, count: int = SAMPLES, dtype: str | None = None) -> Outcome:
    """How pullback does on one entry."""
    op = database()[name]
    kind = dtype_for(op, dtype)
    if kind is None:
        return Outcome(False, None, f"torch has no {dtype}")
    tracked = (
        op.supports_autograd
        and kind in op.supported_backward_dtypes("cpu")
        and kind.is_floating_point | kind.is_complex
    )
    wanted = min(orders, 2 if op.supports_gradgrad else 1) if tracked else 0
    function = resolved(op)
    if function is None:
        return Outcome(False, False if tracked else None, "no such function")
    for order in range(wanted + 1):
        for place, sample in enumerate(drawn(op, kind, tracked=order > 0, count=count)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # torch's of names that go, and ours that say the same
                    try_sample(op, function, sample, orders=order)
            except Exception as error:  # noqa: BLE001  # whatever it is, the entry has failed
                text = f"sample {place}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
                return Outcome(order > 0, False if tracked else None, text)
    return Outcome(True, True if tracked else None, "")


# 5. The baseline


def recorded() -> dict[str, list[str]]:
    """What the baseline says of each entry."""
    lines = BASELINE.read_text(encoding="utf-8").split("\n") if BASELINE.exists() else []
    return {line.split()[0]: line.split()[1:] for line in lines if line and not line.startswith("#")}


def baseline() -> dict[str, bool]:
    """The entries that have passed, and whether their gradients have."""
    return {name: known[0] == "gradient" for name, known in recorded().items()}


def write_baseline(outcomes: dict[str, Outcome], measured: dict[str, list[str]] | None = None) -> None:
    """Replace the baseline by what has passed, with orders and dtypes: measured ones, or those that it had."""
    lines = BASELINE.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    known = {name: rest for name, _, *rest in map(str.split, lines) if name != "#"} | (measured or {})
    passing = [(name, "gradient" if o.gradient else "forward") for name, o in sorted(outcomes.items()) if o.forward]
    found = [" ".join([name, how, *known.get(name, [])]) for name, how in passing]
    BASELINE.write_text("\n".join(head + found) + "\n", encoding="utf-8")


# 6. The page
#
# docs/reference/operators.md is this run, printed, and the table of `scripts/operators`: no line of it is written by hand.

PAGE = """# The operators

This page lists which of torch's operators pullback has. For every entry of torch 2.13's own database of operators,
both libraries are run on its samples: pullback must give torch's values, shapes and dtypes, and pull a random
cotangent back to torch's gradients. `python tests/parity/operators.py --table` runs them, and writes this page.

{forward} of {entries} entries pass forward, {gradient} of {differentiable} with their gradient, and {second} of these
with the gradient of the gradient.

The column *orders* says how often pullback differentiates the operation: 2 is checked to second order, 1 means that
torch has no second derivative either, 0 that the operation has no derivative. A dtype is listed if every sample of it
passes, too.

## At kinks

Where a function has no derivative, pullback has the same gradient as torch.

| at | gradient | torch |
|---|---|---|
{kinks}

## What is missing

| entry | why |
|---|---|
{missing}

## What is there
"""

REPLACED = "the samples name places twice: the gradient of a value that another one replaced is 0, torch's is not"
REASONS = {
    "as_strided_scatter": "torch 2.13 gives the cotangent where the first argument was overwritten, and zero elsewhere",
    "histogramdd": "edges that are not sorted are refused; torch counts with them",
    "nn.functional.batch_norm.without_cudnn": "an entry for CUDA alone",
    "nn.functional.fractional_max_pool3d": "drawn at random, which eight draws of a small sample do not always show",
    "nn.functional.max_unpool1d": REPLACED,
    "nn.functional.max_unpool2d": REPLACED,
    "nn.functional.max_unpool3d": REPLACED,
    "nn.functional.triplet_margin_with_distance_loss": "the samples call torch's own `pairwise_distance` on our tensors",
    "special.bessel_j0": "torch is off by 4e-7, pullback by 1e-14",
    "special.bessel_y1": "torch is off by 9e-7, pullback by 1e-14",
}  # by name, where we know more than that torch has something else
DTYPES = ("float64", "float32", "bfloat16", "complex128", "int64", "bool")
KINKS = (
    "x.abs() at 0", "x.relu() at 0", "x.sign() at 0", "x.sqrt() at 0", "x.clamp(0, 1) at 0", "x.clamp(0, 1) at 1",
    "x.maximum(x.detach()) at 1", "x.minimum(x.detach()) at 1", "x.norm() at 0", "x.expand(2).amax() at 1",
    "x.expand(2).max(0)[0] at 1", "x.round() at 0.5", "x.floor() at 1", "x ** 0 at 0", "x.pow(x.detach()) at 0",
    "F.relu6(x) at 6", "F.hardtanh(x) at 1", "F.leaky_relu(x) at 0", "F.elu(x) at 0", "F.softshrink(x) at 0.5",
    "F.hardshrink(x) at 0.5", "F.threshold(x, 0, 0) at 0", "F.hardsigmoid(x) at 3", "F.hardswish(x) at 3",
    "F.l1_loss(x, x.detach()) at 1", "F.smooth_l1_loss(x, x.detach() + 1) at 0", "F.hinge_embedding_loss(x, x * 0 - 1) at 1",
)  # fmt: skip


def at_kink(library: Any, case: str) -> str:
    """The gradient of an expression in x at a point."""
    expression, _, point = case.rpartition(" at ")
    x = library.tensor([float(point)], dtype=library.float64, requires_grad=True)
    try:
        value = eval(expression, {"x": x, "F": library.nn.functional})  # one of KINKS
        (g,) = library.autograd.grad(value.sum(), x)
    except Exception as error:  # noqa: BLE001  # the page says so
        return type(error).__name__
    return f"{g.item():g}"


def orders(name: str) -> int:
    """How often pullback differentiates an entry, as far as torch does."""
    return max((order for order in (1, 2) if ask(name, orders=order, count=3).gradient), default=0)


def write_table() -> None:
    """Ask everything, and write the page."""
    import torch

    outcomes = {name: ask(name) for name in database()}
    reached = {name: orders(name) if o.gradient else 0 for name, o in outcomes.items()}
    measured = {
        name: [str(reached[name]), *(dtype for dtype in DTYPES if ask(name, count=3, dtype=dtype).forward)]
        for name, o in outcomes.items()
        if o.forward and o.gradient is not False
    }
    missing = [
        f"| `{name}` | {REASONS.get(name, o.reason.replace('|', '/'))} |"
        for name, o in sorted(outcomes.items())
        if not (o.forward and o.gradient is not False)
    ]
    kinks = [f"| `{case}` | {at_kink(pullback, case)} | {at_kink(torch, case)} |" for case in KINKS]
    page = PAGE.format(
        forward=sum(o.forward for o in outcomes.values()), entries=len(outcomes),
        gradient=sum(bool(o.gradient) for o in outcomes.values()),
        differentiable=sum(o.gradient is not None for o in outcomes.values()),
        second=sum(order == 2 for order in reached.values()),
        kinks="\n".join(kinks), missing="\n".join(missing),
    )  # fmt: skip
    TABLE.write_text(page, encoding="utf-8")
    write_baseline(outcomes, measured)
    subprocess.run([sys.executable, TABLE.parents[2] / "scripts" / "operators"], check=True)


def report(names: list[str], outcomes: dict[str, Outcome]) -> None:
    """Print what failed and why, and how many passed."""
    for name in names:
        if outcomes[name].reason:
            print(f"{name}: {outcomes[name].reason}")
    tried = [outcome for outcome in outcomes.values() if not outcome.reason.startswith("torch has no")]
    gradients = [bool(outcome.gradient) for outcome in tried if outcome.gradient is not None]
    forward = sum(outcome.forward for outcome in tried)
    print(f"forward {forward} of {len(tried)}, gradient {sum(gradients)} of {len(gradients)}")


def main() -> None:
    """Ask, print, and say what was lost."""
    parser = argparse.ArgumentParser(prog="operators", description="Asks pullback for the operators of torch's op_db.")
    parser.add_argument("--ops", metavar="REGEX", default="", help="only the entries whose name matches")
    parser.add_argument("--second", action="store_true", help="second derivatives, too")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="per entry; 0 for all")
    parser.add_argument("--dtype", help="float32, complex128, int64, bool, ...")
    parser.add_argument("--update", action="store_true", help="write what passes to the baseline")
    parser.add_argument("--table", action="store_true", help="ask everything, and write docs/reference/operators.md")
    options = parser.parse_args()
    if options.table:
        write_table()
        return
    names = [name for name in database() if re.search(options.ops, name)]
    outcomes = {
        name: ask(name, orders=1 + options.second, count=options.samples, dtype=options.dtype) for name in names
    }
    report(names, outcomes)
    if options.update:
        write_baseline(outcomes)
    known = baseline()
    lost = [name for name in names if name in known and not outcomes[name].forward]
    lost += [f"{name} (gradient)" for name in names if known.get(name) and not outcomes[name].gradient]
    if lost and options.dtype is None:
        sys.exit(f"lost: {', '.join(lost)}")


if __name__ == "__main__":
    main()
