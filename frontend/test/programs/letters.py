"""A language model of letters: 8 texts of 16, and 27 letters."""

import pullback
from pullback import nn

F = nn.functional
pullback.manual_seed(3)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        heads = self.mixed(self.before(x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.wide(self.between(x))


class Letters(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.letter, self.position = nn.Embedding(27, width), nn.Embedding(16, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(4))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, 27, bias=False)

    def forward(self, text):
        x = self.letter(text) + self.position(pullback.arange(text.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.scores(self.norm(x))


model = Letters()
texts = pullback.randint(0, 27, (8, 17))
predicted = model(texts[:, :-1])
loss = F.cross_entropy(predicted.flatten(0, 1), texts[:, 1:].flatten())
loss.backward()
