"""A small network that learns two half moons, exported: the training step with Adam, and its data for four languages.

    python moons.py FOLDER

What programs in other languages print after each tenth step, the bits of the loss, is what this program prints, but for a
few units in the last place.
"""

import json
import sys
from pathlib import Path

import numpy as np

import pullback
from pullback import nn, optim

STEPS, COUNT = 200, 64
DATA = {
    "data.h": "static const float points[{0}] = {{{1}}};\nstatic const int64_t labels[{2}] = {{{3}}};\n",
    "data.rs": "const POINTS: [f32; {0}] = [{1}];\nconst LABELS: [i64; {2}] = [{3}];\n",
}
"""The points, and which moon each belongs to, as C and Rust write them."""


def moons() -> tuple[pullback.Tensor, pullback.Tensor]:
    """Points of two half moons, and to which each belongs."""
    random = np.random.default_rng(0)
    label = np.arange(COUNT) % 2
    angle = np.pi * (random.random(COUNT) + label)
    points = np.stack([np.cos(angle) + label - 0.5, np.sin(angle) + 0.5 * label - 0.25], 1)
    points += 0.08 * random.standard_normal(points.shape)
    return pullback.tensor(points.astype(np.float32)), pullback.tensor(label)


def training(seen=None):
    """The compiled training step, and the data; it also returns to which moon points belong that are `seen`."""
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.Adam(model.parameters(), lr=0.01)

    def step(points, labels):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), labels)
        loss.backward()
        optimizer.step()
        if seen is None:
            return loss.detach()
        return loss.detach(), model(seen).detach().softmax(-1)[:, 1]

    points, labels = moons()
    step(points, labels)  # the optimizer makes its state
    return pullback.compile(step, fullgraph=True), points, labels


def write_data(folder: Path, points: pullback.Tensor, labels: pullback.Tensor) -> None:
    """The data beside the exported step."""
    flat = points.numpy().reshape(-1)
    for file, form in DATA.items():
        numbers = ", ".join(f"{x}f" if file.endswith("h") else f"{x}" for x in flat.astype(str).tolist())
        text = form.format(flat.size, numbers, len(labels), ", ".join(map(str, labels.tolist())))
        (folder / file).write_text(text)
    (folder / "data.json").write_text(json.dumps({"points": flat.tolist(), "labels": labels.tolist()}))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    step, points, labels = training()
    step.export(folder, points, labels, name="step")
    write_data(folder, points, labels)
    for number in range(1, STEPS + 1):
        loss = step(points, labels)
        if number % 10 == 0:
            print(f"{number} {loss.numpy().view(np.uint32):08x}")
