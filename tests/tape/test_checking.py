"""check(): broadcasts that grow both operands and are reduced, and copies made by writes."""

import warnings

import numpy as np
import pytest

import pullback
from pullback._tape.checking import CheckWarning


def column(n=3):
    return pullback.arange(float(n))[:, None]


def row(n=3):
    return pullback.arange(float(n))


def warned(program):
    """The only warning of a program, and what the block found."""
    with pytest.warns(CheckWarning) as caught, pullback.check() as found:
        program()
    assert len(caught) == len(found.broadcasts) == 1
    assert str(caught[0].message) == str(found.broadcasts[0])
    assert caught[0].filename == __file__
    return found.broadcasts[0]


def silent(program):
    with pullback.check() as found:
        program()
    assert found.broadcasts == []


def test_a_loss_of_a_column_and_a_row():
    def program():
        error = column() - row()  # GROWS
        return (error**2).mean()  # REDUCES

    found = warned(program)
    assert (found.operation, found.shapes, found.result, found.reduced_by) == ("sub", ((3, 1), (3,)), (3, 3), "mean")
    assert found.site.endswith("# GROWS")
    assert found.reduced_at.endswith("# REDUCES")
    assert "both operands were expanded" in str(found)


@pytest.mark.parametrize(
    "program",
    [
        lambda c, r: (c * r).sum(),
        lambda c, r: (r - c).abs().max(),
        lambda c, r: (c - r).norm(),
        lambda c, r: (c - r).mean(1).mean(),
        lambda c, r: (c - r).mean(0, keepdim=True).sum(),
        lambda c, r: (c - r).exp().logsumexp((0, 1)),
        lambda c, r: (c == r).float().mean(),
        lambda c, r: (c - r).reshape(-1).sum(),
        lambda c, r: (c - r).t().sum(),
        lambda c, r: (c + r).std(),
        lambda c, r: pullback.where(c > r, c, r).sum(),
        lambda c, r: np.mean(np.square(c - r)),
        lambda c, r: ((c - r)[None] * pullback.ones(2, 1, 1)).sum(),
        lambda c, r: (c.requires_grad_() - r).square().mean().backward(),
    ],
    ids=range(14),
)
def test_mistakes(program):
    warned(lambda: program(column(), row()))


@pytest.mark.parametrize(
    "program",
    [
        lambda c, r: (c - c).mean(),
        lambda c, r: (r * 2 + 1).sum(),
        lambda c, r: (pullback.ones(3, 3) - r).sum(),
        lambda c, r: (pullback.ones(3, 3) * c).sum(),
        lambda c, r: c - r,
        lambda c, r: (c - r).min(1),
        lambda c, r: (column(4) - row(3)).sum(0),
        lambda c, r: ((c[:, None] - c) ** 2).sum(-1),
        lambda c, r: (column(1) - row(3)).sum(),
        lambda c, r: (c.expand(3, 3) - r).sum(),
        lambda c, r: pullback.outer(r, r).sum(),
        lambda c, r: pullback.kron(r, r.expand(2, 3)).sum(),
        lambda c, r: pullback.cdist(c, c[:2]).mean(),
        lambda c, r: np.outer(r, r).sum(),
        lambda c, r: np.subtract.outer(r, r).sum(),
        lambda c, r: (
            pullback.vander(r).sum() + pullback.addr(r, r, r).sum() + pullback.meshgrid(r, r, indexing="ij")[0].sum()
        ),
        lambda c, r: c @ r[None],
        lambda c, r: (pullback.ones(()) * r).sum(),
    ],
    ids=range(18),
)
def test_what_is_meant(program):
    silent(lambda: program(column(), row()))


def test_nothing_is_said_outside():
    with pullback.check():
        pass
    (column() - row()).mean()


def test_a_broadcast_of_the_backward_pass_is_not_the_programs():
    x = row().requires_grad_()
    silent(lambda: pullback.outer(x, x).sum().backward())


def test_it_says_so_once_for_each_reduction():
    def program():
        error = column() - row()
        return error.sum() + error.mean()

    with pytest.warns(CheckWarning) as caught, pullback.check() as found:
        program()
    assert [broadcast.reduced_by for broadcast in found.broadcasts] == ["sum", "mean"]
    assert len(caught) == 2


def test_copies_are_listed_with_both_lines():
    x = pullback.ones(3, requires_grad=True)
    with pullback.check() as found:
        y = x.exp()  # KEPT
        part = y[1:]
        part[0] = 0.0  # WRITTEN
        y.sum().backward()
    (copy,) = found.copies
    assert (copy.shape, copy.nbytes, copy.saved_by) == ((3,), 12, "exp")
    assert copy.saved_at.endswith("# KEPT")
    assert copy.written_at.endswith("# WRITTEN")
    assert "12 bytes of shape (3,), kept by exp at" in str(found)
    assert x.grad[0] == pullback.ones(()).exp()


def test_a_value_kept_before_the_block():
    y = pullback.ones(3, requires_grad=True).exp()
    part = y[1:]
    with pullback.check() as found:
        part[0] = 0.0
    assert [(copy.saved_by, copy.saved_at) for copy in found.copies] == [("an operation outside the block", None)]


def test_a_write_that_costs_no_copy():
    x = pullback.ones(3, requires_grad=True)
    with pullback.check() as found:
        y = x.exp()
        y += 1.0  # nobody else sees the memory: the graph keeps the old array
        z = x + 1.0  # keeps nothing
        z[0] = 0.0
    assert found.copies == []
    assert str(found) == "nothing found"


def test_it_decorates_functions():
    @pullback.check()
    def loss(prediction, target):
        return (prediction - target).square().mean()

    with pytest.warns(CheckWarning):
        loss(column(), row())
    loss(row(), row())


def test_it_nests_with_anomaly_mode_in_either_order():
    x = pullback.tensor([0.0, 4.0, 9.0], requires_grad=True)

    def program():
        loss = (x.sqrt()[:, None] - row()).sum()
        loss.backward()

    with (
        pytest.warns(CheckWarning),
        pytest.raises(RuntimeError, match="SqrtBackward0"),
        pullback.check(),
        pullback.detect_anomaly(),
    ):
        program()
    with (
        pytest.warns(CheckWarning),
        pytest.raises(RuntimeError, match="SqrtBackward0"),
        pullback.detect_anomaly(),
        pullback.check(),
    ):
        program()


def test_the_block_can_be_used_again():
    block = pullback.check()
    for _ in range(2):
        with block, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (column() - row()).sum()
    assert len(block.broadcasts) == 2
    assert repr(block) == "<check: 2 broadcasts, 0 copies>"
