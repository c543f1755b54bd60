"""A character-level transformer: it learns this repository's own documents, and then writes one.

Each place of a line is given the characters up to it, and asked for the next one.
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np
from beside_torch import Task, compare
from progress import Training, read_options

import pullback

BATCH, CONTEXT, WIDTH, HEADS, LAYERS, STEPS = 16, 64, 64, 4, 2, 2000


@functools.cache
def text() -> tuple[str, np.ndarray]:
    """The characters that occur, and the documents as their numbers; what is not ASCII is left out."""
    root = Path(__file__).resolve().parent.parent
    paths = [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md"))]
    written = "".join(path.read_text("utf-8") for path in paths).encode("ascii", "ignore").decode()
    alphabet = "".join(sorted(set(written)))
    return alphabet, np.array([alphabet.index(character) for character in written])


def model(library: Any) -> Any:
    """Characters and places as vectors, layers of attention, and a score for each next character."""
    nn = library.nn

    class Transformer(nn.Module):
        def __init__(self, characters: int) -> None:
            super().__init__()
            self.character = nn.Embedding(characters, WIDTH)
            self.place = nn.Embedding(CONTEXT, WIDTH)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
            self.score = nn.Linear(WIDTH, characters)

        def forward(self, given: Any) -> Any:
            length = given.shape[1]
            future = library.ones(length, length, dtype=library.bool).triu(1)
            x = self.character(given) + self.place(library.arange(length))
            return self.score(self.layers(x, mask=future, is_causal=True))

    return Transformer(len(text()[0]))


def batch(step: int, _: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Pieces from anywhere in the text, and the same pieces one character further on."""
    _, numbers = text()
    starts = np.random.default_rng((1, step)).integers(0, len(numbers) - CONTEXT, (BATCH, 1))
    pieces = numbers[starts + np.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def loss(library: Any, net: Any, given: Any, following: Any) -> Any:
    """The mean surprise of a next character, in nats."""
    return library.nn.functional.cross_entropy(net(given).flatten(0, 1), following.flatten())


def optimizer(library: Any, parameters: Any) -> Any:
    """Adam, with a little decay."""
    return library.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01)


TASK = Task(model, loss, optimizer, batch)


def sample(net: pullback.nn.Module, start: str, count: int, temperature: float = 0.7) -> str:
    """The start, and so many characters that the model finds likely after it."""
    alphabet, _ = text()
    written = [alphabet.index(character) for character in start]
    with pullback.no_grad():
        for _ in range(count):
            scores = net(pullback.tensor([written[-CONTEXT:]]))[0, -1]
            written.append(int(pullback.multinomial((scores / temperature).softmax(0), 1)))
    return "".join(alphabet[number] for number in written)


def main() -> None:
    """Train, and write."""
    options = read_options(__doc__, "characters", STEPS, quick=5)
    pullback.manual_seed(0)
    net = model(pullback)
    descent = optimizer(pullback, net.parameters())
    schedule = pullback.optim.lr_scheduler.OneCycleLR(descent, max_lr=4e-3, total_steps=options.steps + 1)
    training = Training(options, model=net, optimizer=descent, schedule=schedule)
    surprise = float("nan")
    for step in training.steps():
        descent.zero_grad()
        value = loss(pullback, net, *map(pullback.tensor, batch(step)))
        value.backward()
        pullback.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        descent.step()
        schedule.step()
        surprise = value.item()
        training.tell(loss=surprise)
    _, numbers = text()
    frequencies = np.bincount(numbers) / len(numbers)
    print(
        f"surprise {surprise:.2f} nats a character; {-frequencies @ np.log(frequencies):.2f} for one that only counts\n"
    )
    print(sample(net, "A tensor is ", 30 if options.quick else 400))
    if not options.quick:
        compare(TASK)


if __name__ == "__main__":
    main()
