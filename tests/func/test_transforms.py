"""Transforms where things go wrong easily: what is masked, what is complex, what is copied, written or left behind."""

import copy
import gc
import threading

import numpy as np
import pytest

import pullback
from pullback import func
from pullback.autograd import forward_ad, functional


def vector(*values, dtype=None):
    return pullback.tensor([1.0, 2.0, 3.0] if not values else list(values), dtype=dtype or pullback.float64)


def equal(mine, theirs):
    np.testing.assert_allclose(mine.detach().numpy(), theirs, rtol=1e-12, atol=1e-12)


# 1. Where a slope is masked, both modes have the mask

MASKED = {
    "the norm": lambda x: x.norm(),
    "the norm of rows": lambda x: x[:, None].norm(dim=1),
    "a norm of small order": lambda x: pullback.linalg.vector_norm(pullback.cat([x, x + 1]), 0.5),
    "a deviation": lambda x: x.std(),
    "distances": lambda x: pullback.cdist(x[:, None], x[:, None]),
    "powers": lambda x: x ** vector(0.0, 1.0, 2.0),
    "exponents": lambda x: vector(0.0, 1.0, 2.0) ** x,
    "sinc": pullback.sinc,
    "copysign": lambda x: pullback.copysign(x, vector(1.0, -1.0, 1.0)),
    "an angle": lambda x: pullback.complex(x, x).angle(),
    "a direction": lambda x: pullback.view_as_real(pullback.complex(x, x).sgn()),
}


@pytest.mark.parametrize("name", MASKED)
def test_forward_and_reverse_mode_agree_at_zero(name):
    f = MASKED[name]
    x, tangent = pullback.zeros(3, dtype=pullback.float64), vector(1.0, -2.0, 0.5)
    y, pushed = func.jvp(f, (x,), (tangent,))
    cotangent = pullback.arange(1.0, y.numel() + 1, dtype=pullback.float64).reshape(y.shape)
    (pulled,) = func.vjp(f, x)[1](cotangent)
    assert np.isfinite(pulled.numpy()).all()
    equal((pushed * cotangent).sum(), (pulled * tangent).sum().item())
    equal(func.linearize(f, x)[1](tangent), pushed.numpy())


def test_the_second_derivative_of_sinc_at_zero():
    x = vector(0.0, 1e-3)
    for second in (func.hessian, lambda f: func.jacrev(func.jacrev(f)), lambda f: func.jacfwd(func.jacfwd(f))):
        found = second(lambda x: pullback.sinc(x).sum())(x).numpy().diagonal()
        np.testing.assert_allclose(found, -(np.pi**2) / 3, rtol=1e-4)


# 2. Complex numbers and integers


def test_a_jacobian_is_of_real_numbers():
    x, z = vector(), vector().to(pullback.complex128)
    for transform in (func.jacrev, func.jacfwd):
        with pytest.raises(RuntimeError, match="Expected all outputs to be real"):
            transform(lambda x: pullback.complex(x, x * x))(x)
        with pytest.raises(RuntimeError, match="Expected all inputs to be real"):
            transform(lambda z: z.abs())(z)
    with pytest.raises(RuntimeError, match="Expected all inputs to be real"):
        func.hessian(lambda z: z.abs().sum())(z)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        functional.jacobian(lambda x: pullback.complex(x, x * x), x)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        functional.hessian(lambda z: z.abs().sum(), z)


def test_live_jacobians_of_complex_tensors():
    z = pullback.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"two real ones, those of y\.real"):
        pullback.jacobian(z * z, z)
    length = (z * z.conj()).real
    with pytest.raises(ValueError, match="'reverse' where an input is complex"):
        pullback.jacobian(length, z, mode="forward")
    wide = length.repeat(4)
    found, plan = pullback.jacobian(wide, z, plan=True)
    assert plan.mode == "reverse"
    equal(found[:2], np.diag([2 + 4j, 6 - 2j]))


def test_an_integer_output_has_no_cotangent_but_a_tangent_of_zeros():
    def f(x):
        return x * x, (x * 2).long()

    for call in (lambda: func.vjp(f, vector()), lambda: func.jacrev(f)(vector())):
        with pytest.raises(RuntimeError, match=r"floating-point or complex Tensors.*output\[1\]"):
            call()
    tangents = func.linearize(f, vector())[1](vector())
    pushed = func.jvp(f, (vector(),), (vector(),))[1]
    for mine, theirs in zip(tangents, pushed, strict=True):
        assert mine.dtype == theirs.dtype
        equal(mine, theirs.numpy())


@pytest.mark.parametrize(
    ("tangent", "error"), [(pullback.ones(3) * 1j, RuntimeError), (pullback.ones(3, dtype=pullback.int64), ValueError)]
)
def test_a_tangent_is_of_its_primals_kind(tangent, error):
    with pytest.raises(error, match=r"tangents\[0\]"):
        func.jvp(lambda x: x * x, (vector(),), (tangent,))
    with pytest.raises(error, match=r"tangents\[0\]"):
        func.linearize(lambda x: x * x, vector())[1](tangent)


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd, lambda f: lambda x: func.vjp(f, x)])
def test_a_function_without_output(transform):
    with pytest.raises(RuntimeError, match="non-empty output"):
        transform(lambda x: ())(vector())


# 3. Modes


def test_no_grad_inside_holds_for_the_transforms_around():
    def f(x):
        with pullback.no_grad():
            y = x * x
        return (y * x).sum()

    equal(func.jacrev(func.jacrev(f))(vector()), np.zeros((3, 3)))
    assert not func.grad(f)(vector().requires_grad_()).requires_grad


def test_value_grad_hessian_under_no_grad():
    with pullback.no_grad():
        value, gradient, second = pullback.value_grad_hessian(lambda x: (x**3).sum(), vector())
    equal(value, 36.0)
    equal(gradient, [3.0, 12.0, 27.0])
    equal(second, np.diag([6.0, 12.0, 18.0]))


def test_modes_and_levels_are_what_they_were_after_an_error():
    def fails(x):
        with pullback.no_grad():
            raise KeyError(x.sum().item())

    for transform in (func.grad, func.jacrev, func.jacfwd, func.hessian, lambda f: lambda x: func.jvp(f, (x,), (x,))):
        with pytest.raises(KeyError):
            transform(fails)(vector())
        assert pullback.is_grad_enabled()
        assert type(vector() * 1) is pullback.Tensor


def test_a_dual_is_written_to_a_dual():
    """And the refusal to write it to a tensor from outside of the level names the way out."""
    forward_ad = pullback.autograd.forward_ad
    table = pullback.zeros(2, 3, dtype=pullback.float64)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(vector(), vector())
        for write in (lambda: table[0].copy_(x), lambda: table.__setitem__(1, x)):
            with pytest.raises(RuntimeError, match="Write y = make_dual"):
                write()
        table = forward_ad.make_dual(table, pullback.zeros_like(table))
        table[0].copy_(x)
        table[1] = x * x
        tangent = forward_ad.unpack_dual(table).tangent
    assert tangent[0].tolist() == vector().tolist()
    assert tangent[1].tolist() == (2 * vector() ** 2).tolist()


def test_dual_levels_of_threads_are_apart():
    inside, found = threading.Barrier(2, timeout=30), []

    def run(factor):
        with forward_ad.dual_level():
            inside.wait()
            moving = forward_ad.make_dual(vector() * factor, vector())
            found.append((factor, forward_ad.unpack_dual(moving * moving).tangent.numpy()))
            inside.wait()

    threads = [threading.Thread(target=run, args=(factor,)) for factor in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    for factor, tangent in found:
        np.testing.assert_allclose(tangent, 2 * factor * np.array([1.0, 4.0, 9.0]))


# 4. torch's older functions inside other transforms: an error, never zeros


@pytest.mark.parametrize(
    "around",
    [
        lambda f: func.vmap(f)(vector()[None]),
        lambda f: func.jvp(f, (vector(),), (vector(),)),
    ],
)
def test_a_flag_that_nothing_would_heed(around):
    with pytest.raises(RuntimeError, match=r"attempting to call Tensor.requires_grad_\(\) .* inside"):
        around(lambda x: functional.jacobian(lambda y: y**3, x))
    with pytest.raises(RuntimeError, match=r"attempting to call Tensor.requires_grad_\(\) .* inside"):
        around(lambda x: x.detach().requires_grad_())
    outside = vector()
    with pytest.raises(RuntimeError, match="does not require grad"):
        around(lambda x: functional.jacobian(lambda y: x * y, outside))


def test_functional_inside_grad():
    second = func.grad(lambda x: functional.jacobian(lambda y: y**3, x, create_graph=True).sum())(vector())
    equal(second, [6.0, 12.0, 18.0])


OUTPUTS = {
    "a list": lambda x: [x * x, x.sum()],
    "a dict": lambda x: {"a": x},
    "a nested tuple": lambda x: ((x,), x),
    "None": lambda x: None,
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_functional_takes_tensors_and_tuples_of_them(name, strategy):
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        functional.jacobian(OUTPUTS[name], vector(), vectorize=True, strategy=strategy)


# 5. Hooks and rows that stay diagonal: what a hook adds stands in every place

HOOKS = {
    "adding": lambda g: g + 1,
    "taking away": lambda g: 1 - g,
    "dividing by": lambda g: 1 / (g + 2),
    "by a mask": lambda g: pullback.where(pullback.tensor([True, False, True]), g, 3.0),
    "writing": lambda g: g.clone().add_(1),
    "scaling": lambda g: g * 2 - g / 4,
    "masking": lambda g: pullback.where(pullback.tensor([True, False, True]), g, 0.0),
    "exchanging": pullback.ones_like,
}


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("wide", [False, True])
def test_hooks_need_not_be_linear(name, wide):
    x = vector().requires_grad_()
    inner = x * 1
    inner.register_hook(HOOKS[name])
    y = inner * inner
    y = y[:, None] * vector(*range(1, 8)) if wide else y
    rows = [
        pullback.autograd.grad(y, x, np.eye(y.numel())[i].reshape(tuple(y.shape)), retain_graph=True)[0].numpy()
        for i in range(y.numel())
    ]
    equal(pullback.jacobian(y, x), np.reshape(rows, (*y.shape, 3)))


# 6. Copies and cuts


def test_detach_in_place_cuts_tangents_off():
    _, pushed = func.jvp(lambda x: (x * 2).detach_() * x, (vector(),), (vector(1.0, 1.0, 1.0),))
    equal(pushed, [2.0, 4.0, 6.0])


TURNED = ["t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_", "as_strided_"]
PLACES = {
    "transpose_": (0, 1),
    "swapaxes_": (0, 1),
    "squeeze_": (0,),
    "unsqueeze_": (0,),
    "as_strided_": ((3, 1), (1, 1)),
}


@pytest.mark.parametrize("name", TURNED)
def test_axes_that_are_turned_in_place(name):
    """A batch's axis is not among them, and tangents are turned as well."""
    places = PLACES.get(name, ())

    def turned(x, view):
        y = x[None] * x[None]
        y = getattr(y, name[:-1])(*places) if view else getattr(y, name)(*places)
        return y * y.detach().sin()

    rows = pullback.stack([vector(), vector() + 1])
    for transformed in [
        lambda f: func.vmap(f)(rows),
        lambda f: func.vmap(f, in_dims=1, out_dims=-1)(rows.T.clone()),
        lambda f: func.vmap(func.vmap(f))(rows[:, None]),
        lambda f: func.jvp(f, (rows[0],), (rows[1],))[1],
        lambda f: func.jacfwd(f)(rows[0]),
        lambda f: func.jacrev(f)(rows[0]),
        lambda f: func.hessian(lambda x: (f(x) ** 2).sum())(rows[0]),
    ]:
        equal(transformed(lambda x: turned(x, view=False)), transformed(lambda x: turned(x, view=True)).numpy())


def test_a_copy_has_the_shape_of_the_tensor():
    found = func.vmap(lambda x: copy.copy(x) * copy.deepcopy(x))(pullback.stack([vector(), vector() + 1]))
    equal(found, [[1.0, 4.0, 9.0], [4.0, 9.0, 16.0]])


def test_batched_gradients_need_a_batch():
    x = vector().requires_grad_()
    with pytest.raises(RuntimeError, match="output 1 is None"):
        pullback.autograd.grad([x * x, x.sum()], x, [pullback.ones(2, 3), None], is_grads_batched=True)


NUMPY = {
    "dot": lambda x: np.dot(x, x),
    "vstack": lambda x: np.vstack([x, x * x]),
    "block": lambda x: np.block([[x, x], [x * x, x]]),
    "outer": lambda x: np.multiply.outer(x, x),
    "size": lambda x: x * np.size(x) + np.shape(x)[0] * np.ndim(x),
}


@pytest.mark.parametrize("name", NUMPY)
def test_functions_of_numpy_that_ask_for_shapes_under_vmap(name):
    rows = pullback.stack([vector(), vector() + 1])
    equal(func.vmap(NUMPY[name])(rows), np.stack([NUMPY[name](row.numpy()) for row in rows]))


# 7. A pullback outlives its transform, and is used in others that get the same level


def doubled(x):
    y = x**2
    if y.requires_grad:
        y.register_hook(lambda g: g * 2)
    return y


@pytest.mark.parametrize(("f", "slope"), [(lambda x: x**3, [3.0, 12.0, 27.0]), (doubled, [4.0, 8.0, 12.0])])
def test_a_pullback_inside_other_transforms(f, slope):
    x, unit = vector(), pullback.eye(3, dtype=pullback.float64)
    pull = func.vjp(f, x)[1]
    equal(func.vmap(pull)(unit)[0], np.diag(slope))
    equal(func.jacrev(lambda g: pull(g)[0])(x), np.diag(slope))
    equal(func.jacfwd(lambda g: pull(g)[0])(x), np.diag(slope))
    equal(func.jacrev(f)(x), np.diag(slope))
    equal(func.grad(lambda g: pull(g)[0].sum())(x), slope)
    tracked = vector().requires_grad_()
    equal(pullback.autograd.grad(pull(tracked)[0].sum(), tracked)[0], slope)


def test_a_leaked_value_is_refused_inside_a_later_transform_of_its_level():
    kept = []

    def leak(x):
        kept.append(x)
        return x * 1

    pullback.func.vmap(leak)(pullback.ones(3))
    with pytest.raises(RuntimeError, match="leaked"):
        pullback.func.grad(lambda y: (y * kept[0]).sum())(pullback.ones(3))


def test_the_tangent_of_a_real_number_of_complex_ones():
    """The norm of z moves by the real part of <z, t> over it."""
    z, t = np.array([1 + 2j, 3 - 1j]), np.array([0.3 - 0.2j, 1j])
    length, moved = func.jvp(pullback.linalg.vector_norm, (pullback.tensor(z),), (pullback.tensor(t),))
    equal(length, np.linalg.norm(z))
    equal(moved, np.vdot(z, t).real / np.linalg.norm(z))


def test_a_constant_may_be_overwritten_before_the_pullback_runs():
    x, constant = vector(), vector(2.0, 3.0, 4.0)
    _, pull = func.vjp(lambda x: x * constant, x)
    constant.mul_(10)
    equal(pull(pullback.ones_like(x))[0], [2.0, 3.0, 4.0])


def test_a_gradient_inside_depends_on_what_is_tracked_outside():
    """With a constant on the way besides, for which nothing is recorded outside."""
    x, w, constant = vector(), vector(2.0, 3.0, 4.0).requires_grad_(), vector(5.0, 6.0, 7.0)
    slopes = func.grad(lambda x: (x * w * constant).sum())(x)
    slopes.sum().backward()
    equal(slopes, [10.0, 18.0, 28.0])
    equal(w.grad, [5.0, 6.0, 7.0])


@pytest.mark.parametrize("nested", [False, True])
def test_second_derivatives_of_losses_by_classes(nested):
    """The product of a Hessian and a vector, forwards over reverse, with the numbers of a difference quotient."""
    rng = np.random.default_rng(0)
    x, v = (pullback.from_numpy(rng.normal(size=(4, 3))) for _ in range(2))
    classes = pullback.tensor([0, 2, 1, 2])
    slope = func.grad(lambda x: pullback.nn.functional.cross_entropy(x * x if nested else x, classes))
    _, product = func.jvp(slope, (x,), (v,))
    step = 1e-5
    quotient = (slope(x + step * v) - slope(x - step * v)) / (2 * step)
    np.testing.assert_allclose(product.numpy(), quotient.numpy(), rtol=1e-7, atol=1e-9)


EXTREMES = {
    "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin(0),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "aminmax": lambda x: pullback.aminmax(x)[1],
    "median": lambda x: x.median(),
    "the norm of the largest": lambda x: pullback.linalg.vector_norm(x, float("inf")),
    "the norm of the smallest": lambda x: pullback.linalg.vector_norm(x, -float("inf")),
    "std": lambda x: x.std(),
    "logsumexp": lambda x: x.logsumexp(0),
}


@pytest.mark.parametrize("dtype", [pullback.float16, pullback.bfloat16, pullback.float32, pullback.float64])
@pytest.mark.parametrize("name", EXTREMES)
def test_tangents_over_a_batch_are_of_the_result_s_dtype(name, dtype):
    f, x = EXTREMES[name], vector(1.0, 2.0, 2.0, dtype=dtype)
    rows = func.vmap(lambda tangent: func.jvp(f, (x,), (tangent,))[1])(pullback.eye(3, dtype=dtype))
    for found in (func.jacfwd(f)(x), rows, func.jvp(f, (x,), (x,))[1]):
        assert found.dtype == dtype
    np.testing.assert_allclose(rows.float().numpy(), func.jacrev(f)(x).float().numpy(), rtol=0.01)


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_weights_of_classes_have_no_derivative_in_any_mode(name):
    """A number that leaves the weights out would be wrong: neither mode gives one, over single vectors and batches."""
    scores, classes, weight = pullback.ones(2, 3), pullback.tensor([0, 2]), vector()
    loss = getattr(pullback.nn.functional, name)

    def single(weight):
        return loss(scores, classes, weight)

    def several(weight):
        return func.vmap(single)(weight.expand(2, 3)).sum()

    for f in (single, several):
        for call in (lambda f=f: func.jvp(f, (weight,), (weight,)), lambda f=f: func.grad(f)(weight)):
            with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
                call()
    _, tangent = func.jvp(
        lambda scores: loss(scores, classes, weight), (scores,), (scores,)
    )  # the weights are constant
    equal(tangent, -1.0 if name == "nll_loss" else 0.0)


def test_weights_of_classes_that_are_tracked_in_a_loss_with_margins():
    """(max(0, 1 - own + other) / classes) summed over the other classes is the slope by the weight of a class."""
    weight = vector(1.0, 2.0).requires_grad_()
    scores = pullback.tensor([[0.5, 0.25], [0.5, 0.25]])
    pullback.nn.functional.multi_margin_loss(scores, pullback.tensor([0, 1]), weight=weight, reduction="sum").backward()
    equal(weight.grad, [0.375, 0.625])


@pytest.mark.parametrize(
    "transform", [func.grad, func.jacrev, func.jacfwd, func.hessian, lambda f: func.vmap(func.grad(f))]
)
def test_a_transform_leaves_nothing_for_the_garbage_collector(transform):
    function, x = transform(lambda x: (x**3).sum()), vector()
    function(x)
    gc.collect()
    gc.disable()
    try:
        function(x)
        assert gc.collect() == 0
    finally:
        gc.enable()


def steps_of_a_state(x):
    state = copy.deepcopy({"now": x * 2, "past": [x * 2, copy.copy(x)]})
    state["now"] += state["past"][1]
    return (state["now"] * state["past"][0]).sum()  # 3 x times 2 x


@pytest.mark.parametrize(
    "derivative",
    [
        func.grad,
        func.jacrev,
        func.jacfwd,
        lambda f: lambda x: func.vmap(func.grad(f))(x[None])[0],
        lambda f: lambda x: pullback.value_and_grad(f)(x.numpy())[1],
    ],
    ids=["grad", "jacrev", "jacfwd", "vmap", "value_and_grad"],
)
def test_copies_of_values_are_followed(derivative):
    assert np.allclose(derivative(steps_of_a_state)(vector()), 12 * vector().numpy())


def written_inside(v, c):
    y = c * 1
    part = y[1:]
    y[0] = v
    part[0].copy_(v * v)
    return (y * y).sum() + part.sum()  # v^2 + v^4 + v^2 + constants


@pytest.mark.parametrize("derivative", [func.grad, func.jacfwd, func.jacrev])
def test_what_was_made_inside_of_captured_tensors_can_be_written_to(derivative):
    c, v = vector(), pullback.tensor(3.0, dtype=pullback.float64)
    assert derivative(lambda v: written_inside(v, c))(v).item() == 4 * 3 + 4 * 27
    assert func.hessian(lambda v: written_inside(v, c))(v).item() == 4 + 12 * 9
    assert c.tolist() == vector().tolist()


@pytest.mark.parametrize(
    "capture",
    [lambda c: c, lambda c: c[:], lambda c: c.view(3), lambda c: c.detach()],
    ids=["it", "part", "view", "alias"],
)
def test_captured_memory_is_not_written_to(capture):
    c = vector()
    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        func.grad(lambda v: written_to(capture(c), v))(vector()[0])
    assert c.tolist() == vector().tolist()


def written_to(y, v):
    y[0] = v
    return y.sum()


def test_a_dual_is_its_primal_after_the_level():
    weight = pullback.ones(2, requires_grad=True)
    with pullback.autograd.forward_ad.dual_level():
        table = pullback.zeros(2, 2)
        row = table[0]
        row.copy_(pullback.autograd.forward_ad.make_dual(weight * 3, pullback.ones(2)))
        assert pullback.autograd.forward_ad.unpack_dual(table).tangent.tolist() == [[1, 1], [0, 0]]
    row.mul_(2)
    assert type(table) is pullback.Tensor
    assert table.detach().numpy().tolist() == [[6, 6], [0, 0]]
    table.sum().backward()
    assert weight.grad.tolist() == [6, 6]
