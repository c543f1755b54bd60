"""Module, Parameter and the containers: registration, state, hooks and errors, as torch has them."""

import copy
import pickle
import re
from collections import OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity, raises, warns  # noqa: E402

OURS = re.compile(r"\n  Linear\(|: (?:write|call) super\(\)|, not int|, of \d+ modules| Call the module")
"""Where a message goes on after torch's words."""


def said(t, *calls):
    """What exceptions say, or what comes back, with one name for both libraries."""
    found = []
    for call in calls:
        try:
            found.append(call())
        except Exception as error:  # noqa: BLE001
            words = OURS.split(str(error).replace("pullback", "torch"))[0]
            found.append((type(error).__name__, words))
    return found


def text(value):
    return repr(value).replace("pullback", "torch")


def arange(t, *shape):
    return t.arange(float(np.prod(shape))).reshape(shape)


def settle(t, module):
    """A module with weights that are the same in both libraries."""
    with t.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_((arange(t, *parameter.shape) + i).sin())
    return module


def mixed(t):
    module = t.nn.Module()
    module.lin = t.nn.Linear(2, 2)
    module.register_buffer("b", t.ones(2))
    module.p = t.nn.Parameter(t.ones(1))
    module.x = 3
    return module


def net(t):
    return settle(t, t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2)))


# Parameters and buffers


@parity
def test_parameters(t):
    data = t.ones(2)
    p = t.nn.Parameter(data)
    with t.no_grad():
        p[0] = 5
    frozen = t.nn.Parameter(t.tensor([1]), requires_grad=False)
    buffer = t.nn.Buffer(t.ones(2))
    is_a = [
        [isinstance(value, kind) for kind in (t.nn.Parameter, t.nn.Buffer, t.Tensor)]
        for value in (p, frozen, buffer, data, p * 2, p.detach(), p.data, 3, None)
    ]
    text = [repr(value).replace("grad_fn=<MulBackward0>", "") for value in (p, frozen, t.nn.Parameter(), p * 2, buffer)]
    return data, p, frozen, is_a, text, issubclass(t.nn.Parameter, t.Tensor)


@parity
def test_copies_of_parameters(t):
    p = t.nn.Parameter(t.ones(2))
    p.sum().backward()
    copies = [copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))]
    return [(isinstance(each, t.nn.Parameter), each, each.grad) for each in copies], copies[
        0
    ].data_ptr() == p.data_ptr()


@parity
def test_bad_data(t):
    return said(
        t,
        lambda: t.nn.Module(3),
        lambda: t.nn.Module(a=3),
        lambda: t.nn.Tanh(3),
        lambda: t.nn.ELU(foo=3),
        lambda: t.nn.Linear(2),
    )


@parity
def test_what_is_no_parameter(t):
    raises(RuntimeError, "Only Tensors of floating point and complex dtype", lambda: t.nn.Parameter(t.tensor([1, 2])))
    with pytest.raises(AttributeError, match="object has no attribute 'detach'"):
        t.nn.Parameter([1.0])


# Registration


@parity
def test_registration(t):
    module = settle(t, mixed(t))
    module.lin.extra = t.nn.Parameter(t.zeros(1))
    module.hidden = t.nn.Buffer(t.zeros(1), persistent=False)
    module.register_buffer("late", None)
    module.register_parameter("none", None)
    module.late = t.ones(1)
    module.add_module("empty", None)
    module.tied = module.lin
    module.again = module.p
    return (
        list(module.named_parameters()),
        list(module.named_parameters(prefix="a", recurse=False)),
        list(module.named_parameters(remove_duplicate=False)),
        list(module.named_buffers()),
        [name for name, _ in module.named_modules(prefix="root")],
        [name for name, _ in module.named_modules(remove_duplicate=False)],
        [name for name, _ in module.named_children()],
        len(list(module.modules())),
        len(list(module.children())),
        [tuple(p.shape) for p in module.parameters()],
        [tuple(p.shape) for p in module.buffers(recurse=False)],
        list(module.state_dict()),
        [name for name in ("lin", "b", "p", "x", "late", "none", "empty") if name in dir(module)],
    )


@parity
def test_assignment_moves_names_between_kinds(t):
    module = mixed(t)
    places = lambda: [list(module._parameters), list(module._buffers), list(module._modules), "x" in vars(module)]
    found = [places()]
    module.x = t.nn.Parameter(t.ones(1))
    found.append(places())
    module.b = t.nn.Parameter(t.ones(1))
    found.append(places())
    module.lin = t.nn.Parameter(t.ones(1))
    found.append(places())
    module.p = None
    module.q = module.b
    module.m = t.nn.ReLU()
    module.m = None
    module.t = t.ones(1)
    found.append(places())
    del module.q, module.m, module.lin, module.t
    found.append(places())
    return found, module.p, hasattr(module, "q")


@parity
def test_refused_assignments(t):
    m = mixed(t)
    return type_of(lambda: setattr(m, "p", t.ones(1))), said(
        t,
        lambda: setattr(m, "p", 3),
        lambda: setattr(m, "p", t.nn.Linear(1, 1)),
        lambda: setattr(m, "lin", 3),
        lambda: setattr(m, "lin", t.nn.Buffer(t.ones(1))),
        lambda: setattr(m, "b", 3),
        lambda: m.register_parameter(3, None),
        lambda: m.register_parameter("a.b", None),
        lambda: m.register_parameter("", None),
        lambda: m.register_parameter("x", None),
        lambda: m.register_parameter("q", t.ones(1)),
        lambda: m.register_parameter("q", t.nn.Parameter(t.ones(1)) * 2),
        lambda: m.register_parameter("q", 3),
        lambda: m.register_buffer(3, None),
        lambda: m.register_buffer("a.b", None),
        lambda: m.register_buffer("", None),
        lambda: m.register_buffer("x", None),
        lambda: m.register_buffer("q", 3),
        lambda: m.add_module(3, None),
        lambda: m.add_module("a.b", None),
        lambda: m.add_module("", None),
        lambda: m.add_module("x", None),
        lambda: m.add_module("p", None),
        lambda: m.add_module("q", 3),
        lambda: m.register_module("lin", None),
        lambda: m.nope,
        lambda: delattr(m, "nope"),
        lambda: repr(m),
    )


@parity
def test_assignments_before_the_beginning(t):
    def module(begin):
        cls = type("Early", (t.nn.Module,), {"__init__": begin})
        return lambda: cls() and None

    return said(
        t,
        module(lambda self: setattr(self, "w", t.nn.Parameter(t.ones(1)))),
        module(lambda self: setattr(self, "w", t.nn.Linear(1, 1))),
        module(lambda self: setattr(self, "w", t.nn.Buffer(t.ones(1)))),
        module(lambda self: self.register_buffer("w", t.ones(1))),
        module(lambda self: self.register_parameter("w", None)),
        module(lambda self: setattr(self, "w", 3)),
    )


@parity
def test_paths(t):
    m = mixed(t)
    m.deep = t.nn.Sequential(t.nn.ReLU(), t.nn.Sequential(t.nn.BatchNorm1d(2)))
    return said(
        t,
        lambda: repr(m.get_submodule("deep.1.0")),
        lambda: m.get_submodule("") is m,
        lambda: m.get_submodule("a.b"),
        lambda: m.get_submodule("x"),
        lambda: m.get_parameter("deep.1.0.bias"),
        lambda: m.get_parameter("lin.x"),
        lambda: m.get_parameter("b"),
        lambda: m.get_parameter("lin.in_features"),
        lambda: m.get_buffer("deep.1.0.running_var"),
        lambda: m.get_buffer("p"),
        lambda: m.get_buffer("lin.x"),
        lambda: m.set_submodule("deep.1.0", t.nn.Tanh()),
        lambda: m.set_submodule("new", t.nn.ReLU()),
        lambda: m.set_submodule("", t.nn.ReLU()),
        lambda: m.set_submodule("q.r", t.nn.ReLU()),
        lambda: m.set_submodule("other", t.nn.ReLU(), strict=True),
        lambda: m.set_submodule("x", t.nn.ReLU()),
        lambda: m.set_submodule("x.y", t.nn.ReLU()),
        lambda: m.set_submodule("deep", 3),
        lambda: m.set_submodule("lin.weight", t.nn.ReLU()),
        lambda: repr(m),
    )


# All at once


@parity
def test_modes_and_flags(t):
    m = net(t)
    m.eval()
    modes = [each.training for each in m.modules()]
    m[0].train()
    modes += [each.training for each in m.modules()]
    m.train(True).requires_grad_(False)
    return modes, [p.requires_grad for p in m.parameters()], said(t, lambda: m.train(3)), m.training


@parity
def test_zero_grad(t):
    m = net(t)
    m(t.ones(1, 3)).sum().backward()
    gradient = m[0].weight.grad
    m.zero_grad(set_to_none=False)
    zeros = gradient.clone()
    m.zero_grad()
    return zeros, [p.grad for p in m.parameters()]


@parity
def test_apply(t):
    order = []
    m = net(t)
    same = m.apply(lambda module: order.append(type(module).__name__))
    return order, same is m


@parity
def test_conversions(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    m(t.ones(3, 2)).sum().backward()
    weight, gradient = m[0].weight, m[0].weight.grad
    found = []
    for convert in (m.double, m.half, m.float, lambda: m.to(t.float64), lambda: m.to("cpu"), lambda: m.to(t.ones(1))):
        found.append(convert() is m)
        found.append([str(value.dtype).rpartition(".")[2] for value in m.state_dict().values()])
        found.append((str(m[0].weight.grad.dtype).rpartition(".")[2], m[0].weight is weight, weight.grad is gradient))
    found.append([str(value.dtype).rpartition(".")[2] for value in m.type(t.float64).state_dict().values()])
    found.append([isinstance(p, t.nn.Parameter) for p in m.parameters()])
    return found, said(t, lambda: m.to(t.int32)), list(m.to_empty(device="cpu").state_dict())


def test_other_devices():
    import pullback

    with pytest.raises(RuntimeError, match="cuda"):
        pullback.nn.Linear(1, 1).to("cuda")
    with pytest.raises(RuntimeError, match="cuda"):
        pullback.nn.Linear(1, 1).cuda()


@parity
def test_copies_keep_what_is_tied(t):
    m = net(t)
    m.tied = m[0]
    m.alias = m[2].weight
    m.hidden = t.nn.Buffer(t.ones(1), persistent=False)
    found = []
    for each in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        tied = each.tied is each[0] and each.alias is each[2].weight and each[0].weight is not m[0].weight
        found.append((tied, repr(each), [isinstance(p, t.nn.Parameter) for p in each.parameters()]))
        found.append(dict(each.state_dict()))
    return found


# State


class Counter:
    """A module with a state that is no tensor."""

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


@parity
def test_state(t):
    cls = type("Counting", (Counter, t.nn.Module), {})
    m = t.nn.Sequential(OrderedDict(norm=t.nn.BatchNorm1d(2), count=cls(), deep=t.nn.Sequential(t.nn.Linear(1, 1))))
    m.count.count = 7
    state = m.state_dict()
    kept = m.state_dict(prefix="a.", keep_vars=True)
    other = copy.deepcopy(m)
    other.count.count = 0
    other.norm.running_mean.fill_(5)
    answer = other.load_state_dict(state)
    return (
        list(state),
        type(state).__name__,
        dict(state._metadata),
        list(kept),
        kept["a.norm.weight"] is m.norm.weight,
        [value.requires_grad for value in state.values() if hasattr(value, "requires_grad")],
        state["norm.weight"].data_ptr() == m.norm.weight.data_ptr(),
        other.count.count,
        other.norm.running_mean,
        repr(answer),
        [list(part) for part in answer],
        list(warns(FutureWarning, "Positional args are being deprecated", lambda: m.state_dict(None, "b."))),
        said(t, m.get_extra_state and (lambda: other.load_state_dict({**state, "deep.0._extra_state": 3}))),
    )


@parity
def test_states_that_do_not_fit(t):
    m = t.nn.Linear(2, 3)
    fits = {"weight": t.ones(3, 2), "bias": t.ones(3)}
    deep = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Sequential(t.nn.BatchNorm1d(2)))
    return said(
        t,
        lambda: m.load_state_dict(3),
        lambda: m.load_state_dict({"weight": t.ones(2, 2), "foo": 3}),
        lambda: m.load_state_dict({"weight": 3, "bias": t.ones(3)}),
        lambda: m.load_state_dict({"weight": t.ones(2, 2), "foo": 3}, strict=False),
        lambda: repr(m.load_state_dict({"weight": t.ones(3, 2), "foo": 3}, strict=False)),
        lambda: m.load_state_dict({**fits, "foo": 2, "bar.x": 3}),
        lambda: m.load_state_dict({**fits, "_extra_state": 2}),
        lambda: deep.load_state_dict({"0.weight": t.ones(2), "1.0.bias": t.ones(3), "1.x": 2, "2": 1, "1.0.w.x": 1}),
    )


@parity
def test_loading_copies_or_assigns(t):
    m = t.nn.Linear(2, 1).requires_grad_(False)
    weight = m.weight
    state = {"weight": t.tensor([[1.0, 2.0]]).double(), "bias": t.nn.Parameter(t.tensor([3.0]))}
    m.load_state_dict(state)
    copied = (m.weight is weight, m.weight.clone(), m.bias.clone())
    m.load_state_dict(state, assign=True)
    return copied, m.weight is weight, m.weight, m.bias, m.bias is state["bias"]


@parity
def test_loading_scalars_and_empty_places(t):
    m = t.nn.Module()
    m.scale = t.nn.Parameter(t.tensor(0.0))
    m.none = None
    m.register_buffer("nothing", None)
    m.load_state_dict({"scale": t.tensor([2.0])})
    return m.scale.clone(), said(t, lambda: m.load_state_dict({"scale": t.tensor(1.0), "nothing": t.ones(1)}))


@parity
def test_old_states_of_batch_normalisation(t):
    old = OrderedDict((name, t.ones(2)) for name in ("weight", "bias", "running_mean", "running_var"))
    m = t.nn.BatchNorm1d(2)
    m.num_batches_tracked.fill_(4)
    answer = repr(m.load_state_dict(old))
    old._metadata = OrderedDict({"": {"version": 2}})
    instance = OrderedDict(running_mean=t.ones(2), running_var=t.ones(2))
    wrong = said(t, lambda: m.load_state_dict(old), lambda: t.nn.InstanceNorm1d(2).load_state_dict(instance))
    return answer, m.num_batches_tracked, wrong[0], wrong[1][1].split(" Please")[0]


@parity
def test_hooks_on_state(t):
    m = net(t)
    events = []
    m.register_state_dict_pre_hook(lambda module, prefix, keep: events.append(("before", prefix, keep)))
    m[0].register_state_dict_post_hook(lambda module, state, prefix, meta: state.__delitem__(prefix + "bias"))
    m[2]._register_state_dict_hook(lambda module, state, prefix, meta: events.append((list(state), prefix)))
    state = m.state_dict()
    m.register_load_state_dict_pre_hook(
        lambda module, state, prefix, meta, strict, missing, unexpected, errors: state.update({"0.bias": t.ones(4)})
    )
    m[2]._register_load_state_dict_pre_hook(
        lambda state, prefix, meta, strict, missing, unexpected, errors: missing.append("invented")
    )
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    handle = m[0].register_load_state_dict_post_hook(lambda module, keys: events.append(module.bias.sum().item()))
    answer = repr(m.load_state_dict(state))
    handle.remove()
    m.load_state_dict(state)
    return list(state), events, answer, m[0].bias


@parity
def test_hooks_on_state_that_return_something(t):
    a, b, c = net(t), net(t), net(t)
    a.register_state_dict_post_hook(lambda *args: 3)
    b._register_state_dict_hook(lambda *args: {"other": 1})
    c.register_load_state_dict_post_hook(lambda module, keys: keys)
    return said(t, a.state_dict, b.state_dict, lambda: c.load_state_dict(c.state_dict()))


# Forward hooks


@parity
def test_forward_hooks(t):
    events = []
    m = t.nn.Linear(2, 1)
    settle(t, m)
    m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    m.register_forward_pre_hook(lambda module, args: events.append(args[0].tolist()))
    first = m.register_forward_pre_hook(lambda module, args: args[0] * 10, prepend=True)
    m.register_forward_hook(lambda module, args, output: output + 1)
    m.register_forward_hook(lambda module, args, output: events.append((args[0].tolist(), output.tolist())))
    m.register_forward_hook(lambda module, args, output: output * 2, prepend=True)
    x = t.tensor([1.0, 2.0])
    results = [m(x).detach()]
    first.remove()
    first.remove()
    results.append(m(x).detach())
    with m.register_forward_hook(lambda *args: args[2] * 0):
        results.append(m(x).detach())
    results.append(m(x).detach())
    return results, events


@parity
def test_forward_hooks_with_keywords(t):
    events = []

    class Scale(t.nn.Module):
        def forward(self, x, *, by=1):
            return x * by

    m = Scale()
    m.register_forward_pre_hook(lambda module, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
    m.register_forward_pre_hook(lambda module, args, kwargs: events.append(dict(kwargs)), with_kwargs=True)
    m.register_forward_hook(lambda module, args, kwargs, out: out + kwargs["by"], with_kwargs=True)
    answer = m(t.ones(1), by=2)
    m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    return answer, events, said(t, lambda: m(t.ones(1), by=2))


@parity
def test_hooks_that_are_always_called(t):
    events = []

    class Fails(t.nn.Module):
        def forward(self, x):
            raise ValueError("stop")

    m = Fails()
    m.register_forward_hook(lambda module, args, out: events.append(("always", out)), always_call=True)
    m.register_forward_hook(lambda module, args, out: events.append("never"))
    found = said(t, lambda: m(t.ones(1)))
    m.register_forward_hook(lambda module, args, out: 1 / 0, always_call=True)
    found += warns(UserWarning, "module forward hook with ``always_call=True`` raised", lambda: said(t, lambda: m(1)))
    return found, events


@parity
def test_hooks_on_every_module(t):
    events = []
    hooks = t.nn.modules.module
    handles = [
        hooks.register_module_forward_pre_hook(lambda module, args: events.append(("before", type(module).__name__))),
        hooks.register_module_forward_hook(lambda module, args, out: events.append(("after", type(module).__name__))),
        hooks.register_module_full_backward_hook(lambda module, i, o: events.append((type(module).__name__, len(i)))),
        hooks.register_module_full_backward_pre_hook(lambda module, o: events.append(("back", type(module).__name__))),
    ]
    try:
        m = net(t)
        m.register_forward_hook(lambda module, args, out: events.append("own"))
        m(t.ones(1, 3, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    m(t.ones(1, 3))
    return events


# Backward hooks


@parity
def test_full_backward_hooks(t):
    events = []
    m = net(t)
    for i, layer in enumerate(m):
        layer.register_full_backward_hook(lambda module, gi, go, i=i: events.append((i, gi, go)))
        layer.register_full_backward_pre_hook(lambda module, go, i=i: events.append((i, go)))
    x = arange(t, 2, 3).requires_grad_()
    (m(x) ** 2).sum().backward()
    return events, x.grad, [p.grad for p in m.parameters()]


@parity
def test_backward_hooks_may_replace_gradients(t):
    m = net(t)
    m[0].register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
    m[1].register_full_backward_pre_hook(lambda module, go: (go[0] + 1,))
    m[1].register_full_backward_pre_hook(lambda module, go: (go[0] * 2,), prepend=True)
    m[2].register_full_backward_hook(lambda module, gi, go: (gi[0] * 0,))
    x = arange(t, 2, 3).requires_grad_()
    m(x).sum().backward()
    return x.grad, [p.grad for p in m.parameters()]


class Several:
    """A module with several inputs and outputs, not all of which are used or are tensors."""

    def forward(self, a, b, scale, c):
        return a * b, scale, a + c, c * 2


@parity
def test_backward_hooks_on_several_tensors(t):
    events = []
    m = type("Several", (Several, t.nn.Module), {})()
    m.register_full_backward_hook(lambda module, gi, go: events.append((gi, go)))
    m.register_full_backward_pre_hook(lambda module, go: events.append(go))
    a, c = arange(t, 3).requires_grad_(), arange(t, 3).requires_grad_()
    product, scale, total, double = m(a, t.ones(3), 2, c)
    product.sum().backward(retain_graph=True)
    (total * 3).sum().backward(retain_graph=True)
    (double.sum() + product.sum()).backward()
    return events, scale, a.grad, c.grad


@parity
def test_backward_hooks_on_constant_inputs(t):
    events = []
    m = settle(t, t.nn.Linear(2, 1))
    m.register_full_backward_hook(lambda module, gi, go: events.append((gi, go)))
    warns(UserWarning, "Full backward hook is firing", m(t.ones(2)).sum().backward)
    with t.no_grad():
        m(t.ones(2))
    return events, m.weight.grad


@parity
def test_backward_hooks_of_higher_order(t):
    events = []
    m = t.nn.Tanh()
    m.register_full_backward_hook(lambda module, gi, go: events.append(gi[0].detach().clone()))
    x = arange(t, 3).requires_grad_()
    (slope,) = t.autograd.grad(m(x).sum(), x, create_graph=True)
    slope.sum().backward()
    return x.grad, events[0]


@parity
def test_refused_backward_hooks(t):
    m = settle(t, t.nn.Linear(2, 1))
    x = t.ones(2, requires_grad=True)
    m.register_full_backward_hook(lambda module, gi, go: (None, None))
    found = said(t, lambda: m(x).sum().backward(), lambda: m.register_backward_hook(print))
    other = settle(t, t.nn.Linear(2, 1))
    other.register_full_backward_pre_hook(lambda module, go: (None, None))
    found += said(t, lambda: other(x).sum().backward())
    third = t.nn.Module()
    third.forward = lambda x: {"out": x}
    third.register_full_backward_hook(print)
    warns(UserWarning, "module output should be a Tensor or a tuple of Tensors", lambda: third(x))
    return found


@parity
def test_old_backward_hooks(t):
    events = []
    m = t.nn.Tanh()
    m.register_backward_hook(lambda module, gi, go: events.append((gi, go)))
    m(arange(t, 3).requires_grad_()).sum().backward()
    return events, said(t, lambda: m.register_full_backward_hook(print))


# Containers


@parity
def test_sequential(t):
    nn = t.nn
    m = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))
    named = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.Tanh(), third=nn.Sigmoid()))
    found = [repr(m), repr(named), len(m), repr(m[-1]), repr(m[1:]), repr(named[:2]), [type(x).__name__ for x in m]]
    named[1] = nn.ELU()
    found.append(repr(named))
    del named[0]
    found.append(repr(named))
    m.append(nn.GELU()).extend([nn.SiLU(), nn.Mish()])
    m.insert(1, nn.CELU())
    m.insert(-1, nn.SELU())
    found += [repr(m), repr(m.pop(0)), repr(m)]
    del m[1:3]
    found += [repr(m), repr(m + named), repr(named * 2), repr(2 * named), m[0] in m]
    m += named
    named *= 2
    found += [repr(m), repr(named), repr(nn.Sequential())]
    return found


@parity
def test_refusals_of_sequential(t):
    m = net(t)
    wrong = said(
        t,
        lambda: m + 3,
        lambda: m.__iadd__(3),
        lambda: m * 0,
        lambda: m * 1.5,
        lambda: m.insert(9, t.nn.ReLU()),
        lambda: m.append(3),
        lambda: t.nn.Sequential(3),
        lambda: setattr(m, "0", 3),
    )
    indices = [type_of(lambda: m[3]), type_of(lambda: m["0"]), type_of(lambda: m.__setitem__(5, t.nn.ReLU()))]
    return wrong, indices, type_of(lambda: m.insert(0, 3)), type_of(lambda: m.__delitem__(9))


def type_of(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return None


@parity
def test_module_lists(t):
    nn = t.nn
    m = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 2), nn.Linear(1, 2), nn.Tanh()])
    found = [repr(m), len(m), repr(m[-1]), repr(m[1:4]), repr(m + [nn.ELU()])]  # noqa: RUF005
    m.append(nn.GELU())
    m.extend(nn.ModuleList([nn.SiLU()]))
    m.insert(1, nn.Sequential(nn.CELU()))
    m[0] = nn.Mish()
    found += [repr(m), repr(m.pop(2)), repr(m)]
    m += [nn.ReLU()]
    del m[1:3]
    del m[0]
    found += [repr(m), repr(nn.ModuleList()), list(m.state_dict()), [type(each).__name__ for each in m]]
    wrong = said(t, lambda: m.extend(3), lambda: m.append(3))
    return found, wrong, type_of(lambda: m(3)), type_of(lambda: m[9])


@parity
def test_module_dicts(t):
    nn = t.nn
    m = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    m["c"] = nn.Tanh()
    m.update([("d", nn.ELU()), ("a", nn.GELU())])
    found = [repr(m), len(m), list(m), "a" in m, "z" in m, list(m.keys()), [k for k, _ in m.items()], len(m.values())]
    found += [repr(m.pop("b")), repr(m)]
    del m["c"]
    found.append(list(m))
    m.clear()
    wrong = said(t, lambda: m["z"], lambda: m.update(3), lambda: m.update([3]), lambda: m.update([(1, 2, 3)]))
    return found, repr(m), wrong, said(t, lambda: m.__setitem__("q", 3), lambda: m.__setitem__(3, nn.ReLU()))


@parity
def test_parameter_lists(t):
    nn = t.nn
    m = nn.ParameterList([nn.Parameter(t.ones(2, 3)), t.zeros(2), "text"])
    m.append(t.ones(()))
    m += [3]
    found = [text(m), len(m), list(m.state_dict()), [isinstance(p, nn.Parameter) for p in m], len(m[1:3])]
    m[0] = t.ones(1)
    found += [m[0], m[-1], [name for name, _ in m.named_parameters()]]
    return found, said(t, lambda: m(3), lambda: m.extend(t.ones(2)), lambda: m.extend(3)), type_of(lambda: m[9])


@parity
def test_parameter_dicts(t):
    nn = t.nn
    m = nn.ParameterDict({"b": t.ones(2), "a": nn.Parameter(t.zeros(1, 2))})
    m["c"] = 3
    m.update(nn.ParameterDict({"d": t.ones(1)}))
    found = [text(m), len(m), list(m), list(reversed(m)), "a" in m, list(m.keys()), [k for k, _ in m.items()]]
    found += [m.get("z"), m.get("z", 1), m.setdefault("e", t.ones(1)), m.setdefault("a"), m.pop("a"), m.popitem()]
    found += [list(m | {"x": t.ones(1)}), list(m.copy()), list(m.fromkeys("pq", 1).values()), list(m)]
    m |= {"y": t.ones(1)}
    del m["b"]
    found += [list(m), list(m.state_dict())]
    m.clear()
    wrong = said(t, lambda: m(3), lambda: m.update(3), lambda: m.update([3]), lambda: m.update([(1, 2, 3)]))
    return found, list(m), wrong, type_of(lambda: m.__setitem__(3, 1)), type_of(lambda: m["z"])


@parity
def test_text(t):
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = t.nn.ReLU()
            self.inner = t.nn.Sequential(t.nn.Linear(1, 1), t.nn.ModuleList([t.nn.ReLU(), t.nn.ReLU()]))
            self.none = None
            self.add_module("empty", None)

        def extra_repr(self):
            return "one\ntwo"

    plain = t.nn.Linear(1, 1)
    plain.more = t.nn.ReLU()
    return repr(Block()), repr(plain), repr(t.nn.Module()), str(t.nn.ModuleDict({"a": Block()}))


@parity
def test_a_module_without_forward(t):
    return said(t, lambda: t.nn.Module()(3), lambda: t.nn.ModuleDict()(3))


# Functions of modules


@parity
def test_clipping(t):
    def gradients():
        m = net(t)
        m(arange(t, 2, 3)).sum().backward()
        return m

    a, b, c, d, e = (gradients() for _ in range(5))
    clip = t.nn.utils.clip_grad_norm_
    norms = [clip(a.parameters(), 1.0), clip(b.parameters(), 0.5, norm_type=1), clip(c[0].weight, 2, float("inf"))]
    t.nn.utils.clip_grad_value_(d.parameters(), 0.1)
    total = t.nn.utils.get_total_norm([p.grad for p in e.parameters()])
    t.nn.utils.clip_grads_with_norm_(e.parameters(), 1.0, total)
    grads = [[p.grad for p in m.parameters()] for m in (a, b, c, d, e)]
    empty = warns(UserWarning, "`parameters` is an empty generator", lambda: clip((p for p in ()), 1.0))
    e[0].weight.grad.fill_(float("nan"))
    wrong = said(t, lambda: clip(e.parameters(), 1.0, error_if_nonfinite=True))
    return norms, grads, total, empty, clip([], 1.0), wrong


@parity
def test_parameters_as_a_vector(t):
    m = net(t)
    vector = t.nn.utils.parameters_to_vector(m.parameters())
    values = vector.detach()
    t.nn.utils.vector_to_parameters(t.arange(float(vector.numel())), m.parameters())
    return (
        values,
        vector.requires_grad,
        list(m.parameters()),
        said(t, lambda: t.nn.utils.vector_to_parameters(3, m.parameters())),
    )


@parity
def test_functional_call(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    settle(t, m)
    tensors = {"0.weight": t.ones(2, 2), "1.running_mean": t.zeros(2)}
    buffers = {"1.num_batches_tracked": t.tensor(4)}
    x = arange(t, 3, 2)
    answer = t.func.functional_call(m, (tensors, buffers), x)
    return answer.detach(), tensors, buffers, dict(m.state_dict()), isinstance(m[0].weight, t.nn.Parameter)


@parity
def test_functional_call_of_tied_weights(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2, bias=False), t.nn.Linear(2, 2, bias=False))
    m[1].weight = m[0].weight
    settle(t, m)
    call = t.func.functional_call
    x = t.ones(2)
    tied = call(m, {"0.weight": t.eye(2)}, (x,))
    alone = call(m, {"0.weight": t.eye(2)}, (x,), tie_weights=False).detach()
    return tied, alone, said(t, lambda: call(m, {"0.weight": t.eye(2), "1.weight": t.ones(2, 2)}, x)), m[0].weight


@parity
def test_refusals_of_functional_call(t):
    m = settle(t, t.nn.Linear(2, 1))
    call, stack = t.func.functional_call, t.func.stack_module_state
    frozen = t.nn.Linear(2, 1).requires_grad_(False)
    return said(
        t,
        lambda: call(m, {"weight": t.ones(1, 2), "other": t.ones(1)}, t.ones(2), strict=True),
        lambda: call(m, [{"bias": t.ones(1)}, {"bias": t.ones(1)}], t.ones(2)),
        lambda: call(m, [3], t.ones(2)),
        lambda: call(m, 3, t.ones(2)),
        lambda: stack([]),
        lambda: stack([m, t.nn.Linear(2, 1).eval()]),
        lambda: stack([m, t.nn.ReLU()]),
        lambda: stack([m, frozen]),
    ), type_of(lambda: call(m, {"weight": 3}, t.ones(2)))


@parity
def test_stacked_models(t):
    models = [settle(t, t.nn.Sequential(t.nn.Linear(2, 1), t.nn.BatchNorm1d(1))) for _ in range(3)]
    params, buffers = t.func.stack_module_state(models)
    return params, buffers
