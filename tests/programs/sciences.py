"""Programs that use packages for signals, equations, time series, and statistics, written for torch."""

import numpy as np
import torch

from .frameworks import classes, small_network
from .packages import filled, numbers, program, trained


@program
def kb_nufft():
    import torchkbnufft as package

    image = torch.complex(numbers(1, 1, 8, 8), numbers(1, 1, 8, 8, seed=2))
    places = torch.from_numpy(np.random.default_rng(1).uniform(-np.pi, np.pi, (2, 20))).float()
    forward, back = package.KbNufft(im_size=(8, 8)), package.KbNufftAdjoint(im_size=(8, 8))
    points = forward(image, places)
    weights = package.calc_density_compensation_function(ktraj=places, im_size=(8, 8))
    again = back(points * weights, places)
    return [*torch.view_as_real(points).flatten().tolist(), *torch.view_as_real(again).flatten().tolist()]


@program
def medical_images():
    import torchio as tio

    subject = tio.Subject(
        a=tio.ScalarImage(tensor=numbers(1, 8, 9, 10)), b=tio.LabelMap(tensor=(numbers(1, 8, 9, 10, seed=2) > 0).int())
    )
    chain = tio.Compose(
        [tio.ToCanonical(), tio.Resample(1.5), tio.CropOrPad(6), tio.ZNormalization(), tio.RescaleIntensity((0, 1))]
    )
    moved = chain(subject)
    found = [float(moved.a.data.double().sum()), float(moved.b.data.double().sum()), *moved.spatial_shape]
    return found + [float(part.a.data.double().sum()) for part in tio.GridSampler(moved, 4, 1)]


@program
def spectra_of_sounds():
    import auraloss
    import julius
    from nnAudio import features

    wave, found = numbers(2, 4000), []
    for kind, options in (
        (features.STFT, {"n_fft": 256, "output_format": "Magnitude"}),
        (features.MelSpectrogram, {"n_fft": 256, "sr": 4000, "n_mels": 16}),
        (features.MFCC, {"n_fft": 256, "sr": 4000, "n_mfcc": 8, "n_mels": 16}),
        (features.CQT1992v2, {"sr": 4000, "fmin": 100, "n_bins": 24}),
        (features.Gammatonegram, {"n_fft": 256, "sr": 4000, "n_bins": 16}),
    ):
        found.append(float(kind(**options, verbose=False)(wave).double().square().sum()))
    for way in (
        lambda x: julius.resample_frac(x, 4, 3),
        lambda x: julius.lowpass_filter(x, 0.1),
        lambda x: julius.highpass_filter(x, 0.2),
        lambda x: julius.bandpass_filter(x, 0.1, 0.3),
        lambda x: julius.split_bands(x, 4000, n_bands=3),
        lambda x: julius.fft_conv1d(x[:, None], numbers(1, 1, 129, seed=3)),
    ):
        x = wave.clone().requires_grad_()
        y = way(x).square().sum()
        found += [y.item(), float(torch.autograd.grad(y, x)[0].double().square().sum())]
    a, b = wave[:, None], numbers(2, 1, 4000, seed=2)
    for loss in (
        auraloss.freq.STFTLoss(), auraloss.freq.MultiResolutionSTFTLoss(), auraloss.time.SISDRLoss(), auraloss.time.ESRLoss(),
        auraloss.time.LogCoshLoss(), auraloss.time.SNRLoss(), auraloss.freq.MelSTFTLoss(4000, n_mels=16),
    ):  # fmt: skip
        x = a.clone().requires_grad_()
        value = loss(x, b)
        value.backward()
        found += [value.item(), float(x.grad.double().square().sum())]
    return found


@program
def neural_operators():
    from neuralop.losses import H1Loss, LpLoss
    from neuralop.models import FNO, TFNO

    x, y, found = numbers(2, 1, 16, 16), numbers(2, 1, 16, 16, seed=2), []
    for model in (
        FNO(n_modes=(4, 4), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2),
        TFNO(n_modes=(4, 4), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2, rank=0.5),
    ):
        filled(model)
        for loss in (LpLoss(d=2), H1Loss(d=2)):
            found += trained(model, lambda model=model, loss=loss: loss(model(x), y), 2)
    return found


@program
def equations_deepxde():
    import os

    os.environ["DDE_BACKEND"] = "pytorch"
    import deepxde as dde

    interval = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(
        interval,
        lambda x, y: dde.grad.hessian(y, x) + np.pi**2 * torch.sin(np.pi * x),
        dde.icbc.DirichletBC(interval, lambda x: 0 * x, lambda _, edge: edge),
        16,
        2,
        train_distribution="uniform",
        num_test=10,
    )
    model = dde.Model(data, filled(dde.nn.FNN([1, 16, 16, 1], "tanh", "Glorot uniform")))
    model.compile("adam", lr=1e-3)
    history, _ = model.train(iterations=5, display_every=1, verbose=0)
    return [float(each) for row in history.loss_train for each in row] + model.predict(
        np.ones((2, 1)) / 2
    ).ravel().tolist()


@program
def equations_neurodiffeq():
    from neurodiffeq import diff
    from neurodiffeq.conditions import IVP
    from neurodiffeq.generators import Generator1D
    from neurodiffeq.networks import FCNN
    from neurodiffeq.solvers import Solver1D

    torch.set_default_dtype(torch.float32)
    network = filled(FCNN(hidden_units=(8, 8)))
    spaced = Generator1D(16, 0.0, 2.0, method="equally-spaced")
    solver = Solver1D(
        ode_system=lambda u, t: [diff(u, t, order=2) + u],
        conditions=[IVP(0.0, 1.0, 0.0)],
        t_min=0.0,
        t_max=2.0,
        nets=[network],
        train_generator=spaced,
        valid_generator=spaced,
    )
    solver.fit(max_epochs=4, tqdm_file=None)
    return [*solver.metrics_history["train_loss"], *solver.metrics_history["valid_loss"]]


@program
def inference_by_simulation():
    from sbi.inference import SNPE
    from sbi.neural_nets import posterior_nn
    from torch.distributions import MultivariateNormal

    prior = MultivariateNormal(torch.zeros(2), torch.eye(2))
    theta = numbers(40, 2)
    x = theta + 0.1 * numbers(40, 2, seed=2)
    inference = SNPE(prior=prior, density_estimator=posterior_nn("maf", hidden_features=8, num_transforms=2))
    estimator = inference.append_simulations(theta, x).train(max_num_epochs=2, training_batch_size=10)
    posterior = inference.build_posterior(estimator)
    samples = posterior.sample((5,), x=x[:1], show_progress_bars=False)
    from sbi.neural_nets.net_builders import build_maf, build_mdn, build_nsf

    found = [*samples.shape]
    for build in (build_mdn, build_nsf):
        torch.manual_seed(0)
        model = filled(build(theta, x, hidden_features=8))
        found += trained(model, lambda model=model: model.loss(theta, x).mean(), 2)
    assert build_maf
    return found


@program
def bayesian_layers():
    from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss
    from blitz.modules import BayesianLinear, BayesianLSTM

    model = small_network()
    dnn_to_bnn(
        model,
        {
            "prior_mu": 0.0, "prior_sigma": 1.0, "posterior_mu_init": 0.0, "posterior_rho_init": -3.0,
            "type": "Reparameterization", "moped_enable": False, "moped_delta": 0.5,
        },
    )  # fmt: skip
    filled(model)
    found = [float(get_kl_loss(model).detach())]
    layer = filled(BayesianLinear(4, 2))
    layer.freeze = True
    x = numbers(3, 4)
    recurrent = filled(BayesianLSTM(4, 3))
    recurrent.freeze = True
    found += trained(layer, lambda: layer.forward_frozen(x).square().mean(), 2)
    return [*found, *recurrent(numbers(2, 5, 4))[0].shape]


@program
def curvatures():
    from backpack import backpack, extend, extensions
    from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator, KFACLinearOperator

    x, y = numbers(8, 4), classes(8)
    model, loss = extend(small_network()), extend(torch.nn.CrossEntropyLoss())
    ways = [extensions.BatchGrad(), extensions.Variance(), extensions.SumGradSquared(), extensions.BatchL2Grad()]
    ways += [
        extensions.DiagGGNExact(),
        extensions.DiagHessian(),
        extensions.KFLR(),
        extensions.KFRA(),
        extensions.SqrtGGNExact(),
    ]
    with backpack(*ways):
        loss(model(x), y).backward()
    found = []
    for p in model.parameters():
        names = ("grad_batch", "variance", "sum_grad_squared", "batch_l2", "diag_ggn_exact", "diag_h")
        found += [float(getattr(p, name).double().square().sum()) for name in names]
        found += [float(part.double().square().sum()) for part in (*p.kflr, *p.kfra)]
    model = small_network()
    weights = [*model.parameters()]
    size = sum(p.numel() for p in weights)
    v = numbers(size, seed=6)
    for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
        operator = kind(model, torch.nn.CrossEntropyLoss(), weights, [(x, y)])
        found += (operator @ v).flatten().tolist()
    operator = KFACLinearOperator(model, torch.nn.MSELoss(), weights, [(x, numbers(8, 2))], fisher_type="type-2")
    return found + (operator @ v).flatten().tolist()


@program
def minimizers():
    from torchmin import least_squares, minimize, minimize_constr

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    start, found = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64), []
    for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact", "dogleg"):
        result = minimize(rosenbrock, start, method=method, max_iter=30)
        found += [float(result.fun), *result.x.tolist()]
    result = minimize_constr(rosenbrock, start, constr={"fun": lambda x: x.square().sum(), "ub": 1}, max_iter=20)
    found += result.x.tolist()
    return found + least_squares(lambda x: torch.stack([x[0] - 1, 10 * (x[1] - x[0] ** 2)]), start[:2]).x.tolist()


@program
def segment_anything_decoder():
    from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, TwoWayTransformer

    image = filled(
        ImageEncoderViT(
            img_size=32, patch_size=8, embed_dim=16, depth=2, num_heads=2, out_chans=8, use_rel_pos=True, window_size=2,
            global_attn_indexes=(1,),
        )
    )  # fmt: skip
    prompt = PromptEncoder(embed_dim=8, image_embedding_size=(4, 4), input_image_size=(32, 32), mask_in_chans=4)
    prompt.pe_layer.positional_encoding_gaussian_matrix.copy_(numbers(2, 4, seed=5))
    filled(prompt)
    decoder = filled(
        MaskDecoder(
            num_multimask_outputs=3, transformer=TwoWayTransformer(depth=1, embedding_dim=8, mlp_dim=16, num_heads=2),
            transformer_dim=8, iou_head_depth=2, iou_head_hidden_dim=8,
        )
    )  # fmt: skip
    sparse, dense = prompt(points=(numbers(1, 2, 2) * 5 + 10, torch.ones(1, 2)), boxes=None, masks=None)

    def loss():
        masks, scores = decoder(
            image_embeddings=image(numbers(1, 3, 32, 32)),
            image_pe=prompt.get_dense_pe(),
            sparse_prompt_embeddings=sparse.detach(),
            dense_prompt_embeddings=dense.detach(),
            multimask_output=True,
        )
        return masks.square().mean() + scores.square().mean()

    return trained(torch.nn.ModuleList([image, decoder]), loss, 2)


@program
def flows_of_equations():
    from torchdyn.core import NeuralODE
    from torchode import AutoDiffAdjoint, Dopri5, InitialValueProblem, IntegralController, ODETerm

    f = filled(torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))
    x, found = numbers(3, 2), []
    times = torch.linspace(0, 1, 4)
    term = ODETerm(lambda t, y: f(y))
    step = Dopri5(term=term)
    solver = AutoDiffAdjoint(step, IntegralController(atol=1e-6, rtol=1e-3, term=term))
    solution = solver.solve(InitialValueProblem(y0=x, t_eval=times.repeat(3, 1)))
    found += [*solution.ys.detach().flatten().tolist(), *solution.stats["n_steps"].tolist()]
    for way in ("autograd", "adjoint"):
        model = NeuralODE(f, sensitivity=way, solver="rk4")
        found += trained(f, lambda model=model: model(x, times)[1].square().mean(), 2)
    return found


@program
def wavelets():
    import ptwt
    import pywt
    from pytorch_wavelets import DTCWTForward, DWTForward, DWTInverse

    x, found = numbers(2, 64), []
    for name in ("haar", "db4", "sym5"):
        parts = ptwt.wavedec(x, pywt.Wavelet(name), mode="reflect", level=3)
        found += [float(part.double().square().sum()) for part in parts]
        found.append(float((ptwt.waverec(parts, pywt.Wavelet(name)) - x).abs().max() < 1e-4))
    image = numbers(1, 1, 32, 32).requires_grad_()
    found += [float(part.double().square().sum()) for part in ptwt.wavedec2(image, "db2", level=1)[1]]
    low, high = DWTForward(J=2, wave="db3", mode="zero")(image)
    again = DWTInverse(wave="db3", mode="zero")((low, high))
    found += [
        float(again.detach().double().square().sum()),
        *torch.autograd.grad(again.square().sum(), image)[0][0, 0, 0].tolist(),
    ]
    low, high = DTCWTForward(J=2)(image)
    found += [float(part.detach().double().square().sum()) for part in (low, *high)]
    return found


@program
def optimal_transport():
    import ot
    from geomloss import SamplesLoss

    a, b = numbers(8, 2).double().requires_grad_(), numbers(6, 2, seed=2).double()
    found = []
    weights = [torch.full((size,), 1 / size, dtype=torch.float64) for size in (8, 6)]
    for way in (
        lambda: ot.emd2(*weights, ot.dist(a, b)),
        lambda: ot.sinkhorn2(*weights, ot.dist(a, b), 0.5),
        lambda: ot.gromov_wasserstein2(ot.dist(a, a), ot.dist(b, b), *weights),
        lambda: ot.sliced_wasserstein_distance(a, b, projections=numbers(2, 5, seed=3).double()),
        lambda: ot.unbalanced.sinkhorn_unbalanced2(*weights, ot.dist(a, b), 0.5, 1.0),
        lambda: SamplesLoss("sinkhorn", p=2, blur=0.1, backend="tensorized")(a, b),
        lambda: SamplesLoss("energy", backend="tensorized")(a, b),
        lambda: SamplesLoss("gaussian", blur=0.5, backend="tensorized")(a, b),
    ):
        value = way().sum()
        found += [value.item(), float(torch.autograd.grad(value, a)[0].square().sum())]
    return found


@program
def layers_of_optimizations():
    from qpth.qp import QPFunction

    root = numbers(4, 4).double()
    square, p = (root @ root.T + torch.eye(4).double()).requires_grad_(), numbers(4, seed=2).double().requires_grad_()
    limits, bounds = numbers(3, 4, seed=3).double(), torch.ones(3, dtype=torch.float64)
    none = torch.empty(0, dtype=torch.float64)
    x = QPFunction(verbose=-1)(square, p, limits, bounds, none, none)
    return [*x.detach().flatten().tolist(), *torch.autograd.grad(x.square().sum(), p)[0].tolist()]


@program
def quantum_circuits():
    import pennylane as qml

    device = qml.device("default.qubit", wires=2)

    @qml.qnode(device, interface="torch", diff_method="backprop")
    def circuit(inputs, weights):
        qml.AngleEmbedding(inputs, wires=range(2))
        qml.StronglyEntanglingLayers(weights, wires=range(2))
        return [qml.expval(qml.PauliZ(wire)) for wire in range(2)]

    layer = qml.qnn.TorchLayer(circuit, {"weights": (2, 2, 3)})
    model = filled(torch.nn.Sequential(torch.nn.Linear(3, 2), layer, torch.nn.Linear(2, 1)))
    x = numbers(4, 3)
    return trained(model, lambda: model(x).square().mean())


@program
def tensor_decompositions():
    import tensorly as tl
    from tensorly.decomposition import parafac, tensor_train, tucker
    from tensorly.metrics import RMSE

    tl.set_backend("pytorch")
    x = numbers(4, 5, 6).double().requires_grad_()
    found = []
    for parts in (
        parafac(x, 3, init="svd", n_iter_max=5),
        tucker(x, [2, 2, 2], n_iter_max=5),
        tensor_train(x, [1, 2, 2, 1]),
    ):
        again = parts.to_tensor()
        value = RMSE(again, x)
        found += [value.item(), float(torch.autograd.grad(value, x)[0].square().sum())]
    return found


@program
def counts_of_operations():
    from ptflops import get_model_complexity_info
    from torchinfo import summary

    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4)
    )
    operations, weights = get_model_complexity_info(
        model, (3, 8, 8), as_strings=False, print_per_layer_stat=False, backend="pytorch"
    )
    told = summary(model, (2, 3, 8, 8), verbose=0)
    return [operations, weights, told.total_params, told.total_mult_adds]


@program
def explanations_of_images():
    from pytorch_grad_cam import EigenCAM, GradCAM, GradCAMPlusPlus, LayerCAM, ScoreCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    model = filled(
        torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3),
            torch.nn.ReLU(),
            torch.nn.Conv2d(4, 4, 3),
            torch.nn.Flatten(),
            torch.nn.Linear(64, 3),
        )
    )
    found = []
    for kind in (GradCAM, GradCAMPlusPlus, LayerCAM, EigenCAM, ScoreCAM):
        with kind(model=model, target_layers=[model[2]]) as way:
            found += way(input_tensor=numbers(1, 3, 8, 8), targets=[ClassifierOutputTarget(1)]).ravel().tolist()
    return found


@program
def graphs_of_knowledge():
    from pykeen.models import ComplEx, DistMult, RotatE, TransE
    from pykeen.triples import TriplesFactory

    rows = np.array([["a", "likes", "b"], ["b", "knows", "c"], ["c", "likes", "a"], ["a", "knows", "c"]])
    triples, found = TriplesFactory.from_labeled_triples(rows), []
    for kind in (TransE, DistMult, ComplEx, RotatE):
        model = filled(kind(triples_factory=triples, embedding_dim=4, random_seed=0))
        found += trained(model, lambda model=model: model.score_hrt(triples.mapped_triples).square().mean(), 2)
        found += model.score_t(triples.mapped_triples[:, :2]).detach().flatten().tolist()
    return found


@program
def forecasts():
    from chronos.chronos import ChronosConfig  # noqa: F401  # importing it is part of the program
    from gluonts.torch.model.deepar.module import DeepARModel
    from neuralforecast.models import NHITS

    model = filled(
        DeepARModel(
            freq="D", context_length=4, prediction_length=2, num_feat_dynamic_real=1, num_feat_static_real=1,
            num_feat_static_cat=1, cardinality=[2], embedding_dimension=[2], hidden_size=8, num_layers=1, dropout_rate=0.0,
            lags_seq=[1, 2],
        )
    )  # fmt: skip
    past = model._past_length
    inputs = (
        torch.zeros(2, 1, dtype=torch.long),
        numbers(2, 1),
        numbers(2, past, 1),
        numbers(2, past),
        torch.ones(2, past),
    )
    found = trained(
        model, lambda: model.loss(*inputs, numbers(2, 2, 1, seed=2), numbers(2, 2, seed=3), torch.ones(2, 2)).mean()
    )
    deep = filled(
        NHITS(h=2, input_size=8, max_steps=1, mlp_units=3 * [[8, 8]], scaler_type="identity", accelerator="cpu")
    )
    batch = {
        "insample_y": numbers(3, 8, 1),
        "insample_mask": torch.ones(3, 8, 1),
        "futr_exog": None,
        "hist_exog": None,
        "stat_exog": None,
    }
    return found + trained(deep, lambda: deep(batch).square().mean())


@program
def series_of_tsai():
    from tsai.models.InceptionTime import InceptionTime
    from tsai.models.PatchTST import PatchTST
    from tsai.models.TCN import TCN
    from tsai.models.TST import TST
    from tsai.models.XceptionTime import XceptionTime

    x, found = numbers(3, 2, 16), []
    for model in (
        InceptionTime(2, 3, nf=4),
        TCN(2, 3, layers=[4, 4], fc_dropout=0.0),
        TST(2, 3, 16, d_model=8, n_heads=2, d_ff=8, n_layers=1, dropout=0.0),
        XceptionTime(2, 3, nf=4),
    ):
        filled(model)
        found += trained(model, lambda model=model: model(x).square().mean(), 2)
    model = filled(
        PatchTST(2, 3, 16, pred_dim=4, patch_len=4, stride=2, d_model=8, n_heads=2, d_ff=8, n_layers=1, dropout=0.0)
    )
    return found + trained(model, lambda: model(x).square().mean(), 2)


@program
def torchtune_layers():
    from torchtune.models.llama3 import llama3, lora_llama3
    from torchtune.modules.loss import CEWithChunkedOutputLoss

    options = {"vocab_size": 20, "num_layers": 2, "num_heads": 4, "num_kv_heads": 2, "embed_dim": 16, "max_seq_len": 16}
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 20, (2, 8)))
    model = filled(llama3(**options, intermediate_dim=32))
    found = trained(model, lambda: torch.nn.functional.cross_entropy(model(ids).transpose(1, 2), ids))
    low = filled(lora_llama3(["q_proj", "v_proj"], **options, intermediate_dim=32, lora_rank=2, lora_alpha=4))
    assert CEWithChunkedOutputLoss
    return found + trained(low, lambda: torch.nn.functional.cross_entropy(low(ids).transpose(1, 2), ids))


@program
def atoms():
    from schnetpack.nn import GaussianRBF
    from schnetpack.representation import PaiNN, SchNet
    from torchani import AEVComputer

    found = []
    inputs = {
        "_atomic_numbers": torch.tensor([8, 1, 1]),
        "_Rij": numbers(6, 3),
        "_idx_i": torch.tensor([0, 0, 1, 1, 2, 2]),
        "_idx_j": torch.tensor([1, 2, 0, 2, 0, 1]),
    }
    from schnetpack.nn import CosineCutoff

    for kind in (SchNet, PaiNN):
        model = filled(kind(8, 2, GaussianRBF(6, 3.0), CosineCutoff(3.0)))
        found += trained(model, lambda model=model: model(dict(inputs))["scalar_representation"].square().mean(), 2)
    assert AEVComputer
    return found


@program
def tables_of_rtdl():
    from rtdl_revisiting_models import MLP, FTTransformer, ResNet

    x, found = numbers(6, 4), []
    found += _square(MLP(d_in=4, d_out=1, n_blocks=2, d_block=8, dropout=0.0), x)
    found += _square(
        ResNet(
            d_in=4, d_out=1, n_blocks=2, d_block=8, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.0, dropout2=0.0
        ),
        x,
    )
    model = FTTransformer(
        n_cont_features=4, cat_cardinalities=[3], d_out=1, n_blocks=1, d_block=8, attention_n_heads=2,
        attention_dropout=0.0, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.0, residual_dropout=0.0,
    )  # fmt: skip
    return found + _square(model, x, classes(6, 3)[:, None])


def _square(model, *inputs):
    """Two steps that lower a model's mean square."""
    return trained(filled(model), lambda: model(*inputs).square().mean(), 2)


@program
def preferences_of_trl():
    from transformers import GPT2Config, GPT2LMHeadModel
    from trl.trainer.utils import entropy_from_logits, selective_log_softmax

    model = filled(GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=16, n_layer=1, n_head=2, n_positions=16))).eval()
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 20, (4, 8)))

    def loss():
        logits = model(ids).logits[:, :-1]
        told = selective_log_softmax(logits, ids[:, 1:]).sum(1)
        return (
            -torch.nn.functional.logsigmoid(0.1 * (told[:2] - told[2:])).mean()
            + 0.01 * entropy_from_logits(logits).mean()
        )

    return trained(model, loss)


@program
def adapters_of_transformers():
    import adapters
    from transformers import BertConfig, BertModel

    model = BertModel(
        BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    )
    adapters.init(model)
    model.add_adapter("a", config="seq_bn")
    model.train_adapter("a")
    filled(model).eval()
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 20, (2, 8)))
    return trained(model, lambda: model(ids).last_hidden_state.square().mean())


@program
def physics_of_xitorch():
    import xitorch
    from xitorch import linalg, optimize

    a = (numbers(4, 4) @ numbers(4, 4).mT + torch.eye(4)).double().requires_grad_()
    operator = xitorch.LinearOperator.m(a, is_hermitian=True)
    values, _ = linalg.symeig(operator, neig=2)
    solved = linalg.solve(operator, torch.ones(4, 1, dtype=torch.float64))
    found = [*values.detach().tolist(), *solved.detach().flatten().tolist()]
    found.append(float(torch.autograd.grad(values.sum() + solved.sum(), a)[0].square().sum()))
    root = optimize.rootfinder(
        lambda y, b: y**3 - b, torch.ones(2, dtype=torch.float64), params=(torch.tensor([2.0, 3.0]).double(),)
    )
    return found + root.tolist()
