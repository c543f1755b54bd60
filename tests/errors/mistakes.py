"""Mistakes as users make them: a program, the beginning of the message, and the fix or the fact that it names."""

import errno
from typing import NamedTuple


class Mistake(NamedTuple):
    program: str
    first: str
    fix: str


MISTAKES = {
    "add of other lengths": Mistake(
        """\
a = pb.ones(3)
b = pb.ones(4)
c = a + b
""",
        "RuntimeError: add: shapes (3,) and (4,) do not fit at axis -1, 3 against",
        "sizes are aligned from the right, and equal or 1",
    ),
    "add of tracked matrices": Mistake(
        """\
a = pb.ones(2, 3, requires_grad=True)
b = pb.ones(2, 4)
c = a + b
""",
        "RuntimeError: add: shapes (2, 3) and (2, 4) do not fit at axis -1, 3",
        "equal or 1",
    ),
    "mul with a NumPy array": Mistake(
        """\
a = pb.ones(3)
c = a * np.ones(4)
""",
        "RuntimeError: multiply: shapes (3,) and (4,) do not fit at axis -1, 3",
        "equal or 1",
    ),
    "vector product": Mistake(
        "pb.ones(3) @ pb.ones(4)",
        "RuntimeError: matmul: the last axis of a, of shape (3,), has size 3, and",
        "they must be equal",
    ),
    "matrix product": Mistake(
        """\
a = pb.ones(2, 3)
b = pb.ones(2, 3)
c = a @ b
""",
        "RuntimeError: matmul: the last axis of a, of shape (2, 3), has size 3, and",
        "a @ b.mT has shape (2, 2)",
    ),
    "batched product": Mistake(
        "pb.ones(2, 3, 4) @ pb.ones(5, 4, 2)",
        "RuntimeError: matmul, before the last two axes: shapes (2,) and (5,) do",
        "equal or 1",
    ),
    "mm of vectors": Mistake(
        "pb.mm(pb.ones(3), pb.ones(3, 2))",
        "RuntimeError: self must be a matrix: mm multiplies matrices, and it has",
        "mm multiplies matrices",
    ),
    "bmm of matrices": Mistake(
        "pb.bmm(pb.ones(3, 2), pb.ones(3, 2))",
        "RuntimeError: batch1 must be a 3D tensor: bmm multiplies batches of",
        "bmm multiplies batches of matrices",
    ),
    "0-d product": Mistake(
        "pb.tensor(2.0) @ pb.ones(3)",
        "RuntimeError: both arguments to matmul need to be at least 1D, but they",
        "use *",
    ),
    "dot of matrices": Mistake(
        "pb.dot(pb.ones(2, 2), pb.ones(2, 2))",
        "RuntimeError: 1D tensors expected, but got 2D and 2D tensors: dot is for",
        "dot is for vectors",
    ),
    "reshape": Mistake(
        "pb.ones(6).reshape(4, 2)",
        "RuntimeError: shape '[4, 2]' is invalid for input of size 6: its sizes",
        "its sizes multiply to 8",
    ),
    "reshape -1": Mistake(
        "pb.ones(6).reshape(4, -1)",
        "RuntimeError: shape '[4, -1]' is invalid for input of size 6: no size in",
        "no size in the place of -1",
    ),
    "view of transposed": Mistake(
        "pb.ones(2, 3).t().view(6)",
        "RuntimeError: view size is not compatible with input tensor's size and",
        "Use .reshape(...) instead",
    ),
    "cat": Mistake(
        "pb.cat([pb.ones(2, 3), pb.ones(2, 4)])",
        "RuntimeError: Sizes of tensors must match except in dimension 0. Expected",
        "except in dimension 0",
    ),
    "cat of ndims": Mistake(
        "pb.cat([pb.ones(2, 3), pb.ones(3)])",
        "RuntimeError: Tensors must have same number of dimensions: got 2 and 1:",
        "same number of dimensions",
    ),
    "cat of one tensor": Mistake(
        "pb.cat(pb.ones(3))",
        "RuntimeError: zero-dimensional tensor (at position 0) cannot be",
        "pass a list of tensors",
    ),
    "cat of nothing": Mistake(
        "pb.cat([])",
        "ValueError: cat(): expected a non-empty list of Tensors: pass at least",
        "pass at least one tensor",
    ),
    "stack": Mistake(
        "pb.stack([pb.ones(2), pb.ones(3)])",
        "RuntimeError: stack expects each tensor to be equal size, but got [2] at",
        "[2] at entry 0 and [3] at entry 1",
    ),
    "stack of lists": Mistake(
        "pb.stack([[1.0], [2.0]])",
        "TypeError: stack(): expected Tensors, not list: wrap arrays with",
        "as_tensor",
    ),
    "dim out of range": Mistake(
        "pb.ones(2, 3).sum(dim=2)",
        "IndexError: sum(): Dimension out of range (expected to be in range of",
        "dims count from 0, or from -1 at the end",
    ),
    "softmax dim": Mistake(
        "F.softmax(pb.ones(3), dim=1)",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0],",
        "dims count from 0, or from -1 at the end",
    ),
    "expand": Mistake(
        "pb.ones(3).expand(2, 4)",
        "RuntimeError: expand(): The expanded size of the tensor (4) must match",
        "Target sizes: [2, 4]",
    ),
    "permute": Mistake(
        "pb.ones(2, 3).permute(0, 2)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1],",
        "dims count from 0",
    ),
    "transpose": Mistake(
        "pb.ones(3).transpose(0, 1)",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0],",
        "dims count from 0",
    ),
    "split": Mistake(
        "pb.ones(5).split([2, 2])",
        "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 5",
        "to sum exactly to 5",
    ),
    "einsum letters": Mistake(
        "pb.einsum('ij,jk->il', pb.ones(2, 3), pb.ones(3, 4))",
        "RuntimeError: einsum(): output subscript l does not appear in the",
        "'ij,jk->il'",
    ),
    "einsum sizes": Mistake(
        "pb.einsum('ij,jk->ik', pb.ones(2, 3), pb.ones(4, 5))",
        "RuntimeError: einsum(): subscript j has size 4 for one operand, which",
        "subscript j",
    ),
    "einsum ndim": Mistake(
        "pb.einsum('ijk,jk->i', pb.ones(2, 3), pb.ones(2, 3))",
        "RuntimeError: einsum(): the number of subscripts in the equation (3) does",
        "of shape (2, 3)",
    ),
    "ragged": Mistake(
        "pb.tensor([[1.0, 2.0], [3.0]])",
        "ValueError: expected sequence of length 2 at dim 1 (got 1): the rows of",
        "the rows of a tensor have one length",
    ),
    "tensor of strings": Mistake(
        "pb.tensor(['a', 'b'])",
        "ValueError: too many dimensions 'str': a tensor holds numbers, not 'a'",
        "a tensor holds numbers",
    ),
    "tensor of tensors": Mistake(
        "pb.tensor([pb.ones(2), pb.ones(2)])",
        "ValueError: only one element tensors can be converted to Python",
        "join tensors with stack or cat",
    ),
    "tensor of dict": Mistake(
        "pb.tensor({'a': 1})",
        "RuntimeError: Could not infer dtype of dict: a tensor holds numbers, and",
        "a tensor holds numbers",
    ),
    "no size": Mistake(
        "pb.zeros('3')",
        "TypeError: zeros(): argument 'size' (position 1) must be tuple of",
        "tuple of ints",
    ),
    "negative size": Mistake(
        "pb.zeros(-1)",
        "RuntimeError: Dimension size must be non-negative: got the sizes [-1]",
        "must be non-negative",
    ),
    "float size": Mistake(
        "pb.zeros(3.0)",
        "TypeError: zeros(): argument 'size' (position 1) must be tuple of",
        "tuple of ints",
    ),
    "linear with float64": Mistake(
        """\
layer = nn.Linear(2, 2)
layer(pb.tensor(np.ones((3, 2))))
""",
        "RuntimeError: linear: the input and the weight are float64 and float32,",
        "x.float()",
    ),
    "conv with float64": Mistake(
        "nn.Conv2d(1, 1, 3)(pb.tensor(np.ones((1, 1, 5, 5))))",
        "RuntimeError: convolution: the input and the weight are float64 and",
        "x.float()",
    ),
    "int requires grad": Mistake(
        "pb.tensor([1, 2, 3], requires_grad=True)",
        "RuntimeError: Only Tensors of floating point and complex dtype can",
        "Write floats (1. instead of 1)",
    ),
    "int requires grad_": Mistake(
        "pb.arange(3).requires_grad_()",
        "RuntimeError: only Tensors of floating point and complex dtype can",
        "x.float()",
    ),
    "mean of ints": Mistake(
        "pb.arange(3).mean()",
        "RuntimeError: mean(): could not infer output dtype. Input dtype must be",
        "x.float().mean()",
    ),
    "softmax of ints": Mistake(
        "F.softmax(pb.arange(3), dim=0)",
        "NotImplementedError: \"softmax\" not implemented for 'Long': it is for real",
        "x.float()",
    ),
    "in-place into ints": Mistake(
        """\
x = pb.arange(3)
x *= 0.5
""",
        "RuntimeError: result type Float can't be cast to the desired output type",
        "write y = x * other",
    ),
    "dtype as text": Mistake(
        "pb.ones(3, dtype='float33')",
        "TypeError: 'float33' is not a dtype of pullback: NumPy knows no such",
        "pullback.float32",
    ),
    "dtype of python": Mistake(
        "pb.ones(3, dtype=str)",
        "TypeError: <class 'str'> is not a dtype of pullback: it is no type of",
        "pullback.float32",
    ),
    "float index": Mistake(
        """\
x = pb.ones(3)
x[1.0]
""",
        "IndexError: only integers, slices (`:`), ellipsis (`...`), None and",
        "int(i)",
    ),
    "embedding of floats": Mistake(
        "nn.Embedding(10, 3)(pb.ones(4))",
        "RuntimeError: Expected tensor for argument #1 'indices' to have one of",
        ".long()",
    ),
    "bool minus": Mistake(
        "pb.tensor([True]) - pb.tensor([False])",
        "RuntimeError: Subtraction, the `-` operator, with two bool tensors is not",
        "`^`",
    ),
    "invert of float": Mistake(
        "~pb.ones(2)",
        "TypeError: ~ (operator.invert) is only implemented on integer and",
        "~(x > 0)",
    ),
    "backward of a vector": Mistake(
        """\
x = pb.ones(3, requires_grad=True)
y = x * 2
y.backward()
""",
        "RuntimeError: grad can be implicitly created only for scalar outputs:",
        "y.sum().backward()",
    ),
    "backward with a float": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
y = x * 2
y.backward(1.0)
""",
        "RuntimeError: the gradient has shape () and the output is a float32",
        "y.backward([1.0, 1.0]) is the same as y.sum().backward()",
    ),
    "backward with another shape": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
y = x * 2
y.backward(pb.ones(3))
""",
        "RuntimeError: the gradient has shape (3,) and the output is a float32",
        "one weight for each element of the output",
    ),
    "backward twice": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
y = (x * x).sum()
y.backward()
y.backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "retain_graph=True",
    ),
    "backward of untracked": Mistake(
        """\
x = pb.ones(2)
x.sum().backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "requires_grad=True",
    ),
    "backward of detached": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
y = x.detach() * 2
y.sum().backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "without detach",
    ),
    "backward in no_grad": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
with pb.no_grad():
    loss = (x * 2).sum()
loss.backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "Compute it outside the block",
    ),
    "backward of int": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
(x > 0).sum().backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "derivative for aten::greater is not implemented",
    ),
    "backward with text": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
(x * 2).backward('ones')
""",
        "TypeError: gradient must be a tensor, an array, a list or a number,",
        "a tensor, an array, a list or a number",
    ),
    "grad of unused": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
z = pb.ones(2, requires_grad=True)
pb.autograd.grad((x * 2).sum(), z)
""",
        "RuntimeError: The differentiated Tensor at index 0 appears to not have",
        "no operation that leads to the loss used z",
    ),
    "grad of a vector": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
pb.autograd.grad(x * 2, x)
""",
        "RuntimeError: grad can be implicitly created only for scalar outputs:",
        "y.sum()",
    ),
    "grad of a number": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
pb.autograd.grad(2.0, x)
""",
        "TypeError: 'float' object is not iterable: outputs of grad() must be",
        "must be tensors, not 2.0",
    ),
    "requires_grad of a result": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
y = x * 2
y.requires_grad = False
""",
        "RuntimeError: you can only change requires_grad flags of leaf variables.",
        "Use t.detach()",
    ),
    "leaf in place": Mistake(
        """\
w = pb.ones(2, requires_grad=True)
w -= 0.1
""",
        "RuntimeError: a leaf Variable that requires grad is being used in an",
        "with pullback.no_grad(): w -= lr * w.grad",
    ),
    "leaf index": Mistake(
        """\
w = pb.ones(2, requires_grad=True)
w[0] = 5.0
""",
        "RuntimeError: a view of a leaf Variable that requires grad is being used",
        "with pullback.no_grad()",
    ),
    "numpy of tracked": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
(x * 2).numpy()
""",
        "RuntimeError: NumPy arrays hold no gradients, and this is a float32",
        "To keep the gradient stay with tensors",
    ),
    "np.array of tensors": Mistake(
        """\
x = pb.ones(2, requires_grad=True)
np.array([x[0] * 2, x[1] ** 2])
""",
        "RuntimeError: NumPy arrays hold no gradients, and this is a float32",
        "pullback.stack([a, b]) for np.array([a, b])",
    ),
    "np.asarray": Mistake(
        """\
x = pb.ones(3, requires_grad=True)
np.asarray(x)
""",
        "RuntimeError: NumPy arrays hold no gradients, and this is a float32",
        "To keep the gradient stay with tensors",
    ),
    "scipy function": Mistake(
        """\
from scipy.linalg import lu_factor
lu_factor(pb.ones(2, 2, requires_grad=True))
""",
        "RuntimeError: NumPy arrays hold no gradients, and this is a float32",
        "value_and_grad(f) for SciPy",
    ),
    "item of many": Mistake(
        "pb.ones(3).item()",
        "RuntimeError: a Tensor with 3 elements cannot be converted to Scalar:",
        "index it, or reduce it first",
    ),
    "bool of many": Mistake(
        """\
if pb.ones(3) > 0:
    pass
""",
        "RuntimeError: Boolean value of Tensor with more than one value is",
        "use .any() or .all()",
    ),
    "float of many": Mistake(
        "float(pb.ones(3))",
        "ValueError: expected one element, got shape (3,): index",
        "index or reduce it",
    ),
    "math.sin": Mistake(
        """\
import math
x = pb.ones(2, requires_grad=True)
math.sin(x)
""",
        "ValueError: expected one element, got shape (2,): index",
        "pullback.sin(x) for math.sin(x)",
    ),
    "0-d iteration": Mistake(
        """\
for v in pb.tensor(3.0):
    pass
""",
        "TypeError: iteration over a 0-d tensor: it is one number, of shape ();",
        "x.reshape(1)",
    ),
    "len of 0-d": Mistake(
        "len(pb.tensor(3.0))",
        "TypeError: len() of a 0-d tensor: it is one number, of shape ();",
        "x.numel()",
    ),
    "index out of range": Mistake(
        "pb.ones(3)[5]",
        "IndexError: index 5 is out of bounds for dimension 0 with size 3",
        "dimension 0 with size 3",
    ),
    "too many indices": Mistake(
        "pb.ones(3)[0, 1]",
        "IndexError: too many indices for tensor of dimension 1: the index has",
        "the index has 2, the tensor the shape (3,)",
    ),
    "mask of another shape": Mistake(
        "pb.ones(3)[pb.tensor([True, False])]",
        "IndexError: The shape of the mask [2] at index 0 does not match the",
        "mask [2]",
    ),
    "string index": Mistake(
        "pb.ones(3)['a']",
        "TypeError: new(): invalid data type 'str': a tensor has no names for",
        "a tensor has no names for its parts",
    ),
    "assignment shape": Mistake(
        """\
x = pb.zeros(3)
x[:2] = pb.ones(3)
""",
        "RuntimeError: shape mismatch: The expanded size of the tensor (2) must",
        "Target sizes: [2]",
    ),
    "gather dtype": Mistake(
        "pb.ones(3).gather(0, pb.ones(2))",
        "RuntimeError: gather(): Expected dtype int32/int64 for index, but it has",
        "index.long()",
    ),
    "gather range": Mistake(
        "pb.ones(3).gather(0, pb.tensor([7]))",
        "RuntimeError: index 7 is out of bounds for dimension 0 with size 3",
        "size 3",
    ),
    "linear width": Mistake(
        """\
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(10, 2))
net(pb.ones(3, 4))
""",
        "RuntimeError: linear: the last axis of the input, of shape (3, 8), has size 8",
        "Make the layer Linear(8, 2)",
    ),
    "linear of array": Mistake(
        "nn.Linear(2, 2)(np.ones((1, 2), 'float32'))",
        "TypeError: linear(): argument 'input' (position 1) must be Tensor, not",
        "pullback.as_tensor",
    ),
    "images into a linear layer": Mistake(
        "nn.Linear(16, 3)(pb.ones(2, 4, 4))",
        "RuntimeError: linear: the last axis of the input, of shape (2, 4, 4), has",
        "input.flatten(1) has shape (2, 16)",
    ),
    "list of layers": Mistake(
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]
net = Net()
optimizer = pb.optim.SGD(net.parameters(), lr=0.1)
""",
        "ValueError: optimizer got an empty parameter list: a module knows the",
        "nn.ModuleList([...])",
    ),
    "before super init": Mistake(
        """\
class Net(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 2)
        super().__init__()
net = Net()
""",
        "AttributeError: cannot assign module before Module.__init__() call: write",
        "write super().__init__() before self.layer",
    ),
    "no super init": Mistake(
        """\
class Net(nn.Module):
    def __init__(self):
        self.width = 3
    def forward(self, x):
        return x
net = Net()
net(pb.ones(2))
""",
        "AttributeError: 'Net' object has no attribute '_forward_hooks': call",
        "call super().__init__() first",
    ),
    "no forward": Mistake(
        """\
class Net(nn.Module):
    pass
Net()(pb.ones(2))
""",
        'NotImplementedError: Module [Net] is missing the required "forward" function',
        'missing the required "forward"',
    ),
    "missing attribute": Mistake(
        """\
net = nn.Linear(2, 2)
net.wieght
""",
        "AttributeError: 'Linear' object has no attribute 'wieght'. Did you mean:",
        "wieght",
    ),
    "parameter of another kind": Mistake(
        """\
net = nn.Linear(2, 2)
net.weight = pb.ones(2, 2)
""",
        "TypeError: cannot assign 'pullback.FloatTensor' as parameter 'weight'",
        "torch.nn.Parameter or None expected",
    ),
    "Adam of a model": Mistake(
        """\
net = nn.Linear(2, 2)
pb.optim.Adam(net)
""",
        "TypeError: 'Linear' object is not iterable: pass its parameters,",
        "model.parameters()",
    ),
    "Adam of a tensor": Mistake(
        "pb.optim.Adam(pb.ones(2, requires_grad=True))",
        "TypeError: params argument given to the optimizer should be an",
        "put it into a list",
    ),
    "Adam without lr name": Mistake(
        """\
net = nn.Linear(2, 2)
pb.optim.Adam(net.parameters(), learning_rate=0.1)
""",
        "TypeError: Adam.__init__() got an unexpected keyword argument",
        "learning_rate",
    ),
    "negative lr": Mistake(
        """\
net = nn.Linear(2, 2)
pb.optim.SGD(net.parameters(), lr=-1)
""",
        "ValueError: Invalid learning rate: -1",
        "-1",
    ),
    "SGD of results": Mistake(
        """\
w = pb.ones(2, requires_grad=True) * 2
pb.optim.SGD([w], lr=0.1)
""",
        "ValueError: can't optimize a non-leaf Tensor: this one is the result of",
        "optimize the tensor it was made from",
    ),
    "cross entropy float targets": Mistake(
        "F.cross_entropy(pb.ones(3, 5), pb.ones(3))",
        "RuntimeError: the target is Float, and class indices are integers: use",
        "target.long()",
    ),
    "cross entropy class": Mistake(
        "F.cross_entropy(pb.ones(2, 3), pb.tensor([0, 3]))",
        "IndexError: Target 3 is out of bounds: there are 3 classes",
        "there are 3 classes",
    ),
    "cross entropy batch": Mistake(
        "F.cross_entropy(pb.ones(2, 3), pb.tensor([0, 1, 2]))",
        "ValueError: Expected input batch_size (2) to match target batch_size",
        "targets (N, ...), here (3,)",
    ),
    "bce range": Mistake(
        "F.binary_cross_entropy(pb.tensor([1.5]), pb.tensor([1.0]))",
        "RuntimeError: all elements of input should be between 0 and 1: for scores",
        "binary_cross_entropy_with_logits",
    ),
    "bce shape": Mistake(
        "F.binary_cross_entropy(pb.full((3, 1), 0.5), pb.ones(3))",
        "ValueError: Using a target size (torch.Size([3])) that is different to",
        "target.unsqueeze(-1)",
    ),
    "mse of list": Mistake(
        "F.mse_loss(pb.ones(3), [1.0, 2.0, 3.0])",
        "TypeError: mse_loss(): argument 'target' (position 2) must be Tensor,",
        "pullback.as_tensor",
    ),
    "conv channels": Mistake(
        "nn.Conv2d(3, 8, 3)(pb.ones(1, 1, 28, 28))",
        "RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected",
        "the layer is made for 3",
    ),
    "conv ndim": Mistake(
        "nn.Conv2d(1, 8, 3)(pb.ones(28, 28))",
        "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d,",
        "Expected 3D (unbatched) or 4D (batched)",
    ),
    "conv kernel": Mistake(
        "nn.Conv2d(1, 8, 5)(pb.ones(1, 1, 3, 3))",
        "RuntimeError: Calculated padded input size per channel: (3 x 3). Kernel",
        "Kernel size can't be greater",
    ),
    "pool size": Mistake(
        "nn.MaxPool2d(2)(pb.ones(1, 1, 1, 1))",
        "RuntimeError: Given input size: (1x1x1). Calculated output size: (1x0x0).",
        "Output size is too small",
    ),
    "lstm width": Mistake(
        "nn.LSTM(4, 8)(pb.ones(5, 2, 3))",
        "RuntimeError: input.size(-1) must be equal to input_size. Expected 4, got",
        "whose last axis holds the features",
    ),
    "lstm ndim": Mistake(
        "nn.LSTM(4, 8)(pb.ones(5))",
        "ValueError: LSTM: Expected input to be 2D or 3D, got 1D instead",
        "Expected input to be 2D or 3D",
    ),
    "batchnorm of one": Mistake(
        "nn.BatchNorm1d(3)(pb.ones(1, 3))",
        "ValueError: Expected more than 1 value per channel when training, got",
        "more than 1 value per channel",
    ),
    "layernorm shape": Mistake(
        "nn.LayerNorm(3)(pb.ones(2, 4))",
        "RuntimeError: Given normalized_shape=[3], expected input with shape [*,",
        "expected input with shape [*, 3]",
    ),
    "embedding range": Mistake(
        "nn.Embedding(10, 3)(pb.tensor([10]))",
        "IndexError: index out of range in self: the rows are numbered from 0 to",
        "from 0 to 9",
    ),
    "attention heads": Mistake(
        "nn.MultiheadAttention(10, 3)",
        "AssertionError: embed_dim must be divisible by num_heads: 10 is not by 3",
        "10 is not by 3",
    ),
    "dropout p": Mistake(
        "nn.Dropout(2)",
        "ValueError: dropout probability has to be between 0 and 1, but got 2",
        "between 0 and 1",
    ),
    "state dict keys": Mistake(
        "nn.Linear(2, 2).load_state_dict({'weight': pb.ones(2, 2)})",
        "RuntimeError: Error(s) in loading state_dict for Linear:",
        "Missing key(s)",
    ),
    "state dict shapes": Mistake(
        "nn.Linear(2, 2).load_state_dict(nn.Linear(3, 2).state_dict())",
        "RuntimeError: Error(s) in loading state_dict for Linear:",
        "copying a param with shape torch.Size([2, 3])",
    ),
    "layer args": Mistake(
        "nn.Linear(2)",
        "TypeError: Linear.__init__() missing 1 required positional argument:",
        "out_features",
    ),
    "layer call args": Mistake(
        "nn.Linear(2, 2)()",
        "TypeError: Linear.forward() missing 1 required positional argument:",
        "input",
    ),
    "transposed sequential": Mistake(
        "nn.Sequential(nn.Linear(2, 2), F.relu)",
        "TypeError: function is not a Module subclass: use the module of its",
        "nn.ReLU() for F.relu",
    ),
    "class in a sequential": Mistake(
        "nn.Sequential(nn.Linear(2, 2), nn.ReLU)",
        "TypeError: type is not a Module subclass: make one, ReLU()",
        "make one, ReLU()",
    ),
    "sequential list": Mistake(
        "nn.Sequential([nn.Linear(2, 2)])",
        "TypeError: list is not a Module subclass: pass layers one by one,",
        "nn.Sequential(*layers)",
    ),
    "kwarg": Mistake(
        "pb.zeros(3, device='cpu', grad=True)",
        "TypeError: zeros() got an unexpected keyword argument 'grad'",
        "'grad'",
    ),
    "missing argument": Mistake(
        "pb.matmul(pb.ones(2))",
        "TypeError: matmul() missing 1 required positional argument: 'other'",
        "'other'",
    ),
    "wrong type": Mistake(
        "pb.exp(1.0)",
        "TypeError: exp(): argument 'input' (position 1) must be Tensor, not",
        "pullback.as_tensor",
    ),
    "wrong type of function": Mistake(
        "F.relu([1.0, -1.0])",
        "TypeError: relu(): argument 'input' (position 1) must be Tensor, not",
        "pullback.as_tensor",
    ),
    "cuda": Mistake(
        "pb.ones(3, device='cuda')",
        "RuntimeError: pullback computes on the CPU: there is no device 'cuda';",
        'pullback.compile(f).on("cupy")',
    ),
    "to cuda": Mistake(
        "nn.Linear(2, 2).to('cuda')",
        "RuntimeError: pullback computes on the CPU: there is no device 'cuda';",
        "or write 'cpu'",
    ),
    "cuda()": Mistake(
        "pb.ones(3).cuda()",
        "RuntimeError: pullback computes on the CPU: there is no device 'cuda';",
        "or write 'cpu'",
    ),
    "misspelt": Mistake(
        "pb.sofmax(pb.ones(3))",
        "AttributeError: module 'pullback' has no attribute 'sofmax'",
        "'sofmax'",
    ),
    "a module of torch": Mistake(
        "pb.cuda.is_available()",
        "AttributeError: module 'pullback' has no attribute 'cuda': torch.cuda is for",
        "`pullback run script.py` runs them",
    ),
    "a module of torch's utils": Mistake(
        "pb.utils.tensorboard.SummaryWriter()",
        "AttributeError: module 'pullback.utils' has no attribute 'tensorboard': torch.utils.tensorboard is for",
        "`pullback run script.py` runs them",
    ),
    "misspelt nn": Mistake(
        "nn.Liner(2, 2)",
        "AttributeError: module 'pullback.nn' has no attribute 'Liner'. Did you",
        "Did you mean: 'Linear'?",
    ),
    "misspelt functional": Mistake(
        "F.rellu(pb.ones(3))",
        "AttributeError: module 'pullback.nn.functional' has no attribute 'rellu'.",
        "Did you mean: 'relu'?",
    ),
    "misspelt optim": Mistake(
        "pb.optim.Adm([])",
        "AttributeError: module 'pullback.optim' has no attribute 'Adm'. Did you",
        "Did you mean: 'Adam'?",
    ),
    "func.grad of a vector": Mistake(
        "pb.func.grad(lambda x: x * 2)(pb.ones(3))",
        "RuntimeError: grad_and_value(f)(*args): Expected f(*args) to return a",
        "vjp or jacrev",
    ),
    "func.grad of an int": Mistake(
        "pb.func.grad(lambda x: x * x)(pb.tensor(2))",
        "RuntimeError: only Tensors of floating point and complex dtype can",
        "Write 1.0 for 1",
    ),
    "func.grad argnums": Mistake(
        "pb.func.grad(lambda x: x * x, argnums=1)(pb.tensor(2.0))",
        "RuntimeError: Got argnum=1, but only 1 positional inputs",
        "only 1 positional inputs",
    ),
    "func.grad returns float": Mistake(
        "pb.func.grad(lambda x: 3.0)(pb.tensor(2.0))",
        "RuntimeError: grad_and_value(f)(*args): Expected f(*args) to return a",
        ".item()",
    ),
    "vmap sizes": Mistake(
        "pb.vmap(lambda a, b: a + b)(pb.ones(2), pb.ones(3))",
        "ValueError: vmap: Expected all tensors to have the same size in the",
        "args[0] has 2, args[1] has 3",
    ),
    "vmap of 0-d": Mistake(
        "pb.vmap(lambda a: a)(pb.tensor(1.0))",
        "ValueError: vmap(<lambda>, in_dims=0, ...)(<inputs>): Got in_dim=0 for",
        "it is args[0], of shape ()",
    ),
    "vmap item": Mistake(
        "pb.vmap(lambda a: a.item())(pb.ones(3))",
        "RuntimeError: vmap: It looks like you're calling .item() on a Tensor. We",
        "move .item() out of the function",
    ),
    "vmap if": Mistake(
        "pb.vmap(lambda a: a if a > 0 else -a)(pb.ones(3))",
        "RuntimeError: vmap: It looks like you're attempting to use a Tensor in",
        "pullback.where(condition, a, b)",
    ),
    "vmap returns number": Mistake(
        "pb.vmap(lambda a: 1.0)(pb.ones(3))",
        "ValueError: vmap(<lambda>, ...): `<lambda>` must only return Tensors,",
        "must only return Tensors",
    ),
    "jvp tangents": Mistake(
        "pb.func.jvp(lambda x: x * 2, (pb.ones(3),), (pb.ones(2),))",
        "RuntimeError: Trying to set a forward gradient that has a different size",
        "size [3]",
    ),
    "jvp not tuple": Mistake(
        "pb.func.jvp(lambda x: x * 2, pb.ones(3), pb.ones(3))",
        "RuntimeError: jvp(f, primals, tangents): Expected primals to be a tuple.",
        "to be a tuple",
    ),
    "vjp cotangent": Mistake(
        """\
y, pull = pb.func.vjp(lambda x: x * 2, pb.ones(3))
pull(pb.ones(2))
""",
        "RuntimeError: the gradient has shape (2,) and the output is a float32",
        "one weight for each element of the output",
    ),
    "compile if": Mistake(
        """\
@pb.compile(fullgraph=True)
def f(x):
    return x if x.sum() > 0 else -x
f(pb.ones(3))
""",
        "CaptureError: the value of a tensor is needed (by if, item(), int(),",
        "pullback.where",
    ),
    "compile item": Mistake(
        """\
@pb.compile(fullgraph=True)
def f(x):
    return x * float(x.sum())
f(pb.ones(3))
""",
        "CaptureError: the value of a tensor is needed (by if, item(), int(),",
        "Return the tensor and convert it outside",
    ),
    "compile no function": Mistake(
        "pb.compile(3)",
        "TypeError: compile takes a function or a module, not int",
        "a function or a module",
    ),
    "compile shape": Mistake(
        """\
@pb.compile
def f(x, y):
    return x + y
f(pb.ones(3), pb.ones(4))
""",
        "RuntimeError: add: shapes (3,) and (4,) do not fit at axis -1, 3 against",
        "equal or 1",
    ),
    "custom function backward": Mistake(
        """\
class Square(pb.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g, g
x = pb.ones(2, requires_grad=True)
Square.apply(x).sum().backward()
""",
        "RuntimeError: function SquareBackward returned an incorrect number of",
        "(grad of x,)",
    ),
    "custom function shape": Mistake(
        """\
class Square(pb.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g.sum().expand(3)
x = pb.ones(2, requires_grad=True)
Square.apply(x).sum().backward()
""",
        "RuntimeError: Function SquareBackward returned an invalid gradient at",
        "must be reshaped",
    ),
    "custom function called": Mistake(
        """\
class Square(pb.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
Square()(pb.ones(2))
""",
        "RuntimeError: Legacy autograd function with non-static forward method is",
        "Call Square.apply(...)",
    ),
    "custom function without backward": Mistake(
        """\
class Square(pb.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
x = pb.ones(2, requires_grad=True)
Square.apply(x).sum().backward()
""",
        "NotImplementedError: You must implement either the backward or vjp method for",
        "add a static method backward",
    ),
    "anomaly": Mistake(
        """\
x = pb.zeros(2, requires_grad=True)
with pb.detect_anomaly():
    (x.sqrt() * 0).sum().backward()
""",
        "AnomalyError: Function 'SqrtBackward0' returned nan values in its 0th",
        "for a length use norm",
    ),
    "normal scale": Mistake(
        "pb.distributions.Normal(0.0, -1.0)",
        "ValueError: Expected parameter scale (Tensor of shape ()) of",
        "GreaterThan(lower_bound=0.0)",
    ),
    "categorical none": Mistake(
        "pb.distributions.Categorical()",
        "ValueError: Either `probs` or `logits` must be specified, but not both.",
        "`probs` or `logits`",
    ),
    "rsample": Mistake(
        "pb.distributions.Bernoulli(0.5).rsample()",
        "NotImplementedError: Bernoulli has no samples that can be differentiated: use",
        "use sample()",
    ),
    "normal shapes": Mistake(
        "pb.distributions.Normal(pb.zeros(2), pb.ones(3))",
        "RuntimeError: broadcasting: shapes (2,) and (3,) do not fit at axis -1, 2",
        "equal or 1",
    ),
    "kl": Mistake(
        "pb.distributions.kl_divergence(pb.distributions.Normal(0.0, 1.0), pb.distributions.Poisson(1.0))",
        "NotImplementedError: No KL(p || q) is implemented for p type Normal and q type",
        "register_kl adds one",
    ),
    "missing file": Mistake(
        "pb.load('no_such_file.pt')",
        f"FileNotFoundError: [Errno {errno.ENOENT}] No such file or directory: 'no_such_file.pt'",
        "'no_such_file.pt'",
    ),
    "foreign file": Mistake(
        """\
with open('notes.pt', 'w') as f:
    f.write('hello')
pb.load('notes.pt')
""",
        "FileError: notes.pt: is neither a safetensors nor a torch.save file",
        "nor a torch.save file",
    ),
    "save of model": Mistake(
        "pb.save(nn.Linear(2, 2), 'model.pt')",
        "TypeError: save(): at the top is a Linear: files hold tensors, arrays,",
        "save its state_dict()",
    ),
    "singular": Mistake(
        "pb.linalg.inv(pb.zeros(2, 2))",
        "LinAlgError: linalg.inv: The diagonal element 1 is zero, the inversion",
        "singular",
    ),
    "not square": Mistake(
        "pb.linalg.inv(pb.ones(2, 3))",
        "RuntimeError: linalg.inv: A must be batches of square matrices, but they",
        "2 by 3",
    ),
    "solve sizes": Mistake(
        "pb.linalg.solve(pb.eye(2), pb.ones(3))",
        "RuntimeError: linalg.solve: Incompatible shapes of A and B for the",
        "2x2 and 3x1",
    ),
    "arange": Mistake(
        "pb.arange(0, 10, 0)",
        "RuntimeError: step must be nonzero",
        "nonzero",
    ),
    "where numbers": Mistake(
        "pb.where(pb.ones(3), 1.0, 0.0)",
        "RuntimeError: where expected condition to be a boolean tensor, but got a",
        "write condition != 0",
    ),
    "clamp nothing": Mistake(
        "pb.ones(3).clamp()",
        "RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None",
        "'min' or 'max'",
    ),
    "scheduler": Mistake(
        "pb.optim.lr_scheduler.StepLR(0.1, step_size=3)",
        "TypeError: float is not an Optimizer: pass the optimizer itself, such",
        "pass the optimizer itself",
    ),
    "optimizer closure": Mistake(
        "pb.optim.LBFGS([pb.ones(2, requires_grad=True)]).step()",
        "TypeError: LBFGS.step() missing 1 required positional argument:",
        "'closure'",
    ),
    "loader": Mistake(
        "pb.utils.data.DataLoader([1, 2, 3], batch_size=0)",
        "ValueError: batch_size should be a positive integer value, but got",
        "positive integer",
    ),
    "dataset": Mistake(
        """\
for batch in pb.utils.data.DataLoader([pb.ones(2), pb.ones(3)], batch_size=2):
    pass
""",
        "RuntimeError: stack expects each tensor to be equal size, but got [2] at",
        "samples 0, 1",
    ),
    "one_hot": Mistake(
        "F.one_hot(pb.tensor([3]), num_classes=2)",
        "RuntimeError: Class values must be smaller than num_classes. 3 is not",
        "3 is not smaller than 2",
    ),
    "unknown reduction": Mistake(
        "F.mse_loss(pb.ones(3), pb.ones(3), reduction='avg')",
        "ValueError: avg is not a valid value for reduction: use 'mean', 'sum'",
        "use 'mean', 'sum' or 'none'",
    ),
    "explain untracked": Mistake(
        "pb.explain.explain(pb.ones(3))",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "requires_grad=True",
    ),
    "second derivative without a graph": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
(g,) = pb.autograd.grad((x**3).sum(), x)
penalty = g.square().sum()
penalty.backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "pb.autograd.grad at mistake.py:3. Pass create_graph=True to it",
    ),
    "second derivative by grad": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
(x**3).sum().backward()
x.grad.sum().backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "x.grad at mistake.py:4. Pass create_graph=True to the pass that computed it",
    ),
    "grad of a gradient": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
(g,) = pb.autograd.grad((x**3).sum(), x)
pb.autograd.grad(g.sum(), x)
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "pb.autograd.grad at mistake.py:3. Pass create_graph=True to it",
    ),
    "second derivative of a linear function": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
(g,) = pb.autograd.grad((3 * x).sum(), x, create_graph=True)
pb.autograd.grad(g.sum(), x, materialize_grads=True)
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "a gradient that does not depend on the inputs, at mistake.py:3: (g,) = pb.autograd.grad((3 * x).sum(), x, create_graph=True). "
        "Its function is linear there: the second derivative is zero",
    ),
    "second derivative of a linear function in one line": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
pb.autograd.grad(pb.autograd.grad((3 * x).sum(), x, create_graph=True)[0].sum(), x)
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "Its function is linear there: the second derivative is zero",
    ),
    "second derivative of a linear function by backward": Mistake(
        """\
x = pb.tensor([2.0], requires_grad=True)
(3 * x).sum().backward(create_graph=True)
x.grad.sum().backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "at mistake.py:3: (3 * x).sum().backward(create_graph=True). Its function is linear there",
    ),
    "tensor of a loss": Mistake(
        """\
w = pb.ones(2, requires_grad=True)
loss = pb.tensor((w * w).sum())
loss.backward()
""",
        "RuntimeError: element 0 of tensors does not require grad and does not",
        "was copied by pullback.tensor at mistake.py:3: loss = pb.tensor((w * w).sum())",
    ),
    "state of a recurrent layer": Mistake(
        """\
rnn, h = nn.RNN(2, 3), pb.zeros(1, 1, 3)
for _ in range(2):
    y, h = rnn(pb.ones(4, 1, 2), h)
    y.sum().backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "Fix: write h = h.detach() after each backward",
    ),
    "states of a recurrent layer": Mistake(
        """\
rnn, state = nn.LSTM(2, 3), None
for _ in range(2):
    y, state = rnn(pb.ones(4, 1, 2), state)
    y.sum().backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "Fix: write state = tuple(each.detach() for each in state) after each backward",
    ),
    "state of two names": Mistake(
        """\
rnn, h, c = nn.LSTM(2, 3), pb.zeros(1, 1, 3), pb.zeros(1, 1, 3)
for _ in range(2):
    y, (h, c) = rnn(pb.ones(4, 1, 2), (h, c))
    y.sum().backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "Fix: write h = h.detach(); c = c.detach() after each backward",
    ),
    "a total of losses": Mistake(
        """\
w, total = pb.ones(2, requires_grad=True), 0.0
for step in range(2):
    loss = (w * w * step).sum()
    total += loss
    total.backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "Fix: write total = total.detach() after each backward",
    ),
    "shared by two rounds": Mistake(
        """\
w = pb.ones(2, requires_grad=True)
y = w * w
for step in range(2):
    loss = (y * y * step).sum()
    loss.backward()
""",
        "RuntimeError: Trying to backward through the graph a second time (or",
        "Fix: pass retain_graph=True to that first backward",
    ),
    "loss made with tensors": Mistake(
        "nn.CrossEntropyLoss(pb.ones(3, 5), pb.tensor([0, 1, 2]))",
        "TypeError: size_average and reduce are flags, not tensors:",
        "CrossEntropyLoss()(input, target)",
    ),
    "loss made with numbers": Mistake(
        "nn.L1Loss(pb.tensor(1.0), pb.tensor(2.0))",
        "TypeError: size_average and reduce are flags, not tensors:",
        "L1Loss()(input, target)",
    ),
    "layer made with a tensor": Mistake(
        "nn.Dropout(pb.ones(3))",
        "RuntimeError: Boolean value of Tensor with more than one value is",
        "Dropout()(input)",
    ),
    "module for a tensor": Mistake(
        "nn.ReLU(pb.ones(3)).sum()",
        "AttributeError: 'ReLU' object has no attribute 'sum': tensors have it",
        "ReLU(...)(x)",
    ),
    "module into a layer": Mistake(
        "nn.Linear(3, 3)(nn.ReLU(pb.ones(3)))",
        "TypeError: linear(): argument 'input' (position 1) must be Tensor, not ReLU",
        "it is a module: call it",
    ),
    "device of a model": Mistake(
        "nn.Linear(2, 2).device",
        "AttributeError: 'Linear' object has no attribute 'device'",
        "next(model.parameters()).device",
    ),
    "LSTM in a Sequential": Mistake(
        "nn.Sequential(nn.LSTM(2, 3), nn.Linear(3, 1))(pb.ones(4, 1, 2))",
        "TypeError: linear(): argument 'input' (position 1) must be Tensor, not tuple",
        "output[0] for the first",
    ),
    "LSTM after LSTM": Mistake(
        "nn.Sequential(nn.LSTM(2, 3), nn.LSTM(3, 1))(pb.ones(4, 1, 2))",
        "TypeError: LSTM(): argument 'input' (position 1) must be Tensor, not tuple",
        "output[0] for the first",
    ),
    "forward without return": Mistake(
        """\
class Net(nn.Module):
    def forward(self, x):
        x * 2
F.relu(Net()(pb.ones(2)))
""",
        "TypeError: relu(): argument 'input' (position 1) must be Tensor, not",
        "a function without a return statement returns",
    ),
    "classes on the last axis": Mistake(
        "F.cross_entropy(pb.ones(2, 5, 7), pb.zeros(2, 5, dtype=pb.int64))",
        "RuntimeError: Expected target size [2, 7], got [2, 5]",
        "scores.transpose(1, 2)",
    ),
    "classes on the last axis of images": Mistake(
        "F.cross_entropy(pb.ones(2, 5, 6, 7), pb.zeros(2, 5, 6, dtype=pb.int64))",
        "RuntimeError: Expected target size [2, 6, 7], got [2, 5, 6]",
        "scores.movedim(-1, 1)",
    ),
    "one-hot classes": Mistake(
        "F.cross_entropy(pb.ones(2, 5), F.one_hot(pb.tensor([1, 2]), 5))",
        "RuntimeError: Expected floating point type for target with class",
        "use target.argmax(1), or target.float()",
    ),
    "scores and classes swapped": Mistake(
        "F.cross_entropy(pb.tensor([1, 2]), pb.ones(2, 5))",
        "ValueError: For 1D input, 1D target must have size 1, but got target",
        "The scores come first, then the target",
    ),
    "probabilities and targets swapped": Mistake(
        "F.binary_cross_entropy(pb.tensor([0, 1]), pb.tensor([0.4, 0.5]))",
        "RuntimeError: Found dtype Float but expected Long",
        "here they are swapped",
    ),
    "classes in a column": Mistake(
        "F.cross_entropy(pb.ones(2, 5), pb.tensor([[1], [2]]))",
        "RuntimeError: 0D or 1D target tensor expected, multi-target not",
        "target.squeeze(1)",
    ),
    "deepcopy with weight_norm": Mistake(
        """\
import copy
copy.deepcopy(nn.utils.weight_norm(nn.Linear(2, 2)))
""",
        "RuntimeError: Only Tensors created explicitly by the user (graph",
        "nn.utils.weight_norm",
    ),
    "batch normalisation in a transform": Mistake(
        """\
net = nn.BatchNorm1d(3)
pb.func.jvp(net, (pb.ones(2, 3),), (pb.ones(2, 3),))
""",
        "RuntimeError: During a grad (vjp, jvp, grad, vmap, etc) transform, the",
        "pullback.func.replace_all_batch_norm_modules_(net)",
    ),
    "update of a parameter": Mistake(
        """\
m = nn.Linear(2, 2)
m(pb.ones(2)).sum().backward()
m.weight = m.weight - 0.1 * m.weight.grad
""",
        "TypeError: cannot assign 'pullback.FloatTensor' as parameter 'weight'",
        "with pullback.no_grad(): m.weight.copy_(value), or m.weight -= step",
    ),
    "new numbers of a parameter": Mistake(
        "nn.Linear(2, 2).weight = pb.ones(2, 2)",
        "TypeError: cannot assign 'pullback.FloatTensor' as parameter 'weight'",
        "m.weight = pullback.nn.Parameter(value)",
    ),
    "hook and an in-place module": Mistake(
        """\
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
net[0].register_full_backward_hook(lambda module, before, after: None)
net(pb.ones(2))
""",
        "RuntimeError: Output 0 of BackwardHookFunction is a view and is being",
        "an output of a Linear, which has a full backward hook",
    ),
    "einsum with too few": Mistake(
        "pb.einsum('ij,jk->ik', pb.ones(2, 3))",
        "RuntimeError: einsum(): fewer operands were provided than specified in",
        "in the equation: 'ij,jk->ik' takes 2, got 1",
    ),
    "einsum with too many": Mistake(
        "pb.einsum('ij->i', pb.ones(2, 3), pb.ones(3))",
        "RuntimeError: einsum(): more operands were provided than specified in",
        "in the equation: 'ij->i' takes 1, got 2",
    ),
    "apply_ of a number": Mistake(
        "pb.ones(2).apply_(3)",
        "TypeError: apply_(): a function is needed, not int",
        "a function is needed",
    ),
    "array of objects": Mistake(
        "pb.tensor(np.array([1, 'a'], dtype=object))",
        "TypeError: Could not infer dtype of object: a tensor holds numbers, and",
        "element [1] of this array of objects is 'a', a str",
    ),
    "array of objects that are numbers": Mistake(
        "pb.ones(2) + np.array([1, 2], dtype=object)",
        "TypeError: unsupported operand: an array of dtype object",
        "array.astype(float)",
    ),
    "objects from NumPy": Mistake(
        "pb.from_numpy(np.array([1, None]))",
        "TypeError: can't convert np.ndarray of type numpy.object_",
        "element [1] of this array of objects is None",
    ),
    "no batch axis": Mistake(
        "nn.BatchNorm2d(3)(pb.ones(3, 4, 4))",
        "ValueError: expected 4D input (got 3D input)",
        "input.unsqueeze(0)",
    ),
    "state of a file's name": Mistake(
        "nn.Linear(2, 2).load_state_dict('model.pt')",
        "TypeError: Expected state_dict to be dict-like, got <class 'str'>.",
        "load_state_dict(pullback.load('model.pt'))",
    ),
    "state of an optimizer's file": Mistake(
        "pb.optim.SGD([pb.ones(2, requires_grad=True)]).load_state_dict('file.pt')",
        "TypeError: Expected state_dict to be dict-like, got <class 'str'>.",
        "load_state_dict(pullback.load('file.pt'))",
    ),
    "state of a schedule's file": Mistake(
        """\
sgd = pb.optim.SGD([pb.ones(2, requires_grad=True)])
pb.optim.lr_scheduler.LambdaLR(sgd, lambda epoch: 1.0).load_state_dict('file.pt')
""",
        "TypeError: Expected state_dict to be dict-like, got <class 'str'>.",
        "load_state_dict(pullback.load('file.pt'))",
    ),
    "state of an optimizer": Mistake(
        """\
sgd = pb.optim.SGD([pb.ones(2, requires_grad=True)])
sgd.load_state_dict(sgd)
""",
        "TypeError: Expected state_dict to be dict-like, got a SGD. Pass its",
        "other.state_dict()",
    ),
    "state of a module": Mistake(
        "nn.Linear(2, 2).load_state_dict(nn.Linear(2, 2))",
        "TypeError: Expected state_dict to be dict-like, got a Linear. Pass its",
        "other.state_dict()",
    ),
    "prefix of the keys": Mistake(
        "nn.Linear(2, 2).load_state_dict({'module.weight': pb.ones(2, 2), 'module.bias': pb.ones(2)})",
        "RuntimeError: Error(s) in loading state_dict for Linear:",
        "key.removeprefix('module.')",
    ),
    "no prefix of the keys": Mistake(
        "nn.Sequential(nn.Linear(2, 2)).load_state_dict(nn.Linear(2, 2).state_dict())",
        "RuntimeError: Error(s) in loading state_dict for Sequential:",
        "{'0.' + key: value for key, value in state.items()}",
    ),
    "one beta": Mistake(
        "pb.optim.Adam(nn.Linear(2, 2).parameters(), betas=0.9)",
        "TypeError: betas must be several numbers, such as (0.9, 0.999), and not",
        "(0.9, 0.999)",
    ),
    "learning rate of text": Mistake(
        "pb.optim.SGD(nn.Linear(2, 2).parameters(), lr='0.1')",
        "TypeError: lr must be a number, and not '0.1'",
        "a number",
    ),
    "forward hook of two": Mistake(
        "nn.Linear(2, 2).register_forward_hook(lambda module, args: None)",
        "TypeError: register_forward_hook: a hook is called as hook(module, args,",
        "takes (module, args)",
    ),
    "backward hook of two": Mistake(
        "nn.Linear(2, 2).register_full_backward_hook(lambda module, grad: None)",
        "TypeError: register_full_backward_hook: a hook is called as hook(module,",
        "takes (module, grad)",
    ),
    "tensor's hook of none": Mistake(
        "pb.ones(2, requires_grad=True).register_hook(lambda: None)",
        "TypeError: register_hook: a hook is called as hook(grad)",
        "takes ()",
    ),
    "in_feature": Mistake(
        "nn.Linear(in_feature=2, out_features=3)",
        "TypeError: Linear.__init__() got an unexpected keyword argument 'in_feature'",
        "Did you mean 'in_features'?",
    ),
    "keep_dims": Mistake(
        "pb.ones(3).sum(keep_dims=True)",
        "TypeError: sum() got an unexpected keyword argument 'keep_dims'",
        "Did you mean 'keepdim",
    ),
    "learning_rate": Mistake(
        "pb.optim.Adam(nn.Linear(2, 2).parameters(), learning_rate=0.1)",
        "TypeError: Adam.__init__() got an unexpected keyword argument 'learning_rate'",
        "Did you mean 'lr'?",
    ),
    "require_grad": Mistake(
        "pb.tensor([1.0], require_grad=True)",
        "TypeError: tensor() got an unexpected keyword argument 'require_grad'",
        "Did you mean 'requires_grad'?",
    ),
    "keyword of a base": Mistake(
        "pb.distributions.Normal(0.0, scal=1.0)",
        "TypeError: Normal.__init__() got an unexpected keyword argument 'scal'",
        "Did you mean 'scale'?",
    ),
    "NumPy's axis": Mistake(
        "F.softmax(pb.ones(2), axis=0)",
        "TypeError: softmax() got an unexpected keyword argument 'axis'",
        "Did you mean 'dim'?",
    ),
    "integers into a layer": Mistake(
        "nn.Linear(3, 2)(pb.ones(2, 3, dtype=pb.int64))",
        "RuntimeError: linear: the input and the weight are int64 and float32, in",
        "x.to(pullback.float32)",
    ),
    "channels on the last axis": Mistake(
        "nn.Conv2d(3, 8, 3)(pb.ones(1, 28, 28, 3))",
        "RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected",
        "x.permute(0, 3, 1, 2)",
    ),
    "one state of two": Mistake(
        "nn.LSTM(4, 8)(pb.ones(5, 2, 4), pb.zeros(1, 2, 8))",
        "RuntimeError: For batched 3-D input, hx and cx should also be 3-D but",
        "the tuple (h, c)",
    ),
    "two states of one": Mistake(
        "nn.GRU(4, 8)(pb.ones(5, 2, 4), (pb.zeros(1, 2, 8), pb.zeros(1, 2, 8)))",
        "TypeError: GRU: hx must be one tensor, not tuple",
        "one tensor",
    ),
    "a dtype's name for a place": Mistake(
        "pb.ones(2).to('float')",
        "RuntimeError: Expected one of cpu, cuda, ipu, xpu, mkldnn, hip, ve, fpga,",
        "pullback.float",
    ),
    "initialised module": Mistake(
        "nn.init.xavier_uniform_(nn.Linear(2, 2))",
        "TypeError: xavier_uniform_(): argument 'tensor' (position 1) must be Tensor,",
        "module.weight",
    ),
    "called list of modules": Mistake(
        "nn.ModuleList([nn.Linear(2, 2)])(pb.ones(2))",
        'NotImplementedError: Module [ModuleList] is missing the required "forward"',
        "for layer in layers: x = layer(x)",
    ),
    "number of samples": Mistake(
        "pb.distributions.Normal(0.0, 1.0).sample(3)",
        "TypeError: sample_shape must be a tuple, (3,) for 3 samples, not an int",
        "(3,)",
    ),
    "parameters by names": Mistake(
        "pb.optim.Adam(dict(nn.Linear(2, 2).named_parameters()))",
        "TypeError: optimizer can only optimize Tensors, but one of the params is str",
        "model.parameters()",
    ),
    "a model's state for an optimizer": Mistake(
        "pb.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1).load_state_dict(nn.Linear(2, 2).state_dict())",
        'KeyError: "the state of an optimizer has param_groups and state, this one only',
        "optimizer.state_dict()",
    ),
    "pad": Mistake(
        "nn.Conv2d(3, 8, 3, pad=1)",
        "TypeError: Conv2d.__init__() got an unexpected keyword argument 'pad'",
        "Did you mean 'padding'?",
    ),
    "epsilon": Mistake(
        "nn.BatchNorm2d(3, epsilon=1e-3)",
        "TypeError: BatchNorm2d.__init__() got an unexpected keyword argument 'epsilon'",
        "Did you mean 'eps'?",
    ),
    "strange keyword of a base with a private name": Mistake(
        "nn.BatchNorm2d(3, bananas=1)",
        "TypeError: BatchNorm2d.__init__() got an unexpected keyword argument 'bananas'",
        "'bananas'",
    ),
    "value of a vector": Mistake(
        "pb.value_and_grad(lambda x: x**2)(np.ones(2))",
        "RuntimeError: value_and_grad(f)(*args): Expected f(*args) to return a scalar",
        "Sum it",
    ),
    "no return": Mistake(
        "pb.value_and_grad(lambda x: None)(np.ones(2))",
        "RuntimeError: value_and_grad(f)(*args): Expected f(*args) to return a Tensor",
        "f has no return",
    ),
    "item of a parameter": Mistake(
        "pb.value_and_grad(lambda x: x[0].item() * x[1])(np.ones(2))",
        "RuntimeError: value_and_grad: x[0].item at mistake.py:2:",
        "leave item() out",
    ),
    "numbers of a loop": Mistake(
        """\
def f(x):
    for t in x:
        x = x * float(t)
    return x.sum()
pb.value_and_grad(f)(np.ones(2))
""",
        "RuntimeError: value_and_grad: float at mistake.py:4: x = x * float(t) takes,",
        "leave float() out",
    ),
    "folder that is not there": Mistake(
        "pb.save({'a': pb.ones(1)}, 'models/net.safetensors')",
        "FileNotFoundError: [Errno 2] No such file or directory:",
        "models/net.safetensors'",
    ),
    "place that is not there": Mistake(
        "pb.ones(2, 3)[:, 5]",
        "IndexError: index 5 is out of bounds for dimension 1 with size 3",
        "its places are 0 to 2",
    ),
    "place of an empty axis": Mistake(
        "pb.empty(0)[0]", "IndexError: index 0 is out of bounds for dimension 0 with size 0", "it has no places"
    ),
    "expanded axis": Mistake(
        "pb.ones(2, 3).expand(3, 3)",
        "RuntimeError: expand(): The expanded size of the tensor (3) must match",
        "Only an axis of size 1 is expanded",
    ),
    "too few repeats": Mistake(
        "pb.ones(2, 3).repeat(2)",
        "RuntimeError: Number of dimensions of repeat dims can not be smaller",
        "one count an axis, 1 to keep it",
    ),
    "stack of other shapes": Mistake(
        "pb.stack([pb.ones(2), pb.ones(3)])",
        "RuntimeError: stack expects each tensor to be equal size, but got [2] at entry 0 and [3]",
        "cat joins along an axis",
    ),
    "class that is not there": Mistake(
        "F.cross_entropy(pb.ones(2, 3), pb.tensor([0, 3]))",
        "IndexError: Target 3 is out of bounds",
        "3 classes, 0 to 2",
    ),
    "one_hot of floats": Mistake(
        "F.one_hot(pb.tensor([0.5]))",
        "RuntimeError: one_hot is only applicable to index tensor",
        "convert it with .long()",
    ),
    "size that is no int": Mistake(
        "nn.Linear(3.5, 2)", "TypeError: Linear: in_features must be an int", "not a float: 3.5"
    ),
    "kernel that is missing": Mistake(
        "nn.Conv2d(3, 8)", "TypeError: Conv2d.__init__() missing 1 required positional argument", "'kernel_size'"
    ),
    "features that are missing": Mistake(
        "nn.BatchNorm1d()", "TypeError: BatchNorm1d.__init__() missing 1 required positional argument", "'num_features'"
    ),
    "parameters not called": Mistake(
        "pb.optim.SGD(nn.Linear(1, 1).parameters)", "TypeError: 'method' object is not iterable", "model.parameters()"
    ),
    "group without params": Mistake(
        "pb.optim.SGD([{'param': [pb.ones(1)]}])",
        "KeyError: \"a group of an optimizer has its tensors under 'params'",
        "'param'",
    ),
    "empty state of an optimizer": Mistake(
        "pb.optim.SGD(nn.Linear(1, 1).parameters()).load_state_dict({})",
        'KeyError: "the state of an optimizer has param_groups and state, this one nothing',
        "optimizer.state_dict()",
    ),
    "milestone that is a number": Mistake(
        "pb.optim.lr_scheduler.MultiStepLR(pb.optim.SGD(nn.Linear(1, 1).parameters()), 5)",
        "TypeError: milestones must be a list of steps",
        "such as [30, 80]",
    ),
    "hook that is a number": Mistake(
        "pb.ones(1, requires_grad=True).register_hook(3)",
        "TypeError: 'int' object is not callable: register_hook takes a hook",
        "which is called as hook(grad)",
    ),
    "samples with other keys": Mistake(
        "list(pb.utils.data.DataLoader([{'a': 1}, {'b': 2}], batch_size=2))",
        "KeyError: \"sample 1 of the batch has no 'a'",
        "give all the same keys",
    ),
    "lists for tensors": Mistake(
        "pb.utils.data.TensorDataset([1, 2])", "TypeError: TensorDataset(): argument 'tensors[0]'", "pullback.as_tensor"
    ),
}
