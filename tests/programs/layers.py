"""Programs that use packages of layers, losses, optimizers and transforms written for torch."""

import inspect

import numpy as np
import torch

from .packages import filled, numbers, program, trained


def tokens(*shape, kinds=20, seed=5):
    """Whole numbers."""
    return torch.from_numpy(np.random.default_rng(seed).integers(0, kinds, shape))


def learned(model, *inputs, count=3):
    """The losses and the norms of gradients of a model's mean square."""
    return trained(filled(model), lambda: model(*inputs).square().mean(), count)


@program
def linformer_layers():
    from linformer import Linformer, LinformerLM

    texts = filled(LinformerLM(num_tokens=20, dim=16, seq_len=12, depth=2, heads=2, k=4, share_kv=True))
    ids = tokens(2, 12)
    return learned(
        Linformer(dim=16, seq_len=12, depth=2, heads=2, k=4, one_kv_head=True), numbers(2, 12, 16)
    ) + trained(texts, lambda: torch.nn.functional.cross_entropy(texts(ids).transpose(1, 2), ids))


@program
def performer_layers():
    from performer_pytorch import Performer, PerformerLM

    def fixed(model):
        draw = np.random.default_rng(7)
        for name, buffer in sorted(model.named_buffers()):
            if name.endswith("projection_matrix"):
                buffer.copy_(torch.from_numpy(draw.standard_normal(tuple(buffer.shape))))
        return model

    model = fixed(Performer(dim=16, depth=2, heads=2, dim_head=8, nb_features=12))
    texts = fixed(
        filled(PerformerLM(num_tokens=20, dim=16, max_seq_len=12, depth=1, heads=2, dim_head=8, nb_features=12))
    )
    ids = tokens(2, 12)
    return learned(model, numbers(2, 12, 16)) + trained(
        texts, lambda: torch.nn.functional.cross_entropy(texts(ids).transpose(1, 2), ids)
    )


@program
def reformer_layers():
    from reformer_pytorch import LSHAttention, Reformer

    model = Reformer(dim=16, depth=2, heads=2, bucket_size=4, n_hashes=1, full_attn_thres=64, ff_chunks=2)
    found = learned(model, numbers(2, 16, 16).requires_grad_())  # without it a reversible layer has no gradient
    out, *_ = LSHAttention(bucket_size=4, n_hashes=2, causal=True)(numbers(2, 16, 8), numbers(2, 16, 8, seed=2))
    return [*found, *out.shape]


@program
def asteroid_filters():
    from asteroid_filterbanks import STFTFB, Decoder, Encoder, FreeFB, ParamSincFB
    from asteroid_filterbanks.transforms import mag, mul_c

    wave, found = numbers(2, 1, 400), []
    for bank in (filled(FreeFB(16, 32, 16)), STFTFB(32, 32, 16), ParamSincFB(16, 33, 16)):
        encoder = Encoder(bank)
        found.append(float(encoder(wave).detach().double().square().sum()))
    encoder, decoder = Encoder(STFTFB(32, 32, 16)), Decoder(STFTFB(32, 32, 16))
    spectrum = encoder(wave)
    return [
        *found,
        *mag(spectrum)[0, 1, :5].tolist(),
        float(decoder(mul_c(spectrum, spectrum)).double().square().sum()),
    ]


@program
def optimizers_of_a_package():
    import pytorch_optimizer as package

    found = []
    left_out = set("alig bsam lomo adalomo demo distributedmuon muon adamuon adago".split())
    left_out |= set("adahessian alice gravity magma".split())  # they draw at random
    left_out |= set("soap splus".split())  # they turn by eigenvectors of singular matrices, which are any
    for name in sorted(package.get_supported_optimizers()):
        kind = package.load_optimizer(name)
        if name in left_out or "closure" in inspect.signature(kind.__init__).parameters:
            continue
        torch.manual_seed(0)
        model = filled(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))
        options = {"num_iterations": 10} if "num_iterations" in inspect.signature(kind.__init__).parameters else {}
        try:
            optimizer = kind(model.parameters(), **options)
            for _ in range(3):
                optimizer.zero_grad()
                loss = model(numbers(6, 4)).square().mean()
                loss.backward(create_graph=name in {"adahessian", "sophiah"})
                optimizer.step(lambda loss=loss: loss)
            found.append(sum(float(p.detach().double().square().sum()) for p in model.parameters()))
        except Exception as error:  # noqa: BLE001  # those that need more than this, on both sides the same
            found.append(len(type(error).__name__))
    return found


@program
def vector_quantizers():
    from vector_quantize_pytorch import FSQ, LFQ, ResidualFSQ, VectorQuantize

    x, found = numbers(2, 10, 8), []
    model = VectorQuantize(dim=8, codebook_size=16, commitment_weight=1.0)
    with torch.no_grad():
        model._codebook.embed.copy_(numbers(*model._codebook.embed.shape, seed=4))
        model._codebook.embed_avg.copy_(model._codebook.embed)
    for _ in range(2):
        out, places, loss = model(x)
        found += [float(out.detach().double().sum()), *places.flatten().tolist(), float(loss)]
    out, places = FSQ([8, 5, 5])(numbers(2, 10, 3))
    found += [*out.flatten().tolist(), *places.flatten().tolist()]
    out, places, extra = LFQ(dim=4, codebook_size=16)(numbers(2, 10, 4))
    found += [*places.flatten().tolist(), float(extra.detach())]
    out, places = filled(ResidualFSQ(dim=8, levels=[8, 5, 5], num_quantizers=2))(x)
    return [*found, float(out.detach().double().sum()), *places.flatten().tolist()]


@program
def x_transformers_layers():
    from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, XTransformer

    found, ids = [], tokens(2, 12)
    kinds = [
        {"rotary_pos_emb": True, "ff_glu": True, "use_rmsnorm": True},
        {"alibi_pos_bias": True, "attn_qk_norm": True, "ff_relu_squared": True},
        {"rel_pos_bias": True, "sandwich_norm": True},
        {"attn_num_mem_kv": 2, "macaron": True, "shift_tokens": 1},
    ]
    for options in kinds:
        layers = Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **options)
        model = filled(AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=layers)))
        found += trained(model, lambda model=model: model(ids), 2)
        found += model.generate(ids[:, :3], 4, temperature=0.0).flatten().tolist()
    both = XTransformer(
        dim=16, enc_num_tokens=20, enc_depth=1, enc_heads=2, enc_max_seq_len=12, dec_num_tokens=20, dec_depth=1,
        dec_heads=2, dec_max_seq_len=12,
    )  # fmt: skip
    found += trained(filled(both), lambda: both(ids, ids), 2)
    return found + learned(Encoder(dim=16, depth=1, heads=2), numbers(2, 5, 16))


@program
def lucidrains_attentions():
    from egnn_pytorch import EGNN
    from local_attention import LocalAttention
    from local_attention.transformer import LocalTransformer
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
    from tab_transformer_pytorch import FTTransformer, TabTransformer

    found, ids = [], tokens(2, 16)
    q, k, v = (numbers(2, 3, 16, 8, seed=seed) for seed in (1, 2, 3))
    local = LocalAttention(dim=8, window_size=4, causal=True, look_backward=1)
    found += local(q, k, v).flatten().tolist()[:20]
    rotary = RotaryEmbedding(dim=8)
    found += rotary.rotate_queries_or_keys(q).flatten().tolist()[:20]
    found.append(float(apply_rotary_emb(rotary.get_axial_freqs(4, 4).flatten(0, 1), numbers(2, 16, 16)).detach().sum()))
    texts = filled(LocalTransformer(num_tokens=20, dim=16, depth=2, max_seq_len=16, local_attn_window_size=4, heads=2))
    found += trained(texts, lambda: texts(ids, return_loss=True), 2)
    graph = filled(EGNN(dim=8))
    features, places = numbers(1, 5, 8), numbers(1, 5, 3, seed=2)
    found += trained(graph, lambda: sum(part.square().mean() for part in graph(features, places)), 2)
    for kind, more in (
        (TabTransformer, {"dim_out": 1, "mlp_hidden_mults": (2,), "mlp_act": torch.nn.ReLU()}),
        (FTTransformer, {"dim_out": 1}),
    ):
        model = kind(categories=(4, 3), num_continuous=2, dim=8, depth=1, heads=2, **more)
        found += learned(model, tokens(5, 2, kinds=3), numbers(5, 2), count=2)
    return found


@program
def averages_and_lion():
    from ema_pytorch import EMA
    from lion_pytorch import Lion

    model = filled(torch.nn.Linear(4, 2))
    average = EMA(model, beta=0.9, update_after_step=0, update_every=1)
    optimizer, found = Lion(model.parameters(), lr=1e-2, weight_decay=0.1), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(numbers(3, 4)).square().mean()
        loss.backward()
        optimizer.step()
        average.update()
        found.append(loss.item())
    return found + average(numbers(3, 4)).detach().flatten().tolist()


@program
def denoising_network():
    from denoising_diffusion_pytorch import GaussianDiffusion, Unet, Unet1D

    network = filled(Unet(dim=8, dim_mults=(1, 2), flash_attn=False))
    process = GaussianDiffusion(network, image_size=8, timesteps=10, objective="pred_v")
    x, noise = numbers(2, 3, 8, 8), numbers(2, 3, 8, 8, seed=2)
    found = trained(process, lambda: process.p_losses(x, torch.tensor([2, 7]), noise=noise), 2)
    return found + learned(
        Unet1D(dim=8, dim_mults=(1, 2), channels=3), numbers(2, 3, 16), torch.tensor([1, 3]), count=2
    )


@program
def metric_learning_losses():
    from pytorch_metric_learning import distances, losses, miners, reducers

    x, y, found = numbers(12, 6), tokens(12, kinds=3), []
    plain = (
        losses.TripletMarginLoss, losses.ContrastiveLoss, losses.NTXentLoss, losses.SupConLoss, losses.CircleLoss,
        losses.MultiSimilarityLoss, losses.LiftedStructureLoss, losses.SignalToNoiseRatioContrastiveLoss,
        losses.TupletMarginLoss, losses.GeneralizedLiftedStructureLoss, losses.IntraPairVarianceLoss, losses.FastAPLoss,
    )  # fmt: skip
    weighted = (
        losses.ArcFaceLoss,
        losses.CosFaceLoss,
        losses.ProxyAnchorLoss,
        losses.ProxyNCALoss,
        losses.NormalizedSoftmaxLoss,
    )
    made = [kind() for kind in plain] + [filled(kind(3, 6)) for kind in weighted]
    made.append(
        losses.TripletMarginLoss(distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0))
    )
    for loss in made:
        e = x.clone().requires_grad_()
        value = loss(e, y)
        value.backward()
        found += [value.item(), float(e.grad.double().square().sum())]
    for miner in (
        miners.MultiSimilarityMiner(),
        miners.BatchHardMiner(),
        miners.TripletMarginMiner(type_of_triplets="all"),
    ):
        found += [float(part.sum()) for part in miner(x, y)]
    return found


@program
def tabnet_network():
    from pytorch_tabnet.tab_model import TabNetClassifier, TabNetRegressor
    from pytorch_tabnet.tab_network import TabNet

    model = filled(TabNet(4, 2, n_d=4, n_a=4, n_steps=2, virtual_batch_size=8, group_attention_matrix=torch.eye(4)))
    x = numbers(16, 4)
    found = trained(model, lambda: sum(part.square().mean() for part in model(x)))
    rows = x.numpy().astype("float64")
    for kind, target in ((TabNetClassifier, (rows.sum(1) > 0).astype(int)), (TabNetRegressor, rows[:, :1])):
        learner = kind(n_d=4, n_a=4, n_steps=2, verbose=0, seed=0)
        learner.fit(rows, target, max_epochs=2, batch_size=8, virtual_batch_size=4)
        found.append(learner.predict(rows).size)
    return found


@program
def qualities_of_images():
    import piq
    from pytorch_msssim import MS_SSIM, SSIM

    a, b = (numbers(2, 3, 176, 176, seed=seed).sigmoid() for seed in (1, 2))
    a, b = (torch.nn.functional.avg_pool2d(each, 5, 1, 2) for each in (a, b))
    found = []
    ways = [SSIM(data_range=1.0), MS_SSIM(data_range=1.0)]
    ways += [piq.ssim, piq.multi_scale_ssim, piq.vif_p, piq.fsim, piq.gmsd, piq.multi_scale_gmsd, piq.haarpsi, piq.mdsi]
    ways += [piq.srsim, piq.dss, piq.psnr]  # of vsi, the gradient at one pixel depends on the last digit
    for way in ways:
        x = a.clone().requires_grad_()
        value = way(x, b).mean()
        value.backward()
        found += [value.item(), float(x.grad.double().square().sum())]
    return [*found, float(piq.total_variation(a))]


@program
def segmentation_networks():
    import segmentation_models_pytorch as package

    found, x = [], numbers(2, 3, 32, 32).double()
    off = {package.FPN: {"decoder_dropout": 0.0}, package.PSPNet: {"psp_dropout": 0.0}}
    off[package.DeepLabV3Plus] = {"decoder_aspp_dropout": 0.0}
    for kind in (package.Unet, package.FPN, package.Linknet, package.PSPNet, package.DeepLabV3Plus, package.MAnet):
        model = filled(kind("resnet18", encoder_weights=None, classes=2, **off.get(kind, {}))).double()
        target = tokens(2, 32, 32, kinds=2)
        loss = package.losses.DiceLoss("multiclass")
        found += trained(model, lambda model=model, loss=loss, target=target: loss(model(x), target), 1, 1e-3)
    scores = package.metrics.get_stats(
        tokens(2, 8, 8, kinds=2), tokens(2, 8, 8, kinds=2, seed=6), "multiclass", num_classes=2
    )
    return [*found, float(package.metrics.iou_score(*scores, reduction="micro"))]


@program
def clip_networks():
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    model = filled(
        CLIP(
            16,
            CLIPVisionCfg(layers=2, width=32, head_width=16, patch_size=8, image_size=16),
            CLIPTextCfg(context_length=8, vocab_size=20, width=16, heads=2, layers=2),
        )
    )
    images, texts = numbers(3, 3, 16, 16), tokens(3, 8)
    return trained(model, lambda: ClipLoss()(*model(images, texts)))


@program
def efficient_network():
    from efficientnet_pytorch import EfficientNet

    model = filled(
        EfficientNet.from_name("efficientnet-b0", num_classes=3, drop_connect_rate=0, dropout_rate=0)
    ).double()
    x = numbers(2, 3, 32, 32).double()
    return trained(model, lambda: torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 2])), 2, 1e-3)
