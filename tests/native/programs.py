"""Random programs over the state of tensors: operations, views, writes, blocks, passes."""

import numpy as np

import pullback

ONE = ["-{a}", "{a}.sin()", "{a}.exp()", "{a} * 2.0", "{a} + 1", "{a}[0]", "{a}[-1:]", "{a}[..., 0]", "{a}[None]", "{a}.T",
       "{a}.reshape(-1)", "list({a})[0]", "{a}.sum()", "{a}.sum(0)", "{a}.tanh()", "{a}.clone()", "{a}.detach()", "{a}.unsqueeze(0)",
       "{a}.relu()", "{a}[::2]", "{a} ** 2", "{a}.unbind()[-1]", "{a}.split(2)[0]", "{a}.chunk(2, -1)[-1]", "{a}[[0, -1]]", "{a}[{a} > 0]",
       "{a}.mean(-1)", "{a}.mean()", "{a}.sum(0, keepdim=True)", "{a}[pullback.tensor([0, 0])]"]  # fmt: skip
TWO = ["{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} / ({b} + 9)", "{a} @ {b}", "pullback.maximum({a}, {b})", "pullback.cat([{a}, {b}])",
       "pullback.stack([{a}, {b}])", "{a} > {b}"]  # fmt: skip
WRITES = ["{a}.mul_(0.5)", "{a}.add_({b})", "{a}[0] = 1.5", "{a}[0] = {b}", "{a}[...] = {b}", "{a}.copy_({b})", "{a}.zero_()",
          "{a} *= {b}", "{a} += 1.0", "{a} -= {b}", "{a}[[0, -1]] = {b}", "{a}[[0]] = 2.0", "{a}[{a} > 1] = 0", "{a}[-1] = {b}[0]", "{a}.detach_()", "{a}.requires_grad_()"]  # fmt: skip
BLOCKS = ["", "", "", "with pullback.no_grad(): ", "with pullback.enable_grad(): "]
PASSES = ["{a}.sum().backward()", "({a} * {a}).sum().backward(retain_graph=True)",
          "g = pullback.autograd.grad({a}.sum(), x, allow_unused=True, create_graph=True)[0]"]  # fmt: skip


def outcome(seed, shown, called):
    """What is left after a random program, with the errors that its lines met."""
    rng = np.random.default_rng(seed)
    scope = {"pullback": pullback}
    dtype = rng.choice([np.float32, np.float64])
    scope["x"] = pullback.tensor(rng.standard_normal((3, 4)).astype(dtype), requires_grad=True)
    scope["y"] = pullback.tensor(rng.standard_normal((3, 4)).astype(dtype), requires_grad=True)
    scope["u"] = pullback.tensor(rng.standard_normal((4,)).astype(dtype))
    lines = []
    for number in range(rng.integers(4, 20)):
        names = [name for name, value in scope.items() if pullback.is_tensor(value)]
        a, b = rng.choice(names, 2)
        kind = rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])
        text = str(rng.choice([ONE, TWO, WRITES, PASSES][kind])).format(a=a, b=b)
        text = rng.choice(BLOCKS) + (f"t{number} = {text}" if kind < 2 else text)
        lines.append(f"{text} -> {called(exec, compile(text, '<program>', 'exec'), scope)}")
    kept = [f"{name}: {shown(value)}" for name, value in scope.items() if pullback.is_tensor(value)]
    kept += [shown(scope[name].grad) for name in "xy"]
    return " ; ".join([*lines, *kept])
