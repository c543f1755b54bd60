"""`out=`, whatever it is: it holds the result, in its own memory and dtype, or the call is refused and it is as before."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback

DTYPES = [pullback.float32, pullback.float64, pullback.int64, pullback.uint8, pullback.bool, pullback.complex64]
SHAPES = [(), (0,), (3,), (2, 3), (1, 3), (3, 2), (2, 3, 1)]
CALLS = {
    "mul": lambda x, **out: pullback.mul(x, 2, **out),
    "exp": pullback.exp,
    "add": lambda x, **out: pullback.add(x, x, alpha=2, **out),
    "maximum": lambda x, **out: pullback.maximum(x, -x, **out),
    "logaddexp": lambda x, **out: pullback.logaddexp(x, x, **out),
    "gt": lambda x, **out: pullback.gt(x, 0, **out),
    "abs": pullback.abs,
    "sum": lambda x, **out: pullback.sum(x, 0, **out),
    "cat": lambda x, **out: pullback.cat([x, x], **out),
    "where": lambda x, **out: pullback.where(x > 0, x, 0, **out),
    "matmul": lambda x, **out: pullback.matmul(x, x.t(), **out),
    "sort": pullback.sort,
    "tril": pullback.tril,
    "rfft": pullback.fft.rfft,
    "norm": pullback.linalg.norm,
    "svd": lambda x, **out: pullback.linalg.svd(x, full_matrices=False, **out),
    "entr": pullback.special.entr,
    "gelu": pullback.nn.functional.gelu,
}


def tensors():
    def made(shape, dtype, layout):
        t = pullback.ones(*shape[::-1], dtype=dtype).permute(*reversed(range(len(shape))))
        return {"own": t.clone(), "turned": t, "expanded": pullback.ones((), dtype=dtype).expand(shape)}[layout]

    return st.builds(
        made, st.sampled_from(SHAPES), st.sampled_from(DTYPES), st.sampled_from(["own", "own", "turned", "expanded"])
    )


things = st.one_of(st.none(), st.integers(), st.text(max_size=2), st.just(np.zeros((2, 3))), st.just(pullback.float64))
outs = st.one_of(tensors(), st.tuples(tensors(), tensors()), st.lists(st.one_of(tensors(), things), max_size=4), things)


def pieces(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def state(value):
    return [(t.numpy().tolist(), t.dtype, t._version) if isinstance(t, pullback.Tensor) else t for t in pieces(value)]


@pytest.mark.parametrize("name", CALLS)
@given(out=outs)
def test_it_holds_the_result_or_is_as_before(name, out):
    x = pullback.tensor([[0.5, -1.5, 2.0], [0.25, 1.0, -0.25]])
    before, expected = state(out), CALLS[name](x)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "An output with one or more elements was resized")
            result = CALLS[name](x, out=out)
    except (TypeError, RuntimeError):
        assert state(out) == before or any(isinstance(each, np.ndarray) for each in pieces(out))
        return
    if out is None:
        return
    for target, each, plain in zip(pieces(out), pieces(result), pieces(expected), strict=True):
        assert each is target
        in_dtype = CALLS[name](x.to(target.dtype), dtype=target.dtype) if name == "sum" else plain  # term by term
        wanted = in_dtype.numpy().astype(target.dtype.numpy)
        np.testing.assert_allclose(target.numpy(), wanted, rtol=1e-6, atol=1e-6)


def test_the_functions_of_one_place_say_what_they_take():
    assert list(inspect.signature(pullback.mul).parameters) == ["input", "other"]
    assert pullback.mul(other=pullback.ones(2), input=pullback.ones(2)).tolist() == [1, 1]
    assert pullback.ones(2).mul(other=2).tolist() == [2, 2]
    assert pullback.ones(2).add_(other=pullback.ones(2)).tolist() == [2, 2]


def test_the_warning_names_the_line_that_gave_the_tensor():
    for call in (pullback.mul, pullback.add, pullback.matmul):
        with pytest.warns(UserWarning, match="was resized") as record:
            call(pullback.ones(2), pullback.ones(2), out=pullback.ones(3))
        assert record[0].filename == __file__


def test_no_value_of_a_transform_is_written_to_a_tensor_outside():
    class Plain(pullback.interpreters.Interpreter):
        def process(self, primitive, args, params):
            return self.box(primitive(*map(self.unbox, args), **params))

    out = pullback.zeros(2)
    with Plain() as plain:
        x = plain.box(pullback.ones(2))
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            pullback.exp(x, out=out)
        with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
            pullback.gt(x, 0, out=pullback.zeros(2, dtype=pullback.bool))
    assert out.tolist() == [0, 0]


def test_two_results_are_not_written_to_one_tensor():
    t = pullback.zeros(3)
    with pytest.raises(RuntimeError, match="several results to one tensor"):
        pullback.frexp(pullback.ones(3), out=(t, t))
    assert t.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", "max min sort topk kthvalue mode median nanmedian cummax cummin".split())
def test_what_is_chosen_is_not_converted(name: str) -> None:
    x = pullback.tensor([3.0, 1.0, 2.0])
    function = getattr(pullback, name)
    further = (1,) if name in {"topk", "kthvalue"} else (0,)
    wanted = function(x, *further)
    outs = pullback.empty(0), pullback.empty(0, dtype=pullback.int64)
    function(x, *further, out=outs)
    assert [out.tolist() for out in outs] == [result.tolist() for result in wanted]
    for kinds, told in [
        ((pullback.float64, pullback.int64), "float32, but got float64"),
        ((pullback.float32, pullback.float32), "int64, but got float32"),
        ((pullback.float32, pullback.int32), "int64, but got int32"),
    ]:
        given = [pullback.full((3,), 7, dtype=kind) for kind in kinds]
        with pytest.raises(RuntimeError, match=f"Expected out tensor to have dtype {told}"):
            function(x, *further, out=tuple(given))
        assert [each.tolist() for each in given] == [[7, 7, 7]] * 2


def test_indices_alone_are_int_too_and_elementwise_maxima_are_converted() -> None:
    x = pullback.tensor([3.0, 1.0, 2.0])
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype int64, but got float32"):
        pullback.argmax(x, out=pullback.empty(()))
    out = pullback.empty(3, dtype=pullback.float64)
    assert pullback.max(x, 2 * x, out=out).tolist() == [6.0, 2.0, 4.0]


def test_functions_of_two_operands_take_numbers_where_torch_does():
    assert pullback.add(1, 2).item() == 3 and pullback.mul(2.5, 2).item() == 5
    assert pullback.sub(pullback.tensor(5.0), 1, alpha=2).item() == 3
    assert pullback.add(np.ones(2), pullback.ones(2)).tolist() == [2.0, 2.0]
    x = pullback.zeros(())
    assert pullback.add(1, 2, out=x) is x and x.item() == 3
    assert pullback.add(pullback.ones(()), 2, alpha=3, out=x) is x and x.item() == 7
    for refused in (lambda: pullback.add([1], 2), lambda: pullback.add(1, [2]), lambda: pullback.atan2(1.0, 2.0)):
        with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor"):
            refused()
