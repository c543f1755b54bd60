"""Composable function transforms: derivatives and batching, with torch.func's names and semantics."""

from . import custom  # noqa: F401  # registers the transforms' rules for custom functions
from .forward import jvp, linearize
from .functionalizing import functionalize
from .implicit_functions import implicit
from .jacobians import hessian, jacfwd, jacrev
from .laplacians import laplacian
from .mapping import vmap
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .reverse import grad, grad_and_value, value_and_grad, vjp
from .taylor import jet

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "implicit", "jacfwd", "jacrev", "jet", "jvp", "laplacian", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
