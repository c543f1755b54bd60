"""Numbers in explanations: how they are written, what is said of arrays that are not kept whole, and costs that add up."""

import math

import numpy as np
import pytest

import pullback
from pullback.explain import arrays, numbers

WRITTEN = [
    (numbers.short, 26.0, "26"), (numbers.short, 0.5, "0.5"), (numbers.short, 1.2344e-08, "1.234e-8"),
    (numbers.short, 1 / 3, "0.3333"), (numbers.short, -math.inf, "-inf"), (numbers.short, math.nan, "nan"),
    (numbers.short, 0.99999, "1.000"), (numbers.short, 12345678.0, "1.235e7"), (numbers.short, -0.0, "0"),
    (numbers.short, True, "True"), (numbers.short, np.int8(3), "3"), (numbers.short, 9999999.0, "9999999"),
    (numbers.element, 26.0, "26."), (numbers.element, 26, "26"), (numbers.element, 0.25, "0.25"),
    (numbers.vector, np.array([3.0, 0.5]), "[3., 0.5]"), (numbers.nested, np.eye(2), "[[1., 0.], [0., 1.]]"),
    (numbers.row, np.array([1.0, 10, 100]), "[1 10 100]"), (numbers.rows, np.eye(2), "[1 0; 0 1]"),
    (numbers.grid, np.array([[1.0, 10], [100, 2]]), ["[  1 10]", "[100  2]"]),
    (numbers.size, 312, "312 B"), (numbers.size, 999, "999 B"), (numbers.size, 1000, "1.0 KB"),
    (numbers.size, 1010, "1.0 KB"), (numbers.size, 1500, "1.5 KB"), (numbers.size, 123456, "123 KB"),
    (numbers.size, 20_000_000, "20.0 MB"), (numbers.size, 3.2e12, "3200 GB"),
    (numbers.duration, 38e-6, "38 us"), (numbers.duration, 2.5e-6, "2.5 us"), (numbers.duration, 1.24e-3, "1.2 ms"),
    (numbers.duration, 3.41, "3.4 s"),
]  # fmt: skip


@pytest.mark.parametrize(("write", "value", "text"), WRITTEN, ids=lambda each: getattr(each, "__name__", str(each)))
def test_numbers_as_text(write, value, text):
    assert write(value) == text


def test_counted():
    assert [numbers.counted(n, "step") for n in (0, 1, 3)] == ["0 steps", "1 step", "3 steps"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
def test_statistics(dtype):
    array = (np.arange(12.0).reshape(3, 4) - 3).astype(dtype)
    sizes = np.abs(array) if dtype == "c16" else array
    found = arrays.statistics(array)
    assert found == (
        sizes.min(), sizes.max(), sizes.mean(), pytest.approx(math.sqrt((np.abs(array) ** 2).sum())), 1, 0, 0
    )  # fmt: skip


def test_statistics_of_what_is_not_finite():
    found = arrays.statistics(np.array([3.0, np.nan, -np.inf, 4.0, 0.0, np.inf]))
    assert found == (0.0, 4.0, pytest.approx(7 / 3), 5.0, 1, 1, 2)


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1.0, 2.0], (None, None, False)), ([0.0, 0.0], (None, None, True)), ([[1.0, np.inf]], ("inf", (0, 1), False)),
        ([np.inf, np.nan], ("nan", (1,), False)), (0.0, (None, None, True)), (-np.inf, ("inf", (), False)),
    ],
)  # fmt: skip
def test_marks(values, marks):
    assert arrays.marks(np.array(values)) == marks


def test_a_summary_has_both_ends():
    summary = arrays.kept(np.arange(100.0), arrays.Limits(values=64))
    assert (summary.head[0], summary.tail[-1], summary.size) == (0, 99, 100)
    assert arrays.kept(np.arange(100.0), arrays.Limits(values=64, redact=True)).stats is None


def test_costs_of_steps_with_several_results():
    x = pullback.linspace(0, 1, 1000, dtype=pullback.float64).reshape(40, 25).sin().requires_grad_()
    with pullback.explain.record() as ex:
        q, r = pullback.linalg.qr(x)
        ((q * q).sum() + (r * r).sum()).backward()
    assert ex.cost().kept_bytes >= 8 * (40 * 25 + 25 * 25)
    assert sum(row.bytes for row in ex.cost().by("op")) == ex.cost().kept_bytes
    assert ex.cost().by("op")[0].key in str(ex.cost().table("op"))
