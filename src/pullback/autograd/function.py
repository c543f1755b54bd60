"""torch's module for `Function`, which `_tensor.function` defines."""

from .._tensor.function import Function as Function
from .._tensor.function import FunctionCtx as FunctionCtx
from .._tensor.function import FunctionNode as FunctionNode
from .._tensor.function import FunctionPrimitive as FunctionPrimitive
from .._tensor.function import InplaceFunction as InplaceFunction
from .._tensor.function import argument_names as argument_names
from .._tensor.function import backward_of as backward_of
from .._tensor.function import has_context as has_context
from .._tensor.function import lost_by as lost_by
from .._tensor.function import once_differentiable as once_differentiable
