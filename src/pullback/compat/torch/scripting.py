"""torch.compile, which is pullback's; torch.jit and torch.compiler, which return their arguments unchanged."""

import functools
import importlib
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ...nn.modules.module import Module
from .inert import block, does_nothing, no, none_found
from .notes import note


def _same(function: Any = None, *args: object, **options: object) -> Any:
    """The function or module itself; with options only, a decorator that returns it."""
    return functools.partial(_same) if function is None else function


def _as_python(name: str) -> Callable[..., Any]:
    def unchanged(obj: Any = None, *args: object, **options: object) -> Any:
        note(f"{name} changes nothing in pullback: the program runs as Python")
        return obj

    unchanged.__name__ = unchanged.__qualname__ = name.rpartition(".")[2]
    unchanged.__doc__ = f"The argument of {name}, as it is."
    return unchanged


def compile(model: Callable[..., Any] | None = None, **options: object) -> Any:
    """A function or module compiled by pullback.compile; what cannot be compiled runs as Python, as in torch."""
    return importlib.import_module("pullback.compile").compile(model, **options, lenient=True)


def _no_files(*args: object, **options: object) -> typing.NoReturn:
    raise NotImplementedError(
        "TorchScript's programs are neither written nor read by pullback: save a state_dict() with torch.save"
    )


class ScriptModule(Module):
    """torch.jit.ScriptModule: a base class; the result of `torch.jit.script` is an instance only if its input is."""


class ScriptFunction:
    """torch.jit.ScriptFunction: without instances, since functions are not changed."""


class TracerWarning(Warning):
    """What tracing warns of: numbers that become constants. Nothing is traced here."""


class jit:
    """torch.jit."""

    script = staticmethod(_as_python("torch.jit.script"))
    trace = staticmethod(_as_python("torch.jit.trace"))
    trace_module = staticmethod(_as_python("torch.jit.trace_module"))
    freeze = optimize_for_inference = staticmethod(_same)
    script_method = export = ignore = unused = interface = script_if_tracing = staticmethod(_same)
    _overload = _overload_method = _script_if_tracing = staticmethod(_same)
    is_scripting = is_tracing = staticmethod(no)
    ScriptModule = RecursiveScriptModule = ScriptModule
    ScriptFunction = ScriptFunction
    TracerWarning = TracerWarning
    Final = typing.Final
    annotate = staticmethod(lambda kind, value: value)
    isinstance = staticmethod(isinstance)
    fork = staticmethod(lambda function, *args, **options: function(*args, **options))
    wait = staticmethod(_same)
    optimized_execution = fuser = strict_fusion = staticmethod(block)
    set_fusion_strategy = enable_onednn_fusion = staticmethod(does_nothing)
    save = load = staticmethod(_no_files)


annotations = SimpleNamespace(**{f"BroadcastingList{length}": list for length in range(1, 7)})
"""torch.jit.annotations: lists of a length, for which one number may stand."""


class compiler:
    """torch.compiler."""

    compile = staticmethod(compile)
    disable = allow_in_graph = assume_constant_result = staticmethod(_same)
    is_compiling = is_dynamo_compiling = is_exporting = staticmethod(no)
    reset = cudagraph_mark_step_begin = staticmethod(does_nothing)
    set_stance = staticmethod(block)
    list_backends = staticmethod(none_found)


class dynamo_config:
    """torch._dynamo.config: settings without effect."""

    suppress_errors = verbose = capture_scalar_outputs = False
    optimize_ddp = True
    cache_size_limit = 8
    patch = staticmethod(block)


class gpu_compiler:
    """torch.utils._triton: whether there is a compiler for GPUs."""

    has_triton = has_triton_package = has_triton_tma = has_triton_tma_device = staticmethod(no)


class inductor_config:
    """torch._inductor.config: settings without effect."""

    coordinate_descent_tuning = fx_graph_cache = False

    class triton:
        """Settings of Triton."""

        unique_kernel_names = cudagraphs = False


class dynamo:
    """torch._dynamo."""

    config = dynamo_config
    disable = allow_in_graph = optimize = assume_constant_result = staticmethod(_same)
    is_compiling = is_dynamo_supported = staticmethod(no)
    TransformGetItemToIndex = staticmethod(block)  # indices by tensors work under vmap
    reset = mark_dynamic = mark_static = mark_static_address = mark_unbacked = maybe_mark_dynamic = staticmethod(
        does_nothing
    )


class inductor:
    """torch._inductor."""

    config = inductor_config
    cudagraph_mark_step_begin = staticmethod(does_nothing)
