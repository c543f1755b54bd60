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
    **dict.fromkeys(("torch.amp", "torch.amp.autocast_mode", "torch.amp.grad_scaler"), f"{_HERE}.precision"),
    # compilers
    "torch.jit": f"{_HERE}.scripting:jit",
    "torch.jit.annotations": "typing",
    "torch.compiler": f"{_HERE}.scripting:compiler",
    "torch._dynamo": f"{_HERE}.scripting:dynamo",
    "torch._dynamo.config": f"{_HERE}.scripting:dynamo_config",
    "torch._inductor": f"{_HERE}.scripting:inductor",
    "torch._inductor.config": f"{_HERE}.scripting:inductor_config",
    # processes
    "torch.distributed": f"{_HERE}.collectives {_HERE}.collectives:absent",
    "torch.distributed.distributed_c10d": f"{_HERE}.collectives",
    "torch.multiprocessing": f"{_HERE}.processes:multiprocessing multiprocessing",
    **{
        f"torch.nn.parallel{name}": f"{_HERE}.processes"
        for name in ("", ".distributed", ".data_parallel", ".scatter_gather")
    },
    **dict.fromkeys(
        ("torch.distributed.tensor", "torch.distributed.optim", "torch.distributed.fsdp"),
        f"{_HERE}.collectives:absent",
    ),
    **dict.fromkeys(("torch.distributed.nn", "torch.distributed.nn.functional"), f"{_HERE}.collectives:absent"),
    **{
        f"torch.distributed.elastic{name}": f"{_HERE}.inner:elastic"
        for name in ("", ".multiprocessing", ".multiprocessing.errors")
    },
    "torch.futures": f"{_HERE}.futures",
    # private modules
    **dict.fromkeys(("torch._C", "torch._tensor", "torch._utils", "torch._vmap_internals"), f"{_HERE}.inner"),
    "torch._jit_internal": f"{_HERE}.inner typing",
    "torch.torch_version": f"{_HERE}.version",
    "torch.storage": "pullback._tensor.storages",
    # profilers
    **dict.fromkeys(("torch.profiler", "torch.autograd.profiler"), f"{_HERE}.profiling"),
    # other names of pullback's modules
    **{
        f"torch.distributions.{name}": "pullback.distributions"
        for name in (
            "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet exp_family exponential "
            "fishersnedecor gamma generalized_pareto geometric gumbel "
            "half_cauchy half_normal independent inverse_gamma kl kumaraswamy laplace lkj_cholesky log_normal "
            "logistic_normal lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal "
            "negative_binomial normal one_hot_categorical pareto poisson studentT "
            "transformed_distribution uniform von_mises weibull wishart"
        ).split()
    },
    **dict.fromkeys(
        ("torch.distributions.relaxed_bernoulli", "torch.distributions.relaxed_categorical"),
        "pullback.distributions pullback.distributions.relaxed",
    ),
    "torch.distributions.utils": f"{_HERE}.chances pullback.distributions.correlations",
    "torch.autograd": f"{_HERE}.autograd pullback.autograd",
    "torch.autograd.variable": "pullback.autograd",
    "torch.autograd.grad_mode": "pullback",
    "torch.autograd.gradcheck": "pullback.autograd",
    "torch.nn": f"{_HERE}.layers pullback.nn",
    "torch.nn.attention": f"{_HERE}.attention",
    "torch.nn.functional": f"pullback.nn.functional {_HERE}.overrides",
    "torch.overrides": f"{_HERE}.overrides",
    "torch.nn.modules.activation": "pullback.nn.modules.activation pullback.nn.modules.attention",
    "torch.nn.modules.linear": "pullback.nn.modules.linear pullback.nn.modules.attention",
    "torch.nn.modules.rnn": "pullback.nn.modules.recurrent",
    "torch.nn.modules.module": f"pullback.nn.modules.module {_HERE}.layers",
    "torch.nn.parameter": "pullback.nn.parameter pullback.nn.uninitialized",
    "torch.nn.modules.utils": f"{_HERE}.layers",
    "torch.nn.common_types": "typing",
    **dict.fromkeys(("torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm"), "pullback.nn.utils.norms"),
    "torch.utils._pytree": f"{_HERE}.containers",
    "torch.utils.hooks": "pullback._tape.node",
    "torch.utils.benchmark": f"{_HERE}.benchmark",
    "torch.utils.dlpack": f"{_HERE}.exchange",
    **{
        f"torch.utils.data.{name}": f"{_HERE}.sampling pullback.utils.data"
        for name in "dataset dataloader sampler distributed _utils _utils.collate".split()
    },
    "torch.utils.data": f"{_HERE}.sampling pullback.utils.data",
    "torch.utils.tensorboard": "tensorboardX",
    # modules that programs import but may never use
    **dict.fromkeys(
        ("torch.onnx", "torch.hub", "torch.utils.model_zoo", "torch.export", "torch.quantization", "torch.ao"), ""
    ),
    "torch.fx": f"{_HERE}.inner:fx",
    "torch.testing": f"{_HERE}.closeness {_HERE}.made pullback.testing",
}

_NO_NETWORK = "pullback downloads nothing: load weights from a file, with torch.load"

ABSENT: dict[str, str] = {
    "torch.utils.tensorboard": "it is the package tensorboardX here, which is not installed",
    "torch.hub": _NO_NETWORK,
    "torch.utils.model_zoo": _NO_NETWORK,
    "torch.onnx": "there is no export to ONNX",
    "torch.export": "there is no export of programs",
    "torch.fx": "programs are not rewritten as graphs",
    "torch.nested": "the rows of a tensor have one length: pad_sequence makes them so",
    "torch.quantization": "there are no quantized tensors",
    "torch.ao": "there are no quantized tensors",
    "torch.bfloat16": "NumPy has no bfloat16",
    "torch.utils.cpp_extension": "nothing is compiled from C++",
    "torch.distributed.rpc": "processes do not call each other's functions",
}
"""Names that do not exist, with the explanation for the error message, which also applies to names below them."""

COMPANIONS = {"torchvision", "torchaudio", "torchtext", "torchdata", "torchmetrics"}
