"""What is the tensor that backward() takes?

A function of n inputs with m outputs has a Jacobian J of m rows and n columns.  backward(v) multiplies it from the left,
x.grad = v @ J, and never builds it: v holds one weight per output.  A scalar has a single row, and its weight is 1.
"""

import numpy as np

import pullback as torch

np.set_printoptions(precision=4, suppress=True)


def compare(v, J, x):
    print("v:     ", v)
    print("J:      " + str(J).replace("\n", "\n        "))
    print("v @ J: ", v @ J)
    print("x.grad:", x.grad)
    print("agree: ", np.allclose(v @ J, x.grad.numpy()))


print("-- a sum: one output, so the weight 1 goes without saying")
x = torch.randn(3, requires_grad=True)
y = x.sum()
y.backward()
compare(np.ones(1), np.ones((1, 3)), x)

print("\n-- ten doublings: three outputs, three weights")
x = torch.tensor([0.6, -1.0, 0.8], requires_grad=True)
y = x * 2
while y.data.norm() < 1000:
    y = y * 2
print("y:     ", y)
v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(v)
compare(v.numpy(), 1024 * np.eye(3), x)

print("\n-- a chain x -> y -> z, every output counted once, then with the weights 0.2 and 0.8")
for weights in ([1.0, 1.0], [0.2, 0.8]):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    left, right = x
    y = torch.stack([left * right, left + right])  # (2, 3)
    upper, lower = y
    z = torch.stack([upper * lower, lower**2])  # (6, 9)
    z.backward(torch.tensor(weights))

    Jz = np.array([[3.0, 2.0], [0.0, 6.0]])  # dz/dy, where y = (2, 3)
    Jy = np.array([[2.0, 1.0], [1.0, 1.0]])  # dy/dx, where x = (1, 2)
    compare(np.array(weights), Jz @ Jy, x)

print("\n-- the same chain in two legs: what arrives at y is the gradient that y sends on")
x = torch.tensor([1.0, 2.0], requires_grad=True)
left, right = x
y = torch.stack([left * right, left + right])
middle = y.detach().requires_grad_()
upper, lower = middle
torch.stack([upper * lower, lower**2]).backward(torch.tensor([0.2, 0.8]))
print("v @ Jz:       ", np.array([0.2, 0.8]) @ Jz)
print("at y:         ", middle.grad)
y.backward(middle.grad)
print("(v @ Jz) @ Jy:", np.array([0.2, 0.8]) @ Jz @ Jy)
print("x.grad:       ", x.grad)
print("agree:        ", np.allclose(np.array([0.2, 0.8]) @ Jz @ Jy, x.grad.numpy()))
