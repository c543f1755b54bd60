"""A tracer that prints what a program computes, with shapes and lines, while it runs.

It uses the public interface for looking at operations, `pullback.observe`, and changes nothing: gradients are those of the
program itself. `python -m shape_tracer`, in the folder of the examples, shows it at work.
"""

from .tracing import ShapeTracer

__all__ = ["ShapeTracer"]
