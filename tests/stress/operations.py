"""Operations that are to be all or nothing: what each does, and what can be seen of it afterwards.

A maker returns `run`, which can be called again, and `look`, which returns all that the operation may change, as numbers. After
a failure `look` is as it was before the call or after it; the same call then returns what it should.
"""

import io
import os
import tempfile

import pullback
from pullback.nn import functional

MAKERS = {}


def maker(function):
    """Enter a maker, or each of several, by name."""
    MAKERS[function.__name__.replace("_", " ")] = function
    return function


def leaf(*values):
    """A leaf of float64."""
    return pullback.tensor(values or (1.0, 2.0, 3.0), dtype=pullback.float64, requires_grad=True)


def quietly(function, value):
    """Call a function for what it does, not for what it returns."""
    function(value)


def slope(y, w):
    """The derivative of the sum of y by w, which shows the history of y; None where there is none."""
    return pullback.autograd.grad(y.sum(), w, retain_graph=True)[0] if y.requires_grad else None


@maker
def forward():
    w = leaf()
    return lambda: pullback.sum(w.exp() * w + functional.softmax(w, 0)), lambda: [w, w.grad]


@maker
def backward():
    w, v = leaf(), leaf(2.0, 2.0, 2.0)
    v.grad = pullback.ones(3, dtype=pullback.float64)
    loss = (w.sin() * v).sum()
    return lambda: loss.backward(retain_graph=True), lambda: [w.grad, v.grad]


@maker
def backward_recorded():
    w = leaf()
    loss = (w * w * w).sum()
    return lambda: loss.backward(create_graph=True), lambda: [w.grad]


@maker
def backward_with_hooks():
    w = leaf()
    y = w * 2
    y.register_hook(lambda g: g * 3)
    loss = (y * w).sum()
    return lambda: loss.backward(retain_graph=True), lambda: [w.grad]


@maker
def gradient_of_gradient():
    w = leaf()

    def run():
        (g,) = pullback.autograd.grad((w * w * w).sum(), w, create_graph=True)
        return pullback.autograd.grad(g.sum(), w)

    return run, lambda: [w, w.grad]


def unrecorded(write, name):
    """A write of a leaf under `no_grad`, while a graph keeps its values."""

    def make():
        w = leaf()
        kept = (w * w).sum()

        def run():
            with pullback.no_grad():
                write(w)

        return run, lambda: [w, slope(kept, w)]

    MAKERS[f"no_grad: {name}"] = make


def recorded(write, name):
    """A recorded write of an intermediate value, of which there is a view, while a graph keeps its values."""

    def make():
        w = leaf()
        y = w * 1
        part = y[1:]
        kept = (y * y).sum()
        return lambda: quietly(write, y), lambda: [y, slope(y, w), part, slope(part, w), slope(kept, w)]

    MAKERS[f"recorded: {name}"] = make


def alone(write, name):
    """A recorded write of an intermediate value that nothing else shares, while a graph keeps its values."""

    def make():
        w = leaf()
        y = w * 1
        kept = (y * y).sum()
        return lambda: quietly(write, y), lambda: [y, slope(y, w), slope(kept, w)]

    MAKERS[f"alone: {name}"] = make


OTHER = pullback.tensor([2.0, 3.0, 4.0], dtype=pullback.float64)
WRITES = {
    "zero_": lambda t: t.zero_(),
    "mul_": lambda t: t.mul_(3.0),
    "mul_ of a tensor": lambda t: t.mul_(OTHER),
    "add_ with alpha": lambda t: t.add_(OTHER, alpha=2.0),
    "addcmul_": lambda t: t.addcmul_(OTHER, OTHER, value=0.5),
    "copy_": lambda t: t.copy_(OTHER),
    "exp_": lambda t: t.exp_(),
    "clamp_": lambda t: t.clamp_(1.5, 2.5),
    "fill_": lambda t: t.fill_(7.0),
    "t[0] =": lambda t: t.__setitem__(0, 5.0) or t,
    "t[1:] =": lambda t: t.__setitem__(slice(1, None), OTHER[:2]) or t,
    "t[[0, 2]] =": lambda t: t.__setitem__([0, 2], OTHER[:2]) or t,
    "index_add_": lambda t: t.index_add_(0, pullback.tensor([0, 2]), OTHER[:2]),
    "masked_fill_": lambda t: t.masked_fill_(OTHER > 2.5, 0.0),
    "view.mul_": lambda t: t[:2].mul_(3.0),
    "out=": lambda t: (t.requires_grad and pullback.is_grad_enabled()) or pullback.add(OTHER, OTHER, out=t),
    "data.mul_": lambda t: t.data.mul_(3.0),
    "detach().zero_": lambda t: t.detach().zero_(),
    "swap": lambda t: t.data.copy_(t.flip(0).detach()),
}
for key, each in WRITES.items():
    unrecorded(each, key)
    if key != "out=":
        recorded(each, key)
        alone(each, key)


@maker
def clip_grad_norm():
    w = leaf()
    kept = (w * w).sum()
    kept.backward(retain_graph=True)
    norm = pullback.nn.utils.clip_grad_norm_
    return lambda: norm([w], 1.0), lambda: [w.grad, slope(kept, w)]


@maker
def batch_norm():
    layer, x = pullback.nn.BatchNorm1d(2), pullback.arange(8.0).reshape(4, 2)
    return lambda: layer(x), lambda: [layer.running_mean, layer.running_var, layer.num_batches_tracked]


@maker
def load_state_dict():
    layer = pullback.nn.Linear(2, 2)
    state = {name: pullback.ones_like(value) for name, value in layer.state_dict().items()}
    return lambda: quietly(layer.load_state_dict, state), lambda: [*layer.parameters()]


def stepping(name, options):
    """A step of an optimizer with two parameters, after a first one."""

    def make():
        weights = [leaf(), leaf(3.0, 2.0, 1.0)]
        kept = [(w * w).sum() for w in weights]
        optimizer = getattr(pullback.optim, name)(weights, **options)
        sum(kept).backward(retain_graph=True)
        optimizer.step()
        return optimizer.step, lambda: [weights, [slope(k, w) for k, w in zip(kept, weights, strict=True)]]

    MAKERS[f"step of {name}"] = make


OPTIMIZERS = ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD")
for key in OPTIMIZERS:
    stepping(key, {"lr": 0.1, "momentum": 0.9} if key == "SGD" else {"lr": 0.1})


@maker
def compiled_first():
    w = leaf()
    function = pullback.compile(lambda t: (t.sin() * t).sum() * 3)
    return lambda: function(w.detach()), lambda: [w]


@maker
def compiled_first_with_gradient():
    w = leaf()
    function = pullback.compile(lambda t: (t.sin() * t).sum())

    def run():
        return pullback.autograd.grad(function(w), w)

    return run, lambda: [w, w.grad]


@maker
def compiled_later():
    w, total = leaf(), pullback.zeros(3, dtype=pullback.float64)

    def counted(t):
        total.add_(t)
        return (t * total).sum()

    function = pullback.compile(counted)
    for _ in range(3):
        function(w.detach())
    return lambda: quietly(function, w.detach()), lambda: [total]


@maker
def compiled_first_with_a_write():
    w, total = leaf(), pullback.zeros(3, dtype=pullback.float64)

    def counted(t):
        total.add_(t)
        return (t * 2).sum()

    function = pullback.compile(counted)
    return lambda: function(w.detach()), lambda: [total]


@maker
def cache_entry():
    os.environ["PULLBACK_CACHE"] = folder = tempfile.mkdtemp()
    x = pullback.arange(5.0)
    functions = iter([pullback.compile(lambda t: (t * 5 + 1).tanh().sum()) for _ in range(5)])

    def look():
        return [name for _, _, names in os.walk(folder) for name in names if name.startswith(".") or "tmp" in name]

    return lambda: next(functions)(x), look


@maker
def save():
    """To a path where there is a file already: it is the old one or the new one, and nothing lies beside it."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "file.pt")
    names = {"w": leaf(), "b": leaf(5.0)}
    pullback.save({"w": pullback.zeros(2)}, path)

    def look():
        return [numbers_of(pullback.load(path)), os.listdir(folder)]

    return lambda: pullback.save(names, path), look


def numbers_of(tree):
    """The numbers of a dictionary of tensors."""
    return {name: value.tolist() for name, value in tree.items()}


@maker
def load():
    stream = io.BytesIO()
    pullback.save({"w": leaf(), "b": [leaf(5.0)]}, stream)

    def run():
        stream.seek(0)
        return pullback.load(stream)

    return run, list


@maker
def load_from_a_path():
    path = os.path.join(tempfile.mkdtemp(), "file.pt")
    pullback.save({"w": leaf(), "b": [leaf(5.0)]}, path)
    return lambda: pullback.load(path), lambda: os.listdir(os.path.dirname(path))


@maker
def checkpointed():
    from pullback.utils.checkpoint import checkpoint

    w = leaf()

    def run():
        y = checkpoint(lambda t: functional.dropout(t.sin(), 0.0) * t, w, use_reentrant=False)
        return pullback.autograd.grad(y.sum(), w)

    return run, lambda: [w, w.grad, pullback.get_rng_state()]


@maker
def explained():
    w = leaf()

    def run():
        with pullback.explain.record() as recording:
            (g,) = pullback.autograd.grad((w * w).sum(), w)
        return g, len(recording.calls)

    return run, lambda: [w, w.grad]


def cube(t):
    """A function whose derivatives are all different."""
    return (t * t * t).sum()


TRANSFORMS = {
    "grad": pullback.func.grad(cube),
    "grad and value": pullback.func.grad_and_value(cube),
    "value and grad": lambda x: pullback.value_and_grad(lambda t: (t * t).sum())(x.numpy()),
    "vjp": lambda x: pullback.func.vjp(cube, x)[1](pullback.ones((), dtype=x.dtype)),
    "jvp": lambda x: pullback.func.jvp(cube, (x,), (x,)),
    "vmap": pullback.func.vmap(lambda t: t * t + 1),
    "vmap with branches": pullback.func.vmap(lambda t: t * 2 if t > 1.5 else t, on_branch="split"),
    "jacrev": pullback.func.jacrev(lambda t: t * t),
    "jacfwd": pullback.func.jacfwd(lambda t: t * t),
    "hessian": pullback.func.hessian(cube),
    "linearize": lambda x: pullback.func.linearize(cube, x)[1](x),
    "functionalize": pullback.func.functionalize(lambda t: t.clone().mul_(2)),
    "autograd.functional": lambda x: pullback.autograd.functional.hessian(cube, x),
}


def transformed(transform, name):
    """A transform of a function of one tensor."""

    def make():
        x = leaf().detach()
        return lambda: transform(x), lambda: [x]

    MAKERS[f"func: {name}"] = make


for key, each in TRANSFORMS.items():
    transformed(each, key)


def _doubled():
    return leaf() * 2


def _dual():
    with pullback.autograd.forward_ad.dual_level():
        y = pullback.autograd.forward_ad.make_dual(leaf().detach(), leaf().detach()) * 2
        return pullback.autograd.forward_ad.unpack_dual(y).tangent


def _meta():
    with pullback.device("meta"):
        return pullback.zeros(2, 3).shape[1]


def _hooks():
    w = leaf()
    with pullback.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), pullback.from_numpy):
        y = w * w
    return pullback.autograd.grad(y.sum(), w)


def _inside(block):
    def run():
        with block():
            return (leaf() * 2).sum()

    return run


BLOCKS = {
    name: _inside(block)
    for name, block in {
        "no_grad": pullback.no_grad,
        "enable_grad": pullback.enable_grad,
        "inference_mode": pullback.inference_mode,
        "set_grad_enabled": lambda: pullback.set_grad_enabled(False),
        "detect_anomaly": pullback.autograd.detect_anomaly,
        "check": pullback.check,
        "strong_zeros": pullback.strong_zeros,
        "no_escapes": pullback.no_escapes,
        "fork_rng": pullback.fork_rng,
        "checkpoint settings": lambda: pullback.utils.checkpoint.set_checkpoint_early_stop(False),
        "numpy_programs": lambda: pullback.numpy_programs("json"),
    }.items()
} | {
    "decorated with no_grad": pullback.no_grad(_doubled),
    "generator under no_grad": lambda: [*pullback.no_grad(lambda: (yield leaf() * 2))()],
    "dual_level": _dual,
    "device meta": _meta,
    "saved_tensors_hooks": _hooks,
}
for key, each in BLOCKS.items():
    MAKERS[f"block: {key}"] = lambda run=each: (run, lambda: [pullback.is_grad_enabled(), pullback.initial_seed()])
