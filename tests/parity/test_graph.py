"""The objects of the graph: nodes, edges, and values saved for backward."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import leaf, parity, raises  # noqa: E402

SECOND = "Trying to backward through the graph a second time (or directly access saved tensors after they have already"


def tree(node, depth=4):
    """The names of a node and of what it points at, and the output numbers of its edges."""
    if node is None or not depth:
        return None
    return [node.name(), [[tree(child, depth - 1), index] for child, index in node.next_functions]]


@pytest.mark.parametrize(
    "program",
    [
        lambda t, x, w: x * 2 + w,
        lambda t, x, w: (x * w).exp().sum(),
        lambda t, x, w: x - 1,
        lambda t, x, w: x / w,
        lambda t, x, w: x**2 + t.ones(2),
        lambda t, x, w: x.unbind()[1] * w[0],
        lambda t, x, w: t.cat([x, w, t.ones(1)]),
        lambda t, x, w: t.stack([x, x]),
        lambda t, x, w: x.reshape(1, 2) @ w.reshape(2, 1),
        lambda t, x, w: t.where(x > 1, x, w),
        lambda t, x, w: x.split(1)[1],
        lambda t, x, w: t.maximum(x, w),
    ],
)
@parity
def test_next_functions(t, program):
    return tree(program(t, leaf(t, 1, 2), leaf(t, 3, 4)).grad_fn)


@parity
def test_every_grad_fn_is_a_node(t):
    Node = t.autograd.graph.Node
    x = leaf(t, 1, 2)
    y = x * 2
    accumulate = y.grad_fn.next_functions[0][0]
    return isinstance(y.grad_fn, Node), isinstance(accumulate, Node), isinstance(x, Node), isinstance(None, Node)


@parity
def test_nodes_cannot_be_made(t):
    node = type((leaf(t, 1) * 2).grad_fn)
    with pytest.raises(TypeError):
        node()
    return node.__name__


@parity
def test_nodes_have_identity_and_order(t):
    x = leaf(t, 1, 2)
    y = x * 2
    z = y * 3
    return (
        z.grad_fn.next_functions[0][0] is y.grad_fn,
        y.grad_fn == y.grad_fn,
        z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr(),
    )


@parity
def test_the_node_of_a_leaf(t):
    x = leaf(t, 1, 2)
    first, second = ((x * i).grad_fn.next_functions[0][0] for i in (2, 3))
    return first is second, first.variable is x, first.name(), type(first).__name__, list(first.next_functions)


@parity
def test_metadata_is_a_dict_of_the_users(t):
    y = leaf(t, 1, 2) * 2
    y.grad_fn.metadata["key"] = "mine"
    return y.grad_fn.metadata, (leaf(t, 1) * 2).grad_fn.metadata


@parity
def test_nodes_require_grad(t):
    y = leaf(t, 1, 2) * 2
    return y.grad_fn.requires_grad


@parity
def test_a_node_can_be_called(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    return (x * 3).grad_fn(t.ones(2)), [g.detach() for g in (x * w).grad_fn(t.ones(2))], x.grad


@parity
def test_saved_inputs_are_the_same_objects(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    y = x * w
    node = y.grad_fn
    power = (x**3).grad_fn
    return node._saved_self is x, node._saved_other is w, power._saved_self is x, power._saved_exponent


@parity
def test_saved_results_are_equal_tensors(t):
    x = leaf(t, 1, 2)
    y = x.exp()
    saved = y.grad_fn._saved_result
    return saved, saved is y, saved.grad_fn is y.grad_fn


@parity
def test_saved_values_are_gone_after_a_pass(t):
    x = leaf(t, 1, 2)
    y = x * x
    y.sum().backward()
    raises(RuntimeError, SECOND, lambda: y.grad_fn._saved_self)
    return y.grad_fn.name()


@parity
def test_nodes_outlive_tensors(t):
    x = leaf(t, 1, 2)
    y = x * x
    node = y.grad_fn
    del y
    return [g.detach() for g in node(t.ones(2))]


@parity
def test_hooks_on_saved_values(t):
    x, w = leaf(t, 1, 2), leaf(t, 3, 4)
    packed = []

    def pack(value):
        packed.append(value.detach().clone())
        return len(packed) - 1

    with t.autograd.graph.saved_tensors_hooks(pack, lambda index: packed[index] * 10):
        y = x * w
    z = y.exp() * 0 + y
    z.sum().backward()
    return sorted(value.tolist() for value in packed), x.grad, w.grad


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (lambda x, w: x * w, 2), (lambda x, w: x * 2, 0), (lambda x, w: x + w, 0), (lambda x, w: x.exp(), 1),
        (lambda x, w: x.sin(), 1), (lambda x, w: x.tanh(), 1), (lambda x, w: x.sigmoid(), 1), (lambda x, w: x**2, 1),
        (lambda x, w: x * w.detach(), 1), (lambda x, w: x.log(), 1), (lambda x, w: x / w, 2), (lambda x, w: x.sum(), 0),
        (lambda x, w: x.reshape(2, 1), 0), (lambda x, w: x @ w, 2), (lambda x, w: x.relu(), 1), (lambda x, w: -x, 0),
    ],
)  # fmt: skip
@parity
def test_what_is_saved(t, program, count):
    packed = []
    with t.autograd.graph.saved_tensors_hooks(lambda v: packed.append(tuple(v.shape)) or v, lambda v: v):
        program(leaf(t, 1, 2), leaf(t, 3, 4))
    assert len(packed) == count
    return packed


@parity
def test_only_the_innermost_hooks_count(t):
    x = leaf(t, 1, 2)
    seen = []
    hooks = t.autograd.graph.saved_tensors_hooks
    with hooks(lambda v: seen.append("outer") or v, lambda v: v):
        with hooks(lambda v: seen.append("inner") or v, lambda v: v):
            x.exp()
        x.exp()
    x.exp()
    return seen


@parity
def test_an_unpacked_value_is_a_tensor(t):
    x = leaf(t, 1, 2)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: 3):
        y = x.exp()
    wording = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"
    raises(TypeError, wording, y.sum().backward)
    return x.grad


@parity
def test_a_packing_hook_does_not_write(t):
    x = leaf(t, 1, 2)

    def run():
        with t.autograd.graph.saved_tensors_hooks(lambda v: v.detach().mul_(2), lambda v: v):
            return (x * 1).sin()

    raises(RuntimeError, "A saved tensor pack hook is modifying its input in place.", run)
    return x.grad


@parity
def test_derivatives_of_derivatives_through_hooks(t):
    x = leaf(t, 1, 2)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
        y = x * x * x
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    return t.autograd.grad(g.sum(), x)


@parity
def test_hooks_can_be_forbidden(t):
    def run():
        with (
            t.autograd.graph.disable_saved_tensors_hooks("not here"),
            t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v),
        ):
            pass

    raises(RuntimeError, "not here", run)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
        return 0


@parity
def test_save_on_cpu(t):
    x = leaf(t, 1, 2)
    with t.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


@parity
def test_hooks_on_one_saved_value(t):
    x = leaf(t, 1, 2)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda v: v.detach() * 10, lambda v: v)
    wording = "Calling register_hooks on a saved tensor whose hooks have already been set."
    raises(RuntimeError, wording, lambda: y.grad_fn._raw_saved_result.register_hooks(lambda v: v, lambda v: v))
    y.sum().backward()
    return x.grad


@parity
def test_increment_version(t):
    x = t.ones(2)
    t.autograd.graph.increment_version(x)
    t.autograd.graph.increment_version([x, x])
    return x._version


@parity
def test_gradient_edges_stand_for_tensors(t):
    x = leaf(t, 1, 2)
    y = x * x
    edge = t.autograd.graph.get_gradient_edge
    inner, outer, at_leaf = edge(y), edge(y * 3), edge(x)
    return (
        inner.node is y.grad_fn, inner.output_nr, at_leaf.node.name(),
        t.autograd.grad((y * 5).sum(), inner, retain_graph=True),
        t.autograd.grad((y * 5).sum(), [at_leaf, inner], retain_graph=True),
        t.autograd.grad(outer, x, t.ones(2)),
    )  # fmt: skip


@parity
def test_an_edge_as_a_root_and_as_an_input_of_backward(t):
    x = leaf(t, 1, 2)
    y = x * x
    edge = t.autograd.graph.get_gradient_edge(y)
    del y
    t.autograd.backward(edge, t.tensor([1.0, 10.0]))
    first = x.grad.clone()
    (x * 7).sum().backward(inputs=[t.autograd.graph.get_gradient_edge(x)])
    return first, x.grad


@parity
def test_edges_of_several_outputs(t):
    x = leaf(t, 1, 2, 3)
    a, b, c = x.unbind()
    edges = [t.autograd.graph.get_gradient_edge(piece) for piece in (a, b, c)]
    return [edge.output_nr for edge in edges], t.autograd.grad(a * 2 + c * 3, edges, allow_unused=True)


@parity
def test_refused_edges(t):
    x = leaf(t, 1, 2)
    wording = "It is not possible to get the gradient edge for a Tensor that does not require gradients"
    raises(RuntimeError, wording, lambda: t.autograd.graph.get_gradient_edge(t.ones(2)))
    edge = t.autograd.graph.get_gradient_edge(leaf(t, 1))
    wording = "materialize_grads cannot be used when the given input is a GradientEdge"
    raises(RuntimeError, wording, lambda: t.autograd.grad(x.sum(), edge, materialize_grads=True))
    return x.grad


@parity
def test_one_node_for_all_rows(t):
    x = t.arange(6.0).reshape(3, 2).requires_grad_()
    rows = x.unbind()
    seen = [row.grad_fn is rows[0].grad_fn for row in rows]
    (rows[0] * rows[2]).sum().backward()
    return seen, [edge[1] for row in rows for edge in (row * 2).grad_fn.next_functions if edge[0]], x.grad


@parity
def test_a_node_is_called_with_a_tensor_for_each_output(t):
    y = leaf(t, 1, 2) ** 2
    for given in ((), (t.ones(2), t.ones(2))):
        with pytest.raises(TypeError, match=f"expected 1 arguments, got {len(given)} instead"):
            y.grad_fn(*given)
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        y.grad_fn(2.0)
    return y.grad_fn(t.ones(2)).detach(), y.reshape(2, 1).max(0).values.grad_fn(t.ones(1)).shape
