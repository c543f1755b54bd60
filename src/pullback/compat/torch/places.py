"""The sources of the names in torch's modules; a module not listed has those of pullback's module of the same path."""

_HERE = "pullback.compat.torch"

PLACES: dict[str, str] = {
    "torch": f"{_HERE}.top pullback",
    **dict.fromkeys(("functorch", "functorch.experimental"), f"{_HERE}.functorch pullback.func"),
    "torch.types": f"{_HERE}.kinds",
    "torch.version": f"{_HERE}.version",
    "torch.random": f"{_HERE}.top pullback._numerics.random pullback._tensor.sampling",
    "torch.functional": f"{_HERE}.top pullback",
    "torch.sparse": f"{_HERE}.sparse",
    "torch.serialization": f"{_HERE}.storing",
    # accelerators, which do not exist
    "torch.cuda": f"{_HERE}.accelerators:cuda",
    "torch.cuda.nvtx": f"{_HERE}.accelerators:nvtx",
    "torch.cuda.random": f"{_HERE}.accelerators:cuda",
    "torch.cuda.amp": f"{_HERE}.precision:cuda_amp {_HERE}.precision",
    "torch.mps": f"{_HERE}.accelerators:mps",
    "torch.xpu": f"{_HERE}.accelerators:xpu",
    "torch.cpu": f"{_HERE}.accelerators:cpu",
    "torch.cpu.amp": f"{_HERE}.precision:cpu_amp {_HERE}.precision",
    "torch.accelerator": f"{_HERE}.accelerators:accelerator",
    "torch.backends": f"{_HERE}.backends",
    **{
        f"torch.backends.{name}": f"{_HERE}.backends:{name}"
        for name in "cpu cuda cudnn mkl mkldnn mps openmp opt_einsum quantized nnpack".split()
    },
    **dict.fromkeys(
        ("torch.amp", "torch.amp.autocast_mode", "torch.amp.grad_scaler", "torch.cuda.amp.grad_scaler"),
        f"{_HERE}.precision",
    ),
    "torch.mtia": f"{_HERE}.accelerators:mtia",
    "torch.cuda.memory": f"{_HERE}.accelerators:cuda",
    "torch.cuda.profiler": f"{_HERE}.accelerators:profiler",
    "torch.cuda.streams": f"{_HERE}.accelerators:cuda",
    # compilers
    "torch.jit": f"{_HERE}.scripting:jit {_HERE}.futures",
    "torch.jit.annotations": f"{_HERE}.scripting:annotations typing",
    "torch.compiler": f"{_HERE}.scripting:compiler",
    "torch._dynamo": f"{_HERE}.scripting:dynamo",
    "torch._dynamo._trace_wrapped_higher_order_op": f"{_HERE}.scripting:dynamo",
    "torch._dynamo.eval_frame": f"{_HERE}.scripting:dynamo",
    "torch._dynamo.config": f"{_HERE}.scripting:dynamo_config",
    "torch._inductor": f"{_HERE}.scripting:inductor",
    "torch._inductor.config": f"{_HERE}.scripting:inductor_config",
    # processes
    "torch.distributed": f"{_HERE}.collectives",
    "torch.distributed.distributed_c10d": f"{_HERE}.collectives",
    "torch.multiprocessing": f"{_HERE}.processes:multiprocessing multiprocessing",
    "torch.multiprocessing.spawn": f"{_HERE}.processes:multiprocessing",
    **{
        f"torch.nn.parallel{name}": f"{_HERE}.processes"
        for name in ("", ".distributed", ".data_parallel", ".scatter_gather")
    },
    **{
        f"torch.distributed.elastic{name}": f"{_HERE}.inner:elastic"
        for name in ("", ".multiprocessing", ".multiprocessing.errors")
    },
    **dict.fromkeys(
        ("torch.distributed.tensor", "torch.distributed.tensor.parallel", "torch.distributed.tensor.placement_types"),
        f"{_HERE}.inner:layouts",
    ),
    **dict.fromkeys(("torch.distributed.rpc", "torch.distributed.autograd"), f"{_HERE}.collectives:rpc"),
    "torch.futures": f"{_HERE}.futures",
    # private modules
    "torch._C": f"{_HERE}.inner {_HERE}.overrides",
    **dict.fromkeys(("torch._tensor", "torch._utils", "torch._vmap_internals"), f"{_HERE}.inner"),
    "torch._jit_internal": f"{_HERE}.inner typing",
    "torch._tensor_str": f"{_HERE}.inner",
    "torch.torch_version": f"{_HERE}.version",
    "torch.storage": "pullback._tensor.storages",
    # profilers
    **dict.fromkeys(("torch.profiler", "torch.profiler.profiler", "torch.autograd.profiler"), f"{_HERE}.profiling"),
    # other names of pullback's modules
    **{
        f"torch.distributions.{name}": "pullback.distributions"
        for name in (
            "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet exp_family exponential "
            "fishersnedecor gamma generalized_pareto geometric gumbel "
            "half_cauchy half_normal independent inverse_gamma kl kumaraswamy laplace lkj_cholesky log_normal "
            "logistic_normal lowrank_multivariate_normal mixture_same_family multinomial "
            "negative_binomial normal one_hot_categorical pareto poisson studentT "
            "transformed_distribution uniform von_mises weibull wishart"
        ).split()
    },
    **dict.fromkeys(
        ("torch.distributions.relaxed_bernoulli", "torch.distributions.relaxed_categorical"),
        "pullback.distributions pullback.distributions.relaxed",
    ),
    "torch.distributions.utils": f"{_HERE}.chances pullback.distributions.correlations",
    "torch.distributions.kl": f"pullback.distributions {_HERE}.chances",
    "torch.distributions.multivariate_normal": f"pullback.distributions {_HERE}.chances",
    "torch.distributions.transforms": f"pullback.distributions.transforms {_HERE}.chances",
    "torch.autograd": f"{_HERE}.autograd pullback.autograd",
    "torch.autograd.functional": f"pullback.autograd.functional {_HERE}.autograd",
    "torch.autograd.variable": "pullback.autograd",
    "torch.autograd.grad_mode": "pullback",
    "torch.autograd.gradcheck": "pullback.autograd",
    "torch.nn": f"{_HERE}.layers pullback.nn",
    "torch.nn.attention": f"{_HERE}.attention",
    "torch.nn.functional": f"pullback.nn.functional {_HERE}.overrides:questions",
    "torch.overrides": f"{_HERE}.overrides",
    "torch.nn.modules.activation": "pullback.nn.modules.activation pullback.nn.modules.attention",
    "torch.nn.modules.linear": "pullback.nn.modules.linear pullback.nn.modules.attention",
    "torch.nn.modules.rnn": "pullback.nn.modules.recurrent",
    "torch.nn.modules.module": f"pullback.nn.modules.module {_HERE}.layers",
    "torch.nn.parameter": f"pullback.nn.parameter pullback.nn.uninitialized {_HERE}.layers",
    **dict.fromkeys(("torch.nn.modules.utils", "torch.nn.utils._named_member_accessor"), f"{_HERE}.layers"),
    "torch.nn.common_types": f"{_HERE}.kinds:sizes typing",
    **dict.fromkeys(("torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm"), "pullback.nn.utils.norms"),
    "torch.utils._pytree": f"{_HERE}.containers",
    "torch.utils.hooks": "pullback._tape.node",
    "torch.utils.checkpoint": f"{_HERE}.checkpointing pullback.utils.checkpoint",
    "torch.utils": "pullback._tensor.swapping pullback.utils",
    "torch.return_types": f"{_HERE}.results",
    "torch.utils._foreach_utils": f"{_HERE}.grouping",
    "torch.optim.lbfgs": f"{_HERE}.searching pullback.optim.lbfgs",
    "torch.optim.optimizer": f"{_HERE}.grouping pullback.optim.optimizer",
    "torch.nn._reduction": f"{_HERE}.losses",
    "torch.utils.benchmark": f"{_HERE}.benchmark",
    "torch.utils.dlpack": f"{_HERE}.exchange",
    **{
        f"torch.utils.data.{name}": (
            f"{_HERE}.sampling pullback.utils.data pullback.utils.data.collating {_HERE}.inner:data {_HERE}.fetching"
        )
        for name in "dataset dataloader sampler distributed _utils _utils.collate _utils.fetch _utils.worker".split()
    },
    "torch.utils.data": f"{_HERE}.sampling pullback.utils.data",
    "torch.utils.tensorboard": "tensorboardX",
    # modules that programs import but may never use
    **dict.fromkeys(
        (
            "torch.quantization",
            "torch.ao",
            "torch._subclasses",
        ),
        "",
    ),
    "torch.onnx": f"{_HERE}.inner:onnx",
    "torch.onnx.symbolic_helper": f"{_HERE}.inner:symbolic",
    # graphs
    "torch.fx": f"{_HERE}.fx",
    **{
        f"torch.fx.{name}": f"{_HERE}.fx.{name}"
        for name in "graph graph_module interpreter node proxy subgraph_rewriter".split()
    },
    "torch.fx._symbolic_trace": f"{_HERE}.fx.tracing {_HERE}.fx.patches",
    "torch.fx.immutable_collections": f"{_HERE}.fx.node:immutable_collections",
    "torch.fx.passes.shape_prop": f"{_HERE}.fx.shapes",
    "torch._subclasses.fake_tensor": f"{_HERE}.inner:fake",
    "torch.ops": f"{_HERE}.operators:ops",
    "torch.hub": f"{_HERE}.hub",
    "torch.library": f"{_HERE}.library",
    "torch.quasirandom": f"{_HERE}.quasirandom",
    "torch.__config__": f"{_HERE}.inner:config",
    "torch._C._nn": f"{_HERE}.inner:inside",
    "torch._C._functorch": f"{_HERE}.functorch:levels",
    "torch.utils._python_dispatch": f"{_HERE}.inner:wrappers",
    "torch.utils._triton": f"{_HERE}.scripting:gpu_compiler",
    "torch.utils._contextlib": f"{_HERE}.inner:contexts",
    "torch.utils.tensorboard.writer": "tensorboardX",
    "torch.utils.tensorboard._pytorch_graph": f"{_HERE}.drawing tensorboardX",
    "torch.testing": f"{_HERE}.closeness {_HERE}.made pullback.testing",
}

_NO_NETWORK = "pullback downloads nothing: load weights from a file, with torch.load"

ABSENT: dict[str, str] = {
    "torch.utils.tensorboard": "it is the package tensorboardX here, which is not installed",
    "torch.distributed": "there are all_reduce and the like, and DistributedDataParallel, on the ranks that mpiexec starts",
    "torch.onnx": "there is no export to ONNX",
    "torch.export": "there is no export of programs",
    **dict.fromkeys(
        "torch.fx.operator_schemas torch.fx.passes torch.fx.experimental".split(),
        "of torch.fx there are graphs, tracers, interpreters, replace_pattern and ShapeProp",
    ),
    "torch.nested": "the rows of a tensor have one length: pad_sequence makes them so",
    "torch.quantization": "there are no quantized tensors",
    "torch.ao": "there are no quantized tensors",
    "torch.utils.cpp_extension": "nothing is compiled from C++",
}
"""Names that do not exist, with the explanation for the error message, which also applies to names below them."""

HOLLOW = (
    "torch._dynamo.exc", "torch._dynamo.variables", "torch._subclasses.functional_tensor", "torch._C._distributed_rpc",
    "torch._inductor.codegen", "torch._inductor.custom_graph_pass", "torch._inductor.lowering", "torch._inductor.runtime",
    "torch._inductor.virtualized", "torch.fx.traceback", "torch.nn.quantized", "torch.nn.attention.varlen",
    "torch.onnx.symbolic_opset9", "torch._weights_only_unpickler", "torch.utils.collect_env",
    "torch._functorch", "torch.distributed._composable", "torch.cuda.comm", "torch.distributed._tensor", "torch.distributed.algorithms",
    "torch.distributed.checkpoint", "torch.distributed.constants", "torch.distributed.device_mesh",
    "torch.distributed.fsdp", "torch.distributed.optim", "torch.distributed.tensor", "torch.distributed.utils",
    "torch.distributed._functional_collectives", "torch.distributed.launcher", "torch.distributed.nn",
    "torch.distributed.pipelining", "torch.distributed.rpc", "torch.distributed.autograd", "torch.distributed.run", "torch._dynamo.backends", "torch._inductor.compile_fx", "torch._inductor.utils", "torch._higher_order_ops",
    "torch._custom_ops", "torch._dynamo.utils", "torch.utils.model_zoo", "torch.fx.experimental", "torch.fx.operator_schemas", "torch.fx.passes", "torch.nn.attention.flex_attention", "torch.onnx._internal", "torch.utils.flop_counter", "torch.utils._sympy", "torch.export", "torch.onnx.symbolic_opset11", "torch.onnx.operators", "torch.ao.quantization",
    "torch.utils._python_dispatch", "torch._guards", "torch._prims_common", "torch._decomp", "torch._ops", "torch._refs", "torch.classes", "torch.cuda._memory_viz", "torch._C._distributed_c10d",
)  # fmt: skip
"""Modules whose names are all such that programs may import them, and that raise when they are called."""

NAMED: dict[str, str] = {
    "torch": "TensorType SymInt SymBool SymFloat Stream Event ScriptObject ScriptModule PyTorchFileReader PyTorchFileWriter "
    "_nested_view_from_buffer _grouped_mm _scaled_mm qint8 qint32 quint8 quint4x2 sparse_csc_tensor",
    "torch.library": "wrap_triton get_ctx",
    "torch.nn.functional": "ScalingType SwizzleType grouped_mm scaled_mm",
    "torch.nn.attention": "activate_flash_attention_impl restore_flash_attention_impl",
    "torch.cuda": "Stream StreamContext Event CUDAGraph ExternalStream MemPool graph graph_pool_handle",
    "torch.cuda.streams": "Stream Event ExternalStream",
    "torch.distributed": (
        "DeviceMesh init_device_mesh FileStore GroupMember HashStore P2POp PrefixStore Store TCPStore all_gather_into_tensor all_to_all "
        "all_to_all_single batch_isend_irecv gather_object irecv isend monitored_barrier reduce_scatter_tensor "
        "scatter_object_list split_group new_subgroups"
    ),
    "torch.onnx": "ONNXProgram OnnxExporterError OperatorExportTypes export",
    "torch.jit": "_get_trace_graph",
    "torch.quantization": "quantize_dynamic",
    "functorch": "FunctionalModule FunctionalModuleWithBuffers",
    "torch.autograd.profiler": "EventList emit_nvtx emit_itt load_nvprof",
    "torch.fx": "ProxyableClassMeta",
    "torch._dynamo": "OptimizedModule",
    "torch._dynamo.eval_frame": "OptimizedModule",
    "torch._subclasses.fake_tensor": "FakeTensor FakeTensorMode",
    "torch._C": "ScriptObject ScriptModule ScriptMethod Graph Value",
}
"""Classes of torch that programs import, or derive from, and that raise when they are called; by their modules."""


def instead(path: str) -> str:
    """What to do about a module of torch that pullback has only for programs written for torch; of others nothing.

    >>> from pullback.compat.torch.places import instead
    >>> instead("torch.cuda"), instead("torch.crude")
    (': torch.cuda is for programs that say `import torch`: `pullback run script.py` runs them', '')
    """
    said = f": {path} is for programs that say `import torch`: `pullback run script.py` runs them"
    return said if path in PLACES else ""
