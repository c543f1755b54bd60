"""Each native form where memory runs out, and whether it leaves references behind: `test_memory.py` runs this in child processes.

python -m tests.native.memory failing|leaking NAME ...
"""

import gc
import sys
from array import array

import numpy as np

import pullback

FORMS = {
    "operators": "z = x * y; z = x * 2.0; z = -x; z = x + r; z = r + x; z = 1.0 - x",
    "functions": "z = pullback.sin(x); z = pullback.relu(x); z = x.sigmoid(); z = u > v; z = u.isnan()",
    "sums": "z = x.sum(); z = x.sum(1); z = x.sum(0, keepdim=True); z = x.mean(); z = x.T.mean(dim=1)",
    "products": "z = x @ y; z = x @ r; z = r.dot(r); z = x.mm(y)",
    "linear": "z = F.linear(x, y, r)",
    "losses": "z = F.cross_entropy(x, k)",
    "rows": "z = x[0]; z = x[:, 1:3]; z = x[0, 1]; z = x[None, ..., 0]; z = x[0][1:]",
    "picks": "z = x[[0, 2]]; z = x[k]; z = x[m]; z = x[:, k]; z = x.take(k); z = x.index_select(1, k)",
    "places": "z = x.gather(1, k[:, None]); u[k] = v; u[k] = 2.0; u[m] = 0.0; u[:, k] = 1.0",
    "rows at places": "u[k[:2]] = v[0]",
    "pieces": "z = list(x); z = x.unbind(1); z = x.split(2); z = x.chunk(2, 1); z = [list(row) for row in x]",
    "joins": "z = pullback.cat([x, y], 1); z = pullback.stack([x, y])",
    "axes": "z = x.t(); z = x.T; z = x.transpose(0, 1); z = x.reshape(-1); z = x.view(3, -1); z = x.unsqueeze(1)",
    "views": "z = x.expand(2, 3, 3); z = x.permute(1, 0); z = x.flatten(); z = x.diagonal()",
    "numbers written": "u[0, 1] = 2.0; u -= 1.0; u *= 2",
    "rows written": "u[0] = v[1]; u[:, 1:] = v[:, 1:]; u[0].add_(1.0); u += v",
    "recorded writes": "h[0] = r; h += x; h *= 2.0; q = h * h; h[0] = 1.0; h[k] = x; h[m] = 0.0; h[:, k] = 1.0; h[0] = h[1] * h[2]",
    "views that follow": "s[0] = r; s[k] = x; s[m] = 1.0; s[:, k] = y",
    "without records": "with pullback.no_grad(): z = u * v; z[0] = 1.0; a = z[0]; a += z[1]",
    "passes": "both(x, y, r).backward(); x.grad = y.grad = r.grad = None",
    "some leaves": "pullback.autograd.grad(both(x, y, r), [x])",
    "rows back": "pullback.autograd.backward(list(x), [v[0]] * 3); x.grad = None",
    "handed over": "z = x.double() * x; z = x[0:3:2]; z = x * 10**30; z = x.sum((0, 1)); z = u.numpy()",
    "errors": "tried(lambda: x[9]); tried(lambda: x @ x[:2]); tried(lambda: x + x[:2]); tried(lambda: pullback.cat([x, r]))",
    "more errors": "tried(lambda: x.sum(7)); tried(lambda: x.split(0)); tried(lambda: x.view(2)); tried(lambda: x[[7]]); tried(lambda: x * 10**400); tried(lambda: u.__setitem__(k + 9, 1.0)); tried(lambda: x.gather(1, k))",
}


OTHERS = ("<ufunc", "of 'numpy.ufunc' objects", "<built-in ", "recording.Freed")
"""Who raises a SystemError where memory runs out, also in Python alone: NumPy, and what comes after a frame's `f_back`.

CPython's `frame_getback` gives None if no frame can be made, and leaves the exception to the next function in C that is called.
"""

UNTRIED = {"without records", "handed over", "rows at places"}
"""Forms that are not run where memory runs out: what is handed over is Python's, and there are crashes without the core, too.

These are CPython's in `no_grad`, and NumPy's where a row is assigned to several places: it fails without an exception.
"""

MAKING = {"passes", "some leaves", "errors", "more errors"}
"""Forms in which Python makes a function: if that fails, CPython 3.12 and 3.13 let go of the function's name too often, and crash.

`PyFunction_NewWithQualName` does so; without the core, too.
"""


def both(x, y, r):
    """A graph of many forms, of which one leaf is used several times."""
    rows = (
        pullback.cat([x, x * y])[[0, 4]].split(1)[0].sum()
        + (x.T[0] * r).mean()
        + pullback.stack([r, r]).unbind()[1].sum()
    )
    return (x.sin() + x / 3 - x[0]).sum() + (x @ y).mean() + x.relu().sum(1)[0] + rows + (x * r).exp().sum()


def tried(function):
    try:
        function()
    except Exception as error:
        return str(error)
    raise AssertionError("an error was expected")


def scope():
    def tensor(*shape, grad=True):
        numbers = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        return pullback.tensor(numbers, requires_grad=grad)

    found = {"pullback": pullback, "F": pullback.nn.functional, "both": both, "tried": tried}
    found |= {
        "x": tensor(3, 3),
        "y": tensor(3, 3),
        "r": tensor(3),
        "u": tensor(3, 3, grad=False),
        "v": tensor(3, 3, grad=False),
    }
    found |= {"k": pullback.tensor([0, 2, 1]), "m": pullback.eye(3) > 0, "h": found["x"] * 1, "s": found["x"] * 1}
    return found | {"q": found["s"][1]}


def states(scope):
    """What the tensors of a scope are: values, versions and graphs."""
    return [
        (name, value._array.tobytes(), value._version, value.grad_fn and value.grad_fn.name())
        for name, value in scope.items() if pullback.is_tensor(value) and name in "xyruvkmhsq"
    ]  # fmt: skip


def failing(text):
    """Runs statements with each of their allocations failing; nothing is left half done.

    A statement that was done may leave its result: each one is run for itself. That all later allocations fail, too, is not
    tried: ufuncs of NumPy then do not come back.
    """
    from _testcapi import remove_mem_hooks, set_nomemory

    for line in text.split("; "):
        code = compile(line, "<form>", "exec")
        right = scope()
        exec(code, right)
        right = states(right)
        number, done = 0, 0
        while done < 3:  # what is kept for later may be made at the first ones
            number += 1
            here = scope()
            before = states(here)
            set_nomemory(number, number + 1)
            try:
                exec(code, here)
                error = None
            except BaseException as caught:
                error = caught
            finally:
                remove_mem_hooks()
            done = done + 1 if error is None else 0
            allowed = isinstance(error, MemoryError | None) or any(name in str(error) for name in OTHERS)
            assert allowed, f"{line}, allocation {number}: {error!r}"
            assert states(here) in (before, right), f"{line}, allocation {number}: half done"
            assert error is not None or states(here) == right, f"{line}, allocation {number}: not done"
        after = scope()
        exec(code, after)
        assert states(after) == right, f"{line}: others later"


def references(objects):
    return array("q", map(sys.getrefcount, objects))


def miscounted(dtypes):
    """The dtypes to which NumPy itself leaves references behind: `dot` of NumPy 2.5 for Python 3.12 does so at each call."""
    arrays = [np.ones((2, 2), dtype) for dtype in dtypes]
    before = references(dtypes)
    for _ in range(100):
        for each in arrays:
            each.dot(each)
    return {id(each) for each, old, new in zip(dtypes, before, references(dtypes), strict=True) if new - old >= 50}


def leaking(text):
    """Runs statements often: no object that was there has more references afterwards, and no memory is left."""
    code = compile(text, "<form>", "exec")
    for _ in range(100):
        exec(code, scope())
    gc.collect()
    objects = {id(each): each for each in gc.get_objects()}
    objects |= {id(other): other for each in list(objects.values()) for other in gc.get_referents(each)}
    dtypes = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)]
    left_out = miscounted(dtypes)
    objects = [each for each in (*objects.values(), *dtypes, ()) if id(each) not in left_out]
    before, blocks = references(objects), sys.getallocatedblocks()
    for _ in range(100):
        exec(code, scope())
    gc.collect()
    more = sys.getallocatedblocks() - blocks
    grown = [
        f"{after - old} references to {str(each)[:80]}"
        for each, old, after in zip(objects, before, references(objects), strict=True)
        if after - old >= 50 and each is not before
    ]
    assert not grown, f"{text}: {grown[:5]}"
    assert more < 90, f"{text}: {more} blocks"


if __name__ == "__main__":
    for name in sys.argv[2:] or FORMS.keys() - {"failing": UNTRIED, "leaking": set()}[sys.argv[1]]:
        {"failing": failing, "leaking": leaking}[sys.argv[1]](FORMS[name])
    print("done")
