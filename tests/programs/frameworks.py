"""Programs that use frameworks written for torch: training loops, containers of tensors, reinforcement learning, Bayesian networks."""

import numpy as np
import torch

from .packages import filled, numbers, program, trained


def small_network():
    """A network of two layers for rows of four numbers and two classes."""
    return filled(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))


def classes(count, kinds=2):
    """Labels."""
    return torch.from_numpy(np.random.default_rng(3).integers(0, kinds, count))


@program
def sentence_transformers_encode():
    import tempfile
    from pathlib import Path

    from sentence_transformers import SentenceTransformer, losses, models, util
    from transformers import BertConfig, BertModel, BertTokenizer

    with tempfile.TemporaryDirectory() as folder:
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"the cat sat on a mat dog ran far".split()]
        Path(folder, "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        config = BertConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37
        )
        filled(BertModel(config)).save_pretrained(folder)
        BertTokenizer(str(Path(folder, "vocab.txt"))).save_pretrained(folder)
        words = models.Transformer(folder, max_seq_length=16)
    size = words.get_word_embedding_dimension()
    model = SentenceTransformer(modules=[words, models.Pooling(size), filled(models.Dense(size, 8))], device="cpu")
    texts = ["the cat sat on a mat", "a dog ran far", "the dog sat"]
    found = model.encode(texts, convert_to_tensor=True, normalize_embeddings=True)
    features = [model.tokenize(part) for part in (texts, texts[::-1])]
    loss = losses.CosineSimilarityLoss(model)
    words.eval()
    return util.cos_sim(found, found).flatten().tolist() + trained(
        loss, lambda: loss([dict(each) for each in features], torch.tensor([0.1, 0.9, 0.1])), 2
    )


@program
def fastai_learner():
    from fastai.callback.schedule import fit_one_cycle  # noqa: F401  # a method of Learner
    from fastai.data.core import DataLoaders
    from fastai.data.load import DataLoader
    from fastai.layers import ConvLayer, SelfAttention
    from fastai.learner import Learner
    from fastai.losses import LabelSmoothingCrossEntropy
    from fastai.metrics import accuracy

    x, y = numbers(24, 4), classes(24)
    rows = [*zip(x, y, strict=True)]
    loaders = DataLoaders(DataLoader(rows, bs=8), DataLoader(rows, bs=8))
    learner = Learner(loaders, small_network(), torch.nn.CrossEntropyLoss(), metrics=accuracy)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(2, 1e-2)
        found = [*learner.recorder.values[-1], *(float(p.double().square().sum()) for p in learner.model.parameters())]
        found += learner.validate()
    layers = filled(torch.nn.Sequential(ConvLayer(3, 8), SelfAttention(8), torch.nn.Flatten(), torch.nn.Linear(128, 2)))
    images = numbers(2, 3, 4, 4)
    return found + trained(layers, lambda: LabelSmoothingCrossEntropy()(layers(images), torch.tensor([0, 1])))


@program
def monai_networks():
    from monai.data import DataLoader, Dataset, MetaTensor
    from monai.inferers import sliding_window_inference
    from monai.losses import DiceCELoss, DiceLoss, FocalLoss
    from monai.metrics import DiceMetric
    from monai.networks.nets import UNETR, SegResNet, UNet
    from monai.transforms import Compose, Flip, NormalizeIntensity, Resize, ScaleIntensity, Zoom

    x = MetaTensor(numbers(1, 12, 10), affine=torch.eye(4), meta={"name": "made up"})
    chain = Compose([ScaleIntensity(), Resize((8, 8)), Flip(0), Zoom(1.2), NormalizeIntensity()])
    moved = chain(x)
    found = [*moved.flatten().tolist(), *moved.affine.flatten().tolist(), len(moved.applied_operations)]
    data = Dataset([{"a": numbers(1, 8, 8, seed=seed)} for seed in range(4)])
    found += [float(batch["a"].sum()) for batch in DataLoader(data, batch_size=2)]
    target = (numbers(2, 1, 32, 32, seed=4) > 0).float()
    image = numbers(2, 1, 32, 32)
    made = {
        UNet: {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "channels": (4, 8), "strides": (2,)},
        SegResNet: {"spatial_dims": 2, "in_channels": 1, "out_channels": 1, "init_filters": 8},
        UNETR: {
            "in_channels": 1, "out_channels": 1, "img_size": 32, "spatial_dims": 2, "feature_size": 4, "hidden_size": 12,
            "mlp_dim": 16, "num_heads": 2,
        },
    }  # fmt: skip
    for kind, options in made.items():
        model = filled(kind(**options))
        for loss in (DiceLoss(sigmoid=True), DiceCELoss(sigmoid=True), FocalLoss()):
            found += trained(model, lambda model=model, loss=loss: loss(model(image), target), 1)
        model.eval()
        with torch.no_grad():
            found.append(float(sliding_window_inference(numbers(1, 1, 40, 40), 32, 2, model).double().square().sum()))
    metric = DiceMetric()
    metric(y_pred=(image > 0).float(), y=target)
    return [*found, float(metric.aggregate())]


@program
def ignite_engine():
    from ignite.contrib.handlers import ProgressBar  # noqa: F401  # importing it is part of the program
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import EMAHandler, LRScheduler, TerminateOnNan
    from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, RunningAverage

    model = small_network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = create_supervised_trainer(model, optimizer, torch.nn.CrossEntropyLoss())
    RunningAverage(output_transform=lambda value: value).attach(trainer, "loss")
    found = []
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    trainer.add_event_handler(Events.EPOCH_STARTED, LRScheduler(torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)))
    EMAHandler(model, momentum=0.1).attach(trainer, name="momentum", event=Events.ITERATION_COMPLETED)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: found.append(engine.state.metrics["loss"]))
    x, y = numbers(24, 4), classes(24)
    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    trainer.run(rows, max_epochs=3)
    metrics = {"a": Accuracy(), "l": Loss(torch.nn.CrossEntropyLoss()), "p": Precision(), "c": ConfusionMatrix(2)}
    state = create_supervised_evaluator(model, metrics).run(rows)
    return found + [
        float(value) for name in metrics for value in np.ravel(np.asarray(state.metrics[name], dtype=float))
    ]


@program
def tensordict_modules():
    from tensordict import MemoryMappedTensor, TensorDict, tensorclass
    from tensordict.nn import TensorDictModule, TensorDictSequential

    data = TensorDict({"a": numbers(3, 4), "b": {"c": numbers(3, 2, seed=2)}}, batch_size=[3])
    model = TensorDictSequential(
        TensorDictModule(filled(torch.nn.Linear(4, 2)), in_keys=["a"], out_keys=["h"]),
        TensorDictModule(lambda h, c: h * c, in_keys=["h", ("b", "c")], out_keys=["out"]),
    )

    @tensorclass
    class Pair:
        x: torch.Tensor
        y: torch.Tensor

    pair = torch.stack([Pair(x=numbers(2), y=numbers(2, seed=2), batch_size=[]) for _ in range(2)])
    found = [
        float(pair.x.sum()),
        float((pair + 1).y.sum()),
        *data.view(-1)[1:].apply(torch.exp)["a"].flatten().tolist(),
    ]
    both = torch.cat([data, data])
    found += [both.shape[0], float(both["b", "c"].sum()), float(data.flatten_keys(".")["b.c"].sum())]
    found.append(float(MemoryMappedTensor.from_tensor(numbers(3)).sum()))
    weights = TensorDict.from_module(model)
    with weights.apply(lambda w: w * 2).to_module(model):
        found.append(float(model(data)["out"].detach().sum()))
    return found + trained(model, lambda: model(data)["out"].square().mean())


@program
def torchrl_losses():
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.modules import MLP, NormalParamExtractor, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss, DQNLoss
    from torchrl.objectives.value import GAE

    def rows(count=6):
        more = {"observation": numbers(count, 3, seed=2), "reward": numbers(count, 1, seed=3)}
        more.update({name: torch.zeros(count, 1, dtype=torch.bool) for name in ("done", "terminated")})
        return TensorDict({"observation": numbers(count, 3), "next": TensorDict(more, [count])}, [count])

    value = QValueActor(filled(MLP(3, 2, num_cells=[8])), in_keys=["observation"], action_space="categorical")
    loss = DQNLoss(value, action_space="categorical", delay_value=False)
    data = rows().set("action", classes(6))
    found = trained(loss, lambda: loss(data)["loss"])
    actor = TensorDictModule(
        torch.nn.Sequential(filled(MLP(3, 4, num_cells=[8])), NormalParamExtractor()), ["observation"], ["loc", "scale"]
    )
    policy = ProbabilisticActor(actor, in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True)
    critic = ValueOperator(filled(MLP(3, 1, num_cells=[8])), in_keys=["observation"])
    data = rows().set("action", numbers(6, 2, seed=4).tanh())
    data["action_log_prob"] = numbers(6, seed=5)
    GAE(gamma=0.9, lmbda=0.9, value_network=critic)(data)
    found += data["advantage"].flatten().tolist()
    clipped = ClipPPOLoss(policy, critic, entropy_bonus=False)
    found += trained(clipped, lambda: sum(value for name, value in clipped(data).items() if name.startswith("loss")))
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(10), batch_size=4)
    buffer.extend(rows())
    return [*found, len(buffer), *buffer.sample().shape]


@program
def laplace_posterior():
    from laplace import Laplace

    x, y = numbers(20, 4), classes(20)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)
    found = []
    for subset, structure in (("last_layer", "full"), ("last_layer", "kron"), ("all", "diag"), ("all", "full")):
        model = small_network()
        posterior = Laplace(model, "classification", subset_of_weights=subset, hessian_structure=structure)
        posterior.fit(loader)
        posterior.optimize_prior_precision(method="marglik", n_steps=3)
        found += [
            float(posterior.log_marginal_likelihood()),
            *posterior(x[:3], link_approx="probit").flatten().tolist(),
        ]
    return found


@program
def spikingjelly_network():
    from spikingjelly.activation_based import functional, layer, neuron, surrogate

    model = filled(
        torch.nn.Sequential(
            layer.Conv2d(1, 4, 3, padding=1),
            neuron.IFNode(surrogate_function=surrogate.ATan()),
            layer.Flatten(),
            layer.Linear(64, 8),
            neuron.LIFNode(tau=2.0, surrogate_function=surrogate.Sigmoid()),
            layer.Linear(8, 2),
        )
    )
    with torch.no_grad():
        for each in model.parameters():
            each.mul_(10)
    x = numbers(3, 1, 4, 4)

    def loss():
        functional.reset_net(model)
        return torch.nn.functional.cross_entropy(sum(model(x) for _ in range(4)), torch.tensor([0, 1, 0]))

    single = trained(model, loss)
    functional.reset_net(model)
    functional.set_step_mode(model, "m")
    return single + model(x.expand(4, *x.shape)).detach().flatten().tolist()


@program
def forecasting_transformer():
    import pandas as pd
    from pytorch_forecasting import GroupNormalizer, NBeats, TemporalFusionTransformer, TimeSeriesDataSet
    from pytorch_forecasting.metrics import QuantileLoss

    draw = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "time": np.tile(np.arange(24), 2),
            "group": np.repeat(["a", "b"], 24),
            "value": draw.random(48) + 1,
            "more": draw.random(48),
        }
    )
    common = {
        "time_idx": "time",
        "target": "value",
        "group_ids": ["group"],
        "max_encoder_length": 8,
        "max_prediction_length": 4,
    }
    data = TimeSeriesDataSet(
        table,
        **common,
        static_categoricals=["group"],
        time_varying_known_reals=["more"],
        time_varying_unknown_reals=["value"],
        target_normalizer=GroupNormalizer(groups=["group"]),
    )
    x, y = next(iter(data.to_dataloader(train=False, batch_size=8)))
    loss = QuantileLoss()
    model = filled(TemporalFusionTransformer.from_dataset(data, hidden_size=8, attention_head_size=2, dropout=0.0))
    found = trained(model, lambda: loss.loss(model(x)["prediction"], y[0]).mean())
    plain = TimeSeriesDataSet(table, **common, time_varying_unknown_reals=["value"], min_encoder_length=8)
    x, y = next(iter(plain.to_dataloader(train=False, batch_size=8)))
    beats = filled(NBeats.from_dataset(plain, widths=[8, 8], num_blocks=[1, 1], num_block_layers=[1, 1], dropout=0.0))
    return found + trained(beats, lambda: (beats(x)["prediction"][..., 0] - y[0]).square().mean())


@program
def torchopt_meta():
    import torchopt

    model = small_network()
    x, y = numbers(6, 4), classes(6)
    optimizer = torchopt.MetaAdam(model, lr=0.1)
    found = []
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.step(loss)
        found.append(loss.item())
    weights = {name: p.detach().clone().requires_grad_() for name, p in small_network().named_parameters()}
    way = torchopt.rmsprop(lr=0.05)
    state = way.init(weights)
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
        grads = dict(zip(weights, torch.autograd.grad(loss, [*weights.values()]), strict=True))
        updates, state = way.update(grads, state, inplace=False)
        weights = torchopt.apply_updates(weights, updates, inplace=False)
        found.append(loss.item())
    return found


@program
def fairscale_layers():
    from fairscale.nn import Pipe, checkpoint_wrapper
    from fairscale.optim import AdaScale

    model = small_network()
    wrapped = torch.nn.Sequential(checkpoint_wrapper(model[0]), model[1], model[2])
    x, y = numbers(6, 4), classes(6)
    assert Pipe and AdaScale
    return trained(wrapped, lambda: torch.nn.functional.cross_entropy(wrapped(x), y))


@program
def torch_pruning_graph():
    import torch_pruning as tp

    model = filled(
        torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8, 6, 3),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            torch.nn.Linear(6, 3),
        )
    )
    x = numbers(2, 1, 8, 8)
    before = tp.utils.count_ops_and_params(model, x)
    importance = tp.importance.MagnitudeImportance(p=2)
    tp.pruner.MagnitudePruner(model, x, importance=importance, pruning_ratio=0.5, ignored_layers=[model[6]]).step()
    after = tp.utils.count_ops_and_params(model, x)
    return [*before, *after, *model(x).detach().flatten().tolist()]


@program
def norse_neurons():
    import norse.torch as norse

    model = norse.SequentialState(
        filled(torch.nn.Linear(4, 8)), norse.LIFCell(), filled(torch.nn.Linear(8, 2)), norse.LICell()
    )
    x = numbers(6, 3, 4) * 10

    def loss():
        state, total = None, 0
        for row in x:
            out, state = model(row, state)
            total = total + out.square().mean()
        return total

    return trained(model, loss)


@program
def torchbnn_layers():
    import torchbnn as bnn

    model = torch.nn.Sequential(bnn.BayesLinear(0, 0.1, 4, 8), torch.nn.ReLU(), bnn.BayesLinear(0, 0.1, 8, 2))
    filled(model)
    for layer in (model[0], model[2]):
        layer.freeze()
        for name in ("weight_eps", "bias_eps"):
            setattr(layer, name, numbers(*getattr(layer, name).shape))
    x, y = numbers(6, 4), classes(6)
    divergence = bnn.BKLLoss(reduction="mean", last_layer_only=False)
    return trained(model, lambda: torch.nn.functional.cross_entropy(model(x), y) + 0.1 * divergence(model).sum())
