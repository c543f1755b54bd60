"""Where does the gradient come from when there is no loss yet?

From a loss that somebody else will compute: v is how much that loss moves with each entry of y.  Knowing v, backward()
needs to know nothing more about it.  This is the code of 2018, Variable and all, and it runs as it stands.
"""

import numpy as np

import pullback as torch
from pullback.autograd import Variable

print("-- nine doublings: x is the y of the document, divided by 512")
x = (torch.tensor([-590.4467, 97.6760, 921.0221]) / 512).requires_grad_()
y = x * 2
while y.data.norm() < 1000:
    y = y * 2
print("y:     ", y)
v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(v)
print("v:     ", v)
print("x.grad:", x.grad)
for weight, entry in zip(v.tolist(), x.grad.tolist(), strict=True):
    print(f"    {weight:.4f} * 512 = {entry:.4f}")
print("agree: ", np.array_equal(v.numpy() @ (512 * np.eye(3, dtype=np.float32)), x.grad.numpy()))

print("\n-- a product (1, 2) @ (2, 2), asked three times")
x = Variable(torch.FloatTensor([[2, 1]]), requires_grad=True)
M = Variable(torch.FloatTensor([[1, 2], [3, 4]]))
y = torch.mm(x, M)
print("x: ", x)
print("M: ", str(M).replace("\n", "\n    "))
print("y: ", y)

J = M.numpy().T  # the entry j of x @ M moves by M[i, j] when x[i] does
print("J: ", str(J).replace("\n", "\n    "))
for v in (torch.FloatTensor([[1, 0]]), torch.FloatTensor([[0, 1]]), torch.FloatTensor([[1, 1]])):
    y.backward(v, retain_graph=True)  # the graph stays, for the next question
    print("v: ", v, " v @ J:", v.numpy() @ J, " x.grad:", x.grad.data)
    print("agree: ", np.array_equal(v.numpy() @ J, x.grad.numpy()))
    x.grad.data.zero_()  # gradients add up: start each question from zero

print("\n-- the loss that v stands for: any that changes by v with y will do, the plainest is sum(v * y)")
loss = (torch.FloatTensor([[1, 1]]) * y).sum()
loss.backward(retain_graph=True)
print("loss:  ", loss)
print("x.grad:", x.grad)

print("\n-- the function behind the method, which takes several outputs at once")
x.grad.zero_()
torch.autograd.backward([y], grad_tensors=[torch.FloatTensor([[1, 1]])])
print("x.grad:", x.grad)
