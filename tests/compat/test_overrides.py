"""`__torch_function__` of arguments and of modes, as torch's page on extending it has them."""

from __future__ import annotations

from tests.prepared import installed

LOG = """
    import torch
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode

    seen = []

    class Log(TorchFunctionMode):
        def __init__(self, tag):
            super().__init__()
            self.tag = tag

        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((self.tag, func))
            return func(*args, **(kwargs or {}))
"""


def test_a_mode_sees_calls_of_functions_methods_and_operators() -> None:
    installed(
        LOG
        + """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    add = torch.add
    with Log("first"):
        add(x, 1)
    before = add.__code__
    seen.clear()
    with Log("outer"):
        y = x + 1
        z = add(x, 1)
        w = functional.relu(x)
        v = x.sum()
        u = torch.zeros(2)
        t = torch.nn.Linear(2, 1)(x)
        2 * x
        x[0]
        bool(v > 0)
        with Log("inner"):
            torch.mul(x, 2)
        x.detach().mul_(2)
        v.backward()
    torch.mul(x, 2)
    T = torch.Tensor
    wanted = [T.add, torch.add, functional.relu, T.sum, torch.zeros]
    assert [func for _, func in seen[:5]] == wanted, seen[:5]
    rest = [(tag, func.__name__) for tag, func in seen[5:] if func.__module__ != "pullback.nn.init"]
    assert ("outer", "linear") in rest
    assert rest[-9:] == [
        ("outer", "mul"), ("outer", "getitem"), ("outer", "gt"), ("outer", "__bool__"), ("inner", "mul"), ("outer", "mul"),
        ("outer", "detach"), ("outer", "mul_"), ("outer", "backward"),
    ], rest
    assert x.grad.tolist() == [1.0, 1.0] and y.tolist() == z.tolist() == [2.0, 3.0]
    assert add.__code__ is before  # afterwards it costs nothing
    """
    )


def test_a_mode_may_answer_and_is_off_while_it_does() -> None:
    installed(
        LOG
        + """
    class Twice(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return torch.add(result, result) if func is torch.sin else result

    class Never(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ValueError("called")

    x = torch.tensor([0.5])
    with Twice():
        assert torch.sin(x).item() == 2 * torch.Tensor.sin(x).item()
    try:
        with Never():
            x + 1
    except ValueError:
        pass
    assert (x + 1).item() == 1.5 # it was left
    with Never(), torch._C.DisableTorchFunction():
        assert (x + 1).item() == 1.5
    import threading
    with Never():
        found = []
        thread = threading.Thread(target=lambda: found.append((x + 1).item()))
        thread.start()
        thread.join()
    assert found == [1.5] # a mode belongs to its thread
    """
    )


def test_objects_that_are_no_tensors_answer_functions() -> None:
    installed("""
    import functools
    import torch

    ANSWERS = {}

    def implements(function):
        def register(answer):
            ANSWERS[function] = functools.wraps(function)(answer)
            return answer
        return register

    class Diagonal:
        def __init__(self, size, value):
            self.size, self.value = size, value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in ANSWERS or not all(issubclass(kind, (torch.Tensor, Diagonal)) for kind in types):
                return NotImplemented
            return ANSWERS[func](*args, **(kwargs or {}))

    @implements(torch.mean)
    def mean(d):
        return d.value / d.size

    @implements(torch.add)
    def add(a, b):
        dense = [each.value * torch.eye(each.size) if isinstance(each, Diagonal) else each for each in (a, b)]
        return torch.add(*dense)

    @implements(torch.stack)
    def stack(pieces):
        return len(pieces)

    d = Diagonal(5, 2)
    assert torch.mean(d) == 0.4
    assert torch.add(torch.ones(5, 5), d)[1].tolist() == [1.0, 3.0, 1.0, 1.0, 1.0]
    assert torch.add(d, torch.ones(5, 5))[1].tolist() == [1.0, 3.0, 1.0, 1.0, 1.0]
    assert (torch.ones(5, 5) + d if torch.Tensor.add in ANSWERS else None) is None
    assert torch.stack([d, d, d]) == 3
    raises(TypeError, "no implementation found for 'torch.mul' on types that", lambda: torch.mul(d, 3))
    assert torch.add(torch.ones(2), 1).tolist() == [2.0, 2.0]
    """)


def test_classes_of_tensors_call_the_function_itself_by_super() -> None:
    installed("""
    import torch
    from torch.overrides import handle_torch_function, has_torch_function, has_torch_function_unary, resolve_name

    seen = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((resolve_name(func), types))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Below(Logged):
        pass

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x.as_subclass(Logged)
    results = [a + 1, torch.stack([a, a]), torch.nn.functional.relu(a), torch.ones(2) * a, a.sum()]
    assert all(type(result) is Logged for result in results)
    assert seen == [(f"torch.{name}", (Logged,)) for name in ("Tensor.add", "stack", "nn.functional.relu", "Tensor.mul", "Tensor.sum")], seen
    results[-1].backward()
    assert x.grad.tolist() == [1.0, 1.0]
    values, indices = torch.max(a, 0)
    assert type(values) is Logged
    seen.clear()
    assert type(x.as_subclass(Below) + a) is Below and seen[0][1] == (Below, Logged)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(a + 1) is torch.Tensor and not has_torch_function((a,))

    class Plain(torch.Tensor):
        pass

    class Off(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    plain = torch.ones(2).as_subclass(Plain)
    assert type(plain + 1) is Plain and type(torch.ones(2).as_subclass(Off) + 1) is torch.Tensor
    assert has_torch_function((plain,)) and not has_torch_function((x, torch.nn.Parameter(x), 1.0))

    def doubled(x):
        if has_torch_function_unary(x):
            return handle_torch_function(doubled, (x,), x)
        return x * 2

    assert type(doubled(plain)) is Plain and doubled(x).tolist() == [2.0, 4.0]
    """)


def test_what_can_be_overridden_is_told() -> None:
    installed("""
    import torch
    from torch.overrides import get_ignored_functions, get_overridable_functions, is_tensor_method_or_property, resolve_name

    told, ignored = get_overridable_functions(), get_ignored_functions()
    assert torch.add in told[torch] and torch.nn.functional.relu in told[torch.nn.functional]
    assert torch.Tensor.add in told[torch.Tensor] and torch.zeros in ignored and torch.zeros not in told[torch]
    assert resolve_name(torch.Tensor.add) == "torch.Tensor.add" and resolve_name(torch.linalg.inv) == "torch.linalg.inv"
    assert is_tensor_method_or_property(torch.Tensor.add) and not is_tensor_method_or_property(torch.zeros)
    """)


def test_afterwards_classes_are_made_as_before() -> None:
    installed("""
    import builtins
    import torch

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "duck"

    assert torch.add(Duck(), 1) == "duck"
    add = torch.add
    uninstall()
    assert builtins.__build_class__.__class__.__name__ == "builtin_function_or_method"
    assert not hasattr(pullback.Tensor, "__torch_function__")
    raises(TypeError, "Duck", lambda: add(Duck(), 1))
    """)


def test_results_have_their_class_again_after_blocks_without_dispatch():
    installed("""
        class Plain(torch.Tensor):
            pass

        plain = torch.ones(2).as_subclass(Plain)
        with torch._C.DisableTorchFunctionSubclass():
            with torch._C.DisableTorchFunctionSubclass():
                assert type(plain + 1) is torch.Tensor
            assert type(plain + 1) is torch.Tensor
        assert type(plain + 1) is Plain
    """)
