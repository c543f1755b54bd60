import pullback as pb
from pullback import nn
from pullback.nn import functional as fn

TOKENS, WIDTH, HEADS, LENGTH = 20, 16, 2, 8


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.inner(x).chunk(3, dim=-1))
        return self.outer(fn.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.attention, self.between = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.alone = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.alone(self.between(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(pb.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


pb.manual_seed(0)
model = GPT()
tokens = pb.randint(0, TOKENS, (4, LENGTH + 1))
scores = model(tokens[:, :-1])
loss = fn.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
loss.backward()
