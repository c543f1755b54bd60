"""Programs that use packages written for torch: each gives numbers that are the same under torch and under pullback.

Weights, data and labels come from NumPy's generators, so that nothing depends on torch's random numbers.
"""

import numpy as np
import torch

# torchvision of PyPI is compiled for another torch than that of CPUs, which refuses to import it without these.
for _name in ("nms", "qnms"):
    torch.library.define(f"torchvision::{_name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

PROGRAMS = {}


def program(function):
    """A program, under its name."""
    PROGRAMS[function.__name__] = function
    return function


def numbers(*shape, seed=1):
    """Normal numbers."""
    return torch.from_numpy(np.asarray(np.random.default_rng(seed).standard_normal(shape), "float32"))


def filled(model):
    """A module whose parameters are small normal numbers, in the order of their names."""
    draw = np.random.default_rng(0)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = np.asarray(draw.standard_normal(tuple(parameter.shape)) * 0.1, "float32")
            parameter.copy_(torch.from_numpy(values).to(parameter.dtype))
    return model


def trained(model, loss, count=3, lr=1e-2):
    """The losses and the norms of gradients in some steps of Adam."""
    optimizer, found = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(count):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        squares = [float((p.grad.double() ** 2).sum()) for p in model.parameters() if p.grad is not None]
        found += [value.item(), sum(squares) ** 0.5]
        optimizer.step()
    return found


@program
def diffusers_unet():
    from diffusers import UNet2DModel

    m = filled(
        UNet2DModel(
            sample_size=8,
            in_channels=3,
            out_channels=3,
            layers_per_block=1,
            block_out_channels=(8, 16),
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
            norm_num_groups=4,
            attention_head_dim=4,
        )
    )
    x = numbers(2, 3, 8, 8)
    return trained(m, lambda: (m(x, torch.tensor([3, 7])).sample - x).square().mean())


@program
def diffusers_condunet():
    from diffusers import UNet2DConditionModel

    m = filled(
        UNet2DConditionModel(
            sample_size=8,
            in_channels=4,
            out_channels=4,
            layers_per_block=1,
            block_out_channels=(8, 16),
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
            cross_attention_dim=16,
            norm_num_groups=4,
            attention_head_dim=4,
        )
    )
    x = numbers(2, 4, 8, 8)
    return trained(
        m,
        lambda: (
            (m(x, torch.tensor([3, 7]), encoder_hidden_states=numbers(2, 5, 16, seed=2)).sample - x).square().mean()
        ),
    )


@program
def diffusers_vae():
    from diffusers import AutoencoderKL

    m = filled(
        AutoencoderKL(
            block_out_channels=(8, 16),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            norm_num_groups=4,
            latent_channels=4,
        )
    )
    x = numbers(2, 3, 16, 16)
    return trained(m, lambda: (m(x).sample - x).square().mean())


@program
def diffusers_schedulers():
    import diffusers as d

    out = []
    for n in "DDIMScheduler PNDMScheduler EulerDiscreteScheduler HeunDiscreteScheduler DPMSolverMultistepScheduler UniPCMultistepScheduler LMSDiscreteScheduler DEISMultistepScheduler DPMSolverSinglestepScheduler".split():
        s = getattr(d, n)()
        s.set_timesteps(5)
        x = numbers(1, 3, 4, 4) * s.init_noise_sigma
        for t in s.timesteps:
            x = s.step(0.1 * s.scale_model_input(x, t), t, x).prev_sample
        out.append(float(x.double().sum()))
    return out


@program
def torchmetrics_25():
    import torchmetrics as tm
    import torchmetrics.functional as nnf

    p = numbers(40, 5).softmax(1)
    y = torch.from_numpy(np.random.default_rng(2).integers(0, 5, 40))
    b = numbers(40, seed=3).sigmoid()
    yb = torch.from_numpy(np.random.default_rng(4).integers(0, 2, 40))
    a, c = (numbers(40, seed=5), numbers(40, seed=6))
    im, jm = (numbers(2, 3, 32, 32, seed=7).sigmoid(), numbers(2, 3, 32, 32, seed=8).sigmoid())
    k = {"task": "multiclass", "num_classes": 5}
    part = {"task": "binary"}
    out = [
        nnf.accuracy(p, y, **k),
        nnf.f1_score(p, y, average="macro", **k),
        nnf.precision(p, y, **k),
        nnf.recall(p, y, **k),
        nnf.confusion_matrix(p, y, **k).float().std(),
        nnf.auroc(p, y, **k),
        nnf.average_precision(p, y, **k),
        nnf.cohen_kappa(p, y, **k),
        nnf.matthews_corrcoef(p, y, **k),
        nnf.calibration_error(p, y, **k),
        nnf.jaccard_index(p, y, **k),
        nnf.auroc(b, yb, **part),
        nnf.accuracy(b, yb, **part),
        nnf.hinge_loss(b, yb, **part),
        nnf.specificity(b, yb, **part),
        nnf.mean_squared_error(a, c),
        nnf.mean_absolute_error(a, c),
        nnf.r2_score(a, c),
        nnf.pearson_corrcoef(a, c),
        nnf.spearman_corrcoef(a, c),
        nnf.explained_variance(a, c),
        nnf.cosine_similarity(a[None], c[None]),
        nnf.kl_divergence(p, p.flip(0)),
        nnf.structural_similarity_index_measure(im, jm),
        nnf.peak_signal_noise_ratio(im, jm),
        nnf.total_variation(im),
        nnf.signal_noise_ratio(a, c),
        nnf.concordance_corrcoef(a, c),
        nnf.tweedie_deviance_score(a.exp(), c.exp(), power=1.5),
    ]
    m = tm.MetricCollection([tm.Accuracy(**k), tm.F1Score(**k)])
    for i in range(4):
        m.update(p[i * 10 : i * 10 + 10], y[i * 10 : i * 10 + 10])
    return [float(o) for o in out] + [float(v) for v in m.compute().values()]


@program
def pyg_convs():
    import torch_geometric.nn as g

    out = []
    e = torch.from_numpy(np.random.default_rng(3).integers(0, 10, (2, 30)))
    x = numbers(10, 6)
    for n, k in {
        "GCNConv": {},
        "SAGEConv": {},
        "GATConv": {"heads": 2},
        "GATv2Conv": {"heads": 2},
        "GraphConv": {},
        "ChebConv": {"K": 3},
        "TAGConv": {},
        "SGConv": {},
        "TransformerConv": {"heads": 2},
        "ARMAConv": {},
    }.items():
        m = filled(getattr(g, n)(6, 4, **k))
        out += trained(m, lambda m=m: m(x, e).square().mean(), 2)
    b = torch.tensor([0] * 4 + [1] * 6)
    out += [float(f(x, b).sum()) for f in (g.global_mean_pool, g.global_max_pool, g.global_add_pool)]
    return out


@program
def pyg_gcn_training():
    import torch.nn.functional as nnf
    import torch_geometric.nn as g
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader

    ds = [
        Data(
            x=numbers(5 + i, 4, seed=i),
            edge_index=torch.from_numpy(np.random.default_rng(i).integers(0, 5 + i, (2, 12))),
            y=torch.tensor([i % 2]),
        )
        for i in range(6)
    ]

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = g.GCNConv(4, 8)
            self.b = g.GINConv(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()))
            self.c = torch.nn.Linear(8, 2)

        def forward(self, d):
            h = self.a(d.x, d.edge_index).relu()
            h = self.b(h, d.edge_index)
            return self.c(g.global_mean_pool(h, d.batch))

    m = filled(Net())
    bs = list(DataLoader(ds, batch_size=6))
    return trained(m, lambda: nnf.cross_entropy(m(bs[0]), bs[0].y), 5)


def _lit(lit):

    class Model(lit.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = filled(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
            self.log_ = []

        def training_step(self, b, i):
            part = (self.net(b[0]) - b[1]).square().mean()
            self.log("loss", part)
            self.log_.append(float(part.detach()))
            return part

        def validation_step(self, b, i):
            self.log("val", (self.net(b[0]) - b[1]).square().mean())

        def configure_optimizers(self):
            o = torch.optim.AdamW(self.parameters(), 0.01)
            return ([o], [torch.optim.lr_scheduler.StepLR(o, 1)])

    m = Model()
    d = torch.utils.data.TensorDataset(numbers(32, 4), numbers(32, 1, seed=2))
    t = lit.Trainer(
        max_epochs=3,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=0.5,
    )
    t.fit(m, torch.utils.data.DataLoader(d, 8), torch.utils.data.DataLoader(d, 8))
    return [*m.log_, float(t.callback_metrics["val"])]


@program
def pytorch_lightning_trainer():
    import logging

    logging.getLogger("pytorch_lightning").setLevel(50)
    import pytorch_lightning as lit

    return _lit(lit)


@program
def lightning_trainer():
    import logging

    logging.getLogger("lightning.pytorch").setLevel(50)
    import lightning as lit

    return _lit(lit)


@program
def accelerate_loop():
    from accelerate import Accelerator

    a = Accelerator(cpu=True)
    m = filled(torch.nn.Linear(4, 1))
    o = torch.optim.SGD(m.parameters(), 0.1)
    d = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(numbers(16, 4), numbers(16, 1, seed=2)), 4)
    m, o, d = a.prepare(m, o, d)
    out = []
    for x, y in d:
        with a.accumulate(m):
            o.zero_grad()
            part = (m(x) - y).square().mean()
            a.backward(part)
            a.clip_grad_norm_(m.parameters(), 1.0)
            o.step()
            out.append(part.item())
    return [*out, float(a.unwrap_model(m).weight.sum())]


@program
def peft_lora():
    from peft import LoraConfig, get_peft_model
    from transformers import GPT2Config, GPT2LMHeadModel

    m = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=50, n_embd=16, n_layer=1, n_head=2, n_positions=32, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
        )
    )
    m = get_peft_model(m, LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True))
    filled(m)
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 50, (2, 8)))
    o = trained(m, lambda: m(input_ids=ids, labels=ids).loss)
    return [*o, float(m.merge_and_unload()(input_ids=ids).logits.double().sum())]


@program
def pyro_svi():
    import pyro
    import pyro.distributions as dist
    from pyro.infer import SVI, Trace_ELBO

    pyro.clear_param_store()
    x = numbers(20) + 2

    def model(x):
        m = pyro.sample("m", dist.Normal(torch.tensor(0.0), torch.tensor(10.0)))
        with pyro.plate("d", len(x)):
            pyro.sample("x", dist.Normal(m, 1.0), obs=x)

    def guide(x):
        pyro.sample("m", dist.Delta(pyro.param("loc", torch.tensor(0.5))))

    s = SVI(model, guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
    return [float(s.step(x)) for _ in range(5)] + [float(pyro.param("loc").detach())]


@program
def pyro_autoguide():
    import pyro
    import pyro.distributions as dist
    from pyro.infer import SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoDelta

    pyro.clear_param_store()
    x = numbers(20).exp()

    def model(x):
        a = pyro.sample("a", dist.LogNormal(torch.tensor(0.0), torch.tensor(1.0)))
        b = pyro.sample("b", dist.Gamma(torch.tensor(2.0), torch.tensor(1.0)))
        with pyro.plate("d", len(x)):
            pyro.sample("x", dist.Gamma(a, b), obs=x)

    g = AutoDelta(model, init_loc_fn=pyro.infer.autoguide.init_to_mean)
    s = SVI(model, g, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
    return [float(s.step(x)) for _ in range(5)]


@program
def gpytorch_exact():
    import gpytorch as g

    class Model(g.models.ExactGP):
        def __init__(self, x, y, part):
            super().__init__(x, y, part)
            self.mean_module = g.means.ConstantMean()
            self.covar_module = g.kernels.ScaleKernel(g.kernels.RBFKernel())

        def forward(self, x):
            return g.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x = torch.linspace(0, 1, 15)
    y = (6 * x).sin()
    part = g.likelihoods.GaussianLikelihood()
    m = Model(x, y, part)
    m.train()
    part.train()
    ml = g.mlls.ExactMarginalLogLikelihood(part, m)
    o = trained(m, lambda: -ml(m(x), y), 4, lr=0.1)
    m.eval()
    part.eval()
    with torch.no_grad():
        p = part(m(torch.linspace(0, 1, 7)))
    return o + p.mean.tolist() + p.variance.tolist()


@program
def gpytorch_kernels():
    import gpytorch as g

    x = numbers(6, 2)
    out = []
    for k in (
        g.kernels.MaternKernel(2.5),
        g.kernels.PeriodicKernel(),
        g.kernels.RQKernel(),
        g.kernels.LinearKernel(),
        g.kernels.PolynomialKernel(2),
        g.kernels.CosineKernel(),
    ):
        out += trained(k, lambda k=k: k(x).to_dense().square().mean(), 2)
    return out


@program
def botorch_fit():
    import gpytorch
    from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement, UpperConfidenceBound
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP

    torch.set_default_dtype(torch.float64)
    try:
        x = torch.from_numpy(np.random.default_rng(1).random((12, 2)))
        y = (6 * x).sin().sum(1, keepdim=True)
        m = SingleTaskGP(x, y)
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(m.likelihood, m))
        z = torch.from_numpy(np.random.default_rng(2).random((5, 1, 2))).requires_grad_()
        out = []
        for a in (ExpectedImprovement(m, y.max()), UpperConfidenceBound(m, 0.2), LogExpectedImprovement(m, y.max())):
            v = a(z)
            out += v.tolist() + torch.autograd.grad(v.sum(), z)[0].flatten().tolist()
        return out
    finally:
        torch.set_default_dtype(torch.float32)


@program
def captum_attributions():
    from captum.attr import (
        Deconvolution,
        DeepLift,
        FeatureAblation,
        GuidedBackprop,
        InputXGradient,
        IntegratedGradients,
        LayerGradCam,
        Occlusion,
        Saliency,
    )

    m = filled(
        torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3 * 16, 4))
    )
    x = numbers(2, 1, 6, 6)
    kinds = [IntegratedGradients, Saliency, InputXGradient, DeepLift, GuidedBackprop, Deconvolution, FeatureAblation]
    ways = [*(kind(m) for kind in kinds), LayerGradCam(m, m[0])]
    out = [float(way.attribute(x.clone().requires_grad_(), target=1).double().square().sum()) for way in ways]
    out.append(float(Occlusion(m).attribute(x, target=1, sliding_window_shapes=(1, 2, 2)).double().sum()))
    return out


@program
def einops_layers():
    from einops import einsum, rearrange, reduce, repeat
    from einops.layers.torch import Rearrange, Reduce

    m = filled(
        torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3),
            Reduce("b c (h 2) (w 2) -> b c h w", "max"),
            Rearrange("b c h w -> b (c h w)"),
            torch.nn.Linear(36, 2),
        )
    )
    x = numbers(2, 3, 8, 8)
    return trained(
        m,
        lambda: (
            (m(x) - reduce(x, "b (c) h w -> b 1", "mean")).square().mean()
            + einsum(
                rearrange(x, "b c h w -> b c (h w)"), repeat(x[0, 0], "h w -> c (h w)", c=3), "b c n, c n -> b"
            ).mean()
            * 0
        ),
    )


@program
def geoopt_riemann():
    import geoopt

    p = geoopt.ManifoldParameter(torch.tensor([0.1, 0.2]), manifold=geoopt.PoincareBall())
    o = geoopt.optim.RiemannianAdam([p], lr=0.05)
    b = geoopt.PoincareBall()
    t = torch.tensor([-0.3, 0.4])
    out = []
    for _ in range(5):
        o.zero_grad()
        part = b.dist(p, t)
        part.backward()
        o.step()
        out.append(part.item())
    s = geoopt.ManifoldParameter(torch.eye(3)[:, :2] + 0, manifold=geoopt.Stiefel())
    o = geoopt.optim.RiemannianSGD([s], lr=0.05)
    a = numbers(3, 3)
    a = a @ a.T
    for _ in range(5):
        o.zero_grad()
        part = -torch.trace(s.T @ a @ s)
        part.backward()
        o.step()
        out.append(part.item())
    return out


@program
def torchdiffeq_ode():
    from torchdiffeq import odeint, odeint_adjoint

    f = filled(torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))

    class Field(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.n = f

        def forward(self, t, y):
            return self.n(y)

    m = Field()
    y = numbers(3, 2)
    t = torch.linspace(0, 1, 4)
    return (
        trained(m, lambda: odeint(m, y, t).square().mean())
        + trained(m, lambda: odeint_adjoint(m, y, t, method="dopri5").square().mean())
        + trained(m, lambda: odeint(m, y, t, method="rk4").square().mean())
    )


@program
def torchsde_ito():
    import torchsde

    class Noise(torch.nn.Module):
        noise_type = "diagonal"
        sde_type = "ito"

        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.b = torch.nn.Linear(2, 2)

        def f(self, t, y):
            return self.a(y)

        def g(self, t, y):
            return self.b(y).sigmoid() * 0

    m = filled(Noise())
    y = numbers(3, 2)
    return trained(
        m,
        lambda: (
            torchsde.sdeint(
                m,
                y,
                torch.linspace(0, 1, 3),
                dt=0.1,
                bm=torchsde.BrownianInterval(0.0, 1.0, size=(3, 2), entropy=1, levy_area_approximation="space-time"),
            )
            .square()
            .mean()
        ),
    )


@program
def skorch_classifier():
    from skorch import NeuralNetClassifier

    m = filled(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)))
    rows = np.asarray(np.random.default_rng(1).standard_normal((40, 4)), "float32")
    y = (rows.sum(1) > 0).astype("int64")
    n = NeuralNetClassifier(
        m,
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=4,
        lr=0.1,
        train_split=None,
        verbose=0,
        iterator_train__shuffle=False,
    )
    n.initialize()
    with torch.no_grad():
        filled(n.module_)
    n.partial_fit(rows, y)
    return [*list(n.history[:, "train_loss"]), float(n.score(rows, y))]


@program
def sb3_policy():
    from stable_baselines3 import PPO

    m = PPO("MlpPolicy", "CartPole-v1", n_steps=32, batch_size=16, n_epochs=1, seed=0)
    filled(m.policy)
    o = torch.from_numpy(np.asarray(np.random.default_rng(1).standard_normal((5, 4)), "float32"))
    d = m.policy.get_distribution(o)
    v, part, e = m.policy.evaluate_actions(o, torch.tensor([0, 1, 0, 1, 1]))
    return d.distribution.logits.flatten().tolist() + v.flatten().tolist() + part.tolist() + e.tolist()


@program
def sb3_learn_runs():
    from stable_baselines3 import A2C, DQN

    DQN("MlpPolicy", "CartPole-v1", learning_starts=20, seed=0).learn(60)
    A2C("MlpPolicy", "CartPole-v1", seed=0).learn(40)
    return [1.0]


@program
def opacus_dp():
    from opacus.grad_sample import GradSampleModule

    m = GradSampleModule(
        filled(
            torch.nn.Sequential(
                torch.nn.Conv1d(2, 3, 3),
                torch.nn.ReLU(),
                torch.nn.Flatten(),
                torch.nn.Linear(18, 4),
                torch.nn.LayerNorm(4),
            )
        )
    )
    x = numbers(5, 2, 8)
    part = m(x).square().sum()
    part.backward()
    return [float(p.grad_sample.double().square().sum()) for p in m.parameters()] + [
        float(p.grad.double().sum()) for p in m.parameters()
    ]


@program
def kornia_images():
    import kornia as k

    x = numbers(2, 3, 16, 16).sigmoid().requires_grad_()
    out = []
    for f in (
        lambda i: k.filters.gaussian_blur2d(i, (3, 3), (1.0, 1.0)),
        k.filters.sobel,
        k.color.rgb_to_hsv,
        k.color.rgb_to_lab,
        lambda i: k.geometry.rotate(i, torch.tensor([30.0, 45.0])),
        lambda i: k.geometry.resize(i, (8, 8)),
        lambda i: k.enhance.adjust_contrast(i, 0.7),
        lambda i: k.morphology.dilation(i, torch.ones(3, 3)),
    ):
        y = f(x)
        out += [float(y.detach().double().sum()), float(torch.autograd.grad(y.sum(), x)[0].double().square().sum())]
    return out


@program
def e3nn_tensor_product():
    from e3nn import o3

    m = filled(o3.FullyConnectedTensorProduct("2x0e+1x1o", "2x0e+1x1o", "2x0e+1x1o"))
    a, b = (numbers(4, 5), numbers(4, 5, seed=2))
    return (
        trained(m, lambda: m(a, b).square().mean())
        + o3.spherical_harmonics([0, 1, 2], numbers(3, 3), True).flatten().tolist()
    )


@program
def linear_operator_solves():
    import linear_operator as lo

    a = numbers(6, 6)
    a = (a @ a.T + 6 * torch.eye(6)).requires_grad_()
    part = lo.to_linear_operator(a)
    v = part.solve(numbers(6, seed=2)).sum() + part.logdet()
    v.backward()
    return [v.item(), float(a.grad.double().square().sum())]


@program
def transformers_pretrained():
    import tempfile

    from transformers import BertConfig, BertModel

    config = BertConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37)
    m = filled(BertModel(config)).eval()
    ids = torch.from_numpy(np.random.default_rng(2).integers(0, 99, (2, 7)))
    with tempfile.TemporaryDirectory() as folder:
        m.save_pretrained(folder)
        again = BertModel.from_pretrained(folder).eval()
    found = [float(model(ids).last_hidden_state.double().pow(2).sum()) for model in (m, again)]
    return [*found, float(again.embeddings.position_ids.sum())]


def _images(model, size, classes=5):
    """A classifier in training; in doubles, as batches of two images amplify each rounding."""
    x, y = numbers(2, 3, size, size).double(), torch.tensor([1, classes - 1])
    model = filled(model).train().double()
    return trained(model, lambda: torch.nn.functional.cross_entropy(model(x), y), 2, 1e-3)


@program
def torchvision_models():
    from torchvision import models

    found = _images(models.resnet18(num_classes=5), 64)
    found += _images(models.densenet._densenet(4, (2, 2), 8, None, False, num_classes=5, drop_rate=0), 64)
    found += _images(models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5), 32)
    found += _images(
        models.convnext._convnext(
            [models.convnext.CNBlockConfig(8, 16, 1), models.convnext.CNBlockConfig(16, None, 1)],
            0.0,
            None,
            False,
            num_classes=5,
        ),
        32,
    )
    mobile = models.mobilenet_v2(num_classes=5, width_mult=0.35, dropout=0.0)
    return found + _images(mobile, 64)


@program
def torchvision_transforms():
    from torchvision import ops, transforms, utils

    x = numbers(3, 20, 24).sigmoid()
    chain = transforms.Compose([
        transforms.Resize((16, 18), antialias=True), transforms.CenterCrop(14), transforms.Normalize([0.5] * 3, [0.2] * 3),
        transforms.GaussianBlur(3, 1.0), transforms.Grayscale(3),
    ])  # fmt: skip
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 6.0]])
    heads = [ops.box_iou(boxes, boxes), ops.generalized_box_iou(boxes, boxes), ops.box_convert(boxes, "xyxy", "cxcywh")]
    heads += [ops.sigmoid_focal_loss(numbers(4, 3), torch.ones(4, 3)), utils.make_grid([x, x], padding=1)]
    moved = transforms.functional.affine(x, 20.0, [1, 2], 1.1, [3.0])
    colours = [
        transforms.functional.adjust_hue(x, 0.2),
        transforms.functional.adjust_contrast(x, 1.5),
        transforms.functional.rotate(x, 90),
    ]
    return [float((each.double() ** 2).sum()) for each in (chain(x), moved, *colours, *heads)]


@program
def timm_models():
    import timm

    found = []
    small = {"num_classes": 5, "drop_rate": 0.0}
    found += _images(timm.create_model("resnet10t", **small), 64)
    found += _images(
        timm.create_model("vit_tiny_patch16_224", img_size=32, embed_dim=24, depth=2, num_heads=2, **small), 32
    )
    found += _images(timm.create_model("efficientnet_lite0", drop_path_rate=0.0, **small), 64)
    found += _images(timm.create_model("convnext_atto", drop_path_rate=0.0, **small), 64)
    found += _images(timm.create_model("mixer_s32_224", img_size=64, **small), 64)
    found += _images(timm.create_model("mobilenetv3_small_050", **small), 64)
    return found
