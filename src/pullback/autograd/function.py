"""torch's module for `Function`, which `_tensor.function` defines."""

from .._tensor.function import (
    Function as Function,
    FunctionCtx as FunctionCtx,
    FunctionNode as FunctionNode,
    FunctionPrimitive as FunctionPrimitive,
    InplaceFunction as InplaceFunction,
    argument_names as argument_names,
    backward_of as backward_of,
    has_context as has_context,
    lost_by as lost_by,
    once_differentiable as once_differentiable,
)
