"""Which NaN and inf are faults: anomaly mode and explain agree with what reaches the loss and the gradients."""

import math

import pytest
from hypothesis import given, strategies as st

import pullback
from pullback import nn
from pullback.autograd.anomaly_mode import AnomalyError
from pullback.nn import functional as fn

from . import networks

inf = float("inf")


def told(program):
    """Whether anomaly mode raises on a program, and the findings of NaN and inf in it."""
    pullback.manual_seed(0)
    raised = False
    try:
        with pullback.autograd.set_detect_anomaly(True):
            program()
    except AnomalyError:
        raised = True
    pullback.manual_seed(0)
    with pullback.explain.record() as ex:
        program()
    assert ex.all_calls
    found = [each.why for call in ex.all_calls for each in call.findings if each.kind in {"nan", "inf"}]
    return raised, found


# Programs that are right


def row_without_a_key():
    """A row of attention that may look at nothing is NaN, and is left out."""
    x = pullback.randn(3, 4, requires_grad=True)
    allowed = pullback.tensor([[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]]).bool()
    seen = x.masked_fill(~allowed, -inf).softmax(-1) * pullback.randn(4)
    return pullback.where(allowed.any(-1), seen.detach().sum(-1), 0.0).sum() + seen[1:].square().sum()


def row_that_is_added_up_first():
    data, w = pullback.tensor([[1.0, 2.0], [-1.0, 3.0]]), pullback.ones(2, requires_grad=True)
    rows = data.log().sum(1)
    return (pullback.where(rows == rows, rows, 0.0) * w).sum()


def unit_vectors():
    """Those of length 0 are NaN in the matrix of similarities, and are replaced there."""
    data, w = pullback.tensor([[1.0, 2.0], [0.0, 0.0], [1.0, 1.0]]), pullback.ones(3, 3, requires_grad=True)
    units = data / data.norm(dim=1, keepdim=True)
    return ((units @ units.T).nan_to_num(0.0) * w).sum()


def mean_of_a_class_without_members():
    loss = pullback.randn(4, requires_grad=True)
    empty = loss.detach()[pullback.zeros(4).bool()].mean()
    return loss.square().mean() + pullback.where(empty.isnan(), 0.0, empty)


def deviation_of_one():
    x = pullback.randn(1, 3, requires_grad=True)
    scale = x.detach().std(0)
    return (x / pullback.where(scale.isnan(), 1.0, scale)).sum()


def rows_by_index():
    data, w = pullback.tensor([[1.0, 2.0], [-1.0, 3.0], [2.0, 2.0]]), pullback.ones(2, requires_grad=True)
    return (data.log().mean(1)[[0, 2]] * w).sum()


def prefix():
    w = pullback.ones(2, requires_grad=True)
    return (pullback.tensor([2.0, 3.0, -1.0]).log().cumsum(0)[:2] * w).sum()


def logarithm_of_a_mask():
    x = pullback.randn(4, 4, requires_grad=True)
    return (x + pullback.ones(4, 4).tril().log()).softmax(-1).square().sum()


def mask_that_is_added_and_scaled():
    x = pullback.randn(4, 4, requires_grad=True)
    return (2 * (x + pullback.full((4, 4), -inf).triu(1))).log_softmax(-1).exp().square().sum()


def padding():
    x = pullback.randn(2, 4, requires_grad=True)
    hidden = x.masked_fill(pullback.tensor([[0, 0, 1, 1], [0, 0, 0, 1]]).bool(), -inf)
    return hidden.logsumexp(-1).sum() + hidden.max(-1).values.sum()


def sequences_of_length_zero():
    x, kept = pullback.randn(2, 4, requires_grad=True), pullback.tensor([[0, 0, 0, 0], [1, 1, 0, 0]])
    return ((x * kept).sum(-1).detach() / kept.sum(-1)).nan_to_num().sum() + (x * kept).sum()


def largest_only():
    x = pullback.randn(2, 5, requires_grad=True)
    kept = x.masked_fill(x < x.topk(2, -1).values[..., -1:], -inf)
    return kept.softmax(-1).square().sum()


def entropy():
    x = pullback.randn(3, 4, requires_grad=True)
    logs = x.masked_fill(pullback.eye(3, 4).bool(), -inf).log_softmax(-1)
    return -(logs.exp() * logs.masked_fill(logs == -inf, 0.0)).sum()


def masked_loss():
    x, known = pullback.randn(3, 4, requires_grad=True), pullback.eye(3, 4).bool()
    target = pullback.where(known, 1.0, float("nan"))
    return fn.mse_loss(x, pullback.where(known, target, 0.0), reduction="none")[known].mean()


def masked_logarithm():
    p = pullback.tensor([0.0, 0.5, 0.5])
    x = pullback.randn(3, requires_grad=True)
    return (x * pullback.where(p > 0, p, 1.0).log()).masked_fill(p == 0, 0.0).sum() + (x * p.log()[1:].sum()).sum()


def attention():
    q = pullback.randn(1, 2, 4, 8, requires_grad=True)
    mask = pullback.ones(4, 4).bool()
    mask[0] = False
    out = fn.scaled_dot_product_attention(q, q, q, is_causal=True).square().sum()
    return out + fn.scaled_dot_product_attention(q, q, q, attn_mask=mask)[..., 1:, :].square().sum()


def alignment():
    x = pullback.randn(10, 2, 5, requires_grad=True)
    targets, sizes = pullback.tensor([[1, 2, 2], [3, 4, 0]]), (pullback.tensor([10, 8]), pullback.tensor([3, 2]))
    return fn.ctc_loss(x.log_softmax(-1), targets, *sizes)


def gradient_that_a_mask_stops():
    x = pullback.tensor([0.0, 4.0], requires_grad=True)
    return pullback.where(x > 0, pullback.where(x > 0, x, 0.0).sqrt(), 0.0).sum()


def clipped_and_averaged():
    """Gradient clipping, a moving average of the weights, and dropout."""
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1)), pullback.randn(8, 4)
    average = [p.detach().clone() for p in model.parameters()]
    model(x).square().mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    with pullback.no_grad():
        for old, new in zip(average, model.parameters(), strict=True):
            old.lerp_(new, 0.1)
    return model(x).square().mean()


RIGHT = [
    row_without_a_key, row_that_is_added_up_first, unit_vectors, mean_of_a_class_without_members, deviation_of_one,
    rows_by_index, prefix, logarithm_of_a_mask, mask_that_is_added_and_scaled, padding, sequences_of_length_zero,
    largest_only, entropy, masked_loss, masked_logarithm, attention, alignment, gradient_that_a_mask_stops,
    clipped_and_averaged,
]  # fmt: skip


@pytest.mark.parametrize("program", [*networks.RIGHT, *RIGHT], ids=lambda one: one.__name__)
def test_what_is_right_is_no_fault(program):
    assert told(program if program in networks.RIGHT else lambda: program().backward()) == (False, [])


# Programs in which NaN or inf reaches the loss or a gradient


def root_of_zero():
    return pullback.tensor([0.0, 4.0], requires_grad=True).sqrt().sum()


def loss_of_nan():
    return pullback.tensor([1.0, -1.0], requires_grad=True).log().mean()


def zero_times_infinity():
    w, data = pullback.ones(2, requires_grad=True), pullback.tensor([0.0, 2.0])
    return (w * data.log()).masked_fill(data == 0, 0.0).sum()


def sum_deselected_too_late():
    """The loss is finite; 0 times NaN is the gradient."""
    w, rows = pullback.ones(2, requires_grad=True), pullback.tensor([[1.0, 2.0], [-1.0, 3.0]]).log().sum(1)
    return pullback.where(rows == rows, rows * w, 0.0).sum()


def row_of_masks():
    x = pullback.randn(2, 3, requires_grad=True)
    return x.masked_fill(pullback.tensor([[1, 1, 1], [0, 0, 0]]).bool(), -inf).softmax(-1).sum()


@pytest.mark.parametrize(
    "program", [root_of_zero, loss_of_nan, zero_times_infinity, sum_deselected_too_late, row_of_masks]
)
def test_what_reaches_the_loss_or_a_gradient_is_a_fault(program):
    raised, found = told(lambda: program().backward())
    assert raised
    assert found


# Programs made of parts

DATA = pullback.tensor([0.0, 2.0, -1.0])
PARTS = [
    lambda v: v + DATA.log(),
    lambda v: v * DATA.log(),
    lambda v: v / DATA,
    lambda v: v.log(),
    lambda v: v.sqrt(),
    lambda v: pullback.where(v.isfinite(), v, 0.0),
    lambda v: v.masked_fill(~v.isfinite(), 1.0),
    lambda v: v.masked_fill(DATA < 0, -inf),
    lambda v: v.nan_to_num(0.5, 2.0, -2.0),
    lambda v: v.clamp(-3.0, 3.0),
    lambda v: v.softmax(0),
    lambda v: v.exp(),
    lambda v: v.cumsum(0),
    lambda v: v[[1, 1, 0]],
    lambda v: pullback.stack([v.sum(), v.mean(), v[1]]),
    lambda v: pullback.where(v == v.max(), v, v.detach()),
    lambda v: pullback.ones(3, 3).tril() @ v,
    lambda v: v.reciprocal(),
]


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
def test_a_fault_is_what_is_not_finite_in_the_loss_or_the_gradient(parts):
    leaves = []

    def program():
        leaves.append(pullback.tensor([0.5, 1.0, 2.0], requires_grad=True))
        value = leaves[-1] * 1
        for part in parts:
            value = part(value)
        loss = value.sum() + leaves[-1].sum()
        loss.backward()
        return loss.item()

    sound = math.isfinite(program()) and leaves[0].grad.isfinite().all().item()
    raised, found = told(program)
    assert raised == bool(found) == (not sound)
