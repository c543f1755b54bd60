"""Loops of the program with small steps: each value of a step is one vector register, and the state stays in registers.

A step of a few numbers takes no longer than its longest chain of dependent operations, if nothing else is done between
steps. So the loop is inlined: it reads and writes memory only for columns, and computes loop invariants before the first
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from ..mathematics.arithmetic import cast
from ..mathematics.lanes import REALS, FactoredProduct, IRValue, Sum
from ..program import Equation, Value
from ..scans import Scan
from . import elements, indices, reducing
from .contexts import EmitContext
from .elements import COSTLY, ELEMENTS, KINDS
from .llvm import host
from .memory import load, load_lanes, splat, store, store_lanes
from .nests import REDUCTIONS
from .pieces import PIECES
from .writing import Writer

if TYPE_CHECKING:
    from ..._core.typing import Array

EXACT_TERMS = 8
"""The number of floats up to which a sum is computed in single precision."""

Numbers = Sequence[int]


def _lanes(size: int) -> int | None:
    """The number of lanes for `size` elements: the next power of two; None for a scalar."""
    return None if size == 1 else 1 << (size - 1).bit_length()


class LoopEmitter(Writer):
    """Writes the code of one loop, between the addresses of its inputs and those of its outputs."""

    def __init__(
        self, builder: ir.IRBuilder, equation: Equation, inputs: list[ir.Value], outputs: list[ir.Value]
    ) -> None:
        super().__init__(builder)
        self.scan: Scan = equation.params["loop"]
        self.makers = self.scan.body.makers()
        self.inputs, self.outputs = inputs, outputs
        self.ir_values: dict[Value, IRValue] = {}
        self.steady: set[Value] = set()  # loop invariants

    def emit(self) -> None:
        """Write the code; the builder is left after the loop."""
        loop, body = self.scan, self.scan.body
        shared = body.inputs[loop.carries + loop.columns :]
        for value, base in zip(shared, self.inputs[loop.carries + loop.columns :], strict=True):
            self.ir_values[value] = self._loaded(value, base)
        for value, array in body.constants.items():
            self.ir_values[value] = self._constant(value, array)
        for equation in body.equations:
            if all(value in self.ir_values for value in equation.inputs):
                self._write(equation)
        self.steady.update(self.ir_values)
        first = [self._loaded(v, at) for v, at in zip(body.inputs, self.inputs[: loop.carries], strict=False)]
        for value, ir_value, base in zip(
            body.outputs, self._repeated(first), self.outputs[: loop.carries], strict=False
        ):
            self._stored(value, ir_value, base)

    def _repeated(self, first: list[IRValue]) -> list[IRValue]:
        """The state after all steps; the builder is left after the loop."""
        builder, before = self.builder, self.builder.block
        head, after = (builder.function.append_basic_block() for _ in range(2))
        builder.branch(head)
        builder.position_at_end(head)
        initial = [self.number(0), *first]
        phis = [builder.phi(ir_value.value.type) for ir_value in initial]
        index, *states = (ir_value.with_value(phi) for ir_value, phi in zip(initial, phis, strict=True))
        results = self._step(index, states)
        following = index + 1
        for phi, ir_value, result in zip(phis, initial, (following, *results), strict=True):
            phi.add_incoming(ir_value.value, before)
            phi.add_incoming(result.value, builder.block)
        builder.cbranch((following < self.scan.length).value, head, after)
        builder.position_at_end(after)
        return results

    def _step(self, index: IRValue, states: list[IRValue]) -> list[IRValue]:
        """One step: read rows of columns, compute what is not invariant, and store rows."""
        loop, body = self.scan, self.scan.body
        self.ir_values.update(zip(body.inputs, states, strict=False))
        columns = body.inputs[loop.carries : loop.carries + loop.columns]
        for value, base in zip(columns, self.inputs[loop.carries : loop.carries + loop.columns], strict=True):
            self.ir_values[value] = self._loaded(value, self._row(base, index, value))
        for equation in body.equations:
            if any(value not in self.ir_values for value in equation.outputs):
                self._write(equation)
        for value, base in zip(body.outputs[loop.carries :], self.outputs[loop.carries :], strict=True):
            self._stored(value, self.ir_values[value], self._row(base, index, value))
        return [self.ir_values[value] for value in body.outputs[: loop.carries]]

    # Memory

    def _row(self, base: ir.Value, index: IRValue, value: Value) -> ir.Value:
        """The address of a step's row of a column."""
        number = self.number(self.scan.length - 1) - index if self.scan.reverse else index
        return self.array(base, "i8").at(number * value.nbytes).value

    def _desk(self, size: int) -> EmitContext:
        return EmitContext(self.builder, host(), _lanes(size), branching=True)

    def _loaded(self, value: Value, address: ir.Value) -> IRValue:
        kind, ctx = KINDS[value.dtype], self._desk(value.size)
        if ctx.lanes is None:
            return load(ctx, kind, address)
        exact = load_lanes(EmitContext(self.builder, host(), value.size), kind, address, 1, None)
        return exact if ctx.lanes == value.size else self._gathered(exact, list(range(value.size)))

    def _stored(self, value: Value, ir_value: IRValue, address: ir.Value) -> None:
        if ir_value.ctx.lanes is None:
            store(ir_value, address)
            return
        if ir_value.ctx.lanes != value.size:
            ir_value = ir_value.shuffled(ir_value, range(value.size))
        store_lanes(ir_value, address, 1, None)

    def _constant(self, value: Value, array: Array) -> IRValue:
        ctx, kind = self._desk(value.size), KINDS[value.dtype]
        numbers = array.reshape(-1).tolist()
        if len(set(map(repr, numbers))) == 1:
            return ctx.number(kind, numbers[0])
        padded = numbers + numbers[-1:] * ((ctx.lanes or 1) - len(numbers))
        singles = [self.scalar.number(kind, number).value for number in padded]
        return IRValue(ctx, kind, ir.Constant(ctx.type(kind), singles))

    # Elements of vectors

    def _gathered(self, ir_value: IRValue, places: Numbers) -> IRValue:
        """A vector of some elements of a vector; surplus lanes repeat the last element and are not stored."""
        ctx, kind, builder = self._desk(len(places)), ir_value.kind, self.builder
        if ir_value.ctx.lanes is None and isinstance(ir_value.value, ir.Constant):
            return ctx.number(kind, ir_value.value.constant)
        if ir_value.ctx.lanes is None:
            return ir_value if ctx.lanes is None else IRValue(ctx, kind, splat(builder, ir_value.value, ctx.lanes))
        if ctx.lanes is None:
            return IRValue(ctx, kind, builder.extract_element(ir_value.value, ir.IntType(32)(places[0])))
        if ir_value.ctx.lanes == ctx.lanes and list(places) == list(range(len(places))):
            return ir_value
        padded = [*places, *[places[-1]] * (ctx.lanes - len(places))]
        return IRValue(ctx, kind, ir_value.shuffled(ir_value, padded).value)

    def _put_together(self, ir_values: Sequence[tuple[IRValue, int]], numbers: Numbers) -> IRValue:
        """A vector of elements of several vectors, numbered consecutively from 1; 0 stands for a zero."""
        ctx, kind = self._desk(len(numbers)), ir_values[0][0].kind
        found, start = ctx.number(kind, 0), 1
        for ir_value, size in ir_values:
            inside = [start <= number < start + size for number in numbers]
            if any(inside):
                places = [number - start if own else 0 for number, own in zip(numbers, inside, strict=True)]
                taken = self._gathered(ir_value, places)
                found = taken if all(inside) else self._mask(ctx, inside).select(taken, found)
            start += size
        return found

    def _mask(self, ctx: EmitContext, inside: Sequence[bool]) -> IRValue:
        bits = [*inside, *[inside[-1]] * ((ctx.lanes or 1) - len(inside))]
        return IRValue(ctx, "b1", ir.Constant(ctx.type("b1"), list(map(int, bits)) if ctx.lanes else int(bits[0])))

    # Equations

    def _write(self, equation: Equation) -> None:
        name = equation.name
        if name in indices.NAMES or name in PIECES:
            self._move(equation)
        elif name in REDUCTIONS:
            self.ir_values[equation.output] = self._reduce(equation)
        elif name == "matmul":
            self.ir_values[equation.output] = self._multiply(equation)
        else:
            self.ir_values[equation.output] = self._apply(equation)

    def _apply(self, equation: Equation) -> IRValue:
        out = equation.output
        operands = [self._spread(value, out) for value in equation.inputs]
        dtypes = tuple([value.dtype for value in equation.inputs])
        if equation.name == "add" and {*dtypes} == {out.dtype}:
            for value, other in zip(equation.inputs, reversed(operands), strict=True):
                scaled = self._scaled(value)
                if scaled is not None:
                    return self._spread(scaled[0], out).mad(scaled[1], other)
        if equation.name in ("add", "subtract") and {*dtypes} == {out.dtype}:
            taken = self._taken_in(equation, operands)
            if taken is not None:
                return taken
        made = elements.apply(equation.name, operands, dtypes, out.dtype, equation.params)
        if equation.name == "multiply" and {*dtypes} == {out.dtype} and made.kind in REALS:
            for place, value in enumerate(equation.inputs):
                if value in self.steady:
                    return FactoredProduct(made, operands[1 - place], operands[place])
        return made

    def _spread(self, value: Value, like: Value) -> IRValue:
        """A value broadcast to the shape of another."""
        numbers = np.arange(value.size).reshape(value.shape)
        return self._gathered(self.ir_values[value], np.broadcast_to(numbers, like.shape).reshape(-1).tolist())

    def _scaled(self, value: Value) -> tuple[Value, float] | None:
        """The factors of a product with a constant of at most 1 in size, if a value is such a product.

        Then product and sum may be fused: both forms overflow for the same operands.
        """
        maker = self.makers.get(value)
        if maker is not None and maker.name == "multiply" and value.dtype.kind == "f":
            for factor, other in (maker.inputs, maker.inputs[::-1]):
                constant = self.scan.body.constants.get(factor)
                if constant is None or constant.size > 1 or (other.dtype, other.shape) != (value.dtype, value.shape):
                    continue
                if abs(constant.item()) <= 1:
                    return other, constant.item()
        return None

    def _taken_in(self, equation: Equation, operands: list[IRValue]) -> IRValue | None:
        """A sum of a function and an early term, if the function's last operation can add the term."""
        for place, value in enumerate(equation.inputs):
            ir_value, other = self.ir_values[value], operands[1 - place]
            if (
                isinstance(ir_value, Sum)
                and value.shape == equation.output.shape
                and self._is_soon(equation.inputs[1 - place])
            ):
                if equation.name == "add":
                    return ir_value.plus(other)
                if place == 0:
                    return ir_value.plus(-other)
        return None

    def _is_soon(self, value: Value) -> bool:
        """Whether a value does not depend on a mathematical function."""
        maker = self.makers.get(value)
        if maker is None:
            return True
        cheap = maker.name in ELEMENTS and ELEMENTS[maker.name].cost < COSTLY
        return cheap and all(map(self._is_soon, maker.inputs))

    def _move(self, equation: Equation) -> None:
        """An operation that only moves elements: it is run on element numbers, which give the shuffle."""
        numbered, start = [], 1
        for value in equation.inputs:
            numbered.append(np.arange(start, start + value.size).reshape(value.shape))
            start += value.size
        plain = equation.name in indices.FLATTENS
        made = numbered[0] if plain else equation.primitive.forward(*numbered, **equation.params)
        ir_values = [(cast(self.ir_values[v], KINDS[equation.outputs[0].dtype]), v.size) for v in equation.inputs]
        for value, numbers in zip(equation.outputs, made if isinstance(made, tuple | list) else (made,), strict=True):
            self.ir_values[value] = self._put_together(ir_values, np.asarray(numbers).reshape(-1).tolist())

    def _reduce(self, equation: Equation) -> IRValue:
        how, (x,), out = REDUCTIONS[equation.name], equation.inputs, equation.output
        axis = equation.params["axis"]
        axes = range(len(x.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
        reduced = {i % len(x.shape) for i in axes}
        order = [*(i for i in range(len(x.shape)) if i not in reduced), *sorted(reduced)]
        numbers = np.arange(x.size).reshape(x.shape).transpose(order).reshape(out.size, -1)
        kind = reducing.kind_of(how, x.dtype, out.dtype)
        if kind == "d" and out.dtype.itemsize == 4 and numbers.shape[1] <= EXACT_TERMS:
            kind = "f"
        parts = [cast(self._gathered(self.ir_values[x], row), kind) for row in numbers.T.tolist()]
        while len(parts) > 1:  # pairwise: error and latency grow with the logarithm
            pairs = [reducing.combine(how, *parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
            parts = [*pairs, *parts[len(parts) // 2 * 2 :]]
        return cast(parts[0], KINDS[out.dtype])

    def _multiply(self, equation: Equation) -> IRValue:
        left, right = equation.inputs
        a, b = (np.arange(value.size).reshape(value.shape) for value in (left, right))
        a = a[None, :] if a.ndim == 1 else a
        b = b[:, None] if b.ndim == 1 else b
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        shape = (*batch, a.shape[-2], b.shape[-1])
        total: IRValue | None = None
        for k in range(a.shape[-1]):
            x = self._gathered(self.ir_values[left], np.broadcast_to(a[..., :, k, None], shape).reshape(-1).tolist())
            y = self._gathered(self.ir_values[right], np.broadcast_to(b[..., None, k, :], shape).reshape(-1).tolist())
            total = x * y if total is None else x.mad(y, total)
        assert total is not None
        return total
