"""Optimizers and schedules: the same numbers, states, texts and refusals as torch, step by step."""

import warnings
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import parity, raises, warns  # noqa: E402

STEPS = 200
SHAPES = [(5, 4), (4,), (), (3,), (2, 2)]
MATRICES = [(5, 4), (2, 2), (3, 4), (1, 3), (4, 1)]
DECAYED = {"weight_decay": 0.1}
OPTIONS = {
    "SGD": [
        {"lr": 0.01},
        {"lr": 0.01, "momentum": 0.9},
        {"lr": 0.01, "momentum": 0.9, "dampening": 0.3},
        {"lr": 0.01, "momentum": 0.9, "nesterov": True, **DECAYED},
        {"lr": 0.01, "maximize": True, **DECAYED},
    ],
    "Adam": [
        {"lr": 0.02},
        {"lr": 0.02, "amsgrad": True, **DECAYED},
        {"lr": 0.02, "maximize": True},
        {"lr": 0.02, "decoupled_weight_decay": True, "betas": (0.8, 0.99), "eps": 1e-4, **DECAYED},
    ],
    "AdamW": [{"lr": 0.02}, {"lr": 0.02, "amsgrad": True, "maximize": True}],
    "NAdam": [{}, {"momentum_decay": 0.01, **DECAYED}, {"decoupled_weight_decay": True, "maximize": True, **DECAYED}],
    "RAdam": [{}, DECAYED, {"lr": 0.02, "decoupled_weight_decay": True, "maximize": True, **DECAYED}],
    "Adamax": [{}, DECAYED, {"maximize": True}],
    "Adagrad": [{"lr": 0.1}, {"lr": 0.1, "lr_decay": 0.01, "initial_accumulator_value": 0.3, **DECAYED}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, **DECAYED}, {"maximize": True}],
    "RMSprop": [
        {},
        {"momentum": 0.9, **DECAYED},
        {"centered": True, "alpha": 0.9},
        {"centered": True, "momentum": 0.5},
    ],
    "Rprop": [{}, {"etas": (0.3, 1.3), "step_sizes": (1e-3, 0.3), "maximize": True}],
    "ASGD": [{}, {"t0": 20, "lambd": 0.01, **DECAYED}, {"alpha": 0.5, "maximize": True}],
    "Adafactor": [
        {},
        {"lr": 0.1, "foreach": True, "maximize": True, **DECAYED},
        {"beta2_decay": -0.5, "eps": (1e-3, 0.5), "d": 2.0},
    ],
    "Muon": [  # its rounded numbers are torch's where sums of a few products are exact: for small matrices
        {},
        {"lr": 0.02, "nesterov": False, "momentum": 0.8, "weight_decay": 0},
        {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "ns_coefficients": (2.0, -1.5, 0.5), "eps": 1e-3},
    ],
}
REAL = {"Adafactor", "Muon"}
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]
every_case = pytest.mark.parametrize(("name", "options"), CASES, ids=[f"{n}-{'-'.join(o)}" for n, o in CASES])


def parameters(t, dtype, shapes):
    r = np.random.default_rng(0)
    made = [r.standard_normal(shape) + (1j * r.standard_normal(shape) if "complex" in dtype else 0) for shape in shapes]
    return [t.tensor(np.asarray(each, dtype)).requires_grad_(True) for each in made]


def course(t, name, options, dtype, *, groups=False, rate=False, steps=STEPS):
    """All parameters after each step, with gradients that stay away from zero, and one that is missing at times."""
    ps = parameters(t, dtype, MATRICES if name == "Muon" else SHAPES)
    options = dict(options)
    if rate:
        options["lr"] = t.tensor(options.get("lr", 0.01), dtype=getattr(t, dtype))
    chosen = [{"params": ps[:2]}, {"params": ps[2:], "lr": 0.005, "maximize": False}] if groups else ps
    optimizer = getattr(t.optim, name)(chosen, **options)
    found = []
    for k in range(steps):
        optimizer.zero_grad()
        for i, p in enumerate(ps):
            if i == 3 and k % 3 == 0:
                continue
            sign = -1 if options.get("maximize") and not (groups and i > 1) else 1
            noise = np.sin(k * 1.7 + np.arange(p.numel())).reshape(tuple(p.shape)) * 2
            p.grad = t.from_numpy(np.asarray(2 * sign * (p.detach().numpy() - noise), dtype))
        optimizer.step()
        found.append(np.concatenate([p.detach().numpy().ravel() for p in ps]))
    return np.array(found), optimizer


def compare(name, options, dtype, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, torchs = course(torch, name, options, dtype, **settings)
    ours, optimizer = course(pullback, name, options, dtype, **settings)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6 if dtype == "float32" else 1e-12)
    assert repr(optimizer) == repr(torchs)
    return optimizer.state_dict(), torchs.state_dict()


@every_case
def test_the_numbers_of_two_hundred_steps(name, options):
    mine, theirs = compare(name, options, "float64")
    compare(name, options, "float32")
    assert mine["param_groups"] == theirs["param_groups"]
    assert mine["state"].keys() == theirs["state"].keys()
    for i, state in theirs["state"].items():
        assert list(mine["state"][i]) == list(state)
        for key, value in state.items():
            assert str(mine["state"][i][key].dtype)[9:] == str(value.dtype)[6:]
            np.testing.assert_allclose(mine["state"][i][key].numpy(), value.numpy(), rtol=1e-9, atol=1e-12)


@every_case
def test_groups_and_rates_that_are_tensors(name, options):
    compare(name, options, "float64", groups=True, steps=20)
    compare(name, options, "float64", rate=True, steps=20)


@every_case
def test_complex_parameters(name, options):
    if name in REAL:
        for t in (torch, pullback):
            wording = f"{name} does not support complex parameters"
            raises(RuntimeError, wording, lambda t=t: course(t, name, options, "complex128", steps=1))
    else:
        compare(name, options, "complex128", steps=20)


@pytest.mark.parametrize("name", OPTIONS)
def test_training_goes_on_from_torchs_state(name):
    options = OPTIONS[name][-1]
    _, torchs = course(torch, name, options, "float64", steps=5)
    _, optimizer = course(pullback, name, options, "float64", steps=1)
    optimizer.load_state_dict(torchs.state_dict())
    for mine, its in zip(optimizer.param_groups[0]["params"], torchs.param_groups[0]["params"], strict=True):
        with pullback.no_grad():
            mine.copy_(pullback.from_numpy(its.detach().numpy()))
        g = np.full(tuple(its.shape), 0.7)
        mine.grad, its.grad = pullback.tensor(g), torch.tensor(g)
    for _ in range(5):
        optimizer.step()
        torchs.step()
    close = 1e-9 if name == "ASGD" else 1e-12  # torch computes its rate in single precision from then on
    for mine, its in zip(optimizer.param_groups[0]["params"], torchs.param_groups[0]["params"], strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), its.detach().numpy(), rtol=0, atol=close)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("options", [{}, {"history_size": 2, "max_iter": 5}, {"max_eval": 7}], ids=str)
def test_lbfgs(search, options):
    def run(t):
        w = t.tensor([-1.2, 1.0, 0.5, 2.0], dtype=t.float64, requires_grad=True)
        v = t.tensor([[0.3 + 0.1j]], dtype=t.complex128, requires_grad=True)
        optimizer = t.optim.LBFGS([w, v], lr=0.3 if search is None else 1, line_search_fn=search, **options)

        def closure():
            optimizer.zero_grad()
            loss = (w.exp() - w).sum() + ((w[1:] - w[:-1]) ** 2).sum() * 2 + ((v - 1).abs() ** 2).sum()
            loss.backward()
            return loss

        found = [
            (optimizer.step(closure).item(), w.detach().numpy().copy(), v.detach().numpy().copy()) for _ in range(4)
        ]
        state = optimizer.state_dict()["state"][0]
        return found, sorted(state), state["func_evals"], state["n_iter"]

    ours, theirs = run(pullback), run(torch)
    assert ours[1:] == theirs[1:]
    for mine, its in zip(ours[0], theirs[0], strict=True):
        for a, b in zip(mine, its, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


@parity
def test_differentiable_steps(t):
    """Not those of Adam and NAdam, which torch corrects in single precision; tests/optim/test_optimizers.py holds all against differences."""
    found = []
    for name in ("SGD", "RMSprop", "Adagrad", "Adamax", "ASGD", "RAdam", "Adadelta"):
        w = t.tensor([1.0, -1.5], dtype=t.float64, requires_grad=True)
        p = w.clone()
        optimizer = getattr(t.optim, name)([p], lr=0.1, differentiable=True)
        p.grad = 2 * w.detach() + w * w
        optimizer.step()
        found.append(t.autograd.grad((p * p).sum(), w)[0])
    return found


SCHEDULES = {
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (e + 1)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 2, 5, 9], 0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.4, 6),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, 7),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.93),
    "polynomial": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 6, 0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 5)], [3, 8]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.9)]),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.5], 4, 3),
    "falling cycles": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, mode="triangular2"),
    "shrinking cycles": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, mode="exp_range", gamma=0.97),
    "own cycles": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, scale_fn=lambda x: 1 / (x + 1), cycle_momentum=False),
    "one cycle": lambda s, o: s.OneCycleLR(o, [0.4, 0.2], total_steps=20),
    "three phases": lambda s, o: s.OneCycleLR(
        o, 0.4, epochs=4, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"
    ),
    "averaging": lambda s, o: s.SWALR(o, 0.05, anneal_epochs=5),
    "linear averaging": lambda s, o: s.SWALR(o, [0.05, 0.01], anneal_epochs=4, anneal_strategy="linear"),
}


def schedules(t):
    class Names:
        def __getattr__(self, name):
            return getattr(t.optim.swa_utils if name == "SWALR" else t.optim.lr_scheduler, name)

    return Names()


def optimizer_of(t, name="SGD", rate=0.1):
    first, second = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    momentum = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(t.optim, name)([{"params": [first]}, {"params": [second], "lr": 0.3}], lr=rate, **momentum)


@pytest.mark.parametrize("kind", ["number", "tensor"])
@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule, name, kind):
    @parity
    def program(t):
        optimizer = optimizer_of(t, name, 0.1 if kind == "number" else t.tensor(0.1))
        made = SCHEDULES[schedule](schedules(t), optimizer)
        rates = [[float(rate) for rate in made.get_last_lr()]]
        for _ in range(19):
            optimizer.step()
            made.step()
            rates.append([float(rate) for rate in made.get_last_lr()])
            rates.append([float(g["momentum"] if name == "SGD" else g["betas"][0]) for g in optimizer.param_groups])
        state = {key: value for key, value in made.state_dict().items() if type(value) in (int, float, bool, str)}
        again = SCHEDULES[schedule](schedules(t), optimizer_of(t, name))
        again.load_state_dict(made.state_dict())
        return rates, sorted(made.state_dict()), sorted(state.items()), vars(again).get("last_epoch")

    program()


@parity
def test_plateau(t):
    found = []
    for options in (
        {},
        {"mode": "max", "threshold_mode": "abs", "cooldown": 2},
        {"min_lr": [0.01, 0.2], "threshold": 0.1},
    ):
        optimizer = optimizer_of(t)
        made = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5, **options)
        for k in range(30):
            made.step(np.sin(k / 3) / (1 + k))
            found.append([*made.get_last_lr(), made.best, made.num_bad_epochs])
        found.append(sorted(made.state_dict()))
    return found


@parity
def test_a_named_epoch(t):
    found = []
    for name in ("step", "milestones", "constant", "linear", "exponential", "polynomial", "cosine"):
        made = SCHEDULES[name](schedules(t), optimizer_of(t))
        made.optimizer.step()
        warns(UserWarning, "The epoch parameter in `scheduler.step()` was not necessary", partial(made.step, 4))
        found.append(made.get_last_lr())
    made = SCHEDULES["restarts"](schedules(t), optimizer_of(t))
    for epoch in (0.5, 7, 12.25):
        made.step(epoch)
        found.append(made.get_last_lr())
    return found


@parity
def test_averages(t):
    nn, swa = t.nn, t.optim.swa_utils
    found = []
    for options in (
        {},
        {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
        {"avg_fn": swa.get_swa_avg_fn(), "use_buffers": True},
    ):
        model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        averaged = swa.AveragedModel(model, **options)
        for k in range(4):
            with t.no_grad():
                for i, p in enumerate(model.parameters()):
                    p.copy_((t.arange(float(p.numel())).reshape(p.shape) + i + k).sin())
                model(t.arange(8.0).reshape(4, 2) * k)
            averaged.update_parameters(model)
        swa.update_bn([t.arange(8.0).reshape(4, 2), (t.ones(4, 2),)], averaged)
        averaged.eval()
        state = averaged.state_dict()
        found.append([list(state), list(state.values()), averaged(t.ones(2, 2)).detach()])
    return found


# Refusals


@pytest.mark.parametrize(
    ("name", "options", "wording"),
    [
        ("SGD", {"lr": -1.0}, "Invalid learning rate: -1.0"),
        ("SGD", {"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ("SGD", {"weight_decay": -0.5}, "Invalid weight_decay value: -0.5"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ("Adam", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
        ("Adam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("AdamW", {"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1: -0.1"),
        ("NAdam", {"momentum_decay": -0.1}, "Invalid momentum_decay value: -0.1"),
        ("Adagrad", {"lr_decay": -0.1}, "Invalid lr_decay value: -0.1"),
        ("Adagrad", {"initial_accumulator_value": -0.1}, "Invalid initial_accumulator_value value: -0.1"),
        ("Adadelta", {"rho": 1.5}, "Invalid rho value: 1.5"),
        ("RMSprop", {"alpha": -0.1}, "Invalid alpha value: -0.1"),
        ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
        ("LBFGS", {"lr": -0.1}, "Invalid learning rate: -0.1"),
        ("Adafactor", {"lr": -0.1}, "Learning rate should be >= 0 but is: -0.1"),
        ("Adafactor", {"beta2_decay": 0.1}, "beta2_decay should be <= 0 but is: 0.1"),
        ("Adafactor", {"eps": (-1.0, 0.1)}, "epsilon1 should be >= 0 but is: -1.0"),
        ("Adafactor", {"eps": (None, -0.1)}, "epsilon2 should be >= 0 but is: -0.1"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
        ("Adafactor", {"weight_decay": -0.1}, "weight_decay should be >= 0 but is: -0.1"),
        ("Muon", {}, "Muon only supports 2D parameters whereas we found a parameter with size: "),
        ("Muon", {"lr": -0.1}, "Learning rate should be >= 0 but is: -0.1"),
        ("Muon", {"momentum": -0.1}, "momentum should be >= 0 but is: -0.1"),
        ("Muon", {"weight_decay": -0.1}, "weight decay should be >= 0 but is: -0.1"),
        ("Muon", {"adjust_lr_fn": "none"}, "Adjust learning rate function none is not supported"),
    ],
)
@pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
def test_options_that_make_no_sense(t, name, options, wording):
    raises(ValueError, wording, lambda: getattr(t.optim, name)([t.ones(1, requires_grad=True)], **options))


@pytest.mark.parametrize(
    ("options", "wording"),
    [
        ({"ns_steps": 100}, "Number of steps must be less than 100 for computational efficiency"),
        ({"ns_coefficients": (1.0, 2.0)}, "Coefficients must be a tuple of exactly 3 values"),
    ],
)
@pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
def test_steps_that_make_no_sense(t, options, wording):
    w = t.ones(2, 2, requires_grad=True)
    w.grad = t.ones(2, 2)
    optimizer = t.optim.Muon([w], **options)
    raises(ValueError, wording, optimizer.step)
    assert w.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@parity
def test_parameters_that_are_refused(t):
    w, v = t.ones(1, requires_grad=True), t.ones(1, requires_grad=True)
    sgd = t.optim.SGD
    optimizer = sgd([w])
    raises(TypeError, "should be an iterable of Tensors or dicts, but got", lambda: sgd(w))
    raises(ValueError, "optimizer got an empty parameter list", lambda: sgd([]))
    raises(TypeError, "optimizer can only optimize Tensors, but one of the params is int", lambda: sgd([3]))
    raises(ValueError, "can't optimize a non-leaf Tensor", lambda: sgd([w * 2]))
    raises(TypeError, "need to be organized in ordered collections", lambda: sgd([{"params": {w}}]))
    raises(TypeError, "param_group must be a dict", lambda: optimizer.add_param_group([w]))
    raises(ValueError, "some parameters appear in more than one", lambda: optimizer.add_param_group({"params": w}))
    raises(ValueError, "all optimizer params should be with/without names", lambda: sgd([("a", w), v]))
    raises(ValueError, "cannot add param group with names", lambda: optimizer.add_param_group({"params": [("v", v)]}))
    warns(UserWarning, "duplicate parameters", lambda: sgd([v, v]))
    raises(TypeError, "__init__() got an unexpected keyword argument 'rate'", lambda: sgd([w], rate=1))
    state = sgd([w, v]).state_dict()
    raises(ValueError, "that doesn't match the size of optimizer's group", lambda: optimizer.load_state_dict(state))
    state = sgd([{"params": [w]}, {"params": [v]}]).state_dict()
    raises(ValueError, "different number of parameter groups", lambda: optimizer.load_state_dict(state))
    return len(optimizer.param_groups), repr(sgd([("w", w)]))


@parity
def test_hooks(t):
    w = t.ones(1, requires_grad=True)
    optimizer = t.optim.SGD([w], lr=0.5)
    calls = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append(("before", len(args), dict(kwargs)))),
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append(("after", len(args)))),
        optimizer.register_state_dict_pre_hook(lambda o: calls.append("saving")),
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1}),
        optimizer.register_load_state_dict_pre_hook(lambda o, state: calls.append(sorted(state))),
        optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded")),
    ]
    w.grad = t.ones(1)
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    for handle in handles:
        handle.remove()
    optimizer.step()
    return calls, w, optimizer.state_dict()


@parity
def test_an_optimizer_around_another_that_does_not_initialize_its_base(t):
    class Averaged(t.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups, self.defaults, self.state = inner, inner.param_groups, {}, {}

        def step(self, closure=None):
            loss = self.inner.step(closure)
            for parameter in self.param_groups[0]["params"]:
                parameter.data.mul_(0.5)
            return loss

    w = t.ones(2, requires_grad=True)
    optimizer = Averaged(t.optim.SGD([w], lr=0.1))
    (w * w).sum().backward()
    optimizer.step()
    w.grad = None
    (w * w * w).sum().backward()
    return optimizer.step(lambda: 3.0), w


@parity
def test_schedules_warn_of_their_order(t):
    s = t.optim.lr_scheduler
    warns(
        UserWarning,
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`",
        s.StepLR(optimizer_of(t), 3).step,
    )
    optimizer = optimizer_of(t)
    made = s.StepLR(optimizer, 3)
    optimizer.step = lambda: None
    warns(UserWarning, "Seems like `optimizer.step()` has been overridden", made.step)
    warns(UserWarning, "please use `get_last_lr()`", made.get_lr)
    raises(TypeError, "is not an Optimizer", lambda: s.StepLR(3, 3))
    raises(KeyError, "param 'initial_lr' is not specified", lambda: s.StepLR(optimizer_of(t), 3, last_epoch=4))
    raises(ValueError, "Expected 2 lr_lambdas, but got 1", lambda: s.LambdaLR(optimizer_of(t), [abs]))
    raises(ValueError, "Factor should be < 1.0.", lambda: s.ReduceLROnPlateau(optimizer_of(t), factor=1.0))
    raises(ValueError, "You must define either total_steps OR", lambda: s.OneCycleLR(optimizer_of(t), 0.1))
    raises(ValueError, "expects at least one scheduler", lambda: s.SequentialLR(optimizer_of(t), [], []))
    raises(
        ValueError, "optimizer must support momentum or beta1", lambda: s.CyclicLR(t.optim.Rprop([t.ones(1)]), 0.1, 1.0)
    )


@pytest.mark.parametrize("maximize", [False, True])
def test_rows_of_tables(maximize):
    found = []
    for t in (pullback, torch):
        rng = np.random.default_rng(0)
        table = t.nn.Embedding(6, 3, sparse=True, dtype=t.float64)
        with t.no_grad():
            table.weight.copy_(t.tensor(rng.normal(size=(6, 3))))
        optimizer = t.optim.SparseAdam(table.parameters(), lr=0.05, betas=(0.8, 0.95), maximize=maximize)
        course = []
        for _ in range(200):
            optimizer.zero_grad()
            ((table(t.tensor(rng.integers(0, 6, 3))) - 1) ** 2).sum().backward()
            optimizer.step()
            course.append(table.weight.detach().numpy().copy())
        found.append(course)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
@pytest.mark.parametrize(
    ("options", "wording"),
    [
        ({"lr": 0}, "Invalid learning rate: 0"),
        ({"eps": 0.0}, "Invalid epsilon value: 0.0"),
        ({"betas": (0.9, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
    ],
)
def test_options_of_tables_that_make_no_sense(t, options, wording):
    with pytest.raises(ValueError, match=wording):
        t.optim.SparseAdam([t.nn.Parameter(t.ones(2))], **options)
