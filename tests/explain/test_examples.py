"""`explain.examples`: the parts add up to `.grad`, each is the example's own, and what has no parts is refused."""

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.explain import examples

F = nn.functional


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.attention, self.out = (
            nn.Embedding(9, 8),
            nn.MultiheadAttention(8, 2, batch_first=True),
            nn.Linear(8, 3),
        )

    def forward(self, x):
        h = self.table(x)
        return self.out(self.attention(h, h, h, need_weights=False)[0].mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


def scores(model, x, t):
    return F.cross_entropy(model(x), t)


def squares(model, x, t):
    return F.mse_loss(model(x)[:, 0], t.float())


NETWORKS = {
    "linear": (lambda: nn.Linear(4, 3), (4,), scores),
    "a sum": (lambda: nn.Linear(4, 3), (4,), lambda model, x, t: F.cross_entropy(model(x), t, reduction="sum")),
    "two layers": (lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)), (4,), scores),
    "a regression": (lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1)), (4,), squares),
    "layer norm": (lambda: nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.SiLU(), nn.Linear(8, 3)), (4,), scores),
    "batch norm, evaluated": (lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)).eval(), (4,), scores),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 3)), (1, 6, 6), scores,
    ),
    "group norm": (lambda: nn.Sequential(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4), nn.Flatten(), nn.Linear(12, 3)), (2, 5), scores),
    "recurrent": (Recurrent, (6, 4), scores),
    "attention": (Attending, None, scores),
}  # fmt: skip


def made(name, count=7):
    pullback.manual_seed(len(name))
    build, shape, loss = NETWORKS[name]
    x = pullback.randint(0, 9, (count, 5)) if shape is None else pullback.randn(count, *shape)
    return build(), loss, x, pullback.randint(0, 3, (count,))


@pytest.mark.parametrize("name", NETWORKS)
def test_parts_add_up_to_the_gradient_and_are_those_of_the_examples(name):
    model, loss, x, t = made(name)
    found = examples(model, loss, x, t, chunk=3)
    loss(model, x, t).backward()
    for key, parameter in model.named_parameters():
        grad = parameter.grad.numpy()
        np.testing.assert_allclose(found.of(key).sum(0), grad, atol=1e-6 * max(1, np.abs(grad).max()))
        np.testing.assert_allclose(found.whole[key], grad, atol=1e-6 * max(1, np.abs(grad).max()))
    model.zero_grad()
    loss(model, x[4:5], t[4:5]).backward()
    scale = 1 if name == "a sum" else 1 / 7
    for key, parameter in model.named_parameters():
        np.testing.assert_allclose(found.of(key)[4], parameter.grad.numpy() * scale, atol=1e-6)
    assert found.shares.sum() == pytest.approx(1, abs=1e-5)


def test_one_after_another_gives_the_same():
    model, loss, x, t = made("convolutions")
    one, other = (examples(model, loss, x, t, mode=mode) for mode in ("vmap", "each"))
    for key in one.parts:
        np.testing.assert_allclose(one.of(key), other.of(key), atol=1e-7)


def test_a_wrong_label_is_the_first_and_moved_its_weight():
    model, loss, x, t = made("two layers", 40)
    t = (x[:, 0] > 0).long()
    optimizer = pullback.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss(model, x, t).backward()
        optimizer.step()
    wrong = int(x[:, 0].argmax())
    t[wrong] = 2
    before = {key: each.grad.clone() for key, each in model.named_parameters()}
    found = examples(model, loss, x, t, parameters=["2.bias"])
    assert found.largest(1)[0].number == wrong
    assert found.at("2.bias", 2)[0].number == wrong
    assert found.at("2.bias", 2)[0].share > 0.9
    assert f"number {wrong} adds most to the gradient of 2.bias" in str(found)
    text = found.sheet().to_text(80)
    assert text.count("\n") > 20
    assert max(map(len, text.splitlines())) <= 80
    for key, each in model.named_parameters():
        np.testing.assert_array_equal(each.grad.numpy(), before[key].numpy())


def test_memory_is_bounded_by_the_chunk():
    model, loss, x, t = made("linear", 30)
    calls = []
    original = model.forward
    model.forward = lambda given: (calls.append(given), original(given))[1]
    examples(model, loss, x, t, chunk=10)
    assert len(calls) == 1 + 3 + 1  # the batch, the chunks, and one example twice


def test_examples_that_see_each_other_are_refused():
    model, loss, x, t = made("batch norm, evaluated")
    with pytest.raises(ValueError, match=r"add up to another one than that of the batch.*eval\(\)"):
        examples(model, lambda model, x, t: (model(x - x.mean(0)) ** 2).mean(), x, t)
    with pytest.raises(ValueError, match="add up to another"):
        examples(model, lambda model, x, t: model(x).square().mean().sqrt(), x, t)
    with pytest.raises(RuntimeError, match="running statistics"):
        examples(model.train(), loss, x, t)


def test_what_does_not_fit_is_refused():
    model, loss, x, t = made("linear")
    for given, options, error, match in (
        ((x, t), {"mode": "fast"}, ValueError, "mode is one of 'vmap', 'each', not"),
        ((x, t), {"chunk": 0}, ValueError, "the number of examples at once, 1 or more"),
        ((), {}, TypeError, "axis of examples"),
        ((x, t[:3]), {}, ValueError, "7, 3 examples: expected equal numbers"),
        ((x, t), {"parameters": ["none"]}, ValueError, "'none' is no parameter"),
    ):
        with pytest.raises(error, match=match):
            examples(model, loss, *given, **options)
    with pytest.raises(ValueError, match="the model has no parameter that requires grad"):
        examples(nn.ReLU(), loss, x, t)
    found = examples(model, loss, x, t)
    with pytest.raises(KeyError, match="was not asked for"):
        found.of("none")
    with pytest.raises(IndexError, match="name one element"):
        found.at("weight", 0)


def test_they_are_a_drawer_of_the_page():
    model, loss, x, t = made("linear")
    with pullback.explain.record() as ex:
        loss(model, x, t).backward()
    ex.attach(examples(model, loss, x, t))
    (sheet,) = ex.to_dict()["sheets"]
    assert (sheet["title"], sheet["columns"][:3], len(sheet["rows"])) == ("Examples", ["example", "norm", "share"], 7)
    assert max(sheet["bars"]) == 1
