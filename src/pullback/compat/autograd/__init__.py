"""A stand-in for HIPS autograd: derivatives of programs on plain NumPy arrays, by autograd's names and rules.

`from pullback.compat import autograd` imports it as a module; after `install()`, so do `import autograd` and `import
autograd.numpy as np` in this process.
"""

from typing import Any

from .containers import dict, isinstance, list, tuple, type
from .facade import install, module, uninstall
from .operators import (
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .primitives import checkpoint, primitive


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module("autograd"), name)


__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "uninstall",
    "value_and_grad",
    "vector_jacobian_product",
]
