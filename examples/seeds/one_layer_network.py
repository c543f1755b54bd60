"""How does a vector of losses get the gradient of its average, and how does one see the whole Jacobian?

The average of two losses weighs each with a half, so losses.backward([0.5, 0.5]) does what avg_loss.backward() does.
A v that is zero but for one entry leaves that row of the Jacobian in W.grad.
"""

import warnings

import numpy as np

import pullback as torch
from pullback.autograd import Variable

x = torch.Tensor([[0.1, 0.2, 0.3], [0.4, 0.6, 0.8]])
y_true = torch.Tensor([[0, 1]])

# The document drew W and b at random and kept them to itself, but its gradients tell what the network predicted:
# p * p * (1 - p) = 0.14808 and (1 - q) * (1 - q) * q = 0.10382.  Any W will do, if b makes up the difference.
predicted = np.array([[0.658438, 0.5751416]])
slopes = np.array([[0.5, -1.0, 0.25]])
offsets = np.log(predicted / (1 - predicted)) - slopes @ x.numpy().T.astype(float)

W = Variable(torch.Tensor(slopes.tolist()), requires_grad=True)
b = Variable(torch.Tensor(offsets.tolist()), requires_grad=True)


def forward():
    y_pred = torch.nn.Sigmoid()(torch.mm(W, torch.transpose(x, 0, 1)) + b)
    return (y_true - y_pred) ** 2


def show(title):
    print(title)
    print("W.grad: 1e-2 *", np.array2string(100 * W.grad.numpy(), precision=4), " b.grad:", b.grad)
    W.grad.zero_()
    b.grad.zero_()


print("-- a scalar: the average loss")
avg_loss = forward().sum() / 2
print("avg_loss:", avg_loss)
avg_loss.backward()
show("avg_loss.backward()")

(forward().sum() / 2).backward(torch.Tensor([1]))
show("avg_loss.backward(torch.Tensor([1])): the gradient that goes without saying, said")

print("\n-- a vector: the two losses")
losses = forward()
print("losses:", losses)
try:
    losses.backward()
except RuntimeError as refusal:
    print("losses.backward() is refused:", refusal)
losses.backward(torch.FloatTensor([0.5, 0.5]))
show("losses.backward(torch.FloatTensor([0.5, 0.5]))")

print("\n-- the same by hand")
p = predicted
slope = (p - y_true.numpy()) * p * (1 - p)  # half of d loss / d (W x + b)
J = slope.T * x.numpy()  # half of d loss / d W: one row for each loss
print("(p - y) p (1 - p) =", slope.round(4))
print("J = 1e-2 *", np.array2string(100 * J, precision=4, prefix="J = 1e-2 *"))
print("[1, 1] @ J = 1e-2 *", np.array2string(100 * np.ones((1, 2)) @ J, precision=4))

print("\n-- the Jacobian, a row at a time, with the argument's name of 2017")
losses = forward()
jacobian = torch.zeros((x.shape[0], W.shape[1]))
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    losses.backward(torch.FloatTensor([0.5, 0]), retain_variables=True)
    jacobian[0, :] = W.grad.data
    W.grad.zero_()  # or the second row would come on top of the first
    losses.backward(torch.FloatTensor([0, 0.5]), retain_variables=True)
    jacobian[1, :] = W.grad.data
for warning in heard:
    print(f"{warning.category.__name__}: {warning.message}")
print(jacobian)
print("jacobian = 1e-2 *", np.array2string(100 * jacobian.numpy(), precision=4, prefix="jacobian = 1e-2 *"))
print("agree: ", np.allclose(jacobian.numpy(), J, atol=1e-7))

print("\n-- a step downhill, with nothing recorded")
W.grad.zero_()
b.grad.zero_()
before = forward().sum() / 2
before.backward()
with torch.no_grad():
    W -= 0.5 * W.grad
    b -= 0.5 * b.grad
print(f"avg_loss: {before.item():.4f} -> {(forward().sum() / 2).item():.4f}")
