"""pullback: PyTorch's autograd for NumPy programs.

Tensors record what is done to them; `backward(gradient)` pulls a vector back through that record.

What parameters mean where a function or method does not say otherwise:

Parameters
----------
input, self
    The tensor to compute with.
other
    The second operand: a tensor, whose shape broadcasts with that of the first, or a number.
tensors
    The tensors to compute with.
dim, axis
    The axis along which is computed, or several where a sequence is accepted; negative numbers count from the end.
keepdim, keepdims
    Keep the axes over which is computed, with length 1.
dtype
    The dtype of the result; None for the one that follows from what is given, or else the default.
out
    A tensor to write the result to, which is returned.
size
    The lengths of the axes, as a sequence or one by one.
device
    Where the result lies; there is only the CPU.
stride, storage_offset
    The distances in memory along each axis, and the first element, counted in elements.
requires_grad
    Whether operations on the result are recorded for gradients.
layout, pin_memory
    Accepted as in torch, and of no effect.
memory_format
    The order of the elements in memory.
generator
    Where random numbers come from; None for the default generator.
alpha, beta
    What the second term, and what the input, is multiplied by.
index
    Where elements stand along the axis, as integers.
src, source
    What is written there, or added.
min, max
    The bounds; None for none.
A
    A matrix, or a batch of them.
mat, mat1, mat2, batch1, batch2, vec, vec1, vec2
    The factors: matrices, batches of matrices, and vectors.
tensor1, tensor2
    The factors of the second term, or its dividend and divisor.
offset, diagonal
    Which diagonal: 0 for the main one, positive numbers for those above it.
dim0, dim1, dim2, axis0, axis1
    An axis.
dims, axes
    Several axes.
upper
    Take, or give, an upper triangular matrix, not a lower one.
start, end, step
    The first number, the bound, and the distance.
rounding_mode
    None for none, "trunc" towards zero, or "floor".
indices_or_sections
    The places before which to split, or the number of parts.
split_size, split_sizes
    The length of each part, or all lengths.
tau
    The factors of the reflections, as `geqrf` gives them.
value
    What is written to each element.
row, col
    The number of rows and of columns.
obj
    The object to convert, or to write.
copy
    True for a copy, False for none, None for one only where it cannot be avoided.
non_blocking, stream
    Accepted as in torch and in the array API standard, and of no effect.
force
    Give the numbers of a tensor that requires grad, too.
condition
    A bool tensor, True where the first choice is meant.
pad_mode, align_to_window
    How the ends of a signal are padded, a mode of `nn.functional.pad`; and, of a signal that is not padded, whether its
    first window starts with it, not its first frame.
allow_unused
    Accept an input that the outputs do not depend on: its gradient is None, or a matrix of zeros.
operand, labels
    The first operand, and a number for each of its axes.
function
    The function to decorate; None for a block.
rtol, atol, equal_nan
    The tolerance in parts of `other`, the one in numbers, and whether NaN equals NaN.
nan, posinf, neginf
    What is put in the place of NaN, inf and -inf; None for 0, the largest and the smallest number.
descending, stable
    The largest first; equal ones in their order.
mask
    A bool tensor, True at the elements that are meant.
accumulate
    Add to what is there, rather than replace it.
training, train
    True in training, False in evaluation.
inplace
    Write the result to the input, and return that.
bias
    What is added at the end; None for nothing.
unbiased
    torch's old name for `correction=1`, and of False for `correction=0`.
window_length, periodic
    The number of elements, and whether the period goes on behind them, as an FFT wants it.
hx, w_ih, w_hh, b_ih, b_hh
    The state before the step, the weights of the input and of the state, and their biases.
n_fft, hop_length, win_length, window, center, normalized, onesided, return_complex
    Of a short-time transform: its length, the distance of windows, their length and their factors, whether the signal is
    padded so that they are centered, whether to divide by the root of the length, whether half of the frequencies are
    enough, as of real signals, and whether results are complex.
"""

__version__ = "0.1.0"

import builtins as _builtins
import typing as _typing
from math import e, inf, nan, pi

from ._core.lazy import PROVIDERS as _PROVIDERS, index as _index, provider as _provider
from ._core.tracebacks import install as _install
from ._tape import native as _native
from ._tensor import functions as _functions, surface as _surface

_MODULES = "array_api autograd compile distributed distributions explain extend fft files func interop interpreters linalg masked nn observe optim program signal special testing utils"

# Names of rooms above the tensor, by the modules that define them; all others are in `_tensor.surface`
_INDEX = {
    "_numpy.programs": "numpy_programs",
    "_tape.checking": "check",
    "_tape.reasons": "why",
    "autograd.anomaly_mode": "detect_anomaly is_anomaly_check_nan_enabled is_anomaly_enabled",
    "autograd.revolve": "checkpoint_loop",
    "compile.export": "export",
    "files": "load save",
    "func.control": "cond fori_loop scan while_loop",
    "func.custom_rules": "custom_jvp custom_vjp",
    "func.flattening": "flatten_problem",
    "func.live": "grad hessian jacobian value_grad_hessian",
    "func.mapping": "vmap",
    "func.reverse": "value_and_grad",
    "signal.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "sparsity": "sparse_hessian sparse_jacobian",
}
_FUNCTIONS = _surface.NAMESPACES["pullback"]
_of_index, _dir, _others = _index(globals(), _INDEX, _MODULES)


_PROVIDERS.update(
    {
        "machine code": "pullback.compile.machine",
        "native core": "pullback._tensor.native",
        "engines": "pullback.compile.placed",
        "export": "pullback.compile.export",
        "batches of cotangents": "pullback.func.rows",
        "numpy functions": "pullback._numpy",
        "array namespace": "pullback.array_api",
        "modules of torch": "pullback.compat.torch.places",
        "names of tensors": "pullback.explain.naming",
        "numbers": "pullback._tensor.creation",
        "primitives": "pullback.ops",
        "plain tensors": "pullback._tensor.tensor",
        "operations of users": "pullback._core.own",
        "strong zeros": "pullback._tape.zeros",
        "fills of shared memory": "pullback.vocabulary.shared_memory",
    }
)
if _native.core is not None:
    _provider("native core").install()

if _typing.TYPE_CHECKING:  # for pullback's own packages above the tensor, which take names from here as others do
    from ._core.dtypes import (
        dtype as dtype,
        finfo as finfo,
        get_default_dtype as get_default_dtype,
        set_default_dtype as set_default_dtype,
    )
    from ._core.machine import get_machine_code as get_machine_code, set_machine_code as set_machine_code
    from ._core.modes import (
        enable_grad as enable_grad,
        inference_mode as inference_mode,
        is_grad_enabled as is_grad_enabled,
        no_grad as no_grad,
    )
    from ._core.placement import device as device, layout as layout, memory_format as memory_format
    from ._core.shapes import Size as Size
    from ._numerics.blocks import get_num_threads as get_num_threads, set_num_threads as set_num_threads
    from ._numerics.random import Generator as Generator
    from ._tensor.creation import (
        arange as arange,
        as_tensor as as_tensor,
        empty as empty,
        eye as eye,
        from_numpy as from_numpy,
        full as full,
        scalar_tensor as scalar_tensor,
        tensor as tensor,
        zeros as zeros,
    )
    from ._tensor.sampling import (
        bernoulli as bernoulli,
        binomial as binomial,
        multinomial as multinomial,
        poisson as poisson,
        rand as rand,
        randn as randn,
    )
    from ._tensor.tensor import Tensor as Tensor
    from .vocabulary.arithmetic import pow as pow, where as where
    from .vocabulary.diagonals import diag_embed as diag_embed
    from .vocabulary.functions import xlogy as xlogy
    from .vocabulary.joining import broadcast_tensors as broadcast_tensors
    from .vocabulary.shapes import cat as cat, stack as stack
    from .vocabulary.special import (
        digamma as digamma,
        erf as erf,
        erfinv as erfinv,
        igamma as igamma,
        lgamma as lgamma,
        mvlgamma as mvlgamma,
    )


_install()


def __getattr__(name: str) -> _typing.Any:
    if name not in _FUNCTIONS:
        return _of_index(name)
    globals()[name] = found = _functions.function(name)
    return found


def __dir__() -> list[str]:
    return [*_dir(), *_FUNCTIONS]


# What `from pullback import *` binds: no name of Python's own, such as `sum` or `float`
__all__ = ["e", "inf", "nan", "pi"]
__all__ += [name for name in (*_others, *_FUNCTIONS) if not hasattr(_builtins, name)]
