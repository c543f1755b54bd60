"""A printing tracer: every operation of a program, forwards and backwards, as it happens.

It uses only the public hook, `pullback.interpreters.Interpreter`: an interpreter is one class with one method, and
adding one touches no other file.
"""

from typing import Any

import pullback
from pullback.interpreters import Interpreter, Primitive


class PrintingTracer(Interpreter):
    """Prints each operation on the values it has boxed, and computes it one level further in."""

    def process(self, primitive: Primitive, args: Any, params: dict[str, Any]) -> Any:
        """Print one operation; its result is boxed again."""
        inputs = [self.unbox(arg) for arg in args]
        result = primitive(*inputs, **params)
        shapes = ", ".join(str(tuple(getattr(value, "shape", ()))) for value in inputs)
        print(f"{primitive.name:12} {shapes:16} -> {tuple(result.shape)}")
        return self.box(result)


def main() -> None:
    """Trace one layer; what lies beneath the tracer is recorded as usual and differentiates."""
    weights = pullback.tensor([[0.5, -1.0], [2.0, 0.0]], requires_grad=True)
    with PrintingTracer() as tracer:
        w = tracer.box(weights)
        x = pullback.tensor([1.0, 3.0])
        loss = tracer.unbox(((x @ w).tanh() * 2).sum())
    print("loss   ", loss)
    loss.backward()
    print("w.grad ", weights.grad)


if __name__ == "__main__":
    main()
