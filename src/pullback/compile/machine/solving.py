"""Triangular systems within compiled programs: a call of the BLAS that NumPy has, as in eager programs."""

from __future__ import annotations

from llvmlite import ir

from ..._numerics import blas
from ..._numerics.blas import Word, routine
from ..program import Equation
from .elements import KINDS
from .linking import linked
from .llvm import TYPES, long
from .writing import Writer


class SolutionEmitter(Writer):
    """Writes `solve_triangular` of two matrices: the right side is copied, and replaced by the solution.

    A guard has checked that the diagonal has no zeros.
    """

    def __init__(self, builder: ir.IRBuilder, equation: Equation) -> None:
        super().__init__(builder, KINDS[equation.output.dtype])
        self.equation = equation

    def emit(self, a: ir.Value, b: ir.Value, out: ir.Value) -> None:
        """Write the code, given the addresses of the operands and the result."""
        params, output, name = self.equation.params, self.equation.output, ("s" if self.kind == "f" else "d") + "trsm"
        self.copy(self.array(out), self.array(b), output.nbytes)
        found = routine(name)
        assert found is not None
        size, enum, number = TYPES[f"i{found[1]}"], ir.IntType(32), TYPES[self.kind]
        half = Word.UPPER if params["upper"] else Word.LOWER
        unit = Word.ONES if params.get("unitriangular") else Word.DIAGONAL
        rows, columns = output.shape
        arguments = [*map(enum, (Word.ROW_MAJOR, Word.LEFT, half, Word.PLAIN, unit)), size(rows), size(columns)]
        arguments += [number(1.0), a, size(rows), out, size(columns)]
        signature = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        alone = linked(self.builder, "alone", ir.FunctionType(ir.VoidType(), [long(0).type]))
        small = (control := blas.control()) is not None and rows * rows * columns < control.worth
        if small:
            self.builder.call(alone, [long(1)])
        self.builder.call(linked(self.builder, name, signature), arguments)
        if small:
            self.builder.call(alone, [long(-1)])
