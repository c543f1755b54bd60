"""What the tape, transforms and files refuse: each message by a call that needs no torch to compare with, and nothing has changed."""

import io

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.autograd import backward, grad
from pullback.func import (
    functional_call,
    grad_and_value,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
)

X = pullback.tensor([1.0, 2.0], requires_grad=True)
ONE = pullback.ones(())
PLAIN = pullback.ones(2)
NODE = (X * 2).grad_fn
INTS = pullback.ones(2, dtype=pullback.int64)


def linear(training=True, tracked=True):
    return nn.Linear(2, 1).train(training).requires_grad_(tracked)


def ruled(*, rules=None, rule=None, answer=None, nondiff=()):
    f = pullback.custom_jvp(lambda x, y: x * y, nondiff_argnums=nondiff)
    if rules:
        f.defjvps(*rules)
    else:
        f.defjvp(rule or (lambda primals, tangents: answer))
    return jvp(f, (PLAIN, PLAIN), (PLAIN, PLAIN))


CALLS = {
    "a bool has no limits": (lambda: pullback.iinfo(pullback.bool), TypeError, "its values are False and True"),
    "modes": (lambda: pullback.set_grad_enabled("no"), TypeError, "must be bool, not"),
    "devices": (lambda: pullback.ones(2, device=3.5), TypeError, "must be a device or its name, not"),
    "pinned": (lambda: pullback.ones(2, pin_memory=True), RuntimeError, "no pinned memory allocator is available"),
    "sizes": (lambda: ONE.size(0), IndexError, "tensor has no dimensions: its shape is"),
    "retaining": (PLAIN.retain_grad, RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    "inputs": (lambda: backward(X.sum(), inputs=[3]), TypeError, "inputs are Tensors or GradientEdges, but number 0"),
    "gradients": (lambda: grad([X.sum()], X, [ONE, ONE]), RuntimeError, "got 1 tensors and 2 gradients"),
    "batches": (
        lambda: grad([X * 1, X * 2], X, [pullback.ones(3, 2), pullback.ones(4, 2)], is_grads_batched=True),
        RuntimeError, "have different batch sizes: .3, 4.",
    ),
    "a batch without axes": (lambda: grad(X.sum(), X, ONE, is_grads_batched=True), IndexError, "index of a 0-dim tensor"),
    "no batch": (lambda: grad(X.sum(), X, is_grads_batched=True), RuntimeError, "but that for output 0 is None"),
    "complex": (
        lambda: grad(X.to(pullback.complex64).sum(), X), RuntimeError, "created only for real scalar outputs but got"
    ),
    "an edge": (
        lambda: grad(pullback.autograd.graph.get_gradient_edge(X * 2), X), RuntimeError, "pass a gradient for an edge"
    ),
    "a node's arguments": (lambda: NODE(3), TypeError, "argument 0 is not a Variable"),
    "too many": (lambda: NODE(PLAIN, PLAIN), TypeError, "expected 1 arguments, got 2 instead: one for each output"),
    "classes of nodes": (type(NODE), TypeError, "nodes are made by operations on tensors"),
    "saved": (lambda: NODE._saved_nothing, AttributeError, "object has no attribute '_saved_nothing'"),
    "steps": (lambda: pullback.scan(lambda c, x: (c, x), ONE, None, length="a"), RuntimeError, "scan: length must be a number of steps"),
    "lengths": (
        lambda: pullback.scan(lambda c, x: (c, x[0]), ONE, (pullback.ones(2), pullback.ones(3))),
        RuntimeError, "scan: xs must have one length along dim",
    ),
    "a rule": (lambda: ruled(rule=3), TypeError, "the rule must be a function, not"),
    "rules": (lambda: ruled(rules=[None]), TypeError, "has 2 arguments, and defjvps was given 1 rules"),
    "a pair": (lambda: ruled(answer=3), TypeError, "must return a pair .outputs, tangents of the outputs."),
    "argument numbers": (
        lambda: ruled(nondiff=(5,), rule=lambda *_: None), ValueError, "2 arguments, and nondiff_argnums names number 5"
    ),
    "no parameters": (lambda: pullback.flatten_problem(lambda x: x, {}), ValueError, "there are no parameters in"),
    "not real": (
        lambda: pullback.flatten_problem(lambda x: x.to(pullback.complex64).sum(), PLAIN).fun(np.ones(2)),
        TypeError, "must return real numbers of floating point, not a",
    ),
    "several": (
        lambda: pullback.flatten_problem(lambda x: x, PLAIN).fun(np.ones(2)), RuntimeError, "should contain a single element, but"
    ),
    "another form": (
        lambda: pullback.flatten_problem(lambda x: x.sum(), PLAIN).fun(np.ones(3)), ValueError, "but the parameters have 2 elements"
    ),
    "NaN": (
        lambda: pullback.flatten_problem(lambda x: (x * np.nan).sum(), PLAIN).fun(np.ones(2)),
        FloatingPointError, "the value is NaN at finite parameters",
    ),
    "a complex tangent": (
        lambda: jvp(pullback.sin, (PLAIN,), (PLAIN.to(pullback.complex64),)),
        RuntimeError, "is complex, and its primal real: push the real and",
    ),
    "tangents": (lambda: jvp(pullback.sin, (PLAIN,), ("a",)), RuntimeError, "to only contain Tensors, got"),
    "structures": (lambda: jvp(pullback.sin, (PLAIN,), ([PLAIN],)), RuntimeError, "to have the same python structure"),
    "no primals": (lambda: jvp(lambda: ONE, (), ()), RuntimeError, "Expected primals to contain at least one Tensor"),
    "whole primals": (lambda: jvp(lambda x: x, (INTS,), (PLAIN,)), ValueError, "Expected primal to be floating point"),
    "whole tangents": (lambda: jvp(pullback.sin, (PLAIN,), (INTS,)), ValueError, "Expected tangent to be floating point"),
    "chunks": (lambda: jacrev(pullback.sin, chunk_size=0), ValueError, "jacrev: `chunk_size` should be greater than 0"),
    "unsupported results": (lambda: vjp(lambda x: "a", PLAIN), RuntimeError, "unsupported type"),
    "argnums": (lambda: pullback.func.grad(lambda x: x, argnums=(0, 0))(ONE), RuntimeError, "elements must be unique, got"),
    "an argnum": (lambda: pullback.func.grad(lambda x: x, argnums=("a",))(ONE), RuntimeError, "got an element of"),
    "a vector": (lambda: grad_and_value(pullback.sin)(PLAIN), RuntimeError, "scalar Tensor, got tensor with 1 dims"),
    "no pair": (
        lambda: grad_and_value(pullback.sin, has_aux=True)(ONE), RuntimeError, "should be a tuple: .output, aux. if has_aux"
    ),
    "no state": (lambda: functional_call(linear(), [3], PLAIN), ValueError, "Expected all elements of parameter_and_buffer"),
    "two states": (
        lambda: functional_call(linear(), [dict(linear().named_parameters())] * 2, PLAIN),
        ValueError, "appeared in multiple dictionaries; behavior",
    ),
    "no models": (lambda: stack_module_state([]), RuntimeError, "Expected at least one model, got 0"),
    "classes": (lambda: stack_module_state([linear(), nn.ReLU()]), RuntimeError, "all models to be of the same class"),
    "modes of models": (
        lambda: stack_module_state([linear(), linear(training=False)]), RuntimeError, "have the same training/eval mode"
    ),
    "tracked": (
        lambda: stack_module_state([linear(), linear(tracked=False)]), RuntimeError, "model to have the same .requires_grad"
    ),
    "text to read": (lambda: pullback.load(io.StringIO()), TypeError, "load.. takes a file opened in binary mode"),
    "text to write": (lambda: pullback.save(PLAIN, io.StringIO()), TypeError, "save.. takes a file opened in binary mode"),
    "no reader": (lambda: pullback.load(3), TypeError, "load.. takes a path or a binary file object"),
    "no writer": (lambda: pullback.save(PLAIN, 3), TypeError, "save.. takes a path or a binary file object"),
    "pickles": (lambda: pullback.load(io.BytesIO(), pickle_module=3), ValueError, "load.. runs no pickles: leave"),
    "pickles written": (lambda: pullback.save(PLAIN, io.BytesIO(), pickle_module=3), ValueError, "writes no pickles of its own"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), CALLS.values(), ids=CALLS)
def test_a_refusal_says_why_and_changes_nothing(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
    assert (X.grad, X.tolist(), PLAIN.tolist()) == (None, [1, 2], [1, 1])
    assert pullback.is_grad_enabled()
