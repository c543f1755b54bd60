"""Programs with one error each, for test_failures: the line that fails ends with `# FAILS`, where its module is made `# MADE`."""

from typing import NamedTuple


class Planted(NamedTuple):
    """A program, the module and the operation to be named, and the change of it that helps, if one is to be found."""

    text: str
    scope: str | None = None
    op: str | None = None
    helps: str | None = None
    said: str = ""


HEAD = "import pullback as torch\nfrom pullback import nn\nF = nn.functional\n"

NESTED = """
class Block(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.first = nn.Linear(wide, narrow)
        self.second = nn.Linear(narrow + 1, wide)  # MADE

    def forward(self, x):
        return self.second(self.first(x).relu())  # FAILS

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(6, 3) for _ in range(2)])

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x

net = Net()
net(torch.randn(2, 6)).sum().backward()
"""

ERRORS = {
    "a layer in a sequence": Planted(
        "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2))  # MADE\n"
        "model(torch.randn(3, 4)).sum().backward()  # FAILS\n",
        "model.2", "linear", "nn.Linear(8, 2)", "model.2 takes 9 features and got 8.",
    ),
    "a layer in a module in a loop": Planted(
        NESTED, "net.blocks.0.second", "linear", None, "net.blocks.0.second takes 4 features and got 3.",
    ),
    "channels of a convolution": Planted(
        "net = nn.Sequential(\n    nn.Conv2d(1, 4, 3),\n    nn.Conv2d(3, 2, 3),  # MADE\n)\n"
        "for step in range(2):\n    net(torch.randn(2, 1, 8, 8)).sum().backward()  # FAILS\n",
        "net.1", "conv2d", "nn.Conv2d(4, 2, 3)", "net.1 takes 3 channels and got 4.",
    ),
    "axes that were not flattened": Planted(
        "net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Linear(144, 2))  # MADE\n"
        "net(torch.randn(2, 1, 8, 8)).sum().backward()  # FAILS\n",
        "net.1", "linear", "nn.Flatten(), nn.Linear(144, 2)",
    ),
    "an LSTM": Planted(
        "lstm = nn.LSTM(input_size=4, hidden_size=5)  # MADE\nsteps = torch.randn(7, 1, 3)\n"
        "out, state = lstm(steps)  # FAILS\nout.sum().backward()\n",
        "lstm", None, "nn.LSTM(input_size=3, hidden_size=5)", "lstm takes 4 features and got 3.",
    ),
    "a product of matrices": Planted(
        "x = torch.randn(3, 8, requires_grad=True)\nw = torch.randn(2, 8)\n"
        "def project(values):\n    return values @ w  # FAILS\nproject(x).sum().backward()\n",
        None, "matmul", "values @ w.mT", "values @ w multiplies 3×8 by 2×8: 8 columns meet 2 rows.",
    ),
    "shapes that do not broadcast": Planted(
        "x = torch.randn(4, 3, requires_grad=True)\nscale = torch.rand(4)\n"
        "y = (x * 2) * scale  # FAILS\ny.sum().backward()\n",
        None, "mul", "scale.unsqueeze(-1)", "(x * 2) * scale was given 4×3 and 4, and 3 is not 4.",
    ),
    "einsum": Planted(
        "q = torch.randn(5, 4, requires_grad=True)\nk = torch.randn(6, 4)\n"
        "scores = torch.einsum('ij,jk->ik', q, k)  # FAILS\nscores.sum().backward()\n",
        None, "einsum", "'ij,kj->ik'",
    ),
    "cat": Planted(
        "a = torch.randn(3, 4, requires_grad=True)\nb = torch.randn(2, 4)\n"
        "both = torch.cat([a, b], 1)  # FAILS\nboth.sum().backward()\n",
        None, "cat", "torch.cat([a, b], 0)",
    ),
    "stack": Planted(
        "rows = [torch.randn(n, requires_grad=True) for n in (3, 4)]\n"
        "table = torch.stack(rows)  # FAILS\ntable.sum().backward()\n",
        None, "stack", "torch.cat(rows, dim=0)",
    ),
    "reshape": Planted(
        "x = torch.randn(3, 8, requires_grad=True)\nfor k in range(2):\n"
        "    y = (x * k).reshape(3, 9)  # FAILS\n    y.sum().backward()\n",
        None, "reshape", "reshape(3, 8)",
    ),
    "the dtype of an operand": Planted(
        "x = torch.randn(3, 5, requires_grad=True)\nw = torch.ones(5, 2, dtype=torch.float64)\n"
        "(x @ w).sum().backward()  # FAILS\n",
        None, "matmul", "w.float()",
    ),
    "the dtype of an input": Planted(
        "model = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))  # MADE\nx = torch.arange(8).reshape(2, 4)\n"
        "model(x).sum().backward()  # FAILS\n",
        "model.1", "linear", "model(x.float())",
    ),
    "an index": Planted(
        "x = torch.randn(3, 4, requires_grad=True)\nfor k in range(5):\n    x[:, k].sum().backward()  # FAILS\n",
        None, "getitem", "range(4)",
    ),
    "a row of a table": Planted(
        "table = nn.Embedding(5, 3)  # MADE\nwords = torch.tensor([[1, 7]])\n"
        "table(words).sum().backward()  # FAILS\n",
        "table", "embedding", "nn.Embedding(8, 3)", "table has 5 rows, counted from 0, and was asked for row 7.",
    ),
    "an axis": Planted(
        "x = torch.randn(3, 4, requires_grad=True)\ny = x.softmax(dim=2)  # FAILS\ny.sum().backward()\n",
        None, "softmax", "dim=-1",
    ),
    "a missing argument": Planted(
        "target = torch.zeros(3)\nx = torch.randn(3, requires_grad=True)\n"
        "loss = F.mse_loss(x)  # FAILS\nloss.backward()\n",
        None, "mse_loss", "F.mse_loss(x, target)",
    ),
    "a write in place": Planted(
        "w = torch.randn(3, requires_grad=True)\n(w * w).sum().backward()\nw -= 0.1 * w.grad  # FAILS\nprint(w)\n",
        None, "sub_", "with torch.no_grad(): w -= 0.1 * w.grad",
    ),
    "double backward": Planted(
        "x = torch.randn(3, requires_grad=True)\ny = (x * x).sum()\nfor _ in range(2):\n"
        "    y.backward()  # FAILS\n",
        None, "backward", "y.backward(retain_graph=True)",
    ),
    "a gradient of several numbers": Planted(
        "x = torch.randn(3, requires_grad=True)\ny = x * 2\ny.backward()  # FAILS\nprint(x.grad)\n",
        None, "backward", "y.sum().backward()",
    ),
}  # fmt: skip
"""20 errors of tensors."""

OTHERS = {
    "ValueError in a module": Planted(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n"
        "    def forward(self, x):\n        y = self.fc(x)\n        raise ValueError('not today')  # FAILS\n"
        "Net()(torch.ones(1, 2))\n"
    ),
    "KeyError": Planted("y = torch.ones(2, requires_grad=True) * 2\nsettings = {'lr': 1}\nsettings['rate']  # FAILS\n"),
    "ImportError": Planted(
        "y = torch.ones(2, requires_grad=True) * 2\nimport a_module_that_nobody_has  # FAILS\n"
    ),
    "an attribute": Planted("model = nn.Linear(2, 2)\nmodel(torch.ones(1, 2))\nmodel.wieght  # FAILS\n"),
    "a function of the program's": Planted(
        "def add(a, b):\n    return a + b\nadd(torch.ones(2, requires_grad=True))  # FAILS\n"
    ),
    "a hook": Planted(
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.register_hook(lambda g: 1 / 0)  # FAILS\ny.sum().backward()\n"
    ),
    "json": Planted("import json\ny = torch.ones(2, requires_grad=True) * 2\njson.loads('{')  # FAILS\n"),
    "NumPy": Planted(
        "import numpy as np\ny = torch.ones(2, requires_grad=True) * 2\nnp.ones(3) + np.ones(4)  # FAILS\n"
    ),
}  # fmt: skip
"""8 errors of which none is of tensors."""
