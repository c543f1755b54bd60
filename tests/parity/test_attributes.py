"""What a tensor says of itself, and what may be set on it."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity, raises, warns  # noqa: E402

FLAG = "you can only change requires_grad flags of leaf variables."
DETACH = "If you want to use a computed variable in a subgraph that doesn't require differentiation use"
FLOATING = "ensors of floating point"
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be"
)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@parity
def test_dtypes_that_can_require_grad(t, dtype):
    x = t.ones(2, dtype=getattr(t, dtype), requires_grad=True)
    return x, x * 2, t.ones(2).to(getattr(t, dtype)).requires_grad_()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "bool"])
@parity
def test_dtypes_that_cannot(t, dtype):
    x = t.ones(2, dtype=getattr(t, dtype))
    raises(RuntimeError, FLOATING, lambda: setattr(x, "requires_grad", True))
    raises(RuntimeError, FLOATING, x.requires_grad_)
    raises(RuntimeError, FLOATING, lambda: t.ones(2, dtype=getattr(t, dtype), requires_grad=True))
    raises(RuntimeError, FLOATING, lambda: t.zeros_like(x, requires_grad=True))
    x.requires_grad = False
    return x, x.requires_grad_(False) is x


@parity
def test_integers_cannot_require_grad(t):
    wording = "Only Tensors of floating point and complex dtype can require gradients"
    raises(RuntimeError, wording, lambda: t.tensor([1, 2], requires_grad=True))
    x = t.tensor([1, 2])
    raises(RuntimeError, wording.replace("Only", "only"), lambda: setattr(x, "requires_grad", True))
    return x


@parity
def test_the_flag_of_a_leaf_can_be_changed(t):
    x = t.ones(2)
    seen = [x.requires_grad]
    x.requires_grad = True
    seen.append(x.requires_grad)
    x.requires_grad = True
    (x * 2).sum().backward()
    x.requires_grad = False
    seen += [x.requires_grad, x.grad, (x * 2).requires_grad]
    x.requires_grad_()
    (x * 2).sum().backward()
    return seen, x, x.grad, x.requires_grad_() is x


@parity
def test_the_flag_of_a_result_cannot(t):
    y = leaf(t, 1, 2) * 2
    raises(RuntimeError, FLAG, lambda: setattr(y, "requires_grad", True))
    raises(RuntimeError, DETACH, lambda: setattr(y, "requires_grad", False))
    raises(RuntimeError, FLAG, lambda: y.requires_grad_(False))
    return y, y.requires_grad_() is y, y.requires_grad_(True) is y


@parity
def test_the_flag_is_a_bool(t):
    x = t.ones(2)
    raises(RuntimeError, "requires_grad must be a bool", lambda: setattr(x, "requires_grad", 1))
    raises(RuntimeError, "requires_grad must be a bool", lambda: delattr(x, "requires_grad"))
    wording = "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not int"
    raises(TypeError, wording, lambda: x.requires_grad_(1))
    return x


@parity
def test_turning_the_flag_off_does_not_cut_what_was_recorded(t):
    x = leaf(t, 1, 2)
    y = (x * x).sum()
    x.requires_grad = False
    y.backward()
    return x, x.grad


@parity
def test_grad_starts_as_none(t):
    x, y = leaf(t, 1, 2), t.ones(2)
    return x.grad, y.grad, t.tensor([1]).grad


@parity
def test_grad_can_be_set_and_deleted(t):
    x = leaf(t, 1, 2)
    mine = t.tensor([10.0, 20.0])
    x.grad = mine
    (x * 2).sum().backward()
    kept = x.grad is mine
    seen = x.grad.clone()
    x.grad = None
    (x * 2).sum().backward()
    again = x.grad
    del x.grad
    return kept, mine, seen, again, x.grad


@parity
def test_a_zeroed_gradient_is_added_to(t):
    x = leaf(t, 1, 2)
    (x * x).sum().backward()
    x.grad.zero_()
    (x * x).sum().backward()
    return x.grad


@parity
def test_gradients_that_cannot_be_assigned(t):
    x = leaf(t, 1, 2)
    wording = "attempting to assign a gradient of size '[1]' to a tensor of size '[2]'."
    raises(RuntimeError, wording, lambda: setattr(x, "grad", t.ones(1)))
    wording = "The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype)."
    raises(RuntimeError, wording, lambda: setattr(x, "grad", t.ones(2, dtype=t.float64)))
    wording = "assigned grad expected to be a Tensor or None but got grad of type float"
    raises(TypeError, wording, lambda: setattr(x, "grad", 1.0))
    raises(RuntimeError, "can't assign Variable as its own grad", lambda: setattr(x, "grad", x))
    return x.grad


@parity
def test_an_untracked_tensor_can_carry_a_grad(t):
    x = t.ones(2)
    x.grad = t.tensor([1.0, 2.0])
    x.requires_grad_()
    (x * 2).sum().backward()
    return x.grad


@parity
def test_grad_dtype_sets_the_dtype_of_accumulation(t):
    x = leaf(t, 1, 2)
    before = x.grad_dtype
    x.grad_dtype = t.float64
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return before, x.grad_dtype, x.grad


@parity
def test_reading_grad_of_a_result_warns(t):
    y = leaf(t, 1, 2) * 2
    return warns(UserWarning, NON_LEAF_GRAD, lambda: y.grad)


@parity
def test_a_retained_gradient(t):
    x = leaf(t, 1, 2)
    y = x * x
    flags = [y.retains_grad, x.retains_grad]
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    z = y.exp()
    z.sum().backward(retain_graph=True)
    first = y.grad
    copied = first.clone()
    z.sum().backward()
    return flags, y.retains_grad, x.retains_grad, copied, y.grad, first is y.grad, x.grad


@parity
def test_retain_grad_wants_a_tracked_tensor(t):
    x = t.ones(2)
    raises(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False", x.retain_grad)
    return x.retains_grad


@parity
def test_retain_grad_before_any_pass(t):
    y = leaf(t, 1) * 2
    y.retain_grad()
    return y.grad, t.autograd.grad(y.sum(), y), y.grad


@parity
def test_grad_fn_is_read_only_and_always_the_same(t):
    x = leaf(t, 1, 2)
    y = x * 2
    with pytest.raises(AttributeError):
        y.grad_fn = None
    with pytest.raises(AttributeError):
        y._version = 3
    with pytest.raises(AttributeError):
        y.is_leaf = True
    return x.grad_fn, y.grad_fn is y.grad_fn, y.grad_fn, t.ones(2).grad_fn


@parity
def test_leaves(t):
    x = leaf(t, 1, 2)
    with t.no_grad():
        quiet = x * 2
    return [
        tensor.is_leaf
        for tensor in (x, x * 2, x.detach(), x.data, x[0], x.clone(), t.ones(2), t.ones(2) * 2, quiet, x > 0, x.long())
    ]


@parity
def test_detach_shares_memory_and_version(t):
    x = leaf(t, 1, 2)
    y = x * 2
    d = y.detach()
    d[0] = 9
    d.add_(1)
    return d, y.detach(), d.requires_grad, d._version, y._version, y.data_ptr() == d.data_ptr()


@parity
def test_detach_in_place(t):
    x = leaf(t, 1, 2)
    y = x * 2
    same = y.detach_()
    view = (x * 3)[0:1]
    raises(RuntimeError, "Can't detach views in-place. Use detach() instead.", view.detach_)
    return same is y, y, x.detach_() is x, x


@parity
def test_data_shares_memory_and_no_version(t):
    x = leaf(t, 1, 2)
    alias = x.data
    alias.mul_(10)
    return alias, x, alias.requires_grad, alias.data_ptr() == x.data_ptr()


@parity
def test_data_can_be_written_without_a_trace(t):
    x = leaf(t, 1, 2)
    version = x._version
    x.data[0] = 7
    x.data -= 1
    return x, version, x._version


@parity
def test_data_can_be_exchanged(t):
    x = leaf(t, 1, 2)
    x.data = t.tensor([[3.0, 4.0, 5.0]])
    (x * x).sum().backward()
    wording = "data set to a tensor that requires gradients must be floating point or complex dtype"
    raises(RuntimeError, wording, lambda: setattr(x, "data", t.tensor([1])))
    raises(TypeError, "Variable data has to be a tensor, but got int", lambda: setattr(x, "data", 1))
    return x, x.grad


@parity
def test_clone_is_recorded(t):
    x = leaf(t, 1, 2)
    y = x.clone()
    (y * y).sum().backward()
    return y, y.data_ptr() == x.data_ptr(), x.grad, t.ones(2).clone()


@parity
def test_versions_count_writes(t):
    x = t.zeros(4)
    seen = [x._version]
    view = x[1:3]
    x.add_(1)
    view.mul_(2)
    x[0] = 3
    x += 1
    x.detach().fill_(2)
    seen += [x._version, view._version]
    x.clone().add_(1)
    seen += [x._version, x.clone()._version]
    return seen


@parity
def test_output_numbers(t):
    x = t.ones(3, 2, requires_grad=True)
    return [row.output_nr for row in x.unbind()], [p.output_nr for p in x.split(2)], x.output_nr, (x * 2).output_nr


@parity
def test_views_know_their_base(t):
    x = t.zeros(2, 3)
    y = x[0]
    z = y[1:]
    return x._is_view(), y._is_view(), z._base is x, y._base is x, x._base, x.clone()._is_view(), (x + 1)._is_view()


@pytest.mark.parametrize("call", ["numpy", "__array__"])
@parity
def test_tracked_tensors_keep_out_of_numpy(t, call):
    x = leaf(t, 1, 2)
    wording = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    raises(RuntimeError, wording, getattr(x, call))
    raises(RuntimeError, wording, getattr(x * 2, call))
    return x.detach().numpy().tolist(), x.numpy(force=True).tolist()


@parity
def test_numpy_shares_memory(t):
    x = t.zeros(2)
    array = x.numpy()
    array[0] = 5
    x[1] = 6
    y = t.from_numpy(array)
    y.add_(1)
    return x, array.tolist(), str(array.dtype)


@parity
def test_values_of_tracked_tensors_can_be_read(t):
    x = leaf(t, 1.5, 2)
    return x[0].item(), x.tolist(), x[0].tolist(), x.sum().item(), t.tensor([[True]]).item(), t.tensor(3).tolist()


@parity
def test_converting_a_tracked_scalar_warns(t):
    x = leaf(t, 2.5)
    wording = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior."
    return warns(UserWarning, wording, lambda: float(x)), int(x.detach()), complex(x.detach())


@parity
def test_tensors_of_several_elements_are_no_numbers(t):
    x = t.ones(2)
    raises(RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar", x.item)
    raises(ValueError, "only one element tensors can be converted to Python scalars", lambda: float(x))
    raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous", lambda: bool(x))
    raises(RuntimeError, "Boolean value of Tensor with no values is ambiguous", lambda: bool(t.ones(0)))
    return bool(t.ones(1, 1)), bool(t.zeros(1)), bool(leaf(t, 1))


@parity
def test_iteration_is_unbind(t):
    x = t.arange(6.0).reshape(3, 2).requires_grad_()
    rows = list(x)
    (rows[0] * rows[2]).sum().backward()
    raises(TypeError, "len() of a 0-d tensor", lambda: len(t.ones(())))
    raises(TypeError, "iteration over a 0-d tensor", lambda: iter(t.ones(())))
    return rows, len(x), rows[0].grad_fn is rows[2].grad_fn, x.grad, list(t.ones(0, 2))


@parity
def test_deepcopy_of_a_leaf(t):
    x = leaf(t, 1, 2)
    x.sum().backward()
    y = copy.deepcopy(x)
    y.grad[0] = 7
    y.data[1] = 9
    return x, x.grad, y, y.grad, copy.deepcopy(t.ones(2))


@parity
def test_deepcopy_of_what_is_no_leaf(t):
    x, model = leaf(t, 1, 2), t.nn.Linear(2, 2)
    model.kept = x * 2
    for each in (x * 2, x.view(2), [x, {"a": x.sum()}], model):
        raises(RuntimeError, "graph leaves", lambda each=each: copy.deepcopy(each))
    return copy.deepcopy(x.detach().view(2)), copy.deepcopy(t.ones(2) * 2)


@parity
def test_pickling_keeps_the_flag_and_loses_the_gradient(t):
    x = leaf(t, 1, 2)
    x.sum().backward()
    return [pickle.loads(pickle.dumps(tensor)) for tensor in (x, t.ones(2), t.tensor([1, 2]), x * 2)]


@parity
def test_pickling_keeps_no_gradient(t):
    x = leaf(t, 1, 2)
    x.sum().backward()
    return pickle.loads(pickle.dumps(x)).grad


@parity
def test_a_tensor_from_a_tensor_is_a_copy_without_history(t):
    x = leaf(t, 1, 2)
    return warns(UserWarning, "To copy construct from a tensor, it is recommended to use", lambda: t.tensor(x * 2))


@parity
def test_calls_that_change_nothing_return_the_tensor(t):
    x = leaf(t, 1, 2)
    y = x * 2
    return (
        x.contiguous() is x, x.to(t.float32) is x, y.float() is y, y.to(y) is y, y.to("cpu") is y, y.cpu() is y,
        x.to(t.float32, copy=True) is x, t.as_tensor(x) is x, y.type_as(x) is y, x.double() is x,
    )  # fmt: skip


@parity
def test_conversions_are_recorded(t):
    x = leaf(t, 1.5, 2.5)
    y = x.double()
    (y * y).sum().backward()
    return y, x.half(), x.to(t.float64), x.to(dtype=t.float16), x.long(), x.int(), x.bool(), x.to(t.int64), x.grad


@pytest.mark.parametrize(
    "program",
    [
        lambda t: leaf(t, 1, 2),
        lambda t: leaf(t, 1, 2) * 2.5,
        lambda t: leaf(t, 1, 2, dtype="float64").sum(),
        lambda t: t.tensor([1, 2]),
        lambda t: t.tensor([True, False]),
        lambda t: t.tensor([1e-5, 1e5], requires_grad=True).exp(),
        lambda t: t.zeros(0, 3),
        lambda t: t.zeros(0, dtype=t.int64),
        lambda t: t.tensor(float("nan")),
        lambda t: t.ones(2, 2, requires_grad=True).unbind()[1],
        lambda t: t.arange(2000.0),
        lambda t: t.ones(2, dtype=t.float64),
        lambda t: t.tensor([1 + 2j, 3]),
    ],
)  # fmt: skip
@parity
def test_repr(t, program):
    return repr(program(t)).replace(t.__name__, "t"), str(program(t)).replace(t.__name__, "t")


@parity
def test_shapes_and_strides(t):
    x = t.zeros(2, 3, 4)
    return (
        tuple(x.shape), x.size(1), tuple(x.size()), x.ndim, x.dim(), x.numel(), x.nelement(), x.stride(), x.stride(0),
        x.permute(2, 0, 1).stride(), x.permute(2, 0, 1).is_contiguous(), x.permute(2, 0, 1).contiguous().stride(), x[:, 1].stride(), x.element_size(),
        x.shape.numel(),
        x.is_floating_point(), x.is_complex(), x.itemsize, x.nbytes, len(x), x.is_inference(),
    )  # fmt: skip
